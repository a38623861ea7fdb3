//! The part of a target that a job touches, and how much it writes there.

use assay_plan::error::Refusal;
use assay_plan::plan::{Action, Method, OffsetOrdering, Pattern, StopLimit, Verify};
use assay_plan::unit::Bytes;

/// Bytes of the region that each worker gets.
pub(crate) fn region(pattern: &Pattern, size: Bytes, workers: u32) -> Result<u64, Refusal> {
    let used = size.0.saturating_sub(pattern.region.offset.0);
    let used = if pattern.region.divided {
        // In whole blocks, so that each part begins with one.
        let part = used / u64::from(workers);
        let block = pattern.block.smallest().0;
        if part < block { part } else { part / block * block }
    } else {
        used
    };
    let last = pattern.region.step_per_worker.0.saturating_mul(u64::from(workers - 1));
    let used = if pattern.region.step_per_worker.0 > 0 { used.saturating_sub(last) } else { used };
    if used == 0 {
        return Err(Refusal::new(
            "the region begins beyond the end of the target",
            "give a smaller offset",
        ));
    }
    Ok(used)
}

/// Where the region of a worker begins.
pub(crate) fn start_of(pattern: &Pattern, length: u64, worker: u32) -> u64 {
    let step = if pattern.region.divided { length } else { pattern.region.step_per_worker.0 };
    pattern.region.offset.0 + step * u64::from(worker)
}

/// Whether each pass of a job visits every block of its part once and does nothing but write it.
pub(crate) fn writes_each_block(pattern: &Pattern) -> bool {
    let each_once = matches!(
        pattern.order,
        OffsetOrdering::Forward
            | OffsetOrdering::Backward
            | OffsetOrdering::Strided { .. }
            | OffsetOrdering::Shuffled
    );
    let one_size = pattern.block.smallest() == pattern.block.largest();
    let only = pattern.mix.sends() && !pattern.mix.has(Action::Read);
    each_once && one_size && only && pattern.region.align.is_none() && !in_zones(pattern)
}

/// Whether its places are in zones, with gaps between them.
pub(crate) fn in_zones(pattern: &Pattern) -> bool {
    pattern.sequence.as_ref().is_some_and(|sequence| sequence.zones.is_some())
}

/// The most that a job writes; `None` when only time ends it.
pub(super) fn most(limits: &[StopLimit], size: Bytes, workers: u32) -> Option<Bytes> {
    if limits.is_empty() {
        return Some(Bytes(size.0.saturating_mul(u64::from(workers))));
    }
    limits
        .iter()
        .filter_map(|limit| match limit {
            StopLimit::Bytes(bytes) => Some(*bytes),
            StopLimit::Passes(passes) => Some(Bytes(
                size.0.saturating_mul(u64::from(*passes)).saturating_mul(u64::from(workers)),
            )),
            _ => None,
        })
        .min()
}

/// Refuses to verify what several write at the same time: nobody could say what must stand there.
pub(super) fn verifies(
    pattern: &Pattern,
    length: u64,
    method: Method,
    iodepth: u32,
    workers: u32,
) -> Result<(), Refusal> {
    if !matches!(
        pattern.verify,
        Verify::Full | Verify::AfterWrite | Verify::Backlog(_) | Verify::EachPass
    ) || !pattern.mix.sends()
    {
        return Ok(());
    }
    let word = pattern.verify.name();
    let step = pattern.region.step_per_worker.0;
    if workers > 1 && !pattern.region.divided && step < length {
        return Err(Refusal::new(
            format!("verify '{word}' contradicts {workers} workers that write the same places"),
            "divide the region among them, or use one worker",
        ));
    }
    if method == Method::Pool && iodepth > 1 {
        return Err(Refusal::new(
            format!(
                "verify '{word}' contradicts a pool of {iodepth} threads that write the same places"
            ),
            "use iodepth 1",
        ));
    }
    Ok(())
}
