//! How many I/Os one call hands to the kernel.
//!
//! A device with a queue of its own begins with the first I/O that reaches it. When many answers come at
//! once, and all their successors go out in one call, the device has nothing to do while they are made and
//! queued (the kernel plugs the queue for the length of the call), answers all of them together again, and
//! so on: it works in convoys. Sent in pieces, the first is under way while the next is made. A device
//! that answers within the call (memory) gains nothing by that, and pays for each call: it gets all at
//! once. Which of the two it is shows in the waits: for the one the thread sleeps, for the other it does not.

use crate::sys::clock;

/// I/Os in one call to a device that works while we prepare.
const PIECE: u32 = 2;

/// Waits after which is looked whether the thread slept in them.
const WAITS: u32 = 64;

/// Of so many waits one must have been a sleep.
const SLEPT: u64 = 4;

/// Decides when what is queued is handed over before more is.
pub(super) struct SubmitBatching {
    /// Bunches can come: there is a queue, and more than one in flight. Else nothing is looked at.
    bunches: bool,
    /// Queued since the last call.
    queued: u32,
    /// I/Os of a call.
    piece: u32,
    waits: u32,
    /// Sleeps of the thread when they were last looked at.
    slept: u64,
}

impl SubmitBatching {
    /// Of a worker that keeps so many in flight, through a queue of the kernel or not.
    pub(super) fn new(through_queue: bool, iodepth: usize) -> Self {
        let bunches = through_queue && iodepth > 1;
        let (piece, slept) = if bunches { (PIECE, clock::thread_sleeps()) } else { (u32::MAX, 0) };
        Self { bunches, queued: 0, piece, waits: 0, slept }
    }

    /// One more is about to be queued: whether those before it go first.
    #[inline]
    pub(super) fn is_full(&mut self) -> bool {
        self.queued += 1;
        let full = self.queued > self.piece;
        if full {
            self.queued = 1;
        }
        full
    }

    /// All that was queued has been handed over, and answers were waited for.
    #[inline]
    pub(super) fn waited(&mut self) {
        self.queued = 0;
        if self.bunches {
            self.waits += 1;
            if self.waits == WAITS {
                self.look();
            }
        }
    }

    #[cold]
    fn look(&mut self) {
        let slept = clock::thread_sleeps();
        self.piece = piece(slept.saturating_sub(self.slept), self.waits);
        (self.waits, self.slept) = (0, slept);
    }
}

/// I/Os of a call, for a device for which the thread slept so often in so many waits.
fn piece(sleeps: u64, waits: u32) -> u32 {
    if sleeps * SLEPT >= u64::from(waits) { PIECE } else { u32::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many I/Os each call takes of so many that are queued one after the other.
    fn calls(batching: &mut SubmitBatching, ios: u32) -> Vec<u32> {
        let mut calls = vec![0];
        for _ in 0..ios {
            if batching.is_full() {
                calls.push(0);
            }
            *calls.last_mut().unwrap() += 1;
        }
        batching.waited();
        calls
    }

    #[test]
    fn a_bunch_goes_out_in_pieces_and_its_rest_with_the_wait() {
        let mut batching = SubmitBatching::new(true, 32);
        assert_eq!(calls(&mut batching, 2 * PIECE + 1), [PIECE, PIECE, 1]);
        assert_eq!(calls(&mut batching, 1), [1]);
        assert_eq!(calls(&mut batching, PIECE), [PIECE]);
        for (through_queue, iodepth) in [(false, 32), (true, 1)] {
            assert_eq!(calls(&mut SubmitBatching::new(through_queue, iodepth), 32), [32]);
        }
    }

    #[test]
    fn a_device_that_answers_within_the_call_gets_all_at_once() {
        // This thread does not sleep between the waits.
        let mut batching = SubmitBatching::new(true, 32);
        (0..WAITS).for_each(|_| drop(calls(&mut batching, 32)));
        assert_eq!(calls(&mut batching, 32), [32]);
        // And now it does, each time.
        for _ in 0..WAITS {
            std::thread::sleep(std::time::Duration::from_micros(50));
            calls(&mut batching, 32);
        }
        assert_eq!(calls(&mut batching, PIECE + 1), [PIECE, 1]);
        assert_eq!((piece(16, WAITS), piece(15, WAITS)), (PIECE, u32::MAX));
    }
}
