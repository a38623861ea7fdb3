//! Pictures as values: what is to be seen, apart from how it is drawn (`report::svg`). They are made
//! from a record by pure functions, from the same figures as the text page.

mod axis;
mod latency;
mod ramp;
mod sustain;
mod sweep;
mod timeline;

pub use axis::Axis;

use super::paint::Style;
use crate::plan::Action;
use crate::record::{PhaseRecord, Record, Side, Trust};

/// What browsers and viewers of pictures can show.
pub const SHOWN: Style = Style { colour: false, unicode: true, width: 90 };

/// A picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// What stands above it.
    pub title: String,
    /// Two of them stand side by side.
    pub half: bool,
    /// What it shows.
    pub plot: Plot,
}

/// What a picture shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Plot {
    /// Points and lines between two axes.
    Curves(Curves),
    /// A table of figures, the deeper its colour the closer to the best.
    Heat(Heat),
}

/// Points and lines between two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    /// The axis at the foot.
    pub across: Axis,
    /// The axis at the left.
    pub up: Axis,
    /// What is drawn, the hindmost first.
    pub series: Vec<Series>,
    /// What is marked in it.
    pub signs: Vec<Sign>,
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its colour.
    pub tone: Tone,
    /// How its points are joined.
    pub form: Form,
    /// The points, from the left to the right.
    pub points: Vec<Point>,
}

/// How points are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Each has a mark, and lines join them.
    Marks,
    /// Each has a mark, and nothing joins them.
    Dots,
    /// A line without marks.
    Line,
    /// The ground below them.
    Ground,
}

/// A point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// Where on the axis at the foot.
    pub x: f64,
    /// Where on the axis at the left.
    pub y: f64,
    /// Whether it may be believed.
    pub look: Look,
    /// What it is in words, for who points at it; empty where a line says enough.
    pub told: String,
}

/// A colour, by what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Writes.
    Write,
    /// Reads.
    Read,
    /// Both, or neither.
    Mixed,
    /// What the counters of the device saw.
    Device,
}

/// How a figure looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Look {
    /// It may be believed.
    #[default]
    Firm,
    /// Something speaks against it, or evidence is missing: hollow.
    Hollow,
    /// It is refuted: crossed out.
    Struck,
}

/// Something that is marked in a plot.
#[derive(Clone, Debug, PartialEq)]
pub enum Sign {
    /// A line from the foot to the top, and words beside it.
    At {
        /// Where on the axis at the foot.
        x: f64,
        /// The words.
        text: String,
    },
    /// A field in a pale colour, and its name in the legend.
    Field {
        /// Whose it is.
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
        /// The words.
        text: String,
    },
    /// There is no figure here.
    Absent {
        /// Where on the axis at the foot.
        x: f64,
        /// Why.
        told: String,
    },
}

/// A table of figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// What varies from row to row, and the values.
    pub down: (String, Vec<String>),
    /// What varies from column to column, and the values.
    pub across: (String, Vec<String>),
    /// Its colour.
    pub tone: Tone,
    /// Row by row; `None` where the table has no cell.
    pub cells: Vec<Vec<Option<HeatCell>>>,
}

/// A figure of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatCell {
    /// As a share of the best, 0 to 1; 0 where there is no figure.
    pub share: f64,
    /// The figure.
    pub text: String,
    /// Whether it may be believed.
    pub look: Look,
    /// What it is in words, for who points at it.
    pub told: String,
}

impl Look {
    /// Of a figure with that trust. One that was not judged is firm: nothing speaks against it.
    pub fn of(trust: Option<Trust>) -> Self {
        match trust {
            Some(Trust::Sound) | None => Self::Firm,
            Some(Trust::Doubtful | Trust::Unproven) => Self::Hollow,
            Some(Trust::Wrong) => Self::Struck,
        }
    }

    /// Of what was done in a phase.
    pub fn of_phase(phase: &PhaseRecord) -> Self {
        Self::of(phase.verdict.as_ref().map(|verdict| verdict.trust))
    }
}

impl Tone {
    /// Of an action.
    pub fn of(action: Action) -> Self {
        match action {
            Action::Write => Self::Write,
            Action::Read => Self::Read,
            _ => Self::Mixed,
        }
    }

    /// Of a side of a sweep.
    pub fn of_side(side: Side) -> Self {
        match side {
            Side::Write => Self::Write,
            Side::Read => Self::Read,
            Side::Mixed => Self::Mixed,
        }
    }
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
fn most(figures: impl Iterator<Item = (Look, f64)> + Clone) -> f64 {
    let highest = |figures: &mut dyn Iterator<Item = f64>| figures.fold(0.0, f64::max);
    let stands = figures.clone().filter(|(look, _)| *look != Look::Struck);
    match highest(&mut stands.map(|(_, figure)| figure)) {
        0.0 => highest(&mut figures.map(|(_, figure)| figure)),
        most => most,
    }
}

/// What the run as a whole came to; nothing of a run that only its phases show.
pub fn of_record(record: &Record) -> Vec<Picture> {
    [sweep::pictures(record), ramp::pictures(record), sustain::pictures(record)].concat()
}

/// A phase: its rate over its time, and how long its I/Os took.
pub fn of_phase(phase: &PhaseRecord) -> Vec<Picture> {
    timeline::picture(phase).into_iter().chain(latency::picture(phase)).collect()
}
