//! What fio does otherwise than most people mean is written down.

use super::*;

/// Word, what fio makes of it, what was meant, and what says that.
fn notes(command: &FioCommand) -> Vec<(&str, &str, &str, &str)> {
    command
        .notes
        .iter()
        .map(|note| (&*note.word, &*note.made, &*note.meant, &*note.instead))
        .collect()
}

#[test]
fn numbers_with_blanks_and_strange_units() {
    let command = file("[a]\nioengine=null\nsize=1m\nbs = 8k\nruntime=1sec\n").expect("a job");
    assert_eq!(command.jobs[0].pattern.bs.read, 8);
    assert_eq!(command.jobs[0].schedule.runtime.as_micros(), 1);
    assert_eq!(
        notes(&command),
        [("bs = 8k", "8", "8k", "bs=8k"), ("runtime=1sec", "1us", "1s", "runtime=1s")]
    );
    assert_eq!(command.notes[0].place.to_string(), "job.fio:4:1");
    assert_eq!(command.notes[0].job, "a");
    let command = line("--name=a --size=1m --bs=8KiB").expect("a job");
    assert_eq!(notes(&command), [("--bs=8KiB", "8000", "8k", "bs=8k")]);
}

#[test]
fn a_depth_that_nothing_keeps() {
    let command = line("--name=a --size=1m --iodepth=32").expect("a job");
    let (word, made, meant, instead) = notes(&command)[0];
    assert_eq!((word, meant), ("--iodepth=32", "32 I/Os in flight"));
    assert_eq!(made, "one I/O in flight: ioengine=psync waits for each");
    assert_eq!(instead, "ioengine=io_uring iodepth=32");
    let command = line("--name=a --size=1m --iodepth=32 --ioengine=libaio").expect("a job");
    assert_eq!(notes(&command)[0].3, "direct=1");
    let fine = line("--name=a --size=1m --iodepth=32 --ioengine=libaio --direct=1").expect("a job");
    assert_eq!(notes(&fine), []);
}

#[test]
fn words_that_do_nothing() {
    let command = line("--name=a --size=1m --threads=4 --dir=/mnt").expect("a job");
    assert!(!command.jobs[0].schedule.thread);
    assert_eq!(command.jobs[0].target.directories, Vec::<String>::new());
    assert_eq!(notes(&command)[0].3, "thread and numjobs=4");
    assert_eq!(notes(&command)[1].3, "directory=/mnt");
    let command = line("--name=a --size=1m --bs=8k --bsrange=4k-16k").expect("a job");
    assert_eq!(command.jobs[0].pattern.min_bs.read, 4096);
    assert_eq!(notes(&command)[0].0, "--bs=8k");
    let command = line("--name=a --size=1m --clocksource=cpu").expect("a job");
    assert_eq!((command.notes[0].meant.as_str(), command.notes.len()), ("", 1));
    let command = line("--max-jobs=5 --name=a --size=1m").expect("a job");
    assert_eq!(command.notes[0].word, "--max-jobs");
}

#[test]
fn trims_that_nothing_begins() {
    for (words, told) in [
        ("--verify=md5 --trim_percentage=10", 1),
        ("--trim_percentage=10 --trim_backlog=8", 1),
        ("--verify=md5 --trim_percentage=10 --trim_backlog=8", 0),
    ] {
        let command = line(&format!("--name=a --size=1m --rw=write {words}")).expect("a job");
        let notes = notes(&command);
        assert_eq!(notes.iter().filter(|note| note.1.starts_with("nothing: ")).count(), told);
    }
}

#[test]
fn sections_that_are_not_what_they_look_like() {
    let command =
        file("[globalfoo]\nioengine=null\nsize=64k\n[a] b\n[c\n[d] # fine\n").expect("jobs");
    assert_eq!(names(&command), [("a] ", 0), ("", 0), ("d", 0)]);
    let words: Vec<_> = notes(&command).into_iter().map(|note| (note.0, note.3)).collect();
    assert_eq!(
        words,
        [
            ("[globalfoo]", "a name that does not begin with 'global'"),
            ("[a] b", "[a]"),
            ("[c", "[c]"),
        ]
    );
    let command = file("[a]\nsize=1m\nfilename=a;b\ndescription=x # y\n").expect("a job");
    assert_eq!(command.jobs[0].target.filenames, ["a"]);
    assert_eq!(
        notes(&command),
        [("filename=a;b", "'filename=a': what follows is a comment", "the whole", "")]
    );
}

#[test]
fn the_line_does_not_win() {
    let files = [("a.fio", "[x]\nsize=1m\nbs=4k\n"), ("b.fio", "[y]\nsize=1m\n")];
    let command = with(&["a.fio", "b.fio", "--bs=8k", "--direct=1"], &files).expect("jobs");
    let sizes: Vec<_> = command.jobs.iter().map(|job| job.pattern.bs.read).collect();
    assert_eq!(sizes, [4096, 4096]);
    let direct: Vec<_> = command.jobs.iter().map(|job| job.sync.direct).collect();
    assert_eq!(direct, [true, false]);
    let words: Vec<_> = command.notes.iter().map(|note| (&*note.word, &*note.made)).collect();
    assert_eq!(
        words,
        [
            ("--bs=8k", "nothing: bs=4k at a.fio:3:1 comes after it"),
            ("--bs=8k", "nothing in 'b.fio': it is set for the first job file only"),
            ("--direct=1", "nothing in 'b.fio': it is set for the first job file only"),
        ]
    );
}

#[test]
fn files_that_add_up() {
    let command =
        file("[global]\nsize=1m\nioengine=null\nfilename=x\n[a]\nfilename=y\n").expect("a job");
    assert_eq!(command.jobs[0].target.filenames, ["x", "y"]);
    assert_eq!(command.jobs[0].target.nrfiles, 2);
    assert_eq!(notes(&command)[0].0, "filename=y");
    assert_eq!(notes(&command)[0].1, "all of x, y");
    let command = line("--name=a --filename=x --size=1m --numjobs=4 --nrfiles=8").expect("a job");
    assert_eq!(command.jobs[0].target.nrfiles, 1);
    let words: Vec<_> = notes(&command).into_iter().map(|note| note.0).collect();
    assert_eq!(words, ["--nrfiles=8", "--numjobs=4"]);
    let swallowed = line("--name=a --size=1m --write_bw_log --direct=1").expect("a job");
    assert_eq!(swallowed.jobs[0].logs.bw.as_deref(), Some("--direct=1"));
    assert_eq!(notes(&swallowed)[0].1, "'--direct=1' is the value of --write_bw_log");
}

#[test]
fn what_only_newer_builds_compute() {
    let command = file("[a]\nioengine=null\nsize=$mb_memory*8k\n").expect("a job");
    assert_eq!(command.jobs[0].target.size, Some(FioAmount::Bytes(16384 * 8192)));
    assert_eq!(notes(&command)[0].0, "size=$mb_memory*8k");
}

#[test]
fn a_name_with_colons_that_is_probably_one() {
    let told = |words: &str| {
        let command = line(&format!("--name=a --size=1m {words}")).expect("a job");
        notes(&command).first().map(|note| (note.2.to_string(), note.3.to_string()))
    };
    let path = "/dev/disk/by-path/pci-0000:00:03.0";
    let instead = r"filename=/dev/disk/by-path/pci-0000\:00\:03.0";
    assert_eq!(told(&format!("--filename={path}")), Some((path.into(), instead.into())));
    for fine in ["i:j", "/x/a:/x/b", r"/x/a\:b", "one"] {
        assert_eq!(told(&format!("--filename={fine}")), None, "{fine}");
    }
}

#[test]
fn shares_and_rates_that_are_not_what_they_look_like() {
    let first = |words: &str| {
        let command = line(&format!("--name=a --size=1m {words}")).expect("a job");
        let note = notes(&command).first().map(|note| (note.1.to_string(), note.3.to_string()));
        note.map(|(made, instead)| format!("{made} > {instead}"))
    };
    assert_eq!(
        first("--bssplit=4k/60:64k/60").as_deref(),
        Some(
            "4096 bytes in 60 %, 65536 bytes in 40 %: the shares add up to 120 % > shares that add up to 100"
        )
    );
    assert_eq!(first("--bssplit=4k/60:64k/40"), None);
    assert_eq!(first("--bssplit=4k/:8k/:64k/"), None);
    assert_eq!(
        first("--rate=50").as_deref(),
        Some("50 bytes a second, less than a block of 4096 bytes in a minute > rate=50m")
    );
    assert_eq!(first("--rate=1m"), None);
    assert_eq!(first("--rate=50.49").as_deref(), Some("50 > rate=50"));
    assert_eq!(
        first("--bs=4k --bssplit=4k/60:64k/40").as_deref(),
        Some("nothing: 'bssplit' decides about the block size > it without 'bssplit'")
    );
    // Writes have the block size.
    assert_eq!(first("--rw=randrw --bs=4k --bssplit=4k/60:64k/40,"), None);
    for fine in [
        "--nrfiles=1 --filename=x",
        "--nrfiles=2 --filename=x:y",
        "--write_lat_log=l --log_store_compressed=1",
    ] {
        assert_eq!(first(fine), None, "{fine}");
    }
    assert!(first("--nrfiles=1 --filename=x:y").is_some());
}

#[test]
fn a_line_that_many_jobs_inherit_is_told_once() {
    let jobs: String = (0..32).map(|number| format!("[j{number}]\n")).collect();
    let command = file(&format!("[global]\niodepth=8\nsize=64k\n{jobs}")).expect("jobs");
    assert_eq!(super::super::note_lines(&command.notes).len(), 1);
}
