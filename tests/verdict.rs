//! Records kept as files, each with the verdict that it must get: for each rule one that trips it
//! and one that nearly does. `ASSAY_BLESS=1 cargo test --test verdict` writes missing ones; those
//! that are there stay, so that old records go on being judged.
#![allow(dead_code, reason = "the bench has more ways to doctor than are used here")]

use std::path::PathBuf;

use assay::{error, evidence, plan, record, stats, unit, verdict};

#[path = "../src/verdict/bench.rs"]
mod bench;

use bench::{Bench, FRESH, SAME};
use evidence::{Bottom, CachePages, LayerKind, Reading};
use plan::{Action, Arrivals, Durability, Method, Rate};
use record::{Dropped, Measures, Record, Settle, Trust};
use unit::{Bandwidth, Bytes, KIB, MIB, Nanos, Ops};

/// A record, what makes it, and what must be said of it: trust, measures, traps that must be
/// named, traps that must not.
struct Kept {
    name: &'static str,
    make: fn() -> Bench,
    trust: Trust,
    measures: Measures,
    named: &'static [&'static str],
    silent: &'static [&'static str],
}

fn doctored(mut bench: Bench, change: impl FnOnce(&mut Bench)) -> Bench {
    change(&mut bench);
    bench
}

fn card(bench: Bench, cap: u64) -> Bench {
    doctored(bench, |bench| {
        bench.capped(cap);
        bench.work(0.01, 0.02);
    })
}

fn flush_failed(bench: &mut Bench) {
    let error = std::io::Error::from_raw_os_error(28);
    bench.record.phases[0].evidence.settle = Some(Settle {
        time: Nanos::secs(1),
        complete: true,
        fault: Some(error::Fault::new("fsync", "/mnt/x", &error)),
    });
}

fn left_after_drop(bench: &mut Bench, left: Bytes) {
    bench.record.phases[0].evidence.cold = vec![Dropped {
        path: "/mnt/x".into(),
        range: Bytes::mib(20),
        left: Reading::Seen(CachePages { resident: left, ..CachePages::default() }),
    }];
}

fn direct_without_flush(bench: &mut Bench) {
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
    evidence::Warmth { drives: vec![Bench::thermometer(now, 81_850)], ..Default::default() }
}

fn small_direct_onto(bench: &mut Bench, written: Bytes) {
    bench.direct(true);
    bench.record.phases[0].flows[0].block = Bytes(4 * KIB);
    bench.written_onto(written);
}

fn eight_in_flight(bench: &mut Bench, written: Bytes) {
    bench.direct(true);
    bench.only_writes();
    let phase = &mut bench.record.phases[0];
    phase.flows[0].depth = 8;
    phase.depth = Some(stats::DepthReached { mean: 7.8, max: 8, counts: vec![] });
    bench.written_onto(written);
}

/// Ordered writes to a card at 20 MB per second, then scattered ones of 4 KiB at this rate.
fn ordered_then_scattered(rate: Bandwidth) -> Bench {
    doctored(Bench::write_flushed(), |bench| {
        bench.only_writes();
        bench.worn(Some(1), None);
        bench.again_as("scattered");
        let [ordered, scattered] = bench.record.phases.as_mut_slice() else { unreachable!() };
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
            measures: Measures::$measures,
            named: &[$($named),*],
            silent: &[$($silent),*],
        }
    };
}

#[rustfmt::skip]
const TABLE: &[Kept] = &[
    kept!("t00-counters-unseen", doctored(Bench::write_flushed(), |b| b.record.phases[0].evidence.stop.devices.clear()), Unproven, Unsure, ["T00"], []),
    kept!("t00-nearly-cache-unseen", doctored(Bench::write_flushed(), |b| b.record.phases[0].evidence.stop.cache.clear()), Sound, Device, [], ["T00"]),
    kept!("t01-read-again", Bench::read_again(), Wrong, Memory, ["T01"], ["T56"]),
    kept!("t01-nearly-cold-on-a-card", card(Bench::read_cold(), 16 * MIB), Sound, Limited, ["T32"], ["T01"]),
    kept!("t02-no-flush", Bench::write_without_flush(), Wrong, Deferred, ["T02"], ["T56", "T32"]),
    kept!("t02-nearly-flushed-on-a-card", card(Bench::write_flushed(), 4 * MIB), Sound, Limited, ["T32"], ["T02"]),
    kept!("t03-stdio-closed", doctored(Bench::write_without_flush(), |b| b.record.resolved.jobs[0].method = Method::Stdio { buffer: 4096, bytewise: false }), Wrong, Deferred, ["T03"], ["T02"]),
    kept!("t03-nearly-stdio-flushed", doctored(Bench::write_flushed(), |b| b.record.resolved.jobs[0].method = Method::Stdio { buffer: 4096, bytewise: false }), Sound, Device, [], ["T03"]),
    kept!("t05-bigger-than-ram", doctored(Bench::write_without_flush(), |b| { b.record.machine.memory = Reading::Seen(Bytes::mib(16)); b.written(Bytes::mib(15), Bytes::mib(20)); }), Wrong, Deferred, ["T05"], ["T02"]),
    kept!("t05-nearly-bigger-and-flushed", doctored(Bench::write_flushed(), |b| b.record.machine.memory = Reading::Seen(Bytes::mib(16))), Sound, Device, [], ["T05"]),
    kept!("t06-partly-resident", doctored(Bench::read_cold(), |b| { b.resident_before(Bytes::mib(1)); b.was_read(Bytes(20 * MIB * 99 / 100)); }), Doubtful, Mixed, ["T06"], ["T01"]),
    kept!("t06-nearly-another-part-resident", doctored(Bench::read_cold(), |b| b.resident_before(Bytes::mib(1))), Sound, Device, [], ["T06"]),
    kept!("t07-not-dropped", doctored(Bench::read_again(), |b| left_after_drop(b, Bytes::mib(20))), Wrong, Memory, ["T07", "T01"], []),
    kept!("t07-nearly-dropped", doctored(Bench::read_cold(), |b| left_after_drop(b, Bytes::kib(64))), Sound, Device, [], ["T07"]),
    kept!("t14-flush-for-each-write", doctored(Bench::write_flushed(), |b| { b.record.phases[0].flows[0].calls = Ops(2048); b.record.phases[0].flows[0].durability = Durability::OpenSync; b.flushes(2049); }), Sound, Device, ["T14"], ["T54"]),
    kept!("t14-nearly-one-large-write", doctored(Bench::write_flushed(), |b| { b.record.phases[0].flows[0].calls = Ops(1); b.flushes(2); }), Sound, Device, [], ["T14"]),
    kept!("t16-direct-into-the-cache", doctored(card(Bench::write_flushed(), 4 * MIB), direct_without_flush), Sound, Limited, ["T16", "T32"], ["T02"]),
    kept!("t16-nearly-write-through", doctored(Bench::write_flushed(), |b| { direct_without_flush(b); b.queue(|q| q.write_cache = Some("write through".into())); }), Sound, Device, [], ["T16"]),
    kept!("t17-flush-fails", doctored(Bench::write_without_flush(), flush_failed), Wrong, Invalid, ["T17"], []),
    kept!("t17-nearly-flush-goes-on", doctored(Bench::write_without_flush(), |b| b.settled_at(Nanos::secs(2), Bytes::mib(8), false)), Wrong, Deferred, ["T02"], ["T17"]),
    kept!("t19-direct-through-memory", doctored(Bench::write_without_flush(), |b| b.direct(false)), Wrong, Deferred, ["T19"], ["T02"]),
    kept!("t19-nearly-direct-not-said", doctored(Bench::write_flushed(), |b| { b.direct(true); let at = b.record.phases[0].flows[0].subject; b.record.resolved.subjects[at].direct = Reading::Unseen("statx: ENOSYS".into()); }), Sound, Device, [], ["T19"]),
    kept!("t22-from-sector-63", doctored(Bench::write_flushed(), |b| b.partition_at(63 * 512)), Sound, Device, ["T22"], []),
    kept!("t22-nearly-at-a-mebibyte", doctored(Bench::write_flushed(), |b| b.partition_at(1 << 20)), Sound, Device, [], ["T22"]),
    kept!("t23-sparse", Bench::read_of_holes(), Wrong, Layer, ["T23"], ["T01", "T19"]),
    kept!("t23-nearly-holes-not-read", doctored(Bench::read_cold(), |b| b.lay(Bytes::mib(10), Bytes::mib(30))), Sound, Device, [], ["T23"]),
    kept!("t24-trimmed", doctored(Bench::read_cold(), |b| b.sampled((64, [15, 20, 30]), (192, [70, 80, 90]))), Wrong, Layer, ["T24"], ["T01"]),
    kept!("t24-nothing-to-compare-with", doctored(Bench::read_cold(), |b| { b.sampled((256, [15, 20, 30]), (0, [0; 3])); b.queue(|q| q.discard_max_bytes = Some(1 << 30)); }), Doubtful, Layer, ["T24"], []),
    kept!("t24-nearly-zeros-that-are-data", doctored(Bench::read_cold(), |b| { b.sampled((64, [15, 20, 80]), (192, [60, 80, 90])); b.queue(|q| q.discard_max_bytes = Some(1 << 30)); }), Sound, Device, [], ["T24"]),
    kept!("t25-compressed", doctored(Bench::write_flushed(), |b| b.written(Bytes::mib(1), Bytes::mib(1))), Wrong, Layer, ["T25"], ["T02"]),
    kept!("t25-nearly-a-little-less", doctored(Bench::write_flushed(), |b| b.written(Bytes(20 * MIB * 985 / 1000), Bytes(20 * MIB * 985 / 1000))), Sound, Device, [], ["T25"]),
    kept!("t25-copied-by-sharing", doctored(Bench::copy_within(), |b| b.shares(Bytes::mib(20))), Wrong, Layer, ["T25"], ["T01", "T02"]),
    kept!("t25-nearly-none-shared", doctored(Bench::copy_within(), |b| b.shares(Bytes::kib(64))), Sound, Device, [], ["T25"]),
    kept!("t27-cut-meanwhile", doctored(Bench::write_without_flush(), |b| { b.settled_at(Nanos::millis(100), Bytes::mib(2), true); b.cut(Bytes::ZERO); }), Wrong, Deferred, ["T27"], ["T02", "T25"]),
    kept!("t27-dropped-pages", doctored(Bench::write_flushed(), |b| { b.written(Bytes::mib(4), Bytes::mib(4)); b.cancelled(Bytes::mib(16)); }), Wrong, Deferred, ["T27"], ["T02", "T25"]),
    kept!("t27-nearly-cut-when-all-was-written", doctored(Bench::write_flushed(), |b| { b.cut(Bytes::ZERO); b.cancelled(Bytes::mib(16)); }), Sound, Device, [], ["T27"]),
    kept!("t28-kept-once", Bench::in_turns(&[(FRESH, 4.0), (SAME, 6.0), (FRESH, 4.2), (SAME, 7.0)]), Wrong, Layer, ["T28"], ["T25"]),
    kept!("t28-nearly-faster-by-and-by", Bench::in_turns(&[(FRESH, 4.0), (SAME, 5.0), (FRESH, 6.0), (SAME, 7.5)]), Sound, Device, [], ["T28"]),
    kept!("t29-tmpfs", doctored(Bench::write_flushed(), |b| b.bottom(Bottom::Memory("tmpfs".into()))), Wrong, NotADisk, ["T29"], ["T02"]),
    kept!("t29-fuse", doctored(Bench::write_flushed(), |b| b.bottom(Bottom::Remote("fuse.sshfs".into()))), Unproven, NotADisk, ["T29"], []),
    kept!("t29-nothing-to-nothing", doctored(Bench::write_flushed(), |b| b.bottom(Bottom::Nothing("/dev/null".into()))), Wrong, Tool, ["T29"], []),
    kept!("t29-nearly-loop-on-fuse", Bench::write_flushed(), Sound, Device, [], ["T29", "T32"]),
    kept!("t31-second-writer", doctored(Bench::write_flushed(), |b| b.written(Bytes::mib(40), Bytes::mib(40))), Wrong, Disturbed, ["T31"], []),
    kept!("t31-a-little-foreign", doctored(Bench::write_flushed(), |b| b.written(Bytes::mib(23), Bytes::mib(23))), Doubtful, Disturbed, ["T31"], []),
    kept!("t31-nearly-own-journal", doctored(Bench::write_flushed(), |b| b.written(Bytes(20 * MIB + 300 * KIB), Bytes(20 * MIB + 300 * KIB))), Sound, Device, [], ["T31"]),
    kept!("t31-copy-within-one-disk", Bench::copy_within(), Sound, Device, ["T31"], []),
    kept!("t32-hidden-limit", doctored(Bench::write_flushed(), |b| b.work(0.01, 0.02)), Sound, Limited, ["T32"], []),
    kept!("t32-nearly-a-paced-plan", doctored(Bench::write_flushed(), |b| { b.work(0.01, 0.02); b.record.plan.phases[0].jobs[0].rate = Rate::Open { iops: 4.0, arrivals: Arrivals::Even }; }), Sound, Device, [], ["T32"]),
    kept!("t43-not-steady", doctored(Bench::write_flushed(), |b| b.steadied(None)), Doubtful, Unsteady, ["T43"], []),
    kept!("t43-nearly-steady", doctored(Bench::write_flushed(), |b| b.steadied(Some(stats::SteadyState { mean: 4e6, spread: 0.1, slope: 0.05, rounds: vec![4e6; 5] }))), Sound, Device, [], ["T43"]),
    kept!("t46-as-fast-as-its-link", doctored(Bench::write_flushed(), |b| b.linked(4_500_000, None)), Sound, Limited, ["T46"], []),
    kept!("t46-nearly-half-of-it", doctored(Bench::write_flushed(), |b| b.linked(9_000_000, None)), Sound, Device, [], ["T46"]),
    kept!("t47-worn", doctored(Bench::write_flushed(), |b| b.worn(Some(11), Some(3))), Sound, Device, ["T47"], []),
    kept!("t47-nearly-worn", doctored(Bench::write_flushed(), |b| b.worn(Some(9), Some(1))), Sound, Device, [], ["T47"]),
    kept!("t48-wrong-content", doctored(Bench::read_cold(), |b| b.record.phases[0].totals.get_mut(&Action::Read).expect("counted").mismatches = 1), Wrong, Invalid, ["T48"], []),
    kept!("t48-nearly-cold", Bench::read_cold(), Sound, Device, [], ["T48"]),
    kept!("t51-cpu-bound", doctored(Bench::write_flushed(), |b| b.work(0.4, 0.95)), Doubtful, Tool, ["T51"], []),
    kept!("t51-nearly-both-busy", doctored(Bench::write_flushed(), |b| b.work(0.95, 0.99)), Sound, Device, [], ["T51"]),
    kept!("t51-byte-by-byte", doctored(Bench::write_flushed(), |b| { b.work(0.4, 0.6); b.bytewise(0.6); }), Doubtful, Tool, ["T51"], []),
    kept!("t51-nearly-byte-by-byte", doctored(Bench::write_flushed(), |b| { b.work(0.4, 0.3); b.bytewise(0.3); }), Sound, Device, [], ["T51"]),
    kept!("t54-depth-1", doctored(Bench::write_flushed(), |b| { b.direct(true); b.work(0.7, 0.3); }), Sound, Device, ["T54"], []),
    kept!("t54-nearly-depth-32", doctored(Bench::write_flushed(), |b| { b.direct(true); b.work(0.7, 0.3); b.record.phases[0].flows[0].depth = 32; }), Sound, Device, [], ["T54"]),
    kept!("t56-a-blink", doctored(Bench::write_flushed(), |b| b.lasted(Nanos::millis(20))), Unproven, Unsure, ["T56"], []),
    kept!("t56-nearly-a-blink", doctored(Bench::write_flushed(), |b| b.lasted(Nanos::millis(300))), Sound, Device, [], ["T56"]),
    kept!("t58-stall", doctored(Bench::write_flushed(), |b| { b.direct(true); let mut ops = [10; 50]; ops[20..35].fill(0); b.series(&ops); }), Doubtful, Unsteady, ["T58"], []),
    kept!("t58-nearly-lumps", doctored(Bench::write_flushed(), |b| { b.direct(true); let ops: Vec<u64> = (0..50).map(|n| u64::from(n % 3 == 0)).collect(); b.series(&ops); }), Sound, Device, [], ["T58"]),
    kept!("t60-written-twice-in-memory", doctored(Bench::write_flushed(), |b| { b.record.phases[0].flows[0].sequential = false; b.written(Bytes::mib(8), Bytes::mib(8)); }), Wrong, Mixed, ["T60"], ["T02", "T25"]),
    kept!("t60-nearly-here-and-there", doctored(Bench::write_flushed(), |b| b.record.phases[0].flows[0].sequential = false), Sound, Device, [], ["T60"]),
    kept!("t04-burst-into-memory", doctored(Bench::write_flushed(), |b| b.burst_series(12)), Sound, Device, ["T04"], []),
    kept!("t04-nearly-all-at-one-pace", doctored(Bench::write_flushed(), |b| b.burst_series(1)), Sound, Device, [], ["T04"]),
    kept!("t08-earlier-writes", doctored(Bench::write_flushed(), |b| b.earlier(Bytes::mib(2), Bytes::mib(30))), Sound, Device, ["T08"], []),
    kept!("t08-nearly-nothing-left", doctored(Bench::write_flushed(), |b| b.earlier(Bytes::mib(2), Bytes::ZERO)), Sound, Device, [], ["T08"]),
    kept!("t10-small-calls", doctored(Bench::read_cold(), |b| b.record.phases[0].flows[0].calls = Ops(5120)), Sound, Device, ["T10"], []),
    kept!("t10-nearly-a-request-for-two-calls", doctored(Bench::read_cold(), |b| b.record.phases[0].flows[0].calls = Ops(320)), Sound, Device, [], ["T10"]),
    kept!("t11-read-beyond-the-end", doctored(Bench::read_cold(), |b| { b.was_read(Bytes::kib(23_000)); b.own_read(Bytes::mib(24)); }), Sound, Device, ["T11"], ["T31"]),
    kept!("t11-nearly-read-by-others", doctored(Bench::read_cold(), |b| { b.was_read(Bytes::kib(23_000)); b.own_read(Bytes::mib(20)); }), Sound, Device, [], ["T11"]),
    kept!("t12-windows-for-blocks", doctored(Bench::read_cold(), |b| { b.record.phases[0].flows[0].sequential = false; b.was_read(Bytes::kib(23_000)); b.own_read(Bytes::mib(23)); }), Sound, Device, ["T12"], ["T11"]),
    kept!("t12-nearly-as-asked", doctored(Bench::read_cold(), |b| { b.record.phases[0].flows[0].sequential = false; b.own_read(Bytes::mib(20)); }), Sound, Device, [], ["T12"]),
    kept!("t15-flush-swallowed", doctored(Bench::write_flushed(), |b| { b.flushes(0); b.mounted("rw,nobarrier"); }), Doubtful, Deferred, ["T15"], []),
    kept!("t15-nearly-write-through", doctored(Bench::write_flushed(), |b| { b.flushes(0); b.queue(|q| q.write_cache = Some("write through".into())); }), Sound, Device, [], ["T15"]),
    kept!("t18-made-in-memory", doctored(Bench::write_flushed(), |b| { b.made_files(); b.written(Bytes::ZERO, Bytes::mib(1)); }), Wrong, Deferred, ["T18"], ["T00", "T02"]),
    kept!("t18-partly-in-memory", doctored(Bench::write_flushed(), |b| { b.made_files(); b.written(Bytes::mib(1), Bytes::mib(2)); }), Unproven, Unsure, ["T18", "T00"], ["T02"]),
    kept!("t18-short-and-not-watched", doctored(Bench::write_flushed(), |b| { b.made_files(); b.record.phases[0].evidence.settle = None; b.record.phases[0].evidence.settled = None; }), Unproven, Unsure, ["T18", "T00"], []),
    kept!("t18-nearly-all-committed", doctored(Bench::write_flushed(), |b| { b.made_files(); b.written(Bytes::mib(1), Bytes::mib(1)); }), Unproven, Unsure, ["T00"], ["T18"]),
    kept!("t20-parts-of-blocks", doctored(Bench::write_flushed(), |b| { b.direct(true); b.record.phases[0].flows[0].block = Bytes(512); }), Sound, Device, ["T20"], ["T21"]),
    kept!("t20-nearly-buffered", doctored(Bench::write_flushed(), |b| b.record.phases[0].flows[0].block = Bytes(512)), Sound, Device, [], ["T20"]),
    kept!("t21-parts-of-sectors", doctored(Bench::write_flushed(), |b| { b.direct(true); b.queue(|q| q.physical_block_size = Some(4096)); b.record.phases[0].flows[0].block = Bytes(512); }), Sound, Device, ["T21"], ["T20"]),
    kept!("t21-nearly-whole-sectors", doctored(Bench::write_flushed(), |b| { b.direct(true); b.queue(|q| q.physical_block_size = Some(4096)); b.record.phases[0].flows[0].block = Bytes(8192); }), Sound, Device, [], ["T21"]),
    kept!("t34-swapped", doctored(Bench::write_flushed(), |b| b.swapped(Bytes::mib(2))), Doubtful, Disturbed, ["T34"], []),
    kept!("t34-nearly-a-few-pages", doctored(Bench::write_flushed(), |b| b.swapped(Bytes::kib(128))), Sound, Device, [], ["T34"]),
    kept!("t38-in-pieces", doctored(Bench::read_cold(), |b| { b.lay(Bytes::ZERO, Bytes::mib(20)); b.pieces(320); }), Sound, Device, ["T38"], []),
    kept!("t38-nearly-in-one", doctored(Bench::read_cold(), |b| { b.lay(Bytes::ZERO, Bytes::mib(20)); b.pieces(60); }), Sound, Device, [], ["T38"]),
    kept!("t39-access-times", doctored(Bench::read_cold(), |b| b.written(Bytes(300 * KIB), Bytes(300 * KIB))), Sound, Device, ["T39"], []),
    kept!("t39-nearly-noatime", doctored(Bench::read_cold(), |b| { b.mounted("rw,noatime"); b.written(Bytes(300 * KIB), Bytes(300 * KIB)); }), Sound, Device, [], ["T39"]),
    kept!("t40-trimmed-meanwhile", doctored(Bench::write_flushed(), |b| { b.mounted("rw,discard"); b.discarded(3); }), Sound, Device, ["T40"], []),
    kept!("t40-nearly-only-mounted-so", doctored(Bench::write_flushed(), |b| b.mounted("rw,discard")), Sound, Device, [], ["T40"]),
    kept!("t41-encrypted", doctored(Bench::write_flushed(), |b| b.layer_kind(LayerKind::Mapper { uuid: "CRYPT-LUKS2-77-home".into() })), Sound, Device, ["T41"], []),
    kept!("t41-nearly-a-plain-volume", doctored(Bench::write_flushed(), |b| b.layer_kind(LayerKind::Mapper { uuid: "LVM-77".into() })), Sound, Device, [], ["T41"]),
    kept!("t43-falls", doctored(Bench::write_flushed(), |b| { b.direct(true); let bytes: Vec<u64> = (0..50).map(|n| if n < 20 { 6 } else { n % 2 * 2 } * MIB / 8).collect(); b.device_series(&bytes); }), Doubtful, Unsteady, ["T43"], ["T58"]),
    kept!("t43-nearly-wanders", doctored(Bench::write_flushed(), |b| { b.direct(true); let bytes: Vec<u64> = (0..50).map(|n| (1 + n * 7 % 5) * MIB / 8).collect(); b.device_series(&bytes); }), Sound, Device, [], ["T43"]),
    kept!("t50-dax", doctored(Bench::write_flushed(), |b| { b.mounted("rw,dax=always"); b.queue(|q| q.dax = Some(true)); }), Wrong, NotADisk, ["T50"], []),
    kept!("t50-nearly-able", doctored(Bench::write_flushed(), |b| b.queue(|q| q.dax = Some(true))), Sound, Device, [], ["T50"]),
    kept!("t52-others-on-the-cpus", doctored(Bench::write_flushed(), |b| { b.direct(true); b.work(0.3, 0.2); b.waited_for_cpu(Nanos::secs(3)); }), Doubtful, Disturbed, ["T52"], ["T32"]),
    kept!("t52-stopped-by-its-group", doctored(Bench::write_flushed(), |b| { b.work(0.3, 0.2); b.stopped_by_group(Nanos::secs(4)); }), Doubtful, Limited, ["T52"], []),
    kept!("t52-nearly-a-busy-device", doctored(Bench::write_flushed(), |b| { b.direct(true); b.waited_for_cpu(Nanos::secs(3)); }), Sound, Device, [], ["T52"]),
    kept!("t55-one-of-thirty-two", doctored(Bench::write_flushed(), |b| { b.direct(true); b.record.phases[0].flows[0].depth = 32; }), Sound, Device, ["T55"], []),
    kept!("t55-nearly-two", doctored(Bench::write_flushed(), |b| { b.direct(true); b.record.phases[0].flows[0].depth = 2; }), Sound, Device, [], ["T55"]),
    kept!("t57-counted-once", doctored(Bench::write_flushed(), |b| b.served(2000, 1_000_000)), Sound, Device, ["T57"], []),
    kept!("t57-nearly-no-waiting", doctored(Bench::write_flushed(), |b| b.served(2000, 9_000_000)), Sound, Device, [], ["T57"]),
    kept!("t61-far-from-the-device", doctored(Bench::write_flushed(), |b| { b.nodes(1); b.ran(&[0, 2], None); }), Sound, Device, ["T61"], []),
    kept!("t61-nearly-near-to-it", doctored(Bench::write_flushed(), |b| { b.nodes(0); b.ran(&[2, 5], None); }), Sound, Device, [], ["T61"]),
    kept!("t35-slowed-while-the-device-waited", doctored(Bench::write_flushed(), |b| { b.work(0.5, 0.3); b.warmed(slowed(7), slowed(9)); }), Doubtful, Unsteady, ["T35"], []),
    kept!("t35-nearly-counted-before", doctored(Bench::write_flushed(), |b| { b.work(0.5, 0.3); b.warmed(slowed(7), slowed(7)); }), Sound, Device, [], ["T35"]),
    kept!("t35-hot-drive", doctored(Bench::write_flushed(), |b| b.warmed(evidence::Warmth::default(), heated(82_000))), Doubtful, Unsteady, ["T35"], []),
    kept!("t36-first-writes", doctored(Bench::write_flushed(), |b| small_direct_onto(b, Bytes::ZERO)), Sound, Device, ["T36"], []),
    kept!("t36-nearly-overwrites", doctored(Bench::write_flushed(), |b| small_direct_onto(b, Bytes::mib(20))), Sound, Device, [], ["T36"]),
    kept!("t37-behind-the-lock", doctored(Bench::write_flushed(), |b| eight_in_flight(b, Bytes::ZERO)), Doubtful, Tool, ["T37"], ["T55"]),
    kept!("t37-nearly-overwrites", doctored(Bench::write_flushed(), |b| eight_in_flight(b, Bytes::mib(20))), Sound, Device, ["T55"], ["T37"]),
    kept!("t44-state-unknown", doctored(Bench::write_flushed(), |b| b.flash("nvme", Bytes::ZERO)), Sound, Device, ["T44"], []),
    kept!("t44-nearly-twice-full", doctored(Bench::write_flushed(), |b| b.flash("nvme", Bytes::mib(2048))), Sound, Device, [], ["T44"]),
    kept!("t45-scattered-on-a-card", ordered_then_scattered(Bandwidth(0.1e6)), Sound, Device, ["T45"], []),
    kept!("t45-nearly-a-hundredth", ordered_then_scattered(Bandwidth(0.3e6)), Sound, Device, [], ["T45"]),
    kept!("t49-works-on", doctored(Bench::write_flushed(), |b| b.answered_after(&[9, 9, 1])), Sound, Device, ["T49"], []),
    kept!("t49-nearly-over-at-once", doctored(Bench::write_flushed(), |b| b.answered_after(&[9, 1])), Sound, Device, [], ["T49"]),
    kept!("t53-as-fast-as-copying", doctored(Bench::read_cold(), |b| { b.work(0.5, 0.95); b.copies(20e6); }), Doubtful, Tool, ["T53"], ["T51"]),
    kept!("t53-nearly-a-busy-device", doctored(Bench::read_cold(), |b| b.copies(20e6)), Sound, Device, [], ["T53"]),
    kept!("t62-end-inside-the-plan", doctored(Bench::read_cold(), |b| { b.record.phases[0].flows[0].end_of_data = true; b.record.plan.origin.dialect = "quick".into(); }), Wrong, Invalid, ["T62"], []),
    kept!("t62-nearly-the-end-of-a-copy", doctored(Bench::read_cold(), |b| b.record.phases[0].flows[0].end_of_data = true), Sound, Device, ["T62"], []),
];

/// A record that is compared with [`Bench::write_flushed`], and the traps that must be named, or must
/// not.
struct Beside {
    name: &'static str,
    make: fn() -> Bench,
    named: &'static [&'static str],
    silent: &'static [&'static str],
}

#[rustfmt::skip]
const PAIRS: &[Beside] = &[
    Beside { name: "t33-other-read-ahead", make: || doctored(Bench::write_flushed(), |b| b.queue(|q| q.read_ahead_kb = Some(4096))), named: &["T33"], silent: &["T64"] },
    Beside { name: "t33-nearly-one-does-not-tell", make: || doctored(Bench::write_flushed(), |b| b.queue(|q| q.read_ahead_kb = None)), named: &[], silent: &["T33", "T64"] },
    Beside { name: "t64-other-limit", make: || card(Bench::write_flushed(), 4 * MIB), named: &["T64"], silent: &["T33"] },
    Beside { name: "t64-nearly-another-day", make: || doctored(Bench::write_flushed(), |b| { b.record.started = "2027-01-01T00:00:00Z".into(); b.record.plan.seed = 7; b.record.machine.host = "there".into(); }), named: &[], silent: &["T33", "T64"] },
];

/// The record of that name as it was kept; `ASSAY_BLESS` keeps one that is missing.
fn kept(name: &str, make: fn() -> Bench) -> Record {
    let path = path(name);
    if std::env::var_os("ASSAY_BLESS").is_some() && !path.exists() {
        let folder = path.parent().expect("in a folder");
        std::fs::create_dir_all(folder).expect("the folder can be made");
        let text = serde_json::to_string_pretty(&make().record).expect("JSON");
        std::fs::write(&path, text + "\n").expect("the record can be written");
    }
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; ASSAY_BLESS=1 writes it", path.display()));
    serde_json::from_str(&text).expect(name)
}

#[test]
fn records_are_held_against_each_other() {
    for beside in PAIRS {
        let name = beside.name;
        let found = verdict::unlike(&[&Bench::write_flushed().record], &[&kept(name, beside.make)]);
        let traps: Vec<&str> = found.findings.iter().map(|f| f.trap.0.as_str()).collect();
        for trap in beside.named {
            assert!(traps.contains(trap), "{name} must name {trap}: {found:#?}");
        }
        for trap in beside.silent {
            assert!(!traps.contains(trap), "{name} must not name {trap}: {found:#?}");
        }
        for claim in found.findings.iter().map(|f| &f.claim) {
            assert!(claim.ends_with('.') && !claim.contains("B/s"), "{name}: {claim}");
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
        let traps: Vec<&str> = found.findings.iter().map(|f| f.trap.0.as_str()).collect();
        for trap in kept.named {
            assert!(traps.contains(trap), "{name} must name {trap}: {traps:?}");
        }
        for trap in kept.silent {
            assert!(!traps.contains(trap), "{name} must not name {trap}: {traps:?}");
        }
        for text in [&found.summary].into_iter().chain(found.findings.iter().map(|f| &f.claim)) {
            assert!(text.ends_with('.') && !text.contains("B/s"), "{name}: {text}");
        }
        if std::env::var_os("ASSAY_SHOW").is_some() {
            println!(
                "{name}: {} / {}: {}",
                found.trust.name(),
                found.measures.name(),
                found.summary
            );
        }
    }
}

#[test]
fn each_rule_has_a_record_and_each_record_a_line() {
    let names = || TABLE.iter().map(|kept| kept.name).chain(PAIRS.iter().map(|kept| kept.name));
    for rule in verdict::RULES {
        let trips = TABLE.iter().any(|kept| kept.named.contains(&rule.id))
            || PAIRS.iter().any(|kept| kept.named.contains(&rule.id));
        let nearly = names().any(|n| n.starts_with(&format!("{}-nearly", rule.id.to_lowercase())));
        assert!(trips && nearly, "{} ({}): {trips} {nearly}", rule.id, rule.title);
    }
    let folder = path("x").parent().expect("in a folder").to_path_buf();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        assert!(names().any(|name| format!("{name}.json") == file), "{file}");
    }
}
