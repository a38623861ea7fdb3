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
//! Sets of signals live on the stack of the call that they are handed to.
#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::panic::catch_unwind;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::mpsc::{SendError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{Mode, OFlags, open};

use super::limits::{ProcessLimit, limit};
use super::signal;
use assay_plan::error::Refusal;

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

/// What the words need of a stack.
const ENOUGH: u64 = 1 << 20;
/// What they have in a thread of their own: as much as is used of it.
const ROOM: usize = 4 << 20;

/// Something for the first thread to do.
pub type FirstThreadWork = Box<dyn FnOnce() + Send>;

/// How it is handed over, while the first thread waits for it.
static FIRST: Mutex<Option<Sender<FirstThreadWork>>> = Mutex::new(None);

/// Does `words`, whose answer is the exit status of this process: in the first thread, or in another one with a stack of
/// its own, where `ulimit -s` keeps that of the first smaller than is needed, or `lends` the first thread to
/// [`on_first_thread`]. Signals that end a process come to the other one only, and it ends this one: what they write has
/// to be flushed by then.
///
/// # Errors
/// Where the stack is too small and no thread starts.
pub fn process(words: fn() -> u8, lends: bool) -> Result<u8, Refusal> {
    let large = limit(ProcessLimit::Stack).is_ok_and(|(soft, _)| soft >= ENOUGH);
    if large && !lends {
        return Ok(words());
    }
    let (send, receive) = channel();
    let before = hold_back(&[signal::TERMINATING, &[libc::SIGCONT]].concat());
    let apart = move || {
        restore_mask(&before);
        let code = catch_unwind(words).unwrap_or(101);
        // SAFETY: ends this process at once: the first thread may wait for a pipe for ever, and nothing is left to be
        // written by it.
        unsafe { libc::_exit(code.into()) }
    };
    *first() = lends.then_some(send);
    if let Err(error) = std::thread::Builder::new().stack_size(ROOM).spawn(apart) {
        *first() = None;
        restore_mask(&before);
        if large {
            return Ok(words());
        }
        return Err(Refusal::new(
            format!("the stack is too small here, and no thread with a larger one starts: {error}"),
            "raise one of both limits ('ulimit -s 1024', 'ulimit -u')",
        ));
    }
    receive.into_iter().for_each(|work: FirstThreadWork| work());
    FIRST_IDLE.store(!lends, Ordering::Release);
    loop {
        std::thread::park();
    }
}

/// Whether the first thread does nothing and holds nothing until the process ends.
static FIRST_IDLE: AtomicBool = AtomicBool::new(false);

/// Whether the first thread of this process only waits for its end: it has no part in anything, and no lock.
pub(super) fn first_is_idle() -> bool {
    FIRST_IDLE.load(Ordering::Acquire)
}

fn first() -> MutexGuard<'static, Option<Sender<FirstThreadWork>>> {
    FIRST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has something done by the first thread, once: what watches this process (strace, a debugger) sees it there.
///
/// # Errors
/// It comes back where the first thread has something to do.
pub fn on_first_thread(work: FirstThreadWork) -> Result<(), FirstThreadWork> {
    match first().take() {
        Some(send) => send.send(work).map_err(|SendError(work)| work),
        None => Err(work),
    }
}

/// Holds back from this thread what was held back before, and nothing else.
fn restore_mask(before: &libc::sigset_t) {
    // SAFETY: the set was filled by the kernel, and no other is asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, ptr::null_mut()) };
}

/// Holds these signals back from this thread and those it starts; which were held back before.
fn hold_back(signals: &[i32]) -> libc::sigset_t {
    let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
    let mut before = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: `set` is a place for a set, which this call makes an empty one.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    for signal in signals {
        // SAFETY: `set` was initialised above.
        unsafe { libc::sigaddset(set.as_mut_ptr(), *signal) };
    }
    // SAFETY: both sets are valid for the call; the old mask is written to `before`.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), before.as_mut_ptr()) };
    // SAFETY: all zeros are a valid set, and so is the kernel's answer.
    unsafe { before.assume_init() }
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
