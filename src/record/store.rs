//! The record on disk: written phase by phase, so that a run that dies leaves what it had.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::{Record, SCHEMA};
use crate::error::{Error, Fault, Refusal};
use crate::evidence::folder_of;

/// Where a record is kept while it grows.
#[derive(Debug)]
pub struct Sink {
    path: PathBuf,
}

impl Sink {
    /// A record at this path, or in this folder in a file of its own: `name.json`, `name-2.json`... The
    /// place is tried at once, so that a run does not find out at its end that it can not be kept.
    ///
    /// # Errors
    /// When the file can not be made, or something that is no record stands there.
    pub fn at(path: &Path, name: &str) -> Result<Self, Error> {
        let there = std::fs::metadata(path).ok();
        if there.as_ref().is_some_and(|there| there.is_dir()) {
            return Ok(Self { path: fresh(path, name)? });
        }
        // Keeping replaces what has this name: never a device or a pipe.
        if there.as_ref().is_some_and(|there| !there.is_file()) {
            return Err(Refusal::new(
                format!("{} is no regular file", path.display()),
                "name a file or a folder",
            )
            .into());
        }
        if there.is_some_and(|there| there.len() > 0) && load(path).is_err() {
            return Err(Refusal::new(
                format!("{} is there and is no record of assay", path.display()),
                "name another file, or remove it first",
            )
            .into());
        }
        let folder = folder_of(path);
        if !folder.is_dir() {
            return Err(Refusal::new(
                format!("the folder of {} does not exist", path.display()),
                "make it first, or name another file",
            )
            .into());
        }
        let opened = OpenOptions::new().append(true).create(true).open(path);
        opened.map_err(|error| Fault::new("create", path.display().to_string(), &error))?;
        Ok(Self { path: path.to_path_buf() })
    }

    /// Replaces the document by this one, whole or not at all.
    ///
    /// # Errors
    /// When it can not be written.
    pub fn keep(&self, record: &Record) -> Result<(), Fault> {
        let mut text = serde_json::to_vec_pretty(record)
            .map_err(|error| Fault::new("write", self.path.display().to_string(), &error.into()))?;
        text.push(b'\n');
        replace(&self.path, &text)
    }
}

/// Writes a file whole or not at all: what had this name is there until the new one is complete.
///
/// # Errors
/// When it can not be written.
pub fn replace(path: &Path, text: &[u8]) -> Result<(), Fault> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.new", std::process::id()));
    let fresh = path.with_file_name(name);
    let written = std::fs::write(&fresh, text).and_then(|()| std::fs::rename(&fresh, path));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&fresh);
        Fault::new("write", path.display().to_string(), &error)
    })
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
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(_) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(Fault::new("create", path.display().to_string(), &error)),
        }
    }
}

/// Reads a record.
///
/// # Errors
/// A [`Refusal`] that says where the document stops making sense, or a [`Fault`] when the file
/// can not be read.
pub fn load(path: &Path) -> Result<Record, Error> {
    const INSTEAD: &str = "give a file that --record or ASSAY_RECORD wrote";
    let text = text_of(path, "a record", INSTEAD)?;
    let record: Record = serde_json::from_str(&text).map_err(|error| {
        // serde says where once more at the end of its sentence.
        let why = error.to_string();
        let why = why.split(" at line ").next().unwrap_or_default();
        Refusal {
            place: format!("{}:{}:{}", path.display(), error.line(), error.column()),
            why: format!("not a record: {why}"),
            instead: INSTEAD.into(),
        }
    })?;
    if record.schema != SCHEMA {
        return Err(Refusal {
            place: path.display().to_string(),
            why: format!("its schema is '{}'; this program reads '{SCHEMA}'", record.schema),
            instead: "judge it with the version that made it".into(),
        }
        .into());
    }
    Ok(record)
}

/// The text of a document of that `kind` ("a record"); `instead` says what to give.
///
/// # Errors
/// A [`Refusal`] when a folder, an empty file or one that is no text stands there, or a [`Fault`]
/// when it can not be read.
pub fn text_of(path: &Path, kind: &str, instead: &str) -> Result<String, Error> {
    let refused = |what: &str| {
        let why = format!("'{}' is {what}, not {kind}", path.display());
        Error::from(Refusal::new(why, instead))
    };
    let text = std::fs::read_to_string(path).map_err(|error| match error.kind() {
        ErrorKind::IsADirectory => refused("a folder"),
        ErrorKind::InvalidData => refused("no text"),
        _ => Fault::new("read", path.display().to_string(), &error).into(),
    })?;
    if text.trim().is_empty() {
        return Err(refused("empty"));
    }
    Ok(text)
}

/// Whether a text is a record, whole, of whatever version.
pub fn is_record(text: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Head {
        schema: String,
    }
    serde_json::from_str::<Head>(text).is_ok_and(|head| head.schema.starts_with("assay.record/"))
}
