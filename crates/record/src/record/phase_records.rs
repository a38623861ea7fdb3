//! The phases of a record, of which a long one has thousands: all but the latest can be packed, so that a run takes
//! hardly more memory the longer it lasts.
//!
//! Whoever looks at a phase finds it as if nothing were packed: it is unpacked where it stands, and stays so until
//! the next [`PhaseRecords::repack`]. Who goes through all of them once uses [`PhaseRecords::stream`], which leaves
//! nothing behind.

use std::cell::OnceCell;
use std::io::{self, Read as _};
use std::ops::{Deref, Index, IndexMut, Range};
use std::rc::Rc;

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::json::{JsonLayout, write_json};
use super::judgement::WordlessVerdict;
use super::{PhaseRecord, Verdict, read_json};

/// As [`PhaseRecords::PACK`].
const PACK: usize = PhaseRecords::PACK;

/// So many of the latest are never packed.
const LATEST: usize = 96;

/// The phases of a record, in their order.
#[derive(Clone, Debug, Default)]
pub struct PhaseRecords {
    packs: Vec<PhasePack>,
    latest: Vec<PhaseRecord>,
}

/// [`PACK`] phases that follow each other.
#[derive(Clone, Debug)]
struct PhasePack {
    /// Absent of those that were changed since, or cannot be kept so.
    packed: Option<PackedJson>,
    unpacked: OnceCell<Box<[PhaseRecord]>>,
}

/// JSON, compressed.
#[derive(Clone, Debug)]
struct PackedJson {
    bytes: Box<[u8]>,
    /// Bytes of the text.
    len: usize,
}

impl PhasePack {
    /// Of phases that were changed.
    fn of(phases: Box<[PhaseRecord]>) -> Self {
        Self { packed: None, unpacked: OnceCell::from(phases) }
    }

    /// Packs them, if they come out of it as they are.
    fn pack(&mut self) {
        if self.packed.is_none() {
            let packed = self.unpacked.get_mut().map(|phases| PackedJson::of(phases));
            let phases = self.unpacked.get();
            let back = |packed: &PackedJson| packed.phases().ok().as_ref() == phases;
            self.packed = packed.and_then(Result::ok).filter(back);
        }
        if self.packed.is_some() {
            self.unpacked.take();
        }
    }

    /// They as they are by themselves.
    fn read(&self) -> Box<[PhaseRecord]> {
        let read = self.packed.as_ref().map(|packed| packed.phases().expect("it was tried"));
        read.unwrap_or_default()
    }

    fn phases(&self) -> &[PhaseRecord] {
        self.unpacked.get_or_init(|| self.read())
    }

    /// They, to be changed.
    fn phases_mut(&mut self) -> &mut [PhaseRecord] {
        self.phases();
        self.packed = None;
        self.unpacked.get_mut().map(|phases| &mut **phases).unwrap_or_default()
    }
}

impl PackedJson {
    /// Verdicts stand behind the phases: without their words, which follow from the claims.
    fn of(phases: &mut [PhaseRecord]) -> io::Result<Self> {
        let verdicts: Vec<_> = phases.iter_mut().map(|phase| phase.verdict.take()).collect();
        let wordless: Vec<_> =
            verdicts.iter().map(|verdict| verdict.as_ref().map(WordlessVerdict)).collect();
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        let written = write_json(&(&*phases, wordless), JsonLayout::Line, &mut encoder);
        for (phase, verdict) in phases.iter_mut().zip(verdicts) {
            phase.verdict = verdict;
        }
        written?;
        encoder.try_finish()?;
        let len = encoder.total_in() as usize;
        Ok(Self { bytes: encoder.finish()?.into(), len })
    }

    fn phases(&self) -> io::Result<Box<[PhaseRecord]>> {
        let mut text = String::with_capacity(self.len);
        DeflateDecoder::new(&*self.bytes).read_to_string(&mut text)?;
        let (mut phases, verdicts): (Box<[PhaseRecord]>, Vec<Option<Verdict>>) = read_json(&text)?;
        for (phase, verdict) in phases.iter_mut().zip(verdicts) {
            phase.verdict = verdict;
        }
        Ok(phases)
    }
}

impl PhaseRecords {
    /// So many phases are packed together: what they have in common costs little then.
    pub const PACK: usize = 32;

    /// How many there are.
    pub fn len(&self) -> usize {
        self.packs.len() * PACK + self.latest.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, place: usize) -> Option<&PhaseRecord> {
        match self.packs.get(place / PACK) {
            Some(pack) => pack.phases().get(place % PACK),
            None => self.latest.get(place - self.packs.len() * PACK),
        }
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, place: usize) -> Option<&mut PhaseRecord> {
        let latest = self.packs.len() * PACK;
        match self.packs.get_mut(place / PACK) {
            Some(pack) => pack.phases_mut().get_mut(place % PACK),
            None => self.latest.get_mut(place - latest),
        }
    }

    pub fn first(&self) -> Option<&PhaseRecord> {
        self.get(0)
    }

    pub fn last(&self) -> Option<&PhaseRecord> {
        self.latest.last()
    }

    pub fn iter(&self) -> PhaseRecordIter<'_> {
        PhaseRecordIter { phases: self, places: 0..self.len() }
    }

    /// All of them, to be gone through once: what is packed stays packed.
    pub fn stream(&self) -> impl Iterator<Item = StreamedPhase<'_>> {
        let packs = self.packs.iter().flat_map(move |pack| {
            let kept = pack.unpacked.get();
            let read = kept.is_none().then(|| Rc::new(pack.read()));
            (0..PACK).filter_map(move |at| match (kept, &read) {
                (Some(kept), _) => kept.get(at).map(StreamedPhase::Kept),
                (None, Some(read)) => Some(StreamedPhase::Read(Rc::clone(read), at)),
                (None, None) => None,
            })
        });
        packs.chain(self.latest.iter().map(StreamedPhase::Kept))
    }

    /// Looks at single ones, most often in their order: what is packed stays packed.
    pub fn look(&self) -> PhaseLook<'_> {
        PhaseLook { phases: self, read: None }
    }

    /// Adds one that has ended.
    pub fn push(&mut self, phase: PhaseRecord) {
        self.latest.push(phase);
    }

    /// Packs those that are not of the latest, when they are enough.
    pub fn pack(&mut self) {
        if self.latest.len() >= LATEST + PACK {
            self.packs.push(PhasePack::of(self.latest.drain(..PACK).collect()));
            self.repack();
        }
    }

    /// Packs again what was unpacked since by looking at it.
    pub fn repack(&mut self) {
        self.packs.iter_mut().for_each(PhasePack::pack);
    }

    /// All of them in one piece, to be changed. Nothing is packed any more.
    pub fn as_mut_vec(&mut self) -> &mut Vec<PhaseRecord> {
        let mut packs: Vec<PhasePack> = std::mem::take(&mut self.packs);
        let early = packs.iter_mut().flat_map(|pack| pack.phases_mut().to_vec());
        self.latest.splice(..0, early);
        &mut self.latest
    }

    /// All of them, to be changed.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, PhaseRecord> {
        self.as_mut_vec().iter_mut()
    }
}

#[derive(Debug)]
pub enum StreamedPhase<'p> {
    /// Of those that are not packed.
    Kept(&'p PhaseRecord),
    /// Of those that were unpacked to be looked at, with its place among them.
    Read(Rc<Box<[PhaseRecord]>>, usize),
}

impl Deref for StreamedPhase<'_> {
    type Target = PhaseRecord;

    fn deref(&self) -> &PhaseRecord {
        match self {
            Self::Kept(phase) => phase,
            Self::Read(phases, place) => &phases[*place],
        }
    }
}

/// Looks at phases by their places.
#[derive(Clone, Debug)]
pub struct PhaseLook<'p> {
    phases: &'p PhaseRecords,
    /// The pack that was looked into last.
    read: Option<(usize, Rc<Box<[PhaseRecord]>>)>,
}

impl<'p> PhaseLook<'p> {
    pub fn at(&mut self, place: usize) -> Option<StreamedPhase<'p>> {
        let number = place / PACK;
        let packed = self.phases.packs.get(number).filter(|pack| pack.unpacked.get().is_none());
        let Some(pack) = packed else { return self.phases.get(place).map(StreamedPhase::Kept) };
        let known = self.read.take().filter(|(known, _)| *known == number);
        let (_, read) = self.read.insert(known.unwrap_or_else(|| (number, Rc::new(pack.read()))));
        (place % PACK < read.len()).then(|| StreamedPhase::Read(Rc::clone(read), place % PACK))
    }
}

/// Goes through phases.
#[derive(Clone, Debug)]
pub struct PhaseRecordIter<'p> {
    phases: &'p PhaseRecords,
    places: Range<usize>,
}

impl<'p> Iterator for PhaseRecordIter<'p> {
    type Item = &'p PhaseRecord;

    fn next(&mut self) -> Option<&'p PhaseRecord> {
        self.phases.get(self.places.next()?)
    }

    fn nth(&mut self, count: usize) -> Option<&'p PhaseRecord> {
        self.phases.get(self.places.nth(count)?)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.places.size_hint()
    }
}

impl DoubleEndedIterator for PhaseRecordIter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.phases.get(self.places.next_back()?)
    }
}

impl ExactSizeIterator for PhaseRecordIter<'_> {}

impl<'p> IntoIterator for &'p PhaseRecords {
    type Item = &'p PhaseRecord;
    type IntoIter = PhaseRecordIter<'p>;

    fn into_iter(self) -> PhaseRecordIter<'p> {
        self.iter()
    }
}

impl<'p> IntoIterator for &'p mut PhaseRecords {
    type Item = &'p mut PhaseRecord;
    type IntoIter = std::slice::IterMut<'p, PhaseRecord>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl Index<usize> for PhaseRecords {
    type Output = PhaseRecord;

    fn index(&self, place: usize) -> &PhaseRecord {
        self.get(place).expect("a phase of that place")
    }
}

impl IndexMut<usize> for PhaseRecords {
    fn index_mut(&mut self, place: usize) -> &mut PhaseRecord {
        self.get_mut(place).expect("a phase of that place")
    }
}

impl From<Vec<PhaseRecord>> for PhaseRecords {
    fn from(phases: Vec<PhaseRecord>) -> Self {
        Self { packs: Vec::new(), latest: phases }
    }
}

impl FromIterator<PhaseRecord> for PhaseRecords {
    fn from_iter<I: IntoIterator<Item = PhaseRecord>>(phases: I) -> Self {
        Vec::from_iter(phases).into()
    }
}

impl PartialEq for PhaseRecords {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.stream().zip(other.stream()).all(|(a, b)| *a == *b)
    }
}

impl Serialize for PhaseRecords {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.stream().map(SerializedPhase))
    }
}

/// A phase of a stream as it is written.
struct SerializedPhase<'p>(StreamedPhase<'p>);

impl Serialize for SerializedPhase<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

impl<'de> Deserialize<'de> for PhaseRecords {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Vec::deserialize(from).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Finding, FindingWeight, MeasuredSubject, TrapId, Trust};
    use super::*;
    use crate::claim::SummaryClaim;

    /// So many that differ.
    fn phases(count: usize) -> Vec<PhaseRecord> {
        let kept = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../tests/records/t00-counters-unseen.json");
        let first = super::super::load(&kept).expect("a record").phases[0].clone();
        let phase = |number| PhaseRecord { name: format!("phase {number}"), ..first.clone() };
        (0..count).map(phase).collect()
    }

    fn pushed(phases: &[PhaseRecord]) -> PhaseRecords {
        let mut records = PhaseRecords::default();
        for phase in phases {
            records.push(phase.clone());
            records.pack();
        }
        records
    }

    fn packed(records: &PhaseRecords) -> usize {
        let packed = |pack: &&PhasePack| pack.packed.is_some() && pack.unpacked.get().is_none();
        records.packs.iter().filter(packed).count() * PACK
    }

    #[test]
    fn a_few_are_not_packed_and_of_many_all_but_the_latest() {
        assert_eq!(packed(&pushed(&phases(LATEST + PACK - 1))), 0);
        let records = pushed(&phases(500));
        assert_eq!((packed(&records), records.len()), (384, 500));
        assert!(records.latest.len() < LATEST + PACK);
    }

    #[test]
    fn they_look_as_if_nothing_were_packed() {
        let all = phases(300);
        let mut records = pushed(&all);
        assert!(records.stream().map(|phase| phase.clone()).eq(all.iter().cloned()));
        assert_eq!(packed(&records), 192);
        assert_eq!(serde_json::to_string(&records).unwrap(), serde_json::to_string(&all).unwrap());
        assert_eq!(records, pushed(&all));
        let mut look = records.look();
        let looked =
            [0, 33, 1, 299, 300].map(|place| look.at(place).map(|phase| phase.name.clone()));
        let named = [Some(0), Some(33), Some(1), Some(299), None];
        assert_eq!(looked, named.map(|at| at.map(|at: usize| all[at].name.clone())));
        assert_eq!(packed(&records), 192, "nobody has looked but in passing");

        assert!(records.iter().eq(&all));
        assert!(records.iter().rev().eq(all.iter().rev()));
        assert_eq!(records.iter().rposition(|phase| phase.name == "phase 7"), Some(7));
        assert_eq!((records.first(), records.last()), (all.first(), all.last()));
        assert_eq!((&records[33], records.get(300)), (&all[33], None));
        assert_eq!(packed(&records), 0, "somebody has looked");
        records.repack();
        assert_eq!(packed(&records), 192);
    }

    #[test]
    fn a_pack_has_no_words_of_what_is_claimed() {
        let mut phases = phases(PACK);
        let finding = Finding {
            trap: TrapId::T02,
            weight: FindingWeight::Note,
            measures: None,
            claim: SummaryClaim::NoResult.into(),
            because: Vec::new(),
            next: None,
        };
        let verdict = Verdict {
            trust: Trust::Sound,
            measures: MeasuredSubject::Device,
            claims: vec![SummaryClaim::AllValid { results: 2 }.into()],
            corrected: None,
            findings: vec![finding],
        };
        phases[0].verdict = Some(verdict.clone());
        let (summary, text) = (verdict.summary(), verdict.findings[0].text());
        let packed = PackedJson::of(&mut phases).expect("packed");
        assert_eq!(phases[0].verdict, Some(verdict));
        let mut json = String::new();
        DeflateDecoder::new(&*packed.bytes).read_to_string(&mut json).expect("text");
        for words in [summary, text] {
            assert!(!words.is_empty() && !json.contains(&words), "{words}");
        }
        assert_eq!(*packed.phases().expect("phases"), phases[..]);
    }

    #[test]
    fn what_is_changed_is_packed_anew_and_what_would_be_lost_is_not_packed() {
        let mut all = phases(300);
        let mut records = pushed(&all);
        for changed in [&mut all[40], &mut records[40]] {
            changed.name = "another".into();
        }
        records.repack();
        assert_eq!(packed(&records), 192);
        assert!(records.stream().map(|phase| phase.clone()).eq(all.iter().cloned()));

        // No JSON has it.
        let total = records[70].totals.values_mut().next().unwrap();
        total.bandwidth = Some(assay_plan::unit::Bandwidth(f64::NAN));
        records.repack();
        assert_eq!(packed(&records), 160);
        let kept = records[70].totals.values().next().unwrap().bandwidth;
        assert!(kept.is_some_and(|rate| rate.0.is_nan()));

        let mut records = pushed(&all);
        records.as_mut_vec().remove(1);
        all.remove(1);
        assert_eq!(records.latest, all);
    }
}
