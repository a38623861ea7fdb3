//! Words, rows and lines against what the original makes of the same.

use std::collections::BTreeMap;

use super::super::option::OptionValue;
use super::*;
use crate::name::NameText as _;
use crate::plan::{LayoutMode, Lifetime, OffsetOrdering, PhaseEnd, Target, Work};

fn asked(line: &str) -> IozoneOptions {
    match read(&line.split(' ').map(String::from).collect::<Vec<_>>()) {
        Ok(asked) => asked,
        Err(complaint) => panic!("{line}: {complaint:?}"),
    }
}

fn refusal(line: &str) -> IozoneComplaint {
    let words: Vec<String> = line.split(' ').map(String::from).collect();
    let read = read(&words).and_then(|asked| asked.command());
    read.err().unwrap_or_else(|| panic!("{line} was not refused"))
}

/// Records of each file, in the order of the rows.
fn rows(line: &str) -> Vec<(u64, usize)> {
    let mut rows: Vec<(u64, usize)> = Vec::new();
    for cell in asked(line).cells() {
        match rows.last_mut() {
            Some((file, records)) if *file == cell.file >> 10 => *records += 1,
            _ => rows.push((cell.file >> 10, 1)),
        }
    }
    rows
}

#[test]
fn the_grid_has_the_rows_of_the_original() {
    assert_eq!(rows("-a -n 16m -g 32m -i 0 -R"), [(16384, 13), (32768, 9)]);
    assert_eq!(rows("-a -n 16m -g 32m -i 0 -R -z"), [(16384, 13), (32768, 13)]);
    let all = rows("-a");
    assert_eq!((all.len(), all[0], all[13]), (14, (64, 5), (524_288, 9)));
    assert_eq!(rows("-a -g 256k -+x 4"), [(64, 3), (256, 4)]);
    assert_eq!(rows("-s 4m -r 64k"), [(4096, 1)]);
    assert_eq!(rows("-s 4m -s 8m -r 4 -r 64"), [(4096, 2), (8192, 2)]);
    assert_eq!(rows("-i 0"), [(512, 1)]);
    assert_eq!(asked("-s 64 -r 16").cells()[0], GridCell { file: 65536, record: 16384 });
}

#[test]
fn glued_letters_are_read_as_getopt_does() {
    let article = asked("-azecI -+n -L64 -S32 -r1m -s1024m -i0 -i2 -w -f FILE");
    assert!(article.auto && article.no_crossover && article.fsync && article.close);
    assert!(article.direct && article.no_retest && article.keep);
    assert_eq!((article.line, article.cache), (64, 32));
    assert_eq!(article.cells(), [GridCell { file: 1 << 30, record: 1 << 20 }]);
    let names: Vec<&str> = article.done().into_iter().map(IozoneTest::name).collect();
    assert_eq!(names, ["write", "random-read", "random-write"]);
    let arm = asked("-Raz -b out.xls -i 0 -i 1 -i 2 -S 512 -g 8M -+r");
    assert_eq!(arm.cells().len(), 5 + 6 + 7 + 8 + 9 + 10 + 11 + 12);
    assert!(arm.sync && arm.read_sync && arm.worksheet.is_some());
}

#[test]
fn every_example_is_understood_and_every_refusal_says_why() {
    for example in examples() {
        let command = asked(example).command();
        assert!(command.is_ok(), "{example}: {command:?}");
        assert!(!meanings(&example.split(' ').map(String::from).collect::<Vec<_>>()).is_empty());
    }
    for option in refused() {
        let words = [option.to_string(), "1".into()];
        // What follows is its value, or one word too many.
        let refused = options::OPTIONS.iter().find(|one| one.is(option)).map(|one| one.value);
        let words = if refused == Some(OptionValue::None) { &words[..1] } else { &words[..] };
        let complaint = read(words).expect_err(option);
        assert!(complaint.refusal.why.starts_with(&option[..2]), "{option}: {complaint:?}");
        assert!(!complaint.refusal.instead.is_empty(), "{option}");
    }
}

#[test]
fn bad_words_end_with_a_clear_line_and_the_status_of_the_original() {
    for (line, status, why) in [
        ("-s abc", 255, "invalid value 'abc' for -s"),
        ("-i 13", 255, "invalid value '13' for -i"),
        ("-i 11", 255, "-i 11: the original does nothing there, as it is built for Linux"),
        ("-a -t 4", 17, "-t and -a: streams have one size of file and of record"),
        ("-q 32m -a", 23, "-q 32m: a record has 16 MiB at the most"),
        ("-F a b", 12, "-F comes before -t, which says how many names it has"),
        ("-t 3 -F a b", 13, "-F has 2 names, and 3 streams run together"),
        ("-H 4 -B", 18, "-B with -H or -k: a mapping has no calls that could wait"),
        ("-s 4k -r 64k", 23, "a record of 64 kB does not fit into a file of 4 kB"),
        ("-t 2 -N", 17, "-t and -N: throughput mode has no times of single records"),
        ("-G", 255, "-D or -G without -B: there is no mapping"),
        ("-+z", 255, "-+z: its histograms cannot be had here"),
        ("-+E -i 0 -f x", 19, "-+E and a test that writes: the file is only read"),
        ("-+n64", 0, "unknown option '-+n64'"),
        ("-+x", 200, "-+x has no value"),
        ("--size 4", 255, "unknown option '--size'"),
        ("file", 255, "'file' belongs to no option"),
    ] {
        let complaint = refusal(line);
        assert_eq!((complaint.status, complaint.refusal.why.as_str()), (status, why), "{line}");
    }
}

/// Orders by test.
fn orders(line: &str) -> BTreeMap<String, OffsetOrdering> {
    let command = asked(line).command().expect(line);
    let order = |phase: &crate::plan::Phase| match &phase.jobs[0].work {
        Work::Blocks(blocks) => blocks.pattern.order.clone(),
        _ => panic!("{}", phase.name),
    };
    command.plan.phases.iter().map(|phase| (phase.name.clone(), order(phase))).collect()
}

#[test]
fn a_cell_is_a_phase_for_each_test() {
    let command = asked("-s 1m -r 4k -E").command().expect("a plan");
    assert_eq!(command.plan.phases.len(), 17);
    let found = orders("-s 1m -r 4k");
    assert_eq!(found["backward-read-1024k-4k"], OffsetOrdering::Backward);
    assert_eq!(found["record-rewrite-1024k-4k"], OffsetOrdering::Same);
    assert_eq!(found["random-read-1024k-4k"], OffsetOrdering::Shuffled);
    let stride = crate::unit::Bytes(17 * 4096);
    assert_eq!(found["stride-read-1024k-4k"], OffsetOrdering::Strided { stride });
    // A short file is its first record, again and again.
    assert_eq!(orders("-s 64k -r 4k")["stride-read-64k-4k"], OffsetOrdering::Same);
}

#[test]
fn files_come_and_go_as_the_words_say() {
    let target = |line: &str, phase: usize| {
        let command = asked(line).command().expect(line);
        match &command.plan.phases[phase].jobs[0].work {
            Work::Blocks(blocks) => blocks.target.clone(),
            _ => panic!("{line}"),
        }
    };
    let of = |line, phase| match target(line, phase) {
        Target::File { path, layout, lifetime, .. } => (path.to_text(), layout, lifetime),
        other => panic!("{other:?}"),
    };
    let usual = |layout| ("iozone.tmp".to_string(), layout, Lifetime::Remove);
    assert_eq!(of("-i 0", 0), usual(LayoutMode::Truncated));
    assert_eq!(of("-i 0", 1), usual(LayoutMode::AsFound));
    assert_eq!(of("-i 0 -i 6", 2), usual(LayoutMode::AsFound));
    assert_eq!(of("-i 6", 0), usual(LayoutMode::Truncated));
    assert_eq!(of("-i 1", 0), usual(LayoutMode::Existing));
    assert_eq!(of("-w -i 0 -f x", 0), ("x".into(), LayoutMode::Truncated, Lifetime::Keep));
    assert_eq!(of("-t 2 -i 0", 0).0, "iozone.DUMMY.0");
    assert_eq!(of("-t 2 -F a b -i 0", 0).0, "a");
}

#[test]
fn the_first_stream_that_ends_stops_the_others() {
    let until = |line: &str| asked(line).command().expect(line).plan.phases[0].until;
    assert_eq!(until("-t 2 -i 0"), PhaseEnd::First);
    assert_eq!(until("-t 2 -x -i 0"), PhaseEnd::Last);
    assert_eq!(until("-i 0"), PhaseEnd::Last);
}

/// A whole row from the values of all tests, as 3.507 prints it for the same line.
fn whole_row(line: &str) -> String {
    let asked = asked(line);
    let mut column = 0;
    let cell = asked.cells()[0];
    row(cell) + &columns(&asked, &mut column, |_| Some(9_999_999))
}

#[test]
fn rows_are_spaced_as_in_the_original() {
    for (line, expected) in [
        (
            "-s 64 -r 32 -i 0",
            "              64      32   9999999   9999999                                                                                                    ",
        ),
        (
            "-s 64 -r 32 -i 0 -i 2",
            "              64      32   9999999   9999999                     9999999   9999999                                                                ",
        ),
        (
            "-s 64 -r 32 -i 0 -i 3",
            "              64      32   9999999   9999999                                       9999999                                                       ",
        ),
        (
            "-s 64 -r 32 -i 0 -i 4 -i 5",
            "              64      32   9999999   9999999                                                 9999999    9999999                                   ",
        ),
        (
            "-s 64 -r 32 -i 0 -i 6",
            "              64      32   9999999   9999999                                                                    9999999   9999999                 ",
        ),
        (
            "-s 64 -r 32 -+n",
            "              64      32   9999999         0   9999999         0   9999999   9999999   9999999    9999999    9999999   9999999         0   9999999         0",
        ),
        ("-s 64 -r 32 -A", "              64      32   9999999   9999999   9999999   9999999"),
        (
            "-s 64 -r 32 -B -i 0 -i 1",
            "              64      32   9999999   9999999   9999999   9999999                                                                 ",
        ),
        (
            "-s 64 -r 32 -E -i 0 -i 9 -i 10",
            "              64      32   9999999   9999999                                                                                                       9999999   9999999   9999999   9999999",
        ),
        (
            "-s 64 -r 32 -E -i 0 -i 9",
            "              64      32   9999999   9999999                                                                                                       9999999   9999999                  ",
        ),
    ] {
        assert_eq!(whole_row(line), expected, "{line}");
    }
}

#[test]
fn a_row_grows_as_its_tests_end() {
    let asked = asked("-s 64 -r 32 -i 0 -i 2");
    let mut column = 0;
    let mut known: Vec<(IozoneTest, u64)> = Vec::new();
    let mut grown = String::new();
    for test in [IozoneTest::Write, IozoneTest::Rewrite, IozoneTest::RandomRead] {
        known.push((test, 7));
        grown += &columns(&asked, &mut column, |test| {
            known.iter().find(|(known, _)| *known == test).map(|(_, value)| *value)
        });
        grown.push('|');
    }
    assert_eq!(grown, "         7|         7                  |         7|");
}

#[test]
fn titles_stand_over_their_columns() {
    let text = opening(&asked("-s 64 -E -S 512"), "Tue Nov 24 21:44:49 2026", "");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[15], "\tRun began: Tue Nov 24 21:44:49 2026");
    let tail = &lines[lines.len() - 6..];
    assert_eq!(
        tail[..4],
        [
            "\tTime Resolution = 0.000001 seconds.",
            "\tProcessor cache size set to 512 kBytes.",
            "\tProcessor cache line size set to 32 bytes.",
            "\tFile stride size set to 17 * record size.",
        ]
    );
    assert_eq!(
        tail[4],
        format!("{:68}random    random      bkwd     record     stride{:80}", "", "")
    );
    assert_eq!(
        tail[5],
        "              kB  reclen    write    rewrite      read    reread      read     write      read    rewrite       read    fwrite  frewrite     fread   freread    pwrite  repwrite     pread   repread"
    );
}

#[test]
fn a_report_has_a_table_for_each_figure() {
    let asked = asked("-a -n 64 -g 128 -y 32 -q 64 -i 0 -R");
    let reports = reports(&asked, |cell, test| {
        (test == IozoneTest::Write).then_some(cell.file / cell.record)
    });
    assert_eq!(
        report_text(&reports),
        "Excel output is below:\n\
         \n\"Writer report\"\n        \"32\"  \"64\"\n\"64\"   2  1 \n\"128\"   4  2 \n\
         \n\"Re-writer report\"\n        \"32\"  \"64\"\n\"64\"   0  0 \n\"128\"   0  0 \n"
    );
    let sheet = worksheet("iozone -a", &reports);
    assert_eq!(sheet[..8], [9, 0, 4, 0, 2, 0, 16, 0]);
    assert_eq!(sheet[8..20], [4, 0, 8, 1, 0, 0, 0, 0, 0, 0, 0, 9]);
    // Labels are 268 bytes each with their heads: line, blank, explanation, two titles; and 16 numbers.
    let numbers = 2 * (2 + 2 * 3);
    assert_eq!(sheet.len(), 8 + 5 * 268 + numbers * 19 + 4);
}

#[test]
fn streams_are_told_as_the_original_tells_them() {
    let asked = asked("-t 2 -s 4m -r 256k -C -i 0 -R");
    let child = |moved, rate| ChildResult { moved, rate };
    let children = vec![child(3840.0, 7_695_950.0), child(4096.0, 8_552_280.0)];
    let results = StreamResults { children, parent: 443_479.58 };
    assert_eq!(
        streams_result(&asked, IozoneTest::Write, &results),
        "\n\tChildren see throughput for  2 initial writers \t= 16248230.00 kB/sec\n\
         \tParent sees throughput for  2 initial writers \t=  443479.58 kB/sec\n\
         \tMin throughput per process \t\t\t= 7695950.00 kB/sec \n\
         \tMax throughput per process \t\t\t= 8552280.00 kB/sec\n\
         \tAvg throughput per process \t\t\t= 8124115.00 kB/sec\n\
         \tMin xfer \t\t\t\t\t=    3840.00 kB\n\
         \tChild[0] xfer count =    3840.00 kB, Throughput = 7695950.00 kB/sec\n\
         \tChild[1] xfer count =    4096.00 kB, Throughput = 8552280.00 kB/sec\n"
    );
    let report = streams_report(&asked, 256 << 10, |_, test| {
        (test == IozoneTest::Write).then_some(2_724_891.38)
    });
    assert_eq!(
        report,
        "\n\n\"Throughput report Y-axis is type of test X-axis is number of processes\"\n\
         \"Record size = 256 kBytes \"\n\"Output is in kBytes/sec\"\n\n\
         \"  Initial write \" 2724891.38 \n\n"
    );
}
