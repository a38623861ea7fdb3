//! Where a thread stands: the folder from which its relative paths go.
//!
//! # Safety
//! Only the calling thread's view of folders changes (unshare(2), `CLONE_FS`): no memory and no
//! descriptor is touched.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::process::fchdir;

/// A thread that stands where it wants, without moving the others; dropped, it goes back to where it
/// stood before.
#[derive(Debug)]
pub struct PinnedThread {
    former: OwnedFd,
}

impl PinnedThread {
    /// Takes the calling thread apart from the others: until now a step of one was a step of all.
    ///
    /// # Errors
    /// ENOMEM, EPERM where a filter stands in the way; that of opening the folder it stands in.
    pub fn alone() -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let former = openat(CWD, c".", flags, Mode::empty())?;
        // SAFETY: see the head of the file.
        let answer = unsafe { libc::unshare(libc::CLONE_FS) };
        if answer == 0 { Ok(Self { former }) } else { Err(io::Error::last_os_error()) }
    }

    /// Steps into a folder.
    ///
    /// # Errors
    /// The kernel's: EACCES where it may not be searched.
    pub fn step(&self, folder: impl AsFd) -> io::Result<()> {
        Ok(fchdir(folder)?)
    }
}

impl Drop for PinnedThread {
    fn drop(&mut self) {
        // It was there, so only rights that were lost meanwhile keep it away; nobody is left to be told.
        let _ = fchdir(&self.former);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_steps_alone_and_comes_back() {
        let here = || std::env::current_dir().expect("a folder");
        let before = here();
        std::thread::scope(|scope| {
            let theirs = scope.spawn(|| {
                let stand = PinnedThread::alone().expect("unshare");
                let root = openat(CWD, c"/", OFlags::PATH, Mode::empty()).expect("/");
                stand.step(root).expect("a step");
                let there = here();
                drop(stand);
                (there, here())
            });
            let (there, after) = theirs.join().expect("no panic");
            assert_eq!((there.as_os_str(), &after), ("/".as_ref(), &before));
        });
        assert_eq!(here(), before);
    }
}
