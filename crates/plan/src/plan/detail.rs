//! What is kept of a job beyond its totals and the series of its phase.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::usual::is_usual;
use super::{StopLimit, StopRule};
use crate::error::Refusal;

/// What costs too much to be kept always.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct DetailLevel {
    /// Submission and completion latency apart, of methods that do these apart (io_uring, libaio,
    /// posixaio): one more call and clock read for each batch.
    pub submission: bool,
    /// Latency counts from the answer before, so that what a worker does itself between two I/Os is in
    /// it, most of all the making of data. It is a clock reading less for each write that has data of
    /// its own, which shows where a call takes few microseconds.
    pub laps: bool,
    /// Of calls that take 5 us and less the time of one in 33 is taken: two looks at the clock are a good part of
    /// these. All are counted, and all that take longer are timed, but the first of them. For methods that do an I/O
    /// at once (psync, sync, stdio ...), without a rate.
    #[serde(skip_serializing_if = "is_usual")]
    pub sampled: bool,
    /// What each worker did is kept by itself, with its own samples, however many workers there are.
    pub workers: bool,
    /// Context switches and page faults of the workers, and how many I/Os their calls took, are kept of each job.
    #[serde(skip_serializing_if = "is_usual")]
    pub costs: bool,
    /// How idle each processor of the machine was is kept of the phase.
    #[serde(skip_serializing_if = "is_usual")]
    pub idle: bool,
    /// A file into which a line is written for each I/O. What was in it is gone. It should lie on
    /// another device than the one that is measured.
    #[serde(with = "crate::name::maybe")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::name::PathText>"))]
    pub log: Option<PathBuf>,
    /// How it is written down.
    #[serde(skip_serializing_if = "is_usual")]
    pub log_form: LogForm,
    /// Each I/O is kept in the record: where it went and how long it took. For a job that ends after
    /// [`KEPT`] I/Os or fewer, and without a log beside.
    pub each: bool,
}

/// How the log of each I/O is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LogForm {
    /// Comma-separated values with all that is known, below a line of titles.
    #[default]
    Csv,
    /// The same, with the submission latency behind it, ns: 0 where it is not kept apart; then how long after it was due an I/O was
    /// sent, ns; and at the end the priority that the
    /// I/O was given, as the kernel has it (`ioprio_set(2)`): 0 is that of its thread.
    Split,
    /// The same, and before the priority the number of each I/O in the order in which its worker sent them; flushes have lines of
    /// their own, one for each file.
    Issued,
    /// Offset in KiB, latency in microseconds and length in bytes, behind what the file holds (IOzone's `-Q`).
    OffsetLatency,
}

/// I/Os of a job that are kept in the record one by one, at the most.
pub const KEPT: u64 = 10_000;

impl DetailLevel {
    pub(super) fn check(&self, stop: &StopRule) -> Result<(), Refusal> {
        let few = |limit: &StopLimit| matches!(limit, StopLimit::Ops(ops) if ops.0 <= KEPT);
        if self.each && (self.log.is_some() || !stop.first_of.iter().any(few)) {
            return Err(Refusal::new(
                "each I/O kept in the record of a job that has no end to them, or a log",
                format!("let it stop after {KEPT} I/Os or fewer, or use a log instead"),
            ));
        }
        Ok(())
    }
}
