//! What the cells of a sweep show: the best, from where on it is reached, and where it drops. How
//! much time each is worth stands in [`pace`].

mod pace;

pub(super) use pace::{over, paced};

use super::leave;
use assay_plan::plan::{self, Action};
use assay_plan::plan::{CellParams, Phase, StopLimit, Study as _, SweepAxis};
use assay_plan::unit::{Bandwidth, Iops};
use assay_record::claim::ObstacleClaim;
use assay_record::record::{
    Ending, Metric, PhaseFigures, PhaseRecord, Record, SweepCell, SweepPlateau, SweepResult,
    SweepSide, ThroughputDrop, Trust,
};

/// A share of the best rate that nobody misses in practice: from here on a size is good enough.
pub const GOOD_ENOUGH: f64 = 0.90;

/// A sweep as far as it got.
pub struct SweepView<'a> {
    /// What was to be varied.
    pub aim: &'a plan::SweepPlan,
    /// All cells of the plan, in its order.
    pub params_of_cells: Vec<CellResult<'a>>,
    /// It came to its end.
    pub complete: bool,
}

/// A cell and what became of it.
pub struct CellResult<'a> {
    /// What was done.
    pub side: SweepSide,
    /// Where it stands.
    pub cell_params: CellParams,
    pub planned: &'a Phase,
    /// What happened in it; `None` when it was not done.
    pub done: Option<&'a PhaseRecord>,
    pub figures: Option<PhaseFigures>,
    /// A fault or a signal has ended it.
    pub stopped: bool,
    /// Why it cannot be done.
    pub left_out: Option<ObstacleClaim>,
}

impl<'a> SweepView<'a> {
    pub fn of(aim: &'a plan::SweepPlan, record: &'a Record) -> Self {
        let place = |planned: &'a Phase| {
            let cell_params = planned.cell_params()?;
            let done = record.done_of(planned);
            let left_out =
                leave::obstacle(record, planned).or_else(|| pace::late(aim, record, planned));
            let signal = matches!(record.ending, Ending::Interrupted(_));
            let last = record.phases.last().map(|last| &last.name) == Some(&planned.name);
            let stopped = signal && last || done.is_some_and(|done| !done.faults.is_empty());
            let (side, figures) = (pace::side(aim, &cell_params), done.map(PhaseFigures::of));
            Some(CellResult { side, cell_params, planned, done, figures, stopped, left_out })
        };
        let cells =
            record.plan.phases.iter().filter(|phase| aim.counts(&record.plan.phases, &phase.name));
        let complete = record.ending == Ending::Complete;
        Self { aim, params_of_cells: cells.filter_map(place).collect(), complete }
    }

    /// The sides that it has, in the order in which they are shown.
    pub fn sides(&self) -> Vec<SweepSide> {
        let has = |side: &SweepSide| self.params_of_cells.iter().any(|placed| placed.side == *side);
        SweepSide::ALL.into_iter().filter(has).collect()
    }

    /// Whether any cell of a side was done.
    pub fn done(&self, side: SweepSide) -> bool {
        self.params_of_cells.iter().any(|placed| placed.side == side && placed.done.is_some())
    }

    /// The values of an axis, ascending.
    pub fn values(&self, axis: SweepAxis) -> Vec<u64> {
        let mut values: Vec<u64> =
            self.params_of_cells.iter().map(|placed| placed.cell_params.on(axis)).collect();
        values.sort_unstable();
        values.dedup();
        values
    }

    /// The cell of a side at these values, one for each axis.
    pub fn at(&self, side: SweepSide, values: &[u64]) -> Option<&CellResult<'a>> {
        let there = |placed: &&CellResult| {
            let mut axes = self.aim.over.iter().zip(values);
            placed.side == side && axes.all(|(axis, value)| placed.cell_params.on(*axis) == *value)
        };
        self.params_of_cells.iter().find(there)
    }

    /// The highest rate of a side that can stand for the device, and what comes close to it; `None` when there
    /// is none.
    pub fn plateau(&self, side: SweepSide) -> Option<SweepPlateau> {
        let held: Vec<(&CellResult, f64)> = self
            .params_of_cells
            .iter()
            .filter(|placed| placed.side == side && placed.holds())
            .filter_map(|placed| Some((placed, placed.lasting()?)))
            .collect();
        let (best, rate) = *held.iter().max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let first = held.iter().position(|(_, other)| *other >= rate * GOOD_ENOUGH)?;
        let alone = self.aim.over.len() == 1;
        let behind = held[first..].iter().filter(|(placed, other)| {
            // A doubtful figure may be low for a reason that is not the device's.
            let sound = placed.trust() == Some(Trust::Sound);
            alone && sound && *other < rate * GOOD_ENOUGH
        });
        let drops = behind.map(|(placed, other)| ThroughputDrop {
            phase: placed.planned.name.clone(),
            share: other / rate,
        });
        Some(SweepPlateau {
            side,
            best: best.planned.name.clone(),
            bandwidth: Bandwidth(rate),
            from: held[first].0.planned.name.clone(),
            drops: drops.collect(),
        })
    }

    /// Where a phase of it stands.
    pub fn spot_of(&self, phase: &str) -> Option<&CellParams> {
        let placed = self.params_of_cells.iter().find(|placed| placed.planned.name == phase);
        placed.map(|placed| &placed.cell_params)
    }
}

impl CellResult<'_> {
    /// Bytes per second, of a mix both ways together; `None` when it was not done, or moved nothing.
    pub fn bandwidth(&self) -> Option<Bandwidth> {
        self.rate(Metric::Throughput).map(Bandwidth)
    }

    /// I/Os per second, of a mix both ways together.
    pub fn iops(&self) -> Option<Iops> {
        self.rate(Metric::Iops).map(Iops)
    }

    /// A rate of what it is about; of a mix that came to one way only, the rate of that.
    fn rate(&self, metric: Metric) -> Option<f64> {
        let figures = self.figures.as_ref()?;
        let both = (self.side == SweepSide::Mixed).then(|| figures.whole(metric)).flatten();
        let one = || self.actions().iter().find_map(|action| figures.value(*action, metric));
        both.or_else(one).filter(|rate| *rate > 0.0)
    }

    /// What its figures are of: blocks that are read back to be compared are no writes.
    fn actions(&self) -> &'static [Action] {
        match self.side {
            SweepSide::Write => &[Action::Write],
            SweepSide::Read => &[Action::Read],
            SweepSide::Mixed => &[Action::Read, Action::Write],
        }
    }

    /// Bytes per second that last, where that is known to be less than its figure: what a limit lets through at once, or a
    /// cache takes, is the most of no size.
    fn lasting(&self) -> Option<f64> {
        let lasts =
            self.done?.verdict.as_ref()?.corrected.map_or(f64::INFINITY, |lasts| lasts.value);
        Some(self.bandwidth()?.0.min(lasts))
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
        let Some(done) = self.figures.as_ref().filter(|_| !self.stopped) else { return false };
        let goal = self.planned.jobs.iter().flat_map(|job| &job.stop.first_of).find_map(|limit| {
            if let StopLimit::Bytes(bytes) = limit { Some(*bytes) } else { None }
        });
        let moved = self.actions().iter().filter_map(|it| done.value(*it, Metric::Bytes));
        let moved: f64 = moved.sum();
        goal.is_some_and(|goal| moved < goal.0 as f64)
    }

    fn cell(&self) -> SweepCell {
        SweepCell {
            phase: self.planned.name.clone(),
            side: self.side,
            block: self.cell_params.block,
            iodepth: self.cell_params.iodepth,
            workers: self.cell_params.workers,
            reads_percent: self.cell_params.reads,
            bandwidth: self.bandwidth(),
            iops: self.iops(),
            trust: self.trust(),
            cut: self.cut(),
            left_out: self.left_out.clone().map(Into::into),
        }
    }
}

/// What the sweep of a record came to.
pub fn swept(aim: &plan::SweepPlan, record: &Record) -> SweepResult {
    let sweep = SweepView::of(aim, record);
    let plateaus = sweep.sides().into_iter().filter_map(|side| sweep.plateau(side)).collect();
    let cells = sweep.params_of_cells.iter().map(CellResult::cell).collect();
    SweepResult { over: sweep.aim.over.clone(), cells, plateaus }
}

#[cfg(test)]
mod tests {
    use super::super::bench::DoctoredRecord;
    use super::*;
    use assay_plan::plan::{
        BlockSize, BlockWork, Caching, Mix, OffsetOrdering, Pattern, StudyPlan, SweepPacing,
        Target, Work,
    };
    use assay_plan::unit::{Bytes, Nanos};
    use assay_record::record::ResolvedJob;

    pub const WHOLE: SweepPacing = SweepPacing {
        whole: Nanos::secs(60),
        least: Nanos::secs(1),
        most: Nanos::secs(4),
        end: Some(Nanos::secs(63)),
    };

    /// Writes of these sizes on a device that writes so many bytes per second: the first is done.
    pub fn writing(sizes: &[Bytes], rate: f64) -> Record {
        let mut record = DoctoredRecord::write_flushed().record;
        let phase = record.plan.phases[0].clone();
        let job = record.resolved.jobs[0].clone();
        let target = Target::Nowhere { size: Bytes::mib(256) };
        record.plan.phases.clear();
        record.resolved.jobs.clear();
        for size in sizes {
            let block = BlockSize::Fixed(*size);
            let pattern = Pattern::of(Mix::only(Action::Write), OffsetOrdering::Forward, block);
            let blocks = BlockWork { iodepth: 4, ..BlockWork::of(target.clone(), pattern) };
            let mut cell = phase.clone();
            cell.name = format!("write-{}", size.0);
            cell.jobs[0].work = Work::Blocks(blocks);
            let mut job = ResolvedJob { caching: Caching::Direct, ..job.clone() };
            (job.phase, job.size) = (record.plan.phases.len(), Bytes::mib(256));
            record.resolved.jobs.push(job);
            record.plan.phases.push(cell);
        }
        let cells = (0..record.plan.phases.len()).map(Into::into).collect();
        let over = vec![SweepAxis::Block];
        record.plan.aim =
            Some(StudyPlan::Sweep(plan::SweepPlan { over, cells, pace: Some(WHOLE) }));
        let done = &mut record.phases[0];
        done.name.clone_from(&record.plan.phases[0].name);
        done.totals.retain(|action, _| *action == Action::Write);
        for total in done.totals.values_mut() {
            total.bandwidth = Some(Bandwidth(rate));
        }
        record
    }

    pub fn aim(record: &Record) -> &plan::SweepPlan {
        match &record.plan.aim {
            Some(StudyPlan::Sweep(sweep)) => sweep,
            other => panic!("no sweep: {other:?}"),
        }
    }

    #[test]
    fn what_is_refuted_is_no_plateau_and_drops_are_told() {
        let sizes = [4, 8, 16, 32, 64].map(Bytes::kib);
        let mut record = writing(&sizes, 50e6);
        let done = record.phases[0].clone();
        record.phases.as_mut_vec().clear();
        let rates = [80.0, 99.0, 60.0, 100.0, 900.0];
        for (number, rate) in rates.into_iter().enumerate() {
            let mut cell = done.clone();
            cell.number = number;
            cell.name.clone_from(&record.plan.phases[number].name);
            for total in cell.totals.values_mut() {
                total.bandwidth = Some(Bandwidth(rate * 1e6));
            }
            let mut verdict = super::super::of_phase(&record, &done);
            verdict.trust = if rate > 500.0 { Trust::Wrong } else { Trust::Sound };
            cell.verdict = Some(verdict);
            record.phases.push(cell);
        }
        let found = swept(aim(&record), &record);
        let name = |kib: u64| format!("write-{}", kib * 1024);
        let [plateau] = found.plateaus.as_slice() else { panic!("one side") };
        assert_eq!((&plateau.best, &plateau.from), (&name(32), &name(8)));
        assert_eq!(plateau.drops, [ThroughputDrop { phase: name(16), share: 0.6 }]);
        for phase in &mut record.phases {
            phase.verdict.as_mut().expect("judged").trust = Trust::Wrong;
        }
        assert_eq!(swept(aim(&record), &record).plateaus, []);
    }
}
