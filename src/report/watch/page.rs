//! The page on a terminal: the last interval, and a short history.

use super::columns::{DEVICE, cells, heads, width};
use super::{LEAST_NAME, Style, clock, labelled, lost, names, processes};
use crate::record::{Glance, Pages, PressureShares};
use crate::report::chart::spark;
use crate::report::paint::Ink;
use crate::unit::Bandwidth;

/// The most intervals that the history shows.
const HISTORY: usize = 60;
/// Characters of the label before the history, and of the highest rate behind it.
const LABEL: usize = 11;
const MOST: usize = " most 9995 MB/s".len();

/// The page with what it remembers.
#[derive(Debug, Default)]
pub struct Page {
    /// The last rates of each device that could be seen, read and written, bytes per second.
    past: Vec<Past>,
    /// Devices that could not be seen from the first interval on: the heading says why.
    unseen: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default)]
struct Past {
    read: Vec<f64>,
    write: Vec<f64>,
}

impl Page {
    /// Columns of a terminal on which the page fits, when names of devices are no longer than this.
    pub fn width(name: usize) -> usize {
        2 + name.max(LEAST_NAME) + width(DEVICE) + 1
    }

    /// The part of the page that changes, after another interval. It has as many lines each time,
    /// but for processes that come and go.
    pub fn of(&mut self, glance: &Glance, style: Style) -> Vec<String> {
        self.remember(glance);
        self.again(glance, style)
    }

    /// The same once more, of the last interval.
    pub fn again(&self, glance: &Glance, style: Style) -> Vec<String> {
        // Some terminals wrap when their last column is written to.
        let style = Style { width: style.width.saturating_sub(1), ..style };
        let name = names(glance);
        let heads = heads(&format!("  {:name$}", "device"), DEVICE);
        let mut lines: Vec<String> =
            heads.iter().map(|line| style.paint(Ink::Faint, line)).collect();
        for device in &glance.devices {
            let figures = cells(DEVICE, device.figures.seen());
            let row = format!("  {:name$}{figures}", device.name);
            lines.push(if device.leaf { style.paint(Ink::Strong, &row) } else { row });
        }
        lines.push(String::new());
        lines.extend(self.history(glance, style));
        lines.extend(machine(glance, style));
        let known = self.unseen.as_deref().unwrap_or_default();
        let lost = lost(glance).filter(|(name, _)| known.iter().all(|known| known != name));
        lines.extend(lost.flat_map(|(_, why)| labelled("unseen", why, style)));
        let length = glance.interval_ns;
        lines.extend(labelled("at", &format!("{}, the last {length}", clock(glance)), style));
        lines
    }

    fn remember(&mut self, glance: &Glance) {
        let unseen = || lost(glance).map(|(name, _)| name.into()).collect();
        self.unseen.get_or_insert_with(unseen);
        self.past.resize_with(glance.devices.len(), Past::default);
        for (past, device) in self.past.iter_mut().zip(&glance.devices) {
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
    fn history(&self, glance: &Glance, style: Style) -> Vec<String> {
        let name = names(glance);
        let room = style.width.saturating_sub(LABEL + name + 2 + MOST);
        let mut lines = Vec::new();
        for (label, rates) in
            [("read", (|past| &past.read) as fn(&Past) -> &Vec<f64>), ("write", |past| &past.write)]
        {
            for (index, (device, past)) in glance.devices.iter().zip(&self.past).enumerate() {
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
fn machine(glance: &Glance, style: Style) -> Vec<String> {
    let dot = style.glyph(" · ", ", ");
    let mut lines = Vec::new();
    let mut add = |label: &str, parts: Vec<String>| {
        lines.extend(labelled(label, &parts.join(dot), style));
    };
    add("memory", glance.pages.seen().map(pages).unwrap_or_else(unseen));
    add("pressure", glance.pressure.seen().map(pressure).unwrap_or_else(unseen));
    add(
        "CPU",
        match glance.cpu.seen() {
            None => unseen(),
            Some(cpu) => vec![
                format!("{} user", percent(cpu.user)),
                format!("{} system", percent(cpu.system)),
                format!("{} iowait", percent(cpu.iowait)),
                format!("{} steal", percent(cpu.steal)),
            ],
        },
    );
    let mut busy = match processes(glance) {
        nobody if nobody.is_empty() => unseen(),
        busy => vec![busy],
    };
    if let Some(hidden @ 1..) = glance.processes.seen().map(|seen| seen.hidden) {
        busy.push(format!("{hidden} not shown to this user"));
    }
    add("I/O of", busy);
    lines
}

/// What stands where there is nothing; why something can not be seen is in the heading.
fn unseen() -> Vec<String> {
    vec!["-".into()]
}

fn pages(pages: &Pages) -> Vec<String> {
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
