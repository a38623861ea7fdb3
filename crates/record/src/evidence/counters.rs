//! The counters, read again and again: descriptors stay open, each reading is a `pread` from the
//! start.

use std::os::fd::BorrowedFd;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, PoisonError};

use super::cgroup::{self, CpuStat, GroupCounters};
use super::cpu::CpuLost;
use super::filesystem_writes::WatchedFilesystem;
use super::open_counter::OpenCounter;
use super::sys_root::why;
use super::{
    BlockLayer, CacheReading, ConditionReader, CpuThrottled, DeviceReading, DiskCounters,
    FilesystemReading, KnownGroups, Limits, Memory, OtherProcesses, PathKind, Pressure,
    ProcessCensus, ProcessorIdle, Reading, Snapshot, Subject, SysRoot, SystemSample, Throttle,
    Warmth, cpu, diskstats, memory, own_io, pagecache, pressure, processors, warmth,
};
use assay_engine::sys::clock;
use assay_plan::unit::{Nanos, Timestamp};

/// Heat comes and goes slowly: it is looked at so often at the most.
const WARMTH_LASTS: Nanos = Nanos::millis(100);
/// Where no disk is below, the machine around is looked at so often at the most: a grid of small files in memory has edges
/// every few hundred microseconds, and a look costs a hundred.
const MACHINE_LASTS: Nanos = Nanos::millis(5);

/// One disk whose counters are watched.
struct WatchedDisk {
    name: String,
    stat: OpenCounter,
}

impl WatchedDisk {
    /// Does not allocate unless it fails.
    fn counters(&self) -> Result<DiskCounters, String> {
        let file = self.stat.file.as_ref().map_err(Clone::clone)?;
        // The line has at most 17 numbers of 20 digits; sysfs gives it in one piece.
        let mut line = [0_u8; 512];
        let end = file.read_at(&mut line, 0).map_err(|error| why(&self.stat.name, &error))?;
        let line = std::str::from_utf8(&line[..end]).map_err(|error| error.to_string())?;
        diskstats::parse(line).map_err(|why| format!("{}: {why}", self.stat.name))
    }
}

/// What is read of the whole machine, and of the limits of this process.
#[derive(Clone)]
struct MachineReading {
    memory: Reading<Memory>,
    cpu_throttled: Reading<CpuThrottled>,
    frozen: Option<Nanos>,
    pressure: Reading<Pressure>,
    lost: CpuLost,
    idle: Vec<ProcessorIdle>,
}

/// Eyes on everything that is read at the edges of a phase, and on the disks during it. Shared
/// between threads freely: no reading changes it.
pub struct CounterReader {
    sys_root: SysRoot,
    disks: Vec<WatchedDisk>,
    filesystems: Vec<WatchedFilesystem>,
    meminfo: OpenCounter,
    vmstat: OpenCounter,
    own: OpenCounter,
    stat: OpenCounter,
    pressure: [OpenCounter; 3],
    cpu_stat: Result<Vec<(OpenCounter, CpuStat)>, String>,
    frozen: Option<OpenCounter>,
    /// Whether each processor is looked at.
    each_processor: bool,
    /// The last look at the heat.
    warmth: Mutex<Option<(Timestamp, Reading<Warmth>)>>,
    /// The last look at the machine around, where no disk is watched.
    machine: Mutex<Option<(Timestamp, MachineReading)>>,
}

impl CounterReader {
    /// Opens everything that tells about these subjects. What cannot be opened is unseen in every
    /// snapshot, with the reason.
    pub fn new(sys_root: &SysRoot, subjects: &[Subject]) -> Self {
        let over = Self::over(sys_root, subjects.iter().flat_map(|subject| &subject.stack));
        Self { filesystems: filesystems(sys_root, subjects), ..over }
    }

    /// The same for devices that are known already.
    pub fn over<'l>(sys_root: &SysRoot, layers: impl IntoIterator<Item = &'l BlockLayer>) -> Self {
        let mut disks: Vec<WatchedDisk> = Vec::new();
        for layer in layers {
            if disks.iter().all(|disk| disk.name != layer.name) {
                let stat = OpenCounter::open(sys_root, &format!("/sys/block/{}/stat", layer.name));
                disks.push(WatchedDisk { name: layer.name.clone(), stat });
            }
        }
        let open = |path: &str| OpenCounter::open(sys_root, path);
        let GroupCounters { cpu, frozen } = cgroup::counters(sys_root);
        let cpu_stat =
            cpu.map(|files| files.into_iter().map(|(path, kind)| (open(&path), kind)).collect());
        Self {
            sys_root: sys_root.clone(),
            disks,
            filesystems: Vec::new(),
            meminfo: open("/proc/meminfo"),
            vmstat: OpenCounter { last: Some(memory::LAST), ..open("/proc/vmstat") },
            own: open("/proc/self/io"),
            stat: open("/proc/stat"),
            pressure: ["io", "cpu", "memory"].map(|name| open(&format!("/proc/pressure/{name}"))),
            cpu_stat,
            frozen: frozen.map(|path| open(&path)),
            each_processor: false,
            warmth: Mutex::new(None),
            machine: Mutex::new(None),
        }
    }

    /// The same, which looks at each processor or not.
    pub fn with_each_processor(self, each_processor: bool) -> Self {
        Self { each_processor, ..self }
    }

    /// Names of the watched disks, in the order of [`CounterReader::devices`] and of `Snapshot::devices`:
    /// every layer of every subject, each disk once.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.disks.iter().map(|disk| disk.name.as_str())
    }

    /// The counters of the watched disks now, in the order of [`CounterReader::names`]; `None` for a disk
    /// that could not be read this time. A few microseconds per disk, and no allocation once `out`
    /// has its room.
    pub fn devices(&self, out: &mut Vec<Option<DiskCounters>>) {
        out.clear();
        out.extend(self.disks.iter().map(|disk| disk.counters().ok()));
    }

    /// How warm processors and drives are. Opens a file for each processor and more: nothing for the
    /// edges of a timing. A look that is not older than a tenth of a second is told again.
    pub fn warmth(&self) -> Reading<Warmth> {
        let mut last = self.warmth.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = |(at, _): &&(Timestamp, _)| clock::now().since(*at) < WARMTH_LASTS;
        if let Some((_, known)) = last.as_ref().filter(fresh) {
            return known.clone();
        }
        let seen = warmth::read(&self.sys_root, self.names());
        *last = Some((clock::now(), seen.clone()));
        seen
    }

    /// Who reads what runs on these subjects depend on.
    pub fn conditions(&self, subjects: &[&Subject]) -> ConditionReader {
        ConditionReader::new(&self.sys_root, subjects)
    }

    /// Every other process at this moment. Some 15 us for each of them, so seldom.
    ///
    /// # Errors
    /// Why they were not looked at.
    pub fn census(&self) -> Result<ProcessCensus, String> {
        ProcessCensus::take(&self.sys_root)
    }

    /// The limits of control groups on these disks and on us, as they are now.
    pub fn limits(&self, stack: &[BlockLayer]) -> Reading<Limits> {
        self.sys_root.limits(stack)
    }

    /// The limits on these disks, as they are now, by groups that are known.
    ///
    /// # Errors
    /// Why they cannot be seen.
    pub fn io_limits(
        &self,
        groups: &mut KnownGroups,
        stack: &[BlockLayer],
    ) -> Result<Vec<Throttle>, String> {
        groups.io(&self.sys_root, stack)
    }

    /// What others have done since a look at them: [`ProcessCensus::step`].
    ///
    /// # Errors
    /// Why they were not looked at again.
    pub fn step(&self, look: &mut ProcessCensus, last: bool) -> Result<OtherProcesses, String> {
        look.step(&self.sys_root, last)
    }

    /// Everything at this moment. `files` are the open file targets whose page cache matters, with
    /// the names they are to have in the record. The disks are read first: they are what the rest
    /// explains.
    pub fn snapshot(&self, files: &[(String, BorrowedFd)]) -> Snapshot {
        let groups: Vec<_> = files.iter().map(|(name, fd)| (name.clone(), vec![*fd])).collect();
        self.snapshot_of_groups(&groups)
    }

    /// Whether anybody looks at anything.
    pub fn looks(&self) -> bool {
        self.sys_root.looks()
    }

    /// The same of files that are added up under one name.
    pub fn snapshot_of_groups(&self, groups: &[(String, Vec<BorrowedFd>)]) -> Snapshot {
        let at = clock::now();
        let devices = self
            .disks
            .iter()
            .map(|disk| DeviceReading { name: disk.name.clone(), counters: disk.counters().into() })
            .collect();
        let mut buffer = vec![0; 16384];
        let filesystems = self
            .filesystems
            .iter()
            .map(|filesystem| FilesystemReading {
                name: filesystem.name.clone(),
                writes: filesystem.writes(&self.sys_root, &mut buffer).into(),
            })
            .collect();
        let own = self.own.text(&mut buffer).and_then(own_io::parse).into();
        let cache = groups
            .iter()
            .map(|(path, fds)| CacheReading {
                path: path.clone(),
                pages: Reading::added_up(fds.iter().map(|fd| pagecache::pages(*fd))),
            })
            .collect();
        let MachineReading { memory, cpu_throttled, frozen, pressure, lost, idle } =
            self.machine(&mut buffer);
        let cpu = cpu::read(lost);
        Snapshot {
            at,
            devices,
            cache,
            memory,
            own,
            cpu,
            cpu_throttled,
            pressure,
            idle,
            filesystems,
            suspended: clock::suspended(),
            frozen,
            tracer: tracer(&self.sys_root),
        }
    }

    /// The machine around. Where no disk is watched, a look that is not older than 5 ms is told again.
    fn machine(&self, buffer: &mut Vec<u8>) -> MachineReading {
        if !self.disks.is_empty() {
            return self.look_around(buffer);
        }
        let mut last = self.machine.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = |(at, _): &&(Timestamp, _)| clock::now().since(*at) < MACHINE_LASTS;
        if let Some((_, known)) = last.as_ref().filter(fresh) {
            return known.clone();
        }
        let seen = self.look_around(buffer);
        *last = Some((clock::now(), seen.clone()));
        seen
    }

    fn look_around(&self, buffer: &mut Vec<u8>) -> MachineReading {
        let stat = self.stat.text(buffer).ok();
        let idle = stat.filter(|_| self.each_processor).map(processors::each).unwrap_or_default();
        let lost = CpuLost::read(&self.sys_root, stat);
        let mut second = vec![0; 16384];
        let vmstat = self.vmstat.text(&mut second).ok();
        let page = rustix::param::page_size() as u64;
        let meminfo = self.meminfo.text(buffer);
        let memory = meminfo.and_then(|meminfo| memory::parse(meminfo, vmstat, page)).into();
        let cpu_throttled = match &self.cpu_stat {
            Err(why) => Reading::Unseen(why.clone()),
            Ok(files) => cgroup::throttled(
                files.iter().map(|(file, kind)| (*kind, file.text(buffer).map(str::to_string))),
            )
            .into(),
        };
        let frozen = self.frozen.as_ref();
        let frozen = frozen.and_then(|file| cgroup::frozen(file.text(buffer).ok()?));
        MachineReading { memory, cpu_throttled, frozen, pressure: self.pressure(), lost, idle }
    }

    fn pressure(&self) -> Reading<Pressure> {
        let texts = self.pressure.each_ref().map(|file| {
            let mut buffer = vec![0; 4608];
            file.text(&mut buffer).map(str::to_string)
        });
        pressure::join(texts.each_ref().map(|t| t.as_deref().map_err(Clone::clone)))
    }

    /// What somebody who watches wants to know of this moment: the disks, and the whole machine
    /// around them. Like the snapshot it reads the disks first. The processes cost the most: about
    /// 15 us each.
    pub fn look(&self) -> SystemSample {
        let at = clock::now();
        let devices = self.disks.iter().map(|disk| self.present(disk)).collect();
        let (mut buffer, mut second) = (vec![0; 16384], vec![0; 16384]);
        let vmstat = self.vmstat.text(&mut second).ok();
        let page = rustix::param::page_size() as u64;
        let meminfo = self.meminfo.text(&mut buffer);
        let memory = meminfo.clone().and_then(|text| memory::parse(text, vmstat, page)).into();
        let cached = meminfo.and_then(memory::cached).into();
        let processors = self.stat.text(&mut buffer).and_then(processors::parse).into();
        let pressure = self.pressure();
        let processes = self.sys_root.processes();
        SystemSample { at, devices, memory, cached, pressure, processors, processes }
    }

    /// The counters of a disk that has a medium. A reader whose card was pulled, and a loop device
    /// without its file, go on counting nothing.
    fn present(&self, disk: &WatchedDisk) -> DeviceReading {
        let size = format!("/sys/block/{}/size", disk.name);
        let counters = match self.sys_root.number(&size) {
            Some(0) => Reading::Unseen(format!("{size}: 0, there is no medium")),
            _ => disk.counters().into(),
        };
        DeviceReading { name: disk.name.clone(), counters }
    }
}

/// The file systems on the devices that the subjects name, each once, of those that keep accounts of what they write.
fn filesystems(sys_root: &SysRoot, subjects: &[Subject]) -> Vec<WatchedFilesystem> {
    let mut all: Vec<WatchedFilesystem> = Vec::new();
    for subject in subjects.iter().filter(|subject| subject.kind != PathKind::Device) {
        let Some(space) = subject.space.seen() else { continue };
        for layer in subject.stack.iter().filter(|layer| layer.level == 0) {
            let name = layer.entered_by();
            if all.iter().all(|known| known.name != *name) {
                all.extend(WatchedFilesystem::on(sys_root, name, space.block));
            }
        }
    }
    all
}

/// Who traces this process.
fn tracer(sys_root: &SysRoot) -> Option<u32> {
    let text = sys_root.text("/proc/self/status").ok()?;
    let (_, rest) = text.split_once("\nTracerPid:")?;
    rest.lines().next()?.trim().parse().ok().filter(|pid| *pid > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;
    use std::path::Path;

    use assay_plan::unit::Bytes;

    fn counter_reader() -> CounterReader {
        let sys_root = SysRoot::default();
        let subject = sys_root.subject(Path::new("/"));
        CounterReader::new(&sys_root, &[subject])
    }

    #[test]
    fn a_snapshot_of_this_machine() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let snapshot = counter_reader().snapshot(&[("x".into(), file.as_file().as_fd())]);
        println!("{snapshot:#?}");
        assert!(snapshot.memory.seen().is_some_and(|m| m.total.0 > 0));
        assert_eq!(snapshot.cache.len(), 1);
    }

    #[test]
    fn the_machine_around_is_looked_at_anew_unless_there_is_no_disk_and_no_time() {
        let folder = tempfile::tempdir().unwrap();
        let tell = |available: u64| {
            let text = format!(
                "MemTotal: 9 kB\nMemAvailable: {available} kB\nDirty: 0 kB\nWriteback: 0 kB\n"
            );
            std::fs::create_dir_all(folder.path().join("proc")).unwrap();
            std::fs::write(folder.path().join("proc/meminfo"), text).unwrap();
        };
        let sys_root = SysRoot::under(folder.path());
        for disks in [false, true] {
            tell(8);
            let mut counter_reader = CounterReader::over(&sys_root, []);
            if disks {
                let stat = OpenCounter::open(&sys_root, "/sys/block/sda/stat");
                counter_reader.disks.push(WatchedDisk { name: "sda".into(), stat });
            }
            let available = || counter_reader.snapshot(&[]).memory.seen().unwrap().available;
            // What is seen first lasts from here on at the least.
            let began = clock::now();
            assert_eq!(available(), Bytes::kib(8));
            tell(7);
            let now = available();
            let at_once = clock::now().since(began) < MACHINE_LASTS;
            assert!(now == Bytes::kib(if disks { 7 } else { 8 }) || !disks && !at_once);
            std::thread::sleep(MACHINE_LASTS.into());
            assert_eq!(available(), Bytes::kib(7));
        }
    }

    #[test]
    fn counters_grow_with_time() {
        let counter_reader = counter_reader();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        counter_reader.devices(&mut before);
        counter_reader.devices(&mut after);
        assert_eq!(
            (before.len(), after.len()),
            (counter_reader.names().len(), counter_reader.names().len())
        );
        for (before, after) in before.iter().zip(&after) {
            if let (Some(before), Some(after)) = (before, after) {
                assert!(after.reads >= before.reads && after.write_bytes >= before.write_bytes);
            }
        }
    }

    #[test]
    fn an_empty_scene_is_unseen_not_zero() {
        let folder = tempfile::tempdir().unwrap();
        let snapshot = CounterReader::new(&SysRoot::under(folder.path()), &[]).snapshot(&[]);
        assert_eq!(snapshot.own.why(), Some("/proc/self/io: No such file or directory (ENOENT)"));
        assert!(snapshot.memory.why().is_some() && snapshot.pressure.why().is_some());
        let sys_root = SysRoot::under(folder.path());
        let cpu = cpu::read(CpuLost::read(&sys_root, None));
        assert!(cpu.seen().is_some_and(|cpu| cpu.steal.is_none() && cpu.run_delay.is_none()));
    }

    #[test]
    fn what_it_costs() {
        let counter_reader = counter_reader();
        let mut out = Vec::new();
        let cost = |mut what: Box<dyn FnMut() + '_>| {
            what();
            let mut best = u64::MAX;
            for _ in 0..20 {
                let began = clock::now();
                for _ in 0..10 {
                    what();
                }
                best = best.min(clock::now().since(began).0 / 10);
            }
            best
        };
        println!("snapshot: {} ns", cost(Box::new(|| drop(counter_reader.snapshot(&[])))));
        println!(
            "devices of {}: {} ns",
            counter_reader.names().len(),
            cost(Box::new(|| counter_reader.devices(&mut out)))
        );
        println!("Vec room {}", out.capacity());
    }
}
