//! What stands below the jobs: groups, disks, idle time.

use std::fmt::Write;

use super::job::{FioJobReport, FioStyle, FioUnified};
use super::moments::{FioMoments, per_second};
use super::number::FioQuantity;
use super::report::{FioDiskReport, FioDiskUse, FioIdleness};

/// What the jobs of a group did together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioGroup {
    /// Its number, from 0.
    pub number: u32,
    /// How its numbers are written: as those of its last job.
    pub style: FioStyle,
    /// Whether any job reports its directions as one.
    mixed: bool,
    /// Whether any job reports its directions as one, too.
    both: bool,
    pub directions: [FioGroupDirection; 3],
}

/// What the jobs of a group moved in a direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioGroupDirection {
    pub bytes: u64,
    /// Shortest runtime in ms of a job that has any.
    pub min_ms: u64,
    /// Longest runtime in ms; 0: nobody went in this direction.
    pub max_ms: u64,
    /// Bytes per second of the slowest job.
    pub min_bw: u64,
    /// Bytes per second of the fastest job.
    pub max_bw: u64,
}

impl FioGroupDirection {
    fn add(&mut self, bytes: u64, ms: u64) {
        if ms == 0 {
            return;
        }
        let bw = per_second(bytes, ms);
        let first = self.max_ms == 0;
        self.min_ms = if first { ms } else { self.min_ms.min(ms) };
        self.min_bw = if first { bw } else { self.min_bw.min(bw) };
        self.max_ms = self.max_ms.max(ms);
        self.max_bw = self.max_bw.max(bw);
        self.bytes += bytes;
    }

    /// Bytes of all over the longest runtime, per second.
    pub fn aggregate(&self) -> u64 {
        per_second(self.bytes, self.max_ms)
    }
}

/// The groups of some jobs, at least `groups` of them.
pub fn groups(jobs: &[FioJobReport], groups: u32) -> Vec<FioGroup> {
    // A group is a number of a job, so a wrong one must not cost memory.
    let named = jobs.iter().map(|job| job.group.saturating_add(1)).max().unwrap_or(0);
    let mut all: Vec<FioGroup> = (0..groups.max(named).min(1 << 16))
        .map(|number| FioGroup { number, ..FioGroup::default() })
        .collect();
    for job in jobs {
        let Some(group) = all.get_mut(job.group as usize) else {
            continue;
        };
        group.style = job.style.clone();
        group.mixed |= job.unified == FioUnified::Mixed;
        group.both |= job.unified == FioUnified::Both;
        for (sum, direction) in group.directions.iter_mut().zip(&job.directions) {
            sum.add(direction.bytes, direction.runtime_ms);
        }
    }
    all
}

impl FioGroup {
    /// What part of the group's bandwidth samples of KiB/s are, in percent (at most 100).
    pub fn bandwidth_share(&self, bw: &FioMoments, direction: usize) -> f64 {
        let all = self.directions.get(direction).map_or(0, FioGroupDirection::aggregate);
        if all <= 1024 {
            return 100.0;
        }
        (bw.mean.trunc() * 100.0 / (all as f64 / 1024.0)).min(100.0)
    }

    /// `Run status group 0 (all jobs):` and its lines, after an empty one.
    pub fn lines(&self) -> String {
        let mut out = format!("\nRun status group {} (all jobs):\n", self.number);
        let names = if self.mixed && !self.both {
            ["  MIXED"; 3]
        } else {
            ["   READ", "  WRITE", "   TRIM"]
        };
        for (name, direction) in names.iter().zip(&self.directions) {
            if direction.max_ms > 0 {
                out += &self.line(name, direction, direction.aggregate());
            }
        }
        // Where jobs of both kinds meet, neither is done.
        if self.both && !self.mixed {
            let (all, rate) = self.together();
            out += &self.line("  MIXED", &all, rate);
        }
        out
    }

    /// All directions: bytes and rates are summed, extremes are kept.
    fn together(&self) -> (FioGroupDirection, u64) {
        let (mut all, mut rate) = (FioGroupDirection::default(), 0);
        for one in self.directions.iter().filter(|one| one.max_ms > 0) {
            let first = all.max_ms == 0;
            all.min_ms = if first { one.min_ms } else { all.min_ms.min(one.min_ms) };
            all.min_bw = if first { one.min_bw } else { all.min_bw.min(one.min_bw) };
            all.max_ms = all.max_ms.max(one.max_ms);
            all.max_bw = all.max_bw.max(one.max_bw);
            all.bytes += one.bytes;
            rate += one.aggregate();
        }
        (all, rate)
    }

    fn line(&self, name: &str, direction: &FioGroupDirection, rate: u64) -> String {
        let twice = |rate| self.style.twice(rate, self.style.rate());
        let [all, other_all] = twice(rate);
        let [min, other_min] = twice(direction.min_bw);
        let [max, other_max] = twice(direction.max_bw);
        let [bytes, other_bytes] = self.style.twice(direction.bytes, FioQuantity::Bytes);
        let (from, to) = (direction.min_ms, direction.max_ms);
        format!(
            "{name}: bw={all} ({other_all}), {min}-{max} ({other_min}-{other_max}), io={bytes} ({other_bytes}), run={from}-{to}msec\n"
        )
    }
}

/// `Disk stats (read/write):` and a line for each disk, after an empty one; empty without disks.
pub fn disk_lines(disks: &[FioDiskReport]) -> String {
    if disks.is_empty() {
        return String::new();
    }
    let mut out = "\nDisk stats (read/write):\n".to_string();
    for disk in disks {
        let indent = if disk.members.is_some() { "    " } else { "  " };
        let _ = write!(out, "{indent}{}: {}", disk.name, disk_text(&disk.own, ""));
        if let Some(members) = &disk.members {
            let _ = write!(out, ", {}", disk_text(members, "aggr"));
        }
        out.push('\n');
    }
    out
}

fn disk_text(found: &FioDiskUse, before: &str) -> String {
    // fio spells this one word of the members with an 'r' less.
    let sectors = if before.is_empty() { "sectors" } else { "aggsectors" };
    let pair = |[read, write]: [u64; 2]| format!("{read}/{write}");
    format!(
        "{before}ios={}, {sectors}={}, {before}merge={}, {before}ticks={}, {before}in_queue={}, {before}util={:.2}%",
        pair(found.ios),
        pair(found.sectors),
        pair(found.merges),
        pair(found.ticks),
        found.in_queue,
        found.util
    )
}

/// `CPU idleness:` and its lines, after an empty one.
pub fn idle_lines(idleness: &FioIdleness) -> String {
    let mut out = format!("\nCPU idleness:\n  system: {:.2}%\n", idleness.system);
    if !idleness.cpus.is_empty() {
        let cpus: Vec<String> = idleness.cpus.iter().map(|idle| format!("{idle:.2}%")).collect();
        let _ = writeln!(out, "  percpu: {}", cpus.join(", "));
    }
    out + &unit_line(idleness)
}

/// `CPU idleness:` of `--idle-prof=calibrate`, where nothing is run.
pub fn calibration_lines(idleness: &FioIdleness) -> String {
    format!("CPU idleness:\n{}", unit_line(idleness))
}

fn unit_line(idleness: &FioIdleness) -> String {
    let (mean, deviation) = (idleness.unit_mean, idleness.unit_deviation);
    format!("  unit work: mean={mean:.2}us, stddev={deviation:.2}\n")
}
