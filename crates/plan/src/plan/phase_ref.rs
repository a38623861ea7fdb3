//! Which phase of a plan: by its number, or by its name.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::phase::Phase;

/// A phase of a plan: its number among them, from 0. Plans that are written by hand may have its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum PhaseRef {
    Number(usize),
    Name(Box<str>),
}

impl PhaseRef {
    /// The phase, if the plan has it.
    pub fn among<'p>(&self, phases: &'p [Phase]) -> Option<&'p Phase> {
        phases.get(self.number_among(phases)?)
    }

    /// Its number, if the plan has it.
    pub fn number_among(&self, phases: &[Phase]) -> Option<usize> {
        match self {
            Self::Number(number) => (*number < phases.len()).then_some(*number),
            Self::Name(name) => phases.iter().position(|phase| *phase.name == **name),
        }
    }

    /// Whether any of them is the phase with this name.
    pub fn any(all: &[Self], phases: &[Phase], name: &str) -> bool {
        all.iter().any(|one| match one {
            Self::Number(number) => phases.get(*number).is_some_and(|phase| phase.name == name),
            Self::Name(own) => **own == *name,
        })
    }

    /// Becomes the number that the phase has where each of these is written out as often as it is done.
    pub fn unroll(&mut self, phases: &[Phase]) {
        if let Some(number) = self.number_among(phases) {
            let before = phases.iter().take(number).map(|phase| phase.times as usize);
            *self = Self::Number(before.sum());
        }
    }
}

impl From<usize> for PhaseRef {
    fn from(number: usize) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for PhaseRef {
    fn from(name: &str) -> Self {
        Self::Name(name.into())
    }
}

/// `phase 3 (counted from 0)`, or `'read'`.
impl fmt::Display for PhaseRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "phase {number} (counted from 0)"),
            Self::Name(name) => write!(f, "'{name}'"),
        }
    }
}

impl<'de> Deserialize<'de> for PhaseRef {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct RefVisitor;
        impl Visitor<'_> for RefVisitor {
            type Value = PhaseRef;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the number of a phase, or its name")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<PhaseRef, E> {
                usize::try_from(number).map(PhaseRef::Number).map_err(E::custom)
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<PhaseRef, E> {
                Ok(name.into())
            }
        }
        from.deserialize_any(RefVisitor)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for PhaseRef {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PhaseRef".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A phase of a plan: its number among them, from 0. Plans that are written by hand may have its name.",
            "anyOf": [{ "type": "integer", "minimum": 0 }, { "type": "string" }],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use serde_json::json;

    #[test]
    fn a_phase_is_found_by_number_and_by_name_also_where_others_are_repeated() {
        let phase = |name: &str, times: u32| {
            json!({ "name": name, "times": times, "jobs": [{
                "name": "j",
                "work": { "blocks": {
                    "target": { "nowhere": { "size": 4096 } },
                    "method": "null",
                    "pattern": {
                        "mix": [{ "action": "read", "weight": 1 }],
                        "block": { "fixed": 4096 },
                    },
                }},
            }]})
        };
        for (load, written) in [(json!(1), json!(3)), (json!("b"), json!(3))] {
            let plan: Plan = serde_json::from_value(json!({
                "title": "t", "origin": { "dialect": "plan" }, "seed": 1,
                "aim": { "load": { "phase": load } },
                "phases": [phase("a", 3), phase("b", 1)],
            }))
            .expect("a plan");
            plan.check().expect("it has that phase");
            let unrolled = plan.unrolled();
            for plan in [&plan, &*unrolled] {
                let counted = plan.phases.iter().filter(|phase| plan.counts(&phase.name));
                assert_eq!(counted.map(|phase| &*phase.name).collect::<Vec<_>>(), ["b"]);
            }
            let document = serde_json::to_value(&*unrolled).expect("json");
            assert_eq!(document["aim"]["load"]["phase"], written);
        }
        for (bad, why) in [(json!(7), "phase 7 ("), (json!("c"), "'c'")] {
            let plan: Plan = serde_json::from_value(json!({
                "title": "t", "origin": { "dialect": "plan" }, "seed": 1,
                "aim": { "load": { "phase": bad } }, "phases": [phase("a", 1)],
            }))
            .expect("a plan");
            let refusal = plan.check().expect_err("no such phase");
            assert!(refusal.why.contains(why), "{}", refusal.why);
        }
        let read = |text: &str| serde_json::from_str::<PhaseRef>(text);
        assert!(read("-1").is_err() && read("1.5").is_err() && read("[]").is_err());
    }
}
