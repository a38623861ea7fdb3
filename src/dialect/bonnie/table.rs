//! The tables for a person, in the three layouts: 1.03, 1.96 with 1.97, and 2.00.

use std::fmt::Write;

use super::measure::{latency, seeks};
use super::number::{bytes, size};
use super::words::{CHUNK, SEEKERS, SEEKS};
use super::{BonnieRun, BonnieVersion, FileTestArgs, FileTestKind, TestResult};

/// What stands above the columns.
const OF_SIZE: [&str; 2] = [
    "------Sequential Output------ --Sequential Input- --Random-",
    "-Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--",
];
const OF_FILES: [&str; 2] = [
    "------Sequential Create------ --------Random Create--------",
    "-Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--",
];
/// Columns before the first figure.
const LABEL: usize = 19;

/// Both tables, as far as their tests were asked for, and the empty line that follows the first when
/// it stands alone.
pub fn tables(settled: &BonnieRun, tests: &[Option<TestResult>; 12]) -> String {
    let form = settled.asked.form;
    let (sized, filed) = (settled.size > 0, settled.asked.files.count > 0);
    let mut out = String::new();
    if sized {
        of_size(settled, &tests[..6], &mut out);
    }
    if filed {
        of_files(settled, &tests[6..], sized, &mut out);
    } else if !form.is_old() {
        out.push('\n');
    }
    out
}

fn version(form: BonnieVersion) -> String {
    format!("Version {:>5}", form.version())
}

fn of_size(settled: &BonnieRun, tests: &[Option<TestResult>], out: &mut String) {
    let asked = &settled.asked;
    let form = asked.form;
    let unusual = asked.chunk != CHUNK;
    let second = match form {
        BonnieVersion::F1_96 | BonnieVersion::F1_97 => {
            format!("Concurrency {:3}", asked.concurrency)
        }
        _ => String::new(),
    };
    let third = match form {
        BonnieVersion::F1_98 => {
            "Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP"
        }
        _ if unusual => "Machine   Size:chnk K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP",
        _ => "Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP",
    };
    let _ = writeln!(out, "{:LABEL$} {}", version(form), OF_SIZE[0]);
    let _ = writeln!(out, "{second:LABEL$} {}", OF_SIZE[1]);
    let _ = writeln!(out, "{third}  /sec %CP");
    let _ = write!(out, "{}", labelled(&settled.name, &sized(settled)));
    let rate = |test: usize, rate: f64| match test {
        5 => seeks(rate),
        _ if form == BonnieVersion::F1_98 => scaled(rate),
        _ => (rate as u64).to_string(),
    };
    figures(tests, rate, out);
    latencies(form, tests, out);
}

fn of_files(settled: &BonnieRun, tests: &[Option<TestResult>], second: bool, out: &mut String) {
    let asked = &settled.asked;
    let form = asked.form;
    // 1.03 says version and label once.
    let alone = !(form.is_old() && second);
    let (version, name) = match alone {
        true => (version(form), settled.name.chars().take(LABEL).collect()),
        false => (String::new(), String::new()),
    };
    let shape = match asked.files.kind {
        FileTestKind::Files { max: 0, .. } => "              files",
        FileTestKind::Files { min: 1.., .. } => "files:max:min",
        _ => "files:max",
    };
    let _ = writeln!(out, "{version:LABEL$} {}", OF_FILES[0]);
    let _ = writeln!(out, "{name:LABEL$} {}", OF_FILES[1]);
    let _ =
        writeln!(out, "{shape:LABEL$}  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP");
    let _ = write!(out, "{:>LABEL$}", files_of(&asked.files));
    figures(tests, |_, rate| (rate as u64).to_string(), out);
    latencies(form, tests, out);
}

/// A row of rates and CPU shares; blanks for a test that was not done.
fn figures(tests: &[Option<TestResult>], rate: impl Fn(usize, f64) -> String, out: &mut String) {
    for (test, measure) in tests.iter().enumerate() {
        let (rate, cpu) = match measure {
            None => (String::new(), String::new()),
            Some(measure) if measure.is_short() => ("+++++".into(), "+++".into()),
            Some(measure) => (rate(test, measure.rate), measure.cpu.to_string()),
        };
        let _ = write!(out, " {rate:>5} {cpu:>3}");
    }
    out.push('\n');
}

/// The row of the longest steps, which 1.03 has not.
fn latencies(form: BonnieVersion, tests: &[Option<TestResult>], out: &mut String) {
    if form.is_old() {
        return;
    }
    let _ = write!(out, "{:17}", "Latency");
    for test in tests {
        let _ = write!(out, " {:>9}", latency(*test));
    }
    out.push('\n');
}

/// The label on the left and the size on the right, at least one blank between: the label is cut.
fn labelled(name: &str, size: &str) -> String {
    let room = LABEL.saturating_sub(size.len() + 1);
    let name: String = name.chars().take(room).collect();
    format!("{name:room$} {size}")
}

/// `8G`, `300M:64k`; in 2.00 `SIZE[:chunk][:concurrency][:seeks][:seekers]`, what is usual empty and
/// left out at the end.
fn sized(settled: &BonnieRun) -> String {
    let asked = &settled.asked;
    let unless = |usual: bool, text: String| if usual { String::new() } else { text };
    let mut parts = vec![size(settled.size)];
    let new = asked.form == BonnieVersion::F1_98;
    parts.push(unless(asked.chunk == CHUNK, bytes(asked.chunk, new)));
    if new {
        parts.push(unless(asked.concurrency == 1, asked.concurrency.to_string()));
        parts.push(unless(asked.seeks == SEEKS, asked.seeks.to_string()));
        parts.push(unless(asked.seekers == SEEKERS, asked.seekers.to_string()));
    }
    parts.join(":").trim_end_matches(':').to_string()
}

/// `NUM[:MAX:MIN][/DIRS]`, `NUM:link`, `NUM:symlink`.
pub(super) fn files_of(files: &FileTestArgs) -> String {
    let kind = match files.kind {
        FileTestKind::Files { max: 0, .. } => String::new(),
        FileTestKind::Files { max, min } => format!(":{max}:{min}"),
        FileTestKind::Links => ":link".into(),
        FileTestKind::Symlinks => ":symlink".into(),
    };
    let dirs = if files.dirs == 1 { String::new() } else { format!("/{}", files.dirs) };
    format!("{}{kind}{dirs}", files.count)
}

/// KiB per second with the unit that 2.00 gives it: `560k`, `47.8m`, `478m`, `1.2g`.
fn scaled(kib: f64) -> String {
    let mib = kib / 1024.0;
    match kib {
        _ if kib < 10_000.0 => format!("{}k", kib as u64),
        _ if mib < 99.95 => format!("{mib:.1}m"),
        _ if mib < 999.5 => format!("{mib:.0}m"),
        _ => format!("{:.1}g", mib / 1024.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_get_the_unit_that_leaves_them_four_digits() {
        let rates = [560.9, 9999.9, 10_000.0, 102_300.0, 489_882.0, 1_500_000.0];
        assert_eq!(rates.map(scaled), ["560k", "9999k", "9.8m", "99.9m", "478m", "1.4g"]);
    }

    #[test]
    fn a_long_label_is_cut_before_the_size() {
        assert_eq!(labelled("averyverylongname!", "4M:1k"), "averyverylong 4M:1k");
        assert_eq!(labelled("vm", "4M"), "vm               4M");
        assert_eq!(labelled("vm", "1234567M:64k:10:1000:10"), " 1234567M:64k:10:1000:10");
    }
}
