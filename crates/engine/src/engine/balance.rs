//! Jobs that keep step: none may be far ahead of the others, by weight.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use assay_plan::unit::{Nanos, Timestamp};

/// I/Os that the jobs of a phase have started, one counter for each; [`BalanceCounters::OVER`] when a job
/// has ended. All zeros is how it begins, so that it may lie in memory that processes share.
#[derive(Debug)]
#[repr(align(128))]
pub struct BalanceCounters {
    started: AtomicU64,
}

impl Default for BalanceCounters {
    fn default() -> Self {
        Self { started: AtomicU64::new(0) }
    }
}

impl BalanceCounters {
    const OVER: u64 = u64::MAX;

    /// The job has ended and holds nobody back.
    pub fn end(&self) {
        self.started.store(Self::OVER, Relaxed);
    }

    /// Whether the job has ended.
    pub fn is_over(&self) -> bool {
        self.started.load(Relaxed) == Self::OVER
    }
}

/// A worker's place in the balance of its phase.
#[derive(Clone, Debug)]
pub struct BalanceSlot<'a> {
    own: &'a BalanceCounters,
    weight: u64,
    /// The others, with their weights.
    others: Vec<(&'a BalanceCounters, u64)>,
}

/// How long one that is ahead waits before it looks again.
const LOOK: Nanos = Nanos::micros(20);
/// Rounds of its weight by which a job may be ahead: one would let the deepest queue run dry.
const AHEAD: u64 = 2;

impl<'a> BalanceSlot<'a> {
    /// The share of a job of this weight beside others.
    pub fn new(
        own: &'a BalanceCounters,
        weight: u32,
        others: Vec<(&'a BalanceCounters, u32)>,
    ) -> Self {
        let others = others.into_iter().map(|(steps, weight)| (steps, u64::from(weight)));
        Self { own, weight: u64::from(weight), others: others.collect() }
    }

    /// When to look again, while the job is ahead of the slowest of the others; `None`: go on.
    #[inline]
    pub(crate) fn hold(&self, now: Timestamp) -> Option<Timestamp> {
        let mine = self.own.started.load(Relaxed) / self.weight;
        let ahead = self.others.iter().any(|(steps, weight)| {
            let theirs = steps.started.load(Relaxed);
            theirs != BalanceCounters::OVER && mine >= theirs / weight + AHEAD
        });
        ahead.then(|| now + LOOK)
    }

    /// An I/O was started.
    #[inline]
    pub(crate) fn step(&self) {
        self.own.started.fetch_add(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_gets_ahead_by_more_than_two_rounds() {
        let (first, second) = (BalanceCounters::default(), BalanceCounters::default());
        let one = BalanceSlot::new(&first, 1, vec![(&second, 3)]);
        let three = BalanceSlot::new(&second, 3, vec![(&first, 1)]);
        let now = Timestamp(0);
        let go = |share: &BalanceSlot| {
            (0..100)
                .take_while(|_| {
                    let free = share.hold(now).is_none();
                    if free {
                        share.step();
                    }
                    free
                })
                .count()
        };
        assert_eq!(go(&one), 2);
        assert_eq!(go(&three), 12);
        assert_eq!(go(&one), 4);
        second.end();
        assert_eq!(go(&one), 100);
    }
}
