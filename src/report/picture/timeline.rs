//! The rate of a phase over its time: what the program moved, and what the device took of it.

use super::super::rates::{self, PhaseRates};
use super::{
    Curves, FigureLook, LineForm, Picture, PlotAxis, PlotKind, PlotMark, PlotPoint, PlotSeries,
    Tone,
};
use assay_record::record::PhaseRecord;

/// The picture; `None` where there is too little to draw.
pub fn picture(phase: &PhaseRecord) -> Option<Picture> {
    let rates = rates::over_time(phase)?;
    let look = FigureLook::of_phase(phase);
    let mut series = Vec::new();
    if !rates.device.is_empty() {
        series.push(one("device", Tone::Device, LineForm::Ground, &rates.device, rates.cell, look));
    }
    for (name, tone, values) in loop_config(&rates) {
        series.push(one(name, tone, LineForm::Line, values, rates.cell, look));
    }
    let points = series.iter().flat_map(|series| &series.points);
    let most = points.map(|point| point.y).fold(0.0, f64::max);
    let unit = if rates.bytes { "MB/s" } else { "operations per second" };
    let end = rates.cell * rates.read.len() as f64;
    let span = &phase.span;
    let stopped = span.ended().since(span.started).as_secs();
    // A line at the very end would say nothing.
    let early = span.settled.is_some() && stopped < end - rates.cell;
    let sign = early.then(|| PlotMark::At { x: stopped, text: "the clock stopped".into() });
    let curves = Curves {
        across: PlotAxis::until("seconds", end),
        up: PlotAxis::from_zero(unit, most),
        series,
        signs: sign.into_iter().collect(),
    };
    Some(Picture { title: "rate over time".into(), half: true, plot: PlotKind::Curves(curves) })
}

/// What the program did, each way that it did anything in.
fn loop_config(rates: &PhaseRates) -> Vec<(&'static str, Tone, &[f64])> {
    if !rates.bytes {
        return vec![("operations", Tone::Mixed, &rates.read)];
    }
    let all = [("written", Tone::Write, &rates.write), ("read", Tone::Read, &rates.read)];
    let moved = |values: &[f64]| values.iter().any(|rate| *rate > 0.0);
    all.into_iter().filter(|way| moved(way.2)).map(|way| (way.0, way.1, &way.2[..])).collect()
}

/// Each value as a level as wide as its cell.
fn one(
    name: &str,
    tone: Tone,
    form: LineForm,
    values: &[f64],
    cell: f64,
    look: FigureLook,
) -> PlotSeries {
    let level = |(at, &y): (usize, &f64)| {
        [at, at + 1].map(|edge| PlotPoint {
            x: edge as f64 * cell,
            y,
            look,
            ..PlotPoint::default()
        })
    };
    let points = values.iter().enumerate().flat_map(level).collect();
    PlotSeries { name: name.into(), tone, form, points }
}
