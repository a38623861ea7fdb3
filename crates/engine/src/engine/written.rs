//! Which of the writes of a job are read, when its I/Os are drawn anew.

use assay_plan::stats::PhantomWrites;

use super::{IoOp, IoRequest};

/// How far a job came with its I/Os, and which of its writes count.
#[derive(Clone, Copy, Debug)]
pub struct WrittenIos<'w> {
    /// I/Os that it sent.
    pub ios: u64,
    /// The first so many writes among them.
    pub writes: u64,
    /// All of these but the last.
    pub but_last: bool,
    /// The file and offset of each write that failed, in order.
    pub failed: &'w [(u32, u64)],
}

impl WrittenIos<'_> {
    /// All that are drawn.
    pub const ALL: Self = Self { ios: u64::MAX, writes: u64::MAX, but_last: false, failed: &[] };
}

/// The writes among I/Os that are drawn anew, as reads.
#[derive(Clone, Debug)]
pub(super) struct DrawnWrites {
    ios: u64,
    writes: u64,
    but_last: bool,
    failed: Vec<(u32, u64)>,
    /// Writes that it has drawn.
    drawn: u64,
    /// The write that was drawn last, where the last of all is left out.
    held: Option<IoRequest>,
    /// Those that are never made, where they are another run's.
    phantom: Option<PhantomWrites>,
}

impl DrawnWrites {
    pub(super) fn new(written: WrittenIos<'_>, phantom: Option<PhantomWrites>) -> Self {
        let WrittenIos { ios, writes, but_last, failed } = written;
        Self { ios, writes, but_last, failed: failed.to_vec(), drawn: 0, held: None, phantom }
    }

    /// How many it has drawn.
    pub(super) fn drawn(&self) -> u64 {
        self.drawn
    }

    /// Those that it has drawn and that nobody makes.
    pub(super) fn phantom(&self) -> Option<PhantomWrites> {
        self.phantom
    }

    /// The next write that counts, as a read.
    pub(super) fn next(
        &mut self,
        mut draw: impl FnMut() -> Option<IoRequest>,
    ) -> Option<IoRequest> {
        while self.ios > 0 && self.writes > 0 {
            self.ios -= 1;
            let io = draw()?;
            if !matches!(io.op, IoOp::Write | IoOp::Rewrite) {
                continue;
            }
            (self.writes, self.drawn) = (self.writes - 1, self.drawn + 1);
            if let Some(phantom) = &mut self.phantom {
                phantom.add(io.len);
            }
            let read = IoRequest { op: IoOp::Read, ..io };
            let counts = if self.but_last { self.held.replace(read) } else { Some(read) };
            let whole = |io: &IoRequest| self.failed.binary_search(&(io.file, io.offset)).is_err();
            if let Some(read) = counts.filter(whole) {
                return Some(read);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(written: WrittenIos<'_>) -> Vec<u64> {
        let io = |(number, op): (u64, IoOp)| IoRequest { op, file: 0, offset: number * 4, len: 4 };
        let ops = [IoOp::Write, IoOp::Read, IoOp::Write, IoOp::Write, IoOp::Read, IoOp::Write];
        let mut drawn = (0_u64..).zip(ops).map(io);
        let mut writes = DrawnWrites::new(written, Some(PhantomWrites::default()));
        let all = std::iter::from_fn(|| writes.next(|| drawn.next()));
        all.map(|io| io.offset / 4).collect()
    }

    #[test]
    fn the_writes_that_count_are_read_and_no_others() {
        assert_eq!(places(WrittenIos::ALL), [0, 2, 3, 5]);
        assert_eq!(places(WrittenIos { ios: 4, ..WrittenIos::ALL }), [0, 2, 3]);
        assert_eq!(places(WrittenIos { writes: 2, ..WrittenIos::ALL }), [0, 2]);
        assert_eq!(places(WrittenIos { but_last: true, ..WrittenIos::ALL }), [0, 2, 3]);
        let failed = &[(0, 8)];
        assert_eq!(places(WrittenIos { ios: 5, failed, ..WrittenIos::ALL }), [0, 3]);
        assert_eq!(
            places(WrittenIos { but_last: true, writes: 0, ..WrittenIos::ALL }),
            Vec::<u64>::new()
        );
    }
}
