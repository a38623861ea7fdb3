//! Rates over two sizes: a surface seen from above one corner, and the same figures as a table below it. What is
//! memory is grey and hatched, a cache of the CPU crosswise; only the device has a colour.

use super::super::markup::Markup;
use super::super::picture::{SurfaceCell, SurfacePlot};
use super::shapes::{Pixels, class, letters, line, room};
use assay_record::record::GridRegion;

/// Room for the title; half the width and half the depth of the ground, and the height of the highest point.
const ABOVE: f64 = 34.0;
const SIDE: f64 = 290.0;
const SLOPE: f64 = 84.0;
const PEAK: f64 = 150.0;
/// From the back of the ground to below the names at its front.
const GROUND: f64 = 2.0 * SLOPE + 34.0;
/// Room above the cells of the table, the height of a row, and the widest cell.
const HEAD: f64 = 44.0;
const ROW: f64 = 26.0;
const WIDEST: f64 = 110.0;
/// The line that says what the colours mean.
const KEY: f64 = 26.0;
/// The deepest colour on which letters can be read.
const DEEPEST: f64 = 0.6;
/// Pixels between two lines of a hatching, and how strong it is.
const APART: f64 = 6.0;
const FAINT: &str = "0.45";

type Spot = (f64, f64);

/// Whether there are enough cells for a surface.
fn is_surface(plot: &SurfacePlot) -> bool {
    plot.down.len() > 1 && plot.across.len() > 1
}

/// How high the picture is.
pub fn height(plot: &SurfacePlot) -> f64 {
    let surface = if is_surface(plot) { PEAK + GROUND } else { 0.0 };
    ABOVE + surface + HEAD + ROW * plot.down.len() as f64 + KEY
}

/// Draws it into a picture of that width.
pub fn draw(plot: &SurfacePlot, width: f64, out: &mut Markup) {
    let mut top = ABOVE;
    if is_surface(plot) {
        surface(plot, width / 2.0, top + PEAK, out);
        top += PEAK + GROUND;
    }
    table(plot, (width, top), out);
    key(plot, top + HEAD + ROW * plot.down.len() as f64 + 18.0, out);
}

/// Where the surface stands: the middle of the picture, and the back of its ground.
struct GroundFrame {
    middle: f64,
    back: f64,
}

impl GroundFrame {
    /// A place: shares of the way across and towards the reader, and of the height.
    fn at(&self, across: f64, near: f64, height: f64) -> Spot {
        let x = self.middle + (across - near) * SIDE;
        (x, self.back + (across + near) * SLOPE - height * PEAK)
    }
}

/// The surface, from the back to the front.
fn surface(plot: &SurfacePlot, middle: f64, back: f64, out: &mut Markup) {
    let frame = GroundFrame { middle, back };
    let (rows, columns) = (plot.down.len(), plot.across.len());
    let share = |at: usize, of: usize| at as f64 / (of - 1) as f64;
    ground(plot, &frame, out);
    let corner = |row: usize, column: usize| {
        let cell = plot.cells.get(row)?.get(column)?.as_ref()?;
        Some((frame.at(share(column, columns), share(row, rows), cell.height), cell))
    };
    // What lies behind is drawn first.
    for behind in 0..rows + columns - 3 + 1 {
        for row in 0..(rows - 1).min(behind + 1) {
            let column = behind - row;
            if column + 1 >= columns {
                continue;
            }
            let around =
                [(row, column), (row, column + 1), (row + 1, column + 1), (row + 1, column)];
            let corners: Vec<_> = around.into_iter().filter_map(|(r, c)| corner(r, c)).collect();
            if corners.len() > 2 {
                facet(&corners, class(plot.tone), out);
            }
        }
    }
}

/// The ground with the names of its sides, and the height at its left.
fn ground(plot: &SurfacePlot, frame: &GroundFrame, out: &mut Markup) {
    let corners =
        [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|(x, y)| frame.at(x, y, 0.0));
    for (at, from) in corners.iter().enumerate() {
        line("grid", *from, corners[(at + 1) % corners.len()], out);
    }
    let (foot, top) = (frame.at(0.0, 1.0, 0.0), frame.at(0.0, 1.0, 1.0));
    line("edge", foot, top, out);
    letters("tick", (top.0 - 6.0, top.1 + 4.0), "end", &plot.top, out);
    letters("tick", (foot.0 - 6.0, foot.1 + 4.0), "end", "0", out);
    let every = |names: &[String]| names.len().div_ceil(7).max(1);
    let named = |names: &[String]| {
        let step = every(names);
        let last = names.len() - 1;
        let shown = names.iter().cloned().enumerate().filter(move |(at, _)| at % step == 0);
        shown.map(move |(at, name)| (at as f64 / last as f64, name)).collect::<Vec<_>>()
    };
    for (share, name) in named(&plot.across) {
        let (x, y) = frame.at(share, 1.0, 0.0);
        letters("tick", (x - 4.0, y + 15.0), "end", &name, out);
    }
    for (share, name) in named(&plot.down) {
        let (x, y) = frame.at(1.0, share, 0.0);
        letters("tick", (x + 6.0, y + 13.0), "start", &name, out);
    }
    let (left, right) = (frame.at(0.35, 1.0, 0.0), frame.at(1.0, 0.35, 0.0));
    letters("unit", (left.0 - 60.0, left.1 + 26.0), "end", "record", out);
    letters("unit", (right.0 + 60.0, right.1 + 26.0), "start", "file", out);
}

/// A part of the surface between neighbours. It is of the device where all its corners are.
fn facet(corners: &[(Spot, &SurfaceCell)], tone: &str, out: &mut Markup) {
    let spots: Vec<Spot> = corners.iter().map(|(spot, _)| *spot).collect();
    let outline = outline(&spots);
    out.leaf("path", &[("class", &"paper"), ("d", &outline)]);
    let memory = corners.iter().map(|(_, cell)| cell.region).filter(|region| region.is_memory());
    match memory.min() {
        None => {
            let depth: f64 = corners.iter().map(|(_, cell)| cell.depth).sum();
            let depth = format!("{:.2}", 0.15 + 0.7 * depth / corners.len() as f64);
            out.leaf("path", &[("class", &tone), ("d", &outline), ("fill-opacity", &depth)]);
        }
        Some(region) => {
            out.leaf("path", &[("class", &"edge"), ("d", &outline), ("fill", &"none")]);
            hatch(&spots, region, out);
        }
    }
}

/// The figures as a table, files down and records across.
fn table(plot: &SurfacePlot, (width, top): (f64, f64), out: &mut Markup) {
    let left = plot.down.iter().map(|name| room(name)).fold(40.0, f64::max) + 18.0;
    let cell = ((width - left - 4.0) / plot.across.len().max(1) as f64).min(WIDEST);
    let middle = left + cell * plot.across.len() as f64 / 2.0;
    letters("unit", (middle, top + 16.0), "middle", "record", out);
    letters("unit", (0.0, top + 36.0), "start", "file", out);
    for (at, name) in plot.across.iter().enumerate() {
        letters("tick", (left + cell * (at as f64 + 0.5), top + 36.0), "middle", name, out);
    }
    for (at, (name, cells)) in plot.down.iter().zip(&plot.cells).enumerate() {
        let y = top + HEAD + ROW * at as f64;
        letters("tick", (left - 10.0, y + ROW / 2.0 + 4.0), "end", name, out);
        for (column, found) in cells.iter().enumerate() {
            if let Some(found) = found {
                let x = left + cell * column as f64;
                one(found, class(plot.tone), (x, y, cell - 2.0), out);
            }
        }
    }
}

/// A cell of the table.
fn one(cell: &SurfaceCell, tone: &str, (x, y, width): (f64, f64, f64), out: &mut Markup) {
    let high = ROW - 2.0;
    ground_of(cell.region, cell.depth, tone, (x, y, width, high), &cell.told, out);
    let class = if cell.region.is_memory() { "faint cell" } else { "cell" };
    letters(class, (x + width / 2.0, y + high / 2.0 + 4.0), "middle", &cell.text, out);
}

/// The ground of a cell: its colour, or its hatching.
fn ground_of(
    region: GridRegion,
    depth: f64,
    tone: &str,
    (x, y, width, high): (f64, f64, f64, f64),
    told: &str,
    out: &mut Markup,
) {
    let memory = region.is_memory();
    let class = match () {
        () if memory => "device heat".to_string(),
        () if depth <= 0.0 => "none".into(),
        () => format!("{tone} heat"),
    };
    let opacity =
        if memory { "0.12".to_string() } else { format!("{:.2}", 0.04 + (DEEPEST - 0.04) * depth) };
    out.told(
        "rect",
        &[
            ("class", &class),
            ("x", &Pixels(x)),
            ("y", &Pixels(y)),
            ("width", &Pixels(width)),
            ("height", &Pixels(high)),
            ("fill-opacity", &opacity),
        ],
        told,
    );
    if memory {
        let corners = [(x, y), (x + width, y), (x + width, y + high), (x, y + high)];
        hatch(&corners, region, out);
    }
}

/// What the colours mean, as far as they are there.
fn key(plot: &SurfacePlot, y: f64, out: &mut Markup) {
    let mut x = 0.0;
    for region in &plot.regions {
        let depth = if *region == GridRegion::Unknown { 0.0 } else { 0.7 };
        ground_of(*region, depth, class(plot.tone), (x, y - 11.0, 22.0, 14.0), "", out);
        let name = region.name();
        letters("tick", (x + 28.0, y), "start", &name, out);
        x += 28.0 + room(&name) + 18.0;
    }
}

/// `M1,2 L3,4 Z`.
fn outline(spots: &[Spot]) -> String {
    let mut path = String::new();
    for (x, y) in spots {
        path.push_str(if path.is_empty() { "M" } else { " L" });
        path.push_str(&format!("{},{}", Pixels(*x), Pixels(*y)));
    }
    path + " Z"
}

/// Slanting lines inside of an outline that has no dents; of a cache of the CPU both ways.
fn hatch(spots: &[Spot], region: GridRegion, out: &mut Markup) {
    // The less of it is memory, the wider.
    let apart = if region == GridRegion::Mixed { 2.0 * APART } else { APART };
    let mut path = slanting(spots, 1.0, apart);
    if matches!(region, GridRegion::CpuCache(_)) {
        path += &slanting(spots, -1.0, apart);
    }
    if !path.is_empty() {
        out.leaf("path", &[("class", &"edge"), ("d", &path.trim()), ("stroke-opacity", &FAINT)]);
    }
}

/// The parts of the lines `x + slant * y = n * apart` that lie inside.
fn slanting(spots: &[Spot], slant: f64, apart: f64) -> String {
    let along = |spot: &Spot| spot.0 + slant * spot.1;
    let least = spots.iter().map(along).fold(f64::INFINITY, f64::min);
    let most = spots.iter().map(along).fold(f64::NEG_INFINITY, f64::max);
    let mut path = String::new();
    let mut level = (least / apart).floor() * apart + apart;
    while level < most {
        let sides = spots.iter().zip(spots.iter().cycle().skip(1));
        let crossed: Vec<Spot> = sides
            .filter(|(a, b)| (along(a) < level) != (along(b) < level))
            .map(|(a, b)| {
                let part = (level - along(a)) / (along(b) - along(a));
                (a.0 + part * (b.0 - a.0), a.1 + part * (b.1 - a.1))
            })
            .collect();
        if let [from, to, ..] = crossed[..] {
            let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(Pixels);
            path.push_str(&format!(" M{x1},{y1} L{x2},{y2}"));
        }
        level += apart;
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hatching_stays_inside() {
        let square = [(0.0, 0.0), (12.0, 0.0), (12.0, 12.0), (0.0, 12.0)];
        assert_eq!(slanting(&square, 1.0, APART), " M6,0 L0,6 M12,0 L0,12 M12,6 L6,12");
        assert_eq!(slanting(&square[..2], 1.0, APART).matches('M').count(), 1);
        assert_eq!(slanting(&[], 1.0, APART), "");
    }
}
