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

mod file_op;
mod meter;
mod name;
mod walk;
mod worker;

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};

use self::meter::{OpFailed, TreeMeter, stuck};
use self::name::FileName;
pub use self::name::folder_name;
use self::walk::TreeWalk;
use self::worker::TreeTools;
pub use self::worker::{ANCHOR, TreeWorker, size_of, tree_place};
use super::drive::{WorkerGate, WorkerTotals};
use super::fill::WriteGeneration;
use super::pace::WorkerPace;
use super::tally::ActionTallies;
use crate::sys::buffer::Buffer;
use crate::sys::clock;
use crate::sys::pinned::PinnedThread;
use assay_plan::error::{Doing, Fault};
use assay_plan::plan::{Action, TreeSize};
use assay_plan::stats::{ActionTally, LatencySplit};

/// Room for the names that one call lists.
const LISTING: usize = 32 << 10;
impl TreeWorker<'_> {
    /// Makes its buffers, waits at the gate, and does its work.
    ///
    /// # Errors
    /// When there is no memory for the buffers. It has been ready all the same.
    pub fn go(self, gate: &mut dyn WorkerGate) -> Result<WorkerTotals, Fault> {
        let most = match self.size {
            TreeSize::Files { most, .. } => most.in_memory(),
            _ => 0,
        };
        let buffer = Buffer::new(most.clamp(1, self.piece));
        let mut tools = TreeTools {
            buffer: match buffer {
                Ok(buffer) => buffer,
                Err(error) => {
                    gate.ready();
                    return Err(Fault::new(Doing::Prepare, self.path, &error));
                }
            },
            folder: None,
            // Where the kernel refuses that, paths go from descriptors of folders: only slower.
            pinned: PinnedThread::alone().ok(),
            name: FileName::new(self.naming, self.number, self.folders > 0, self.renamed),
        };
        if !self.filler.changes() {
            self.filler.fill(&mut tools.buffer, 0, WriteGeneration::default());
        }
        let listing = vec![MaybeUninit::uninit(); LISTING];
        let tallies = ActionTallies::new([Action::Flush], LatencySplit::default());
        let (tally, listings) = (ActionTally::default(), ActionTally::default());
        // By number all paths go from the root: as listed, it steps from folder to folder.
        let dir = tools.stand_in(&self.root);
        let quota = self.quota;
        let (place, workers) = self.place;
        let mut pace = WorkerPace::new(self.rate, workers, place, self.seed);
        gate.ready();
        let now = clock::now();
        pace.start(now);
        let worker_totals = WorkerTotals {
            number: place,
            tallies,
            started: now,
            counted: now + quota.ramp,
            stopped: now,
            ..WorkerTotals::default()
        };
        let tree_meter = TreeMeter {
            pace,
            deadline: quota.time.map(|time| worker_totals.counted + time),
            worker_totals,
            tally,
            listings,
            now,
            bytes_left: quota.bytes.unwrap_or(u64::MAX),
            ops_left: quota.ops.unwrap_or(u64::MAX),
            cut: false,
            worker: &self,
        };
        let mut walk = TreeWalk { worker: &self, tree_meter, tools, listing, dir, pass: 0 };
        while !walk.tree_meter.cut && self.passes.is_none_or(|passes| walk.pass < passes) {
            walk.pass();
        }
        let TreeWalk {
            tree_meter: TreeMeter { mut worker_totals, tally, listings, cut, .. },
            tools,
            ..
        } = walk;
        worker_totals.counted = worker_totals.counted.min(worker_totals.stopped);
        worker_totals.whole = !cut;
        worker_totals.renamed = tools.name.renamed();
        worker_totals.tallies.put(self.action, tally);
        if listings.ops > 0 {
            worker_totals.tallies.put(Action::List, listings);
        }
        gate.over(&worker_totals);
        Ok(worker_totals)
    }

    fn open_folder(&self, folder: u64) -> Result<OwnedFd, OpFailed> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = if self.folders == 0 {
            rustix::fs::openat(&self.root, c".", flags, Mode::empty())
        } else {
            rustix::fs::openat(&self.root, name::folder(folder).from(0), flags, Mode::empty())
        };
        opened.map_err(stuck(Doing::Open))
    }
}
