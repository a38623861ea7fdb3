//! What went wrong with a clone, and what fio says of it.

use crate::dialect::fio::job::{FioEngine, FioJob};
use crate::dialect::fio::plan::FioClone;
use crate::dialect::fio::print::errno_text;
use assay_plan::error::{Doing, Fault, MissedLevel};
use assay_record::record::{JobResult, PhaseRecord};

/// What a clone did in a phase; none where it was not in it.
pub(super) fn result_of<'r>(clone: &FioClone, phase: &'r PhaseRecord) -> Option<&'r JobResult> {
    phase.jobs.iter().find(|result| result.name == clone.name)
}

/// The first thing that went wrong with a clone in a phase.
pub(super) fn fault_of<'r>(clone: &FioClone, phase: &'r PhaseRecord) -> Option<&'r Fault> {
    result_of(clone, phase)?.faults.first()
}

/// The error number of a fault: what no call of the kernel has answered is an error of I/O.
pub(super) fn error_of(fault: &Fault) -> i32 {
    if fault.errno == 0 { libc::EIO } else { fault.errno }
}

/// What stands in brackets behind the number.
pub(super) fn detail_of(fault: &Fault) -> String {
    let error = errno_text(error_of(fault));
    let func = match fault.missed.as_deref() {
        Some(MissedLevel::Latency { .. }) => "max latency exceeded",
        Some(MissedLevel::Bandwidth { .. } | MissedLevel::Iops { .. }) => "check_min_rate",
        None if fault.doing == Doing::MakeQueue => "io_queue_init",
        None => fault.doing.name(),
    };
    format!("file:{}, func={func}, error={error}", fault.path)
}

/// Whether fio counts an error that ended a clone among those that it passes over: where it waits for each I/O, and
/// passes over other errors of that kind. It waits for trims with every engine.
pub(super) fn counts_as_passed(job: &FioJob, fault: &Fault) -> bool {
    let borne = &job.verify.borne;
    let kind = match fault.doing {
        Doing::Verify => borne.verify,
        Doing::Read => borne.read,
        Doing::Write | Doing::Trim => borne.write,
        _ => false,
    };
    kind && (job.queue.engine.synchronous() || fault.doing == Doing::Trim)
}

/// A clone that failed, as fio tells of it while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioFailure {
    /// The lines about the I/O, on standard error; empty where it was none.
    pub of_io: String,
    /// The line about the clone, before the report for people.
    pub of_clone: String,
}

/// How a clone failed in a phase, if it did. `pid` is the process that is named for it.
pub(super) fn failure_of(
    job: &FioJob,
    clone: &FioClone,
    phase: &PhaseRecord,
    pid: u32,
) -> Option<FioFailure> {
    Some(failure(job, fault_of(clone, phase)?, pid))
}

fn failure(job: &FioJob, fault: &Fault, pid: u32) -> FioFailure {
    let (name, rings) = (&job.name, job.queue.engine == FioEngine::IoUring);
    let error = error_of(fault);
    let text = errno_text(error);
    let way = match fault.doing {
        Doing::Read => Some("read"),
        Doing::Write => Some("write"),
        Doing::Trim => Some("trim"),
        _ => None,
    };
    let path = &fault.path;
    let (way, offset) = (way.unwrap_or_default(), fault.offset);
    let bytes = fault.bytes.unwrap_or_default();
    let of_io = match (fault.missed.as_deref(), offset) {
        (Some(MissedLevel::Latency { took, most }), offset) => {
            let offset = offset.unwrap_or_default();
            format!(
                "fio: latency of {took} nsec exceeds specified max ({most} nsec): {path} {way} {offset} {bytes}\n"
            )
        }
        (Some(MissedLevel::Bandwidth { got, least }), _) => {
            format!("{name}: rate_min={least}B/s not met, got {got}B/s\n")
        }
        (Some(MissedLevel::Iops { got, least }), _) => {
            format!("{name}: rate_iops_min={least} not met, got {got} IOPS\n")
        }
        (None, Some(offset)) if !way.is_empty() => {
            let length = if bytes > 0 { format!(", buflen={bytes}") } else { String::new() };
            format!("fio: io_u error on file {path}: {text}: {way} offset={offset}{length}\n")
        }
        (None, _) if fault.doing == Doing::MakeQueue && error == libc::ENOSYS && rings => {
            "fio: your kernel doesn't support io_uring\n".into()
        }
        (None, _) => String::new(),
    };
    let of_clone = format!("fio: pid={pid}, err={error}/{}\n", detail_of(fault));
    FioFailure { of_io, of_clone }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_as_fio_tells_it() {
        let job = FioJob { name: "s".into(), ..FioJob::default() };
        let error = std::io::Error::from_raw_os_error(libc::ENOSPC);
        let fault = Fault::new(Doing::Write, "s.2.0", &error).at(65_536).of(4096);
        let FioFailure { of_io, of_clone } = failure(&job, &fault, 7);
        let wanted = "fio: io_u error on file s.2.0: No space left on device: write offset=65536, buflen=4096\n";
        assert_eq!(of_io, wanted);
        let wanted = "fio: pid=7, err=28/file:s.2.0, func=write, error=No space left on device\n";
        assert_eq!(of_clone, wanted);
        let killed = Fault { errno: 0, doing: Doing::Finish, offset: None, ..fault };
        let FioFailure { of_io, of_clone } = failure(&job, &killed, 7);
        assert_eq!(of_io, "");
        assert_eq!(
            of_clone,
            "fio: pid=7, err=5/file:s.2.0, func=finish, error=Input/output error\n"
        );
        let least = Fault::missed(Doing::Keep, "t", 5, MissedLevel::Iops { got: 3, least: 9 });
        let FioFailure { of_io, of_clone } = failure(&job, &least, 7);
        assert_eq!(of_io, "s: rate_iops_min=9 not met, got 3 IOPS\n");
        assert!(of_clone.contains("err=5/file:t, func=check_min_rate, error="), "{of_clone}");
        let late = MissedLevel::Latency { took: 224_049, most: 1000 };
        let late = Fault::missed(Doing::Read, "f9", 110, late).at(61_440).of(4096);
        let FioFailure { of_io, of_clone } = failure(&job, &late, 7);
        let wanted =
            "fio: latency of 224049 nsec exceeds specified max (1000 nsec): f9 read 61440 4096\n";
        assert_eq!(of_io, wanted);
        assert!(of_clone.contains("err=110/file:f9, func=max latency exceeded, "), "{of_clone}");
    }
}
