//! All that fio reports of a run.

use super::job::{FioJobReport, FioTypedOption};

/// A run, as fio reports it. Everything that depends on machine and moment is a value here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioReport {
    /// What `fio --version` says: `fio-3.42`.
    pub version: String,
    /// When this is reported: ms since 1970.
    pub timestamp_ms: u64,
    /// The same for people: `Fri Nov 20 17:55:36 2026`.
    pub time: String,
    /// Options of `[global]` as typed.
    pub global_options: Vec<FioTypedOption>,
    /// A report for each job, or for each group with `group_reporting`; in order.
    pub jobs: Vec<FioJobReport>,
    /// How many groups there are, if more than the jobs name.
    pub groups: u32,
    /// The disks below the files; empty with `disk_util=0`.
    pub disks: Vec<FioDiskReport>,
    /// What `--idle-prof` found.
    pub idleness: Option<FioIdleness>,
    /// What assay has to say, under the key `assay`.
    pub assay: Option<serde_json::Value>,
}

/// What a disk did meanwhile. Pairs are read and written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioDiskReport {
    /// `vda`.
    pub name: String,
    pub own: FioDiskUse,
    /// Means over the devices below a stacked device, and the largest utilisation among them.
    pub members: Option<FioDiskUse>,
}

/// Growth of the counters of a disk over the run. Pairs are read and written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioDiskUse {
    pub ios: [u64; 2],
    /// Sectors of 512 bytes.
    pub sectors: [u64; 2],
    /// I/Os merged in the queue.
    pub merges: [u64; 2],
    /// Time that I/Os took, in ms, added up.
    pub ticks: [u64; 2],
    /// Time in the queue, in ms, added up.
    pub in_queue: u64,
    /// Time with any I/O in flight, in percent (0 to 100).
    pub util: f64,
}

/// Idle CPU time as `--idle-prof` measures it, in percent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioIdleness {
    pub system: f64,
    /// Of each CPU; empty without `percpu`.
    pub cpus: Vec<f64>,
    /// Mean time of a unit of work in us.
    pub unit_mean: f64,
    /// Its standard deviation in us.
    pub unit_deviation: f64,
}
