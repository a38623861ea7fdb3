//! The page of `quick --profile`: another program's table, with what it leaves out beside it.

mod surface;

use super::fact::{self, PageFact, fact};
use super::figure::{digits, megabytes, time};
use super::fitted::{FittedCell, FittedColumn, FittedTable, mark};
use super::framed::{FramedContent, FramedPage};
use super::paint::ink;
use super::study::StudyPrinter;
use super::text::TextPage;
use super::{ReportPage, TerminalStyle};
use assay_judge::profile::{profiled, scores};
use assay_plan::plan::{Action, Plan, ProfilePlan, ProfileTool, Target, Work};
use assay_record::record::{ProfileFigure, ProfileResult, Record, Resolved, StudyResult, Trust};

/// Columns of the name of a cell, and the figures behind it, with their ranks: where the page is narrow the
/// highest goes first.
const NAME: usize = 16;
const FIGURES: [(&str, usize, u8); 6] = [
    ("best", 9, 0),
    ("mean", 9, 4),
    ("spread", 9, 3),
    ("IOPS", 9, 2),
    ("latency", 11, 1),
    ("runs", 6, 5),
];

impl StudyPrinter for ProfilePlan {
    fn page(&self, style: TerminalStyle) -> Option<Box<dyn ReportPage>> {
        Some(Box::new(FramedPage::new(ProfileTable { aim: self.clone(), style }, style)))
    }

    fn has_page(&self) -> bool {
        true
    }
}

/// The page: the table stands at the end, for a cell has several runs.
#[derive(Debug)]
struct ProfileTable {
    aim: ProfilePlan,
    style: TerminalStyle,
}

impl FramedContent for ProfileTable {
    fn opening(&self, plan: &Plan, _resolved: &Resolved) -> Option<PageFact> {
        let of = self.aim.of;
        let time = plan.time().map(|time| format!(". It takes {}", time.words(true)));
        let text = format!("{}{}{}", about(of), apart(of, plan), time.unwrap_or_default());
        Some(fact("as", text))
    }

    fn table(&mut self, record: &Record) -> Vec<String> {
        // A record that was cut off has not come to its outcome.
        let profiled = match &record.outcome {
            Some(StudyResult::Profile(profiled)) => profiled.clone(),
            _ => profiled(&self.aim, record),
        };
        let mut lines = tables(&profiled, self.style);
        lines.extend(surface::graph(&self.aim, record, self.style));
        lines.extend(fact::lines(&remarks(&profiled), self.style));
        lines
    }

    fn verdict(&self, record: &Record, text: &TextPage) -> Vec<String> {
        record.verdict.iter().flat_map(|verdict| text.verdict(verdict)).collect()
    }
}

/// What the program does, and where this differs.
fn about(of: ProfileTool) -> &'static str {
    match of {
        ProfileTool::Cdm | ProfileTool::CdmNvme | ProfileTool::CdmFlash => {
            "CrystalDiskMark 9: one run of each cell that does not count, then those of which it \
             shows the best rate, and the lowest mean latency of whichever run; nothing is flushed \
             in the timing. Here each block is written with data of its own, there with one buffer"
        }
        ProfileTool::AsSsd => {
            "AS SSD, as reviews describe it: 16 MiB units, 4 KiB one at a time and with 64 threads \
             in a file each, reads of 4 KiB all over the drive and writes of 512 bytes"
        }
        ProfileTool::Gnome => {
            "GNOME Disks: samples of 10 MiB at even distances, each write with its own fsync, then \
             1000 reads of 4 KiB anywhere. Here no page is read before a sample, and writes do not \
             put back what was there"
        }
    }
}

/// Where this differs because of what stands at the path.
fn apart(of: ProfileTool, plan: &Plan) -> &'static str {
    let on = |wanted: fn(&Target) -> bool| {
        let mut jobs = plan.phases.iter().flat_map(|phase| &phase.jobs);
        jobs.any(|job| matches!(&job.work, Work::Blocks(blocks) if wanted(&blocks.target)))
    };
    match of {
        ProfileTool::AsSsd if on(|target| matches!(target, Target::Files { .. })) => {
            ". Here those reads are all over the test file, not the drive"
        }
        ProfileTool::AsSsd if on(|target| matches!(target, Target::Device { .. })) => {
            ". Here the files of the threads are parts of the device"
        }
        ProfileTool::AsSsd => ". Here all of it is in this file",
        ProfileTool::Cdm | ProfileTool::CdmNvme | ProfileTool::CdmFlash | ProfileTool::Gnome => "",
    }
}

/// One table for reads, one for writes; GNOME's figures stand in one.
fn tables(profiled: &ProfileResult, style: TerminalStyle) -> Vec<String> {
    let figures =
        FIGURES.map(|(title, width, rank)| FittedColumn::right(title, width).ranked(rank));
    let names = std::iter::once(FittedColumn::left("", NAME));
    let columns = names.chain(figures).chain([FittedColumn::left("", 3)]).collect();
    let mut table = FittedTable::new(columns, style);
    let mut lines = Vec::new();
    for action in [Action::Read, Action::Write] {
        let cells: Vec<&ProfileFigure> =
            profiled.cells.iter().filter(|cell| cell.action == action).collect();
        if cells.is_empty() {
            continue;
        }
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let title = if action == Action::Read { "[Read]  MB/s" } else { "[Write] MB/s" };
        table.title(0, title.into());
        lines.extend(table.head());
        for cell in cells {
            lines.extend(match &cell.left_out {
                Some(why) => {
                    table.remark(&cell.title, &format!("n/a  {}", style.voice().say(&why.0)))
                }
                None => table.row(&row(cell, style)),
            });
        }
    }
    if !lines.is_empty() {
        lines.extend(table.foot(&[]));
        lines.push(String::new());
    }
    lines
}

fn row(cell: &ProfileFigure, style: TerminalStyle) -> [FittedCell; 8] {
    let absent = || "-".to_string();
    let percent = |share: f64| format!("{}%", digits(share * 100.0));
    let doubt = cell.trust.filter(|trust| *trust != Trust::Sound);
    let sign = doubt.map(|trust| FittedCell::inked(mark(trust, style), ink(trust), style));
    [
        cell.title.as_str().into(),
        megabytes(cell.best).into(),
        megabytes(cell.mean).into(),
        cell.spread().map_or_else(absent, percent).into(),
        cell.iops.map_or_else(absent, |iops| iops.to_string()).into(),
        cell.lat.map_or_else(absent, |lat| time(lat, style)).into(),
        cell.runs.to_string().into(),
        sign.unwrap_or_default().marked(doubt),
    ]
}

/// What is to be said of these figures beside those of the programs.
fn remarks(profiled: &ProfileResult) -> Vec<PageFact> {
    let mut facts = Vec::new();
    if profiled.cells.iter().any(|cell| cell.runs > 1) {
        let text = "the best run less the worst, as a share of the mean";
        facts.push(fact("spread", text));
    }
    let units = match profiled.of {
        ProfileTool::Cdm | ProfileTool::CdmNvme | ProfileTool::CdmFlash => {
            "MB/s are 10^6 bytes per second, as CrystalDiskMark's. KDiskMark divides KiB by 1000: \
             what it calls MB/s is 2.4 % less"
        }
        ProfileTool::AsSsd | ProfileTool::Gnome => "MB/s are 10^6 bytes per second",
    };
    facts.push(fact("units", units));
    if profiled.of == ProfileTool::AsSsd
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
