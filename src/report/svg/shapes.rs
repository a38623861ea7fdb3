//! What pictures are drawn of: letters, lines and rectangles at places in pixels, and the classes that
//! give them their colours.

use std::fmt;

use super::super::markup::Markup;
use super::super::picture::{FigureLook, Tone};

/// A length or place in pixels, with one decimal at most.
#[derive(Clone, Copy, Debug)]
pub struct Pixels(pub f64);

impl fmt::Display for Pixels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0).round() / 10.0;
        write!(f, "{tenths}")
    }
}

/// A text at a place; `anchor` says what of it lies there: `start`, `middle` or `end`.
pub fn letters(class: &str, (x, y): (f64, f64), anchor: &str, text: &str, out: &mut Markup) {
    let (x, y) = (Pixels(x), Pixels(y));
    let at =
        [("class", &class as &dyn fmt::Display), ("x", &x), ("y", &y), ("text-anchor", &anchor)];
    // Texts begin where they lie unless somebody says otherwise.
    out.text("text", if anchor == "start" { &at[..3] } else { &at }, text);
}

pub fn line(class: &str, from: (f64, f64), to: (f64, f64), out: &mut Markup) {
    let (x1, y1, x2, y2) = (Pixels(from.0), Pixels(from.1), Pixels(to.0), Pixels(to.1));
    out.leaf("line", &[("class", &class), ("x1", &x1), ("y1", &y1), ("x2", &x2), ("y2", &y2)]);
}

/// A rectangle by its upper left corner and its size.
pub fn patch(class: &str, (x, y): (f64, f64), (width, height): (f64, f64), out: &mut Markup) {
    let (x, y, width, height) = (Pixels(x), Pixels(y), Pixels(width), Pixels(height));
    out.leaf(
        "rect",
        &[("class", &class), ("x", &x), ("y", &y), ("width", &width), ("height", &height)],
    );
}

pub fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Write => "write",
        Tone::Read => "read",
        Tone::Mixed => "mixed",
        Tone::Device => "device",
    }
}

/// The class of a look.
pub fn worth(look: FigureLook) -> &'static str {
    match look {
        FigureLook::Firm => "firm",
        FigureLook::Hollow => "hollow",
        FigureLook::Struck => "struck",
    }
}

/// About how wide a text of the usual size is, in pixels: nobody has measured the reader's letters.
pub fn room(text: &str) -> f64 {
    text.chars().count() as f64 * 6.5
}
