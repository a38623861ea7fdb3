//! What was written and not read back yet, of a job that verifies as it goes.

use std::collections::VecDeque;

use assay_plan::plan::VerifyBacklog;

use super::super::route::left_by;
use super::super::{IoOp, IoRequest};

/// Writes that wait to be verified.
#[derive(Debug)]
pub(super) struct BacklogQueue {
    rule: VerifyBacklog,
    /// In the order of their writes, or of their places.
    written: VecDeque<IoRequest>,
    /// Reads that are left of the present batch.
    owed: u64,
}

impl BacklogQueue {
    /// None yet; `depth` more than the rule has may be written before the first is read.
    pub(super) fn new(rule: VerifyBacklog, depth: usize) -> Self {
        let room = usize::try_from(rule.writes).unwrap_or(usize::MAX).min(1 << 16);
        Self { rule, written: VecDeque::with_capacity(room + depth), owed: 0 }
    }

    /// A write was sent.
    pub(super) fn wrote(&mut self, io: IoRequest) {
        if self.rule.by_place {
            self.put_in_place(io);
        } else {
            self.written.push_back(io);
        }
        if self.owed == 0 && (self.written.len() as u64).is_multiple_of(self.rule.writes) {
            self.owed = self.rule.batch;
        }
    }

    /// A write has failed, and the job goes on: there is nothing to be read back.
    pub(super) fn forget(&mut self, io: IoRequest) {
        let same = |other: &IoRequest| (other.file, other.offset) == (io.file, io.offset);
        if let Some(at) = self.written.iter().rposition(same) {
            self.written.remove(at);
        }
    }

    /// Puts it where its offset belongs, instead of those that it has overwritten.
    fn put_in_place(&mut self, io: IoRequest) {
        let key = |io: &IoRequest| (io.file, io.offset);
        let after = |io: &IoRequest| (io.file, io.offset + u64::from(io.len));
        let mut at = self.written.partition_point(|other| key(other) < key(&io));
        while self.written.get(at).is_some_and(|next| key(next) < after(&io)) {
            self.written.remove(at);
        }
        while at > 0 && self.written.get(at - 1).is_some_and(|last| after(last) > key(&io)) {
            at -= 1;
            self.written.remove(at);
        }
        self.written.insert(at, io);
    }

    /// The next that is read, while a batch is due.
    pub(super) fn next(&mut self) -> Option<IoRequest> {
        if self.owed == 0 {
            return None;
        }
        self.owed -= 1;
        match self.written.pop_front() {
            Some(io) => Some(IoRequest { op: IoOp::Read, ..io }),
            None => {
                self.owed = 0;
                None
            }
        }
    }

    /// Whether a batch is being read.
    pub(super) fn is_due(&self) -> bool {
        self.owed > 0
    }

    /// Whether something waits to be read.
    pub(super) fn waits(&self) -> bool {
        !self.written.is_empty()
    }

    /// What is left is read in the order of places, each once.
    pub(super) fn sort(&mut self) {
        self.written = left_by(self.written.drain(..)).into();
    }

    /// No write follows: what is left is read as the last batch. Whether there is any.
    pub(super) fn finish(&mut self) -> bool {
        if self.rule.rest {
            self.owed = self.written.len() as u64;
        }
        self.owed > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(offset: u64, len: u32) -> IoRequest {
        IoRequest { op: IoOp::Write, file: 0, offset, len }
    }

    fn offsets(queue: &mut BacklogQueue) -> Vec<u64> {
        std::iter::from_fn(|| queue.next()).map(|io| io.offset).collect()
    }

    #[test]
    fn a_batch_is_due_after_so_many_writes_and_the_rest_at_the_end() {
        let rule = VerifyBacklog { writes: 3, batch: 2, by_place: false, rest: true };
        let mut queue = BacklogQueue::new(rule, 1);
        queue.wrote(write(8, 4));
        queue.wrote(write(4, 4));
        assert!(offsets(&mut queue).is_empty());
        queue.wrote(write(0, 4));
        assert_eq!(offsets(&mut queue), [8, 4]);
        queue.wrote(write(12, 4));
        assert!(offsets(&mut queue).is_empty());
        assert!(queue.finish());
        assert_eq!(offsets(&mut queue), [0, 12]);
        assert!(!queue.finish());
    }

    #[test]
    fn what_could_not_be_written_is_not_read_back() {
        let rule = VerifyBacklog { writes: 100, batch: 100, by_place: false, rest: true };
        let mut queue = BacklogQueue::new(rule, 4);
        for offset in [0, 4, 0, 8] {
            queue.wrote(write(offset, 4));
        }
        queue.forget(write(0, 4));
        queue.forget(write(12, 4));
        assert!(queue.finish());
        assert_eq!(offsets(&mut queue), [0, 4, 8]);
    }

    #[test]
    fn what_is_overwritten_is_read_once_and_in_the_order_of_places() {
        let rule = VerifyBacklog { writes: 100, batch: 100, by_place: true, rest: true };
        let mut queue = BacklogQueue::new(rule, 1);
        for io in [write(8, 4), write(0, 4), write(2, 8), write(16, 4), write(16, 4), write(10, 2)]
        {
            queue.wrote(io);
        }
        assert!(queue.finish());
        assert_eq!(offsets(&mut queue), [2, 10, 16]);
    }
}
