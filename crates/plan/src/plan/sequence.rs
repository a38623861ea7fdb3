//! Sequences of I/Os that follow from fixed seeds: the generator, its streams, and how places, sizes,
//! directions and files are drawn from them. What it says is what fio 3.42 does, so that both touch the same
//! offsets in the same order.

use serde::{Deserialize, Serialize};

use crate::error::Refusal;
use crate::unit::Bytes;

use super::usual::is_usual;
use super::{
    Action, BlockSize, FileService, Mix, OffsetOrdering, PlaceDistribution, RandomPlaces,
    SequenceSeeds,
};

/// How the I/Os of a pattern are drawn from fixed seeds. It decides where they go; the pattern's `order` says
/// what that amounts to: `shuffled` where each block comes once a pass, `uniform` for any other random places.
///
/// A worker does one pass after another over its files. A pass ends when no file has room for another I/O, and
/// after `size` bytes where I/Os are `queued`. All ends with the bytes of all passes together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SeededSequence {
    /// Where offsets come from. Absent: `tausworthe`, or `tausworthe64` where a file has more than 2^32 blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<RandomGenerator>,
    /// The seeds of its streams.
    #[serde(default)]
    pub seeds: SequenceSeeds,
    /// Where the next I/O goes.
    pub places: SequencePlaces,
    /// Which of several files it goes to.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub files: FileService,
    /// So many files are gone through at once: another is begun when one of them is done (fio's `openfiles`).
    /// Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_files: Option<u32>,
    /// Blocks at random places have the sizes of writes, blocks in order those of reads (fio's
    /// `bs_is_seq_rand`).
    #[serde(default, skip_serializing_if = "is_usual")]
    pub sizes_by_order: bool,
    /// Sizes need not be multiples of the smallest (fio's `bs_unaligned`).
    #[serde(default, skip_serializing_if = "is_usual")]
    pub unaligned: bool,
    /// I/Os are queued, not done call by call (fio's asynchronous engines): a pass also ends after its bytes.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub queued: bool,
    /// What is written is verified later: writes draw their sizes from the seed of the reads, and a pass of
    /// `queued` I/Os ends after its bytes even where only time ends the job.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub verified: bool,
    /// Bytes of a pass over all files. Absent: the regions of all files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// Bytes of all passes together, if not those of `size` (fio's `io_size`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_size: Option<Bytes>,
    /// Where each file ends, counted from its beginning. Absent: where the region ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_end: Option<Bytes>,
    /// The file is gone through in zones, with gaps between them (fio's `zonemode=strided`). For one file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<StridedZones>,
    /// After every so many writes a flush takes a turn among the files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush_every: Option<u64>,
    /// Only time ends it (fio's `time_based`): each action that comes to the end of the only file, and each file
    /// that has no free block left, begins anew, and the streams of random numbers go on.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub endless: bool,
}

/// Zones of a file: so many bytes are moved in one, then comes the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct StridedZones {
    /// Bytes that are moved in a zone, one or more.
    pub size: Bytes,
    /// How long a zone is, bytes; one or more.
    pub range: Bytes,
    /// From the end of a zone to the beginning of the next, bytes.
    #[serde(default)]
    pub skip: Bytes,
}

/// Where offsets come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RandomGenerator {
    /// L'Ecuyer's combined Tausworthe generator of 32 bits (taus88).
    Tausworthe,
    /// The same of 64 bits (taus258), also for sizes and files.
    Tausworthe64,
    /// A linear feedback shift register: each block once a pass, without a map.
    Lfsr,
}

/// Where the next I/O goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SequencePlaces {
    /// Where the last of the same action ended.
    InOrder {
        /// Bytes from there, negative to go back (fio's `rw=read:8k`).
        #[serde(default)]
        gap: i64,
    },
    /// Anywhere.
    Random(RandomPlaces),
}

impl SeededSequence {
    /// A sequence of the usual seeds, over whole files in turn.
    pub fn of(places: SequencePlaces) -> Self {
        Self {
            generator: None,
            seeds: SequenceSeeds::default(),
            places,
            files: FileService::default(),
            open_files: None,
            sizes_by_order: false,
            unaligned: false,
            queued: false,
            verified: false,
            size: None,
            io_size: None,
            file_end: None,
            zones: None,
            flush_every: None,
            endless: false,
        }
    }

    /// Refuses what contradicts itself or the rest of the pattern.
    pub(super) fn check(
        &self,
        mix: &Mix,
        order: &OffsetOrdering,
        block: &BlockSize,
        align: Option<Bytes>,
    ) -> Result<(), Refusal> {
        check_mix(mix)?;
        let steady_fill = matches!(
            &self.places,
            SequencePlaces::Random(RandomPlaces {
                distribution: PlaceDistribution::SteadyFill(_),
                ..
            })
        );
        if steady_fill
            && (!mix.has_only(Action::Write)
                || self.generator != Some(RandomGenerator::Lfsr)
                || block.smallest() != block.largest())
        {
            return Err(Refusal::new(
                "a 'steady_fill' of other than writes of one size by the generator 'lfsr'",
                "write alone, with one block size and that generator",
            ));
        }
        let in_order = matches!(self.places, SequencePlaces::InOrder { .. });
        if in_order != goes_in_order(order) || matches!(order, OffsetOrdering::Listed { .. }) {
            return Err(Refusal::new(
                "a 'sequence' whose places are not of the kind that 'order' says",
                "give an order such as 'forward' for places in order, 'shuffled' or 'uniform' for random ones",
            ));
        }
        if align.is_some() {
            return Err(Refusal::new(
                "an 'align' of the region beside a 'sequence'",
                "give it as 'align' of the random places",
            ));
        }
        self.check_sizes(block)?;
        self.files.check()?;
        if self.open_files == Some(0) {
            return Err(Refusal::new(
                "a sequence with 0 files open",
                "give 1 or more 'open_files'",
            ));
        }
        if self.flush_every == Some(0)
            || self.size == Some(Bytes(0))
            || self.io_size == Some(Bytes(0))
        {
            return Err(Refusal::new(
                "a sequence of 0 bytes, or with a flush after every 0 writes",
                "leave it out",
            ));
        }
        let empty = |zones: &StridedZones| zones.size == Bytes(0) || zones.range == Bytes(0);
        if self.zones.as_ref().is_some_and(empty) {
            return Err(Refusal::new("zones of 0 bytes", "give 'size' and 'range' 1 or more"));
        }
        match &self.places {
            SequencePlaces::InOrder { .. } => Ok(()),
            SequencePlaces::Random(places) => places.check(),
        }
    }

    fn check_sizes(&self, block: &BlockSize) -> Result<(), Refusal> {
        match block {
            BlockSize::Range { least, most, step } if least != most => {
                let meant = if self.unaligned { Bytes(1) } else { *least };
                if *step != meant {
                    return Err(Refusal::new(
                        format!("a 'sequence' with sizes in steps of {step}"),
                        format!("give a step of {meant}"),
                    ));
                }
                Ok(())
            }
            BlockSize::Split(sizes) if sizes.iter().any(|size| size.weight > 100) => {
                Err(Refusal::new("a 'sequence' with weights of sizes above 100", "give percents"))
            }
            BlockSize::PerAction(list) => {
                list.iter().try_for_each(|entry| self.check_sizes(&entry.size))
            }
            _ => Ok(()),
        }
    }
}

/// Whether the places of an order follow from the last one.
fn goes_in_order(order: &OffsetOrdering) -> bool {
    match order {
        OffsetOrdering::Forward
        | OffsetOrdering::Backward
        | OffsetOrdering::Strided { .. }
        | OffsetOrdering::Spaced { .. }
        | OffsetOrdering::Same => true,
        OffsetOrdering::Each { order } => goes_in_order(order),
        _ => false,
    }
}

fn check_mix(mix: &Mix) -> Result<(), Refusal> {
    let listed = |action| mix.0.iter().any(|share| share.action == action);
    let known = [Action::Read, Action::Write, Action::Trim];
    let total: u32 = mix.0.iter().fold(0, |sum, share| sum.saturating_add(share.weight));
    if mix.0.iter().any(|share| !known.contains(&share.action))
        || listed(Action::Read) && listed(Action::Trim)
    {
        return Err(Refusal::new(
            "a 'sequence' of actions that it cannot draw",
            "mix read and write, or trim and write, or give one of them",
        ));
    }
    if listed(Action::Read) && listed(Action::Write) && total != 100 {
        return Err(Refusal::new(
            format!("a 'sequence' of reads and writes with weights that add up to {total}"),
            "give percents",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::json;

    use super::*;
    use crate::plan::{ByDirection, Pattern, PlaceDistribution, Zone};

    fn pattern() -> Pattern {
        let places = SequencePlaces::Random(RandomPlaces::default());
        Pattern {
            sequence: Some(Box::new(SeededSequence::of(places))),
            ..Pattern::of(
                Mix::only(Action::Read),
                OffsetOrdering::Shuffled,
                BlockSize::Fixed(Bytes(4096)),
            )
        }
    }

    #[test]
    fn a_document_says_no_more_than_it_must() {
        let document = json!({
            "mix": [{ "action": "read", "weight": 100 }],
            "order": "shuffled",
            "block": { "fixed": 4096 },
            "sequence": { "places": { "random": {} } },
        });
        let read: Pattern = serde_json::from_value(document).expect("a pattern");
        assert_eq!(read, pattern());
        let zipf = PlaceDistribution::Zipf {
            theta: 1.2,
            center: None,
            names: vec![PathBuf::from("job.0.0")],
        };
        let sequence = SeededSequence {
            generator: Some(RandomGenerator::Tausworthe64),
            seeds: SequenceSeeds::Plan,
            files: FileService::Normal { deviation: 10.0, center: Some(0.5) },
            size: Some(Bytes(1 << 20)),
            ..SeededSequence::of(SequencePlaces::Random(RandomPlaces {
                distribution: zipf,
                percent: Some(ByDirection::same(50)),
                ..RandomPlaces::default()
            }))
        };
        let text = serde_json::to_string(&sequence).expect("a document");
        assert_eq!(serde_json::from_str::<SeededSequence>(&text).expect("a sequence"), sequence);
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        assert!(pattern().check().is_ok());
        let refused = |change: &dyn Fn(&mut Pattern)| {
            let mut pattern = pattern();
            change(&mut pattern);
            pattern.check().expect_err("a refusal").to_string()
        };
        let places = |places: RandomPlaces| {
            refused(&move |pattern| {
                let places = SequencePlaces::Random(places.clone());
                pattern.sequence = Some(Box::new(SeededSequence::of(places)));
            })
        };
        assert!(refused(&|pattern| pattern.order = OffsetOrdering::Forward).contains("order"));
        assert!(refused(&|pattern| pattern.mix = Mix::only(Action::Rewrite)).contains("actions"));
        assert!(refused(&|pattern| pattern.region.align = Some(Bytes(512))).contains("align"));
        let block = BlockSize::Range { least: Bytes(4096), most: Bytes(16384), step: Bytes(512) };
        assert!(refused(&|pattern| pattern.block = block.clone()).contains("steps of"));
        let spread =
            |distribution| places(RandomPlaces { distribution, ..RandomPlaces::default() });
        let zipf = PlaceDistribution::Zipf { theta: 1.0, center: None, names: Vec::new() };
        assert!(spread(zipf).contains("theta"));
        let zone = Zone { access_percent: 99.0, space_percent: 100.0 };
        let zones = ByDirection::same(vec![zone]);
        assert!(spread(PlaceDistribution::Zoned(zones)).contains("zones"));
        let none = PlaceDistribution::Listed { blocks: Vec::new(), advance: false };
        assert!(spread(none).contains("no blocks"));
        assert!(places(RandomPlaces { run: 0, ..RandomPlaces::default() }).contains("runs of 0"));
        let percent = Some(ByDirection::same(101));
        assert!(
            places(RandomPlaces { percent, ..RandomPlaces::default() }).contains("100 percent")
        );
    }
}
