//! Many files: how a tree of them is made, visited and removed (Bonnie++, mdtest).

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pattern::Action;
use super::{Durability, Fill};
use crate::error::Refusal;
use crate::unit::Bytes;

/// Work on many files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tree {
    /// The folder under which everything happens.
    pub dir: PathBuf,
    /// What is done to each file: `create`, `stat`, `read`, `remove`.
    pub action: Action,
    /// Files for each worker.
    pub files: u64,
    /// Subfolders over which they are spread; 0: none.
    #[serde(default)]
    pub folders: u32,
    /// How large they are.
    #[serde(default)]
    pub size: TreeSize,
    /// In which order they are visited.
    #[serde(default)]
    pub order: TreeOrder,
    /// What is in them.
    #[serde(default)]
    pub fill: Fill,
    /// What a finished create has promised.
    #[serde(default)]
    pub durability: Durability,
}

/// What the files of a tree are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TreeSize {
    /// Regular files with a size in between.
    Files {
        /// Smallest.
        least: Bytes,
        /// Largest.
        most: Bytes,
    },
    /// Symbolic links.
    SymbolicLinks,
    /// Hard links to one file.
    HardLinks,
    /// Folders.
    Folders,
}

impl Default for TreeSize {
    fn default() -> Self {
        Self::Files { least: Bytes::ZERO, most: Bytes::ZERO }
    }
}

/// In which order the files of a tree are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TreeOrder {
    /// In the order of their names.
    #[default]
    ByName,
    /// As the file system lists them.
    AsListed,
    /// Shuffled by the seed.
    Shuffled,
}

impl Tree {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        if self.files == 0 {
            return Err(Refusal::new("a tree of 0 files", "give 1 or more"));
        }
        if let TreeSize::Files { least, most } = self.size
            && least > most
        {
            return Err(Refusal::new(
                "the smallest file is larger than the largest",
                "swap the two sizes",
            ));
        }
        Ok(())
    }
}
