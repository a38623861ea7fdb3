//! Signals and wake-ups as things one can wait for: a signalfd and an eventfd.
//!
//! # Safety
//! The signal sets live on the stack of their calls; descriptors are owned as soon as the kernel
//! has given them.
#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use super::{clock, start};
use assay_plan::unit::Nanos;

/// Holds signals back from this thread and those it starts, and hands them out one by one.
#[derive(Debug)]
pub struct EventLoop {
    signals: OwnedFd,
    waker: OwnedFd,
    before: libc::sigset_t,
}

/// What came first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Signal(i32),
    /// SIGCONT: this process had been stopped, somewhere in the time that was waited, which this is. The kernel
    /// lets it go on in any case.
    Continued(Nanos),
    /// Somebody rang the bell.
    Bell,
    /// Nothing in the time that was given.
    Nothing,
}

/// Rings the bell of an inbox from another thread.
#[derive(Debug)]
pub struct EventWaker(OwnedFd);

impl EventWaker {
    /// Wakes the owner of the inbox.
    pub fn ring(&self) {
        // The counter would have to stand at 2^64 - 2 for this to fail.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }
}

impl EventLoop {
    /// Holds `signals` back from now on. To be made before any thread is started. Those that whoever started this
    /// process ignores (nohup) stay ignored: the kernel would hand out a blocked one all the same.
    ///
    /// # Errors
    /// EMFILE, ENOMEM; ENOSYS or EPERM where a filter stands in the way.
    pub fn new(signals: &[i32]) -> io::Result<Self> {
        let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
        let mut before = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: `set` is a place for a set; it is initialised by this call.
        unsafe { libc::sigemptyset(set.as_mut_ptr()) };
        for &signal in signals.iter().filter(|signal| !start::is_ignored(**signal)) {
            // SAFETY: `set` was initialised above.
            if unsafe { libc::sigaddset(set.as_mut_ptr(), signal) } != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        // SAFETY: both sets are valid; the old mask is written to `before`.
        let errno =
            unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), before.as_mut_ptr()) };
        if errno != 0 {
            return Err(io::Error::from_raw_os_error(errno));
        }
        // SAFETY: `set` is initialised; -1 asks for a new descriptor.
        let fd =
            unsafe { libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just given this descriptor to us alone.
        let signals = unsafe { OwnedFd::from_raw_fd(fd) };
        let waker = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        // What cannot be waited for would be asked for again and again.
        poll(&mut [PollFd::new(&waker, PollFlags::IN)], Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
        // SAFETY: initialised by pthread_sigmask.
        Ok(Self { signals, waker, before: unsafe { before.assume_init() } })
    }

    /// A bell for another thread.
    ///
    /// # Errors
    /// EMFILE.
    pub fn waker(&self) -> io::Result<EventWaker> {
        Ok(EventWaker(self.waker.try_clone()?))
    }

    /// Waits for a signal or the bell, for `longest` at the most.
    pub fn wait(&self, longest: Nanos) -> Event {
        let began = clock::now();
        let mut fds =
            [PollFd::new(&self.signals, PollFlags::IN), PollFd::new(&self.waker, PollFlags::IN)];
        let limit = Timespec {
            tv_sec: (longest.0 / 1_000_000_000) as i64,
            tv_nsec: (longest.0 % 1_000_000_000) as _,
        };
        if poll(&mut fds, Some(&limit)).unwrap_or(0) == 0 {
            return Event::Nothing;
        }
        let mut info = [0_u8; size_of::<libc::signalfd_siginfo>()];
        if rustix::io::read(self.signals.as_fd(), &mut info).is_ok_and(|n| n == info.len()) {
            // ssi_signo is the first field.
            let number = u32::from_ne_bytes([info[0], info[1], info[2], info[3]]);
            return match number as i32 {
                libc::SIGCONT => Event::Continued(clock::now().since(began)),
                signal => Event::Signal(signal),
            };
        }
        let mut count = [0_u8; 8];
        match rustix::io::read(self.waker.as_fd(), &mut count) {
            Ok(_) => Event::Bell,
            Err(_) => Event::Nothing,
        }
    }
}

impl Drop for EventLoop {
    /// What came after the last look is thrown away: a second Ctrl-C, while a run that was
    /// interrupted once cleans up, shall not kill it before it has said what it knows.
    fn drop(&mut self) {
        let mut info = [0_u8; size_of::<libc::signalfd_siginfo>()];
        while rustix::io::read(&self.signals, &mut info).is_ok_and(|n| n > 0) {}
        // SAFETY: `before` is the mask this thread had; a second argument of null asks for nothing.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bell_wakes_and_silence_ends() {
        let event_loop = EventLoop::new(&[libc::SIGUSR2]).unwrap();
        assert_eq!(event_loop.wait(Nanos::millis(1)), Event::Nothing);
        let waker = event_loop.waker().unwrap();
        std::thread::spawn(move || waker.ring()).join().unwrap();
        assert_eq!(event_loop.wait(Nanos::secs(5)), Event::Bell);
        assert_eq!(event_loop.wait(Nanos::millis(1)), Event::Nothing);
        // SAFETY: SIGUSR2 is held in this thread, so it only becomes pending.
        unsafe { libc::raise(libc::SIGUSR2) };
        assert_eq!(event_loop.wait(Nanos::secs(5)), Event::Signal(libc::SIGUSR2));
    }

    #[test]
    fn who_was_stopped_is_told_how_long_that_was_at_the_most() {
        let event_loop = EventLoop::new(&[libc::SIGCONT]).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        // SAFETY: SIGCONT is held in this thread, so it only becomes pending.
        unsafe { libc::raise(libc::SIGCONT) };
        let Event::Continued(within) = event_loop.wait(Nanos::secs(5)) else { panic!("a signal") };
        assert!(within < Nanos::secs(5), "{within}");
    }

    #[test]
    fn what_is_ignored_stays_ignored() {
        super::super::signal::ignore(libc::SIGURG).unwrap();
        let event_loop = EventLoop::new(&[libc::SIGURG]).unwrap();
        // SAFETY: SIGURG is ignored in this process.
        unsafe { libc::raise(libc::SIGURG) };
        assert_eq!(event_loop.wait(Nanos::millis(1)), Event::Nothing);
    }

    #[test]
    fn what_nobody_looked_at_is_gone_with_the_inbox() {
        let event_loop = EventLoop::new(&[libc::SIGUSR1]).unwrap();
        // SAFETY: SIGUSR1 is held in this thread, so it only becomes pending.
        unsafe { libc::raise(libc::SIGUSR1) };
        // It would end this process here.
        drop(event_loop);
    }
}
