//! How long a plan takes, as far as the plan itself tells.

use super::{Job, Plan, Size, StopLimit, Target, Work};
use crate::unit::{Bytes, Nanos};

/// About how long a plan takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedTime {
    /// The sum of its time limits, of a ramp or sweep at the most.
    pub limited: Nanos,
    /// What is moved beside that, for as long as the device needs.
    pub beside: Bytes,
}

impl PlannedTime {
    /// In words: `about 12 s`.
    pub fn words(self, may_end_early: bool) -> String {
        let about = if may_end_early { "at most about" } else { "about" };
        let beside = match self.beside {
            Bytes::ZERO => String::new(),
            bytes => format!(", and as long as the device needs for {bytes}"),
        };
        format!("{about} {} s{beside}", self.limited.as_secs().ceil())
    }
}

impl Plan {
    /// About how long it takes; `None` when only the device's speed decides.
    pub fn time(&self) -> Option<PlannedTime> {
        if let Some(limited) = self.study().whole_time() {
            return Some(PlannedTime { limited, beside: Bytes::ZERO });
        }
        let mut whole = PlannedTime { limited: Nanos::ZERO, beside: Bytes::ZERO };
        let mut timed = false;
        for phase in self.at_most() {
            let limits: Option<Vec<Nanos>> = phase.jobs.iter().map(limit).collect();
            let work = match limits {
                Some(limits) => {
                    timed = true;
                    limits.into_iter().max()?
                }
                None => {
                    let bytes: Option<Vec<Bytes>> = phase.jobs.iter().map(bytes).collect();
                    whole.beside += bytes?.into_iter().sum();
                    Nanos::ZERO
                }
            };
            whole.limited = whole.limited + work + phase.quiet + phase.aftermath + phase.aftermath;
        }
        timed.then_some(whole)
    }
}

fn limit(job: &Job) -> Option<Nanos> {
    Some(job.stop.expected_time()? + job.stop.ramp + job.delay)
}

/// What a job moves that nothing but its bytes ends, where its size is said.
fn bytes(job: &Job) -> Option<Bytes> {
    let Work::Blocks(blocks) = &job.work else { return None };
    let size = match &blocks.target {
        Target::File { size, .. } | Target::Scratch { size, .. } | Target::Device { size, .. } => {
            size
        }
        Target::Files { .. } | Target::Nowhere { .. } => return None,
    };
    let of = |limit: &StopLimit| match (limit, size) {
        (StopLimit::Bytes(bytes), _) => Some(*bytes),
        (StopLimit::Passes(passes), Size::Exactly(size)) => {
            Some(Bytes(size.0.saturating_mul(u64::from(*passes) * u64::from(job.workers))))
        }
        _ => None,
    };
    job.stop.first_of.iter().filter_map(of).min()
}
