//! Plans and records from files, as this version has them.

use std::path::Path;

use assay_judge as verdict;
use assay_plan::error::{Error, Refusal};
use assay_plan::name::NameText as _;
use assay_plan::plan::Plan;
use assay_record::record::console::{self, ConsoleLog};
use assay_record::record::{self, Record, document_file};

/// A plan from a file.
pub fn read_plan(path: &Path) -> Result<Plan, Error> {
    let shown = path.to_text();
    if !path.exists() {
        return Err(Refusal::new(
            format!("there is no plan at '{shown}'"),
            "write one with 'assay quick PATH --plan'",
        )
        .into());
    }
    plan_of(&record::text_of(path, "a plan", "'assay schema plan' describes it")?, &shown)
}

/// A plan from a text; `shown` says where that stands.
pub fn plan_of(text: &str, shown: &str) -> Result<Plan, Error> {
    if record::is_record(text) {
        return Err(Refusal::new(
            format!("'{shown}' is a record, not a plan"),
            format!("judge it with 'assay judge {shown}'; 'assay quick PATH --plan' writes a plan"),
        )
        .into());
    }
    record::read_json(text).map_err(|error| {
        // serde says where once more at the end of its sentence.
        let why = error.to_string();
        let why = why.split(" at line ").next().unwrap_or_default();
        Refusal {
            place: format!("{shown}:{}:{}", error.line(), error.column()),
            why: format!("not a plan: {why}"),
            instead: "'assay schema plan' describes it".into(),
        }
        .into()
    })
}

/// A record from a file.
pub fn read_record(path: &Path) -> Result<Record, Error> {
    if path.exists() {
        return record::load(path);
    }
    Err(absent(path))
}

/// What can be given for a record.
const INSTEAD: &str = "give a file that --record or ASSAY_RECORD wrote";

fn absent(path: &Path) -> Error {
    Refusal::new(format!("there is no record at '{}'", path.to_text()), INSTEAD).into()
}

/// A record from a file, from the log of a console, or from standard input (`-`); with the verdicts that today's
/// rules give, and the numbers of damaged lines of the log.
pub fn read_judged_log(path: &Path) -> Result<(Record, Vec<usize>), Error> {
    let input = path == Path::new("-");
    let shown = if input { "standard input".into() } else { path.to_text() };
    let kind = "a record";
    let bytes = match input {
        true => document_file::all_of_input(),
        false if !path.exists() => return Err(absent(path)),
        false => document_file::bytes_of(path),
    };
    let bytes = bytes.map_err(|error| record::unread(error, &shown, kind, INSTEAD))?;
    let log =
        if console::is_log(&bytes) { console::read_log(&bytes) } else { ConsoleLog::default() };
    let text = match log.document {
        Some(Ok(text)) => text,
        Some(Err(why)) => {
            let damaged: Vec<String> = log.damaged.iter().map(ToString::to_string).collect();
            let why = match damaged.as_slice() {
                [] => why,
                some => format!("{why}; damaged lines of the log: {}", some.join(", ")),
            };
            let instead =
                "add another copy to the log: 'assay judge --checksummed RECORD' prints it";
            return Err(Refusal { place: shown, why, instead: instead.into() }.into());
        }
        None if input => {
            record::text_from(bytes, &shown, kind, "give it a record, or the log of a console")?
        }
        None => record::text_from(bytes, &format!("'{shown}'"), kind, INSTEAD)?,
    };
    Ok((judged_of(&text, &shown)?, log.damaged))
}

/// A record from a text, with the verdicts that today's rules give; `shown` says where that stands.
pub fn judged_of(text: &str, shown: &str) -> Result<Record, Error> {
    let mut record = record::of_text(text, shown)?;
    verdict::judge(&mut record);
    Ok(record)
}
