//! Plans as people and programs write them: what is refused, and what the figures of odd ones are.

use std::path::Path;

use assay::error::Error;
use assay::plan::{Action, Plan};
use assay::record::Record;
use assay::run::{self, Options};
use assay::stats::Total;
use serde_json::{Value, json};

/// A plan of one phase with one job: reads of 4 KiB by `psync` with whatever `changes` says.
fn plan(target: Value, changes: &[(&str, Value)]) -> Plan {
    let mut plan = json!({
        "title": "t",
        "origin": { "dialect": "plan" },
        "seed": 7,
        "phases": [{ "name": "p", "jobs": [{
            "name": "j",
            "work": { "blocks": {
                "target": target,
                "pattern": {
                    "mix": [{ "action": "read", "weight": 1 }],
                    "block": { "fixed": 4096 },
                },
            }},
        }]}],
    });
    for (place, value) in changes {
        let place = match *place {
            "method" | "caching" | "durability" | "iodepth" => {
                format!("/phases/0/jobs/0/work/blocks/{place}")
            }
            "mix" | "order" | "block" | "region" | "fill" | "verify" => {
                format!("/phases/0/jobs/0/work/blocks/pattern/{place}")
            }
            _ => format!("/phases/0/jobs/0/{place}"),
        };
        let (parent, name) = place.rsplit_once('/').expect("a path");
        plan.pointer_mut(parent).expect("it is there")[name] = value.clone();
    }
    serde_json::from_value(plan).expect("a plan")
}

fn file(path: &Path, size: u64) -> Value {
    json!({ "file": { "path": path, "size": { "exactly": size } } })
}

fn writes() -> (&'static str, Value) {
    ("mix", json!([{ "action": "write", "weight": 1 }]))
}

fn go(plan: &Plan) -> Result<Record, Error> {
    run::run(plan, &Options::default(), &mut ())
}

fn refused(plan: &Plan) -> String {
    match go(plan) {
        Err(Error::Refusal(refusal)) => refusal.to_string(),
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn only_files_are_files() {
    for place in ["/dev/null", "/dev/zero"] {
        let why = refused(&plan(file(Path::new(place), 4096), &[writes()]));
        assert!(why.contains("is no regular file"), "{why}");
    }
}

#[test]
fn a_record_takes_the_place_of_files_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("socket");
    let _open = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
    let plan = plan(nowhere(), &[("method", json!("null"))]);
    let options = Options { record: Some(socket), ..Options::default() };
    match run::run(&plan, &options, &mut ()) {
        Err(Error::Refusal(refusal)) => assert!(refusal.why.contains("is no regular file")),
        other => panic!("not refused: {other:?}"),
    }
}

fn nowhere() -> Value {
    json!({ "nowhere": { "size": 1_u64 << 30 } })
}

fn total(record: &Record, action: Action) -> &Total {
    &record.phases[0].totals[&action]
}

fn seconds(time: u64) -> (&'static str, Value) {
    ("stop", json!({ "first_of": [{ "time": time * 1_000_000_000 }] }))
}

#[test]
fn an_open_loop_sends_when_it_is_due_whatever_is_in_flight() {
    let sim = json!({ "sim": { "latency": 10_000_000, "channels": 64 } });
    let rate = json!({ "open": { "iops": 1000.0 } });
    let record = go(&plan(
        nowhere(),
        &[("method", sim), ("iodepth", json!(64)), ("rate", rate), seconds(10)],
    ))
    .expect("a run");
    let total = total(&record, Action::Read);
    let lat = total.lat_ns.expect("latency");
    assert!((9_990..=10_010).contains(&total.ops.0), "{} operations", total.ops.0);
    assert!(lat.min == 10_000_000 && lat.max < 10_000_002, "{lat:?}");
}

#[test]
fn time_without_work_counts_to_its_end() {
    let sim = json!({ "sim": { "latency": 1000 } });
    for rate in [
        json!({ "open": { "iops": 0.5 } }),
        json!({ "capped_iops": 0.5 }),
        json!({ "thinking": { "pause": 2_000_000_000, "every": 1 } }),
    ] {
        let changes = [("method", sim.clone()), ("rate", rate), seconds(10)];
        let record = go(&plan(nowhere(), &changes)).expect("a run");
        let total = total(&record, Action::Read);
        assert_eq!((total.ops.0, total.time.0), (5, 10_000_000_000));
    }
}

#[test]
fn a_flush_after_every_so_many_writes_waits_for_no_more() {
    for (every, flushes) in [(1, 64), (16, 4), (60, 1)] {
        let record = go(&plan(
            nowhere(),
            &[
                writes(),
                ("method", json!({ "sim": {} })),
                ("iodepth", json!(32)),
                ("durability", json!({ "fsync_every": every })),
                ("stop", json!({ "first_of": [{ "ops": 64 }] })),
            ],
        ))
        .expect("a run");
        assert_eq!(total(&record, Action::Flush).ops.0, flushes);
        assert_eq!(total(&record, Action::Write).ops.0, 64);
    }
}

#[test]
fn looking_at_the_data_is_no_part_of_their_latency() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = json!({ "scratch": {
        "dir": folder.path(), "size": { "exactly": 64 << 20 }, "layout": "written",
    }});
    let changes = [("block", json!({ "fixed": 1 << 20 })), ("verify", json!("full"))];
    let record = go(&plan(target, &changes)).expect("a run");
    let total = total(&record, Action::Read);
    assert_eq!((total.ops.0, total.mismatches), (64, 0));
    let inside = total.lat_ns.expect("latency").mean * total.ops.0 as f64;
    // The last block is looked at after the clock has stopped.
    assert!(inside < 0.8 * total.time.0 as f64, "{inside} ns of {:?}", total.time);
}

#[test]
fn models_at_their_limits_end() {
    for model in [
        json!({ "latency": 0 }),
        json!({ "latency": u64::MAX, "jitter": u64::MAX, "channels": u32::MAX }),
        json!({ "stall_every": 1_000_000, "stall": 999_999, "bandwidth": 1, "burst": u64::MAX }),
    ] {
        let stop = json!({ "first_of": [{ "time": 1_000_000 }] });
        let record = go(&plan(nowhere(), &[("method", json!({ "sim": model })), ("stop", stop)]));
        assert_eq!(record.expect("a run").phases.len(), 1);
    }
    let model = json!({ "sim": { "stall_every": 5, "stall": 5 } });
    assert!(refused(&plan(nowhere(), &[("method", model)])).contains("never serves"));
}
