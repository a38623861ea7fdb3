//! A page for a browser, in one file: nothing is fetched, no script is needed, and light or dark is
//! the reader's choice.

mod phases;

use std::io::{self, Write};

use super::fact::Fact;
use super::markup::Markup;
use super::{Format, Style, gist, modes, picture, svg, text};
use crate::plan::{Aim, Plan};
use crate::record::{Next, Record};

/// The record as a page with pictures.
pub const FORMAT: Format = Format {
    name: "html",
    ending: "html",
    about: "a page for a browser, with charts, in one file",
    write,
};

/// How the page looks; pictures have colours of their own.
const LOOKS: &str = include_str!("html/page.css");

fn write(record: &Record, _style: Style, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(page(record).as_bytes())
}

fn page(record: &Record) -> String {
    let mut out = Markup::default();
    out.raw("<!DOCTYPE html>");
    out.open("html", &[("lang", &"en")]);
    head(record, &mut out);
    out.open("body", &[]);
    out.open("main", &[]);
    out.text("h1", &[], &gist::title(record));
    verdict(record, &mut out);
    listed(&gist::heading(record), &mut out);
    outcome(record, &mut out);
    let own = has_page(&record.plan);
    if own {
        terminal(record, true, &mut out);
    }
    phases::table(record, &mut out);
    phases::one_by_one(record, own, &mut out);
    if !own {
        terminal(record, false, &mut out);
    }
    out.text("footer", &[], &gist::imprint(record));
    for name in ["main", "body", "html"] {
        out.close(name);
    }
    out.into_text()
}

/// Whether the verb has tables of its own, which tell more than phases one by one.
fn has_page(plan: &Plan) -> bool {
    matches!(plan.aim, Some(Aim::Lesson(_) | Aim::Profile(_) | Aim::Capacity))
        || plan.origin.dialect == modes::VERB
}

fn head(record: &Record, out: &mut Markup) {
    out.open("head", &[]);
    out.leaf("meta", &[("charset", &"utf-8")]);
    let fits: &dyn std::fmt::Display = &"width=device-width, initial-scale=1";
    out.leaf("meta", &[("name", &"viewport"), ("content", fits)]);
    let version = format!("assay {}", record.version);
    out.leaf("meta", &[("name", &"generator"), ("content", &version)]);
    out.leaf("meta", &[("name", &"color-scheme"), ("content", &"light dark")]);
    out.text("title", &[], &gist::title(record));
    out.open("style", &[]);
    out.raw(LOOKS.trim_end());
    out.raw(svg::COLOURS.trim_end());
    out.close("style");
    out.close("head");
}

/// May it be believed, why, and what to do now.
fn verdict(record: &Record, out: &mut Markup) {
    let badge = gist::badge(record);
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
    for line in gist::ending(record) {
        out.text("p", &[], &format!("Ended {line}"));
    }
    listed(&gist::whole(record).map(gist::because).unwrap_or_default(), out);
    // Of other verbs the page itself says what comes next.
    let nexts = if has_page(&record.plan) { Vec::new() } else { text::nexts(record) };
    for next in nexts {
        match next {
            Next::Type(words) => {
                out.text("p", &[], "Next:");
                out.text("pre", &[("class", &"type")], &words);
            }
            Next::Do(words) => out.text("p", &[], &format!("Next: {words}")),
        }
    }
    out.close("section");
}

/// What is said beside tables, label by label.
fn listed(facts: &[Fact], out: &mut Markup) {
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
    let (pictures, facts) = (picture::of_record(record), gist::outcome(record));
    if pictures.is_empty() && facts.is_empty() {
        return;
    }
    out.open("section", &[]);
    out.text("h2", &[], "What it came to");
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

/// The page of a terminal, letter by letter.
fn terminal(record: &Record, open: bool, out: &mut Markup) {
    phases::folded("As a terminal shows it", open, out, |out| {
        out.text("pre", &[("class", &"terminal")], &gist::terminal(record));
    });
}
