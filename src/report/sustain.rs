//! What a device keeps up: the timeline, the burst, the rate that lasts, and stalls; and what a run
//! may cost, before it starts.

use super::TerminalStyle;
use super::chart::{columns, gathered};
use super::fact::{PageFact, fact};
use super::figure::duration;
use super::paint::Ink;
use super::picture::{self, Picture};
use super::study::StudyPrinter;
use assay_judge::stopped_before_steady;
use assay_judge::sustain::SustainedView;
use assay_judge::words::share;
use assay_plan::plan::{Plan, SteadyRule, SteadyWindow, StopLimit, SustainStudy};
use assay_plan::unit::Bandwidth;
use assay_record::record::{Record, Resolved};
use assay_record::words::Voice;

/// Lines and columns of the timeline, and columns of its scale.
const HEIGHT: usize = 6;
const WIDTH: usize = 60;
const SCALE: usize = 18;

impl StudyPrinter for SustainStudy {
    fn budget(&self, plan: &Plan, resolved: &Resolved) -> Option<PageFact> {
        budget(plan, resolved)
    }

    fn drawn(&self, record: &Record, style: TerminalStyle) -> Vec<String> {
        timeline(record, style)
    }

    fn facts(&self, record: &Record, style: TerminalStyle) -> Vec<PageFact> {
        facts(record, style.voice())
    }

    fn pictures(&self, record: &Record) -> Vec<Picture> {
        picture::of_sustain(record)
    }
}

/// What the run may write, and when it ends.
fn budget(plan: &Plan, resolved: &Resolved) -> Option<PageFact> {
    let job = plan.phases.last()?.jobs.first()?;
    let size = resolved.jobs.last().map(|job| job.size).unwrap_or_default();
    let mut parts = vec![format!("overwrites the same {size}")];
    for limit in &job.stop.first_of {
        parts.push(match limit {
            StopLimit::Steady(SteadyRule { round, rounds, .. })
            | StopLimit::SteadyWindow(SteadyWindow { round, rounds, .. }) => {
                format!("until {rounds} rounds of {} are steady", duration(*round))
            }
            StopLimit::EvenHalves(time) => format!("until the last {} are steady", duration(*time)),
            StopLimit::Full => "until it is full".to_string(),
            StopLimit::Time(time) => format!("{} at most", duration(*time)),
            StopLimit::Bytes(bytes) => format!("{bytes} at most"),
            StopLimit::Ops(ops) => format!("{} writes at most", ops.0),
            StopLimit::Passes(passes) => format!("{passes} passes at most"),
        });
    }
    Some(fact("budget", parts.join(", ")))
}

/// What is to be said of it; nothing where nothing was written.
fn facts(record: &Record, voice: Voice) -> Vec<PageFact> {
    let Some(found) = SustainedView::of(record) else { return Vec::new() };
    vec![
        fact("burst", burst(&found)),
        fact("lasts", lasting(record, &found, voice)),
        fact("stalls", stalls(&found, voice)),
    ]
}

/// The rate over the time; nothing where nothing was written.
fn timeline(record: &Record, style: TerminalStyle) -> Vec<String> {
    let Some(found) = SustainedView::of(record) else { return Vec::new() };
    let rates: Vec<f64> = found.intervals.iter().map(|interval| interval.rate()).collect();
    let length = format!(" {}", duration(found.all().time));
    let taken = 2 + SCALE + 1 + length.len();
    let cells = gathered(&rates, style.width.saturating_sub(taken).min(WIDTH));
    let most = cells.iter().copied().fold(0.0, f64::max);
    let mut lines = Vec::new();
    for (row, line) in columns(&cells, most, HEIGHT, style).into_iter().enumerate() {
        let scale = match row {
            0 => Bandwidth(most).to_string(),
            _ => String::new(),
        };
        let label = if row == 0 { "rate" } else { "" };
        let edge = style.glyph("│", "|");
        let head = style.paint(Ink::Faint, &format!("  {label:5}{scale:>12} {edge}"));
        lines.push(format!("{head}{line}").trim_end().to_string());
    }
    let foot = style.glyph("└", "+").to_string()
        + &style.glyph("─", "-").repeat(cells.len().max(1))
        + &length;
    lines.push(style.paint(Ink::Faint, &format!("{:1$}{foot}", "", 2 + SCALE)));
    lines.push(String::new());
    lines
}

fn burst(found: &SustainedView) -> String {
    match found.burst {
        Some(burst) => format!(
            "{} at {}, in the first {}",
            burst.bytes,
            Bandwidth(burst.rate()),
            duration(burst.time)
        ),
        None => format!("none in the {} written", found.all().bytes),
    }
}

fn lasting(record: &Record, found: &SustainedView, voice: Voice) -> String {
    let rate = Bandwidth(found.rate());
    match found.steady {
        Some((state, after)) => format!(
            "{rate}: steady after {}, over {} rounds with a spread of {} and a slope of {}",
            duration(after),
            state.rounds.len(),
            share(state.spread),
            share(state.slope.abs()),
        ),
        None => {
            let job = found.phase.steady.first().map_or("", |job| job.job.as_str());
            let stopped = voice.say(&stopped_before_steady(record, found.phase, job));
            format!("{rate} so far. {stopped}")
        }
    }
}

fn stalls(found: &SustainedView, voice: Voice) -> String {
    match found.stalls.iter().max() {
        Some(longest) => {
            format!("{}, the longest of {}", found.stalls.len(), voice.say(longest))
        }
        None => "none".into(),
    }
}
