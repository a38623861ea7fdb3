//! The same words to fio and to `assay fio` where something goes wrong: the same jobs fail, with the same errors,
//! counts and exit status.

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use crate::fio_pair::{document, program, said};
use crate::lab::{self, Faults, FaultyFuse, MI, Memory, Op, Seccomp, on};

/// Runs one of the two in a folder; what is left in memory is not waited for.
fn run(theirs: bool, folder: &Path, line: &str) -> Output {
    let mut program = program(theirs, folder);
    program.args(line.split(' ')).env("ASSAY_SETTLE", "no").output().expect("it runs")
}

/// Status, and of each job its name, error, passed errors, I/Os and bytes.
fn came_to(output: &Output) -> (Option<i32>, Vec<String>) {
    let document = document(output);
    let jobs = document["jobs"].as_array().expect("jobs");
    let each = jobs.iter().map(|job| {
        let moved = ["read", "write", "trim"]
            .map(|way| format!("{}/{}", job[way]["total_ios"], job[way]["io_bytes"]));
        let passed = [&job["total_err"], &job["first_error"]];
        format!("{} err={} {passed:?} {moved:?}", job["jobname"], job["error"])
    });
    (output.status.code(), each.collect())
}

/// Both do the same with a line, each in a folder of its own that is full after 1 MiB.
fn same_when_full(line: &str) -> (Option<i32>, Vec<String>) {
    let done = [true, false].map(|theirs| {
        let full = Memory::tmpfs_of(MI).expect("memory");
        run(theirs, full.mount(), &format!("--output-format=json {line}"))
    });
    let [theirs, ours] = done.each_ref().map(came_to);
    assert_eq!(ours, theirs, "{line}: {}", said(&done[1]));
    ours
}

#[test]
fn an_error_is_that_of_the_job_that_met_it() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    lab::need!(Memory::tmpfs_of(MI));
    let write = "--rw=write --bs=4k --fallocate=none";
    let (status, jobs) = same_when_full(&format!(
        "{write} --name=good --size=256k --name=bad --size=4m --startdelay=1 --name=after --stonewall --filename=bad.0.0 --size=4m"
    ));
    assert_eq!(status, Some(2));
    let failed: Vec<bool> = jobs.iter().map(|job| job.contains("err=28")).collect();
    assert_eq!(failed, [false, true, true], "{jobs:?}");
    // One goes on while another fails.
    let (_, jobs) = same_when_full(&format!(
        "{write} --name=bad --size=4m --name=good --ioengine=null --size=1m --startdelay=1"
    ));
    assert!(jobs[1].contains("256/1048576"), "{jobs:?}");
    // One that ends the others with it.
    let (_, jobs) = same_when_full(&format!(
        "{write} --exitall_on_error --name=bad --size=4m --name=good --ioengine=null --size=1m --startdelay=1"
    ));
    assert!(jobs[1].contains("0/0"), "{jobs:?}");
    // One alone.
    same_when_full(&format!("{write} --name=a --size=2m"));
    same_when_full("--rw=write --bs=4k --name=a --size=2m --ioengine=libaio --iodepth=4");

    // Which of several gets the room is chance; that each of them fails is not.
    for format in ["normal", "json"] {
        let each = [true, false].map(|theirs| {
            let full = Memory::tmpfs_of(MI).expect("memory");
            let line = format!(
                "--output-format={format} {write} --size=2m --numjobs=3 --group_reporting --name=s"
            );
            run(theirs, full.mount(), &line)
        });
        for output in &each {
            let said = said(output);
            assert_eq!(output.status.code(), Some(3), "{said}");
            let lines = said.lines().filter(|line| line.starts_with("fio: io_u error on file s."));
            let known = |line: &str| {
                line.contains(": No space left on device: write offset=")
                    && line.ends_with(", buflen=4096")
            };
            assert_eq!(lines.filter(|line| known(line)).count(), 3, "{said}");
            let told = String::from_utf8_lossy(&output.stdout);
            if format == "normal" {
                let told = told.lines().filter(|line| line.starts_with("fio: pid="));
                assert_eq!(
                    told.filter(|line| line.contains(", err=28/file:")).count(),
                    3,
                    "{each:?}"
                );
            }
        }
    }
}

/// fio trims by the call of devices, which a file answers with ENOTTY.
#[test]
fn a_file_is_not_trimmed() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    lab::need!(Memory::tmpfs_of(MI));
    for line in [
        "--rw=trim --name=a --ioengine=psync",
        "--rw=randtrim --name=a --ioengine=libaio",
        "--rw=trimwrite --name=a --ioengine=io_uring",
        "--rw=randtrim --name=a --ioengine=libaio --continue_on_error=write --ignore_error=,ENOSPC",
        "--exitall --name=a --rw=trim --name=b --ioengine=null --rw=read --startdelay=1",
    ] {
        let (status, jobs) = same_when_full(&format!("--size=256k --bs=4k {line}"));
        assert_eq!(status, Some(1), "{line}");
        assert!(jobs[0].contains(&format!("err={}", libc::ENOTTY)), "{line}: {jobs:?}");
    }
}

/// Nothing stands in for a queue that the kernel does not give: its job fails, and the others go on.
#[test]
fn a_queue_that_is_forbidden_ends_its_job() {
    use libc::{SYS_io_setup as setup, SYS_io_uring_setup as ring};
    lab::need!(lab::need_tool("fio", "fio"));
    let mut engines = vec![("io_uring", "libaio", &[ring][..], "")];
    match assay_engine::sys::ring::available() {
        Ok(()) => engines.push(("libaio", "io_uring", &[setup], "")),
        Err(error) => eprintln!("SKIP libaio: io_uring is missing here too: {error}"),
    }
    engines.push(("io_uring", "psync", &[ring, setup], " --iodepth=4"));
    for (engine, instead, calls, depth) in engines {
        for (errno, text) in
            [(libc::EPERM, "Operation not permitted"), (libc::ENOSYS, "Function not implemented")]
        {
            let lacking = lab::need!(Seccomp::answering(calls, errno));
            for format in ["json", "normal"] {
                let line = format!(
                    "--output-format={format} --bs=4k --size=64k --name=a --rw=write --ioengine={engine}{depth} --name=b --rw=read --ioengine=psync"
                );
                let done = [true, false].map(|theirs| {
                    let folder = tempfile::tempdir().expect("a folder");
                    let mut program = program(theirs, folder.path());
                    program.args(line.split(' ')).env("ASSAY_SETTLE", "no");
                    lacking.over(&mut program);
                    program.output().expect("it runs")
                });
                let [theirs, ours] = &done;
                let told = format!("{line}: {ours:?}\n{theirs:?}");
                assert_eq!(ours.status.code(), Some(1), "{told}");
                assert_eq!(theirs.status.code(), Some(1), "{told}");
                assert!(said(ours).contains(&format!("use ioengine={instead}")), "{told}");
                for output in &done {
                    let kernel =
                        said(output).contains("fio: your kernel doesn't support io_uring\n");
                    assert_eq!(kernel, engine == "io_uring" && errno == libc::ENOSYS, "{told}");
                }
                if format == "json" {
                    let [theirs, ours] = done.each_ref().map(came_to);
                    assert_eq!(ours, theirs, "{told}");
                    assert!(ours.1[0].contains(&format!("err={errno} ")), "{told}");
                    assert!(ours.1[1].contains("16/65536"), "{told}");
                    continue;
                }
                for output in &done {
                    let out = String::from_utf8_lossy(&output.stdout);
                    let mut lines = out.lines().filter(|line| line.starts_with("fio: pid="));
                    let failed = lines.next().expect("a line");
                    let error = format!(", func=io_queue_init, error={text}");
                    assert!(failed.contains(&format!(", err={errno}/file:")), "{told}");
                    assert!(failed.ends_with(&error), "{told}");
                    assert!(lines.next().is_none() && !out.contains("a: (groupid=0"), "{told}");
                }
            }
        }
    }
}

/// Both do the same with a line on a file system of faults of their own, where `t` has 1 MiB.
fn same_with(faults: &Faults, line: &str) -> (Option<i32>, Vec<String>) {
    let done = [true, false].map(|theirs| {
        let faulty = FaultyFuse::new(Faults::default()).expect("a file system");
        faulty.put("t", &vec![5; MI as usize]);
        faulty.set(faults.clone());
        run(theirs, faulty.mount(), &format!("--output-format=json --filename=t {line}"))
    });
    let [theirs, ours] = done.each_ref().map(came_to);
    assert_eq!(ours, theirs, "{line}: {}", said(&done[1]));
    ours
}

#[test]
fn errors_that_are_passed_over_are_counted() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    lab::need!(FaultyFuse::new(Faults::default()));
    lab::need!(Memory::tmpfs_of(MI));
    let faults = Faults::from(on(Op::Read).every(5).fails(libc::EIO))
        .and(on(Op::Write).every(7).fails(libc::EIO));
    let all = "--bs=4k --size=1m";
    for (line, counted) in [
        ("--rw=read --continue_on_error=read", "err=5 [Number(51), Number(5)]"),
        ("--rw=write --continue_on_error=write", "err=5 [Number(36), Number(5)]"),
        ("--rw=write --continue_on_error=all --ioengine=libaio --iodepth=4", "[Number(36), "),
        ("--rw=read --ignore_error=EIO", "err=5 [Number(51), Number(5)]"),
    ] {
        let (status, jobs) = same_with(&faults, &format!("--name=a {all} {line}"));
        assert_eq!((status, jobs[0].contains(counted)), (Some(0), true), "{line}: {jobs:?}");
    }
    // An error that is not among those ends it; it is counted where each I/O is waited for.
    let faults = Faults::from(on(Op::Read).past(40_960).fails(libc::EIO));
    for (line, counted) in [
        ("--ignore_error=ENOSPC", "err=5 [Number(1), Number(5)]"),
        ("--continue_on_error=write", "err=5 [Number(0), Number(0)]"),
        ("", "err=5 [Null, Null]"),
    ] {
        let line = format!("--name=a {all} --rw=read {line}");
        let (status, jobs) = same_with(&faults, line.trim_end());
        assert_eq!((status, jobs[0].contains(counted)), (Some(1), true), "{line}: {jobs:?}");
        assert!(jobs[0].contains("\"11/40960\""), "{jobs:?}");
    }
    // A full file system is none of the usual two.
    let write = "--rw=write --bs=64k --fallocate=none --size=2m --name=a";
    let (status, jobs) = same_when_full(&format!("{write} --continue_on_error=all"));
    assert_eq!((status, jobs[0].contains("17/1048576")), (Some(1), true), "{jobs:?}");
    let (status, jobs) = same_when_full(&format!("{write} --ignore_error=,ENOSPC"));
    assert_eq!((status, jobs[0].contains("[Number(16), Number(28)]")), (Some(0), true), "{jobs:?}");
}

#[test]
fn a_wrong_block_is_passed_over() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    let folder = lab::need!(Memory::tmpfs());
    let of = "--name=a --filename=t --bs=4k --size=64k --verify=crc32c --output-format=json";
    let written = run(false, folder.mount(), &format!("{of} --rw=write --do_verify=0"));
    assert_eq!(written.status.code(), Some(0), "{}", said(&written));
    let mut bytes = std::fs::read(folder.path("t")).expect("there");
    bytes[9000] ^= 1;
    bytes[17_000] ^= 1;
    std::fs::write(folder.path("t"), bytes).expect("written");
    let read = format!("{of} --rw=read --continue_on_error=verify");
    let [theirs, ours] = [true, false].map(|theirs| came_to(&run(theirs, folder.mount(), &read)));
    assert_eq!(ours, theirs);
    assert!(ours.1[0].contains("err=84 [Number(2), Number(84)] [\"16/65536\""), "{ours:?}");
}

#[test]
fn a_job_that_is_too_slow_fails() {
    let _beside = lab::beside();
    lab::need!(lab::need_tool("fio", "fio"));
    lab::need!(FaultyFuse::new(Faults::default()));
    let slow = Faults::from(on(Op::Io).every(1).hangs(Duration::from_millis(60)));
    let (status, jobs) =
        same_with(&slow, "--name=a --rw=read --bs=4k --size=1m --max_latency=40ms,1ms");
    assert_eq!((status, jobs[0].contains("err=110")), (Some(1), true), "{jobs:?}");
    assert!(jobs[0].contains("\"1/4096\""), "{jobs:?}");
    // Only writes are held to it.
    let (status, _) = same_with(&slow, "--name=a --rw=read --bs=64k --size=1m --max_latency=0,1ms");
    assert_eq!(status, Some(0));

    let folder = lab::need!(Memory::tmpfs());
    let line = "--name=a --ioengine=null --rw=read --bs=4k --size=1g --runtime=9 --thinktime=50ms";
    for (least, told) in [
        ("--rate_iops_min=100", "a: rate_iops_min=100 not met, got "),
        ("--rate_min=1m --rate_cycle=300", "a: rate_min=1048576B/s not met, got "),
    ] {
        for theirs in [true, false] {
            let began = std::time::Instant::now();
            let json = format!("--output-format=json {line} {least}");
            let output = run(theirs, folder.mount(), &json);
            let (status, jobs) = came_to(&output);
            assert_eq!((status, jobs[0].contains("err=5")), (Some(1), true), "{jobs:?}");
            assert!(said(&output).contains(told), "{}", said(&output));
            assert!((2..6).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
        }
    }
    // Fast enough, it comes to its end.
    let enough = format!("{line} --runtime=4 --rate_iops_min=5 --output-format=json");
    let [theirs, ours] =
        [true, false].map(|theirs| came_to(&run(theirs, folder.mount(), &enough)).0);
    assert_eq!((ours, theirs), (Some(0), Some(0)));
}

#[test]
fn a_file_system_is_filled_and_that_is_the_end() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    lab::need!(Memory::tmpfs_of(MI));
    for line in [
        "--name=f --rw=write --bs=64k --fill_device=1",
        "--name=f --rw=write --bs=64k --fill_fs=1 --size=2m",
        "--name=f --rw=write --bs=64k --fill_fs=1 --size=512k --fallocate=none",
        "--name=f --rw=write --bs=64k --fill_device=1 --ioengine=libaio --iodepth=4",
    ] {
        let (status, jobs) = same_when_full(line);
        assert_eq!((status, jobs[0].contains("err=0")), (Some(0), true), "{jobs:?}");
    }
}

#[test]
fn the_end_of_a_job_ends_those_after_it() {
    let _alone = lab::alone();
    lab::need!(lab::need_tool("fio", "fio"));
    let folder = lab::need!(Memory::tmpfs());
    let line = "--output-format=json --ioengine=null --size=1m --exitall --exit_what=all \
                --name=a --runtime=1 --time_based --rate_iops=10 \
                --name=b --runtime=20 --time_based --rate_iops=10 --name=c --stonewall";
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let done = [true, false].map(|theirs| came_to(&run(theirs, folder.mount(), &line)));
    for (status, jobs) in done {
        assert_eq!((status, jobs.len()), (Some(0), 3), "{jobs:?}");
        let ios = |job: &str| !job.contains("[\"0/0\", \"0/0\", \"0/0\"]");
        let each: Vec<bool> = jobs.iter().map(|job| ios(job)).collect();
        assert_eq!(each, [true, true, false], "{jobs:?}");
    }
}
