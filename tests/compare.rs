//! `assay compare`: whole pages of two records, compared with files. `ASSAY_BLESS=1 cargo test --test
//! compare` writes them anew.

mod common;

use std::path::Path;
use std::process::Command;

use assay::evidence::Reading;
use assay::plan::Work;
use assay::record::Record;
use common::golden;

/// What is printed of two records, and the exit status.
fn compared(first: &Record, second: &Record) -> (i32, String) {
    let desk = tempfile::tempdir().expect("a folder");
    for (name, record) in [("a.json", first), ("b.json", second)] {
        let text = serde_json::to_string(record).expect("json");
        std::fs::write(desk.path().join(name), text).expect("written");
    }
    let (code, out, err) = typed(desk.path(), &["a.json", "b.json"]);
    assert_eq!(err, "");
    (code, out)
}

fn typed(folder: &Path, words: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.current_dir(folder).arg("compare").args(words).env("LC_ALL", "C.UTF-8");
    for name in ["NO_COLOR", "COLUMNS", "LANG", "LC_CTYPE"] {
        command.env_remove(name);
    }
    let ran = command.output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (ran.status.code().expect("a status"), text(ran.stdout), text(ran.stderr))
}

#[test]
fn runs_of_the_same_kind_are_alike() {
    let (first, mut second) = (common::card(), common::card());
    second.started = "2026-11-20T09:00:00+01:00".into();
    second.machine.host = "elsewhere".into();
    let (code, page) = compared(&first, &second);
    assert_eq!(code, 0, "{page}");
    golden("compare", "alike", &page);
}

#[test]
fn what_differs_is_named_before_anybody_compares() {
    let (first, mut second) = (common::card(), common::card());
    second.machine.kernel = "5.10.0".into();
    for layer in second.resolved.subjects.iter_mut().flat_map(|subject| &mut subject.stack) {
        if let Reading::Seen(queue) = &mut layer.queue {
            (queue.scheduler, queue.nr_requests) = (Some("bfq".into()), Some(2));
        }
    }
    let jobs = second.plan.phases.iter_mut().flat_map(|phase| &mut phase.jobs);
    for job in jobs.take(1) {
        if let Work::Blocks(blocks) = &mut job.work {
            blocks.iodepth = 7;
        }
    }
    let (code, page) = compared(&first, &second);
    assert_eq!(code, 3, "{page}");
    golden("compare", "unlike", &page);
}

#[test]
fn another_verb_has_other_phases() {
    let (code, page) = compared(&common::fast(), &common::deferred());
    assert_eq!(code, 3, "{page}");
    golden("compare", "other-verb", &page);
}

#[test]
fn bad_words_are_refused() {
    let desk = tempfile::tempdir().expect("a folder");
    let record = serde_json::to_string(&common::card()).expect("json");
    std::fs::write(desk.path().join("a.json"), record).expect("written");
    std::fs::write(desk.path().join("b.json"), "{}").expect("written");
    for (words, said) in [
        (
            vec!["a.json", "c.json"],
            "assay: there is no record at 'c.json'; give a file that --record or ASSAY_RECORD wrote\n",
        ),
        (vec!["a.json", "b.json"], "assay: b.json:1:2: not a record: "),
        (vec!["a.json"], "assay: "),
    ] {
        let (code, out, err) = typed(desk.path(), &words);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert!(err.starts_with(said) && err.lines().count() == 1, "{err}");
    }
}
