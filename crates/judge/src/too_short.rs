//! T56: too short for its clock, or for anything but its start and end; or nothing was done.

use super::measure::PhaseView;
use super::threshold::{CLOCK_STEPS, SHORT};
use super::{Rule, RuleJudge, advice, finding, refuted};
use assay_record::claim::{ExhibitOf, ExhibitSource, SteadyClaim};
use assay_record::record::{Exhibit, Finding, FindingWeight, MeasuredSubject, TrapId};

/// Shorter than a quarter of a second or than a thousand steps of the clock. Says nothing where
/// something else already refutes the figure.
pub const RULE: Rule = Rule {
    id: TrapId::T56,
    title: "Too short",
    happens: "A short run measures mostly its start and end, and a coarse clock cannot resolve it.",
    seen_by: "Length of the run; resolution of the clock.",
    said_when: "Shorter than {SHORT} or than {CLOCK_STEPS} clock ticks: unproven.",
    try_it: "`assay dd if=/dev/zero of=x bs=64k count=1 oflag=direct conv=fsync`",
    answer: "Times with the monotonic clock; own phases last seconds.",
    judge: RuleJudge::Phase(judge),
};

fn judge(phase_view: &PhaseView<'_>, found: &[Finding]) -> Option<Finding> {
    if refuted(found) {
        return None;
    }
    let moved = phase_view.phase.flows.iter().any(|flow| flow.bytes.0 > 0 || flow.calls.0 > 0);
    if !moved && phase_view.ops() == 0 {
        return Some(finding(
            RULE.id,
            FindingWeight::Unproven,
            Some(MeasuredSubject::Invalid),
            SteadyClaim::NoDataMoved,
            vec![],
            None,
        ));
    }
    let time = phase_view.phase.span.time();
    let step = phase_view.record.machine().clock.step;
    let coarse = time.0 < step.0.saturating_mul(CLOCK_STEPS);
    (time < SHORT || coarse).then(|| {
        finding(
            RULE.id,
            FindingWeight::Unproven,
            Some(MeasuredSubject::Unsure),
            SteadyClaim::TooShort { time },
            vec![
                Exhibit::new(ExhibitOf::Time, time, ExhibitSource::RunClock),
                Exhibit::new(ExhibitOf::ClockResolution, step, "clock_gettime()"),
            ],
            advice::longer(phase_view),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::plan::MoreWork;
    use assay_plan::unit::Nanos;
    use assay_record::record::{MeasuredSubject, Trust};

    #[test]
    fn a_blink_proves_nothing_but_refutations_stand() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.lasted(Nanos::millis(20));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Unproven, MeasuredSubject::Unsure));
        let found = verdict(&DoctoredRecord::write_without_flush().record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, MeasuredSubject::Deferred));
    }

    #[test]
    fn a_tool_that_has_words_for_more_is_told_them() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.lasted(Nanos::millis(20));
        bench.record.phases[0].name = "seeks".into();
        let origin = &mut bench.record.plan.origin;
        (origin.dialect, origin.words) = ("bonnie".into(), vec!["-s".into(), "64".into()]);
        let more = |phase: Option<&str>, most, words: &str| MoreWork {
            phase: phase.map(String::from),
            done: 8192,
            most,
            words: words.into(),
        };
        let mut next = |words: Vec<MoreWork>| {
            bench.record.plan.origin.tool.more = words;
            let found = verdict(&bench.record).findings.remove(0);
            found.next.expect("something to do").words().to_string()
        };
        let all = more(None, u64::MAX, " -l {size}");
        assert_eq!(next(vec![all.clone()]), "assay bonnie -s 64 -l 1M");
        let own = more(Some("seeks"), u64::MAX, " -s 64:8192:{n}");
        assert_eq!(next(vec![all, own]), "assay bonnie -s 64:8192:900000");
        let least = more(None, 10_000, " -s {n}");
        assert!(next(vec![least]).starts_with("assay io /mnt --rw write"));
    }

    #[test]
    fn nothing_moved_is_no_figure() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.written(assay_plan::unit::Bytes::ZERO, assay_plan::unit::Bytes::ZERO);
        let phase = &mut bench.record.phases[0];
        phase.totals.clear();
        for flow in &mut phase.flows {
            flow.bytes = assay_plan::unit::Bytes::ZERO;
            flow.calls = assay_plan::unit::Ops(0);
        }
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Unproven, MeasuredSubject::Invalid));
    }
}
