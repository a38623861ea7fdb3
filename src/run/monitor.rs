//! Looks at devices while others work on them: no plan, no I/O, the same eyes as in a run.

use crate::error::{Error, Fault};
use crate::evidence::{DeviceReading, Eyes, Layer, Look, Reading, Scene};
use crate::record::{Glance, not_counted};
use crate::sys::clock;
use crate::sys::inbox::{Inbox, Letter};
use crate::unit::{Instant, Nanos};

use super::beat::Beat;

/// The shortest interval that says anything: the distance of two samples in a run.
pub const SHORTEST: Nanos = super::watch::INTERVAL;

/// A last interval that was cut shorter than this is left out.
const LEAST: Nanos = Nanos(SHORTEST.0 / 2);

/// When watching ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Never: a signal ends it.
    Told,
    /// After so many intervals.
    Count(u64),
    /// After this time; the last interval may be shorter, or left out when hardly any time is left.
    Time(Nanos),
}

/// What comes of waiting.
#[derive(Clone, Debug, PartialEq)]
pub enum Tick {
    /// An interval is over.
    Glance(Box<Glance>),
    /// The terminal has another size now; the interval goes on.
    Resized,
    /// There will be no more.
    Over(Over),
}

/// Why watching ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Over {
    /// All that was asked for has been seen.
    Done,
    /// A signal came.
    Signal(i32),
    /// The last device went away.
    Gone(Fault),
}

/// What ends sleeping before a look is due.
enum Woken {
    Resized,
    Signal(i32),
}

/// Devices that are watched.
pub struct Monitor {
    eyes: Eyes,
    layers: Vec<Layer>,
    inbox: Inbox,
    beat: Beat,
    until: Until,
    first: Look,
    last: Look,
    glances: u64,
    /// Why the next call has nothing more to wait for.
    over: Option<Over>,
}

impl Monitor {
    /// Takes the first look at these devices. `signals` end it in order; SIGWINCH is told and does not.
    ///
    /// # Errors
    /// When signals can not be waited for.
    pub fn start(
        scene: &Scene,
        layers: Vec<Layer>,
        (interval, until): (Nanos, Until),
        signals: &[i32],
    ) -> Result<Self, Error> {
        let signals = [signals, &[libc::SIGWINCH]].concat();
        let inbox =
            Inbox::new(&signals).map_err(|error| Fault::new("prepare", "for signals", &error))?;
        let eyes = Eyes::over(scene, &layers);
        let first = eyes.look();
        let beat = Beat::new(first.at, interval);
        let last = first.clone();
        Ok(Self { eyes, layers, inbox, beat, until, first, last, glances: 0, over: None })
    }

    /// What could not be seen at the first look, with the reasons.
    pub fn unseen(&self) -> Vec<String> {
        let off =
            |layer: &&Layer| layer.queue.seen().is_some_and(|queue| queue.iostats == Some(false));
        let off = self.layers.iter().filter(off).map(|layer| not_counted(&layer.name));
        off.chain(self.first.unseen()).collect()
    }

    /// Everything from the first look to the last; `None` before an interval was over.
    pub fn whole(&self) -> Option<Glance> {
        (self.glances > 0)
            .then(|| Glance::between(&self.layers, &self.first, &self.last, calendar()))
    }

    /// Waits for the end of the interval. A signal ends it early.
    pub fn wait(&mut self) -> Tick {
        if let Some(over) = self.over.take() {
            return Tick::Over(over);
        }
        self.over = match self.rest() {
            Some(Woken::Resized) => return Tick::Resized,
            Some(Woken::Signal(signal)) => Some(Over::Signal(signal)),
            None => None,
        };
        let look = self.look();
        let fault = gone(&self.last, &look);
        if let Some(fault) = fault.filter(|_| !look.devices.iter().any(counted)) {
            return Tick::Over(Over::Gone(fault));
        }
        if let Some(over) = self.over.take_if(|_| look.at.since(self.last.at) < LEAST) {
            // Cut short by a signal: too little for a figure.
            return Tick::Over(over);
        }
        self.beat.pass(look.at);
        let glance = Glance::between(&self.layers, &self.last, &look, calendar());
        self.last = look;
        self.glances += 1;
        self.over = self.over.take().or_else(|| self.done().then_some(Over::Done));
        Tick::Glance(Box::new(glance))
    }

    /// Looks at everything. What went away stays away: another device may have its name by now.
    fn look(&self) -> Look {
        let mut look = self.eyes.look();
        let before = self.first.devices.iter().zip(&self.last.devices);
        for ((first, last), now) in before.zip(&mut look.devices) {
            if counted(first) && !counted(last) {
                now.counters = last.counters.clone();
            }
        }
        look
    }

    /// Sleeps until a look is due; `None` when it is.
    fn rest(&self) -> Option<Woken> {
        let due = self.end().map_or(self.beat.due(), |end| end.min(self.beat.due()));
        loop {
            let now = clock::now();
            if now >= due {
                return None;
            }
            match self.inbox.wait(due.since(now)) {
                Letter::Signal(libc::SIGWINCH) => return Some(Woken::Resized),
                Letter::Signal(signal) => return Some(Woken::Signal(signal)),
                Letter::Bell | Letter::Nothing => {}
            }
        }
    }

    /// When the time is over that was asked for.
    fn end(&self) -> Option<Instant> {
        match self.until {
            Until::Time(time) => Some(self.first.at + time),
            Until::Told | Until::Count(_) => None,
        }
    }

    /// Nothing is left to be seen. Of the time too little may be left for a last interval.
    fn done(&self) -> bool {
        let left = |end: Instant| end.since(self.last.at);
        match self.until {
            Until::Told => false,
            Until::Count(count) => self.glances >= count,
            Until::Time(_) => self.end().map(left).is_some_and(|left| left < LEAST),
        }
    }
}

/// Its counters could be read.
fn counted(device: &DeviceReading) -> bool {
    device.counters.seen().is_some()
}

/// The first device that could be read before and no more.
fn gone(before: &Look, now: &Look) -> Option<Fault> {
    let both = before.devices.iter().zip(&now.devices);
    both.filter(|(before, _)| counted(before)).find_map(|(_, now)| {
        let Reading::Unseen(why) = &now.counters else { return None };
        Some(Fault {
            doing: "watch".into(),
            path: now.name.clone(),
            offset: None,
            errno: 0,
            name: String::new(),
            text: why.clone(),
            hint: "it was there a moment ago: unplugged, detached, or without its medium".into(),
        })
    })
}

/// The calendar time now, as RFC 3339 with milliseconds.
fn calendar() -> String {
    jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{DeviceNumber, Hardware, LayerKind};
    use std::path::PathBuf;

    /// A machine of files with one disk that has written so many sectors.
    struct Disk(tempfile::TempDir);

    impl Disk {
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

        fn monitor(&self, interval: Nanos, until: Until) -> Monitor {
            let scene = Scene::under(self.0.path());
            Monitor::start(&scene, vec![layer("sda")], (interval, until), &[]).unwrap()
        }
    }

    fn layer(name: &str) -> Layer {
        Layer {
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

    fn written(glance: &Glance) -> f64 {
        let figures = glance.devices[0].figures.seen().unwrap();
        // Bytes, whatever the interval came to.
        figures.write.bandwidth.0 * glance.interval_ns.as_secs()
    }

    #[test]
    fn each_interval_is_counted_once_and_the_whole_is_all_of_them() {
        let disk = Disk::new();
        let mut monitor = disk.monitor(SHORTEST, Until::Count(2));
        assert_eq!(monitor.whole(), None);
        let mut bytes = Vec::new();
        for sectors in [8, 24] {
            disk.wrote(sectors);
            let Tick::Glance(glance) = monitor.wait() else { panic!() };
            bytes.push(written(&glance).round());
        }
        assert_eq!(monitor.wait(), Tick::Over(Over::Done));
        assert_eq!(bytes, [4096.0, 8192.0]);
        assert_eq!(written(&monitor.whole().unwrap()).round(), 12288.0);
    }

    #[test]
    fn a_time_that_is_no_multiple_ends_with_a_shorter_interval() {
        let mut monitor = Disk::new().monitor(Nanos::secs(2), Until::Time(Nanos::secs(3)));
        let mut lengths = Vec::new();
        while let Tick::Glance(glance) = monitor.wait() {
            lengths.push(glance.interval_ns);
        }
        let [first, second] = lengths[..] else { panic!("{lengths:?}") };
        assert!(first >= Nanos::secs(2), "{first}");
        // A machine that is late for the first has less left for the second.
        assert!(second >= SHORTEST && first + second >= Nanos::secs(3), "{second}");
    }

    #[test]
    fn a_device_that_loses_its_medium_ends_it() {
        let disk = Disk::new();
        let mut monitor = disk.monitor(SHORTEST, Until::Told);
        let Tick::Glance(_) = monitor.wait() else { panic!() };
        std::fs::write(disk.folder().join("size"), "0\n").unwrap();
        let Tick::Over(Over::Gone(fault)) = monitor.wait() else { panic!() };
        assert_eq!(
            fault.to_string(),
            "cannot watch sda: /sys/block/sda/size: 0, there is no medium\n  it was there a moment ago: unplugged, detached, or without its medium"
        );
        // What was seen until then stands.
        assert!(monitor.whole().unwrap().devices[0].figures.seen().is_some());
    }

    #[test]
    fn one_of_two_that_goes_does_not_end_it() {
        let (disk, other) = (Disk::new(), "sdb");
        let there = disk.0.path().join("sys/block").join(other);
        std::fs::create_dir_all(&there).unwrap();
        let write = |name: &str, text: &str| std::fs::write(there.join(name), text).unwrap();
        write("size", "8\n");
        write("stat", "0 0 0 0 0 0 0 0 0 0 0\n");
        let layers = vec![layer("sda"), layer(other)];
        let scene = Scene::under(disk.0.path());
        let mut monitor = Monitor::start(&scene, layers, (SHORTEST, Until::Count(3)), &[]).unwrap();
        let mut seen = || {
            let Tick::Glance(glance) = monitor.wait() else { panic!() };
            glance.devices.into_iter().map(|device| device.figures.seen().is_some())
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
        let disk = Disk::new();
        std::fs::remove_file(disk.folder().join("stat")).unwrap();
        let mut monitor = disk.monitor(SHORTEST, Until::Count(1));
        let why = "/sys/block/sda/stat: No such file or directory (ENOENT)";
        assert_eq!(monitor.unseen()[0], why);
        let Tick::Glance(glance) = monitor.wait() else { panic!() };
        assert_eq!(glance.devices[0].figures.why(), Some(why));
    }
}
