//! When the next I/O may start.

use std::sync::Arc;

use crate::sys::clock;
use assay_plan::plan::{Arrivals, Cap, ComputeTime, Rate, RestTime, ThinkTime};
use assay_plan::unit::{Nanos, Timestamp};

use super::random::{RandomStream, mix};
use super::{IoOp, IoRequest};

/// The pace of one worker: an I/O is due at the latest of what arrivals, caps and think time say. Its
/// moments are nanoseconds since its start: those since boot would leave a long-lived machine too few
/// digits after the point.
#[derive(Debug)]
pub(crate) struct WorkerPace {
    start: Timestamp,
    /// Whether any of what follows is there.
    held: bool,
    arrivals: Option<ArrivalClock>,
    /// What all actions share.
    cap: Option<CapBuckets>,
    /// What each action has for itself, by [`IoOp`].
    own: Option<[CapBuckets; 4]>,
    /// What draws the gaps of those, where they are drawn.
    gaps: Option<RandomStream>,
    think: Option<ThinkPause>,
    rest: Option<RestClock>,
    compute: Option<BusyClock>,
}

/// When I/Os arrive.
#[derive(Debug)]
enum ArrivalClock {
    /// So far apart.
    Even { next: f64, gap: f64 },
    /// So far apart in the mean.
    Poisson { next: f64, gap: f64, random: RandomStream },
    /// Operation `index` of all workers is part of burst `index / ops`.
    Bursts { index: u64, step: u64, ops: u64, every: u64 },
}

impl ArrivalClock {
    fn of(arrivals: Arrivals, workers: u32, worker: u32, seed: u64) -> Self {
        let gap = |iops: f64| 1e9 * f64::from(workers) / iops;
        // Workers take turns, so that together they are even too.
        let next = |iops: f64| 1e9 / iops * f64::from(worker);
        match arrivals {
            Arrivals::Even { iops } => Self::Even { next: next(iops), gap: gap(iops) },
            Arrivals::Poisson { iops } => {
                // Their dice differ, or all would arrive together.
                let random = RandomStream::new(seed.wrapping_add(mix(u64::from(worker))));
                Self::Poisson { next: next(iops), gap: gap(iops), random }
            }
            Arrivals::Bursts { ops, every } => Self::Bursts {
                index: u64::from(worker),
                step: u64::from(workers),
                ops,
                every: every.0,
            },
        }
    }

    fn next(&self) -> u64 {
        match self {
            Self::Even { next, .. } | Self::Poisson { next, .. } => *next as u64,
            Self::Bursts { index, ops, every, .. } => (index / ops).saturating_mul(*every),
        }
    }

    fn step(&mut self) {
        match self {
            Self::Even { next, gap } => *next += *gap,
            // The gaps of a Poisson process are exponentially distributed.
            Self::Poisson { next, gap, random } => *next -= (1.0 - random.unit()).ln() * *gap,
            Self::Bursts { index, step, .. } => *index += *step,
        }
    }
}

/// What the two parts of a cap allow.
#[derive(Debug)]
struct CapBuckets {
    bytes: RateBucket,
    ops: RateBucket,
}

impl CapBuckets {
    /// The share of one of so many workers, which catches up with all that held it up, or with little of it.
    fn of(cap: Cap, workers: u32, catch_up: bool) -> Self {
        let bucket = |rate: Option<f64>| RateBucket {
            next: 0.0,
            late: if catch_up { f64::INFINITY } else { RateBucket::LITTLE },
            each: rate.map_or(0.0, |rate| 1e9 * f64::from(workers) / rate),
        };
        Self { bytes: bucket(cap.bandwidth.map(|bytes| bytes.0 as f64)), ops: bucket(cap.iops) }
    }

    /// When both allow the next.
    #[inline]
    fn next(&self) -> f64 {
        self.bytes.next.max(self.ops.next)
    }

    /// Nothing was to be let through until then.
    fn wait(&mut self, end: f64) {
        self.bytes.next = self.bytes.next.max(end);
        self.ops.next = self.ops.next.max(end);
    }

    /// An I/O, and `gap` times the time that it takes of the cap.
    fn take(&mut self, io: IoRequest, now: f64, gap: f64) {
        self.bytes.take(gap * f64::from(io.len), now);
        self.ops.take(gap, now);
    }
}

/// What one cap allows.
#[derive(Debug)]
struct RateBucket {
    /// When the next I/O may start.
    next: f64,
    /// Nanoseconds for each byte, or each operation; 0: no cap.
    each: f64,
    /// Lateness that is caught up with, nanoseconds.
    late: f64,
}

impl RateBucket {
    /// A cap is no debt: 100 ms.
    const LITTLE: f64 = 1e8;

    #[inline]
    fn take(&mut self, units: f64, now: f64) {
        self.next = self.next.max(now - self.late) + units * self.each;
    }
}

/// A pause after every so many.
#[derive(Debug)]
struct ThinkPause {
    think: ThinkTime,
    /// I/Os until the next pause.
    left: u32,
    /// The end of the last.
    next: u64,
}

impl ThinkPause {
    fn of(think: ThinkTime) -> Self {
        Self { think, left: think.every, next: 0 }
    }

    fn step(&mut self, now: Nanos) {
        self.left -= 1;
        if self.left == 0 {
            self.left = self.think.every;
            self.next = now.0.saturating_add(self.think.pause.0);
        }
    }
}

/// Rests between I/Os.
#[derive(Debug)]
struct RestClock {
    rest: RestTime,
    /// I/Os since the last, and when the last of them was sent.
    sent: u32,
    last: u64,
    /// The end of the last, or the start; and of its busy part.
    next: u64,
    busy: u64,
}

impl RestClock {
    fn of(rest: RestTime) -> Self {
        Self { rest, sent: 0, last: 0, next: 0, busy: 0 }
    }

    /// Whether a rest begins now: who asks has the answers to what was sent.
    fn begins(&mut self, now: Nanos) -> bool {
        let RestTime { time, busy, every, after, load_percent, .. } = self.rest;
        let counted = every > 0 && self.sent >= every;
        let late = after > Nanos::ZERO && now.0.saturating_sub(self.next) >= after.0;
        let begins = self.sent > 0 && (counted || late);
        if begins {
            self.sent = 0;
            let time = match u64::from(load_percent) {
                0 => time,
                load => Nanos(now.0.saturating_sub(self.last).saturating_mul(100 - load) / load),
            };
            (self.next, self.busy) = (now.0.saturating_add(time.0), now.0.saturating_add(busy.0));
        }
        begins
    }
}

/// Time between I/Os that a worker spends on something else.
#[derive(Debug)]
struct BusyClock {
    /// In turn, each before so many I/Os.
    each: Arc<[Nanos]>,
    every: u64,
    idle: bool,
    /// I/Os that were started.
    started: u64,
    /// The end of that before the next; not known until somebody asks when that is due, which is when all that
    /// was to be waited for was answered.
    next: Option<u64>,
}

impl BusyClock {
    fn of(each: Arc<[Nanos]>, every: u32, idle: bool) -> Option<Self> {
        let some = each.iter().any(|time| *time > Nanos::ZERO);
        some.then_some(Self { each, every: u64::from(every), idle, started: 0, next: None })
    }

    fn next(&mut self, now: Nanos) -> u64 {
        let time = match self.started % self.every {
            0 => self.each[(self.started / self.every % self.each.len() as u64) as usize],
            _ => Nanos::ZERO,
        };
        *self.next.get_or_insert(now.0.saturating_add(time.0))
    }

    fn step(&mut self) {
        self.next = None;
        self.started += 1;
    }
}

impl WorkerPace {
    /// The pace of one of `workers` that share a rate, before it starts.
    pub(crate) fn new(rate: Rate, workers: u32, worker: u32, seed: u64) -> Self {
        let Rate { arrivals, caps, think, rest, compute } = rate;
        let own =
            || IoOp::ALL.map(|op| CapBuckets::of(caps.of(op.action()), workers, caps.catch_up));
        Self {
            start: Timestamp::default(),
            held: !rate.is_closed(),
            arrivals: arrivals.map(|arrivals| ArrivalClock::of(arrivals, workers, worker, seed)),
            cap: (caps.all != Cap::NONE).then(|| CapBuckets::of(caps.all, workers, caps.catch_up)),
            own: caps.has_own().then(own),
            gaps: caps.poisson.then(|| RandomStream::new(seed.wrapping_add(mix(worker.into())))),
            think: think.map(ThinkPause::of),
            rest: rest.map(RestClock::of),
            compute: compute
                .and_then(|it| BusyClock::of(Arc::from([whole(it)]), it.every, it.idle)),
        }
    }

    /// The worker starts.
    pub(crate) fn start(&mut self, now: Timestamp) {
        self.start = now;
    }

    /// The same with times of its own before each I/O, in turn, where there are such.
    pub(crate) fn computing(mut self, each: Option<Arc<[Nanos]>>) -> Self {
        if let Some(compute) = each.and_then(|each| BusyClock::of(each, 1, false)) {
            (self.compute, self.held) = (Some(compute), true);
        }
        self
    }

    /// Until when the CPU is kept busy in a rest that began; none where it is not.
    pub(crate) fn busy_until(&self, now: Timestamp) -> Option<Timestamp> {
        let end = self.start + Nanos(self.rest.as_ref()?.busy);
        (end > now).then_some(end)
    }

    /// Whether the CPU is kept busy until the next I/O is due.
    pub(crate) fn computes(&self) -> bool {
        self.compute.as_ref().is_some_and(|compute| !compute.idle)
    }

    /// The same for a mix that does nothing else than `does` says: nobody waits for the rest.
    pub(crate) fn among(mut self, does: impl Fn(IoOp) -> bool) -> Self {
        if let Some(own) = &mut self.own {
            for op in IoOp::ALL.into_iter().filter(|op| !does(*op)) {
                own[op as usize].ops.next = f64::INFINITY;
            }
        }
        self
    }

    /// The actions that may not be done at `now`, as bits by [`IoOp`]; none unless one has its own
    /// cap.
    #[inline]
    pub(crate) fn barred(&self, now: Timestamp) -> u8 {
        let Some(own) = &self.own else { return 0 };
        let now = now.since(self.start).0 as f64;
        let bit = |(op, cap): (usize, &CapBuckets)| u8::from(cap.next() > now) << op;
        own.iter().enumerate().map(bit).sum()
    }

    /// When the next I/O is due; `None`: now.
    #[inline]
    pub(crate) fn due(&mut self, now: Timestamp) -> Option<Timestamp> {
        // Whoever has no pace asks all the same, for each I/O: the rest stands elsewhere.
        if self.held { Some(self.latest(now)) } else { None }
    }

    /// The latest of what each says.
    #[cold]
    fn latest(&mut self, now: Timestamp) -> Timestamp {
        let mut due = self.arrivals.as_ref().map_or(0, ArrivalClock::next);
        if let Some(cap) = &self.cap {
            due = due.max(cap.next() as u64);
        }
        if let Some(own) = &self.own {
            let first = own.iter().map(CapBuckets::next).fold(f64::INFINITY, f64::min);
            // Rounded up: then at least one may be done.
            due = due.max(first.ceil() as u64);
        }
        if let Some(think) = &self.think {
            due = due.max(think.next);
        }
        if let Some(rest) = &mut self.rest {
            if rest.begins(now.since(self.start)) && rest.rest.uncapped {
                let caps = self.cap.iter_mut().chain(self.own.iter_mut().flatten());
                caps.for_each(|cap| cap.wait(rest.next as f64));
            }
            due = due.max(rest.next);
        }
        if let Some(compute) = &mut self.compute {
            due = due.max(compute.next(now.since(self.start)));
        }
        self.start + Nanos(due)
    }

    /// Whether latency counts from when an I/O was due, not from when it was sent: only where it
    /// arrives. What caps and pauses of the plan hold back is late by nobody's fault.
    #[inline]
    pub(crate) fn counts_from_due(&self) -> bool {
        self.arrivals.is_some()
    }

    /// An I/O was started at `now`.
    #[inline]
    pub(crate) fn started(&mut self, io: IoRequest, now: Timestamp) {
        if self.held {
            self.step(io, now);
        }
    }

    #[cold]
    fn step(&mut self, io: IoRequest, now: Timestamp) {
        let now = now.since(self.start);
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.step();
        }
        if let Some(cap) = &mut self.cap {
            cap.take(io, now.0 as f64, 1.0);
        }
        if let Some(own) = &mut self.own {
            // The gaps of a Poisson process are exponentially distributed.
            let gap = |random: &mut RandomStream| -(1.0 - random.unit()).ln();
            let gap = self.gaps.as_mut().map_or(1.0, gap);
            own[io.op as usize].take(io, now.0 as f64, gap);
        }
        if let Some(think) = &mut self.think {
            think.step(now);
        }
        if let Some(rest) = &mut self.rest {
            rest.sent += 1;
            rest.last = now.0;
        }
        if let Some(compute) = &mut self.compute {
            compute.step();
        }
    }
}

/// Time that is spent on something else, whatever it is counted in. Where no counter can be read a plan that counts in
/// cycles was refused.
fn whole(compute: ComputeTime) -> Nanos {
    compute.time + clock::of_cycles(compute.cycles).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use assay_plan::plan::{Caps, ComputeTime};
    use assay_plan::unit::Bytes;

    fn read(len: u32) -> IoRequest {
        IoRequest { op: IoOp::Read, file: 0, offset: 0, len }
    }

    fn arrivals(rate: Rate, worker: u32, start: Timestamp) -> Vec<u64> {
        let mut pace = WorkerPace::new(rate, 2, worker, 7);
        pace.start(start);
        (0..10_000)
            .map(|_| {
                let due = pace.due(Timestamp(0)).expect("a pace");
                pace.started(read(4096), due);
                due.since(start).0
            })
            .collect()
    }

    #[test]
    fn a_rate_is_exact_on_a_machine_that_has_been_up_for_years() {
        let rate = Rate::arriving(Arrivals::Even { iops: 300_000.0 });
        let years = Timestamp(10 * 365 * 86_400 * 1_000_000_000);
        let young = arrivals(rate, 1, Timestamp(0));
        assert_eq!(arrivals(rate, 1, years), young);
        // 9999 gaps of 2/300000 s, and half a gap before.
        assert_eq!(young.last(), Some(&66_663_333));
    }

    #[test]
    fn what_was_held_up_is_caught_up_with_wholly_or_for_100_ms() {
        // 100 operations per second, and a second in which nothing is sent.
        let burst = |catch_up| {
            let caps = Caps { catch_up, ..Caps::of_all(Cap::of_iops(100.0)) };
            let mut pace = WorkerPace::new(Rate::capped(caps), 1, 0, 7);
            pace.started(read(512), Timestamp(0));
            let now = Timestamp(1_000_000_000);
            let mut sent = 0;
            while pace.due(now).is_none_or(|due| due <= now) {
                pace.started(read(512), now);
                sent += 1;
            }
            sent
        };
        assert_eq!((burst(true), burst(false)), (100, 11));
    }

    #[test]
    fn the_stricter_of_two_caps_holds() {
        // 1 MB and 1000 operations per second: bytes hold back the large, the count the small.
        let rate = Rate::capped(Caps::of_all(Cap {
            bandwidth: Some(Bytes(1_000_000)),
            iops: Some(1000.0),
        }));
        for (len, gap) in [(500, 1_000_000), (1000, 1_000_000), (4000, 4_000_000)] {
            let mut pace = WorkerPace::new(rate, 1, 0, 7);
            for n in 0..1000 {
                let due = pace.due(Timestamp(0)).expect("a pace");
                assert!(due.0.abs_diff(n * gap) <= 1, "{len}: {n} at {}", due.0);
                pace.started(read(len), due);
            }
        }
    }

    #[test]
    fn a_burst_comes_at_once_and_is_shared() {
        let rate = Rate::arriving(Arrivals::Bursts { ops: 3, every: Nanos::millis(10) });
        let [first, second] = [0, 1].map(|worker| arrivals(rate, worker, Timestamp(0)));
        // Operations 0, 2, 4, 6 and 1, 3, 5, 7; three in each burst.
        assert_eq!(first[..4], [0, 0, 10_000_000, 20_000_000]);
        assert_eq!(second[..4], [0, 10_000_000, 10_000_000, 20_000_000]);
    }

    #[test]
    fn workers_arrive_by_chance_but_not_together() {
        let rate = Rate::arriving(Arrivals::Poisson { iops: 1000.0 });
        let gaps = |worker| {
            let all = arrivals(rate, worker, Timestamp(0));
            all.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>()
        };
        let (first, second) = (gaps(0), gaps(1));
        assert!(first.iter().zip(&second).filter(|(a, b)| a.abs_diff(**b) < 2).count() < 100);
        let mean = first.iter().sum::<u64>() as f64 / first.len() as f64;
        assert!((1.9e6..2.1e6).contains(&mean), "a gap of {mean} ns in the mean");
    }

    #[test]
    fn what_is_not_held_is_never_due_later() {
        let mut pace = WorkerPace::new(Rate::default(), 3, 1, 7);
        pace.start(Timestamp(9));
        for n in 0..1000 {
            assert_eq!((pace.due(Timestamp(n)), pace.barred(Timestamp(n))), (None, 0));
            assert!(!pace.counts_from_due());
            pace.started(read(u32::MAX), Timestamp(n));
        }
    }

    #[test]
    fn arrivals_caps_and_pauses_meet() {
        // Six at once every 50 ms; 250 a second, so 4 ms apart; after every fourth, 20 ms.
        let rate = Rate {
            arrivals: Some(Arrivals::Bursts { ops: 6, every: Nanos::millis(50) }),
            caps: Caps::of_all(Cap::of_iops(250.0)),
            think: Some(ThinkTime { pause: Nanos::millis(20), every: 4 }),
            ..Rate::CLOSED
        };
        let mut pace = WorkerPace::new(rate, 1, 0, 7);
        assert!(pace.counts_from_due());
        let due: Vec<u64> = (0..13)
            .map(|_| {
                let due = pace.due(Timestamp(0)).expect("a pace");
                pace.started(read(4096), due);
                assert_eq!(due.0 % 1_000_000, 0);
                due.0 / 1_000_000
            })
            .collect();
        // The cap; then the pause until 32, in which the cap gathered room for four (16, 20, 24, 28);
        // the burst at 50, and its third after the pause that its second began; the burst at 100.
        assert_eq!(due, [0, 4, 8, 12, 32, 32, 50, 50, 70, 70, 70, 70, 100]);
    }

    #[test]
    fn a_rest_begins_with_the_answer_and_is_busy_at_first() {
        let rest = RestTime { time: Nanos(100), busy: Nanos(30), every: 2, ..RestTime::default() };
        let of = |rest| {
            let mut pace = WorkerPace::new(Rate { rest: Some(rest), ..Rate::CLOSED }, 1, 0, 7);
            pace.start(Timestamp(5));
            pace
        };
        let due = |pace: &mut WorkerPace, now| pace.due(Timestamp(now)).map(|due| due.0);
        let mut pace = of(rest);
        assert_eq!(due(&mut pace, 5), Some(5), "none before the first");
        pace.started(read(512), Timestamp(5));
        assert_eq!(due(&mut pace, 20), Some(5), "nor after one");
        pace.started(read(512), Timestamp(20));
        assert_eq!(due(&mut pace, 40), Some(140));
        assert_eq!(due(&mut pace, 90), Some(140), "asked again, it is not put off");
        assert_eq!(pace.busy_until(Timestamp(50)), Some(Timestamp(70)));
        assert_eq!(pace.busy_until(Timestamp(70)), None);

        // After a time without a rest, however many I/Os that are.
        let mut pace = of(RestTime { every: 0, after: Nanos(1000), ..rest });
        pace.started(read(512), Timestamp(5));
        assert_eq!(due(&mut pace, 1004), Some(5));
        assert_eq!(due(&mut pace, 1005), Some(1105));
        pace.started(read(512), Timestamp(1105));
        assert_eq!(due(&mut pace, 2104), Some(1105));
        assert_eq!(due(&mut pace, 2105), Some(2205));
    }

    #[test]
    fn what_a_cap_holds_back_in_a_rest_is_caught_up_with_or_not() {
        // 1000 I/Os a second, and 50 ms of rest after each third.
        let due_after = |uncapped| {
            let rest =
                RestTime { time: Nanos::millis(50), every: 3, uncapped, ..RestTime::default() };
            let caps = Caps::of_all(Cap::of_iops(1000.0));
            let rate = Rate { caps, rest: Some(rest), ..Rate::CLOSED };
            let mut pace = WorkerPace::new(rate, 1, 0, 7);
            let mut now = Timestamp(0);
            let mut all = Vec::new();
            for _ in 0..6 {
                now = now.max(pace.due(now).expect("a pace"));
                all.push(now.0 / 1_000_000);
                pace.started(read(4096), now);
            }
            all
        };
        assert_eq!(due_after(false), [0, 1, 2, 52, 52, 52]);
        assert_eq!(due_after(true), [0, 1, 2, 52, 53, 54]);
    }

    #[test]
    fn what_is_computed_begins_with_the_answer() {
        let compute = ComputeTime { time: Nanos(100), cycles: 0, every: 1, idle: false };
        let busy = Rate { compute: Some(compute), ..Rate::CLOSED };
        let mut pace = WorkerPace::new(busy, 1, 0, 7);
        assert!(pace.computes() && !pace.counts_from_due());
        let due = |pace: &mut WorkerPace, now| pace.due(Timestamp(now)).map(|due| due.0);
        assert_eq!(due(&mut pace, 5), Some(105));
        // Asked again, it is not put off.
        assert_eq!(due(&mut pace, 60), Some(105));
        pace.started(read(512), Timestamp(105));
        assert_eq!(due(&mut pace, 1000), Some(1100));
        let listed = WorkerPace::new(Rate::CLOSED, 1, 0, 7);
        let mut listed = listed.computing(Some(Arc::from([Nanos(7), Nanos(0)])));
        for (now, then) in [(0, 7), (50, 50), (90, 97)] {
            assert_eq!(due(&mut listed, now), Some(then));
            listed.started(read(512), Timestamp(then));
        }
        let every = ComputeTime { every: 2, idle: true, ..compute };
        let every = Rate { compute: Some(every), ..Rate::CLOSED };
        let mut every = WorkerPace::new(every, 1, 0, 7);
        assert!(!every.computes());
        for (now, then) in [(0, 100), (150, 150), (200, 300)] {
            assert_eq!(due(&mut every, now), Some(then));
            every.started(read(512), Timestamp(then));
        }
        let none = WorkerPace::new(Rate::CLOSED, 1, 0, 7);
        assert!(!none.computing(Some(Arc::from([Nanos(0)]))).computes());
    }

    proptest! {
        #[test]
        fn an_io_is_due_at_the_latest_of_what_each_says(
            arrivals in prop_oneof![
                (1.0..1e6).prop_map(|iops| Arrivals::Even { iops }),
                (1.0..1e6).prop_map(|iops| Arrivals::Poisson { iops }),
                (1_u64..50, 1_u64..1_000_000_000)
                    .prop_map(|(ops, every)| Arrivals::Bursts { ops, every: Nanos(every) }),
            ],
            all in (prop::option::of(1_u64..1 << 30), prop::option::of(1.0..1e6)),
            own in (prop::option::of(1_u64..1 << 30), prop::option::of(1.0..1e6)),
            (pause, every) in (1_u64..100_000_000, 1_u32..50),
            (workers, worker) in (3_u32..5, 0_u32..3),
            ios in prop::collection::vec((any::<bool>(), 1_u32..1 << 20, 0_u64..10_000_000), 1..200),
        ) {
            let cap = |(bytes, iops): (Option<u64>, Option<f64>)| {
                Cap { bandwidth: bytes.map(Bytes), iops }
            };
            let caps = Caps { all: cap(all), write: cap(own), ..Caps::NONE };
            let think = ThinkTime { pause: Nanos(pause), every };
            let start = Timestamp(1 << 50);
            let [mut whole, mut arriving, mut together, mut apart, mut thinking] = [
                Rate { arrivals: Some(arrivals), caps, think: Some(think), ..Rate::CLOSED },
                Rate::arriving(arrivals),
                Rate::capped(Caps::of_all(caps.all)),
                Rate::capped(Caps { all: Cap::NONE, ..caps }),
                Rate::thinking(think),
            ]
            .map(|rate| {
                let mut pace = WorkerPace::new(rate, workers, worker, 7);
                pace.start(start);
                pace
            });
            for (write, len, late) in ios {
                let due = whole.due(start);
                let each = [&mut arriving, &mut together, &mut apart, &mut thinking]
                    .map(|pace| pace.due(start));
                prop_assert_eq!(due, each.into_iter().max().flatten());
                let now = due.expect("a pace") + Nanos(late);
                prop_assert_eq!(whole.barred(now), apart.barred(now));
                prop_assert!(whole.barred(now).count_ones() < 4);
                let op = if write { IoOp::Write } else { IoOp::Read };
                let io = IoRequest { op, ..read(len) };
                for pace in [&mut whole, &mut arriving, &mut together, &mut apart, &mut thinking] {
                    pace.started(io, now);
                }
            }
        }
    }
}
