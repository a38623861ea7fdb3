//! What fio writes with `verify=` is verified here, and the other way round; a changed byte is found by both, at
//! the same place.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Output;

use crate::fio_pair::{self, document, program, said};
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
];

/// Block sizes and intervals.
const SIZES: [(&str, &str); 2] = [("4k", "4k"), ("64k", "512")];

/// A byte of the last piece of a block: fio's status tells of the last piece only.
const CHANGED: u64 = 131_072 - 100;

/// Runs one of the two in a folder with these words.
fn run_words(theirs: bool, folder: &Path, words: &[String]) -> Output {
    program(theirs, folder).args(words).output().expect("it runs")
}

/// The same with one job.
fn run(theirs: bool, folder: &Path, line: &str) -> Output {
    fio_pair::run(theirs, folder, &format!("{line} --name=a --filename=t --size=256k"))
}

/// What is said of wrong pieces: their places and both checksums.
fn found(output: &Output, headed: bool) -> Vec<String> {
    let text = said(output);
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
    text.lines().filter(told).map(place).collect()
}

fn change(path: &Path) {
    let file = File::options().read(true).write(true).open(path).expect("the file");
    let mut byte = [0];
    file.read_exact_at(&mut byte, CHANGED).expect("a byte");
    file.write_all_at(&[!byte[0]], CHANGED).expect("a byte");
}

/// A job for each of these kinds, and one for each size of the usual kind, each with a file of its own name.
fn jobs(kinds: &[&str]) -> Vec<(String, Vec<String>)> {
    let of = |kind: &str| {
        let sizes = if kind == "crc32c" { &SIZES[..] } else { &SIZES[1..] };
        let job = |(bs, interval): &(&str, &str)| {
            let name = format!("{kind}-{bs}");
            let mut words = vec![
                format!("--name={name}"),
                format!("--filename={name}"),
                format!("--bs={bs}"),
                format!("--verify={kind}"),
                format!("--verify_interval={interval}"),
            ];
            if kind == "pattern" {
                words.push("--verify_pattern=0xdeadbe%o\"x\"".into());
            }
            (name, words)
        };
        sizes.iter().map(job).collect::<Vec<_>>()
    };
    kinds.iter().flat_map(|kind| of(kind)).collect()
}

/// What one writes with these jobs the other verifies, and both find the same byte that was changed.
fn both_ways(kinds: &[&str]) {
    let headed = kinds != ["pattern"];
    let folder = Memory::tmpfs().expect("memory");
    let jobs = jobs(kinds);
    let all = |first: &[&str]| {
        let first = first.iter().map(|word| word.to_string());
        let each = jobs.iter().flat_map(|(_, words)| words.clone());
        first.chain(["--size=256k".into()]).chain(each).collect::<Vec<_>>()
    };
    let (write, read) = (all(&["--rw=write", "--do_verify=0"]), all(&["--rw=read"]));
    // fio prints a checksum byte by byte: those of jobs at the same time would be mixed.
    let one_by_one = all(&["--rw=read", "--stonewall"]);
    for theirs in [true, false] {
        let wrote = run_words(theirs, folder.mount(), &write);
        assert!(wrote.status.success(), "by fio: {theirs}: {}", said(&wrote));
        let right = run_words(!theirs, folder.mount(), &read);
        assert!(right.status.success(), "written by fio: {theirs}: {}", said(&right));
        for (name, _) in &jobs {
            change(&folder.path(name));
        }
        let both = [true, false].map(|by| run_words(by, folder.mount(), &one_by_one));
        // Of data without a checksum only the headers are looked at.
        let wrong = jobs.iter().filter(|(name, _)| !name.starts_with("meta")).count();
        let status = both.each_ref().map(|read| read.status.code());
        assert_eq!(status, [Some(wrong as i32); 2], "{}", said(&both[1]));
        let [other, mine] = both.each_ref().map(|read| found(read, headed));
        assert!(mine.len() >= wrong && mine == other, "{mine:#?}\nfio: {other:#?}");
        for (name, _) in &jobs {
            std::fs::remove_file(folder.path(name)).expect("it is there");
        }
    }
}

#[test]
fn each_verifies_what_the_other_wrote() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    lab::need!(Memory::tmpfs());
    both_ways(KINDS);
    both_ways(&["pattern"]);
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
        "--rw=write --bs=64k --numjobs=2 --offset_increment=256k --group_reporting",
        "--rw=write --bs=4k --verify_pattern=%o",
        "--rw=write --bs=4k --loops=3",
        "--rw=randwrite --bs=4k --loops=2 --ioengine=libaio --iodepth=4",
    ];
    for line in lines {
        let moved = [true, false].map(|theirs| {
            let folder = Memory::tmpfs().expect("memory");
            let line = format!("--verify=crc32c --output-format=json {line}");
            let output = run(theirs, folder.mount(), &line);
            assert!(output.status.success(), "{line}: {}", said(&output));
            let job = &document(&output)["jobs"][0];
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
        assert!(output.status.success(), "{line}: {}", said(&output));
        let document = document(&output);
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
    assert!(said(&read).contains("verify: bad magic header"), "{}", said(&read));
    assert_eq!(document(&read)["jobs"][0]["error"], libc::EILSEQ);
}

#[test]
fn what_is_not_done_is_refused_by_name() {
    lab::need!(Memory::tmpfs());
    let folder = Memory::tmpfs().expect("memory");
    let words = ["--verify_state_load=1", "--loops=2 --runtime=9", "--verify=sha512"];
    for word in words {
        let output =
            run(false, folder.mount(), &format!("--rw=write --bs=4k --verify=crc32c {word}"));
        let word = word.split(' ').next().unwrap_or_default();
        let text = said(&output);
        assert!(!output.status.success(), "{word}");
        let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
        assert!(text.contains(name), "{word}: {text}");
        assert!(!folder.path("t").exists(), "{word}");
    }
}

#[test]
fn a_file_of_state_says_how_far_the_writes_of_another_run_went() {
    lab::need!(Memory::tmpfs());
    for order in ["", "rand"] {
        let folder = Memory::tmpfs().expect("memory");
        let line = |rest: &str| format!("--bs=4k --verify=crc32c --output-format=json {rest}");
        let wrote = line(&format!("--rw={order}write --do_verify=0 --number_ios=20"));
        let read = line(&format!("--rw={order}read --verify_state_load=1"));
        let verified = |theirs: bool| {
            let output = run(theirs, folder.mount(), &read);
            assert!(output.status.success(), "{order}: {}", said(&output));
            document(&output)["jobs"][0]["read"]["total_ios"].as_u64().expect("a number")
        };
        assert!(run(true, folder.mount(), &wrote).status.success(), "{order}");
        assert_eq!((verified(true), verified(false)), (20, 20), "{order}");
        // Our own, of the version of fio 3.42, which Debian's does not read.
        assert!(run(false, folder.mount(), &wrote).status.success(), "{order}");
        assert_eq!(verified(false), 20, "{order}");
        std::fs::remove_file(folder.path("local-a-0-verify.state")).expect("a file of state");
        let without = run(false, folder.mount(), &read);
        assert!(said(&without).contains("local-a-0-verify.state"), "{}", said(&without));
        assert!(!without.status.success(), "{order}");
    }
}
