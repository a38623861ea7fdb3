//! The line of CSV: 27 fields in the form of 1.03, 48 in those of 1.96 and 1.97, 50 since 1.98.

use super::measure::{latency, seeks};
use super::number::{bytes, size};
use super::table::files_of;
use super::words::CHUNK;
use super::{BonnieRun, BonnieVersion, FileTestArgs, FileTestKind, TestResult};

/// The names of the fields, as the first line of `-x` has them. All are named: the header of 1.96
/// lacks concurrency and seed, and that of 1.98 the seeks, though their lines have them.
pub fn header(form: BonnieVersion) -> String {
    let before: &[&str] = match form {
        BonnieVersion::F1_03 => &["name", "file_size"],
        BonnieVersion::F1_96 | BonnieVersion::F1_97 => &[
            "format_version",
            "bonnie_version",
            "name",
            "concurrency",
            "seed",
            "file_size",
            "io_chunk_size",
        ],
        BonnieVersion::F1_98 => &[
            "format_version",
            "bonnie_version",
            "name",
            "concurrency",
            "seed",
            "file_size",
            "io_chunk_size",
            "seeks_count",
            "seekers",
        ],
    };
    let between: &[&str] = match form {
        BonnieVersion::F1_03 => &["num_files"],
        _ => &["num_files", "max_size", "min_size", "num_dirs", "file_chunk_size"],
    };
    let twice = |test: &str| [test.to_string(), format!("{test}_cpu")];
    let own = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let mut fields = own(before);
    fields.extend(super::TESTS[..6].iter().flat_map(|test| twice(test)));
    fields.extend(own(between));
    fields.extend(super::TESTS[6..].iter().flat_map(|test| twice(test)));
    if !form.is_old() {
        fields.extend(super::TESTS.iter().map(|test| format!("{test}_latency")));
    }
    fields.join(",")
}

/// The line of one run, without its end.
pub fn line(settled: &BonnieRun, tests: &[Option<TestResult>; 12]) -> String {
    let asked = &settled.asked;
    let mut fields = match asked.form {
        BonnieVersion::F1_03 => vec![settled.name.clone(), old_size(settled)],
        form => {
            let mut fields = vec![
                form.name().to_string(),
                form.version().to_string(),
                settled.name.clone(),
                asked.concurrency.to_string(),
                settled.seed.clone(),
            ];
            fields.extend(if settled.size == 0 {
                [String::new(), String::new()]
            } else {
                [size(settled.size), unusual(asked.chunk, CHUNK, |chunk| bytes(chunk, true))]
            });
            if form == BonnieVersion::F1_98 {
                let seeks =
                    [asked.seeks, u64::from(asked.seekers)].map(|number| number.to_string());
                fields.extend(if settled.size == 0 { Default::default() } else { seeks });
            }
            fields
        }
    };
    let figures = |range: std::ops::Range<usize>| {
        range.flat_map(|test| pair(test, tests[test])).collect::<Vec<_>>()
    };
    fields.extend(figures(0..6));
    match asked.form {
        BonnieVersion::F1_03 if asked.files.count > 0 => fields.push(files_of(&asked.files)),
        BonnieVersion::F1_03 => fields.push(String::new()),
        _ => fields.extend(files(&asked.files)),
    }
    fields.extend(figures(6..12));
    if !asked.form.is_old() {
        fields.extend(tests.iter().map(|test| latency(*test)));
    }
    fields.join(",")
}

/// Size and chunk in the one field of 1.03.
fn old_size(settled: &BonnieRun) -> String {
    match (settled.size, settled.asked.chunk) {
        (0, _) => String::new(),
        (mib, CHUNK) => size(mib),
        (mib, chunk) => format!("{}:{}", size(mib), bytes(chunk, false)),
    }
}

/// A number that is left out where it is the usual one.
fn unusual(number: u64, usual: u64, text: impl Fn(u64) -> String) -> String {
    if number == usual { String::new() } else { text(number) }
}

/// num_files, max_size, min_size, num_dirs and file_chunk_size.
fn files(files: &FileTestArgs) -> [String; 5] {
    if files.count == 0 {
        return Default::default();
    }
    let plain = |number: u64| number.to_string();
    let [max, min] = match files.kind {
        FileTestKind::Files { max, min } => [max, min].map(|size| unusual(size, 0, plain)),
        FileTestKind::Links => ["link".into(), String::new()],
        FileTestKind::Symlinks => ["symlink".into(), String::new()],
    };
    let dirs = unusual(u64::from(files.dirs), 1, plain);
    let chunk = unusual(files.chunk, CHUNK, plain);
    [files.count.to_string(), max, min, dirs, chunk]
}

/// The rate of a test and its CPU; both empty when it was not done.
fn pair(test: usize, measure: Option<TestResult>) -> [String; 2] {
    match measure {
        None => Default::default(),
        Some(measure) if measure.is_short() => ["+++++".into(), "+++".into()],
        Some(measure) => {
            let rate = match test {
                5 => seeks(measure.rate),
                _ => (measure.rate as u64).to_string(),
            };
            [rate, measure.cpu.to_string()]
        }
    }
}
