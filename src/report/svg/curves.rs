//! Points and lines between two axes.

use super::super::figure::digits;
use super::super::markup::Markup;
use super::super::picture::{
    Curves, FigureLook, LineForm, PlotAxis, PlotMark, PlotPoint, PlotSeries, Tone,
};
use super::shapes::{Pixels, class, letters, line, patch, room, worth};

/// Room above the plot (title and legend), at its right, below it and at its left.
const ABOVE: f64 = 34.0;
const RIGHT: f64 = 24.0;
const BELOW: f64 = 44.0;
const LEFT: f64 = 66.0;
const MARK: f64 = 4.5;

/// Where values lie in the picture.
struct PlotFrame<'a> {
    curves: &'a Curves,
    left: f64,
    right: f64,
    top: f64,
    foot: f64,
}

impl PlotFrame<'_> {
    fn x(&self, value: f64) -> f64 {
        self.left + self.curves.across.share(value) * (self.right - self.left)
    }

    fn y(&self, value: f64) -> f64 {
        self.foot - self.curves.up.share(value) * (self.foot - self.top)
    }

    fn at(&self, point: &PlotPoint) -> (f64, f64) {
        (self.x(point.x), self.y(point.y))
    }

    /// A path through these points: `M10,20 L12,24`.
    fn path<'p>(&self, points: impl IntoIterator<Item = &'p PlotPoint>) -> String {
        let mut path = String::new();
        for point in points {
            let (x, y) = self.at(point);
            path.push_str(if path.is_empty() { "M" } else { " L" });
            path.push_str(&format!("{},{}", Pixels(x), Pixels(y)));
        }
        path
    }
}

/// Draws the plot into a picture of that size: fields, axes, lines, marks, signs, one above the other.
pub fn draw(curves: &Curves, width: f64, height: f64, out: &mut Markup) {
    let (right, foot) = (width - RIGHT, height - BELOW);
    let frame = PlotFrame { curves, left: LEFT, right, top: ABOVE, foot };
    curves.signs.iter().for_each(|sign| field(&frame, sign, out));
    upright(&frame, out);
    across(&frame, out);
    for series in &curves.series {
        match series.form {
            LineForm::Ground => ground(&frame, series, out),
            LineForm::Line | LineForm::Marks => lines(&frame, series, out),
            LineForm::Dots => {}
        }
    }
    let marked = |series: &&PlotSeries| matches!(series.form, LineForm::Marks | LineForm::Dots);
    for series in curves.series.iter().filter(marked) {
        series.points.iter().for_each(|point| mark(&frame, series.tone, point, out));
    }
    curves.signs.iter().for_each(|sign| signed(&frame, sign, out));
    legend(&frame, out);
}

/// The axis at the left: lines across the plot, and their values.
fn upright(frame: &PlotFrame, out: &mut Markup) {
    let PlotAxis { ticks, title, .. } = &frame.curves.up;
    for (value, name) in ticks {
        let y = frame.y(*value);
        line("grid", (frame.left, y), (frame.right, y), out);
        letters("tick", (frame.left - 8.0, y + 4.0), "end", name, out);
    }
    // Read from the foot to the top, beside the values.
    let (x, y) = (Pixels(11.0), Pixels((frame.top + frame.foot) / 2.0));
    let turned = format!("translate({x} {y}) rotate(-90)");
    out.open("g", &[("transform", &turned)]);
    letters("unit", (0.0, 0.0), "middle", title, out);
    out.close("g");
}

/// The axis at the foot: a line, its values as far as there is room for them, and what they are.
fn across(frame: &PlotFrame, out: &mut Markup) {
    let PlotAxis { ticks, title, .. } = &frame.curves.across;
    line("edge", (frame.left, frame.foot), (frame.right, frame.foot), out);
    let mut free = f64::NEG_INFINITY;
    for (value, name) in ticks {
        let x = frame.x(*value);
        let half = room(name) / 2.0;
        let fits = x - half > free;
        let below = if fits { 6.0 } else { 4.0 };
        line("edge", (x, frame.foot), (x, frame.foot + below), out);
        if fits {
            free = x + half + 6.0;
            letters("tick", (x, frame.foot + 19.0), "middle", name, out);
        }
    }
    let middle = (frame.left + frame.right) / 2.0;
    letters("unit", (middle, frame.foot + 37.0), "middle", title, out);
}

fn ground(frame: &PlotFrame, series: &PlotSeries, out: &mut Markup) {
    let (Some(first), Some(last)) = (series.points.first(), series.points.last()) else { return };
    let feet = [last, first].map(|point| PlotPoint { y: 0.0, ..point.clone() });
    let path = frame.path(series.points.iter().chain(&feet));
    let class = format!("{} ground", class(series.tone));
    out.leaf("path", &[("class", &class), ("d", &format!("{path} Z"))]);
}

/// The line through the points, dashed where it comes from or leads to a figure that is refuted.
fn lines(frame: &PlotFrame, series: &PlotSeries, out: &mut Markup) {
    let points = &series.points;
    let refuted =
        |from: usize| points[from..=from + 1].iter().any(|at| at.look == FigureLook::Struck);
    let mut from = 0;
    while from + 1 < points.len() {
        let dashed = refuted(from);
        let mut to = from + 1;
        while to + 1 < points.len() && refuted(to) == dashed {
            to += 1;
        }
        let class = format!("{} line{}", class(series.tone), if dashed { " dashed" } else { "" });
        out.leaf("path", &[("class", &class), ("d", &frame.path(&points[from..=to]))]);
        from = to;
    }
}

/// A full circle, a hollow one, or a cross. What lies beyond the axis stands at its end, with its figure.
fn mark(frame: &PlotFrame, tone: Tone, point: &PlotPoint, out: &mut Markup) {
    let (x, y) = frame.at(point);
    if point.y > frame.curves.up.high * 1.000_1 {
        letters("faint", (x + 9.0, y + 4.0), "start", &format!("↑ {}", digits(point.y)), out);
    }
    let class = format!("{} {}", class(tone), worth(point.look));
    if point.look == FigureLook::Struck {
        let (left, right, top, foot) =
            (Pixels(x - MARK), Pixels(x + MARK), Pixels(y - MARK), Pixels(y + MARK));
        let cross = format!("M{left},{top} L{right},{foot} M{left},{foot} L{right},{top}");
        return out.told("path", &[("class", &class), ("d", &cross)], &point.told);
    }
    // Writes are drawn first and larger, so that they show where reads lie on them.
    let radius = Pixels(if tone == Tone::Write { MARK + 1.0 } else { MARK - 0.5 });
    let (x, y) = (Pixels(x), Pixels(y));
    out.told("circle", &[("class", &class), ("cx", &x), ("cy", &y), ("r", &radius)], &point.told);
}

fn field(frame: &PlotFrame, sign: &PlotMark, out: &mut Markup) {
    let PlotMark::Field { tone, x, y, .. } = sign else { return };
    let (left, top) = (frame.x(x.0), frame.y(y.1));
    // However small it is, it shows.
    let (wide, high) = ((frame.x(x.1) - left).max(2.0), (frame.y(y.0) - top).max(2.0));
    patch(&format!("{} field", class(*tone)), (left, top), (wide, high), out);
}

fn signed(frame: &PlotFrame, sign: &PlotMark, out: &mut Markup) {
    match sign {
        PlotMark::Field { .. } => {}
        PlotMark::At { x, text } => {
            let x = frame.x(*x);
            line("sign", (x, frame.top), (x, frame.foot), out);
            let late = x + 6.0 + room(text) > frame.right;
            let (beside, anchor) = if late { (-6.0, "end") } else { (6.0, "start") };
            letters("faint", (x + beside, frame.foot - 8.0), anchor, text, out);
        }
        PlotMark::Level { y, text } => {
            let y = frame.y(*y);
            line("sign", (frame.left, y), (frame.right, y), out);
            letters("faint", (frame.left + 6.0, y - 6.0), "start", text, out);
        }
        PlotMark::Absent { x, told } => {
            out.open("g", &[]);
            out.text("title", &[], told);
            letters("faint", (frame.x(*x), frame.foot - 6.0), "middle", "n/a", out);
            out.close("g");
        }
    }
}

/// The names of the series at the upper right, each behind a piece of its line, and what the fields
/// are.
fn legend(frame: &PlotFrame, out: &mut Markup) {
    let series = frame.curves.series.iter().filter(|series| !series.name.is_empty());
    let named = series.map(|PlotSeries { name, tone, form, .. }| match form {
        LineForm::Ground => (name, format!("{} ground", class(*tone)), 9.0),
        LineForm::Line | LineForm::Marks | LineForm::Dots => (name, class(*tone).to_string(), 3.0),
    });
    let field = frame.curves.signs.iter().find_map(|sign| match sign {
        PlotMark::Field { name, .. } => Some((name, "device ground".to_string(), 9.0)),
        PlotMark::At { .. } | PlotMark::Level { .. } | PlotMark::Absent { .. } => None,
    });
    let entries: Vec<(&String, String, f64)> = named.chain(field).collect();
    let mut x = frame.right;
    for (name, class, high) in entries.into_iter().rev() {
        letters("faint", (x, 17.0), "end", name, out);
        x -= room(name) + 21.0;
        patch(&class, (x, 13.0 - high / 2.0), (15.0, high), out);
        x -= 14.0;
    }
}
