//! What the twelve tests came to, read from a record.

use super::{TESTS, test_of};
use crate::plan::Action;
use crate::record::{PhaseRecord, Record};
use crate::unit::Nanos;

/// What a test came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measure {
    /// How long it took.
    pub elapsed: Nanos,
    /// KiB, seeks or files per second.
    pub rate: f64,
    /// CPU time of the workers in percent of the elapsed, truncated.
    pub cpu: u64,
    /// The longest single step, where one was timed.
    pub latency: Option<Nanos>,
}

/// Less time than this says too little: the figure is crossed out.
const SHORT: Nanos = Nanos::millis(500);

impl Measure {
    /// That of a phase which has done anything.
    pub fn of(phase: &PhaseRecord) -> Option<Self> {
        let test = test_of(&phase.name)?;
        let elapsed = phase.span.time();
        let own = phase.totals.iter().filter(|(action, _)| counts(test, **action));
        let (mut amount, mut latency) = (0.0, None);
        for (_, total) in own {
            amount += match test {
                0..5 => total.bytes.0 as f64 / 1024.0,
                _ => total.ops.0 as f64,
            };
            latency = latency.max(total.lat_ns.map(|lat| Nanos(lat.max)));
        }
        let seconds = elapsed.as_secs();
        if amount == 0.0 || seconds == 0.0 {
            return None;
        }
        let cpu = phase.cpu.unwrap_or_default().as_secs();
        Some(Self { elapsed, rate: amount / seconds, cpu: (100.0 * cpu / seconds) as u64, latency })
    }

    /// Whether it was over so soon that only crosses are printed.
    pub fn is_short(&self) -> bool {
        self.elapsed < SHORT
    }
}

/// Whether an action is what a test counts; what it lists or flushes is not.
fn counts(test: usize, action: Action) -> bool {
    match action {
        Action::List => false,
        Action::Read | Action::Write | Action::Rewrite => true,
        Action::Stat | Action::Create | Action::Remove => test > 5,
        _ => false,
    }
}

/// What each test came to; nothing of those that were not done.
pub fn measured(record: &Record) -> [Option<Measure>; 12] {
    TESTS.map(|test| record.phases.iter().find(|phase| phase.name == test).and_then(Measure::of))
}

/// The longest step as tables and lines have it: `35573us`, `148ms`, `2s`; empty of none.
pub(super) fn latency(measure: Option<Measure>) -> String {
    let Some(time) = measure.and_then(|measure| measure.latency) else { return String::new() };
    match time.as_secs() {
        seconds if seconds > 99.999_999 => format!("{}s", seconds as u64),
        seconds if seconds > 0.099_999 => format!("{}ms", time.0 / 1_000_000),
        _ => format!("{}us", (time.0 / 1000).max(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_lose_digits_as_they_grow() {
        let said = |latency| {
            super::latency(Some(Measure { latency: Some(latency), ..Measure::default() }))
        };
        assert_eq!(said(Nanos(999)), "1us");
        assert_eq!(said(Nanos(35_573_999)), "35573us");
        assert_eq!(said(Nanos::millis(99)), "99000us");
        assert_eq!(said(Nanos::millis(148)), "148ms");
        assert_eq!(said(Nanos::secs(100)), "100s");
        assert_eq!(super::latency(None), "");
    }
}
