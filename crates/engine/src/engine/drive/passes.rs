//! The work of a job once more, where it took too little time to be measured.

use std::os::fd::AsFd;

use crate::sys::{cache, clock};
use assay_plan::error::{Doing, Fault};

use super::super::{FlushKind, IoBackend};
use super::between_passes::{BetweenPasses, NextPass, PassEnd};
use super::io_loop::IoLoop;
use super::worker::IoQuota;

impl<'s, L: IoBackend<'s>, const MORE: bool> IoLoop<'_, 's, L, MORE> {
    /// Begins the next pass, where less time was counted than the passes are to take together.
    #[cold]
    pub(super) fn next_pass(&mut self, end: PassEnd) -> NextPass {
        let IoQuota { at_least, bytes, between, .. } = self.worker.quota;
        let bytes = bytes.unwrap_or_default();
        let may_follow = match end {
            PassEnd::Quota => self.bytes_left == 0 && self.ops_left > 0 && bytes > 0,
            PassEnd::Route => self.worker.pass.is_some(),
        };
        if !may_follow || !self.is_early(at_least.0) {
            return NextPass::None;
        }
        if between != BetweenPasses::default() && !self.nothing_in_flight() {
            return NextPass::WaitsForAnswers;
        }
        if let Some(how) = between.flush {
            let answered = self.worker_totals.stopped;
            if self.flush(how, None).is_break() {
                return NextPass::None;
            }
            if !self.is_early(at_least.0) {
                // It took the rest of the time: it is the flush at the end, and no call comes after it.
                self.worker_totals.stopped = answered;
                return NextPass::None;
            }
        }
        if between.commit || between.drop {
            self.pause(between);
        }
        match (end, &self.worker.pass) {
            (PassEnd::Route, Some(pass)) => self.worker.cursor = (**pass).clone(),
            _ => self.bytes_left = bytes,
        }
        NextPass::Begins
    }

    /// Reads back what a pass has written, when all of it is answered, and begins the next when that was read, too.
    #[cold]
    pub(super) fn verified_pass(&mut self) -> NextPass {
        if !self.nothing_in_flight() {
            return NextPass::WaitsForAnswers;
        }
        let in_order = !self.worker.cursor.comes_back();
        if let Some(backlog) = self.backlog.as_mut().filter(|backlog| backlog.waits()) {
            if !in_order {
                backlog.sort();
            }
            backlog.finish();
            return match self.forget_written() {
                true => NextPass::Begins,
                false => NextPass::None,
            };
        }
        self.worker.filler.is_written_from(self.generation.later(1));
        match self.worker.cursor.resume() {
            true => NextPass::Begins,
            false => NextPass::None,
        }
    }

    /// Flushes the files and drops their pages from memory, so that what was written is read from the device; whether
    /// it could be flushed.
    fn forget_written(&mut self) -> bool {
        self.catch_up();
        let began = self.now;
        self.unflushed = 0;
        let flushed = self.backend.flush(FlushKind::Fsync);
        self.backend.unmap();
        for file in self.worker.files.iter() {
            // Advice, as between other passes.
            let _ = cache::drop_pages(file.as_fd(), 0, 0);
        }
        self.now = self.backend.now();
        self.idle(began);
        if let Err(error) = &flushed {
            let fault = Fault::new(Doing::Fsync, self.worker.path(0), error);
            self.worker_totals.fault.get_or_insert(fault);
        }
        flushed.is_ok()
    }

    /// Whether less than so many ns were counted.
    fn is_early(&self, least: u64) -> bool {
        let (paused, _) = self.worker_totals.paused;
        self.now.since(self.worker_totals.started).less(paused).0 < least
    }

    /// Lets the next pass meet what the first one met, while the clock stands still.
    fn pause(&mut self, between: BetweenPasses) {
        self.catch_up();
        let (began, cpu) = (self.now, clock::thread_cpu());
        self.backend.unmap();
        for file in self.worker.files.iter() {
            // Without it there is less room, and a write says so.
            let _ = between.commit.then(|| rustix::fs::syncfs(file));
            // Advice: what stays in memory is seen, as it does not come from a device.
            let _ = between.drop.then(|| cache::drop_pages(file.as_fd(), 0, 0));
        }
        self.now = self.backend.now();
        self.idle(began);
        let time = self.now.since(began);
        let paused = &mut self.worker_totals.paused;
        *paused = (paused.0 + time, paused.1 + clock::thread_cpu().less(cpu));
        self.deadline = self.deadline.map(|deadline| deadline + time);
    }
}
