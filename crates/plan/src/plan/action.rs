//! The kinds of I/O, and how often each is done.

use serde::{Deserialize, Serialize};

/// One kind of I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Write out pages, or wait for that, without making anything durable (`sync_file_range`).
    SyncFileRange,
    /// Drop what was read or written from the page cache.
    Drop,
    /// Close a file that was worked on.
    Close,
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
    pub const ALL: [Self; 16] = [
        Self::Read,
        Self::Write,
        Self::Rewrite,
        Self::Trim,
        Self::Flush,
        Self::SyncFileRange,
        Self::Drop,
        Self::Close,
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
        !self.serves() && !matches!(self, Self::Read | Self::Open | Self::Stat | Self::List)
    }

    /// Whether it is done for the sake of other actions: it moves no data of its own, is timed
    /// apart, and is no part of a mix.
    pub const fn serves(self) -> bool {
        matches!(self, Self::Flush | Self::SyncFileRange | Self::Drop | Self::Close)
    }

    /// The word for it in JSON and text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Rewrite => "rewrite",
            Self::Trim => "trim",
            Self::Flush => "flush",
            Self::SyncFileRange => "sync_file_range",
            Self::Drop => "drop",
            Self::Close => "close",
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Mix(pub Vec<ActionShare>);

/// One action's weight in a mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ActionShare {
    pub action: Action,
    /// Its weight: percent, or any whole number.
    pub weight: u32,
}

impl Mix {
    pub fn only(action: Action) -> Self {
        Self(vec![ActionShare { action, weight: 100 }])
    }

    /// Whether the action is done at all.
    pub fn has(&self, action: Action) -> bool {
        self.0.iter().any(|share| share.action == action && share.weight > 0)
    }

    /// Whether it is the only action that is done.
    pub fn has_only(&self, action: Action) -> bool {
        self.0.iter().all(|share| share.action == action || share.weight == 0)
    }

    /// Whether anything in it changes the target.
    pub fn writes(&self) -> bool {
        self.0.iter().any(|share| share.weight > 0 && share.action.changes())
    }

    /// Whether data come from the target: a rewrite reads before it writes.
    pub fn fetches(&self) -> bool {
        self.has(Action::Read) || self.has(Action::Rewrite)
    }

    /// Whether data go to the target. A trim changes it without sending any.
    pub fn sends(&self) -> bool {
        self.has(Action::Write) || self.has(Action::Rewrite)
    }
}
