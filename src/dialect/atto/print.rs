//! ATTO's table: a size, how fast it was written and read, and two bars.

use std::io::{self, Write};

use super::{AttoOptions, data, rule};
use crate::report::sweep::{SweepColumns, left_out, rows};
use crate::report::{ReportPage, TerminalStyle, fact, heading};
use assay_judge::sweep::SweepView;
use assay_plan::plan::{Plan, SweepAxis};
use assay_record::record::{PhaseRecord, Record, Resolved};

/// The table while it grows: it stands at the end, for its scale is its highest figure.
#[derive(Debug)]
pub struct AttoTable<'a> {
    options: &'a AttoOptions,
    style: TerminalStyle,
}

impl<'a> AttoTable<'a> {
    pub fn new(options: &'a AttoOptions, style: TerminalStyle) -> Self {
        Self { options, style }
    }
}

impl ReportPage for AttoTable<'_> {
    fn opening(&mut self, plan: &Plan, resolved: &Resolved, out: &mut dyn Write) -> io::Result<()> {
        let (options, style) = (self.options, self.style);
        let mut lines = heading::lines(plan, resolved, style);
        let through_memory = resolved.jobs.iter().any(|job| job.caching.through_memory());
        lines.extend(fact::labelled("row", &rule(options, through_memory), style));
        lines.extend(fact::labelled("data", data(options), style));
        if !options.direct {
            let text = "direct I/O is off: the page cache takes part in these figures";
            lines.extend(fact::labelled("cached", text, style));
        }
        if !options.description.is_empty() {
            lines.extend(fact::labelled("about", &options.description, style));
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
        let aim = super::sweep(self.options, record.plan.phases.len());
        let sweep = SweepView::of(&aim, record);
        let columns = SweepColumns {
            unit: self.options.unit,
            flush: !self.options.write_through,
            title: Some("I/O size"),
        };
        let mut lines = rows(&sweep, SweepAxis::Block, &columns, self.style);
        let absent = fact::lines(&left_out(&sweep), self.style);
        if !absent.is_empty() {
            lines.push(String::new());
            lines.extend(absent);
        }
        if sweep.params_of_cells.iter().any(|row| row.cut()) {
            lines.push(String::new());
            let text = "this row's time was over before its length was done";
            lines.extend(fact::labelled("*", text, self.style));
        }
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))
    }
}
