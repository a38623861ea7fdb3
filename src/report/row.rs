//! The rows of the table of phases: what was done in a phase, and its figures as texts. Pages for
//! terminals and for browsers have the same ones.

use super::Style;
use super::figure::{digits, duration, megabytes, quantile, spread, time};
use super::rates;
use crate::plan::{Action, Phase, Work};
use crate::record::{Counted, PhaseRecord, ResolvedJob, Steadied};
use crate::stats::Total;
use crate::unit::{Bytes, Nanos};

/// What stands above the figures.
pub const FIGURES: [&str; 6] = ["MB/s", "IOPS", "p50", "p99", "max", "spread"];

/// What was done in a phase, but for calls that only serve others.
pub fn done(phase: &PhaseRecord) -> Vec<(Action, &Total)> {
    phase
        .totals
        .iter()
        .filter(|(action, total)| !action.serves() && (total.ops.0 > 0 || total.errors > 0))
        .map(|(action, total)| (*action, total))
        .collect()
}

/// Block of the first job, and the I/Os in flight of all its workers, as many as its method can keep;
/// `jobs` are those of the run, as they fit the machine. `None` of work without blocks.
pub fn load(phase: &Phase, jobs: &[ResolvedJob]) -> Option<(Bytes, Option<u32>)> {
    let job = phase.jobs.first()?;
    match &job.work {
        Work::Blocks(blocks) => {
            let fits = jobs.iter().find(|fits| fits.phase == phase.name && fits.job == job.name);
            let alone = fits.is_some_and(|fits| fits.method.one_at_a_time());
            let iodepth = if alone { 1 } else { blocks.iodepth };
            Some((blocks.pattern.largest(), Some(iodepth.saturating_mul(job.workers))))
        }
        Work::Copy(copy) => Some((copy.output_block, None)),
        Work::Tree(_) => None,
    }
}

/// `4 KiB q32`, or how many files.
pub fn shape(phase: &Phase, jobs: &[ResolvedJob]) -> Option<String> {
    match (load(phase, jobs), &phase.jobs.first()?.work) {
        (Some((block, Some(depth))), _) => Some(format!("{block} q{depth}")),
        (Some((block, None)), _) => Some(block.to_string()),
        (None, Work::Tree(tree)) => Some(format!("{} files", tree.files)),
        (None, _) => None,
    }
}

/// The figures of an action; the spread is that of the phase, and stands at its first.
pub fn figures(phase: &PhaseRecord, total: &Total, first: bool, style: Style) -> [String; 6] {
    let absent = || "-".to_string();
    let lat = total.lat_ns.as_ref();
    let moved = (total.bytes.0 > 0).then_some(total.bandwidth).flatten();
    [
        megabytes(moved),
        total.iops.map_or_else(absent, |iops| iops.to_string()),
        lat.map_or_else(absent, |lat| quantile(total, 0.5, lat.p50, style)),
        lat.map_or_else(absent, |lat| quantile(total, 0.99, lat.p99, style)),
        lat.map_or_else(absent, |lat| time(Nanos(lat.max), style)),
        spread(rates::spread(phase).filter(|_| first), style),
    ]
}

/// Whether jobs that a steady state was to end came to one, a sentence for each.
pub fn steady(phase: &PhaseRecord) -> Vec<String> {
    let told = |Steadied { job, counted, after, state }: &Steadied| {
        let of = if phase.steady.len() > 1 { format!("{job}: ") } else { String::new() };
        let Some((state, after)) = state.as_ref().zip(*after) else {
            return format!("{of}not steady yet when something else ended it");
        };
        let rate = match counted {
            Counted::Bytes => format!("{} MB/s", digits(state.mean / 1e6)),
            Counted::Operations => format!("{} operations per second", digits(state.mean)),
        };
        let rounds = state.rounds.len();
        format!("{of}steady after {}: {rate} in the last {rounds} rounds", duration(after))
    };
    phase.steady.iter().map(told).collect()
}

/// What went wrong in a phase, in texts that may have several lines.
pub fn troubles(phase: &PhaseRecord) -> Vec<String> {
    let mut texts: Vec<String> = phase.faults.iter().map(ToString::to_string).collect();
    let errors: u64 = phase.totals.values().map(|total| total.errors).sum();
    let mismatches: u64 = phase.totals.values().map(|total| total.mismatches).sum();
    for (count, what) in [
        (errors, "answered with an error"),
        (mismatches, "blocks did not hold what was written there"),
    ] {
        if count > 0 {
            texts.push(format!("{count} {what}"));
        }
    }
    texts
}
