//! `assay compare`: whole pages of two records, compared with files. `ASSAY_BLESS=1 cargo test --test pages -- compare` writes them anew.

use std::path::Path;
use std::process::Command;

use crate::common;
use crate::common::pages::{golden, golden_at_widths};
use assay::report::TerminalStyle;
use assay::report::compare::ComparedSides;
use assay_plan::plan::{Action, Work};
use assay_plan::stats::ChangeVerdict;
use assay_plan::unit::{Bandwidth, Bytes, Timestamp};
use assay_record::evidence::Reading;
use assay_record::record::{ComparedQuantity, Comparison, Record};

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

/// A flushed dd to a card, whose figure is sound.
fn dd() -> Record {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR"));
    let kept = kept.join("tests/records/t02-nearly-flushed-on-a-card.json");
    assay_record::record::load(&kept).expect("a record")
}

#[test]
fn runs_of_the_same_kind_are_alike() {
    let (first, mut second) = (dd(), dd());
    second.started = "2026-01-02T09:00:00+01:00".into();
    second.hosts[0].machine.host = "elsewhere".into();
    let (code, page) = compared(&first, &second);
    golden("compare", "alike", &page);
    assert_eq!(code, 0, "{page}");
}

#[test]
fn a_run_is_not_told_from_itself() {
    let (code, page) = compared(&dd(), &dd());
    let said = "\n  verdict  comparable: both are the same run, so there is no difference.\n";
    assert!(page.ends_with(said), "{page}");
    assert_eq!(code, 0, "{page}");
}

#[test]
fn what_differs_is_named_before_anybody_compares() {
    let (first, mut second) = (dd(), dd());
    second.hosts[0].machine.kernel = "5.10.0".into();
    let subjects = second.resolved.subjects.iter_mut();
    for layer in subjects.flat_map(|subject| &mut subject.stack) {
        if let Reading::Seen(queue) = &mut layer.queue {
            queue.read_ahead_kb = Some(4096);
        }
    }
    let Work::Copy(copy) = &mut second.plan.phases[0].jobs[0].work else {
        panic!("dd copies");
    };
    copy.output_block = Bytes::kib(64);
    let (code, page) = compared(&first, &second);
    golden("compare", "unlike", &page);
    assert_eq!(code, 3, "{page}");
}

#[test]
fn what_has_changed_is_what_is_compared() {
    let mut second = five(1.25);
    for record in &mut second {
        record.hosts[0].machine.kernel = "6.19.1".into();
        for subject in &mut record.resolved.subjects {
            if let Reading::Seen(mount) = &mut subject.mount {
                mount.options = "rw,noatime".into();
            }
        }
    }
    let (code, page) = folders(&five(1.0), &second);
    golden("compare", "changed", &page);
    assert_eq!(code, 0, "{page}");
}

#[test]
fn a_run_that_is_not_believed_is_left_out_of_its_side() {
    let side = |times: f64, short: Option<usize>| -> Vec<Record> {
        let run = |number| {
            let short = short.filter(|of| *of == number).map(|_| 85);
            of_phases(times, number, &[("seq-write", short), ("seq-read", None)])
        };
        (0..6).map(run).collect()
    };
    let (code, page) = folders(&side(1.0, None), &side(2.0, Some(2)));
    golden("compare", "left-out", &page);
    assert_eq!(code, 0, "{page}");
    let (_, found) = document(&side(1.0, None), &side(2.0, Some(2)));
    let runs = |phase: &str| {
        found.figures.iter().find(|pair| pair.phase == phase).map(|pair| pair.second.len())
    };
    assert_eq!((runs("seq-write"), runs("seq-read")), (Some(5), Some(6)));
}

#[test]
fn another_verb_has_other_phases() {
    let (code, page) = compared(&common::fast(), &common::deferred());
    golden("compare", "other-verb", &page);
    assert_eq!(code, 3, "{page}");
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

/// A record of a dd to a card that is so many times as fast.
fn faster(times: f64, minute: usize) -> Record {
    let mut record = dd();
    record.started = format!("2026-01-01T00:{minute:02}:00Z");
    record.run = format!("run-{minute}");
    for total in record.phases[0].totals.values_mut() {
        total.bandwidth = total.bandwidth.map(|rate| Bandwidth(rate.0 * times));
    }
    record
}

/// What is printed of two folders of records, and the exit status.
fn folders(first: &[Record], second: &[Record]) -> (i32, String) {
    told_of(first, second, &["before", "after"])
}

/// The same with these words.
fn told_of(first: &[Record], second: &[Record], words: &[&str]) -> (i32, String) {
    let desk = tempfile::tempdir().expect("a folder");
    for (name, side) in [("before", first), ("after", second)] {
        std::fs::create_dir(desk.path().join(name)).expect("a folder");
        for (number, record) in side.iter().enumerate() {
            let text = serde_json::to_string(record).expect("json");
            // Their names say nothing of their order.
            let file = format!("{name}/{}.json", 9 - number);
            std::fs::write(desk.path().join(file), text).expect("written");
        }
    }
    let (code, out, err) = typed(desk.path(), words);
    assert_eq!(err, "");
    (code, out)
}

/// Runs that differ a little from each other.
fn five(times: f64) -> Vec<Record> {
    let spread = [1.0, 1.004, 0.997, 1.002, 0.999];
    spread.iter().enumerate().map(|(number, by)| faster(times * by, number)).collect()
}

#[test]
fn five_of_each_tell_how_many_times_as_fast() {
    let (code, page) = folders(&five(1.0), &five(2.0));
    golden("compare", "faster", &page);
    assert_eq!(code, 0, "{page}");
    let (_, page) = folders(&five(1.0), &five(1.002));
    assert!(
        page.contains("  verdict  comparable: the second reads and writes as fast as before."),
        "{page}"
    );
    // Runs of 5 % more and less.
    let uneven = |times: f64| -> Vec<Record> {
        let spread = [1.0, 1.05, 0.95, 1.04, 0.97];
        spread.iter().enumerate().map(|(number, by)| faster(times * by, number)).collect()
    };
    let (_, page) = folders(&uneven(1.0), &uneven(1.02));
    let said = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains(
            "the second is undecided in dd read, dd write: 13 more runs of each would show a difference of 5 %"
        ),
        "{page}"
    );
}

/// The page of these sides.
fn sides(first: &[Record], second: &[Record], style: TerminalStyle) -> String {
    let (first, second): (Vec<&Record>, Vec<&Record>) =
        (first.iter().collect(), second.iter().collect());
    let found = assay_judge::unlike(&first, &second);
    let mut out = Vec::new();
    ComparedSides::of(&first, &second, found).text(style, &mut out).expect("written");
    String::from_utf8(out).expect("text")
}

#[test]
fn pages_fit_every_width() {
    golden_at_widths("compare", |style| sides(&five(1.0), &five(2.0), style));
    golden_at_widths("compare-two", |style| sides(&[common::fast()], &[common::fast()], style));
}

/// The document of two folders of records, which obeys its schema, and the exit status.
fn document(first: &[Record], second: &[Record]) -> (i32, Comparison) {
    let (code, out) = told_of(first, second, &["--json", "before", "after"]);
    let document = serde_json::from_str(&out).expect("json");
    let schema = Command::new(env!("CARGO_BIN_EXE_assay")).args(["schema", "comparison"]).output();
    let schema = serde_json::from_slice(&schema.expect("it runs").stdout).expect("json");
    jsonschema::validate(&schema, &document).expect("a document of that form");
    (code, serde_json::from_value(document).expect("a comparison"))
}

#[test]
fn programs_are_told_the_same() {
    let (code, found) = document(&five(1.0), &five(2.0));
    assert_eq!((code, found.comparable, found.first.len()), (0, true, 5));
    assert_eq!(found.second[4].run, "run-4");
    let rate = &found.figures[0];
    let of = (&*rate.phase, rate.action, rate.quantity);
    assert_eq!(of, ("dd", Action::Read, ComparedQuantity::MegabytesPerSecond));
    let ratio = rate.ratio.expect("a ratio");
    assert!((ratio.value - 2.0).abs() < 1e-9, "{ratio:?}");
    assert_eq!(ratio.sure.expect("from five of each on").change, ChangeVerdict::More);
    // Of one run each there is none, nor where they are unlike.
    let (_, found) = document(&five(1.0)[..1], &five(2.0)[..1]);
    assert!(found.figures.iter().all(|pair| pair.ratio.is_none() && pair.first.len() == 1));
    let mut second = five(2.0);
    second.iter_mut().for_each(|record| record.hosts[0].machine.kernel = "5.10.0".into());
    let Work::Copy(copy) = &mut second[0].plan.phases[0].jobs[0].work else { panic!("dd copies") };
    copy.output_block = Bytes::kib(64);
    let (code, found) = document(&five(1.0), &second);
    assert_eq!((code, found.comparable), (3, false));
    assert!(!found.findings.is_empty());
    assert!(found.figures.iter().all(|pair| pair.ratio.is_none()));
}

#[test]
fn three_of_each_tell_no_difference_from_chance() {
    let (code, page) = folders(&five(1.0)[..3], &five(2.0)[..3]);
    golden("compare", "three", &page);
    assert_eq!(code, 0, "{page}");
}

#[test]
fn one_run_that_is_unlike_the_others_of_its_side_is_named() {
    let mut second = five(2.0);
    second[3].hosts[0].machine.kernel = "5.10.0".into();
    let (code, page) = folders(&five(1.0), &second);
    golden("compare", "unlike-within", &page);
    assert_eq!(code, 3, "{page}");
}

#[test]
fn a_folder_without_records_is_refused() {
    let desk = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(desk.path().join("none")).expect("a folder");
    let (code, out, err) = typed(desk.path(), &["none", "none"]);
    let said = "assay: there is no record in 'none'; give a folder of files *.json that --record or ASSAY_RECORD wrote\n";
    assert_eq!((code, out.as_str(), err.as_str()), (2, "", said));
}

#[test]
fn repetitions_of_a_phase_are_runs_of_it() {
    let of = |times: f64| {
        let mut record = faster(times, 0);
        for (number, other) in five(times).into_iter().enumerate().skip(1) {
            let name = format!("{}-{}", record.phases[0].name, number + 1);
            record.phases.as_mut_vec().extend(other.phases.iter().cloned().map(|mut phase| {
                phase.name.clone_from(&name);
                phase
            }));
            let mut phase = other.plan.phases[0].clone();
            phase.name = name;
            record.plan.phases.push(phase);
        }
        record
    };
    let (code, page) = compared(&of(1.0), &of(2.0));
    assert!(page.contains("+100 (+99 to +101)  faster"), "{page}");
    assert_eq!(page.matches("dd write").count(), 1, "{page}");
    assert_eq!(code, 0, "{page}");
}

/// A record of several phases, each as the dd; those with a time took only so many milliseconds.
fn of_phases(times: f64, minute: usize, phases: &[(&str, Option<u64>)]) -> Record {
    let mut record = faster(times, minute);
    let (planned, done) = (record.plan.phases.remove(0), record.phases.as_mut_vec().remove(0));
    for (name, short) in phases {
        let (mut planned, mut done) = (planned.clone(), done.clone());
        (planned.name, done.name) = (name.to_string(), name.to_string());
        done.number = record.plan.phases.len();
        if let Some(short) = short {
            let began = Timestamp(done.span.ended().0 - short * 1_000_000);
            (done.span.started, done.span.counted) = (began, began);
        }
        record.plan.phases.push(planned);
        record.phases.push(done);
    }
    record
}

#[test]
fn figures_that_are_not_believed_keep_nothing_from_the_others() {
    let side = |times: f64, short: [Option<u64>; 2]| -> Vec<Record> {
        let [one, other] = short;
        let phases =
            [("put_block", None), ("seq_create", one), ("seq_stat", other), ("seq_del", None)];
        let spread = [1.0, 1.004, 0.997, 1.002, 0.999].iter().enumerate();
        spread.map(|(number, by)| of_phases(times * by, number, &phases)).collect()
    };
    let (first, second) = (side(1.0, [Some(85), Some(93)]), side(2.0, [None, Some(93)]));
    let (code, page) = folders(&first, &second);
    golden("compare", "but-for", &page);
    assert_eq!(code, 0, "{page}");
    let (_, found) = document(&first, &second);
    let ratios = found.figures.iter().filter(|pair| pair.ratio.is_some());
    let mut compared: Vec<&str> = ratios.map(|pair| pair.phase.as_str()).collect();
    compared.dedup();
    assert_eq!(compared, ["put_block", "seq_del"]);
}

#[test]
fn where_no_figure_is_believed_there_is_nothing_to_compare() {
    let one = |times| vec![of_phases(times, 0, &[("seq_create", Some(85))])];
    let (code, page) = folders(&one(1.0), &one(2.0));
    assert!(
        page.contains("  verdict  not comparable: 2 differences make the comparison invalid"),
        "{page}"
    );
    assert_eq!(code, 3, "{page}");
}
