//! T47: the device says that it is worn.

use super::measure::Case;
use super::threshold::CARD_LIFE;
use super::{Judge, Rule, finding};
use crate::record::{Exhibit, Finding, Next, Weight};

/// Nine tenths of its life used, or its reserve of blocks going: it may be slow because of that, and
/// fail soon.
pub const RULE: Rule = Rule {
    id: "T47",
    title: "Worn out",
    happens: "A worn card is slow, and about to fail.",
    seen_by: "life_time and pre_eol_info of the card.",
    said_when: "Register {CARD_LIFE} of 11 or more, or a reserve that is called urgent or near its end: a note.",
    try_it: "`cat /sys/block/mmcblk0/device/life_time` of an old eMMC.",
    answer: "Says it beside the figure.",
    judge: Judge::Flow(judge),
};

fn judge(case: &Case<'_>) -> Option<Finding> {
    if !case.on_devices() {
        return None;
    }
    let mut worn = case.subject.stack.iter().filter_map(|layer| {
        let card = layer.hardware.card.as_ref()?;
        let old = card.life.is_some_and(|tenths| tenths >= CARD_LIFE);
        // 1 is normal, 2 a warning, 3 urgent.
        let ending = card.reserve.is_some_and(|state| state >= 2);
        (old || ending).then_some((layer, card))
    });
    let (layer, card) = worn.next()?;
    let file = |name: &str| format!("/sys/block/{}/device/{name}", layer.name);
    let register =
        |value: Option<u32>| value.map_or("not kept".into(), |value| format!("{value:#04x}"));
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!(
            "{} is worn out by its own account: it may be slow for that, and fail soon.",
            layer.name
        ),
        vec![
            Exhibit::new(
                format!("life used of {}, in tenths", layer.name),
                register(card.life),
                file("life_time"),
            ),
            Exhibit::new(
                format!("reserve of {}", layer.name),
                register(card.reserve),
                file("pre_eol_info"),
            ),
        ],
        Some(Next::Do("save what is on it, and replace it".into())),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::Trust;

    #[test]
    fn a_card_near_its_end_is_named() {
        let mut bench = Bench::write_flushed();
        let mut named = |tenths, pre_eol| {
            bench.worn(tenths, pre_eol);
            let found = verdict(&bench.record);
            assert_eq!(found.trust, Trust::Sound);
            found.findings.iter().any(|f| f.trap.0 == "T47")
        };
        assert!(!named(Some(9), Some(1)));
        assert!(named(Some(10), Some(1)));
        assert!(named(None, Some(2)));
    }
}
