//! Which of several files the next I/O goes to.

use assay_plan::plan::{FileService, Tausworthe};

use super::file::SequenceFile;
use super::skew::{SkewedPlaces, zipf_sum};

/// Places of a law for each file.
const PLACES_BITS: u32 = 10;

/// Chooses among files.
#[derive(Clone, Debug)]
pub(super) struct FileChoice {
    order: ChoiceOrder,
    /// I/Os in a row to one file.
    row: u32,
    /// Whose turn it is next.
    turn: usize,
    /// The file of the last I/O.
    current: Option<usize>,
    /// More in a row to it.
    left: u32,
    /// Files that are done.
    done: usize,
    /// Files that are open, and how many may be.
    open: usize,
    most_open: usize,
}

#[derive(Clone, Debug)]
enum ChoiceOrder {
    Turns,
    Along,
    Any,
    /// Its second is as it was seeded.
    Skewed(Box<[SkewedPlaces; 2]>),
}

impl FileChoice {
    /// Among so many files; `seed` is that of the stream of files.
    pub(super) fn new(service: FileService, files: usize, seed: u32) -> Self {
        let places = (files as u64) << PLACES_BITS;
        let skewed = |law: SkewedPlaces| {
            let law = law.in_order();
            ChoiceOrder::Skewed(Box::new([law.clone(), law]))
        };
        let (order, row) = match service {
            FileService::RoundRobin { ios } => (ChoiceOrder::Turns, ios),
            FileService::Sequential => (ChoiceOrder::Along, 1),
            FileService::Random { ios } => (ChoiceOrder::Any, ios),
            FileService::Zipf { theta, center } => {
                let law = (theta, zipf_sum(places, theta));
                (skewed(SkewedPlaces::zipf(places, law, center, seed)), 1)
            }
            FileService::Pareto { h, center } => {
                (skewed(SkewedPlaces::pareto(places, h, center, seed)), 1)
            }
            FileService::Normal { deviation, center } => {
                (skewed(SkewedPlaces::normal(places, deviation, center, seed)), 1)
            }
        };
        Self { order, row, turn: 0, current: None, left: 0, done: 0, open: 0, most_open: files }
    }

    /// The same with so many files open at once, 1 or more: another is begun when one of them is done.
    pub(super) fn opening(self, most_open: Option<u32>) -> Self {
        let most_open = most_open.map_or(self.most_open, |most| most.max(1) as usize);
        Self { most_open, ..self }
    }

    /// Whether a file that is done begins again.
    pub(super) fn begins_again(&self) -> bool {
        matches!(self.order, ChoiceOrder::Skewed(_))
    }

    /// The next file, open; `None` when all are done.
    #[inline]
    pub(super) fn next(
        &mut self,
        files: &mut [SequenceFile],
        random: &mut Tausworthe,
        start: u64,
    ) -> Option<usize> {
        if self.done >= files.len() {
            return None;
        }
        if let Some(current) = self.current.filter(|current| files[*current].open) {
            if matches!(self.order, ChoiceOrder::Along) {
                return Some(current);
            }
            if self.left > 0 {
                self.left -= 1;
                return Some(current);
            }
        }
        let file = loop {
            let file = self.drawn(files.len(), random);
            if files[file].open || !files[file].done && self.open < self.most_open {
                break file;
            }
        };
        if !files[file].open {
            files[file].open(start);
            self.open += 1;
        }
        self.current = Some(file);
        self.left = self.row.saturating_sub(1);
        Some(file)
    }

    #[inline]
    fn drawn(&mut self, files: usize, random: &mut Tausworthe) -> usize {
        match &mut self.order {
            ChoiceOrder::Turns | ChoiceOrder::Along => {
                let file = self.turn;
                self.turn = if file + 1 == files { 0 } else { file + 1 };
                file
            }
            // A share of 64 bits may be rounded to 1.
            ChoiceOrder::Any => ((files as f64 * random.share()) as usize).min(files - 1),
            ChoiceOrder::Skewed(laws) => (laws[0].next() >> PLACES_BITS) as usize,
        }
    }

    /// A file has no room for another I/O.
    pub(super) fn is_full(&mut self, file: &mut SequenceFile, start: u64) {
        file.open = false;
        self.open -= 1;
        if self.begins_again() {
            file.reset(start);
        } else {
            file.done = true;
            self.done += 1;
        }
    }

    /// A new pass over all files.
    pub(super) fn begin_pass(&mut self, files: &mut [SequenceFile]) {
        (self.done, self.open) = (0, 0);
        for file in files {
            (file.open, file.done) = (false, false);
        }
    }

    /// From its seed again.
    pub(super) fn reseed(&mut self) {
        if let ChoiceOrder::Skewed(laws) = &mut self.order {
            let [law, fresh] = laws.as_mut();
            law.clone_from(fresh);
        }
    }

    /// Whether all files are done.
    pub(super) fn all_done(&self, files: &[SequenceFile]) -> bool {
        self.done >= files.len()
    }
}
