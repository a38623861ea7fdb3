//! A record while it grows: the record as it was when the run began, in one line, then a line for each thing
//! that has happened since. So nothing is written twice, and a run that is killed leaves what it had. It stands
//! under the record's own name, and the whole document takes its place at the end. Where that place is on a device
//! that is measured, the lines go to a file elsewhere, which the second line names; what does not fit there follows
//! under the own name.

use std::fs::File;
use std::io::{self, Read as _, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use serde::{Deserialize, Serialize};

use super::json::{JsonLayout, write_json};
use super::json_read::{read_first, read_json};
use super::{Ending, PhaseRecord, Record, RecordDocument};
use assay_engine::output::{
    self, OutputMode, OutputPlace, create_new, is_run, is_same, remove_file,
};
use assay_plan::error::{Doing, Fault};
use assay_plan::name::{self, NameText as _};
use assay_plan::unit::Bytes;

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
    /// What follows stands in that file; then it goes on here.
    Elsewhere(&'r Path),
    /// The first line of that file: whose it is.
    JournalOf(&'r JournalOwner),
}

/// Whose journal a file is that stands elsewhere than its record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalOwner {
    /// What the run is called.
    run: String,
    /// The whole path of its record.
    record: String,
}

/// The same on its way back.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum JournalEvent {
    Phase(Box<PhaseRecord>),
    Notes(Vec<String>),
    Ending(Ending),
    Elsewhere(PathBuf),
    JournalOf(JournalOwner),
}

/// A record that grows.
#[derive(Debug)]
pub struct Journal {
    place: OutputPlace,
    /// Absent where the record goes to a terminal or a pipe, whole, at its end.
    file: Option<File>,
    elsewhere: Option<ElsewhereFile>,
}

/// Where a journal grows that is not to touch the device of its record.
#[derive(Debug)]
struct ElsewhereFile {
    path: PathBuf,
    file: File,
    /// Bytes that it may still grow by: it may be in memory.
    room: usize,
}

impl Drop for ElsewhereFile {
    fn drop(&mut self) {
        if self.room == ROOM {
            // Nothing has happened.
            let _ = remove_file(&self.path, false);
        }
    }
}

/// What that file is called.
fn elsewhere_name(run: &str) -> String {
    format!("assay-{run}.journal")
}

/// What a journal may take elsewhere, in bytes: some four thousand phases.
const ROOM: usize = 16 << 20;

impl ElsewhereFile {
    /// One in a folder, locked as long as its run lives; `None` where none can be made.
    fn make(folder: &Path, owner: &JournalOwner) -> Option<Self> {
        let path = folder.join(elsewhere_name(&owner.run));
        let file = create_new(&path, 0o600).ok()?;
        let mut made = Self { path, file, room: ROOM };
        // Where a file system knows no locks, nothing is ever taken for what a dead run left.
        let _ = flock(&made.file, FlockOperation::NonBlockingLockExclusive);
        let first = line(&JournalEntry::JournalOf(owner)).ok()?;
        made.file.write_all(&first).ok().map(|()| made)
    }

    /// Adds a line; false where there is no room, and it has to stand elsewhere again.
    fn add(&mut self, line: &[u8]) -> bool {
        let fits = line.len() <= self.room && self.file.write_all(line).is_ok();
        // What was written of a line that did not fit has no end, and is left out when it is read.
        self.room = if fits { self.room - line.len() } else { 0 };
        fits
    }
}

impl Journal {
    /// Puts the record of a run that begins in the place of what stands there. It grows in the first of the
    /// folders where it can, and without one beside its name.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn begin(
        place: OutputPlace,
        record: &Record,
        folders: &[PathBuf],
    ) -> Result<Self, Fault> {
        if place.is_stream() {
            return Ok(Self { place, file: None, elsewhere: None });
        }
        place.replace(|out| {
            write_json(record, JsonLayout::Line, out)?;
            out.write_all(b"\n")
        })?;
        let file = output::open(place.path(), OutputMode::Append)?;
        let path = std::path::absolute(place.path()).unwrap_or_else(|_| place.path().into());
        let owner = JournalOwner { run: record.run.clone(), record: path.to_text() };
        let mut journal = Self { place, file: Some(file), elsewhere: None };
        let elsewhere = folders.iter().find_map(|folder| ElsewhereFile::make(folder, &owner));
        if let Some(elsewhere) = elsewhere {
            journal.add(JournalEntry::Elsewhere(&elsewhere.path))?;
            journal.elsewhere = Some(elsewhere);
        }
        Ok(journal)
    }

    /// Whether what is added now goes elsewhere than to the device of the record.
    pub fn is_elsewhere(&self) -> bool {
        self.elsewhere.as_ref().is_some_and(|elsewhere| elsewhere.room > 0)
    }

    /// Adds what has happened. A killed run keeps it; what the machine keeps when its power fails is
    /// [`Journal::sync`]'s.
    ///
    /// Returns the bytes that went to the device of the record.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&mut self, news: JournalEntry) -> Result<Bytes, Fault> {
        let line = line(&news).map_err(|error| self.fault(Doing::Write, &error))?;
        if self.is_elsewhere() && self.elsewhere.as_mut().is_some_and(|file| file.add(&line)) {
            return Ok(Bytes::ZERO);
        }
        let Some(file) = &mut self.file else { return Ok(Bytes::ZERO) };
        file.write_all(&line).map_err(|error| self.fault(Doing::Write, &error))?;
        Ok(Bytes(line.len() as u64))
    }

    /// Makes durable what was added.
    ///
    /// # Errors
    /// When that fails.
    pub fn sync(&self) -> Result<(), Fault> {
        let synced = self.file.as_ref().map_or(Ok(()), File::sync_data);
        synced.map_err(|error| self.fault(Doing::Fdatasync, &error))
    }

    /// Puts the whole document in its place, whole or not at all.
    ///
    /// # Errors
    /// When it cannot be written; what has grown so far stands then.
    pub fn finish(self, record: &Record) -> Result<(), Fault> {
        let document = RecordDocument::of(record);
        self.place.replace(|out| document.write(out))?;
        if let Some(elsewhere) = &self.elsewhere {
            // What stays is told with all else that does.
            let _ = remove_file(&elsewhere.path, false);
        }
        Ok(())
    }

    fn fault(&self, doing: Doing, error: &std::io::Error) -> Fault {
        Fault::new(doing, self.place.path().to_text(), error)
    }
}

/// What a journal gains while another process writes it, wherever it goes.
#[derive(Debug)]
pub struct JournalTail {
    main: GrowingFile,
    elsewhere: Option<GrowingFile>,
}

impl JournalTail {
    /// Of the record that grows in this file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of(path: &Path) -> io::Result<Self> {
        Ok(Self { main: GrowingFile::open(path)?, elsewhere: None })
    }

    /// The whole lines that were added since the last time, in one order, as if all stood in one file.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn more(&mut self) -> io::Result<Vec<u8>> {
        let mut all = match &mut self.elsewhere {
            Some(elsewhere) => elsewhere.whole_lines()?,
            None => Vec::new(),
        };
        for line in self.main.whole_lines()?.split_inclusive(|byte| *byte == b'\n') {
            match goes_on_in(line) {
                Some(mut elsewhere) => {
                    all.extend(elsewhere.whole_lines()?);
                    self.elsewhere = Some(elsewhere);
                }
                None => all.extend(line),
            }
        }
        Ok(all)
    }

    /// Whether another file stands in its place: the whole record.
    pub fn is_replaced(&self, path: &Path) -> bool {
        let own = self.main.file.metadata().map(|file| file.ino());
        !matches!((own, std::fs::metadata(path)), (Ok(own), Ok(found)) if own == found.ino())
    }
}

/// The file that a line names, if it is such a line and the file can be read. Others may be long, and are not parsed.
fn goes_on_in(line: &[u8]) -> Option<GrowingFile> {
    let line = line.starts_with(b"{\"elsewhere\":").then_some(line)?;
    match read_json(std::str::from_utf8(line).ok()?).ok()? {
        JournalEvent::Elsewhere(path) => GrowingFile::open(&path).ok(),
        _ => None,
    }
}

/// A file to which lines are added.
#[derive(Debug)]
struct GrowingFile {
    file: File,
    /// Of a line that has no end yet.
    begun: Vec<u8>,
}

impl GrowingFile {
    fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { file: File::open(path)?, begun: Vec::new() })
    }

    /// Those that have got their end since the last time.
    fn whole_lines(&mut self) -> io::Result<Vec<u8>> {
        self.file.read_to_end(&mut self.begun)?;
        let end = self.begun.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let rest = self.begun.split_off(end);
        Ok(std::mem::replace(&mut self.begun, rest))
    }
}

fn line(what: &impl Serialize) -> std::io::Result<Vec<u8>> {
    let mut line = Vec::new();
    write_json(what, JsonLayout::Line, &mut line)?;
    line.push(b'\n');
    Ok(line)
}

/// A record with what has happened since it began. A last line that has no end is left out: its writer was
/// killed.
///
/// # Errors
/// The number of the line of `since`, from 1, that is none of a record, and why.
pub(super) fn grown(mut record: Record, since: &str) -> Result<Record, (usize, serde_json::Error)> {
    for (number, line) in whole_lines(since) {
        let failed = |error| (number, error);
        let JournalEvent::Elsewhere(path) = read_json(line).map_err(failed)? else {
            grow(&mut record, line).map_err(failed)?;
            continue;
        };
        match kept_elsewhere(&path, &record.run) {
            Ok(text) => {
                for (_, line) in whole_lines(&text) {
                    grow(&mut record, line).map_err(failed)?;
                }
            }
            Err(error) => record.resolved.notes.push(format!(
                "the phases of this record were kept in {}, which cannot be read: {error}",
                path.to_text()
            )),
        }
    }
    Ok(record)
}

/// The lines that were written to their end, with their numbers.
fn whole_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(text.split_inclusive('\n'));
    lines.filter(|(_, line)| line.ends_with('\n') && !line.trim().is_empty())
}

/// Adds what one line says.
fn grow(record: &mut Record, line: &str) -> serde_json::Result<()> {
    match read_json(line)? {
        JournalEvent::Phase(phase) => record.phases.push(*phase),
        JournalEvent::Notes(notes) => record.resolved.notes.extend(notes),
        JournalEvent::Ending(ending) => record.ending = ending,
        // Nothing goes on from there.
        JournalEvent::Elsewhere(_) | JournalEvent::JournalOf(_) => {}
    }
    Ok(())
}

/// What a run has kept in a file of its own. No other file is read, whatever a record names.
fn kept_elsewhere(path: &Path, run: &str) -> io::Result<String> {
    let own = path.file_name().is_some_and(|name| *name == *elsewhere_name(run));
    let none = || io::Error::other("it is no journal of this run");
    let Some(file) = own.then(|| regular(path)).transpose()?.flatten() else { return Err(none()) };
    // More has never been in one, but for its first line.
    text_of_at_most(&file, 2 * ROOM as u64)?.ok_or_else(none)
}

/// Opens a file, if it is a regular one and no link.
fn regular(path: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Err(rustix::io::Errno::LOOP) => return Ok(None),
        opened => File::from(opened?),
    };
    let is_file = file.metadata()?.is_file();
    Ok(is_file.then_some(file))
}

/// The text of a file, if it has no more bytes than that.
fn text_of_at_most(file: &File, most: u64) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    let fits = bytes.len() as u64 <= most;
    Ok(fits.then(|| String::from_utf8_lossy(&bytes).into_owned()))
}

/// So many entries of a folder are looked at: a run does not begin later because of a full one.
const LOOKED_AT: usize = 4096;

/// Bytes of a record in which a journal is put back.
const RECORD: u64 = 64 << 20;

/// How long a journal is kept whose record is nowhere, in seconds: it may have been moved, or its file system may
/// not be mounted now.
const KEPT: i64 = 24 * 60 * 60;

/// Removes the journals that killed runs of this user have left in a folder. What one holds goes into its record
/// before, which has nothing else of that; a journal whose record is nowhere stays for a day. `now` is in seconds
/// since 1970.
pub fn sweep_journals(folder: &Path, now: i64) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten().take(LOOKED_AT) {
        let name = entry.file_name();
        let run = name.to_str().and_then(|it| it.strip_prefix("assay-")?.strip_suffix(".journal"));
        if let Some(run) = run.filter(|run| is_run(run)) {
            // What cannot be read is left to itself.
            let _ = sweep_journal(&entry.path(), run, now);
        }
    }
}

/// Removes one journal, if it is what its name says, nobody writes it any more, and nobody needs it.
fn sweep_journal(path: &Path, run: &str, now: i64) -> io::Result<()> {
    let Some(file) = regular(path)? else { return Ok(()) };
    let own = rustix::process::geteuid().as_raw();
    let ours = |file: &File| Ok::<_, io::Error>(file.metadata()?.uid() == own);
    let alone = file.metadata()?.nlink() == 1;
    if !alone || !ours(&file)? || flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(());
    }
    let Some(text) = text_of_at_most(&file, 2 * ROOM as u64)? else { return Ok(()) };
    let first = whole_lines(&text).next().map(|(_, line)| read_json::<JournalEvent>(line));
    let Some(Ok(JournalEvent::JournalOf(owner))) = first else { return Ok(()) };
    if owner.run != run || !is_same(path, &file) {
        return Ok(());
    }
    let record = name::path(&owner.record);
    match regular(&record) {
        Ok(Some(found)) if ours(&found)? => {
            let Some(grown) = text_of_at_most(&found, RECORD)? else { return Ok(()) };
            let Ok(whole) = put_back(&grown, &text, path, run) else { return Ok(()) };
            if let Some(whole) = whole {
                let place = OutputPlace::of(&record)
                    .and_then(|place| Ok(place.replace(|out| out.write_all(whole.as_bytes()))?));
                if place.is_err() {
                    return Ok(());
                }
                // Nothing of it is left to be written while something is measured.
                File::open(&record)?.sync_data()?;
            }
        }
        _ if now - file.metadata()?.mtime() < KEPT => return Ok(()),
        _ => {}
    }
    // What stays is told with all else that does.
    let _ = remove_file(path, true);
    Ok(())
}

/// The text of a record with its journal in the place of the line that names it; `None` where that record is
/// another run's by now, is whole, or names no journal.
///
/// # Errors
/// What cannot be read, as a record of a newer version.
fn put_back(
    record: &str,
    journal: &str,
    path: &Path,
    run: &str,
) -> Result<Option<String>, serde_json::Error> {
    let (begun, since): (Record, _) = read_first(record)?;
    if begun.run != run || begun.ending != Ending::Unfinished {
        return Ok(None);
    }
    let head = &record[..record.len() - since.len()];
    let mut whole = String::from(head.trim_end()) + "\n";
    let mut found = false;
    for (_, line) in whole_lines(since) {
        match read_json(line) {
            Ok(JournalEvent::Elsewhere(named)) if named == path => {
                found = true;
                let of_run = whole_lines(journal).skip(1).map(|(_, line)| line);
                whole.extend(of_run);
            }
            _ => whole += line,
        }
    }
    Ok(found.then_some(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record that has only begun, and a phase of it.
    fn begun() -> (Record, PhaseRecord) {
        let kept = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests/records/t00-counters-unseen.json");
        let mut record = super::super::load(&kept).expect("a record");
        let phase = record.phases.as_mut_vec().remove(0);
        record.phases.as_mut_vec().clear();
        record.ending = Ending::Unfinished;
        (record, phase)
    }

    fn place(path: &Path) -> OutputPlace {
        OutputPlace::of(path).expect("a place")
    }

    #[test]
    fn what_does_not_fit_elsewhere_follows_beside_the_record() {
        let desk = tempfile::tempdir().expect("a desk");
        let (path, folder) = (desk.path().join("record.json"), desk.path().join("memory"));
        std::fs::create_dir(&folder).expect("a folder");
        let (record, phase) = begun();
        let nowhere = desk.path().join("none");
        let mut journal =
            Journal::begin(place(&path), &record, &[nowhere, folder.clone()]).expect("begun");
        let other = folder.join(elsewhere_name(&record.run));
        let size = || std::fs::metadata(&path).expect("there").len();
        let before = size();
        assert_eq!(journal.add(JournalEntry::Phase(&phase)), Ok(Bytes::ZERO));
        assert_eq!((size(), journal.is_elsewhere()), (before, true));
        // A line that was begun there, and did not fit.
        journal.elsewhere.as_mut().expect("elsewhere").file.write_all(b"{\"pha").expect("written");
        journal.elsewhere.as_mut().expect("elsewhere").room = 10;
        let added = journal.add(JournalEntry::Phase(&phase)).expect("added");
        assert_eq!((size() - before, journal.is_elsewhere()), (added.0, false));
        journal.add(JournalEntry::Ending(&Ending::Interrupted(2))).expect("added");

        let read = super::super::load(&path).expect("a record");
        assert_eq!((read.phases.len(), read.ending), (2, Ending::Interrupted(2)));
        // Where that file has gone, the rest is there, and it is said.
        let hidden = folder.join("hidden");
        std::fs::rename(&other, &hidden).expect("renamed");
        let read = super::super::load(&path).expect("a record");
        assert_eq!(read.phases.len(), 1);
        assert!(read.resolved.notes.last().is_some_and(|note| note.contains("memory/assay-")));
        std::fs::rename(&hidden, &other).expect("renamed");
        journal.finish(&Record { phases: vec![phase].into(), ..record }).expect("finished");
        assert!(!other.exists());
        assert_eq!(super::super::load(&path).expect("a record").phases.len(), 1);
    }

    #[test]
    fn a_record_has_all_while_its_journal_is_put_back() {
        let desk = tempfile::tempdir().expect("a desk");
        let (path, folder) = (desk.path().join("record.json"), desk.path().join("memory"));
        std::fs::create_dir(&folder).expect("a folder");
        let (mut record, phase) = begun();
        record.run = "0".repeat(26);
        for _ in 0..200 {
            let folders = std::slice::from_ref(&folder);
            let mut journal = Journal::begin(place(&path), &record, folders).expect("begun");
            journal.add(JournalEntry::Phase(&phase)).expect("added");
            drop(journal);
            std::thread::scope(|scope| {
                scope.spawn(|| sweep_journals(&folder, 0));
                for _ in 0..4 {
                    let read = super::super::load(&path).expect("a record");
                    assert_eq!(read.phases.len(), 1);
                }
            });
            assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 0);
        }
    }

    #[test]
    fn a_journal_is_followed_while_it_grows() {
        let desk = tempfile::tempdir().expect("a desk");
        let path = desk.path().join("record.json");
        let (record, phase) = begun();
        let folders = [desk.path().to_path_buf()];
        let mut journal = Journal::begin(place(&path), &record, &folders).expect("begun");
        let mut tail = JournalTail::of(&path).expect("followed");
        let mut home = tail.more().expect("read");
        journal.add(JournalEntry::Phase(&phase)).expect("added");
        journal.elsewhere.as_mut().expect("elsewhere").file.write_all(b"{\"pha").expect("written");
        home.extend(tail.more().expect("read"));
        // What was begun there has no end, and stands here.
        journal.elsewhere.as_mut().expect("elsewhere").room = 0;
        journal.add(JournalEntry::Phase(&phase)).expect("added");
        home.extend(tail.more().expect("read"));
        let there = desk.path().join("home.json");
        std::fs::write(&there, &home).expect("written");
        let read = super::super::load(&there).expect("a record");
        assert_eq!((read.phases.len(), &read.ending), (2, &Ending::Unfinished));
        assert!(!tail.is_replaced(&path));
        journal.finish(&record).expect("finished");
        assert!(tail.is_replaced(&path));
        assert_eq!(tail.more().expect("read"), b"");
    }

    #[test]
    fn a_run_in_which_nothing_happened_leaves_nothing_elsewhere() {
        let desk = tempfile::tempdir().expect("a desk");
        let folder = desk.path().join("memory");
        std::fs::create_dir(&folder).expect("a folder");
        let path = desk.path().join("record.json");
        drop(
            Journal::begin(place(&path), &begun().0, std::slice::from_ref(&folder)).expect("begun"),
        );
        assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 0);
    }

    #[test]
    fn no_file_is_read_but_one_of_the_run() {
        let desk = tempfile::tempdir().expect("a desk");
        let (record, phase) = begun();
        let line = line(&JournalEntry::Phase(&phase)).expect("a line");
        let other = desk.path().join("assay-other.journal");
        std::fs::write(&other, line).expect("written");
        for path in [other.as_path(), Path::new("/dev/zero")] {
            let since = format!("{}\n", serde_json::json!({ "elsewhere": path }));
            let read = grown(record.clone(), &since).expect("a record");
            assert!(read.phases.is_empty());
            assert!(read.resolved.notes.last().is_some_and(|note| note.contains("no journal")));
        }
    }
}
