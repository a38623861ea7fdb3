//! How many I/Os one call hands to the kernel.
//!
//! A device with a queue of its own begins with the first I/O that reaches it. When many answers come at
//! once, and all their successors go out in one call, the device has nothing to do while they are made and
//! queued (the kernel plugs the queue for the length of the call), answers all of them together again, and
//! so on: it works in convoys. Sent in pieces, the first is under way while the next is made. A device
//! that answers within the call (memory), or by threads of the kernel on the same CPU, gains nothing by
//! that and pays for each call: 8 % and more of its rate. Which of the two it is cannot be told
//! beforehand. So both ways take turns for some thousand I/Os, the faster is kept, and now and then
//! they are compared again.

use assay_plan::stats::CallSizes;
use assay_plan::unit::Timestamp;

/// I/Os in one call to a device that works while we prepare.
const PIECE: u32 = 2;

/// All that are queued.
const WHOLE: u32 = u32::MAX;

/// I/Os over which one way is timed.
const WINDOW: u32 = 1024;

/// Windows of a comparison, both ways in turn. Of each way the best counts: others on the machine only
/// take away.
const COMPARED: u32 = 8;

/// Windows until they are compared again.
const KEPT: u32 = 248;

/// Pieces are kept where they are faster by more than this: they cost the CPU more calls.
const GAIN: f64 = 1.01;

/// Decides when what is queued is handed over before more is.
pub(super) struct SubmitBatching {
    /// The plan leaves it open, there is a queue, and more than one in flight. Else nothing is looked at.
    open: bool,
    /// Queued since the last call.
    queued: u32,
    /// I/Os of a call.
    piece: u32,
    /// I/Os of this window.
    sent: u32,
    /// When it began.
    since: Timestamp,
    /// Windows since the comparison began.
    window: u32,
    /// The least ns of an I/O: in pieces, and whole.
    best: [f64; 2],
}

impl SubmitBatching {
    /// Of a worker whose I/Os may go in pieces, or not.
    pub(super) fn new(open: bool) -> Self {
        Self {
            open,
            queued: 0,
            piece: WHOLE,
            sent: 0,
            since: Timestamp::default(),
            window: 0,
            best: [f64::INFINITY; 2],
        }
    }

    /// The worker starts.
    pub(super) fn start(&mut self, now: Timestamp) {
        self.since = now;
    }

    /// One more is about to be queued: whether those before it go first.
    #[inline]
    pub(super) fn is_full(&mut self, submitted: &mut CallSizes) -> bool {
        self.queued += 1;
        let full = self.queued > self.piece;
        if full {
            submitted.add(self.piece);
            self.sent += self.piece;
            self.queued = 1;
        }
        full
    }

    /// All that was queued has been handed over, and answers were waited for until now.
    #[inline]
    pub(super) fn waited(&mut self, now: Timestamp, submitted: &mut CallSizes) {
        submitted.add(self.queued);
        self.sent += self.queued;
        self.queued = 0;
        if self.sent >= WINDOW {
            self.end_window(now);
        }
    }

    #[cold]
    fn end_window(&mut self, now: Timestamp) {
        let each = now.since(self.since).0 as f64 / f64::from(self.sent);
        (self.sent, self.since) = (0, now);
        if !self.open {
            return;
        }
        if self.window < COMPARED {
            let best = &mut self.best[usize::from(self.piece == WHOLE)];
            *best = best.min(each);
        }
        self.window += 1;
        let [pieces, whole] = self.best;
        self.piece = match self.window {
            window if window < COMPARED && window % 2 == 1 => PIECE,
            window if window < COMPARED => WHOLE,
            _ if pieces * GAIN < whole => PIECE,
            _ => WHOLE,
        };
        if self.window == COMPARED + KEPT {
            *self = Self { since: now, ..Self::new(true) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_plan::unit::Nanos;

    /// A queue of 32 that is emptied and filled again, with so many ns for an I/O in pieces and whole.
    struct Queue {
        batching: SubmitBatching,
        now: Timestamp,
        ns: [u64; 2],
        submitted: CallSizes,
    }

    impl Queue {
        fn of(open: bool, ns: [u64; 2]) -> Self {
            let now = Timestamp(7);
            Self {
                batching: SubmitBatching { since: now, ..SubmitBatching::new(open) },
                now,
                ns,
                submitted: CallSizes::default(),
            }
        }

        /// How many I/Os each call takes.
        fn bunch(&mut self) -> Vec<u32> {
            let mut calls = vec![0];
            for _ in 0..32 {
                if self.batching.is_full(&mut self.submitted) {
                    calls.push(0);
                }
                *calls.last_mut().unwrap() += 1;
            }
            self.now = self.now + Nanos(32 * self.ns[usize::from(calls.len() == 1)]);
            self.batching.waited(self.now, &mut self.submitted);
            calls
        }

        /// How many of so many windows were sent in pieces.
        fn in_pieces(&mut self, windows: u32) -> u32 {
            (0..windows)
                .filter(|_| (0..WINDOW / 32).filter(|_| self.bunch().len() > 1).count() > 0)
                .count() as u32
        }
    }

    #[test]
    fn the_faster_way_is_kept_and_both_are_tried_again() {
        for (ns, kept) in [([90, 100], KEPT), ([110, 100], 0), ([100, 100], 0)] {
            let mut queue = Queue::of(true, ns);
            for _ in 0..3 {
                assert_eq!(queue.in_pieces(COMPARED), COMPARED / 2, "{ns:?}");
                assert_eq!(queue.in_pieces(KEPT), kept, "{ns:?}");
            }
            // A device may change.
            queue.ns = [ns[1] - 20, ns[1]];
            queue.in_pieces(COMPARED);
            assert_eq!(queue.in_pieces(KEPT), KEPT);
        }
    }

    #[test]
    fn a_bunch_goes_out_in_pieces_and_its_rest_with_the_wait() {
        let mut queue = Queue::of(true, [1, 2]);
        queue.in_pieces(COMPARED);
        assert_eq!(queue.bunch(), [PIECE; 16]);
        let calls =
            (0..2 * PIECE + 1).filter(|_| queue.batching.is_full(&mut queue.submitted)).count();
        assert_eq!((calls, queue.batching.queued), (2, 1));
    }

    #[test]
    fn what_the_plan_decides_is_not_tried() {
        assert_eq!(Queue::of(false, [1, 2]).in_pieces(3 * COMPARED), 0);
    }
}
