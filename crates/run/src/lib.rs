//! The conductor: makes a plan fit this machine, prepares targets, starts workers, watches the
//! kernel, cleans up.
#![deny(unsafe_code)]

mod account;
mod aftermath;
mod caches;
mod closing;
mod condition_watch;
mod copy;
mod copying;
mod coverage;
mod drain;
mod flush;
mod gate;
mod heat;
mod id;
mod interval_counts;
mod job_writes;
mod layout;
mod leftovers;
mod limits;
mod log;
pub mod monitor;
mod named_files;
mod observer;
mod open_target;
mod overwriting;
mod phase;
mod phase_context;
mod phase_work;
mod populate;
mod pre_read;
mod prepare;
mod prepared_job;
mod prepared_tree;
mod probe;
mod processes;
mod quota;
mod ranges;
mod record_keeper;
mod remount;
mod resolve;
mod sample_timer;
mod sampler;
mod shared_state;
mod standing;
mod steady;
mod steady_window;
mod sums;
mod thread_roll;
mod tree_dir;
mod tree_workers;
mod unit_work;
mod worker_handle;
mod workers;

use std::path::PathBuf;
use std::slice;

use assay_engine::output;
use assay_engine::sys::event_loop::EventLoop;
use assay_engine::sys::files;
use assay_judge as verdict;
use assay_judge::threshold::SAMPLE;
use assay_plan::error::{Doing, Error, Fault};
use assay_plan::name::NameText as _;
use assay_plan::plan::{
    BlockWork, FaultReach, Job, Phase, PhaseEnd, Plan, PlanBoard, PlanOrigin, PlannedTime, Target,
    Work,
};
use assay_plan::unit::Bytes;
use assay_record::evidence::{CounterReader, SysRoot, wake_up};
use assay_record::record::{
    Ending, Host, JobResult, PhaseRecord, PhaseRecords, Record, RecordSink, Resolved, SCHEMA,
};

use assay_record::words::say;
pub use observer::{LiveStatus, Observer, Preparation};
pub use overwriting::{allow, damages, losses};
use phase_context::PhaseContext;
use record_keeper::RecordKeeper;
use resolve::FittedPlan;
pub use unit_work::unit_work;

/// What a run should do beside its plan.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Where the record is kept while it grows: a file, or a folder that gets one of its own.
    pub record: Option<PathBuf>,
    /// Signals that end the run in order, or that the observer answers.
    pub signals: Vec<i32>,
    /// How the board is reached that this machine is, where a desk started it.
    pub board: Option<PlanBoard>,
    /// Nobody will see the record, so nobody looks for what would stand in it: a copy of a few blocks takes
    /// less time than that.
    pub unseen: bool,
    /// What earlier programs have left in memory for the devices goes there before the first phase. A tool whose words are
    /// run as they are does not do that.
    pub drain: bool,
}

/// What a plan would do, without doing it.
#[derive(Clone, Debug)]
pub struct PlanPreview {
    /// The plan made to fit this machine.
    pub resolved: Resolved,
    /// Bytes it would write, as far as that can be known beforehand; an upper bound.
    pub writes: Bytes,
    /// Some of its jobs write for a set time, as much as the device takes: that comes on top.
    pub writes_more: bool,
    /// About how long it would take; absent when only the device's speed decides.
    pub time: Option<PlannedTime>,
}

/// Looks at the machine and says what the plan would do. Touches nothing.
///
/// # Errors
/// A refusal when the plan cannot be done here.
pub fn preview(plan: &Plan) -> Result<PlanPreview, Error> {
    plan.check()?;
    let plan = &plan.unrolled();
    let fitted = resolve::fit(plan, &SysRoot::default())?;
    let writes = fitted.resolved.jobs.iter().filter_map(|job| job.writes_at_most).sum();
    let writes_more = fitted.resolved.jobs.iter().any(|job| job.writes_at_most.is_none());
    Ok(PlanPreview { resolved: fitted.resolved, writes, writes_more, time: plan.time() })
}

/// Makes the folders of the files that a plan names.
fn make_folders(plan: &Plan) -> Result<(), Fault> {
    let jobs = plan.phases.iter().flat_map(|phase| phase.jobs.iter());
    let named = jobs.flat_map(|job| match &job.work {
        Work::Blocks(BlockWork { target: Target::File { path, .. }, .. }) => slice::from_ref(path),
        Work::Blocks(BlockWork { target: Target::Files { named, .. }, .. }) => named,
        Work::Tree(tree) => &tree.named,
        _ => &[],
    });
    for folder in named.filter_map(|path| path.parent()) {
        if !folder.as_os_str().is_empty() && !folder.exists() {
            output::make_folders(folder)
                .map_err(|error| Fault::new(Doing::Create, folder.to_text(), &error))?;
        }
    }
    Ok(())
}

/// When the run of a record began: records of one side of a comparison are put in this order.
pub fn began(record: &Record) -> Option<jiff::Timestamp> {
    record.started.parse().ok()
}

/// The calendar time now as ctime(3) writes it: `Tue Nov 24 21:44:49 2026`.
pub fn calendar_as_in_c() -> String {
    jiff::Zoned::now().strftime("%a %b %e %H:%M:%S %Y").to_string()
}

/// The calendar time now in ms since 1970.
pub fn now_in_ms() -> u64 {
    jiff::Timestamp::now().as_millisecond().max(0) as u64
}

/// Does it. The record comes back whatever happens once the first phase could begin; how it ended
/// is in [`Record::ending`].
///
/// # Errors
/// A refusal when the plan cannot be done here (nothing was touched), or a fault before the
/// first phase, which the record that is kept has, too.
pub fn run(
    plan: &Plan,
    options: &RunOptions,
    observer: &mut dyn Observer,
) -> Result<Record, Error> {
    let _run = files::run();
    let signals = [&options.signals[..], &[libc::SIGCONT]].concat();
    let event_loop = EventLoop::new(&signals)
        .map_err(|error| Fault::new(Doing::Prepare, "for signals", &error))?;
    let sys_root = if options.unseen { SysRoot::nowhere() } else { SysRoot::default() };
    plan.check()?;
    let plan = &*plan.unrolled();
    let FittedPlan { resolved, mut open_targets, mut tree_dirs, places, descriptors, threads } =
        resolve::fit(plan, &sys_root)?;
    overwriting::keep_off(plan)?;
    limits::allow(descriptors)?;
    limits::allow_threads(threads)?;
    let started = jiff::Zoned::now();
    let name = format!("{}-{}", plan.origin.dialect, started.strftime("%Y%m%d-%H%M%S"));
    let sink = options.record.as_deref().map(|path| RecordSink::at(path, &name)).transpose()?;
    if plan.origin.tool.makes_folders {
        make_folders(plan)?;
    }
    observer.resolved(&resolved);
    let mut jobs = plan.phases.iter().flat_map(|phase| phase.jobs.iter());
    let counter_reader = CounterReader::new(&sys_root, &resolved.subjects)
        .with_each_processor(jobs.any(|job| job.detail.idle));
    let machine = sys_root.machine();
    let host = Host { name: machine.host.clone(), machine };
    let mut record = Record {
        schema: SCHEMA.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        run: id::fresh(started.timestamp().as_millisecond().max(0) as u64),
        started: started.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        plan: Plan {
            origin: PlanOrigin { board: options.board.clone(), ..plan.origin.clone() },
            ..plan.clone()
        },
        resolved,
        hosts: vec![host],
        phases: PhaseRecords::default(),
        ending: Ending::Unfinished,
        verdict: None,
        outcome: None,
    };
    let now = (!options.unseen).then(|| started.timestamp().as_second());
    let mut record_keeper = RecordKeeper::begin(sink, &record, &sys_root, now)?;

    let mut signal = None;
    let mut otherwise = Vec::new();
    let mut wrote = Vec::new();
    let mut first = 0;
    // Whether the first phase could not begin.
    let mut unbegun = false;
    // A fault of a job that ends no other.
    let mut met = None;
    if let Some(phase) = plan.phases.first().filter(|_| options.drain) {
        let subjects = &record.resolved.subjects;
        let (plan, signal) = ((plan, phase), &mut signal);
        let left = drain::drain(plan, subjects, &counter_reader, &event_loop, observer, signal);
        otherwise.extend(left.map(|left| say(&left)));
    }
    for (number, (phase, places)) in plan.phases.iter().zip(&places).enumerate() {
        let jobs = first..first + phase.jobs.len();
        first = jobs.end;
        if !verdict::wanted(&record, phase) {
            continue;
        }
        let paced = verdict::paced(&record, phase);
        let phase = paced.as_ref().unwrap_or(phase);
        let context = PhaseContext {
            plan,
            phase,
            number,
            run: &record.run,
            resolved: &record.resolved,
            last: record.phases.last(),
            jobs: &record.resolved.jobs[jobs],
            places,
            open_targets: &mut open_targets,
            tree_dirs: &mut tree_dirs,
            wrote: &mut wrote,
            counter_reader: &counter_reader,
            event_loop: &event_loop,
            observer,
            otherwise: &mut otherwise,
            signal: &mut signal,
        };
        let beside = record_keeper.beside_phase();
        let done = phase::act(context);
        record_keeper.notes(&otherwise)?;
        record.resolved.notes.append(&mut otherwise);
        match done {
            Ok(mut done) => {
                done.evidence.journal = beside;
                done.share(record.phases.last());
                time_wake_up(&mut record, &done);
                record.phases.push(done);
                // Those of a study are looked at together.
                if plan.aim.is_none() {
                    record.phases.pack();
                }
            }
            Err(Error::Fault(fault)) => {
                record.ending = Ending::Failed(fault);
                unbegun = number == 0;
                break;
            }
            Err(refusal) if number == 0 => return Err(refusal),
            // What the phases before have left does not fit what this one was to do.
            Err(Error::Refusal(refusal)) => {
                let name = format!("phase '{}'", phase.name);
                let fault = Fault::told(Doing::Begin, name, refusal.why);
                record.ending = Ending::Failed(fault.hinting(refusal.instead));
                break;
            }
        }
        #[cfg(test)]
        JUDGED.set(JUDGED.get() + 1);
        verdict::judge_last(&mut record);
        if let Some(done) = record.phases.last() {
            record_keeper.phase(done)?;
            observer.ended(&record, done);
            if let Some(fault) = done.faults.first() {
                match ends_run(phase, done) {
                    true => record.ending = Ending::Failed(fault.clone()),
                    false => _ = met.get_or_insert_with(|| fault.clone()),
                }
            }
        }
        if let Some(signal) = signal {
            record.ending = Ending::Interrupted(signal);
        }
        if record.ending != Ending::Unfinished || phase.until == PhaseEnd::FirstOfRun {
            break;
        }
    }
    if record.ending == Ending::Unfinished {
        record.ending = met.map_or(Ending::Complete, Ending::Failed);
    }
    record_keeper.ending(&record.ending)?;
    // The files go before anybody reads about them.
    let mut at_end: Vec<Fault> =
        open_targets.iter_mut().flat_map(|open_target| open_target.finish()).collect();
    at_end.extend(tree_dirs.iter_mut().flat_map(|tree_dir| tree_dir.remove_tree()));
    at_end.extend(output::left_so_far());
    if record.ending == Ending::Complete
        && let Some(fault) = at_end.into_iter().next()
    {
        output::is_said(&fault);
        record.ending = Ending::Failed(fault);
    }
    #[cfg(test)]
    JUDGED.set(JUDGED.get() + record.phases.len());
    verdict::judge(&mut record);
    record_keeper.finish(&record)?;
    match &record.ending {
        Ending::Failed(fault) if unbegun => Err(fault.clone().into()),
        _ => Ok(record),
    }
}

/// Measures how long a wake-up takes, which is 3 ms of work, after the first phase whose balance of time asks for it: one
/// on devices, whose threads have slept, and that was long enough to be looked at.
fn time_wake_up(record: &mut Record, done: &PhaseRecord) {
    if record.resolved.subjects.iter().all(|subject| subject.stack.is_empty()) {
        return;
    }
    let machine = &mut record.hosts[0].machine;
    let switches = done.evidence.ran.as_ref().and_then(|ran| ran.switches);
    let slept = switches.is_some_and(|switches| switches.sleeps > 0);
    if machine.wake_up.is_none() && slept && done.span.time() >= SAMPLE {
        machine.wake_up = wake_up();
    }
}

/// Whether no phase follows one that met faults: one of them is of no job, or of a job that ends the run.
fn ends_run(phase: &Phase, done: &PhaseRecord) -> bool {
    let of_jobs: usize = done.jobs.iter().map(|job| job.faults.len()).sum();
    let ends = |(planned, done): (&Job, &JobResult)| {
        planned.on_fault == FaultReach::Run && !done.faults.is_empty()
    };
    done.faults.len() > of_jobs || phase.jobs.iter().zip(&done.jobs).any(ends)
}

// Verdicts of phases that were asked for.
#[cfg(test)]
thread_local!(static JUDGED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_is_judged_when_it_ends_and_once_more_at_the_end() {
        let judged = |phases: usize| {
            let phase = |number: usize| {
                serde_json::json!({ "name": format!("p{number}"), "jobs": [{
                    "name": "j",
                    "work": { "blocks": {
                        "target": { "nowhere": { "size": 1 << 20 } },
                        "method": "null",
                        "pattern": {
                            "mix": [{ "action": "read", "weight": 1 }], "block": { "fixed": 4096 },
                        },
                    }},
                }]})
            };
            let plan = serde_json::json!({
                "title": "t", "origin": { "dialect": "plan" }, "seed": 1,
                "phases": (0..phases).map(phase).collect::<Vec<_>>(),
            });
            let plan = serde_json::from_value(plan).unwrap();
            let before = JUDGED.get();
            let record = run(&plan, &RunOptions::default(), &mut ()).unwrap();
            assert_eq!(record.phases.len(), phases);
            JUDGED.get() - before
        };
        assert_eq!((judged(5), judged(20)), (10, 40));
    }
}
