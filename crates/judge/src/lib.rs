//! The judges: may a number be believed, what is it about, how is that known, what to type next.
//!
//! Pure functions of a [`Record`]: an old record can be judged by newer rules, and a rule can be
//! tried on a record that somebody mailed in. One trap of the catalogue per file; [`RULES`] lists
//! them; every threshold stands in [`threshold`].
//!
//! The counters of the lowest device that can be read are the judge; everything else explains
//! them. Without that evidence nothing is called sound.
#![deny(unsafe_code)]

// The list of studies: words that are expanded here.
#[macro_use]
extern crate assay_plan;

mod advice;
mod away_from_device;
mod bigger_than_ram;
mod burst;
mod cached_before;
pub mod capacity;
pub mod card;
pub mod catalogue;
mod changed_with;
mod client_bound;
mod cliff;
mod command;
mod compressed;
mod copy_bound;
mod depth_not_reached;
mod differences;
mod direct_not_durable;
mod dropped_unwritten;
mod earlier_work;
mod erase_blocks;
mod facts;
mod failed;
mod file_lock;
mod first_write;
mod flush_bound;
mod flush_swallowed;
mod fragments;
mod grid;
mod holes;
mod host_cache;
mod hot;
mod judging;
mod latency_bound;
mod layers_between;
pub mod leading;
mod leave;
mod ledger;
mod left_behind;
pub mod lesson;
mod levels_changed;
mod limits;
mod link_bound;
mod load;
pub mod measure;
mod misplaced_partition;
pub mod modes;
mod neighbours;
mod no_disk;
mod not_direct;
mod not_dropped;
mod not_flushed;
mod not_steady;
mod omission;
pub mod operands;
mod other_end;
mod other_node;
mod other_queue;
mod over_fetch;
mod overwritten_in_memory;
mod own;
mod partial;
mod partial_blocks;
mod partial_sectors;
pub mod predict;
pub mod profile;
pub mod ramp;
mod rate_series;
mod read_ahead;
mod read_beyond;
mod read_by_others;
mod reading_writes;
mod rule;
mod rules;
mod same_data;
mod same_disk;
mod served_from_cache;
mod shared_blocks;
mod shared_device;
mod stalls;
mod stdio_close;
mod stopped;
mod study;
mod suspects;
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
mod unexplained;
mod unlike_runs;
mod unseen;
mod waiting_for_cpu;
mod waiting_for_memory;
mod whole;
pub mod words;
mod works_on;
mod worn_out;
mod wrong_content;
mod zoned_or_dax;

pub use judging::{judge, judge_last, verdicts};
pub use not_steady::stopped_before_steady;
pub use rule::{Rule, RuleJudge};
use rule::{disturbed, explained, finding, no_storage, note, rank, refuted};
pub(crate) use rules::mapped;
pub use rules::{RULES, of_phase};
use rules::{asides, pair};
pub use study::{StudyJudge, paced, wanted};
pub use works_on::slower;

use std::collections::BTreeMap;

use assay_record::claim::{Claim, CompareClaim, ComparedSide};
use assay_record::record::{Finding, FindingWeight, Record, Trust};

/// What speaks against comparing two sides.
#[derive(Clone, Debug)]
pub struct UnlikeRule {
    /// What was found, the worst first; notes forbid nothing.
    pub findings: Vec<Finding>,
    /// Nothing forbids to compare the runs as such.
    pub runs: bool,
    /// Phases whose figures are not to be compared, and the worst that is thought of them.
    pub figures: BTreeMap<String, Trust>,
    /// Runs that the figures of their side do without.
    left_out: Vec<RunLeftOut>,
}

/// A run that does not speak for its side.
#[derive(Clone, Debug)]
struct RunLeftOut {
    side: ComparedSide,
    /// From 0.
    run: usize,
    /// The one phase in which it does not; none: in all.
    phase: Option<String>,
}

impl UnlikeRule {
    /// Whether the figures of a side do without those of a run, from 0, in a phase.
    pub fn leaves_out(&self, side: ComparedSide, run: usize, phase: &str) -> bool {
        self.left_out.iter().any(|left| {
            let of_phase = left.phase.as_deref().is_none_or(|name| name == phase);
            (left.side, left.run) == (side, run) && of_phase
        })
    }
}

/// What speaks against comparing the figures of two sides, of one run or several each.
pub fn unlike(first: &[&Record], second: &[&Record]) -> UnlikeRule {
    let mut findings = of_runs(first, second);
    let runs = findings.iter().all(|finding| finding.weight == FindingWeight::Note);
    let (mut figures, mut left_out) = (BTreeMap::new(), Vec::new());
    for (which, side) in [(ComparedSide::First, first), (ComparedSide::Second, second)] {
        let suspects = suspects::suspects(side);
        findings.extend(suspects::told_of(side, which, &suspects));
        let cut = suspects::cut(side);
        if suspects::fewer(&cut, side) {
            left_out.extend(cut.into_iter().map(|run| RunLeftOut {
                side: which,
                run,
                phase: None,
            }));
        }
        for suspect in suspects {
            if suspects::fewer(&suspect.runs, side) {
                let of_phase =
                    |run| RunLeftOut { side: which, run, phase: Some(suspect.phase.clone()) };
                left_out.extend(suspect.runs.iter().copied().map(of_phase));
                continue;
            }
            let worst = figures.entry(suspect.phase).or_insert(Trust::Sound);
            *worst = suspect.worst.trust.max(*worst);
        }
    }
    findings.sort_by_key(rank);
    UnlikeRule { findings, runs, figures, left_out }
}

/// What speaks against comparing the runs, whatever their figures.
fn of_runs(first: &[&Record], second: &[&Record]) -> Vec<Finding> {
    let (Some((one, others)), Some((other, more))) = (first.split_first(), second.split_first())
    else {
        return Vec::new();
    };
    let mut found = pair(one, other);
    for (which, base, records) in
        [(ComparedSide::First, one, others), (ComparedSide::Second, other, more)]
    {
        for (number, record) in records.iter().enumerate() {
            let within = pair(base, record).into_iter().filter_map(|said| {
                let weight = match &said.claim {
                    Claim::Compare(CompareClaim::Differ { what, .. })
                        if unlike_runs::surrounds(*what) =>
                    {
                        FindingWeight::Doubt
                    }
                    _ => said.weight,
                };
                let (side, run) = (which, number + 2);
                let claim = CompareClaim::WithinSide { side, run, claim: Box::new(said.claim) };
                (weight > FindingWeight::Note).then(|| Finding {
                    claim: claim.into(),
                    weight,
                    ..said
                })
            });
            found.extend(within);
        }
    }
    for (which, side) in [(ComparedSide::First, first), (ComparedSide::Second, second)] {
        found.extend(suspects::told_cut(side, which, &suspects::cut(side)));
    }
    found
}

#[cfg(test)]
mod bench;
#[cfg(test)]
mod tests;
