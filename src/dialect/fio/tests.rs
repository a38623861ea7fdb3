//! What people type, and what it means.

mod corpus;
mod list;
mod surprises;
mod wrong;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::*;

/// Reads words in surroundings of some files.
pub(super) fn with(words: &[&str], files: &[(&str, &str)]) -> Result<FioCommand, FioComplaint> {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    in_world(files, |world| read(&words, world))
}

/// Does something in surroundings of some files.
pub(super) fn in_world<T>(files: &[(&str, &str)], act: impl FnOnce(&FioWorld<'_>) -> T) -> T {
    let files: BTreeMap<&str, &str> = files.iter().copied().collect();
    act(&FioWorld {
        files: &|path: &Path| {
            let name = path.to_str().unwrap_or_default();
            let content = files.get(name).map(|text| text.as_bytes().to_vec());
            content.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
        },
        stdin: &|| Ok(files.get("-").copied().unwrap_or_default().as_bytes().to_vec()),
        files_below: &|folder| {
            Ok(["a", "b"].map(|name| folder.join(name).to_string_lossy().into_owned()).into())
        },
        environment: &|name| match name {
            "SIZE" => Some("64m".into()),
            "TARGET" => Some("/mnt".into()),
            _ => None,
        },
        kind: &|path| match path.to_str() {
            Some("/nosuch") => FioPathKind::Missing,
            Some("/dev/sdz") => FioPathKind::Other,
            _ => FioPathKind::Folder,
        },
        page_size: 4096,
        cpus: 8,
        memory_mb: 16384,
    })
}

/// Reads a line, whose words have no blanks in them.
pub(super) fn line(text: &str) -> Result<FioCommand, FioComplaint> {
    with(&text.split_whitespace().collect::<Vec<_>>(), &[])
}

/// The only job of a line.
pub(super) fn job(text: &str) -> FioJob {
    let mut command = line(text).unwrap_or_else(|complaint| panic!("{text}: {complaint:?}"));
    assert_eq!(command.jobs.len(), 1, "{text}");
    command.jobs.remove(0)
}

/// Reads a job file that is called `job.fio`.
pub(super) fn file(text: &str) -> Result<FioCommand, FioComplaint> {
    with(&["job.fio"], &[("job.fio", text)])
}

fn names(command: &FioCommand) -> Vec<(&str, u32)> {
    command.jobs.iter().map(|job| (job.name.as_str(), job.group)).collect()
}

#[test]
fn a_cloud_vendors_line_is_understood() {
    let job = job(
        "-filename=/dev/vdb --direct=1 -iodepth 128 --readwrite=randrw --rwmixread=70 --numjob=4 --bs=4k,64k --ioeng=libaio --size=10g --runtime=2m --time_based --group_reporting --name=rand",
    );
    assert_eq!(job.name, "rand");
    assert_eq!(job.target.filenames, ["/dev/vdb"]);
    assert!(job.sync.direct);
    assert_eq!((job.queue.engine, job.queue.iodepth), (FioEngine::Libaio, 128));
    assert_eq!(job.pattern.rw, FioRw::RandRw);
    assert_eq!((job.pattern.rwmix_read, job.pattern.rwmix_write), (70, 30));
    assert_eq!(job.pattern.min_bs, PerDirection { read: 4096, write: 65536, trim: 65536 });
    assert_eq!(job.pattern.ba, job.pattern.min_bs);
    assert_eq!(job.target.size, Some(FioAmount::Bytes(10 << 30)));
    assert_eq!(job.schedule.numjobs, 4);
    assert_eq!(job.schedule.runtime.as_secs(), 120);
    assert!(job.schedule.time_based && job.schedule.group_reporting);
    // Before the first name, options are for all jobs; fio says them by their usual names.
    let globals: Vec<_> = job.inherited.iter().map(|typed| typed.name).collect();
    assert_eq!(globals[..4], ["filename", "direct", "iodepth", "rw"]);
    assert_eq!(job.options.len(), 1);
    assert_eq!(job.clone_order().collect::<Vec<_>>(), [0, 3, 2, 1]);
}

#[test]
fn a_name_begins_a_job_and_global_sets_what_follows() {
    let command = line(
        "--ioengine=null --size=1m --name=a --bs=8k --name=global --bs=16k --name=b --name=c --bs=4k --stonewall --name=a",
    )
    .expect("jobs");
    assert_eq!(names(&command), [("a", 0), ("b", 0), ("c", 1), ("a", 1)]);
    let sizes: Vec<_> = command.jobs.iter().map(|job| job.pattern.bs.read).collect();
    assert_eq!(sizes, [8192, 16384, 4096, 16384]);
    let typed: Vec<_> = command.jobs[0].options.iter().map(|typed| typed.typed.as_str()).collect();
    assert_eq!(typed, ["--name=a", "--bs=8k"]);
    let globals: Vec<_> = command.global_options.iter().map(|typed| typed.name).collect();
    assert_eq!(globals, ["ioengine", "size", "name", "bs"]);
}

#[test]
fn a_job_file_is_read_as_fio_reads_it() {
    let text = "; first\n[global]\nioengine=null\nsize=${SIZE} ; half of it\ninclude part.inc\n\n[a]\n\trw=randread # anywhere\nfilename=x:y\\:z\nkb_base=1000\n[b]\nstonewall\nbs=$pagesize\n[c]\nnew_group=1\nnumjobs=2*$ncpus\n";
    let files = [("job.fio", text), ("part.inc", "iodepth=8\nthread\n")];
    let command = with(&["job.fio"], &files).expect("jobs");
    assert_eq!(names(&command), [("a", 0), ("b", 1), ("c", 2)]);
    let [a, b, c] = command.jobs.as_slice() else { panic!("{:?}", names(&command)) };
    assert_eq!(a.pattern.rw, FioRw::RandRead);
    assert_eq!(a.target.filenames, ["x", "y:z"]);
    assert_eq!((a.target.nrfiles, a.target.openfiles), (2, 2));
    assert_eq!((a.queue.iodepth, a.schedule.thread), (8, true));
    assert_eq!(a.target.size, Some(FioAmount::Bytes(64 << 20)));
    // Some options are taken before the others, and the names of files after them.
    let order: Vec<_> = a.options.iter().map(|typed| typed.name).collect();
    assert_eq!(order, ["kb_base", "rw", "filename"]);
    assert_eq!(a.options[1].place.to_string(), "job.fio:8:2");
    assert_eq!(a.options[1].value.as_deref(), Some("randread"));
    assert_eq!(b.pattern.bs.read, 4096);
    assert_eq!(c.schedule.numjobs, 16);
    assert_eq!(command.notes, []);
}

#[test]
fn files_follow_each_other_and_sections_can_be_chosen() {
    let files = [
        ("a.fio", "[one]\nsize=1m\n[two]\nsize=1m\n"),
        ("b.fio", "[three]\nsize=1m\n[four]\nsize=1m"),
    ];
    let all = with(&["--name=zero", "--size=1m", "a.fio", "b.fio"], &files).expect("jobs");
    let expected = [("zero", 0), ("one", 0), ("two", 0), ("three", 1), ("four", 1)];
    assert_eq!(names(&all), expected);
    let some = with(&["--section=two", "--section", "four", "a.fio", "b.fio"], &files);
    assert_eq!(names(&some.expect("jobs")), [("two", 0), ("four", 1)]);
    let none = with(&["--section=five", "a.fio"], &files).expect_err("none");
    assert!(none.said.starts_with("No job(s) defined"), "{}", none.said);
    let stdin = with(&["-"], &[("-", "[in]\nsize=1m")]).expect("jobs");
    assert_eq!(names(&stdin), [("in", 0)]);
    assert_eq!(stdin.jobs[0].place.as_ref().map(ToString::to_string).as_deref(), Some("-:1:1"));
}

#[test]
fn a_limit_of_latency_is_a_thousandth_of_what_is_typed() {
    let notes = |words: &[&str]| with(words, &[]).expect("a job").notes;
    let line = ["--name=a", "--size=1m", "--ss=lat:100us", "--ss_dur=2"];
    let [note] = &notes(&line)[..] else { panic!("{:?}", notes(&line)) };
    let told = (note.word.as_str(), note.meant.as_str(), note.instead.as_str());
    assert_eq!(told, ("--ss=lat:100us", "100 us", "steadystate=lat:100000us"));
    assert!(notes(&["--name=a", "--size=1m", "--ss=lat:5%", "--ss_dur=2"]).is_empty());
}

#[test]
fn what_options_mean_together_is_derived() {
    let deep = job(
        "--name=a --size=1m --ioengine=io_uring --iodepth=8 --iodepth_batch=0 --iodepth_batch_complete_min=4",
    );
    assert_eq!((deep.queue.batch, deep.queue.batch_complete_max, deep.queue.low), (8, 4, 8));

    let verified = job("--name=a --size=1m --rw=randwrite --bsrange=4k-12k --verify=crc32c");
    assert_eq!(verified.verify.interval, 4096);
    assert!(verified.data.refill_buffers);
    let kept = job("--name=a --size=1m --rw=write --verify=crc32c --refill_buffers=0");
    assert!(!kept.data.refill_buffers);

    let patterned = job("--name=a --size=1m --rw=write --verify_pattern=0xff");
    assert_eq!(patterned.verify.kind, FioVerifyKind::Pattern);
    let header = job("--name=a --size=1m --rw=write --verify=crc32c --verify_pattern=0xff");
    assert_eq!(header.verify.kind, FioVerifyKind::Crc32c);

    let zeros = job("--name=a --size=1m --rw=write --buffer_compress_percentage=100");
    assert!(zeros.data.zero_buffers && zeros.data.scramble_buffers);
    let typed = job("--name=a --size=1m --rw=write --zero_buffers");
    assert!(typed.data.zero_buffers && !typed.data.scramble_buffers);
    let pattern = job("--name=a --size=1m --rw=write --zero_buffers --buffer_pattern=66");
    assert_eq!(pattern.data.pattern.bytes, [0x42]);
    assert!(!pattern.data.zero_buffers && !pattern.data.scramble_buffers);

    assert!(job("--name=a --size=1m --rw=read").target.overwrite);
    assert!(!job("--name=a --size=1m --pre_read=1").target.invalidate);
    assert!(!job("--name=a --size=1m --randseed=5").pattern.randrepeat);
    assert!(job("--name=a --size=1m --rw=randread --ba=8k").pattern.norandommap);
    assert!(job("--name=a --size=1m --random_distribution=zipf").pattern.norandommap);
    assert!(job("--name=a --buffered=0 --size=1m").sync.direct);
    let reduced = job("--name=a --size=1m --gtod_reduce=1").statistics;
    assert!(reduced.disable_lat && reduced.disable_bw && !reduced.clat_percentiles);
    let device = job("--name=/dev/sdz --rw=read");
    assert_eq!(device.target.filenames, ["/dev/sdz"]);
    let strides = job("--name=a --size=1m --zonemode=strided --zonesize=64k");
    assert_eq!(strides.zones.range, 65536);
    let logged = job("--name=a --size=1m --write_bw_log=x --log_avg_msec=1000 --bwavgtime=250");
    assert_eq!(logged.logs.bw_avg.as_millis(), 250);
}

#[test]
fn lists_are_read_part_by_part() {
    let split = job("--name=a --size=1m --rw=randrw --bssplit=64k/20:4k/50:16k/,8k");
    let blocks: Vec<_> =
        split.pattern.bssplit.read.iter().map(|block| (block.bytes, block.percent)).collect();
    assert_eq!(blocks, [(65536, 20), (16384, 30), (4096, 50)]);
    assert_eq!(split.pattern.bssplit.write, [FioBlockShare { bytes: 8192, percent: 100 }]);
    assert_eq!(split.pattern.min_bs.read, 4096);
    assert_eq!(split.pattern.max_bs.read, 65536);

    let zoned = job("--name=a --size=1m --rw=randread --random_distribution=zoned_abs:60/1m:40/2m");
    let FioDistribution::Zoned(zones) = zoned.pattern.distribution else { panic!() };
    assert_eq!(zones.read[1], FioAccessZone { accesses: 40, size: FioAmount::Bytes(2 << 20) });

    let rates = job("--name=a --size=1m --rw=randrw --rate=1m,2m --max_latency=,5ms");
    assert_eq!(rates.pace.rate, PerDirection { read: 1 << 20, write: 2 << 20, trim: 2 << 20 });
    assert_eq!(rates.pace.max_latency.read.as_micros(), 0);
    assert_eq!(rates.pace.max_latency.write.as_micros(), 5000);

    let kept = job("--name=a --size=1m --bs=8k,32k,");
    assert_eq!(kept.pattern.bs, PerDirection { read: 8192, write: 32768, trim: 4096 });

    let borne = job("--name=a --size=1m --rw=randrw --ignore_error=EIO:28,,EILSEQ").verify;
    assert_eq!(borne.ignore_error, [vec![5, 28], vec![], vec![84]]);
    assert_eq!(borne.borne, FioBorneErrors { read: true, write: false, verify: true });

    let skipped = job("--name=a --read_iolog=x --replay_skip=trim,sync").replay;
    assert!(skipped.skip.trim && skipped.skip_sync && !skipped.skip.read);

    let listed = job("--name=a --size=1m --percentile_list=50:99.99:99").statistics;
    assert_eq!((listed.percentile_list, listed.percentile_precision), (vec![50.0, 99.99, 99.0], 2));

    let cpus = job("--name=a --size=1m --cpus_allowed=0,4-6").process.cpus_allowed;
    assert_eq!(cpus, [0, 4, 5, 6]);
    let ranges = job("--name=a --size=1m --sync_file_range=wait_before,write:16 --rw=write").sync;
    assert_eq!(ranges.sync_file_range, [FioSyncRange::WaitBefore, FioSyncRange::Write]);
    assert_eq!(ranges.sync_file_range_every, 16);
    let steady = job("--name=a --size=1m --ss=lat:100us --ss_dur=2").schedule.steadystate;
    let expected = FioSteadyLimit { criterion: FioSteadyState::Lat, limit: 100.0, percent: false };
    assert_eq!(steady, expected);
    let priorities =
        job("--name=a --size=1m --ioengine=io_uring --cmdprio_bssplit=64k/5:4k/10/1/0");
    let share = FioPriorityShare { bytes: 4096, percent: 10, priority: Some((1, 0, 0)) };
    assert_eq!(priorities.queue.engine_options.cmdprio_bssplit.write[0], share);
}

#[test]
fn the_programs_own_options_are_taken() {
    let own = line(
        "--output=/tmp/r --output-format=normal,json+ --append-terse --terse-version=5 --eta=never --eta-interval=500ms --eta-newline 2 --status-interval=1m --idle-prof=percpu --bandwidth-log --trigger-timeout=5 --name=a --size=1m --exitall",
    )
    .expect("jobs")
    .own;
    assert_eq!(own.output.as_deref(), Some("/tmp/r"));
    assert_eq!(own.formats, [FioFormat::Terse, FioFormat::JsonPlus, FioFormat::Normal]);
    assert_eq!((own.terse_version, own.eta), (5, FioEta::Never));
    assert_eq!((own.eta_interval.as_millis(), own.eta_newline.as_secs()), (500, 2));
    assert_eq!(own.status_interval.as_secs(), 60);
    assert_eq!(own.idle_profile, Some(FioIdleProfile::PerCpu));
    assert_eq!(own.bandwidth_log.as_deref(), Some("agg"));
    assert_eq!(own.trigger.timeout.as_secs(), 5);
    assert!(own.exitall);
    let letters = line("-m -o /tmp/r -r --name=a --size=1m").expect("jobs").own;
    assert_eq!(letters.formats, [FioFormat::Terse]);
    assert_eq!((letters.output.as_deref(), letters.readonly), (Some("/tmp/r"), true));
    let glued = line("-o/tmp/x -mr --name=a --size=1m").expect("jobs").own;
    assert_eq!((glued.output.as_deref(), glued.readonly), (Some("/tmp/x"), true));
}

#[test]
fn answers_are_those_of_fio() {
    let answer = |text: &str| line(text).expect(text).answer.unwrap_or_default();
    assert_eq!(answer("--version"), "fio-3.42\n");
    assert_eq!(answer("-v"), "fio-3.42\n");
    assert!(answer("--help").starts_with("fio-3.42\nfio [options] [job options] <job file(s)>\n"));
    assert!(answer("--cmdhelp").contains("\n  iodepth_batch         : "));
    let bs = answer("--cmdhelp=blocksize");
    assert!(bs.starts_with("                  bs: "), "{bs}");
    assert!(bs.contains("\n               alias: blocksize\n"), "{bs}");
    assert!(bs.contains("\n             default: 4096\n"), "{bs}");
    assert!(answer("--cmdhelp=ioscheduler").contains("; refused: set it before the run: "));
    assert!(answer("--cmdhelp=iodept").contains(" - showing closest match\n"));
    assert_eq!(answer("--cmdhelp=zzzzzzzz"), "No such command: zzzzzzzz\n");
    assert!(answer("--enghelp").starts_with("Available IO engines:\n\tsync\n"));
    assert!(answer("--enghelp=pvsync2").contains("hipri_percentage"));
    assert_eq!(answer("--enghelp=null"), "IO engine null has no options\n");

    let text = "[global]\nioengine=null\nblocksize=4k\n[a]\ndescription=x y\nthread\n[b]\nrw=read";
    let shown = with(&["--showcmd", "job.fio"], &[("job.fio", text)]).expect("text").answer;
    assert_eq!(
        shown.as_deref(),
        Some(
            "fio --ioengine=null --bs=4k --name=a --description=\"x y\" --thread --name=b --rw=read \n"
        )
    );
    let parsed = with(&["job.fio", "--parse-only"], &[("job.fio", text)]).expect("text");
    assert_eq!((parsed.answer.as_deref(), parsed.jobs.len()), (Some(""), 0));
}
