//! What lies on a bare device: a few of its blocks, spread over all of it, are read and looked at.

use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

use super::Reading;
use super::sys_root::why;
use assay_engine::sys::buffer::Buffer;
use assay_engine::sys::clock;
use assay_plan::unit::Nanos;

/// Blocks that were looked at, and how long their reads took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockSamples {
    /// How many were read.
    pub read: u32,
    /// How many of them hold nothing but zeros.
    pub zero: u32,
    /// Times of reads that brought zeros, in ns.
    pub zero_ns: Option<Quartiles>,
    /// Times of reads that brought anything else, in ns.
    pub other_ns: Option<Quartiles>,
}

/// How times are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Quartiles {
    /// A quarter took less.
    pub p25: Nanos,
    /// Half took less.
    pub p50: Nanos,
    /// A quarter took more.
    pub p75: Nanos,
}

/// Bytes of one block: no sector is larger on a device that Linux reads page by page.
const BLOCK: u64 = 4096;
/// As many blocks as are looked at, at the most. A power of two, so that any odd number leads
/// through all of them.
const MOST: u64 = 256;
/// Neighbours in time are this many parts of the device apart, so that a device that becomes faster
/// or slower meanwhile does so for all kinds of blocks alike.
const STEP: u64 = 157;
/// No more time than this is spent.
const LONGEST: Nanos = Nanos::millis(500);

/// Looks at blocks of an open device, past the page cache and through a description of its own.
pub fn samples(device: BorrowedFd, range: Range<u64>) -> Reading<BlockSamples> {
    look(device, range).map_err(|error| why("reads of single blocks", &error)).into()
}

fn look(device: BorrowedFd, range: Range<u64>) -> std::io::Result<BlockSamples> {
    let path = format!("/proc/self/fd/{}", device.as_raw_fd());
    let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC;
    let file = rustix::fs::open(&path, flags, Mode::empty())?;
    let mut buffer = Buffer::new(BLOCK as usize)?;
    let until = clock::now() + LONGEST;
    let (mut zero, mut other) = (Vec::new(), Vec::new());
    for offset in places(range) {
        let began = clock::now();
        if began >= until {
            break;
        }
        let got = rustix::io::pread(&file, &mut buffer[..], offset)?;
        let time = clock::now().since(began);
        let empty = buffer[..got].iter().all(|&byte| byte == 0);
        if empty { &mut zero } else { &mut other }.push(time);
    }
    Ok(BlockSamples {
        read: (zero.len() + other.len()) as u32,
        zero: zero.len() as u32,
        zero_ns: quartiles(zero),
        other_ns: quartiles(other),
    })
}

/// Where blocks of a range are looked at: one in each of as many parts, not always at the same place
/// of its part, in an order that goes here and there.
fn places(range: Range<u64>) -> impl Iterator<Item = u64> {
    let first = range.start.next_multiple_of(BLOCK);
    let blocks = range.end.saturating_sub(first) / BLOCK;
    let each = (blocks / MOST).max(1);
    (0..MOST).filter_map(move |turn| {
        let part = turn * STEP % MOST;
        // Fibonacci hashing: spread evenly, and the same each time.
        let jitter = part.wrapping_mul(0x9e37_79b9_7f4a_7c15) % each;
        let block = part * each + jitter;
        (block < blocks).then_some(first + block * BLOCK)
    })
}

fn quartiles(mut times: Vec<Nanos>) -> Option<Quartiles> {
    times.sort_unstable();
    let at = |quarter: usize| times.get(times.len() * quarter / 4).copied();
    Some(Quartiles { p25: at(1)?, p50: at(2)?, p75: at(3)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::FileExt as _;

    #[test]
    fn places_are_spread_over_all_of_it_and_none_is_visited_twice() {
        for (range, expected) in [(0..1 << 30, 256), (100..1_000_000, 243), (0..4095, 0)] {
            let mut found: Vec<u64> = places(range.clone()).collect();
            found.sort_unstable();
            found.dedup();
            assert_eq!(found.len(), expected, "{range:?}");
            assert!(found.iter().all(|at| at % BLOCK == 0 && range.contains(at)));
        }
        let parts = places(0..1 << 30).map(|at| at >> 22);
        assert_eq!(parts.collect::<std::collections::BTreeSet<_>>().len(), 256);
    }

    #[test]
    fn zeros_are_told_from_data() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let file = file.as_file();
        file.set_len(1 << 20).unwrap();
        file.write_all_at(&[7; 1 << 18], 0).unwrap();
        file.sync_all().unwrap();
        match samples(file.as_fd(), 0..1 << 20) {
            Reading::Seen(seen) => {
                assert_eq!((seen.read, seen.zero), (256, 192));
                assert!(seen.zero_ns.is_some() && seen.other_ns.is_some());
            }
            Reading::Unseen(why) => eprintln!("SKIP zeros: no direct I/O here: {why}"),
        }
    }
}
