//! T67: without a limit that is met, requests wait above the queue.
//!
//! Its own difference: what the whole machine waited for a CPU, or its host took, is no term of this run's
//! time, and only leaves open what was waited for.

use super::limits::{allowed, exceeded, exhibit, holding, lift, over};
use super::measure::PhaseView;
use super::threshold::{
    IDLE, REACHED, SHORT, WAIT_EXPLAINS, WAITING_BUSY, WAITING_CPU, WAITING_FOR_CPU,
};
use super::unexplained::leaves_much;
use super::waiting_for_cpu::{grown, stopped};
use super::words::share;
use super::{Rule, RuleJudge, advice, explained, file_lock, finding, flush_bound, refuted};
use assay_record::claim::{ExhibitOf, ExhibitSource, LimitClaim};
use assay_record::evidence::PathKind;
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, PhaseLedger, TimeBalance, TimeHolder, TrapId,
};

/// The caller waits most of the time, and neither the device nor a flush is what it waits for.
pub const RULE: Rule = Rule {
    id: TrapId::T67,
    title: "Held back above the device queue",
    happens: "Something above the device queue holds requests back, and no limit can be read, or none is near.",
    seen_by: "Busy and flush time of the device, requests in flight, CPU time.",
    said_when: "The device is busy and flushing for less than {WAITING_BUSY}, the program uses less than {WAITING_CPU} of a CPU, and waiting for a CPU explains little: a note, limited; unproven where less than {EXPLAINED} of the time is explained. A limit is named if the rate is at least {LIMIT_HOLDS} of it. The same for sequential buffered data if the device is busy for less than {IDLE} while the program uses between {WAITING_BUSY} and {WAITING_CPU} of a CPU.",
    try_it: "Set a limit outside the container that measures.",
    answer: "Makes no claim about the device.",
    judge: RuleJudge::Ledger(judge),
};

fn judge(phase_view: &PhaseView<'_>, ledger: &PhaseLedger, found: &[Finding]) -> Option<Finding> {
    let locked = |f: &Finding| f.trap == file_lock::RULE.id;
    let known = found.iter().any(|f| f.measures == Some(MeasuredSubject::Limited) || locked(f));
    let partner = |kind: PathKind| matches!(kind, PathKind::Stream | PathKind::Character);
    if refuted(found) || known || phase_view.paced() || phase_view.of_trees() {
        return None;
    }
    // A pipe or a slow character device may be what the caller waited for.
    if phase_view.cases.iter().any(|flow_view| {
        partner(flow_view.subject.kind) && !source_or_sink(&flow_view.subject.path)
    }) {
        return None;
    }
    // Kernels that do not count the time in flushes leave that cause open.
    let blind = phase_view.cases.iter().any(|flow_view| {
        flow_view.flow.durability.durable()
            && flow_view.levels.iter().any(|level| level.timed.flush_ms.is_none())
    });
    let all_seen =
        phase_view.cases.iter().filter(|flow_view| flow_view.on_devices()).all(|flow_view| {
            !flow_view.levels.is_empty() && flow_view.levels.iter().all(|level| level.readable())
        });
    let flow_view = phase_view.cases.iter().find(|flow_view| flow_view.on_devices())?;
    let balance = ledger.time.as_ref()?;
    let cpu = balance.on_cpu;
    let worked =
        phase_view.cases.iter().flat_map(|flow_view| flow_view.levels.iter()).any(|level| {
            level.busy() >= WAITING_BUSY
                || level.flushing() >= WAITING_BUSY
                || level.in_flight() >= WAITING_BUSY
        });
    if !all_seen
        || blind
        || worked
        || cpu >= WAITING_CPU
        || flow_view.time() < SHORT
        || other_waits(phase_view, balance)
    {
        return in_memory(phase_view, found, cpu);
    }
    // Above a limit that is there nobody can say what held the rest: that limit has changed.
    let mut over = over(flow_view);
    if over.any(|(throttle, level)| exceeded(flow_view, throttle, level)) {
        return None;
    }
    // Where there were two rates, no limit set both.
    let fell = found.iter().any(|f| f.measures == Some(MeasuredSubject::Unsteady));
    let (claim, limit, level, next) = match holding(flow_view).filter(|_| !fell) {
        Some((throttle, level)) => (
            LimitClaim::AboveQueueByCgroup {
                device: level.name(),
                limit: allowed(throttle.limit),
                file: throttle.file.clone(),
            },
            Some(exhibit(throttle)),
            level,
            Some(lift(throttle)),
        ),
        None => {
            let level = flow_view.top()?;
            let claim = LimitClaim::AboveQueue { device: level.name() };
            (claim, None, level, advice::look(flow_view, "probe"))
        }
    };
    // Who holds it is not known: nor is what the number measures.
    let weight = match limit.is_none() && leaves_much(balance) {
        true => FindingWeight::Unproven,
        false => FindingWeight::Note,
    };
    let mut because: Vec<Exhibit> = limit.into_iter().collect();
    because.extend([
        level.exhibit_work(),
        Exhibit::new(ExhibitOf::CpuPerWorker, share(cpu), ExhibitSource::ThreadClocks),
    ]);
    Some(finding(RULE.id, weight, Some(MeasuredSubject::Limited), claim, because, next))
}

/// Devices that never let a caller wait.
fn source_or_sink(path: &str) -> bool {
    matches!(path, "/dev/zero" | "/dev/null" | "/dev/full")
}

/// Data that went through memory in order, and neither the device nor the program was at work for most of
/// the time: it was spent on the way between them, in the kernel.
fn in_memory(phase_view: &PhaseView<'_>, found: &[Finding], cpu: f64) -> Option<Finding> {
    let each = |f: &Finding| f.trap == flush_bound::RULE.id;
    let work = phase_view.work();
    let flow_view = phase_view.cases.iter().find(|flow_view| {
        let through = flow_view.reach().is_some_and(|(reach, _)| reach >= REACHED);
        let memory = flow_view.flow.caching.through_memory() && flow_view.flow.sequential;
        flow_view.on_devices() && memory && through
    })?;
    let level = flow_view.top()?;
    if explained(found)
        || found.iter().any(each)
        || !(WAITING_BUSY..WAITING_CPU).contains(&cpu)
        || work >= IDLE
        || flow_view.time() < SHORT
    {
        return None;
    }
    Some(finding(
        RULE.id,
        FindingWeight::Note,
        Some(MeasuredSubject::Limited),
        LimitClaim::PageCachePath { device: level.name(), busy: share(work), cpu: share(cpu) },
        vec![
            level.exhibit_work(),
            Exhibit::new(ExhibitOf::CpuPerWorker, share(cpu), ExhibitSource::ThreadClocks),
        ],
        advice::direct(flow_view),
    ))
}

/// Waiting for a CPU is not waiting for a device. What the whole machine waited, or its host took, need not
/// have been our time: it is an answer only where it may explain much of what is open (shares of the time).
fn other_waits(phase_view: &PhaseView<'_>, balance: &TimeBalance) -> bool {
    let open = 1.0 - balance.on_cpu - phase_view.work();
    let run = balance.share(TimeHolder::CpuWait);
    let crowded = grown(phase_view, |before, stop| stop.pressure_since(before)?.cpu);
    let stolen = grown(phase_view, |before, stop| stop.cpu_since(before)?.steal);
    let most = |one: Option<f64>, other: Option<f64>| one.unwrap_or(0.0).max(other.unwrap_or(0.0));
    run.max(stopped(phase_view).unwrap_or(0.0)) > WAITING_FOR_CPU
        || most(crowded, stolen) > WAITING_FOR_CPU.max(open * WAIT_EXPLAINS)
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_record::record::{MeasuredSubject, Trust};

    #[test]
    fn waiting_without_a_visible_cause_is_a_limit() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.work(0.01, 0.0);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, MeasuredSubject::Limited));
    }

    #[test]
    fn a_device_that_was_idle_for_most_of_the_time_did_not_set_the_rate() {
        let mut bench = DoctoredRecord::write_flushed();
        for busy in [0.16, 0.33] {
            bench.work(busy, 0.35);
            bench.in_flight(18.0);
            let found = verdict(&bench.record);
            assert_eq!((found.trust, found.measures), (Trust::Sound, MeasuredSubject::Limited));
            assert!(
                found
                    .summary()
                    .starts_with("Limited by the path through the page cache, not by loop3: ")
            );
        }
        bench.work(0.55, 0.35);
        assert_eq!(verdict(&bench.record).measures, MeasuredSubject::Device);
        bench.work(0.33, 0.35);
        bench.direct(true);
        assert_eq!(verdict(&bench.record).measures, MeasuredSubject::Device);
    }

    #[test]
    fn time_that_the_host_took_must_explain_much_of_what_is_open() {
        let with_steal = |share: f64| {
            let mut bench = DoctoredRecord::write_flushed();
            bench.work(0.01, 0.0);
            bench.stolen(share);
            verdict(&bench.record).measures
        };
        assert_eq!(with_steal(0.3), MeasuredSubject::Limited);
        assert_ne!(with_steal(0.6), MeasuredSubject::Limited);
    }

    #[test]
    fn where_the_threads_were_seen_waiting_for_nothing_that_is_known_the_number_proves_nothing() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.work(0.01, 0.0);
        bench.looked_at(&[("D blkcg_maybe_throttle", 50)]);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Unproven, MeasuredSubject::Limited));
        bench.capped(8 * assay_plan::unit::MIB);
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }

    #[test]
    fn a_limit_that_holds_without_being_met_is_named() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.capped(8 * assay_plan::unit::MIB);
        bench.work(0.01, 0.0);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, MeasuredSubject::Limited));
        let claim = &found.findings[0].text();
        assert!(claim.contains("holds the rate below 8.39 MB/s"), "{claim}");
        assert!(claim.contains("blkio.throttle.write_bps_device"), "{claim}");
    }

    #[test]
    fn a_limit_far_above_the_rate_is_not_what_holds_it() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.capped(32 * assay_plan::unit::MIB);
        bench.work(0.01, 0.0);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, MeasuredSubject::Limited));
        let claim = &found.findings[0].text();
        assert!(claim.contains("by something above the queue of loop3"), "{claim}");
    }

    #[test]
    fn a_slow_file_under_a_loop_device_is_the_device() {
        let found = verdict(&DoctoredRecord::write_flushed().record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, MeasuredSubject::Device));
    }
}
