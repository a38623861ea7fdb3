//! The same words to fio and to `assay fio`: rests, I/Os that share blocks, and files that are written on.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::fio_pair::{self, document, run, said};
use crate::lab::{self, Faults, FaultyFuse, MI, Memory, Op, on};

/// What one of the two reports of the only job of a line, in a folder.
fn report(theirs: bool, folder: &Path, line: &str) -> Value {
    fio_pair::report(theirs, folder, line)["jobs"][0].clone()
}

#[test]
fn rests_are_as_long_as_those_of_fio() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    let folder = lab::need!(Memory::tmpfs());
    let line = "--name=a --ioengine=null --rw=read --bs=4k";
    for (words, least, most) in [
        // Nine or ten rests of 40 ms.
        ("--size=40k --thinktime=40ms --thinktime_spin=20ms", 340, 700),
        // Three or four of 100 ms.
        ("--size=40k --thinktime=100ms --thinktime_blocks=3", 280, 700),
        // 20 I/Os in 200 ms, three times, with two or three rests that are not caught up with.
        (
            "--number_ios=60 --size=1m --rate_iops=100 --thinktime=300ms --thinktime_blocks=20 --rate_ignore_thinktime=1",
            1150,
            1900,
        ),
    ] {
        for theirs in [true, false] {
            let job = report(theirs, folder.mount(), &format!("{line} {words}"));
            let ms = job["read"]["runtime"].as_u64().unwrap_or_default();
            assert!((least..most).contains(&ms), "{words} {theirs}: {ms} ms");
            if words.contains("spin") {
                let busy = job["usr_cpu"].as_f64().unwrap_or_default();
                assert!((10.0..80.0).contains(&busy), "{words} {theirs}: {busy} %");
            }
        }
    }
    // A second of I/Os, then a rest of half a second.
    let line = format!("{line} --size=900g --thinktime=500ms --thinktime_iotime=1 --runtime=4");
    for theirs in [true, false] {
        let job = report(theirs, folder.mount(), &line);
        let busy = job["usr_cpu"].as_f64().unwrap_or_default()
            + job["sys_cpu"].as_f64().unwrap_or_default();
        assert!((25.0..90.0).contains(&busy), "{theirs}: {busy} %");
    }
}

#[test]
fn a_depth_is_found_for_a_latency_as_fio_finds_it() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    let folder = lab::need!(Memory::tmpfs());
    let line =
        "--name=a --ioengine=null --rw=randread --bs=4k --size=900g --runtime=20 --iodepth=8";
    let words = "--latency_target=100ms --latency_window=50ms --latency_percentile=90";
    for theirs in [true, false] {
        let job = report(theirs, folder.mount(), &format!("{line} {words}"));
        // Windows at 1, 2, 4 and 8, and one more at 8; that one is the result.
        let found = ["latency_depth", "latency_percentile"].map(|key| job[key].as_f64());
        assert_eq!(found, [Some(8.0), Some(90.0)], "{theirs}: {job}");
        let read = &job["read"];
        let (runtime, ios) = (read["runtime"].as_u64(), read["total_ios"].as_u64());
        assert!(runtime < Some(1000) && ios > Some(0), "{theirs}: {job}");
    }
    // Nothing is so fast: with one in flight it is a fault.
    let line = format!("{line} --latency_target=1ns --latency_window=50ms");
    let ends = [true, false].map(|theirs| {
        let output = run(theirs, folder.mount(), &format!("{line} --output-format=json"));
        (output.status.code(), document(&output)["jobs"][0]["error"].clone())
    });
    assert_eq!(ends[0], ends[1]);
    assert_eq!(ends[1], (Some(1), libc::ETIMEDOUT.into()));
}

#[test]
fn a_job_that_computes_has_its_share_of_a_cpu_and_ends_with_the_others() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    let folder = lab::need!(Memory::tmpfs());
    let line = "--name=c --ioengine=cpuio --cpuload=50 --cpuchunks=5000 --exit_on_io_done=1 \
        --name=a --ioengine=null --rw=read --bs=4k --number_ios=20 --size=1m --rate_iops=40";
    for theirs in [true, false] {
        let document = fio_pair::report(theirs, folder.mount(), line);
        let [computing, other] = document["jobs"].as_array().expect("jobs").as_slice() else {
            panic!("two jobs: {document}")
        };
        assert_eq!(other["read"]["total_ios"], 20, "{theirs}: {other}");
        let read = &computing["read"];
        // Rounds of 10 ms, for half a second.
        let rounds = read["total_ios"].as_u64().unwrap_or_default();
        assert!((5..=60).contains(&rounds), "{theirs}: {computing}");
        assert_eq!((&read["io_bytes"], &read["runtime"]), (&0.into(), &0.into()), "{computing}");
        let least = read["clat_ns"]["min"].as_u64().unwrap_or_default();
        assert!(least >= 5_000_000, "{theirs}: {computing}");
    }
}

#[test]
fn a_rate_is_one_of_the_mean() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    // The 250th read waits for 1.2 s; what that held up is sent behind it.
    let stall = on(Op::Io).every(250).hangs(Duration::from_millis(1200));
    let line = "--name=a --filename=t --rw=read --bs=4k --size=4m --number_ios=490 --rate_iops=100";
    for theirs in [true, false] {
        let faulty = lab::need!(FaultyFuse::new(Faults::default()));
        faulty.put("t", &vec![5; 4 * MI as usize]);
        faulty.set(stall.clone());
        let output = run(theirs, faulty.mount(), &format!("{line} --output-format=json"));
        let (job, said) = (&document(&output)["jobs"][0], said(&output));
        let ms = job["read"]["runtime"].as_u64().unwrap_or_default();
        assert!((4700..5500).contains(&ms), "{theirs}: {ms} ms");
        if !theirs {
            let told = "'--rate_iops=100' means a mean: after a stall a second had 1";
            assert!(said.contains(told), "{said}");
        }
    }
}

#[test]
fn a_runtime_is_a_limit() {
    let folder = lab::need!(Memory::tmpfs());
    let line = "--name=a --rw=read --bs=4k --size=1m --runtime=10";
    let said_of = |line: &str| said(&run(false, folder.mount(), line));
    let said = said_of(line);
    let told = "'--runtime=10' means 10.0 s at the most: its size was done after ";
    assert!(said.contains(told), "{said}");
    let said = said_of(&line.replace("10", "1 --time_based"));
    assert!(!said.contains("at the most"), "{said}");
}

#[test]
fn what_shares_blocks_is_done_one_after_the_other() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    let folder = lab::need!(Memory::tmpfs());
    let line = "--name=a --filename=t --rw=randrw --bs=4k --size=16k --norandommap --io_size=2m \
                --ioengine=libaio --iodepth=8 --serialize_overlap=1";
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let moved = |theirs| {
        let job = report(theirs, folder.mount(), &line);
        ["read", "write"].map(|way| job[way]["total_ios"].clone())
    };
    assert_eq!(moved(false), moved(true));
    // Of one block only one is in flight.
    let one = line.replace("--size=16k", "--size=4k");
    let alone = |line: &str| {
        report(false, folder.mount(), line)["iodepth_level"]["1"].as_f64().unwrap_or_default()
    };
    assert_eq!(alone(&one), 100.0);
    assert!(alone(&one.replace("--serialize_overlap=1", "--thread")) < 50.0);
}

#[test]
fn a_file_is_written_on_from_its_end() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    let folder = lab::need!(Memory::tmpfs());
    let line = "--name=a --filename=t --rw=write --bs=16k --size=128k --file_append=1";
    let path = folder.path("t");
    let done = [true, false].map(|theirs| {
        std::fs::write(&path, [7; 65_536]).expect("written");
        let job = report(theirs, folder.mount(), line);
        let bytes = std::fs::read(&path).expect("there");
        assert!(bytes[..65_536].iter().all(|byte| *byte == 7), "what stood there is gone");
        (job["write"]["io_bytes"].clone(), job["write"]["total_ios"].clone(), bytes.len())
    });
    assert_eq!(done[0], done[1]);
    assert_eq!(done[0].2, 3 * 65_536);
}
