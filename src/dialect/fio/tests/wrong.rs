//! Words that make no sense: fio's own lines, the place, and what to write instead.

use proptest::prelude::*;

use super::*;

/// Lines of the original on standard error, and what is said beside it.
fn complaint(text: &str) -> (String, String) {
    let complaint = line(text).expect_err(text);
    (complaint.said, complaint.refusal.to_string())
}

#[test]
fn lines_are_those_of_fio() {
    let table = [
        (
            "--nosuch=1 --name=x",
            "fio: unrecognized option '--nosuch=1'\nfio: unrecognized option '--nosuch=1'\n",
        ),
        (
            "--iodepht=1 --name=x",
            "fio: unrecognized option '--iodepht=1'\nfio: unrecognized option '--iodepht=1'\nDid you mean iodepth?\n",
        ),
        (
            "--minimal=1",
            "fio: option '--minimal' doesn't allow an argument\nfio: unrecognized option '--minimal=1'\nDid you mean minimal?\n",
        ),
        (
            "--bs",
            "fio: option '--bs' requires an argument\nfio: unrecognized option '--bs'\nDid you mean bs?\n",
        ),
        ("--name=x --bs=", "fio: option bs requires an argument\n"),
        ("--name=x --bs=banana", "fio: failed parsing bs=banana\n"),
        (
            "--name=x --iodepth=0",
            "iodepth: min value out of range: 0 (1 min)\nfio: failed parsing iodepth=0\n",
        ),
        (
            "--name=x --rwmixread=150",
            "rwmixread: max value out of range: 150 (100 max)\nfio: failed parsing rwmixread=150\n",
        ),
        (
            "--name=x --direct=2",
            "max value out of range: 2 (1 max)\nfio: failed parsing direct=2\n",
        ),
        (
            "--name=x --size=1m --bs=1z",
            "bs: 'z' suffix isn't applicable\nfio: failed parsing bs=1z\n",
        ),
        (
            "--name=x --ioengine=nosuch",
            "fio: engine nosuch not loadable\nfio: failed to load engine\n",
        ),
        (
            "--name=x --size=1m --rate=1m --rate_iops=5",
            "fio: rate and rate_iops are mutually exclusive\n",
        ),
        (
            "--name=x --size=1m --rw=write --readonly",
            "fio: trim and write operations are not allowed with the --readonly parameter.\n",
        ),
        (
            "--name=x --size=1k",
            "fio: size too small, must not be less than minimum block size: 1024 < 4096\n",
        ),
        ("--name=x --size=1m --wait_for=zz", "x: waitee job zz unknown.\n"),
        (
            "--name=x --size=1m --zonesize=64k",
            "fio: --zonemode=none and --zonesize are not compatible.\n",
        ),
        (
            "--name=x --size=1m --directory=/nosuch",
            "fio: /nosuch is not a directory\nfio: failed parsing directory=/nosuch\n",
        ),
        (
            "--name=x --size=1m --ss=bw:5% --ss_dur=3 --ss_interval=2",
            "fio: ss_duration 3000000us must be multiple of ss_check_interval 2000000us\n",
        ),
        (
            "--name=x --size=1m --log_issue_time=1",
            "fio: log_issue_time option requires write_lat_log and log_offset options\n",
        ),
        ("--section=global", "fio: can't use global as only section\n"),
        (
            "--output-format=xml",
            "fio: invalid output format xml\nfio: failed parsing output-format\n",
        ),
        ("--eta-interval=100ms", "fio: eta interval time too short (250msec min)\n"),
        ("nofile.fio", "fio: unable to open 'nofile.fio' job file\n"),
    ];
    for (text, said) in table {
        assert_eq!(complaint(text).0, said, "{text}");
        assert_eq!(line(text).expect_err(text).status, 1);
    }
    let ambiguous = complaint("--io=1 --name=x").0;
    assert!(ambiguous.starts_with("fio: option '--io=1' is ambiguous; possibilities: '--io"));
    let valid = line("--name=x --rw=banana").expect_err("rw").told;
    assert!(valid.starts_with("        valid values: read       "), "{valid}");
}

/// Plans that no memory has room for are refused before they are made.
#[test]
fn more_clones_and_files_than_there_is_room_for_are_refused() {
    let full = "error: maximum number of jobs reached.\nerror: failed to setup shm segment\n";
    for text in [
        "--name=x --size=1m --numjobs=4089",
        "--name=x --size=1m --numjobs=4000 --name=y --size=1m --numjobs=89",
        "--name=x --size=1m --numjobs=4294967295 --name=y --size=1m --numjobs=4294967295",
    ] {
        assert_eq!(complaint(text).0, full, "{text}");
        assert_eq!(line(text).expect_err(text).status, 1);
    }
    assert_eq!(
        complaint("--name=x --size=1m --numjobs=4089").1,
        "word 3: job x: numjobs: 4089 jobs in all are more than 4088; a smaller numjobs"
    );
    line("--name=x --size=1m --numjobs=4000 --name=y --size=1m --numjobs=88").expect("fio's most");
    for (text, files) in [
        ("--name=x --size=1t --nrfiles=4294967295", 4_294_967_295_u64),
        ("--name=x --size=1t --nrfiles=1m --numjobs=2", 2 * 1_048_576),
        ("--name=x --size=1t --filename=a:b --name=y --size=1t --nrfiles=524287", 524_289),
    ] {
        let told = complaint(text).1;
        assert!(told.contains(&format!("nrfiles: {files} files of all clones")), "{told}");
    }
    line("--name=x --size=1t --nrfiles=524288").expect("as many as there is room for");
}

#[test]
fn a_complaint_says_what_to_write_instead() {
    let table = [
        ("--name=x --iodepht=1", "word 2: there is no option 'iodepht'; --iodepth"),
        ("--name=x --rw=randred", "word 2: 'randred' is no value of 'rw'; rw=randread"),
        (
            "--name=x --ioengine=liburing",
            "word 2: there is no engine 'liburing'; ioengine=io_uring",
        ),
        ("--name=x --direct=yes", "word 2: 'yes' is neither 0 nor 1; direct=1"),
        (
            "--name=x --hipri",
            "word 2: there is no option 'hipri'; 'hipri' is an option of ioengine=io_uring or io_uring_cmd or pvsync2 or sg, which has to come first",
        ),
        ("--name=x --size=150%", "word 2: 'size=150%' is more than 100 %; size=100%"),
        (
            "--name=x --thread 1",
            "cannot read the job file '1': entity not found; a flag takes its value behind '=': --thread=1",
        ),
        (
            "--name=x --fdp=1",
            "word 2: 'fdp' is not done here: use flexible data placement; leave it out: placement of data in a device is not done here",
        ),
    ];
    for (text, said) in table {
        assert_eq!(complaint(text).1, said, "{text}");
    }
}

#[test]
fn a_job_file_is_complained_of_by_line_and_column() {
    let complaint = |text: &str| file(text).expect_err(text);
    let bad = complaint("[a]\nfoo=bar\n  iodepht=3\nbs=banana\ndirect\nthread=yes\n[b]\n");
    assert_eq!(
        bad.said,
        "fio: failed parsing bs=banana\nOption direct requires an argument\nfio: failed parsing direct\nfio: failed parsing thread=yes\nBad option <foo=bar>\nDid you mean flow?\nBad option <iodepht=3>\nDid you mean iodepth?\nfio: job a dropped\n"
    );
    assert_eq!(bad.refusal.place, "job.fio:4:4");
    let unknown = complaint("[a]\n  iodepht=3\n");
    assert_eq!(unknown.refusal.to_string(), "job.fio:2:3: there is no option 'iodepht'; 'iodepth'");
    assert_eq!(unknown.said, "Bad option <iodepht=3>\nDid you mean iodepth?\nfio: job a dropped\n");
    let outside = complaint("rw=read\n[a]\n");
    assert_eq!(outside.said, "fio: option <rw=read> outside of [] job section\n");
    assert_eq!(outside.refusal.place, "job.fio:1:1");
    let blank = complaint("[a]\nrw = read\n");
    assert_eq!(blank.refusal.to_string(), "job.fio:2:5: ' read' is no value of 'rw'; rw=read");
    let missing = complaint("[a]\ninclude more.inc\n");
    assert_eq!(
        missing.said,
        "fio: unable to open 'more.inc' job file\nError 1 while parsing include file more.inc\n"
    );
    let nested = with(&["job.fio"], &[("job.fio", "[a]\ninclude b.inc"), ("b.inc", "[b]\n")]);
    let nested = nested.expect_err("a section");
    assert!(nested.said.starts_with("No new sections in included files\n"), "{}", nested.said);
    assert_eq!(nested.refusal.place, "b.inc:1:1");
    let round =
        with(&["job.fio"], &[("job.fio", "[a]\ninclude b.inc"), ("b.inc", "include b.inc\n")]);
    assert!(round.expect_err("round").refusal.why.contains("includes itself"));
    let late = complaint("[global]\nioengine=null\n[a]\nsize=1m\n[b]\nsize=1k\n");
    assert_eq!(late.refusal.place, "job.fio:6:1");
}

#[test]
fn warnings_are_said_and_can_end_it() {
    let warned = line("--name=x --size=1m --time_based").expect("a job");
    assert_eq!(warned.said, ["fio: time_based requires a runtime/timeout setting"]);
    assert!(!warned.jobs[0].schedule.time_based);
    let ended = complaint("--warnings-fatal --name=x --size=1m --time_based");
    assert_eq!(ended.0, "fio: time_based requires a runtime/timeout setting\n");
    let told = line("--name=x --size=1m --runtime=1 --time_based --rw=write --verify=md5");
    let told = told.expect("a job").told;
    assert_eq!(
        told,
        ["fio: verification read phase will never start because write phase uses all of runtime"]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_job_file_is_too_much(text in "(\\[[a-z]{0,3}\\]?\n|[a-z_]{1,8}[ =:]{0,2}[-0-9a-z.:,/%(){}$;#]{0,9}\n|include [a-z]{1,2}\n){0,12}") {
        let _ = file(&text);
    }

    #[test]
    fn no_value_is_too_much(index in 0_usize..400, value in "[-0-9a-zA-Z.:,/%(){}$\"' ]{0,14}") {
        let options: Vec<_> = all_options().collect();
        let option = options[index % options.len()];
        let engine = option.engines.first().map_or("null", |engine| engine.word());
        let _ = file(&format!("[a]\nsize=1m\nioengine={engine}\n{}={value}\n", option.name));
        let word = format!("--{}={value}", option.name);
        let _ = with(&["--name=a", "--size=1m", "--ioengine=null", &word], &[]);
    }

    #[test]
    fn no_words_are_too_much(words in proptest::collection::vec("-{0,3}[a-z_-]{0,9}=?[0-9a-z:,.%]{0,5}", 0..6)) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let _ = with(&words, &[]);
    }
}
