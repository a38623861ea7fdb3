//! What is written: data that nothing below can compress, deduplicate, or mistake for another
//! block.
//!
//! Random data come in sectors of 512 bytes. The first word of a sector is its place, scrambled
//! by a bijection under the plan's seed; the second is its generation, scrambled likewise; the
//! rest is a table of noise, each word changed by a key that follows from the first two. So no two
//! sectors are alike, a reader who knows the seed can tell from any sector where it belongs and
//! from which write it is, and can check every byte. It costs one pass over the buffer.

use crate::plan::Fill;

use super::random::{Random, mix, unmix};

/// Bytes that carry a tag of their own.
pub const SECTOR: usize = 512;
const WORDS: usize = SECTOR / 8;

/// Fills buffers.
#[derive(Clone, Debug)]
pub struct Filler {
    kind: Kind,
    seed: u64,
}

#[derive(Clone, Debug)]
enum Kind {
    Random(Box<[u64; WORDS]>),
    Constant,
    Repeat(Vec<u8>),
}

/// What a sector turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// It belongs here.
    Right,
    /// It is ours, but belongs to another place (bytes).
    Misplaced(u64),
    /// All zeros: never written, or trimmed.
    Zeros,
    /// Not ours.
    Foreign,
}

impl Filler {
    /// A filler for a plan. `None` for kinds that this engine can not make.
    pub fn new(fill: &Fill, seed: u64) -> Option<Self> {
        let kind = match fill {
            Fill::Random => {
                let mut random = Random::new(mix(seed ^ 0x6e6f_6973_6500));
                Kind::Random(Box::new(std::array::from_fn(|_| random.next())))
            }
            Fill::Zero => Kind::Constant,
            Fill::Repeat(bytes) if !bytes.is_empty() => Kind::Repeat(bytes.clone()),
            Fill::Repeat(_) | Fill::File(_) | Fill::Compressible { .. } => return None,
        };
        Some(Self { kind, seed })
    }

    /// Whether a buffer must be filled again for each write.
    #[inline]
    pub fn changes(&self) -> bool {
        !matches!(self.kind, Kind::Constant)
    }

    /// Fills a buffer that will be written at `offset`. `generation` should differ between writes
    /// of the same place.
    #[inline]
    pub fn fill(&self, buffer: &mut [u8], offset: u64, generation: u64) {
        match &self.kind {
            Kind::Random(noise) => {
                let mut place = offset;
                let mut sectors = buffer.chunks_exact_mut(SECTOR);
                for sector in &mut sectors {
                    fill_sector(sector, noise, self.seed, place, generation);
                    place += SECTOR as u64;
                }
                let rest = sectors.into_remainder();
                if !rest.is_empty() {
                    let mut sector = [0; SECTOR];
                    fill_sector(&mut sector, noise, self.seed, place, generation);
                    rest.copy_from_slice(&sector[..rest.len()]);
                }
            }
            Kind::Constant => buffer.fill(0),
            Kind::Repeat(bytes) => {
                let start = (offset % bytes.len() as u64) as usize;
                let (mut rest, mut from) = (buffer, &bytes[start..]);
                while !rest.is_empty() {
                    let (now, later) = rest.split_at_mut(from.len().min(rest.len()));
                    now.copy_from_slice(&from[..now.len()]);
                    (rest, from) = (later, bytes);
                }
            }
        }
    }

    /// Whether every byte is what this filler writes at `offset` (in any generation), and where
    /// not: the offset in the buffer of the first sector that is wrong, and what it is.
    pub fn check(&self, buffer: &[u8], offset: u64) -> Result<(), (usize, Found)> {
        let noise = match &self.kind {
            Kind::Random(noise) => noise,
            Kind::Constant => return differs(buffer.iter().position(|&byte| byte != 0)),
            Kind::Repeat(bytes) => {
                let start = (offset % bytes.len() as u64) as usize;
                let expected = bytes[start..].iter().chain(bytes.iter().cycle());
                return differs(buffer.iter().zip(expected).position(|(a, b)| a != b));
            }
        };
        let mut expected = [0; SECTOR];
        // What is too short to tell its generation is not told apart.
        for (index, sector) in buffer.chunks(SECTOR).enumerate().filter(|(_, s)| s.len() >= 16) {
            let place = offset + (index * SECTOR) as u64;
            let found = check_tag(sector, self.seed, place);
            if found != Found::Right {
                return Err((index * SECTOR, found));
            }
            let generation = unmix(word(sector, 1) ^ mix(self.seed ^ place));
            fill_sector(&mut expected, noise, self.seed, place, generation);
            if *sector != expected[..sector.len()] {
                return Err((index * SECTOR, Found::Foreign));
            }
        }
        Ok(())
    }
}

fn differs(at: Option<usize>) -> Result<(), (usize, Found)> {
    at.map_or(Ok(()), |at| Err((at, Found::Foreign)))
}

#[inline]
fn fill_sector(sector: &mut [u8], noise: &[u64; WORDS], seed: u64, place: u64, generation: u64) {
    let first = mix(place ^ seed);
    let second = mix(generation) ^ mix(seed ^ place);
    let key = mix(first ^ second.rotate_left(32));
    for (index, (to, &noise)) in sector.chunks_exact_mut(8).zip(noise).enumerate() {
        let value = match index {
            0 => first,
            1 => second,
            _ => noise ^ key.rotate_left(index as u32),
        };
        to.copy_from_slice(&value.to_le_bytes());
    }
}

#[inline]
fn word(sector: &[u8], index: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&sector[index * 8..index * 8 + 8]);
    u64::from_le_bytes(bytes)
}

/// Looks at the first word of a sector (or block) read from `offset`: is it of this seed, and does
/// it belong here. A block shorter than a word can not be told.
#[inline]
pub fn check_tag(block: &[u8], seed: u64, offset: u64) -> Found {
    if block.len() < 8 {
        return Found::Right;
    }
    let first = word(block, 0);
    let place = unmix(first) ^ seed;
    if place == offset {
        Found::Right
    } else if first == 0 && block.iter().take(SECTOR).all(|&byte| byte == 0) {
        Found::Zeros
    } else if place < 1 << 50 && place.is_multiple_of(SECTOR as u64) {
        // A foreign word unscrambles to such a place once in 2^23 times.
        Found::Misplaced(place)
    } else {
        Found::Foreign
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(offset: u64, generation: u64, len: usize) -> Vec<u8> {
        let mut buffer = vec![0; len];
        Filler::new(&Fill::Random, 7).unwrap().fill(&mut buffer, offset, generation);
        buffer
    }

    #[test]
    fn what_is_written_can_be_checked_to_the_byte() {
        let filler = Filler::new(&Fill::Random, 7).unwrap();
        let mut buffer = filled(8192, 3, 4096);
        assert_eq!(filler.check(&buffer, 8192), Ok(()));
        assert_eq!(filler.check(&buffer, 4096), Err((0, Found::Misplaced(8192))));
        assert_eq!(filler.check(&filled(512, 3, 1000), 512), Ok(()));
        let mut odd = filled(512, 3, 1000);
        odd[999] ^= 1;
        assert_eq!(filler.check(&odd, 512), Err((512, Found::Foreign)));
        buffer[4000] ^= 1;
        assert_eq!(filler.check(&buffer, 8192), Err((3584, Found::Foreign)));
        assert_eq!(filler.check(&[0; 512], 0), Err((0, Found::Zeros)));
        assert_eq!(filler.check(&[1; 512], 0), Err((0, Found::Foreign)));
        let other = Filler::new(&Fill::Random, 8).unwrap();
        assert_eq!(other.check(&filled(0, 0, 512), 0), Err((0, Found::Foreign)));
    }

    #[test]
    fn no_two_sectors_are_alike_and_none_compresses() {
        let mut sectors: Vec<Vec<u8>> = (0..64)
            .flat_map(|i| {
                filled(i * 4096, i, 4096).chunks(512).map(<[u8]>::to_vec).collect::<Vec<_>>()
            })
            .collect();
        let all: Vec<u8> = sectors.concat();
        sectors.sort();
        sectors.dedup();
        assert_eq!(sectors.len(), 512);
        // Each byte value about equally often: order-0 entropy near 8 bits.
        let mut counts = [0_f64; 256];
        all.iter().for_each(|&byte| counts[usize::from(byte)] += 1.0);
        let entropy: f64 = counts
            .iter()
            .filter(|&&n| n > 0.0)
            .map(|n| n / all.len() as f64)
            .map(|p| -p * p.log2())
            .sum();
        assert!(entropy > 7.99, "{entropy} bits per byte");
    }

    #[test]
    fn a_pattern_goes_on_where_the_last_block_ended() {
        let filler = Filler::new(&Fill::Repeat(b"abc".to_vec()), 0).unwrap();
        let mut buffer = [0; 5];
        filler.fill(&mut buffer, 4, 0);
        assert_eq!(&buffer, b"bcabc");
        assert_eq!(filler.check(&buffer, 4), Ok(()));
        assert_eq!(filler.check(&buffer, 5), Err((0, Found::Foreign)));
    }
}
