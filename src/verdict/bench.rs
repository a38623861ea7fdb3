//! Records for tests: an honest run of dd on a card behind `loop3`, and ways to doctor it.
//!
//! Also compiled into `tests/verdict.rs`, which keeps such records as files.

use crate::evidence::{
    Bottom, CachePages, CacheReading, Clock, Cpu, DeviceNumber, DeviceReading, DirectAlign,
    DirectIo, Direction, DiskCounters, Extents, Hardware, Layer, LayerKind, Limit, Limits, Machine,
    Memory, Mount, PathKind, Queue, Reading, Snapshot, Space, Subject, Throttle,
};
use crate::plan::{
    Action, Caching, Cold, Copy, CopyCalls, Crew, Detail, Durability, End, EndFlags, Extent, Flush,
    Job, Method, Origin, Outlet, Phase, Plan, Rate, Records, Resync, Stop, Work,
};
use crate::record::{
    Ending, Evidence, Flow, Laid, PhaseRecord, Point, Quiet, QuietDevice, Record, Resolved,
    ResolvedJob, SCHEMA, Series, Settle, Span, Verdict,
};
use crate::stats::{Latency, Total};
use crate::unit::{Bytes, Instant, KIB, MIB, Nanos, Ops};

/// Bytes that every run here moves.
const MOVED: Bytes = Bytes::mib(20);
/// When the first I/O was.
const START: Instant = Instant(10_000_000_000);

/// A record to be doctored.
pub struct Bench {
    /// The record.
    pub record: Record,
}

/// The verdict of its one phase.
pub fn verdict(record: &Record) -> Verdict {
    crate::verdict::of_phase(record, &record.phases[0])
}

/// A disk that the path names.
pub fn layer(name: &str, level: u32, kind: LayerKind, leaf: bool) -> Layer {
    Layer {
        name: name.into(),
        number: DeviceNumber { major: 7 + level, minor: 3 },
        partition: None,
        level,
        kind,
        leaf,
        size: Reading::Seen(Bytes::mib(1024)),
        hardware: Hardware { bus: "loop".into(), ..Hardware::default() },
        queue: Reading::Seen(Queue {
            logical_block_size: Some(512),
            physical_block_size: Some(512),
            read_ahead_kb: Some(128),
            write_cache: Some("write back".into()),
            iostats: Some(true),
            ..Queue::default()
        }),
    }
}

fn subject(path: &str) -> Subject {
    let on = LayerKind::Loop { file: "/var/card.img".into(), on: "fuse".into(), direct: true };
    Subject {
        path: path.into(),
        kind: PathKind::File,
        mount: Reading::Seen(Mount {
            point: "/mnt".into(),
            kind: "ext4".into(),
            source: "/dev/loop3".into(),
            options: "rw,relatime".into(),
            read_only: false,
            device: DeviceNumber { major: 7, minor: 3 },
        }),
        space: Reading::Seen(Space {
            total: Bytes::mib(1000),
            free: Bytes::mib(800),
            block: Bytes::kib(4),
        }),
        stack: vec![layer("loop3", 0, on, true)],
        bottom: Bottom::Devices,
        direct: Reading::Seen(DirectIo {
            accepted: true,
            align: Some(DirectAlign { memory: 512, offset: 512 }),
            misaligned_refused: Some(true),
            past_cache: None,
        }),
    }
}

fn nothing(path: &str) -> Subject {
    Subject {
        kind: PathKind::Character,
        mount: Reading::Unseen("no mount".into()),
        space: Reading::Unseen("no file system".into()),
        stack: vec![],
        bottom: Bottom::Nothing(path.into()),
        direct: Reading::Unseen("no file".into()),
        ..subject(path)
    }
}

fn flow(subject: usize, direction: Direction) -> Flow {
    Flow {
        subject,
        direction,
        bytes: MOVED,
        calls: Ops(20),
        block: Bytes::mib(1),
        sequential: true,
        depth: 1,
        caching: Caching::Buffered,
        durability: Durability::None,
        written_out: false,
        short: 0,
        end_of_data: false,
    }
}

fn device(name: &str, counters: DiskCounters) -> DeviceReading {
    DeviceReading { name: name.into(), counters: Reading::Seen(counters) }
}

/// Counters of a disk that has been at work before.
fn earlier() -> DiskCounters {
    DiskCounters {
        reads: 1000,
        read_bytes: 50 * MIB,
        writes: 2000,
        write_bytes: 90 * MIB,
        flushes: Some(7),
        flush_ms: Some(70),
        ..DiskCounters::default()
    }
}

fn snapshot(at: Instant) -> Snapshot {
    Snapshot {
        at,
        devices: vec![device("loop3", earlier())],
        cache: vec![CacheReading {
            path: "/mnt/x".into(),
            pages: Reading::Seen(CachePages {
                resident: Bytes::ZERO,
                dirty: Some(Bytes::ZERO),
                writeback: Some(Bytes::ZERO),
                evicted: None,
            }),
        }],
        memory: Reading::Seen(Memory { total: Bytes::mib(4096), ..Memory::default() }),
        own: Reading::Unseen("not needed".into()),
        cpu: Reading::Seen(Cpu { user: Nanos::millis(10), ..Cpu::default() }),
        cpu_throttled: Reading::Unseen("no cpu controller".into()),
        pressure: Reading::Unseen("no pressure".into()),
    }
}

fn total(time: Nanos) -> Total {
    Total {
        ops: Ops(20),
        bytes: MOVED,
        errors: 0,
        short: 0,
        mismatches: 0,
        time,
        iops: Ops(20).over(time),
        bandwidth: MOVED.over(time),
        lat_ns: Some(Latency {
            n: 20,
            mean: 5e6,
            stddev: None,
            min: 1_000_000,
            p50: 5_000_000,
            p90: 8_000_000,
            p99: 10_000_000,
            p99_9: 10_000_000,
            p99_99: 10_000_000,
            max: 10_000_000,
        }),
        lag_ns: None,
        service_ns: None,
        slat_ns: None,
        clat_ns: None,
        histogram: vec![],
    }
}

impl Bench {
    /// dd from one path to another, which took this long; the devices did nothing yet.
    fn dd(from: Subject, to: Subject, words: &[&str], time: Nanos) -> Self {
        let path = |subject: &Subject| Some(subject.path.clone().into());
        let copy = Copy {
            from: End { path: path(&from), flags: EndFlags::default() },
            to: Outlet {
                path: path(&to),
                flags: EndFlags::default(),
                exclusive: false,
                no_create: false,
                no_truncate: false,
            },
            calls: CopyCalls::ReadWrite,
            input_block: Bytes::mib(1),
            output_block: Bytes::mib(1),
            block_for_block: true,
            skip: Extent::default(),
            seek: Extent::default(),
            count: Some(Extent { blocks: 20, bytes: Bytes::ZERO }),
            records: Records::default(),
            keep_going: false,
            resync: Resync::No,
            sparse: false,
            flush: Flush::default(),
            direct_gives_way: false,
            fsync_every_block: false,
        };
        let job = Job {
            name: "dd".into(),
            work: Work::Copy(copy),
            rate: Rate::Closed,
            stop: Stop::default(),
            workers: 1,
            crew: Crew::Threads,
            delay: Nanos::ZERO,
            cpus: None,
            balance: None,
            detail: Detail::default(),
        };
        let stopped = START + time;
        let (reading, writing) = (flow(0, Direction::Read), flow(1, Direction::Write));
        let phase = PhaseRecord {
            name: "dd".into(),
            span: Span {
                started: START,
                counted: START,
                stopped,
                flushed: None,
                closed: None,
                settled: Some(stopped),
            },
            totals: [(Action::Read, total(time)), (Action::Write, total(time))].into(),
            depth: None,
            steady: Vec::new(),
            heat: Vec::new(),
            jobs: vec![],
            copy: None,
            flows: vec![reading, writing],
            series: Series { interval_ns: Nanos::millis(100), points: vec![] },
            evidence: Evidence {
                quiet: Quiet {
                    time: Nanos::millis(500),
                    devices: vec![QuietDevice {
                        name: "loop3".into(),
                        counters: Reading::Seen(DiskCounters {
                            flushes: Some(0),
                            flush_ms: Some(0),
                            ..DiskCounters::default()
                        }),
                    }],
                },
                cold: vec![],
                extents: vec![],
                unsure: Vec::new(),
                copied: None,
                before: snapshot(START),
                stop: snapshot(stopped),
                settled: Some(snapshot(stopped)),
                settle: Some(Settle { time: Nanos::millis(1), complete: true, fault: None }),
            },
            faults: vec![],
            verdict: None,
        };
        let record = Record {
            schema: SCHEMA.into(),
            version: "0.1.0".into(),
            run: "0000".into(),
            started: "2026-01-01T00:00:00Z".into(),
            plan: Plan {
                title: "dd".into(),
                origin: Origin {
                    dialect: "dd".into(),
                    words: words.iter().map(|&word| word.into()).collect(),
                    sources: vec![],
                },
                seed: 1,
                phases: vec![Phase {
                    name: "dd".into(),
                    jobs: vec![job],
                    cold: Cold::Keep,
                    settle: Nanos::secs(30),
                    quiet: Nanos::ZERO,
                    heat: Nanos::ZERO,
                    until: Default::default(),
                    times: 1,
                }],
            },
            resolved: Resolved {
                subjects: vec![from, to],
                jobs: vec![ResolvedJob {
                    phase: "dd".into(),
                    job: "dd".into(),
                    size: MOVED,
                    files: 1,
                    method: Method::Sync,
                    caching: Caching::Buffered,
                    iodepth: 1,
                    workers: 1,
                    writes_at_most: Some(MOVED),
                }],
                limits: Reading::Seen(Limits::default()),
                notes: vec![],
            },
            machine: Machine {
                host: "here".into(),
                kernel: "6.18.0".into(),
                architecture: "x86_64".into(),
                cpu: Reading::Unseen("not named".into()),
                cpus: 2,
                memory: Reading::Seen(Bytes::mib(4096)),
                page: Bytes::kib(4),
                virtual_machine: Some(true),
                product: String::new(),
                clock: Clock {
                    source: Reading::Seen("tsc".into()),
                    step: Nanos(21),
                    cost: Nanos(48),
                },
                root: true,
            },
            phases: vec![phase],
            ending: Ending::Complete,
            verdict: None,
        };
        Self { record }
    }

    /// The end that the run is about comes first among the flows.
    fn about(mut self, direction: Direction) -> Self {
        self.record.phases[0].flows.sort_by_key(|flow| flow.direction != direction);
        self
    }

    /// 20 MiB into memory at 290 MiB per second; the flush took five seconds.
    pub fn write_without_flush() -> Self {
        let words = ["if=/dev/zero", "of=/mnt/x", "bs=1M", "count=20"];
        let time = Nanos::millis(69);
        let mut bench =
            Self::dd(nothing("/dev/zero"), subject("/mnt/x"), &words, time).about(Direction::Write);
        bench.written(Bytes::ZERO, Bytes(20 * MIB + 100 * KIB));
        bench.settled_at(Nanos::millis(4966), Bytes(20 * MIB + 100 * KIB), true);
        let stop = &mut bench.record.phases[0].evidence.stop;
        stop.cache[0].pages = Reading::Seen(CachePages {
            resident: MOVED,
            dirty: Some(MOVED),
            writeback: Some(Bytes::ZERO),
            evicted: None,
        });
        bench
    }

    /// The same with `conv=fsync`: 3.97 MiB per second by a busy device, and no limit to be seen.
    pub fn write_flushed() -> Self {
        let words = ["if=/dev/zero", "of=/mnt/x", "bs=1M", "count=20", "conv=fsync"];
        let time = Nanos::millis(5035);
        let mut bench =
            Self::dd(nothing("/dev/zero"), subject("/mnt/x"), &words, time).about(Direction::Write);
        let phase = &mut bench.record.phases[0];
        phase.flows[0].durability = Durability::FsyncAtEnd;
        phase.span.stopped = START + Nanos::secs(5);
        phase.span.flushed = Some(START + time);
        bench.written(Bytes(20 * MIB + 60 * KIB), Bytes(20 * MIB + 72 * KIB));
        bench.flushes(2);
        bench.work(0.95, 0.05);
        bench
    }

    /// 20 MiB read cold, 15.9 MiB per second.
    pub fn read_cold() -> Self {
        let words = ["if=/mnt/x", "of=/dev/null", "bs=1M"];
        let time = Nanos::millis(1258);
        let mut bench = Self::dd(subject("/mnt/x"), nothing("/dev/null"), &words, time);
        bench.was_read(Bytes(20 * MIB + 4 * KIB));
        bench.work(0.9, 0.1);
        bench
    }

    /// The same again: 5 ms, and the device did nothing.
    pub fn read_again() -> Self {
        let words = ["if=/mnt/x", "of=/dev/null", "bs=1M"];
        let mut bench = Self::dd(subject("/mnt/x"), nothing("/dev/null"), &words, Nanos::millis(5));
        bench.resident_before(MOVED);
        bench
    }

    /// A sparse file, direct.
    pub fn read_of_holes() -> Self {
        let words = ["if=/mnt/x", "of=/dev/null", "bs=1M", "iflag=direct"];
        let mut bench = Self::dd(subject("/mnt/x"), nothing("/dev/null"), &words, Nanos::millis(5));
        bench.direct(true);
        bench.lay(Bytes::mib(20), Bytes::ZERO);
        bench
    }

    /// From one file to another of the same card.
    pub fn copy_within() -> Self {
        let words = ["if=/mnt/x", "of=/mnt/y", "bs=1M", "conv=fsync"];
        let time = Nanos::millis(6500);
        let mut bench = Self::dd(subject("/mnt/x"), subject("/mnt/y"), &words, time);
        bench.record.phases[0].flows[1].durability = Durability::FsyncAtEnd;
        bench.was_read(Bytes(20 * MIB + 4 * KIB));
        bench.written(Bytes(20 * MIB + 60 * KIB), Bytes(20 * MIB + 60 * KIB));
        bench.work(0.95, 0.05);
        bench
    }

    /// The output of a copy shares so many bytes with its source.
    pub fn shares(&mut self, shared: Bytes) {
        let written = Bytes::mib(20);
        let extents = Extents { range: written, written, shared, count: 1, ..Extents::default() };
        self.record.phases[0].evidence.copied = Some(Reading::Seen(extents));
    }

    /// One device's counters in a snapshot.
    fn counters(snapshot: &mut Snapshot) -> &mut DiskCounters {
        match &mut snapshot.devices[0].counters {
            Reading::Seen(counters) => counters,
            Reading::Unseen(why) => panic!("{why}"),
        }
    }

    fn main(&self) -> usize {
        self.record.phases[0].flows[0].subject
    }

    /// Bytes written to the device until the stop, and until everything was flushed.
    pub fn written(&mut self, stop: Bytes, settled: Bytes) {
        let evidence = &mut self.record.phases[0].evidence;
        let set = |counters: &mut DiskCounters, bytes: Bytes| {
            counters.write_bytes = earlier().write_bytes + bytes.0;
            counters.writes = earlier().writes + bytes.0.div_ceil(256 * KIB);
        };
        set(Self::counters(&mut evidence.stop), stop);
        if let Some(end) = &mut evidence.settled {
            set(Self::counters(end), settled);
        }
    }

    /// Bytes read from the device.
    pub fn was_read(&mut self, bytes: Bytes) {
        let evidence = &mut self.record.phases[0].evidence;
        for snapshot in [Some(&mut evidence.stop), evidence.settled.as_mut()].into_iter().flatten()
        {
            let counters = Self::counters(snapshot);
            counters.read_bytes = earlier().read_bytes + bytes.0;
            counters.reads = earlier().reads + bytes.0.div_ceil(128 * KIB);
        }
    }

    /// How the flush after the stop went.
    pub fn settled_at(&mut self, time: Nanos, written: Bytes, complete: bool) {
        let phase = &mut self.record.phases[0];
        let at = phase.evidence.stop.at + time;
        phase.span.settled = Some(at);
        phase.evidence.settle = Some(Settle { time, complete, fault: None });
        let mut end = snapshot(at);
        Self::counters(&mut end).write_bytes = earlier().write_bytes + written.0;
        phase.evidence.settled = Some(end);
    }

    /// Flushes of the device until the stop.
    pub fn flushes(&mut self, count: u64) {
        let counters = Self::counters(&mut self.record.phases[0].evidence.stop);
        counters.flushes = Some(7 + count);
    }

    /// Share of the time in which the device worked, and the program used a CPU.
    pub fn work(&mut self, busy: f64, cpu: f64) {
        let evidence = &mut self.record.phases[0].evidence;
        let wall = evidence.stop.at.since(evidence.before.at).as_secs();
        let counters = Self::counters(&mut evidence.stop);
        counters.busy_ms = (wall * busy * 1e3) as u64;
        counters.weighted_ms = (wall * busy * 1e3) as u64;
        let user = Nanos::millis(10) + Nanos::from_secs(wall * cpu);
        evidence.stop.cpu = Reading::Seen(Cpu { user, ..Cpu::default() });
    }

    /// What lies at the bottom of the main path.
    pub fn bottom(&mut self, bottom: Bottom) {
        let main = self.main();
        let subject = &mut self.record.resolved.subjects[main];
        if bottom != Bottom::Devices {
            subject.stack.clear();
        }
        subject.bottom = bottom;
    }

    /// The queue of the main device.
    pub fn queue(&mut self, change: impl FnOnce(&mut Queue)) {
        let main = self.main();
        let layer = &mut self.record.resolved.subjects[main].stack[0];
        if let Reading::Seen(queue) = &mut layer.queue {
            change(queue);
        }
    }

    /// The main flow used O_DIRECT, and whether that is real there.
    pub fn direct(&mut self, real: bool) {
        let main = self.main();
        self.record.phases[0].flows[0].caching = Caching::Direct;
        let offset = if real { 512 } else { 0 };
        self.record.resolved.subjects[main].direct = Reading::Seen(DirectIo {
            accepted: true,
            align: Some(DirectAlign { memory: offset, offset }),
            misaligned_refused: Some(real),
            past_cache: None,
        });
        if !real {
            self.record.phases[0].evidence.stop.cache.clear();
        }
        // The other end stays as it was; it is no storage.
        if let Some(other) = self.record.phases[0].flows.get_mut(1) {
            other.caching = Caching::Direct;
        }
    }

    /// How the file lay before.
    pub fn lay(&mut self, hole: Bytes, written: Bytes) {
        let extents =
            Extents { range: hole + written, hole, written, count: 1, ..Extents::default() };
        self.record.phases[0].evidence.extents =
            vec![Laid { path: "/mnt/x".into(), extents: Reading::Seen(extents) }];
    }

    /// Pages of the file in memory before.
    pub fn resident_before(&mut self, resident: Bytes) {
        self.record.phases[0].evidence.before.cache[0].pages =
            Reading::Seen(CachePages { resident, ..CachePages::default() });
    }

    /// A limit on the main device, both ways.
    pub fn capped(&mut self, bytes_per_second: u64) {
        let cap = |direction, way: &str| Throttle {
            file: format!("/sys/fs/cgroup/blkio/blkio.throttle.{way}_bps_device"),
            device: DeviceNumber { major: 7, minor: 3 },
            name: "loop3".into(),
            direction,
            limit: Limit::BytesPerSecond(bytes_per_second),
        };
        self.record.resolved.limits = Reading::Seen(Limits {
            io: vec![cap(Direction::Read, "read"), cap(Direction::Write, "write")],
            ..Limits::default()
        });
    }

    /// Operations answered in each tenth of a second.
    pub fn series(&mut self, ops: &[u64]) {
        let points = ops.iter().zip(1_u64..).map(|(&ops, n)| Point {
            at_ns: Nanos::millis(100 * n),
            ops,
            write_bytes: ops * MIB,
            leaf_read_bytes: Some(0),
            leaf_write_bytes: Some(ops * MIB),
            ..Point::default()
        });
        self.record.phases[0].series.points = points.collect();
    }

    /// The same, in this time.
    pub fn lasted(&mut self, time: Nanos) {
        let phase = &mut self.record.phases[0];
        phase.span.stopped = START + time;
        phase.span.flushed = phase.span.flushed.map(|_| START + time);
        phase.evidence.stop.at = START + time;
    }
}
