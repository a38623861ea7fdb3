//! The I/Os of a list, one by one: a step costs a look at one entry.

use assay_plan::plan::{Replay, ReplayAction};
use assay_plan::unit::{Nanos, Timestamp};

use super::{FlushKind, IoOp, IoRequest};

/// Where a worker is in its list. The list itself is the plan's.
#[derive(Clone, Debug)]
pub(super) struct ReplayWalk {
    replay: Replay,
    next: usize,
    /// A target without files has no numbers of files.
    nowhere: bool,
}

impl ReplayWalk {
    /// The beginning of a list, of a worker with so many files.
    pub(super) fn new(replay: &Replay, files: u32) -> Self {
        let nowhere = replay.ios.iter().any(|io| u32::from(io.file) >= files);
        Self { replay: replay.clone(), next: 0, nowhere }
    }

    /// The next I/O; none where a flush comes first, or at the end.
    #[inline]
    pub(super) fn next_io(&mut self) -> Option<IoRequest> {
        let io = self.replay.ios.get(self.next)?;
        let op = match io.action {
            ReplayAction::Read => IoOp::Read,
            ReplayAction::Write => IoOp::Write,
            ReplayAction::Trim => IoOp::Trim,
            ReplayAction::Fsync | ReplayAction::Fdatasync => return None,
        };
        self.next += 1;
        let file = if self.nowhere { 0 } else { u32::from(io.file) };
        Some(IoRequest { op, file, offset: io.offset.0, len: io.bytes })
    }

    /// Whether there is any flush.
    pub(super) fn has_flushes(&self) -> bool {
        self.replay.ios.iter().any(|io| io.action.moved().is_none())
    }

    /// The flush that comes next, if one does: which, and of which file.
    #[inline]
    pub(super) fn flush(&self) -> Option<(FlushKind, u32)> {
        let io = self.replay.ios.get(self.next)?;
        match io.action {
            ReplayAction::Fsync => Some((FlushKind::Fsync, io.file.into())),
            ReplayAction::Fdatasync => Some((FlushKind::Fdatasync, io.file.into())),
            _ => None,
        }
    }

    /// The same, which is done then.
    pub(super) fn take_flush(&mut self) -> Option<(FlushKind, u32)> {
        let next = self.flush()?;
        self.next += 1;
        Some(next)
    }

    /// When the next is due, after one that was sent at `before`.
    #[inline]
    pub(super) fn due(&self, started: Timestamp, before: Timestamp) -> Timestamp {
        let wait = self.replay.ios.get(self.next).map_or(Nanos::ZERO, |io| io.wait);
        let from = if self.replay.from_start { started } else { before };
        from + wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_plan::plan::ReplayIo;
    use assay_plan::unit::Bytes;

    #[test]
    fn a_list_is_walked_one_by_one_with_its_flushes_and_times() {
        let io = |action, file, offset, wait| ReplayIo {
            offset: Bytes(offset),
            wait: Nanos(wait),
            bytes: 512,
            file,
            action,
        };
        let ios = vec![
            io(ReplayAction::Read, 1, 4096, 7),
            io(ReplayAction::Fdatasync, 1, 0, 30),
            io(ReplayAction::Write, 0, 0, 0),
        ];
        let replay = Replay { from_start: false, ios: ios.into() };
        let mut walk = ReplayWalk::new(&replay, 2);
        let (started, before) = (Timestamp(100), Timestamp(1000));
        assert_eq!((walk.flush(), walk.due(started, before)), (None, Timestamp(1007)));
        let read = IoRequest { op: IoOp::Read, file: 1, offset: 4096, len: 512 };
        assert_eq!(walk.next_io(), Some(read));
        assert_eq!((walk.next_io(), walk.flush()), (None, Some((FlushKind::Fdatasync, 1))));
        assert_eq!(walk.due(started, before), Timestamp(1030));
        assert_eq!(walk.take_flush(), Some((FlushKind::Fdatasync, 1)));
        let write = IoRequest { op: IoOp::Write, file: 0, offset: 0, len: 512 };
        assert_eq!(walk.next_io(), Some(write));
        assert_eq!((walk.next_io(), walk.flush()), (None, None));
        // Without files there are no numbers of files; moments may be counted from the start.
        let mut walk = ReplayWalk::new(&Replay { from_start: true, ..replay }, 1);
        assert_eq!(walk.due(started, before), Timestamp(107));
        assert_eq!(walk.next_io().map(|io| io.file), Some(0));
    }
}
