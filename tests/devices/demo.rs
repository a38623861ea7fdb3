//! Lessons on cards of known speed: the cure is at the card's pace, the trap is caught, and nothing stays.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use assay_plan::plan::Action;
use assay_record::record::{Ending, MeasuredSubject, Trust};

use crate::kernel::{self, Heard, at_once, hear_own, names, told};
use crate::lab::{self, Card, DirtyLimit, MI, Shape};

const WRITES: f64 = 4.0 * MI as f64;
const READS: f64 = 16.0 * MI as f64;

/// A lesson, typed for a page that has all signs.
fn demo(topic: &str) -> lab::Typed {
    lab::assay(["demo", topic]).env("LC_ALL", "C.UTF-8").env("COLUMNS", "90")
}

/// What is below a folder, but for the file system's own.
fn below(folder: &Path) -> Vec<String> {
    let own = |name: &String| !name.ends_with("lost+found");
    names(folder).into_iter().map(|(path, _)| path.display().to_string()).filter(own).collect()
}

/// Trust in a half of a lesson, and what it is about.
fn judged(heard: &Heard, half: &str) -> (Trust, MeasuredSubject) {
    let verdict = heard.named(half).verdict.as_ref().expect("judged");
    (verdict.trust, verdict.measures)
}

/// The lesson on that card, again while others disturb it. Its cure must be this near to `pace`.
fn taught(
    card: &Card,
    topic: &str,
    figure: impl Fn(&Heard) -> f64,
    (pace, near): (f64, f64),
) -> Heard {
    for left in (0..3).rev() {
        let heard = hear_own(demo(topic).word(card.mount()).within(card.rooms()));
        assert_eq!(below(card.mount()), Vec::<String>::new(), "{heard}");
        let off = figure(&heard) / pace - 1.0;
        told(topic, format_args!("{off:+.4} off the true speed, in {:?}", heard.ran.wall));
        if left > 0 && (off.abs() > near || heard.disturbed()) {
            told("again", &heard);
            continue;
        }
        assert!(off.abs() <= near, "{off}\n{heard}");
        assert_eq!(judged(&heard, "cure"), (Trust::Sound, MeasuredSubject::Limited), "{heard}");
        // The exit status is that of the cure, and nobody waits for a lesson.
        assert_eq!(heard.ran.code(), 0, "{heard}");
        assert!(heard.ran.wall < Duration::from_secs(45), "{heard}");
        return heard;
    }
    unreachable!("the last of them returns or fails")
}

fn bandwidth(action: Action) -> impl Fn(&Heard) -> f64 {
    move |heard| kernel::rate(heard.named("cure"), action).expect("a rate")
}

/// The sentence with that label, on one line.
fn sentence(heard: &Heard, label: &str) -> String {
    let page = &heard.ran.stdout;
    let start = format!("  {label:9}");
    let lines = page.lines().skip_while(|line| !line.starts_with(&start));
    let mut text = String::new();
    for (number, line) in lines.enumerate() {
        if number > 0 && !line.starts_with("           ") {
            break;
        }
        text.push_str(line.get(11..).unwrap_or_default());
        text.push(' ');
    }
    assert!(!text.is_empty(), "no line '{label}'\n{heard}");
    text
}

#[test]
fn each_trap_is_caught_and_each_cure_is_true() {
    let _alone = lab::alone();
    at_once([flush, cache, holes, compress, readahead], |lesson: fn()| lesson());
    // What waits in memory is seen by what arrives at the lowest disk, where the cards of the others lie too.
    burst();
}

fn flush() {
    let card = lab::need!(Card::sdcard());
    let heard = taught(&card, "flush", bandwidth(Action::Write), (WRITES, 0.03));
    assert_eq!(judged(&heard, "trap"), (Trust::Wrong, MeasuredSubject::Deferred), "{heard}");
    let why = sentence(&heard, "why");
    assert!(why.contains("were only in memory: a power cut would have lost them."), "{heard}");
    assert!(why.contains(" A is "), "{heard}");
}

fn cache() {
    let card = lab::need!(Card::sdcard());
    let heard = taught(&card, "cache", bandwidth(Action::Read), (READS, 0.03));
    let (trust, measures) = judged(&heard, "trap");
    // Some kernels drop pages by themselves: then it is a mixture.
    assert_eq!(trust, Trust::Wrong, "{heard}");
    assert!(matches!(measures, MeasuredSubject::Memory | MeasuredSubject::Mixed), "{heard}");
    assert!(sentence(&heard, "why").contains(" that A read were in the page cache"), "{heard}");
}

fn holes() {
    let card = lab::need!(Card::sdcard());
    let heard = taught(&card, "holes", bandwidth(Action::Read), (READS, 0.03));
    assert_eq!(judged(&heard, "trap"), (Trust::Wrong, MeasuredSubject::Layer), "{heard}");
    let [trap, cure] = ["trap", "cure"].map(|half| heard.named(half).flows[0].bytes);
    assert_eq!(trap, cure, "files of one size\n{heard}");
}

fn burst() {
    let card = lab::need!(Card::new(Shape { size: 256 * MI, ..Shape::sdcard() }));
    let limit = lab::need!(DirtyLimit::set(card.number(), 16 * MI));
    let heard = taught(&card, "burst", bandwidth(Action::Write), (WRITES, 0.03));
    drop(limit);
    let (trust, measures) = judged(&heard, "trap");
    assert_eq!((trust, measures), (Trust::Wrong, MeasuredSubject::Deferred), "{heard}");
    // Memory had room for some of the long write, and then the writer had to wait.
    let why = sentence(&heard, "why");
    assert!(why.contains("B shows both speeds. The first "), "{heard}");
}

fn compress() {
    let card = lab::need!(Card::compress());
    // The trees of btrfs are a part of what the card takes.
    let heard = taught(&card, "compress", bandwidth(Action::Write), (WRITES, 0.10));
    assert_eq!(judged(&heard, "trap"), (Trust::Wrong, MeasuredSubject::Layer), "{heard}");
}

fn readahead() {
    // So few that a busy machine keeps up with them.
    let card = lab::need!(Card::hdd());
    let iops = |heard: &Heard| heard.named("cure").totals[&Action::Read].iops.expect("a rate").0;
    let heard = taught(&card, "readahead", iops, (150.0, 0.03));
    assert!(sentence(&heard, "why").contains("most of them were served by read-ahead"), "{heard}");
}

#[test]
fn memory_has_no_truth_to_compare_with() {
    let _alone = lab::alone();
    let tmpfs = lab::need!(lab::Memory::tmpfs());
    for topic in ["flush", "cache", "holes"] {
        let heard = hear_own(demo(topic).word(tmpfs.mount()));
        heard.expect(Trust::Wrong, MeasuredSubject::NotADisk);
        let here = sentence(&heard, "here");
        assert!(
            here.starts_with("this demonstration does not work here: there is no valid "),
            "{heard}"
        );
        assert!(here.contains("is on tmpfs, with no disk below it."), "{heard}");
        assert_eq!(heard.ran.code(), 3, "{heard}");
        assert_eq!(below(tmpfs.mount()), Vec::<String>::new());
    }
}

#[test]
fn ctrl_c_leaves_nothing() {
    let _beside = lab::beside();
    let card = lab::need!(Card::sdcard());
    let desk = tempfile::tempdir().expect("a folder");
    let (at, out) = (desk.path().join("record.json"), desk.path().join("out"));
    let mut command = card.command(env!("CARGO_BIN_EXE_assay"));
    command.args(["demo", "flush"]).arg(card.mount()).arg("--record").arg(&at);
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let mut going =
        command.stdout(fs::File::create(&out).expect("a file")).spawn().expect("it runs");
    let began = Instant::now();
    let phases = || assay_record::record::load(&at).map_or(0, |record| record.phases.len());
    while phases() < 1 && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(50));
    }
    let pid = rustix::process::Pid::from_child(&going);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("sent");
    assert_eq!(going.wait().expect("it ends").code(), Some(130));
    let record = assay_record::record::load(&at).expect("a record");
    assert_eq!(record.ending, Ending::Interrupted(2));
    let page = fs::read_to_string(&out).expect("text");
    assert!(page.contains("by SIGINT (Ctrl-C) in phase"), "{page}");
    assert_eq!(below(card.mount()), Vec::<String>::new());
}
