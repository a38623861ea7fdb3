//! What the steps of a ramp show: where the rate stops growing, what that costs each I/O, and what
//! stands in the way.

use super::measure::{Level, Stage};
use super::threshold::{CPU_FULL, EQUAL, QUEUE_FULL, WAITING_FOR_CPU};
use super::waiting_for_cpu::{grown, stopped};
use super::words::share;
use super::{of_phase, throttled};
use crate::plan::{self, Action, Aim, Phase, Plan};
use crate::record::{
    Bottleneck, Climb, Ending, Exhibit, Finding, Measures, PhaseRecord, Reached, Record, Trust,
};
use crate::stats::{self, Rung, Total};
use crate::unit::{Iops, Nanos};

/// A ramp as far as it got.
pub struct Ramp<'a> {
    /// How it was to be climbed.
    pub aim: &'a plan::Ramp,
    /// The steps that were done, in their order. Never empty.
    pub steps: Vec<Step<'a>>,
    /// The last of them that brought anything.
    pub knee: usize,
    /// The one with the highest rate.
    pub top: usize,
    /// What kept the rate from growing beyond the knee.
    pub bound: Bound,
}

/// One step.
pub struct Step<'a> {
    /// What happened in it.
    pub phase: &'a PhaseRecord,
    /// Its I/Os.
    pub total: &'a Total,
    /// The load and the rate.
    pub rung: Rung,
}

/// What sets the rate.
pub struct Bound {
    /// What it is.
    pub cause: Bottleneck,
    /// In one sentence.
    pub claim: String,
    /// The readings that show it.
    pub because: Vec<Exhibit>,
}

impl Step<'_> {
    fn reached(&self) -> Reached {
        let Rung { iodepth, workers, iops } = self.rung;
        let phase = self.phase.name.clone();
        Reached { phase, iodepth, workers, iops: Iops(iops), p99_ns: self.p99().map(Nanos) }
    }

    /// I/Os in flight in all.
    pub fn in_flight(&self) -> u32 {
        self.rung.iodepth.saturating_mul(self.rung.workers)
    }

    /// The time in which 99 of 100 I/Os were answered, ns; where fewer than ten took longer, the
    /// longest of all.
    pub fn p99(&self) -> Option<u64> {
        let lat = self.total.lat_ns?;
        Some(if self.total.events_beyond(0.99) >= 10.0 { lat.p99 } else { lat.max })
    }
}

impl<'a> Ramp<'a> {
    /// The ramp of a record; `None` where there is none, or no step of it was done.
    pub fn of(record: &'a Record) -> Option<Self> {
        let aim = aim(&record.plan)?;
        let steps = steps(record, aim);
        let rungs: Vec<Rung> = steps.iter().map(|step| step.rung).collect();
        let knee = stats::knee(&rungs, aim.gain)?;
        let rate = |at: &usize| rungs[*at].iops;
        let top = (0..rungs.len()).max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
        let bound = bound(record, aim, &steps, knee, top);
        Some(Self { aim, steps, knee, top, bound })
    }

    /// The step with the highest rate of those in which 99 of 100 I/Os were answered in the time
    /// that was asked for; of equal ones the first. `None` where there is none, or no time.
    pub fn within(&self) -> Option<&Step<'a>> {
        let most = self.aim.p99?;
        let met = || self.steps.iter().filter(|step| step.p99().is_some_and(|p99| p99 <= most.0));
        let best = met().map(|step| step.rung.iops).fold(0.0, f64::max);
        met().find(|step| step.rung.iops >= best * (1.0 - EQUAL))
    }
}

/// What the ramp of a record came to; `None` where there is none, or no step of it was done.
pub fn climb(record: &Record) -> Option<Climb> {
    let ramp = Ramp::of(record)?;
    Some(Climb {
        knee: ramp.steps[ramp.knee].reached(),
        top: ramp.steps[ramp.top].reached(),
        within: ramp.within().map(Step::reached),
        limit: ramp.bound.cause,
        claim: ramp.bound.claim,
        because: ramp.bound.because,
    })
}

/// Whether a phase is still to be done, after those that the record has. Only steps of a ramp are
/// left out.
pub fn wanted(record: &Record, phase: &Phase) -> bool {
    let Some(aim) = aim(&record.plan).filter(|aim| aim.steps.contains(&phase.name)) else {
        return true;
    };
    let Some((iodepth, workers)) = phase.load() else { return true };
    let done: Vec<Rung> = steps(record, aim).iter().map(|step| step.rung).collect();
    stats::worth(&done, iodepth, workers, aim.gain)
}

fn aim(plan: &Plan) -> Option<&plan::Ramp> {
    match &plan.aim {
        Some(Aim::Ramp(ramp)) => Some(ramp),
        Some(
            Aim::Sustain
            | Aim::Lesson(_)
            | Aim::Sweep(_)
            | Aim::Profile(_)
            | Aim::Card
            | Aim::Capacity,
        )
        | None => None,
    }
}

/// The steps that were done and have a rate.
fn steps<'a>(record: &'a Record, aim: &plan::Ramp) -> Vec<Step<'a>> {
    let done = record.phases.iter().filter(|phase| aim.steps.contains(&phase.name));
    let step = |phase: &'a PhaseRecord| {
        // As they were done: a method may keep only one in flight.
        let job = record.resolved.jobs.iter().find(|job| job.phase == phase.name)?;
        let counted = phase.totals.iter().filter(|(action, _)| **action != Action::Flush);
        let (_, total) = counted.max_by_key(|(_, total)| total.ops)?;
        let iops = total.iops.filter(|iops| iops.0 > 0.0)?.0;
        let rung = Rung { iodepth: job.iodepth, workers: job.workers, iops };
        Some(Step { phase, total, rung })
    };
    done.filter_map(step).collect()
}

/// What kept the rate from growing.
fn bound(record: &Record, aim: &plan::Ramp, steps: &[Step], knee: usize, top: usize) -> Bound {
    let high = steps[top].rung.iops / (1.0 + aim.gain);
    // Where most was in flight, the queues show most.
    let full = steps.iter().filter(|step| step.rung.iops >= high).max_by_key(|s| s.in_flight());
    let step = full.unwrap_or(&steps[top]);
    let stage = Stage::new(record, step.phase);
    let verdict = of_phase(record, step.phase);
    if verdict.trust == Trust::Wrong {
        return unknown(format!("the figures are not the device's. {}", verdict.summary));
    }
    if let Some(limit) = verdict.findings.iter().find_map(throttle) {
        return limit;
    }
    if knee + 1 == steps.len() {
        let claim = match record.ending {
            _ if steps.len() == 1 => "one step tells nothing of growth",
            Ending::Complete | Ending::Unfinished => "it still grew at the last step",
            Ending::Interrupted(_) | Ending::Failed(_) => "it still grew when the run was ended",
        };
        return Bound { cause: Bottleneck::Nothing, claim: claim.into(), because: vec![] };
    }
    let level = stage.cases.iter().find(|case| case.on_devices()).and_then(|case| case.top());
    match level {
        Some(level) => queue(&stage, step, level),
        None => unknown(format!("no device's counters tell. {}", verdict.summary)),
    }
}

fn unknown(claim: String) -> Bound {
    Bound { cause: Bottleneck::Unknown, claim, because: vec![] }
}

/// The limit that a finding names, with its file.
fn throttle(found: &Finding) -> Option<Bound> {
    let limited = found.measures == Some(Measures::Limited) && found.trap.0 == throttled::RULE.id;
    let (limit, rest) = found.because.split_first().filter(|_| limited)?;
    // In words, without the number that stands in the file.
    let rate = limit.value.split(" (").next().unwrap_or_default();
    // Without a file it is the finding that requests wait above the queue.
    limit.reading.starts_with("limit on ").then(|| Bound {
        cause: Bottleneck::Throttle,
        claim: format!("{rate}, set in {}", limit.source),
        because: rest.to_vec(),
    })
}

/// Of device, CPU and lock the one that the queue of the device and the time of the CPUs point at.
fn queue(stage: &Stage, step: &Step, level: &Level) -> Bound {
    let planned = step.in_flight();
    let had = level.in_flight();
    let mut because = vec![level.exhibit_work()];
    if had >= f64::from(planned) * QUEUE_FULL {
        let claim = format!(
            "{} had {had:.1} of {planned} I/Os in its queue, and answered no more of them",
            level.name()
        );
        return Bound { cause: Bottleneck::Device, claim, because };
    }
    // More workers than CPUs can not use more than these.
    let cpus = stage.workers().min(u64::from(stage.record.machine.cpus.max(1)));
    let used = stage.cpu_share().map(|used| used * stage.workers() as f64 / cpus as f64);
    let waited = waited_for_cpu(stage, cpus);
    if let Some(used) = used {
        because.push(Exhibit::new("CPU time of each worker", share(used), "/proc/self/stat"));
        if used + waited >= CPU_FULL {
            let of = if cpus == 1 { "a CPU".into() } else { format!("{cpus} CPUs") };
            let mut claim = format!("the workers used {} of {of}", share(used));
            if waited >= WAITING_FOR_CPU {
                let part = share(waited.min(1.0));
                claim.push_str(&format!(
                    ", and waited for one {part} of the time: others had it, or a limit held them"
                ));
            }
            return Bound { cause: Bottleneck::Cpu, claim, because };
        }
    }
    let claim = format!(
        "only {had:.1} of {planned} I/Os were in the queue of {}, and no CPU was full: the others waited above it, as for the lock of a file",
        level.name()
    );
    Bound { cause: Bottleneck::Lock, claim, because }
}

/// For how much of the time each of so many CPUs was waited for; the limit of a control group holds all
/// workers at once, however many they are.
fn waited_for_cpu(stage: &Stage, cpus: u64) -> f64 {
    let delay = grown(stage, |snapshot| snapshot.cpu.seen()?.run_delay);
    (delay.unwrap_or(0.0) / cpus as f64).max(stopped(stage).unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;
    use crate::evidence::{Cpu, CpuThrottled, Reading};
    use crate::unit::MIB;

    /// Steps of one worker at depths 1, 2, 4 and 8, the last with so many requests in the device's
    /// queue and so much of a CPU.
    fn climbed(iops: [f64; 4], queued: f64, cpu: f64) -> Record {
        let mut bench = Bench::write_flushed();
        bench.direct(true);
        bench.work(0.6, 0.0);
        let mut record = bench.record;
        let (phase, job) = (record.phases.remove(0), record.resolved.jobs.remove(0));
        for (n, iops) in (0_u32..).zip(iops) {
            let iodepth = 1_u32 << n;
            let name = format!("q{iodepth}");
            let mut step = PhaseRecord { name: name.clone(), ..phase.clone() };
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
            let fits = crate::record::ResolvedJob { phase: name, iodepth, ..job.clone() };
            record.resolved.jobs.push(fits);
        }
        let steps = record.phases.iter().map(|phase| phase.name.clone()).collect();
        record.plan.aim = Some(Aim::Ramp(plan::Ramp { steps, gain: 0.1, p99: None }));
        record
    }

    fn cause(record: &Record) -> Bottleneck {
        Ramp::of(record).expect("a ramp").bound.cause
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
        record.machine.cpus = 2;
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
        let mut capped = Bench::write_flushed();
        capped.capped(4 * MIB);
        record.resolved.limits = capped.record.resolved.limits;
        let ramp = Ramp::of(&record).expect("a ramp");
        assert_eq!((ramp.knee, ramp.bound.cause), (1, Bottleneck::Throttle));
        assert!(ramp.bound.claim.contains("blkio.throttle.write_bps_device"));
    }

    #[test]
    fn other_records_have_no_ramp() {
        assert!(Ramp::of(&Bench::write_flushed().record).is_none());
    }
}
