//! What the cells of a sweep show: the best, from where on it is reached, and where it drops. And
//! before that, which cells can not be done here, and how much time each is worth.

use super::leave;
use crate::plan::{self, Action};
use crate::plan::{Aim, Axis, Limit, Pace, Phase, Plan, Spot};
use crate::record::{Cell, Drop, PhaseRecord, Plateau, Record, Side, Swept, Trust};
use crate::stats::Total;
use crate::unit::{Bandwidth, Bytes, Iops, Nanos};

/// A share of the best rate that nobody misses in practice: from here on a size is good enough.
pub const GOOD_ENOUGH: f64 = 0.90;

/// Bytes that tell what a device can do: a cell that moves them in less than its least time needs no
/// more, one that can not in its most gets no more.
const ENOUGH: f64 = 64.0 * 1024.0 * 1024.0;

/// What a cell takes beside its I/O: opening, dropping, flushing, looking.
const BESIDE: Nanos = Nanos::millis(150);

/// The least time of a cell when the whole is nearly over: below it a figure says nothing.
const LEAST: Nanos = Nanos::millis(300);

/// A sweep as far as it got.
pub struct Sweep<'a> {
    /// What was to be varied.
    pub aim: &'a plan::Sweep,
    /// All cells of the plan, in its order.
    pub spots: Vec<Placed<'a>>,
}

/// A cell and what became of it.
pub struct Placed<'a> {
    /// What was done.
    pub side: Side,
    /// Where it stands.
    pub spot: Spot,
    /// As planned.
    pub planned: &'a Phase,
    /// What happened in it; `None` when it was not done.
    pub done: Option<&'a PhaseRecord>,
    /// Why it can not be done.
    pub left_out: Option<String>,
}

impl<'a> Sweep<'a> {
    /// The sweep of a record; `None` where there is none.
    pub fn of(record: &'a Record) -> Option<Self> {
        let aim = aim(&record.plan)?;
        let place = |planned: &'a Phase| {
            let spot = planned.spot()?;
            let done = record.phases.iter().find(|phase| phase.name == planned.name);
            let left_out = leave::impossible(record, planned);
            Some(Placed { side: side(aim, &spot), spot, planned, done, left_out })
        };
        let cells = record.plan.phases.iter().filter(|phase| aim.cells.contains(&phase.name));
        Some(Self { aim, spots: cells.filter_map(place).collect() })
    }

    /// The sides that it has, in the order in which they are shown.
    pub fn sides(&self) -> Vec<Side> {
        let has = |side: &Side| self.spots.iter().any(|placed| placed.side == *side);
        Side::ALL.into_iter().filter(has).collect()
    }

    /// Whether any cell of a side was done.
    pub fn done(&self, side: Side) -> bool {
        self.spots.iter().any(|placed| placed.side == side && placed.done.is_some())
    }

    /// The values of an axis, ascending.
    pub fn values(&self, axis: Axis) -> Vec<u64> {
        let mut values: Vec<u64> = self.spots.iter().map(|placed| placed.spot.on(axis)).collect();
        values.sort_unstable();
        values.dedup();
        values
    }

    /// The cell of a side at these values, one for each axis.
    pub fn at(&self, side: Side, values: &[u64]) -> Option<&Placed<'a>> {
        let there = |placed: &&Placed| {
            let mut axes = self.aim.over.iter().zip(values);
            placed.side == side && axes.all(|(axis, value)| placed.spot.on(*axis) == *value)
        };
        self.spots.iter().find(there)
    }

    /// The highest rate of a side that can stand for the device, and what comes close to it; `None` when there
    /// is none.
    pub fn plateau(&self, side: Side) -> Option<Plateau> {
        let held: Vec<(&Placed, f64)> = self
            .spots
            .iter()
            .filter(|placed| placed.side == side && placed.holds())
            .filter_map(|placed| Some((placed, placed.bandwidth()?.0)))
            .collect();
        let (best, rate) = *held.iter().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let first = held.iter().position(|(_, other)| *other >= rate * GOOD_ENOUGH)?;
        let alone = self.aim.over.len() == 1;
        let behind = held[first..].iter().filter(|(placed, other)| {
            // A doubtful figure may be low for a reason that is not the device's.
            let sound = placed.trust() == Some(Trust::Sound);
            alone && sound && *other < rate * GOOD_ENOUGH
        });
        let drops = behind.map(|(placed, other)| Drop {
            phase: placed.planned.name.clone(),
            share: other / rate,
        });
        Some(Plateau {
            side,
            best: best.planned.name.clone(),
            bandwidth: Bandwidth(rate),
            from: held[first].0.planned.name.clone(),
            drops: drops.collect(),
        })
    }

    /// Where a phase of it stands.
    pub fn spot_of(&self, phase: &str) -> Option<&Spot> {
        let placed = self.spots.iter().find(|placed| placed.planned.name == phase);
        placed.map(|placed| &placed.spot)
    }
}

impl Placed<'_> {
    /// Bytes per second, both ways together; `None` when it was not done, or moved nothing.
    pub fn bandwidth(&self) -> Option<Bandwidth> {
        let rates = totals(self.done?).filter_map(|total| total.bandwidth).map(|rate| rate.0);
        Some(rates.sum()).filter(|rate: &f64| *rate > 0.0).map(Bandwidth)
    }

    /// I/Os per second, both ways together.
    pub fn iops(&self) -> Option<Iops> {
        let rates = totals(self.done?).filter_map(|total| total.iops).map(|rate| rate.0);
        Some(rates.sum()).filter(|rate: &f64| *rate > 0.0).map(Iops)
    }

    /// Whether its figure may be believed.
    pub fn trust(&self) -> Option<Trust> {
        Some(self.done?.verdict.as_ref()?.trust)
    }

    /// Whether its figure can stand for the device: it is neither refuted nor unproven.
    fn holds(&self) -> bool {
        matches!(self.trust(), Some(Trust::Sound | Trust::Doubtful))
    }

    /// Whether its time was over before it had moved all that it was to move.
    pub fn cut(&self) -> bool {
        let Some(done) = self.done else { return false };
        let goal =
            self.planned.jobs.iter().flat_map(|job| &job.stop.first_of).find_map(|limit| {
                if let Limit::Bytes(bytes) = limit { Some(*bytes) } else { None }
            });
        let moved: Bytes = totals(done).map(|total| total.bytes).sum();
        goal.is_some_and(|goal| moved < goal)
    }

    fn cell(&self) -> Cell {
        Cell {
            phase: self.planned.name.clone(),
            side: self.side,
            block: self.spot.block,
            iodepth: self.spot.iodepth,
            workers: self.spot.workers,
            reads_percent: self.spot.reads,
            bandwidth: self.bandwidth(),
            iops: self.iops(),
            trust: self.trust(),
            cut: self.cut(),
            left_out: self.left_out.clone(),
        }
    }
}

/// What the sweep of a record came to; `None` where there is none.
pub fn swept(record: &Record) -> Option<Swept> {
    let sweep = Sweep::of(record)?;
    let plateaus = sweep.sides().into_iter().filter_map(|side| sweep.plateau(side)).collect();
    let cells = sweep.spots.iter().map(Placed::cell).collect();
    Some(Swept { over: sweep.aim.over.clone(), cells, plateaus })
}

/// The phase with the limits that the speed of the device so far suggests; `None` where it stays as
/// planned.
pub fn paced(record: &Record, phase: &Phase) -> Option<Phase> {
    let aim = aim(&record.plan).filter(|aim| aim.cells.contains(&phase.name))?;
    let (pace, spot) = (aim.pace?, phase.spot()?);
    let time = time(record, aim, pace, phase);
    let mut first_of = vec![Limit::Time(time)];
    let job = record.resolved.jobs.iter().find(|job| job.phase == phase.name);
    let buffered = job.is_some_and(|job| job.caching.through_memory());
    // What is sent must be answered, and what is in memory flushed, before the cell can end: no more
    // than fits its time.
    if let Some(rate) = expected(record, aim, side(aim, &spot)) {
        let fits = rate * time.as_secs();
        if buffered || spot.in_flight().0 as f64 > fits {
            let blocks = (fits / spot.block.0 as f64).ceil().max(1.0);
            first_of.push(Limit::Bytes(Bytes(spot.block.0.saturating_mul(blocks as u64))));
        }
    }
    if buffered {
        // A second pass would meet the first in memory.
        first_of.push(Limit::Passes(1));
    }
    let mut paced = phase.clone();
    for job in &mut paced.jobs {
        job.stop.first_of.clone_from(&first_of);
    }
    Some(paced)
}

/// The time that a cell is worth.
fn time(record: &Record, aim: &plan::Sweep, pace: Pace, phase: &Phase) -> Nanos {
    let fastest = record.phases.iter().filter_map(bandwidth).fold(0.0, f64::max);
    let needed = if fastest > 0.0 { Nanos::from_secs(ENOUGH / fastest) } else { pace.most };
    let time = needed.clamp(pace.least, pace.most);
    let gone = match (record.phases.first(), record.phases.last()) {
        (Some(first), Some(last)) => last.span.ended().since(first.span.started),
        _ => Nanos::ZERO,
    };
    // The cells that are left share what is left, but for those of which one block takes longer.
    let later = record.plan.phases.iter().skip_while(|other| other.name != phase.name);
    let left =
        later.filter(|other| aim.cells.contains(&other.name) && leave::wanted(record, other));
    let (long, usual): (Vec<Nanos>, Vec<Nanos>) =
        left.map(|other| one_block(record, aim, other)).partition(|time| *time > pace.most);
    let shared = pace.whole.less(gone).less(long.into_iter().sum());
    let each = Nanos(shared.0 / usual.len().max(1) as u64);
    time.min(each.less(phase.quiet + BESIDE)).max(LEAST)
}

/// The time that one block of a cell is to be expected to take; nothing where nothing is known.
fn one_block(record: &Record, aim: &plan::Sweep, phase: &Phase) -> Nanos {
    let time = |spot: Spot| {
        let rate = expected(record, aim, side(aim, &spot))?;
        Some(Nanos::from_secs(spot.block.0 as f64 / rate))
    };
    phase.spot().and_then(time).unwrap_or_default()
}

/// The rate that is to be expected of a side, bytes per second: its best so far, or that of writing
/// the test file.
fn expected(record: &Record, aim: &plan::Sweep, wanted: Side) -> Option<f64> {
    let same = record.phases.iter().filter(|done| {
        let planned = record.plan.phases.iter().find(|phase| phase.name == done.name);
        let cell = planned.filter(|phase| aim.cells.contains(&phase.name)).and_then(Phase::spot);
        cell.is_none_or(|spot| side(aim, &spot) == wanted)
    });
    same.filter_map(bandwidth).max_by(f64::total_cmp)
}

/// The sweep that a plan aims at.
pub(super) fn aim(plan: &Plan) -> Option<&plan::Sweep> {
    match &plan.aim {
        Some(Aim::Sweep(sweep)) => Some(sweep),
        _ => None,
    }
}

/// The side that a cell belongs to.
fn side(aim: &plan::Sweep, spot: &Spot) -> Side {
    match spot.reads {
        _ if aim.over.contains(&Axis::Reads) => Side::Mixed,
        0 => Side::Write,
        100 => Side::Read,
        _ => Side::Mixed,
    }
}

/// The totals of what moves data.
pub(super) fn totals(phase: &PhaseRecord) -> impl Iterator<Item = &Total> {
    [Action::Read, Action::Write].into_iter().filter_map(|action| phase.totals.get(&action))
}

fn bandwidth(phase: &PhaseRecord) -> Option<f64> {
    let rate: f64 = totals(phase).filter_map(|total| total.bandwidth).map(|rate| rate.0).sum();
    (rate > 0.0).then_some(rate)
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;
    use crate::plan::{BlockSize, Blocks, Caching, Mix, Order, Pattern, Target, Work};
    use crate::record::ResolvedJob;

    const WHOLE: Pace =
        Pace { whole: Nanos::secs(60), least: Nanos::secs(1), most: Nanos::secs(4) };

    /// Writes of these sizes on a device that writes so many bytes per second: the first is done.
    fn writing(sizes: &[Bytes], rate: f64) -> Record {
        let mut record = Bench::write_flushed().record;
        let phase = record.plan.phases[0].clone();
        let job = record.resolved.jobs[0].clone();
        let target = Target::Nowhere { size: Bytes::mib(256) };
        record.plan.phases.clear();
        record.resolved.jobs.clear();
        for size in sizes {
            let block = BlockSize::Fixed(*size);
            let pattern = Pattern::of(Mix::only(Action::Write), Order::Forward, block);
            let blocks = Blocks { iodepth: 4, ..Blocks::of(target.clone(), pattern) };
            let mut cell = phase.clone();
            cell.name = format!("write-{}", size.0);
            cell.jobs[0].work = Work::Blocks(blocks);
            let mut job = ResolvedJob { caching: Caching::Direct, ..job.clone() };
            (job.phase, job.size) = (cell.name.clone(), Bytes::mib(256));
            record.resolved.jobs.push(job);
            record.plan.phases.push(cell);
        }
        let cells = record.plan.phases.iter().map(|phase| phase.name.clone()).collect();
        let over = vec![Axis::Block];
        record.plan.aim = Some(Aim::Sweep(plan::Sweep { over, cells, pace: Some(WHOLE) }));
        let done = &mut record.phases[0];
        done.name.clone_from(&record.plan.phases[0].name);
        done.totals.retain(|action, _| *action == Action::Write);
        for total in done.totals.values_mut() {
            total.bandwidth = Some(Bandwidth(rate));
        }
        record
    }

    /// The limits of the cell with that number.
    fn limits(record: &Record, number: usize) -> Vec<Limit> {
        let paced = paced(record, &record.plan.phases[number]).expect("a cell");
        paced.jobs[0].stop.first_of.clone()
    }

    #[test]
    fn a_fast_device_tells_soon_and_a_slow_one_needs_longer() {
        let sizes = [Bytes::kib(4), Bytes::kib(64)];
        assert_eq!(limits(&writing(&sizes, 1e9), 1), [Limit::Time(Nanos::secs(1))]);
        assert_eq!(limits(&writing(&sizes, 4e6), 1), [Limit::Time(Nanos::secs(4))]);
        let between = limits(&writing(&sizes, f64::from(32 << 20)), 1);
        assert_eq!(between, [Limit::Time(Nanos::secs(2))]);
    }

    #[test]
    fn no_more_is_sent_than_the_time_can_answer() {
        let record = writing(&[Bytes::kib(4), Bytes::mib(8), Bytes::mib(64)], 4e6);
        let [Limit::Time(time), Limit::Bytes(bytes)] = limits(&record, 1)[..] else {
            panic!("two limits")
        };
        // Four in flight would be 32 MiB; in four seconds 16 MB can be written.
        assert_eq!((time, bytes), (Nanos::secs(4), Bytes::mib(16)));
        // One block is the least.
        assert_eq!(limits(&record, 2)[1], Limit::Bytes(Bytes::mib(64)));
    }

    #[test]
    fn through_the_page_cache_nothing_is_met_twice() {
        let mut record = writing(&[Bytes::kib(4), Bytes::mib(8)], 4e6);
        for job in &mut record.resolved.jobs {
            job.caching = Caching::Buffered;
        }
        let time = Limit::Time(Nanos::secs(4));
        let bytes = Limit::Bytes(Bytes::mib(16));
        assert_eq!(limits(&record, 1), [time, bytes, Limit::Passes(1)]);
    }

    #[test]
    fn the_cells_that_are_left_share_the_time_that_is_left() {
        let sizes: Vec<Bytes> = (0..40).map(|n| Bytes::kib(4 + 4 * n)).collect();
        let [Limit::Time(time)] = limits(&writing(&sizes, 4e6), 1)[..] else { panic!("a limit") };
        assert!(time > Nanos::secs(1) && time < Nanos::millis(1_500), "{time}");
    }

    #[test]
    fn what_is_refuted_is_no_plateau_and_drops_are_told() {
        let sizes = [4, 8, 16, 32, 64].map(Bytes::kib);
        let mut record = writing(&sizes, 50e6);
        let done = record.phases[0].clone();
        record.phases.clear();
        let rates = [80.0, 99.0, 60.0, 100.0, 900.0];
        for (planned, rate) in record.plan.phases.iter().zip(rates) {
            let mut cell = done.clone();
            cell.name.clone_from(&planned.name);
            for total in cell.totals.values_mut() {
                total.bandwidth = Some(Bandwidth(rate * 1e6));
            }
            let mut verdict = super::super::of_phase(&record, &done);
            verdict.trust = if rate > 500.0 { Trust::Wrong } else { Trust::Sound };
            cell.verdict = Some(verdict);
            record.phases.push(cell);
        }
        let found = swept(&record).expect("a sweep");
        let name = |kib: u64| format!("write-{}", kib * 1024);
        let [plateau] = found.plateaus.as_slice() else { panic!("one side") };
        assert_eq!((&plateau.best, &plateau.from), (&name(32), &name(8)));
        assert_eq!(plateau.drops, [Drop { phase: name(16), share: 0.6 }]);
        for phase in &mut record.phases {
            phase.verdict.as_mut().expect("judged").trust = Trust::Wrong;
        }
        assert_eq!(swept(&record).expect("a sweep").plateaus, []);
    }

    #[test]
    fn other_records_have_no_sweep() {
        assert!(swept(&Bench::write_flushed().record).is_none());
    }
}
