//! Whether a device holds as much as it promises to: what will be written, said before it is, and what
//! became of it.

use super::Style;
use super::heading::labelled;
use super::paint::Ink;
use crate::plan::{Aim, Plan};
use crate::record::{Capacity, Holding, Outcome, Record, Resolved};
use crate::stats::Held;
use crate::unit::Bytes;

/// How much will be written, and over which space; nothing of a plan with another aim.
pub fn budget(plan: &Plan, resolved: &Resolved, style: Style) -> Vec<String> {
    if plan.aim != Some(Aim::Capacity) {
        return Vec::new();
    }
    let Some(job) = resolved.jobs.first() else { return Vec::new() };
    let writes = job.writes_at_most.unwrap_or_default();
    let text = if writes < job.size {
        format!("{writes}, in blocks spread over {} and at its end", job.size)
    } else {
        format!("{writes}: all of it")
    };
    labelled("writes", &text, style)
}

/// Everything that is to be said of it; nothing of a record with another aim.
pub fn lines(record: &Record, style: Style) -> Vec<String> {
    let Some(Outcome::Capacity(found)) = &record.outcome else { return Vec::new() };
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
    } else if found.holding == Holding::Genuine && !found.whole {
        let text = "what lies between was not written: --fill writes and reads all of it";
        lines.extend(labelled("", text, style));
    }
    lines
}

fn word(found: &Capacity) -> (&'static str, Ink) {
    match found.holding {
        Holding::Genuine if found.whole => ("real", Ink::Good),
        Holding::Genuine => ("real, as far as was looked", Ink::Good),
        Holding::Wraps => ("fake: it wraps around", Ink::Bad),
        Holding::Loses => ("fake or failing: the end is not there", Ink::Bad),
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
