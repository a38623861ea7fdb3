//! How much a counter of the kernel has grown: the one place that knows how wide each of them is.
//!
//! | where | counters | width in the kernel |
//! |---|---|---|
//! | `/sys/block/D/stat` | milliseconds | `unsigned int` (`part_stat_show`): wraps after 49.7 days of them |
//! | `/sys/block/D/stat` | requests, sectors | `unsigned long`: with 32 bits, sectors wrap after 2 TiB |
//! | `/proc/vmstat` | pages swapped | `unsigned long` |
//! | `/sys/devices/system/cpu/cpu*/thermal_throttle` | throttle counts | `unsigned long` |
//! | `/proc/stat`, `/proc/PID/stat` | clock ticks | 64 bits; `iowait` may go down |
//! | `/proc/PID/io`, `schedstat`, `/proc/pressure`, `cpu.stat` | bytes, calls, times | 64 bits |
//!
//! What a file tells of the moment (requests in flight, dirty pages) is no counter, and has no difference.

use assay_plan::unit::{Bytes, Nanos};

/// How wide a counter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CounterWidth {
    /// 32 bits on every kernel.
    Short,
    /// As a register of the machine: 32 bits on 32-bit kernels. The reading is the counter times this
    /// unit.
    Register(u64),
    /// The sum of several such counters times this unit.
    Registers(u64),
    /// 64 bits on every kernel, which no machine lives long enough to use up.
    Long,
}

/// No counter grows by more in a phase, be it of bytes (64 PiB) or of ns (2 years): a document that says so was made
/// up, and sums of what is not beyond it do not overflow.
const MOST: u64 = 1 << 56;

/// How much a counter grew from one reading to a later one, in the unit of the readings.
///
/// A counter whose reading is below the one before has wrapped, if it is so narrow that it could. One that
/// could not began anew, or is none that only grows: nothing is counted then.
#[inline]
pub(super) fn grown(then: u64, now: u64, width: CounterWidth) -> u64 {
    if now >= then {
        return Some(now - then).filter(|grown| *grown <= MOST).unwrap_or_default();
    }
    let round = |unit: u64| unit.saturating_mul(1 << 32);
    match width {
        // What has gone beyond 32 bits is wider than that.
        CounterWidth::Short if then < round(1) => round(1) - (then - now),
        CounterWidth::Register(unit) if then < round(unit) => round(unit) - (then - now),
        // Each of them may have wrapped.
        CounterWidth::Registers(unit) => {
            let whole = (then - now).checked_next_multiple_of(round(unit));
            whole.map_or(0, |whole| whole - (then - now))
        }
        CounterWidth::Short | CounterWidth::Register(_) | CounterWidth::Long => 0,
    }
}

/// The same of two that may be absent.
pub(super) fn both_grown(then: Option<u64>, now: Option<u64>, width: CounterWidth) -> Option<u64> {
    Some(grown(then?, now?, width))
}

/// The same of a time: all of them are 64 bits wide.
pub(super) fn time_grown(then: Nanos, now: Nanos) -> Nanos {
    Nanos(grown(then.0, now.0, CounterWidth::Long))
}

/// The same of bytes that are counted in 64 bits.
pub(super) fn bytes_grown(then: Bytes, now: Bytes) -> Bytes {
    Bytes(grown(then.0, now.0, CounterWidth::Long))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND: u64 = 1 << 32;

    #[test]
    fn each_width_wraps_where_it_ends() {
        for (then, now, width, expected) in [
            (5, 9, CounterWidth::Short, 4),
            (ROUND - 10, 10, CounterWidth::Short, 20),
            (ROUND - 1, 0, CounterWidth::Short, 1),
            (ROUND - 10, 10, CounterWidth::Register(1), 20),
            ((ROUND - 1) * 512, 1024, CounterWidth::Register(512), 3 * 512),
            // 64-bit kernels go on.
            (ROUND - 1, ROUND + 7, CounterWidth::Register(1), 8),
            ((ROUND - 1) * 512, (ROUND + 7) * 512, CounterWidth::Register(512), 8 * 512),
            // A sum of two, of which one wrapped, and of which both did.
            (ROUND + 5, 9, CounterWidth::Registers(1), 4),
            (2 * ROUND - 2, 3, CounterWidth::Registers(1), 5),
            ((2 * ROUND - 2) * 4096, 3 * 4096, CounterWidth::Registers(4096), 5 * 4096),
            // What may go down, or began anew.
            (9, 7, CounterWidth::Long, 0),
            (u64::MAX, 7, CounterWidth::Long, 0),
            (3 * ROUND, 7, CounterWidth::Short, 0),
            (ROUND + 9, 7, CounterWidth::Register(1), 0),
        ] {
            assert_eq!(grown(then, now, width), expected, "{then} {now} {width:?}");
        }
        assert_eq!(both_grown(None, Some(5), CounterWidth::Long), None);
        assert_eq!(both_grown(Some(2), Some(5), CounterWidth::Long), Some(3));
    }
}
