//! The clock that times everything, and the CPU time of this process and of each thread.
//!
//! # Safety
//!
//! Every call here hands the kernel a pointer to one plain value on the stack and a number that
//! says what to write there; the kernel writes it before the call returns and keeps no pointer.
#![allow(unsafe_code)]

use std::io;
use std::sync::OnceLock;

use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};

use assay_plan::unit::{Nanos, Timestamp};

/// The time now, on CLOCK_MONOTONIC: read in user space where the machine's clock allows it (vdso(7)).
#[inline]
pub fn now() -> Timestamp {
    Timestamp(nanos(clock_gettime(ClockId::Monotonic)))
}

/// How long the machine was suspended since boot, to the millisecond: CLOCK_BOOTTIME goes on then, CLOCK_MONOTONIC
/// does not (clock_gettime(2)).
pub fn suspended() -> Nanos {
    // Whoever is interrupted between the two has waited, and was not suspended.
    let difference = || {
        let monotonic = nanos(clock_gettime(ClockId::Monotonic));
        nanos(clock_gettime(ClockId::Boottime)).saturating_sub(monotonic)
    };
    let least = (0..3).map(|_| difference()).min().unwrap_or_default();
    Nanos::millis(least / 1_000_000)
}

/// CPU time of the calling thread since it was made.
pub fn thread_cpu() -> Nanos {
    Nanos(nanos(clock_gettime(ClockId::ThreadCPUTime)))
}

/// What the calling thread has had since it was made (getrusage(2), RUSAGE_THREAD).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadUsage {
    /// CPU time in the kernel, to the microsecond.
    pub system: Nanos,
    /// Context switches because it went to sleep (voluntary ones).
    pub sleeps: u64,
    /// Context switches because others were given its CPU (involuntary ones).
    pub preempted: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Page faults that did not.
    pub minor_faults: u64,
}

/// What the calling thread has had since it was made; `None` where `getrusage` does not say.
pub fn thread_usage() -> Option<ThreadUsage> {
    let usage = rusage(libc::RUSAGE_THREAD).ok()?;
    Some(ThreadUsage {
        system: nanos_of(usage.ru_stime),
        sleeps: counted(usage.ru_nvcsw),
        preempted: counted(usage.ru_nivcsw),
        major_faults: counted(usage.ru_majflt),
        minor_faults: counted(usage.ru_minflt),
    })
}

/// The processor's counter of time, which programs may read; `None` on processors without one.
#[inline]
fn counter() -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this kind has the instruction, which touches no memory.
    return Some(unsafe { std::arch::x86_64::_rdtsc() });
    #[cfg(target_arch = "aarch64")]
    return {
        let now: u64;
        // SAFETY: Linux lets programs read this register; no memory is touched.
        unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) now, options(nomem, nostack)) };
        Some(now)
    };
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    None
}

/// The time that so many cycles of the processor's counter take: how fast it goes is measured once, in 2 ms. `None`
/// where programs cannot read one.
pub fn of_cycles(cycles: u64) -> Option<Nanos> {
    static EACH: OnceLock<Option<f64>> = OnceLock::new();
    if cycles == 0 {
        return Some(Nanos::ZERO);
    }
    let each = *EACH.get_or_init(|| {
        let (began, first) = (now(), counter()?);
        let (ended, last) = loop {
            let at = (now(), counter()?);
            if at.0.since(began) >= Nanos::millis(2) {
                break at;
            }
        };
        Some(ended.since(began).0 as f64 / last.wrapping_sub(first).max(1) as f64)
    });
    Some(Nanos((cycles as f64 * each?) as u64))
}

#[inline]
fn nanos(time: Timespec) -> u64 {
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

/// Sleeps until `due`, signals or not; returns at once when it has passed.
pub fn sleep_until(due: Timestamp) {
    let time =
        Timespec { tv_sec: (due.0 / 1_000_000_000) as i64, tv_nsec: (due.0 % 1_000_000_000) as _ };
    loop {
        match clock_nanosleep_absolute(ClockId::Monotonic, &time) {
            Err(Errno::INTR) => {}
            answer => {
                let told = "an absolute sleep on CLOCK_MONOTONIC is refused only for bugs";
                return assert_eq!(answer, Ok(()), "{told}");
            }
        }
    }
}

/// The smallest step of [`now`] that was seen, and the cost of one reading; some 20 µs of work, and a few
/// milliseconds at most.
pub fn measure() -> (Nanos, Nanos) {
    const ROUND: u64 = 64;
    let (mut step, mut cost) = (u64::MAX, u64::MAX);
    let began = now();
    for _ in 0..16 {
        let first = now();
        let mut last = first;
        for _ in 0..ROUND {
            let next = now();
            if next > last {
                step = step.min(next.since(last).0);
            }
            last = next;
        }
        cost = cost.min(last.since(first).0 / ROUND);
        // A clock that needs a system call would take tens of milliseconds for all rounds.
        if last.since(began) > Nanos::millis(5) {
            break;
        }
    }
    if step == u64::MAX {
        // A clock so coarse that no round saw it move: wait for its next tick.
        let (first, mut next) = (now(), now());
        while next == first {
            next = now();
        }
        step = next.since(first).0;
    }
    (Nanos(step), Nanos(cost))
}

/// CPU time and faults of this process: all threads that live or lived, and the processes that it
/// has forked and waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessUsage {
    /// In user mode.
    pub user: Nanos,
    /// In the kernel.
    pub system: Nanos,
    /// Page faults that needed I/O.
    pub major_faults: u64,
}

/// `getrusage` of ourselves and of children that are over.
pub fn usage() -> io::Result<ProcessUsage> {
    let (own, children) = (usage_of(libc::RUSAGE_SELF)?, usage_of(libc::RUSAGE_CHILDREN)?);
    Ok(ProcessUsage {
        user: own.user + children.user,
        system: own.system + children.system,
        major_faults: own.major_faults + children.major_faults,
    })
}

fn rusage(whom: libc::c_int) -> io::Result<libc::rusage> {
    // SAFETY: an all-zero rusage is a valid value of that plain C struct.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a valid rusage that lives until the call returns.
    if unsafe { libc::getrusage(whom, &mut usage) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(usage)
}

fn nanos_of(time: libc::timeval) -> Nanos {
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000)
}

fn usage_of(whom: libc::c_int) -> io::Result<ProcessUsage> {
    let usage = rusage(whom)?;
    Ok(ProcessUsage {
        user: nanos_of(usage.ru_utime),
        system: nanos_of(usage.ru_stime),
        major_faults: counted(usage.ru_majflt),
    })
}

/// A count of `rusage`: the kernel's has no sign, and is as wide as a register.
fn counted(count: libc::c_long) -> u64 {
    count as usize as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_moves_and_a_sleep_is_not_short() {
        let due = now() + Nanos::millis(5);
        sleep_until(due);
        assert!(now() >= due);
        sleep_until(Timestamp(0));
        let (step, cost) = measure();
        println!("step {step}, cost {cost}");
        assert!(step.0 > 0);
        assert!(cost < Nanos::millis(1));
    }

    #[test]
    fn cpu_time_grows_with_work() {
        let (before, thread) = (usage().unwrap(), thread_cpu());
        let began = now();
        while now().since(began) < Nanos::millis(30) {}
        let after = usage().unwrap();
        let worked = thread_cpu().less(thread);
        assert!(worked > Nanos::ZERO && worked <= now().since(began), "{worked}");
        assert!(after.user + after.system > before.user + before.system);
    }
}
