//! Where the time of those who did the I/O went.
//!
//! Exact counters come first: CPU time and the wait for a CPU of each thread (getrusage, `schedstat`), busy and
//! flush time of the devices (`/sys/block/D/stat`), the gaps of the run's own samples. What remains, threads were
//! asleep; for what, the looks at them tell (`ThreadStates`), each for the same share of that time.
//!
//! A device that works while a thread is on a CPU, as it does at a depth of more than one and behind the page
//! cache, holds the run: such time is the device's. While a thread waits for a pipe, a server or a clock the
//! device does not hold it, however busy it is with what is left to be written.

use super::super::limits;
use super::super::measure::{DeviceLevel, FlowView, PhaseView, whole};
use super::super::neighbours;
use super::super::threshold::{FOREIGN, FOREIGN_RUINS, LOWER_BUSY, SAMPLE, SMALL_WRITE, WAKE_UP};
use assay_plan::plan::Durability;
use assay_plan::unit::{Bytes, Nanos};
use assay_record::evidence::{PathKind, ThreadStates};
use assay_record::record::{RateLevel, TimeBalance, TimeHolder, TimeTerm};

/// A sample that comes so many intervals late is a gap in which the program may not have run.
const GAP: u64 = 3;
/// Gaps of which the wait for memory explains so much are none: those who look on wait for it like all others.
const GAP_FOR_MEMORY: f64 = 0.9;
/// In a gap in which less than this share of the usual work was done, it did not run.
const GAP_WORK: f64 = 0.5;
/// With fewer looks than this nothing can be said of what the threads waited for.
const LOOKS: u32 = 5;
/// A share below this is not worth a term.
const LEAST: f64 = 0.000_5;

/// More of a device's bytes than this are no additions to large direct I/Os.
const MORE_THAN_OURS: f64 = 0.5;

/// What a thread that sleeps waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum WaitKind {
    /// Its I/O, on whatever way to the device.
    Io,
    /// Time to pass, or another thread of the run.
    Pause,
    /// The other end of a pipe, socket or terminal.
    OtherEnd,
    /// The server of its file system.
    Server,
    /// A page: at the limit of dirty ones, or until others are freed. The device may be at work on that.
    Memory,
    /// To go on: it was stopped, is held by a tracer, or its file system is frozen.
    Stopped,
}

/// Functions of the kernel, by a part of their names, in which a thread waits for something other than the
/// I/O of a local device. Those of pipes, sockets, clocks, futexes, FUSE, reclaim and frozen file systems were seen
/// (`wchan`, 6.18); the others are the names that the kernel's sources have.
const PLACES: &[(&str, WaitKind)] = &[
    ("nanosleep", WaitKind::Pause),
    ("futex", WaitKind::Pause),
    ("pipe_read", WaitKind::OtherEnd),
    ("pipe_write", WaitKind::OtherEnd),
    ("pipe_wait", WaitKind::OtherEnd),
    ("wait_for_partner", WaitKind::OtherEnd),
    ("unix_stream", WaitKind::OtherEnd),
    ("sock_alloc_send", WaitKind::OtherEnd),
    ("sk_wait", WaitKind::OtherEnd),
    ("sk_stream_wait", WaitKind::OtherEnd),
    ("wait_woken", WaitKind::OtherEnd),
    ("n_tty", WaitKind::OtherEnd),
    ("request_wait_answer", WaitKind::Server),
    ("fuse_", WaitKind::Server),
    ("rpc_", WaitKind::Server),
    ("nfs", WaitKind::Server),
    ("cifs", WaitKind::Server),
    ("smb", WaitKind::Server),
    ("p9_", WaitKind::Server),
    ("ceph", WaitKind::Server),
    ("balance_dirty_pages", WaitKind::Memory),
    ("reclaim_throttle", WaitKind::Memory),
    ("mem_cgroup", WaitKind::Memory),
    ("congestion_wait", WaitKind::Memory),
    // A write, where fsfreeze holds all of them.
    ("percpu_rwsem_wait", WaitKind::Stopped),
];

/// What a thread waits for in a state as [`ThreadStates`] has them; `None`: it does not wait.
pub fn kind(state: &str) -> Option<WaitKind> {
    let place = match state.split_once(' ') {
        Some((_, place)) => place,
        None if state == "D" || state == "S" => "",
        None if state == "T" || state == "t" => return Some(WaitKind::Stopped),
        None => return None,
    };
    let known = PLACES.iter().find(|(part, _)| place.contains(part));
    Some(known.map_or(WaitKind::Io, |(_, kind)| *kind))
}

/// The share of the looks at waiting threads in which they waited for that. Of few looks: for I/O.
fn waited_for(states: Option<&ThreadStates>, wanted: WaitKind) -> f64 {
    let waiting = |of: &dyn Fn(WaitKind) -> bool| -> u32 {
        let states = states.into_iter().flat_map(|states| &states.states);
        states.filter(|(state, _)| kind(state).is_some_and(of)).map(|(_, looks)| looks).sum()
    };
    match waiting(&|_| true) {
        all if all >= LOOKS => f64::from(waiting(&|kind| kind == wanted)) / f64::from(all),
        _ => f64::from(u8::from(wanted == WaitKind::Io)),
    }
}

/// The balance of a phase's time; `None` of one that was over before its first sample, or whose threads' CPU time
/// is not known. `levels` are those of its rate.
pub fn time(phase_view: &PhaseView<'_>, levels: &[RateLevel]) -> Option<TimeBalance> {
    let phase = phase_view.phase;
    let evidence = &phase.evidence;
    let time = whole(phase);
    let threads = evidence.ran.as_ref().map_or(0, |ran| u64::from(ran.threads));
    let threads = if threads > 0 { threads } else { phase_view.workers() };
    // Of models there is none, and of a copy it is that of the process.
    let cpu = phase.cpu.or_else(|| phase_view.cpu().filter(|_| phase_view.copies()))?;
    if time < SAMPLE {
        return None;
    }
    let all = working_time(phase_view, threads, time);
    let of_all = |part: Nanos| (part.0 as f64 / all.max(1.0)).min(1.0);
    let cpu = of_all(cpu);
    // Those who look on wait for a CPU, too: they count where it is not known who did the I/O.
    let cpu_wait = match &evidence.ran {
        Some(ran) => ran.waited,
        None => evidence.stop.cpu_since(&evidence.before).and_then(|all| all.run_delay),
    };
    // In such a gap the workers waited as well, as far as they had anything to do.
    let cpu_wait = cpu_wait.map_or(0.0, of_all).max(gaps_for_cpu(phase_view, time)).min(1.0 - cpu);
    let interval = phase.series.interval_ns;
    let gaps = gaps(phase_view);
    let stopped: Nanos = gaps.iter().map(|(from, to)| to.less(*from).less(interval)).sum();
    let stopped = stopped.0 as f64 / time.0 as f64;
    let stopped = stopped.min(1.0 - cpu - cpu_wait);
    let asleep = (1.0 - cpu - cpu_wait - stopped).max(0.0);

    let states = evidence.states.as_ref();
    let waited = |kind| asleep * waited_for(states, kind);
    let (asleep_by_itself, other_end) = (waited(WaitKind::Pause), waited(WaitKind::OtherEnd));
    // It pauses while it has nothing in flight. With something in flight a thread that waits for another (the
    // helpers of POSIX AIO) waits for its I/O.
    let idle = phase.depth.as_ref().and_then(|depth| depth.idle);
    let pause = idle.map_or(asleep_by_itself, |idle| asleep_by_itself.min(idle));
    let (for_helpers, memory) = (asleep_by_itself - pause, waited(WaitKind::Memory));
    let for_io = waited(WaitKind::Io) + for_helpers;
    // Where nothing of it goes to a device here, who waits for an I/O waits for the server.
    let (to_server, to_device) = if phase_view.remote() { (for_io, 0.0) } else { (0.0, for_io) };
    let server = waited(WaitKind::Server) + to_server;
    let io = to_device + memory;
    let stopped = stopped + waited(WaitKind::Stopped);
    let device = work(phase_view, io + cpu);
    let on_cpu = cpu;
    let cpu = cpu - (device - io).max(0.0);
    let held = (io - device).max(0.0);

    let mut terms = Vec::new();
    let mut term = |held_by, share: f64, name: Option<String>| {
        if share >= LEAST {
            terms.push(TimeTerm { held_by, share, name });
        }
    };
    let others = foreign_share(phase_view);
    let device_name = phase_view.cases.iter().find(|flow_view| flow_view.on_devices());
    let device_name = device_name.map(FlowView::named);
    term(TimeHolder::Device, device * (1.0 - others), device_name.clone());
    term(TimeHolder::OthersAtDevice, device * others, device_name);
    term(TimeHolder::Cpu, cpu, None);
    term(TimeHolder::CpuWait, cpu_wait, None);
    term(TimeHolder::OtherEnd, other_end, None);
    term(TimeHolder::Server, server, None);
    let (limit, most) =
        limit(phase_view, levels).map_or((None, 1.0), |(file, most)| (Some(file), most));
    let (on_purpose, by_limit) = match limit {
        Some(_) => (0.0, held.min(most)),
        None if phase_view.paced() => (idle.map_or(held, |idle| held.min(idle - pause)), 0.0),
        None => (0.0, 0.0),
    };
    term(TimeHolder::Pause, pause + on_purpose, None);
    term(TimeHolder::Limit, by_limit, limit);
    let rest = held - on_purpose - by_limit;
    let halted = rest.min(halts(phase_view, time));
    term(TimeHolder::Stopped, stopped + halted, None);
    let way_back = way_back(phase_view, cpu_wait, all);
    let for_memory = (rest - halted).min(memory);
    term(TimeHolder::Memory, for_memory, None);
    term(TimeHolder::WakeUp, (rest - halted - for_memory).min(way_back), None);
    terms.sort_by(|a, b| b.share.total_cmp(&a.share));
    let explained: f64 = terms.iter().map(|term| term.share).sum();
    let unexplained = 1.0 - explained;
    Some(TimeBalance {
        time,
        threads: threads as u32,
        looks: states.map_or(0, |states| states.looks),
        on_cpu,
        terms,
        unexplained: if unexplained < LEAST { 0.0 } else { unexplained },
    })
}

/// The share of the time that the way from the devices back to the program may have taken at the most: each time
/// it slept its thread had to be woken, and so had one in each layer below it, and one of a journal that it
/// waited for, which wait for a CPU as long as it did each time; and what the kernel's threads did on a CPU.
fn way_back(phase_view: &PhaseView<'_>, cpu_wait: f64, all: f64) -> f64 {
    let evidence = &phase_view.phase.evidence;
    let woken = |times: u64, took: Nanos| times as f64 * took.0 as f64 / all.max(1.0);
    let Some(switches) = evidence.ran.as_ref().and_then(|ran| ran.switches) else {
        return woken(phase_view.ops(), WAKE_UP);
    };
    let wake_up = phase_view.record.machine().wake_up.map_or(WAKE_UP, |took| took.min(WAKE_UP));
    let between = |flow_view: &FlowView<'_>| {
        let journal = flow_view.writes()
            && flow_view.flow.durability.durable()
            && flow_view.subject.kind != PathKind::Device;
        flow_view.levels.len() + usize::from(journal)
    };
    let on_devices = phase_view.cases.iter().filter(|flow_view| flow_view.on_devices());
    let helpers = on_devices.map(between).max().unwrap_or(0) as f64;
    // Each stop ends with a wait for a CPU; those after a sleep are a part of them.
    let stops = switches.sleeps.saturating_add(switches.preempted);
    let after_sleep = cpu_wait * switches.sleeps as f64 / stops.max(1) as f64;
    let kernel = neighbours::seen(phase_view.phase).and_then(|others| {
        let used = others.kernel?;
        Some(used.0 as f64 / others.time.0.max(1) as f64)
    });
    woken(switches.sleeps, wake_up) * (1.0 + helpers)
        + after_sleep * helpers
        + kernel.unwrap_or(0.0)
}

/// The time of all threads together, ns: of each from the first I/O of its job to the last.
fn working_time(phase_view: &PhaseView<'_>, threads: u64, time: Nanos) -> f64 {
    let most = time.0 as f64 * threads as f64;
    let jobs: Option<f64> = phase_view.phase.jobs.iter().try_fold(0.0, |sum, job| {
        let span = job.span?;
        let planned = phase_view.record.jobs_of(phase_view.phase);
        let workers = planned.filter(|planned| planned.job == job.name).map(|job| job.workers);
        let end = phase_view.phase.span.ended().since(phase_view.phase.span.stopped);
        let time = span.stopped.since(span.started).less(phase_view.phase.span.paused) + end;
        Some(sum + time.0 as f64 * f64::from(workers.max()?))
    });
    jobs.filter(|sum| *sum > 0.0).map_or(most, |sum| sum.min(most))
}

/// The samples, which are due every 100 ms, that came so late that the whole program did not run meanwhile: next to
/// nothing was done. From the one before each to its own time. None where somebody waited for memory for as long: the
/// program takes its samples within the same group, whose memory is full.
pub fn gaps(phase_view: &PhaseView<'_>) -> Vec<(Nanos, Nanos)> {
    let gaps = without_sample(phase_view);
    let phase = phase_view.phase;
    let missed = missed(phase_view, &gaps);
    let before = phase.evidence.before.pressure.seen();
    let waited = phase.evidence.stop.pressure.seen().zip(before);
    let for_memory = waited.and_then(|(stop, before)| stop.since(before).memory);
    let explained =
        for_memory.is_some_and(|time| time.0 as f64 >= missed.0 as f64 * GAP_FOR_MEMORY);
    if explained || waited_for_cpu(phase_view, missed) { Vec::new() } else { gaps }
}

/// Of so much time in which no sample came: who takes them waited for a CPU, as when somebody of a higher class has
/// them all.
fn waited_for_cpu(phase_view: &PhaseView<'_>, missed: Nanos) -> bool {
    let evidence = &phase_view.phase.evidence;
    let all = evidence.stop.cpu_since(&evidence.before).and_then(|all| all.run_delay);
    let workers = evidence.ran.as_ref().and_then(|ran| ran.waited).unwrap_or_default();
    let others = all.unwrap_or_default().less(workers);
    missed > Nanos::ZERO && others.0 as f64 >= missed.0 as f64 * GAP_FOR_MEMORY
}

/// The share of the time in which no sample came for want of a CPU.
fn gaps_for_cpu(phase_view: &PhaseView<'_>, time: Nanos) -> f64 {
    let missed = missed(phase_view, &without_sample(phase_view));
    match waited_for_cpu(phase_view, missed) {
        true => missed.0 as f64 / time.0.max(1) as f64,
        false => 0.0,
    }
}

fn missed(phase_view: &PhaseView<'_>, gaps: &[(Nanos, Nanos)]) -> Nanos {
    let interval = phase_view.phase.series.interval_ns;
    gaps.iter().map(|(from, to)| to.less(*from).less(interval)).sum()
}

/// Times in which no sample came, and next to nothing was done.
fn without_sample(phase_view: &PhaseView<'_>) -> Vec<(Nanos, Nanos)> {
    let phase = phase_view.phase;
    let interval = phase.series.interval_ns;
    let end = phase.span.length();
    let mut then = Nanos::ZERO;
    let mut usual = (0.0, 0.0);
    let mut late = Vec::new();
    for point in &phase.series.points {
        if then >= end {
            break;
        }
        let time = point.at_ns.less(then);
        let done = (point.read_bytes + point.write_bytes) as f64 + point.ops as f64;
        if time.0 > interval.0.saturating_mul(GAP) {
            late.push((then, point.at_ns, done));
        } else {
            usual = (usual.0 + time.as_secs(), usual.1 + done);
        }
        then = point.at_ns;
    }
    let rate = if usual.0 > 0.0 { usual.1 / usual.0 } else { 0.0 };
    let idle = |(from, to, done): &(Nanos, Nanos, f64)| {
        *done <= rate * to.less(*from).as_secs() * GAP_WORK || rate == 0.0 && *done == 0.0
    };
    late.iter().filter(|gap| idle(gap)).map(|(from, to, _)| (*from, *to)).collect()
}

/// The share of the time that stops may have taken at the most which left no gap between samples. Nothing runs
/// meanwhile, so that what explains a wait otherwise comes before them.
fn halts(phase_view: &PhaseView<'_>, time: Nanos) -> f64 {
    let within = phase_view.phase.evidence.halts.map_or(Nanos::ZERO, |halts| halts.within_ns);
    (within.0 as f64 / time.0.max(1) as f64).min(1.0)
}

/// What the file system adds to such I/Os for itself is a small part of them: they pass the page cache, and are
/// read, or written in large blocks that are not made durable one by one.
fn adds_little(flow_view: &FlowView<'_>) -> bool {
    let flow = flow_view.flow;
    let one_by_one = matches!(flow.durability, Durability::OpenSync | Durability::OpenDsync)
        || flow.durability.every().is_some();
    flow_view.direct() && (flow_view.reads() || flow.block > SMALL_WRITE && !one_by_one)
}

/// The share of a device's bytes that others moved, where it is known that they did: somebody was seen, or
/// nothing of the run's own can have been so much.
fn foreign_share(phase_view: &PhaseView<'_>) -> f64 {
    let here = phase_view.cases.iter().filter(|flow_view| flow_view.first_here);
    // Also of the devices below the one that the path names: it waits for them.
    let share = |flow_view: &FlowView<'_>| {
        let of_level = |level: &DeviceLevel<'_>| {
            let foreign = flow_view.foreign(level);
            let part = foreign as f64 / level.traffic().max(1) as f64;
            // Each request costs a device its time, however small it is.
            let upper = level.depth == 0;
            let requests = flow_view.foreign_requests(level).filter(|_| upper).unwrap_or(0.0);
            // One below that had time left did not make it wait.
            if !upper && level.busy() < LOWER_BUSY {
                return 0.0;
            }
            let not_ours = || part > MORE_THAN_OURS && adds_little(flow_view);
            let named = || neighbours::movers(flow_view, level, Bytes(foreign)).is_some();
            let much = part > FOREIGN || requests > FOREIGN_RUINS;
            if much && named() {
                part.max(requests).min(1.0)
            } else if not_ours() {
                part.min(1.0)
            } else {
                0.0
            }
        };
        flow_view.levels.iter().map(of_level).fold(0.0, f64::max)
    };
    here.filter(|flow_view| flow_view.on_devices()).map(share).fold(0.0, f64::max)
}

/// The share of the time, this at the most, in which the devices worked. What a limit on a lower one keeps waiting
/// the upper one counts as its own work, which it is not.
fn work(phase_view: &PhaseView<'_>, most: f64) -> f64 {
    let device = phase_view.work().min(most);
    let mut flows = phase_view.cases.iter().filter(|flow_view| flow_view.on_devices());
    let lower = flows.find_map(|flow_view| {
        let (_, level) = limits::holding(flow_view)?;
        let upper = flow_view.top().is_some_and(|top| !std::ptr::eq(top, level));
        (upper && level.readable()).then(|| (level.busy() + level.flushing()).min(1.0))
    });
    lower.map_or(device, |lower| lower.min(device))
}

/// The file of a limit on the devices that may have held the run, and for which share of the time at the most: a
/// limit that came or went held it while it was there, where that is seen in the rate, too.
fn limit(phase_view: &PhaseView<'_>, levels: &[RateLevel]) -> Option<(String, f64)> {
    let mut flows = phase_view.cases.iter().filter(|flow_view| flow_view.on_devices());
    flows.find_map(|flow_view| {
        let all_the_time = || limits::holding(flow_view).map(|(throttle, _)| (throttle, 1.0));
        let changing = limits::changing(flow_view).filter(|_| levels.len() > 1);
        let changing = changing.or_else(|| limits::met_while_there(flow_view));
        let (throttle, most) = changing.or_else(all_the_time)?;
        Some((throttle.file.clone(), most))
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::bench::DoctoredRecord;
    use super::*;
    use assay_plan::stats::DepthReached;
    use assay_record::evidence::LeafKind;

    #[test]
    fn places_are_told_apart() {
        for (state, expected) in [
            ("R", None),
            ("T", Some(WaitKind::Stopped)),
            ("t", Some(WaitKind::Stopped)),
            ("D percpu_rwsem_wait", Some(WaitKind::Stopped)),
            ("S sock_alloc_send_pskb", Some(WaitKind::OtherEnd)),
            ("D", Some(WaitKind::Io)),
            ("S", Some(WaitKind::Io)),
            ("S io_cqring_wait", Some(WaitKind::Io)),
            ("D jbd2_log_wait_commit", Some(WaitKind::Io)),
            ("S hrtimer_nanosleep", Some(WaitKind::Pause)),
            ("S futex_wait_queue", Some(WaitKind::Pause)),
            ("S anon_pipe_write", Some(WaitKind::OtherEnd)),
            ("D request_wait_answer", Some(WaitKind::Server)),
            ("D rpc_wait_bit_killable", Some(WaitKind::Server)),
            ("D balance_dirty_pages", Some(WaitKind::Memory)),
            ("D reclaim_throttle", Some(WaitKind::Memory)),
        ] {
            assert!(kind(state) == expected, "{state}");
        }
    }

    #[test]
    fn who_waits_for_a_helper_with_something_in_flight_does_not_pause() {
        let (mut bench, states) = (DoctoredRecord::write_flushed(), "S futex_do_wait");
        bench.work(0.0, 0.0);
        let looks = ThreadStates {
            looks: 100,
            states: [(states.to_string(), 100)].into(),
            ..ThreadStates::default()
        };
        bench.record.phases[0].evidence.states = Some(looks);
        let mut share = |idle: Option<f64>, remote: bool| {
            let depth = DepthReached { mean: 1.0, max: 1, idle, counts: vec![] };
            bench.record.phases[0].depth = Some(depth);
            if remote {
                bench.bottom(LeafKind::Remote("fuse.sshfs".into()));
            }
            let phase_view = PhaseView::new(&bench.record, &bench.record.phases[0]);
            let balance = time(&phase_view, &[]).expect("a balance");
            let share = |holder| (balance.share(holder) * 100.0).round().abs();
            (share(TimeHolder::Pause), share(TimeHolder::Server))
        };
        let (all, _) = share(None, false);
        assert!(all > 50.0, "{all}");
        assert_eq!(share(Some(0.0), false), (0.0, 0.0));
        assert_eq!(share(Some(0.25), false), (25.0, 0.0));
        // What is in flight is with the server.
        let (pause, server) = share(Some(0.0), true);
        assert!(pause == 0.0 && server >= all, "{pause} {server}");
    }

    #[test]
    fn a_device_that_works_meanwhile_holds_the_run() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.work(0.95, 0.6);
        let phase_view = PhaseView::new(&bench.record, &bench.record.phases[0]);
        let balance = time(&phase_view, &[]).expect("a balance");
        assert!((balance.share(TimeHolder::Device) - 0.95).abs() < 0.01, "{balance:?}");
        assert!((balance.share(TimeHolder::Cpu) - 0.05).abs() < 0.01, "{balance:?}");
        assert_eq!(balance.unexplained, 0.0);
    }
}
