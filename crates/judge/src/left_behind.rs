//! What is said of work that was left behind when the clock stopped, and what shows it.

use super::measure::{DeferredWork, FlowView};
use super::threshold::UNTOUCHED;
use super::words::{of, operand, share};
use super::{advice, finding};
use assay_plan::unit::Bytes;
use assay_record::claim::{Claim, FlushClaim, LeftWrites};
use assay_record::record::{
    Exhibit, ExhibitValue, Finding, FindingWeight, MeasuredSubject, NextStep, Remedy, TrapId,
};

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

/// How it is mounted, which shows whether flushes are passed on.
fn mount_options(path: &str) -> NextStep {
    NextStep::new(Remedy::Inspect, format!("findmnt -T {}", operand(path)))
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
            format!("dirty pages of {} when the clock stopped", flow_view.subject.path),
            of(pages, flow_view.flow.bytes),
            "cachestat()",
        ));
    } else if let Some(memory) = flow_view.phase.evidence.stop.memory.seen() {
        let all = Bytes(memory.dirty.0.saturating_add(memory.writeback.0));
        because.push(Exhibit::new(
            "dirty pages of the machine when the clock stopped",
            all,
            "/proc/meminfo",
        ));
    }
    because.extend(left.level.exhibit_settled(flow_view.direction()));
    if let Some(settle) = &flow_view.phase.evidence.settle {
        let how = if settle.complete { "" } else { ", not finished" };
        because.push(Exhibit::new(
            "flush after the clock stopped",
            ExhibitValue::worded(settle.time, format!("{}{how}", settle.time)),
            "fsync(), syncfs()",
        ));
    }
    let weight = if left.certain { FindingWeight::Refute } else { FindingWeight::Doubt };
    let next = if flow_view.flow.durability.durable() {
        // A flush was asked for and did not bring them: a mount option (nobarrier) or a cache below it.
        Some(mount_options(&flow_view.subject.path))
    } else {
        advice::flush(flow_view)
    };
    finding(trap, weight, Some(MeasuredSubject::Deferred), claim, because, next)
}
