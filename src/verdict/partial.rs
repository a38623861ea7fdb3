//! T62: transfers that moved less than asked for, and an end of the data inside the plan.

use super::measure::Case;
use super::{Judge, Rule, finding};
use crate::record::{Exhibit, Finding, Measures, Next, Weight};

/// Short transfers are good to know; an end of the data that the plan did not foresee leaves no
/// number, except for tools that copy until the end anyway.
pub const RULE: Rule = Rule {
    id: "T62",
    title: "Partial transfers",
    happens: "A call moves less than it was asked for, or the data end early, and the tool counts full blocks.",
    seen_by: "The return value of every call.",
    said_when: "The end of the data inside a plan: wrong, invalid. Short transfers: a note.",
    try_it: "Read more from a file than it holds.",
    answer: "Counts return values only, never blocks.",
    judge: Judge::Flow(judge),
};

fn judge(case: &Case<'_>) -> Option<Finding> {
    let flow = case.flow;
    let shown = vec![Exhibit::new(
        format!("calls on {} that moved less than asked", case.subject.path),
        format!("{} of {}", flow.short, flow.calls.0),
        "return values of the calls",
    )];
    let copies = case.record.plan.origin.dialect == "dd";
    if flow.end_of_data && !copies {
        return Some(finding(
            RULE.id,
            Weight::Refute,
            Some(Measures::Invalid),
            format!("The data of {} ended inside the plan.", case.subject.path),
            shown,
            Some(Next::Do("plan no more than is there, or let the file be written first".into())),
        ));
    }
    if flow.end_of_data {
        return Some(finding(
            RULE.id,
            Weight::Note,
            None,
            format!("{} ended before the count was reached.", case.subject.path),
            shown,
            None,
        ));
    }
    (flow.short > 0).then(|| {
        finding(
            RULE.id,
            Weight::Note,
            None,
            format!(
                "{} calls moved less than they were asked for; only what moved is counted.",
                flow.short
            ),
            shown,
            None,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::record::{Measures, Trust};

    #[test]
    fn the_end_of_the_data_matters_to_plans_not_to_copies() {
        let mut bench = Bench::read_cold();
        bench.record.phases[0].flows[0].end_of_data = true;
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
        bench.record.plan.origin.dialect = "quick".into();
        let verdict = verdict(&bench.record);
        assert_eq!((verdict.trust, verdict.measures), (Trust::Wrong, Measures::Invalid));
    }
}
