//! What fio printed is printed again from its own JSON, byte for byte.
//!
//! `tests/fio/printed` has outputs of fio 3.42 with `--output-format=normal,json+,terse`, and the command lines that
//! made them. JSON does not carry how many clones a block is of, its process, and the text of an error: these are
//! read from the head of the block.

mod captured;
mod reading;

use std::path::{Path, PathBuf};

use super::*;
use crate::dialect::fio::FioUnified;
use captured::{Captured, captured};

/// The outputs that are kept.
fn outputs() -> Vec<PathBuf> {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fio/printed");
    let entries = std::fs::read_dir(kept).expect("outputs of fio");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|e| e == "out")).collect();
    paths.sort();
    paths
}

fn each(check: impl Fn(&str, &Captured)) {
    let paths = outputs();
    assert!(paths.len() >= 12, "outputs of fio are kept");
    for path in paths {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("text");
        let reports = captured(&text);
        assert!(!reports.is_empty(), "{name}");
        reports.iter().for_each(|captured| check(&name, captured));
    }
}

/// Fails with the first line that differs.
fn same(what: &str, ours: &str, theirs: &str) {
    for (number, (our, their)) in ours.lines().zip(theirs.lines()).enumerate() {
        assert_eq!(our, their, "\n{what}, line {}", number + 1);
    }
    assert_eq!(ours.len(), theirs.len(), "{what}");
}

/// The directions of `mixed` are put together from numbers of six decimals: the last may differ by some.
fn nearly(what: &str, ours: &str, theirs: &str) {
    let apart = |c: char| !(c.is_ascii_digit() || c == '.');
    let (ours, theirs): (Vec<_>, Vec<_>) =
        (ours.split(apart).collect(), theirs.split(apart).collect());
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (our, their) in ours.iter().zip(&theirs) {
        let near = match (our.parse::<f64>(), their.parse::<f64>()) {
            (Ok(our), Ok(their)) => (our - their).abs() < 4e-6 + their * 1e-12,
            _ => false,
        };
        assert!(our == their || our.contains('.') && near, "{what}: {our} {their}");
    }
}

fn compare(name: &str, what: &str, ours: &str, theirs: &str, report: &FioReport) {
    let both = report.jobs.iter().any(|job| job.unified == FioUnified::Both);
    let compare = if both { nearly } else { same };
    compare(&format!("{name} {what}"), ours, theirs);
}

#[test]
fn json_plus_is_what_fio_prints() {
    each(|name, captured| {
        let ours = document(&captured.report, true);
        compare(name, "json+", &ours, &captured.json, &captured.report);
    });
}

#[test]
fn text_for_people_is_what_fio_prints() {
    each(|name, captured| {
        let ours = report(&captured.report, &FioFormats::default());
        compare(name, "normal", &ours, &captured.normal, &captured.report);
    });
}

#[test]
fn terse_lines_are_what_fio_prints() {
    each(|name, captured| {
        let formats = FioFormats {
            normal: false,
            terse: true,
            version: captured.version,
            ..FioFormats::default()
        };
        compare(
            name,
            "terse",
            &report(&captured.report, &formats),
            &captured.terse,
            &captured.report,
        );
    });
}

#[test]
fn the_opening_is_what_fio_prints() {
    let block = |size| [(size, size); 3];
    let banner = |name: &str, rw: &str, size| FioBanner {
        name: name.into(),
        rw: rw.into(),
        blocks: block(size),
        engine: "psync".into(),
        depth: 1,
        clones: 1,
        ..FioBanner::default()
    };
    let version = "fio-3.42-135-gf5344";
    let all = [
        ("thread", vec![banner("k", "randrw", 4096), banner("l", "write", 4096)], 1, 1),
        (
            "nullrw",
            vec![FioBanner {
                engine: "null".into(),
                depth: 4,
                clones: 2,
                ..banner("x", "randrw", 4096)
            }],
            0,
            2,
        ),
        (
            "gr2",
            vec![
                FioBanner { clones: 2, ..banner("a", "read", 16_384) },
                FioBanner { group: 1, ..banner("b", "randwrite", 4096) },
                FioBanner { group: 1, ..banner("b2", "randread", 4096) },
            ],
            0,
            4,
        ),
    ];
    for (name, banners, threads, processes) in all {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fio/printed/{name}.out"));
        let text = std::fs::read_to_string(path).expect("text");
        let ours = opening(&banners, version, threads, processes);
        same(name, &ours, &text[..ours.len()]);
    }
    let kilobytes = FioStyle { kb_base: 1000, ..FioStyle::default() };
    assert_eq!(
        FioBanner { style: kilobytes, ..banner("k", "read", 64_000) }.lines(),
        "k: (g=0): rw=read, bs=(R) 64.0kB-64.0kB, (W) 64.0kB-64.0kB, (T) 64.0kB-64.0kB, ioengine=psync, iodepth=1\n"
    );
    let random = [(4096, 4096), (8192, 8192), (4096, 4096)];
    assert_eq!(
        FioBanner { sequential_random: true, blocks: random, ..banner("x", "randrw", 0) }.lines(),
        "x: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 8192B-8192B, bs_is_seq_rand, ioengine=psync, iodepth=1\n"
    );
}

/// Takes the bins of histograms out of a document.
fn without_bins(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(pairs) => {
            pairs.remove("bins");
            pairs.values_mut().for_each(without_bins);
        }
        serde_json::Value::Array(values) => values.iter_mut().for_each(without_bins),
        _ => {}
    }
}

#[test]
fn json_is_json_plus_without_bins() {
    each(|name, captured| {
        if captured.report.jobs.iter().any(|job| job.unified == FioUnified::Both) {
            return;
        }
        let ours: serde_json::Value =
            serde_json::from_str(&document(&captured.report, false)).expect("JSON");
        let mut theirs: serde_json::Value = serde_json::from_str(&captured.json).expect("JSON");
        without_bins(&mut theirs);
        assert_eq!(ours, theirs, "{name}");
    });
}

#[test]
fn several_formats_stand_one_below_the_other() {
    each(|name, captured| {
        let formats = FioFormats {
            terse: true,
            json_plus: true,
            version: captured.version,
            ..FioFormats::default()
        };
        let theirs = format!("{}{}{}", captured.terse, captured.json, captured.normal);
        compare(name, "all", &report(&captured.report, &formats), &theirs, &captured.report);
    });
}

#[test]
fn what_assay_says_is_the_last_key() {
    let said = serde_json::json!({"trust": "cached"});
    let report = FioReport { assay: Some(said), ..FioReport::default() };
    assert!(
        document(&report, false).ends_with(
            "\"jobs\" : [\n\n  ],\n  \"assay\" : {\n    \"trust\" : \"cached\"\n  }\n}\n"
        )
    );
}

#[test]
fn a_job_that_did_nothing_has_no_block() {
    let idle = FioJobReport { name: "idle".into(), clones: 1, ..FioJobReport::default() };
    let all = FioReport { jobs: vec![idle], ..FioReport::default() };
    assert_eq!(report(&all, &FioFormats::default()), "\n\nRun status group 0 (all jobs):\n");
}
