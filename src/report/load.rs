//! The page of one load: the latency of each direction, CPU, I/Os in flight, and whether the latency and
//! the rate that were asked for held.

use super::TerminalStyle;
use super::fact::{PageFact, fact};
use super::figure::{digits, text, time};
use super::study::StudyPrinter;
use assay_plan::plan::{Action, SingleLoad};
use assay_plan::unit::Nanos;
use assay_record::record::{
    Absence, ActionLatency, FigureValue, LatencyPart, LimitKept, LoadOutcome, Metric, PhaseFigures,
    RateOutcome, Record, Statistic, StudyResult,
};

impl StudyPrinter for SingleLoad {
    fn facts(&self, record: &Record, style: TerminalStyle) -> Vec<PageFact> {
        facts(self, record, style)
    }

    fn met(&self, record: &Record) -> bool {
        match &record.outcome {
            Some(StudyResult::Load(found)) => found.kept == LimitKept::Held,
            _ => self.p99.is_none(),
        }
    }
}

/// Everything that is to be said of it beside rates and verdict.
fn facts(load: &SingleLoad, record: &Record, style: TerminalStyle) -> Vec<PageFact> {
    let Some(phase) = record.phase_of(&load.phase) else {
        return Vec::new();
    };
    let figures = PhaseFigures::of(phase);
    let timed = |action: &Action| figures.value(*action, Metric::lat(Statistic::P50)).is_some();
    let flushes = [Action::Flush].into_iter().filter(timed);
    let mut facts = Vec::new();
    let actions: Vec<Action> = figures.done().into_iter().chain(flushes).collect();
    for &action in &actions {
        let due = latencies(&figures, action, LatencyPart::Whole, style);
        facts.push(fact(action.name(), due));
        // Where I/Os arrive at times of their own, the latency counts from these.
        if figures.value(action, Metric::Latency(LatencyPart::Service, Statistic::Max)).is_some() {
            let sent = latencies(&figures, action, LatencyPart::Service, style);
            facts.push(fact("", format!("from submission: {sent}")));
        }
    }
    facts.extend(absence(&figures, &actions).map(|why| fact("", format!("-: {}", why.words()))));
    let job = record.jobs_of(phase).next();
    facts.extend(figures.whole(Metric::CpuShare).map(|share| {
        let of = match job.map_or(1, |job| job.workers) {
            1 => "of one CPU".to_string(),
            workers => format!("of one CPU, by {workers} workers together"),
        };
        fact("cpu", format!("{} % {of}", digits(share * 100.0)))
    }));
    let depth = figures.whole(Metric::DepthMean).zip(figures.whole(Metric::DepthMax));
    facts.extend(depth.zip(job).map(|((mean, most), job)| {
        let each = if job.workers > 1 { " of each worker" } else { "" };
        let asked = job.iodepth;
        let mean = digits(mean);
        fact("depth", format!("{mean} of {asked} in flight{each} on average, {most:.0} at most"))
    }));
    if let Some(StudyResult::Load(found)) = &record.outcome {
        facts.extend(found.rate.map(|rate| fact("rate", reached(rate))));
        facts.extend(found.p99_ns.map(|most| fact("p99", held(found, most, style))));
    }
    facts
}

/// What a line of latencies shows.
const SHOWN: [(&str, Statistic); 5] = [
    ("p50", Statistic::P50),
    ("p90", Statistic::P90),
    ("p99", Statistic::P99),
    ("p99.9", Statistic::P99_9),
    ("max", Statistic::Max),
];

/// `p50 85.2 µs, p90 ...`
fn latencies(
    figures: &PhaseFigures,
    action: Action,
    part: LatencyPart,
    style: TerminalStyle,
) -> String {
    let told = SHOWN.map(|(name, of)| {
        let figure = figures.find(Some(action), Metric::Latency(part, of));
        format!("{name} {}", text(figure, style))
    });
    told.join(", ")
}

/// Why some of them have no value; `None` where all have one.
fn absence(figures: &PhaseFigures, actions: &[Action]) -> Option<Absence> {
    let shown = actions
        .iter()
        .flat_map(|action| SHOWN.map(|(_, of)| figures.find(Some(*action), Metric::lat(of))));
    shown.flatten().find_map(|figure| match figure.value {
        FigureValue::Absent(why) => Some(why),
        FigureValue::Known(_) => None,
    })
}

/// `41.5k of 200k IOPS asked: not reached`.
fn reached(rate: RateOutcome) -> String {
    let RateOutcome { asked, reached, held } = rate;
    let word = if held { "reached" } else { "not reached" };
    format!("{reached} of {asked} IOPS asked: {word}")
}

fn held(found: &LoadOutcome, most: Nanos, style: TerminalStyle) -> String {
    let most = time(most, style);
    let told = |one: &ActionLatency| {
        let name = one.action.name();
        match (one.p99_ns, one.max_ns) {
            (Some(p99), _) => format!("{name} {}", time(p99, style)),
            (None, Some(longest)) => format!("{name} {} maximum", time(longest, style)),
            (None, None) => format!("{name} not timed"),
        }
    };
    let by = found.by.iter().map(told).collect::<Vec<_>>().join(", ");
    match found.latency_kept() {
        LimitKept::Held => format!("within {most}: held ({by})"),
        LimitKept::Exceeded => format!("within {most}: not held ({by})"),
        LimitKept::Unknown => {
            format!("within {most}: unknown, too few I/Os for a percentile ({by})")
        }
    }
}
