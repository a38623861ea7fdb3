//! A record while it grows: the record as it was when the run began, in one line, then a line for each thing
//! that has happened since. So nothing is written twice, and a run that is killed leaves what it had. It stands
//! under the record's own name, and the whole document takes its place at the end.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Ending, PhaseRecord, Record, RecordDocument};
use crate::error::{Doing, Fault};

/// What has happened, on its way to the disk.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalEntry<'r> {
    /// A phase has ended.
    Phase(&'r PhaseRecord),
    /// More was done otherwise than planned.
    Notes(&'r [String]),
    /// The run comes to its end.
    Ending(&'r Ending),
}

/// The same on its way back.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum JournalEvent {
    Phase(Box<PhaseRecord>),
    Notes(Vec<String>),
    Ending(Ending),
}

/// A record that grows.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Puts the record of a run that begins in the place of what stands there.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn begin(path: PathBuf, record: &Record) -> Result<Self, Fault> {
        let fault =
            |error: std::io::Error| Fault::new(Doing::Write, path.display().to_string(), &error);
        replace_by(&path, |out| {
            serde_json::to_writer(&mut *out, record)?;
            out.write_all(b"\n")
        })?;
        let file = OpenOptions::new().append(true).open(&path).map_err(fault)?;
        Ok(Self { path, file })
    }

    /// Adds what has happened. A killed run keeps it; what the machine keeps when its power fails is
    /// [`Journal::sync`]'s.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&mut self, news: JournalEntry) -> Result<(), Fault> {
        let written = line(&news).and_then(|line| self.file.write_all(&line));
        written.map_err(|error| self.fault(Doing::Write, &error))
    }

    /// Makes durable what was added.
    ///
    /// # Errors
    /// When that fails.
    pub fn sync(&self) -> Result<(), Fault> {
        self.file.sync_data().map_err(|error| self.fault(Doing::Fdatasync, &error))
    }

    /// Puts the whole document in its place, whole or not at all.
    ///
    /// # Errors
    /// When it cannot be written; what has grown so far stands then.
    pub fn finish(self, record: &Record) -> Result<(), Fault> {
        let document = RecordDocument::of(record);
        replace_by(&self.path, |out| document.write(out))
    }

    fn fault(&self, doing: Doing, error: &std::io::Error) -> Fault {
        Fault::new(doing, self.path.display().to_string(), error)
    }
}

/// One line of it.
fn line(what: &impl Serialize) -> std::io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    Ok(line)
}

/// A record with what has happened since it began. A last line that has no end is left out: its writer was
/// killed.
///
/// # Errors
/// The number of the line of `since`, from 1, that is none of a record, and why.
pub(super) fn grown(mut record: Record, since: &str) -> Result<Record, (usize, serde_json::Error)> {
    for (number, line) in (1..).zip(since.split_inclusive('\n')) {
        let whole = line.ends_with('\n');
        if !whole || line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(line).map_err(|error| (number, error))? {
            JournalEvent::Phase(phase) => record.phases.push(*phase),
            JournalEvent::Notes(notes) => record.resolved.notes.extend(notes),
            JournalEvent::Ending(ending) => record.ending = ending,
        }
    }
    Ok(record)
}

/// Writes a file whole or not at all: what had this name is there until the new one is complete.
///
/// # Errors
/// When it cannot be written.
pub fn replace(path: &Path, text: &[u8]) -> Result<(), Fault> {
    replace_by(path, |out| out.write_all(text))
}

/// The same of a text that is written piece by piece: a long one is never whole in memory.
fn replace_by(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Fault> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.new", std::process::id()));
    let fresh = path.with_file_name(name);
    let written = File::create(&fresh).and_then(|file| {
        let mut out = BufWriter::with_capacity(1 << 18, file);
        write(&mut out)?;
        out.flush()?;
        std::fs::rename(&fresh, path)
    });
    written.map_err(|error| {
        let _ = std::fs::remove_file(&fresh);
        Fault::new(Doing::Write, path.display().to_string(), &error)
    })
}
