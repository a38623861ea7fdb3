//! `assay ramp`: the knee is where the model puts it, and what sets the limit is named.

use std::fs;
use std::path::Path;

use assay_plan::unit::Nanos;
use assay_record::record::{Ending, LoadPoint, MeasuredSubject, Record, StudyResult, Trust};
use serde_json::{Value, json};

use crate::kernel::{self, hear_own, names, run, told};
use crate::lab::{self, Card, Shape, Speed};

/// The plan of a ramp with these words, on a modelled device.
fn modelled(words: &[&str], model: Value) -> Value {
    kernel::modelled(&[&["ramp"], words].concat(), &model)
}

/// What the page says of the ramp: from the curve to the verdict.
fn said(page: &str) -> String {
    let lines = page.lines().skip_while(|line| !line.starts_with("  curve"));
    let lines: Vec<&str> = lines.take_while(|line| !line.starts_with("  verdict")).collect();
    lines.join("\n")
}

/// The value of one labelled line of the page.
fn labelled<'a>(page: &'a str, label: &str) -> &'a str {
    let start = format!("  {label:9}");
    let line = page.lines().find_map(|line| line.strip_prefix(start.as_str()));
    line.unwrap_or_else(|| panic!("no line '{label}'\n{page}"))
}

#[test]
fn the_knee_is_where_the_model_puts_it() {
    // Eight at a time, each in 100 us: 80 000 a second, and none more for more in flight.
    let plan = modelled(
        &["--p99", "150us", "--max-workers", "1"],
        json!({ "latency": 100_000, "channels": 8 }),
    );
    let heard = run(&plan);
    assert_eq!(heard.record.ending, Ending::Complete, "{heard}");
    heard.expect(Trust::Sound, MeasuredSubject::Tool);
    let said = said(&heard.ran.stdout);
    assert_eq!(said, CURVE, "\n{said}\n{heard}");
    // The same for programs.
    let Some(StudyResult::Ramp(ramp_result)) = &heard.record.outcome else {
        panic!("none\n{heard}")
    };
    let step = |reached: &LoadPoint| (reached.phase.clone(), reached.iodepth, reached.p99_ns);
    assert_eq!(step(&ramp_result.knee), ("q8".into(), 8, Some(Nanos::micros(100))), "{heard}");
    assert_eq!(ramp_result.within.as_ref().map(step), Some(step(&ramp_result.knee)), "{heard}");
}

const CURVE: &str = "  \
  curve    in flight  0                                               80.0k IOPS
                   1  ███████▎
                   2  ██████████████▌
                   4  █████████████████████████████
                   8  ██████████████████████████████████████████████████████████  ← knee
                  16  ██████████████████████████████████████████████████████████
                  32  ██████████████████████████████████████████████████████████

  knee     8 in flight: 80.0k IOPS, p50 100 µs, p99 100 µs; no later step added 10 %
  p99      within 150 µs: 80.0k IOPS at 8 in flight (p99 100 µs)
  limit    unknown: no device counters could be read. No device was involved: this is the
           speed of the program itself.
";

#[test]
fn more_workers_come_at_the_knee() {
    // Each worker of a model has a device of its own: twice as many do twice as much.
    let words = ["--max-depth", "8", "--max-workers", "4"];
    let heard = run(&modelled(&words, json!({ "latency": 100_000, "channels": 2 })));
    let done: Vec<&str> = heard.record.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(done, ["q1", "q2", "q4", "q8", "q2-w2", "q2-w4"]);
    let knee = labelled(&heard.ran.stdout, "knee");
    assert_eq!(knee, "4 workers with 2 in flight each: 80.0k IOPS, p50 100 µs, p99 100 µs");
}

/// Without direct I/O a block that one worker has fetched is in memory for the next.
#[test]
fn workers_together_visit_each_block_once() {
    let _alone = lab::alone();
    let speed = Speed::bytes(16 * lab::MI, 16 * lab::MI);
    let card = lab::need!(Card::new(Shape { speed, ..Shape::btrfs() }));
    let heard = hear_own(
        lab::assay(["ramp", "--step", "1s", "--max-depth", "2", "--max-workers", "2"])
            .words(&["--block", "64k"])
            .word(card.mount()),
    );
    let steps: Vec<_> = heard.record.phases.iter().filter(|phase| phase.name != "file").collect();
    assert!(steps.iter().any(|phase| phase.name.ends_with("-w2")), "{heard}");
    for step in steps {
        let verdict = step.verdict.as_ref().expect("a verdict");
        assert_ne!(verdict.measures, MeasuredSubject::Mixed, "{}\n{heard}", step.name);
    }
}

#[test]
fn the_record_of_a_ramp_is_judged_again() {
    let plan = modelled(&["--max-workers", "1"], json!({ "latency": 100_000, "channels": 3 }));
    let heard = run(&plan);
    let desk = tempfile::tempdir().expect("a folder");
    let file = desk.path().join("record.json");
    fs::write(&file, serde_json::to_string(&heard.record).expect("json")).expect("written");
    let judged = lab::assay(["judge"]).word(&file).env("LC_ALL", "C.UTF-8").env("COLUMNS", "90");
    assert_eq!(judged.run().stdout, heard.ran.stdout);
    let done: Vec<&str> = heard.record.phases.iter().map(|phase| phase.name.as_str()).collect();
    // The rate of four is that of three at a time; two steps in vain end it.
    assert_eq!(done, ["q1", "q2", "q4", "q8", "q16"]);
    assert!(labelled(&heard.ran.stdout, "knee").starts_with("4 in flight: 30.0k IOPS"), "{heard}");
}

#[test]
fn a_rate_that_still_grows_has_no_limit_yet() {
    let plan = modelled(
        &["--max-depth", "8", "--max-workers", "1", "--p99", "50us"],
        json!({ "latency": 100_000, "channels": 64 }),
    );
    let heard = run(&plan);
    let page = &heard.ran.stdout;
    assert_eq!(labelled(page, "knee"), "8 in flight: 80.0k IOPS, p50 100 µs, p99 100 µs");
    assert_eq!(labelled(page, "p99"), "within 50.0 µs: no step");
    assert_eq!(labelled(page, "limit"), "none yet: throughput was still growing at the last step");
}

#[test]
fn a_throttle_is_the_limit_and_is_named() {
    let _beside = lab::beside();
    let card = lab::need!(Card::new(Shape { speed: Speed::both(0, 500), ..Shape::fast() }));
    for left in (0..3).rev() {
        let heard = hear_own(
            lab::assay(["ramp", "--step", "3", "--size", "16M", "--p99", "500ms"])
                .word(card.mount())
                .within(card.rooms()),
        );
        let page = &heard.ran.stdout;
        told("ramp", page);
        let most = heard.record.phases.iter().filter(|phase| phase.name != "file");
        let most = most
            .filter_map(|phase| Some(phase.totals.values().next()?.iops?.0))
            .fold(0.0, f64::max);
        if left > 0 && (heard.disturbed() || !(485.0..515.0).contains(&most)) {
            continue;
        }
        assert!((485.0..515.0).contains(&most), "{most}\n{heard}");
        let limit = labelled(page, "limit");
        assert!(
            limit.starts_with("throttle: cgroup limit of 500 operations per second"),
            "{heard}"
        );
        assert!(page.contains("read_iops_device") || page.contains("io.max"), "{heard}");
        assert_eq!(heard.ran.code(), 0, "{heard}");
        assert!(labelled(page, "p99").starts_with("within 500 ms: "), "{heard}");
        assert!(below(card.mount()).is_empty(), "{heard}");
        break;
    }
}

/// What is below a folder, but for the file system's own.
fn below(folder: &Path) -> Vec<String> {
    let all = names(folder).into_iter().map(|(path, _)| path.display().to_string());
    all.filter(|name| !name.ends_with("lost+found")).collect()
}

#[test]
fn a_slow_device_is_the_limit_itself() {
    let _beside = lab::beside();
    let card = lab::need!(Card::new(Shape { size: 64 << 20, ..Shape::paced() }));
    for left in (0..3).rev() {
        let heard = hear_own(
            lab::assay(["ramp", "--size", "8M", "--max-depth", "32"])
                .word(card.mount())
                .within(card.rooms()),
        );
        told("ramp", &heard.ran.stdout);
        let limit = labelled(&heard.ran.stdout, "limit").to_string();
        if left > 0 && (heard.disturbed() || !limit.starts_with("device: ")) {
            continue;
        }
        assert!(
            limit.starts_with(&format!("device: {} was saturated", card.leaf_name())),
            "{heard}"
        );
        break;
    }
}

#[test]
fn a_held_cpu_is_the_limit() {
    let _alone = lab::alone();
    // Served by this process, so that a busy disk of the host is not what is waited for.
    let card = lab::need!(Card::new(Shape { speed: Speed::FREE, ..Shape::paced() }));
    let group = lab::need!(lab::limit_cpu(1));
    for left in (0..3).rev() {
        let heard = hear_own(
            lab::assay(["ramp", "--size", "16M", "--max-depth", "64"])
                .word(card.mount())
                .within(group.rooms()),
        );
        told("ramp", &heard.ran.stdout);
        let limit = labelled(&heard.ran.stdout, "limit");
        if left > 0 && !limit.starts_with("CPU: ") {
            continue;
        }
        assert!(limit.starts_with("CPU: the workers used "), "{heard}");
        break;
    }
}

#[test]
fn ctrl_c_keeps_the_steps_that_were_done() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("record.json");
    let report = folder.path().join("report.html");
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["ramp", "--size", "4M", "--step", "1", "--record"])
        .arg(&file)
        .arg("--report")
        .arg(&report)
        .arg(folder.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("it runs");
    let begun = std::time::Instant::now();
    let phases =
        || assay_record::record::load(&file).map_or(0, |record: Record| record.phases.len());
    while phases() < 3 {
        assert!(begun.elapsed().as_secs() < 60, "no three phases");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("sent");
    let mut page = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().expect("a pipe"), &mut page)
        .expect("text");
    assert_eq!(child.wait().expect("ended").code(), Some(130), "{page}");
    let record = assay_record::record::load(&file).expect("a record");
    assert_eq!(record.ending, Ending::Interrupted(2));
    assert!(page.contains("curve    in flight"), "{page}");
    assert!(page.contains("SIGINT (Ctrl-C)"), "{page}");
    let left = names(folder.path());
    assert_eq!(left.len(), 2, "only the record and the report: {left:?}");
    let report = std::fs::read_to_string(report).expect("a report");
    assert!(report.contains("<p>Ended: by SIGINT (Ctrl-C) in phase "), "{report}");
}
