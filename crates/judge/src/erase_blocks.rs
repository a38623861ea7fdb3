//! T45: a card is written in erase blocks, and not everywhere as fast.

use super::facts::erase_block;
use super::measure::{FlowView, PhaseView};
use super::threshold::{LARGE_WRITE, PLACES, PLACES_DIFFER, SCATTERED, SMALL_WRITE};
use super::words::{pace, share};
use super::{Rule, RuleJudge, disturbed, note, refuted};
use assay_plan::plan::{Action, BlockWork, Job, Pattern, Phase, Region, Work};
use assay_plan::unit::Bytes;
use assay_record::claim::{ExhibitOf, ExhibitSource, ExhibitValue, PlaceClaim, Values};
use assay_record::evidence::{BlockLayer, Direction};
use assay_record::record::{
    Ending, Exhibit, Finding, Flow, MeasuredSubject, PhaseRecord, Record, TrapId,
};

/// Scattered small writes to a card are a hundred times slower than those in order; or the same work
/// at several places of a device has several rates.
pub const RULE: Rule = Rule {
    id: TrapId::T45,
    title: "Erase blocks of cards",
    happens: "Small writes make a card read, erase and rewrite whole erase blocks.",
    seen_by: "Rates of random and of sequential writes to the same card in one run, and its preferred_erase_size; rates of the same phase at several offsets.",
    said_when: "Random writes of {SMALL_WRITE} or less reach less than {SCATTERED} of the throughput of sequential ones: a note. The same phase at {PLACES} offsets or more, whose rates differ by more than {PLACES_DIFFER}: a note.",
    try_it: "`assay quick` on an SD card; a plan of three equal phases with regions at 0, in the middle and near the end.",
    answer: "Measures both kinds of writes and says which one a figure is.",
    judge: RuleJudge::Phase(judge),
};

fn judge(phase_view: &PhaseView<'_>, found: &[Finding]) -> Option<Finding> {
    let limited = |f: &Finding| f.measures == Some(MeasuredSubject::Limited);
    if refuted(found) || disturbed(found) || found.iter().any(limited) || phase_view.paced() {
        return None;
    }
    scattered(phase_view).or_else(|| by_place(phase_view))
}

fn scattered(phase_view: &PhaseView<'_>) -> Option<Finding> {
    let flow =
        written(phase_view.phase).filter(|flow| !flow.sequential && flow.block <= SMALL_WRITE)?;
    let layer = card(phase_view.record, flow)?;
    let ordered = |phase: &&PhaseRecord| {
        written(phase).is_some_and(|other| {
            let same = card(phase_view.record, other).is_some_and(|card| card.name == layer.name);
            same && other.sequential && other.block >= LARGE_WRITE
        })
    };
    let other = phase_view.record.phases.iter().find(ordered)?;
    let (slow, fast) = (rate(phase_view.phase)?, rate(other)?);
    if slow >= fast * SCATTERED {
        return None;
    }
    let mut because = vec![Exhibit::new(
        ExhibitOf::Throughputs { phase: phase_view.phase.name.clone(), other: other.name.clone() },
        ExhibitValue::Paces(Values(vec![pace(slow), pace(fast)])),
        ExhibitSource::RunClockAndCounts,
    )];
    because.extend(erase_block(layer).map(|(_, shown)| shown));
    Some(note(
        RULE.id,
        PlaceClaim::Scattered { block: flow.block, reached: share(slow / fast) },
        because,
        None,
    ))
}

/// The only writes of a phase that does nothing else.
fn written(phase: &PhaseRecord) -> Option<&Flow> {
    match phase.flows.as_slice() {
        [flow] if flow.direction == Direction::Write => Some(flow),
        _ => None,
    }
}

/// The card below a flow.
fn card<'a>(record: &'a Record, flow: &Flow) -> Option<&'a BlockLayer> {
    let subject = record.resolved.subjects.get(flow.subject)?;
    subject.stack.iter().find(|layer| layer.hardware.card.is_some())
}

/// Bytes per second of a phase that does one thing.
fn rate(phase: &PhaseRecord) -> Option<f64> {
    let moving = |action: &Action| matches!(action, Action::Read | Action::Write);
    let mut rates = phase.totals.iter().filter(|(action, _)| moving(action));
    let (_, total) = rates.next()?;
    if rates.next().is_some() {
        return None;
    }
    total.bandwidth.map(|rate| rate.0).filter(|rate| *rate > 0.0)
}

/// The last of some phases that are one another's equal but for where they work, if their rates differ.
fn by_place(phase_view: &PhaseView<'_>) -> Option<Finding> {
    if !phase_view.cases.iter().any(FlowView::on_devices) {
        return None;
    }
    let record = phase_view.record;
    let all = &record.plan.phases;
    let planned = phase_view.planned()?;
    let mine = only_work(planned)?;
    // A run has thousands of phases, and most runs work at one place: first what can be told by the plan.
    if !at_places(all.iter().filter_map(only_work)) {
        return None;
    }
    let number = phase_view.phase.number;
    let same = |phase: &Phase| only_work(phase).is_some_and(|work| differs_in_place(work, mine));
    let (before, later) = (&all[..=number], &all[number + 1..]);
    if !at_places(before.iter().filter(|phase| same(phase)).filter_map(only_work)) {
        return None;
    }
    // While the run goes on the last of them is to come.
    let done = |number| record.ending == Ending::Unfinished || record.done(number).is_some();
    if (number + 1..).zip(later).any(|(number, other)| same(other) && done(number)) {
        return None;
    }
    let mut places: Vec<(Bytes, f64)> = vec![];
    let mut done = record.phases.stream().peekable();
    for (number, planned) in before.iter().enumerate() {
        let Some(phase) = done.next_if(|phase| phase.number == number) else { continue };
        let Some(work) = only_work(planned).filter(|work| differs_in_place(work, mine)) else {
            continue;
        };
        let offset = work.pattern.region.offset;
        if places.iter().all(|(known, _)| *known != offset) {
            places.push((offset, rate(&phase)?));
        }
    }
    let rates = places.iter().map(|(_, rate)| *rate);
    let (most, least) = (rates.clone().fold(0.0, f64::max), rates.fold(f64::INFINITY, f64::min));
    if places.len() < PLACES || most - least <= most * PLACES_DIFFER {
        return None;
    }
    let because = places.iter().map(|(offset, rate)| {
        Exhibit::new(ExhibitOf::FromOffset(*offset), pace(*rate), ExhibitSource::RunClockAndCounts)
    });
    Some(note(
        RULE.id,
        PlaceClaim::DependsOnPlace { offsets: places.len(), least: pace(least), most: pace(most) },
        because.collect(),
        None,
    ))
}

/// The work of a phase of one job, on blocks.
fn only_work(phase: &Phase) -> Option<&BlockWork> {
    match phase.jobs.as_slice() {
        [Job { work: Work::Blocks(blocks), .. }] => Some(blocks),
        _ => None,
    }
}

/// Whether works begin at so many offsets that a difference between them may be one of the device.
fn at_places<'w>(works: impl Iterator<Item = &'w BlockWork>) -> bool {
    let mut offsets: Vec<Bytes> = vec![];
    for BlockWork { pattern, .. } in works {
        if !offsets.contains(&pattern.region.offset) {
            offsets.push(pattern.region.offset);
        }
        if offsets.len() >= PLACES {
            return true;
        }
    }
    false
}

/// Whether two works are equal but for where they begin.
fn differs_in_place(one: &BlockWork, other: &BlockWork) -> bool {
    let offset = other.pattern.region.offset;
    let moved = |work: &BlockWork| {
        let region = Region { offset, ..work.pattern.region };
        BlockWork { pattern: Pattern { region, ..work.pattern.clone() }, ..work.clone() }
    };
    // What differs most often is looked at first.
    let alike = one.target == other.target && one.pattern.sequence == other.pattern.sequence;
    alike && moved(one) == *other
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::plan::{Action, Region, Work};
    use assay_plan::unit::{Bandwidth, Bytes, KIB};
    use assay_record::record::{TrapId, Trust};

    fn set_rate(bench: &mut DoctoredRecord, phase: usize, mb: f64) {
        let totals = &mut bench.record.phases[phase].totals;
        totals.get_mut(&Action::Write).expect("counted").bandwidth = Some(Bandwidth(mb * 1e6));
    }

    /// Ordered writes of 1 MiB at 20 MB/s to a card, and scattered ones of 4 KiB at another
    /// rate.
    fn ordered_and_scattered(mb: f64) -> DoctoredRecord {
        let mut bench = DoctoredRecord::write_flushed();
        bench.only_writes();
        bench.worn(Some(1), None);
        bench.again_as("scattered");
        let flow = &mut bench.record.phases[1].flows[0];
        (flow.sequential, flow.block) = (false, Bytes(4 * KIB));
        set_rate(&mut bench, 0, 20.0);
        set_rate(&mut bench, 1, mb);
        bench
    }

    fn said(bench: &DoctoredRecord, phase: usize) -> Option<String> {
        let found = super::super::of_phase(&bench.record, &bench.record.phases[phase]);
        found.findings.into_iter().find(|f| f.trap == TrapId::T45).map(|f| f.text())
    }

    #[test]
    fn scattered_writes_to_a_card_are_explained() {
        let bench = ordered_and_scattered(0.1);
        let claim = said(&bench, 1).expect("explained");
        assert!(
            claim.starts_with("Random writes of 4 KiB reached 0.50 % of the sequential"),
            "{claim}"
        );
        assert_eq!(said(&bench, 0), None);
        assert_eq!(said(&ordered_and_scattered(0.3), 1), None);
        let mut disk = ordered_and_scattered(0.1);
        disk.no_card();
        assert_eq!(said(&disk, 1), None, "seeks, not erase blocks");
    }

    /// The same phase at three places.
    fn at_three_places(rates: [f64; 3]) -> DoctoredRecord {
        let mut bench = DoctoredRecord::write_flushed();
        bench.only_writes();
        bench.again_as("middle");
        bench.again_as("end");
        for (at, mb) in rates.into_iter().enumerate() {
            set_rate(&mut bench, at, mb);
            let Work::Blocks(blocks) = &mut bench.record.plan.phases[at].jobs[0].work else {
                panic!("blocks")
            };
            let offset = Bytes::mib(100 * at as u64);
            blocks.pattern.region = Region { offset, ..Region::default() };
        }
        bench
    }

    #[test]
    fn rates_that_depend_on_the_place_are_told_after_the_last() {
        let bench = at_three_places([30.0, 20.0, 21.0]);
        let claim = said(&bench, 2).expect("told");
        let start = "The same work at 3 offsets ran at 20.0 MB/s to 30.0 MB/s";
        assert!(claim.starts_with(start), "{claim}");
        assert_eq!((said(&bench, 0), said(&bench, 1)), (None, None));
        assert_eq!(said(&at_three_places([22.0, 20.0, 21.0]), 2), None);
        let mut two = at_three_places([30.0, 20.0, 21.0]);
        two.record.phases.as_mut_vec().pop();
        assert_eq!(said(&two, 1), None);
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
