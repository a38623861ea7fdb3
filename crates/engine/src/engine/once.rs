//! Data that are made once for each buffer, and what each write changes of them.

use super::random::{RandomStream, mix};

/// Bytes of a sector.
const SECTOR: usize = 512;

/// Series of words that take turns in a buffer, and what each multiplies its first word by.
const SERIES: [u64; 4] = [1, 2, 3, 5];

/// What the next word of a series is multiplied by: 2^64 over the golden ratio.
const GOLDEN: u64 = 0x61c8_8646_80b5_83eb;

/// Fills a buffer from a seed. The words are products, as in fio's buffers (`lib/rand.c` of 3.42).
pub(super) fn make(buffer: &mut [u8], seed: u64) {
    let drawn = RandomStream::new(seed).next_u64();
    let first = (drawn >> 32).wrapping_mul(drawn & 0xffff_ffff);
    let mut series = SERIES.map(|factor| first.wrapping_mul(factor));
    for (number, word) in buffer.chunks_mut(8).enumerate() {
        let next = &mut series[number % SERIES.len()];
        word.copy_from_slice(&next.to_le_bytes()[..word.len()]);
        *next = next.wrapping_mul(GOLDEN);
    }
}

/// Whether the words of a sector are such products, also where [`scramble`] has changed some: the first of each line, and
/// the last two of the first line. The headers of data that are verified may stand in two lines.
pub(super) fn made(words: &[u64; SECTOR / 8]) -> bool {
    const LEAST: usize = SECTOR / LINE - 2;
    let (lines, _) = words.as_chunks::<{ LINE / 8 }>();
    let follows = |line: &[u64; LINE / 8], place: usize| {
        line[place] != 0 && line[place + SERIES.len()] == line[place].wrapping_mul(GOLDEN)
    };
    let made = lines.iter().enumerate().filter(|(number, line)| {
        let kept = if *number == 0 { 1..2 } else { 1..4 };
        kept.into_iter().all(|place| follows(line, place))
    });
    made.count() >= LEAST
}

/// Bytes of a line of the CPU's cache: each sector has eight.
const LINE: usize = 64;

/// Makes a block unlike all others: one line of each sector, another for each write, begins with its place, and
/// the first line ends with zeros and the number of the write. What stood in other lines stays, so that after a
/// while a buffer holds as many zeros as one of fio (`small_content_scramble` in its `io_u.c`). `number`: of the write.
#[inline]
pub(super) fn scramble(buffer: &mut [u8], offset: u64, number: u64) {
    let at = (mix(number) % (SECTOR / LINE) as u64) as usize * LINE;
    for (sector, place) in buffer.chunks_exact_mut(SECTOR).zip((offset..).step_by(SECTOR)) {
        sector[at..at + 8].copy_from_slice(&place.to_le_bytes());
        sector[LINE - 16..LINE - 8].fill(0);
        sector[LINE - 8..LINE].copy_from_slice(&number.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number before the first write of a run.
    const FIRST: u64 = 1 << 49;

    fn made(seed: u64) -> Vec<u8> {
        let mut buffer = vec![0; 4096];
        make(&mut buffer, seed);
        buffer
    }

    #[test]
    fn each_seed_has_a_buffer_of_its_own() {
        assert_ne!(made(1), made(2));
        assert_eq!(made(1), made(1));
    }

    /// The share of a block that is left when it has been compressed.
    fn left(block: &[u8]) -> f64 {
        zstd::bulk::compress(block, 3).expect("compressed").len() as f64 / block.len() as f64
    }

    #[test]
    fn a_buffer_shrinks_little_and_after_many_writes_as_much_as_one_of_fio() {
        let (mut fresh, mut used) = (0.0, 0.0);
        for seed in 0..32 {
            let mut buffer = made(seed);
            fresh += left(&buffer) / 32.0;
            for write in 1..64 {
                scramble(&mut buffer, mix(write) % (1 << 15) * 4096, FIRST + write);
            }
            used += left(&buffer) / 32.0;
        }
        // gzip leaves 3835 of 4096 bytes of a buffer of fio 3.33 that was written often.
        assert!(fresh > 0.98 && (0.85..0.97).contains(&used), "{fresh}, {used}");
    }

    #[test]
    fn no_two_writes_leave_the_same_sector() {
        let mut buffer = made(1);
        let mut seen = std::collections::BTreeSet::new();
        for write in 1..64 {
            scramble(&mut buffer, (write % 3) * 4096, FIRST + write);
            assert!(buffer.chunks(SECTOR).all(|sector| seen.insert(sector.to_vec())));
        }
    }
}
