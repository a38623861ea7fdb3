//! What a grid of file and record sizes came to: the rate of each cell, and whether that is the rate of a cache
//! of the CPU, of the page cache or of the device.

use std::collections::HashMap;

use super::measure::{FlowView, PhaseView};
use super::threshold::{REACHED, UNTOUCHED};
use assay_plan::plan::{GridPlace, Phase};
use assay_plan::unit::Bandwidth;
use assay_record::evidence::{CpuCache, LeafKind};
use assay_record::record::{
    GridFigure, GridRegion, GridResult, MeasuredSubject, Metric, PhaseFigures, PhaseRecord, Record,
};

/// The cells that were done.
pub(super) fn result(record: &Record) -> GridResult {
    let planned: HashMap<&str, &Phase> =
        record.plan.phases.iter().map(|phase| (phase.name.as_str(), phase)).collect();
    let cell = |done: &PhaseRecord| {
        let phase = planned.get(done.name.as_str())?;
        Some(figure(record, done, phase.jobs.iter().any(|job| job.writes()), phase.grid_place()?))
    };
    GridResult { cells: record.phases.stream().filter_map(|done| cell(&done)).collect() }
}

fn figure(record: &Record, done: &PhaseRecord, writes: bool, place: GridPlace<'_>) -> GridFigure {
    let figures = PhaseFigures::of(done);
    let moved =
        figures.actions().into_iter().filter_map(|it| figures.value(it, Metric::Throughput));
    let rate: f64 = moved.sum();
    GridFigure {
        phase: done.name.clone(),
        test: place.test.into(),
        writes,
        file: place.file,
        record: place.record,
        bandwidth: (rate > 0.0).then_some(Bandwidth(rate)),
        region: region(record, done, place),
        trust: done.verdict.as_ref().map(|verdict| verdict.trust),
    }
}

/// What was measured: what the device moved says whether it was memory, and the sizes say which.
fn region(record: &Record, done: &PhaseRecord, place: GridPlace<'_>) -> GridRegion {
    let view = PhaseView::new(record, done);
    let memory = |flow: &FlowView<'_>| matches!(flow.subject.bottom, LeafKind::Memory(_));
    if view.cases.iter().any(memory) {
        return in_cache(&record.machine().caches, place).unwrap_or(GridRegion::Memory);
    }
    let reached = view.cases.iter().filter_map(share);
    match reached.reduce(f64::min) {
        None => GridRegion::Unknown,
        Some(share) if share < UNTOUCHED => {
            in_cache(&record.machine().caches, place).unwrap_or(GridRegion::PageCache)
        }
        Some(share) if share < REACHED => GridRegion::Mixed,
        // Others used it, or there was too little to tell.
        Some(_) if done.verdict.as_ref().is_some_and(|verdict| is_vague(verdict.measures)) => {
            GridRegion::Unknown
        }
        Some(_) => GridRegion::Device,
    }
}

/// Whether a verdict says that the counters do not tell.
const fn is_vague(measures: MeasuredSubject) -> bool {
    matches!(
        measures,
        MeasuredSubject::Disturbed | MeasuredSubject::Unsure | MeasuredSubject::Invalid
    )
}

/// The share of the bytes that the device had moved. Others may have used it meanwhile: what still lay in memory
/// it has not.
fn share(flow: &FlowView<'_>) -> Option<f64> {
    let (reach, level) = flow.reach()?;
    let left = flow.unwritten_pages().filter(|_| flow.writes() && !flow.flushed(level));
    let left = left.map_or(0.0, |left| left.0 as f64 / flow.flow.bytes.0.max(1) as f64);
    Some(reach.min((1.0 - left).max(0.0)))
}

/// The smallest cache that the pages of the file and the buffer of the program fit into together.
fn in_cache(caches: &[CpuCache], place: GridPlace<'_>) -> Option<GridRegion> {
    let needed = place.file.0.saturating_add(place.record.0);
    let fits = caches.iter().find(|cache| needed <= cache.size.0);
    fits.map(|cache| GridRegion::CpuCache(cache.level))
}

#[cfg(test)]
mod tests {
    use super::super::bench::DoctoredRecord;
    use super::*;
    use assay_plan::plan::{
        Action, BlockSize, BlockWork, Mix, OffsetOrdering, Pattern, StudyPlan, Target, Work,
    };
    use assay_plan::unit::{Bytes, KIB, MIB};
    use assay_record::record::StudyResult;

    /// A phase as a cell of a grid on a machine with caches of 1 and 32 MiB.
    fn grid(mut doctored: DoctoredRecord, file: u64, block: u64) -> GridFigure {
        let record = &mut doctored.record;
        record.hosts[0].machine.caches = vec![
            CpuCache { level: 2, size: Bytes(MIB) },
            CpuCache { level: 3, size: Bytes(32 * MIB) },
        ];
        record.plan.aim = Some(StudyPlan::Grid);
        let pattern = Pattern::of(
            Mix::only(Action::Write),
            OffsetOrdering::Forward,
            BlockSize::Fixed(Bytes(block)),
        );
        let target = Target::Nowhere { size: Bytes(file) };
        record.plan.phases[0].jobs[0].work = Work::Blocks(BlockWork::of(target, pattern));
        super::super::judge(record);
        match &record.outcome {
            Some(StudyResult::Grid(found)) => found.cells[0].clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_the_device_moved_tells_memory_from_disk() {
        let region = |doctored, file, block| grid(doctored, file, block).region;
        let flushed = DoctoredRecord::write_flushed;
        let unflushed = DoctoredRecord::write_without_flush;
        assert_eq!(region(flushed(), 64 * KIB, 4 * KIB), GridRegion::Device);
        for (file, block, expected) in [
            (64 * KIB, 4 * KIB, GridRegion::CpuCache(2)),
            (512 * KIB, 512 * KIB, GridRegion::CpuCache(2)),
            (MIB, 4 * KIB, GridRegion::CpuCache(3)),
            (31 * MIB, 2 * MIB, GridRegion::PageCache),
            (64 * MIB, 4 * KIB, GridRegion::PageCache),
        ] {
            assert_eq!(region(unflushed(), file, block), expected, "{file} {block}");
        }
    }

    #[test]
    fn a_cell_has_its_rate_and_its_place() {
        let cell = grid(DoctoredRecord::write_flushed(), 64 * MIB, 64 * KIB);
        assert_eq!((cell.file, cell.record, cell.writes), (Bytes(64 * MIB), Bytes(64 * KIB), true));
        assert!(cell.bandwidth.is_some_and(|rate| rate.0 > 0.0) && cell.trust.is_some());
    }
}
