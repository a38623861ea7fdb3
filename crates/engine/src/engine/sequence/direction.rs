//! Read, write or trim: which the next I/O is.

use assay_plan::plan::{Action, Mix, Tausworthe};

use super::super::IoOp;

/// The numbers of the directions, wherever something is kept for each.
pub(super) const READ: usize = 0;
pub(super) const WRITE: usize = 1;
pub(super) const TRIM: usize = 2;
/// How many there are.
pub(super) const DIRECTIONS: usize = 3;

/// What is done in each direction.
pub(super) const OPS: [IoOp; DIRECTIONS] = [IoOp::Read, IoOp::Write, IoOp::Trim];

/// Which directions there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SequenceMix {
    Only(usize),
    /// Reads with this percent, and writes.
    Mixed(u32),
    /// Each write goes where a trim went before.
    TrimWrite,
}

impl SequenceMix {
    /// That of a plan, which has checked it.
    pub(super) fn of(mix: &Mix) -> Self {
        let weight = |action| {
            let all = mix.0.iter().filter(|share| share.action == action);
            all.map(|share| share.weight).reduce(u32::saturating_add)
        };
        match [Action::Read, Action::Write, Action::Trim].map(weight) {
            [Some(reads), Some(_), _] => Self::Mixed(reads),
            [None, Some(_), Some(_)] => Self::TrimWrite,
            [None, Some(_), None] => Self::Only(WRITE),
            [None, None, Some(_)] => Self::Only(TRIM),
            _ => Self::Only(READ),
        }
    }

    /// Whether there are writes.
    pub(super) fn writes(self) -> bool {
        matches!(self, Self::Only(WRITE) | Self::Mixed(_) | Self::TrimWrite)
    }
}

/// Draws directions, and counts what was sent in each.
#[derive(Clone, Debug)]
pub(super) struct DirectionDraw {
    mix: SequenceMix,
    /// I/Os sent, by direction.
    sent: [u64; DIRECTIONS],
    /// Of the last I/O, in a mix.
    last: usize,
    /// So many of that direction come before the next draw.
    until: u64,
    flush_every: Option<u64>,
    flush_due: bool,
}

impl DirectionDraw {
    pub(super) fn new(mix: SequenceMix, flush_every: Option<u64>) -> Self {
        let sent = [0; DIRECTIONS];
        Self { mix, sent, last: READ, until: 0, flush_every, flush_due: false }
    }

    /// I/Os sent in a direction.
    pub(super) fn sent(&self, direction: usize) -> u64 {
        self.sent[direction]
    }

    /// The direction of the next I/O to a file whose last write and trim began at these places; `None`: a
    /// flush. What is barred (bits by [`IoOp`]) does not come while the mix has another.
    #[inline]
    pub(super) fn next(
        &mut self,
        random: &mut Tausworthe,
        starts: [u64; DIRECTIONS],
        barred: u8,
    ) -> Option<usize> {
        if self.flush_due {
            self.flush_due = false;
            return None;
        }
        Some(match self.mix {
            SequenceMix::Only(direction) => direction,
            SequenceMix::TrimWrite if starts[WRITE] == starts[TRIM] => TRIM,
            SequenceMix::TrimWrite => WRITE,
            SequenceMix::Mixed(reads) => self.mixed(random, reads, barred),
        })
    }

    /// A draw stands until its direction has caught up with the other by its percent.
    #[inline]
    fn mixed(&mut self, random: &mut Tausworthe, reads: u32, barred: u8) -> usize {
        if self.sent[self.last] >= self.until {
            let drawn = if random.percent() <= reads { READ } else { WRITE };
            if drawn != self.last {
                let percent = if drawn == READ { reads } else { 100_u32.saturating_sub(reads) };
                self.until = self.sent[self.last] * u64::from(percent) / 100;
            }
            self.last = drawn;
        }
        let other = self.last ^ 1;
        let is_barred = |direction: usize| barred & 1 << OPS[direction] as u8 != 0;
        let percent = if other == READ { reads } else { 100_u32.saturating_sub(reads) };
        if is_barred(self.last) && !is_barred(other) && percent > 0 {
            self.last = other;
        }
        self.last
    }

    /// An I/O of that direction is sent.
    #[inline]
    pub(super) fn send(&mut self, direction: usize) {
        self.sent[direction] += 1;
        if direction == WRITE
            && let Some(every) = self.flush_every
        {
            self.flush_due = self.sent[WRITE].is_multiple_of(every);
        } else {
            self.flush_due = false;
        }
    }

    /// A new pass begins with a draw.
    pub(super) fn begin_pass(&mut self) {
        self.until = 0;
    }
}
