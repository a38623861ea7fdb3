//! Parts of a file: ranges of bytes that do not touch each other.

use std::ops::Range;

/// Ranges of bytes, in order; between two of them there is always a gap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ByteRanges(Vec<Range<u64>>);

impl ByteRanges {
    /// Takes a range in, together with those that it touches.
    pub fn add(&mut self, new: Range<u64>) {
        if new.is_empty() {
            return;
        }
        let first = self.0.partition_point(|old| old.end < new.start);
        let after = self.0.partition_point(|old| old.start <= new.end);
        let touched = &self.0[first..after];
        let start = touched.first().map_or(new.start, |old| old.start.min(new.start));
        let end = touched.last().map_or(new.end, |old| old.end.max(new.end));
        self.0.splice(first..after, std::iter::once(start..end));
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Bytes from the beginning of the file without a gap.
    pub fn reach(&self) -> u64 {
        self.0.first().filter(|first| first.start == 0).map_or(0, |first| first.end)
    }

    /// The longest of them; empty where there is none.
    pub fn longest(&self) -> Range<u64> {
        let longest = self.0.iter().max_by_key(|range| range.end - range.start);
        longest.cloned().unwrap_or_default()
    }

    /// What of a range lies in none of them, in order.
    pub fn gaps(&self, within: Range<u64>) -> Vec<Range<u64>> {
        let mut gaps = Vec::new();
        let mut from = within.start;
        for known in &self.0 {
            let until = known.start.min(within.end);
            if from < until {
                gaps.push(from..until);
            }
            from = from.max(known.end);
        }
        if from < within.end {
            gaps.push(from..within.end);
        }
        gaps
    }

    /// Bytes of a range that lie in one of them.
    pub fn bytes_of(&self, within: Range<u64>) -> u64 {
        let missing: u64 = self.gaps(within.clone()).iter().map(|gap| gap.end - gap.start).sum();
        (within.end - within.start.min(within.end)) - missing
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ranges_that_touch_become_one() {
        let mut ranges = ByteRanges::default();
        for range in [8..9, 0..2, 4..6, 9..10, 3..3] {
            ranges.add(range);
        }
        assert_eq!(ranges.0, [0..2, 4..6, 8..10]);
        assert_eq!((ranges.reach(), ranges.bytes_of(1..9)), (2, 4));
        assert_eq!(ranges.gaps(1..12), [2..4, 6..8, 10..12]);
        assert_eq!(ranges.longest().end - ranges.longest().start, 2);
        assert_eq!(ByteRanges::default().longest(), 0..0);
        ranges.add(2..8);
        assert_eq!(ranges.0, std::slice::from_ref(&(0..10)));
        assert_eq!(ranges.gaps(3..7), []);
        ranges.clear();
        assert_eq!(ranges.gaps(0..5), std::slice::from_ref(&(0..5)));
        assert_eq!(ranges.reach(), 0);
    }

    proptest! {
        #[test]
        fn they_are_what_a_list_of_bytes_would_be(
            parts in prop::collection::vec((0_u64..64, 0_u64..16), 0..12),
            start in 0_u64..64, len in 0_u64..64,
        ) {
            let mut ranges = ByteRanges::default();
            let mut bytes = [false; 128];
            for (start, len) in parts {
                ranges.add(start..start + len);
                bytes[start as usize..(start + len) as usize].fill(true);
            }
            prop_assert!(ranges.0.windows(2).all(|pair| pair[0].end < pair[1].start));
            let within = start..start + len;
            let missing: Vec<u64> = ranges.gaps(within.clone()).into_iter().flatten().collect();
            let expected: Vec<u64> = within.clone().filter(|&at| !bytes[at as usize]).collect();
            prop_assert_eq!(ranges.bytes_of(within), len - expected.len() as u64);
            prop_assert_eq!(missing, expected);
        }
    }
}
