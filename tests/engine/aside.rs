//! What is done beside the I/Os: writing out by `sync_file_range`, dropping behind, and a close
//! inside the timing. Each is counted and timed apart, and promises nothing.

use std::path::Path;

use crate::kernel::{Heard, hear_own, told};
use crate::lab::{self, Card, Faults, FaultyFuse, MI, Op, on};
use crate::runs::traced;
use assay_engine::sys::cache;
use assay_plan::error::Error;
use assay_plan::plan::{Action, Durability, Plan};
use assay_record::record::{Record, Trust};
use assay_run::{self as run, RunOptions};
use serde_json::{Value, json};

/// Writes of 4 KiB to a file of 64 blocks, with whatever `blocks` says beside that.
fn plan(path: &Path, size: u64, blocks: Value) -> Value {
    let mut all = json!({
        "target": { "file": {
            "path": path, "size": { "exactly": size }, "lifetime": "keep",
        } },
        "pattern": { "mix": [{ "action": "write", "weight": 1 }], "block": { "fixed": 4096 } },
    });
    let all_of_it = all.as_object_mut().expect("an object");
    all_of_it.extend(blocks.as_object().expect("an object").clone());
    json!({
        "title": "t", "origin": { "dialect": "plan" }, "seed": 7,
        "phases": [{ "name": "p", "settle": 20_000_000_000_u64, "jobs": [{
            "name": "j", "work": { "blocks": all }, "stop": { "first_of": [{ "passes": 1 }] },
        }] }],
    })
}

fn go(plan: &Value) -> Record {
    let plan: Plan = serde_json::from_value(plan.clone()).expect("a plan");
    run::run(&plan, &RunOptions::default(), &mut ()).expect("a run")
}

fn refused(plan: &Value) -> String {
    let plan: Plan = serde_json::from_value(plan.clone()).expect("a plan");
    match run::run(&plan, &RunOptions::default(), &mut ()) {
        Err(Error::Refusal(refusal)) => refusal.to_string(),
        other => panic!("not refused: {other:?}"),
    }
}

/// How often each action was done, as `write 64, flush 1`.
fn counted(record: &Record) -> String {
    assert_eq!(record.phases[0].faults, []);
    let totals = record.phases[0].totals.iter();
    let each: Vec<_> = totals.map(|(a, total)| format!("{} {}", a.name(), total.ops.0)).collect();
    each.join(", ")
}

/// The calls of these names that a plan makes to a file from its first write on, in order; `None`
/// where nothing can be traced.
fn calls(plan: &Value, path: &Path, names: &str) -> Option<Vec<String>> {
    let trace = format!("trace={names}");
    let skipped = |error| eprintln!("SKIP the calls of a plan: strace: {error}");
    let options = ["-qq", "-y", "-e", "signal=none", "-e", &trace];
    let text = traced(&plan.to_string(), &options).map_err(skipped).ok()?;
    let name = format!("<{}>", path.display());
    let ours = text.lines().filter(|line| line.contains(&name));
    Some(ours.skip_while(|line| !line.contains("pwrite64")).map(String::from).collect())
}

/// Every four writes, all steps.
fn every_four() -> Value {
    json!({ "every": 4, "wait_before": true, "write": true, "wait_after": true })
}

#[test]
fn every_so_many_writes_what_was_written_is_written_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    let mut loop_config = vec![
        (json!("psync"), 1),
        (json!("sync"), 1),
        (json!({ "mmap": {} }), 1),
        (json!({ "stdio": { "buffer": 65536 } }), 1),
        (json!("posixaio"), 4),
    ];
    match assay_engine::sys::ring::available() {
        Ok(()) => loop_config.push((json!({ "io_uring": {} }), 4)),
        Err(error) => eprintln!("SKIP io_uring in tests/engine/aside.rs: {error}"),
    }
    for (method, depth) in loop_config {
        let way = json!({ "method": method, "iodepth": depth, "sync_file_range": every_four() });
        let record = go(&plan(&path, 64 * 4096, way));
        assert_eq!(counted(&record), "write 64, sync_file_range 16", "{method}");
        let flow = &record.phases[0].flows[0];
        assert_eq!((flow.durability, flow.written_out), (Durability::None, true));
        // Both at once: the flush at the end is apart, and is one.
        let both = json!({
            "method": method, "iodepth": depth, "sync_file_range": every_four(),
            "durability": "fsync_at_end",
        });
        let record = go(&plan(&path, 64 * 4096, both));
        assert_eq!(counted(&record), "write 64, flush 1, sync_file_range 16", "{method}");
        assert_eq!(record.phases[0].flows[0].durability, Durability::FsyncAtEnd);
    }
}

/// What a line of strace's says of a `sync_file_range` behind the descriptor.
fn range(line: &str) -> Option<&str> {
    line.contains("sync_file_range(").then(|| line.split_once(", ").expect("words").1)
}

#[test]
fn the_range_is_what_was_written_since_the_last_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    let way = json!({ "sync_file_range": every_four() });
    let mut plan = plan(&path, 10 * 4096, way);
    // Nothing is watched after it: that would be done by calls of the same name.
    plan["phases"][0]["settle"] = json!(0);
    let Some(made) = calls(&plan, &path, "pwrite64,sync_file_range") else { return };
    let made: Vec<&str> = made.iter().filter_map(|line| range(line)).collect();
    let all = "SYNC_FILE_RANGE_WAIT_BEFORE|SYNC_FILE_RANGE_WRITE|SYNC_FILE_RANGE_WAIT_AFTER";
    assert_eq!(made, [format!("0, 16384, {all}) = 0"), format!("16384, 16384, {all}) = 0")]);
    // Two blocks out of order: from the first byte to the last.
    let way = json!({
        "sync_file_range": { "every": 5, "write": true },
        "pattern": {
            "mix": [{ "action": "write", "weight": 1 }], "block": { "fixed": 4096 },
            "order": { "strided": { "stride": 8192 } },
        },
    });
    let mut plan = self::plan(&path, 10 * 4096, way);
    plan["phases"][0]["settle"] = json!(0);
    let made = calls(&plan, &path, "pwrite64,sync_file_range").expect("as it was just now");
    let made: Vec<&str> = made.iter().filter_map(|line| range(line)).collect();
    let write = "SYNC_FILE_RANGE_WRITE) = 0";
    assert_eq!(made, [format!("0, 36864, {write}"), format!("4096, 36864, {write}")]);
}

#[test]
fn a_close_in_the_timing_comes_after_the_flush() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("closed");
    let way = json!({ "durability": "fsync_at_end", "timed_close": true });
    let record = go(&plan(&path, 16 * 4096, way.clone()));
    assert_eq!(counted(&record), "write 16, flush 1, close 1");
    let span = &record.phases[0].span;
    let (flushed, closed) = (span.flushed.expect("flushed"), span.closed.expect("closed"));
    assert!(span.stopped <= flushed && flushed <= closed, "{span:?}");
    assert_eq!(span.ended(), closed);
    assert_eq!(record.phases[0].totals[&Action::Write].time, closed.since(span.counted));
    let plan_of = |way| plan(&path, 16 * 4096, way);
    let Some(made) = calls(&plan_of(way), &path, "pwrite64,fsync,close") else { return };
    let ours: Vec<&str> = made.iter().map(|line| call(line)).collect();
    // The job's own description; then that of the conductor, which is nobody's timing.
    assert_eq!(ours[..16], ["pwrite64"; 16], "{made:?}");
    assert_eq!(ours[16..], ["fsync", "close", "close"], "{made:?}");
    // A close without a flush promises nothing.
    let record = go(&plan_of(json!({ "timed_close": true })));
    assert_eq!(counted(&record), "write 16, close 1");
    assert_eq!(record.phases[0].flows[0].durability, Durability::None);
}

/// The name of a call in a line of strace's.
fn call(line: &str) -> &str {
    let (_, words) = line.split_once(' ').expect("a number and a call");
    words.trim_start().split('(').next().expect("a name")
}

#[test]
fn an_error_of_a_close_is_heard() {
    let fuse = lab::need!(FaultyFuse::new(Faults::from(on(Op::Close).fails(libc::EIO))));
    let silent = go(&plan(&fuse.path("x"), 16 * 4096, json!({})));
    // Heard also where nobody asked for its time.
    let heard = &silent.phases[0].faults;
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert_eq!((heard[0].doing.name(), heard[0].name.as_str()), ("close", "EIO"));
    let record = go(&plan(&fuse.path("x"), 16 * 4096, json!({ "timed_close": true })));
    let faults = &record.phases[0].faults;
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert_eq!((faults[0].doing.name(), faults[0].name.as_str()), ("close", "EIO"));
    assert_eq!(record.phases[0].totals[&Action::Close].errors, 1);
}

/// Bytes of a file in memory.
fn resident(path: &Path, size: u64) -> u64 {
    let file = std::fs::File::open(path).expect("the file");
    let pages = cache::resident(std::os::fd::AsFd::as_fd(&file), size).expect("pages");
    pages * rustix::param::page_size() as u64
}

#[test]
fn what_was_touched_is_dropped_behind() {
    const SIZE: u64 = 64 * MI;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    let way = |action: &str, caching: &str, durability: &str| {
        json!({
            "caching": caching, "durability": durability,
            "pattern": {
                "mix": [{ "action": action, "weight": 1 }], "block": { "fixed": MI },
            },
        })
    };
    let wrote = go(&plan(&path, SIZE, way("write", "drop_behind", "fsync_at_end")));
    // Every 4 MiB, and what was dirty then at the end.
    assert_eq!(counted(&wrote), "write 64, flush 1, drop 17");
    assert_eq!(resident(&path, SIZE), 0);
    assert!(wrote.phases[0].totals[&Action::Drop].lat_ns.is_some_and(|lat| lat.max > 0));
    let read = go(&plan(&path, SIZE, way("read", "drop_behind", "none")));
    assert_eq!(counted(&read), "read 64, drop 17");
    assert_eq!(resident(&path, SIZE), 0);
    // What makes the difference is the dropping, and not this machine.
    let mut most = 0;
    for _ in 0..3 {
        let buffered = go(&plan(&path, SIZE, way("read", "buffered", "none")));
        assert_eq!(counted(&buffered), "read 64");
        most = most.max(resident(&path, SIZE));
    }
    assert!(most > 8 * MI, "{most} bytes are left by a buffered read");
}

#[test]
fn what_contradicts_it_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    let refusals = [
        (
            json!({ "caching": "drop_behind", "method": { "mmap": {} } }),
            "mmap and drop_behind: the kernel drops no page that is mapped",
        ),
        (
            json!({ "sync_file_range": { "every": 0, "write": true } }),
            "a sync_file_range every 0 writes is no plan",
        ),
        (
            json!({ "sync_file_range": { "every": 1 } }),
            "a sync_file_range without 'wait_before', 'write' and 'wait_after' does nothing",
        ),
        (
            json!({
                "sync_file_range": every_four(),
                "pattern": {
                    "mix": [{ "action": "read", "weight": 1 }], "block": { "fixed": 4096 },
                },
            }),
            "sync_file_range contradicts a mix without 'write' or 'rewrite'",
        ),
        (
            json!({ "pattern": {
                "mix": [{ "action": "drop", "weight": 1 }], "block": { "fixed": 4096 },
            } }),
            "'drop' is no part of a mix",
        ),
    ];
    for (way, why) in refusals {
        let said = refused(&plan(&path, 16 * 4096, way));
        assert!(said.contains(why), "{said}");
    }
    assert!(!path.exists());
}

#[test]
fn t16_written_out_is_not_durable() {
    let _alone = lab::alone();
    let card = lab::need!(Card::paced());
    let heard = |durability: &str| -> Heard {
        let way = json!({
            "sync_file_range": { "every": 8, "write": true, "wait_after": true },
            "durability": durability,
            "pattern": {
                "mix": [{ "action": "write", "weight": 1 }], "block": { "fixed": 65536 },
            },
        });
        let desk = tempfile::tempdir().expect("a folder");
        let file = desk.path().join("plan.json");
        std::fs::write(&file, plan(&card.path("x"), 16 * MI, way).to_string()).expect("written");
        hear_own(lab::run_plan(&file))
    };
    let out = heard("none");
    told("written out", &out);
    assert!(out.found("T16") && !out.found("T02"), "{out}");
    assert_ne!(out.verdict().trust, Trust::Wrong, "{out}");
    assert!(!out.verdict().summary().contains("flushed"), "{out}");
    let flushed = heard("fsync_at_end");
    assert!(!flushed.found("T16") && !flushed.found("T02"), "{flushed}");
}
