//! Rewrites and trims: what they do to files and devices, and how they are counted.

use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use assay_plan::error::Error;
use assay_plan::plan::{Action, Plan};
use assay_record::evidence::Direction;
use assay_record::record::Record;
use serde_json::{Value, json};

use crate::lab::{
    self, Backing, Faults, FaultyFuse, MI, Memory, Op, PacedFuse, RamDisk, Speed, on,
};

use crate::runs::{go, refused};

/// A plan of one job with these weights of actions.
fn plan(target: Value, mix: &[(&str, u32)], changes: &[(&str, Value)]) -> Plan {
    let mix: Vec<Value> =
        mix.iter().map(|(action, weight)| json!({ "action": action, "weight": weight })).collect();
    let mut blocks = json!({
        "target": target,
        "pattern": { "mix": mix, "block": { "fixed": 4096 } },
    });
    let mut job = json!({ "name": "j", "stop": { "first_of": [{ "passes": 1 }] } });
    for (word, value) in changes {
        match *word {
            "method" | "iodepth" | "caching" => blocks[word] = value.clone(),
            "stop" | "detail" => job[word] = value.clone(),
            _ => blocks["pattern"][word] = value.clone(),
        }
    }
    job["work"] = json!({ "blocks": blocks });
    let plan = json!({
        "title": "actions", "origin": { "dialect": "plan" }, "seed": 7,
        "phases": [{ "name": "p", "jobs": [job] }],
    });
    serde_json::from_value(plan).expect("a plan")
}

fn file(path: &Path, size: u64) -> Value {
    json!({ "file": { "path": path, "size": { "exactly": size } } })
}

/// What was counted: action, operations, bytes.
fn counts(record: &Record) -> Vec<(&'static str, u64, u64)> {
    let totals = &record.phases[0].totals;
    totals.iter().map(|(action, total)| (action.name(), total.ops.0, total.bytes.0)).collect()
}

/// Bytes of the flows of a phase: in, out.
fn flows(record: &Record) -> Vec<(Direction, u64, u64)> {
    let flows = record.phases[0].flows.iter();
    flows.map(|flow| (flow.direction, flow.bytes.0, flow.calls.0)).collect()
}

#[test]
fn a_rewrite_reads_and_writes_and_is_counted_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    for (method, depth) in [(json!("psync"), 1), (json!({ "io_uring": {} }), 8), (json!("pool"), 3)]
    {
        std::fs::write(&path, vec![0xee; MI as usize]).expect("written");
        let changes = [("method", method), ("iodepth", json!(depth))];
        let record = go(&plan(file(&path, MI), &[("rewrite", 1)], &changes)).expect("a run");
        assert_eq!(counts(&record), [("rewrite", 256, MI)]);
        assert_eq!(flows(&record), [(Direction::Read, MI, 256), (Direction::Write, MI, 256)]);
        let lat = record.phases[0].totals[&Action::Rewrite].lat_ns.expect("latency");
        assert_eq!(lat.n, 256);
        let content = std::fs::read(&path).expect("read");
        assert!(content.chunks(512).all(|sector| sector.iter().any(|byte| *byte != 0xee)));
    }
}

#[test]
fn a_rewrite_may_change_one_byte_of_each_sector() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    let old: Vec<u8> = (0..MI).map(|at| (at % 251) as u8).collect();
    let mut new = old.clone();
    // The last of each sector, counted in its block, and of what is left over.
    for block in new.chunks_mut(3000) {
        block.chunks_mut(512).filter_map(|sector| sector.last_mut()).for_each(|byte| {
            *byte = byte.wrapping_add(1);
        });
    }
    let used = new.len() / 3000 * 3000;
    new[used..].copy_from_slice(&old[used..]);
    for (method, depth) in
        [("sync", 1), ("psync", 1), ("mmap", 1), ("bytewise", 1), ("pool", 3), ("libaio", 4)]
    {
        std::fs::write(&path, &old).expect("written");
        let changes = [
            ("method", json!(method)),
            ("iodepth", json!(depth)),
            ("block", json!({ "fixed": 3000 })),
            ("change", json!("one_byte")),
        ];
        let record = go(&plan(file(&path, MI), &[("rewrite", 1)], &changes)).expect("a run");
        assert_eq!(counts(&record), [("rewrite", MI / 3000, used as u64)], "{method}");
        assert!(std::fs::read(&path).expect("read") == new, "{method}");
    }
}

#[test]
fn latencies_of_laps_add_up_to_the_whole_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let block = ("block", json!({ "fixed": MI }));
    // What part of the time of a worker is in no latency.
    let beside = |laps: bool| {
        let detail = ("detail", json!({ "laps": laps }));
        let path = folder.path().join("x");
        let plan = plan(file(&path, 64 * MI), &[("write", 1)], &[block.clone(), detail]);
        let record = go(&plan).expect("a run");
        let total = &record.phases[0].totals[&Action::Write];
        let (lat, rate) = (total.lat_ns.expect("latency"), total.bandwidth.expect("a rate").0);
        let time = total.bytes.0 as f64 / rate * 1e9;
        1.0 - lat.mean * lat.n as f64 / time
    };
    let (none, some) = (beside(true), beside(false));
    println!("in no latency: {none:.6} with laps, {some:.6} without");
    assert!(none.abs() < 1e-4, "{none}");
    // 1 MiB is made in 3 us at the least, and written in memory in 3 ms at the most.
    assert!(some > 1e-3, "{some}");
}

#[test]
fn of_brisk_calls_some_are_timed_and_all_are_counted() {
    let memory = lab::need!(Memory::tmpfs());
    let timed = |block: u64, action: &str| {
        let block = ("block", json!({ "fixed": block }));
        let detail = ("detail", json!({ "sampled": true }));
        let path = memory.mount().join("x");
        std::fs::write(&path, vec![7; 16 * MI as usize]).expect("written");
        let plan = plan(file(&path, 16 * MI), &[(action, 1)], &[block, detail]);
        let record = go(&plan).expect("a run");
        let action = if action == "read" { Action::Read } else { Action::Write };
        let total = &record.phases[0].totals[&action];
        assert_eq!(total.bytes.0, 16 * MI);
        let points = &record.phases[0].series.points;
        assert_eq!(points.iter().map(|point| point.ops).sum::<u64>(), total.ops.0);
        assert_eq!(total.histogram.iter().map(|cell| cell.1).sum::<u64>(), total.lat_ns.unwrap().n);
        (total.lat_ns.expect("some are timed").n, total.ops.0)
    };
    // From memory and into it, a microsecond or so for 512 bytes, and not as little for 1 MiB.
    for action in ["read", "write"] {
        let (n, ops) = timed(512, action);
        assert!(n >= ops / 33 && n < ops / 2, "{action}: {n} of {ops}");
        let (n, ops) = timed(MI, action);
        assert_eq!((n, ops), (16, 16), "{action}");
    }
}

#[test]
fn a_rewrite_takes_two_calls_of_the_device() {
    let sim = json!({ "sim": { "latency": 100_000 } });
    let nowhere = json!({ "nowhere": { "size": 1_u64 << 30 } });
    let ops = json!({ "first_of": [{ "ops": 1000 }] });
    let mix = [("read", 90), ("rewrite", 10)];
    let record =
        go(&plan(nowhere, &mix, &[("method", sim), ("order", json!("uniform")), ("stop", ops)]))
            .expect("a run");
    let totals = &record.phases[0].totals;
    let lat = |action| totals[&action].lat_ns.expect("latency");
    assert_eq!((lat(Action::Read).p50, lat(Action::Read).max), (Some(100_000), 100_000));
    assert_eq!((lat(Action::Rewrite).min, lat(Action::Rewrite).max), (200_000, 200_000));
    // One of ten, as Bonnie's seekers do it.
    let rewrites = totals[&Action::Rewrite].ops.0;
    assert!((70..130).contains(&rewrites), "{rewrites} of 1000");
    let time = record.phases[0].span.time().0;
    assert_eq!(time, (1000 + rewrites) * 100_000);
}

#[test]
fn a_rewrite_ends_alike_whichever_way_it_goes() {
    let faulty = lab::need!(FaultyFuse::new(Faults::default()));
    let path = faulty.path("x");
    faulty.put("x", &[]);
    let old = vec![0xee; 32_768];
    // Methods that answer at once rewrite in one lap of the loop, a queue in two.
    let loop_config =
        [json!("sync"), json!("psync"), json!({ "vectored": {} }), json!({ "libaio": {} })];
    for (faults, ended, (blocks, read, written)) in [
        (
            Faults::from(on(Op::Read).past(20_480).fails(libc::EIO)),
            Some(("read", 20_480)),
            (5, 20_480, 20_480),
        ),
        (
            Faults::from(on(Op::Write).past(20_480).fails(libc::EIO)),
            Some(("write", 20_480)),
            (5, 24_576, 20_480),
        ),
        // As much is written as was read.
        (Faults::from(on(Op::Read).at_most(1000)), None, (8, 8000, 8000)),
    ] {
        for method in &loop_config {
            faulty.set(Faults::default());
            std::fs::write(&path, &old).expect("written");
            faulty.set(faults.clone());
            let changes = [("method", method.clone())];
            let record =
                go(&plan(file(&path, 32_768), &[("rewrite", 1)], &changes)).expect("a run");
            let phase = &record.phases[0];
            let fault = phase.faults.first().map(|f| (f.doing.name(), f.offset.unwrap_or(0)));
            assert_eq!(fault, ended, "{method}");
            assert_eq!(counts(&record), [("rewrite", blocks, written)], "{method}");
            let bytes: Vec<_> = flows(&record).iter().map(|flow| (flow.0, flow.1)).collect();
            assert_eq!(bytes, [(Direction::Read, read), (Direction::Write, written)], "{method}");
            let (least, full) = (written.div_ceil(blocks) as usize, blocks as usize * 4096);
            let now = faulty.content("x").expect("there");
            let changed = |block: &[u8]| block[..least].iter().any(|byte| *byte != 0xee);
            assert!(now[..full].chunks(4096).all(changed), "{method}");
            assert!(now[..full].chunks(4096).all(|block| block[least..] == old[least..4096]));
            assert_eq!(now[full..], old[full..], "{method}");
        }
    }
}

#[test]
fn a_trimmed_file_has_holes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    for (method, depth) in [(json!("psync"), 1), (json!({ "io_uring": {} }), 8)] {
        std::fs::write(&path, vec![0xee; MI as usize]).expect("written");
        let before = std::fs::metadata(&path).expect("there").blocks();
        let stride = json!({ "spaced": { "stride": 8192 } });
        let changes = [("method", method), ("iodepth", json!(depth)), ("order", stride)];
        let record = match go(&plan(file(&path, MI), &[("trim", 1)], &changes)) {
            Err(Error::Refusal(why)) if why.why.contains("can make no holes") => {
                eprintln!("SKIP a_trimmed_file_has_holes: {why}");
                return;
            }
            record => record.expect("a run"),
        };
        assert_eq!(counts(&record), [("trim", 128, MI / 2)]);
        // No data went anywhere.
        assert_eq!(flows(&record), []);
        let content = std::fs::read(&path).expect("read");
        assert_eq!(content.len() as u64, MI);
        for (index, block) in content.chunks(4096).enumerate() {
            let left = if index % 2 == 0 { 0 } else { 0xee };
            assert!(block.iter().all(|byte| *byte == left), "block {index}");
        }
        // Half of the data, and what the file system needs to know the holes.
        let left = std::fs::metadata(&path).expect("there").blocks();
        assert!(left < before * 3 / 4, "{left} of {before} blocks are left");
        assert_eq!(record.resolved.notes, Vec::<String>::new());
    }
}

#[test]
fn as_many_trims_are_in_flight_as_the_plan_says() {
    let disk = lab::need!(RamDisk::raw(64 * MI));
    let target = json!({ "device": {
        "path": disk.device(), "size": "whole", "consent": { "device": disk.device() },
    }});
    for (name, method) in [
        ("io_uring", json!({ "io_uring": {} })),
        ("libaio", json!({ "libaio": {} })),
        ("posixaio", json!("posixaio")),
    ] {
        for mix in [vec![("trim", 1)], vec![("read", 1), ("trim", 1)]] {
            let changes = [
                ("method", method.clone()),
                ("iodepth", json!(8)),
                ("caching", json!("direct")),
                ("order", json!("uniform")),
                ("stop", json!({ "first_of": [{ "ops": 8000 }] })),
            ];
            let record = go(&plan(target.clone(), &mix, &changes)).expect("a run");
            assert_eq!(record.phases[0].faults, [], "{name}");
            let totals = &record.phases[0].totals;
            let done: u64 = totals.values().map(|total| total.ops.0).sum();
            assert_eq!(done, 8000, "{name}");
            let depth = record.phases[0].jobs[0].depth.as_ref().expect("a depth");
            println!("{name} {mix:?}: {depth:?}");
            assert!(depth.mean > 6.0, "{name} {mix:?}: {depth:?}");
        }
    }
}

#[test]
fn a_device_forgets_what_is_trimmed() {
    let disk = lab::need!(RamDisk::raw(16 * MI));
    let target = json!({ "device": {
        "path": disk.device(), "size": "whole", "consent": { "device": disk.device() },
    }});
    let mix = [("write", 1), ("trim", 1)];
    let changes = [
        ("caching", json!("direct")),
        ("fill", json!({ "repeat": [0xee] })),
        ("stop", json!({ "first_of": [{ "ops": 2000 }] })),
        ("order", json!("shuffled")),
    ];
    let record = go(&plan(target.clone(), &mix, &changes)).expect("a run");
    assert_eq!(record.phases[0].faults, []);
    let totals = &record.phases[0].totals;
    assert_eq!(totals[&Action::Write].ops.0 + totals[&Action::Trim].ops.0, 2000);
    assert_eq!(flows(&record).len(), 1);
    let disk_file = std::fs::File::open(disk.device()).expect("open");
    let mut content = vec![0; 16 * MI as usize];
    disk_file.read_exact_at(&mut content, 0).expect("read");
    let written = content.chunks(4096).filter(|block| block.iter().all(|b| *b == 0xee)).count();
    assert_eq!(written as u64, totals[&Action::Write].ops.0);
    let odd = [("block", json!({ "fixed": 5000 }))];
    let why = refused(&plan(target, &[("trim", 1)], &odd));
    assert!(why.contains("contradicts places or blocks that are no multiples of"), "{why}");
}

#[test]
fn a_device_forgets_what_was_just_written_to_the_page_cache() {
    let disk = lab::need!(RamDisk::raw(4 * MI));
    let target = json!({ "device": {
        "path": disk.device(), "size": "whole", "consent": { "device": disk.device() },
    }});
    let changes = [("order", json!("uniform")), ("stop", json!({ "first_of": [{ "ops": 4000 }] }))];
    let record = go(&plan(target, &[("write", 1), ("trim", 1)], &changes)).expect("a run");
    assert_eq!(record.phases[0].faults, []);
    let totals = &record.phases[0].totals;
    assert_eq!(totals[&Action::Write].ops.0 + totals[&Action::Trim].ops.0, 4000);
}

#[test]
fn trims_of_a_file_in_a_folder_that_takes_no_others_are_refused_too() {
    let fuse = lab::need!(PacedFuse::new(MI, Speed::FREE, Backing::Memory));
    let why = refused(&plan(file(&fuse.path(), MI), &[("trim", 1)], &[]));
    assert!(why.contains("its file system can make no holes in files"), "{why}");
    // Where holes can be made it is left as it was.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    std::fs::write(&path, vec![0xee; MI as usize]).expect("written");
    assert_ne!(assay_record::evidence::SysRoot::default().punches(&path), Some(false));
    assert_eq!(std::fs::read(&path).expect("read"), vec![0xee; MI as usize]);
}

#[test]
fn trims_that_the_file_system_can_not_do_are_refused() {
    let faulty = lab::need!(FaultyFuse::new(Faults::default()));
    let path = faulty.path("x");
    faulty.put("x", &[0xee; 8192]);
    let mix = [("read", 1), ("trim", 1)];
    assert_eq!(
        refused(&plan(file(&path, 8192), &mix, &[])),
        format!(
            "phase 'p', job 'j': 'trim' on {}: its file system can make no holes in files; leave 'trim' out of the mix",
            path.display()
        )
    );
    assert_eq!(faulty.content("x"), Some(vec![0xee; 8192]));
}

#[test]
fn words_that_contradict_each_other_are_refused_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    std::fs::write(&path, vec![0xee; MI as usize]).expect("written");
    let job = |changes: &[(&str, Value)]| plan(file(&path, MI), &[("read", 1)], changes);
    let direct = ("caching", json!("direct"));
    let why = refused(&job(&[direct.clone(), ("block", json!({ "fixed": 1000 }))]));
    let start =
        "phase 'p', job 'j': 'direct' contradicts a block size of 1000 bytes: direct I/O on ";
    assert!(why.starts_with(start) && why.ends_with(", or use 'buffered'"), "{why}");
    let why = refused(&job(&[direct, ("region", json!({ "align": 100 }))]));
    assert!(why.contains("'direct' contradicts an align of 100 bytes"), "{why}");
    let flush = [("mix", json!([{ "action": "flush", "weight": 1 }]))];
    assert!(refused(&job(&flush)).contains("'flush' is no part of a mix"));
    for (word, value, said) in [
        ("order", json!({ "zipf": { "theta": 0.0 } }), "zipf's theta 0"),
        (
            "order",
            json!({ "zipf": { "theta": 1.2, "center": 2.0 } }),
            "a center at 2 of the region",
        ),
        ("order", json!({ "pareto": { "h": 1.0 } }), "pareto's h 1"),
        ("order", json!({ "normal": { "deviation": 0.0 } }), "a normal deviation of 0 %"),
        (
            "order",
            json!({ "zoned": { "zones": [{ "access_percent": 60.0, "space_percent": 100.0 }] } }),
            "zones whose percents do not add up to 100",
        ),
        ("order", json!({ "runs": { "sequential": 0, "random_percent": 50 } }), "runs of 0 blocks"),
        ("order", json!({ "runs": { "sequential": 1, "random_percent": 101 } }), "more than 100"),
        ("order", json!({ "spaced": { "stride": 0 } }), "a stride of 0"),
        (
            "fill",
            json!({ "compressible": { "compress_percent": 97, "dedupe_percent": 0 } }),
            "a compress_percent above 96",
        ),
        ("fill", json!({ "file": "/not/there" }), "/not/there: No such file or directory"),
        ("change", json!("one_byte"), "change 'one_byte' contradicts a mix without 'rewrite'"),
    ] {
        let why = refused(&job(&[(word, value)]));
        assert!(why.contains(said), "{why}");
    }
    // Arrivals are of one kind: two cannot be written down.
    let mut both = serde_json::to_value(job(&[])).expect("json");
    both["phases"][0]["jobs"][0]["rate"] = json!({ "arrivals": {
        "even": { "iops": 10.0 }, "bursts": { "ops": 1, "every": 1 },
    } });
    assert!(serde_json::from_value::<Plan>(both).is_err());
}
