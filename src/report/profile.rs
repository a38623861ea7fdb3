//! The page of `quick --profile`: another program's table, with what it leaves out beside it.

mod surface;

use super::Style;
use super::fact::{self, Fact, fact};
use super::figure::{digits, megabytes, time};
use super::framed::Content;
use super::paint::{Ink, ink};
use super::text::Text;
use crate::plan::{Action, Aim, Plan, Target, Tool, Work};
use crate::record::{Figures, Outcome, Profiled, Record, Resolved, Trust};
use crate::verdict::profile::{profiled, scores};

/// Columns of the name of a cell, and the figures behind it.
const NAME: usize = 16;
const FIGURES: [(&str, usize); 6] =
    [("best", 9), ("mean", 9), ("spread", 9), ("IOPS", 9), ("latency", 11), ("runs", 6)];

/// The page: the table stands at the end, for a cell has several runs.
#[derive(Debug)]
pub(super) struct Table(pub Style);

impl Content for Table {
    fn opening(&self, plan: &Plan, _resolved: &Resolved) -> Option<Fact> {
        let Some(Aim::Profile(profile)) = &plan.aim else { return None };
        Some(fact("as", format!("{}{}", about(profile.of), apart(profile.of, plan))))
    }

    fn table(&self, record: &Record) -> Vec<String> {
        // A record that was cut off has not come to its outcome.
        let outcome = match &record.outcome {
            Some(Outcome::Profile(profiled)) => Some(profiled.clone()),
            _ => profiled(record),
        };
        let Some(profiled) = outcome else { return Vec::new() };
        let mut lines = tables(&profiled, self.0);
        lines.extend(surface::graph(record, self.0));
        lines.extend(fact::lines(&remarks(&profiled), self.0));
        lines
    }

    fn verdict(&self, record: &Record, text: &Text) -> Vec<String> {
        record.verdict.iter().flat_map(|verdict| text.verdict(verdict)).collect()
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
fn remarks(profiled: &Profiled) -> Vec<Fact> {
    let mut facts = Vec::new();
    if profiled.cells.iter().any(|cell| cell.runs > 1) {
        let text = "the best run less the worst, as a share of the mean";
        facts.push(fact("spread", text));
    }
    let units = match profiled.of {
        Tool::Cdm | Tool::CdmNvme | Tool::CdmFlash => {
            "MB/s are 10^6 bytes per second, as CrystalDiskMark's. KDiskMark divides KiB by 1000: \
             what it calls MB/s is 2.4 % less"
        }
        Tool::AsSsd | Tool::Gnome => "MB/s are 10^6 bytes per second",
    };
    facts.push(fact("units", units));
    if profiled.of == Tool::AsSsd
        && let Some([read, write, all]) = scores(profiled)
    {
        let text = format!(
            "read {read:.0}, write {write:.0}, all {all:.0}, by AS SSD's formula: a number that \
             hides what the table tells"
        );
        facts.push(fact("score", text));
    }
    facts
}
