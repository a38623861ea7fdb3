//! A ramp as two pictures: the rate over what was in flight, and what that cost each I/O.

use super::super::figure::time;
use super::{
    Axis, Curves, Form, Look, Picture, Plot, Point, SHOWN, Series, Sign, Tone, most, told,
};
use crate::plan::Action;
use crate::record::Record;
use crate::unit::{Iops, Nanos};
use crate::verdict::ramp::{Ramp, Step};

/// The pictures of a ramp; none of a record that has none.
pub fn pictures(record: &Record) -> Vec<Picture> {
    let Some(ramp) = Ramp::of(record) else { return Vec::new() };
    let figures = ramp.steps.iter().map(|step| (Look::of_phase(step.phase), step.rung.iops));
    let rate = |step: &Step| {
        let iops = step.rung.iops;
        Some((iops, format!("{} IOPS", Iops(iops))))
    };
    let rates =
        picture(&ramp, "IOPS over I/Os in flight", Axis::from_zero("IOPS", most(figures)), rate);
    let late = |step: &Step| {
        let p99 = step.p99()?;
        Some((p99 as f64, format!("p99 {}", time(Nanos(p99), SHOWN))))
    };
    let times: Vec<f64> = ramp.steps.iter().filter_map(late).map(|(p99, _)| p99).collect();
    let least = times.iter().copied().fold(f64::INFINITY, f64::min);
    let longest = times.iter().copied().fold(0.0, f64::max);
    let latency = || {
        let up = Axis::of_times("p99", least, longest);
        picture(&ramp, "99 of 100 I/Os answered within", up, late)
    };
    std::iter::once(rates).chain((!times.is_empty()).then(latency)).collect()
}

/// One figure of each step, with the knee.
fn picture(
    ramp: &Ramp,
    title: &str,
    up: Axis,
    figure: impl Fn(&Step) -> Option<(f64, String)>,
) -> Picture {
    let mut loads: Vec<u32> = ramp.steps.iter().map(Step::in_flight).collect();
    loads.sort_unstable();
    loads.dedup();
    let named = loads.into_iter().map(|load| (f64::from(load), load.to_string()));
    let knee = &ramp.steps[ramp.knee];
    let (alone, together): (Vec<&Step>, Vec<&Step>) =
        ramp.steps.iter().partition(|step| step.rung.workers == 1);
    // Where there is nothing to tell apart, nothing has a name.
    let names = if together.is_empty() { ["", ""] } else { ["one worker", "several workers"] };
    let series = names.into_iter().zip([alone, together]);
    let series = series.into_iter().filter(|(_, steps)| !steps.is_empty());
    let tones = [tone(ramp), Tone::Mixed];
    let series = series.zip(tones).map(|((name, steps), tone)| Series {
        name: name.into(),
        tone,
        form: Form::Marks,
        points: steps.into_iter().filter_map(|step| point(step, &figure)).collect(),
    });
    let sign = Sign::At { x: f64::from(knee.in_flight()), text: "knee".into() };
    let across = Axis::doubling("I/Os in flight", named.collect());
    let curves = Curves { across, up, series: series.collect(), signs: vec![sign] };
    Picture { title: title.into(), half: true, plot: Plot::Curves(curves) }
}

fn point(step: &Step, figure: impl Fn(&Step) -> Option<(f64, String)>) -> Option<Point> {
    let (y, text) = figure(step)?;
    Some(Point {
        x: f64::from(step.in_flight()),
        y,
        look: Look::of_phase(step.phase),
        told: told(&format!("{} in flight", step.in_flight()), &text, Some(step.phase)),
    })
}

/// The colour of what the steps do.
fn tone(ramp: &Ramp) -> Tone {
    let totals = ramp.steps.iter().flat_map(|step| &step.phase.totals);
    let mut actions = totals.map(|(action, _)| *action).filter(|action| *action != Action::Flush);
    let first = actions.next();
    match first {
        Some(first) if actions.all(|action| action == first) => Tone::of(first),
        _ => Tone::Mixed,
    }
}
