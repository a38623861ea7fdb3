//! The page of `quick --profile`: another program's table, with what it leaves out beside it.

mod surface;

use std::io::{self, Write};

use super::figure::{digits, megabytes, time};
use super::heading::{self, labelled};
use super::paint::{Ink, ink};
use super::text::{Text, foot, later_notes};
use super::{Page, Style};
use crate::plan::{Action, Aim, Plan, Target, Tool, Work};
use crate::record::{Figures, Outcome, PhaseRecord, Profiled, Record, Resolved, Trust};
use crate::verdict::profile::{profiled, scores};

/// Columns of the name of a cell, and the figures behind it.
const NAME: usize = 16;
const FIGURES: [(&str, usize); 6] =
    [("best", 9), ("mean", 9), ("spread", 9), ("IOPS", 9), ("latency", 11), ("runs", 6)];

/// The page while it grows: the table stands at the end, for a cell has several runs.
#[derive(Debug)]
pub(super) struct Table {
    style: Style,
    text: Text,
    /// Notes of the heading that were printed.
    notes: usize,
}

impl Table {
    /// An empty page.
    pub fn new(style: Style) -> Self {
        Self { style, text: Text::new(style), notes: 0 }
    }
}

impl Page for Table {
    fn opening(&mut self, plan: &Plan, resolved: &Resolved, out: &mut dyn Write) -> io::Result<()> {
        let mut lines = heading::lines(plan, resolved, self.style);
        if let Some(Aim::Profile(profile)) = &plan.aim {
            let text = format!("{}{}", about(profile.of), apart(profile.of, plan));
            lines.extend(labelled("as", &text, self.style));
        }
        self.notes = resolved.notes.len();
        heading::put(&lines, out)
    }

    fn phase(
        &mut self,
        _record: &Record,
        phase: &PhaseRecord,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.text.troubles(phase, out)
    }

    fn closing(&mut self, record: &Record, out: &mut dyn Write) -> io::Result<()> {
        let style = self.style;
        let mut lines = Vec::new();
        // A record that was cut off has not come to its outcome.
        let outcome = match &record.outcome {
            Some(Outcome::Profile(profiled)) => Some(profiled.clone()),
            _ => profiled(record),
        };
        if let Some(profiled) = outcome {
            lines.extend(tables(&profiled, style));
            lines.extend(surface::graph(record, style));
            lines.extend(remarks(&profiled, style));
        }
        lines.extend(later_notes(record, self.notes, style));
        lines.extend(self.text.ending(record));
        lines.extend(record.verdict.iter().flat_map(|verdict| self.text.verdict(verdict)));
        foot(&lines, record, style, out)
    }
}

/// What the program does, and where this differs.
fn about(of: Tool) -> &'static str {
    match of {
        Tool::Cdm | Tool::CdmNvme | Tool::CdmFlash => {
            "CrystalDiskMark 9: one run of each cell that does not count, then those of which it \
             shows the best rate, and the lowest mean latency of whichever run; nothing is flushed \
             in the timing. Here each block is written with data of its own, there with one buffer"
        }
        Tool::AsSsd => {
            "AS SSD, as reviews describe it: 16 MiB units, 4 KiB one at a time and with 64 threads \
             in a file each, reads of 4 KiB all over the drive and writes of 512 bytes"
        }
        Tool::Gnome => {
            "GNOME Disks: samples of 10 MiB at even distances, each write with its own fsync, then \
             1000 reads of 4 KiB anywhere. Here no page is read before a sample, and writes do not \
             put back what was there"
        }
    }
}

/// Where this differs because of what stands at the path.
fn apart(of: Tool, plan: &Plan) -> &'static str {
    let on = |wanted: fn(&Target) -> bool| {
        let mut jobs = plan.phases.iter().flat_map(|phase| &phase.jobs);
        jobs.any(|job| matches!(&job.work, Work::Blocks(blocks) if wanted(&blocks.target)))
    };
    match of {
        Tool::AsSsd if on(|target| matches!(target, Target::Files { .. })) => {
            ". Here those reads are all over the test file, not the drive"
        }
        Tool::AsSsd if on(|target| matches!(target, Target::Device { .. })) => {
            ". Here the files of the threads are parts of the device"
        }
        Tool::AsSsd => ". Here all of it is in this file",
        Tool::Cdm | Tool::CdmNvme | Tool::CdmFlash | Tool::Gnome => "",
    }
}

/// One table for reads, one for writes; GNOME's figures stand in one.
fn tables(profiled: &Profiled, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for action in [Action::Read, Action::Write] {
        let cells: Vec<&Figures> =
            profiled.cells.iter().filter(|cell| cell.action == action).collect();
        if cells.is_empty() {
            continue;
        }
        let title = if action == Action::Read { "[Read]  MB/s" } else { "[Write] MB/s" };
        let mut head = format!("  {title:NAME$}");
        for (name, width) in FIGURES {
            head.push_str(&format!("{name:>width$}"));
        }
        lines.push(style.paint(Ink::Faint, &head));
        lines.extend(cells.into_iter().map(|cell| row(cell, style)));
        lines.push(String::new());
    }
    lines
}

fn row(cell: &Figures, style: Style) -> String {
    let name = format!("  {:NAME$}", cell.title);
    if let Some(why) = &cell.left_out {
        return format!("{name}{:>1$}  {why}", "n/a", FIGURES[0].1);
    }
    let absent = || "-".to_string();
    let percent = |share: f64| format!("{}%", digits(share * 100.0));
    let texts = [
        megabytes(cell.best),
        megabytes(cell.mean),
        cell.spread().map_or_else(absent, percent),
        cell.iops.map_or_else(absent, |iops| iops.to_string()),
        cell.lat.map_or_else(absent, |lat| time(lat, style)),
        cell.runs.to_string(),
    ];
    let mut line = name;
    for (text, (_, width)) in texts.iter().zip(FIGURES) {
        line.push_str(&format!("{text:>width$}"));
    }
    match cell.trust {
        Some(trust @ Trust::Wrong) => {
            line.push_str(&format!("  {}", style.paint(ink(trust), style.glyph("✗", "x"))));
        }
        Some(trust @ (Trust::Doubtful | Trust::Unproven)) => {
            line.push_str(&format!("  {}", style.paint(ink(trust), "?")));
        }
        Some(Trust::Sound) | None => {}
    }
    line
}

/// What is to be said of these figures beside those of the programs.
fn remarks(profiled: &Profiled, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    if profiled.cells.iter().any(|cell| cell.runs > 1) {
        let text = "the best run less the worst, as a share of the mean";
        lines.extend(labelled("spread", text, style));
    }
    let units = match profiled.of {
        Tool::Cdm | Tool::CdmNvme | Tool::CdmFlash => {
            "MB/s are 10^6 bytes per second, as CrystalDiskMark's. KDiskMark divides KiB by 1000: \
             what it calls MB/s is 2.4 % less"
        }
        Tool::AsSsd | Tool::Gnome => "MB/s are 10^6 bytes per second",
    };
    lines.extend(labelled("units", units, style));
    if profiled.of == Tool::AsSsd
        && let Some([read, write, all]) = scores(profiled)
    {
        let text = format!(
            "read {read:.0}, write {write:.0}, all {all:.0}, by AS SSD's formula: a number that \
             hides what the table tells"
        );
        lines.extend(labelled("score", &text, style));
    }
    lines
}
