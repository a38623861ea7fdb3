//! What a job reports, and its logs.

use std::time::Duration;

use super::choices::{FioClock, FioLogWindow, FioUnified};

/// The percentiles that are reported where none are asked for.
pub const FIO_PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// What is reported, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct FioStatistics {
    /// A text for the report.
    pub description: Option<String>,
    /// Whether there are percentiles of completion latency.
    pub clat_percentiles: bool,
    /// ... of the whole latency.
    pub lat_percentiles: bool,
    pub slat_percentiles: bool,
    /// Which, percent from 0 to 100: 20 at most.
    pub percentile_list: Vec<f64>,
    /// Digits behind the point in their names, as many as were typed at most.
    pub percentile_precision: u32,
    /// Digits of numbers in the report for people: 1 to 10.
    pub significant_figures: u32,
    /// Whether the load of disks is reported.
    pub disk_util: bool,
    /// Whether the job is part of the report.
    pub stats: bool,
    /// Whether the clock is read less often, and no latency is known.
    pub gtod_reduce: bool,
    /// Whether the whole latency is left out.
    pub disable_lat: bool,
    /// Whether completion latency is left out.
    pub disable_clat: bool,
    /// Whether submission latency is left out.
    pub disable_slat: bool,
    /// Whether samples of bandwidth are left out.
    pub disable_bw: bool,
    /// The CPU of a thread that reads the clock for all.
    pub gtod_cpu: Option<u32>,
    /// The clock; none is the counter of the processor where it is steady.
    pub clocksource: Option<FioClock>,
    /// The clock of `job_start`: a `clockid_t`.
    pub job_start_clock_id: u32,
    /// The time over which a sample of bandwidth is taken.
    pub bwavgtime: Duration,
    pub iopsavgtime: Duration,
    /// Whether directions are reported together.
    pub unified: FioUnified,
    /// Whether kilo is 1024 or 1000 in what is printed first.
    pub kb_base: u32,
    /// 8 for bytes per second, 1 for bits; 0 is as the engine does, until the job is complete.
    pub unit_base: u32,
}

impl Default for FioStatistics {
    fn default() -> Self {
        Self {
            description: None,
            clat_percentiles: true,
            lat_percentiles: false,
            slat_percentiles: false,
            percentile_list: FIO_PERCENTILES.to_vec(),
            percentile_precision: 2,
            significant_figures: 4,
            disk_util: true,
            stats: true,
            gtod_reduce: false,
            disable_lat: false,
            disable_clat: false,
            disable_slat: false,
            disable_bw: false,
            gtod_cpu: None,
            clocksource: None,
            job_start_clock_id: 0,
            bwavgtime: Duration::from_millis(500),
            iopsavgtime: Duration::from_millis(500),
            unified: FioUnified::None,
            kb_base: 1024,
            unit_base: 0,
        }
    }
}

/// Its logs. Each has a prefix of its own; an empty one is the name of the job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioLogs {
    pub bw: Option<String>,
    /// The logs of the three latencies.
    pub lat: Option<String>,
    pub iops: Option<String>,
    pub hist: Option<String>,
    /// Whether names have the number of the clone.
    pub per_job: bool,
    /// The time over which a line is the mean; zero is a line for each I/O.
    pub avg: Duration,
    /// The same of the log of bandwidth, when the job is complete.
    pub bw_avg: Duration,
    /// ... of the log of IOPS.
    pub iops_avg: Duration,
    /// The time between two histograms.
    pub hist_interval: Duration,
    /// How coarse a histogram is: 0 to 6, each has half the bins of the one before.
    pub hist_coarseness: u32,
    /// What stands in a line.
    pub window: FioLogWindow,
    pub offset: bool,
    pub prio: bool,
    /// Whether the time of issue does.
    pub issue_time: bool,
    /// Bytes that are compressed at a time; 0 is not at all.
    pub compression: u32,
    /// Whether they are written compressed.
    pub store_compressed: bool,
    /// Whether times are those of a clock, and not since the start.
    pub alternate_epoch: bool,
    /// That clock: a `clockid_t`.
    pub alternate_epoch_clock_id: u32,
    /// Lines that memory is taken for at a time.
    pub entries: u32,
}

impl Default for FioLogs {
    fn default() -> Self {
        Self {
            bw: None,
            lat: None,
            iops: None,
            hist: None,
            per_job: true,
            avg: Duration::ZERO,
            bw_avg: Duration::ZERO,
            iops_avg: Duration::ZERO,
            hist_interval: Duration::ZERO,
            hist_coarseness: 0,
            window: FioLogWindow::Avg,
            offset: false,
            prio: false,
            issue_time: false,
            compression: 0,
            store_compressed: false,
            alternate_epoch: false,
            alternate_epoch_clock_id: 0,
            entries: 1024,
        }
    }
}
