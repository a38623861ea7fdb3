//! What words did in a run that their user may not have meant: only the record tells.

use std::time::Duration;

use super::asked::{FioCommand, FioJob, FioNote};
use super::direction::FioDirection;
use super::job_fault::result_of;
use super::measure::samples;
use super::plan::FioClone;
use crate::plan::Action;
use crate::record::{
    Ending, IntervalCount, JobResult, LatencyPart, Metric, PhaseFigures, PhaseRecord, Record,
    Statistic,
};
use crate::unit::Nanos;

/// The surprises of a run, one of a kind for each job.
pub fn found_in_run(command: &FioCommand, clones: &[FioClone], record: &Record) -> Vec<FioNote> {
    let mut notes = Vec::new();
    for (number, job) in command.jobs.iter().enumerate() {
        let of_job = clones.iter().filter(|clone| clone.job == number);
        let results: Vec<_> = of_job.filter_map(|clone| result(clone, record)).collect();
        if record.ending == Ending::Complete {
            notes.extend(ended_early(job, &results));
        }
        notes.extend(caught_up(job, &results));
        notes.extend(omitted(job, &results));
    }
    notes
}

fn result<'r>(clone: &'r FioClone, record: &'r Record) -> Option<(&'r PhaseRecord, &'r JobResult)> {
    let phase = clone.phases(record).next()?;
    Some((phase, result_of(clone, phase)?))
}

/// A runtime is a limit: the job was done long before.
fn ended_early(job: &FioJob, results: &[(&PhaseRecord, &JobResult)]) -> Option<FioNote> {
    let schedule = &job.schedule;
    let runtime = Nanos::from(schedule.runtime);
    let ended_otherwise = schedule.exitall || job.steady_rounds() > 0;
    if schedule.time_based || runtime == Nanos::ZERO || ended_otherwise || !job.is_set("runtime") {
        return None;
    }
    let spans = results.iter().filter(|(phase, _)| phase.faults.is_empty());
    let longest =
        spans.filter_map(|(_, job)| job.span).map(|span| span.stopped.since(span.counted));
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
fn omitted(job: &FioJob, results: &[(&PhaseRecord, &JobResult)]) -> Option<FioNote> {
    let means = results.iter().flat_map(|(phase, result)| {
        let figures = PhaseFigures::of(phase);
        let mean = |action, part| {
            figures.find(Some(action), Metric::Latency(part, Statistic::Mean))?.time()
        };
        let both = |action: &Action| {
            mean(*action, LatencyPart::Whole).zip(mean(*action, LatencyPart::Service))
        };
        result.totals.keys().filter_map(both).collect::<Vec<_>>()
    });
    let (due, sent) = means.filter(|_| !job.counts_from_due()).max()?;
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
fn caught_up(job: &FioJob, results: &[(&PhaseRecord, &JobResult)]) -> Option<FioNote> {
    let actions = [Action::Read, Action::Write, Action::Trim];
    FioDirection::ALL.into_iter().zip(actions).find_map(|(direction, action)| {
        let pace = &job.pace;
        let (bytes, ops) = (*pace.rate.of(direction), u64::from(*pace.rate_iops.of(direction)));
        let (name, cap) = match (bytes, ops) {
            (0, 0) => return None,
            (0, ops) => ("rate_iops", ops as f64),
            (bytes, _) => ("rate", bytes as f64),
        };
        let seconds = |(phase, job): &(&PhaseRecord, &JobResult)| {
            let counts = job.series.get(&action)?;
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
