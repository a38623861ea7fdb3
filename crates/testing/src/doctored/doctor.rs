//! Ways to doctor a record for tests.

use std::collections::BTreeMap;

use super::*;
use assay_plan::plan::{
    BlockSize, BlockWork, LayoutMode, Lifetime, Mix, OffsetOrdering, Pattern, Size, Target,
    TreeOrder, TreeSize, TreeWork,
};
use assay_plan::unit::Bandwidth;
use assay_record::evidence::{
    BlockSamples, CardInfo, ContextSwitches, CopySpeed, CpuThrottled, DriveWarmth,
    FilesystemReading, FilesystemWrites, Link, LinkKind, NumaNode, OtherProcess, OtherProcesses,
    OwnIo, Pressure, Quartiles, ThreadStates, ThreadTimes, Warmth,
};
use assay_record::record::{
    Aftermath, AftermathRound, SampledDevice, SingleReadLatencies, TruncatedFile, Warmths,
};

/// A fill of data that no storage has had before.
pub const FRESH: &str = r#""random""#;
/// One of data that repeat.
pub const SAME: &str = r#"{"compressible":{"compress_percent":0,"dedupe_percent":99}}"#;

impl DoctoredRecord {
    /// Phases that write alike, flushed: their fills, and their rates in MB per second.
    pub fn in_turns(phases: &[(&str, f64)]) -> Self {
        let mut bench = Self::write_flushed();
        let model = bench.record.phases.as_mut_vec().remove(0);
        let planned = phases.iter().enumerate().map(|(number, (fill, _))| {
            format!(
                r#"{{"name":"{number}","jobs":[{{"name":"w{number}","work":{{"blocks":{{
                "target":{{"file":{{"path":"/mnt/x","size":{{"exactly":20971520}},"layout":"existing"}}}},
                "durability":"fsync_at_end","pattern":{{"mix":[{{"action":"write","weight":1}}],
                "block":{{"fixed":1048576}},"fill":{fill}}}}}}}}}]}}"#
            )
        });
        let planned = planned.collect::<Vec<_>>().join(",");
        let text = format!(
            r#"{{"title":"t","origin":{{"dialect":"plan"}},"seed":1,"phases":[{planned}]}}"#
        );
        bench.record.plan = serde_json::from_str(&text).expect("a plan");
        for (number, (_, rate)) in phases.iter().enumerate() {
            let mut phase = model.clone();
            (phase.number, phase.name) = (number, number.to_string());
            let total = phase.totals.get_mut(&Action::Write).expect("counted");
            total.bandwidth = Some(Bandwidth(rate * 1e6));
            bench.record.phases.push(phase);
        }
        bench
    }

    /// 2000 empty files were made instead of a copy, and nothing was flushed.
    pub fn made_files(&mut self) {
        let tree = TreeWork {
            dir: "/mnt".into(),
            action: Action::Create,
            files: 2000,
            folders: 0,
            named: Vec::new(),
            stat_call: Default::default(),
            naming: Default::default(),
            shared: false,
            size: TreeSize::default(),
            order: TreeOrder::default(),
            block: None,
            stat_first: false,
            fill: Default::default(),
            verify: Default::default(),
            durability: Durability::None,
            sync_folder: false,
            lifetime: Default::default(),
        };
        self.record.plan.phases[0].jobs[0].work = Work::Tree(tree);
        let phase = &mut self.record.phases[0];
        phase.flows.truncate(1);
        phase.flows[0].bytes = Bytes::ZERO;
        phase.flows[0].durability = Durability::None;
        let made = ActionTotal { ops: Ops(2000), bytes: Bytes::ZERO, ..total(Nanos::secs(5)) };
        phase.totals = [(Action::Create, Box::new(made))].into();
    }

    /// The output of a copy shares so many bytes with its source.
    pub fn shares(&mut self, shared: Bytes) {
        let written = Bytes::mib(20);
        let extents = Extents { range: written, written, shared, count: 1, ..Extents::default() };
        self.record.phases[0].evidence.copied = Some(Box::new(Reading::Seen(extents)));
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
        for snapshot in
            [Some(&mut evidence.stop), evidence.settled.as_deref_mut()].into_iter().flatten()
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
        phase.evidence.settle = Some(Box::new(WatchedFlush { time, complete, fault: None }));
        let mut end = snapshot(at);
        Self::counters(&mut end).write_bytes = earlier().write_bytes + written.0;
        phase.evidence.settled = Some(Box::new(end));
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
        let phase = &mut self.record.phases[0];
        phase.cpu = phase.cpu.map(|_| Nanos::from_secs(wall * cpu));
    }

    /// Other processes from number 10 on: their names, the CPU time that they used in five seconds, and
    /// what they wrote.
    pub fn beside(&mut self, processes: &[(&str, Nanos, Bytes)]) {
        let all = (10..).zip(processes).map(|(pid, (name, cpu, written))| OtherProcess {
            pid,
            parent: None,
            name: (*name).into(),
            cpu: *cpu,
            read: Some(Bytes::ZERO),
            written: Some(*written),
            by_ended: None,
            open_on: None,
            ended: false,
        });
        let others =
            OtherProcesses { time: Nanos::secs(5), processes: all.collect(), ..Default::default() };
        self.record.phases[0].evidence.neighbours = Some(Reading::Seen(others));
    }

    /// ext4 makes the inode tables of a new file system meanwhile.
    pub fn makes_inode_tables(&mut self) {
        if let Some(Reading::Seen(others)) = &mut self.record.phases[0].evidence.neighbours {
            others.lazy_init = true;
        }
    }

    /// The journal of the file system had so many commits of this many blocks, and its metadata in place are known.
    pub fn committed(&mut self, commits: u64, log: Bytes, metadata: Bytes) {
        let evidence = &mut self.record.phases[0].evidence;
        let of = |writes| {
            let name = "loop3".into();
            vec![FilesystemReading { name, writes: Reading::Seen(writes) }]
        };
        let none = FilesystemWrites { metadata: Some(Bytes::ZERO), ..FilesystemWrites::default() };
        evidence.before.filesystems = of(none);
        let log_unsure = Bytes::ZERO;
        let metadata = Some(metadata);
        evidence.stop.filesystems = of(FilesystemWrites { commits, log, log_unsure, metadata });
    }

    /// So much of what another process moved was done by children of it that have ended.
    pub fn done_by_ended(&mut self, at: usize, bytes: Bytes) {
        if let Some(Reading::Seen(others)) = &mut self.record.phases[0].evidence.neighbours {
            others.processes[at].by_ended = Some(bytes);
        }
    }

    /// So many requests were in flight at the device, on average.
    pub fn in_flight(&mut self, mean: f64) {
        let evidence = &mut self.record.phases[0].evidence;
        let wall = evidence.stop.at.since(evidence.before.at).as_secs();
        Self::counters(&mut evidence.stop).weighted_ms = (wall * mean * 1e3) as u64;
    }

    /// The host took this share of the time from the processors.
    pub fn stolen(&mut self, share: f64) {
        let evidence = &mut self.record.phases[0].evidence;
        let wall = evidence.stop.at.since(evidence.before.at).as_secs();
        for (edge, steal) in [(&mut evidence.before, 0.0), (&mut evidence.stop, wall * share)] {
            if let Reading::Seen(cpu) = &mut edge.cpu {
                cpu.steal = Some(Nanos::from_secs(steal));
            }
        }
    }

    /// It was written by a call for each byte, and the worker used this share of a CPU.
    pub fn bytewise(&mut self, cpu: f64) {
        self.record.resolved.jobs[0].method = Method::Bytewise;
        let phase = &mut self.record.phases[0];
        phase.cpu = Some(Nanos::from_secs(phase.span.time().as_secs() * cpu));
    }

    /// What lies at the bottom of the main path.
    pub fn bottom(&mut self, bottom: LeafKind) {
        let main = self.main();
        let subject = &mut self.record.resolved.subjects[main];
        if bottom != LeafKind::Devices {
            subject.stack.clear();
        }
        subject.bottom = bottom;
    }

    /// The queue of the main device.
    pub fn queue(&mut self, change: impl FnOnce(&mut QueueSettings)) {
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
            vec![FileExtents { path: "/mnt/x".into(), extents: Reading::Seen(extents) }];
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
            limit: LimitValue::BytesPerSecond(bytes_per_second),
        };
        self.record.resolved.limits = Reading::Seen(Limits {
            io: vec![cap(Direction::Read, "read"), cap(Direction::Write, "write")],
            ..Limits::default()
        });
    }

    /// Operations answered in each tenth of a second.
    pub fn series(&mut self, ops: &[u64]) {
        let points = ops.iter().zip(1_u64..).map(|(&ops, n)| SamplePoint {
            at_ns: Nanos::millis(100 * n),
            ops,
            write_bytes: ops * MIB,
            device_read_bytes: Some(0),
            device_write_bytes: Some(ops * MIB),
            ..SamplePoint::default()
        });
        self.record.phases[0].series.points = points.collect();
    }

    /// So many requests were written to the device.
    pub fn requests(&mut self, count: u64) {
        let phase = &mut self.record.phases[0].evidence;
        let before = Self::counters(&mut phase.before).writes;
        Self::counters(&mut phase.stop).writes = before + count;
    }

    /// 24 GiB in five seconds, to a device on such a bus.
    pub fn moved_fast(&mut self, bus: &str) {
        let bytes = Bytes::mib(24 * 1024);
        let main = self.main();
        self.record.resolved.subjects[main].stack[0].hardware.bus = bus.into();
        for flow in &mut self.record.phases[0].flows {
            flow.bytes = bytes;
        }
        self.written(bytes, bytes);
        self.lasted(Nanos::secs(5));
    }

    /// The same, in this time.
    pub fn lasted(&mut self, time: Nanos) {
        let phase = &mut self.record.phases[0];
        phase.span.stopped = START + time;
        phase.span.flushed = phase.span.flushed.map(|_| START + time);
        phase.evidence.stop.at = START + time;
    }

    /// What the kernel read for this process.
    pub fn own_read(&mut self, bytes: Bytes) {
        let evidence = &mut self.record.phases[0].evidence;
        evidence.before.own = Reading::Seen(OwnIo::default());
        evidence.stop.own = Reading::Seen(OwnIo { read_bytes: bytes, ..OwnIo::default() });
    }

    /// What the thread that did the I/O was doing whenever it was looked at, and how often.
    pub fn looked_at(&mut self, states: &[(&str, u32)]) {
        let states = states.iter().map(|(state, looks)| ((*state).into(), *looks));
        let states: BTreeMap<String, u32> = states.collect();
        let looks = states.values().sum();
        self.record.phases[0].evidence.states =
            Some(ThreadStates { looks, states, ..ThreadStates::default() });
    }

    /// The same, one after the other: in each of so many samples.
    pub fn looked_at_in_turn(&mut self, states: &[(&str, u32)]) {
        let mut all = ThreadStates::default();
        for (state, samples) in states {
            for _ in 0..*samples {
                all.looks += 1;
                *all.states.entry((*state).into()).or_default() += 1;
                all.note_at(state, all.looks as usize);
            }
        }
        self.record.phases[0].evidence.states = Some(all);
    }

    /// A direct write of 1 MiB in each tenth of a second, that was not there for so many tenths after its 20th
    /// sample, and had done so much when it came back.
    pub fn away_for(&mut self, tenths: u64, done: Bytes) {
        self.direct(true);
        self.device_series(&[MIB / 2; 50]);
        let points = &mut self.record.phases[0].series.points;
        for point in &mut points[20..] {
            point.at_ns += Nanos::millis(100 * tenths);
        }
        points[20].write_bytes += done.0;
        self.lasted(Nanos::millis(5000 + 100 * tenths));
    }

    /// Somebody waited so long for memory.
    pub fn waited_for_memory(&mut self, time: Nanos) {
        let evidence = &mut self.record.phases[0].evidence;
        let waited = |time| Reading::Seen(Pressure { memory: Some(time), ..Pressure::default() });
        evidence.before.pressure = waited(Nanos::ZERO);
        evidence.stop.pressure = waited(time);
    }

    /// Options of the main path's mount.
    pub fn mounted(&mut self, options: &str) {
        let main = self.main();
        if let Reading::Seen(mount) = &mut self.record.resolved.subjects[main].mount {
            mount.options = options.into();
        }
    }

    /// Discards of the device until the stop, of 1 MiB each.
    pub fn discarded(&mut self, count: u64) {
        let counters = Self::counters(&mut self.record.phases[0].evidence.stop);
        counters.discards = count;
        counters.discard_bytes = count * MIB;
    }

    /// What the main device is made of.
    pub fn layer_kind(&mut self, kind: LayerKind) {
        let main = self.main();
        self.record.resolved.subjects[main].stack[0].kind = kind;
    }

    /// In the place of the main device several side by side, `loop10` and those after it, each of which wrote so much until
    /// the stop.
    pub fn side_by_side(&mut self, written: &[Bytes]) {
        let main = self.main();
        let one = self.record.resolved.subjects[main].stack[0].clone();
        let names: Vec<String> = (10..).zip(written).map(|(at, _)| format!("loop{at}")).collect();
        let member = |(minor, name): (u32, &String)| BlockLayer {
            name: name.clone(),
            number: DeviceNumber { minor, ..one.number },
            ..one.clone()
        };
        self.record.resolved.subjects[main].stack = (10..).zip(&names).map(member).collect();
        let evidence = &mut self.record.phases[0].evidence;
        let then =
            [Some(&mut evidence.before), Some(&mut evidence.stop), evidence.settled.as_deref_mut()];
        for (snapshot, ended) in then.into_iter().zip([false, true, true]) {
            let Some(snapshot) = snapshot else { continue };
            let each = names.iter().zip(written).map(|(name, bytes)| {
                let mut counters = earlier();
                if ended {
                    counters.write_bytes += bytes.0;
                    counters.writes += bytes.0.div_ceil(256 * KIB);
                }
                DeviceReading { name: name.clone(), counters: Reading::Seen(counters) }
            });
            snapshot.devices = each.collect();
        }
    }

    /// Bytes that the device answered in each tenth of a second, as it was asked for them.
    pub fn device_series(&mut self, bytes: &[u64]) {
        let points = bytes.iter().zip(1_u64..).map(|(&bytes, n)| SamplePoint {
            at_ns: Nanos::millis(100 * n),
            ops: 1,
            write_bytes: bytes,
            device_read_bytes: Some(0),
            device_write_bytes: Some(bytes),
            ..SamplePoint::default()
        });
        self.record.phases[0].series.points = points.collect();
    }

    /// Bytes that arrived at the device in each tenth of a second after the clock had stopped.
    pub fn flush_series(&mut self, bytes: &[u64]) {
        let phase = &mut self.record.phases[0];
        let stopped = phase.evidence.stop.at.since(phase.span.started);
        let points = bytes.iter().zip(1_u64..).map(|(&bytes, n)| SamplePoint {
            at_ns: stopped + Nanos::millis(100 * n),
            device_read_bytes: Some(0),
            device_write_bytes: Some(bytes),
            ..SamplePoint::default()
        });
        phase.series.points = points.collect();
    }

    /// Time for which the threads of the program waited for a CPU.
    pub fn waited_for_cpu(&mut self, time: Nanos) {
        let evidence = &mut self.record.phases[0].evidence;
        let set = |snapshot: &mut Snapshot, waited: Nanos| {
            if let Reading::Seen(cpu) = &mut snapshot.cpu {
                cpu.run_delay = Some(waited);
            }
        };
        set(&mut evidence.before, Nanos::ZERO);
        set(&mut evidence.stop, time);
    }

    /// The one thread that did the I/O was seen on these CPUs, and waited so long for one.
    pub fn ran(&mut self, cpus: &[u32], waited: Option<Nanos>) {
        let ran = ThreadTimes { threads: 1, waited, switches: None, cpus: cpus.into() };
        self.record.phases[0].evidence.ran = Some(ran);
    }

    /// That thread went to sleep so often, and was preempted so often.
    pub fn switched(&mut self, sleeps: u64, preempted: u64) {
        if let Some(ran) = &mut self.record.phases[0].evidence.ran {
            ran.switches = Some(ContextSwitches { sleeps, preempted });
        }
    }

    /// A machine of two nodes with four CPUs each, of which this process may use those of the first;
    /// the main device is near to the node of this number.
    pub fn nodes(&mut self, node: u32) {
        let of = |number, cpus: &str, usable| NumaNode { number, cpus: cpus.into(), usable };
        self.record.hosts[0].machine.nodes = vec![of(0, "0-3", 4), of(1, "4-7", 0)];
        let main = self.main();
        self.record.resolved.subjects[main].stack[0].hardware.node = Some(node);
    }

    /// The main path is the device itself, of whose blocks so many were looked at, zeros and others, and
    /// the quartiles of how long they took, in us.
    pub fn sampled(&mut self, zeros: (u32, [u64; 3]), others: (u32, [u64; 3])) {
        let main = self.main();
        let subject = &mut self.record.resolved.subjects[main];
        subject.kind = PathKind::Device;
        let times = |(count, us): (u32, [u64; 3])| {
            let [p25, p50, p75] = us.map(|us| Nanos(us * 1000));
            (count > 0).then_some(Quartiles { p25, p50, p75 })
        };
        self.record.phases[0].evidence.sampled = vec![SampledDevice {
            path: subject.path.clone(),
            samples: Reading::Seen(BlockSamples {
                read: zeros.0 + others.0,
                zero: zeros.0,
                zero_ns: times(zeros),
                other_ns: times(others),
            }),
        }];
    }

    /// Pages of this process that were dropped before they were written.
    pub fn cancelled(&mut self, bytes: Bytes) {
        let evidence = &mut self.record.phases[0].evidence;
        let own = |cancelled| OwnIo { cancelled_write_bytes: cancelled, ..OwnIo::default() };
        evidence.before.own = Reading::Seen(own(Bytes::ZERO));
        evidence.stop.own = Reading::Seen(own(bytes));
    }

    /// Somebody cut the file to this length.
    pub fn cut(&mut self, left: Bytes) {
        let cut = TruncatedFile { path: "/mnt/x".into(), written: MOVED, left };
        self.record.phases[0].evidence.cut = vec![cut];
    }

    /// Time for which the control group stopped the program.
    pub fn stopped_by_group(&mut self, time: Nanos) {
        let evidence = &mut self.record.phases[0].evidence;
        evidence.before.cpu_throttled = Reading::Seen(CpuThrottled::default());
        evidence.stop.cpu_throttled = Reading::Seen(CpuThrottled { periods: 9, time });
    }

    /// A count of the machine's memory grew by so much meanwhile.
    fn memory_grew(&mut self, counted: impl Fn(Bytes) -> Memory, bytes: Bytes) {
        let evidence = &mut self.record.phases[0].evidence;
        let at = |count| Reading::Seen(Memory { total: Bytes::mib(4096), ..counted(count) });
        evidence.before.memory = at(Bytes::ZERO);
        evidence.stop.memory = at(bytes);
    }

    /// Bytes of pages that writeback wrote meanwhile, all file systems.
    pub fn written_back(&mut self, bytes: Bytes) {
        self.memory_grew(|written| Memory { written: Some(written), ..Memory::default() }, bytes);
    }

    /// What the machine swapped meanwhile.
    pub fn swapped(&mut self, bytes: Bytes) {
        self.memory_grew(|swapped| Memory { swapped: Some(swapped), ..Memory::default() }, bytes);
    }

    /// The file lies in so many pieces.
    pub fn pieces(&mut self, count: u64) {
        for laid in &mut self.record.phases[0].evidence.extents {
            if let Reading::Seen(extents) = &mut laid.extents {
                extents.count = count;
            }
        }
    }

    /// Bytes that others wrote to the device in the quiet time before, and that were left in memory
    /// at the start.
    pub fn earlier(&mut self, written: Bytes, left: Bytes) {
        let evidence = &mut self.record.phases[0].evidence;
        if let Reading::Seen(counters) = &mut evidence.quiet.devices[0].counters {
            counters.write_bytes = written.0;
        }
        let memory = Memory { total: Bytes::mib(4096), dirty: left, ..Memory::default() };
        evidence.before.memory = Reading::Seen(memory);
    }

    /// Bytes that were read from the device in the quiet time before.
    pub fn read_before(&mut self, read: Bytes) {
        let quiet = &mut self.record.phases[0].evidence.quiet.devices[0];
        if let Reading::Seen(counters) = &mut quiet.counters {
            counters.read_bytes = read.0;
        }
    }

    /// Five seconds in which the device takes 4 MiB each, and the program writes so many MiB in the
    /// first tenth and then as fast as the device.
    pub fn burst_series(&mut self, first: u64) {
        let points = (1..=50_u64).map(|n| SamplePoint {
            at_ns: Nanos::millis(100 * n),
            ops: 1,
            write_bytes: if n == 1 { first * MIB } else { 4 * MIB / 10 },
            device_read_bytes: Some(0),
            device_write_bytes: Some(4 * MIB / 10),
            ..SamplePoint::default()
        });
        self.record.phases[0].series.points = points.collect();
    }

    /// So many writes, whose p99 is this many nanoseconds from when they were sent.
    pub fn served(&mut self, ops: u64, p99: u64) {
        let total = self.record.phases[0].totals.get_mut(&Action::Write).expect("counted");
        total.ops = Ops(ops);
        total.lat_ns = total.lat_ns.map(|due| {
            let p99 = Some(due.max);
            Latency { n: ops, p99, ..due }.told()
        });
        total.service_ns =
            total.lat_ns.map(|due| Box::new(Latency { p99: Some(p99), ..due }.told()));
    }

    /// The link of the main device: what it carries, and what it could, bytes per second.
    pub fn linked(&mut self, ceiling: u64, possible: Option<u64>) {
        let main = self.main();
        self.record.resolved.subjects[main].stack[0].hardware.links = vec![Link {
            kind: LinkKind::Sata,
            mode: Reading::Seen("SATA 1.5 Gbps".into()),
            ceiling: Some(ceiling),
            possible,
            driver: None,
            source: "/sys/devices/ata1/link1/ata_link/link1/sata_spd".into(),
        }];
    }

    /// Life and reserve of the main device, as an eMMC has them.
    pub fn worn(&mut self, life: Option<u32>, reserve: Option<u32>) {
        let main = self.main();
        self.record.resolved.subjects[main].stack[0].hardware.card = Some(CardInfo {
            kind: "MMC".into(),
            erase: None,
            life,
            reserve,
            queue: None,
            ..CardInfo::default()
        });
    }

    /// The main path lies on a partition that begins there, of a disk with sectors of 4096 bytes.
    pub fn partition_at(&mut self, start: u64) {
        let main = self.main();
        let layer = &mut self.record.resolved.subjects[main].stack[0];
        (layer.partition, layer.start) = (Some("loop3p1".into()), Some(Bytes(start)));
        self.queue(|queue| queue.physical_block_size = Some(4096));
    }

    /// A steady state was to end it: it came, or something else ended it.
    pub fn steadied(&mut self, state: Option<SteadyState>) {
        let (job, counted) = ("dd".into(), RateBasis::Bytes);
        let after = state.as_ref().map(|_| Nanos::secs(4));
        self.record.phases[0].steady =
            vec![SteadyResult { job, counted, after, state, window: None }];
    }

    /// How warm the machine was before and after.
    pub fn warmed(&mut self, before: Warmth, after: Warmth) {
        let warmths = Warmths { before: Reading::Seen(before), after: Reading::Seen(after) };
        self.record.phases[0].evidence.warmth = Some(warmths.into());
    }

    /// The thermometer of the main device, in thousandths of a degree.
    pub fn thermometer(now: i64, limit: i64) -> DriveWarmth {
        let source = "/sys/block/loop3/device/hwmon1/temp1_input".into();
        DriveWarmth { name: "loop3".into(), now, warning: Some(limit), source }
    }

    /// The file that is written held so much of its 20 MiB before; the rest was never written.
    pub fn written_onto(&mut self, written: Bytes) {
        let (range, hole) = (MOVED, MOVED.less(written));
        let extents = Extents { range, written, hole, count: 1, ..Extents::default() };
        self.record.phases[0].evidence.onto =
            vec![FileExtents { path: "/mnt/x".into(), extents: Reading::Seen(extents) }];
    }

    /// What the file that is written held no data in was allocated all the same.
    pub fn allocated_only(&mut self) {
        for laid in &mut self.record.phases[0].evidence.onto {
            if let Reading::Seen(extents) = &mut laid.extents {
                (extents.unwritten, extents.hole) = (extents.hole, Bytes::ZERO);
            }
        }
    }

    /// The file system of the path that is written.
    pub fn system(&mut self, kind: &str) {
        for subject in &mut self.record.resolved.subjects {
            if let Reading::Seen(mount) = &mut subject.mount {
                mount.kind = kind.into();
            }
        }
    }

    /// It is no copy any more, but a job of ordered writes to the same file.
    pub fn only_writes(&mut self) {
        let phase = &mut self.record.phases[0];
        phase.flows.retain(|flow| flow.direction == Direction::Write);
        phase.totals.retain(|action, _| *action == Action::Write);
        phase.cpu = phase.evidence.stop.cpu_since(&phase.evidence.before).map(|all| all.user);
        let target = Target::File {
            path: "/mnt/x".into(),
            size: Size::Exactly(MOVED),
            layout: LayoutMode::AsFound,
            lifetime: Lifetime::Keep,
        };
        let block = BlockSize::Fixed(Bytes::mib(1));
        let pattern = Pattern::of(Mix::only(Action::Write), OffsetOrdering::Forward, block);
        self.record.plan.phases[0].jobs[0].work = Work::Blocks(BlockWork::of(target, pattern));
    }

    /// The first phase once more, under another name.
    pub fn again_as(&mut self, name: &str) {
        let mut phase = self.record.phases[0].clone();
        let mut planned = self.record.plan.phases[0].clone();
        (phase.name, planned.name) = (name.into(), name.into());
        phase.number = self.record.plan.phases.len();
        self.record.phases.push(phase);
        self.record.plan.phases.push(planned);
    }

    /// The written device is no card.
    pub fn no_card(&mut self) {
        for layer in self.record.resolved.subjects.iter_mut().flat_map(|subject| &mut subject.stack)
        {
            layer.hardware.card = None;
        }
    }

    /// The written device is flash on this bus, of this machine, and its file systems have written so
    /// much to it.
    pub fn flash(&mut self, bus: &str, written: Bytes) {
        self.record.hosts[0].machine.virtual_machine = Some(false);
        self.layer_kind(LayerKind::Disk);
        self.queue(|queue| queue.rotational = Some(false));
        let main = self.main();
        let hardware = &mut self.record.resolved.subjects[main].stack[0].hardware;
        hardware.bus = bus.into();
        hardware.written.by_systems = Some(written);
    }

    /// Single reads took a millisecond before, and so many in each second after.
    pub fn answered_after(&mut self, ms: &[u64]) {
        let latencies = |ms: u64| {
            let times: Vec<Nanos> = (0..20).map(|n| Nanos::micros(1000 * ms + 10 * n)).collect();
            SingleReadLatencies::of(&times).expect("enough")
        };
        let rounds = (0..).zip(ms);
        self.record.phases[0].evidence.aftermath = Some(Box::new(Aftermath {
            path: "/mnt/x".into(),
            before: Reading::Seen(latencies(1)),
            after: rounds
                .map(|(n, &ms)| AftermathRound {
                    since_end_ns: Nanos::secs(n),
                    reads: latencies(ms),
                })
                .collect(),
        }));
    }

    /// The machine copies so many bytes per second, either way.
    pub fn copies(&mut self, rate: f64) {
        let copying = CopySpeed { block: Bytes::mib(1), from: rate, into: rate };
        self.record.phases[0].evidence.copying = Some(Reading::Seen(copying));
    }
}
