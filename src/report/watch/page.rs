//! The page on a terminal: the last interval, and a short history.

use super::columns::{DEVICE, cells, table};
use super::{TerminalStyle, clock, labelled, lost, names, processes};
use crate::report::chart::spark;
use crate::report::fitted::FittedCell;
use crate::report::paint::Ink;
use assay_plan::unit::Bandwidth;
use assay_record::record::{IntervalStats, PageStats, PressureShares};

/// The most intervals that the history shows.
const HISTORY: usize = 60;
/// Characters of the label before the history, and of the highest rate behind it.
const LABEL: usize = 11;
const MOST: usize = " most 9995 MB/s".len();

/// The page with what it remembers.
#[derive(Debug, Default)]
pub struct WatchPage {
    /// The last rates of each device that could be seen, read and written, bytes per second.
    past: Vec<PastIntervals>,
    /// Devices that could not be seen from the first interval on: the heading says why.
    unseen: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default)]
struct PastIntervals {
    read: Vec<f64>,
    write: Vec<f64>,
}

impl WatchPage {
    /// Columns of a terminal on which the page can be drawn. On wider ones it shows more figures.
    pub const LEAST: usize = 60;

    /// The part of the page that changes, after another interval. It has as many lines each time,
    /// but for processes that come and go.
    pub fn of(&mut self, interval_stats: &IntervalStats, style: TerminalStyle) -> Vec<String> {
        self.remember(interval_stats);
        self.again(interval_stats, style)
    }

    /// The same once more, of the last interval.
    pub fn again(&self, interval_stats: &IntervalStats, style: TerminalStyle) -> Vec<String> {
        let width = style.width;
        // Some terminals wrap when their last column is written to.
        let style = TerminalStyle { width: style.width.saturating_sub(1), ..style };
        let name = names(interval_stats);
        let label = format!("{:name$}", "device");
        let mut table = table(&label, DEVICE, 2, style).said_of(width).with_none();
        let mut lines = table.head();
        for device in &interval_stats.devices {
            let ink = if device.leaf { Ink::Strong } else { Ink::Plain };
            let name = FittedCell::inked(device.name.as_str(), ink, style);
            let figures = cells(DEVICE, device.figures.seen()).into_iter();
            let figures = figures.map(|cell| cell.in_ink(ink, style));
            lines.extend(table.row(&std::iter::once(name).chain(figures).collect::<Vec<_>>()));
        }
        lines.extend(table.foot(&[]));
        lines.push(String::new());
        lines.extend(self.history(interval_stats, style));
        lines.extend(machine(interval_stats, style));
        let known = self.unseen.as_deref().unwrap_or_default();
        let lost = lost(interval_stats).filter(|(name, _)| known.iter().all(|known| known != name));
        lines.extend(lost.flat_map(|(_, why)| labelled("unseen", why, style)));
        let length = interval_stats.interval_ns;
        lines.extend(labelled(
            "at",
            &format!("{}, the last {}", clock(interval_stats), style.voice().say(&length)),
            style,
        ));
        lines
    }

    fn remember(&mut self, interval_stats: &IntervalStats) {
        let unseen = || lost(interval_stats).map(|(name, _)| name.into()).collect();
        self.unseen.get_or_insert_with(unseen);
        self.past.resize_with(interval_stats.devices.len(), PastIntervals::default);
        for (past, device) in self.past.iter_mut().zip(&interval_stats.devices) {
            let Some(figures) = device.figures.seen() else { continue };
            for (rates, way) in [(&mut past.read, &figures.read), (&mut past.write, &figures.write)]
            {
                if rates.len() == HISTORY {
                    rates.remove(0);
                }
                rates.push(way.bandwidth.0);
            }
        }
    }

    /// A line for each way of each device.
    fn history(&self, interval_stats: &IntervalStats, style: TerminalStyle) -> Vec<String> {
        let name = names(interval_stats);
        let room = style.width.saturating_sub(LABEL + name + 2 + MOST);
        let mut lines = Vec::new();
        for (label, rates) in [
            ("read", (|past| &past.read) as fn(&PastIntervals) -> &Vec<f64>),
            ("write", |past| &past.write),
        ] {
            for (index, (device, past)) in interval_stats.devices.iter().zip(&self.past).enumerate()
            {
                let rates = rates(past);
                let rates = &rates[rates.len().saturating_sub(room)..];
                let most = rates.iter().copied().fold(0.0, f64::max);
                let spark = spark(rates, most, style);
                let label = if index == 0 { label } else { "" };
                let label = style.paint(Ink::Faint, &format!("{label:9}"));
                let most = Bandwidth(most);
                lines.push(format!("  {label}{:name$}  {spark} most {most}", device.name));
            }
        }
        lines
    }
}

/// What the whole machine did.
fn machine(interval_stats: &IntervalStats, style: TerminalStyle) -> Vec<String> {
    let dot = style.glyph(" · ", ", ");
    let mut lines = Vec::new();
    let mut add = |label: &str, parts: Vec<String>| {
        lines.extend(labelled(label, &parts.join(dot), style));
    };
    add("memory", interval_stats.pages.seen().map(pages).unwrap_or_else(unseen));
    add("pressure", interval_stats.pressure.seen().map(pressure).unwrap_or_else(unseen));
    add(
        "CPU",
        match interval_stats.cpu.seen() {
            None => unseen(),
            Some(cpu) => vec![
                format!("{} user", percent(cpu.user)),
                format!("{} system", percent(cpu.system)),
                format!("{} iowait", percent(cpu.iowait)),
                format!("{} steal", percent(cpu.steal)),
            ],
        },
    );
    let mut busy = match processes(interval_stats) {
        nobody if nobody.is_empty() => unseen(),
        busy => vec![busy],
    };
    if let Some(hidden @ 1..) = interval_stats.processes.seen().map(|seen| seen.hidden) {
        busy.push(format!("{hidden} not shown to this user"));
    }
    add("I/O of", busy);
    lines
}

/// What stands where there is nothing; why something cannot be seen is in the heading.
fn unseen() -> Vec<String> {
    vec!["-".into()]
}

fn pages(pages: &PageStats) -> Vec<String> {
    vec![
        format!("{} dirty", pages.dirty),
        format!("{} in writeback", pages.writeback),
        format!("{} cached", pages.cached),
    ]
}

fn pressure(shares: &PressureShares) -> Vec<String> {
    let all = [("io", shares.io), ("cpu", shares.cpu), ("memory", shares.memory)];
    let one = |(name, share): (&str, Option<f64>)| {
        format!("{name} {}", share.map_or_else(|| "-".into(), percent))
    };
    all.map(one).into()
}

fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}
