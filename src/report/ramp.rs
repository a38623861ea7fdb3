//! What a ramp found out: the curve, the knee, the rate within a latency, and what sets the limit.

use super::TerminalStyle;
use super::chart::bar;
use super::fact::{self, PageFact, fact};
use super::figure::{text, time};
use super::finding::reading;
use super::paint::Ink;
use super::picture::{self, Picture};
use super::study::StudyPrinter;
use assay_judge::ramp::{RampStep, RampView, RateBound};
use assay_plan::plan;
use assay_plan::unit::Iops;
use assay_record::record::{Metric, Record, Statistic};
use assay_record::words::Voice;

/// Columns of the longest bar, and of what stands around it.
const BAR: usize = 60;
const AROUND: usize = 32;

impl StudyPrinter for plan::RampPlan {
    fn drawn(&self, record: &Record, style: TerminalStyle) -> Vec<String> {
        curve(self, record, style)
    }

    fn facts(&self, record: &Record, style: TerminalStyle) -> Vec<PageFact> {
        facts(self, record, style)
    }

    fn pictures(&self, record: &Record) -> Vec<Picture> {
        picture::of_ramp(self, record)
    }
}

/// What is to be said of a ramp; nothing where no step was done.
fn facts(aim: &plan::RampPlan, record: &Record, style: TerminalStyle) -> Vec<PageFact> {
    let Some(ramp) = RampView::of(aim, record) else { return Vec::new() };
    let mut facts = vec![fact("knee", knee(&ramp, style))];
    facts.extend(within(&ramp, style).map(|within| fact("p99", within)));
    facts.extend(bound(&ramp.bound, style.voice()));
    facts
}

/// One bar for each step; nothing where no step was done.
fn curve(aim: &plan::RampPlan, record: &Record, style: TerminalStyle) -> Vec<String> {
    let Some(ramp) = RampView::of(aim, record) else { return Vec::new() };
    let most = ramp.steps[ramp.top].load_point.iops;
    let room = style.width.saturating_sub(AROUND).min(BAR);
    // The figures stand in the rows above, which were printed when each step had ended.
    let scale = format!("{} IOPS", Iops(most));
    let head = format!("  {:9}{:>9}  0{scale:>2$}", "curve", "in flight", room.max(1) - 1);
    let mut lines = vec![style.paint(Ink::Faint, &head)];
    for (at, step) in ramp.steps.iter().enumerate() {
        let drawn = bar(step.load_point.iops / most, room, style);
        let mark = match at {
            at if at == ramp.knee => style.glyph("  ← knee", "  <- knee"),
            _ => "",
        };
        let line = format!("  {:9}{:>9}  {drawn}{mark}", "", load(step, style));
        lines.push(line.trim_end().to_string());
    }
    lines.push(String::new());
    lines
}

/// `8`, or `2 × 8` of two workers.
fn load(step: &RampStep, style: TerminalStyle) -> String {
    match step.load_point.workers {
        1 => step.load_point.iodepth.to_string(),
        workers => format!("{workers} {} {}", style.glyph("×", "x"), step.load_point.iodepth),
    }
}

/// The same in a sentence.
fn loaded(step: &RampStep) -> String {
    match step.load_point.workers {
        1 => format!("{} in flight", step.load_point.iodepth),
        workers => format!("{workers} workers with {} in flight each", step.load_point.iodepth),
    }
}

fn latency(step: &RampStep, of: Statistic, style: TerminalStyle) -> String {
    text(step.figures.find(Some(step.action), Metric::lat(of)), style)
}

fn p99(step: &RampStep, style: TerminalStyle) -> String {
    latency(step, Statistic::P99, style)
}

fn knee(ramp: &RampView, style: TerminalStyle) -> String {
    let step = &ramp.steps[ramp.knee];
    let p50 = latency(step, Statistic::P50, style);
    let percent = ramp.aim.gain * 100.0;
    let mut text = format!(
        "{}: {} IOPS, p50 {p50}, p99 {}",
        loaded(step),
        Iops(step.load_point.iops),
        p99(step, style)
    );
    if ramp.knee + 1 < ramp.steps.len() {
        text.push_str(&format!("; no later step added {percent:.0} %"));
    }
    text
}

/// The time by which it was within the one that was asked for.
fn answered(step: &RampStep, style: TerminalStyle) -> String {
    match step.latency(Statistic::P99) {
        Some(p99) => format!("p99 {}", time(p99, style)),
        None => format!("longest {}", latency(step, Statistic::Max, style)),
    }
}

/// The highest rate within the time that was asked for.
fn within(ramp: &RampView, style: TerminalStyle) -> Option<String> {
    let most = time(ramp.aim.p99?, style);
    Some(match ramp.within() {
        Some(step) => format!(
            "within {most}: {} IOPS at {} ({})",
            Iops(step.load_point.iops),
            loaded(step),
            answered(step, style)
        ),
        None => format!("within {most}: no step"),
    })
}

/// What sets the limit, and the two readings that show it best.
fn bound(bound: &RateBound, voice: Voice) -> Vec<PageFact> {
    let mut facts =
        vec![fact("limit", format!("{}: {}", bound.cause.name(), voice.say(&bound.claim)))];
    let shown = bound.because.iter().take(2);
    facts.extend(shown.map(|it| fact::aside(reading(it, voice))));
    facts
}
