//! What the judges say, as values: part of the record's document.

use super::TrapId;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::stats::Estimate;
use crate::unit::{Bandwidth, Bytes, Iops, Nanos, PartOf, Share};

/// May a number be believed, and what is it about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// May it be believed as what its reader takes it for.
    pub trust: Trust,
    /// What it is about.
    pub measures: MeasuredSubject,
    /// One sentence for a person: what was measured and how that is known.
    pub summary: String,
    /// The figure that does describe the device, bytes per second, where it was measured too.
    pub corrected: Option<Estimate>,
    /// Everything that was found, the worst first.
    pub findings: Vec<Finding>,
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
    /// The device.
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
    /// Memory.
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Its number in the catalogue.
    pub trap: TrapId,
    /// How much it weighs.
    pub weight: FindingWeight,
    /// What the number is about because of it; absent when it changes nothing about that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measures: Option<MeasuredSubject>,
    /// What is claimed, in one sentence that a person can repeat.
    pub claim: String,
    /// The very readings that show it.
    pub because: Vec<Exhibit>,
    /// What to type now; absent when nothing is to be done.
    #[serde(default, deserialize_with = "of_any_version")]
    pub next: Option<NextStep>,
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Exhibit {
    /// What was read: `written to loop3 when the clock stopped`.
    pub reading: String,
    /// Its value with its unit: `0 B of 20 MiB`.
    pub value: String,
    /// The same as a number, where it is one number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantity: Option<ExhibitQuantity>,
    /// Where it was read: `/sys/block/loop3/stat`.
    pub source: String,
}

impl Exhibit {
    /// A reading, its value, and where it comes from.
    pub fn new(
        reading: impl Into<String>,
        value: impl Into<ExhibitValue>,
        source: impl Into<String>,
    ) -> Self {
        let ExhibitValue { text, quantity } = value.into();
        Self { reading: reading.into(), value: text, quantity, source: source.into() }
    }
}

/// A number that shows something.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExhibitQuantity {
    /// The number.
    pub value: f64,
    /// The whole that it is a part of, where that was read too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<f64>,
    /// What both count.
    pub unit: ExhibitUnit,
}

/// What the number of an exhibit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExhibitUnit {
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerSecond,
    /// Operations per second.
    OperationsPerSecond,
    /// Nanoseconds.
    Nanoseconds,
    /// Things: calls, flushes, blocks; a mean of them may have a fraction.
    Count,
    /// A part of a whole: 0.5 is a half.
    Fraction,
    /// Degrees Celsius.
    DegreesCelsius,
    /// Hertz.
    Hertz,
}

/// What an exhibit shows: a quantity, which is printed in one way, or a text.
#[derive(Clone, Debug, PartialEq)]
pub struct ExhibitValue {
    text: String,
    quantity: Option<ExhibitQuantity>,
}

impl ExhibitValue {
    /// A quantity in a text that says more of it.
    pub fn worded(quantity: impl Into<Self>, text: impl Into<String>) -> Self {
        Self { text: text.into(), ..quantity.into() }
    }

    /// A number of something that has no type of its own.
    pub fn number(value: f64, unit: ExhibitUnit, text: impl Into<String>) -> Self {
        Self { text: text.into(), quantity: Some(ExhibitQuantity { value, of: None, unit }) }
    }
}

impl From<String> for ExhibitValue {
    fn from(text: String) -> Self {
        Self { text, quantity: None }
    }
}

impl From<&String> for ExhibitValue {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}

impl From<&str> for ExhibitValue {
    fn from(text: &str) -> Self {
        text.to_string().into()
    }
}

/// How a type of quantity becomes the number of an exhibit.
macro_rules! quantities {
    ($($kind:ty, $unit:ident, |$quantity:ident| $value:expr;)*) => {$(
        impl From<$kind> for ExhibitValue {
            fn from($quantity: $kind) -> Self {
                let quantity = ExhibitQuantity { value: $value, of: None, unit: ExhibitUnit::$unit };
                Self { text: $quantity.to_string(), quantity: Some(quantity) }
            }
        }
    )*};
}

quantities! {
    Bytes, Bytes, |bytes| bytes.0 as f64;
    Bandwidth, BytesPerSecond, |rate| rate.0;
    Iops, OperationsPerSecond, |rate| rate.0;
    Nanos, Nanoseconds, |time| time.0 as f64;
    u64, Count, |count| count as f64;
    u32, Count, |count| f64::from(count);
    Share, Fraction, |part| part.0;
}

impl<T: Into<ExhibitValue> + Copy + fmt::Display + PartialOrd> From<PartOf<T>> for ExhibitValue {
    fn from(parts: PartOf<T>) -> Self {
        let PartOf(part, whole) = parts;
        let number = |of: T| of.into().quantity.map(|quantity| quantity.value);
        let of = number(whole).filter(|_| part <= whole);
        let quantity = part.into().quantity.map(|quantity| ExhibitQuantity { of, ..quantity });
        Self { text: parts.to_string(), quantity }
    }
}

/// What to do now: what it is for, and a line for a shell that does it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NextStep {
    /// What it is for.
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

    /// The words.
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
    /// Lift a limit.
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

/// A next step as this version and earlier ones wrote it: those had a line or advice in prose.
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenStep {
    Now(NextStep),
    Typed {
        #[serde(rename = "type")]
        command: String,
    },
    Prose {
        #[serde(rename = "do")]
        _text: String,
    },
}

/// A next step of any version. Prose of earlier ones is left out: judging again says what to type.
fn of_any_version<'de, D: Deserializer<'de>>(document: D) -> Result<Option<NextStep>, D::Error> {
    Ok(match Option::<WrittenStep>::deserialize(document)? {
        Some(WrittenStep::Now(step)) => Some(step),
        Some(WrittenStep::Typed { command }) => {
            let again = command.split(' ').any(|word| word == "assay");
            Some(NextStep::new(if again { Remedy::Rerun } else { Remedy::Inspect }, command))
        }
        Some(WrittenStep::Prose { .. }) | None => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_is_a_number_and_its_words() {
        let shown = |value: ExhibitValue| {
            serde_json::to_value(Exhibit::new("x", value, "/y")).expect("json")
        };
        for (value, words, number, unit) in [
            (Bytes::mib(20).into(), "20 MiB", f64::from(20 << 20), "bytes"),
            (Nanos::millis(5).into(), "5.00 ms", 5e6, "nanoseconds"),
            (Iops(120.0).into(), "120", 120.0, "operations_per_second"),
            (Bandwidth(3e6).into(), "3.00 MB/s", 3e6, "bytes_per_second"),
            (7_u64.into(), "7", 7.0, "count"),
            (Share(0.125).into(), "12 %", 0.125, "fraction"),
            (ExhibitValue::worded(7_u64, "7 times"), "7 times", 7.0, "count"),
        ] as [(ExhibitValue, &str, f64, &str); 7]
        {
            let quantity = serde_json::json!({ "value": number, "unit": unit });
            let json = shown(value);
            assert_eq!((&json["value"], &json["quantity"]), (&words.into(), &quantity));
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
        // Words alone, and a record of a version that knew only those.
        let words = shown("0 B of 20 MiB".into());
        assert_eq!(
            words,
            serde_json::json!({ "reading": "x", "value": "0 B of 20 MiB", "source": "/y" })
        );
        let read: Exhibit = serde_json::from_value(words).expect("an exhibit");
        assert_eq!(read, Exhibit::new("x", "0 B of 20 MiB", "/y"));
    }

    #[test]
    fn a_next_step_of_an_earlier_version_is_read() {
        let next = |written: serde_json::Value| {
            let finding = serde_json::json!({
                "trap": "T02", "weight": "refute", "claim": "x", "because": [], "next": written,
            });
            serde_json::from_value::<Finding>(finding).expect("a finding").next
        };
        let flush = NextStep::new(Remedy::Flush, "assay dd of=x conv=fsync");
        let json = serde_json::to_value(&flush).expect("json");
        assert_eq!(
            json,
            serde_json::json!({ "remedy": "flush", "command": "assay dd of=x conv=fsync" })
        );
        assert_eq!(next(json), Some(flush.clone()));
        assert_eq!(
            next(serde_json::json!({ "type": "assay dd of=x conv=fsync" })),
            Some(NextStep { remedy: Remedy::Rerun, ..flush })
        );
        let look = next(serde_json::json!({ "type": "lsblk -t" }));
        assert_eq!(look, Some(NextStep::new(Remedy::Inspect, "lsblk -t")));
        assert_eq!(next(serde_json::json!({ "do": "flush it" })), None);
        assert_eq!(next(serde_json::Value::Null), None);
    }
}
