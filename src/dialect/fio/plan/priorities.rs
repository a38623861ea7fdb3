//! Which I/Os of a job have a priority of their own.

use crate::dialect::fio::job::{FioDirection, FioJob, FioRandomGenerator, refused};
use assay_plan::error::Refusal;
use assay_plan::plan::{IoClass, IoPriorities, IoPriority, PriorityShare, SeedStream};
use assay_plan::unit::Bytes;

impl FioJob {
    /// The priorities of a clone's I/Os, with the seed that fio draws them from.
    pub(super) fn priorities_of_ios(&self, thread: u32) -> Result<IoPriorities, Refusal> {
        let reads = self.priority_shares(FioDirection::Read)?;
        let writes = self.priority_shares(FioDirection::Write)?;
        if reads.is_empty() && writes.is_empty() {
            return Ok(IoPriorities::default());
        }
        if self.pattern.random_generator == FioRandomGenerator::Tausworthe64 {
            return Err(refused(
                self,
                "cmdprio_percentage",
                "which I/Os have a priority is drawn by the generator of 32 bits here",
                "leave random_generator out",
            ));
        }
        Ok(IoPriorities { reads, writes, seed: Some(self.seed_of(thread, SeedStream::Priority)) })
    }

    fn priority_shares(&self, direction: FioDirection) -> Result<Vec<PriorityShare>, Refusal> {
        let options = &self.queue.engine_options;
        let rw = self.pattern.rw;
        let does = if direction == FioDirection::Read { rw.reads() } else { rw.writes() };
        if !does {
            return Ok(Vec::new());
        }
        let percent = (*options.cmdprio_percentage.of(direction)).min(100) as u8;
        let split = options.cmdprio_bssplit.of(direction);
        let usual = priority(
            *options.cmdprio_class.of(direction),
            *options.cmdprio.of(direction),
            *options.cmdprio_hint.of(direction),
        );
        if percent > 0 && !split.is_empty() {
            return Err(refused(
                self,
                "cmdprio_bssplit",
                "cmdprio_percentage and cmdprio_bssplit options are mutually exclusive",
                "leave one of them out",
            ));
        }
        if percent > 0 {
            return Ok(vec![PriorityShare { block: None, percent, priority: usual }]);
        }
        let shares = split.iter().map(|share| PriorityShare {
            block: Some(Bytes(share.bytes)),
            percent: share.percent.min(100) as u8,
            priority: match share.priority {
                Some((class, level, hint)) => priority(class, level, hint),
                None => usual,
            },
        });
        Ok(shares.filter(|share| share.percent > 0).collect())
    }
}

/// A priority of these numbers; without a class it is of the first one.
fn priority(class: u32, level: u32, hint: u32) -> IoPriority {
    let class = match class {
        0 | 1 => IoClass::Realtime,
        2 => IoClass::BestEffort,
        _ => IoClass::Idle,
    };
    IoPriority { class, level: level.min(7) as u8, hint: hint.min(1023) as u16 }
}
