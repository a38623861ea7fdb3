//! Which actions, in which order, how large, with which data.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Refusal;
use crate::unit::Bytes;

/// The shape of a stream of I/Os.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    /// What is done, and how often each.
    pub mix: Mix,
    /// Where the next I/O goes.
    #[serde(default)]
    pub order: Order,
    /// How large it is.
    pub block: BlockSize,
    /// The part of the target that is used, and how workers share it.
    #[serde(default)]
    pub region: Region,
    /// What is written.
    #[serde(default)]
    pub fill: Fill,
    /// Whether what is read is compared with what must be there.
    #[serde(default)]
    pub verify: Verify,
}

/// One kind of I/O.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Read a block.
    Read,
    /// Write a block.
    Write,
    /// Read a block, change it, write it back to the same place (Bonnie's rewrite).
    Rewrite,
    /// Tell the device that a block is no longer needed.
    Trim,
    /// Make what was written durable.
    Flush,
    /// Make a file, link or folder.
    Create,
    /// Open a file and close it.
    Open,
    /// Look at a file's attributes.
    Stat,
    /// Read the names in a folder.
    List,
    /// Give a file another name.
    Rename,
    /// Preallocate a file's blocks.
    Allocate,
    /// Cut a file to nothing.
    Truncate,
    /// Remove a file, link or folder.
    Remove,
}

impl Action {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 13] = [
        Self::Read,
        Self::Write,
        Self::Rewrite,
        Self::Trim,
        Self::Flush,
        Self::Create,
        Self::Open,
        Self::Stat,
        Self::List,
        Self::Rename,
        Self::Allocate,
        Self::Truncate,
        Self::Remove,
    ];

    /// Whether it is done to files as a whole, not to blocks of one.
    pub const fn is_of_trees(self) -> bool {
        matches!(
            self,
            Self::Create
                | Self::Open
                | Self::Stat
                | Self::List
                | Self::Rename
                | Self::Allocate
                | Self::Truncate
                | Self::Remove
        )
    }

    /// Whether it changes what it is done to.
    pub const fn changes(self) -> bool {
        !matches!(self, Self::Read | Self::Flush | Self::Open | Self::Stat | Self::List)
    }

    /// The word for it in JSON and text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Rewrite => "rewrite",
            Self::Trim => "trim",
            Self::Flush => "flush",
            Self::Create => "create",
            Self::Open => "open",
            Self::Stat => "stat",
            Self::List => "list",
            Self::Rename => "rename",
            Self::Allocate => "allocate",
            Self::Truncate => "truncate",
            Self::Remove => "remove",
        }
    }
}

/// How often each action is done, by weight. One action alone needs any weight above 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Mix(pub Vec<Share>);

/// One action's weight in a mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// The action.
    pub action: Action,
    /// Its weight: percent, or any whole number.
    pub weight: u32,
}

impl Mix {
    /// One action only.
    pub fn only(action: Action) -> Self {
        Self(vec![Share { action, weight: 100 }])
    }

    /// Whether the action is done at all.
    pub fn has(&self, action: Action) -> bool {
        self.0.iter().any(|share| share.action == action && share.weight > 0)
    }

    /// Whether anything in it changes the target.
    pub fn writes(&self) -> bool {
        self.0.iter().any(|share| share.weight > 0 && share.action.changes())
    }
}

/// Where the next I/O goes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// From the beginning to the end, and again.
    #[default]
    Forward,
    /// From the end to the beginning (IOzone's backward read).
    Backward,
    /// Every `stride` bytes; after the end again from the start of the next block not yet visited
    /// (IOzone's stride read).
    Strided {
        /// Distance between the starts of two I/Os, bytes.
        stride: Bytes,
    },
    /// Any block with equal chance, others' visits forgotten: some are hit twice, some never.
    Uniform,
    /// Any order, but each block exactly once per pass.
    Shuffled,
    /// Some blocks far oftener than others, by Zipf's law.
    Zipf {
        /// Exponent, above 0 and not 1: larger is more uneven. fio's default is 1.1.
        theta: f64,
        /// Where the hottest block lies, as a share of the region, 0 to 1; by seed when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        center: Option<f64>,
    },
    /// By Pareto's law.
    Pareto {
        /// Between 0 and 1; fio's default is 0.2.
        h: f64,
    },
    /// Around the middle, by the normal law.
    Normal {
        /// Standard deviation in percent of the region.
        deviation: f64,
    },
    /// Shares of the accesses over shares of the space (fio's zoned).
    Zoned {
        /// Zones in the order of the space.
        zones: Vec<Zone>,
    },
    /// `sequential` blocks in a row after each jump.
    Runs {
        /// Blocks in a row.
        sequential: u32,
        /// Share of jumps that go to a random place, percent; the others go on in order.
        random_percent: u8,
    },
    /// The same block again and again (IOzone's record rewrite).
    Same,
}

/// A part of the space with its share of the accesses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// Percent of all accesses.
    pub access_percent: f64,
    /// Percent of the space.
    pub space_percent: f64,
}

/// How large an I/O is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WeightedSize {
    /// The size.
    pub size: Bytes,
    /// Its weight: percent, or any whole number.
    pub weight: u32,
}

/// The sizes of one action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActionSize {
    /// The action.
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

    fn check(&self) -> Result<(), Refusal> {
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

/// The part of the target that is used, and how workers share it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// Where it begins.
    #[serde(default)]
    pub offset: Bytes,
    /// Each further worker begins this much later (fio's `offset_increment`).
    #[serde(default)]
    pub step_per_worker: Bytes,
    /// The workers divide it into equal parts, instead of all using the whole.
    #[serde(default)]
    pub divided: bool,
}

/// What is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fill {
    /// No two sectors alike and none compressible; every sector says where it belongs, so that it
    /// can be verified.
    #[default]
    Random,
    /// Zeros.
    Zero,
    /// These bytes, again and again.
    Repeat(Vec<u8>),
    /// The content of a file, again and again.
    File(PathBuf),
    /// Data that compress and deduplicate by a stated measure.
    Compressible {
        /// Percent of each block that compresses away, 0 to 100.
        compress_percent: u8,
        /// Percent of blocks that are copies of another, 0 to 100.
        dedupe_percent: u8,
    },
}

/// How closely what is read is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verify {
    /// Not at all.
    #[default]
    None,
    /// The tag of each block: does it belong here, is it ours.
    Tags,
    /// Every byte.
    Full,
}

impl Pattern {
    /// The largest block.
    pub fn largest(&self) -> Bytes {
        self.block.largest()
    }

    pub(super) fn check(&self) -> Result<(), Refusal> {
        if self.mix.0.iter().all(|share| share.weight == 0) {
            return Err(Refusal::new("a mix of nothing", "give one action a weight"));
        }
        if let Some(share) = self.mix.0.iter().find(|share| share.action.is_of_trees()) {
            return Err(Refusal::new(
                format!("'{}' is done to trees of files, not to blocks", share.action.name()),
                "use the work 'tree'",
            ));
        }
        self.block.check()?;
        if self.region.divided && self.region.step_per_worker > Bytes::ZERO {
            return Err(Refusal::new(
                "a region that is divided and has a step per worker",
                "leave one of them out",
            ));
        }
        match &self.order {
            Order::Strided { stride: Bytes(0) } => {
                Err(Refusal::new("a stride of 0", "give the distance between two I/Os in bytes"))
            }
            Order::Zipf { theta, .. } if !(*theta > 0.0 && *theta != 1.0) => {
                Err(Refusal::new(format!("zipf's theta {theta}"), "give a value above 0 and not 1"))
            }
            Order::Pareto { h } if !(*h > 0.0 && *h < 1.0) => {
                Err(Refusal::new(format!("pareto's h {h}"), "give a value between 0 and 1"))
            }
            _ => Ok(()),
        }
    }
}
