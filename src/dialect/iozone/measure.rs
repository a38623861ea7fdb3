//! What a test came to, in the units of IOzone, read from the figures of its phase.

use super::asked::{IozoneOptions, IozoneUnit};
use super::plan::TestPlace;
use assay_plan::stats::HistogramCell;
use assay_plan::unit::KIB;
use assay_record::record::{Figure, JobResult, Metric, PhaseFigures, PhaseRecord, Statistic};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChildResult {
    /// KiB or records that it moved.
    pub moved: f64,
    /// The same per second of its own time.
    pub rate: f64,
    pub cpu: CpuUse,
}

/// What the streams of a test did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamResults {
    pub children: Vec<ChildResult>,
    /// All that was moved over the time of the whole test.
    pub parent: f64,
}

impl StreamResults {
    /// What the children see: the sum of their own rates.
    pub fn sum(&self) -> f64 {
        self.children.iter().map(|child| child.rate).sum()
    }

    pub fn least(&self) -> f64 {
        self.children.iter().map(|child| child.rate).fold(f64::INFINITY, f64::min)
    }

    pub fn most(&self) -> f64 {
        self.children.iter().map(|child| child.rate).fold(0.0, f64::max)
    }

    pub fn mean(&self) -> f64 {
        self.sum() / self.children.len().max(1) as f64
    }

    pub fn least_moved(&self) -> f64 {
        self.children.iter().map(|child| child.moved).fold(f64::INFINITY, f64::min)
    }

    /// CPU time of all over the time of the longest, as `-+u` tells it.
    pub fn cpu(&self) -> CpuUse {
        CpuUse {
            wall: self.children.iter().map(|child| child.cpu.wall).fold(0.0, f64::max),
            cpu: self.children.iter().map(|child| child.cpu.cpu).sum(),
        }
    }

    /// Those of a phase with a job for each stream; `None` where no time passed.
    pub fn of(phase: &PhaseRecord, asked: &IozoneOptions, place: TestPlace) -> Option<Self> {
        let figures = PhaseFigures::of(phase);
        let (count, rate) = match asked.unit {
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
            // A sum of nothing is -0.
            figures.all().iter().filter(its).filter_map(Figure::known).sum::<f64>() + 0.0
        };
        let child = |job: &JobResult| {
            let (moved, rate) = (of_job(&job.name, count), of_job(&job.name, rate));
            let records = of_job(&job.name, Metric::Ops);
            let job_name = if alone { None } else { Some(job.name.as_str()) };
            let calls = time_of_calls(&figures, job_name);
            let busy = asked.busy_time(place, records, calls, moved / rate);
            let rate = if busy > 0.0 { moved / busy } else { rate };
            let wall = job.span.map_or(0.0, |span| span.stopped.since(span.started).as_secs());
            let cpu = job.cpu.map_or(0.0, |cpu| (cpu.user + cpu.system).as_secs());
            // The clocks of both are not read in the same moment.
            let cpu = CpuUse { wall: wall.max(cpu), cpu };
            ChildResult { moved: moved / scale, rate: rate / scale, cpu }
        };
        let children: Vec<ChildResult> = phase.jobs.iter().map(child).collect();
        let moved: f64 = children.iter().map(|child| child.moved).sum();
        let time = figures.find(None, Metric::Time)?.time()?.as_secs();
        (time > 0.0).then(|| Self { children, parent: moved / time })
    }
}

impl IozoneOptions {
    /// The time of a test that its rate is over, seconds: all of it, or where time between its records does not
    /// count that of its calls. Of records in flight together only what was to be computed is taken off.
    fn busy_time(&self, place: TestPlace, records: f64, calls: f64, all: f64) -> f64 {
        let left_out = self.left_out_of_rate(place, records as u64);
        match self.async_depth {
            _ if left_out <= 0.0 => all,
            Some(_) => all - left_out,
            None => calls,
        }
    }
}

/// The latencies of all calls added up, seconds: of the phase, or of one of its jobs.
fn time_of_calls(figures: &PhaseFigures, job: Option<&str>) -> f64 {
    let its = |metric| {
        let all = figures.all().iter().filter(move |figure| figure.metric == metric);
        all.filter(|figure| figure.job.as_deref() == job && figure.action.is_some())
    };
    let of = |mean: &Figure| {
        let count = its(Metric::Ops).find(|ops| ops.action == mean.action)?;
        Some(mean.known()? * count.known()? / 1e9)
    };
    its(Metric::lat(Statistic::Mean)).filter_map(of).sum()
}

/// CPU time beside the time in which it was spent, seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuUse {
    pub wall: f64,
    pub cpu: f64,
}

impl CpuUse {
    pub fn of(phase: &PhaseRecord) -> Self {
        let figures = PhaseFigures::of(phase);
        let secs = |metric| {
            let time = figures.find(None, metric).and_then(Figure::time);
            time.map_or(0.0, |time| time.as_secs())
        };
        let cpu = secs(Metric::Cpu);
        Self { wall: secs(Metric::Time).max(cpu), cpu }
    }

    /// Percent; more than 100 where several CPUs worked.
    pub fn percent(self) -> f64 {
        if self.wall > 0.0 { 100.0 * self.cpu / self.wall } else { 0.0 }
    }
}

/// The figure of a cell: KiB or records per second, or microseconds for each record, truncated as the
/// original does; `None` where nothing was moved.
pub fn cell_value(asked: &IozoneOptions, phase: &PhaseRecord, place: TestPlace) -> Option<u64> {
    let figures = PhaseFigures::of(phase);
    let sum = |metric| -> f64 {
        let actions = figures.actions();
        actions.into_iter().filter_map(|action| figures.value(action, metric)).sum()
    };
    let time = figures.find(None, Metric::Time)?.time()?.as_secs();
    let (bytes, ops) = (sum(Metric::Bytes), sum(Metric::Ops));
    let time = asked.busy_time(place, ops, time_of_calls(&figures, None), time);
    if time <= 0.0 || ops <= 0.0 {
        return None;
    }
    Some(match asked.unit {
        IozoneUnit::Kilobytes => bytes / KIB as f64 / time,
        IozoneUnit::Operations => ops / time,
        IozoneUnit::Microseconds => time * 1e6 / ops,
    } as u64)
}

/// Ends of the bands of `-+z`, microseconds; beyond the last is one more.
const BANDS: [u64; 39] = [
    20,
    40,
    60,
    80,
    100,
    200,
    400,
    600,
    800,
    1_000,
    2_000,
    4_000,
    6_000,
    8_000,
    10_000,
    12_000,
    14_000,
    16_000,
    18_000,
    20_000,
    40_000,
    60_000,
    80_000,
    100_000,
    200_000,
    400_000,
    600_000,
    800_000,
    1_000_000,
    2_000_000,
    4_000_000,
    6_000_000,
    8_000_000,
    10_000_000,
    20_000_000,
    40_000_000,
    60_000_000,
    80_000_000,
    120_000_000,
];

/// How many records of a stream took how long, by the bands of `-+z`.
pub fn bands(job: &JobResult) -> [u64; BANDS.len() + 1] {
    let mut bands = [0; BANDS.len() + 1];
    let moves = job.totals.iter().filter(|(action, _)| !action.serves());
    for HistogramCell(least, count) in moves.flat_map(|(_, it)| it.histogram.iter()) {
        // Whole microseconds, as the original counts them.
        let micros = least / 1000;
        bands[BANDS.partition_point(|end| *end < micros)] += count;
    }
    bands
}
