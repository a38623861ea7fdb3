//! Moments at even distances, at which samples are taken.

use assay_plan::unit::{Nanos, Timestamp};

/// The beat to which samples are taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampleTimer {
    due: Timestamp,
    interval: Nanos,
}

impl SampleTimer {
    /// Beats every `interval`, the first time one interval after `start`.
    ///
    /// # Panics
    /// When the interval is zero.
    pub fn new(start: Timestamp, interval: Nanos) -> Self {
        assert!(interval > Nanos::ZERO, "a beat needs time between its strokes");
        Self { due: start + interval, interval }
    }

    /// When the next sample is due.
    pub fn due(&self) -> Timestamp {
        self.due
    }

    /// Goes on to the first moment after `now`. A sample that came late does not make the next ones
    /// crowd.
    pub fn pass(&mut self, now: Timestamp) {
        if now >= self.due {
            let missed = now.since(self.due).0 / self.interval.0;
            self.due = self.due + Nanos(self.interval.0.saturating_mul(missed + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_samples_do_not_crowd_and_the_beat_stays_even() {
        let mut sample_timer = SampleTimer::new(Timestamp(5), Nanos(10));
        assert_eq!(sample_timer.due(), Timestamp(15));
        for (now, due) in [(14, 15), (15, 25), (26, 35), (58, 65), (65, 75)] {
            sample_timer.pass(Timestamp(now));
            assert_eq!(sample_timer.due(), Timestamp(due), "at {now}");
        }
    }
}
