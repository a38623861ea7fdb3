//! The level that the I/Os of a worker are held to: the longest latency, and the least rate.

use assay_plan::error::MissedLevel;
use assay_plan::plan::{Action, LeastRate, ServiceLevel};
use assay_plan::unit::{Nanos, Timestamp};

use super::super::IoOp;
use super::super::tally::ActionTallies;
use super::depth_finder::DepthFinder;
use super::in_flight::IoAnswer;

/// Rates are looked at when a worker has worked for so long.
const SETTLED: Nanos = Nanos::secs(2);

/// A rate that is looked at once in a window.
#[derive(Debug)]
struct WatchedRate {
    action: Action,
    least: LeastRate,
    /// When it was looked at last, and the operations and bytes of then; none before that.
    last: Option<(Timestamp, u64, u64)>,
}

/// The level that the I/Os of a worker are held to.
#[derive(Debug)]
pub(super) struct LevelWatch {
    /// The longest latency, ns, by the number of its operation.
    most: [u64; 4],
    rates: Vec<WatchedRate>,
    window: Nanos,
    /// When rates are looked at again.
    next: Timestamp,
    /// How deep the queue may be, where that is searched for.
    pub(super) finder: Option<DepthFinder>,
}

impl LevelWatch {
    /// From `started` on, of a worker that keeps so many in flight at the most.
    pub(super) fn new(level: &ServiceLevel, depth: u32, started: Timestamp) -> Self {
        let longest = |time: Nanos| if time == Nanos::ZERO { u64::MAX } else { time.0 };
        let [read, write, trim] = level.max_latency.all().map(longest);
        let actions = [Action::Read, Action::Write, Action::Trim];
        let rates = actions
            .into_iter()
            .zip(level.least.all())
            .filter_map(|(action, least)| Some(WatchedRate { action, least: least?, last: None }));
        let rates: Vec<_> = rates.collect();
        let next = if rates.is_empty() { Timestamp(u64::MAX) } else { started + SETTLED };
        let finder = level.depth.map(|search| DepthFinder::new(search, depth, started));
        Self { most: [read, write, write, trim], rates, window: level.window, next, finder }
    }

    /// Whether an I/O took longer than it may.
    #[inline]
    pub(super) fn is_exceeded_by(&self, answer: &IoAnswer) -> bool {
        answer.lat_ns() > self.most[answer.io_in_flight.io.op as usize]
    }

    /// The longest latency of such an operation, ns.
    pub(super) fn most(&self, op: IoOp) -> u64 {
        match &self.finder {
            Some(finder) => finder.target_ns(),
            None => self.most[op as usize],
        }
    }

    /// Looks at all rates; what is missed of one.
    pub(super) fn look(&mut self, now: Timestamp, tallies: &ActionTallies) -> Option<MissedLevel> {
        let missed = self.rates.iter_mut().find_map(|rate| {
            let tally = tallies.get(rate.action)?;
            rate.look(now, self.window, tally.ops, tally.bytes)
        });
        let last = self.rates.iter().filter_map(|rate| rate.last).map(|(at, ..)| at).min();
        self.next = last.map_or(now, |last| last + self.window);
        missed
    }

    /// Whether it is time to look at the rates, or at the depth.
    #[inline]
    pub(super) fn is_due(&self, now: Timestamp) -> bool {
        now >= self.next || self.finder.as_ref().is_some_and(|finder| now >= finder.ends())
    }

    /// Whether no other I/O may be sent beside so many.
    #[inline]
    pub(super) fn holds(&mut self, in_flight: u32) -> bool {
        self.finder.as_mut().is_some_and(|finder| finder.holds(in_flight))
    }
}

impl WatchedRate {
    /// Looks, when a window has passed since the last time; what is missed.
    fn look(&mut self, now: Timestamp, window: Nanos, ops: u64, bytes: u64) -> Option<MissedLevel> {
        if ops == 0 {
            return None;
        }
        if let Some((at, ops_then, bytes_then)) = self.last {
            // fio counts in milliseconds.
            let ms = now.since(at).0 / 1_000_000;
            if ms * 1_000_000 < window.0 || ms == 0 {
                return None;
            }
            match self.least {
                LeastRate::Bandwidth(least) => {
                    let got = (bytes - bytes_then).saturating_mul(1000) / ms;
                    if got < least.0 {
                        return Some(MissedLevel::Bandwidth { got, least: least.0 });
                    }
                }
                LeastRate::Iops(least) => {
                    let got = (ops - ops_then).saturating_mul(1000) / ms;
                    if got < least {
                        return Some(MissedLevel::Iops { got, least });
                    }
                }
            }
        }
        self.last = Some((now, ops, bytes));
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_plan::unit::Bytes;

    #[test]
    fn a_rate_is_looked_at_once_in_a_window() {
        let least = LeastRate::Bandwidth(Bytes(1000));
        let mut rate = WatchedRate { action: Action::Read, least, last: None };
        let mut look =
            |ms: u64, ops, bytes| rate.look(Timestamp(ms * 1_000_000), Nanos::secs(1), ops, bytes);
        assert_eq!(look(2000, 0, 0), None);
        assert_eq!(look(2100, 1, 10), None, "the first look only remembers");
        assert_eq!(look(3099, 2, 20), None, "the window is not over");
        assert_eq!(look(3100, 9, 1010), None, "as much as was asked for");
        let missed = MissedLevel::Bandwidth { got: 999, least: 1000 };
        assert_eq!(look(4100, 10, 2009), Some(missed));
    }
}
