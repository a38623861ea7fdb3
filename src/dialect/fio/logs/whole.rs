//! `--bandwidth-log`: what all jobs moved together, over time.

use crate::dialect::fio::print::{FioLogFormat, FioLogKind, FioLogSample};
use assay_plan::plan::{Action, Work};
use assay_plan::unit::{KIB, Nanos};
use assay_record::record::{JobResult, Record};

/// The time over which a line is the mean, at the least.
const WINDOW: Nanos = Nanos::millis(500);

/// What the three logs are called.
pub(super) fn whole_files(prefix: &str) -> [String; 3] {
    ["read", "write", "trim"]
        .map(|way| FioLogKind::Bandwidth.file(&format!("{prefix}-{way}"), None))
}

/// The three logs, of reads, writes and trims: names of files, with what goes into each. A line is the mean of
/// half a second or a little more.
pub fn whole_bandwidth(prefix: &str, record: &Record) -> [(String, String); 3] {
    let mut texts = whole_files(prefix).map(|name| (name, String::new()));
    let first = record.phases.first().map(|phase| phase.span.started).unwrap_or_default();
    for (number, phase) in record.phases.stream().enumerate() {
        let before = phase.span.started.since(first);
        let skipped = phase.span.counted.since(phase.span.started);
        let stopped = phase.span.stopped.since(phase.span.started);
        let (mut moved, mut since) = ([0; 3], skipped);
        for (at, point) in phase.series.points.iter().enumerate() {
            // After the work its flush is watched.
            if since >= stopped || point.at_ns <= skipped {
                continue;
            }
            for (direction, sum) in moved.iter_mut().enumerate() {
                *sum += phase
                    .jobs
                    .iter()
                    .map(|job| bytes(record, number, job, direction, at))
                    .sum::<u64>();
            }
            let time = point.at_ns.less(since);
            if time < WINDOW {
                continue;
            }
            for (direction, (sum, (_, text))) in moved.iter().zip(&mut texts).enumerate() {
                let value = sum * 1000 / (time.0 / 1_000_000).max(1) / KIB;
                let time_ms = (before + point.at_ns).0 / 1_000_000;
                let direction = direction as u8;
                let sample = FioLogSample { time_ms, value, direction, ..FioLogSample::default() };
                *text += &FioLogFormat::default().line(&sample);
            }
            (moved, since) = ([0; 3], point.at_ns);
        }
    }
    texts
}

/// Bytes that a job moved in a direction in one interval. Of trims only their number is known: each has the size
/// of a block.
fn bytes(record: &Record, phase: usize, job: &JobResult, direction: usize, at: usize) -> u64 {
    let action = [Action::Read, Action::Write, Action::Trim][direction];
    let Some(count) = job.series.get(&action).and_then(|points| points.get(at)) else { return 0 };
    if action != Action::Trim {
        return count.1;
    }
    let planned = record.plan.phases.get(phase).into_iter().flat_map(|phase| phase.jobs.iter());
    let block =
        planned.filter(|planned| planned.name == job.name).find_map(|job| match &job.work {
            Work::Blocks(blocks) => Some(blocks.pattern.largest().0),
            _ => None,
        });
    count.0 * block.unwrap_or_default()
}
