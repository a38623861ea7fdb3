//! T46: the link to the drive is the limit, or slower than it could be.

use super::measure::{Case, Level};
use super::threshold::{LINK_NEAR, LINK_NEAR_USB_2, SHORT, SMALL_BYTES};
use super::words::pace;
use super::{Judge, Rule, finding};
use crate::evidence::{Layer, Link, LinkKind};
use crate::record::{Exhibit, Finding, Measures, Next, Weight};

/// The device moved nearly what its link can carry; or the link was negotiated below what both ends
/// are able to.
pub const RULE: Rule = Rule {
    id: "T46",
    title: "The bus is the limit",
    happens: "The link to the drive is slower than the drive, or slower than it could be.",
    seen_by: "USB speed, SATA sata_spd, PCIe current_link_speed and width, a card's ios in debugfs; bytes at the device.",
    said_when: "The device moved {LINK_NEAR} or more of what its slowest link can carry (USB 2: {LINK_NEAR_USB_2}): sound, limited, and the link is named. A link below what it could be: a note.",
    try_it: "A fast SSD in a USB 2 port.",
    answer: "Says which link it was, and in which file that is read.",
    judge: Judge::Flow(judge),
};

fn judge(case: &Case<'_>) -> Option<Finding> {
    if !case.on_devices() {
        return None;
    }
    let (level, layer) = case.levels.iter().find_map(|level| {
        let layer = level.layers.iter().find(|layer| !layer.hardware.links.is_empty())?;
        Some((level, *layer))
    })?;
    at_its_limit(case, level, layer).or_else(|| below_itself(layer))
}

/// The link that carries least, and how much that is.
fn slowest(layer: &Layer) -> Option<(&Link, u64)> {
    let told = layer.hardware.links.iter().filter_map(|link| Some((link, link.ceiling?)));
    told.min_by_key(|(_, ceiling)| *ceiling)
}

fn at_its_limit(case: &Case<'_>, level: &Level<'_>, layer: &Layer) -> Option<Finding> {
    let (link, ceiling) = slowest(layer)?;
    // Drives side by side have a link each.
    let alone = level.readable() && level.layers.len() == 1;
    let moved = super::measure::bytes(&level.timed, case.direction());
    if !alone || moved < SMALL_BYTES.0 || case.time() < SHORT {
        return None;
    }
    let rate = moved as f64 / case.time().as_secs();
    let usb_2 = link.kind == LinkKind::Usb && ceiling <= 60_000_000;
    let near = if usb_2 { LINK_NEAR_USB_2 } else { LINK_NEAR };
    if rate < ceiling as f64 * near {
        return None;
    }
    Some(finding(
        RULE.id,
        Weight::Note,
        Some(Measures::Limited),
        format!(
            "This is what the link of {} delivers: {} carries {} at the most.",
            layer.name,
            link.mode.seen().map_or("it", String::as_str),
            pace(ceiling as f64)
        ),
        vec![
            exhibit(layer, link),
            Exhibit::new(format!("moved by {}", layer.name), pace(rate), level.source()),
        ],
        Some(Next::Do("connect the drive by a faster link to see what it can do itself".into())),
    ))
}

fn below_itself(layer: &Layer) -> Option<Finding> {
    let (link, possible) = layer.hardware.links.iter().find_map(|link| {
        let possible = link.possible?;
        (possible > link.ceiling?).then_some((link, possible))
    })?;
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!(
            "The link of {} runs as {}, and could carry {}.",
            layer.name,
            link.mode.seen()?,
            pace(possible as f64)
        ),
        vec![exhibit(layer, link)],
        Some(Next::Do("look at cable, slot and power saving".into())),
    ))
}

fn exhibit(layer: &Layer, link: &Link) -> Exhibit {
    let mode = link.mode.seen().cloned().unwrap_or_default();
    Exhibit::new(format!("link of {}", layer.name), mode, link.source.clone())
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
        assert!(found.summary.contains("link of loop3 delivers: SATA 1.5 Gbps carries 4.50 MB"));
    }

    #[test]
    fn a_link_below_itself_is_good_to_know() {
        let mut bench = Bench::write_flushed();
        bench.linked(10_000_000, Some(20_000_000));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, Measures::Device));
        assert!(
            found.findings.iter().any(|f| f.claim.ends_with("could carry 20.0 MB per second."))
        );
    }
}
