//! Where I/Os go: the offsets of every order against a model written without thinking of speed.

use std::collections::BTreeMap;
use std::os::unix::fs::FileExt;

use assay_engine::engine::{IoOp, OffsetStream};
use assay_plan::plan::{
    Action, ActionShare, ActionSize, BlockSize, Mix, OffsetOrdering, Pattern, Plan, SizedZone,
    WeightedSize, Zone,
};
use assay_plan::unit::Bytes;
use assay_run::{self as run, RunOptions};
use proptest::prelude::*;
use serde_json::json;

use crate::places::model;

fn pattern(order: OffsetOrdering, block: BlockSize) -> Pattern {
    Pattern::of(Mix::only(Action::Read), order, block)
}

fn fixed(size: u64) -> BlockSize {
    BlockSize::Fixed(Bytes(size))
}

/// All I/Os of `passes` passes, lane by lane: what is done, where, how much.
fn ios(
    pattern: &Pattern,
    len: u64,
    backends: u32,
    passes: u64,
    seed: u64,
) -> Vec<(IoOp, u64, u64)> {
    let mut all = Vec::new();
    for backend in 0..backends {
        let mut cursor =
            OffsetStream::new(pattern, 0, len, (backend, backends), Some(passes), seed)
                .expect("a cursor");
        while let Some(io) = cursor.next_io() {
            assert!(io.offset + u64::from(io.len) <= len, "{io:?} beyond {len}");
            all.push((io.op, io.offset, u64::from(io.len)));
        }
    }
    all
}

fn mix(shares: &[(Action, u32)]) -> Mix {
    Mix(shares.iter().map(|&(action, weight)| ActionShare { action, weight }).collect())
}

fn sized(zones: &[(f64, u64)]) -> Vec<SizedZone> {
    let zone = |&(access_percent, size)| SizedZone { access_percent, size: Bytes(size) };
    zones.iter().map(zone).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn orders_go_exactly_where_the_plan_says(
        which in 0_usize..5, blocks in 1_u64..120, tail in 0_u64..512, stride in 1_u64..30,
        passes in 1_u64..4,
    ) {
        let stride = Bytes(stride * 512);
        let order = [
            OffsetOrdering::Forward,
            OffsetOrdering::Backward,
            OffsetOrdering::Strided { stride },
            OffsetOrdering::Spaced { stride },
            OffsetOrdering::Same,
        ][which].clone();
        let len = blocks * 512 + tail;
        let found = ios(&pattern(order.clone(), fixed(512)), len, 1, passes, 1);
        let found: Vec<u64> = found.into_iter().map(|(_, offset, _)| offset).collect();
        let once = model(&order, 512, len);
        let all: Vec<u64> = (0..passes).flat_map(|_| once.clone()).collect();
        prop_assert_eq!(found, all);
    }

    #[test]
    fn random_orders_make_as_many_as_there_are_blocks(
        which in 0_usize..9, blocks in 10_u64..300, tail in 0_u64..512, backends in 1_u32..5,
        passes in 1_u64..3, seed: u64,
    ) {
        let zones = vec![
            Zone { access_percent: 90.0, space_percent: 20.0 },
            Zone { access_percent: 10.0, space_percent: 80.0 },
        ];
        let order = [
            OffsetOrdering::Uniform,
            OffsetOrdering::Shuffled,
            OffsetOrdering::Zipf { theta: 1.2, center: Some(0.5) },
            OffsetOrdering::Pareto { h: 0.2, center: None },
            OffsetOrdering::Normal { deviation: 10.0, center: None },
            OffsetOrdering::Zoned { zones },
            OffsetOrdering::Runs { sequential: 4, random_percent: 50, same: false },
            OffsetOrdering::ZonedAbs { zones: sized(&[(90.0, 1024), (10.0, 2048)]) },
            OffsetOrdering::Each { order: Box::new(OffsetOrdering::Forward) },
        ][which].clone();
        let len = blocks * 512 + tail;
        let found = ios(&pattern(order.clone(), fixed(512)), len, backends, passes, seed);
        prop_assert_eq!(found.len() as u64, blocks * passes);
        prop_assert!(found.iter().all(|(_, offset, _)| offset % 512 == 0));
        if order == OffsetOrdering::Shuffled {
            let mut map = vec![0; blocks as usize];
            found.iter().for_each(|(_, offset, _)| map[(offset / 512) as usize] += 1);
            prop_assert_eq!(map, vec![passes; blocks as usize]);
        }
    }

    /// Reads and writes each by a place of their own, whatever the dice make of their turns.
    #[test]
    fn each_action_goes_its_own_way(
        which in 0_usize..4, blocks in 1_u64..120, tail in 0_u64..512, stride in 1_u64..9,
        passes in 1_u64..4, backends in 1_u32..5, seed: u64,
    ) {
        let stride = Bytes(stride * 512);
        let order = [
            OffsetOrdering::Forward,
            OffsetOrdering::Backward,
            OffsetOrdering::Strided { stride },
            OffsetOrdering::Spaced { stride },
        ][which].clone();
        let mut mixed = pattern(OffsetOrdering::Each { order: Box::new(order.clone()) }, fixed(512));
        mixed.mix = mix(&[(Action::Read, 3), (Action::Write, 2)]);
        let len = blocks * 512 + tail;
        let once = model(&order, 512, len);
        let mut made = 0;
        for backend in 0..backends {
            let mut cursor =
                OffsetStream::new(&mixed, 0, len, (backend, backends), Some(passes), seed).expect("a cursor");
            let mut turns = BTreeMap::from([("read", 0_u64), ("write", 0)]);
            while let Some(io) = cursor.next_io() {
                // Lanes take turns in the stream of each action.
                let turn = turns.get_mut(io.op.action().name()).expect("of the mix");
                let step = u64::from(backend) + *turn * u64::from(backends);
                prop_assert_eq!(io.offset, once[(step % once.len() as u64) as usize]);
                (*turn, made) = (*turn + 1, made + 1);
            }
        }
        // As many as one action alone would make.
        prop_assert_eq!(made, once.len() as u64 * passes);
    }

    /// Each with sizes of its own: no place of one follows from the size of the other.
    #[test]
    fn each_action_goes_by_its_own_blocks(blocks in 4_u64..100, seed: u64) {
        let size = |action, size| ActionSize { action, size: Box::new(fixed(size)) };
        let sizes = vec![size(Action::Read, 512), size(Action::Write, 2048)];
        let order = OffsetOrdering::Each { order: Box::new(OffsetOrdering::Forward) };
        let mut mixed = pattern(order, BlockSize::PerAction(sizes));
        mixed.mix = mix(&[(Action::Read, 1), (Action::Write, 1)]);
        let len = blocks * 2048;
        let all = ios(&mixed, len, 1, 1, seed);
        for (op, size) in [(IoOp::Read, 512), (IoOp::Write, 2048)] {
            let found: Vec<u64> =
                all.iter().filter(|io| io.0 == op).map(|(_, offset, _)| *offset).collect();
            let wanted = model(&OffsetOrdering::Forward, size, len).into_iter().cycle();
            prop_assert_eq!(&found, &wanted.take(found.len()).collect::<Vec<_>>());
        }
        let bytes: u64 = all.iter().map(|(.., len)| len).sum();
        prop_assert!((len..len + 2048).contains(&bytes), "{bytes} of {len}");
    }

    #[test]
    fn blocks_of_several_sizes_touch_and_cover_all(
        backward: bool, len in 64_u64..3000, backends in 1_u32..6, passes in 1_u64..4, seed: u64,
    ) {
        let order = if backward { OffsetOrdering::Backward } else { OffsetOrdering::Forward };
        let block = BlockSize::Range { least: Bytes(16), most: Bytes(64), step: Bytes(16) };
        let mut found = ios(&pattern(order, block), len, backends, passes, seed);
        // Each byte as often as there are passes, but for a tail that holds no block.
        let mut map = vec![0; len as usize];
        for (_, offset, size) in &found {
            (*offset..offset + size).for_each(|byte| map[byte as usize] += 1);
        }
        let used = len / 16 * 16;
        let model: Vec<u64> = (0..len).map(|byte| u64::from(byte < used) * passes).collect();
        prop_assert_eq!(map, model);
        if backends == 1 {
            let mut at = if backward { used } else { 0 };
            for (_, offset, size) in found.drain(..) {
                if backward {
                    prop_assert_eq!(offset + size, at);
                    at = if offset == 0 { used } else { offset };
                } else {
                    prop_assert_eq!(offset, at);
                    at = if offset + size == used { 0 } else { offset + size };
                }
            }
        }
    }

    #[test]
    fn places_are_multiples_of_the_align(
        which in 0_usize..6, align in 1_u64..5000, len in 20_000_u64..90_000, seed: u64,
    ) {
        let order = [
            OffsetOrdering::Uniform,
            OffsetOrdering::Shuffled,
            OffsetOrdering::Zipf { theta: 0.9, center: None },
            OffsetOrdering::Runs { sequential: 3, random_percent: 100, same: false },
            OffsetOrdering::Forward,
            OffsetOrdering::Backward,
        ][which].clone();
        let mut pattern = pattern(order, fixed(4096));
        pattern.region.align = Some(Bytes(align));
        for (_, offset, size) in ios(&pattern, len, 1, 1, seed) {
            prop_assert_eq!((offset % align, size), (0, 4096));
        }
    }
}

/// How often each block comes in a hundred thousand I/Os.
fn counted(order: OffsetOrdering, blocks: u64, seed: u64) -> Vec<f64> {
    let pattern = pattern(order, fixed(4096));
    let mut cursor =
        OffsetStream::new(&pattern, 0, blocks * 4096, (0, 1), None, seed).expect("a cursor");
    let mut counts = vec![0.0; blocks as usize];
    for _ in 0..100_000 {
        counts[(cursor.next_io().expect("no end").offset / 4096) as usize] += 1e-5;
    }
    counts
}

#[test]
fn the_hottest_blocks_have_the_share_that_the_law_gives_them() {
    let harmonic = |n: u32, theta: f64| (1..=n).map(|k| f64::from(k).powf(-theta)).sum::<f64>();
    for theta in [0.8, 1.2] {
        let counts = counted(OffsetOrdering::Zipf { theta, center: Some(0.25) }, 10_000, 3);
        let hottest = counts.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).expect("one").0;
        assert_eq!(hottest, 2500);
        let mut sorted = counts.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        for (n, close) in [(1, 0.004), (10, 0.006), (100, 0.008)] {
            let share: f64 = sorted[..n as usize].iter().sum();
            let law = harmonic(n, theta) / harmonic(10_000, theta);
            assert!((share - law).abs() < close, "zipf {theta}: {n} have {share}, not {law}");
        }
        // Scattered: the neighbours of the hottest are not the next hottest.
        assert!(counts[2501] < 0.05 && counts[2499] < 0.05);
    }
    // Without a center each seed has a hottest block of its own.
    let hottest = |seed| {
        let counts = counted(OffsetOrdering::Pareto { h: 0.2, center: None }, 10_000, seed);
        counts.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).expect("one").0
    };
    assert_ne!(hottest(1), hottest(2));
}

#[test]
fn zones_get_their_share_of_the_accesses() {
    let zones = [(60.0, 10.0), (0.0, 20.0), (30.0, 20.0), (10.0, 50.0)];
    let zones = zones.map(|(access_percent, space_percent)| Zone { access_percent, space_percent });
    let counts = counted(OffsetOrdering::Zoned { zones: zones.into() }, 1000, 3);
    let share = |blocks: std::ops::Range<usize>| counts[blocks].iter().sum::<f64>();
    assert!((share(0..100) - 0.6).abs() < 0.01);
    assert_eq!(share(100..300), 0.0);
    assert!((share(300..500) - 0.3).abs() < 0.01);
    assert!((share(500..1000) - 0.1).abs() < 0.01);
    assert!(counts[..100].iter().all(|count| (count - 0.006).abs() < 0.0015));
}

#[test]
fn zones_of_stated_sizes_end_where_they_say() {
    // The second begins inside of a block, which is nobody's.
    let zones = sized(&[(60.0, 100 * 4096), (0.0, 200 * 4096 + 100), (40.0, 400 * 4096)]);
    let counts = counted(OffsetOrdering::ZonedAbs { zones }, 1000, 3);
    let share = |blocks: std::ops::Range<usize>| counts[blocks].iter().sum::<f64>();
    assert!((share(0..100) - 0.6).abs() < 0.01);
    assert_eq!(share(100..301), 0.0);
    assert!((share(301..700) - 0.4).abs() < 0.01);
    assert_eq!(share(700..1000), 0.0);
    assert!(counts[301..700].iter().all(|count| *count > 0.0));
    let refused = |zones: &[(f64, u64)]| {
        let pattern = pattern(OffsetOrdering::ZonedAbs { zones: sized(zones) }, fixed(4096));
        let cursor = OffsetStream::new(&pattern, 0, 40_960, (0, 1), None, 1);
        cursor.expect_err("a refusal").to_string()
    };
    assert!(refused(&[(100.0, 50_000)]).contains("reach beyond"));
    assert!(refused(&[(50.0, 4095), (50.0, 9000)]).contains("zone 1 has accesses and not one"));
}

#[test]
fn a_jump_comes_after_each_run() {
    let order = |sequential, random_percent, same| {
        pattern(OffsetOrdering::Runs { sequential, random_percent, same }, fixed(512))
    };
    let places = |pattern: &Pattern| -> Vec<u64> {
        ios(pattern, 512 * 100_000, 1, 1, 9).into_iter().map(|(_, at, _)| at / 512).collect()
    };
    for run in places(&order(8, 100, false)).chunks(8) {
        let next = |pair: &[u64]| pair[1] == (pair[0] + 1) % 100_000;
        assert!(run.windows(2).all(next), "{run:?}");
    }
    assert!(places(&order(8, 100, true)).chunks(8).all(|run| run.iter().all(|at| *at == run[0])));
    // Three of ten jumps go anywhere.
    let all = places(&order(1, 30, false));
    let jumps = all.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
    assert!((29_500..30_500).contains(&jumps), "{jumps} of 100000");
    assert_eq!(places(&order(3, 0, false)), (0..100_000).collect::<Vec<_>>());
}

#[test]
fn each_action_has_its_share_and_its_sizes() {
    let share = |action, weight| ActionShare { action, weight };
    let size = |action, size| ActionSize { action, size: Box::new(size) };
    let split = [(4096, 90), (65_536, 10)];
    let split = split.map(|(size, weight)| WeightedSize { size: Bytes(size), weight });
    let mut pattern = pattern(
        OffsetOrdering::Uniform,
        BlockSize::PerAction(vec![
            size(Action::Read, BlockSize::Split(split.into())),
            size(Action::Write, fixed(8192)),
            size(Action::Trim, fixed(1 << 20)),
        ]),
    );
    pattern.mix = Mix(vec![
        share(Action::Read, 50),
        share(Action::Write, 30),
        share(Action::Rewrite, 15),
        share(Action::Trim, 5),
    ]);
    let all = ios(&pattern, 1 << 30, 1, 1, 4);
    let mut counts: BTreeMap<(&str, u64), f64> = BTreeMap::new();
    for (op, _, len) in &all {
        *counts.entry((op.action().name(), *len)).or_default() += 100.0 / all.len() as f64;
    }
    let wanted = [
        (("read", 4096), 45.0),
        (("read", 65_536), 5.0),
        // What has no size of its own takes the first one's.
        (("rewrite", 4096), 13.5),
        (("rewrite", 65_536), 1.5),
        (("trim", 1 << 20), 5.0),
        (("write", 8192), 30.0),
    ];
    assert!(counts.keys().eq(wanted.iter().map(|(key, _)| key)), "{counts:?}");
    for (key, percent) in wanted {
        assert!((counts[&key] - percent).abs() < 0.3, "{key:?}: {} %", counts[&key]);
    }
}

/// What fio's own log of a job says: directions and offsets; `None` when it is not installed.
fn fio_log(words: &[&str], blocks: u64, ops: u64) -> Option<Vec<(String, u64)>> {
    let desk = tempfile::tempdir().expect("a folder");
    let log = desk.path().join("log");
    let out = std::process::Command::new("fio")
        .args(["--name=a", "--ioengine=null", "--bs=4k", "--norandommap"])
        .args(["--filename=x", "--output=/dev/null"])
        .arg(format!("--size={}", blocks * 4096))
        .arg(format!("--io_size={}", ops * 4096))
        .arg(format!("--write_iolog={}", log.display()))
        .args(words)
        .current_dir(desk.path())
        .output()
        .ok()?;
    assert!(out.status.success(), "fio: {}", String::from_utf8_lossy(&out.stderr));
    let text = std::fs::read_to_string(log).expect("a log");
    let io = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        [_, _, way @ ("read" | "write"), offset, _] => {
            Some((way.to_string(), offset.parse().expect("a number")))
        }
        _ => None,
    };
    Some(text.lines().filter_map(io).collect())
}

/// How often fio reads each block in a hundred thousand I/Os.
fn fio(words: &[&str], blocks: u64) -> Option<Vec<f64>> {
    let words = [&["--rw=randread"], words].concat();
    let mut counts = vec![0.0; blocks as usize];
    for (_, offset) in fio_log(&words, blocks, 100_000)? {
        counts[(offset / 4096) as usize] += 1e-5;
    }
    Some(counts)
}

#[test]
fn a_sequential_mix_goes_where_fios_goes() {
    const BLOCKS: u64 = 1000;
    let words = ["--rw=rw", "--rwmixread=30"];
    let Some(theirs) = fio_log(&words, BLOCKS, BLOCKS) else {
        eprintln!("SKIP a_sequential_mix_goes_where_fios_goes: fio is not installed");
        return;
    };
    let order = OffsetOrdering::Each { order: Box::new(OffsetOrdering::Forward) };
    let mut mixed = pattern(order, fixed(4096));
    mixed.mix = mix(&[(Action::Read, 30), (Action::Write, 70)]);
    let ours: Vec<(String, u64)> = ios(&mixed, BLOCKS * 4096, 1, 1, 3)
        .into_iter()
        .map(|(op, offset, _)| (op.action().name().to_string(), offset))
        .collect();
    assert_eq!((ours.len(), theirs.len()), (1000, 1000));
    for (way, share) in [("read", 300), ("write", 700)] {
        let of = |log: &[(String, u64)]| -> Vec<u64> {
            log.iter().filter(|(known, _)| known == way).map(|(_, offset)| *offset).collect()
        };
        let (ours, theirs) = (of(&ours), of(&theirs));
        // The dice differ: one comes a little further than the other, on the same way.
        let both = ours.len().min(theirs.len());
        assert!(both.abs_diff(share) < 60, "{way}: {} and {}", ours.len(), theirs.len());
        assert_eq!(ours[..both], theirs[..both], "{way}");
    }
}

#[test]
fn the_laws_are_those_of_fio() {
    let zones = |list: [(f64, f64); 2]| {
        list.map(|(access_percent, space_percent)| Zone { access_percent, space_percent })
    };
    let cases = [
        ("zipf:1.2:0.5", OffsetOrdering::Zipf { theta: 1.2, center: Some(0.5) }),
        ("zipf:0.8:0.5", OffsetOrdering::Zipf { theta: 0.8, center: Some(0.5) }),
        ("pareto:0.2:0.5", OffsetOrdering::Pareto { h: 0.2, center: Some(0.5) }),
        (
            "zoned_abs:80/8192000:20/32768000",
            OffsetOrdering::ZonedAbs { zones: sized(&[(80.0, 8_192_000), (20.0, 32_768_000)]) },
        ),
        (
            "zoned:80/20:20/80",
            OffsetOrdering::Zoned { zones: zones([(80.0, 20.0), (20.0, 80.0)]).into() },
        ),
    ];
    for (word, order) in cases {
        let Some(theirs) = fio(&[&format!("--random_distribution={word}")], 10_000) else {
            eprintln!("SKIP the_laws_are_those_of_fio: fio is not installed");
            return;
        };
        let ours = counted(order, 10_000, 5);
        // fio's hash lets several ranks fall on one block, so that its tail is a little steeper.
        if word.starts_with("zoned") {
            let head = |counts: &[f64]| counts[..2000].iter().sum::<f64>();
            assert!((head(&ours) - head(&theirs)).abs() < 0.01, "{word}");
            continue;
        }
        assert!(
            (ours[5000] - theirs[5000]).abs() < 0.006,
            "{word}: {} {}",
            ours[5000],
            theirs[5000]
        );
        for n in [10, 100] {
            let head = |counts: &[f64]| {
                let mut sorted = counts.to_vec();
                sorted.sort_by(|a, b| b.total_cmp(a));
                sorted[..n].iter().sum::<f64>()
            };
            let (ours, theirs) = (head(&ours), head(&theirs));
            assert!((ours - theirs).abs() < 0.03, "{word}: {n} hottest: {ours}, fio {theirs}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24, failure_persistence: None, ..ProptestConfig::default()
    })]

    /// The bytes that a file really got, against a map of what the plan says.
    #[test]
    fn a_pass_writes_exactly_these_bytes(
        which in 0_usize..4, method in 0_usize..3, workers in 1_u32..4, divided: bool,
        blocks in 8_u64..40, tail in 0_u64..4096, offset in 0_u64..3, rewrite: bool,
    ) {
        let order = [
            json!("forward"), json!("backward"), json!("shuffled"),
            json!({ "spaced": { "stride": 3 * 4096 } }),
        ][which].clone();
        let (size, offset) = (blocks * 4096 + tail, offset * 512);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        std::fs::write(&path, vec![0xee; size as usize]).expect("written");
        let action = if rewrite { "rewrite" } else { "write" };
        let loop_config = [json!("psync"), json!({ "io_uring": {} }), json!("pool")];
        let depth = [1, 4, 3][method];
        let plan: Plan = serde_json::from_value(json!({
            "title": "t", "origin": { "dialect": "plan" }, "seed": 7,
            "phases": [{ "name": "p", "jobs": [{
                "name": "j", "workers": workers,
                "work": { "blocks": {
                    "target": { "file": { "path": path, "size": { "exactly": size } } },
                    "method": loop_config[method],
                    "iodepth": depth,
                    "pattern": {
                        "mix": [{ "action": action, "weight": 1 }], "order": order,
                        "block": { "fixed": 4096 },
                        "region": { "offset": offset, "divided": divided },
                    },
                } },
                "stop": { "first_of": [{ "passes": 1 }] },
            }] }],
        })).expect("a plan");
        let record = run::run(&plan, &RunOptions::default(), &mut ()).expect("a run");
        prop_assert_eq!(&record.phases[0].faults, &[]);
        let mut map = vec![false; size as usize];
        let (parts, all) = (u64::from(workers), size - offset);
        let part = if divided { all / parts / 4096 * 4096 } else { all };
        let mut ops = 0;
        for worker in 0..parts {
            let start = offset + if divided { worker * part } else { 0 };
            let stride = if which == 3 { 3 * 4096 } else { 4096 };
            for place in (0..).map(|i| i * stride).take_while(|at| at + 4096 <= part) {
                ops += 1;
                map[(start + place) as usize..(start + place + 4096) as usize].fill(true);
            }
        }
        let total: Vec<_> = record.phases[0].totals.iter().collect();
        prop_assert_eq!(total.len(), 1);
        prop_assert_eq!((total[0].0.name(), total[0].1.ops.0), (action, ops));
        prop_assert_eq!(total[0].1.bytes.0, ops * 4096);
        let mut content = vec![0; size as usize];
        std::fs::File::open(&path).expect("open").read_exact_at(&mut content, 0).expect("read");
        for (at, sector) in content.chunks(512).enumerate() {
            let untouched = sector.iter().all(|byte| *byte == 0xee);
            prop_assert_eq!(untouched, !map[at * 512], "sector {}", at);
        }
    }
}
