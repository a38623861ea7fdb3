//! Records for tests: an honest run of dd on a card behind `loop3`, and ways to doctor it.

mod doctor;
pub use doctor::{FRESH, SAME};

use assay_plan::plan::{
    Action, AddedWords, CacheDrop, Caching, CopyCalls, CopyFlush, CopyInput, CopyLength,
    CopyOutput, CopyWork, Durability, EndFlags, Job, Method, Phase, Plan, PlanOrigin,
    RecordConversion, Resync, ToolProfile, Work,
};
use assay_plan::stats::{ActionTotal, HistogramCells, Latency, SteadyState};
use assay_plan::unit::{Bytes, KIB, MIB, Nanos, Ops, Timestamp};
use assay_record::evidence::{
    BlockLayer, CachePages, CacheReading, Clock, Cpu, DeviceNumber, DeviceReading, DirectAlign,
    DirectIo, Direction, DiskCounters, Extents, FilesystemSpace, Hardware, LayerKind, LeafKind,
    LimitValue, Limits, Machine, Memory, Mount, PathKind, QueueSettings, Reading, Snapshot,
    Subject, Throttle,
};
use assay_record::record::{
    Ending, Evidence, FileExtents, Flow, Host, PhaseRecord, QuietDevice, QuietPeriod, RateBasis,
    Record, Resolved, ResolvedJob, SCHEMA, SamplePoint, SampleSeries, Span, SteadyResult,
    WatchedFlush,
};

/// Bytes that every run here moves.
const MOVED: Bytes = Bytes::mib(20);
/// When the first I/O was.
const START: Timestamp = Timestamp(10_000_000_000);

/// A record to be doctored.
pub struct DoctoredRecord {
    pub record: Record,
}

/// A disk that the path names.
pub fn layer(name: &str, level: u32, kind: LayerKind, leaf: bool) -> BlockLayer {
    BlockLayer {
        name: name.into(),
        number: DeviceNumber { major: 7 + level, minor: 3 },
        partition: None,
        start: None,
        level,
        kind,
        leaf,
        size: Reading::Seen(Bytes::mib(1024)),
        hardware: Hardware { bus: "loop".into(), ..Hardware::default() },
        queue: Reading::Seen(QueueSettings {
            logical_block_size: Some(512),
            physical_block_size: Some(512),
            read_ahead_kb: Some(128),
            write_cache: Some("write back".into()),
            iostats: Some(true),
            ..QueueSettings::default()
        }),
    }
}

fn subject(path: &str) -> Subject {
    let on = LayerKind::Loop { file: "/var/card.img".into(), on: "fuse".into(), direct: true };
    Subject {
        host: 0,
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
        space: Reading::Seen(FilesystemSpace {
            total: Bytes::mib(1000),
            free: Bytes::mib(800),
            block: Bytes::kib(4),
        }),
        stack: vec![layer("loop3", 0, on, true)],
        bottom: LeafKind::Devices,
        direct: Reading::Seen(DirectIo {
            accepted: true,
            align: Some(DirectAlign { memory: 512, offset: 512 }),
            misaligned_refused: Some(true),
            past_cache: None,
        }),
        copies: None,
        sync_attribute: false,
        copied_up: false,
    }
}

fn nothing(path: &str) -> Subject {
    Subject {
        host: 0,
        kind: PathKind::Character,
        mount: Reading::Unseen("no mount".into()),
        space: Reading::Unseen("no file system".into()),
        stack: vec![],
        bottom: LeafKind::Nothing(path.into()),
        direct: Reading::Unseen("no file".into()),
        copies: None,
        sync_attribute: false,
        copied_up: false,
        ..subject(path)
    }
}

fn flow(subject: usize, direction: Direction) -> Flow {
    Flow {
        subject,
        job: 0,
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
        buffered: Bytes::ZERO,
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

fn snapshot(at: Timestamp) -> Snapshot {
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
        idle: Vec::new(),
        filesystems: Vec::new(),
        suspended: Nanos::ZERO,
        frozen: None,
        tracer: None,
    }
}

fn total(time: Nanos) -> ActionTotal {
    ActionTotal {
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
            p50: Some(5_000_000),
            p90: None,
            p99: None,
            p99_9: None,
            p99_99: None,
            max: 10_000_000,
        }),
        lag_ns: None,
        service_ns: None,
        slat_ns: None,
        clat_ns: None,
        histogram: HistogramCells::default(),
        slat_histogram: HistogramCells::default(),
        clat_histogram: HistogramCells::default(),
        service_histogram: HistogramCells::default(),
    }
}

/// What others know of dd, whose words the benches have.
fn tool() -> ToolProfile {
    ToolProfile {
        until_end: true,
        flush: Some(AddedWords::after(" conv=fsync")),
        cold: Some(AddedWords::before("ASSAY_COLD=target ")),
        direct: Some(AddedWords::after(" iflag=direct")),
        direct_write: Some(AddedWords::after(" oflag=direct")),
        overwrite: Some(AddedWords::after(" conv=notrunc")),
        ..ToolProfile::default()
    }
}

impl DoctoredRecord {
    /// dd from one path to another, which took this long; the devices did nothing yet.
    fn dd(from: Subject, to: Subject, words: &[&str], time: Nanos) -> Self {
        let path = |subject: &Subject| Some(subject.path.clone().into());
        let copy = CopyWork {
            from: CopyInput { path: path(&from), flags: EndFlags::default() },
            to: CopyOutput {
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
            skip: CopyLength::default(),
            seek: CopyLength::default(),
            count: Some(CopyLength { blocks: 20, bytes: Bytes::ZERO }),
            records: RecordConversion::default(),
            keep_going: false,
            unread_counts: false,
            resync: Resync::No,
            sparse: false,
            flush: CopyFlush::default(),
            direct_gives_way: false,
            fsync_every_block: false,
        };
        let job = Job::of("dd", Work::Copy(copy));
        let stopped = START + time;
        let (reading, writing) = (flow(0, Direction::Read), flow(1, Direction::Write));
        let phase = PhaseRecord {
            number: 0,
            name: "dd".into(),
            span: Span {
                started: START,
                counted: START,
                stopped,
                paused: Nanos::ZERO,
                flushed: None,
                closed: None,
                settled: Some(stopped),
            },
            totals: [Action::Read, Action::Write]
                .map(|action| (action, Box::new(total(time))))
                .into(),
            cpu: None,
            depth: None,
            steady: Vec::new(),
            heat: Vec::new(),
            each: Vec::new(),
            census: None,
            jobs: vec![],
            copy: None,
            flows: vec![reading, writing],
            series: SampleSeries { interval_ns: Nanos::millis(100), points: vec![] },
            evidence: Evidence {
                quiet: QuietPeriod {
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
                onto: vec![],
                warmth: None,
                copying: None,
                aftermath: None,
                journal: None,
                extents: vec![],
                unsure: Vec::new(),
                sampled: Vec::new(),
                cut: Vec::new(),
                ran: None,
                states: None,
                limits: None,
                limit_changes: Vec::new(),
                condition_changes: Vec::new(),
                halts: None,
                copied: None,
                before: snapshot(START),
                stop: snapshot(stopped),
                settled: Some(Box::new(snapshot(stopped))),
                settle: Some(
                    WatchedFlush { time: Nanos::millis(1), complete: true, fault: None }.into(),
                ),
                neighbours: None,
            },
            faults: vec![],
            verdict: None,
            ledger: None,
        };
        let record = Record {
            schema: SCHEMA.into(),
            version: "0.1.0".into(),
            run: "0000".into(),
            started: "2026-01-01T00:00:00Z".into(),
            plan: Plan {
                title: "dd".into(),
                origin: PlanOrigin::of("dd", words.iter().map(|&word| word.into()).collect())
                    .with(tool()),
                seed: 1,
                aim: None,
                phases: vec![Phase {
                    name: "dd".into(),
                    jobs: vec![job].into(),
                    pre_read: false,
                    remount: None,
                    cold: CacheDrop::Keep,
                    settle: Nanos::secs(30),
                    quiet: Nanos::ZERO,
                    heat: Nanos::ZERO,
                    aftermath: Nanos::ZERO,
                    until: Default::default(),
                    times: 1,
                }],
            },
            resolved: Resolved {
                subjects: vec![from, to],
                jobs: vec![ResolvedJob {
                    phase: 0,
                    job: "dd".into(),
                    size: MOVED,
                    files: 1,
                    method: Method::Sync,
                    caching: Caching::Buffered,
                    iodepth: 1,
                    workers: 1,
                    writes_at_most: Some(MOVED),
                }]
                .into(),
                limits: Reading::Seen(Limits::default()),
                notes: vec![],
            },
            hosts: vec![Host {
                name: "here".into(),
                machine: Machine {
                    host: "here".into(),
                    kernel: "6.18.0".into(),
                    architecture: "x86_64".into(),
                    cpu: Reading::Unseen("not named".into()),
                    cpus: 2,
                    caches: Vec::new(),
                    nodes: Vec::new(),
                    memory: Reading::Seen(Bytes::mib(4096)),
                    page: Bytes::kib(4),
                    virtual_machine: Some(true),
                    product: String::new(),
                    clock: Clock {
                        source: Reading::Seen("tsc".into()),
                        step: Nanos(21),
                        cost: Nanos(48),
                    },
                    wake_up: None,
                    root: true,
                },
            }],
            phases: vec![phase].into(),
            ending: Ending::Complete,
            verdict: None,
            outcome: None,
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

    /// Its data are random, not zeros.
    pub fn random(&mut self) {
        for job in self.record.plan.phases.iter_mut().flat_map(|phase| &mut phase.jobs) {
            if let Work::Copy(copy) = &mut job.work {
                copy.from.path = Some("/dev/urandom".into());
            }
        }
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
        bench.flushes(2);
        bench.work(0.95, 0.05);
        bench
    }
}
