//! How this process was started: with which standard streams closed, and whether broken pipes were to be
//! errors instead of signals.
//!
//! Before `main` the language's runtime opens what is closed of the three on `/dev/null`, and ignores
//! SIGPIPE; both are noted before it does. A descriptor on `/dev/null` tells nothing of it: daemons
//! are given such ones on purpose.
//!
//! # Safety
//! [`note`] is called once by the loader, from `.init_array`: the C library is set up, and there is
//! one thread. It makes bare system calls, stores a number into an atomic, allocates nothing and cannot
//! unwind. Its entry is a function of the C ABI in a section of pointers to such functions, and lives
//! as long as the program. [`keep_heap`] and [`spare_heap`] set limits of the allocator, which any thread may do at any time.
#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU8, Ordering};

use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Resource, Rlimit, setrlimit};

use super::limits::{ProcessLimit, limit};
use crate::error::Refusal;
use crate::unit::Bytes;

/// One bit for each standard stream that was closed, and [`PIPES_IGNORED`].
static NOTED: AtomicU8 = AtomicU8::new(0);

const PIPES_IGNORED: u8 = 1 << 3;

#[used]
// SAFETY: as said above.
#[unsafe(link_section = ".init_array")]
static ENTRY: extern "C" fn() = note;

extern "C" fn note() {
    let mut noted = 0;
    for stream in 0..3 {
        // SAFETY: a bare call that only answers; what is not open is an error.
        if unsafe { libc::fcntl(stream, libc::F_GETFD) } == -1 {
            noted |= 1 << stream;
        }
    }
    if is_ignored(libc::SIGPIPE) {
        noted |= PIPES_IGNORED;
    }
    NOTED.store(noted, Ordering::Relaxed);
}

/// Keeps freed memory of the heap at hand, up to 16 MiB: glibc gives back all above 128 KiB, and a run of many
/// short phases would get it anew page by page in each.
pub fn keep_heap() {
    #[cfg(target_env = "gnu")]
    {
        const KEPT: libc::c_int = 16 << 20;
        // SAFETY: a number is stored by the allocator; an answer of 0 means that nothing is changed.
        let _ = unsafe { libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT) };
    }
}

/// Takes no more memory than is used, in one of many processes: glibc keeps 128 KiB more than it needs, and clears there
/// what must be zero, as histograms are, of which a job touches a few pages. What comes from the kernel is zero.
pub(super) fn spare_heap() {
    #[cfg(target_env = "gnu")]
    {
        for (what, bytes) in [(libc::M_TOP_PAD, 0), (libc::M_MMAP_THRESHOLD, 32 << 10)] {
            // SAFETY: as above.
            let _ = unsafe { libc::mallopt(what, bytes) };
        }
        // SAFETY: gives back what the allocator has and nobody uses.
        let _ = unsafe { libc::malloc_trim(0) };
    }
}

/// Lets the stack of the first thread grow to 1 MiB, where `ulimit -s` keeps it smaller. The kernel asks for the limit when
/// it grows, not when the program is started.
///
/// # Errors
/// Where the hard limit is lower, and this user may not raise it.
pub fn grow_stack() -> Result<(), Refusal> {
    const ENOUGH: u64 = 1 << 20;
    let Ok((soft, hard)) = limit(ProcessLimit::Stack) else { return Ok(()) };
    if soft >= ENOUGH {
        return Ok(());
    }
    let wanted = Rlimit { current: Some(ENOUGH), maximum: Some(hard.max(ENOUGH)) };
    setrlimit(Resource::Stack, wanted).map_err(|_| {
        Refusal::new(
            format!("the stack may have {} here, which is too little", Bytes(soft)),
            "raise it with 'ulimit -s 1024'",
        )
    })
}

/// Whether a signal does nothing to this process.
pub fn is_ignored(signal: i32) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: nothing is changed; the answer is written to a place that is large enough.
    let answer = unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) };
    // SAFETY: all zeros are a valid action, and so is the kernel's answer.
    answer == 0 && unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN
}

/// Whether standard input (0), output (1) or error (2) was closed.
pub fn was_closed(stream: u8) -> bool {
    NOTED.load(Ordering::Relaxed) & (1 << stream) != 0
}

/// Whether whoever started this process wants a write to a pipe that nobody reads to fail, not to kill.
pub fn ignored_broken_pipes() -> bool {
    NOTED.load(Ordering::Relaxed) & PIPES_IGNORED != 0
}

/// A descriptor that answers as one that is closed does: whatever is asked of it is EBADF. Only
/// closing it works.
///
/// # Errors
/// EMFILE.
pub fn stand_in() -> io::Result<OwnedFd> {
    Ok(open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{SeekFrom, fsync, ftruncate, seek};
    use rustix::io::{Errno, read, write};

    #[test]
    fn what_stands_in_for_a_closed_stream_does_nothing() {
        let fd = stand_in().unwrap();
        assert_eq!(read(&fd, &mut [0_u8; 1]), Err(Errno::BADF));
        assert_eq!(write(&fd, &[0]), Err(Errno::BADF));
        assert_eq!(seek(&fd, SeekFrom::Current(0)), Err(Errno::BADF));
        assert_eq!((fsync(&fd), ftruncate(&fd, 0)), (Err(Errno::BADF), Err(Errno::BADF)));
    }

    #[test]
    fn a_signal_is_ignored_when_it_is() {
        assert!(!is_ignored(libc::SIGWINCH));
        // The runtime has done that to this one.
        assert!(is_ignored(libc::SIGPIPE));
        assert!(!was_closed(2));
    }
}
