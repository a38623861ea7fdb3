//! GNOME Disks' graph: rates along the device or file, and below them how long single reads took.

use super::super::TerminalStyle;
use super::super::chart::{columns, dots, gathered};
use super::super::figure::time;
use super::super::paint::Ink;
use assay_plan::plan::{Action, ProfileCell, ProfilePlan};
use assay_plan::unit::{Bandwidth, Bytes, Nanos};
use assay_record::record::{PhaseRecord, Record};

/// Columns of the words beside a graph, of the size behind its foot, of the graph at the most, and its lines.
const BESIDE: usize = 20;
const SIZE: usize = " 1024 GiB".len();
const WIDTH: usize = 60;
const HEIGHT: usize = 4;
/// So many of a hundred reads set the scale; those that took longer stand in the highest line.
const SCALE: usize = 99;

/// The graphs of all cells whose I/Os were kept; none of a record without such.
pub fn graph(profile: &ProfilePlan, record: &Record, style: TerminalStyle) -> Vec<String> {
    let width = style.width.saturating_sub(BESIDE + SIZE).clamp(1, WIDTH);
    let mut lines = Vec::new();
    let mut size = Bytes::ZERO;
    let apart =
        style.paint(Ink::Faint, &format!("{:1$}{2}", "", BESIDE - 1, style.glyph("│", "|")));
    for (cell, phase) in profile.cells.iter().filter_map(|cell| Some((cell, kept(record, cell)?))) {
        let job = record.jobs_of(phase).next();
        size = size.max(job.map_or(Bytes::ZERO, |job| job.size));
        lines.extend((!lines.is_empty()).then(|| apart.clone()));
        lines.extend(if cell.access {
            accesses(phase, size, width, style)
        } else {
            rates(cell, phase, width, style)
        });
    }
    if !lines.is_empty() {
        let foot = style.glyph("└", "+").to_string() + &style.glyph("─", "-").repeat(width);
        let foot = format!("{:1$}{foot} {size}", "", BESIDE - 1);
        lines.extend([style.paint(Ink::Faint, &foot), String::new()]);
    }
    lines
}

/// The first run of a cell, if its I/Os were kept.
fn kept<'r>(record: &'r Record, cell: &ProfileCell) -> Option<&'r PhaseRecord> {
    let done = cell.runs.iter().find_map(|run| record.phase_of(run));
    done.filter(|phase| !phase.each.is_empty())
}

/// The rate of each sample, or of neighbours together, from the beginning to the end.
fn rates(
    cell: &ProfileCell,
    phase: &PhaseRecord,
    width: usize,
    style: TerminalStyle,
) -> Vec<String> {
    let mut samples: Vec<(Bytes, f64)> = phase
        .each
        .iter()
        .zip(durations(phase))
        .map(|(single, took)| (single.offset, took.as_secs()))
        .filter(|(_, took)| *took > 0.0)
        .collect();
    samples.sort_by_key(|(offset, _)| *offset);
    let total = phase.totals.get(&cell.action);
    let each = total.map_or(0.0, |total| total.bytes.0 as f64 / total.ops.0.max(1) as f64);
    let rates: Vec<f64> = samples.iter().map(|(_, took)| each / took).collect();
    let gathered = gathered(&rates, width);
    // A few samples are as wide as many.
    let all = |column: usize| gathered[column * gathered.len() / width];
    let values: Vec<f64> =
        if gathered.is_empty() { Vec::new() } else { (0..width).map(all).collect() };
    let most = values.iter().copied().fold(0.0, f64::max);
    let graph = columns(&values, most, HEIGHT, style);
    beside(cell.action.name(), &Bandwidth(most).to_string(), graph, style)
}

/// How long each sample took. Where each write has its flush that is up to the next one; of the last
/// nothing shows how long its flush alone took, so it is left out.
fn durations(phase: &PhaseRecord) -> Vec<Nanos> {
    let singles = phase.each.iter();
    if !phase.totals.contains_key(&Action::Flush) {
        return singles.map(|single| single.lat_ns).collect();
    }
    let next = phase.each.iter().skip(1);
    singles.zip(next).map(|(single, next)| next.at_ns.less(single.at_ns)).collect()
}

/// A dot for each read: where it went, and how long it took.
fn accesses(phase: &PhaseRecord, size: Bytes, width: usize, style: TerminalStyle) -> Vec<String> {
    let mut times: Vec<Nanos> = phase.each.iter().map(|single| single.lat_ns).collect();
    times.sort_unstable();
    let most = times[(times.len() * SCALE / 100).min(times.len() - 1)];
    let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
    let points: Vec<(f64, f64)> = phase
        .each
        .iter()
        .map(|single| (share(single.offset.0, size.0), share(single.lat_ns.0, most.0)))
        .collect();
    beside("access", &time(most, style), dots(&points, (width, HEIGHT), style), style)
}

/// A graph with its name and its highest value beside it.
fn beside(name: &str, most: &str, graph: Vec<String>, style: TerminalStyle) -> Vec<String> {
    let edge = style.glyph("│", "|");
    let line = |(row, line): (usize, String)| {
        let (name, most) = if row == 0 { (name, most) } else { ("", "") };
        let head = style.paint(Ink::Faint, &format!("  {name:6}{most:>10} {edge}"));
        format!("{head}{line}").trim_end().to_string()
    };
    graph.into_iter().enumerate().map(line).collect()
}
