//! Several files in one job, jobs in step, and what becomes of them: every file that a plan names
//! is found, made, written, checked and taken away as one file would be.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use assay_plan::plan::{Action, Plan};
use assay_plan::stats::ActionTotal;
use assay_record::record::{Ending, MeasuredSubject, Record};
use serde_json::{Value, json};

use crate::lab;
use crate::runs::{calls, refused, whole as go};

/// A job of blocks of 4 KiB.
fn job(name: &str, target: &Value, action: &str, changes: &[(&str, Value)]) -> Value {
    let mut job = json!({
        "name": name,
        "work": { "blocks": {
            "target": target,
            "pattern": {
                "mix": [{ "action": action, "weight": 1 }],
                "block": { "fixed": 4096 },
            },
        }},
    });
    for (name, value) in changes {
        let place = match *name {
            "method" | "caching" | "durability" | "iodepth" | "timed_close" => "/work/blocks",
            "order" | "region" | "verify" | "mix" => "/work/blocks/pattern",
            _ => "",
        };
        job.pointer_mut(place).expect("it is there")[*name] = value.clone();
    }
    job
}

fn phase(name: &str, jobs: &[Value]) -> Value {
    json!({ "name": name, "jobs": jobs })
}

fn plan(phases: &[Value]) -> Plan {
    let plan = json!({
        "title": "t", "origin": { "dialect": "plan" }, "seed": 7, "phases": phases,
    });
    serde_json::from_value(plan).expect("a plan")
}

fn total(record: &Record, phase: usize, action: Action) -> &ActionTotal {
    &record.phases[phase].totals[&action]
}

/// Every file below a folder with what is in it.
fn walk(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(walk(&path));
        } else {
            found.insert(path.clone(), std::fs::read(&path).expect("readable"));
        }
    }
    found
}

fn files(dirs: &[PathBuf], count: u32, more: Value) -> Value {
    let mut files = json!({
        "dirs": dirs, "stem": "data", "count": count, "size": { "exactly": 16384 },
    });
    for (name, value) in more.as_object().expect("fields") {
        files[name] = value.clone();
    }
    json!({ "files": files })
}

#[test]
fn each_worker_has_its_files_and_all_are_read_back_whole() {
    for among in ["round_robin", "sequential", "random"] {
        for method in [json!("psync"), json!({ "io_uring": {} }), json!("pool")] {
            let folder = tempfile::tempdir().expect("a folder");
            let dirs = [folder.path().join("a"), folder.path().join("b")];
            dirs.iter().for_each(|dir| std::fs::create_dir(dir).expect("made"));
            let kept = files(&dirs, 5, json!({ "order": among, "lifetime": "keep" }));
            let depth = ("iodepth", json!(4));
            let several = [("workers", json!(3)), ("method", method.clone()), depth];
            let mut reading = several.to_vec();
            reading.extend([("order", json!("shuffled")), ("verify", json!("full"))]);
            let record = go(&plan(&[
                phase("write", &[job("w", &kept, "write", &several)]),
                phase("read", &[job("r", &kept, "read", &reading)]),
            ]));
            // 3 workers, 5 files, 4 blocks.
            assert_eq!(total(&record, 0, Action::Write).ops.0, 60, "{among} {method}");
            let read = total(&record, 1, Action::Read);
            assert_eq!((read.ops.0, read.mismatches), (60, 0), "{among} {method}");
            let found = walk(folder.path());
            let names: Vec<PathBuf> = found.keys().cloned().collect();
            let mut right: Vec<PathBuf> =
                (0..15).map(|n| dirs[n % 2].join(format!("data.{n}"))).collect();
            right.sort();
            assert_eq!(names, right);
            assert!(found.values().all(|bytes| bytes.len() == 16384));
            // No block stands in two places.
            let mut blocks: Vec<&[u8]> =
                found.values().flat_map(|bytes| bytes.chunks(4096)).collect();
            blocks.sort();
            blocks.dedup();
            assert_eq!(blocks.len(), 60, "{among} {method}");
            let job = &record.resolved.jobs[0];
            assert_eq!((job.files, job.size.0), (15, 15 * 16384));
            let wrote: u64 = record.phases[0].flows.iter().map(|flow| flow.bytes.0).sum();
            assert_eq!(wrote, 15 * 16384);
        }
    }
}

#[test]
fn files_go_as_they_came() {
    for (lifetime, stay) in [("as_found", 1), ("keep", 4), ("remove", 0)] {
        let folder = tempfile::tempdir().expect("a folder");
        let before = folder.path().join("data.2");
        std::fs::write(&before, vec![7; 20000]).expect("written");
        let target = files(
            &[folder.path().into()],
            4,
            json!({ "shared": true, "lifetime": lifetime, "layout": "written" }),
        );
        let work = [("workers", json!(2)), ("verify", json!("full"))];
        let record = go(&plan(&[phase("read", &[job("r", &target, "read", &work)])]));
        assert_eq!(total(&record, 0, Action::Read).ops.0, 2 * 4 * 4);
        let found = walk(folder.path());
        assert_eq!(found.len(), stay, "{lifetime}: {:?}", found.keys());
        if stay == 1 {
            assert_eq!(found[&before].len(), 20000);
        }
    }
}

#[test]
fn layouts_hold_for_every_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let dirs = [folder.path().to_path_buf()];
    for (layout, action) in [("preallocated", "write"), ("truncated", "write"), ("written", "read")]
    {
        let target = files(&dirs, 3, json!({ "layout": layout, "lifetime": "keep" }));
        go(&plan(&[phase("p", &[job("j", &target, action, &[])])]));
        assert_eq!(walk(folder.path()).len(), 3);
    }
    let existing = |count| files(&dirs, count, json!({ "layout": "existing" }));
    go(&plan(&[phase("p", &[job("j", &existing(3), "read", &[])])]));
    let why = refused(&plan(&[phase("p", &[job("j", &existing(4), "write", &[])])]));
    assert!(why.contains("data.3: No such file or directory"), "{why}");
    let large = files(&dirs, 3, json!({ "size": { "exactly": 20000 } }));
    let why = refused(&plan(&[phase("p", &[job("j", &large, "read", &[])])]));
    assert!(why.contains("more than each of the files has"), "{why}");
}

#[test]
fn all_files_are_forgotten_and_looked_at_together() {
    let card = lab::need!(lab::Card::fast());
    let target = files(
        &[card.mount().to_path_buf()],
        8,
        json!({ "layout": "written", "size": { "exactly": 1 << 20 } }),
    );
    let mut cold = phase("read", &[job("r", &target, "read", &[("verify", json!("full"))])]);
    cold["cold"] = json!("target");
    let record = go(&plan(&[cold]));
    let evidence = &record.phases[0].evidence;
    let [dropped] = evidence.cold.as_slice() else { panic!("{:?}", evidence.cold) };
    assert_eq!(dropped.range.0, 8 << 20);
    assert_eq!(dropped.left.seen().expect("seen").resident.0, 0);
    let [laid] = evidence.extents.as_slice() else { panic!("{:?}", evidence.extents) };
    let extents = laid.extents.seen().expect("seen");
    assert_eq!((extents.written.0, extents.hole.0), (8 << 20, 0));
    let resident = |snapshot: &assay_record::evidence::Snapshot| {
        let [cache] = snapshot.cache.as_slice() else { panic!("{:?}", snapshot.cache) };
        cache.pages.seen().expect("seen").resident.0
    };
    assert_eq!((resident(&evidence.before), resident(&evidence.stop)), (0, 8 << 20));
    let verdict = record.phases[0].verdict.as_ref().expect("a verdict");
    let memory = [MeasuredSubject::Memory, MeasuredSubject::Mixed];
    assert!(!memory.contains(&verdict.measures), "{verdict:?}");
}

#[test]
fn what_a_phase_made_the_next_finds_and_no_more() {
    let folder = tempfile::tempdir().expect("a folder");
    let some = |count| files(&[folder.path().into()], count, json!({}));
    let both = |count| {
        plan(&[
            phase("write", &[job("w", &some(3), "write", &[])]),
            phase("read", &[job("r", &some(count), "read", &[("verify", json!("full"))])]),
        ])
    };
    assert_eq!(total(&go(&both(2)), 1, Action::Read).ops.0, 8);
    let why = refused(&both(4));
    assert!(why.contains("data.3: No such file"), "{why}");
    assert!(walk(folder.path()).is_empty());
}

#[test]
fn a_file_is_emptied_again_for_each_phase_that_wants_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = json!({ "file": {
        "path": folder.path().join("f"), "size": { "written": { "most": 65536 } },
        "layout": "truncated", "lifetime": "keep",
    }});
    let few = [("stop", json!({ "first_of": [{ "ops": 2 }] }))];
    go(&plan(&[
        phase("first", &[job("j", &target, "write", &[])]),
        phase("second", &[job("j", &target, "write", &few)]),
    ]));
    assert_eq!(std::fs::metadata(folder.path().join("f")).expect("there").len(), 8192);
}

#[test]
fn jobs_keep_step_by_their_weights() {
    let nowhere = json!({ "nowhere": { "size": 1 << 30 } });
    let share = |weight: u32| ("balance", json!({ "weight": weight }));
    let null = ("method", json!("null"));
    let ops = ("stop", json!({ "first_of": [{ "ops": 20_000 }] }));
    let endless = ("stop", json!({ "first_of": [{ "time": 60_000_000_000_u64 }] }));
    let mut phase = phase(
        "p",
        &[
            job("r", &nowhere, "read", &[null.clone(), share(1), ops, ("workers", json!(2))]),
            job("w", &nowhere, "write", &[null, share(3), endless]),
        ],
    );
    // When the readers are done, so is the phase.
    phase["until"] = json!("first");
    let record = go(&plan(&[phase]));
    let reads = total(&record, 0, Action::Read).ops.0;
    let writes = total(&record, 0, Action::Write).ops.0;
    assert_eq!(reads, 20_000);
    // Until the one that ends says so, the other is at most a few rounds behind or ahead; after
    // that it goes as fast as it can until it is told to stop.
    assert!(writes >= 59_000, "{writes} writes beside {reads} reads");
    assert!(record.phases[0].span.time().0 < 30_000_000_000);
}

#[test]
fn a_phase_is_repeated_under_names_of_its_own() {
    let nowhere = json!({ "nowhere": { "size": 1 << 20 } });
    let mut again = phase("p", &[job("j", &nowhere, "read", &[("method", json!("null"))])]);
    again["times"] = json!(3);
    let record = go(&plan(&[again]));
    let names: Vec<&str> = record.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(names, ["p", "p-2", "p-3"]);
    assert!((0..3).all(|phase| total(&record, phase, Action::Read).ops.0 == 256));
    assert_eq!(record.plan.check(), Ok(()));
}

#[test]
fn a_job_that_ends_early_is_flushed_early() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = |name: &str| json!({ "file": { "path": folder.path().join(name), "size": { "exactly": 65536 } } });
    let durable = ("durability", json!("fsync_at_end"));
    let late = [
        durable.clone(),
        ("rate", json!({ "think": { "pause": 100_000_000, "every": 1 } })),
        ("stop", json!({ "first_of": [{ "ops": 12 }] })),
    ];
    let record = go(&plan(&[phase(
        "p",
        &[
            job("early", &target("a"), "write", &[durable]),
            job("late", &target("b"), "write", &late),
        ],
    )]));
    let time = |job: usize| record.phases[0].jobs[job].totals[&Action::Write].time.0;
    assert!(time(1) >= 1_000_000_000, "{} ns", time(1));
    assert!(time(0) < time(1) / 2, "{} ns beside {} ns", time(0), time(1));
    for job in &record.phases[0].jobs {
        assert_eq!(job.totals[&Action::Flush].ops.0, 1, "{}", job.name);
    }
    assert_eq!(total(&record, 0, Action::Flush).ops.0, 2);
}

#[test]
fn workers_stay_on_their_cpus() {
    let nowhere = json!({ "nowhere": { "size": 1 << 30 } });
    let null = ("method", json!("null"));
    let why = refused(&plan(&[phase(
        "p",
        &[job("j", &nowhere, "read", &[null.clone(), ("cpus", json!({ "list": [0, 99999] }))])],
    )]));
    assert!(why.contains("CPU 99999 is not there"), "{why}");
    let allowed = rustix::thread::sched_getaffinity(None).expect("a set");
    let list: Vec<usize> =
        (0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).take(2).collect();
    let desk = tempfile::tempdir().expect("a folder");
    for split in [true, false] {
        let stop = ("stop", json!({ "first_of": [{ "time": 500_000_000 }] }));
        let cpus = ("cpus", json!({ "list": &list[..1 + usize::from(split)], "split": split }));
        let work = [null.clone(), stop, cpus, ("workers", json!(2))];
        let plan = plan(&[phase("p", &[job("j", &nowhere, "read", &work)])]);
        let file = desk.path().join("plan");
        std::fs::write(&file, serde_json::to_string(&plan).expect("json")).expect("written");
        let mut child = Command::new(env!("CARGO_BIN_EXE_assay"))
            .arg("run")
            .arg(&file)
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("it runs");
        // The kernel's own word for each thread, while they run.
        let tasks = PathBuf::from(format!("/proc/{}/task", child.id()));
        let mut seen = Vec::new();
        while child.try_wait().expect("a child").is_none() && seen.len() < 2 {
            let allowed = |task: std::fs::DirEntry| {
                let text = std::fs::read_to_string(task.path().join("status")).ok()?;
                let field = |name: &str| {
                    let line = text.lines().find(|line| line.starts_with(name))?;
                    Some(line[name.len()..].trim().to_string())
                };
                field("Name:")?.starts_with("assay-").then(|| field("Cpus_allowed_list:"))?
            };
            let tasks = std::fs::read_dir(&tasks).into_iter().flatten().flatten();
            seen = tasks.filter_map(allowed).filter(|list| !list.contains(['-', ','])).collect();
        }
        child.wait().expect("a child");
        seen.sort();
        let right: Vec<String> = match split {
            true => list.iter().map(ToString::to_string).cycle().take(2).collect(),
            false => vec![list[0].to_string(); 2],
        };
        assert_eq!(seen, right, "split: {split}");
    }
}

/// Runs a plan in a shell that first does `before`; its exit status, standard error and record.
fn typed(before: &str, plan: &Plan) -> (i32, String, Option<Record>) {
    let desk = tempfile::tempdir().expect("a folder");
    let file = desk.path().join("plan");
    std::fs::write(&file, serde_json::to_string(plan).expect("json")).expect("written");
    let out = Command::new("sh")
        .arg("-c")
        .arg(format!("{before} exec \"$0\" run --json \"$1\""))
        .arg(env!("CARGO_BIN_EXE_assay"))
        .arg(&file)
        .output()
        .expect("a shell");
    let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
    (out.status.code().expect("no signal"), stderr, serde_json::from_slice(&out.stdout).ok())
}

#[test]
fn more_files_than_may_be_open_raise_the_limit_or_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let size = json!({ "size": { "exactly": 4096 } });
    let many = files(&[folder.path().into()], 1000, size);
    let plan = plan(&[phase("p", &[job("j", &many, "write", &[])])]);
    let (code, stderr, record) = typed("ulimit -Sn 1024; ulimit -Hn 4096;", &plan);
    let record = record.unwrap_or_else(|| panic!("{code}: {stderr}"));
    assert_eq!(total(&record, 0, Action::Write).ops.0, 1000);
    assert_eq!(
        record.resolved.notes,
        ["2000 files are open at once: the soft limit is raised from 1024 to 4096"]
    );
    let (code, stderr, _) = typed("ulimit -n 1024;", &plan);
    assert_eq!(code, 2);
    let (needed, rest) = stderr
        .split_once(" open files are more than this process may have (1024); ")
        .expect(&stderr);
    // Beside the files: queues and counters, of as many devices as are below the folder.
    let needed: u32 = needed
        .trim_start_matches("assay: phase 'p': ")
        .trim_start_matches("assay: ")
        .parse()
        .expect(&stderr);
    assert!((2040..2100).contains(&needed), "{stderr}");
    assert_eq!(rest, format!("give fewer files, or raise 'ulimit -Hn' to {needed}\n"));
    assert!(walk(folder.path()).is_empty());
}

#[test]
fn no_descriptor_stays_behind_a_phase() {
    let folder = tempfile::tempdir().expect("a folder");
    let many = files(&[folder.path().into()], 8, json!({ "size": { "exactly": 4096 } }));
    // What is closed in the timing is closed by a worker's thread, and else by the conductor.
    let ways = [("psync", false), ("sync", false), ("stdio", false), ("psync", true)];
    let phases: Vec<Value> = ways
        .iter()
        .cycle()
        .take(300)
        .enumerate()
        .map(|(number, (method, timed_close))| {
            let work = [("method", json!(method)), ("timed_close", json!(timed_close))];
            phase(&format!("p{number}"), &[job(&format!("j{number}"), &many, "write", &work)])
        })
        .collect();
    // One descriptor left of each file would be too many before the last phase.
    let (_, stderr, record) = typed("ulimit -n 540;", &plan(&phases));
    assert_eq!(stderr, "");
    let record = record.expect("a record");
    assert_eq!((record.ending, record.phases.len()), (Ending::Complete, 300));
}

#[test]
fn a_file_that_may_not_grow_is_a_fault_of_the_write_and_not_the_end_of_the_record() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = json!({ "scratch": { "dir": folder.path(), "size": { "exactly": 4 << 20 } } });
    let stop = ("stop", json!({ "first_of": [{ "ops": 1024 }] }));
    let plan = plan(&[phase("p", &[job("j", &target, "write", &[stop])])]);
    // A shell counts in blocks of 512 bytes.
    let (code, stderr, record) = typed("ulimit -f 2048;", &plan);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains(": File too large (EFBIG)\n  no file may be that large"), "{stderr}");
    assert!(record.is_some(), "{stderr}");
    assert!(walk(folder.path()).is_empty());
}

#[test]
fn an_io_costs_the_same_whatever_the_number_of_files() {
    // In memory, for on a disk we also look who else is there, and how fast memory is copied.
    let folder = tempfile::tempdir_in("/dev/shm").expect("a folder");
    let seen = |count: u32, ops: u64| {
        let target = files(&[folder.path().into()], count, json!({}));
        let stop = ("stop", json!({ "first_of": [{ "ops": ops }] }));
        let work = job("j", &target, "write", &[stop, ("order", json!("uniform"))]);
        let calls = calls(&plan(&[phase("p", &[work])]), "calls of many files")?;
        // Before the first there may be one that tries the folder.
        let others = calls["pwrite64"] - ops;
        assert!(others <= 1, "{count} files");
        // What the evidence is read with depends on how long it takes.
        let steady = ["openat", "lseek", "fstat", "statx", "mmap", "ioctl"];
        Some((others, steady.iter().filter_map(|name| calls.get(*name)).sum::<u64>()))
    };
    // Five times the I/Os, and nothing else more often.
    for count in [1, 10, 100] {
        let (mut few, mut many) = (Vec::new(), Vec::new());
        loop {
            let (Some(one), Some(five)) = (seen(count, 1000), seen(count, 5000)) else { return };
            few.push(one);
            many.push(five);
            if few.iter().min() == many.iter().min() {
                break;
            }
            // Other tests kill runs, whose leftovers in memory are looked at: that costs calls now and then.
            assert!(few.len() < 6, "{count} files: {few:?} {many:?}");
        }
    }
}
