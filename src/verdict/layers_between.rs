//! T41: a layer that encrypts, or writes each byte more than once.

use super::measure::Case;
use super::{Judge, Rule, finding};
use crate::evidence::{Layer, LayerKind};
use crate::record::{Exhibit, Finding, Weight};

/// Encryption, parity or mirrors below the path: the figure is of them and the drives together.
pub const RULE: Rule = Rule {
    id: "T41",
    title: "Encryption, parity, mirrors",
    happens: "A layer encrypts, or writes each byte more than once, and the figure is of layer and drives together.",
    seen_by: "The device stack: dm/uuid and md/level.",
    said_when: "A layer of that kind lies below the path: a note; what mirrors write twice is not counted as somebody else's.",
    try_it: "Measure a path on LUKS or on a RAID.",
    answer: "Judges at the lowest devices, level by level.",
    judge: Judge::Flow(judge),
};

fn judge(case: &Case<'_>) -> Option<Finding> {
    if !case.on_devices() {
        return None;
    }
    let (layer, does, exhibit) = case.subject.stack.iter().find_map(|layer| {
        let (does, exhibit) = doing(layer)?;
        Some((layer, does, exhibit))
    })?;
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!("The figure is of {} and what lies below it together: {does}.", layer.name),
        vec![exhibit],
        None,
    ))
}

/// What a layer does to the bytes, and where that is read.
fn doing(layer: &Layer) -> Option<(&'static str, Exhibit)> {
    let shown = |what: &str, value: &str, file: &str| {
        Exhibit::new(
            format!("{what} of {}", layer.name),
            value,
            format!("/sys/block/{}/{file}", layer.name),
        )
    };
    match &layer.kind {
        LayerKind::Mapper { uuid } if uuid.starts_with("CRYPT-") => {
            Some(("it encrypts", shown("kind", uuid, "dm/uuid")))
        }
        LayerKind::Raid { level } => {
            let does = match level.as_str() {
                "raid1" | "raid10" => "it writes each byte to several drives",
                "raid4" | "raid5" | "raid6" => "it keeps parity, for which small writes read first",
                _ => return None,
            };
            Some((does, shown("level", level, "md/level")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::evidence::LayerKind;

    #[test]
    fn what_a_layer_does_is_said() {
        let mut bench = Bench::write_flushed();
        let mut claim = |kind: LayerKind| {
            bench.layer_kind(kind);
            let found = verdict(&bench.record).findings;
            found.into_iter().find(|f| f.trap.0 == "T41").map(|f| f.claim)
        };
        let crypt = claim(LayerKind::Mapper { uuid: "CRYPT-LUKS2-77-x".into() });
        assert!(crypt.is_some_and(|claim| claim.ends_with("together: it encrypts.")));
        assert_eq!(claim(LayerKind::Mapper { uuid: "LVM-77".into() }), None);
        assert!(claim(LayerKind::Raid { level: "raid5".into() }).is_some());
        assert_eq!(claim(LayerKind::Raid { level: "raid0".into() }), None);
    }
}
