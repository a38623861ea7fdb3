//! T46: the link to the drive is the limit, or slower than it could be.

use super::measure::{Case, Level};
use super::threshold::{LINK_NEAR, SHORT, SMALL_BYTES};
use super::words::pace;
use super::{Judge, Rule, finding};
use crate::evidence::{Layer, Link};
use crate::record::{Exhibit, Finding, Measures, Next, Weight};

/// The device moved nearly what its link can carry; or the link was negotiated below what both ends
/// are able to.
pub const RULE: Rule = Rule {
    id: "T46",
    title: "The bus is the limit",
    happens: "The link to the drive is slower than the drive, or slower than it could be.",
    seen_by: "USB speed, SATA sata_spd, PCIe current_link_speed and width, a card's ios in debugfs; bytes at the device.",
    said_when: "The device moved {LINK_NEAR} or more of what the link can carry: sound, limited, and the link is named. A link below what it could be: a note.",
    try_it: "A fast SSD in a USB 2 port.",
    answer: "Says which link it was, and in which file that is read.",
    judge: Judge::Flow(judge),
};

fn judge(case: &Case<'_>) -> Option<Finding> {
    if !case.on_devices() {
        return None;
    }
    let linked = |level: &'_ Level<'_>| -> Option<(String, Link)> {
        let layer: &Layer = level.layers.iter().find(|layer| layer.hardware.link.is_some())?;
        Some((layer.name.clone(), layer.hardware.link.clone()?))
    };
    let (level, (name, link)) =
        case.levels.iter().find_map(|level| Some((level, linked(level)?)))?;
    at_its_limit(case, level, &name, &link).or_else(|| below_itself(&name, &link))
}

fn at_its_limit(case: &Case<'_>, level: &Level<'_>, name: &str, link: &Link) -> Option<Finding> {
    // Drives side by side have a link each.
    let alone = level.readable() && level.layers.len() == 1;
    let moved = super::measure::bytes(&level.timed, case.direction());
    if !alone || moved < SMALL_BYTES.0 || case.time() < SHORT {
        return None;
    }
    let rate = moved as f64 / case.time().as_secs();
    if rate < link.payload as f64 * LINK_NEAR {
        return None;
    }
    Some(finding(
        RULE.id,
        Weight::Note,
        Some(Measures::Limited),
        format!(
            "This is what the link delivers: {} ({}) can carry {} to {name}.",
            link.kind.name(),
            link.speed,
            pace(link.payload as f64)
        ),
        vec![
            exhibit(name, link),
            Exhibit::new(format!("moved by {name}"), pace(rate), level.source()),
        ],
        Some(Next::Do("connect the drive by a faster link to see what it can do itself".into())),
    ))
}

fn below_itself(name: &str, link: &Link) -> Option<Finding> {
    let able = link.able.as_ref()?;
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!("The link to {name} runs at {}, and could run at {able}.", link.speed),
        vec![exhibit(name, link)],
        Some(Next::Do("look at cable, slot and power saving".into())),
    ))
}

fn exhibit(name: &str, link: &Link) -> Exhibit {
    Exhibit::new(
        format!("{} link to {name}", link.kind.name()),
        link.speed.clone(),
        link.file.clone(),
    )
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::{Measures, Trust};

    #[test]
    fn a_rate_at_the_link_is_the_links() {
        // The card does 4.17 MB per second.
        let mut bench = Bench::write_flushed();
        bench.linked(10_000_000, None);
        assert_eq!(verdict(&bench.record).measures, Measures::Device);
        bench.linked(4_500_000, None);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, Measures::Limited));
        assert!(found.summary.contains("USB (480 Mbit/s) can carry 4.50 MB per second to loop3"));
    }

    #[test]
    fn a_link_below_itself_is_good_to_know() {
        let mut bench = Bench::write_flushed();
        bench.linked(10_000_000, Some("5000 Mbit/s"));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, Measures::Device));
        assert!(found.findings.iter().any(|f| f.claim.ends_with("could run at 5000 Mbit/s.")));
    }
}
