//! A picture as it is drawn: how large it is, and what is in it.

use super::super::markup::Markup;
use super::super::picture::{Picture, PlotKind};
use super::shapes::letters;
use super::{curves, heat, surface};

/// The colours of pictures, on light and dark ground: blue and orange, which everybody can tell apart.
pub const COLOURS: &str = include_str!("colours.css");

/// Width of a picture, and of one of two side by side.
pub const WIDE: f64 = 760.0;
pub const HALF: f64 = 372.0;

/// How wide a picture is.
fn width(picture: &Picture) -> f64 {
    if picture.half { HALF } else { WIDE }
}

pub fn height(picture: &Picture) -> f64 {
    match &picture.plot {
        PlotKind::Curves(_) if picture.half => 220.0,
        PlotKind::Curves(_) => 340.0,
        PlotKind::Heat(heat) => heat::height(heat),
        PlotKind::Surface(plot) => surface::height(plot),
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
        PlotKind::Curves(curves) => curves::draw(curves, width, height, out),
        PlotKind::Heat(heat) => heat::draw(heat, width, out),
        PlotKind::Surface(plot) => surface::draw(plot, width, out),
    }
}
