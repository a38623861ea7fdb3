//! A whole plan before it is run, and a record after it was: phase by phase what it does, what its
//! figure is about, and what is to be thought of it.

use std::path::{Path, PathBuf};

use super::blocks::{self, BlockJobPlace};
use super::ends::{self, CopyEnds};
use super::view::SurveyView;
use super::{copy, telling};
use assay_plan::name::NameText as _;
use assay_plan::plan::{Job, Phase, Plan, PlanOrigin, Target, Work};
use assay_plan::unit::Bytes;
use assay_record::claim::{AboutClaim, AbsentPlace, PlanClaim, SummaryClaim};
use assay_record::evidence::{LeafKind, Machine, PathKind, Survey};
use assay_record::record::{
    Finding, MeasuredSubject, PhaseExplanation, Record, ToldClaim, Trust, Verdict, WordMeaning,
};
use assay_record::words::say;

/// The paths that a plan reads or writes, each once.
pub fn places(plan: &Plan) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for job in plan.phases.iter().flat_map(|phase| &phase.jobs) {
        let named = match &job.work {
            Work::Copy(copy) => ends::paths(copy),
            Work::Blocks(blocks) => blocks::paths(&blocks.target),
            Work::Tree(tree) => vec![tree.dir.clone()],
        };
        for path in named {
            if !found.contains(&path) {
                found.push(path);
            }
        }
    }
    found
}

/// The places that are not there, with what they are judged by instead; nothing of a file that its folder waits for,
/// and of the source of a copy, of which a finding tells.
pub fn absent(plan: &Plan, surveys: &[Survey]) -> Vec<WordMeaning> {
    let works = || plan.phases.iter().flat_map(|phase| &phase.jobs).map(|job| &job.work);
    let is_source = |path: &str| {
        works().any(|work| matches!(work, Work::Copy(copy) if copy.from.path.as_ref().is_some_and(|from| from.to_text() == path)))
    };
    let is_folder = |path: &str| {
        works().any(|work| match work {
            Work::Copy(_) => false,
            Work::Blocks(blocks) => {
                let named = matches!(&blocks.target, Target::File { .. } | Target::Device { .. });
                !named && blocks::paths(&blocks.target).iter().any(|dir| dir.to_text() == path)
            }
            Work::Tree(tree) => tree.dir.to_text() == path,
        })
    };
    let missing = surveys.iter().filter(|survey| survey.kind == PathKind::Missing);
    let told = missing.filter_map(|survey| {
        let Survey { path, judged_by, hidden, .. } = survey;
        let folder = super::parent(survey);
        let waits =
            Path::new(judged_by).ends_with(folder.trim_start_matches("./").trim_matches('.'));
        let place = match (hidden, is_folder(path)) {
            (Some(why), _) => AbsentPlace::Hidden { why: why.clone() },
            (None, true) => AbsentPlace::Missing,
            (None, false) if waits || is_source(path) => return None,
            (None, false) => AbsentPlace::WithFolder { folder },
        };
        let claim = PlanClaim::JudgedBy { place, judged_by: judged_by.clone() };
        Some(WordMeaning { word: path.clone(), means: say(&claim) })
    });
    told.collect()
}

/// What would happen: a pure function of the plan, of surveys of its [`places`], and of the machine.
pub fn foreseen(plan: &Plan, surveys: &[Survey], machine: &Machine) -> Vec<PhaseExplanation> {
    let places = surveys.iter().map(|survey| SurveyView::of(survey, machine)).collect();
    let look = PlanView { origin: &plan.origin, places };
    plan.phases.iter().map(|phase| look.phase(phase)).collect()
}

/// The folder, file or device that `quick` would have to be given to measure what a plan is about;
/// `None` when that is no disk.
pub fn to_measure(plan: &Plan, surveys: &[Survey]) -> Option<String> {
    let at = |path: &Path| surveys.iter().find(|survey| survey.path == path.to_text());
    let phase = plan.phases.first()?;
    let subject = match &phase.jobs.first()?.work {
        Work::Copy(copy) => {
            let to = copy.to.path.as_deref().and_then(at)?;
            let written = !matches!(to.bottom, LeafKind::Nothing(_));
            if written { to } else { copy.from.path.as_deref().and_then(at)? }
        }
        Work::Blocks(blocks) => at(blocks::paths(&blocks.target).first()?)?,
        Work::Tree(tree) => at(&tree.dir)?,
    };
    if subject.bottom != LeafKind::Devices {
        return None;
    }
    match subject.kind {
        PathKind::Folder | PathKind::Device => Some(subject.path.clone()),
        PathKind::File => Some(super::parent(subject)),
        _ => Some(subject.judged_by.clone()),
    }
}

/// What happened: the phases of a record with their verdicts, which must have been judged.
pub fn told(record: &Record) -> Vec<PhaseExplanation> {
    let look = PlanView { origin: &record.plan.origin, places: Vec::new() };
    let plan = record.plan.unrolled();
    let phases = record.phases.iter().filter_map(|phase| {
        let mut planned = plan.phases.get(phase.number)?.clone();
        let verdict = phase.verdict.clone()?;
        // A short block of a direct copy has it flushed, though nothing has asked for that.
        let flushed =
            phase.flows.iter().any(|flow| flow.buffered > Bytes::ZERO && flow.durability.durable());
        for job in planned.jobs.iter_mut().filter(|_| flushed) {
            if let Work::Copy(copy) = &mut job.work {
                copy.flush.fsync = true;
            }
        }
        let told = look.told(&planned, verdict.measures);
        Some(PhaseExplanation { verdict, ledger: phase.ledger.clone(), ..told })
    });
    phases.collect()
}

/// What the words of a plan are held against.
struct PlanView<'a> {
    origin: &'a PlanOrigin,
    places: Vec<SurveyView<'a>>,
}

impl<'p> PlanView<'p> {
    fn at(&self, path: &Path) -> Option<&SurveyView<'p>> {
        self.places.iter().find(|place| place.path == path.to_text())
    }

    fn phase(&self, phase: &Phase) -> PhaseExplanation {
        let mut found: Vec<Finding> = Vec::new();
        for finding in phase.jobs.iter().flat_map(|job| self.findings(phase, job)) {
            if !found.contains(&finding) {
                found.push(finding);
            }
        }
        found.sort_by_key(crate::rank);
        let (trust, measures) = crate::mapped(&found);
        let lead = found.iter().find(|finding| finding.measures == Some(measures));
        let claims = vec![match (trust, lead.or(found.first())) {
            (Trust::Sound, _) | (_, None) => SummaryClaim::NothingForeseen.into(),
            (_, Some(finding)) => finding.claim.clone(),
        }];
        let verdict = Verdict { trust, measures, claims, corrected: None, findings: found };
        PhaseExplanation { verdict, ..self.told(phase, measures) }
    }

    fn ends<'a>(&'a self, phase: &Phase, copy: &'a assay_plan::plan::CopyWork) -> CopyEnds<'a> {
        CopyEnds {
            copy,
            origin: self.origin,
            cold: phase.cold,
            from: copy.from.path.as_deref().and_then(|path| self.at(path)),
            to: copy.to.path.as_deref().and_then(|path| self.at(path)),
        }
    }

    fn findings(&self, phase: &Phase, job: &Job) -> Vec<Finding> {
        match &job.work {
            Work::Copy(copy) => copy::see(&self.ends(phase, copy)),
            // Without I/O no place is looked at.
            Work::Blocks(blocks) if blocks::nowhere(blocks).is_some() => {
                blocks::nowhere(blocks).into_iter().collect()
            }
            Work::Blocks(blocks) => blocks::paths(&blocks.target)
                .iter()
                .filter_map(|path| self.at(path))
                .flat_map(|place| {
                    blocks::see(&BlockJobPlace {
                        blocks,
                        workers: job.workers,
                        stop: &job.stop,
                        origin: self.origin,
                        cold: phase.cold,
                        place,
                    })
                })
                .collect(),
            Work::Tree(tree) => {
                self.at(&tree.dir).map(|place| blocks::see_tree(tree, place)).unwrap_or_default()
            }
        }
    }

    /// What a phase does and is about, without a verdict.
    fn told(&self, phase: &Phase, measures: MeasuredSubject) -> PhaseExplanation {
        let does = phase.jobs.iter().flat_map(|job| match &job.work {
            Work::Copy(copy) => telling::copy(&self.ends(phase, copy)),
            Work::Blocks(blocks) => telling::blocks(blocks, job.workers),
            Work::Tree(tree) => telling::tree(tree, job.workers),
        });
        let (is, not) =
            phase.jobs.first().map_or((AboutClaim::IsUnknown, AboutClaim::NotDisk), |job| {
                self.about(phase, job, measures)
            });
        PhaseExplanation {
            name: phase.name.clone(),
            does: does.map(ToldClaim::from).collect(),
            measures: is.into(),
            not: not.into(),
            verdict: Verdict {
                trust: Trust::Sound,
                measures,
                claims: Vec::new(),
                corrected: None,
                findings: Vec::new(),
            },
            ledger: None,
        }
    }

    fn about(
        &self,
        phase: &Phase,
        job: &Job,
        measures: MeasuredSubject,
    ) -> (AboutClaim, AboutClaim) {
        let disk = |path: Option<&PathBuf>| telling::disk(path.and_then(|path| self.at(path)));
        match &job.work {
            Work::Copy(copy) => telling::about_copy(&self.ends(phase, copy), measures),
            Work::Blocks(blocks) => {
                let paths = blocks::paths(&blocks.target);
                telling::about_blocks(blocks, job.workers, disk(paths.first()), measures)
            }
            Work::Tree(tree) => telling::about_tree(tree, disk(Some(&tree.dir)), measures),
        }
    }
}
