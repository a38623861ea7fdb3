//! Keeps the record on disk while a run goes on.

use crate::error::Fault;
use crate::evidence::Direction;
use crate::record::{Ending, Journal, JournalEntry, PhaseRecord, Record};
use crate::sys::clock;
use crate::unit::{Nanos, Timestamp};

/// What was kept is made durable no oftener than this. A killed run loses nothing by it: only a machine
/// that loses its power can forget what is younger.
const SYNCED: Nanos = Nanos::secs(1);

/// Who keeps it, if it is to be kept.
pub(super) struct RecordKeeper {
    journal: Option<Journal>,
    synced: Timestamp,
}

impl RecordKeeper {
    /// With a journal, or with nothing to do.
    pub fn new(journal: Option<Journal>) -> Self {
        Self { journal, synced: Timestamp(0) }
    }

    /// More was done otherwise than planned, if anything was.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub fn notes(&mut self, notes: &[String]) -> Result<(), Fault> {
        match notes {
            [] => Ok(()),
            more => self.add(JournalEntry::Notes(more)),
        }
    }

    /// A phase has ended and is judged.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub fn phase(&mut self, done: &PhaseRecord) -> Result<(), Fault> {
        self.add(JournalEntry::Phase(done))?;
        let now = clock::now();
        if let Some(journal) = &self.journal
            && now.since(self.synced) >= SYNCED
            && !leaves_behind(done)
        {
            journal.sync()?;
            self.synced = clock::now();
        }
        Ok(())
    }

    /// The run comes to its end, and only has to tidy up.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub fn ending(&mut self, ending: &Ending) -> Result<(), Fault> {
        self.add(JournalEntry::Ending(ending))
    }

    /// It is over.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub fn finish(self, record: &Record) -> Result<(), Fault> {
        self.journal.map_or(Ok(()), |journal| journal.finish(record))
    }

    fn add(&mut self, news: JournalEntry) -> Result<(), Fault> {
        self.journal.as_mut().map_or(Ok(()), |journal| journal.add(news))
    }
}

/// Whether a phase has left in memory what it has written. A file system may have a flush of whatever file
/// wait for that, for minutes.
fn leaves_behind(done: &PhaseRecord) -> bool {
    let settled = done.evidence.settle.as_ref().is_some_and(|settle| settle.complete);
    let deferred = |direction, durable: bool| direction == Direction::Write && !durable;
    !settled && done.flows.iter().any(|flow| deferred(flow.direction, flow.durability.durable()))
}
