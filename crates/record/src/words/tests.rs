//! Each claim has its sentence.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde_json::Value;

use super::*;
use crate::claim::*;

/// The messages that an enum or a struct wants, and the arguments of each, by its schema.
#[derive(Default)]
struct WantedMessages {
    messages: BTreeMap<String, BTreeSet<String>>,
    /// Variants of claims, as documents have them.
    variants: Vec<String>,
}

impl WantedMessages {
    fn add<T: JsonSchema>(&mut self) {
        let schema = serde_json::to_value(schemars::schema_for!(T)).expect("JSON");
        let kind = T::schema_name();
        for variant in schema["oneOf"].as_array().into_iter().flatten() {
            self.variant(&kind, variant);
        }
        self.variants_of_words(&kind, &schema);
        if let Some(fields) = schema["properties"].as_object() {
            let name = arguments::message_name(&kind, "");
            self.messages
                .insert(name.trim_end_matches('-').into(), fields.keys().cloned().collect());
        }
    }

    fn add_struct<T: JsonSchema>(&mut self) {
        let schema = serde_json::to_value(schemars::schema_for!(T)).expect("JSON");
        let fields = schema["properties"].as_object().expect("fields");
        let name = arguments::message_name(&T::schema_name(), "");
        self.messages.insert(name.trim_end_matches('-').into(), fields.keys().cloned().collect());
    }

    /// Variants without fields, which are words of JSON.
    fn variants_of_words(&mut self, kind: &str, schema: &Value) {
        let one = schema["const"].as_str();
        let several = schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
        for variant in one.into_iter().chain(several) {
            self.claims(kind, variant);
            self.messages.insert(arguments::message_name(kind, variant), BTreeSet::new());
        }
    }

    fn claims(&mut self, kind: &str, variant: &str) {
        self.variants.extend(kind.ends_with("Claim").then(|| variant.to_string()));
    }

    fn variant(&mut self, kind: &str, schema: &Value) {
        self.variants_of_words(kind, schema);
        for (variant, content) in schema["properties"].as_object().into_iter().flatten() {
            self.claims(kind, variant);
            let fields = content["properties"].as_object();
            let fields = match fields {
                Some(fields) => fields.keys().cloned().collect(),
                None => BTreeSet::from(["value".to_string()]),
            };
            self.messages.insert(arguments::message_name(kind, variant), fields);
        }
    }
}

/// The names of the messages of a catalogue, each with what it says: a line that begins with a letter begins one.
fn messages(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let begins = |line: &&str| line.starts_with(|c: char| c.is_ascii_lowercase());
    let names = text.lines().filter(begins).filter_map(|line| line.split_once(" ="));
    names.map(move |(name, _)| (name, written(text, name).expect("it is there")))
}

/// The arguments that a message uses.
fn used(message: &str) -> BTreeSet<String> {
    let parts = message.split('$').skip(1);
    let name = |part: &str| -> String {
        part.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_' || *c == '-').collect()
    };
    parts.map(name).collect()
}

#[test]
fn each_claim_has_its_sentence_which_uses_what_is_there() {
    let mut wanted = WantedMessages::default();
    each_claim(&mut wanted);
    for name in ["list", "sentences", "series", "values"]
        .into_iter()
        .flat_map(|list| [format!("{list}-next"), format!("{list}-last")])
    {
        wanted.messages.insert(name, BTreeSet::from(["before", "item"].map(String::from)));
    }
    let there: BTreeMap<&str, &str> = messages(EN).collect();
    assert_eq!(there.len(), messages(EN).count(), "a message stands there twice");
    let mut complaints = Vec::new();
    for (name, fields) in &wanted.messages {
        match there.get(name.as_str()) {
            None => complaints.push(format!("{name}: no message; its fields: {fields:?}")),
            Some(message) => {
                let unknown: Vec<String> = used(message).difference(fields).cloned().collect();
                if !unknown.is_empty() {
                    complaints.push(format!("{name}: {unknown:?} of {fields:?}"));
                }
                if let Err((_, errors)) = FluentResource::try_new((*message).to_string()) {
                    complaints.push(format!("{name}: {errors:?}"));
                }
            }
        }
    }
    let nobody = there.keys().filter(|name| !wanted.messages.contains_key(**name));
    complaints.extend(nobody.map(|name| format!("{name}: nobody says that")));
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

/// A document says the variant and not its family.
#[test]
fn no_two_families_have_a_variant_of_one_name() {
    let mut wanted = WantedMessages::default();
    each_claim(&mut wanted);
    wanted.variants.sort_unstable();
    let twice = wanted.variants.windows(2).filter(|pair| pair[0] == pair[1]);
    assert_eq!(twice.collect::<Vec<_>>(), Vec::<&[String]>::new());
    assert!(wanted.variants.len() > 100, "{:?}", wanted.variants.len());
}

/// All that has messages of its own.
fn each_claim(wanted: &mut WantedMessages) {
    wanted.add::<AboutClaim>();
    wanted.add::<AboutDisk>();
    wanted.add::<PlanClaim>();
    wanted.add::<CopySource>();
    wanted.add::<CopySize>();
    wanted.add::<CopyWay>();
    wanted.add::<AbsentPlace>();
    wanted.add::<JobOrder>();
    wanted.add::<PlannedPlace>();
    wanted.add::<JobWay>();
    wanted.add::<PlannedAction>();
    wanted.add::<Preparation>();
    wanted.add::<BoundClaim>();
    wanted.add::<CapacityClaim>();
    wanted.add::<CapacityGap>();
    wanted.add::<CardClaim>();
    wanted.add::<CardWork>();
    wanted.add::<CellInstead>();
    wanted.add::<ObstacleClaim>();
    wanted.add::<GradeGap>();
    wanted.add::<CompareClaim>();
    wanted.add::<ComparedRuns>();
    wanted.add::<ComparedThing>();
    wanted.add_struct::<DifferingValue>();
    wanted.add_struct::<ChangedValue>();
    wanted.add::<DifferingAt>();
    wanted.add::<DifferingState>();
    wanted.add_struct::<IoLimit>();
    wanted.add_struct::<QuotedPhase>();
    wanted.add::<ExhibitOf>();
    wanted.add::<ExhibitValue>();
    wanted.add::<ExhibitSource>();
    wanted.add_struct::<ReadTimes>();
    wanted.add_struct::<HeldTime>();
    wanted.add::<DataTranslation>();
    wanted.add::<OutcomeClaim>();
    wanted.add::<DatalessCalls>();
    wanted.add::<FailureReason>();
    wanted.add::<MissingEvidence>();
    wanted.add::<PlaceClaim>();
    wanted.add::<FlushClaim>();
    wanted.add::<LeftWrites>();
    wanted.add::<LayerClaim>();
    wanted.add::<LayerWork>();
    wanted.add::<MemoryClaim>();
    wanted.add::<ModeClaim>();
    wanted.add::<ModeLead>();
    wanted.add::<ModeSlowdown>();
    wanted.add::<GatheredCalls>();
    wanted.add::<DeviceGaps>();
    wanted.add::<DurableEach>();
    wanted.add::<DeviceQueue>();
    wanted.add_struct::<DeviceWork>();
    wanted.add::<LimitClaim>();
    wanted.add::<CgroupLimit>();
    wanted.add::<MissingRequests>();
    wanted.add::<OthersClaim>();
    wanted.add::<ForeignMover>();
    wanted.add::<CpuUser>();
    wanted.add::<DiskOfBothEnds>();
    wanted.add::<ForeignPart>();
    wanted.add::<ForeignSource>();
    wanted.add::<MovedBytes>();
    wanted.add::<NamedProcess>();
    wanted.add::<SteadyClaim>();
    wanted.add::<AverageOfFall>();
    wanted.add::<ConditionOf>();
    wanted.add::<ConditionState>();
    wanted.add::<ConditionStep>();
    wanted.add::<EndBeforeSteady>();
    wanted.add::<WentOn>();
    wanted.add::<SummaryClaim>();
    wanted.add::<DataArrival>();
    wanted.add::<CorrectedTo>();
    wanted.add::<StopCause>();
    wanted.add::<OtherPhases>();
    wanted.add::<TransferClaim>();
}

#[test]
fn a_claim_is_said_with_its_quantities() {
    use assay_plan::unit::{Bandwidth, Bytes, Share, Times};
    let device = || "sda".to_string();
    let from = |device: &str| DataArrival::From { device: device.into() };
    let both = DataArrival::Both { first: Box::new(from("sda")), second: Box::new(from("sdb")) };
    for (claim, said) in [
        (
            SummaryClaim::NotPeak { device: "sda".into(), busy: Share(0.125) }.into(),
            "sda was busy 12 % of the time, so this is not its peak speed.",
        ),
        (
            SummaryClaim::WithFlush { pace: Bandwidth(4_194_304.0) }.into(),
            "With the flush the disk did 4.19 MB/s.",
        ),
        (
            SummaryClaim::SpeedOfDevice { arrived: both }.into(),
            "This is the speed of the device: all bytes came from sda, and all bytes came from sdb.",
        ),
        (
            SummaryClaim::OfSeveral {
                phase: "a".into(),
                others: OtherPhases::Some(1),
                claim: Box::new(TransferClaim::Short { calls: 1 }.into()),
            }
            .into(),
            "a and one other: One call transferred less than requested; only the bytes transferred are counted.",
        ),
        (
            SummaryClaim::OfSeveral {
                phase: "a".into(),
                others: OtherPhases::Some(1200),
                claim: Box::new(TransferClaim::DoesNotFit { bytes: Bytes::mib(20) }.into()),
            }
            .into(),
            "a and 1200 others: 20 MiB do not fit: the copy fails with 'No space left on device'.",
        ),
        (
            FlushClaim::LeftBehind { left: LeftWrites::SomePages, closed: true }.into(),
            "Writes were left in memory: part of the file was not yet written back when the clock stopped. Closing a file flushes nothing.",
        ),
        (
            MemoryClaim::ReadFromMemory { reached: None, device: device() }.into(),
            "This is the speed of memory: nothing of the data read came from sda.",
        ),
        (
            MemoryClaim::OverwrittenInCache {
                behind: Some("loop3".into()),
                device: device(),
                reached: Share(0.5),
            }
            .into(),
            "Blocks were overwritten in the page cache of the file behind loop3 before they were flushed: sda got only 50 % of the bytes.",
        ),
        (
            MemoryClaim::LastBlockNotDirect {
                bytes: Bytes::kib(1),
                block: Bytes::kib(4),
                flushed: true,
            }
            .into(),
            "The last 1 KiB went through the page cache: a block that is shorter than 4 KiB turns O_DIRECT off; the flush at the end is inside the timing.",
        ),
        (
            MemoryClaim::ReadAmplified { device: device(), times: Times(1.5) }.into(),
            "Read amplification: sda read 1.50 times the bytes requested.",
        ),
    ] as [(Claim, &str); 10]
    {
        assert_eq!(say(&claim), said);
        let written = serde_json::to_string(&claim).expect("JSON");
        assert_eq!(serde_json::from_str::<Claim>(&written).expect("a claim"), claim);
    }
    assert_eq!(say(&vec!["sda", "sdb", "sdc"]), "sda, sdb and sdc");
}
