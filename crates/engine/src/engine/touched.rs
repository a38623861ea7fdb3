//! The stretch of each file that I/Os went to, for calls that are about a range.

use super::IoRequest;

/// What was touched of each file of a worker since it was last taken. A file's stretch goes from
/// the first byte to the last, whatever lies between. Its memory is taken once.
#[derive(Debug)]
pub(super) struct TouchedRanges {
    /// First byte and end, by file; of those not in `touched` it means nothing.
    each: Vec<(u64, u64)>,
    /// Files that were touched, in the order in which they were first.
    touched: Vec<u32>,
    /// Whether a file is in that list.
    listed: Vec<bool>,
}

impl TouchedRanges {
    /// Nothing touched yet of so many files; backends without any count theirs as one.
    pub(super) fn new(files: usize) -> Self {
        let files = files.max(1);
        Self {
            each: vec![(0, 0); files],
            touched: Vec::with_capacity(files),
            listed: vec![false; files],
        }
    }

    /// An I/O touches its `len` bytes.
    #[inline]
    pub(super) fn note(&mut self, io: IoRequest) {
        self.add(io.file, io.offset, io.offset + u64::from(io.len));
    }

    /// A file was touched from one byte up to another.
    #[inline]
    pub(super) fn add(&mut self, file: u32, from: u64, to: u64) {
        let number = file as usize;
        if !self.listed[number] {
            self.listed[number] = true;
            self.touched.push(file);
            self.each[number] = (from, to);
        }
        let (first, end) = self.each[number];
        self.each[number] = (first.min(from), end.max(to));
    }

    /// Takes one of the files that were touched: its number, first byte and end.
    pub(super) fn take(&mut self) -> Option<(u32, u64, u64)> {
        let file = self.touched.pop()?;
        self.listed[file as usize] = false;
        let (from, to) = self.each[file as usize];
        Some((file, from, to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::IoOp;

    #[test]
    fn a_stretch_goes_from_the_first_byte_to_the_last() {
        let mut reach = TouchedRanges::new(3);
        for (file, offset) in [(2, 8192), (0, 4096), (2, 0), (2, 4096)] {
            reach.note(IoRequest { op: IoOp::Write, file, offset, len: 512 });
        }
        assert_eq!(reach.take(), Some((0, 4096, 4608)));
        assert_eq!(reach.take(), Some((2, 0, 8704)));
        assert_eq!(reach.take(), None);
        reach.add(2, 100, 200);
        assert_eq!((reach.take(), reach.take()), (Some((2, 100, 200)), None));
    }
}
