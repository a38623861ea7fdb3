//! A phase that is a copy: the same watching around another loop.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::copy::{self, Outcome, Side};
use crate::error::{Error, Fault};
use crate::evidence::{self, Direction, PathKind, Reading, Subject};
use crate::plan::{Action, Caching, Cold, Copy, Durability};
use crate::record::{Dropped, Evidence, Flow, Laid, PhaseRecord, Span};
use crate::stats::copy::{CopyEvent, CopyGauge};
use crate::stats::{Gauge, GaugeReading, Tally};
use crate::sys::inbox::Letter;
use crate::unit::{Bytes, Nanos, Ops};

use super::phase::{Stage, forget_machine, listen, settle_all};
use super::resolve::Place;
use super::watch::{Over, Watch};

/// What the copying thread brings home.
struct Home {
    outcome: Outcome,
    reads: Tally,
    writes: Tally,
    flushes: Tally,
}

/// Time that a copy has to notice that it was told to stop. One that hangs in a read from a pipe
/// never notices, and is left behind.
const PATIENCE: Nanos = Nanos::millis(500);

/// Does it.
pub(super) fn act(stage: &mut Stage, plan: &Copy) -> Result<PhaseRecord, Error> {
    let &[Place::Between(from, to)] = stage.places else {
        unreachable!("resolving puts a copy between two subjects")
    };
    let subjects = [&stage.resolved.subjects[from], &stage.resolved.subjects[to]];
    let ends = copy::open(plan)?;
    let stored = |subject: &Subject, end: BorrowedFd| -> Option<OwnedFd> {
        let keeps = rustix::fs::fstat(end).is_ok_and(|stat| {
            use rustix::fs::FileType;
            matches!(
                FileType::from_raw_mode(stat.st_mode),
                FileType::RegularFile | FileType::BlockDevice
            )
        });
        (keeps && subject.kind != PathKind::Stream).then(|| end.try_clone_to_owned().ok()).flatten()
    };
    let source = stored(subjects[0], ends.input());
    let target = stored(subjects[1], ends.output());
    let mut files: Vec<(String, BorrowedFd)> = Vec::new();
    for (subject, file) in subjects.iter().zip([&source, &target]) {
        files.extend(file.as_ref().map(|file| (subject.path.clone(), file.as_fd())));
    }

    if stage.phase.cold == Cold::Machine {
        forget_machine()?;
    }
    let cold = match (&source, stage.phase.cold) {
        (Some(file), Cold::Target | Cold::Machine) => vec![Dropped {
            path: subjects[0].path.clone(),
            range: Bytes(super::site::size_of_open(file.as_fd()).unwrap_or(0)),
            left: evidence::drop_cache(file.as_fd()),
        }],
        _ => Vec::new(),
    };
    let extents = source
        .as_ref()
        .filter(|_| subjects[0].kind == PathKind::File)
        .map(|file| Laid { path: subjects[0].path.clone(), extents: laid(file.as_fd()) })
        .into_iter()
        .collect();

    let mut watch = Watch::new(stage.eyes, &subjects);
    let goal = stage.jobs.first().and_then(|job| job.writes_at_most);
    watch.expect(goal, None);
    let quiet = listen(stage.eyes, stage.inbox, stage.phase.quiet, stage.signal);

    let counts = Arc::new(CopyGauge::default());
    let gauge = Arc::new(Gauge::default());
    let stop = Arc::new(AtomicBool::new(stage.signal.is_some()));
    let home: Arc<Mutex<Option<Home>>> = Arc::default();
    let (tell, told) = channel();
    let bell = || stage.inbox.bell().map_err(|error| Fault::new("prepare", "a bell", &error));
    let (bell, news) = (bell()?, bell()?);
    let progress = || {
        let mut reading = GaugeReading::default();
        gauge.take(&mut reading);
        (reading, Some(counts.snapshot()))
    };

    let before = stage.eyes.snapshot(&files);
    watch.restart();
    stage.observer.began(stage.phase, stage.number, stage.plan.phases.len());
    {
        let (counts, gauge, stop, home) =
            (counts.clone(), gauge.clone(), stop.clone(), home.clone());
        let plan = plan.clone();
        let work = move || {
            let [mut reads, mut writes, mut flushes] = <[Tally; 3]>::default();
            let sample =
                |side, bytes: usize, from: crate::unit::Instant, to: crate::unit::Instant| {
                    let (bytes, lat_ns) = (bytes as u64, to.since(from).0);
                    match side {
                        Side::Read => {
                            reads.add(bytes, bytes, lat_ns);
                            gauge.read(bytes, lat_ns);
                        }
                        Side::Write => {
                            writes.add(bytes, bytes, lat_ns);
                            gauge.write(bytes, lat_ns);
                        }
                        Side::Flush => flushes.add(0, 0, lat_ns),
                    }
                };
            let mut say = |event| {
                // Nobody listens any more when the copy was left behind.
                let _ = tell.send(event);
                news.ring();
            };
            let outcome = copy::copy(&plan, ends, &counts, &stop, &mut say, sample);
            *home.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(Home { outcome, reads, writes, flushes });
            bell.ring();
        };
        std::thread::Builder::new()
            .name("assay-copy".into())
            .spawn(work)
            .map_err(|error| Fault::new("start", "a thread", &error))?;
    }

    let hear = |told: &Receiver<CopyEvent>, stage: &mut Stage| {
        while let Ok(event) = told.try_recv() {
            stage.observer.said(&event);
        }
    };
    let taken = || home.lock().unwrap_or_else(PoisonError::into_inner).take();
    let mut came_home = None;
    while came_home.is_none() {
        match watch.until_bell(stage.inbox, &progress, false, stage.observer) {
            Over::Done => came_home = taken(),
            Over::Signal(signal) => {
                stage.signal.get_or_insert(signal);
                stop.store(true, Ordering::Relaxed);
                while let Letter::Signal(_) = stage.inbox.wait(PATIENCE) {}
                came_home = taken();
                break;
            }
        }
        hear(&told, stage);
    }
    let stop_snapshot = stage.eyes.snapshot(&files);
    hear(&told, stage);

    let now = stop_snapshot.at;
    let Home { outcome, reads, writes, flushes } = came_home.unwrap_or_else(|| Home {
        outcome: Outcome {
            counts: counts.snapshot(),
            started: watch.started(),
            stopped: now,
            flush: None,
            fault: None,
            cut_short: true,
        },
        reads: Tally::default(),
        writes: Tally::default(),
        flushes: Tally::default(),
    });
    let stopped =
        crate::unit::Instant(outcome.stopped.0 - outcome.flush.map_or(0, |flush| flush.0));
    let mut span = Span {
        started: watch.started(),
        counted: outcome.started,
        stopped,
        flushed: outcome.flush.map(|_| outcome.stopped),
        settled: None,
    };

    let durability = plan.durability();
    let mut settled = None;
    let mut settle = None;
    let mut faults: Vec<Fault> = outcome.fault.iter().cloned().collect();
    if let Some(file) = &target
        && writes.bytes > 0
        && durability == Durability::None
        && !plan.to.flags.direct
        && stage.phase.settle > Nanos::ZERO
        && stage.signal.is_none()
        && outcome.fault.is_none()
    {
        let len = super::site::size_of_open(file.as_fd()).unwrap_or(0);
        let (record, at) = settle_all(
            &[(subjects[1].path.as_str(), file.as_fd(), len)],
            stage.phase.settle,
            &mut watch,
            stage.inbox,
            &progress,
            stage.observer,
            stage.signal,
        );
        settled = Some(stage.eyes.snapshot(&files));
        span.settled = Some(at);
        settle = Some(record);
    }

    let caching = |direct| if direct { Caching::Direct } else { Caching::Buffered };
    let flow = |subject, direction, tally: &Tally, block, flags: crate::plan::EndFlags| Flow {
        subject,
        direction,
        bytes: Bytes(tally.bytes),
        calls: Ops(tally.ops),
        block,
        sequential: true,
        depth: 1,
        caching: caching(flags.direct),
        durability: match direction {
            Direction::Read => Durability::None,
            Direction::Write => durability,
        },
        short: 0,
        end_of_data: false,
    };
    let flows = vec![
        flow(from, Direction::Read, &reads, plan.input_block, plan.from.flags),
        flow(to, Direction::Write, &writes, plan.output_block, plan.to.flags),
    ];
    let time = span.time();
    let totals: BTreeMap<Action, crate::stats::Total> =
        [(Action::Read, &reads), (Action::Write, &writes), (Action::Flush, &flushes)]
            .into_iter()
            .filter(|(_, tally)| tally.ops + tally.errors > 0)
            .map(|(action, tally)| (action, tally.total(time)))
            .collect();
    if outcome.fault.is_some() {
        faults.truncate(1);
    }
    let (_, series) = watch.finish();
    Ok(PhaseRecord {
        name: stage.phase.name.clone(),
        span,
        totals,
        jobs: Vec::new(),
        copy: Some(outcome.counts),
        flows,
        series,
        evidence: Evidence { quiet, cold, extents, before, stop: stop_snapshot, settled, settle },
        faults,
        verdict: None,
    })
}

/// How a source lies on its device; without making it flush what it would not flush by itself.
fn laid(file: BorrowedFd) -> Reading<evidence::Extents> {
    let pages = evidence::pages(file);
    match pages.seen().and_then(|pages| pages.dirty) {
        Some(Bytes(0)) => {}
        Some(dirty) => return Reading::Unseen(format!("{dirty} of it are not yet on the device")),
        None => return Reading::Unseen("whether it is dirty can not be seen".into()),
    }
    match super::site::size_of_open(file) {
        Ok(size) => evidence::extents(file, 0..size),
        Err(error) => Reading::Unseen(error.to_string()),
    }
}
