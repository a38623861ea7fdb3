//! Words, rows and lines against what the original makes of the same.

use std::collections::BTreeMap;

use super::super::option::OptionValue;
use super::*;
use assay_plan::name::NameText as _;
use assay_plan::plan::{LayoutMode, Lifetime, OffsetOrdering, PhaseEnd, Target, Work};

/// A file of records that a line may name.
const RECORDS: &[u8] = b"# offset, bytes, milliseconds\n0 65536 2\n\n131072 4096 0\n65536 512 1\n";

/// Takes a line apart; there is one file that it may name.
fn read_line(line: &str) -> Result<IozoneOptions, IozoneComplaint> {
    let files = |path: &std::path::Path| match path.to_str() {
        Some("records") => Ok(RECORDS.to_vec()),
        Some("untimed") => Ok(b"0 4096\n4096 4096\n".to_vec()),
        Some("broken") => Ok(b"0 4096\n# no\n12\n".to_vec()),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    };
    read(&line.split(' ').map(String::from).collect::<Vec<_>>(), &files)
}

fn asked(line: &str) -> IozoneOptions {
    match read_line(line) {
        Ok(asked) => asked,
        Err(complaint) => panic!("{line}: {complaint:?}"),
    }
}

fn refusal(line: &str) -> IozoneComplaint {
    let read = read_line(line).and_then(|asked| asked.command());
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

/// Its getopt passes over words that belong to no option: those of Phoronix end with one.
#[test]
fn words_that_belong_to_no_option_are_passed_over() {
    let words = |line: &str| line.split(' ').map(String::from).collect::<Vec<_>>();
    for test in ["-i0 -i1 #READ", "-i0 #WRITE"] {
        for record in ["4k", "64k", "1m", "2m"] {
            let line = format!("-e -o -r {record} -s 512M {test}");
            let bare = line.split(" #").next().unwrap_or_default();
            assert_eq!(asked(&line).cells(), asked(bare).cells(), "{line}");
            assert_eq!(asked(&line).done(), asked(bare).done(), "{line}");
            let mark = test.rsplit(' ').next().unwrap_or_default();
            assert_eq!(passed_over(&words(&line)), [mark], "{line}");
        }
    }
    assert_eq!(
        passed_over(&words("x -s 64m -+q 1 y -t 2 -F a b -i 0 -- z -i 1")),
        ["x", "y", "z", "-i", "1"]
    );
    assert_eq!(asked("-s 64m -i 0 -- -i 1").done(), asked("-s 64m -i 0").done());
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
        let complaint = read_line(&words.join(" ")).expect_err(option);
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
        ("-t 3 -F a b", 13, "-F has 2 names for 3 streams"),
        ("-H 4 -B", 18, "-B with -H or -k: a mapping has no calls that could wait"),
        ("-s 4k -r 64k", 23, "a record of 64 kB does not fit into a file of 4 kB"),
        ("-t 2 -N", 17, "-t and -N: throughput mode has no times of single records"),
        ("-G", 255, "-D or -G without -B: there is no mapping"),
        ("-+t", 255, "-+t: it tests the network between machines of -+m, which cannot be had here"),
        ("-U /m -t 2", 16, "-U and -t: a file system that streams use is not unmounted"),
        ("-U /m -f /n/x", 255, "-U /m: the file of -f lies elsewhere"),
        ("-+d -+w 10", 20, "-+d and -+w: sectors have data of their own, or data that are alike"),
        ("-+y 10", 255, "-+y without -+w: nothing is to be alike"),
        ("-V 3 -+a 10", 255, "two of -V, -+d, -+Z and -+w or -+a: each says what is written"),
        ("-m -V 3", 255, "-m with -V, -+d, -+Z, -+w or -+a: data are made in one buffer here"),
        ("-p -H 4", 255, "-p with -H or -k: others are in flight between two records"),
        (
            "-W -+l",
            255,
            "-W with -+l, -+L or -+V: whoever has the whole file needs no lock of a record, and shares it with nobody",
        ),
        ("-+J", 255, "-+J without -J: there is no time to be counted"),
        ("-J x", 255, "invalid value 'x' for -J"),
        ("-+b 64k", 255, "invalid value '64k' for -+b"),
        ("-X no", 174, "-X no: entity not found"),
        ("-X broken", 174, "-X broken: line 3 is '12'"),
        ("-X records -s 4m", 17, "-X and -s: the file says which records there are"),
        ("-Y records -K", 17, "-Y and -K: the file says which records there are"),
        ("-Y records -a", 17, "-Y and -a or several sizes: the file says which records there are"),
        ("-+E -i 0 -f x", 19, "-+E and a test that writes: the file is only read"),
        ("-+n64", 0, "unknown option '-+n64'"),
        ("-+x", 200, "-+x has no value"),
        ("--size 4", 255, "unknown option '--size'"),
    ] {
        let complaint = refusal(line);
        assert_eq!((complaint.status, complaint.refusal.why.as_str()), (status, why), "{line}");
    }
}

fn orders(line: &str) -> BTreeMap<String, OffsetOrdering> {
    let command = asked(line).command().expect(line);
    let order = |phase: &assay_plan::plan::Phase| match &phase.jobs[0].work {
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
    let stride = assay_plan::unit::Bytes(17 * 4096);
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
    row(&asked, cell) + &columns(&asked, &mut column, |_| Some(9_999_999))
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
        (test == IozoneTest::Write).then_some((cell.file / cell.record) as f64)
    });
    assert_eq!(
        report_text(&reports),
        "Excel output is below:\n\
         \n\"Writer report\"\n        \"32\"  \"64\"\n\"64\"   2  1 \n\"128\"   4  2 \n\
         \n\"Re-writer report\"\n        \"32\"  \"64\"\n\"64\"   0  0 \n\"128\"   0  0 \n"
    );
    let sheet = worksheet("iozone -a", &reports, &[]);
    assert_eq!(sheet[..8], [9, 0, 4, 0, 2, 0, 16, 0]);
    assert_eq!(sheet[8..20], [4, 0, 8, 1, 0, 0, 0, 0, 0, 0, 0, 9]);
    // All records stand above, and a row ends where they do not fit.
    let done = |line: &str| {
        let cells = self::asked(line).cells();
        self::reports(&self::asked(line), |cell, _| cells.contains(&cell).then_some(1.0)).remove(0)
    };
    let all = done("-a -n 64 -g 128 -i 0");
    let values: Vec<usize> = all.rows.iter().map(|(_, values)| values.len()).collect();
    assert_eq!((all.records.len(), &values[..]), (13, &[5, 6][..]));
    let large = done("-a -n 32m -g 32m -i 0");
    assert_eq!(large.rows[0].1, [vec![0.0; 4], vec![1.0; 9]].concat());
    // Labels are 268 bytes each with their heads: line, blank, explanation, two titles; and 16 numbers.
    let numbers = 2 * (2 + 2 * 3);
    assert_eq!(sheet.len(), 8 + 5 * 268 + numbers * 19 + 4);
}

#[test]
fn streams_are_told_as_the_original_tells_them() {
    let asked = asked("-t 2 -s 4m -r 256k -C -i 0 -R");
    let child = |moved, rate| ChildResult { moved, rate, cpu: CpuUse::default() };
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
    let tables = streams_tables(&asked, 256 << 10, |_, test| {
        let children = vec![child(1.0, 2_724_891.38)];
        (test == IozoneTest::Write).then_some(StreamResults { children, parent: 1.0 })
    });
    let sheet = streams_worksheet("iozone -t 2", &tables);
    // Five labels, of which the last begins a row, and its value two columns on.
    assert_eq!(sheet.len(), 8 + 5 * 268 + 19 + 4);
    assert_eq!(sheet[8 + 5 * 268..][..8], [3, 0, 15, 0, 4, 0, 2, 0]);
    assert_eq!(
        streams_report(&tables),
        "\n\"Throughput report Y-axis is type of test X-axis is number of processes\"\n\
         \"Record size = 256 kBytes \"\n\"Output is in kBytes/sec\"\n\n\
         \"  Initial write \" 2724891.38 \n\n"
    );
}

#[test]
fn cpu_time_is_told_as_the_original_tells_it() {
    let asked = asked("-t 2 -s 4m -r 256k -C -i 0 -R -+u -T");
    let child = |rate, wall, cpu| ChildResult { moved: 4096.0, rate, cpu: CpuUse { wall, cpu } };
    let children = vec![child(200.0, 2.0, 0.5), child(100.0, 4.0, 1.5)];
    let results = StreamResults { children, parent: 250.0 };
    let told = streams_result(&asked, IozoneTest::Write, &results);
    let lines: Vec<&str> = told.lines().skip(6).collect();
    assert_eq!(
        lines,
        [
            "\tMin xfer \t\t\t\t\t=    4096.00 kB",
            "\tCPU Utilization: Wall time    4.000    CPU time    2.000    CPU utilization  50.00 %",
            "",
            "\tChild[0] xfer count =    4096.00 kB, Throughput =     200.00 kB/sec, wall= 2.000, cpu= 0.500, %= 25.00",
            "\tChild[1] xfer count =    4096.00 kB, Throughput =     100.00 kB/sec, wall= 4.000, cpu= 1.500, %= 37.50",
        ]
    );
    let told = streams_result(&asked, IozoneTest::Rewrite, &results);
    assert!(told.contains("\tCPU utilization: Wall time "), "{told}");
    let tables = streams_tables(&asked, 256 << 10, |_, test| {
        (test == IozoneTest::Write).then(|| results.clone())
    });
    assert_eq!(
        streams_report(&tables),
        "\n\"Throughput report Y-axis is type of test X-axis is number of threads\"\n\
         \"Record size = 256 kBytes \"\n\"Output is in kBytes/sec\"\n\n\
         \"  Initial write \"     300.00 \n\n\
         \n\"CPU utilization report Y-axis is type of test X-axis is number of threads\"\n\
         \"Record size = 256 kBytes \"\n\"Output is in CPU%\"\n\n\
         \"  Initial write \"      50.00 \n\n"
    );
    let grid = self::asked("-s 64 -s 128 -r 32 -r 64 -i 0 -R -+u");
    let cpu = reports(&grid, |cell, test| {
        (test == IozoneTest::Write).then_some(cell.file as f64 / cell.record as f64 * 10.0)
    });
    assert_eq!(
        cpu_report(&cpu),
        "\n\"Writer CPU utilization report (Zero values should be ignored)\"\n        \"32\"  \"64\"\n\
         \"64\"    20.00  10.00\n\"128\"    40.00  20.00\n\
         \n\"Re-writer CPU utilization report (Zero values should be ignored)\"\n        \"32\"  \"64\"\n\
         \"64\"     0.00   0.00\n\"128\"     0.00   0.00\n"
    );
}

#[test]
fn histograms_have_the_bands_of_the_original() {
    use assay_plan::plan::Action;
    use assay_plan::stats::{ActionTally, ActionTotal, HistogramCell};
    let histogram = vec![
        HistogramCell(20_999, 3),
        HistogramCell(21_000, 1),
        HistogramCell(70_000_000_000, 2),
        HistogramCell(121_000_000_000, 4),
    ];
    let none = ActionTally::default().total(assay_plan::unit::Nanos::ZERO);
    let histogram = histogram.into_iter().collect();
    let total = Box::new(ActionTotal { histogram, ..none });
    let totals = [(Action::Read, total)].into();
    let job = assay_record::record::JobResult { totals, ..Default::default() };
    assert_eq!(
        histogram_of(&job),
        "Child: 1 Op: Read Backwards\n\
         Band 1:    20us:3        40us:1        60us:0        80us:0       100us:0       \n\
         Band 2:   200us:0       400us:0       600us:0       800us:0         1ms:0       \n\
         Band 3:     2ms:0         4ms:0         6ms:0         8ms:0        10ms:0       \n\
         Band 4:    12ms:0        14ms:0        16ms:0        18ms:0        20ms:0       \n\
         Band 5:    40ms:0        60ms:0        80ms:0       100ms:0       \n\
         Band 6:   200ms:0       400ms:0       600ms:0       800ms:0          1s:0       \n\
         Band 7:      2s:0          4s:0          6s:0          8s:0         10s:0       \n\
         Band 8:     20s:0         40s:0         60s:0         80s:2        120s:0       \n\
         Band 9:   120+s:4       \n\n"
    );
}

/// The histogram of a stream that read backwards.
fn histogram_of(job: &assay_record::record::JobResult) -> String {
    histogram(1, histogram_name(IozoneTest::Backward, false), &bands(job))
}

#[test]
fn lines_about_the_words_stand_where_the_original_has_them() {
    for (line, lines) in [
        ("-s 64 -J 2", "\tCompute time 0.002000 seconds for reads and writes.\n"),
        ("-X records", "\tCompute time from telemetry files for writes.\n"),
        (
            "-X untimed -J 2",
            "\tCompute time 0.002000 seconds for writes.\n\tCompute time 0.002000 seconds for reads.\n",
        ),
        (
            "-X untimed -Y records",
            "\tCompute time from telemetry files for reads.\n\tNo compute time for writes.\n",
        ),
        ("-s 64", ""),
    ] {
        let text = opening(&asked(line), "now", "");
        let (_, after) = text.split_once("\tOutput is in kBytes/sec\n").expect(line);
        let (found, _) = after.split_once("\tTime Resolution").expect(line);
        assert_eq!(found, lines, "{line}");
    }
    let end = |line: &str| -> Vec<String> {
        let text = opening(&asked(line), "now", "");
        let (_, end) = text.split_once(" * record size.\n").expect(line);
        end.lines().map(String::from).collect()
    };
    assert_eq!(
        end("-l 1 -u 2 -T -i 0"),
        ["\tMin thread = 1 ", "\tMax thread = 2 ", "\tThroughput test with 1 thread"]
    );
    assert_eq!(
        end("-t 2 -+b 64k,5 -i 0"),
        [
            "\tBurst size set to 64 Kbytes.",
            "\tBurst sleep duration set to 5 msec",
            "\tThroughput test with 2 processes"
        ]
    );
}

#[test]
fn records_of_a_file_are_done_as_they_stand_there() {
    use assay_plan::plan::ListedIo;
    use assay_plan::unit::{Bytes, Nanos};
    let asked = asked("-Y records");
    let tests: Vec<&str> = asked.done().into_iter().map(IozoneTest::name).collect();
    assert_eq!(tests, ["write", "rewrite", "read", "reread"]);
    // Where the last of them ends, rounded up to whole records of the writer.
    assert_eq!(asked.cells()[0].file, 135_168);
    let orders = orders("-Y records");
    assert_eq!(orders["write-132k-4k"], OffsetOrdering::Forward);
    let io = |offset, bytes, millis| ListedIo {
        offset: Bytes(offset),
        bytes: Bytes(bytes),
        compute: Nanos::millis(millis),
    };
    let ios = vec![io(0, 65_536, 2), io(131_072, 4096, 0), io(65_536, 512, 1)];
    assert_eq!(orders["read-132k-4k"], OffsetOrdering::Listed { ios });
    // What is computed before them is not in the rate.
    let place = TestPlace { test: IozoneTest::Read, cell: asked.cells()[0], streams: 0 };
    assert!((asked.left_out_of_rate(place, 3) - 0.003).abs() < 1e-9);
    let whole = self::asked("-J 2 -s 64 -r 4");
    let place = TestPlace { test: IozoneTest::Write, cell: whole.cells()[0], streams: 0 };
    assert!((whole.left_out_of_rate(place, 16) - 0.032).abs() < 1e-9);
    assert_eq!(self::asked("-J 2 -+J -s 64").left_out_of_rate(place, 16), 0.0);
}

#[test]
fn what_is_done_around_a_record_is_in_the_plan() {
    use assay_plan::plan::{Action, Fill, Interference, Verify, WorkerKind};
    let blocks = |line: &str, phase: &str| {
        let command = asked(line).command().unwrap_or_else(|error| panic!("{line}: {error:?}"));
        let phase = command.plan.phases.into_iter().find(|found| found.name.starts_with(phase));
        let job = phase.unwrap_or_else(|| panic!("{line}")).jobs.remove(0);
        match job.work.clone() {
            Work::Blocks(blocks) => (job, blocks),
            _ => panic!("{line}"),
        }
    };
    let around = |line: &str, phase: &str| blocks(line, phase).1.interference;
    let none = Interference::default();
    assert!(around("-W", "write").lock_files && around("-+l", "random-read").lock_blocks);
    assert_eq!(around("-W -+u", "fwrite"), none);
    assert_eq!(around("-K", "read").stray_reads_every, 100);
    assert_eq!((around("-K", "stride"), around("-K", "write")), (none, none));
    assert_eq!(around("-t 1 -K", "stride").stray_reads_every, 100);
    let cache = around("-p -S 32 -L 64", "write").cpu_cache.expect("a cache");
    assert_eq!((cache.size.0, cache.line.0), (32 << 10, 64));
    assert_eq!(around("-m", "read").buffers.0, 16 << 20);
    let (_, read) = blocks("-V 3", "read");
    assert_eq!((read.pattern.fill, read.pattern.verify), (Fill::Repeat(vec![3]), Verify::Full));
    let (_, write) = blocks("-+d", "write");
    assert_eq!((write.pattern.fill, write.pattern.verify), (Fill::Random, Verify::None));
    let (job, _) = blocks("-t 2 -Q -d 100", "write");
    assert_eq!(job.worker_kind, WorkerKind::Threads);
    assert_eq!(job.detail.log.expect("a log"), std::path::Path::new("Child_0_wol.dat"));
    let (_, reader) = blocks("-t 3 -+K 2 -i 8", "mixed");
    assert!(reader.pattern.mix.has(Action::Read));
    let phases = asked("-U /m -+q 3 -f /m/x -i 0").command().expect("a plan").plan.phases;
    assert_eq!((phases[0].remount.as_deref(), phases[0].quiet.0), (None, 0));
    assert_eq!(phases[1].remount.as_deref(), Some(std::path::Path::new("/m")));
    assert_eq!(phases[1].quiet.0, 3_000_000_000);
}

#[test]
fn it_is_said_which_of_two_figures_is_true() {
    let asked = asked("-t 2 -s 4m -i 0");
    let child = |rate| ChildResult { moved: 4096.0, rate, cpu: CpuUse::default() };
    let results = |parent| StreamResults { children: vec![child(900.0), child(100.0)], parent };
    let said = |parents: [f64; 2]| {
        let of = |(test, parent)| ((2, test), results(parent));
        let tests = [IozoneTest::Write, IozoneTest::Rewrite].into_iter().zip(parents);
        disagreement(&asked, 2, &tests.map(of).collect())
    };
    assert_eq!(
        said([443.58, 500.0]).as_deref(),
        Some(
            "2 streams: children see more than the parent: write 1000.00 and 443.58, rewrite 1000.00 and 500.00 kB/sec. The parent's are true of all together; the children's rates are added up as if all had run all the time, and they did not."
        )
    );
    assert_eq!(said([950.0, 1000.0]), None);
}

#[test]
fn what_the_figures_are_not_is_named_where_it_bites() {
    let named = |line: &str| -> Vec<String> {
        let words = notes(&asked(line)).into_iter();
        words.map(|note| note.split([' ', ':']).take(2).collect::<Vec<_>>().join(" ")).collect()
    };
    assert_eq!(named("-i 0 -i 1"), [""; 0]);
    assert_eq!(named("-i 0 -i 1 -+r -p -+n"), ["-+r ", "-p empties", "-+n "]);
    assert_eq!(named("-i 0 -+r"), [""; 0]);
    assert_eq!(named("-i 0 -i 1 -+r -p --honest"), [""; 0]);
    assert_eq!(named("-I -i 0 -i 6"), ["-I "]);
    assert_eq!(named("-s 64k -r 4k -i 0 -i 4 -i 5"), ["record rewrite", "stride read"]);
    assert_eq!(named("-s 1m -r 4k -i 0 -i 5"), [""; 0]);
    assert_eq!(named("-i 0 -i 2 -V 3"), ["data are"]);
}
