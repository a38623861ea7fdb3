//! T71: the program at the other end of a pipe set the rate.

use super::measure::PhaseView;
use super::threshold::OTHER_END;
use super::words::share;
use super::{Rule, RuleJudge, finding, refuted};
use assay_record::claim::{ExhibitOf, LimitClaim};
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, PhaseLedger, TimeHolder, TrapId,
};

/// Most of the time the run waited for a pipe, a socket or a terminal.
pub const RULE: Rule = Rule {
    id: TrapId::T71,
    title: "The other end of the pipe sets the rate",
    happens: "A copy from or to a pipe is as fast as the program at its other end.",
    seen_by: "Where its thread waited whenever it was looked at (wchan), and its CPU time.",
    said_when: "It waited for the other end for more than {OTHER_END} of the time: doubtful, tool.",
    try_it: "`gzip -9 < big | assay dd of=x bs=1M conv=fsync`",
    answer: "Says how long it waited for the other end.",
    judge: RuleJudge::Ledger(judge),
};

fn judge(_: &PhaseView<'_>, ledger: &PhaseLedger, found: &[Finding]) -> Option<Finding> {
    if refuted(found) {
        return None;
    }
    let balance = ledger.time.as_ref()?;
    let waited = balance.share(TimeHolder::OtherEnd);
    if waited <= OTHER_END {
        return None;
    }
    Some(finding(
        RULE.id,
        FindingWeight::Doubt,
        Some(MeasuredSubject::Tool),
        LimitClaim::OtherEndOfPipe { waited: share(waited) },
        vec![Exhibit::new(ExhibitOf::WaitingForOtherEnd, share(waited), "/proc/PID/wchan")],
        None,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_record::record::{MeasuredSubject, Trust};

    fn seen(states: &[(&str, u32)]) -> DoctoredRecord {
        let mut bench = DoctoredRecord::write_flushed();
        bench.work(0.9, 0.05);
        bench.looked_at(states);
        bench
    }

    #[test]
    fn who_waits_for_a_pipe_is_held_by_it_however_busy_the_device_is() {
        let found = verdict(&seen(&[("S anon_pipe_read", 45), ("D io_schedule", 5)]).record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, MeasuredSubject::Tool));
        let said = "Limited by the program at the other end of the pipe: the run waited for it ";
        assert!(found.summary().starts_with(said), "{}", found.summary());
    }

    #[test]
    fn who_waits_for_the_device_is_not() {
        let bench = seen(&[("S pipe_read", 4), ("D folio_wait_bit_common", 45), ("R", 3)]);
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        // Three looks tell nothing.
        assert_eq!(verdict(&seen(&[("S pipe_read", 3)]).record).trust, Trust::Sound);
    }
}
