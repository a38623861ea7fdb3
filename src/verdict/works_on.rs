//! T49: a drive has said that all is done, and works on.

use super::measure::Stage;
use super::threshold::{AFTERMATH, AFTERMATH_LEAST};
use super::{Judge, Rule, finding};
use crate::record::{Aftermath, Exhibit, Finding, Latencies, Measures, Next, Round, Weight};

/// Single reads after a phase took much longer than before it, twice in a row.
pub const RULE: Rule = Rule {
    id: "T49",
    title: "Done, but not yet",
    happens: "A drive says done and works on in the background.",
    seen_by: "Twenty single direct reads before the phase and after it, while nothing else is done.",
    said_when: "The median after it is more than {AFTERMATH} times that before and {AFTERMATH_LEAST} longer, three quarters took longer than three quarters did before, and the same is so half a second later: a note.",
    try_it: "Scattered writes to a drive whose controller tidies up afterwards: a shingled disk, a cheap SSD.",
    answer: "`quick` looks around its scattered writes, and waits up to ten seconds before the next phase.",
    judge: Judge::Phase(judge),
};

/// Whether reads took so much longer than usual that it is no chance.
pub fn slower(usual: &Latencies, now: &Latencies) -> bool {
    let more = now.p50_ns.less(usual.p50_ns);
    now.p50_ns.0 as f64 > usual.p50_ns.0 as f64 * AFTERMATH
        && more >= AFTERMATH_LEAST
        && now.p25_ns > usual.p75_ns
}

fn judge(stage: &Stage<'_>, found: &[Finding]) -> Option<Finding> {
    let disturbed = found.iter().any(|f| f.measures == Some(Measures::Disturbed));
    let aftermath = stage.phase.evidence.aftermath.as_ref().filter(|_| !disturbed)?;
    let usual = aftermath.before.seen()?;
    let slow = |round: &&Round| slower(usual, &round.reads);
    let [first, rest @ ..] = aftermath.after.as_slice() else { return None };
    if !slow(&first) || !rest.first().as_ref().is_some_and(slow) {
        return None;
    }
    let name = stage.cases.iter().find(|case| case.subject.path == aftermath.path);
    let name = name.map_or(aftermath.path.clone(), |case| case.named());
    let claim = match rest.iter().find(|round| !slow(round)) {
        Some(calm) => format!(
            "{name} worked on for {} after it had said that all was done: part of the work is in no figure.",
            calm.since_end_ns
        ),
        None => format!(
            "{name} was still at work {} after it had said that all was done: part of the work is in no figure, and what follows pays for it.",
            rest.last().unwrap_or(first).since_end_ns
        ),
    };
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        claim,
        exhibits(aftermath, usual, first),
        Some(Next::Do("wait before the next run, or write for longer: assay sustain".into())),
    ))
}

fn exhibits(aftermath: &Aftermath, usual: &Latencies, first: &Round) -> Vec<Exhibit> {
    let shown = |when: &str, reads: &Latencies| {
        Exhibit::new(
            format!("a single read {when}"),
            format!("p50 {}, slowest {} of {}", reads.p50_ns, reads.max_ns, reads.reads),
            format!("direct reads of {}", aftermath.path),
        )
    };
    vec![shown("before", usual), shown("after", &first.reads)]
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::Trust;

    /// What is said when reads take a millisecond before, and so many ms in each round after.
    fn said(after: &[u64]) -> Option<String> {
        let mut bench = Bench::write_flushed();
        bench.answered_after(after);
        let found = verdict(&bench.record);
        assert_eq!(found.trust, Trust::Sound, "{found:?}");
        found.findings.into_iter().find(|f| f.trap.0 == "T49").map(|f| f.claim)
    }

    #[test]
    fn a_drive_that_works_on_is_told_with_how_long() {
        let ended = said(&[9, 9, 9, 1]).expect("worked on");
        assert!(ended.starts_with("loop3 worked on for 3.00 s after it had said"), "{ended}");
        let still = said(&[9, 9]).expect("works on");
        assert!(still.starts_with("loop3 was still at work 1.00 s after it had said"), "{still}");
    }

    #[test]
    fn chance_and_what_is_over_at_once_are_no_work() {
        assert_eq!(said(&[]), None);
        assert_eq!(said(&[1]), None);
        assert_eq!(said(&[2]), None);
        assert_eq!(said(&[9, 1]), None);
        assert_eq!(said(&[9]), None, "nobody looked a second time");
    }
}
