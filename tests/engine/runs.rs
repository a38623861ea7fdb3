//! Plans that are run: in this process, or as a program that strace counts the calls of.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use assay_plan::error::Error;
use assay_plan::plan::Plan;
use assay_record::record::{Ending, Record};
use assay_run::{self as run, RunOptions};

/// Runs it here, with nobody looking on.
pub fn go(plan: &Plan) -> Result<Record, Error> {
    run::run(plan, &RunOptions::default(), &mut ())
}

/// The record of a run that came to its end without a fault.
pub fn whole(plan: &Plan) -> Record {
    let record = go(plan).expect("a run");
    let faults: Vec<_> = record.phases.iter().flat_map(|phase| &phase.faults).collect();
    assert_eq!((&record.ending, faults.len()), (&Ending::Complete, 0), "{faults:?}");
    record
}

/// Why it is refused.
pub fn refused(plan: &Plan) -> String {
    match go(plan) {
        Err(Error::Refusal(refusal)) => refusal.to_string(),
        other => panic!("not refused: {other:?}"),
    }
}

/// What strace writes of the run of a plan (JSON), with options of its own; an error where there is none,
/// or nothing may be traced.
pub fn traced(plan: &str, options: &[&str]) -> io::Result<String> {
    let desk = tempfile::tempdir()?;
    let (file, trace) = (desk.path().join("plan"), desk.path().join("trace"));
    std::fs::write(&file, plan)?;
    let out = Command::new("strace")
        .arg("-f")
        .args(options)
        .arg("-o")
        .arg(&trace)
        .arg(env!("CARGO_BIN_EXE_assay"))
        .arg("run")
        .arg(&file)
        .args(overwritten(&file))
        .output()?;
    let said = String::from_utf8_lossy(&out.stderr);
    if said.contains("ptrace") {
        return Err(io::Error::other(said.into_owned()));
    }
    assert_ne!(out.status.code(), Some(2), "{said}");
    Ok(String::from_utf8_lossy(&std::fs::read(&trace)?).into_owned())
}

/// What is looked at as often as time passes, or as much as else runs: processes, the machine's heat, limits, queues.
const BY_TIME: [&str; 2] = ["/proc/", "/sys/"];

/// System calls of a run by name, as strace sees them, but for those on what is looked at [`BY_TIME`].
/// `None`, and `what` is said to be skipped, where there is no strace.
pub fn calls(plan: &Plan, what: &str) -> Option<BTreeMap<String, u64>> {
    let plan = serde_json::to_string(plan).expect("json");
    let skipped = |error| eprintln!("SKIP {what}: strace: {error}");
    let trace = traced(&plan, &["-qq", "-y", "-e", "signal=none"]).map_err(skipped).ok()?;
    let mut calls = BTreeMap::new();
    for line in trace.lines() {
        // `1234  openat(3, "0001", ...) = 4`; what was interrupted is resumed in a line without a name.
        let Some((name, words)) = line.split_once(' ').and_then(|(_, call)| call.split_once('('))
        else {
            continue;
        };
        if !BY_TIME.iter().any(|place| words.contains(place)) {
            *calls.entry(name.trim_start().to_string()).or_default() += 1;
        }
    }
    Some(calls)
}

/// What is there already and a plan writes over: the words behind it have to name that.
fn overwritten(file: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(file).expect("a plan");
    let mut plan = serde_json::from_str(&text).expect("a plan");
    let losses = assay_run::allow(&mut plan, &[]).expect("losses");
    losses.into_iter().map(|loss| loss.path).collect()
}
