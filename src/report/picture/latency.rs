//! How long the I/Os of a phase took: which time how many of them kept, on an axis of nines.

use super::super::figure::{is_known, quantile};
use super::super::row;
use super::{Axis, Curves, Form, Look, Picture, Plot, Point, SHOWN, Series, Tone};
use crate::record::PhaseRecord;
use crate::stats::{Latency, Total};

/// Quantiles that stand at the axis, and their names.
const NINES: [(f64, &str); 5] =
    [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9"), (0.9999, "p99.99")];

/// I/Os that are left where the curve ends: what lies beyond is a rumour, as on the page.
const BEYOND: f64 = 10.0;

/// Where a share of the I/Os lies on the axis: each nine takes as much room as the one before.
fn place(share: f64) -> f64 {
    -(1.0 - share).log10()
}

/// The picture; `None` where too few I/Os were timed to tell of nine in ten.
pub fn picture(phase: &PhaseRecord) -> Option<Picture> {
    let done = row::done(phase).into_iter();
    let told = done.filter(|(_, total)| is_known(total, 0.9));
    let look = Look::of_phase(phase);
    let mut series = Vec::new();
    for (action, total) in told {
        let tone = Tone::of(action);
        let name = action.name().to_string();
        series.push(Series {
            name: String::new(),
            tone,
            form: Form::Line,
            points: curve(total, look),
        });
        series.push(Series { name, tone, form: Form::Dots, points: marks(total, look) });
    }
    let points = || series.iter().flat_map(|series| &series.points);
    let end = points().map(|point| point.x).fold(0.0, f64::max);
    (end > 0.0).then_some(())?;
    let least = points().map(|point| point.y).fold(f64::INFINITY, f64::min);
    let most = points().map(|point| point.y).fold(0.0, f64::max);
    let ticks = NINES.iter().map(|(q, name)| (place(*q), (*name).to_string()));
    let across = Axis {
        ticks: ticks.filter(|(at, _)| *at <= end + 1e-9).collect(),
        ..Axis::until("so many were answered within", end)
    };
    let up = Axis::of_times("latency", least, most);
    let plot = Plot::Curves(Curves { across, up, series, signs: Vec::new() });
    Some(Picture { title: "latency".into(), half: true, plot })
}

/// The whole distribution, as far as it is more than a rumour.
fn curve(total: &Total, look: Look) -> Vec<Point> {
    let all: u64 = total.histogram.iter().map(|cell| cell.1).sum();
    let mut points = Vec::new();
    let mut below = 0;
    for cell in &total.histogram {
        if (all - below) as f64 >= BEYOND {
            let x = place(below as f64 / all as f64);
            points.push(Point { x, y: cell.0.max(1) as f64, look, ..Point::default() });
        }
        below += cell.1;
    }
    thinned(points)
}

/// Without the points that nobody could tell from their neighbours.
fn thinned(points: Vec<Point>) -> Vec<Point> {
    const NEAR: f64 = 0.01;
    let mut kept: Vec<Point> = Vec::new();
    for point in points {
        let far = |last: &Point| {
            (point.x - last.x).abs() > NEAR || (point.y.log10() - last.y.log10()).abs() > NEAR
        };
        if kept.last().is_none_or(far) {
            kept.push(point);
        }
    }
    kept
}

/// The quantiles of the record.
fn marks(total: &Total, look: Look) -> Vec<Point> {
    let Some(lat) = total.lat_ns else { return Vec::new() };
    let Latency { p50, p90, p99, p99_9, p99_99, .. } = lat;
    let found = NINES.iter().zip([p50, p90, p99, p99_9, p99_99]);
    let known = found.filter(|((q, _), _)| is_known(total, *q));
    let point = |((q, name), value): (&(f64, &str), u64)| Point {
        x: place(*q),
        y: value.max(1) as f64,
        look,
        told: format!("{name}: {}", quantile(total, *q, value, SHOWN)),
    };
    known.map(point).collect()
}
