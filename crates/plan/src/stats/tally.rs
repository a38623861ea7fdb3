//! What one action of one job added up to, and the summary of it that goes into the record.

use serde::{Deserialize, Deserializer, Serialize};

use super::histogram::Histogram;
use super::histogram_cells::HistogramCells;
use super::percentile::Percentile;
use crate::unit::{Bandwidth, Bytes, Iops, Nanos, Ops, Timestamp};

/// Running totals of one action, one per worker; merged once at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActionTally {
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
    /// The same in parts, where a job asks for them or has arrivals of its own.
    pub parts: Option<Box<LatencyParts>>,
}

/// The parts of a latency that are kept: an I/O is due, submitted, accepted by the kernel, and completed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyParts {
    /// Where I/Os are due at times of their own.
    pub by_arrival: Option<LatencyByArrival>,
    /// Where a method has I/Os accepted and completed apart.
    pub by_acceptance: Option<LatencyByAcceptance>,
}

/// The parts of a latency before and after its submission.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyByArrival {
    /// Due to submitted: how late the program itself was.
    pub lag: Histogram,
    /// Submitted to completed: what the device and the kernel took.
    pub service: Histogram,
}

/// The parts of a latency before and after its acceptance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyByAcceptance {
    /// Submitted to accepted.
    pub slat: Histogram,
    /// Accepted to completed.
    pub clat: Histogram,
}

/// When things happened to one I/O.
#[derive(Clone, Copy, Debug)]
pub struct IoTimes {
    /// It should have begun.
    pub due: Timestamp,
    /// It was handed over.
    pub submitted: Timestamp,
    /// The kernel had taken it; as `submitted` where nobody looked.
    pub accepted: Timestamp,
    /// It was answered.
    pub completed: Timestamp,
}

/// Which parts of a latency are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatencySplit {
    /// Lag and service time: where I/Os are due at times of their own.
    pub by_arrival: bool,
    /// Submission and completion latency: where a method does these apart.
    pub by_acceptance: bool,
}

impl LatencySplit {
    /// Whether anything is.
    pub fn any(self) -> bool {
        self.by_arrival || self.by_acceptance
    }

    /// Room for what is kept.
    pub fn parts(self) -> Option<Box<LatencyParts>> {
        self.any().then(|| {
            Box::new(LatencyParts {
                by_arrival: self.by_arrival.then(Default::default),
                by_acceptance: self.by_acceptance.then(Default::default),
            })
        })
    }
}

impl LatencyParts {
    /// One good operation.
    #[inline]
    pub fn add(&mut self, at: IoTimes) {
        if let Some(parts) = &mut self.by_arrival {
            parts.lag.record(at.submitted.since(at.due).0);
            parts.service.record(at.completed.since(at.submitted).0);
        }
        if let Some(parts) = &mut self.by_acceptance {
            parts.slat.record(at.accepted.since(at.submitted).0);
            parts.clat.record(at.completed.since(at.accepted).0);
        }
    }

    /// Which these are.
    pub fn split(&self) -> LatencySplit {
        LatencySplit {
            by_arrival: self.by_arrival.is_some(),
            by_acceptance: self.by_acceptance.is_some(),
        }
    }

    fn merge(&mut self, other: &Self) {
        if let Some(theirs) = &other.by_arrival {
            let ours = self.by_arrival.get_or_insert_default();
            ours.lag.merge(&theirs.lag);
            ours.service.merge(&theirs.service);
        }
        if let Some(theirs) = &other.by_acceptance {
            let ours = self.by_acceptance.get_or_insert_default();
            ours.slat.merge(&theirs.slat);
            ours.clat.merge(&theirs.clat);
        }
    }
}

impl ActionTally {
    /// One good operation.
    #[inline]
    pub fn add(&mut self, bytes: u64, asked: u64, lat_ns: u64) {
        self.ops += 1;
        self.bytes += bytes;
        self.short += u64::from(bytes < asked);
        self.lat.record(lat_ns);
    }

    /// One good operation with its moments: latency counts from when it was due.
    #[inline]
    pub fn count(&mut self, bytes: u32, asked: u32, at: IoTimes) {
        self.add(bytes.into(), asked.into(), at.completed.since(at.due).0);
        if let Some(parts) = &mut self.parts {
            parts.add(at);
        }
    }

    /// One good operation whose time was not taken.
    #[inline]
    pub fn add_untimed(&mut self, bytes: u64, asked: u64) {
        self.ops += 1;
        self.bytes += bytes;
        self.short += u64::from(bytes < asked);
    }

    /// So many good operations that moved all they were to, whose time was not taken.
    #[inline]
    pub fn add_row(&mut self, ops: u64, bytes: u64) {
        self.ops += ops;
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
        if let Some(parts) = &other.parts {
            self.parts.get_or_insert_default().merge(parts);
        }
    }

    /// The summary over a counted time. Rates are absent when no time passed.
    pub fn total(&self, time: Nanos) -> ActionTotal {
        let by_arrival = self.parts.as_ref().and_then(|parts| parts.by_arrival.as_ref());
        let by_acceptance = self.parts.as_ref().and_then(|parts| parts.by_acceptance.as_ref());
        let latency = |part: Option<&Histogram>| Latency::of(part?).map(Box::new);
        let cells = |part: Option<&Histogram>| part.map(Histogram::cells).unwrap_or_default();
        ActionTotal {
            ops: Ops(self.ops),
            bytes: Bytes(self.bytes),
            errors: self.errors,
            short: self.short,
            mismatches: self.mismatches,
            time,
            iops: Ops(self.ops).over(time),
            bandwidth: Bytes(self.bytes).over(time),
            lat_ns: Latency::of(&self.lat),
            lag_ns: latency(by_arrival.map(|parts| &parts.lag)),
            service_ns: latency(by_arrival.map(|parts| &parts.service)),
            slat_ns: latency(by_acceptance.map(|parts| &parts.slat)),
            clat_ns: latency(by_acceptance.map(|parts| &parts.clat)),
            histogram: self.lat.cells(),
            service_histogram: cells(by_arrival.map(|parts| &parts.service)),
            slat_histogram: cells(by_acceptance.map(|parts| &parts.slat)),
            clat_histogram: cells(by_acceptance.map(|parts| &parts.clat)),
        }
    }
}

/// What an action added up to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ActionTotal {
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
    /// Latency in nanoseconds, from when an I/O was due to its completion: the response time;
    /// absent when nothing was done.
    pub lat_ns: Option<Latency>,
    /// Of jobs with arrivals of their own: from when it was due until it was submitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag_ns: Option<Box<Latency>>,
    /// Of the same: from submission to completion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_ns: Option<Box<Latency>>,
    /// Where the job asks for it: from submission until the kernel had accepted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slat_ns: Option<Box<Latency>>,
    /// Of the same: from then to completion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clat_ns: Option<Box<Latency>>,
    /// The cells of the latency histogram that hold anything: smallest value (ns), count.
    pub histogram: HistogramCells,
    /// Those of `service_ns`, where it is there.
    #[serde(default, skip_serializing_if = "HistogramCells::is_empty")]
    pub service_histogram: HistogramCells,
    /// Those of `slat_ns`, where it is there.
    #[serde(default, skip_serializing_if = "HistogramCells::is_empty")]
    pub slat_histogram: HistogramCells,
    /// Those of `clat_ns`, where it is there.
    #[serde(default, skip_serializing_if = "HistogramCells::is_empty")]
    pub clat_histogram: HistogramCells,
}

impl ActionTotal {
    /// The time within which that part was answered, however few they are: a measure for rules, and no
    /// figure. The longest where the cells are not kept; 0 where none was timed.
    pub fn answered_within(&self, part: Percentile) -> Nanos {
        let Some(latency) = &self.lat_ns else { return Nanos::ZERO };
        let rank = part.rank(self.histogram.iter().map(|cell| cell.1).sum());
        let mut seen = 0;
        let cell = self.histogram.iter().find(|cell| {
            seen += cell.1;
            seen >= rank
        });
        Nanos(cell.map_or(latency.max, |cell| cell.0.max(latency.min).min(latency.max)))
    }
}

/// Latency of an action, nanoseconds. Mean, stddev, least and max are exact; percentiles are within 0.4 %,
/// and absent where fewer than ten operations took longer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Latency {
    /// Operations whose time was taken: all, but where calls are brisk, of copies and where the plan says so
    /// (`detail.sampled`): one in 33 of those.
    pub n: u64,
    pub mean: f64,
    /// Standard deviation; absent in records of versions that did not keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stddev: Option<f64>,
    /// Smallest.
    pub min: u64,
    /// Half are below; absent of fewer than 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50: Option<u64>,
    /// 90 % are below; absent of fewer than 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p90: Option<u64>,
    /// 99 % are below; absent of fewer than 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<u64>,
    /// 99.9 % are below; absent of fewer than 10,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_9: Option<u64>,
    /// 99.99 % are below; absent of fewer than 100,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_99: Option<u64>,
    /// Largest.
    pub max: u64,
}

/// A latency as documents have it: those of earlier versions have all percentiles of however few.
#[derive(Deserialize)]
struct WrittenLatency {
    n: u64,
    mean: f64,
    stddev: Option<f64>,
    min: u64,
    p50: Option<u64>,
    p90: Option<u64>,
    p99: Option<u64>,
    p99_9: Option<u64>,
    p99_99: Option<u64>,
    max: u64,
}

impl<'de> Deserialize<'de> for Latency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let WrittenLatency { n, mean, stddev, min, p50, p90, p99, p99_9, p99_99, max } =
            WrittenLatency::deserialize(deserializer)?;
        Ok(Self { n, mean, stddev, min, p50, p90, p99, p99_9, p99_99, max }.told())
    }
}

impl Latency {
    fn of(lat: &Histogram) -> Option<Self> {
        let whole = Self {
            n: lat.count(),
            mean: lat.mean()?,
            stddev: lat.deviation(),
            min: lat.least()?,
            p50: lat.percentile(Percentile::P50),
            p90: lat.percentile(Percentile::P90),
            p99: lat.percentile(Percentile::P99),
            p99_9: lat.percentile(Percentile::P99_9),
            p99_99: lat.percentile(Percentile::P99_99),
            max: lat.most()?,
        };
        Some(whole.told())
    }

    /// The same without the percentiles that so few operations cannot have.
    pub fn told(mut self) -> Self {
        for (value, percentile) in [
            (&mut self.p50, Percentile::P50),
            (&mut self.p90, Percentile::P90),
            (&mut self.p99, Percentile::P99),
            (&mut self.p99_9, Percentile::P99_9),
            (&mut self.p99_99, Percentile::P99_99),
        ] {
            *value = value.filter(|_| percentile.is_told_of(self.n));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(ops: u64) -> ActionTotal {
        let mut tally = ActionTally::default();
        (1..=ops).for_each(|n| tally.add(512, 512, n));
        tally.total(Nanos::secs(1))
    }

    #[test]
    fn few_operations_have_no_percentiles_in_the_document_either() {
        for (ops, names) in [
            (1, vec![]),
            (20, vec!["p50"]),
            (99, vec!["p50"]),
            (100, vec!["p50", "p90"]),
            (1000, vec!["p50", "p90", "p99"]),
            (10_000, vec!["p50", "p90", "p99", "p99_9"]),
            (100_000, vec!["p50", "p90", "p99", "p99_9", "p99_99"]),
        ] {
            let document = serde_json::to_value(total(ops)).expect("json");
            let latency = document["lat_ns"].as_object().expect("timed");
            let found: Vec<&String> = latency.keys().filter(|key| key.starts_with('p')).collect();
            assert_eq!(found, names, "{ops}");
        }
    }

    #[test]
    fn percentiles_of_few_in_earlier_documents_are_not_read() {
        let text =
            r#"{"n":1,"mean":7.0,"min":7,"p50":7,"p90":7,"p99":7,"p99_9":7,"p99_99":7,"max":7}"#;
        let read: Latency = serde_json::from_str(text).expect("a latency");
        assert_eq!(
            Some(Latency { stddev: None, ..read }),
            total(1).lat_ns.map(|one| Latency { mean: 7.0, stddev: None, min: 7, max: 7, ..one })
        );
        assert_eq!((read.p50, read.p99_99, read.max), (None, None, 7));
    }

    #[test]
    fn rules_may_ask_of_few_what_is_no_figure() {
        assert_eq!(total(100).answered_within(Percentile::P99), Nanos(99));
        assert_eq!(total(0).answered_within(Percentile::P99), Nanos::ZERO);
        let bare = ActionTotal { histogram: HistogramCells::default(), ..total(100) };
        assert_eq!(bare.answered_within(Percentile::P99), Nanos(100));
    }
}
