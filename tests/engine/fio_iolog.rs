//! Lists of I/Os: what `assay fio` writes is what fio writes, and each does what the other has listed.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::lab::{self, Memory};

const OURS: &str = env!("CARGO_BIN_EXE_assay");

/// Runs fio, or the dialect, in a folder; what it answers as JSON.
fn run(ours: bool, folder: &Path, line: &str) -> Value {
    let mut command = match ours {
        true => Command::new(OURS),
        false => Command::new("fio"),
    };
    let version = Command::new("fio").arg("--version").output().expect("fio runs").stdout;
    let out = command
        .args(ours.then_some("fio"))
        .args(line.split(' '))
        .arg("--output-format=json")
        .env("ASSAY_DIALECT", String::from_utf8_lossy(&version).trim())
        .current_dir(folder)
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&out.stdout);
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{line}: {said}");
    let start = text.find('{').unwrap_or_else(|| panic!("{line}: {text}{said}"));
    serde_json::from_str(&text[start..]).unwrap_or_else(|error| panic!("{line}: {error}\n{text}"))
}

/// The I/Os of a list, those of each file in their order; where a flush was thought to be is left out, and that
/// fio sends as many as may be in flight.
fn listed(list: &Path) -> Vec<String> {
    let text = fs::read_to_string(list).expect("a list");
    assert!(text.starts_with("fio version 3 iolog\n"), "{text}");
    let mut ios: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [_, file, action, offset, bytes] = words[..] else { continue };
        let place = if action.ends_with("sync") { "" } else { offset };
        ios.push((file.into(), format!("{file} {action} {place} {bytes}")));
    }
    ios.sort_by(|one, other| one.0.cmp(&other.0));
    ios.dedup_by(|one, other| one == other && one.1.contains("sync "));
    ios.into_iter().map(|(_, io)| io).collect()
}

/// I/Os and bytes of all jobs: reads, writes and trims.
fn moved(document: &Value) -> [(u64, u64); 3] {
    let jobs = document["jobs"].as_array().expect("jobs");
    ["read", "write", "trim"].map(|way| {
        let sum = |key: &str| jobs.iter().filter_map(|job| job[way][key].as_u64()).sum();
        (sum("total_ios"), sum("io_bytes"))
    })
}

const WRITTEN: &[&str] = &[
    "--name=a --filename=f --size=64k --bs=4k --rw=randwrite --fsync=2",
    "--name=a --size=128k --bs=4k --rw=randrw --ioengine=libaio --iodepth=4",
    "--name=a --size=128k --bs=4k --rw=write --ioengine=io_uring --iodepth=8 --fdatasync=8",
    "--name=a --size=256k --bsrange=1k-16k --rw=randrw --nrfiles=2",
    "--name=a --size=64k --bs=4k --rw=randread --numjobs=2",
    "--name=a --size=64k --bs=4k --rw=write --verify=crc32c",
    "--name=a --ioengine=null --size=64k --bs=4k --rw=randrw",
];

#[test]
fn the_lists_that_both_write_are_the_same_and_fio_does_what_ours_says() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    lab::need!(Memory::tmpfs());
    for line in WRITTEN {
        let [ours, theirs] = [true, false].map(|ours| {
            let folder = Memory::tmpfs().expect("memory");
            let document = run(ours, &folder.path("."), &format!("{line} --write_iolog=l.log"));
            (folder, document)
        });
        let [mine, other] = [&ours, &theirs].map(|(folder, _)| listed(&folder.path("l.log")));
        assert_eq!(mine, other, "{line}");
        assert!(mine.len() >= 16, "{line}: {mine:?}");
        if line.contains("null") {
            continue;
        }
        let again =
            run(false, &ours.0.path("."), "--name=r --read_iolog=l.log --replay_no_stall=1");
        let count = |action: &str| mine.iter().filter(|io| io.contains(action)).count() as u64;
        let did = moved(&again);
        assert_eq!([did[0].0, did[1].0], [count(" read "), count(" write ")], "{line}");
        let left = fs::read_dir(ours.0.path(".")).expect("a folder").flatten();
        let left = left.map(|entry| entry.file_name().to_string_lossy().into_owned());
        assert!(!left.into_iter().any(|name| name.contains("assay")), "{line}");
    }
}
