//! Whole pages compared with files. `ASSAY_BLESS=1 cargo test --test pages -- report` writes them anew.

use crate::common;
use crate::common::pages::{ASCII, UNICODE, golden, page};
use assay::report::{self, TerminalStyle};
use assay_plan::plan::{SingleLoad, StudyPlan};
use assay_record::record::{MeasuredSubject, Record, Trust, Verdict};

#[test]
fn a_run_of_one_phase_that_was_interrupted_had_not_come_to_its_end() {
    let mut record = common::sustained();
    record.ending = assay_record::record::Ending::Interrupted(2);
    let page = page(&record, UNICODE);
    let said = "\n  ended    by SIGINT (Ctrl-C) in the only phase; results so far are above\n";
    assert!(page.contains(said), "{page}");
}

#[test]
fn what_only_prepares_is_said_to_and_alarms_nobody() {
    let mut record = common::fast();
    record.plan.aim = Some(StudyPlan::Load(SingleLoad { phase: 1.into(), p99: None }));
    let alarm = "Nothing had reached the device.";
    record.phases[0].verdict =
        Some(Verdict { trust: Trust::Wrong, ..common::sound(MeasuredSubject::Deferred, alarm) });
    let text = page(&record, UNICODE);
    assert!(!text.contains(alarm), "{text}");
    assert!(text.contains("preparation, not measured"), "{text}");
    record.plan.aim = None;
    assert!(page(&record, UNICODE).contains(alarm));
}

#[test]
fn pages_are_as_they_were() {
    for (name, record) in [
        ("card", common::card()),
        ("fast", common::fast()),
        ("deferred", common::deferred()),
        ("memory", common::memory()),
        ("interrupted", common::interrupted()),
        ("failed", common::failed()),
        ("ramp", common::climbed()),
        ("sustain", common::sustained()),
        ("classes", common::classes::graded()),
        ("capacity", common::classes::wrapped()),
    ] {
        let page = page(&record, UNICODE);
        for line in page.lines().filter(|line| !line.contains("assay dd")) {
            assert!(line.chars().count() <= 90, "{name}: {line}");
        }
        golden("report", name, &page);
    }
}

#[test]
fn pages_for_old_terminals_are_plain_ascii() {
    for (name, record) in [
        ("card-ascii", common::card()),
        ("deferred-ascii", common::deferred()),
        ("ramp-ascii", common::climbed()),
        ("sustain-ascii", common::sustained()),
        ("classes-ascii", common::classes::graded()),
        ("capacity-ascii", common::classes::wrapped()),
    ] {
        let page = page(&record, ASCII);
        assert!(page.is_ascii(), "{page}");
        golden("report", name, &page);
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    let coloured = page(&common::memory(), TerminalStyle { colour: true, ..UNICODE });
    let mut plain = String::new();
    let mut rest = coloured.as_str();
    while let Some((text, code)) = rest.split_once('\u{1b}') {
        plain.push_str(text);
        rest = code.split_once('m').expect("a colour code").1;
    }
    plain.push_str(rest);
    let trimmed = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(trimmed(&plain), trimmed(&page(&common::memory(), UNICODE)));
}

/// Where no terminal shows them, and scripts read them.
const WHOLE: TerminalStyle = TerminalStyle { width: usize::MAX, ..UNICODE };

#[test]
fn verdicts_for_dialects_are_a_few_harmless_lines() {
    let mut unfounded = common::deferred();
    // What its device moved is in the ledger.
    assay_judge::judge(&mut unfounded);
    unfounded.verdict = Some(common::sound(MeasuredSubject::Device, "At 4.19 MB/s."));
    let mut text = String::new();
    for record in [common::deferred(), common::card(), common::memory(), unfounded] {
        let lines = report::verdict_lines(&record, WHOLE);
        assert!((2..=5).contains(&lines.len()), "{lines:?}");
        for line in &lines {
            assert!(line.starts_with("assay: "), "{line}");
            let words: Vec<&str> = line.split(' ').collect();
            let rate = words.windows(2).any(|pair| {
                pair[0].ends_with(|c: char| c.is_ascii_digit()) && pair[1].contains("B/s")
            });
            assert!(!rate, "{line}");
            text.push_str(line);
            text.push('\n');
        }
        text.push('\n');
    }
    golden("report", "verdict-lines", &text);
}

#[test]
fn a_record_without_a_verdict_has_no_verdict_lines() {
    let mut record = common::card();
    record.verdict = None;
    record.phases.as_mut_vec().clear();
    assert!(report::verdict_lines(&record, UNICODE).is_empty());
}

#[test]
fn a_quantile_needs_ten_events_beyond_it() {
    // Twenty large blocks: a median stands, a 99th percentile does not.
    let page = page(&common::card(), UNICODE);
    let line = page.lines().find(|line| line.contains("seq-write")).expect("there");
    let words: Vec<&str> = line.split_whitespace().collect();
    assert!(words.contains(&"-"), "{line}");
}

#[test]
fn json_is_the_record() {
    let record = common::card();
    let mut out = Vec::new();
    (report::format("json").expect("there").write)(&record, ASCII, &mut out).expect("written");
    let again: Record = serde_json::from_slice(&out).expect("a record");
    assert_eq!(again, record);
}

#[test]
fn every_format_has_a_name_of_its_own() {
    let mut names: Vec<&str> = report::FORMATS.iter().map(|format| format.name).collect();
    names.dedup();
    assert_eq!(names.len(), report::FORMATS.len());
    assert!(report::format("nonsense").is_none());
    let _: Option<Verdict> = common::card().verdict;
}
