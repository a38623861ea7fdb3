//! Lists of files and devices: fio's files, their sizes and I/Os, and what the record has of each device.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;

use assay_record::evidence::Direction;

use crate::fio_iolog::listed;
use crate::fio_pair::{document, report, run};
use crate::kernel::hear;
use crate::lab::{self, Card, MI, Memory, RamDisk};

/// The sizes of all files below a folder, but for the list of I/Os.
fn sizes(folder: &Path) -> BTreeMap<String, u64> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let each = entries.map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, entry.metadata().expect("a file").len())
    });
    each.filter(|(name, _)| name != "l.log").collect()
}

#[test]
fn files_of_several_sizes_are_those_of_fio() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    lab::need!(Memory::tmpfs());
    for line in [
        "--name=a --nrfiles=6 --filesize=8k-64k --bs=4k --rw=randrw",
        "--name=a --nrfiles=5 --filesize=16k-100k --bs=1k --rw=randwrite --numjobs=2 --size=200k",
        "--name=a --nrfiles=3 --filesize=3k-256k --bs=4k --rw=randwrite --file_service_type=random",
        "--name=a --opendir=d --bs=4k --rw=randread",
    ] {
        let [ours, theirs] = [false, true].map(|theirs| {
            let folder = Memory::tmpfs().expect("memory");
            fs::create_dir(folder.path("d")).expect("a folder");
            fs::create_dir(folder.path("d/below")).expect("a folder");
            for (name, size) in [("d/p", 20_000), ("d/q", 70_000), ("d/below/r", 4096)] {
                fs::write(folder.path(name), vec![1; size]).expect("a file");
            }
            let document =
                report(theirs, &folder.path("."), &format!("{line} --write_iolog=l.log"));
            let job = &document["jobs"][0];
            let work = ["read", "write"].map(|way| job[way]["io_bytes"].as_u64());
            (listed(&folder.path("l.log")), sizes(&folder.path(".")), work)
        });
        assert_eq!(ours, theirs, "{line}");
    }
}

/// A file that is removed after each loop is another one afterwards: what else had its name keeps the first loop.
#[test]
fn files_are_removed_after_each_loop() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    lab::need!(Memory::tmpfs());
    for (line, left) in [
        ("--rw=write --loops=3", 1),
        ("--rw=randwrite --loops=2 --ioengine=libaio --iodepth=4", 1),
        ("--rw=write --loops=2 --verify=crc32c", 1),
        ("--rw=write --loops=2 --unlink=1", 0),
        ("--rw=write --loops=1", 2),
    ] {
        let [ours, theirs] = [false, true].map(|theirs| {
            let folder = Memory::tmpfs().expect("memory");
            fs::write(folder.path("a.0.0"), vec![1; 64 << 10]).expect("a file");
            fs::hard_link(folder.path("a.0.0"), folder.path("first")).expect("a name");
            let line = format!("--name=a --bs=16k --size=64k {line} --unlink_each_loop=1");
            let document = report(theirs, &folder.path("."), &line);
            let job = &document["jobs"][0];
            let work = ["read", "write"]
                .map(|way| (job[way]["total_ios"].as_u64(), job[way]["io_bytes"].as_u64()));
            let names =
                |name: &str| fs::metadata(folder.path(name)).map_or(0, |found| found.nlink());
            let written = fs::read(folder.path("first")).expect("bytes") != vec![1; 64 << 10];
            (work, names("a.0.0"), names("first"), written, document["jobs"][0]["error"].clone())
        });
        assert_eq!(ours, theirs, "{line}");
        assert_eq!((ours.1, ours.3), (left, true), "{line}");
    }
}

/// The files of one job lie on as many file systems as it likes, and the record has each of them.
#[test]
fn files_of_one_job_lie_on_two_file_systems() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    lab::need!(Memory::tmpfs());
    for more in ["--rw=write", "--rw=randrw --file_service_type=random", "--rw=read --loops=2"] {
        let [ours, theirs] = [false, true].map(|theirs| {
            let [folder, one, two] = [0; 3].map(|_| Memory::tmpfs().expect("memory"));
            let [x, y] = [one.path("x"), two.path("y")];
            let line = format!(
                "--name=a --filename={}:{} --bs=4k --size=512k {more}",
                x.display(),
                y.display()
            );
            let document = report(theirs, &folder.path("."), &line);
            let job = &document["jobs"][0];
            let work = ["read", "write"].map(|way| job[way]["io_bytes"].as_u64());
            (sizes(&one.path(".")), sizes(&two.path(".")), work)
        });
        assert_eq!(ours, theirs, "{more}");
        assert_eq!((ours.0["x"], ours.1["y"]), (256 << 10, 256 << 10), "{more}");
    }
}

#[test]
fn folders_are_made_looked_at_and_removed_by_their_engines() {
    let _alone = lab::alone();
    // Debian's fio has none of the three.
    let folder = lab::need!(Memory::tmpfs());
    let at = folder.path(".");
    let there = || fs::read_dir(&at).expect("a folder").flatten().count();
    let line = "--nrfiles=8 --filesize=4k --openfiles=1 --rw=write --filename_format=d.$filenum";
    for (engine, left) in [("dircreate", 8), ("dirstat", 8), ("dirdelete", 0), ("dirstat", 8)] {
        let document = report(false, &at, &format!("--name=m --ioengine={engine} {line}"));
        let done = &document["jobs"][0]["write"];
        assert_eq!((&done["total_ios"], &done["io_bytes"]), (&8.into(), &32768.into()), "{engine}");
        assert_eq!(done["clat_ns"]["N"], 8, "{engine}");
        assert_eq!(there(), left, "{engine}");
    }
}

#[test]
fn a_list_of_devices_is_done_as_fio_does_it_and_each_has_evidence_of_its_own() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    let disks = [lab::need!(RamDisk::raw(4 * MI)), lab::need!(RamDisk::raw(8 * MI))];
    let [one, other] = disks.each_ref().map(|disk| disk.device().to_str().expect("a name"));
    for line in [
        format!("--name=d --filename={one}:{other} --direct=1 --rw=randread --bs=64k"),
        format!("--name=d --filename={one}:{other}:f --size=6m --rw=randwrite --bs=16k"),
    ] {
        let [ours, theirs] = [false, true].map(|theirs| {
            let folder = tempfile::tempdir().expect("a folder");
            let document = report(theirs, folder.path(), &format!("{line} --write_iolog=l.log"));
            assert_eq!(document["jobs"][0]["error"], 0, "{line}");
            listed(&folder.path().join("l.log"))
        });
        assert_eq!(ours, theirs, "{line}");
    }
    let line =
        format!("fio --name=d --filename={one}:{other} --direct=1 --rw=write --bs=64k --size=4m");
    let heard = hear(lab::assay(line.split(' ')));
    assert_eq!(heard.ran.code(), 0, "{heard}");
    let subjects = &heard.record.resolved.subjects;
    let flows = heard.record.phases[0].flows.iter();
    let moved: Vec<_> = flows
        .map(|flow| {
            (subjects[flow.subject].path.as_str(), flow.direction, flow.bytes.0, flow.calls.0)
        })
        .collect();
    let half = (Direction::Write, 2 * MI, 32);
    assert_eq!(moved, [(one, half.0, half.1, half.2), (other, half.0, half.1, half.2)], "{heard}");
}

#[test]
fn each_device_of_a_list_that_holds_something_is_named() {
    let _alone = lab::alone();
    lab::need!(lab::need_root());
    let disks = [lab::need!(RamDisk::ext4(64 * MI)), lab::need!(RamDisk::ext4(64 * MI))];
    let [one, other] = disks.each_ref().map(|disk| disk.device().to_str().expect("a name"));
    let tail = || {
        disks.each_ref().map(|disk| {
            let mut bytes = [0; 512];
            let device = fs::File::open(disk.device()).expect("the device");
            device.read_exact_at(&mut bytes, 60 * MI).expect("read");
            bytes
        })
    };
    let before = tail();
    let line = format!(
        "fio --name=w --filename={one}:{other} --rw=write --bs=4k --offset=60m --size=8k --direct=1 --allow_mounted_write=1"
    );
    let typed = |named: &str| lab::assay(line.split(' ')).env("ASSAY_OVERWRITE", named).run();
    let refused = typed(one);
    assert_eq!(refused.code(), 2, "{refused}");
    assert!(refused.stderr.contains(&format!("ASSAY_OVERWRITE={other} and")), "{refused}");
    assert_eq!(tail(), before);
    let done = typed(&format!("{one}:{other}"));
    assert_eq!(done.code(), 0, "{done}");
    let after = tail();
    assert!(after[0] != before[0] && after[1] != before[1], "both were written");
}

#[test]
fn blocks_change_places_with_those_of_a_donor() {
    lab::need!(lab::need_root());
    let card = lab::need!(Card::fast());
    let folder = card.path(".");
    for line in [
        "--rw=write --bs=32k",
        "--rw=randwrite --bs=4k --inplace=1",
        "--rw=write --bs=6k --inplace=0",
    ] {
        let line = format!(
            "--name=d --ioengine=e4defrag --donorname=spare --filename=f --filesize=4m --size=4m {line}"
        );
        let done = |theirs| {
            let document = report(theirs, &folder, &line);
            let write = &document["jobs"][0]["write"];
            let left = ["f", "spare"].map(|name| {
                let found = std::fs::metadata(card.path(name)).expect(name);
                std::fs::remove_file(card.path(name)).expect(name);
                (found.len(), found.blocks() > 0)
            });
            (write["total_ios"].clone(), write["io_bytes"].clone(), left)
        };
        assert_eq!(done(false), done(true), "{line}");
    }
    // A file system without that call, and jobs that it is not for.
    let memory = lab::need!(Memory::tmpfs());
    let line = "--name=d --ioengine=e4defrag --filesize=1m --size=1m --rw=write";
    for (line, ours) in [
        (format!("{line} --donorname=spare"), 1),
        (line.to_string(), 2),
        (format!("{line} --donorname=spare --rw=read"), 2),
    ] {
        let status = |theirs| run(theirs, &memory.path("."), &line).status.code();
        assert_eq!((status(false), status(true)), (Some(ours), Some(1)), "{line}");
    }
}

#[test]
fn files_that_are_made_where_they_are_opened_grow_with_the_writes_of_their_job() {
    lab::need!(lab::need_tool("fio", "fio"));
    for (line, status) in [
        // A call that brings nothing is an error, a queued one is not.
        ("--name=g --rw=rw --ioengine=psync", 1),
        ("--name=g --rw=randrw --ioengine=libaio --iodepth=4", 0),
        ("--name=g --rw=randrw --ioengine=libaio --verify=crc32c --verify_backlog=8", 0),
    ] {
        let line = format!("{line} --bs=4k --size=256k --create_on_open=1 --output-format=json");
        let done = |theirs| {
            let folder = Memory::tmpfs().expect("memory");
            let output = run(theirs, &folder.path("."), &line);
            let job = document(&output)["jobs"][0].clone();
            let writes = [&job["write"]["total_ios"], &job["write"]["io_bytes"]];
            (output.status.code(), job["error"].clone(), writes.map(Clone::clone))
        };
        let (ours, theirs) = (done(false), done(true));
        assert_eq!(ours, theirs, "{line}");
        assert_eq!(ours.0, Some(status), "{line}");
    }
}
