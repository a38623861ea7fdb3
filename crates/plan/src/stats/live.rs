//! Live counters of one worker: written by it with plain stores, read by whoever watches.

use super::heat::HeatCounts;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counters of one worker. Only its worker writes, so adding is a load and a store, not an
/// interlocked instruction; it has a cache line pair to itself.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct LiveCounters {
    read_ops: AtomicU64,
    read_bytes: AtomicU64,
    write_ops: AtomicU64,
    write_bytes: AtomicU64,
    trim_ops: AtomicU64,
    timed_ops: AtomicU64,
    lat_ns_sum: AtomicU64,
    lat_ns_max: AtomicU64,
    /// How long its operations took, over time; off at first.
    pub heat: HeatCounts,
}

/// What a gauge, or several together, stood at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveReading {
    /// Reads done.
    pub read_ops: u64,
    pub read_bytes: u64,
    /// Writes done.
    pub write_ops: u64,
    pub write_bytes: u64,
    /// Trims done.
    pub trim_ops: u64,
    /// Of all these, those whose time was taken.
    pub timed_ops: u64,
    /// Sum of their latencies, ns.
    pub lat_ns_sum: u64,
    /// Largest latency since the last [`LiveCounters::take_max`], ns.
    pub lat_ns_max: u64,
}

impl LiveReading {
    /// Calls of all kinds; a rewrite is two, a read and a write.
    pub fn ops(&self) -> u64 {
        self.read_ops.wrapping_add(self.write_ops).wrapping_add(self.trim_ops)
    }
}

#[inline]
fn add(counter: &AtomicU64, amount: u64) {
    counter.store(counter.load(Relaxed).wrapping_add(amount), Relaxed);
}

impl LiveCounters {
    /// One read of `bytes` that took `lat_ns`.
    #[inline]
    pub fn read(&self, bytes: u64, lat_ns: u64) {
        self.fetched(bytes);
        self.latency(lat_ns);
    }

    /// One write of `bytes` that took `lat_ns`.
    #[inline]
    pub fn write(&self, bytes: u64, lat_ns: u64) {
        self.sent(bytes);
        self.latency(lat_ns);
    }

    /// One read of `bytes` whose time was not taken, or is in that of a whole rewrite.
    #[inline]
    pub fn fetched(&self, bytes: u64) {
        add(&self.read_ops, 1);
        add(&self.read_bytes, bytes);
    }

    /// One write of `bytes` whose time was not taken.
    #[inline]
    pub fn sent(&self, bytes: u64) {
        add(&self.write_ops, 1);
        add(&self.write_bytes, bytes);
    }

    /// Bytes of an operation that was broken off: they moved, but it has no end and no latency.
    pub fn unfinished(&self, write: bool, bytes: u64) {
        add(if write { &self.write_bytes } else { &self.read_bytes }, bytes);
    }

    /// One trim that took `lat_ns`.
    #[inline]
    pub fn trim(&self, lat_ns: u64) {
        add(&self.trim_ops, 1);
        self.latency(lat_ns);
    }

    /// An operation that somebody else counts took `lat_ns`.
    #[inline]
    pub fn latency(&self, lat_ns: u64) {
        add(&self.timed_ops, 1);
        add(&self.lat_ns_sum, lat_ns);
        self.heat.add(lat_ns);
        if lat_ns > self.lat_ns_max.load(Relaxed) {
            // The watcher resets this one, so it needs the interlocked form; it is rare.
            self.lat_ns_max.fetch_max(lat_ns, Relaxed);
        }
    }

    /// Adds this gauge to a reading and starts a new maximum. For the one watcher.
    pub fn take(&self, into: &mut LiveReading) {
        self.sums(into);
        into.lat_ns_max = into.lat_ns_max.max(self.lat_ns_max.swap(0, Relaxed));
    }

    /// Adds this gauge to a reading, leaving its maximum alone. For anybody else.
    pub fn peek(&self, into: &mut LiveReading) {
        self.sums(into);
        into.lat_ns_max = into.lat_ns_max.max(self.lat_ns_max.load(Relaxed));
    }

    /// Sums go round at 2^64 like the counters; only their differences are used.
    fn sums(&self, into: &mut LiveReading) {
        for (sum, counter) in [
            (&mut into.read_ops, &self.read_ops),
            (&mut into.read_bytes, &self.read_bytes),
            (&mut into.write_ops, &self.write_ops),
            (&mut into.write_bytes, &self.write_bytes),
            (&mut into.trim_ops, &self.trim_ops),
            (&mut into.timed_ops, &self.timed_ops),
            (&mut into.lat_ns_sum, &self.lat_ns_sum),
        ] {
            *sum = sum.wrapping_add(counter.load(Relaxed));
        }
    }
}
