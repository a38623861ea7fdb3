//! Reports while jobs run: every so often, and when a signal asks for one.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::lab;

/// A line of ours in a folder of its own, not yet started.
fn typed(folder: &tempfile::TempDir, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.arg("fio").args(line.split(' ')).current_dir(folder.path());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What a line prints.
fn printed(line: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let out = typed(&folder, line).output().expect("it runs");
    assert!(out.status.success(), "{line}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("text")
}

/// Documents one after the other, as fio writes them.
fn documents(text: &str) -> Vec<Value> {
    let all = serde_json::Deserializer::from_str(text).into_iter();
    all.map(|document| document.unwrap_or_else(|error| panic!("{error}: {text}"))).collect()
}

#[test]
fn documents_come_one_after_the_other_and_the_last_is_the_whole() {
    let _alone = lab::alone();
    let text = printed(
        "--status-interval=300ms --output-format=json --ioengine=null --size=1g --rw=randread --bs=4k --rate_iops=2000 --runtime=1s --time_based --name=a --numjobs=2 --name=b --stonewall --rw=randrw",
    );
    let all = documents(&text);
    assert!((6..=8).contains(&all.len()), "{}", all.len());
    let (last, running) = all.split_last().expect("documents");
    let ios = |document: &Value, job: usize| document["jobs"][job]["read"]["total_ios"].as_u64();
    let mut before = 0;
    for document in running {
        let first = &document["jobs"][0];
        let read = &first["read"];
        let done = ios(document, 0).expect("I/Os");
        assert!(done >= before && done > 0, "{before} and then {done}");
        before = done;
        let iops = read["iops"].as_f64().expect("a rate");
        assert!((1500.0..2500.0).contains(&iops), "{read}");
        let percentile = read["clat_ns"]["percentile"]["50.000000"].as_u64().expect("a median");
        let mean = read["clat_ns"]["mean"].as_f64().expect("a mean");
        assert!(percentile > 0 && mean > 0.0, "{read}");
        assert!(document["assay"]["so_far"].is_string() && document["assay"]["verdict"].is_null());
    }
    // Clones are reported each by itself, and those that have not begun not at all.
    assert_eq!(running[0]["jobs"].as_array().map(Vec::len), Some(2));
    let later = &running[running.len() - 1];
    assert_eq!(later["jobs"].as_array().map(Vec::len), Some(3));
    assert_eq!(later["jobs"][0]["eta"], 0);
    assert_eq!(ios(later, 0), ios(last, 0), "a job that is done stays as it was");
    let mixed = &later["jobs"][2];
    assert!(mixed["write"]["total_ios"].as_u64() > Some(0), "{mixed}");
    // What part of the latencies is that of reads is not known yet.
    assert_eq!(mixed["read"]["clat_ns"]["N"], 0, "{mixed}");
    assert!(last["assay"]["verdict"]["trust"].is_string(), "{last}");
    assert!(last["jobs"][2]["read"]["clat_ns"]["N"].as_u64() > Some(0), "{last}");
}

#[test]
fn reports_for_people_come_whole() {
    let _alone = lab::alone();
    let text = printed(
        "--status-interval=400ms --eta=never --ioengine=null --size=1g --rw=write --bs=4k --rate=4m --runtime=1s --time_based --name=w",
    );
    assert_eq!(text.matches("\nw: (groupid=0, jobs=1): err= 0: pid=").count(), 3, "{text}");
    assert_eq!(text.matches("\nRun status group 0 (all jobs):\n  WRITE: bw=").count(), 3, "{text}");
    assert_eq!(text.matches("clat percentiles").count(), 3, "{text}");
    let without = printed("--ioengine=null --size=1m --rw=write --bs=4k --name=w");
    assert_eq!(without.matches("Run status group").count(), 1, "{without}");
}

#[test]
fn a_signal_asks_for_a_report() {
    let _alone = lab::alone();
    let folder = tempfile::tempdir().expect("a folder");
    let child = typed(
        &folder,
        "--output-format=json --ioengine=null --size=1g --rw=read --bs=4k --rate_iops=1000 --runtime=1500ms --time_based --name=s",
    );
    let child = { child }.spawn().expect("it runs");
    std::thread::sleep(Duration::from_millis(700));
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::USR1).expect("sent");
    let out = child.wait_with_output().expect("it ends");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let all = documents(&String::from_utf8_lossy(&out.stdout));
    assert_eq!(all.len(), 2);
    let ios = |document: &Value| document["jobs"][0]["read"]["total_ios"].as_u64().expect("I/Os");
    assert!(ios(&all[0]) > 100 && ios(&all[0]) < ios(&all[1]), "{} {}", ios(&all[0]), ios(&all[1]));
}
