//! The lab's own plain measurement, against which assay's may be held: what a stopwatch says, and
//! what the device counted.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::ops::Sub;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{Advice, OFlags, fadvise};

/// What a block device has counted since it was attached (/sys/block/X/stat).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Leaf {
    pub reads: u64,
    pub read_bytes: u64,
    pub writes: u64,
    pub write_bytes: u64,
    pub busy_ms: u64,
    pub flushes: u64,
}

impl Leaf {
    /// The counters of a device by its name in /sys/block.
    pub fn of(name: &str) -> io::Result<Leaf> {
        let text = fs::read_to_string(format!("/sys/block/{name}/stat"))?;
        let n: Vec<u64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let at = |i: usize| n.get(i).copied().unwrap_or(0);
        Ok(Leaf {
            reads: at(0),
            read_bytes: at(2) * 512,
            writes: at(4),
            write_bytes: at(6) * 512,
            busy_ms: at(9),
            flushes: at(15),
        })
    }
}

impl Sub for Leaf {
    type Output = Leaf;

    /// What happened between two looks.
    fn sub(self, earlier: Leaf) -> Leaf {
        Leaf {
            reads: self.reads - earlier.reads,
            read_bytes: self.read_bytes - earlier.read_bytes,
            writes: self.writes - earlier.writes,
            write_bytes: self.write_bytes - earlier.write_bytes,
            busy_ms: self.busy_ms - earlier.busy_ms,
            flushes: self.flushes - earlier.flushes,
        }
    }
}

/// Bytes moved, and how long that took.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    pub bytes: u64,
    pub took: Duration,
}

impl Measured {
    /// Bytes per second.
    pub fn bps(&self) -> f64 {
        self.bytes as f64 / self.took.as_secs_f64()
    }

    /// How far from a true speed, as a share of it: 0.03 is three percent too fast.
    pub fn error(&self, true_bps: u64) -> f64 {
        self.bps() / true_bps as f64 - 1.0
    }
}

/// A buffer whose start suits direct I/O on any device.
pub(super) struct Aligned {
    room: Vec<u8>,
    start: usize,
    len: usize,
}

impl Aligned {
    const GRAIN: usize = 4096;

    /// So many bytes of noise that no compressor can shrink.
    pub(super) fn noise(len: usize, seed: u64) -> Aligned {
        let mut room = vec![0; len + Self::GRAIN];
        let mut x = seed | 1;
        for word in room.chunks_exact_mut(8) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            word.copy_from_slice(&x.to_le_bytes());
        }
        let start = room.as_ptr().align_offset(Self::GRAIN);
        Aligned { room, start, len }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.room[self.start..self.start + self.len]
    }

    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.room[self.start..self.start + self.len]
    }
}

/// Opens for direct I/O; `write` also creates.
pub(super) fn open_direct(path: &Path, write: bool) -> io::Result<File> {
    // Never create below /dev: a missing device would become a file in memory.
    OpenOptions::new()
        .read(true)
        .write(write)
        .create(write && !path.starts_with("/dev"))
        .custom_flags(OFlags::DIRECT.bits() as i32)
        .open(path)
}

/// Writes past the page cache, one block after the other.
pub fn write_direct(path: &Path, bytes: u64, block: u64) -> io::Result<Measured> {
    let file = open_direct(path, true)?;
    let buffer = Aligned::noise(block as usize, 0x9e37_79b9 ^ bytes);
    let start = Instant::now();
    for offset in (0..bytes).step_by(block as usize) {
        file.write_all_at(buffer.bytes(), offset)?;
    }
    Ok(Measured { bytes, took: start.elapsed() })
}

/// Reads past the page cache, one block after the other.
pub fn read_direct(path: &Path, bytes: u64, block: u64) -> io::Result<Measured> {
    read_blocks(&open_direct(path, false)?, bytes, block)
}

/// Reads as everybody does; call [`cold`] first for the device's speed.
pub fn read(path: &Path, bytes: u64, block: u64) -> io::Result<Measured> {
    read_blocks(&File::open(path)?, bytes, block)
}

fn read_blocks(file: &File, bytes: u64, block: u64) -> io::Result<Measured> {
    let mut buffer = Aligned::noise(block as usize, 1);
    let start = Instant::now();
    for offset in (0..bytes).step_by(block as usize) {
        file.read_exact_at(buffer.bytes_mut(), offset)?;
    }
    Ok(Measured { bytes, took: start.elapsed() })
}

/// Writes through the page cache and waits for the flush; its errors are the caller's to judge.
pub fn write_then_fsync(path: &Path, bytes: u64, block: u64) -> io::Result<Measured> {
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
    let buffer = Aligned::noise(block as usize, 0x51_7c_c1 ^ bytes);
    let start = Instant::now();
    for offset in (0..bytes).step_by(block as usize) {
        file.write_all_at(buffer.bytes(), offset)?;
    }
    file.sync_all()?;
    Ok(Measured { bytes, took: start.elapsed() })
}

/// Puts one file's pages out of the page cache.
pub fn cold(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    file.sync_all()?;
    fadvise(&file, 0, None, Advice::DontNeed)?;
    Ok(())
}

/// Empties the whole machine's caches: only while alone, for it slows the neighbours.
pub fn drop_caches() -> io::Result<()> {
    rustix::fs::sync();
    fs::write("/proc/sys/vm/drop_caches", "3")
}
