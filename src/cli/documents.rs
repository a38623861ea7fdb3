//! Plans and records from files, as this version has them.

use std::path::Path;

use super::earlier;
use crate::error::{Error, Refusal};
use crate::name::NameText as _;
use crate::plan::Plan;
use crate::record::{self, Record};
use crate::verdict;

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
    let text = record::text_of(path, "a plan", "'assay schema plan' describes it")?;
    if record::is_record(&text) {
        return Err(Refusal::new(
            format!("'{shown}' is a record, not a plan"),
            format!("judge it with 'assay judge {shown}'; 'assay quick PATH --plan' writes a plan"),
        )
        .into());
    }
    serde_json::from_str(&text).map(earlier::completed).map_err(|error| {
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
        let record = record::load(path)?;
        return Ok(Record { plan: earlier::completed(record.plan), ..record });
    }
    Err(Refusal::new(
        format!("there is no record at '{}'", path.to_text()),
        "give a file that --record or ASSAY_RECORD wrote",
    )
    .into())
}

/// A record from a file, with the verdicts that today's rules give.
pub fn read_judged(path: &Path) -> Result<Record, Error> {
    let mut record = read_record(path)?;
    verdict::judge(&mut record);
    Ok(record)
}
