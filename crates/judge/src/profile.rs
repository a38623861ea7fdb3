//! What the runs of a profile come to.

use super::leave;
use assay_plan::plan::{PhaseRef, ProfileCell, ProfilePlan};
use assay_plan::unit::{Bandwidth, Iops, Nanos};
use assay_record::record::{
    Metric, PhaseFigures, PhaseRecord, ProfileFigure, ProfileResult, Record, Statistic, Trust,
};

/// What the profile of a record came to.
pub fn profiled(profile: &ProfilePlan, record: &Record) -> ProfileResult {
    let cells = profile.cells.iter().map(|cell| figures(record, cell)).collect();
    ProfileResult { of: profile.of, cells }
}

fn figures(record: &Record, cell: &ProfileCell) -> ProfileFigure {
    let planned = &record.plan.phases;
    let is_run = |name: &str| PhaseRef::any(&cell.runs, planned, name);
    let done = record.phases.iter().filter(|phase| is_run(&phase.name));
    let runs: Vec<(&PhaseRecord, PhaseFigures, f64)> = done
        .filter_map(|phase| {
            let figures = PhaseFigures::of(phase);
            let rate = figures.value(cell.action, Metric::Throughput)?;
            Some((phase, figures, rate))
        })
        .collect();
    let rates = || runs.iter().map(|(_, _, rate)| *rate);
    let best = runs.iter().max_by(|(_, _, a), (_, _, b)| a.total_cmp(b));
    let mean = (!runs.is_empty()).then(|| rates().sum::<f64>() / runs.len() as f64);
    let planned = planned.iter().find(|phase| is_run(&phase.name));
    ProfileFigure {
        title: cell.title.clone(),
        action: cell.action,
        runs: runs.len() as u32,
        best: best.map(|(_, _, rate)| Bandwidth(*rate)),
        mean: mean.map(Bandwidth),
        least: rates().min_by(f64::total_cmp).map(Bandwidth),
        iops: best.and_then(|(_, of, _)| of.value(cell.action, Metric::Iops)).map(Iops),
        lat: runs
            .iter()
            .filter_map(|(_, of, _)| of.value(cell.action, Metric::lat(Statistic::Mean)))
            .map(|mean| Nanos(mean as u64))
            .min(),
        trust: runs.iter().filter_map(|(phase, ..)| trust(phase)).max(),
        left_out: planned.and_then(|phase| leave::obstacle(record, phase)).map(Into::into),
    }
}

fn trust(phase: &PhaseRecord) -> Option<Trust> {
    Some(phase.verdict.as_ref()?.trust)
}

/// The scores of AS SSD, of read, write and all: one number each for six, which hides most of what
/// they tell. `None` where a figure is missing or refuted.
pub fn scores(profiled: &ProfileResult) -> Option<[f64; 3]> {
    use assay_plan::plan::Action::{Read, Write};
    let rate = |title: &str, action| {
        let cell = profiled.cells.iter().find(|c| c.title == title && c.action == action)?;
        cell.best.filter(|_| cell.trust != Some(Trust::Wrong)).map(Bandwidth::mb)
    };
    let both = |title: &str| Some((rate(title, Read)?, rate(title, Write)?));
    let (seq, single, many) = (both("Seq")?, both("4K")?, both("4K-64Thrd")?);
    Some([
        0.1 * seq.0 + single.0 + many.0,
        0.1 * seq.1 + single.1 + many.1,
        0.1 * seq.0 + 0.15 * seq.1 + 2.0 * single.0 + single.1 + 1.5 * many.0 + many.1,
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_plan::plan::{Action, ProfileTool};

    fn cell(title: &str, action: Action, mb: f64) -> ProfileFigure {
        let rate = Some(Bandwidth(mb * 1e6));
        ProfileFigure {
            title: title.into(),
            action,
            runs: 1,
            best: rate,
            mean: rate,
            least: rate,
            iops: None,
            lat: None,
            trust: Some(Trust::Sound),
            left_out: None,
        }
    }

    #[test]
    fn scores_are_as_ssds_and_fail_closed() {
        let rates = [("Seq", 520.0, 480.0), ("4K", 30.0, 110.0), ("4K-64Thrd", 380.0, 330.0)];
        let cells = rates.into_iter().flat_map(|(title, read, write)| {
            [cell(title, Action::Read, read), cell(title, Action::Write, write)]
        });
        let mut profiled = ProfileResult { of: ProfileTool::AsSsd, cells: cells.collect() };
        let scores = scores(&profiled).expect("all there").map(f64::round);
        assert_eq!(scores, [462.0, 488.0, 1194.0]);
        profiled.cells[0].trust = Some(Trust::Wrong);
        assert_eq!(super::scores(&profiled), None);
    }
}
