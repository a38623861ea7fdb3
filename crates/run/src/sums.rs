//! What workers brought home, summed upward: from workers to their job, from jobs to their phase. It is done
//! here and in one way, so that a phase is what its workers did.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use assay_engine::engine::{ActionTallies, WorkerTotals};
use assay_plan::error::Fault;
use assay_plan::plan::{Action, IoPriority, Shared};
use assay_plan::stats::{
    ActionTally, BlockCensus, CallSizes, CpuSpent, DepthCounts, PassedErrors, PhantomWrites,
    WorkCosts,
};
use assay_plan::unit::{Nanos, Timestamp};
use assay_record::record::{ActionTotals, PriorityResult, WorkSpan};

/// What a worker did, or several together.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct WorkerSums {
    tallies: BTreeMap<Action, ActionTally>,
    /// The same by priority, in the order of the workers; 0 is that of their threads.
    priorities: Vec<(u16, BTreeMap<Action, ActionTally>)>,
    pub depths: DepthCounts,
    submitted: CallSizes,
    answered: CallSizes,
    pub census: Option<BlockCensus>,
    pub passed: PassedErrors,
    pub phantom: Option<PhantomWrites>,
    pub wrong: Vec<Fault>,
    pub cpu: CpuSpent,
    started: Option<Timestamp>,
    /// When the first of those began to count that came to count anything.
    counted: Option<Timestamp>,
    stopped: Option<Timestamp>,
}

impl WorkerSums {
    /// Of one thread of a worker.
    pub fn of(worker_totals: WorkerTotals) -> Self {
        Self {
            started: Some(worker_totals.started),
            counted: (worker_totals.counted < worker_totals.stopped)
                .then_some(worker_totals.counted),
            stopped: Some(worker_totals.stopped),
            depths: worker_totals.depths,
            submitted: worker_totals.submitted,
            answered: worker_totals.answered,
            census: worker_totals.census,
            passed: worker_totals.passed,
            phantom: worker_totals.phantom,
            wrong: worker_totals.wrong,
            cpu: worker_totals.cpu,
            tallies: worker_totals.tallies.into_all().collect(),
            priorities: worker_totals
                .priorities
                .into_iter()
                .map(|(priority, tallies)| (priority, tallies.into_all().collect()))
                .collect(),
        }
    }

    /// Of what came after the last worker of a job.
    pub fn of_closing(tallies: &ActionTallies, cpu: CpuSpent) -> Self {
        let tallies = tallies.all().map(|(action, tally)| (action, tally.clone())).collect();
        Self { tallies, cpu, ..Self::default() }
    }

    /// Adds others. A histogram is 36 KiB: what is the first of its action is taken as it is.
    pub fn merge(&mut self, mut other: Self) {
        add(&mut self.tallies, other.tallies);
        for (priority, tallies) in other.priorities {
            match self.priorities.iter_mut().find(|(known, _)| *known == priority) {
                Some((_, mine)) => add(mine, tallies),
                None => self.priorities.push((priority, tallies)),
            }
        }
        self.depths.merge(&other.depths);
        self.submitted.merge(&other.submitted);
        self.answered.merge(&other.answered);
        match (&mut self.census, other.census) {
            (Some(mine), Some(theirs)) => mine.merge(&theirs),
            (mine @ None, theirs) => *mine = theirs,
            (Some(_), None) => {}
        }
        self.passed.merge(&other.passed);
        match (&mut self.phantom, other.phantom) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (mine, theirs) => *mine = mine.or(theirs),
        }
        self.wrong.append(&mut other.wrong);
        self.cpu += other.cpu;
        self.started = self.started.into_iter().chain(other.started).min();
        self.counted = self.counted.into_iter().chain(other.counted).min();
        self.stopped = self.stopped.max(other.stopped);
    }

    /// From the first that was counted to the last answer: nothing in between when nothing counted. `None`
    /// where nobody worked.
    pub fn window(&self) -> Option<(Timestamp, Timestamp)> {
        let stopped = self.stopped?;
        Some((self.counted.unwrap_or(stopped), stopped))
    }

    /// What it cost beyond CPU time.
    pub fn costs(&self) -> WorkCosts {
        WorkCosts::of(self.cpu.events, &self.submitted, &self.answered)
    }

    /// When it was done; `None` where nobody worked.
    pub fn span(&self) -> Option<WorkSpan> {
        let (counted, stopped) = self.window()?;
        Some(WorkSpan { started: self.started?, counted, stopped })
    }

    /// The summary, where what was only looked at took time `looked`, and all else time `flushed`: the closing
    /// flush is no part of what was only looked at.
    pub fn totals(&self, looked: Nanos, flushed: Nanos) -> Shared<ActionTotals> {
        totals(&self.tallies, looked, flushed)
    }

    /// The same of each priority that any I/O had.
    pub fn priorities(&self, looked: Nanos, flushed: Nanos) -> Vec<PriorityResult> {
        let each = self.priorities.iter().map(|(value, tallies)| PriorityResult {
            priority: IoPriority::of_value(*value),
            io: totals(tallies, looked, flushed),
        });
        each.filter(|result| !result.io.is_empty()).collect()
    }
}

fn totals(
    tallies: &BTreeMap<Action, ActionTally>,
    looked: Nanos,
    flushed: Nanos,
) -> Shared<ActionTotals> {
    let done = tallies.iter().filter(|(_, tally)| tally.ops + tally.errors > 0);
    done.map(|(&action, tally)| {
        let waits = action.changes() || action.serves();
        (action, Box::new(tally.total(if waits { flushed } else { looked })))
    })
    .collect()
}

fn add(mine: &mut BTreeMap<Action, ActionTally>, others: BTreeMap<Action, ActionTally>) {
    for (action, tally) in others {
        match mine.entry(action) {
            Entry::Vacant(place) => {
                place.insert(tally);
            }
            Entry::Occupied(mut known) => known.get_mut().merge(&tally),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_plan::stats::{ActionTotal, HistogramCell, HistogramCells, LatencySplit};
    use proptest::prelude::*;

    /// A worker by its operations: whether each is a write, its bytes, and how long it took; and its start.
    type Work = (Vec<(bool, u16, u32)>, u32);

    fn worker_totals((work, start): &Work) -> WorkerTotals {
        let split = LatencySplit { by_acceptance: true, ..LatencySplit::default() };
        let mut worker_totals = WorkerTotals {
            tallies: ActionTallies::new([Action::Read, Action::Write], split),
            ..WorkerTotals::default()
        };
        for &(write, bytes, time) in work {
            let action = if write { Action::Write } else { Action::Read };
            let tally = worker_totals.tallies.of(action);
            tally.add(bytes.into(), 4096, time.into());
            if let Some(parts) = tally.parts.as_mut().and_then(|all| all.by_acceptance.as_mut()) {
                parts.slat.record(u64::from(time) / 3);
                parts.clat.record(u64::from(time) - u64::from(time) / 3);
            }
            worker_totals.depths.add(u32::from(bytes) % 9 + 1);
            worker_totals.cpu +=
                CpuSpent { time: Nanos(2), system: Some(Nanos(1)), ..CpuSpent::default() };
        }
        let busy: u64 = work.iter().map(|&(_, _, time)| u64::from(time)).sum();
        worker_totals.started = Timestamp(u64::from(*start));
        worker_totals.counted = worker_totals.started;
        worker_totals.stopped = Timestamp(u64::from(*start) + busy);
        worker_totals
    }

    fn together<'s>(all: impl IntoIterator<Item = &'s WorkerSums>) -> WorkerSums {
        let mut sum = WorkerSums::default();
        all.into_iter().for_each(|one| sum.merge(one.clone()));
        sum
    }

    /// The cells of several histograms as they stand in a record, added up.
    fn added<'c>(all: impl IntoIterator<Item = &'c HistogramCells>) -> HistogramCells {
        let mut sum = BTreeMap::new();
        for HistogramCell(floor, count) in all.into_iter().flat_map(HistogramCells::iter) {
            *sum.entry(floor).or_insert(0) += count;
        }
        sum.into_iter().map(|(floor, count)| HistogramCell(floor, count)).collect()
    }

    fn work() -> impl Strategy<Value = Work> {
        (prop::collection::vec((any::<bool>(), any::<u16>(), any::<u32>()), 0..40), any::<u32>())
    }

    proptest! {
        #[test]
        fn a_phase_is_the_sum_of_its_workers_by_way_of_its_jobs(
            jobs in prop::collection::vec(prop::collection::vec(work(), 1..4), 1..4),
        ) {
            let sums: Vec<Vec<WorkerSums>> =
                jobs.iter().map(|job| job.iter().map(|one| WorkerSums::of(worker_totals(one))).collect()).collect();
            let by_job: Vec<WorkerSums> = sums.iter().map(together).collect();
            let phase = together(&by_job);
            prop_assert_eq!(&phase, &together(sums.iter().flatten()));

            // The same as one worker would have that did it all.
            let all: Vec<_> = jobs.iter().flatten().flat_map(|(work, _)| work.clone()).collect();
            let alone = WorkerSums::of(worker_totals(&(all, 0)));
            prop_assert_eq!(&phase.depths, &alone.depths);
            prop_assert_eq!(phase.cpu, alone.cpu);

            // As it stands in a record: counts and every histogram are those of the workers, added up.
            let time = Nanos::secs(1);
            let workers: Vec<_> = sums.iter().flatten().map(|one| one.totals(time, time)).collect();
            let whole = phase.totals(time, time);
            prop_assert_eq!(&whole, &alone.totals(time, time));
            for (action, total) in &whole {
                let parts: Vec<&ActionTotal> = workers.iter().filter_map(|one| one.get(action).map(|total| &**total)).collect();
                let ops: u64 = parts.iter().map(|part| part.ops.0).sum();
                let bytes: u64 = parts.iter().map(|part| part.bytes.0).sum();
                let short: u64 = parts.iter().map(|part| part.short).sum();
                prop_assert_eq!((total.ops.0, total.bytes.0, total.short), (ops, bytes, short));
                prop_assert_eq!(&total.histogram, &added(parts.iter().map(|part| &part.histogram)));
                prop_assert_eq!(&total.slat_histogram, &added(parts.iter().map(|part| &part.slat_histogram)));
                prop_assert_eq!(&total.clat_histogram, &added(parts.iter().map(|part| &part.clat_histogram)));
                prop_assert_eq!(total.slat_histogram.iter().map(|cell| cell.1).sum::<u64>(), ops);
            }
            let first = jobs.iter().flatten().map(|(_, start)| *start).min();
            prop_assert_eq!(phase.span().map(|span| span.started), first.map(|at| Timestamp(at.into())));
        }
    }

    #[test]
    fn who_counted_nothing_does_not_begin_the_counting() {
        let of = |started, counted, stopped| {
            let at = Timestamp;
            WorkerSums::of(WorkerTotals {
                started: at(started),
                counted: at(counted),
                stopped: at(stopped),
                ..WorkerTotals::default()
            })
        };
        let (early, late) = (of(1, 3, 3), of(2, 5, 9));
        assert_eq!(early.window(), Some((Timestamp(3), Timestamp(3))));
        assert_eq!(together([&early, &late]).window(), Some((Timestamp(5), Timestamp(9))));
        assert_eq!(together([]).span(), None);
    }
}
