//! All of fio's output, as functions of plain values: nothing here looks at a clock, a file or a machine.
//!
//! A [`FioReport`] is what a run came to, in fio's terms. It is printed as fio 3.42 prints it: for people
//! ([`opening`], [`report`], [`FioEtaLine`]), as JSON ([`document`]), as terse lines ([`terse_line`]), and samples as
//! logs ([`FioLogFormat`]).

mod banner;
mod bins;
mod document;
mod eta;
mod job;
mod json;
mod latency_text;
mod log;
mod measured;
mod merge;
mod moments;
mod normal;
mod normal_direction;
mod number;
mod output;
mod report;
mod shares;
mod summary;
mod terse;

pub use banner::{FioBanner, opening, seed_lines, starting};
pub use bins::{FIO_BINS, FioBins, bin_of, bin_value};
pub use document::document;
pub use eta::{FioEtaLine, FioProgress, FioRemaining, FioRunDirection, FioRunState, FioRunning};
pub use job::{
    FIO_DIRECTIONS, FioDirectionReport, FioJobReport, FioLatency, FioLatencyTarget,
    FioPassedErrors, FioPercentiles, FioPriorityLatency, FioSteadyReport, FioStyle, FioTypedOption,
    errno_text,
};
pub use json::FioJson;
pub use log::{
    FioHistogramLog, FioLogAverage, FioLogFormat, FioLogKind, FioLogSample, FioWindowValue,
};
pub use merge::{group_report, mixed};
pub use moments::{FioMoments, per_second};
pub use normal::job_lines;
pub use number::{FioQuantity, scaled};
pub use output::{FioFormats, report};
pub use report::{FioDiskReport, FioDiskUse, FioIdleness, FioReport};
pub use shares::{FioLatencyShares, FioShares, LATENCY_LABELS};
pub use summary::{FioGroup, FioGroupDirection, calibration_lines, disk_lines, groups, idle_lines};
pub use terse::{FioTerse, terse_line};

#[cfg(test)]
mod tests;
