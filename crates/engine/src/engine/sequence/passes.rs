//! When a pass ends, and whether another follows.

use super::direction::{DIRECTIONS, READ, SequenceMix, TRIM, WRITE};

/// The bytes of a worker, and what is left to do of them.
#[derive(Clone, Debug)]
pub(super) struct PassBytes {
    /// Passes at the least; `None`: only time ends it.
    passes: Option<u64>,
    /// Passes begun.
    begun: u64,
    /// Bytes after which a pass ends, whatever room its files have.
    of_pass: u64,
    /// Bytes of the files, or less.
    size: u64,
    /// Bytes that are asked for in a pass.
    asked: u64,
    /// More than one pass may be needed for them.
    more: bool,
    /// The largest block.
    largest: u64,
    mix: SequenceMix,
    /// Bytes of all passes.
    of_all: u64,
    /// Bytes sent in all, by direction.
    sent: [u64; DIRECTIONS],
    /// Bytes sent in this pass.
    sent_in_pass: u64,
}

/// What the bytes of passes follow from.
pub(super) struct PassRules {
    pub(super) passes: Option<u64>,
    /// Bytes of the files, or less.
    pub(super) size: u64,
    /// Bytes asked for, where they are not those.
    pub(super) io_size: Option<u64>,
    pub(super) largest: u64,
    pub(super) mix: SequenceMix,
    /// I/Os are queued.
    pub(super) queued: bool,
    /// A pass ends even where only time ends the job.
    pub(super) verified: bool,
    /// One pass may move more bytes than there are: places may come again.
    pub(super) overlaps: bool,
}

impl PassBytes {
    pub(super) fn new(rules: PassRules) -> Self {
        let PassRules { passes, size, io_size, largest, mix, queued, verified, overlaps } = rules;
        let asked = io_size.unwrap_or(size);
        let mut of_pass = if overlaps { size.max(io_size.unwrap_or(0)) } else { size };
        if mix == SequenceMix::TrimWrite {
            of_pass = of_pass.saturating_add(asked.saturating_mul(passes.unwrap_or(1)));
        }
        if !queued || passes.is_none() && !verified {
            of_pass = u64::MAX;
        }
        Self {
            passes,
            begun: 0,
            of_pass,
            size,
            asked,
            more: io_size.is_some(),
            largest,
            mix,
            of_all: passes.map_or(u64::MAX, |passes| asked.saturating_mul(passes)),
            sent: [0; DIRECTIONS],
            sent_in_pass: 0,
        }
    }

    /// Begins a pass, if there is another. `all_done`: no file had room for another I/O.
    pub(super) fn begin(&mut self, all_done: bool) -> bool {
        // A pass that could do nothing is the last.
        let idle = self.begun > 0 && self.sent_in_pass == 0;
        let sent = self.sent.iter().sum::<u64>();
        let goes_on = match self.passes {
            _ if idle => false,
            None => true,
            Some(passes) if self.begun < passes => true,
            Some(0) => false,
            Some(_) => {
                let left = self.asked.saturating_sub(sent);
                left >= self.largest.max(1) && (self.more || !all_done)
            }
        };
        self.begun += u64::from(goes_on);
        self.sent_in_pass = 0;
        goes_on
    }

    /// Whether the first pass has begun.
    pub(super) fn have_begun(&self) -> bool {
        self.begun > 0
    }

    /// Whether more bytes are asked for than there are, so that some places come in several passes.
    pub(super) fn move_more(&self) -> bool {
        self.more && self.asked > self.size
    }

    /// Whether the first pass is under way or has not begun.
    pub(super) fn is_first(&self) -> bool {
        self.begun <= 1
    }

    /// Whether the bytes of this pass, or of all, have been sent.
    #[inline]
    pub(super) fn are_sent(&self) -> bool {
        self.sent_in_pass >= self.of_pass || self.counted() >= self.of_all
    }

    /// The bytes that count.
    #[inline]
    fn counted(&self) -> u64 {
        match self.mix {
            SequenceMix::Mixed(_) => self.sent[READ] + self.sent[WRITE],
            SequenceMix::TrimWrite => self.sent[WRITE],
            SequenceMix::Only(direction) => self.sent[direction],
        }
    }

    /// An I/O of so many bytes is sent.
    #[inline]
    pub(super) fn send(&mut self, direction: usize, bytes: u64) {
        debug_assert!(direction <= TRIM);
        self.sent[direction] += bytes;
        self.sent_in_pass += bytes;
    }
}
