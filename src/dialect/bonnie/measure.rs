//! What the twelve tests came to, read from a record.

use super::{TESTS, test_of};
use assay_plan::plan::Action;
use assay_plan::unit::Nanos;
use assay_record::record::{Figure, Metric, PhaseFigures, PhaseRecord, Record, Statistic};

/// What a test came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TestResult {
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

impl TestResult {
    /// That of a phase which has done anything.
    pub fn of(phase: &PhaseRecord) -> Option<Self> {
        let test = test_of(&phase.name)?;
        let figures = PhaseFigures::of(phase);
        let elapsed = figures.find(None, Metric::Time)?.time()?;
        let (mut amount, mut latency) = (0.0, None);
        for action in figures.actions().into_iter().filter(|action| counts(test, *action)) {
            let value = |metric| figures.value(action, metric).unwrap_or_default();
            amount += match test {
                0..5 => value(Metric::Bytes) / 1024.0,
                _ => value(Metric::Ops),
            };
            let longest = figures.find(Some(action), Metric::lat(Statistic::Max));
            latency = latency.max(longest.and_then(Figure::time));
        }
        let seconds = elapsed.as_secs();
        if amount == 0.0 || seconds == 0.0 {
            return None;
        }
        let cpu = figures.find(None, Metric::Cpu).and_then(Figure::time);
        let cpu = cpu.unwrap_or_default().as_secs();
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
pub fn measured(record: &Record) -> [Option<TestResult>; 12] {
    TESTS.map(|test| record.phases.iter().find(|phase| phase.name == test).and_then(TestResult::of))
}

/// The longest step as tables and lines have it: `35573us`, `148ms`, `2s`; empty of none.
pub(super) fn latency(measure: Option<TestResult>) -> String {
    let Some(time) = measure.and_then(|measure| measure.latency) else { return String::new() };
    match time.as_secs() {
        seconds if seconds > 99.999_999 => format!("{}s", seconds as u64),
        seconds if seconds > 0.099_999 => format!("{}ms", time.0 / 1_000_000),
        _ => format!("{}us", (time.0 / 1000).max(1)),
    }
}

/// Seeks per second: a digit after the point below 1000.
pub(super) fn seeks(rate: f64) -> String {
    if rate < 1000.0 { format!("{rate:.1}") } else { format!("{rate:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_lose_digits_as_they_grow() {
        let said = |latency| {
            super::latency(Some(TestResult { latency: Some(latency), ..TestResult::default() }))
        };
        assert_eq!(said(Nanos(999)), "1us");
        assert_eq!(said(Nanos(35_573_999)), "35573us");
        assert_eq!(said(Nanos::millis(99)), "99000us");
        assert_eq!(said(Nanos::millis(148)), "148ms");
        assert_eq!(said(Nanos::secs(100)), "100s");
        assert_eq!(super::latency(None), "");
    }
}
