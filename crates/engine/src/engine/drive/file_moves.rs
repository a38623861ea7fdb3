//! What moved to and from each of several files that lie on different devices.

use serde::{Deserialize, Serialize};

/// What a worker moved to and from one of its files.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct FileMoves {
    /// What it read, to look at what was written too.
    pub reads: MovedIos,
    /// What it wrote.
    pub writes: MovedIos,
}

/// I/Os of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedIos {
    /// Calls that moved something, or met the end of the data.
    pub ops: u64,
    pub bytes: u64,
    /// Calls that moved less than they were to.
    pub short: u64,
}

impl MovedIos {
    /// Both together.
    pub fn add(&mut self, other: Self) {
        self.ops += other.ops;
        self.bytes += other.bytes;
        self.short += other.short;
    }
}
