//! `assay watch`: what the device under a path does while others work on it.

use std::io::{self, Write};
use std::path::PathBuf;

use crate::process::Environment;
use crate::process::stdout::{PipeWriter, printed};
use crate::process::{FAULT, SOUND};
use crate::report::TerminalStyle;
use crate::report::watch::{WatchLines, WatchPage, WatchSummary, heading, json};
use assay_engine::sys::signal;
use assay_plan::error::{Error, Refusal};
use assay_plan::unit::Nanos;
use assay_record::evidence::{BlockLayer, LeafKind, PathKind, Survey, SysRoot};
use assay_record::record::IntervalStats;
use assay_run::monitor::{DeviceMonitor, MonitorEnd, MonitorTick, SHORTEST, WatchUntil};

/// The words of the verb.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example: assay watch --interval 5s --count 12 /mnt/sd")]
#[command(after_long_help = COLUMNS)]
pub struct WatchArgs {
    /// A folder, a file or a block device
    ///
    /// The lowest devices under it that can be reached are watched: the disks of a mirror, the disk
    /// below a loop device. Nothing is written, and no root is needed.
    pub path: PathBuf,
    /// Time between two lines: 500ms, 1s, 1m
    #[arg(long, default_value = "1s", value_name = "T", value_parser = interval)]
    pub interval: Nanos,
    /// Stop after this many intervals (default: at Ctrl-C)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// Stop after this time: 30, 5m, 1h
    #[arg(long, value_name = "T", value_parser = crate::process::typing::time, conflicts_with = "count")]
    pub time: Option<Nanos>,
    /// Show every device below the path, not only the lowest
    ///
    /// What passes one is counted again by the one below it: never add them up.
    #[arg(long)]
    pub stack: bool,
    /// Print a line of JSON for each interval ('assay schema watch' describes it), and no summary
    #[arg(long)]
    pub json: bool,
}

/// What follows the long help.
const COLUMNS: &str = "\
Columns, as iostat -x, vmstat and sar have them; '-' is what there is none of,
or what cannot be seen (the heading says why):
  MB/s, IOPS    10^6 bytes, and requests that the device ended, each second
  KiB           mean size of a read or write
  depth         mean number of requests in flight (aqu-sz)
  await ms      mean time of a request from the queue to its end, without the
                time that it was held in a throttle
  flush, trim   flushes and discards each second
  busy%         time with a request in flight (%util); several at once may
                still fit at 100
  memory MiB    pages of the whole machine: changed, on their way to a device,
                of files at all
  pressure %    time in which somebody waited for I/O, a CPU, memory
                (/proc/pressure): a sign
  CPU %         of all processors; the rest is idle
Behind them: processes that did I/O, on whatever device; writes count when pages
are made dirty.

On a terminal the page is drawn in place. Ctrl-C ends with least, mean and most
of each figure, and exit status 0; the last device that goes away with 1.

Example: assay watch --interval 5s --count 12 /mnt/sd";

/// Watches and prints until it is told to end.
///
/// # Errors
/// A refusal where there is no block device to watch; a fault when one goes away, or the output can
/// not be written.
pub(super) fn watch(
    words: &WatchArgs,
    typed: &[String],
    environment: &Environment,
    out: &mut PipeWriter<'_>,
) -> Result<u8, Error> {
    let sys_root = SysRoot::default();
    let survey = sys_root.survey(&words.path);
    let layers = watched(&survey, words.stack)?;
    let until = match (words.count, words.time) {
        (Some(count), _) => WatchUntil::Count(count),
        (None, Some(time)) => WatchUntil::Time(time),
        (None, None) => WatchUntil::Told,
    };
    let mut view = WatchView::new(words.json, environment.page(WatchPage::LEAST));
    let mut monitor =
        DeviceMonitor::start(&sys_root, layers, (words.interval, until), signal::TERMINATING)?;
    let unseen = monitor.unseen();
    let (mut style, mut log) = (environment.out_style(), environment.log_style());
    if !words.json {
        printed(put(out, &heading(typed, &survey, &unseen, style)))?;
    }
    let mut summary = WatchSummary::default();
    let mut last = None;
    let over = loop {
        match monitor.wait() {
            MonitorTick::Glance(interval_stats) => {
                summary.add(&interval_stats);
                printed(view.show(&interval_stats, (style, log), out))?;
                last = Some(interval_stats);
            }
            MonitorTick::Resized => {
                let now = environment.resized();
                (style, log) = (now.out_style(), now.log_style());
                let heading = heading(typed, &survey, &unseen, style);
                let rows = now.page(WatchPage::LEAST);
                printed(view.resize(rows, (&heading, last.as_deref()), style, out))?;
            }
            MonitorTick::Over(over) => break over,
        }
        // Nobody reads any more: 'assay watch . | head -5'.
        if out.gone {
            return Ok(SOUND);
        }
    };
    if let Some(whole) = monitor.whole().filter(|_| !words.json) {
        let mut lines = vec![String::new()];
        lines.extend(summary.lines(&whole, style));
        printed(put(out, &lines))?;
    }
    match over {
        MonitorEnd::Done | MonitorEnd::Signal(libc::SIGINT) => Ok(SOUND),
        MonitorEnd::Signal(signal) => Ok(u8::try_from(128 + signal).unwrap_or(FAULT)),
        MonitorEnd::Gone(fault) => Err(fault.into()),
    }
}

/// How glances are shown.
enum WatchView {
    /// A line each.
    Lines(WatchLines),
    /// A page that is drawn anew in place, its lines, and how many the terminal has.
    Page { page: WatchPage, standing: usize, rows: usize },
    /// A line of JSON each.
    Json,
}

impl WatchView {
    /// `rows` are those of a terminal on which the page fits.
    fn new(json: bool, rows: Option<usize>) -> Self {
        match rows {
            _ if json => Self::Json,
            Some(rows) => Self::Page { page: WatchPage::default(), standing: 0, rows },
            None => Self::Lines(WatchLines::default()),
        }
    }

    /// Goes on at another size of the terminal: draws everything anew where a page fits on it. `shown` is
    /// what stands on it.
    fn resize(
        &mut self,
        rows: Option<usize>,
        (heading, interval_stats): (&[String], Option<&IntervalStats>),
        style: TerminalStyle,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let page = match (std::mem::replace(self, Self::Json), rows) {
            (Self::Json, _) => return Ok(()),
            (lines @ Self::Lines(_), None) => {
                *self = lines;
                return Ok(());
            }
            (Self::Page { .. }, None) => {
                *self = Self::Lines(WatchLines::default());
                return Ok(());
            }
            (Self::Page { page, .. }, Some(_)) => page,
            (Self::Lines(_), Some(_)) => WatchPage::default(),
        };
        let lines = interval_stats
            .map(|interval_stats| page.again(interval_stats, style))
            .unwrap_or_default();
        let rows = rows.unwrap_or(0);
        // Terminals break lines anew, so that nobody knows where the old page stands.
        let text = format!("\x1b[H\x1b[2J{}{}", redrawn(heading, 0), redrawn(&lines, 0));
        let standing = if lines.len() < rows { lines.len() } else { 0 };
        *self = Self::Page { page, standing, rows };
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    fn show(
        &mut self,
        interval_stats: &IntervalStats,
        (style, log): (TerminalStyle, TerminalStyle),
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match self {
            Self::Lines(lines) => put(out, &lines.of(interval_stats, log)),
            Self::Json => {
                json(interval_stats, out)?;
                out.flush()
            }
            Self::Page { page, standing, rows } => {
                let lines = page.of(interval_stats, style);
                let text = redrawn(&lines, *standing);
                // What has left the terminal at its top cannot be drawn over.
                *standing = if lines.len() < *rows { lines.len() } else { 0 };
                out.write_all(text.as_bytes())?;
                out.flush()
            }
        }
    }
}

/// The lines in place of those `standing` above the cursor.
fn redrawn(lines: &[String], standing: usize) -> String {
    let mut text = match standing {
        0 => String::new(),
        // What a key that was pressed has left in this line goes as well.
        up => format!("\r\x1b[{up}A\x1b[J"),
    };
    for line in lines {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Writes lines in one piece.
fn put(out: &mut dyn Write, lines: &[String]) -> io::Result<()> {
    out.write_all(redrawn(lines, 0).as_bytes())?;
    out.flush()
}

/// The devices to watch: the leaves, or the whole stack.
///
/// # Errors
/// Where there is none.
fn watched(survey: &Survey, stack: bool) -> Result<Vec<BlockLayer>, Refusal> {
    let shown = &survey.path;
    let instead = "name a folder, a file or a block device that lies on a disk";
    if survey.kind == PathKind::Missing && survey.hidden.is_none() {
        return Err(Refusal::new(format!("there is nothing at '{shown}'"), instead));
    }
    let mut layers: Vec<BlockLayer> = Vec::new();
    for device in survey.devices().filter(|device| stack || device.layer.leaf) {
        if layers.iter().all(|layer| layer.name != device.layer.name) {
            layers.push(device.layer.clone());
        }
    }
    if layers.is_empty() {
        let below = match &survey.bottom {
            LeafKind::Devices => "nothing".into(),
            LeafKind::Memory(name) => format!("{name}, which is memory"),
            LeafKind::Remote(name) => format!("{name}, whose disk cannot be seen from here"),
            LeafKind::Nothing(name) if name == shown => "nothing that stores".into(),
            LeafKind::Nothing(name) => format!("{name}, which stores nothing"),
            LeafKind::Unknown(why) => format!("what cannot be seen ({why})"),
        };
        let why = format!("'{shown}' lies on {below}: there is no block device to watch");
        return Err(Refusal::new(why, instead));
    }
    Ok(layers)
}

/// An interval as people type it: `500ms`, `1`, `5s`, `1m`; a tenth of a second to an hour.
fn interval(text: &str) -> Result<Nanos, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match &text[digits.len()..] {
        "ms" => 1_000_000,
        "" | "s" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => 0,
    };
    let number: Option<u64> = digits.parse().ok();
    let why = match number.filter(|_| scale > 0).map(|n| Nanos(n.saturating_mul(scale))) {
        None => "is not an interval",
        Some(short) if short < SHORTEST => "is too short",
        Some(long) if long > Nanos::secs(3600) => "is too long",
        Some(time) => return Ok(time),
    };
    Err(format!("'{text}' {why}; give 100ms to 1h, such as 500ms, 1s or 1m"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_typed_as_people_do() {
        for (text, millis) in
            [("1", 1000), ("1s", 1000), ("100ms", 100), ("5m", 300_000), ("1h", 3_600_000)]
        {
            assert_eq!(interval(text), Ok(Nanos::millis(millis)), "{text}");
        }
        for bad in ["", "0", "s", "-1", "0.5", "99ms", "2h", "1d", "99999999999999999999"] {
            assert!(interval(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_page_is_drawn_over_the_one_before() {
        let lines = ["a ".to_string(), "b".to_string()];
        assert_eq!(redrawn(&lines, 0), "a\nb\n");
        assert_eq!(redrawn(&lines, 2), "\r\u{1b}[2A\u{1b}[Ja\nb\n");
    }
}
