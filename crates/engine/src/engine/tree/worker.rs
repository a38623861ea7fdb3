//! A worker on many files: what it is given, what it works with, and one of its files.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::fs::CWD;

use super::name::FileName;
use crate::engine::balance::BalanceSlot;
use crate::engine::drive::IoQuota;
use crate::engine::fill::DataFiller;
use crate::engine::random::mix;
use crate::sys::buffer::Buffer;
use crate::sys::pinned::PinnedThread;
use assay_plan::plan::{Action, Durability, Naming, Rate, StatCall, TreeOrder, TreeSize, Verify};
use assay_plan::stats::LiveCounters;

/// What links point to, in each root.
pub const ANCHOR: &CStr = c"anchor";
/// Bits of a place that are the offset in a file of a tree.
const OFFSET_BITS: u32 = 32;

/// One worker on a tree, ready to go.
#[derive(Debug)]
pub struct TreeWorker<'a> {
    /// The folder that holds its files or subfolders. Somebody else closes it: a thread with a table
    /// of descriptors of its own would do that in its table only.
    pub root: Arc<OwnedFd>,
    /// What that is called in faults.
    pub path: String,
    /// What it does.
    pub action: Action,
    pub size: TreeSize,
    /// How many it has.
    pub files: u64,
    /// Subfolders over which they are spread; 0: none.
    pub folders: u32,
    /// Its number among all workers, part of the names of its files unless these vary.
    pub number: u32,
    /// What its files are called.
    pub naming: Naming,
    /// Each by its path from the root, where they stand for themselves.
    pub named: Arc<[CString]>,
    /// By which call it looks at attributes.
    pub stat_call: StatCall,
    /// Whether the folders hold files of others.
    pub shared: bool,
    /// Data are moved in pieces of this size at the most, bytes.
    pub piece: usize,
    /// It looks at the attributes of each file before it reads it.
    pub stat_first: bool,
    pub order: TreeOrder,
    /// The files have the other of their two names.
    pub renamed: bool,
    /// What it writes.
    pub filler: DataFiller,
    /// How closely it looks at what it reads.
    pub verify: Verify,
    /// What a finished change promises.
    pub durability: Durability,
    /// Folders are flushed too.
    pub sync_folder: bool,
    /// How often it goes through all; `None`: without end.
    pub passes: Option<u64>,
    /// The rate of the whole job.
    pub rate: Rate,
    /// (number of this worker, number of workers).
    pub place: (u32, u32),
    /// Other jobs that it keeps step with.
    pub balance: Option<BalanceSlot<'a>>,
    /// Until when.
    pub quota: IoQuota,
    /// Everything random follows from it.
    pub seed: u64,
    pub live_counters: &'a LiveCounters,
    /// Raised by others when it must stop now.
    pub halt: &'a AtomicBool,
}

/// The size of a file, by its number among those of all workers.
pub fn size_of(size: TreeSize, seed: u64, number: u64) -> u64 {
    match size {
        // All alike: nothing to be drawn, for each of many.
        TreeSize::Files { least, most } if least == most => most.0,
        TreeSize::Files { least, most } => {
            let span = u128::from(most.0 - least.0) + 1;
            least.0 + ((u128::from(mix(seed ^ mix(number + 1))) * span) >> 64) as u64
        }
        _ => 0,
    }
}

/// What the data of a file are made from, at an offset in it.
pub fn tree_place(number: u64, offset: u64) -> u64 {
    number << OFFSET_BITS | offset
}

impl TreeWorker<'_> {
    /// The folder of a file: files in a row lie in one.
    #[inline]
    pub(super) fn folder_of(&self, file: u64) -> u64 {
        match self.folders {
            0 => 0,
            folders => file / self.files.div_ceil(u64::from(folders)),
        }
    }

    /// Subfolders that hold anything; without any, the root.
    pub(super) fn used_folders(&self) -> u64 {
        self.folder_of(self.files - 1) + 1
    }
}

/// What a worker works with.
pub(super) struct TreeTools {
    pub(super) buffer: Buffer,
    /// The folder that was flushed last.
    pub(super) folder: Option<(u64, OwnedFd)>,
    /// The thread stands where its files are, as one who types their names does: the kernel need not look
    /// up a descriptor for each.
    pub(super) pinned: Option<PinnedThread>,
    /// The name of any file, as they are called in this pass.
    pub(super) name: FileName,
}

impl TreeTools {
    /// Steps into a folder: from where the paths of its files go.
    pub(super) fn stand_in<'f>(&self, folder: &'f OwnedFd) -> BorrowedFd<'f> {
        match &self.pinned {
            Some(pinned) if pinned.step(folder).is_ok() => CWD,
            _ => folder.as_fd(),
        }
    }
}

pub(super) struct TreeFile<'f> {
    /// From where its path goes.
    pub(super) dir: BorrowedFd<'f>,
    pub(super) path: &'f CStr,
    /// Its folder, when that is open: the path is the name in it.
    pub(super) folder: Option<BorrowedFd<'f>>,
    pub(super) number: u64,
    pub(super) folder_number: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_plan::unit::Bytes;

    #[test]
    fn sizes_lie_between_their_bounds_and_reach_them() {
        let size = TreeSize::Files { least: Bytes(3), most: Bytes(6) };
        let mut seen: Vec<u64> = (0..100).map(|number| size_of(size, 7, number)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [3, 4, 5, 6]);
        let same = TreeSize::Files { least: Bytes(9), most: Bytes(9) };
        assert!((0..100).all(|number| size_of(same, 7, number) == 9));
    }
}
