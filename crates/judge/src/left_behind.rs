//! What is said of work that was left behind when the clock stopped, and what shows it.

use super::measure::{DeferredWork, FlowView};
use super::threshold::UNTOUCHED;
use super::words::{of, share};
use super::{advice, command, finding};
use assay_plan::unit::Bytes;
use assay_record::claim::{Claim, ExhibitOf, ExhibitValue, FlushClaim, LeftWrites};
use assay_record::record::{Exhibit, Finding, FindingWeight, MeasuredSubject, TrapId};

/// What is said of work that was left behind, after a close of its file or not.
pub(super) fn claim(
    flow_view: &FlowView<'_>,
    left: &DeferredWork<'_, '_>,
    closed: bool,
) -> FlushClaim {
    FlushClaim::LeftBehind { left: writes(flow_view, left), closed }
}

fn writes(flow_view: &FlowView<'_>, left: &DeferredWork<'_, '_>) -> LeftWrites {
    let (device, reached) = (left.level.name(), share(left.reach));
    if flow_view.other_end_read_from_device() && left.reach < UNTOUCHED {
        return LeftWrites::NearlyAllOfCopy { reached, device };
    }
    match left.reach {
        0.0 => LeftWrites::All { device },
        r if r < UNTOUCHED => LeftWrites::NearlyAll { reached, device },
        r if r < 1.0 => LeftWrites::Some { reached, device },
        _ => LeftWrites::SomePages,
    }
}

/// The finding, with all readings that show it.
pub(super) fn deferred(
    trap: TrapId,
    flow_view: &FlowView<'_>,
    left: &DeferredWork<'_, '_>,
    claim: impl Into<Claim>,
) -> Finding {
    let mut because = vec![left.level.exhibit(flow_view.direction())];
    if let Some(pages) = flow_view.unwritten_pages() {
        because.push(Exhibit::new(
            ExhibitOf::DirtyOfFile(flow_view.subject.path.clone()),
            of(pages, flow_view.flow.bytes),
            "cachestat()",
        ));
    } else if let Some(memory) = flow_view.phase.evidence.stop.memory.seen() {
        let all = Bytes(memory.dirty.0.saturating_add(memory.writeback.0));
        because.push(Exhibit::new(ExhibitOf::DirtyAtStop, all, "/proc/meminfo"));
    }
    because.extend(left.level.exhibit_settled(flow_view.direction()));
    if let Some(settle) = &flow_view.phase.evidence.settle {
        because.push(Exhibit::new(
            ExhibitOf::FlushAfterStop,
            ExhibitValue::FlushTime { time: settle.time, finished: settle.complete },
            "fsync(), syncfs()",
        ));
    }
    let weight = if left.certain { FindingWeight::Refute } else { FindingWeight::Doubt };
    let next = if flow_view.flow.durability.durable() {
        // A flush was asked for and did not bring them: a mount option (nobarrier) or a cache below it.
        Some(command::look("findmnt -T", &flow_view.subject.path))
    } else {
        advice::flush(flow_view)
    };
    finding(trap, weight, Some(MeasuredSubject::Deferred), claim, because, next)
}
