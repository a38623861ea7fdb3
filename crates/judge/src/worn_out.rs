//! T47: the device says that it is worn.

use super::facts::shown;
use super::measure::FlowView;
use super::threshold::CARD_LIFE;
use super::{Rule, RuleJudge, note};
use assay_record::claim::{ExhibitOf, ExhibitValue, PlaceClaim};
use assay_record::evidence::BlockLayer;
use assay_record::record::{Finding, TrapId};

/// Nine tenths of its life used, or its reserve of blocks going: it may be slow because of that, and
/// fail soon.
pub const RULE: Rule = Rule {
    id: TrapId::T47,
    title: "Worn out",
    happens: "A worn card is slow and close to failing.",
    seen_by: "life_time and pre_eol_info of the card.",
    said_when: "Life register at {CARD_LIFE} of 11 or more, or a pre-EOL state of warning or urgent: a note.",
    try_it: "`cat /sys/block/mmcblk0/device/life_time` of an old eMMC.",
    answer: "Says it beside the figure.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    if !flow_view.on_devices() {
        return None;
    }
    flow_view.subject.stack.iter().find_map(worn)
}

/// A card that says so itself: said before a run and after it.
pub(super) fn worn(layer: &BlockLayer) -> Option<Finding> {
    let card = layer.hardware.card.as_ref()?;
    let old = card.life.is_some_and(|tenths| tenths >= CARD_LIFE);
    // 1 is normal, 2 a warning, 3 urgent.
    let ending = card.reserve.is_some_and(|state| state >= 2);
    if !old && !ending {
        return None;
    }
    let shown = |of, value: Option<u32>, file| {
        shown(layer, of, value.map_or(ExhibitValue::NotKept, ExhibitValue::from), file)
    };
    Some(note(
        RULE.id,
        PlaceClaim::WornOut { device: layer.name.clone() },
        vec![
            shown(ExhibitOf::LifeUsed, card.life, "device/life_time"),
            shown(ExhibitOf::ReserveOf, card.reserve, "device/pre_eol_info"),
        ],
        None,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_record::record::{TrapId, Trust};

    #[test]
    fn a_card_near_its_end_is_named() {
        let mut bench = DoctoredRecord::write_flushed();
        let mut named = |tenths, pre_eol| {
            bench.worn(tenths, pre_eol);
            let found = verdict(&bench.record);
            assert_eq!(found.trust, Trust::Sound);
            found.findings.iter().any(|f| f.trap == TrapId::T47)
        };
        assert!(!named(Some(9), Some(1)));
        assert!(named(Some(10), Some(1)));
        assert!(named(None, Some(2)));
    }
}
