//! T69: the run did not run for a part of its time.
//!
//! Its own difference: time in which the machine was suspended is no part of the run's, and that in a frozen group only
//! names a term of the ledger.

use std::collections::BTreeMap;

use super::ledger::{self, WaitKind};
use super::measure::{PhaseView, ratio};
use super::threshold::{FROZEN, HELD_MOST, STOPPED, SUSPENDED};
use super::words::{self, share};
use super::{Rule, RuleJudge, finding, refuted};
use assay_plan::unit::Nanos;
use assay_record::claim::{ExhibitOf, ExhibitSource, LimitClaim, StopCause};
use assay_record::record::{
    Evidence, Exhibit, Finding, FindingWeight, MeasuredSubject, PhaseLedger, TimeHolder, TrapId,
};

/// The samples that are due ten times a second did not come, and nothing was done meanwhile.
pub const RULE: Rule = Rule {
    id: TrapId::T69,
    title: "The run was stopped",
    happens: "A run that is stopped (Ctrl-Z, SIGSTOP, a frozen cgroup) or whose machine is paused does nothing, and its clock goes on. When the machine is suspended the clock stands still, and the device starts anew.",
    seen_by: "Gaps between the run's own samples, in which next to nothing was done and no thread was on a CPU or waited for one, nor for memory; each SIGCONT, with the time in which it had been stopped; what its threads were seen doing (stopped, traced, waiting for a frozen file system), and who traced it (`TracerPid`); how long its cgroup was frozen (`cgroup.stat.local`, 6.18); CLOCK_BOOTTIME against CLOCK_MONOTONIC.",
    said_when: "It did not run for more than {STOPPED} of the time, or the machine was suspended for {SUSPENDED} or more: doubtful, disturbed. So is a run that a tracer held and no device or limit for {HELD_MOST} of its time.",
    try_it: "`kill -STOP` of a `dd`, and `kill -CONT` three seconds later.",
    answer: "Says how long it did not run.",
    judge: RuleJudge::Ledger(judge),
};

fn judge(phase_view: &PhaseView<'_>, ledger: &PhaseLedger, found: &[Finding]) -> Option<Finding> {
    if refuted(found) {
        return None;
    }
    traced(phase_view, ledger)
        .or_else(|| stopped(phase_view, ledger))
        .or_else(|| suspended(phase_view))
}

/// A tracer stops each call. Where a device or a limit held the run nonetheless, that is what set its rate.
fn traced(phase_view: &PhaseView<'_>, ledger: &PhaseLedger) -> Option<Finding> {
    let Evidence { before, stop, .. } = &phase_view.phase.evidence;
    let (pid, balance) = stop.tracer.or(before.tracer).zip(ledger.time.as_ref())?;
    let worked = balance.share(TimeHolder::Device) + balance.share(TimeHolder::Limit);
    let shown = Exhibit::new(ExhibitOf::TracedBy, u64::from(pid), "TracerPid in /proc/self/status");
    let claim = LimitClaim::Traced { worked: share(worked.min(1.0)) };
    (worked < HELD_MOST).then(|| disturbing(phase_view, claim, vec![shown]))
}

/// The run did nothing while its clock went on.
fn stopped(phase_view: &PhaseView<'_>, ledger: &PhaseLedger) -> Option<Finding> {
    let balance = ledger.time.as_ref()?;
    let stopped = balance.share(TimeHolder::Stopped);
    let Evidence { before, stop, .. } = &phase_view.phase.evidence;
    let time = balance.time;
    let long = Nanos((time.0 as f64 * stopped) as u64);
    if stopped <= STOPPED {
        return None;
    }
    let frozen = stop.frozen_since(before).filter(|time| time.0 as f64 >= long.0 as f64 * FROZEN);
    if let Some(frozen) = frozen {
        let claim = LimitClaim::RunStopped { stopped: long, time, by: StopCause::Cgroup };
        let shown = Exhibit::new(ExhibitOf::Frozen, frozen, "cgroup.stat.local");
        return Some(disturbing(phase_view, claim, vec![without_sample(stopped), shown]));
    }
    // What was seen explains it where it is most of it.
    let (claim, shown) = match seen(phase_view).filter(|seen| seen.part >= stopped * FROZEN) {
        Some(seen) => {
            let looks = share(seen.part);
            let shown = Exhibit::new(ExhibitOf::SeenStopped, looks, "/proc/TID/stat, wchan");
            (seen.claim(phase_view, long, time), shown)
        }
        None => {
            let by = StopCause::Unseen;
            (LimitClaim::RunStopped { stopped: long, time, by }, without_sample(stopped))
        }
    };
    Some(disturbing(phase_view, claim, vec![shown]))
}

fn without_sample(part: f64) -> Exhibit {
    Exhibit::new(ExhibitOf::WithoutSample, share(part), ExhibitSource::RunSeries)
}

/// What the looks at threads found of those that could not go on.
struct SeenStopped {
    part: f64,
    by: StopCause,
}

fn seen(phase_view: &PhaseView<'_>) -> Option<SeenStopped> {
    let states = phase_view.phase.evidence.states.as_ref()?;
    let looks = |state: &str| match state {
        "T" => Some(StopCause::Signal),
        "t" => Some(StopCause::Tracer),
        _ => (ledger::kind(state) == Some(WaitKind::Stopped)).then_some(StopCause::FileSystem),
    };
    let found = states.states.iter().filter_map(|(state, n)| Some((looks(state)?, *n)));
    let all: u32 = found.clone().map(|(_, n)| n).sum();
    let (by, _) = found.max_by_key(|(_, n)| *n)?;
    Some(SeenStopped { part: ratio(all.into(), states.looks.into()), by })
}

impl SeenStopped {
    /// Of the run, or of the one worker among several that alone was stopped.
    fn claim(&self, phase_view: &PhaseView<'_>, long: Nanos, time: Nanos) -> LimitClaim {
        let (by, of) = (self.by, phase_view.workers());
        let states = phase_view.phase.evidence.states.as_ref();
        let stopped = states.map(|states| &states.stopped).filter(|stopped| stopped.len() == 1);
        match stopped.and_then(BTreeMap::first_key_value) {
            Some((place, _)) if of > 1 && by != StopCause::FileSystem => {
                let stopped = Nanos(long.0.saturating_mul(of)).min(time);
                LimitClaim::WorkerStopped { worker: u64::from(*place) + 1, of, stopped, time, by }
            }
            _ => LimitClaim::RunStopped { stopped: long, time, by },
        }
    }
}

/// The machine slept, and the run's clock with it.
fn suspended(phase_view: &PhaseView<'_>) -> Option<Finding> {
    let Evidence { before, stop, .. } = &phase_view.phase.evidence;
    let long = stop.suspended_since(before);
    (long >= SUSPENDED).then(|| {
        disturbing(
            phase_view,
            LimitClaim::MachineSuspended { suspended: long },
            vec![Exhibit::new(ExhibitOf::Suspended, long, ExhibitSource::Suspension)],
        )
    })
}

fn disturbing(phase_view: &PhaseView<'_>, claim: LimitClaim, because: Vec<Exhibit>) -> Finding {
    let again = words::once_more(&phase_view.record.plan.origin);
    finding(RULE.id, FindingWeight::Doubt, Some(MeasuredSubject::Disturbed), claim, because, again)
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::{Bytes, Nanos};
    use assay_record::evidence::ThreadStates;
    use assay_record::record::{MeasuredSubject, ShortHalts, TrapId, Trust};

    fn away_for(tenths: u64, done: Bytes) -> DoctoredRecord {
        let mut bench = DoctoredRecord::write_flushed();
        bench.away_for(tenths, done);
        bench
    }

    #[test]
    fn a_gap_in_which_nothing_was_done_is_a_stop() {
        let found = verdict(&away_for(20, Bytes::ZERO).record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, MeasuredSubject::Disturbed));
        let said = "The run stood still for 2.00 s of 7.00 s: it was stopped or frozen, or the machine was paused.";
        assert_eq!(found.summary(), said);
    }

    #[test]
    fn a_frozen_group_is_named_as_the_cause() {
        let mut bench = away_for(20, Bytes::ZERO);
        let mut said = |time| {
            let evidence = &mut bench.record.phases[0].evidence;
            evidence.before.frozen = Some(Nanos::secs(7));
            evidence.stop.frozen = Some(Nanos::secs(7) + time);
            verdict(&bench.record).summary()
        };
        let frozen = "The run stood still for 2.00 s of 7.00 s: its cgroup was frozen.";
        assert_eq!(said(Nanos::millis(1950)), frozen);
        assert!(
            said(Nanos::millis(900))
                .ends_with(": it was stopped or frozen, or the machine was paused.")
        );
    }

    #[test]
    fn what_the_threads_were_seen_doing_is_named_as_the_cause() {
        let mut bench = DoctoredRecord::write_flushed();
        let mut said = |state: &str, stopped: &[u32]| {
            let looks = [(state.into(), 20), ("D".into(), 30)].into();
            let stopped = stopped.iter().map(|place| (*place, 20)).collect();
            let states = ThreadStates { looks: 50, states: looks, stopped, ..Default::default() };
            bench.record.phases[0].evidence.states = Some(states);
            let found = verdict(&bench.record);
            assert_eq!(found.measures, MeasuredSubject::Disturbed, "{found:?}");
            found.summary()
        };
        let by_signal = said("T", &[0]);
        assert!(by_signal.starts_with("The run stood still for 1."), "{by_signal}");
        assert!(by_signal.ends_with(": a signal had stopped it (SIGSTOP)."), "{by_signal}");
        let frozen = said("D percpu_rwsem_wait", &[]);
        assert!(frozen.ends_with(": its file system was frozen (fsfreeze)."), "{frozen}");
        let traced = said("t", &[0]);
        assert!(traced.ends_with(": a debugger or tracer (strace, gdb) held it."), "{traced}");
    }

    #[test]
    fn a_tracer_that_held_each_call_is_named_and_one_that_held_none_is_not() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.record.phases[0].evidence.stop.tracer = Some(7);
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        bench.work(0.05, 0.1);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, MeasuredSubject::Disturbed));
        let said = "A debugger or tracer (strace, gdb) held the program at each of its calls";
        assert!(found.summary().starts_with(said), "{found:?}");
    }

    #[test]
    fn a_machine_that_slept_has_disturbed_its_device() {
        let mut bench = DoctoredRecord::write_flushed();
        let before = Nanos::secs(90);
        bench.record.phases[0].evidence.before.suspended = before;
        bench.record.phases[0].evidence.stop.suspended = before + Nanos::millis(3);
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        bench.record.phases[0].evidence.stop.suspended = before + Nanos::millis(3200);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, MeasuredSubject::Disturbed));
        assert!(
            found.summary().starts_with("The machine was suspended for 3.20 s while"),
            "{found:?}"
        );
    }

    #[test]
    fn who_looks_on_waits_for_memory_too() {
        let mut bench = away_for(20, Bytes::ZERO);
        bench.waited_for_memory(Nanos::millis(1500));
        assert_eq!(verdict(&bench.record).measures, MeasuredSubject::Disturbed);
        bench.waited_for_memory(Nanos::millis(1900));
        let found = verdict(&bench.record);
        assert!(found.findings.iter().all(|f| f.trap != TrapId::T69), "{:?}", found.findings);
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
        assert!(found.summary().starts_with("The run stood still for 2.77 s of 5.0"), "{found:?}");
        // One that did not wait has lost nothing by it.
        bench.work(0.95, 0.05);
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }

    #[test]
    fn a_sample_that_came_late_is_none() {
        // Work went on meanwhile.
        for bench in [away_for(20, Bytes::mib(10)), away_for(2, Bytes::ZERO)] {
            let found = verdict(&bench.record);
            assert!(found.findings.iter().all(|f| f.trap != TrapId::T69), "{:?}", found.findings);
        }
    }
}
