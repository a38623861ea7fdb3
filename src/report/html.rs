//! A page for a browser, in one file: nothing is fetched, no script is needed, and light or dark is
//! the reader's choice.

mod bars;
mod table;

use std::io::{self, Write};

use super::fact::PageFact;
use super::figure::estimate;
use super::markup::Markup;
use super::picture::{self, SHOWN};
use super::report_format::ReportFormat;
use super::study::printer;
use super::{TerminalStyle, badge, balance, closing, row, svg};
use assay_record::record::{PhaseRecord, Record, Trust};

/// The record as a page with pictures.
pub const FORMAT: ReportFormat = ReportFormat {
    name: "html",
    ending: "html",
    about: "a page for a browser, with charts, in one file",
    made: |head, _| {
        head.starts_with("<!DOCTYPE html>\n")
            && head.contains("<meta name=\"generator\" content=\"assay ")
    },
    write,
};

/// Of more phases than this each is folded up.
const OPEN: usize = 8;

/// How the page looks; pictures have colours of their own.
const LOOKS: &str = include_str!("html/page.css");

fn write(record: &Record, _style: TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(page(record).as_bytes())
}

fn page(record: &Record) -> String {
    let mut out = Markup::default();
    out.raw("<!DOCTYPE html>");
    out.open("html", &[("lang", &"en")]);
    head(record, &mut out);
    out.open("body", &[]);
    out.open("main", &[]);
    out.text("h1", &[], &badge::title(record));
    verdict(record, &mut out);
    listed(&badge::heading(record), &mut out);
    outcome(record, &mut out);
    let own = printer(&record.plan).has_page();
    if own {
        terminal(record, true, &mut out);
    }
    phases(record, &mut out);
    one_by_one(record, own, &mut out);
    if !own {
        terminal(record, false, &mut out);
    }
    out.text("footer", &[], &badge::imprint(record));
    for name in ["main", "body", "html"] {
        out.close(name);
    }
    out.into_text()
}

fn head(record: &Record, out: &mut Markup) {
    out.open("head", &[]);
    out.leaf("meta", &[("charset", &"utf-8")]);
    let fits: &dyn std::fmt::Display = &"width=device-width, initial-scale=1";
    out.leaf("meta", &[("name", &"viewport"), ("content", fits)]);
    let version = format!("assay {}", record.version);
    out.leaf("meta", &[("name", &"generator"), ("content", &version)]);
    out.leaf("meta", &[("name", &"color-scheme"), ("content", &"light dark")]);
    out.text("title", &[], &badge::title(record));
    out.open("style", &[]);
    out.raw(LOOKS.trim_end());
    out.raw(svg::COLOURS.trim_end());
    out.close("style");
    out.close("head");
}

/// May it be believed, why, and what to do now.
fn verdict(record: &Record, out: &mut Markup) {
    let badge = badge::badge(record);
    let class = badge.as_ref().map_or("doubtful", |badge| badge.class);
    out.open("section", &[("class", &format!("verdict is-{class}"))]);
    match &badge {
        Some(badge) => {
            out.text("p", &[("class", &"badge")], &badge.words);
            if !badge.summary.is_empty() {
                out.text("p", &[], &badge.summary);
            }
        }
        None => out.text("p", &[], "No verdict: the record was cut off before it was judged."),
    }
    for line in badge::ending(record) {
        out.text("p", &[], &format!("Ended: {line}"));
    }
    listed(&badge::whole(record).map(badge::because).unwrap_or_default(), out);
    // Of other verbs the page itself says what comes next.
    let nexts = if printer(&record.plan).has_page() { Vec::new() } else { closing::nexts(record) };
    for next in nexts {
        out.text("p", &[], "Next:");
        out.text("pre", &[("class", &"type")], &next.command);
    }
    out.close("section");
}

/// What is said beside tables, label by label.
fn listed(facts: &[PageFact], out: &mut Markup) {
    if facts.is_empty() {
        return;
    }
    out.open("dl", &[]);
    for fact in facts {
        if !fact.label.is_empty() {
            out.text("dt", &[], fact.label);
        }
        let class = if fact.aside { "aside" } else { "says" };
        out.text("dd", &[("class", &class)], &fact.text);
    }
    out.close("dl");
}

/// What the run as a whole came to, in pictures and words.
fn outcome(record: &Record, out: &mut Markup) {
    let (pictures, facts) = (printer(&record.plan).pictures(record), badge::outcome(record));
    if pictures.is_empty() && facts.is_empty() {
        return;
    }
    out.open("section", &[]);
    out.text("h2", &[], "Summary");
    drawn(&pictures, out);
    listed(&facts, out);
    out.close("section");
}

/// Pictures, those of half the width side by side where there is room.
fn drawn(pictures: &[picture::Picture], out: &mut Markup) {
    if pictures.is_empty() {
        return;
    }
    out.open("div", &[("class", &"pictures")]);
    pictures.iter().for_each(|picture| svg::inline(picture, out));
    out.close("div");
}

/// The figures of all phases; nothing of a record without one.
fn phases(record: &Record, out: &mut Markup) {
    if record.phases.is_empty() {
        return;
    }
    out.open("section", &[]);
    out.text("h2", &[], "Phases");
    table::whole(&row::table(record), out);
    out.close("section");
}

/// Each phase with its pictures; folded up where there are many, or the page tells more (`aside`).
fn one_by_one(record: &Record, aside: bool, out: &mut Markup) {
    if record.phases.is_empty() {
        return;
    }
    let open =
        !aside && record.phases.len() <= OPEN && printer(&record.plan).pictures(record).is_empty();
    out.open("section", &[]);
    out.text("h2", &[], "Phases in detail");
    for phase in &record.phases {
        folded(&phase.name, open, out, |out| told(record, phase, out));
    }
    out.close("section");
}

/// A phase: its figures, its verdict with the readings behind it, what went wrong, its pictures.
fn told(record: &Record, phase: &PhaseRecord, out: &mut Markup) {
    let counts = record.plan.counts(&phase.name);
    let refuted = counts && badge::is_refuted(phase);
    let class = if refuted { "figures refuted" } else { "figures" };
    out.text("p", &[("class", &class)], &badge::in_short(record, phase));
    if !counts {
        out.text("p", &[], row::PREPARATION);
    }
    // Of a single phase the verdict on the whole says the same.
    let told = counts && record.plan.phases.len() > 1;
    if let Some(verdict) = phase.verdict.as_ref().filter(|_| told) {
        let (words, class) = badge::trust(phase);
        out.open("p", &[]);
        out.text("span", &[("class", &format!("trust is-{class}"))], &words);
        out.text("span", &[], &SHOWN.voice().sentences(&verdict.claims));
        if let Some(corrected) = &verdict.corrected {
            out.text(
                "strong",
                &[],
                &format!("The device: {}.", estimate(corrected, SHOWN.voice())),
            );
        }
        out.close("p");
        if verdict.trust != Trust::Sound {
            listed(&badge::because(verdict), out);
        }
    }
    if let Some(ledger) = &phase.ledger {
        bars::bars(ledger, out);
        listed(&balance::facts(ledger, SHOWN.voice()), out);
    }
    for text in row::steady(record, phase, SHOWN.voice()).into_iter().chain(row::troubles(phase)) {
        out.text("p", &[], &text);
    }
    drawn(&picture::of_phase(phase), out);
}

/// The page of a terminal, letter by letter.
fn terminal(record: &Record, open: bool, out: &mut Markup) {
    folded("Terminal output", open, out, |out| {
        out.text("pre", &[("class", &"terminal")], &badge::terminal(record));
    });
}

/// Something under a heading by which it is unfolded.
fn folded(heading: &str, open: bool, out: &mut Markup, inside: impl FnOnce(&mut Markup)) {
    match open {
        true => out.open("details", &[("open", &"open")]),
        false => out.open("details", &[]),
    }
    out.text("summary", &[], heading);
    inside(out);
    out.close("details");
}
