//! Records of lessons made by hand: what came of their halves on a card that takes 4 MiB a second.

use assay::cli::demo;
use assay_plan::plan::{
    Action, Caching, LayoutMode, LessonTopic, Lifetime, Method, Plan, Size, Target, Work,
};
use assay_plan::stats::ActionTally;
use assay_plan::unit::{Bytes, Nanos, Ops, Timestamp};
use assay_record::evidence::{
    CachePages, Direction, DiskCounters, Extents, Limits, Reading, Snapshot, Subject,
};
use assay_record::record::{FileExtents, Flow, PhaseRecord, Record, Span, WatchedFlush};

/// What came of one half.
#[derive(Clone, Copy, Debug)]
pub struct Came {
    /// Bytes that the calls moved, and how long that took with the flush that is part of it.
    pub moved: Bytes,
    pub time: Nanos,
    /// Bytes that the device moved meanwhile, in how many requests.
    pub arrived: Bytes,
    pub requests: u64,
    /// Share of the time with a request in flight, and how many there were on average.
    pub work: f64,
    pub depth: f64,
    /// Bytes of the file in memory before; and when the clock stopped, not yet written.
    pub before: Bytes,
    pub left: Bytes,
    /// How long the flush took that was only watched.
    pub later: Nanos,
    /// Bytes of the file without any place on the device.
    pub hole: Bytes,
}

/// 12 MiB at 4 MiB a second.
pub const PACED: Came = Came {
    moved: Bytes::mib(12),
    time: Nanos::secs(3),
    arrived: Bytes::mib(12),
    requests: 96,
    work: 0.98,
    depth: 2.0,
    before: Bytes::ZERO,
    left: Bytes::ZERO,
    later: Nanos::ZERO,
    hole: Bytes::ZERO,
};

/// 12 MiB that only memory took.
pub const TAKEN: Came = Came {
    time: Nanos::millis(10),
    arrived: Bytes::ZERO,
    requests: 0,
    work: 0.0,
    depth: 0.0,
    left: Bytes::mib(12),
    later: Nanos::secs(3),
    ..PACED
};

/// 12 MiB that memory had.
pub const KEPT: Came =
    Came { before: Bytes::mib(12), left: Bytes::ZERO, later: Nanos::ZERO, ..TAKEN };

/// The path of all these lessons.
const PATH: &str = "/mnt/sd";

fn plan(topic: LessonTopic) -> Plan {
    let target = Target::Scratch {
        dir: PATH.into(),
        size: Size::Written { most: Bytes::mib(100) },
        layout: LayoutMode::Preallocated,
        lifetime: Lifetime::Remove,
    };
    demo::plan(topic, &target, vec![topic.name().into(), PATH.into()])
}

/// The record of a lesson on that subject, judged.
pub fn lesson(topic: LessonTopic, subject: Subject, came: [Came; 2]) -> Record {
    let plan = plan(topic);
    let limits = Reading::Seen(Limits::default());
    let mut resolved = super::resolved(&plan, subject, limits, Caching::Buffered);
    for (job, planned) in resolved.jobs.iter_mut().zip(&plan.phases) {
        let Work::Blocks(blocks) = &planned.jobs[0].work else { panic!("blocks") };
        job.method = blocks.method;
        job.iodepth = blocks.iodepth;
        job.size = Bytes::mib(100);
        job.writes_at_most = blocks.pattern.mix.writes().then_some(job.size);
        if blocks.caching == Caching::DirectIfReal {
            job.caching = Caching::Direct;
        }
    }
    let mut phases = Vec::new();
    let mut started = Timestamp(1_000_000_000);
    let before = vec![PACED; plan.phases.len() - came.len()];
    for (number, came) in before.into_iter().chain(came).enumerate() {
        let phase = phase(&plan, number, resolved.jobs[number].caching, started, &came);
        started = phase.span.settled.unwrap_or(phase.span.ended()) + Nanos::millis(300);
        phases.push(phase);
    }
    let unjudged = super::sound(assay_record::record::MeasuredSubject::Device, "");
    let mut record = super::record(plan, resolved, phases, unjudged);
    assay_judge::judge(&mut record);
    record
}

/// One half of it.
fn phase(plan: &Plan, number: usize, caching: Caching, at: Timestamp, came: &Came) -> PhaseRecord {
    let planned = &plan.phases[number];
    let Work::Blocks(blocks) = &planned.jobs[0].work else { panic!("blocks") };
    let writes = blocks.pattern.mix.writes();
    let action = if writes { Action::Write } else { Action::Read };
    let block = blocks.pattern.largest();
    let calls = came.moved.0 / block.0;
    let shape =
        super::Shape { name: "", action, block, depth: 1, rate: 1e9, seconds: 1, device: "loop3" };
    let mut phase = super::phase(&shape, at);
    phase.name.clone_from(&planned.name);
    let mut tally = ActionTally::default();
    (0..calls).for_each(|_| tally.add(block.0, block.0, came.time.0 / calls));
    phase.totals = [(action, Box::new(tally.total(came.time)))].into();
    let flushes = blocks.durability.flushes_at_end();
    let over = at + came.time;
    // Memory takes the calls at once; what is left is the flush.
    let stopped = if flushes { at + Nanos::millis(10) } else { over };
    let settled = (came.later > Nanos::ZERO).then_some(over + came.later);
    phase.span = Span {
        started: at,
        counted: at,
        stopped,
        paused: Nanos::ZERO,
        flushed: flushes.then_some(over),
        settled,
        closed: None,
    };
    phase.series.points.truncate(1);
    for point in &mut phase.series.points {
        (point.read_bytes, point.write_bytes) = (0, 0);
        if writes { point.write_bytes = came.moved.0 } else { point.read_bytes = came.moved.0 }
    }
    phase.flows = vec![Flow {
        bytes: came.moved,
        calls: Ops(calls),
        block,
        sequential: matches!(blocks.method, Method::Psync),
        depth: blocks.iodepth,
        caching,
        durability: blocks.durability,
        direction: if writes { Direction::Write } else { Direction::Read },
        ..phase.flows.remove(0)
    }];
    let evidence = &mut phase.evidence;
    let none = DiskCounters { flushes: Some(0), flush_ms: Some(0), ..Default::default() };
    evidence.before = edge(at, none, came.before, Bytes::ZERO);
    evidence.stop = edge(over, counted(came, writes, came.arrived), came.before, came.left);
    if let Some(end) = settled {
        evidence.settled =
            Some(edge(end, counted(came, writes, came.moved), came.before, Bytes::ZERO).into());
        evidence.settle =
            Some(WatchedFlush { time: came.later, complete: true, fault: None }.into());
    }
    if !writes {
        let extents =
            Extents { range: came.moved, hole: came.hole, count: 1, ..Extents::default() };
        evidence.extents = vec![FileExtents { path: PATH.into(), extents: Reading::Seen(extents) }];
    }
    phase
}

fn edge(at: Timestamp, counters: DiskCounters, resident: Bytes, dirty: Bytes) -> Snapshot {
    let mut edge = super::snapshot(at, "loop3", counters, PATH, 0);
    edge.cache[0].pages = Reading::Seen(CachePages {
        resident: resident.max(dirty),
        dirty: Some(dirty),
        writeback: Some(Bytes::ZERO),
        evicted: None,
    });
    edge
}

/// What the card counted by then.
fn counted(came: &Came, writes: bool, arrived: Bytes) -> DiskCounters {
    let ms = |share: f64| (came.time.0 as f64 * share / 1e6) as u64;
    let mut counters = DiskCounters {
        busy_ms: ms(came.work),
        weighted_ms: ms(came.depth),
        flushes: Some(u64::from(writes)),
        flush_ms: Some(0),
        ..DiskCounters::default()
    };
    if writes {
        (counters.writes, counters.write_bytes) = (came.requests, arrived.0);
    } else {
        (counters.reads, counters.read_bytes) = (came.requests, arrived.0);
    }
    counters
}
