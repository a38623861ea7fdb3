//! What processors did: all of them together, the first line of `/proc/stat`, and how idle each was.

use serde::{Deserialize, Serialize};

use super::counter_delta::{CounterWidth, grown};

/// Time of all processors since boot, in clock ticks (mostly 100 a second).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Processors {
    /// In programs, low priority and guests included.
    pub user: u64,
    /// In the kernel, interrupts included.
    pub system: u64,
    pub idle: u64,
    /// Idle while a task that last ran there waited for I/O. May go down: a sign, not a measure.
    pub iowait: u64,
    /// Taken by the hypervisor (2.6.11).
    pub steal: u64,
}

impl Processors {
    /// What happened between `earlier` and this reading; a column that went down counts nothing.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            user: grown(earlier.user, self.user, CounterWidth::Long),
            system: grown(earlier.system, self.system, CounterWidth::Long),
            idle: grown(earlier.idle, self.idle, CounterWidth::Long),
            iowait: grown(earlier.iowait, self.iowait, CounterWidth::Long),
            steal: grown(earlier.steal, self.steal, CounterWidth::Long),
        }
    }

    pub fn total(&self) -> u64 {
        self.user + self.system + self.idle + self.iowait + self.steal
    }
}

/// How idle one processor was since boot, in clock ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessorIdle {
    /// Its number.
    pub cpu: u32,
    /// Idle, with or without a task that waits for I/O.
    pub idle: u64,
    /// All of its time.
    pub all: u64,
}

impl ProcessorIdle {
    /// What happened since an earlier reading of the same processor.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            cpu: self.cpu,
            idle: grown(earlier.idle, self.idle, CounterWidth::Long),
            all: grown(earlier.all, self.all, CounterWidth::Long),
        }
    }

    /// The part that was idle, percent; 0 where no tick has passed.
    pub fn percent(&self) -> f64 {
        if self.all == 0 { 0.0 } else { self.idle as f64 * 100.0 / self.all as f64 }
    }
}

/// Each processor of `/proc/stat`; none where it does not tell.
pub(super) fn each(text: &str) -> Vec<ProcessorIdle> {
    let one = |line: &str| {
        let (cpu, ticks) = line.strip_prefix("cpu")?.split_once(' ')?;
        let cpu = cpu.parse().ok()?;
        let Processors { user, system, idle, iowait, steal } =
            parse(&format!("cpu  {ticks}")).ok()?;
        let idle = idle + iowait;
        Some(ProcessorIdle { cpu, idle, all: user + system + steal + idle })
    };
    text.lines().filter_map(one).collect()
}

/// Parses the `cpu` line: user, nice, system, idle, iowait, irq, softirq, steal. Guests, which
/// follow, are part of user and nice.
pub fn parse(text: &str) -> Result<Processors, String> {
    let line = text.lines().next().unwrap_or_default();
    let words = line.strip_prefix("cpu ").ok_or("/proc/stat: begins with no cpu line")?;
    let numbers: Vec<u64> =
        words.split_ascii_whitespace().map_while(|word| word.parse().ok()).collect();
    let &[user, nice, system, idle, iowait, irq, softirq, steal, ..] = numbers.as_slice() else {
        return Err(format!("/proc/stat: {} numbers for cpu where 8 belong", numbers.len()));
    };
    Ok(Processors { user: user + nice, system: system + irq + softirq, idle, iowait, steal })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupts_are_the_kernels_and_nice_programs_are_programs() {
        let stat = "cpu  10 20 30 40 50 60 70 80 90 100\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        let all = Processors { user: 30, system: 160, idle: 40, iowait: 50, steal: 80 };
        assert_eq!(parse(stat), Ok(all));
        assert_eq!(all.total(), 360);
        assert!(parse("cpu  10 20 30 40\n").is_err() && parse("intr 5\n").is_err());
    }

    #[test]
    fn each_processor_is_idle_for_a_part_of_its_time() {
        let before = "cpu  9 0 9 9 9 0 0 0 0 0\ncpu0 4 0 4 4 4 0 0 0 0 0\ncpu3 0 0 0 5 0 0 0 0 0 0\nintr 5\n";
        let after = "cpu  9 0 9 9 9 0 0 0 0 0\ncpu0 5 0 4 6 5 0 0 0 0 0\ncpu3 0 0 0 9 0 0 0 4 0 0\nintr 5\n";
        let grown: Vec<_> =
            each(after).iter().zip(&each(before)).map(|(now, then)| now.since(then)).collect();
        let idle = |cpu, idle, all| ProcessorIdle { cpu, idle, all };
        assert_eq!(grown, [idle(0, 3, 4), idle(3, 4, 8)]);
        assert_eq!((grown[0].percent(), idle(1, 0, 0).percent()), (75.0, 0.0));
        assert_eq!(each("cpu  1 2 3 4 5 6 7 8\nbtime 1\n"), []);
    }

    #[test]
    fn what_goes_down_counts_nothing() {
        let before = Processors { iowait: 9, user: 5, ..Processors::default() };
        let after = Processors { iowait: 7, user: 6, ..before };
        assert_eq!(after.since(&before), Processors { user: 1, ..Processors::default() });
    }
}
