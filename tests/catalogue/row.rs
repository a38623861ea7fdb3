//! A row of the table: what was done, and what came of it. Making one checks it.

use std::fmt::Write as _;

use assay_record::record::{Finding, FindingWeight, Verdict};

use crate::kernel::Heard;
use crate::lab::Skip;
use crate::shelf::busy;

/// A corrected figure may be this far from what the device really does.
const NEAR: f64 = 0.03;

/// One row.
pub struct Row {
    /// Its number in the catalogue.
    pub trap: String,
    how: String,
    verdict: String,
    corrected: String,
    truth: String,
}

impl Row {
    /// The trap was sprung, and is named.
    pub fn named(trap: &str, how: impl Into<String>, heard: &Heard) -> Row {
        Row::by(trap, trap, how, heard)
    }

    /// The trap was sprung, and another rule names it.
    pub fn by(trap: &str, rule: &str, how: impl Into<String>, heard: &Heard) -> Row {
        assert!(heard.found(rule), "no {rule}\n{heard}");
        let named = if rule == trap { String::new() } else { format!(" ({rule})") };
        Row::told(trap, how, format!("{}{named}", word(heard.verdict())))
    }

    /// Nearly the same, and nothing is said of the trap.
    pub fn silent(trap: &str, how: impl Into<String>, heard: &Heard) -> Row {
        assert!(!heard.found(trap), "{trap} is named\n{heard}");
        Row::told(trap, how, format!("{}, no {trap}", word(heard.verdict())))
    }

    /// Nearly the same, and the trap makes no doubt; a note, that others were there too, it may.
    pub fn undoubted(trap: &str, how: impl Into<String>, heard: &Heard) -> Row {
        let doubts = |f: &&Finding| f.trap.name() == trap && f.weight > FindingWeight::Note;
        assert_eq!(heard.verdict().findings.iter().find(doubts), None, "{heard}");
        Row::told(trap, how, format!("{}, no doubt by {trap}", word(heard.verdict())))
    }

    /// Something else has been seen.
    pub fn told(trap: &str, how: impl Into<String>, verdict: impl Into<String>) -> Row {
        let (corrected, truth) = Default::default();
        Row { trap: trap.into(), how: how.into(), verdict: verdict.into(), corrected, truth }
    }

    /// It could not be done here.
    pub fn skipped(trap: &str, skip: &Skip) -> Row {
        Row::told(trap, format!("SKIP: {skip}"), "-")
    }

    /// The figure that describes the device, which must be right; bytes per second.
    pub fn figure(self, figure: f64, truth: f64) -> Row {
        self.between(figure, truth, 1.0 - NEAR, 1.0 + NEAR)
    }

    /// The corrected figure of the verdict, likewise.
    pub fn corrected(self, heard: &Heard, truth: f64) -> Row {
        let figure = heard.verdict().corrected.unwrap_or_else(|| panic!("not corrected\n{heard}"));
        self.figure(figure.value, truth)
    }

    /// A figure that lies between these shares of the true one, for a reason that the case tells.
    pub fn between(mut self, figure: f64, truth: f64, low: f64, high: f64) -> Row {
        if !(low..high).contains(&(figure / truth)) {
            busy(format!("{}: {figure:.0} is not the true {truth:.0}", self.how));
        }
        (self.corrected, self.truth) = (mega(figure), mega(truth));
        self
    }

    /// What the device really does, beside a figure that says nothing of it.
    pub fn truth(mut self, truth: f64) -> Row {
        self.truth = mega(truth);
        self
    }
}

fn mega(rate: f64) -> String {
    format!("{:.2} MB/s", rate / 1e6)
}

/// Trust and subject of a verdict.
pub fn word(verdict: &Verdict) -> String {
    format!("{}, {}", verdict.trust.name(), verdict.measures.name())
}

/// All rows by their numbers.
pub fn table(mut rows: Vec<Row>) -> String {
    rows.sort_by(|a, b| a.trap.cmp(&b.trap));
    let head = Row {
        corrected: "corrected".into(),
        truth: "true".into(),
        ..Row::told("trap", "how made", "verdict")
    };
    let widest = |cell: fn(&Row) -> &str| {
        rows.iter().map(cell).map(|text| text.chars().count()).max().unwrap_or(0)
    };
    let (how, verdict) = (widest(|row| &row.how), widest(|row| &row.verdict));
    let mut text = String::from("\n");
    for row in std::iter::once(&head).chain(&rows) {
        let cell = |text: &str| if text.is_empty() { "-".to_string() } else { text.to_string() };
        // A String takes all.
        let _ = writeln!(
            text,
            "{:4}  {:how$}  {:verdict$}  {:>12}  {:>12}",
            row.trap,
            row.how,
            row.verdict,
            cell(&row.corrected),
            cell(&row.truth)
        );
    }
    text
}
