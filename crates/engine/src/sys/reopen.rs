//! An open file once more, by its descriptor: what it is called, or whether it has a name at all, does not matter.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

/// Opens the same file with these flags: another description, with a place of its own. Where `/proc` is not mounted, a
/// `/proc` that only this call sees stands in for it: for that the kernel wants root (fsmount(2), since 5.2).
///
/// # Errors
/// Those of open(2); in words, where there is no `/proc`.
pub fn again(file: BorrowedFd<'_>, flags: OFlags) -> io::Result<OwnedFd> {
    let (number, flags) = (file.as_raw_fd(), flags | OFlags::CLOEXEC);
    match openat(CWD, format!("/proc/self/fd/{number}"), flags, Mode::empty()) {
        Err(Errno::NOENT) => {}
        opened => return Ok(opened?),
    }
    let proc = own_proc().map_err(|_| {
        io::Error::other(
            "/proc is not mounted, by which this method opens each file once more: 'mount -t proc proc /proc', or use \
             another method or tool, such as 'assay io'",
        )
    })?;
    Ok(openat(&proc, format!("self/fd/{number}"), flags, Mode::empty())?)
}

/// A `/proc` that is mounted nowhere, and gone when it is closed.
fn own_proc() -> rustix::io::Result<OwnedFd> {
    let proc = fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&proc)?;
    let quiet = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    fsmount(&proc, FsMountFlags::FSMOUNT_CLOEXEC, quiet)
}
