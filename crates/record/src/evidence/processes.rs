//! Who is on this machine, and what each has done: `/proc/PID/stat` and `/proc/PID/io`.
//!
//! The kernel counts for a process what it asked of all block devices together; which device, it
//! does not say. Writes are counted when pages are made dirty, not when they reach a device.

use std::collections::{BTreeMap, BTreeSet};

use super::counter_delta::{bytes_grown, time_grown};
use super::sys_root::why;
use super::{Reading, SysRoot, own_io};
use assay_plan::unit::{Bytes, Nanos};

/// `PF_KTHREAD` of the kernel's `include/linux/sched.h`.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// A process and what it has done since it began.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// The number of the process whose child it is.
    pub parent: u32,
    /// When it began, in clock ticks after boot: tells it from a later one with its number.
    pub born: u64,
    /// The name it goes by, of at most 15 characters unless it is a thread of the kernel, with nothing
    /// in it that a terminal would obey.
    pub name: String,
    /// CPU time of all its threads, those that have ended included.
    pub cpu: Nanos,
    /// Its I/O; unseen where this user may not see it.
    pub io: Reading<ProcessIo>,
}

/// I/O of a process with all of its threads, those that have ended included, and with the children that
/// it has waited for, whenever they did it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessIo {
    /// Bytes that it made devices read.
    pub read: Bytes,
    /// Bytes of pages that it made dirty, or handed over directly.
    pub write: Bytes,
}

impl Process {
    /// Whether it is that one, seen at another time.
    pub fn is(&self, other: &Self) -> bool {
        (self.pid, self.born) == (other.pid, other.born)
    }

    /// Its CPU time after an earlier look at it, or since it began.
    pub fn cpu_since(&self, earlier: Option<&Self>) -> Nanos {
        time_grown(earlier.map_or(Nanos::ZERO, |earlier| earlier.cpu), self.cpu)
    }

    /// What it did after an earlier look at it, or, when it was not there yet, since it began, without
    /// what it has inherited. `None` where its I/O could not be seen at one of the two.
    pub fn moved_since(
        &self,
        earlier: Option<&Self>,
        inherited: &InheritedIo,
    ) -> Option<ProcessIo> {
        let now = self.io.seen()?;
        let Some(earlier) = earlier else { return Some(*now) };
        let then = earlier.io.seen()?;
        let late = match inherited.0.get(&self.pid) {
            None => ProcessIo::default(),
            Some(late) => (*late)?,
        };
        Some(ProcessIo {
            read: bytes_grown(then.read, now.read).less(late.read),
            write: bytes_grown(then.write, now.write).less(late.write),
        })
    }
}

/// What processes that ended between two looks at all of them had done before the first. The kernel
/// adds it to whoever waited for them, as if it had been done in between.
#[derive(Debug, Default)]
pub struct InheritedIo(BTreeMap<u32, Option<ProcessIo>>);

/// The process that takes orphans.
const FIRST: u32 = 1;

impl InheritedIo {
    /// Of the processes at the first look, which of them were there at the second.
    pub fn between<'p>(
        then: impl Iterator<Item = &'p Process>,
        there: impl Fn(&Process) -> bool,
    ) -> Self {
        let then: BTreeMap<u32, &Process> = then.map(|process| (process.pid, process)).collect();
        let mut heirs = Self::default();
        for ended in then.values().filter(|process| !there(process)) {
            let io = ended.io.seen().copied();
            let Some(parent) = then.get(&ended.parent) else { continue };
            if there(parent) {
                heirs.add(parent.pid, io);
                continue;
            }
            // It was waited for by its parent, whose heir has it, or by the process that takes orphans.
            heirs.add(FIRST, io);
            if let Some(heir) = heir(&then, &there, parent).filter(|heir| *heir != FIRST) {
                heirs.add(heir, io);
            }
        }
        heirs
    }

    /// One unknown part makes the whole unknown.
    fn add(&mut self, heir: u32, io: Option<ProcessIo>) {
        let known = self.0.entry(heir).or_insert_with(|| Some(ProcessIo::default()));
        *known = known.zip(io).map(|(known, io)| ProcessIo {
            read: known.read + io.read,
            write: known.write + io.write,
        });
    }
}

/// The nearest of its parents that is still there.
fn heir(
    then: &BTreeMap<u32, &Process>,
    there: impl Fn(&Process) -> bool,
    ended: &Process,
) -> Option<u32> {
    let (mut at, mut passed) = (ended.parent, BTreeSet::new());
    while passed.insert(at) {
        let parent = then.get(&at)?;
        if there(parent) {
            return Some(at);
        }
        at = parent.parent;
    }
    None
}

/// One line of `/proc/PID/stat`, as far as it is of use here.
#[derive(Debug, PartialEq)]
pub(super) struct ProcessStat {
    /// The name between its brackets.
    pub name: String,
    /// Whose child it is.
    pub parent: u32,
    flags: u64,
    ticks: u64,
    born: u64,
}

impl ProcessStat {
    /// Parses the line. The name may hold blanks and brackets, so it ends at the last one.
    fn parse(text: &str) -> Option<Self> {
        let (before, rest) = text.trim_end().rsplit_once(") ")?;
        let (_, name) = before.split_once(" (")?;
        let fields: Vec<&str> = rest.split(' ').collect();
        // The first of them is the third field of proc_pid_stat(5).
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        Some(Self {
            name: name.into(),
            parent: number(4)?.try_into().ok()?,
            flags: number(9)?,
            ticks: number(14)?.saturating_add(number(15)?),
            born: number(22)?,
        })
    }

    /// CPU time since it began.
    pub fn cpu(&self) -> Nanos {
        let tick = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
        Nanos(self.ticks.saturating_mul(tick))
    }

    /// When it began, in clock ticks after boot.
    pub fn born(&self) -> u64 {
        self.born
    }

    /// Whether it is a thread of the kernel.
    pub fn of_kernel(&self) -> bool {
        self.flags & KERNEL_THREAD != 0
    }
}

impl SysRoot {
    /// Every process but this one. Unseen when not one of them shows its I/O.
    pub(super) fn processes(&self) -> Reading<Vec<Process>> {
        let all: Vec<Process> =
            self.others().into_iter().filter_map(|pid| self.process(pid, |_| true)).collect();
        if all.iter().any(|process| process.io.seen().is_some()) {
            return Reading::Seen(all);
        }
        let reason = all.iter().find_map(|process| process.io.why());
        Reading::Unseen(reason.unwrap_or("/proc: shows no processes").into())
    }

    /// The numbers of all processes but this one.
    pub(super) fn others(&self) -> Vec<u32> {
        let names = self.names("/proc");
        let numbers = names.iter().filter_map(|name| name.parse().ok());
        numbers.filter(|&pid| !self.real() || pid != std::process::id()).collect()
    }

    /// A process that is `wanted`; of others the I/O is not read. `None` also when it has ended.
    pub(super) fn process(
        &self,
        pid: u32,
        wanted: impl FnOnce(&ProcessStat) -> bool,
    ) -> Option<Process> {
        let stat = ProcessStat::parse(&self.text(format!("/proc/{pid}/stat")).ok()?)?;
        if !wanted(&stat) {
            return None;
        }
        Some(Process {
            pid,
            parent: stat.parent,
            born: stat.born,
            name: printable(&stat.name),
            cpu: stat.cpu(),
            io: self.process_io(pid).into(),
        })
    }

    /// What the threads of a process that live have moved since each began: nothing of it is inherited.
    pub(super) fn threads_io(&self, pid: u32) -> Option<ProcessIo> {
        let threads = self.names(format!("/proc/{pid}/task"));
        let one = |thread: &String| self.io_of(&format!("/proc/{pid}/task/{thread}/io")).ok();
        let all: Vec<ProcessIo> = threads.iter().map(one).collect::<Option<_>>()?;
        let sum = |part: fn(&ProcessIo) -> Bytes| all.iter().map(part).sum();
        (!all.is_empty()).then(|| ProcessIo { read: sum(|io| io.read), write: sum(|io| io.write) })
    }

    /// What one process has moved since it began.
    fn process_io(&self, pid: u32) -> Result<ProcessIo, String> {
        self.io_of(&format!("/proc/{pid}/io"))
    }

    fn io_of(&self, path: &str) -> Result<ProcessIo, String> {
        let path = self.at(path);
        let text = std::fs::read_to_string(path).map_err(|error| why("/proc/PID/io", &error))?;
        let io = own_io::parse(&text)?;
        Ok(ProcessIo { read: io.read_bytes, write: io.write_bytes })
    }
}

/// The name without what would move a terminal's cursor: a process may call itself anything.
fn printable(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeSysRoot;
    use super::*;

    const STAT: &str = "77 (a (b) c) R 1 77 77 0 -1 4194304 99 0 0 0 250 50 0 0 20 0 1 0 4711 2301952 410 18446744073709551615 1 1 0\n";
    const ABSENT: &str = "/proc/PID/io: No such file or directory (ENOENT)";
    const IO: &str = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n";

    #[test]
    fn a_name_may_hold_brackets() {
        let stat = ProcessStat::parse(STAT).unwrap();
        assert_eq!((stat.name.as_str(), stat.parent, stat.ticks), ("a (b) c", 1, 300));
        assert_eq!((stat.of_kernel(), stat.born), (false, 4711));
        assert!(ProcessStat::parse(&STAT.replace("4194304", "2129984")).unwrap().of_kernel());
        assert_eq!(ProcessStat::parse("77 (sh) R 1"), None);
        assert_eq!(ProcessStat::parse(""), None);
    }

    #[test]
    fn a_process_without_io_is_there_and_not_idle() {
        let tree = FakeSysRoot::of(&[
            ("proc/7/stat", STAT),
            ("proc/7/io", IO),
            ("proc/8/stat", &STAT.replace("a (b) c", "\u{1b}[2J")),
            ("proc/uptime", "1 1\n"),
        ]);
        let io = ProcessIo { read: Bytes(4096), write: Bytes(8192) };
        let process = |pid, name: &str, io| Process {
            pid,
            parent: 1,
            born: 4711,
            name: name.into(),
            cpu: Nanos(300 * 1_000_000_000 / rustix::param::clock_ticks_per_second()),
            io,
        };
        assert_eq!(
            tree.sys_root().processes(),
            Reading::Seen(vec![
                process(7, "a (b) c", Reading::Seen(io)),
                process(8, &assay_plan::name::word(b"\x1b[2J"), Reading::Unseen(ABSENT.into())),
            ])
        );
    }

    #[test]
    fn where_no_process_tells_the_reason_does() {
        let tree = FakeSysRoot::of(&[("proc/8/stat", STAT)]);
        assert_eq!(tree.sys_root().processes(), Reading::Unseen(ABSENT.into()));
    }

    #[test]
    fn a_child_is_seen_and_we_are_not() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let all = SysRoot::default().processes();
        child.kill().unwrap();
        child.wait().unwrap();
        let Reading::Seen(all) = all else { panic!("{all:?}") };
        let found = all.iter().find(|process| process.pid == child.id());
        assert!(found.is_some_and(|found| found.io.seen().is_some()), "{found:?}");
        assert!(all.iter().all(|process| process.pid != std::process::id()));
    }
}
