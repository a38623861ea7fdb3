//! Traps whose cause is what becomes of the data: dropped from memory, left to the journal, never
//! there, or kept once. Each is sprung on purpose on a lab device, and nothing is said where it is absent.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::kernel::{self, Heard, hear, hear_own, rate, told};
use crate::lab::{self, Card, MI, Shape};
use assay_plan::plan::Action;
use assay_record::record::{Finding, FindingWeight, MeasuredSubject, Trust};
use serde_json::{Value, json};

/// `assay dd` with these words; `{x}` is a file on the card.
fn dd(card: &Card, words: &str) -> lab::Typed {
    let file = card.path("x").display().to_string();
    let words: Vec<String> =
        words.split_whitespace().map(|word| word.replace("{x}", &file)).collect();
    lab::assay(["dd"]).words(&words)
}

/// Runs phases of one job each.
fn run(phases: &[(&str, Value)], settle: Duration) -> Heard {
    let settle = settle.as_nanos() as u64;
    let phase = |(name, work): &(&str, Value)| json!({ "name": name, "settle": settle, "jobs": [{ "name": name, "work": work }] });
    let plan = json!({
        "title": "trap", "origin": { "dialect": "plan" }, "seed": 1,
        "phases": phases.iter().map(phase).collect::<Vec<_>>(),
    });
    let desk = tempfile::tempdir().expect("a folder for the plan");
    let file = desk.path().join("plan.json");
    std::fs::write(&file, plan.to_string()).expect("the plan can be written");
    hear_own(lab::run_plan(&file))
}

/// What was found of a trap in a phase.
fn found<'a>(heard: &'a Heard, phase: &str, trap: &str) -> Option<&'a Finding> {
    let verdict = heard.named(phase).verdict.as_ref().expect("judged");
    verdict.findings.iter().find(|finding| finding.trap.name() == trap)
}

/// Files of a tree on a card.
fn tree(card: &Card, action: &str, (files, size): (u64, u64), durability: &str) -> Value {
    json!({ "tree": {
        "dir": card.mount(), "action": action, "files": files, "durability": durability,
        "size": { "files": { "least": size, "most": size } },
    } })
}

#[test]
fn t18_names_are_changed_in_memory_until_the_journal_is_written() {
    let _alone = lab::alone();
    let card = lab::need!(Card::fast());
    let make = |durability: &str| {
        let work = tree(&card, "create", (3000, 0), durability);
        run(&[("make", work)], Duration::from_secs(20))
    };
    let left = make("none");
    told("3000 names without a flush", &left);
    // A commit may come in the middle: how much of it was in memory is chance.
    let said = found(&left, "make", "T18").unwrap_or_else(|| panic!("no T18\n{left}"));
    assert!(
        said.weight >= FindingWeight::Doubt && said.measures == Some(MeasuredSubject::Deferred),
        "{left}"
    );
    assert!(said.text().contains("ext4 commits its journal every 5.00 s"), "{left}");
    let flushed = make("fsync_at_end");
    assert!(found(&flushed, "make", "T18").is_none(), "{flushed}");
}

#[test]
fn t27_files_that_are_removed_before_they_were_written() {
    let _alone = lab::alone();
    let card = lab::need!(Card::fast());
    let remove = |durability: &str| {
        let files = (200, 64 << 10);
        let make = tree(&card, "create", files, durability);
        run(&[("make", make), ("gone", tree(&card, "remove", files, "none"))], Duration::ZERO)
    };
    let dropped = remove("none");
    told("removed at once", &dropped);
    let said = found(&dropped, "gone", "T27").unwrap_or_else(|| panic!("no T27\n{dropped}"));
    assert_eq!(said.measures, Some(MeasuredSubject::Deferred), "{dropped}");
    assert!(said.text().contains("they never reached "), "{dropped}");
    let written = remove("fsync_at_end");
    assert!(found(&written, "gone", "T27").is_none(), "{written}");
}

#[test]
fn t27_a_file_that_somebody_cuts_is_no_layer() {
    let _alone = lab::alone();
    let card = lab::need!(Card::paced());
    // The copy waits for more until the other program has cut what was written.
    let (file, pipe) = (card.path("x"), card.path("pipe"));
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
    assert!(made.success());
    let other = std::thread::spawn({
        let (file, pipe) = (file.clone(), pipe.clone());
        move || {
            let mut pipe = File::options().write(true).open(pipe).expect("the copy reads");
            pipe.write_all(&vec![0; 20 << 20]).expect("the copy takes it all");
            while std::fs::metadata(&file).expect("it is there").len() < 20 * MI {
                std::thread::sleep(Duration::from_millis(1));
            }
            let file = File::options().write(true).open(file).expect("it can be opened");
            file.set_len(MI).expect("it can be cut");
        }
    });
    let words = format!("if={} of={{x}} bs=1M iflag=fullblock", pipe.display());
    let heard = hear(dd(&card, &words));
    other.join().expect("the other program");
    told("cut before it was flushed", &heard);
    heard.expect(Trust::Wrong, MeasuredSubject::Deferred);
    assert!(heard.found("T27") && !heard.found("T25") && !heard.found("T02"), "{heard}");
    assert!(
        heard.verdict().summary().contains(" was truncated to 1 MiB during the measurement"),
        "{heard}"
    );
    let whole = hear(dd(&card, "if=/dev/zero of={x} bs=1M count=4 conv=fsync"));
    assert!(!whole.found("T27"), "{whole}");
}

/// A loop device over a file, past the page cache.
struct Looped(PathBuf);

impl Looped {
    fn over(file: &Path) -> Self {
        let words = ["--find", "--show", "--direct-io=on"];
        let out = Command::new("losetup").args(words).arg(file).output().expect("losetup runs");
        let name = String::from_utf8(out.stdout).expect("text").trim().to_string();
        assert!(!name.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
        Self(PathBuf::from(name))
    }
}

impl Drop for Looped {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.0).status();
    }
}

#[test]
fn t24_blocks_that_are_not_there_are_not_read() {
    let _alone = lab::alone();
    let card = lab::need!(Card::paced());
    let image = kernel::put(&card, "image", 8 * MI);
    File::options().write(true).open(&image).and_then(|f| f.set_len(16 * MI)).expect("a hole");
    // A block takes 4 ms now, and one of zeros much less also where the machine wakes its reader late.
    card.set_speed(lab::Speed::bytes(MI, MI));
    let disk = Looped::over(&image);
    let read = |disk: &Looped| {
        let source = format!("if={}", disk.0.display());
        let words = [source.as_str(), "of=/dev/null", "bs=1M", "iflag=direct"];
        hear(lab::assay(["dd"]).words(&words))
    };
    let mut half = read(&disk);
    for _ in 0..3 {
        if half.found("T24") && !half.disturbed() {
            break;
        }
        told("again, for others had the machine", &half);
        half = read(&disk);
    }
    told("half of it is not there", &half);
    half.expect(Trust::Wrong, MeasuredSubject::Layer);
    assert!(half.found("T24") && !half.found("T01"), "{half}");
    let part = half.verdict().corrected.expect("what did come from the card").value;
    assert!((0.97..1.03).contains(&(part / MI as f64)), "{part} {half}");
    drop(disk);
    card.set_speed(lab::Speed::bytes(16 * MI, 4 * MI));
    kernel::put(&card, "image", 16 * MI);
    let disk = Looped::over(&image);
    let whole = read(&disk);
    told("all of it is there", &whole);
    assert!(!whole.found("T24"), "{whole}");
}

/// The plan that comes with assay, on a card and of 8 MiB: phases that write alike, in turns with fresh
/// data and with such as repeat.
fn in_turns(card: &Card) -> Heard {
    let plan = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/plans/same-data.json");
    let text = std::fs::read_to_string(plan).expect("the plan can be read");
    let text = text.replace("268435456", "8388608").replace("1048576", "65536");
    let dir = card.mount().display().to_string();
    let desk = tempfile::tempdir().expect("a folder for the plan");
    let file = desk.path().join("plan.json");
    let text = text.replace(r#""dir": ".""#, &format!(r#""dir": "{dir}""#));
    std::fs::write(&file, text).expect("the plan can be written");
    hear_own(lab::run_plan(&file))
}

#[test]
fn t28_storage_that_keeps_the_same_data_once() {
    let _beside = lab::beside();
    let card = lab::need!(Card::new(Shape { size: 64 * MI, ..Shape::paced() }));
    let honest = in_turns(&card);
    told("all data alike to it", &honest);
    assert!(!honest.found("T28"), "{honest}");
    card.deduplicate();
    let once = in_turns(&card);
    told("kept once", &once);
    for name in ["same", "same again"] {
        assert!(found(&once, name, "T28").is_some(), "{name}\n{once}");
        assert_eq!(once.named(name).verdict.as_ref().expect("judged").trust, Trust::Wrong);
    }
    for name in ["new", "new again"] {
        assert!(found(&once, name, "T28").is_none(), "{name}\n{once}");
        let of_true = rate(once.named(name), Action::Write).expect("a rate") / (4.0 * MI as f64);
        told("fresh data, of the true speed", format_args!("{of_true:.4}"));
        assert!(once.disturbed() || (0.97..1.03).contains(&of_true), "{once}");
    }
}

/// The read-ahead of a device, doubled. It would outlive the card: the next loop device of that number
/// has it, too.
struct ReadAhead {
    file: String,
    before: String,
}

impl ReadAhead {
    fn raised(device: impl std::fmt::Display) -> std::io::Result<Self> {
        let file = format!("/sys/class/bdi/{device}/read_ahead_kb");
        let before = std::fs::read_to_string(&file)?;
        let kib: u64 = before.trim().parse().map_err(std::io::Error::other)?;
        std::fs::write(&file, (kib * 2).max(4).to_string())?;
        Ok(Self { file, before })
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        let _ = std::fs::write(&self.file, self.before.trim());
    }
}

#[test]
fn t33_t64_two_runs_are_held_against_each_other() {
    let _alone = lab::alone();
    let card = lab::need!(Card::paced());
    let desk = tempfile::tempdir().expect("a folder for the records");
    let keep = |name: &str, words: &str| {
        let ran = dd(&card, words).env("ASSAY_RECORD", desk.path().join(name)).run();
        assert_eq!(ran.code(), 0, "{ran}");
    };
    let compare = |other: &str| {
        let files = [desk.path().join("first"), desk.path().join(other)];
        lab::assay(["compare"]).words(&files).run()
    };
    let words = "if=/dev/zero of={x} bs=1M count=6 oflag=direct conv=fsync";
    keep("first", words);
    keep("again", words);
    let alike = compare("again");
    told("the same twice", &alike);
    assert!(!alike.stdout.contains("T33") && !alike.stdout.contains("not asked"), "{alike}");
    assert!(alike.code() == 0 || alike.stdout.contains("by itself"), "{alike}");
    keep("other", "if=/dev/zero of={x} bs=512k count=12 oflag=direct conv=fsync");
    let other = compare("other");
    assert_eq!(other.code(), 3, "{other}");
    assert!(other.stdout.contains("jobs.work.copy.input_block 1048576 and 524288"), "{other}");
    let setting = match ReadAhead::raised(card.number()) {
        Ok(setting) => setting,
        Err(error) => return eprintln!("SKIP t33: the read-ahead of a device: {error}"),
    };
    keep("ahead", words);
    drop(setting);
    let ahead = compare("ahead");
    told("another read-ahead", &ahead);
    assert!(ahead.code() == 0 || ahead.stdout.contains("by itself"), "{ahead}");
    assert!(ahead.stdout.contains("\n  changed  read_ahead_kb: "), "{ahead}");
}
