//! While it works, the loop makes its I/Os and nothing else: no allocation, and no other call.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use assay_engine::engine::{
    CacheControl, DataFiller, FileSpan, IoQuota, IoRoute, Worker, WriteGeneration,
};
use assay_plan::plan::{
    Action, AioOptions, BlockSize, FileOrder, Method, Mix, MmapOptions, OffsetOrdering, Pattern,
    Rate, RingOptions, SyncFileRange, VectoredFlags, Verify,
};
use assay_plan::stats::{LatencySplit, LiveCounters};
use assay_plan::unit::{Bytes, Ops};

/// Counts what this thread allocates.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    ALLOCATIONS.with(|allocations| allocations.set(allocations.get() + 1));
}

// SAFETY: everything is the system's allocator's work; a counter without a destructor is no
// allocation.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as our caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as our caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as our caller promises.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Methods whose loop is looked at, with their depths; `beside` is psync that also writes out and
/// drops what it has touched.
fn methods() -> Vec<(&'static str, Method, u32)> {
    let mut all = vec![
        ("null", Method::Null, 4),
        ("psync", Method::Psync, 1),
        ("beside", Method::Psync, 1),
        ("sync", Method::Sync, 1),
        ("vectored", Method::Vectored(VectoredFlags::default()), 1),
        ("mmap", Method::Mmap(MmapOptions::default()), 1),
        ("stdio", Method::Stdio { buffer: 4096, bytewise: false }, 1),
    ];
    match assay_engine::sys::ring::available() {
        Ok(()) => all.push((
            "io_uring",
            Method::IoUring(RingOptions { batch: 4, ..RingOptions::default() }),
            8,
        )),
        Err(error) => eprintln!("SKIP io_uring in tests/steady.rs: {error}"),
    }
    match assay_engine::sys::aio::available() {
        Ok(()) => all.push((
            "libaio",
            Method::Libaio(AioOptions { batch: 4, ..AioOptions::default() }),
            8,
        )),
        Err(error) => eprintln!("SKIP libaio in tests/steady.rs: {error}"),
    }
    all
}

/// What is done for the page cache's sake.
fn aside(name: &str) -> CacheControl {
    let every = SyncFileRange { every: Ops(20), wait_before: true, write: true, wait_after: true };
    match name {
        "beside" => {
            CacheControl { drop_each_pass: false, sync_file_range: Some(every), drop_behind: true }
        }
        _ => CacheControl::default(),
    }
}

/// Random reads and writes, half and half; what this thread allocated from the start of the timing
/// to the end.
fn work(method: Method, iodepth: u32, aside: CacheControl, ops: u64) -> u64 {
    const SIZE: u64 = 1 << 20;
    let file = tempfile::tempfile().expect("a file");
    file.set_len(SIZE).expect("a size");
    let mix = ["read", "write"].map(|action| serde_json::json!({ "action": action, "weight": 1 }));
    let mix = serde_json::from_value::<Mix>(mix.to_vec().into()).expect("a mix");
    let pattern = Pattern::of(mix, OffsetOrdering::Uniform, BlockSize::Fixed(Bytes(4096)));
    assert!(pattern.mix.has(Action::Read) && pattern.mix.writes());
    let stretch = FileSpan {
        start: 0,
        len: SIZE,
        lens: &[],
        backend: (0, 1),
        passes: None,
        seed: 7,
        worker: 0,
    };
    let (live_counters, halt) = (LiveCounters::default(), AtomicBool::new(false));
    let worker = Worker {
        files: Arc::new(vec![file.into()]),
        paths: Arc::from(["x".to_string()]),
        first_file: 0,
        cursor: IoRoute::new(&pattern, 1, FileOrder::default(), stretch).expect("a route"),
        pass: None,
        filler: DataFiller::new(&pattern.fill, 7).expect("a filler"),
        verify: Verify::None,
        method,
        iodepth,
        block: 4096,
        rate: Rate::CLOSED,
        place: (0, 1),
        balance: None,
        flush: None,
        flush_last: false,
        aside,
        interference: Default::default(),
        donor: None,
        grows: false,
        limits: Default::default(),
        apart: false,
        quota: IoQuota { ops: Some(ops), ..IoQuota::default() },
        seed: 7,
        generation: WriteGeneration::timed(0, 0),
        layers: [].into(),
        census: None,
        split: LatencySplit::default(),
        laps: false,
        sampled: false,
        priorities: None,
        write_hint: None,
        trim_call: assay_plan::plan::TrimCall::default(),
        by_file: false,
        log: None,
        live_counters: &live_counters,
        halt: &halt,
    };
    let worker_totals =
        worker.go(&mut || ALLOCATIONS.with(|allocations| allocations.set(0))).expect("a lane");
    let made = ALLOCATIONS.with(Cell::get);
    assert_eq!(worker_totals.fault, None);
    let done = worker_totals.tallies.all().filter(|(action, _)| !action.serves());
    assert_eq!(done.map(|(_, tally)| tally.ops).sum::<u64>(), ops);
    made
}

#[test]
fn nothing_is_allocated_for_an_io() {
    // The counter counts.
    ALLOCATIONS.with(|allocations| allocations.set(0));
    drop(Box::new([0_u8; 100]));
    assert!(ALLOCATIONS.with(Cell::get) > 0);
    for (name, method, depth) in methods() {
        let work = |ops| work(method, depth, aside(name), ops);
        // The list of the buffers that are kept for the next phase is made when the first comes back.
        work(1);
        let (few, many) = (work(100), work(20_100));
        assert_eq!(few, many, "{name}: allocations for 100 and for 20100 I/Os");
    }
}

/// Names the method and how many I/Os the child makes.
const CHILD: &str = "ASSAY_TEST_STEADY";

#[test]
fn child_that_is_traced() {
    let Some(words) = std::env::var_os(CHILD) else { return };
    let words = words.into_string().expect("words");
    let (name, ops) = words.split_once(' ').expect("two words");
    let all = methods();
    let (_, method, depth) = all.iter().find(|(known, ..)| *known == name).expect("a method");
    work(*method, *depth, aside(name), ops.parse().expect("a number"));
}

/// Calls of the child by name; `None` when it cannot be traced here.
fn calls(name: &str, ops: u64) -> Option<BTreeMap<String, u64>> {
    let table = tempfile::NamedTempFile::new().expect("a file");
    let out = Command::new("strace")
        .args(["-f", "-c", "-o"])
        .arg(table.path())
        .arg(std::env::current_exe().expect("this program"))
        .args(["--exact", "child_that_is_traced", "--test-threads=1"])
        .env(CHILD, format!("{name} {ops}"))
        .output();
    match out {
        Ok(out) if out.status.success() => {}
        Ok(out) => {
            let said = String::from_utf8_lossy(&out.stderr).into_owned();
            assert!(said.contains("ptrace"), "{name}: {said}");
            eprintln!("SKIP the calls of {name}: {said}");
            return None;
        }
        Err(error) => {
            eprintln!("SKIP the calls of {name}: strace: {error}");
            return None;
        }
    }
    let text = std::fs::read_to_string(table.path()).expect("a table");
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        // % time, seconds, usecs/call, calls, perhaps errors, name
        let calls = words.get(3)?.parse().ok()?;
        Some((words.last()?.to_string(), calls)).filter(|(name, _)| name != "total")
    };
    Some(text.lines().filter_map(line).collect())
}

#[test]
fn no_call_is_made_but_the_io() {
    const OPS: u64 = 4000;
    for (name, _, _) in methods() {
        let (Some(few), Some(many)) = (calls(name, OPS), calls(name, 2 * OPS)) else { return };
        if many.contains_key("clock_gettime") {
            eprintln!("SKIP no_call_is_made_but_the_io: the clock needs a call on this machine");
            return;
        }
        let more: BTreeMap<&str, u64> = many
            .iter()
            .map(|(call, count)| {
                (call.as_str(), count.saturating_sub(few.get(call).copied().unwrap_or(0)))
            })
            // A test's own threads and memory: a handful, whatever the number of I/Os.
            .filter(|(_, count)| *count > OPS / 100)
            .collect();
        let made: Vec<&str> = more.keys().copied().collect();
        let sum: u64 = more.values().sum();
        let wanted: &[&str] = match name {
            "null" | "mmap" => &[],
            "psync" => &["pread64", "pwrite64"],
            "beside" => &["pread64", "pwrite64", "sync_file_range"],
            "sync" => &["lseek", "read", "write"],
            "vectored" => &["preadv2", "pwritev2"],
            "stdio" => &["lseek", "read", "write"],
            "io_uring" => &["io_uring_enter"],
            _ => &["io_submit"],
        };
        assert_eq!(made, wanted, "{name}: {more:?}");
        match name {
            "psync" | "vectored" => assert_eq!(sum, OPS, "{more:?}"),
            // Half are writes.
            "beside" => {
                let calls = more["sync_file_range"];
                assert!((OPS / 45..OPS / 36).contains(&calls), "{more:?}");
                assert_eq!(sum, OPS + calls, "{more:?}");
            }
            // Whoever is traced sleeps in each call, as beside a device that works meanwhile: bunches go
            // out in pieces of two, and few answers come alone.
            "io_uring" | "libaio" => assert!(sum <= OPS * 5 / 8, "{more:?}"),
            _ => {}
        }
    }
}
