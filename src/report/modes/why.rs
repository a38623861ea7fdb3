//! Why the ways to write and to read rank as they do, said from the readings of their runs.
//!
//! The time that a byte takes has three parts: the device works on it, the device flushes, or the
//! device has nothing to do. The part in which a way has lost most against the fastest is its
//! cause; what the requests looked like says the rest.

use super::row::{ModeDevice, ModeRow};
use assay_judge::threshold::{CPU_FULL, IDLE};
use assay_judge::words::{names, share};
use assay_plan::unit::{Bandwidth, Bytes, Nanos};

/// Rates that differ by less are called the same: runs of two seconds differ by as much.
const TIE: f64 = 0.05;

/// Requests or depths that differ by less explain nothing.
const APART: f64 = 1.5;

/// Bytes beyond those of the calls, as a share of them, from which on they explain something: the
/// same as a difference in rate that has to be explained.
const EXTRA: f64 = TIE;

/// What holds a way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlowdownCause {
    /// A limit that is known by name.
    Limit,
    /// The device flushed.
    Flushes,
    /// The device waited for the next call.
    Gaps,
    /// The program needed the CPU.
    Cpu,
    /// Other programs had the CPUs.
    Queued,
    /// Other programs used the device.
    Disturbed,
    /// Pages were read before they could be changed.
    ReadFirst,
    /// The device wrote more than it was given.
    MoreBytes,
    /// Each write went through the drive's cache on its own.
    Forced,
    /// The same bytes in more requests.
    SmallRequests,
    /// Fewer requests at a time.
    Depth,
    /// As many and as large requests, and each took longer.
    Slower,
    /// Nobody can say: the counters could not be read.
    Unseen,
}

/// Why the rows of one table rank as they do: the fastest first, one sentence each.
pub(super) fn sentences(rows: &[&ModeRow]) -> Vec<String> {
    let (unflushed, flushed): (Vec<&ModeRow>, Vec<&ModeRow>) =
        rows.iter().partition(|row| unflushed(row));
    let mut ranked: Vec<(&ModeRow, f64)> =
        flushed.iter().filter_map(|row| Some((*row, row.ranked()?))).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut said = Vec::new();
    if let Some(&(best, top)) = ranked.first() {
        let same = ranked.iter().take_while(|(_, rate)| *rate >= top * (1.0 - TIE)).count();
        let (first, rest) = ranked.split_at(same);
        said.push(lead(first, best));
        said.extend(rest.iter().map(|(row, rate)| behind(row, *rate, best, top)));
    }
    said.extend(unflushed.iter().map(|row| memory(row)));
    said.extend(unranked(&flushed));
    said
}

/// The rows that have no rate to be compared, and why; the same reason is given once.
fn unranked(rows: &[&ModeRow]) -> Vec<String> {
    let mut said: Vec<(&str, Vec<String>)> = Vec::new();
    for row in rows.iter().filter(|row| row.ranked().is_none()) {
        let why = if row.claim.is_empty() { "It was not flushed." } else { &row.claim };
        match said.iter_mut().find(|(known, _)| *known == why) {
            Some((_, modes)) => modes.push(row.mode.into()),
            None => said.push((why, vec![row.mode.into()])),
        }
    }
    said.into_iter().map(|(why, modes)| format!("{}: {why}", names(&modes))).collect()
}

/// A write that nothing was to make durable, through memory.
fn unflushed(row: &ModeRow) -> bool {
    row.mode == "no flush"
}

/// What holds `row` back against `best`.
pub(super) fn cause(row: &ModeRow, best: &ModeRow) -> SlowdownCause {
    let (Ok(mine), Ok(theirs)) = (&row.device, &best.device) else { return SlowdownCause::Unseen };
    let (Some(rate), Some(top)) = (row.ranked(), best.ranked()) else {
        return SlowdownCause::Unseen;
    };
    if row.disturbed() {
        return SlowdownCause::Disturbed;
    }
    if row.limited() {
        return if wrote_more(row, mine) { SlowdownCause::MoreBytes } else { SlowdownCause::Limit };
    }
    let lost = |part: fn(&ModeDevice) -> f64| part(mine) / rate - part(theirs) / top;
    let (work, flushing, idle) =
        (lost(|device| device.work), lost(|device| device.flushing), lost(ModeDevice::idle));
    if flushing >= work && flushing >= idle {
        return SlowdownCause::Flushes;
    }
    // A limit above the device makes it wait for these as for any other bytes.
    if row.writes && mine.against as f64 > row.moved.0 as f64 * EXTRA {
        return SlowdownCause::ReadFirst;
    }
    if idle >= work {
        return between(row, mine);
    }
    at_work(row, mine, theirs)
}

/// Why the device had nothing to do.
fn between(row: &ModeRow, device: &ModeDevice) -> SlowdownCause {
    if row.cpu.is_some_and(|cpu| cpu >= CPU_FULL) {
        SlowdownCause::Cpu
    } else if row.queued.is_some_and(|queued| queued >= device.idle() / 2.0) {
        SlowdownCause::Queued
    } else {
        SlowdownCause::Gaps
    }
}

/// Why the device itself worked longer for the same bytes.
fn at_work(row: &ModeRow, mine: &ModeDevice, theirs: &ModeDevice) -> SlowdownCause {
    let less = |mine: f64, theirs: f64| mine * APART < theirs;
    let size = |device: &ModeDevice| device.size.map_or(0.0, |size| size.0 as f64);
    if wrote_much_more(row, mine) {
        SlowdownCause::MoreBytes
    } else if row.each && mine.flushes.is_some_and(|count| count >= row.calls / 2) {
        SlowdownCause::Flushes
    } else if wrote_more(row, mine) {
        SlowdownCause::MoreBytes
    } else if row.each && mine.forces && mine.flushes.is_some_and(|count| count < row.calls / 2) {
        SlowdownCause::Forced
    } else if less(size(mine), size(theirs)) {
        SlowdownCause::SmallRequests
    } else if less(mine.depth, theirs.depth) {
        SlowdownCause::Depth
    } else {
        SlowdownCause::Slower
    }
}

/// The device wrote so much more than the program that it explains something.
fn wrote_more(row: &ModeRow, device: &ModeDevice) -> bool {
    row.writes && device.moved as f64 > row.moved.0 as f64 * (1.0 + EXTRA)
}

/// So much more that nothing else explains as much.
fn wrote_much_more(row: &ModeRow, device: &ModeDevice) -> bool {
    row.writes && device.moved > row.moved.0.saturating_mul(2)
}

/// The fastest, and those that come to the same.
fn lead(first: &[(&ModeRow, f64)], best: &ModeRow) -> String {
    let modes: Vec<String> = first.iter().map(|(row, _)| row.mode.to_string()).collect();
    let rates: Vec<f64> = first.iter().map(|(_, rate)| *rate).collect();
    let low = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let rate = match (pace(low), pace(rates[0])) {
        (low, high) if low == high => high,
        (low, high) => format!("{low} to {high}"),
    };
    let come = if modes.len() > 1 { "come" } else { "comes" };
    if best.limited() {
        return format!("{} {come} to {rate}: {}", names(&modes), best.claim);
    }
    let how = match &best.device {
        Err(why) => format!("what limits it is unknown: {why}"),
        Ok(device) if !best.waits && device.idle() > IDLE => {
            format!("{}; {} on average", gaps(best, device), requests(device))
        }
        Ok(device) => {
            format!("{}{}, with {} on average", gathered(best), worked(device), requests(device))
        }
    };
    format!("{} {come} to {rate}: {how}.", names(&modes))
}

/// How it keeps the device supplied.
fn gathered(row: &ModeRow) -> &'static str {
    match (row.writes, row.waits) {
        (true, false) => "the page cache takes the writes and writes them back in parallel; ",
        (false, false) => "read-ahead keeps the device busy; ",
        _ => "",
    }
}

/// A way that is slower than the fastest, and why.
fn behind(row: &ModeRow, rate: f64, best: &ModeRow, top: f64) -> String {
    let less = share(1.0 - rate / top);
    format!("{} reaches {}, {less} less: {}.", row.mode, pace(rate), because(row, best))
}

fn because(row: &ModeRow, best: &ModeRow) -> String {
    let cause = cause(row, best);
    let (Ok(mine), Ok(theirs)) = (&row.device, &best.device) else {
        let why = [row, best].into_iter().find_map(|row| row.device.as_ref().err());
        return format!("the cause is unknown: {}", why.map_or("no readings", |why| why));
    };
    let name = &mine.name;
    let own = requests(mine);
    match cause {
        SlowdownCause::Unseen => "no rate to compare it with".into(),
        SlowdownCause::Limit if row.claim == best.claim => {
            format!("the same limit applies; {own}")
        }
        SlowdownCause::Limit => format!("{}; {own}", row.claim.trim_end_matches('.')),
        SlowdownCause::Disturbed => row.claim.trim_end_matches('.').to_string(),
        SlowdownCause::Flushes => flushes(row, mine),
        SlowdownCause::Cpu => format!(
            "CPU-bound: the program used a CPU {} of the time, and {name} was idle {}",
            share(row.cpu.unwrap_or_default()),
            share(mine.idle())
        ),
        SlowdownCause::Queued => format!(
            "other programs had the CPUs: it waited for one {} of the time, and {name} was idle {}",
            share(row.queued.unwrap_or_default()),
            share(mine.idle())
        ),
        SlowdownCause::Gaps => format!("{}; {own}", gaps(row, mine)),
        SlowdownCause::ReadFirst => format!(
            "read-modify-write: {name} read {} for {} written; {own}",
            Bytes(mine.against),
            row.moved
        ),
        SlowdownCause::MoreBytes => format!(
            "write amplification: {name} wrote {} for {} from the program, {}; {own}",
            Bytes(mine.moved),
            row.moved,
            if row.mapped() {
                "because a store dirties a whole large page"
            } else {
                "including file system metadata"
            }
        ),
        SlowdownCause::Forced => format!(
            "each write bypasses the write cache of {name} (FUA), and the next one waits for it; {own}"
        ),
        SlowdownCause::SmallRequests => format!(
            "smaller requests, each with its own overhead; {own}, where {} had {}",
            best.mode,
            requests(theirs)
        ),
        SlowdownCause::Depth => format!(
            "a shallower queue on {name}; {own}, where {} had {}",
            best.mode,
            requests(theirs)
        ),
        SlowdownCause::Slower => {
            format!("{name} took longer for the same kind of requests as {}; {own}", best.mode)
        }
    }
}

/// How long the device had nothing to do, and between what.
fn gaps(row: &ModeRow, device: &ModeDevice) -> String {
    let (name, idle) = (&device.name, device.idle());
    let what = if row.writes { "write" } else { "read" };
    if !row.waits {
        return format!(
            "the {what}s waited above {name}, which was idle {} of the time",
            share(idle)
        );
    }
    let each = Nanos((idle * device.wall.0 as f64 / row.calls.max(1) as f64) as u64);
    let safe = match device.flushes {
        Some(flushes) if row.each => {
            format!(", each durable before the next ({flushes} flushes for {} writes)", row.calls)
        }
        None if row.each => {
            ", each durable before the next (this kernel does not count flushes)".into()
        }
        _ => String::new(),
    };
    format!(
        "one {what} in flight{safe}: {name} was idle for {each} between two of them, {} of the time",
        share(idle)
    )
}

/// How many flushes there were, and what they took.
fn flushes(row: &ModeRow, device: &ModeDevice) -> String {
    let (calls, worked, own) = (row.calls, worked(device), requests(device));
    match device.flushes {
        Some(flushes) if row.each => format!(
            "each write waits for a flush, {flushes} flushes for {calls} writes: {worked}; {own}"
        ),
        _ => format!("{worked}; {own}"),
    }
}

/// What a write without a flush shows, and what it comes to with one.
fn memory(row: &ModeRow) -> String {
    let shown = row.app.map_or_else(|| "-".into(), pace);
    let mode = row.mode;
    let left = match row.lost {
        Some(lost) if lost.0 > 0 => {
            format!("{lost} of {} were only in memory when the clock stopped", row.moved)
        }
        Some(_) => return format!("{mode} reaches {shown}: everything was already written back."),
        None => "how much was written back cannot be seen".into(),
    };
    let most = row.lost.is_none_or(|lost| lost.0 > row.moved.0 / 2);
    let memory = if most { ", the speed of memory" } else { "" };
    let with = row.durable.map(|rate| format!(" With a flush it is {}.", pace(rate)));
    format!("{mode} shows {shown}{memory}: {left}.{}", with.unwrap_or_default())
}

fn worked(device: &ModeDevice) -> String {
    let flushing = if device.flushing >= 0.01 {
        format!(" and {} flushing", share(device.flushing))
    } else {
        String::new()
    };
    format!("{} was {} busy{flushing}", device.name, share(device.work))
}

/// `0.80 requests of 1 MiB in flight`.
fn requests(device: &ModeDevice) -> String {
    match device.size {
        Some(size) => format!("{} requests of {size} in flight", device.depth()),
        None => "no requests".into(),
    }
}

fn pace(rate: f64) -> String {
    Bandwidth(rate).to_string()
}
