//! Whether the machine has the threads, the memory and the CPUs that a phase wants.

use assay_plan::error::Refusal;
use assay_plan::plan::{Method, Phase, Work};
use assay_plan::unit::Bytes;
use assay_record::record::ResolvedJob;

use super::fitter::PlanFitter;

/// Threads of one phase.
const THREADS: u64 = 4096;
/// Memory for the buffers of one phase that no machine is asked about.
const MODEST: Bytes = Bytes::mib(64);
/// Memory that is never locked, as fio has it.
const SPARED: Bytes = Bytes::mib(128);

impl PlanFitter<'_> {
    /// The threads of a phase; refuses one that this machine has no threads or no memory for.
    pub(super) fn crowd(&self, phase: &Phase, jobs: &[ResolvedJob]) -> Result<u64, Refusal> {
        let (mut threads, mut buffers) = (0_u64, Bytes::ZERO);
        let mut locked = Bytes::ZERO;
        for (job, resolved) in phase.jobs.iter().zip(jobs) {
            locked += Bytes(job.memory.locked.0.saturating_mul(u64::from(resolved.workers)));
            let blocks = match &job.work {
                Work::Blocks(blocks) => blocks,
                Work::Tree(_) => {
                    threads += u64::from(resolved.workers);
                    continue;
                }
                Work::Copy(_) => {
                    threads += 1;
                    continue;
                }
            };
            let (workers, depth) = (u64::from(resolved.workers), u64::from(resolved.iodepth));
            threads += match resolved.method {
                Method::Pool => workers * depth,
                // Each has a helper.
                Method::PosixAio => workers * 2,
                _ => workers,
            };
            let block = blocks.pattern.largest_buffer().0.saturating_add(4095) / 4096 * 4096;
            buffers += Bytes(block.saturating_mul(workers * depth));
        }
        if threads > THREADS {
            return Err(Refusal::new(
                format!("{threads} threads"),
                format!("give fewer workers, or less iodepth: {THREADS} are the most"),
            ));
        }
        // With 32 bits a program has 2 or 3 GiB of addresses, however much the machine has.
        let addresses = (usize::BITS < 64).then_some(Bytes(1 << 31));
        if buffers > MODEST
            && let Some(memory) = self.sys_root.memory_for_runs().into_iter().chain(addresses).min()
            && buffers.0 > memory.0 / 2
        {
            return Err(Refusal::new(
                format!("{buffers} of buffers are more than half of the memory ({memory})"),
                "give fewer workers, less iodepth, or a smaller block",
            ));
        }
        if locked > Bytes::ZERO
            && let Some(free) = self.sys_root.free_memory().seen().copied()
            && locked.0.saturating_add(SPARED.0) > free.0
        {
            return Err(Refusal::new(
                format!("{locked} of memory are to be locked, of {free} that are free"),
                "lock less, and leave 128 MiB for all others",
            ));
        }
        Ok(threads)
    }
}

/// Refuses CPUs that this process may not run on.
pub(super) fn allowed(cpus: &[u32]) -> Result<(), Refusal> {
    let Ok(set) = rustix::thread::sched_getaffinity(None) else { return Ok(()) };
    let most = rustix::thread::CpuSet::MAX_CPU;
    match cpus.iter().find(|&&cpu| cpu as usize >= most || !set.is_set(cpu as usize)) {
        None => Ok(()),
        Some(cpu) => Err(Refusal::new(
            format!("CPU {cpu} is not there, or this process may not run on it"),
            "'nproc' and 'taskset -p $$' tell which ones are",
        )),
    }
}
