//! What a terminal can show: colours, characters beyond ASCII, width; and the words' colours.

use anstyle::{Ansi256Color, AnsiColor, Effects};

use assay_record::record::{MeasuredSubject, Trust};
use assay_record::words::Voice;

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
    Plain,
    Faint,
    Strong,
    Good,
    Careful,
    Bad,
}

impl TerminalStyle {
    /// How its pages spell quantities.
    pub const fn voice(self) -> Voice {
        Voice { micro_sign: self.unicode, ascii: !self.unicode, ..Voice::PLAIN }
    }

    /// What stands between `ESC [` and `m` in all that is written in colours: no other code is ours.
    pub const CODES: &[&str] = &[
        "0", "1", "2", "31", "32", "33", "38;5;15", "38;5;16", "48;5;234", "48;5;22", "48;5;28",
        "48;5;34", "48;5;40",
    ];

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
        self.paint(ink(trust), &self.judged(trust, measures))
    }

    pub fn judged(self, trust: Trust, measures: MeasuredSubject) -> String {
        format!("{} {} {}", trust.name(), self.glyph("·", "-"), measures.name())
    }
}

/// A text whose parts have colours of their own: it is broken into lines first, and coloured then, as colour
/// codes take no columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InkedText(Vec<(Ink, String)>);

impl InkedText {
    /// A text of one colour.
    pub fn of(ink: Ink, text: impl Into<String>) -> Self {
        Self(vec![(ink, text.into())])
    }

    /// `sound · device`, in the colour of its trust.
    pub fn judgement(trust: Trust, measures: MeasuredSubject, style: TerminalStyle) -> Self {
        Self::of(ink(trust), style.judged(trust, measures))
    }

    /// The same with another text behind it.
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The same with more behind it.
    pub fn then(mut self, ink: Ink, text: impl Into<String>) -> Self {
        self.0.push((ink, text.into()));
        self
    }

    pub fn plain(&self) -> String {
        self.0.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// In lines of at most `width` columns, as [`wrap`] breaks them.
    pub fn lines(&self, width: usize, style: TerminalStyle) -> Vec<String> {
        let printed = |text: &str| text.chars().filter(|c| !c.is_whitespace()).count();
        let inks = self.0.iter().flat_map(|(ink, text)| std::iter::repeat_n(*ink, printed(text)));
        let mut inks = inks.peekable();
        let mut lines = Vec::new();
        for line in wrap(&self.plain(), width) {
            let (mut painted, mut run, mut colour) = (String::new(), String::new(), Ink::Plain);
            for character in line.chars() {
                // A blank between two of a colour has it, too.
                let next = inks.peek().copied().unwrap_or(Ink::Plain);
                let own =
                    if character.is_whitespace() && next != colour { Ink::Plain } else { next };
                if own != colour {
                    painted.push_str(&style.paint(colour, &std::mem::take(&mut run)));
                    colour = own;
                }
                run.push(character);
                if !character.is_whitespace() {
                    inks.next();
                }
            }
            painted.push_str(&style.paint(colour, &run));
            lines.push(painted);
        }
        lines
    }
}

impl From<&str> for InkedText {
    fn from(text: &str) -> Self {
        Self::of(Ink::Plain, text)
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
    fn parts_of_a_text_keep_their_colours_over_lines() {
        let plain = TerminalStyle::default();
        let coloured = TerminalStyle { colour: true, ..plain };
        let text = InkedText::of(Ink::Bad, "wrong - memory").then(Ink::Plain, ": wrong again");
        assert_eq!(text.plain(), "wrong - memory: wrong again");
        assert_eq!(text.lines(12, plain), ["wrong -", "memory:", "wrong again"]);
        let bad = |text| coloured.paint(Ink::Bad, text);
        let lines = [bad("wrong -"), format!("{}:", bad("memory")), "wrong again".into()];
        assert_eq!(text.lines(12, coloured), lines);
        let all = format!("{}: wrong again", bad("wrong - memory"));
        assert_eq!(text.lines(80, coloured), [all]);
    }

    #[test]
    fn colour_is_only_written_when_asked_for() {
        let plain = TerminalStyle::default();
        assert_eq!(plain.paint(Ink::Bad, "wrong"), "wrong");
        let coloured = TerminalStyle { colour: true, ..plain };
        assert!(coloured.paint(Ink::Bad, "wrong").contains('\u{1b}'));
    }
}
