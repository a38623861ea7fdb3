//! What the loop keeps of each I/O, and what it found out about all of them.

use assay_plan::error::Doing;
use assay_plan::plan::{Verify, VerifyBacklog};
use assay_plan::stats::{IoTimes, LatencySplit};
use assay_plan::unit::Timestamp;

use super::super::fill::WriteGeneration;
use super::super::{IoBackend, IoOp, IoRequest};
use super::worker::Worker;

/// What follows from the plan for every I/O, found out once.
pub(super) struct LoopConfig {
    /// What was written is read back at once.
    pub(super) read_back: bool,
    /// What was written is read back after every so many writes.
    pub(super) backlog: Option<VerifyBacklog>,
    /// What was written is read back after each pass.
    pub(super) each_pass: bool,
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
    pub(super) split: LatencySplit,
    /// The I/Os are those of a list, with flushes and times between them.
    pub(super) replayed: bool,
    /// Pages are dropped where a file is begun anew.
    pub(super) drops_each_pass: bool,
    /// Not every call is timed.
    pub(super) sampled: bool,
    /// Between one I/O and the next there is nothing to do but to count it.
    pub(super) bare: bool,
}

impl LoopConfig {
    pub(super) fn of<'s, L: IoBackend<'s>, const MORE: bool>(worker: &Worker) -> Self {
        let does = worker.cursor.any();
        let read_back = worker.verify == Verify::AfterWrite && L::CARRIES_DATA;
        let backlog = match worker.verify {
            Verify::Backlog(rule) if L::CARRIES_DATA => Some(rule),
            Verify::EachPass if L::CARRIES_DATA => Some(VerifyBacklog::AT_THE_END),
            _ => None,
        };
        let each_pass = MORE && worker.verify == Verify::EachPass && backlog.is_some();
        // What a pass writes once, and reads when all of it is answered, never meets itself.
        let meets = backlog.is_some() && (!each_pass || worker.cursor.comes_back());
        let looks = meets || matches!(worker.verify, Verify::Full | Verify::AfterWrite);
        let reads = does.mixes() || read_back || backlog.is_some();
        let apart = MORE && L::APART && worker.split.by_acceptance;
        let refill = L::CARRIES_DATA && (worker.filler.changes() || reads);
        let sampled = worker.sampled && L::AT_ONCE && !MORE;
        let single = !does.does(IoOp::Rewrite) && does.computes().is_none();
        Self {
            read_back,
            backlog,
            each_pass,
            refill,
            data_apart: !worker.laps,
            guarded: looks && does.sends() || worker.apart,
            follows: read_back || does.does(IoOp::Rewrite),
            apart,
            split: LatencySplit { by_acceptance: apart, ..worker.split },
            replayed: MORE && worker.cursor.replay().is_some(),
            drops_each_pass: MORE && worker.aside.drop_each_pass,
            sampled,
            bare: sampled && single && !refill && worker.flush.is_none(),
        }
    }
}

/// An I/O in flight.
#[derive(Clone, Copy)]
pub(super) struct InFlight {
    pub(super) io: IoRequest,
    /// When it was due, or was sent where nothing is due: latency counts from here.
    pub(super) since: Timestamp,
    pub(super) sent: Timestamp,
    pub(super) accepted: Timestamp,
}

impl InFlight {
    /// Nothing.
    pub(super) const IDLE: Self = Self {
        io: IoRequest { op: IoOp::Read, file: 0, offset: 0, len: 0 },
        since: Timestamp(0),
        sent: Timestamp(0),
        accepted: Timestamp(0),
    };
}

/// What is kept beside of an I/O that may take more than one call.
#[derive(Clone, Copy)]
pub(super) struct IoState {
    pub(super) call: InFlightCall,
    /// When this call was sent.
    pub(super) sent: Timestamp,
    pub(super) generation: WriteGeneration,
    /// Its slot is in flight.
    pub(super) out: bool,
    /// What fell short in it and was sent again.
    pub(super) again: Option<SentAgain>,
    /// Bytes that a read after a write was asked for.
    pub(super) asked: u32,
    /// It is a read of a mix whose writes are verified as it goes: nobody looks at what it brings.
    pub(super) unlooked: bool,
    /// Its number among all that were sent.
    pub(super) number: u64,
}

impl IoState {
    /// Nothing under way.
    pub(super) fn none(generation: WriteGeneration) -> Self {
        Self {
            call: InFlightCall::Main,
            sent: Timestamp(0),
            generation,
            out: false,
            again: None,
            asked: 0,
            unlooked: false,
            number: 0,
        }
    }
}

/// An I/O that fell short.
#[derive(Clone, Copy)]
pub(super) struct SentAgain {
    pub(super) io: IoRequest,
    /// What it moved when it was sent once more as a whole; then the rest is in flight.
    pub(super) moved: Option<i32>,
}

/// Which call of an I/O is in flight.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum InFlightCall {
    /// The only one, or the write.
    Main,
    /// The read before the write of a rewrite.
    Fetch,
    /// The read after a write that is verified.
    Back,
}

impl InFlightCall {
    /// What it was to do, for one who reads that it failed.
    #[cold]
    pub(super) fn doing(self, op: IoOp) -> Doing {
        match (op, self) {
            (IoOp::Read, _)
            | (IoOp::Rewrite, Self::Fetch)
            | (IoOp::Write | IoOp::Rewrite, Self::Back) => Doing::Read,
            (IoOp::Write | IoOp::Rewrite, _) => Doing::Write,
            (IoOp::Trim, _) => Doing::Trim,
        }
    }
}

/// What came back.
pub(super) struct IoAnswer {
    pub(super) io_in_flight: InFlight,
    pub(super) call: InFlightCall,
    pub(super) completed: Timestamp,
    /// Bytes.
    pub(super) moved: u32,
    /// The ramp is over.
    pub(super) counts: bool,
    /// Its priority, as the kernel has it, where those are counted apart.
    pub(super) priority: u16,
}

impl IoAnswer {
    #[inline]
    pub(super) fn lat_ns(&self) -> u64 {
        self.completed.since(self.io_in_flight.since).0
    }

    #[inline]
    pub(super) fn moments(&self) -> IoTimes {
        IoTimes {
            due: self.io_in_flight.since,
            submitted: self.io_in_flight.sent,
            accepted: self.io_in_flight.accepted,
            completed: self.completed,
        }
    }
}
