//! What pages with pictures say of a record in words: the same as the text page, from the same places.

use super::fact::PageFact;
use super::picture::SHOWN;
use super::study::{printer, trust as trusted};
use super::table::{TableAlign, TableRow, class, judged, signed};
use super::{closing, figure, finding, heading, row, text};
use assay_record::record::{PhaseRecord, Record, Trust, Verdict};

/// What a figure is worth, to be shown so that nobody overlooks it.
pub struct TrustBadge {
    /// `✗ wrong · memory`.
    pub words: String,
    /// `sound`, `doubtful` or `wrong`: the colour.
    pub class: &'static str,
    /// What was measured and how that is known; empty where the page says it otherwise.
    pub summary: String,
}

pub fn title(record: &Record) -> String {
    heading::title(&record.plan.origin.dialect, &record.plan.origin.words)
}

/// The path with all that lies below it, how it was measured, what it may cost, and notes.
pub fn heading(record: &Record) -> Vec<PageFact> {
    let (plan, resolved) = (&record.plan, &record.resolved);
    let rule = printer(plan).budget(plan, resolved);
    heading::facts(plan, resolved, SHOWN).into_iter().chain(rule).collect()
}

/// What the run came to beyond the figures of its phases.
pub fn outcome(record: &Record) -> Vec<PageFact> {
    printer(&record.plan).facts(record, SHOWN)
}

/// How it ended, if not as planned; what it had stands below that here.
pub fn ending(record: &Record) -> Vec<String> {
    closing::ending(record, "below")
}

/// The verdict on the whole; `None` of a record that was not judged.
pub fn badge(record: &Record) -> Option<TrustBadge> {
    let trust = trusted(record)?;
    let same = whole(record);
    let words = same.map_or_else(
        || trust.name().to_string(),
        |verdict| SHOWN.judgement(verdict.trust, verdict.measures),
    );
    let summary = same.map_or_else(String::new, summary);
    Some(TrustBadge { words: signed(trust, &words), class: class(trust), summary })
}

/// The verdict on the whole, where the page goes by it. Some verbs leave on purpose what it blames.
pub fn whole(record: &Record) -> Option<&Verdict> {
    record.verdict.as_ref().filter(|verdict| trusted(record) == Some(verdict.trust))
}

/// The readings that show it.
pub fn because(verdict: &Verdict) -> Vec<PageFact> {
    finding::because(verdict, SHOWN.voice())
}

/// The sentence of a verdict, with the figure that does describe the device.
pub fn summary(verdict: &Verdict) -> String {
    let device = |found| format!(" The device: {}.", figure::estimate(found, SHOWN.voice()));
    let corrected = verdict.corrected.as_ref().map(device).unwrap_or_default();
    SHOWN.voice().sentences(&verdict.claims) + &corrected
}

/// What the figures of a phase are worth: words and colour.
pub fn trust(phase: &PhaseRecord) -> (String, &'static str) {
    judged(phase.verdict.as_ref().map(|found| (found.trust, found.measures)))
}

/// Whether its figures are not what they look like.
pub fn is_refuted(phase: &PhaseRecord) -> bool {
    phase.verdict.as_ref().is_some_and(|verdict| verdict.trust == Trust::Wrong)
}

/// Block, depth and figures of a phase in one line; of several actions one behind the other.
pub fn in_short(record: &Record, phase: &PhaseRecord) -> String {
    let table = row::one(&record.plan, &record.resolved.jobs, phase);
    let mut parts = Vec::new();
    for row in &table.rows {
        let TableRow::Cells(cells) = row else { continue };
        let shown: Vec<_> = table.shown(cells).collect();
        let words = |at: usize| shown.get(at).map(|(_, cell)| cell.shown(SHOWN));
        parts.extend(words(2).filter(|shape| !shape.is_empty()));
        let figures = shown.iter().filter(|(column, _)| column.align == TableAlign::Right);
        let figures = figures.map(|(column, cell)| (column.title, cell.shown(SHOWN)));
        let figure = |(title, text): (Option<&str>, String)| match title? {
            _ if text == "-" => None,
            name @ ("MB/s" | "IOPS") => Some(format!("{text} {name}")),
            name => Some(format!("{name} {text}")),
        };
        let figures: Vec<String> = figures.filter_map(figure).collect();
        parts.push(format!("{} {}", words(1).unwrap_or_default(), figures.join(", ")));
    }
    if parts.is_empty() { "nothing was done".into() } else { parts.join(" · ") }
}

/// When, where and with what it was measured.
pub fn imprint(record: &Record) -> String {
    closing::imprint(record, SHOWN)
}

/// The page of a terminal.
pub fn terminal(record: &Record) -> String {
    let mut page = Vec::new();
    match (text::FORMAT.write)(record, SHOWN, &mut page) {
        Ok(()) => String::from_utf8_lossy(&page).into_owned(),
        // Memory can always be written.
        Err(_) => String::new(),
    }
}
