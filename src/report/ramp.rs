//! What a ramp found out: the curve, the knee, the rate within a latency, and what sets the limit.

use super::Style;
use super::chart::bar;
use super::fact::{self, Fact, fact};
use super::figure::time;
use super::paint::Ink;
use crate::record::Record;
use crate::unit::{Iops, Nanos};
use crate::verdict::ramp::{Bound, Ramp, Step};

/// Columns of the longest bar, and of what stands around it.
const BAR: usize = 40;
const AROUND: usize = 50;

/// What is to be said of a ramp; nothing of a record that has none.
pub fn facts(record: &Record, style: Style) -> Vec<Fact> {
    let Some(ramp) = Ramp::of(record) else { return Vec::new() };
    let mut facts = vec![fact("knee", knee(&ramp, style))];
    facts.extend(within(&ramp, style).map(|within| fact("p99", within)));
    facts.extend(bound(&ramp.bound));
    facts
}

/// One bar for each step; nothing of a record that has none.
pub fn curve(record: &Record, style: Style) -> Vec<String> {
    let Some(ramp) = Ramp::of(record) else { return Vec::new() };
    let most = ramp.steps[ramp.top].rung.iops;
    let room = style.width.saturating_sub(AROUND).min(BAR);
    let head = format!("  {:9}{:>9}  {:>7}  {:>8}", "curve", "in flight", "IOPS", "p99");
    let mut lines = vec![style.paint(Ink::Faint, &head)];
    for (at, step) in ramp.steps.iter().enumerate() {
        let drawn = bar(step.rung.iops / most, room, style);
        let mark = match at {
            at if at == ramp.knee => style.glyph("  ← knee", "  <- knee"),
            _ => "",
        };
        let line = format!(
            "  {:9}{:>9}  {:>7}  {:>8}  {drawn}{mark}",
            "",
            load(step, style),
            Iops(step.rung.iops).to_string(),
            p99(step, style),
        );
        lines.push(line.trim_end().to_string());
    }
    lines.push(String::new());
    lines
}

/// `8`, or `2 × 8` of two workers.
fn load(step: &Step, style: Style) -> String {
    match step.rung.workers {
        1 => step.rung.iodepth.to_string(),
        workers => format!("{workers} {} {}", style.glyph("×", "x"), step.rung.iodepth),
    }
}

/// The same in a sentence.
fn loaded(step: &Step) -> String {
    match step.rung.workers {
        1 => format!("{} in flight", step.rung.iodepth),
        workers => format!("{workers} workers with {} in flight each", step.rung.iodepth),
    }
}

fn p99(step: &Step, style: Style) -> String {
    step.p99().map_or_else(|| "-".into(), |p99| time(Nanos(p99), style))
}

fn knee(ramp: &Ramp, style: Style) -> String {
    let step = &ramp.steps[ramp.knee];
    let p50 = step.total.lat_ns.map_or_else(|| "-".into(), |lat| time(Nanos(lat.p50), style));
    let percent = ramp.aim.gain * 100.0;
    let mut text = format!(
        "{}: {} IOPS, p50 {p50}, p99 {}",
        loaded(step),
        Iops(step.rung.iops),
        p99(step, style)
    );
    if ramp.knee + 1 < ramp.steps.len() {
        text.push_str(&format!("; no step after it brought {percent:.0} % more"));
    }
    text
}

/// The highest rate within the time that was asked for.
fn within(ramp: &Ramp, style: Style) -> Option<String> {
    let most = time(ramp.aim.p99?, style);
    Some(match ramp.within() {
        Some(step) => format!(
            "within {most}: {} IOPS at {} (p99 {})",
            Iops(step.rung.iops),
            loaded(step),
            p99(step, style)
        ),
        None => format!("within {most}: no step was"),
    })
}

/// What sets the limit, and the two readings that show it best.
fn bound(bound: &Bound) -> Vec<Fact> {
    let mut facts = vec![fact("limit", format!("{}: {}", bound.cause.name(), bound.claim))];
    let shown = bound.because.iter().take(2);
    facts.extend(shown.map(|it| fact::aside(format!("{}: {}", it.reading, it.value))));
    facts
}
