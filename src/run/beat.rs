//! Moments at even distances, at which samples are taken.

use crate::unit::{Instant, Nanos};

/// The beat to which samples are taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beat {
    due: Instant,
    interval: Nanos,
}

impl Beat {
    /// Beats every `interval`, the first time one interval after `start`.
    ///
    /// # Panics
    /// When the interval is zero.
    pub fn new(start: Instant, interval: Nanos) -> Self {
        assert!(interval > Nanos::ZERO, "a beat needs time between its strokes");
        Self { due: start + interval, interval }
    }

    /// When the next sample is due.
    pub fn due(&self) -> Instant {
        self.due
    }

    /// Goes on to the first moment after `now`. A sample that came late does not make the next ones
    /// crowd.
    pub fn pass(&mut self, now: Instant) {
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
        let mut beat = Beat::new(Instant(5), Nanos(10));
        assert_eq!(beat.due(), Instant(15));
        for (now, due) in [(14, 15), (15, 25), (26, 35), (58, 65), (65, 75)] {
            beat.pass(Instant(now));
            assert_eq!(beat.due(), Instant(due), "at {now}");
        }
    }
}
