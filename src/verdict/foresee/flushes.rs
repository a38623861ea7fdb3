//! What a copy flushes, and what it leaves in memory or waits for.

use super::copy::Judge;
use super::ends::{Data, Ends, device};
use crate::evidence::PathKind;
use crate::plan::{Durability, Resync};
use crate::record::{Exhibit, Finding, Measures, Weight};
use crate::unit::Bytes;
use crate::verdict::threshold::{FLUSH_WRITES, REACHED};
use crate::verdict::{bigger_than_ram, finding, flush_bound, not_flushed, words};

/// Who knows them.
pub(super) const JUDGES: &[Judge] =
    &[unflushed, left_to_the_close, not_a_flush, each_write, old_busybox];

/// T02 and T05: the clock stops when memory has the data.
fn unflushed(ends: &Ends<'_>) -> Option<Finding> {
    let to = ends.written().filter(|to| to.kind != PathKind::Device)?;
    if ends.durable() || ends.writes_direct() || ends.copy.sparse && ends.data() == Data::Zeros {
        return None;
    }
    let disk = device(to);
    let next = Some(words::with_flush(ends.origin));
    let Some(writeback) = to.writeback.seen() else {
        let claim = format!(
            "Nothing makes the clock wait for {disk}: what memory still holds when it stops is not known."
        );
        return Some(finding(
            not_flushed::RULE.id,
            Weight::Doubt,
            Some(Measures::Deferred),
            claim,
            vec![],
            next,
        ));
    };
    let exhibit = |value: Bytes| {
        vec![Exhibit::new("dirty limit", value.to_string(), "/proc/vmstat nr_dirty_threshold")]
    };
    let limit = writeback.limit;
    // Up to here no writer is held back: `dirty_freerun_ceiling` of the kernel's page-writeback.c.
    let free = Bytes((limit.0 / 2).saturating_add(writeback.background.0 / 2));
    match ends.bytes() {
        Some(bytes) if bytes <= free => Some(finding(
            not_flushed::RULE.id,
            Weight::Refute,
            Some(Measures::Deferred),
            format!(
                "Nothing is flushed, and memory takes all {bytes}: the clock stops before {disk} has them."
            ),
            exhibit(limit),
            next,
        )),
        Some(bytes) => {
            let left = limit.min(bytes);
            let part = left.0 as f64 / bytes.0.max(1) as f64;
            let (weight, measures) = match part > 1.0 - REACHED {
                true => (Weight::Doubt, Some(Measures::Mixed)),
                false => (Weight::Note, None),
            };
            Some(finding(
                bigger_than_ram::RULE.id,
                weight,
                measures,
                format!(
                    "Nothing is flushed: of {bytes} up to {left} ({}) are still in memory when the clock stops.",
                    words::share(part)
                ),
                exhibit(limit),
                next,
            ))
        }
        None => Some(finding(
            bigger_than_ram::RULE.id,
            Weight::Doubt,
            Some(Measures::Mixed),
            format!("Nothing is flushed: up to {limit} are still in memory when the clock stops."),
            exhibit(limit),
            next,
        )),
    }
}

/// T02, of a device: its last close writes out what memory holds (`blkdev_put` of the kernel calls
/// `sync_blockdev`), and sends no flush to the drive.
fn left_to_the_close(ends: &Ends<'_>) -> Option<Finding> {
    let to = ends.written().filter(|to| to.kind == PathKind::Device)?;
    (!ends.durable() && !ends.writes_direct()).then(|| {
        finding(
            not_flushed::RULE.id,
            Weight::Note,
            None,
            format!(
                "Nothing is flushed: the close writes out what memory holds, unless somebody else has {} open, and nothing empties the drive's own cache.",
                device(to)
            ),
            vec![Exhibit::new("conv", "no fsync", "the line")],
            Some(words::with_flush(ends.origin)),
        )
    })
}

/// T13: words that look like a flush and are none.
fn not_a_flush(ends: &Ends<'_>) -> Option<Finding> {
    (ends.copy.resync != Resync::No && !ends.durable() && ends.to.is_some()).then(|| {
        finding(
            "T13",
            Weight::Note,
            None,
            "conv=sync fills short blocks with zeros and flushes nothing: conv=fsync does.",
            vec![Exhibit::new("conv", "sync", "the line")],
            None,
        )
    })
}

/// T14: a flush for each write.
fn each_write(ends: &Ends<'_>) -> Option<Finding> {
    let to = ends.written()?;
    let how = match ends.copy.durability() {
        Durability::OpenDsync => "O_DSYNC",
        Durability::OpenSync => "O_SYNC",
        Durability::FsyncEvery(_) => "fsync after each",
        _ => return None,
    };
    let writes = ends.writes().filter(|writes| *writes >= FLUSH_WRITES)?;
    Some(finding(
        flush_bound::RULE.id,
        Weight::Note,
        None,
        format!(
            "Flush-bound: each of {writes} writes of {} waits for {}; this is the latency of a durable write, not bandwidth.",
            ends.copy.output_block,
            device(to)
        ),
        vec![Exhibit::new("flushes", how, "the line")],
        None,
    ))
}

/// T13: one option with two meanings.
fn old_busybox(ends: &Ends<'_>) -> Option<Finding> {
    let several = ends.writes().is_none_or(|writes| writes > 1);
    (ends.origin.dialect == "dd" && ends.copy.flush.fsync && several && ends.written().is_some()).then(|| {
        finding(
            "T13",
            Weight::Note,
            None,
            "conv=fsync is one flush at the end, but in BusyBox 1.11 to 1.26 one after each block: there the figure falls with the block.",
            vec![Exhibit::new("conv", "fsync", "the line")],
            None,
        )
    })
}
