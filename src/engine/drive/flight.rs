//! What the loop keeps of each I/O, and what it found out about all of them.

use crate::plan::Verify;
use crate::stats::{Moments, Split};
use crate::unit::Instant;

use super::super::{Io, Lane, Op};
use super::Worker;
use super::errand::Call;

/// What follows from the plan for every I/O, found out once.
pub(super) struct Ways {
    /// What was written is read back at once.
    pub(super) read_back: bool,
    /// Each write needs data of its own: they change, or a read left its own in the buffer.
    pub(super) refill: bool,
    /// Where data were made, latency counts from then on.
    pub(super) data_apart: bool,
    /// Two at once at one place, one of them a write, are kept apart: nobody could say what must
    /// stand there.
    pub(super) guarded: bool,
    /// An I/O may take more than one call.
    pub(super) follows: bool,
    /// When each was accepted is noted too.
    pub(super) apart: bool,
    pub(super) split: Split,
}

impl Ways {
    pub(super) fn of<L: Lane, const MORE: bool>(worker: &Worker) -> Self {
        let does = worker.cursor.any();
        let read_back = worker.verify == Verify::AfterWrite && L::CARRIES_DATA;
        let apart = MORE && L::APART && worker.split.by_acceptance;
        Self {
            read_back,
            refill: L::CARRIES_DATA && (worker.filler.changes() || does.mixes() || read_back),
            data_apart: !worker.laps,
            guarded: matches!(worker.verify, Verify::Full | Verify::AfterWrite) && does.sends(),
            follows: read_back || does.does(Op::Rewrite),
            apart,
            split: Split { by_acceptance: apart, ..worker.split },
        }
    }
}

/// An I/O in flight.
#[derive(Clone, Copy)]
pub(super) struct Flight {
    pub(super) io: Io,
    /// When it was due, or was sent where nothing is due: latency counts from here.
    pub(super) since: Instant,
    pub(super) sent: Instant,
    pub(super) accepted: Instant,
}

impl Flight {
    /// Nothing.
    pub(super) const IDLE: Self = Self {
        io: Io { op: Op::Read, file: 0, offset: 0, len: 0 },
        since: Instant(0),
        sent: Instant(0),
        accepted: Instant(0),
    };
}

/// What came back.
pub(super) struct Answer {
    pub(super) flight: Flight,
    pub(super) call: Call,
    pub(super) completed: Instant,
    /// Bytes.
    pub(super) moved: u32,
    /// The ramp is over.
    pub(super) counts: bool,
}

impl Answer {
    #[inline]
    pub(super) fn lat_ns(&self) -> u64 {
        self.completed.since(self.flight.since).0
    }

    #[inline]
    pub(super) fn moments(&self) -> Moments {
        Moments {
            due: self.flight.since,
            submitted: self.flight.sent,
            accepted: self.flight.accepted,
            completed: self.completed,
        }
    }
}
