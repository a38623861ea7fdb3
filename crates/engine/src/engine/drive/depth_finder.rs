//! The search for the depth at which I/Os keep to a latency.

use assay_plan::plan::DepthSearch;
use assay_plan::unit::Timestamp;

/// What is to be done when a window is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowEnd {
    Search,
    /// The depth is found: what follows is the result.
    LastWindow,
    /// That is over, too.
    Done,
}

/// How deep the queue may be just now. It begins with one I/O, and doubles as long as windows keep to the target;
/// from the first that does not it is halved between what did and what did not.
#[derive(Debug)]
pub(super) struct DepthFinder {
    search: DepthSearch,
    /// I/Os that are kept in flight.
    depth: u32,
    /// The deepest that kept to the target.
    low: u32,
    /// The shallowest that did not, or the most.
    high: u32,
    most: u32,
    /// Windows in a row that could not go deeper.
    stable: u32,
    since: Timestamp,
    /// I/Os of this window, and those that took too long.
    ios: u64,
    late: u64,
    last_window: bool,
    /// What is in flight comes back before anything is sent.
    drains: bool,
}

impl DepthFinder {
    pub(super) fn new(search: DepthSearch, most: u32, now: Timestamp) -> Self {
        Self {
            search,
            depth: 1,
            low: 1,
            high: most,
            most,
            stable: 0,
            since: now,
            ios: 0,
            late: 0,
            last_window: false,
            drains: false,
        }
    }

    /// The latency that is kept to, ns.
    pub(super) fn target_ns(&self) -> u64 {
        self.search.target.0
    }

    /// Whether no other I/O may be sent beside so many.
    pub(super) fn holds(&mut self, in_flight: u32) -> bool {
        self.drains &= in_flight > 0;
        self.drains || in_flight >= self.depth
    }

    /// When the window is over.
    pub(super) fn ends(&self) -> Timestamp {
        self.since + self.search.window
    }

    /// An I/O took so long, ns. True: too long, with one in flight and none allowed to be late.
    pub(super) fn answered(&mut self, lat_ns: u64, now: Timestamp) -> bool {
        self.ios += 1;
        if lat_ns <= self.search.target.0 {
            return false;
        }
        if self.search.percent < 100.0 {
            self.late += 1;
            return false;
        }
        !self.shallower(now)
    }

    /// The window is over.
    pub(super) fn end_window(&mut self, now: Timestamp) -> WindowEnd {
        let kept = 100.0 * (self.ios - self.late) as f64 / self.ios as f64;
        if kept >= self.search.percent {
            return self.deeper(now);
        }
        self.shallower(now);
        WindowEnd::Search
    }

    fn begin_window(&mut self, now: Timestamp) {
        (self.since, self.ios, self.late) = (now, 0, 0);
    }

    /// Fewer in flight; false: there is one.
    fn shallower(&mut self, now: Timestamp) -> bool {
        if self.depth == 1 {
            return false;
        }
        self.high = self.depth;
        if self.depth == self.low {
            self.low -= 1;
        }
        self.depth = u32::midpoint(self.depth, self.low);
        (self.stable, self.drains) = (0, true);
        self.begin_window(now);
        true
    }

    /// More in flight, where there is any depth between what keeps to the target and what does not.
    fn deeper(&mut self, now: Timestamp) -> WindowEnd {
        let before = self.depth;
        self.low = before;
        if before + 1 == self.high {
            self.stable += 1;
            if self.stable >= 3 {
                (self.high, self.stable) = (self.high + 1, 0);
            }
        }
        let next = match self.high == self.most {
            true => before.saturating_mul(2),
            false => u32::midpoint(before, self.high),
        };
        self.depth = next.min(self.most);
        self.begin_window(now);
        match self.depth == before && !self.search.endless {
            false => WindowEnd::Search,
            true if self.last_window => WindowEnd::Done,
            true => {
                (self.last_window, self.drains) = (true, true);
                WindowEnd::LastWindow
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_plan::unit::Nanos;

    const MS: u64 = 1_000_000;

    /// The depths of the windows of a device whose latency is 100 us times the depth, until all is over.
    fn depths(target_us: u64, most: u32) -> Vec<u32> {
        let (target, window) = (Nanos::micros(target_us), Nanos::millis(1));
        let search = DepthSearch { target, window, percent: 99.0, endless: false };
        let mut finder = DepthFinder::new(search, most, Timestamp(0));
        let mut all = Vec::new();
        for window in 1..200 {
            assert!(!finder.holds(0));
            all.push(finder.depth);
            let now = Timestamp(window * MS);
            for _ in 0..50 {
                assert!(!finder.answered(u64::from(finder.depth) * 100_000, now));
            }
            if finder.end_window(now) == WindowEnd::Done {
                return all;
            }
        }
        panic!("it has no end: {all:?}")
    }

    #[test]
    fn a_depth_is_doubled_until_it_is_too_deep_and_then_halved() {
        assert_eq!(depths(10_000, 16), [1, 2, 4, 8, 16, 16]);
        assert_eq!(depths(650, 64), [1, 2, 4, 8, 6, 7, 6, 6]);
        assert_eq!(depths(100, 8), [1, 2, 1, 1]);
    }

    #[test]
    fn no_io_may_be_late_where_all_are_to_be_in_time() {
        let (target, window) = (Nanos::micros(100), Nanos::secs(1));
        let search = DepthSearch { target, window, percent: 100.0, endless: true };
        let mut finder = DepthFinder::new(search, 8, Timestamp(0));
        assert!(!finder.answered(100_000, Timestamp(1)));
        assert!(finder.answered(100_001, Timestamp(1)), "one I/O in flight, and too late");
        finder.end_window(Timestamp(2));
        assert_eq!(finder.depth, 2);
        assert!(!finder.answered(100_001, Timestamp(3)));
        assert!(finder.holds(1), "what is in flight comes back first");
        assert!(!finder.holds(0));
        assert_eq!(finder.depth, 1);
    }
}
