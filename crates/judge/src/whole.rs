//! The verdict on a whole run: that of the worst phase of those whose figures it is about.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use super::rules::from_desk;
use super::{asides, failed, finding, leave, rank, study, unseen};
use assay_plan::error::Doing;
use assay_record::claim::{Claim, OtherPhases, SummaryClaim};
use assay_record::record::{
    Ending, Finding, FindingWeight, MeasuredSubject, PhaseRecord, Record, TrapId, Trust, Verdict,
};

/// The verdict on the whole run, from those on its phases, in their order.
pub(super) fn verdict(record: &Record, verdicts: &[Verdict]) -> Verdict {
    let mut seen = SeenVerdicts::default();
    for (phase, verdict) in record.phases.iter().zip(verdicts) {
        seen.add(record, phase, verdict);
    }
    seen.verdict(record)
}

/// What the verdicts on phases come to, one after another: those of a long run are never all in memory.
#[derive(Default)]
pub(super) struct SeenVerdicts {
    /// Of the phases that speak for the run, and of the others that count: heard where none speaks.
    speaking: VerdictSum,
    silent: VerdictSum,
}

impl SeenVerdicts {
    /// The next phase, with the verdict on it.
    pub(super) fn add(&mut self, record: &Record, phase: &PhaseRecord, verdict: &Verdict) {
        if record.plan.counts(&phase.name) {
            let speaks = study::speaks(record, phase, verdict);
            let sum = if speaks { &mut self.speaking } else { &mut self.silent };
            sum.add(phase, verdict);
        }
    }

    /// The verdict on the whole run.
    pub(super) fn verdict(self, record: &Record) -> Verdict {
        let heard = self.speaking.verdict().or_else(|| self.silent.verdict());
        let mut whole = heard.unwrap_or_else(|| of_none(record));
        if let Ending::Failed(fault) = &record.ending {
            whole.trust = whole.trust.max(Trust::Unproven);
            // A fault of the phase that is told of is not told twice.
            let failed = whole.findings.iter().filter(|found| found.trap == failed::RULE.id);
            let told =
                |found: &Finding| whole.claims.iter().any(|said| of_any(said) == &found.claim);
            if !failed.into_iter().any(told) {
                let (doing, path) = (fault.doing.to_string(), fault.path.clone());
                let why = fault.text.clone();
                let claim = match fault.doing {
                    Doing::Remove => SummaryClaim::SomethingLeft { doing, path, why },
                    _ => SummaryClaim::NotFinished { doing, path, why },
                };
                whole.claims.insert(0, claim.into());
            }
        }
        whole
    }
}

/// Verdicts on phases, added up.
#[derive(Default)]
struct VerdictSum {
    count: usize,
    good: usize,
    /// The worst, of several the first, and its phase.
    worst: Option<(String, Verdict)>,
    /// Each once.
    findings: Vec<Finding>,
    /// Where those of a claim stand among them, by its hash: a long run has thousands.
    of_claims: HashMap<u64, Vec<usize>>,
    /// What the first says but for what stands aside; nothing where another says something else.
    lead: Option<Vec<Claim>>,
    praised: usize,
    asides: Vec<RepeatedAside>,
}

/// What stands aside of figures that may be believed.
struct RepeatedAside {
    trap: TrapId,
    /// The first of the phases, and what is said of it.
    name: String,
    claim: Claim,
    /// How many they are.
    phases: usize,
}

/// By trust, then by what was measured.
fn order(verdict: &Verdict) -> (Trust, MeasuredSubject) {
    (verdict.trust, verdict.measures)
}

/// What a verdict says but for what stands aside.
fn plain(verdict: &Verdict) -> Vec<&Claim> {
    let aside = |claim: &Claim| asides(&verdict.findings).any(|f| f.claim == *claim);
    verdict
        .claims
        .iter()
        .enumerate()
        .filter(|(at, claim)| *at == 0 || !aside(claim))
        .map(|(_, claim)| claim)
        .collect()
}

/// What is claimed, of whichever phase.
fn of_any(claim: &Claim) -> &Claim {
    match claim {
        Claim::Summary(SummaryClaim::Of { claim, .. } | SummaryClaim::OfSeveral { claim, .. }) => {
            of_any(claim)
        }
        claim => claim,
    }
}

/// The claims with the name of a phase before the first.
fn named(phase: &str, claims: impl IntoIterator<Item = Claim>) -> Vec<Claim> {
    let mut claims: Vec<Claim> = claims.into_iter().collect();
    if let Some(first) = claims.first_mut() {
        let claim = Box::new(std::mem::replace(first, SummaryClaim::NoResult.into()));
        *first = SummaryClaim::Of { phase: phase.into(), claim }.into();
    }
    claims
}

impl VerdictSum {
    fn add(&mut self, phase: &PhaseRecord, verdict: &Verdict) {
        let plain = plain(verdict);
        if self.count == 0 {
            self.lead = Some(plain.iter().copied().cloned().collect());
        }
        self.lead.take_if(|lead| !lead.iter().eq(plain.iter().copied()));
        self.count += 1;
        self.good += usize::from(verdict.trust == Trust::Sound);
        let praise = |claim: &&Claim| {
            matches!(
                claim,
                Claim::Summary(
                    SummaryClaim::SpeedOfDevice { .. } | SummaryClaim::SpeedOfServedFile { .. }
                )
            )
        };
        self.praised += usize::from(verdict.claims.first().as_ref().is_some_and(praise));
        if self.worst.as_ref().is_none_or(|(_, worst)| order(verdict) > order(worst)) {
            self.worst = Some((phase.name.clone(), verdict.clone()));
        }
        for finding in &verdict.findings {
            let claim = BuildHasherDefault::<DefaultHasher>::default().hash_one(&finding.claim);
            let known = self.of_claims.entry(claim).or_default();
            if !known.iter().any(|&place| self.findings[place] == *finding) {
                known.push(self.findings.len());
                self.findings.push(finding.clone());
            }
        }
        let mut here: Vec<&TrapId> = Vec::new();
        for finding in asides(&verdict.findings) {
            if here.contains(&&finding.trap) {
                continue;
            }
            here.push(&finding.trap);
            match self.asides.iter_mut().find(|known| known.trap == finding.trap) {
                Some(known) => known.phases += 1,
                None => self.asides.push(RepeatedAside {
                    trap: finding.trap,
                    name: phase.name.clone(),
                    claim: finding.claim.clone(),
                    phases: 1,
                }),
            }
        }
    }

    /// That of the worst; `None` of no phase.
    fn verdict(mut self) -> Option<Verdict> {
        let (name, worst) = self.worst.take()?;
        if self.count == 1 {
            return Some(worst);
        }
        let (count, good) = (self.count, self.good);
        let mut claims = vec![match count - good {
            0 => SummaryClaim::AllValid { results: good }.into(),
            _ => SummaryClaim::SomeValid { valid: good, results: count }.into(),
        }];
        claims.extend(match count - good {
            0 => self.of_good(&name, &worst),
            _ => named(&name, worst.claims.iter().cloned()),
        });
        self.findings.sort_by_key(rank);
        let (trust, measures) = order(&worst);
        Some(Verdict { trust, measures, claims, corrected: None, findings: self.findings })
    }

    /// What is said of phases that all may be believed: what goes for one only is said with its name.
    fn of_good(&self, name: &str, worst: &Verdict) -> Vec<Claim> {
        let lead = plain(worst).into_iter().cloned();
        // A device that was idle for most of one phase is not praised for all of them.
        let all = self.lead.is_some() || self.praised == self.count;
        let mut said = if all { lead.collect() } else { named(name, lead) };
        for RepeatedAside { name, claim, phases, .. } in &self.asides {
            let (phase, claim) = (name.clone(), Box::new(claim.clone()));
            let claim = match *phases {
                1 => SummaryClaim::Of { phase, claim },
                phases => {
                    let all = phases == self.count;
                    let others = if all { OtherPhases::All } else { OtherPhases::Some(phases - 1) };
                    SummaryClaim::OfSeveral { phase, others, claim }
                }
            };
            said.push(claim.into());
        }
        said
    }
}

/// What is said where no phase counts: there is no figure.
fn of_none(record: &Record) -> Verdict {
    let (claim, next) = leave::nothing_possible(record).unwrap_or((SummaryClaim::NoResult, None));
    let claim = Claim::from(claim);
    let (id, invalid) = (unseen::RULE.id, MeasuredSubject::Invalid);
    let mut found =
        finding(id, FindingWeight::Unproven, Some(invalid), claim.clone(), vec![], next);
    from_desk(record, &mut found);
    Verdict {
        trust: Trust::Unproven,
        measures: invalid,
        claims: vec![claim],
        corrected: None,
        findings: vec![found],
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::DoctoredRecord;
    use super::super::{flush_bound, throttled};
    use super::*;
    use assay_plan::plan::{StudyPlan, SweepAxis, SweepPlan};
    use assay_record::claim::DataArrival;

    /// A record with phases of these names, of which `cells` are a sweep's.
    fn record(names: &[&str], cells: &[&str]) -> Record {
        let mut record = DoctoredRecord::write_flushed().record;
        let (planned, done) = (record.plan.phases[0].clone(), record.phases[0].clone());
        record.plan.phases.clear();
        record.phases.as_mut_vec().clear();
        for (number, name) in names.iter().enumerate() {
            record
                .plan
                .phases
                .push(assay_plan::plan::Phase { name: (*name).into(), ..planned.clone() });
            record.phases.push(assay_record::record::PhaseRecord {
                number,
                name: (*name).into(),
                ..done.clone()
            });
        }
        let cells = cells.iter().map(|cell| (*cell).into()).collect();
        record.plan.aim =
            Some(StudyPlan::Sweep(SweepPlan { over: vec![SweepAxis::Block], cells, pace: None }));
        record
    }

    /// A sound verdict that says this, with a note beside it.
    fn sound(measures: MeasuredSubject, said: &str, flush_bound: Option<&str>) -> Verdict {
        claimed(measures, Claim::Said(said.into()), flush_bound)
    }

    fn claimed(measures: MeasuredSubject, said: Claim, flush_bound: Option<&str>) -> Verdict {
        let note = |claim: &str| {
            let claim = Claim::Said(claim.into());
            finding(flush_bound::RULE.id, FindingWeight::Note, None, claim, vec![], None)
        };
        let findings: Vec<Finding> = flush_bound.map(note).into_iter().collect();
        let asides = findings.iter().map(|finding| finding.claim.clone());
        let claims = [said].into_iter().chain(asides).collect();
        Verdict { trust: Trust::Sound, measures, claims, corrected: None, findings }
    }

    #[test]
    fn of_a_sweep_only_cells_count() {
        let record = record(&["file", "a", "b"], &["a", "b"]);
        let no = Claim::Said("No.".into());
        let limited = finding(throttled::RULE.id, FindingWeight::Refute, None, no, vec![], None);
        let file = Verdict {
            trust: Trust::Wrong,
            findings: vec![limited],
            ..sound(MeasuredSubject::Memory, "No.", None)
        };
        let cell = sound(MeasuredSubject::Device, "Yes.", None);
        let whole = verdict(&record, &[file, cell.clone(), cell]);
        assert_eq!((whole.trust, whole.measures), (Trust::Sound, MeasuredSubject::Device));
        assert_eq!(
            (whole.summary().as_str(), whole.findings),
            ("All 2 results are valid. Yes.", vec![])
        );
    }

    #[test]
    fn of_a_ramp_only_steps_count() {
        let mut record = record(&["file", "q1"], &[]);
        let ramp = serde_json::json!({ "ramp": { "steps": ["q1"], "gain": 0.1 } });
        record.plan.aim = Some(serde_json::from_value(ramp).expect("a ramp"));
        let file = Verdict { trust: Trust::Wrong, ..sound(MeasuredSubject::Deferred, "No.", None) };
        let step = sound(MeasuredSubject::Device, "Yes.", None);
        assert_eq!(verdict(&record, &[file, step]).trust, Trust::Sound);
    }

    #[test]
    fn what_goes_for_one_is_said_with_its_name() {
        let record = record(&["a", "b", "c"], &["a", "b", "c"]);
        let yes = |note| sound(MeasuredSubject::Device, "Yes.", note);
        let said = |phases: [Verdict; 3]| verdict(&record, &phases).summary();
        let all = "All 3 results are valid.";
        assert_eq!(
            said([yes(None), yes(Some("flush-bound")), yes(None)]),
            format!("{all} Yes. b: flush-bound")
        );
        assert_eq!(
            said([yes(Some("flush-bound")), yes(None), yes(Some("flush-bound, too"))]),
            format!("{all} Yes. a and one other: flush-bound")
        );
        assert_eq!(
            said([(); 3].map(|()| yes(Some("flush-bound")))),
            format!("{all} Yes. a and all others: flush-bound")
        );
        let limited = |limit| sound(MeasuredSubject::Limited, limit, None);
        assert_eq!(
            said([yes(None), limited("Limited to 4."), limited("Limited to 16.")]),
            format!("{all} b: Limited to 4.")
        );
        let same = [(); 3].map(|()| limited("Limited to 4."));
        assert_eq!(said(same), format!("{all} Limited to 4."));
    }

    #[test]
    fn a_device_is_not_praised_for_the_phase_in_which_it_was_idle() {
        let record = record(&["a", "b"], &["a", "b"]);
        let arrived = DataArrival::From { device: "sda".into() };
        let praise = SummaryClaim::SpeedOfDevice { arrived };
        let praise = Claim::from(praise);
        let fast = claimed(MeasuredSubject::Device, praise.clone(), None);
        let praise = assay_record::words::say(&praise);
        let slow = sound(MeasuredSubject::Device, "It worked for 20 % of the time.", None);
        let said = |second: &Verdict| verdict(&record, &[fast.clone(), second.clone()]).summary();
        let all = "All 2 results are valid.";
        assert_eq!(said(&fast), format!("{all} {praise}"));
        assert_eq!(said(&slow), format!("{all} a: {praise}"));
    }

    #[test]
    fn where_no_cell_was_done_there_is_no_figure() {
        let record = record(&["file"], &["a"]);
        let whole = verdict(&record, &[sound(MeasuredSubject::Device, "Yes.", None)]);
        assert_eq!((whole.trust, whole.measures), (Trust::Unproven, MeasuredSubject::Invalid));
        assert_eq!(whole.summary(), "No phase finished, so there is no result.");
    }
}
