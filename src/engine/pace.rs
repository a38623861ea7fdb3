//! When the next I/O may start.

use crate::plan::{Arrivals, Rate};
use crate::unit::Instant;

use super::Io;
use super::random::Random;

/// The pace of one worker.
#[derive(Debug)]
pub(crate) enum Pace {
    /// As soon as there is room.
    Closed,
    /// At set times; latency counts from them.
    Open { next: f64, gap: f64, poisson: Option<Random> },
    /// No earlier than what was done so far allows.
    Capped { next: f64, ns_per_byte: f64, ns_per_op: f64 },
    /// A pause after every so many.
    Thinking { left: u32, every: u32, pause: f64, next: f64 },
}

impl Pace {
    /// The pace of one of `workers` that share a rate, from `start` on.
    pub(crate) fn new(rate: Rate, workers: u32, worker: u32, start: Instant, seed: u64) -> Self {
        let (start, workers) = (start.0 as f64, f64::from(workers));
        match rate {
            Rate::Closed => Self::Closed,
            Rate::Open { iops, arrivals } => {
                let gap = 1e9 * workers / iops;
                // Workers take turns, so that together they are even too.
                let next = start + 1e9 / iops * f64::from(worker);
                let poisson = (arrivals == Arrivals::Poisson).then(|| Random::new(seed));
                Self::Open { next, gap, poisson }
            }
            Rate::CappedBandwidth(bytes) => Self::Capped {
                next: start,
                ns_per_byte: 1e9 * workers / bytes.0 as f64,
                ns_per_op: 0.0,
            },
            Rate::CappedIops(iops) => {
                Self::Capped { next: start, ns_per_byte: 0.0, ns_per_op: 1e9 * workers / iops }
            }
            Rate::Thinking(think) => Self::Thinking {
                left: think.every,
                every: think.every,
                pause: think.pause.0 as f64,
                next: start,
            },
        }
    }

    /// When the next I/O is due; `None`: now.
    #[inline]
    pub(crate) fn due(&self) -> Option<Instant> {
        match self {
            Self::Closed => None,
            Self::Open { next, .. } | Self::Capped { next, .. } | Self::Thinking { next, .. } => {
                Some(Instant(*next as u64))
            }
        }
    }

    /// Whether latency counts from when an I/O was due, not from when it was sent.
    #[inline]
    pub(crate) fn counts_from_due(&self) -> bool {
        matches!(self, Self::Open { .. })
    }

    /// An I/O was started at `now`.
    #[inline]
    pub(crate) fn started(&mut self, io: Io, now: Instant) {
        match self {
            Self::Closed => {}
            Self::Open { next, gap, poisson } => {
                *next += match poisson {
                    // The gaps of a Poisson process are exponentially distributed.
                    Some(random) => -(1.0 - random.unit()).ln() * *gap,
                    None => *gap,
                };
            }
            Self::Capped { next, ns_per_byte, ns_per_op } => {
                let cost = f64::from(io.len) * *ns_per_byte + *ns_per_op;
                // Lateness is caught up for 100 ms at the most: a cap, not a debt.
                *next = next.max(now.0 as f64 - 1e8) + cost;
            }
            Self::Thinking { left, every, pause, next } => {
                *left -= 1;
                if *left == 0 {
                    *left = *every;
                    *next = now.0 as f64 + *pause;
                }
            }
        }
    }
}
