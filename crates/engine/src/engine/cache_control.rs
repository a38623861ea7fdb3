//! What is done for the sake of the page cache while the work goes on: writing out what was
//! written (`sync_file_range`), and dropping what was touched (`posix_fadvise`).

use std::io;
use std::num::NonZeroU64;
use std::os::fd::AsFd;

use rustix::fs::Advice;

use crate::sys::writeout::{self, WriteOutSteps};
use assay_plan::plan::{Action, SyncFileRange};

use crate::sys::close::HeardFile;

use super::touched::TouchedRanges;
use super::{IoOp, IoRequest};

/// What a worker does for the page cache's sake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheControl {
    /// Writes out what it has written, every so many writes.
    pub sync_file_range: Option<SyncFileRange>,
    /// Drops what it has touched.
    pub drop_behind: bool,
    /// Drops its part of a file whenever it begins it anew.
    pub drop_each_pass: bool,
}

impl CacheControl {
    /// Whether anything is to be done.
    pub(super) fn any(self) -> bool {
        self.sync_file_range.is_some() || self.drop_behind || self.drop_each_pass
    }

    /// The actions that its calls are counted as.
    pub(super) fn actions(self) -> impl Iterator<Item = Action> {
        let range = self.sync_file_range.map(|_| Action::SyncFileRange);
        let drops = self.drop_behind || self.drop_each_pass;
        range.into_iter().chain(drops.then_some(Action::Drop))
    }
}

/// Writing out every so many writes.
#[derive(Debug)]
pub(super) struct WriteOutPolicy {
    every: u64,
    steps: WriteOutSteps,
    writes: u64,
    reach: TouchedRanges,
}

impl WriteOutPolicy {
    pub(super) fn new(plan: SyncFileRange, files: usize) -> Self {
        let SyncFileRange { every, wait_before, write, wait_after } = plan;
        let steps = WriteOutSteps { wait_before, write, wait_after };
        Self { every: every.0, steps, writes: 0, reach: TouchedRanges::new(files) }
    }

    /// A write is sent.
    #[inline]
    pub(super) fn wrote(&mut self, io: IoRequest) {
        self.writes += 1;
        self.reach.note(io);
    }

    /// Whether as many writes as planned were sent since the last time.
    #[inline]
    pub(super) fn due(&self) -> bool {
        self.writes >= self.every
    }

    /// Does the steps to the stretch of each file that was written since the last time.
    ///
    /// # Errors
    /// The first that a file met, with its number; the files after it are left out.
    pub(super) fn call(&mut self, files: &[HeardFile]) -> Result<(), (u32, io::Error)> {
        self.writes = 0;
        while let Some((number, from, to)) = self.reach.take() {
            let Some(file) = files.get(number as usize) else { continue };
            writeout::steps(file.as_fd(), from, to - from, self.steps)
                .map_err(|error| (number, error))?;
        }
        Ok(())
    }
}

/// Bytes that are dropped at a time: a call for each I/O would cost more than many an I/O.
const PIECE: u64 = 4 << 20;

/// Dropping what was touched.
///
/// The kernel drops clean pages only. Of dirty ones it begins the writing
/// (`generic_fadvise` in mm/fadvise.c), so each stretch is asked for twice: when it was touched,
/// and with the one after it.
#[derive(Debug)]
pub(super) struct DropBehindPolicy {
    /// Bytes since the last time.
    pending: u64,
    reach: TouchedRanges,
    /// What was dropped the last time, to be asked for once more.
    last: TouchedRanges,
}

impl DropBehindPolicy {
    pub(super) fn new(files: usize) -> Self {
        Self { pending: 0, reach: TouchedRanges::new(files), last: TouchedRanges::new(files) }
    }

    /// An I/O is sent.
    #[inline]
    pub(super) fn moved(&mut self, io: IoRequest) {
        self.pending += u64::from(io.len);
        self.reach.note(io);
    }

    /// Whether there is enough to be worth a call.
    #[inline]
    pub(super) fn due(&self) -> bool {
        self.pending >= PIECE
    }

    /// Drops the stretch of each file that was touched since the last time, and what was left
    /// then of the one before.
    pub(super) fn call(&mut self, files: &[HeardFile]) {
        self.pending = 0;
        while let Some((file, from, to)) = self.last.take() {
            drop_stretch(files, file, from, to);
        }
        while let Some((file, from, to)) = self.reach.take() {
            drop_stretch(files, file, from, to);
            self.last.add(file, from, to);
        }
    }
}

fn drop_stretch(files: &[HeardFile], number: u32, from: u64, to: u64) {
    let Some(file) = files.get(number as usize) else { return };
    // Advice: a refusal changes nothing.
    let _ = rustix::fs::fadvise(file, from, NonZeroU64::new(to - from), Advice::DontNeed);
}

/// What is to be written out and dropped.
pub(super) struct PendingWriteback {
    pub(super) write_out: Option<WriteOutPolicy>,
    pub(super) drop_behind: Option<DropBehindPolicy>,
    /// How often each file was begun anew, where its pages are dropped then.
    begun_anew: Vec<u64>,
}

impl PendingWriteback {
    /// For so many files.
    pub(super) fn of(aside: CacheControl, files: usize) -> Self {
        Self {
            write_out: aside.sync_file_range.map(|plan| WriteOutPolicy::new(plan, files)),
            drop_behind: aside.drop_behind.then(|| DropBehindPolicy::new(files)),
            begun_anew: vec![0; if aside.drop_each_pass { files } else { 0 }],
        }
    }

    /// Whether a file is begun anew that was not when it was looked at last; `count`: how often it was.
    #[inline]
    pub(super) fn begins_anew(&mut self, file: u32, count: u64) -> bool {
        let seen = self.begun_anew.get_mut(file as usize);
        seen.is_some_and(|seen| std::mem::replace(seen, count) != count)
    }

    /// An I/O is sent.
    #[inline]
    pub(super) fn sent(&mut self, io: IoRequest) {
        if let Some(out) = &mut self.write_out
            && matches!(io.op, IoOp::Write | IoOp::Rewrite)
        {
            out.wrote(io);
        }
        if let Some(behind) = &mut self.drop_behind {
            behind.moved(io);
        }
    }

    /// Whether no more is sent before what was written has been written out.
    #[inline]
    pub(super) fn holds_back(&self) -> bool {
        self.write_out.as_ref().is_some_and(WriteOutPolicy::due)
    }
}
