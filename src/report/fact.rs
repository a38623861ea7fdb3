//! What pages say beside their tables: a word for what it is about, and a sentence. A terminal gets
//! lines of it, a web page a list.

use super::Style;
use super::heading::labelled;
use super::paint::Ink;

/// One thing that a page says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What it is about; empty where that is what the one before is about.
    pub label: &'static str,
    /// The words, on one line.
    pub text: String,
    /// It only shows where the one before comes from.
    pub aside: bool,
}

/// A fact of its own.
pub fn fact(label: &'static str, text: impl Into<String>) -> Fact {
    Fact { label, text: text.into(), aside: false }
}

/// Where the fact before comes from.
pub fn aside(text: impl Into<String>) -> Fact {
    Fact { label: "", text: text.into(), aside: true }
}

/// Several of one label, which stands at the first.
pub fn listed(label: &'static str, texts: impl IntoIterator<Item = String>) -> Vec<Fact> {
    let label = |at: usize| if at == 0 { label } else { "" };
    texts.into_iter().enumerate().map(|(at, text)| fact(label(at), text)).collect()
}

/// The lines of a terminal's page.
pub fn lines(facts: &[Fact], style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for Fact { label, text, aside } in facts {
        let told = labelled(label, text, style);
        match aside {
            true => lines.extend(told.iter().map(|line| style.paint(Ink::Faint, line))),
            false => lines.extend(told),
        }
    }
    lines
}
