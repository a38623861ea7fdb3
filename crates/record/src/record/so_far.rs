//! How far a phase has come while it goes on: for whoever reports before its end. No part of a document.

use super::{IntervalCounts, SamplePoint};
use assay_plan::stats::HistogramCell;

/// How far a phase has come.
#[derive(Clone, Debug, Default)]
pub struct PhaseSoFar {
    /// The samples of all jobs together.
    pub points: Vec<SamplePoint>,
    /// Those whose samples are kept apart, in their order: of a plan that keeps the workers of jobs each of these.
    pub parts: Vec<PartSoFar>,
}

/// How far a part of it has come.
#[derive(Clone, Debug, Default)]
pub struct PartSoFar {
    /// What it did in each interval of the samples.
    pub series: IntervalCounts,
    /// Operations whose time was taken, and the sum of their latencies, ns.
    pub timed: (u64, u64),
    /// Latencies of all its operations in coarse cells, where the phase has a map of heat: two for each power
    /// of two.
    pub latencies: Vec<HistogramCell>,
}
