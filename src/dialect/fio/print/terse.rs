//! A line of fields for programs: `--output-format=terse`, versions 2 to 5.

use std::fmt::Write;

use super::job::{FioDirectionReport, FioJobReport, FioPercentiles, FioUnified};
use super::merge::mixed;
use super::moments::FioMoments;
use super::report::FioDiskReport;
use super::shares::LEAST_DEPTH;
use super::summary::FioGroup;

/// How many percentiles each direction has room for.
const PERCENTILES: usize = 20;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum FioTerse {
    /// Without fio's version and disks; the description stands on a line of its own.
    V2,
    /// The usual one: reads and writes.
    #[default]
    V3,
    V4,
    /// With trims, and samples of bandwidth and IOPS.
    V5,
}

impl FioTerse {
    /// Version of a number from 2 to 5.
    pub fn of(number: u64) -> Option<Self> {
        [Self::V2, Self::V3, Self::V4, Self::V5].get(number.checked_sub(2)? as usize).copied()
    }

    fn number(self) -> u8 {
        self as u8 + 2
    }
}

/// The line of a job.
pub fn terse_line(
    job: &FioJobReport,
    group: &FioGroup,
    disks: &[FioDiskReport],
    fio_version: &str,
    version: FioTerse,
) -> String {
    let mut out = format!("{};", version.number());
    if version > FioTerse::V2 {
        let _ = write!(out, "{fio_version};");
    }
    let _ = write!(out, "{};{};{}", job.name, job.group, job.error);
    let shown = match (job.unified, version) {
        (FioUnified::Mixed, _) => 1,
        (_, FioTerse::V3) => 2,
        _ => 3,
    };
    for (index, direction) in job.directions.iter().enumerate().take(shown) {
        out += &direction_fields(direction, &job.percentiles, group, index, version);
    }
    if job.unified == FioUnified::Both {
        let all = mixed(&job.directions);
        out += &direction_fields(&all, &job.percentiles, group, 0, version);
    }
    out += &job_fields(job);
    if version > FioTerse::V2 {
        disks.iter().for_each(|disk| out += &disk_fields(disk));
    }
    if let Some(errors) = job.errors {
        let _ = write!(out, ";{};{}", errors.total, errors.first);
    }
    if !job.description.is_empty() {
        let line = if version == FioTerse::V2 { "\n" } else { "" };
        let _ = write!(out, "{line};{}", job.description);
    }
    out + "\n"
}

fn direction_fields(
    direction: &FioDirectionReport,
    wanted: &FioPercentiles,
    group: &FioGroup,
    index: usize,
    version: FioTerse,
) -> String {
    let mut out = format!(
        ";{};{};{};{}",
        direction.bytes >> 10,
        direction.bytes_per_second() / 1024,
        direction.ios_per_second(),
        direction.runtime_ms
    );
    out += &latency_fields(&direction.slat.moments);
    out += &latency_fields(&direction.clat.moments);
    out += &percentile_fields(direction, wanted);
    out += &latency_fields(&direction.lat.moments);
    let bw = &direction.bw;
    let share = match bw.count {
        0 => 0.0,
        _ => bandwidth_share(group, bw, index),
    };
    let _ = write!(out, ";{};{};{share:.6}%;{:.6};{:.6}", bw.min, bw.max, bw.mean, bw.deviation());
    if version == FioTerse::V5 {
        let iops = &direction.iops;
        let (mean, deviation) = (iops.mean, iops.deviation());
        let _ = write!(out, ";{};{};{}", bw.count, iops.min, iops.max);
        let _ = write!(out, ";{mean:.6};{deviation:.6};{}", iops.count);
    }
    out
}

/// As [`FioGroup::bandwidth_share`], but of whole KiB/s, as fio has it here.
fn bandwidth_share(group: &FioGroup, bw: &FioMoments, index: usize) -> f64 {
    let all = group.directions.get(index).map_or(0, |direction| direction.aggregate());
    match all / 1024 {
        0 => 100.0,
        kib => (bw.mean * 100.0 / kib as f64).min(100.0),
    }
}

/// Smallest, largest, mean and deviation, in us.
fn latency_fields(moments: &FioMoments) -> String {
    let (min, max) = (moments.min / 1000, moments.max / 1000);
    // fio's compiler multiplies, which decides ties in the last digit.
    format!(";{min};{max};{:.6};{:.6}", moments.mean * 0.001, moments.deviation() * 0.001)
}

fn percentile_fields(direction: &FioDirectionReport, wanted: &FioPercentiles) -> String {
    let latency = match (wanted.lat, wanted.clat) {
        (true, _) => Some(&direction.lat),
        (false, true) => Some(&direction.clat),
        (false, false) => None,
    };
    let values = latency.map(|found| found.bins.percentiles(&wanted.list, found.moments.count));
    let values = values.unwrap_or_default();
    let mut out = String::new();
    for (percent, value) in wanted.list.iter().zip(&values).take(PERCENTILES) {
        let _ = write!(out, ";{percent:.6}%={}", value / 1000);
    }
    out + &";0%=0".repeat(PERCENTILES.saturating_sub(values.len()))
}

fn job_fields(job: &FioJobReport) -> String {
    let (user, system) = job.cpu();
    let mut out = format!(
        ";{user:.6}%;{system:.6}%;{};{};{}",
        job.context_switches, job.major_faults, job.minor_faults
    );
    for percent in job.depths.percent(LEAST_DEPTH) {
        let _ = write!(out, ";{percent:3.1}%");
    }
    let (_, mut us, ms) = job.latencies.percent();
    // The line knows no ns: all of them count as the shortest us.
    us[0] += job.latencies.nanoseconds_percent();
    for percent in us.iter().chain(&ms) {
        let _ = write!(out, ";{percent:3.2}%");
    }
    out
}

fn disk_fields(disk: &FioDiskReport) -> String {
    let fields = |name: &str, found: &super::report::FioDiskUse| {
        let [[r, w], [rm, wm], [rt, wt]] = [found.ios, found.merges, found.ticks];
        let (queue, util) = (found.in_queue, found.util);
        format!(";{name};{r};{w};{rm};{wm};{rt};{wt};{queue};{util:.2}%")
    };
    let members = disk.members.as_ref().map(|members| fields("slaves", members));
    fields(&disk.name, &disk.own) + &members.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_as_many_fields_as_fio_has() {
        let job = FioJobReport { name: "j".into(), ..FioJobReport::default() };
        let fields = |number| {
            let version = FioTerse::of(number).expect("a version");
            terse_line(&job, &FioGroup::default(), &[], "fio-3.42", version).split(';').count()
        };
        assert_eq!([2, 3, 4, 5].map(fields), [161, 121, 162, 180]);
        assert_eq!([0, 1, 6].map(FioTerse::of), [None; 3]);
    }
}
