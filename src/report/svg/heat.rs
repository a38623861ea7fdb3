//! A table of figures on coloured ground.

use super::super::markup::Markup;
use super::super::picture::{FigureLook, HeatCell, HeatTable};
use super::shapes::{Pixels, class, letters, room};

/// Room above the cells (title, what is across, its values), and the height of a row.
const ABOVE: f64 = 62.0;
const ROW: f64 = 30.0;
/// A cell is no wider than this.
const WIDEST: f64 = 140.0;
/// The deepest colour on which letters can be read.
const DEEPEST: f64 = 0.6;

/// How high the picture is.
pub fn height(heat: &HeatTable) -> f64 {
    ABOVE + ROW * heat.cells.len() as f64 + 12.0
}

/// Draws the table into a picture of that width.
pub fn draw(heat: &HeatTable, width: f64, out: &mut Markup) {
    let rows = heat.down.1.iter();
    let left = rows.map(|name| room(name)).fold(40.0, f64::max) + 18.0;
    let columns = heat.across.1.len().max(1) as f64;
    let cell = ((width - left - 4.0) / columns).min(WIDEST);
    let middle = left + cell * columns / 2.0;
    letters("unit", (middle, 34.0), "middle", &heat.across.0, out);
    for (at, name) in heat.across.1.iter().enumerate() {
        letters("tick", (left + cell * (at as f64 + 0.5), 54.0), "middle", name, out);
    }
    letters("unit", (0.0, 54.0), "start", short(&heat.down.0), out);
    for (at, (name, cells)) in heat.down.1.iter().zip(&heat.cells).enumerate() {
        let y = ABOVE + ROW * at as f64;
        letters("tick", (left - 10.0, y + ROW / 2.0 + 4.0), "end", name, out);
        for (column, found) in cells.iter().enumerate() {
            let x = left + cell * column as f64;
            if let Some(found) = found {
                one(found, class(heat.tone), (x, y, cell), out);
            }
        }
    }
}

/// The first word of what varies from row to row: there is room for no more.
fn short(title: &str) -> &str {
    title.split(' ').next().unwrap_or_default()
}

/// A cell. What is refuted gets no colour: it is no good figure, however high.
fn one(cell: &HeatCell, tone: &str, (x, y, width): (f64, f64, f64), out: &mut Markup) {
    let (wide, high) = (width - 2.0, ROW - 2.0);
    let (class, opacity) = match cell.look {
        FigureLook::Struck => ("void".to_string(), 1.0),
        _ if cell.share <= 0.0 => ("none".to_string(), 1.0),
        _ => (format!("{tone} heat"), 0.04 + (DEEPEST - 0.04) * cell.share),
    };
    let opacity = format!("{opacity:.2}");
    out.told(
        "rect",
        &[
            ("class", &class),
            ("x", &Pixels(x)),
            ("y", &Pixels(y)),
            ("width", &Pixels(wide)),
            ("height", &Pixels(high)),
            ("fill-opacity", &opacity),
        ],
        &cell.told,
    );
    let faint = cell.look == FigureLook::Struck || cell.share <= 0.0;
    let class = if faint { "faint cell" } else { "cell" };
    letters(class, (x + wide / 2.0, y + high / 2.0 + 4.0), "middle", &cell.text, out);
}
