//! T46: the link to the drive is the limit, or slower than it could be.

use super::measure::{DeviceLevel, FlowView};
use super::threshold::{LINK_NEAR, LINK_NEAR_USB_2, LINK_SLOW, SHORT, SMALL_BYTES};
use super::words::pace;
use super::{Rule, RuleJudge, finding, note};
use assay_record::claim::{ExhibitOf, LimitClaim};
use assay_record::evidence::{BlockLayer, Link, LinkKind};
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, NextStep, Remedy, TrapId,
};

/// The device moved nearly what its link can carry; or the link was negotiated below what both ends
/// are able to.
pub const RULE: Rule = Rule {
    id: TrapId::T46,
    title: "Limited by the link",
    happens: "The link to the drive is slower than the drive, or slower than it could be.",
    seen_by: "USB speed, SATA sata_spd, PCIe current_link_speed and width, ios of a card in debugfs; bytes at the device.",
    said_when: "The device moved at least {LINK_NEAR} of what its slowest link can carry (USB 2: {LINK_NEAR_USB_2}): sound, limited, and the link is named. A link slower than both ends allow: a note. Before a run also one that any disk can fill.",
    try_it: "A fast SSD in a USB 2 port.",
    answer: "Names the link and the file where it is read.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    if !flow_view.on_devices() {
        return None;
    }
    let (level, layer) = flow_view.levels.iter().find_map(|level| {
        let layer = level.layers.iter().find(|layer| !layer.hardware.links.is_empty())?;
        Some((level, *layer))
    })?;
    at_its_limit(flow_view, level, layer)
        .or_else(|| below_itself(&layer.name, &layer.hardware.links))
}

/// The link that carries least, and how much that is.
fn slowest(links: &[Link]) -> Option<(&Link, u64)> {
    let told = links.iter().filter_map(|link| Some((link, link.ceiling?)));
    told.min_by_key(|(_, ceiling)| *ceiling)
}

fn at_its_limit(
    flow_view: &FlowView<'_>,
    level: &DeviceLevel<'_>,
    layer: &BlockLayer,
) -> Option<Finding> {
    let (link, ceiling) = slowest(&layer.hardware.links)?;
    // Drives side by side have a link each.
    let alone = level.readable() && level.layers.len() == 1;
    let moved = super::measure::bytes(&level.timed, flow_view.direction());
    if !alone || moved < SMALL_BYTES.0 || flow_view.time() < SHORT {
        return None;
    }
    let rate = moved as f64 / flow_view.time().as_secs();
    let usb_2 = link.kind == LinkKind::Usb && ceiling <= 60_000_000;
    let near = if usb_2 { LINK_NEAR_USB_2 } else { LINK_NEAR };
    if rate < ceiling as f64 * near {
        return None;
    }
    Some(finding(
        RULE.id,
        FindingWeight::Note,
        Some(MeasuredSubject::Limited),
        limited(false, &layer.name, link, ceiling),
        vec![exhibit(&layer.name, link), level.shows(ExhibitOf::MovedBy, pace(rate))],
        None,
    ))
}

/// A link of a device that runs slower than both of its ends can: said before a run and after it.
pub(super) fn below_itself(name: &str, links: &[Link]) -> Option<Finding> {
    let (link, ceiling, possible) = links.iter().find_map(|link| {
        let (ceiling, possible) = link.ceiling.zip(link.possible)?;
        (possible > ceiling).then_some((link, ceiling, possible))
    })?;
    Some(note(
        RULE.id,
        LimitClaim::LinkBelowBothEnds {
            device: name.into(),
            mode: link.mode.seen()?.clone(),
            most: pace(ceiling as f64),
            possible: pace(possible as f64),
        },
        vec![exhibit(name, link)],
        Some(seen(link)),
    ))
}

/// What shows how a link runs.
fn seen(link: &Link) -> NextStep {
    let command = match link.kind {
        LinkKind::Usb => "lsusb -t",
        LinkKind::Pcie => "sudo lspci -vv | grep LnkSta",
        LinkKind::Sata => "sudo dmesg -T | grep SATA",
        LinkKind::Mmc => "sudo dmesg -T | grep mmc",
    };
    NextStep::new(Remedy::Inspect, command)
}

/// What the link of a device carries at most, where any disk of today can fill it: the same link, and the same limit,
/// that a run is judged by. Of a link that could be faster [`below_itself`] tells.
pub(super) fn slow(name: &str, links: &[Link]) -> Option<Finding> {
    let (link, ceiling) = slowest(links).filter(|(_, ceiling)| *ceiling <= LINK_SLOW)?;
    if link.possible.is_some_and(|best| best > ceiling) {
        return None;
    }
    link.mode.seen()?;
    Some(finding(
        RULE.id,
        FindingWeight::Note,
        Some(MeasuredSubject::Limited),
        limited(true, name, link, ceiling),
        vec![exhibit(name, link)],
        None,
    ))
}

/// A link is the limit, before a run and after it.
fn limited(foreseen: bool, name: &str, link: &Link, ceiling: u64) -> LimitClaim {
    let (device, mode) = (name.into(), link.mode.seen().cloned());
    LimitClaim::LinkIsLimit { foreseen, device, mode, most: pace(ceiling as f64) }
}

fn exhibit(name: &str, link: &Link) -> Exhibit {
    let mode = link.mode.seen().cloned().unwrap_or_default();
    Exhibit::new(ExhibitOf::LinkOf(name.into()), mode, link.source.clone())
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_record::record::{MeasuredSubject, Trust};

    #[test]
    fn a_rate_at_the_link_is_the_links() {
        // The card does 4.17 MB/s.
        let mut bench = DoctoredRecord::write_flushed();
        bench.linked(10_000_000, None);
        assert_eq!(verdict(&bench.record).measures, MeasuredSubject::Device);
        bench.linked(4_500_000, None);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, MeasuredSubject::Limited));
        assert!(found.summary().contains("link of loop3: SATA 1.5 Gbps carries at most 4.50 MB"));
    }

    #[test]
    fn a_slow_link_is_told_before_a_run_in_the_words_of_after_it() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.linked(4_500_000, None);
        let after = verdict(&bench.record).summary();
        let links: Vec<_> = bench
            .record
            .resolved
            .subjects
            .iter()
            .flat_map(|subject| &subject.stack)
            .flat_map(|layer| layer.hardware.links.clone())
            .collect();
        let before = super::slow("loop3", &links).expect("a slow link").text();
        let said = before.trim_start_matches("Figures are limited");
        assert!(after.contains(said), "{before}\n{after}");
        bench.linked(4_500_000, Some(20_000_000));
        let links: Vec<_> = bench
            .record
            .resolved
            .subjects
            .iter()
            .flat_map(|subject| &subject.stack)
            .flat_map(|layer| layer.hardware.links.clone())
            .collect();
        assert!(super::slow("loop3", &links).is_none(), "below_itself tells");
    }

    #[test]
    fn a_link_below_itself_is_good_to_know() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.linked(10_000_000, Some(20_000_000));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Sound, MeasuredSubject::Device));
        assert!(found.findings.iter().any(|f| f.text().contains("20.0 MB/s is possible")));
    }
}
