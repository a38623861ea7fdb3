//! T41: a layer that encrypts, or writes each byte more than once.

use super::measure::FlowView;
use super::{Rule, RuleJudge, note};
use assay_record::claim::{ExhibitOf, ExhibitSource, LayerClaim, LayerWork};
use assay_record::evidence::{BlockLayer, LayerKind};
use assay_record::record::{Exhibit, Finding, TrapId};

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
    let (layer, work, exhibit) = flow_view.subject.stack.iter().find_map(|layer| {
        let (work, exhibit) = doing(layer)?;
        Some((layer, work, exhibit))
    })?;
    Some(note(
        RULE.id,
        LayerClaim::Covers { device: layer.name.clone(), work },
        vec![exhibit],
        None,
    ))
}

/// What a layer does to the bytes, and where that is read.
fn doing(layer: &BlockLayer) -> Option<(LayerWork, Exhibit)> {
    let shown = |of: fn(String) -> ExhibitOf, value: &str, file: &str| {
        Exhibit::new(of(layer.name.clone()), value, ExhibitSource::block(&layer.name, file))
    };
    match &layer.kind {
        LayerKind::Mapper { uuid } if uuid.starts_with("CRYPT-") => {
            Some((LayerWork::Encrypts, shown(ExhibitOf::KindOf, uuid, "dm/uuid")))
        }
        LayerKind::Raid { level } => {
            let work = match level.as_str() {
                "raid1" | "raid10" => LayerWork::Mirrors,
                "raid4" | "raid5" | "raid6" => LayerWork::KeepsParity,
                _ => return None,
            };
            Some((work, shown(ExhibitOf::LevelOf, level, "md/level")))
        }
        _ => None,
    }
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
