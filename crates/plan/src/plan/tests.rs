//! The plan must be able to say what the five tools can do, and survive its own JSON.

use super::*;
use crate::unit::{Bytes, Nanos, Ops};

fn plan(name: &str, work: Work, stop: StopRule) -> Plan {
    Plan {
        title: name.into(),
        origin: PlanOrigin::of("test", vec![]),
        seed: 1,
        aim: None,
        phases: vec![Phase::of(Job { stop, ..Job::of(name, work) })],
    }
}

fn blocks(pattern: Pattern) -> BlockWork {
    let target = Target::File {
        path: "/mnt/x".into(),
        size: Size::Exactly(Bytes::mib(64)),
        layout: LayoutMode::AsFound,
        lifetime: Lifetime::AsFound,
    };
    BlockWork::of(target, pattern)
}

/// An IOzone stride, a Bonnie tree, a fio bssplit, a dd copy between two devices, a mixed job.
fn sayings() -> Vec<Plan> {
    let fixed = BlockSize::Fixed(Bytes::kib(64));
    vec![
        plan(
            "iozone-stride",
            Work::Blocks(blocks(Pattern::of(
                Mix::only(Action::Read),
                OffsetOrdering::Strided { stride: Bytes::kib(64 * 17) },
                fixed.clone(),
            ))),
            StopRule::one_pass(),
        ),
        plan(
            "bonnie-tree",
            Work::Tree(TreeWork {
                dir: "/mnt".into(),
                action: Action::Create,
                files: 16 * 1024,
                folders: 4,
                size: TreeSize::Files { least: Bytes(0), most: Bytes(1000) },
                order: TreeOrder::Shuffled,
                block: Some(Bytes::kib(8)),
                stat_first: false,
                fill: Fill::Zero,
                durability: Durability::FsyncEvery(Ops(1)),
                named: Vec::new(),
                stat_call: Default::default(),
                naming: Naming::Numbers,
                shared: true,
                verify: Verify::None,
                sync_folder: true,
                lifetime: Lifetime::Keep,
            }),
            StopRule::one_pass(),
        ),
        plan(
            "fio-bssplit",
            Work::Blocks(BlockWork {
                method: Method::IoUring(RingOptions { fixed: true, ..RingOptions::default() }),
                caching: Caching::Direct,
                iodepth: 32,
                ..blocks(Pattern::of(
                    Mix(vec![
                        ActionShare { action: Action::Read, weight: 70 },
                        ActionShare { action: Action::Write, weight: 30 },
                    ]),
                    OffsetOrdering::Zipf { theta: 1.2, center: None },
                    BlockSize::PerAction(vec![
                        ActionSize {
                            action: Action::Read,
                            size: Box::new(BlockSize::Split(vec![
                                WeightedSize { size: Bytes::kib(4), weight: 90 },
                                WeightedSize { size: Bytes::kib(64), weight: 10 },
                            ])),
                        },
                        ActionSize {
                            action: Action::Write,
                            size: Box::new(BlockSize::Fixed(Bytes::kib(8))),
                        },
                    ]),
                ))
            }),
            StopRule::after(Nanos::secs(60)),
        ),
        plan(
            "dd-copy",
            Work::Copy(CopyWork {
                from: CopyInput { path: Some("/dev/sda1".into()), flags: EndFlags::default() },
                to: CopyOutput {
                    path: Some("/dev/sdb1".into()),
                    flags: EndFlags { direct: true, ..EndFlags::default() },
                    exclusive: false,
                    no_create: false,
                    no_truncate: true,
                },
                calls: CopyCalls::ReadWrite,
                input_block: Bytes::kib(4),
                output_block: Bytes::mib(1),
                block_for_block: false,
                skip: CopyLength { blocks: 3, bytes: Bytes::ZERO },
                seek: CopyLength::default(),
                count: Some(CopyLength { blocks: 0, bytes: Bytes(1_000_000) }),
                records: RecordConversion { swab: true, ..RecordConversion::default() },
                keep_going: true,
                unread_counts: false,
                resync: Resync::Zeros,
                sparse: false,
                flush: CopyFlush { fdatasync: true, fsync: true, unless_failed: false },
                direct_gives_way: false,
                fsync_every_block: false,
            }),
            StopRule::default(),
        ),
        plan(
            "hot-record",
            Work::Blocks(blocks(Pattern::of(
                Mix::only(Action::Write),
                OffsetOrdering::Same,
                fixed,
            ))),
            StopRule {
                ramp_bytes: Bytes::ZERO,
                ramp: Nanos::secs(1),
                at_least: Nanos::ZERO,
                first_of: vec![StopLimit::Ops(Ops(100)), StopLimit::Steady(SteadyRule::default())],
            },
        ),
    ]
}

#[test]
fn what_the_tools_do_can_be_said_and_survives_its_json() {
    for plan in sayings() {
        assert_eq!(plan.check(), Ok(()), "{}", plan.title);
        let text = serde_json::to_string_pretty(&plan).expect("a plan is JSON");
        let back: Plan = serde_json::from_str(&text).expect("its own JSON is a plan");
        assert_eq!(back, plan, "{text}");
    }
}

#[test]
fn a_device_is_written_only_by_consent() {
    let mut work = blocks(Pattern::of(
        Mix::only(Action::Write),
        OffsetOrdering::Forward,
        BlockSize::Fixed(Bytes::kib(4)),
    ));
    let device = |consent| Target::Device { path: "/dev/sdz".into(), size: Size::Whole, consent };
    work.target = device(None);
    let refused = plan("w", Work::Blocks(work.clone()), StopRule::default()).check();
    assert!(refused.is_err_and(|refusal| refusal.why.contains("/dev/sdz")));
    work.target =
        device(Some(OverwriteConsent { device: "/dev/sdy".into(), over: OverwriteScope::InUse }));
    assert!(plan("w", Work::Blocks(work.clone()), StopRule::default()).check().is_err());
    work.target =
        device(Some(OverwriteConsent { device: "/dev/sdz".into(), over: OverwriteScope::Empty }));
    assert_eq!(plan("w", Work::Blocks(work), StopRule::default()).check(), Ok(()));
}

#[test]
fn what_makes_no_sense_is_refused_with_its_place() {
    let zero =
        Pattern::of(Mix::only(Action::Read), OffsetOrdering::Forward, BlockSize::Fixed(Bytes(0)));
    let refusal = plan("p", Work::Blocks(blocks(zero)), StopRule::default()).check();
    assert_eq!(
        refusal.map_err(|r| r.to_string()),
        Err("phase 'p', job 'p': block size 0, or an empty range of sizes; give a size such as 4k"
            .into())
    );
}

#[test]
fn an_aftermath_needs_something_to_read_and_an_end() {
    let reads = Pattern::of(
        Mix::only(Action::Read),
        OffsetOrdering::Uniform,
        BlockSize::Fixed(Bytes::kib(4)),
    );
    let checked = |aftermath: Nanos, target: Option<Target>| {
        let mut blocks = blocks(reads.clone());
        blocks.target = target.unwrap_or(blocks.target);
        let mut plan = plan("reads", Work::Blocks(blocks), StopRule::one_pass());
        plan.phases[0].aftermath = aftermath;
        plan.check().map_err(|refusal| refusal.why)
    };
    let nowhere = || Some(Target::Nowhere { size: Bytes::mib(1) });
    assert_eq!(checked(Nanos::millis(250), None), Ok(()));
    assert_eq!(checked(Nanos::ZERO, nowhere()), Ok(()));
    assert_eq!(
        checked(Nanos::secs(61), None),
        Err("phase 'reads' has an aftermath of 61.0 s".into())
    );
    assert_eq!(
        checked(Nanos::millis(250), nowhere()),
        Err("phase 'reads' has an aftermath, and no file or device to read".into())
    );
}
