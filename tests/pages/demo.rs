//! The pages of lessons: on records made by hand, on a modelled device, and where nothing can be shown.

use crate::common;
use crate::common::lessons::{Came, KEPT, PACED, TAKEN, lesson};
use crate::common::pages::{ASCII, UNICODE, golden, golden_at_widths, page, undated};
use crate::lab;
use assay_plan::plan::LessonTopic;
use assay_plan::unit::{Bytes, Nanos};
use assay_record::evidence::{LayerKind, Reading, Subject};
use assay_record::record::{Ending, Record};

/// A card that is a disk of its own.
fn card() -> Subject {
    let mut subject = common::card_subject("/mnt/sd");
    subject.stack = vec![common::layer("loop3", 0, LayerKind::Disk, true, 134_217_728)];
    subject
}

/// 1500 reads of 4 KiB in three seconds.
const SEEKS: Came = Came {
    moved: Bytes(1500 * 4096),
    arrived: Bytes(1500 * 4096),
    requests: 1500,
    work: 0.6,
    depth: 0.6,
    ..PACED
};

fn flush() -> Record {
    lesson(LessonTopic::Flush, card(), [TAKEN, PACED])
}

#[test]
fn pages_are_as_they_were() {
    let hole = Came { hole: KEPT.moved, before: Bytes::ZERO, ..KEPT };
    let short = Came { moved: Bytes::mib(8), left: Bytes::mib(8), ..TAKEN };
    let zeros = Came { arrived: Bytes::mib(1), time: Nanos::millis(300), ..PACED };
    let ahead = Came { requests: 24, ..PACED };
    let many = Came { time: Nanos::millis(500), depth: 30.0, work: 0.99, ..SEEKS };
    for (topic, came) in [
        (LessonTopic::Flush, [TAKEN, PACED]),
        (LessonTopic::Cache, [KEPT, PACED]),
        (LessonTopic::Holes, [hole, PACED]),
        (LessonTopic::Burst, [short, PACED]),
        (LessonTopic::Compress, [zeros, PACED]),
        (LessonTopic::Readahead, [ahead, SEEKS]),
        (LessonTopic::Depth, [SEEKS, many]),
    ] {
        let page = page(&lesson(topic, card(), came), UNICODE);
        // A command is never broken over lines.
        for line in page.lines().filter(|line| !line.contains("fio ")) {
            assert!(line.chars().count() <= 90, "{line}");
        }
        golden("demo", topic.name(), &page);
    }
    golden_at_widths("demo", |style| page(&flush(), style));
    let plain = page(&flush(), ASCII);
    assert!(plain.is_ascii(), "{plain}");
    golden("demo", "flush-ascii", &plain);
}

#[test]
fn what_can_not_be_shown_is_said_with_its_reason() {
    let alike = lesson(LessonTopic::Depth, card(), [SEEKS, SEEKS]);
    golden("demo", "depth-alike", &page(&alike, UNICODE));
    // It had the bytes although nobody flushed, as with the mount option sync.
    let there = Came { left: Bytes::ZERO, later: Nanos::ZERO, ..PACED };
    let escaped = lesson(LessonTopic::Flush, card(), [there, PACED]);
    golden("demo", "flush-escaped", &page(&escaped, UNICODE));
    let memory = common::subject_in_memory("/mnt/sd", "rw");
    let groundless = lesson(LessonTopic::Flush, memory, [TAKEN, TAKEN]);
    golden("demo", "flush-tmpfs", &page(&groundless, UNICODE));
}

/// The line of a page with that label.
fn labelled<'a>(page: &'a str, label: &str) -> Option<&'a str> {
    page.lines().find_map(|line| line.strip_prefix(&format!("  {label:9}")))
}

#[test]
fn a_short_read_is_long_enough_for_a_lesson() {
    let quick = Came { time: Nanos::millis(120), ..PACED };
    let record = lesson(LessonTopic::Cache, card(), [KEPT, quick]);
    let page = page(&record, UNICODE);
    assert!(page.contains("unproven · unsure: The run took 120 ms, which is too short"), "{page}");
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(labelled(&page, "why").is_some() && words.contains(" A is 12.0"), "{page}");
}

#[test]
fn nothing_follows_from_a_figure_that_others_have_spoilt() {
    let mut record = lesson(LessonTopic::Depth, card(), [SEEKS, Came { depth: 30.0, ..SEEKS }]);
    for device in &mut record.phases[1].evidence.stop.devices {
        if let Reading::Seen(counters) = &mut device.counters {
            (counters.reads, counters.read_bytes) = (4 * counters.reads, 4 * counters.read_bytes);
        }
    }
    assay_judge::judge(&mut record);
    let page = page(&record, UNICODE);
    let here = labelled(&page, "here").expect("a line");
    let said = "this demonstration does not work here: there is no valid result to";
    assert!(here.starts_with(said), "{here}");
    let next = labelled(&page, "next").expect("a line");
    assert!(next.starts_with("pidstat -d 1 10"), "{page}");
}

#[test]
fn a_lesson_that_was_cut_short_shows_what_it_had() {
    let mut cut = flush();
    cut.phases.as_mut_vec().pop();
    cut.ending = Ending::Interrupted(2);
    assay_judge::judge(&mut cut);
    golden("demo", "flush-interrupted", &page(&cut, UNICODE));
}

#[test]
fn an_old_record_is_told_again() {
    let desk = tempfile::tempdir().expect("a folder");
    let file = desk.path().join("r.json");
    std::fs::write(&file, serde_json::to_string(&flush()).expect("json")).expect("written");
    let ran = lab::assay(["judge"]).word(&file).env("LC_ALL", "C.UTF-8").env("COLUMNS", "90");
    // The trap is there to be wrong: the status is that of the cure.
    let ran = ran.run().expect(0);
    assert_eq!(ran.stdout, page(&flush(), UNICODE));
}

#[test]
fn the_lesson_on_a_model_is_the_same_everywhere() {
    let words = lab::assay(["demo", "omission"]).env("LC_ALL", "C.UTF-8").env("COLUMNS", "90");
    let ran = words.run().expect(0);
    golden("demo", "omission", &undated(&ran.stdout));
    assert_eq!(ran.stderr, "");
}

#[test]
fn lessons_are_listed_and_nothing_is_run() {
    let ran = lab::assay(["demo"]).env("LC_ALL", "C.UTF-8").run().expect(0);
    golden("demo", "list", &ran.stdout);
}

#[test]
fn bad_words_are_refused_and_touch_nothing() {
    let desk = tempfile::tempdir().expect("a folder");
    std::fs::write(desk.path().join("file"), b"few").expect("written");
    let root = rustix::process::geteuid().is_root();
    for (line, says) in [
        ("demo sleep", "invalid value 'sleep' for LESSON; give one of flush, cache, holes, "),
        ("demo --json", "LESSON is missing; 'assay demo' lists them"),
        ("demo flush nowhere", "there is nothing at 'nowhere'; name a folder"),
        ("demo flush file", "makes a file of its own, and 'file' is no folder; name a folder"),
        ("demo flush /dev/null", "'/dev/null' is neither folder, file nor block device"),
        ("demo flush /proc", if root { "too little is free in '/proc'" } else { "may not write" }),
        ("demo flush . .", "unknown argument '.'"),
        ("demo omission .", "'.' cannot be made to stand still for this lesson; leave it out"),
    ] {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ran = lab::assay(&words).cwd(desk.path()).run().expect(2);
        assert!(ran.stderr.contains(says), "{ran}");
        // A line that works may follow; tests/pages/cli.rs looks at those.
        let other = ran.stderr.lines().skip(1).filter(|line| !line.starts_with("  assay demo "));
        assert_eq!((ran.stdout.as_str(), other.count()), ("", 0), "{ran}");
    }
    assert_eq!(std::fs::read_dir(desk.path()).expect("there").count(), 1);
}

#[test]
fn what_it_would_cost_is_said_before() {
    let desk = tempfile::tempdir().expect("a folder");
    let words = ["demo", "holes", "--plan"];
    let ran = lab::assay(words).word(desk.path()).run().expect(0);
    let plan: serde_json::Value = serde_json::from_str(&ran.stdout).expect("a plan");
    assert_eq!(plan["aim"]["lesson"]["topic"], "holes");
    assert!(ran.stderr.starts_with("assay: would write "), "{ran}");
    assert!(ran.stderr.contains(" at most, and take at most about 34 s\n"), "{ran}");
    assert_eq!(std::fs::read_dir(desk.path()).expect("there").count(), 0);
}
