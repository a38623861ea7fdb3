//! What a sweep varies, as people type it: `bs=4k..1M`, `depth=1,4,16`.

use assay_plan::plan::{CellParams, SweepAxis};
use assay_plan::unit::{Bytes, GIB, KIB, MIB};

/// One thing that is varied, and its values, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariedParam {
    /// What.
    pub axis: SweepAxis,
    /// In the unit of that axis, at least one, each once.
    pub values: Vec<u64>,
}

/// The words for what can be varied, and the least and the most of each.
const NAMES: [(&str, SweepAxis, u64, u64); 4] = [
    ("bs", SweepAxis::Block, 1, GIB),
    ("depth", SweepAxis::Depth, 1, 1024),
    ("workers", SweepAxis::Workers, 1, 256),
    ("read", SweepAxis::Reads, 0, 100),
];

/// A range of reads goes in steps of so many percent.
const READS: usize = 25;

impl VariedParam {
    /// Where nothing is said: the sizes that people know from other tools.
    pub fn usual() -> Self {
        Self { axis: SweepAxis::Block, values: doubled(512, 64 * MIB) }
    }

    /// Its word.
    pub fn name(&self) -> &'static str {
        NAMES.iter().find(|(_, axis, ..)| *axis == self.axis).map_or("", |(name, ..)| name)
    }

    /// What it adds to the name of a phase: `64k`, `q8`, `w2`, `r70`.
    pub fn part_of_name(&self, cell_params: &CellParams) -> String {
        match self.axis {
            SweepAxis::Block => short(cell_params.block),
            SweepAxis::Depth => format!("q{}", cell_params.iodepth),
            SweepAxis::Workers => format!("w{}", cell_params.workers),
            SweepAxis::Reads => format!("r{}", cell_params.reads),
        }
    }
}

/// Reads `WHAT=VALUES`.
pub fn read(text: &str) -> Result<VariedParam, String> {
    let (name, values) = text
        .split_once('=')
        .ok_or_else(|| format!("'{text}' says no values; write bs=4k..1M or depth=1,4,16"))?;
    let known = NAMES.iter().find(|(known, ..)| *known == name);
    let (name, axis, least, most) = known
        .ok_or_else(|| format!("'{name}' cannot be varied; give bs, depth, workers or read"))?;
    let value = |text: &str| {
        let value = match axis {
            SweepAxis::Block => text.parse::<Bytes>().map(|bytes| bytes.0).ok(),
            _ => text.parse().ok(),
        };
        value.filter(|value| (*least..=*most).contains(value)).ok_or_else(|| {
            let (least, most) = (axis.shown(*least), axis.shown(*most));
            format!("'{text}' is no {name}; write {least} to {most}")
        })
    };
    let mut values = match values.split_once("..") {
        Some((first, last)) => {
            let (from, to) = (value(first)?, value(last)?);
            if from > to {
                return Err(format!(
                    "'{text}' ends before it begins; write {name}={last}..{first}"
                ));
            }
            if *axis == SweepAxis::Reads { stepped(from, to) } else { doubled(from, to) }
        }
        None => values.split(',').map(value).collect::<Result<_, _>>()?,
    };
    values.sort_unstable();
    values.dedup();
    Ok(VariedParam { axis: *axis, values })
}

/// From one to the other, each twice the one before; the end is always there.
fn doubled(from: u64, to: u64) -> Vec<u64> {
    let powers = std::iter::successors(Some(from), |value| value.checked_mul(2));
    let mut values: Vec<u64> = powers.take_while(|value| *value < to).collect();
    values.push(to);
    values
}

/// From one to the other in steps; the end is always there.
fn stepped(from: u64, to: u64) -> Vec<u64> {
    let mut values: Vec<u64> = (from..to).step_by(READS).collect();
    values.push(to);
    values
}

/// A size in the name of a phase: `512`, `64k`, `1m`.
fn short(block: Bytes) -> String {
    match block.0 {
        bytes if bytes.is_multiple_of(MIB) => format!("{}m", bytes / MIB),
        bytes if bytes.is_multiple_of(KIB) => format!("{}k", bytes / KIB),
        bytes => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_ranges_or_lists() {
        for (text, axis, values) in [
            ("bs=4k..32k", SweepAxis::Block, vec![4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB]),
            ("bs=1M,4k", SweepAxis::Block, vec![4 * KIB, MIB]),
            ("depth=1..6", SweepAxis::Depth, vec![1, 2, 4, 6]),
            ("workers=2,2", SweepAxis::Workers, vec![2]),
            ("read=0..100", SweepAxis::Reads, vec![0, 25, 50, 75, 100]),
            ("read=70", SweepAxis::Reads, vec![70]),
        ] {
            assert_eq!(read(text), Ok(VariedParam { axis, values }), "{text}");
        }
        assert_eq!(VariedParam::usual().values.len(), 18);
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_what_to_write() {
        for (text, says) in [
            ("bs", "'bs' says no values; write bs=4k..1M or depth=1,4,16"),
            ("size=4k", "'size' cannot be varied; give bs, depth, workers or read"),
            ("bs=0", "'0' is no bs; write 1 B to 1 GiB"),
            ("bs=4x", "'4x' is no bs; write 1 B to 1 GiB"),
            ("depth=0..4", "'0' is no depth; write 1 to 1024"),
            ("depth=4..", "'' is no depth; write 1 to 1024"),
            ("read=0..101", "'101' is no read; write 0 % to 100 %"),
            ("workers=8..2", "'workers=8..2' ends before it begins; write workers=2..8"),
            ("bs=4k..1k", "'bs=4k..1k' ends before it begins; write bs=1k..4k"),
        ] {
            assert_eq!(read(text), Err(says.into()), "{text}");
        }
    }
}
