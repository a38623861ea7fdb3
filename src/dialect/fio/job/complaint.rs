//! Words that make no sense: what fio prints, and what is wrong and what to write instead.

use std::fmt;

use assay_plan::error::Refusal;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FioPlace {
    /// On the command line: its word, from 1.
    Word(usize),
    Line {
        /// The file as it was named; `-` is standard input.
        file: String,
        /// Its line, from 1.
        line: usize,
        /// The character of the line, from 1.
        column: usize,
    },
}

impl FioPlace {
    /// A place further to the right in the same line.
    pub(in crate::dialect::fio) fn right(&self, characters: usize) -> Self {
        match self {
            Self::Word(_) => self.clone(),
            Self::Line { file, line, column } => {
                Self::Line { file: file.clone(), line: *line, column: column + characters }
            }
        }
    }
}

impl fmt::Display for FioPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => write!(f, "word {word}"),
            Self::Line { file, line, column } => write!(f, "{file}:{line}:{column}"),
        }
    }
}

/// Instead of a run: what the tool would print, its exit status, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioComplaint {
    /// The tool's own lines on standard error, each with its end. May be empty.
    pub said: String,
    /// The tool's own lines on standard output: the words that an option knows. May be empty.
    pub told: String,
    /// The exit status of the original.
    pub status: u8,
    /// What is wrong, where, and what to write instead.
    pub refusal: Refusal,
}

/// The exit status of fio where words make no sense to it.
pub const USAGE: u8 = 1;

impl FioComplaint {
    /// A complaint about a place; none is the whole line.
    pub(in crate::dialect::fio) fn at(place: Option<&FioPlace>, fault: FioFault) -> Self {
        let mut refusal = Refusal::new(fault.why, fault.instead);
        refusal.place = place.map(ToString::to_string).unwrap_or_default();
        let said = fault.lines.iter().map(|line| format!("{line}\n")).collect();
        Self { said, told: fault.told, status: USAGE, refusal }
    }

    /// The same with the tool's lines before its own.
    pub(in crate::dialect::fio) fn after(mut self, lines: &[String]) -> Self {
        let before: String = lines.iter().map(|line| format!("{line}\n")).collect();
        self.said.insert_str(0, &before);
        self
    }
}

/// What is wrong with an option, before it is known where it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FioFault {
    /// The lines of the original on standard error.
    pub lines: Vec<String>,
    /// Its text on standard output.
    pub told: String,
    /// What is wrong, with the offending word in it.
    pub why: String,
    /// What to write instead. May be empty.
    pub instead: String,
}

impl FioFault {
    /// What the original has no line of its own for.
    pub(in crate::dialect::fio) fn new(why: impl Into<String>, instead: impl Into<String>) -> Self {
        Self { why: why.into(), instead: instead.into(), ..Self::default() }
    }

    /// What the original says by a line, which says what is wrong.
    pub(in crate::dialect::fio) fn line(
        line: impl Into<String>,
        instead: impl Into<String>,
    ) -> Self {
        let line = line.into();
        let why = line.strip_prefix("fio: ").unwrap_or(&line).to_string();
        Self { lines: vec![line], why, instead: instead.into(), ..Self::default() }
    }
}
