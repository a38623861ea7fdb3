//! The record on disk: where it may stand, and how it is read, whole or while it grows.

use std::convert::Infallible;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::Deserializer as _;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::Deserializer;
use serde_json::de::Read;

use super::document_file;
use super::journal::{Journal, grown};
use super::json_read::{read_first, read_json};
use super::{Ending, Record, SCHEMA};
use assay_engine::output::{OutputKind, OutputPlace, create_new};
use assay_plan::error::{Doing, Error, Fault, Refusal};
use assay_plan::name::NameText as _;

/// Where a record is kept while it grows.
#[derive(Debug)]
pub struct RecordSink {
    place: OutputPlace,
}

impl RecordSink {
    /// A record at this path, or in this folder in a file of its own: `name.json`, `name-2.json`... The
    /// place is tried at once, so that a run does not find out at its end that it cannot be kept. A link to a record
    /// stays a link; a terminal or a pipe gets the whole record at the end.
    ///
    /// # Errors
    /// When the file cannot be made, or something that is no record stands there; and as [`OutputPlace::of`].
    pub fn at(path: &Path, name: &str) -> Result<Self, Error> {
        let place = OutputPlace::of(path)?.replaceable()?;
        match place.kind() {
            OutputKind::Folder => {
                return Ok(Self { place: OutputPlace::of(&fresh(path, name)?)? });
            }
            OutputKind::File(bytes) if bytes > 0 && !holds_record(place.path()) => {
                return Err(Refusal::new(
                    format!("{} is there and is no record of assay", path.to_text()),
                    "name another file, or remove it first",
                )
                .into());
            }
            OutputKind::New => {
                create_new(place.path(), 0o666)
                    .map_err(|error| Fault::new(Doing::Create, path.to_text(), &error))?;
            }
            OutputKind::File(_) | OutputKind::Stream(_) => {}
        }
        Ok(Self { place: place.held()? })
    }

    /// Where it stands.
    pub fn path(&self) -> &Path {
        self.place.path()
    }

    /// Puts there the record of a run that begins, to grow from now on: in the first of the folders where
    /// it can, and without one beside its name.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(self, record: &Record, folders: &[PathBuf]) -> Result<Journal, Fault> {
        Journal::begin(self.place, record, folders)
    }
}

/// A file in the folder that nothing had.
fn fresh(folder: &Path, name: &str) -> Result<PathBuf, Fault> {
    let numbered = |number: u32| match number {
        1 => folder.join(format!("{name}.json")),
        more => folder.join(format!("{name}-{more}.json")),
    };
    let mut number = 1;
    loop {
        let path = numbered(number);
        match create_new(&path, 0o666) {
            Ok(_) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(error) => {
                return Err(Fault::new(Doing::Create, path.to_text(), &error));
            }
        }
    }
}

/// Reads a record, also one that is still growing or was left so.
///
/// # Errors
/// A [`Refusal`] that says where the document stops making sense, or a [`Fault`] when the file
/// cannot be read.
pub fn load(path: &Path) -> Result<Record, Error> {
    let file = || std::fs::metadata(path).map_or(0, |file| file.ino());
    let read = || of_text(&text_of(path, "a record", INSTEAD)?, &path.to_text());
    let before = file();
    let record = read()?;
    // The journal that it named goes away as soon as another file, which holds all, stands in its place.
    if file() == before { Ok(record) } else { read() }
}

/// What can be given for a record.
const INSTEAD: &str = "give a file that --record or ASSAY_RECORD wrote";

/// Reads a record from a text; `shown` says where that stands.
///
/// # Errors
/// As [`load`].
pub fn of_text(text: &str, shown: &str) -> Result<Record, Error> {
    let refused = |error: serde_json::Error| {
        // serde says where once more at the end of its sentence.
        let why = error.to_string();
        let why = why.split(" at line ").next().unwrap_or_default();
        let place = match error.line() {
            0 => shown.to_string(),
            line => format!("{shown}:{line}:{}", error.column()),
        };
        Refusal { place, why: format!("not a record: {why}"), instead: INSTEAD.into() }
    };
    let schema = schema_of(&mut Deserializer::from_str(text)).map_err(refused)?;
    let mut record: Record = match &*schema {
        SCHEMA => {
            let (begun, since): (Record, _) = read_first(text).map_err(refused)?;
            match begun.ending {
                // It has grown since it was begun.
                Ending::Unfinished => grown(begun, since).map_err(|(line, error)| Refusal {
                    place: format!("{shown}:{line}:{}", error.column()),
                    ..refused(error)
                })?,
                _ if since.trim().is_empty() => begun,
                // What is over has nothing behind it.
                _ => read_json(text).map_err(refused)?,
            }
        }
        other => {
            return Err(Refusal {
                place: shown.to_string(),
                why: format!("its schema is '{other}'; this program reads '{SCHEMA}'"),
                instead: "judge it with the version that made it".into(),
            }
            .into());
        }
    };
    // Others may have written them in another order.
    record.resolved.jobs.sort_by_key(|job| job.phase);
    if let Some((number, found)) = uncountable(&record) {
        return Err(Refusal {
            place: shown.to_string(),
            why: format!("not a record: phases[{number}] counts to {found}, which no machine does"),
            instead: INSTEAD.into(),
        }
        .into());
    }
    if record.hosts.is_empty() {
        return Err(Refusal {
            place: shown.to_string(),
            why: "not a record: it has no host".into(),
            instead: INSTEAD.into(),
        }
        .into());
    }
    Ok(record)
}

/// The first phase in which something is counted that cannot have been, and what. Sums of what can have been never
/// overflow: of the samples of a document each is less than 2^43, of which there are fewer than 2^20.
fn uncountable(record: &Record) -> Option<(usize, u64)> {
    const SAMPLE: u64 = 1 << 43;
    const TOTAL: u64 = 1 << 50;
    record.phases.stream().enumerate().find_map(|(number, phase)| {
        let sampled = phase.series.points.iter().flat_map(|point| {
            let seen = [point.device_read_bytes, point.device_write_bytes, point.top_write_bytes];
            let own = [point.ops, point.read_bytes, point.write_bytes];
            own.into_iter().chain(seen.into_iter().flatten())
        });
        let beyond = sampled.filter(|found| *found > SAMPLE).max();
        let totals = phase.jobs.iter().flat_map(|job| job.totals.values());
        let totals = totals.chain(phase.totals.values());
        let counted = totals.flat_map(|total| {
            let cells = total.histogram.iter().map(|cell| cell.1);
            cells.chain([total.errors, total.short, total.mismatches, total.ops.0])
        });
        let found = beyond.or_else(|| counted.filter(|found| *found > TOTAL).max())?;
        Some((number, found))
    })
}

/// Whether a record stands there: a long one is not taken into memory for that.
fn holds_record(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let schema = schema_of(&mut Deserializer::from_reader(BufReader::new(file)));
    schema.is_ok_and(|schema| schema == SCHEMA)
}

/// The schema that a document names. Nothing behind it is read, and records of whatever version begin with it.
///
/// # Errors
/// When it is no JSON up to there, or names none.
fn schema_of<'de, R: Read<'de>>(document: &mut Deserializer<R>) -> serde_json::Result<String> {
    let mut schema = None;
    let Err(stopped) = document.deserialize_map(SchemaVisitor(&mut schema));
    schema.ok_or(stopped)
}

/// Keeps the schema of a map, and stops there.
struct SchemaVisitor<'a>(&'a mut Option<String>);

impl<'de> Visitor<'de> for SchemaVisitor<'_> {
    type Value = Infallible;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a document")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Infallible, A::Error> {
        while let Some(name) = entries.next_key::<String>()? {
            if name == "schema" {
                *self.0 = Some(entries.next_value()?);
                return Err(A::Error::custom("nothing more is read"));
            }
            entries.next_value::<IgnoredAny>()?;
        }
        Err(A::Error::missing_field("schema"))
    }
}

/// The text of a document of that `kind` ("a record"); `instead` says what to give.
///
/// # Errors
/// A [`Refusal`] when a folder, an empty file or one that is no text stands there, or a [`Fault`]
/// when it cannot be read.
pub fn text_of(path: &Path, kind: &str, instead: &str) -> Result<String, Error> {
    let shown = path.to_text();
    let bytes =
        document_file::bytes_of(path).map_err(|error| unread(error, &shown, kind, instead))?;
    text_from(bytes, &format!("'{shown}'"), kind, instead)
}

/// Why a document of that `kind` was not read.
pub fn unread(error: io::Error, shown: &str, kind: &str, instead: &str) -> Error {
    let refused = |what: &str| Refusal::new(format!("'{shown}' is {what}, not {kind}"), instead);
    match error.kind() {
        ErrorKind::IsADirectory => refused("a folder").into(),
        ErrorKind::InvalidInput => refused("no regular file").into(),
        ErrorKind::NotFound => {
            Refusal::new(format!("there is nothing at '{shown}'"), instead).into()
        }
        ErrorKind::FileTooLarge => Refusal::new(format!("'{shown}' is {error}"), "").into(),
        _ => Fault::new(Doing::Read, shown, &error).into(),
    }
}

/// The text of a document, from its bytes; `shown` is what they are called.
///
/// # Errors
/// A [`Refusal`] when they are empty or no text.
pub fn text_from(
    mut bytes: Vec<u8>,
    shown: &str,
    kind: &str,
    instead: &str,
) -> Result<String, Error> {
    let refused =
        |what: &str| Error::from(Refusal::new(format!("{shown} is {what}, not {kind}"), instead));
    // Whoever wrote it was killed in the middle of a sign.
    if let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    let text = String::from_utf8(bytes).map_err(|_| refused("no text"))?;
    if text.trim().is_empty() {
        return Err(refused("empty"));
    }
    Ok(text)
}

/// Whether a text is a record, of whatever version; one that is still growing too.
pub fn is_record(text: &str) -> bool {
    let schema = schema_of(&mut Deserializer::from_str(text));
    schema.is_ok_and(|schema| schema.starts_with("assay.record/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_read_behind_the_schema() {
        for (text, found) in [
            (r#"{"schema": "assay.record/2", "plan": {"#, true),
            (r#" {"a": [{}], "schema": "assay.record/1"}"#, true),
            (r#"{"schema": "assay.plan/1"}"#, false),
            (r#"{"schema": 2}"#, false),
            (r#"{"a": 1}"#, false),
            (r#"[{"schema": "assay.record/2"}]"#, false),
            ("", false),
        ] {
            assert_eq!(is_record(text), found, "{text}");
        }
        let said = |text: &str| match of_text(text, "a.json") {
            Err(Error::Refusal(refusal)) => format!("{}: {}", refusal.place, refusal.why),
            other => panic!("{other:?}"),
        };
        assert_eq!(said(r#"{"a": 1}"#), "a.json:1:8: not a record: missing field `schema`");
        assert_eq!(
            said("[1]"),
            "a.json:1:0: not a record: invalid type: sequence, expected a document"
        );
    }
}
