//! Locks on parts of files that belong to an open description (fcntl(2), F_OFD_SETLK).
//!
//! # Safety
//! `fcntl` reads one `flock` that lives here; the descriptor is borrowed.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// What is locked of a file, and against whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// Others may read it.
    Shared,
    /// It belongs to this description alone.
    Exclusive,
    /// The lock is given back.
    Free,
}

/// Locks a part of a file and waits until it can be had; `len` 0: to the end, wherever that will be.
///
/// # Errors
/// The kernel's: EBADF where the description cannot read or write what is locked so, ENOLCK.
pub fn lock(file: BorrowedFd<'_>, kind: LockKind, start: u64, len: u64) -> io::Result<()> {
    set(file, libc::F_OFD_SETLKW, kind, start, len)
}

/// The same without waiting.
///
/// # Errors
/// EAGAIN where another has it.
pub fn try_lock(file: BorrowedFd<'_>, kind: LockKind, start: u64, len: u64) -> io::Result<()> {
    set(file, libc::F_OFD_SETLK, kind, start, len)
}

fn set(
    file: BorrowedFd<'_>,
    call: libc::c_int,
    kind: LockKind,
    start: u64,
    len: u64,
) -> io::Result<()> {
    let kind = match kind {
        LockKind::Shared => libc::F_RDLCK,
        LockKind::Exclusive => libc::F_WRLCK,
        LockKind::Free => libc::F_UNLCK,
    };
    // SAFETY: all zeros are a `flock`; the pid of a lock of a description is 0.
    let mut part: libc::flock64 = unsafe { std::mem::zeroed() };
    part.l_type = kind as libc::c_short;
    part.l_whence = libc::SEEK_SET as libc::c_short;
    part.l_start = start as libc::off64_t;
    part.l_len = len as libc::off64_t;
    // SAFETY: the descriptor is open as long as it is borrowed, and the kernel only reads `part`.
    match unsafe { libc::fcntl(file.as_raw_fd(), call, &raw const part) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_part_is_its_description_s_until_it_is_given_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("f");
        std::fs::write(&path, [0; 8192]).expect("a file");
        let open = || std::fs::File::options().read(true).write(true).open(&path).expect("open");
        let (mine, theirs) = (open(), open());
        lock(mine.as_fd(), LockKind::Exclusive, 0, 4096).expect("a lock");
        let taken = try_lock(theirs.as_fd(), LockKind::Shared, 1000, 10).expect_err("taken");
        assert_eq!(taken.raw_os_error(), Some(libc::EAGAIN));
        try_lock(theirs.as_fd(), LockKind::Exclusive, 4096, 0).expect("the rest is free");
        lock(mine.as_fd(), LockKind::Free, 0, 4096).expect("given back");
        try_lock(theirs.as_fd(), LockKind::Shared, 1000, 10).expect("free now");
    }
}
