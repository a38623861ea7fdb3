//! Whether a device holds as much as it promises to: what will be written, said before it is, and what
//! became of it.

use std::io::{self, Write};

use super::Style;
use super::heading::{self, labelled};
use super::paint::Ink;
use super::text::{Text, foot, later_notes};
use crate::plan::Plan;
use crate::record::{Capacity, Holding, Outcome, PhaseRecord, Record, Resolved, Trust};
use crate::stats::Held;
use crate::unit::Bytes;

/// The page while it grows: what was written and read as any other run has it, and instead of a verdict
/// on the speed one on the capacity.
#[derive(Debug)]
pub struct Page {
    style: Style,
    text: Text,
    /// Notes of the heading that were printed.
    notes: usize,
}

impl Page {
    /// An empty page.
    pub fn new(style: Style) -> Self {
        Self { style, text: Text::new(style), notes: 0 }
    }
}

impl super::Page for Page {
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
        writeln!(out)?;
        let mut lines = later_notes(record, self.notes, self.style);
        lines.extend(self.text.ending(record));
        if let Some(Outcome::Capacity(found)) = &record.outcome {
            lines.extend(told(found, self.style));
            lines.extend(next(record, found, self.style));
        }
        foot(&lines, record, self.style, out)
    }
}

/// May the capacity be believed in.
pub(super) fn trust(found: &Capacity) -> Trust {
    match found.holding {
        Holding::Genuine => Trust::Sound,
        Holding::Unknown => Trust::Unproven,
        Holding::Wraps | Holding::Loses | Holding::Damaged => Trust::Wrong,
    }
}

/// How much will be written, and over which space.
fn budget(resolved: &Resolved) -> String {
    let Some(job) = resolved.jobs.first() else { return "nothing".into() };
    let writes = job.writes_at_most.unwrap_or_default();
    if writes < job.size {
        format!("{writes}, in blocks spread over {} and at its end", job.size)
    } else {
        format!("{writes}: all of it")
    }
}

/// What became of the blocks.
fn told(found: &Capacity, style: Style) -> Vec<String> {
    let (word, ink) = word(found);
    let mut lines = labelled("capacity", word, style);
    if let Some(first) = lines.first_mut() {
        *first = first.replacen(word, &style.paint(ink, word), 1);
    }
    lines.extend(labelled("", &found.claim, style));
    if let Some(real) = real(found) {
        lines.extend(labelled("real", &real, style));
    }
    if found.blocks.wrong() > 0 {
        lines.extend(labelled("blocks", &held(&found.blocks), style));
    }
    lines
}

/// What to type or do now.
fn next(record: &Record, found: &Capacity, style: Style) -> Vec<String> {
    let paths = &record.plan.origin.words;
    match found.holding {
        Holding::Genuine if found.whole => Vec::new(),
        Holding::Genuine => {
            let mut lines = labelled("next", "write and read what lies between, too:", style);
            let line = heading::title("card --fill", paths);
            lines.push(format!("           {}", style.paint(Ink::Strong, &line)));
            lines
        }
        Holding::Unknown => {
            labelled("next", "let it come to its end, on a path with a device of its own", style)
        }
        Holding::Wraps | Holding::Loses | Holding::Damaged => {
            labelled("next", "save what is on it, and do not trust this device with data", style)
        }
    }
}

fn word(found: &Capacity) -> (&'static str, Ink) {
    match found.holding {
        Holding::Genuine if found.whole => ("real", Ink::Good),
        Holding::Genuine => ("real, as far as was looked", Ink::Good),
        Holding::Wraps => ("fake: it wraps around", Ink::Bad),
        Holding::Loses => ("fake or failing: it loses data", Ink::Bad),
        Holding::Damaged => ("failing: it changes data", Ink::Bad),
        Holding::Unknown => ("not shown", Ink::Careful),
    }
}

/// How large the device really is.
fn real(found: &Capacity) -> Option<String> {
    let (least, most) = found.real?;
    let share = |bytes: Bytes| 100.0 * bytes.0 as f64 / found.space.0.max(1) as f64;
    Some(if least == most {
        format!("about {least} of {} ({:.0} %)", found.space, share(least))
    } else {
        format!("{least} to {most} of {}", found.space)
    })
}

/// Blocks by what they hold.
fn held(blocks: &Held) -> String {
    let kinds = [
        (blocks.right, "right"),
        (blocks.misplaced, "with the data of another place"),
        (blocks.stale, "with older data"),
        (blocks.zeros, "zeros"),
        (blocks.foreign, "with data that were never written"),
        (blocks.damaged, "with single bytes changed"),
        (blocks.unreadable, "not readable"),
    ];
    let there = kinds.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = there.map(|(count, what)| format!("{count} {what}")).collect();
    parts.join(", ")
}
