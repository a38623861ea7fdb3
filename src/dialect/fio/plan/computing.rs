//! The engine that computes, and does no I/O.

use super::placed::FioSurroundings;
use crate::dialect::fio::job::{FioCpuMode, FioJob, refused};
use assay_plan::error::Refusal;
use assay_plan::plan::{
    Action, BlockSize, BlockWork, DetailLevel, Job, Method, Mix, OffsetOrdering, Pattern, Rate,
    RestTime, StopLimit, StopRule, Target, Work,
};
use assay_plan::unit::{Bytes, Nanos};

/// Why a job that only computes is not done.
pub(super) fn endless(job: &FioJob, instead: &str) -> Refusal {
    refused(job, "ioengine", "nothing ends a job without I/O", instead)
}

impl FioJob {
    /// A clone that loads a CPU: it computes for a chunk, and rests for the remainder of its share.
    pub(super) fn computing(
        &self,
        (clone, thread): (u32, u32),
        found: &FioSurroundings<'_>,
    ) -> Result<Job, Refusal> {
        let options = &self.queue.engine_options;
        let sorts = options.cpumode == FioCpuMode::Qsort;
        let time = Nanos::from(self.schedule.runtime);
        if time == Nanos::ZERO && !options.exit_on_io_done {
            return Err(endless(self, "give runtime=, or exit_on_io_done=1"));
        }
        let load = u64::from(options.cpuload.unwrap_or(100).clamp(1, 100));
        let chunk = Nanos::from(options.cpuchunks).max(Nanos::micros(1));
        let idle = Nanos(chunk.0.saturating_mul(100 - load) / load);
        let pattern = Pattern::of(
            Mix::only(Action::Read),
            OffsetOrdering::Forward,
            BlockSize::Fixed(Bytes(1)),
        );
        let target = Target::Nowhere { size: Bytes(1 << 40) };
        let blocks = BlockWork {
            method: Method::Compute { time: chunk, sorts },
            ..BlockWork::of(target, pattern)
        };
        let rest = (idle > Nanos::ZERO).then_some(RestTime {
            time: idle,
            busy: Nanos::ZERO,
            every: 1,
            // How long sorting takes shows each time.
            load_percent: if sorts { load as u8 } else { 0 },
            ..RestTime::default()
        });
        Ok(Job {
            rate: Rate { rest, ..Rate::CLOSED },
            stop: StopRule {
                ramp: Nanos::from(self.schedule.ramp_time),
                ..StopRule::until((time > Nanos::ZERO).then_some(StopLimit::Time(time)))
            },
            worker_kind: self.worker_kind(),
            background: options.exit_on_io_done,
            delay: self.delay(thread),
            cpus: self.cpus(clone, found)?,
            priority: self.priority(),
            memory: self.memory(found)?,
            on_fault: self.on_fault(),
            detail: DetailLevel { workers: true, costs: true, ..DetailLevel::default() },
            ..Job::of(self.name.clone(), Work::Blocks(blocks))
        })
    }
}
