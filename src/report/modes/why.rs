//! Why the ways to write and to read rank as they do, said from the readings of their runs.
//!
//! The time that a byte takes has three parts: the device works on it, the device flushes, or the
//! device has nothing to do. The part in which a way has lost most against the fastest is its
//! cause; what the requests looked like says the rest.

use super::row::{Device, Row};
use crate::report::figure::digits;
use crate::unit::{Bandwidth, Nanos};
use crate::verdict::threshold::CPU_FULL;
use crate::verdict::words::{names, share};

/// Rates that differ by less are called the same: runs of two seconds differ by as much.
const TIE: f64 = 0.05;

/// Requests or depths that differ by less explain nothing.
const APART: f64 = 1.5;

/// Bytes beyond those of the calls, as a share of them, from which on they explain something.
const EXTRA: f64 = 0.10;

/// What holds a way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// A limit that is known by name.
    Limit,
    /// The device flushed.
    Flushes,
    /// The device waited for the next call.
    Gaps,
    /// The program needed the CPU.
    Cpu,
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
pub(super) fn sentences(rows: &[&Row]) -> Vec<String> {
    let mut ranked: Vec<(&Row, f64)> = rows
        .iter()
        .filter(|row| !unflushed(row))
        .filter_map(|row| Some((*row, row.ranked()?)))
        .collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut said = Vec::new();
    if let Some(&(best, top)) = ranked.first() {
        let same = ranked.iter().take_while(|(_, rate)| *rate >= top * (1.0 - TIE)).count();
        let (first, rest) = ranked.split_at(same);
        said.push(lead(first, best));
        said.extend(rest.iter().map(|(row, rate)| behind(row, *rate, best, top)));
    }
    said.extend(rows.iter().filter(|row| unflushed(row)).map(|row| memory(row)));
    said.extend(rows.iter().filter(|row| !unflushed(row) && row.ranked().is_none()).map(
        |row| match row.claim.as_str() {
            "" => format!("{}: nothing made it durable.", row.mode),
            claim => format!("{}: {claim}", row.mode),
        },
    ));
    said
}

/// A write that nothing was to make durable, through memory.
fn unflushed(row: &Row) -> bool {
    row.mode == "no flush"
}

/// What holds `row` back against `best`.
pub(super) fn cause(row: &Row, best: &Row) -> Cause {
    let (Ok(mine), Ok(theirs)) = (&row.device, &best.device) else { return Cause::Unseen };
    let (Some(rate), Some(top)) = (row.ranked(), best.ranked()) else { return Cause::Unseen };
    if row.limited() {
        return Cause::Limit;
    }
    let lost = |part: fn(&Device) -> f64| part(mine) / rate - part(theirs) / top;
    let (work, flushing, idle) =
        (lost(|device| device.work), lost(|device| device.flushing), lost(Device::idle));
    if flushing >= work && flushing >= idle {
        return Cause::Flushes;
    }
    if idle >= work {
        let full = row.cpu.is_some_and(|cpu| cpu >= CPU_FULL);
        return if full { Cause::Cpu } else { Cause::Gaps };
    }
    at_work(row, mine, theirs)
}

/// Why the device itself worked longer for the same bytes.
fn at_work(row: &Row, mine: &Device, theirs: &Device) -> Cause {
    let moved = row.moved.0 as f64;
    let less = |mine: f64, theirs: f64| mine * APART < theirs;
    let size = |device: &Device| device.size.map_or(0.0, |size| size.0 as f64);
    if row.writes && mine.against as f64 > moved * EXTRA {
        Cause::ReadFirst
    } else if row.writes && mine.moved as f64 > moved * (1.0 + EXTRA) {
        Cause::MoreBytes
    } else if row.each && mine.forces && mine.flushes.is_some_and(|count| count < row.calls / 2) {
        Cause::Forced
    } else if less(size(mine), size(theirs)) {
        Cause::SmallRequests
    } else if less(mine.depth, theirs.depth) {
        Cause::Depth
    } else {
        Cause::Slower
    }
}

/// The fastest, and those that come to the same.
fn lead(first: &[(&Row, f64)], best: &Row) -> String {
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
        Err(why) => format!("what set the rate can not be said: {why}"),
        Ok(device) => format!("{}{}, {}", gathered(best), worked(device), requests(device)),
    };
    format!("{} {come} to {rate}: {how}.", names(&modes))
}

/// How it keeps the device supplied.
fn gathered(row: &Row) -> &'static str {
    match (row.writes, row.waits) {
        (true, false) => "memory takes the writes and hands them on while the next ones come; ",
        (false, false) => "the kernel reads ahead of the calls; ",
        _ => "",
    }
}

/// A way that is slower than the fastest, and why.
fn behind(row: &Row, rate: f64, best: &Row, top: f64) -> String {
    let less = share(1.0 - rate / top);
    format!("{} comes to {}, {less} less: {}.", row.mode, pace(rate), because(row, best))
}

fn because(row: &Row, best: &Row) -> String {
    let cause = cause(row, best);
    let (Ok(mine), Ok(theirs)) = (&row.device, &best.device) else {
        let why = [row, best].into_iter().find_map(|row| row.device.as_ref().err());
        return format!("why can not be said: {}", why.map_or("", String::as_str));
    };
    let name = &mine.name;
    let against = format!("{}; {} had {}", requests(mine), best.mode, requests(theirs));
    let what = if row.writes { "write" } else { "read" };
    match cause {
        Cause::Unseen => "there is nothing to compare".into(),
        Cause::Limit => row.claim.trim_end_matches('.').to_string(),
        Cause::Flushes => flushes(row, mine),
        Cause::Cpu => format!(
            "the program was at work on its CPU for {} of the time, and {name} had nothing to do for {}",
            share(row.cpu.unwrap_or_default()),
            share(mine.idle())
        ),
        Cause::Gaps if row.waits => format!(
            "one {what} at a time, and {name} had nothing to do for {} between two of them, {} of the time ({against})",
            Nanos((mine.idle() * mine.wall.0 as f64 / row.calls.max(1) as f64) as u64),
            share(mine.idle())
        ),
        Cause::Gaps => format!(
            "{name} had nothing to do for {} of the time ({against})",
            share(mine.idle())
        ),
        Cause::ReadFirst => format!(
            "pages must be read before they are changed: {name} read {} for {} written ({against})",
            crate::unit::Bytes(mine.against),
            row.moved
        ),
        Cause::MoreBytes => format!(
            "{name} wrote {} for {} of the program ({against})",
            crate::unit::Bytes(mine.moved),
            row.moved
        ),
        Cause::Forced => format!(
            "each write goes through the cache of {name} on its own (FUA), and the next waits for it ({against})"
        ),
        Cause::SmallRequests => {
            format!("smaller requests, each with a cost of its own ({against})")
        }
        Cause::Depth => format!("fewer requests at a time, so {name} can not overlap them ({against})"),
        Cause::Slower => format!("{name} took longer for the same requests ({against})"),
    }
}

/// How many flushes there were, and what they took.
fn flushes(row: &Row, device: &Device) -> String {
    let count = device.flushes.unwrap_or_default();
    let time = share(device.flushing);
    let name = &device.name;
    if row.each {
        let calls = row.calls;
        return format!(
            "each write waits for a flush: {count} flushes for {calls} writes, in which {name} was for {time} of the time"
        );
    }
    format!("flushing took {name} {time} of the time")
}

/// What a write without a flush shows, and what it comes to with one.
fn memory(row: &Row) -> String {
    let shown = row.app.map_or_else(|| "-".into(), pace);
    let mode = row.mode;
    let left = match row.lost {
        Some(lost) if lost.0 > 0 => {
            format!("{lost} of {} were only in memory when the clock stopped", row.moved)
        }
        Some(_) => return format!("{mode} comes to {shown}: all had left memory by itself."),
        None => "what had left memory can not be seen".into(),
    };
    match row.durable {
        Some(durable) => format!(
            "{mode} shows {shown}, which is memory: {left}. With the flush it is {}.",
            pace(durable)
        ),
        None => format!("{mode} shows {shown}, which is memory: {left}."),
    }
}

fn worked(device: &Device) -> String {
    let flushing = if device.flushing >= 0.01 {
        format!(" and flushing for {}", share(device.flushing))
    } else {
        String::new()
    };
    format!("{} was at work for {} of the time{flushing}", device.name, share(device.work))
}

/// `0.80 in flight on average, of 1 MiB each`.
fn requests(device: &Device) -> String {
    match device.size {
        Some(size) => {
            format!("{} requests in flight on average, of {size} each", digits(device.depth))
        }
        None => "no requests at all".into(),
    }
}

fn pace(rate: f64) -> String {
    Bandwidth(rate).to_string()
}
