//! A record of `modes` made by hand: 256 MiB in calls of 1 MiB on a drive, each way as fast, and with
//! such requests, as it is told.

use std::path::Path;

use assay::cli::modes::{self, ModesOptions};
use assay::cli::quick::PathType;
use assay_plan::plan::{Action, Caching, Plan, Work};
use assay_plan::stats::ActionTally;
use assay_plan::unit::{Bytes, MIB, Nanos, Ops, Timestamp};
use assay_record::evidence::{
    Cpu, Direction, DiskCounters, LayerKind, Limits, Reading, Snapshot, Subject,
};
use assay_record::record::{Flow, PhaseRecord, Record, Span, WatchedFlush};

/// Bytes that each way moves.
const MOVED: Bytes = Bytes::mib(256);
/// Calls that takes.
const CALLS: u64 = 256;
/// The disk that the path names.
const DISK: &str = "sda";

/// What one way came to.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// Bytes per second until the last call had returned.
    pub app: f64,
    /// Bytes per second with the flush that follows.
    pub durable: f64,
    /// Mean size of a request.
    pub size: Bytes,
    /// Requests in flight on average.
    pub depth: f64,
    /// Share of the time with a request in flight.
    pub work: f64,
    /// Flushes.
    pub flushes: u64,
    /// Share of the time in them.
    pub flushing: f64,
    /// Bytes read while it writes.
    pub against: Bytes,
    /// CPU time of the program, as a share of the time of the calls.
    pub cpu: f64,
}

/// The queue is kept full by writeback.
pub const FULL: Way = Way {
    app: 900e6,
    durable: 117e6,
    size: Bytes::kib(482),
    depth: 31.0,
    work: 0.98,
    flushes: 1,
    flushing: 0.004,
    against: Bytes::ZERO,
    cpu: 0.2,
};

/// One call after the other, with a pause between them.
pub const ONE: Way = Way {
    app: 86e6,
    durable: 86e6,
    size: Bytes::mib(1),
    depth: 0.72,
    work: 0.72,
    flushes: 0,
    flushing: 0.0,
    against: Bytes::ZERO,
    cpu: 0.05,
};

/// One call after the other, each flushed.
pub const EACH: Way = Way {
    app: 30e6,
    durable: 30e6,
    flushes: CALLS,
    flushing: 0.65,
    work: 0.30,
    depth: 0.30,
    ..ONE
};

/// Where an article measured direct I/O at 86 MB/s and fsync at 117 MB/s.
pub fn usual(phase: &str) -> Way {
    match phase.rsplit_once("1m-").map_or("", |(_, way)| way) {
        "none" => Way { app: 1_100e6, durable: 116e6, flushes: 0, ..FULL },
        "fsync" => FULL,
        "fdatasync" => Way { durable: 115.6e6, ..FULL },
        "sync" => Way { app: 24e6, durable: 24e6, flushes: 2 * CALLS, flushing: 0.71, ..EACH },
        "direct" if phase.starts_with("write") => ONE,
        "direct-dsync" => Way { app: 31e6, durable: 31e6, ..EACH },
        "mmap-msync" => Way { app: 29e6, durable: 29e6, size: Bytes::kib(128), ..EACH },
        "buffered" => Way { app: 118e6, size: Bytes::kib(128), depth: 2.1, work: 0.99, ..ONE },
        "direct" => Way { app: 95e6, depth: 0.8, work: 0.8, ..ONE },
        "mmap" => Way { app: 60e6, size: Bytes::kib(64), depth: 0.9, work: 0.9, ..ONE },
        _ => EACH,
    }
}

fn plan() -> Plan {
    let options = ModesOptions {
        each: Nanos::secs(2),
        blocks: vec![Bytes(MIB)],
        size: None,
        keep: false,
        again: Vec::new(),
        seed: 7,
        words: ["/mnt/hd", "--block", "1M"].map(String::from).into(),
    };
    modes::plan(Path::new("/mnt/hd"), PathType::Folder, &options).expect("a plan")
}

/// The whole record, judged.
pub fn record(way: impl Fn(&str) -> Way) -> Record {
    let plan = plan();
    let mut disk = super::layer(DISK, 0, LayerKind::Disk, true, 500_107_862_016);
    disk.hardware.bus = "sata".into();
    let subject = Subject {
        path: "/mnt/hd".into(),
        stack: vec![disk],
        mount: Reading::Seen(super::mount("/mnt/hd", "ext4", "rw,relatime")),
        ..super::card_subject("/mnt/hd")
    };
    let limits = Reading::Seen(Limits::default());
    let mut resolved = super::resolved(&plan, subject, limits, Caching::Buffered);
    for (job, planned) in resolved.jobs.iter_mut().zip(&plan.phases) {
        let Work::Blocks(blocks) = &planned.jobs[0].work else { panic!("blocks") };
        job.method = blocks.method;
        job.size = MOVED;
        job.writes_at_most = blocks.pattern.mix.writes().then_some(Bytes::mib(1024));
        if blocks.caching == Caching::DirectIfReal {
            job.caching = Caching::Direct;
        }
    }
    let mut phases = Vec::new();
    let mut started = Timestamp(1_000_000_000);
    for planned in &plan.phases {
        let Work::Blocks(blocks) = &planned.jobs[0].work else { panic!("blocks") };
        let caching = resolved.jobs[phases.len()].caching;
        let promised = blocks.durability;
        let phase = phase(&planned.name, started, &way(&planned.name), |flow| {
            flow.caching = caching;
            flow.durability = promised;
        });
        started = phase.span.settled.unwrap_or(phase.span.ended()) + Nanos::millis(300);
        phases.push(phase);
    }
    let unjudged = super::sound(assay_record::record::MeasuredSubject::Device, "");
    let mut record = super::record(plan, resolved, phases, unjudged);
    assay_judge::judge(&mut record);
    record
}

/// One phase of it.
fn phase(
    name: &str,
    started: Timestamp,
    way: &Way,
    promise: impl FnOnce(&mut Flow),
) -> PhaseRecord {
    let write = !name.starts_with("read");
    let action = if write { Action::Write } else { Action::Read };
    let shape = super::Shape {
        name: "",
        action,
        block: Bytes(MIB),
        depth: 1,
        rate: way.app,
        seconds: 1,
        device: DISK,
    };
    let mut phase = super::phase(&shape, started);
    phase.name = name.into();
    phase.series.points.clear();
    let calls = Nanos::from_secs(MOVED.0 as f64 / way.app);
    let all = Nanos::from_secs(MOVED.0 as f64 / way.durable).max(calls);
    let mut tally = ActionTally::default();
    (0..CALLS).for_each(|_| tally.add(MIB, MIB, calls.0 / CALLS));
    let flow = &mut phase.flows[0];
    (flow.bytes, flow.calls) = (MOVED, Ops(CALLS));
    promise(flow);
    let (later, flushed) = (!flow.durability.durable() && write, flow.durability.flushes_at_end());
    let (stopped, over) = (started + calls, started + all);
    phase.totals = [(action, Box::new(tally.total(if later { calls } else { all })))].into();
    phase.span = Span {
        started,
        counted: started,
        stopped,
        paused: Nanos::ZERO,
        flushed: flushed.then_some(over),
        settled: later.then_some(over),
        closed: None,
    };
    let edge = |at: Timestamp, done: bool, dirty: Bytes| -> Snapshot {
        let none = || DiskCounters { flushes: Some(0), flush_ms: Some(0), ..Default::default() };
        let counters = if done { counters(way, write, all) } else { none() };
        let mut edge = super::snapshot(at, DISK, counters, "/mnt/hd", dirty.0);
        let spent = Nanos((at.since(started).0 as f64 * way.cpu) as u64);
        edge.cpu = Reading::Seen(Cpu { user: spent, ..Cpu::default() });
        edge
    };
    let buffered = phase.flows[0].caching == Caching::Buffered;
    let left = if later && buffered { MOVED } else { Bytes::ZERO };
    let evidence = &mut phase.evidence;
    evidence.before = edge(started, false, Bytes::ZERO);
    evidence.stop = edge(if later { stopped } else { over }, left == Bytes::ZERO, left);
    if later {
        evidence.settled = Some(edge(over, true, Bytes::ZERO).into());
        evidence.settle =
            Some(WatchedFlush { time: all.less(calls), complete: true, fault: None }.into());
    }
    assert_eq!(phase.flows[0].direction == Direction::Write, write);
    phase
}

/// What the disk counted by the end.
fn counters(way: &Way, write: bool, wall: Nanos) -> DiskCounters {
    let ms = |share: f64| (wall.0 as f64 * share / 1e6) as u64;
    let requests = MOVED.0 / way.size.0;
    let mut counters = DiskCounters {
        busy_ms: ms(way.work),
        weighted_ms: ms(way.depth),
        flushes: Some(way.flushes),
        flush_ms: Some(ms(way.flushing)),
        ..DiskCounters::default()
    };
    if write {
        (counters.writes, counters.write_bytes) = (requests, MOVED.0);
        (counters.reads, counters.read_bytes) = (way.against.0 / 4096, way.against.0);
        counters.write_ms = ms(way.depth);
    } else {
        (counters.reads, counters.read_bytes) = (requests, MOVED.0);
        counters.read_ms = ms(way.depth);
    }
    counters
}
