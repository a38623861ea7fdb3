//! What `assay watch` shows: a line for each interval, a page that is drawn anew in place, or JSON;
//! and at the end what it came to.
//!
//! Pure functions over glances; who calls them decides where the lines go and when.

mod columns;
mod page;
mod summary;

pub use page::Page;
pub use summary::Summary;

use columns::{DEVICE, MACHINE, cells, heads};

use super::Style;
use super::fact;
use super::heading::{self, Site, labelled, throttles};
use super::paint::{Ink, columns as wide};
use crate::evidence::{Layer, Place, Survey};
use crate::record::{Glance, ProcessGlance};

/// What is watched: the words that were typed, the path down to the leaf, limits, and what can not
/// be seen.
pub fn heading(words: &[String], survey: &Survey, unseen: &[String], style: Style) -> Vec<String> {
    let mut stack: Vec<&Layer> = Vec::new();
    for device in survey.devices() {
        if stack.iter().all(|layer| layer.name != device.layer.name) {
            stack.push(&device.layer);
        }
    }
    // The mounts below a loop device are not the path's own.
    let mount = match survey.steps.first().map(|step| &step.place) {
        Some(Place::Mount(mount)) => Some(mount),
        _ => None,
    };
    let site = Site { path: &survey.path, mount, stack, bottom: &survey.bottom };
    let mut lines = vec![style.paint(Ink::Strong, &heading::title("watch", words)), String::new()];
    lines.extend(labelled("where", &heading::place(&site, style), style));
    lines.extend(fact::lines(&heading::devices(&site.stack, style), style));
    if let Some(limits) = survey.limits.seen() {
        lines.extend(fact::lines(&throttles(limits), style));
    }
    for (index, reason) in unseen.iter().enumerate() {
        lines.extend(labelled(if index == 0 { "unseen" } else { "" }, reason, style));
    }
    lines.push(String::new());
    lines
}

/// A glance as one line of JSON.
///
/// # Errors
/// None but what the serializer has: numbers that JSON lacks are never made.
pub fn json(glance: &Glance) -> serde_json::Result<String> {
    Ok(serde_json::to_string(glance)? + "\n")
}

/// Intervals after which the names of the columns are said again.
const REPEAT: usize = 20;

/// A line for each interval and device, as for a log.
#[derive(Debug, Default)]
pub struct Lines {
    glances: usize,
    /// Devices of which it was said that they can not be seen.
    unseen: Vec<String>,
}

impl Lines {
    /// The lines of an interval, with the names of the columns before the first and now and then.
    /// What the whole machine did stands beside the first device.
    pub fn of(&mut self, glance: &Glance, style: Style) -> Vec<String> {
        let (name, time) = (names(glance), wide(clock(glance)));
        let mut lines = Vec::new();
        if self.glances.is_multiple_of(REPEAT) {
            let [groups, device] = heads(&format!("{:time$}  {:name$}", "time", "device"), DEVICE);
            let [others, machine] = heads("", MACHINE);
            let before = wide(&device);
            for line in [format!("{groups:before$}{others}"), device + &machine] {
                lines.push(style.paint(Ink::Faint, &line));
            }
        }
        self.glances += 1;
        if self.glances == 1 {
            // The heading has said so.
            self.unseen = lost(glance).map(|(name, _)| name.into()).collect();
        }
        for (name, why) in lost(glance) {
            if !self.unseen.iter().any(|known| known == name) {
                self.unseen.push(name.into());
                lines.push(format!("{}  {name} went away: {why}", clock(glance)));
            }
        }
        for (index, device) in glance.devices.iter().enumerate() {
            let figures = cells(DEVICE, device.figures.seen());
            let mut line = format!("{}  {:name$}{figures}", clock(glance), device.name);
            if index == 0 {
                line.push_str(&cells(MACHINE, Some(glance)));
                let busy = processes(glance);
                line.push_str(&if busy.is_empty() { busy } else { format!("  {busy}") });
            }
            lines.push(line);
        }
        lines
    }
}

/// Devices without figures, and why.
fn lost(glance: &Glance) -> impl Iterator<Item = (&str, &str)> {
    glance.devices.iter().filter_map(|device| Some((device.name.as_str(), device.figures.why()?)))
}

/// Columns that the name of a device has at the least.
const LEAST_NAME: usize = 8;

/// Columns for the longest name of a device.
fn names(glance: &Glance) -> usize {
    let widest = glance.devices.iter().map(|device| wide(&device.name)).max();
    widest.unwrap_or(0).max(LEAST_NAME)
}

/// The time of day, with milliseconds where the intervals are shorter than a second.
fn clock(glance: &Glance) -> &str {
    let end = if glance.interval_ns.as_secs() < 0.95 { 23 } else { 19 };
    glance.at.get(11..end).unwrap_or(&glance.at)
}

/// Processes that are named.
const MOST_PROCESSES: usize = 2;

/// Who did I/O, on whatever device; empty when nobody did, or nobody shows it.
fn processes(glance: &Glance) -> String {
    let Some(busy) = glance.processes.seen().map(|seen| &seen.busy) else { return String::new() };
    let mut parts: Vec<String> = busy.iter().take(MOST_PROCESSES).map(process).collect();
    if let more @ 1.. = busy.len().saturating_sub(MOST_PROCESSES) {
        parts.push(format!("{more} more"));
    }
    parts.join(", ")
}

/// `dd[1234] writes 4.19 MB/s`.
fn process(process: &ProcessGlance) -> String {
    let ways = [("reads", process.read), ("writes", process.write)];
    let moved = ways.iter().filter(|(_, rate)| rate.0 > 0.0);
    let moved: Vec<String> = moved.map(|(way, rate)| format!("{way} {rate}")).collect();
    format!("{}[{}] {}", process.name, process.pid, moved.join(" and "))
}
