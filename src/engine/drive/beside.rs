//! What the loop does beside the I/Os for the sake of the page cache, each in a timing of its own.

use std::ops::ControlFlow;

use crate::error::Fault;
use crate::plan::Action;

use super::super::aside::{DropBehind, WriteOut};
use super::super::{Io, Lane, Op};
use super::Worker;
use super::cycle::Cycle;

/// What is to be written out and dropped.
pub(super) struct Beside {
    write_out: Option<WriteOut>,
    drop_behind: Option<DropBehind>,
}

impl Beside {
    pub(super) fn of(worker: &Worker) -> Self {
        let files = worker.files.len();
        Self {
            write_out: worker.aside.sync_file_range.map(|plan| WriteOut::new(plan, files)),
            drop_behind: worker.aside.drop_behind.then(|| DropBehind::new(files)),
        }
    }

    /// An I/O is sent.
    #[inline]
    pub(super) fn sent(&mut self, io: Io) {
        if let Some(out) = &mut self.write_out
            && matches!(io.op, Op::Write | Op::Rewrite)
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
        self.write_out.as_ref().is_some_and(WriteOut::due)
    }
}

impl<L: Lane, const MORE: bool> Cycle<'_, L, MORE> {
    /// Writes out when nothing is in flight, and drops, where either is due.
    #[inline]
    pub(super) fn serve_memory(&mut self) -> ControlFlow<()> {
        if self.beside.holds_back() && self.nothing_in_flight() {
            self.write_out()?;
        }
        if self.beside.drop_behind.as_ref().is_some_and(DropBehind::due) {
            self.drop_behind();
        }
        ControlFlow::Continue(())
    }

    fn write_out(&mut self) -> ControlFlow<()> {
        let Some(out) = &mut self.beside.write_out else { return ControlFlow::Continue(()) };
        let handed = self.lane.hand_over().map_err(|error| (0, error));
        if let Err((file, error)) = handed.and_then(|()| out.call(&self.worker.files)) {
            let path = self.worker.path(file);
            self.haul.fault = Some(Fault::new("sync_file_range", path, &error));
            self.haul.tallies.of(Action::SyncFileRange).errors += 1;
            return ControlFlow::Break(());
        }
        self.timed(Action::SyncFileRange);
        self.haul.stopped = self.now;
        ControlFlow::Continue(())
    }

    fn drop_behind(&mut self) {
        if let Some(behind) = &mut self.beside.drop_behind {
            behind.call(&self.worker.files);
            self.timed(Action::Drop);
        }
    }

    /// Counts what has just ended and began when the clock was read last.
    fn timed(&mut self, action: Action) {
        let done = self.lane.now();
        if done >= self.haul.counted {
            self.haul.tallies.of(action).add(0, 0, done.since(self.now).0);
        }
        self.now = done;
    }
}
