//! The figures of a record: the one place that decides what is a figure at all, what a percentile of a
//! few operations is worth, how much a rate spreads, and why something is absent.
//!
//! Printers, comparisons, judges and dialects read these; they are in the document, too. They follow
//! from the rest of the record and are made anew whenever they are wanted, so the two cannot disagree.

use serde::{Serialize, Serializer};

use super::metric::{Absence, FigureUnit, LatencyPart, Metric, Statistic};
use super::outcome::OutcomeFigure;
use super::{IntervalCount, JobResult, PhaseRecord, Record, SamplePoint, StreamedPhase, Trust};
use assay_plan::plan::Action;
use assay_plan::stats::{ActionTotal, DepthReached, Estimate, relative_spread};
use assay_plan::unit::Nanos;

/// Operations that a stretch of time must hold on average before its rate means anything.
pub const FEWEST_IN_STRETCH: u64 = 4;

/// Stretches of time that a spread needs.
const FEWEST_STRETCHES: usize = 4;

/// One figure: what was measured, its value, and what that is worth.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figure {
    /// Its phase: index into `phases`.
    pub phase: usize,
    /// Its job, by name; absent of all jobs of the phase together. One job alone has none of its own.
    pub job: Option<String>,
    /// What was done; absent of all actions together.
    pub action: Option<Action>,
    /// What was measured.
    pub metric: Metric,
    /// The value, or why there is none.
    #[serde(flatten)]
    pub value: FigureValue,
    /// What the value counts.
    pub unit: FigureUnit,
    /// Operations or samples behind it.
    pub n: u64,
    /// Of rates: how far this one spreads over the time of the phase, about this value. Absent where that is
    /// not known: the figure `spread` of the same action says why.
    pub spread: Option<SpreadRange>,
    /// May it be believed: that of the phase. Absent where the phase was not judged.
    pub trust: Option<Trust>,
    /// Of throughput: the figure that does describe the device, bytes per second, where it was measured too.
    pub corrected: Option<Estimate>,
}

/// The value of a figure, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FigureValue {
    /// The value, in the unit of the figure.
    Known(f64),
    /// There is none.
    Absent(Absence),
}

/// How a [`FigureValue`] stands in the document.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct WrittenValue {
    /// The value; null where there is none.
    value: Option<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    absent: Option<Absence>,
}

impl Serialize for FigureValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (value, absent) = match *self {
            Self::Known(value) => (Some(value), None),
            Self::Absent(why) => (None, Some(why)),
        };
        WrittenValue { value, absent }.serialize(serializer)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for FigureValue {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "FigureValue".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        WrittenValue::json_schema(generator)
    }
}

/// What a rate lies between for most of the time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpreadRange {
    /// The value less the spread, in the unit of the figure.
    pub low: f64,
    /// The value and the spread.
    pub high: f64,
}

/// All figures of a record, phase by phase.
pub fn figures(record: &Record) -> impl Iterator<Item = Figure> {
    let numbered = |(number, phase): (usize, StreamedPhase)| {
        let mut figures = PhaseFigures::of(&phase).0;
        figures.iter_mut().for_each(|figure| figure.phase = number);
        figures
    };
    record.phases.stream().enumerate().flat_map(numbered).chain(of_outcome(record))
}

/// The figures of what a record came to, which no phase has by itself. They are of the last phase that is
/// about it.
fn of_outcome(record: &Record) -> Vec<Figure> {
    let counts = |phase: &PhaseRecord| record.plan.counts(&phase.name);
    let last = record.phases.iter().rposition(counts);
    let Some((outcome, number)) = record.outcome.as_ref().zip(last) else { return Vec::new() };
    let last = &record.phases[number];
    let told = |OutcomeFigure { action, metric, value }: OutcomeFigure| {
        let of = |own: &&Action| action.map_or(!own.serves(), |action| action == **own);
        let done = last.totals.iter().filter(|(own, _)| of(own));
        let ops = done.map(|(_, total)| total.ops.0).sum();
        Figure {
            phase: number,
            trust: last.verdict.as_ref().map(|verdict| verdict.trust),
            ..figure(None, action, metric, Ok(value), ops)
        }
    };
    outcome.figures().into_iter().map(told).collect()
}

#[derive(Clone, Debug)]
pub struct PhaseFigures(Vec<Figure>);

impl PhaseFigures {
    /// Those of a phase. They are numbered as if it were the first.
    pub fn of(phase: &PhaseRecord) -> Self {
        let mut figures = Vec::new();
        figures.extend(of_actions(None, &phase.totals));
        figures.extend(of_spreads(phase, None));
        figures.extend(of_ends(phase));
        figures.extend(together(phase));
        figures.extend(of_phase(phase));
        // Of one job alone they are those of the phase.
        for job in phase.jobs.iter().filter(|_| phase.jobs.len() > 1) {
            figures.extend(of_job(job));
            figures.extend(of_spreads(phase, Some(job)));
        }
        let spreads: Vec<Figure> =
            figures.iter().filter(|figure| figure.metric == Metric::Spread).cloned().collect();
        let verdict = phase.verdict.as_ref();
        for figure in &mut figures {
            figure.trust = verdict.map(|verdict| verdict.trust);
            if figure.metric == Metric::Throughput && figure.job.is_none() {
                figure.corrected = verdict.and_then(|verdict| verdict.corrected);
            }
            if !matches!(figure.metric, Metric::Throughput | Metric::Iops) {
                continue;
            }
            let own = spreads.iter().find(|it| it.job == figure.job && it.action == figure.action);
            if let (Some(value), Some(share)) = (figure.known(), own.and_then(Figure::known)) {
                let (low, high) = ((value * (1.0 - share)).max(0.0), value * (1.0 + share));
                figure.spread = Some(SpreadRange { low, high });
            }
        }
        Self(figures)
    }

    /// The figures, in the order in which they are written.
    pub fn all(&self) -> &[Figure] {
        &self.0
    }

    /// A figure of all jobs together: of an action, or of all actions together.
    pub fn find(&self, action: Option<Action>, metric: Metric) -> Option<&Figure> {
        let wanted = |figure: &&Figure| {
            figure.job.is_none() && figure.action == action && figure.metric == metric
        };
        self.0.iter().find(wanted)
    }

    /// The value of such a figure of an action; `None` where it is absent.
    pub fn value(&self, action: Action, metric: Metric) -> Option<f64> {
        self.find(Some(action), metric)?.known()
    }

    /// The value of such a figure of the phase as a whole; `None` where it is absent.
    pub fn whole(&self, metric: Metric) -> Option<f64> {
        self.find(None, metric)?.known()
    }

    /// What was done, or tried, but for calls that only serve others.
    pub fn done(&self) -> Vec<Action> {
        let any = |action, metric| self.value(action, metric).is_some_and(|count| count > 0.0);
        let done = |action: &Action| any(*action, Metric::Ops) || any(*action, Metric::Errors);
        self.actions().into_iter().filter(done).collect()
    }

    /// What the phase has totals of, but for calls that only serve others.
    pub fn actions(&self) -> Vec<Action> {
        let ops = self.0.iter().filter(|it| it.job.is_none() && it.metric == Metric::Ops);
        ops.filter_map(|figure| figure.action).filter(|action| !action.serves()).collect()
    }
}

impl Figure {
    /// Its value; `None` where it is absent.
    pub fn known(&self) -> Option<f64> {
        match self.value {
            FigureValue::Known(value) => Some(value),
            FigureValue::Absent(_) => None,
        }
    }

    /// The same of a figure whose unit is ns.
    pub fn time(&self) -> Option<Nanos> {
        self.known().map(|ns| Nanos(ns.round() as u64))
    }
}

/// A figure that has neither phase nor trust yet.
fn figure(
    job: Option<&str>,
    action: Option<Action>,
    metric: Metric,
    value: Result<f64, Absence>,
    n: u64,
) -> Figure {
    Figure {
        phase: 0,
        job: job.map(Into::into),
        action,
        metric,
        value: value.map_or_else(FigureValue::Absent, FigureValue::Known),
        unit: metric.unit(),
        n,
        spread: None,
        trust: None,
        corrected: None,
    }
}

fn of_job(job: &JobResult) -> Vec<Figure> {
    let mut figures = of_actions(Some(&job.name), &job.totals);
    if let Some(cpu) = job.cpu {
        let ops = job.totals.values().map(|total| total.ops.0).sum();
        let spent = (cpu.user + cpu.system).0 as f64;
        figures.push(figure(Some(&job.name), None, Metric::Cpu, Ok(spent), ops));
    }
    figures.extend(of_depth(Some(&job.name), job.depth.as_ref()));
    figures
}

/// The figures of each action of a job, or of all jobs together.
fn of_actions<'a>(
    job: Option<&str>,
    totals: impl IntoIterator<Item = (&'a Action, &'a Box<ActionTotal>)>,
) -> Vec<Figure> {
    totals.into_iter().flat_map(|(action, total)| of_total(job, *action, total)).collect()
}

fn of_total(job: Option<&str>, action: Action, total: &ActionTotal) -> Vec<Figure> {
    let ops = total.ops.0;
    let told = |metric, value| figure(job, Some(action), metric, value, ops);
    let rate = |rate: Option<f64>| rate.ok_or(Absence::NoTime);
    let moved = match total.bytes.0 {
        0 => Err(Absence::NothingMoved),
        _ => rate(total.bandwidth.map(|rate| rate.0)),
    };
    let mut figures = vec![
        told(Metric::Ops, Ok(ops as f64)),
        told(Metric::Bytes, Ok(total.bytes.0 as f64)),
        told(Metric::Errors, Ok(total.errors as f64)),
        told(Metric::Time, Ok(total.time.0 as f64)),
        told(Metric::Throughput, moved),
        told(Metric::Iops, rate(total.iops.map(|rate| rate.0))),
    ];
    for part in LatencyPart::ALL {
        let latency = part.of(total);
        // Parts that nobody asked for are not told as absent.
        if part == LatencyPart::Whole || latency.is_some() {
            let n = latency.map_or(0, |latency| latency.n);
            figures.extend(Statistic::ALL.map(|of| {
                let metric = Metric::Latency(part, of);
                figure(
                    job,
                    Some(action),
                    metric,
                    latency.map_or(Err(Absence::NotTimed), |latency| of.of(latency)),
                    n,
                )
            }));
        }
    }
    figures
}

/// The rates of what was moved until other ends than that of the timing: the last call, and the flush that
/// was only watched.
fn of_ends(phase: &PhaseRecord) -> Vec<Figure> {
    let called = phase.span.called();
    let settle = phase.evidence.settle.as_ref();
    let settled = settle.filter(|settle| settle.complete && settle.fault.is_none());
    let mut figures = Vec::new();
    for (action, total) in phase.totals.iter().filter(|(_, total)| total.bytes.0 > 0) {
        let mut told = |metric, time| {
            let rate = total.bytes.over(time).map(|rate| rate.0).ok_or(Absence::NoTime);
            figures.push(figure(None, Some(*action), metric, rate, total.ops.0));
        };
        if called < total.time {
            told(Metric::ThroughputCalls, called);
        }
        if let (Action::Write, Some(settle)) = (action, settled) {
            told(Metric::ThroughputSettled, total.time + settle.time);
        }
    }
    figures
}

/// The rates of everything that moves data together, where more than one action does. A copy reads and
/// writes the same data: they are not added up.
fn together(phase: &PhaseRecord) -> Vec<Figure> {
    let totals = phase.totals.iter().map(|(action, total)| (action, &**total));
    let moved = |(action, total): &(&Action, &ActionTotal)| !action.serves() && total.bytes.0 > 0;
    let totals: Vec<&ActionTotal> = totals.filter(moved).map(|(_, total)| total).collect();
    if totals.len() < 2 || phase.copy.is_some() {
        return Vec::new();
    }
    let ops = totals.iter().map(|total| total.ops.0).sum();
    let sum = |rate: &dyn Fn(&ActionTotal) -> Option<f64>| {
        totals.iter().map(|total| rate(total)).sum::<Option<f64>>().ok_or(Absence::NoTime)
    };
    let bytes = sum(&|total| total.bandwidth.map(|rate| rate.0));
    let iops = sum(&|total| total.iops.map(|rate| rate.0));
    vec![
        figure(None, None, Metric::Throughput, bytes, ops),
        figure(None, None, Metric::Iops, iops, ops),
    ]
}

/// What a phase has as a whole.
fn of_phase(phase: &PhaseRecord) -> Vec<Figure> {
    let told = |metric, value, n| figure(None, None, metric, value, n);
    let ops = phase.totals.values().map(|total| total.ops.0).sum();
    let time = phase.span.time();
    let mut figures = vec![
        told(Metric::Time, Ok(time.0 as f64), ops),
        of_spread(None, None, Some(&all_of(phase))),
    ];
    if let Some(cpu) = phase.cpu {
        let part = (time.0 > 0).then(|| cpu.0 as f64 / time.0 as f64);
        figures.push(told(Metric::Cpu, Ok(cpu.0 as f64), ops));
        figures.push(told(Metric::CpuShare, part.ok_or(Absence::NoTime), ops));
    }
    figures.extend(of_depth(None, phase.depth.as_ref()));
    figures
}

fn of_depth(job: Option<&str>, depth: Option<&DepthReached>) -> Vec<Figure> {
    let Some(depth) = depth else { return Vec::new() };
    let n = depth.counts.iter().map(|(_, n)| n).sum();
    vec![
        figure(job, None, Metric::DepthMean, Ok(depth.mean), n),
        figure(job, None, Metric::DepthMax, Ok(f64::from(depth.max)), n),
    ]
}

/// One sample of the counted time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CountedSample {
    /// Its begin, ns after the first I/O.
    pub from: u64,
    /// Its end, ns after the first I/O.
    pub to: u64,
    /// Bytes moved both ways; operations, where the phase moves no bytes.
    pub amount: f64,
    /// Operations answered.
    pub ops: u64,
}

/// The samples that lie wholly in the counted time, without the closing flush: no work is asked
/// for during that.
pub fn counted_samples(phase: &PhaseRecord) -> Vec<CountedSample> {
    let bytes = phase.series.points.iter().any(|p| p.read_bytes + p.write_bytes > 0);
    samples(phase, |_, point| {
        let moved = if bytes { point.read_bytes + point.write_bytes } else { point.ops };
        IntervalCount(point.ops, moved)
    })
}

/// The same with what was done in each: operations, and the amount.
fn samples(
    phase: &PhaseRecord,
    done: impl Fn(usize, &SamplePoint) -> IntervalCount,
) -> Vec<CountedSample> {
    let span = &phase.span;
    let (first, last) = (span.counted.since(span.started).0, span.stopped.since(span.started).0);
    let mut from = 0;
    let mut samples = Vec::new();
    for (number, point) in phase.series.points.iter().enumerate() {
        let to = point.at_ns.0;
        if from >= first && to <= last && to > from {
            let IntervalCount(ops, amount) = done(number, point);
            samples.push(CountedSample { from, to, amount: amount as f64, ops });
        }
        from = to;
    }
    samples
}

/// Samples, and how many operations are in them.
struct SampledWork {
    samples: Vec<CountedSample>,
    ops: u64,
}

impl SampledWork {
    fn of(samples: Vec<CountedSample>) -> Self {
        let ops = samples.iter().map(|sample| sample.ops).sum();
        Self { samples, ops }
    }

    /// How much the rate spreads, as a share of its median, and of how many stretches that was taken: they
    /// are long enough to hold several operations. `None` when there are fewer than four of those.
    fn spread(&self) -> Option<(f64, u64)> {
        for together in [1, 2, 5, 10] {
            let stretches: Vec<f64> = self
                .samples
                .chunks_exact(together)
                .map(|chunk| {
                    let time: u64 = chunk.iter().map(|sample| sample.to - sample.from).sum();
                    chunk.iter().map(|sample| sample.amount).sum::<f64>() / time as f64
                })
                .collect();
            if stretches.len() < FEWEST_STRETCHES {
                return None;
            }
            if self.ops / stretches.len() as u64 >= FEWEST_IN_STRETCH {
                return Some((relative_spread(&stretches)?, stretches.len() as u64));
            }
        }
        None
    }
}

/// What all actions of a phase did.
fn all_of(phase: &PhaseRecord) -> SampledWork {
    SampledWork::of(counted_samples(phase))
}

/// How much the rate of all that a phase did spreads over its time, as a share of its median: robust, and of
/// stretches that hold several operations. `None` of phases too short to tell.
pub fn rate_spread(phase: &PhaseRecord) -> Option<f64> {
    Some(all_of(phase).spread()?.0)
}

/// The spread of what was sampled; absent of what the samples do not tell apart.
fn of_spread(job: Option<&str>, action: Option<Action>, work: Option<&SampledWork>) -> Figure {
    let told = work.ok_or(Absence::NotKept).and_then(|work| {
        let spread = work.spread();
        spread.ok_or(Absence::TooFewSamples)
    });
    let n = told.map_or(0, |(_, stretches)| stretches);
    figure(job, action, Metric::Spread, told.map(|(share, _)| share), n)
}

/// The spread of each action of all jobs together, or of one job: of those that only serve others there
/// is none.
fn of_spreads(phase: &PhaseRecord, job: Option<&JobResult>) -> Vec<Figure> {
    let totals = job.map_or(&phase.totals, |job| &job.totals);
    let done: Vec<Action> = totals
        .iter()
        .filter(|(action, total)| !action.serves() && (total.ops.0 > 0 || total.errors > 0))
        .map(|(action, _)| *action)
        .collect();
    let name = job.map(|job| job.name.as_str());
    let one = |action: &Action| {
        let work = match (job, done.as_slice()) {
            (None, [_]) => Some(all_of(phase)),
            _ => apart(phase, job, *action, &done),
        };
        of_spread(name, Some(*action), work.as_ref())
    };
    done.iter().map(one).collect()
}

/// What one of several actions did in each sample: from the jobs' own series, which tell the directions apart;
/// of all jobs together else by the bytes of its direction. `None` where another action has a part in it.
fn apart(
    phase: &PhaseRecord,
    job: Option<&JobResult>,
    action: Action,
    done: &[Action],
) -> Option<SampledWork> {
    let own = directions(action);
    let shared = |other: &&Action| {
        **other != action && directions(**other).iter().any(|one| own.contains(one))
    };
    if done.iter().any(|other| shared(&other)) {
        return None;
    }
    let did = |job: &&JobResult| job.totals.get(&action).is_some_and(|total| total.ops.0 > 0);
    let jobs: Vec<&JobResult> = match job {
        Some(job) => vec![job],
        None => phase.jobs.iter().filter(did).collect(),
    };
    let counts = |number: usize| {
        let series = jobs.iter().flat_map(|job| own.iter().map(|one| job.series.get(one)));
        let counts = series.filter_map(|counts| counts?.get(number));
        counts.fold(IntervalCount(0, 0), |sum, one| IntervalCount(sum.0 + one.0, sum.1 + one.1))
    };
    if !jobs.is_empty() && jobs.iter().all(|job| !job.series.is_empty()) {
        let bytes = (0..phase.series.points.len()).any(|number| counts(number).1 > 0);
        let done = |number: usize, _: &SamplePoint| {
            let IntervalCount(ops, moved) = counts(number);
            IntervalCount(ops, if bytes { moved } else { ops })
        };
        return Some(SampledWork::of(samples(phase, done)));
    }
    let bytes: fn(&SamplePoint) -> u64 = match action {
        Action::Read => |point| point.read_bytes,
        Action::Write => |point| point.write_bytes,
        _ => return None,
    };
    // The samples have no operations by direction; those of the counted time are known.
    let ops = phase.totals.get(&action).filter(|_| job.is_none())?.ops.0;
    Some(SampledWork { samples: samples(phase, |_, point| IntervalCount(0, bytes(point))), ops })
}

/// The directions in whose counts an action is.
fn directions(action: Action) -> &'static [Action] {
    match action {
        Action::Read => &[Action::Read],
        Action::Write => &[Action::Write],
        Action::Trim => &[Action::Trim],
        Action::Rewrite => &[Action::Read, Action::Write],
        _ => &[Action::Read, Action::Write, Action::Trim],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_plan::stats::ActionTally;

    fn total(ops: u64, bytes: u64) -> ActionTotal {
        let mut tally = ActionTally::default();
        (1..=ops).for_each(|n| tally.add(bytes, bytes, n * 1000));
        tally.total(Nanos::secs(1))
    }

    fn found(figures: &[Figure], metric: Metric) -> FigureValue {
        figures.iter().find(|figure| figure.metric == metric).expect("there").value
    }

    #[test]
    fn a_percentile_needs_ten_operations_beyond_it() {
        for (of, fewest) in [
            (Statistic::P50, 20),
            (Statistic::P90, 100),
            (Statistic::P99, 1000),
            (Statistic::P99_9, 10_000),
            (Statistic::P99_99, 100_000),
        ] {
            for (ops, known) in [(fewest - 1, false), (fewest, true)] {
                let figures = of_total(None, Action::Read, &total(ops, 512));
                let value = found(&figures, Metric::lat(of));
                assert_eq!(matches!(value, FigureValue::Known(_)), known, "{of:?} of {ops}");
                let longest = found(&figures, Metric::lat(Statistic::Max));
                assert_eq!(longest, FigureValue::Known(ops as f64 * 1000.0));
            }
        }
    }

    #[test]
    fn what_is_absent_says_why() {
        let absent =
            |total: &ActionTotal, metric| found(&of_total(None, Action::Read, total), metric);
        let none = ActionTally::default().total(Nanos::ZERO);
        assert_eq!(absent(&none, Metric::Throughput), FigureValue::Absent(Absence::NothingMoved));
        assert_eq!(absent(&none, Metric::Iops), FigureValue::Absent(Absence::NoTime));
        assert_eq!(absent(&none, Metric::P99), FigureValue::Absent(Absence::NotTimed));
        let few = total(5, 512);
        assert_eq!(absent(&few, Metric::P99), FigureValue::Absent(Absence::FewerThanTenBeyond));
        assert_eq!(absent(&few, Metric::Throughput), FigureValue::Known(2560.0));
        let text = serde_json::to_value(of_total(None, Action::Read, &few)).expect("json");
        let p99 = text.as_array().expect("a list").iter().find(|it| it["metric"] == "lat_p99");
        assert_eq!(p99.expect("there")["absent"], "fewer_than_ten_beyond");
    }
}
