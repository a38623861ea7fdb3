//! One line that is rewritten while a phase goes on.
//!
//! Pure functions over plain numbers; who calls them decides where the line goes and when.

use super::Style;
use super::figure::duration;
use super::paint::{Ink, columns};
use crate::unit::{Bandwidth, Bytes, Iops, Nanos};

/// How a run stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// The phase that goes on.
    pub phase: String,
    /// Its number, from 1.
    pub number: usize,
    /// How many phases there are.
    pub of: usize,
    /// What goes on outside the timing (`laying out the file`, `flushing`); empty inside it.
    pub aside: String,
    /// How much of the phase is done, 0 to 1; absent when nobody knows.
    pub share: Option<f64>,
    /// The present rate of bytes.
    pub bandwidth: Option<Bandwidth>,
    /// The present rate of operations.
    pub iops: Option<Iops>,
    /// Time left of the whole run; absent when nobody knows.
    pub left: Option<Nanos>,
}

/// What rewrites the line before it: back to its beginning, and nothing left of it.
pub const REWRITE: &str = "\r\x1b[K";

/// Columns of the bar.
const BAR: usize = 16;

impl Line {
    /// How a phase stands after `elapsed` of at most `limit`, or `moved` of `goal` bytes.
    pub fn share_of(
        elapsed: Nanos,
        limit: Option<Nanos>,
        moved: Bytes,
        goal: Option<Bytes>,
    ) -> Option<f64> {
        let of = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        let time = limit.and_then(|limit| of(elapsed.0, limit.0));
        let bytes = goal.and_then(|goal| of(moved.0, goal.0));
        // The first limit that is reached ends it, so the larger share is the nearer one.
        match (time, bytes) {
            (Some(time), Some(bytes)) => Some(time.max(bytes)),
            (time, bytes) => time.or(bytes),
        }
        .map(|share| share.clamp(0.0, 1.0))
    }

    /// The line, no wider than the terminal, without an end.
    pub fn text(&self, style: Style) -> String {
        let mut line = format!("  {}/{} {:14}", self.number, self.of, self.phase);
        let mut coloured = line.clone();
        let mut add = |ink: Option<Ink>, part: String| {
            // The last column stays free: some terminals wrap when it is written to.
            if columns(&line) + columns(&part) < style.width {
                line.push_str(&part);
                coloured.push_str(&match ink {
                    Some(ink) => style.paint(ink, &part),
                    None => part,
                });
            }
        };
        if let Some(share) = self.share.filter(|_| self.aside.is_empty()) {
            add(Some(Ink::Faint), format!(" {}", bar(share, style)));
        }
        if self.aside.is_empty() {
            if let Some(bandwidth) = self.bandwidth {
                add(Some(Ink::Strong), format!("  {:>10}", bandwidth.to_string()));
            }
            if let Some(iops) = self.iops {
                add(None, format!("  {:>6} IOPS", iops.to_string()));
            }
        } else {
            add(None, format!(" {}", self.aside));
        }
        if let Some(left) = self.left {
            add(Some(Ink::Faint), format!("  {} left", duration(left)));
        }
        coloured
    }
}

/// A bar that is filled by eighths where the terminal can show them.
fn bar(share: f64, style: Style) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if !style.unicode {
        let full = (share * BAR as f64).round() as usize;
        return format!("[{:BAR$}]", "#".repeat(full.min(BAR)));
    }
    let eighths = ((share * (BAR * 8) as f64).round() as usize).min(BAR * 8);
    let filled = "█".repeat(eighths / 8) + EIGHTHS[eighths % 8];
    format!("▕{filled:BAR$}▏")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn half() -> Line {
        Line {
            phase: "seq-read".into(),
            number: 2,
            of: 6,
            share: Some(0.5),
            bandwidth: Some(Bandwidth(16.8e6)),
            iops: Some(Iops(16.0)),
            left: Some(Nanos::secs(24)),
            ..Line::default()
        }
    }

    #[test]
    fn a_line_says_phase_rate_and_time_left() {
        assert_eq!(
            half().text(Style::default()),
            "  2/6 seq-read       [########        ]   16.8 MB/s    16.0 IOPS  24 s left"
        );
    }

    #[test]
    fn a_line_never_fills_the_terminal() {
        for width in 20..100 {
            for unicode in [false, true] {
                let style = Style { width, unicode, colour: false };
                let text = half().text(style);
                assert!(columns(&text) < width.max(21), "{width}: {text}");
            }
        }
    }

    #[test]
    fn what_happens_outside_the_timing_has_no_rate() {
        let line = Line { aside: "flushing".into(), ..half() };
        assert_eq!(line.text(Style::default()), "  2/6 seq-read       flushing  24 s left");
    }

    #[test]
    fn the_nearer_limit_counts() {
        let share = |limit, goal| Line::share_of(Nanos::secs(1), limit, Bytes(30), goal);
        assert_eq!(share(Some(Nanos::secs(4)), Some(Bytes(40))), Some(0.75));
        assert_eq!(share(Some(Nanos::secs(4)), None), Some(0.25));
        assert_eq!(share(None, None), None);
    }
}
