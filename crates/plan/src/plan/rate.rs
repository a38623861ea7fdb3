//! How fast work is offered.

use serde::{Deserialize, Serialize};

use crate::error::Refusal;
use crate::unit::{Bytes, Nanos, Ops};

use super::Action;
use super::usual::is_usual;

/// How fast I/Os are offered: an I/O is due at the latest of what arrivals, caps and think time say.
/// Where none of them is there, the next is sent as soon as one is answered (a closed loop).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// I/Os arrive at times of their own, whether or not the last is answered (an open loop);
    /// latency counts from when an I/O was due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// No faster than this, however fast answers come.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub caps: Caps,
    /// A pause after every so many I/Os.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<ThinkTime>,
    /// A rest between I/Os of each worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<RestTime>,
    /// Time between I/Os that each worker spends on something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compute: Option<ComputeTime>,
}

/// When I/Os arrive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Arrivals {
    /// One after the other, evenly spread.
    Even {
        /// Operations per second of the job, all workers together.
        iops: f64,
    },
    /// By chance, as a Poisson process (fio's `rate_process=poisson`).
    Poisson {
        /// Operations per second of the job in the mean, all workers together.
        iops: f64,
    },
    /// Many at once, every so often.
    Bursts {
        /// Operations in each burst, of all workers together.
        ops: u64,
        /// From one burst to the next.
        every: Nanos,
    },
}

impl Arrivals {
    /// Operations per second of the job in the mean, all workers together; 0 where no time lies between
    /// bursts.
    pub fn iops(self) -> f64 {
        match self {
            Self::Even { iops } | Self::Poisson { iops } => iops,
            Self::Bursts { ops, every } => Ops(ops).over(every).map_or(0.0, |rate| rate.0),
        }
    }
}

/// Caps on what all workers of the job do together. Those of single actions (fio's `rate=R,W,T` and
/// `rate_iops=R,W,T`) hold beside the one of all: an action that must wait gives its turn to another,
/// so that each comes to its cap, whatever the weights of the mix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Caps {
    /// Of all actions together.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub all: Cap,
    #[serde(default, skip_serializing_if = "is_usual")]
    pub read: Cap,
    /// Of writes; rewrites have the same cap, each by itself.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub write: Cap,
    #[serde(default, skip_serializing_if = "is_usual")]
    pub trim: Cap,
    /// Each worker catches up with all that it was held up for, as fast as it can: the caps hold in the mean
    /// (fio's rates). Else with 100 ms at the most.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub catch_up: bool,
    /// The gaps that caps of single actions leave are drawn, exponentially distributed with the cap as their mean: a
    /// Poisson process for each action (fio's `rate_process=poisson` of a mix).
    #[serde(default, skip_serializing_if = "is_usual")]
    pub poisson: bool,
}

/// A cap; of two the stricter holds, and what is absent holds nothing back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Cap {
    /// Bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Bytes>,
    /// Operations per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<f64>,
}

/// Pauses, of each worker by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ThinkTime {
    /// How long, from when the last I/O before it was sent.
    pub pause: Nanos,
    /// After how many I/Os.
    pub every: u32,
}

/// Rests, of each worker by itself, after I/Os that were answered (fio's `thinktime`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RestTime {
    /// How long, from the answer to the last I/O on.
    pub time: Nanos,
    /// How much of that the CPU is kept busy, at its beginning.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub busy: Nanos,
    /// After how many I/Os; 0: they are not counted.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub every: u32,
    /// After so much time without a rest; zero: it is not looked at.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub after: Nanos,
    /// It is as long as makes the time since the last I/O was sent so many percent of both, 1 to 99 (the load of a
    /// CPU); `time` is not looked at then. 0: it is as long as `time`.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub load_percent: u8,
    /// What caps would have let through meanwhile is not caught up with (fio's `rate_ignore_thinktime`).
    #[serde(default, skip_serializing_if = "is_usual")]
    pub uncapped: bool,
}

/// Time between I/Os that a worker spends on something else, from the answer to the last one on: unlike a
/// pause it is as long however long the I/O took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ComputeTime {
    /// How long.
    pub time: Nanos,
    /// The same in cycles of the processor's counter of time, which are added to it (fio's `thinkcycles`).
    #[serde(default, skip_serializing_if = "is_usual")]
    pub cycles: u64,
    /// Before every so many I/Os, from the first on.
    pub every: u32,
    /// The worker sleeps; else it keeps its CPU busy (IOzone's `-J`).
    #[serde(default, skip_serializing_if = "is_usual")]
    pub idle: bool,
}

impl Rate {
    /// As fast as answers come.
    pub const CLOSED: Self =
        Self { arrivals: None, caps: Caps::NONE, think: None, rest: None, compute: None };

    /// I/Os that arrive so, and are held back by nothing else.
    pub const fn arriving(arrivals: Arrivals) -> Self {
        Self { arrivals: Some(arrivals), ..Self::CLOSED }
    }

    /// As fast as answers come, up to these caps.
    pub const fn capped(caps: Caps) -> Self {
        Self { caps, ..Self::CLOSED }
    }

    /// As fast as answers come, with pauses.
    pub const fn thinking(think: ThinkTime) -> Self {
        Self { think: Some(think), ..Self::CLOSED }
    }

    /// Whether nothing but answers is waited for.
    pub fn is_closed(self) -> bool {
        self == Self::CLOSED
    }

    /// Whether I/Os arrive at times of their own, so that they can be late.
    pub fn arrives(self) -> bool {
        self.arrivals.is_some()
    }

    pub(super) fn check(self) -> Result<(), Refusal> {
        self.arrivals.map_or(Ok(()), Arrivals::check)?;
        self.caps.check()?;
        if self.compute.is_some_and(|compute| compute.every == 0) {
            return Err(Refusal::new("computing before every 0 I/Os", "give 1 or more"));
        }
        self.rest.map_or(Ok(()), RestTime::check)?;
        self.think.map_or(Ok(()), ThinkTime::check)
    }
}

impl Arrivals {
    fn check(self) -> Result<(), Refusal> {
        match self {
            Self::Even { iops } | Self::Poisson { iops } if !is_rate(iops) => Err(Refusal::new(
                "at an arrival rate of 0 no I/O ever comes",
                "give an 'iops' above 0, or leave 'arrivals' out",
            )),
            Self::Bursts { ops: 0, .. } => {
                Err(Refusal::new("in bursts of 0 operations no I/O ever comes", "give 1 or more"))
            }
            Self::Bursts { every: Nanos::ZERO, .. } => Err(Refusal::new(
                "bursts with no time between them never end",
                "give an 'every' above 0, in ns",
            )),
            _ => Ok(()),
        }
    }
}

impl Caps {
    /// Nothing is capped.
    pub const NONE: Self = Self {
        all: Cap::NONE,
        read: Cap::NONE,
        write: Cap::NONE,
        trim: Cap::NONE,
        catch_up: false,
        poisson: false,
    };

    /// One cap for all actions together.
    pub const fn of_all(all: Cap) -> Self {
        Self { all, ..Self::NONE }
    }

    /// The cap that an action has for itself.
    pub fn of(self, action: Action) -> Cap {
        match action {
            Action::Read => self.read,
            Action::Write | Action::Rewrite => self.write,
            Action::Trim => self.trim,
            _ => Cap::NONE,
        }
    }

    /// Whether an action has a cap for itself.
    pub fn has_own(self) -> bool {
        Self { all: Cap::NONE, catch_up: false, poisson: false, ..self } != Self::NONE
    }

    fn check(self) -> Result<(), Refusal> {
        let named =
            [("all", self.all), ("read", self.read), ("write", self.write), ("trim", self.trim)];
        match named.iter().find(|(_, cap)| !cap.lets_through()) {
            Some((name, _)) => Err(Refusal::new(
                format!("a cap of 0 on '{name}' lets nothing through"),
                "give a cap above 0, or leave it out",
            )),
            None => Ok(()),
        }
    }
}

impl Cap {
    /// No cap.
    pub const NONE: Self = Self { bandwidth: None, iops: None };

    /// So many bytes per second.
    pub const fn of_bandwidth(bytes: Bytes) -> Self {
        Self { bandwidth: Some(bytes), iops: None }
    }

    /// So many operations per second.
    pub const fn of_iops(iops: f64) -> Self {
        Self { bandwidth: None, iops: Some(iops) }
    }

    fn lets_through(self) -> bool {
        self.bandwidth != Some(Bytes::ZERO) && self.iops.is_none_or(is_rate)
    }
}

impl RestTime {
    fn check(self) -> Result<(), Refusal> {
        if self.load_percent > 99 {
            return Err(Refusal::new(
                format!("a rest that leaves a load of {} percent", self.load_percent),
                "give 'load_percent' 1 to 99, or no rest",
            ));
        }
        let timed = self.load_percent == 0;
        if timed && self.time == Nanos::ZERO || self.busy > self.time {
            return Err(Refusal::new(
                "a rest of no time, or one that is shorter than what of it is busy",
                "give a 'time' above 0, in ns, and no more of it as 'busy'",
            ));
        }
        if self.every == 0 && self.after == Nanos::ZERO {
            return Err(Refusal::new(
                "a rest after no I/O and no time",
                "give 'every', a count of I/Os, or 'after', a time in ns",
            ));
        }
        Ok(())
    }
}

impl ThinkTime {
    fn check(self) -> Result<(), Refusal> {
        if self.every == 0 {
            return Err(Refusal::new("a pause after every 0 I/Os never ends", "give 1 or more"));
        }
        if self.pause == Nanos::ZERO {
            return Err(Refusal::new(
                "a pause of no time is none",
                "give a 'pause' above 0, in ns, or leave 'think' out",
            ));
        }
        Ok(())
    }
}

/// Once in 300 years is never.
fn is_rate(iops: f64) -> bool {
    iops.is_finite() && iops > 1e-10
}
