//! Lines of fio, and what becomes of them.

mod ends;

use std::path::Path;

use super::*;
use crate::dialect::fio::job::{FioPathKind, FioWorld};
use crate::dialect::fio::read;
use assay_plan::name::NameText as _;
use assay_plan::plan::{
    BlockSize, Caching, DepthSearch, Durability, LayoutMode, Lifetime, Method, OffsetOrdering,
    OverwriteScope, ReplayAction, Size, SteadyFigure, SteadyMeasure, SteadyWindow, StopLimit,
    Target, Verify, VerifyBacklog,
};
use assay_plan::unit::{Bytes, Ops};

/// The lists that are there.
fn listed(path: &Path) -> std::io::Result<Vec<u8>> {
    match path.to_str() {
        Some("one.log") => {
            Ok(b"fio version 3 iolog\n5 there add\n5 there open\n9 there read 4096 512\n\
            19 there write 8192 4096\n20 there sync 0 0\n"
                .to_vec())
        }
        Some("two.log") => {
            Ok(b"fio version 2 iolog\nthere add\nother add\nthere open\nother open\n\
            there read 0 4096\nother write 4096 4096\n"
                .to_vec())
        }
        Some("/sys/devices/system/node/online") => Ok(b"0-1\n".to_vec()),
        Some("/sys/devices/system/node/node0/cpulist") => Ok(b"0,2\n".to_vec()),
        Some("/sys/devices/system/node/node1/cpulist") => Ok(b"1,3\n".to_vec()),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    }
}

/// What a line asks for, in a folder where `there` is a file of 1 MiB and `/dev/x` a device of 8 MiB.
fn planned(line: &str) -> Result<FioPlan, String> {
    let words: Vec<String> = line.split(' ').map(String::from).collect();
    let world = FioWorld {
        files: &|_| Err(std::io::ErrorKind::NotFound.into()),
        stdin: &|| Ok(Vec::new()),
        files_below: &|_| Ok(Vec::new()),
        environment: &|_| None,
        kind: &|path| match path.to_str() {
            Some("d") => FioPathKind::Folder,
            _ => FioPathKind::Missing,
        },
        page_size: 4096,
        cpus: 4,
        memory_mb: 1024,
    };
    let there = |path: &Path| match path.to_str() {
        Some("there") => FioThere::File(1 << 20),
        Some("/dev/null") => FioThere::Other,
        Some("/dev/x") => FioThere::Device { bytes: 8 << 20, named: false },
        Some("/dev/y") => FioThere::Device { bytes: 8 << 20, named: true },
        _ => FioThere::Nothing,
    };
    let command = read(&words, &world).map_err(|complaint| complaint.refusal.to_string())?;
    let found = FioSurroundings { there: &there, files: &listed, aux_path: None };
    command.plan(words, &found, 77).map_err(|refusal| refusal.to_string())
}

/// The blocks of the only job of a line.
fn blocks(line: &str) -> BlockWork {
    let plan = planned(line).unwrap_or_else(|why| panic!("{line}: {why}")).plan;
    match &plan.phases[0].jobs[0].work {
        Work::Blocks(blocks) => blocks.clone(),
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn jobs_run_together_until_one_waits() {
    let plan = planned(
        "--size=1m --name=a --numjobs=2 --name=b --rw=write --name=c --stonewall --name=d --wait_for=c",
    )
    .expect("a plan");
    let phases: Vec<Vec<&str>> = plan
        .plan
        .phases
        .iter()
        .map(|phase| phase.jobs.iter().map(|job| job.name.as_str()).collect())
        .collect();
    assert_eq!(phases, [vec!["a.0", "a.1", "b.0"], vec!["c.0"], vec!["d.0"]]);
    let threads: Vec<u32> = plan.clones.iter().map(|clone| clone.thread).collect();
    assert_eq!(threads, [1, 2, 3, 4, 5]);
    let beside =
        planned("--size=1m --name=a --numjobs=2 --name=b --name=c --wait_for=a").expect("a plan");
    let [phase] = beside.plan.phases.as_slice() else { panic!("one phase") };
    let after = phase.jobs.iter().map(|job| job.after.join(" "));
    assert_eq!(after.collect::<Vec<_>>(), ["", "", "", "a.0 a.1"]);
}

/// `exit_on_io_done` looks at the jobs that do I/O: beside it, after it, or before it alone.
#[test]
fn what_computes_ends_with_the_io_of_others_or_at_its_time() {
    let burns = "--name=c --ioengine=cpuio --exit_on_io_done=1";
    let told = |line: &str| {
        let plan = planned(line).unwrap_or_else(|why| panic!("{line}: {why}")).plan;
        let mut jobs = plan.phases.iter().flat_map(|phase| phase.jobs.iter());
        let job = jobs.find(|job| job.name == "c.0").expect("the job").clone();
        (job.background, job.stop.first_of)
    };
    let time = StopLimit::Time(Nanos::secs(9));
    assert_eq!(told(&format!("{burns} --name=r --ioengine=psync --size=1m")), (true, vec![]));
    assert_eq!(told(&format!("{burns} --runtime=9")), (false, vec![time]));
    let later = "--name=r --ioengine=psync --stonewall --size=1m";
    assert_eq!(told(&format!("{burns} --runtime=9 {later}")), (false, vec![time]));
    let over = told(&format!("--name=r --size=1m {burns} --stonewall --runtime=9"));
    assert_eq!(over, (false, vec![time, StopLimit::Ops(Ops(1))]));
    assert_eq!(
        planned(burns).expect_err("endless"),
        "job 'c': '--ioengine=cpuio': nothing ends a job without I/O; give runtime="
    );
}

/// With `io_size` there are as many passes as loops, and more until it is reached.
#[test]
fn loops_and_io_size_are_whole_passes() {
    let bytes = |line: &str| {
        let plan = planned(line).unwrap_or_else(|why| panic!("{line}: {why}")).plan;
        let stop = plan.phases[0].jobs[0].stop.clone();
        let limits = stop.first_of.into_iter().find_map(|limit| match limit {
            StopLimit::Bytes(bytes) => Some(bytes.0 >> 10),
            _ => None,
        });
        limits.expect("bytes")
    };
    // As fio 3.33 does each of them.
    for (line, kib) in [
        ("--name=a --rw=write --size=1m --io_size=3m --loops=2", 3072),
        ("--name=a --rw=randread --size=1m --io_size=2m --loops=3", 3072),
        ("--name=a --rw=write:12k --size=1m --io_size=512k --loops=2", 1024),
        (
            "--name=a --rw=write:12k --size=1m --io_size=512k --loops=2 --verify=crc32c --verify_backlog=1",
            1024,
        ),
        ("--name=a --rw=write --size=1m --loops=3", 3072),
    ] {
        let drawn = if line.contains("rand") { 4 } else { 0 };
        assert!((kib..=kib + drawn).contains(&bytes(line)), "{line}: {}", bytes(line));
    }
    // To the end of the device, which is at 8 MiB: 7 blocks of each pass, one behind each 12 KiB.
    let line = "--name=a --filename=/dev/y --allow_mounted_write=1 --rw=write:12k --bs=4k --offset=8080k --io_size=1m --loops=2";
    assert_eq!(bytes(line), 37 * 28);
}

#[test]
fn a_file_is_made_as_fio_makes_it() {
    let file = |line: &str| match blocks(line).target {
        Target::File { path, size, layout, lifetime } => (path.to_text(), size, layout, lifetime),
        other => panic!("{line}: {other:?}"),
    };
    let mib = |mib| Size::Exactly(Bytes::mib(mib));
    for (line, wanted) in [
        ("--name=a --size=2m", ("a.0.0", mib(2), LayoutMode::Written, Lifetime::Keep)),
        ("--name=a --filename=there", ("there", mib(1), LayoutMode::AsFound, Lifetime::Keep)),
        (
            "--name=a --rw=write --size=2m --unlink=1",
            ("a.0.0", mib(2), LayoutMode::Preallocated, Lifetime::Remove),
        ),
        (
            "--name=a --rw=write --size=2m --fallocate=none",
            ("a.0.0", mib(2), LayoutMode::Truncated, Lifetime::Keep),
        ),
        (
            "--name=a --rw=write --size=1m --offset=1m",
            ("a.0.0", mib(2), LayoutMode::Preallocated, Lifetime::Keep),
        ),
        (
            "--name=a --rw=write --size=2m --overwrite=1",
            ("a.0.0", mib(2), LayoutMode::Written, Lifetime::Keep),
        ),
    ] {
        let (path, size, layout, lifetime) = file(line);
        assert_eq!((path.as_str(), size, layout, lifetime), wanted, "{line}");
    }
    let refused = planned("--name=a").unwrap_err();
    assert!(refused.contains("size="), "{refused}");
}

#[test]
fn files_and_devices_are_those_that_are_named() {
    let Target::Files { named, count, size, .. } =
        blocks("--name=a --rw=write --size=4m --filename=p:q").target
    else {
        panic!("no files")
    };
    let named: Vec<_> = named.iter().map(|path| path.to_text()).collect();
    assert_eq!(
        (named, count, size),
        (vec!["p".into(), "q".into()], 2, Size::Exactly(Bytes::mib(2)))
    );
    let Target::Device { size, consent, .. } =
        blocks("--name=a --filename=/dev/x --size=100%").target
    else {
        panic!("no device")
    };
    assert_eq!((size, consent), (Size::Exactly(Bytes::mib(8)), None));
    let Target::Device { consent: Some(consent), .. } =
        blocks("--name=a --filename=/dev/x --rw=randwrite").target
    else {
        panic!("nobody asked")
    };
    assert_eq!(consent.device, Path::new("/dev/x"));
}

#[test]
fn words_become_work() {
    let usual = "--name=a --size=1m";
    let of = |words: &str| blocks(&format!("{usual} {words}"));
    assert_eq!(of("--ioengine=psync --iodepth=9").iodepth, 1);
    assert_eq!(of("--ioengine=libaio --iodepth=9 --direct=1").iodepth, 9);
    assert_eq!(of("--direct=1").caching, Caching::Direct);
    assert!(matches!(of("--ioengine=pvsync2").method, Method::Vectored(_)));
    assert_eq!(of("--ioengine=splice").method, Method::Splice);
    assert_eq!(of("--ioengine=vsync").method, Method::Sync);
    assert_eq!(of("--rw=randread").pattern.order, OffsetOrdering::Shuffled);
    assert_eq!(of("--rw=randread --norandommap").pattern.order, OffsetOrdering::Uniform);
    assert_eq!(
        of("--rw=read:8k --bs=4k").pattern.order,
        OffsetOrdering::Spaced { stride: Bytes::kib(12) }
    );
    assert_eq!(of("--rw=write --fsync=8").durability, Durability::FsyncBetween(Ops(8)));
    assert_eq!(of("--rw=write --end_fsync=1").durability, Durability::FsyncAtEnd);
    assert_eq!(of("--rw=write --sync=1").durability, Durability::OpenSync);
    assert!(matches!(of("--rw=rw --bs=4k,8k").pattern.block, BlockSize::PerAction(_)));
}

#[test]
fn time_and_size_end_a_job() {
    let limits = |line: &str| {
        let plan = planned(line).unwrap_or_else(|why| panic!("{line}: {why}")).plan;
        let limits = &plan.phases[0].jobs[0].stop.first_of;
        let kept = limits.iter().filter(|limit| !matches!(limit, StopLimit::Passes(_)));
        kept.copied().collect::<Vec<_>>()
    };
    let (time, bytes) = (StopLimit::Time(Nanos::secs(5)), |mib| StopLimit::Bytes(Bytes::mib(mib)));
    let usual = "--name=a --rw=write --size=1m";
    assert_eq!(limits(usual), [bytes(1)]);
    assert_eq!(limits(&format!("{usual} --loops=3")), [bytes(3)]);
    assert_eq!(limits(&format!("{usual} --io_size=7m")), [bytes(7)]);
    assert_eq!(limits(&format!("{usual} --runtime=5")), [bytes(1), time]);
    assert_eq!(limits(&format!("{usual} --runtime=5 --time_based")), [time]);
    assert_eq!(limits(&format!("{usual} --create_only=1")), [StopLimit::Ops(Ops(1))]);
}

#[test]
fn a_steady_state_is_a_limit() {
    let plan = planned(
        "--name=a --size=1m --runtime=60 --time_based --ss=bw_slope:10k --ss_dur=10 --ss_interval=2 \
         --ss_ramp=3 --group_reporting",
    );
    let window = plan.expect("a plan").plan.phases[0].jobs[0].stop.steady_window();
    let expected = SteadyWindow {
        figure: SteadyFigure::Bandwidth,
        by: SteadyMeasure::Slope,
        below: 10240.0,
        percent: false,
        round: Nanos::secs(2),
        rounds: 5,
        after: Nanos::secs(3),
        group: Some(0),
    };
    assert_eq!(window, Some(expected));
}

#[test]
fn what_is_verified_on_the_way_is_not_verified_behind() {
    let plan = |words: &str| {
        let line = format!("--name=a --rw=randwrite --size=1m --verify=crc32c {words}");
        planned(line.trim_end()).expect("a plan").plan
    };
    let verify = |words: &str| {
        let plan = plan(words);
        let Work::Blocks(blocks) = &plan.phases[0].jobs[0].work else { panic!("{words}") };
        (plan.phases.len(), blocks.pattern.verify)
    };
    let backlog = |writes, batch, by_place, rest| {
        (1, Verify::Backlog(VerifyBacklog { writes, batch, by_place, rest }))
    };
    assert_eq!(verify(""), (2, Verify::None));
    assert_eq!(verify("--verify_backlog=8"), backlog(8, 8, false, true));
    assert_eq!(
        verify("--verify_backlog=8 --verify_backlog_batch=2 --norandommap --do_verify=0"),
        backlog(8, 2, true, false)
    );
}

#[test]
fn a_level_without_a_class_is_one_of_best_effort() {
    let priority = |words: &str| {
        let line = format!("--name=a --size=1m {words}");
        planned(line.trim_end()).expect("a plan").plan.phases[0].jobs[0].priority
    };
    assert_eq!(priority(""), Priority::default());
    let io = IoPriority { class: IoClass::BestEffort, level: 4, hint: 0 };
    assert_eq!(priority("--prio=4"), Priority { nice: 0, io: Some(io) });
    let io = IoPriority { class: IoClass::Idle, level: 0, hint: 0 };
    assert_eq!(priority("--prioclass=3 --nice=5"), Priority { nice: 5, io: Some(io) });
}

#[test]
fn a_device_that_holds_something_or_is_in_use_is_named() {
    let over = |words: &str| {
        let plan = planned(&format!("--name=a --rw=write {words}")).expect(words).plan;
        let Work::Blocks(blocks) = &plan.phases[0].jobs[0].work else { panic!("{words}") };
        let Target::Device { consent, .. } = &blocks.target else { panic!("{words}") };
        consent.as_ref().map(|consent| consent.over)
    };
    assert_eq!(over("--filename=/dev/x"), Some(OverwriteScope::Empty));
    assert_eq!(over("--filename=/dev/x --allow_mounted_write=1"), Some(OverwriteScope::Empty));
    assert_eq!(over("--filename=/dev/y"), Some(OverwriteScope::Content));
    assert_eq!(over("--filename=/dev/y --allow_mounted_write=1"), Some(OverwriteScope::InUse));
    assert_eq!(over("--filename=/dev/y --allow_mounted_write=1 --rw=read"), None);
}

#[test]
fn what_is_read_beforehand_stays_in_memory() {
    let phase = |words: &str| {
        let line = format!("--name=a --size=1m {words}");
        planned(line.trim_end()).expect("a plan").plan.phases.remove(0)
    };
    let found = |words: &str| (phase(words).pre_read, phase(words).cold);
    assert_eq!(found(""), (false, CacheDrop::Target));
    assert_eq!(found("--pre_read=1"), (true, CacheDrop::Keep));
}

#[test]
fn loops_that_remove_their_files_are_phases() {
    let of = |words: &str| {
        let planned = planned(&format!("--name=a --size=1m --rw=write {words}")).expect(words);
        let layout = |phase: &assay_plan::plan::Phase| {
            let Work::Blocks(blocks) = &phase.jobs[0].work else { panic!("{words}") };
            match &blocks.target {
                Target::File { layout, .. } | Target::Files { layout, .. } => Some(*layout),
                _ => None,
            }
        };
        let phases = planned.plan.phases.iter().map(|phase| (phase.name.clone(), layout(phase)));
        (phases.collect::<Vec<_>>(), planned.clones[0].later.clone(), planned.unsettled)
    };
    let (allocated, anew) = (Some(LayoutMode::Preallocated), Some(LayoutMode::Anew));
    let named = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let (phases, later, unsettled) = of("--loops=3 --unlink_each_loop=1");
    let [second, third] = ["a, loop 2", "a, loop 3"];
    assert_eq!(phases, [("a".into(), allocated), (second.into(), anew), (third.into(), anew)]);
    assert_eq!((later, unsettled), (named(&[second, third]), named(&["a", second])));
    let (phases, later, _) = of("--loops=2 --unlink_each_loop=1 --verify=crc32c --nrfiles=2");
    assert_eq!((phases.len(), phases[2].1), (4, anew));
    assert_eq!(later, named(&["2: a, read back", second, "2: a, read back, loop 2"]));
    let (phases, later, unsettled) = of("--loops=2 --verify=crc32c");
    assert_eq!((phases.len(), phases[2].1), (4, Some(LayoutMode::AsFound)));
    assert_eq!((later.len(), unsettled), (3, Vec::new()));
    // Devices stay, and one loop is none.
    for words in ["--loops=1", "--loops=2 --filename=/dev/y", "--loops=2 --ioengine=null"] {
        assert_eq!(of(&format!("{words} --unlink_each_loop=1")).0.len(), 1, "{words}");
    }
}

#[test]
fn what_is_not_done_is_refused_by_its_name() {
    for (words, says) in [
        ("--rw=write --verify=crc32c --trim_percentage=5 --trim_backlog=8", "trim_percentage"),
        ("--rw=write --verify=crc32c --verify_state_load=1", "verify_state_load"),
        ("--ioengine=libaio --lockfile=exclusive", "lockfile"),
        ("--loops=2 --unlink_each_loop=1", "second loop fails"),
        ("--rw=write --loops=2 --unlink_each_loop=1 --numjobs=2", "numjobs=1"),
        ("--rw=write --loops=2 --unlink_each_loop=1 --runtime=9", "leave runtime"),
        ("--rw=write --loops=101 --unlink_each_loop=1", "100 loops"),
        ("--ioengine=libblkio", "libblkio"),
        ("--ioengine=vsync --iodepth=8", "ioengine=sync"),
        ("--trigger-timeout=5", "--trigger"),
    ] {
        let refused = planned(&format!("--name=a --size=1m {words}")).expect_err(words);
        assert!(refused.contains(says), "{words}: {refused}");
    }
}

#[test]
fn a_list_of_ios_is_made_of_a_log_with_flushes_and_numbers() {
    let plan = planned("--name=a --size=1m --write_iolog=x --rw=write --verify=crc32c")
        .expect("a plan")
        .plan;
    let details = plan.phases.iter().map(|phase| &phase.jobs[0].detail);
    let logs: Vec<_> = details
        .map(|detail| (detail.log.as_deref().map(Path::to_text), detail.log_form))
        .map(|(path, form)| (path.map(|path| path.to_string()), form))
        .collect();
    let log = |name: &str| (Some(name.to_string()), LogForm::Issued);
    assert_eq!(logs, [log("a.1.assay-log"), log("a.1.assay-back")]);
    assert_eq!(plan.phases[0].jobs[0].worker_kind, WorkerKind::Threads);
}

#[test]
fn a_list_is_replayed_in_its_files() {
    let one = blocks("--name=a --read_iolog=one.log --replay_time_scale=200 --fsync=3");
    assert!(matches!(
        &one.target,
        Target::File { size: Size::Exactly(Bytes(12288)), layout: LayoutMode::AsFound, .. }
    ));
    let range = BlockSize::Range { least: Bytes(512), most: Bytes::kib(4), step: Bytes(512) };
    assert_eq!((&one.pattern.block, one.durability), (&range, Durability::None));
    let replay = one.pattern.replay.as_ref().expect("a list");
    let rows: Vec<_> = replay.ios.iter().map(|io| (io.action, io.offset.0, io.wait.0)).collect();
    assert_eq!(
        rows,
        [
            (ReplayAction::Read, 4096, 2000),
            (ReplayAction::Write, 8192, 5000),
            (ReplayAction::Fsync, 0, 500)
        ]
    );
    let plan = planned("--name=a --numjobs=2 --read_iolog=one.log:two.log").expect("a plan").plan;
    let text = serde_json::to_string(&plan).expect("JSON");
    assert_eq!(serde_json::from_str::<Plan>(&text).expect("a plan"), plan);
    let Work::Blocks(second) = &plan.phases[0].jobs[1].work else { panic!("no blocks") };
    let Target::Files { named, .. } = &second.target else { panic!("no files") };
    assert_eq!(named, &[Path::new("there"), Path::new("other")]);
    for (words, says) in [
        ("--read_iolog=none.log", "none.log"),
        ("--read_iolog=one.log --readonly", "--readonly"),
        ("--read_iolog=one.log --verify=crc32c", "verify"),
        ("--read_iolog=one.log --directory=d", "leave it out"),
        (
            "--read_iolog=two.log --replay_redirect=/dev/x --replay_skip=write --offset=1 --replay_scale=0",
            "",
        ),
        ("--read_iolog=one.log --replay_redirect=gone --replay_skip=write", "gone"),
    ] {
        let planned = planned(&format!("--name=a {words}"));
        match says {
            "" => drop(planned.expect(words)),
            says => assert!(planned.expect_err(words).contains(says), "{words}"),
        }
    }
}

#[test]
fn a_run_that_is_not_to_repeat_has_a_seed_of_its_own() {
    let seed =
        |words: &str| planned(&format!("--name=a --size=1m {words}")).expect("a plan").plan.seed;
    assert_eq!(seed("--rw=randread"), seed("--rw=randread"));
    assert_eq!(seed("--rw=randread --randseed=9"), 9);
    assert_eq!(seed("--rw=randread --randrepeat=0"), 77);
}

#[test]
fn the_nodes_of_a_job_are_their_cpus() {
    let cpus = |words: &str| {
        let line = format!("--name=a --size=1m {words}");
        planned(&line).map(|plan| plan.plan.phases[0].jobs[0].cpus.clone())
    };
    let list = |list: &[u32]| Ok(Some(Cpus { list: list.to_vec(), split: false }));
    assert_eq!(cpus("--numa_cpu_nodes=1"), list(&[1, 3]));
    assert_eq!(cpus("--numa_cpu_nodes=0-1"), list(&[0, 2, 1, 3]));
    assert_eq!(cpus("--numa_cpu_nodes=all"), list(&[0, 2, 1, 3]));
    let refused = cpus("--numa_cpu_nodes=7").expect_err("no such node");
    assert!(refused.contains("there is no node 7"), "{refused}");
}

#[test]
fn each_device_of_a_list_has_leave_of_its_own() {
    let target = |words: &str| blocks(&format!("--name=a --bs=1m {words}")).target;
    let Target::Files { dirs, named, devices, sizes, size, .. } =
        target("--rw=write --filename=/dev/x:there:/dev/y --allow_mounted_write=1")
    else {
        panic!("no files")
    };
    assert_eq!(dirs, [Path::new(".")]);
    assert_eq!(named.len(), 3);
    let over = devices.iter().map(|device| device.consent.as_ref().map(|consent| consent.over));
    assert_eq!(
        over.collect::<Vec<_>>(),
        [Some(OverwriteScope::Empty), Some(OverwriteScope::InUse)]
    );
    // Each as large as it is.
    assert_eq!(
        (sizes, size),
        (vec![Bytes::mib(8), Bytes::mib(1), Bytes::mib(8)], Size::Exactly(Bytes::mib(8)))
    );
    let Target::Files { devices, sizes, size, .. } =
        target("--rw=randread --filename=/dev/x:/dev/y --size=4m")
    else {
        panic!("no files")
    };
    assert!(devices.iter().all(|device| device.consent.is_none()) && sizes.is_empty());
    assert_eq!(size, Size::Exactly(Bytes::mib(2)));
}

#[test]
fn a_depth_is_searched_for_a_latency() {
    let words = "--name=a --size=1m --ioengine=libaio --iodepth=32 --latency_target=500 \
        --latency_window=2s --latency_percentile=95 --latency_run=1";
    let plan =
        planned(&words.split_whitespace().collect::<Vec<_>>().join(" ")).expect("a plan").plan;
    let (target, window) = (Nanos::micros(500), Nanos::secs(2));
    let search = DepthSearch { target, window, percent: 95.0, endless: true };
    assert_eq!(plan.phases[0].jobs[0].service_level.depth, Some(search));
}

#[test]
fn what_is_written_to_the_null_device_goes_nowhere() {
    let work = blocks("--name=a --rw=write --size=1m --filename=/dev/null --ioengine=libaio");
    assert_eq!(work.method, Method::Null);
    let refused = planned("--name=a --rw=read --size=1m --filename=/dev/null").unwrap_err();
    assert!(refused.contains("filename"), "{refused}");
}

#[test]
fn a_job_without_io_computes_and_rests() {
    let words = "--ioengine=cpuio --cpuload=25 --cpuchunks=2000 --name=a --exit_on_io_done=1";
    let plan =
        planned(&format!("{words} --name=b --ioengine=null --size=1m")).expect("a plan").plan;
    let [computing, other] = plan.phases[0].jobs.as_slice() else { panic!("two jobs") };
    assert!(computing.background && !other.background);
    let Work::Blocks(blocks) = &computing.work else { panic!("no blocks") };
    assert_eq!(blocks.method, Method::Compute { time: Nanos::millis(2), sorts: false });
    assert_eq!(computing.rate.rest.map(|rest| rest.time), Some(Nanos::millis(6)));
    let refused = planned("--name=a --ioengine=cpuio --cpuload=50").expect_err("no end");
    assert!(refused.contains("exit_on_io_done"), "{refused}");
    let sorting = planned("--name=a --ioengine=cpuio --cpuload=25 --cpumode=qsort --runtime=1");
    let sorting = sorting.expect("a plan").plan;
    let Work::Blocks(blocks) = &sorting.phases[0].jobs[0].work else { panic!("no blocks") };
    assert!(matches!(blocks.method, Method::Compute { sorts: true, .. }));
    let rest = sorting.phases[0].jobs[0].rate.rest;
    assert_eq!(rest.map(|rest| rest.load_percent), Some(25));
}
