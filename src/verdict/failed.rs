//! T17: an error of writing that only the flush tells, or any other that ended the phase.

use super::measure::Stage;
use super::{Judge, Rule, finding, words};
use crate::record::{Exhibit, Finding, Measures, Next, Weight};

/// An error makes it no measurement.
pub const RULE: Rule = Rule {
    id: "T17",
    title: "An error, or one that only the flush tells",
    happens: "Buffered writes succeed, the write to the device fails later, and only a flush tells; who never flushes prints a rate for data that are lost.",
    seen_by: "The answers to every call, to the flush inside the timing, and to the flush that is watched after it.",
    said_when: "Any error: wrong, invalid.",
    try_it: "`dd` 128 MiB without a flush to a thin device that promises 512 MiB and has 64 MiB: exit status 0.",
    answer: "Watches the flush after a copy that ended without one, and counts errors of single I/Os apart.",
    judge: Judge::Phase(judge),
};

fn judge(stage: &Stage<'_>, _: &[Finding]) -> Option<Finding> {
    let settle = stage.phase.evidence.settle.as_ref().and_then(|settle| settle.fault.as_ref());
    let errors: u64 = stage.phase.totals.values().fold(0, |sum, t| sum.saturating_add(t.errors));
    let (fault, claim) = match (settle, stage.phase.faults.first()) {
        (Some(fault), _) => (
            Some(fault),
            format!(
                "What was written did not reach the device: {}.",
                cause(&fault.name, &fault.text)
            ),
        ),
        (None, Some(fault)) if matches!(fault.doing.as_str(), "fsync" | "fdatasync" | "syncfs") => {
            (
                Some(fault),
                format!(
                    "What was written did not reach the device: {}.",
                    cause(&fault.name, &fault.text)
                ),
            )
        }
        (None, Some(fault)) => (
            Some(fault),
            format!(
                "The phase met an error: cannot {} {}: {}.",
                fault.doing,
                fault.path,
                cause(&fault.name, &fault.text)
            ),
        ),
        (None, None) if errors > 0 => {
            (None, format!("{errors} operations were answered with an error."))
        }
        (None, None) => return None,
    };
    let mut because = vec![];
    if let Some(fault) = fault {
        because.push(Exhibit::new(
            format!("answer to {} of {}", fault.doing, fault.path),
            match fault.name.as_str() {
                "" => fault.text.clone(),
                name => format!("{} ({name})", fault.text),
            },
            format!("{}()", fault.doing),
        ));
    }
    let next = fault
        .filter(|fault| !fault.hint.is_empty())
        .map(|fault| Next::Do(words::sentence(&fault.hint)));
    Some(finding(RULE.id, Weight::Refute, Some(Measures::Invalid), claim, because, next))
}

/// The name of an error, or its words where it has none.
fn cause<'a>(name: &'a str, text: &'a str) -> &'a str {
    if name.is_empty() { text } else { name }
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::{Measures, Settle, Trust};
    use crate::unit::Nanos;

    #[test]
    fn a_flush_that_fails_leaves_no_number() {
        let error = std::io::Error::from_raw_os_error(28);
        let mut bench = Bench::write_without_flush();
        bench.record.phases[0].evidence.settle = Some(Settle {
            time: Nanos::secs(1),
            complete: true,
            fault: Some(crate::error::Fault::new("fsync", "/mnt/x", &error)),
        });
        let verdict = verdict(&bench.record);
        assert_eq!((verdict.trust, verdict.measures), (Trust::Wrong, Measures::Invalid));
        assert_eq!(verdict.corrected, None);
        assert!(verdict.summary.contains("did not reach the device: ENOSPC"), "{verdict:?}");
    }

    #[test]
    fn an_honest_run_met_no_error() {
        assert_eq!(verdict(&Bench::write_flushed().record).trust, Trust::Sound);
    }
}
