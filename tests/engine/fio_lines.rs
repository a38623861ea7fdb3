//! What stands around fio's figures: lines before a run, logs, lists and words about what went wrong.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::fio_pair::{document, program, report, run, said};
use crate::lab::{self, MI, Memory};

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The lines before the report, without the one of the version.
fn opening(theirs: bool, line: &str) -> Vec<String> {
    let folder = Memory::tmpfs().expect("memory");
    let text = printed(&run(theirs, &folder.path("."), line));
    let lines = text.lines().take_while(|line| !line.is_empty());
    lines.filter(|line| !line.starts_with("fio-3.")).map(String::from).collect()
}

#[test]
fn files_that_are_made_are_said_once_by_the_job_that_makes_them() {
    lab::need!(lab::need_tool("fio", "fio"));
    lab::need!(Memory::tmpfs());
    for (line, made) in [
        ("--name=a --rw=write --size=1m --numjobs=3", 3),
        ("--name=a --rw=write --size=3m --nrfiles=3", 1),
        ("--filename=s --size=1m --name=a --rw=write --name=b --rw=read --stonewall", 1),
        ("--filename=s --size=1m --fallocate=none --name=a --rw=write --numjobs=2", 2),
        ("--filename=s --name=a --rw=write --size=1m --name=b --rw=write --size=4m", 2),
        ("--name=a --rw=write --size=1m --create_on_open=1", 0),
        ("--name=a --ioengine=null --size=1m", 0),
        ("--name=a --ioengine=falloc --rw=write --size=1m", 1),
        ("--name=a --ioengine=filestat --nrfiles=4 --filesize=4k --numjobs=2", 2),
        ("--name=a --ioengine=filedelete --nrfiles=4 --filesize=4k", 1),
        ("--name=a --ioengine=filecreate --nrfiles=4 --filesize=4k", 0),
    ] {
        let ours = opening(false, line);
        assert_eq!(ours, opening(true, line), "{line}");
        let laid = ours.iter().filter(|line| line.contains(": Laying out IO file"));
        assert_eq!(laid.count(), made, "{line}: {ours:?}");
    }
    let cpu = "--name=a --ioengine=cpuio --cpuload=20 --cpuchunks=1000 --runtime=1 --numjobs=2";
    let line = "a (noop): ioengine=cpuio, cpuload=20, cpucycle=1000";
    assert_eq!(opening(false, cpu), ["...", "Starting 2 processes", line, line]);
}

#[test]
fn what_fio_tells_of_words_is_told_in_each_format() {
    lab::need!(Memory::tmpfs());
    let verified = "--name=a --filename=s --rw=write --size=64k --verify=md5 --verifysort=1";
    let line = format!("{verified} --numjobs=2 --output-format=json --stats=0");
    let folder = Memory::tmpfs().expect("memory");
    let text = printed(&run(false, &folder.path("."), &line));
    let told = [
        "Option verifysort is deprecated",
        "fio: multiple writers may overwrite blocks that belong to other jobs. This can cause verification failures.",
    ];
    assert_eq!(text.lines().take(2).collect::<Vec<_>>(), told);
    let endless = format!("{verified} --time_based --runtime=1");
    let folder = Memory::tmpfs().expect("memory");
    let text = printed(&run(false, &folder.path("."), &endless));
    let never =
        "fio: verification read phase will never start because write phase uses all of runtime";
    assert!(text.lines().any(|line| line == never), "{text}");
}

#[test]
fn engines_without_a_disk_have_no_disk_stats() {
    lab::need!(lab::need_tool("fio", "fio"));
    let has = |theirs: bool, line: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        printed(&run(theirs, folder.path(), line)).contains("Disk stats")
    };
    for engine in ["null", "filecreate", "dircreate"] {
        let line = format!("--name=a --ioengine={engine} --nrfiles=2 --filesize=4k --rw=write");
        assert!(!has(true, &line) && !has(false, &line), "{engine}");
    }
}

#[test]
fn directions_of_one_job_become_one() {
    lab::need!(lab::need_tool("fio", "fio"));
    let folder = lab::need!(Memory::tmpfs());
    let line = "--name=a --rw=randrw --bs=4k --size=1m --unified_rw_reporting=1";
    let mixed = |theirs: bool| {
        let report = report(theirs, &folder.path("."), line);
        let job = &report["jobs"][0];
        assert!(job.get("read").is_none() && job.get("write").is_none(), "{job}");
        ["total_ios", "io_bytes"].map(|key| job["mixed"][key].as_u64())
    };
    assert_eq!(mixed(false), [Some(256), Some(MI)]);
    assert_eq!(mixed(true), mixed(false));
    let terse = |theirs: bool| {
        let output = run(theirs, &folder.path("."), &format!("{line} --output-format=terse"));
        let text = printed(&output);
        let fields: Vec<_> = text.trim().split(';').map(String::from).collect();
        (fields.len(), fields[5].clone())
    };
    assert_eq!(terse(false).1, "1024");
    let text = printed(&run(false, &folder.path("."), line));
    assert!(text.contains("  mixed: IOPS=") && text.contains("  MIXED: bw="), "{text}");
}

#[test]
fn logs_have_what_the_report_counts_and_nothing_of_the_ramp() {
    let folder = lab::need!(Memory::tmpfs());
    let line = "--name=a --rw=randread --bs=4k --size=1m --rate_iops=400 --ramp_time=1 --runtime=1 --time_based --write_lat_log=l --write_iops_log=l --write_bw_log=l --numjobs=2 --stonewall";
    let report = report(false, &folder.path("."), line);
    for (number, job) in report["jobs"].as_array().expect("jobs").iter().enumerate() {
        let ios = job["read"]["total_ios"].as_u64().expect("I/Os");
        for kind in ["lat", "clat", "iops", "bw"] {
            let name = format!("l_{kind}.{}.log", number + 1);
            let text = fs::read_to_string(folder.path(&name)).expect(&name);
            assert_eq!(text.lines().count() as u64, ios, "{name}");
            let at = |line: &str| line.split(',').next().and_then(|at| at.parse::<u64>().ok());
            assert!(text.lines().next().and_then(at).is_some_and(|at| at < 900), "{name}: {text}");
        }
    }
}

/// I/Os that one worker sends one after the other take no longer together than the run.
#[test]
fn arrivals_by_chance_count_from_sending_and_what_they_waited_is_said() {
    let folder = lab::need!(Memory::tmpfs());
    let line = "--name=a --rw=randread --bs=4k --size=1m --runtime=1 --time_based --rate_process=poisson --rate_iops=50000000 --write_lat_log=l --output-format=json";
    let output = program(false, &folder.path("."))
        .args(line.split(' '))
        .env("ASSAY_RECORD", "record.json")
        .output()
        .expect("it runs");
    let report = document(&output);
    let read = &report["jobs"][0]["read"];
    let number = |value: &Value| value.as_f64().expect("a number");
    let lat = &read["lat_ns"];
    let all = number(&lat["mean"]) * number(&lat["N"]);
    assert!(all < number(&read["runtime"]) * 1.1e6, "{lat}");
    let text = fs::read_to_string(folder.path("l_lat.1.log")).expect("a log");
    let value = |line: &str| line.split(", ").nth(1).and_then(|value| value.parse::<u64>().ok());
    let logged: u64 = text.lines().filter_map(value).sum();
    assert!((logged as f64) < number(&read["runtime"]) * 1.1e6, "{logged}");
    let words = said(&output);
    let waited = "from when it was due, because I/Os waited for those before them";
    assert!(words.contains(waited), "{words}");
    let record = fs::read_to_string(folder.path("record.json")).expect("a record");
    let record: Value = serde_json::from_str(&record).expect("JSON");
    let due = number(&record["phases"][0]["totals"]["read"]["lat_ns"]["mean"]);
    assert!(due > 2.0 * number(&lat["mean"]), "{due} {lat}");
}

/// Where each stands is said; most of the file being right, all of it was written.
#[test]
fn each_wrong_block_that_is_passed_over_is_said() {
    lab::need!(lab::need_tool("fio", "fio"));
    let folder = lab::need!(Memory::tmpfs());
    let write = "--name=a --filename=v --rw=write --bs=4k --size=8m --verify=crc32c --do_verify=0";
    assert!(run(true, &folder.path("."), write).status.success());
    let file = fs::OpenOptions::new().write(true).open(folder.path("v")).expect("the file");
    for place in [20_500, 40_960] {
        file.write_all_at(b"changed ", place).expect("written");
    }
    let read = "--name=a --filename=v --rw=read --bs=4k --size=8m --verify=crc32c --continue_on_error=verify";
    let places = |output: &Output| {
        let text = said(output);
        let found = text.lines().filter(|line| line.starts_with("verify: "));
        let place = |line: &str| line.split(" at file ").nth(1).map(String::from);
        found.filter_map(place).map(|place| place.replace(", flags=88", "")).collect::<Vec<_>>()
    };
    let (theirs, ours) = (run(true, &folder.path("."), read), run(false, &folder.path("."), read));
    let wanted = [20_480, 40_960].map(|offset| {
        format!("v offset {offset}, length 4096 (requested block: offset={offset}, length=4096)")
    });
    assert_eq!(places(&ours), wanted);
    assert_eq!(places(&theirs).len(), 2, "{}", said(&theirs));
    let words = said(&ours);
    assert!(words.contains("2 of 2048 blocks did not hold what was written there"), "{words}");
}

#[test]
fn a_flush_between_writes_is_one_of_the_file_that_was_written() {
    let folder = lab::need!(Memory::tmpfs());
    for order in ["roundrobin", "sequential", "random"] {
        let line = format!(
            "--name=a --rw=write --bs=4k --size=64k --nrfiles=2 --fdatasync=1 --file_service_type={order} --write_iolog={order}"
        );
        let report = report(false, &folder.path("."), &line);
        assert_eq!(report["jobs"][0]["sync"]["total_ios"], 15, "{order}");
        let list = fs::read_to_string(folder.path(order)).expect("a list");
        let calls: Vec<(&str, &str)> = list
            .lines()
            .filter_map(|line| {
                let words: Vec<&str> = line.split(' ').collect();
                let call = *words.get(2)?;
                matches!(call, "write" | "datasync").then_some((call, *words.get(1)?))
            })
            .collect();
        assert_eq!(calls.len(), 31, "{list}");
        for pair in calls.chunks_exact(2) {
            assert_eq!((pair[0].0, pair[1].0), ("write", "datasync"), "{list}");
            assert_eq!(pair[0].1, pair[1].1, "{list}");
        }
    }
}

#[test]
fn a_file_of_holes_is_read_and_said_to_be_one() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::File::create(folder.path().join("h")).and_then(|file| file.set_len(MI)).expect("a file");
    let output = run(false, folder.path(), "--name=a --filename=h --rw=read --bs=64k --size=1m");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(printed(&output).contains("issued rwts: total=16,0,0,0"), "{output:?}");
    assert!(said(&output).contains("assay: a: wrong ("), "{}", said(&output));
}

/// Logs are made when the job has ended; until then nothing of them stands anywhere.
#[test]
fn a_folder_that_is_full_costs_the_log_and_not_the_run() {
    let (work, full) = (lab::need!(Memory::tmpfs()), lab::need!(Memory::tmpfs_of(64 << 10)));
    let logs = full.path("l");
    let line = format!(
        "--name=a --filename=f --rw=read --bs=512 --size=4m --write_lat_log={}",
        logs.display()
    );
    let output = run(false, &work.path("."), &line);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(printed(&output).contains("issued rwts: total=8192,0,0,0"), "{output:?}");
    assert!(said(&output).contains("assay: cannot write "), "{}", said(&output));
    let left = |folder: &Path| -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        names.map(|name| name.to_string_lossy().into_owned()).collect()
    };
    assert_eq!(left(&work.path(".")), ["f"]);
    assert!(left(&full.path(".")).iter().all(|name| name.ends_with(".log")));
}
