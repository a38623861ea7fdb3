//! The table of phases: what was done in each, and its figures. Every format has the same one.

use super::figure::{digits, duration};
use super::table::{ReportTable, TableAlign, TableCell, TableColumn, TableRow};
use assay_judge::stopped_before_steady;
use assay_plan::error::errno_name;
use assay_plan::plan::{Action, Phase, Plan, StopRule, Work};
use assay_plan::unit::{Bytes, Nanos};
use assay_record::claim::WentOn;
use assay_record::record::{
    FigureUnit, Metric, PhaseFigures, PhaseRecord, RateBasis, Record, ResolvedJob, Statistic,
    SteadyResult, StreamedPhase, jobs_of,
};
use assay_record::words::Voice;

/// What stands above the figures.
pub const FIGURES: [&str; 6] = ["MB/s", "IOPS", "p50", "p99", "max", "spread"];

pub(super) const COLUMNS: [TableColumn; 25] = {
    use TableAlign::{Left, Right};
    [
        TableColumn::both("phase", "phase", Left),
        TableColumn::both("action", "", Left),
        TableColumn::of_people("block, depth"),
        TableColumn::of_programs("block_bytes"),
        TableColumn::of_programs("in_flight"),
        TableColumn::of_programs("ops"),
        TableColumn::of_programs("bytes"),
        TableColumn::of_programs("errors"),
        TableColumn::of_programs("time_ns"),
        TableColumn::both("bytes_per_second", FIGURES[0], Right),
        TableColumn::both("iops", FIGURES[1], Right).with_decimals(2),
        TableColumn::both("lat_p50_ns", FIGURES[2], Right),
        TableColumn::of_programs("lat_p90_ns"),
        TableColumn::both("lat_p99_ns", FIGURES[3], Right),
        TableColumn::of_programs("lat_p99_9_ns"),
        TableColumn::both("lat_max_ns", FIGURES[4], Right),
        TableColumn::both("spread", FIGURES[5], Right).with_decimals(4),
        TableColumn::of_people("verdict"),
        TableColumn::of_programs("trust"),
        TableColumn::of_programs("measures"),
        TableColumn::of_programs("device_bytes_per_second"),
        TableColumn::of_programs("cpu_ns"),
        TableColumn::of_programs("cpu_share").with_decimals(4),
        TableColumn::of_programs("depth_mean").with_decimals(2),
        TableColumn::of_programs("depth_max"),
    ]
};

/// What is said of a phase that makes the file for the others, or warms it up, in place of a verdict.
pub const PREPARATION: &str = "preparation, not measured";

/// The phases of a record and their figures.
pub fn table(record: &Record) -> ReportTable {
    let rows = |phase: StreamedPhase| rows(&record.plan, &record.resolved.jobs, &phase);
    let rows = record.phases.stream().flat_map(rows).collect();
    ReportTable { columns: COLUMNS.to_vec(), rows }
}

/// One phase: a row for each action. Sizes are bytes, rates per second; the spread is a share of the
/// median. CPU time and depth are those of the phase.
pub fn one(plan: &Plan, jobs: &[ResolvedJob], phase: &PhaseRecord) -> ReportTable {
    ReportTable { columns: COLUMNS.to_vec(), rows: rows(plan, jobs, phase) }
}

fn rows(plan: &Plan, jobs: &[ResolvedJob], phase: &PhaseRecord) -> Vec<TableRow> {
    let figures = PhaseFigures::of(phase);
    let done = figures.done();
    if done.is_empty() {
        return vec![TableRow::Remark(phase.name.clone(), "nothing was done".into())];
    }
    let planned = plan.phases.get(phase.number);
    let load = planned.and_then(|planned| load(plan, planned, jobs));
    let shape = planned.and_then(|planned| shape(plan, planned, jobs)).unwrap_or_default();
    let counts = plan.counts(&phase.name);
    let verdict = phase.verdict.as_ref().filter(|_| counts);
    let judged = verdict.map(|verdict| (verdict.trust, verdict.measures));
    let word = |word: Option<&str>| TableCell::text(word.unwrap_or_default());
    let row = |(index, action): (usize, Action)| {
        let first = index == 0;
        let of = |metric| TableCell::of(figures.find(Some(action), metric));
        let whole = |metric| TableCell::of(figures.find(None, metric));
        let corrected = figures.find(Some(action), Metric::Throughput);
        let corrected = corrected.and_then(|figure| figure.corrected);
        let depth = load.and_then(|(_, depth)| depth);
        TableRow::Cells(vec![
            TableCell::text(&phase.name).once(first),
            TableCell::text(action.name()),
            TableCell::text(&shape).once(first),
            TableCell::quantity(load.map(|(block, _)| block.0 as f64), FigureUnit::Bytes),
            TableCell::quantity(depth.map(f64::from), FigureUnit::Operations),
            of(Metric::Ops),
            of(Metric::Bytes),
            of(Metric::Errors),
            of(Metric::Time),
            of(Metric::Throughput),
            of(Metric::Iops),
            of(Metric::lat(Statistic::P50)),
            of(Metric::lat(Statistic::P90)),
            of(Metric::P99),
            of(Metric::lat(Statistic::P99_9)),
            of(Metric::lat(Statistic::Max)),
            of(Metric::Spread),
            match counts {
                true => TableCell::Judgement(judged).once(first),
                false => TableCell::text("preparation").once(first),
            },
            word(judged.map(|(trust, _)| trust.name())),
            word(judged.map(|(_, measures)| measures.name())),
            corrected.map_or(TableCell::text(""), TableCell::Interval),
            whole(Metric::Cpu),
            whole(Metric::CpuShare),
            whole(Metric::DepthMean),
            whole(Metric::DepthMax),
        ])
    };
    done.into_iter().enumerate().map(row).collect()
}

/// Block of the first job, and the I/Os in flight of all its workers, as many as its method can keep;
/// `jobs` are those of the run, as they fit the machine. `None` of work without blocks.
pub fn load(plan: &Plan, phase: &Phase, jobs: &[ResolvedJob]) -> Option<(Bytes, Option<u32>)> {
    let job = phase.jobs.first()?;
    match &job.work {
        Work::Blocks(blocks) => {
            let mut own = jobs_of(jobs, plan.number(&phase.name)?);
            let fits = own.find(|fits| fits.job == job.name);
            let alone = fits.is_some_and(|fits| fits.method.one_at_a_time());
            let iodepth = if alone { 1 } else { blocks.iodepth };
            Some((blocks.pattern.largest(), Some(iodepth.saturating_mul(job.workers))))
        }
        Work::Copy(copy) => Some((copy.output_block, None)),
        Work::Tree(_) => None,
    }
}

/// `4 KiB q32`, or how many files.
pub fn shape(plan: &Plan, phase: &Phase, jobs: &[ResolvedJob]) -> Option<String> {
    match (load(plan, phase, jobs), &phase.jobs.first()?.work) {
        (Some((block, Some(depth))), _) => Some(format!("{block} q{depth}")),
        (Some((block, None)), _) => Some(block.to_string()),
        (None, Work::Tree(tree)) => Some(format!("{} files", tree.files)),
        (None, _) => None,
    }
}

/// Whether jobs that a steady state was to end came to one, a sentence for each.
pub fn steady(record: &Record, phase: &PhaseRecord, voice: Voice) -> Vec<String> {
    let told = |SteadyResult { job, counted, after, state, .. }: &SteadyResult| {
        let of = if phase.steady.len() > 1 { format!("{job}: ") } else { String::new() };
        if let Some(stop) = record.stop_of(phase, job).filter(|stop| stop.even_halves().is_some()) {
            return Some(format!("{of}{}", voice.say(&went_on(stop, phase, *after)?)));
        }
        let Some((state, after)) = state.as_ref().zip(*after) else {
            return Some(format!("{of}{}", voice.say(&stopped_before_steady(record, phase, job))));
        };
        let rate = match counted {
            RateBasis::Bytes => format!("{} MB/s", digits(state.mean / 1e6)),
            RateBasis::Operations => format!("{} operations per second", digits(state.mean)),
            RateBasis::Latency => format!("{} per I/O", voice.say(&Nanos(state.mean as u64))),
        };
        let rounds = state.rounds.len();
        Some(format!("{of}steady after {}: {rate} in the last {rounds} rounds", duration(after)))
    };
    phase.steady.iter().filter_map(told).collect()
}

/// Whether a job went on beyond the time after which its rate may be found even, and to what end. `after` is when it was.
fn went_on(stop: &StopRule, phase: &PhaseRecord, after: Option<Nanos>) -> Option<WentOn> {
    let counted = phase.span.counted.since(phase.span.started);
    let time = phase.span.stopped.since(phase.span.counted);
    match after {
        // It is looked at ten times a second.
        Some(after) => {
            let longer = after > counted + stop.even_halves()? + Nanos::millis(200);
            longer.then_some(WentOn::UntilSteady(time))
        }
        None => (time >= stop.time()?).then_some(WentOn::NeverSteady(time)),
    }
}

/// What went wrong in a phase, in texts that may have several lines.
pub fn troubles(phase: &PhaseRecord) -> Vec<String> {
    let mut texts: Vec<String> = phase.faults.iter().map(ToString::to_string).collect();
    let errors: u64 = phase.totals.values().map(|total| total.errors).sum();
    let mismatches: u64 = phase.totals.values().map(|total| total.mismatches).sum();
    if errors > 0 {
        let passed = phase.jobs.iter().find_map(|job| job.passed).filter(|it| it.first != 0);
        let first = passed.map(|it| format!(", the first with {}", errno_name(it.first)));
        texts.push(format!("{errors} answered with an error{}", first.unwrap_or_default()));
    }
    if mismatches > 0 {
        texts.push(format!("{mismatches} blocks with wrong data"));
    }
    texts
}
