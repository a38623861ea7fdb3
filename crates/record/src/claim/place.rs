//! What the place of the data does to them: blocks, sectors, extents, cards, nodes.

use serde::{Deserialize, Serialize};

use assay_plan::unit::{Bandwidth, Bytes, Nanos, Share};

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PlaceClaim {
    PartialSectors {
        block: Bytes,
        device: String,
        sector: Bytes,
    },
    PartialBlocks {
        block: Bytes,
        unit: Bytes,
    },
    PartitionMisplaced {
        partition: String,
        sector: Bytes,
    },
    LoopMisplaced {
        device: String,
        offset: u64,
    },
    Fragmented {
        path: String,
        extents: u64,
        calls: Bytes,
        device: String,
        requests: Bytes,
    },
    NearlyFull {
        free: Share,
    },
    FirstWrites {
        path: String,
    },
    /// Blocks that another file or a snapshot has, too, were written over.
    OverwritesShared {
        part: Share,
        path: String,
    },
    /// A file of an overlay was copied as a whole before its first write.
    CopiedUp {
        path: String,
    },
    /// Of a file that held a part of what was written.
    SomeFirstWrites {
        first: Share,
        path: String,
    },
    /// Small random writes to a card, against large ones in order.
    Scattered {
        block: Bytes,
        reached: Share,
    },
    DependsOnPlace {
        offsets: usize,
        least: Bandwidth,
        most: Bandwidth,
    },
    WrittenDuringReads {
        written: Bytes,
        device: String,
    },
    OtherNode {
        device: String,
        near: String,
        ran: Vec<String>,
    },
    WornOut {
        device: String,
    },
    Unconditioned {
        device: String,
    },
    /// The device was seen at work until then, and idle later.
    KeptWorking {
        device: String,
        time: Nanos,
    },
    StillWorking {
        device: String,
        time: Nanos,
    },
    // Seen before a run.
    DirectMisfits {
        offset: bool,
        bytes: u64,
        sector: u64,
    },
    LargeSectors {
        device: String,
        sector: Bytes,
    },
    DirectCopyMisfits {
        reads: bool,
        bytes: u64,
        sector: u64,
    },
    EmulatedSectors {
        device: String,
        logical: Bytes,
        physical: Bytes,
    },
    WillAllocate,
    LittleSpace {
        free: Share,
    },
    FewInodes {
        free: u64,
    },
    Crumbled {
        extents: u64,
    },
    AccessTimes {
        kind: String,
        point: String,
    },
    LargeErase {
        device: String,
        erase: Bytes,
    },
    FarFromCpus {
        device: String,
        near: String,
    },
}
