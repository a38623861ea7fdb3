//! T17: an error of writing that only the flush tells, or any other that ended the phase.

use super::measure::{FlowView, PhaseView};
use super::operands::edited;
use super::{Rule, RuleJudge, advice, command, finding};
use assay_plan::error::{Doing, Fault};
use assay_plan::plan::{ErrorTolerance, StopLimit, Work};
use assay_plan::unit::Bytes;
use assay_record::claim::{ExhibitOf, ExhibitValue, FailureReason, OutcomeClaim};
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, NextStep, Remedy, TrapId,
};

/// An error makes it no measurement.
pub const RULE: Rule = Rule {
    id: TrapId::T17,
    title: "An error, or one that only the flush reports",
    happens: "Buffered writes succeed, the write to the device fails later, and only a flush reports it; a tool that never flushes prints a rate for lost data.",
    seen_by: "The results of every call, of the flush inside the timing, and of the flush that is watched after it.",
    said_when: "Any error: wrong, invalid.",
    try_it: "`dd` 128 MiB without a flush to a thin device of 512 MiB that has 64 MiB: exit status 0.",
    answer: "Watches the flush after a copy that ended without one, and counts the errors of single I/Os.",
    judge: RuleJudge::Phase(judge),
};

fn judge(phase_view: &PhaseView<'_>, _: &[Finding]) -> Option<Finding> {
    let settle = phase_view.phase.evidence.settle.as_ref().and_then(|settle| settle.fault.as_ref());
    let errors: u64 =
        phase_view.phase.totals.values().fold(0, |sum, t| sum.saturating_add(t.errors));
    let fault = settle.or(phase_view.phase.faults.first());
    if fault.is_none() && (errors == 0 || was_to_fill(phase_view)) {
        return None;
    }
    let misfit = fault.and_then(|fault| DirectMisfit::of(phase_view, fault));
    let claim = match fault {
        None => OutcomeClaim::IosFailed { errors },
        Some(fault) => {
            let hint = || {
                let hint = fault.hint.trim_end_matches('.');
                (!hint.is_empty()).then(|| FailureReason::Hint(hint.into()))
            };
            let why = misfit.as_ref().map(DirectMisfit::said).or_else(hint);
            let cause = cause(&fault.name, &fault.text).to_string();
            let flush = matches!(fault.doing, Doing::Fsync | Doing::Fdatasync | Doing::Syncfs);
            match settle.is_some() || flush {
                true => OutcomeClaim::NeverArrived { cause, why },
                false => {
                    let (doing, path) = (fault.doing.to_string(), fault.path.clone());
                    OutcomeClaim::PhaseFailed { doing, path, cause, why }
                }
            }
        }
    };
    let mut because = vec![];
    if let Some(fault) = fault {
        because.push(Exhibit::new(
            ExhibitOf::AnswerTo { doing: fault.doing.to_string(), path: fault.path.clone() },
            ExhibitValue::SystemError {
                text: fault.text.clone(),
                name: (!fault.name.is_empty()).then(|| fault.name.clone()),
            },
            fault.doing.call().to_string(),
        ));
    }
    let next = match &misfit {
        Some(misfit) => misfit.mended(),
        None => fault.and_then(|fault| seen(&fault.name, &fault.path)),
    };
    Some(finding(
        RULE.id,
        FindingWeight::Refute,
        Some(MeasuredSubject::Invalid),
        claim,
        because,
        next,
    ))
}

/// A direct call that was refused for its length or its place.
struct DirectMisfit<'v, 'a> {
    flow_view: &'v FlowView<'a>,
    /// What direct I/O takes multiples of.
    unit: Bytes,
}

impl<'v, 'a> DirectMisfit<'v, 'a> {
    fn of(phase_view: &'v PhaseView<'a>, fault: &Fault) -> Option<Self> {
        let calls = matches!(fault.doing, Doing::Read | Doing::Write | Doing::WriteTo);
        let refused = calls && fault.name == "EINVAL";
        let flow_view = phase_view.cases.iter().find(|flow_view| {
            refused && flow_view.direct() && flow_view.reads() == (fault.doing == Doing::Read)
        })?;
        Some(Self { flow_view, unit: flow_view.facts().direct_multiple()? })
    }

    fn fits(&self) -> bool {
        self.flow_view.flow.block.0.is_multiple_of(self.unit.0)
    }

    fn said(&self) -> FailureReason {
        let (unit, block) = (self.unit.0, self.flow_view.flow.block.0);
        match self.fits() {
            true => FailureReason::DirectUnit { unit },
            false => FailureReason::DirectMisfit { unit, block },
        }
    }

    /// The same in blocks that are taken.
    fn mended(&self) -> Option<NextStep> {
        let record = self.flow_view.record;
        let copy =
            record.planned_jobs(self.flow_view.phase).iter().find_map(|job| match &job.work {
                Work::Copy(copy) if !self.fits() => Some(copy),
                _ => None,
            });
        let larger = copy.and_then(|copy| {
            edited(&record.plan.origin, Remedy::OtherBlocks, |operands| {
                operands.in_mebibytes(copy, 1)
            })
        });
        larger.or_else(|| advice::in_multiples(self.flow_view, self.unit))
    }
}

/// Whether its jobs were to write until nothing fits: that the last write failed is their end.
fn was_to_fill(phase_view: &PhaseView<'_>) -> bool {
    let mut jobs = phase_view.record.planned_jobs(phase_view.phase).iter();
    jobs.all(|job| {
        job.stop.first_of.contains(&StopLimit::Full) && job.tolerance == ErrorTolerance::default()
    })
}

/// What shows more of an error.
fn seen(name: &str, path: &str) -> Option<NextStep> {
    let command = match name {
        // Where there is room; a device of the kernel has none.
        "ENOSPC" if path.starts_with("/dev/") => "df -hT",
        "ENOSPC" | "EDQUOT" => return Some(command::look("df -h", path)),
        "ENOMEM" => "free -h",
        "EIO" | "ENODEV" | "ENXIO" | "EREMOTEIO" => "sudo dmesg -T | tail -n 30",
        _ => return None,
    };
    Some(NextStep::new(Remedy::Inspect, command))
}

/// The name of an error, or its words where it has none.
fn cause<'a>(name: &'a str, text: &'a str) -> &'a str {
    if name.is_empty() { text } else { name }
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::Nanos;
    use assay_record::record::{MeasuredSubject, Trust, WatchedFlush};

    #[test]
    fn a_flush_that_fails_leaves_no_number() {
        let error = std::io::Error::from_raw_os_error(28);
        let mut bench = DoctoredRecord::write_without_flush();
        bench.record.phases[0].evidence.settle = Some(Box::new(WatchedFlush {
            time: Nanos::secs(1),
            complete: true,
            fault: Some(assay_plan::error::Fault::new(
                assay_plan::error::Doing::Fsync,
                "/mnt/x",
                &error,
            )),
        }));
        let verdict = verdict(&bench.record);
        assert_eq!((verdict.trust, verdict.measures), (Trust::Wrong, MeasuredSubject::Invalid));
        assert_eq!(verdict.corrected, None);
        assert!(verdict.summary().contains("did not reach the device: ENOSPC"), "{verdict:?}");
    }

    #[test]
    fn an_honest_run_met_no_error() {
        assert_eq!(verdict(&DoctoredRecord::write_flushed().record).trust, Trust::Sound);
    }
}
