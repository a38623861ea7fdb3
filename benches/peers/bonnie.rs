//! The same words to `assay bonnie` and to Bonnie++ 2.00: bytes one by one in memory, blocks in memory
//! ([`slices`]), and many empty files made, looked at and removed, in memory and on ext4 that lies in memory.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use assay_plan::stats::relative_spread;
use tempfile::TempDir;

use super::{median, row, slices, thousands};

/// One pair of runs: what is typed, how often they take turns, and what is read from the lines.
struct Round {
    words: &'static str,
    turns: usize,
    wanted: &'static str,
    /// Columns of a line of CSV, form 1.98, with what they are.
    figures: &'static [(usize, &'static str)],
}

/// Reading them takes half a second and more where a second is enough for less than eight million.
const BYTES: Round = Round {
    words: "-s 4 -f4 -n 0",
    turns: 9,
    wanted: ">= 1.00",
    figures: &[(9, "bytes written one by one"), (15, "bytes read one by one")],
};

/// As few as take more than the half second below which a line has crosses. Nearly all of it is the
/// kernel's work in both, and one run differs from the next by 3 to 6 %: so they take turns often.
const FILES: Round = Round { words: "-s 0 -n 224", turns: 16, wanted: ">= 1.00", figures: CHANGES };

/// On ext4 creating and deleting takes long enough with fewer.
const FEWER: Round = Round { words: "-s 0 -n 64", ..FILES };

/// Looking at each is sooner done.
const LOOKS: Round = Round { words: "-s 0 -n 768", turns: 4, figures: STATS, ..FILES };

/// As many as the ext4 has room for.
const FEWER_LOOKS: Round = Round { words: "-s 0 -n 448", ..LOOKS };

const STATS: &[(usize, &str)] = &[(28, "stat, in order"), (34, "stat, at random")];

const CHANGES: &[(usize, &str)] = &[
    (26, "create, in order"),
    (30, "delete, in order"),
    (32, "create, at random"),
    (36, "delete, at random"),
];

pub fn rows() {
    // It knows no --version: its usage is on standard error, with status 1.
    if Command::new("bonnie++").arg("-Q").output().is_err() {
        return println!("bonnie++ is not installed: its rows are left out");
    }
    match tempfile::Builder::new().tempdir_in("/dev/shm") {
        Ok(memory) => {
            // Ours makes data for each block that it writes, theirs changes a byte of it.
            slices::rows("", ["block write", "rewrite", "block read"], memory.path());
            let same = ["block write of zeros", "rewrite of zeros", "block read of zeros"];
            slices::rows("--as-original", same, memory.path());
            [BYTES, FILES, LOOKS].iter().for_each(|round| round.on("memory", memory.path()));
        }
        Err(error) => println!("bonnie++ in memory: left out: /dev/shm: {error}"),
    }
    match Ext4::new() {
        Ok(disk) => [FEWER, FEWER_LOOKS].iter().for_each(|round| round.on("ext4", &disk.mount)),
        Err(why) => println!("bonnie++ on ext4: left out: {why}"),
    }
}

impl Round {
    /// What it came to in a folder, which is said to be this.
    fn on(&self, place: &str, folder: &Path) {
        let mut figures: Vec<[Vec<f64>; 2]> =
            self.figures.iter().map(|_| [vec![], vec![]]).collect();
        let both = [env!("CARGO_BIN_EXE_assay"), "bonnie++"];
        for turn in 0..self.turns {
            // Who comes second works in what the first has left: they change places.
            for which in [turn % 2, 1 - turn % 2] {
                let line = match line_of(both[which], self.words, folder) {
                    Ok(line) => line,
                    Err(why) => {
                        return println!("bonnie++ in {place}, {}: left out: {why}", self.words);
                    }
                };
                let fields: Vec<&str> = line.split(',').collect();
                for (rates, (column, _)) in figures.iter_mut().zip(self.figures) {
                    // Crosses are no number: it was over too soon.
                    rates[which].extend(fields[*column].parse::<f64>());
                }
            }
        }
        for ([ours, theirs], (column, name)) in figures.into_iter().zip(self.figures) {
            let name = format!("bonnie++ in {place}: {name}");
            if ours.len() < self.turns || theirs.len() < self.turns {
                println!("{name}: left out: over in less than half a second");
                continue;
            }
            // KiB per second of bytes.
            let unit = if *column < 20 { 1024.0 } else { 1.0 };
            // Those of a pair ran one after the other, when the machine was as fast for both.
            let ratios: Vec<f64> =
                ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs).collect();
            let wanted = within(self.wanted, &ratios);
            let (ours, theirs) = (median(ours) * unit, median(theirs) * unit);
            row(&name, thousands(ours), thousands(theirs), median(ratios), &wanted);
        }
    }
}

/// The line that a run ends with, or what it says instead: that there is not so much memory.
fn line_of(program: &str, words: &str, folder: &Path) -> Result<String, String> {
    // What the run before has freed, the kernel gives back by and by.
    std::thread::sleep(Duration::from_secs(1));
    let out = typed(program, words, folder).output().expect("it runs");
    let said = String::from_utf8_lossy(&out.stdout);
    let last = said.lines().next_back().unwrap_or_default().to_string();
    if last.split(',').count() == 50 {
        return Ok(last);
    }
    let why = String::from_utf8_lossy(&out.stderr);
    Err(why.lines().next_back().unwrap_or("it says nothing").trim().to_string())
}

/// What is typed for these words, as the present user: root has to say so.
pub fn typed(program: &str, words: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    if program != "bonnie++" {
        command.arg("bonnie");
    }
    if rustix::process::geteuid().is_root() {
        command.args(["-u", "root"]);
    }
    command.args(["-q", "-r", "0"]).args(words.split_whitespace()).arg("-d").arg(folder);
    command
}

/// What is wanted of a ratio, beside how far those of single pairs differ.
pub fn within(wanted: &str, ratios: &[f64]) -> String {
    let noise = relative_spread(ratios).unwrap_or(f64::NAN) * 100.0;
    format!("{wanted}; pairs differ by {noise:.1} %")
}

/// A file system in a file in memory, with room for many files; unmounted when dropped.
pub struct Ext4 {
    /// Where it is.
    pub mount: PathBuf,
    _folder: TempDir,
}

impl Ext4 {
    /// A new one.
    pub fn new() -> Result<Self, String> {
        let folder = tempfile::Builder::new()
            .tempdir_in("/dev/shm")
            .map_err(|error| format!("/dev/shm: {error}"))?;
        let (image, mount) = (folder.path().join("image"), folder.path().join("mount"));
        std::fs::create_dir(&mount).map_err(|error| error.to_string())?;
        let script = "truncate -s 1G $1 && mke2fs -qFt ext4 -N 600000 -E lazy_itable_init=0 $1 && mount -o loop $1 $2";
        let made = Command::new("sh").args(["-ec", script, "sh"]).args([&image, &mount]).output();
        match made {
            Ok(out) if out.status.success() => Ok(Self { mount, _folder: folder }),
            Ok(out) => Err(String::from_utf8_lossy(&out.stderr).trim().to_string()),
            Err(error) => Err(format!("sh: {error}")),
        }
    }
}

impl Drop for Ext4 {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.mount).status();
    }
}
