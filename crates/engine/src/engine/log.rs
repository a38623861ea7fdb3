//! A log of every I/O, when one is asked for: workers fill pages of it, somebody else writes them.
//!
//! A worker adds an entry to a page it owns, a store and no call; a full page is handed over and an
//! empty one taken in its place, once in [`PAGE`] I/Os. It never waits for whoever writes the log:
//! where that one is behind, a new page is made.

use std::sync::mpsc::{Receiver, Sender, channel};

use assay_plan::unit::Timestamp;

use super::{FlushKind, IoRequest};

/// Entries in a page.
pub const PAGE: usize = 8192;
/// Pages that a worker starts with: one is filled while the other is written.
const PAGES: usize = 2;

/// What became of one I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// What it was; of a flush the file alone.
    pub io: IoRequest,
    /// Which flush, where it is one: `io` says the file.
    pub flush: Option<FlushKind>,
    /// Its number among those that the worker has sent, from 0.
    pub number: u64,
    /// The priority that it was given, as the kernel has it; 0: that of its thread.
    pub priority: u16,
    /// When it was due, or was sent where nothing is due.
    pub since: Timestamp,
    pub sent: Timestamp,
    /// When the kernel had taken it, where that is looked at; else as `since`.
    pub accepted: Timestamp,
    /// When it was answered.
    pub completed: Timestamp,
    /// Bytes moved, or the negative errno.
    pub answer: i32,
}

/// The entries of one worker, a page full of them.
#[derive(Debug)]
pub struct LogPage {
    /// Which worker, by a number that whoever writes the log has given it.
    pub worker: usize,
    /// In the order in which they were answered.
    pub entries: Vec<LogEntry>,
}

/// One worker's end.
#[derive(Debug)]
pub struct WorkerLog {
    worker: usize,
    /// Flushes are written down, too.
    flushes: bool,
    page: Vec<LogEntry>,
    full: Sender<LogPage>,
    empty: Receiver<Vec<LogEntry>>,
}

/// Where the pages of one worker go back to when they have been written.
pub type PageReturn = Sender<Vec<LogEntry>>;

impl WorkerLog {
    /// The log of a worker, whose full pages go to `full`; and where to give them back.
    pub fn new(worker: usize, full: Sender<LogPage>) -> (Self, PageReturn) {
        let (back, empty) = channel();
        for _ in 1..PAGES {
            // Its receiver is below.
            let _ = back.send(Vec::with_capacity(PAGE));
        }
        (Self { worker, flushes: false, page: Vec::with_capacity(PAGE), full, empty }, back)
    }

    /// The same, in which flushes are written down or not.
    #[must_use]
    pub fn with_flushes(mut self, flushes: bool) -> Self {
        self.flushes = flushes;
        self
    }

    /// Whether flushes are written down.
    pub(super) fn takes_flushes(&self) -> bool {
        self.flushes
    }

    #[inline]
    pub fn add(&mut self, entry: LogEntry) {
        self.page.push(entry);
        if self.page.len() == PAGE {
            self.turn();
        }
    }

    #[cold]
    fn turn(&mut self) {
        let empty = self.empty.try_recv().unwrap_or_else(|_| Vec::with_capacity(PAGE));
        let entries = std::mem::replace(&mut self.page, empty);
        // Who writes the log may have given up, and has said so.
        let _ = self.full.send(LogPage { worker: self.worker, entries });
    }
}

impl Drop for WorkerLog {
    fn drop(&mut self) {
        self.turn();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::IoOp;

    #[test]
    fn every_entry_arrives_in_order_and_pages_are_used_again() {
        let (full, pages) = channel();
        let (mut log, back) = WorkerLog::new(3, full);
        let entry = |offset| LogEntry {
            io: IoRequest { op: IoOp::Read, file: 0, offset, len: 1 },
            flush: None,
            number: offset,
            priority: 0,
            since: Timestamp(0),
            sent: Timestamp(0),
            accepted: Timestamp(0),
            completed: Timestamp(offset),
            answer: 1,
        };
        let all = 3 * PAGE as u64 + 5;
        let mut seen = Vec::new();
        for offset in 0..all {
            log.add(entry(offset));
            while let Ok(mut page) = pages.try_recv() {
                assert_eq!(page.worker, 3);
                seen.extend(page.entries.drain(..).map(|entry| entry.io.offset));
                assert_eq!(page.entries.capacity(), PAGE);
                back.send(page.entries).unwrap();
            }
        }
        drop(log);
        seen.extend(pages.iter().flat_map(|page| page.entries).map(|entry| entry.io.offset));
        assert!(seen.into_iter().eq(0..all));
    }
}
