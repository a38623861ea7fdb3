//! What is said of work that was left behind when the clock stopped, and what shows it.

use super::measure::{DeferredWork, FlowView};
use super::threshold::UNTOUCHED;
use super::words::{of, operand, share};
use super::{advice, finding};
use crate::record::{
    Exhibit, ExhibitValue, Finding, FindingWeight, MeasuredSubject, NextStep, Remedy, TrapId,
};
use crate::unit::Bytes;

/// What is said of work that was left behind.
pub(super) fn claim(flow_view: &FlowView<'_>, left: &DeferredWork<'_, '_>) -> String {
    let name = left.level.name();
    if flow_view.other_end_read_from_device() && left.reach < UNTOUCHED {
        return format!(
            "Writes were left in memory: the source was read, but almost nothing ({}) had reached {name} when the clock stopped.",
            share(left.reach)
        );
    }
    match left.reach {
        0.0 => {
            format!(
                "This is the speed of memory: nothing had reached {name} when the clock stopped."
            )
        }
        r if r < UNTOUCHED => {
            format!(
                "This is the speed of memory: almost nothing ({}) had reached {name} when the clock stopped.",
                share(r)
            )
        }
        r if r < 1.0 => {
            format!(
                "Writes were left in memory: {} of the bytes had reached {name} when the clock stopped.",
                share(r)
            )
        }
        _ => "Writes were left in memory: part of the file was not yet written back when the clock stopped."
            .into(),
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
    claim: &str,
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
