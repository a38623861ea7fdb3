//! What a terminal can show: colours, characters beyond ASCII, width; and the words' colours.

use anstyle::{Ansi256Color, AnsiColor, Effects};

use crate::record::{MeasuredSubject, Trust};

/// What the reader's terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalStyle {
    /// Colour codes may be written.
    pub colour: bool,
    /// Characters beyond ASCII may be written.
    pub unicode: bool,
    /// Columns.
    pub width: usize,
}

impl Default for TerminalStyle {
    /// What can be shown anywhere.
    fn default() -> Self {
        Self { colour: false, unicode: false, width: 90 }
    }
}

/// What a word is, so that it can be told apart at a glance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// As any other word.
    Plain,
    /// Goes unnoticed.
    Faint,
    /// Stands out.
    Strong,
    /// All is well.
    Good,
    /// Careful.
    Careful,
    /// Not so.
    Bad,
}

impl TerminalStyle {
    /// The text in that colour, or as it is.
    pub fn paint(self, ink: Ink, text: &str) -> String {
        if !self.colour || text.is_empty() || ink == Ink::Plain {
            return text.to_string();
        }
        let style = match ink {
            Ink::Plain => anstyle::Style::new(),
            Ink::Faint => anstyle::Style::new().effects(Effects::DIMMED),
            Ink::Strong => anstyle::Style::new().effects(Effects::BOLD),
            Ink::Good => AnsiColor::Green.on_default().effects(Effects::BOLD),
            Ink::Careful => AnsiColor::Yellow.on_default().effects(Effects::BOLD),
            Ink::Bad => AnsiColor::Red.on_default().effects(Effects::BOLD),
        };
        format!("{}{text}{}", style.render(), style.render_reset())
    }

    /// The text on a ground that is the brighter the higher the level, from 0 to 4; or as it is.
    pub fn heat(self, level: usize, text: &str) -> String {
        /// Ground and letters: greens of the 256 colours, on the bright ones black.
        const LEVELS: [(u8, u8); 5] = [(234, 15), (22, 15), (28, 15), (34, 16), (40, 16)];
        if !self.colour {
            return text.to_string();
        }
        let (ground, letters) = LEVELS[level.min(LEVELS.len() - 1)];
        let style = Ansi256Color(letters).on(Ansi256Color(ground));
        format!("{}{text}{}", style.render(), style.render_reset())
    }

    /// `unicode` where it can be shown, else `ascii`.
    pub fn glyph(self, unicode: &'static str, ascii: &'static str) -> &'static str {
        if self.unicode { unicode } else { ascii }
    }

    /// `sound · device`, in the colour of its trust.
    pub fn judgement(self, trust: Trust, measures: MeasuredSubject) -> String {
        let words = format!("{} {} {}", trust.name(), self.glyph("·", "-"), measures.name());
        self.paint(ink(trust), &words)
    }
}

/// The colour of a trust.
pub fn ink(trust: Trust) -> Ink {
    match trust {
        Trust::Sound => Ink::Good,
        Trust::Doubtful | Trust::Unproven => Ink::Careful,
        Trust::Wrong => Ink::Bad,
    }
}

/// Columns that a text takes. Every character that is printed here takes one.
pub fn columns(text: &str) -> usize {
    text.chars().count()
}

/// The text in lines of at most `width` columns, broken between words but never between a number
/// and its unit; a longer word stays whole.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    const UNITS: [&str; 25] = [
        "%", "B", "KiB", "MiB", "GiB", "TiB", "kB", "MB", "GB", "TB", "B/s", "kB/s", "MB/s",
        "GB/s", "MiB/s", "IOPS", "ns", "us", "µs", "ms", "s", "min", "h", "CPUs", "MB/s)",
    ];
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let unit = UNITS.contains(&word.trim_end_matches(['.', ',', ';', ':']));
        match words.last_mut() {
            Some(last) if unit && last.ends_with(|c: char| c.is_ascii_digit()) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_string()),
        }
    }
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in words {
        if !line.is_empty() && columns(&line) + 1 + columns(&word) > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_never_broken() {
        assert_eq!(wrap("a bc def", 4), ["a bc", "def"]);
        assert_eq!(wrap("/a/very/long/path x", 4), ["/a/very/long/path", "x"]);
        assert_eq!(wrap("it is 4.17 MB/s, at", 11), ["it is", "4.17 MB/s,", "at"]);
        assert!(wrap("", 4).is_empty());
    }

    #[test]
    fn colour_is_only_written_when_asked_for() {
        let plain = TerminalStyle::default();
        assert_eq!(plain.paint(Ink::Bad, "wrong"), "wrong");
        let coloured = TerminalStyle { colour: true, ..plain };
        assert!(coloured.paint(Ink::Bad, "wrong").contains('\u{1b}'));
    }
}
