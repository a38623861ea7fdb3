//! What one action of one job added up to, and the summary of it that goes into the record.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::histogram::{Cell, Histogram};
use crate::unit::{Bandwidth, Bytes, Iops, Nanos, Ops};

/// Running totals of one action, one per worker; merged once at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Operations answered without an error.
    pub ops: u64,
    /// Bytes those moved, by the calls' own return values.
    pub bytes: u64,
    /// Operations answered with an error.
    pub errors: u64,
    /// Operations that moved fewer bytes than asked for.
    pub short: u64,
    /// Blocks whose content was not what must be there.
    pub mismatches: u64,
    /// From submission (in open loops from the time it was due) to completion.
    pub lat: Histogram,
}

impl Tally {
    /// One good operation.
    #[inline]
    pub fn add(&mut self, bytes: u64, asked: u64, lat_ns: u64) {
        self.ops += 1;
        self.bytes += bytes;
        self.short += u64::from(bytes < asked);
        self.lat.record(lat_ns);
    }

    /// One good operation whose time was not taken.
    #[inline]
    pub fn add_untimed(&mut self, bytes: u64) {
        self.ops += 1;
        self.bytes += bytes;
    }

    /// Adds another worker's.
    pub fn merge(&mut self, other: &Self) {
        self.ops += other.ops;
        self.bytes += other.bytes;
        self.errors += other.errors;
        self.short += other.short;
        self.mismatches += other.mismatches;
        self.lat.merge(&other.lat);
    }

    /// The summary over a counted time. Rates are absent when no time passed.
    pub fn total(&self, time: Nanos) -> Total {
        Total {
            ops: Ops(self.ops),
            bytes: Bytes(self.bytes),
            errors: self.errors,
            short: self.short,
            mismatches: self.mismatches,
            time,
            iops: Ops(self.ops).over(time),
            bandwidth: Bytes(self.bytes).over(time),
            lat_ns: Latency::of(&self.lat),
            histogram: self.lat.cells(),
        }
    }
}

/// What an action added up to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Total {
    /// Operations answered without an error.
    pub ops: Ops,
    /// Bytes those moved.
    pub bytes: Bytes,
    /// Operations answered with an error.
    pub errors: u64,
    /// Operations that moved fewer bytes than asked for.
    pub short: u64,
    /// Blocks whose content was not what must be there.
    pub mismatches: u64,
    /// The time over which the rates are taken: the counted window, with the closing flush when
    /// the plan has it inside the timing. Nanoseconds.
    #[serde(rename = "time_ns")]
    pub time: Nanos,
    /// Operations per second.
    pub iops: Option<Iops>,
    /// Bytes per second.
    pub bandwidth: Option<Bandwidth>,
    /// Latency in nanoseconds; absent when nothing was done.
    pub lat_ns: Option<Latency>,
    /// The cells of the latency histogram that hold anything: smallest value (ns), count.
    pub histogram: Vec<Cell>,
}

impl Total {
    /// Events beyond a quantile: fewer than ten, and it should not be printed as a fact.
    pub fn events_beyond(&self, q: f64) -> f64 {
        self.lat_ns.map_or(0.0, |lat| lat.n as f64) * (1.0 - q)
    }
}

/// Latency of an action, nanoseconds. Mean, least and max are exact; quantiles are within 0.4 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Operations whose time was taken: all, but of a copy in small buffered blocks, of which one
    /// call in 17 is.
    pub n: u64,
    /// Mean.
    pub mean: f64,
    /// Smallest.
    pub min: u64,
    /// Half are below.
    pub p50: u64,
    /// 90 % are below.
    pub p90: u64,
    /// 99 % are below.
    pub p99: u64,
    /// 99.9 % are below.
    pub p99_9: u64,
    /// 99.99 % are below.
    pub p99_99: u64,
    /// Largest.
    pub max: u64,
}

impl Latency {
    fn of(lat: &Histogram) -> Option<Self> {
        Some(Self {
            n: lat.count(),
            mean: lat.mean()?,
            min: lat.least()?,
            p50: lat.quantile(0.5)?,
            p90: lat.quantile(0.9)?,
            p99: lat.quantile(0.99)?,
            p99_9: lat.quantile(0.999)?,
            p99_99: lat.quantile(0.9999)?,
            max: lat.most()?,
        })
    }
}
