//! Before a phase that wants it, a file system is unmounted and mounted again: nothing of it is cached then.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

use assay_plan::error::{Doing, Error, Fault};
use assay_plan::name::{self, NameText as _};
use assay_record::evidence::{MountEntry, SysRoot};

use super::phase_context::PhaseContext;
use super::resolve::mount_to_renew;

/// How often it is tried to unmount what is in use, and the time in between: a program that looks at each new
/// file is gone by then.
const TRIES: u32 = 100;
const AGAIN: Duration = Duration::from_millis(50);

impl PhaseContext<'_> {
    /// Unmounts and mounts what the phase says. The files of this run are closed before, and opened again by
    /// the phase.
    ///
    /// # Errors
    /// What cannot be mounted again, nothing being done; what is in use; and what the kernel answers.
    pub(super) fn remount(&mut self) -> Result<(), Error> {
        let Some(point) = &self.phase.remount else { return Ok(()) };
        let entry = mount_to_renew(point, &SysRoot::default())?;
        self.open_targets.iter_mut().for_each(|open_target| open_target.close());
        Ok(again(point, &entry)?)
    }
}

/// Unmounts it and mounts it again with the same options.
fn again(point: &Path, entry: &MountEntry) -> Result<(), Fault> {
    let source = name::path(&entry.mount.source);
    // A loop device may go away with its last user.
    let _held = File::open(&source).map_err(|error| {
        Fault::new(Doing::Open, source.to_text(), &error).hinting("only root may unmount: use sudo")
    })?;
    let mut tries = 0;
    while let Err(error) = unmount(point, UnmountFlags::empty()) {
        tries += 1;
        if error != rustix::io::Errno::BUSY || tries == TRIES {
            let hint = match error {
                rustix::io::Errno::BUSY => {
                    "a program uses it: 'fuser -vm' names it; is this shell in it, or what is written at the end?"
                }
                _ => "only root may unmount: use sudo",
            };
            return Err(Fault::new(Doing::Unmount, point.to_text(), &error.into()).hinting(hint));
        }
        std::thread::sleep(AGAIN);
    }
    let (flags, data) = options(entry);
    let mounted = |data: &str| -> rustix::io::Result<()> {
        let data = std::ffi::CString::new(name::bytes(data));
        mount(&source, point, entry.mount.kind.as_str(), flags, data.ok().as_deref())
    };
    mounted(&data).or_else(|_| mounted("")).map_err(|error| {
        let by = format!(
            "it is not mounted now: 'mount -t {} {} {}' mounts it",
            entry.mount.kind,
            entry.mount.source,
            point.to_text()
        );
        Fault::new(Doing::Mount, point.to_text(), &io::Error::from(error)).hinting(by)
    })
}

/// The options of a mount as the kernel takes them: bits, and what is the file system's own.
fn options(entry: &MountEntry) -> (MountFlags, String) {
    let mut flags = MountFlags::empty();
    for option in entry.mount.options.split(',') {
        flags |= flag(option).unwrap_or(MountFlags::empty());
    }
    let own = |option: &&str| flag(option).is_none() && !matches!(*option, "rw" | "seclabel");
    let own: Vec<&str> = entry.super_options.split(',').filter(own).collect();
    (flags, own.join(","))
}

/// The bit of an option, where it is one.
fn flag(option: &str) -> Option<MountFlags> {
    Some(match option {
        "ro" => MountFlags::RDONLY,
        "nosuid" => MountFlags::NOSUID,
        "nodev" => MountFlags::NODEV,
        "noexec" => MountFlags::NOEXEC,
        "nosymfollow" => MountFlags::NOSYMFOLLOW,
        "noatime" => MountFlags::NOATIME,
        "nodiratime" => MountFlags::NODIRATIME,
        "relatime" => MountFlags::RELATIME,
        "sync" => MountFlags::SYNCHRONOUS,
        "dirsync" => MountFlags::DIRSYNC,
        "lazytime" => MountFlags::LAZYTIME,
        "mand" => MountFlags::PERMIT_MANDATORY_FILE_LOCKING,
        _ => return None,
    })
}
