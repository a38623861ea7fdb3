//! ATTO's table: a size, how fast it was written and read, and two bars.

use std::io::{self, Write};

use super::{Options, data, rule};
use crate::plan::{Axis, Plan};
use crate::record::{PhaseRecord, Record, Resolved};
use crate::report::sweep::{Columns, left_out, rows};
use crate::report::{Page, Style, fact, heading};
use crate::verdict::sweep::Sweep;

/// The table while it grows: it stands at the end, for its scale is its highest figure.
#[derive(Debug)]
pub struct Atto<'a> {
    options: &'a Options,
    style: Style,
}

impl<'a> Atto<'a> {
    /// An empty page.
    pub fn new(options: &'a Options, style: Style) -> Self {
        Self { options, style }
    }
}

impl Page for Atto<'_> {
    fn opening(&mut self, plan: &Plan, resolved: &Resolved, out: &mut dyn Write) -> io::Result<()> {
        let (options, style) = (self.options, self.style);
        let mut lines = heading::lines(plan, resolved, style);
        lines.extend(heading::labelled("row", &rule(options), style));
        lines.extend(heading::labelled("data", data(options), style));
        if !options.direct {
            let text = "direct I/O is off: the page cache takes part in these figures";
            lines.extend(heading::labelled("cached", text, style));
        }
        if !options.description.is_empty() {
            lines.extend(heading::labelled("about", &options.description, style));
        }
        heading::put(&lines, out)
    }

    fn phase(
        &mut self,
        _record: &Record,
        phase: &PhaseRecord,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        phase.faults.iter().try_for_each(|fault| writeln!(out, "  {}: {fault}\n", phase.name))
    }

    fn closing(&mut self, record: &Record, out: &mut dyn Write) -> io::Result<()> {
        let Some(sweep) = Sweep::of(record) else { return Ok(()) };
        let columns = Columns {
            unit: self.options.unit,
            flush: !self.options.write_through,
            title: Some("I/O size"),
        };
        let mut lines = rows(&sweep, Axis::Block, &columns, self.style);
        let absent = fact::lines(&left_out(&sweep), self.style);
        if !absent.is_empty() {
            lines.push(String::new());
            lines.extend(absent);
        }
        if sweep.spots.iter().any(|row| row.cut()) {
            lines.push(String::new());
            let text = "this row's time was over before its length was done";
            lines.extend(heading::labelled("*", text, self.style));
        }
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))
    }
}
