//! Options that cannot be together, by fio's own rules and in its own words.

use std::time::Duration;

use crate::dialect::fio::job::{
    FioAmount, FioDedupeMode, FioDirection, FioFault, FioJob, FioOptions, FioVerifyKind,
    FioZoneMode, PerDirection,
};

/// Bytes of a header of verification.
const HEADER: u32 = 48;

/// What was found: lines of fio that end it, and lines that do not.
#[derive(Debug, Default)]
pub struct Findings {
    /// Lines that do not end it, unless warnings do.
    pub warnings: Vec<String>,
    /// Those among them that go to standard output.
    pub told: Vec<String>,
    errors: Vec<(String, String)>,
}

impl Findings {
    /// A line that does not end it.
    pub(super) fn warn(&mut self, line: impl Into<String>) {
        self.warnings.push(line.into());
    }

    /// The same on standard output.
    pub(in crate::dialect::fio) fn tell(&mut self, line: impl Into<String>) {
        self.told.push(line.into());
    }

    pub(in crate::dialect::fio) fn deny(
        &mut self,
        when: bool,
        line: impl Into<String>,
        instead: impl Into<String>,
    ) {
        if when {
            self.errors.push((line.into(), instead.into()));
        }
    }

    /// What ends it: all lines, and the first as what is wrong.
    pub(in crate::dialect::fio) fn fault(&self, warnings_fatal: bool) -> Option<FioFault> {
        if let Some((line, instead)) = self.errors.first() {
            let mut fault = FioFault::line(line, instead);
            fault.lines.extend(self.errors.iter().skip(1).map(|(line, _)| line.clone()));
            return Some(fault);
        }
        let warned = self.warnings.iter().chain(&self.told).next().filter(|_| warnings_fatal)?;
        // Its line is printed as a warning.
        let why = warned.strip_prefix("fio: ").unwrap_or(warned);
        Some(FioFault::new(why, "leave --warnings-fatal out"))
    }
}

/// Those that are seen before anything is derived.
pub fn before(job: &FioJob, own: &FioOptions, findings: &mut Findings) {
    let (rw, verify) = (job.pattern.rw, &job.verify);
    let trims_verified =
        verify.kind != FioVerifyKind::None && verify.trim_backlog > 0 && verify.trim_percentage > 0;
    findings.deny(
        own.readonly && (rw.writes() || rw.trims() || trims_verified),
        "fio: trim and write operations are not allowed with the --readonly parameter.",
        "rw=read or rw=randread, or leave --readonly out",
    );
    if job.replay.write.is_some() && job.replay.read.is_some() {
        findings.warn("fio: read iolog overrides write_iolog");
    }
    let zones = &job.zones;
    findings.deny(
        zones.mode == FioZoneMode::None && zones.size > 0,
        "fio: --zonemode=none and --zonesize are not compatible.",
        "zonemode=strided",
    );
    findings.deny(
        zones.mode == FioZoneMode::Strided && zones.size == 0,
        "fio: --zonesize must be specified when using --zonemode=strided.",
        "zonesize=1m",
    );
    if job.pattern.bs_unaligned && job.sync.direct {
        findings.warn("fio: bs_unaligned may not work with raw io");
    }
    rates(job, findings);
    let target = &job.target;
    let zoned = |amount: &FioAmount| matches!(amount, FioAmount::Zones(_));
    let amounts = [Some(target.offset), Some(target.offset_increment), target.size, target.io_size];
    findings.deny(
        amounts.iter().flatten().any(zoned),
        "fio: a number of zones is for zonemode=zbd, which is not done here",
        "bytes or percent",
    );
    findings.deny(
        job.sync.atomic && !job.queue.engine.atomic_writes(),
        "fio: engine does not support atomic writes",
        "ioengine=io_uring, libaio or pvsync2",
    );
    findings.deny(
        job.queue.engine.keeps_size() && job.target.file_append,
        format!("fio: can't append/extent with IO engine {}", job.queue.engine.word()),
        "ioengine=psync",
    );
}

fn rates(job: &FioJob, findings: &mut Findings) {
    let pace = &job.pace;
    let any = |rates: &PerDirection<u64>| rates.iter().any(|rate| *rate > 0);
    let any_iops = |rates: &PerDirection<u32>| rates.iter().any(|rate| *rate > 0);
    findings.deny(
        any(&pace.rate) && any_iops(&pace.rate_iops)
            || any(&pace.rate_min) && any_iops(&pace.rate_iops_min),
        "fio: rate and rate_iops are mutually exclusive",
        "one of them: rate is bytes per second, rate_iops I/Os per second",
    );
    for (index, direction) in FioDirection::ALL.into_iter().enumerate() {
        let (rate, least) = (*pace.rate.of(direction), *pace.rate_min.of(direction));
        let (iops, least_iops) = (*pace.rate_iops.of(direction), *pace.rate_iops_min.of(direction));
        findings.deny(
            rate > 0 && rate < least || iops > 0 && iops < least_iops,
            format!("fio: minimum rate exceeds rate, ddir {index}"),
            "a least rate that is not above the rate",
        );
    }
}

/// Those that are seen when the rest is derived.
pub fn after(job: &FioJob, before: &[FioJob], findings: &mut Findings) {
    let smallest = job.pattern.min_bs.iter().copied().min().unwrap_or_default();
    if let Some(FioAmount::Bytes(size)) = job.target.size {
        findings.deny(
            size < smallest,
            format!(
                "fio: size too small, must not be less than minimum block size: {size} < {smallest}"
            ),
            format!("size={smallest}, or more"),
        );
    }
    findings.deny(
        job.verify.kind != FioVerifyKind::None
            && job.verify.offset.saturating_add(HEADER) > job.verify.interval,
        "fio: cannot offset verify header beyond the verify interval.",
        "a smaller verify_offset, or a larger verify_interval",
    );
    dedupe(job, findings);
    steady(job, before, findings);
}

fn dedupe(job: &FioJob, findings: &mut Findings) {
    let data = &job.data;
    if data.dedupe_percentage == 0 || data.dedupe_mode != FioDedupeMode::WorkingSet {
        return;
    }
    let sum = data.dedupe_percentage + data.dedupe_working_set_percentage;
    if !job.is_set("size") {
        findings.deny(
            true,
            "fio: pregenerated dedupe working set requires size to be set",
            "size=1g",
        );
    } else if job.target.nrfiles != 1 {
        findings.deny(
            true,
            format!(
                "fio: dedupe working set mode supported with single file per job, but {} files provided",
                job.target.nrfiles
            ),
            "nrfiles=1",
        );
    } else {
        findings.deny(
            sum > 100,
            format!(
                "fio: impossible to reach expected dedupe percentage {} since {} percentage of size is reserved to dedupe working set (those are unique pages)",
                data.dedupe_percentage, data.dedupe_working_set_percentage
            ),
            "percentages that do not add up to more than 100",
        );
    }
}

fn steady(job: &FioJob, before: &[FioJob], findings: &mut Findings) {
    let schedule = &job.schedule;
    let (duration, interval) = (schedule.steadystate_duration, schedule.steadystate_check_interval);
    let other = before
        .iter()
        .map(|job| job.schedule.steadystate_check_interval)
        .find(|other| *other != interval);
    if let Some(other) = other {
        findings.deny(
            true,
            format!(
                "fio: conflicting ss_check_interval: {} and {}, must be globally equal",
                interval.as_micros(),
                other.as_micros()
            ),
            "steadystate_check_interval in [global]",
        );
    }
    if duration.is_zero() {
        return;
    }
    findings.deny(
        interval < Duration::from_secs(1),
        "fio: ss_check_interval must be at least 1s",
        "steadystate_check_interval=1",
    );
    let multiple = !interval.is_zero() && duration.as_micros().is_multiple_of(interval.as_micros());
    findings.deny(
        !multiple || duration <= interval,
        format!(
            "fio: ss_duration {}us must be multiple of ss_check_interval {}us",
            duration.as_micros(),
            interval.as_micros()
        ),
        "a steadystate_duration of two intervals, or more",
    );
}

/// Whether the job that it waits for is there, once.
pub fn waits_for(job: &FioJob, before: &[FioJob]) -> Result<(), FioFault> {
    let Some(other) = &job.schedule.wait_for else { return Ok(()) };
    let name = &job.name;
    if other == name {
        return Err(FioFault::line(
            format!("{name}: a job cannot wait for itself (wait_for={other})."),
            "the name of a job before it",
        ));
    }
    match before.iter().filter(|job| job.name == *other).count() {
        1 => Ok(()),
        0 => {
            let names: Vec<_> = before.iter().map(|job| job.name.as_str()).collect();
            let near =
                crate::dialect::near::nearest(other, names).map(|near| format!("wait_for={near}"));
            Err(FioFault::line(
                format!("{name}: waitee job {other} unknown."),
                near.unwrap_or_else(|| "the name of a job before it".into()),
            ))
        }
        _ => {
            let mut fault = FioFault::line(
                format!("{name}: multiple waitees {other} found,"),
                "a name that only one job has",
            );
            fault.lines.push("please avoid duplicates when using wait_for option.".into());
            Err(fault)
        }
    }
}

/// Clones of all jobs that fio has room for: 511 pieces of eight (`REAL_MAX_SEG` and `JOBS_PER_SEG` in fio.h).
const MOST_JOBS: u32 = 4088;

/// Files of all clones. fio aborts where its pool is full, which is at 322,638 unless `--alloc-size` says otherwise.
const MOST_FILES: u64 = 1 << 19;

/// Refuses more clones, or more files of all of them, than a run has room for.
pub(super) fn too_many(job: &FioJob, before: &[FioJob]) -> Result<(), FioFault> {
    let all = || before.iter().chain([job]);
    let clones: u64 = all().map(|job| u64::from(job.schedule.numjobs)).sum();
    if clones > MOST_JOBS.into() {
        return Err(FioFault {
            lines: vec![
                "error: maximum number of jobs reached.".into(),
                "error: failed to setup shm segment".into(),
            ],
            ..FioFault::new(
                format!("numjobs: {clones} jobs in all are more than {MOST_JOBS}"),
                "a smaller numjobs",
            )
        });
    }
    let files: u64 = all().map(FioJob::all_files).sum();
    if files > MOST_FILES {
        return Err(FioFault::new(
            format!("nrfiles: {files} files of all clones are more than {MOST_FILES}"),
            "a smaller nrfiles, or fewer clones",
        ));
    }
    Ok(())
}

/// Jobs that are reported together have to know the same latencies.
pub(super) fn in_group(job: &FioJob, before: &[FioJob], in_group: u32) -> Result<(), FioFault> {
    if !job.schedule.group_reporting || in_group < 2 || !job.statistics.stats {
        return Ok(());
    }
    let differs = before.iter().any(|other| {
        other.group == job.group
            && other.statistics.lat_percentiles != job.statistics.lat_percentiles
    });
    match differs {
        true => Err(FioFault::line(
            format!("fio: lat_percentiles in job: {} differs from group", job.name),
            "lat_percentiles in [global], or new_group",
        )),
        false => Ok(()),
    }
}

/// The time of issue stands in logs of latency with offsets only.
pub fn logs(job: &FioJob) -> Result<(), FioFault> {
    let logs = &job.logs;
    match logs.issue_time && !(logs.lat.is_some() && logs.offset) {
        true => Err(FioFault::line(
            "fio: log_issue_time option requires write_lat_log and log_offset options",
            "write_lat_log=PREFIX and log_offset=1",
        )),
        false => Ok(()),
    }
}
