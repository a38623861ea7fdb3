//! Lines that fio takes and that are done as there: their whole output, or what was read and written, with the values
//! of fio 3.42.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::lab::{self, Memory};

fn command(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    for name in ["ASSAY_DIALECT", "ASSAY_COLD", "ASSAY_RECORD"] {
        command.env_remove(name);
    }
    let words = line.split_whitespace();
    command.arg("fio").args(words).env("ASSAY_SETTLE", "no").current_dir(folder);
    command
}

fn fio(folder: &Path, line: &str) -> Output {
    command(folder, line).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// What it prints when it succeeds, with numbers of processes left out.
fn printed(folder: &Path, line: &str) -> String {
    let out = fio(folder, line);
    assert!(out.status.success(), "{line}: {}", text(&out.stderr));
    let kinds = ["parse", "random", "io"];
    let told = text(&out.stdout);
    let lines = told.lines().map(|line| {
        let mut words = line.split_whitespace();
        match words.next().filter(|kind| kinds.contains(kind)) {
            Some(kind) => format!("{kind}: {}\n", words.skip(1).collect::<Vec<_>>().join(" ")),
            None => format!("{line}\n"),
        }
    });
    lines.collect()
}

/// (I/Os read, written) by the first job.
fn moved(folder: &Path, line: &str) -> [u64; 2] {
    let out = fio(folder, &format!("{line} --output-format=json"));
    assert!(out.status.success(), "{line}: {}", text(&out.stderr));
    let document: Value = serde_json::from_slice(&out.stdout).expect("a document");
    ["read", "write"].map(|way| document["jobs"][0][way]["total_ios"].as_u64().expect("a number"))
}

#[test]
fn a_steady_state_is_told_as_it_was_parsed() {
    let folder = tempfile::tempdir().expect("a folder");
    for (limit, told) in [
        ("iops:10", "set steady state IOPS threshold to 10.000000"),
        ("iops:10%", "set steady state threshold to 10.000000%"),
        ("iops:.1%", "set steady state threshold to 0.100000%"),
        ("bw:10%", "set steady state threshold to 10.000000%"),
        ("bw:.1%", "set steady state threshold to 0.100000%"),
        ("bw:12", "set steady state BW threshold to 12"),
        ("lat:10us", "set steady state latency threshold to 10 nsec"),
    ] {
        let line = format!("--parse-only --debug=parse --ss_dur=10s --ss={limit} --ss_ramp=5");
        let wanted = format!("fio: set debug option parse\nparse: {told}\n");
        assert_eq!(printed(folder.path(), &line), wanted, "{limit}");
    }
}

/// The seeds and the I/Os that fio 3.42 tells of this line.
const DEBUGGED: &str = "\
fio: set debug option random
fio: set debug option io
random: FIO_RAND_NR_OFFS=24
random: rand_seeds[0]=5942511153023025289
random: rand_seeds[1]=3039760566914318474
random: rand_seeds[2]=12709748255548375179
random: rand_seeds[3]=8912379698492276876
random: rand_seeds[4]=2501048522732208269
random: rand_seeds[5]=4329148355254354062
random: rand_seeds[6]=6803328749335347343
random: rand_seeds[7]=2330239258251821200
random: rand_seeds[8]=1763273508989960337
random: rand_seeds[9]=15955825128535949458
random: rand_seeds[10]=421055522747318419
random: rand_seeds[11]=2905846466029355156
random: rand_seeds[12]=15816847511658692757
random: rand_seeds[13]=13113964139202412694
random: rand_seeds[14]=5650589975646699671
random: rand_seeds[15]=4280118647977738392
random: rand_seeds[16]=1409199709472161945
random: rand_seeds[17]=7891226787116155034
random: rand_seeds[18]=16132849434186350747
random: rand_seeds[19]=93973130249830556
random: rand_seeds[20]=7521479649711882397
random: rand_seeds[21]=12375274472139587742
random: rand_seeds[22]=7062007150809579679
random: rand_seeds[23]=2435071312708042912
io: complete: io_u 0x0: off=0x7000,len=0x1000,ddir=0,file=a.0.0
io: complete: io_u 0x1: off=0x6000,len=0x1000,ddir=0,file=a.0.0
";

#[test]
fn seeds_and_completions_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let line =
        "--debug=random,io --name=a --ioengine=null --filesize=32k --io_size=8k --rw=randread";
    let whole = printed(folder.path(), line);
    let told: String = whole
        .lines()
        .filter(|line| ["fio: set", "random:", "io:"].iter().any(|kind| line.starts_with(kind)))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(told, DEBUGGED, "{whole}");
    let refused = fio(folder.path(), "--debug=nothing --name=a --size=1m");
    assert_eq!(
        text(&refused.stderr).lines().next(),
        Some("fio: debug mask nothing not found"),
        "{refused:?}"
    );
}

#[test]
fn the_version_is_the_one_that_is_meant() {
    for (meant, told) in [(None, "fio-3.42\n"), (Some("fio-3.33"), "fio-3.33\n")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.env_remove("ASSAY_DIALECT").args(["fio", "--version"]);
        let out = command.envs(meant.map(|meant| ("ASSAY_DIALECT", meant))).output();
        assert_eq!(text(&out.expect("it runs").stdout), told);
    }
}

#[test]
fn old_names_of_an_engine_are_that_engine() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = |engine: &str| {
        let line = format!("--name=a --rw=read --size=1m --iodepth=4 --ioengine={engine} --plan");
        let mut plan: Value =
            serde_json::from_slice(&fio(folder.path(), &line).stdout).expect("a plan");
        plan["origin"]["words"].take();
        plan
    };
    let wanted = plan("libaio");
    for engine in ["aio", "linuxaio", "aio-ng"] {
        assert_eq!(plan(engine), wanted, "{engine}");
    }
}

/// A word that only a server heeds changes nothing; those that make one say what does the same here.
#[test]
fn servers_are_not_there_and_what_is_for_them_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = "--name=a --rw=write --size=64k --bs=4k";
    assert_eq!(moved(folder.path(), &format!("--daemonize=pid {line}")), [0, 16]);
    assert!(!folder.path().join("pid").exists());
    for (word, what) in [("--server", "server"), ("--client=box", "client")] {
        let out = fio(folder.path(), &format!("{word} {line}"));
        assert_eq!(
            (out.status.code(), text(&out.stderr)),
            (
                Some(2),
                format!(
                    "assay: word 1: a {what} is not done here; start the same line on all machines: mpirun -np 2 -host HOST1,HOST2 fio JOBFILE\n"
                )
            )
        );
    }
}

#[test]
fn folders_of_files_are_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = "--name=a --rw=write --size=64k --bs=4k --filename=new/sub/x";
    assert_eq!(moved(folder.path(), line), [0, 16]);
    let file = |name: &str| std::fs::metadata(folder.path().join(name)).expect(name).len();
    assert_eq!(file("new/sub/x"), 64 << 10);
    let line =
        "--name=b --rw=write --filesize=4k --bs=4k --nrfiles=3 --filename_format=octa/$filenum/f";
    assert_eq!(moved(folder.path(), line), [0, 3]);
    assert_eq!([0, 1, 2].map(|number| file(&format!("octa/{number}/f"))), [4096; 3]);
    // What is only planned makes none.
    assert!(
        fio(folder.path(), "--name=c --rw=write --size=4k --filename=later/x --plan")
            .status
            .success()
    );
    assert!(!folder.path().join("later").exists());
}

/// Which writes are read back, and how often.
#[test]
fn as_many_blocks_are_verified_as_there() {
    let folder = tempfile::tempdir().expect("a folder");
    for (words, wanted) in [
        ("--rw=write --verify_policy=fsynced --fsync=10", [60, 64]),
        ("--rw=write --verify_policy=fsynced --fsync=16", [48, 64]),
        ("--rw=write --verify_policy=fsynced --fdatasync=10", [60, 64]),
        ("--rw=randwrite --verify_policy=fsynced --fsync=10", [60, 64]),
        ("--rw=write --verify_policy=fsynced --end_fsync=1", [63, 64]),
        ("--rw=write --verify_policy=fsynced --fsync=100", [0, 64]),
        ("--rw=write --verify_policy=fsynced", [0, 64]),
        ("--rw=randrw --verify_policy=fsynced --fsync=10", [59, 35]),
        ("--rw=randrw --verify_policy=fsynced --end_fsync=1", [63, 35]),
        ("--rw=randrw --verify_policy=fsynced --fsync=5 --rwmixread=70", [63, 21]),
        ("--rw=randrw --verify_policy=fsynced --fsync=7 --number_ios=40", [33, 21]),
        ("--rw=randrw --verify_policy=fsynced --fsync=7 --norandommap", [39, 35]),
        ("--rw=randwrite --verify_policy=fsynced --norandommap --end_fsync=1", [35, 64]),
        ("--rw=randwrite --io_size=600k", [128, 128]),
        ("--rw=randwrite --norandommap --io_size=600k", [58, 150]),
    ] {
        let line = format!("--name=a --filename=f --bs=4k --size=256k --verify=crc32c {words}");
        assert_eq!(moved(folder.path(), &line), wanted, "{words}");
    }
}

/// What another run has written is read back by the same words.
#[test]
fn what_another_run_wrote_is_verified() {
    let folder = tempfile::tempdir().expect("a folder");
    // The writes are those that are passed over, as fio counts them.
    for (words, more, verified) in [
        ("--rw=randwrite --norandommap", "", [41, 64]),
        ("--rw=randwrite --norandommap --io_size=600k", "", [58, 150]),
        ("--rw=randrw", "", [35, 35]),
        ("--rw=randwrite --number_ios=20", "", [20, 20]),
        ("--rw=randwrite --io_size=100k", "", [25, 25]),
        ("--rw=randwrite", "--verify_state_load=1", [64, 64]),
    ] {
        let line = format!("--name=a --filename=f --bs=4k --size=256k --verify=crc32c {words}");
        assert!(fio(folder.path(), &format!("{line} --do_verify=0")).status.success(), "{words}");
        let line = format!("{line} --verify_only {more}");
        assert_eq!(moved(folder.path(), &line), verified, "{words}");
        // A block that was written and changed since is found.
        let path = folder.path().join("f");
        let mut bytes = std::fs::read(&path).expect("the file");
        bytes.iter_mut().for_each(|byte| *byte = !*byte);
        std::fs::write(&path, bytes).expect("written");
        let out = fio(folder.path(), &line);
        assert!(!out.status.success(), "{words}: {}", text(&out.stdout));
    }
}

/// The places of `sprandom` are those of fio, in their order: how many, and a sum over their places.
#[test]
fn an_ssd_is_filled_in_the_order_of_fio() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = "--name=a --filename=f --bs=4k --size=4m --rw=randwrite --sprandom=1";
    for (words, ios, sum) in [
        ("", 1111, 2_939_656_992_987_533_312),
        ("--spr_num_regions=10 --spr_cs=16k", 1161, 3_870_870_588_174_700_544),
    ] {
        let log = folder.path().join("log");
        let told = printed(folder.path(), &format!("{line} {words} --write_iolog=log"));
        let sets = "fio: sprandom sets random_generator=lfsr\nfio: sprandom sets norandommap=1\n";
        assert!(told.starts_with(sets), "{told}");
        let listed = std::fs::read_to_string(&log).expect("a list");
        std::fs::remove_file(log).expect("it is there");
        let place = |line: &str| {
            let (_, place) = line.split_once(" write ")?;
            place.split(' ').next()?.parse::<u64>().ok()
        };
        let places: Vec<u64> = listed.lines().filter_map(place).collect();
        assert_eq!(places[..3], [2_899_968, 401_408, 1_249_280], "{words}");
        let found = places.iter().fold(0_u64, |sum, at| sum.wrapping_mul(31).wrapping_add(*at));
        assert_eq!((places.len(), found), (ios, sum), "{words}");
    }
    // What comes again is read once.
    let lines = printed(folder.path(), &format!("{line} --verify=crc32c --output-format=json"));
    let (_, document) = lines.split_once("map=1\n").expect("what it sets");
    let document: Value = serde_json::from_str(document).expect("a document");
    let moved = ["read", "write"].map(|way| document["jobs"][0][way]["total_ios"].as_u64());
    assert_eq!(moved, [Some(983), Some(1111)]);
    for (words, why) in [
        (
            "--rw=randread",
            "fio: sprandom requires random write, random_generator=lfsr, norandommap=1\n",
        ),
        ("--random_generator=tausworthe", "fio: sprandom requires random_generator=lfsr\n"),
        ("--norandommap=0", "fio: sprandom requires norandommap=1\n"),
        ("--spr_cs=1m", "a region has 48209 bytes and must not be smaller than the cache"),
        ("--spr_op=1.5", "it is a share above 0 and below 1"),
        ("--rw=randrw", "it is for random writes of one size in one file without zones"),
        ("--loops=2", "the pass of sprandom is made once"),
    ] {
        let refused = fio(folder.path(), &format!("{line} {words}"));
        assert!(text(&refused.stderr).contains(why), "{words}: {}", text(&refused.stderr));
        assert!(!refused.status.success(), "{words}");
    }
}

/// Pages are dropped whenever a file is begun anew, as often as fio drops them after the first time.
#[test]
fn each_pass_is_read_from_the_device() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = "--name=a --filename=f:g --size=1m --bs=64k";
    let timed = "--filename=f --time_based --runtime=1 --rate_iops=40";
    for (words, drops) in [
        ("--filename=f --rw=read --loops=3", Some(2)),
        ("--filename=f --rw=randread --loops=3", Some(2)),
        ("--nrfiles=2 --rw=read --loops=3", Some(4)),
        ("--filename=f --rw=read --io_size=3m", Some(2)),
        ("--filename=f --rw=write --io_size=3m", Some(2)),
        ("--filename=f --rw=read", None),
        ("--filename=f --rw=read --loops=3 --invalidate=0", None),
        (&format!("--rw=read {timed}"), Some(2)),
        (&format!("--rw=randread {timed}"), Some(2)),
    ] {
        let line = match words.contains("--nrfiles") {
            true => format!("{line} {words}"),
            false => format!("{} {words}", line.replace("--filename=f:g ", "")),
        };
        let kept = command(folder.path(), &line).env("ASSAY_RECORD", "run.json").output();
        let kept = kept.expect("it runs");
        assert!(kept.status.success(), "{words}: {}", text(&kept.stderr));
        let path = folder.path().join("run.json");
        let document = std::fs::read(&path).expect("a record");
        std::fs::remove_file(path).expect("it is there");
        let record: Value = serde_json::from_slice(&document).expect("a document");
        let totals = &record["phases"][0]["jobs"][0]["totals"];
        assert_eq!(totals["drop"]["ops"].as_u64(), drops, "{words}: {totals}");
    }
}

/// What a flush between them followed is what another run verifies, of a mix, too.
#[test]
fn the_state_of_flushed_writes_of_a_mix_says_how_many() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = "--name=a --filename=f --bs=4k --size=256k --verify=crc32c --rw=randrw \
                --rwmixread=70 --verify_policy=fsynced --fsync=16";
    assert_eq!(moved(folder.path(), &format!("{line} --do_verify=0")), [43, 21]);
    let read = format!("{line} --verify_only --verify_state_load=1");
    assert_eq!(moved(folder.path(), &read), [16, 16]);
}

/// Writes that are only passed over have no time, no latency and no rate, and are no flow of the record.
#[test]
fn phantom_writes_are_counted_and_are_no_evidence() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = "--name=a --filename=f --bs=4k --size=256k --verify=crc32c --rw=randrw";
    assert!(fio(folder.path(), &format!("{line} --do_verify=0")).status.success());
    let line = format!("{line} --verify_only");
    let report = printed(folder.path(), &line);
    assert!(report.contains("issued rwts: total=35,35,0,0 short=0,0,0,0"), "{report}");
    assert!(!report.contains("write:") && !report.contains("WRITE:"), "{report}");
    let terse = printed(folder.path(), &format!("{line} --minimal"));
    let fields: Vec<&str> = terse.trim_end().split(';').collect();
    assert_eq!(fields[5], "140", "{terse}");
    assert_eq!(fields[46..50], ["140", "0", "0", "0"], "{terse}");
    let kept = command(folder.path(), &line).env("ASSAY_RECORD", "run.json").status();
    assert!(kept.is_ok_and(|status| status.success()));
    let document = std::fs::read(folder.path().join("run.json")).expect("a record");
    let record: Value = serde_json::from_slice(&document).expect("a document");
    let phase = &record["phases"][0];
    assert_eq!(phase["jobs"][0]["phantom"], json!({"ops": 35, "bytes": 143_360}), "{record}");
    assert_eq!(phase["jobs"][0]["totals"]["read"]["ops"], 35);
    assert_eq!(phase["jobs"][0]["totals"].get("write"), None);
    let flows = phase["flows"].as_array().expect("flows");
    let ways: Vec<_> = flows.iter().map(|flow| flow["direction"].as_str()).collect();
    assert_eq!(ways, [Some("read")]);
    // Where directions are one they would be part of its rate.
    let mixed = format!("{line} --unified_rw_reporting=1 --output-format=json");
    let mixed: Value = serde_json::from_str(&printed(folder.path(), &mixed)).expect("a document");
    assert_eq!(mixed["jobs"][0]["mixed"]["total_ios"], 35);
}

/// Trims need no memory, however large they are.
#[test]
fn large_trims_of_a_list_need_no_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("f"), vec![1; 1 << 20]).expect("a file");
    let trims: String = (0..4).map(|_| "f trim 4096 4294901760\n").collect();
    let list = format!("fio version 2 iolog\nf add\nf open\n{trims}f read 0 4096\nf close\n");
    std::fs::write(at("list"), list).expect("a list");
    let line = "--name=a --read_iolog=list --ioengine=io_uring --iodepth=64";
    assert_eq!(moved(folder.path(), line), [1, 0]);
}

/// Memory that nothing was in is touched, and no file is made.
#[test]
fn pages_of_memory_are_touched() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = "--name=a --ioengine=page_fault --bs=4k --size=1m";
    assert_eq!(moved(folder.path(), &format!("{line} --rw=write")), [0, 256]);
    assert_eq!(moved(folder.path(), &format!("{line} --rw=randread")), [256, 0]);
    assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 0);
    let out = fio(folder.path(), &format!("{line} --rw=read --offset=4k"));
    assert_eq!(
        text(&out.stderr),
        "assay: job 'a': '--offset=4k': it begins at its beginning; leave it out, or use ioengine=mmap\n"
    );
}

/// A log that was stored compressed is printed as its lines.
#[test]
fn a_compressed_log_is_inflated() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = "--name=a --rw=write --bs=4k --size=64k --write_lat_log=l --log_offset=1 --log_compression=64k --log_store_compressed=1";
    assert_eq!(moved(folder.path(), line), [0, 16]);
    let lines = printed(folder.path(), "--inflate-log=l_lat.1.log.fz");
    let fields: Vec<Vec<&str>> = lines.lines().map(|line| line.split(", ").collect()).collect();
    let last: Vec<String> = fields.iter().map(|fields| fields[2..].join(", ")).collect();
    let wanted: Vec<String> =
        (0..16).map(|number| format!("1, 4096, {}, 0", number * 4096)).collect();
    assert_eq!(last, wanted, "{lines}");
    assert_eq!(
        text(&fio(folder.path(), "--inflate-log=f").stderr),
        "assay: word 1: --inflate-log=f: No such file or directory; name a file that log_store_compressed=1 made\n"
    );
}

/// A file that was written until nothing fitted is read to its end.
#[test]
fn what_filled_a_device_is_read() {
    let _alone = lab::alone();
    let folder = lab::need!(Memory::tmpfs_of(8 << 20));
    let line = "--filename=x --bs=64k --fill_device=1 --name=w --rw=write --name=r --stonewall --rw=read --output-format=json";
    let out = fio(&folder.path("."), line);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let document: Value = serde_json::from_slice(&out.stdout).expect("a document");
    let bytes = |job: usize, way: &str| document["jobs"][job][way]["io_bytes"].as_u64();
    assert_eq!((bytes(0, "write"), bytes(1, "read")), (Some(8 << 20), Some(8 << 20)));
}
