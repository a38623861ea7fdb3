//! How much time each cell of a sweep is worth, and when none is left for it: from the phases that
//! were done before it, so that an old record tells the same as the run did.

use super::super::leave::totals;
use crate::leave;
use assay_plan::plan::{self, CellParams, Phase, StopLimit, Study as _, SweepAxis, SweepPacing};
use assay_plan::unit::{Bytes, Nanos};
use assay_record::claim::ObstacleClaim;
use assay_record::record::{Ending, PhaseRecord, Record, SweepSide, jobs_of};

/// Bytes that tell what a device can do: a cell that moves them in less than its least time needs no
/// more, one that cannot in its most gets no more.
const ENOUGH: f64 = 64.0 * 1024.0 * 1024.0;

/// What a cell takes beside its I/O (opening, dropping, flushing, looking) until that was seen.
const BESIDE: Nanos = Nanos::millis(150);

/// The least time of a cell when the whole is nearly over: below it a figure says nothing.
const LEAST: Nanos = Nanos::millis(300);

/// The phase with the limits that the speed of the device so far suggests; `None` where it stays as
/// planned.
pub fn paced(aim: &plan::SweepPlan, record: &Record, phase: &Phase) -> Option<Phase> {
    let known = PacingKnowledge::before(aim, record, phase)?;
    let (pace, cell_params) = (known.aim.pace?, phase.cell_params()?);
    let time = known.time(pace, phase);
    let mut first_of = vec![StopLimit::Time(time)];
    let number = record.plan.number(&phase.name)?;
    let job = jobs_of(&record.resolved.jobs, number).next();
    let buffered = job.is_some_and(|job| job.caching.through_memory());
    // What is sent must be answered, and what is in memory flushed, before the cell can end: no more
    // than fits its time.
    if let Some(rate) = known.of(phase).and_then(|side| side.rate) {
        let fits = rate * time.as_secs();
        if buffered || cell_params.in_flight().0 as f64 > fits {
            let blocks = (fits / cell_params.block.0 as f64).ceil().max(1.0);
            first_of
                .push(StopLimit::Bytes(Bytes(cell_params.block.0.saturating_mul(blocks as u64))));
        }
    }
    if buffered {
        // A second pass would meet the first in memory.
        first_of.push(StopLimit::Passes(1));
    }
    let mut paced = phase.clone();
    for job in &mut paced.jobs {
        job.stop.first_of.clone_from(&first_of);
    }
    Some(paced)
}

/// The time of the whole, where a cell that was not done would not have come to its end in it. The
/// first cell is always done.
pub fn over(aim: &plan::SweepPlan, record: &Record, phase: &Phase) -> Option<Nanos> {
    let stopped = matches!(record.ending, Ending::Failed(_) | Ending::Interrupted(_));
    if stopped || record.done_of(phase).is_some() {
        return None;
    }
    let known = PacingKnowledge::before(aim, record, phase)?;
    let end = known.aim.pace?.end?;
    let cell = |done: &PhaseRecord| known.aim.counts(&record.plan.phases, &done.name);
    let begun = known.done().any(cell);
    (begun && known.gone() + known.shortest(phase) > end).then_some(end)
}

/// Why there was no time for a cell.
pub fn late(aim: &plan::SweepPlan, record: &Record, phase: &Phase) -> Option<ObstacleClaim> {
    let end = over(aim, record, phase)?;
    Some(ObstacleClaim::NoTimeLeft { seconds: end.0 / 1_000_000_000 })
}

/// What is known when a cell is to begin.
struct PacingKnowledge<'r> {
    record: &'r Record,
    aim: &'r plan::SweepPlan,
    /// So many phases were done before it.
    done: usize,
    /// What they tell of each side that they have.
    sides: Vec<SideHistory>,
}

/// What the phases so far tell of one side.
struct SideHistory {
    side: SweepSide,
    /// The highest rate, that of writing the test file with it, and the last: bytes per second.
    rate: Option<f64>,
    last: Option<f64>,
    /// What the last cell took beside the quiet before it and its time: opening and dropping, the
    /// flush, and the answers to what was in flight when the time was over.
    beside: Option<Nanos>,
    answers: Nanos,
}

impl<'r> PacingKnowledge<'r> {
    /// `None` of a phase that is no cell.
    fn before(aim: &'r plan::SweepPlan, record: &'r Record, phase: &Phase) -> Option<Self> {
        aim.counts(&record.plan.phases, &phase.name).then_some(())?;
        let mut known =
            Self { record, aim, done: 0, sides: SweepSide::ALL.map(SideHistory::nothing).into() };
        let mut next = record.phases.iter().enumerate().peekable();
        for planned in record.plan.phases.iter().take_while(|other| other.name != phase.name) {
            let Some((at, done)) = next.next_if(|(_, done)| done.name == planned.name) else {
                continue;
            };
            known.done = at + 1;
            let before = at.checked_sub(1).map(|before| &record.phases[before]);
            let cell =
                planned.cell_params().filter(|_| aim.counts(&record.plan.phases, &planned.name));
            let of = cell.map(|cell_params| side(aim, &cell_params));
            for seen in &mut known.sides {
                if of.is_none_or(|of| of == seen.side) {
                    seen.rate = [seen.rate, bandwidth(done)].into_iter().flatten().reduce(f64::max);
                }
                if of == Some(seen.side) {
                    seen.look(planned, before, done);
                }
            }
        }
        Some(known)
    }

    /// The phases that were done before it.
    fn done(&self) -> impl Iterator<Item = &'r PhaseRecord> + use<'r> {
        self.record.phases.iter().take(self.done)
    }

    /// What is known of the side of a cell.
    fn of(&self, phase: &Phase) -> Option<&SideHistory> {
        let side = side(self.aim, &phase.cell_params()?);
        self.sides.iter().find(|seen| seen.side == side)
    }

    /// Since the first I/O.
    fn gone(&self) -> Nanos {
        let last = self.done.checked_sub(1).and_then(|last| self.record.phases.get(last));
        match (self.record.phases.first(), last) {
            (Some(first), Some(last)) => last.span.ended().since(first.span.started),
            _ => Nanos::ZERO,
        }
    }

    /// The time that a cell is worth.
    fn time(&self, pace: SweepPacing, phase: &Phase) -> Nanos {
        let fastest = self.done().filter_map(bandwidth).fold(0.0, f64::max);
        let needed = if fastest > 0.0 { Nanos::from_secs(ENOUGH / fastest) } else { pace.most };
        let time = needed.max(pace.least).min(pace.most);
        // The cells that are left share what is left, but for those of which one block takes longer.
        let later = self.record.plan.phases.iter().skip_while(|other| other.name != phase.name);
        let left = later.filter(|other| {
            self.aim.counts(&self.record.plan.phases, &other.name)
                && leave::possible(self.record, other)
        });
        let (long, usual): (Vec<Nanos>, Vec<Nanos>) =
            left.map(|other| self.one_block(other)).partition(|time| *time > pace.most);
        let shared = pace.whole.less(self.gone()).less(long.into_iter().sum());
        let each = Nanos(shared.0 / usual.len().max(1) as u64);
        let alone = each.less(self.around(phase));
        // Of what would not be answered in that time less is sent.
        let fits = self.in_flight(phase) <= alone;
        let answers = if fits { self.answers(phase) } else { Nanos::ZERO };
        time.min(alone.less(answers)).max(LEAST)
    }

    /// What a cell takes before its first I/O and after its last.
    fn around(&self, phase: &Phase) -> Nanos {
        let beside = self.of(phase).and_then(|seen| seen.beside);
        phase.quiet + beside.unwrap_or(BESIDE)
    }

    /// The time that what is in flight when the time is over may still take.
    fn answers(&self, phase: &Phase) -> Nanos {
        self.of(phase).map_or(Nanos::ZERO, |seen| seen.answers)
    }

    /// The time that all that is in flight together is to be expected to take.
    fn in_flight(&self, phase: &Phase) -> Nanos {
        let rate = self.of(phase).and_then(|seen| seen.rate);
        let time = phase
            .cell_params()
            .zip(rate)
            .map(|(cell_params, rate)| cell_params.in_flight().0 as f64 / rate);
        time.map_or(Nanos::ZERO, Nanos::from_secs)
    }

    /// The time that one block of a cell is to be expected to take; nothing where nothing is known.
    fn one_block(&self, phase: &Phase) -> Nanos {
        one_block(phase, self.of(phase).and_then(|seen| seen.rate))
    }

    /// The least that a cell can be expected to take. The last of its side may have been slower than
    /// the best, and the next will be like it.
    fn shortest(&self, phase: &Phase) -> Nanos {
        let last = self.of(phase).and_then(|seen| seen.last);
        let block = one_block(phase, last).max(self.one_block(phase));
        self.around(phase) + block.max(LEAST + self.answers(phase))
    }
}

impl SideHistory {
    const fn nothing(side: SweepSide) -> Self {
        Self { side, rate: None, last: None, beside: None, answers: Nanos::ZERO }
    }

    /// Takes account of a cell of this side and of the phase before it.
    fn look(&mut self, planned: &Phase, before: Option<&PhaseRecord>, done: &PhaseRecord) {
        self.last = bandwidth(done);
        let span = &done.span;
        self.beside = before.map(|before| {
            let opening = span.started.since(before.span.ended()).less(planned.quiet);
            opening + span.ended().since(span.stopped)
        });
        let mean = |total: &assay_plan::stats::ActionTotal| Some(total.lat_ns?.mean);
        let mean = totals(done).filter_map(mean).fold(0.0, f64::max);
        self.answers = Nanos(mean as u64);
    }
}

/// The time of one block of a cell at that rate.
fn one_block(phase: &Phase, rate: Option<f64>) -> Nanos {
    let time =
        phase.cell_params().zip(rate).map(|(cell_params, rate)| cell_params.block.0 as f64 / rate);
    time.map_or(Nanos::ZERO, Nanos::from_secs)
}

fn bandwidth(phase: &PhaseRecord) -> Option<f64> {
    let rate: f64 = totals(phase).filter_map(|total| total.bandwidth).map(|rate| rate.0).sum();
    (rate > 0.0).then_some(rate)
}

/// The side that a cell belongs to.
pub(super) fn side(aim: &plan::SweepPlan, cell_params: &CellParams) -> SweepSide {
    match cell_params.reads {
        _ if aim.over.contains(&SweepAxis::Reads) => SweepSide::Mixed,
        0 => SweepSide::Write,
        100 => SweepSide::Read,
        _ => SweepSide::Mixed,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{WHOLE, aim, writing};
    use super::*;
    use assay_plan::plan::Caching;
    use assay_plan::unit::Timestamp;

    /// The limits of the cell with that number.
    fn limits(record: &Record, number: usize) -> Vec<StopLimit> {
        let paced = paced(aim(record), record, &record.plan.phases[number]).expect("a cell");
        paced.jobs[0].stop.first_of.clone()
    }

    #[test]
    fn a_fast_device_tells_soon_and_a_slow_one_needs_longer() {
        let sizes = [Bytes::kib(4), Bytes::kib(64)];
        assert_eq!(limits(&writing(&sizes, 1e9), 1), [StopLimit::Time(Nanos::secs(1))]);
        assert_eq!(limits(&writing(&sizes, 4e6), 1), [StopLimit::Time(Nanos::secs(4))]);
        let between = limits(&writing(&sizes, f64::from(32 << 20)), 1);
        assert_eq!(between, [StopLimit::Time(Nanos::secs(2))]);
    }

    #[test]
    fn no_more_is_sent_than_the_time_can_answer() {
        let record = writing(&[Bytes::kib(4), Bytes::mib(8), Bytes::mib(64)], 4e6);
        let [StopLimit::Time(time), StopLimit::Bytes(bytes)] = limits(&record, 1)[..] else {
            panic!("two limits")
        };
        // Four in flight would be 32 MiB; in four seconds 16 MB can be written.
        assert_eq!((time, bytes), (Nanos::secs(4), Bytes::mib(16)));
        // One block is the least.
        assert_eq!(limits(&record, 2)[1], StopLimit::Bytes(Bytes::mib(64)));
    }

    #[test]
    fn through_the_page_cache_nothing_is_met_twice() {
        let mut record = writing(&[Bytes::kib(4), Bytes::mib(8)], 4e6);
        for job in &mut record.resolved.jobs {
            job.caching = Caching::Buffered;
        }
        let time = StopLimit::Time(Nanos::secs(4));
        let bytes = StopLimit::Bytes(Bytes::mib(16));
        assert_eq!(limits(&record, 1), [time, bytes, StopLimit::Passes(1)]);
    }

    #[test]
    fn the_cells_that_are_left_share_the_time_that_is_left() {
        let sizes: Vec<Bytes> = (0..40).map(|n| Bytes::kib(4 + 4 * n)).collect();
        let [StopLimit::Time(time)] = limits(&writing(&sizes, 4e6), 1)[..] else {
            panic!("a limit")
        };
        assert!(time > Nanos::secs(1) && time < Nanos::millis(1_500), "{time}");
    }

    /// The same writes, after each other as slow as the first, which had to wait so long for its answers.
    fn slow(sizes: &[Bytes], answer: Nanos) -> Record {
        let mut record = writing(sizes, 4e6);
        let done = &mut record.phases[0];
        for lat in done.totals.values_mut().filter_map(|total| total.lat_ns.as_mut()) {
            lat.mean = answer.0 as f64;
        }
        record
    }

    #[test]
    fn answers_that_take_long_are_part_of_the_time() {
        let sizes: Vec<Bytes> = (0..40).map(|n| Bytes::kib(4 + 4 * n)).collect();
        let time = |answer| match limits(&slow(&sizes, answer), 1)[0] {
            StopLimit::Time(time) => time,
            ref other => panic!("{other:?}"),
        };
        let (soon, late) = (time(Nanos::ZERO), time(Nanos::secs(1)));
        assert!(soon.less(late) > Nanos::millis(900), "{soon} {late}");
        assert_eq!(time(Nanos::secs(20)), LEAST);
    }

    #[test]
    fn a_cell_for_which_no_time_is_left_is_left_out() {
        let mut record = slow(&[4, 8, 16].map(Bytes::kib), Nanos::secs(1));
        let [first, second, third] = [0, 1, 2].map(|cell| record.plan.phases[cell].clone());
        let end = WHOLE.end.expect("an end");
        let at = |record: &mut Record, gone: Nanos| {
            let span = &mut record.phases[0].span;
            span.started = Timestamp(1);
            (span.stopped, span.flushed) = (span.started + gone, None);
        };
        // A second of waiting for answers, and what lies around it.
        at(&mut record, end.less(Nanos::secs(2)));
        assert_eq!(over(aim(&record), &record, &second), None);
        at(&mut record, end.less(Nanos::secs(1)));
        assert_eq!(
            [over(aim(&record), &record, &second), over(aim(&record), &record, &third)],
            [Some(end); 2]
        );
        assert_eq!(over(aim(&record), &record, &first), None);
        record.ending = Ending::Interrupted(2);
        assert_eq!(over(aim(&record), &record, &second), None);
    }
}
