//! Who is told what happens in a run, and how a phase stands when they are.

use std::path::Path;

use assay_plan::error::Fault;
use assay_plan::plan::Phase;
use assay_plan::stats::LiveReading;
use assay_plan::stats::copy::{CopyCounts, CopyEvent};
use assay_plan::unit::{Bytes, Nanos};
pub use assay_record::claim::Preparation;
use assay_record::record::{PhaseRecord, PhaseSoFar, Record, Resolved};

/// Somebody who is told what happens while it happens. Called from the conductor's thread, never
/// from one that does I/O.
pub trait Observer {
    /// The plan has been made to fit this machine; nothing has been touched yet.
    fn resolved(&mut self, _resolved: &Resolved) {}
    /// A phase is about to be prepared (files laid out, caches dropped).
    fn preparing(&mut self, _phase: &Phase, _step: Preparation) {}
    /// Whether a phase that is prepared may begin. While it may not (it keeps step with somebody
    /// outside of this program), it is asked again every few milliseconds.
    ///
    /// # Errors
    /// When it never may: the run ends.
    fn may_begin(&mut self, _phase: &Phase) -> Result<bool, Fault> {
        Ok(true)
    }
    /// A phase begins, and has done no I/O yet: its number from 0, and how many there are.
    fn began(&mut self, _phase: &Phase, _number: usize, _of: usize) {}
    /// Ten times a second while it goes on.
    fn tick(&mut self, _live: &LiveStatus) {}
    /// The same, with how far the phase has come, which is put together for who asks.
    fn so_far(&mut self, _live: &LiveStatus, _so_far: &dyn Fn() -> PhaseSoFar) {}
    /// A signal came. True: it has been dealt with (dd prints its counts on SIGUSR1), and the run
    /// goes on; false: the run ends here, and keeps what it has.
    fn asked(&mut self, _signal: i32, _live: &LiveStatus) -> bool {
        false
    }
    /// Something that a copy has to say while it runs.
    fn said(&mut self, _event: &CopyEvent) {}
    /// Whether the lines of logs are handed to it, and go to no file.
    fn takes_logs(&self) -> bool {
        false
    }
    /// The lines of a log that is handed over; `path` is what the plan calls it.
    fn logged(&mut self, _path: &Path, _lines: Vec<u8>) {}
    /// A phase has ended and is judged: the last of the record as it stands.
    fn ended(&mut self, _record: &Record, _phase: &PhaseRecord) {}
}

/// Nobody.
impl Observer for () {}

/// How a phase stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct LiveStatus {
    /// Since its first I/O.
    pub elapsed: Nanos,
    /// How long it takes at the most, when time is what ends it.
    pub limit: Option<Nanos>,
    /// Bytes it moves in all, when that is what ends it.
    pub goal: Option<Bytes>,
    /// What its workers have done since its start; `lat_ns_max` since the last tick.
    pub done: LiveReading,
    /// What they had done a tick before.
    pub before: LiveReading,
    /// dd's counts, when it is a copy.
    pub copy: Option<CopyCounts>,
    /// The work is over and its flush is watched.
    pub settling: bool,
}
