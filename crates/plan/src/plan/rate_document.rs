//! The rate of a job as documents have it: the form of today, and the one of before, which had one
//! kind of rate only. Nothing else knows that form.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::unit::{Bytes, Nanos};

use super::{Arrivals, Cap, Caps, Rate, ThinkTime};

/// Reads the rate of a job, in whichever form.
pub(super) fn read<'de, D: Deserializer<'de>>(document: D) -> Result<Rate, D::Error> {
    let value = Value::deserialize(document)?;
    let names: Vec<&str> =
        value.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let before = names.iter().find(|name| BEFORE.contains(name));
    if let (Some(before), Some(other)) = (before, names.iter().find(|name| Some(*name) != before)) {
        return Err(D::Error::custom(format!(
            "a rate with '{before}' has nothing beside it, but here is '{other}': write them as 'arrivals', 'caps' and 'think'"
        )));
    }
    if value.is_string() || before.is_some() {
        serde_json::from_value::<RateBefore>(value).map(Rate::from)
    } else {
        serde_json::from_value(value)
    }
    .map_err(D::Error::custom)
}

/// What the objects of that form say.
const BEFORE: [&str; 7] =
    ["open", "bursts", "capped_bandwidth", "capped_iops", "capped", "capped_each", "thinking"];

/// The rate of a job until rates could meet.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum RateBefore {
    Closed,
    Open {
        iops: f64,
        #[serde(default)]
        arrivals: SpreadBefore,
    },
    Bursts {
        ops: u64,
        every: Nanos,
    },
    CappedBandwidth(Bytes),
    CappedIops(f64),
    Capped {
        bandwidth: Bytes,
        iops: f64,
    },
    CappedEach(CapsBefore),
    Thinking(ThinkTime),
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SpreadBefore {
    #[default]
    Even,
    Poisson,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CapsBefore {
    #[serde(default)]
    read: Option<Cap>,
    #[serde(default)]
    write: Option<Cap>,
    #[serde(default)]
    trim: Option<Cap>,
}

impl From<RateBefore> for Rate {
    fn from(before: RateBefore) -> Self {
        let capped = |all| Self::capped(Caps::of_all(all));
        match before {
            RateBefore::Closed => Self::CLOSED,
            RateBefore::Open { iops, arrivals: SpreadBefore::Even } => {
                Self::arriving(Arrivals::Even { iops })
            }
            RateBefore::Open { iops, arrivals: SpreadBefore::Poisson } => {
                Self::arriving(Arrivals::Poisson { iops })
            }
            RateBefore::Bursts { ops, every } => Self::arriving(Arrivals::Bursts { ops, every }),
            RateBefore::CappedBandwidth(bytes) => capped(Cap::of_bandwidth(bytes)),
            RateBefore::CappedIops(iops) => capped(Cap::of_iops(iops)),
            RateBefore::Capped { bandwidth, iops } => {
                capped(Cap { bandwidth: Some(bandwidth), iops: Some(iops) })
            }
            RateBefore::CappedEach(CapsBefore { read, write, trim }) => {
                let [read, write, trim] = [read, write, trim].map(Option::unwrap_or_default);
                Self::capped(Caps { read, write, trim, ..Caps::NONE })
            }
            RateBefore::Thinking(think) => Self::thinking(think),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The rate that a document says, or why it is none.
    fn rate(document: Value) -> Result<Rate, String> {
        read(document).map_err(|error| error.to_string())
    }

    #[test]
    fn the_form_of_before_means_what_it_meant() {
        let think = ThinkTime { pause: Nanos(1000), every: 3 };
        let bursts = Arrivals::Bursts { ops: 10, every: Nanos(5) };
        let both = Cap { bandwidth: Some(Bytes(9)), iops: Some(0.5) };
        let each = Caps { read: Cap::of_iops(1.0), trim: both, ..Caps::NONE };
        for (before, now, meant) in [
            (json!("closed"), json!({}), Rate::CLOSED),
            (
                json!({ "open": { "iops": 0.5 } }),
                json!({ "arrivals": { "even": { "iops": 0.5 } } }),
                Rate::arriving(Arrivals::Even { iops: 0.5 }),
            ),
            (
                json!({ "open": { "iops": 5.0, "arrivals": "poisson" } }),
                json!({ "arrivals": { "poisson": { "iops": 5.0 } } }),
                Rate::arriving(Arrivals::Poisson { iops: 5.0 }),
            ),
            (
                json!({ "bursts": { "ops": 10, "every": 5 } }),
                json!({ "arrivals": { "bursts": { "ops": 10, "every": 5 } } }),
                Rate::arriving(bursts),
            ),
            (
                json!({ "capped_bandwidth": 7 }),
                json!({ "caps": { "all": { "bandwidth": 7 } } }),
                Rate::capped(Caps::of_all(Cap::of_bandwidth(Bytes(7)))),
            ),
            (
                json!({ "capped_iops": 7.5 }),
                json!({ "caps": { "all": { "iops": 7.5 } } }),
                Rate::capped(Caps::of_all(Cap::of_iops(7.5))),
            ),
            (
                json!({ "capped": { "bandwidth": 9, "iops": 0.5 } }),
                json!({ "caps": { "all": { "bandwidth": 9, "iops": 0.5 } } }),
                Rate::capped(Caps::of_all(both)),
            ),
            (
                json!({ "capped_each": { "read": { "iops": 1.0 }, "trim": both } }),
                json!({ "caps": { "read": { "iops": 1.0 }, "trim": both } }),
                Rate::capped(each),
            ),
            (
                json!({ "thinking": { "pause": 1000, "every": 3 } }),
                json!({ "think": { "pause": 1000, "every": 3 } }),
                Rate::thinking(think),
            ),
        ] {
            assert_eq!(rate(before.clone()), Ok(meant), "{before}");
            assert_eq!(rate(now.clone()), Ok(meant), "{now}");
            assert_eq!(serde_json::to_value(meant).expect("json"), now);
        }
    }

    #[test]
    fn only_the_form_of_today_has_several() {
        let all = json!({
            "arrivals": { "poisson": { "iops": 100.0 } },
            "caps": { "all": { "iops": 50.0 }, "write": { "bandwidth": 4096 } },
            "think": { "pause": 1, "every": 2 },
        });
        let read = rate(all.clone()).expect("a rate");
        assert!(read.arrives() && read.caps.has_own() && read.think.is_some());
        assert_eq!(serde_json::to_value(read).expect("json"), all);
        for (document, said) in [
            (
                json!({ "thinking": { "pause": 1, "every": 3 }, "capped_iops": 5.0 }),
                "a rate with 'capped_iops' has nothing beside it, but here is 'thinking': write them as 'arrivals', 'caps' and 'think'",
            ),
            (
                json!({ "arrivals": { "even": { "iops": 1.0 } }, "capped_iops": 5.0 }),
                "a rate with 'capped_iops' has nothing beside it, but here is 'arrivals'",
            ),
            // Arrivals are of one kind.
            (
                json!({ "arrivals": {
                    "even": { "iops": 1.0 }, "bursts": { "ops": 1, "every": 1 },
                } }),
                "",
            ),
            (json!({ "caps": { "flush": { "iops": 5.0 } } }), "unknown field `flush`"),
            (json!({ "cap": {} }), "unknown field `cap`"),
            (json!("fast"), "unknown variant `fast`"),
            (json!(null), ""),
        ] {
            let why = rate(document.clone()).expect_err("no rate");
            assert!(why.contains(said), "{document}: {why}");
        }
    }
}
