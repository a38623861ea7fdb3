//! `preadv2` and `pwritev2` with flags: one at a time.
//!
//! What would block under RWF_NOWAIT is asked for again without it, as programs do that use it to
//! find out what is in memory: both calls are in the I/O's time.

use std::io::{self, IoSlice, IoSliceMut};

use rustix::io::{Errno, ReadWriteFlags, preadv2, pwritev2};

use assay_plan::plan::VectoredFlags as Flags;

use super::random::{RandomStream, mix};
use super::sync_backend::{SyncCalls, flush_files};
use super::{FlushKind, IoRequest, WorkerFiles};

/// RWF_ATOMIC, since 6.11.
const ATOMIC: ReadWriteFlags = ReadWriteFlags::from_bits_retain(0x40);
/// RWF_DONTCACHE, since 6.14.
const DONTCACHE: ReadWriteFlags = ReadWriteFlags::from_bits_retain(0x80);

/// One I/O at a time, with what its flags ask for.
pub(crate) struct Vectored {
    files: WorkerFiles,
    reads: ReadWriteFlags,
    writes: ReadWriteFlags,
    /// Percent of the I/Os that are polled for, where not all are, and what decides.
    polled: Option<(u8, RandomStream)>,
}

/// The flags for reads and for writes: durability, appending and atomicity mean nothing to a read,
/// and the kernel refuses some of them there.
fn bits(flags: Flags) -> (ReadWriteFlags, ReadWriteFlags) {
    let set = |list: &[(bool, ReadWriteFlags)]| {
        list.iter().filter(|(wanted, _)| *wanted).map(|(_, flag)| *flag).collect::<ReadWriteFlags>()
    };
    let both = set(&[
        (flags.hipri, ReadWriteFlags::HIPRI),
        (flags.nowait, ReadWriteFlags::NOWAIT),
        (flags.dontcache, DONTCACHE),
    ]);
    let writes = set(&[
        (flags.dsync, ReadWriteFlags::DSYNC),
        (flags.sync, ReadWriteFlags::SYNC),
        (flags.append, ReadWriteFlags::APPEND),
        (flags.atomic, ATOMIC),
    ]);
    (both, both | writes)
}

/// The flags of reads and of writes as the kernel has them, for queues that take them with each I/O.
pub(super) fn flag_bits(flags: Flags) -> [u32; 2] {
    let (reads, writes) = bits(flags);
    [reads.bits(), writes.bits()]
}

impl Vectored {
    pub(crate) fn new(files: WorkerFiles, flags: Flags, seed: u64) -> Self {
        let (reads, writes) = bits(flags);
        let some = (1..100).contains(&flags.hipri_percent) && flags.hipri;
        let polled = some.then(|| (flags.hipri_percent, RandomStream::new(mix(seed))));
        Self { files, reads, writes, polled }
    }

    /// The flag that this I/O is to be without.
    #[inline]
    fn unpolled(&mut self) -> ReadWriteFlags {
        let spared = self
            .polled
            .as_mut()
            .is_some_and(|(percent, random)| random.unit() * 100.0 >= f64::from(*percent));
        if spared { ReadWriteFlags::HIPRI } else { ReadWriteFlags::empty() }
    }
}

impl SyncCalls for Vectored {
    #[inline]
    fn transfer(&mut self, buffer: &mut [u8], io: IoRequest) -> io::Result<usize> {
        let unpolled = self.unpolled();
        let file = &self.files[io.file as usize];
        let mut transfer = |drop: ReadWriteFlags| {
            if io.sends() {
                pwritev2(file, &[IoSlice::new(buffer)], io.offset, self.writes - drop)
            } else {
                preadv2(file, &mut [IoSliceMut::new(buffer)], io.offset, self.reads - drop)
            }
        };
        Ok(match transfer(unpolled) {
            Err(Errno::AGAIN) => transfer(unpolled | ReadWriteFlags::NOWAIT)?,
            answer => answer?,
        })
    }

    fn flush(&mut self, how: FlushKind) -> io::Result<()> {
        flush_files(&self.files, how)
    }
}

/// Whether the kernel lets this process call `preadv2` and `pwritev2` at all.
///
/// # Errors
/// ENOSYS (before 4.6, or hidden by a filter), EPERM where a filter forbids one of them.
pub fn available() -> io::Result<()> {
    // No open file has this number, so nothing is moved: who has the call says EBADF.
    let nowhere = rustix::fs::CWD;
    let none = ReadWriteFlags::empty();
    let refused = |answer: rustix::io::Result<usize>| match answer {
        Err(error @ (Errno::NOSYS | Errno::PERM | Errno::ACCESS)) => Err(io::Error::from(error)),
        _ => Ok(()),
    };
    refused(preadv2(nowhere, &mut [], 0, none))?;
    refused(pwritev2(nowhere, &[], 0, none))
}

/// Tries a read, and a write where `writes`, of `buffer` at the beginning of a file with all the
/// flags.
///
/// # Errors
/// What the kernel says to them: EOPNOTSUPP for a flag that it or the file system does not know,
/// ENOSYS where these calls are missing (before 4.6).
pub fn try_flags(
    file: std::os::fd::BorrowedFd,
    flags: Flags,
    writes: bool,
    buffer: &mut [u8],
) -> io::Result<()> {
    let (read, write) = bits(flags);
    // EAGAIN is an answer, and a good one.
    let fine = |answer: rustix::io::Result<usize>| match answer {
        Ok(_) | Err(Errno::AGAIN) => Ok(()),
        Err(error) => Err(io::Error::from(error)),
    };
    if writes {
        fine(pwritev2(file, &[IoSlice::new(buffer)], 0, write))?;
    }
    fine(preadv2(file, &mut [IoSliceMut::new(buffer)], 0, read))
}
