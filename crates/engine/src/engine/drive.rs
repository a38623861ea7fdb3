//! A worker: what it is given, what it brings home, and the choice of its backend. The loop itself is
//! [`IoLoop`].

mod backlog;
mod batching;
mod between_passes;
mod depth_finder;
mod file_moves;
mod flushes;
mod in_flight;
mod io_loop;
mod io_state;
mod level;
mod limits;
mod passes;
mod trims;
mod untimed;
mod verify;
mod waits;
mod worker;
mod worker_limits;
mod writeback;

pub use between_passes::BetweenPasses;
pub use file_moves::{FileMoves, MovedIos};
pub use worker::{IoQuota, Worker, WorkerGate, WorkerTotals};
pub use worker_limits::WorkerLimits;

use std::io;
use std::os::fd::AsFd as _;

use crate::sys::files::set_write_hint;
use crate::sys::slab::{Brand, Slot, branded};
use assay_plan::error::{Doing, Fault};
use assay_plan::plan::{Action, Method};
use assay_plan::stats::ActionTally;

use super::IoBackend;
use super::bytewise::Bytewise;
use super::compute::{ComputedCalls, SortingCalls};
use super::interference::{DisturbedCalls, FileLocks};
use super::libaio::Libaio;
use super::mmap::Mmap;
use super::null::NullBackend;
use super::page_fault::FreshMemory;
use super::posixaio::PosixAio;
use super::psync::Psync;
use super::sim::SimulatedDevice;
use super::space::{AllocatingCalls, MovingCalls, TruncatingCalls};
use super::splice::SplicedCalls;
use super::stdio::BufferedStdio;
use super::sync::SyncStream;
use super::sync_backend::{SyncBackend, SyncCalls};
use super::uring::Uring;
use super::vectored::Vectored;
use io_loop::IoLoop;

impl Worker<'_> {
    /// Makes the backend, waits at the gate, and drives it to the end.
    ///
    /// # Errors
    /// When the backend cannot be made: no memory, no ring. It has been ready all the same.
    pub fn go(self, gate: &mut dyn WorkerGate) -> Result<WorkerTotals, Fault> {
        // The loops are large: they are compiled once for each method, and not again for each who calls.
        branded(|brand| self.with(brand, gate))
    }

    fn with(self, brand: Brand<'_>, gate: &mut dyn WorkerGate) -> Result<WorkerTotals, Fault> {
        let locks = self.interference.lock_files.then(|| {
            let writes = self.cursor.any().sends();
            FileLocks::take(&self.files, &self.paths, writes, self.halt)
        });
        let _locks = match locks.transpose() {
            Ok(locks) => locks,
            Err(fault) => {
                gate.ready();
                return Err(fault);
            }
        };
        if let Some(hint) = self.write_hint {
            for (number, file) in self.files.iter().enumerate() {
                if let Err(error) = set_write_hint(file.as_fd(), hint.value()) {
                    gate.ready();
                    return Err(Fault::new(Doing::SetFlags, self.path(number as u32), &error));
                }
            }
        }
        let (files, depth, size) = (self.files.clone(), self.iodepth, self.block);
        // The one place where a method is chosen; from here on the loop is its own.
        match self.method {
            Method::Psync | Method::Pool => go_calls(brand, Ok(Psync { files }), self, gate),
            Method::Sync => go_calls(brand, SyncStream::new(&files), self, gate),
            Method::Splice => {
                go_shared::<true>(brand, SplicedCalls::new(files).map(boxed), self, gate)
            }
            Method::Bytewise => {
                go_shared::<true>(brand, Bytewise::new(&files).map(boxed), self, gate)
            }
            Method::Vectored(flags) => {
                let calls = Vectored::new(files, flags, self.seed);
                go_calls(brand, Ok(calls), self, gate)
            }
            Method::Mmap(mapping) => go_calls(brand, Mmap::new(files, mapping), self, gate),
            Method::Stdio { buffer, bytewise } => {
                go_calls(brand, BufferedStdio::new(files, buffer, bytewise), self, gate)
            }
            Method::Libaio(aio) => {
                let priorities = self.priorities.clone();
                go(Libaio::new(brand, files, depth, size, aio, priorities), self, gate)
            }
            Method::PosixAio => go(PosixAio::new(brand, files, depth, size), self, gate),
            Method::IoUring(ring) => {
                let linked = self.flush.filter(|&(every, _)| ring.linked && every == 1);
                let linked = linked.map(|(_, how)| how);
                let priorities = self.priorities.clone();
                let backend = Uring::new(brand, files, (depth, size), ring, linked, priorities);
                if linked.is_none() {
                    return go(backend, self, gate);
                }
                let mut worker_totals = go(backend, Worker { flush: None, ..self }, gate)?;
                // Each was in its write's time, and has none of its own.
                let writes = worker_totals
                    .tallies
                    .all()
                    .filter(|(action, _)| matches!(action, Action::Write | Action::Rewrite));
                let ops = writes.map(|(_, tally)| tally.ops).sum();
                worker_totals
                    .tallies
                    .put(Action::Flush, ActionTally { ops, ..ActionTally::default() });
                Ok(worker_totals)
            }
            Method::Compute { sorts: true, .. } => {
                go_shared::<false>(brand, Ok(boxed(SortingCalls::new())), self, gate)
            }
            Method::Compute { time, .. } => {
                go_shared::<false>(brand, Ok(boxed(ComputedCalls { time })), self, gate)
            }
            Method::PageFault { bytes } => {
                go_shared::<true>(brand, FreshMemory::new(bytes).map(boxed), self, gate)
            }
            Method::Fallocate => {
                go_shared::<false>(brand, Ok(boxed(AllocatingCalls { files })), self, gate)
            }
            Method::Ftruncate => {
                go_shared::<false>(brand, Ok(boxed(TruncatingCalls { files })), self, gate)
            }
            Method::MoveExtents => {
                let calls = match &self.donor {
                    Some((donor, region)) => MovingCalls::new(files, donor, *region),
                    None => Err(io::ErrorKind::InvalidInput.into()),
                };
                go_shared::<false>(brand, calls.map(boxed), self, gate)
            }
            Method::Null => go(NullBackend::new(brand, depth, size), self, gate),
            Method::Sim(model) => {
                go(SimulatedDevice::new(brand, model, depth, size, self.seed), self, gate)
            }
        }
    }
}

/// Drives calls of which one is under way at a time, in a loop of their own; with what is done around each.
fn go_calls(
    brand: Brand<'_>,
    calls: io::Result<impl SyncCalls + 'static>,
    worker: Worker,
    gate: &mut dyn WorkerGate,
) -> Result<WorkerTotals, Fault> {
    if worker.interference.meets_calls() {
        return go_shared::<true>(brand, calls.map(boxed), worker, gate);
    }
    let size = worker.block;
    go(SyncBackend::<_, true>::new(brand, calls, size), worker, gate)
}

/// The same in the loop that those share which take much longer than to be found; `DATA`: they move some.
fn go_shared<const DATA: bool>(
    brand: Brand<'_>,
    calls: io::Result<Box<dyn SyncCalls>>,
    worker: Worker,
    gate: &mut dyn WorkerGate,
) -> Result<WorkerTotals, Fault> {
    let (interference, size) = (worker.interference, worker.block);
    let calls = match interference.meets_calls() {
        false => calls,
        true => calls
            .and_then(|calls| DisturbedCalls::new(calls, &worker.files, interference))
            .map(boxed),
    };
    go(SyncBackend::<_, DATA>::new(brand, calls, size), worker, gate)
}

fn boxed(calls: impl SyncCalls + 'static) -> Box<dyn SyncCalls> {
    Box::new(calls)
}

/// Drives a backend, if it could be made.
fn go<'s, L: IoBackend<'s>>(
    made: io::Result<(L, Vec<Slot<'s>>)>,
    worker: Worker,
    gate: &mut dyn WorkerGate,
) -> Result<WorkerTotals, Fault> {
    match made {
        Ok((mut backend, slots)) => {
            worker.fill_once(&mut backend, &slots);
            // Decided once more: most jobs need none of what costs a look at each I/O.
            Ok(if worker.has_more::<L>() {
                IoLoop::<L, true>::new(backend, slots, worker).run(gate)
            } else {
                IoLoop::<L, false>::new(backend, slots, worker).run(gate)
            })
        }
        Err(error) => {
            gate.ready();
            Err(match worker.method {
                Method::IoUring(_) | Method::Libaio(_) => {
                    Fault::new(Doing::MakeQueue, worker.path(0), &error)
                }
                // Of its helpers.
                Method::PosixAio if error.raw_os_error() == Some(libc::EAGAIN) => {
                    Fault::no_thread(&error)
                }
                _ => Fault::new(Doing::Prepare, worker.path(0), &error),
            })
        }
    }
}
