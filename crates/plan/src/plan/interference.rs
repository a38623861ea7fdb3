//! What a worker does around each I/O, in its time: locks, and what disturbs the caches that it lives by.

use serde::{Deserialize, Serialize};

use super::usual::is_usual;
use crate::unit::Bytes;

/// What a worker does around each I/O. All of it is in the time of the I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Interference {
    /// Each worker locks its files before the clock starts, and lets go of them when it ends: shared to
    /// read, alone to write (IOzone's `-W`).
    #[serde(skip_serializing_if = "is_usual")]
    pub lock_files: bool,
    /// Each block is locked while it is moved: shared to read, alone to write (IOzone's `-+l`).
    #[serde(skip_serializing_if = "is_usual")]
    pub lock_blocks: bool,
    /// The whole file is locked while a block of it is moved (fio's `lockfile`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock_each: Option<FileSharing>,
    /// Other memory takes the place of the buffer in the cache of the CPU before each I/O (IOzone's `-p`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_cache: Option<PurgedCache>,
    /// Before every so many reads, from the first on, the first two pages of the file are read, which disturbs
    /// read-ahead (IOzone's `-K`). 0: never.
    #[serde(skip_serializing_if = "is_usual")]
    pub stray_reads_every: u32,
    /// Each I/O has the next buffer of so many bytes (IOzone's `-m`). 0: all have one.
    #[serde(skip_serializing_if = "is_usual")]
    pub buffers: Bytes,
}

/// Who may have a file at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FileSharing {
    /// Several who read it, or one who writes.
    Readers,
    /// One, whatever he does.
    Nobody,
}

/// A cache of the CPU, as far as emptying it needs to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PurgedCache {
    pub size: Bytes,
    pub line: Bytes,
}

impl Interference {
    /// Whether something is done around each call.
    pub fn meets_calls(self) -> bool {
        Self { lock_files: false, ..self } != Self::default()
    }
}
