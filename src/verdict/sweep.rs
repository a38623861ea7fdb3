//! What the cells of a sweep show: the best, from where on it is reached, and where it drops. How
//! much time each is worth stands in [`pace`].

mod pace;

pub(super) use pace::over;
pub use pace::paced;

use super::leave;
use crate::plan::{self, Action};
use crate::plan::{Aim, Axis, Limit, Phase, Plan, Spot};
use crate::record::{Cell, Drop, Ending, PhaseRecord, Plateau, Record, Side, Swept, Trust};
use crate::stats::Total;
use crate::unit::{Bandwidth, Bytes, Iops};

/// A share of the best rate that nobody misses in practice: from here on a size is good enough.
pub const GOOD_ENOUGH: f64 = 0.90;

/// A sweep as far as it got.
pub struct Sweep<'a> {
    /// What was to be varied.
    pub aim: &'a plan::Sweep,
    /// All cells of the plan, in its order.
    pub spots: Vec<Placed<'a>>,
    /// It came to its end.
    pub complete: bool,
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
    /// A fault or a signal has ended it.
    pub stopped: bool,
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
            let signal = matches!(record.ending, Ending::Interrupted(_));
            let last = record.phases.last().map(|last| &last.name) == Some(&planned.name);
            let stopped = signal && last || done.is_some_and(|done| !done.faults.is_empty());
            Some(Placed { side: side(aim, &spot), spot, planned, done, stopped, left_out })
        };
        let cells = record.plan.phases.iter().filter(|phase| aim.cells.contains(&phase.name));
        let complete = record.ending == Ending::Complete;
        Some(Self { aim, spots: cells.filter_map(place).collect(), complete })
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
    /// Bytes per second, of a mix both ways together; `None` when it was not done, or moved nothing.
    pub fn bandwidth(&self) -> Option<Bandwidth> {
        let rates = self.moved(self.done?).filter_map(|total| total.bandwidth).map(|rate| rate.0);
        Some(rates.sum()).filter(|rate: &f64| *rate > 0.0).map(Bandwidth)
    }

    /// I/Os per second, of a mix both ways together.
    pub fn iops(&self) -> Option<Iops> {
        let rates = self.moved(self.done?).filter_map(|total| total.iops).map(|rate| rate.0);
        Some(rates.sum()).filter(|rate: &f64| *rate > 0.0).map(Iops)
    }

    /// The totals that its figures are of: blocks that are read back to be compared are no writes.
    fn moved<'a>(&self, done: &'a PhaseRecord) -> impl Iterator<Item = &'a Total> + use<'a> {
        let actions: &[Action] = match self.side {
            Side::Write => &[Action::Write],
            Side::Read => &[Action::Read],
            Side::Mixed => &[Action::Read, Action::Write],
        };
        actions.iter().filter_map(move |action| done.totals.get(action))
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
        let Some(done) = self.done.filter(|_| !self.stopped) else { return false };
        let goal =
            self.planned.jobs.iter().flat_map(|job| &job.stop.first_of).find_map(|limit| {
                if let Limit::Bytes(bytes) = limit { Some(*bytes) } else { None }
            });
        let moved: Bytes = self.moved(done).map(|total| total.bytes).sum();
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

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;
    use crate::plan::{BlockSize, Blocks, Caching, Mix, Order, Pace, Pattern, Target, Work};
    use crate::record::ResolvedJob;
    use crate::unit::Nanos;

    pub const WHOLE: Pace = Pace {
        whole: Nanos::secs(60),
        least: Nanos::secs(1),
        most: Nanos::secs(4),
        end: Some(Nanos::secs(63)),
    };

    /// Writes of these sizes on a device that writes so many bytes per second: the first is done.
    pub fn writing(sizes: &[Bytes], rate: f64) -> Record {
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
