//! What fio writes with `verify=` is verified here, and the other way round; a changed byte is found by both, at
//! the same place.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::lab::{self, Memory};

/// All that Debian's fio 3.33 has, but for sha512, which it does not close.
const KINDS: &[&str] = &[
    "md5",
    "crc64",
    "crc32c",
    "crc32c-intel",
    "crc32",
    "crc16",
    "crc7",
    "xxhash",
    "sha1",
    "sha256",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "sha3-512",
    "meta",
    "pattern",
];

/// Block sizes and intervals.
const SIZES: &[(&str, &str)] = &[("4k", "4k"), ("64k", "512")];

/// A byte of the last piece of a block: fio's status tells of the last piece only.
const CHANGED: u64 = 131_072 - 100;

/// Runs one of the two in a folder.
fn run(theirs: bool, folder: &Path, line: &str) -> Output {
    let (program, first): (&str, &[&str]) = match theirs {
        true => ("fio", &[]),
        false => (env!("CARGO_BIN_EXE_assay"), &["fio"]),
    };
    Command::new(program)
        .args(first)
        .args(line.split(' '))
        .args(["--name=a", "--filename=t", "--size=256k"])
        .env("ASSAY_DIALECT", "fio-3.33")
        .current_dir(folder)
        .output()
        .expect("it runs")
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What is said of the first wrong piece: its place and its two checksums.
fn found(output: &Output, headed: bool) -> Vec<String> {
    let text = err(output);
    let told = |line: &&str| {
        line.contains("verify failed")
            || line.contains("bad pattern block")
            || line.contains("CRC:")
    };
    let place = |line: &str| match line.find(" (requested") {
        // Without headers 3.33 names no place.
        Some(_) if !headed => String::new(),
        Some(end) => line[..end].to_string(),
        None => line.to_string(),
    };
    text.lines().filter(told).take(3).map(place).collect()
}

fn change(path: &Path) {
    let file = File::options().read(true).write(true).open(path).expect("the file");
    let mut byte = [0];
    file.read_exact_at(&mut byte, CHANGED).expect("a byte");
    file.write_all_at(&[!byte[0]], CHANGED).expect("a byte");
}

#[test]
fn each_verifies_what_the_other_wrote() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    lab::need!(Memory::tmpfs());
    let folder = Memory::tmpfs().expect("memory");
    let path: PathBuf = folder.path("t");
    for kind in KINDS {
        let pattern = if *kind == "pattern" { " --verify_pattern=0xdeadbe%o\"x\"" } else { "" };
        for (bs, interval) in SIZES {
            let line = format!("--bs={bs} --verify={kind} --verify_interval={interval}{pattern}");
            for theirs in [true, false] {
                let wrote =
                    run(theirs, folder.mount(), &format!("--rw=write --do_verify=0 {line}"));
                assert!(wrote.status.success(), "{line}: {}", err(&wrote));
                let read = run(!theirs, folder.mount(), &format!("--rw=read {line}"));
                assert!(read.status.success(), "{line}, written by fio: {theirs}: {}", err(&read));
                change(&path);
                let both =
                    [true, false].map(|by| run(by, folder.mount(), &format!("--rw=read {line}")));
                // Of data without a checksum only the headers are looked at.
                if *kind == "meta" {
                    assert!(both.iter().all(|read| read.status.success()), "{line}");
                } else {
                    let status = both.each_ref().map(|read| read.status.code());
                    assert_eq!(status, [Some(1); 2], "{line}: {}", err(&both[1]));
                    let [other, mine] = both.each_ref().map(|read| found(read, *kind != "pattern"));
                    assert!(!mine.is_empty() && mine == other, "{line}: {mine:?}, fio: {other:?}");
                }
                std::fs::remove_file(&path).expect("it is there");
            }
        }
    }
}

#[test]
fn what_a_job_wrote_is_read_back_as_often_and_told_in_its_report() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    lab::need!(Memory::tmpfs());
    let lines = [
        "--rw=write --bs=4k",
        "--rw=randwrite --bs=4k",
        "--rw=write --bs=4k --number_ios=10",
        "--rw=write --bs=4k --do_verify=0",
        "--rw=write --bs=64k --numjobs=2 --group_reporting",
        "--rw=write --bs=4k --verify_pattern=%o",
    ];
    for line in lines {
        let moved = [true, false].map(|theirs| {
            let folder = Memory::tmpfs().expect("memory");
            let line = format!("--verify=crc32c --output-format=json {line}");
            let output = run(theirs, folder.mount(), &line);
            assert!(output.status.success(), "{line}: {}", err(&output));
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let start = text.find('{').expect("a document");
            let document: Value = serde_json::from_str(&text[start..]).expect("a document");
            let job = &document["jobs"][0];
            ["read", "write"]
                .map(|way| [job[way]["total_ios"].clone(), job[way]["io_bytes"].clone()])
        });
        assert_eq!(moved[0], moved[1], "{line}");
    }
}

#[test]
fn a_mix_reads_back_what_it_wrote() {
    lab::need!(Memory::tmpfs());
    for line in ["--rw=randrw --bs=4k", "--rw=rw --bs=4k", "--rw=write --bsrange=4k-16k"] {
        let folder = Memory::tmpfs().expect("memory");
        let line = format!("--verify=md5 --output-format=json {line}");
        let output = run(false, folder.mount(), &line);
        assert!(output.status.success(), "{line}: {}", err(&output));
        let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
        let bytes = |way: &str| document["jobs"][0][way]["io_bytes"].as_u64().expect("bytes");
        let (read, written) = (bytes("read"), bytes("write"));
        // The reads of a mix and those that verify: together the whole, and what was written once more.
        let expected = if line.contains("rw=write") { written } else { 256 << 10 };
        assert!(written > 0 && read == expected, "{line}: {read} read, {written} written");
    }
}

#[test]
fn a_file_that_nobody_wrote_with_headers_is_not_verified() {
    lab::need!(Memory::tmpfs());
    let folder = Memory::tmpfs().expect("memory");
    let read = run(false, folder.mount(), "--rw=read --bs=4k --verify=crc32c --output-format=json");
    assert_eq!(read.status.code(), Some(1));
    assert!(err(&read).contains("verify: bad magic header"), "{}", err(&read));
    let document: Value = serde_json::from_slice(&read.stdout).expect("a document");
    assert_eq!(document["jobs"][0]["error"], libc::EILSEQ);
}

#[test]
fn what_is_not_done_is_refused_by_name() {
    lab::need!(Memory::tmpfs());
    let folder = Memory::tmpfs().expect("memory");
    let words = [
        "--verify_backlog=8",
        "--verify_state_load=1",
        "--loops=2",
        "--continue_on_error=verify",
        "--verify=sha512",
    ];
    for word in words {
        let output =
            run(false, folder.mount(), &format!("--rw=write --bs=4k --verify=crc32c {word}"));
        let text = err(&output);
        assert!(!output.status.success(), "{word}");
        let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
        assert!(text.contains(name), "{word}: {text}");
        assert!(!folder.path("t").exists(), "{word}");
    }
}
