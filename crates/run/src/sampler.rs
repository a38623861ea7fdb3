//! Takes samples while others work: live counters and device counters at the same moment, ten
//! times a second, from a thread that does no I/O of its own.

use assay_engine::sys::clock;
use assay_engine::sys::event_loop::{Event, EventLoop};
use assay_plan::plan::{Action, Phase};
use assay_plan::stats::copy::CopyCounts;
use assay_plan::stats::{LiveCounters, LiveReading};
use assay_plan::unit::{Bytes, Nanos, Timestamp};
use assay_record::evidence::{
    BlockLayer, CounterReader, DiskCounters, KnownGroups, Limits, OtherProcesses, ProcessCensus,
    Reading, Subject, ThreadStates, Throttle,
};
use assay_record::record::{
    ConditionChange, IntervalCount, IntervalCounts, LimitChange, PartSoFar, PhaseSoFar,
    QuietDevice, QuietPeriod, SamplePoint, SampleSeries, ShortHalts,
};

use super::condition_watch::{ConditionWatch, WatchedLeaf};
use super::observer::{LiveStatus, Observer};
use super::sample_timer::SampleTimer;
use super::thread_roll::ThreadRoll;

/// Distance of two samples.
pub(super) const INTERVAL: Nanos = Nanos::millis(100);

/// Distance of two looks at those who do the I/O, as long as a phase may be a short one: samples would be too few to tell
/// what that waited for.
const LOOK: Nanos = Nanos::millis(20);

/// A phase that takes longer is no short one.
const SHORT: Nanos = Nanos::secs(1);

/// Those who are looked at between samples are no more than this: each look costs some ten microseconds.
const FEW: usize = 4;

/// From one look at limits to the next, in samples.
const LIMITS_EACH: usize = 5;

/// A stop that is longer than this is seen as a gap between samples.
const HALT: Nanos = Nanos::millis(300);

/// From one look at the other processes to the next, which takes some 15 us for each of them: no more than one part in so
/// many of the time.
const OTHERS_EACH: Nanos = Nanos::millis(2_500);
const OTHERS_COST: u64 = 500;
/// And sooner while the devices move so much more than the run.
const OTHERS_SOONER: Nanos = Nanos::millis(500);
const OTHERS_COST_SOONER: u64 = 100;
const OTHERS_LEAST: u64 = 256 << 10;

/// More changes of limits than this are not kept.
const CHANGES: usize = 100;

/// What has been done so far, by whoever does it.
pub(super) type ProgressSource<'a> = &'a dyn Fn() -> (LiveReading, Option<CopyCounts>);

pub(super) struct PhaseSampler<'a> {
    counter_reader: &'a CounterReader,
    leaves: Vec<usize>,
    /// The devices that the paths name; none where these are the leaves.
    tops: Vec<usize>,
    /// What all devices had counted at the sample before, and have now.
    before: Vec<Option<DiskCounters>>,
    counters: Vec<Option<DiskCounters>>,
    done: LiveReading,
    started: Timestamp,
    sample_timer: SampleTimer,
    series: SampleSeries,
    goal: Option<Bytes>,
    limit: Option<Nanos>,
    /// Those whose own samples are kept.
    parts: Vec<Part<'a>>,
    /// Who was there at the first sample.
    census: Option<Result<ProcessCensus, String>>,
    /// What others did from look to look until the last one, and when the next is due.
    others: Option<OtherProcesses>,
    census_due: Timestamp,
    census_sooner: Timestamp,
    /// Who does the I/O.
    threads: WorkingThreads<'a>,
    /// What they were doing at the samples.
    states: ThreadStates,
    /// What they were doing at the looks between samples; nothing of a phase that is no short one.
    short_states: ThreadStates,
    look_timer: SampleTimer,
    /// The devices whose limits are looked at.
    stack: Vec<BlockLayer>,
    /// The limits on them as they are known, and how they have changed.
    limits: Option<Vec<Throttle>>,
    groups: KnownGroups,
    limit_changes: Vec<LimitChange>,
    /// What else the phase depends on.
    conditions: ConditionWatch,
    /// How often this process was stopped and went on.
    halts: Option<ShortHalts>,
}

/// What others did until the last look, and since then.
fn and_then(
    before: Option<OtherProcesses>,
    done: OtherProcesses,
    look: &ProcessCensus,
) -> OtherProcesses {
    match before {
        Some(before) => before.then(done, look),
        None => done,
    }
}

/// Those who do the I/O.
enum WorkingThreads<'a> {
    /// Nobody whom it would help to look at.
    Unseen,
    /// This thread.
    One(i32),
    /// Those on the roll.
    Roll(&'a ThreadRoll),
}

/// What the samples of a phase come to.
pub(super) struct PhaseSamples {
    pub series: SampleSeries,
    /// Those that were kept apart.
    pub apart: Vec<IntervalCounts>,
    /// What others did since the first of them.
    pub neighbours: Option<Reading<OtherProcesses>>,
    /// What those who did the I/O were doing; `None` of phases that were over before anybody looked.
    pub states: Option<ThreadStates>,
    /// Changes of the limits on the devices.
    pub limit_changes: Vec<LimitChange>,
    /// Changes of what else it depends on.
    pub condition_changes: Vec<ConditionChange>,
    /// Stops too short for a gap between samples.
    pub halts: Option<ShortHalts>,
}

/// Some threads whose samples are kept by themselves.
struct Part<'a> {
    all_live_counters: &'a [LiveCounters],
    before: LiveReading,
    strands: IntervalCounts,
}

impl Part<'_> {
    /// Takes the sample that makes it `number` of them. A direction in which nothing ever goes has none,
    /// and where nothing goes any more there are none.
    fn sample(&mut self, number: usize) {
        let mut now = LiveReading::default();
        self.all_live_counters.iter().for_each(|live_counters| live_counters.peek(&mut now));
        let before = std::mem::replace(&mut self.before, now);
        let since = |now: u64, before: u64| now.wrapping_sub(before);
        for (action, ops, bytes) in [
            (
                Action::Read,
                since(now.read_ops, before.read_ops),
                since(now.read_bytes, before.read_bytes),
            ),
            (
                Action::Write,
                since(now.write_ops, before.write_ops),
                since(now.write_bytes, before.write_bytes),
            ),
            (Action::Trim, since(now.trim_ops, before.trim_ops), 0),
        ] {
            if ops + bytes > 0 {
                let strand = self.strands.entry(action).or_default();
                strand.resize(number - 1, IntervalCount::default());
                strand.push(IntervalCount(ops, bytes));
            }
        }
    }
}

/// Why watching ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SamplingEnd {
    /// The work is done.
    Done,
    /// A signal came.
    Signal(i32),
}

impl<'a> PhaseSampler<'a> {
    /// A watch over the leaves of these subjects, which starts now.
    pub fn new(counter_reader: &'a CounterReader, subjects: &[&Subject]) -> Self {
        let those = |wanted: fn(&BlockLayer) -> bool| -> Vec<usize> {
            let layers = || subjects.iter().flat_map(|subject| &subject.stack);
            let named = |name| layers().any(|layer| wanted(layer) && layer.name == name);
            counter_reader
                .names()
                .enumerate()
                .filter(|(_, name)| named(*name))
                .map(|(at, _)| at)
                .collect()
        };
        let leaves = those(|layer| layer.leaf);
        let mut tops = those(|layer| layer.level == 0);
        if tops == leaves {
            tops.clear();
        }
        let watched = |(at, name): (usize, &str)| {
            leaves.contains(&at).then(|| WatchedLeaf { name: name.into(), at })
        };
        let watched = counter_reader.names().enumerate().filter_map(watched).collect();
        let conditions = ConditionWatch::new(counter_reader.conditions(subjects), watched);
        let series = SampleSeries { interval_ns: INTERVAL, points: Vec::with_capacity(1024) };
        let started = clock::now();
        let mut watch = Self {
            counter_reader,
            leaves,
            tops,
            before: Vec::new(),
            counters: Vec::new(),
            done: LiveReading::default(),
            started,
            sample_timer: SampleTimer::new(started, INTERVAL),
            series,
            goal: None,
            limit: None,
            parts: Vec::new(),
            census: None,
            others: None,
            census_due: started,
            census_sooner: started,
            threads: WorkingThreads::Unseen,
            states: ThreadStates::default(),
            short_states: ThreadStates::default(),
            look_timer: SampleTimer::new(started, LOOK),
            stack: subjects.iter().flat_map(|subject| subject.stack.iter().cloned()).collect(),
            limits: None,
            groups: KnownGroups::default(),
            limit_changes: Vec::new(),
            conditions,
            halts: None,
        };
        counter_reader.devices(&mut watch.before);
        watch.restart();
        watch
    }

    /// Begins to count from now on.
    pub fn restart(&mut self) {
        self.started = clock::now();
        self.sample_timer = SampleTimer::new(self.started, INTERVAL);
        self.look_timer = SampleTimer::new(self.started, LOOK);
    }

    /// What will be done, if that is known: bytes, and time.
    pub fn expect(&mut self, goal: Option<Bytes>, limit: Option<Nanos>) {
        self.goal = goal;
        self.limit = limit;
    }

    /// Keeps the samples of these threads together, beside those of all.
    pub fn apart(&mut self, all_live_counters: &'a [LiveCounters]) {
        self.parts.push(Part {
            all_live_counters,
            before: LiveReading::default(),
            strands: IntervalCounts::new(),
        });
    }

    /// What the limits on the devices were before the run. Those that are others in a later phase from its start on are
    /// noted as of then.
    pub fn limits_were(&mut self, limits: &Reading<Limits>, first_phase: bool) {
        let here =
            |throttle: &&Throttle| self.stack.iter().any(|layer| layer.number == throttle.device);
        let io = limits.seen().map(|limits| limits.io.iter().filter(here).cloned().collect());
        self.limits = io;
        if !first_phase && !self.stack.is_empty() {
            self.look_at_limits(Nanos::ZERO);
        }
    }

    /// All I/O of the phase goes past the page cache, or not.
    pub fn all_direct(&mut self, direct: bool) {
        self.conditions.all_direct(direct);
    }

    /// Looks at what those on this roll do, too.
    pub fn look_at(&mut self, roll: &'a ThreadRoll) {
        self.threads = WorkingThreads::Roll(roll);
    }

    /// Looks at what this thread does, too.
    pub fn look_at_thread(&mut self, thread: i32) {
        self.threads = WorkingThreads::One(thread);
    }

    /// Takes one sample.
    fn sample(&mut self, progress: ProgressSource, settling: bool, observer: &mut dyn Observer) {
        self.counter_reader.devices(&mut self.counters);
        let at = clock::now();
        let (now, copy) = progress();
        let before = self.done;
        let ops = now.ops().wrapping_sub(before.ops());
        let lat = now.lat_ns_sum.wrapping_sub(before.lat_ns_sum);
        let timed = now.timed_ops.wrapping_sub(before.timed_ops);
        let moved = |devices: &[usize], which: fn(&DiskCounters) -> u64| {
            moved(&self.before, &self.counters, devices, which)
        };
        let (read, written) = (|c: &DiskCounters| c.read_bytes, |c: &DiskCounters| c.write_bytes);
        self.series.points.push(SamplePoint {
            at_ns: at.since(self.started),
            ops,
            read_bytes: now.read_bytes.wrapping_sub(before.read_bytes),
            write_bytes: now.write_bytes.wrapping_sub(before.write_bytes),
            lat_ns_mean: lat.checked_div(timed),
            lat_ns_max: (timed > 0).then_some(now.lat_ns_max),
            device_read_bytes: moved(&self.leaves, read),
            device_write_bytes: moved(&self.leaves, written),
            top_write_bytes: moved(&self.tops, written),
        });
        let number = self.series.points.len();
        self.parts.iter_mut().for_each(|part| part.sample(number));
        let live = LiveStatus {
            elapsed: at.since(self.started),
            limit: self.limit,
            goal: self.goal,
            done: now,
            before,
            copy,
            settling,
        };
        observer.tick(&live);
        observer.so_far(&live, &|| self.so_far());
        std::mem::swap(&mut self.before, &mut self.counters);
        self.done = now;
    }

    /// How far the phase has come.
    fn so_far(&self) -> PhaseSoFar {
        let part = |part: &Part<'_>| PartSoFar {
            series: part.strands.clone(),
            timed: (part.before.timed_ops, part.before.lat_ns_sum),
            latencies: match part.all_live_counters {
                [live_counters] => live_counters.heat.held(),
                _ => Vec::new(),
            },
        };
        PhaseSoFar {
            points: self.series.points.clone(),
            parts: self.parts.iter().map(part).collect(),
        }
    }

    /// Watches until the bell rings or a signal that ends things comes.
    pub fn until_bell(
        &mut self,
        event_loop: &EventLoop,
        progress: ProgressSource,
        settling: bool,
        observer: &mut dyn Observer,
    ) -> SamplingEnd {
        loop {
            let now = clock::now();
            if now >= self.sample_timer.due() {
                self.sample(progress, settling, observer);
                if !settling {
                    self.look_round();
                }
                self.sample_timer.pass(now);
            }
            let looks = !settling && self.looks_between(now);
            if looks && now >= self.look_timer.due() {
                look(&mut self.short_states, &self.threads, self.series.points.len());
                self.look_timer.pass(now);
            }
            let sample = self.sample_timer.due();
            let due = if looks { sample.min(self.look_timer.due()) } else { sample };
            match event_loop.wait(due.since(clock::now()).max(Nanos(1))) {
                Event::Nothing => {}
                Event::Continued(within) if !settling => self.continued(within),
                Event::Continued(_) => {}
                Event::Bell => {
                    self.sample(progress, settling, observer);
                    return SamplingEnd::Done;
                }
                Event::Signal(signal) => {
                    let (done, copy) = progress();
                    let live = LiveStatus {
                        elapsed: clock::now().since(self.started),
                        limit: self.limit,
                        goal: self.goal,
                        done,
                        before: self.done,
                        copy,
                        settling,
                    };
                    if !observer.asked(signal, &live) {
                        return SamplingEnd::Signal(signal);
                    }
                }
            }
        }
    }

    /// Whether those who do the I/O are looked at between samples.
    fn looks_between(&self, now: Timestamp) -> bool {
        let few = match self.threads {
            WorkingThreads::Unseen => false,
            WorkingThreads::One(_) => true,
            WorkingThreads::Roll(roll) => roll.threads().len() <= FEW,
        };
        few && now < self.started + SHORT
    }

    /// Notes that this process went on after a stop, which took no longer than this. A long one is a gap between
    /// two samples.
    fn continued(&mut self, within: Nanos) {
        if within <= HALT {
            let halts = self.halts.get_or_insert_default();
            halts.count = halts.count.saturating_add(1);
            halts.within_ns += within;
        }
    }

    /// Looks at those who do the I/O, and once at the other processes. The first sample is the time for that:
    /// a phase that is over before is too short to be told from its neighbours' work, and waits for nobody.
    fn look_round(&mut self) {
        let sample = self.series.points.len();
        look(&mut self.states, &self.threads, sample);
        if self.series.points.last().is_some_and(|last| last.at_ns >= SHORT) {
            self.short_states = ThreadStates::default();
        }
        let due = if self.others_at_work() { self.census_sooner } else { self.census_due };
        if !self.leaves.is_empty() && clock::now() >= due {
            self.look_at_others();
        }
        if sample % LIMITS_EACH == 1 && !self.stack.is_empty() {
            self.look_at_limits(clock::now().since(self.started));
        }
        self.conditions.look_if_due(self.started, &self.before, self.done);
    }

    /// Looks at the other processes: at the first sample, and now and then while the phase goes on. Who was at work
    /// in the middle of it only may have ended before it does.
    fn look_at_others(&mut self) {
        let began = clock::now();
        match &mut self.census {
            None => self.census = Some(self.counter_reader.census()),
            Some(Ok(look)) => match self.counter_reader.step(look, false) {
                Ok(done) => self.others = Some(and_then(self.others.take(), done, look)),
                Err(why) => self.census = Some(Err(why)),
            },
            Some(Err(_)) => {}
        }
        let took = clock::now().since(began);
        let after = |each: Nanos, cost| began + each.max(Nanos(took.0.saturating_mul(cost)));
        self.census_due = after(OTHERS_EACH, OTHERS_COST);
        self.census_sooner = after(OTHERS_SOONER, OTHERS_COST_SOONER);
    }

    /// In the last sample the devices moved twice as much as the run, or more: others may be there now that will be gone soon.
    fn others_at_work(&self) -> bool {
        let Some(last) = self.series.points.last() else { return false };
        let (read, written) = (last.device_read_bytes, last.device_write_bytes);
        let here = read.unwrap_or_default().saturating_add(written.unwrap_or_default());
        let ours = last.read_bytes.saturating_add(last.write_bytes);
        here > ours.saturating_mul(2).saturating_add(OTHERS_LEAST)
    }

    /// Notes where the limits on the devices are others than those that are known.
    fn look_at_limits(&mut self, at_ns: Nanos) {
        let Ok(io) = self.counter_reader.io_limits(&mut self.groups, &self.stack) else { return };
        let before = self.limits.replace(io);
        if let (Some(before), Some(now)) = (before, &self.limits)
            && before != *now
            && self.limit_changes.len() < CHANGES
        {
            self.limit_changes.push(LimitChange { at_ns, io: now.clone() });
        }
    }

    /// What it has seen.
    pub fn finish(mut self) -> PhaseSamples {
        if self.series.points.last().is_some_and(|last| last.at_ns >= SHORT) {
            self.conditions.look(self.started, &self.before, self.done);
        }
        let others = self.census.map(|look| {
            let mut look = look?;
            let rest = self.counter_reader.step(&mut look, true)?;
            Ok(and_then(self.others, rest, &look))
        });
        let others = others.map(Reading::from);
        let mut series = self.series;
        let more = self.short_states.looks > self.states.looks;
        let states = if more { self.short_states } else { self.states };
        // There is room for a long phase; the record of many short ones is not to keep it.
        series.points.shrink_to_fit();
        PhaseSamples {
            series,
            apart: self.parts.into_iter().map(|part| part.strands).collect(),
            neighbours: others,
            states: (states.looks > 0).then_some(states),
            limit_changes: self.limit_changes,
            condition_changes: self.conditions.finish(),
            halts: self.halts,
        }
    }

    pub fn started(&self) -> Timestamp {
        self.started
    }
}

/// Looks at what those who do the I/O are doing, after so many samples.
fn look(states: &mut ThreadStates, threads: &WorkingThreads, samples: usize) {
    match threads {
        WorkingThreads::Unseen => {}
        WorkingThreads::One(thread) => states.look([*thread].into_iter(), samples),
        WorkingThreads::Roll(roll) => states.look(roll.threads(), samples),
    }
}

/// What these devices did between two readings of all, added up; absent where one of them cannot be read,
/// or there are none.
fn moved(
    before: &[Option<DiskCounters>],
    now: &[Option<DiskCounters>],
    devices: &[usize],
    which: fn(&DiskCounters) -> u64,
) -> Option<u64> {
    let one = |&device: &usize| {
        let (now, before) = (now.get(device)?.as_ref()?, before.get(device)?.as_ref()?);
        Some(which(&now.since(before)))
    };
    devices.iter().map(one).sum::<Option<u64>>().filter(|_| !devices.is_empty())
}

/// What is expected to end a phase, as far as it is planned: its longest time.
pub(super) fn limit(phase: &Phase) -> Option<Nanos> {
    phase
        .jobs
        .iter()
        .filter_map(|job| Some(job.stop.expected_time()? + job.stop.ramp + job.delay))
        .max()
}

/// Watches the devices while nothing is done.
pub(super) fn listen(
    counter_reader: &CounterReader,
    event_loop: &EventLoop,
    time: Nanos,
    signal: &mut Option<i32>,
) -> QuietPeriod {
    let mut first = Vec::new();
    let mut last = Vec::new();
    let began = clock::now();
    counter_reader.devices(&mut first);
    let until = began + time;
    while signal.is_none() && clock::now() < until {
        if let Event::Signal(came) = event_loop.wait(until.since(clock::now())) {
            *signal = Some(came);
        }
    }
    counter_reader.devices(&mut last);
    let devices = counter_reader
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
    QuietPeriod { time: clock::now().since(began), devices }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_goes_on_where_a_counter_wrapped() {
        let disk = |sectors: u64| {
            Some(DiskCounters { write_bytes: sectors * 512, ..DiskCounters::default() })
        };
        let (before, now) = ([disk(u64::from(u32::MAX)), disk(7), None], [disk(3), disk(9), None]);
        let written = |devices: &[usize]| moved(&before, &now, devices, |disk| disk.write_bytes);
        assert_eq!(written(&[0, 1]), Some((4 + 2) * 512));
        assert_eq!(written(&[1]), Some(2 * 512));
        assert_eq!((written(&[]), written(&[1, 2]), written(&[9])), (None, None, None));
    }
}
