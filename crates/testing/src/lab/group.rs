//! Control groups, v1 and v2: limits on processor, memory and I/O for the programs run in them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::den::{self, Folder, complain, until};
use super::skip::{broken, need_root};
use super::{Skip, Speed, speed};

/// A control group's folder that a process must enter for its limits to hold.
#[derive(Debug, Clone)]
pub struct Room(pub PathBuf);

/// What a group allows; `None` is no limit.
///
/// On cgroup v2 a process is in one group only. Whoever must be slow at a throttled card and short
/// of memory as well, needs one group with both: `io: Some(card.io_limit())`.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// Percent of one processor: 50 is half of one, 150 one and a half.
    pub cpu_percent: Option<u32>,
    /// Bytes, page cache included.
    pub memory: Option<u64>,
    /// A device by its number ("7:0") and what the group may do with it.
    pub io: Option<(String, Speed)>,
}

/// A group with limits; gone when dropped.
pub struct Group {
    rooms: Vec<Room>,
    _folder: Folder,
}

/// A group in which programs get a share of one processor.
pub fn limit_cpu(percent: u32) -> Result<Group, Skip> {
    Group::new(&Limits { cpu_percent: Some(percent), ..Limits::default() })
}

/// A group in which programs and their page cache get so many bytes.
pub fn limit_mem(bytes: u64) -> Result<Group, Skip> {
    Group::new(&Limits { memory: Some(bytes), ..Limits::default() })
}

impl Group {
    /// Makes the group, in each v1 hierarchy that is needed or once in v2.
    pub fn new(limits: &Limits) -> Result<Group, Skip> {
        need_root()?;
        static MADE: AtomicU32 = AtomicU32::new(0);
        let folder = den::folder("group");
        let name = format!("{}-{}", folder.den_name(), MADE.fetch_add(1, Ordering::Relaxed));
        let mut group = Group { rooms: Vec::new(), _folder: folder };
        if let Some(percent) = limits.cpu_percent {
            let room = group.open("cpu", &name)?;
            if room.join("cpu.max").exists() {
                put(&room, "cpu.max", &format!("{} 100000", u64::from(percent) * 1000))?;
            } else {
                put(&room, "cpu.cfs_period_us", "100000")?;
                put(&room, "cpu.cfs_quota_us", &(u64::from(percent) * 1000).to_string())?;
            }
        }
        if let Some(bytes) = limits.memory {
            let room = group.open("memory", &name)?;
            let v2 = room.join("memory.max").exists();
            put(
                &room,
                if v2 { "memory.max" } else { "memory.limit_in_bytes" },
                &bytes.to_string(),
            )?;
        }
        if let Some((number, speed)) = &limits.io {
            let controller = if v1("blkio").is_some() { "blkio" } else { "io" };
            let room = group.open(controller, &name)?;
            if controller == "blkio" {
                speed::set_v1(&room, number, *speed)
                    .map_err(|e| Skip::Machine(format!("blkio throttle refused: {e}")))?;
            } else {
                put(&room, "io.max", &speed.io_max(number))?;
            }
        }
        Ok(group)
    }

    /// The group of a card on cgroup v2, with io and memory, so that writeback is charged to it.
    pub(super) fn for_card() -> Result<Group, Skip> {
        let mut group = Group::new(&Limits { memory: Some(1 << 40), ..Limits::default() })?;
        let name = group.rooms[0].0.file_name().map(|n| n.to_string_lossy().into_owned());
        let room = group.open("io", &name.unwrap_or_default())?;
        if room.join("io.max").exists() {
            Ok(group)
        } else {
            Err(Skip::Machine(format!("the io controller is not to be had in {}", room.display())))
        }
    }

    /// The folder of one controller's group, made when it is not there yet.
    fn open(&mut self, controller: &str, name: &str) -> Result<PathBuf, Skip> {
        let dir = if let Some(root) = v1(controller) {
            root.join(name)
        } else if let Some(root) = v2(controller) {
            // io and memory together, else buffered writes are charged to nobody.
            for each in ["cpu", "memory", "io"] {
                let _ = fs::write(root.join("cgroup.subtree_control"), format!("+{each}"));
            }
            root.join(name)
        } else {
            return Err(Skip::Machine(format!("no {controller} controller in cgroup v1 or v2")));
        };
        if !dir.exists() {
            fs::create_dir(&dir).map_err(|e| {
                Skip::Machine(format!("control group {} cannot be made: {e}", dir.display()))
            })?;
            self.rooms.push(Room(dir.clone()));
        }
        Ok(dir)
    }

    /// Where a process must be for the limits to hold.
    pub fn rooms(&self) -> &[Room] {
        &self.rooms
    }

    /// A command that runs within the limits; arguments and the rest are added as usual.
    pub fn command(&self, program: &str) -> Command {
        command_in(&self.rooms, program)
    }

    /// What the kernel counted in one of the group's files, such as `memory.events`.
    pub fn read(&self, file: &str) -> Option<String> {
        self.rooms.iter().find_map(|room| fs::read_to_string(room.0.join(file)).ok())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for room in &self.rooms {
            remove(&room.0);
        }
    }
}

/// A command that enters the rooms before it becomes the program (no unsafe code between fork and exec).
pub fn command_in(rooms: &[Room], program: impl AsRef<OsStr>) -> Command {
    let program = program.as_ref();
    if rooms.is_empty() {
        return Command::new(program);
    }
    const ENTER: &str = r#"while [ "$1" != -- ]; do echo $$ >"$1/cgroup.procs" || exit 125; shift; done; shift; exec "$@""#;
    let mut command = Command::new("/bin/sh");
    command.args(["-c", ENTER, "lab"]);
    command.args(rooms.iter().map(|room| room.0.as_os_str()));
    command.arg("--").arg(program);
    command
}

/// This whole process within rooms, until dropped: for a test that does the I/O itself.
///
/// Not for a memory limit while a FUSE file system of the lab is mounted: its server, being in this
/// process, would be short of memory as well and might wait for the disk that it serves.
#[must_use = "the process is in the group only while this lives"]
pub struct Joined {
    back: Vec<PathBuf>,
}

impl Joined {
    /// Enters; remembers where the process came from.
    pub fn new(rooms: &[Room]) -> Joined {
        let pid = std::process::id().to_string();
        let mut back = Vec::new();
        for room in rooms {
            back.extend(own_folder_beside(&room.0));
            fs::write(room.0.join("cgroup.procs"), &pid)
                .unwrap_or_else(|e| broken(&format!("enter {}", room.0.display()), e));
        }
        Joined { back }
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        for dir in &self.back {
            if let Err(error) = fs::write(dir.join("cgroup.procs"), std::process::id().to_string())
            {
                complain(&format!("this process cannot go back to {}: {error}", dir.display()));
            }
        }
    }
}

/// Where this process is in the hierarchy that a group's folder belongs to.
fn own_folder_beside(dir: &Path) -> Option<PathBuf> {
    for (root, key) in hierarchies() {
        if dir.starts_with(&root) {
            let path = own_path(key.split(',').next().unwrap_or_default())?;
            return Some(root.join(path.trim_start_matches('/')));
        }
    }
    None
}

/// This process' path in the hierarchy of a v1 controller ("" is v2).
pub(super) fn own_path(controller: &str) -> Option<String> {
    let text = fs::read_to_string("/proc/self/cgroup").ok()?;
    text.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, names, path) = (parts.next()?, parts.next()?, parts.next()?);
        names.split(',').any(|name| name == controller).then(|| path.to_owned())
    })
}

/// All mounted hierarchies with the options that name their controllers ("" is v2).
fn hierarchies() -> Vec<(PathBuf, String)> {
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    text.lines()
        .filter_map(|line| {
            let (left, right) = line.split_once(" - ")?;
            let at = PathBuf::from(left.split(' ').nth(4)?);
            let mut words = right.split(' ');
            match (words.next()?, words.nth(1)?) {
                ("cgroup", options) => {
                    let names: Vec<&str> =
                        options.split(',').filter(|o| *o != "rw" && *o != "ro").collect();
                    Some((at, names.join(",")))
                }
                ("cgroup2", _) => Some((at, String::new())),
                _ => None,
            }
        })
        .collect()
}

/// Where a v1 controller is mounted.
pub(super) fn v1(controller: &str) -> Option<PathBuf> {
    hierarchies()
        .into_iter()
        .find(|(_, names)| names.split(',').any(|name| name == controller) && !names.is_empty())
        .map(|(root, _)| root)
}

/// Where the v2 hierarchy is mounted, if it offers a controller.
pub(super) fn v2(controller: &str) -> Option<PathBuf> {
    let root = v2_root()?;
    let offered = fs::read_to_string(root.join("cgroup.controllers")).ok()?;
    offered.split_whitespace().any(|name| name == controller).then_some(root)
}

fn v2_root() -> Option<PathBuf> {
    hierarchies().into_iter().find(|(_, names)| names.is_empty()).map(|(root, _)| root)
}

/// Groups that any process of the lab made in v2.
pub(super) fn lab_groups_v2() -> Vec<PathBuf> {
    v2_root().map(|root| groups_named(&root, "assay-lab-")).unwrap_or_default()
}

fn groups_named(root: &Path, prefix: &str) -> Vec<PathBuf> {
    let named = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(prefix);
    fs::read_dir(root)
        .into_iter()
        .flatten()
        .flatten()
        .filter(named)
        .map(|entry| entry.path())
        .collect()
}

/// Removes the groups that belong to a den; a folder in a den has none of its own.
pub(super) fn remove_all_of(dir: &Path) {
    let Some(name) = dir.file_name().map(|n| n.to_string_lossy().into_owned()) else {
        return;
    };
    if !name.starts_with("assay-lab-") {
        return;
    }
    for (root, _) in hierarchies() {
        for group in groups_named(&root, &format!("{name}-")) {
            remove(&group);
        }
    }
}

/// Removes a group; who still is in it is moved one up.
fn remove(dir: &Path) {
    let gone = || !dir.exists() || fs::remove_dir(dir).is_ok();
    if until(Duration::from_millis(500), gone) {
        return;
    }
    let inside = fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
    if let Some(parent) = dir.parent() {
        for pid in inside.lines() {
            let _ = fs::write(parent.join("cgroup.procs"), pid);
        }
    }
    if !until(Duration::from_secs(1), gone) {
        complain(&format!("control group {} stays", dir.display()));
    }
}

fn put(dir: &Path, file: &str, text: &str) -> Result<(), Skip> {
    fs::write(dir.join(file), text)
        .map_err(|e| Skip::Machine(format!("{} refused {text:?}: {e}", dir.join(file).display())))
}
