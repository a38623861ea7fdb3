//! T25: a layer stored or read fewer bytes than were moved: compression, zeros left out.

use super::measure::{FlowView, all_flushed, lost_in_memory};
use super::threshold::{REACHED, RESIDENT, STORED};
use super::words::share;
use super::{Rule, RuleJudge, advice, finding, overwritten_in_memory};
use assay_plan::plan::CopyWork;
use assay_record::claim::{CopiedData, ExhibitOf, ExhibitValue, LayerClaim};
use assay_record::record::{Exhibit, Finding, FindingWeight, MeasuredSubject, TrapId};

/// Everything was flushed, and yet the device took less than was written; or compressed extents
/// made it read less.
pub const RULE: Rule = Rule {
    id: TrapId::T25,
    title: "Fewer bytes reached the device",
    happens: "A layer compresses, deduplicates or drops zeros, so the device gets less than was written.",
    seen_by: "Bytes written to the lowest device after the flush; FIEMAP's ENCODED flag before a read.",
    said_when: "After a complete flush less than {STORED} arrived: wrong, layer. Less than {REACHED}: doubtful.",
    try_it: "`dd if=/dev/zero` to btrfs mounted with `compress=zstd`.",
    answer: "Own data cannot be compressed or deduplicated unless the plan says by how much.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    let explained = flow_view.shared_share().is_some() || lost_in_memory(flow_view);
    if !flow_view.on_devices() || explained {
        return None;
    }
    let (reach, level) = flow_view.reach()?;
    if reach >= REACHED {
        return None;
    }
    if flow_view.reads() {
        let encoded = flow_view.encoded_share();
        if encoded <= RESIDENT || flow_view.empty_share() > RESIDENT || flow_view.mostly_resident()
        {
            return None;
        }
        return Some(finding(
            RULE.id,
            FindingWeight::Refute,
            Some(MeasuredSubject::Layer),
            LayerClaim::ReadEncoded { part: share(encoded), device: level.name() },
            vec![level.exhibit(flow_view.direction())],
            advice::own_data(flow_view),
        ));
    }
    let settled = level.reach_settled(flow_view.direction()).unwrap_or(reach);
    if !all_flushed(flow_view, level)
        || settled >= REACHED
        || overwritten_in_memory::explains(flow_view)
    {
        return None;
    }
    let weight = if settled < STORED { FindingWeight::Refute } else { FindingWeight::Doubt };
    let mut because = vec![level.exhibit(flow_view.direction())];
    because.extend(level.exhibit_settled(flow_view.direction()));
    if let Some(mount) = flow_view.subject.mount.seen() {
        because.push(Exhibit::new(
            ExhibitOf::Mount,
            ExhibitValue::MountOf { kind: mount.kind.clone(), options: mount.options.clone() },
            "/proc/self/mountinfo",
        ));
    }
    Some(finding(
        RULE.id,
        weight,
        Some(MeasuredSubject::Layer),
        LayerClaim::DataReduced { device: level.name(), reached: share(settled) },
        because,
        advice::own_data(flow_view),
    ))
}

/// What a copy moves.
pub(super) fn copied(copy: &CopyWork) -> CopiedData {
    match copy.from.path.as_deref().and_then(std::path::Path::to_str) {
        Some("/dev/zero") => CopiedData::Zeros,
        Some("/dev/urandom" | "/dev/random") => CopiedData::Random,
        _ => CopiedData::Own,
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::{Bytes, Nanos};
    use assay_record::record::{MeasuredSubject, TrapId, Trust};

    #[test]
    fn fewer_bytes_after_a_flush_are_a_layer_not_a_delay() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.written(Bytes::mib(1), Bytes::mib(1));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, MeasuredSubject::Layer));
        assert!(found.findings.iter().all(|f| f.trap != TrapId::T02), "{found:?}");
    }

    #[test]
    fn fewer_bytes_after_a_flush_that_was_only_watched_are_both() {
        let mut bench = DoctoredRecord::write_without_flush();
        bench.settled_at(Nanos::millis(500), Bytes::mib(1), true);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, MeasuredSubject::Layer));
        let traps: Vec<_> = found.findings.iter().map(|f| f.trap).collect();
        assert_eq!(traps, [TrapId::T25, TrapId::T02]);
        assert_eq!(found.corrected, None);
    }
}
