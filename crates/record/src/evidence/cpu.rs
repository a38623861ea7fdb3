//! CPU time of this process, its waiting for a CPU, and time stolen by the hypervisor.

use super::{Cpu, Reading, SysRoot};
use assay_engine::sys::clock;
use assay_plan::unit::Nanos;

/// What others took of our CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CpuLost {
    /// Time that threads of this process that live now were ready and waited, all together.
    run_delay: Option<Nanos>,
    /// Time that the hypervisor gave to others.
    steal: Option<Nanos>,
}

impl CpuLost {
    /// Some microseconds for each thread. `stat` is the text of `/proc/stat`.
    pub fn read(sys_root: &SysRoot, stat: Option<&str>) -> Self {
        let ticks = rustix::param::clock_ticks_per_second();
        Self { run_delay: run_delay(sys_root), steal: stat.and_then(|text| steal(text, ticks)) }
    }
}

/// Our CPU time, with what others took.
pub(super) fn read(lost: CpuLost) -> Reading<Cpu> {
    let usage = match clock::usage() {
        Ok(usage) => usage,
        Err(error) => return Reading::Unseen(super::sys_root::why("getrusage", &error)),
    };
    Reading::Seen(Cpu {
        user: usage.user,
        system: usage.system,
        run_delay: lost.run_delay,
        major_faults: usage.major_faults,
        steal: lost.steal,
    })
}

/// Time our threads were runnable and waited, summed; `None` when none of them tells.
fn run_delay(sys_root: &SysRoot) -> Option<Nanos> {
    let mut sum = None;
    for thread in sys_root.names("/proc/self/task") {
        // A thread may end while we look.
        let path = format!("/proc/self/task/{thread}/schedstat");
        if let Some(waited) = sys_root.line(path).as_deref().and_then(waited) {
            sum = Some(sum.unwrap_or(Nanos::ZERO) + waited);
        }
    }
    sum
}

/// The second number of `schedstat`: nanoseconds spent waiting for a CPU.
pub fn waited(line: &str) -> Option<Nanos> {
    let mut words = line.split_ascii_whitespace();
    words.next()?.parse::<u64>().ok()?;
    Some(Nanos(words.next()?.parse().ok()?))
}

/// The eighth number of the `cpu` line of `/proc/stat`, in ticks (2.6.11).
pub fn steal(text: &str, ticks_per_second: u64) -> Option<Nanos> {
    let ticks: u64 =
        text.lines().next()?.strip_prefix("cpu ")?.split_ascii_whitespace().nth(7)?.parse().ok()?;
    let tick = 1_000_000_000_u64.checked_div(ticks_per_second)?;
    Some(Nanos(ticks.saturating_mul(tick)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steal_is_the_eighth_column() {
        let stat = "cpu  10 20 30 40 50 60 70 80 90 100\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        assert_eq!(steal(stat, 100), Some(Nanos::millis(800)));
        assert_eq!(steal("cpu  10 20 30 40\n", 100), None);
        assert_eq!(steal("intr 5\n", 100), None);
    }

    #[test]
    fn waiting_is_the_second_number() {
        assert_eq!(waited("61000 37105 12"), Some(Nanos(37105)));
        assert_eq!(waited(""), None);
    }

    #[test]
    fn this_process_has_used_some() {
        let sys_root = SysRoot::default();
        let stat = sys_root.text("/proc/stat").ok();
        let lost = CpuLost::read(&sys_root, stat.as_deref());
        let Reading::Seen(cpu) = read(lost) else { panic!() };
        println!("{cpu:?}");
        assert!(cpu.steal.is_some());
    }
}
