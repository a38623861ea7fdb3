//! Rows of what this machine can not make happen: kept records judged anew, traps that are prevented,
//! and those that nobody judges yet.

use std::path::{Path, PathBuf};

use assay::record::Record;
use assay::verdict::catalogue::{Standing, UNRULED};
use assay::verdict::{RULES, judge};

use crate::row::{Row, word};

/// A row for each rule that has none yet, by its record; and for each trap without a rule.
pub fn rows(made: &[Row]) -> Vec<Row> {
    let without = |id: &str| !made.iter().any(|row| row.trap == id);
    let mut rules: Vec<&str> = RULES.iter().map(|rule| rule.id).filter(|id| without(id)).collect();
    rules.dedup();
    let records = rules.into_iter().flat_map(of_records);
    let unruled = UNRULED.iter().filter(|trap| without(trap.id)).filter_map(|trap| {
        Some(match &trap.standing {
            // Somebody else finds it, and a case must show that.
            Standing::Under { .. } => return None,
            Standing::Prevented { shown, .. } => {
                Row::told(trap.id, format!("prevented: {shown}"), "-")
            }
            Standing::NotJudged(needs) => Row::told(trap.id, *needs, "not judged yet"),
        })
    });
    records.chain(unruled).collect()
}

/// The records kept of a trap, each with what is said of it.
fn of_records(id: &str) -> Vec<Row> {
    let (start, near) = (format!("{}-", id.to_lowercase()), "nearly-");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .expect("the kept records")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| name(path).starts_with(&start))
        .collect();
    files.sort();
    files
        .iter()
        .map(|path| of_record(id, path, name(path)[start.len()..].starts_with(near)))
        .collect()
}

fn of_record(id: &str, path: &Path, nearly: bool) -> Row {
    let text = std::fs::read_to_string(path).expect("a record");
    let mut record: Record = serde_json::from_str(&text).expect("a record");
    judge(&mut record);
    let verdict = record.verdict.expect("judged");
    let named = verdict.findings.iter().any(|finding| finding.trap.0 == id);
    assert_eq!(named, !nearly, "{}: {verdict:#?}", path.display());
    let silent = if nearly { format!(", no {id}") } else { String::new() };
    let how = format!("record {}", name(path).trim_end_matches(".json"));
    Row::told(id, how, format!("{}{silent}", word(&verdict)))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records")
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
