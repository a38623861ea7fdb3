//! T19: O_DIRECT that went through memory all the same.

use super::measure::FlowView;
use super::threshold::{REACHED, UNTOUCHED};
use super::words::{of, share};
use super::{Rule, RuleJudge, advice, finding, note};
use assay_plan::unit::Bytes;
use assay_record::claim::{ExhibitOf, ExhibitValue, MemoryClaim};
use assay_record::record::{Exhibit, Finding, FindingWeight, MeasuredSubject, TrapId};

/// Direct calls whose bytes were not at the device that the path names when the clock stopped.
pub const RULE: Rule = Rule {
    id: TrapId::T19,
    title: "O_DIRECT that is not direct",
    happens: "The file system accepts O_DIRECT but still goes through the page cache.",
    seen_by: "statx STATX_DIOALIGN, a deliberately misaligned direct read of written data, and bytes at the device when the clock stopped.",
    said_when: "Less than {REACHED} of the bytes of direct calls had reached the device, or the kernel says that there is no direct I/O and did not flush: wrong; deferred, mixed or memory. A note where all of them were at the device all the same, and none in memory.",
    try_it: "`assay dd ... oflag=direct` on ext4 with `data=journal`, on btrfs, or on FUSE.",
    answer: "Own verbs use direct I/O only where it is real, and say so where it is not.",
    judge: RuleJudge::Flow(judge),
};

/// Direct calls, and the bytes were not at the device that the path names. What lies below that
/// device may have a cache of its own; that is another trap.
pub(super) fn applies(flow_view: &FlowView<'_>) -> Option<f64> {
    if !flow_view.direct() || !flow_view.on_devices() {
        return None;
    }
    let reach = flow_view.top()?.reach(flow_view.direction())?;
    let by_layout = flow_view.reads() && flow_view.layout_explains(reach);
    (reach < REACHED && !by_layout).then_some(reach)
}

fn not_refused() -> Exhibit {
    Exhibit::new(ExhibitOf::MisalignedRead, ExhibitValue::AnsweredNotRefused, "pread()")
}

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    let Some(reach) = applies(flow_view) else {
        return said_so(flow_view).or_else(|| last_block(flow_view));
    };
    let level = flow_view.top()?;
    let mut because = vec![level.exhibit(flow_view.direction())];
    because.extend(level.exhibit_settled(flow_view.direction()).filter(|_| flow_view.writes()));
    if let Some(direct) = flow_view.subject.direct.seen() {
        because.extend(flow_view.facts().not_direct());
        if direct.misaligned_refused == Some(false) {
            because.push(not_refused());
        }
    }
    let measures = match (flow_view.reads(), reach < UNTOUCHED) {
        (true, true) => MeasuredSubject::Memory,
        (true, false) => MeasuredSubject::Mixed,
        (false, _) => MeasuredSubject::Deferred,
    };
    let next = if flow_view.reads() { advice::cold(flow_view) } else { advice::flush(flow_view) };
    Some(finding(
        RULE.id,
        FindingWeight::Refute,
        Some(measures),
        MemoryClaim::NotDirectAtStop {
            reached: (reach > 0.0).then(|| share(reach)),
            device: level.name(),
        },
        because,
        next,
    ))
}

/// The kernel says by itself that there is no direct I/O on this path, though as many bytes as were
/// asked for passed the device: they went through memory first.
fn said_so(flow_view: &FlowView<'_>) -> Option<Finding> {
    let direct = flow_view.subject.direct.seen()?;
    if !flow_view.direct()
        || !flow_view.on_devices()
        || !flow_view.writes()
        || direct.real() != Some(false)
    {
        return None;
    }
    if let Some(found) = written_back(flow_view) {
        return Some(found);
    }
    // Flushed inside the timing, it is a true figure of another kind of write.
    let (weight, measures) = if flow_view.flow.durability.durable() {
        (FindingWeight::Note, None)
    } else {
        (FindingWeight::Refute, Some(MeasuredSubject::Deferred))
    };
    let exhibit = flow_view.facts().not_direct().unwrap_or_else(not_refused);
    let claim = MemoryClaim::NotDirect { journal: None };
    Some(finding(RULE.id, weight, measures, claim, vec![exhibit], advice::flush(flow_view)))
}

/// What the file system takes through the page cache it may write back before the call returns, as btrfs does where it keeps
/// checksums (6.15 and later): all of it was at the device, and nothing in memory. With its data in the journal ext4 has
/// yet to write them to their places.
fn written_back(flow_view: &FlowView<'_>) -> Option<Finding> {
    let level = flow_view.top()?;
    let arrived = level.reach(flow_view.direction()).is_some_and(|reach| reach >= REACHED);
    let left = flow_view.unwritten_pages()?;
    let ext4 = flow_view.subject.mount.seen().is_some_and(|mount| mount.kind == "ext4");
    if !arrived || ext4 || left.0 as f64 > flow_view.flow.bytes.0 as f64 * (1.0 - REACHED) {
        return None;
    }
    let exhibit = flow_view.facts().not_direct().unwrap_or_else(not_refused);
    let because = vec![level.exhibit(flow_view.direction()), exhibit];
    Some(note(RULE.id, MemoryClaim::WrittenBackAtOnce { device: level.name() }, because, None))
}

/// A block that was too short for direct I/O went through the page cache, and whatever came then; it was flushed.
fn last_block(flow_view: &FlowView<'_>) -> Option<Finding> {
    let flow = flow_view.flow;
    if flow.buffered == Bytes::ZERO {
        return None;
    }
    let because =
        Exhibit::new(ExhibitOf::WrittenThroughCache, of(flow.buffered, flow.bytes), "write()");
    let claim = MemoryClaim::LastBlockNotDirect {
        bytes: flow.buffered,
        block: flow.block,
        flushed: flow.durability.durable(),
    };
    Some(note(RULE.id, claim, vec![because], None))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_record::record::{MeasuredSubject, TrapId, Trust};

    #[test]
    fn direct_that_goes_through_memory_is_said_once() {
        let mut bench = DoctoredRecord::write_without_flush();
        bench.direct(false);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, MeasuredSubject::Deferred));
        let traps: Vec<_> = found.findings.iter().map(|f| f.trap).collect();
        assert!(traps.contains(&TrapId::T19) && !traps.contains(&TrapId::T02), "{traps:?}");
        assert!(found.corrected.is_some());
    }

    #[test]
    fn direct_that_is_direct_is_sound() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
