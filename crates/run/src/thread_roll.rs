//! The numbers of the threads and processes that do the I/O of a phase, for whoever looks at what they do.

use std::io;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

use assay_engine::sys::shared::SharedSlice;

/// A place for each of them, in memory that processes share.
pub(super) struct ThreadRoll {
    threads: SharedSlice<AtomicI32>,
    signed: SharedSlice<AtomicUsize>,
}

/// A thread that is on the roll as long as this lives.
pub(super) struct SignedThread<'r>(Option<&'r AtomicI32>);

impl ThreadRoll {
    /// For so many; `forks`: some are processes.
    ///
    /// # Errors
    /// ENOMEM.
    pub fn new(threads: usize, forks: bool) -> io::Result<Self> {
        Ok(Self { threads: SharedSlice::new(threads, forks)?, signed: SharedSlice::new(1, forks)? })
    }

    /// Puts the calling thread on the roll.
    pub fn sign(&self) -> SignedThread<'_> {
        let place = self.threads.get(self.signed[0].fetch_add(1, Ordering::Relaxed));
        if let Some(place) = place {
            place.store(rustix::thread::gettid().as_raw_nonzero().get(), Ordering::Relaxed);
        }
        SignedThread(place)
    }

    /// The numbers of those who are on it, and `0` in the places of others.
    pub fn threads(&self) -> impl ExactSizeIterator<Item = i32> {
        self.threads.iter().map(|thread| thread.load(Ordering::Relaxed))
    }
}

impl Drop for SignedThread<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.0 {
            place.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_gone_is_off_the_roll_and_more_than_were_planned_find_no_place() {
        let roll = ThreadRoll::new(2, false).unwrap();
        let me = rustix::thread::gettid().as_raw_nonzero().get();
        let all = || roll.threads().collect::<Vec<_>>();
        let first = roll.sign();
        let second = roll.sign();
        let third = roll.sign();
        assert_eq!(all(), [me, me]);
        drop((first, third));
        assert_eq!(all(), [0, me]);
        drop(second);
        assert_eq!(all(), [0, 0]);
    }
}
