//! How fast this machine copies between a program and its page cache.

use std::os::fd::OwnedFd;

use rustix::fs::{MemfdFlags, memfd_create};
use serde::{Deserialize, Serialize};

use super::Reading;
use super::sys_root::why;
use assay_engine::sys::buffer::Buffer;
use assay_engine::sys::clock;
use assay_plan::unit::{Bytes, MIB, Nanos};

/// What one thread copies by the calls of a program, when no device takes part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CopySpeed {
    /// Bytes of each call.
    pub block: Bytes,
    /// Bytes per second from the page cache: `pread` of a file in memory.
    pub from: f64,
    /// Bytes per second into it: `pwrite` to pages that are there.
    pub into: f64,
}

/// Bytes of the file: more than the caches that a single core has, as a benchmark's data are.
const SIZE: u64 = 16 * MIB;
/// The same: memory that measuring takes.
pub const COPIED: Bytes = Bytes(SIZE);
/// Passes; the fastest counts.
const PASSES: u32 = 3;
/// No pass begins after this time, on machines that are slow.
const ENOUGH: Nanos = Nanos::millis(60);
/// Larger calls are no faster.
const LARGEST: u64 = MIB;

/// Measures it with calls of this size, in some ten milliseconds.
pub fn copying(block: Bytes) -> Reading<CopySpeed> {
    measured(block.0.clamp(512, LARGEST)).map_err(|error| why("memfd_create", &error)).into()
}

fn measured(block: u64) -> std::io::Result<CopySpeed> {
    let file = memfd_create("assay-copying", MemfdFlags::CLOEXEC)?;
    let mut buffer = Buffer::new(block as usize)?;
    buffer.fill(1);
    // The first pass makes the pages.
    pass(block, |at| rustix::io::pwrite(&file, &buffer, at))?;
    let into = fastest(block, |at| rustix::io::pwrite(&file, &buffer, at))?;
    let from = fastest(block, |at| read(&file, &mut buffer, at))?;
    Ok(CopySpeed { block: Bytes(block), from, into })
}

fn read(file: &OwnedFd, buffer: &mut Buffer, at: u64) -> rustix::io::Result<usize> {
    rustix::io::pread(file, &mut **buffer, at)
}

/// Bytes per second of the fastest of some passes.
fn fastest(
    block: u64,
    mut call: impl FnMut(u64) -> rustix::io::Result<usize>,
) -> std::io::Result<f64> {
    let began = clock::now();
    let mut best = 0.0_f64;
    for _ in 0..PASSES {
        best = best.max(pass(block, &mut call)?);
        if clock::now().since(began) >= ENOUGH {
            break;
        }
    }
    Ok(best)
}

/// Goes through the whole file once, forward; bytes per second.
fn pass(
    block: u64,
    mut call: impl FnMut(u64) -> rustix::io::Result<usize>,
) -> std::io::Result<f64> {
    let began = clock::now();
    let mut at = 0;
    while at + block <= SIZE {
        at += call(at)? as u64;
    }
    Ok(at as f64 / clock::now().since(began).as_secs().max(1e-9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_faster_than_any_disk_of_today_is_slow() {
        let small = copying(Bytes(512));
        let large = copying(Bytes::mib(64));
        println!("{small:?} {large:?}");
        let (Reading::Seen(small), Reading::Seen(large)) = (small, large) else { panic!("unseen") };
        assert_eq!((small.block, large.block), (Bytes(512), Bytes::mib(1)));
        assert!(large.from > 1e7 && large.into > 1e7);
        // A call has its own cost, which large blocks share.
        assert!(small.from < large.from);
    }
}
