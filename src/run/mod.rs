//! The conductor: makes a plan fit this machine, prepares targets, starts workers, watches the
//! kernel, cleans up.

use std::path::PathBuf;

use crate::error::Error;
use crate::plan::{Phase, Plan};
use crate::record::{PhaseRecord, Record, Resolved};
use crate::stats::GaugeReading;
use crate::stats::copy::CopyCounts;
use crate::unit::{Bytes, Nanos};

/// What a run should do beside its plan.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where the record is kept while it grows.
    pub record: Option<PathBuf>,
}

/// Somebody who is told what happens while it happens. Called from the conductor's thread, never
/// from one that does I/O.
pub trait Observer {
    /// The plan has been made to fit this machine; nothing has been touched yet.
    fn resolved(&mut self, _resolved: &Resolved) {}
    /// A phase is about to be prepared (files laid out, caches dropped).
    fn preparing(&mut self, _phase: &Phase, _what: &str) {}
    /// A phase has begun: its number from 0, and how many there are.
    fn began(&mut self, _phase: &Phase, _number: usize, _of: usize) {}
    /// Ten times a second while it goes on.
    fn tick(&mut self, _live: &Live) {}
    /// A phase has ended and is judged.
    fn ended(&mut self, _phase: &PhaseRecord) {}
}

/// Nobody.
impl Observer for () {}

/// How a phase stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Live {
    /// Since its first I/O.
    pub elapsed: Nanos,
    /// How long it takes at the most, when time is what ends it.
    pub limit: Option<Nanos>,
    /// Bytes it moves in all, when that is what ends it.
    pub goal: Option<Bytes>,
    /// What its workers have done since its start; `lat_ns_max` since the last tick.
    pub done: GaugeReading,
    /// What they had done a tick before.
    pub before: GaugeReading,
    /// dd's counts, when it is a copy.
    pub copy: Option<CopyCounts>,
    /// The work is over and its flush is watched.
    pub settling: bool,
}

/// What a plan would do, without doing it.
#[derive(Clone, Debug)]
pub struct Preview {
    /// The plan made to fit this machine.
    pub resolved: Resolved,
    /// Bytes it would write, as far as that can be known beforehand; an upper bound.
    pub writes: Bytes,
    /// About how long it would take; absent when only the device's speed decides.
    pub time: Option<Nanos>,
}

/// Looks at the machine and says what the plan would do. Touches nothing.
///
/// # Errors
/// A refusal when the plan can not be done here.
pub fn preview(_plan: &Plan) -> Result<Preview, Error> {
    Err(crate::error::Refusal::new("not landed yet", "").into())
}

/// Does it. The record comes back whatever happens once the first phase could begin; how it ended
/// is in [`Record::ending`].
///
/// # Errors
/// A refusal when the plan can not be done here (nothing was touched), or a fault before the
/// first phase.
pub fn run(
    _plan: &Plan,
    _options: &Options,
    _observer: &mut dyn Observer,
) -> Result<Record, Error> {
    Err(crate::error::Refusal::new("not landed yet", "").into())
}
