//! What kernel tests have in common: assay typed at a card, and the record it left.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::fmt;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use assay_plan::plan::Action;
use assay_record::evidence::{DiskCounters, Snapshot};
use assay_record::record::{FindingWeight, MeasuredSubject, PhaseRecord, Record, Trust, Verdict};

use serde_json::{Value, json};

use super::lab::{self, Card, MI, Ran, Shape, Typed};

/// A card whose pace the machine's own disk does not touch, with the cause to be seen or not.
pub fn cards() -> [(Shape, MeasuredSubject); 2] {
    [(Shape::sdcard(), MeasuredSubject::Limited), (Shape::paced(), MeasuredSubject::Device)]
}

/// Tries each at the same time. Every card has a device of its own, and a slow card leaves the
/// processors idle: together they take no longer than one.
pub fn at_once<T: Send>(all: impl IntoIterator<Item = T>, each: impl Fn(T) + Sync) {
    let each = &each;
    std::thread::scope(|scope| {
        for one in all {
            scope.spawn(move || each(one));
        }
    });
}

/// What a run said, and the record of it.
pub struct Heard {
    pub ran: Ran,
    pub record: Record,
}

/// Runs it with its record kept: by `--record` for our own verbs, by the variable for dialects. What a
/// copy leaves in memory is watched as it is where somebody looks on, unless the test says otherwise.
pub fn hear(typed: Typed) -> Heard {
    let desk = tempfile::tempdir().expect("a folder for the record");
    let file = desk.path().join("record.json");
    let ran = typed.env("ASSAY_RECORD", &file).env_unless_set("ASSAY_SETTLE", "yes").run();
    Heard { record: record_at(&file, &ran), ran }
}

/// The same for one of our own verbs.
pub fn hear_own(typed: Typed) -> Heard {
    let desk = tempfile::tempdir().expect("a folder for the record");
    let file = desk.path().join("record.json");
    let ran = typed.word("--record").word(&file).run();
    Heard { record: record_at(&file, &ran), ran }
}

/// The same for one that prints its record.
pub fn hear_json(typed: Typed) -> Heard {
    let ran = typed.run();
    let record = serde_json::from_str(&ran.stdout);
    Heard { record: record.unwrap_or_else(|error| panic!("no record: {error}\n{ran}")), ran }
}

fn record_at(file: &Path, ran: &Ran) -> Record {
    assay_record::record::load(file).unwrap_or_else(|error| panic!("no record: {error}\n{ran}"))
}

impl fmt::Display for Heard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.ran)?;
        for phase in &self.record.phases {
            let rate = |action| phase.totals.get(&action).and_then(|t| t.bandwidth).map(|b| b.0);
            writeln!(
                f,
                "--- {}: read {:?} write {:?}",
                phase.name,
                rate(Action::Read),
                rate(Action::Write)
            )?;
            for finding in phase.verdict.iter().flat_map(|verdict| &verdict.findings) {
                writeln!(
                    f,
                    "{} {:?} {:?}: {}",
                    finding.trap.name(),
                    finding.weight,
                    finding.measures,
                    finding.text()
                )?;
                for exhibit in &finding.because {
                    writeln!(
                        f,
                        "    {}: {} ({})",
                        exhibit.reading(),
                        exhibit.value(),
                        exhibit.source()
                    )?;
                }
            }
        }
        Ok(())
    }
}

impl Heard {
    /// The only phase, or the first.
    pub fn phase(&self) -> &PhaseRecord {
        self.record.phases.first().unwrap_or_else(|| panic!("no phase\n{self}"))
    }

    pub fn named(&self, name: &str) -> &PhaseRecord {
        let found = self.record.phases.iter().find(|phase| phase.name == name);
        found.unwrap_or_else(|| panic!("no phase {name}\n{self}"))
    }

    /// The verdict of the whole.
    pub fn verdict(&self) -> &Verdict {
        self.record.verdict.as_ref().unwrap_or_else(|| panic!("no verdict\n{self}"))
    }

    /// Bytes per second of one action of the first phase.
    pub fn rate(&self, action: Action) -> f64 {
        rate(self.phase(), action).unwrap_or_else(|| panic!("no rate of {action:?}\n{self}"))
    }

    /// Whether a trap was named, at whatever weight.
    pub fn found(&self, trap: &str) -> bool {
        self.verdict().findings.iter().any(|finding| finding.trap.name() == trap)
    }

    /// Fails unless trust and subject are these.
    pub fn expect(&self, trust: Trust, measures: MeasuredSubject) -> &Self {
        let verdict = self.verdict();
        assert_eq!((verdict.trust, verdict.measures), (trust, measures), "{self}");
        self
    }

    /// Others really used the device or the processors: the verdict says so, and it is their fault.
    pub fn disturbed(&self) -> bool {
        self.verdict().findings.iter().any(|finding| {
            finding.weight != FindingWeight::Note
                && finding.measures == Some(MeasuredSubject::Disturbed)
        })
    }
}

/// Bytes per second of one action of a phase.
pub fn rate(phase: &PhaseRecord, action: Action) -> Option<f64> {
    Some(phase.totals.get(&action)?.bandwidth?.0)
}

/// How much one counter of a card's device grew while a phase ran.
pub fn grew(phase: &PhaseRecord, card: &Card, counter: impl Fn(&DiskCounters) -> u64) -> u64 {
    let at = |edge: &Snapshot| {
        let device = edge.devices.iter().find(|device| device.name == card.leaf_name());
        counter(device.and_then(|device| device.counters.seen()).expect("counted"))
    };
    at(&phase.evidence.stop) - at(&phase.evidence.before)
}

/// Prints a figure past the harness' capture.
pub fn told(what: &str, figure: impl fmt::Display) {
    let _ = std::io::stderr().write_all(format!("{what}: {figure}\n").as_bytes());
}

/// The plan that some words give for a folder, on a modelled device instead.
pub fn modelled(words: &[&str], model: &Value) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let ran = lab::assay(words).words(&["--plan", "--seed", "7"]).word(folder.path()).run();
    let mut plan: Value = serde_json::from_str(&ran.expect(0).stdout).expect("a plan");
    let phases = plan["phases"].as_array_mut().expect("phases");
    // There is no file to write first.
    assert_eq!(phases.remove(0)["name"], "file");
    for phase in phases {
        phase["quiet"] = json!(0);
        phase["settle"] = json!(0);
        let blocks = &mut phase["jobs"][0]["work"]["blocks"];
        blocks["target"] = json!({ "nowhere": { "size": 1_u64 << 30 } });
        blocks["method"] = json!({ "sim": model });
        blocks["caching"] = json!("buffered");
        blocks["pattern"]["verify"] = json!("none");
    }
    let one_less = |numbers: Option<&mut Value>| {
        for number in numbers.and_then(Value::as_array_mut).into_iter().flatten() {
            *number = json!(number.as_u64().expect("the number of a phase") - 1);
        }
    };
    for place in ["/aim/ramp/steps", "/aim/sweep/cells"] {
        one_less(plan.pointer_mut(place));
    }
    let cells = plan.pointer_mut("/aim/profile/cells").and_then(Value::as_array_mut);
    cells.into_iter().flatten().for_each(|cell| one_less(cell.get_mut("runs")));
    plan
}

/// Runs a plan from a file; the page is as wide as golden ones.
pub fn run(plan: &Value) -> Heard {
    let desk = tempfile::tempdir().expect("a folder");
    let file = desk.path().join("plan.json");
    fs::write(&file, plan.to_string()).expect("written");
    hear_own(lab::run_plan(&file).env("LC_ALL", "C.UTF-8").env("COLUMNS", "90"))
}

/// All names below a folder, sorted, with sizes.
pub fn names(folder: &Path) -> Vec<(PathBuf, u64)> {
    let mut all = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_dir() {
                left.push(entry.path());
            }
            all.push((entry.path(), if meta.is_dir() { 0 } else { meta.len() }));
        }
    }
    all.sort();
    all
}

/// A file of noise, on the device and out of memory, written at full speed.
pub fn put(card: &Card, name: &str, bytes: u64) -> PathBuf {
    let path = card.path(name);
    card.freely(|| lab::write_then_fsync(&path, bytes, MI.min(bytes)).map(|_| ()));
    lab::cold(&path).expect("put out of memory");
    path
}

/// Fails where a line of the verdict holds a number and a rate's unit, which scripts grep for, or
/// stands after dd's records lines.
pub fn harmless(ran: &Ran) {
    let lines: Vec<&str> = ran.stderr.lines().collect();
    let records = lines.iter().position(|line| line.contains("+") && line.ends_with(" records in"));
    for (number, line) in lines.iter().enumerate() {
        if !line.starts_with("assay:") {
            continue;
        }
        assert!(records.is_none_or(|records| number < records), "after the records lines\n{ran}");
        for unit in ["B/s", "kB/s", "MB/s", "GB/s", "KB/s", "bytes/s"] {
            for (at, _) in line.match_indices(unit) {
                let before = line[..at].trim_end();
                assert!(
                    !before.ends_with(|c: char| c.is_ascii_digit()),
                    "'{line}' would be grepped\n{ran}"
                );
            }
        }
    }
}
