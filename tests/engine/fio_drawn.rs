//! Which offsets clones of `assay fio` draw, where they begin, how they go on, and what of theirs is read back: by the
//! lists that `write_iolog` makes of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Output;

use crate::fio_pair::{document, program, report, said};
use crate::lab::{self, Memory};

/// An I/O of a list: what was done, and its first byte and length.
type Io = (String, u64, u64);

/// The I/Os of a list by their files, each in their order; and the list is gone.
fn listed(list: &Path) -> BTreeMap<String, Vec<Io>> {
    let text = fs::read_to_string(list).expect("a list");
    let mut files: BTreeMap<String, Vec<Io>> = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if let [_, file, action @ ("read" | "write" | "trim"), offset, bytes] = words[..] {
            let number = |word: &str| word.parse().expect("a number");
            let io = (action.to_string(), number(offset), number(bytes));
            files.entry(file.into()).or_default().push(io);
        }
    }
    fs::remove_file(list).expect("it is there");
    files
}

/// Runs it in a folder as this version.
fn run_as(version: &str, folder: &Path, line: &str) -> Output {
    let words = line.split_whitespace();
    let mut command = program(false, folder);
    let output = command.env("ASSAY_DIALECT", version).args(words).output().expect("it runs");
    assert!(output.status.success(), "{line}: {}", said(&output));
    output
}

/// What the clones of a line do, by their files.
fn drawn(version: &str, folder: &Path, line: &str) -> BTreeMap<String, Vec<Io>> {
    run_as(version, folder, &format!("--write_iolog=l.log {line}"));
    listed(&folder.join("l.log"))
}

/// I/Os that two lists have at the same place.
fn alike(one: &[Io], other: &[Io]) -> usize {
    one.iter().zip(other).filter(|(one, other)| one == other).count()
}

/// The offsets of an action, each once.
fn places(ios: &[Io], action: &str) -> BTreeSet<u64> {
    ios.iter().filter(|io| io.0 == action).map(|io| io.1).collect()
}

#[test]
fn clones_and_sections_draw_other_offsets_and_each_run_others() {
    lab::need!(Memory::tmpfs());
    let folder = Memory::tmpfs().expect("memory");
    let lines = [
        "--rw=randread --bs=4k",
        "--rw=randread --bs=4k --norandommap",
        // An LFSR that begins at the same place gives the same list: of 256 blocks one pair in 255 does.
        "--rw=randread --bs=4k --random_generator=lfsr --size=64g --number_ios=256 --ioengine=null",
        "--rw=randread --bssplit=4k/50:8k/20:16k/30",
        "--rw=randrw --bs=4k --ioengine=libaio --iodepth=4",
        "--rw=randread --bs=4k --stonewall",
    ];
    for version in ["fio-3.33", "fio-3.42"] {
        for words in lines {
            let line = format!("--size=1m {words} --randrepeat=0 --name=a --numjobs=2 --name=b");
            let [first, second] = [(), ()].map(|()| drawn(version, &folder.path("."), &line));
            assert_eq!(first.len(), 3, "{line}");
            let all: Vec<_> = first.values().chain(second.values()).collect();
            for (number, one) in all.iter().enumerate() {
                assert!(one.len() >= 64, "{line}");
                for other in &all[number + 1..] {
                    assert!(alike(one, other) < one.len() / 8, "{version} {line}");
                }
            }
            // A number that was typed is one for all runs, and not for all clones.
            let line = line.replace("--randrepeat=0", "--randseed=9");
            let [first, second] = [(), ()].map(|()| drawn(version, &folder.path("."), &line));
            assert!(words.contains("libaio") || first == second, "{line}");
            let all: Vec<_> = first.values().collect();
            assert!(alike(all[0], all[1]) < all[0].len() / 8, "{version} {line}");
        }
    }
}

#[test]
fn the_gaps_of_a_drawn_rate_are_each_clones_own() {
    lab::need!(Memory::tmpfs());
    let folder = Memory::tmpfs().expect("memory");
    let rate = "--rate_iops=500 --rate_process=poisson --number_ios=60";
    let line = format!("--size=1m --rw=randread --bs=4k {rate} --name=a --numjobs=2");
    run_as("fio-3.42", &folder.path("."), &format!("--write_iolog=l.log {line}"));
    let text = fs::read_to_string(folder.path("l.log")).expect("a list");
    let times = |file: &str| -> Vec<i64> {
        let lines = text.lines().filter(|line| line.contains(file) && line.contains(" read "));
        let at = |line: &str| line.split(' ').next().and_then(|at| at.parse().ok());
        lines.map(|line| at(line).expect("a time")).collect()
    };
    let (one, other) = (times("a.0.0"), times("a.1.0"));
    let near = one.iter().zip(&other).filter(|(one, other)| (**one - **other).abs() <= 1);
    assert!(one.len() == 60 && near.count() < 45, "{one:?}\n{other:?}");
}

#[test]
fn what_only_time_ends_goes_on_drawing_and_each_direction_wraps_by_itself() {
    lab::need!(Memory::tmpfs());
    let folder = Memory::tmpfs().expect("memory");
    let endless = "--size=1m --bs=4k --time_based --runtime=600 --number_ios=4000 --name=a";
    for (words, least) in [
        ("--rw=randrw", 240),
        ("--rw=randrw --ioengine=libaio --iodepth=8 --norandommap", 240),
        ("--rw=randrw --randrepeat=0", 240),
        ("--rw=rw --rwmixread=60", 256),
        ("--rw=rw --ioengine=libaio --iodepth=8", 256),
        ("--rw=randread --ioengine=libaio --iodepth=8 --norandommap", 250),
    ] {
        let did = drawn("fio-3.33", &folder.path("."), &format!("{words} {endless}"));
        let ios = &did["a.0.0"];
        assert_eq!(ios.len(), 4000, "{words}");
        for action in ["read", "write"].iter().filter(|_| words.contains("rw=r")) {
            let seen = places(ios, action).len();
            let none = *action == "write" && words.contains("randread");
            assert!(none || seen >= least, "{words}: {seen} {action}");
        }
    }
}

#[test]
fn an_offset_is_where_the_words_say() {
    lab::need!(Memory::tmpfs());
    let folder = Memory::tmpfs().expect("memory");
    for (words, first) in [
        ("--offset=120k", 122_880),
        ("--offset=1000 --bs=3000 --rw=randwrite --size=3000", 1000),
        ("--offset=8k --offset_increment=5k --numjobs=2", 8192),
        ("--offset=1m --offset_align=64k", 1 << 20),
        ("--offset=33% --filesize=1m", 360_448),
    ] {
        let line = format!("--rw=write --bs=16k --size=64k --name=a {words}");
        let did = drawn("fio-3.42", &folder.path("."), &line);
        let least = |file: &str| did[file].iter().map(|io| io.1).min();
        if !words.contains('%') {
            assert_eq!(least("a.0.0"), Some(first), "{words}");
        }
        if words.contains("increment") {
            assert_eq!(least("a.1.0"), Some(first + 5120), "{words}");
        }
    }
    fs::write(folder.path("there"), vec![0; 1 << 20]).expect("a file");
    let line = "--rw=read --bs=16k --filename=there --name=a --offset=33%";
    let did = drawn("fio-3.42", &folder.path("."), line);
    assert_eq!(did["there"][0].1, 22 * 16384);
}

#[test]
fn what_is_trimmed_and_written_is_all_of_the_size_in_both_directions() {
    lab::need!(Memory::tmpfs());
    let folder = Memory::tmpfs().expect("memory");
    for words in ["--rw=trimwrite", "--rw=randtrimwrite", "--rw=trimwrite --loops=2"] {
        let line = format!("--ioengine=null --bs=64k --size=8m --name=a {words}");
        let document = report(false, &folder.path("."), &line);
        let job = &document["jobs"][0];
        let bytes = ["trim", "write"].map(|way| job[way]["io_bytes"].as_u64().expect("bytes"));
        let whole = if words.contains("loops") { 16 << 20 } else { 8 << 20 };
        assert_eq!(bytes, [whole; 2], "{words}");
    }
    let line = "--ioengine=null --bs=64k --size=8m --name=a --rw=trimwrite --number_ios=20";
    let job = &report(false, &folder.path("."), line)["jobs"][0];
    assert_eq!((&job["trim"]["total_ios"], &job["write"]["total_ios"]), (&20.into(), &20.into()));
}

#[test]
fn what_was_written_is_read_back_in_its_order_and_by_place_where_some_came_twice() {
    lab::need!(Memory::tmpfs());
    let folder = Memory::tmpfs().expect("memory");
    for (words, by_place) in [
        ("--rw=randwrite", false),
        ("--rw=randwrite --random_generator=lfsr", false),
        ("--rw=randrw --rwmixread=30", false),
        ("--rw=randwrite --number_ios=100", false),
        ("--rw=randwrite --bsrange=4k-16k", false),
        ("--rw=randwrite --nrfiles=3", false),
        ("--rw=write", false),
        ("--rw=randwrite --norandommap", true),
        ("--rw=randwrite:4", true),
        ("--rw=write:4k", true),
        ("--rw=write --io_size=2m", true),
    ] {
        let line = format!("--bs=4k --size=768k --verify=crc32c --name=a {words}");
        let did = drawn("fio-3.42", &folder.path("."), &line);
        for (file, ios) in &did {
            let of = |action: &'static str| ios.iter().filter(move |io| io.0 == action);
            let written: Vec<_> = of("write").map(|io| (io.1, io.2)).collect();
            let reads: Vec<_> = of("read").map(|io| (io.1, io.2)).collect();
            let mixed = words.contains("randrw");
            let back = if mixed { &reads[reads.len() - written.len()..] } else { &reads };
            let mut expected = written.clone();
            if by_place {
                expected.sort_unstable();
                expected.dedup();
            }
            assert_eq!(back, expected, "{words}: {file}");
        }
    }
}

#[test]
fn no_more_is_read_back_than_was_written() {
    lab::need!(Memory::tmpfs());
    let folder = Memory::tmpfs().expect("memory");
    // The first job ends the second one somewhere.
    let first = "--name=a --rw=write --bs=4k --size=64k --rate_iops=100 --exitall";
    for words in ["--rw=randwrite", "--rw=write", "--rw=randwrite --ioengine=libaio --iodepth=8"] {
        let second =
            format!("--name=b --bs=4k --size=64m --rate_iops=1000 --verify=crc32c {words}");
        let document = report(false, &folder.path("."), &format!("{first} {second}"));
        let job = &document["jobs"][1];
        let [read, written] = ["read", "write"].map(|way| job[way]["total_ios"].as_u64());
        assert_eq!(job["error"], 0, "{words}");
        assert!(read == written && written > Some(0), "{words}: {read:?} of {written:?}");
    }
}

#[test]
fn what_could_not_be_written_is_not_read_back() {
    lab::need!(Memory::tmpfs());
    for words in ["", "--norandommap", "--ioengine=libaio --iodepth=4"] {
        let full = Memory::tmpfs_of(512 << 10).expect("memory");
        let line = format!(
            "--name=a --rw=randwrite --bs=4k --size=1m --fallocate=none --verify=crc32c \
             --continue_on_error=write --ignore_error=,ENOSPC {words}"
        );
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let output =
            crate::fio_pair::run(false, &full.path("."), &format!("{line} --output-format=json"));
        let job = &document(&output)["jobs"][0];
        let [read, written] = ["read", "write"].map(|way| job[way]["io_bytes"].as_u64());
        let failed = job["total_err"].as_u64().expect("a number");
        assert!(failed > 16 && !said(&output).contains("verify:"), "{line}: {}", said(&output));
        let (read, written) = (read.expect("a number"), written.expect("a number"));
        assert!(written > 256 << 10 && read <= written, "{line}: {read} of {written}");
        assert!(!words.is_empty() || read == written, "{line}: {read} of {written}");
    }
}

#[test]
fn a_clone_does_not_verify_what_another_wrote_over_it() {
    lab::need!(Memory::tmpfs());
    let folder = Memory::tmpfs().expect("memory");
    let queue = "--ioengine=libaio --iodepth=8 --randrepeat=0";
    let line =
        format!("--name=a --filename=t --size=1m --rw=randwrite --bs=4k --verify=crc32c {queue}");
    let output = crate::fio_pair::run(false, &folder.path("."), &format!("{line} --numjobs=4"));
    let text = said(&output);
    // Who wrote last everywhere is right, if there is such a one.
    assert!(matches!(output.status.code(), Some(3 | 4)), "{text}");
    assert!(text.contains("verify: bad header rand_seed"), "{text}");
    assert!(text.contains("offset_increment"), "{text}");
    // Each in a part of its own.
    let apart = format!("{line} --numjobs=4 --offset_increment=1m");
    let output = crate::fio_pair::run(false, &folder.path("."), &apart);
    assert!(output.status.success(), "{}", said(&output));
    // One who is told not to look at the seed does not.
    let blind = format!("{line} --numjobs=4 --verify_header_seed=0");
    let output = crate::fio_pair::run(false, &folder.path("."), &blind);
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn what_only_time_ends_verifies_each_pass_on_a_queue() {
    lab::need!(Memory::tmpfs());
    let folder = Memory::tmpfs().expect("memory");
    let line = "--name=a --size=128k --bs=4k --verify=crc32c --time_based --runtime=1";
    for words in [
        "--rw=randwrite --ioengine=libaio --iodepth=8",
        "--rw=randwrite --ioengine=io_uring --iodepth=4 --randrepeat=0",
        "--rw=randwrite --ioengine=libaio --iodepth=8 --norandommap",
        "--rw=randrw --ioengine=libaio --iodepth=8",
        "--rw=write --ioengine=libaio --iodepth=8",
    ] {
        let document = report(false, &folder.path("."), &format!("{line} {words}"));
        let job = &document["jobs"][0];
        let [read, written] = ["read", "write"].map(|way| job[way]["total_ios"].as_u64());
        let (read, written) = (read.expect("a number"), written.expect("a number"));
        assert!(written > 32 && read >= 16, "{words}: {read} of {written}");
        // The last pass is not verified; of a mix the reads of the mix come to it.
        assert!(words.contains("randrw") || read <= written, "{words}: {read} of {written}");
        let whole = words.contains("norandommap") || words.contains("randrw");
        assert!(whole || written - read <= 64, "{words}: {read} of {written}");
    }
    // Without a queue no pass ends, and that is told.
    for words in ["--rw=randwrite", "--rw=randrw"] {
        let output = crate::fio_pair::run(false, &folder.path("."), &format!("{line} {words}"));
        assert!(output.status.success(), "{words}: {}", said(&output));
        assert!(said(&output).contains("no verification"), "{words}: {}", said(&output));
    }
}

#[test]
fn the_seeds_of_each_clone_are_told_where_that_is_asked_for() {
    lab::need!(Memory::tmpfs());
    let folder = Memory::tmpfs().expect("memory");
    let seeds = |words: &str| -> Vec<String> {
        let line =
            format!("--debug=random --name=a --ioengine=null --rw=randread --size=32k {words}");
        let output = run_as("fio-3.42", &folder.path("."), &line);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("FIO_RAND_NR_OFFS=24"), "{text}");
        let seeds = text.lines().filter_map(|line| Some(line.split_once("rand_seeds[")?.1.into()));
        seeds.collect()
    };
    assert_eq!(seeds("")[0], "0]=5942511153023025289");
    assert_eq!(seeds("--numjobs=2").len(), 48);
    assert_eq!(seeds("--randseed=5"), seeds("--randseed=5"));
    assert_ne!(seeds("--randseed=5"), seeds("--randseed=6"));
    assert_ne!(seeds("--randrepeat=0"), seeds("--randrepeat=0"));
}

#[test]
fn each_pass_over_a_map_is_verified_before_the_next() {
    lab::need!(Memory::tmpfs());
    let folder = Memory::tmpfs().expect("memory");
    // What fio 3.33 and 3.42 do: what is read back counts, too.
    for (words, ios) in [
        ("--io_size=768k", 128),
        ("--io_size=512k", 64),
        ("--io_size=520k --ioengine=libaio --iodepth=4", 128),
        ("--io_size=768k --loops=2", 128),
    ] {
        let line = format!("--name=a --rw=randwrite --bs=4k --size=256k --verify=crc32c {words}");
        let did = drawn("fio-3.42", &folder.path("."), &line);
        let ios_of = |action| did["a.0.0"].iter().filter(move |io| io.0 == action).count();
        assert_eq!((ios_of("write"), ios_of("read")), (ios, ios), "{words}");
        // Each pass is behind the one before.
        let first = did["a.0.0"].iter().take(128).map(|io| io.0.as_str());
        assert!(first.eq(["write"; 64].into_iter().chain(["read"; 64])), "{words}");
    }
}

#[test]
fn what_is_only_verified_is_what_the_same_words_write() {
    lab::need!(Memory::tmpfs());
    for (words, by_place) in [
        ("--rw=write", false),
        ("--rw=write --number_ios=20", false),
        ("--rw=write --bsrange=4k-16k", false),
        ("--rw=write --nrfiles=3", false),
        ("--rw=write:4k", true),
        ("--rw=randwrite", false),
        ("--rw=randwrite --io_size=100k", false),
        ("--rw=randwrite --norandommap", true),
        ("--rw=randwrite:4", true),
        ("--rw=randrw", false),
        ("--rw=rw --ioengine=libaio --iodepth=8", false),
    ] {
        let folder = Memory::tmpfs().expect("memory");
        let line = format!("--name=a --bs=4k --size=768k --verify=md5 {words}");
        let wrote = drawn("fio-3.42", &folder.path("."), &format!("{line} --do_verify=0"));
        let read = drawn("fio-3.42", &folder.path("."), &format!("{line} --verify_only"));
        for (file, ios) in wrote {
            let written = ios.into_iter().filter(|io| io.0 == "write").map(|io| (io.1, io.2));
            let mut written: Vec<_> = written.collect();
            if by_place {
                written.sort_unstable();
                written.dedup();
            }
            let back: Vec<_> = read[&file].iter().map(|io| (io.1, io.2)).collect();
            assert!(back == written, "{words}: {file}: {back:?}\n{written:?}");
            assert!(read[&file].iter().all(|io| io.0 == "read"), "{words}");
        }
        // And it looks at it.
        let file = fs::read_dir(folder.path(".")).expect("a folder").flatten();
        let file =
            file.map(|entry| entry.path()).find(|path| path.to_string_lossy().contains("a.0"));
        fs::write(file.expect("a file"), vec![1; 768 << 10]).expect("it is overwritten");
        let wrong =
            crate::fio_pair::run(false, &folder.path("."), &format!("{line} --verify_only"));
        assert_eq!(wrong.status.code(), Some(1), "{words}: {}", said(&wrong));
    }
}
