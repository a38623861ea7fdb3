//! Plans as people and programs write them: what is refused, and what the figures of odd ones are.

use std::path::Path;
use std::sync::mpsc::RecvTimeoutError;

use assay_plan::error::Error;
use assay_plan::plan::{Action, Plan, StopLimit};
use assay_plan::stats::ActionTotal;
use assay_plan::unit::{Nanos, Ops};
use assay_record::record::{Ending, Record};
use assay_run::{self as run, RunOptions};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use crate::runs::{go, refused};

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
            "method" | "caching" | "durability" | "iodepth" | "sync_file_range" | "timed_close" => {
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
    let options = RunOptions { record: Some(socket), ..RunOptions::default() };
    match run::run(&plan, &options, &mut ()) {
        Err(Error::Refusal(refusal)) => assert!(refusal.why.contains("is no regular file")),
        other => panic!("not refused: {other:?}"),
    }
}

fn nowhere() -> Value {
    json!({ "nowhere": { "size": 1_u64 << 30 } })
}

fn total(record: &Record, action: Action) -> &ActionTotal {
    &record.phases[0].totals[&action]
}

fn seconds(time: u64) -> (&'static str, Value) {
    ("stop", json!({ "first_of": [{ "time": time * 1_000_000_000 }] }))
}

#[test]
fn an_open_loop_sends_when_it_is_due_whatever_is_in_flight() {
    let sim = json!({ "sim": { "latency": 10_000_000, "channels": 64 } });
    let rate = json!({ "arrivals": { "even": { "iops": 1000.0 } } });
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
        json!({ "arrivals": { "even": { "iops": 0.5 } } }),
        json!({ "caps": { "all": { "iops": 0.5 } } }),
        json!({ "think": { "pause": 2_000_000_000, "every": 1 } }),
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

#[test]
fn direct_blocks_stay_whole_whoever_shares_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = |size: u64| {
        json!({ "scratch": {
            "dir": folder.path(), "size": { "exactly": size }, "layout": "written",
        }})
    };
    let odd = (1 << 20) + 1234;
    for (name, value) in [
        ("region", json!({ "divided": true })),
        ("stop", json!({ "first_of": [{ "bytes": 1 << 20 }] })),
        ("block", json!({ "range": { "least": 4096, "most": 16384, "step": 4096 } })),
        ("order", json!("backward")),
    ] {
        let changes = [
            writes(),
            ("method", json!("psync")),
            ("caching", json!("direct")),
            ("workers", json!(3)),
            (name, value.clone()),
        ];
        let record = match go(&plan(target(odd), &changes)) {
            Err(Error::Fault(fault)) if fault.name == "EINVAL" && fault.doing.name() == "open" => {
                eprintln!("SKIP direct_blocks_stay_whole: no direct I/O in {:?}", folder.path());
                return;
            }
            record => record.expect("a run"),
        };
        assert_eq!(record.phases[0].faults, [], "{name}: {value}");
        let total = total(&record, Action::Write);
        if name == "stop" {
            assert_eq!((total.ops.0, total.bytes.0), (256, 1 << 20));
        }
    }
    for (name, value) in [
        ("block", json!({ "range": { "least": 4096, "most": 8192, "step": 100 } })),
        (
            "block",
            json!({ "split": [{ "size": 4096, "weight": 1 }, { "size": 5000, "weight": 1 }] }),
        ),
        ("region", json!({ "step_per_worker": 4000 })),
        ("stop", json!({ "first_of": [{ "bytes": 10_000 }] })),
    ] {
        let changes = [("caching", json!("direct")), ("workers", json!(2)), (name, value)];
        let why = refused(&plan(target(odd), &changes));
        assert!(why.contains("needs multiples of"), "{why}");
    }
}

#[test]
fn what_this_machine_can_not_hold_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = || {
        json!({ "scratch": {
            "dir": folder.path(), "size": { "exactly": 1 << 20 }, "layout": "written",
        }})
    };
    let many = [("method", json!("pool")), ("iodepth", json!(4096)), ("workers", json!(64))];
    assert!(refused(&plan(target(), &many)).contains("262144 threads"));
    let large = [
        ("method", json!("null")),
        ("iodepth", json!(4096)),
        ("block", json!({ "fixed": 1 << 30 })),
    ];
    assert!(refused(&plan(nowhere(), &large)).contains("of buffers are more than half"));
    let both = ("region", json!({ "divided": true, "step_per_worker": 4096 }));
    assert!(refused(&plan(nowhere(), &[both])).contains("leave one of them out"));
}

#[test]
fn the_first_of_several_limits_ends_it() {
    let sim = json!({ "sim": { "latency": 1_000_000 } });
    for limits in [
        json!([{ "time": 5_000_000 }, { "time": 9_000_000 }, { "ops": 99 }]),
        json!([{ "time": 9_000_000 }, { "time": 5_000_000 }, { "passes": 1 }]),
        json!([{ "ops": 5 }, { "ops": 9 }]),
        json!([{ "ops": 9 }, { "ops": 5 }]),
        json!([{ "bytes": 36864 }, { "bytes": 20480 }]),
    ] {
        let changes = [("method", sim.clone()), ("stop", json!({ "first_of": limits }))];
        let record = go(&plan(nowhere(), &changes)).expect("a run");
        assert_eq!(total(&record, Action::Read).ops.0, 5, "{limits}");
    }
}

#[test]
fn each_job_has_its_own_time() {
    let jobs = |ops: u64| {
        let changes = [
            ("method", json!({ "sim": { "latency": 1_000_000 } })),
            ("stop", json!({ "first_of": [{ "ops": ops }] })),
        ];
        plan(nowhere(), &changes).phases[0].jobs[0].clone()
    };
    let mut plan = plan(nowhere(), &[]);
    plan.phases[0].jobs = vec![jobs(100), jobs(1000)].into();
    plan.phases[0].jobs[1].name = "k".into();
    let record = go(&plan).expect("a run");
    for job in &record.phases[0].jobs {
        assert_eq!(job.totals[&Action::Read].iops.expect("iops").0, 1000.0, "{}", job.name);
    }
    assert_eq!(total(&record, Action::Read).iops.expect("iops").0, 1100.0);
}

#[test]
fn a_later_phase_reads_what_workers_wrote_over_each_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("new");
    let target = json!({ "file": { "path": path, "size": { "written": { "most": 1 << 20 } } } });
    let changes =
        [writes(), ("workers", json!(2)), ("stop", json!({ "first_of": [{ "ops": 16 }] }))];
    let mut both = plan(target.clone(), &changes);
    both.phases.extend(plan(target, &[("verify", json!("full"))]).phases);
    both.phases[1].name = "read".into();
    both.phases[0].settle = Nanos::secs(5);
    let record = go(&both).expect("a run");
    assert_eq!(record.ending, Ending::Complete);
    let read = &record.phases[1].totals[&Action::Read];
    assert_eq!((read.ops.0, read.mismatches), (8, 0));
    assert!(!path.exists());
}

#[test]
fn every_phase_is_watched() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = json!({ "scratch": { "dir": folder.path(), "size": { "exactly": 8192 } } });
    let mut both = plan(target, &[writes()]);
    both.phases[0].settle = Nanos::secs(5);
    let stop = ("stop", json!({ "first_of": [{ "time": 450_000_000 }] }));
    both.phases.extend(plan(nowhere(), &[("method", json!("null")), stop]).phases);
    both.phases[1].name = "null".into();
    let record = go(&both).expect("a run");
    let points = record.phases[1].series.points.len();
    assert!((3..=6).contains(&points), "{points} samples of 450 ms");
}

/// Interrupts a plan after half a second; the exit status, and how long that took. `None`: it had
/// ended before.
fn interrupted(plan: &Plan, record: &Path) -> Option<(i32, std::time::Duration)> {
    let file = record.with_extension("plan");
    std::fs::write(&file, serde_json::to_string(plan).expect("json")).expect("written");
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["run".as_ref(), file.as_os_str(), "--record".as_ref(), record.as_os_str()])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("it runs");
    std::thread::sleep(std::time::Duration::from_millis(500));
    if child.try_wait().expect("a child").is_some() {
        return None;
    }
    let began = std::time::Instant::now();
    let process = rustix::process::Pid::from_child(&child);
    for _ in 0..2 {
        rustix::process::kill_process(process, rustix::process::Signal::INT).expect("alive");
    }
    let code = child.wait().expect("a child").code().expect("no signal");
    Some((code, began.elapsed()))
}

#[test]
fn who_interrupts_does_not_wait() {
    let folder = tempfile::tempdir().expect("a folder");
    let late = plan(nowhere(), &[("method", json!("null")), ("delay", json!(60_000_000_000_u64))]);
    // To write this first takes seconds at least.
    let free = rustix::fs::statvfs(folder.path()).expect("a file system");
    let most = (free.f_bavail * free.f_frsize / 2).min(1 << 34);
    let target = json!({ "scratch": {
        "dir": folder.path(), "size": { "exactly": most }, "layout": "written",
    }});
    let laid = plan(target, &[]);
    for (name, plan) in [("late", late), ("laid", laid)] {
        let record = folder.path().join(name);
        let Some((code, time)) = interrupted(&plan, &record) else {
            eprintln!("SKIP who_interrupts_does_not_wait: {name} had ended before");
            continue;
        };
        assert_eq!(code, 130, "{name}");
        assert!(time.as_secs() < 8, "{name}: {time:?}");
        let text = std::fs::read_to_string(record).expect("a record");
        let record: Record = serde_json::from_str(&text).expect("a record");
        assert_eq!(record.ending, Ending::Interrupted(2), "{name}");
    }
}

/// Plans that say much; of the methods that touch nothing.
fn sayings() -> Vec<Value> {
    let all = [
        vec![
            ("method", json!("null")),
            ("iodepth", json!(8)),
            ("workers", json!(3)),
            (
                "mix",
                json!([{ "action": "read", "weight": 70 }, { "action": "write", "weight": 30 }]),
            ),
            ("order", json!("shuffled")),
            ("region", json!({ "offset": 4096, "step_per_worker": 8192, "divided": false })),
            ("durability", json!({ "fsync_every": 7 })),
            ("rate", json!({ "caps": { "all": { "bandwidth": 1_000_000_000 } } })),
            ("stop", json!({ "ramp": 1000, "first_of": [{ "bytes": 1 << 20 }, { "passes": 2 }] })),
        ],
        vec![
            (
                "method",
                json!({ "sim": {
                    "latency": 1000, "jitter": 500, "bandwidth": 1 << 30, "channels": 4,
                    "stall_every": 1_000_000, "stall": 10_000, "burst": 1 << 20,
                    "burst_bandwidth": 1_u64 << 33,
                }}),
            ),
            ("iodepth", json!(5)),
            ("workers", json!(2)),
            ("mix", json!([{ "action": "write", "weight": 1 }])),
            ("order", json!({ "strided": { "stride": 12288 } })),
            ("region", json!({ "offset": 0, "step_per_worker": 0, "divided": true })),
            ("fill", json!({ "repeat": [1, 2, 3] })),
            ("rate", json!({ "arrivals": { "poisson": { "iops": 10000.0 } } })),
            ("stop", json!({ "ramp": 0, "first_of": [{ "ops": 300 }] })),
        ],
        vec![
            ("method", json!({ "sim": { "latency": 1000 } })),
            ("order", json!("uniform")),
            ("block", json!({ "range": { "least": 512, "most": 65536, "step": 512 } })),
            ("rate", json!({ "think": { "pause": 1000, "every": 3 } })),
            ("verify", json!("full")),
        ],
        vec![
            ("method", json!("null")),
            (
                "block",
                json!({ "split": [{ "size": 4096, "weight": 1 }, { "size": 512, "weight": 3 }] }),
            ),
            ("rate", json!({ "caps": { "all": { "iops": 100_000.0 } } })),
            ("delay", json!(1000)),
        ],
        vec![
            ("method", json!("null")),
            ("order", json!("backward")),
            ("workers", json!(2)),
            (
                "block",
                json!({ "per_action": [
                    { "action": "read", "size": { "fixed": 8192 } },
                    { "action": "trim", "size": { "fixed": 8192 } },
                ]}),
            ),
        ],
        vec![
            ("method", json!("null")),
            ("workers", json!(2)),
            ("balance", json!({ "group": 1, "weight": 3 })),
            ("cpus", json!({ "list": [0], "split": true })),
            ("stop", json!({ "ramp": 0, "first_of": [{ "ops": 300 }] })),
        ],
        vec![
            ("method", json!({ "sim": { "latency": 1000 } })),
            ("iodepth", json!(3)),
            (
                "mix",
                json!([
                    { "action": "read", "weight": 50 }, { "action": "write", "weight": 30 },
                    { "action": "trim", "weight": 20 },
                ]),
            ),
            ("order", json!({ "each": { "order": { "spaced": { "stride": 8192 } } } })),
            (
                "sync_file_range",
                json!({ "every": 3, "wait_before": true, "write": true, "wait_after": false }),
            ),
            ("timed_close", json!(true)),
            ("caching", json!("drop_behind")),
            (
                "rate",
                json!({ "caps": {
                    "read": { "bandwidth": 1 << 30, "iops": 1e6 }, "trim": { "iops": 1e5 },
                } }),
            ),
        ],
        vec![
            ("method", json!("null")),
            ("workers", json!(2)),
            (
                "order",
                json!({ "zoned_abs": { "zones": [
                    { "access_percent": 60.0, "size": 1 << 20 },
                    { "access_percent": 40.0, "size": 1 << 24 },
                ] } }),
            ),
        ],
        vec![
            ("method", json!({ "sim": { "latency": 1000, "channels": 2 } })),
            ("iodepth", json!(2)),
            ("workers", json!(2)),
            (
                "mix",
                json!([{ "action": "read", "weight": 70 }, { "action": "rewrite", "weight": 30 }]),
            ),
            (
                "rate",
                json!({
                    "arrivals": { "bursts": { "ops": 7, "every": 100_000 } },
                    "caps": {
                        "all": { "bandwidth": 1 << 30, "iops": 1e6 },
                        "read": { "iops": 1e5 }, "write": { "bandwidth": 1 << 28 },
                    },
                    "think": { "pause": 1000, "every": 3 },
                }),
            ),
        ],
    ];
    all.iter()
        .map(|changes| {
            let mut plan = serde_json::to_value(plan(nowhere(), changes)).expect("json");
            plan["phases"][0]["times"] = json!(2);
            plan["phases"][0]["until"] = json!("first");
            plan
        })
        .collect()
}

/// Paths of all values of a document that are not made of others.
fn leaves(value: &Value, path: &str, into: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(key, value)| leaves(value, &format!("{path}/{key}"), into));
        }
        Value::Array(list) => list
            .iter()
            .enumerate()
            .for_each(|(index, value)| leaves(value, &format!("{path}/{index}"), into)),
        _ => into.push(path.into()),
    }
}

/// Values that have been somebody's mistake.
fn mistakes() -> Vec<Value> {
    let mut all: Vec<Value> = [
        0,
        1,
        2,
        3,
        7,
        511,
        512,
        513,
        1000,
        4095,
        4096,
        4097,
        65_536,
        1 << 20,
        1 << 30,
        (1 << 30) + 1,
        u64::from(u32::MAX),
        1 << 32,
        1 << 53,
        1 << 62,
        i64::MAX as u64,
        1 << 63,
        u64::MAX - 1,
        u64::MAX,
    ]
    .map(|number: u64| json!(number))
    .into();
    all.extend([5e-324, 1e-300, 1e-9, 0.1, 0.5, 1.0, 1e9, 1e18, 1e300, -1.0].map(|x| json!(x)));
    let words = ["forward", "backward", "uniform", "shuffled", "same", "null", "read", "write"];
    all.extend(words.map(|word| json!(word)));
    let words = ["trim", "rewrite", "fsync_at_end", "full", "tags", "zero", "even", "", "closed"];
    all.extend(words.map(|word| json!(word)));
    all.extend([json!(null), json!([]), json!({}), json!(true)]);
    all
}

/// Sees to it that a plan which makes sense ends soon: what may take long is cut, and limits are
/// added to those it has.
fn soon(plan: &mut Plan) {
    let soon = Nanos::millis(5);
    for phase in &mut plan.phases {
        phase.settle = phase.settle.min(soon);
        phase.quiet = phase.quiet.min(soon);
        phase.times = if phase.times <= 10_000 { phase.times.min(3) } else { phase.times };
        for job in &mut phase.jobs {
            job.delay = job.delay.min(soon);
            job.stop.ramp = job.stop.ramp.min(soon);
            job.stop.first_of.extend([StopLimit::Ops(Ops(500)), StopLimit::Time(soon)]);
            job.workers = if job.workers <= 1024 { job.workers.min(9) } else { job.workers };
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_plan_panics_or_hangs(
        which in 0_usize..9,
        changes in prop::collection::vec((any::<Index>(), any::<Index>()), 1..4),
    ) {
        let mut document = sayings()[which].clone();
        let mistakes = mistakes();
        for (place, value) in changes {
            let mut places = Vec::new();
            leaves(&document, "", &mut places);
            let place = place.get(&places);
            *document.pointer_mut(place).expect("a leaf") = value.get(&mistakes).clone();
        }
        let Ok(mut plan) = serde_json::from_value::<Plan>(document.clone()) else { return Ok(()) };
        soon(&mut plan);
        let (tell, told) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let _ = tell.send(go(&plan));
        });
        match told.recv_timeout(std::time::Duration::from_secs(20)) {
            Ok(Ok(record)) => {
                let text = serde_json::to_string(&record).expect("json");
                let back: Record = serde_json::from_str(&text).expect("its own json");
                prop_assert_eq!(back, record);
            }
            Ok(Err(Error::Refusal(_))) => {}
            Ok(Err(Error::Fault(fault))) => prop_assert!(false, "{}: {}", fault, document),
            Err(RecvTimeoutError::Timeout) => prop_assert!(false, "it hangs: {}", document),
            Err(RecvTimeoutError::Disconnected) => prop_assert!(false, "it panics: {}", document),
        }
        let _ = thread.join();
    }
}
