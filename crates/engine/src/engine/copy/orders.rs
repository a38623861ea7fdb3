//! What whoever watches a copy wants of it: looked at between blocks, all at once.

use std::sync::atomic::{AtomicU8, Ordering};

const STOP: u8 = 1 << 0;
const TELL: u8 = 1 << 1;

#[derive(Debug, Default)]
pub struct CopyOrders(AtomicU8);

impl CopyOrders {
    pub fn stop(&self) {
        self.0.fetch_or(STOP, Ordering::Relaxed);
    }

    /// It is to tell how far it has come, if a second has passed since it last did.
    pub fn tell(&self) {
        self.0.fetch_or(TELL, Ordering::Relaxed);
    }

    /// It has told.
    pub(super) fn told(&self) {
        self.0.fetch_and(!TELL, Ordering::Relaxed);
    }

    /// Whether there is any order.
    #[inline(always)]
    pub(super) fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// Whether it is to stop.
    #[inline(always)]
    pub(super) fn stops(&self) -> bool {
        self.0.load(Ordering::Relaxed) & STOP != 0
    }
}
