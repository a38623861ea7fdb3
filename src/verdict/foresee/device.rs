//! What a device and the way to it do to a figure: sectors, alignment, links, cards, queues.

use super::Sight;
use crate::evidence::{Device, LayerKind, Link};
use crate::record::{Exhibit, Finding, Measures, Next, Weight};
use crate::unit::Bytes;
use crate::verdict::threshold::{CARD_ERASE, CARD_LIFE, LINK_SLOW};
use crate::verdict::{direct_not_durable, finding, unconditioned, words};

pub(super) fn see(sight: &Sight<'_>, found: &mut Vec<Finding>) {
    for device in sight.survey.devices() {
        let judges =
            [large_sectors, emulated_sectors, partition_start, loop_start, worn, erases, unqueued];
        found.extend(judges.iter().filter_map(|judge| judge(device)));
        found.extend(device.links.iter().filter_map(|link| below_possible(device, link)));
        found.extend(device.links.iter().filter_map(|link| one_at_a_time(device, link)));
        found.extend(slowest(device));
    }
    found.extend(sight.survey.leaves().find_map(volatile));
    if sight.machine.virtual_machine != Some(true) {
        let past = |leaf: &Device| unconditioned::unconditioned(&leaf.layer, Bytes::ZERO);
        found.extend(sight.survey.leaves().find_map(past));
    }
}

fn sectors(device: &Device) -> Option<(u64, u64)> {
    let queue = device.layer.queue.seen()?;
    Some((queue.logical_block_size?, queue.physical_block_size?))
}

fn queue_file(device: &Device, name: &str) -> String {
    format!("/sys/block/{}/queue/{name}", device.layer.name)
}

/// T20.
fn large_sectors(device: &Device) -> Option<Finding> {
    let (logical, _) = sectors(device).filter(|(logical, _)| *logical > 512)?;
    Some(finding(
        "T20",
        Weight::Note,
        None,
        format!(
            "{} has sectors of {}: direct I/O in smaller blocks is refused.",
            device.layer.name,
            Bytes(logical)
        ),
        vec![Exhibit::new(
            "logical block",
            Bytes(logical).to_string(),
            queue_file(device, "logical_block_size"),
        )],
        None,
    ))
}

/// T21.
fn emulated_sectors(device: &Device) -> Option<Finding> {
    let (logical, physical) = sectors(device).filter(|(logical, physical)| physical > logical)?;
    Some(finding(
        "T21",
        Weight::Note,
        None,
        format!(
            "{} takes blocks of {} but writes {}: a smaller write makes it read first, unseen from here.",
            device.layer.name,
            Bytes(logical),
            Bytes(physical)
        ),
        vec![Exhibit::new(
            "physical block",
            Bytes(physical).to_string(),
            queue_file(device, "physical_block_size"),
        )],
        None,
    ))
}

/// T22: a partition that begins within a physical block.
fn partition_start(device: &Device) -> Option<Finding> {
    let (_, physical) = sectors(device)?;
    let partition = device.partition.as_ref()?;
    let start = partition.start?;
    let off_by = match partition.off_by {
        Some(off_by) => off_by,
        None => (start.0 % physical.max(1)) as i64,
    };
    if off_by == 0 && start.0.is_multiple_of(physical.max(1)) {
        return None;
    }
    Some(finding(
        "T22",
        Weight::Doubt,
        None,
        format!(
            "{} begins within a block of {} of its disk: aligned writes straddle two of them.",
            partition.name,
            Bytes(physical)
        ),
        vec![Exhibit::new(
            "begins at",
            format!("{} bytes", start.0),
            format!("/sys/class/block/{}/start", partition.name),
        )],
        Some(Next::Do("make the partition anew at a multiple of 1 MiB".into())),
    ))
}

/// T22: a loop device that begins within a block of its file.
fn loop_start(device: &Device) -> Option<Finding> {
    let offset = device.loop_offset.filter(|offset| !offset.0.is_multiple_of(4096))?;
    Some(finding(
        "T22",
        Weight::Doubt,
        None,
        format!(
            "{} begins {} bytes into its file: aligned writes straddle two blocks of it.",
            device.layer.name, offset.0
        ),
        vec![Exhibit::new(
            "offset",
            format!("{} bytes", offset.0),
            format!("/sys/block/{}/loop/offset", device.layer.name),
        )],
        None,
    ))
}

/// T46: a link that runs slower than both ends can.
fn below_possible(device: &Device, link: &Link) -> Option<Finding> {
    let (now, best) = link.ceiling.zip(link.possible).filter(|(now, best)| now < best)?;
    let mode = link.mode.seen()?;
    Some(finding(
        "T46",
        Weight::Doubt,
        Some(Measures::Limited),
        format!(
            "The link of {} runs as {mode}, at most {}; {} would be possible.",
            device.layer.name,
            words::pace(now as f64),
            words::pace(best as f64)
        ),
        vec![Exhibit::new("link", mode, &link.source)],
        Some(Next::Do("try another port, slot or cable".into())),
    ))
}

/// T46: a link that any disk of today can fill.
fn slowest(device: &Device) -> Option<Finding> {
    let link =
        device.links.iter().filter(|link| link.ceiling.is_some()).min_by_key(|l| l.ceiling)?;
    let ceiling = link.ceiling.filter(|ceiling| *ceiling <= LINK_SLOW)?;
    let known = link.possible.is_some_and(|best| best > ceiling);
    let mode = link.mode.seen().filter(|_| !known)?;
    Some(finding(
        "T46",
        Weight::Note,
        Some(Measures::Limited),
        format!(
            "Nothing on {} is faster than {}: that is what its link carries ({mode}).",
            device.layer.name,
            words::pace(ceiling as f64)
        ),
        vec![Exhibit::new("link", mode, &link.source)],
        None,
    ))
}

/// T55: a driver that has one command under way at a time.
fn one_at_a_time(device: &Device, link: &Link) -> Option<Finding> {
    let driver = link.driver.as_deref().filter(|driver| *driver == "usb-storage")?;
    Some(finding(
        "T55",
        Weight::Note,
        None,
        format!(
            "{} is driven by {driver}, one command at a time: a depth of 32 is a depth of 1.",
            device.layer.name
        ),
        vec![Exhibit::new("driver", driver, &link.source)],
        None,
    ))
}

/// T47.
fn worn(device: &Device) -> Option<Finding> {
    let card = device.card.as_ref()?;
    let spent = card.life.is_some_and(|life| life >= CARD_LIFE);
    let reserve = card.reserve.is_some_and(|reserve| reserve >= 2);
    if !spent && !reserve {
        return None;
    }
    let name = &device.layer.name;
    let used = match card.life {
        Some(life) if life <= 10 => {
            format!("{} to {} % of its life is used", (life - 1) * 10, life * 10)
        }
        Some(_) => "its life is used up".into(),
        None => "its reserve is nearly used up".into(),
    };
    Some(finding(
        "T47",
        Weight::Doubt,
        None,
        format!("{name} is worn: {used}. Its figures are not those of a new one."),
        vec![Exhibit::new(
            "life and reserve",
            used.clone(),
            format!("/sys/block/{name}/device/life_time"),
        )],
        None,
    ))
}

/// T45.
fn erases(device: &Device) -> Option<Finding> {
    let erase = device.card.as_ref()?.erase.filter(|erase| *erase >= CARD_ERASE)?;
    let name = &device.layer.name;
    Some(finding(
        "T45",
        Weight::Note,
        None,
        format!(
            "{name} erases {erase} at a time: small random writes cost it many times their size."
        ),
        vec![Exhibit::new(
            "erases",
            erase.to_string(),
            format!("/sys/block/{name}/device/preferred_erase_size"),
        )],
        None,
    ))
}

/// T55: the class A2 is only for hosts that queue.
fn unqueued(device: &Device) -> Option<Finding> {
    let card = device.card.as_ref()?;
    let claims = card.claims.filter(|claims| claims.application == 2)?;
    (card.queue != Some(true)).then(|| {
        finding(
            "T55",
            Weight::Note,
            None,
            format!(
                "{} claims {}, which it needs a command queue for; this host shows none.",
                device.layer.name,
                claims.words()
            ),
            vec![Exhibit::new(
                "claims",
                claims.words(),
                format!("/sys/block/{}/device/ssr", device.layer.name),
            )],
            None,
        )
    })
}

/// T16, of the first leaf with a cache of its own.
fn volatile(leaf: &Device) -> Option<Finding> {
    let cache = leaf.layer.queue.seen()?.write_cache.as_deref().filter(|c| *c == "write back")?;
    if matches!(leaf.layer.kind, LayerKind::Memory) {
        return None;
    }
    Some(finding(
        direct_not_durable::RULE.id,
        Weight::Note,
        None,
        format!(
            "Direct writes end in the cache of {}: only a flush, or O_DSYNC, makes them durable.",
            leaf.layer.name
        ),
        vec![Exhibit::new("write cache", cache, queue_file(leaf, "write_cache"))],
        None,
    ))
}
