//! How long the I/Os of a phase took: which time how many of them kept, on an axis of nines.

use super::super::figure::text;
use super::{
    Curves, FigureLook, LineForm, Picture, PlotAxis, PlotKind, PlotPoint, PlotSeries, SHOWN, Tone,
};
use assay_plan::plan::Action;
use assay_plan::stats::{ActionTotal, FEWEST_BEYOND};
use assay_record::record::{Metric, PhaseFigures, PhaseRecord, Statistic};

/// Quantiles that stand at the axis, and their names.
const NINES: [(f64, Statistic, &str); 5] = [
    (0.5, Statistic::P50, "p50"),
    (0.9, Statistic::P90, "p90"),
    (0.99, Statistic::P99, "p99"),
    (0.999, Statistic::P99_9, "p99.9"),
    (0.9999, Statistic::P99_99, "p99.99"),
];

/// Where a share of the I/Os lies on the axis: each nine takes as much room as the one before.
fn place(share: f64) -> f64 {
    -(1.0 - share).log10()
}

/// The picture; `None` where too few I/Os were timed to tell of nine in ten.
pub fn picture(phase: &PhaseRecord) -> Option<Picture> {
    let figures = PhaseFigures::of(phase);
    let known = |action: &Action| figures.value(*action, Metric::lat(Statistic::P90)).is_some();
    let done = figures.done().into_iter().filter(known);
    let told = done.filter_map(|action| Some((action, phase.totals.get(&action)?)));
    let look = FigureLook::of_phase(phase);
    let mut series = Vec::new();
    for (action, total) in told {
        let tone = Tone::of(action);
        let name = action.name().to_string();
        series.push(PlotSeries {
            name: String::new(),
            tone,
            form: LineForm::Line,
            points: curve(total, look),
        });
        series.push(PlotSeries {
            name,
            tone,
            form: LineForm::Dots,
            points: marks(&figures, action, look),
        });
    }
    let points = || series.iter().flat_map(|series| &series.points);
    let end = points().map(|point| point.x).fold(0.0, f64::max);
    (end > 0.0).then_some(())?;
    let least = points().map(|point| point.y).fold(f64::INFINITY, f64::min);
    let most = points().map(|point| point.y).fold(0.0, f64::max);
    let ticks = NINES.iter().map(|(q, _, name)| (place(*q), (*name).to_string()));
    let across = PlotAxis {
        ticks: ticks.filter(|(at, _)| *at <= end + 1e-9).collect(),
        ..PlotAxis::until("I/Os completed within", end)
    };
    let up = PlotAxis::of_times("latency", least, most);
    let plot = PlotKind::Curves(Curves { across, up, series, signs: Vec::new() });
    Some(Picture { title: "latency".into(), half: true, plot })
}

/// The whole distribution, as far as it is more than a rumour.
fn curve(total: &ActionTotal, look: FigureLook) -> Vec<PlotPoint> {
    let all: u64 = total.histogram.iter().map(|cell| cell.1).sum();
    let mut points = Vec::new();
    let mut below = 0;
    for cell in total.histogram.iter() {
        if all - below >= FEWEST_BEYOND {
            let x = place(below as f64 / all as f64);
            points.push(PlotPoint { x, y: cell.0.max(1) as f64, look, ..PlotPoint::default() });
        }
        below += cell.1;
    }
    thinned(points)
}

/// Without the points that nobody could tell from their neighbours.
fn thinned(points: Vec<PlotPoint>) -> Vec<PlotPoint> {
    const NEAR: f64 = 0.01;
    let mut kept: Vec<PlotPoint> = Vec::new();
    for point in points {
        let far = |last: &PlotPoint| {
            (point.x - last.x).abs() > NEAR || (point.y.log10() - last.y.log10()).abs() > NEAR
        };
        if kept.last().is_none_or(far) {
            kept.push(point);
        }
    }
    kept
}

/// The quantiles of the record.
fn marks(figures: &PhaseFigures, action: Action, look: FigureLook) -> Vec<PlotPoint> {
    let point = |(q, of, name): &(f64, Statistic, &str)| {
        let figure = figures.find(Some(action), Metric::lat(*of))?;
        Some(PlotPoint {
            x: place(*q),
            y: figure.known()?.max(1.0),
            look,
            told: format!("{name}: {}", text(Some(figure), SHOWN)),
        })
    };
    NINES.iter().filter_map(point).collect()
}
