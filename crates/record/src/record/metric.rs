//! What figures are of: the metrics with their words and units, and why one may have no value.

use std::fmt;

use serde::{Serialize, Serializer};

use assay_plan::stats::{ActionTotal, Latency};

/// Why a figure has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Absence {
    /// No bytes were moved.
    NothingMoved,
    /// No time passed.
    NoTime,
    /// No operation was timed.
    NotTimed,
    /// Fewer than ten operations took longer: a percentile of so few is chance.
    FewerThanTenBeyond,
    /// Too few samples, or too few operations in them, to tell a spread.
    TooFewSamples,
    /// The record does not have it.
    NotKept,
}

impl Absence {
    /// In a few words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::NothingMoved => "no bytes were moved",
            Self::NoTime => "no time passed",
            Self::NotTimed => "no operation was timed",
            Self::FewerThanTenBeyond => "fewer than ten operations took longer",
            Self::TooFewSamples => "too few samples",
            Self::NotKept => "not recorded",
        }
    }
}

/// What the value of a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FigureUnit {
    Operations,
    Bytes,
    /// Nanoseconds.
    Ns,
    BytesPerSecond,
    OperationsPerSecond,
    /// A share: 1 is the whole.
    Share,
}

/// What was measured. In the document a word such as `throughput` or `lat_p99`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Operations answered without an error.
    Ops,
    /// Bytes moved.
    Bytes,
    /// Operations answered with an error.
    Errors,
    /// The time over which the rates are taken; of all actions together the counted time of the phase, with
    /// what is flushed and closed inside it.
    Time,
    /// Bytes per second.
    Throughput,
    /// The same until the last call had returned, where the time ends later: with a flush.
    ThroughputCalls,
    /// Bytes written per second until the flush had ended that was only watched after the timing.
    ThroughputSettled,
    /// Bytes per second of a fast start, before the rate fell.
    ThroughputBurst,
    /// Bytes per second that last: of the steady rounds, else of all after a burst.
    ThroughputLasting,
    /// Operations per second.
    Iops,
    /// How far the rate spreads over the time of the phase: a robust standard deviation as a share of the
    /// median. Of each action that moves data, and of all together.
    Spread,
    /// CPU time of the workers.
    Cpu,
    /// CPU time of the workers as a share of the time of the phase; more than 1 where several were busy.
    CpuShare,
    /// I/Os that one worker had in flight when one was sent, itself included: mean.
    DepthMean,
    /// The same: most.
    DepthMax,
    /// Operations per second that were to arrive.
    IopsAsked,
    /// Of these those that were answered, until the last call had returned.
    IopsReached,
    Latency(LatencyPart, Statistic),
}

/// Which part of an operation's time a latency is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatencyPart {
    /// All of it: from when it was due (submitted, where nothing else says when) to its completion.
    Whole,
    /// From submission until the kernel had accepted it.
    Submission,
    /// From then to completion.
    Completion,
    /// From when it was due until it was submitted.
    Lag,
    /// From submission to completion.
    Service,
}

impl LatencyPart {
    /// All of them, in the order in which they are written.
    pub const ALL: [Self; 5] =
        [Self::Whole, Self::Submission, Self::Completion, Self::Lag, Self::Service];

    /// What stands before the statistic in the document: `lat`, `slat`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "lat",
            Self::Submission => "slat",
            Self::Completion => "clat",
            Self::Lag => "lag",
            Self::Service => "service",
        }
    }

    /// That latency of a total; `None` where it was not kept, or nothing was timed.
    pub(super) fn of(self, total: &ActionTotal) -> Option<&Latency> {
        match self {
            Self::Whole => total.lat_ns.as_ref(),
            Self::Submission => total.slat_ns.as_deref(),
            Self::Completion => total.clat_ns.as_deref(),
            Self::Lag => total.lag_ns.as_deref(),
            Self::Service => total.service_ns.as_deref(),
        }
    }
}

/// What is told of many latencies by one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The shortest.
    Min,
    Mean,
    /// The standard deviation.
    Stddev,
    /// The time within which half were answered.
    P50,
    /// 90 %.
    P90,
    /// 99 %.
    P99,
    /// 99.9 %.
    P99_9,
    P99_99,
    /// The longest.
    Max,
}

impl Statistic {
    /// All of them, in the order in which they are written.
    pub const ALL: [Self; 9] = [
        Self::Min,
        Self::Mean,
        Self::Stddev,
        Self::P50,
        Self::P90,
        Self::P99,
        Self::P99_9,
        Self::P99_99,
        Self::Max,
    ];

    /// The word for it in the document: `p99_9`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Min => "min",
            Self::Mean => "mean",
            Self::Stddev => "stddev",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P99 => "p99",
            Self::P99_9 => "p99_9",
            Self::P99_99 => "p99_99",
            Self::Max => "max",
        }
    }

    /// Its value in ns: extremes and means of any that were timed, a percentile only where enough of them
    /// took longer.
    pub(super) fn of(self, latency: &Latency) -> Result<f64, Absence> {
        let percentile = match self {
            Self::Min => return Ok(latency.min as f64),
            Self::Mean => return Ok(latency.mean),
            Self::Stddev => return latency.stddev.ok_or(Absence::NotKept),
            Self::Max => return Ok(latency.max as f64),
            Self::P50 => latency.p50,
            Self::P90 => latency.p90,
            Self::P99 => latency.p99,
            Self::P99_9 => latency.p99_9,
            Self::P99_99 => latency.p99_99,
        };
        percentile.map(|time| time as f64).ok_or(Absence::FewerThanTenBeyond)
    }
}

impl Metric {
    /// The 99th percentile of the latency.
    pub const P99: Self = Self::lat(Statistic::P99);

    /// A statistic of the whole latency.
    pub const fn lat(of: Statistic) -> Self {
        Self::Latency(LatencyPart::Whole, of)
    }

    /// All of them, in the order in which they are written.
    pub fn all() -> impl Iterator<Item = Self> {
        let others = [
            Self::Ops,
            Self::Bytes,
            Self::Errors,
            Self::Time,
            Self::Throughput,
            Self::ThroughputCalls,
            Self::ThroughputSettled,
            Self::ThroughputBurst,
            Self::ThroughputLasting,
            Self::Iops,
            Self::Spread,
            Self::Cpu,
            Self::CpuShare,
            Self::DepthMean,
            Self::DepthMax,
            Self::IopsAsked,
            Self::IopsReached,
        ];
        let of_part = |part| Statistic::ALL.map(|of| Self::Latency(part, of));
        others.into_iter().chain(LatencyPart::ALL.into_iter().flat_map(of_part))
    }

    /// What its values count.
    pub const fn unit(self) -> FigureUnit {
        match self {
            Self::Ops | Self::Errors | Self::DepthMean | Self::DepthMax => FigureUnit::Operations,
            Self::Bytes => FigureUnit::Bytes,
            Self::Time | Self::Cpu | Self::Latency(..) => FigureUnit::Ns,
            Self::Throughput
            | Self::ThroughputCalls
            | Self::ThroughputSettled
            | Self::ThroughputBurst
            | Self::ThroughputLasting => FigureUnit::BytesPerSecond,
            Self::Iops | Self::IopsAsked | Self::IopsReached => FigureUnit::OperationsPerSecond,
            Self::Spread | Self::CpuShare => FigureUnit::Share,
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self {
            Self::Ops => "ops",
            Self::Bytes => "bytes",
            Self::Errors => "errors",
            Self::Time => "time",
            Self::Throughput => "throughput",
            Self::ThroughputCalls => "throughput_calls",
            Self::ThroughputSettled => "throughput_settled",
            Self::ThroughputBurst => "throughput_burst",
            Self::ThroughputLasting => "throughput_lasting",
            Self::Iops => "iops",
            Self::Spread => "spread",
            Self::Cpu => "cpu",
            Self::CpuShare => "cpu_share",
            Self::DepthMean => "depth_mean",
            Self::DepthMax => "depth_max",
            Self::IopsAsked => "iops_asked",
            Self::IopsReached => "iops_reached",
            Self::Latency(part, of) => return write!(f, "{}_{}", part.name(), of.name()),
        };
        f.write_str(word)
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Metric {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Metric".into()
    }

    fn json_schema(_generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let words: Vec<String> = Self::all().map(|metric| metric.to_string()).collect();
        schemars::json_schema!({
            "description": "What was measured. Latencies: lat is the whole, from when an operation was \
                            due to its completion; slat until the kernel had accepted it, clat from \
                            then on; lag from due to submission, service from then to completion.",
            "type": "string",
            "enum": words,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_a_word_of_its_own() {
        let mut words: Vec<String> = Metric::all().map(|metric| metric.to_string()).collect();
        let all = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), all);
    }
}
