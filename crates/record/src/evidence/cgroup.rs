//! Limits of control groups, version 1 and 2, from our own group up to the root.
//!
//! A container often sees only a part of the tree: limits above its visible root exist and cannot
//! be read, which is said (`partly_hidden`) and not taken for "no limits".

use super::mount::{self, MountEntry};
use super::sys_root::why;
use super::{
    BlockLayer, CpuThrottled, DeviceNumber, Direction, LimitValue, Limits, Reading, SysRoot,
    Throttle,
};
use assay_plan::unit::{Bytes, Nanos};

/// Which of the two versions a hierarchy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CgroupVersion {
    One,
    Two,
}

/// The folders of one hierarchy that hold for us, our own group first, then its parents.
#[derive(Clone, Debug, PartialEq)]
struct CgroupPath {
    version: CgroupVersion,
    /// Controllers; empty for version 2, where the files that are there tell.
    controllers: Vec<String>,
    folders: Vec<String>,
    /// The last folder is not the root of the machine's hierarchy.
    hidden: bool,
}

impl CgroupPath {
    fn controls(&self, controller: &str) -> bool {
        self.version == CgroupVersion::Two || self.controllers.iter().any(|c| c == controller)
    }
}

/// One line of `/proc/self/cgroup`: `4:memory:/a/b`, `0::/a/b`.
fn membership(line: &str) -> Option<(CgroupVersion, Vec<String>, String)> {
    let mut parts = line.splitn(3, ':');
    let number = parts.next()?;
    let controllers: Vec<String> =
        parts.next()?.split(',').filter(|c| !c.is_empty()).map(String::from).collect();
    let version = if number == "0" { CgroupVersion::Two } else { CgroupVersion::One };
    Some((version, controllers, parts.next()?.to_string()))
}

/// The groups of this process as they were found, for whoever looks at their limits again and again: the mounts are
/// read once, and once more when the process is in other groups.
#[derive(Debug, Default)]
pub struct KnownGroups {
    /// `/proc/self/cgroup` at that time.
    membership: String,
    found: Option<Vec<CgroupPath>>,
}

impl KnownGroups {
    /// The limits on these disks as they are now; those that were found before where nothing else can be seen.
    ///
    /// # Errors
    /// Why they cannot be seen.
    pub fn io(
        &mut self,
        sys_root: &SysRoot,
        stack: &[BlockLayer],
    ) -> Result<Vec<Throttle>, String> {
        let membership = sys_root.text("/proc/self/cgroup")?;
        let groups = match &mut self.found {
            Some(known) if self.membership == membership => known,
            found => {
                self.membership = membership;
                found.insert(groups(sys_root)?.0)
            }
        };
        let mut limits = Limits::default();
        for group in groups {
            for folder in &group.folders {
                sys_root.io_limits_of(group, folder, &mut limits)?;
            }
        }
        sys_root.only_on(stack, &mut limits);
        Ok(limits.io)
    }
}

/// All hierarchies that we are in and that are mounted; and whether one of interest is not.
fn groups(sys_root: &SysRoot) -> Result<(Vec<CgroupPath>, bool), String> {
    const OF_INTEREST: [&str; 3] = ["blkio", "memory", "cpu"];
    if !sys_root.has("/proc/self/cgroup") && sys_root.has("/proc/self/mountinfo") {
        // This kernel was built without control groups, so there are no limits.
        return Ok((Vec::new(), false));
    }
    let text = sys_root.text("/proc/self/cgroup")?;
    let mounts = mount::parse(&sys_root.text("/proc/self/mountinfo")?);
    let (mut found, mut absent) = (Vec::new(), false);
    for (version, controllers, path) in text.lines().filter_map(membership) {
        if version == CgroupVersion::One && !controllers.iter().any(|c| OF_INTEREST.contains(&&**c))
        {
            continue;
        }
        let fits = |entry: &&MountEntry| match version {
            CgroupVersion::Two => entry.mount.kind == "cgroup2",
            CgroupVersion::One => {
                let options: Vec<&str> = entry.super_options.split(',').collect();
                entry.mount.kind == "cgroup" && controllers.iter().all(|c| options.contains(&&**c))
            }
        };
        let candidates: Vec<&MountEntry> = mounts.iter().filter(fits).collect();
        let inside = candidates.iter().find(|entry| mount::below(&path, &entry.root).is_some());
        let Some(entry) = inside.or(candidates.first()) else {
            absent = true;
            continue;
        };
        found.push(walk(sys_root, version, controllers, &path, entry));
    }
    Ok((found, absent))
}

fn walk(
    sys_root: &SysRoot,
    version: CgroupVersion,
    controllers: Vec<String>,
    path: &str,
    entry: &MountEntry,
) -> CgroupPath {
    let point = entry.mount.point.trim_end_matches('/');
    let below = mount::below(path, &entry.root);
    // A path with ".." is outside the root of our control group namespace.
    let outside = below.is_none_or(|below| below.split('/').any(|part| part == ".."));
    let mut rest = if outside { "" } else { below.unwrap_or("") };
    let mut folders = Vec::new();
    while !rest.is_empty() {
        let folder = format!("{point}/{rest}");
        if sys_root.has(&folder) {
            folders.push(folder);
        }
        rest = rest.rsplit_once('/').map_or("", |(parent, _)| parent);
    }
    folders.push(point.to_string());
    // Only groups other than the root have a type (version 2); only the root has a release agent.
    let is_root = match version {
        CgroupVersion::Two => !sys_root.has(format!("{point}/cgroup.type")),
        CgroupVersion::One => {
            sys_root.has(format!("{point}/release_agent"))
                || sys_root.has(format!("{point}/cgroup.sane_behavior"))
        }
    };
    let hidden = outside || entry.root != "/" || !is_root;
    CgroupPath { version, controllers, folders, hidden }
}

impl SysRoot {
    /// The limits on this process. Of the limits on disks only those on disks of `stack` are kept;
    /// all of them when the stack is empty.
    pub fn limits(&self, stack: &[BlockLayer]) -> Reading<Limits> {
        let (groups, absent) = match groups(self) {
            Ok(found) => found,
            Err(why) => return Reading::Unseen(why),
        };
        if groups.is_empty() && absent {
            return Reading::Unseen("control groups: in use, but mounted nowhere".into());
        }
        let mut limits = Limits { partly_hidden: absent, ..Limits::default() };
        let mut unread = None;
        for group in &groups {
            limits.partly_hidden |= group.hidden;
            for folder in &group.folders {
                if let Err(why) = self.folder_limits(group, folder, &mut limits) {
                    unread = Some(why);
                }
            }
        }
        if let Some(why) = unread {
            return Reading::Unseen(why);
        }
        self.only_on(stack, &mut limits);
        Reading::Seen(limits)
    }

    /// Keeps the limits on the disks of `stack`, all of them when it is empty, and names these disks.
    fn only_on(&self, stack: &[BlockLayer], limits: &mut Limits) {
        if !stack.is_empty() {
            limits.io.retain(|throttle| stack.iter().any(|l| l.number == throttle.device));
        }
        for throttle in &mut limits.io {
            let known = stack.iter().find(|layer| layer.number == throttle.device);
            throttle.name = known.map(|layer| layer.name.clone()).unwrap_or_else(|| {
                let DeviceNumber { major, minor } = throttle.device;
                let folder = self.real_folder(&format!("/sys/dev/block/{major}:{minor}"));
                folder.map_or(String::new(), |f| f.rsplit('/').next().unwrap_or("").to_string())
            });
        }
    }

    /// A file of a group, if it has it.
    fn of_group(&self, folder: &str, name: &str) -> Result<Option<String>, String> {
        let path = format!("{folder}/{name}");
        match std::fs::read_to_string(self.at(&path)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(why(&path, &error)),
        }
    }

    /// Adds the limits of one group on disks.
    fn io_limits_of(
        &self,
        group: &CgroupPath,
        folder: &str,
        limits: &mut Limits,
    ) -> Result<(), String> {
        match group.version {
            CgroupVersion::Two => {
                if let Some(text) = self.of_group(folder, "io.max")? {
                    limits.io.extend(io_max(&text, &format!("{folder}/io.max")));
                }
            }
            CgroupVersion::One if group.controls("blkio") => {
                for (name, direction, of_bytes) in [
                    ("read_bps", Direction::Read, true),
                    ("write_bps", Direction::Write, true),
                    ("read_iops", Direction::Read, false),
                    ("write_iops", Direction::Write, false),
                ] {
                    let name = format!("blkio.throttle.{name}_device");
                    if let Some(text) = self.of_group(folder, &name)? {
                        let file = format!("{folder}/{name}");
                        limits.io.extend(blkio(&text, &file, direction, of_bytes));
                    }
                }
            }
            CgroupVersion::One => {}
        }
        Ok(())
    }

    /// Adds the limits of one group. A file that is not there sets no limit; one that is there and
    /// cannot be read is an error.
    fn folder_limits(
        &self,
        group: &CgroupPath,
        folder: &str,
        limits: &mut Limits,
    ) -> Result<(), String> {
        let read = |name: &str| self.of_group(folder, name);
        self.io_limits_of(group, folder, limits)?;
        let least = |old: Option<Bytes>, new: Option<u64>| match (old, new.map(Bytes)) {
            (Some(old), Some(new)) => Some(old.min(new)),
            (old, new) => old.or(new),
        };
        match group.version {
            CgroupVersion::Two => {
                for name in ["memory.max", "memory.high"] {
                    if let Some(text) = read(name)? {
                        limits.memory = least(limits.memory, text.trim().parse().ok());
                    }
                }
                if let Some(text) = read("cpu.max")? {
                    lower(&mut limits.cpus, cpu_max(&text));
                }
            }
            CgroupVersion::One => {
                if group.controls("memory")
                    && let Some(text) = read("memory.limit_in_bytes")?
                {
                    // "No limit" is the largest number of whole pages, of which 32 bits count fewer.
                    let none = if usize::BITS < 64 { 0x7FFF_FFFF << 12 } else { 1_u64 << 62 };
                    let limit = text.trim().parse().ok().filter(|limit| *limit < none);
                    limits.memory = least(limits.memory, limit);
                }
                if group.controls("cpu") {
                    let quota = read("cpu.cfs_quota_us")?.and_then(|t| t.trim().parse().ok());
                    let period = read("cpu.cfs_period_us")?.and_then(|t| t.trim().parse().ok());
                    lower(&mut limits.cpus, quota.zip(period).and_then(share));
                }
            }
        }
        Ok(())
    }
}

fn lower(cpus: &mut Option<f64>, new: Option<f64>) {
    *cpus = match (*cpus, new) {
        (Some(old), Some(new)) => Some(old.min(new)),
        (old, new) => old.or(new),
    };
}

/// Quota and period as CPUs; a quota of -1 is none.
fn share((quota, period): (i64, i64)) -> Option<f64> {
    (quota > 0 && period > 0).then(|| quota as f64 / period as f64)
}

/// `200000 100000` is two CPUs, `max 100000` is no limit.
fn cpu_max(text: &str) -> Option<f64> {
    let mut words = text.split_ascii_whitespace();
    let quota = words.next()?.parse().ok()?;
    let period = words.next().map_or(Some(100_000), |word| word.parse().ok())?;
    share((quota, period))
}

/// `8:16 rbps=2097152 wbps=max riops=max wiops=120`, a line per disk.
fn io_max(text: &str, file: &str) -> Vec<Throttle> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let Some(device) = words.next().and_then(mount::device_number) else { continue };
        for word in words {
            let Some((key, value)) = word.split_once('=') else { continue };
            let Ok(value) = value.parse() else { continue };
            let (direction, limit) = match key {
                "rbps" => (Direction::Read, LimitValue::BytesPerSecond(value)),
                "wbps" => (Direction::Write, LimitValue::BytesPerSecond(value)),
                "riops" => (Direction::Read, LimitValue::OpsPerSecond(value)),
                "wiops" => (Direction::Write, LimitValue::OpsPerSecond(value)),
                _ => continue,
            };
            found.push(Throttle {
                file: file.into(),
                device,
                name: String::new(),
                direction,
                limit,
            });
        }
    }
    found
}

/// `8:16 1048576`, a line per disk.
fn blkio(text: &str, file: &str, direction: Direction, of_bytes: bool) -> Vec<Throttle> {
    let limit = |value| {
        if of_bytes { LimitValue::BytesPerSecond(value) } else { LimitValue::OpsPerSecond(value) }
    };
    text.lines()
        .filter_map(|line| {
            let (device, value) = line.trim().split_once(' ')?;
            Some(Throttle {
                file: file.into(),
                device: mount::device_number(device)?,
                name: String::new(),
                direction,
                limit: limit(value.trim().parse().ok()?),
            })
        })
        .collect()
}

/// Whether a `cpu.stat` file is the highest one that we can see of a tree with hidden parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CpuStat {
    hidden: bool,
}

/// Files that count what our control groups did to us.
pub(super) struct GroupCounters {
    /// The `cpu.stat` files of our group and its parents.
    pub cpu: Result<Vec<(String, CpuStat)>, String>,
    /// Where it stands how long our group was frozen, by itself or by a parent: `cgroup.stat.local` of version 2 (6.18).
    pub frozen: Option<String>,
}

pub(super) fn counters(sys_root: &SysRoot) -> GroupCounters {
    match groups(sys_root) {
        Ok((groups, absent)) => GroupCounters {
            cpu: cpu_stats(sys_root, &groups, absent),
            frozen: freezes(sys_root, &groups),
        },
        Err(why) => GroupCounters { cpu: Err(why), frozen: None },
    }
}

fn cpu_stats(
    sys_root: &SysRoot,
    groups: &[CgroupPath],
    absent: bool,
) -> Result<Vec<(String, CpuStat)>, String> {
    let mut files = Vec::new();
    // In the mixed layout the cpu controller is in one of the two trees; the other has no counts.
    for group in groups.iter().filter(|group| group.controls("cpu")) {
        for folder in &group.folders {
            let path = format!("{folder}/cpu.stat");
            if sys_root.has(&path) {
                files.push((path, CpuStat { hidden: group.hidden }));
            }
        }
    }
    if files.is_empty() && (absent || !groups.is_empty()) {
        return Err("cpu.stat: not to be found in our control groups".into());
    }
    Ok(files)
}

fn freezes(sys_root: &SysRoot, groups: &[CgroupPath]) -> Option<String> {
    let own = groups.iter().find(|group| group.version == CgroupVersion::Two)?;
    let path = format!("{}/cgroup.stat.local", own.folders.first()?);
    sys_root.has(&path).then_some(path)
}

/// How long a group was frozen.
pub(super) fn frozen(text: &str) -> Option<Nanos> {
    super::memory::value(text, "frozen_usec", ' ').map(Nanos::micros)
}

/// Sums the counters. When no group counts, none has a limit: zero, unless some are hidden.
pub(super) fn throttled(
    files: impl Iterator<Item = (CpuStat, Result<String, String>)>,
) -> Result<CpuThrottled, String> {
    let (mut sum, mut counted, mut hidden) = (CpuThrottled::default(), false, false);
    for (kind, text) in files {
        hidden |= kind.hidden;
        if let Some(one) = cpu_stat(&text?) {
            counted = true;
            sum.periods = sum.periods.saturating_add(one.periods);
            sum.time += one.time;
        }
    }
    if !counted && hidden {
        return Err("cpu.stat: the groups that count are hidden from here".into());
    }
    Ok(sum)
}

/// `nr_throttled` with `throttled_usec` (version 2) or `throttled_time` in ns (version 1).
fn cpu_stat(text: &str) -> Option<CpuThrottled> {
    let number = |key: &str| super::memory::value(text, key, ' ');
    let time = number("throttled_usec")
        .map(|us| us.saturating_mul(1000))
        .or_else(|| number("throttled_time"))?;
    Some(CpuThrottled { periods: number("nr_throttled")?, time: Nanos(time) })
}

#[cfg(test)]
mod tests {
    use super::super::fake;
    use super::*;

    struct CgroupTree(fake::FakeSysRoot);

    impl CgroupTree {
        fn new(cgroup: &str, mounts: &str) -> Self {
            let tree = fake::FakeSysRoot::new();
            tree.file("/proc/self/cgroup", cgroup).file("/proc/self/mountinfo", mounts);
            Self(tree)
        }

        fn file(&self, path: &str, text: &str) {
            self.0.file(path, text);
        }

        fn limits(&self) -> Limits {
            match self.0.sys_root().limits(&[]) {
                Reading::Seen(limits) => limits,
                Reading::Unseen(why) => panic!("{why}"),
            }
        }

        fn throttled(&self) -> Result<CpuThrottled, String> {
            let sys_root = self.0.sys_root();
            let files = counters(&sys_root).cpu?;
            throttled(files.into_iter().map(|(path, kind)| (kind, sys_root.text(path))))
        }
    }

    const TWO: &str = "30 22 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";

    #[test]
    fn version_two_is_walked_to_the_root() {
        let tree = CgroupTree::new("0::/user.slice/mine\n", TWO);
        tree.file("/sys/fs/cgroup/cgroup.procs", "");
        tree.file(
            "/sys/fs/cgroup/user.slice/io.max",
            "8:16 rbps=2097152 wbps=max riops=max wiops=120\n",
        );
        tree.file("/sys/fs/cgroup/user.slice/memory.max", "1073741824\n");
        tree.file("/sys/fs/cgroup/user.slice/memory.high", "max\n");
        tree.file("/sys/fs/cgroup/user.slice/cpu.max", "150000 100000\n");
        tree.file(
            "/sys/fs/cgroup/user.slice/cpu.stat",
            "usage_usec 5\nnr_periods 9\nnr_throttled 2\nthrottled_usec 30\n",
        );
        tree.file("/sys/fs/cgroup/user.slice/mine/memory.max", "max\n");
        tree.file("/sys/fs/cgroup/user.slice/mine/memory.high", "2073741824\n");
        tree.file("/sys/fs/cgroup/user.slice/mine/cpu.max", "max 100000\n");
        tree.file("/sys/fs/cgroup/user.slice/mine/cpu.stat", "usage_usec 5\n");
        let limits = tree.limits();
        assert!(!limits.partly_hidden);
        assert_eq!(limits.memory, Some(Bytes(1 << 30)));
        assert_eq!(limits.cpus, Some(1.5));
        assert_eq!(limits.io.len(), 2);
        assert_eq!(limits.io[0].limit, LimitValue::BytesPerSecond(2097152));
        assert_eq!(limits.io[0].file, "/sys/fs/cgroup/user.slice/io.max");
        assert_eq!(limits.io[1].direction, Direction::Write);
        assert_eq!(limits.io[1].limit, LimitValue::OpsPerSecond(120));
        assert_eq!(tree.throttled(), Ok(CpuThrottled { periods: 2, time: Nanos::micros(30) }));
    }

    #[test]
    fn a_container_sees_only_a_part() {
        let tree = CgroupTree::new("0::/\n", TWO);
        tree.file("/sys/fs/cgroup/cgroup.type", "domain\n");
        tree.file("/sys/fs/cgroup/memory.max", "1000\n");
        tree.file("/sys/fs/cgroup/cpu.stat", "usage_usec 5\n");
        let limits = tree.limits();
        assert!(limits.partly_hidden);
        assert_eq!(limits.memory, Some(Bytes(1000)));
        assert!(tree.throttled().is_err());

        let mounts = "30 22 0:26 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
        let tree = CgroupTree::new("4:memory:/docker/abc\n", mounts);
        tree.file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "4096\n");
        let limits = tree.limits();
        assert!(limits.partly_hidden);
        assert_eq!(limits.memory, Some(Bytes(4096)));

        let tree = CgroupTree::new("0::/../other\n", TWO);
        tree.file("/sys/fs/cgroup/memory.max", "4096\n");
        assert!(tree.limits().partly_hidden);
    }

    #[test]
    fn version_one_has_limits_at_the_root_too() {
        let mounts = "35 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n38 31 0:35 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n";
        let tree = CgroupTree::new("9:name=systemd:/\n7:blkio:/\n2:cpu,cpuacct:/job\n", mounts);
        tree.file("/sys/fs/cgroup/blkio/release_agent", "");
        tree.file("/sys/fs/cgroup/cpu/release_agent", "");
        tree.file("/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device", "254:0 1048576\n");
        tree.file("/sys/fs/cgroup/blkio/blkio.throttle.read_iops_device", "254:0 50\n");
        tree.file("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "50000\n");
        tree.file("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
        tree.file(
            "/sys/fs/cgroup/cpu/job/cpu.stat",
            "nr_periods 4\nnr_throttled 3\nthrottled_time 700\n",
        );
        tree.file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
        tree.file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
        let limits = tree.limits();
        assert!(!limits.partly_hidden);
        assert_eq!(limits.cpus, Some(0.5));
        assert_eq!(limits.io.len(), 2);
        assert_eq!(limits.io[0].limit, LimitValue::BytesPerSecond(1 << 20));
        assert_eq!(limits.io[1].limit, LimitValue::OpsPerSecond(50));
        assert_eq!(limits.io[1].direction, Direction::Read);
        assert_eq!(tree.throttled(), Ok(CpuThrottled { periods: 3, time: Nanos(700) }));
    }

    #[test]
    fn known_groups_are_looked_at_without_their_mounts_until_the_process_moves() {
        let tree = CgroupTree::new("0::/a\n", TWO);
        tree.file("/sys/fs/cgroup/a/io.max", "8:16 rbps=1 wbps=max riops=max wiops=max\n");
        tree.file("/sys/fs/cgroup/b/io.max", "8:16 rbps=3 wbps=max riops=max wiops=max\n");
        let sys_root = tree.0.sys_root();
        let mut known = KnownGroups::default();
        let mut seen = || {
            let io = known.io(&sys_root, &[]);
            io.map(|io| io.iter().map(|throttle| throttle.limit).collect::<Vec<_>>())
        };
        assert_eq!(seen(), Ok(vec![LimitValue::BytesPerSecond(1)]));
        tree.file("/sys/fs/cgroup/a/io.max", "8:16 rbps=2 wbps=max riops=max wiops=max\n");
        tree.file("/proc/self/mountinfo", "");
        assert_eq!(seen(), Ok(vec![LimitValue::BytesPerSecond(2)]));
        tree.file("/proc/self/mountinfo", TWO);
        tree.file("/proc/self/cgroup", "0::/b\n");
        assert_eq!(seen(), Ok(vec![LimitValue::BytesPerSecond(3)]));
    }

    #[test]
    fn unmounted_groups_are_unseen_and_a_kernel_without_them_has_no_limits() {
        let tree = CgroupTree::new("0::/a\n", "");
        assert!(tree.0.sys_root().limits(&[]).why().is_some());
        let tree = fake::FakeSysRoot::new();
        assert!(tree.sys_root().limits(&[]).why().is_some());
        tree.file("proc/self/mountinfo", "");
        assert_eq!(tree.sys_root().limits(&[]), Reading::Seen(Limits::default()));
    }

    #[test]
    fn no_limit_has_two_spellings() {
        assert_eq!(cpu_max("max 100000\n"), None);
        assert_eq!(cpu_max("200000\n"), Some(2.0));
        assert_eq!(share((-1, 100_000)), None);
    }

    #[test]
    fn this_machine() {
        println!("{:?}", SysRoot::default().limits(&[]));
    }

    #[test]
    fn the_own_group_of_version_2_tells_how_long_it_was_frozen() {
        let tree = CgroupTree::new("0::/user/run\n", TWO);
        tree.file("/sys/fs/cgroup/user/cgroup.stat.local", "frozen_usec 1\n");
        tree.file("/sys/fs/cgroup/user/run/cgroup.procs", "");
        assert_eq!(counters(&tree.0.sys_root()).frozen, None);
        tree.file("/sys/fs/cgroup/user/run/cgroup.stat.local", "frozen_usec 2000417\n");
        let file = counters(&tree.0.sys_root()).frozen.expect("counted");
        let text = std::fs::read_to_string(tree.0.at(&file)).expect("read");
        assert_eq!(frozen(&text), Some(Nanos::micros(2_000_417)));
        assert_eq!(frozen("nr_descendants 3\n"), None);
    }
}
