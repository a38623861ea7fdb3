//! Rows of what this machine cannot make happen: kept records judged anew, and traps that are prevented.

use std::path::{Path, PathBuf};

use assay_judge::catalogue::{TrapStanding, UNRULED};
use assay_judge::{RULES, RuleJudge, judge, unlike};
use assay_record::record::Record;

use crate::row::{Row, word};

/// What the record of a trap of two runs is held against: the same run, not doctored.
const OTHER: &str = "t29-nearly-loop-on-fuse.json";

// T41 wants dm-crypt or md. Kernels of small virtual machines have neither, nor modules to load, and
// nothing else below a file system encrypts or keeps parity.

/// A row for each rule that has none yet, by its record; and for each trap without a rule.
pub fn rows(made: &[Row]) -> Vec<Row> {
    let without = |id: &str| !made.iter().any(|row| row.trap == id);
    let mut rules: Vec<&str> =
        RULES.iter().map(|rule| rule.id.name()).filter(|id| without(id)).collect();
    rules.dedup();
    let records = rules.into_iter().flat_map(of_records);
    let unruled = UNRULED.iter().filter(|trap| without(trap.id.name())).filter_map(|trap| {
        Some(match &trap.standing {
            // Somebody else finds it, and a case must show that.
            TrapStanding::Under { .. } => return None,
            TrapStanding::Prevented { shown, .. } => {
                Row::told(trap.id.name(), format!("prevented: {shown}"), "-")
            }
        })
    });
    records.chain(unruled).collect()
}

/// The records kept of a trap that trip it. What nearly does is held against its verdict where they are
/// written (`tests/verdict.rs`).
fn of_records(id: &str) -> Vec<Row> {
    let start = format!("{}-", id.to_lowercase());
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .expect("the kept records")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| name(path).starts_with(&start) && !name(path).contains("-nearly-"))
        .collect();
    files.sort();
    files.iter().map(|path| of_record(id, path)).collect()
}

fn of_record(id: &str, path: &Path) -> Row {
    let mut record = record(path);
    let how = format!("record {}", name(path).trim_end_matches(".json"));
    if RULES.iter().any(|rule| rule.id.name() == id && matches!(rule.judge, RuleJudge::Pair(_))) {
        let found = unlike(&[&self::record(&folder().join(OTHER))], &[&record]);
        assert!(
            found.findings.iter().any(|finding| finding.trap.name() == id),
            "{how}: {found:#?}"
        );
        let alike = if found.runs { "changed" } else { "not comparable" };
        return Row::told(id, format!("{how}, beside another"), alike);
    }
    judge(&mut record);
    let verdict = record.verdict.expect("judged");
    let named = verdict.findings.iter().any(|finding| finding.trap.name() == id);
    assert!(named, "{how}: {verdict:#?}");
    Row::told(id, how, word(&verdict))
}

fn record(path: &Path) -> Record {
    assay_record::record::load(path).expect("a record")
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records")
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
