//! Lists of shares: block sizes with percentages, zones of a file, blocks of a sequence.

use super::number;
use super::value::{Applied, FioValue};
use crate::dialect::fio::job::{
    FioAccessZone, FioAmount, FioBlockShare, FioDirection, FioFault, FioJob, FioPriorityShare,
    FioWord, PerDirection,
};

/// Block sizes in a split, at most.
const MOST_BLOCKS: usize = 64;
/// Zones of a distribution, at most.
const MOST_ZONES: usize = 256;
/// Blocks of a sequence, at most.
const LONGEST_SEQUENCE: usize = 64;

/// Words of `random_distribution`.
pub const DISTRIBUTIONS: &[FioWord] = &[
    FioWord { name: "random", help: "evenly" },
    FioWord { name: "zipf", help: "Zipf; zipf:THETA[:CENTRE]" },
    FioWord { name: "pareto", help: "Pareto; pareto:H[:CENTRE]" },
    FioWord { name: "normal", help: "normal; normal:DEVIATION[:CENTRE]" },
    FioWord { name: "zoned", help: "in zones; zoned:ACCESSES/SPACE:..., both in percent" },
    FioWord { name: "zoned_abs", help: "in zones; zoned_abs:ACCESSES/SIZE:..." },
    FioWord { name: "sequence", help: "the same blocks over and over; sequence:2,0,1" },
];

/// An entry `A/B` of a list; B may be missing.
struct SplitEntry {
    first: i64,
    second: Option<i64>,
}

/// A list for each direction: one list is for all, two are for reads and for the others.
fn per_direction(text: &str) -> PerDirection<&str> {
    let mut lists = text.trim().splitn(3, ',');
    let read = lists.next().unwrap_or_default();
    let write = lists.next().unwrap_or(read);
    PerDirection { read, write, trim: lists.next().unwrap_or(write) }
}

fn entries(
    list: &str,
    sizes: bool,
    most: usize,
    kb_base: u32,
) -> Result<Vec<SplitEntry>, FioFault> {
    let read = |text: &str| {
        number::size(text, kb_base)
            .ok()
            .filter(|number| !number.percent && number.value >= 0)
            .map(|number| number.value)
            .ok_or_else(|| {
                FioFault::line(
                    "fio: split conversion failed",
                    format!("a number in place of '{text}', as in 4k/50:16k/50"),
                )
            })
    };
    let mut entries = Vec::new();
    for entry in list.split(':').take_while(|entry| !entry.is_empty()).take(most) {
        let (first, second) = entry.split_once('/').map_or((entry, None), |(f, s)| (f, Some(s)));
        let second = match second {
            Some(text) if sizes => Some(read(text)?),
            // A share that is empty or 0 is a part of what is left.
            Some(text) => Some(percent(text)).filter(|percent| *percent > 0),
            None => None,
        };
        entries.push(SplitEntry { first: read(first)?, second });
    }
    Ok(entries)
}

/// The number that a text begins with, 100 at most.
fn percent(text: &str) -> i64 {
    let digits: String = text.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().map_or(if digits.is_empty() { 0 } else { 100 }, |percent: i64| percent.min(100))
}

/// What is left of 100, in equal parts for those that said nothing.
fn fill(shares: &mut [Option<u32>]) {
    let given: u32 = shares.iter().flatten().sum();
    let missing = shares.iter().filter(|share| share.is_none()).count() as u32;
    if let Some(part) = 100_u32.saturating_sub(given).checked_div(missing) {
        shares.iter_mut().for_each(|share| *share = Some(share.unwrap_or(part)));
    }
}

/// `bssplit=4k/50:16k/:64k/20`.
pub fn bssplit(job: &mut FioJob, value: &FioValue<'_>) -> Applied {
    let text = value
        .text
        .ok_or_else(|| FioFault::new("'bssplit' has no value", "bssplit=4k/50:64k/50"))?;
    let lists = per_direction(text);
    for direction in [FioDirection::Trim, FioDirection::Write, FioDirection::Read] {
        let entries = entries(lists.of(direction), false, MOST_BLOCKS, value.kb_base)?;
        if entries.is_empty() {
            continue;
        }
        if let Some(zero) = entries.iter().find(|entry| entry.first == 0) {
            return Err(FioFault::new(format!("a block of {} bytes", zero.first), "4k/50:64k/50"));
        }
        let mut shares: Vec<_> =
            entries.iter().map(|entry| entry.second.map(|second| second as u32)).collect();
        let given: u32 = shares.iter().flatten().sum();
        if given > 100 && shares.iter().filter(|share| share.is_none()).count() > 1 {
            return Err(FioFault::line(
                "fio: bssplit percentages add to more than 100%",
                "shares that add up to 100",
            ));
        }
        fill(&mut shares);
        let mut blocks: Vec<_> = entries
            .iter()
            .zip(shares)
            .map(|(entry, share)| FioBlockShare {
                bytes: entry.first.unsigned_abs(),
                percent: share.unwrap_or_default(),
            })
            .collect();
        blocks.sort_by_key(|block| block.percent);
        let sizes = || blocks.iter().map(|block| block.bytes);
        *job.pattern.min_bs.of_mut(direction) = sizes().min().unwrap_or_default();
        *job.pattern.max_bs.of_mut(direction) = sizes().max().unwrap_or_default();
        *job.pattern.bssplit.of_mut(direction) = blocks;
    }
    Ok(())
}

/// The zones of `zoned:60/10:40/90` or, with sizes, of `zoned_abs:60/1g:40/9g`.
pub fn zones(
    postfix: Option<&str>,
    sizes: bool,
    kb_base: u32,
) -> Result<PerDirection<Vec<FioAccessZone>>, FioFault> {
    let text = postfix.ok_or_else(|| {
        FioFault::line("fio: mismatch in zoned input <zoned>", "zoned:60/10:40/90")
    })?;
    let lists = per_direction(text);
    let mut zones = PerDirection::all(Vec::new());
    for direction in [FioDirection::Trim, FioDirection::Write, FioDirection::Read] {
        let entries = entries(lists.of(direction), sizes, MOST_ZONES, kb_base)?;
        if entries.is_empty() {
            continue;
        }
        let accesses: i64 = entries.iter().map(|entry| entry.first).sum();
        let space: i64 = entries.iter().filter_map(|entry| entry.second).sum();
        if accesses > 100 || !sizes && space > 100 {
            return Err(FioFault::line(
                "fio: zone_split percentages add to more than 100%",
                "shares that add up to 100",
            ));
        }
        if accesses < 100 {
            return Err(FioFault::line(
                format!(
                    "fio: access percentage don't add up to 100 for zoned random distribution (got={accesses})"
                ),
                "shares of accesses that add up to 100",
            ));
        }
        let mut spaces: Vec<_> =
            entries.iter().map(|entry| entry.second.map(|second| second as u32)).collect();
        if !sizes {
            fill(&mut spaces);
        }
        let made = entries.iter().zip(spaces).map(|(entry, space)| FioAccessZone {
            accesses: entry.first as u32,
            size: match sizes {
                true => FioAmount::Bytes(entry.second.unwrap_or_default().unsigned_abs()),
                false => FioAmount::Percent(space.unwrap_or_default() as u8),
            },
        });
        *zones.of_mut(direction) = made.collect();
    }
    Ok(zones)
}

/// The blocks of `sequence:2,0,1`.
pub fn sequence(postfix: Option<&str>) -> Result<Vec<u32>, FioFault> {
    let text = postfix.filter(|text| !text.is_empty()).ok_or_else(|| {
        FioFault::line("fio: missing pattern in sequence distribution", "sequence:2,0,1")
    })?;
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.len() > LONGEST_SEQUENCE {
        return Err(FioFault::line(
            format!(
                "fio: sequence distribution supports up to {LONGEST_SEQUENCE} elements (got {})",
                parts.len()
            ),
            "a shorter sequence",
        ));
    }
    let number = |part: &&str| {
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse().ok().filter(|_| digits).ok_or_else(|| {
            FioFault::line(
                format!("fio: invalid or negative element <{part}> in random_sequence"),
                "sequence:2,0,1",
            )
        })
    };
    parts.iter().map(number).collect()
}

/// The entries of `cmdprio_bssplit=4k/10/1/0:64k/5`: size, percent, class, level and hint.
pub fn priorities(
    text: &str,
    kb_base: u32,
) -> Result<PerDirection<Vec<FioPriorityShare>>, FioFault> {
    let lists = per_direction(text);
    let mut shares = PerDirection::all(Vec::new());
    for direction in FioDirection::ALL {
        let list = lists.of(direction);
        let entries = list.split(':').take_while(|entry| !entry.is_empty());
        let mut read = Vec::new();
        for entry in entries {
            read.push(priority(entry, kb_base)?);
        }
        if read.len() > MOST_BLOCKS {
            return Err(FioFault::line("fio: too many cmdprio_bssplit entries", "64 at most"));
        }
        // A share of nothing says nothing.
        read.retain(|share: &FioPriorityShare| share.percent > 0);
        read.sort_by_key(|share| share.bytes);
        *shares.of_mut(direction) = read;
    }
    Ok(shares)
}

fn priority(entry: &str, kb_base: u32) -> Result<FioPriorityShare, FioFault> {
    let bad = || {
        FioFault::line(
            "fio: invalid cmdprio_bssplit format",
            "SIZE/PERCENT or SIZE/PERCENT/CLASS/LEVEL, as 4k/10/1/0",
        )
    };
    let mut parts = entry.split('/');
    let size = number::size(parts.next().unwrap_or_default(), kb_base).map_err(|_| bad())?;
    let numbers: Vec<u32> = parts
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().map_err(|_| bad()))
        .collect::<Result<_, _>>()?;
    let priority = match numbers.get(1..).unwrap_or_default() {
        [] => None,
        [class, level] => Some(((*class).min(3), (*level).min(7), 0)),
        [class, level, hint] => Some(((*class).min(3), (*level).min(7), (*hint).min(1023))),
        _ => return Err(bad()),
    };
    Ok(FioPriorityShare {
        bytes: u64::try_from(size.value).map_err(|_| bad())?,
        percent: numbers.first().map_or(0, |percent| (*percent).min(100)),
        priority,
    })
}
