//! T56: too short for its clock, or for anything but its start and end; or nothing was done.

use super::measure::Stage;
use super::threshold::{CLOCK_STEPS, SHORT};
use super::{Judge, Rule, finding, refuted};
use crate::record::{Exhibit, Finding, Measures, Next, Weight};

/// Shorter than a quarter of a second or than a thousand steps of the clock. Says nothing where
/// something else already refutes the figure.
pub const RULE: Rule = Rule {
    id: "T56",
    title: "Too short",
    happens: "A short run says more about its start and end than about what lies between, and a coarse clock measures nothing.",
    seen_by: "Length of the run; smallest step of the clock.",
    said_when: "Shorter than {SHORT} or than {CLOCK_STEPS} steps of the clock: unproven.",
    try_it: "`assay dd if=/dev/zero of=x bs=64k count=1 oflag=direct conv=fsync`",
    answer: "Times with the monotonic clock; own phases last seconds.",
    judge: Judge::Phase(judge),
};

fn judge(stage: &Stage<'_>, found: &[Finding]) -> Option<Finding> {
    if refuted(found) {
        return None;
    }
    let moved = stage.phase.flows.iter().any(|flow| flow.bytes.0 > 0 || flow.calls.0 > 0);
    if !moved && stage.ops() == 0 {
        return Some(finding(
            RULE.id,
            Weight::Unproven,
            Some(Measures::Invalid),
            "Nothing was moved, so there is no figure.",
            vec![],
            None,
        ));
    }
    let time = stage.phase.span.time();
    let step = stage.record.machine.clock.step;
    let coarse = time.0 < step.0.saturating_mul(CLOCK_STEPS);
    (time < SHORT || coarse).then(|| {
        finding(
            RULE.id,
            Weight::Unproven,
            Some(Measures::Unsure),
            format!("The run took {time}, which is too short to tell."),
            vec![
                Exhibit::new("time", time.to_string(), "the run's clock"),
                Exhibit::new("smallest step of the clock", step.to_string(), "clock_gettime()"),
            ],
            Some(Next::Do("move more, so that it takes a second or longer".into())),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::{Measures, Trust};
    use crate::unit::Nanos;

    #[test]
    fn a_blink_proves_nothing_but_refutations_stand() {
        let mut bench = Bench::write_flushed();
        bench.lasted(Nanos::millis(20));
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Unproven, Measures::Unsure));
        let found = verdict(&Bench::write_without_flush().record);
        assert_eq!((found.trust, found.measures), (Trust::Wrong, Measures::Deferred));
    }

    #[test]
    fn nothing_moved_is_no_figure() {
        let mut bench = Bench::write_flushed();
        bench.written(crate::unit::Bytes::ZERO, crate::unit::Bytes::ZERO);
        let phase = &mut bench.record.phases[0];
        phase.totals.clear();
        for flow in &mut phase.flows {
            flow.bytes = crate::unit::Bytes::ZERO;
            flow.calls = crate::unit::Ops(0);
        }
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Unproven, Measures::Invalid));
    }
}
