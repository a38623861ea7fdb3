//! The judges: may a number be believed, what is it about, how is that known, what to type next.
//!
//! Pure functions of a [`Record`]: an old record can be judged by newer rules, and a rule can be
//! tried on a record that somebody mailed in. One trap of the catalogue per file; [`RULES`] lists
//! them; every threshold stands in [`threshold`].
//!
//! The counters of the lowest device that can be read are the judge; everything else explains
//! them. Without that evidence nothing is called sound.

mod away_from_device;
mod bigger_than_ram;
mod burst;
mod cached_before;
pub mod capacity;
pub mod card;
pub mod catalogue;
mod client_bound;
mod cliff;
mod compressed;
mod copy_bound;
mod depth_not_reached;
mod differences;
mod direct_not_durable;
mod dropped_unwritten;
mod earlier_work;
mod erase_blocks;
mod failed;
mod file_lock;
mod first_write;
mod flush_bound;
mod flush_swallowed;
pub mod foresee;
mod fragments;
mod holes;
mod hot;
mod latency_bound;
mod layers_between;
mod leave;
pub mod lesson;
mod link_bound;
pub mod measure;
mod misplaced_partition;
mod neighbours;
mod no_disk;
mod not_direct;
mod not_dropped;
mod not_flushed;
mod not_steady;
mod omission;
mod other_node;
mod other_queue;
mod over_fetch;
mod overwritten_in_memory;
mod own;
mod partial;
mod partial_blocks;
mod partial_sectors;
pub mod profile;
pub mod ramp;
mod read_ahead;
mod read_beyond;
mod reading_writes;
mod same_data;
mod same_disk;
mod served_from_cache;
mod shared_blocks;
mod shared_device;
mod stalls;
mod stdio_close;
pub mod sustain;
mod swapped;
pub mod sweep;
pub mod threshold;
mod throttled;
mod too_short;
mod trimmed_blocks;
mod trimmed_meanwhile;
mod uncommitted;
mod unconditioned;
mod unlike_runs;
mod unseen;
mod waiting_for_cpu;
mod whole;
pub mod words;
mod works_on;
mod worn_out;
mod wrong_content;
mod zoned_or_dax;

pub use leave::wanted;
pub use works_on::slower;

use std::collections::BTreeMap;

use crate::evidence::Bottom;
use crate::plan::Aim;
use crate::record::{
    Exhibit, Finding, Measures, Next, Outcome, PhaseRecord, Record, TrapId, Trust, Verdict, Weight,
};
use measure::{Case, Stage};

/// One trap of the catalogue and its judge.
pub struct Rule {
    /// Its number in the catalogue: `T02`. `T00` is the general rule that there is no praise
    /// without evidence.
    pub id: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// What happens, in a sentence that a person can repeat.
    pub happens: &'static str,
    /// The readings that show it.
    pub seen_by: &'static str,
    /// When it is said, and what it makes of trust and subject. `{NAME}` stands for the threshold of
    /// that name.
    pub said_when: &'static str,
    /// How to make it happen.
    pub try_it: &'static str,
    /// What assay does so that it does not happen, or so that the figure is right all the same.
    pub answer: &'static str,
    /// Who decides.
    pub judge: Judge,
}

/// A judge, by what it looks at.
pub enum Judge {
    /// One flow at a time.
    Flow(fn(&Case<'_>) -> Option<Finding>),
    /// The whole phase, knowing what was found before: the same cause is said once.
    Phase(fn(&Stage<'_>, &[Finding]) -> Option<Finding>),
    /// Two runs that are to be compared.
    Pair(fn(&Record, &Record) -> Vec<Finding>),
}

/// All rules, in the order in which they are asked: what explains most comes first.
pub const RULES: &[Rule] = &[
    failed::RULE,
    wrong_content::RULE,
    partial::RULE,
    no_disk::RULE,
    zoned_or_dax::RULE,
    holes::RULE,
    trimmed_blocks::RULE,
    shared_blocks::RULE,
    compressed::RULE,
    overwritten_in_memory::RULE,
    dropped_unwritten::RULE,
    not_direct::RULE,
    bigger_than_ram::RULE,
    stdio_close::RULE,
    not_flushed::RULE,
    served_from_cache::RULE,
    not_dropped::RULE,
    cached_before::RULE,
    shared_device::RULE,
    earlier_work::RULE,
    same_disk::RULE,
    swapped::RULE,
    same_data::RULE,
    uncommitted::RULE,
    flush_swallowed::RULE,
    flush_bound::RULE,
    direct_not_durable::RULE,
    unseen::RULE,
    throttled::RULE,
    link_bound::RULE,
    waiting_for_cpu::RULE,
    hot::RULE,
    cliff::RULE,
    file_lock::RULE,
    away_from_device::RULE,
    copy_bound::RULE,
    client_bound::RULE,
    stalls::RULE,
    not_steady::RULE,
    latency_bound::RULE,
    depth_not_reached::RULE,
    omission::RULE,
    burst::RULE,
    read_ahead::RULE,
    read_beyond::RULE,
    over_fetch::RULE,
    partial_sectors::RULE,
    partial_blocks::RULE,
    misplaced_partition::RULE,
    fragments::RULE,
    first_write::RULE,
    erase_blocks::RULE,
    reading_writes::RULE,
    trimmed_meanwhile::RULE,
    layers_between::RULE,
    other_node::RULE,
    worn_out::RULE,
    unconditioned::RULE,
    works_on::RULE,
    too_short::RULE,
    unlike_runs::RULE,
    other_queue::RULE,
];

/// Fills in the verdict of every phase and of the whole run, and what its aim came to.
pub fn judge(record: &mut Record) {
    let (phases, whole) = verdicts(record);
    for (phase, verdict) in record.phases.iter_mut().zip(phases) {
        phase.verdict = Some(verdict);
    }
    record.verdict = Some(whole);
    record.outcome = match record.plan.aim {
        Some(Aim::Ramp(_)) => ramp::climb(record).map(Outcome::Ramp),
        Some(Aim::Sustain) => sustain::endurance(record).map(Outcome::Sustain),
        Some(Aim::Card) => Some(Outcome::Card(card::grading(record))),
        Some(Aim::Capacity) => Some(Outcome::Capacity(capacity::capacity(record))),
        Some(Aim::Sweep(_)) => sweep::swept(record).map(Outcome::Sweep),
        Some(Aim::Profile(_)) => profile::profiled(record).map(Outcome::Profile),
        Some(Aim::Lesson(_)) | None => None,
    };
}

/// The verdict of every phase, in their order, and that of the whole run.
pub fn verdicts(record: &Record) -> (Vec<Verdict>, Verdict) {
    let phases: Vec<Verdict> = record.phases.iter().map(|phase| of_phase(record, phase)).collect();
    let whole = whole::verdict(record, &phases);
    (phases, whole)
}

/// The verdict of one phase.
pub fn of_phase(record: &Record, phase: &PhaseRecord) -> Verdict {
    let stage = Stage::new(record, phase);
    let mut found: Vec<Finding> = vec![];
    for rule in RULES {
        let new: Vec<Finding> = match rule.judge {
            Judge::Flow(judge) => {
                let judged = |case| judge(case).map(|found| of_source(&stage, case, found));
                stage.cases.iter().filter_map(judged).collect()
            }
            Judge::Phase(judge) => judge(&stage, &found).into_iter().collect(),
            Judge::Pair(_) => Vec::new(),
        };
        for finding in new {
            let known = |f: &Finding| f.trap == finding.trap && f.claim == finding.claim;
            if !found.iter().any(known) {
                found.push(finding);
            }
        }
    }
    found.sort_by_key(rank);
    let (trust, measures) = mapped(&found);
    let corrected = match trust {
        Trust::Wrong => correction(&stage, &found),
        Trust::Doubtful => lasting(&stage, &found),
        Trust::Sound | Trust::Unproven => None,
    };
    let summary = summary(&stage, trust, measures, &found, corrected);
    Verdict { trust, measures, summary, corrected, findings: found }
}

/// What speaks against comparing two sides.
#[derive(Clone, Debug)]
pub struct Unlike {
    /// What was found, the worst first; notes forbid nothing.
    pub findings: Vec<Finding>,
    /// Nothing forbids to compare the runs as such.
    pub runs: bool,
    /// Phases whose figures are not to be compared, and the worst that is thought of them.
    pub figures: BTreeMap<String, Trust>,
}

/// What speaks against comparing the figures of two sides, of one run or several each.
pub fn unlike(first: &[&Record], second: &[&Record]) -> Unlike {
    let mut findings = of_runs(first, second);
    let runs = findings.iter().all(|finding| finding.weight == Weight::Note);
    let mut figures = BTreeMap::new();
    for (which, side) in [("first", first), ("second", second)] {
        let suspects = unlike_runs::suspects(side);
        findings.extend(unlike_runs::told_of(side, which, &suspects));
        for suspect in suspects {
            let worst = figures.entry(suspect.phase).or_insert(Trust::Sound);
            *worst = suspect.worst.trust.max(*worst);
        }
    }
    findings.sort_by_key(rank);
    Unlike { findings, runs, figures }
}

/// What speaks against comparing the runs, whatever their figures.
fn of_runs(first: &[&Record], second: &[&Record]) -> Vec<Finding> {
    let (Some((one, others)), Some((other, more))) = (first.split_first(), second.split_first())
    else {
        return Vec::new();
    };
    let mut found = pair(one, other);
    for (which, base, side) in [("first", one, others), ("second", other, more)] {
        for (number, record) in side.iter().enumerate() {
            let within = pair(base, record).into_iter().filter(|said| said.weight > Weight::Note);
            found.extend(within.map(|said| Finding {
                claim: format!("Runs 1 and {} of the {which}: {}", number + 2, said.claim),
                ..said
            }));
        }
    }
    found.extend(unlike_runs::cut(first, "first"));
    found.extend(unlike_runs::cut(second, "second"));
    found
}

/// What the rules for pairs say of two records.
fn pair(first: &Record, second: &Record) -> Vec<Finding> {
    let judged = |rule: &Rule| match rule.judge {
        Judge::Pair(judge) => judge(first, second),
        Judge::Flow(_) | Judge::Phase(_) => Vec::new(),
    };
    RULES.iter().flat_map(judged).collect()
}

/// In a copy to a device the source only has to keep up: where its data came from without its
/// disk, that is good to know, and the figure is of the end that is written.
fn of_source(stage: &Stage<'_>, case: &Case<'_>, found: Finding) -> Finding {
    let about_reading = [
        holes::RULE.id,
        trimmed_blocks::RULE.id,
        compressed::RULE.id,
        not_direct::RULE.id,
        served_from_cache::RULE.id,
        not_dropped::RULE.id,
        cached_before::RULE.id,
    ];
    let written = stage.cases.iter().find(|other| other.writes() && other.on_devices());
    match written {
        Some(end)
            if case.reads() && stage.copies() && about_reading.contains(&found.trap.0.as_str()) =>
        {
            let source = &case.subject.path;
            let claim = format!(
                "Not all of {source} came from its disk: the figure is of the end that was written, {}.",
                end.named()
            );
            Finding { weight: Weight::Note, measures: None, claim, next: None, ..found }
        }
        _ => found,
    }
}

/// The worst first: by weight, then by what the number is about, then by number.
fn rank(finding: &Finding) -> (std::cmp::Reverse<(Weight, Option<Measures>)>, TrapId) {
    (std::cmp::Reverse((finding.weight, finding.measures)), finding.trap.clone())
}

/// What the findings make of trust and of what the number is about. Missing evidence does not
/// change what a refutation has shown.
fn mapped(found: &[Finding]) -> (Trust, Measures) {
    let worst = found.iter().map(|finding| finding.weight).max().unwrap_or(Weight::Note);
    let trust = match worst {
        Weight::Note => Trust::Sound,
        Weight::Doubt => Trust::Doubtful,
        Weight::Unproven => Trust::Unproven,
        Weight::Refute => Trust::Wrong,
    };
    let measures = found
        .iter()
        .filter(|finding| worst != Weight::Refute || finding.weight != Weight::Unproven)
        .filter_map(|finding| finding.measures)
        .max()
        .unwrap_or(Measures::Device);
    (trust, measures)
}

/// The figure that does describe the device, of the flow in which most was left behind.
fn correction(stage: &Stage<'_>, found: &[Finding]) -> Option<crate::stats::Estimate> {
    if found.iter().any(|f| f.measures == Some(Measures::Invalid) && f.weight == Weight::Refute) {
        return None;
    }
    let deferred = stage.cases.iter().filter_map(Case::deferral).find_map(|left| left.corrected);
    let mixed = found.iter().any(|f| f.measures == Some(Measures::Mixed));
    let trimmed = || stage.cases.iter().find_map(trimmed_blocks::device_part);
    deferred.or_else(trimmed).or_else(|| {
        mixed.then(|| stage.cases.iter().find_map(served_from_cache::device_part)).flatten()
    })
}

/// The rate after a fall, when that is what makes the figure doubtful.
fn lasting(stage: &Stage<'_>, found: &[Finding]) -> Option<crate::stats::Estimate> {
    let fell = |f: &Finding| f.trap.0 == cliff::RULE.id && f.weight == Weight::Doubt;
    found.iter().any(fell).then(|| cliff::sustained(stage)).flatten()
}

fn summary(
    stage: &Stage<'_>,
    trust: Trust,
    measures: Measures,
    found: &[Finding],
    corrected: Option<crate::stats::Estimate>,
) -> String {
    let leading = found.iter().find(|f| f.measures == Some(measures)).or(found.first());
    let first = match (trust, leading) {
        (Trust::Sound, Some(finding)) if finding.measures.is_some() => finding.claim.clone(),
        (Trust::Sound, _) => sound(stage),
        (_, Some(finding)) => finding.claim.clone(),
        (_, None) => sound(stage),
    };
    let second = match corrected {
        Some(figure) if stage.cases.iter().any(|case| case.deferral().is_some()) => {
            let slope = stage.cases.iter().filter_map(Case::deferral).any(|left| left.by_slope);
            let pace = words::pace(figure.value);
            if slope {
                format!(" The flush, which did not end while it was watched, went at {pace}.")
            } else {
                format!(" With the flush the disk did {pace}.")
            }
        }
        // The claim tells both rates.
        Some(_) if trust == Trust::Doubtful => String::new(),
        Some(figure) => {
            format!(" What did come from the disk came at {}.", words::pace(figure.value))
        }
        None if trust == Trust::Sound => aside(found),
        None => String::new(),
    };
    format!("{first}{second}")
}

/// What is worth saying beside a figure that may be believed, each with a space before it.
fn aside(found: &[Finding]) -> String {
    asides(found).map(|f| format!(" {}", words::sentence(&f.claim))).collect()
}

/// The findings that are worth saying beside a figure that may be believed.
fn asides(found: &[Finding]) -> impl Iterator<Item = &Finding> {
    found.iter().filter(|f| {
        [flush_bound::RULE.id, waiting_for_cpu::RULE.id].contains(&&*f.trap.0)
            || f.claim.starts_with(same_disk::CLAIM)
    })
}

/// What is said of a number that nothing speaks against.
fn sound(stage: &Stage<'_>) -> String {
    let judged = stage.cases.iter().filter(|case| case.on_devices());
    let mut parts: Vec<String> = vec![];
    for case in judged {
        let name = case.named();
        let through = case.reach().is_some_and(|(reach, _)| reach >= threshold::REACHED);
        let part = if case.reads() {
            if !through {
                continue;
            }
            format!("all bytes came from {name}")
        } else if case.flow.durability.durable() {
            format!("all bytes had reached {name}, flushed, when the clock stopped")
        } else {
            format!("all bytes had reached {name} when the clock stopped")
        };
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    match parts.as_slice() {
        [] => "Nothing speaks against this figure.".into(),
        parts => format!("This is the speed of the device: {}.", parts.join(", and ")),
    }
}

/// A finding, in one line.
fn finding(
    trap: &str,
    weight: Weight,
    measures: Option<Measures>,
    claim: impl Into<String>,
    because: Vec<Exhibit>,
    next: Option<Next>,
) -> Finding {
    Finding { trap: TrapId(trap.into()), weight, measures, claim: claim.into(), because, next }
}

/// Whether something found before already says that the device is not what was measured.
fn refuted(found: &[Finding]) -> bool {
    found.iter().any(|finding| finding.weight == Weight::Refute)
}

/// Whether something found before already says why the device had less to do than was planned.
fn explained(found: &[Finding]) -> bool {
    use Measures::{Disturbed, Limited, Tool, Unsteady};
    let explains = |f: &Finding| matches!(f.measures, Some(Limited | Tool | Disturbed | Unsteady));
    found.iter().any(explains)
}

/// Whether both ends, or all of them, are no storage at all.
fn no_storage(stage: &Stage<'_>) -> bool {
    !stage.cases.is_empty()
        && stage.cases.iter().all(|case| matches!(case.subject.bottom, Bottom::Nothing(_)))
}

#[cfg(test)]
pub(crate) mod bench;
#[cfg(test)]
mod tests;
