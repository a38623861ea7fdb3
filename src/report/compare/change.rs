//! Several runs of each side: medians, their ratio, and whether it is more than chance.

use super::super::Style;
use super::super::figure::{digits, time};
use super::super::paint::{Ink, columns, ink};
use super::{named, shown};
use crate::plan::Action;
use crate::record::{Pair, Quantity, Record, Trust};
use crate::stats::{self, Change, FEWEST, Ratio, SMALLEST, Total};
use crate::unit::Nanos;
use crate::verdict::Unlike;

/// Columns of the name of a figure, of its unit, of a side and of the ratio.
const NAME: usize = 18;
const UNIT: usize = 5;
const SIDE: usize = 20;
const RATIO: usize = 18;

/// What is compared of a total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Rate,
    Operations,
    Tail,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Rate, Self::Operations, Self::Tail];

    /// The figure of a total: MB per second, operations per second where no bytes are moved, and the
    /// 99th percentile of the latency in nanoseconds, where ten I/Os or more were slower.
    fn of(self, total: &Total) -> Option<f64> {
        let moves = total.bytes.0 > 0;
        match self {
            Self::Rate => total.bandwidth.filter(|_| moves).map(|rate| rate.mb()),
            Self::Operations => total.iops.filter(|_| !moves).map(|iops| iops.0),
            Self::Tail => {
                let latency = total.lat_ns.as_ref().filter(|_| total.events_beyond(0.99) >= 10.0);
                latency.map(|latency| latency.p99 as f64)
            }
        }
    }

    fn quantity(self) -> Quantity {
        match self {
            Self::Rate => Quantity::MegabytesPerSecond,
            Self::Operations => Quantity::OperationsPerSecond,
            Self::Tail => Quantity::P99Ns,
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Self::Rate => "MB/s",
            Self::Operations => "op/s",
            Self::Tail => "p99",
        }
    }

    /// What the second side is.
    fn word(self, change: Change) -> &'static str {
        match (change, self) {
            (Change::Open, _) => "open",
            (Change::Same, _) => "same",
            (Change::More, Self::Rate | Self::Operations) | (Change::Less, Self::Tail) => "faster",
            (Change::Less, Self::Rate | Self::Operations) | (Change::More, Self::Tail) => "slower",
        }
    }

    fn told(self, value: f64, style: Style) -> String {
        match self {
            Self::Rate | Self::Operations => digits(value),
            Self::Tail => time(Nanos(value.round() as u64), style),
        }
    }
}

/// A figure that both sides have.
pub(super) struct Row {
    name: String,
    phase: String,
    action: Action,
    kind: Kind,
    first: Vec<f64>,
    second: Vec<f64>,
    ratio: Option<Ratio>,
    /// The worst that is thought of the figures of both sides.
    pub trust: Trust,
}

/// The figures of all phases that both sides have.
pub(super) fn rows(first: &[&Record], second: &[&Record], unlike: &Unlike) -> Vec<Row> {
    let alone = first.iter().chain(second).all(|record| record.plan.phases.len() == 1);
    let mut names: Vec<(&str, Action)> = Vec::new();
    for (phase, action) in
        first.iter().flat_map(|record| of(record)).map(|(name, action, _)| (name, action))
    {
        if !names.contains(&(phase, action)) {
            names.push((phase, action));
        }
    }
    let all = |side: &[&Record], name: &str, action: Action, kind: Kind| -> Vec<f64> {
        let totals = side.iter().flat_map(|record| of(record));
        totals
            .filter(|(phase, done, _)| (alone || *phase == name) && *done == action)
            .filter_map(|(.., total)| kind.of(total))
            .collect()
    };
    let thought = |name: &str| {
        let these = unlike.figures.iter().filter(|(phase, _)| alone || *phase == name);
        these.map(|(_, trust)| *trust).max().unwrap_or(Trust::Sound)
    };
    let mut rows = Vec::new();
    for (phase, action) in &names {
        for kind in Kind::ALL {
            let (first, second) =
                (all(first, phase, *action, kind), all(second, phase, *action, kind));
            if !first.is_empty() && !second.is_empty() {
                let single = names.iter().filter(|(name, _)| name == phase).count() == 1;
                let name = named(phase, *action, single);
                let (phase, action, trust) = (phase.to_string(), *action, thought(phase));
                rows.push(Row { name, phase, action, kind, first, second, ratio: None, trust });
            }
        }
    }
    let among = rows.len();
    for row in rows.iter_mut().filter(|row| unlike.runs && row.trust == Trust::Sound) {
        row.ratio = stats::ratio(&row.first, &row.second, among);
    }
    rows
}

/// Each total of a record, and its phase, whichever repetition of that it is.
fn of(record: &Record) -> impl Iterator<Item = (&str, Action, &Total)> {
    record.phases.iter().flat_map(|phase| {
        let name = record.repeated(&phase.name);
        shown(phase).map(move |(action, total)| (name, action, total))
    })
}

/// The rows as values; one run each has no ratio.
pub(super) fn pairs(rows: Vec<Row>) -> Vec<Pair> {
    let ratios = repeated(&rows);
    let pair = |row: Row| Pair {
        phase: row.phase,
        action: row.action,
        quantity: row.kind.quantity(),
        first: row.first,
        second: row.second,
        trust: row.trust,
        ratio: row.ratio.filter(|_| ratios),
    };
    rows.into_iter().map(pair).collect()
}

/// The rows, with their ratios where the sides may be compared.
pub(super) fn table(rows: &[Row], comparable: bool, style: Style) -> Vec<String> {
    let mut heading = format!("  {:NAME$} {:UNIT$}{:>SIDE$}{:>SIDE$}", "", "", "first", "second");
    if comparable {
        heading.push_str(&format!("{:>RATIO$}", "second / first"));
    }
    let mut lines = vec![style.paint(Ink::Faint, &heading)];
    let mut before = "";
    for row in rows {
        let name = if row.name == before { "" } else { &row.name };
        before = &row.name;
        let mut line = format!("  {name:NAME$} {:UNIT$}", row.kind.unit());
        // A long name takes from what follows rather than pushing it away.
        let over = columns(&line).saturating_sub(3 + NAME + UNIT);
        let cell = |side: &[f64]| ranged(side, |value| row.kind.told(value, style), style);
        for (text, room) in
            [(cell(&row.first), SIDE.saturating_sub(over)), (cell(&row.second), SIDE)]
        {
            line.push_str(&" ".repeat(room.saturating_sub(columns(&text)).max(1)));
            line.push_str(&text);
        }
        if let Some(ratio) = row.ratio {
            line.push_str(&ratio_of(row, ratio, style));
        } else if comparable && row.trust != Trust::Sound {
            let word = format!("{:>RATIO$}", row.trust.name());
            line.push_str(&style.paint(ink(row.trust), &word));
        }
        lines.push(line);
    }
    lines
}

/// `4.17 (4.15–4.19)`: the median, the smallest and the largest.
fn ranged(values: &[f64], told: impl Fn(f64) -> String, style: Style) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let middle = told(stats::median(values).unwrap_or(f64::NAN));
    let (least, most) = (told(least), told(most));
    if least == most {
        return middle;
    }
    let unit = |text: &str| text.split_once(' ').map(|(_, unit)| unit.to_string());
    let number = |text: &str| text.split(' ').next().unwrap_or_default().to_string();
    let range = if unit(&least) == unit(&most) && unit(&middle) == unit(&most) {
        (number(&least), number(&most))
    } else {
        (least, most)
    };
    format!("{middle} ({}{}{})", range.0, style.glyph("–", "-"), range.1)
}

/// The ratio with its interval, and the word for it.
fn ratio_of(row: &Row, ratio: Ratio, style: Style) -> String {
    let Some(sure) = ratio.sure else {
        return format!("{:>RATIO$}", digits(ratio.value));
    };
    let dash = style.glyph("–", "-");
    let text = format!("{} ({}{dash}{})", digits(ratio.value), digits(sure.low), digits(sure.high));
    let word = row.kind.word(sure.change);
    let ink = match word {
        "faster" => Ink::Good,
        "slower" => Ink::Careful,
        _ => Ink::Faint,
    };
    let gap = " ".repeat(RATIO.saturating_sub(columns(&text)).max(1));
    format!("{gap}{text} {}", style.paint(ink, word))
}

/// Whether a figure of either side was taken more than once.
pub(super) fn repeated(rows: &[Row]) -> bool {
    rows.iter().any(|row| row.first.len().max(row.second.len()) > 1)
}

/// What may be said of several runs of a side.
pub(super) fn told(rows: &[Row]) -> String {
    let believed = rows.iter().filter(|row| row.trust == Trust::Sound);
    let fewest = believed.map(|row| row.first.len().min(row.second.len())).min().unwrap_or(0);
    let sure: Vec<_> =
        rows.iter().filter_map(|row| Some((row, row.ratio?, row.ratio?.sure?))).collect();
    if sure.is_empty() {
        return format!(
            "nothing that the records hold forbids to compare them. From {fewest} of a side no difference can be told from chance: make {FEWEST} or more of each."
        );
    }
    let mut said = Vec::new();
    for word in ["faster", "slower", "same", "open"] {
        let these = sure.iter().filter(|(row, _, sure)| row.kind.word(sure.change) == word);
        let names: Vec<String> = these
            .map(|(row, ratio, _)| {
                let what = match row.kind {
                    Kind::Tail => format!("{} at p99", row.name),
                    Kind::Rate | Kind::Operations => row.name.clone(),
                };
                if matches!(word, "faster" | "slower") {
                    format!("{what} ({} times)", digits(ratio.value))
                } else {
                    what
                }
            })
            .collect();
        if names.is_empty() {
            continue;
        }
        let names = names.join(", ");
        said.push(match word {
            "same" => format!("the same within {:.0} % in {names}", SMALLEST * 100.0),
            "open" => format!("not to be told from chance in {names}: more runs would"),
            word => format!("{word} in {names}"),
        });
    }
    format!(
        "the second is {}. Sides: median, smallest and largest of the runs; ratio: its interval, by resampling the runs, which holds with 95 % for all lines together.",
        said.join("; ")
    )
}
