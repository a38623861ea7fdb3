//! What the steps of a ramp show: where the rate stops growing, what that costs each I/O, and what
//! stands in the way.

use super::measure::{DeviceLevel, PhaseView};
use super::of_phase;
use super::threshold::{CPU_FULL, EQUAL, QUEUE_FULL, WAITING_FOR_CPU};
use super::waiting_for_cpu::{grown, stopped};
use super::words::share;
use assay_plan::plan::{self, Action, Phase, Study as _};
use assay_plan::stats::{self, LoadRate};
use assay_plan::unit::{Iops, MeanInFlight, Nanos};
use assay_record::claim::{BoundClaim, Claim, ExhibitOf, LimitClaim, Sentences};
use assay_record::record::{
    Bottleneck, Ending, Exhibit, Finding, LoadPoint, MeasuredSubject, Metric, PhaseFigures,
    PhaseRecord, RampResult, Record, Statistic, Trust,
};

/// A ramp as far as it got.
pub struct RampView<'a> {
    /// How it was to be climbed.
    pub aim: &'a plan::RampPlan,
    /// The steps that were done, in their order. Never empty.
    pub steps: Vec<RampStep<'a>>,
    /// The last of them that brought anything.
    pub knee: usize,
    /// The one with the highest rate.
    pub top: usize,
    /// What kept the rate from growing beyond the knee.
    pub bound: RateBound,
}

pub struct RampStep<'a> {
    /// What happened in it.
    pub phase: &'a PhaseRecord,
    /// What it did.
    pub action: Action,
    pub figures: PhaseFigures,
    pub load_point: LoadRate,
}

/// What sets the rate.
pub struct RateBound {
    pub cause: Bottleneck,
    pub claim: BoundClaim,
    /// The readings that show it.
    pub because: Vec<Exhibit>,
}

impl RampStep<'_> {
    fn reached(&self) -> LoadPoint {
        let LoadRate { iodepth, workers, iops } = self.load_point;
        let phase = self.phase.name.clone();
        LoadPoint {
            phase,
            iodepth,
            workers,
            iops: Iops(iops),
            p99_ns: self.latency(Statistic::P99),
        }
    }

    /// I/Os in flight in all.
    pub fn in_flight(&self) -> u32 {
        self.load_point.iodepth.saturating_mul(self.load_point.workers)
    }

    /// A statistic of its latencies; `None` where it is absent.
    pub fn latency(&self, of: Statistic) -> Option<Nanos> {
        self.figures.find(Some(self.action), Metric::lat(of))?.time()
    }

    /// Whether 99 of 100 I/Os were answered within a time: by their percentile, or because all were.
    pub fn is_within(&self, most: Nanos) -> bool {
        let within = |of| self.latency(of).is_some_and(|time| time <= most);
        within(Statistic::P99) || within(Statistic::Max)
    }
}

impl<'a> RampView<'a> {
    /// The ramp of a record; `None` where no step of it was done.
    pub fn of(aim: &'a plan::RampPlan, record: &'a Record) -> Option<Self> {
        let steps = steps(record, aim);
        let load_points: Vec<LoadRate> = steps.iter().map(|step| step.load_point).collect();
        let knee = stats::knee(&load_points, aim.gain)?;
        let rate = |at: &usize| load_points[*at].iops;
        let top = (0..load_points.len()).max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
        let bound = bound(record, aim, &steps, knee, top);
        Some(Self { aim, steps, knee, top, bound })
    }

    /// The step with the highest rate of those in which 99 of 100 I/Os were answered in the time
    /// that was asked for; of equal ones the first. `None` where there is none, or no time.
    pub fn within(&self) -> Option<&RampStep<'a>> {
        let most = self.aim.p99?;
        let met = || self.steps.iter().filter(|step| step.is_within(most));
        let best = met().map(|step| step.load_point.iops).fold(0.0, f64::max);
        met().find(|step| step.load_point.iops >= best * (1.0 - EQUAL))
    }
}

/// What the ramp of a record came to; `None` where no step of it was done.
pub fn ramp_result(aim: &plan::RampPlan, record: &Record) -> Option<RampResult> {
    let ramp = RampView::of(aim, record)?;
    Some(RampResult {
        knee: ramp.steps[ramp.knee].reached(),
        top: ramp.steps[ramp.top].reached(),
        within: ramp.within().map(RampStep::reached),
        limit: ramp.bound.cause,
        claim: ramp.bound.claim.into(),
        because: ramp.bound.because,
    })
}

/// Whether a phase is still to be done, after those that the record has. Only steps of a ramp are
/// left out.
pub fn wanted(aim: &plan::RampPlan, record: &Record, phase: &Phase) -> bool {
    if !aim.counts(&record.plan.phases, &phase.name) {
        return true;
    }
    let Some((iodepth, workers)) = phase.load() else { return true };
    let done: Vec<LoadRate> = steps(record, aim).iter().map(|step| step.load_point).collect();
    stats::worth(&done, iodepth, workers, aim.gain)
}

/// The steps that were done and have a rate.
fn steps<'a>(record: &'a Record, aim: &plan::RampPlan) -> Vec<RampStep<'a>> {
    let done = record.phases.iter().filter(|phase| aim.counts(&record.plan.phases, &phase.name));
    let step = |phase: &'a PhaseRecord| {
        // As they were done: a method may keep only one in flight.
        let job = record.jobs_of(phase).next()?;
        let counted = phase.totals.iter().filter(|(action, _)| **action != Action::Flush);
        let action = *counted.max_by_key(|(_, total)| total.ops)?.0;
        let figures = PhaseFigures::of(phase);
        let iops = figures.value(action, Metric::Iops).filter(|iops| *iops > 0.0)?;
        let load_point = LoadRate { iodepth: job.iodepth, workers: job.workers, iops };
        Some(RampStep { phase, action, figures, load_point })
    };
    done.filter_map(step).collect()
}

/// What kept the rate from growing.
fn bound(
    record: &Record,
    aim: &plan::RampPlan,
    steps: &[RampStep],
    knee: usize,
    top: usize,
) -> RateBound {
    let high = steps[top].load_point.iops / (1.0 + aim.gain);
    // Where most was in flight, the queues show most.
    let full =
        steps.iter().filter(|step| step.load_point.iops >= high).max_by_key(|s| s.in_flight());
    let step = full.unwrap_or(&steps[top]);
    let phase_view = PhaseView::new(record, step.phase);
    let verdict = of_phase(record, step.phase);
    if verdict.trust == Trust::Wrong {
        // Its row says why.
        let (trust, measures) = (verdict.trust.name().into(), verdict.measures.name().into());
        return unknown(BoundClaim::FiguresNotDevices { trust, measures });
    }
    if let Some(limit) = verdict.findings.iter().find_map(throttle) {
        return limit;
    }
    if knee + 1 == steps.len() {
        let claim = match record.ending {
            _ if steps.len() == 1 => BoundClaim::OneStep,
            Ending::Complete | Ending::Unfinished => BoundClaim::StillGrowing { stopped: false },
            Ending::Interrupted(_) | Ending::Failed(_) => {
                BoundClaim::StillGrowing { stopped: true }
            }
        };
        return RateBound { cause: Bottleneck::Nothing, claim, because: vec![] };
    }
    let level = phase_view
        .cases
        .iter()
        .find(|flow_view| flow_view.on_devices())
        .and_then(|flow_view| flow_view.top());
    match level {
        Some(level) => queue(&phase_view, step, level),
        None => unknown(BoundClaim::NoCounters { claims: Sentences(verdict.claims) }),
    }
}

fn unknown(claim: BoundClaim) -> RateBound {
    RateBound { cause: Bottleneck::Unknown, claim, because: vec![] }
}

/// The limit that a finding names, with its file.
fn throttle(found: &Finding) -> Option<RateBound> {
    // What only says that requests wait above the queue names no limit.
    let (
        Claim::Limit(
            LimitClaim::AtCgroupLimit { limit, file, .. }
            | LimitClaim::HeldByCgroup { limit, file, .. },
        ),
        true,
    ) = (&found.claim, found.measures == Some(MeasuredSubject::Limited))
    else {
        return None;
    };
    let claim = BoundClaim::ByCgroup { limit: *limit, file: file.clone() };
    let because = found.because.get(1..).unwrap_or_default().to_vec();
    Some(RateBound { cause: Bottleneck::Throttle, claim, because })
}

/// Of device, CPU and lock the one that the queue of the device and the time of the CPUs point at.
fn queue(phase_view: &PhaseView, step: &RampStep, level: &DeviceLevel) -> RateBound {
    let planned = step.in_flight();
    let had = level.in_flight();
    let device = level.name();
    let mut because = vec![level.exhibit_work()];
    if had >= f64::from(planned) * QUEUE_FULL {
        let claim = BoundClaim::QueueFull { device, had: MeanInFlight(had), planned };
        return RateBound { cause: Bottleneck::Device, claim, because };
    }
    // More workers than CPUs cannot use more than these.
    let cpus = phase_view.workers().min(u64::from(phase_view.record.machine().cpus.max(1)));
    let used = phase_view.cpu_share().map(|used| used * phase_view.workers() as f64 / cpus as f64);
    let waited = waited_for_cpu(phase_view, cpus);
    if let Some(used) = used {
        because.push(Exhibit::new(ExhibitOf::CpuPerWorker, share(used), "/proc/self/stat"));
        if used + waited >= CPU_FULL {
            let waited = (waited >= WAITING_FOR_CPU).then(|| share(waited.min(1.0)));
            let claim = BoundClaim::WorkersOnCpus { used: share(used), cpus, waited };
            return RateBound { cause: Bottleneck::Cpu, claim, because };
        }
    }
    let claim = BoundClaim::HeldAboveQueue { device, had: MeanInFlight(had), planned };
    RateBound { cause: Bottleneck::Lock, claim, because }
}

/// For how much of the time each of so many CPUs was waited for; the limit of a control group holds all
/// workers at once, however many they are.
fn waited_for_cpu(phase_view: &PhaseView, cpus: u64) -> f64 {
    let delay = grown(phase_view, |before, stop| stop.cpu_since(before)?.run_delay);
    (delay.unwrap_or(0.0) / cpus as f64).max(stopped(phase_view).unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::super::bench::DoctoredRecord;
    use super::*;
    use assay_plan::plan::StudyPlan;
    use assay_plan::stats::Latency;
    use assay_plan::unit::{Bytes, MIB};
    use assay_record::evidence::{Cpu, CpuThrottled, Reading};

    /// Steps of one worker at depths 1, 2, 4 and 8, the last with so many requests in the device's
    /// queue and so much of a CPU.
    fn climbed(iops: [f64; 4], queued: f64, cpu: f64) -> Record {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        bench.work(0.6, 0.0);
        let mut record = bench.record;
        let (phase, job) = (record.phases.as_mut_vec().remove(0), record.resolved.jobs.remove(0));
        for (number, iops) in iops.into_iter().enumerate() {
            let iodepth = 1_u32 << number;
            let name = format!("q{iodepth}");
            let mut step = PhaseRecord { number, name, ..phase.clone() };
            for total in step.totals.values_mut() {
                total.iops = Some(Iops(iops));
            }
            let evidence = &mut step.evidence;
            let wall = evidence.stop.at.since(evidence.before.at).as_secs();
            if let Reading::Seen(counters) = &mut evidence.stop.devices[0].counters {
                counters.weighted_ms = (wall * queued * 1e3) as u64;
            }
            let user = Nanos::millis(10) + Nanos::from_secs(wall * cpu);
            evidence.stop.cpu = Reading::Seen(Cpu { user, ..Cpu::default() });
            record.phases.push(step);
            let fits = assay_record::record::ResolvedJob { phase: number, iodepth, ..job.clone() };
            record.resolved.jobs.push(fits);
        }
        let steps = record.phases.iter().map(|phase| phase.name.as_str().into()).collect();
        record.plan.aim = Some(StudyPlan::Ramp(plan::RampPlan { steps, gain: 0.1, p99: None }));
        record
    }

    fn ramp(record: &Record) -> RampView<'_> {
        let Some(StudyPlan::Ramp(aim)) = &record.plan.aim else { panic!("no ramp") };
        RampView::of(aim, record).expect("a ramp")
    }

    fn cause(record: &Record) -> Bottleneck {
        ramp(record).bound.cause
    }

    #[test]
    fn the_queue_and_the_cpu_tell_what_is_waited_for() {
        let flat = [10.0, 20.0, 20.0, 20.0];
        assert_eq!(cause(&climbed(flat, 7.5, 0.2)), Bottleneck::Device);
        assert_eq!(cause(&climbed(flat, 1.0, 0.97)), Bottleneck::Cpu);
        assert_eq!(cause(&climbed(flat, 1.0, 0.2)), Bottleneck::Lock);
        assert_eq!(cause(&climbed([10.0, 20.0, 40.0, 80.0], 7.5, 0.2)), Bottleneck::Nothing);
    }

    #[test]
    fn a_held_group_is_held_with_all_its_workers() {
        let mut record = climbed([10.0, 20.0, 20.0, 20.0], 1.0, 0.005);
        record.hosts[0].machine.cpus = 2;
        for job in &mut record.resolved.jobs {
            job.workers = 2;
        }
        for step in &mut record.phases {
            let evidence = &mut step.evidence;
            let wall = evidence.stop.at.since(evidence.before.at);
            evidence.before.cpu_throttled = Reading::Seen(CpuThrottled::default());
            evidence.stop.cpu_throttled =
                Reading::Seen(CpuThrottled { time: wall, ..CpuThrottled::default() });
        }
        assert_eq!(cause(&record), Bottleneck::Cpu);
    }

    #[test]
    fn a_limit_that_is_met_comes_before_the_queue() {
        let mut record = climbed([10.0, 20.0, 20.0, 20.0], 7.5, 0.2);
        let mut capped = DoctoredRecord::write_flushed();
        capped.capped(4 * MIB);
        record.resolved.limits = capped.record.resolved.limits;
        let ramp = ramp(&record);
        assert_eq!((ramp.knee, ramp.bound.cause), (1, Bottleneck::Throttle));
        let BoundClaim::ByCgroup { file, .. } = &ramp.bound.claim else { panic!("no limit") };
        assert!(file.ends_with("blkio.throttle.write_bps_device"), "{file}");
    }

    #[test]
    fn figures_that_are_wrong_have_no_limit_and_their_rows_say_why() {
        let mut record = climbed([10.0, 20.0, 20.0, 20.0], 7.5, 0.2);
        for flow in record.phases.iter_mut().flat_map(|phase| &mut phase.flows) {
            flow.bytes = Bytes(flow.bytes.0 * 100);
        }
        let bound = ramp(&record).bound;
        assert_eq!(bound.cause, Bottleneck::Unknown);
        let wrong =
            matches!(&bound.claim, BoundClaim::FiguresNotDevices { trust, .. } if trust == "wrong");
        assert!(wrong, "{:?}", bound.claim);
    }

    #[test]
    fn few_answers_have_no_p99_and_may_all_be_within() {
        let mut record = climbed([10.0, 20.0, 20.0, 20.0], 7.5, 0.2);
        for total in record.phases.iter_mut().flat_map(|phase| phase.totals.values_mut()) {
            total.lat_ns = total.lat_ns.map(|lat| Latency { n: 150, max: 4_000_000, ..lat }.told());
        }
        let within = |most| {
            let Some(StudyPlan::Ramp(ramp)) = &record.plan.aim else { panic!("a ramp") };
            ramp_result(&plan::RampPlan { p99: Some(most), ..ramp.clone() }, &record)
                .expect("steps")
                .within
        };
        assert_eq!(within(Nanos::millis(3)), None);
        let reached = within(Nanos::millis(5)).expect("all were within");
        assert_eq!((reached.phase.as_str(), reached.p99_ns), ("q2", None));
    }
}
