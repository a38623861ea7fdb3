//! T55: the device never had as many I/Os as the plan wanted in flight.

use super::measure::Stage;
use super::threshold::{DEPTH_LEAST, DEPTH_REACHED, SHORT};
use super::words::share;
use super::{Judge, Rule, explained, finding, refuted};
use crate::record::{Exhibit, Finding, Next, Weight};

/// A mean of less than half the planned depth at the device, and nothing else says why.
pub const RULE: Rule = Rule {
    id: "T55",
    title: "The depth was not reached",
    happens: "Thirty-two I/Os were to be in flight, and the device had one.",
    seen_by: "Mean requests in flight at the device against the planned depth; I/Os of the program in flight.",
    said_when: "Direct I/O planned at depth {DEPTH_LEAST} or more, of which the device had less than {DEPTH_REACHED}: a note with both depths, and where the rest waited.",
    try_it: "A plan with iodepth 32 on zram, which answers before the call returns.",
    answer: "Prints the depth that was reached.",
    judge: Judge::Phase(judge),
};

fn judge(stage: &Stage<'_>, found: &[Finding]) -> Option<Finding> {
    if refuted(found) || explained(found) || stage.paced() || stage.of_trees() {
        return None;
    }
    let case = stage.cases.iter().find(|case| case.on_devices() && case.direct())?;
    let level = case.top()?;
    let planned = case.flow.depth;
    let had = level.in_flight();
    let missed = planned >= DEPTH_LEAST && had < f64::from(planned) * DEPTH_REACHED;
    // A device that does other flows too has their requests in flight as well.
    if !missed || case.time() < SHORT || level.small(case.direction()) {
        return None;
    }
    let mut because = vec![
        level.exhibit_work(),
        Exhibit::new("I/Os that were to be in flight", planned.to_string(), "the plan"),
    ];
    let program = stage.phase.depth.as_ref().map(|depth| depth.mean * stage.workers() as f64);
    if let Some(program) = program {
        because.push(Exhibit::new(
            "in flight from the program, mean",
            format!("{program:.1}"),
            "count of the calls",
        ));
    }
    let place = match program {
        Some(program) if program < f64::from(planned) * DEPTH_REACHED => {
            "the program did not send them"
        }
        Some(_) => "the others waited above its queue",
        None => "it can not be told where the others were",
    };
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!(
            "The depth was not reached: {} had {had:.1} of {planned} I/Os at a time ({}); {place}.",
            level.name(),
            share(had / f64::from(planned))
        ),
        because,
        Some(Next::Do(
            "do not quote it as the rate at that depth; several files or workers may reach it"
                .into(),
        )),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::Trust;

    #[test]
    fn one_of_thirty_two_is_not_thirty_two() {
        let mut bench = Bench::write_flushed();
        bench.direct(true);
        let named =
            |bench: &Bench| verdict(&bench.record).findings.iter().any(|f| f.trap.0 == "T55");
        bench.record.phases[0].flows[0].depth = 2;
        assert!(!named(&bench));
        bench.record.phases[0].flows[0].depth = 32;
        assert!(named(&bench));
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
