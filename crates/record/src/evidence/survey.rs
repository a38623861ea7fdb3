//! What lies under a path, before anything is run: from the mount to the leaf, with every setting
//! that can change a figure.
//!
//! Nothing is written, not even a file without a name: where only a probe of that kind could
//! tell (direct I/O on new files), the reading is unseen and says so.

use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{Access, Mode, OFlags};
use serde::{Deserialize, Serialize};

use super::card::CardInfo;
use super::link::Link;
use super::stack::{StackStep, StackWalk};
use super::sys_root::why;
use super::writeback::Writeback;
use super::{
    BlockLayer, CachePages, DirectAlign, Extents, FilesystemSpace, LeafKind, Limits, Mount,
    PathKind, Reading, SysRoot, Warmth, card, extents, link, pagecache, subject, warmth,
};
use assay_engine::sys::block;
use assay_plan::name::NameText as _;
use assay_plan::unit::Bytes;

/// Everything that can be seen under a path without touching it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Survey {
    /// The path as it was typed.
    pub path: String,
    /// What it is. `Missing` also where it may not be looked at: see `hidden`.
    pub kind: PathKind,
    /// The path by which it was judged: itself, or the nearest one above it that is there.
    pub judged_by: String,
    /// Why the path itself could not be looked at; absent when it could, or is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<String>,
    /// What this user may do there.
    pub may: Reading<PathPermissions>,
    /// The way from the path down to the leaf.
    pub steps: Vec<SurveyStep>,
    /// What was found at the bottom.
    pub bottom: LeafKind,
    /// Free and total space of the file system.
    pub space: Reading<FilesystemSpace>,
    /// Free and total inodes of the file system; both 0 where they are made as needed.
    pub inodes: Reading<Inodes>,
    /// Alignment of direct I/O (statx, 6.1); both 0: there is none.
    pub direct: Reading<DirectAlign>,
    /// How the bytes of a file lie, and what of it is in memory; absent for all that is no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<FileLayout>,
    /// Limits of control groups on this process and these devices.
    pub limits: Reading<Limits>,
    /// When written pages leave memory.
    pub writeback: Reading<Writeback>,
    /// Swap areas that lie on the same disk.
    pub swap: Reading<Vec<String>>,
    /// Governors of the processors' frequency, each once.
    pub governors: Reading<Vec<String>>,
    /// How warm processors and drives are.
    pub warmth: Reading<Warmth>,
}

/// What this user may do at a path, by its permissions and its mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PathPermissions {
    /// Read a file or device, list a folder.
    pub read: bool,
    /// Write a file or device, make files in a folder.
    pub write: bool,
}

/// Inodes of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Inodes {
    pub total: u64,
    /// Those that this user may still use.
    pub free: u64,
}

/// A file as it lies now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileLayout {
    /// Its length.
    pub size: Bytes,
    /// Its extents, as they are without a flush.
    pub extents: Reading<Extents>,
    /// Its pages in memory.
    pub cached: Reading<CachePages>,
}

/// One step on the way from the path to the leaf.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SurveyStep {
    /// Depth below the path: 0 for what the path itself lies on.
    pub depth: u32,
    /// What is there.
    pub place: SurveyPlace,
}

/// What a step comes to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SurveyPlace {
    Mount(Mount),
    /// A block device.
    Device(Box<SurveyedDevice>),
}

/// A block device with what only a survey asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SurveyedDevice {
    /// The device, its kind and its queue.
    pub layer: BlockLayer,
    /// The partition through which the path goes.
    pub partition: Option<Partition>,
    /// Where a loop device begins in its file, bytes.
    pub loop_offset: Option<Bytes>,
    /// The kernel lets nobody write it.
    pub read_only: bool,
    /// Links between it and the processor, the nearest first.
    pub links: Vec<Link>,
    /// What a card tells of itself.
    pub card: Option<CardInfo>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Partition {
    /// Kernel name.
    pub name: String,
    /// Where it begins on its disk, bytes.
    pub start: Option<Bytes>,
    /// Distance from the last physical block boundary before its start, as the kernel counts it
    /// (`alignment_offset`), bytes; -1: not aligned, by an unknown distance.
    pub off_by: Option<i64>,
}

impl Survey {
    /// The mounts on the way, the one of the path first.
    pub fn mounts(&self) -> impl Iterator<Item = &Mount> {
        self.steps.iter().filter_map(|step| match &step.place {
            SurveyPlace::Mount(mount) => Some(mount),
            SurveyPlace::Device(_) => None,
        })
    }

    /// The devices on the way, in the order of the walk.
    pub fn devices(&self) -> impl Iterator<Item = &SurveyedDevice> {
        self.steps.iter().filter_map(|step| match &step.place {
            SurveyPlace::Device(device) => Some(&**device),
            SurveyPlace::Mount(_) => None,
        })
    }

    /// The lowest devices that can be reached.
    pub fn leaves(&self) -> impl Iterator<Item = &SurveyedDevice> {
        self.devices().filter(|device| device.layer.leaf)
    }
}

impl SysRoot {
    /// Looks at everything under a path. Reads `/proc`, `/sys`, and what `stat` tells; an
    /// existing file is opened for reading, and none of its bytes are read.
    pub fn survey(&self, path: &Path) -> Survey {
        let full = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let (kind, number) = self.what_is(&full);
        let hidden = self.hidden(&full, kind);
        let place = self.nearest(&full);
        let mut walk = StackWalk::new(self);
        let bottom = match kind {
            PathKind::Device => walk.device(number, 0),
            PathKind::Character | PathKind::Stream => LeafKind::Nothing(full.to_text()),
            _ => self.below(&mut walk, &full, &place, hidden.is_some()),
        };
        let stored = matches!(kind, PathKind::File | PathKind::Folder | PathKind::Missing);
        let here = self.at(&place);
        let no_file_system = || "not a file system".to_string();
        Survey {
            path: path.to_text(),
            kind,
            judged_by: place.to_text(),
            may: self.may(&place),
            space: if stored { subject::space(&here) } else { Reading::Unseen(no_file_system()) },
            inodes: if stored { inodes(&here) } else { Reading::Unseen(no_file_system()) },
            direct: self.direct_align(&full, kind),
            file: (kind == PathKind::File && self.real()).then(|| file_lay(&full)),
            limits: self.limits_on(&walk.layers),
            writeback: self.writeback(),
            swap: self.swap_beside(&walk.layers),
            governors: self.governors(),
            warmth: warmth::read(self, walk.layers.iter().map(|layer| layer.name.as_str())),
            steps: self.steps(walk),
            bottom,
            hidden,
        }
    }

    /// The limits on this process, and of those on disks only the ones on these.
    fn limits_on(&self, layers: &[BlockLayer]) -> Reading<Limits> {
        self.limits(layers).map(|mut limits| {
            if layers.is_empty() {
                limits.io.clear();
            }
            limits
        })
    }

    /// Why something that is not seen may be there all the same: a folder above it lets nobody in.
    fn hidden(&self, path: &Path, kind: PathKind) -> Option<String> {
        if kind != PathKind::Missing {
            return None;
        }
        let error = block::stat(&self.at(path)).err()?;
        let absent = matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR));
        (!absent).then(|| why("statx", &error))
    }

    /// What lies below a path of a file system. A path that may not be looked at is placed by the
    /// mount table alone: something may be mounted below the folder that lets nobody in.
    fn below(&self, walk: &mut StackWalk<'_>, full: &Path, place: &Path, hidden: bool) -> LeafKind {
        let name = place.to_text();
        let by_name = hidden.then(|| walk.mount_by_name(&full.to_text())).flatten();
        match by_name.map_or_else(|| walk.mount_of(&name), Ok) {
            Ok(entry) => walk.mounted(&entry, &name, 0),
            Err(why) => LeafKind::Unknown(why),
        }
    }

    /// The trail of a walk with its devices.
    fn steps(&self, walk: StackWalk<'_>) -> Vec<SurveyStep> {
        let StackWalk { trail, layers, .. } = walk;
        trail
            .into_iter()
            .map(|(depth, passed)| {
                let place = match passed {
                    StackStep::Mount(mount) => SurveyPlace::Mount(mount),
                    StackStep::Layer(index) => {
                        SurveyPlace::Device(Box::new(self.device(&layers[index])))
                    }
                };
                SurveyStep { depth, place }
            })
            .collect()
    }

    fn device(&self, layer: &BlockLayer) -> SurveyedDevice {
        let folder = self
            .real_folder(&format!("/sys/class/block/{}", layer.name))
            .unwrap_or_else(|_| format!("/sys/block/{}", layer.name));
        let partition = layer.partition.as_ref().map(|name| Partition {
            start: self
                .number(format!("{folder}/{name}/start"))
                .map(|sectors| Bytes(sectors.saturating_mul(512))),
            off_by: self
                .line(format!("{folder}/{name}/alignment_offset"))
                .and_then(|text| text.parse().ok()),
            name: name.clone(),
        });
        SurveyedDevice {
            partition,
            loop_offset: self.number(format!("{folder}/loop/offset")).map(Bytes),
            read_only: self.number(format!("{folder}/ro")) == Some(1),
            links: link::read(self, &folder),
            card: card::read(self, &folder),
            layer: layer.clone(),
        }
    }

    fn may(&self, place: &Path) -> Reading<PathPermissions> {
        if !self.real() {
            return Reading::Unseen("not this machine".into());
        }
        let allows = |access: Access| rustix::fs::access(place, access).is_ok();
        let entry = if place.is_dir() { Access::EXEC_OK } else { Access::EXISTS };
        Reading::Seen(PathPermissions {
            read: allows(Access::READ_OK | entry),
            write: allows(Access::WRITE_OK | entry),
        })
    }

    /// What statx says of direct I/O on a file or device.
    fn direct_align(&self, path: &Path, kind: PathKind) -> Reading<DirectAlign> {
        match kind {
            PathKind::File | PathKind::Device if self.real() => match block::stat(path) {
                Ok(stat) => match stat.direct {
                    Some((memory, offset)) => Reading::Seen(DirectAlign { memory, offset }),
                    None => Reading::Unseen("statx: does not tell of direct I/O here".into()),
                },
                Err(error) => Reading::Unseen(why("statx", &error)),
            },
            PathKind::File | PathKind::Device => Reading::Unseen("not this machine".into()),
            _ => Reading::Unseen(
                "direct I/O: only a test file would show it, and a run makes one".into(),
            ),
        }
    }

    /// Swap areas with a leaf in common with these layers.
    fn swap_beside(&self, layers: &[BlockLayer]) -> Reading<Vec<String>> {
        let text = match self.text("/proc/swaps") {
            Ok(text) => text,
            Err(why) => return Reading::Unseen(why),
        };
        let leaf = |layer: &&BlockLayer| layer.leaf;
        let shares = |area: &&str| {
            let mut walk = StackWalk::new(self);
            match walk.device_name(area) {
                Some(_) => walk.source(area, 0),
                None => walk.path(area, 0),
            };
            let theirs = walk.layers.iter().filter(leaf);
            theirs.into_iter().any(|swap| layers.iter().filter(leaf).any(|l| l.name == swap.name))
        };
        let areas = text.lines().skip(1).filter_map(|line| line.split_ascii_whitespace().next());
        Reading::Seen(areas.filter(shares).map(String::from).collect())
    }

    fn governors(&self) -> Reading<Vec<String>> {
        let folder = "/sys/devices/system/cpu/cpufreq";
        let mut found: Vec<String> = self
            .names(folder)
            .iter()
            .filter_map(|policy| self.line(format!("{folder}/{policy}/scaling_governor")))
            .collect();
        found.sort();
        found.dedup();
        match found.is_empty() {
            true => Reading::Unseen(format!("{folder}: shows no frequency policy")),
            false => Reading::Seen(found),
        }
    }
}

fn inodes(path: &Path) -> Reading<Inodes> {
    match rustix::fs::statvfs(path) {
        Ok(stat) => Reading::Seen(Inodes { total: stat.f_files, free: stat.f_favail }),
        Err(error) => Reading::Unseen(why("statvfs", &error.into())),
    }
}

/// How an existing file lies. It is opened for reading and none of its bytes are read, so its access
/// time stays; a file system without FIEMAP answers that it has none.
fn file_lay(path: &Path) -> FileLayout {
    let size = block::stat(path).map_or(Bytes::ZERO, |stat| Bytes(stat.size));
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => FileLayout {
            size,
            extents: extents::extents(file.as_fd(), 0..size.0),
            cached: pagecache::pages(file.as_fd()),
        },
        Err(error) => {
            let unseen = why("open", &error.into());
            FileLayout {
                size,
                extents: Reading::Unseen(unseen.clone()),
                cached: Reading::Unseen(unseen),
            }
        }
    }
}
