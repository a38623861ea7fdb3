//! The line that shows how a run goes on: `Jobs: 1 (f=1): [m(1)][33.3%][r=2863MiB/s][r=733k IOPS][eta 00m:02s]`.

use super::job::FioStyle;
use super::number::{FioQuantity, scaled};

/// How long the jobs will still take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FioRemaining {
    /// Not known yet: in the first seconds.
    #[default]
    Unknown,
    Endless,
    Seconds(u64),
}

/// How a run goes, at a moment. Arrays are read, write, trim.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioProgress {
    pub running: u32,
    /// Of them, jobs in `ramp_time`.
    pub ramping: u32,
    /// Jobs that make their files.
    pub setting_up: u32,
    pub open_files: u32,
    /// Sum of `rate_min` of running jobs, in bytes per second.
    pub rate_min: u64,
    /// Sum of `rate`, in bytes per second.
    pub rate: u64,
    /// Sum of `rate_iops_min`.
    pub iops_min: u64,
    /// Sum of `rate_iops`.
    pub iops_limit: u64,
    /// The letter of each job's state, in order: [`FioRunState::letter`].
    pub states: String,
    /// KiB per second since the line before.
    pub kib_per_second: [u64; 3],
    /// I/Os per second since the line before.
    pub iops: [u64; 3],
    /// Seconds since the program began.
    pub elapsed_s: u64,
    pub remaining: FioRemaining,
    /// How numbers are written: binary if any job's are.
    pub style: FioStyle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioRunState {
    Waiting,
    Created,
    /// Makes its files, or waits for the start.
    Ready,
    /// Reads its files before the run.
    PreReading,
    /// In `ramp_time`.
    Ramp,
    Running(FioRunning),
    Syncing,
    Verifying,
    Finishing,
    /// Has ended; nobody has seen it yet.
    Exited,
    Done,
    /// Has ended with an error.
    Failed,
    /// Was ended by a signal.
    Killed,
}

/// The I/O of a running job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FioRunning {
    /// Which direction; reads and writes have one of their own only where the mix is not all of one.
    pub direction: FioRunDirection,
    pub random: bool,
}

/// Where a running job's I/O goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioRunDirection {
    Read,
    Write,
    Mixed,
    Trim,
}

impl FioRunState {
    pub fn letter(self) -> char {
        match self {
            Self::Waiting => 'P',
            Self::Created => 'C',
            Self::Ready => 'I',
            Self::PreReading => 'p',
            Self::Ramp => '/',
            Self::Running(FioRunning { direction, random }) => {
                let letter = match direction {
                    FioRunDirection::Read => 'R',
                    FioRunDirection::Write => 'W',
                    FioRunDirection::Mixed => 'M',
                    FioRunDirection::Trim => 'D',
                };
                if random { letter.to_ascii_lowercase() } else { letter }
            }
            Self::Syncing => 'F',
            Self::Verifying => 'V',
            Self::Finishing => 'f',
            Self::Exited => 'E',
            Self::Done => '_',
            Self::Failed => 'X',
            Self::Killed => 'K',
        }
    }
}

/// What one line has to know of those before it.
#[derive(Clone, Debug, Default)]
pub struct FioEtaLine {
    width: usize,
    estimated: bool,
    fresh: bool,
}

impl FioEtaLine {
    /// The next line begins on a new one (`--eta-newline`).
    pub fn break_line(&mut self) {
        self.fresh = true;
    }

    /// The line, which ends in `\r` and covers the one before.
    pub fn show(&mut self, now: &FioProgress) -> String {
        let start = if std::mem::take(&mut self.fresh) {
            self.width = 0;
            "\n"
        } else {
            ""
        };
        let mut out = format!("{start}Jobs: {} (f={}){}", now.running, now.open_files, limits(now));
        if now.remaining != FioRemaining::Unknown && now.running > 0 {
            out += &format!(": [{}][{}]", folded(&now.states), self.done(now));
            out += &rates(now);
            out += &format!("[eta {}]", left(now));
            // The line break counts, as it does in fio.
            let width = out.len();
            out += &" ".repeat(self.width.saturating_sub(width));
            self.width = width;
        }
        out + "\r"
    }

    fn done(&mut self, now: &FioProgress) -> String {
        let left = match now.remaining {
            FioRemaining::Seconds(left) if now.ramping < now.running => left,
            _ => return "-.-%".into(),
        };
        if left == 0 && !self.estimated {
            return "-.-%".into();
        }
        self.estimated = true;
        let elapsed = now.elapsed_s as f64;
        let part = if now.elapsed_s == 0 { 0.0 } else { elapsed / (elapsed + left as f64) };
        let ready = 1.0 - f64::from(now.setting_up) / f64::from(now.running);
        format!("{:3.1}%", part * 100.0 * ready)
    }
}

fn limits(now: &FioProgress) -> String {
    let binary = now.style.kb_base.is_power_of_two();
    let rate = |rate| scaled(rate, now.style.figures, 0, binary, FioQuantity::ByteRate);
    if now.rate_min > 0 || now.rate > 0 {
        format!(", {}-{}", rate(now.rate_min), rate(now.rate))
    } else if now.iops_min > 0 || now.iops_limit > 0 {
        format!(", {}-{} IOPS", now.iops_min, now.iops_limit)
    } else {
        String::new()
    }
}

fn rates(now: &FioProgress) -> String {
    let binary = now.style.kb_base.is_power_of_two();
    let (mut bandwidths, mut iops) = (Vec::new(), Vec::new());
    for (letter, (kib, ios)) in ["r", "w", "t"].iter().zip(now.kib_per_second.iter().zip(now.iops))
    {
        if *kib > 0 || ios > 0 {
            let rate = scaled(*kib, 4, 1, binary, now.style.rate());
            bandwidths.push(format!("{letter}={rate}"));
            iops.push(format!("{letter}={}", scaled(ios, 4, 0, false, FioQuantity::Count)));
        }
    }
    if iops.is_empty() {
        return String::new();
    }
    format!("[{}][{} IOPS]", bandwidths.join(","), iops.join(","))
}

fn left(now: &FioProgress) -> String {
    let FioRemaining::Seconds(seconds) = now.remaining else {
        return "--".into();
    };
    let (minutes, hours, days) = (seconds / 60 % 60, seconds / 3600 % 24, seconds / 86_400);
    let mut out = String::new();
    if days > 0 {
        out += &format!("{days:02}d:");
    }
    if days > 0 || hours > 0 {
        out += &format!("{hours:02}h:");
    }
    out + &format!("{minutes:02}m:{:02}s", seconds % 60)
}

/// `mmw` is `m(2),w(1)`.
fn folded(states: &str) -> String {
    let mut runs: Vec<(char, usize)> = Vec::new();
    for state in states.chars() {
        match runs.last_mut() {
            Some((same, count)) if *same == state => *count += 1,
            _ => runs.push((state, 1)),
        }
    }
    let runs: Vec<String> = runs.iter().map(|(state, count)| format!("{state}({count})")).collect();
    runs.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress() -> FioProgress {
        let mixed = FioRunning { direction: FioRunDirection::Mixed, random: true };
        FioProgress {
            running: 1,
            open_files: 1,
            states: FioRunState::Running(mixed).letter().into(),
            kib_per_second: [2_931_712, 2_926_592, 0],
            iops: [733_000, 732_000, 0],
            elapsed_s: 1,
            remaining: FioRemaining::Seconds(2),
            ..FioProgress::default()
        }
    }

    #[test]
    fn a_run_is_shown_as_fio_shows_it() {
        let line = FioEtaLine::default().show(&progress());
        assert_eq!(
            line,
            "Jobs: 1 (f=1): [m(1)][33.3%][r=2863MiB/s,w=2858MiB/s][r=733k,w=732k IOPS][eta 00m:02s]\r"
        );
        let start = FioProgress { remaining: FioRemaining::Unknown, ..progress() };
        assert_eq!(FioEtaLine::default().show(&start), "Jobs: 1 (f=1)\r");
    }

    #[test]
    fn limits_stand_before_the_states() {
        let rate = FioProgress { rate: 1 << 20, ..progress() };
        assert!(
            FioEtaLine::default().show(&rate).starts_with("Jobs: 1 (f=1), 0B/s-1024KiB/s: [m(1)]")
        );
        let iops = FioProgress { iops_limit: 300, ..progress() };
        assert!(FioEtaLine::default().show(&iops).starts_with("Jobs: 1 (f=1), 0-300 IOPS: [m(1)]"));
    }

    #[test]
    fn a_limited_run_in_bits_is_shown_as_fio_shows_it() {
        let now = FioProgress {
            running: 2,
            open_files: 2,
            rate: 2_097_152,
            states: "RR".into(),
            kib_per_second: [2048, 0, 0],
            iops: [512, 0, 0],
            remaining: FioRemaining::Seconds(0),
            style: FioStyle { kb_base: 1000, bits: true, figures: 4 },
            ..progress()
        };
        assert_eq!(
            FioEtaLine::default().show(&now),
            "Jobs: 2 (f=2), 0B/s-2097kB/s: [R(2)][-.-%][r=16.4Mbit/s][r=512 IOPS][eta 00m:00s]\r"
        );
    }

    #[test]
    fn a_shorter_line_covers_the_one_before() {
        let mut line = FioEtaLine::default();
        let long = line.show(&progress()).len();
        let idle = FioProgress { kib_per_second: [0; 3], iops: [0; 3], ..progress() };
        assert_eq!(line.show(&idle).len(), long);
        line.break_line();
        assert_eq!(line.show(&idle), "\nJobs: 1 (f=1): [m(1)][33.3%][eta 00m:02s]\r");
    }

    #[test]
    fn what_is_left_is_told_in_days_at_most() {
        let mut now = progress();
        for (seconds, text) in [(7, "00m:07s"), (3_700, "01h:01m:40s"), (90_000, "01d:01h:00m:00s")]
        {
            now.remaining = FioRemaining::Seconds(seconds);
            assert_eq!(left(&now), text);
        }
        now.remaining = FioRemaining::Endless;
        assert!(FioEtaLine::default().show(&now).contains("[-.-%]"));
        assert_eq!(folded("PPPR__"), "P(3),R(1),_(2)");
    }

    #[test]
    fn no_two_states_look_the_same() {
        use FioRunState::*;
        let all = [
            Waiting, Created, Ready, PreReading, Ramp, Syncing, Verifying, Finishing, Exited, Done,
            Failed, Killed,
        ];
        let letters: std::collections::BTreeSet<char> =
            all.iter().map(|state| state.letter()).collect();
        assert_eq!(letters.len(), all.len());
    }
}
