//! Data that carry their own headers and checksums, as fio's `verify=` lays them out: made, and checked by what
//! they say themselves.

mod checksums;
mod header;
mod part;
mod random_words;

use assay_plan::error::{HeaderField, PieceMismatch, PiecePart};
use assay_plan::plan::{HeadedData, HeaderLayout, LARGEST_CHECKSUM, PieceChecksum};

pub(super) use part::HeadedWrite;

use header::PieceHeader;
use part::WrongPart;

/// Makes such data, and checks them.
#[derive(Clone, Debug)]
pub(super) struct HeadedFiller {
    data: HeadedData,
}

impl HeadedFiller {
    pub(super) fn new(data: &HeadedData) -> Self {
        Self { data: data.clone() }
    }

    /// Whether only data of this run are right, where it is known to have written them.
    pub(super) fn wants_own(&self) -> bool {
        self.data.own
    }

    /// Bytes of each piece of a block.
    fn piece(&self, block: usize) -> usize {
        match self.data.interval.0 as usize {
            0 => block.max(1),
            interval => interval.min(block).max(1),
        }
    }

    /// Makes the block that is written at this offset of its file.
    pub(super) fn fill(&self, block: &mut [u8], offset: u64, write: HeadedWrite) {
        let data = &self.data;
        match data.pattern.is_empty() {
            true => {
                let dense = block.len() * (100 - usize::from(data.zero_percent.min(100))) / 100;
                let (random, zeros) = block.split_at_mut(dense);
                random_words::fill(random, write.seed);
                zeros.fill(0);
            }
            false => self.paste(block, offset),
        }
        if data.checksum == PieceChecksum::PatternOnly {
            return;
        }
        let piece = self.piece(block.len());
        for (number, part) in block.chunks_mut(piece).enumerate() {
            self.put_header(part, offset + (number * piece) as u64, write);
        }
    }

    /// Writes the pattern over a block, each stretch of its interval with its own offset.
    fn paste(&self, block: &mut [u8], offset: u64) {
        let mut pattern = self.data.pattern.clone();
        let stretch = self.stretch(block.len());
        let stretches = block.chunks_mut(stretch).zip((offset..).step_by(stretch));
        for (part, place) in stretches {
            self.place_in(&mut pattern, place);
            for piece in part.chunks_mut(pattern.len()) {
                piece.copy_from_slice(&pattern[..piece.len()]);
            }
        }
    }

    /// Bytes of a block after which its pattern begins anew.
    fn stretch(&self, block: usize) -> usize {
        match self.data.pattern_interval.0 as usize {
            0 => block.max(1),
            interval => interval,
        }
    }

    /// Puts an offset where the pattern has one, as far as there is room.
    fn place_in(&self, pattern: &mut [u8], place: u64) {
        for at in &self.data.pattern_offsets {
            let room = pattern.get_mut(*at as usize..).unwrap_or_default();
            let bytes = place.to_ne_bytes();
            let len = bytes.len().min(room.len());
            room[..len].copy_from_slice(&bytes[..len]);
        }
    }

    fn put_header(&self, piece: &mut [u8], offset: u64, write: HeadedWrite) {
        let (checksum, layout) = (self.data.checksum, self.data.layout);
        let head = layout.bytes() + checksum.bytes();
        let bytes = piece.len() as u32;
        if piece.len() <= head {
            return;
        }
        let (front, rest) = piece.split_at_mut(head);
        let (header, sum) = front.split_at_mut(layout.bytes());
        PieceHeader { layout, checksum: header::number(checksum), bytes, offset, write }
            .put(header);
        let mut computed = [0; LARGEST_CHECKSUM];
        checksums::compute(checksum, rest, &mut computed);
        sum.copy_from_slice(&computed[..sum.len()]);
        exchange(piece, self.data.offset.0 as usize, head);
    }

    /// Checks the block that was read from this offset of its file. `right` says whether a seed is
    /// that of a write that can stand here.
    ///
    /// # Errors
    /// The first piece that is wrong.
    pub(super) fn check(
        &self,
        block: &[u8],
        offset: u64,
        right: impl Fn(u64) -> bool,
    ) -> Result<(), Box<PieceMismatch>> {
        let size = self.piece(block.len());
        for (number, piece) in block.chunks(size).enumerate() {
            let at = number * size;
            let found = self.check_piece(piece, (block.len(), at), offset, &right);
            found.map_err(|wrong| {
                Box::new(PieceMismatch {
                    offset: offset + at as u64,
                    bytes: piece.len() as u32,
                    block_offset: offset,
                    block_bytes: block.len() as u32,
                    part: wrong.part,
                    expected: wrong.expected,
                    found: wrong.found,
                })
            })?;
        }
        Ok(())
    }

    /// Checks the piece at `at` of a block of so many bytes, which was read from this offset.
    fn check_piece(
        &self,
        piece: &[u8],
        (block, at): (usize, usize),
        offset: u64,
        right: &impl Fn(u64) -> bool,
    ) -> Result<(), WrongPart> {
        let checksum = self.data.checksum;
        if checksum == PieceChecksum::PatternOnly {
            return self.check_pattern(piece, (block, at, 0), offset);
        }
        let straight;
        let piece = match self.data.offset.0 as usize {
            0 => piece,
            by => {
                straight = self.straightened(piece, by);
                &straight
            }
        };
        let layout = header::layout_of(piece);
        let head = layout.bytes() + checksum.bytes();
        let place = offset + at as u64;
        let seed = PieceHeader::check(piece, piece.len() as u32, place)?;
        if !right(seed) {
            return Err(WrongPart::header(HeaderField::Seed, String::new(), seed.to_string()));
        }
        let Some(rest) = piece.get(head..) else { return Ok(()) };
        match checksum {
            PieceChecksum::HeaderOnly | PieceChecksum::Pattern if !self.data.pattern.is_empty() => {
                self.check_pattern(rest, (block, at, head), offset)
            }
            PieceChecksum::HeaderOnly | PieceChecksum::Pattern => Ok(()),
            _ => check_sum(checksum, &piece[layout.bytes()..head], rest),
        }
    }

    /// The piece with its header at its beginning.
    fn straightened(&self, piece: &[u8], by: usize) -> Vec<u8> {
        let mut straight = piece.to_vec();
        let layout = piece.get(by..).map_or(HeaderLayout::Versioned, header::layout_of);
        exchange(&mut straight, by, layout.bytes() + self.data.checksum.bytes());
        straight
    }

    /// Compares what stands behind a header of `head` bytes, of the piece at `at` of a block, with the pattern.
    fn check_pattern(
        &self,
        bytes: &[u8],
        (block, at, head): (usize, usize, usize),
        offset: u64,
    ) -> Result<(), WrongPart> {
        let mut pattern = self.data.pattern.clone();
        if pattern.is_empty() {
            return Ok(());
        }
        let stretch = self.stretch(block);
        let mut from = at + head;
        let mut rest = bytes;
        while !rest.is_empty() {
            let within = from % stretch;
            self.place_in(&mut pattern, offset + (from - within) as u64);
            let (now, later) = rest.split_at(rest.len().min(stretch - within));
            let expected = pattern.iter().cycle().skip(within % pattern.len());
            let wrong = now.iter().zip(expected).enumerate().find(|(_, (a, b))| a != b);
            if let Some((index, (found, expected))) = wrong {
                let byte = (from + index - at) as u32;
                return Err(WrongPart {
                    part: PiecePart::Pattern { byte, headed: head > 0 },
                    expected: hex(&[*expected]),
                    found: hex(&[*found]),
                });
            }
            (from, rest) = (from + now.len(), later);
        }
        Ok(())
    }
}

/// Compares a checksum with that of what it is of.
fn check_sum(checksum: PieceChecksum, there: &[u8], of: &[u8]) -> Result<(), WrongPart> {
    let mut computed = [0; LARGEST_CHECKSUM];
    checksums::compute(checksum, of, &mut computed);
    let computed = &computed[..there.len()];
    if there == computed {
        return Ok(());
    }
    Err(WrongPart {
        part: PiecePart::Checksum(checksum.name().into()),
        expected: hex(there),
        found: hex(computed),
    })
}

/// Bytes as hexadecimal digits, in the order of their places.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Exchanges the first `len` bytes of a piece and those at `by`, as far as it reaches. Where the two
/// overlap, what comes first is moved first.
fn exchange(piece: &mut [u8], by: usize, len: usize) {
    if by == 0 || by + len > piece.len() {
        return;
    }
    let first = piece[..len].to_vec();
    piece.copy_within(by..by + len, 0);
    piece[by..by + len].copy_from_slice(&first);
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_plan::unit::Bytes;

    const WRITE: HeadedWrite = HeadedWrite { seed: 99, number: 3, worker: 1, time: 5_000_000_007 };

    fn data(checksum: PieceChecksum) -> HeadedData {
        HeadedData {
            interval: Bytes(512),
            pattern: if checksum.name() == "pattern" { vec![1, 2, 3] } else { Vec::new() },
            ..HeadedData::of(checksum)
        }
    }

    #[test]
    fn what_was_made_is_right_and_a_changed_byte_is_found_in_its_piece() {
        use PieceChecksum::*;
        let all = [
            Md5,
            Crc64,
            Crc32,
            Crc32c,
            Crc32cIntel,
            Crc16,
            Crc7,
            Sha256,
            Sha512,
            Sha3_224,
            Sha3_256,
            Sha3_384,
            Sha3_512,
            Xxhash,
            Sha1,
            Pattern,
            PatternOnly,
        ];
        let layouts = [HeaderLayout::Versioned, HeaderLayout::Unversioned];
        for (checksum, layout) in
            all.into_iter().flat_map(|sum| layouts.map(|layout| (sum, layout)))
        {
            for offset in [0, 200] {
                let data = HeadedData { layout, offset: Bytes(offset), ..data(checksum) };
                let filler = HeadedFiller::new(&data);
                let mut block = vec![0; 4096];
                filler.fill(&mut block, 8192, WRITE);
                assert_eq!(
                    filler.check(&block, 8192, |seed| seed == 99 || checksum == PatternOnly),
                    Ok(())
                );
                for byte in [0, 47, 199, 200, 250, 511] {
                    block[1024 + byte] ^= 16;
                    let wrong = filler.check(&block, 8192, |_| true).expect_err("a changed byte");
                    assert_eq!((wrong.offset, wrong.bytes), (9216, 512), "{checksum:?} {byte}");
                    block[1024 + byte] ^= 16;
                }
                // It belongs elsewhere, or is another write's.
                if checksum != PatternOnly {
                    assert!(filler.check(&block, 0, |_| true).is_err());
                    assert!(filler.check(&block, 8192, |_| false).is_err());
                }
            }
        }
    }

    #[test]
    fn a_pattern_has_the_offset_of_each_of_its_stretches() {
        let data = HeadedData {
            interval: Bytes::ZERO,
            pattern: vec![0; 12],
            pattern_offsets: vec![4],
            pattern_interval: Bytes(512),
            ..HeadedData::of(PieceChecksum::PatternOnly)
        };
        let filler = HeadedFiller::new(&data);
        let mut block = vec![1; 1024];
        filler.fill(&mut block, 4096, WRITE);
        assert_eq!(block[4..12], 4096_u64.to_ne_bytes());
        assert_eq!(block[516..524], 4608_u64.to_ne_bytes());
        assert_eq!(filler.check(&block, 4096, |_| true), Ok(()));
        let wrong = filler.check(&block, 0, |_| true).expect_err("another place");
        assert_eq!(wrong.part, PiecePart::Pattern { byte: 5, headed: false });
    }
}
