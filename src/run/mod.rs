//! The conductor: makes a plan fit this machine, prepares targets, starts workers, watches the
//! kernel, cleans up.

mod account;
mod aftermath;
mod apart;
mod beat;
mod closing;
mod cold;
mod common;
mod copy;
mod copying;
mod gate;
mod grove;
mod hand;
mod heat;
mod layout;
mod limits;
mod log;
pub mod monitor;
mod phase;
mod planting;
mod prepare;
mod probe;
mod ranges;
mod ready;
mod resolve;
mod settle;
mod site;
mod steady;
mod watch;
mod work;
mod workers;

use std::path::PathBuf;

use crate::error::{Error, Fault};
use crate::evidence::{Eyes, Scene};
use crate::plan::{Phase, Plan};
use crate::record::{Ending, PhaseRecord, Record, Resolved, SCHEMA, Sink};
use crate::stats::GaugeReading;
use crate::stats::copy::{CopyCounts, CopyEvent};
use crate::sys::files;
use crate::sys::inbox::Inbox;
use crate::unit::{Bytes, Nanos};
use crate::verdict;

use phase::Stage;
use resolve::Fitted;

/// What a run should do beside its plan.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where the record is kept while it grows: a file, or a folder that gets one of its own.
    pub record: Option<PathBuf>,
    /// Signals that end the run in order, or that the observer answers.
    pub signals: Vec<i32>,
}

/// Somebody who is told what happens while it happens. Called from the conductor's thread, never
/// from one that does I/O.
pub trait Observer {
    /// The plan has been made to fit this machine; nothing has been touched yet.
    fn resolved(&mut self, _resolved: &Resolved) {}
    /// A phase is about to be prepared (files laid out, caches dropped).
    fn preparing(&mut self, _phase: &Phase, _what: &str) {}
    /// Whether a phase that is prepared may begin. While it may not (it keeps step with somebody
    /// outside of this program), it is asked again every few milliseconds.
    ///
    /// # Errors
    /// When it never may: the run ends.
    fn may_begin(&mut self, _phase: &Phase) -> Result<bool, Fault> {
        Ok(true)
    }
    /// A phase has begun: its number from 0, and how many there are.
    fn began(&mut self, _phase: &Phase, _number: usize, _of: usize) {}
    /// Ten times a second while it goes on.
    fn tick(&mut self, _live: &Live) {}
    /// A signal came. True: it has been dealt with (dd prints its counts on SIGUSR1), and the run
    /// goes on; false: the run ends here, and keeps what it has.
    fn asked(&mut self, _signal: i32, _live: &Live) -> bool {
        false
    }
    /// Something that a copy has to say while it runs.
    fn said(&mut self, _event: &CopyEvent) {}
    /// A phase has ended and is judged: the last of the record as it stands.
    fn ended(&mut self, _record: &Record, _phase: &PhaseRecord) {}
}

/// Nobody.
impl Observer for () {}

/// How a phase stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Live {
    /// Since its first I/O.
    pub elapsed: Nanos,
    /// How long it takes at the most, when time is what ends it.
    pub limit: Option<Nanos>,
    /// Bytes it moves in all, when that is what ends it.
    pub goal: Option<Bytes>,
    /// What its workers have done since its start; `lat_ns_max` since the last tick.
    pub done: GaugeReading,
    /// What they had done a tick before.
    pub before: GaugeReading,
    /// dd's counts, when it is a copy.
    pub copy: Option<CopyCounts>,
    /// The work is over and its flush is watched.
    pub settling: bool,
}

/// What a plan would do, without doing it.
#[derive(Clone, Debug)]
pub struct Preview {
    /// The plan made to fit this machine.
    pub resolved: Resolved,
    /// Bytes it would write, as far as that can be known beforehand; an upper bound.
    pub writes: Bytes,
    /// Some of its jobs write for a set time, as much as the device takes: that comes on top.
    pub writes_more: bool,
    /// About how long it would take; absent when only the device's speed decides.
    pub time: Option<Nanos>,
}

/// Looks at the machine and says what the plan would do. Touches nothing.
///
/// # Errors
/// A refusal when the plan can not be done here.
pub fn preview(plan: &Plan) -> Result<Preview, Error> {
    plan.check()?;
    let plan = &plan.unrolled();
    let fitted = resolve::fit(plan, &Scene::default())?;
    let writes = fitted.resolved.jobs.iter().filter_map(|job| job.writes_at_most).sum();
    let writes_more = fitted.resolved.jobs.iter().any(|job| job.writes_at_most.is_none());
    Ok(Preview { resolved: fitted.resolved, writes, writes_more, time: resolve::about(plan) })
}

/// When the run of a record began: records of one side of a comparison are put in this order.
pub fn began(record: &Record) -> Option<jiff::Timestamp> {
    record.started.parse().ok()
}

/// Does it. The record comes back whatever happens once the first phase could begin; how it ended
/// is in [`Record::ending`].
///
/// # Errors
/// A refusal when the plan can not be done here (nothing was touched), or a fault before the
/// first phase.
pub fn run(plan: &Plan, options: &Options, observer: &mut dyn Observer) -> Result<Record, Error> {
    let _run = files::run();
    let inbox = Inbox::new(&options.signals)
        .map_err(|error| Fault::new("prepare", "for signals", &error))?;
    let scene = Scene::default();
    plan.check()?;
    let plan = &plan.unrolled();
    let Fitted { resolved, mut sites, mut groves, places, descriptors } =
        resolve::fit(plan, &scene)?;
    limits::allow(descriptors)?;
    let started = jiff::Zoned::now();
    let name = format!("{}-{}", plan.origin.dialect, started.strftime("%Y%m%d-%H%M%S"));
    let sink = options.record.as_deref().map(|path| Sink::at(path, &name)).transpose()?;
    observer.resolved(&resolved);
    let eyes = Eyes::new(&scene, &resolved.subjects);
    let mut record = Record {
        schema: SCHEMA.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        run: format!("{:x}-{:x}", started.timestamp().as_second(), std::process::id()),
        started: started.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        plan: plan.clone(),
        resolved,
        machine: scene.machine(),
        phases: Vec::new(),
        ending: Ending::Unfinished,
        verdict: None,
        outcome: None,
    };
    let keep = |record: &Record| sink.as_ref().map_or(Ok(()), |sink| sink.keep(record));
    keep(&record)?;

    let mut signal = None;
    let mut otherwise = Vec::new();
    let mut first = 0;
    for (number, (phase, places)) in plan.phases.iter().zip(&places).enumerate() {
        let jobs = first..first + phase.jobs.len();
        first = jobs.end;
        if !verdict::wanted(&record, phase) {
            continue;
        }
        let paced = verdict::sweep::paced(&record, phase);
        let phase = paced.as_ref().unwrap_or(phase);
        let stage = Stage {
            plan,
            phase,
            number,
            run: &record.run,
            resolved: &record.resolved,
            jobs: &record.resolved.jobs[jobs],
            places,
            sites: &mut sites,
            groves: &mut groves,
            eyes: &eyes,
            inbox: &inbox,
            observer,
            otherwise: &mut otherwise,
            signal: &mut signal,
        };
        let done = phase::act(stage);
        record.resolved.notes.append(&mut otherwise);
        match done {
            Ok(done) => record.phases.push(done),
            Err(error) if number == 0 => return Err(error),
            Err(Error::Fault(fault)) => {
                record.ending = Ending::Failed(fault);
                break;
            }
            // What the phases before have left does not fit what this one was to do.
            Err(Error::Refusal(refusal)) => {
                record.ending = Ending::Failed(Fault {
                    doing: "begin".into(),
                    path: format!("phase '{}'", phase.name),
                    offset: None,
                    errno: 0,
                    name: String::new(),
                    text: refusal.why,
                    hint: refusal.instead,
                });
                break;
            }
        }
        verdict::judge(&mut record);
        if let Some(done) = record.phases.last() {
            observer.ended(&record, done);
            if let Some(fault) = done.faults.first() {
                record.ending = Ending::Failed(fault.clone());
            }
        }
        if let Some(signal) = signal {
            record.ending = Ending::Interrupted(signal);
        }
        keep(&record)?;
        if record.ending != Ending::Unfinished {
            break;
        }
    }
    if record.ending == Ending::Unfinished {
        record.ending = Ending::Complete;
    }
    // The files go before anybody reads about them.
    drop(sites);
    let felled = groves.iter_mut().map(|grove| grove.fell()).filter_map(Result::err).last();
    if let Some(fault) = felled
        && record.ending == Ending::Complete
    {
        record.ending = Ending::Failed(fault);
    }
    verdict::judge(&mut record);
    keep(&record)?;
    Ok(record)
}
