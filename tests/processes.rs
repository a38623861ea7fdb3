//! Workers as processes of their own: the same work, the same figures, and nobody left behind.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assay_plan::error::Error;
use assay_plan::plan::{Action, Plan};
use assay_record::record::{Ending, Record};
use assay_run::{self as run, RunOptions};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// A job of blocks of 4 KiB by three processes.
fn blocks(target: &Value, action: &str, changes: &[(&str, Value)]) -> Value {
    let mut job = json!({
        "name": action, "worker_kind": "processes", "workers": 3,
        "work": { "blocks": {
            "target": target,
            "pattern": {
                "mix": [{ "action": action, "weight": 1 }], "block": { "fixed": 4096 },
                "verify": if action == "read" { "full" } else { "none" },
            },
        }},
    });
    for (name, value) in changes {
        let place = if *name == "method" { "/work/blocks" } else { "" };
        job.pointer_mut(place).expect("it is there")[*name] = value.clone();
    }
    job
}

fn plan(phases: &[(&str, Vec<Value>)]) -> Plan {
    let phases: Vec<Value> =
        phases.iter().map(|(name, jobs)| json!({ "name": name, "jobs": jobs })).collect();
    let plan =
        json!({ "title": "t", "origin": { "dialect": "plan" }, "seed": 7, "phases": phases });
    serde_json::from_value(plan).expect("a plan")
}

/// assay on a plan, with its record in the same folder.
fn start(desk: &Path, plan: &Plan) -> (Child, PathBuf) {
    let (file, record) = (desk.join("plan"), desk.join("record"));
    std::fs::write(&file, serde_json::to_string(plan).expect("json")).expect("written");
    let child = Command::new(env!("CARGO_BIN_EXE_assay"))
        .arg("run")
        .arg(&file)
        .arg("--record")
        .arg(&record)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    (child, record)
}

fn load(record: &Path) -> Record {
    assay_record::record::load(record).expect("a record")
}

fn go(plan: &Plan) -> Record {
    let desk = tempfile::tempdir().expect("a desk");
    let (mut child, record) = start(desk.path(), plan);
    child.wait().expect("a child");
    let record = load(&record);
    let faults: Vec<_> = record.phases.iter().flat_map(|phase| &phase.faults).collect();
    assert_eq!((&record.ending, faults.len()), (&Ending::Complete, 0), "{faults:?}");
    record
}

fn ops(record: &Record, phase: usize, action: Action) -> u64 {
    record.phases[phase].totals[&action].ops.0
}

/// The processes that this one has started.
fn children(process: u32) -> Vec<u32> {
    let text = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    text.unwrap_or_default().split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// Waits until it has started three.
fn three_children(child: &mut Child) -> Vec<u32> {
    loop {
        let found = children(child.id());
        if found.len() == 3 {
            return found;
        }
        assert!(child.try_wait().expect("a child").is_none(), "it has ended");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process is there and not only waiting to be reaped by somebody else.
fn lives(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.starts_with(['Z', 'X']));
    state == Some(false)
}

fn gone(processes: &[u32]) {
    let until = Instant::now() + Duration::from_secs(20);
    while processes.iter().any(|&process| lives(process)) {
        assert!(Instant::now() < until, "{processes:?} live on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn endless() -> (&'static str, Value) {
    ("stop", json!({ "first_of": [{ "time": 60_000_000_000_u64 }] }))
}

fn nowhere() -> Value {
    json!({ "nowhere": { "size": 1 << 30 } })
}

fn null() -> (&'static str, Value) {
    ("method", json!("null"))
}

#[test]
fn processes_do_what_threads_do() {
    for method in [json!("psync"), json!({ "io_uring": {} })] {
        let folder = tempfile::tempdir().expect("a folder");
        let target = json!({ "files": {
            "dirs": [folder.path()], "stem": "data", "count": 2, "size": { "exactly": 65536 },
        }});
        let by = [("method", method)];
        let record = go(&plan(&[
            ("write", vec![blocks(&target, "write", &by)]),
            ("read", vec![blocks(&target, "read", &by)]),
        ]));
        assert_eq!(ops(&record, 0, Action::Write), 3 * 2 * 16);
        assert_eq!(ops(&record, 1, Action::Read), 3 * 2 * 16);
        for (phase, action) in record.phases.iter().zip([Action::Write, Action::Read]) {
            let workers = &phase.jobs[0].workers;
            let done: Vec<_> =
                workers.iter().map(|one| (one.number, one.io[&action].ops.0)).collect();
            assert_eq!(done, [(0, 32), (1, 32), (2, 32)]);
            assert!(workers.iter().all(|worker| worker.cpu.is_some()));
        }
        let read = &record.phases[1].totals[&Action::Read];
        assert_eq!(read.mismatches, 0);
        let lat = read.lat_ns.expect("latency");
        let p50 = lat.p50.expect("enough to tell");
        assert!(
            lat.n == 96 && lat.min > 0 && lat.min <= p50 && p50 <= lat.max && lat.p90.is_none()
        );
        // The live counters are shared: they are what the flow is made of.
        assert_eq!(record.phases[1].flows[0].bytes.0, 3 * 2 * 65536);
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }
}

#[test]
fn processes_work_on_trees() {
    let folder = tempfile::tempdir().expect("a folder");
    let tree = |action: &str| {
        json!({
            "name": action, "worker_kind": "processes", "workers": 3,
            "work": { "tree": { "dir": folder.path(), "action": action, "files": 100 } },
        })
    };
    let record = go(&plan(&[
        ("create", vec![tree("create")]),
        ("rename", vec![tree("rename")]),
        ("stat", vec![tree("stat")]),
        ("remove", vec![tree("remove")]),
    ]));
    for (phase, action) in
        [Action::Create, Action::Rename, Action::Stat, Action::Remove].into_iter().enumerate()
    {
        assert_eq!(ops(&record, phase, action), 300, "{action:?}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn threads_and_processes_keep_step() {
    let share = |weight: u32| ("balance", json!({ "weight": weight }));
    let ops_limit = ("stop", json!({ "first_of": [{ "ops": 10_000 }] }));
    let threads = ("worker_kind", json!("threads"));
    let jobs = vec![
        blocks(&nowhere(), "read", &[null(), share(1), ops_limit]),
        blocks(&nowhere(), "write", &[null(), share(2), endless(), threads]),
    ];
    let mut plan = plan(&[("p", jobs)]);
    plan.phases[0].until = assay_plan::plan::PhaseEnd::First;
    let record = go(&plan);
    assert_eq!(ops(&record, 0, Action::Read), 10_000);
    assert!(ops(&record, 0, Action::Write) >= 19_000);
    // Half a minute is not what it takes: the processes ended it.
    assert!(record.phases[0].span.time().0 < 30_000_000_000);
}

#[test]
fn the_work_of_processes_is_seen_while_it_goes_on() {
    let stop = ("stop", json!({ "first_of": [{ "time": 600_000_000 }] }));
    let record = go(&plan(&[("p", vec![blocks(&nowhere(), "read", &[null(), stop])])]));
    let points = &record.phases[0].series.points;
    assert!(points.iter().filter(|point| point.ops > 0).count() >= 3, "{points:?}");
    let seen: u64 = points.iter().map(|point| point.ops).sum();
    assert_eq!(seen, ops(&record, 0, Action::Read));
    // Their CPU time is ours: three of them worked most of the time that they could.
    let evidence = &record.phases[0].evidence;
    let cpu =
        |snapshot: &assay_record::evidence::Snapshot| snapshot.cpu.seen().expect("seen").user.0;
    assert!(cpu(&evidence.stop) - cpu(&evidence.before) > 50_000_000);
}

#[test]
fn who_interrupts_ends_them_all() {
    for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
        let desk = tempfile::tempdir().expect("a desk");
        let plan = plan(&[("p", vec![blocks(&nowhere(), "read", &[null(), endless()])])]);
        let (mut child, record) = start(desk.path(), &plan);
        let processes = three_children(&mut child);
        std::thread::sleep(Duration::from_millis(200));
        assert!(processes.iter().all(|&process| lives(process)));
        kill_process(Pid::from_child(&child), signal).expect("alive");
        let status = child.wait().expect("a child");
        gone(&processes);
        if signal != Signal::KILL {
            assert_eq!(status.code(), Some(128 + signal.as_raw()));
            let record = load(&record);
            assert_eq!(record.ending, Ending::Interrupted(signal.as_raw()));
            assert!(ops(&record, 0, Action::Read) > 0);
        }
    }
}

#[test]
fn one_that_dies_is_missed_and_ends_the_others() {
    let desk = tempfile::tempdir().expect("a desk");
    let plan = plan(&[("p", vec![blocks(&nowhere(), "read", &[null(), endless()])])]);
    let (mut child, record) = start(desk.path(), &plan);
    let processes = three_children(&mut child);
    std::thread::sleep(Duration::from_millis(200));
    let victim = Pid::from_raw(processes[1] as i32).expect("a process");
    kill_process(victim, Signal::KILL).expect("alive");
    assert_eq!(child.wait().expect("a child").code(), Some(1));
    gone(&processes);
    let record = load(&record);
    let Ending::Failed(fault) = &record.ending else { panic!("{:?}", record.ending) };
    assert_eq!(
        fault.to_string(),
        "cannot finish the work of a process: it died of signal 9\n  its part of the work is missing in all figures"
    );
}

#[test]
fn beside_other_threads_they_are_refused() {
    // The harness runs this beside its own.
    let plan = plan(&[("p", vec![blocks(&nowhere(), "read", &[null()])])]);
    match run::run(&plan, &RunOptions::default(), &mut ()) {
        Err(Error::Refusal(refusal)) => assert!(refusal.why.contains("beside other threads")),
        other => panic!("not refused: {other:?}"),
    }
}
