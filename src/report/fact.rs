//! What pages say beside their tables: a word for what it is about, and a sentence. A terminal gets
//! lines of it, a web page a list.

use super::TerminalStyle;
use super::paint::{Ink, InkedText};

/// Columns of the labels at the left.
const LABEL: usize = 9;

/// One thing that a page says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageFact {
    /// What it is about; empty where that is what the one before is about.
    pub label: &'static str,
    /// The words, on one line.
    pub text: String,
    /// It only shows where the one before comes from.
    pub aside: bool,
}

/// A fact of its own.
pub fn fact(label: &'static str, text: impl Into<String>) -> PageFact {
    PageFact { label, text: text.into(), aside: false }
}

/// Where the fact before comes from.
pub fn aside(text: impl Into<String>) -> PageFact {
    PageFact { label: "", text: text.into(), aside: true }
}

/// Several of one label, which stands at the first.
pub fn listed(label: &'static str, texts: impl IntoIterator<Item = String>) -> Vec<PageFact> {
    let label = |at: usize| if at == 0 { label } else { "" };
    texts.into_iter().enumerate().map(|(at, text)| fact(label(at), text)).collect()
}

/// The lines of a terminal's page.
pub fn lines(facts: &[PageFact], style: TerminalStyle) -> Vec<String> {
    let mut lines = Vec::new();
    for PageFact { label, text, aside } in facts {
        let told = labelled(label, text, style);
        match aside {
            true => lines.extend(told.iter().map(|line| style.paint(Ink::Faint, line))),
            false => lines.extend(told),
        }
    }
    lines
}

/// A label and its text, wrapped beside it.
pub fn labelled(label: &str, text: &str, style: TerminalStyle) -> Vec<String> {
    inked(label, &text.into(), style)
}

/// The same of a text in colours.
pub fn inked(label: &str, text: &InkedText, style: TerminalStyle) -> Vec<String> {
    let room = style.width.saturating_sub(2 + LABEL).max(20);
    text.lines(room, style)
        .into_iter()
        .enumerate()
        .map(|(index, line)| {
            let label = if index == 0 { label } else { "" };
            format!("  {}{line}", style.paint(Ink::Faint, &format!("{label:LABEL$}")))
        })
        .collect()
}
