//! A ramp as two pictures: the rate over what was in flight, and what that cost each I/O.

use super::super::figure::time;
use super::{
    Curves, FigureLook, LineForm, Picture, PlotAxis, PlotKind, PlotMark, PlotPoint, PlotSeries,
    SHOWN, Tone, most, told,
};
use assay_judge::ramp::{RampStep, RampView};
use assay_plan::plan::{self, Action};
use assay_plan::unit::Iops;
use assay_record::record::{Record, Statistic};

/// The pictures of a ramp; none where no step was done.
pub fn pictures(aim: &plan::RampPlan, record: &Record) -> Vec<Picture> {
    let Some(ramp) = RampView::of(aim, record) else { return Vec::new() };
    let figures =
        ramp.steps.iter().map(|step| (FigureLook::of_phase(step.phase), step.load_point.iops));
    let rate = |step: &RampStep| {
        let iops = step.load_point.iops;
        Some((iops, format!("{} IOPS", Iops(iops))))
    };
    let rates = picture(
        &ramp,
        "IOPS over I/Os in flight",
        PlotAxis::from_zero("IOPS", most(figures)),
        rate,
    );
    let late = |step: &RampStep| {
        let p99 = step.latency(Statistic::P99)?;
        Some((p99.0 as f64, format!("p99 {}", time(p99, SHOWN))))
    };
    let times: Vec<f64> = ramp.steps.iter().filter_map(late).map(|(p99, _)| p99).collect();
    let least = times.iter().copied().fold(f64::INFINITY, f64::min);
    let longest = times.iter().copied().fold(0.0, f64::max);
    let latency = || {
        let up = PlotAxis::of_times("p99", least, longest);
        picture(&ramp, "p99 latency", up, late)
    };
    std::iter::once(rates).chain((!times.is_empty()).then(latency)).collect()
}

/// One figure of each step, with the knee.
fn picture(
    ramp: &RampView,
    title: &str,
    up: PlotAxis,
    figure: impl Fn(&RampStep) -> Option<(f64, String)>,
) -> Picture {
    let mut loads: Vec<u32> = ramp.steps.iter().map(RampStep::in_flight).collect();
    loads.sort_unstable();
    loads.dedup();
    let named = loads.into_iter().map(|load| (f64::from(load), load.to_string()));
    let knee = &ramp.steps[ramp.knee];
    let (alone, together): (Vec<&RampStep>, Vec<&RampStep>) =
        ramp.steps.iter().partition(|step| step.load_point.workers == 1);
    // Where there is nothing to tell apart, nothing has a name.
    let names = if together.is_empty() { ["", ""] } else { ["one worker", "several workers"] };
    let series = names.into_iter().zip([alone, together]);
    let series = series.into_iter().filter(|(_, steps)| !steps.is_empty());
    let tones = [tone(ramp), Tone::Mixed];
    let series = series.zip(tones).map(|((name, steps), tone)| PlotSeries {
        name: name.into(),
        tone,
        form: LineForm::Marks,
        points: steps.into_iter().filter_map(|step| point(step, &figure)).collect(),
    });
    let sign = PlotMark::At { x: f64::from(knee.in_flight()), text: "knee".into() };
    let across = PlotAxis::doubling("I/Os in flight", named.collect());
    let curves = Curves { across, up, series: series.collect(), signs: vec![sign] };
    Picture { title: title.into(), half: true, plot: PlotKind::Curves(curves) }
}

fn point(
    step: &RampStep,
    figure: impl Fn(&RampStep) -> Option<(f64, String)>,
) -> Option<PlotPoint> {
    let (y, text) = figure(step)?;
    Some(PlotPoint {
        x: f64::from(step.in_flight()),
        y,
        look: FigureLook::of_phase(step.phase),
        told: told(&format!("{} in flight", step.in_flight()), &text, Some(step.phase)),
    })
}

/// The colour of what the steps do.
fn tone(ramp: &RampView) -> Tone {
    let totals = ramp.steps.iter().flat_map(|step| &step.phase.totals);
    let mut actions = totals.map(|(action, _)| *action).filter(|action| *action != Action::Flush);
    let first = actions.next();
    match first {
        Some(first) if actions.all(|action| action == first) => Tone::of(first),
        _ => Tone::Mixed,
    }
}
