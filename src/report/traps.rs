//! A trap on a page: its number and weight, the claim, the readings, and what helps.

use super::TerminalStyle;
use super::finding::reading;
use super::paint::{Ink, columns, wrap};
use assay_record::record::{Finding, FindingWeight};

pub fn claim(finding: &Finding, style: TerminalStyle) -> Vec<String> {
    let (head, ink) = head(finding);
    beside(&head, ink, &style.voice().say(&finding.claim), style)
}

/// The readings that show it, beneath the claim.
pub fn because(finding: &Finding, style: TerminalStyle) -> Vec<String> {
    let indent = columns(&head(finding).0) + 3;
    let room = style.width.saturating_sub(indent).max(20);
    let texts = finding
        .because
        .iter()
        .map(|exhibit| format!("{} ({})", reading(exhibit, style.voice()), exhibit.source()));
    texts
        .flat_map(|text| wrap(&text, room))
        .map(|line| format!("{}{}", " ".repeat(indent), style.paint(Ink::Faint, &line)))
        .collect()
}

/// What helps, beneath the claim; a command is never broken over lines, for it is there to be
/// copied.
pub fn helps(finding: &Finding, style: TerminalStyle) -> Vec<String> {
    let Some(next) = &finding.next else { return Vec::new() };
    let indent = columns(&head(finding).0);
    let arrow = style.glyph("→", "->");
    let blank = " ".repeat(indent + 3);
    vec![format!("{blank}{arrow} {}", style.paint(Ink::Strong, &next.command))]
}

/// `T02 doubtful`, and its colour.
fn head(finding: &Finding) -> (String, Ink) {
    let (word, ink) = match finding.weight {
        FindingWeight::Note => ("note", Ink::Faint),
        FindingWeight::Doubt => ("doubtful", Ink::Careful),
        FindingWeight::Unproven => ("unproven", Ink::Careful),
        FindingWeight::Refute => ("wrong", Ink::Bad),
    };
    (format!("{} {word:9}", finding.trap), ink)
}

/// A text beside a coloured head.
fn beside(head: &str, ink: Ink, text: &str, style: TerminalStyle) -> Vec<String> {
    let room = style.width.saturating_sub(3 + columns(head)).max(20);
    let blank = " ".repeat(columns(head));
    let lines = wrap(text, room).into_iter().enumerate();
    lines
        .map(|(index, line)| match index {
            0 => format!("  {} {line}", style.paint(ink, head)),
            _ => format!("  {blank} {line}"),
        })
        .collect()
}
