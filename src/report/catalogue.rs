//! The catalogue of traps on a terminal: as wide as that is, and commands in one piece.

use super::TerminalStyle;
use super::fact::labelled;
use super::paint::{Ink, wrap};
use assay_judge::catalogue::{self, CatalogueEntry};

pub fn page(style: TerminalStyle) -> String {
    let mut text: String = wrap(catalogue::ABOUT, style.width).join("\n");
    text.push('\n');
    for told in catalogue::all() {
        text.push('\n');
        text.push_str(&entry(&told, style));
    }
    text
}

pub fn entry(told: &CatalogueEntry, style: TerminalStyle) -> String {
    let mut lines: Vec<String> = wrap(&format!("{}: {}", told.id, told.title), style.width)
        .iter()
        .map(|line| style.paint(Ink::Strong, line))
        .collect();
    let room = style.width.saturating_sub(2);
    lines.extend(wrap(&whole_commands(told.happens), room).iter().map(|line| format!("  {line}")));
    for (what, words) in &told.said {
        let label = match *what {
            "Evidence" => "seen by".to_string(),
            "Prevented" => "avoided".to_string(),
            "assay" => "assay".to_string(),
            other => other.to_lowercase(),
        };
        lines.extend(labelled(&label, &style.voice().text(&whole_commands(words)), style));
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end().replace(TIE, " "))).collect()
}

/// A blank at which no line is broken.
const TIE: char = '\u{1}';

/// The text with its commands in quotes, each one word: a line that is to be copied is not broken.
fn whole_commands(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(at, part)| match (at % 2, part.contains('\'')) {
        (0, _) => part.to_string(),
        (_, false) => format!("'{}'", part.replace(' ', &TIE.to_string())),
        (_, true) => format!("\"{}\"", part.replace(' ', &TIE.to_string())),
    });
    parts.collect()
}
