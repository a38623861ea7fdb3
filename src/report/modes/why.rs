//! Why the ways to write and to read rank as they do, said from the readings of their runs.
//!
//! The time that a byte takes has three parts: the device works on it, the device flushes, or the
//! device has nothing to do. The part in which a way has lost most against the fastest is its
//! cause; what the requests looked like says the rest.

use super::row::{Device, Row};
use crate::unit::{Bandwidth, Bytes, Nanos};
use crate::verdict::threshold::{CPU_FULL, IDLE};
use crate::verdict::words::{names, share};

/// Rates that differ by less are called the same: runs of two seconds differ by as much.
const TIE: f64 = 0.05;

/// Requests or depths that differ by less explain nothing.
const APART: f64 = 1.5;

/// Bytes beyond those of the calls, as a share of them, from which on they explain something: the
/// same as a difference in rate that has to be explained.
const EXTRA: f64 = TIE;

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
pub(super) fn sentences(rows: &[&Row]) -> Vec<String> {
    let (unflushed, flushed): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| unflushed(row));
    let mut ranked: Vec<(&Row, f64)> =
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
fn unranked(rows: &[&Row]) -> Vec<String> {
    let mut said: Vec<(&str, Vec<String>)> = Vec::new();
    for row in rows.iter().filter(|row| row.ranked().is_none()) {
        let why = if row.claim.is_empty() { "Nothing made it durable." } else { &row.claim };
        match said.iter_mut().find(|(known, _)| *known == why) {
            Some((_, modes)) => modes.push(row.mode.into()),
            None => said.push((why, vec![row.mode.into()])),
        }
    }
    said.into_iter().map(|(why, modes)| format!("{}: {why}", names(&modes))).collect()
}

/// A write that nothing was to make durable, through memory.
fn unflushed(row: &Row) -> bool {
    row.mode == "no flush"
}

/// What holds `row` back against `best`.
pub(super) fn cause(row: &Row, best: &Row) -> Cause {
    let (Ok(mine), Ok(theirs)) = (&row.device, &best.device) else { return Cause::Unseen };
    let (Some(rate), Some(top)) = (row.ranked(), best.ranked()) else { return Cause::Unseen };
    if row.disturbed() {
        return Cause::Disturbed;
    }
    if row.limited() {
        return if wrote_more(row, mine) { Cause::MoreBytes } else { Cause::Limit };
    }
    let lost = |part: fn(&Device) -> f64| part(mine) / rate - part(theirs) / top;
    let (work, flushing, idle) =
        (lost(|device| device.work), lost(|device| device.flushing), lost(Device::idle));
    if flushing >= work && flushing >= idle {
        return Cause::Flushes;
    }
    // A limit above the device makes it wait for these as for any other bytes.
    if row.writes && mine.against as f64 > row.moved.0 as f64 * EXTRA {
        return Cause::ReadFirst;
    }
    if idle >= work {
        return between(row, mine);
    }
    at_work(row, mine, theirs)
}

/// Why the device had nothing to do.
fn between(row: &Row, device: &Device) -> Cause {
    if row.cpu.is_some_and(|cpu| cpu >= CPU_FULL) {
        Cause::Cpu
    } else if row.queued.is_some_and(|queued| queued >= device.idle() / 2.0) {
        Cause::Queued
    } else {
        Cause::Gaps
    }
}

/// Why the device itself worked longer for the same bytes.
fn at_work(row: &Row, mine: &Device, theirs: &Device) -> Cause {
    let less = |mine: f64, theirs: f64| mine * APART < theirs;
    let size = |device: &Device| device.size.map_or(0.0, |size| size.0 as f64);
    if wrote_much_more(row, mine) {
        Cause::MoreBytes
    } else if row.each && mine.flushes.is_some_and(|count| count >= row.calls / 2) {
        Cause::Flushes
    } else if wrote_more(row, mine) {
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

/// The device wrote so much more than the program that it explains something.
fn wrote_more(row: &Row, device: &Device) -> bool {
    row.writes && device.moved as f64 > row.moved.0 as f64 * (1.0 + EXTRA)
}

/// So much more that nothing else explains as much.
fn wrote_much_more(row: &Row, device: &Device) -> bool {
    row.writes && device.moved > row.moved.0.saturating_mul(2)
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
        return format!("why can not be said, for {}", why.map_or("nothing was seen", |why| why));
    };
    let name = &mine.name;
    let own = requests(mine);
    match cause {
        Cause::Unseen => "there is nothing to compare it with".into(),
        Cause::Limit if row.claim == best.claim => format!("the same limit holds it; {own}"),
        Cause::Limit => format!("{}; {own}", row.claim.trim_end_matches('.')),
        Cause::Disturbed => row.claim.trim_end_matches('.').to_string(),
        Cause::Flushes => flushes(row, mine),
        Cause::Cpu => format!(
            "the program itself was at work for {} of the time, and {name} had nothing to do for {}",
            share(row.cpu.unwrap_or_default()),
            share(mine.idle())
        ),
        Cause::Queued => format!(
            "other programs had the CPUs: it waited for one for {} of the time, and {name} had nothing to do for {}",
            share(row.queued.unwrap_or_default()),
            share(mine.idle())
        ),
        Cause::Gaps => format!("{}; {own}", gaps(row, mine)),
        Cause::ReadFirst => format!(
            "what is changed must be read before: {name} read {} for {} that were written; {own}",
            Bytes(mine.against),
            row.moved
        ),
        Cause::MoreBytes => format!(
            "{name} wrote {} for {} of the program, {}; {own}",
            Bytes(mine.moved),
            row.moved,
            if row.mapped() {
                "for a store makes a whole large page dirty"
            } else {
                "with the records of the file system"
            }
        ),
        Cause::Forced => format!(
            "each write goes through the cache of {name} on its own (FUA), and the next one waits for it; {own}"
        ),
        Cause::SmallRequests => format!(
            "smaller requests, each with a cost of its own; {own}, where {} had {}",
            best.mode,
            requests(theirs)
        ),
        Cause::Depth => format!(
            "{name} has less to do at a time; {own}, where {} had {}",
            best.mode,
            requests(theirs)
        ),
        Cause::Slower => {
            format!("{name} took longer for requests like those of {}; {own}", best.mode)
        }
    }
}

/// How long the device had nothing to do, and between what.
fn gaps(row: &Row, device: &Device) -> String {
    let (name, idle) = (&device.name, device.idle());
    let what = if row.writes { "write" } else { "read" };
    if !row.waits {
        return format!(
            "the {what}s were held above {name}, which had nothing to do for {} of the time",
            share(idle)
        );
    }
    let each = Nanos((idle * device.wall.0 as f64 / row.calls.max(1) as f64) as u64);
    let safe = match device.flushes {
        Some(flushes) if row.each => {
            format!(", each safe before the next ({flushes} flushes for {} writes)", row.calls)
        }
        None if row.each => ", each safe before the next (this kernel counts no flushes)".into(),
        _ => String::new(),
    };
    format!(
        "one {what} at a time{safe}: between two of them {name} had nothing to do for {each}, {} of the time",
        share(idle)
    )
}

/// How many flushes there were, and what they took.
fn flushes(row: &Row, device: &Device) -> String {
    let (calls, worked, own) = (row.calls, worked(device), requests(device));
    match device.flushes {
        Some(flushes) if row.each => format!(
            "each write waits for a flush, {flushes} flushes for {calls} writes: {worked}; {own}"
        ),
        _ => format!("{worked}; {own}"),
    }
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
    let most = row.lost.is_none_or(|lost| lost.0 > row.moved.0 / 2);
    let memory = if most { ", which is memory" } else { "" };
    let with = row.durable.map(|rate| format!(" With the flush it is {}.", pace(rate)));
    format!("{mode} shows {shown}{memory}: {left}.{}", with.unwrap_or_default())
}

fn worked(device: &Device) -> String {
    let flushing = if device.flushing >= 0.01 {
        format!(" and flushing for {}", share(device.flushing))
    } else {
        String::new()
    };
    format!("{} was at work for {} of the time{flushing}", device.name, share(device.work))
}

/// `0.80 requests of 1 MiB in flight`.
fn requests(device: &Device) -> String {
    match device.size {
        Some(size) => format!("{} requests of {size} in flight", device.depth()),
        None => "no requests at all".into(),
    }
}

fn pace(rate: f64) -> String {
    Bandwidth(rate).to_string()
}
