//! The phases of a record: a table of their figures with the trust of each, and each with its
//! pictures and what is to be said of it.

use super::super::figure::{estimate, micros};
use super::super::gist;
use super::super::markup::Markup;
use super::super::picture::{self, SHOWN};
use super::super::row;
use super::drawn;
use crate::record::{PhaseRecord, Record, Trust};

/// Of more phases than this each is folded up.
const OPEN: usize = 8;

/// What stands above the columns before the figures.
const NAMES: [&str; 3] = ["phase", "", "block, depth"];

/// The figures of all phases; nothing of a record without one.
pub fn table(record: &Record, out: &mut Markup) {
    if record.phases.is_empty() {
        return;
    }
    out.open("section", &[]);
    out.text("h2", &[], "Phases");
    out.open("div", &[("class", &"scroll")]);
    out.open("table", &[]);
    out.open("thead", &[]);
    out.open("tr", &[]);
    for name in NAMES.into_iter().chain(row::FIGURES).chain(["verdict"]) {
        out.text("th", &[("scope", &"col")], name);
    }
    out.close("tr");
    out.close("thead");
    out.open("tbody", &[]);
    record.phases.iter().for_each(|phase| rows(record, phase, out));
    out.close("tbody");
    for name in ["table", "div", "section"] {
        out.close(name);
    }
}

/// The rows of a phase, one for each action. Figures that are refuted are crossed out.
fn rows(record: &Record, phase: &PhaseRecord, out: &mut Markup) {
    let planned = record.plan.phases.iter().find(|planned| planned.name == phase.name);
    let shape = planned.and_then(|planned| row::shape(planned, &record.resolved.jobs));
    let (words, class) = gist::trust(phase);
    let refuted = gist::is_refuted(phase);
    let done = row::done(phase);
    if done.is_empty() {
        out.open("tr", &[]);
        out.text("th", &[("scope", &"row")], &phase.name);
        out.text("td", &[("colspan", &9)], "nothing was done");
        out.close("tr");
    }
    for (index, (action, total)) in done.into_iter().enumerate() {
        let first = index == 0;
        out.open("tr", &[("class", &if refuted { "refuted" } else { "stands" })]);
        out.text("th", &[("scope", &"row")], if first { &phase.name } else { "" });
        out.text("td", &[], action.name());
        out.text("td", &[], shape.as_deref().filter(|_| first).unwrap_or_default());
        for figure in row::figures(phase, total, first, SHOWN) {
            out.text("td", &[("class", &"figure")], &figure);
        }
        let words = if first { words.as_str() } else { "" };
        out.text("td", &[("class", &format!("trust is-{class}"))], words);
        out.close("tr");
    }
}

/// Each phase with its pictures; folded up where there are many, or the page tells more (`aside`).
pub fn one_by_one(record: &Record, aside: bool, out: &mut Markup) {
    if record.phases.is_empty() {
        return;
    }
    let open = !aside && record.phases.len() <= OPEN && picture::of_record(record).is_empty();
    out.open("section", &[]);
    out.text("h2", &[], "One by one");
    for phase in &record.phases {
        folded(&phase.name, open, out, |out| told(record, phase, out));
    }
    out.close("section");
}

/// A phase: its figures, its verdict with the readings behind it, what went wrong, its pictures.
fn told(record: &Record, phase: &PhaseRecord, out: &mut Markup) {
    let class = if gist::is_refuted(phase) { "figures refuted" } else { "figures" };
    out.text("p", &[("class", &class)], &gist::in_short(record, phase));
    // Of a single phase the verdict on the whole says the same.
    if let Some(verdict) = phase.verdict.as_ref().filter(|_| record.plan.phases.len() > 1) {
        let (words, class) = gist::trust(phase);
        out.open("p", &[]);
        out.text("span", &[("class", &format!("trust is-{class}"))], &words);
        out.text("span", &[], &micros(&verdict.summary, SHOWN));
        if let Some(corrected) = &verdict.corrected {
            out.text("strong", &[], &format!("The device: {}.", estimate(corrected)));
        }
        out.close("p");
        if verdict.trust != Trust::Sound {
            super::listed(&gist::because(verdict), out);
        }
    }
    for text in row::steady(phase).into_iter().chain(row::troubles(phase)) {
        out.text("p", &[], &text);
    }
    drawn(&picture::of_phase(phase), out);
}

/// Something under a heading by which it is unfolded.
pub fn folded(heading: &str, open: bool, out: &mut Markup, inside: impl FnOnce(&mut Markup)) {
    match open {
        true => out.open("details", &[("open", &"open")]),
        false => out.open("details", &[]),
    }
    out.text("summary", &[], heading);
    inside(out);
    out.close("details");
}
