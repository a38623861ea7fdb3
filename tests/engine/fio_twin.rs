//! The same words to fio and to `assay fio`: the same jobs, I/Os and bytes, and a report of the same form.

use std::collections::BTreeSet;
use std::process::Output;

use serde_json::Value;

use crate::fio_pair::{document, run, said};
use crate::lab::{self, Memory};

/// Lines that both are given, in a folder of their own.
const LINES: &[&str] = &[
    "--name=a --rw=write --bs=4k --size=1m",
    "--name=a --rw=read --bs=64k --size=4m",
    "--name=a --rw=randread --bs=4k --size=1m --iodepth=8 --ioengine=libaio",
    "--name=a --rw=randrw --rwmixread=75 --bs=4k --size=2m --ioengine=io_uring --iodepth=4",
    "--bs=8k --size=1m --name=w --rw=write --name=r --rw=read --stonewall",
    "--rw=write --bs=4k --size=512k --numjobs=3 --name=n",
    "--rw=write --bs=4k --size=512k --numjobs=3 --group_reporting --name=n",
    "--name=s --rw=write --bs=16k --size=1m --fsync=4",
    "--name=s --rw=write --bs=16k --size=1m --end_fsync=1",
    "--name=m --rw=randwrite --bs=4k --size=1m --ioengine=mmap",
    "--name=z --rw=randread --bs=4k --size=1m --norandommap --io_size=2m",
    "--name=f --rw=write --bs=4k --size=1m --nrfiles=4",
    "--name=l --rw=read --bs=4k --size=256k --loops=3",
    "--name=o --rw=read --bs=4k --size=1m --number_ios=100",
    "--name=x --ioengine=null --rw=randrw --bs=4k --size=64m",
    "--name=b --rw=write --bs=4k-16k --bsrange=4k-4k --size=256k",
    "--name=t --thread --rw=write --bs=4k --size=256k",
    "--name=u --rw=randwrite --bsrange=1k-16k --bs_unaligned=0 --size=1m",
    "--name=v --rw=randread --bssplit=4k/60:8k/40 --size=1m",
    "--name=p --rw=randread --percentage_random=40 --bs=4k --size=1m",
    "--name=y --rw=read:8k --bs=4k --size=1m",
    "--name=q --rw=write --bs=7k --size=100k",
    "--filename=i:j --rw=randrw --bs=4k --size=1m --name=k",
    "--name=c --rw=write --bs=4k --size=256k --verify=crc32c",
    "--name=d --rw=randrw --bs=4k --size=1m --ioengine=splice",
    "--name=e --rw=randwrite --bs=96k --size=1m --ioengine=splice --verify=crc32c",
    "--name=g --rw=randrw --bs=4k --size=1m --ioengine=vsync",
    "--name=d --rw=write --bs=4k --size=264k --verify=crc32c --verify_backlog=16",
    "--name=e --rw=randwrite --bs=4k --size=256k --verify=md5 --verify_backlog=16 --verify_backlog_batch=4",
    "--name=g --rw=randwrite --bs=4k --size=256k --verify=crc32c --verify_backlog=8 --norandommap",
    "--name=h --rw=write --bs=4k --size=64k --nice=1 --prio=4",
    "--name=k --rw=read --bs=4k --size=1m --pre_read=1",
    "--name=i --rw=randread --bs=4k --size=1m --nrfiles=8 --openfiles=2",
    "--name=a --rw=write --bs=4k --size=256k --name=b --rw=randwrite --bs=4k --size=1m --name=c --rw=read --bs=4k --size=64k --wait_for=a",
    "--name=u --rw=randread --bs=4k --size=256k --ioengine=io_uring --force_async=3 --iodepth=4",
    "--name=n --rw=write --bs=4k --size=1m --filename=/dev/null",
    "--name=m --ioengine=filecreate --nrfiles=16 --filesize=4k --openfiles=1",
    "--name=m --ioengine=filestat --nrfiles=16 --filesize=4k --rw=write --stat_type=statx --numjobs=2",
    "--name=m --ioengine=filedelete --nrfiles=16 --filesize=8k --bs=8k",
    "--name=h --rw=randwrite --bsrange=1k-8k --filesize=3k-99k --nrfiles=3 --verify=crc32c",
    "--name=j --rw=randwrite --bs=4k --size=256k --nrfiles=4 --openfiles=1 --file_service_type=random:2",
    "--name=f --ioengine=falloc --rw=randwrite --bs=64k --size=1m --fallocate=none",
    "--name=f --ioengine=falloc --rw=randtrim --bs=64k --size=1m",
    "--name=g --ioengine=ftruncate --rw=write --bs=64k --size=1m",
    "--name=b --rw=randwrite --bs=4k --size=256k --verify=crc32c --verify_backlog=8 --io_size=128k",
    "--name=b --rw=randwrite --bs=4k --size=256k --verify=crc32c --io_size=64k",
    "--name=x --rw=rw --bs=4k --size=256k --verify=crc32c --verify_backlog=8",
    "--name=x --rw=randrw --bs=4k --size=256k --verify=md5 --verify_backlog=16 --verify_backlog_batch=4",
    "--name=c --rw=randread --bs=4k --size=1m --ioengine=libaio --iodepth=4 --cmdprio_percentage=20",
    "--name=c --rw=randrw --bssplit=4k/50:8k/50 --size=1m --ioengine=io_uring --iodepth=4 --cmdprio_bssplit=4k/30/2/7:8k/10/1/0",
    "--name=l --rw=write --bs=4k --size=256k --lockmem=1m --lockfile=exclusive --write_hint=short",
    "--name=l --rw=randread --bs=4k --size=256k --lockfile=readwrite --numjobs=3 --filename=s",
    "--name=d --rw=write --bs=4k --size=256k --dedupe_percentage=40 --dedupe_mode=working_set --dedupe_working_set_percentage=10",
    "--name=d --rw=write --bs=8k --size=256k --buffer_compress_percentage=50 --buffer_compress_chunk=4k --refill_buffers",
    "--name=p --rw=randread --bs=4k --size=256k --ioengine=pvsync2 --hipri --hipri_percentage=50",
    "--name=h --rw=read --bs=4k --size=256k --ioengine=mmap --thp=1",
    "--name=l --rw=write --bs=4k --size=256k --io_size=640k --loops=2",
    "--name=f --rw=write --bs=4k --filesize=256k --size=1m",
    "--name=f --rw=randread --bs=4k --filesize=1m --size=256k",
    "--name=f --rw=write --bs=4k --size=256k --create_on_open=1",
    "--name=l --rw=randrw --bs=4k --size=256k --io_size=640k --loops=3",
    "--name=z --filename=/dev/zero --rw=randread --bs=4k --size=1m --numjobs=2",
];

/// What one of them prints in a folder of its own.
fn printed(theirs: bool, line: &str, format: &str) -> Output {
    let folder = Memory::tmpfs().expect("memory");
    let output = run(theirs, &folder.path("."), &format!("{line} --output-format={format}"));
    assert!(output.status.success(), "{line}: {}", said(&output));
    output
}

/// What is printed for people, without the document.
fn for_people(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.lines().filter(move |line| {
        let out = !inside && *line != "{";
        inside = !out && *line != "}";
        out
    })
}

/// All keys below a value, but for numbers of a list and of percentiles.
fn keys(value: &Value, at: &str, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, below)| {
            let path = format!("{at}.{key}");
            let kind = match below {
                Value::Object(_) | Value::Array(_) => "",
                Value::String(_) => " text",
                Value::Number(number) if number.is_f64() => " fraction",
                Value::Number(_) => " whole",
                Value::Null | Value::Bool(_) => " other",
            };
            into.insert(format!("{path}{kind}"));
            keys(below, &path, into);
        }),
        Value::Array(all) => all.iter().for_each(|below| keys(below, at, into)),
        _ => {}
    }
}

/// What later versions than Debian's have, and what only we have.
fn is_new(key: &str) -> bool {
    let new =
        ["job_start", "_ns whole", "_us whole", "sectors", "job_runtime", "prios", ".disk_util"];
    key.starts_with(".assay")
        || key.contains(" options.")
        || new.iter().any(|part| key.contains(part))
}

/// Name, group, I/Os and bytes of each job.
fn work(document: &Value) -> Vec<String> {
    let jobs = document["jobs"].as_array().expect("jobs");
    let each = jobs.iter().map(|job| {
        let moved = ["read", "write", "trim"]
            .map(|way| format!("{}/{}", job[way]["total_ios"], job[way]["io_bytes"]));
        let mut options = job["job options"].clone();
        // Debian's fio forgets those without a value.
        if let Some(options) = options.as_object_mut() {
            options.retain(|_, value| value != "");
        }
        format!("{} {} {moved:?} {options}", job["jobname"], job["groupid"])
    });
    each.collect()
}

#[test]
fn the_same_words_do_the_same_work_and_print_the_same_lines() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    lab::need!(Memory::tmpfs());
    for line in LINES {
        let both = [false, true].map(|theirs| printed(theirs, line, "normal,json"));
        let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
        let [mine, other] = both.each_ref().map(text);
        assert_eq!(labels(&mine), labels(&other), "{line}\n{mine}\n{other}");
        let [mine, other] = both.each_ref().map(document);
        assert_eq!(work(&mine), work(&other), "{line}");
        same_form(&mine, &other, line);
    }
}

/// Both have the same keys, with values of the same types.
fn same_form(mine: &Value, other: &Value, line: &str) {
    let of = |document: &Value| {
        let mut all = BTreeSet::new();
        keys(document, "", &mut all);
        all.into_iter().filter(|key| !is_new(key)).collect::<BTreeSet<_>>()
    };
    let (mine, other) = (of(mine), of(other));
    let missing: Vec<_> = other.difference(&mine).collect();
    let more: Vec<_> = mine.difference(&other).collect();
    assert!(missing.is_empty() && more.is_empty(), "{line}: lacks {missing:?}, has {more:?}");
}

#[test]
fn a_steady_state_ends_a_job_and_is_told_in_the_same_form() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    lab::need!(Memory::tmpfs());
    // Two clones of one group are looked at together.
    let line = "--name=s --ioengine=null --size=1g --runtime=60 --time_based --numjobs=2 \
        --group_reporting --ss=iops:90% --ss_dur=2";
    let [mine, other] = [false, true].map(|theirs| document(&printed(theirs, line, "json")));
    same_form(&mine, &other, line);
    for document in [mine, other] {
        let [job] = document["jobs"].as_array().expect("jobs").as_slice() else { panic!("{line}") };
        let state = &job["steadystate"];
        let told = (&state["ss"], &state["attained"], &state["duration"]);
        assert_eq!(told, (&"iops:90.000000%".into(), &1.into(), &2.into()), "{state}");
        let rounds = state["data"]["iops"].as_array().map(Vec::len);
        assert_eq!(rounds, Some(2), "{state}");
        assert!(job["read"]["runtime"].as_u64() < Some(10_000), "{job}");
    }
}

/// The words before the first figure of each line, but for those that a run may have or not.
fn labels(text: &str) -> Vec<String> {
    let told = |line: &&str| {
        let line = line.trim_start();
        let by_chance = ["|", "lat (usec)  ", "lat (msec)  ", "lat (nsec)  ", "bw (", "iops  "];
        // Latencies are not kept by priority here.
        let left_out = line.contains("Laying out") || line.starts_with("clat prio ");
        !by_chance.iter().any(|start| line.starts_with(start)) && !left_out
    };
    let label = |line: &str| {
        let end = line.find([':', '(', '=']).unwrap_or(line.len());
        // Debian's fio knows no syncfs.
        line[..end].replace("/syncfs", "")
    };
    let lines = for_people(text).filter(told).take_while(|line| !line.starts_with("Disk stats"));
    lines
        .map(label)
        .map(|label| if label.starts_with("fio-") { "fio-".into() } else { label })
        .collect()
}
