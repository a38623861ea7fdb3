//! T45: a card is written in erase blocks, and not everywhere as fast.

use super::measure::Stage;
use super::threshold::{LARGE_WRITE, PLACES, PLACES_DIFFER, SCATTERED, SMALL_WRITE};
use super::words::{pace, share};
use super::{Judge, Rule, finding, refuted};
use crate::evidence::{Card, Direction, Layer};
use crate::plan::{Action, Blocks, Phase, Region, Work};
use crate::record::{Exhibit, Finding, Flow, Measures, Next, PhaseRecord, Record, Weight};
use crate::unit::Bytes;

/// Scattered small writes to a card are a hundred times slower than those in order; or the same work
/// at several places of a device has several rates.
pub const RULE: Rule = Rule {
    id: "T45",
    title: "Erase blocks of cards",
    happens: "Small writes make a card read, erase and write whole erase blocks.",
    seen_by: "Rates of scattered and of ordered writes to the same card in one run, and its preferred_erase_size; rates of the same phase at several offsets.",
    said_when: "Scattered writes of {SMALL_WRITE} or less come to less than {SCATTERED} of the bytes per second of ordered ones: a note. The same phase at {PLACES} offsets or more, whose rates differ by more than {PLACES_DIFFER}: a note.",
    try_it: "`assay quick` on an SD card; a plan of three equal phases whose regions begin at 0, in the middle and near the end.",
    answer: "Measures both kinds of writes, and says which one a figure is.",
    judge: Judge::Phase(judge),
};

fn judge(stage: &Stage<'_>, found: &[Finding]) -> Option<Finding> {
    let explained =
        |f: &Finding| matches!(f.measures, Some(Measures::Limited | Measures::Disturbed));
    if refuted(found) || found.iter().any(explained) || stage.paced() {
        return None;
    }
    scattered(stage).or_else(|| by_place(stage))
}

fn scattered(stage: &Stage<'_>) -> Option<Finding> {
    let flow = written(stage.phase).filter(|flow| !flow.sequential && flow.block <= SMALL_WRITE)?;
    let (layer, card) = card(stage.record, flow)?;
    let ordered = |phase: &&PhaseRecord| {
        written(phase).is_some_and(|other| {
            let same = card_of(stage.record, other).is_some_and(|name| *name == layer.name);
            same && other.sequential && other.block >= LARGE_WRITE
        })
    };
    let other = stage.record.phases.iter().find(ordered)?;
    let (slow, fast) = (rate(stage.phase)?, rate(other)?);
    if slow >= fast * SCATTERED {
        return None;
    }
    let mut because = vec![Exhibit::new(
        format!("bytes per second in '{}' and in '{}'", stage.phase.name, other.name),
        format!("{}, {}", pace(slow), pace(fast)),
        "the run's clock and counts",
    )];
    because.extend(card.erase.map(|erase| {
        let file = format!("/sys/block/{}/device/preferred_erase_size", layer.name);
        Exhibit::new(format!("{} erases", layer.name), erase.to_string(), file)
    }));
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!(
            "Scattered writes of {} came to {} of the speed of ordered ones: the card erases whole blocks of much more than that for each.",
            flow.block,
            share(slow / fast)
        ),
        because,
        Some(Next::Do(
            "for many small files look at this figure, for film and photos at the other".into(),
        )),
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
fn card<'a>(record: &'a Record, flow: &Flow) -> Option<(&'a Layer, &'a Card)> {
    let subject = record.resolved.subjects.get(flow.subject)?;
    subject.stack.iter().find_map(|layer| Some((layer, layer.hardware.card.as_ref()?)))
}

fn card_of<'a>(record: &'a Record, flow: &Flow) -> Option<&'a String> {
    card(record, flow).map(|(layer, _)| &layer.name)
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
fn by_place(stage: &Stage<'_>) -> Option<Finding> {
    let mine = placed(stage.planned()?)?;
    let mut places: Vec<(Bytes, f64)> = vec![];
    for phase in &stage.record.phases {
        let planned = stage.record.plan.phases.iter().find(|planned| planned.name == phase.name);
        let Some((offset, work)) = planned.and_then(placed) else { continue };
        if work == mine.1 && places.iter().all(|(known, _)| *known != offset) {
            places.push((offset, rate(phase)?));
        }
        if std::ptr::eq(phase, stage.phase) {
            break;
        }
    }
    let later = |name: &str| stage.record.phases.iter().position(|phase| phase.name == name);
    let here = later(&stage.phase.name)?;
    let followed = stage.record.plan.phases.iter().any(|planned| {
        later(&planned.name).is_some_and(|at| at > here)
            && placed(planned).is_some_and(|(_, work)| work == mine.1)
    });
    let rates = places.iter().map(|(_, rate)| *rate);
    let (most, least) = (rates.clone().fold(0.0, f64::max), rates.fold(f64::INFINITY, f64::min));
    if followed || places.len() < PLACES || most - least <= most * PLACES_DIFFER {
        return None;
    }
    let because = places.iter().map(|(offset, rate)| {
        Exhibit::new(format!("from {offset} on"), pace(*rate), "the run's clock and counts")
    });
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!(
            "At {} places the same work went at {} to {}: it depends on where the data lie, or on what was done before.",
            places.len(),
            pace(least),
            pace(most)
        ),
        because.collect(),
        Some(Next::Do(
            "do the phases in another order: what stays with the place is the place's".into(),
        )),
    ))
}

/// Where a phase of one job works, and the work with the place left out.
fn placed(phase: &Phase) -> Option<(Bytes, Blocks)> {
    let [job] = phase.jobs.as_slice() else { return None };
    let Work::Blocks(blocks) = &job.work else { return None };
    let mut work = blocks.clone();
    let offset = work.pattern.region.offset;
    work.pattern.region = Region { offset: Bytes::ZERO, ..work.pattern.region };
    Some((offset, work))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use crate::plan::{Action, Region, Work};
    use crate::record::Trust;
    use crate::unit::{Bandwidth, Bytes, KIB};

    fn set_rate(bench: &mut Bench, phase: usize, mb: f64) {
        let totals = &mut bench.record.phases[phase].totals;
        totals.get_mut(&Action::Write).expect("counted").bandwidth = Some(Bandwidth(mb * 1e6));
    }

    /// Ordered writes of 1 MiB at 20 MB per second to a card, and scattered ones of 4 KiB at another
    /// rate.
    fn ordered_and_scattered(mb: f64) -> Bench {
        let mut bench = Bench::write_flushed();
        bench.only_writes();
        bench.worn(Some(1), None);
        bench.again_as("scattered");
        let flow = &mut bench.record.phases[1].flows[0];
        (flow.sequential, flow.block) = (false, Bytes(4 * KIB));
        set_rate(&mut bench, 0, 20.0);
        set_rate(&mut bench, 1, mb);
        bench
    }

    fn said(bench: &Bench, phase: usize) -> Option<String> {
        let found = super::super::of_phase(&bench.record, &bench.record.phases[phase]);
        found.findings.into_iter().find(|f| f.trap.0 == "T45").map(|f| f.claim)
    }

    #[test]
    fn scattered_writes_to_a_card_are_explained() {
        let bench = ordered_and_scattered(0.1);
        let claim = said(&bench, 1).expect("explained");
        assert!(
            claim.starts_with("Scattered writes of 4 KiB came to 0.50 % of the speed"),
            "{claim}"
        );
        assert_eq!(said(&bench, 0), None);
        assert_eq!(said(&ordered_and_scattered(0.3), 1), None);
        let mut disk = ordered_and_scattered(0.1);
        disk.no_card();
        assert_eq!(said(&disk, 1), None, "seeks, not erase blocks");
    }

    /// The same phase at three places.
    fn at_three_places(rates: [f64; 3]) -> Bench {
        let mut bench = Bench::write_flushed();
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
        let start = "At 3 places the same work went at 20.0 MB per second to 30.0 MB per second";
        assert!(claim.starts_with(start), "{claim}");
        assert_eq!((said(&bench, 0), said(&bench, 1)), (None, None));
        assert_eq!(said(&at_three_places([22.0, 20.0, 21.0]), 2), None);
        let mut two = at_three_places([30.0, 20.0, 21.0]);
        two.record.phases.pop();
        assert_eq!(said(&two, 1), None);
        assert_eq!(verdict(&bench.record).trust, Trust::Sound);
    }
}
