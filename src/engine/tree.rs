//! Work on many files: each is one operation, timed by itself.
//!
//! The loop keeps the conventions of the one over blocks: the clock is read once per operation,
//! its end being the start of the next; what does not belong to the operation (making data,
//! looking at them, listing, a flush) is timed apart and taken out. Names are written into a fixed
//! buffer, digits over digits; the order is a permutation. So an operation costs the same whether
//! there are a thousand files or a hundred million, and nothing is allocated for it.
//!
//! A file is `f<worker>.<number>`, or where names vary in length `f<number><letters>` or
//! `<letters>f<number>`, in `d<folder>/` below the worker's root; one that was renamed has an `r` there,
//! and renaming it again gives it back its `f`.

mod beat;
mod name;
mod one;
mod walk;

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::fs::{CWD, Mode, OFlags};

use self::beat::{Beat, Stuck, stuck};
use self::name::Name;
pub use self::name::folder_name;
use self::walk::Walk;
use super::balance::Share;
use super::drive::{Haul, Quota};
use super::fill::{Filler, Generation};
use super::pace::Pace;
use super::random::mix;
use super::tallies::Tallies;
use crate::error::Fault;
use crate::plan::{Action, Durability, Naming, Rate, TreeOrder, TreeSize, Verify};
use crate::stats::{Gauge, Tally};
use crate::sys::buffer::Buffer;
use crate::sys::clock;
use crate::sys::stand::Stand;

/// What links point to, in each root.
pub const ANCHOR: &CStr = c"anchor";
/// Room for the names that one call lists.
const LISTING: usize = 32 << 10;
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
    /// To what.
    pub size: TreeSize,
    /// How many it has.
    pub files: u64,
    /// Subfolders over which they are spread; 0: none.
    pub folders: u32,
    /// Its number among all workers, part of the names of its files unless these vary.
    pub number: u32,
    /// What its files are called.
    pub naming: Naming,
    /// Whether the folders hold files of others.
    pub shared: bool,
    /// Data are moved in pieces of this size at the most, bytes.
    pub piece: usize,
    /// It looks at the attributes of each file before it reads it.
    pub stat_first: bool,
    /// In which order.
    pub order: TreeOrder,
    /// The files have the other of their two names.
    pub renamed: bool,
    /// What it writes.
    pub filler: Filler,
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
    pub balance: Option<Share<'a>>,
    /// Until when.
    pub quota: Quota,
    /// Everything random follows from it.
    pub seed: u64,
    /// Live counters.
    pub gauge: &'a Gauge,
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
    /// Makes its buffers, calls `ready` (a barrier), and does its work.
    ///
    /// # Errors
    /// When there is no memory for the buffers. `ready` has been called all the same.
    pub fn go(self, ready: impl FnOnce()) -> Result<Haul, Fault> {
        let most = match self.size {
            TreeSize::Files { most, .. } => most.0,
            _ => 0,
        };
        let buffer = Buffer::new((most as usize).clamp(1, self.piece));
        let mut hands = Hands {
            buffer: match buffer {
                Ok(buffer) => buffer,
                Err(error) => {
                    ready();
                    return Err(Fault::new("prepare", self.path, &error));
                }
            },
            folder: None,
            // Where the kernel refuses that, paths go from descriptors of folders: only slower.
            stand: Stand::alone().ok(),
            name: Name::new(self.naming, self.number, self.folders > 0, self.renamed),
        };
        if !self.filler.changes() {
            self.filler.fill(&mut hands.buffer, 0, Generation::default());
        }
        let listing = vec![MaybeUninit::uninit(); LISTING];
        let tallies = Tallies::new([Action::Flush], false);
        let (tally, listings) = (Tally::default(), Tally::default());
        // By number all paths go from the root: as listed, it steps from folder to folder.
        let dir = hands.stand_in(&self.root);
        ready();
        let now = clock::now();
        let quota = self.quota;
        let (place, workers) = self.place;
        let haul = Haul {
            tallies,
            started: now,
            counted: now + quota.ramp,
            stopped: now,
            ..Haul::default()
        };
        let beat = Beat {
            pace: Pace::new(self.rate, workers, place, now, self.seed),
            deadline: quota.time.map(|time| haul.counted + time),
            haul,
            tally,
            listings,
            now,
            bytes_left: quota.bytes.unwrap_or(u64::MAX),
            ops_left: quota.ops.unwrap_or(u64::MAX),
            cut: false,
            worker: &self,
        };
        let mut walk = Walk { worker: &self, beat, hands, listing, dir, pass: 0 };
        while !walk.beat.cut && self.passes.is_none_or(|passes| walk.pass < passes) {
            walk.pass();
        }
        let Walk { beat: Beat { mut haul, tally, listings, cut, .. }, hands, .. } = walk;
        haul.counted = haul.counted.min(haul.stopped);
        haul.whole = !cut;
        haul.renamed = hands.name.renamed();
        haul.tallies.put(self.action, tally);
        if listings.ops > 0 {
            haul.tallies.put(Action::List, listings);
        }
        Ok(haul)
    }

    /// The folder of a file: files in a row lie in one.
    #[inline]
    fn folder_of(&self, file: u64) -> u64 {
        match self.folders {
            0 => 0,
            folders => file / self.files.div_ceil(u64::from(folders)),
        }
    }

    /// Subfolders that hold anything; without any, the root.
    fn used_folders(&self) -> u64 {
        self.folder_of(self.files - 1) + 1
    }

    fn open_folder(&self, folder: u64) -> Result<OwnedFd, Stuck> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = if self.folders == 0 {
            rustix::fs::openat(&self.root, c".", flags, Mode::empty())
        } else {
            rustix::fs::openat(&self.root, name::folder(folder).from(0), flags, Mode::empty())
        };
        opened.map_err(stuck("open"))
    }
}

/// What a worker works with.
struct Hands {
    buffer: Buffer,
    /// The folder that was flushed last.
    folder: Option<(u64, OwnedFd)>,
    /// The thread stands where its files are, as one who types their names does: the kernel need not look
    /// up a descriptor for each.
    stand: Option<Stand>,
    /// The name of any file, as they are called in this pass.
    name: Name,
}

impl Hands {
    /// Steps into a folder: from where the paths of its files go.
    fn stand_in<'f>(&self, folder: &'f OwnedFd) -> BorrowedFd<'f> {
        match &self.stand {
            Some(stand) if stand.step(folder).is_ok() => CWD,
            _ => folder.as_fd(),
        }
    }
}

/// One file.
struct At<'f> {
    /// From where its path goes.
    dir: BorrowedFd<'f>,
    path: &'f CStr,
    /// Its folder, when that is open: the path is the name in it.
    folder: Option<BorrowedFd<'f>>,
    number: u64,
    folder_number: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Bytes;

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
