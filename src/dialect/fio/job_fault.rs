//! What went wrong with a clone, and what fio says of it.

use super::plan::FioClone;
use super::print::errno_text;
use crate::error::{Doing, Fault};
use crate::record::{JobResult, PhaseRecord, Record};

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
    format!("file:{}, func={}, error={error}", fault.path, fault.doing.name())
}

/// A clone that failed, as fio tells of it while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FioFailure {
    /// The lines about the I/O, on standard error; empty where it was none.
    pub of_io: String,
    /// The line about the clone, before the report for people.
    pub of_clone: String,
}

/// The clones that failed, in their order. `pid` is that of the program.
pub fn failures(clones: &[FioClone], record: &Record, pid: u32) -> Vec<FioFailure> {
    let failed = clones.iter().filter_map(|clone| {
        let ran = |phase: &&PhaseRecord| {
            phase.name == clone.phase || Some(&phase.name) == clone.check.as_ref()
        };
        let fault = record.phases.iter().filter(ran).find_map(|phase| fault_of(clone, phase))?;
        Some(failure(fault, pid + clone.thread))
    });
    failed.collect()
}

fn failure(fault: &Fault, pid: u32) -> FioFailure {
    let error = error_of(fault);
    let text = errno_text(error);
    let way = match fault.doing {
        Doing::Read => Some("read"),
        Doing::Write => Some("write"),
        Doing::Trim => Some("trim"),
        _ => None,
    };
    let of_io = way.zip(fault.offset).map(|(way, offset)| {
        let bytes = fault.bytes.map_or(String::new(), |bytes| format!(", buflen={bytes}"));
        let path = &fault.path;
        format!("fio: io_u error on file {path}: {text}: {way} offset={offset}{bytes}\n")
    });
    FioFailure {
        of_io: of_io.unwrap_or_default(),
        of_clone: format!(
            "fio: pid={pid}, err={error}/file:{}, func={}, error={text}\n",
            fault.path,
            fault.doing.name()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_as_fio_tells_it() {
        let error = std::io::Error::from_raw_os_error(libc::ENOSPC);
        let fault = Fault::new(Doing::Write, "s.2.0", &error).at(65_536).of(4096);
        let FioFailure { of_io, of_clone } = failure(&fault, 7);
        let wanted = "fio: io_u error on file s.2.0: No space left on device: write offset=65536, buflen=4096\n";
        assert_eq!(of_io, wanted);
        let wanted = "fio: pid=7, err=28/file:s.2.0, func=write, error=No space left on device\n";
        assert_eq!(of_clone, wanted);
        let killed = Fault { errno: 0, doing: Doing::Finish, offset: None, ..fault };
        let FioFailure { of_io, of_clone } = failure(&killed, 7);
        assert_eq!(of_io, "");
        assert_eq!(
            of_clone,
            "fio: pid=7, err=5/file:s.2.0, func=finish, error=Input/output error\n"
        );
    }
}
