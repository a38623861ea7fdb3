//! One line that is rewritten while a phase goes on.
//!
//! Pure functions over plain numbers; who calls them decides where the line goes and when.

use super::TerminalStyle;
use super::figure::duration;
use super::paint::{Ink, columns};
use assay_plan::unit::{Bandwidth, Bytes, Iops, Nanos};
use assay_record::claim::Preparation;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveLine {
    /// The phase that goes on.
    pub phase: String,
    /// Its number, from 1.
    pub number: usize,
    /// How many phases there are.
    pub of: usize,
    /// What goes on outside of the timing; nothing inside it.
    pub step: Option<Preparation>,
    /// How much of the phase is done, 0 to 1; absent when nobody knows.
    pub share: Option<f64>,
    /// The present rate of bytes.
    pub bandwidth: Option<Bandwidth>,
    /// The present rate of operations.
    pub iops: Option<Iops>,
    /// Time left of the whole run; absent when nobody knows.
    pub left: Option<Nanos>,
    /// It may well be less.
    pub at_most: bool,
}

/// What rewrites the line before it: back to its beginning, and nothing left of it.
pub const REWRITE: &str = "\r\x1b[K";

/// Columns of the bar.
const BAR: usize = 16;

impl LiveLine {
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

    /// The line, no wider than the terminal, without an end. What does not fit goes in this order:
    /// operations, bar, bytes, time left.
    pub fn text(&self, style: TerminalStyle) -> String {
        let line = format!("  {}/{} {:14}", self.number, self.of, self.phase);
        let inside = self.step.is_none();
        let mut parts: Vec<(u8, Option<Ink>, String)> = Vec::new();
        if let Some(share) = self.share.filter(|_| inside) {
            parts.push((3, Some(Ink::Faint), format!(" {}", bar(share, style))));
        }
        if let Some(bandwidth) = self.bandwidth.filter(|_| inside) {
            parts.push((2, Some(Ink::Strong), format!("  {:>10}", bandwidth.to_string())));
        }
        if let Some(iops) = self.iops.filter(|_| inside) {
            parts.push((4, None, format!("  {:>6} IOPS", iops.to_string())));
        }
        if let Some(step) = self.step {
            parts.push((2, None, format!(" {}", style.voice().say(&step))));
        }
        if let Some(left) = self.left {
            let most = if self.at_most { "at most " } else { "" };
            parts.push((1, Some(Ink::Faint), format!("  {most}{} left", duration(left))));
        }
        // The last column stays free: some terminals wrap when it is written to.
        let wide = |parts: &[(u8, Option<Ink>, String)]| -> usize {
            columns(&line) + parts.iter().map(|(.., part)| columns(part)).sum::<usize>()
        };
        while wide(&parts) >= style.width
            && let Some(highest) = parts.iter().map(|(rank, ..)| *rank).max()
        {
            parts.retain(|(rank, ..)| *rank != highest);
        }
        let painted = parts.into_iter().map(|(_, ink, part)| match ink {
            Some(ink) => style.paint(ink, &part),
            None => part,
        });
        std::iter::once(line).chain(painted).collect()
    }
}

/// A bar that is filled by eighths where the terminal can show them.
fn bar(share: f64, style: TerminalStyle) -> String {
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

    fn half() -> LiveLine {
        LiveLine {
            phase: "seq-read".into(),
            number: 2,
            of: 6,
            share: Some(0.5),
            bandwidth: Some(Bandwidth(16.8e6)),
            iops: Some(Iops(16.0)),
            left: Some(Nanos::secs(24)),
            ..LiveLine::default()
        }
    }

    #[test]
    fn a_line_says_phase_rate_and_time_left() {
        assert_eq!(
            half().text(TerminalStyle::default()),
            "  2/6 seq-read       [########        ]   16.8 MB/s    16.0 IOPS  24 s left"
        );
    }

    #[test]
    fn a_line_never_fills_the_terminal() {
        for width in 20..100 {
            for unicode in [false, true] {
                let style = TerminalStyle { width, unicode, colour: false };
                let text = half().text(style);
                assert!(columns(&text) < width.max(21), "{width}: {text}");
            }
        }
    }

    #[test]
    fn on_a_narrow_terminal_the_time_that_is_left_stays() {
        for (width, told) in [
            (60, "  2/6 seq-read         16.8 MB/s  at most 24 s left"),
            (40, "  2/6 seq-read        at most 24 s left"),
            (30, "  2/6 seq-read      "),
        ] {
            let line = LiveLine { at_most: true, ..half() };
            let style = TerminalStyle { width, ..TerminalStyle::default() };
            assert_eq!(line.text(style), told);
        }
    }

    #[test]
    fn what_happens_outside_the_timing_has_no_rate() {
        let line = LiveLine { step: Some(Preparation::WatchingFlush), ..half() };
        assert_eq!(
            line.text(TerminalStyle::default()),
            "  2/6 seq-read       watching the flush  24 s left"
        );
    }

    #[test]
    fn the_nearer_limit_counts() {
        let share = |limit, goal| LiveLine::share_of(Nanos::secs(1), limit, Bytes(30), goal);
        assert_eq!(share(Some(Nanos::secs(4)), Some(Bytes(40))), Some(0.75));
        assert_eq!(share(Some(Nanos::secs(4)), None), Some(0.25));
        assert_eq!(share(None, None), None);
    }
}
