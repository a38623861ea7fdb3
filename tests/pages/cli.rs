//! What the user types, and what comes back.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common;
use assay_plan::plan::Plan;
use assay_record::record::{Record, RecordDocument};
use serde_json::Value;

/// A folder of its own, and the program in it.
struct Desk {
    dir: tempfile::TempDir,
}

struct Answer {
    code: i32,
    out: String,
    err: String,
}

impl Desk {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.dir.path());
        for name in ["NO_COLOR", "COLUMNS", "LANG", "LC_CTYPE", "ASSAY_RECORD", "ASSAY_DIALECT"] {
            command.env_remove(name);
        }
        command.env("LC_ALL", "C.UTF-8");
        command
    }

    fn type_words(&self, line: &str) -> Answer {
        let mut command = self.command(Path::new(env!("CARGO_BIN_EXE_assay")));
        answer(command.args(line.split_whitespace()).output().expect("it runs"))
    }

    /// Names that lie in the folder.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.dir.path())
            .expect("readable")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    fn keep(&self, name: &str, record: &Record) {
        std::fs::write(self.path(name), serde_json::to_string(record).expect("json"))
            .expect("written");
    }
}

fn answer(output: Output) -> Answer {
    Answer {
        code: output.status.code().expect("no signal"),
        out: String::from_utf8(output.stdout).expect("text"),
        err: String::from_utf8(output.stderr).expect("text"),
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[test]
fn bad_words_are_refused_in_one_line_and_one_that_works_and_touch_nothing() {
    let desk = Desk::new();
    std::fs::write(desk.path("small"), b"few").expect("written");
    std::fs::write(desk.path("large"), vec![0; 2 << 20]).expect("written");
    std::fs::write(desk.path("words.json"), b"{ \"title\": 3 }").expect("written");
    std::fs::write(desk.path("large.csv"), vec![0; 2 << 20]).expect("written");
    std::fs::create_dir(desk.path("folder")).expect("made");
    std::fs::create_dir(desk.path("folder.csv")).expect("made");
    std::fs::write(desk.path("empty.json"), b"\n").expect("written");
    std::fs::write(desk.path("cut.json"), b"{\n  \"schema\": \"assay.rec").expect("written");
    std::fs::write(desk.path("noise.json"), [0xff, 0xfe]).expect("written");
    std::fs::write(desk.path("record.json"), b"{\"schema\": \"assay.record/1\"}").expect("written");
    let before = desk.names();
    for (line, says) in [
        ("", "no command given"),
        ("quik .", "unknown command 'quik'; did you mean 'quick'?"),
        (
            "report x",
            "unknown command 'report'; did you mean 'assay judge RECORD --report FILE.html'?",
        ),
        (
            "quick . --html x",
            "unknown option '--html'; did you mean '--report FILE'? The end of its name",
        ),
        ("quick . -o x", "unknown option '-o'; did you mean '--report FILE'?"),
        ("--frobnicate", "unknown option '--frobnicate'"),
        ("quick", "PATH is missing; name a folder on the device, a file, or a block device"),
        ("quick nowhere", "there is nothing at 'nowhere'; name a folder"),
        ("quick small/x", "there is nothing at 'small/x'"),
        ("quick /dev/null", "'/dev/null' is neither folder, file nor block device"),
        ("quick small", "small has only 3 B; name a file of 1 MiB or more"),
        ("quick . --tim 4", "unknown option '--tim'; did you mean '--time'?"),
        ("quick . --time", "'--time' needs a value"),
        ("quick . --time 3x", "--time: '3x' is not a time; give 1s to 168h, such as 30, 90s"),
        ("quick . --time 1", "--time: too short for 6 phases; give 3 or more"),
        ("quick . --size 5x", "--size: 'x' in '5x' is not a unit"),
        ("quick . --size 512", "--size: 512 B is less than one block; give 1M or more"),
        ("quick large --size 3M", "--size: 3 MiB is more than large has (2 MiB)"),
        ("quick . --seed x", "--seed"),
        ("quick . --quick --time 60", "'--quick' and '--time' contradict each other"),
        ("quick . --quick --quick", "--quick was given twice; leave one out"),
        ("quick . --plan --report r.svg", "'--plan' and '--report' contradict each other"),
        (
            "quick . --report r.PDF",
            "the ending of r.PDF is that of no report; let its name end with .txt",
        ),
        ("quick . --report small", "the ending of small is that of no report"),
        (
            "quick . --report /nowhere/r.svg",
            "/nowhere/r.svg cannot be made; name a file in a folder",
        ),
        (
            "quick . --report folder.csv",
            "folder.csv is no regular file, and so no place for a report",
        ),
        (
            "quick . --report r.json --record r.json",
            "r.json is no place for a report: it has another",
        ),
        ("quick large.csv --report ./large.csv", "./large.csv is there and is no report of assay"),
        (
            "judge record.json --format pdf",
            "invalid value 'pdf' for --format; give one of text, json",
        ),
        ("quick . --plan --record r.json", "'--plan' and '--record' contradict each other"),
        ("quick . --read-only --keep", "contradict each other"),
        ("quick . --read-only", "there is nothing to read in a folder with --read-only"),
        ("quick . --read-only --size 4M", "there is nothing to read in a folder with --read-only"),
        ("quick /dev/x /dev/x --read-only", "contradict each other"),
        ("quick . .", "no block device; give one path"),
        ("quick . a b", "'a' is one path too many: . is no block device"),
        ("quick . a b c", "no more were expected"),
        ("quick . --size 999999T", "do not fit"),
        ("quick large --keep", "--keep is about the test file"),
        ("ramp", "PATH is missing; name a folder"),
        ("ramp nowhere", "there is nothing at 'nowhere'"),
        ("ramp . --max-depth 0", "--max-depth: invalid value '0'; give 1 to 1024"),
        ("ramp . --max-workers 1000", "--max-workers: invalid value '1000'; give 1 to 256"),
        ("ramp . --p99 5", "--p99: '5' has no unit; give 1us to 3600s, such as 500us, 5ms or 2s"),
        ("ramp . --step 0", "--step: '0' is too short; give 1s to 168h"),
        ("ramp . --action trim", "invalid value 'trim' for --action; give one of read, write"),
        ("ramp . --order up", "invalid value 'up' for --order; give one of random, forward"),
        ("ramp . --size 1k", "--size: 1 KiB is less than one block; give 4 KiB or more"),
        ("ramp large --action write", "large is somebody's file, and would be overwritten"),
        ("ramp large --size 3M", "--size: 3 MiB is more than large has (2 MiB)"),
        ("ramp . .", "no block device; give one path"),
        ("sustain large", "large is somebody's file, and would be overwritten; name its folder"),
        (
            "sustain . --time 20",
            "--time: 25 rounds in 20.0 s are shorter than 1.00 s; give 25 or more",
        ),
        ("sustain . --bytes 4k", "--bytes: 4 KiB is less than one block; give 1 MiB or more"),
        ("sustain . --size 999999T", "do not fit"),
        ("modes", "PATH is missing; name a folder on the device, a file, or a block device"),
        ("modes nowhere", "there is nothing at 'nowhere'; name a folder"),
        ("modes large", "modes writes, and would not overwrite the file large; name the folder"),
        ("modes . .", "no block device; give one path"),
        ("modes . --time 5", "--time: too short for all the ways; give 16 or more"),
        ("modes . --time 3x", "--time: '3x' is not a time; give 1s to 168h, such as 30, 90s"),
        ("modes . --quick --time 60", "'--quick' and '--time' contradict each other"),
        ("modes . --block 5x", "--block: 'x' in '5x' is not a unit"),
        ("modes . --block 512", "--block: direct I/O cannot be done in calls of 512 B; give mult"),
        ("modes . --block 1M,64K,1M", "--block: 1 MiB was given twice; leave one out"),
        ("modes . --size 512K", "--size: 512 KiB is less than one block; give 1M or more"),
        ("modes . --size 1088K", "--size: 1.06 MiB is no multiple of 1 MiB, and all ways are to"),
        ("modes . --size 999999T", "do not fit"),
        ("modes . --plan --record r.json", "'--plan' and '--record' contradict each other"),
        ("run", "PLAN is missing"),
        ("run nowhere.json", "there is no plan at 'nowhere.json'; write one with"),
        ("run words.json", "words.json:1:12: not a plan: invalid type: integer `3`"),
        ("judge nowhere.json", "there is no record at 'nowhere.json'"),
        ("judge words.json", "words.json:1:"),
        ("judge folder", "'folder' is a folder, not a record; give a file that --record or"),
        ("judge empty.json", "'empty.json' is empty, not a record; give a file"),
        ("judge noise.json", "'noise.json' is no text, not a record; give a file"),
        ("judge cut.json", "cut.json:2:22: not a record: EOF while parsing a string; give a file"),
        ("compare folder folder", "there is no record in 'folder'; give a folder of files"),
        ("run folder", "'folder' is a folder, not a plan; 'assay schema plan' describes it"),
        ("run empty.json", "'empty.json' is empty, not a plan"),
        ("run record.json", "'record.json' is a record, not a plan; judge it with 'assay judge"),
        ("explain folder", "'folder' is a folder, not a line; give a line such as"),
        ("explain empty.json", "'empty.json' holds neither a plan nor a record"),
        ("explain cut.json", "cut.json:2:22: the file ends in the middle of a plan or a record"),
        ("quick . --time -3", "--time: '-3' is negative; give 1s to 168h, such as 30, 90s, 5m or"),
        ("quick . --size -1M", "--size: '-1M' is negative; give 4k, 1M, 2GiB or 500MB"),
        ("ramp . --frob 3", "unknown option '--frob'; see 'assay ramp --help'"),
        ("ramp . --time 3", "unknown option '--time'; did you mean '--step'?"),
        ("ramp . -q 32", "unknown option '-q'; did you mean '--max-depth'?"),
        ("ramp . --numjobs 4", "unknown option '--numjobs'; did you mean '--max-workers'?"),
        ("sweep . -q 32", "unknown option '-q'; did you mean '--depth'?"),
        ("sweep . --threads 2", "unknown option '--threads'; did you mean '--workers'?"),
        ("sustain . -d 60", "unknown option '-d'; did you mean '--time'?"),
        ("io . -b 8k", "unknown option '-b'; did you mean '--block'?"),
        ("ramp . --bs 0", "--block: a block has one byte at least"),
        ("sustain . --bs 4k --iodepth 2000", "--iodepth: invalid value '2000'; give 1 to 1024"),
        ("sweep . --over depth=1,2 --iodepth 2", "--depth: it is varied, and given beside that"),
        ("judge", "RECORD is missing; see 'assay judge --help'"),
        ("schema verdicts", "invalid value 'verdicts' for DOCUMENT; give one of record, plan"),
        ("traps T75", "there is no trap 'T75'; write a number from T00 to T74"),
        ("completions tcsh", "invalid value 'tcsh' for SHELL; give one of bash"),
    ] {
        let Answer { code, out, err } = desk.type_words(line);
        assert_eq!(code, 2, "assay {line}: {err}");
        assert_eq!(out, "", "assay {line}");
        let (first, more) = err.split_once('\n').expect("a line");
        assert!(first.starts_with("assay: ") && first.contains(says), "assay {line}: {err}");
        // The line that works does, on this machine.
        let Some(works) = more.strip_suffix('\n') else { continue };
        let works = works.strip_prefix("  assay ").expect("a command");
        assert!(!works.contains('\n'), "{err}");
        if !works.starts_with("judge ") {
            let shown = desk.type_words(&format!("{} --plan", works.replace(" --json", "")));
            assert_eq!(shown.code, 0, "assay {line}: {works}: {}", shown.err);
        }
    }
    assert_eq!(desk.names(), before);
}

#[test]
fn a_line_that_works_stands_below_what_is_wrong_with_one() {
    let desk = Desk::new();
    std::fs::write(desk.path("few"), b"few").expect("written");
    for (line, says, works) in [
        (
            "io . --time 0",
            "--time: '0' is too short; give 100ms to 168h, such as",
            "io . --time 10",
        ),
        ("io . --time=0", "--time: '0' is too short", "io . --time=10"),
        ("io . --bs 4q", "--bs: 'q' in '4q' is not a unit", "io . --bs 4k"),
        ("io . --block 4k..1k", "--block: '4k..1k' is a range, and one", "io . --block 4k"),
        ("io . --iodepth 0", "--iodepth: invalid value '0'; give 1 to 1024", "io . --iodepth 1"),
        (
            "io . --iodepth x",
            "--iodepth: 'x' is not a whole number; give 1 to 1024",
            "io . --iodepth 1",
        ),
        ("io . --iodepth -4", "--iodepth: '-4' is negative; give 1 to 1024", "io . --iodepth 1"),
        (
            "io . --read half",
            "--read: 'half' is not a share in percent; give 0 to 100",
            "io . --read 70",
        ),
        ("io . --rate 0", "--rate: '0' is not a rate; give 1 to 4294967295", "io . --rate 5000"),
        ("io . --bs", "'--bs' needs a value", "io . --bs 4k"),
        ("io", "PATH is missing", "io ."),
        ("quick few", "few has only 3 B", "quick ."),
        ("quick . --tim 30", "unknown option '--tim'; did you mean '--time'?", "quick . --time 30"),
        ("quikc . --time 30", "unknown command 'quikc'", "quick . --time 30"),
        ("capacity .", "did you mean 'assay card PATH --capacity'?", "card . --capacity"),
        ("sweep . --block 4k..1k", "--block: '4k..1k' is a range", "sweep . --over bs=1k..4k"),
        ("sweep . --over bs=4k..1k", "ends before it begins", "sweep . --over bs=1k..4k"),
        ("ramp . --p99 -3ms", "--p99: '-3ms' is negative; give 1us to 3600s", "ramp . --p99 3ms"),
        ("ramp . --p99 5", "--p99: '5' has no unit; give 1us to 3600s", "ramp . --p99 5ms"),
        ("atto few", "few is somebody's file", "atto ."),
        ("atto . -q0", "-q: invalid value '0'; give 1 to 256", "atto . -q1"),
        ("modes . --time 5", "--time: too short for all the ways; give 16", "modes . --time 16"),
        (
            "watch . --interval 0",
            "--interval: '0' is too short; give 100ms to 1h",
            "watch . --interval 1s",
        ),
        ("watch . --count 0", "--count: invalid value '0'; give 1 or more", "watch . --count 1"),
    ] {
        let Answer { code, err, .. } = desk.type_words(line);
        let told: Vec<&str> = err.lines().collect();
        let [first, second] = told[..] else { panic!("assay {line}: {err}") };
        assert_eq!((code, second), (2, &*format!("  assay {works}")), "assay {line}: {err}");
        assert!(first.starts_with("assay: ") && first.contains(says), "assay {line}: {err}");
    }
    // As large as what fits, and not more.
    let Answer { err, .. } = desk.type_words("quick . --size 999999T");
    let most = err.split("give --size ").nth(1).and_then(|rest| rest.split(' ').next());
    let works = format!("\n  assay quick . --size {}\n", most.expect("a size"));
    assert!(err.ends_with(&works), "{err}");
    // What was only mistyped a little is guessed, and nothing else.
    for line in ["cat", "busybox cat"] {
        let Answer { code, err, .. } = desk.type_words(line);
        assert!(code == 2 && !err.contains("did you mean"), "{err}");
    }
    assert_eq!(desk.names(), ["few"]);
}

#[test]
fn a_folder_that_is_not_ours_is_refused() {
    if is_root() {
        // Root may write everywhere; another user's eyes are needed.
        eprintln!("skipped: needs a user other than root");
        return;
    }
    let Answer { code, err, .. } = Desk::new().type_words("quick /");
    assert_eq!((code, err.lines().count()), (2, 1), "{err}");
    assert!(err.contains("this user may not write in '/'"), "{err}");
}

#[test]
fn help_goes_to_standard_output() {
    let desk = Desk::new();
    for (line, says) in [
        ("-h", "Exit status: 0 the number is sound"),
        ("--help", "ASSAY_COLD=target|machine|no"),
        ("quick --help", "[DEVICE-AGAIN]"),
        ("-V", env!("CARGO_PKG_VERSION")),
        ("--version", "\ncommit    "),
        ("--version", "\nfeatures  psync sync vectored io_uring libaio "),
        ("man", ".SH \"ASSAY QUICK\""),
        ("man", ".SH \"ENVIRONMENT\""),
        ("man", "\n  busy%         time with a request in flight (%util); several at once may\n"),
        (
            "man",
            "\nExit status: 0 the runs are comparable; 3 they are not, or none of their figures is\n",
        ),
        ("completions bash", "_assay"),
        ("completions fish", "complete -c assay"),
    ] {
        let Answer { code, out, err } = desk.type_words(line);
        assert_eq!((code, err.as_str()), (0, ""), "assay {line}");
        assert!(out.contains(says), "assay {line}: {out}");
    }
}

#[test]
fn every_verb_stands_in_the_man_page_and_the_read_me() {
    let desk = Desk::new();
    let (help, page) = (desk.type_words("--help").out, desk.type_words("man").out);
    let read_me = include_str!("../../README.md");
    let commands = help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next());
    let verbs: Vec<&str> = commands
        .expect("a list of verbs")
        .lines()
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|verb| *verb != "help")
        .collect();
    assert!(verbs.contains(&"quick") && verbs.contains(&"completions"), "{verbs:?}");
    for verb in verbs {
        let heading = format!(".SH \"ASSAY {}\"\n", verb.to_uppercase());
        assert!(page.contains(&heading), "the man page has no {verb}");
        assert!(read_me.contains(&format!("`assay {verb}")), "the read-me has no {verb}");
    }
}

#[test]
fn records_and_plans_obey_the_schemas_that_are_published() {
    let desk = Desk::new();
    let schema = |line: &str| -> Value {
        let Answer { code, out, .. } = desk.type_words(line);
        assert_eq!(code, 0);
        let schema: Value = serde_json::from_str(&out).expect("json");
        assert!(jsonschema::meta::is_valid(&schema), "{line} is no JSON Schema");
        schema
    };
    assert_eq!(schema("schema"), schema("schema record"));
    let records = jsonschema::validator_for(&schema("schema record")).expect("a schema");
    for record in [
        common::card(),
        common::fast(),
        common::deferred(),
        common::memory(),
        common::interrupted(),
        common::failed(),
    ] {
        // As it is written: with its figures.
        let document = RecordDocument::of(&record).text().expect("json");
        let document: Value = serde_json::from_str(&document).expect("json");
        assert!(document["figures"].as_array().is_some_and(|figures| !figures.is_empty()));
        let errors: Vec<String> = records.iter_errors(&document).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{errors:#?}");
        let again: Record = serde_json::from_value(document).expect("a record");
        assert_eq!(again, record);
    }
    let mut broken = serde_json::to_value(common::card()).expect("json");
    broken["phases"] = "none".into();
    assert!(!records.is_valid(&broken));
    let text = RecordDocument::of(&common::card()).text().expect("json");
    let mut broken: Value = serde_json::from_str(&text).expect("json");
    broken["figures"][0]["metric"] = "speed".into();
    assert!(!records.is_valid(&broken));
    let plans = jsonschema::validator_for(&schema("schema plan")).expect("a schema");
    let plan = serde_json::to_value(common::quick_plan("/mnt")).expect("json");
    assert!(plans.is_valid(&plan));
    let mut broken = plan;
    broken["seed"] = "none".into();
    assert!(!plans.is_valid(&broken));
}

#[test]
fn an_old_record_is_judged_and_printed() {
    let desk = Desk::new();
    desk.keep("card.json", &common::card());
    let Answer { code, out, err } = desk.type_words("judge card.json");
    assert!([0, 3].contains(&code), "{code}");
    assert_eq!(err, "");
    assert!(out.contains("seq-write"), "{out}");
    assert!(out.contains("verdict"), "{out}");
    assert!(!out.contains('\u{1b}'), "colour in a pipe: {out}");
    let Answer { out, .. } = desk.type_words("judge card.json --json");
    let record: Record = serde_json::from_str(&out).expect("a record");
    assert_eq!(record.plan, common::card().plan);
    for (format, begin) in [
        ("text", "assay quick /mnt/sd\n"),
        ("json", "{\n"),
        ("html", "<!DOCTYPE html>\n"),
        ("svg", "<svg "),
        ("csv", "phase,action,block_bytes,"),
        ("markdown", "### `assay quick /mnt/sd`\n"),
    ] {
        let Answer { out, err, .. } =
            desk.type_words(&format!("judge card.json --format {format}"));
        assert!(out.starts_with(begin) && err.is_empty(), "{format}: {out}{err}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    use std::process::Stdio;
    let desk = Desk::new();
    let mut command = desk.command(Path::new(env!("CARGO_BIN_EXE_assay")));
    let mut child = command
        .args(["schema"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    drop(child.stdout.take());
    let answer = answer(child.wait_with_output().expect("it ends"));
    assert_eq!((answer.code, answer.err.as_str()), (0, ""));
}

#[test]
fn an_output_that_is_full_is_a_fault() {
    let desk = Desk::new();
    let full = std::fs::File::options().write(true).open("/dev/full").expect("there");
    let mut command = desk.command(Path::new(env!("CARGO_BIN_EXE_assay")));
    let answer = answer(command.args(["schema"]).stdout(full).output().expect("it runs"));
    assert_eq!(answer.code, 1);
    assert!(
        answer.err.starts_with("assay: cannot write standard output: No space left on device"),
        "{}",
        answer.err
    );
}

#[test]
fn a_link_called_dd_hands_all_words_over() {
    let desk = Desk::new();
    let link = desk.path("dd");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_assay"), &link).expect("linked");
    for mut command in [desk.command(&link), {
        let mut verb = desk.command(Path::new(env!("CARGO_BIN_EXE_assay")));
        verb.arg("dd");
        verb
    }] {
        let answer = answer(command.arg("frobnicate=1").output().expect("it runs"));
        assert!([1, 2].contains(&answer.code), "{}", answer.code);
        // Whatever dd says, it is not our own grammar's complaint.
        assert!(!answer.err.contains("unknown command"), "{}", answer.err);
        assert!(!answer.err.contains("unknown argument '"), "{}", answer.err);
    }
}

#[test]
fn words_that_dd_refuses_touch_nothing_and_end_with_2() {
    let desk = Desk::new();
    let link = desk.path("dd");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_assay"), &link).expect("linked");
    for (words, said) in [
        ("bs=0", "dd: invalid number: '0'\n"),
        ("count=abc", "dd: invalid number: 'abc'\n"),
        ("conv=lcase,ucase", "dd: cannot combine lcase and ucase\n"),
    ] {
        let typed = desk.type_words(&format!("dd if=/dev/zero of=x {words}"));
        assert_eq!(
            (typed.code, typed.err.replace(['\u{2018}', '\u{2019}'], "'").as_str()),
            (2, said)
        );
        let mut command = desk.command(&link);
        let linked =
            answer(command.args(["if=/dev/zero", "of=x", words]).output().expect("it runs"));
        assert_eq!((linked.code, &linked.err), (1, &typed.err));
        assert_eq!(desk.names(), ["dd"]);
    }
}

#[test]
fn what_dd_cannot_do_is_said_with_its_operands() {
    let desk = Desk::new();
    for (words, says) in [
        ("if=/dev/zero of=/dev/full bs=1M count=4", "name a file on a disk with of="),
        ("if=/dev/zero of=x bs=1T count=1", "block of 1 TiB has to fit in memory: with bs=1M"),
    ] {
        let Answer { code, err, .. } = desk.type_words(&format!("dd {words}"));
        assert!(code == 1 && err.contains(says) && !err.contains("--size"), "{err}");
    }
}

#[test]
fn a_plan_is_shown_and_can_be_run_again() {
    let desk = Desk::new();
    let Answer { code, out, err } = desk.type_words("quick . --quick --seed 7 --plan");
    assert_eq!(code, 0, "{err}");
    let plan: Plan = serde_json::from_str(&out).expect("a plan");
    assert_eq!((plan.seed, plan.phases.len()), (7, 6));
    assert!(err.contains("assay: would write "), "{err}");
    assert!(err.contains(" s"), "{err}");
    assert!(desk.names().is_empty(), "{:?}", desk.names());
    std::fs::write(desk.path("plan.json"), &out).expect("written");
    let again = desk.type_words("run plan.json --plan");
    assert_eq!((again.code, again.out), (0, out));
}
