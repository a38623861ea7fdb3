//! T69: the run did not run for a part of its time.

use super::measure::PhaseView;
use super::threshold::STOPPED;
use super::words::share;
use super::{Rule, RuleJudge, finding, refuted};
use crate::record::{
    Exhibit, ExhibitUnit, ExhibitValue, Finding, FindingWeight, MeasuredSubject, PhaseLedger,
    TimeHolder,
};
use crate::unit::Nanos;

/// The samples that are due ten times a second did not come, and nothing was done meanwhile.
pub const RULE: Rule = Rule {
    id: "T69",
    title: "The run was stopped",
    happens: "A run that is stopped (Ctrl-Z, SIGSTOP, a frozen cgroup) or whose machine is suspended or paused does nothing, and its clock goes on.",
    seen_by: "Gaps between the run's own samples, in which next to nothing was done and no thread was on a CPU or waited for one, nor for memory; each SIGCONT, with the time in which it had been stopped.",
    said_when: "It did not run for more than {STOPPED} of the time: doubtful, disturbed.",
    try_it: "`kill -STOP` of a `dd`, and `kill -CONT` three seconds later.",
    answer: "Says how long it did not run.",
    judge: RuleJudge::Ledger(judge),
};

fn judge(_: &PhaseView<'_>, ledger: &PhaseLedger, found: &[Finding]) -> Option<Finding> {
    if refuted(found) {
        return None;
    }
    let balance = ledger.time.as_ref()?;
    let stopped = balance.share(TimeHolder::Stopped);
    if stopped <= STOPPED {
        return None;
    }
    let long = Nanos((balance.time.0 as f64 * stopped) as u64);
    let value = ExhibitValue::number(stopped, ExhibitUnit::Fraction, share(stopped).to_string());
    Some(finding(
        RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Disturbed),
        format!(
            "The run did not run for {long} of {}: it was stopped or frozen, or the machine was paused.",
            balance.time
        ),
        vec![Exhibit::new("time in which no sample could be taken", value, "the run's series")],
        None,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use crate::record::{MeasuredSubject, ShortHalts, Trust};
    use crate::unit::{Bytes, Nanos};

    fn away_for(tenths: u64, done: Bytes) -> DoctoredRecord {
        let mut bench = DoctoredRecord::write_flushed();
        bench.away_for(tenths, done);
        bench
    }

    #[test]
    fn a_gap_in_which_nothing_was_done_is_a_stop() {
        let found = verdict(&away_for(20, Bytes::ZERO).record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, MeasuredSubject::Disturbed));
        let said = "The run did not run for 2.00 s of 7.00 s: it was stopped or frozen, or the machine was paused.";
        assert_eq!(found.summary, said);
    }

    #[test]
    fn who_looks_on_waits_for_memory_too() {
        let mut bench = away_for(20, Bytes::ZERO);
        bench.waited_for_memory(Nanos::millis(1500));
        assert_eq!(verdict(&bench.record).measures, MeasuredSubject::Disturbed);
        bench.waited_for_memory(Nanos::millis(1900));
        let found = verdict(&bench.record);
        assert!(found.findings.iter().all(|f| f.trap.0 != "T69"), "{:?}", found.findings);
    }

    #[test]
    fn short_stops_are_as_long_as_what_nothing_else_explains() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        bench.work(0.4, 0.05);
        bench.looked_at(&[("D __iomap_dio_rw", 50)]);
        assert_eq!(verdict(&bench.record).measures, MeasuredSubject::Unsure);
        let halts = ShortHalts { count: 40, within_ns: Nanos::millis(4500) };
        bench.record.phases[0].evidence.halts = Some(halts);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, MeasuredSubject::Disturbed));
        assert!(found.summary.starts_with("The run did not run for 2.77 s of 5.0"), "{found:?}");
        // One that did not wait has lost nothing by it.
        bench.work(0.95, 0.05);
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }

    #[test]
    fn a_sample_that_came_late_is_none() {
        // Work went on meanwhile.
        for bench in [away_for(20, Bytes::mib(10)), away_for(2, Bytes::ZERO)] {
            let found = verdict(&bench.record);
            assert!(found.findings.iter().all(|f| f.trap.0 != "T69"), "{:?}", found.findings);
        }
    }
}
