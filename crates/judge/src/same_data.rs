//! T28: storage that keeps the same data once writes them faster than fresh ones.
//! What a drive itself does with zeros no counter shows: that they were zeros is said.

use super::measure::{FlowView, PhaseView};
use super::threshold::SAME_FASTER;
use super::words::pace;
use super::{Rule, RuleJudge, advice, compressed, finding, note, refuted};
use assay_plan::plan::{Action, BlockWork, Fill, Phase, Work};
use assay_record::claim::{CopiedData, ExhibitOf, ExhibitSource, ExhibitValue, LayerClaim, Values};
use assay_record::record::{
    Exhibit, Finding, FindingWeight, MeasuredSubject, PhaseRecord, Record, TrapId,
};

/// Of phases that write alike in turns, fresh data and data that repeat, each of the second kind was
/// faster than all of the first.
pub const RULE: Rule = Rule {
    id: TrapId::T28,
    title: "Deduplicating storage",
    happens: "Thin or deduplicating storage stores identical data once; the guest cannot see it.",
    seen_by: "The rates of phases that differ only in their data, unique and repeated, in turn.",
    said_when: "At least two of each, one with unique data after one with repeated data, and every phase with repeated data at least {SAME_FASTER} faster than all with unique data: wrong, layer, for repeated data. Zeros alone, where nothing but the device set the rate: a note.",
    try_it: "`assay run docs/plans/same-data.json` in a folder on that storage: four phases that differ only in their fill, in turn `random` and `compressible` with `dedupe_percent` 99.",
    answer: "Own data never repeats, in a run or in the next one, unless the plan says so.",
    judge: RuleJudge::Phase(judge),
};

/// What a phase writes, when that is all it does, and to one target.
fn writes(phase: &Phase) -> Option<&BlockWork> {
    match phase.jobs.as_slice() {
        [job] => match &job.work {
            Work::Blocks(blocks) if blocks.pattern.mix.sends() => {
                (!blocks.pattern.mix.has(Action::Read)).then_some(blocks)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Whether storage may have the data of this fill already.
fn repeats(fill: &Fill) -> bool {
    match fill {
        Fill::Random | Fill::Once { scrambled: true } | Fill::Headed(_) => false,
        Fill::Compressible { dedupe_percent, .. } => *dedupe_percent > 0,
        Fill::Zero | Fill::Repeat(_) | Fill::File(_) | Fill::Alike(_) | Fill::Once { .. } => true,
    }
}

/// The phase with fresh data: two phases that are the same then differ in their data alone.
fn freshened(phase: &Phase) -> Phase {
    let mut fresh = Phase { name: String::new(), ..phase.clone() };
    for job in &mut fresh.jobs {
        job.name = String::new();
        if let Work::Blocks(blocks) = &mut job.work {
            blocks.pattern.fill = Fill::Random;
        }
    }
    fresh
}

/// A phase that is like the one that is judged: whether its data repeat, and its rate.
struct LikePhase {
    repeats: bool,
    rate: f64,
}

/// All phases that are like this one, itself included, in their order.
fn alike(record: &Record, phase: &Phase) -> Vec<LikePhase> {
    let model = freshened(phase);
    let like = |done: &PhaseRecord| {
        let planned = record.planned(done)?;
        let blocks = writes(planned)?;
        let rate = done.totals.get(&Action::Write)?.bandwidth?.0;
        let like = LikePhase { repeats: repeats(&blocks.pattern.fill), rate };
        (freshened(planned) == model).then_some(like)
    };
    record.phases.iter().filter_map(like).collect()
}

fn judge(phase_view: &PhaseView<'_>, found: &[Finding]) -> Option<Finding> {
    let planned = phase_view.planned()?;
    let repeated = repeats(&writes(planned)?.pattern.fill);
    if !repeated || refuted(found) {
        return None;
    }
    // A run has thousands of phases, and most have one kind of data: that the plan tells.
    let has_two = |kind: bool| {
        let works = phase_view.record.plan.phases.iter().filter_map(writes);
        works.filter(|work| repeats(&work.pattern.fill) == kind).nth(1).is_some()
    };
    if !has_two(true) || !has_two(false) {
        return None;
    }
    let all = alike(phase_view.record, planned);
    let of = |repeats: bool| all.iter().filter(move |like| like.repeats == repeats);
    let first = all.iter().position(|like| like.repeats)?;
    let in_turns = all[first..].iter().any(|like| !like.repeats);
    if of(true).count() < 2 || of(false).count() < 2 || !in_turns {
        return None;
    }
    let slowest = of(true).map(|like| like.rate).fold(f64::INFINITY, f64::min);
    let fastest = of(false).map(|like| like.rate).fold(0.0, f64::max);
    if slowest < fastest * SAME_FASTER {
        return None;
    }
    let rates = |repeats: bool| {
        ExhibitValue::Paces(Values(of(repeats).map(|like| pace(like.rate)).collect()))
    };
    Some(finding(
        RULE.id,
        FindingWeight::Refute,
        Some(MeasuredSubject::Layer),
        LayerClaim::Deduplicates { repeated: pace(slowest), unique: pace(fastest) },
        vec![
            Exhibit::new(ExhibitOf::RatesOfUniqueData, rates(false), ExhibitSource::RunPhases),
            Exhibit::new(ExhibitOf::RatesOfRepeatedData, rates(true), ExhibitSource::RunPhases),
        ],
        phase_view.cases.iter().find_map(advice::own_data),
    ))
}

/// Only zeros were written, as fast as the device took them: of other data that may not be true.
pub(super) fn zeros_that_arrived(phase_view: &PhaseView<'_>) -> Option<Finding> {
    let mut written = phase_view.cases.iter().filter(|case| case.writes() && case.on_devices());
    let flow_view = written.find(|flow_view| only_zeros(flow_view))?;
    Some(note(RULE.id, LayerClaim::ZerosMayShrink, vec![], advice::own_data(flow_view)))
}

/// Each job of the phase that writes writes zeros.
fn only_zeros(flow_view: &FlowView<'_>) -> bool {
    let data = |work: &Work| match work {
        Work::Blocks(blocks) if blocks.pattern.mix.sends() => {
            Some(blocks.pattern.fill == Fill::Zero)
        }
        Work::Blocks(_) => None,
        Work::Copy(copy) => Some(compressed::copied(copy) == CopiedData::Zeros),
        Work::Tree(_) => Some(false),
    };
    let jobs = flow_view.record.planned_jobs(flow_view.phase);
    let mut written = jobs.iter().filter_map(|job| data(&job.work)).peekable();
    written.peek().is_some() && written.all(|zeros| zeros)
}

#[cfg(test)]
mod tests {
    use crate::bench::{DoctoredRecord, FRESH, SAME};
    use assay_record::record::{Record, TrapId};

    fn told(record: &Record) -> Vec<bool> {
        let of = |phase| crate::of_phase(record, phase).findings;
        record.phases.iter().map(|p| of(p).iter().any(|f| f.trap == TrapId::T28)).collect()
    }

    #[test]
    fn what_repeats_is_told_where_it_is_faster_each_time() {
        let record =
            DoctoredRecord::in_turns(&[(FRESH, 4.0), (SAME, 6.0), (FRESH, 4.2), (SAME, 7.0)])
                .record;
        assert_eq!(told(&record), [false, true, false, true]);
    }

    #[test]
    fn a_rate_that_only_changes_with_time_is_no_proof() {
        for rates in [[4.0, 5.0, 6.0, 7.5], [8.0, 6.0, 4.0, 3.0], [4.0, 4.4, 4.1, 4.5]] {
            let [a, b, c, d] = rates;
            let record =
                DoctoredRecord::in_turns(&[(FRESH, a), (SAME, b), (FRESH, c), (SAME, d)]).record;
            assert_eq!(told(&record), [false; 4], "{rates:?}");
        }
        // Not in turns: overwriting may be what is faster.
        let record =
            DoctoredRecord::in_turns(&[(FRESH, 4.0), (FRESH, 4.0), (SAME, 8.0), (SAME, 8.0)])
                .record;
        assert_eq!(told(&record), [false; 4]);
    }
}
