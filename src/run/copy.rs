//! A phase that is a copy: the same watching around another loop.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};

use crate::engine::copy::{self, Outcome, Side};
use crate::error::{Error, Fault};
use crate::evidence::{self, Direction, Glance, PathKind, Ran, Reading, Subject};
use crate::plan::{Action, Caching, Cold, Copy, CopyCalls, Durability, Extent};
use crate::record::{Cut, Dropped, Evidence, Flow, Laid, PhaseRecord, Sampled, Span, Warmths};
use crate::stats::copy::{CopyCounts, CopyEvent, CopyGauge};
use crate::stats::{Gauge, GaugeReading, Tally, Total};
use crate::sys::block::size_of_open;
use crate::sys::inbox::{Inbox, Letter};
use crate::sys::{clock, files};
use crate::unit::{Bytes, Instant, Nanos, Ops};

use super::cold::forget_machine;
use super::phase::Stage;
use super::resolve::Place;
use super::settle::settle_all;
use super::watch::{Over, Watch};
use super::{Observer, copying};

/// What the copying thread brings home.
struct Home {
    outcome: Outcome,
    reads: Tally,
    writes: Tally,
    flushes: Tally,
    /// How its thread ran.
    ran: Option<Ran>,
}

/// Time that a copy has to notice that it was told to stop. One that hangs in a read from a pipe
/// never notices, and is left behind.
const PATIENCE: Nanos = Nanos::millis(500);

/// The copying thread as its conductor sees it. It has a descriptor table of its own, which makes
/// its calls cheaper; so it opens both ends itself, and the conductor looks at them through
/// descriptions of its own.
struct Hand {
    counts: Arc<CopyGauge>,
    gauge: Arc<Gauge>,
    stop: Arc<AtomicBool>,
    home: Arc<Mutex<Option<Home>>>,
    told: Receiver<CopyEvent>,
    opened: Receiver<Result<[PathBuf; 2], Fault>>,
    go: Sender<()>,
}

impl Hand {
    /// Starts the thread, which opens both ends and then waits for [`Hand::go`].
    fn start(plan: &Copy, inbox: &Inbox) -> Result<Self, Fault> {
        let bell = || inbox.bell().map_err(|error| Fault::new("prepare", "a bell", &error));
        let (done, news) = (bell()?, bell()?);
        let (tell, told) = channel();
        let (open, opened) = channel();
        let (go, gone) = channel();
        let hand = Self {
            counts: Arc::default(),
            gauge: Arc::default(),
            stop: Arc::default(),
            home: Arc::default(),
            told,
            opened,
            go,
        };
        let (counts, gauge, stop, home) =
            (hand.counts.clone(), hand.gauge.clone(), hand.stop.clone(), hand.home.clone());
        let plan = plan.clone();
        // What is sent is missed only by a conductor that has given up.
        let work = move || {
            // Without a table of its own it is only slower.
            let _ = files::own();
            let ends = copy::open(&plan);
            let seats = ends.as_ref().map_err(Clone::clone).map(|ends| {
                let thread = rustix::thread::gettid().as_raw_nonzero();
                [ends.input(), ends.output()]
                    .map(|end| format!("/proc/self/task/{thread}/fd/{}", end.as_raw_fd()).into())
            });
            let _ = open.send(seats);
            done.ring();
            let (Ok(ends), Ok(())) = (ends, gone.recv()) else { return };
            let began = Glance::now();
            let [mut reads, mut writes, mut flushes] = <[Tally; 3]>::default();
            let sample = |side, bytes: usize, time: Option<Nanos>| {
                let bytes = bytes as u64;
                let tally = match side {
                    Side::Read => &mut reads,
                    Side::Write => &mut writes,
                    Side::Flush => &mut flushes,
                };
                match time {
                    Some(time) => {
                        tally.add(bytes, bytes, time.0);
                        gauge.latency(time.0);
                    }
                    None => tally.add_untimed(bytes),
                }
            };
            let mut say = |event| {
                let _ = tell.send(event);
                news.ring();
            };
            let outcome = copy::copy(&plan, ends, &counts, &stop, &mut say, sample);
            *home.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(Home { outcome, reads, writes, flushes, ran: Some(began.until_now()) });
            done.ring();
        };
        std::thread::Builder::new()
            .name("assay-copy".into())
            .spawn(work)
            .map_err(|error| Fault::new("start", "a thread", &error))?;
        Ok(hand)
    }

    /// Where both ends can be looked at, once they are open. A signal that comes first (a FIFO
    /// may wait for its other side for ever) is the fault EINTR.
    fn seats(&self, inbox: &Inbox) -> Result<[PathBuf; 2], Fault> {
        loop {
            match self.opened.try_recv() {
                Ok(seats) => return seats,
                Err(TryRecvError::Disconnected) => {
                    unreachable!("the copying thread says whether it could open its ends")
                }
                Err(TryRecvError::Empty) => {}
            }
            if let Letter::Signal(_) = inbox.wait(Nanos::secs(1)) {
                let error = std::io::Error::from_raw_os_error(libc::EINTR);
                return Err(Fault::new("open", "the ends of the copy", &error));
            }
        }
    }

    /// What it has done so far.
    fn progress(&self) -> (GaugeReading, Option<CopyCounts>) {
        let mut reading = GaugeReading::default();
        self.gauge.take(&mut reading);
        // The copy counts by itself; the gauge only knows what its calls took.
        let counts = self.counts.snapshot();
        reading.read_ops = counts.reads_full + counts.reads_partial;
        reading.read_bytes = counts.bytes_read;
        reading.write_ops = counts.writes_full + counts.writes_partial;
        reading.write_bytes = counts.bytes_written;
        (reading, Some(counts))
    }

    /// What it brought home, if it came.
    fn home(&self) -> Option<Home> {
        self.home.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Watches it until it comes home. `None` when a signal came and it does not notice.
    fn awaited(&self, stage: &mut Stage, watch: &mut Watch) -> Option<Home> {
        let progress = || self.progress();
        loop {
            match watch.until_bell(stage.inbox, &progress, false, stage.observer) {
                Over::Done => {
                    let home = self.home();
                    self.pass_on(stage.observer);
                    if home.is_some() {
                        return home;
                    }
                }
                Over::Signal(signal) => {
                    stage.signal.get_or_insert(signal);
                    self.stop.store(true, Ordering::Relaxed);
                    return self.home_soon(stage.inbox);
                }
            }
        }
    }

    /// What it brings home within [`PATIENCE`].
    fn home_soon(&self, inbox: &Inbox) -> Option<Home> {
        let until = clock::now() + PATIENCE;
        let mut home = None;
        while home.is_none() && clock::now() < until {
            inbox.wait(until.since(clock::now()));
            home = self.home();
        }
        home
    }

    /// Tells the observer what it has said.
    fn pass_on(&self, observer: &mut dyn Observer) {
        while let Ok(event) = self.told.try_recv() {
            observer.said(&event);
        }
    }

    /// What is known of a copy that never came home.
    fn lost(&self, started: Instant, stopped: Instant) -> Home {
        let counts = self.counts.snapshot();
        let tally = |bytes, ops| Tally { bytes, ops, ..Tally::default() };
        Home {
            outcome: Outcome {
                counts,
                started,
                stopped,
                flush: None,
                fault: None,
                cut_short: true,
                otherwise: Vec::new(),
            },
            reads: tally(counts.bytes_read, counts.reads_full + counts.reads_partial),
            writes: tally(counts.bytes_written, counts.writes_full + counts.writes_partial),
            flushes: Tally::default(),
            ran: None,
        }
    }
}

/// A description of our own of what stands at a seat, if it is stored: a file or a block device.
fn stored(subject: &Subject, seat: &Path) -> Option<OwnedFd> {
    use std::os::unix::fs::FileTypeExt as _;
    let kind = std::fs::metadata(seat).ok()?.file_type();
    let keeps = subject.kind != PathKind::Stream && (kind.is_file() || kind.is_block_device());
    keeps.then(|| std::fs::File::open(seat).ok().map(OwnedFd::from)).flatten()
}

/// Does it.
pub(super) fn act(stage: &mut Stage, plan: &Copy) -> Result<PhaseRecord, Error> {
    let &[Place::Between(from, to)] = stage.places else {
        unreachable!("resolving puts a copy between two subjects")
    };
    let subjects = [&stage.resolved.subjects[from], &stage.resolved.subjects[to]];
    let hand = Hand::start(plan, stage.inbox)?;
    let [input, output] = hand.seats(stage.inbox)?;
    let source = stored(subjects[0], &input);
    let target = stored(subjects[1], &output);
    let mut files: Vec<(String, BorrowedFd)> = Vec::new();
    for (subject, file) in subjects.iter().zip([&source, &target]) {
        files.extend(file.as_ref().map(|file| (subject.path.clone(), file.as_fd())));
    }

    let cold = forgotten(stage.phase.cold, subjects[0], source.as_ref())?;
    let extents = source
        .as_ref()
        .filter(|_| subjects[0].kind == PathKind::File)
        .map(|file| Laid { path: subjects[0].path.clone(), extents: laid(file.as_fd()) })
        .into_iter()
        .collect();

    let sampled = sampled(plan, subjects[0], source.as_ref());
    let onto = target
        .as_ref()
        .filter(|_| subjects[1].kind != PathKind::Device)
        .map(|file| Laid { path: subjects[1].path.clone(), extents: laid_now(file.as_fd()) })
        .into_iter()
        .collect();
    let warm = stage.eyes.warmth();

    let mut watch = Watch::new(stage.eyes, &subjects);
    let goal = stage.jobs.first().and_then(|job| job.writes_at_most);
    watch.expect(goal, None);
    let quiet = stage.listen();
    hand.stop.store(stage.signal.is_some(), Ordering::Relaxed);
    let progress = || hand.progress();

    let before = stage.eyes.snapshot(&files);
    watch.restart();
    stage.observer.began(stage.phase, stage.number, stage.plan.phases.len());
    // It waits for this: it has not gone away.
    let _ = hand.go.send(());
    let home = hand.awaited(stage, &mut watch);
    let stop_snapshot = stage.eyes.snapshot(&files);
    let warmth = Some(Warmths { before: warm, after: stage.eyes.warmth() });
    hand.pass_on(stage.observer);
    let Home { mut outcome, reads, writes, flushes, ran } =
        home.unwrap_or_else(|| hand.lost(watch.started(), stop_snapshot.at));
    stage.otherwise.append(&mut outcome.otherwise);
    let mut span = Span {
        started: watch.started(),
        counted: outcome.started,
        stopped: Instant(outcome.stopped.0 - outcome.flush.map_or(0, |flush| flush.0)),
        flushed: outcome.flush.map(|_| outcome.stopped),
        closed: None,
        settled: None,
    };

    let mut settled = None;
    let mut settle = None;
    let mut faults: Vec<Fault> = outcome.fault.iter().cloned().collect();
    if let Some(file) = &target
        && writes.bytes > 0
        && plan.durability() == Durability::None
        && !plan.to.flags.direct
        && stage.phase.settle > Nanos::ZERO
        && stage.signal.is_none()
        && outcome.fault.is_none()
    {
        let len = size_of_open(file.as_fd()).unwrap_or(0);
        let (record, at) = settle_all(
            &[(subjects[1].path.as_str(), file.as_fd(), Some(len))],
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

    let copied = target
        .as_ref()
        .filter(|_| plan.calls == CopyCalls::CopyFileRange)
        .map(|file| laid(file.as_fd()));
    let cut =
        target.as_ref().and_then(|file| cut(plan, subjects[1], file.as_fd(), &outcome.counts));
    let cut = cut.into_iter().collect();
    let flows =
        vec![flow(plan, from, Direction::Read, &reads), flow(plan, to, Direction::Write, &writes)];
    let time = span.time();
    let totals: BTreeMap<Action, Total> =
        [(Action::Read, &reads), (Action::Write, &writes), (Action::Flush, &flushes)]
            .into_iter()
            .filter(|(_, tally)| tally.ops + tally.errors > 0)
            .map(|(action, tally)| (action, tally.total(time)))
            .collect();
    if outcome.fault.is_some() {
        faults.truncate(1);
    }
    let (series, neighbours) = watch.finish();
    let copying = copying::around(&stage.resolved.subjects, &flows, &span);
    Ok(PhaseRecord {
        name: stage.phase.name.clone(),
        span,
        totals,
        cpu: None,
        depth: None,
        steady: Vec::new(),
        heat: Vec::new(),
        each: Vec::new(),
        census: None,
        jobs: Vec::new(),
        copy: Some(outcome.counts),
        flows,
        series,
        evidence: Evidence {
            quiet,
            cold,
            extents,
            onto,
            copied,
            unsure: Vec::new(),
            sampled,
            cut,
            ran,
            before,
            stop: stop_snapshot,
            settled,
            settle,
            warmth,
            copying,
            aftermath: None,
            neighbours,
        },
        faults,
        verdict: None,
    })
}

/// Puts out of memory what the phase wants out of it, and says what stayed of the input.
fn forgotten(
    cold: Cold,
    subject: &Subject,
    source: Option<&OwnedFd>,
) -> Result<Vec<Dropped>, Error> {
    if cold == Cold::Machine {
        forget_machine()?;
    }
    let source = source.filter(|_| matches!(cold, Cold::Target | Cold::Machine));
    let dropped = source.map(|file| Dropped {
        path: subject.path.clone(),
        range: Bytes(size_of_open(file.as_fd()).unwrap_or(0)),
        left: evidence::drop_cache(file.as_fd()),
    });
    Ok(dropped.into_iter().collect())
}

/// What one end has moved.
fn flow(plan: &Copy, subject: usize, direction: Direction, tally: &Tally) -> Flow {
    let (block, flags, durability) = match direction {
        Direction::Read => (plan.input_block, plan.from.flags, Durability::None),
        Direction::Write => (plan.output_block, plan.to.flags, plan.durability()),
    };
    Flow {
        subject,
        direction,
        bytes: Bytes(tally.bytes),
        calls: Ops(tally.ops),
        block,
        sequential: true,
        depth: 1,
        caching: if flags.direct { Caching::Direct } else { Caching::Buffered },
        durability,
        written_out: false,
        short: 0,
        end_of_data: false,
    }
}

/// What lies on a bare device that is the input.
fn sampled(plan: &Copy, subject: &Subject, source: Option<&OwnedFd>) -> Vec<Sampled> {
    let Some(file) = source.filter(|_| subject.kind == PathKind::Device) else { return Vec::new() };
    let bytes = |extent: Extent| {
        let whole = extent.blocks.saturating_mul(plan.input_block.0);
        whole.saturating_add(extent.bytes.0)
    };
    let end = size_of_open(file.as_fd()).unwrap_or(0);
    let start = bytes(plan.skip).min(end);
    let end = plan.count.map_or(end, |count| start.saturating_add(bytes(count)).min(end));
    let samples = evidence::samples(file.as_fd(), start..end);
    vec![Sampled { path: subject.path.clone(), samples }]
}

/// Whether somebody has made the output shorter than it was written. Where it was written from is
/// left out of account, and so is what a sparse copy has only passed over.
fn cut(plan: &Copy, subject: &Subject, file: BorrowedFd, counts: &CopyCounts) -> Option<Cut> {
    let (written, left) = (Bytes(counts.bytes_written), Bytes(size_of_open(file).ok()?));
    let path = subject.path.clone();
    (left < written && !plan.sparse).then_some(Cut { path, written, left })
}

/// How a file that will be written lies on its device, as it is.
fn laid_now(file: BorrowedFd) -> Reading<evidence::Extents> {
    match size_of_open(file) {
        Ok(size) => evidence::extents_now(file, 0..size),
        Err(error) => Reading::Unseen(error.to_string()),
    }
}

/// How a file lies on its device; without making it flush what it would not flush by itself.
fn laid(file: BorrowedFd) -> Reading<evidence::Extents> {
    let pages = evidence::pages(file);
    match pages.seen().and_then(|pages| pages.dirty) {
        Some(Bytes(0)) => {}
        Some(dirty) => return Reading::Unseen(format!("{dirty} of it are not yet on the device")),
        None => return Reading::Unseen("whether it is dirty can not be seen".into()),
    }
    match size_of_open(file) {
        Ok(size) => evidence::extents(file, 0..size),
        Err(error) => Reading::Unseen(error.to_string()),
    }
}
