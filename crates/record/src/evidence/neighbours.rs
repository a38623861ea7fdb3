//! Who else is there: what other processes used and moved between two looks at them.
//!
//! No counter of a device says whose its bytes were. What each process did in the same time does,
//! as far as it is still there to be asked. Kernel threads are left out, for they work for others.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, statx};
use serde::{Deserialize, Serialize};

use super::SysRoot;
use super::counter_delta::time_grown;
use super::processes::{InheritedIo, Process, ProcessIo};
use assay_engine::sys::clock;
use assay_plan::unit::{Bytes, Nanos, Timestamp};

/// Looking at more processes than this would itself be work worth a word: about 15 us each.
const MOST: usize = 2000;

/// Less of one CPU than this is nobody's trouble.
const CPU_LEAST: f64 = 0.05;

/// Fewer bytes than these, likewise: sixteen small I/Os.
const BYTES_LEAST: Bytes = Bytes::kib(64);

/// The thread that makes the inode tables of ext4 file systems which were made without them (`fs/ext4/super.c`).
const LAZY_INIT: &str = "ext4lazyinit";

/// Nobody's open files are looked at beyond this many.
const FILES_MOST: usize = 1000;

/// The children of a script are looked for this often, with this pause: for a moment between two of them there is none.
const LOOKS: u32 = 6;
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(5);

/// Other processes while a phase went on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OtherProcesses {
    /// Between the two looks at them: from the first sample of the phase to its end.
    pub time: Nanos,
    /// Those that used a twentieth of a CPU or moved 64 KiB in that time, by number; then children of those of whose
    /// work others did a part that have ended, which did little themselves.
    pub processes: Vec<OtherProcess>,
    /// CPU time of the kernel's own threads in that time, ns: writeback, journals, completions, the workers of
    /// loop devices and file systems. Absent in records of before.
    #[serde(rename = "kernel_ns", skip_serializing_if = "Option::is_none", default)]
    pub kernel: Option<Nanos>,
    /// The thread of the kernel that makes the inode tables of new ext4 file systems, and reads ahead the maps of free blocks of
    /// others, was there at both looks (`ext4lazyinit`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lazy_init: bool,
}

impl OtherProcesses {
    /// What was done in one stretch of time after another, the end of which was this look.
    pub fn then(mut self, later: Self, look: &ProcessCensus) -> Self {
        self.processes
            .iter_mut()
            .for_each(|one| one.ended = !look.processes.contains_key(&one.pid));
        for one in later.processes {
            match self
                .processes
                .iter_mut()
                .find(|known| (known.pid, &known.name) == (one.pid, &one.name))
            {
                Some(known) => known.add(one),
                None => self.processes.push(one),
            }
        }
        let both = |first: Option<Nanos>, second: Option<Nanos>| Some(first? + second?);
        Self {
            time: self.time + later.time,
            kernel: both(self.kernel, later.kernel),
            lazy_init: self.lazy_init || later.lazy_init,
            ..self
        }
    }
}

impl OtherProcess {
    /// What it did later; its files are where they were at any time.
    fn add(&mut self, later: Self) {
        let sum = |first: Option<Bytes>, second: Option<Bytes>| match (first, second) {
            (Some(first), Some(second)) => Some(first + second),
            (first, second) => first.or(second),
        };
        self.cpu += later.cpu;
        self.read = sum(self.read, later.read);
        self.written = sum(self.written, later.written);
        self.by_ended = sum(self.by_ended, later.by_ended);
        self.open_on = match (self.open_on.take(), later.open_on) {
            (Some(mut first), Some(second)) => {
                first.extend(second);
                first.sort_unstable();
                first.dedup();
                Some(first)
            }
            (first, second) => first.or(second),
        };
    }
}

/// What another process did between two looks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OtherProcess {
    /// Its number.
    pub pid: u32,
    /// The number of the process whose child it is. Absent in records of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
    /// Its name, of at most 15 characters, with nothing in it that a terminal would obey.
    pub name: String,
    /// CPU time of all its threads.
    pub cpu: Nanos,
    /// Bytes that it had read from devices; absent when only its owner may know.
    pub read: Option<Bytes>,
    /// Bytes that it wrote to devices, or to memory that is written to them later; absent likewise.
    pub written: Option<Bytes>,
    /// Bytes of both that it did not move itself, at the least: children and threads of it did that have
    /// ended meanwhile. Absent where that is nothing, or could not be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_ended: Option<Bytes>,
    /// Disks on which it had files open at the end, or which it had open themselves, by kernel name; a
    /// file system without a device of its own (btrfs) by its number, as `0:45`. Absent likewise.
    pub open_on: Option<Vec<String>>,
    /// It was gone at the last look.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
}

/// Every process at one moment.
#[derive(Clone)]
pub struct ProcessCensus {
    at: Timestamp,
    processes: BTreeMap<u32, Process>,
    /// CPU time of each thread of the kernel, by its number and birth.
    kernel: BTreeMap<(u32, u64), Nanos>,
    /// One of them makes inode tables.
    lazy_init: bool,
    /// Where those have their files who did something since a look before.
    open_on: BTreeMap<u32, Option<Vec<String>>>,
}

impl ProcessCensus {
    /// Looks at every process but this one and its children.
    ///
    /// # Errors
    /// There are too many, or none can be seen: why.
    pub fn take(sys_root: &SysRoot) -> Result<Self, String> {
        Self::after(None, sys_root)
    }

    /// What others have done since then, those who did nothing to speak of left out; this look is the first one of what
    /// follows. Who has ended in between is not here any more; what he did in that time is with whoever waited for him.
    /// After the last look nothing follows: then children are looked for, too, that have just begun.
    ///
    /// # Errors
    /// Likewise.
    pub fn step(&mut self, sys_root: &SysRoot, last: bool) -> Result<OtherProcesses, String> {
        let later = Self::after(Some(self), sys_root)?;
        let done = self.until(&later, sys_root, last);
        *self = later;
        Ok(done)
    }

    fn until(&self, later: &Self, sys_root: &SysRoot, last: bool) -> OtherProcesses {
        let time = later.at.since(self.at);
        let mut processes = Vec::new();
        let there = |then: &Process| later.processes.get(&then.pid).is_some_and(|now| now.is(then));
        let inherited = InheritedIo::between(self.processes.values(), there);
        for (&pid, now) in &later.processes {
            if let Some((cpu, moved)) = self.done(now, later.at, &inherited) {
                processes.push(OtherProcess {
                    pid,
                    parent: Some(now.parent),
                    name: now.name.clone(),
                    cpu,
                    read: moved.map(|io| io.read),
                    written: moved.map(|io| io.write),
                    by_ended: moved.and_then(|moved| by_ended(sys_root, pid, moved)),
                    open_on: later.open_on.get(&pid).cloned().flatten(),
                    ended: false,
                });
            }
        }
        if last && processes.iter().any(|one| one.by_ended >= Some(BYTES_LEAST)) {
            processes.extend(late_children(sys_root, &processes));
        }
        let lazy_init = self.lazy_init && later.lazy_init;
        let kernel = Some(self.kernel_until(later));
        OtherProcesses { time, processes, kernel, lazy_init }
    }

    /// Every process now. Where those have their files who did something since an earlier look is looked up with each of
    /// them: a moment later it may be gone.
    fn after(first: Option<&Self>, sys_root: &SysRoot) -> Result<Self, String> {
        let at = clock::now();
        let numbers = sys_root.others();
        match numbers.len() {
            0 => return Err("/proc: no processes can be seen".into()),
            1..=MOST => {}
            many => return Err(format!("/proc: {many} processes are too many to look at")),
        }
        let mut census = Self {
            at,
            processes: BTreeMap::new(),
            kernel: BTreeMap::new(),
            lazy_init: false,
            open_on: BTreeMap::new(),
        };
        // Who has ended is known at the end only: until then what a process inherited counts as its own.
        let none = InheritedIo::default();
        for pid in numbers {
            let Some(process) = census.look(sys_root, pid) else { continue };
            if first.is_some_and(|first| first.done(&process, at, &none).is_some()) {
                census.open_on.insert(pid, open_on(sys_root, pid));
            }
            census.processes.insert(pid, process);
        }
        Ok(census)
    }

    /// The CPU time of a process since then, and what it moved, where one of them is worth a word.
    fn done(
        &self,
        now: &Process,
        at: Timestamp,
        inherited: &InheritedIo,
    ) -> Option<(Nanos, Option<ProcessIo>)> {
        let then = self.processes.get(&now.pid).filter(|then| then.is(now));
        let (cpu, moved) = (now.cpu_since(then), now.moved_since(then, inherited));
        let busy = cpu.0 as f64 >= at.since(self.at).0 as f64 * CPU_LEAST;
        let moving = moved.is_some_and(|io| io.read + io.write >= BYTES_LEAST);
        (busy || moving).then_some((cpu, moved))
    }

    /// One process, unless it is of this run, or gone. Of a thread of the kernel only its CPU time is noted, and whether
    /// it makes inode tables.
    fn look(&mut self, sys_root: &SysRoot, pid: u32) -> Option<Process> {
        let ours = std::process::id();
        sys_root.process(pid, |stat| {
            if stat.of_kernel() {
                self.kernel.insert((pid, stat.born()), stat.cpu());
                self.lazy_init |= stat.name == LAZY_INIT;
                return false;
            }
            !sys_root.real() || stat.parent != ours
        })
    }

    /// CPU time of the kernel's threads that are there at both looks, or have begun between them.
    fn kernel_until(&self, later: &Self) -> Nanos {
        let then = |thread| self.kernel.get(thread).copied().unwrap_or(Nanos::ZERO);
        later.kernel.iter().map(|(thread, now)| time_grown(then(thread), *now)).sum()
    }
}

/// Children that did too little to be among `found`, of parents of whose work children did a part that have ended: where
/// they have their files, those had theirs.
fn late_children(sys_root: &SysRoot, found: &[OtherProcess]) -> Vec<OtherProcess> {
    let told: BTreeSet<u32> = found.iter().map(|one| one.pid).collect();
    let mut parents: BTreeSet<u32> =
        found.iter().filter(|one| one.by_ended >= Some(BYTES_LEAST)).map(|one| one.pid).collect();
    for one in found.iter().filter(|one| one.open_on.as_ref().is_some_and(|on| !on.is_empty())) {
        one.parent.map(|parent| parents.remove(&parent));
    }
    let mut children = Vec::new();
    for look in 0..LOOKS {
        if look > 0 && sys_root.real() {
            std::thread::sleep(LOOK_AGAIN_AFTER);
        }
        for pid in sys_root.others().into_iter().filter(|pid| !told.contains(pid)) {
            let process = sys_root.process(pid, |stat| parents.contains(&stat.parent));
            let Some(Process { parent, name, .. }) = process else { continue };
            if let Some(open_on) = open_on(sys_root, pid).filter(|on| !on.is_empty()) {
                parents.remove(&parent);
                children.push(OtherProcess {
                    pid,
                    parent: Some(parent),
                    name,
                    cpu: Nanos::ZERO,
                    read: None,
                    written: None,
                    by_ended: None,
                    open_on: Some(open_on),
                    ended: false,
                });
            }
        }
        if parents.is_empty() {
            break;
        }
    }
    children
}

/// What is more than all that its living threads have ever moved was not moved by them.
fn by_ended(sys_root: &SysRoot, pid: u32, moved: ProcessIo) -> Option<Bytes> {
    let own = sys_root.threads_io(pid)?;
    let rest = moved.read.less(own.read) + moved.write.less(own.write);
    (rest > Bytes::ZERO).then_some(rest)
}

/// Where a process has its files; `None` when only its owner may know.
fn open_on(sys_root: &SysRoot, pid: u32) -> Option<Vec<String>> {
    let entries = std::fs::read_dir(sys_root.at(format!("/proc/{pid}/fd"))).ok()?;
    let files = entries.flatten().take(FILES_MOST);
    let mut devices: Vec<_> = files.filter_map(|entry| device(&entry.path())).collect();
    devices.sort_unstable();
    devices.dedup();
    let mut disks: Vec<String> = devices.into_iter().map(|number| disk(sys_root, number)).collect();
    disks.dedup();
    Some(disks)
}

/// The device that an open file lies on, or is: major and minor number. From what the kernel knows by
/// itself (AT_STATX_DONT_SYNC): the server of a file system that hangs is not asked.
fn device(open: &std::path::Path) -> Option<(u32, u32)> {
    let file = statx(CWD, open, AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE).ok()?;
    match FileType::from_raw_mode(u32::from(file.stx_mode)) {
        FileType::BlockDevice => Some((file.stx_rdev_major, file.stx_rdev_minor)),
        FileType::RegularFile | FileType::Directory => {
            Some((file.stx_dev_major, file.stx_dev_minor))
        }
        _ => None,
    }
}

/// The kernel's name of the disk with this number, or with this partition; else the number.
fn disk(sys_root: &SysRoot, (major, minor): (u32, u32)) -> String {
    let number = format!("{major}:{minor}");
    let folder = sys_root.real_folder(&format!("/sys/dev/block/{number}"));
    // A partition lies below its disk: .../block/vda/vda1.
    let name =
        |folder: String| Some(folder.rsplit_once("/block/")?.1.split('/').next()?.to_string());
    folder.ok().and_then(name).unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::super::fake::FakeSysRoot;
    use super::*;

    /// `PF_KTHREAD`.
    const KERNEL_THREAD: u64 = 0x0020_0000;

    fn process(tree: &FakeSysRoot, pid: u32, stat: &str, io: Option<(u64, u64)>) {
        tree.file(&format!("proc/{pid}/stat"), stat);
        if let Some((read, written)) = io {
            let text = format!(
                "rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: {read}\nwrite_bytes: {written}\ncancelled_write_bytes: 0\n"
            );
            tree.file(&format!("proc/{pid}/io"), &text);
        }
    }

    #[test]
    fn what_others_did_is_what_their_counters_grew_by() {
        let here = &FakeSysRoot::new();
        let (sys_root, mib) = (here.sys_root(), 1 << 20);
        let stat = |pid: u32, flags: u64, ticks: u64, born: u64| {
            format!("{pid} (dd) R 1 1 1 0 -1 {flags} 0 0 0 0 {ticks} 0 0 0 20 0 1 0 {born} 0 0")
        };
        process(here, 5, &stat(5, 0, 10, 1), Some((0, 7 * mib)));
        process(here, 6, &stat(6, KERNEL_THREAD, 10, 1), Some((0, 0)));
        process(here, 7, &stat(7, 0, 10, 1), Some((0, 0)));
        process(here, 8, &stat(8, 0, 10, 1), None);
        let first = ProcessCensus::take(&sys_root).unwrap();
        process(here, 5, &stat(5, 0, 10, 1), Some((0, 9 * mib)));
        process(here, 6, &stat(6, KERNEL_THREAD, 9999, 1), Some((0, 90 * mib)));
        process(here, 7, &stat(7, 0, 10, 1), Some((10, 10)));
        process(here, 8, &stat(8, 0, 900_000, 1), None);
        process(here, 9, &stat(9, 0, 10, 2), Some((3 * mib, 0)));
        let found = first.clone().step(&sys_root, true).unwrap();
        assert!(!found.lazy_init);
        let lazy = stat(4, KERNEL_THREAD, 10, 1).replace("dd", "ext4lazyinit");
        process(here, 4, &lazy, None);
        let there = ProcessCensus::take(&sys_root).unwrap();
        let lazy = |first: &ProcessCensus| first.clone().step(&sys_root, true).unwrap().lazy_init;
        assert!(!lazy(&first) && lazy(&there));
        let found = found.processes;
        let moved = |n: &OtherProcess| (n.pid, n.read, n.written);
        assert_eq!(
            found.iter().map(moved).collect::<Vec<_>>(),
            [
                (5, Some(Bytes::ZERO), Some(Bytes::mib(2))),
                (8, None, None),
                (9, Some(Bytes::mib(3)), Some(Bytes::ZERO))
            ]
        );
        assert!(found[1].cpu > Nanos::secs(100), "{found:?}");
        assert!(found.iter().all(|one| one.open_on.is_none()));
        process(here, 5, &stat(5, 0, 10, 1).replace("dd", "d\u{1b}[m"), None);
        assert_eq!(
            ProcessCensus::take(&sys_root).unwrap().processes[&5].name,
            assay_plan::name::word(b"d\x1b[m")
        );
    }

    #[test]
    fn what_children_did_before_is_not_whose_they_were() {
        let here = &FakeSysRoot::new();
        let (sys_root, mib) = (here.sys_root(), 1 << 20);
        let stat = |pid: u32, parent: u32| {
            format!("{pid} (bash) R {parent} 1 1 0 -1 0 0 0 0 0 9 0 0 0 20 0 1 0 1 0 0")
        };
        let own = |pid: u32, read: u64, written: u64| {
            let io = format!(
                "rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: {read}\nwrite_bytes: {written}\ncancelled_write_bytes: 0\n"
            );
            here.file(&format!("proc/{pid}/task/{pid}/io"), &io);
        };
        // A shell, a script of it, and what that runs; a shell of somebody who hides his programs.
        process(here, 5, &stat(5, 1), Some((0, mib)));
        process(here, 6, &stat(6, 5), Some((0, 0)));
        process(here, 7, &stat(7, 6), Some((0, 900 * mib)));
        process(here, 8, &stat(8, 1), Some((0, 0)));
        process(here, 9, &stat(9, 8), None);
        let first = ProcessCensus::take(&sys_root).unwrap();
        let ended = |pid: u32| here.remove(&format!("proc/{pid}"));
        let found = || {
            let found = first.clone().step(&sys_root, true).unwrap().processes;
            found.iter().map(|n| (n.pid, n.written, n.by_ended)).collect::<Vec<_>>()
        };
        // All that they did was done before: the shell did nothing.
        [6, 7, 9].into_iter().for_each(ended);
        process(here, 5, &stat(5, 1), Some((0, 901 * mib)));
        process(here, 8, &stat(8, 1), Some((0, 700 * mib)));
        assert_eq!(found(), []);
        // What they did since is told, with whose doing it is not.
        process(here, 5, &stat(5, 1), Some((0, 921 * mib)));
        own(5, 0, mib);
        assert_eq!(found(), [(5, Some(Bytes::mib(20)), Some(Bytes::mib(19)))]);
        // A child that has just begun shows where those of before had their files.
        let file = tempfile::NamedTempFile::new().unwrap();
        let begun = |pid: u32, parent: u32| stat(pid, parent).replace(" 9 0", " 0 0");
        process(here, 11, &begun(11, 5), Some((0, 0)));
        here.link_outside("proc/11/fd/3", file.path());
        process(here, 12, &begun(12, 1), Some((0, 0)));
        here.link_outside("proc/12/fd/3", file.path());
        assert_eq!(found(), [(5, Some(Bytes::mib(20)), Some(Bytes::mib(19))), (11, None, None)]);
    }

    #[test]
    fn open_files_tell_the_disk_below_them() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let tree = FakeSysRoot::new();
        let sys_root = tree.sys_root();
        let device = file.as_file().metadata().unwrap().dev();
        let number = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
        tree.link_outside("proc/5/fd/3", file.path());
        assert_eq!(open_on(&sys_root, 5), Some(vec![number.clone()]));
        let disk = "sys/devices/x/block/vda/vda1";
        tree.folder(disk).link(&format!("sys/dev/block/{number}"), disk);
        assert_eq!(open_on(&sys_root, 5), Some(vec!["vda".into()]));
        assert_eq!(open_on(&sys_root, 6), None);
    }

    #[test]
    fn nobody_to_be_seen_is_unseen() {
        let found = ProcessCensus::take(&FakeSysRoot::new().sys_root()).err();
        assert_eq!(found.as_deref(), Some("/proc: no processes can be seen"));
    }

    #[test]
    fn this_process_is_not_its_own_neighbour() {
        let census = ProcessCensus::take(&SysRoot::default()).unwrap();
        assert!(!census.processes.contains_key(&std::process::id()));
    }
}
