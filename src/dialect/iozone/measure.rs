//! What a test came to, in the units of IOzone, read from the figures of its phase.

use super::asked::{IozoneOptions, IozoneUnit};
use crate::record::{Figure, Metric, PhaseFigures, PhaseRecord};
use crate::unit::KIB;

/// What one stream did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChildResult {
    /// KiB or records that it moved.
    pub moved: f64,
    /// The same per second of its own time.
    pub rate: f64,
}

/// What the streams of a test did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamResults {
    /// Each of them.
    pub children: Vec<ChildResult>,
    /// All that was moved over the time of the whole test.
    pub parent: f64,
}

impl StreamResults {
    /// What the children see: the sum of their own rates.
    pub fn sum(&self) -> f64 {
        self.children.iter().map(|child| child.rate).sum()
    }

    /// The slowest.
    pub fn least(&self) -> f64 {
        self.children.iter().map(|child| child.rate).fold(f64::INFINITY, f64::min)
    }

    /// The fastest.
    pub fn most(&self) -> f64 {
        self.children.iter().map(|child| child.rate).fold(0.0, f64::max)
    }

    /// Of one stream.
    pub fn mean(&self) -> f64 {
        self.sum() / self.children.len().max(1) as f64
    }

    /// What the one moved that moved least.
    pub fn least_moved(&self) -> f64 {
        self.children.iter().map(|child| child.moved).fold(f64::INFINITY, f64::min)
    }

    /// Those of a phase with a job for each stream; `None` where no time passed.
    pub fn of(phase: &PhaseRecord, unit: IozoneUnit) -> Option<Self> {
        let figures = PhaseFigures::of(phase);
        let (count, rate) = match unit {
            IozoneUnit::Operations => (Metric::Ops, Metric::Iops),
            _ => (Metric::Bytes, Metric::Throughput),
        };
        let scale = if count == Metric::Bytes { KIB as f64 } else { 1.0 };
        // Figures of one job alone are those of the phase.
        let alone = phase.jobs.len() == 1;
        let of_job = |name: &str, metric: Metric| -> f64 {
            let its = |figure: &&Figure| {
                let job =
                    if alone { figure.job.is_none() } else { figure.job.as_deref() == Some(name) };
                job && figure.metric == metric && figure.action.is_some_and(|it| !it.serves())
            };
            figures.all().iter().filter(its).filter_map(Figure::known).sum::<f64>() / scale
        };
        let child =
            |name: &str| ChildResult { moved: of_job(name, count), rate: of_job(name, rate) };
        let children: Vec<ChildResult> = phase.jobs.iter().map(|job| child(&job.name)).collect();
        let moved: f64 = children.iter().map(|child| child.moved).sum();
        let time = figures.find(None, Metric::Time)?.time()?.as_secs();
        (time > 0.0).then(|| Self { children, parent: moved / time })
    }
}

/// The figure of a cell: KiB or records per second, or microseconds for each record, truncated as the
/// original does; `None` where nothing was moved.
pub fn cell_value(asked: &IozoneOptions, phase: &PhaseRecord) -> Option<u64> {
    let figures = PhaseFigures::of(phase);
    let sum = |metric| -> f64 {
        let actions = figures.actions();
        actions.into_iter().filter_map(|action| figures.value(action, metric)).sum()
    };
    let time = figures.find(None, Metric::Time)?.time()?.as_secs();
    let (bytes, ops) = (sum(Metric::Bytes), sum(Metric::Ops));
    if time <= 0.0 || ops <= 0.0 {
        return None;
    }
    Some(match asked.unit {
        IozoneUnit::Kilobytes => bytes / KIB as f64 / time,
        IozoneUnit::Operations => ops / time,
        IozoneUnit::Microseconds => time * 1e6 / ops,
    } as u64)
}
