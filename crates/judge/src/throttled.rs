//! T32: a limit of a control group sets the rate.
//!
//! Its own difference: I/O pressure is shown beside the limit, and decides nothing.

use super::limits::{above, allowed, changing, exhibit, holding, lift, member, over, used};
use super::measure::{self, DeviceLevel, FlowView, PhaseView};
use super::threshold::{
    EXPLAINED, HELD_MOST, IDLE, LIMIT_NEAR, LIMIT_NEAR_IDLE, LIMIT_SLICE, SHORT,
};
use super::words::{pace, share};
use super::{Rule, RuleJudge, finding, note, partial, refuted};
use assay_record::claim::{ExhibitOf, ExhibitSource, ExhibitValue, LimitClaim};
use assay_record::evidence::{LimitValue, Throttle};
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, PhaseLedger, TimeHolder, TrapId,
};

/// The rate is within 3 % of a limit that can be read. The figure is true, and it is the limit's.
pub const RULE: Rule = Rule {
    id: TrapId::T32,
    title: "A limit sets the rate",
    happens: "A cgroup caps bytes or operations per second; I/Os wait above the queue, so the device looks idle.",
    seen_by: "io.max and blkio.throttle of every cgroup from our own to the root; the rate.",
    said_when: "The rate is within {LIMIT_NEAR} of a limit, or the limit held the run for {HELD_MOST} of its time: sound, limited, with the file and its value. A figure further above it, of a short run, has what the limit lets through at once: doubtful, corrected to the limit. A rate or a pause of the plan, where the device works for less than {IDLE}: sound, limited. Where something else refutes a figure above a limit: a note beside it.",
    try_it: "`echo '8:0 wbps=4194304' > io.max`, then measure.",
    answer: "Reads the limits before the run and shows them.",
    judge: RuleJudge::Ledger(judge),
};

fn judge(phase_view: &PhaseView<'_>, ledger: &PhaseLedger, found: &[Finding]) -> Option<Finding> {
    if refuted(found) {
        return phase_view.cases.iter().filter(|flow_view| flow_view.on_devices()).find_map(below);
    }
    let on_devices = || phase_view.cases.iter().filter(|flow_view| flow_view.on_devices());
    // What it did to the rate is told by the rule of rates that changed.
    // And a run that somebody cut short is no shorter without it.
    let cut = found.iter().any(|f| f.trap == partial::RULE.id && f.weight > FindingWeight::Note);
    if cut || on_devices().any(|flow_view| changing(flow_view).is_some()) {
        return None;
    }
    if let Some(found) = on_devices().find_map(at_once) {
        return Some(found);
    }
    let by_group = on_devices().find_map(|flow_view| {
        limit(flow_view).map(|(throttle, rate)| say(flow_view, throttle, rate))
    });
    by_group.or_else(|| by_time(phase_view, ledger)).or_else(|| by_plan(phase_view))
}

/// A figure above the limit that held it.
fn at_once(flow_view: &FlowView<'_>) -> Option<Finding> {
    let (throttle, figure, _) = above(flow_view)?;
    let time = flow_view.time();
    let claim = LimitClaim::AboveCgroupLimit {
        limit: allowed(throttle.limit),
        file: throttle.file.clone(),
        figure,
        time,
    };
    let reached =
        Exhibit::new(ExhibitOf::ReachedWithOverhead, figure, ExhibitSource::RunClockAndCounts);
    Some(finding(
        RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Limited),
        claim,
        vec![exhibit(throttle), reached],
        Some(lift(throttle)),
    ))
}

/// A limit that held the run for most of its time, whatever made its rate a little lower.
fn by_time(phase_view: &PhaseView<'_>, ledger: &PhaseLedger) -> Option<Finding> {
    let balance = ledger.time.as_ref()?;
    let held = balance.share(TimeHolder::Limit);
    let explained = balance.unexplained <= 1.0 - EXPLAINED;
    if held < HELD_MOST || !explained || ledger.levels.len() > 1 {
        return None;
    }
    let mut on_devices = phase_view.cases.iter().filter(|flow_view| flow_view.on_devices());
    let (flow_view, throttle) = on_devices
        .find_map(|flow_view| holding(flow_view).map(|(throttle, _)| (flow_view, throttle)))?;
    let mut because = vec![
        exhibit(throttle),
        Exhibit::new(ExhibitOf::BelowLimit, share(held), ExhibitSource::BalanceOfTime),
    ];
    because.extend(flow_view.top().map(DeviceLevel::exhibit_work));
    let claim = LimitClaim::HeldByCgroup {
        limit: allowed(throttle.limit),
        file: throttle.file.clone(),
        held: share(held),
    };
    let measures = Some(MeasuredSubject::Limited);
    Some(finding(RULE.id, FindingWeight::Note, measures, claim, because, Some(lift(throttle))))
}

/// The plan's own rate or its pauses, where the device had most of the time left.
fn by_plan(phase_view: &PhaseView<'_>) -> Option<Finding> {
    let flow_view = phase_view.cases.iter().find(|flow_view| flow_view.on_devices())?;
    let level = flow_view.top()?;
    let work = phase_view.work();
    if !phase_view.paced() || flow_view.time() < SHORT || work >= IDLE {
        return None;
    }
    Some(finding(
        RULE.id,
        FindingWeight::Note,
        Some(MeasuredSubject::Limited),
        LimitClaim::PacedByPlan { device: level.name(), busy: share(work) },
        vec![level.exhibit_work()],
        None,
    ))
}

/// The limit whose rate a flow has, and that rate.
pub(super) fn limit<'a>(flow_view: &FlowView<'a>) -> Option<(&'a Throttle, f64)> {
    over(flow_view)
        .find_map(|(throttle, level)| met(flow_view, level, throttle).map(|rate| (throttle, rate)))
}

/// A figure that is not the device's, above a limit that the device could not have passed: said
/// beside what refutes it, for whoever mends that finds the limit next.
fn below(flow_view: &FlowView<'_>) -> Option<Finding> {
    let reported = flow_view.flow.bytes.over(flow_view.time())?.0;
    let above = |throttle: &Throttle| match throttle.limit {
        LimitValue::BytesPerSecond(cap) => reported > cap as f64 * (1.0 + LIMIT_NEAR),
        LimitValue::OpsPerSecond(_) => false,
    };
    let (throttle, _) =
        over(flow_view).find(|(throttle, level)| above(throttle) && level.layers.len() == 1)?;
    let claim = LimitClaim::CgroupBelowFigure {
        device: throttle.name.clone(),
        limit: allowed(throttle.limit),
        file: throttle.file.clone(),
    };
    Some(note(RULE.id, claim, vec![exhibit(throttle)], Some(lift(throttle))))
}

/// The rate, when it is that of the limit.
fn met(flow_view: &FlowView<'_>, level: &DeviceLevel<'_>, throttle: &Throttle) -> Option<f64> {
    if flow_view.time() < SHORT {
        return None;
    }
    let seconds = flow_view.time().as_secs();
    let (cap, amounts) = used(flow_view, level, throttle);
    let waiting = level.readable() && level.busy() + level.flushing() < IDLE;
    let near = if waiting { LIMIT_NEAR_IDLE } else { LIMIT_NEAR };
    let most = cap * (1.0 + LIMIT_NEAR) * (seconds + LIMIT_SLICE.as_secs());
    let least = cap * (1.0 - near) * seconds;
    amounts
        .into_iter()
        .filter(|amount| (least..=most).contains(amount))
        .min_by(|a, b| (a / seconds - cap).abs().total_cmp(&(b / seconds - cap).abs()))
        .map(|amount| amount / seconds)
}

fn say(flow_view: &FlowView<'_>, throttle: &Throttle, reached: f64) -> Finding {
    let reached = match throttle.limit {
        LimitValue::BytesPerSecond(_) => pace(reached).into(),
        LimitValue::OpsPerSecond(_) => ExhibitValue::OperationsPerSecond(reached),
    };
    let mut because = vec![
        exhibit(throttle),
        Exhibit::new(ExhibitOf::ReachedWithOverhead, reached, ExhibitSource::RunClockAndCounts),
    ];
    because.extend(flow_view.top().map(DeviceLevel::exhibit_work));
    let evidence = &flow_view.phase.evidence;
    if let Some(waited) = evidence.stop.pressure_since(&evidence.before).and_then(|all| all.io) {
        let part = waited.0 as f64 / flow_view.time().0.max(1) as f64;
        because.push(Exhibit::new(ExhibitOf::IoPressure, share(part), "/proc/pressure/io"));
    }
    let (limit, file) = (allowed(throttle.limit), throttle.file.clone());
    let of_member = flow_view.levels.iter().find_map(|level| {
        let passed = measure::bytes(&member(flow_view, level, throttle)?, flow_view.direction());
        let all = measure::bytes(&level.timed, flow_view.direction());
        Some((level.layers.len(), share(measure::ratio(passed, all.max(1)))))
    });
    let claim = match of_member {
        Some((devices, part)) => {
            LimitClaim::AtMemberLimit { limit, file, device: throttle.name.clone(), devices, part }
        }
        None => {
            let flushed = flow_view.writes() && flow_view.flow.durability.durable();
            LimitClaim::AtCgroupLimit { limit, file, flushed }
        }
    };
    let measures = Some(MeasuredSubject::Limited);
    finding(RULE.id, FindingWeight::Note, measures, claim, because, Some(lift(throttle)))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::plan::{Arrivals, Durability, Rate};
    use assay_plan::unit::{Bytes, MIB, Ops};
    use assay_record::record::{MeasuredSubject, Trust};

    #[test]
    fn a_limit_is_lifted_by_a_command() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.capped(4 * MIB);
        let limits = &bench.record.resolved.limits;
        let mut throttle = limits.seen().expect("limits").io[0].clone();
        let number = format!("{}:{}", throttle.device.major, throttle.device.minor);
        let file = throttle.file.clone();
        let lifted = super::lift(&throttle).words().to_string();
        assert_eq!(lifted, format!("echo '{number} 0' | sudo tee {file}"));
        throttle.file = "/sys/fs/cgroup/a b/io.max".into();
        let lifted = super::lift(&throttle).words().to_string();
        let said = format!("echo '{number} rbps=max' | sudo tee '/sys/fs/cgroup/a b/io.max'");
        assert_eq!(lifted, said);
    }

    #[test]
    fn a_rate_at_its_limit_is_true_and_the_limits() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.capped(4 * MIB);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, MeasuredSubject::Limited));
        assert!(
            found.summary().contains("Limited by a cgroup to 4.19 MB/s"),
            "{}",
            found.summary()
        );
        assert!(found.summary().contains("blkio.throttle.write_bps_device"));
    }

    #[test]
    fn what_a_device_wrote_beyond_the_program_is_said_with_its_cause() {
        let mut bench = DoctoredRecord::write_flushed();
        let flow = &mut bench.record.phases[0].flows[0];
        (flow.bytes, flow.calls) = (Bytes::mib(4), Ops(1024));
        flow.durability = Durability::OpenDsync;
        bench.flushes(1024);
        bench.capped(4 * MIB);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, MeasuredSubject::Limited));
        let said = "loop3 wrote 5.0 times as much as the program: each of its 1024 writes was made durable on its own, with file system metadata and a flush.";
        assert!(found.summary().contains(said), "{}", found.summary());
        let written = |f: &assay_record::record::Exhibit| f.value() == "20.1 MiB for 4 MiB";
        assert!(found.findings.iter().any(|f| f.because.iter().any(written)), "{found:#?}");
    }

    #[test]
    fn a_figure_above_its_limit_is_what_the_limit_lets_through_at_once() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.capped(4 * MIB);
        // 20 MiB at 4 MiB/s, as far as a fifth of a second more.
        bench.lasted(assay_plan::unit::Nanos::millis(4830));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, MeasuredSubject::Limited));
        assert!(found.summary().ends_with("What lasts is the limit."), "{}", found.summary());
        assert_eq!(found.corrected.map(|limit| limit.value), Some(4.0 * MIB as f64));
    }

    #[test]
    fn a_limit_stands_beside_what_refutes_a_figure_above_it() {
        let mut bench = DoctoredRecord::write_without_flush();
        bench.capped(4 * MIB);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, MeasuredSubject::Deferred));
        let claims: Vec<String> = found.findings.iter().map(|f| f.text()).collect();
        assert!(claims[1].starts_with("A cgroup limits loop3 to 4.19 MB/s here"), "{claims:?}");
    }

    #[test]
    fn a_rate_of_the_plan_is_a_limit() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.record.plan.phases[0].jobs[0].rate = Rate::arriving(Arrivals::Even { iops: 50.0 });
        bench.work(0.1, 0.05);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, MeasuredSubject::Limited));
        let said = "Held back by the rate or the pauses of the plan: loop3 was busy 10 % of the time, so this is not its peak speed.";
        assert_eq!(found.summary(), said);
        bench.work(0.9, 0.05);
        assert_eq!(verdict(&bench.record).measures, MeasuredSubject::Device);
    }

    #[test]
    fn a_limit_that_held_the_run_for_most_of_its_time_is_named() {
        // 20 MiB in five seconds.
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        bench.work(0.15, 0.05);
        bench.looked_at(&[("D __iomap_dio_rw", 50)]);
        bench.capped(5 * MIB);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, MeasuredSubject::Limited));
        let said = "Limited by a cgroup, which holds the rate below 5.24 MB/s (/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device): it held the run for 8";
        assert!(found.summary().starts_with(said), "{}", found.summary());
        bench.work(0.95, 0.05);
        assert_eq!(verdict(&bench.record).measures, MeasuredSubject::Device);
    }

    #[test]
    fn a_limit_that_was_not_met_is_not_named() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.capped(6 * MIB);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, MeasuredSubject::Device));
    }
}
