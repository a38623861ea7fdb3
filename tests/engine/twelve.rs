//! Twelve jobs that fio and this program both can do: the same number of I/Os and bytes, at a rate
//! of the same order. `make bench` compares the rates as such.

use std::path::Path;
use std::process::Command;

use assay_plan::plan::Plan;
use assay_run::{self as run, RunOptions};
use serde_json::{Value, json};

use crate::lab::{self, MI, Memory};

/// Enough for fio, which counts milliseconds.
const SIZE: u64 = 64 * MI;
/// As many I/Os as in these passes: fio's strided reads begin again until they are that many.
const PASSES: u64 = 2;
/// Turns that the two take at the most: what else the machine has to do strikes one of them at times, and a loss
/// that is no noise is there in each.
const TURNS: usize = 12;

/// Of fio's rate: these are programs built for tests.
const ENOUGH: f64 = 0.5;

/// What both are told: a name, fio's words, and what differs from a plan of 4 KiB reads by psync.
type Twin = (&'static str, &'static [&'static str], &'static [(&'static str, &'static str)]);

const TWELVE: [Twin; 12] = [
    ("reads, psync", &["--ioengine=psync", "--rw=read"], &[]),
    ("writes, psync", &["--ioengine=psync", "--rw=write"], &[("action", "\"write\"")]),
    ("random reads, psync", &["--ioengine=psync", "--rw=randread"], &[("order", "\"shuffled\"")]),
    (
        "random writes, sync",
        &["--ioengine=sync", "--rw=randwrite"],
        &[("method", "\"sync\""), ("action", "\"write\""), ("order", "\"shuffled\"")],
    ),
    (
        "random reads, pvsync2",
        &["--ioengine=pvsync2", "--rw=randread"],
        &[("method", "\"vectored\""), ("order", "\"shuffled\"")],
    ),
    (
        "random reads, mmap",
        &["--ioengine=mmap", "--rw=randread"],
        &[("method", "\"mmap\""), ("order", "\"shuffled\"")],
    ),
    (
        "random writes, mmap",
        &["--ioengine=mmap", "--rw=randwrite"],
        &[("method", "\"mmap\""), ("action", "\"write\""), ("order", "\"shuffled\"")],
    ),
    (
        "random reads, io_uring q16",
        &["--ioengine=io_uring", "--iodepth=16", "--rw=randread"],
        &[("method", "\"io_uring\""), ("iodepth", "16"), ("order", "\"shuffled\"")],
    ),
    (
        "random reads, libaio q16",
        &["--ioengine=libaio", "--iodepth=16", "--rw=randread"],
        &[("method", "\"libaio\""), ("iodepth", "16"), ("order", "\"shuffled\"")],
    ),
    (
        "reads of 64 KiB, io_uring q4",
        &["--ioengine=io_uring", "--iodepth=4", "--rw=read", "--bs=64k"],
        &[("method", "\"io_uring\""), ("iodepth", "4"), ("block", "65536")],
    ),
    (
        "reads every 16 KiB, psync",
        &["--ioengine=psync", "--rw=read:12k"],
        &[("order", "{\"spaced\":{\"stride\":16384}}")],
    ),
    (
        "zipf reads, psync",
        &["--ioengine=psync", "--rw=randread", "--random_distribution=zipf:1.1"],
        &[("order", "{\"zipf\":{\"theta\":1.1}}")],
    ),
];

/// I/Os, bytes, and I/Os per second.
type Done = (u64, u64, f64);

fn ours(path: &Path, changes: &[(&str, &str)]) -> Done {
    let value = |word: &str, usual: Value| {
        let change = changes.iter().find(|(name, _)| *name == word);
        change.map_or(usual, |(_, text)| serde_json::from_str(text).expect("json"))
    };
    let action = value("action", json!("read"));
    let block = value("block", json!(4096)).as_u64().expect("a size");
    let plan: Plan = serde_json::from_value(json!({
        "title": "twelve", "origin": { "dialect": "plan" }, "seed": 3,
        "phases": [{ "name": "p", "jobs": [{
            "name": "j",
            "work": { "blocks": {
                "target": { "file": { "path": path, "size": { "exactly": SIZE } } },
                "method": value("method", json!("psync")),
                "iodepth": value("iodepth", json!(1)),
                "pattern": {
                    "mix": [{ "action": action, "weight": 1 }],
                    "order": value("order", json!("forward")),
                    "block": { "fixed": block },
                    "fill": "zero",
                },
            } },
            "stop": { "first_of": [{ "ops": PASSES * SIZE / block }] },
        }] }],
    }))
    .expect("a plan");
    let record = run::run(&plan, &RunOptions::default(), &mut ()).expect("a run");
    assert_eq!(record.phases[0].faults, []);
    let total = record.phases[0].totals.values().next().expect("a total");
    (total.ops.0, total.bytes.0, total.iops.map_or(0.0, |iops| iops.0))
}

fn theirs(path: &Path, words: &[&str]) -> Done {
    let out = Command::new("fio")
        .args(["--name=twelve", "--bs=4k", "--output-format=json", "--overwrite=1"])
        .arg("--zero_buffers")
        .arg(format!("--filename={}", path.display()))
        .args([format!("--size={SIZE}"), format!("--loops={PASSES}")])
        .args(words)
        .current_dir(path.parent().expect("a folder"))
        .output()
        .expect("fio runs");
    let text = String::from_utf8_lossy(&out.stdout);
    let start = text.find('{').unwrap_or_else(|| {
        panic!("fio {words:?}: {text}{}", String::from_utf8_lossy(&out.stderr));
    });
    let report: Value = serde_json::from_str(&text[start..]).expect("fio's report");
    let [read, write] = ["read", "write"].map(|way| &report["jobs"][0][way]);
    let total = if read["total_ios"] == 0 { write } else { read };
    (
        total["total_ios"].as_u64().expect("a number of I/Os"),
        total["io_bytes"].as_u64().expect("bytes"),
        total["iops"].as_f64().expect("a rate"),
    )
}

#[test]
fn the_same_work_as_fio() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    let memory = lab::need!(Memory::tmpfs());
    let path = memory.path("x");
    std::fs::write(&path, vec![0xee; SIZE as usize]).expect("a file");
    for (name, words, changes) in TWELVE {
        let mut best: f64 = 0.0;
        for _ in 0..TURNS {
            let (mine, fios) = (ours(&path, changes), theirs(&path, words));
            assert_eq!((mine.0, mine.1), (fios.0, fios.1), "{name}: I/Os and bytes");
            eprintln!("{name:32} {:>9.0}/s, fio {:>9.0}/s", mine.2, fios.2);
            best = best.max(mine.2 / fios.2);
            if best > ENOUGH {
                break;
            }
        }
        assert!(best > ENOUGH, "{name}: {best:.2} of fio's rate at the best");
    }
}
