//! A gate where workers gather until all who could be started are there.

use std::sync::atomic::{AtomicU32, Ordering};

use rustix::thread::futex::{Flags, wait, wake};

/// A barrier whose number is known only once every worker has been started. It may lie in memory
/// that processes share: two words, and the kernel's wait on them.
#[derive(Debug, Default)]
pub(super) struct StartGate {
    /// How many have come.
    come: AtomicU32,
    /// 1: they may go on.
    open: AtomicU32,
}

impl StartGate {
    /// One more has come, or never will.
    pub fn arrive(&self) {
        self.come.fetch_add(1, Ordering::AcqRel);
        let _ = wake(&self.come, Flags::empty(), u32::MAX / 2);
    }

    /// Waits until it is opened.
    pub fn pass(&self) {
        while self.open.load(Ordering::Acquire) == 0 {
            // Woken, interrupted, or the word had changed already: one looks again.
            let _ = wait(&self.open, Flags::empty(), 0, None);
        }
    }

    /// Waits until so many have come, and opens it.
    pub fn open_for(&self, number: usize) {
        loop {
            let come = self.come.load(Ordering::Acquire);
            if come as usize >= number {
                break;
            }
            let _ = wait(&self.come, Flags::empty(), come, None);
        }
        self.open.store(1, Ordering::Release);
        let _ = wake(&self.open, Flags::empty(), u32::MAX / 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_passes_before_all_have_come() {
        let (gate, passed) = (StartGate::default(), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    gate.arrive();
                    gate.pass();
                    passed.fetch_add(1, Ordering::AcqRel);
                });
            }
            while gate.come.load(Ordering::Acquire) < 3 {
                std::thread::yield_now();
            }
            assert_eq!(passed.load(Ordering::Acquire), 0);
            gate.open_for(3);
        });
        assert_eq!(passed.load(Ordering::Acquire), 3);
    }
}
