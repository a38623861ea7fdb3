//! Flushes between I/Os: after so many writes, or where a list has them; each in a timing of its own.

use std::ops::ControlFlow;

use assay_plan::error::{Doing, Fault};
use assay_plan::plan::Action;
use assay_plan::unit::Timestamp;

use super::super::log::LogEntry;
use super::super::replay::ReplayWalk;
use super::super::sync_backend::flush_files;
use super::super::{FlushKind, IoBackend, IoOp, IoRequest};
use super::io_loop::IoLoop;

impl<'s, L: IoBackend<'s>, const MORE: bool> IoLoop<'_, 's, L, MORE> {
    /// Flushes all files, or one.
    pub(super) fn flush(&mut self, how: FlushKind, file: Option<u32>) -> ControlFlow<()> {
        let before = std::mem::take(&mut self.unflushed);
        self.catch_up();
        let flushed = match file.and_then(|file| self.worker.files.get(file as usize)) {
            Some(file) => flush_files(std::slice::from_ref(file), how),
            None => self.backend.flush(how),
        };
        if let Err(error) = flushed {
            let doing = if how == FlushKind::Fsync { Doing::Fsync } else { Doing::Fdatasync };
            self.worker_totals.fault =
                Some(Fault::new(doing, self.worker.path(file.unwrap_or(0)), &error));
            self.worker_totals.tallies.of(Action::Flush).errors += 1;
            return ControlFlow::Break(());
        }
        self.worker_totals.flushed_writes += before;
        let done = self.backend.now();
        if done >= self.worker_totals.counted {
            self.worker_totals.tallies.of(Action::Flush).add(0, 0, done.since(self.now).0);
        }
        if MORE {
            self.write_flush_down(how, file, done);
        }
        let began = self.now;
        (self.worker_totals.stopped, self.now) = (done, done);
        self.idle(began);
        ControlFlow::Continue(())
    }

    /// The file that was written last, where its flush is enough: those before it had theirs, or are to have none.
    pub(super) fn file_to_flush(&self) -> Option<u32> {
        let (every, _) = self.worker.flush.filter(|_| MORE && self.worker.files.len() > 1)?;
        if every > 1 && self.worker.flush_last || self.backend.holds_back() {
            return None;
        }
        let sent = self.ios_in_flight.iter().zip(&self.io_states).filter(|(io, _)| io.io.len > 0);
        sent.max_by_key(|(_, state)| state.number).map(|(io, _)| io.io.file)
    }

    /// Writes a flush down: of one file, or one for each.
    fn write_flush_down(&mut self, how: FlushKind, one: Option<u32>, completed: Timestamp) {
        let (since, files) = (self.now, self.worker.files.len() as u32);
        let Some(log) = self.worker.log.as_mut().filter(|log| log.takes_flushes()) else { return };
        for file in (0..files).filter(|file| one.is_none_or(|one| one == *file)) {
            let io = IoRequest { op: IoOp::Write, file, offset: 0, len: 0 };
            let (flush, number) = (Some(how), self.sent);
            let accepted = since;
            log.add(LogEntry {
                io,
                flush,
                number,
                priority: 0,
                since,
                sent: since,
                accepted,
                completed,
                answer: 0,
            });
            self.sent += 1;
        }
    }

    /// Makes the flush that a list has next, at its time, when all before it is answered.
    #[cold]
    pub(super) fn flush_as_listed(&mut self) -> ControlFlow<()> {
        while self.open && self.nothing_in_flight() {
            let due = self.listed().filter(|due| *due > self.now);
            let Some(due) = due else {
                self.listed_before = self.now;
                return match self.worker.cursor.replay_mut().and_then(ReplayWalk::take_flush) {
                    Some((how, file)) => self.flush(how, Some(file)),
                    None => ControlFlow::Continue(()),
                };
            };
            self.sleep(due);
        }
        ControlFlow::Continue(())
    }

    /// When a list has what comes next.
    pub(super) fn listed(&self) -> Option<Timestamp> {
        let walk = self.worker.cursor.replay()?;
        Some(walk.due(self.worker_totals.started, self.listed_before))
    }
}
