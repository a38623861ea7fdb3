//! An explanation as a page: the line, what it does, what its figure is about and what not, the
//! traps with their readings, and the lines to type instead.

mod fold;

use std::io::{self, Write};

use super::fact::{inked, labelled};
use super::paint::{Ink, InkedText, wrap};
use super::{TerminalStyle, balance, fact, traps};
use assay_record::record::{
    BetterCommand, Explanation, Finding, JsonLayout, PhaseExplanation, VerdictBasis, WordMeaning,
    write_json,
};

pub fn json(explanation: &Explanation, out: &mut dyn Write) -> io::Result<()> {
    write_json(explanation, JsonLayout::Indented, out)?;
    out.write_all(b"\n")
}

/// The explanation as a page.
pub fn text(
    explanation: &Explanation,
    style: TerminalStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let typed = explanation.line.lines().map(|line| style.paint(Ink::Strong, line));
    let mut lines: Vec<String> = typed.collect();
    for loss in &explanation.losses {
        let told = wrap(&loss.told(), style.width.saturating_sub(2).max(20));
        lines.extend(told.iter().map(|part| style.paint(Ink::Bad, &format!("  {part}"))));
    }
    lines.extend(meanings(&explanation.around, style));
    lines.extend(meanings(&explanation.words, style));
    let several = explanation.phases.len() > 1;
    // What several phases walk into is told once.
    let mut said = Vec::new();
    for folded in fold::folded(&explanation.phases) {
        lines.push(String::new());
        if several {
            lines.extend(named(&folded.name, style));
        }
        lines.extend(labelled("does", &folded.does, style));
        lines.extend(told(folded.first, explanation.basis, &mut said, style));
    }
    lines.extend(better(&explanation.better, style));
    for line in lines {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// What each word means: beside it, or below one that is long.
fn meanings(words: &[WordMeaning], style: TerminalStyle) -> Vec<String> {
    let longest = words.iter().map(|word| word.word.chars().count()).max().unwrap_or(0);
    let column = longest.min(style.width / 3);
    let room = style.width.saturating_sub(column + 4).max(20);
    let mut lines = Vec::new();
    for WordMeaning { word, means } in words {
        let long = word.chars().count() > column;
        if long {
            lines.push(format!("  {word}"));
        }
        for (number, part) in wrap(means, room).iter().enumerate() {
            let beside = if number == 0 && !long { word.as_str() } else { "" };
            lines.push(format!("  {beside:column$}  {part}"));
        }
    }
    if !lines.is_empty() {
        lines.insert(0, String::new());
    }
    lines
}

/// The name of a phase, or of several, above what is said of them.
fn named(name: &str, style: TerminalStyle) -> Vec<String> {
    let room = style.width.saturating_sub(2).max(20);
    wrap(name, room).iter().map(|line| style.paint(Ink::Strong, &format!("  {line}"))).collect()
}

/// What the figure of a phase is about, and the traps on its way.
fn told<'a>(
    phase: &'a PhaseExplanation,
    basis: VerdictBasis,
    said: &mut Vec<&'a Finding>,
    style: TerminalStyle,
) -> Vec<String> {
    let voice = style.voice();
    let mut lines = labelled("measures", &voice.say(&phase.measures.0), style);
    lines.extend(labelled("not", &voice.say(&phase.not.0), style));
    let verdict = &phase.verdict;
    let label = match basis {
        VerdictBasis::Foreseen => "expect",
        VerdictBasis::Judged => "verdict",
    };
    let judged = InkedText::judgement(verdict.trust, verdict.measures, style);
    lines.extend(inked(label, &judged, style));
    lines.extend(labelled("", &style.voice().sentences(&verdict.claims), style));
    let balances = phase.ledger.as_ref().map(|ledger| balance::facts(ledger, style.voice()));
    lines.extend(fact::lines(&balances.unwrap_or_default(), style));
    let new: Vec<&Finding> = verdict.findings.iter().filter(|f| !said.contains(f)).collect();
    if new.is_empty() {
        return lines;
    }
    let head = match basis {
        VerdictBasis::Foreseen => "  Traps in this command:",
        VerdictBasis::Judged => "  Findings:",
    };
    lines.extend([String::new(), style.paint(Ink::Strong, head)]);
    for finding in new {
        said.push(finding);
        lines.extend(traps::claim(finding, style));
        lines.extend(traps::because(finding, style));
        lines.extend(traps::helps(finding, style));
    }
    lines
}

/// The lines to type instead. They are never broken, for they are there to be copied.
fn better(better: &[BetterCommand], style: TerminalStyle) -> Vec<String> {
    if better.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![String::new(), style.paint(Ink::Strong, "  What to type:")];
    for BetterCommand { line, why } in better {
        lines.push(format!("  {}", style.paint(Ink::Strong, line)));
        let room = style.width.saturating_sub(6).max(20);
        lines.extend(wrap(why, room).iter().map(|why| format!("      {why}")));
    }
    lines
}
