//! The checksums, each as fio stores it.

use std::sync::LazyLock;

use crc::{Algorithm, CRC_7_MMC, CRC_16_ARC, CRC_64_REDIS, Crc, Table};
use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::Sha512;
use sha2::block_api::compress256;
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};
use twox_hash::XxHash32;

use assay_plan::plan::{LARGEST_CHECKSUM, PieceChecksum};

use super::header;

// Their tables are 4 to 32 KiB, made in some microseconds by who needs them: no part of the program's file.
static CRC_7: LazyLock<Box<Crc<u8, Table<16>>>> =
    LazyLock::new(|| Box::new(Crc::<u8, Table<16>>::new(&CRC_7_MMC)));
static CRC_16: LazyLock<Box<Crc<u16, Table<16>>>> =
    LazyLock::new(|| Box::new(Crc::<u16, Table<16>>::new(&CRC_16_ARC)));
static CRC_64: LazyLock<Box<Crc<u64, Table<16>>>> =
    LazyLock::new(|| Box::new(Crc::<u64, Table<16>>::new(&CRC_64_REDIS)));

/// That of cksum(1), without the length behind the data and the inversion at the end.
const PLAIN_CKSUM: Algorithm<u32> = Algorithm {
    width: 32,
    poly: 0x04c1_1db7,
    init: 0,
    refin: false,
    refout: false,
    xorout: 0,
    check: 0x89a1_897f,
    residue: 0,
};
static CRC_32: LazyLock<Box<Crc<u32, Table<16>>>> =
    LazyLock::new(|| Box::new(Crc::<u32, Table<16>>::new(&PLAIN_CKSUM)));

/// The seed of XXH32.
const XXHASH_SEED: u32 = 1;

/// Puts the checksum of these bytes into the first bytes of `sum`.
pub(super) fn compute(checksum: PieceChecksum, bytes: &[u8], sum: &mut [u8; LARGEST_CHECKSUM]) {
    let mut put = |digest: &[u8]| sum[..digest.len()].copy_from_slice(digest);
    match checksum {
        PieceChecksum::HeaderOnly | PieceChecksum::Pattern | PieceChecksum::PatternOnly => {}
        PieceChecksum::Crc7 => put(&[CRC_7.checksum(bytes)]),
        PieceChecksum::Crc16 => put(&CRC_16.checksum(bytes).to_ne_bytes()),
        PieceChecksum::Crc32 => put(&CRC_32.checksum(bytes).to_ne_bytes()),
        PieceChecksum::Crc32c | PieceChecksum::Crc32cIntel => {
            put(&header::crc(bytes).to_ne_bytes())
        }
        PieceChecksum::Crc64 => put(&CRC_64.checksum(bytes).to_ne_bytes()),
        PieceChecksum::Xxhash => put(&XxHash32::oneshot(XXHASH_SEED, bytes).to_ne_bytes()),
        PieceChecksum::Md5 => put(&Md5::digest(bytes)),
        PieceChecksum::Sha1 => {
            // Its words are in the machine's own order.
            let digest = Sha1::digest(bytes);
            for (word, place) in digest.chunks(4).zip(sum.chunks_mut(4)) {
                let word = u32::from_be_bytes([word[0], word[1], word[2], word[3]]);
                place.copy_from_slice(&word.to_ne_bytes());
            }
        }
        PieceChecksum::Sha3_224 => put(&Sha3_224::digest(bytes)),
        PieceChecksum::Sha3_256 => put(&Sha3_256::digest(bytes)),
        PieceChecksum::Sha3_384 => put(&Sha3_384::digest(bytes)),
        PieceChecksum::Sha3_512 => put(&Sha3_512::digest(bytes)),
        PieceChecksum::Sha256 => put(&sha256(bytes)),
        PieceChecksum::Sha512 => {
            // The digest stands over the last block that went into it.
            let (_, last) = closed::<128>(bytes, &(8 * bytes.len() as u128).to_be_bytes());
            put(&last);
            let digest = Sha512::digest(bytes);
            sum[..digest.len()].copy_from_slice(&digest);
        }
    }
}

/// fio's SHA-256: the length behind the data is in the machine's own order, and of each word of the digest
/// there is the lowest byte, over the last block that went into it.
fn sha256(bytes: &[u8]) -> [u8; 64] {
    let mut state = [
        0x6a09_e667,
        0xbb67_ae85,
        0x3c6e_f372,
        0xa54f_f53a,
        0x510e_527f,
        0x9b05_688c,
        0x1f83_d9ab,
        0x5be0_cd19,
    ];
    let (whole, _) = bytes.as_chunks::<64>();
    compress256(&mut state, whole);
    let (before, mut last) = closed::<64>(bytes, &(8 * bytes.len() as u64).to_ne_bytes());
    compress256(&mut state, before.as_slice());
    compress256(&mut state, &[last]);
    for (place, word) in last.iter_mut().zip(state) {
        *place = word as u8;
    }
    last
}

/// What is left of the data, a bit, zeros, and the length: the last block of a hash, and the one before it where
/// one is not enough.
fn closed<const BLOCK: usize>(bytes: &[u8], length: &[u8]) -> (Option<[u8; BLOCK]>, [u8; BLOCK]) {
    let (_, rest) = bytes.as_chunks::<BLOCK>();
    let mut first = [0; BLOCK];
    first[..rest.len()].copy_from_slice(rest);
    first[rest.len()] = 0x80;
    let room = BLOCK - length.len();
    let (before, mut last) = match rest.len() < room {
        true => (None, first),
        false => (Some(first), [0; BLOCK]),
    };
    last[room..].copy_from_slice(length);
    (before, last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_the_catalogues_nine_digits() {
        let sum = |checksum: PieceChecksum| {
            let mut all = [0; LARGEST_CHECKSUM];
            compute(checksum, b"123456789", &mut all);
            all[..checksum.bytes().min(8)].to_vec()
        };
        assert_eq!(sum(PieceChecksum::Crc7), [0x75]);
        assert_eq!(sum(PieceChecksum::Crc16), 0xbb3d_u16.to_ne_bytes());
        assert_eq!(sum(PieceChecksum::Crc32), 0x89a1_897f_u32.to_ne_bytes());
        assert_eq!(sum(PieceChecksum::Crc32c), (!0xe306_9283_u32).to_ne_bytes());
        assert_eq!(sum(PieceChecksum::Crc64), 0xe9c6_d914_c4b8_d9ca_u64.to_ne_bytes());
        assert_eq!(sum(PieceChecksum::Md5), [0x25, 0xf9, 0xe7, 0x94, 0x32, 0x3b, 0x45, 0x38]);
    }

    #[test]
    fn the_last_block_is_closed_in_one_or_two() {
        for rest in [0, 55, 56, 63] {
            let bytes = vec![7; 64 + rest];
            let (before, last) = closed::<64>(&bytes, &[9; 8]);
            assert_eq!(before.is_some(), rest > 55, "{rest}");
            assert_eq!(before.unwrap_or(last)[rest], 0x80);
            assert_eq!(last[56..], [9; 8]);
        }
    }
}
