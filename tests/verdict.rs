//! Records kept as files, each with the verdict that it must get: for each rule one that trips it
//! and one that nearly does. `ASSAY_BLESS=1 cargo test --test verdict` writes missing ones; those
//! that are there stay, so that old records go on being judged.

use std::path::PathBuf;

use assay_judge as verdict;
use assay_plan::{error, plan, stats, unit};
use assay_record::{evidence, record};

use assay_testing::doctored::{DoctoredRecord, FRESH, SAME};
use evidence::{CachePages, LayerKind, LeafKind, Reading};
use plan::{Action, Arrivals, Durability, Method, Rate};
use record::{DroppedCache, MeasuredSubject, Record, Trust, WatchedFlush};
use unit::{Bandwidth, Bytes, KIB, MIB, Nanos, Ops};

/// A record, what makes it, and what must be said of it: trust, measures, traps that must be
/// named, traps that must not.
struct Kept {
    name: &'static str,
    make: fn() -> DoctoredRecord,
    trust: Trust,
    measures: MeasuredSubject,
    named: &'static [&'static str],
    silent: &'static [&'static str],
}

fn doctored(mut bench: DoctoredRecord, change: impl FnOnce(&mut DoctoredRecord)) -> DoctoredRecord {
    change(&mut bench);
    bench
}

fn card(bench: DoctoredRecord, cap: u64) -> DoctoredRecord {
    doctored(bench, |bench| {
        bench.capped(cap);
        bench.work(0.01, 0.02);
    })
}

fn flush_failed(bench: &mut DoctoredRecord) {
    let error = std::io::Error::from_raw_os_error(28);
    bench.record.phases[0].evidence.settle = Some(Box::new(WatchedFlush {
        time: Nanos::secs(1),
        complete: true,
        fault: Some(error::Fault::new(error::Doing::Fsync, "/mnt/x", &error)),
    }));
}

fn left_after_drop(bench: &mut DoctoredRecord, left: Bytes) {
    bench.record.phases[0].evidence.cold = vec![DroppedCache {
        path: "/mnt/x".into(),
        range: Bytes::mib(20),
        left: Reading::Seen(CachePages { resident: left, ..CachePages::default() }),
    }];
}

fn direct_without_flush(bench: &mut DoctoredRecord) {
    bench.direct(true);
    bench.record.phases[0].flows[0].durability = Durability::None;
    bench.flushes(0);
}

/// Throttle counts of the processors.
fn slowed(count: u64) -> evidence::Warmth {
    evidence::Warmth { slowed: Some(count), ..Default::default() }
}

/// A drive that is so hot, in thousandths of a degree, and may be 81.85 °C.
fn heated(now: i64) -> evidence::Warmth {
    evidence::Warmth {
        drives: vec![DoctoredRecord::thermometer(now, 81_850)],
        ..Default::default()
    }
}

fn small_direct_onto(bench: &mut DoctoredRecord, written: Bytes) {
    bench.direct(true);
    bench.record.phases[0].flows[0].block = Bytes(4 * KIB);
    bench.written_onto(written);
}

fn eight_in_flight(bench: &mut DoctoredRecord, written: Bytes) {
    bench.direct(true);
    bench.only_writes();
    let phase = &mut bench.record.phases[0];
    phase.flows[0].depth = 8;
    phase.depth = Some(stats::DepthReached { mean: 7.8, max: 8, idle: None, counts: vec![] });
    bench.written_onto(written);
}

/// Ordered writes to a card at 20 MB per second, then scattered ones of 4 KiB at this rate.
fn ordered_then_scattered(rate: Bandwidth) -> DoctoredRecord {
    doctored(DoctoredRecord::write_flushed(), |bench| {
        bench.only_writes();
        bench.worn(Some(1), None);
        bench.again_as("scattered");
        let [ordered, scattered] = bench.record.phases.as_mut_vec().as_mut_slice() else {
            unreachable!()
        };
        let set = |phase: &mut record::PhaseRecord, rate| {
            phase.totals.get_mut(&Action::Write).expect("counted").bandwidth = Some(rate);
        };
        set(ordered, Bandwidth(20e6));
        set(scattered, rate);
        let flow = &mut scattered.flows[0];
        (flow.sequential, flow.block) = (false, Bytes(4 * KIB));
    })
}

macro_rules! kept {
    ($name:literal, $make:expr, $trust:ident, $measures:ident, [$($named:literal),*], [$($silent:literal),*]) => {
        Kept {
            name: $name,
            make: || $make,
            trust: Trust::$trust,
            measures: MeasuredSubject::$measures,
            named: &[$($named),*],
            silent: &[$($silent),*],
        }
    };
}

#[rustfmt::skip]
const TABLE: &[Kept] = &[
    kept!("t00-counters-unseen", doctored(DoctoredRecord::write_flushed(), |b| b.record.phases[0].evidence.stop.devices.clear()), Unproven, Unsure, ["T00"], []),
    kept!("t00-nearly-cache-unseen", doctored(DoctoredRecord::write_flushed(), |b| b.record.phases[0].evidence.stop.cache.clear()), Sound, Device, [], ["T00"]),
    kept!("t01-read-again", DoctoredRecord::read_again(), Wrong, Memory, ["T01"], ["T56"]),
    kept!("t01-nearly-cold-on-a-card", card(DoctoredRecord::read_cold(), 16 * MIB), Sound, Limited, ["T32"], ["T01"]),
    kept!("t02-no-flush", DoctoredRecord::write_without_flush(), Wrong, Deferred, ["T02"], ["T56", "T32"]),
    kept!("t02-nearly-flushed-on-a-card", card(DoctoredRecord::write_flushed(), 4 * MIB), Sound, Limited, ["T32"], ["T02"]),
    kept!("t03-stdio-closed", doctored(DoctoredRecord::write_without_flush(), |b| b.record.resolved.jobs[0].method = Method::Stdio { buffer: 4096, bytewise: false }), Wrong, Deferred, ["T03"], ["T02"]),
    kept!("t03-nearly-stdio-flushed", doctored(DoctoredRecord::write_flushed(), |b| b.record.resolved.jobs[0].method = Method::Stdio { buffer: 4096, bytewise: false }), Sound, Device, [], ["T03"]),
    kept!("t05-bigger-than-ram", doctored(DoctoredRecord::write_without_flush(), |b| { b.record.hosts[0].machine.memory = Reading::Seen(Bytes::mib(16)); b.written(Bytes::mib(15), Bytes::mib(20)); }), Wrong, Deferred, ["T05"], ["T02"]),
    kept!("t05-nearly-bigger-and-flushed", doctored(DoctoredRecord::write_flushed(), |b| b.record.hosts[0].machine.memory = Reading::Seen(Bytes::mib(16))), Sound, Device, [], ["T05"]),
    kept!("t06-partly-resident", doctored(DoctoredRecord::read_cold(), |b| { b.resident_before(Bytes::mib(1)); b.was_read(Bytes(20 * MIB * 99 / 100)); }), Doubtful, Mixed, ["T06"], ["T01"]),
    kept!("t06-nearly-another-part-resident", doctored(DoctoredRecord::read_cold(), |b| b.resident_before(Bytes::mib(1))), Sound, Device, [], ["T06"]),
    kept!("t07-not-dropped", doctored(DoctoredRecord::read_again(), |b| left_after_drop(b, Bytes::mib(20))), Wrong, Memory, ["T07", "T01"], []),
    kept!("t07-nearly-dropped", doctored(DoctoredRecord::read_cold(), |b| left_after_drop(b, Bytes::kib(64))), Sound, Device, [], ["T07"]),
    kept!("t14-flush-for-each-write", doctored(DoctoredRecord::write_flushed(), |b| { b.record.phases[0].flows[0].calls = Ops(2048); b.record.phases[0].flows[0].durability = Durability::OpenSync; b.flushes(2049); }), Sound, Device, ["T14"], ["T54"]),
    kept!("t14-nearly-one-large-write", doctored(DoctoredRecord::write_flushed(), |b| { b.record.phases[0].flows[0].calls = Ops(1); b.flushes(2); }), Sound, Device, [], ["T14"]),
    kept!("t16-direct-into-the-cache", doctored(card(DoctoredRecord::write_flushed(), 4 * MIB), direct_without_flush), Sound, Limited, ["T16", "T32"], ["T02"]),
    kept!("t16-nearly-write-through", doctored(DoctoredRecord::write_flushed(), |b| { direct_without_flush(b); b.queue(|q| q.write_cache = Some("write through".into())); }), Sound, Device, [], ["T16"]),
    kept!("t17-flush-fails", doctored(DoctoredRecord::write_without_flush(), flush_failed), Wrong, Invalid, ["T17"], []),
    kept!("t17-nearly-flush-goes-on", doctored(DoctoredRecord::write_without_flush(), |b| { b.settled_at(Nanos::secs(2), Bytes::mib(8), false); b.flush_series(&[MIB * 2 / 5; 20]); }), Wrong, Deferred, ["T02"], ["T17"]),
    kept!("t19-direct-through-memory", doctored(DoctoredRecord::write_without_flush(), |b| b.direct(false)), Wrong, Deferred, ["T19"], ["T02"]),
    kept!("t19-nearly-direct-not-said", doctored(DoctoredRecord::write_flushed(), |b| { b.direct(true); let at = b.record.phases[0].flows[0].subject; b.record.resolved.subjects[at].direct = Reading::Unseen("statx: ENOSYS".into()); }), Sound, Device, [], ["T19"]),
    kept!("t22-from-sector-63", doctored(DoctoredRecord::write_flushed(), |b| b.partition_at(63 * 512)), Sound, Device, ["T22"], []),
    kept!("t22-nearly-at-a-mebibyte", doctored(DoctoredRecord::write_flushed(), |b| b.partition_at(1 << 20)), Sound, Device, [], ["T22"]),
    kept!("t23-sparse", DoctoredRecord::read_of_holes(), Wrong, Layer, ["T23"], ["T01", "T19"]),
    kept!("t23-nearly-holes-not-read", doctored(DoctoredRecord::read_cold(), |b| b.lay(Bytes::mib(10), Bytes::mib(30))), Sound, Device, [], ["T23"]),
    kept!("t24-trimmed", doctored(DoctoredRecord::read_cold(), |b| b.sampled((64, [15, 20, 30]), (192, [70, 80, 90]))), Wrong, Layer, ["T24"], ["T01"]),
    kept!("t24-nothing-to-compare-with", doctored(DoctoredRecord::read_cold(), |b| { b.sampled((256, [15, 20, 30]), (0, [0; 3])); b.queue(|q| q.discard_max_bytes = Some(1 << 30)); }), Doubtful, Layer, ["T24"], []),
    kept!("t24-nearly-zeros-that-are-data", doctored(DoctoredRecord::read_cold(), |b| { b.sampled((64, [15, 20, 80]), (192, [60, 80, 90])); b.queue(|q| q.discard_max_bytes = Some(1 << 30)); }), Sound, Device, [], ["T24"]),
    kept!("t25-compressed", doctored(DoctoredRecord::write_flushed(), |b| b.written(Bytes::mib(1), Bytes::mib(1))), Wrong, Layer, ["T25"], ["T02"]),
    kept!("t25-nearly-a-little-less", doctored(DoctoredRecord::write_flushed(), |b| b.written(Bytes(20 * MIB * 985 / 1000), Bytes(20 * MIB * 985 / 1000))), Sound, Device, [], ["T25"]),
    kept!("t65-copied-by-sharing", doctored(DoctoredRecord::copy_within(), |b| b.shares(Bytes::mib(20))), Wrong, Layer, ["T65"], ["T01", "T02"]),
    kept!("t65-nearly-none-shared", doctored(DoctoredRecord::copy_within(), |b| b.shares(Bytes::kib(64))), Sound, Device, [], ["T65"]),
    kept!("t27-cut-meanwhile", doctored(DoctoredRecord::write_without_flush(), |b| { b.settled_at(Nanos::millis(100), Bytes::mib(2), true); b.cut(Bytes::ZERO); }), Wrong, Deferred, ["T27"], ["T02", "T25"]),
    kept!("t27-dropped-pages", doctored(DoctoredRecord::write_flushed(), |b| { b.written(Bytes::mib(4), Bytes::mib(4)); b.cancelled(Bytes::mib(16)); }), Wrong, Deferred, ["T27"], ["T02", "T25"]),
    kept!("t27-nearly-cut-when-all-was-written", doctored(DoctoredRecord::write_flushed(), |b| { b.cut(Bytes::ZERO); b.cancelled(Bytes::mib(16)); }), Sound, Device, [], ["T27"]),
    kept!("t28-kept-once", DoctoredRecord::in_turns(&[(FRESH, 4.0), (SAME, 6.0), (FRESH, 4.2), (SAME, 7.0)]), Wrong, Layer, ["T28"], ["T25"]),
    kept!("t28-nearly-faster-by-and-by", DoctoredRecord::in_turns(&[(FRESH, 4.0), (SAME, 5.0), (FRESH, 6.0), (SAME, 7.5)]), Sound, Device, [], ["T28"]),
    kept!("t29-tmpfs", doctored(DoctoredRecord::write_flushed(), |b| b.bottom(LeafKind::Memory("tmpfs".into()))), Wrong, NotADisk, ["T29"], ["T02"]),
    kept!("t29-fuse", doctored(DoctoredRecord::write_flushed(), |b| b.bottom(LeafKind::Remote("fuse.sshfs".into()))), Unproven, NotADisk, ["T29"], []),
    kept!("t29-nothing-to-nothing", doctored(DoctoredRecord::write_flushed(), |b| b.bottom(LeafKind::Nothing("/dev/null".into()))), Wrong, Tool, ["T29"], []),
    kept!("t29-nearly-loop-on-fuse", DoctoredRecord::write_flushed(), Sound, Device, [], ["T29", "T32", "T67"]),
    kept!("t31-second-writer", doctored(DoctoredRecord::write_flushed(), |b| b.written(Bytes::mib(40), Bytes::mib(40))), Unproven, Unsure, ["T31"], []),
    kept!("t31-named-writer", doctored(DoctoredRecord::write_flushed(), |b| { b.beside(&[("dd", Nanos::ZERO, Bytes::mib(19))]); b.written(Bytes::mib(40), Bytes::mib(40)); }), Wrong, Disturbed, ["T31"], []),
    kept!("t31-a-little-of-a-named-writer", doctored(DoctoredRecord::write_flushed(), |b| { b.beside(&[("dd", Nanos::ZERO, Bytes::mib(3))]); b.written(Bytes::mib(23), Bytes::mib(23)); }), Doubtful, Disturbed, ["T31"], []),
    kept!("t31-a-little-foreign", doctored(DoctoredRecord::write_flushed(), |b| b.written(Bytes::mib(23), Bytes::mib(23))), Unproven, Unsure, ["T31"], []),
    kept!("t31-nearly-own-journal", doctored(DoctoredRecord::write_flushed(), |b| b.written(Bytes(20 * MIB + 300 * KIB), Bytes(20 * MIB + 300 * KIB))), Sound, Device, [], ["T31"]),
    kept!("t66-copy-within-one-disk", DoctoredRecord::copy_within(), Sound, Device, ["T66"], []),
    kept!("t66-nearly-from-memory", doctored(DoctoredRecord::copy_within(), |b| b.was_read(Bytes::kib(32))), Sound, Device, ["T01"], ["T66"]),
    kept!("t67-hidden-limit", doctored(DoctoredRecord::write_flushed(), |b| b.work(0.01, 0.02)), Sound, Limited, ["T67"], []),
    kept!("t67-nearly-a-paced-plan", doctored(DoctoredRecord::write_flushed(), |b| { b.work(0.01, 0.02); b.record.plan.phases[0].jobs[0].rate = Rate::arriving(Arrivals::Even { iops: 4.0 }); }), Sound, Limited, ["T32"], ["T67"]),
    kept!("t32-nearly-half-of-it", doctored(DoctoredRecord::write_flushed(), |b| b.capped(8 * MIB)), Sound, Device, [], ["T32"]),
    kept!("t32-at-its-limit", doctored(DoctoredRecord::write_flushed(), |b| b.capped(4 * MIB)), Sound, Limited, ["T32"], []),
    kept!("t68-not-steady", doctored(DoctoredRecord::write_flushed(), |b| b.steadied(None)), Doubtful, Unsteady, ["T68"], []),
    kept!("t68-nearly-steady", doctored(DoctoredRecord::write_flushed(), |b| b.steadied(Some(stats::SteadyState { mean: 4e6, spread: 0.1, slope: 0.05, rounds: vec![4e6; 5] }))), Sound, Device, [], ["T68"]),
    kept!("t69-stopped", doctored(DoctoredRecord::write_flushed(), |b| b.away_for(20, Bytes::ZERO)), Doubtful, Disturbed, ["T69"], ["T58"]),
    kept!("t69-nearly-a-late-sample", doctored(DoctoredRecord::write_flushed(), |b| b.away_for(20, Bytes::mib(10))), Sound, Device, [], ["T69"]),
    kept!("t70-two-rates", doctored(DoctoredRecord::write_flushed(), |b| { b.direct(true); let bytes: Vec<u64> = (0..50).map(|n| if n < 20 { 1 } else { 4 } * MIB / 8).collect(); b.device_series(&bytes); }), Doubtful, Unsteady, ["T70"], ["T43"]),
    kept!("t70-nearly-wanders", doctored(DoctoredRecord::write_flushed(), |b| { b.direct(true); let bytes: Vec<u64> = (0..50).map(|n| (1 + n * 7 % 5) * MIB / 8).collect(); b.device_series(&bytes); }), Sound, Device, [], ["T70"]),
    kept!("t71-waits-for-a-pipe", doctored(DoctoredRecord::write_flushed(), |b| { b.work(0.9, 0.05); b.looked_at(&[("S anon_pipe_read", 40), ("D io_schedule", 10)]); }), Doubtful, Tool, ["T71"], []),
    kept!("t71-nearly-waits-for-the-device", doctored(DoctoredRecord::write_flushed(), |b| { b.work(0.9, 0.05); b.looked_at(&[("S pipe_read", 4), ("D io_schedule", 46)]); }), Sound, Device, [], ["T71"]),
    kept!("t72-read-by-others", doctored(DoctoredRecord::read_cold(), |b| b.own_read(Bytes::mib(6))), Doubtful, Disturbed, ["T72"], []),
    kept!("t72-nearly-all-asked-for", doctored(DoctoredRecord::read_cold(), |b| b.own_read(Bytes::mib(20))), Sound, Device, [], ["T72"]),
    kept!("t73-unexplained", doctored(DoctoredRecord::write_flushed(), |b| { b.direct(true); b.work(0.2, 0.05); b.looked_at(&[("D __iomap_dio_rw", 50)]); }), Unproven, Unsure, ["T73"], ["T54"]),
    kept!("t73-nearly-a-busy-device", doctored(DoctoredRecord::write_flushed(), |b| { b.direct(true); b.work(0.97, 0.05); b.looked_at(&[("D __iomap_dio_rw", 50)]); }), Sound, Device, [], ["T73"]),
    kept!("t46-as-fast-as-its-link", doctored(DoctoredRecord::write_flushed(), |b| b.linked(4_500_000, None)), Sound, Limited, ["T46"], []),
    kept!("t46-nearly-half-of-it", doctored(DoctoredRecord::write_flushed(), |b| b.linked(9_000_000, None)), Sound, Device, [], ["T46"]),
    kept!("t47-worn", doctored(DoctoredRecord::write_flushed(), |b| b.worn(Some(11), Some(3))), Sound, Device, ["T47"], []),
    kept!("t47-nearly-worn", doctored(DoctoredRecord::write_flushed(), |b| b.worn(Some(9), Some(1))), Sound, Device, [], ["T47"]),
    kept!("t48-wrong-content", doctored(DoctoredRecord::read_cold(), |b| b.record.phases[0].totals.get_mut(&Action::Read).expect("counted").mismatches = 1), Wrong, Invalid, ["T48"], []),
    kept!("t48-nearly-cold", DoctoredRecord::read_cold(), Sound, Device, [], ["T48"]),
    kept!("t51-cpu-bound", doctored(DoctoredRecord::write_flushed(), |b| b.work(0.4, 0.95)), Doubtful, Tool, ["T51"], []),
    kept!("t51-nearly-both-busy", doctored(DoctoredRecord::write_flushed(), |b| b.work(0.95, 0.99)), Sound, Device, [], ["T51"]),
    kept!("t51-byte-by-byte", doctored(DoctoredRecord::write_flushed(), |b| { b.work(0.4, 0.6); b.bytewise(0.6); }), Doubtful, Tool, ["T51"], []),
    kept!("t51-nearly-byte-by-byte", doctored(DoctoredRecord::write_flushed(), |b| { b.work(0.4, 0.3); b.bytewise(0.3); }), Sound, Limited, [], ["T51"]),
    kept!("t54-depth-1", doctored(DoctoredRecord::write_flushed(), |b| { b.direct(true); b.work(0.7, 0.3); }), Sound, Device, ["T54"], []),
    kept!("t54-nearly-depth-32", doctored(DoctoredRecord::write_flushed(), |b| { b.direct(true); b.work(0.7, 0.3); b.record.phases[0].flows[0].depth = 32; }), Sound, Device, [], ["T54"]),
    kept!("t56-a-blink", doctored(DoctoredRecord::write_flushed(), |b| b.lasted(Nanos::millis(20))), Unproven, Unsure, ["T56"], []),
    kept!("t56-nearly-a-blink", doctored(DoctoredRecord::write_flushed(), |b| b.lasted(Nanos::millis(300))), Sound, Device, [], ["T56"]),
    kept!("t58-stall", doctored(DoctoredRecord::write_flushed(), |b| { b.direct(true); let mut ops = [10; 50]; ops[20..35].fill(0); b.series(&ops); }), Doubtful, Unsteady, ["T58"], []),
    kept!("t58-nearly-lumps", doctored(DoctoredRecord::write_flushed(), |b| { b.direct(true); let ops: Vec<u64> = (0..50).map(|n| u64::from(n % 3 == 0)).collect(); b.series(&ops); }), Sound, Device, [], ["T58"]),
    kept!("t60-written-twice-in-memory", doctored(DoctoredRecord::write_flushed(), |b| { b.record.phases[0].flows[0].sequential = false; b.written(Bytes::mib(8), Bytes::mib(8)); }), Wrong, Mixed, ["T60"], ["T02", "T25"]),
    kept!("t60-nearly-here-and-there", doctored(DoctoredRecord::write_flushed(), |b| b.record.phases[0].flows[0].sequential = false), Sound, Device, [], ["T60"]),
    kept!("t04-burst-into-memory", doctored(DoctoredRecord::write_flushed(), |b| b.burst_series(12)), Sound, Device, ["T04"], []),
    kept!("t04-nearly-all-at-one-pace", doctored(DoctoredRecord::write_flushed(), |b| b.burst_series(1)), Sound, Device, [], ["T04"]),
    kept!("t08-earlier-writes", doctored(DoctoredRecord::write_flushed(), |b| b.earlier(Bytes::mib(2), Bytes::mib(30))), Sound, Device, ["T08"], []),
    kept!("t08-nearly-nothing-left", doctored(DoctoredRecord::write_flushed(), |b| b.earlier(Bytes::mib(2), Bytes::ZERO)), Sound, Device, [], ["T08"]),
    kept!("t10-small-calls", doctored(DoctoredRecord::read_cold(), |b| b.record.phases[0].flows[0].calls = Ops(5120)), Sound, Device, ["T10"], []),
    kept!("t10-nearly-a-request-for-two-calls", doctored(DoctoredRecord::read_cold(), |b| b.record.phases[0].flows[0].calls = Ops(320)), Sound, Device, [], ["T10"]),
    kept!("t11-read-beyond-the-end", doctored(DoctoredRecord::read_cold(), |b| { b.was_read(Bytes::kib(23_000)); b.own_read(Bytes::mib(24)); }), Sound, Device, ["T11"], ["T31"]),
    kept!("t11-nearly-read-by-others", doctored(DoctoredRecord::read_cold(), |b| { b.was_read(Bytes::kib(23_000)); b.own_read(Bytes::mib(20)); }), Sound, Device, [], ["T11"]),
    kept!("t12-windows-for-blocks", doctored(DoctoredRecord::read_cold(), |b| { b.record.phases[0].flows[0].sequential = false; b.was_read(Bytes::kib(23_000)); b.own_read(Bytes::mib(23)); }), Sound, Device, ["T12"], ["T11"]),
    kept!("t12-nearly-as-asked", doctored(DoctoredRecord::read_cold(), |b| { b.record.phases[0].flows[0].sequential = false; b.own_read(Bytes::mib(20)); }), Sound, Device, [], ["T12"]),
    kept!("t15-flush-swallowed", doctored(DoctoredRecord::write_flushed(), |b| { b.flushes(0); b.mounted("rw,nobarrier"); }), Doubtful, Deferred, ["T15"], []),
    kept!("t15-nearly-write-through", doctored(DoctoredRecord::write_flushed(), |b| { b.flushes(0); b.queue(|q| q.write_cache = Some("write through".into())); }), Sound, Device, [], ["T15"]),
    kept!("t18-made-in-memory", doctored(DoctoredRecord::write_flushed(), |b| { b.made_files(); b.written(Bytes::ZERO, Bytes::mib(1)); }), Wrong, Deferred, ["T18"], ["T00", "T02"]),
    kept!("t18-partly-in-memory", doctored(DoctoredRecord::write_flushed(), |b| { b.made_files(); b.written(Bytes::mib(1), Bytes::mib(2)); }), Unproven, Unsure, ["T18", "T00"], ["T02"]),
    kept!("t18-short-and-not-watched", doctored(DoctoredRecord::write_flushed(), |b| { b.made_files(); b.record.phases[0].evidence.settle = None; b.record.phases[0].evidence.settled = None; }), Unproven, Unsure, ["T18", "T00"], []),
    kept!("t18-nearly-all-committed", doctored(DoctoredRecord::write_flushed(), |b| { b.made_files(); b.written(Bytes::mib(1), Bytes::mib(1)); }), Unproven, Unsure, ["T00"], ["T18"]),
    kept!("t20-parts-of-blocks", doctored(DoctoredRecord::write_flushed(), |b| { b.direct(true); b.record.phases[0].flows[0].block = Bytes(512); }), Sound, Device, ["T20"], ["T21"]),
    kept!("t20-nearly-buffered", doctored(DoctoredRecord::write_flushed(), |b| b.record.phases[0].flows[0].block = Bytes(512)), Sound, Device, [], ["T20"]),
    kept!("t21-parts-of-sectors", doctored(DoctoredRecord::write_flushed(), |b| { b.direct(true); b.queue(|q| q.physical_block_size = Some(4096)); b.record.phases[0].flows[0].block = Bytes(512); }), Sound, Device, ["T21"], ["T20"]),
    kept!("t21-nearly-whole-sectors", doctored(DoctoredRecord::write_flushed(), |b| { b.direct(true); b.queue(|q| q.physical_block_size = Some(4096)); b.record.phases[0].flows[0].block = Bytes(8192); }), Sound, Device, [], ["T21"]),
    kept!("t34-swapped", doctored(DoctoredRecord::write_flushed(), |b| b.swapped(Bytes::mib(2))), Doubtful, Disturbed, ["T34"], []),
    kept!("t34-nearly-a-few-pages", doctored(DoctoredRecord::write_flushed(), |b| b.swapped(Bytes::kib(128))), Sound, Device, [], ["T34"]),
    kept!("t74-pages-awaited", doctored(DoctoredRecord::write_flushed(), |b| { b.work(0.6, 0.1); b.looked_at(&[("D balance_dirty_pages", 30), ("D folio_wait_bit_common", 20)]); }), Sound, Limited, ["T74"], ["T73"]),
    kept!("t74-nearly-a-busy-device", doctored(DoctoredRecord::write_flushed(), |b| { b.work(0.97, 0.1); b.looked_at(&[("D balance_dirty_pages", 40), ("D folio_wait_bit_common", 10)]); }), Sound, Device, [], ["T74"]),
    kept!("t30-faster-than-drives", doctored(DoctoredRecord::write_flushed(), |b| b.moved_fast("virtio")), Unproven, Unsure, ["T30"], []),
    kept!("t30-nearly-a-drive", doctored(DoctoredRecord::write_flushed(), |b| b.moved_fast("nvme")), Sound, Device, [], ["T30"]),
    kept!("t38-in-pieces", doctored(DoctoredRecord::read_cold(), |b| { b.lay(Bytes::ZERO, Bytes::mib(20)); b.pieces(320); }), Sound, Device, ["T38"], []),
    kept!("t38-nearly-in-one", doctored(DoctoredRecord::read_cold(), |b| { b.lay(Bytes::ZERO, Bytes::mib(20)); b.pieces(60); }), Sound, Device, [], ["T38"]),
    kept!("t39-access-times", doctored(DoctoredRecord::read_cold(), |b| b.written(Bytes(300 * KIB), Bytes(300 * KIB))), Sound, Device, ["T39"], []),
    kept!("t39-nearly-noatime", doctored(DoctoredRecord::read_cold(), |b| { b.mounted("rw,noatime"); b.written(Bytes(300 * KIB), Bytes(300 * KIB)); }), Sound, Device, [], ["T39"]),
    kept!("t40-trimmed-meanwhile", doctored(DoctoredRecord::write_flushed(), |b| { b.mounted("rw,discard"); b.discarded(3); }), Sound, Device, ["T40"], []),
    kept!("t40-nearly-only-mounted-so", doctored(DoctoredRecord::write_flushed(), |b| b.mounted("rw,discard")), Sound, Device, [], ["T40"]),
    kept!("t41-encrypted", doctored(DoctoredRecord::write_flushed(), |b| b.layer_kind(LayerKind::Mapper { uuid: "CRYPT-LUKS2-77-home".into() })), Sound, Device, ["T41"], []),
    kept!("t41-nearly-a-plain-volume", doctored(DoctoredRecord::write_flushed(), |b| b.layer_kind(LayerKind::Mapper { uuid: "LVM-77".into() })), Sound, Device, [], ["T41"]),
    kept!("t43-falls", doctored(DoctoredRecord::write_flushed(), |b| { b.direct(true); let bytes: Vec<u64> = (0..50).map(|n| if n < 20 { 6 } else { n % 2 * 2 } * MIB / 8).collect(); b.device_series(&bytes); }), Doubtful, Unsteady, ["T43"], ["T58"]),
    kept!("t43-nearly-wanders", doctored(DoctoredRecord::write_flushed(), |b| { b.direct(true); let bytes: Vec<u64> = (0..50).map(|n| (1 + n * 7 % 5) * MIB / 8).collect(); b.device_series(&bytes); }), Sound, Device, [], ["T43"]),
    kept!("t50-dax", doctored(DoctoredRecord::write_flushed(), |b| { b.mounted("rw,dax=always"); b.queue(|q| q.dax = Some(true)); }), Wrong, NotADisk, ["T50"], []),
    kept!("t50-nearly-able", doctored(DoctoredRecord::write_flushed(), |b| b.queue(|q| q.dax = Some(true))), Sound, Device, [], ["T50"]),
    kept!("t52-others-on-the-cpus", doctored(DoctoredRecord::write_flushed(), |b| { b.direct(true); b.work(0.3, 0.2); b.waited_for_cpu(Nanos::secs(3)); }), Doubtful, Disturbed, ["T52"], ["T67"]),
    kept!("t52-stopped-by-its-group", doctored(DoctoredRecord::write_flushed(), |b| { b.work(0.3, 0.2); b.stopped_by_group(Nanos::secs(4)); }), Doubtful, Limited, ["T52"], []),
    kept!("t52-nearly-a-busy-device", doctored(DoctoredRecord::write_flushed(), |b| { b.direct(true); b.waited_for_cpu(Nanos::secs(3)); }), Sound, Device, [], ["T52"]),
    kept!("t55-one-of-thirty-two", doctored(DoctoredRecord::write_flushed(), |b| { b.direct(true); b.record.phases[0].flows[0].depth = 32; }), Sound, Device, ["T55"], []),
    kept!("t55-nearly-two", doctored(DoctoredRecord::write_flushed(), |b| { b.direct(true); b.record.phases[0].flows[0].depth = 2; }), Sound, Device, [], ["T55"]),
    kept!("t57-counted-once", doctored(DoctoredRecord::write_flushed(), |b| b.served(2000, 1_000_000)), Sound, Device, ["T57"], []),
    kept!("t57-nearly-no-waiting", doctored(DoctoredRecord::write_flushed(), |b| b.served(2000, 9_000_000)), Sound, Device, [], ["T57"]),
    kept!("t61-far-from-the-device", doctored(DoctoredRecord::write_flushed(), |b| { b.nodes(1); b.ran(&[0, 2], None); }), Sound, Device, ["T61"], []),
    kept!("t61-nearly-near-to-it", doctored(DoctoredRecord::write_flushed(), |b| { b.nodes(0); b.ran(&[2, 5], None); }), Sound, Device, [], ["T61"]),
    kept!("t35-slowed-while-the-device-waited", doctored(DoctoredRecord::write_flushed(), |b| { b.work(0.5, 0.3); b.warmed(slowed(7), slowed(9)); }), Doubtful, Unsteady, ["T35"], []),
    kept!("t35-nearly-counted-before", doctored(DoctoredRecord::write_flushed(), |b| { b.work(0.5, 0.3); b.warmed(slowed(7), slowed(7)); }), Sound, Limited, [], ["T35"]),
    kept!("t35-hot-drive", doctored(DoctoredRecord::write_flushed(), |b| b.warmed(evidence::Warmth::default(), heated(82_000))), Doubtful, Unsteady, ["T35"], []),
    kept!("t36-first-writes", doctored(DoctoredRecord::write_flushed(), |b| small_direct_onto(b, Bytes::ZERO)), Sound, Device, ["T36"], []),
    kept!("t36-nearly-overwrites", doctored(DoctoredRecord::write_flushed(), |b| small_direct_onto(b, Bytes::mib(20))), Sound, Device, [], ["T36"]),
    kept!("t37-behind-the-lock", doctored(DoctoredRecord::write_flushed(), |b| eight_in_flight(b, Bytes::ZERO)), Doubtful, Tool, ["T37"], ["T55"]),
    kept!("t37-nearly-overwrites", doctored(DoctoredRecord::write_flushed(), |b| eight_in_flight(b, Bytes::mib(20))), Sound, Device, ["T55"], ["T37"]),
    kept!("t44-state-unknown", doctored(DoctoredRecord::write_flushed(), |b| b.flash("nvme", Bytes::ZERO)), Sound, Device, ["T44"], []),
    kept!("t44-nearly-twice-full", doctored(DoctoredRecord::write_flushed(), |b| b.flash("nvme", Bytes::mib(2048))), Sound, Device, [], ["T44"]),
    kept!("t45-scattered-on-a-card", ordered_then_scattered(Bandwidth(0.1e6)), Sound, Device, ["T45"], []),
    kept!("t45-nearly-a-hundredth", ordered_then_scattered(Bandwidth(0.3e6)), Sound, Device, [], ["T45"]),
    kept!("t49-works-on", doctored(DoctoredRecord::write_flushed(), |b| b.answered_after(&[9, 9, 1])), Sound, Device, ["T49"], []),
    kept!("t49-nearly-over-at-once", doctored(DoctoredRecord::write_flushed(), |b| b.answered_after(&[9, 1])), Sound, Device, [], ["T49"]),
    kept!("t53-as-fast-as-copying", doctored(DoctoredRecord::read_cold(), |b| { b.work(0.5, 0.95); b.copies(20e6); }), Doubtful, Tool, ["T53"], ["T51"]),
    kept!("t53-nearly-a-busy-device", doctored(DoctoredRecord::read_cold(), |b| b.copies(20e6)), Sound, Device, [], ["T53"]),
    kept!("t62-end-inside-the-plan", doctored(DoctoredRecord::read_cold(), |b| { b.record.phases[0].flows[0].end_of_data = true; b.record.plan.origin.dialect = "quick".into(); b.record.plan.origin.tool = Default::default(); }), Wrong, Invalid, ["T62"], []),
    kept!("t62-nearly-the-end-of-a-copy", doctored(DoctoredRecord::read_cold(), |b| b.record.phases[0].flows[0].end_of_data = true), Sound, Device, ["T62"], []),
];

/// A record that is compared with [`DoctoredRecord::write_flushed`], and the traps that must be named, or must
/// not.
struct Beside {
    name: &'static str,
    make: fn() -> DoctoredRecord,
    named: &'static [&'static str],
    silent: &'static [&'static str],
}

#[rustfmt::skip]
const PAIRS: &[Beside] = &[
    Beside { name: "t33-other-read-ahead", make: || doctored(DoctoredRecord::write_flushed(), |b| b.queue(|q| q.read_ahead_kb = Some(4096))), named: &["T33"], silent: &["T64"] },
    Beside { name: "t33-nearly-one-does-not-tell", make: || doctored(DoctoredRecord::write_flushed(), |b| b.queue(|q| q.read_ahead_kb = None)), named: &[], silent: &["T33", "T64"] },
    Beside { name: "t64-other-limit", make: || card(DoctoredRecord::write_flushed(), 4 * MIB), named: &["T64"], silent: &["T33"] },
    Beside { name: "t64-nearly-another-day", make: || doctored(DoctoredRecord::write_flushed(), |b| { b.record.started = "2027-01-01T00:00:00Z".into(); b.record.plan.seed = 7; b.record.hosts[0].machine.host = "there".into(); }), named: &[], silent: &["T33", "T64"] },
];

/// The record of that name as it was kept; `ASSAY_BLESS` keeps one that is missing.
fn kept(name: &str, make: fn() -> DoctoredRecord) -> Record {
    let path = path(name);
    if std::env::var_os("ASSAY_BLESS").is_some() && !path.exists() {
        let folder = path.parent().expect("in a folder");
        std::fs::create_dir_all(folder).expect("the folder can be made");
        let text = serde_json::to_string_pretty(&make().record).expect("JSON");
        std::fs::write(&path, text + "\n").expect("the record can be written");
    }
    record::load(&path).unwrap_or_else(|error| panic!("{error:?}; ASSAY_BLESS=1 writes it"))
}

#[test]
fn records_are_held_against_each_other() {
    for beside in PAIRS {
        let name = beside.name;
        let found = verdict::unlike(
            &[&DoctoredRecord::write_flushed().record],
            &[&kept(name, beside.make)],
        );
        let traps: Vec<&str> = found.findings.iter().map(|f| f.trap.name()).collect();
        for trap in beside.named {
            assert!(traps.contains(trap), "{name} must name {trap}: {found:#?}");
        }
        for trap in beside.silent {
            assert!(!traps.contains(trap), "{name} must not name {trap}: {found:#?}");
        }
        for claim in found.findings.iter().map(|f| f.text()) {
            assert!(claim.ends_with('.') && !claim.contains("B per second"), "{name}: {claim}");
        }
        for exhibit in found.findings.iter().flat_map(|f| &f.because) {
            // A list of several numbers is no one number.
            let number = exhibit.value().starts_with(|char: char| char.is_ascii_digit());
            let list = exhibit.shows.quantity().is_none() && exhibit.value().contains(", ");
            assert!(!number || list || exhibit.shows.quantity().is_some(), "{name}: {exhibit:?}");
        }
    }
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/records").join(format!("{name}.json"))
}

#[test]
fn kept_records_get_their_verdicts() {
    for kept in TABLE {
        let name = kept.name;
        let mut record = self::kept(name, kept.make);
        verdict::judge(&mut record);
        let found = record.verdict.expect("judged");
        assert_eq!(
            (found.trust, found.measures),
            (kept.trust, kept.measures),
            "{name}: {found:#?}"
        );
        let traps: Vec<&str> = found.findings.iter().map(|f| f.trap.name()).collect();
        for trap in kept.named {
            assert!(traps.contains(trap), "{name} must name {trap}: {traps:?}");
        }
        for trap in kept.silent {
            assert!(!traps.contains(trap), "{name} must not name {trap}: {traps:?}");
        }
        for text in [found.summary()].into_iter().chain(found.findings.iter().map(|f| f.text())) {
            assert!(text.ends_with('.') && !text.contains("B per second"), "{name}: {text}");
        }
        if std::env::var_os("ASSAY_SHOW").is_some() {
            println!(
                "{name}: {} / {}: {}",
                found.trust.name(),
                found.measures.name(),
                found.summary()
            );
        }
    }
}

/// Records of real runs, each with the verdicts that it got then: `tests/runs`.
#[test]
fn records_of_real_runs_get_the_verdicts_that_they_got() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/runs");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let old = record::load(&path).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert_eq!(old.schema, record::SCHEMA, "{name}");
        assert_eq!(old.hosts[0].name, old.machine().host, "{name}");
        let mut new = old.clone();
        verdict::judge(&mut new);
        let told = |verdict: &Option<record::Verdict>| {
            let verdict = verdict.as_ref().expect("judged");
            let traps: Vec<String> =
                verdict.findings.iter().map(|f| f.trap.name().to_string()).collect();
            (verdict.trust, verdict.measures, verdict.corrected, traps)
        };
        assert_eq!(told(&new.verdict), told(&old.verdict), "{name}");
        let planned = |phase: &record::PhaseRecord| {
            let planned = old.plan.phases.iter().find(|planned| planned.name == phase.name);
            let names = planned.into_iter().flat_map(|planned| &planned.jobs).map(|job| &job.name);
            names.cloned().collect::<Vec<_>>()
        };
        for (new, old) in new.phases.iter().zip(&old.phases) {
            assert_eq!(told(&new.verdict), told(&old.verdict), "{name}: {}", old.name);
            let jobs: Vec<&String> = old.jobs.iter().map(|job| &job.name).collect();
            assert_eq!(jobs, planned(old).iter().collect::<Vec<_>>(), "{name}: {}", old.name);
            let owners: Vec<usize> = old.flows.iter().map(|flow| flow.job).collect();
            let meant = if old.jobs.len() == 2 { vec![0, 1] } else { vec![0; owners.len()] };
            assert_eq!(owners, meant, "{name}: {}", old.name);
        }
        let ran = std::process::Command::new(env!("CARGO_BIN_EXE_assay"))
            .arg("judge")
            .arg(&path)
            .output()
            .expect("assay");
        let (out, trust) = (String::from_utf8_lossy(&ran.stdout), told(&old.verdict).0.name());
        assert!(out.contains(&format!("verdict  {trust}")), "{name}: {out}");
        names.push(name);
    }
    names.sort();
    assert_eq!(names, ["dd", "dd-flushed", "model", "quick", "two-jobs"]);
}

#[test]
fn each_rule_has_a_record_and_each_record_a_line() {
    let names = || TABLE.iter().map(|kept| kept.name).chain(PAIRS.iter().map(|kept| kept.name));
    for rule in verdict::RULES {
        let trips = TABLE.iter().any(|kept| kept.named.contains(&rule.id.name()))
            || PAIRS.iter().any(|kept| kept.named.contains(&rule.id.name()));
        let nearly =
            names().any(|n| n.starts_with(&format!("{}-nearly", rule.id.name().to_lowercase())));
        assert!(trips && nearly, "{} ({}): {trips} {nearly}", rule.id, rule.title);
    }
    let folder = path("x").parent().expect("in a folder").to_path_buf();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        assert!(names().any(|name| format!("{name}.json") == file), "{file}");
    }
}

/// A counter of the kernel that may be 32 bits wide: its name, the unit it is kept in, and where it stands in a
/// snapshot.
type Narrow = (&'static str, u64, fn(&mut evidence::Snapshot) -> Vec<&mut u64>);

fn of_disks(
    snapshot: &mut evidence::Snapshot,
    field: fn(&mut evidence::DiskCounters) -> Option<&mut u64>,
) -> Vec<&mut u64> {
    let disks = snapshot.devices.iter_mut().filter_map(|device| match &mut device.counters {
        Reading::Seen(counters) => field(counters),
        Reading::Unseen(_) => None,
    });
    disks.collect()
}

const NARROW: &[Narrow] = &[
    ("reads", 1, |s| of_disks(s, |disk| Some(&mut disk.reads))),
    ("sectors read", 512, |s| of_disks(s, |disk| Some(&mut disk.read_bytes))),
    ("ms of reads", 1, |s| of_disks(s, |disk| Some(&mut disk.read_ms))),
    ("writes", 1, |s| of_disks(s, |disk| Some(&mut disk.writes))),
    ("sectors written", 512, |s| of_disks(s, |disk| Some(&mut disk.write_bytes))),
    ("ms of writes", 1, |s| of_disks(s, |disk| Some(&mut disk.write_ms))),
    ("ms of work", 1, |s| of_disks(s, |disk| Some(&mut disk.busy_ms))),
    ("weighted ms", 1, |s| of_disks(s, |disk| Some(&mut disk.weighted_ms))),
    ("discards", 1, |s| of_disks(s, |disk| Some(&mut disk.discards))),
    ("sectors discarded", 512, |s| of_disks(s, |disk| Some(&mut disk.discard_bytes))),
    ("flushes", 1, |s| of_disks(s, |disk| disk.flushes.as_mut())),
    ("ms of flushes", 1, |s| of_disks(s, |disk| disk.flush_ms.as_mut())),
    ("pages swapped", 4096, |s| match &mut s.memory {
        Reading::Seen(memory) => {
            memory.swapped.as_mut().map(|all| &mut all.0).into_iter().collect()
        }
        Reading::Unseen(_) => Vec::new(),
    }),
];

/// Moves a counter of all snapshots on, so that it is at its end in the first of each phase, and goes on from
/// zero after it. How often it wrapped.
fn wrap(record: &mut Record, (_, unit, counters): &Narrow) -> usize {
    let round = unit << 32;
    let mut wrapped = 0;
    for phase in &mut record.phases {
        let evidence = &mut phase.evidence;
        let mut before: Vec<u64> = counters(&mut evidence.before).iter().map(|n| **n).collect();
        for snapshot in
            [Some(&mut evidence.stop), evidence.settled.as_deref_mut()].into_iter().flatten()
        {
            for (now, then) in counters(snapshot).into_iter().zip(&before) {
                wrapped += usize::from(*now > *then);
                *now = (round - unit + *now - then) % round;
            }
        }
        before.fill(round - unit);
        for (then, end) in counters(&mut evidence.before).into_iter().zip(before) {
            *then = end;
        }
    }
    wrapped
}

/// Makes a counter grow by a little in each phase in which it stood still.
fn stir(record: &mut Record, (_, unit, counters): &Narrow) {
    for phase in &mut record.phases {
        let evidence = &mut phase.evidence;
        let before: Vec<u64> = counters(&mut evidence.before).iter().map(|n| **n).collect();
        for snapshot in
            [Some(&mut evidence.stop), evidence.settled.as_deref_mut()].into_iter().flatten()
        {
            for (now, then) in counters(snapshot).into_iter().zip(&before) {
                *now = (*now).max(then + 3 * unit);
            }
        }
    }
}

#[test]
fn counters_that_wrap_change_no_verdict() {
    let judged = |mut record: Record| {
        verdict::judge(&mut record);
        let phases = record.phases.iter().map(|phase| phase.verdict.clone());
        let mut all: Vec<_> = [record.verdict].into_iter().chain(phases).collect();
        for verdict in all.iter_mut().flatten() {
            // About all that was written since boot, which is more here.
            verdict.findings.retain(|finding| finding.trap.name() != "T44");
        }
        all
    };
    let mut wraps = vec![0; NARROW.len()];
    for kept in TABLE {
        let mut record = self::kept(kept.name, kept.make);
        NARROW.iter().for_each(|narrow| stir(&mut record, narrow));
        assert_eq!(record.machine().page, Bytes(4096), "{}", kept.name);
        let expected = judged(record.clone());
        let mut all = record.clone();
        for (number, narrow) in NARROW.iter().enumerate() {
            let mut one = record.clone();
            wraps[number] += wrap(&mut one, narrow);
            assert!(judged(one) == expected, "{}: {} wrapped", kept.name, narrow.0);
            wrap(&mut all, narrow);
        }
        assert!(judged(all) == expected, "{}: all counters wrapped", kept.name);
    }
    assert!(wraps.iter().all(|wraps| *wraps > 1), "{wraps:?}");
}
