//! Why the ways to write and to read rank as they do, by the readings of their runs.
//!
//! The time that a byte takes has three parts: the device works on it, the device flushes, or the
//! device has nothing to do. The part in which a way has lost most against the fastest is its
//! cause; what the requests looked like says the rest.

use super::row::{ModeDevice, ModeRow};
use crate::threshold::{CPU_FULL, IDLE};
use assay_plan::unit::{Bandwidth, Bytes, Nanos, Share, Times};
use assay_record::claim::{
    Claim, DeviceGaps, DeviceQueue, DeviceWork, DurableEach, GatheredCalls, ModeClaim, ModeLead,
    ModeSlowdown, Sentences,
};

/// Rates that differ by less are called the same: runs of two seconds differ by as much.
const TIE: f64 = 0.05;

/// Requests or depths that differ by less explain nothing.
const APART: f64 = 1.5;

/// Bytes beyond those of the calls, as a share of them, from which on they explain something: the
/// same as a difference in rate that has to be explained.
const EXTRA: f64 = TIE;

/// What holds a way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlowdownCause {
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

/// Why the rows of one table rank as they do: the fastest first, a claim for each.
pub fn ranking(rows: &[&ModeRow]) -> Vec<ModeClaim> {
    let (unflushed, flushed): (Vec<&ModeRow>, Vec<&ModeRow>) =
        rows.iter().partition(|row| unflushed(row));
    let mut ranked: Vec<(&ModeRow, f64)> =
        flushed.iter().filter_map(|row| Some((*row, row.ranked()?))).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut claims = Vec::new();
    if let Some(&(best, top)) = ranked.first() {
        let same = ranked.iter().take_while(|(_, rate)| *rate >= top * (1.0 - TIE)).count();
        let (first, rest) = ranked.split_at(same);
        claims.push(lead(first, best));
        claims.extend(rest.iter().map(|(row, rate)| behind(row, *rate, best, top)));
    }
    claims.extend(unflushed.iter().map(|row| memory(row)));
    claims.extend(unranked(&flushed));
    claims
}

/// The rows that have no rate to be compared, and why; the same reason is given once.
fn unranked(rows: &[&ModeRow]) -> Vec<ModeClaim> {
    let mut found: Vec<(&[Claim], Vec<String>)> = Vec::new();
    for row in rows.iter().filter(|row| row.ranked().is_none()) {
        match found.iter_mut().find(|(known, _)| *known == row.claims) {
            Some((_, modes)) => modes.push(row.mode.into()),
            None => found.push((&row.claims, vec![row.mode.into()])),
        }
    }
    let unranked = |(claims, modes): (&[Claim], Vec<String>)| match claims {
        [] => ModeClaim::ModesNotFlushed { modes },
        claims => ModeClaim::ModesUnranked { modes, claims: Sentences(claims.to_vec()) },
    };
    found.into_iter().map(unranked).collect()
}

/// A write that nothing was to make durable, through memory.
fn unflushed(row: &ModeRow) -> bool {
    row.mode == "no flush"
}

/// What holds `row` back against `best`.
fn cause(row: &ModeRow, best: &ModeRow) -> SlowdownCause {
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
fn lead(first: &[(&ModeRow, f64)], best: &ModeRow) -> ModeClaim {
    let modes: Vec<String> = first.iter().map(|(row, _)| row.mode.to_string()).collect();
    let rates = || first.iter().map(|(_, rate)| Bandwidth(*rate));
    let most = rates().next().unwrap_or_default();
    // Only where it reads differently there is a range.
    let least = rates().min().filter(|least| least.to_string() != most.to_string());
    let how = match &best.device {
        _ if best.limited() => ModeLead::Limited { claims: claims(best) },
        Err(why) => ModeLead::Unknown { why: why.clone() },
        Ok(device) if !best.waits && device.idle() > IDLE => {
            ModeLead::Gaps { gaps: gaps(best, device), queue: queue(device) }
        }
        Ok(device) => {
            ModeLead::Worked { calls: calls(best), work: worked(device), queue: queue(device) }
        }
    };
    ModeClaim::FastestModes { several: modes.len() > 1, modes, least, most, how }
}

/// How it keeps the device supplied.
fn calls(row: &ModeRow) -> GatheredCalls {
    match (row.writes, row.waits) {
        (true, false) => GatheredCalls::WrittenBack,
        (false, false) => GatheredCalls::ReadAhead,
        _ => GatheredCalls::Single,
    }
}

/// A way that is slower than the fastest, and why.
fn behind(row: &ModeRow, rate: f64, best: &ModeRow, top: f64) -> ModeClaim {
    ModeClaim::SlowerMode {
        mode: row.mode.into(),
        rate: Bandwidth(rate),
        less: Share(1.0 - rate / top),
        why: slowdown(row, best),
    }
}

fn slowdown(row: &ModeRow, best: &ModeRow) -> ModeSlowdown {
    let cause = cause(row, best);
    let (Ok(mine), Ok(theirs)) = (&row.device, &best.device) else {
        let why = [row, best].into_iter().find_map(|row| row.device.as_ref().err()).cloned();
        return ModeSlowdown::Unseen { why };
    };
    let (device, queue, theirs) = (mine.name.clone(), queue(mine), self::queue(theirs));
    let (best_mode, moved) = (best.mode.to_string(), row.moved);
    match cause {
        SlowdownCause::Unseen => ModeSlowdown::NoRate,
        SlowdownCause::Limit if row.claims == best.claims => ModeSlowdown::SameLimit { queue },
        SlowdownCause::Limit => ModeSlowdown::Limit { claims: claims(row), queue },
        SlowdownCause::Disturbed => ModeSlowdown::Disturbed { claims: claims(row) },
        SlowdownCause::Flushes => ModeSlowdown::Flushes {
            flushes: mine.flushes.filter(|_| row.each),
            calls: row.calls,
            work: worked(mine),
            queue,
        },
        SlowdownCause::Cpu => {
            let cpu = Share(row.cpu.unwrap_or_default());
            ModeSlowdown::Cpu { device, cpu, idle: Share(mine.idle()) }
        }
        SlowdownCause::Queued => {
            let waited = Share(row.queued.unwrap_or_default());
            ModeSlowdown::Queued { device, waited, idle: Share(mine.idle()) }
        }
        SlowdownCause::Gaps => ModeSlowdown::Gaps { gaps: gaps(row, mine), queue },
        SlowdownCause::ReadFirst => {
            ModeSlowdown::ReadFirst { device, read: Bytes(mine.against), moved, queue }
        }
        SlowdownCause::MoreBytes => {
            let (written, mapped) = (Bytes(mine.moved), row.mapped());
            ModeSlowdown::MoreBytes { device, written, moved, mapped, queue }
        }
        SlowdownCause::Forced => ModeSlowdown::Forced { device, queue },
        SlowdownCause::SmallRequests => {
            ModeSlowdown::SmallRequests { queue, best: best_mode, theirs }
        }
        SlowdownCause::Depth => ModeSlowdown::Depth { device, queue, best: best_mode, theirs },
        SlowdownCause::Slower => ModeSlowdown::Slower { device, best: best_mode, queue },
    }
}

fn claims(row: &ModeRow) -> Sentences {
    Sentences(row.claims.clone())
}

/// How long the device had nothing to do, and between what.
fn gaps(row: &ModeRow, device: &ModeDevice) -> DeviceGaps {
    let (name, idle, writes) = (device.name.clone(), device.idle(), row.writes);
    if !row.waits {
        return DeviceGaps::Above { writes, device: name, idle: Share(idle) };
    }
    let each = match device.flushes {
        Some(flushes) if row.each => DurableEach::Flushed { flushes, calls: row.calls },
        None if row.each => DurableEach::Uncounted,
        _ => DurableEach::No,
    };
    let gap = Nanos((idle * device.wall.0 as f64 / row.calls.max(1) as f64) as u64);
    DeviceGaps::Between { writes, each, device: name, gap, idle: Share(idle) }
}

/// What a write without a flush shows, and what it comes to with one.
fn memory(row: &ModeRow) -> ModeClaim {
    let (mode, rate) = (row.mode.to_string(), row.app.map(Bandwidth));
    if row.lost == Some(Bytes::ZERO) {
        return ModeClaim::AllWrittenBack { mode, rate };
    }
    let most = row.lost.is_none_or(|lost| lost.0 > row.moved.0 / 2);
    let with_flush = row.durable.map(Bandwidth);
    ModeClaim::NotAllWrittenBack { mode, rate, most, lost: row.lost, moved: row.moved, with_flush }
}

fn worked(device: &ModeDevice) -> DeviceWork {
    let flushing = (device.flushing >= 0.01).then_some(Share(device.flushing));
    DeviceWork { device: device.name.clone(), busy: Share(device.work), flushing }
}

fn queue(device: &ModeDevice) -> DeviceQueue {
    match device.size {
        Some(size) => DeviceQueue::Requests { depth: Times(device.depth), size },
        None => DeviceQueue::Empty,
    }
}
