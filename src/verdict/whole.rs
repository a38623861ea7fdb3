//! The verdict on a whole run: that of the worst phase of those whose figures it is about.

use super::{aside, asides, finding, leave, rank, unseen, words};
use crate::plan::Aim;
use crate::record::{Ending, Finding, Measures, Record, Trust, Verdict, Weight};

/// The verdict on the whole run, from those on its phases, in their order.
pub(super) fn verdict(record: &Record, phases: &[Verdict]) -> Verdict {
    let names = record.phases.iter().map(|phase| phase.name.as_str());
    let counted = names.zip(phases).filter(|(name, _)| record.plan.counts(name));
    let mut whole = of_counted(record, &counted.collect::<Vec<_>>());
    if let Ending::Failed(fault) = &record.ending {
        let said = format!(
            "The run did not come to its end: cannot {} {}: {}.",
            fault.doing, fault.path, fault.text
        );
        whole.trust = whole.trust.max(Trust::Unproven);
        // A fault of the phase that is told of is not told twice.
        if !whole.summary.contains(&fault.text) {
            whole.summary = format!("{said} {}", whole.summary);
        }
    }
    whole
}

/// The verdict on phases with their names: that of the worst, of several the first.
fn of_counted(record: &Record, phases: &[(&str, &Verdict)]) -> Verdict {
    if let [(_, only)] = phases {
        return (*only).clone();
    }
    let order = |verdict: &Verdict| (verdict.trust, verdict.measures);
    let worst =
        phases.iter().enumerate().max_by_key(|(at, (_, v))| (order(v), std::cmp::Reverse(*at)));
    let Some((_, worst)) = worst else { return of_none(record) };
    let mut findings: Vec<Finding> = vec![];
    for finding in phases.iter().flat_map(|(_, verdict)| &verdict.findings) {
        if !findings.contains(finding) {
            findings.push(finding.clone());
        }
    }
    findings.sort_by_key(rank);
    let what = match record.plan.aim {
        Some(Aim::Sweep(_)) => "cells",
        Some(Aim::Profile(_)) => "runs",
        _ => "phases",
    };
    let good = phases.iter().filter(|(_, verdict)| verdict.trust == Trust::Sound).count();
    let summary = match phases.len() - good {
        0 => format!("All {good} {what} may be believed. {}", of_good(phases, *worst)),
        _ => {
            let (count, (name, verdict)) = (phases.len(), worst);
            format!("{good} of {count} {what} may be believed. In '{name}': {}", verdict.summary)
        }
    };
    let (trust, measures) = order(worst.1);
    Verdict { trust, measures, summary, corrected: None, findings }
}

/// What is said of phases that all may be believed: what goes for one only is said with its name.
fn of_good(phases: &[(&str, &Verdict)], (name, worst): (&str, &Verdict)) -> String {
    let plain = |verdict: &Verdict| {
        let aside = aside(&verdict.findings);
        verdict.summary.strip_suffix(&aside).unwrap_or(&verdict.summary).to_string()
    };
    let lead = plain(worst);
    let all = worst.measures == Measures::Device
        || phases.iter().all(|(_, verdict)| plain(verdict) == lead);
    let mut said = if all { lead } else { format!("In '{name}': {lead}") };
    let mut known: Vec<&str> = Vec::new();
    for (name, finding) in
        phases.iter().flat_map(|(name, verdict)| asides(&verdict.findings).map(move |f| (name, f)))
    {
        if known.contains(&&*finding.trap.0) {
            continue;
        }
        known.push(&finding.trap.0);
        let same = |(_, verdict): &&(&str, &Verdict)| {
            asides(&verdict.findings).any(|other| other.trap == finding.trap)
        };
        let place = match phases.iter().filter(same).count() {
            count if count == phases.len() => format!("'{name}', as in all others"),
            1 => format!("'{name}'"),
            2 => format!("'{name}' and another"),
            count => format!("'{name}' and {} others", count - 1),
        };
        said.push_str(&format!(" In {place}: {}", words::sentence(&finding.claim)));
    }
    said
}

/// What is said where no phase counts: there is no figure.
fn of_none(record: &Record) -> Verdict {
    let (claim, next) = match leave::nothing_possible(record) {
        Some((why, next)) => (format!("Nothing could be measured: {why}."), Some(next)),
        None => ("No phase came to its end, so there is no figure.".to_string(), None),
    };
    let (id, invalid) = (unseen::RULE.id, Measures::Invalid);
    Verdict {
        trust: Trust::Unproven,
        measures: invalid,
        summary: claim.clone(),
        corrected: None,
        findings: vec![finding(id, Weight::Unproven, Some(invalid), claim, vec![], next)],
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::super::{flush_bound, throttled};
    use super::*;
    use crate::plan::{Axis, Sweep};

    /// A record with phases of these names, of which `cells` are a sweep's.
    fn record(names: &[&str], cells: &[&str]) -> Record {
        let mut record = Bench::write_flushed().record;
        let (planned, done) = (record.plan.phases[0].clone(), record.phases[0].clone());
        record.plan.phases.clear();
        record.phases.clear();
        for name in names {
            record.plan.phases.push(crate::plan::Phase { name: (*name).into(), ..planned.clone() });
            record.phases.push(crate::record::PhaseRecord { name: (*name).into(), ..done.clone() });
        }
        let cells = cells.iter().map(|cell| (*cell).to_string()).collect();
        record.plan.aim = Some(Aim::Sweep(Sweep { over: vec![Axis::Block], cells, pace: None }));
        record
    }

    /// A sound verdict that says this, with a note beside it.
    fn sound(measures: Measures, said: &str, flush_bound: Option<&str>) -> Verdict {
        let note =
            |claim: &str| finding(flush_bound::RULE.id, Weight::Note, None, claim, vec![], None);
        let findings: Vec<Finding> = flush_bound.map(note).into_iter().collect();
        let summary = format!("{said}{}", aside(&findings));
        Verdict { trust: Trust::Sound, measures, summary, corrected: None, findings }
    }

    #[test]
    fn of_a_sweep_only_cells_count() {
        let record = record(&["file", "a", "b"], &["a", "b"]);
        let limited = finding(throttled::RULE.id, Weight::Refute, None, "No.", vec![], None);
        let file = Verdict {
            trust: Trust::Wrong,
            findings: vec![limited],
            ..sound(Measures::Memory, "No.", None)
        };
        let cell = sound(Measures::Device, "Yes.", None);
        let whole = verdict(&record, &[file, cell.clone(), cell]);
        assert_eq!((whole.trust, whole.measures), (Trust::Sound, Measures::Device));
        assert_eq!(
            (whole.summary.as_str(), whole.findings),
            ("All 2 cells may be believed. Yes.", vec![])
        );
    }

    #[test]
    fn what_goes_for_one_is_said_with_its_name() {
        let record = record(&["a", "b", "c"], &["a", "b", "c"]);
        let yes = |note| sound(Measures::Device, "Yes.", note);
        let said = |phases: [Verdict; 3]| verdict(&record, &phases).summary;
        let all = "All 3 cells may be believed.";
        assert_eq!(
            said([yes(None), yes(Some("flush-bound")), yes(None)]),
            format!("{all} Yes. In 'b': Flush-bound")
        );
        assert_eq!(
            said([yes(Some("flush-bound")), yes(None), yes(Some("flush-bound, too"))]),
            format!("{all} Yes. In 'a' and another: Flush-bound")
        );
        assert_eq!(
            said([(); 3].map(|()| yes(Some("flush-bound")))),
            format!("{all} Yes. In 'a', as in all others: Flush-bound")
        );
        let limited = |limit| sound(Measures::Limited, limit, None);
        assert_eq!(
            said([yes(None), limited("Limited to 4."), limited("Limited to 16.")]),
            format!("{all} In 'b': Limited to 4.")
        );
        let same = [(); 3].map(|()| limited("Limited to 4."));
        assert_eq!(said(same), format!("{all} Limited to 4."));
    }

    #[test]
    fn where_no_cell_was_done_there_is_no_figure() {
        let record = record(&["file"], &["a"]);
        let whole = verdict(&record, &[sound(Measures::Device, "Yes.", None)]);
        assert_eq!((whole.trust, whole.measures), (Trust::Unproven, Measures::Invalid));
        assert_eq!(whole.summary, "No phase came to its end, so there is no figure.");
    }
}
