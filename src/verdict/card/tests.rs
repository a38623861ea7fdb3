//! Classes, of records that were made by hand.

use super::*;
use crate::evidence::{Claims, Reading};
use crate::plan::{
    Aim, BlockSize, Blocks, Durability, Job, Layout, Lifetime, Mix, Pattern, Size, Target,
};
use crate::record::{Point, Verdict};
use crate::stats::Total;
use crate::unit::{Bandwidth, Iops};
use crate::verdict::bench::{Bench, verdict};

/// What a phase measured: bytes per second of writes in order, else operations per second.
struct Done(Demand, u64, u32, f64);

/// A card that does 4.2 MB/s in order, and reads faster than it writes anywhere.
const SLOW: [Done; 7] = [
    Done(Demand::SequentialWrite, 512, 4, 4.2e6),
    Done(Demand::SequentialWrite, 64, 4, 4.2e6),
    Done(Demand::SequentialWrite, 32, 4, 4.1e6),
    Done(Demand::RandomRead, 4, 1, 1600.0),
    Done(Demand::RandomRead, 4, 32, 1700.0),
    Done(Demand::RandomWrite, 4, 1, 90.0),
    Done(Demand::RandomWrite, 4, 32, 100.0),
];

/// The same of a card that does all that a class asks for.
fn fast() -> Vec<Done> {
    let better = |done: &Done| match done.0 {
        Demand::SequentialWrite => Done(done.0, done.1, done.2, 95e6),
        _ => Done(done.0, done.1, done.2, 5000.0),
    };
    SLOW.iter().map(better).collect()
}

fn planned(number: usize, done: &Done) -> Phase {
    let Done(demand, block, iodepth, _) = *done;
    let (action, order) = match demand {
        Demand::SequentialWrite => (Action::Write, Order::Forward),
        Demand::RandomRead => (Action::Read, Order::Shuffled),
        Demand::RandomWrite => (Action::Write, Order::Shuffled),
    };
    let target = Target::File {
        path: "/mnt/x".into(),
        size: Size::Whole,
        layout: Layout::Existing,
        lifetime: Lifetime::Keep,
    };
    let pattern = Pattern::of(Mix::only(action), order, BlockSize::Fixed(Bytes::kib(block)));
    let durability = Durability::FdatasyncAtEnd;
    let blocks = Blocks { durability, iodepth, ..Blocks::of(target, pattern) };
    Phase::of(Job::of(number.to_string(), Work::Blocks(blocks)))
}

/// A record of these phases, ten seconds each at an even rate, all of them sound.
fn record(all: &[Done]) -> Record {
    let mut bench = Bench::write_flushed();
    bench.direct(true);
    let sound = verdict(&bench.record);
    let model = bench.record.phases.remove(0);
    bench.record.plan.aim = Some(Aim::Card);
    bench.record.plan.phases.clear();
    for (number, done) in all.iter().enumerate() {
        let total = Total {
            bandwidth: Some(Bandwidth(done.3)),
            iops: Some(Iops(done.3)),
            ..model.totals[&Action::Write].clone()
        };
        let action = if done.0 == Demand::RandomRead { Action::Read } else { Action::Write };
        let mut phase = PhaseRecord {
            name: number.to_string(),
            totals: [(action, total)].into(),
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
    let point = |(number, bytes): (u64, f64)| Point {
        at_ns: Nanos::millis(100 * number),
        write_bytes: bytes as u64,
        ..Point::default()
    };
    phase.series.points = (1..).zip(rates).map(point).collect();
}

fn of<'g>(grading: &'g Grading, class: &str) -> (Standing, &'g str) {
    let grade = grading.grades.iter().find(|grade| grade.class == class).expect("a class");
    (grade.standing, grade.because.as_deref().unwrap_or(""))
}

fn cleared(grading: &Grading) -> Vec<&str> {
    let cleared = grading.grades.iter().filter(|grade| grade.standing == Standing::Cleared);
    cleared.map(|grade| grade.class.as_str()).collect()
}

#[test]
fn a_slow_card_clears_class_4_and_no_more() {
    let found = grading(&record(&SLOW));
    assert_eq!(cleared(&found), ["C2", "C4"]);
    assert_eq!(
        of(&found, "C6"),
        (Standing::Below, "writes in order of 64 KiB reach 4.20 of 6.00 MB/s")
    );
    assert_eq!(
        of(&found, "A1"),
        (
            Standing::Below,
            "writes in order of 512 KiB reach 4.20 of 10.0 MB/s; random writes reach 90.0 of 500 per second"
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
    record.phases.pop();
    let found = grading(&record);
    assert_eq!(cleared(&found), ["C2", "C4", "C6"]);
    let (standing, why) = of(&found, "V90");
    assert_eq!(standing, Standing::Unknown);
    assert!(
        why.starts_with("writes in order of 512 KiB have a figure that is doubtful ("),
        "{why}"
    );
    assert!(of(&found, "A2").1.ends_with("; random writes were not measured"));
    record.ending = Ending::Interrupted(2);
    assert_eq!(of(&grading(&record), "A1").0, Standing::Unknown);
    record.phases[1].verdict = None;
    assert_eq!(of(&grading(&record), "C6").1, "writes in order of 64 KiB were not judged");
    // Nothing at all was measured.
    record.phases.clear();
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
    assert_eq!(of(&grading(&record), "V90").0, Standing::Cleared);
    rates[9] = 25e6;
    series(&mut record.phases[0], &rates);
    let found = grading(&record);
    assert_eq!(
        of(&found, "V90"),
        (
            Standing::Borderline,
            "writes in order of 512 KiB reach it in the mean, and only 25.5 MB/s in their slowest seconds"
        )
    );
    assert_eq!(of(&found, "C10").0, Standing::Cleared);
    // Too short to have seconds.
    record.phases[0].series.points.clear();
    assert_eq!(of(&grading(&record), "V6").0, Standing::Unknown);
}

#[test]
fn class_a2_wants_a_queue_and_the_host_is_named() {
    let mut bench = Bench { record: record(&fast()) };
    bench.worn(None, None);
    let claims = Claims { speed: 10, application: 2, ..Claims::default() };
    change(&mut bench.record, |layer| {
        let card = layer.hardware.card.as_mut().expect("a card");
        (card.kind, card.claims) = ("SD".into(), Some(claims));
    });
    let found = grading(&bench.record);
    assert_eq!(of(&found, "A1").0, Standing::Cleared);
    assert_eq!(
        of(&found, "A2"),
        (
            Standing::Unknown,
            "it is promised to hosts with a command queue, and this one shows none"
        )
    );
    change(&mut bench.record, |layer| {
        layer.hardware.card.as_mut().expect("a card").queue = Some(true);
    });
    assert_eq!(of(&grading(&bench.record), "A2").0, Standing::Cleared);
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
    let mut bench = Bench { record: record(&SLOW) };
    change(&mut bench.record, |layer| {
        layer.hardware.links = vec![link(LinkKind::Mmc, "sd high speed", 5_000_000, None)];
    });
    assert_eq!(
        grading(&bench.record).host,
        ["The link of loop3 runs as sd high speed, which carries 5.00 MB per second at the most."]
    );
    change(&mut bench.record, |layer| {
        layer.hardware.links =
            vec![link(LinkKind::Usb, "USB 2, 480 Mbit/s", 60_000_000, Some("usb-storage"))];
    });
    assert_eq!(
        grading(&bench.record).host,
        [
            "loop3 is reached through USB 2, 480 Mbit/s (usb-storage): a reader that hides the registers of a card, and its command queue."
        ]
    );
}

/// Changes the device below the path.
fn change(record: &mut Record, change: impl FnOnce(&mut Layer)) {
    let layers = record.resolved.subjects.iter_mut().flat_map(|subject| &mut subject.stack);
    change(layers.into_iter().next().expect("a device"));
}
