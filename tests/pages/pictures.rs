//! Reports with pictures: SVG, HTML and CSV of records made by hand, compared whole with files.

use crate::common;
use crate::common::pages::{UNICODE, golden_file, printed};
use crate::common::sweeps::{grid, swept};
use assay::record::Record;

/// Records that show something of their own, by their names.
fn records() -> Vec<(&'static str, Record)> {
    vec![
        ("card", common::card()),
        ("deferred", common::deferred()),
        ("memory", common::memory()),
        ("interrupted", common::interrupted()),
        ("failed", common::failed()),
        ("ramp", common::climbed()),
        ("sustain", common::sustained()),
        ("classes", common::classes::graded()),
        ("capacity", common::classes::wrapped()),
        ("modes", common::modes::record(common::modes::usual)),
        ("sweep", swept()),
        ("grid", grid()),
    ]
}

/// The record of that name in a format.
fn shown(name: &str, format: &str) -> String {
    let all = records();
    let (_, record) = all.iter().find(|(known, _)| *known == name).expect("a record");
    printed(record, format, UNICODE)
}

#[test]
fn reports_are_as_they_were() {
    for (name, formats) in [
        ("sweep", &["svg", "html", "csv"][..]),
        ("grid", &["svg", "csv"]),
        ("ramp", &["svg"]),
        ("sustain", &["svg"]),
        ("deferred", &["svg", "html", "csv"]),
        ("card", &["csv"]),
        ("interrupted", &["html"]),
    ] {
        for format in formats {
            golden_file("report", &format!("{name}.{format}"), &shown(name, format));
        }
    }
}
