//! A path of the plan: what it is, the mount it lies on, the space there, and what lies below.

use std::path::{Path, PathBuf};

use super::stack::StackWalk;
use super::sys_root::why;
use super::{DeviceNumber, FilesystemSpace, LeafKind, PathKind, Reading, Subject, SysRoot, direct};
use assay_engine::sys::block;
use assay_plan::name::NameText as _;
use assay_plan::unit::Bytes;

/// The folder in which a file stands, or will: that of a bare name is the current one.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

impl SysRoot {
    /// Everything that can be known about a path before it is used. A path that is not there yet
    /// is judged by the nearest folder above it. Where only a probe can tell about direct I/O, one
    /// 4 KiB file without a name is written in that folder.
    pub fn subject(&self, path: &Path) -> Subject {
        self.subject_beside(path, &[])
    }

    /// The same beside others that have just been looked at: what lies below a mount on a device is below
    /// all its paths, and is not looked at twice.
    pub fn subject_beside(&self, path: &Path, known: &[Subject]) -> Subject {
        self.surveyed(path, known, false)
    }

    /// The same of what is to be written: a file in a lower folder of an overlay is copied to the upper one before, and
    /// lies on the devices of that.
    pub fn subject_to_write(&self, path: &Path) -> Subject {
        self.surveyed(path, &[], true)
    }

    fn surveyed(&self, path: &Path, known: &[Subject], written: bool) -> Subject {
        let full = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        // What a path is must be known in any case.
        let (kind, number) = match self.looks() {
            true => self.what_is(&full),
            false => Self::default().what_is(&full),
        };
        let mut walk = StackWalk::new(self);
        walk.written = written;
        let mut subject = Subject {
            host: 0,
            path: path.to_text(),
            kind,
            mount: Reading::Unseen("a device lies on no mount".into()),
            space: Reading::Unseen("not a file system".into()),
            stack: Vec::new(),
            bottom: LeafKind::Nothing(full.to_text()),
            direct: Reading::Unseen("not a disk".into()),
            copies: None,
            sync_attribute: false,
            copied_up: false,
        };
        match kind {
            PathKind::Character | PathKind::Stream => return subject,
            PathKind::Device => subject.bottom = walk.device(number, 0),
            PathKind::File | PathKind::Folder | PathKind::Missing => {
                let place = self.nearest(&full);
                let name = place.to_text();
                match walk.mount_of(&name) {
                    Ok(entry) => {
                        let same = known.iter().find(|known| {
                            entry.mount.device.major != 0
                                && known.mount.seen() == Some(&entry.mount)
                        });
                        match same {
                            Some(known) => {
                                subject.bottom = known.bottom.clone();
                                walk.layers.clone_from(&known.stack);
                            }
                            None => subject.bottom = walk.mounted(&entry, &name, 0),
                        }
                        subject.mount = Reading::Seen(entry.mount);
                    }
                    Err(why) => {
                        subject.bottom = LeafKind::Unknown(why.clone());
                        subject.mount = Reading::Unseen(why);
                    }
                }
                subject.space = space(&self.at(&place));
                subject.sync_attribute = self.real() && has_sync_attribute(&place);
            }
        }
        subject.copies = walk.copies;
        subject.copied_up = walk.below_upper;
        subject.stack = walk.layers;
        subject.direct = match (self.real(), kind) {
            (false, _) => Reading::Unseen("not this machine".into()),
            (true, PathKind::File | PathKind::Device) => direct::of_file(&full),
            (true, _) => direct::of_folder(&self.nearest(&full)),
        };
        subject
    }

    /// Whether what is written to a path goes to a device, or over a mount, that one of the subjects lies
    /// on. Nothing is written to find out. What is in memory shares nothing.
    pub fn shares_device(&self, path: &Path, subjects: &[Subject]) -> bool {
        let full = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let place = self.nearest(&full).to_text();
        let mut walk = StackWalk::new(self);
        let Ok(entry) = walk.mount_of(&place) else { return false };
        let bottom = walk.mounted(&entry, &place, 0);
        let in_memory = walk.layers.is_empty() && matches!(bottom, LeafKind::Memory(_));
        let below = |subject: &Subject| {
            let names = subject.stack.iter().map(|layer| &layer.name);
            let same = |name: &String| walk.layers.iter().any(|layer| layer.name == *name);
            let mount = subject.mount.seen();
            names.into_iter().any(same) || mount.is_some_and(|m| m.device == entry.mount.device)
        };
        !in_memory && subjects.iter().any(below)
    }

    pub(super) fn what_is(&self, path: &Path) -> (PathKind, DeviceNumber) {
        const NONE: DeviceNumber = DeviceNumber { major: 0, minor: 0 };
        if !self.real()
            && let Ok(name) = path.strip_prefix("/dev")
        {
            // A doctored scene has no device files: their names stand for them.
            let line = self.line(format!("/sys/class/block/{}/dev", name.to_text()));
            if let Some(number) = line.and_then(|text| super::mount::device_number(&text)) {
                return (PathKind::Device, number);
            }
        }
        let Ok(stat) = block::stat(&self.at(path)) else { return (PathKind::Missing, NONE) };
        let (major, minor) = stat.is_device;
        let kind = match stat.mode & libc::S_IFMT {
            libc::S_IFREG => PathKind::File,
            libc::S_IFDIR => PathKind::Folder,
            libc::S_IFBLK => PathKind::Device,
            // Virtual consoles, /dev/tty, and the pseudo-terminals.
            libc::S_IFCHR if matches!(major, 4 | 5 | 136..=143) => PathKind::Stream,
            libc::S_IFCHR => PathKind::Character,
            _ => PathKind::Stream,
        };
        (kind, DeviceNumber { major, minor })
    }

    /// The path itself or the nearest one above it that is there.
    pub(super) fn nearest(&self, path: &Path) -> PathBuf {
        let there = path.ancestors().find(|above| self.at(above).exists());
        there.unwrap_or(Path::new("/")).to_path_buf()
    }
}

/// Space of the file system that holds an existing path.
pub(super) fn space(path: &Path) -> Reading<FilesystemSpace> {
    match rustix::fs::statvfs(path) {
        Ok(stat) => {
            let unit = if stat.f_frsize == 0 { stat.f_bsize } else { stat.f_frsize };
            Reading::Seen(FilesystemSpace {
                total: Bytes(stat.f_blocks.saturating_mul(unit)),
                free: Bytes(stat.f_bavail.saturating_mul(unit)),
                block: Bytes(stat.f_bsize),
            })
        }
        Err(error) => Reading::Unseen(why("statvfs", &error.into())),
    }
}

/// `FS_IOC_GETFLAGS` has `FS_SYNC_FL`. Only a file or folder that opens at once is asked.
fn has_sync_attribute(place: &Path) -> bool {
    use rustix::fs::{IFlags, Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    rustix::fs::open(place, flags, Mode::empty())
        .and_then(rustix::fs::ioctl_getflags)
        .is_ok_and(|has| has.contains(IFlags::SYNC))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_that_store_nothing() {
        let subject = SysRoot::default().subject(Path::new("/dev/zero"));
        assert_eq!(subject.kind, PathKind::Character);
        assert_eq!(subject.bottom, LeafKind::Nothing("/dev/zero".into()));
        assert!(subject.stack.is_empty() && subject.mount.seen().is_none());
    }

    #[test]
    fn a_missing_path_is_judged_by_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let sys_root = SysRoot::default();
        let missing = sys_root.subject(&folder.path().join("not/yet"));
        let there = sys_root.subject(folder.path());
        assert_eq!(missing.kind, PathKind::Missing);
        // What has been written to a disk since the boot grows between two looks.
        let names = |subject: &Subject| -> Vec<String> {
            subject.stack.iter().map(|layer| layer.name.clone()).collect()
        };
        assert_eq!((&missing.mount, names(&missing)), (&there.mount, names(&there)));
        assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
        assert!(missing.space.seen().is_some());
    }
}
