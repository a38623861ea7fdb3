//! Order of the I/Os.

use serde::{Deserialize, Serialize};

use super::usual::is_usual;
use crate::error::Refusal;
use crate::unit::{Bytes, Nanos};

/// Order of the I/Os.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OffsetOrdering {
    /// From the beginning to the end, and again.
    #[default]
    Forward,
    /// From the end to the beginning (IOzone's backward read).
    Backward,
    /// Every `stride` bytes; after the end again from the start of the next block not yet visited
    /// (IOzone's stride read). Blocks of several sizes begin where the largest would.
    Strided {
        /// Distance between the starts of two I/Os, bytes.
        stride: Bytes,
    },
    /// Every `stride` bytes; after the end again from the beginning: what lies between is never
    /// touched (fio's `rw=read:8k`, whose stride is the block and those 8 KiB).
    Spaced {
        /// Distance between the starts of two I/Os, bytes.
        stride: Bytes,
    },
    /// Any block with equal chance, others' visits forgotten: some are hit twice, some never.
    Uniform,
    /// Any order, but each block exactly once per pass.
    Shuffled,
    /// Some blocks far oftener than others, by Zipf's law: the block of rank k is hit in proportion
    /// to k^-theta. The ranks are scattered over the region.
    Zipf {
        /// Exponent, above 0 and up to 100: larger is more uneven. fio's default is 1.1.
        theta: f64,
        /// Where the hottest block lies, as a share of the region, 0 to 1; by seed when absent,
        /// then each worker has a hottest block of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        center: Option<f64>,
    },
    /// By Pareto's law as fio and others have it: a share `h` of the blocks gets a share `1 - h` of
    /// the accesses, and the same again within these. The ranks are scattered over the region.
    Pareto {
        /// Between 0 and 1; fio's default is 0.2 (a fifth of the blocks gets four fifths).
        h: f64,
        /// As Zipf's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        center: Option<f64>,
    },
    /// Around a place, by the normal law, cut off at the ends of the region. What fio calls
    /// `normal:D` is flatter and scattered: the mean of twelve uniform places (8.33 % of the
    /// region) with D percent of uniform jitter.
    Normal {
        /// Standard deviation in percent of the region, above 0 and up to 100.
        deviation: f64,
        /// Where the middle lies, as a share of the region, 0 to 1; 0.5 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        center: Option<f64>,
    },
    /// Shares of the accesses over shares of the space (fio's zoned).
    Zoned {
        /// Zones in the order of the space, at most 256; both percentages add up to 100.
        zones: Vec<Zone>,
    },
    /// Shares of the accesses over zones of stated sizes from the beginning (fio's zoned_abs). What
    /// of the region lies behind the last is never touched.
    ZonedAbs {
        /// Zones in the order of the space, at most 256; their percents add up to 100.
        zones: Vec<SizedZone>,
    },
    /// Each action of the mix goes its own way through the region, by a place of its own (fio's
    /// `rw=rw`, whose reads and writes both begin at the beginning). A pass moves as many bytes as
    /// one of a single action, all actions together.
    Each {
        /// How each goes: `forward`, `backward`, `strided` or `spaced`.
        order: Box<OffsetOrdering>,
    },
    /// `sequential` blocks in a row after each jump.
    Runs {
        /// Blocks in a row, 1 or more (fio's `rw=randread:8`).
        sequential: u32,
        /// Share of jumps that go to a random place, percent; the others go on in order (fio's
        /// percentage_random).
        random_percent: u8,
        /// A run is the same block again and again (fio's `rw_sequencer=identical`).
        #[serde(default)]
        same: bool,
    },
    /// The same block again and again (IOzone's record rewrite).
    Same,
    /// The I/Os of a list, one after the other, and again (IOzone's `-X` and `-Y`). `block` is the largest of
    /// them.
    Listed {
        /// At most [`LISTED`].
        ios: Vec<ListedIo>,
    },
}

/// I/Os of a list, at the most.
pub const LISTED: usize = 100_000;

/// An I/O of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ListedIo {
    /// Where, counted from where the region begins.
    pub offset: Bytes,
    /// How much.
    pub bytes: Bytes,
    /// The worker is busy with something else for so long before it.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub compute: Nanos,
}

/// A part of the space with its share of the accesses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Zone {
    pub access_percent: f64,
    pub space_percent: f64,
}

/// Most zones of an order: they are looked through for each I/O.
const ZONES: usize = 256;

/// A part of the space of a stated size with its share of the accesses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SizedZone {
    pub access_percent: f64,
    pub size: Bytes,
}

impl OffsetOrdering {
    /// Whether each action comes through places in order, so that read-ahead and merging can help.
    pub fn sequential(&self) -> bool {
        match self {
            Self::Forward => true,
            Self::Each { order } => order.sequential(),
            _ => false,
        }
    }

    pub(super) fn check(&self) -> Result<(), Refusal> {
        let within = |center: &Option<f64>| match center {
            Some(center) if !(0.0..=1.0).contains(center) => Err(Refusal::new(
                format!("a center at {center} of the region"),
                "give a share between 0 and 1",
            )),
            _ => Ok(()),
        };
        match self {
            Self::Strided { stride: Bytes(0) } | Self::Spaced { stride: Bytes(0) } => {
                Err(Refusal::new("a stride of 0", "give the distance between two I/Os in bytes"))
            }
            Self::Zipf { theta, .. } if !(*theta > 0.0 && *theta <= 100.0) => Err(Refusal::new(
                format!("zipf's theta {theta}"),
                "give a value above 0 and up to 100",
            )),
            Self::Pareto { h, .. } if !(*h > 0.0 && *h < 1.0) => {
                Err(Refusal::new(format!("pareto's h {h}"), "give a value between 0 and 1"))
            }
            Self::Normal { deviation, .. } if !(*deviation > 0.0 && *deviation <= 100.0) => {
                Err(Refusal::new(
                    format!("a normal deviation of {deviation} %"),
                    "give a value above 0 and up to 100",
                ))
            }
            Self::Zipf { center, .. }
            | Self::Pareto { center, .. }
            | Self::Normal { center, .. } => within(center),
            Self::Zoned { zones } => {
                let space: Vec<f64> = zones.iter().map(|zone| zone.space_percent).collect();
                let accesses: Vec<f64> = zones.iter().map(|zone| zone.access_percent).collect();
                if !whole(&space) {
                    return Err(not_whole());
                }
                check_zones(&accesses, &space)
            }
            Self::ZonedAbs { zones } => {
                let space: Vec<f64> = zones.iter().map(|zone| zone.size.0 as f64).collect();
                let accesses: Vec<f64> = zones.iter().map(|zone| zone.access_percent).collect();
                check_zones(&accesses, &space)
            }
            Self::Each { order } => match **order {
                Self::Forward | Self::Backward | Self::Strided { .. } | Self::Spaced { .. } => {
                    order.check()
                }
                _ => Err(Refusal::new(
                    "'each' of an order that has no place to go on from",
                    "give forward, backward, strided or spaced, or leave 'each' out",
                )),
            },
            Self::Listed { ios } if ios.is_empty() || ios.len() > LISTED => Err(Refusal::new(
                format!("a list of {} I/Os", ios.len()),
                format!("give 1 to {LISTED}"),
            )),
            Self::Listed { ios } if ios.iter().any(|io| io.bytes == Bytes::ZERO) => {
                Err(Refusal::new("a listed I/O of 0 bytes", "give each its length"))
            }
            Self::Runs { sequential: 0, .. } => {
                Err(Refusal::new("runs of 0 blocks", "give 1 or more blocks in a row"))
            }
            Self::Runs { random_percent: 101.., .. } => Err(Refusal::new(
                "more than 100 percent of the jumps",
                "give a random_percent of 0 to 100",
            )),
            _ => Ok(()),
        }
    }
}

/// Whether these are the percents of a whole.
fn whole(percents: &[f64]) -> bool {
    let sum: f64 = percents.iter().sum();
    percents.iter().all(|percent| *percent >= 0.0) && (sum - 100.0).abs() < 0.01
}

fn not_whole() -> Refusal {
    Refusal::new(
        "zones whose percents do not add up to 100",
        "give all zones, each with its percent of accesses and its space",
    )
}

/// Zones by their percents of the accesses and by their space, in whatever unit.
fn check_zones(accesses: &[f64], space: &[f64]) -> Result<(), Refusal> {
    if accesses.len() > ZONES {
        return Err(Refusal::new(
            format!("{} zones", accesses.len()),
            format!("give {ZONES} or fewer"),
        ));
    }
    if !whole(accesses) {
        return Err(not_whole());
    }
    if accesses.iter().zip(space).any(|(percent, space)| *percent > 0.0 && *space == 0.0) {
        return Err(Refusal::new(
            "a zone with accesses and without space",
            "give it a part of the space",
        ));
    }
    Ok(())
}
