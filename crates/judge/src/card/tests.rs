//! Classes, of records that were made by hand.

use super::*;
use crate::bench::{DoctoredRecord, verdict};
use assay_plan::plan::{
    BlockSize, BlockWork, Durability, Job, LayoutMode, Lifetime, Mix, Pattern, Size, StudyPlan,
    Target,
};
use assay_plan::stats::ActionTotal;
use assay_plan::unit::{Bandwidth, Iops};
use assay_record::evidence::{Reading, SpeedClaims};
use assay_record::record::{SamplePoint, Verdict};
use assay_record::words::say;

/// What a phase measured: bytes per second of writes in order, else operations per second.
struct MeasuredRate(ClassDemand, u64, u32, f64);

/// A card that does 4.2 MB/s in order, and reads faster than it writes anywhere.
const SLOW: [MeasuredRate; 7] = [
    MeasuredRate(ClassDemand::SequentialWrite, 512, 4, 4.2e6),
    MeasuredRate(ClassDemand::SequentialWrite, 64, 4, 4.2e6),
    MeasuredRate(ClassDemand::SequentialWrite, 32, 4, 4.1e6),
    MeasuredRate(ClassDemand::RandomRead, 4, 1, 1600.0),
    MeasuredRate(ClassDemand::RandomRead, 4, 32, 1700.0),
    MeasuredRate(ClassDemand::RandomWrite, 4, 1, 90.0),
    MeasuredRate(ClassDemand::RandomWrite, 4, 32, 100.0),
];

/// The same of a card that does all that a class asks for.
fn fast() -> Vec<MeasuredRate> {
    let better = |done: &MeasuredRate| match done.0 {
        ClassDemand::SequentialWrite => MeasuredRate(done.0, done.1, done.2, 95e6),
        _ => MeasuredRate(done.0, done.1, done.2, 5000.0),
    };
    SLOW.iter().map(better).collect()
}

fn planned(number: usize, done: &MeasuredRate) -> Phase {
    let MeasuredRate(demand, block, iodepth, _) = *done;
    let (action, order) = match demand {
        ClassDemand::SequentialWrite => (Action::Write, OffsetOrdering::Forward),
        ClassDemand::RandomRead => (Action::Read, OffsetOrdering::Shuffled),
        ClassDemand::RandomWrite => (Action::Write, OffsetOrdering::Shuffled),
    };
    let target = Target::File {
        path: "/mnt/x".into(),
        size: Size::Whole,
        layout: LayoutMode::Existing,
        lifetime: Lifetime::Keep,
    };
    let pattern = Pattern::of(Mix::only(action), order, BlockSize::Fixed(Bytes::kib(block)));
    let durability = Durability::FdatasyncAtEnd;
    let blocks = BlockWork { durability, iodepth, ..BlockWork::of(target, pattern) };
    Phase::of(Job::of(number.to_string(), Work::Blocks(blocks)))
}

/// A record of these phases, ten seconds each at an even rate, all of them sound.
fn record(all: &[MeasuredRate]) -> Record {
    let mut bench = DoctoredRecord::write_flushed();
    bench.direct(true);
    let sound = verdict(&bench.record);
    let model = bench.record.phases.as_mut_vec().remove(0);
    bench.record.plan.aim = Some(StudyPlan::Card);
    bench.record.plan.phases.clear();
    for (number, done) in all.iter().enumerate() {
        let total = ActionTotal {
            bandwidth: Some(Bandwidth(done.3)),
            iops: Some(Iops(done.3)),
            ..(*model.totals[&Action::Write]).clone()
        };
        let action = if done.0 == ClassDemand::RandomRead { Action::Read } else { Action::Write };
        let mut phase = PhaseRecord {
            number,
            name: number.to_string(),
            totals: [(action, Box::new(total))].into(),
            verdict: Some(Verdict { findings: Vec::new(), ..sound.clone() }),
            ..model.clone()
        };
        phase.span.stopped = phase.span.started + Nanos::secs(10);
        series(&mut phase, &[done.3; 10]);
        bench.record.plan.phases.push(planned(number, done));
        bench.record.phases.push(phase);
    }
    bench.record
}

/// Rates of each second, in samples of a tenth.
fn series(phase: &mut PhaseRecord, rates: &[f64]) {
    let rates = rates.iter().flat_map(|rate| [rate / 10.0; 10]);
    let point = |(number, bytes): (u64, f64)| SamplePoint {
        at_ns: Nanos::millis(100 * number),
        write_bytes: bytes as u64,
        ..SamplePoint::default()
    };
    phase.series.points = (1..).zip(rates).map(point).collect();
}

fn of(grading: &CardGrading, class: &str) -> (ClassStanding, String) {
    let grade = grading.grades.iter().find(|grade| grade.class == class).expect("a class");
    (grade.standing, said(&grade.because).join("; "))
}

fn said(claims: &[ToldClaim]) -> Vec<String> {
    claims.iter().map(|told| say(&told.0)).collect()
}

fn cleared(grading: &CardGrading) -> Vec<&str> {
    let cleared = grading.grades.iter().filter(|grade| grade.standing == ClassStanding::Cleared);
    cleared.map(|grade| grade.class.as_str()).collect()
}

#[test]
fn a_slow_card_clears_class_4_and_no_more() {
    let found = grading(&record(&SLOW));
    assert_eq!(cleared(&found), ["C2", "C4"]);
    assert_eq!(
        of(&found, "C6"),
        (
            ClassStanding::Below,
            "sequential writes of 64 KiB reach 4.20 MB/s of 6.00 MB/s".to_string()
        )
    );
    assert_eq!(
        of(&found, "A1"),
        (
            ClassStanding::Below,
            "sequential writes of 512 KiB reach 4.20 MB/s of 10.0 MB/s; random writes reach 90.0 of 500 per second".to_string()
        )
    );
    assert_eq!(found.card, None);
}

#[test]
fn a_fast_one_clears_all() {
    let found = grading(&record(&fast()));
    assert_eq!(cleared(&found).len(), CLASSES.len());
    assert!(found.host.is_empty());
}

#[test]
fn no_figure_and_no_sound_figure_are_no_pass() {
    let mut record = record(&fast());
    record.phases[0].verdict.as_mut().expect("judged").trust = Trust::Doubtful;
    record.phases.as_mut_vec().pop();
    let found = grading(&record);
    assert_eq!(cleared(&found), ["C2", "C4", "C6"]);
    let (standing, why) = of(&found, "V90");
    assert_eq!(standing, ClassStanding::Unknown);
    assert!(
        why.starts_with("sequential writes of 512 KiB have a result that is doubtful ("),
        "{why}"
    );
    assert!(of(&found, "A2").1.ends_with("; random writes were not measured"));
    record.ending = Ending::Interrupted(2);
    assert_eq!(of(&grading(&record), "A1").0, ClassStanding::Unknown);
    record.phases[1].verdict = None;
    assert_eq!(of(&grading(&record), "C6").1, "sequential writes of 64 KiB were not judged");
    // Nothing at all was measured.
    record.phases.as_mut_vec().clear();
    assert!(cleared(&grading(&record)).is_empty());
}

#[test]
fn what_was_not_made_durable_clears_nothing() {
    let mut record = record(&fast());
    for phase in &mut record.plan.phases {
        let Work::Blocks(blocks) = &mut phase.jobs[0].work else { panic!("blocks") };
        blocks.durability = Durability::None;
    }
    assert!(cleared(&grading(&record)).is_empty());
}

#[test]
fn slow_seconds_make_it_borderline_and_one_in_twenty_is_passed_over() {
    let mut record = record(&fast());
    let phase = &mut record.phases[0];
    let mut rates = [95e6; 20];
    rates[7] = 5e6;
    phase.span.stopped = phase.span.started + Nanos::secs(20);
    series(phase, &rates);
    assert_eq!(of(&grading(&record), "V90").0, ClassStanding::Cleared);
    rates[9] = 25e6;
    series(&mut record.phases[0], &rates);
    let found = grading(&record);
    assert_eq!(
        of(&found, "V90"),
        (
            ClassStanding::Borderline,
            "sequential writes of 512 KiB reach it on average, but only 25.5 MB/s in their slowest seconds".to_string()
        )
    );
    assert_eq!(of(&found, "C10").0, ClassStanding::Cleared);
    // Too short to have seconds.
    record.phases[0].series.points.clear();
    assert_eq!(of(&grading(&record), "V6").0, ClassStanding::Unknown);
}

#[test]
fn class_a2_wants_a_queue_and_the_host_is_named() {
    let mut bench = DoctoredRecord { record: record(&fast()) };
    bench.worn(None, None);
    let claims = SpeedClaims { speed: 10, application: 2, ..SpeedClaims::default() };
    change(&mut bench.record, |layer| {
        let card = layer.hardware.card.as_mut().expect("a card");
        (card.kind, card.claims) = ("SD".into(), Some(claims));
    });
    let found = grading(&bench.record);
    assert_eq!(of(&found, "A1").0, ClassStanding::Cleared);
    assert_eq!(
        of(&found, "A2"),
        (
            ClassStanding::Unknown,
            "it needs a host with a command queue, and this one shows none".to_string()
        )
    );
    change(&mut bench.record, |layer| {
        layer.hardware.card.as_mut().expect("a card").queue = Some(true);
    });
    assert_eq!(of(&grading(&bench.record), "A2").0, ClassStanding::Cleared);
}

#[test]
fn a_miss_may_be_the_hosts() {
    let link = |kind, mode: &str, ceiling, driver: Option<&str>| Link {
        kind,
        mode: Reading::Seen(mode.into()),
        ceiling: Some(ceiling),
        possible: None,
        driver: driver.map(str::to_string),
        source: String::new(),
    };
    let mut bench = DoctoredRecord { record: record(&SLOW) };
    change(&mut bench.record, |layer| {
        layer.hardware.links = vec![link(LinkKind::Mmc, "sd high speed", 5_000_000, None)];
    });
    assert_eq!(
        said(&grading(&bench.record).host),
        ["The link of loop3 runs as sd high speed, at most 5.00 MB/s."]
    );
    change(&mut bench.record, |layer| {
        layer.hardware.links =
            vec![link(LinkKind::Usb, "USB 2, 480 Mbit/s", 60_000_000, Some("usb-storage"))];
    });
    assert_eq!(
        said(&grading(&bench.record).host),
        [
            "loop3 is in a USB reader (USB 2, 480 Mbit/s, usb-storage), which hides the registers and the command queue of a card."
        ]
    );
}

/// Changes the device below the path.
fn change(record: &mut Record, change: impl FnOnce(&mut BlockLayer)) {
    let layers = record.resolved.subjects.iter_mut().flat_map(|subject| &mut subject.stack);
    change(layers.into_iter().next().expect("a device"));
}
