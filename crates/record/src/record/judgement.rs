//! What the judges say, as values: part of the record's document.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::TrapId;
use crate::claim::{Claim, ExhibitOf, ExhibitQuantity, ExhibitSource, ExhibitValue};
use crate::words;
use assay_plan::stats::Estimate;

/// May a number be believed, and what is it about.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// May it be believed as what its reader takes it for.
    pub trust: Trust,
    /// What it is about.
    pub measures: MeasuredSubject,
    /// What is to be said first, in this order: what was measured and how that is known.
    pub claims: Vec<Claim>,
    /// The figure that does describe the device, bytes per second, where it was measured too.
    pub corrected: Option<Estimate>,
    /// Everything that was found, the worst first.
    pub findings: Vec<Finding>,
}

impl Verdict {
    /// Its claims in words.
    pub fn summary(&self) -> String {
        words::sentences(&self.claims)
    }
}

/// A verdict as documents have it: its claims, and what they are in words.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct WrittenVerdict<'a> {
    /// May it be believed as what its reader takes it for.
    trust: Trust,
    /// What it is about.
    measures: MeasuredSubject,
    /// The claims in English: what was measured and how that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    summary: Option<String>,
    /// The same as values, in that order; those of which an earlier version kept only words are left out.
    #[serde(default)]
    claims: Cow<'a, [Claim]>,
    /// The figure that does describe the device, bytes per second, where it was measured too.
    corrected: Option<Estimate>,
    /// Everything that was found, the worst first.
    findings: Vec<WrittenFinding<'a>>,
}

impl<'a> WrittenVerdict<'a> {
    /// With words for whoever reads the document, or without.
    fn of(verdict: &'a Verdict, in_words: bool) -> Self {
        let Verdict { trust, measures, ref claims, corrected, ref findings } = *verdict;
        let summary = in_words.then(|| verdict.summary());
        let findings = findings.iter().map(|found| WrittenFinding::of(found, in_words)).collect();
        Self { trust, measures, summary, claims: Cow::Borrowed(claims), corrected, findings }
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        WrittenVerdict::of(self, true).serialize(serializer)
    }
}

/// A verdict that only the program reads again: its words follow from its claims.
pub(super) struct WordlessVerdict<'a>(pub &'a Verdict);

impl Serialize for WordlessVerdict<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        WrittenVerdict::of(self.0, false).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Verdict {
    fn deserialize<D: Deserializer<'de>>(document: D) -> Result<Self, D::Error> {
        let written = WrittenVerdict::deserialize(document)?;
        let WrittenVerdict { trust, measures, summary, claims, corrected, findings } = written;
        let claims = match (claims, summary) {
            (known, Some(words)) if known.is_empty() && !words.is_empty() => {
                vec![Claim::Said(words)]
            }
            (known, _) => known.into_owned(),
        };
        let findings = findings.into_iter().map(Finding::from).collect();
        Ok(Self { trust, measures, claims, corrected, findings })
    }
}

/// May a number be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// It is what its reader takes it for.
    Sound,
    /// Something speaks against it.
    Doubtful,
    /// The evidence that would be needed could not be seen.
    Unproven,
    /// It is not what its reader takes it for.
    Wrong,
}

impl Trust {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sound => "sound",
            Self::Doubtful => "doubtful",
            Self::Unproven => "unproven",
            Self::Wrong => "wrong",
        }
    }
}

/// What a number is about. In the order in which the worst is shown first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MeasuredSubject {
    #[serde(rename = "device")]
    Device,
    /// A limit other than the device.
    #[serde(rename = "limited")]
    Limited,
    /// The tool or the CPU.
    #[serde(rename = "tool")]
    Tool,
    /// No steady state.
    #[serde(rename = "unsteady")]
    Unsteady,
    /// Other work interfered.
    #[serde(rename = "disturbed")]
    Disturbed,
    /// Device and memory both.
    #[serde(rename = "mixed")]
    Mixed,
    /// Work was left behind when the clock stopped.
    #[serde(rename = "deferred")]
    Deferred,
    /// A layer changed the data, or there were none to move.
    #[serde(rename = "layer")]
    Layer,
    #[serde(rename = "memory")]
    Memory,
    /// No local disk behind the target.
    #[serde(rename = "not a disk")]
    NotADisk,
    /// Evidence is missing.
    #[serde(rename = "unsure")]
    Unsure,
    /// There is no number.
    #[serde(rename = "invalid")]
    Invalid,
}

impl MeasuredSubject {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Limited => "limited",
            Self::Tool => "tool",
            Self::Unsteady => "unsteady",
            Self::Disturbed => "disturbed",
            Self::Mixed => "mixed",
            Self::Deferred => "deferred",
            Self::Layer => "layer",
            Self::Memory => "memory",
            Self::NotADisk => "not a disk",
            Self::Unsure => "unsure",
            Self::Invalid => "invalid",
        }
    }
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Its number in the catalogue.
    pub trap: TrapId,
    /// How much it weighs.
    pub weight: FindingWeight,
    /// What the number is about because of it; absent when it changes nothing about that.
    pub measures: Option<MeasuredSubject>,
    pub claim: Claim,
    /// The very readings that show it.
    pub because: Vec<Exhibit>,
    /// What to type now; absent when nothing is to be done.
    pub next: Option<NextStep>,
}

impl Finding {
    /// Its claim, in one sentence that a person can repeat.
    pub fn text(&self) -> String {
        words::say(&self.claim)
    }
}

/// A finding as documents have it: its claim, and what that is in words.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct WrittenFinding<'a> {
    /// Its number in the catalogue.
    trap: TrapId,
    /// How much it weighs.
    weight: FindingWeight,
    /// What the number is about because of it; absent when it changes nothing about that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    measures: Option<MeasuredSubject>,
    claim: Cow<'a, Claim>,
    /// The same in one English sentence that a person can repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    text: Option<String>,
    /// The very readings that show it.
    because: Cow<'a, [Exhibit]>,
    /// What to type now; absent when nothing is to be done.
    #[serde(default, deserialize_with = "of_this_version")]
    next: Option<Cow<'a, NextStep>>,
}

/// A value, if this version knows its form. What is left out comes again when the record is judged.
fn of_this_version<'de, T: DeserializeOwned, D: Deserializer<'de>>(
    document: D,
) -> Result<Option<T>, D::Error> {
    let written = serde_json::Value::deserialize(document)?;
    Ok(serde_json::from_value(written).ok())
}

impl<'a> WrittenFinding<'a> {
    /// As [`WrittenVerdict::of`].
    fn of(finding: &'a Finding, in_words: bool) -> Self {
        let Finding { trap, weight, measures, ref claim, ref because, ref next } = *finding;
        let (text, next) = (in_words.then(|| finding.text()), next.as_ref().map(Cow::Borrowed));
        let (claim, because) = (Cow::Borrowed(claim), Cow::Borrowed(&**because));
        Self { trap, weight, measures, claim, text, because, next }
    }
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        WrittenFinding::of(self, true).serialize(serializer)
    }
}

impl From<WrittenFinding<'_>> for Finding {
    fn from(written: WrittenFinding<'_>) -> Self {
        let WrittenFinding { trap, weight, measures, claim, text, because, next } = written;
        // What another version claims is known by its words.
        let claim = match claim.into_owned() {
            Claim::Unknown(_) => Claim::Said(text.unwrap_or_default()),
            claim => claim,
        };
        let (because, next) = (because.into_owned(), next.map(Cow::into_owned));
        Self { trap, weight, measures, claim, because, next }
    }
}

impl<'de> Deserialize<'de> for Finding {
    fn deserialize<D: Deserializer<'de>>(document: D) -> Result<Self, D::Error> {
        WrittenFinding::deserialize(document).map(Self::from)
    }
}

/// What is written is what is published.
#[cfg(feature = "schema")]
macro_rules! schema_as_written {
    ($($kind:ident $written:ident),*) => {$(
        impl schemars::JsonSchema for $kind {
            fn schema_name() -> Cow<'static, str> {
                stringify!($kind).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $written::json_schema(generator)
            }
        }
    )*};
}

#[cfg(feature = "schema")]
schema_as_written! {
    Verdict WrittenVerdict, Finding WrittenFinding, Exhibit WrittenExhibit, ToldClaim WrittenClaim
}

/// A claim as documents of studies have it: a value, and what that is in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldClaim(pub Claim);

impl<C: Into<Claim>> From<C> for ToldClaim {
    fn from(claim: C) -> Self {
        Self(claim.into())
    }
}

/// The same as it is written.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct WrittenClaim<'a> {
    claim: Cow<'a, Claim>,
    /// The same in English.
    text: String,
}

impl Serialize for ToldClaim {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (claim, text) = (Cow::Borrowed(&self.0), words::say(&self.0));
        WrittenClaim { claim, text }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToldClaim {
    fn deserialize<D: Deserializer<'de>>(document: D) -> Result<Self, D::Error> {
        let WrittenClaim { claim, text } = WrittenClaim::deserialize(document)?;
        Ok(Self(match claim.into_owned() {
            Claim::Unknown(_) => Claim::Said(text),
            claim => claim,
        }))
    }
}

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FindingWeight {
    /// Good to know.
    Note,
    /// The number may be off.
    Doubt,
    /// The evidence that would be needed is missing.
    Unproven,
    /// The number is not what its reader takes it for.
    Refute,
}

/// A reading that shows something.
#[derive(Clone, Debug, PartialEq)]
pub struct Exhibit {
    /// What was read.
    pub of: ExhibitOf,
    pub shows: ExhibitValue,
    /// Where it was read.
    pub from: ExhibitSource,
}

impl Exhibit {
    /// A reading, its value, and where it comes from.
    pub fn new(
        of: impl Into<ExhibitOf>,
        shows: impl Into<ExhibitValue>,
        from: impl Into<ExhibitSource>,
    ) -> Self {
        Self { of: of.into(), shows: shows.into(), from: from.into() }
    }

    /// What was read: `written to loop3 when the clock stopped`.
    pub fn reading(&self) -> String {
        words::say(&self.of)
    }

    /// Its value with its unit: `0 B of 20 MiB`.
    pub fn value(&self) -> String {
        words::say(&self.shows)
    }

    /// Where it was read: `/sys/block/loop3/stat`.
    pub fn source(&self) -> String {
        words::say(&self.from)
    }
}

/// An exhibit as documents have it: as values, and what they are in words.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct WrittenExhibit<'a> {
    /// What was read, what it was, and where.
    #[serde(default, deserialize_with = "of_this_version")]
    exhibit: Option<ExhibitFields<'a>>,
    /// What was read, in English: `written to loop3 when the clock stopped`.
    reading: String,
    /// Its value with its unit: `0 B of 20 MiB`.
    value: String,
    /// The same as a number, where it is one number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    quantity: Option<ExhibitQuantity>,
    /// Where it was read: `/sys/block/loop3/stat`.
    source: String,
}

/// The values of an exhibit.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct ExhibitFields<'a> {
    /// What was read.
    of: Cow<'a, ExhibitOf>,
    shows: Cow<'a, ExhibitValue>,
    /// Where it was read.
    from: Cow<'a, ExhibitSource>,
}

impl Serialize for Exhibit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { of, shows, from } = self;
        let (of, shows, from) = (Cow::Borrowed(of), Cow::Borrowed(shows), Cow::Borrowed(from));
        WrittenExhibit {
            exhibit: Some(ExhibitFields { of, shows, from }),
            reading: self.reading(),
            value: self.value(),
            quantity: self.shows.quantity(),
            source: self.source(),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Exhibit {
    fn deserialize<D: Deserializer<'de>>(document: D) -> Result<Self, D::Error> {
        let written = WrittenExhibit::deserialize(document)?;
        let WrittenExhibit { exhibit, reading, value, quantity, source } = written;
        Ok(match (exhibit, quantity) {
            (Some(ExhibitFields { of, shows, from }), _) => {
                Self::new(of.into_owned(), shows.into_owned(), from.into_owned())
            }
            // What another version shows is known by its words.
            (None, Some(quantity)) => Self::new(
                ExhibitOf::Said(reading),
                ExhibitValue::Noted { text: value, quantity },
                source,
            ),
            (None, None) => Self::new(ExhibitOf::Said(reading), value, source),
        })
    }
}

/// What to do now: what it is for, and a line for a shell that does it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NextStep {
    pub remedy: Remedy,
    /// What to type: a line that a shell takes as it stands, in the words of the tool that was called
    /// or of assay.
    pub command: String,
}

impl NextStep {
    /// A line for a shell, and what it is for.
    pub fn new(remedy: Remedy, command: impl Into<String>) -> Self {
        Self { remedy, command: command.into() }
    }

    pub fn words(&self) -> &str {
        &self.command
    }
}

/// What helps against a trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// Flush inside the timing.
    Flush,
    /// Drop the target from memory first.
    DropCaches,
    /// Go past the page cache.
    Direct,
    /// Let what earlier work left in memory be written first.
    Settle,
    /// Move more.
    MoreData,
    /// Move less: what there is room for.
    LessData,
    /// Take more time: until the rate is steady, or as long as it lasts.
    MoreTime,
    /// Use other blocks: larger ones, or such as fit.
    OtherBlocks,
    /// Have more in flight.
    Deeper,
    /// Use data that do not compress and do not repeat.
    UniqueData,
    /// Write before it is read.
    WriteFirst,
    /// Write over what is there.
    Overwrite,
    /// Measure one thing at a time: one direction, each file by its own worker.
    Separate,
    /// Measure another place.
    AnotherTarget,
    /// Run on the CPUs of the device's node.
    OnNode,
    LiftLimit,
    /// Mount it otherwise.
    Remount,
    /// Set the device or the machine otherwise.
    Configure,
    /// Run it with the rights to see.
    AsRoot,
    /// Do the same again.
    Rerun,
    /// Look what is there or who does it.
    Inspect,
    /// Read what the trap is.
    Explain,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::CgroupLimit;
    use assay_plan::unit::{Bandwidth, Bytes, Iops, Nanos, PartOf, Share};

    #[test]
    fn a_quantity_is_a_number_and_its_words() {
        let exhibit = |value: ExhibitValue| Exhibit::new(ExhibitOf::Time, value, "/y");
        let shown = |value| serde_json::to_value(exhibit(value)).expect("json");
        for (value, words, number, unit) in [
            (Bytes::mib(20).into(), "20 MiB", f64::from(20 << 20), "bytes"),
            (Nanos::millis(5).into(), "5.00 ms", 5e6, "nanoseconds"),
            (Iops(120.0).into(), "120", 120.0, "operations_per_second"),
            (Bandwidth(3e6).into(), "3.00 MB/s", 3e6, "bytes_per_second"),
            (7_u64.into(), "7", 7.0, "count"),
            (Share(0.125).into(), "12 %", 0.125, "fraction"),
            (ExhibitValue::Times(7), "7 times", 7.0, "count"),
            (
                ExhibitValue::limit(CgroupLimit::OperationsPerSecond(9)),
                "9.00 operations per second",
                9.0,
                "operations_per_second",
            ),
            (
                ExhibitValue::Celsius { now: 41.2, limit: None },
                "41 °C, limit unknown",
                41.2,
                "degrees_celsius",
            ),
            (
                ExhibitValue::Celsius { now: 41.2, limit: Some(70.0) },
                "41 °C, limit 70 °C",
                41.2,
                "degrees_celsius",
            ),
            (
                ExhibitValue::Work { busy: Share(0.5), flushing: None, queue: 1.0 },
                "50 % busy, average queue 1.00",
                0.5,
                "fraction",
            ),
            (
                ExhibitValue::Work { busy: Share(0.5), flushing: Some(Share(0.3)), queue: 1.0 },
                "50 % busy, 30 % flushing, average queue 1.00",
                0.5,
                "fraction",
            ),
        ] as [(ExhibitValue, &str, f64, &str); 12]
        {
            let quantity = serde_json::json!({ "value": number, "unit": unit });
            let json = shown(value.clone());
            assert_eq!((&json["value"], &json["quantity"]), (&words.into(), &quantity));
            let read: Exhibit = serde_json::from_value(json).expect("an exhibit");
            assert_eq!(read, exhibit(value));
        }
        let part = shown(PartOf(Bytes::ZERO, Bytes::mib(20)).into());
        assert_eq!(part["value"], "0 B of 20 MiB");
        let of = f64::from(20 << 20);
        assert_eq!(
            part["quantity"],
            serde_json::json!({ "value": 0.0, "of": of, "unit": "bytes" })
        );
        let more = shown(PartOf(7_u64, 5).into());
        assert_eq!(more["quantity"], serde_json::json!({ "value": 7.0, "unit": "count" }));
        // A record of another version is known by its words, and by its number.
        for (exhibit, value) in [
            (serde_json::json!(null), ExhibitValue::Said("0 B of 20 MiB".into())),
            (serde_json::json!({ "of": "tomorrow" }), ExhibitValue::Said("0 B of 20 MiB".into())),
        ] {
            let written = serde_json::json!({
                "exhibit": exhibit, "reading": "x", "value": "0 B of 20 MiB", "source": "/y",
            });
            let read: Exhibit = serde_json::from_value(written).expect("an exhibit");
            assert_eq!(read, Exhibit::new(ExhibitOf::Said("x".into()), value, "/y"));
        }
        let numbered = serde_json::json!({
            "reading": "x", "value": "7 times", "source": "/y", "quantity": { "value": 7.0, "unit": "count" },
        });
        let read: Exhibit = serde_json::from_value(numbered.clone()).expect("an exhibit");
        let again = serde_json::to_value(&read).expect("json");
        assert_eq!(
            (&again["value"], &again["quantity"]),
            (&numbered["value"], &numbered["quantity"])
        );
    }

    #[test]
    fn what_another_version_claims_is_known_by_its_words() {
        let read = |claim: serde_json::Value| {
            let finding = serde_json::json!({
                "trap": "T02", "weight": "refute", "claim": claim, "text": "It is so.",
                "because": [], "next": { "remedy": "inspect", "command": "lsblk -t" },
            });
            serde_json::from_value::<Finding>(finding).expect("a finding")
        };
        let other = read(serde_json::json!({ "of_tomorrow": { "speed": 7 } }));
        assert_eq!(other.claim, Claim::Said("It is so.".into()));
        assert_eq!(other.next, Some(NextStep::new(Remedy::Inspect, "lsblk -t")));
        let written = serde_json::to_value(&other).expect("json");
        assert_eq!(
            (&written["claim"], &written["text"]),
            (&"It is so.".into(), &"It is so.".into())
        );
    }
}
