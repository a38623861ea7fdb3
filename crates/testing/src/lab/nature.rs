//! What the speed of a served disk depends on, beside how much it is asked for.

use std::time::{Duration, Instant};

use super::paced::PacedFuse;
use super::{Card, Speed};

/// A disk's way of being fast and slow.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Nature {
    /// The same always and everywhere.
    #[default]
    Even,
    /// A write cache of so many bytes: what fits is taken at once and goes on at the disk's speed. A flush waits for it.
    Cache(u64),
    /// From each address on (ascending), so many percent of the disk's speed.
    Zones(Vec<(u64, u32)>),
    /// Blocks of 4 KiB that are all zeros cost nothing.
    FreeZeros,
    /// It works for the first time, stands still for the second, and so on.
    Comes(Duration, Duration),
    /// Its speed falls evenly from 100 % to so many percent while so many bytes are written.
    Tires { over: u64, to: u32 },
}

/// What is asked of the disk.
pub(super) struct Part<'a> {
    pub offset: u64,
    pub data: Option<&'a [u8]>,
    /// Bytes that have to pass at the disk's speed.
    pub bytes: u64,
}

/// The calendar of the disk's only server.
pub(super) struct Calendar {
    pub speed: Speed,
    pub nature: Nature,
    /// When everything accepted so far will be done.
    pub free: Instant,
    since: Instant,
    /// Bytes written since the nature was given.
    worn: u64,
}

/// How much time an idle server may make up for. Without any, every gap between two requests of a
/// single reader would be lost for good; with this much, an idle second still is worth nothing.
const SLACK: Duration = Duration::from_millis(10);

impl Calendar {
    pub(super) fn new(speed: Speed) -> Calendar {
        let now = Instant::now();
        Calendar { speed, nature: Nature::Even, free: now, since: now, worn: 0 }
    }

    pub(super) fn be(&mut self, nature: Nature) {
        *self = Calendar { nature, ..Calendar::new(self.speed) };
    }

    /// When a request that came now will be answered.
    pub(super) fn due(&mut self, asked: &Part<'_>) -> Instant {
        let write = asked.data.is_some();
        let (bps, iops) = match write {
            true => (self.speed.write_bps, self.speed.write_iops),
            false => (self.speed.read_bps, self.speed.read_iops),
        };
        let seconds = |amount: u64, limit: u64| match limit {
            0 => 0.0,
            limit => amount as f64 / limit as f64,
        };
        let cost = seconds(self.costly(asked), bps).max(seconds(1, iops)) / self.share(asked);
        let now = Instant::now();
        let earliest = now.checked_sub(SLACK).map_or(self.free, |earliest| self.free.max(earliest));
        self.free = self.resumed(earliest, Duration::from_secs_f64(cost));
        if write {
            self.worn += asked.bytes;
        }
        match self.nature {
            Nature::Cache(bytes) if write => {
                let cached = Duration::from_secs_f64(seconds(bytes, bps));
                self.free.checked_sub(cached).map_or(now, |due| due.max(now))
            }
            _ => self.free,
        }
    }

    /// Bytes of a request that take time.
    fn costly(&self, asked: &Part<'_>) -> u64 {
        const BLOCK: usize = 4096;
        match (&self.nature, asked.data) {
            (Nature::FreeZeros, Some(data)) => {
                let full = |block: &&[u8]| block.iter().any(|byte| *byte != 0);
                data.chunks(BLOCK).filter(full).map(|block| block.len() as u64).sum()
            }
            _ => asked.bytes,
        }
    }

    /// The share of its speed that it has for a request.
    fn share(&self, asked: &Part<'_>) -> f64 {
        match &self.nature {
            Nature::Zones(zones) => {
                let zone = zones.iter().rev().find(|(from, _)| *from <= asked.offset);
                zone.map_or(1.0, |(_, percent)| f64::from(*percent) / 100.0)
            }
            Nature::Tires { over, to } => {
                let far = (self.worn as f64 / *over as f64).min(1.0);
                1.0 - far * (1.0 - f64::from(*to) / 100.0)
            }
            _ => 1.0,
        }
    }

    /// When work of so much time that begins then is done, where it stands still at times.
    fn resumed(&self, begun: Instant, cost: Duration) -> Instant {
        let Nature::Comes(on, off) = self.nature else { return begun + cost };
        let (on, round) = (on.as_secs_f64(), (on + off).as_secs_f64());
        let at = begun.saturating_duration_since(self.since).as_secs_f64();
        // Time worked until `at`, of each round its first part; then the moment at which so much more was worked.
        let worked = (at / round).floor() * on + (at % round).min(on) + cost.as_secs_f64();
        let rounds = (worked / on).ceil() - 1.0;
        let done = rounds.max(0.0) * round + (worked - rounds.max(0.0) * on);
        self.since + Duration::from_secs_f64(done.max(at))
    }
}

impl PacedFuse {
    /// From now on its speed depends on this.
    pub fn be(&self, nature: Nature) {
        self.calendar().be(nature);
    }
}

impl Card {
    /// From now on its speed depends on this; only of a card that a server slows.
    pub fn be(&self, nature: Nature) {
        let Some(paced) = &self.paced else { panic!("nobody serves this card") };
        paced.be(nature);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calendar(nature: Nature) -> Calendar {
        let mut calendar = Calendar::new(Speed::bytes(1000, 1000));
        calendar.be(nature);
        calendar
    }

    /// Seconds from the beginning until a request of so many bytes at an address is answered.
    fn asked(calendar: &mut Calendar, offset: u64, data: &[u8]) -> f64 {
        let bytes = data.len() as u64;
        let due = calendar.due(&Part { offset, data: Some(data), bytes });
        due.saturating_duration_since(calendar.since).as_secs_f64()
    }

    #[track_caller]
    fn about(seconds: f64, expected: f64) {
        assert!((seconds - expected).abs() < 0.05, "{seconds} is not {expected}");
    }

    #[test]
    fn a_cache_takes_what_fits_at_once() {
        let mut disk = calendar(Nature::Cache(2000));
        about(asked(&mut disk, 0, &[1; 2000]), 0.0);
        about(asked(&mut disk, 0, &[1; 1000]), 1.0);
    }

    #[test]
    fn zones_zeros_pauses_and_wear() {
        let mut zones = calendar(Nature::Zones(vec![(0, 100), (1 << 20, 50)]));
        about(asked(&mut zones, 0, &[1; 1000]), 1.0);
        about(asked(&mut zones, 1 << 20, &[1; 1000]), 3.0);
        let mut zeros = calendar(Nature::FreeZeros);
        about(asked(&mut zeros, 0, &[0; 5000]), 0.0);
        about(asked(&mut zeros, 0, &[1; 1000]), 1.0);
        let second = Duration::from_secs(1);
        let mut comes = calendar(Nature::Comes(second, second));
        about(asked(&mut comes, 0, &[1; 500]), 0.5);
        about(asked(&mut comes, 0, &[1; 1000]), 2.5);
        about(asked(&mut comes, 0, &[1; 1500]), 5.0);
        let mut tires = calendar(Nature::Tires { over: 2000, to: 50 });
        about(asked(&mut tires, 0, &[1; 2000]), 2.0);
        about(asked(&mut tires, 0, &[1; 1000]), 4.0);
    }
}
