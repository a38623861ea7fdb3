//! Records of `assay card`: a card in a slot that is too slow for it, and a fake.

use assay::cli::card::capacity::{self, CheckedSpace};
use assay::cli::card::{self, CardArgs};
use assay::cli::quick::PathType;
use assay::cli::target_args::{ConsentArgs, SeedArgs};
use assay_plan::plan::{Action, Caching};
use assay_plan::stats::{BlockCensus, BlockContent};
use assay_plan::unit::{Bytes, GIB, MIB, Nanos, Timestamp};
use assay_record::evidence::{
    BlockLayer, CardInfo, Hardware, LayerKind, Limits, Link, LinkKind, PathKind, Reading,
    SpeedClaims, Subject,
};
use assay_record::record::{BlockFate, MeasuredSubject, Record, StudyResult};

use super::{Shape, card_subject, layer, phase, record, resolved, sound};

fn words(path: &str) -> CardArgs {
    CardArgs {
        path: path.into(),
        consent: ConsentArgs::default(),
        quick: false,
        capacity: false,
        fill: false,
        seed: SeedArgs { seed: Some(1) },
        common: Default::default(),
    }
}

fn slot() -> BlockLayer {
    let claims = SpeedClaims { speed: 10, uhs: 3, video: 30, application: 2 };
    let card = CardInfo {
        kind: "SD".into(),
        queue: Some(false),
        claims: Some(claims),
        unit: Some(Bytes::mib(4)),
        specification: Some("6".into()),
        capacity: Some(Bytes(31_914_983_424)),
        made: Some("09/2021".into()),
        ..CardInfo::default()
    };
    let bus = Link {
        kind: LinkKind::Mmc,
        mode: Reading::Seen("sd high-speed".into()),
        ceiling: Some(25_000_000),
        possible: None,
        driver: None,
        source: "/sys/kernel/debug/mmc0/ios".into(),
    };
    let mut disk = layer("mmcblk0", 0, LayerKind::Disk, true, 31_914_983_424);
    disk.hardware = Hardware {
        model: "SN32G".into(),
        bus: "mmc".into(),
        links: vec![bus],
        card: Some(card),
        ..Hardware::default()
    };
    disk
}

/// A card of classes C10, U3, V30 and A2 on a bus that carries 25 MB/s and queues nothing.
pub fn graded() -> Record {
    let plan =
        card::plan(&words("/mnt/sd"), PathType::Folder, vec!["/mnt/sd".into()]).expect("a plan");
    let subject = Subject { stack: vec![slot()], ..card_subject("/mnt/sd") };
    let limits = Reading::Seen(Limits::default());
    let resolved = resolved(&plan, subject, limits, Caching::Direct);
    let in_order = |name, kib, rate| (name, Action::Write, Bytes::kib(kib), 4, rate);
    let anywhere = |name, action, depth, iops| (name, action, Bytes::kib(4), depth, iops * 4096.0);
    let shapes = [
        in_order("write-512k", 512, 19.4e6),
        in_order("write-64k", 64, 15.1e6),
        in_order("write-32k", 32, 11.8e6),
        anywhere("rand-read-q1", Action::Read, 1, 1810.0),
        anywhere("rand-read-q32", Action::Read, 32, 1870.0),
        anywhere("rand-write-q1", Action::Write, 1, 612.0),
        anywhere("rand-write-q32", Action::Write, 32, 640.0),
    ];
    let mut phases = Vec::new();
    for (name, action, block, depth, rate) in shapes {
        let shape = Shape { name, action, block, depth, rate, seconds: 10, device: "mmcblk0" };
        let started = Timestamp(Nanos::millis(10_400).0 * phases.len() as u64);
        let mut done = phase(&shape, started);
        done.verdict = Some(sound(MeasuredSubject::Device, "The device."));
        phases.push(done);
    }
    let verdict = sound(MeasuredSubject::Device, "This is the speed of the device.");
    let mut record = record(plan, resolved, phases, verdict);
    record.outcome = Some(StudyResult::Card(assay_judge::card::grading(&record)));
    record
}

/// A card of 64 GiB that holds 8 and wraps around.
pub fn wrapped() -> Record {
    let space = CheckedSpace { size: Bytes(64 * GIB), file: Bytes(u64::MAX), set_aside: true };
    let words = CardArgs {
        consent: ConsentArgs { again: vec!["/dev/sdx".into()] },
        capacity: true,
        ..words("/dev/sdx")
    };
    let typed = ["--capacity", "/dev/sdx", "/dev/sdx"].map(String::from).to_vec();
    let plan = capacity::plan(&words, PathType::Device, space, typed).expect("a plan");
    let subject = Subject {
        kind: PathKind::Device,
        mount: Reading::Unseen("a device lies on no mount".into()),
        stack: vec![layer("sdx", 0, LayerKind::Disk, true, space.size.0)],
        ..card_subject("/dev/sdx")
    };
    let limits = Reading::Seen(Limits::default());
    let mut resolved = resolved(&plan, subject, limits, Caching::Direct);
    for job in &mut resolved.jobs {
        (job.size, job.writes_at_most) = (space.size, Some(Bytes(64 * MIB)));
    }
    let read = |name, action| {
        let (block, device) = (Bytes::kib(64), "sdx");
        let mut done = phase(
            &Shape { name, action, block, depth: 4, rate: 8e6, seconds: 8, device },
            Timestamp(0),
        );
        done.verdict = Some(sound(MeasuredSubject::Device, "The device."));
        done
    };
    let mut phases = vec![read("write", Action::Write), read("read", Action::Read)];
    let mut census = BlockCensus::new(space.size, 1);
    for place in (0..64 * GIB).step_by(64 * MIB as usize) {
        let last = place % (8 * GIB) + 56 * GIB;
        let right = last == place;
        census
            .count(place, if right { BlockContent::Right } else { BlockContent::Misplaced(last) });
    }
    phases[1].census = Some(census);
    let verdict = sound(MeasuredSubject::Device, "This is the speed of the device.");
    let mut record = record(plan, resolved, phases, verdict);
    let found = assay_judge::capacity::capacity(&record);
    assert_eq!(found.holding, BlockFate::Wraps);
    record.outcome = Some(StudyResult::Capacity(found));
    record
}
