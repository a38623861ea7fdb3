//! Which block comes next, as fio draws it from its seeds: who compares offsets with those of fio finds the same.

use std::path::PathBuf;

use super::target::FioRegion;
use crate::dialect::fio::input::complete::may_overlap;
use crate::dialect::fio::job::names;
use crate::dialect::fio::job::{
    FioAccessZone, FioAmount, FioDistribution, FioJob, FioRandomGenerator, FioRwSequencer,
    FioServiceOrder, FioSprandom, FioVerifyKind, FioZoneMode, PerDirection, refused,
};
use assay_plan::error::Refusal;
use assay_plan::plan::{
    ByDirection, FileService, PlaceDistribution, RandomGenerator, RandomPlaces, SeededSequence,
    SequencePlaces, SequenceSeeds, SizedZone, SteadyFill, StridedZones, Zone,
};
use assay_plan::unit::Bytes;

impl FioJob {
    /// The sequence of a clone; `None` where it is one block after the other, which needs no seeds.
    pub(super) fn sequence(
        &self,
        place: &FioRegion,
        (clone, thread): (u32, u32),
    ) -> Option<Box<SeededSequence>> {
        let pattern = &self.pattern;
        let block = pattern.bs.read;
        let sizes = [&pattern.min_bs, &pattern.max_bs];
        let one_size = sizes.iter().all(|sizes| sizes.iter().all(|bytes| *bytes == block))
            && pattern.bssplit.iter().all(Vec::is_empty);
        let in_order = !pattern.rw.random() && pattern.sequence_gap == 0;
        let alone =
            place.files == 1 && !pattern.rw.mixed() && !(pattern.rw.writes() && pattern.rw.trims());
        let zones = self.strided_zones();
        if in_order
            && alone
            && one_size
            && zones.is_none()
            && !self.reads_back_each_pass()
            && !(self.reads_back() && may_overlap(self))
            && place.each.is_multiple_of(block.max(1))
        {
            return None;
        }
        let places = match pattern.rw.random() {
            true => SequencePlaces::Random(self.random_places(clone)),
            false => SequencePlaces::InOrder { gap: pattern.sequence_gap },
        };
        let every = self.sync.fsync.max(self.sync.fdatasync);
        let asked = self.target.io_size.is_some_and(|size| size != FioAmount::Bytes(0));
        let moved = asked || pattern.sprandom.asked;
        Some(Box::new(SeededSequence {
            generator: match pattern.random_generator {
                // Who names it keeps it, however many blocks there are.
                FioRandomGenerator::Tausworthe => {
                    self.is_set("random_generator").then_some(RandomGenerator::Tausworthe)
                }
                FioRandomGenerator::Tausworthe64 => Some(RandomGenerator::Tausworthe64),
                FioRandomGenerator::Lfsr => Some(RandomGenerator::Lfsr),
            },
            seeds: self.seeds(thread),
            files: self.service(),
            open_files: (self.target.openfiles < place.files).then_some(self.target.openfiles),
            sizes_by_order: pattern.bs_is_seq_rand,
            unaligned: pattern.bs_unaligned,
            queued: !self.queue.engine.synchronous(),
            verified: self.verify.kind != FioVerifyKind::None,
            size: Some(Bytes(place.region)),
            io_size: moved.then_some(Bytes(place.bytes)),
            file_end: place.file_end.map(Bytes),
            zones,
            endless: self.is_endless(),
            flush_every: (every > 0 && pattern.rw.writes()).then_some(every.into()),
            ..SeededSequence::of(places)
        }))
    }

    /// Zones with gaps between them; a gap in percent is one of the file.
    pub(super) fn strided_zones(&self) -> Option<StridedZones> {
        let zones = &self.zones;
        let skip = match zones.skip {
            FioAmount::Bytes(bytes) => bytes,
            _ => 0,
        };
        (zones.mode == FioZoneMode::Strided).then_some(StridedZones {
            size: Bytes(zones.size),
            range: Bytes(zones.range),
            skip: Bytes(skip),
        })
    }

    /// Each clone has streams of its own; where runs are not to repeat, from a number that each run has anew.
    pub(super) fn seeds(&self, thread: u32) -> SequenceSeeds {
        let pattern = &self.pattern;
        SequenceSeeds::Fixed {
            base: pattern.randseed,
            first: thread,
            repeat: pattern.randrepeat,
            block: None,
        }
    }

    fn service(&self) -> FileService {
        let service = &self.target.file_service;
        let (ios, center) = (service.ios.max(1), service.center);
        match service.order {
            FioServiceOrder::Roundrobin => FileService::RoundRobin { ios },
            FioServiceOrder::Random => FileService::Random { ios },
            FioServiceOrder::Sequential => FileService::Sequential,
            FioServiceOrder::Zipf => FileService::Zipf { theta: service.parameter, center },
            FioServiceOrder::Pareto => FileService::Pareto { h: service.parameter, center },
            FioServiceOrder::Normal => FileService::Normal { deviation: service.parameter, center },
        }
    }

    fn random_places(&self, clone: u32) -> RandomPlaces {
        let pattern = &self.pattern;
        let of = |values: &PerDirection<u64>| ByDirection {
            read: Bytes(values.read),
            write: Bytes(values.write),
            trim: Bytes(values.trim),
        };
        let aligned = self.is_set("ba") && pattern.ba.iter().all(|bytes| *bytes > 0);
        let percent = &pattern.percentage_random;
        RandomPlaces {
            distribution: self.distribution(clone),
            run: pattern.sequence_length.max(1),
            same: pattern.sequencer == FioRwSequencer::Identical,
            percent: percent.iter().any(|percent| *percent < 100).then_some(ByDirection {
                read: percent.read as u8,
                write: percent.write as u8,
                trim: percent.trim as u8,
            }),
            align: aligned.then(|| of(&pattern.ba)),
        }
    }

    /// The pass of `sprandom`.
    fn steady_fill(&self) -> SteadyFill {
        let FioSprandom { regions, spare, cache, .. } = self.pattern.sprandom;
        SteadyFill { over_provisioning: spare, regions, cache: Bytes(cache) }
    }

    /// What that pass writes of so many bytes.
    pub(super) fn sprandom_bytes(&self, len: u64) -> Result<u64, Refusal> {
        let (fill, block) = (self.steady_fill(), self.pattern.bs.write);
        let region = fill.region(len, block);
        match fill.cache.0 > region {
            true => Err(refused(
                self,
                "spr_cs",
                &format!("a region has {region} bytes and must not be smaller than the cache"),
                "give fewer regions: spr_num_regions",
            )),
            false => Ok(fill.written(len, block)),
        }
    }

    fn distribution(&self, clone: u32) -> PlaceDistribution {
        let names = || -> Vec<PathBuf> {
            names::files_of(self, clone).into_iter().map(PathBuf::from).collect()
        };
        match &self.pattern.distribution {
            _ if self.pattern.sprandom.asked => PlaceDistribution::SteadyFill(self.steady_fill()),
            FioDistribution::Random => {
                PlaceDistribution::Uniform { random_map: !self.pattern.norandommap }
            }
            FioDistribution::Zipf { theta, center } => {
                PlaceDistribution::Zipf { theta: *theta, center: *center, names: names() }
            }
            FioDistribution::Pareto { h, center } => {
                PlaceDistribution::Pareto { h: *h, center: *center, names: names() }
            }
            FioDistribution::Normal { deviation, center } => {
                PlaceDistribution::Normal { deviation: *deviation, center: *center, names: names() }
            }
            FioDistribution::Zoned(zones) => zoned(zones),
            FioDistribution::Sequence(blocks) => PlaceDistribution::Listed {
                blocks: blocks.clone(),
                advance: self.pattern.sequence_stride,
            },
        }
    }
}

fn zoned(zones: &PerDirection<Vec<FioAccessZone>>) -> PlaceDistribution {
    let absolute = |zone: &FioAccessZone| matches!(zone.size, FioAmount::Bytes(_));
    if zones.iter().flatten().any(absolute) {
        let sized = |zones: &Vec<FioAccessZone>| -> Vec<SizedZone> {
            let size = |zone: &FioAccessZone| match zone.size {
                FioAmount::Bytes(bytes) => Bytes(bytes),
                _ => Bytes::ZERO,
            };
            let one = |zone: &FioAccessZone| SizedZone {
                access_percent: f64::from(zone.accesses),
                size: size(zone),
            };
            zones.iter().map(one).collect()
        };
        return PlaceDistribution::ZonedAbs(ByDirection {
            read: sized(&zones.read),
            write: sized(&zones.write),
            trim: sized(&zones.trim),
        });
    }
    let shared = |zones: &Vec<FioAccessZone>| -> Vec<Zone> {
        let space = |zone: &FioAccessZone| match zone.size {
            FioAmount::Percent(percent) => f64::from(percent),
            _ => 0.0,
        };
        let one = |zone: &FioAccessZone| Zone {
            access_percent: f64::from(zone.accesses),
            space_percent: space(zone),
        };
        zones.iter().map(one).collect()
    };
    PlaceDistribution::Zoned(ByDirection {
        read: shared(&zones.read),
        write: shared(&zones.write),
        trim: shared(&zones.trim),
    })
}
