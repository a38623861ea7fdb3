//! The same words to fio and to `assay fio` where something goes wrong: the same jobs fail, with the same errors,
//! counts and exit status.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::lab::{self, MI, Memory};

/// Runs one of the two in a folder.
fn run(theirs: bool, folder: &Path, line: &str) -> Output {
    let (program, first): (&str, &[&str]) = match theirs {
        true => ("fio", &[]),
        false => (env!("CARGO_BIN_EXE_assay"), &["fio"]),
    };
    Command::new(program)
        .args(first)
        .args(line.split(' '))
        .env("ASSAY_DIALECT", "fio-3.33")
        .env("ASSAY_SETTLE", "no")
        .current_dir(folder)
        .output()
        .expect("it runs")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The report as a document: fio says some things before it.
fn document(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let start = text.find('{').unwrap_or_else(|| panic!("{output:?}"));
    serde_json::from_str(&text[start..]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Status, and of each job its name, error, passed errors, I/Os and bytes.
fn came_to(output: &Output) -> (Option<i32>, Vec<String>) {
    let document = document(output);
    let jobs = document["jobs"].as_array().expect("jobs");
    let each = jobs.iter().map(|job| {
        let moved = ["read", "write", "trim"]
            .map(|way| format!("{}/{}", job[way]["total_ios"], job[way]["io_bytes"]));
        let passed = [&job["total_err"], &job["first_error"]];
        format!("{} err={} {passed:?} {moved:?}", job["jobname"], job["error"])
    });
    (output.status.code(), each.collect())
}

/// Both do the same with a line, each in a folder of its own that is full after 1 MiB.
fn same_when_full(line: &str) -> (Option<i32>, Vec<String>) {
    let done = [true, false].map(|theirs| {
        let full = Memory::tmpfs_of(MI).expect("memory");
        run(theirs, full.mount(), &format!("--output-format=json {line}"))
    });
    let [theirs, ours] = done.each_ref().map(came_to);
    assert_eq!(ours, theirs, "{line}: {}", said(&done[1]));
    ours
}

#[test]
fn an_error_is_that_of_the_job_that_met_it() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    lab::need!(Memory::tmpfs_of(MI));
    let write = "--rw=write --bs=4k --fallocate=none";
    let (status, jobs) = same_when_full(&format!(
        "{write} --name=good --size=256k --name=bad --size=4m --startdelay=1 --name=after --stonewall --filename=bad.0.0 --size=4m"
    ));
    assert_eq!(status, Some(2));
    let failed: Vec<bool> = jobs.iter().map(|job| job.contains("err=28")).collect();
    assert_eq!(failed, [false, true, true], "{jobs:?}");
    // One goes on while another fails.
    let (_, jobs) = same_when_full(&format!(
        "{write} --name=bad --size=4m --name=good --ioengine=null --size=1m --startdelay=1"
    ));
    assert!(jobs[1].contains("256/1048576"), "{jobs:?}");
    // One that ends the others with it.
    let (_, jobs) = same_when_full(&format!(
        "{write} --exitall_on_error --name=bad --size=4m --name=good --ioengine=null --size=1m --startdelay=1"
    ));
    assert!(jobs[1].contains("0/0"), "{jobs:?}");
    // One alone.
    same_when_full(&format!("{write} --name=a --size=2m"));
    same_when_full("--rw=write --bs=4k --name=a --size=2m --ioengine=libaio --iodepth=4");

    // Which of several gets the room is chance; that each of them fails is not.
    for format in ["normal", "json"] {
        let each = [true, false].map(|theirs| {
            let full = Memory::tmpfs_of(MI).expect("memory");
            let line = format!(
                "--output-format={format} {write} --size=2m --numjobs=3 --group_reporting --name=s"
            );
            run(theirs, full.mount(), &line)
        });
        for output in &each {
            let said = said(output);
            assert_eq!(output.status.code(), Some(3), "{said}");
            let lines = said.lines().filter(|line| line.starts_with("fio: io_u error on file s."));
            let known = |line: &str| {
                line.contains(": No space left on device: write offset=")
                    && line.ends_with(", buflen=4096")
            };
            assert_eq!(lines.filter(|line| known(line)).count(), 3, "{said}");
            let told = String::from_utf8_lossy(&output.stdout);
            if format == "normal" {
                let told = told.lines().filter(|line| line.starts_with("fio: pid="));
                assert_eq!(
                    told.filter(|line| line.contains(", err=28/file:")).count(),
                    3,
                    "{each:?}"
                );
            }
        }
    }
}
