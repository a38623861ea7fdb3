//! A long run costs what it adds: the record grows on disk by what has happened, and whoever kills the run
//! finds what there was.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use assay_plan::unit::Nanos;
use assay_record::record::{Ending, Record, Span, load};
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

/// What a run of so many phases came to.
struct LongRun {
    record: Record,
    /// Bytes of the record on disk, and those that the run has written in all.
    size: u64,
    written: u64,
    /// The most memory that it had, kB.
    memory: u64,
    /// What stood on disk when it was halfway: a run that is killed then leaves this.
    halfway: Record,
    /// The page of that, judged.
    page: String,
}

/// A number of a file of `/proc`.
fn counted(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// How many lines a file has.
fn lines(path: &Path) -> usize {
    std::fs::read(path).map_or(0, |bytes| bytes.iter().filter(|&&byte| byte == b'\n').count())
}

fn long_run(phases: usize) -> LongRun {
    let desk = tempfile::tempdir().expect("a desk");
    let (mut child, path) = start(desk.path(), phases);
    let killed = desk.path().join("killed.json");
    let status = format!("/proc/{}/status", child.id());
    let over = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    // Its counters go when it is waited for, and its memory when it ends.
    let ended = || {
        let child = WaitId::Pid(Pid::from_child(&child));
        waitid(child, over | WaitIdOptions::NOHANG).expect("a child").is_some()
    };
    let (mut memory, mut kept) = (0, false);
    while !ended() {
        let now = std::fs::read_to_string(&status).ok().and_then(|text| counted(&text, "VmHWM:"));
        memory = now.unwrap_or_default().max(memory);
        if !kept && lines(&path) > phases / 2 {
            std::fs::copy(&path, &killed).expect("copied");
            kept = true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let io = std::fs::read_to_string(format!("/proc/{}/io", child.id())).expect("its counters");
    child.wait().expect("a child");
    let halfway = left(&killed);
    let page = judged(&killed);
    std::fs::remove_file(&killed).expect("removed");
    let record = load(&path).expect("a record");
    assert_eq!((&record.ending, record.phases.len()), (&Ending::Complete, phases));
    let names: Vec<String> = std::fs::read_dir(desk.path())
        .expect("the desk")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names.len(), 2, "nothing is left beside it: {names:?}");
    let size = std::fs::metadata(&path).expect("the record").len();
    let written = counted(&io, "wchar:").expect("wchar");
    LongRun { record, size, written, memory, halfway, page }
}

/// The middle one of the times between the phases of a part of a run.
fn between(spans: &[Span]) -> Nanos {
    let between = |pair: &[Span]| pair[1].started.since(pair[0].ended());
    let mut all: Vec<Nanos> = spans.windows(2).map(between).collect();
    all.sort_unstable();
    all[all.len() / 2]
}

/// A tool that is built to be debugged judges its phases that much slower.
const SHARE: f64 = if cfg!(debug_assertions) { 2.5 } else { 1.3 };

/// Ten times as many phases may take so much more memory: their plan has a name and a number for each.
const MEMORY: f64 = 1.25;

#[test]
fn a_long_run_costs_what_it_adds() {
    let (some, more) = (long_run(200), long_run(2000));
    let cost = |run: &LongRun| run.written as f64 / run.size as f64;
    println!("{} bytes written for {} of a record: {:.2}", more.written, more.size, cost(&more));
    assert!(cost(&some) <= 3.0 && cost(&more) <= 3.0, "{} {}", cost(&some), cost(&more));
    // Ten times as many phases do not cost more for each byte of the record.
    assert!(cost(&more) <= 1.1 * cost(&some), "{} {}", cost(&some), cost(&more));

    let phases = &more.record.phases;
    let spans: Vec<Span> = phases.iter().map(|phase| phase.span).collect();
    let own: Nanos = spans.iter().map(|span| span.ended().since(span.started)).sum();
    let all = spans[1999].ended().since(spans[0].started);
    let share = all.0 as f64 / own.0 as f64;
    let (early, late) = (between(&spans[..500]), between(&spans[1500..]));
    println!("{all} for phases of {own}: {share:.2}; between two {early} at first, {late} at last");
    assert!(share <= SHARE, "{share}");
    assert!(late.0 <= 2 * early.0, "{early} {late}");

    let times = more.memory as f64 / some.memory as f64;
    println!("{} kB, and {} kB of 200 phases: {times:.2}", more.memory, some.memory);
    assert!(some.memory > 0 && times <= MEMORY, "{} {}", some.memory, more.memory);

    let there = more.halfway.phases.len();
    assert!((1000..2000).contains(&there), "{there}");
    assert!(more.page.contains("verdict  unproven"), "{}", more.page);
    assert!(more.page.contains(&format!("  phase-{} ", there - 1)), "{}", more.page);
    // What is the same of all is said of all together.
    let beneath = more.page.lines().filter(|line| line.contains("-> unproven")).count();
    let arrows = more.page.lines().filter(|line| line.contains('↳')).count();
    assert!((1..=9).contains(&(beneath + arrows)), "{beneath} {arrows}");
    let likewise = format!("likewise: phase-8 to phase-{} ({} phases)", there - 1, there - 8);
    assert!(more.page.contains(&likewise), "{}", more.page);
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
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
    // Once when there are phases, and at other moments each time.
    let (soon, later) = (u64::from(now.subsec_nanos() % 300), u64::from(now.subsec_micros() % 600));
    for (after, lines_at_least) in [(60, 40), (soon, 0), (later, 0)] {
        let desk = tempfile::tempdir().expect("a desk");
        let (mut child, path) = start(desk.path(), 2000);
        std::thread::sleep(Duration::from_millis(after));
        // Not before there is anything.
        while std::fs::metadata(&path).map_or(0, |there| there.len()) == 0
            || lines(&path) < lines_at_least
        {
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

/// The last thing that a run does is to write its document: until that is whole, what has grown stands.
#[test]
fn who_is_killed_while_the_document_is_written_leaves_all_phases() {
    const PHASES: usize = 150;
    let desk = tempfile::tempdir().expect("a desk");
    let (mut child, path) = start(desk.path(), PHASES);
    let is_fresh = |name: &str| name.starts_with(".record.json.") && name.ends_with(".new");
    let has_fresh = || {
        let mut names = std::fs::read_dir(desk.path()).expect("a desk").flatten();
        names.any(|entry| entry.file_name().to_str().is_some_and(is_fresh))
    };
    // What the record began with was written so, too, before anything stood there.
    while std::fs::metadata(&path).map_or(0, |there| there.len()) == 0 || !has_fresh() {
        assert!(child.try_wait().expect("a child").is_none(), "it ended before it was killed");
        std::thread::sleep(Duration::from_micros(300));
    }
    child.kill().expect("killed");
    child.wait().expect("a child");
    assert!(has_fresh(), "it was killed too late");
    let record = load(&path).expect("what was there is read");
    assert_eq!((&record.ending, &record.verdict), (&Ending::Complete, &None));
    assert_eq!(record.phases.len(), PHASES);
    assert!(record.phases.iter().all(|phase| phase.verdict.is_some()));
    let page = judged(&path);
    assert!(page.contains(&format!("  phase-{} ", PHASES - 1)), "{page}");
    assert!(page.contains(&format!("0 of {PHASES} results are valid")), "{page}");
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

/// A run whose record stands on the disk that it measures.
#[test]
fn a_record_on_the_disk_that_is_measured_grows_elsewhere() {
    // What is in memory is no disk: there it grows in its place.
    let desk = tempfile::tempdir_in("/var/tmp").expect("a desk");
    let (file, path) = (desk.path().join("plan"), desk.path().join("record.json"));
    let phase = |number: usize| {
        json!({ "name": format!("phase-{number}"), "jobs": [{
            "name": "job",
            "work": { "blocks": {
                "target": { "file": {
                    "path": desk.path().join("data"), "size": { "exactly": 1 << 20 },
                    "layout": "sparse",
                }},
                "method": "psync",
                "pattern": {
                    "mix": [{ "action": "write", "weight": 1 }],
                    "block": { "fixed": 4096 },
                },
            }},
            "stop": { "first_of": [{ "time": 5_000_000 }] },
        }]})
    };
    let plan = |phases: usize| {
        json!({
            "title": "beside", "origin": { "dialect": "plan" }, "seed": 7,
            "phases": (0..phases).map(phase).collect::<Vec<_>>(),
        })
    };
    let started = |phases: usize| {
        std::fs::write(&file, plan(phases).to_string()).expect("written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.arg("run").arg(&file).arg("--record").arg(&path);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs")
    };
    let killed = || {
        let mut child = started(500);
        while load(&path).map_or(0, |record| record.phases.len()) < 3 {
            std::thread::sleep(Duration::from_millis(5));
            assert!(child.try_wait().expect("a child").is_none(), "it ended before it was killed");
        }
        child.kill().expect("killed");
        child.wait().expect("a child");
        let text = std::fs::read_to_string(&path).expect("the record");
        let lines: Vec<&str> = text.lines().collect();
        let line: Value = serde_json::from_str(lines[1]).expect("json");
        let elsewhere = line["elsewhere"].as_str().map(PathBuf::from);
        elsewhere.filter(|path| path.exists() && lines.len() == 2)
    };
    let mut found = killed();
    let record = left(&path);
    let in_memory = record.resolved.subjects.iter().all(|subject| subject.stack.is_empty());
    if in_memory {
        println!("skipped: /var/tmp is in memory");
        return;
    }
    // A run of another test, which began in that moment, may have put it back already.
    for _ in 0..10 {
        if found.is_none() {
            std::fs::remove_file(&path).expect("removed");
            std::fs::remove_file(desk.path().join("data")).expect("removed");
            found = killed();
        }
    }
    let elsewhere = found.expect("a journal elsewhere");
    let record = left(&path);
    assert!(!elsewhere.starts_with("/var/tmp"), "{}", elsewhere.display());
    assert!(record.phases.iter().all(|phase| phase.evidence.journal.is_none()));
    let page = judged(&path);
    assert!(page.contains("  phase-2 "), "{page}");
    // The next run, whatever it does, puts what is there into the record, and takes it away.
    let words = ["io", ".", "--size", "1M", "--time", "100ms", "--seed", "1"];
    let swept = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(words)
        .current_dir(desk.path())
        .output()
        .expect("it runs");
    assert!([Some(0), Some(3)].contains(&swept.status.code()), "{swept:?}");
    assert!(!elsewhere.exists(), "{}", elsewhere.display());
    let after = left(&path);
    assert_eq!((after.phases.len(), after.run), (record.phases.len(), record.run));
    std::fs::remove_file(&path).expect("removed");
    // A plan does not write over what a killed run has left.
    std::fs::remove_file(desk.path().join("data")).expect("removed");

    // A run that ends leaves nothing there.
    assert!(started(3).wait().expect("a child").code().is_some());
    let record = load(&path).expect("a record");
    assert_eq!((&record.ending, record.phases.len()), (&Ending::Complete, 3));
    let left = elsewhere.with_file_name(format!("assay-{}.journal", record.run));
    assert!(!left.exists(), "{}", left.display());
}
