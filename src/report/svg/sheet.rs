//! The whole file: what was asked, where, what it is worth, and every picture.

use super::super::badge;
use super::super::markup::Markup;
use super::super::paint::wrap;
use super::super::picture::{self, Picture};
use super::super::study::printer;
use super::drawing::{COLOURS, HALF, WIDE, draw, height};
use super::shapes::{Pixels, letters};
use assay_record::record::{PhaseRecord, Record};

/// Around everything, between two side by side, and between rows.
const MARGIN: f64 = 20.0;
const BETWEEN: f64 = WIDE - 2.0 * HALF;
const ROWS: f64 = 18.0;
/// Letters in a line of text, and its height.
const LETTERS: usize = 118;
const LINE: f64 = 17.0;

pub fn sheet(record: &Record) -> String {
    let mut body = Markup::default();
    let mut y = heading(record, MARGIN, &mut body);
    let whole = printer(&record.plan).pictures(record);
    if whole.is_empty() {
        for phase in &record.phases {
            y = phase_of(record, phase, y, &mut body);
        }
    } else {
        y = rows(&whole, y, &mut body);
        for fact in badge::outcome(record) {
            y = labelled(fact.label, &fact.text, "", y, &mut body);
        }
    }
    y = lines(&badge::imprint(record), "faint", y + ROWS, &mut body);
    let (width, height) = (WIDE + 2.0 * MARGIN, Pixels(y + MARGIN - LINE / 2.0));
    let title = badge::title(record);
    let mut out = Markup::default();
    out.open(
        "svg",
        &[
            ("xmlns", &"http://www.w3.org/2000/svg"),
            ("viewBox", &format!("0 0 {width} {height}")),
            ("width", &width),
            ("height", &height),
            ("role", &"img"),
            ("aria-label", &title),
        ],
    );
    out.text("title", &[], &title);
    out.open("style", &[]);
    out.raw(COLOURS.trim_end());
    out.close("style");
    out.leaf("rect", &[("class", &"paper"), ("width", &width), ("height", &height)]);
    out.into_text() + &body.into_text() + "</svg>\n"
}

/// Title, places and verdict; where the next thing may begin.
fn heading(record: &Record, y: f64, out: &mut Markup) -> f64 {
    let mut y = y + LINE;
    for line in wrap(&badge::title(record), 66) {
        letters("title", (MARGIN, y), "start", &line, out);
        y += 1.4 * LINE;
    }
    for fact in badge::heading(record) {
        y = labelled(fact.label, &fact.text, "", y, out);
    }
    if let Some(badge) = badge::badge(record) {
        y = labelled("verdict", &badge.words, badge.class, y + 4.0, out);
        y = labelled("", &badge.summary, "", y, out);
    }
    for line in badge::ending(record) {
        y = labelled("ended", &line, "", y, out);
    }
    y + ROWS / 2.0
}

/// A label, and the text beside it.
fn labelled(label: &str, text: &str, class: &str, mut y: f64, out: &mut Markup) -> f64 {
    const BESIDE: f64 = 62.0;
    let class = if class.is_empty() { "says".into() } else { format!("badge {class}") };
    for (index, line) in wrap(text, LETTERS - 10).iter().enumerate() {
        if index == 0 && !label.is_empty() {
            letters("faint", (MARGIN, y), "start", label, out);
        }
        letters(&class, (MARGIN + BESIDE, y), "start", line, out);
        y += LINE;
    }
    y
}

fn lines(text: &str, class: &str, mut y: f64, out: &mut Markup) -> f64 {
    for line in wrap(text, LETTERS) {
        letters(class, (MARGIN, y), "start", &line, out);
        y += LINE;
    }
    y
}

/// The pictures of a phase below its name, its figures and its verdict.
fn phase_of(record: &Record, phase: &PhaseRecord, y: f64, out: &mut Markup) -> f64 {
    let mut y = y + LINE;
    let (words, class) = badge::trust(phase);
    letters("name", (MARGIN, y), "start", &phase.name, out);
    letters(&format!("badge {class}"), (MARGIN + WIDE, y), "end", &words, out);
    let class = if badge::is_refuted(phase) { "refuted" } else { "says" };
    y = lines(&badge::in_short(record, phase), class, y + LINE, out);
    rows(&picture::of_phase(phase), y - LINE / 2.0, out)
}

/// Pictures in rows; those of half the width two by two.
fn rows(pictures: &[Picture], mut y: f64, out: &mut Markup) -> f64 {
    let mut left = pictures;
    while let Some((first, rest)) = left.split_first() {
        let pair = rest.first().filter(|second| first.half && second.half);
        let beside = pair.map(|second| (second, MARGIN + HALF + BETWEEN));
        for (picture, x) in std::iter::once((first, MARGIN)).chain(beside) {
            let place = format!("translate({} {})", Pixels(x), Pixels(y));
            out.open("g", &[("transform", &place)]);
            draw(picture, out);
            out.close("g");
        }
        y += height(first) + ROWS;
        left = &rest[usize::from(pair.is_some())..];
    }
    y
}
