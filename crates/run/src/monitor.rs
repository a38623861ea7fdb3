//! Looks at devices while others work on them: no plan, no I/O, the same eyes as in a run.

use assay_engine::sys::clock;
use assay_engine::sys::event_loop::{Event, EventLoop};
use assay_plan::error::{Doing, Error, Fault};
use assay_plan::unit::{Nanos, Timestamp};
use assay_record::evidence::{
    BlockLayer, CounterReader, DeviceReading, Reading, SysRoot, SystemSample,
};
use assay_record::record::{IntervalStats, not_counted};

use super::sample_timer::SampleTimer;

/// The shortest interval that says anything: the distance of two samples in a run.
pub const SHORTEST: Nanos = super::sampler::INTERVAL;

/// A last interval that was cut shorter than this is left out.
const LEAST: Nanos = Nanos(SHORTEST.0 / 2);

/// When watching ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchUntil {
    /// Never: a signal ends it.
    Told,
    /// After so many intervals.
    Count(u64),
    /// After this time; the last interval may be shorter, or left out when hardly any time is left.
    Time(Nanos),
}

/// What comes of waiting.
#[derive(Clone, Debug, PartialEq)]
pub enum MonitorTick {
    /// An interval is over.
    Glance(Box<IntervalStats>),
    /// The terminal has another size now; the interval goes on.
    Resized,
    /// There will be no more.
    Over(MonitorEnd),
}

/// Why watching ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MonitorEnd {
    /// All that was asked for has been seen.
    Done,
    /// A signal came.
    Signal(i32),
    /// The last device went away.
    Gone(Fault),
}

/// What ends sleeping before a look is due.
enum WakeReason {
    Resized,
    Signal(i32),
}

/// Devices that are watched.
pub struct DeviceMonitor {
    counter_reader: CounterReader,
    layers: Vec<BlockLayer>,
    event_loop: EventLoop,
    sample_timer: SampleTimer,
    until: WatchUntil,
    first: SystemSample,
    last: SystemSample,
    glances: u64,
    /// Why the next call has nothing more to wait for.
    over: Option<MonitorEnd>,
}

impl DeviceMonitor {
    /// Takes the first look at these devices. `signals` end it in order; SIGWINCH is told and does not.
    ///
    /// # Errors
    /// When signals cannot be waited for.
    pub fn start(
        sys_root: &SysRoot,
        layers: Vec<BlockLayer>,
        (interval, until): (Nanos, WatchUntil),
        signals: &[i32],
    ) -> Result<Self, Error> {
        let signals = [signals, &[libc::SIGWINCH]].concat();
        let event_loop = EventLoop::new(&signals)
            .map_err(|error| Fault::new(Doing::Prepare, "for signals", &error))?;
        let counter_reader = CounterReader::over(sys_root, &layers);
        let first = counter_reader.look();
        let sample_timer = SampleTimer::new(first.at, interval);
        let last = first.clone();
        Ok(Self {
            counter_reader,
            layers,
            event_loop,
            sample_timer,
            until,
            first,
            last,
            glances: 0,
            over: None,
        })
    }

    /// What could not be seen at the first look, with the reasons.
    pub fn unseen(&self) -> Vec<String> {
        let off = |layer: &&BlockLayer| {
            layer.queue.seen().is_some_and(|queue| queue.iostats == Some(false))
        };
        let off = self.layers.iter().filter(off).map(|layer| not_counted(&layer.name));
        off.chain(self.first.unseen()).collect()
    }

    /// Everything from the first look to the last; `None` before an interval was over.
    pub fn whole(&self) -> Option<IntervalStats> {
        (self.glances > 0)
            .then(|| IntervalStats::between(&self.layers, &self.first, &self.last, calendar()))
    }

    /// Waits for the end of the interval. A signal ends it early.
    pub fn wait(&mut self) -> MonitorTick {
        if let Some(over) = self.over.take() {
            return MonitorTick::Over(over);
        }
        self.over = match self.rest() {
            Some(WakeReason::Resized) => return MonitorTick::Resized,
            Some(WakeReason::Signal(signal)) => Some(MonitorEnd::Signal(signal)),
            None => None,
        };
        let look = self.look();
        let fault = gone(&self.last, &look);
        if let Some(fault) = fault.filter(|_| !look.devices.iter().any(counted)) {
            return MonitorTick::Over(MonitorEnd::Gone(fault));
        }
        if let Some(over) = self.over.take_if(|_| look.at.since(self.last.at) < LEAST) {
            // Cut short by a signal: too little for a figure.
            return MonitorTick::Over(over);
        }
        self.sample_timer.pass(look.at);
        let interval_stats = IntervalStats::between(&self.layers, &self.last, &look, calendar());
        self.last = look;
        self.glances += 1;
        self.over = self.over.take().or_else(|| self.done().then_some(MonitorEnd::Done));
        MonitorTick::Glance(Box::new(interval_stats))
    }

    /// Looks at everything. What went away stays away: another device may have its name by now.
    fn look(&self) -> SystemSample {
        let mut look = self.counter_reader.look();
        let before = self.first.devices.iter().zip(&self.last.devices);
        for ((first, last), now) in before.zip(&mut look.devices) {
            if counted(first) && !counted(last) {
                now.counters = last.counters.clone();
            }
        }
        look
    }

    /// Sleeps until a look is due; `None` when it is.
    fn rest(&self) -> Option<WakeReason> {
        let due =
            self.end().map_or(self.sample_timer.due(), |end| end.min(self.sample_timer.due()));
        loop {
            let now = clock::now();
            if now >= due {
                return None;
            }
            match self.event_loop.wait(due.since(now)) {
                Event::Signal(libc::SIGWINCH) => return Some(WakeReason::Resized),
                Event::Signal(signal) => return Some(WakeReason::Signal(signal)),
                Event::Bell | Event::Continued(_) | Event::Nothing => {}
            }
        }
    }

    /// When the time is over that was asked for.
    fn end(&self) -> Option<Timestamp> {
        match self.until {
            WatchUntil::Time(time) => Some(self.first.at + time),
            WatchUntil::Told | WatchUntil::Count(_) => None,
        }
    }

    /// Nothing is left to be seen. Of the time too little may be left for a last interval.
    fn done(&self) -> bool {
        let left = |end: Timestamp| end.since(self.last.at);
        match self.until {
            WatchUntil::Told => false,
            WatchUntil::Count(count) => self.glances >= count,
            WatchUntil::Time(_) => self.end().map(left).is_some_and(|left| left < LEAST),
        }
    }
}

/// Its counters could be read.
fn counted(device: &DeviceReading) -> bool {
    device.counters.seen().is_some()
}

/// The first device that could be read before and no more.
fn gone(before: &SystemSample, now: &SystemSample) -> Option<Fault> {
    let both = before.devices.iter().zip(&now.devices);
    both.filter(|(before, _)| counted(before)).find_map(|(_, now)| {
        let Reading::Unseen(why) = &now.counters else { return None };
        let hint = "it was there a moment ago: unplugged, detached, or without its medium";
        Some(Fault::told(Doing::Watch, now.name.as_str(), why.as_str()).hinting(hint))
    })
}

/// The calendar time now, as RFC 3339 with milliseconds.
fn calendar() -> String {
    jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_record::evidence::{DeviceNumber, Hardware, LayerKind};
    use std::path::PathBuf;

    /// A machine of files with one disk that has written so many sectors.
    struct FakeDisk(tempfile::TempDir);

    impl FakeDisk {
        fn new() -> Self {
            let disk = Self(tempfile::tempdir().unwrap());
            std::fs::create_dir_all(disk.folder()).unwrap();
            std::fs::write(disk.folder().join("size"), "8\n").unwrap();
            disk.wrote(0);
            disk
        }

        fn folder(&self) -> PathBuf {
            self.0.path().join("sys/block/sda")
        }

        fn wrote(&self, sectors: u64) {
            let line = format!("0 0 0 0 {} 0 {sectors} 0 0 0 0\n", sectors / 8);
            std::fs::write(self.folder().join("stat"), line).unwrap();
        }

        fn monitor(&self, interval: Nanos, until: WatchUntil) -> DeviceMonitor {
            let sys_root = SysRoot::under(self.0.path());
            DeviceMonitor::start(&sys_root, vec![layer("sda")], (interval, until), &[]).unwrap()
        }
    }

    fn layer(name: &str) -> BlockLayer {
        BlockLayer {
            name: name.into(),
            number: DeviceNumber { major: 8, minor: 0 },
            partition: None,
            start: None,
            level: 0,
            kind: LayerKind::Disk,
            leaf: true,
            size: Reading::Unseen("not asked".into()),
            hardware: Hardware::default(),
            queue: Reading::Unseen("not asked".into()),
        }
    }

    fn written(interval_stats: &IntervalStats) -> f64 {
        let figures = interval_stats.devices[0].figures.seen().unwrap();
        // Bytes, whatever the interval came to.
        figures.write.bandwidth.0 * interval_stats.interval_ns.as_secs()
    }

    #[test]
    fn each_interval_is_counted_once_and_the_whole_is_all_of_them() {
        let disk = FakeDisk::new();
        let mut monitor = disk.monitor(SHORTEST, WatchUntil::Count(2));
        assert_eq!(monitor.whole(), None);
        let mut bytes = Vec::new();
        for sectors in [8, 24] {
            disk.wrote(sectors);
            let MonitorTick::Glance(interval_stats) = monitor.wait() else { panic!() };
            bytes.push(written(&interval_stats).round());
        }
        assert_eq!(monitor.wait(), MonitorTick::Over(MonitorEnd::Done));
        assert_eq!(bytes, [4096.0, 8192.0]);
        assert_eq!(written(&monitor.whole().unwrap()).round(), 12288.0);
    }

    #[test]
    fn a_time_that_is_no_multiple_ends_with_a_shorter_interval() {
        let mut monitor = FakeDisk::new().monitor(Nanos::secs(2), WatchUntil::Time(Nanos::secs(3)));
        let mut lengths = Vec::new();
        while let MonitorTick::Glance(interval_stats) = monitor.wait() {
            lengths.push(interval_stats.interval_ns);
        }
        let [first, second] = lengths[..] else { panic!("{lengths:?}") };
        assert!(first >= Nanos::secs(2), "{first}");
        // A machine that is late for the first has less left for the second.
        assert!(second >= SHORTEST && first + second >= Nanos::secs(3), "{second}");
    }

    #[test]
    fn a_device_that_loses_its_medium_ends_it() {
        let disk = FakeDisk::new();
        let mut monitor = disk.monitor(SHORTEST, WatchUntil::Told);
        let MonitorTick::Glance(_) = monitor.wait() else { panic!() };
        std::fs::write(disk.folder().join("size"), "0\n").unwrap();
        let MonitorTick::Over(MonitorEnd::Gone(fault)) = monitor.wait() else { panic!() };
        assert_eq!(
            fault.to_string(),
            "cannot watch sda: /sys/block/sda/size: 0, there is no medium\n  it was there a moment ago: unplugged, detached, or without its medium"
        );
        // What was seen until then stands.
        assert!(monitor.whole().unwrap().devices[0].figures.seen().is_some());
    }

    #[test]
    fn one_of_two_that_goes_does_not_end_it() {
        let (disk, other) = (FakeDisk::new(), "sdb");
        let there = disk.0.path().join("sys/block").join(other);
        std::fs::create_dir_all(&there).unwrap();
        let write = |name: &str, text: &str| std::fs::write(there.join(name), text).unwrap();
        write("size", "8\n");
        write("stat", "0 0 0 0 0 0 0 0 0 0 0\n");
        let layers = vec![layer("sda"), layer(other)];
        let sys_root = SysRoot::under(disk.0.path());
        let mut monitor =
            DeviceMonitor::start(&sys_root, layers, (SHORTEST, WatchUntil::Count(3)), &[]).unwrap();
        let mut seen = || {
            let MonitorTick::Glance(interval_stats) = monitor.wait() else { panic!() };
            interval_stats.devices.into_iter().map(|device| device.figures.seen().is_some())
        };
        assert!(seen().eq([true, true]));
        write("size", "0\n");
        assert!(seen().eq([true, false]));
        // Another one of that name is not this one.
        write("size", "8\n");
        assert!(seen().eq([true, false]));
        let whole = monitor.whole().unwrap();
        assert_eq!(
            whole.devices[1].figures.why(),
            Some("/sys/block/sdb/size: 0, there is no medium")
        );
    }

    #[test]
    fn a_device_that_was_never_seen_is_not_gone() {
        let disk = FakeDisk::new();
        std::fs::remove_file(disk.folder().join("stat")).unwrap();
        let mut monitor = disk.monitor(SHORTEST, WatchUntil::Count(1));
        let why = "/sys/block/sda/stat: No such file or directory (ENOENT)";
        assert_eq!(monitor.unseen()[0], why);
        let MonitorTick::Glance(interval_stats) = monitor.wait() else { panic!() };
        assert_eq!(interval_stats.devices[0].figures.why(), Some(why));
    }
}
