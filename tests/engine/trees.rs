//! Work on trees of files: what is made, found and removed is counted by an independent walk, on
//! every file system that this machine has; and whatever ends a run, nothing of it stays.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::lab::{self, Card, Fs, Image, MI, Memory, Shape, Speed, need};
use assay_engine::engine::{DataFiller, KnownGenerations, size_of, tree_place};
use assay_plan::error::{Error, Fault};
use assay_plan::plan::{Action, Fill, Phase, Plan, TreeSize};
use assay_plan::unit::Bytes;
use assay_record::record::{MeasuredSubject, Record, Trust};
use assay_run::{self as run, Observer, RunOptions};
use serde_json::{Value, json};

use crate::runs::{calls, whole};

const SEED: u64 = 7;
const FILES: u64 = 50;

/// A phase of two workers with 50 files of up to 3000 bytes each, in three folders.
fn phase(name: &str, dir: &Path, action: &str, changes: &[(&str, Value)]) -> Value {
    let mut job = json!({
        "name": name,
        "workers": 2,
        "work": { "tree": {
            "dir": dir, "action": action, "files": FILES, "folders": 3,
            "size": { "files": { "least": 0, "most": 3000 } },
        }},
    });
    for (name, value) in changes {
        let place = match *name {
            "workers" | "stop" | "rate" | "worker_kind" => "",
            _ => "/work/tree",
        };
        job.pointer_mut(place).expect("it is there")[*name] = value.clone();
    }
    json!({ "name": name, "jobs": [job] })
}

fn plan(phases: &[Value]) -> Plan {
    let plan = json!({
        "title": "t", "origin": { "dialect": "plan" }, "seed": SEED, "phases": phases,
    });
    serde_json::from_value(plan).expect("a plan")
}

fn go(phases: &[Value]) -> Record {
    whole(&plan(phases))
}

fn ops(record: &Record, phase: usize, action: Action) -> u64 {
    record.phases[phase].totals.get(&action).map_or(0, |total| total.ops.0)
}

/// Everything below a folder, by its path there, symbolic links not followed.
fn walk(folder: &Path) -> BTreeMap<PathBuf, fs::Metadata> {
    let mut found = BTreeMap::new();
    let mut left = vec![folder.to_path_buf()];
    while let Some(dir) = left.pop() {
        // What goes while one looks is not there.
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let Ok(meta) = entry.path().symlink_metadata() else { continue };
            if meta.is_dir() {
                left.push(entry.path());
            }
            found.insert(entry.path().strip_prefix(folder).expect("below").into(), meta);
        }
    }
    found
}

/// The names of a worker's files, as they must be.
fn names(letter: char) -> Vec<PathBuf> {
    let mut names = Vec::new();
    for worker in 0..2 {
        for file in 0..FILES {
            // 50 files in three folders: 17, 17 and 16.
            let folder = file / 17;
            names.push(PathBuf::from(format!(
                "t0/w{worker:04}/d{folder:06}/{letter}{worker:04}.{file:010}"
            )));
        }
    }
    names
}

/// The one folder that a run has kept, and what it holds beside folders and anchors.
fn kept(dir: &Path) -> (PathBuf, BTreeMap<PathBuf, fs::Metadata>) {
    let mut tops = fs::read_dir(dir).expect("a folder").flatten().map(|entry| entry.path());
    let top = tops.find(|path| path.to_string_lossy().ends_with(".tree")).expect("it was kept");
    let mut all = walk(&top);
    all.retain(|path, _| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        name.contains('.')
    });
    (top, all)
}

/// Runs a test on a tmpfs and on a card with each file system.
fn everywhere(test: &str, work: impl Fn(&Path)) {
    match Memory::tmpfs() {
        Ok(memory) => work(memory.mount()),
        Err(skip) => lab::skipped(test, &skip),
    }
    let image = Image::Thin(600 * MI);
    for shape in [
        Shape { image, ..Shape::fast() },
        Shape { image, speed: Speed::FREE, ..Shape::xfs() },
        Shape { image, speed: Speed::FREE, ..Shape::btrfs() },
    ] {
        assert!(matches!(shape.fs, Fs::Ext4 | Fs::Xfs | Fs::Btrfs));
        match Card::new(shape) {
            Ok(card) => work(card.mount()),
            Err(skip) => lab::skipped(test, &skip),
        }
    }
}

#[test]
fn what_is_created_is_there_with_its_bytes() {
    everywhere("what_is_created_is_there_with_its_bytes", |dir| {
        let filler = DataFiller::new(&Fill::Random, SEED).expect("data");
        for order in ["by_name", "shuffled"] {
            let folder = tempfile::tempdir_in(dir).expect("a folder");
            let changes = [("lifetime", json!("keep")), ("order", json!(order))];
            let record = go(&[
                phase("create", folder.path(), "create", &changes),
                phase("read", folder.path(), "read", &[("verify", json!("full"))]),
            ]);
            assert_eq!(ops(&record, 0, Action::Create), 2 * FILES);
            let (top, found) = kept(folder.path());
            let mut right = names('f');
            right.sort();
            assert_eq!(found.keys().cloned().collect::<Vec<_>>(), right);
            let size = TreeSize::Files { least: Bytes(0), most: Bytes(3000) };
            let mut all = 0;
            for (path, meta) in &found {
                let name = path.file_name().expect("a name").to_string_lossy().into_owned();
                let (worker, file) = name[1..].split_once('.').expect("two numbers");
                let number = worker.parse::<u64>().expect("a number") * FILES
                    + file.parse::<u64>().expect("a number");
                assert_eq!(meta.len(), size_of(size, SEED, number), "{name}");
                let bytes = fs::read(top.join(path)).expect("readable");
                assert_eq!(
                    filler.check(&bytes, tree_place(number, 0), KnownGenerations::Layers(&[])),
                    Ok(()),
                    "{name}"
                );
                all += meta.len();
            }
            let read = &record.phases[1].totals[&Action::Read];
            assert_eq!((read.ops.0, read.bytes.0, read.mismatches), (2 * FILES, all, 0));
            let wrote = record.phases[0].totals[&Action::Create].bytes.0;
            assert_eq!((wrote, record.phases[0].flows[0].bytes.0), (all, all));
        }
    });
}

#[test]
fn every_action_is_done_to_every_file() {
    everywhere("every_action_is_done_to_every_file", |dir| {
        let folder = tempfile::tempdir_in(dir).expect("a folder");
        let foreign = folder.path().join("mine");
        fs::write(&foreign, "x").expect("written");
        for order in ["by_name", "as_listed", "shuffled"] {
            let ordered = [("order", json!(order))];
            let created = if order == "as_listed" { &[][..] } else { &ordered[..] };
            let at =
                |name: &str, changes: &[(&str, Value)]| phase(name, folder.path(), name, changes);
            let record = go(&[
                at("create", created),
                at("open", &ordered),
                at("stat", &ordered),
                at("list", &[]),
                at("read", &ordered),
                at("rename", &ordered),
                at("truncate", &ordered),
                at("allocate", &ordered),
                at("remove", &ordered),
            ]);
            for (number, action) in [
                Action::Create,
                Action::Open,
                Action::Stat,
                Action::List,
                Action::Read,
                Action::Rename,
                Action::Truncate,
                Action::Allocate,
                Action::Remove,
            ]
            .into_iter()
            .enumerate()
            {
                let right = if action == Action::List { 6 } else { 2 * FILES };
                assert_eq!(ops(&record, number, action), right, "{action:?} {order}");
                let total = &record.phases[number].totals[&action];
                assert_eq!(total.lat_ns.expect("latency").n, right);
                // Listing on the way is counted apart.
                if order == "as_listed" && number > 0 && action != Action::List {
                    assert!(ops(&record, number, Action::List) >= 6, "{action:?}");
                }
                // Nobody has seen what the device did for these names.
                let trust = record.phases[number].verdict.as_ref().expect("a verdict").trust;
                assert!(trust > Trust::Sound, "{action:?} {trust:?}");
            }
            // Nothing of it stays, and what was there before is there.
            assert_eq!(walk(folder.path()).len(), 1, "{order}");
            assert_eq!(fs::read(&foreign).expect("there"), b"x");
        }
    });
}

#[test]
fn what_a_change_leaves_is_what_it_says() {
    everywhere("what_a_change_leaves_is_what_it_says", |dir| {
        let keep = ("lifetime", json!("keep"));
        let left = |actions: &[&str], change: (&str, Value)| {
            let folder = tempfile::tempdir_in(dir).expect("a folder");
            let phases: Vec<Value> = actions
                .iter()
                .map(|action| phase(action, folder.path(), action, &[keep.clone(), change.clone()]))
                .collect();
            go(&phases);
            let (top, found) = kept(folder.path());
            (folder, top, found)
        };
        let none = ("shared", json!(false));
        // Preparing makes what no phase has made.
        let (_folder, _, found) = left(&["rename"], none.clone());
        assert_eq!(found.keys().cloned().collect::<Vec<_>>(), {
            let mut names = names('r');
            names.sort();
            names
        });
        let (_folder, _, found) = left(&["create", "remove"], none.clone());
        assert!(found.is_empty(), "{found:?}");
        let (_folder, _, found) = left(&["truncate"], none.clone());
        assert!(found.len() == 100 && found.values().all(|meta| meta.len() == 0));
        let large = ("size", json!({ "files": { "least": 8192, "most": 8192 } }));
        let (_folder, _, found) = left(&["create", "truncate", "allocate"], large);
        assert!(found.len() == 100);
        assert!(found.values().all(|meta| meta.len() == 8192 && meta.blocks() > 0));
        let (_folder, top, found) = left(&["create"], ("size", json!("symbolic_links")));
        for path in found.keys() {
            let end = fs::canonicalize(top.join(path)).expect("it leads somewhere");
            assert_eq!(end.file_name().expect("a name"), "anchor");
        }
        assert_eq!(found.len(), 100);
        let (_folder, _, found) = left(&["create", "rename"], ("size", json!("hard_links")));
        assert!(found.len() == 100);
        assert!(found.values().all(|meta| meta.is_file() && meta.nlink() == FILES + 1));
        let (_folder, _, found) = left(&["create", "stat"], ("size", json!("folders")));
        assert!(found.len() == 100 && found.values().all(fs::Metadata::is_dir));
        let (_folder, _, found) = left(&["create"], ("shared", json!(true)));
        assert!(found.keys().all(|path| path.starts_with("t0/all")) && found.len() == 100);
    });
}

#[test]
fn a_limit_leaves_some_and_the_next_phase_has_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let few = ("stop", json!({ "first_of": [{ "ops": 30 }] }));
    let many = ("stop", json!({ "first_of": [{ "ops": 1000 }] }));
    let record = go(&[
        phase("create", folder.path(), "create", std::slice::from_ref(&few)),
        phase("stat", folder.path(), "stat", std::slice::from_ref(&many)),
        phase("rename", folder.path(), "rename", &[few]),
        phase("list", folder.path(), "open", &[many, ("order", json!("as_listed"))]),
        phase("remove", folder.path(), "remove", &[]),
    ]);
    assert_eq!(ops(&record, 0, Action::Create), 30);
    assert_eq!(ops(&record, 1, Action::Stat), 1000);
    assert_eq!(ops(&record, 2, Action::Rename), 30);
    assert_eq!(ops(&record, 3, Action::Open), 1000);
    assert_eq!(ops(&record, 4, Action::Remove), 100);
    assert_eq!(walk(folder.path()).len(), 0);
}

#[test]
fn workers_in_the_same_folders_visit_their_own_files() {
    everywhere("workers_in_the_same_folders_visit_their_own_files", |dir| {
        let folder = tempfile::tempdir_in(dir).expect("a folder");
        let listed = [("shared", json!(true)), ("order", json!("as_listed"))];
        let record = go(&[
            phase("stat", folder.path(), "stat", &listed),
            phase("rename", folder.path(), "rename", &listed),
            phase("again", folder.path(), "rename", &listed),
            phase("remove", folder.path(), "remove", &listed),
        ]);
        for (number, action) in
            [Action::Stat, Action::Rename, Action::Rename, Action::Remove].into_iter().enumerate()
        {
            assert_eq!(ops(&record, number, action), 2 * FILES, "{action:?}");
        }
        assert_eq!(walk(folder.path()).len(), 0);
    });
}

/// Puts something into one of the folders that are about to be removed.
struct Meddler {
    dir: PathBuf,
    victim: Option<PathBuf>,
}

impl Observer for Meddler {
    fn may_begin(&mut self, phase: &Phase) -> Result<bool, Fault> {
        if phase.name == "remove" && self.victim.is_none() {
            let among = walk(&self.dir);
            let found = among.keys().find(|path| path.ends_with("w0001/d000001/f0001.0000000020"));
            let victim = self.dir.join(found.expect("it was made"));
            fs::write(victim.join("mine"), "x").expect("written");
            self.victim = Some(victim);
        }
        Ok(true)
    }
}

#[test]
fn a_fault_names_the_file_with_its_folders() {
    for order in ["by_name", "as_listed", "shuffled"] {
        let folder = tempfile::tempdir().expect("a folder");
        let changes = [("size", json!("folders")), ("order", json!(order))];
        let plan = plan(&[
            phase("create", folder.path(), "create", &changes[..1]),
            phase("remove", folder.path(), "remove", &changes),
        ]);
        let mut meddler = Meddler { dir: folder.path().into(), victim: None };
        let record = run::run(&plan, &RunOptions::default(), &mut meddler).expect("a run");
        let victim = meddler.victim.expect("it began");
        let [fault] = &record.phases[1].faults[..] else {
            panic!("{order}: {:?}", record.phases[1].faults)
        };
        let said = (fault.doing.name(), Path::new(&fault.path), fault.name.as_str());
        assert_eq!(said, ("remove", victim.as_path(), "ENOTEMPTY"), "{order}");
    }
}

#[test]
fn bad_words_are_refused_and_nothing_is_touched() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let missing = dir.join("missing");
    let mut cold = phase("p", dir, "stat", &[]);
    cold["cold"] = json!("target");
    let twice = ("stop", json!({ "first_of": [{ "passes": 2 }] }));
    for (refused, why) in [
        (phase("p", &missing, "stat", &[]), "missing: No such file or directory"),
        (cold, "use cold 'machine', or 'keep'"),
        (phase("p", dir, "create", &[twice]), "2 passes of 'create'"),
        (phase("p", dir, "write", &[]), "'write' is done to blocks"),
        (
            phase("p", dir, "create", &[("fill", json!({ "file": "/x" }))]),
            "/x: No such file or directory",
        ),
        (
            phase(
                "p",
                dir,
                "create",
                &[
                    ("size", json!({ "files": { "least": 1 << 30, "most": 1 << 30 } })),
                    ("files", json!(1 << 20)),
                ],
            ),
            "do not fit",
        ),
    ] {
        match run::run(&plan(&[refused]), &RunOptions::default(), &mut ()) {
            Err(Error::Refusal(refusal)) => {
                assert!(refusal.to_string().contains(why), "{refusal}: {why}");
            }
            other => panic!("not refused: {other:?}"),
        }
    }
    assert_eq!(walk(dir).len(), 0);
}

#[test]
fn names_alone_are_never_proven() {
    let card = need!(Card::fast());
    let many = [("files", json!(20_000)), ("size", json!({ "files": { "least": 0, "most": 0 } }))];
    let mut looked = many.to_vec();
    looked.push(("stop", json!({ "first_of": [{ "time": 700_000_000 }] })));
    let record = go(&[phase("stat", card.mount(), "stat", &looked)]);
    let verdict = record.phases[0].verdict.as_ref().expect("a verdict");
    assert_eq!(verdict.trust, Trust::Unproven, "{verdict:?}");
    assert!(
        matches!(verdict.measures, MeasuredSubject::Memory | MeasuredSubject::Unsure),
        "{verdict:?}"
    );
}

fn typed(dir: &Path, plan: &Plan) -> (Command, PathBuf) {
    let file = dir.join("plan");
    fs::write(&file, serde_json::to_string(plan).expect("json")).expect("written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.arg("run").arg(&file).stdout(Stdio::null()).stderr(Stdio::null());
    (command, file)
}

#[test]
fn whatever_ends_a_run_nothing_stays() {
    use rustix::process::{Pid, Signal, kill_process};
    let (folder, desk) =
        (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a desk"));
    let foreign = folder.path().join("mine");
    fs::write(&foreign, "x").expect("written");
    // While it is made ready, and in the midst of its work.
    let empty = ("size", json!({ "files": { "least": 0, "most": 0 } }));
    let making = phase("p", folder.path(), "stat", &[("files", json!(500_000)), empty]);
    let working = phase(
        "p",
        folder.path(),
        "stat",
        &[("stop", json!({ "first_of": [{ "time": 60_000_000_000_u64 }] }))],
    );
    for (name, phase) in [("making", making), ("working", working)] {
        for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
            let (mut command, _) = typed(desk.path(), &plan(std::slice::from_ref(&phase)));
            let mut child = command.spawn().expect("it runs");
            while walk(folder.path()).len() < 10 {
                std::thread::sleep(std::time::Duration::from_millis(5));
                assert_eq!(child.try_wait().expect("a child"), None, "{name}: it has ended");
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
            kill_process(Pid::from_child(&child), signal).expect("alive");
            let status = child.wait().expect("a child");
            if signal == Signal::KILL {
                // Nobody cleans up after that but the next run there.
                assert!(walk(folder.path()).len() > 1);
                go(&[self::phase("next", folder.path(), "create", &[])]);
            } else {
                assert_eq!(status.code(), Some(128 + signal.as_raw()), "{name}");
            }
            assert_eq!(walk(folder.path()).len(), 1, "{name} {signal:?}");
            assert!(foreign.exists());
        }
    }
}

#[test]
fn a_file_costs_the_same_calls_whatever_their_number() {
    // What each action takes for one file. Files that a phase needs are made before, and all that
    // is there is removed after: one more of each.
    let empty = ("size", json!({ "files": { "least": 0, "most": 0 } }));
    let one = ("size", json!({ "files": { "least": 1, "most": 1 } }));
    let each = ("durability", json!({ "fsync_every": 1 }));
    let pieces = ("size", json!({ "files": { "least": 1500, "most": 1500 } }));
    for (action, changes, cost) in [
        ("create", vec![empty.clone()], vec![("openat", 1), ("unlinkat", 1)]),
        (
            "create",
            vec![one, each.clone(), ("sync_folder", json!(true)), ("folders", json!(0))],
            vec![("openat", 1), ("write", 1), ("fsync", 2), ("unlinkat", 1)],
        ),
        ("stat", vec![empty.clone()], vec![("openat", 1), ("newfstatat", 1), ("unlinkat", 1)]),
        (
            "read",
            vec![pieces.clone(), ("block", json!(512)), ("stat_first", json!(true))],
            vec![("openat", 2), ("newfstatat", 1), ("write", 3), ("unlinkat", 1)],
        ),
        ("open", vec![empty.clone()], vec![("openat", 2), ("unlinkat", 1)]),
        ("rename", vec![empty.clone()], vec![("openat", 1), ("renameat", 1), ("unlinkat", 1)]),
        ("remove", vec![empty.clone()], vec![("openat", 1), ("unlinkat", 1)]),
        ("create", vec![("size", json!("folders"))], vec![("mkdirat", 1), ("unlinkat", 1)]),
    ] {
        let mut seen = Vec::new();
        for files in [100, 500, 1500] {
            let folder = tempfile::tempdir().expect("a folder");
            let mut changes = changes.clone();
            changes.extend([("files", json!(files)), ("workers", json!(1))]);
            let plan = plan(&[phase("p", folder.path(), action, &changes)]);
            let Some(calls) = calls(&plan, "calls of trees") else { return };
            for (call, times) in &cost {
                let found = calls.get(*call).copied().unwrap_or(0);
                let rest = found.checked_sub(files * times);
                let rest = rest.unwrap_or_else(|| panic!("{action}: {found} {call}"));
                // What does not depend on the files: looking at the machine, folders.
                assert!(rest < 600, "{action} of {files}: {found} {call}");
                seen.push((*call, files, rest));
            }
            // No memory is asked for on the way.
            let memory = ["brk", "mmap", "munmap", "mremap"];
            let memory: u64 = memory.iter().filter_map(|call| calls.get(*call)).sum();
            seen.push(("memory", files, memory));
        }
        for call in cost.iter().map(|(call, _)| *call).filter(|call| *call != "write") {
            let rests: Vec<u64> =
                seen.iter().filter(|(name, ..)| *name == call).map(|(.., rest)| *rest).collect();
            let spread = rests.iter().max().expect("some") - rests.iter().min().expect("some");
            assert!(spread < 30, "{action}: {call} beside its own: {rests:?}");
        }
        let memory: Vec<u64> =
            seen.iter().filter(|(name, ..)| *name == "memory").map(|(.., calls)| *calls).collect();
        let spread = memory.iter().max().expect("some") - memory.iter().min().expect("some");
        assert!(spread < 40, "{action}: {memory:?} calls for memory");
    }
}
