//! Lists of I/Os: what `assay fio` writes is what fio writes, and each does what the other has listed.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::fio_pair::{self, report, said};
use crate::lab::{self, Memory};

/// Runs fio, or the dialect, in a folder; what it answers as JSON.
fn run(ours: bool, folder: &Path, line: &str) -> Value {
    report(!ours, folder, line)
}

/// The I/Os of a list, those of each file in their order; where a flush was thought to be is left out, and that
/// fio sends as many as may be in flight.
pub fn listed(list: &Path) -> Vec<String> {
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
    "--name=a --size=256k --bs=4k --rw=randwrite --verify=crc32c --norandommap",
    "--name=a --size=256k --bs=4k --rw=randread --zonemode=strided --zonesize=16k --zonerange=32k --zoneskip=8k",
    "--name=a --size=128k --filesize=256k --bs=4k --rw=write --zonemode=strided --zonesize=32k --zonerange=16k",
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

#[test]
fn both_replay_a_list_that_fio_wrote_to_the_same_bytes() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    lab::need!(Memory::tmpfs());
    let folder = Memory::tmpfs().expect("memory");
    let at = |name: &str| folder.path(name);
    for (made, replayed) in [
        ("--name=a --filename=f --size=256k --bs=4k --rw=randrw --fsync=8", ""),
        (
            "--name=a --size=256k --bsrange=1k-16k --rw=randrw --nrfiles=3 --fdatasync=4",
            "--replay_no_stall=1",
        ),
        (
            "--name=a --filename=f --size=128k --bs=4k --rw=randwrite",
            "--ioengine=libaio --iodepth=1",
        ),
        (
            "--name=a --filename=f --size=256k --bs=4k --rw=randrw",
            "--replay_scale=2 --replay_align=1k",
        ),
        (
            "--name=a --filename=f --size=256k --bs=4k --rw=write",
            "--replay_redirect=g --replay_time_scale=1000",
        ),
        ("--name=a --filename=f --size=256k --bs=4k --rw=randrw", "--ioengine=null"),
    ] {
        fs::remove_file(at("l.log")).unwrap_or(());
        run(false, &at("."), &format!("{made} --write_iolog=l.log"));
        let line = format!("--name=r --read_iolog=l.log {replayed}");
        let [ours, theirs] = [true, false].map(|ours| moved(&run(ours, &at("."), line.trim())));
        assert_eq!(ours, theirs, "{made} {replayed}");
        assert!(ours[0].0 + ours[1].0 > 16, "{made} {replayed}: {ours:?}");
    }
}

#[test]
fn waits_of_a_list_are_kept_unless_it_is_not_to_stall() {
    let _alone = lab::alone();
    lab::need!(Memory::tmpfs());
    let folder = Memory::tmpfs().expect("memory");
    fs::write(folder.path("f"), vec![7; 16384]).expect("a file");
    let third = "fio version 3 iolog\n1 f add\n2 f open\n10 f read 0 4096\n100010 f read 4096 4096\n200010 f sync 0 0\n300010 f read 8192 4096\n";
    let second = "fio version 2 iolog\nf add\nf open\nf read 0 4096\nf wait 150 0\nf read 4096 4096\nf wait 300 0\nf read 8192 4096\n";
    for (list, more, from, to) in [
        (third, "--replay_time_scale=100", 300, 700),
        (third, "--replay_time_scale=300", 100, 290),
        (third, "--replay_no_stall=1", 0, 99),
        (second, "--replay_no_stall=0", 290, 700),
        (second, "--replay_no_stall=1", 0, 99),
    ] {
        fs::write(folder.path("l.log"), list).expect("a list");
        let line = format!("--name=r --read_iolog=l.log {more}");
        let document = run(true, &folder.path("."), &line);
        assert_eq!(moved(&document)[0], (3, 12288), "{line}");
        let took = document["jobs"][0]["job_runtime"].as_u64().expect("a time");
        assert!((from..=to).contains(&took), "{line}: {took} ms");
    }
}

/// An event of a trace of the kernel, in the order of bytes of this machine or the other.
fn event(swapped: bool, time: u64, sector: u64, bytes: u32, action: u32) -> Vec<u8> {
    let fields: [(u64, usize); 11] = [
        (0x6561_7407, 4),
        (1, 4),
        (time, 8),
        (sector, 8),
        (bytes.into(), 4),
        (action.into(), 4),
        (77, 4),
        (8 << 20, 4),
        (0, 4),
        (0, 2),
        (0, 2),
    ];
    let field = |(value, len): (u64, usize)| {
        let mut bytes = value.to_le_bytes()[..len].to_vec();
        if swapped {
            bytes.reverse();
        }
        bytes
    };
    fields.into_iter().flat_map(field).collect()
}

#[test]
fn a_trace_of_the_kernel_is_replayed_as_fio_does_it() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    lab::need!(Memory::tmpfs());
    const QUEUED: u32 = 1;
    let (read, write, flush, discard) = (1 << 16, 1 << 17, 1 << 18, 1 << 29);
    for swapped in [false, true] {
        let folder = Memory::tmpfs().expect("memory");
        fs::write(folder.path("f"), vec![7; 1 << 20]).expect("a file");
        let mut trace = Vec::new();
        for number in 0..40_u64 {
            let action = [read, write, read, flush | write, write, discard][number as usize % 6];
            let bytes = if action & flush == 0 { 4096 } else { 0 };
            trace.extend(event(
                swapped,
                1000 + number * 50_000,
                number * 8,
                bytes,
                action | QUEUED,
            ));
            trace.extend(event(swapped, 1000 + number * 50_000 + 9, number * 8, bytes, action | 8));
        }
        fs::write(folder.path("t"), trace).expect("a trace");
        for more in
            ["--replay_skip=trim --replay_no_stall=1", "--replay_skip=trim,sync --replay_align=1k"]
        {
            let line = format!("--name=r --read_iolog=t --replay_redirect=f {more}");
            let [ours, theirs] =
                [true, false].map(|ours| moved(&run(ours, &folder.path("."), &line)));
            assert_eq!(ours, theirs, "{swapped} {more}");
            assert_eq!(ours[0].0, 14, "{swapped} {more}: {ours:?}");
        }
        // fio trims no files.
        let line = "--name=r --read_iolog=t --replay_redirect=f --replay_no_stall=1";
        assert_eq!(moved(&run(true, &folder.path("."), line))[2], (6, 6 * 4096), "{swapped}");
    }
}

/// Logs that are stored compressed become the lines that they were: fio itself reads them.
#[test]
fn a_compressed_log_is_inflated_by_fio() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    let folder = lab::need!(Memory::tmpfs());
    let line = "--name=a --ioengine=libaio --rw=write --bs=4k --size=256k --log_offset=1 --write_lat_log=l \
        --write_bw_log=l --log_compression=64k --log_store_compressed=1";
    let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let output = fio_pair::run(false, &folder.path("."), &words);
    assert!(output.status.success(), "{}", said(&output));
    for log in ["l_slat", "l_clat", "l_lat", "l_bw"] {
        let inflated =
            fio_pair::run(true, &folder.path("."), &format!("--inflate-log={log}.1.log.fz"));
        assert!(inflated.status.success(), "{log}: {}", said(&inflated));
        let text = String::from_utf8_lossy(&inflated.stdout);
        let field = |line: &str, number: usize| -> u64 {
            let field = line.split(", ").nth(number).expect("a field");
            field.trim().parse().unwrap_or_else(|error| panic!("{log}: {line}: {error}"))
        };
        // Direction, block and offset of each.
        let ios = text.lines().map(|line| [2, 3, 4].map(|number| field(line, number)));
        let wanted: Vec<_> = (0..64).map(|number| [1, 4096, number * 4096]).collect();
        assert_eq!(ios.collect::<Vec<_>>(), wanted, "{log}: {text}");
        assert!(text.lines().all(|line| field(line, 1) > 0), "{log}: {text}");
    }
}
