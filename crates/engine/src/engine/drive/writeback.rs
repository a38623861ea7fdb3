//! What the loop does beside the I/Os for the sake of the page cache, each in a timing of its own.

use std::ops::ControlFlow;
use std::os::fd::AsFd;

use crate::sys::cache;
use assay_plan::error::{Doing, Fault};
use assay_plan::plan::Action;

use super::super::IoBackend;
use super::super::cache_control::DropBehindPolicy;
use super::io_loop::IoLoop;

impl<'s, L: IoBackend<'s>, const MORE: bool> IoLoop<'_, 's, L, MORE> {
    /// Writes out when nothing is in flight, and drops, where either is due.
    #[inline]
    pub(super) fn serve_memory(&mut self) -> ControlFlow<()> {
        if self.beside.holds_back() && self.nothing_in_flight() {
            self.write_out()?;
        }
        if self.beside.drop_behind.as_ref().is_some_and(DropBehindPolicy::due) {
            self.drop_behind();
        }
        ControlFlow::Continue(())
    }

    fn write_out(&mut self) -> ControlFlow<()> {
        let Some(out) = &mut self.beside.write_out else { return ControlFlow::Continue(()) };
        let handed = self.backend.hand_over().map_err(|error| (0, error));
        if let Err((file, error)) = handed.and_then(|()| out.call(&self.worker.files)) {
            let path = self.worker.path(file);
            self.worker_totals.fault = Some(Fault::new(Doing::SyncFileRange, path, &error));
            self.worker_totals.tallies.of(Action::SyncFileRange).errors += 1;
            return ControlFlow::Break(());
        }
        self.timed(Action::SyncFileRange);
        self.worker_totals.stopped = self.now;
        ControlFlow::Continue(())
    }

    fn drop_behind(&mut self) {
        if let Some(behind) = &mut self.beside.drop_behind {
            behind.call(&self.worker.files);
            self.timed(Action::Drop);
        }
    }

    /// Drops the worker's part of a file, if its next I/O begins it anew: advice, and beside those in flight.
    #[inline]
    pub(super) fn drop_where_begun_anew(&mut self, file: u32) {
        let count = self.worker.cursor.begun_anew(file);
        if self.beside.begins_anew(file, count) {
            self.drop_part(file);
        }
    }

    #[cold]
    fn drop_part(&mut self, file: u32) {
        let (start, len) = self.worker.cursor.any().region();
        let Some(file) = self.worker.files.get(file as usize) else { return };
        self.now = self.backend.now();
        // What stays in memory is seen, as it does not come from a device.
        let _ = cache::drop_pages(file.as_fd(), start, len);
        self.timed(Action::Drop);
    }

    /// Counts what has just ended and began when the clock was read last.
    fn timed(&mut self, action: Action) {
        let done = self.backend.now();
        if done >= self.worker_totals.counted {
            self.worker_totals.tallies.of(action).add(0, 0, done.since(self.now).0);
        }
        self.now = done;
    }
}
