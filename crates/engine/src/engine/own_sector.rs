//! Whether data on a device were written by a benchmark: then nobody misses them.
//!
//! Nothing is written for that. The random data of a run follow from a few numbers ([`super::fill`], [`super::once`]), so
//! that a sector shows by itself that it is of them, whatever its seed was: a relation that holds between dozens of its
//! words holds by chance once in 2^128 times at the most.

use super::fill::SECTOR;
use super::once;
use super::random::{mix, unmix};

/// What [`assay_plan::stats::RandomStream`] adds for each number.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Words of noise that have to follow from each other, at the least.
const NOISE_LEAST: usize = 3;

/// Whether a sector of 512 bytes holds random data of a run of this program, or of fio.
pub fn is_own_sector(sector: &[u8; SECTOR]) -> bool {
    let words = std::array::from_fn(|index| {
        sector.as_chunks().0.get(index).map_or(0, |word| u64::from_le_bytes(*word))
    });
    is_noise(&words) || once::made(&words)
}

/// Whether it is as `fill_sector` makes it: the first two words give the key, which takes the table of noise out of the
/// others; and that is a stream of numbers, of which each tells the next. Compressible data end with zeros.
fn is_noise(words: &[u64; SECTOR / 8]) -> bool {
    let [first, second, rest @ ..] = words;
    let generation = unmix(second ^ first);
    let key = first.rotate_left(24).wrapping_add(mix(!generation));
    // A rewrite may have changed the last byte.
    let rest = &rest[..rest.len() - 1];
    let dense = rest.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
    let number = |word: &u64| unmix(word ^ key);
    dense >= NOISE_LEAST
        && rest[..dense]
            .windows(2)
            .all(|pair| number(&pair[1]).wrapping_sub(number(&pair[0])) == STEP)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fill::{DataFiller, WriteGeneration};
    use super::*;
    use assay_plan::plan::{Fill, RewriteChange};
    use assay_plan::unit::Bytes;

    fn own(buffer: &[u8]) -> usize {
        buffer.as_chunks().0.iter().filter(|sector| is_own_sector(sector)).count()
    }

    proptest! {
        #[test]
        fn random_data_of_any_run_are_known(
            seed: u64, place in 0_u64..1 << 35, phase in 0_usize..9, worker in 0_usize..99,
        ) {
            let filler = DataFiller::new(&Fill::Random, seed).expect("a filler");
            let mut buffer = vec![0; 4096];
            let generation = WriteGeneration::timed(phase, worker).later(place % 7);
            filler.fill(&mut buffer, place * 512, generation);
            prop_assert_eq!(own(&buffer), 8);
            let changing = filler.changing(RewriteChange::OneByte);
            changing.change(&mut buffer, place * 512, generation);
            prop_assert_eq!(own(&buffer), 8);
            // One byte of somebody's makes it somebody's.
            buffer[100 + (place % 300) as usize] ^= 1;
            prop_assert_eq!(own(&buffer), 7);
        }

        #[test]
        fn what_fio_makes_is_known_however_often_it_was_written(seed: u64, writes in 0_u64..200) {
            let filler = DataFiller::new(&Fill::Once { scrambled: true }, seed).expect("a filler");
            let mut buffer = vec![0; 16384];
            filler.begin(&mut buffer, 1, true);
            for write in 0..writes {
                filler.fill(&mut buffer, write % 5 * 16384, WriteGeneration::timed(0, 0).later(write));
            }
            prop_assert_eq!(own(&buffer), 32);
        }

        #[test]
        fn bytes_of_others_are_not(bytes in proptest::collection::vec(any::<u8>(), 512)) {
            prop_assert_eq!(own(&bytes), 0);
        }
    }

    #[test]
    fn compressible_data_are_known_and_text_is_not() {
        let fill = Fill::Compressible {
            compress_percent: 50,
            dedupe_percent: 0,
            chunk: Bytes(512),
            set: Bytes::ZERO,
        };
        let filler = DataFiller::new(&fill, 7).expect("a filler");
        let mut buffer = vec![0; 4096];
        filler.fill(&mut buffer, 1 << 20, WriteGeneration::timed(0, 0));
        assert_eq!(own(&buffer), 8);
        for byte in [0, 1, 0xff] {
            assert_eq!(own(&[byte; 512]), 0);
        }
        let text = "all work and no play makes Jack a dull boy\n".repeat(24);
        assert_eq!(own(&text.as_bytes()[..1024]), 0);
        // Words that grow by one, as in a table of blocks.
        let table: Vec<u8> = (0_u64..64).flat_map(u64::to_le_bytes).collect();
        assert_eq!(own(&table), 0);
    }
}
