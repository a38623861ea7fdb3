//! What fio reports of a job, or of the clones of a group taken together.

use super::bins::FioBins;
use super::moments::{FioMoments, per_second};
use super::shares::{FioLatencyShares, FioShares};
use crate::dialect::fio::job::FioSteadyState;
pub use crate::dialect::fio::job::FioUnified;

/// What `read`, `write` and `trim` are called, in the order of [`FioJobReport::directions`].
pub const FIO_DIRECTIONS: [&str; 3] = ["read", "write", "trim"];

/// An option and its value as they were typed; a flag has the value `""`.
pub type FioTypedOption = (String, String);

/// A job's report. Times are in ms where nothing else is said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioJobReport {
    /// `name=` of the first clone.
    pub name: String,
    /// Number of its group, from 0.
    pub group: u32,
    /// How many clones are in this report, at least 1.
    pub clones: u32,
    /// When it started: ms since 1970.
    pub start_ms: u64,
    /// Error number that ended it; 0 is none.
    pub error: i32,
    /// What stands in brackets behind the error number: `file:..., func=..., error=...`.
    pub error_text: String,
    /// Process (or thread) that did it; of clones the first.
    pub pid: u32,
    /// `description=`; empty is none.
    pub description: String,
    /// Seconds that all jobs will still take; `None` is unknown.
    pub eta_s: Option<u64>,
    /// Seconds since the program began.
    pub elapsed_s: u64,
    /// Options of its section as typed, those of `[global]` not among them; of clones and jobs that are reported
    /// together, of the last.
    pub options: Vec<FioTypedOption>,
    /// How its numbers are written.
    pub style: FioStyle,
    /// Which percentiles are shown.
    pub percentiles: FioPercentiles,
    /// Whether directions are reported together. Where they are ([`FioUnified::Mixed`]) the first of
    /// `directions` is all of them.
    pub unified: FioUnified,
    pub directions: [FioDirectionReport; 3],
    /// How many fsync, fdatasync and the like.
    pub syncs: u64,
    pub sync_latency: FioLatency,
    /// Wall time that it ran; of clones the sum.
    pub runtime_ms: u64,
    /// CPU time in the program; of clones the sum.
    pub user_ms: u64,
    /// CPU time in the kernel; of clones the sum.
    pub system_ms: u64,
    /// Context switches, voluntary or not.
    pub context_switches: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Page faults that did not.
    pub minor_faults: u64,
    /// I/Os by the depth that they were submitted at: 1, 2.., 4.., 8.., 16.., 32.., 64 or more; of all reads, writes
    /// and trims.
    pub depths: FioShares<7>,
    /// Submissions by how many I/Os each took: 0, ..4, ..8, ..16, ..32, ..64, more; of all submissions.
    pub submits: FioShares<7>,
    /// Completions, in the same way.
    pub completes: FioShares<7>,
    /// Reads, writes and trims by latency.
    pub latencies: FioLatencyShares,
    /// Errors passed over; only with `continue_on_error`.
    pub errors: Option<FioPassedErrors>,
    /// Depth and target of latency; fio always shows them.
    pub latency_target: FioLatencyTarget,
    /// Steady state, where one was asked for.
    pub steady_state: Option<FioSteadyReport>,
    /// Zones reset; of zoned devices only.
    pub zone_resets: Option<u64>,
}

/// What moved in one direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioDirectionReport {
    pub ios: u64,
    /// I/Os that moved less than asked.
    pub short: u64,
    /// I/Os not done, being out of the file's bounds.
    pub dropped: u64,
    pub bytes: u64,
    /// From the first to the last I/O; of clones the longest. 0: nothing is shown of it.
    pub runtime_ms: u64,
    pub slat: FioLatency,
    pub clat: FioLatency,
    pub lat: FioLatency,
    /// Bandwidth in KiB/s, sampled each `bwavgtime`; intervals without I/O are no samples.
    pub bw: FioMoments,
    /// I/Os per second, sampled each `iopsavgtime`.
    pub iops: FioMoments,
    /// One for each priority that its I/Os had. Shown where there are two or more with samples.
    pub priorities: Vec<FioPriorityLatency>,
    /// Reads found in the page cache, where the engine can tell.
    pub cache_hits: u64,
    pub cache_misses: u64,
}

/// A kind of latency in ns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioLatency {
    pub moments: FioMoments,
    /// All of them; empty where no percentiles are asked for.
    pub bins: FioBins,
}

/// Latencies of the I/Os of one priority: lat where [`FioPercentiles::lat`], else clat.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioPriorityLatency {
    /// 0 none, 1 real time, 2 best effort, 3 idle.
    pub class: u8,
    /// 0 (first) to 7.
    pub level: u8,
    /// The hint, 0 to 1023.
    pub hint: u16,
    pub latency: FioLatency,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioStyle {
    /// `kb_base`: 1024 or 1000.
    pub kb_base: u32,
    /// `unit_base=1`: bandwidth in bits.
    pub bits: bool,
    /// `significant_figures`: 1 to 10.
    pub figures: usize,
}

impl Default for FioStyle {
    fn default() -> Self {
        Self { kb_base: 1024, bits: false, figures: 4 }
    }
}

/// Which percentiles are shown.
#[derive(Clone, Debug, PartialEq)]
pub struct FioPercentiles {
    /// `slat_percentiles`.
    pub slat: bool,
    /// `clat_percentiles`.
    pub clat: bool,
    /// `lat_percentiles`.
    pub lat: bool,
    /// `percentile_list`, sorted: at most 20, each above 0 and at most 100.
    pub list: Vec<f64>,
    /// Decimals of their names: as many as the longest of the list was typed with.
    pub precision: usize,
}

impl Default for FioPercentiles {
    fn default() -> Self {
        let list = [
            1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9,
            99.95, 99.99,
        ];
        Self { slat: false, clat: true, lat: false, list: list.into(), precision: 2 }
    }
}

/// Errors passed over by `continue_on_error`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FioPassedErrors {
    pub total: u64,
    /// Number of the first; 0 is none.
    pub first: i32,
}

/// `latency_target` and what goes with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FioLatencyTarget {
    /// Depth it came to: `iodepth` without a target.
    pub depth: u32,
    /// `latency_target` in ns; 0 is none.
    pub target_ns: u64,
    /// `latency_window` in us.
    pub window_us: u64,
    /// `latency_percentile`.
    pub percentile: f64,
}

impl Default for FioLatencyTarget {
    fn default() -> Self {
        Self { depth: 1, target_ns: 0, window_us: 0, percentile: 100.0 }
    }
}

/// `steadystate`, and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct FioSteadyReport {
    /// What was watched, and whether its slope had to be small or its distance from the mean.
    pub watched: FioSteadyState,
    /// Whether limit and criterion are in percent.
    pub percent: bool,
    pub limit: f64,
    /// `steadystate_duration` in s.
    pub duration_s: u64,
    pub attained: bool,
    /// What was compared with the limit at last.
    pub criterion: f64,
    /// Largest distance from the mean.
    pub max_deviation: f64,
    /// Slope of the watched values.
    pub slope: f64,
    /// I/Os per second in each interval, the oldest first.
    pub iops: Vec<u64>,
    /// Bytes per second in each interval.
    pub bw: Vec<u64>,
    /// Mean latency in ns in each interval; used where latency is watched.
    pub latencies: Vec<u64>,
}

impl FioSteadyReport {
    /// Whole mean of the values of intervals; 0 of none.
    pub fn mean(values: &[u64]) -> u64 {
        let sum: u128 = values.iter().copied().map(u128::from).sum();
        (sum / (values.len() as u128).max(1)) as u64
    }
}

impl FioJobReport {
    pub fn ios(&self) -> u64 {
        self.directions.iter().map(|direction| direction.ios).sum()
    }

    /// CPU time in percent of the runtime: in the program, in the kernel.
    pub fn cpu(&self) -> (f64, f64) {
        let percent = |ms: u64| match self.runtime_ms {
            0 => 0.0,
            runtime => ms as f64 * 100.0 / runtime as f64,
        };
        (percent(self.user_ms), percent(self.system_ms))
    }

    /// What a direction is called here: `mixed` where all are reported as one.
    pub fn direction_name(&self, direction: usize) -> &'static str {
        match self.unified {
            FioUnified::Mixed => "mixed",
            _ => FIO_DIRECTIONS.get(direction).copied().unwrap_or_default(),
        }
    }
}

impl FioDirectionReport {
    /// Whole bytes per second; 0 of no time.
    pub fn bytes_per_second(&self) -> u64 {
        per_second(self.bytes, self.runtime_ms)
    }

    /// Whole I/Os per second; 0 of no time.
    pub fn ios_per_second(&self) -> u64 {
        per_second(self.ios, self.runtime_ms)
    }

    /// Those priorities that have samples, where there are two or more.
    pub fn shown_priorities(&self) -> Vec<&FioPriorityLatency> {
        let seen = |one: &&FioPriorityLatency| one.latency.moments.count > 0;
        let shown: Vec<_> = self.priorities.iter().filter(seen).collect();
        if shown.len() < 2 { Vec::new() } else { shown }
    }

    /// Reads found in the page cache in percent, where that was looked for.
    pub fn cache_hit_percent(&self) -> Option<f64> {
        let all = self.cache_hits.saturating_add(self.cache_misses);
        (all > 0).then(|| self.cache_hits as f64 / all as f64 * 100.0)
    }
}

/// What the system calls an error: `No space left on device`.
pub fn errno_text(error: i32) -> String {
    let text = std::io::Error::from_raw_os_error(error).to_string();
    match text.rsplit_once(" (os error") {
        Some((words, _)) => words.to_string(),
        None => text,
    }
}
