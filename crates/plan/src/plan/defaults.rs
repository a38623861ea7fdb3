//! What a plan means where it says nothing else: the same usual values that may be left out of a
//! document. Verbs and dialects begin with these and name only what they want otherwise.

use super::{
    BlockSize, BlockWork, CacheDrop, Caching, DetailLevel, Durability, ErrorTolerance, FaultReach,
    Fill, Interference, IoPriorities, Job, Method, Mix, OffsetOrdering, Pattern, Phase, PhaseEnd,
    Priority, Rate, Region, RewriteChange, ServiceLevel, StopRule, Target, TrimCall, Verify, Work,
    WorkerKind, WorkerMemory, WrittenPart,
};
use crate::unit::Nanos;

impl Pattern {
    /// Anywhere in the target, with incompressible data that nobody compares.
    pub fn of(mix: Mix, order: OffsetOrdering, block: BlockSize) -> Self {
        let (region, fill, verify) = (Region::default(), Fill::default(), Verify::default());
        let change = RewriteChange::default();
        let (sequence, again, replay) = (None, None, None);
        Self {
            mix,
            order,
            block,
            region,
            fill,
            change,
            verify,
            sequence,
            again,
            again_of: WrittenPart::default(),
            another_run: false,
            replay,
        }
    }
}

impl BlockWork {
    /// One buffered `pread` or `pwrite` at a time, without any flush.
    pub fn of(target: Target, pattern: Pattern) -> Self {
        Self {
            target,
            pattern,
            method: Method::default(),
            caching: Caching::default(),
            durability: Durability::default(),
            sync_file_range: None,
            timed_close: false,
            drop_each_pass: false,
            fadvise: None,
            iodepth: 1,
            apart: false,
            priorities: IoPriorities::default(),
            write_hint: None,
            trim_call: TrimCall::default(),
            interference: Interference::default(),
            donor: None,
        }
    }
}

impl Job {
    /// One thread, as fast as it can, from the start of the phase to its end.
    pub fn of(name: impl Into<String>, work: Work) -> Self {
        Self {
            name: name.into(),
            work,
            rate: Rate::default(),
            stop: StopRule::default(),
            workers: 1,
            worker_kind: WorkerKind::default(),
            after: Vec::new(),
            background: false,
            delay: Nanos::ZERO,
            cpus: None,
            priority: Priority::default(),
            memory: WorkerMemory::default(),
            balance: None,
            on_fault: FaultReach::default(),
            tolerance: ErrorTolerance::default(),
            service_level: ServiceLevel::default(),
            detail: DetailLevel::default(),
        }
    }
}

impl Phase {
    /// One job, once, on whatever is in memory; the phase is called as the job is.
    pub fn of(job: Job) -> Self {
        Self {
            name: job.name.clone(),
            jobs: vec![job].into(),
            cold: CacheDrop::default(),
            pre_read: false,
            remount: None,
            settle: Nanos::ZERO,
            quiet: Nanos::ZERO,
            heat: Nanos::ZERO,
            aftermath: Nanos::ZERO,
            until: PhaseEnd::default(),
            times: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::plan::Action;
    use crate::unit::Bytes;

    #[test]
    fn a_document_that_says_no_more_means_the_same() {
        let document = json!({ "name": "read", "jobs": [{ "name": "read", "work": { "blocks": {
            "target": { "nowhere": { "size": 4096 } },
            "pattern": { "mix": [{ "action": "read", "weight": 100 }], "block": { "fixed": 512 } },
        } } }] });
        let target = Target::Nowhere { size: Bytes(4096) };
        let block = BlockSize::Fixed(Bytes(512));
        let pattern = Pattern::of(Mix::only(Action::Read), OffsetOrdering::default(), block);
        let phase = Phase::of(Job::of("read", Work::Blocks(BlockWork::of(target, pattern))));
        assert_eq!(serde_json::from_value::<Phase>(document).expect("a phase"), phase);
    }
}
