//! Which speed classes of SD cards a device clears here.
//!
//! Fails closed: a class is cleared by sound figures only. A write in order must reach the class in
//! the mean and in its slowest seconds; these decide, so a rate that is merely unsteady is no
//! objection. The minimums are those of the SD specifications (physical layer, 2.00 for C2 to C6, 3.01
//! for C10 and U1, 4.10 for U3, 5.0 for V, 5.1 for A1, 6.0 for A2).

use super::sustain::intervals;
use super::threshold::{CLASS_SECOND, CLASS_SECONDS, CLASS_SLOW};
use assay_plan::plan::{Action, OffsetOrdering, Phase, Work};
use assay_plan::unit::{Bandwidth, Bytes, Iops, Nanos};
use assay_record::claim::{CardClaim, CardWork, GradeGap, Sentences};
use assay_record::evidence::{BlockLayer, CardInfo, Link, LinkKind};
use assay_record::record::{
    CardGrading, ClassDemand, ClassGrade, ClassMinimum, ClassStanding, Ending, MeasuredSubject,
    Metric, PhaseFigures, PhaseRecord, Record, ToldClaim, Trust, WrittenSpan,
};

/// One class: what it asks for.
struct SpeedClass {
    mark: &'static str,
    /// Writes in order: the recording unit, and MB/s.
    writes: (Bytes, f64),
    /// Operations of 4 KiB anywhere.
    random: Option<RandomMinimum>,
}

/// Operations of 4 KiB anywhere, per second, with so many in flight.
struct RandomMinimum {
    depth: u32,
    reads: f64,
    writes: f64,
}

const fn class(mark: &'static str, unit: Bytes, megabytes: f64) -> SpeedClass {
    SpeedClass { mark, writes: (unit, megabytes), random: None }
}

/// Recording units of the classes.
const SMALL: Bytes = Bytes::kib(32);
const MIDDLE: Bytes = Bytes::kib(64);
const LARGE: Bytes = Bytes::kib(512);
/// The block of the operations that are counted.
const RANDOM: Bytes = Bytes::kib(4);
/// The class that is only promised to hosts which queue commands.
const QUEUED: &str = "A2";

/// All classes, those of one letter together, the lowest first.
const CLASSES: [SpeedClass; 13] = [
    class("C2", SMALL, 2.0),
    class("C4", SMALL, 4.0),
    class("C6", MIDDLE, 6.0),
    class("C10", LARGE, 10.0),
    class("U1", LARGE, 10.0),
    class("U3", LARGE, 30.0),
    class("V6", LARGE, 6.0),
    class("V10", LARGE, 10.0),
    class("V30", LARGE, 30.0),
    class("V60", LARGE, 60.0),
    class("V90", LARGE, 90.0),
    SpeedClass {
        random: Some(RandomMinimum { depth: 1, reads: 1500.0, writes: 500.0 }),
        ..class("A1", LARGE, 10.0)
    },
    SpeedClass {
        random: Some(RandomMinimum { depth: 32, reads: 4000.0, writes: 2000.0 }),
        ..class(QUEUED, LARGE, 10.0)
    },
];

/// What the phases of a record make of each class.
pub fn grading(record: &Record) -> CardGrading {
    let card = card(record);
    let grades: Vec<ClassGrade> = CLASSES.iter().map(|class| grade(record, class, card)).collect();
    let host = if grades.iter().any(|grade| grade.standing == ClassStanding::Below) {
        host(record, &grades)
    } else {
        Vec::new()
    };
    CardGrading { card: card.cloned(), space: space(record), grades, host }
}

/// What the first phase has written in order.
fn space(record: &Record) -> Bytes {
    let first = record.phases.first().and_then(|phase| phase.totals.get(&Action::Write));
    first.map_or(Bytes::ZERO, |total| total.bytes)
}

/// The layers below the paths of a record.
fn layers(record: &Record) -> impl Iterator<Item = &BlockLayer> {
    record.resolved.subjects.iter().flat_map(|subject| &subject.stack)
}

/// The card below.
fn card(record: &Record) -> Option<&CardInfo> {
    layers(record).find_map(|layer| layer.hardware.card.as_ref())
}

/// How the record stands to one class.
fn grade(record: &Record, class: &SpeedClass, card: Option<&CardInfo>) -> ClassGrade {
    let (unit, megabytes) = class.writes;
    let mut judged =
        vec![judge(record, ClassDemand::SequentialWrite, (unit, None), megabytes * 1e6)];
    if let Some(random) = &class.random {
        let shape = (RANDOM, Some(random.depth));
        judged.push(judge(record, ClassDemand::RandomRead, shape, random.reads));
        judged.push(judge(record, ClassDemand::RandomWrite, shape, random.writes));
    }
    let mut standing =
        judged.iter().map(|need| need.standing).max().unwrap_or(ClassStanding::Unknown);
    let mut because: Vec<CardClaim> = judged
        .iter()
        .filter(|need| need.standing == standing)
        .filter_map(|need| need.because.clone())
        .collect();
    let queue = card.is_none_or(|card| card.queue == Some(true));
    if class.mark == QUEUED && !queue && standing < ClassStanding::Below {
        standing = ClassStanding::Unknown;
        because = vec![CardClaim::QueueNeeded];
    }
    because.dedup();
    ClassGrade {
        class: class.mark.into(),
        standing,
        needs: judged.into_iter().map(|judged| judged.need).collect(),
        because: because.into_iter().map(ToldClaim::from).collect(),
    }
}

/// One minimum, held against what was measured.
struct JudgedMinimum {
    need: ClassMinimum,
    standing: ClassStanding,
    because: Option<CardClaim>,
}

/// Holds one minimum against the phase that measures it. The shape: bytes of one I/O, and how many
/// are in flight where that matters.
fn judge(
    record: &Record,
    demand: ClassDemand,
    shape: (Bytes, Option<u32>),
    least: f64,
) -> JudgedMinimum {
    let planned = record.plan.phases.iter().find(|phase| measures(phase, demand, shape));
    let phase = planned.map(|phase| phase.name.clone());
    let need = ClassMinimum { demand, block: shape.0, least, phase, reached: None, slowest: None };
    let work = match demand {
        ClassDemand::SequentialWrite => CardWork::SequentialWrites(shape.0),
        ClassDemand::RandomRead => CardWork::RandomReads,
        ClassDemand::RandomWrite => CardWork::RandomWrites,
    };
    let (reached, slowest) = match figure(record, &need, planned) {
        Ok(figure) => figure,
        Err(why) => {
            let because = Some(CardClaim::NotProven { work, why });
            return JudgedMinimum { need, standing: ClassStanding::Unknown, because };
        }
    };
    let need = ClassMinimum { reached: Some(reached), slowest, ..need };
    let (standing, because) = if reached < least {
        (ClassStanding::Below, Some(missed(work, reached, least)))
    } else if demand != ClassDemand::SequentialWrite {
        (ClassStanding::Cleared, None)
    } else {
        match slowest {
            Some(slowest) if slowest >= least => (ClassStanding::Cleared, None),
            Some(slowest) => {
                let because = CardClaim::SlowSeconds { work, slowest: Bandwidth(slowest) };
                (ClassStanding::Borderline, Some(because))
            }
            None => {
                let because = CardClaim::NotProven { work, why: GradeGap::TooShort };
                (ClassStanding::Unknown, Some(because))
            }
        }
    };
    JudgedMinimum { need, standing, because }
}

/// What was measured of a demand: its mean, and of writes in order the slowest seconds. Or why there
/// is nothing that could clear a class.
fn figure(
    record: &Record,
    need: &ClassMinimum,
    planned: Option<&Phase>,
) -> Result<(f64, Option<f64>), GradeGap> {
    let done = planned.and_then(|planned| record.done_of(planned));
    let Some(phase) = done else { return Err(GradeGap::NotMeasured) };
    let last = record.phases.last().is_some_and(|last| last.number == phase.number);
    if !phase.faults.is_empty() || last && matches!(record.ending, Ending::Interrupted(_)) {
        return Err(GradeGap::NotToTheEnd);
    }
    believed(phase, need.demand)?;
    let action = match need.demand {
        ClassDemand::SequentialWrite | ClassDemand::RandomWrite => Action::Write,
        ClassDemand::RandomRead => Action::Read,
    };
    let metric = match need.demand {
        ClassDemand::SequentialWrite => Metric::Throughput,
        ClassDemand::RandomRead | ClassDemand::RandomWrite => Metric::Iops,
    };
    let reached = PhaseFigures::of(phase).value(action, metric).ok_or(GradeGap::NoResult)?;
    let slowest =
        (need.demand == ClassDemand::SequentialWrite).then(|| slowest(phase, need.block)).flatten();
    Ok((reached, slowest))
}

/// Whether a phase measures what is asked for.
fn measures(phase: &Phase, demand: ClassDemand, (block, depth): (Bytes, Option<u32>)) -> bool {
    let [job] = phase.jobs.as_slice() else { return false };
    let Work::Blocks(blocks) = &job.work else { return false };
    let pattern = &blocks.pattern;
    let (only, order) = match demand {
        ClassDemand::SequentialWrite => (Action::Write, pattern.order == OffsetOrdering::Forward),
        ClassDemand::RandomRead => (Action::Read, pattern.order == OffsetOrdering::Shuffled),
        ClassDemand::RandomWrite => (Action::Write, pattern.order == OffsetOrdering::Shuffled),
    };
    let durable = only == Action::Read || blocks.promises().durable();
    order
        && durable
        && pattern.mix.has_only(only)
        && (pattern.block.smallest(), pattern.block.largest()) == (block, block)
        && depth.is_none_or(|depth| phase.load() == Some((depth, 1)))
}

/// Whether a figure may clear a class, or why not.
fn believed(phase: &PhaseRecord, demand: ClassDemand) -> Result<(), GradeGap> {
    let Some(verdict) = &phase.verdict else { return Err(GradeGap::NotJudged) };
    let unsteady =
        verdict.trust == Trust::Doubtful && verdict.measures == MeasuredSubject::Unsteady;
    if verdict.trust == Trust::Sound || unsteady && demand == ClassDemand::SequentialWrite {
        return Ok(());
    }
    let (trust, claims) = (verdict.trust.name().into(), Sentences(verdict.claims.clone()));
    Err(GradeGap::NotBelieved { trust, claims })
}

/// The rate of the slowest seconds of writes in order, bytes per second; one in twenty is passed
/// over. `None` when there are too few.
fn slowest(phase: &PhaseRecord, block: Bytes) -> Option<f64> {
    let all = phase.span.stopped.since(phase.span.started);
    let step = CLASS_SECOND.min(Nanos(all.0 / CLASS_SECONDS));
    let seconds = intervals(phase, step);
    // A block that ends just behind a second was nearly all done in it.
    let rate = |second: &WrittenSpan| (second.bytes + block).over(second.time);
    let mut rates: Vec<f64> = seconds.iter().filter_map(rate).map(|rate| rate.0).collect();
    rates.sort_by(f64::total_cmp);
    let enough = 2 * rates.len() > CLASS_SECONDS as usize;
    let slow = rates.get((rates.len() as f64 * CLASS_SLOW) as usize).copied();
    slow.filter(|_| enough)
}

/// A minimum that was missed.
fn missed(work: CardWork, reached: f64, least: f64) -> CardClaim {
    match work {
        CardWork::SequentialWrites(_) => {
            let (reached, least) = (Bandwidth(reached), Bandwidth(least));
            CardClaim::RateMissed { work, reached, least }
        }
        CardWork::RandomReads | CardWork::RandomWrites => {
            let (reached, least) = (Iops(reached), Iops(least));
            CardClaim::OperationsMissed { work, reached, least }
        }
    }
}

/// What of this host may keep a card below what it can do.
fn host(record: &Record, grades: &[ClassGrade]) -> Vec<ToldClaim> {
    let mut said: Vec<ToldClaim> = Vec::new();
    let lowest = grades.iter().filter(|grade| grade.standing == ClassStanding::Below);
    let wanted = lowest.flat_map(|grade| &grade.needs).filter(|need| {
        need.demand == ClassDemand::SequentialWrite && need.reached.is_some_and(|r| r < need.least)
    });
    let wanted = wanted.map(|need| need.least).fold(f64::INFINITY, f64::min);
    for layer in layers(record) {
        let links = layer.hardware.links.iter();
        said.extend(links.filter_map(|link| of_link(layer, link, wanted)).map(ToldClaim::from));
    }
    let queued = grades.iter().any(|g| g.class == QUEUED && g.standing == ClassStanding::Cleared);
    if !queued && card(record).is_some_and(|card| card.queue != Some(true)) {
        said.push(CardClaim::NoQueueInUse.into());
    }
    let missed = |phase: &PhaseRecord| {
        let needs = grades.iter().flat_map(|grade| &grade.needs);
        let mut short = needs.filter(|need| need.reached.is_some_and(|r| r < need.least));
        short.any(|need| need.phase.as_ref() == Some(&phase.name))
    };
    let phases = record.phases.iter().filter(|phase| missed(phase));
    for verdict in phases.filter_map(|phase| phase.verdict.as_ref()) {
        let outside = matches!(verdict.measures, MeasuredSubject::Limited | MeasuredSubject::Tool);
        let claim = verdict.findings.iter().find(|f| f.measures == Some(verdict.measures));
        said.extend(claim.filter(|_| outside).map(|finding| ToldClaim(finding.claim.clone())));
    }
    let mut once: Vec<ToldClaim> = Vec::new();
    for claim in said {
        if !once.contains(&claim) {
            once.push(claim);
        }
    }
    once
}

/// What a link may cost a card that missed `wanted` bytes per second.
fn of_link(layer: &BlockLayer, link: &Link, wanted: f64) -> Option<CardClaim> {
    let device = layer.name.clone();
    let mode = match link.mode.seen() {
        Some(mode) => mode.clone(),
        None if link.kind == LinkKind::Mmc => {
            return Some(CardClaim::BusModeUnknown { device });
        }
        None => return None,
    };
    let ceiling = link.ceiling? as f64;
    if ceiling < wanted {
        return Some(CardClaim::LinkBelowClass { device, mode, most: Bandwidth(ceiling) });
    }
    if link.kind == LinkKind::Usb {
        return Some(CardClaim::HiddenByReader { device, mode, driver: link.driver.clone() });
    }
    let possible = Bandwidth(link.possible? as f64);
    (possible.0 > ceiling).then_some(CardClaim::LinkCouldDoMore { device, mode, possible })
}

#[cfg(test)]
mod tests;
