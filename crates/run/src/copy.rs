//! A phase that is a copy: the same watching around another loop.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};

use assay_engine::engine::copy::{self, CopyOrders, CopyOutcome, CopyTallies};
use assay_engine::sys::block::size_of_open;
use assay_engine::sys::event_loop::{Event, EventLoop};
use assay_engine::sys::{clock, files, start};
use assay_plan::error::{Doing, Error, Fault};
use assay_plan::plan::{
    Action, CacheDrop, Caching, CopyCalls, CopyLength, CopyWork, Durability, Shared,
};
use assay_plan::stats::copy::{CopyCounts, CopyEvent, LiveCopyCounts};
use assay_plan::stats::{ActionTally, LiveCounters, LiveReading};
use assay_plan::unit::{Bytes, MIB, Nanos, Ops, Timestamp};
use assay_record::evidence::{
    self, Direction, PathKind, Reading, Subject, ThreadSample, ThreadTimes,
};
use assay_record::record::{
    ActionTotals, DroppedCache, FileExtents, Flow, IntervalCounts, JobResult, PhaseRecord,
    SampledDevice, Span, TruncatedFile, Warmths, WorkSpan,
};

use super::caches::forget_machine;
use super::flush::{WatchedFiles, in_memory, settle_all};
use super::limits::no_thread;
use super::observer::{LiveStatus, Observer};
use super::phase_context::{PhaseContext, SeenAround};
use super::resolve::JobPlace;
use super::sampler::{PhaseSampler, SamplingEnd};

/// What the copying thread brings home.
struct CopyResult {
    outcome: CopyOutcome,
    ran: Option<ThreadTimes>,
}

/// Time that a copy has to notice that it was told to stop, and to count what its last call moved.
const PATIENCE: Nanos = Nanos::millis(500);
/// One that waits for a pipe or a terminal never notices: seen so twice in a row with this between, and
/// nothing moved meanwhile, it is left behind.
const IDLE: Nanos = Nanos::millis(1);

/// Of less than this nobody watches the flush: it would take longer than the copy, and its time is that of
/// a request or two.
const WATCHED: u64 = MIB;

/// Where the copying thread stands, and where both ends can be looked at.
struct CopySeats {
    thread: i32,
    ends: [PathBuf; 2],
}

/// The copying thread as its conductor sees it. It has a descriptor table of its own, which makes
/// its calls cheaper; so it opens both ends itself, and the conductor looks at them through
/// descriptions of its own.
struct CopyThread {
    counts: Arc<LiveCopyCounts>,
    live_counters: Arc<LiveCounters>,
    stop: Arc<CopyOrders>,
    home: Arc<Mutex<Option<CopyResult>>>,
    told: Receiver<CopyEvent>,
    opened: Receiver<Result<CopySeats, Fault>>,
    go: Sender<()>,
}

impl CopyThread {
    /// Starts the thread, which opens both ends and then waits for [`CopyThread::go`].
    fn start(plan: &CopyWork, event_loop: &EventLoop) -> Result<Self, Fault> {
        let waker =
            || event_loop.waker().map_err(|error| Fault::new(Doing::Prepare, "a bell", &error));
        let (done, news) = (waker()?, waker()?);
        let (tell, told) = channel();
        let (open, opened) = channel();
        let (go, gone) = channel();
        let hand = Self {
            counts: Arc::default(),
            live_counters: Arc::default(),
            stop: Arc::default(),
            home: Arc::default(),
            told,
            opened,
            go,
        };
        let (counts, live_counters, stop, home) =
            (hand.counts.clone(), hand.live_counters.clone(), hand.stop.clone(), hand.home.clone());
        let plan = plan.clone();
        // What is sent is missed only by a conductor that has given up.
        let work = move || {
            // Without a table of its own it is only slower.
            let _ = files::own();
            let ends = copy::open(&plan);
            let seats = ends.as_ref().map_err(Clone::clone).map(|ends| {
                let thread = rustix::thread::gettid().as_raw_nonzero().get();
                let seat = |end: BorrowedFd| {
                    format!("/proc/self/task/{thread}/fd/{}", end.as_raw_fd()).into()
                };
                CopySeats { thread, ends: [ends.input(), ends.output()].map(seat) }
            });
            let _ = open.send(seats);
            done.ring();
            let (Ok(ends), Ok(())) = (ends, gone.recv()) else { return };
            let began = ThreadSample::now();
            let mut say = |event| {
                let _ = tell.send(event);
                news.ring();
            };
            let outcome = copy::copy(&plan, ends, &counts, &live_counters, &stop, &mut say);
            *home.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(CopyResult { outcome, ran: Some(began.until_now()) });
            done.ring();
        };
        if let Err(work) = start::on_first_thread(Box::new(work)) {
            let thread = std::thread::Builder::new().name("assay-copy".into());
            thread.spawn(work).map_err(|error| no_thread(&error))?;
        }
        Ok(hand)
    }

    /// Where both ends can be looked at, once they are open. A signal that comes first (a FIFO
    /// may wait for its other side for ever) is the fault EINTR.
    fn seats(
        &self,
        event_loop: &EventLoop,
        observer: &mut dyn Observer,
    ) -> Result<CopySeats, Fault> {
        loop {
            match self.opened.try_recv() {
                Ok(seats) => return seats,
                Err(TryRecvError::Disconnected) => {
                    unreachable!("the copying thread says whether it could open its ends")
                }
                Err(TryRecvError::Empty) => {}
            }
            if let Event::Signal(signal) = event_loop.wait(Nanos::secs(1))
                && !observer.asked(signal, &LiveStatus::default())
            {
                let error = std::io::Error::from_raw_os_error(libc::EINTR);
                return Err(Fault::new(Doing::Open, "the ends of the copy", &error));
            }
        }
    }

    /// What it has done so far; it tells by itself, too, where a second has passed.
    fn progress(&self) -> (LiveReading, Option<CopyCounts>) {
        self.stop.tell();
        let mut reading = LiveReading::default();
        self.live_counters.take(&mut reading);
        // The copy counts by itself; the gauge only knows what its calls took.
        let counts = self.counts.snapshot();
        reading.read_ops = counts.reads_full + counts.reads_partial;
        reading.read_bytes = counts.bytes_read;
        reading.write_ops = counts.writes_full + counts.writes_partial;
        reading.write_bytes = counts.bytes_written;
        (reading, Some(counts))
    }

    /// What it brought home, if it came.
    fn home(&self) -> Option<CopyResult> {
        self.home.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Watches it until it comes home. `None` when a signal came and it does not notice.
    fn awaited(
        &self,
        thread: i32,
        context: &mut PhaseContext,
        watch: &mut PhaseSampler,
    ) -> Option<CopyResult> {
        let progress = || self.progress();
        loop {
            match watch.until_bell(context.event_loop, &progress, false, context.observer) {
                SamplingEnd::Done => {
                    let home = self.home();
                    self.pass_on(context.observer);
                    if home.is_some() {
                        return home;
                    }
                }
                SamplingEnd::Signal(signal) => {
                    context.signal.get_or_insert(signal);
                    self.stop.stop();
                    return self.home_soon(thread, context.event_loop);
                }
            }
        }
    }

    /// What it brings home within [`PATIENCE`], unless it waits for what may never come.
    fn home_soon(&self, thread: i32, event_loop: &EventLoop) -> Option<CopyResult> {
        let until = clock::now() + PATIENCE;
        let mut idle = 0;
        let mut home = None;
        let mut counts = self.counts.snapshot();
        while home.is_none() && idle < 2 && clock::now() < until {
            event_loop.wait(IDLE);
            let before = std::mem::replace(&mut counts, self.counts.snapshot());
            let waits = evidence::waits_idly(thread) == Some(true) && counts == before;
            idle = if waits { idle + 1 } else { 0 };
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
    fn lost(&self, started: Timestamp, stopped: Timestamp) -> CopyResult {
        let counts = self.counts.snapshot();
        let tally = |bytes, ops| ActionTally { bytes, ops, ..ActionTally::default() };
        CopyResult {
            outcome: CopyOutcome {
                counts,
                tallies: CopyTallies {
                    reads: tally(counts.bytes_read, counts.reads_full + counts.reads_partial),
                    writes: tally(counts.bytes_written, counts.writes_full + counts.writes_partial),
                    flushes: ActionTally::default(),
                },
                started,
                stopped,
                flush: None,
                direct_until: None,
                fault: None,
                cut_short: true,
                otherwise: Vec::new(),
            },
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
pub(super) fn act(context: &mut PhaseContext, plan: &CopyWork) -> Result<PhaseRecord, Error> {
    let &[JobPlace::Between(from, to)] = context.places else {
        unreachable!("resolving puts a copy between two subjects")
    };
    let subjects = [&context.resolved.subjects[from], &context.resolved.subjects[to]];
    let hand = CopyThread::start(plan, context.event_loop)?;
    let CopySeats { thread, ends: [input, output] } =
        hand.seats(context.event_loop, context.observer)?;
    let looked_at = |subject: &Subject, seat: &Path| {
        context.counter_reader.looks().then(|| stored(subject, seat)).flatten()
    };
    let source = looked_at(subjects[0], &input);
    let target = looked_at(subjects[1], &output);
    let mut files: Vec<(String, BorrowedFd)> = Vec::new();
    for (subject, file) in subjects.iter().zip([&source, &target]) {
        files.extend(file.as_ref().map(|file| (subject.path.clone(), file.as_fd())));
    }

    let cold = forgotten(context.phase.cold, subjects[0], source.as_ref())?;
    let extents = source
        .as_ref()
        .filter(|_| subjects[0].kind == PathKind::File)
        .map(|file| FileExtents { path: subjects[0].path.clone(), extents: laid(file.as_fd()) })
        .into_iter()
        .collect();

    let sampled = sampled(plan, subjects[0], source.as_ref());
    let onto = target
        .as_ref()
        .filter(|_| subjects[1].kind != PathKind::Device)
        .map(|file| FileExtents { path: subjects[1].path.clone(), extents: laid(file.as_fd()) })
        .into_iter()
        .collect();
    let warm = context.counter_reader.warmth();

    let mut watch = PhaseSampler::new(context.counter_reader, &subjects);
    let goal = context.jobs.first().and_then(|job| job.writes_at_most);
    watch.expect(goal, None);
    watch.limits_were(&context.resolved.limits, context.number == 0);
    let ends = subjects.iter().zip([plan.from.flags, plan.to.flags]);
    watch.all_direct(ends.into_iter().all(|(end, flags)| end.stack.is_empty() || flags.direct));
    watch.look_at_thread(thread);
    let quiet = context.listen();
    if context.signal.is_some() {
        hand.stop.stop();
    }
    let progress = || hand.progress();

    let length = source.as_ref().and_then(|file| size_of_open(file.as_fd()).ok());
    let before = context.counter_reader.snapshot(&files);
    watch.restart();
    context.observer.began(context.phase, context.number, context.plan.phases.len());
    // It waits for this: it has not gone away.
    let _ = hand.go.send(());
    let home = hand.awaited(thread, context, &mut watch);
    let stop_snapshot = context.counter_reader.snapshot(&files);
    let warmth = Warmths { before: warm, after: context.counter_reader.warmth() };
    hand.pass_on(context.observer);
    let CopyResult { mut outcome, ran } =
        home.unwrap_or_else(|| hand.lost(watch.started(), stop_snapshot.at));
    context.otherwise.append(&mut outcome.otherwise);
    let CopyTallies { reads, writes, flushes } = outcome.tallies;
    let mut span = Span {
        started: watch.started(),
        counted: outcome.started,
        stopped: Timestamp(outcome.stopped.0 - outcome.flush.map_or(0, |flush| flush.0)),
        paused: Nanos::ZERO,
        flushed: outcome.flush.map(|_| outcome.stopped),
        closed: None,
        settled: None,
    };

    let mut settled = None;
    let mut settle = None;
    let mut faults: Vec<Fault> = outcome.fault.iter().cloned().collect();
    if let Some(file) = &target
        && writes.bytes >= WATCHED
        && plan.durability() == Durability::None
        && !plan.to.flags.direct
        && context.phase.settle > Nanos::ZERO
        && context.signal.is_none()
        && outcome.fault.is_none()
    {
        let len = size_of_open(file.as_fd()).unwrap_or(0);
        let (record, at) = settle_all(
            WatchedFiles {
                files: &[(subjects[1].path.as_str(), file.as_fd(), Some(len))],
                stopped: stop_snapshot.at,
                longest: context.phase.settle,
            },
            &mut watch,
            context.event_loop,
            &progress,
            context.observer,
            context.signal,
        );
        // The source is as it was, and so is what lies in memory: each look goes through all pages.
        let changed = (!in_memory(&file.as_fd())).then(|| (subjects[1].path.clone(), file.as_fd()));
        settled = Some(context.counter_reader.snapshot(changed.as_slice()));
        span.settled = Some(at);
        settle = Some(record);
    }

    let copied = target
        .as_ref()
        .filter(|_| plan.calls == CopyCalls::CopyFileRange)
        .map(|file| laid(file.as_fd()));
    let cut =
        target.as_ref().and_then(|file| cut(plan, subjects[1], file.as_fd(), &outcome.counts));
    let shrunk = source.as_ref().zip(length).and_then(|(file, length)| {
        let ended = context.signal.is_none() && outcome.fault.is_none() && !plan.keep_going;
        shrunk(plan, subjects[0], file.as_fd(), (Bytes(length), ended), &outcome.counts)
    });
    let cut = cut.into_iter().chain(shrunk).collect();
    let mut written = flow(plan, to, Direction::Write, &writes);
    if let Some(until) = outcome.direct_until {
        written.buffered = written.bytes.less(Bytes(until));
        // By itself, as GNU dd does it.
        if outcome.flush.is_some() && written.durability == Durability::None {
            written.durability = Durability::FsyncAtEnd;
        }
    }
    let flows = vec![flow(plan, from, Direction::Read, &reads), written];
    let time = span.time();
    let totals: Shared<ActionTotals> =
        [(Action::Read, &reads), (Action::Write, &writes), (Action::Flush, &flushes)]
            .into_iter()
            .filter(|(_, tally)| tally.ops + tally.errors > 0)
            .map(|(action, tally)| (action, Box::new(tally.total(time))))
            .collect();
    if outcome.fault.is_some() {
        faults.truncate(1);
    }
    let jobs = vec![JobResult {
        name: context.phase.jobs[0].name.clone(),
        span: Some(WorkSpan {
            started: span.started,
            counted: span.counted,
            stopped: span.stopped,
        }),
        totals: totals.clone(),
        priorities: Vec::new(),
        cpu: None,
        depth: None,
        costs: None,
        series: IntervalCounts::new(),
        faults: faults.clone(),
        phantom: None,
        passed: None,
        wrong: Vec::new(),
        workers: Vec::new(),
    }];
    let seen = SeenAround {
        quiet,
        cold,
        extents,
        onto,
        sampled,
        cut,
        limits: context.limits_after(&span),
        before,
        stop: stop_snapshot,
        settled,
        settle,
        warmth,
    };
    let mut done = context.record(span, jobs, flows, faults, watch.finish(), seen);
    (done.totals, done.copy) = (totals, Some(outcome.counts));
    (done.evidence.ran, done.evidence.copied) = (ran, copied.map(Box::new));
    Ok(done)
}

/// Puts out of memory what the phase wants out of it, and says what stayed of the input.
fn forgotten(
    cold: CacheDrop,
    subject: &Subject,
    source: Option<&OwnedFd>,
) -> Result<Vec<DroppedCache>, Error> {
    if cold == CacheDrop::Machine {
        forget_machine()?;
    }
    let source = source.filter(|_| matches!(cold, CacheDrop::Target | CacheDrop::Machine));
    let dropped = source.map(|file| DroppedCache {
        path: subject.path.clone(),
        range: Bytes(size_of_open(file.as_fd()).unwrap_or(0)),
        left: evidence::drop_cache(file.as_fd()),
    });
    Ok(dropped.into_iter().collect())
}

/// What one end has moved.
fn flow(plan: &CopyWork, subject: usize, direction: Direction, tally: &ActionTally) -> Flow {
    let (block, flags, durability) = match direction {
        Direction::Read => (plan.input_block, plan.from.flags, Durability::None),
        Direction::Write => (plan.output_block, plan.to.flags, plan.durability()),
    };
    Flow {
        subject,
        job: 0,
        direction,
        bytes: Bytes(tally.bytes),
        calls: Ops(tally.ops),
        block,
        sequential: true,
        depth: 1,
        caching: if flags.direct { Caching::Direct } else { Caching::Buffered },
        durability,
        written_out: false,
        buffered: Bytes::ZERO,
        short: 0,
        end_of_data: false,
    }
}

/// What lies on a bare device that is the input.
fn sampled(plan: &CopyWork, subject: &Subject, source: Option<&OwnedFd>) -> Vec<SampledDevice> {
    let Some(file) = source.filter(|_| subject.kind == PathKind::Device) else { return Vec::new() };
    let bytes = |extent: CopyLength| extent.in_bytes(plan.input_block).0;
    let end = size_of_open(file.as_fd()).unwrap_or(0);
    let start = bytes(plan.skip).min(end);
    let end = plan.count.map_or(end, |count| start.saturating_add(bytes(count)).min(end));
    let samples = evidence::samples(file.as_fd(), start..end);
    vec![SampledDevice { path: subject.path.clone(), samples }]
}

/// Whether somebody has made the output shorter than it was written. Where it was written from is
/// left out of account, and so is what a sparse copy has only passed over.
fn cut(
    plan: &CopyWork,
    subject: &Subject,
    file: BorrowedFd,
    counts: &CopyCounts,
) -> Option<TruncatedFile> {
    let (written, left) = (Bytes(counts.bytes_written), Bytes(size_of_open(file).ok()?));
    let path = subject.path.clone();
    (left < written && !plan.sparse).then_some(TruncatedFile { path, written, left })
}

/// Whether somebody has made the input shorter before all of it was read, so that the copy `ended` early. It may be as
/// long as it was again.
fn shrunk(
    plan: &CopyWork,
    subject: &Subject,
    file: BorrowedFd,
    (length, ended): (Bytes, bool),
    counts: &CopyCounts,
) -> Option<TruncatedFile> {
    let in_bytes = |extent: CopyLength| extent.in_bytes(plan.input_block).0;
    let left = Bytes(size_of_open(file).ok()?);
    let there = length.0.saturating_sub(in_bytes(plan.skip));
    let wanted = plan.count.map_or(there, |count| in_bytes(count).min(there));
    let early = (left < length || ended) && counts.bytes_read < wanted;
    let read_to = Bytes(in_bytes(plan.skip).saturating_add(counts.bytes_read));
    let left = if left < length { left } else { read_to };
    (early && subject.kind == PathKind::File).then(|| TruncatedFile {
        path: subject.path.clone(),
        written: length,
        left,
    })
}

/// How a file lies on its device, as it is.
fn laid(file: BorrowedFd) -> Reading<evidence::Extents> {
    match size_of_open(file) {
        Ok(size) => evidence::extents(file, 0..size),
        Err(error) => Reading::Unseen(error.to_string()),
    }
}
