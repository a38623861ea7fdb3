//! T41: a layer that encrypts, or writes each byte more than once.

use super::facts::works_on_bytes;
use super::measure::FlowView;
use super::{Rule, RuleJudge, note};
use assay_record::claim::LayerClaim;
use assay_record::record::{Finding, TrapId};

/// Encryption, parity or mirrors below the path: the figure is of them and the drives together.
pub const RULE: Rule = Rule {
    id: TrapId::T41,
    title: "Encryption, parity, mirrors",
    happens: "A layer encrypts, or writes each byte more than once; the figure covers the layer and the drives together.",
    seen_by: "The device stack: dm/uuid and md/level.",
    said_when: "Such a layer lies below the path: a note; what mirrors write twice does not count as traffic of others.",
    try_it: "Measure a path on LUKS or RAID.",
    answer: "Judges at the lowest devices, level by level.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    if !flow_view.on_devices() {
        return None;
    }
    let (layer, (work, exhibit)) = flow_view.facts().find(works_on_bytes)?;
    Some(note(
        RULE.id,
        LayerClaim::Covers { device: layer.name.clone(), work },
        vec![exhibit],
        None,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_record::evidence::LayerKind;
    use assay_record::record::TrapId;

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
