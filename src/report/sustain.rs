//! What a device keeps up: the timeline, the burst, the rate that lasts, and stalls; and what a run
//! may cost, before it starts.

use super::Style;
use super::chart::{columns, gathered};
use super::fact::{Fact, fact};
use super::figure::duration;
use super::paint::Ink;
use crate::plan::{Aim, Limit, Plan, Steady};
use crate::record::{Record, Resolved};
use crate::unit::Bandwidth;
use crate::verdict::sustain::Sustained;
use crate::verdict::words::share;

/// Lines and columns of the timeline, and columns of its scale.
const HEIGHT: usize = 6;
const WIDTH: usize = 60;
const SCALE: usize = 18;

/// What the run may write, and when it ends; nothing of a plan with another aim.
pub fn budget(plan: &Plan, resolved: &Resolved) -> Option<Fact> {
    (plan.aim == Some(Aim::Sustain)).then_some(())?;
    let job = plan.phases.last()?.jobs.first()?;
    let size = resolved.jobs.last().map(|job| job.size).unwrap_or_default();
    let mut parts = vec![format!("writes the same {size} over and over")];
    for limit in &job.stop.first_of {
        parts.push(match limit {
            Limit::Steady(Steady { round, rounds, .. }) => {
                format!("until {rounds} rounds of {} are steady", duration(*round))
            }
            Limit::Time(time) => format!("{} at most", duration(*time)),
            Limit::Bytes(bytes) => format!("{bytes} at most"),
            Limit::Ops(ops) => format!("{} writes at most", ops.0),
            Limit::Passes(passes) => format!("{passes} times at most"),
        });
    }
    Some(fact("budget", parts.join(", ")))
}

/// What is to be said of it; nothing of a record with another aim.
pub fn facts(record: &Record) -> Vec<Fact> {
    let Some(found) = Sustained::of(record) else { return Vec::new() };
    vec![
        fact("burst", burst(&found)),
        fact("lasts", lasting(&found)),
        fact("stalls", stalls(&found)),
    ]
}

/// The rate over the time; nothing of a record with another aim.
pub fn timeline(record: &Record, style: Style) -> Vec<String> {
    let Some(found) = Sustained::of(record) else { return Vec::new() };
    let rates: Vec<f64> = found.intervals.iter().map(|interval| interval.rate()).collect();
    let cells = gathered(&rates, style.width.saturating_sub(2 + SCALE + 1).min(WIDTH));
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
    let all = found.all();
    let foot = style.glyph("└", "+").to_string()
        + &style.glyph("─", "-").repeat(cells.len().max(1))
        + &format!(" {}", duration(all.time));
    lines.push(style.paint(Ink::Faint, &format!("{:1$}{foot}", "", 2 + SCALE)));
    lines.push(String::new());
    lines
}

fn burst(found: &Sustained) -> String {
    match found.burst {
        Some(burst) => format!(
            "{} at {}, in the first {}",
            burst.bytes,
            Bandwidth(burst.rate()),
            duration(burst.time)
        ),
        None => format!("none within the {} that were written", found.all().bytes),
    }
}

fn lasting(found: &Sustained) -> String {
    let rate = Bandwidth(found.rate());
    match found.steady {
        Some((state, after)) => format!(
            "{rate}: steady after {}, in {} rounds that differ by {} and drift by {}",
            duration(after),
            state.rounds.len(),
            share(state.spread),
            share(state.slope.abs()),
        ),
        None => format!("{rate} so far: not steady when the budget or something else ended it"),
    }
}

fn stalls(found: &Sustained) -> String {
    match found.stalls.iter().max() {
        Some(longest) => format!("{}, the longest of {longest}", found.stalls.len()),
        None => "none".into(),
    }
}
