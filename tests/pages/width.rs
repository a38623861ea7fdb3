//! Pages at the widths of terminals: each verb's at 60, 80 and 120 columns, compared with files, and every
//! kept record at each of them. `ASSAY_BLESS=1 cargo test --test pages -- width` writes the files anew.
//!
//! `io`, `watch`, `compare`, `probe`, `explain` and `demo` have theirs beside their other pages.

use std::path::Path;

use assay::report::TerminalStyle;
use assay_record::record::Record;

use crate::common;
use crate::common::pages::{WIDTHS, fits, golden_at_widths, page, printed};
use crate::common::{classes, grids, modes, sweeps};

/// A record that was kept.
fn kept(name: &str) -> Record {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records").join(name);
    let mut record = assay_record::record::load(&path).expect("a record");
    assay_judge::judge(&mut record);
    record
}

/// Every kept record, and those that are made by hand, each with its name.
fn all() -> Vec<(String, Record)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut all = Vec::new();
    for kept in ["records", "runs"] {
        for entry in std::fs::read_dir(folder.join(kept)).expect("a folder") {
            let path = entry.expect("an entry").path();
            let record = assay_record::record::load(&path);
            all.extend(record.ok().map(|mut record| {
                assay_judge::judge(&mut record);
                (path.display().to_string(), record)
            }));
        }
    }
    assert!(all.len() > 100);
    for (name, record) in [
        ("card", common::card()),
        ("fast", common::fast()),
        ("deferred", common::deferred()),
        ("memory", common::memory()),
        ("interrupted", common::interrupted()),
        ("failed", common::failed()),
        ("ramp", common::climbed()),
        ("sustain", common::sustained()),
        ("classes", classes::graded()),
        ("capacity", classes::wrapped()),
        ("modes", modes::record(modes::usual)),
        ("sweep", sweeps::swept()),
        ("grid", sweeps::grid()),
        ("surface", grids::surface()),
    ] {
        all.push((name.into(), record));
    }
    all
}

#[test]
fn every_verb_fits() {
    for (name, record) in [
        ("quick", common::fast()),
        ("sweep", sweeps::swept()),
        ("sweep-grid", sweeps::grid()),
        ("ramp", common::climbed()),
        ("sustain", common::sustained()),
        ("modes", modes::record(modes::usual)),
        ("card", classes::graded()),
        ("capacity", classes::wrapped()),
        ("judge", kept("t51-cpu-bound.json")),
    ] {
        golden_at_widths(name, |style| page(&record, style));
    }
}

/// Cells of the table of phases that people read, row by row: of each its column and its text.
fn rows(record: &Record) -> Vec<Vec<(String, String)>> {
    let table = printed(record, "markdown", TerminalStyle::default());
    let mut lines = table.lines().skip_while(|line| !line.starts_with("| phase |"));
    let cells = |line: &str| -> Vec<String> {
        let inside = line.trim_start_matches("| ").trim_end_matches(" |");
        let plain = |cell: &str| cell.trim().trim_matches('~').replace('\\', "");
        inside.split(" | ").map(plain).collect()
    };
    let Some(titles) = lines.next().map(cells) else { return Vec::new() };
    let rows = lines.skip(1).take_while(|line| line.starts_with('|'));
    rows.map(|row| titles.iter().cloned().zip(cells(row)).collect()).collect()
}

/// Asserts that each row has all its cells but for those that are said to be left out, apart from each
/// other.
fn apart(name: &str, record: &Record, page: &str) {
    let left_out: String = page.lines().filter(|line| line.contains("not shown at")).collect();
    let several = |phase: &str, rows: &[Vec<(String, String)>]| {
        let at = rows.iter().position(|row| row[0].1 == phase).unwrap_or_default();
        rows.get(at + 1).is_some_and(|row| row[0].1.is_empty())
    };
    let rows = rows(record);
    let mut rest = page.lines().skip_while(|line| !line.trim_start().starts_with("MB/s"));
    rest.next();
    let mut rest: String = rest.map(|line| format!("{line}\n")).collect();
    for row in &rows {
        let phase = &row[0].1;
        let mut texts: Vec<(String, bool)> = match (phase.is_empty(), several(phase, &rows)) {
            (true, _) => vec![(row[1].1.clone(), true)],
            (false, true) => vec![(format!("{phase} {}", row[1].1), true)],
            (false, false) => vec![(phase.clone(), true)],
        };
        for (title, text) in &row[2..] {
            let shape = title == "block, depth";
            let known = if shape { "block and depth" } else { title };
            if title != "verdict" && !left_out.contains(known) && !text.is_empty() {
                texts.push((text.clone(), shape));
            }
        }
        let mut apart = 0;
        for (text, word) in texts {
            let at = rest.find(&text).unwrap_or_else(|| panic!("{name}: no '{text}'\n{page}"));
            let before = &rest[..at];
            let blanks = before.len() - before.trim_end_matches([' ', '\n']).len();
            assert!(before.trim().is_empty() || before.contains('\n'), "{name}: {before}\n{page}");
            assert!(blanks >= apart || before.contains('\n'), "{name}: '{text}'\n{page}");
            rest = rest.split_off(at + text.len());
            let behind = rest.starts_with([' ', '\n']) || rest.is_empty();
            assert!(behind, "{name}: '{text}'\n{page}");
            apart = if word { 2 } else { 1 };
        }
    }
}

#[test]
fn no_line_of_any_kept_record_is_too_wide_and_no_two_cells_touch() {
    for (name, record) in all() {
        let own = ["modes", "sweep", "grid"].contains(&name.as_str());
        for width in WIDTHS {
            for unicode in [true, false] {
                let style = TerminalStyle { colour: false, unicode, width };
                let page = page(&record, style);
                fits(&name, &page, width);
                // Other spellings of the same figures are on the page in ASCII.
                if unicode && !own {
                    apart(&name, &record, &page);
                }
            }
        }
    }
}
