//! Records made by hand, as runs on devices of known speed would leave them.
#![allow(dead_code, reason = "each test program uses a part of it")]

pub mod classes;
pub mod grids;
pub mod lessons;
pub mod modes;
pub mod pages;
pub mod sweeps;

use std::path::Path;

use assay::cli::quick::{self, PathType, PhaseTime, QuickOptions};
use assay::cli::target_args::{BlockArgs, ConsentArgs, DepthArgs, SeedArgs, SizeArgs, TargetArgs};
use assay::cli::{ramp, sustain};
use assay::dialect::dd;
use assay_plan::error::{Doing, Fault};
use assay_plan::plan::{
    Action, Caching, CopyCalls, CopyFlush, CopyInput, CopyLength, CopyOutput, CopyWork, Durability,
    EndFlags, Method, Plan, PlanOrigin, RecordConversion, Resync, RingOptions, Shared, Work,
};
use assay_plan::stats::{ActionTally, Estimate};
use assay_plan::unit::{Bytes, MIB, Nanos, Ops, Timestamp};
use assay_record::claim::{Claim, ExhibitOf};
use assay_record::evidence::{
    BlockLayer, CachePages, CacheReading, Clock, DeviceNumber, DeviceReading, DirectAlign,
    DirectIo, Direction, DiskCounters, FilesystemSpace, Hardware, LayerKind, LeafKind, LimitValue,
    Limits, Machine, Mount, PathKind, QueueSettings, Reading, Snapshot, Subject, Throttle,
};
use assay_record::record::{
    Ending, Evidence, Exhibit, Finding, FindingWeight, Flow, Host, MeasuredSubject, NextStep,
    PhaseRecord, QuietPeriod, Record, Remedy, Resolved, ResolvedJob, SCHEMA, SamplePoint,
    SampleSeries, Span, TrapId, Trust, Verdict, WatchedFlush,
};

pub fn machine() -> Machine {
    Machine {
        host: "den".into(),
        kernel: "6.18.44".into(),
        architecture: "x86_64".into(),
        cpu: Reading::Seen("Some CPU".into()),
        cpus: 2,
        caches: Vec::new(),
        nodes: Vec::new(),
        memory: Reading::Seen(Bytes(4_105_000_000)),
        page: Bytes(4096),
        virtual_machine: Some(true),
        product: String::new(),
        clock: Clock { source: Reading::Seen("tsc".into()), step: Nanos(20), cost: Nanos(25) },
        wake_up: None,
        root: true,
    }
}

pub fn layer(name: &str, level: u32, kind: LayerKind, leaf: bool, size: u64) -> BlockLayer {
    BlockLayer {
        name: name.into(),
        number: DeviceNumber { major: 7, minor: 3 },
        partition: None,
        start: None,
        level,
        kind,
        leaf,
        size: Reading::Seen(Bytes(size)),
        hardware: Hardware::default(),
        queue: Reading::Seen(QueueSettings {
            scheduler: Some("none".into()),
            write_cache: Some("write back".into()),
            ..QueueSettings::default()
        }),
    }
}

pub fn mount(point: &str, kind: &str, options: &str) -> Mount {
    Mount {
        point: point.into(),
        kind: kind.into(),
        source: "/dev/loop3".into(),
        options: options.into(),
        read_only: false,
        device: DeviceNumber { major: 7, minor: 3 },
    }
}

pub fn card_subject(path: &str) -> Subject {
    let mut disk = layer("vda", 1, LayerKind::Disk, true, 68_719_476_736);
    disk.partition = Some("vda1".into());
    disk.hardware.bus = "virtio".into();
    let on = LayerKind::Loop { file: "/var/tmp/sd.img".into(), on: "ext4".into(), direct: true };
    Subject {
        host: 0,
        path: path.into(),
        kind: PathKind::Folder,
        mount: Reading::Seen(mount("/mnt/sd", "ext4", "rw,relatime,data=ordered")),
        space: Reading::Seen(FilesystemSpace {
            total: Bytes::mib(120),
            free: Bytes::mib(100),
            block: Bytes(4096),
        }),
        stack: vec![layer("loop3", 0, on, true, 128 * MIB), disk],
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

pub fn card_limits() -> Reading<Limits> {
    let throttle = |direction, file: &str, rate| Throttle {
        file: format!("/sys/fs/cgroup/blkio/blkio.throttle.{file}"),
        device: DeviceNumber { major: 7, minor: 3 },
        name: "loop3".into(),
        direction,
        limit: LimitValue::BytesPerSecond(rate),
    };
    Reading::Seen(Limits {
        io: vec![
            throttle(Direction::Write, "write_bps_device", 4 * MIB),
            throttle(Direction::Read, "read_bps_device", 16 * MIB),
        ],
        ..Limits::default()
    })
}

pub fn snapshot(
    at: Timestamp,
    device: &str,
    counters: DiskCounters,
    path: &str,
    dirty: u64,
) -> Snapshot {
    let unseen = || "not part of this record".to_string();
    Snapshot {
        at,
        devices: vec![DeviceReading { name: device.into(), counters: Reading::Seen(counters) }],
        cache: vec![CacheReading {
            path: path.into(),
            pages: Reading::Seen(CachePages {
                resident: Bytes(dirty),
                dirty: Some(Bytes(dirty)),
                writeback: Some(Bytes::ZERO),
                evicted: None,
            }),
        }],
        memory: Reading::Unseen(unseen()),
        own: Reading::Unseen(unseen()),
        cpu: Reading::Unseen(unseen()),
        cpu_throttled: Reading::Unseen(unseen()),
        pressure: Reading::Unseen(unseen()),
        idle: Vec::new(),
        filesystems: Vec::new(),
        suspended: Nanos::ZERO,
        frozen: None,
        tracer: None,
    }
}

/// A phase of a device that answers every I/O in the same time, give or take an eighth.
pub struct Shape {
    pub name: &'static str,
    pub action: Action,
    pub block: Bytes,
    pub depth: u32,
    /// Bytes per second.
    pub rate: f64,
    pub seconds: u64,
    pub device: &'static str,
}

pub fn phase(shape: &Shape, started: Timestamp) -> PhaseRecord {
    let time = Nanos::secs(shape.seconds);
    let gap = shape.block.0 as f64 / shape.rate * 1e9;
    let ops = (time.0 as f64 / gap + 1e-6) as u64;
    let mut tally = ActionTally::default();
    let lat = gap * f64::from(shape.depth);
    for op in 0..ops {
        // One in 500 takes four times as long; the others differ by an eighth.
        let stretch = if op % 500 == 499 { 4.0 } else { 1.0 + (op % 16) as f64 / 128.0 };
        tally.add(shape.block.0, shape.block.0, (lat * stretch) as u64);
    }
    let stopped = started + time;
    let bytes = Bytes(ops * shape.block.0);
    let write = shape.action == Action::Write;
    let step = Nanos::millis(100);
    let mut before = 0;
    let points = (1..=shape.seconds * 10)
        .map(|index| {
            let at = Nanos(step.0 * index);
            // A slow wave of 4 % up and down.
            let wave = 0.04 * 1.4 * 1e9 * ((index as f64 / 14.0).sin());
            let done = (((at.0 as f64 + wave) / gap + 1e-6) as u64).clamp(before, ops);
            let moved = (done - before) * shape.block.0;
            before = done;
            SamplePoint {
                at_ns: at,
                ops: moved / shape.block.0,
                read_bytes: if write { 0 } else { moved },
                write_bytes: if write { moved } else { 0 },
                lat_ns_mean: Some(lat as u64),
                lat_ns_max: Some(lat as u64 * 2),
                device_read_bytes: Some(if write { 0 } else { moved }),
                device_write_bytes: Some(if write { moved } else { 0 }),
                top_write_bytes: None,
            }
        })
        .collect();
    let moved = DiskCounters {
        reads: if write { 0 } else { ops },
        read_bytes: if write { 0 } else { bytes.0 },
        writes: if write { ops } else { 0 },
        write_bytes: if write { bytes.0 } else { 0 },
        ..DiskCounters::default()
    };
    PhaseRecord {
        number: 0,
        name: shape.name.into(),
        span: Span {
            started,
            counted: started,
            stopped,
            paused: Nanos::ZERO,
            flushed: write.then_some(stopped),
            closed: None,
            settled: None,
        },
        totals: [(shape.action, Box::new(tally.total(time)))].into(),
        cpu: None,
        depth: None,
        steady: Vec::new(),
        heat: Vec::new(),
        each: Vec::new(),
        census: None,
        jobs: Vec::new(),
        copy: None,
        flows: vec![Flow {
            subject: 0,
            job: 0,
            direction: if write { Direction::Write } else { Direction::Read },
            bytes,
            calls: Ops(ops),
            block: shape.block,
            sequential: shape.block.0 >= MIB,
            depth: shape.depth,
            caching: Caching::Direct,
            durability: if write { Durability::FdatasyncAtEnd } else { Durability::None },
            written_out: false,
            short: 0,
            buffered: Bytes::ZERO,
            end_of_data: false,
        }],
        series: SampleSeries { interval_ns: step, points },
        evidence: Evidence {
            quiet: QuietPeriod { time: Nanos::millis(500), devices: Vec::new() },
            cold: Vec::new(),
            onto: vec![],
            warmth: None,
            copying: None,
            aftermath: None,
            journal: None,
            extents: Vec::new(),
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
            before: snapshot(started, shape.device, DiskCounters::default(), "/mnt/sd", 0),
            stop: snapshot(stopped, shape.device, moved, "/mnt/sd", 0),
            settled: None,
            settle: None,
            neighbours: None,
        },
        faults: Vec::new(),
        verdict: None,
        ledger: None,
    }
}

pub fn sound(measures: MeasuredSubject, summary: &str) -> Verdict {
    Verdict {
        trust: Trust::Sound,
        measures,
        claims: vec![Claim::Said(summary.into())],
        corrected: None,
        findings: Vec::new(),
    }
}

fn throttled(direction: &str, file: &str, rate: u64) -> Verdict {
    Verdict {
        findings: vec![Finding {
            trap: TrapId::T32,
            weight: FindingWeight::Note,
            measures: Some(MeasuredSubject::Limited),
            claim: Claim::Said(format!("{direction} are held at {rate} MiB/s by a control group")),
            because: vec![Exhibit::new(
                ExhibitOf::Said(format!("limit on {direction} of loop3")),
                format!("{} bytes per second", rate * MIB),
                format!("/sys/fs/cgroup/blkio/blkio.throttle.{file}"),
            )],
            next: None,
        }],
        ..sound(MeasuredSubject::Limited, "What this path delivers under its limit.")
    }
}

pub fn quick_plan(path: &str) -> Plan {
    let options = QuickOptions {
        time: PhaseTime::Each(Nanos::secs(5)),
        size: None,
        read_only: false,
        keep: false,
        again: Vec::new(),
        seed: 1,
        memory: None,
        words: vec![path.into()],
    };
    quick::plan(Path::new(path), PathType::Folder, &options).expect("a plan")
}

pub fn record(
    plan: Plan,
    resolved: Resolved,
    mut phases: Vec<PhaseRecord>,
    verdict: Verdict,
) -> Record {
    for phase in &mut phases {
        phase.number = plan.number(&phase.name).expect("a phase of the plan");
    }
    Record {
        schema: SCHEMA.into(),
        version: "0.1.0".into(),
        run: "r1".into(),
        started: "2026-11-03T14:02:11+01:00".into(),
        plan,
        resolved,
        hosts: vec![Host { name: machine().host, machine: machine() }],
        phases: phases.into(),
        ending: Ending::Complete,
        outcome: None,
        verdict: Some(verdict),
    }
}

pub fn resolved(
    plan: &Plan,
    subject: Subject,
    limits: Reading<Limits>,
    caching: Caching,
) -> Resolved {
    let jobs = plan
        .phases
        .iter()
        .map(|phase| ResolvedJob {
            phase: plan.number(&phase.name).expect("it is one of them"),
            job: phase.name.clone(),
            size: Bytes::mib(20),
            files: 1,
            method: match &phase.jobs[0].work {
                Work::Blocks(_) => Method::IoUring(RingOptions::default()),
                _ => Method::Sync,
            },
            caching,
            iodepth: 1,
            workers: 1,
            writes_at_most: None,
        })
        .collect();
    Resolved { subjects: vec![subject], jobs, limits, notes: Vec::new() }
}

/// Six phases of a device, one after another, at the given rates in bytes per second.
fn six(rates: [f64; 6], device: &'static str) -> Vec<PhaseRecord> {
    let (large, small) = (Bytes(MIB), Bytes::kib(4));
    [
        ("seq-write", Action::Write, large, 8),
        ("seq-read", Action::Read, large, 8),
        ("rand-write-q1", Action::Write, small, 1),
        ("rand-read-q1", Action::Read, small, 1),
        ("rand-write-q32", Action::Write, small, 32),
        ("rand-read-q32", Action::Read, small, 32),
    ]
    .into_iter()
    .zip(rates)
    .enumerate()
    .map(|(index, ((name, action, block, depth), rate))| {
        let shape = Shape { name, action, block, depth, rate, seconds: 5, device };
        phase(&shape, Timestamp(Nanos::millis(5_600).0 * index as u64))
    })
    .collect()
}

/// A card held at 4 MiB/s for writes and 16 MiB/s for reads by a control group: sound, limited.
pub fn card() -> Record {
    let plan = quick_plan("/mnt/sd");
    let resolved = resolved(&plan, card_subject("/mnt/sd"), card_limits(), Caching::Direct);
    let (write, read) = (4.0 * MIB as f64, 16.0 * MIB as f64);
    let mut phases = six([write, read, 0.9 * write, 0.4 * read, write, read], "loop3");
    for phase in &mut phases {
        phase.verdict = Some(if phase.totals.contains_key(&Action::Write) {
            throttled("writes", "write_bps_device", 4)
        } else {
            throttled("reads", "read_bps_device", 16)
        });
    }
    let verdict = Verdict {
        claims: vec![Claim::Said(
            "These figures are what /mnt/sd delivers, durably: loop3 took every byte before \
                  the clock stopped. Its pace is set by a limit of a control group, not by the \
                  device."
                .into(),
        )],
        ..throttled("writes", "write_bps_device", 4)
    };
    record(plan, resolved, phases, verdict)
}

/// An honest fast drive.
pub fn fast() -> Record {
    let plan = quick_plan("/home");
    let mut disk = layer("nvme0n1", 1, LayerKind::Disk, true, 1_000_204_886_016);
    disk.partition = Some("nvme0n1p2".into());
    disk.hardware = Hardware {
        model: "ACME 990 1TB".into(),
        bus: "nvme".into(),
        revision: "4B2Q".into(),
        ..Hardware::default()
    };
    let mapper = LayerKind::Mapper { uuid: "CRYPT-LUKS2-0123".into() };
    let subject = Subject {
        path: "/home".into(),
        mount: Reading::Seen(mount("/home", "btrfs", "rw,noatime,compress=zstd:3,discard=async")),
        stack: vec![layer("dm-0", 0, mapper, false, 999_000_000_000), disk],
        ..card_subject("/home")
    };
    let resolved = resolved(&plan, subject, Reading::Seen(Limits::default()), Caching::Direct);
    let mut phases = six([2.1e9, 3.3e9, 2.9e8, 8.4e7, 1.1e9, 1.4e9], "nvme0n1");
    for phase in &mut phases {
        phase.verdict = Some(sound(MeasuredSubject::Device, "The device."));
    }
    let verdict = sound(
        MeasuredSubject::Device,
        "These figures describe the device: nvme0n1 moved every byte that was counted, and was \
         flushed before the clock stopped.",
    );
    record(plan, resolved, phases, verdict)
}

/// dd's classic: 20 MiB into memory in no time, and the card is not done for five seconds.
pub fn deferred() -> Record {
    let mut plan = quick_plan("/mnt/sd");
    plan.title = "dd".into();
    let words = ["if=/dev/zero", "of=/mnt/sd/x", "bs=20M", "count=1"];
    plan.origin = PlanOrigin::of(dd::NAME, words.map(String::from).into()).with(dd::tool());
    plan.phases.truncate(1);
    plan.phases[0].name = "copy".into();
    plan.phases[0].jobs[0].work = Work::Copy(CopyWork {
        from: CopyInput { path: Some("/dev/zero".into()), flags: EndFlags::default() },
        to: CopyOutput {
            path: Some("/mnt/sd/x".into()),
            flags: EndFlags::default(),
            exclusive: false,
            no_create: false,
            no_truncate: false,
        },
        calls: CopyCalls::ReadWrite,
        input_block: Bytes::mib(20),
        output_block: Bytes::mib(20),
        block_for_block: true,
        skip: CopyLength::default(),
        seek: CopyLength::default(),
        count: Some(CopyLength { blocks: 1, bytes: Bytes::ZERO }),
        records: RecordConversion::default(),
        keep_going: false,
        unread_counts: false,
        resync: Resync::No,
        sparse: false,
        flush: CopyFlush::default(),
        direct_gives_way: false,
        fsync_every_block: false,
    });
    let resolved = resolved(&plan, card_subject("/mnt/sd/x"), card_limits(), Caching::Buffered);
    let started = Timestamp(0);
    let shape = Shape {
        name: "copy",
        action: Action::Write,
        block: Bytes::mib(20),
        depth: 1,
        rate: 20.0 * MIB as f64 / 0.031,
        seconds: 1,
        device: "loop3",
    };
    let mut copied = phase(&shape, started);
    let stopped = Timestamp(Nanos::millis(31).0);
    let settled = stopped + Nanos::secs(5);
    let mut tally = ActionTally::default();
    tally.add(20 * MIB, 20 * MIB, Nanos::millis(31).0);
    copied.totals = [(Action::Write, Box::new(tally.total(Nanos::millis(31))))].into();
    copied.span = Span {
        started,
        counted: started,
        stopped,
        paused: Nanos::ZERO,
        flushed: None,
        closed: None,
        settled: Some(settled),
    };
    copied.series.points.truncate(1);
    copied.flows[0].bytes = Bytes::mib(20);
    let counters = DiskCounters { writes: 40, write_bytes: 20 * MIB, ..DiskCounters::default() };
    copied.evidence.stop =
        snapshot(stopped, "loop3", DiskCounters::default(), "/mnt/sd/x", 20 * MIB);
    copied.evidence.settled = Some(snapshot(settled, "loop3", counters, "/mnt/sd/x", 0).into());
    copied.evidence.settle =
        Some(WatchedFlush { time: Nanos::secs(5), complete: true, fault: None }.into());
    let verdict = Verdict {
        trust: Trust::Wrong,
        measures: MeasuredSubject::Deferred,
        claims: vec![Claim::Said(
            "The copy ended when its bytes were in memory; the card took 5.00 s more to \
                  write them."
                .into(),
        )],
        corrected: Some(Estimate { value: 4_168_000.0, low: 4_130_000.0, high: 4_200_000.0 }),
        findings: vec![Finding {
            trap: TrapId::T02,
            weight: FindingWeight::Refute,
            measures: Some(MeasuredSubject::Deferred),
            claim: Claim::Said("the work was not done when the clock stopped".into()),
            because: vec![
                Exhibit::new(
                    ExhibitOf::Said("written to loop3 when the clock stopped".into()),
                    "0 B of 20 MiB",
                    "/sys/block/loop3/stat",
                ),
                Exhibit::new(
                    ExhibitOf::Said("pages of the file still to be written".into()),
                    "20 MiB",
                    "cachestat",
                ),
            ],
            next: Some(NextStep::new(
                Remedy::Flush,
                "assay dd if=/dev/zero of=/mnt/sd/x bs=20M count=1 conv=fsync",
            )),
        }],
    };
    copied.verdict = Some(verdict.clone());
    record(plan, resolved, vec![copied], verdict)
}

/// A folder of a tmpfs, mounted there with these options.
pub fn subject_in_memory(path: &str, options: &str) -> Subject {
    Subject {
        mount: Reading::Seen(mount(path, "tmpfs", options)),
        stack: Vec::new(),
        bottom: LeafKind::Memory("tmpfs".into()),
        direct: Reading::Seen(DirectIo {
            accepted: true,
            align: None,
            misaligned_refused: Some(false),
            past_cache: None,
        }),
        copies: None,
        sync_attribute: false,
        copied_up: false,
        ..card_subject(path)
    }
}

/// A buffered run into memory dressed as a folder, with a note and a doubtful phase.
pub fn memory() -> Record {
    let plan = quick_plan("/tmp");
    let subject = subject_in_memory("/tmp", "rw,nosuid,nodev");
    let mut resolved =
        resolved(&plan, subject, Reading::Unseen("no groups".into()), Caching::Buffered);
    resolved.notes.push(
        "io_uring is not allowed here (kernel.io_uring_disabled is 2): a pool of threads of the \
         same depth took its place"
            .into(),
    );
    for job in &mut resolved.jobs {
        job.method = Method::Pool;
    }
    let mut phases = six([2.8e9, 6.1e9, 9.0e8, 1.1e9, 9.5e8, 1.2e9], "none");
    let wrong = Verdict {
        trust: Trust::Wrong,
        measures: MeasuredSubject::NotADisk,
        claims: vec![Claim::Said("There is no disk behind /tmp: it is memory (tmpfs).".into())],
        corrected: None,
        findings: vec![Finding {
            trap: TrapId::T23,
            weight: FindingWeight::Refute,
            measures: Some(MeasuredSubject::NotADisk),
            claim: Claim::Said("/tmp is memory, whatever its figures".into()),
            because: vec![Exhibit::new(
                ExhibitOf::Said("file system of /tmp".into()),
                "tmpfs",
                "/proc/self/mountinfo",
            )],
            next: Some(NextStep::new(Remedy::AnotherTarget, "df -hT")),
        }],
    };
    for phase in &mut phases {
        phase.verdict = Some(wrong.clone());
    }
    record(plan, resolved, phases, wrong)
}

/// The card's run, ended by Ctrl-C in its third phase.
pub fn interrupted() -> Record {
    let mut record = card();
    record.phases.as_mut_vec().truncate(3);
    record.ending = Ending::Interrupted(2);
    record.verdict = Some(sound(
        MeasuredSubject::Limited,
        "As far as it got: what /mnt/sd delivers under the limit of its control group.",
    ));
    record
}

/// A run that filled the device.
pub fn failed() -> Record {
    let mut record = card();
    record.phases.as_mut_vec().truncate(1);
    let error = std::io::Error::from_raw_os_error(28);
    let fault = Fault::new(Doing::Write, "/mnt/sd", &error).at(104_857_600);
    record.phases[0].faults.push(fault.clone());
    record.phases[0].verdict = Some(Verdict {
        trust: Trust::Wrong,
        ..sound(MeasuredSubject::Invalid, "The phase did not get to its end.")
    });
    record.verdict.clone_from(&record.phases[0].verdict);
    record.ending = Ending::Failed(fault);
    record
}

/// A drive that answers in 80 us whatever is asked, eight at a time.
pub fn climbed() -> Record {
    let words = ramp::RampArgs {
        target: TargetArgs { path: "/home".into(), again: Vec::new() },
        action: ramp::RampAction::Read,
        block: BlockArgs { size: Some(Bytes::kib(4)) },
        order: ramp::RampOrder::Random,
        max_depth: 256,
        max_workers: 1,
        step: Nanos::secs(2),
        p99: Some(Nanos::micros(300)),
        size: SizeArgs { exactly: Some(Bytes::mib(64)) },
        seed: SeedArgs { seed: Some(1) },
        common: Default::default(),
    };
    let plan =
        ramp::plan(&words, PathType::Folder, vec!["--p99".into(), "300us".into(), "/home".into()])
            .expect("a plan");
    let base = fast();
    let names = ["q1", "q2", "q4", "q8", "q16", "q32"];
    let mut phases = Vec::new();
    for (n, name) in (0_u32..).zip(names) {
        let depth = 1 << n;
        let rate = 4096.0 / 80e-6 * f64::from(depth.min(8));
        let (action, block) = (Action::Read, Bytes::kib(4));
        let shape = Shape { name, action, block, depth, rate, seconds: 2, device: "nvme0n1" };
        let mut done = phase(&shape, Timestamp(Nanos::millis(2_200).0 * u64::from(n)));
        if let Reading::Seen(counters) = &mut done.evidence.stop.devices[0].counters {
            counters.busy_ms = 2000;
            counters.weighted_ms = 2000 * u64::from(depth);
        }
        let mut upper = done.evidence.stop.devices[0].clone();
        upper.name = "dm-0".into();
        done.evidence.stop.devices.push(upper);
        let idle =
            DeviceReading { name: "dm-0".into(), counters: Reading::Seen(DiskCounters::default()) };
        done.evidence.before.devices.push(idle);
        done.verdict = Some(sound(MeasuredSubject::Device, "The device."));
        phases.push(done);
    }
    let mut resolved = Resolved { jobs: Shared::default(), ..base.resolved };
    for (number, phase) in plan.phases.iter().enumerate() {
        let (iodepth, workers) = phase.load().expect("a step");
        resolved.jobs.push(ResolvedJob {
            phase: number,
            job: phase.name.clone(),
            size: Bytes::mib(64),
            files: 1,
            method: Method::IoUring(RingOptions::default()),
            caching: Caching::Direct,
            iodepth,
            workers,
            writes_at_most: None,
        });
    }
    record(plan, resolved, phases, sound(MeasuredSubject::Device, "All 6 results are valid."))
}

/// The same drive written to for a minute: 1.2 GB/s for 20 s, and then 300 MB/s with a stall.
pub fn sustained() -> Record {
    let words = sustain::SustainArgs {
        path: "/home".into(),
        consent: ConsentArgs::default(),
        time: Nanos::secs(60),
        bytes: Bytes(100 << 30),
        block: BlockArgs { size: Some(Bytes::mib(1)) },
        order: ramp::RampOrder::Forward,
        depth: DepthArgs { each: Some(8) },
        size: None,
        seed: SeedArgs { seed: Some(1) },
        common: Default::default(),
    };
    let plan =
        sustain::plan(&words, PathType::Folder, vec!["--time".into(), "60".into(), "/home".into()])
            .expect("a plan");
    let (action, block) = (Action::Write, Bytes::mib(1));
    let shape =
        Shape { name: "write", action, block, depth: 8, rate: 6e8, seconds: 60, device: "nvme0n1" };
    let mut done = phase(&shape, Timestamp(0));
    for (n, point) in (0_u64..).zip(&mut done.series.points) {
        let blocks = match n {
            0..200 => 114,
            400..415 => 0,
            _ => 28 + n % 2,
        };
        (point.ops, point.write_bytes) = (blocks, blocks * MIB);
    }
    done.steady = vec![assay_record::record::SteadyResult {
        job: "write".into(),
        counted: assay_record::record::RateBasis::Bytes,
        after: Some(Nanos::secs(60)),
        state: Some(assay_plan::stats::SteadyState {
            mean: 298.8e6,
            spread: 0.031,
            slope: -0.002,
            rounds: vec![298.8e6; 5],
        }),
        window: None,
    }];
    done.verdict = Some(sound(MeasuredSubject::Device, "The device."));
    let fits = fast().resolved.jobs.remove(0);
    let fits = ResolvedJob { phase: 0, job: "write".into(), size: Bytes(100 << 30), ..fits };
    let resolved = Resolved { jobs: vec![fits].into(), ..fast().resolved };
    record(
        plan,
        resolved,
        vec![done],
        sound(MeasuredSubject::Device, "This is the speed of the device."),
    )
}
