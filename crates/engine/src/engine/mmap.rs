//! Loads and stores in a mapping: a read copies out of it, a write copies into it.
//!
//! A page that cannot be had is no crash: [`FileMap`] tells, and `pread` or `pwrite` of the same
//! block is then asked for the reason, which becomes the answer (ENOSPC, EIO, the end of the
//! file). A store beyond the end of a file that somebody cut is EFAULT.
//!
//! A file is mapped whole. Its page tables would grow with it, up to 2 GiB for a terabyte; so the
//! mapping of a large file is made anew when it may have cost [`TABLES`].

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::OFlags;

use crate::sys::block::size_of_open;
use crate::sys::map::{self, FileMap};
use assay_plan::plan::{Advice, MmapOptions};

use super::sync_backend::SyncCalls;
use super::{FlushKind, IoRequest, WorkerFiles};

/// Bytes of page tables that a mapping may cost.
const TABLES: u64 = 32 << 20;
/// What one page of page tables maps, bytes (4 KiB pages, 8 bytes each).
const REACH: u64 = 2 << 20;
/// Bytes mapped at once where addresses are few: on 32 bits, below 'ulimit -v', and on ARM64 with its 39 bits where
/// a file is larger than that.
const FEW: u64 = 256 << 20;
/// Bytes mapped at once, unless there are no addresses for them.
const WINDOW: u64 = if usize::BITS < 64 { FEW } else { 1 << 46 };

/// Copies to and from mappings of the files.
pub(crate) struct Mmap {
    files: WorkerFiles,
    views: Vec<MappedFile>,
    mapping: MmapOptions,
}

/// One file, and the part of it that is mapped now.
struct MappedFile {
    map: Option<FileMap>,
    start: u64,
    end: u64,
    /// Bytes mapped at once.
    window: u64,
    /// What its page tables may have cost, and the last offset that was touched.
    tables: u64,
    last: u64,
    /// What was stored since the last flush.
    dirty: Option<(u64, u64)>,
    writes: bool,
    /// O_SYNC and O_DSYNC mean nothing to a store: each is followed by `msync` instead.
    syncs: bool,
}

impl MappedFile {
    /// Whether `len` bytes at `offset` are in the mapping that is there.
    #[inline]
    fn has(&mut self, offset: u64, len: u64) -> bool {
        if self.end - self.start > TABLES * (REACH / 4096) {
            self.tables += len / 512;
            if offset / REACH != self.last / REACH {
                self.tables += 4096;
            }
            self.last = offset;
            if self.tables > TABLES {
                return false;
            }
        }
        self.map.is_some() && offset >= self.start && offset + len <= self.end
    }

    /// Maps what is there of `len` bytes at `offset` and around them; how much of them that is.
    #[cold]
    fn map(
        &mut self,
        file: BorrowedFd,
        offset: u64,
        len: u64,
        told: MmapOptions,
    ) -> io::Result<u64> {
        self.map = None;
        self.tables = 0;
        let size = size_of_open(file)?;
        if offset >= size {
            return Ok(0);
        }
        let page = rustix::param::page_size() as u64;
        let map = loop {
            self.start = if size <= self.window { 0 } else { offset / page * page };
            self.end = size.min(self.start + self.window.max(len + page));
            let bytes = self.end - self.start;
            match FileMap::new(file, self.start, bytes as usize, self.writes) {
                Err(error) if error.raw_os_error() == Some(libc::ENOMEM) && self.window > FEW => {
                    self.window = FEW;
                }
                made => break made?,
            }
        };
        let advice = match told.advice {
            Advice::AsOrder | Advice::Normal => map::Advice::Normal,
            Advice::Sequential => map::Advice::Sequential,
            Advice::Random => map::Advice::Random,
            Advice::WillNeed => map::Advice::WillNeed,
            Advice::DontNeed => map::Advice::LinuxDontNeed,
        };
        // Advice that a file system does not take changes nothing.
        let _ = map.advise(advice);
        if told.huge_pages {
            let _ = map.advise(map::Advice::LinuxHugepage);
        }
        self.map = Some(map);
        Ok(len.min(self.end - offset))
    }
}

impl Mmap {
    pub(crate) fn new(files: WorkerFiles, mapping: MmapOptions) -> io::Result<Self> {
        let view = |file: BorrowedFd| {
            let flags = rustix::fs::fcntl_getfl(file)?;
            let mut view = MappedFile {
                map: None,
                start: 0,
                end: 0,
                window: WINDOW,
                tables: 0,
                last: 0,
                dirty: None,
                writes: flags & OFlags::ACCMODE == OFlags::RDWR,
                syncs: flags.intersects(OFlags::SYNC | OFlags::DSYNC),
            };
            // Here, so that a file that cannot be mapped is heard of before the clock runs.
            view.map(file, 0, 1, mapping)?;
            Ok::<_, io::Error>(view)
        };
        let views = files.iter().map(|file| view(file.as_fd())).collect::<Result<_, _>>()?;
        Ok(Self { files, views, mapping })
    }
}

impl SyncCalls for Mmap {
    #[inline]
    fn transfer(&mut self, buffer: &mut [u8], io: IoRequest) -> io::Result<usize> {
        let file = self.files[io.file as usize].as_fd();
        let view = &mut self.views[io.file as usize];
        let (mut len, wanted) = (u64::from(io.len), u64::from(io.len));
        if !view.has(io.offset, len) {
            len = view.map(file, io.offset, len, self.mapping)?;
            if len < wanted && io.sends() {
                // A store cannot make a file longer.
                return Err(rustix::io::Errno::FAULT.into());
            }
        }
        let Some(map) = view.map.as_mut().filter(|_| len > 0) else { return Ok(0) };
        let buffer = &mut buffer[..len as usize];
        let at = (io.offset - view.start) as usize;
        let copied = if io.sends() { map.write(at, buffer) } else { map.read(at, buffer) };
        if io.sends() {
            let (from, to) = view.dirty.unwrap_or((io.offset, io.offset));
            view.dirty = Some((from.min(io.offset), to.max(io.offset + len)));
        }
        if copied.is_err() {
            return torn(view, file, io, buffer);
        }
        if io.sends() && (view.syncs || self.mapping.msync_async) {
            map.sync(at, buffer.len(), view.syncs)?;
        }
        Ok(buffer.len())
    }

    /// `msync` of what was stored since the last time, which does what `fdatasync` does; or `fsync`.
    fn flush(&mut self, how: FlushKind) -> io::Result<()> {
        for (file, view) in self.files.iter().zip(&mut self.views) {
            let Some((from, to)) = view.dirty.take() else { continue };
            match &view.map {
                Some(map)
                    if how == FlushKind::Fdatasync && from >= view.start && to <= view.end =>
                {
                    map.sync((from - view.start) as usize, (to - from) as usize, true)?;
                }
                _ if how == FlushKind::Fdatasync => rustix::fs::fdatasync(file)?,
                _ => rustix::fs::fsync(file)?,
            }
        }
        Ok(())
    }

    fn unmap(&mut self) {
        for view in &mut self.views {
            view.map = None;
        }
    }
}

/// What was the matter with a page: the calls know numbers for it.
#[cold]
fn torn(
    view: &mut MappedFile,
    file: BorrowedFd,
    io: IoRequest,
    buffer: &mut [u8],
) -> io::Result<usize> {
    view.map = None;
    if !io.sends() {
        return Ok(rustix::io::pread(file, buffer, io.offset)?);
    }
    if io.offset + buffer.len() as u64 > size_of_open(file)? {
        return Err(rustix::io::Errno::FAULT.into());
    }
    Ok(rustix::io::pwrite(file, buffer, io.offset)?)
}
