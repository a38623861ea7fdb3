//! Keeps the record on disk while a run goes on.

use std::path::{Path, PathBuf};

use assay_engine::sys::clock;
use assay_plan::error::Fault;
use assay_plan::unit::{Bytes, Nanos, Timestamp};
use assay_record::evidence::{Direction, SysRoot};
use assay_record::record::{
    Ending, Journal, JournalEntry, PhaseRecord, Record, RecordSink, sweep_journals,
};

/// What was kept is made durable no oftener than this. A killed run loses nothing by it: only a machine
/// that loses its power can forget what is younger.
const SYNCED: Nanos = Nanos::secs(1);

/// Folders in which a record may grow that is to stand on a device that is measured: in memory, as a rule.
const ELSEWHERE: [&str; 4] = ["/dev/shm", "/run", "/tmp", "/var/tmp"];

/// Who keeps it, if it is to be kept.
pub(super) struct RecordKeeper {
    journal: Option<Journal>,
    synced: Timestamp,
    /// The record stands on a device that is measured.
    beside: bool,
    /// Bytes that went there, and are not yet durable.
    unsynced: Bytes,
}

impl RecordKeeper {
    /// Of the record of a run that begins: with a journal, or with nothing to do. `now` is in seconds
    /// since 1970; absent where nobody looks at what killed runs have left.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub fn begin(
        sink: Option<RecordSink>,
        record: &Record,
        sys_root: &SysRoot,
        now: Option<i64>,
    ) -> Result<Self, Fault> {
        let shared = |path: &Path| sys_root.shares_device(path, &record.resolved.subjects);
        let beside = sink.as_ref().is_some_and(|sink| shared(sink.path()));
        let folders: Vec<PathBuf> = match beside {
            true => ELSEWHERE.iter().map(PathBuf::from).filter(|place| !shared(place)).collect(),
            false => Vec::new(),
        };
        // What killed runs have left in memory goes first.
        if let Some(now) = now {
            ELSEWHERE.iter().for_each(|folder| sweep_journals(Path::new(folder), now));
        }
        let journal = sink.map(|sink| sink.begin(record, &folders)).transpose()?;
        // Nothing of it is left to be written while the first phase is measured.
        if let Some(journal) = journal.as_ref().filter(|_| beside) {
            journal.sync()?;
        }
        Ok(Self { journal, synced: Timestamp(0), beside, unsynced: Bytes::ZERO })
    }

    /// Bytes of the record that may be written to a device of the phase that begins, while it is measured;
    /// `None` where the record grows elsewhere.
    pub fn beside_phase(&self) -> Option<Bytes> {
        let elsewhere = self.journal.as_ref().is_none_or(Journal::is_elsewhere);
        (self.beside && !elsewhere).then_some(self.unsynced)
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
            self.unsynced = Bytes::ZERO;
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
        if let Some(journal) = &mut self.journal {
            self.unsynced += journal.add(news)?;
        }
        Ok(())
    }
}

/// Whether a phase has left in memory what it has written. A file system may have a flush of whatever file
/// wait for that, for minutes.
fn leaves_behind(done: &PhaseRecord) -> bool {
    let settled = done.evidence.settle.as_ref().is_some_and(|settle| settle.complete);
    let deferred = |direction, durable: bool| direction == Direction::Write && !durable;
    !settled && done.flows.iter().any(|flow| deferred(flow.direction, flow.durability.durable()))
}
