//! What words did in a run that their user may not have meant: only the record tells.

use std::collections::BTreeMap;
use std::time::Duration;

use super::job_fault::result_of;
use super::measure::samples;
use crate::dialect::fio::job::{FioCommand, FioDirection, FioJob, FioNote};
use crate::dialect::fio::plan::FioClone;
use assay_plan::plan::Action;
use assay_plan::unit::Nanos;
use assay_record::record::{
    Ending, IntervalCount, JobResult, LatencyPart, Metric, PhaseFigures, PhaseRecord, Statistic,
};

/// The surprises of a phase, one of a kind for each job of the clones that begin in it; with the ending of the run
/// that they are told of only.
pub(super) fn found_in_phase<'c>(
    command: &FioCommand,
    clones: impl Iterator<Item = &'c FioClone>,
    phase: &PhaseRecord,
) -> Vec<(FioNote, Option<Ending>)> {
    let mut results: BTreeMap<usize, Vec<&JobResult>> = BTreeMap::new();
    for clone in clones {
        results.entry(clone.job).or_default().extend(result_of(clone, phase));
    }
    let of_job = |(number, results): (usize, Vec<&JobResult>)| {
        let job = &command.jobs[number];
        let early = ended_early(job, phase, &results).map(|note| (note, Some(Ending::Complete)));
        let paced = [caught_up(job, phase, &results), omitted(job, phase, &results)];
        early.into_iter().chain(paced.into_iter().flatten().map(|note| (note, None)))
    };
    results.into_iter().flat_map(of_job).collect()
}

/// A runtime is a limit: the job was done long before.
fn ended_early(job: &FioJob, phase: &PhaseRecord, results: &[&JobResult]) -> Option<FioNote> {
    let schedule = &job.schedule;
    let runtime = Nanos::from(schedule.runtime);
    let ended_otherwise = schedule.exitall || job.steady_rounds() > 0;
    if schedule.time_based || runtime == Nanos::ZERO || ended_otherwise || !job.is_set("runtime") {
        return None;
    }
    if !phase.faults.is_empty() {
        return None;
    }
    let spans = results.iter().filter_map(|result| result.span);
    let longest = spans.map(|span| span.stopped.since(span.counted));
    let time = longest.max().filter(|time| time.0 < runtime.0 - runtime.0 / 10)?;
    let made = format!("{runtime} at the most: its size was done after {time}");
    Some(FioNote::about(
        job,
        "runtime",
        made,
        &format!("{runtime} of work"),
        "time_based beside it",
    ))
}

/// Who counts from when I/Os were sent leaves out how long they waited for those before them.
fn omitted(job: &FioJob, phase: &PhaseRecord, results: &[&JobResult]) -> Option<FioNote> {
    if job.counts_from_due() {
        return None;
    }
    let figures = PhaseFigures::of(phase);
    let mean =
        |action, part| figures.find(Some(action), Metric::Latency(part, Statistic::Mean))?.time();
    let both = |action: &Action| {
        mean(*action, LatencyPart::Whole).zip(mean(*action, LatencyPart::Service))
    };
    let means = results.iter().flat_map(|result| result.totals.keys()).filter_map(both);
    let (due, sent) = means.max()?;
    (due.0 > 2 * sent.0).then(|| {
        FioNote::about(
            job,
            "rate_process",
            format!("{sent} of latency in the mean, from when an I/O was sent: it is {due} from when it was due, because I/Os waited for those before them"),
            "latency from when an I/O was due",
            "io_submit_mode=offload beside ioengine=io_uring",
        )
    })
}

/// A rate is one of the mean: what a stall held up was sent behind it, faster than the rate.
fn caught_up(job: &FioJob, phase: &PhaseRecord, results: &[&JobResult]) -> Option<FioNote> {
    let actions = [Action::Read, Action::Write, Action::Trim];
    FioDirection::ALL.into_iter().zip(actions).find_map(|(direction, action)| {
        let pace = &job.pace;
        let (bytes, ops) = (*pace.rate.of(direction), u64::from(*pace.rate_iops.of(direction)));
        let (name, cap) = match (bytes, ops) {
            (0, 0) => return None,
            (0, ops) => ("rate_iops", ops as f64),
            (bytes, _) => ("rate", bytes as f64),
        };
        let seconds = |result: &&JobResult| {
            let counts = result.series.get(&action)?;
            let second = |count: IntervalCount, ms| if bytes > 0 { count.1 } else { count.0 } * 1000 / ms;
            let points = (counts.as_slice(), phase.series.points.as_slice());
            Some(samples(Nanos::ZERO, points, Duration::from_secs(1), second).max)
        };
        let most = results.iter().filter_map(seconds).max()? as f64;
        (most > 1.2 * cap).then(|| {
            FioNote::about(
                job,
                name,
                format!(
                    "a mean: after a stall a second had {:.0} % of it, and latency counts from when an I/O was sent",
                    100.0 * most / cap
                ),
                "a pace that is never exceeded",
                "rate_process=poisson with io_submit_mode=offload, whose latency counts from when an I/O was due",
            )
        })
    })
}
