//! Blocks in memory by `assay bonnie` and by Bonnie++ 2.00, both at once on one CPU, in slices of some
//! milliseconds: one is stopped while the other works.
//!
//! Whole runs that follow each other differ by a tenth, for what else the machine does, and its host, comes and
//! goes. Slices this short meet the same of it. What is compared is the CPU time that a block takes, of all
//! threads of a program: in memory nothing else passes.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::bonnie::{typed, within};
use super::{median, row};

/// Size of the file, bytes, and of a block.
const FILE: u64 = 3 << 30;
const BLOCK: u64 = 8192;
const TURNS: usize = 8;
/// What passes until its data are in the caches again, and what is measured.
const WARM: Duration = Duration::from_millis(4);
const SLICE: Duration = Duration::from_millis(12);
/// Fewer blocks in a slice are the end of a test, or the quiet before one.
const FEWEST: u64 = 200;

/// The three tests, by their order: write, rewrite, read.
const TESTS: usize = 3;

/// What a program has done so far.
#[derive(Clone, Copy)]
struct Done {
    read: u64,
    written: u64,
    cpu_ns: u64,
}

/// A program at its work; killed when dropped.
struct Side {
    child: Child,
    /// Nanoseconds of a block in each slice of a test.
    slices: [Vec<f64>; TESTS],
}

/// Prints a line for each test, with words for ours besides, and names of the tests.
pub fn rows(besides: &str, names: [&str; TESTS], folder: &Path) {
    if let Some(balloon) = memory_reporter(Path::new(BALLOONS)) {
        return println!(
            "bonnie++ in memory, {}: left out: this guest gives freed memory back to its host \
             ({balloon} reports free pages), so that what a block costs is what the host takes to \
             find a page; unbind the driver of {balloon} first",
            names[0]
        );
    }
    let mut pairs = Vec::new();
    for turn in 0..TURNS {
        let Some(took) = race(besides, turn % 2 == 1, folder) else {
            return println!(
                "bonnie++ in memory, {}: left out: a test was over too soon",
                names[0]
            );
        };
        pairs.push(took);
    }
    for (test, name) in names.into_iter().enumerate() {
        let ratios: Vec<f64> = pairs.iter().map(|took| took[test][1] / took[test][0]).collect();
        let wanted = within(">= 1.00 within noise", &ratios);
        let ns = |side: usize| {
            format!("{:.0} ns", median(pairs.iter().map(|took| took[test][side]).collect()))
        };
        row(&format!("bonnie++ in memory: {name}"), ns(0), ns(1), median(ratios), &wanted);
    }
}

/// Balloons of this guest, by which a host takes and gives memory.
const BALLOONS: &str = "/sys/bus/virtio/drivers/virtio_balloon";

/// Bit of the features of a virtio balloon: free pages are reported, and the host takes them away
/// (`VIRTIO_BALLOON_F_REPORTING`, virtio 1.2, 5.5.3).
const REPORTING: usize = 5;

/// The balloon that reports free pages to the host, if one does.
fn memory_reporter(balloons: &Path) -> Option<String> {
    fs::read_dir(balloons).ok()?.flatten().find_map(|device| {
        let features = fs::read_to_string(device.path().join("features")).ok()?;
        let reports = features.as_bytes().get(REPORTING) == Some(&b'1');
        reports.then(|| device.file_name().to_string_lossy().into_owned())
    })
}

/// Nanoseconds of a block in each test: ours, theirs. `None`: one of them came to no slice of it.
fn race(besides: &str, theirs_first: bool, folder: &Path) -> Option<[[f64; 2]; TESTS]> {
    let desk = tempfile::tempdir_in(folder).ok()?;
    let mut ours = Side::start(env!("CARGO_BIN_EXE_assay"), besides, desk.path())?;
    let mut theirs = Side::start("bonnie++", "", desk.path())?;
    loop {
        let order = if theirs_first { [&mut theirs, &mut ours] } else { [&mut ours, &mut theirs] };
        if order.map(Side::go_on) == [false, false] {
            break;
        }
    }
    let middle = |side: &Side, test: usize| -> Option<f64> {
        Some(&side.slices[test]).filter(|slices| slices.len() >= 10).cloned().map(median)
    };
    let mut took = [[0.0; 2]; TESTS];
    for (test, took) in took.iter_mut().enumerate() {
        *took = [middle(&ours, test)?, middle(&theirs, test)?];
    }
    Some(took)
}

impl Side {
    fn start(program: &str, besides: &str, folder: &Path) -> Option<Self> {
        let words = format!("-f -n 0 -s {} {besides}", FILE >> 20);
        let mut command = typed(program, &words, folder);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
        let side = Self { child, slices: Default::default() };
        side.signal(Signal::STOP);
        Some(side)
    }

    fn signal(&self, signal: Signal) {
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }

    /// Works for a slice; whether there is more to come.
    fn go_on(&mut self) -> bool {
        let ended = !matches!(self.child.try_wait(), Ok(None));
        if ended || self.done().is_none_or(|done| done.read >= 2 * FILE) {
            return false;
        }
        self.signal(Signal::CONT);
        sleep(WARM);
        let before = self.done();
        sleep(SLICE);
        let after = self.done();
        self.signal(Signal::STOP);
        if let (Some(before), Some(after)) = (before, after) {
            self.note(before, after);
        }
        true
    }

    /// Notes a slice, if all of it was of one test.
    fn note(&mut self, before: Done, after: Done) {
        let read = (after.read - before.read) / BLOCK;
        let written = (after.written - before.written) / BLOCK;
        let test = match (read, written) {
            (_, FEWEST..) if read * 50 < written => 0,
            (FEWEST.., FEWEST..) if read.abs_diff(written) * 50 < read => 1,
            (FEWEST.., _) if written * 50 < read => 2,
            _ => return,
        };
        let cpu_ns = after.cpu_ns - before.cpu_ns;
        self.slices[test].push(cpu_ns as f64 / read.max(written) as f64);
    }

    /// What it has done, as `/proc` shows it. `None`: it has ended.
    fn done(&self) -> Option<Done> {
        let proc = Path::new("/proc").join(self.child.id().to_string());
        let io = fs::read_to_string(proc.join("io")).ok()?;
        let of =
            |name: &str| io.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        let threads = fs::read_dir(proc.join("task")).ok()?.flatten();
        // On a CPU, waiting for one, slices: the first in ns.
        let cpu = |path: &Path| -> Option<u64> {
            fs::read_to_string(path.join("schedstat")).ok()?.split(' ').next()?.parse().ok()
        };
        let cpu_ns = threads.filter_map(|thread| cpu(&thread.path())).sum();
        Some(Done { read: of("rchar:")?, written: of("wchar:")?, cpu_ns })
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
