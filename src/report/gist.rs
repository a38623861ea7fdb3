//! What pages with pictures say of a record in words: the same as the text page, from the same places.

use super::fact::Fact;
use super::picture::SHOWN;
use super::{aim, figure, heading, row, sweep, text, trust as trusted};
use crate::record::{PhaseRecord, Record, Trust, Verdict};
use crate::verdict::sweep::Sweep;

/// What a figure is worth, to be shown so that nobody overlooks it.
pub struct Badge {
    /// `✗ wrong · memory`.
    pub words: String,
    /// `sound`, `doubtful` or `wrong`: the colour.
    pub class: &'static str,
    /// What was measured and how that is known; empty where the page says it otherwise.
    pub summary: String,
}

/// What was typed.
pub fn title(record: &Record) -> String {
    heading::title(&record.plan.origin.dialect, &record.plan.origin.words)
}

/// The path with all that lies below it, how it was measured, what it may cost, and notes.
pub fn heading(record: &Record) -> Vec<Fact> {
    let (plan, resolved) = (&record.plan, &record.resolved);
    let rule = sweep::rule(plan).or_else(|| aim::budget(plan, resolved));
    heading::facts(plan, resolved, SHOWN).into_iter().chain(rule).map(spelled).collect()
}

/// What the run came to beyond the figures of its phases.
pub fn outcome(record: &Record) -> Vec<Fact> {
    let sweep = Sweep::of(record);
    let sweep = sweep.iter().flat_map(|sweep| {
        [sweep::left_out(sweep), sweep::findings(sweep), sweep::groups(sweep, SHOWN)].concat()
    });
    sweep.chain(aim::facts(record, SHOWN)).map(spelled).collect()
}

/// Microseconds as the pictures spell them.
fn spelled(fact: Fact) -> Fact {
    Fact { text: figure::micros(&fact.text, SHOWN), ..fact }
}

/// How it ended, if not as planned; what it had stands below that here.
pub fn ending(record: &Record) -> Vec<String> {
    text::ending(record).into_iter().map(|line| line.replace("is above", "is below")).collect()
}

/// The verdict on the whole; `None` of a record that was not judged.
pub fn badge(record: &Record) -> Option<Badge> {
    let trust = trusted(record)?;
    let same = whole(record);
    let words = same.map_or_else(
        || trust.name().to_string(),
        |verdict| SHOWN.judgement(verdict.trust, verdict.measures),
    );
    let summary = same.map_or_else(String::new, summary);
    Some(Badge { words: signed(trust, &words), class: class(trust), summary })
}

/// The verdict on the whole, where the page goes by it. Some verbs leave on purpose what it blames.
pub fn whole(record: &Record) -> Option<&Verdict> {
    record.verdict.as_ref().filter(|verdict| trusted(record) == Some(verdict.trust))
}

/// The readings that show it.
pub fn because(verdict: &Verdict) -> Vec<Fact> {
    text::because(verdict).into_iter().map(spelled).collect()
}

/// The sentence of a verdict, with the figure that does describe the device.
pub fn summary(verdict: &Verdict) -> String {
    let device = |found| format!(" The device: {}.", figure::estimate(found));
    let corrected = verdict.corrected.as_ref().map(device).unwrap_or_default();
    figure::micros(&format!("{}{corrected}", verdict.summary), SHOWN)
}

/// What the figures of a phase are worth: words and colour.
pub fn trust(phase: &PhaseRecord) -> (String, &'static str) {
    match &phase.verdict {
        Some(found) => {
            let words = SHOWN.judgement(found.trust, found.measures);
            (signed(found.trust, &words), class(found.trust))
        }
        None => ("not judged".into(), "doubtful"),
    }
}

/// Whether its figures are not what they look like.
pub fn is_refuted(phase: &PhaseRecord) -> bool {
    phase.verdict.as_ref().is_some_and(|verdict| verdict.trust == Trust::Wrong)
}

/// Told apart without colours, too.
fn signed(trust: Trust, words: &str) -> String {
    let sign = match trust {
        Trust::Sound => "✓",
        Trust::Doubtful | Trust::Unproven => "?",
        Trust::Wrong => "✗",
    };
    format!("{sign} {words}")
}

fn class(trust: Trust) -> &'static str {
    match trust {
        Trust::Sound => "sound",
        Trust::Doubtful | Trust::Unproven => "doubtful",
        Trust::Wrong => "wrong",
    }
}

/// Block, depth and figures of a phase in one line; of several actions one behind the other.
pub fn in_short(record: &Record, phase: &PhaseRecord) -> String {
    let planned = record.plan.phases.iter().find(|planned| planned.name == phase.name);
    let mut parts: Vec<String> = planned
        .and_then(|planned| row::shape(planned, &record.resolved.jobs))
        .into_iter()
        .collect();
    for (index, (action, total)) in row::done(phase).into_iter().enumerate() {
        let texts = row::figures(phase, total, index == 0, SHOWN);
        let named = texts.iter().zip(row::FIGURES).filter(|(text, _)| text.as_str() != "-");
        let figure = |(text, name): (&String, &str)| match name {
            "MB/s" | "IOPS" => format!("{text} {name}"),
            name => format!("{name} {text}"),
        };
        let figures: Vec<String> = named.map(figure).collect();
        parts.push(format!("{} {}", action.name(), figures.join(", ")));
    }
    if parts.is_empty() { "nothing was done".into() } else { parts.join(" · ") }
}

/// When, where and with what it was measured.
pub fn imprint(record: &Record) -> String {
    text::imprint(record, SHOWN)
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
