//! Log files: `write_bw_log`, `write_iops_log`, `write_lat_log`, `write_hist_log`, `--bandwidth-log`.

use std::fmt::Write;

use super::bins::FioBins;
use super::moments::FioMoments;
use assay_plan::plan::{IoClass, IoPriority};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioLogKind {
    Bandwidth,
    Iops,
    /// From start to submission, in ns.
    Slat,
    /// From submission to completion, in ns.
    Clat,
    /// From start to completion, in ns.
    Lat,
    ClatHistogram,
}

impl FioLogKind {
    /// The file's name: `P_bw.1.log`, or `P_bw.log` for all jobs (`per_job_logs=0`). Jobs count from 1.
    pub fn file(self, prefix: &str, job: Option<u32>) -> String {
        let kind = match self {
            Self::Bandwidth => "bw",
            Self::Iops => "iops",
            Self::Slat => "slat",
            Self::Clat => "clat",
            Self::Lat => "lat",
            Self::ClatHistogram => "clat_hist",
        };
        match job {
            Some(job) => format!("{prefix}_{kind}.{job}.log"),
            None => format!("{prefix}_{kind}.log"),
        }
    }

    /// Whether samples come with the I/Os, and not from a watch beside them that may be a ms early.
    fn inline(self) -> bool {
        matches!(self, Self::Slat | Self::Clat | Self::Lat)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FioLogSample {
    /// Since the start of the job in ms (or since 1970 with `log_alternate_epoch`).
    pub time_ms: u64,
    /// The value: see [`FioLogKind`].
    pub value: u64,
    /// Largest value of a window, where both are asked for.
    pub largest: u64,
    /// 0 read, 1 write, 2 trim.
    pub direction: u8,
    /// Block size in bytes; 0 of a window.
    pub block: u64,
    /// Offset in bytes; 0 of a window.
    pub offset: u64,
    /// Priority as the kernel has it: class in bits 13 to 15, hint in 3 to 12, level in 0 to 2.
    pub priority: u16,
    /// When it was submitted, in ns since the start of the job.
    pub issued_ns: u64,
}

impl FioLogSample {
    /// Whether it is of the class of real time.
    pub fn is_real_time(&self) -> bool {
        IoPriority::of_value(self.priority).is_some_and(|own| own.class == IoClass::Realtime)
    }
}

/// Which fields a log has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FioLogFormat {
    /// `log_window_value=both`: the largest value behind the mean.
    pub largest: bool,
    /// `log_offset`.
    pub offset: bool,
    /// `log_prio`: the priority in hexadecimal, instead of 1 for real time and else 0.
    pub priority: bool,
    /// `log_issue_time`.
    pub issued: bool,
}

impl FioLogFormat {
    pub fn line(&self, sample: &FioLogSample) -> String {
        let mut out = format!("{}, {}", sample.time_ms, sample.value.cast_signed());
        if self.largest {
            let _ = write!(out, ", {}", sample.largest.cast_signed());
        }
        let _ = write!(out, ", {}, {}", sample.direction, sample.block);
        if self.offset {
            let _ = write!(out, ", {}", sample.offset);
        }
        if self.priority {
            let _ = write!(out, ", 0x{:04x}", sample.priority);
        } else {
            let _ = write!(out, ", {}", u8::from(sample.is_real_time()));
        }
        if self.issued {
            let _ = write!(out, ", {}", sample.issued_ns);
        }
        out + "\n"
    }
}

/// `log_window_value`: what stands for the samples of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FioWindowValue {
    #[default]
    Mean,
    Largest,
    /// The mean, then the largest.
    Both,
}

/// `log_avg_msec`: one line for all samples of a window and direction.
#[derive(Clone, Debug)]
pub struct FioLogAverage {
    kind: FioLogKind,
    window_ms: u64,
    shown: FioWindowValue,
    since_ms: [u64; 3],
    held: [FioMoments; 3],
}

impl FioLogAverage {
    /// Windows of `window_ms` (1 or more; 0 counts as 1).
    pub fn new(kind: FioLogKind, window_ms: u64, shown: FioWindowValue) -> Self {
        let (since_ms, held) = ([0; 3], Default::default());
        Self { kind, window_ms: window_ms.max(1), shown, since_ms, held }
    }

    /// Counts a value of a direction (0 to 2) at a moment in ms; the sample of the window if it is over.
    ///
    /// A window ends with the first value after its time, which it takes in; the next begins at a multiple of the
    /// window.
    pub fn add(&mut self, time_ms: u64, direction: usize, value: u64) -> Option<FioLogSample> {
        let (held, since) = (self.held.get_mut(direction)?, self.since_ms.get_mut(direction)?);
        held.add(value);
        let slack = if self.kind.inline() { 0 } else { 1 };
        let over = time_ms.checked_sub(*since).is_some_and(|past| past + slack >= self.window_ms);
        if !over {
            return None;
        }
        *since = time_ms - time_ms % self.window_ms;
        self.take(time_ms, direction)
    }

    /// What is left at the end of the job: a sample of each direction that has any.
    pub fn finish(&mut self, time_ms: u64) -> Vec<FioLogSample> {
        (0..3).filter_map(|direction| self.take(time_ms, direction)).collect()
    }

    fn take(&mut self, time_ms: u64, direction: usize) -> Option<FioLogSample> {
        let held = std::mem::take(self.held.get_mut(direction)?);
        if held.count == 0 {
            return None;
        }
        let mean = (held.mean + 0.5) as u64;
        let (value, largest) = match self.shown {
            FioWindowValue::Mean => (mean, 0),
            FioWindowValue::Largest => (held.max, 0),
            FioWindowValue::Both => (mean, held.max),
        };
        let direction = direction as u8;
        Some(FioLogSample { time_ms, value, largest, direction, ..FioLogSample::default() })
    }
}

/// `write_hist_log` with `log_hist_msec` and `log_hist_coarseness`: a line for each interval, with the counts of
/// each bin since the line before.
#[derive(Clone, Debug, Default)]
pub struct FioHistogramLog {
    coarseness: u32,
    before: [FioBins; 3],
}

impl FioHistogramLog {
    /// A log whose lines have 1856 counts at coarseness 0, half as many at each step up to 29 at 6.
    pub fn new(coarseness: u32) -> Self {
        Self { coarseness: coarseness.min(6), before: Default::default() }
    }

    /// The line of a direction (0 to 2): all its latencies so far are in `bins`, `block` is the size in bytes of the
    /// I/O that ended the interval.
    pub fn line(&mut self, time_ms: u64, direction: usize, block: u64, bins: &FioBins) -> String {
        let Some(before) = self.before.get_mut(direction) else {
            return String::new();
        };
        let grown = bins.since(before);
        *before = bins.clone();
        let mut out = format!("{time_ms}, {direction}, {block}");
        for count in grown.coarse(1 << self.coarseness) {
            let _ = write!(out, ", {count}");
        }
        out + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_fields_that_were_asked_for() {
        let sample = FioLogSample {
            time_ms: 12,
            value: 6930,
            largest: 9000,
            direction: 1,
            block: 4096,
            offset: 8192,
            priority: 0x2004,
            issued_ns: 77,
        };
        assert_eq!(FioLogFormat::default().line(&sample), "12, 6930, 1, 4096, 1\n");
        let all = FioLogFormat { largest: true, offset: true, priority: true, issued: true };
        assert_eq!(all.line(&sample), "12, 6930, 9000, 1, 4096, 8192, 0x2004, 77\n");
    }

    #[test]
    fn a_window_ends_with_the_first_value_after_it() {
        let mut window = FioLogAverage::new(FioLogKind::Clat, 100, FioWindowValue::Both);
        assert_eq!(window.add(40, 0, 10), None);
        assert_eq!(window.add(99, 0, 11), None);
        let ended = window.add(130, 0, 30).expect("a sample");
        assert_eq!((ended.time_ms, ended.value, ended.largest, ended.block), (130, 17, 30, 0));
        assert_eq!(window.add(199, 0, 5), None);
        assert_eq!(window.add(200, 0, 6).map(|sample| sample.value), Some(6));
    }

    #[test]
    fn a_rate_may_come_a_millisecond_early() {
        let mut window = FioLogAverage::new(FioLogKind::Bandwidth, 100, FioWindowValue::Largest);
        assert_eq!(window.add(98, 1, 7), None);
        assert_eq!(window.add(99, 1, 5).map(|sample| sample.value), Some(7));
        assert_eq!(window.add(120, 2, 5).map(|sample| sample.direction), Some(2));
        window.add(121, 2, 9);
        let rest = window.finish(130);
        assert_eq!(
            rest.iter().map(|sample| (sample.direction, sample.value)).collect::<Vec<_>>(),
            [(2, 9)]
        );
        assert!(window.finish(131).is_empty());
    }

    #[test]
    fn files_are_named_by_what_they_hold() {
        assert_eq!(FioLogKind::Lat.file("p", Some(3)), "p_lat.3.log");
        assert_eq!(FioLogKind::ClatHistogram.file("p", None), "p_clat_hist.log");
        assert_eq!(FioLogKind::Bandwidth.file("agg-read", None), "agg-read_bw.log");
    }

    #[test]
    fn a_histogram_line_has_what_came_since() {
        let mut log = FioHistogramLog::new(6);
        let mut bins = FioBins::default();
        bins.add(3, 2);
        let line = log.line(10, 0, 4096, &bins);
        assert!(line.starts_with("10, 0, 4096, 2, 0, "), "{line}");
        assert_eq!(line.split(", ").count(), 3 + 29);
        bins.add(3, 5);
        assert!(log.line(20, 0, 4096, &bins).starts_with("20, 0, 4096, 5, 0, "));
        assert_eq!(FioHistogramLog::new(0).line(0, 1, 0, &bins).split(", ").count(), 3 + 1856);
    }
}
