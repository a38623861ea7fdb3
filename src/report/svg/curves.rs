//! Points and lines between two axes.

use super::super::figure::digits;
use super::super::markup::Markup;
use super::super::picture::{Axis, Curves, Form, Look, Point, Series, Sign};
use super::{Px, class, room, worth};

/// Room above the plot (title and legend), at its right, below it and at its left.
const ABOVE: f64 = 34.0;
const RIGHT: f64 = 24.0;
const BELOW: f64 = 44.0;
const LEFT: f64 = 66.0;
/// Radius of a mark.
const MARK: f64 = 4.5;

/// Where values lie in the picture.
struct Frame<'a> {
    curves: &'a Curves,
    left: f64,
    right: f64,
    top: f64,
    foot: f64,
}

impl Frame<'_> {
    fn x(&self, value: f64) -> f64 {
        self.left + self.curves.across.share(value) * (self.right - self.left)
    }

    fn y(&self, value: f64) -> f64 {
        self.foot - self.curves.up.share(value) * (self.foot - self.top)
    }
}

/// Draws the plot into a picture of that size.
pub fn draw(curves: &Curves, width: f64, height: f64, out: &mut Markup) {
    let (right, foot) = (width - RIGHT, height - BELOW);
    let frame = Frame { curves, left: LEFT, right, top: ABOVE, foot };
    for sign in &curves.signs {
        if let Sign::Field { tone, x, y, .. } = sign {
            field(&frame, class(*tone), *x, *y, out);
        }
    }
    upright(&frame, out);
    across(&frame, out);
    for series in &curves.series {
        match series.form {
            Form::Ground => ground(&frame, series, out),
            Form::Line | Form::Marks => lines(&frame, series, out),
            Form::Dots => {}
        }
    }
    let marked = |series: &&Series| matches!(series.form, Form::Marks | Form::Dots);
    for series in curves.series.iter().filter(marked) {
        for point in &series.points {
            mark(&frame, class(series.tone), point, out);
        }
    }
    curves.signs.iter().for_each(|sign| signed(&frame, sign, out));
    legend(&frame, out);
}

/// The axis at the left: lines across the plot, and their values.
fn upright(frame: &Frame, out: &mut Markup) {
    let Axis { ticks, title, .. } = &frame.curves.up;
    for (value, name) in ticks {
        let y = frame.y(*value);
        let (left, right) = (Px(frame.left), Px(frame.right));
        out.leaf(
            "line",
            &[("class", &"grid"), ("x1", &left), ("x2", &right), ("y1", &Px(y)), ("y2", &Px(y))],
        );
        let x = Px(frame.left - 8.0);
        let place: [(&str, &dyn std::fmt::Display); 4] =
            [("class", &"tick"), ("x", &x), ("y", &Px(y + 4.0)), ("text-anchor", &"end")];
        out.text("text", &place, name);
    }
    // Read from the foot to the top, beside the values.
    let (x, y) = (Px(11.0), Px((frame.top + frame.foot) / 2.0));
    let turned = format!("rotate(-90 {x} {y})");
    out.text(
        "text",
        &[
            ("class", &"unit"),
            ("x", &x),
            ("y", &y),
            ("text-anchor", &"middle"),
            ("transform", &turned),
        ],
        title,
    );
}

/// The axis at the foot: a line, its values as far as there is room for them, and what they are.
fn across(frame: &Frame, out: &mut Markup) {
    let Axis { ticks, title, .. } = &frame.curves.across;
    let (left, right, foot) = (Px(frame.left), Px(frame.right), Px(frame.foot));
    out.leaf(
        "line",
        &[("class", &"edge"), ("x1", &left), ("x2", &right), ("y1", &foot), ("y2", &foot)],
    );
    let mut free = f64::NEG_INFINITY;
    for (value, name) in ticks {
        let x = frame.x(*value);
        let half = room(name) / 2.0;
        let fits = x - half > free;
        let below = Px(frame.foot + if fits { 6.0 } else { 4.0 });
        out.leaf(
            "line",
            &[("class", &"edge"), ("x1", &Px(x)), ("x2", &Px(x)), ("y1", &foot), ("y2", &below)],
        );
        if fits {
            free = x + half + 6.0;
            let y = Px(frame.foot + 19.0);
            let place: [(&str, &dyn std::fmt::Display); 4] =
                [("class", &"tick"), ("x", &Px(x)), ("y", &y), ("text-anchor", &"middle")];
            out.text("text", &place, name);
        }
    }
    let (x, y) = (Px((frame.left + frame.right) / 2.0), Px(frame.foot + 37.0));
    out.text(
        "text",
        &[("class", &"unit"), ("x", &x), ("y", &y), ("text-anchor", &"middle")],
        title,
    );
}

/// `M10,20 L12,24`: a path through these points.
fn path<'a>(frame: &Frame, points: impl IntoIterator<Item = &'a Point>) -> String {
    let mut path = String::new();
    for point in points {
        let sign = if path.is_empty() { "M" } else { " L" };
        path.push_str(&format!("{sign}{},{}", Px(frame.x(point.x)), Px(frame.y(point.y))));
    }
    path
}

fn ground(frame: &Frame, series: &Series, out: &mut Markup) {
    let (Some(first), Some(last)) = (series.points.first(), series.points.last()) else { return };
    let feet = [last, first].map(|point| Point { y: 0.0, ..point.clone() });
    let path = path(frame, series.points.iter().chain(&feet));
    let class = format!("{} ground", class(series.tone));
    out.leaf("path", &[("class", &class), ("d", &format!("{path} Z"))]);
}

/// The line through the points, dashed where it comes from or leads to a figure that is refuted.
fn lines(frame: &Frame, series: &Series, out: &mut Markup) {
    let mut from = 0;
    while from + 1 < series.points.len() {
        let struck = |at: usize| series.points[at..=at + 1].iter().any(|p| p.look == Look::Struck);
        let dashed = struck(from);
        let mut to = from + 1;
        while to + 1 < series.points.len() && struck(to) == dashed {
            to += 1;
        }
        let class = format!("{} line{}", class(series.tone), if dashed { " dashed" } else { "" });
        let path = path(frame, &series.points[from..=to]);
        out.leaf("path", &[("class", &class), ("d", &path)]);
        from = to;
    }
}

/// A full circle, a hollow one, or a cross. What lies beyond the axis stands at its end, with its figure.
fn mark(frame: &Frame, tone: &str, point: &Point, out: &mut Markup) {
    let (x, y) = (frame.x(point.x), frame.y(point.y));
    let class = format!("{tone} {}", worth(point.look));
    if point.y > frame.curves.up.high * 1.000_1 {
        let place: [(&str, &dyn std::fmt::Display); 3] =
            [("class", &"faint"), ("x", &Px(x + 9.0)), ("y", &Px(y + 4.0))];
        out.text("text", &place, &format!("↑ {}", digits(point.y)));
    }
    if point.look == Look::Struck {
        let (l, r, t, b) = (Px(x - MARK), Px(x + MARK), Px(y - MARK), Px(y + MARK));
        let cross = format!("M{l},{t} L{r},{b} M{l},{b} L{r},{t}");
        return out.told("path", &[("class", &class), ("d", &cross)], &point.told);
    }
    // Larger below, so that it shows where another lies on it.
    let radius = if tone == "write" { MARK + 1.0 } else { MARK - 0.5 };
    let place: [(&str, &dyn std::fmt::Display); 4] =
        [("class", &class), ("cx", &Px(x)), ("cy", &Px(y)), ("r", &radius)];
    out.told("circle", &place, &point.told);
}

fn field(frame: &Frame, tone: &str, x: (f64, f64), y: (f64, f64), out: &mut Markup) {
    let (left, right) = (frame.x(x.0), frame.x(x.1));
    let (top, foot) = (frame.y(y.1), frame.y(y.0));
    let class = format!("{tone} field");
    // However narrow it is, it shows.
    let (wide, high) = (Px((right - left).max(2.0)), Px((foot - top).max(2.0)));
    out.leaf(
        "rect",
        &[
            ("class", &class),
            ("x", &Px(left)),
            ("y", &Px(top)),
            ("width", &wide),
            ("height", &high),
        ],
    );
}

fn signed(frame: &Frame, sign: &Sign, out: &mut Markup) {
    match sign {
        Sign::Field { .. } => {}
        Sign::Level { y, text } => {
            let y = frame.y(*y);
            let (left, right) = (Px(frame.left), Px(frame.right));
            out.leaf(
                "line",
                &[
                    ("class", &"sign"),
                    ("x1", &left),
                    ("x2", &right),
                    ("y1", &Px(y)),
                    ("y2", &Px(y)),
                ],
            );
            let (x, y) = (Px(frame.left + 6.0), Px(y - 6.0));
            out.text("text", &[("class", &"faint"), ("x", &x), ("y", &y)], text);
        }
        Sign::At { x, text } => {
            let x = frame.x(*x);
            let (top, foot) = (Px(frame.top), Px(frame.foot));
            out.leaf(
                "line",
                &[("class", &"sign"), ("x1", &Px(x)), ("x2", &Px(x)), ("y1", &top), ("y2", &foot)],
            );
            let late = x + 6.0 + room(text) > frame.right;
            let (x, anchor) = if late { (x - 6.0, "end") } else { (x + 6.0, "start") };
            let y = Px(frame.foot - 8.0);
            let place: [(&str, &dyn std::fmt::Display); 4] =
                [("class", &"faint"), ("x", &Px(x)), ("y", &y), ("text-anchor", &anchor)];
            out.text("text", &place, text);
        }
        Sign::Absent { x, told } => {
            let (x, y) = (Px(frame.x(*x)), Px(frame.foot - 6.0));
            out.raw(&format!("<text class=\"faint\" x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">"));
            out.text("title", &[], told);
            out.raw("n/a</text>");
        }
    }
}

/// The names of the series at the upper right, each behind a piece of its line, and what the fields
/// are.
fn legend(frame: &Frame, out: &mut Markup) {
    let field = frame.curves.signs.iter().find_map(|sign| match sign {
        Sign::Field { name, .. } => Some((name.as_str(), "device ground".to_string(), 9.0)),
        _ => None,
    });
    let entry = |series: &'_ Series| match series.form {
        Form::Ground => (format!("{} ground", class(series.tone)), 9.0),
        Form::Line | Form::Marks | Form::Dots => (class(series.tone).to_string(), 3.0),
    };
    let named = frame.curves.series.iter().filter(|series| !series.name.is_empty());
    let entries = named.map(|series| {
        let (class, high) = entry(series);
        (series.name.as_str(), class, high)
    });
    let entries: Vec<(&str, String, f64)> = entries.chain(field).collect();
    let mut x = frame.right;
    for (name, class, high) in entries.into_iter().rev() {
        let end: &dyn std::fmt::Display = &"end";
        let place =
            [("class", &"faint" as _), ("x", &Px(x) as _), ("y", &17 as _), ("text-anchor", end)];
        out.text("text", &place, name);
        x -= room(name) + 21.0;
        let y = Px(13.0 - high / 2.0);
        out.leaf(
            "rect",
            &[("class", &class), ("x", &Px(x)), ("y", &y), ("width", &15), ("height", &high)],
        );
        x -= 14.0;
    }
}
