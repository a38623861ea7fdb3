//! The same words to `assay bonnie` and to Bonnie++ 2.00: bytes one by one, and many empty files made,
//! looked at and removed, in memory and on the file system below the temporary folder.

use std::path::Path;
use std::process::Command;

use super::{median, row, thousands};

/// Turns that the two take: one of them makes a quarter of a million files twice.
const TURNS: usize = 3;

/// Columns of a line of CSV, form 1.98, with what they are.
const FIGURES: [(usize, &str); 8] = [
    (9, "bytes written one by one"),
    (15, "bytes read one by one"),
    (26, "create, in order"),
    (28, "stat, in order"),
    (30, "delete, in order"),
    (32, "create, at random"),
    (34, "stat, at random"),
    (36, "delete, at random"),
];

pub fn rows() {
    // It knows no --version: its usage is on standard error, with status 1.
    if Command::new("bonnie++").arg("-Q").output().is_err() {
        return println!("bonnie++ is not installed: its rows are left out");
    }
    let memory = tempfile::Builder::new().tempdir_in("/dev/shm");
    let below = tempfile::tempdir().expect("a folder");
    for (place, folder) in [("memory", memory.as_ref().ok()), ("disk", Some(&below))] {
        match folder {
            Some(folder) => on(place, folder.path()),
            None => println!("bonnie++ in {place}: left out: no /dev/shm"),
        }
    }
}

/// What it came to in a folder, which is said to be this.
fn on(place: &str, folder: &Path) {
    let mut figures: Vec<[Vec<f64>; 2]> = FIGURES.map(|_| Default::default()).into();
    for _ in 0..TURNS {
        for (which, program) in [env!("CARGO_BIN_EXE_assay"), "bonnie++"].into_iter().enumerate() {
            let line = line_of(program, folder);
            let fields: Vec<&str> = line.split(',').collect();
            for (rates, (column, _)) in figures.iter_mut().zip(FIGURES) {
                // Crosses are no number: it was over too soon.
                rates[which].extend(fields[column].parse::<f64>());
            }
        }
    }
    for ([ours, theirs], (column, name)) in figures.into_iter().zip(FIGURES) {
        let name = format!("bonnie++ in {place}: {name}");
        if ours.len() < TURNS || theirs.len() < TURNS {
            println!("{name}: left out: over in less than half a second");
            continue;
        }
        // KiB per second of the bytes.
        let unit = if column < 20 { 1024.0 } else { 1.0 };
        let (ours, theirs) = (median(ours) * unit, median(theirs) * unit);
        row(&name, thousands(ours), thousands(theirs), ours / theirs, ">= 1.00");
    }
}

/// The line that a run ends with.
fn line_of(program: &str, folder: &Path) -> String {
    let mut command = Command::new(program);
    if program != "bonnie++" {
        command.arg("bonnie");
    }
    // As the present user: root has to say so.
    if rustix::process::geteuid().is_root() {
        command.args(["-u", "root"]);
    }
    let out = command
        .args(["-q", "-r", "0", "-s", "16", "-f10", "-n", "320", "-d"])
        .arg(folder)
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&out.stdout);
    let last = said.lines().next_back().unwrap_or_default().to_string();
    assert_eq!(last.split(',').count(), 50, "{}", String::from_utf8_lossy(&out.stderr));
    last
}
