//! Tables for other programs, with commas: of a sweep its cells, of anything else a line for each
//! phase and action.

use std::io::{self, Write};

use super::figure::is_known;
use super::{Format, Style, rates, row, sweep};
use crate::plan::Action;
use crate::record::{PhaseRecord, Record};
use crate::stats::Total;
use crate::verdict::sweep::swept;

/// The table of a record.
pub const FORMAT: Format = Format {
    name: "csv",
    ending: "csv",
    about: "a table with commas: the cells of a sweep, or the phases",
    write,
};

/// The names of the columns. Sizes are bytes, rates per second; the spread is a share of the median.
const HEAD: &str = "phase,action,block_bytes,in_flight,ops,bytes,errors,time_ns,bytes_per_second,iops,\
                    lat_p50_ns,lat_p99_ns,lat_max_ns,spread,trust,measures,device_bytes_per_second";

fn write(record: &Record, _style: Style, out: &mut dyn Write) -> io::Result<()> {
    if let Some(swept) = swept(record) {
        return sweep::csv(&swept, out);
    }
    writeln!(out, "{HEAD}")?;
    for phase in &record.phases {
        for (index, (action, total)) in row::done(phase).into_iter().enumerate() {
            writeln!(out, "{}", line(record, phase, action, total, index == 0))?;
        }
    }
    Ok(())
}

/// A line; what is absent is empty.
fn line(
    record: &Record,
    phase: &PhaseRecord,
    action: Action,
    total: &Total,
    first: bool,
) -> String {
    let planned = record.plan.phases.iter().find(|planned| planned.name == phase.name);
    let load = planned.and_then(|planned| row::load(planned, &record.resolved.jobs));
    let rate = |rate: f64| format!("{rate:.0}");
    let lat = total.lat_ns;
    let quantile = |q: f64, value: Option<u64>| text(value.filter(|_| is_known(total, q)));
    let verdict = phase.verdict.as_ref();
    let moved = (total.bytes.0 > 0).then_some(total.bandwidth).flatten();
    [
        quoted(&phase.name),
        action.name().into(),
        text(load.map(|(block, _)| block.0)),
        text(load.and_then(|(_, depth)| depth)),
        total.ops.0.to_string(),
        total.bytes.0.to_string(),
        total.errors.to_string(),
        total.time.0.to_string(),
        text(moved.map(|moved| rate(moved.0))),
        text(total.iops.map(|iops| format!("{:.2}", iops.0))),
        quantile(0.5, lat.map(|lat| lat.p50)),
        quantile(0.99, lat.map(|lat| lat.p99)),
        text(lat.map(|lat| lat.max)),
        text(rates::spread(phase).filter(|_| first).map(|share| format!("{share:.4}"))),
        text(verdict.map(|verdict| verdict.trust.name())),
        text(verdict.map(|verdict| verdict.measures.name())),
        text(verdict.and_then(|verdict| verdict.corrected.as_ref()).map(|it| rate(it.value))),
    ]
    .join(",")
}

fn text(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// A text as a field (RFC 4180): quoted only where it must be.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_where_they_must_be() {
        assert_eq!(quoted("seq-write"), "seq-write");
        assert_eq!(quoted("a, \"b\""), "\"a, \"\"b\"\"\"");
    }
}
