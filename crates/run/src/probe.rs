//! What a target lets a method do, found by trying: on an unnamed file beside it, or by reading a
//! device. Nothing of the target itself is written.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};

use assay_engine::engine;
use assay_engine::sys::buffer::Buffer;
use assay_engine::sys::map::FileMap;
use assay_engine::sys::{block, ring, slab};
use assay_plan::plan::{RingOptions, Target, VectoredFlags};
use assay_record::evidence::folder_of;

/// A block that any direct I/O takes.
const BLOCK: usize = 4096;

/// A place to try things.
pub(super) struct ProbeGround {
    file: OwnedFd,
    /// It is a file of our own, which may be written.
    ours: bool,
}

impl ProbeGround {
    /// The place to try things for a target: an unnamed file in its folder, or, where the file
    /// system has none or the target is a device, the target itself, open for reading.
    ///
    /// # Errors
    /// When neither can be opened, or the unnamed file cannot be written.
    pub fn of(target: &Target, path: &Path, direct: bool) -> io::Result<Self> {
        let flags = OFlags::CLOEXEC | if direct { OFlags::DIRECT } else { OFlags::empty() };
        let folder = match target {
            Target::Scratch { .. } | Target::Files { .. } => Some(path),
            Target::File { .. } => Some(folder_of(path)),
            _ => None,
        };
        if let Some(folder) = folder
            && let Ok(file) = rustix::fs::open(
                folder,
                flags | OFlags::TMPFILE | OFlags::RDWR,
                Mode::from_raw_mode(0o600),
            )
        {
            rustix::io::pwrite(&file, &Buffer::new(BLOCK)?, 0)?;
            return Ok(Self { file, ours: true });
        }
        let file = rustix::fs::open(path, flags | OFlags::RDONLY, Mode::empty())?;
        Ok(Self { file, ours: false })
    }

    /// Whether `preadv2` takes these flags, and `pwritev2` where that can be tried.
    ///
    /// # Errors
    /// What the kernel says: EOPNOTSUPP, ENOSYS.
    pub fn takes(&self, flags: VectoredFlags, writes: bool) -> io::Result<()> {
        let mut buffer = Buffer::new(BLOCK)?;
        engine::try_flags(self.file.as_fd(), flags, writes && self.ours, &mut buffer)
    }

    /// Sizes of atomic writes here, bytes: least and most. `None`: there are none.
    pub fn atomic(&self) -> Option<(u32, u32)> {
        block::stat_open(self.file.as_fd()).ok()?.atomic.filter(|(_, most)| *most > 0)
    }

    /// Whether the target can be mapped.
    ///
    /// # Errors
    /// ENODEV where it cannot.
    pub fn maps(&self) -> io::Result<()> {
        FileMap::new(self.file.as_fd(), 0, BLOCK, self.ours).map(drop)
    }

    /// Whether a ring of this kind can be made, and reads.
    ///
    /// # Errors
    /// EOPNOTSUPP where completions cannot be polled; EPERM where a submission thread is not for
    /// this user; EINVAL for a CPU that is not there.
    pub fn rings(&self, options: RingOptions) -> io::Result<()> {
        slab::branded(|brand| self.ring(brand, options))
    }

    fn ring(&self, brand: slab::Brand<'_>, options: RingOptions) -> io::Result<()> {
        let (files, setup) =
            (Arc::new(vec![self.file.try_clone()?.into()]), engine::ring_setup(options));
        let (mut ring, mut slots) = ring::UringQueue::new(brand, files, 1, BLOCK, setup)?;
        let Some(slot) = slots.pop() else { return Ok(()) };
        ring.push(slot, false, 0, 0, BLOCK as u32, 0);
        loop {
            match ring.wait(1) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                answer => answer?,
            }
            if let Some((_, moved)) = ring.answer() {
                return if moved < 0 { Err(io::Error::from_raw_os_error(-moved)) } else { Ok(()) };
            }
        }
    }
}
