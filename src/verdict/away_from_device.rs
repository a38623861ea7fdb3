//! T32, without a limit that is met: requests wait above the queue.

use super::measure::Stage;
use super::threshold::{SHORT, WAIT_EXPLAINS, WAITING_BUSY, WAITING_CPU, WAITING_FOR_CPU};
use super::throttled::{exhibit, holding, rate};
use super::waiting_for_cpu::{grown, stopped};
use super::words::share;
use super::{Judge, Rule, file_lock, finding, refuted};
use crate::evidence::PathKind;
use crate::record::{Exhibit, Finding, Measures, Next, Weight};

/// The caller waits most of the time, and neither the device nor a flush is what it waits for.
pub const RULE: Rule = Rule {
    id: "T32",
    title: "Waiting above the queue",
    happens: "Something above the queue holds requests back where no limit can be read, or none is near.",
    seen_by: "Time at work and in flushes of the device, requests in flight, CPU time.",
    said_when: "The device works and flushes for less than {WAITING_BUSY}, the program uses less than {WAITING_CPU} of a CPU, and waits for one explain little: a note, limited. A limit is named where the rate is {LIMIT_HOLDS} of it at least.",
    try_it: "A limit set outside of the container that measures.",
    answer: "Makes no claim about the device.",
    judge: Judge::Phase(judge),
};

fn judge(stage: &Stage<'_>, found: &[Finding]) -> Option<Finding> {
    let locked = |f: &Finding| f.trap.0 == file_lock::RULE.id;
    let known = found.iter().any(|f| f.measures == Some(Measures::Limited) || locked(f));
    let partner = |kind: PathKind| matches!(kind, PathKind::Stream | PathKind::Character);
    if refuted(found) || known || stage.paced() || stage.of_trees() {
        return None;
    }
    // A pipe or a slow character device may be what the caller waited for.
    if stage
        .cases
        .iter()
        .any(|case| partner(case.subject.kind) && !source_or_sink(&case.subject.path))
    {
        return None;
    }
    // Kernels that do not count the time in flushes leave that cause open.
    let blind = stage.cases.iter().any(|case| {
        case.flow.durability.durable()
            && case.levels.iter().any(|level| level.timed.flush_ms.is_none())
    });
    let all_seen =
        stage.cases.iter().filter(|case| case.on_devices()).all(|case| {
            !case.levels.is_empty() && case.levels.iter().all(|level| level.readable())
        });
    let case = stage.cases.iter().find(|case| case.on_devices())?;
    let cpu = stage.cpu_share()?;
    let worked = stage.cases.iter().flat_map(|case| &case.levels).any(|level| {
        level.busy() >= WAITING_BUSY
            || level.flushing() >= WAITING_BUSY
            || level.in_flight() >= WAITING_BUSY
    });
    if !all_seen
        || blind
        || worked
        || cpu >= WAITING_CPU
        || case.time() < SHORT
        || other_waits(stage, 1.0 - cpu - stage.work())
    {
        return None;
    }
    // Where there were two rates, no limit set both.
    let fell = found.iter().any(|f| f.measures == Some(Measures::Unsteady));
    let (claim, limit, level, next) = match holding(case).filter(|_| !fell) {
        Some((throttle, level)) => (
            format!(
                "The rate is set above the queue of {}, where {} holds it below {}: the program waited, and the device did not work.",
                level.name(),
                throttle.file,
                rate(throttle.limit)
            ),
            Some(exhibit(throttle)),
            level,
            format!("to see the device itself, lift the limit in {}", throttle.file),
        ),
        None => {
            let level = case.top()?;
            (
                format!("The rate is set by something above the queue of {}: the program waited, and the device did not work.", level.name()),
                None,
                level,
                "look for a limit that can not be seen from here (a control group of the host, a quality-of-service setting), or that was set after the run had begun".into(),
            )
        }
    };
    let mut because: Vec<Exhibit> = limit.into_iter().collect();
    because.extend([
        level.exhibit_work(),
        Exhibit::new("CPU time of each worker", share(cpu), "/proc/self/stat"),
    ]);
    Some(finding(
        RULE.id,
        Weight::Note,
        Some(Measures::Limited),
        claim,
        because,
        Some(Next::Do(next)),
    ))
}

/// Devices that never let a caller wait.
fn source_or_sink(path: &str) -> bool {
    matches!(path, "/dev/zero" | "/dev/null" | "/dev/full")
}

/// Waiting for a CPU is not waiting for a device. What the whole machine waited, or its host took, need not
/// have been our time: it is an answer only where it may explain much of what is open (shares of the time).
fn other_waits(stage: &Stage<'_>, open: f64) -> bool {
    let run = grown(stage, |snapshot| snapshot.cpu.seen()?.run_delay);
    let crowded = grown(stage, |snapshot| snapshot.pressure.seen()?.cpu);
    let stolen = grown(stage, |snapshot| snapshot.cpu.seen()?.steal);
    let most = |one: Option<f64>, other: Option<f64>| one.unwrap_or(0.0).max(other.unwrap_or(0.0));
    most(run, stopped(stage)) > WAITING_FOR_CPU
        || most(crowded, stolen) > WAITING_FOR_CPU.max(open * WAIT_EXPLAINS)
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::{Measures, Trust};

    #[test]
    fn waiting_without_a_visible_cause_is_a_limit() {
        let mut bench = Bench::write_flushed();
        bench.work(0.01, 0.0);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, Measures::Limited));
    }

    #[test]
    fn time_that_the_host_took_must_explain_much_of_what_is_open() {
        let with_steal = |share: f64| {
            let mut bench = Bench::write_flushed();
            bench.work(0.01, 0.0);
            bench.stolen(share);
            verdict(&bench.record).measures
        };
        assert_eq!(with_steal(0.3), Measures::Limited);
        assert_ne!(with_steal(0.6), Measures::Limited);
    }

    #[test]
    fn a_limit_that_holds_without_being_met_is_named() {
        let mut bench = Bench::write_flushed();
        bench.capped(8 * crate::unit::MIB);
        bench.work(0.01, 0.0);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, Measures::Limited));
        let claim = &found.findings[0].claim;
        assert!(claim.contains("holds it below 8.39 MB per second"), "{claim}");
        assert!(claim.contains("blkio.throttle.write_bps_device"), "{claim}");
    }

    #[test]
    fn a_limit_far_above_the_rate_is_not_what_holds_it() {
        let mut bench = Bench::write_flushed();
        bench.capped(32 * crate::unit::MIB);
        bench.work(0.01, 0.0);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, Measures::Limited));
        let claim = &found.findings[0].claim;
        assert!(claim.contains("set by something above the queue of loop3"), "{claim}");
    }

    #[test]
    fn a_slow_file_under_a_loop_device_is_the_device() {
        let found = verdict(&Bench::write_flushed().record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, Measures::Device));
    }
}
