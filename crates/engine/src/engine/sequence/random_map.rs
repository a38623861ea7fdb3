//! Which blocks have been used: a bit each, and levels above that tell where there is a free one.
//!
//! One bit per block and a sixty-third of that for the levels: 128 KiB and 2 KiB for 4 GiB in blocks of 4 KiB,
//! 32.5 MiB for 1 TiB. It is taken once; a pass clears it.

/// Blocks of a word.
const WORD: u64 = 64;

/// A set of blocks.
#[derive(Clone, Debug)]
pub(super) struct RandomMap {
    blocks: u64,
    /// A bit for each block, and room for one behind the last.
    used: Vec<u64>,
    /// A bit for each word of the level below: it has no free block.
    full: Vec<Vec<u64>>,
    /// Bits of the last word that stand for no block.
    beyond: u64,
    touched: bool,
}

impl RandomMap {
    /// Of so many blocks, all free; `None` where there is no memory for it.
    pub(super) fn new(blocks: u64) -> Option<Self> {
        let used = zeros(blocks / WORD + 1)?;
        let mut full = Vec::new();
        let mut words = blocks.div_ceil(WORD);
        while words > 1 {
            let above = words.div_ceil(WORD);
            full.push(zeros(above)?);
            words = above;
        }
        let beyond = u64::MAX << (blocks % WORD);
        let mut map = Self { blocks, used, full, beyond, touched: true };
        map.clear();
        Some(map)
    }

    /// Frees all.
    pub(super) fn clear(&mut self) {
        if !self.touched {
            return;
        }
        self.touched = false;
        self.used.fill(0);
        // What is no word is not to be found free.
        let mut words = self.blocks.div_ceil(WORD);
        for level in &mut self.full {
            level.fill(0);
            if !words.is_multiple_of(WORD) {
                level[(words / WORD) as usize] = u64::MAX << (words % WORD);
            }
            words = words.div_ceil(WORD);
        }
    }

    /// Whether a block is free. One behind the last may be asked for, too.
    #[inline]
    pub(super) fn is_free(&self, block: u64) -> bool {
        block > self.blocks || self.used[(block / WORD) as usize] >> (block % WORD) & 1 == 0
    }

    /// Uses up to `count` blocks from the first on, as far as they are free; how many.
    #[inline]
    pub(super) fn take(&mut self, first: u64, count: u64) -> u64 {
        self.touched = true;
        let mut taken = 0;
        while taken < count {
            let block = first + taken;
            if block > self.blocks {
                break;
            }
            let (word, bit) = ((block / WORD) as usize, block % WORD);
            let wanted = (count - taken).min(WORD - bit);
            let free = u64::from((self.used[word] >> bit).trailing_zeros()).min(wanted);
            if free == 0 {
                break;
            }
            self.used[word] |= (u64::MAX >> (WORD - free)) << bit;
            if self.free_in(word) == 0 {
                self.fill_up(word);
            }
            taken += free;
            if free < wanted {
                break;
            }
        }
        taken
    }

    /// The first free block behind one that is used, and after the last block from the first on.
    #[inline]
    pub(super) fn next_free(&self, used: u64) -> Option<u64> {
        if used >= self.blocks {
            return None;
        }
        let from = if used + 1 == self.blocks { 0 } else { used + 1 };
        self.free_from(from).or_else(|| self.free_from(0))
    }

    /// The first free block from this one on.
    #[inline]
    fn free_from(&self, block: u64) -> Option<u64> {
        let word = (block / WORD) as usize;
        let near = self.free_in(word) & u64::MAX << (block % WORD);
        if near != 0 {
            return Some((word as u64) * WORD + u64::from(near.trailing_zeros()));
        }
        let word = self.word_from(word as u64 + 1)?;
        Some(word * WORD + u64::from(self.free_in(word as usize).trailing_zeros()))
    }

    /// The first word from this one on that has a free block: up through the levels, and down again.
    fn word_from(&self, word: u64) -> Option<u64> {
        let mut at = word;
        for (height, level) in self.full.iter().enumerate() {
            let open = !level.get((at / WORD) as usize)? & u64::MAX << (at % WORD);
            if open != 0 {
                at = at / WORD * WORD + u64::from(open.trailing_zeros());
                for below in self.full[..height].iter().rev() {
                    at = at * WORD + u64::from((!below[at as usize]).trailing_zeros());
                }
                return Some(at);
            }
            at = at / WORD + 1;
        }
        None
    }

    /// The free blocks of a word.
    #[inline]
    fn free_in(&self, word: usize) -> u64 {
        let free = !self.used[word];
        if word as u64 == self.blocks / WORD { free & !self.beyond } else { free }
    }

    /// A word has no free block any more.
    fn fill_up(&mut self, word: usize) {
        let mut at = word;
        if at as u64 >= self.blocks.div_ceil(WORD) {
            return;
        }
        for level in &mut self.full {
            let bits = &mut level[at / WORD as usize];
            *bits |= 1 << (at % WORD as usize);
            if *bits != u64::MAX {
                break;
            }
            at /= WORD as usize;
        }
    }
}

/// So many words, all zero; `None` where there is no memory for them, or no address.
fn zeros(words: u64) -> Option<Vec<u64>> {
    let words = usize::try_from(words).ok()?;
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(words).ok()?;
    zeros.resize(words, 0);
    Some(zeros)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same by looking at each block.
    struct Plain(Vec<bool>);

    impl Plain {
        fn next_free(&self, used: usize) -> Option<u64> {
            let all = self.0.len();
            (1..=all).map(|step| (used + step) % all).find(|at| !self.0[*at]).map(|at| at as u64)
        }
    }

    proptest! {
        #[test]
        fn it_is_a_set_of_blocks(
            blocks in 1_u64..9000, seed: u64, longest in 1_u64..200, steps in 1_usize..600,
        ) {
            let mut map = RandomMap::new(blocks).unwrap();
            let mut random = crate::engine::random::RandomStream::new(seed);
            for _ in 0..2 {
                let mut plain = Plain(vec![false; blocks as usize]);
                for _ in 0..steps {
                    let mut at = random.below(blocks);
                    prop_assert_eq!(map.is_free(at), !plain.0[at as usize]);
                    if !map.is_free(at) {
                        let next = map.next_free(at);
                        prop_assert_eq!(next, plain.next_free(at as usize));
                        let Some(next) = next else { break };
                        at = next;
                    }
                    let count = 1 + random.below(longest.min(blocks - at));
                    let taken = map.take(at, count);
                    let open = plain.0[at as usize..].iter().take(count as usize);
                    prop_assert_eq!(taken, open.take_while(|used| !**used).count() as u64);
                    plain.0[at as usize..(at + taken) as usize].fill(true);
                }
                map.clear();
            }
        }

        #[test]
        fn all_blocks_can_be_had(blocks in 1_u64..20_000, at: u64) {
            let mut map = RandomMap::new(blocks).unwrap();
            let mut at = at % blocks;
            for _ in 1..blocks {
                prop_assert_eq!(map.take(at, 1), 1);
                let next = map.next_free(at);
                prop_assert!(next.is_some());
                at = next.unwrap_or_default();
            }
            prop_assert_eq!(map.take(at, 1), 1);
            prop_assert_eq!(map.next_free(at), None);
            prop_assert_eq!(map.next_free(0), None);
        }
    }

    #[test]
    fn a_part_of_a_block_behind_the_last_is_taken_with_it() {
        for blocks in [64, 10] {
            let mut map = RandomMap::new(blocks).unwrap();
            assert_eq!(map.take(blocks - 1, 2), 2);
            assert_eq!(map.next_free(blocks - 1), Some(0));
            assert!(!map.is_free(blocks));
        }
    }
}
