//! Places that nobody has written: they are laid out before they are read, or refused, and a device
//! is never blamed for them.

use std::path::Path;

use assay_plan::error::Error;
use assay_plan::plan::{Action, Phase, Plan};
use assay_record::evidence::Reading;
use assay_record::record::{Ending, PhaseRecord, Record};
use assay_run::{self as run, Observer, Preparation, RunOptions};
use serde_json::{Value, json};

const BLOCK: u64 = 4096;
const BLOCKS: u64 = 16;

/// A phase of one job, with whatever `changes` say of its pattern.
fn phase(name: &str, target: &Value, action: &str, changes: &[(&str, Value)]) -> Value {
    let mut pattern =
        json!({ "mix": [{ "action": action, "weight": 1 }], "block": { "fixed": BLOCK } });
    let mut job = json!({ "name": name });
    let mut depth = json!(1);
    let mut method = json!("psync");
    for (word, value) in changes {
        match *word {
            "workers" | "stop" => job[word] = value.clone(),
            "iodepth" => depth = value.clone(),
            "method" => method = value.clone(),
            _ => pattern[word] = value.clone(),
        }
    }
    job["work"] = json!({ "blocks": {
        "target": target, "pattern": pattern, "method": method, "iodepth": depth,
    }});
    json!({ "name": name, "jobs": [job] })
}

fn plan(phases: &[Value]) -> Plan {
    let plan = json!({
        "title": "unwritten", "origin": { "dialect": "plan" }, "seed": 7, "phases": phases,
    });
    serde_json::from_value(plan).expect("a plan")
}

/// Looks at the file after each phase.
struct After<'a>(&'a mut dyn FnMut(&str));

impl Observer for After<'_> {
    fn preparing(&mut self, _phase: &Phase, _step: Preparation) {}
    fn ended(&mut self, _: &Record, phase: &PhaseRecord) {
        (self.0)(&phase.name);
    }
}

fn go(phases: &[Value], mut after: impl FnMut(&str)) -> Result<Record, Error> {
    run::run(&plan(phases), &RunOptions::default(), &mut After(&mut after))
}

fn file(path: &Path) -> Value {
    json!({ "file": { "path": path, "size": { "exactly": BLOCKS * BLOCK }, "lifetime": "keep" } })
}

fn scratch(folder: &Path, layout: &str) -> Value {
    json!({ "scratch": {
        "dir": folder, "size": { "exactly": BLOCKS * BLOCK }, "layout": layout,
    }})
}

fn ops(ops: u64) -> (&'static str, Value) {
    ("stop", json!({ "first_of": [{ "ops": ops }] }))
}

fn full() -> (&'static str, Value) {
    ("verify", json!("full"))
}

/// A read of the whole file met neither holes nor wrong data.
fn is_whole(record: &Record) {
    assert_eq!(record.ending, Ending::Complete);
    let read = record.phases.last().expect("a phase");
    let total = &read.totals[&Action::Read];
    assert_eq!((total.bytes.0, total.mismatches), (BLOCKS * BLOCK, 0));
    for laid in &read.evidence.extents {
        match &laid.extents {
            Reading::Seen(e) => assert_eq!((e.hole.0, e.unwritten.0), (0, 0), "{}", laid.path),
            Reading::Unseen(why) => eprintln!("SKIP extents of {}: {why}", laid.path),
        }
    }
}

/// Bytes that the phase read, and those of them that lay nowhere when it began.
fn read_and_empty(record: &Record, phase: usize) -> (u64, Option<u64>) {
    let read = &record.phases[phase];
    let laid = read.evidence.extents.first().expect("looked at");
    let empty = laid.extents.seen().map(|e| e.hole.0 + e.unwritten.0);
    (read.totals[&Action::Read].bytes.0, empty)
}

#[test]
fn a_hole_that_is_wanted_stays_one_until_it_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    // As large as what was written, also when that has become a hole.
    let of = |layout: &str| {
        json!({ "scratch": {
            "dir": folder.path(), "size": { "written": { "most": BLOCKS * BLOCK } }, "layout": layout,
        }})
    };
    let phases = [
        phase("write", &of("as_found"), "write", &[ops(5)]),
        phase("hole", &of("sparse"), "read", &[]),
        phase("data", &of("written"), "read", &[full()]),
    ];
    let most = run::preview(&plan(&phases)).expect("a good plan").writes;
    assert_eq!(most.0, BLOCKS * BLOCK, "what the last lays out");
    let record = go(&phases, |_| ()).expect("it runs");
    assert_eq!(record.ending, Ending::Complete);
    let all = 5 * BLOCK;
    let (hole, data) = (read_and_empty(&record, 1), read_and_empty(&record, 2));
    assert_eq!((hole.0, data.0), (all, all));
    match (hole.1, data.1) {
        (Some(hole), Some(data)) => assert_eq!((hole, data), (all, 0)),
        _ => eprintln!("SKIP extents: this file system does not tell"),
    }
    assert_eq!(record.phases[2].totals[&Action::Read].mismatches, 0);
}

#[test]
fn what_no_phase_wrote_is_laid_out_before_a_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let half = ("region", json!({ "divided": true }));
    let pool = [("method", json!("pool")), ("iodepth", json!(3)), ops(8)];
    for writes in [
        vec![ops(5)],
        vec![ops(5), ("workers", json!(2)), half.clone()],
        vec![ops(5), ("order", json!("backward"))],
        vec![ops(5), ("order", json!("shuffled"))],
        vec![ops(16), ("order", json!("uniform"))],
        vec![("order", json!({ "spaced": { "stride": 2 * BLOCK } }))],
        vec![("region", json!({ "offset": 3 * BLOCK }))],
        pool.to_vec(),
    ] {
        for layout in ["as_found", "preallocated", "written"] {
            let target = scratch(folder.path(), layout);
            let phases = [
                phase("write", &target, "write", &writes),
                phase("read", &target, "read", &[full()]),
                phase("again", &target, "read", &[full()]),
            ];
            let record = go(&phases, |_| ()).expect("a run");
            is_whole(&record);
            assert_eq!(record.phases[1].evidence.unsure, [], "{layout}: {writes:?}");
        }
    }
}

#[test]
fn what_a_phase_wrote_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    let half = ("region", json!({ "divided": true }));
    let stride = ("order", json!({ "strided": { "stride": 3 * BLOCK } }));
    for (writes, kept) in [
        (vec![ops(5)], vec![(0, 5)]),
        (vec![ops(4), ("workers", json!(2)), half], vec![(0, 2), (8, 10)]),
        (vec![stride], vec![(0, 16)]),
        (
            vec![("order", json!("shuffled")), ("method", json!("pool")), ("iodepth", json!(3))],
            vec![(0, 16)],
        ),
    ] {
        let mut before = Vec::new();
        let phases = [
            phase("write", &file(&path), "write", &writes),
            phase("read", &file(&path), "read", &[full()]),
        ];
        let record = go(&phases, |name| {
            if name == "write" {
                before = std::fs::read(&path).expect("read");
            }
        });
        is_whole(&record.expect("a run"));
        let after = std::fs::read(&path).expect("read");
        for (first, end) in kept {
            let bytes = (first * BLOCK) as usize..(end * BLOCK) as usize;
            assert!(before[bytes.clone()] == after[bytes], "{first} to {end} after {writes:?}");
        }
        std::fs::remove_file(&path).expect("removed");
    }
}

#[test]
fn several_files_are_laid_out_where_they_were_not_written() {
    let folder = tempfile::tempdir().expect("a folder");
    for (shared, order) in [(true, "round_robin"), (false, "sequential"), (true, "random")] {
        let target = json!({ "files": {
            "dirs": [folder.path()], "stem": "x", "count": 3, "shared": shared,
            "size": { "exactly": BLOCKS * BLOCK }, "order": order,
        }});
        let write = |name, changes: &[_]| phase(name, &target, "write", changes);
        let some = [ops(9), ("workers", json!(2))];
        let all = [("order", json!("shuffled")), ("workers", json!(2))];
        let read = phase("read", &target, "read", &[full(), ("workers", json!(2))]);
        for phases in [[write("some", &some), read.clone()], [write("all", &all), read]] {
            let record = go(&phases, |_| ()).expect("a run");
            assert_eq!(record.ending, Ending::Complete, "{shared}, {order}");
            let total = &record.phases[1].totals[&Action::Read];
            assert_eq!((total.ops.0, total.mismatches), (2 * 3 * BLOCKS, 0));
        }
    }
}

#[test]
fn a_file_that_was_there_is_left_as_it_was_and_its_device_is_not_blamed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    for (writes, blamed) in [
        (vec![ops(5)], false),
        (vec![("order", json!("uniform")), ops(1)], false),
        (vec![("fill", json!({ "repeat": [0xee] }))], false),
        (vec![("block", json!({ "fixed": 1000 }))], false),
        (vec![("order", json!("shuffled"))], true),
    ] {
        std::fs::write(&path, vec![0xee; (BLOCKS * BLOCK) as usize]).expect("written");
        let phases = [
            phase("write", &file(&path), "write", &writes),
            phase("read", &file(&path), "read", &[full()]),
        ];
        let record = go(&phases, |name| {
            if name == "write" && blamed {
                std::fs::write(&path, vec![0; (BLOCKS * BLOCK) as usize]).expect("written");
            }
        })
        .expect("a run");
        let Ending::Failed(fault) = &record.ending else { panic!("{:?}", record.ending) };
        assert_eq!(fault.doing.name(), "verify", "{writes:?}");
        let verdict = record.phases[1].verdict.as_ref().expect("a verdict");
        let claim = &verdict.findings.iter().find(|f| f.trap.name() == "T48").expect("T48").text();
        assert_eq!(claim.contains("the device is fake or failing"), blamed, "{writes:?}: {claim}");
        assert_eq!(claim.contains("this says nothing about the device"), !blamed, "{claim}");
        assert_eq!(fault.hint.contains("no phase before has certainly written there"), !blamed);
    }
}

#[test]
fn to_read_what_nothing_writes_is_refused_and_nothing_is_touched() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    let write = |target: &Value| phase("write", target, "write", &[]);
    let read = |target: &Value| phase("read", target, "read", &[]);
    let rewrite = |target: &Value| phase("rewrite", target, "rewrite", &[]);
    let nothing = |what: &str| {
        format!(
            "nothing has written what is to be read of {what}; give it the layout 'written', or a phase before that writes it"
        )
    };
    let truncated = "the layout 'truncated' contradicts reads: nothing is left that could be read; give the layout 'written', or leave the reads out";
    let [found, allocated, emptied, laid] =
        ["as_found", "preallocated", "truncated", "written"].map(|l| scratch(folder.path(), l));
    for (phases, name, why) in [
        (vec![read(&found)], "read", nothing("the scratch file")),
        (vec![read(&allocated)], "read", nothing("the scratch file")),
        (vec![rewrite(&found)], "rewrite", nothing("the scratch file")),
        (vec![write(&found), read(&emptied)], "read", truncated.into()),
        (vec![rewrite(&file(&path))], "rewrite", nothing(&path.display().to_string())),
        (vec![rewrite(&found), write(&found)], "rewrite", nothing("the scratch file")),
    ] {
        match go(&phases, |_| panic!("it has begun")) {
            Err(Error::Refusal(refusal)) => {
                let place = format!("phase '{name}', job '{name}'");
                assert_eq!(refusal.to_string(), format!("{place}: {why}"));
            }
            other => panic!("not refused: {other:?}"),
        }
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }
    is_whole(&go(&[read(&laid)], |_| ()).expect("a run"));
    is_whole(&go(&[write(&found), read(&found)], |_| ()).expect("a run"));
}

#[test]
fn a_file_of_holes_is_refused_unless_holes_are_wanted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x");
    let hole = std::fs::File::create(&path).expect("a file");
    hole.set_len(BLOCKS * BLOCK).expect("a hole");
    let of = |layout: &str| {
        let mut target = file(&path);
        target["file"]["layout"] = json!(layout);
        target
    };
    let read = |layout: &str| phase("read", &of(layout), "read", &[]);
    for layout in ["existing", "as_found"] {
        let Err(Error::Refusal(refusal)) = go(&[read(layout)], |_| panic!("it has begun")) else {
            panic!("{layout}: not refused")
        };
        let why = format!(
            "phase 'read', job 'read': nothing was ever written to {}: it is all holes; write it first, or give the layout 'sparse' to read holes",
            path.display()
        );
        assert_eq!(refusal.to_string(), why);
    }
    let record = go(&[read("sparse")], |_| ()).expect("a run");
    assert_eq!(record.ending, Ending::Complete);
    is_whole(
        &go(&[phase("write", &of("as_found"), "write", &[]), read("existing")], |_| ())
            .expect("a run"),
    );
    // It holds data now.
    is_whole(&go(&[read("existing")], |_| ()).expect("a run"));
}

#[test]
fn what_may_have_to_be_laid_out_is_said_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = BLOCKS * BLOCK;
    let target = scratch(folder.path(), "as_found");
    let read = phase("read", &target, "read", &[]);
    let again = phase("again", &target, "read", &[]);
    for (writes, most) in
        [(vec![], all), (vec![ops(5)], all), (vec![("order", json!("same"))], 2 * all)]
    {
        let plan = plan(&[phase("write", &target, "write", &writes), read.clone(), again.clone()]);
        let preview = run::preview(&plan).expect("a preview");
        assert_eq!(
            (preview.writes.0, preview.writes_more),
            (most, !writes.is_empty() && most == all)
        );
    }
}
