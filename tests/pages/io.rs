//! `assay io`: what its words come to, what is refused, and its page.

use std::path::Path;
use std::process::Command;

use assay_plan::unit::Nanos;
use assay_record::record::{ActionLatency, LimitKept, Record, StudyResult};
use serde_json::{Value, json};

use crate::common::pages::{golden, golden_at_widths, golden_file, page, undated};

struct Answer {
    code: i32,
    out: String,
    err: String,
}

fn assay(folder: &Path, line: &str) -> Answer {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    for name in ["NO_COLOR", "LANG", "LC_CTYPE", "ASSAY_RECORD", "ASSAY_DIALECT"] {
        command.env_remove(name);
    }
    command.env("LC_ALL", "C.UTF-8").env("COLUMNS", "90").current_dir(folder);
    let output = command.args(line.split_whitespace()).output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    let code = output.status.code().expect("no signal");
    Answer { code, out: text(output.stdout), err: text(output.stderr) }
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("large"), vec![0; 2 << 20]).expect("written");
    folder
}

#[test]
fn a_file_that_nothing_was_written_to_is_refused_before_the_start() {
    let folder = folder();
    let sparse = std::fs::File::create(folder.path().join("sparse")).expect("made");
    sparse.set_len(8 << 20).expect("grown");
    for verb in ["quick", "io", "sweep", "ramp"] {
        let answer = assay(folder.path(), &format!("{verb} sparse"));
        assert_eq!((answer.code, answer.out.as_str()), (2, ""), "{verb}: {}", answer.err);
        let says = "nothing was ever written to 'sparse': it is all holes, which memory answers; name a file that holds data";
        assert!(answer.err.contains(says), "{verb}: {}", answer.err);
    }
    // Data on their way to the device are data, wherever they stand.
    std::os::unix::fs::FileExt::write_all_at(&sparse, &[7; 4096], 4 << 20).expect("written");
    for verb in ["quick", "io", "sweep", "ramp"] {
        let answer = assay(folder.path(), &format!("{verb} sparse --plan"));
        assert!(!answer.err.contains("nothing was ever written"), "{verb}: {}", answer.err);
    }
}

#[test]
fn words_that_contradict_each_other_are_refused() {
    let folder = folder();
    for (line, says) in [
        ("", "PATH is missing; name a folder on the device, a file, or a block device"),
        (
            "nowhere",
            "there is nothing at 'nowhere'; name a folder on the device, a file to read, or a block device",
        ),
        (
            ". --direct --buffered",
            "'--direct' and '--buffered' contradict each other; leave one of them out",
        ),
        (
            ". --rw read --order random",
            "'--rw' and '--order' contradict each other; leave one of them out",
        ),
        (
            ". --rw read --read 70",
            "--read: 70 % of reads contradict --rw; write --rw rw, or leave --read out",
        ),
        (
            ". --rw randwrite --read 1",
            "--read: 1 % of reads contradict --rw; write --rw randrw, or leave --read out",
        ),
        (". --read 101%", "--read: '101%' is not a share in percent; give 0 to 100"),
        (
            ". --rw read --rwmixread 70",
            "--read: 70 % of reads contradict --rw; write --rw rw, or leave --read out",
        ),
        (
            ". --rw trim",
            "invalid value 'trim' for --rw; give one of read, write, randread, randwrite, rw, randrw",
        ),
        (". --order up", "invalid value 'up' for --order; give one of random, sequential"),
        (". --bs 0", "--block: a block has one byte at least; give 4k, 64k or 1M"),
        (
            ". --bs 4x",
            "--bs: 'x' in '4x' is not a unit; use k, M, G, T (powers of 1024) or kB, MB, GB, TB (powers of 1000)",
        ),
        (". --iodepth 0", "--iodepth: invalid value '0'; give 1 to 1024"),
        (". --numjobs 257", "--numjobs: invalid value '257'; give 1 to 256"),
        (
            ". --runtime 0",
            "--runtime: '0' is too short; give 100ms to 168h, such as 500ms, 30, 90s, 5m or 1h",
        ),
        (
            ". --time 99ms",
            "--time: '99ms' is too short; give 100ms to 168h, such as 500ms, 30, 90s, 5m or 1h",
        ),
        (". --p99 2", "--p99: '2' has no unit; give 1us to 3600s, such as 500us, 5ms or 2s"),
        (". --rate 0", "--rate: '0' is not a rate; give 1 to 4294967295, such as 5000 or 5k"),
        (". --fsync 0 --rw write", "--fsync: invalid value '0'; give 1 to 4294967295"),
        (
            ". --fsync 8",
            "--fsync: nothing is written that could be flushed; leave it out, or write with --rw randwrite or --read below 100",
        ),
        (". --size 1k", "--size: 1 KiB is less than one block; give 4 KiB or more"),
        (
            "large --verify",
            "--verify: what large holds was not written by this run; leave it out, or name a folder: a test file of our own is made there",
        ),
        (
            "large --rw write",
            "large is somebody's file, and would be overwritten; name its folder: a test file of our own is made there",
        ),
        (
            "large --size 3M",
            "--size: 3 MiB is more than large has (2 MiB); give less, or leave --size out",
        ),
        (
            ". .",
            "'.' is one path too many: . is no block device; give one path; only a device that may be overwritten is named twice",
        ),
        (". --bs 4k --block 8k", "--block was given twice; leave one out"),
        (
            ". --plan --record x",
            "'--plan' and '--record' contradict each other; leave one of them out",
        ),
    ] {
        let answer = assay(folder.path(), &format!("io {line}"));
        // A line that works may follow; tests/pages/cli.rs looks at those.
        assert_eq!(answer.err.lines().next(), Some(&*format!("assay: {says}")), "io {line}");
        assert_eq!((answer.code, answer.out.as_str()), (2, ""), "io {line}");
    }
}

#[test]
fn its_help_and_plan_are_as_kept() {
    let folder = folder();
    let help = assay(folder.path(), "io --help");
    assert_eq!((help.code, help.err.as_str()), (0, ""));
    golden("io", "help", &help.out);
    let words = "io . --rw randrw --read 70 --bs 8k --iodepth 16 --workers 4 --time 60s --rate 5000 \
                 --direct --fsync 32 --verify --size 64M --p99 2ms --seed 7 --plan";
    let planned = assay(folder.path(), words);
    assert_eq!(
        (planned.code, planned.err.as_str()),
        (0, "assay: would write as much as the device takes, and take about 61 s\n")
    );
    golden_file("io", "plan.json", &planned.out);
}

/// The plan of these words on a modelled device; what makes the file is left out.
fn modelled(folder: &Path, words: &str, model: Value) -> Value {
    let planned = assay(folder, &format!("io . --seed 7 --plan {words}"));
    let mut plan: Value = serde_json::from_str(&planned.out).expect("a plan");
    let phases = plan["phases"].as_array_mut().expect("phases");
    assert_eq!(phases.remove(0)["name"], "file");
    phases[0]["quiet"] = json!(0);
    let blocks = &mut phases[0]["jobs"][0]["work"]["blocks"];
    blocks["target"] = json!({ "nowhere": { "size": 1_u64 << 30 } });
    blocks["method"] = json!({ "sim": model });
    blocks["caching"] = json!("buffered");
    plan["aim"]["load"]["phase"] = json!(0);
    plan
}

/// What the page of a run says from its table to the verdict, the exit status, and the record.
fn run(folder: &Path, plan: &Value) -> (String, i32, Record) {
    std::fs::write(folder.join("plan.json"), plan.to_string()).expect("written");
    let answer = assay(folder, "run plan.json --record record.json");
    let lines = answer.out.lines().skip_while(|line| !line.contains("MB/s"));
    let lines: Vec<&str> = lines.take_while(|line| !line.starts_with("  verdict")).collect();
    let record = assay_record::record::load(&folder.join("record.json")).expect("a record");
    (format!("{}\n", lines.join("\n")), answer.code, record)
}

/// A page without what differs from run to run: CPU time, and how many came in the last tenth of a second.
fn steady(page: &str) -> String {
    let cpu = |line: &str| match line.find(" % of one CPU") {
        Some(end) => {
            let start = line[..end].rfind(' ').map_or(0, |at| at + 1);
            format!("{}#{}", &line[..start], &line[end..])
        }
        None => line.to_string(),
    };
    page.lines().map(|line| cpu(line) + "\n").collect()
}

#[test]
fn the_page_has_the_latency_of_each_direction_and_says_whether_it_held() {
    let folder = folder();
    // Each in 100 us, eight at a time, as many as are in flight.
    let words = "--rw randrw --read 70 --iodepth 8 --time 2 --p99 1ms";
    let plan = modelled(folder.path(), words, json!({ "latency": 100_000, "channels": 8 }));
    let (page, code, record) = run(folder.path(), &plan);
    golden("io", "held", &steady(&page));
    assert_eq!(code, 0);
    let Some(StudyResult::Load(found)) = &record.outcome else { panic!("none") };
    assert_eq!((found.p99_ns, found.kept), (Some(Nanos::millis(1)), LimitKept::Held));
    let by = |one: &ActionLatency| (one.action.name(), one.p99_ns, one.kept);
    let time = Some(Nanos::micros(100));
    assert_eq!(
        found.by.iter().map(by).collect::<Vec<_>>(),
        [("read", time, LimitKept::Held), ("write", time, LimitKept::Held)]
    );
}

#[test]
fn a_mixed_row_has_its_block_and_depth_at_every_width() {
    let folder = folder();
    let words = "--rw randrw --bs 8k --iodepth 64 --time 2";
    let plan = modelled(folder.path(), words, json!({ "latency": 100_000, "channels": 8 }));
    let (_, _, record) = run(folder.path(), &plan);
    golden_at_widths("io", |style| {
        let page = undated(&steady(&page(&record, style)));
        let row = page.lines().find(|line| line.contains("8 KiB q64")).expect("a row");
        assert!(row.contains("8 KiB q64  "), "{page}");
        page
    });
}

#[test]
fn a_latency_that_did_not_hold_is_said_and_ends_with_3() {
    let folder = folder();
    // Twice as many arrive as can be done: they queue.
    let words = "--rw randread --iodepth 4 --workers 2 --time 2 --rate 40000 --p99 500us";
    let plan = modelled(folder.path(), words, json!({ "latency": 200_000, "channels": 2 }));
    let (page, code, record) = run(folder.path(), &plan);
    let p99 = page.lines().find(|line| line.starts_with("  p99 ")).expect("a line");
    assert!(p99.starts_with("  p99      within 500 µs: not held (read "), "{page}");
    assert_eq!(code, 3, "{page}");
    let Some(StudyResult::Load(found)) = &record.outcome else { panic!("none") };
    assert_eq!(found.kept, LimitKept::Exceeded);
    let judged = assay(folder.path(), "judge record.json");
    assert_eq!(judged.code, 3);
    assert!(judged.out.contains(p99), "{}", judged.out);
}

#[test]
fn a_rate_that_was_asked_for_is_reached_or_not_and_not_ends_with_3() {
    let folder = folder();
    // Ten thousand per second can be done.
    for (rate, word, status) in [("40k", "not reached", 3), ("5k", "reached", 0)] {
        let words = format!("--rw randread --iodepth 4 --time 2 --rate {rate}");
        let model = json!({ "latency": 200_000, "channels": 2 });
        let plan = modelled(folder.path(), &words, model);
        let (page, code, record) = run(folder.path(), &plan);
        let line = page.lines().find(|line| line.starts_with("  rate ")).expect("a line");
        let told: Vec<&str> = line.split_whitespace().collect();
        let [_, reached, "of", asked, "IOPS", "asked:", found @ ..] = told.as_slice() else {
            panic!("{line}")
        };
        assert_eq!((found.join(" ").as_str(), code), (word, status), "{page}");
        let Some(StudyResult::Load(outcome)) = &record.outcome else { panic!("none") };
        let rate = outcome.rate.expect("asked for");
        assert_eq!((rate.asked.to_string().as_str(), rate.held), (*asked, status == 0));
        assert_eq!(rate.reached.to_string(), *reached, "{page}");
        assert_eq!((outcome.p99_ns, outcome.by.len()), (None, 0));
        // The latency from submission stands beneath the one from when an I/O was due.
        let due = page.lines().position(|line| line.starts_with("  read ")).expect("a line");
        let sent = page.lines().nth(due + 1).expect("a line").trim_start();
        assert!(sent.starts_with("from submission: p50 "), "{page}");
        let judged = assay(folder.path(), "judge record.json");
        assert_eq!(judged.code, status);
        assert!(judged.out.contains(line), "{}", judged.out);
    }
}

/// What stands below latencies that are not all there.
const WHY_ABSENT: &str = "-: fewer than ten operations took longer";

#[test]
fn a_page_of_reads_does_not_speak_of_the_writes_that_made_its_file() {
    let folder = folder();
    let answer = assay(folder.path(), "io . --rw read --time 500ms --report page.txt");
    let how = answer.out.lines().find(|line| line.starts_with("  how ")).expect("a line");
    assert!(!how.contains("write") && !how.contains("flush"), "{how}");
    // Of so few reads there is no p99.9, and the line says why.
    let answer = assay(folder.path(), "io . --rw read --bs 1M --size 2M --time 100ms");
    let mut read = answer.out.lines().skip_while(|line| !line.starts_with("  read     p50 "));
    assert!(read.next().is_some_and(|line| line.contains("p99.9 -,")), "{}", answer.out);
    assert_eq!(read.next().map(str::trim), Some(WHY_ABSENT), "{}", answer.out);
}

/// Digits as `#`, runs of blanks as one.
fn shape(line: &str) -> String {
    let mut shape = String::new();
    for c in line.trim().chars() {
        let c = if c.is_ascii_digit() || c == '.' { '#' } else { c };
        let again = matches!(c, '#' | ' ') && shape.ends_with(c);
        if !again {
            shape.push(c);
        }
    }
    // A percentile of few is absent, and what was asked of it is then held by the longest of them all.
    let shape = shape.replace("p# -", "p# # µs").replace("s maximum", "s");
    shape.replace("ms", "µs").replace("ns", "µs").replace("# s,", "# µs,").replace("# s)", "# µs)")
}

#[test]
fn a_run_in_a_folder_leaves_nothing_and_prints_all_of_it() {
    let folder = folder();
    let words = "io . --rw randrw --read 50 --bs 4k --iodepth 4 --workers 2 --time 2s --size 4M --fsync 16 \
                 --buffered --p99 1s --report page.html --report page.txt";
    let answer = assay(folder.path(), words);
    assert!(matches!(answer.code, 0 | 3), "{} {}", answer.out, answer.err);
    let facts = answer.out.lines().skip_while(|line| !line.starts_with("  read "));
    let facts: Vec<&str> = facts.take_while(|line| !line.is_empty()).collect();
    // Where one is absent, a line says why, once.
    let why = facts.iter().filter(|line| line.trim() == WHY_ABSENT).count();
    let any = facts.iter().any(|line| line.contains(" -,"));
    assert_eq!(why, usize::from(any), "{}", answer.out);
    let facts = facts.into_iter().filter(|line| line.trim() != WHY_ABSENT).map(shape);
    let facts: Vec<String> = facts.collect();
    assert_eq!(
        facts,
        [
            "read p# # µs, p# # µs, p# # µs, p# # µs, max # µs",
            "write p# # µs, p# # µs, p# # µs, p# # µs, max # µs",
            "flush p# # µs, p# # µs, p# # µs, p# # µs, max # µs",
            "cpu # % of one CPU, by # workers together",
            "depth # of # in flight of each worker on average, # at most",
            "p# within # s: held (read # µs, write # µs)",
        ],
        "{}",
        answer.out
    );
    let html = std::fs::read_to_string(folder.path().join("page.html")).expect("a page");
    assert!(html.contains("in flight of each worker on average"), "{html}");
    let page = std::fs::read_to_string(folder.path().join("page.txt")).expect("a page");
    assert!(page.contains("within 1.00 s: held (read "), "{page}");
    let mut names: Vec<String> = std::fs::read_dir(folder.path())
        .expect("readable")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["large", "page.html", "page.txt"]);
}
