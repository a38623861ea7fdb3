//! assay's own output: one file per format, and the lines that dialects put on standard error.
//!
//! Everything here turns a finished [`Record`] into words and touches nothing. What a terminal can
//! show is decided by the caller and handed in as a [`Style`].

mod aim;
mod capacity;
mod card;
mod chart;
pub mod compare;
mod csv;
pub mod explain;
pub mod fact;
mod figure;
mod framed;
mod gist;
pub mod heading;
mod html;
mod json;
pub mod lesson;
pub mod live;
mod markup;
pub mod modes;
mod paint;
mod picture;
pub mod probe;
mod profile;
mod ramp;
mod rates;
mod remark;
mod row;
mod sustain;
mod svg;
pub mod sweep;
pub mod text;
mod traps;
pub mod watch;

pub use paint::Style;
pub use remark::{remarks, verdict_lines};

use std::io::{self, Write};

use crate::plan::{Aim, Plan};
use crate::record::{Outcome, PhaseRecord, Record, Resolved, Trust};
use crate::verdict::lesson::Taught;
use framed::Framed;

/// A way to write a record down.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Its name on the command line.
    pub name: &'static str,
    /// How names of files end that hold it, without the dot.
    pub ending: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Writes a whole record.
    pub write: fn(&Record, Style, &mut dyn Write) -> io::Result<()>,
}

/// A page for a person, which grows while a run goes on.
pub trait Page {
    /// What was asked and what the device is.
    ///
    /// # Errors
    /// When the output can not be written.
    fn opening(&mut self, plan: &Plan, resolved: &Resolved, out: &mut dyn Write) -> io::Result<()>;

    /// The figures of a phase, and what is to be said about them.
    ///
    /// # Errors
    /// When the output can not be written.
    fn phase(
        &mut self,
        record: &Record,
        phase: &PhaseRecord,
        out: &mut dyn Write,
    ) -> io::Result<()>;

    /// The verdict on the whole, in plain words, and what to type next.
    ///
    /// # Errors
    /// When the output can not be written.
    fn closing(&mut self, record: &Record, out: &mut dyn Write) -> io::Result<()>;
}

/// An empty page in the form that suits what a plan aims at, and the verb it comes from.
pub fn page(plan: &Plan, style: Style) -> Box<dyn Page> {
    match &plan.aim {
        Some(Aim::Lesson(lesson)) => return Box::new(lesson::Page::new(lesson, style)),
        Some(Aim::Sweep(_)) => return Box::new(Framed::new(sweep::Table(style), style)),
        Some(Aim::Profile(_)) => return Box::new(Framed::new(profile::Table(style), style)),
        Some(Aim::Capacity) => return Box::new(capacity::Page::new(style)),
        _ => {}
    }
    match plan.origin.dialect.as_str() {
        modes::VERB => Box::new(Framed::new(modes::Modes::new(style), style)),
        _ => Box::new(text::Text::new(style)),
    }
}

/// May what the page says be believed; `None` of a record that was not judged.
pub fn trust(record: &Record) -> Option<Trust> {
    if let Some(taught) = Taught::of(record) {
        return lesson::trust(record, &taught);
    }
    if let Some(Outcome::Capacity(found)) = &record.outcome {
        return Some(capacity::trust(found));
    }
    match record.plan.origin.dialect.as_str() {
        modes::VERB => modes::trust(record),
        _ => record.verdict.as_ref().map(|verdict| verdict.trust),
    }
}

/// Every format, the usual one first.
pub const FORMATS: &[Format] =
    &[text::FORMAT, json::FORMAT, html::FORMAT, svg::FORMAT, csv::FORMAT];

/// Writes a record in the format of that name; `None` when there is no such format.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}
