//! How large an I/O is.

use serde::{Deserialize, Serialize};

use super::Action;
use crate::error::Refusal;
use crate::unit::Bytes;

/// How large an I/O is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BlockSize {
    /// Always this.
    Fixed(Bytes),
    /// Any multiple of `step` in between, with equal chance.
    Range {
        /// Smallest.
        least: Bytes,
        /// Largest.
        most: Bytes,
        /// All sizes are multiples of this.
        step: Bytes,
    },
    /// By weight (fio's bssplit).
    Split(Vec<WeightedSize>),
    /// Another size for each action (fio's `bs=4k,8k`).
    PerAction(Vec<ActionSize>),
}

/// A size and how often it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WeightedSize {
    pub size: Bytes,
    /// Its weight: percent, or any whole number.
    pub weight: u32,
}

/// The sizes of one action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ActionSize {
    pub action: Action,
    /// Its sizes; not `per_action` again.
    pub size: Box<BlockSize>,
}

impl BlockSize {
    /// The largest block that can come.
    pub fn largest(&self) -> Bytes {
        match self {
            Self::Fixed(size) => *size,
            Self::Range { most, .. } => *most,
            Self::Split(sizes) => sizes.iter().map(|s| s.size).max().unwrap_or_default(),
            Self::PerAction(list) => {
                list.iter().map(|a| a.size.largest()).max().unwrap_or_default()
            }
        }
    }

    /// The smallest block that can come: offsets are multiples of it.
    pub fn smallest(&self) -> Bytes {
        match self {
            Self::Fixed(size) => *size,
            Self::Range { least, .. } => *least,
            Self::Split(sizes) => sizes.iter().map(|s| s.size).min().unwrap_or_default(),
            Self::PerAction(list) => {
                list.iter().map(|a| a.size.smallest()).min().unwrap_or_default()
            }
        }
    }

    /// The sizes of one action; one without sizes of its own takes the first one's.
    pub fn of(&self, action: Action) -> &Self {
        match self {
            Self::PerAction(list) => {
                let own = list.iter().find(|entry| entry.action == action);
                own.or(list.first()).map_or(self, |entry| &entry.size)
            }
            other => other,
        }
    }

    /// The largest number that divides every size that can come.
    pub fn grain(&self) -> Bytes {
        let both = |mut a: Bytes, mut b: Bytes| {
            while b.0 > 0 {
                (a, b) = (b, Bytes(a.0 % b.0));
            }
            a
        };
        match self {
            Self::Fixed(size) => *size,
            Self::Range { least, most, step } if most.less(*least) >= *step => both(*least, *step),
            Self::Range { least, .. } => *least,
            Self::Split(sizes) => sizes.iter().map(|s| s.size).fold(Bytes::ZERO, both),
            Self::PerAction(list) => list.iter().map(|a| a.size.grain()).fold(Bytes::ZERO, both),
        }
    }

    pub(super) fn check(&self) -> Result<(), Refusal> {
        let bad = match self {
            Self::Fixed(size) => size.0 == 0,
            Self::Range { least, most, step } => least.0 == 0 || step.0 == 0 || least > most,
            Self::Split(sizes) => {
                sizes.iter().any(|s| s.size.0 == 0) || sizes.iter().all(|s| s.weight == 0)
            }
            Self::PerAction(list) => {
                for entry in list {
                    if matches!(*entry.size, Self::PerAction(_)) {
                        return Err(Refusal::new(
                            "a block size per action inside another",
                            "name each action once",
                        ));
                    }
                    entry.size.check()?;
                }
                list.is_empty()
            }
        };
        if bad {
            return Err(Refusal::new(
                "block size 0, or an empty range of sizes",
                "give a size such as 4k",
            ));
        }
        Ok(())
    }
}
