//! A trap shown on purpose: what people type beside what they should type.

use serde::{Deserialize, Serialize};

use super::phase::Phase;
use super::phase_ref::PhaseRef;
use super::study::Study;
use crate::error::Refusal;

/// A trap shown on purpose. Of two phases the first does what people type, the second what tells
/// the truth; whatever other phases there are only prepare them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LessonPlan {
    /// What is taught.
    pub topic: LessonTopic,
    /// The phase that walks into the trap.
    pub trap: PhaseRef,
    /// The phase that does not.
    pub cure: PhaseRef,
}

/// What a lesson is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LessonTopic {
    /// A file that was just written is read from memory.
    Cache,
    /// A write that is not flushed is over when memory has it.
    Flush,
    /// Holes in a file are read without the device.
    Holes,
    /// A short write shows the burst, a long one what lasts.
    Burst,
    /// Zeros become less on their way.
    Compress,
    /// Small reads in order are served by a few large ones.
    Readahead,
    /// One I/O at a time leaves the device idle.
    Depth,
    /// A late answer holds back the requests after it, and is counted once.
    Omission,
}

impl LessonTopic {
    /// All of them, in the order in which they are best taken.
    pub const ALL: [Self; 8] = [
        Self::Flush,
        Self::Cache,
        Self::Holes,
        Self::Burst,
        Self::Compress,
        Self::Readahead,
        Self::Depth,
        Self::Omission,
    ];

    /// The word for it on the command line and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cache => "cache",
            Self::Flush => "flush",
            Self::Holes => "holes",
            Self::Burst => "burst",
            Self::Compress => "compress",
            Self::Readahead => "readahead",
            Self::Depth => "depth",
            Self::Omission => "omission",
        }
    }
}

impl LessonPlan {
    /// The same of a plan in which each phase is written out as often as it is done.
    pub(super) fn unroll(&mut self, phases: &[Phase]) {
        self.trap.unroll(phases);
        self.cure.unroll(phases);
    }
}

impl Study for LessonPlan {
    /// Refuses phases that are not there, or the same one twice.
    fn check(&self, phases: &[Phase]) -> Result<(), Refusal> {
        for half in [&self.trap, &self.cure] {
            let phase = half.among(phases);
            if phase.is_none_or(|phase| phase.times != 1 || phase.load().is_none()) {
                return Err(Refusal::new(
                    format!("{half} is no half of a lesson"),
                    "name phases that are done once and have one job of blocks",
                ));
            }
        }
        if self.trap.among(phases) == self.cure.among(phases) {
            return Err(Refusal::new(
                format!("{} is both halves of a lesson", self.trap),
                "name two phases",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use serde_json::json;

    #[test]
    fn every_topic_has_one_word() {
        for topic in LessonTopic::ALL {
            assert_eq!(serde_json::to_value(topic).expect("text"), topic.name());
        }
    }

    #[test]
    fn halves_are_two_phases_of_the_plan() {
        let plan = |trap: &str, cure: &str| -> Plan {
            let phase = |name: &str| {
                json!({ "name": name, "jobs": [{ "name": name, "work": { "blocks": {
                    "target": { "nowhere": { "size": 4096 } }, "method": "null",
                    "pattern": {
                        "mix": [{ "action": "read", "weight": 1 }], "block": { "fixed": 4096 },
                    },
                }}}]})
            };
            serde_json::from_value(json!({
                "title": "x", "origin": { "dialect": "plan" }, "seed": 1,
                "aim": { "lesson": { "topic": "flush", "trap": trap, "cure": cure } },
                "phases": [phase("one"), phase("two")],
            }))
            .expect("a plan")
        };
        assert_eq!(plan("one", "two").check(), Ok(()));
        for (trap, cure, why) in [
            ("one", "three", "'three' is no half of a lesson"),
            ("two", "two", "'two' is both halves of a lesson"),
        ] {
            assert_eq!(plan(trap, cure).check().expect_err("refused").why, why);
        }
    }
}
