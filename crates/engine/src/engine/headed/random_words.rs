//! Random words as fio makes them: four chains of multiplications that begin with multiples of the seed.

/// The odd number nearest to 2^64 divided by the golden ratio, as Linux has it.
const GOLDEN: u64 = 0x61c8_8646_80b5_83eb;
/// What each chain begins with, times the seed.
const CHAINS: [u64; 4] = [1, 2, 3, 5];

/// Fills a buffer with the words of a seed.
pub(super) fn fill(buffer: &mut [u8], seed: u64) {
    let mut chains = CHAINS.map(|first| seed.wrapping_mul(first));
    let (groups, rest) = buffer.as_chunks_mut::<32>();
    for group in groups {
        for (word, chain) in group.chunks_mut(8).zip(&mut chains) {
            word.copy_from_slice(&chain.to_ne_bytes());
            *chain = chain.wrapping_mul(GOLDEN);
        }
    }
    let mut word = chains[0];
    for bytes in rest.chunks_mut(8) {
        bytes.copy_from_slice(&word.to_ne_bytes()[..bytes.len()]);
        word = word.wrapping_mul(GOLDEN);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_seed_makes_the_words_that_fio_makes() {
        let mut words = [0; 96];
        super::fill(&mut words, 0x00a4_cc01_c509_543c);
        // The third round of the four chains, as fio 3.33 and 3.42 wrote it.
        let written = [
            0x020c_b327_9ae6_bb5c_u64,
            0x0419_664f_35cd_76b8,
            0x0626_1976_d0b4_3214,
            0x0a3f_7fc6_0681_a8cc,
        ];
        assert_eq!(words[64..], written.map(u64::to_le_bytes).concat());
    }
}
