//! All rules, and what they make of a phase.

use super::measure::{FlowView, PhaseView};
use super::rule::{Rule, RuleJudge, rank};
use super::{
    away_from_device, bigger_than_ram, burst, cached_before, client_bound, cliff, compressed,
    copy_bound, depth_not_reached, direct_not_durable, dropped_unwritten, earlier_work,
    erase_blocks, failed, file_lock, first_write, flush_bound, flush_swallowed, fragments, holes,
    host_cache, hot, latency_bound, layers_between, ledger, levels_changed, limits, link_bound,
    misplaced_partition, no_disk, not_direct, not_dropped, not_flushed, not_steady, omission,
    other_end, other_node, other_queue, over_fetch, overwritten_in_memory, partial, partial_blocks,
    partial_sectors, read_ahead, read_beyond, read_by_others, reading_writes, same_data, same_disk,
    served_from_cache, shared_blocks, shared_device, stalls, stdio_close, stopped, swapped,
    threshold, throttled, too_short, trimmed_blocks, trimmed_meanwhile, uncommitted, unconditioned,
    unexplained, unlike_runs, unseen, waiting_for_cpu, waiting_for_memory, words, works_on,
    worn_out, wrong_content, zoned_or_dax,
};
use assay_plan::unit::Bandwidth;
use assay_record::claim::{Claim, DataArrival, FlushClaim, LayerClaim, MemoryClaim, SummaryClaim};
use assay_record::record::{
    Finding, FindingWeight, MeasuredSubject, NextStep, PhaseLedger, PhaseRecord, Record,
    TimeBalance, TimeHolder, Trust, Verdict,
};

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
    read_by_others::RULE,
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
    waiting_for_memory::RULE,
    hot::RULE,
    stopped::RULE,
    other_end::RULE,
    cliff::RULE,
    file_lock::RULE,
    away_from_device::RULE,
    copy_bound::RULE,
    client_bound::RULE,
    stalls::RULE,
    not_steady::RULE,
    levels_changed::RULE,
    unexplained::RULE,
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
    host_cache::RULE,
    other_queue::RULE,
];

pub fn of_phase(record: &Record, phase: &PhaseRecord) -> Verdict {
    balanced(record, phase).0
}

/// The verdict of one phase, and the balance that its rules have read.
pub(super) fn balanced(record: &Record, phase: &PhaseRecord) -> (Verdict, PhaseLedger) {
    let phase_view = PhaseView::new(record, phase);
    let ledger = ledger::of_phase(&phase_view);
    let mut found: Vec<Finding> = vec![];
    for rule in RULES {
        let new: Vec<Finding> = match rule.judge {
            RuleJudge::Flow(judge) => {
                let judged = |flow_view| {
                    let found = judge(flow_view)?;
                    let found = of_source(&phase_view, flow_view, found);
                    Some(beside_limit(flow_view, &ledger, found))
                };
                phase_view.cases.iter().filter_map(judged).collect()
            }
            RuleJudge::Phase(judge) => judge(&phase_view, &found).into_iter().collect(),
            RuleJudge::Ledger(judge) => judge(&phase_view, &ledger, &found).into_iter().collect(),
            RuleJudge::Pair(_) => Vec::new(),
        };
        for finding in new {
            let known = |f: &Finding| f.trap == finding.trap && f.claim == finding.claim;
            if !found.iter().any(known) {
                found.push(finding);
            }
        }
    }
    // What failed fails again with whatever else would be better, and what stood still is run again first.
    let first = |f: &Finding| {
        f.trap == failed::RULE.id || f.trap == stopped::RULE.id && f.weight > FindingWeight::Note
    };
    if let Some(trap) = found.iter().find(|finding| first(finding)).map(|finding| finding.trap) {
        let others = found.iter_mut().filter(|finding| finding.trap != trap);
        others.for_each(|finding| finding.next = None);
    }
    found.sort_by_key(rank);
    let device_alone =
        found.iter().all(|f| f.weight == FindingWeight::Note && f.measures.is_none())
            && no_maximum(&phase_view, &found).is_none();
    found.extend(device_alone.then(|| same_data::zeros_that_arrived(&phase_view)).flatten());
    found.iter_mut().for_each(|finding| from_desk(record, finding));
    found.shrink_to_fit();
    let (trust, measures) = mapped(&found);
    let corrected = match trust {
        Trust::Wrong => correction(&phase_view, &ledger, &found),
        Trust::Doubtful => lasting(&phase_view, &found),
        Trust::Sound | Trust::Unproven => None,
    };
    let corrected = corrected.and_then(|found| limits::capped(&phase_view, found));
    let claims = summary(&phase_view, trust, measures, &found, corrected);
    (Verdict { trust, measures, claims, corrected, findings: found }, ledger)
}

/// What to type next is typed where the line was.
pub(super) fn from_desk(record: &Record, finding: &mut Finding) {
    finding.next = finding.next.take().and_then(|next| {
        let command = record.plan.origin.from_desk(next.command)?;
        Some(NextStep { command, ..next })
    });
}

/// What the rules for pairs say of two records.
pub(super) fn pair(first: &Record, second: &Record) -> Vec<Finding> {
    let judged = |rule: &Rule| match rule.judge {
        RuleJudge::Pair(judge) => judge(first, second),
        RuleJudge::Flow(_) | RuleJudge::Phase(_) | RuleJudge::Ledger(_) => Vec::new(),
    };
    RULES.iter().flat_map(judged).collect()
}

/// In a copy to a device the source only has to keep up: where its data came from without its
/// disk, that is good to know, and the figure is of the end that is written.
fn of_source(phase_view: &PhaseView<'_>, flow_view: &FlowView<'_>, found: Finding) -> Finding {
    let about_reading = [
        holes::RULE.id,
        trimmed_blocks::RULE.id,
        compressed::RULE.id,
        not_direct::RULE.id,
        served_from_cache::RULE.id,
        not_dropped::RULE.id,
        cached_before::RULE.id,
    ];
    let written = phase_view.cases.iter().find(|other| other.writes() && other.on_devices());
    match written {
        Some(end)
            if flow_view.reads() && phase_view.copies() && about_reading.contains(&found.trap) =>
        {
            let source = flow_view.subject.path.clone();
            let claim = MemoryClaim::SourceNotFromDisk { source, target: end.named() }.into();
            Finding { weight: FindingWeight::Note, measures: None, claim, next: None, ..found }
        }
        _ => found,
    }
}

/// What answers below a device with a limit, from memory or because nothing lies there, has not set the rate where the limit
/// did: all bytes have passed the device that is limited.
fn beside_limit(flow_view: &FlowView<'_>, ledger: &PhaseLedger, found: Finding) -> Finding {
    use MeasuredSubject::{Layer, Memory, Mixed};
    let below = matches!(found.measures, Some(Layer | Memory | Mixed));
    let holds = || {
        let (_, level) = limits::holding(flow_view)?;
        let passed = level.reach(flow_view.direction())? >= threshold::REACHED;
        let held = ledger.time.as_ref()?.share(TimeHolder::Limit) >= threshold::HELD_MOST;
        Some(passed && (held || throttled::limit(flow_view).is_some()))
    };
    if below && flow_view.reads() && holds() == Some(true) {
        return Finding { weight: FindingWeight::Note, measures: None, next: None, ..found };
    }
    found
}

/// What the findings make of trust and of what the number is about. Missing evidence does not
/// change what a refutation has shown.
pub(crate) fn mapped(found: &[Finding]) -> (Trust, MeasuredSubject) {
    let worst = found.iter().map(|finding| finding.weight).max().unwrap_or(FindingWeight::Note);
    let trust = match worst {
        FindingWeight::Note => Trust::Sound,
        FindingWeight::Doubt => Trust::Doubtful,
        FindingWeight::Unproven => Trust::Unproven,
        FindingWeight::Refute => Trust::Wrong,
    };
    let measures = found
        .iter()
        .filter(|finding| {
            worst != FindingWeight::Refute || finding.weight != FindingWeight::Unproven
        })
        .filter_map(|finding| finding.measures)
        .max()
        .unwrap_or(MeasuredSubject::Device);
    (trust, measures)
}

/// The figure that does describe the device, of the flow in which most was left behind.
fn correction(
    phase_view: &PhaseView<'_>,
    ledger: &PhaseLedger,
    found: &[Finding],
) -> Option<assay_plan::stats::Estimate> {
    if found
        .iter()
        .any(|f| f.measures == Some(MeasuredSubject::Invalid) && f.weight == FindingWeight::Refute)
    {
        return None;
    }
    let deferred =
        phase_view.cases.iter().filter_map(FlowView::deferral).find_map(|left| left.corrected);
    // What passed a device that worked for others, or for which the phase hardly waited, is no speed of it.
    let waited = |time: &TimeBalance| {
        let for_it = time.share(TimeHolder::Device) + time.share(TimeHolder::Limit);
        for_it + time.unexplained >= threshold::HELD_MOST
            && time.share(TimeHolder::OthersAtDevice) < threshold::FOREIGN
    };
    let mixed = found.iter().any(|f| f.measures == Some(MeasuredSubject::Mixed))
        && ledger.time.as_ref().is_none_or(waited);
    let trimmed = || phase_view.cases.iter().find_map(trimmed_blocks::device_part);
    deferred.or_else(trimmed).or_else(|| {
        mixed.then(|| phase_view.cases.iter().find_map(served_from_cache::device_part)).flatten()
    })
}

/// What lasts, when that it is another rate is what makes the figure doubtful: the one after a fall, or a limit's.
fn lasting(phase_view: &PhaseView<'_>, found: &[Finding]) -> Option<assay_plan::stats::Estimate> {
    let doubts = |trap| found.iter().any(|f| f.trap == trap && f.weight == FindingWeight::Doubt);
    let fell = doubts(cliff::RULE.id).then(|| cliff::sustained(phase_view)).flatten();
    fell.or_else(|| {
        let held = || phase_view.cases.iter().find_map(limits::above);
        doubts(throttled::RULE.id).then(held).flatten().map(|(.., lasts)| lasts)
    })
}

/// What is said of the phase, in its order: what the figure is about, what it would be, and what stands aside.
fn summary(
    phase_view: &PhaseView<'_>,
    trust: Trust,
    measures: MeasuredSubject,
    found: &[Finding],
    corrected: Option<assay_plan::stats::Estimate>,
) -> Vec<Claim> {
    // What speaks against a figure comes before what it is otherwise: the worst finding stands first.
    let worst = found.first().filter(|first| first.weight > FindingWeight::Note);
    let about = |f: &&Finding| f.measures == Some(measures);
    let leading = match worst {
        Some(first) => found.iter().filter(|f| f.weight == first.weight).find(about).or(worst),
        None => found.iter().find(about).or(found.first()),
    };
    let mut claims = match leading {
        Some(finding) if trust != Trust::Sound || finding.measures.is_some() => {
            vec![finding.claim.clone()]
        }
        _ => sound(phase_view, found),
    };
    match corrected {
        Some(figure) => {
            let pace = Bandwidth(figure.value);
            let left: Vec<_> = phase_view.cases.iter().filter_map(FlowView::deferral).collect();
            let said = match left.iter().any(|left| left.by_slope) {
                true => Some(SummaryClaim::FlushRanOn { pace }),
                false if !left.is_empty() => Some(SummaryClaim::WithFlush { pace }),
                // The claim tells both rates.
                false if trust == Trust::Doubtful => None,
                false => Some(SummaryClaim::PartFromDisk { pace }),
            };
            claims.extend(said.map(Claim::from));
        }
        None if trust == Trust::Sound => {
            claims.extend(asides(found).map(|f| f.claim.clone()));
            // Who reads a limit beside half of it wants to know why first.
            claims.sort_by_key(|claim| {
                use FlushClaim::{WrittenMore, WrittenTwice};
                let more = matches!(claim, Claim::Flush(WrittenTwice { .. } | WrittenMore { .. }));
                !more && !is_few(claim)
            });
        }
        None => {}
    }
    if trust != Trust::Sound {
        claims.extend(found.iter().map(|f| &f.claim).filter(|claim| is_few(claim)).cloned());
        claims.dedup();
    }
    claims
}

/// Of several devices only some did the work.
fn is_few(claim: &Claim) -> bool {
    matches!(claim, Claim::Layer(LayerClaim::FewMembers { .. }))
}

/// The findings that are worth saying beside a figure that may be believed.
pub(super) fn asides(found: &[Finding]) -> impl Iterator<Item = &Finding> {
    found.iter().filter(|f| {
        [same_data::RULE.id, flush_bound::RULE.id, waiting_for_cpu::RULE.id, same_disk::RULE.id]
            .contains(&f.trap)
            || f.claim.is_of_more_work()
            || is_few(&f.claim)
    })
}

/// What is said of a number that nothing speaks against. A device that was idle for most of the time
/// did not set the rate, whatever did.
fn sound(phase_view: &PhaseView<'_>, found: &[Finding]) -> Vec<Claim> {
    let judged = phase_view.cases.iter().filter(|flow_view| flow_view.on_devices());
    let mut parts: Vec<DataArrival> = vec![];
    for flow_view in judged {
        let device = flow_view.named();
        let through = flow_view.reach().is_some_and(|(reach, _)| reach >= threshold::REACHED);
        let part = match flow_view.reads() {
            true if !through => continue,
            true => DataArrival::From { device },
            false if flow_view.flow.durability.durable() => DataArrival::Flushed { device },
            false => DataArrival::At { device },
        };
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    let both =
        |first, second| DataArrival::Both { first: Box::new(first), second: Box::new(second) };
    let Some(arrived) = parts.into_iter().reduce(both) else {
        return vec![SummaryClaim::NothingFound.into()];
    };
    match no_maximum(phase_view, found) {
        Some(why) => vec![SummaryClaim::Arrived { arrived }.into(), why],
        None => vec![match served(phase_view) {
            Some((device, on)) => SummaryClaim::SpeedOfServedFile { arrived, device, on }.into(),
            None => SummaryClaim::SpeedOfDevice { arrived }.into(),
        }],
    }
}

/// A device whose file a program serves, and on what.
fn served(phase_view: &PhaseView<'_>) -> Option<(String, String)> {
    let stacks = phase_view.cases.iter().filter(|flow_view| flow_view.on_devices());
    let mut layers = stacks.flat_map(|flow_view| &flow_view.subject.stack);
    layers.find_map(|layer| Some((layer.name.clone(), layer.served()?.into())))
}

/// Why the figure is not the most that the device can do, where the device had time left.
fn no_maximum(phase_view: &PhaseView<'_>, found: &[Finding]) -> Option<Claim> {
    let said = [latency_bound::RULE.id, depth_not_reached::RULE.id];
    if let Some(known) = found.iter().find(|f| said.contains(&f.trap)) {
        return Some(known.claim.clone());
    }
    let seen = |flow_view: &&FlowView<'_>| flow_view.on_devices() && flow_view.top().is_some();
    let flow_view = phase_view.cases.iter().find(seen)?;
    let work = phase_view.work();
    (work < threshold::IDLE && flow_view.time() >= threshold::SHORT).then(|| {
        SummaryClaim::NotPeak { device: flow_view.named(), busy: words::share(work) }.into()
    })
}
