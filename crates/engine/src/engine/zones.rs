//! Zones of a region: shares of the accesses over parts of the space.

use assay_plan::error::Refusal;
use assay_plan::plan::{SizedZone, Zone};
use assay_plan::unit::Bytes;

#[derive(Clone, Copy, Debug)]
pub(super) struct BlockZone {
    /// Dice below this fall into it or into an earlier one.
    pub(super) until: u64,
    /// Its first block.
    pub(super) first: u64,
    /// How many it has.
    pub(super) blocks: u64,
}

/// Zones that are shares of so many blocks.
///
/// # Errors
/// A refusal where a zone with accesses has not one block.
pub(super) fn of_shares(zones: &[Zone], blocks: u64) -> Result<Vec<BlockZone>, Refusal> {
    let place = |percent: f64| ((percent / 100.0 * blocks as f64).round() as u64).min(blocks);
    let mut space = 0.0;
    parts(zones.iter().map(|zone| {
        let first = place(space);
        space += zone.space_percent;
        (zone.access_percent, first, place(space) - first)
    }))
}

/// Zones of stated sizes in `len` bytes, as blocks that begin at multiples of `cell`: those that
/// lie wholly in a zone even if they have the `largest` size.
///
/// # Errors
/// A refusal where a zone with accesses has not one block, or where they reach beyond the region.
pub(super) fn of_sizes(
    zones: &[SizedZone],
    len: u64,
    cell: u64,
    largest: u64,
) -> Result<Vec<BlockZone>, Refusal> {
    let all: u64 = zones.iter().fold(0, |all, zone| all.saturating_add(zone.size.0));
    if all > len {
        return Err(Refusal::new(
            format!("zones of {} reach beyond the {} of target", Bytes(all), Bytes(len)),
            "give smaller zones, or a larger size",
        ));
    }
    let mut end = 0;
    parts(zones.iter().map(|zone| {
        let first = u64::div_ceil(end, cell);
        end += zone.size.0;
        let last = end.checked_sub(largest).map(|last| last / cell);
        let blocks = last.map_or(0, |last| (last + 1).saturating_sub(first));
        (zone.access_percent, first, blocks)
    }))
}

/// Zones of (percent of the accesses, first block, blocks), in the order of the space.
fn parts(zones: impl Iterator<Item = (f64, u64, u64)>) -> Result<Vec<BlockZone>, Refusal> {
    let mut accesses = 0.0;
    let mut parts = Vec::new();
    for (index, (percent, first, blocks)) in zones.enumerate() {
        accesses += percent;
        if percent <= 0.0 {
            continue;
        }
        if blocks == 0 {
            return Err(Refusal::new(
                format!("zone {} has accesses and not one whole block", index + 1),
                "give it more space, or use a larger size",
            ));
        }
        let until = ((accesses / 100.0 * (1_u64 << 32) as f64).round() as u64).min(1 << 32);
        parts.push(BlockZone { until, first, blocks });
    }
    // Percents that add up to a little less than 100.
    match parts.last_mut() {
        Some(last) => last.until = 1 << 32,
        None => return Err(Refusal::new("no zone has accesses", "give one a percent")),
    }
    Ok(parts)
}
