//! Which calls are timed where all of them are brisk: two looks at the clock, and what is counted of a time, are a good
//! part of a call that moves memory and meets no device.

use assay_plan::unit::Nanos;

/// A call that takes no longer has met no device.
const BRISK: Nanos = Nanos::micros(5);

/// One call in so many is timed while they are brisk. Odd, so that reads and writes take turns.
const SELDOM: u32 = 33;

/// Calls that were not timed and took longer than this together were not all brisk.
const GROUP: Nanos = Nanos::micros(85);

/// Decides before each call whether it is timed. Those that are not brisk are all timed but the first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BriskCalls {
    /// Timed calls in a row that were brisk.
    in_a_row: u32,
    /// Calls that are not timed before the next that is.
    untimed: u32,
}

impl BriskCalls {
    /// Whether the next call is timed; one that is not is passed over.
    #[inline(always)]
    pub(super) fn times_next(&mut self) -> bool {
        let timed = self.untimed == 0;
        self.untimed -= u32::from(!timed);
        timed
    }

    /// How many calls from here on are not timed.
    #[inline(always)]
    pub(super) fn untimed(&self) -> u32 {
        self.untimed
    }

    /// So many of them are passed over.
    #[inline(always)]
    pub(super) fn pass(&mut self, calls: u32) {
        self.untimed -= calls;
    }

    /// So much time has passed with calls that were not timed.
    #[inline(always)]
    pub(super) fn passed(&mut self, time: Nanos) {
        if time > GROUP {
            self.in_a_row = 0;
        }
    }

    /// A call took so long; whether some that follow are not timed.
    #[inline(always)]
    pub(super) fn took(&mut self, time: Nanos) -> bool {
        // A read and a write, if they take turns.
        self.in_a_row = if time <= BRISK { self.in_a_row + 1 } else { 0 };
        let seldom = self.in_a_row >= 2;
        if seldom {
            self.untimed = SELDOM - 1;
        }
        seldom
    }

    /// The next call is timed, whatever those before it took.
    pub(super) fn time_next(&mut self) {
        self.untimed = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of so many calls are timed, each of which takes its time.
    fn timed(times: impl IntoIterator<Item = u64>) -> Vec<usize> {
        let (mut calls, mut since, mut timed) = (BriskCalls::default(), 0, Vec::new());
        for (number, us) in times.into_iter().enumerate() {
            since += us;
            if calls.times_next() {
                calls.passed(Nanos::micros(since - us));
                calls.took(Nanos::micros(us));
                since = 0;
                timed.push(number);
            }
        }
        timed
    }

    #[test]
    fn one_in_thirty_three_of_brisk_calls_and_all_others() {
        assert_eq!(timed([1; 70]), [0, 1, 34, 67]);
        assert_eq!(timed([6; 9]), (0..9).collect::<Vec<_>>());
        // One that waits for a device among those that are not timed is followed by two that are.
        let mut calls = [1; 70];
        calls[10] = 2000;
        assert_eq!(timed(calls), [0, 1, 34, 35, 68]);
    }
}
