//! fio's logs of a clone, made of a line for each I/O that the engine has written down.

pub mod iolog;
pub mod stored;
pub mod whole;

use std::path::{Path, PathBuf};

use iolog::written_list;
use whole::whole_files;

use crate::dialect::fio::job::{FioCommand, FioEngine, FioJob, FioLogWindow};
use crate::dialect::fio::plan::FioClone;
use crate::dialect::fio::print::{
    FioBins, FioHistogramLog, FioLogAverage, FioLogFormat, FioLogKind, FioLogSample, FioWindowValue,
};
use crate::dialect::fio::verify::state::state_file;
use assay_plan::name;
use assay_plan::plan::IoPriority;
use assay_plan::unit::{KIB, Nanos};

/// An I/O that was written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LoggedIo {
    /// When it was answered, ns since the start of the phase.
    at: u64,
    /// 0 read, 1 write, 2 trim.
    direction: usize,
    offset: u64,
    bytes: u64,
    lat: u64,
    slat: u64,
    /// As the kernel has it; 0: that of its job.
    priority: u16,
}

impl FioJob {
    pub fn is_logged(&self) -> bool {
        let logs = &self.logs;
        self.is_listed()
            || [&logs.bw, &logs.lat, &logs.iops, &logs.hist].iter().any(|log| log.is_some())
    }

    /// The beginning of the name of a log: its prefix, or the name of the job.
    fn prefix(&self, asked: &str) -> String {
        if asked.is_empty() { self.name.clone() } else { asked.to_string() }
    }
}

/// The same of the reads that verify what a clone wrote.
pub fn gathered_back(gathered: &Path) -> PathBuf {
    gathered.with_extension("assay-back")
}

/// The file in which a line for each I/O of a clone stands until its logs are made.
pub fn gathered(job: &FioJob, thread: u32) -> PathBuf {
    let logs = &job.logs;
    let asked = [&logs.lat, &logs.bw, &logs.iops, &logs.hist].into_iter().flatten().next();
    name::path(&format!("{}.{thread}.assay-log", job.prefix(asked.map_or("", String::as_str))))
}

/// A log of a clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioLogFile {
    /// The name of its file.
    pub name: String,
    pub content: FioLogContent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FioLogContent {
    /// Samples, with the fields that this log has of each.
    Samples(FioLogFormat, Vec<FioLogSample>),
    Histograms(String),
}

impl FioLogContent {
    pub fn text(&self) -> String {
        match self {
            Self::Samples(format, samples) => {
                samples.iter().map(|sample| format.line(sample)).collect()
            }
            Self::Histograms(lines) => lines.clone(),
        }
    }
}

/// When the logs of a clone begin.
#[derive(Clone, Copy, Debug, Default)]
pub struct FioLogStart {
    /// What their clock says then, ms; 0 where it begins with them.
    pub epoch_ms: u64,
    /// How long the phase ran before: nothing of a ramp is logged.
    pub ramp: Nanos,
}

/// The logs of a clone. `lines` is what was gathered.
pub fn log_files(job: &FioJob, thread: u32, lines: &str, start: FioLogStart) -> Vec<FioLogFile> {
    let FioLogStart { epoch_ms, ramp } = start;
    let counted = |io: LoggedIo| Some(LoggedIo { at: io.at.checked_sub(ramp.0)?, ..io });
    let ios: Vec<LoggedIo> =
        lines.lines().filter_map(|line| logged(job, line)).filter_map(counted).collect();
    let logs = &job.logs;
    let number = logs.per_job.then_some(thread);
    let mut files = Vec::new();
    let mut add = |asked: &Option<String>, kind: FioLogKind, mut content: FioLogContent| {
        let Some(asked) = asked else { return };
        if let FioLogContent::Samples(_, samples) = &mut content {
            samples.iter_mut().for_each(|sample| sample.time_ms += epoch_ms);
        }
        files.push(FioLogFile { name: kind.file(&job.prefix(asked), number), content });
    };
    for kind in [FioLogKind::Slat, FioLogKind::Clat, FioLogKind::Lat] {
        add(&logs.lat, kind, latencies(job, kind, &ios));
    }
    add(&logs.bw, FioLogKind::Bandwidth, rates(job, FioLogKind::Bandwidth, &ios));
    add(&logs.iops, FioLogKind::Iops, rates(job, FioLogKind::Iops, &ios));
    if logs.hist.is_some() {
        add(&logs.hist, FioLogKind::ClatHistogram, histograms(job, &ios, epoch_ms));
    }
    files
}

/// What a gathered line says; nothing of a heading, or of an I/O that failed.
fn logged(job: &FioJob, line: &str) -> Option<LoggedIo> {
    let mut fields = line.split(',');
    let at = fields.next()?.parse().ok()?;
    let direction = match fields.nth(1)? {
        "read" => 0,
        "write" => 1,
        "trim" => 2,
        _ => return None,
    };
    let mut number = |skipped: usize| fields.nth(skipped)?.parse::<i64>().ok();
    let (offset, bytes, lat) = (number(1)?, number(0)?, number(0)?);
    let (answer, slat, lag) = (number(0)?, number(0)?, number(0)?);
    // What an I/O of fio waits before it is sent is in no latency, but where others send it.
    let lag = if job.counts_from_due() { 0 } else { lag };
    let (lat, slat) = (lat - lag, (slat - lag).max(0));
    let priority = line.rsplit(',').next()?.parse().ok()?;
    (answer > 0).then_some(LoggedIo {
        at,
        direction,
        offset: offset as u64,
        bytes: bytes as u64,
        lat: lat as u64,
        slat: slat as u64,
        priority,
    })
}

fn format(job: &FioJob) -> FioLogFormat {
    FioLogFormat {
        largest: job.logs.window == FioLogWindow::Both,
        offset: job.logs.offset,
        priority: job.logs.prio,
        issued: job.logs.issue_time,
    }
}

fn sample(job: &FioJob, kind: FioLogKind, io: &LoggedIo, value: u64) -> FioLogSample {
    let has_issue_time = matches!(kind, FioLogKind::Slat | FioLogKind::Clat);
    let of_job = || job.priority().io.map_or(0, IoPriority::value);
    FioLogSample {
        time_ms: io.at / 1_000_000,
        value,
        direction: io.direction as u8,
        block: io.bytes,
        offset: io.offset,
        priority: if io.priority == 0 { of_job() } else { io.priority },
        issued_ns: if has_issue_time { (io.at + io.slat).saturating_sub(io.lat) } else { 0 },
        ..FioLogSample::default()
    }
}

/// A log of latencies. One that is not kept apart has no lines: slat of an engine that waits.
fn latencies(job: &FioJob, kind: FioLogKind, ios: &[LoggedIo]) -> FioLogContent {
    let format = format(job);
    if kind == FioLogKind::Slat && !job.splits_latency() {
        return FioLogContent::Samples(format, Vec::new());
    }
    let trims = |io: &&LoggedIo| io.direction == 2 && job.queue.engine != FioEngine::Null;
    let ios = ios.iter().filter(|io| kind != FioLogKind::Slat || !trims(io));
    let value = |io: &LoggedIo| match kind {
        FioLogKind::Slat => io.slat,
        FioLogKind::Clat => io.lat.saturating_sub(io.slat),
        _ => io.lat,
    };
    if job.logs.avg.is_zero() {
        let samples = ios.map(|io| sample(job, kind, io, value(io)));
        return FioLogContent::Samples(format, samples.collect());
    }
    let end = ios.clone().next_back().map_or(0, |io| io.at / 1_000_000);
    let shown = match job.logs.window {
        FioLogWindow::Avg => FioWindowValue::Mean,
        FioLogWindow::Max => FioWindowValue::Largest,
        FioLogWindow::Both => FioWindowValue::Both,
    };
    let mut window = FioLogAverage::new(kind, job.logs.avg.as_millis() as u64, shown);
    let ended = ios.filter_map(|io| window.add(io.at / 1_000_000, io.direction, value(io)));
    let mut samples: Vec<_> = ended.collect();
    samples.extend(window.finish(end));
    FioLogContent::Samples(format, samples)
}

/// A log of rates: of each I/O by itself, or over windows in which anything was done. The last one has no line
/// where the job ended before it did.
fn rates(job: &FioJob, kind: FioLogKind, ios: &[LoggedIo]) -> FioLogContent {
    let format = format(job);
    if job.logs.avg.is_zero() {
        let value = |io: &LoggedIo| match kind {
            FioLogKind::Iops => 1,
            _ => (io.bytes * 1_000_000).checked_div(io.lat).unwrap_or(0),
        };
        let samples = ios.iter().map(|io| sample(job, kind, io, value(io)));
        return FioLogContent::Samples(format, samples.collect());
    }
    let every = match kind {
        FioLogKind::Iops => job.statistics.iopsavgtime,
        _ => job.statistics.bwavgtime,
    };
    let every = (every.as_millis() as u64).max(1);
    let mut samples = Vec::new();
    let mut rest = ios;
    // The last I/O is answered a little before the job ends.
    let last = ios.last().map_or(0, |io| io.at / 1_000_000 + every / 20);
    while let Some(first) = rest.first() {
        let end = (first.at / 1_000_000 / every + 1) * every;
        if end > last {
            break;
        }
        let count = rest.partition_point(|io| io.at / 1_000_000 < end);
        let (window, later) = rest.split_at(count.max(1));
        rest = later;
        for direction in 0..3 {
            let of = window.iter().filter(|io| io.direction == direction);
            let (ops, bytes) = of.fold((0, 0), |(ops, bytes), io| (ops + 1, bytes + io.bytes));
            if ops == 0 {
                continue;
            }
            let value = match kind {
                FioLogKind::Iops => ops * 1000 / every,
                _ => bytes * 1000 / every / KIB,
            };
            let direction = direction as u8;
            samples.push(FioLogSample {
                time_ms: end,
                value,
                // A window has one sample of the rate: it is the largest, too.
                largest: value,
                direction,
                ..FioLogSample::default()
            });
        }
    }
    FioLogContent::Samples(format, samples)
}

/// A log of histograms: what came in each interval.
fn histograms(job: &FioJob, ios: &[LoggedIo], epoch_ms: u64) -> FioLogContent {
    let every = (job.logs.hist_interval.as_millis() as u64).max(1);
    let mut log = FioHistogramLog::new(job.logs.hist_coarseness);
    let mut bins = [FioBins::default(), FioBins::default(), FioBins::default()];
    let mut since = [0; 3];
    let mut text = String::new();
    for io in ios {
        let ms = io.at / 1_000_000;
        bins[io.direction].add(io.lat.saturating_sub(io.slat), 1);
        if ms.saturating_sub(since[io.direction]) >= every {
            text += &log.line(epoch_ms + ms, io.direction, io.bytes, &bins[io.direction]);
            since[io.direction] = ms / every * every;
        }
    }
    FioLogContent::Histograms(text)
}

/// The files that a line of fio writes itself, when it begins or at its end: the report, logs, lists and states.
pub fn outputs(command: &FioCommand, clones: &[FioClone]) -> Vec<PathBuf> {
    let own = &command.own;
    let mut names: Vec<String> = own.output.iter().cloned().collect();
    names.extend(own.bandwidth_log.iter().flat_map(|prefix| whole_files(prefix)));
    for clone in clones {
        let job = &command.jobs[clone.job];
        let ending = if job.logs.store_compressed { ".fz" } else { "" };
        let logs = log_files(job, clone.thread, "", FioLogStart::default()).into_iter();
        names.extend(logs.map(|log| format!("{}{ending}", log.name)));
        names.extend(written_list(job, clone.number, "", "").map(|(name, _)| name));
        names.extend(state_file(command, clone));
    }
    names.iter().map(|name| name::path(name)).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const GATHERED: &str = "\
time_ns,worker,op,file,offset,bytes,lat_ns,answer,slat_ns,lag_ns,priority
1000000,0,read,0,0,4096,7000,4096,1000,0,0
2500000,0,write,0,8192,4096,9000,4096,2000,0,8197
12000000,0,read,0,4096,4096,5000,4096,1000,0,0
13000000,0,read,0,4096,4096,5000,-5,1000,0,0
";

    fn job(change: impl FnOnce(&mut FioJob)) -> FioJob {
        let mut job = FioJob { name: "j".into(), ..FioJob::default() };
        job.queue.engine = FioEngine::Libaio;
        change(&mut job);
        job
    }

    /// Windows of 10 ms.
    fn windows(job: &mut FioJob) {
        let window = Duration::from_millis(10);
        job.logs.avg = window;
        (job.statistics.bwavgtime, job.statistics.iopsavgtime) = (window, window);
    }

    fn texts(job: &FioJob, thread: u32, lines: &str, epoch_ms: u64) -> Vec<(String, String)> {
        of_files(log_files(job, thread, lines, FioLogStart { epoch_ms, ramp: Nanos::ZERO }))
    }

    fn of_files(files: Vec<FioLogFile>) -> Vec<(String, String)> {
        files.into_iter().map(|file| (file.name, file.content.text())).collect()
    }

    #[test]
    fn without_windows_each_io_has_a_line() {
        let job = job(|job| {
            job.logs.lat = Some(String::new());
            job.logs.offset = true;
        });
        let prios = |priority: u32| {
            let mut job = job.clone();
            (job.logs.offset, job.logs.prio) = (false, true);
            job.process.prio = priority;
            job.set.insert("prio");
            texts(&job, 2, GATHERED, 0).swap_remove(1).1
        };
        assert_eq!(
            prios(5),
            "1, 6000, 0, 4096, 0x4005\n2, 7000, 1, 4096, 0x2005\n12, 4000, 0, 4096, 0x4005\n"
        );
        let files = texts(&job, 2, GATHERED, 0);
        let names: Vec<_> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["j_slat.2.log", "j_clat.2.log", "j_lat.2.log"]);
        assert_eq!(
            files[1].1,
            "1, 6000, 0, 4096, 0, 0\n2, 7000, 1, 4096, 8192, 1\n12, 4000, 0, 4096, 4096, 0\n"
        );
        assert!(files[2].1.starts_with("1, 7000, 0, 4096, 0, 0\n"));
        assert_eq!(gathered(&job, 2), PathBuf::from("j.2.assay-log"));
    }

    #[test]
    fn windows_have_means_and_rates() {
        let job = job(|job| {
            (job.logs.bw, job.logs.iops) = (Some("p".into()), Some("p".into()));
            windows(job);
            job.logs.per_job = false;
        });
        let files = texts(&job, 1, GATHERED, 0);
        assert_eq!(files[0], ("p_bw.log".into(), "10, 400, 0, 0, 0\n10, 400, 1, 0, 0\n".into()));
        assert_eq!(files[1].1, "10, 100, 0, 0, 0\n10, 100, 1, 0, 0\n");
        let to_the_end = format!("{GATHERED}20000000,0,read,0,0,4096,1000,4096,0,0,0\n");
        assert_eq!(
            texts(&job, 1, &to_the_end, 0)[1].1,
            "10, 100, 0, 0, 0\n10, 100, 1, 0, 0\n20, 100, 0, 0, 0\n"
        );
    }

    #[test]
    fn the_largest_of_a_window_stands_in_each_log_and_the_time_of_issue_in_two() {
        let mut job = job(|job| {
            (job.logs.bw, job.logs.lat) = (Some("p".into()), Some("p".into()));
            (job.logs.window, job.logs.issue_time) = (FioLogWindow::Both, true);
        });
        let at = |job: &FioJob, name: &str| {
            let found = texts(job, 1, GATHERED, 0).into_iter().find(|(file, _)| file == name);
            found.expect(name).1.lines().next().unwrap_or_default().to_string()
        };
        assert_eq!(at(&job, "p_slat.1.log"), "1, 1000, 0, 0, 4096, 0, 994000");
        assert_eq!(at(&job, "p_clat.1.log"), "1, 6000, 0, 0, 4096, 0, 994000");
        assert_eq!(at(&job, "p_lat.1.log"), "1, 7000, 0, 0, 4096, 0, 0");
        assert_eq!(at(&job, "p_bw.1.log"), "1, 585142, 0, 0, 4096, 0, 0");
        windows(&mut job);
        assert_eq!(at(&job, "p_bw.1.log"), "10, 400, 400, 0, 0, 0, 0");
        assert_eq!(at(&job, "p_lat.1.log"), "12, 6000, 7000, 0, 0, 0, 0");
    }

    #[test]
    fn what_came_in_a_ramp_is_in_no_log() {
        let job = job(|job| (job.logs.lat, job.logs.iops) = (Some("p".into()), Some("p".into())));
        let start = FioLogStart { epoch_ms: 0, ramp: Nanos(2_499_000) };
        let files = of_files(log_files(&job, 1, GATHERED, start));
        assert_eq!(files[2].1, "0, 9000, 1, 4096, 1\n9, 5000, 0, 4096, 0\n");
        assert_eq!(files[3].1, "0, 1, 1, 4096, 1\n9, 1, 0, 4096, 0\n");
    }

    #[test]
    fn an_engine_that_waits_has_no_slat() {
        let job = job(|job| {
            job.queue.engine = FioEngine::Psync;
            job.logs.lat = Some("p".into());
        });
        assert_eq!(texts(&job, 1, GATHERED, 0)[0], ("p_slat.1.log".into(), String::new()));
    }

    #[test]
    fn a_log_can_have_the_time_of_a_clock() {
        let job = job(|job| {
            (job.logs.bw, job.logs.hist) = (Some("p".into()), Some("p".into()));
            windows(job);
        });
        let files = texts(&job, 1, GATHERED, 1000);
        assert_eq!(files[0].1, "1010, 400, 0, 0, 0\n1010, 400, 1, 0, 0\n");
        assert!(files[1].1.starts_with("1001, 0, 4096, "), "{}", files[1].1);
    }
}
