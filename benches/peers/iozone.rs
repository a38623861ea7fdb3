//! `assay iozone` beside IOzone: the same words given to both in memory and on ext4 that lies in memory, and what a
//! grid costs beside its timed parts. Where there is no IOzone, two of its tests beside the same work of fio.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::bonnie::{Ext4, within};
use super::{median, row, there};

/// Pairs of runs of each row.
const TURNS: usize = 7;
/// Pairs of runs of the grid.
const GRIDS: usize = 5;

/// The tests of one file, and the columns of their table.
const WORDS: &str = "-i 0 -i 1 -i 2 -i 3 -i 4 -i 5 -i 6 -i 7";
const COLUMNS: [&str; 13] = [
    "write",
    "rewrite",
    "read",
    "reread",
    "random read",
    "random write",
    "backward read",
    "record rewrite",
    "stride read",
    "fwrite",
    "frewrite",
    "fread",
    "freread",
];

/// The size of a file, and that of a record.
const SIZES: [[&str; 2]; 2] = [["128m", "4k"], ["256m", "1m"]];

/// The program of the original: `IOZONE`, or the one in the path.
fn original() -> Option<PathBuf> {
    let iozone = std::env::var_os("IOZONE").map_or_else(|| "iozone".into(), PathBuf::from);
    let told = Command::new(&iozone).arg("-v").output().ok()?;
    String::from_utf8_lossy(&told.stdout).contains("Filesystem Benchmark").then_some(iozone)
}

/// All rows.
pub fn rows() {
    let iozone = original();
    match tempfile::Builder::new().tempdir_in("/dev/shm") {
        Ok(memory) => match &iozone {
            Some(iozone) => {
                columns(iozone, "memory", memory.path());
                grid(iozone, memory.path());
            }
            None => {
                println!(
                    "assay iozone beside IOzone: left out: it is not installed (IOZONE=/path names one)"
                );
                beside_fio(memory.path());
            }
        },
        Err(error) => println!("iozone in memory: left out: /dev/shm: {error}"),
    }
    if let Some(iozone) = &iozone {
        match Ext4::new() {
            Ok(disk) => columns(iozone, "ext4", &disk.mount),
            Err(why) => println!("iozone on ext4: left out: {why}"),
        }
    }
}

/// assay's dialect, or the original.
fn program(iozone: Option<&Path>) -> Command {
    match iozone {
        Some(iozone) => Command::new(iozone),
        None => {
            let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
            command.arg("iozone").env("ASSAY_SETTLE", "no");
            command
        }
    }
}

/// The rows of its table: kilobytes of the file, those of a record, and rates in KiB per second.
fn table(iozone: Option<&Path>, words: &str, folder: &Path) -> Vec<Vec<f64>> {
    let mut command = program(iozone);
    command.args(words.split_whitespace()).arg("-f").arg(folder.join("iozone.tmp"));
    let out = command.current_dir(folder).output().expect("it runs");
    let numbers = |line: &str| -> Option<Vec<f64>> {
        line.split_whitespace().map(|word| word.parse().ok()).collect()
    };
    let lines = String::from_utf8_lossy(&out.stdout).into_owned();
    lines.lines().filter_map(numbers).filter(|row| row.len() > 2).collect()
}

/// Every column, with small records and with large ones.
fn columns(iozone: &Path, place: &str, folder: &Path) {
    for [size, record] in SIZES {
        let words = format!("{WORDS} -s {size} -r {record}");
        let mut pairs: Vec<[Vec<f64>; 2]> = Vec::new();
        for turn in 0..TURNS {
            let mut pair = [vec![], vec![]];
            for which in [turn % 2, 1 - turn % 2] {
                let rows = table([None, Some(iozone)][which], &words, folder);
                let Some(row) = rows.first().filter(|row| row.len() == COLUMNS.len() + 2) else {
                    return println!(
                        "iozone in {place}, {words}: left out: no row of {} figures",
                        COLUMNS.len()
                    );
                };
                pair[which] = row[2..].to_vec();
            }
            pairs.push(pair);
        }
        for (column, name) in COLUMNS.iter().enumerate() {
            let name = format!("iozone in {place}: {name}, {record}");
            told(
                &name,
                pairs.iter().map(|[ours, theirs]| [ours[column], theirs[column]]).collect(),
            );
        }
    }
}

/// A row of rates in KiB per second.
fn told(name: &str, pairs: Vec<[f64; 2]>) {
    let ratios: Vec<f64> = pairs.iter().map(|[ours, theirs]| ours / theirs).collect();
    let wanted = within(">= 1.00 within noise", &ratios);
    let rate = |side: usize| {
        format!("{:.0} MB/s", median(pairs.iter().map(|pair| pair[side]).collect()) * 1024.0 / 1e6)
    };
    row(name, rate(0), rate(1), median(ratios), &wanted);
}

/// What a grid takes beyond its timed parts, beside 1.1 times these and what the original takes for the calls
/// between them.
fn grid(iozone: &Path, folder: &Path) {
    const WORDS: &str = "-a -g 64m";
    let run = |iozone: Option<&Path>| {
        let began = Instant::now();
        let rows = table(iozone, WORDS, folder);
        let whole = began.elapsed().as_secs_f64();
        let timed: f64 = rows
            .iter()
            .flat_map(|row| row[2..].iter().map(|rate| row[0] / rate))
            .filter(|time| time.is_finite())
            .sum();
        (whole, timed)
    };
    let (mut ours, mut bars) = (Vec::new(), Vec::new());
    for _ in 0..GRIDS {
        let (theirs, theirs_timed) = run(Some(iozone));
        let (whole, timed) = run(None);
        ours.push(whole);
        bars.push(1.1 * timed + theirs - theirs_timed);
    }
    let ratios: Vec<f64> = ours.iter().zip(&bars).map(|(whole, bar)| whole / bar).collect();
    let seconds = |times: Vec<f64>| format!("{:.2} s", median(times));
    let wanted = within("<= 1.00", &ratios);
    let name = format!("iozone {WORDS} in memory: time, of its bar");
    row(&name, seconds(ours), seconds(bars), median(ratios), &wanted);
}

/// The two tests that fio does by the same calls: a file that is there is written and read.
fn beside_fio(folder: &Path) {
    if !there("fio") {
        return;
    }
    for [size, record] in SIZES {
        let words = format!("-i 0 -i 1 -w -s {size} -r {record}");
        let fio = |rw: &str| -> Option<f64> {
            let out = Command::new("fio")
                .args(["--name=a", "--ioengine=psync", "--zero_buffers=1", "--invalidate=0"])
                .args([format!("--rw={rw}"), format!("--bs={record}"), format!("--size={size}")])
                .args(["--output-format=json", "--filename=iozone.tmp"])
                .current_dir(folder)
                .output()
                .ok()?;
            let report: serde_json::Value = serde_json::from_slice(&out.stdout).ok()?;
            report["jobs"][0][rw]["bw"].as_f64()
        };
        let mut pairs: [Vec<[f64; 2]>; 2] = Default::default();
        for _ in 0..TURNS {
            let rows = table(None, &words, folder);
            let Some(&[_, _, _, rewrite, _, reread]) = rows.first().map(Vec::as_slice) else {
                return println!("iozone, {words}: left out: no row of 4 figures");
            };
            let (Some(write), Some(read)) = (fio("write"), fio("read")) else {
                return println!("iozone, {words}: left out: fio has no report");
            };
            pairs[0].push([rewrite, write]);
            pairs[1].push([reread, read]);
        }
        for (name, pairs) in ["rewrite", "reread"].into_iter().zip(pairs) {
            told(&format!("iozone beside fio psync in memory: {name}, {record}"), pairs);
        }
    }
}
