//! A long run costs what it adds: the record grows on disk by what has happened, and whoever kills the run
//! finds what there was.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use assay::record::{Ending, Record, load};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use serde_json::{Value, json};

/// So many phases of 5 ms that go nowhere.
fn plan(phases: usize) -> Value {
    let phase = |number: usize| {
        json!({ "name": format!("phase-{number}"), "jobs": [{
            "name": "job",
            "work": { "blocks": {
                "target": { "nowhere": { "size": 1 << 30 } },
                "method": "null",
                "pattern": {
                    "mix": [{ "action": "read", "weight": 1 }],
                    "block": { "fixed": 4096 },
                },
            }},
            "stop": { "first_of": [{ "time": 5_000_000 }] },
        }]})
    };
    json!({
        "title": "°long", "origin": { "dialect": "plan" }, "seed": 7,
        "phases": (0..phases).map(phase).collect::<Vec<_>>(),
    })
}

/// assay on that plan, with its record on the same desk.
fn start(desk: &Path, phases: usize) -> (Child, PathBuf) {
    let (file, record) = (desk.join("plan"), desk.join("record.json"));
    std::fs::write(&file, plan(phases).to_string()).expect("written");
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

/// Bytes that a run of so many phases has written in all, and those of its record.
fn written(phases: usize) -> (u64, u64) {
    let desk = tempfile::tempdir().expect("a desk");
    let (mut child, path) = start(desk.path(), phases);
    // Its counters go when it is waited for.
    let over = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(Pid::from_child(&child)), over).expect("a child");
    let io = std::fs::read_to_string(format!("/proc/{}/io", child.id())).expect("its counters");
    child.wait().expect("a child");
    let wchar = io.lines().find_map(|line| line.strip_prefix("wchar: ")).expect("wchar");
    let record = load(&path).expect("a record");
    assert_eq!((record.ending, record.phases.len()), (Ending::Complete, phases));
    let names: Vec<String> = std::fs::read_dir(desk.path())
        .expect("the desk")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names.len(), 2, "nothing is left beside it: {names:?}");
    let size = std::fs::metadata(&path).expect("the record").len();
    (wchar.parse().expect("a number"), size)
}

#[test]
fn a_long_run_writes_what_it_adds() {
    let (some, more) = (written(50), written(200));
    for (all, record) in [some, more] {
        println!("{all} bytes written, {record} of the record: {:.2}", all as f64 / record as f64);
        assert!(all <= 3 * record, "{all} {record}");
    }
    // Four times as many phases do not cost more for each byte of the record.
    let cost = |(all, record): (u64, u64)| all as f64 / record as f64;
    assert!(cost(more) <= 1.1 * cost(some), "{some:?} {more:?}");
}

/// The phases of a killed run: the first of the plan, each with its verdict.
fn left(path: &Path) -> Record {
    let record = load(path).expect("what was there is read");
    assert_eq!((&record.ending, &record.verdict), (&Ending::Unfinished, &None));
    for (number, phase) in record.phases.iter().enumerate() {
        assert_eq!(phase.name, format!("phase-{number}"));
        assert!(phase.verdict.is_some(), "{number}");
    }
    record
}

fn judged(path: &Path) -> String {
    let ran = Command::new(env!("CARGO_BIN_EXE_assay")).arg("judge").arg(path).output();
    String::from_utf8_lossy(&ran.expect("assay").stdout).into_owned()
}

#[test]
fn who_is_killed_leaves_what_there_was() {
    let mut most = 0;
    for after in [60, 150, 400, 900] {
        let desk = tempfile::tempdir().expect("a desk");
        let (mut child, path) = start(desk.path(), 2000);
        std::thread::sleep(Duration::from_millis(after));
        // Not before there is anything.
        while std::fs::metadata(&path).map_or(0, |there| there.len()) == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().expect("killed");
        child.wait().expect("a child");
        let record = left(&path);
        let phases = record.phases.len();
        assert!(phases < 2000);
        most = most.max(phases);
        println!("killed after {after} ms: {phases} phases");
        let page = judged(&path);
        assert!(page.contains("verdict  unproven"), "{page}");
        assert_eq!(page.contains("  phase-0 "), phases > 0, "{page}");
    }
    assert!(most > 0);
}

#[test]
fn half_a_line_is_left_out_and_a_bad_one_is_named() {
    let desk = tempfile::tempdir().expect("a desk");
    let (mut child, path) = start(desk.path(), 2000);
    while load(&path).map_or(0, |record| record.phases.len()) < 3 {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("killed");
    child.wait().expect("a child");
    let bytes = std::fs::read(&path).expect("the record");
    let ends: Vec<usize> = (1..=bytes.len()).filter(|&end| bytes[end - 1] == b'\n').collect();
    let cut = desk.path().join("cut.json");
    // Wherever the third line of what has happened is cut, two are there.
    for end in (ends[2]..ends[3]).step_by(7).chain([ends[3] - 1]) {
        std::fs::write(&cut, &bytes[..end]).expect("written");
        assert_eq!(left(&cut).phases.len(), 2, "cut at {end}");
    }
    std::fs::write(&cut, &bytes[..ends[3]]).expect("written");
    assert_eq!(left(&cut).phases.len(), 3);
    // In the middle of a sign of two bytes.
    let half = [&bytes[..ends[1]], b"{\"notes\":[\"36 \xc2".as_slice()].concat();
    std::fs::write(&cut, half).expect("written");
    assert_eq!(left(&cut).phases.len(), 1);

    let bad = [&bytes[..ends[1]], b"{\"phase\":3}\n", &bytes[ends[1]..ends[2]]].concat();
    std::fs::write(&cut, bad).expect("written");
    let why = load(&cut).expect_err("no record").to_string();
    assert!(why.contains("cut.json:3:10: not a record: invalid type: integer"), "{why}");
    // A record that is over has nothing behind it.
    let whole = desk.path().join("whole.json");
    let mut record = left(&path);
    record.ending = Ending::Complete;
    let text = serde_json::to_string(&record).expect("json");
    std::fs::write(&whole, format!("{text}\n")).expect("written");
    assert_eq!(load(&whole).expect("a record"), record);
    std::fs::write(&whole, format!("{text}\n{{\"notes\":[]}}\n")).expect("written");
    assert!(load(&whole).expect_err("no record").to_string().contains("trailing characters"));
}
