//! Looks at the conditions of a phase while it runs, and keeps what changed.

use assay_engine::sys::clock;
use assay_plan::stats::LiveReading;
use assay_plan::unit::{Nanos, Timestamp};
use assay_record::evidence::{
    Condition, ConditionKind, ConditionReader, ConditionValue, DiskCounters,
};
use assay_record::record::ConditionChange;

/// From one look to the next.
const EACH: Nanos = Nanos::secs(1);
/// A look takes no more than one part in this many of the time: on a machine with hundreds of processors it opens
/// hundreds of files.
const SPARSE: u64 = 500;
/// From one look at the thermometers of drives to the next: it is a command to the drive.
const THERMOMETERS_EACH: Nanos = Nanos::secs(10);
/// Less time than this has no mean number of requests in flight.
const SHORTEST: Nanos = Nanos::millis(500);
/// More changes of one condition than this are not kept.
const CHANGES_OF_ONE: usize = 20;

/// A disk whose requests in flight are compared with our own.
pub(super) struct WatchedLeaf {
    pub name: String,
    /// Its place among the counters.
    pub at: usize,
}

/// What has been counted at a look.
struct Counted {
    at: Timestamp,
    disks: Vec<Option<DiskCounters>>,
    done: LiveReading,
}

struct KnownCondition {
    condition: Condition,
    /// When it was last read.
    read: Nanos,
    /// How often it has changed.
    changes: usize,
    /// Bytes that the phase had written then.
    written: u64,
}

/// The conditions of one phase.
pub(super) struct ConditionWatch {
    reader: ConditionReader,
    leaves: Vec<WatchedLeaf>,
    /// All of our own requests are at the devices while they are waited for: direct I/O.
    direct: bool,
    due: Timestamp,
    thermometers_due: Timestamp,
    known: Vec<KnownCondition>,
    counted: Option<Counted>,
    changes: Vec<ConditionChange>,
}

impl ConditionWatch {
    /// A watch that has not looked yet.
    pub fn new(reader: ConditionReader, leaves: Vec<WatchedLeaf>) -> Self {
        Self {
            reader,
            leaves,
            direct: false,
            due: Timestamp(0),
            thermometers_due: Timestamp(0),
            known: Vec::new(),
            counted: None,
            changes: Vec::new(),
        }
    }

    /// All I/O of the phase goes past the page cache: what is in flight at the devices beyond it is others'.
    pub fn all_direct(&mut self, direct: bool) {
        self.direct = direct;
    }

    /// Looks if it is time for that: at these counters, and what has been done until they were read.
    pub fn look_if_due(
        &mut self,
        started: Timestamp,
        disks: &[Option<DiskCounters>],
        done: LiveReading,
    ) {
        if clock::now() >= self.due {
            self.look(started, disks, done);
        }
    }

    pub fn look(&mut self, started: Timestamp, disks: &[Option<DiskCounters>], done: LiveReading) {
        let began = clock::now();
        let thermometers = began >= self.thermometers_due;
        if thermometers {
            self.thermometers_due = began + THERMOMETERS_EACH;
        }
        let mut now = self.reader.read(thermometers);
        let counted = Counted { at: began, disks: disks.to_vec(), done };
        if let Some(before) = self.counted.replace(counted)
            && let Some(counted) = &self.counted
            && self.direct
        {
            let each = self.leaves.iter();
            now.extend(each.filter_map(|leaf| others_in_flight(leaf, &before, counted)));
        }
        let at = began.since(started);
        now.into_iter().for_each(|condition| self.note(condition, at, done.write_bytes));
        let took = clock::now().since(began);
        self.due = began + EACH.max(Nanos(took.0.saturating_mul(SPARSE)));
    }

    /// Keeps what a condition is now, and that it changed.
    fn note(&mut self, condition: Condition, at: Nanos, written: u64) {
        let same = |known: &&mut KnownCondition| {
            known.condition.of == condition.of && known.condition.kind == condition.kind
        };
        let Some(known) = self.known.iter_mut().find(same) else {
            self.known.push(KnownCondition { condition, read: at, changes: 0, written });
            return;
        };
        let from = std::mem::replace(&mut known.read, at);
        if !known.condition.changed(&condition) || known.changes >= CHANGES_OF_ONE {
            return;
        }
        // The space that its own files take is no news.
        let own = written.saturating_sub(std::mem::replace(&mut known.written, written));
        if condition.kind == ConditionKind::FreeSpace && known.condition.fell_by(&condition, own) {
            known.condition = condition;
            return;
        }
        known.changes += 1;
        self.changes.push(ConditionChange {
            after_ns: from,
            at_ns: at,
            kind: condition.kind,
            of: condition.of.clone(),
            before: known.condition.value.to_string(),
            now: condition.value.to_string(),
            source: condition.source.clone(),
        });
        known.condition = condition;
    }

    /// What changed, the last time included.
    pub fn finish(self) -> Vec<ConditionChange> {
        self.changes
    }
}

/// An I/O takes no longer than this part of the time between two looks where its latency tells what was in flight.
const PART_OF_LOOK: f64 = 8.0;

/// Requests of others in flight at a disk, on average between two looks. By Little's law a mean number in flight is
/// the sum of times over the time: the disk tells it of all requests, our latencies of ours. One I/O of ours may be
/// several requests: where the disk's are smaller, ours count for as many. So it is the least that others had.
fn others_in_flight(leaf: &WatchedLeaf, before: &Counted, now: &Counted) -> Option<Condition> {
    let disk = now.disks.get(leaf.at)?.as_ref()?.since(before.disks.get(leaf.at)?.as_ref()?);
    let time = now.at.since(before.at);
    let since = |which: fn(&LiveReading) -> u64| which(&now.done).wrapping_sub(which(&before.done));
    let (ops, timed) = (since(LiveReading::ops), since(|done| done.timed_ops));
    let lat = since(|done| done.lat_ns_sum) as f64 * ops as f64 / timed.max(1) as f64;
    // A latency is known when its I/O ends: of long ones too much may be outside of these two looks.
    let long = lat * PART_OF_LOOK > ops as f64 * time.0 as f64;
    if timed == 0 || time < SHORTEST || long {
        return None;
    }
    let bytes = since(|done| done.read_bytes.wrapping_add(done.write_bytes));
    let of_disk = disk.read_bytes.saturating_add(disk.write_bytes) as f64;
    let request = of_disk / disk.reads.saturating_add(disk.writes).max(1) as f64;
    let pieces = (bytes as f64 / ops.max(1) as f64 / request.max(1.0)).max(1.0);
    let ours = lat / time.0 as f64 * pieces;
    let all = disk.weighted_ms as f64 / (time.as_secs() * 1e3);
    let value = ConditionValue::Number { value: (all - ours).max(0.0), least: 1.0 };
    let source = format!("/sys/block/{}/stat", leaf.name);
    Some(Condition { kind: ConditionKind::OthersInFlight, of: leaf.name.clone(), value, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(reads: u64, weighted_ms: u64) -> Option<DiskCounters> {
        let read_bytes = reads * 4096;
        Some(DiskCounters { reads, read_bytes, weighted_ms, ..DiskCounters::default() })
    }

    fn counted(secs: u64, disk: Option<DiskCounters>, ops: u64, lat: Nanos) -> Counted {
        let done = LiveReading {
            read_ops: ops,
            read_bytes: ops * 4096,
            timed_ops: ops / 2,
            lat_ns_sum: lat.0 / 2,
            ..LiveReading::default()
        };
        Counted { at: Timestamp(Nanos::secs(secs).0), disks: vec![disk], done }
    }

    #[test]
    fn what_is_in_flight_beyond_our_own_is_others() {
        let leaf = WatchedLeaf { name: "sda".into(), at: 0 };
        let first = counted(5, disk(0, 0), 0, Nanos::ZERO);
        let others = |now: &Counted| {
            let found = others_in_flight(&leaf, &first, now)?;
            Some(found.value.to_string())
        };
        let some = |text: &str| Some(text.to_string());
        // In two seconds we had one in flight all the time.
        let alone = counted(7, disk(1000, 1_900), 1000, Nanos::secs(2));
        assert_eq!(others(&alone), some("0"));
        let beside = counted(7, disk(5000, 9_000), 1000, Nanos::secs(2));
        assert_eq!(others(&beside), some("3.5"));
        // Our I/Os of 16 KiB were four requests each.
        let mut large = counted(7, disk(4000, 8_000), 1000, Nanos::secs(2));
        large.done.read_bytes *= 4;
        assert_eq!(others(&large), some("0"));
        // Eight of ours, of which one has ended.
        assert_eq!(others(&counted(7, disk(8, 16_000), 2, Nanos::secs(2))), None);
        // Nothing was timed, or the disk was not seen.
        assert_eq!(others(&counted(7, disk(1, 1), 0, Nanos::ZERO)), None);
        assert_eq!(others(&counted(7, None, 1000, Nanos::secs(2))), None);
    }
}
