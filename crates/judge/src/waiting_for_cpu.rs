//! T52: the program waited for a CPU, not for the disk.
//!
//! Its own difference: the time in which a limit of a control group stopped all threads is a part of their wait
//! for a CPU, which is the term.

use super::measure::{FlowView, PhaseView};
use super::threshold::{
    BESIDE_CPU, BESIDE_WAIT, CPU_DEVICE, OUTSIDE_DEVICE, SHORT, WAIT_EXPLAINS, WAITING_FOR_CPU,
};
use super::words::share;
use super::{Rule, RuleJudge, finding, neighbours, note, refuted, words};
use assay_plan::plan::Action;
use assay_plan::unit::Nanos;
use assay_record::claim::{ExhibitOf, ExhibitSource, ExhibitValue, LimitClaim, Values};
use assay_record::evidence::{Direction, Snapshot};
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, PhaseLedger, TimeHolder, TrapId,
};

/// Runnable but not running, or stopped by its control group, for a tenth of the time and more,
/// while the device had time left.
pub const RULE: Rule = Rule {
    id: TrapId::T52,
    title: "Waiting for a CPU",
    happens: "On a busy machine, or in a cgroup with a CPU limit, each completion waits for a CPU, and that wait looks like disk latency.",
    seen_by: "Run delay (schedstat) and cpu.stat of the cgroup; latency of a call against the latency in the device; device busy; CPU time of other processes.",
    said_when: "The device is busy for less than {CPU_DEVICE}, and the cgroup throttled the program for more than {WAITING_FOR_CPU} of the time: doubtful, limited. Or each worker waited that long for a CPU, and more than {OUTSIDE_DEVICE} of a direct call's time is outside the device, {WAIT_EXPLAINS} of which the wait explains: doubtful, disturbed, unless more threads than there are CPUs waited for each other; so are buffered calls when another process used {BESIDE_CPU} of a CPU, or they waited for more than {OUTSIDE_DEVICE}. Such a process is named where each worker waited for {BESIDE_WAIT} of the time: a note.",
    try_it: "`assay dd ... oflag=direct bs=4k` beside as many busy loops as there are CPUs, or with cpu.max at a tenth of a CPU.",
    answer: "Does not blame the disk, and names the processes that used most CPU.",
    judge: RuleJudge::Ledger(judge),
};

fn judge(phase_view: &PhaseView<'_>, ledger: &PhaseLedger, found: &[Finding]) -> Option<Finding> {
    let flow_view = phase_view
        .cases
        .iter()
        .find(|flow_view| flow_view.on_devices() && flow_view.top().is_some())?;
    // Below the device that the path names others may be at work: the program waits for that one.
    let worked = flow_view.top().is_none_or(|top| top.busy() + top.flushing() >= CPU_DEVICE);
    let limited = found.iter().any(|f| f.measures == Some(MeasuredSubject::Limited));
    let open = !(refuted(found) || limited || phase_view.paced() || worked);
    let waited = waited(phase_view, ledger);
    let others = || by_others(phase_view, flow_view, waited?);
    let cause = || by_group(phase_view, flow_view).or_else(others);
    open.then(cause).flatten().or_else(|| beside(phase_view, waited))
}

/// A time that grew from the first snapshot of the phase to the second, as a share of the phase.
pub(super) fn grown(
    phase_view: &PhaseView<'_>,
    time: impl Fn(&Snapshot, &Snapshot) -> Option<Nanos>,
) -> Option<f64> {
    let evidence = &phase_view.phase.evidence;
    let time = time(&evidence.before, &evidence.stop)?;
    let wall = evidence.stop.at.since(evidence.before.at);
    (wall > Nanos::ZERO).then(|| time.0 as f64 / wall.0 as f64)
}

/// For how much of the time the limit of the control group stopped all of the program.
pub(super) fn stopped(phase_view: &PhaseView<'_>) -> Option<f64> {
    grown(phase_view, |before, stop| Some(stop.throttled_since(before)?.time))
}

/// The control group's limit stopped the program.
fn by_group(phase_view: &PhaseView<'_>, flow_view: &FlowView<'_>) -> Option<Finding> {
    let stopped = stopped(phase_view)?;
    if stopped <= WAITING_FOR_CPU {
        return None;
    }
    let mut because =
        vec![Exhibit::new(ExhibitOf::ThrottledByCgroup, share(stopped), ExhibitSource::CpuStat)];
    if let Some(cpus) = phase_view.record.resolved.limits.seen().and_then(|limits| limits.cpus) {
        because.push(Exhibit::new(
            ExhibitOf::CpuLimit,
            ExhibitValue::Cpus(cpus),
            "cpu.max or cpu.cfs_quota_us",
        ));
    }
    because.extend(flow_view.top().map(|level| level.exhibit_work()));
    Some(finding(
        RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Limited),
        LimitClaim::CpuQuota { device: flow_view.named(), throttled: share(stopped.min(1.0)) },
        because,
        words::outside_group(&phase_view.record.plan.origin),
    ))
}

/// Others had the CPUs.
fn by_others(
    phase_view: &PhaseView<'_>,
    flow_view: &FlowView<'_>,
    (waited, source): CpuWait,
) -> Option<Finding> {
    if waited <= WAITING_FOR_CPU {
        return None;
    }
    let mut because = vec![Exhibit::new(ExhibitOf::RunDelay, share(waited), source)];
    let Some((call, device)) = latencies(phase_view) else {
        return of_memory(phase_view, flow_view, waited, because);
    };
    let outside = 1.0 - device / call;
    // What a limit holds back waits outside of the device as well, and for no CPU.
    if outside <= OUTSIDE_DEVICE || waited < outside * WAIT_EXPLAINS || for_each_other(phase_view) {
        return None;
    }
    let ms = |ms: f64| Nanos((ms * 1e6) as u64);
    because.push(Exhibit::new(
        ExhibitOf::MeanLatencies,
        ExhibitValue::Latencies(Values(vec![ms(call), ms(device)])),
        ExhibitSource::RunClockAndDevices,
    ));
    because.extend(flow_view.top().map(|level| level.exhibit_work()));
    let mut users = Vec::new();
    // Who had them may have gone: what is there now is no answer.
    let mut next = words::once_more(&phase_view.record.plan.origin);
    if let Some(who) = neighbours::users_of_cpu(phase_view, WAITING_FOR_CPU) {
        users = who.did;
        because.extend(who.because);
        next = who.next;
    }
    let (device, waited) = (flow_view.named(), share(waited.min(1.0)));
    Some(finding(
        RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Disturbed),
        LimitClaim::CpuWait { device, waited, users },
        because,
        next,
    ))
}

/// More threads than CPUs, and nobody else was seen on them: they wait for each other, and for the kernel's own threads.
fn for_each_other(phase_view: &PhaseView<'_>) -> bool {
    let nobody = neighbours::seen(phase_view.phase).is_some_and(|all| all.processes.is_empty());
    let threads = phase_view.phase.evidence.ran.as_ref().map_or(0, |ran| ran.threads);
    nobody && threads > phase_view.record.machine().cpus
}

/// The same where calls end in memory, and their times tell nothing of the device: then somebody must
/// be seen who had a CPU meanwhile.
fn of_memory(
    phase_view: &PhaseView<'_>,
    flow_view: &FlowView<'_>,
    waited: f64,
    mut because: Vec<Exhibit>,
) -> Option<Finding> {
    if phase_view.cases.iter().any(served) {
        return None;
    }
    // Who waited for most of its time need not know for whom: there may have been many.
    let who = neighbours::users_of_cpu(phase_view, BESIDE_CPU);
    let (users, next) = match who {
        Some(who) => {
            because.extend(who.because);
            (who.did, who.next)
        }
        None if waited < OUTSIDE_DEVICE => return None,
        None => (Vec::new(), words::once_more(&phase_view.record.plan.origin)),
    };
    let (device, waited) = (flow_view.named(), share(waited.min(1.0)));
    let claim = LimitClaim::CpuWaitInMemory { device, waited, users };
    because.extend(flow_view.top().map(|level| level.exhibit_work()));
    let measures = Some(MeasuredSubject::Disturbed);
    Some(finding(RULE.id, FindingWeight::Doubt, measures, claim, because, next))
}

/// Others had a CPU, and nothing shows that the figure suffered.
fn beside(phase_view: &PhaseView<'_>, waited: Option<CpuWait>) -> Option<Finding> {
    if neighbours::watched(phase_view.phase)? < SHORT || phase_view.cases.iter().any(served) {
        return None;
    }
    let who = neighbours::users_of_cpu(phase_view, BESIDE_CPU)?;
    let mut because = who.because;
    // Who took nothing from this run is nobody's matter.
    if waited.is_some_and(|(waited, _)| waited < BESIDE_WAIT) {
        return None;
    }
    let waited = waited.map(|(waited, source)| (share(waited.min(1.0)), source));
    because.extend(waited.map(|(part, source)| Exhibit::new(ExhibitOf::RunDelay, part, source)));
    let claim = LimitClaim::CpuUsersBeside { users: who.did, waited: waited.map(|(part, _)| part) };
    Some(note(RULE.id, claim, because, who.next))
}

/// A program serves the file system, or that of a loop device's file: what it used it used for the run.
fn served(flow_view: &FlowView<'_>) -> bool {
    flow_view.subject.mount.seen().is_some_and(|mount| mount.kind.starts_with("fuse"))
        || flow_view.subject.stack.iter().any(|layer| layer.served().is_some())
}

/// For how much of the time each worker waited for a CPU, and where that was read.
type CpuWait = (f64, &'static str);

/// The workers' own threads tell, not those that look at them; of processes, and in records of before, all
/// threads. `None`: nobody has counted it.
fn waited(phase_view: &PhaseView<'_>, ledger: &PhaseLedger) -> Option<CpuWait> {
    let evidence = &phase_view.phase.evidence;
    let (counted, source) = match &evidence.ran {
        Some(ran) => (ran.waited.is_some(), "/proc/thread-self/schedstat"),
        None => {
            let all = evidence.stop.cpu_since(&evidence.before)?.run_delay;
            (all.is_some(), "/proc/self/task/*/schedstat")
        }
    };
    let balance = ledger.time.as_ref().filter(|_| counted)?;
    Some((balance.share(TimeHolder::CpuWait), source))
}

/// Mean time of a direct call and of a request in the device, ms. Buffered calls and requests are
/// not the same things, and cannot be compared.
fn latencies(phase_view: &PhaseView<'_>) -> Option<(f64, f64)> {
    let flow_view =
        phase_view.cases.iter().find(|flow_view| flow_view.on_devices() && flow_view.direct())?;
    let action = match flow_view.direction() {
        Direction::Read => Action::Read,
        Direction::Write => Action::Write,
    };
    let call = phase_view.phase.totals.get(&action)?.lat_ns?.mean / 1e6;
    let device = flow_view.top()?.wait_ms(flow_view.direction())?;
    (call > 0.0).then_some((call, device))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::{Bytes, Nanos};
    use assay_record::record::{MeasuredSubject, Trust};

    #[test]
    fn others_on_the_cpus_are_not_the_disk() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        bench.work(0.3, 0.2);
        bench.waited_for_cpu(Nanos::millis(300));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        bench.waited_for_cpu(Nanos::secs(3));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, MeasuredSubject::Disturbed));
        assert!(found.summary().starts_with("Waiting for a CPU, not for loop3: 60 %"));
        // Waiting for something else above the queue takes far longer than that for a CPU.
        bench.waited_for_cpu(Nanos::millis(700));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        // A device that has no time left is what was waited for.
        bench.work(0.9, 0.2);
        bench.waited_for_cpu(Nanos::secs(3));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }

    #[test]
    fn more_threads_than_cpus_wait_for_each_other() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        bench.work(0.3, 0.2);
        bench.ran(&[0], Some(Nanos::secs(3)));
        bench.beside(&[]);
        let threads = |bench: &mut DoctoredRecord, threads| {
            bench.record.phases[0].evidence.ran.as_mut().expect("ran").threads = threads;
            bench.record.phases[0].evidence.ran.as_mut().expect("ran").waited =
                Some(Nanos::secs(3 * u64::from(threads)));
        };
        threads(&mut bench, 2);
        assert_eq!(verdict(&bench.record).measures, MeasuredSubject::Disturbed);
        threads(&mut bench, 3);
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        bench.beside(&[("cc", Nanos::secs(2), Bytes::ZERO)]);
        assert_eq!(verdict(&bench.record).measures, MeasuredSubject::Disturbed);
    }

    #[test]
    fn only_the_threads_that_do_the_io_count() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        bench.work(0.3, 0.2);
        // The threads that look on waited too.
        bench.waited_for_cpu(Nanos::secs(3));
        bench.ran(&[0], Some(Nanos::millis(300)));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        bench.ran(&[0], Some(Nanos::secs(3)));
        assert_eq!(verdict(&bench.record).measures, MeasuredSubject::Disturbed);
        bench.ran(&[0], None);
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }

    #[test]
    fn a_group_that_stops_the_program_is_the_limit() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.work(0.3, 0.1);
        bench.stopped_by_group(Nanos::millis(200));
        assert_eq!(verdict(&bench.record).measures, MeasuredSubject::Device);
        bench.stopped_by_group(Nanos::secs(4));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, MeasuredSubject::Limited));
    }
}
