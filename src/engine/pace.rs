//! When the next I/O may start.

use crate::plan::{Arrivals, Rate};
use crate::unit::{Instant, Nanos};

use super::random::{Random, mix};
use super::{Io, Op};

/// The pace of one worker. Its moments are nanoseconds since its start: those since boot would
/// leave a long-lived machine too few digits after the point.
#[derive(Debug)]
pub(crate) struct Pace {
    start: Instant,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// As soon as there is room.
    Closed,
    /// At set times; latency counts from them.
    Open { next: f64, gap: f64, poisson: Option<Random> },
    /// Operation `index` of all workers is part of burst `index / ops`; latency counts from it.
    Bursts { index: u64, step: u64, ops: u64, every: u64 },
    /// No earlier than what was done so far allows.
    Capped { bytes: Bucket, ops: Bucket },
    /// The same for each action, by [`Op`].
    Each { caps: [(Bucket, Bucket); 4] },
    /// A pause after every so many.
    Thinking { left: u32, every: u32, pause: f64, next: f64 },
}

/// What one cap allows.
#[derive(Debug)]
struct Bucket {
    /// When the next I/O may start.
    next: f64,
    /// Nanoseconds for each byte, or each operation; 0: no cap.
    each: f64,
}

impl Bucket {
    fn of(each: f64) -> Self {
        Self { next: 0.0, each }
    }

    #[inline]
    fn take(&mut self, units: f64, now: f64) {
        // Lateness is caught up for 100 ms at the most: a cap, not a debt.
        self.next = self.next.max(now - 1e8) + units * self.each;
    }
}

impl Pace {
    /// The pace of one of `workers` that share a rate, from `start` on.
    pub(crate) fn new(rate: Rate, workers: u32, worker: u32, start: Instant, seed: u64) -> Self {
        let step = u64::from(workers);
        let workers = f64::from(workers);
        let kind = match rate {
            Rate::Closed => Kind::Closed,
            Rate::Open { iops, arrivals } => {
                let gap = 1e9 * workers / iops;
                // Workers take turns, so that together they are even too.
                let next = 1e9 / iops * f64::from(worker);
                // Their dice differ, or all would arrive together.
                let seed = seed.wrapping_add(mix(u64::from(worker)));
                let poisson = (arrivals == Arrivals::Poisson).then(|| Random::new(seed));
                Kind::Open { next, gap, poisson }
            }
            Rate::Bursts { ops, every } => {
                Kind::Bursts { index: u64::from(worker), step, ops, every: every.0 }
            }
            Rate::CappedBandwidth(bytes) => Kind::Capped {
                bytes: Bucket::of(1e9 * workers / bytes.0 as f64),
                ops: Bucket::of(0.0),
            },
            Rate::CappedIops(iops) => {
                Kind::Capped { bytes: Bucket::of(0.0), ops: Bucket::of(1e9 * workers / iops) }
            }
            Rate::Capped { bandwidth, iops } => Kind::Capped {
                bytes: Bucket::of(1e9 * workers / bandwidth.0 as f64),
                ops: Bucket::of(1e9 * workers / iops),
            },
            Rate::CappedEach(each) => {
                let gap = |rate: Option<f64>| rate.map_or(0.0, |rate| 1e9 * workers / rate);
                let buckets = |op: Op| {
                    let cap = each.of(op.action());
                    let bytes = gap(cap.and_then(|cap| cap.bandwidth).map(|bytes| bytes.0 as f64));
                    (Bucket::of(bytes), Bucket::of(gap(cap.and_then(|cap| cap.iops))))
                };
                Kind::Each { caps: Op::ALL.map(buckets) }
            }
            Rate::Thinking(think) => Kind::Thinking {
                left: think.every,
                every: think.every,
                pause: think.pause.0 as f64,
                next: 0.0,
            },
        };
        Self { start, kind }
    }

    /// The same for a mix that does nothing else than `does` says: nobody waits for the rest.
    pub(crate) fn among(mut self, does: impl Fn(Op) -> bool) -> Self {
        if let Kind::Each { caps } = &mut self.kind {
            for op in Op::ALL.into_iter().filter(|op| !does(*op)) {
                caps[op as usize].1.next = f64::INFINITY;
            }
        }
        self
    }

    /// The actions that may not be done at `now`, as bits by [`Op`]; none unless each has its own
    /// cap.
    #[inline]
    pub(crate) fn barred(&self, now: Instant) -> u8 {
        let Kind::Each { caps } = &self.kind else { return 0 };
        let now = now.since(self.start).0 as f64;
        let bit = |(op, cap): (usize, &(Bucket, Bucket))| u8::from(later(cap) > now) << op;
        caps.iter().enumerate().map(bit).sum()
    }

    /// When the next I/O is due; `None`: now.
    #[inline]
    pub(crate) fn due(&self) -> Option<Instant> {
        // Whoever has no pace asks all the same, for each I/O: the rest stands elsewhere.
        if matches!(self.kind, Kind::Closed) { None } else { self.paced() }
    }

    fn paced(&self) -> Option<Instant> {
        match &self.kind {
            Kind::Closed => None,
            Kind::Bursts { index, ops, every, .. } => {
                Some(self.start + Nanos((index / ops).saturating_mul(*every)))
            }
            Kind::Capped { bytes, ops } => {
                Some(self.start + Nanos(bytes.next.max(ops.next) as u64))
            }
            Kind::Each { caps } => {
                let first = caps.iter().map(later).fold(f64::INFINITY, f64::min);
                // Rounded up: then at least one may be done.
                Some(self.start + Nanos(first.ceil() as u64))
            }
            Kind::Open { next, .. } | Kind::Thinking { next, .. } => {
                Some(self.start + Nanos(*next as u64))
            }
        }
    }

    /// Whether latency counts from when an I/O was due, not from when it was sent.
    #[inline]
    pub(crate) fn counts_from_due(&self) -> bool {
        matches!(self.kind, Kind::Open { .. } | Kind::Bursts { .. })
    }

    /// An I/O was started at `now`.
    #[inline]
    pub(crate) fn started(&mut self, io: Io, now: Instant) {
        if !matches!(self.kind, Kind::Closed) {
            self.step(io, now);
        }
    }

    fn step(&mut self, io: Io, now: Instant) {
        let now = || now.since(self.start).0 as f64;
        match &mut self.kind {
            Kind::Closed => {}
            Kind::Open { next, gap, poisson } => {
                *next += match poisson {
                    // The gaps of a Poisson process are exponentially distributed.
                    Some(random) => -(1.0 - random.unit()).ln() * *gap,
                    None => *gap,
                };
            }
            Kind::Bursts { index, step, .. } => *index += *step,
            Kind::Capped { bytes, ops } => {
                let now = now();
                bytes.take(f64::from(io.len), now);
                ops.take(1.0, now);
            }
            Kind::Each { caps } => {
                let now = now();
                let (bytes, ops) = &mut caps[io.op as usize];
                bytes.take(f64::from(io.len), now);
                ops.take(1.0, now);
            }
            Kind::Thinking { left, every, pause, next } => {
                *left -= 1;
                if *left == 0 {
                    *left = *every;
                    *next = now() + *pause;
                }
            }
        }
    }
}

/// When both of two caps allow the next.
#[inline]
fn later((bytes, ops): &(Bucket, Bucket)) -> f64 {
    bytes.next.max(ops.next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(rate: Rate, worker: u32, start: Instant) -> Vec<u64> {
        let mut pace = Pace::new(rate, 2, worker, start, 7);
        let io = Io { op: crate::engine::Op::Read, file: 0, offset: 0, len: 4096 };
        (0..10_000)
            .map(|_| {
                let due = pace.due().expect("a pace");
                pace.started(io, due);
                due.since(start).0
            })
            .collect()
    }

    #[test]
    fn a_rate_is_exact_on_a_machine_that_has_been_up_for_years() {
        let rate = Rate::Open { iops: 300_000.0, arrivals: Arrivals::Even };
        let years = Instant(10 * 365 * 86_400 * 1_000_000_000);
        let young = arrivals(rate, 1, Instant(0));
        assert_eq!(arrivals(rate, 1, years), young);
        // 9999 gaps of 2/300000 s, and half a gap before.
        assert_eq!(young.last(), Some(&66_663_333));
    }

    #[test]
    fn the_stricter_of_two_caps_holds() {
        // 1 MB and 1000 operations per second: bytes hold back the large, the count the small.
        let rate = Rate::Capped { bandwidth: crate::unit::Bytes(1_000_000), iops: 1000.0 };
        for (len, gap) in [(500, 1_000_000), (1000, 1_000_000), (4000, 4_000_000)] {
            let mut pace = Pace::new(rate, 1, 0, Instant(0), 7);
            let io = Io { op: crate::engine::Op::Read, file: 0, offset: 0, len };
            for n in 0..1000 {
                let due = pace.due().expect("a pace");
                assert!(due.0.abs_diff(n * gap) <= 1, "{len}: {n} at {}", due.0);
                pace.started(io, due);
            }
        }
    }

    #[test]
    fn a_burst_comes_at_once_and_is_shared() {
        let rate = Rate::Bursts { ops: 3, every: Nanos::millis(10) };
        let [first, second] = [0, 1].map(|worker| arrivals(rate, worker, Instant(0)));
        // Operations 0, 2, 4, 6 and 1, 3, 5, 7; three in each burst.
        assert_eq!(first[..4], [0, 0, 10_000_000, 20_000_000]);
        assert_eq!(second[..4], [0, 10_000_000, 10_000_000, 20_000_000]);
    }

    #[test]
    fn workers_arrive_by_chance_but_not_together() {
        let rate = Rate::Open { iops: 1000.0, arrivals: Arrivals::Poisson };
        let gaps = |worker| {
            let all = arrivals(rate, worker, Instant(0));
            all.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>()
        };
        let (first, second) = (gaps(0), gaps(1));
        assert!(first.iter().zip(&second).filter(|(a, b)| a.abs_diff(**b) < 2).count() < 100);
        let mean = first.iter().sum::<u64>() as f64 / first.len() as f64;
        assert!((1.9e6..2.1e6).contains(&mean), "a gap of {mean} ns in the mean");
    }
}
