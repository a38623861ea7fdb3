//! What ends one worker: its part of the limits of its job.

use assay_engine::engine::IoQuota;
use assay_plan::plan::{StopLimit, StopRule};
use assay_plan::unit::Bytes;

/// How many passes a worker makes; `None`: without end.
pub(super) fn passes(stop: &StopRule) -> Option<u64> {
    if stop.first_of.is_empty() {
        return Some(1);
    }
    let passes = stop.first_of.iter().filter_map(|limit| match limit {
        StopLimit::Passes(passes) => Some(u64::from(*passes)),
        _ => None,
    });
    passes.min()
}

/// One worker's part of what ends a job. Bytes are shared in whole blocks, so that no worker but
/// the last ends with a part of one.
pub(super) fn quota(stop: &StopRule, block: Bytes, thread: u32, threads: u32) -> IoQuota {
    let part = |all: u64| {
        let (share, rest) = (all / u64::from(threads), all % u64::from(threads));
        share + u64::from(u64::from(thread) < rest)
    };
    let least = |known: Option<u64>, new: u64| Some(known.map_or(new, |known| known.min(new)));
    let mut quota = IoQuota { time: stop.time(), ..IoQuota::default() };
    for limit in &stop.first_of {
        match limit {
            StopLimit::Bytes(bytes) => {
                let rest = if thread + 1 == threads { bytes.0 % block.0 } else { 0 };
                let share = part(bytes.0 / block.0) * block.0 + rest;
                quota.bytes = least(quota.bytes, share);
            }
            StopLimit::Ops(ops) => quota.ops = least(quota.ops, part(ops.0)),
            StopLimit::Full
            | StopLimit::Time(_)
            | StopLimit::Passes(_)
            | StopLimit::Steady(_)
            | StopLimit::SteadyWindow(_)
            | StopLimit::EvenHalves(_) => {}
        }
    }
    quota
}
