//! Whether a device holds as much as it promises to: what will be written, said before it is, and what
//! became of it.

use std::io::{self, Write};

use super::closing::{foot, later_notes};
use super::fact::{inked, labelled};
use super::heading;
use super::paint::{Ink, InkedText};
use super::study::StudyPrinter;
use super::text::TextPage;
use super::{ReportPage, TerminalStyle};
use assay_plan::plan::{CapacityStudy, PlainRun, Plan};
use assay_plan::stats::ContentCounts;
use assay_plan::unit::Bytes;
use assay_record::record::{
    BlockFate, CapacityResult, PhaseRecord, Record, Resolved, StudyResult, Trust,
};

impl StudyPrinter for CapacityStudy {
    fn page(&self, style: TerminalStyle) -> Option<Box<dyn ReportPage>> {
        Some(Box::new(CapacityPage::new(style)))
    }

    fn has_page(&self) -> bool {
        true
    }

    fn trust(&self, record: &Record) -> Option<Trust> {
        match &record.outcome {
            Some(StudyResult::Capacity(found)) => Some(trust(found)),
            _ => PlainRun.trust(record),
        }
    }
}

/// The page while it grows: what was written and read as any other run has it, and instead of a verdict
/// on the speed one on the capacity.
#[derive(Debug)]
struct CapacityPage {
    style: TerminalStyle,
    text: TextPage,
    /// Notes of the heading that were printed.
    notes: usize,
}

impl CapacityPage {
    fn new(style: TerminalStyle) -> Self {
        Self { style, text: TextPage::new(style), notes: 0 }
    }
}

impl ReportPage for CapacityPage {
    fn opening(&mut self, plan: &Plan, resolved: &Resolved, out: &mut dyn Write) -> io::Result<()> {
        let mut lines = heading::lines(plan, resolved, self.style);
        lines.extend(labelled("writes", &budget(resolved), self.style));
        self.notes = resolved.notes.len();
        heading::put(&lines, out)
    }

    fn phase(
        &mut self,
        record: &Record,
        phase: &PhaseRecord,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.text.phase(record, phase, out)
    }

    fn closing(&mut self, record: &Record, out: &mut dyn Write) -> io::Result<()> {
        self.text.foot(out)?;
        let mut lines = later_notes(record, self.notes, self.style);
        lines.extend(self.text.ending(record));
        if let Some(StudyResult::Capacity(found)) = &record.outcome {
            lines.extend(told(found, self.style));
            lines.extend(next(record, found, self.style));
        }
        foot(&lines, record, self.style, out)
    }
}

/// May the capacity be believed in.
fn trust(found: &CapacityResult) -> Trust {
    match found.holding {
        BlockFate::Genuine => Trust::Sound,
        BlockFate::Unknown => Trust::Unproven,
        BlockFate::Wraps | BlockFate::Loses | BlockFate::Damaged => Trust::Wrong,
    }
}

/// How much will be written, and over which space.
fn budget(resolved: &Resolved) -> String {
    let Some(job) = resolved.jobs.first() else { return "nothing".into() };
    let writes = job.writes_at_most.unwrap_or_default();
    if writes < job.size {
        format!("{writes}, in blocks spread over {} and at the end", job.size)
    } else {
        format!("{writes} (all of it)")
    }
}

/// What became of the blocks.
fn told(found: &CapacityResult, style: TerminalStyle) -> Vec<String> {
    let (word, ink) = word(found);
    let mut lines = inked("capacity", &InkedText::of(ink, word), style);
    lines.extend(labelled("", &style.voice().say(&found.claim.0), style));
    if trust(found) == Trust::Wrong {
        lines.extend(labelled("", "Back up what is on it, and do not use it for data.", style));
    }
    if let Some(real) = real(found) {
        lines.extend(labelled("real", &real, style));
    }
    if found.blocks.wrong() > 0 {
        lines.extend(labelled("blocks", &held(&found.blocks), style));
    }
    lines
}

fn next(record: &Record, found: &CapacityResult, style: TerminalStyle) -> Vec<String> {
    let paths = &record.plan.origin.words;
    let verb = match found.holding {
        BlockFate::Genuine if !found.whole => "card --fill",
        // It was not run to its end, or the path has no block device of its own.
        BlockFate::Unknown => "card",
        BlockFate::Genuine | BlockFate::Wraps | BlockFate::Loses | BlockFate::Damaged => {
            return Vec::new();
        }
    };
    let label = style.paint(Ink::Faint, &format!("{:9}", "next"));
    vec![format!("  {label}{}", style.paint(Ink::Strong, &heading::title(verb, paths)))]
}

fn word(found: &CapacityResult) -> (&'static str, Ink) {
    match found.holding {
        BlockFate::Genuine if found.whole => ("real", Ink::Good),
        BlockFate::Genuine => ("real, as far as tested", Ink::Good),
        BlockFate::Wraps => ("fake: it wraps around", Ink::Bad),
        BlockFate::Loses => ("fake or failing: it loses data", Ink::Bad),
        BlockFate::Damaged => ("failing: it changes data", Ink::Bad),
        BlockFate::Unknown => ("not shown", Ink::Careful),
    }
}

/// How large the device really is.
fn real(found: &CapacityResult) -> Option<String> {
    let (least, most) = found.real?;
    let share = |bytes: Bytes| 100.0 * bytes.0 as f64 / found.space.0.max(1) as f64;
    Some(if least == most {
        format!("about {least} of {} ({:.0} %)", found.space, share(least))
    } else {
        format!("{least} to {most} of {}", found.space)
    })
}

/// Blocks by what they hold.
fn held(blocks: &ContentCounts) -> String {
    let kinds = [
        (blocks.right, "right"),
        (blocks.misplaced, "with data of another block"),
        (blocks.stale, "with older data"),
        (blocks.zeros, "zeros"),
        (blocks.foreign, "with data that was never written"),
        (blocks.damaged, "with single bytes changed"),
        (blocks.unreadable, "not readable"),
    ];
    let there = kinds.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = there.map(|(count, what)| format!("{count} {what}")).collect();
    parts.join(", ")
}
