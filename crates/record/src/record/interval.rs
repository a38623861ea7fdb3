//! The document of `assay watch`: what devices and machine did in one interval.

use serde::{Deserialize, Serialize};

use crate::evidence::{
    BlockLayer, DiskCounters, InheritedIo, Pressure, Process, Processors, Reading, SystemSample,
};
use assay_plan::unit::{Bandwidth, Bytes, Iops, Nanos, Ops};

/// Name and version of this document's form.
pub const WATCH_SCHEMA: &str = "assay.watch/1";

/// What devices and machine did in one interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IntervalStats {
    /// [`WATCH_SCHEMA`].
    pub schema: String,
    /// The end of the interval: RFC 3339 with milliseconds.
    pub at: String,
    /// Its length, nanoseconds.
    pub interval_ns: Nanos,
    /// The devices, from the path downward. Only leaves may be added up: what passes a device is
    /// counted once more by the one below it.
    pub devices: Vec<DeviceStats>,
    /// Pages in memory at the end of the interval, of the whole machine.
    pub pages: Reading<PageStats>,
    /// In what share of the interval somebody waited.
    pub pressure: Reading<PressureShares>,
    /// What all processors did.
    pub cpu: Reading<CpuShares>,
    /// Processes that did I/O on whatever device.
    pub processes: Reading<ProcessesStats>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceStats {
    /// Kernel name of the disk.
    pub name: String,
    /// Nothing that can be reached lies below it.
    pub leaf: bool,
    /// What it did.
    pub figures: Reading<DeviceFigures>,
}

/// What a device did, by its own counters. Requests are counted when they end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceFigures {
    pub read: DirectionStats,
    pub write: DirectionStats,
    pub discard: DiscardStats,
    /// Flushes; absent where the kernel does not count them (before 5.5).
    pub flush: Option<FlushStats>,
    /// Mean size of a read or write; absent when there was none.
    pub request: Option<Bytes>,
    /// Mean number of requests in flight, waiting in the queue included.
    pub depth: f64,
    /// Requests in flight at the end.
    pub in_flight: u64,
    /// Share of the time with a request in flight, 0 to 1. Devices that do several at once have
    /// room left at 1.
    pub busy: f64,
}

/// Reads, or writes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DirectionStats {
    /// Bytes per second.
    pub bandwidth: Bandwidth,
    /// Requests per second.
    pub iops: Iops,
    /// Mean time of a request from the queue to its end, nanoseconds; absent when there was none.
    /// Time in a throttle above the queue is not in it.
    pub await_ns: Option<Nanos>,
}

/// Discards of a device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiscardStats {
    /// Bytes per second.
    pub bandwidth: Bandwidth,
    /// Requests per second.
    pub iops: Iops,
}

/// Flushes of a device's cache.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlushStats {
    /// Flushes per second.
    pub iops: Iops,
    /// Mean time of one, nanoseconds; absent when there was none. It is part of neither `depth` nor
    /// `busy`.
    pub await_ns: Option<Nanos>,
}

/// Pages in memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PageStats {
    /// Changed and not yet on their way.
    pub dirty: Bytes,
    /// On their way to a device.
    pub writeback: Bytes,
    /// Of files and of tmpfs, in memory at all.
    pub cached: Bytes,
}

/// Shares of the interval in which at least one task waited, 0 to 1; absent where the kernel does
/// not tell. A sign, not a measure: the kernel averages over the CPUs that are busy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PressureShares {
    /// For I/O.
    pub io: Option<f64>,
    pub cpu: Option<f64>,
    pub memory: Option<f64>,
}

/// Shares of the time of all processors, 0 to 1. The rest was idle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuShares {
    /// In programs.
    pub user: f64,
    /// In the kernel.
    pub system: f64,
    /// Idle, while a task waited for I/O. A sign, not a measure.
    pub iowait: f64,
    /// Taken by the hypervisor.
    pub steal: f64,
}

/// Who did I/O.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessesStats {
    /// Those that were seen to do it, the busiest first.
    pub busy: Vec<ProcessStats>,
    /// How many there are that do not show theirs to this user.
    pub hidden: u64,
}

/// What a process did, on all devices together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProcessStats {
    /// Its number.
    pub pid: u32,
    /// The name it goes by.
    pub name: String,
    /// Bytes that it made devices read, per second.
    pub read: Bandwidth,
    /// Bytes of pages that it made dirty, or handed over directly, per second. When they reach a
    /// device is another question.
    pub write: Bandwidth,
}

impl IntervalStats {
    /// What happened between two looks at these layers. `at` is the calendar time of the second.
    ///
    /// # Panics
    /// When no time lies between them.
    pub fn between(
        layers: &[BlockLayer],
        before: &SystemSample,
        after: &SystemSample,
        at: String,
    ) -> Self {
        let time = after.at.since(before.at);
        assert!(time > Nanos::ZERO, "what happened in no time has no rate");
        let devices = before.devices.iter().zip(&after.devices).map(|(before, after)| {
            let layer = layers.iter().find(|layer| layer.name == after.name);
            DeviceStats {
                name: after.name.clone(),
                leaf: layer.is_some_and(|layer| layer.leaf),
                figures: device(layer, &before.counters, &after.counters, time),
            }
        });
        Self {
            schema: WATCH_SCHEMA.into(),
            at,
            interval_ns: time,
            devices: devices.collect(),
            pages: pages(after),
            pressure: both(&before.pressure, &after.pressure, |before, after| {
                pressure(before, after, time)
            }),
            cpu: both(&before.processors, &after.processors, cpu),
            processes: both(&before.processes, &after.processes, |before, after| {
                processes(before, after, time)
            }),
        }
    }
}

/// What is made of two readings; unseen when one of them is.
fn both<T, U>(
    before: &Reading<T>,
    after: &Reading<T>,
    make: impl FnOnce(&T, &T) -> U,
) -> Reading<U> {
    match (before, after) {
        (Reading::Seen(before), Reading::Seen(after)) => Reading::Seen(make(before, after)),
        (_, Reading::Unseen(why)) | (Reading::Unseen(why), _) => Reading::Unseen(why.clone()),
    }
}

/// The figures of one device; unseen where it counts nothing.
fn device(
    layer: Option<&BlockLayer>,
    before: &Reading<DiskCounters>,
    after: &Reading<DiskCounters>,
    time: Nanos,
) -> Reading<DeviceFigures> {
    let queue = layer.and_then(|layer| layer.queue.seen());
    if let Some(layer) = layer
        && queue.is_some_and(|queue| queue.iostats == Some(false))
    {
        return Reading::Unseen(not_counted(&layer.name));
    }
    both(before, after, |before, after| figures(&after.since(before), time))
}

/// Why a device with `iostats` switched off has no figures.
pub fn not_counted(name: &str) -> String {
    format!("/sys/block/{name}/queue/iostats: 0, nothing is counted")
}

/// What a device did in this time.
fn figures(done: &DiskCounters, time: Nanos) -> DeviceFigures {
    let way = |count: u64, bytes: u64, ms: u64| DirectionStats {
        bandwidth: bandwidth(Bytes(bytes), time),
        iops: iops(count, time),
        await_ns: mean_ms(ms, count),
    };
    let requests = done.reads + done.writes;
    let ms = time.0 as f64 / 1e6;
    DeviceFigures {
        read: way(done.reads, done.read_bytes, done.read_ms),
        write: way(done.writes, done.write_bytes, done.write_ms),
        discard: DiscardStats {
            bandwidth: bandwidth(Bytes(done.discard_bytes), time),
            iops: iops(done.discards, time),
        },
        flush: done.flushes.zip(done.flush_ms).map(|(count, ms)| FlushStats {
            iops: iops(count, time),
            await_ns: mean_ms(ms, count),
        }),
        request: (done.read_bytes + done.write_bytes).checked_div(requests).map(Bytes),
        depth: done.weighted_ms as f64 / ms,
        in_flight: done.in_flight,
        // The kernel counts in ticks: it may be one more than there was time.
        busy: (done.busy_ms as f64 / ms).min(1.0),
    }
}

fn bandwidth(bytes: Bytes, time: Nanos) -> Bandwidth {
    bytes.over(time).unwrap_or_default()
}

fn iops(count: u64, time: Nanos) -> Iops {
    Ops(count).over(time).unwrap_or_default()
}

/// The mean of a sum of milliseconds; `None` of nothing.
fn mean_ms(ms: u64, count: u64) -> Option<Nanos> {
    ms.saturating_mul(1_000_000).checked_div(count).map(Nanos)
}

fn pages(look: &SystemSample) -> Reading<PageStats> {
    match (&look.memory, &look.cached) {
        (Reading::Seen(memory), Reading::Seen(cached)) => Reading::Seen(PageStats {
            dirty: memory.dirty,
            writeback: memory.writeback,
            cached: *cached,
        }),
        (Reading::Unseen(why), _) | (_, Reading::Unseen(why)) => Reading::Unseen(why.clone()),
    }
}

fn pressure(before: &Pressure, after: &Pressure, time: Nanos) -> PressureShares {
    let waited = after.since(before);
    // The totals are brought up to date now and then, which may fall into the next interval.
    let share = |waited: Option<Nanos>| Some((waited?.0 as f64 / time.0 as f64).min(1.0));
    PressureShares { io: share(waited.io), cpu: share(waited.cpu), memory: share(waited.memory) }
}

fn cpu(before: &Processors, after: &Processors) -> CpuShares {
    let done = after.since(before);
    let share = |ticks: u64| ticks as f64 / done.total().max(1) as f64;
    CpuShares {
        user: share(done.user),
        system: share(done.system),
        iowait: share(done.iowait),
        steal: share(done.steal),
    }
}

fn processes(before: &[Process], after: &[Process], time: Nanos) -> ProcessesStats {
    let there = |process: &Process| after.iter().any(|later| later.is(process));
    let inherited = InheritedIo::between(before.iter(), there);
    let mut busy: Vec<ProcessStats> = after
        .iter()
        .filter_map(|process| {
            let earlier = before.iter().find(|earlier| earlier.is(process));
            let moved = process.moved_since(earlier, &inherited)?;
            (moved.read + moved.write > Bytes::ZERO).then(|| ProcessStats {
                pid: process.pid,
                name: process.name.clone(),
                read: bandwidth(moved.read, time),
                write: bandwidth(moved.write, time),
            })
        })
        .collect();
    let both = |process: &ProcessStats| process.read.0 + process.write.0;
    busy.sort_by(|a, b| both(b).total_cmp(&both(a)).then(a.pid.cmp(&b.pid)));
    let hidden = after.iter().filter(|process| process.io.seen().is_none()).count() as u64;
    ProcessesStats { busy, hidden }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{DeviceReading, Memory, ProcessIo};
    use assay_plan::unit::Timestamp;

    fn look(ms: u64, counters: DiskCounters) -> SystemSample {
        SystemSample {
            at: Timestamp(ms * 1_000_000),
            devices: vec![DeviceReading { name: "sda".into(), counters: Reading::Seen(counters) }],
            memory: Reading::Seen(Memory { dirty: Bytes::mib(3), ..Memory::default() }),
            cached: Reading::Seen(Bytes::mib(8)),
            pressure: Reading::Seen(Pressure::default()),
            processors: Reading::Seen(Processors::default()),
            processes: Reading::Seen(Vec::new()),
        }
    }

    fn between(before: &SystemSample, after: &SystemSample) -> IntervalStats {
        IntervalStats::between(&[], before, after, String::new())
    }

    fn of_disk(before: DiskCounters, after: DiskCounters) -> DeviceFigures {
        let interval_stats = between(&look(500, before), &look(2500, after));
        *interval_stats.devices[0].figures.seen().unwrap()
    }

    #[test]
    fn rates_are_of_the_interval_and_means_of_its_requests() {
        let before = DiskCounters {
            writes: 100,
            write_bytes: 1 << 40,
            flushes: Some(5),
            flush_ms: Some(9),
            ..DiskCounters::default()
        };
        let after = DiskCounters {
            reads: 2,
            read_bytes: 8192,
            read_ms: 3,
            writes: 108,
            write_bytes: (1 << 40) + (8 << 20),
            write_ms: 800,
            in_flight: 4,
            busy_ms: 1500,
            weighted_ms: 5000,
            discards: 1,
            discard_bytes: 1 << 20,
            flushes: Some(7),
            flush_ms: Some(29),
        };
        let mib = 1_048_576.0;
        assert_eq!(
            of_disk(before, after),
            DeviceFigures {
                read: DirectionStats {
                    bandwidth: Bandwidth(4096.0),
                    iops: Iops(1.0),
                    await_ns: Some(Nanos::micros(1500)),
                },
                write: DirectionStats {
                    bandwidth: Bandwidth(4.0 * mib),
                    iops: Iops(4.0),
                    await_ns: Some(Nanos::millis(100)),
                },
                discard: DiscardStats { bandwidth: Bandwidth(0.5 * mib), iops: Iops(0.5) },
                flush: Some(FlushStats { iops: Iops(1.0), await_ns: Some(Nanos::millis(10)) }),
                request: Some(Bytes((8192 + (8 << 20)) / 10)),
                depth: 2.5,
                in_flight: 4,
                busy: 0.75,
            }
        );
    }

    #[test]
    fn an_idle_device_has_rates_of_zero_and_no_means() {
        let same = DiskCounters { reads: 7, read_bytes: 512, ..DiskCounters::default() };
        let idle = of_disk(same, same);
        assert_eq!((idle.read.bandwidth, idle.read.iops), (Bandwidth(0.0), Iops(0.0)));
        assert_eq!((idle.read.await_ns, idle.request, idle.flush), (None, None, None));
        assert_eq!((idle.depth, idle.busy), (0.0, 0.0));
    }

    #[test]
    fn counters_that_wrap_go_on_and_ticks_do_not_make_more_than_all_the_time() {
        let near = u64::from(u32::MAX);
        let before = DiskCounters {
            writes: 1,
            write_ms: near - 99,
            busy_ms: near,
            weighted_ms: near - 999,
            ..DiskCounters::default()
        };
        let after =
            DiskCounters { writes: 3, write_ms: 100, busy_ms: 2003, weighted_ms: 1000, ..before };
        let figures = of_disk(before, after);
        assert_eq!(figures.write.await_ns, Some(Nanos::millis(100)));
        assert_eq!((figures.depth, figures.busy), (1.0, 1.0));
    }

    #[test]
    fn a_device_that_is_gone_has_no_figures() {
        let gone = Reading::Unseen("/sys/block/sda/stat: No such device (ENODEV)".into());
        let mut after = look(1000, DiskCounters::default());
        after.devices[0].counters = gone.clone();
        let interval_stats = between(&look(0, DiskCounters::default()), &after);
        assert_eq!(interval_stats.devices[0].figures.why(), gone.why());
    }

    #[test]
    fn pressure_and_processors_are_shares() {
        let mut before = look(0, DiskCounters::default());
        let mut after = look(2000, DiskCounters::default());
        let pressure = |io| Pressure { io: Some(Nanos::millis(io)), cpu: None, memory: None };
        before.pressure = Reading::Seen(pressure(100));
        after.pressure = Reading::Seen(pressure(1100));
        after.processors =
            Reading::Seen(Processors { user: 10, system: 20, idle: 300, iowait: 66, steal: 4 });
        let interval_stats = between(&before, &after);
        let shares = PressureShares { io: Some(0.5), cpu: None, memory: None };
        assert_eq!(interval_stats.pressure, Reading::Seen(shares));
        let cpu = CpuShares { user: 0.025, system: 0.05, iowait: 0.165, steal: 0.01 };
        assert_eq!(interval_stats.cpu, Reading::Seen(cpu));
        let pages =
            PageStats { dirty: Bytes::mib(3), writeback: Bytes::ZERO, cached: Bytes::mib(8) };
        assert_eq!(interval_stats.pages, Reading::Seen(pages));
    }

    #[test]
    fn processes_count_from_when_they_were_seen_first_or_began() {
        let process = |pid, io: Option<(u64, u64)>| Process {
            pid,
            parent: 99,
            born: 1,
            name: format!("p{pid}"),
            cpu: Nanos::ZERO,
            io: io.map_or(Reading::Unseen("hidden".into()), |(read, write)| {
                Reading::Seen(ProcessIo { read: Bytes(read), write: Bytes(write) })
            }),
        };
        let mut before = look(0, DiskCounters::default());
        let mut after = look(2000, DiskCounters::default());
        before.processes = Reading::Seen(vec![
            process(1, Some((1000, 0))),
            process(2, Some((50, 60))),
            process(3, None),
            process(5, Some((9000, 9000))),
            process(6, Some((0, 0))),
            // A shell, and a child of it that will have ended.
            process(7, Some((10, 10))),
            Process { parent: 7, ..process(8, Some((5000, 0))) },
        ]);
        after.processes = Reading::Seen(vec![
            process(1, Some((3000, 0))),
            process(2, Some((50, 60))),
            // Hidden before: what it did long ago is not of this interval.
            process(3, Some((7000, 7000))),
            // Not there before.
            process(4, Some((0, 8000))),
            // Another process with the same number.
            Process { born: 2, ..process(5, Some((10, 0))) },
            process(6, None),
            process(7, Some((5410, 10))),
        ]);
        let Reading::Seen(seen) = between(&before, &after).processes else { panic!() };
        let ProcessesStats { busy, hidden } = seen;
        assert_eq!(hidden, 1);
        let short: Vec<_> = busy.iter().map(|p| (p.pid, p.read.0, p.write.0)).collect();
        assert_eq!(short, [(4, 0.0, 4000.0), (1, 1000.0, 0.0), (7, 200.0, 0.0), (5, 5.0, 0.0)]);
    }
}
