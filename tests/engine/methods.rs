//! Every method writes and reads the right bytes at the right places, and says what went wrong; and
//! what this machine cannot do is said, and done otherwise.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_engine::engine::{
    CacheControl, DataFiller, FileSpan, FlushKind, IoQuota, IoRoute, KnownGenerations, Worker,
    WorkerTotals, WriteGeneration,
};
use assay_plan::plan::{
    Action, Advice, AioOptions, BlockSize, FileOrder, Fill, Method, Mix, MmapOptions,
    OffsetOrdering, Pattern, Plan, Rate, RingOptions, TrimCall, VectoredFlags, Verify,
};
use assay_plan::stats::{LatencySplit, LiveCounters};
use assay_plan::unit::Bytes;
use assay_record::record::{Ending, Record};
use serde_json::{Value, json};

use crate::lab;
use crate::runs::{go, refused};

const SEED: u64 = 7;

/// Every way to move blocks, with a name for messages, and the depth it is used with.
fn methods() -> Vec<(&'static str, Method, u32)> {
    let ring = RingOptions::default();
    let mut all = vec![
        ("psync", Method::Psync, 1),
        ("sync", Method::Sync, 1),
        ("splice", Method::Splice, 1),
        ("bytewise", Method::Bytewise, 1),
        ("vectored", Method::Vectored(VectoredFlags::default()), 1),
        (
            "vectored nowait",
            Method::Vectored(VectoredFlags { nowait: true, ..VectoredFlags::default() }),
            1,
        ),
        (
            "vectored dsync",
            Method::Vectored(VectoredFlags { dsync: true, ..VectoredFlags::default() }),
            1,
        ),
        ("mmap", Method::Mmap(MmapOptions::default()), 1),
        (
            "mmap async",
            Method::Mmap(MmapOptions {
                advice: Advice::Random,
                msync_async: true,
                ..MmapOptions::default()
            }),
            1,
        ),
        ("stdio records", Method::Stdio { buffer: 4096, bytewise: false }, 1),
        ("stdio bytes", Method::Stdio { buffer: 1000, bytewise: true }, 1),
        ("posixaio", Method::PosixAio, 8),
    ];
    if let Err(error) = assay_engine::sys::ring::available() {
        eprintln!("SKIP io_uring in tests/engine/methods.rs: {error}");
    } else {
        all.extend([
            ("io_uring", Method::IoUring(ring), 8),
            ("io_uring plain", Method::IoUring(RingOptions { fixed: false, ..ring }), 8),
            ("io_uring batches", Method::IoUring(RingOptions { batch: 4, ..ring }), 8),
            ("io_uring vectored", Method::IoUring(RingOptions { vectored: true, ..ring }), 8),
            ("io_uring linked", Method::IoUring(RingOptions { linked: true, ..ring }), 8),
            ("io_uring sqpoll", Method::IoUring(RingOptions { sqpoll: true, ..ring }), 8),
        ]);
    }
    match assay_engine::sys::aio::available() {
        Err(error) => eprintln!("SKIP libaio in tests/engine/methods.rs: {error}"),
        Ok(()) => all.extend([
            ("libaio", Method::Libaio(AioOptions::default()), 8),
            ("libaio batches", Method::Libaio(AioOptions { batch: 4, ..AioOptions::default() }), 8),
        ]),
    }
    all
}

fn pattern(action: Action, order: OffsetOrdering, block: u64) -> Pattern {
    Pattern::of(Mix::only(action), order, BlockSize::Fixed(Bytes(block)))
}

fn open(path: &Path) -> OwnedFd {
    let file = File::options().read(true).write(true).create(true).truncate(false).open(path);
    file.expect("a file").into()
}

/// The way of one worker through one file.
fn route(pattern: &Pattern, (start, len): (u64, u64), passes: Option<u64>) -> IoRoute {
    let stretch =
        FileSpan { start, len, lens: &[], backend: (0, 1), passes, seed: SEED, worker: 0 };
    IoRoute::new(pattern, 1, FileOrder::default(), stretch).expect("a route")
}

/// One worker alone on one file.
fn worker<'w>(
    path: &Path,
    (method, iodepth): (Method, u32),
    pattern: &Pattern,
    cursor: IoRoute,
    live_counters: &'w LiveCounters,
    halt: &'w AtomicBool,
) -> Worker<'w> {
    Worker {
        files: Arc::new(vec![open(path).into()]),
        paths: Arc::from([path.display().to_string()]),
        first_file: 0,
        cursor,
        pass: None,
        balance: None,
        split: LatencySplit::default(),
        laps: false,
        sampled: false,
        by_file: false,
        log: None,
        filler: DataFiller::new(&pattern.fill, SEED).expect("a filler"),
        verify: pattern.verify,
        method,
        iodepth,
        block: pattern.largest().0 as usize,
        priorities: None,
        write_hint: None,
        trim_call: TrimCall::default(),
        rate: Rate::CLOSED,
        place: (0, 1),
        flush: None,
        flush_last: false,
        aside: CacheControl::default(),
        interference: Default::default(),
        donor: None,
        grows: false,
        limits: Default::default(),
        apart: false,
        quota: IoQuota::default(),
        seed: SEED,
        generation: WriteGeneration::timed(0, 0),
        layers: [].into(),
        census: None,
        live_counters,
        halt,
    }
}

/// What one worker brings home that makes one pass over `len` bytes of a file from `start`.
fn pass(
    path: &Path,
    (method, iodepth): (Method, u32),
    pattern: &Pattern,
    (start, len): (u64, u64),
    flush: Option<(u64, FlushKind)>,
) -> WorkerTotals {
    let method = match method {
        // Buffered writes that do not wait are not for every file system: resolving sees to that.
        Method::Vectored(flags) if pattern.mix.writes() => {
            Method::Vectored(VectoredFlags { nowait: false, ..flags })
        }
        method => method,
    };
    let (live_counters, halt) = (LiveCounters::default(), AtomicBool::new(false));
    let worker = Worker {
        flush,
        ..worker(
            path,
            (method, iodepth),
            pattern,
            route(pattern, (start, len), Some(1)),
            &live_counters,
            &halt,
        )
    };
    worker.go(&mut || ()).unwrap_or_else(|fault| panic!("{method:?}: {fault}"))
}

#[test]
fn each_method_writes_and_reads_what_it_should_where_it_should() {
    let folder = tempfile::tempdir().unwrap();
    let filler = DataFiller::new(&Fill::Random, SEED).unwrap();
    // Offsets that no page boundary helps; blocks that are no whole pages.
    const BLOCK: u64 = 3 * 512;
    const START: u64 = 5 * 512;
    const BLOCKS: u64 = 101;
    for (name, method, depth) in methods() {
        for (order, flush) in [
            (OffsetOrdering::Forward, None),
            (OffsetOrdering::Backward, Some((7, FlushKind::Fdatasync))),
            (OffsetOrdering::Shuffled, Some((1, FlushKind::Fsync))),
        ] {
            let path = folder.path().join("x");
            std::fs::write(&path, [0xa5; (START + BLOCK * BLOCKS + 777) as usize]).unwrap();
            let region = (START, BLOCK * BLOCKS);
            let writes = pattern(Action::Write, order.clone(), BLOCK);
            let worker_totals = pass(&path, (method, depth), &writes, region, flush);
            let told = format!("{name}, {order:?}");
            assert_eq!(worker_totals.fault, None, "{told}");
            let written = worker_totals.tallies.get(Action::Write).expect("it writes");
            assert_eq!((written.ops, written.short), (BLOCKS, 0), "{told}");
            let wanted = flush.map_or(0, |(every, _)| BLOCKS / every);
            assert_eq!(
                worker_totals.tallies.get(Action::Flush).map_or(0, |flushes| flushes.ops),
                wanted,
                "{told}"
            );
            // The file itself, by other means: what lies beside the region is as it was.
            let bytes = std::fs::read(&path).unwrap();
            let (before, rest) = bytes.split_at(START as usize);
            let (inside, after) = rest.split_at((BLOCK * BLOCKS) as usize);
            assert!(before.iter().chain(after).all(|&byte| byte == 0xa5), "{told}");
            assert_eq!(after.len(), 777, "{told}");
            assert_eq!(
                filler.check(inside, START, KnownGenerations::Layers(&[])),
                Ok(()),
                "{told}"
            );
            // The same way back, each byte looked at.
            let reads = Pattern { verify: Verify::Full, ..pattern(Action::Read, order, BLOCK) };
            let worker_totals = pass(&path, (method, depth), &reads, region, None);
            assert_eq!(worker_totals.fault, None, "{told}");
            let read = worker_totals.tallies.get(Action::Read).expect("it reads");
            assert_eq!((read.ops, read.mismatches), (BLOCKS, 0), "{told}");
            // And it would have been seen.
            let at = START + BLOCK * 50 + 600;
            rustix::io::pwrite(open(&path), b"other", at).unwrap();
            let worker_totals = pass(&path, (method, depth), &reads, region, None);
            let fault = worker_totals.fault.unwrap_or_else(|| panic!("{told}: not seen"));
            // The first byte that differs: those there may be the same by chance.
            assert_eq!(fault.doing.name(), "verify");
            assert!(fault.offset.is_some_and(|wrong| (at..at + 5).contains(&wrong)), "{fault}");
        }
    }
}

#[test]
fn reads_and_writes_take_turns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    for (name, method, depth) in methods() {
        let both = Pattern {
            mix: serde_json::from_value(json!([
                { "action": "read", "weight": 50 },
                { "action": "write", "weight": 50 },
            ]))
            .unwrap(),
            verify: Verify::Full,
            ..pattern(Action::Read, OffsetOrdering::Shuffled, 4096)
        };
        let fresh = pattern(Action::Write, OffsetOrdering::Forward, 4096);
        pass(&path, (Method::Psync, 1), &fresh, (0, 1 << 20), None);
        let worker_totals = pass(&path, (method, depth), &both, (0, 1 << 20), None);
        assert_eq!(worker_totals.fault, None, "{name}");
        let ops = |action| worker_totals.tallies.get(action).map_or(0, |tally| tally.ops);
        assert_eq!(ops(Action::Read) + ops(Action::Write), 256, "{name}");
        assert!(ops(Action::Read) > 0 && ops(Action::Write) > 0, "{name}");
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(
            DataFiller::new(&Fill::Random, SEED).unwrap().check(
                &bytes,
                0,
                KnownGenerations::Layers(&[])
            ),
            Ok(()),
            "{name}"
        );
    }
}

#[test]
fn the_end_of_a_file_is_met_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    for (name, method, depth) in methods() {
        std::fs::write(&path, [1; 10_000]).unwrap();
        let reads = pattern(Action::Read, OffsetOrdering::Forward, 4096);
        let worker_totals = pass(&path, (method, depth), &reads, (0, 1 << 20), None);
        assert_eq!(worker_totals.fault, None, "{name}");
        assert!(worker_totals.end_of_data, "{name}");
        // Two whole blocks and a part of one; those beyond are empty, one for each in flight.
        let reads = worker_totals.tallies.get(Action::Read).expect("it reads");
        assert_eq!(reads.bytes, 10_000, "{name}");
        assert!((4..=3 + u64::from(depth)).contains(&reads.ops), "{name}: {}", reads.ops);
        assert_eq!(reads.short, reads.ops - 2, "{name}");
    }
}

#[test]
fn a_full_device_is_a_fault_and_no_crash() {
    let memory = lab::need!(lab::Memory::tmpfs_of(lab::MI));
    for (name, method, depth) in methods() {
        let path = memory.path("x");
        let file = open(&path);
        // A hole, so that mappings have something to store into.
        rustix::fs::ftruncate(&file, 4 << 20).unwrap();
        let writes = pattern(Action::Write, OffsetOrdering::Forward, 64 << 10);
        let flush = Some((1, FlushKind::Fdatasync)).filter(|_| name.contains("linked"));
        let worker_totals = pass(&path, (method, depth), &writes, (0, 4 << 20), flush);
        let fault = worker_totals.fault.unwrap_or_else(|| panic!("{name}: no fault"));
        assert_eq!((fault.doing.name(), fault.name.as_str()), ("write", "ENOSPC"), "{name}");
        let writes = worker_totals.tallies.get(Action::Write).expect("it writes");
        assert!(writes.errors > 0 && writes.bytes <= lab::MI, "{name}");
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_mapped_file_that_somebody_cuts_is_a_fault() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    for (action, doing) in [(Action::Read, "read"), (Action::Write, "write")] {
        std::fs::write(&path, vec![1; 64 << 20]).unwrap();
        let cut = open(&path);
        let (live_counters, halt) = (LiveCounters::default(), AtomicBool::new(false));
        let same = pattern(action, OffsetOrdering::Backward, 4096);
        let worker = worker(
            &path,
            (Method::Mmap(MmapOptions::default()), 1),
            &same,
            route(&same, (0, 64 << 20), None),
            &live_counters,
            &halt,
        );
        // It is mapped when it is ready, and cut before its first I/O.
        let worker_totals = worker.go(&mut || rustix::fs::ftruncate(&cut, 8192).unwrap()).unwrap();
        match doing {
            "read" => assert!(
                worker_totals.end_of_data && worker_totals.fault.is_none(),
                "{worker_totals:?}"
            ),
            _ => {
                let fault = worker_totals.fault.unwrap();
                assert_eq!((fault.doing.name(), fault.name.as_str()), ("write", "EFAULT"));
                assert!(fault.hint.contains("something cut it"), "{fault}");
            }
        }
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 8192);
    }
}

/// A plan of one phase with one job on a new file of 1 MiB.
fn plan(folder: &Path, action: &str, changes: &[(&str, Value)]) -> Plan {
    let mut blocks = json!({
        "target": { "file": {
            "path": folder.join("plan"), "size": { "exactly": 1 << 20 }, "lifetime": "keep",
        } },
        "pattern": {
            "mix": [{ "action": action, "weight": 1 }],
            "block": { "fixed": 4096 },
        },
    });
    for (name, value) in changes {
        blocks[*name] = value.clone();
    }
    let plan = json!({
        "title": "t", "origin": { "dialect": "plan" }, "seed": SEED,
        "phases": [{ "name": "p", "jobs": [{ "name": "j", "work": { "blocks": blocks } }] }],
    });
    serde_json::from_value(plan).unwrap_or_else(|error| panic!("{error}: {changes:?}"))
}

#[test]
fn a_word_is_a_method_with_its_usual_options() {
    let folder = tempfile::tempdir().unwrap();
    for word in ["sync", "vectored", "mmap", "stdio", "libaio", "posixaio", "io_uring", "pool"] {
        let written = go(&plan(folder.path(), "write", &[("method", json!(word))])).unwrap();
        assert_eq!(written.ending, Ending::Complete, "{word}: {:?}", written.phases[0].faults);
        assert_eq!(written.phases[0].totals[&Action::Write].bytes, Bytes::mib(1), "{word}");
        let bytes = std::fs::read(folder.path().join("plan")).unwrap();
        assert_eq!(
            DataFiller::new(&Fill::Random, SEED).unwrap().check(
                &bytes,
                0,
                KnownGenerations::Layers(&[])
            ),
            Ok(()),
            "{word}"
        );
        let read = go(&plan(folder.path(), "read", &[("method", json!(word))])).unwrap();
        assert_eq!(read.phases[0].totals[&Action::Read].bytes, Bytes::mib(1), "{word}");
        // What was used is in the record, and the record is its own JSON again.
        let text = serde_json::to_string(&read).unwrap();
        assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), read);
        assert_eq!(read.resolved.jobs[0].method.name(), word);
    }
    let plan: Result<assay_plan::plan::BlockWork, _> = serde_json::from_value(json!({
        "target": { "nowhere": { "size": 1 } }, "method": "iouring",
        "pattern": { "mix": [{ "action": "read", "weight": 1 }], "block": { "fixed": 1 } },
    }));
    assert!(plan.unwrap_err().to_string().contains("unknown variant `iouring`, expected one of"));
}

#[test]
fn what_becomes_of_a_depth_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let depth = ("iodepth", json!(16));
    for (word, note, left) in [
        ("psync", "psync keeps one I/O in flight per worker: iodepth 16 becomes 1 (q1 in all)", 1),
        ("sync", "sync keeps one I/O in flight per worker: iodepth 16 becomes 1 (q1 in all)", 1),
        (
            "vectored",
            "vectored keeps one I/O in flight per worker: iodepth 16 becomes 1 (q1 in all)",
            1,
        ),
        ("mmap", "mmap keeps one I/O in flight per worker: iodepth 16 becomes 1 (q1 in all)", 1),
        ("stdio", "stdio keeps one I/O in flight per worker: iodepth 16 becomes 1 (q1 in all)", 1),
        (
            "posixaio",
            "posixaio serves one request of a file at a time, as glibc's does: the others of its iodepth wait in a queue",
            16,
        ),
        (
            "libaio",
            "libaio does buffered I/O inside io_submit, one after the other: its iodepth is reached by direct I/O only",
            16,
        ),
    ] {
        let record =
            go(&plan(folder.path(), "write", &[("method", json!(word)), depth.clone()])).unwrap();
        let resolved = &record.resolved;
        if word == "libaio" && resolved.jobs[0].method.name() != word {
            eprintln!("SKIP what_becomes_of_a_depth_is_said: libaio: {:?}", resolved.notes);
            continue;
        }
        assert!(resolved.notes.iter().any(|said| said == note), "{word}: {:?}", resolved.notes);
        assert_eq!(resolved.jobs[0].iodepth, left, "{word}");
    }
}

#[test]
fn contradictions_are_refused_with_both_words() {
    let folder = tempfile::tempdir().unwrap();
    for (changes, words) in [
        (vec![("method", json!("mmap")), ("caching", json!("direct"))], ["mmap", "direct"]),
        (vec![("method", json!("stdio")), ("caching", json!("direct"))], ["stdio", "direct"]),
        (vec![("method", json!({ "vectored": { "atomic": true } }))], ["atomic", "buffered"]),
        (vec![("method", json!({ "io_uring": { "linked": true } }))], ["linked", "flush"]),
        (vec![("method", json!({ "io_uring": { "sqpoll_cpu": 0 } }))], ["CPU", "sqpoll"]),
        (vec![("method", json!({ "stdio": { "buffer": 0 } }))], ["stdio", "buffer of 0"]),
        (
            vec![
                ("method", json!({ "io_uring": { "linked": true, "polled": true } })),
                ("durability", json!({ "fsync_every": 1 })),
            ],
            ["linked", "polled"],
        ),
    ] {
        let why = refused(&plan(folder.path(), "write", &changes));
        assert!(words.iter().all(|word| why.contains(word)), "{why}");
        assert!(!folder.path().join("plan").exists(), "{why}");
    }
}

#[test]
fn flags_that_a_target_does_not_take_are_left_out_and_said() {
    let memory = lab::need!(lab::Memory::tmpfs_of(8 * lab::MI));
    let all = json!({ "vectored": { "nowait": true, "dontcache": true, "dsync": true } });
    let record = go(&plan(&memory.path(""), "write", &[("method", all)])).unwrap();
    assert_eq!(record.ending, Ending::Complete, "{:?}", record.phases[0].faults);
    let Method::Vectored(flags) = record.resolved.jobs[0].method else {
        eprintln!("SKIP flags_that_a_target_does_not_take: {:?}", record.resolved.notes);
        return;
    };
    // Memory is its own cache: no kernel has RWF_DONTCACHE for tmpfs.
    assert!(!flags.dontcache && flags.dsync, "{flags:?}");
    let said = "does not take RWF_DONTCACHE: Operation not supported (EOPNOTSUPP); it is left out";
    assert!(record.resolved.notes.iter().any(|note| note.ends_with(said)), "{record:?}");
    // A promise is not left out.
    let atomic = json!({ "vectored": { "atomic": true } });
    let changes = [("method", atomic), ("caching", json!("direct"))];
    let why = refused(&plan(&memory.path(""), "write", &changes));
    assert!(why.contains("has no atomic writes"), "{why}");
}

#[test]
fn what_a_ring_can_not_do_here_is_left_out_and_said() {
    let folder = tempfile::tempdir().unwrap();
    if let Err(error) = assay_engine::sys::ring::available() {
        eprintln!("SKIP what_a_ring_can_not_do_here: io_uring: {error}");
        return;
    }
    let polled = ("method", json!({ "io_uring": { "polled": true } }));
    let record = go(&plan(folder.path(), "write", &[polled])).unwrap();
    let said = ": it is buffered; interrupts tell of them";
    assert!(record.resolved.notes.iter().any(|note| note.ends_with(said)), "{record:?}");
    let nowhere = ("method", json!({ "io_uring": { "sqpoll": true, "sqpoll_cpu": 4_000_000 } }));
    let record = go(&plan(folder.path(), "write", &[nowhere])).unwrap();
    let said = "io_uring cannot have a submission thread here: Invalid argument (EINVAL); each batch is submitted by a call";
    assert_eq!(record.resolved.notes, [said]);
    assert_eq!(record.resolved.jobs[0].method, Method::IoUring(RingOptions::default()));
    assert_eq!(record.phases[0].totals[&Action::Write].bytes, Bytes::mib(1));
}

#[test]
fn a_linked_flush_is_counted_with_its_write() {
    let folder = tempfile::tempdir().unwrap();
    if let Err(error) = assay_engine::sys::ring::available() {
        eprintln!("SKIP a_linked_flush_is_counted_with_its_write: io_uring: {error}");
        return;
    }
    let changes = [
        ("method", json!({ "io_uring": { "linked": true } })),
        ("durability", json!({ "fdatasync_every": 1 })),
        ("iodepth", json!(4)),
    ];
    let record = go(&plan(folder.path(), "write", &changes)).unwrap();
    assert_eq!(record.ending, Ending::Complete, "{:?}", record.phases[0].faults);
    let totals = &record.phases[0].totals;
    assert_eq!(totals[&Action::Write].ops.0, 256);
    // And the closing one.
    assert_eq!(totals[&Action::Flush].ops.0, 257);
}

/// Page tables of this process now, bytes.
fn page_tables() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmPTE:")).expect("VmPTE");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}

#[test]
fn a_large_mapping_costs_no_more_than_a_small_one() {
    // All of a hole of 64 GiB would take 128 MiB of page tables; these touches 80 MiB.
    const SIZE: u64 = 64 << 30;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    if let Err(error) = rustix::fs::ftruncate(open(&path), SIZE) {
        eprintln!("SKIP a_large_mapping: a file of 64 GiB: {error}");
        return;
    }
    let over = AtomicBool::new(false);
    let most = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut most = 0;
            while !over.load(Ordering::Relaxed) {
                most = most.max(page_tables());
            }
            most
        });
        let (live_counters, halt) = (LiveCounters::default(), AtomicBool::new(false));
        let reads = pattern(Action::Read, OffsetOrdering::Uniform, 4096);
        let method = Method::Mmap(MmapOptions { advice: Advice::Random, ..MmapOptions::default() });
        let worker = Worker {
            limits: Default::default(),
            apart: false,
            quota: IoQuota { ops: Some(20_000), ..IoQuota::default() },
            ..worker(
                &path,
                (method, 1),
                &reads,
                route(&reads, (0, SIZE), None),
                &live_counters,
                &halt,
            )
        };
        let worker_totals = worker.go(&mut || ()).unwrap();
        over.store(true, Ordering::Relaxed);
        let reads = worker_totals.tallies.get(Action::Read).expect("it reads");
        assert_eq!((reads.ops, reads.short), (20_000, 0));
        assert_eq!(worker_totals.fault, None);
        watcher.join().unwrap()
    });
    assert!((16 << 20..48 << 20).contains(&most), "{} MiB of page tables", most >> 20);
}

#[test]
fn a_file_larger_than_the_addresses_there_are_is_mapped_in_parts() {
    let folder = tempfile::tempdir().expect("a folder");
    let big = std::fs::File::create(folder.path().join("big")).expect("a file");
    big.set_len(8 << 30).expect("a long one");
    let line = "ulimit -v 4000000; exec \"$0\" fio --thread --name=j --filename=big --offset=4g --size=4m \
                --rw=randwrite --bs=4k --ioengine=mmap --verify=crc32c --output-format=json";
    let mut shell = std::process::Command::new("sh");
    let typed = shell.args(["-c", line, env!("CARGO_BIN_EXE_assay")]).current_dir(folder.path());
    let output = typed.output().expect("a shell");
    let said = String::from_utf8_lossy(&output.stdout);
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{why}");
    assert!(said.contains("\"total_ios\" : 1024") && !said.contains("\"error\" : 1"), "{said}");
}
