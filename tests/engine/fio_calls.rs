//! What single I/Os of a job carry with them, as strace sees it: the same from fio and from `assay fio`.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::fio_pair::{program, report};
use crate::lab;

/// What each call that submits says of its I/O, but for its buffer and its file.
fn submitted(theirs: bool, folder: &Path, line: &str) -> Vec<String> {
    let trace = folder.join("trace");
    let traced = program(theirs, folder);
    let mut command = Command::new("strace");
    command.args(["-f", "-v", "-e", "trace=io_submit", "-o"]).arg(&trace);
    command.arg(traced.get_program()).args(traced.get_args()).args(line.split(' '));
    command.envs(traced.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.current_dir(folder).output().expect("strace");
    assert!(output.status.success(), "{line}: {output:?}");
    let text = fs::read_to_string(&trace).expect("a trace");
    let carried = |line: &str| {
        let (_, block) = line.split_once("[{aio_data=")?;
        let kept = ["aio_lio_opcode", "aio_reqprio", "aio_rw_flags", "aio_offset", "aio_flags"];
        let parts = block.split("aio_").map(|part| format!("aio_{}", part.trim_end_matches(", ")));
        let parts = parts.filter(|part| kept.iter().any(|kept| part.starts_with(kept)));
        Some(parts.map(|part| part.replace("}]) = 1", "")).collect::<Vec<_>>().join(" "))
    };
    text.lines().filter_map(carried).collect()
}

/// A folder with a file `t` of 1 MiB.
fn with_a_file() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("t"), vec![7; 1 << 20]).expect("a file");
    folder
}

#[test]
fn ios_carry_the_priorities_and_flags_that_fio_gives_them() {
    lab::need!(lab::need_root());
    lab::need!(lab::need_tool("strace", "strace"));
    let folder = with_a_file();
    let usual =
        "--name=c --filename=t --bs=4k --size=1m --ioengine=libaio --thread --number_ios=60";
    for line in [
        "--rw=randread --cmdprio_percentage=20",
        "--rw=randrw --cmdprio_percentage=0,50 --cmdprio_class=2 --cmdprio=6",
        "--rw=randread --bssplit=4k/50:8k/50 --cmdprio_bssplit=4k/40/2/7:8k/10/1/0:8k/20",
        "--rw=randread --nowait=1 --ignore_error=EAGAIN",
    ] {
        let line = format!("{usual} {line}");
        let [theirs, ours] = [true, false].map(|theirs| submitted(theirs, folder.path(), &line));
        // What would have had to wait is none of the number.
        let theirs = theirs.get(..60).unwrap_or_else(|| panic!("{line}: {theirs:?}"));
        assert_eq!(theirs, &ours[..60], "{line}");
    }
}

#[test]
fn latencies_are_told_by_priority() {
    lab::need!(lab::need_root());
    lab::need!(lab::need_tool("fio", "fio"));
    let folder = with_a_file();
    let usual = "--name=c --filename=t --bs=4k --size=1m --ioengine=libaio --log_prio=1";
    for (line, seen) in [
        ("--rw=randread --cmdprio_percentage=20", 2),
        ("--rw=randrw --cmdprio_percentage=0,50 --cmdprio_class=2 --cmdprio=6", 2),
        ("--rw=randread --bssplit=8k/50:4k/50 --cmdprio_bssplit=8k/10/1/0:4k/40/2/7:16k/20", 3),
        ("--rw=randrw --cmdprio_percentage=30 --prioclass=2 --prio=4 --lat_percentiles=1", 4),
        ("--rw=randread --cmdprio_percentage=20 --numjobs=2 --group_reporting", 2),
        ("--rw=randread --cmdprio_percentage=100", 0),
        ("--rw=randread --prioclass=3", 0),
    ] {
        let line = format!("{usual} {line}");
        let [theirs, ours] = [true, false].map(|theirs| {
            let prefix = if theirs { "theirs" } else { "ours" };
            let line = format!("{line} --write_lat_log={prefix}");
            let report = report(theirs, folder.path(), &line);
            let mut told = Vec::new();
            for way in ["read", "write"] {
                for of in report["jobs"][0][way]["prios"].as_array().into_iter().flatten() {
                    let latency = ["clat_ns", "lat_ns"].map(|kind| {
                        let of = &of[kind];
                        assert!(of["N"].is_null() || of["percentile"].is_object(), "{of}");
                        of["N"].clone()
                    });
                    told.push(format!("{way} {} {} {latency:?}", of["prioclass"], of["prio"]));
                }
            }
            let log = folder.path().join(format!("{prefix}_clat.1.log"));
            let log = fs::read_to_string(log).expect("a log");
            let last = log.lines().map(|line| line.rsplit(", ").next().map(String::from));
            (told, last.collect::<Vec<_>>())
        });
        assert_eq!(ours, theirs, "{line}");
        assert_eq!(ours.0.len(), seen, "{line}: {ours:?}");
    }
}
