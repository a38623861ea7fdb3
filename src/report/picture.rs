//! Pictures as values: what is to be seen, apart from how it is drawn (`report::svg`). They are made
//! from a record by pure functions, from the same figures as the text page.

mod axis;
mod latency;
mod look;
mod phase;
mod ramp;
mod surface;
mod sustain;
mod sweep;
mod timeline;

pub use axis::PlotAxis;
pub use look::{FigureLook, Tone};
pub use phase::pictures as of_phase;
pub use ramp::pictures as of_ramp;
pub use surface::pictures as of_grid;
pub use sustain::pictures as of_sustain;
pub use sweep::pictures as of_sweep;

use super::paint::TerminalStyle;
use assay_record::record::{GridRegion, PhaseRecord};

/// What browsers and viewers of pictures can show.
pub const SHOWN: TerminalStyle = TerminalStyle { colour: false, unicode: true, width: 90 };

#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub title: String,
    /// Two of them stand side by side.
    pub half: bool,
    pub plot: PlotKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum PlotKind {
    /// Points and lines between two axes.
    Curves(Curves),
    /// A table of figures, the deeper its colour the closer to the best.
    Heat(HeatTable),
    /// Figures over two sizes: as a surface, and as a table below it.
    Surface(SurfacePlot),
}

/// Points and lines between two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    /// The axis at the foot.
    pub across: PlotAxis,
    /// The axis at the left.
    pub up: PlotAxis,
    /// What is drawn, the hindmost first.
    pub series: Vec<PlotSeries>,
    /// What is marked in it.
    pub signs: Vec<PlotMark>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlotSeries {
    /// Its name in the legend.
    pub name: String,
    pub tone: Tone,
    /// How its points are joined.
    pub form: LineForm,
    /// The points, from the left to the right.
    pub points: Vec<PlotPoint>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineForm {
    /// Each has a mark, and lines join them.
    Marks,
    /// Each has a mark, and nothing joins them.
    Dots,
    Line,
    Ground,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlotPoint {
    /// Where on the axis at the foot.
    pub x: f64,
    /// Where on the axis at the left.
    pub y: f64,
    /// Whether it may be believed.
    pub look: FigureLook,
    /// What it is in words, for who points at it; empty where a line says enough.
    pub told: String,
}

/// Something that is marked in a plot.
#[derive(Clone, Debug, PartialEq)]
pub enum PlotMark {
    /// A line from the foot to the top, and words beside it.
    At {
        /// Where on the axis at the foot.
        x: f64,
        text: String,
    },
    /// A field in a pale colour, and its name in the legend.
    Field {
        tone: Tone,
        /// Its name; of several fields the first tells for all.
        name: String,
        /// From where to where on the axis at the foot.
        x: (f64, f64),
        /// From where to where on the axis at the left.
        y: (f64, f64),
    },
    /// A line from the left to the right, and words above it.
    Level {
        /// Where on the axis at the left.
        y: f64,
        text: String,
    },
    /// There is no figure here.
    Absent {
        /// Where on the axis at the foot.
        x: f64,
        told: String,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct HeatTable {
    /// What varies from row to row, and the values.
    pub down: (String, Vec<String>),
    /// What varies from column to column, and the values.
    pub across: (String, Vec<String>),
    pub tone: Tone,
    /// Row by row; `None` where the table has no cell.
    pub cells: Vec<Vec<Option<HeatCell>>>,
}

/// A figure of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatCell {
    /// As a share of the best, 0 to 1; 0 where there is no figure.
    pub share: f64,
    pub text: String,
    /// Whether it may be believed.
    pub look: FigureLook,
    /// What it is in words, for who points at it.
    pub told: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SurfacePlot {
    /// The sizes of the file, row by row.
    pub down: Vec<String>,
    /// The sizes of a record, column by column.
    pub across: Vec<String>,
    /// Its colour, where it is the device.
    pub tone: Tone,
    /// The highest rate of all.
    pub top: String,
    /// Row by row; `None` where a cell was not done.
    pub cells: Vec<Vec<Option<SurfaceCell>>>,
    /// What there is of the machine in it.
    pub regions: Vec<GridRegion>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceCell {
    /// As a share of the highest rate of all, 0 to 1.
    pub height: f64,
    /// As a share of the highest rate of the device, 0 to 1; 0 of memory.
    pub depth: f64,
    pub text: String,
    pub region: GridRegion,
    /// What it is in words, for who points at it.
    pub told: String,
}

/// The figure and what is to be said of it: `64 KiB written: 86.8 MB/s, sound · device`.
fn told(what: &str, figure: &str, phase: Option<&PhaseRecord>) -> String {
    let verdict = phase.and_then(|phase| phase.verdict.as_ref());
    match verdict {
        Some(found) => {
            format!("{what}: {figure}, {}", SHOWN.judgement(found.trust, found.measures))
        }
        None => format!("{what}: {figure}"),
    }
}

/// The most that an axis has to show: of figures that are not refuted, as long as there are any. One
/// that is shall not make the others small.
fn most(figures: impl Iterator<Item = (FigureLook, f64)> + Clone) -> f64 {
    let highest = |figures: &mut dyn Iterator<Item = f64>| figures.fold(0.0, f64::max);
    let stands = figures.clone().filter(|(look, _)| *look != FigureLook::Struck);
    match highest(&mut stands.map(|(_, figure)| figure)) {
        0.0 => highest(&mut figures.map(|(_, figure)| figure)),
        most => most,
    }
}
