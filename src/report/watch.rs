//! What `assay watch` shows: a line for each interval, a page that is drawn anew in place, or JSON;
//! and at the end what it came to.
//!
//! Pure functions over glances; who calls them decides where the lines go and when.

mod columns;
mod page;
mod summary;

pub use page::WatchPage;
pub use summary::WatchSummary;

use std::io::{self, Write};

use columns::{DEVICE, MACHINE, cells, fitted, named, width};

use super::TerminalStyle;
use super::fact;
use super::fact::labelled;
use super::fitted::{FittedCell, FittedTable};
use super::heading::{self, PathHeading, throttles};
use super::paint::{Ink, columns as wide, wrap};
use assay_record::evidence::{BlockLayer, Survey, SurveyPlace};
use assay_record::record::{IntervalStats, JsonLayout, ProcessStats, write_json};

/// What is watched: the words that were typed, the path down to the leaf, limits, and what cannot
/// be seen.
pub fn heading(
    words: &[String],
    survey: &Survey,
    unseen: &[String],
    style: TerminalStyle,
) -> Vec<String> {
    let mut stack: Vec<&BlockLayer> = Vec::new();
    for device in survey.devices() {
        if stack.iter().all(|layer| layer.name != device.layer.name) {
            stack.push(&device.layer);
        }
    }
    // The mounts below a loop device are not the path's own.
    let mount = match survey.steps.first().map(|step| &step.place) {
        Some(SurveyPlace::Mount(mount)) => Some(mount),
        _ => None,
    };
    let path_heading = PathHeading { path: &survey.path, mount, stack, bottom: &survey.bottom };
    let mut lines = vec![style.paint(Ink::Strong, &heading::title("watch", words)), String::new()];
    lines.extend(labelled("where", &heading::place(&path_heading, style), style));
    lines.extend(fact::lines(&heading::devices(&path_heading.stack, style), style));
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
/// When it cannot be written.
pub fn json(interval_stats: &IntervalStats, out: &mut dyn Write) -> io::Result<()> {
    write_json(interval_stats, JsonLayout::Line, out)?;
    out.write_all(b"\n")
}

/// Intervals after which the names of the columns are said again.
const REPEAT: usize = 20;

/// A line for each interval and device, as for a log. Where the page is too narrow for that, what the
/// whole machine did has a line of its own.
#[derive(Debug, Default)]
pub struct WatchLines {
    intervals_seen: usize,
    /// Devices of which it was said that they cannot be seen.
    unseen: Vec<String>,
}

impl WatchLines {
    /// The lines of an interval, with the names of the columns before the first and now and then.
    /// What the whole machine did stands beside the first device, or beneath all of them.
    pub fn of(&mut self, interval_stats: &IntervalStats, style: TerminalStyle) -> Vec<String> {
        let (name, now) = (names(interval_stats), clock(interval_stats));
        let label = |time: &str, device: &str| format!("{time:0$}  {device:name$}", wide(now));
        let indent = wide(now) + 2;
        let room = style.width.saturating_sub(indent).max(20);
        let mut head = label("time", "device");
        let aside = wide(&head) + width(DEVICE) + width(MACHINE) <= style.width;
        let figures = fitted(DEVICE).into_iter();
        let beside = if aside { fitted(MACHINE) } else { Vec::new() };
        let columns = named(&head).into_iter().chain(figures).chain(beside).collect();
        let mut devices = FittedTable::indented(columns, 0, style).with_none();
        head = label("", "");
        let columns = [named(&head), fitted(MACHINE)].concat();
        let mut machine = FittedTable::indented(columns, 0, style);
        let mut lines = Vec::new();
        if self.intervals_seen == 0 {
            // There is no end below which it could stand.
            lines.extend(devices.foot(&[]));
            lines.extend(if aside { Vec::new() } else { machine.left_out(&[]) });
        }
        if self.intervals_seen.is_multiple_of(REPEAT) {
            lines.extend(devices.head());
            lines.extend(if aside { Vec::new() } else { machine.head() });
        }
        self.intervals_seen += 1;
        if self.intervals_seen == 1 {
            // The heading has said so.
            self.unseen = lost(interval_stats).map(|(name, _)| name.into()).collect();
        }
        for (name, why) in lost(interval_stats) {
            if !self.unseen.iter().any(|known| known == name) {
                self.unseen.push(name.into());
                let mut time = now.to_string();
                for line in wrap(&format!("{name} went away: {why}"), room) {
                    lines.push(format!("{time}  {line}"));
                    time = " ".repeat(wide(now));
                }
            }
        }
        let row = |device: &str, figures: Vec<FittedCell>| -> Vec<FittedCell> {
            std::iter::once(label(now, device).trim_end().into()).chain(figures).collect()
        };
        let whole = || cells(MACHINE, Some(interval_stats));
        let mut busy = processes(interval_stats);
        for (index, device) in interval_stats.devices.iter().enumerate() {
            let mut figures = cells(DEVICE, device.figures.seen());
            if aside {
                let none = MACHINE.iter().map(|_| FittedCell::default());
                figures.extend(if index == 0 { whole() } else { none.collect() });
            }
            let mut rows = devices.row(&row(&device.name, figures));
            if let (true, 0, Some(last)) = (aside, index, rows.last_mut())
                && wide(last) + 2 + wide(&busy) <= style.width
                && !busy.is_empty()
            {
                last.push_str("  ");
                last.push_str(&std::mem::take(&mut busy));
            }
            lines.extend(rows);
        }
        if !aside {
            lines.extend(machine.row(&row("machine", whole())));
        }
        lines.extend(wrap(&busy, room).iter().map(|line| format!("{:indent$}{line}", "")));
        lines
    }
}

/// Devices without figures, and why.
fn lost(interval_stats: &IntervalStats) -> impl Iterator<Item = (&str, &str)> {
    interval_stats
        .devices
        .iter()
        .filter_map(|device| Some((device.name.as_str(), device.figures.why()?)))
}

/// Columns that the name of a device has at the least.
const LEAST_NAME: usize = 8;

/// Columns for the longest name of a device.
fn names(interval_stats: &IntervalStats) -> usize {
    let widest = interval_stats.devices.iter().map(|device| wide(&device.name)).max();
    widest.unwrap_or(0).max(LEAST_NAME)
}

/// The time of day, with milliseconds where the intervals are shorter than a second.
fn clock(interval_stats: &IntervalStats) -> &str {
    let end = if interval_stats.interval_ns.as_secs() < 0.95 { 23 } else { 19 };
    interval_stats.at.get(11..end).unwrap_or(&interval_stats.at)
}

const MOST_PROCESSES: usize = 2;

/// Who did I/O, on whatever device; empty when nobody did, or nobody shows it.
fn processes(interval_stats: &IntervalStats) -> String {
    let Some(busy) = interval_stats.processes.seen().map(|seen| &seen.busy) else {
        return String::new();
    };
    let mut parts: Vec<String> = busy.iter().take(MOST_PROCESSES).map(process).collect();
    if let more @ 1.. = busy.len().saturating_sub(MOST_PROCESSES) {
        parts.push(format!("{more} more"));
    }
    parts.join(", ")
}

/// `dd[1234] writes 4.19 MB/s`.
fn process(process: &ProcessStats) -> String {
    let loop_config = [("reads", process.read), ("writes", process.write)];
    let moved = loop_config.iter().filter(|(_, rate)| rate.0 > 0.0);
    let moved: Vec<String> = moved.map(|(way, rate)| format!("{way} {rate}")).collect();
    format!("{}[{}] {}", process.name, process.pid, moved.join(" and "))
}
