//! Where random places of a sequence are, and which of several files they are in.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::Refusal;
use crate::unit::Bytes;

use super::usual::is_usual;
use super::{SizedZone, Zone};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RandomPlaces {
    /// How often each place comes.
    #[serde(default)]
    pub distribution: PlaceDistribution,
    /// I/Os in a row for each random place, 1 or more (fio's `rw=randread:8`).
    #[serde(default = "super::usual::one", skip_serializing_if = "super::usual::is_one")]
    pub run: u32,
    /// These have the same place, instead of one behind the other (fio's `rw_sequencer=identical`).
    #[serde(default, skip_serializing_if = "is_usual")]
    pub same: bool,
    /// Percent of the I/Os that go to a random place, 0 to 100; the others go behind the last (fio's
    /// `percentage_random`). Absent: 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<ByDirection<u8>>,
    /// Places are multiples of this, counted from where the region begins (fio's `blockalign`). Absent: of
    /// the smallest block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub align: Option<ByDirection<Bytes>>,
}

impl Default for RandomPlaces {
    fn default() -> Self {
        Self {
            distribution: PlaceDistribution::default(),
            run: 1,
            same: false,
            percent: None,
            align: None,
        }
    }
}

/// A value for each direction of I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ByDirection<T> {
    pub read: T,
    pub write: T,
    pub trim: T,
}

impl<T> ByDirection<T> {
    /// The three, in that order.
    pub fn all(self) -> [T; 3] {
        [self.read, self.write, self.trim]
    }
}

impl<T: Clone> ByDirection<T> {
    pub fn same(value: T) -> Self {
        Self { read: value.clone(), write: value.clone(), trim: value }
    }
}

/// How often each place comes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PlaceDistribution {
    /// All alike.
    Uniform {
        /// A map of the blocks that have been used keeps each from coming twice in a pass: the next free one
        /// takes its place. It takes one bit of memory for each of the smallest blocks, and a sixty-third of
        /// that: 32.5 MiB for 1 TiB in blocks of 4 KiB, for each file of each worker.
        random_map: bool,
    },
    /// By Zipf's law, the ranks scattered by a multiplicative hash.
    Zipf {
        /// Exponent, above 0, not 1, and up to 100.
        theta: f64,
        /// Where the hottest block lies, as a share of the region, 0 to 1; by seed when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        center: Option<f64>,
        /// What the files are called, for their seeds: those of the first worker, then of the second...
        #[serde(default, with = "crate::name::several")]
        #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::name::PathText>"))]
        names: Vec<PathBuf>,
    },
    /// By Pareto's law, scattered in the same way.
    Pareto {
        /// Between 0 and 1: a share `h` of the blocks gets a share `1 - h` of the I/Os.
        h: f64,
        /// As Zipf's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        center: Option<f64>,
        /// As Zipf's.
        #[serde(default, with = "crate::name::several")]
        #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::name::PathText>"))]
        names: Vec<PathBuf>,
    },
    /// The mean of twelve uniform places with some jitter, scattered in the same way.
    Normal {
        /// Width of the jitter in percent of the region, 0 to 100.
        deviation: f64,
        /// As Zipf's; 0.5 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        center: Option<f64>,
        /// As Zipf's.
        #[serde(default, with = "crate::name::several")]
        #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::name::PathText>"))]
        names: Vec<PathBuf>,
    },
    /// Shares of the I/Os over shares of the space, in whole percent. A direction without zones is uniform.
    Zoned(ByDirection<Vec<Zone>>),
    /// Shares of the I/Os, in whole percent, over zones of stated sizes.
    ZonedAbs(ByDirection<Vec<SizedZone>>),
    /// These blocks, again and again (fio's `random_distribution=sequence`).
    Listed {
        /// Their numbers, counted from where the region begins.
        blocks: Vec<u32>,
        /// Each time further on by as many blocks as there are in the list.
        #[serde(default)]
        advance: bool,
    },
    /// Each block once, and some again, so that an SSD is left as by a long random job (fio's `sprandom`). For writes
    /// of one size, with the generator `lfsr`.
    SteadyFill(SteadyFill),
}

/// A pass over an SSD that leaves it as a long random job would.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SteadyFill {
    /// What the drive has beyond the bytes that can be written, as a share of them: above 0, below 1.
    pub over_provisioning: f64,
    /// Parts that the pass is divided into.
    pub regions: u32,
    /// Bytes of the drive's cache. Where it has one, a place is written again only when the next region is done.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub cache: Bytes,
}

impl SteadyFill {
    /// Bytes that are written of so many: all that the drive has, in whole blocks.
    pub fn written(&self, len: u64, block: u64) -> u64 {
        let spare = (len as f64 * self.over_provisioning).ceil() as u64;
        let all = len.saturating_add(spare);
        all - all % block.max(1)
    }

    /// Bytes of a region.
    pub fn region(&self, len: u64, block: u64) -> u64 {
        self.written(len, block) / u64::from(self.regions.max(1))
    }

    fn check(&self) -> Result<(), Refusal> {
        let share = self.over_provisioning;
        match share > 0.0 && share < 1.0 && self.regions > 0 {
            true => Ok(()),
            false => Err(Refusal::new(
                format!("{share} of a drive to spare, in {} regions", self.regions),
                "give a share between 0 and 1, and one region or more",
            )),
        }
    }
}

impl Default for PlaceDistribution {
    fn default() -> Self {
        Self::Uniform { random_map: true }
    }
}

/// Which of several files the next I/O goes to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FileService {
    /// Each in turn.
    RoundRobin {
        /// I/Os in a row to one file, 1 or more.
        ios: u32,
    },
    /// One to its end, then the next.
    Sequential,
    /// Any, uniformly, of those that are not done.
    Random {
        /// I/Os in a row to one file, 1 or more.
        ios: u32,
    },
    /// By Zipf's law over the files; a file that is done begins again.
    Zipf {
        /// Exponent, above 0, not 1, and up to 100.
        theta: f64,
        /// Which is the hottest, as a share of the files, 0 to 1; by seed when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        center: Option<f64>,
    },
    /// By Pareto's law over the files; a file that is done begins again.
    Pareto {
        /// Between 0 and 1.
        h: f64,
        /// As Zipf's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        center: Option<f64>,
    },
    /// Mostly those in the middle; a file that is done begins again.
    Normal {
        /// Width of the jitter in percent of the files, 0 to 100.
        deviation: f64,
        /// As Zipf's; 0.5 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        center: Option<f64>,
    },
}

impl Default for FileService {
    fn default() -> Self {
        Self::RoundRobin { ios: 1 }
    }
}

impl RandomPlaces {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        if self.run == 0 {
            return Err(Refusal::new("runs of 0 blocks", "give 1 or more blocks in a row"));
        }
        if self.percent.is_some_and(|percent| percent.all().iter().any(|percent| *percent > 100)) {
            return Err(Refusal::new(
                "more than 100 percent of the I/Os",
                "give a percent of 0 to 100",
            ));
        }
        if self.align.is_some_and(|align| align.all().contains(&Bytes::ZERO)) {
            return Err(Refusal::new("places that are multiples of 0", "leave 'align' out"));
        }
        match &self.distribution {
            PlaceDistribution::Uniform { .. } => Ok(()),
            PlaceDistribution::Zipf { theta, center, .. } => check_zipf(*theta, *center),
            PlaceDistribution::Pareto { h, center, .. } => check_pareto(*h, *center),
            PlaceDistribution::Normal { deviation, center, .. } => {
                check_normal(*deviation, *center)
            }
            PlaceDistribution::Zoned(zones) => {
                [&zones.read, &zones.write, &zones.trim].into_iter().try_for_each(|zones| {
                    let space: f64 = zones.iter().map(|zone| zone.space_percent).sum();
                    let whole = zones.iter().all(|zone| is_percent(zone.space_percent));
                    if !whole || space > 100.0 {
                        return Err(not_zones());
                    }
                    check_accesses(zones.iter().map(|zone| zone.access_percent))
                })
            }
            PlaceDistribution::ZonedAbs(zones) => [&zones.read, &zones.write, &zones.trim]
                .into_iter()
                .try_for_each(|zones| check_accesses(zones.iter().map(|zone| zone.access_percent))),
            PlaceDistribution::Listed { blocks, .. } if blocks.is_empty() => {
                Err(Refusal::new("a list of no blocks", "give one or more"))
            }
            PlaceDistribution::Listed { .. } => Ok(()),
            PlaceDistribution::SteadyFill(fill) => fill.check(),
        }
    }
}

impl FileService {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        match *self {
            Self::RoundRobin { ios: 0 } | Self::Random { ios: 0 } => {
                Err(Refusal::new("0 I/Os in a row to one file", "give 1 or more"))
            }
            Self::RoundRobin { .. } | Self::Sequential | Self::Random { .. } => Ok(()),
            Self::Zipf { theta, center } => check_zipf(theta, center),
            Self::Pareto { h, center } => check_pareto(h, center),
            Self::Normal { deviation, center } => check_normal(deviation, center),
        }
    }
}

fn check_center(center: Option<f64>) -> Result<(), Refusal> {
    match center {
        Some(center) if !(0.0..=1.0).contains(&center) => {
            Err(Refusal::new(format!("a center at {center}"), "give a share between 0 and 1"))
        }
        _ => Ok(()),
    }
}

fn check_zipf(theta: f64, center: Option<f64>) -> Result<(), Refusal> {
    if !(theta > 0.0 && theta <= 100.0 && theta != 1.0) {
        return Err(Refusal::new(
            format!("zipf's theta {theta}"),
            "give a value above 0 and up to 100, but not 1",
        ));
    }
    check_center(center)
}

fn check_pareto(h: f64, center: Option<f64>) -> Result<(), Refusal> {
    if !(h > 0.0 && h < 1.0) {
        return Err(Refusal::new(format!("pareto's h {h}"), "give a value between 0 and 1"));
    }
    check_center(center)
}

fn check_normal(deviation: f64, center: Option<f64>) -> Result<(), Refusal> {
    if !(0.0..=100.0).contains(&deviation) {
        return Err(Refusal::new(
            format!("a normal deviation of {deviation} %"),
            "give a value of 0 to 100",
        ));
    }
    check_center(center)
}

/// Whether it is a whole number of percent.
fn is_percent(value: f64) -> bool {
    (0.0..=100.0).contains(&value) && value.fract() == 0.0
}

fn not_zones() -> Refusal {
    Refusal::new(
        "zones of a 'sequence' that are not whole percents of a whole",
        "give each its percent of the I/Os, 100 together, and of the space, no more than 100",
    )
}

fn check_accesses(percents: impl Iterator<Item = f64> + Clone) -> Result<(), Refusal> {
    let none = percents.clone().next().is_none();
    let whole = percents.clone().all(is_percent);
    if none || whole && percents.sum::<f64>() == 100.0 { Ok(()) } else { Err(not_zones()) }
}
