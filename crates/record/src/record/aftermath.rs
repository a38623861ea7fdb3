//! Whether a device works on when it has said that all is done: single reads before a phase and after it.

use serde::{Deserialize, Serialize};

use crate::evidence::Reading;
use assay_plan::unit::Nanos;

/// Single reads around a phase, while nothing else is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Aftermath {
    /// The file or device that was read.
    pub path: String,
    /// Before the phase; unseen where nothing of this run stood there yet, or direct I/O is not real.
    pub before: Reading<SingleReadLatencies>,
    /// After it. More than one round: the first was slow, and the next phase has waited.
    pub after: Vec<AftermathRound>,
}

/// Some reads after a phase.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AftermathRound {
    /// When they began, ns after the end of the phase and of its flush.
    pub since_end_ns: Nanos,
    /// How long they took.
    pub reads: SingleReadLatencies,
}

/// How long some single reads took, one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SingleReadLatencies {
    /// How many.
    pub reads: u32,
    /// A quarter were faster, ns.
    pub p25_ns: Nanos,
    /// Half of them were faster, ns.
    pub p50_ns: Nanos,
    /// Three quarters were faster, ns.
    pub p75_ns: Nanos,
    /// The slowest, ns.
    pub max_ns: Nanos,
}

impl SingleReadLatencies {
    /// Of these times; `None` of fewer than four.
    pub fn of(times: &[Nanos]) -> Option<Self> {
        let mut sorted = times.to_vec();
        sorted.sort_unstable();
        let quarter = |n: usize| sorted[sorted.len() * n / 4];
        (sorted.len() >= 4).then(|| Self {
            reads: sorted.len() as u32,
            p25_ns: quarter(1),
            p50_ns: quarter(2),
            p75_ns: quarter(3),
            max_ns: sorted[sorted.len() - 1],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quarters_of_the_sorted_times() {
        let times: Vec<Nanos> = (0..20).map(|n| Nanos::micros(100 + (n * 7) % 20)).collect();
        let of = SingleReadLatencies::of(&times).expect("enough");
        assert_eq!((of.reads, of.max_ns), (20, Nanos::micros(119)));
        assert_eq!([of.p25_ns, of.p50_ns, of.p75_ns].map(|t| t.0 / 1000), [105, 110, 115]);
        assert_eq!(SingleReadLatencies::of(&times[..3]), None);
    }
}
