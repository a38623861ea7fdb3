//! What all processors did: the first line of `/proc/stat`.

use super::counter_delta::{CounterWidth, grown};

/// Time of all processors since boot, in clock ticks (mostly 100 a second).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Processors {
    /// In programs, low priority and guests included.
    pub user: u64,
    /// In the kernel, interrupts included.
    pub system: u64,
    /// Idle.
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

    /// All of it.
    pub fn total(&self) -> u64 {
        self.user + self.system + self.idle + self.iowait + self.steal
    }
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
    fn what_goes_down_counts_nothing() {
        let before = Processors { iowait: 9, user: 5, ..Processors::default() };
        let after = Processors { iowait: 7, user: 6, ..before };
        assert_eq!(after.since(&before), Processors { user: 1, ..Processors::default() });
    }
}
