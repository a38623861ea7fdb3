//! How fast work is offered.

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::Refusal;
use crate::unit::{Bytes, Nanos};

use super::{Action, Work};

/// How fast I/Os are offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rate {
    /// The next as soon as one is answered.
    #[default]
    Closed,
    /// At set times, whether or not the last is answered; latency counts from the set time.
    Open {
        /// Operations per second of the job, all workers together.
        iops: f64,
        /// How they are spread.
        #[serde(default)]
        arrivals: Arrivals,
    },
    /// Many at once, every so often, whether or not the last are answered; latency counts from the
    /// time of the burst.
    Bursts {
        /// Operations in each burst, of all workers together.
        ops: u64,
        /// From one burst to the next.
        every: Nanos,
    },
    /// No faster than this many bytes per second, all workers together.
    CappedBandwidth(Bytes),
    /// No faster than this many operations per second, all workers together.
    CappedIops(f64),
    /// No faster than either of these allows, all workers together: the stricter holds.
    Capped {
        /// Bytes per second.
        bandwidth: Bytes,
        /// Operations per second.
        iops: f64,
    },
    /// Each action no faster than its own cap allows, all workers together (fio's `rate=R,W,T`
    /// and `rate_iops=R,W,T`). One that must wait gives its turn to another, so that each comes
    /// to its cap, whatever the weights of the mix.
    CappedEach(EachCap),
    /// With a pause after every so many I/Os.
    Thinking(ThinkTime),
}

/// A cap for each action; one without is held back by nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EachCap {
    /// Of reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Cap>,
    /// Of writes; rewrites have the same cap, each by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<Cap>,
    /// Of trims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim: Option<Cap>,
}

impl EachCap {
    /// The cap of an action, if it has one.
    pub fn of(self, action: Action) -> Option<Cap> {
        match action {
            Action::Read => self.read,
            Action::Write | Action::Rewrite => self.write,
            Action::Trim => self.trim,
            _ => None,
        }
    }

    fn caps(self) -> impl Iterator<Item = Cap> {
        [self.read, self.write, self.trim].into_iter().flatten()
    }
}

/// A cap; of two the stricter holds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cap {
    /// Bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Bytes>,
    /// Operations per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<f64>,
}

impl Cap {
    /// It says nothing.
    fn is_empty(self) -> bool {
        self.bandwidth.is_none() && self.iops.is_none()
    }

    /// Nothing of it is 0.
    fn is_rate(self) -> bool {
        self.bandwidth.is_none_or(|bytes| bytes.0 > 0) && self.iops.is_none_or(is_rate)
    }
}

/// How open-loop arrivals are spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Evenly.
    #[default]
    Even,
    /// As a Poisson process.
    Poisson,
}

/// Pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThinkTime {
    /// How long.
    pub pause: Nanos,
    /// After how many I/Os.
    pub every: u32,
}

impl Rate {
    /// Whether I/Os arrive at times of their own, so that they can be late.
    pub fn arrives(self) -> bool {
        matches!(self, Self::Open { .. } | Self::Bursts { .. })
    }

    /// Refuses caps of actions that are not done.
    pub(super) fn agree(self, work: &Work) -> Result<(), Refusal> {
        let Self::CappedEach(each) = self else { return Ok(()) };
        let Work::Blocks(blocks) = work else {
            return Err(Refusal::new(
                "capped_each caps the reads, writes and trims of blocks",
                "use 'capped' or another rate for this kind of work",
            ));
        };
        let mix = &blocks.pattern.mix;
        let needless = [
            ("read", each.read, mix.has(Action::Read)),
            ("write", each.write, mix.sends()),
            ("trim", each.trim, mix.has(Action::Trim)),
        ];
        match needless.iter().find(|(_, cap, done)| cap.is_some() && !done) {
            Some((action, ..)) => Err(Refusal::new(
                format!("capped_each has a cap for '{action}', which the mix does not do"),
                "leave one of them out, or add the other",
            )),
            None => Ok(()),
        }
    }

    pub(super) fn check(self) -> Result<(), Refusal> {
        let bad = match self {
            Self::Closed => false,
            Self::Open { iops, .. } | Self::CappedIops(iops) => !is_rate(iops),
            Self::Capped { bandwidth, iops } => bandwidth.0 == 0 || !is_rate(iops),
            Self::CappedBandwidth(bytes) => bytes.0 == 0,
            Self::Bursts { ops, every } => ops == 0 || every == Nanos::ZERO,
            Self::CappedEach(each) => {
                if each.caps().count() == 0 || each.caps().any(Cap::is_empty) {
                    return Err(Refusal::new(
                        "capped_each, and no cap",
                        "give 'bandwidth' or 'iops' to 'read', 'write' or 'trim'",
                    ));
                }
                !each.caps().all(Cap::is_rate)
            }
            Self::Thinking(think) => think.every == 0,
        };
        if bad {
            return Err(Refusal::new("a rate of 0 never gets anywhere", "give a rate above 0"));
        }
        Ok(())
    }
}

/// Once in 300 years is never.
fn is_rate(iops: f64) -> bool {
    iops.is_finite() && iops > 1e-10
}

/// Reads the rate of a job. Two at once are refused by their names.
pub(super) fn one<'de, D: Deserializer<'de>>(from: D) -> Result<Rate, D::Error> {
    let value = serde_json::Value::deserialize(from)?;
    let names: Vec<&str> =
        value.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    if let [first, second, ..] = names.as_slice() {
        let caps = ["capped_bandwidth", "capped_iops"];
        let instead = if [*first, *second] == caps {
            "say 'capped' with bandwidth and iops"
        } else {
            "leave one of them out"
        };
        return Err(D::Error::custom(format!(
            "a job has one rate, not {first} and {second}: {instead}"
        )));
    }
    serde_json::from_value(value).map_err(D::Error::custom)
}
