//! T43, without a fall that can be seen: the rate had not become steady when something else ended it.

use super::measure::Stage;
use super::words::pace;
use super::{Judge, Rule, finding, refuted};
use crate::record::{Counted, Ending, Exhibit, Finding, Measures, Next, Weight};

/// A steady state was to end the job, and its budget of time or bytes did.
pub const RULE: Rule = Rule {
    id: "T43",
    title: "No steady state",
    happens: "A run is to go on until its rate is steady, and its budget is used up before.",
    seen_by: "The rounds of the steady state.",
    said_when: "A job that a steady state was to end has been ended by something else than a signal or a fault: doubtful, unsteady.",
    try_it: "`assay sustain --time 25 --bytes 100M .` on a fast disk.",
    answer: "`assay sustain` says its budget first, and what it came to.",
    judge: Judge::Phase(judge),
};

fn judge(stage: &Stage<'_>, found: &[Finding]) -> Option<Finding> {
    let said = found.iter().any(|finding| finding.measures == Some(Measures::Unsteady));
    let ended = matches!(stage.record.ending, Ending::Interrupted(_) | Ending::Failed(_));
    if refuted(found) || said || ended {
        return None;
    }
    let job = stage.phase.steady.iter().find(|job| job.state.is_none())?;
    let time = stage.phase.span.stopped.since(stage.phase.span.started);
    let moved = stage.phase.flows.iter().fold(0_u64, |sum, flow| sum.saturating_add(flow.bytes.0));
    let mean = match job.counted {
        Counted::Bytes => pace(moved as f64 / time.as_secs().max(1e-9)),
        Counted::Operations => format!("{} operations in all", stage.ops()),
    };
    Some(finding(
        RULE.id,
        Weight::Doubt,
        Some(Measures::Unsteady),
        format!("The rate was not steady yet when its budget ended it, after {time}."),
        vec![Exhibit::new("mean over all of it", mean, "the run's clock and counts")],
        Some(Next::Do("give it more time and more bytes".into())),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::{Ending, Measures, Trust};

    #[test]
    fn what_did_not_become_steady_is_doubtful_unless_somebody_ended_it() {
        let mut bench = Bench::write_flushed();
        bench.steadied(None);
        let found = verdict(&bench.record);
        assert_eq!((found.trust, found.measures), (Trust::Doubtful, Measures::Unsteady));
        bench.record.ending = Ending::Interrupted(2);
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
