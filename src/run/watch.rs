//! Takes samples while others work: live counters and device counters at the same moment, ten
//! times a second, from a thread that does no I/O of its own.

use crate::evidence::{Census, DiskCounters, Eyes, Layer, Neighbours, Reading, Subject};
use crate::plan::Phase;
use crate::record::{Point, Quiet, QuietDevice, Series};
use crate::stats::GaugeReading;
use crate::stats::copy::CopyCounts;
use crate::sys::clock;
use crate::sys::inbox::{Inbox, Letter};
use crate::unit::{Bytes, Instant, Nanos};

use super::beat::Beat;
use super::{Live, Observer};

/// Distance of two samples.
pub(super) const INTERVAL: Nanos = Nanos::millis(100);

/// What has been done so far, by whoever does it.
pub(super) type Progress<'a> = &'a dyn Fn() -> (GaugeReading, Option<CopyCounts>);

/// Samples of one phase.
pub(super) struct Watch<'a> {
    eyes: &'a Eyes,
    leaves: Vec<usize>,
    /// The devices that the paths name; none where these are the leaves.
    tops: Vec<usize>,
    counters: Vec<Option<DiskCounters>>,
    before: Moved,
    done: GaugeReading,
    started: Instant,
    beat: Beat,
    series: Series,
    goal: Option<Bytes>,
    limit: Option<Nanos>,
    /// Who was there at the first sample.
    census: Option<Result<Census, String>>,
}

/// Bytes that devices have moved since boot, read at one moment; absent what can not be read.
#[derive(Clone, Copy, Default)]
struct Moved {
    leaf_read: Option<u64>,
    leaf_write: Option<u64>,
    top_write: Option<u64>,
}

/// Why watching ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Over {
    /// The work is done.
    Done,
    /// A signal came.
    Signal(i32),
}

impl<'a> Watch<'a> {
    /// A watch over the leaves of these subjects, which starts now.
    pub fn new(eyes: &'a Eyes, subjects: &[&Subject]) -> Self {
        let those = |wanted: fn(&Layer) -> bool| -> Vec<usize> {
            let layers = || subjects.iter().flat_map(|subject| &subject.stack);
            let named = |name| layers().any(|layer| wanted(layer) && layer.name == name);
            eyes.names().enumerate().filter(|(_, name)| named(*name)).map(|(at, _)| at).collect()
        };
        let leaves = those(|layer| layer.leaf);
        let mut tops = those(|layer| layer.level == 0);
        if tops == leaves {
            tops.clear();
        }
        let series = Series { interval_ns: INTERVAL, points: Vec::with_capacity(1024) };
        let started = clock::now();
        let mut watch = Self {
            eyes,
            leaves,
            tops,
            counters: Vec::new(),
            before: Moved::default(),
            done: GaugeReading::default(),
            started,
            beat: Beat::new(started, INTERVAL),
            series,
            goal: None,
            limit: None,
            census: None,
        };
        watch.before = watch.moved();
        watch.restart();
        watch
    }

    /// Begins to count from now on.
    pub fn restart(&mut self) {
        self.started = clock::now();
        self.beat = Beat::new(self.started, INTERVAL);
    }

    /// What will be done, if that is known: bytes, and time.
    pub fn expect(&mut self, goal: Option<Bytes>, limit: Option<Nanos>) {
        self.goal = goal;
        self.limit = limit;
    }

    /// What the devices have moved since boot.
    fn moved(&mut self) -> Moved {
        self.eyes.devices(&mut self.counters);
        let sum = |devices: &[usize], which: fn(&DiskCounters) -> u64| {
            let of = |&device: &usize| self.counters.get(device)?.as_ref().map(which);
            devices.iter().map(of).sum::<Option<u64>>().filter(|_| !devices.is_empty())
        };
        Moved {
            leaf_read: sum(&self.leaves, |counters| counters.read_bytes),
            leaf_write: sum(&self.leaves, |counters| counters.write_bytes),
            top_write: sum(&self.tops, |counters| counters.write_bytes),
        }
    }

    /// Takes one sample.
    fn sample(&mut self, progress: Progress, settling: bool, observer: &mut dyn Observer) {
        let devices = self.moved();
        let at = clock::now();
        let (now, copy) = progress();
        let before = self.done;
        let ops = now.ops().wrapping_sub(before.ops());
        let lat = now.lat_ns_sum.wrapping_sub(before.lat_ns_sum);
        let timed = now.timed_ops.wrapping_sub(before.timed_ops);
        let moved = |which: fn(&Moved) -> Option<u64>| {
            Some(which(&devices)?.wrapping_sub(which(&self.before)?))
        };
        self.series.points.push(Point {
            at_ns: at.since(self.started),
            ops,
            read_bytes: now.read_bytes.wrapping_sub(before.read_bytes),
            write_bytes: now.write_bytes.wrapping_sub(before.write_bytes),
            lat_ns_mean: lat.checked_div(timed),
            lat_ns_max: (timed > 0).then_some(now.lat_ns_max),
            leaf_read_bytes: moved(|devices| devices.leaf_read),
            leaf_write_bytes: moved(|devices| devices.leaf_write),
            top_write_bytes: moved(|devices| devices.top_write),
        });
        observer.tick(&Live {
            elapsed: at.since(self.started),
            limit: self.limit,
            goal: self.goal,
            done: now,
            before,
            copy,
            settling,
        });
        self.before = devices;
        self.done = now;
    }

    /// Watches until the bell rings or a signal that ends things comes.
    pub fn until_bell(
        &mut self,
        inbox: &Inbox,
        progress: Progress,
        settling: bool,
        observer: &mut dyn Observer,
    ) -> Over {
        loop {
            let now = clock::now();
            if now >= self.beat.due() {
                self.sample(progress, settling, observer);
                self.look_round(settling);
                self.beat.pass(now);
            }
            match inbox.wait(self.beat.due().since(clock::now()).max(Nanos(1))) {
                Letter::Nothing => {}
                Letter::Bell => {
                    self.sample(progress, settling, observer);
                    return Over::Done;
                }
                Letter::Signal(signal) => {
                    let (done, copy) = progress();
                    let live = Live {
                        elapsed: clock::now().since(self.started),
                        limit: self.limit,
                        goal: self.goal,
                        done,
                        before: self.done,
                        copy,
                        settling,
                    };
                    if !observer.asked(signal, &live) {
                        return Over::Signal(signal);
                    }
                }
            }
        }
    }

    /// Looks at the other processes, once. The first sample is the time for it: a phase that is over
    /// before is too short to be told from its neighbours' work, and waits for nobody.
    fn look_round(&mut self, settling: bool) {
        if self.census.is_none() && !settling && !self.leaves.is_empty() {
            self.census = Some(self.eyes.census());
        }
    }

    /// The samples, and what others did since the first of them.
    pub fn finish(self) -> (Series, Option<Reading<Neighbours>>) {
        let others =
            self.census.map(|first| first.and_then(|first| self.eyes.since(&first)).into());
        (self.series, others)
    }

    /// When it started.
    pub fn started(&self) -> Instant {
        self.started
    }
}

/// What ends a phase, as far as it is planned: its longest time.
pub(super) fn limit(phase: &Phase) -> Option<Nanos> {
    phase.jobs.iter().filter_map(|job| Some(job.stop.time()? + job.stop.ramp + job.delay)).max()
}

/// Watches the devices while nothing is done.
pub(super) fn listen(eyes: &Eyes, inbox: &Inbox, time: Nanos, signal: &mut Option<i32>) -> Quiet {
    let mut first = Vec::new();
    let mut last = Vec::new();
    let began = clock::now();
    eyes.devices(&mut first);
    let until = began + time;
    while signal.is_none() && clock::now() < until {
        if let Letter::Signal(came) = inbox.wait(until.since(clock::now())) {
            *signal = Some(came);
        }
    }
    eyes.devices(&mut last);
    let devices = eyes
        .names()
        .zip(first.iter().zip(&last))
        .map(|(name, counters)| QuietDevice {
            name: name.into(),
            counters: match counters {
                (Some(first), Some(last)) => Reading::Seen(last.since(first)),
                _ => Reading::Unseen(format!("/sys/block/{name}/stat could not be read")),
            },
        })
        .collect();
    Quiet { time: clock::now().since(began), devices }
}
