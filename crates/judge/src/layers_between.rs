//! T41: a layer that encrypts, or writes each byte more than once; several devices of which some do nothing.

use super::facts::works_on_bytes;
use super::ledger::members;
use super::measure::{FlowView, ratio};
use super::words::share;
use super::{Rule, RuleJudge, note};
use assay_plan::unit::{Bytes, MIB};
use assay_record::claim::{LayerClaim, Values};
use assay_record::evidence::Direction;
use assay_record::record::{Finding, MemberWork, TrapId};

/// Encryption, parity or mirrors below the path: the figure is of them and the drives together.
pub const RULE: Rule = Rule {
    id: TrapId::T41,
    title: "Encryption, parity, mirrors, members",
    happens: "A layer encrypts, or writes each byte more than once; the figure covers the layer and the drives together. Of several drives side by side only some may work.",
    seen_by: "The device stack: dm/uuid and md/level; /sys/block/*/stat of each member.",
    said_when: "Such a layer lies below the path: a note; what mirrors write twice does not count as traffic of others. A member that moved less than a tenth of its share: said first.",
    try_it: "Measure a path on LUKS or RAID.",
    answer: "Judges at the lowest devices, level by level.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    if !flow_view.on_devices() {
        return None;
    }
    if let Some(few) = few_members(flow_view) {
        return Some(few);
    }
    let (layer, (work, exhibit)) = flow_view.facts().find(works_on_bytes)?;
    Some(note(
        RULE.id,
        LayerClaim::Covers { device: layer.name.clone(), work },
        vec![exhibit],
        None,
    ))
}

/// A member that moved less than this part of an even share did not take part.
const IDLE_PART: f64 = 0.1;

/// Bytes for each member from which on they would be shared evenly: several of the largest usual chunks of a stripe.
const EACH: u64 = 4 * MIB;

/// Devices side by side of which some did not take part.
fn few_members(flow_view: &FlowView<'_>) -> Option<Finding> {
    let members = members(flow_view);
    let moved = |member: &MemberWork| match flow_view.direction() {
        Direction::Read => member.read,
        Direction::Write => member.written,
    };
    let total: Bytes = members.iter().map(moved).sum();
    let even = total.0 / members.len().max(1) as u64;
    let works = |member: &&MemberWork| moved(member).0 as f64 >= even as f64 * IDLE_PART;
    let busy: Vec<&MemberWork> = members.iter().filter(works).collect();
    if busy.len() == members.len() || even < EACH {
        return None;
    }
    let by_them: Bytes = busy.iter().map(|member| moved(member)).sum();
    let claim = LayerClaim::FewMembers {
        devices: Values(busy.iter().map(|member| member.device.clone()).collect()),
        few: busy.len(),
        all: members.len(),
        part: share(ratio(by_them.0, total.0.max(1))),
    };
    Some(note(RULE.id, claim, vec![], None))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::Bytes;
    use assay_record::evidence::LayerKind;
    use assay_record::record::{Finding, TrapId};

    #[test]
    fn members_that_did_nothing_are_told_first() {
        let told = |written: [u64; 4]| {
            let mut bench = DoctoredRecord::write_flushed();
            bench.side_by_side(&written.map(Bytes::mib));
            let found = verdict(&bench.record);
            found.findings.iter().find(|f| f.trap == TrapId::T41).map(Finding::text)
        };
        assert_eq!(
            told([0, 100, 0, 0]).as_deref(),
            Some("Only 1 of 4 devices side by side moved 100 % of the bytes: loop11.")
        );
        assert_eq!(
            told([50, 1, 49, 0]).as_deref(),
            Some("Only 2 of 4 devices side by side moved 99 % of the bytes: loop10, loop12.")
        );
        assert_eq!(told([25, 25, 10, 40]), None);
        // Of so few bytes one stripe after another is full.
        assert_eq!(told([10, 0, 0, 0]), None);
    }

    #[test]
    fn what_a_layer_does_is_said() {
        let mut bench = DoctoredRecord::write_flushed();
        let mut claim = |kind: LayerKind| {
            bench.layer_kind(kind);
            let found = verdict(&bench.record).findings;
            found.into_iter().find(|f| f.trap == TrapId::T41).map(|f| f.text())
        };
        let crypt = claim(LayerKind::Mapper { uuid: "CRYPT-LUKS2-77-x".into() });
        assert!(crypt.is_some_and(|claim| claim.ends_with("below it: it encrypts.")));
        assert_eq!(claim(LayerKind::Mapper { uuid: "LVM-77".into() }), None);
        assert!(claim(LayerKind::Raid { level: "raid5".into() }).is_some());
        assert_eq!(claim(LayerKind::Raid { level: "raid0".into() }), None);
    }
}
