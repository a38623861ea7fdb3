//! What an option takes: a number, a word of a list, a text.

use crate::dialect::fio::job::FioWord;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioUnit {
    /// Bytes, or anything without a unit: suffixes are `k`, `m`, `g`, `t`, `p`.
    Bytes,
    /// A time whose number alone is seconds.
    Seconds,
    /// A time whose number alone is microseconds.
    Microseconds,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FioKind {
    /// A word of a list, and something behind a colon for some.
    Word(&'static [FioWord]),
    /// Several words of a list, separated by commas.
    Words(&'static [FioWord]),
    /// A text, which is not empty.
    Text,
    /// Something with a grammar of its own; in a job file it may be missing.
    Free,
    /// A number, or one for each direction.
    Number { unit: FioUnit, least: i64, most: i64 },
    /// Bytes, a percentage, or zones.
    Amount,
    /// `0` or `1`.
    Bool,
    /// Alone, or `0` or `1`.
    Flag,
    /// Numbers with fractions, separated by colons.
    Floats { least: f64, most: f64, length: usize },
    /// Ranges, one for each direction.
    Ranges,
    /// Nothing: fio takes it no more.
    Gone,
    /// Anything: fio takes it, and it has no effect.
    Deprecated,
}

impl FioKind {
    /// A count of 32 bits.
    pub(super) const INT: Self = Self::number(FioUnit::Bytes, 0, u32::MAX as i64);
    /// A count of bytes.
    pub(in crate::dialect::fio) const SIZE: Self = Self::number(FioUnit::Bytes, 0, i64::MAX);
    /// A time, in seconds if nothing else is said.
    pub(super) const TIME: Self = Self::number(FioUnit::Seconds, 0, i64::MAX);
    /// A time, in microseconds if nothing else is said.
    pub(in crate::dialect::fio) const MICROSECONDS: Self =
        Self::number(FioUnit::Microseconds, 0, i64::MAX);
    /// The same of 32 bits.
    pub(super) const SHORT_MICROSECONDS: Self =
        Self::number(FioUnit::Microseconds, 0, u32::MAX as i64);
    pub(in crate::dialect::fio) const PERCENT: Self = Self::number(FioUnit::Bytes, 0, 100);

    const fn number(unit: FioUnit, least: i64, most: i64) -> Self {
        Self::Number { unit, least, most }
    }

    pub(in crate::dialect::fio) const fn between(least: i64, most: i64) -> Self {
        Self::number(FioUnit::Bytes, least, most)
    }

    /// A count of 32 bits that is not below one.
    pub(in crate::dialect::fio) const fn from(least: i64) -> Self {
        Self::number(FioUnit::Bytes, least, u32::MAX as i64)
    }

    /// The words that it knows.
    pub const fn words(&self) -> &'static [FioWord] {
        match self {
            Self::Word(words) | Self::Words(words) => words,
            _ => &[],
        }
    }

    /// How it is called in help.
    pub const fn shown(&self) -> &'static str {
        match self {
            Self::Word(_) | Self::Words(_) | Self::Text | Self::Free => "string (opt=bla)",
            Self::Number { unit: FioUnit::Bytes, .. } | Self::Amount => "integer value (opt=100)",
            Self::Number { .. } => "string with time postfix (opt=10s)",
            Self::Bool => "boolean value (opt=1)",
            Self::Flag => "empty or boolean value ([0|1])",
            Self::Floats { .. } => "list of floating point values separated by ':' (opt=5.9:7.8)",
            Self::Ranges => "one to three ranges (opt=1k-4k[,4k-8k[,1k-8k]])",
            Self::Gone | Self::Deprecated => "deprecated",
        }
    }

    /// Whether a word of the command line has to follow it.
    pub(in crate::dialect::fio) const fn needs_value(&self) -> bool {
        !matches!(self, Self::Flag)
    }

    /// The list of its words as fio prints it to standard output.
    pub(in crate::dialect::fio) fn valid_values(&self) -> String {
        let mut text = String::new();
        for (index, word) in self.words().iter().enumerate() {
            let head = if index == 0 { "valid values" } else { "" };
            text.push_str(&format!("{head:>20}: {:<10} {}\n", word.name, word.help));
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }
}
