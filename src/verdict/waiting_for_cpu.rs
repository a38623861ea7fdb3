//! T52: the program waited for a CPU, not for the disk.

use super::measure::{Case, Stage};
use super::threshold::{
    BESIDE_CPU, CPU_DEVICE, OUTSIDE_DEVICE, SHORT, WAIT_EXPLAINS, WAITING_FOR_CPU,
};
use super::words::share;
use super::{Judge, Rule, finding, neighbours, refuted};
use crate::evidence::{Direction, Layer, LayerKind, Snapshot};
use crate::plan::Action;
use crate::record::{Exhibit, Finding, Measures, Next, Weight};
use crate::unit::Nanos;

/// Runnable but not running, or stopped by its control group, for a tenth of the time and more,
/// while the device had time left.
pub const RULE: Rule = Rule {
    id: "T52",
    title: "Waiting for a CPU",
    happens: "On a busy machine, or in a group with a CPU limit, each answer waits for a CPU, and the wait is taken for the disk's.",
    seen_by: "Run delay (schedstat) and cpu.stat of the control group; latency of a call against that in the device; device busy; CPU time of other processes.",
    said_when: "The device works for less than {CPU_DEVICE}, and the group stopped the program for more than {WAITING_FOR_CPU} of the time: doubtful, limited. Or each worker waited that long for a CPU, and more than {OUTSIDE_DEVICE} of a direct call's time is outside the device, {WAIT_EXPLAINS} of which the wait explains: doubtful, disturbed; so are buffered calls, when another process used {BESIDE_CPU} of a CPU. Such a process is named in any case: a note.",
    try_it: "`assay dd ... oflag=direct bs=4k` beside as many busy loops as there are CPUs, or with cpu.max at a tenth of a CPU.",
    answer: "Does not blame the disk, and names the processes that used most.",
    judge: Judge::Phase(judge),
};

fn judge(stage: &Stage<'_>, found: &[Finding]) -> Option<Finding> {
    let case = stage.cases.iter().find(|case| case.on_devices() && case.top().is_some())?;
    // Below the device that the path names others may be at work: the program waits for that one.
    let worked = case.top().is_none_or(|top| top.busy() + top.flushing() >= CPU_DEVICE);
    let limited = found.iter().any(|f| f.measures == Some(Measures::Limited));
    let open = !(refuted(found) || limited || stage.paced() || worked);
    let cause = || by_group(stage, case).or_else(|| by_others(stage, case));
    open.then(cause).flatten().or_else(|| beside(stage))
}

/// How much a time that a snapshot may have grew over the phase, as a share of it.
pub(super) fn grown(stage: &Stage<'_>, read: impl Fn(&Snapshot) -> Option<Nanos>) -> Option<f64> {
    let evidence = &stage.phase.evidence;
    let time = read(&evidence.stop)?.less(read(&evidence.before)?);
    let wall = evidence.stop.at.since(evidence.before.at);
    (wall > Nanos::ZERO).then(|| time.0 as f64 / wall.0 as f64)
}

/// For how much of the time the limit of the control group stopped all of the program.
pub(super) fn stopped(stage: &Stage<'_>) -> Option<f64> {
    grown(stage, |snapshot| Some(snapshot.cpu_throttled.seen()?.time))
}

/// The control group's limit stopped the program.
fn by_group(stage: &Stage<'_>, case: &Case<'_>) -> Option<Finding> {
    let stopped = stopped(stage)?;
    if stopped <= WAITING_FOR_CPU {
        return None;
    }
    let mut because = vec![Exhibit::new(
        "time for which the group was stopped",
        share(stopped),
        "cpu.stat of the control group",
    )];
    if let Some(cpus) = stage.record.resolved.limits.seen().and_then(|limits| limits.cpus) {
        because.push(Exhibit::new(
            "limit on CPU time",
            format!("{cpus:.2} CPUs"),
            "cpu.max or cpu.cfs_quota_us",
        ));
    }
    because.extend(case.top().map(|level| level.exhibit_work()));
    Some(finding(
        RULE.id,
        Weight::Doubt,
        Some(Measures::Limited),
        format!(
            "The CPU limit of the control group set the rate: it stopped the program for {} of the time, and {} had time left.",
            share(stopped.min(1.0)),
            case.named()
        ),
        because,
        Some(Next::Do("lift the CPU limit of the group, or measure outside of it".into())),
    ))
}

/// Others had the CPUs.
fn by_others(stage: &Stage<'_>, case: &Case<'_>) -> Option<Finding> {
    let (waited, source) = waited(stage)?;
    if waited <= WAITING_FOR_CPU {
        return None;
    }
    let mut because = vec![Exhibit::new(
        "time each worker was ready and waited for a CPU",
        share(waited),
        source,
    )];
    let Some((call, device)) = latencies(stage) else {
        return of_memory(stage, case, waited, because);
    };
    let outside = 1.0 - device / call;
    // What a limit holds back waits outside of the device as well, and for no CPU.
    if outside <= OUTSIDE_DEVICE || waited < outside * WAIT_EXPLAINS {
        return None;
    }
    let ms = |ms: f64| Nanos((ms * 1e6) as u64).to_string();
    because.push(Exhibit::new(
        "mean time of a call, and of it in the device",
        format!("{}, {}", ms(call), ms(device)),
        "the run's clock, /sys/block/*/stat",
    ));
    because.extend(case.top().map(|level| level.exhibit_work()));
    let mut claim = format!(
        "The program waited for a CPU, not for {}: for {} of the time others had the CPUs.",
        case.named(),
        share(waited.min(1.0))
    );
    let mut next = Next::Do("find out who uses the CPUs (top), then run again".into());
    if let Some(who) = neighbours::users_of_cpu(stage.phase, WAITING_FOR_CPU) {
        claim.push_str(&format!(" Of the others {}.", who.said));
        because.extend(who.because);
        next = who.next;
    }
    Some(finding(RULE.id, Weight::Doubt, Some(Measures::Disturbed), claim, because, Some(next)))
}

/// The same where calls end in memory, and their times tell nothing of the device: then somebody must
/// be seen who had a CPU meanwhile.
fn of_memory(
    stage: &Stage<'_>,
    case: &Case<'_>,
    waited: f64,
    mut because: Vec<Exhibit>,
) -> Option<Finding> {
    if stage.cases.iter().any(served) {
        return None;
    }
    let who = neighbours::users_of_cpu(stage.phase, BESIDE_CPU)?;
    let claim = format!(
        "The program waited for a CPU for {} of the time, in which {} had time left. Of the others {}.",
        share(waited.min(1.0)),
        case.named(),
        who.said
    );
    because.extend(who.because);
    because.extend(case.top().map(|level| level.exhibit_work()));
    let measures = Some(Measures::Disturbed);
    Some(finding(RULE.id, Weight::Doubt, measures, claim, because, Some(who.next)))
}

/// Others had a CPU, and nothing shows that the figure suffered.
fn beside(stage: &Stage<'_>) -> Option<Finding> {
    if neighbours::watched(stage.phase)? < SHORT || stage.cases.iter().any(served) {
        return None;
    }
    let who = neighbours::users_of_cpu(stage.phase, BESIDE_CPU)?;
    let mut claim = format!("Meanwhile {} CPU", who.said);
    let mut because = who.because;
    if let Some((waited, source)) = waited(stage) {
        let part = share(waited.min(1.0));
        claim.push_str(&format!("; this run waited for a CPU for {part} of the time"));
        because.push(Exhibit::new("time each worker was ready and waited for a CPU", part, source));
    }
    claim.push('.');
    Some(finding(RULE.id, Weight::Note, None, claim, because, Some(who.next)))
}

/// A program serves the file system, or that of a loop device's file: what it used it used for the run.
fn served(case: &Case<'_>) -> bool {
    let fuse = |kind: &str| kind.starts_with("fuse");
    let below = |layer: &Layer| matches!(&layer.kind, LayerKind::Loop { on, .. } if fuse(on));
    case.subject.mount.seen().is_some_and(|mount| fuse(&mount.kind))
        || case.subject.stack.iter().any(below)
}

/// For how much of the time each worker waited for a CPU, and where that was read. The workers' own
/// threads tell, not those that look at them; of processes, and in records of before, all threads.
fn waited(stage: &Stage<'_>) -> Option<(f64, &'static str)> {
    let evidence = &stage.phase.evidence;
    let Some(ran) = &evidence.ran else {
        let all = grown(stage, |snapshot| snapshot.cpu.seen()?.run_delay)?;
        return Some((all / stage.workers() as f64, "/proc/self/task/*/schedstat"));
    };
    let wall = evidence.stop.at.since(evidence.before.at);
    let all = wall.0.saturating_mul(u64::from(ran.threads));
    (all > 0).then_some((ran.waited?.0 as f64 / all as f64, "/proc/thread-self/schedstat"))
}

/// Mean time of a direct call and of a request in the device, ms. Buffered calls and requests are
/// not the same things, and cannot be compared.
fn latencies(stage: &Stage<'_>) -> Option<(f64, f64)> {
    let case = stage.cases.iter().find(|case| case.on_devices() && case.direct())?;
    let action = match case.direction() {
        Direction::Read => Action::Read,
        Direction::Write => Action::Write,
    };
    let call = stage.phase.totals.get(&action)?.lat_ns?.mean / 1e6;
    let device = case.top()?.wait_ms(case.direction())?;
    (call > 0.0).then_some((call, device))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::{Measures, Trust};
    use crate::unit::Nanos;

    #[test]
    fn others_on_the_cpus_are_not_the_disk() {
        let mut bench = Bench::write_flushed();
        bench.direct(true);
        bench.work(0.3, 0.2);
        bench.waited_for_cpu(Nanos::millis(300));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        bench.waited_for_cpu(Nanos::secs(3));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, Measures::Disturbed));
        assert!(found.summary.starts_with("The program waited for a CPU, not for loop3: for 60 %"));
        // Waiting for something else above the queue takes far longer than that for a CPU.
        bench.waited_for_cpu(Nanos::millis(700));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        // A device that has no time left is what was waited for.
        bench.work(0.9, 0.2);
        bench.waited_for_cpu(Nanos::secs(3));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }

    #[test]
    fn only_the_threads_that_do_the_io_count() {
        let mut bench = Bench::write_flushed();
        bench.direct(true);
        bench.work(0.3, 0.2);
        // The threads that look on waited too.
        bench.waited_for_cpu(Nanos::secs(3));
        bench.ran(&[0], Some(Nanos::millis(300)));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        bench.ran(&[0], Some(Nanos::secs(3)));
        assert_eq!(verdict(&bench.record).measures, Measures::Disturbed);
        bench.ran(&[0], None);
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }

    #[test]
    fn a_group_that_stops_the_program_is_the_limit() {
        let mut bench = Bench::write_flushed();
        bench.work(0.3, 0.2);
        bench.stopped_by_group(Nanos::millis(200));
        assert_eq!(verdict(&bench.record).measures, Measures::Device);
        bench.stopped_by_group(Nanos::secs(4));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, Measures::Limited));
    }
}
