//! By which calls a job does its I/O, and what its writes promise.

use std::path::PathBuf;

use crate::dialect::fio::job::{
    FioEngine, FioFadvise, FioJob, FioLockfile, FioSyncMode, FioSyncRange, FioWriteHint, refused,
};
use assay_plan::error::Refusal;
use assay_plan::plan::{
    Advice, AioOptions, Caching, DonorFile, Durability, FileSharing, Interference, Method,
    MmapOptions, RingOptions, SyncFileRange, TrimCall, VectoredFlags, WriteHint,
};
use assay_plan::unit::{Bytes, Ops};

impl FioJob {
    /// The engine as a method of ours.
    pub(super) fn method(&self) -> Result<Method, Refusal> {
        let options = &self.queue.engine_options;
        // A queue that drains before it is filled again waits for as many answers.
        let drained = match self.queue.low {
            0 => 0,
            low => self.queue.iodepth.saturating_sub(low),
        };
        let batch = match self.queue.batch_complete_min.max(drained) {
            0 | 1 => 0,
            several => several,
        };
        // What a queue polls for it polls for altogether.
        let queued = VectoredFlags {
            nowait: options.nowait,
            dontcache: options.uncached && !self.sync.direct,
            atomic: self.sync.atomic && self.pattern.rw.writes(),
            ..VectoredFlags::NONE
        };
        let flags = VectoredFlags {
            hipri: options.hipri && options.hipri_percentage > 0,
            hipri_percent: match options.hipri_percentage {
                percent @ 1..=99 if options.hipri => percent as u8,
                _ => 0,
            },
            nowait: options.nowait,
            dontcache: options.uncached,
            atomic: self.sync.atomic,
            ..VectoredFlags::default()
        };
        Ok(match self.queue.engine {
            FioEngine::Psync => Method::Psync,
            FioEngine::Sync | FioEngine::Vsync => Method::Sync,
            FioEngine::Splice => Method::Splice,
            FioEngine::Pvsync | FioEngine::Pvsync2 => Method::Vectored(flags),
            FioEngine::Libaio => Method::Libaio(AioOptions { batch, flags: queued }),
            FioEngine::Posixaio => Method::PosixAio,
            FioEngine::Mmap => {
                Method::Mmap(MmapOptions { huge_pages: options.thp, ..MmapOptions::default() })
            }
            FioEngine::Falloc => Method::Fallocate,
            FioEngine::Ftruncate => Method::Ftruncate,
            FioEngine::E4defrag => Method::MoveExtents,
            FioEngine::Null => Method::Null,
            // What it is the size of is known with the place of the job.
            FioEngine::PageFault => Method::PageFault { bytes: Bytes::ZERO },
            FioEngine::IoUring => Method::IoUring(RingOptions {
                fixed: options.fixedbufs || options.registerfiles,
                polled: options.hipri,
                sqpoll: options.sqthread_poll,
                sqpoll_cpu: options.sqthread_poll_cpu,
                vectored: options.nonvectored == Some(false) && !options.fixedbufs,
                linked: false,
                async_every: options.force_async,
                batch,
                flags: queued,
            }),
            other => {
                return Err(refused(
                    self,
                    "ioengine",
                    &format!("the engine {} is not done here yet", other.word()),
                    "use psync, sync, pvsync2, libaio, io_uring, posixaio, mmap or null",
                ));
            }
        })
    }

    /// The file that gives its blocks to those of the job.
    pub(super) fn donor(&self, clone: u32) -> Result<Option<DonorFile>, Refusal> {
        if self.queue.engine != FioEngine::E4defrag {
            return Ok(None);
        }
        let rw = self.pattern.rw;
        if rw.reads() || rw.trims() {
            return Err(refused(
                self,
                "rw",
                "e4defrag moves the blocks of writes only: fio's ends with EINVAL here",
                "rw=write or rw=randwrite",
            ));
        }
        let options = &self.queue.engine_options;
        let Some(name) = options.donorname.as_deref().filter(|name| !name.is_empty()) else {
            return Err(refused(
                self,
                "ioengine",
                "it takes the blocks of a donor, and none is named",
                "add donorname=FILE, a file on the same file system that may lose what it holds",
            ));
        };
        let folders = &self.target.directories;
        let folder = folders.get(clone as usize % folders.len().max(1));
        let path = folder.map_or_else(PathBuf::new, PathBuf::from).join(name);
        Ok(Some(DonorFile { path, for_each: options.inplace }))
    }

    /// What is done around each of its I/Os.
    pub(super) fn interference(&self) -> Interference {
        let lock_each = match self.target.lockfile {
            FioLockfile::None => None,
            FioLockfile::Exclusive => Some(FileSharing::Nobody),
            FioLockfile::Readwrite => Some(FileSharing::Readers),
        };
        Interference { lock_each, ..Interference::default() }
    }

    /// fio trims by the call of devices, whatever it is that is trimmed; `falloc` makes holes.
    pub(super) fn trim_call(&self) -> TrimCall {
        let holes = matches!(
            self.queue.engine,
            FioEngine::Falloc | FioEngine::Ftruncate | FioEngine::E4defrag
        );
        match self.queue.engine {
            _ if !self.pattern.rw.trims() || holes => TrimCall::Fitting,
            FioEngine::Libaio | FioEngine::Posixaio => TrimCall::DiscardInTurn,
            _ => TrimCall::Discard,
        }
    }

    /// What is said of how long its data live.
    pub(super) fn write_hint(&self) -> Option<WriteHint> {
        let said = self.is_set("write_hint") && self.pattern.rw.writes();
        said.then_some(match self.sync.write_hint {
            FioWriteHint::None => WriteHint::None,
            FioWriteHint::Short => WriteHint::Short,
            FioWriteHint::Medium => WriteHint::Medium,
            FioWriteHint::Long => WriteHint::Long,
            FioWriteHint::Extreme => WriteHint::Extreme,
        })
    }

    /// What the kernel is told about the order of a file's I/Os.
    pub(super) fn fadvise(&self) -> Option<Advice> {
        if !matches!(self.target.fadvise, FioFadvise::None) && self.queue.engine == FioEngine::Null
        {
            return None;
        }
        match (self.target.fadvise, self.pattern.rw.random()) {
            (FioFadvise::None | FioFadvise::Noreuse, _) => None,
            (FioFadvise::Random, _) | (FioFadvise::Typical, true) => Some(Advice::Random),
            (FioFadvise::Sequential, _) | (FioFadvise::Typical, false) => Some(Advice::Sequential),
        }
    }

    /// I/Os in flight: a synchronous engine has one, whatever was asked for.
    pub(super) fn depth(&self) -> u32 {
        match self.queue.engine.synchronous() {
            true => 1,
            false => self.queue.iodepth,
        }
    }

    /// Whether submission and completion are apart, and both are wanted.
    pub(in super::super) fn splits_latency(&self) -> bool {
        let shown = &self.statistics;
        !self.queue.engine.synchronous()
            && self.queue.engine != FioEngine::Null
            && !(shown.gtod_reduce || shown.disable_slat && shown.disable_clat)
    }

    pub(super) fn caching(&self) -> Caching {
        match self.sync.direct || self.sync.atomic {
            true if !matches!(
                self.queue.engine,
                FioEngine::Mmap
                    | FioEngine::Null
                    | FioEngine::Falloc
                    | FioEngine::Ftruncate
                    | FioEngine::E4defrag
            ) =>
            {
                Caching::Direct
            }
            _ => Caching::Buffered,
        }
    }

    pub(super) fn durability(&self) -> Result<Durability, Refusal> {
        if !self.pattern.rw.writes() {
            return Ok(Durability::None);
        }
        let sync = &self.sync;
        if sync.fsync > 0 && sync.fdatasync > 0 {
            return Err(refused(
                self,
                "fdatasync",
                "it is not done beside 'fsync', which does all that it does",
                "leave one of them out",
            ));
        }
        let ends = sync.flushes_at_end();
        Ok(match (sync.sync, sync.fsync, sync.fdatasync) {
            (_, every @ 1.., _) if ends => Durability::FsyncEvery(Ops(every.into())),
            (_, every @ 1.., _) => Durability::FsyncBetween(Ops(every.into())),
            (_, _, every @ 1..) if ends => Durability::FdatasyncEvery(Ops(every.into())),
            (_, _, every @ 1..) => Durability::FdatasyncBetween(Ops(every.into())),
            (FioSyncMode::Sync, ..) => Durability::OpenSync,
            (FioSyncMode::Dsync, ..) => Durability::OpenDsync,
            (FioSyncMode::None, ..) if ends => Durability::FsyncAtEnd,
            (FioSyncMode::None, ..) => Durability::None,
        })
    }

    pub(super) fn sync_file_range(&self) -> Option<SyncFileRange> {
        let steps = &self.sync.sync_file_range;
        let every = Ops(self.sync.sync_file_range_every.into());
        (every.0 > 0 && !steps.is_empty() && self.pattern.rw.writes()).then(|| SyncFileRange {
            every,
            wait_before: steps.contains(&FioSyncRange::WaitBefore),
            write: steps.contains(&FioSyncRange::Write),
            wait_after: steps.contains(&FioSyncRange::WaitAfter),
        })
    }
}
