//! Workers as processes: a fork that runs one piece of work, and its answer through a pipe.
//!
//! It is a fork without an exec. The other way, to start our own program again, would have to find
//! it (a library's user has another), to tell it every open file, and to resolve the plan a second
//! time on a machine that has changed since. What makes a fork dangerous is other threads: the
//! child has only the calling one, and whatever lock another held is locked for ever. So it is
//! refused while there is a second thread, but for a first one that only waits for the end ([`start::process`]); alone,
//! everything that was sound before is sound after.
//!
//! # Safety
//! [`fork`] makes sure that this process has one thread that does anything. The child never returns into the frames
//! of its parent: a panic is caught, and it ends by `_exit`, so that nothing that the parent owns
//! is dropped twice.
#![allow(unsafe_code)]

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions};

use super::start;

/// A process that does one piece of work.
#[derive(Debug)]
pub struct WorkerChild {
    pid: Option<Pid>,
    answer: OwnedFd,
}

/// How a child ended without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildDeath {
    Signal(i32),
    /// With this exit status.
    Status(i32),
}

/// The exit status of a child whose work panicked.
const PANICKED: i32 = 101;

/// Whether this process has one thread only that does anything. A thread that was joined is still listed for a moment while the kernel
/// buries it: it is given 200 ms.
pub fn is_single() -> bool {
    let single = || match std::fs::read_dir("/proc/self/task") {
        Ok(tasks) => tasks.count() == 1 + usize::from(start::first_is_idle()),
        // SAFETY: the kernel takes no thread out of its group: it only says EINVAL where there is another
        // (unshare(2)), and changes nothing.
        Err(_) => unsafe { libc::unshare(libc::CLONE_THREAD) == 0 },
    };
    for _ in 0..200 {
        if single() {
            return true;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    false
}

/// Runs `work` in a process of its own; its bytes come [home](WorkerChild::home). The child is killed
/// when this thread dies, however that happens.
///
/// # Errors
/// EBUSY while there is another thread, EAGAIN where no more processes may be made.
pub fn fork(work: impl FnOnce() -> Vec<u8>) -> io::Result<WorkerChild> {
    if !is_single() {
        return Err(rustix::io::Errno::BUSY.into());
    }
    let (answer, mouth) = pipe_with(PipeFlags::CLOEXEC)?;
    let parent = rustix::process::getpid();
    // SAFETY: one thread does anything here, as was just seen, so no lock is held by anybody else;
    // the child stays in this function until it exits.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let alive = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
            // The parent may have died before that was said.
            if alive.is_ok() && rustix::process::getppid() == Some(parent) {
                drop(answer);
                start::spare_heap();
                let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    let bytes = work();
                    std::fs::File::from(mouth).write_all(&bytes).is_ok()
                }));
                let status = match done {
                    Ok(true) => 0,
                    Ok(false) => 1,
                    Err(_) => PANICKED,
                };
                // SAFETY: ends this process at once; nothing of the parent's is dropped.
                unsafe { libc::_exit(status) }
            }
            // SAFETY: as above.
            unsafe { libc::_exit(1) }
        }
        pid => Ok(WorkerChild { pid: Pid::from_raw(pid), answer }),
    }
}

impl WorkerChild {
    /// Waits for its end; what it had to say.
    ///
    /// # Errors
    /// How it ended, when it did not come to its end.
    pub fn home(mut self) -> Result<Vec<u8>, ChildDeath> {
        let mut bytes = Vec::new();
        let mut pipe = std::fs::File::from(match self.answer.try_clone() {
            Ok(pipe) => pipe,
            Err(_) => return Err(self.end().unwrap_or(ChildDeath::Status(0))),
        });
        let heard = pipe.read_to_end(&mut bytes);
        match self.end() {
            None if heard.is_ok() => Ok(bytes),
            None => Err(ChildDeath::Status(0)),
            Some(death) => Err(death),
        }
    }

    /// Reaps it; how it ended, unless well.
    fn end(&mut self) -> Option<ChildDeath> {
        let pid = self.pid.take()?;
        loop {
            match rustix::process::waitpid(Some(pid), WaitOptions::empty()) {
                Err(rustix::io::Errno::INTR) => {}
                Err(_) | Ok(None) => return None,
                Ok(Some((_, status))) => {
                    return match (status.terminating_signal(), status.exit_status()) {
                        (Some(signal), _) => Some(ChildDeath::Signal(signal)),
                        (None, Some(0) | None) => None,
                        (None, Some(status)) => Some(ChildDeath::Status(status)),
                    };
                }
            }
        }
    }
}

impl Drop for WorkerChild {
    /// One that nobody waits for is not wanted any more.
    fn drop(&mut self) {
        if let Some(pid) = self.pid {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
            self.end();
        }
    }
}
