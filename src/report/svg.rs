//! Pictures as SVG: one file with the heading, the verdict and every picture of a record; and each by
//! itself, for the page of a browser.
//!
//! Written by hand, for no crate that draws charts can do what these need: one drawing that follows
//! the reader's light or dark ground (classes and a style sheet; the SVG of plotters has the colours
//! in each element), marks that say their figure when somebody points at them, and dashed lines.

mod curves;
mod heat;
mod sheet;

use std::fmt;
use std::io::{self, Write};

use super::markup::Markup;
use super::picture::{Look, Picture, Plot, Tone};
use super::{Format, Style};
use crate::record::Record;

/// The record as a picture.
pub const FORMAT: Format = Format {
    name: "svg",
    ending: "svg",
    about: "charts with heading and verdict, for a document",
    write,
};

/// The colours of pictures, on light and dark ground: blue and orange, which everybody can tell apart.
pub const COLOURS: &str = include_str!("svg/colours.css");

/// Width of a picture, and of one of two side by side.
pub const WIDE: f64 = 760.0;
/// The half of it.
pub const HALF: f64 = 372.0;

fn write(record: &Record, _style: Style, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(sheet::sheet(record).as_bytes())
}

/// A length or place in pixels, with one decimal at most.
#[derive(Clone, Copy, Debug)]
pub struct Px(pub f64);

impl fmt::Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0).round() / 10.0;
        write!(f, "{tenths}")
    }
}

/// How wide a picture is.
pub fn width(picture: &Picture) -> f64 {
    if picture.half { HALF } else { WIDE }
}

/// How high it is.
pub fn height(picture: &Picture) -> f64 {
    match &picture.plot {
        Plot::Curves(_) if picture.half => 220.0,
        Plot::Curves(_) => 340.0,
        Plot::Heat(heat) => heat::height(heat),
    }
}

/// A picture as an element of an HTML page.
pub fn inline(picture: &Picture, out: &mut Markup) {
    let (width, height) = (width(picture), height(picture));
    let class = if picture.half { "half" } else { "wide" };
    out.open(
        "svg",
        &[
            ("class", &class),
            ("viewBox", &format!("0 0 {width} {height}")),
            ("role", &"img"),
            ("aria-label", &picture.title),
        ],
    );
    draw(picture, out);
    out.close("svg");
}

/// What is in a picture, from the upper left corner on.
pub fn draw(picture: &Picture, out: &mut Markup) {
    let (width, height) = (width(picture), height(picture));
    letters("name", (0.0, 17.0), "start", &picture.title, out);
    match &picture.plot {
        Plot::Curves(curves) => curves::draw(curves, width, height, out),
        Plot::Heat(heat) => heat::draw(heat, width, out),
    }
}

/// A text at a place; `anchor` says what of it lies there: `start`, `middle` or `end`.
fn letters(class: &str, (x, y): (f64, f64), anchor: &str, text: &str, out: &mut Markup) {
    let (x, y) = (Px(x), Px(y));
    let at =
        [("class", &class as &dyn fmt::Display), ("x", &x), ("y", &y), ("text-anchor", &anchor)];
    // Texts begin where they lie unless somebody says otherwise.
    out.text("text", if anchor == "start" { &at[..3] } else { &at }, text);
}

/// A straight line.
fn line(class: &str, from: (f64, f64), to: (f64, f64), out: &mut Markup) {
    let (x1, y1, x2, y2) = (Px(from.0), Px(from.1), Px(to.0), Px(to.1));
    out.leaf("line", &[("class", &class), ("x1", &x1), ("y1", &y1), ("x2", &x2), ("y2", &y2)]);
}

/// A rectangle by its upper left corner and its size.
fn patch(class: &str, (x, y): (f64, f64), (width, height): (f64, f64), out: &mut Markup) {
    let (x, y, width, height) = (Px(x), Px(y), Px(width), Px(height));
    out.leaf(
        "rect",
        &[("class", &class), ("x", &x), ("y", &y), ("width", &width), ("height", &height)],
    );
}

/// The class of a tone.
fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Write => "write",
        Tone::Read => "read",
        Tone::Mixed => "mixed",
        Tone::Device => "device",
    }
}

/// The class of a look.
fn worth(look: Look) -> &'static str {
    match look {
        Look::Firm => "firm",
        Look::Hollow => "hollow",
        Look::Struck => "struck",
    }
}

/// About how wide a text of the usual size is, in pixels: nobody has measured the reader's letters.
fn room(text: &str) -> f64 {
    text.chars().count() as f64 * 6.5
}
