//! What a run's own work moves beyond the bytes it asks for; what is more than that, others moved.

use super::measure::{DeviceLevel, FlowView, ratio};
use super::threshold::{
    AHEAD_BYTES, OWN_BYTES, OWN_COMMIT, OWN_PER_FLUSH, OWN_PER_MAPPED_FLUSH, OWN_PER_MOVED_WRITE,
    OWN_REQUESTS, OWN_SHARE, RECORD, TRIMS_PER_LEAF, TRIMS_PER_MAP,
};
use assay_plan::plan::{Action, Caching, Durability, Method};
use assay_plan::unit::{ByteRange, Bytes, KIB, Nanos};
use assay_record::claim::SyncCause;
use assay_record::evidence::{BlockLayer, Direction, Mount, PathKind, SECTOR, Snapshot, Subject};
use assay_record::record::{Evidence, Flow};

impl DeviceLevel<'_> {
    /// Bytes read and written beyond those that the run asked for, until the stop of the clock.
    pub fn excess(&self) -> [u64; 2] {
        let written = self.asked.write.saturating_mul(self.copies.max(1));
        [
            self.timed.read_bytes.saturating_sub(self.asked.read),
            self.timed.write_bytes.saturating_sub(written),
        ]
    }
}

impl FlowView<'_> {
    /// Bytes on a level that the run cannot account for, until the stop of the clock.
    pub fn foreign(&self, level: &DeviceLevel<'_>) -> u64 {
        let asked = &level.asked;
        let [read, write] = level.excess();
        let unexplained = read.saturating_add(write).saturating_sub(self.own_extra(level));
        // Traffic that was there before the run and went on at the same pace, each way, is nobody's own extra.
        let (before, time) = level.quiet.unwrap_or_default();
        let times = ratio(level.wall.0, time.0);
        let went_on = |before: u64, excess: u64| excess.min((before as f64 * times) as u64);
        let went_on =
            went_on(before.read_bytes, read).saturating_add(went_on(before.write_bytes, write));
        let floor = OWN_BYTES.max((asked.read.saturating_add(asked.write) as f64 * 0.01) as u64);
        if went_on > floor { unexplained.max(went_on) } else { unexplained }
    }

    /// The share of a level's requests that are not of the run's calls: of direct reads, and of direct writes that are
    /// not made durable one by one, of which it is known how many requests each is. `None` of others.
    pub fn foreign_requests(&self, level: &DeviceLevel<'_>) -> Option<f64> {
        let [layer] = level.layers[..] else { return None };
        let queue = layer.queue.seen()?;
        let largest = queue.max_sectors_kb?.saturating_mul(KIB).max(1);
        let page = self.record.machine().page.0.max(1);
        let mut own = 0_u64;
        for flow in &self.phase.flows {
            let subject = self.record.resolved.subjects.get(flow.subject)?;
            if !subject.stack.iter().any(|below| level.has(&below.name)) {
                continue;
            }
            let one_by_one =
                matches!(flow.durability, Durability::OpenSync | Durability::OpenDsync)
                    || flow.durability.every().is_some()
                    || synchronous(subject).is_some();
            let writes = flow.direction == Direction::Write;
            if flow.caching != Caching::Direct || writes && one_by_one {
                return None;
            }
            // The pages of a buffer may all lie apart, and it may begin inside one.
            let pages = flow.block.0.div_ceil(page) + 1;
            let by_memory = queue.max_segments.map_or(1, |most| pages.div_ceil(most.max(1)));
            // One more where an extent ends inside a call.
            let pieces = flow.block.0.div_ceil(largest).max(by_memory).max(1);
            own = own.saturating_add(flow.calls.0.saturating_mul(pieces));
        }
        let all = level.timed.reads.saturating_add(level.timed.writes);
        // Each request of others moved a sector at least.
        let [read, write] = level.excess();
        let sectors = read.saturating_add(write) / SECTOR;
        let foreign = all.saturating_sub(own).min(sectors).saturating_sub(OWN_REQUESTS);
        (all > 0 && own > 0).then(|| ratio(foreign, all))
    }

    /// What the run's own work may have moved beyond the bytes it asked for: journal, metadata,
    /// parts of blocks, read-ahead.
    pub(super) fn own_extra(&self, level: &DeviceLevel<'_>) -> u64 {
        let asked = &level.asked;
        let all = asked.read.saturating_add(asked.write).saturating_mul(level.copies.max(1));
        let mut extra = OWN_BYTES.max((all as f64 * OWN_SHARE) as u64);
        // The record of the phases before.
        extra = extra.saturating_add(self.phase.evidence.journal.unwrap_or_default().0);
        // What the file system writes for what this run does, at the most.
        let mut records = self.own_of_trims(level);
        let mut superblocks = 0_u64;
        let mapped = self.mapped();
        for flow in &self.phase.flows {
            let Some(subject) = self.record.resolved.subjects.get(flow.subject) else { continue };
            if !subject.stack.iter().any(|layer| level.has(&layer.name)) {
                continue;
            }
            let calls = flow.calls.0;
            let unit = block_unit(subject);
            // A block that is no multiple of the unit costs its remainder, and for writes a read
            // of what stood there.
            let rest = match flow.block.0 % unit {
                0 => 0,
                _ if flow.direction == Direction::Write => unit.saturating_mul(3),
                _ => unit.saturating_mul(2),
            };
            extra = extra.saturating_add(calls.saturating_mul(rest));
            match flow.direction {
                Direction::Write => {
                    if journals_data(subject).is_some() {
                        records = records.saturating_add(flow.bytes.0);
                    }
                    let flushes = match flow.durability {
                        Durability::OpenSync | Durability::OpenDsync => calls,
                        _ if synchronous(subject).is_some() => calls,
                        Durability::None => 0,
                        other => 1 + calls / other.every().unwrap_or(calls).max(1),
                    };
                    records = records.saturating_add(flushes.saturating_mul(OWN_PER_FLUSH));
                    superblocks = superblocks.saturating_add(flushes);
                    if mapped {
                        // A page is read before a store changes it, and others around it; what
                        // is flushed is more than what was stored.
                        let ahead = AHEAD_BYTES + read_ahead(subject).saturating_mul(2);
                        let more =
                            flushes.saturating_mul(OWN_PER_MAPPED_FLUSH).saturating_add(ahead);
                        extra = extra.saturating_add(flow.bytes.0).saturating_add(more);
                    }
                    if moves_what_it_writes(subject) && (!flow.sequential || flushes > 1) {
                        records = records.saturating_add(calls.saturating_mul(OWN_PER_MOVED_WRITE));
                    }
                }
                Direction::Read if flow.caching == Caching::Direct => {}
                Direction::Read => {
                    let ahead = read_ahead(subject);
                    extra = extra.saturating_add(AHEAD_BYTES + ahead.saturating_mul(2));
                    if !flow.sequential {
                        // Small reads here and there fetch a window each.
                        extra = extra.saturating_add(calls.saturating_mul(ahead));
                    }
                }
            }
        }
        let records = match (self.accounted(level), self.written_pages(level)) {
            (Some(ByteRange { least, most }), _) => {
                records.min((most + self.dirty_before()).0).max(least.0)
            }
            (None, Some(written)) => {
                // Each device has one, which is no page of writeback.
                let superblocks = superblocks.saturating_mul(level.layers.len().max(1) as u64);
                records.min(written.0.saturating_add(superblocks.saturating_mul(RECORD)))
            }
            (None, None) => records,
        };
        extra.saturating_add(records)
    }

    /// What the file system wrote for itself on a level, by its own accounts: of the devices that the path names, where
    /// each file system on them keeps some.
    pub(super) fn accounted(&self, level: &DeviceLevel<'_>) -> Option<ByteRange> {
        if level.depth != 0 || self.subject.kind == PathKind::Device {
            return None;
        }
        let Evidence { before, stop, .. } = &self.phase.evidence;
        let of_journals = level.layers.iter().map(|layer| {
            let name = layer.entered_by();
            let seen = |snapshot: &Snapshot| {
                let found = snapshot.filesystems.iter().find(|one| one.name == *name)?;
                found.writes.seen().copied()
            };
            Some(seen(stop)?.since(&seen(before)?))
        });
        of_journals.reduce(|sum, next| Some(sum? + next?)).flatten()
    }

    /// Pages that were waiting for their way to a device when the phase began, other than those of the run's files:
    /// metadata of earlier work are among them.
    fn dirty_before(&self) -> Bytes {
        let before = &self.phase.evidence.before;
        let dirty = before.memory.seen().map_or(Bytes::ZERO, |memory| memory.dirty);
        dirty.less(before.cache.iter().filter_map(|file| file.pages.seen()?.dirty).sum())
    }

    /// What writeback wrote beyond the run's own data were records of file systems, in two copies or one for each device,
    /// and pages of others. Known where each page of data is written once at the most.
    fn written_pages(&self, level: &DeviceLevel<'_>) -> Option<Bytes> {
        // Others (zfs, bcachefs) write their records past the page cache.
        let pages = self.subject.mount.seen().is_some_and(|mount| mount.kind == "btrfs");
        if level.depth != 0 || !pages {
            return None;
        }
        let copies = level.layers.len().max(2) as u64;
        Some(Bytes(self.pages_of_others()?.0.saturating_mul(copies)))
    }

    /// Pages that writeback wrote meanwhile, to whatever device, beyond the run's own data.
    pub(super) fn pages_of_others(&self) -> Option<Bytes> {
        let Evidence { before, stop, .. } = &self.phase.evidence;
        let page = self.record.machine().page;
        let written = stop.memory.seen()?.written_since(before.memory.seen()?, page)?;
        Some(written.less(self.written_back()?))
    }

    /// How much of the run's own data writeback wrote, at the least.
    fn written_back(&self) -> Option<Bytes> {
        let cached =
            |flow: &&Flow| flow.direction == Direction::Write && flow.caching != Caching::Direct;
        let all: Bytes = self.phase.flows.iter().filter(cached).map(|flow| flow.bytes).sum();
        if all == Bytes::ZERO {
            return Some(all);
        }
        let [job] = self.record.planned_jobs(self.phase) else { return None };
        let once = job.workers == 1 && self.visits_once() && !self.mapped();
        let files = self.phase.evidence.stop.cache.iter();
        let unwritten = files.map(|file| file.pages.seen()?.unwritten());
        let unwritten = unwritten.reduce(|sum, next| Some(sum? + next?)).flatten()?;
        (once && all <= self.size_of_phase()).then(|| all.less(unwritten))
    }

    /// The phase works in a mapping of its file.
    fn mapped(&self) -> bool {
        let mut jobs = self.record.jobs_of(self.phase);
        jobs.any(|job| matches!(job.method, Method::Mmap(_)))
    }

    /// What the file system may have written of its own records because of trims: they change the
    /// extents of files and the maps of free space.
    fn own_of_trims(&self, level: &DeviceLevel<'_>) -> u64 {
        let trims = self.phase.totals.get(&Action::Trim).map_or(0, |total| total.ops.0);
        if trims == 0 || self.subject.kind == PathKind::Device {
            return 0;
        }
        if moves_what_it_writes(self.subject) {
            return trims.saturating_mul(OWN_PER_MOVED_WRITE);
        }
        let leaves = trims.div_ceil(TRIMS_PER_LEAF);
        let maps = (self.size_of_phase().0 / TRIMS_PER_MAP + 1).min(trims);
        let commits = 1 + level.wall.0 / commit_time(self.subject).0;
        // To the journal, and from there to its place.
        leaves.saturating_add(maps).saturating_mul(2 * RECORD).saturating_mul(commits)
    }
}

/// How often the file system writes down its records by itself.
fn commit_time(subject: &Subject) -> Nanos {
    subject.mount.seen().and_then(commit_option).unwrap_or(OWN_COMMIT)
}

/// How often the mount options tell the file system to commit.
pub(super) fn commit_option(mount: &Mount) -> Option<Nanos> {
    let said = mount.option(&["commit="]).and_then(|option| option.strip_prefix("commit="));
    let seconds: u32 = said.and_then(|seconds| seconds.parse().ok()).filter(|&s| s > 0)?;
    Some(Nanos::secs(u64::from(seconds)))
}

/// A file system that never writes in place: each write rewrites some of its own records too.
pub(super) fn moves_what_it_writes(subject: &Subject) -> bool {
    subject.mount.seen().is_some_and(Mount::moves_what_it_writes)
}

/// The block that file system and device write as one.
fn block_unit(subject: &Subject) -> u64 {
    let system = subject.space.seen().map_or(0, |space| space.block.0);
    let device = subject.stack.iter().filter_map(BlockLayer::physical_sector).max();
    system.max(device.map_or(0, |sector| sector.0)).max(4 * KIB)
}

/// The largest read-ahead window below a path, bytes.
fn read_ahead(subject: &Subject) -> u64 {
    let queues = subject.stack.iter().filter_map(|layer| layer.queue.seen());
    let window = queues.filter_map(|queue| queue.read_ahead_kb).max().unwrap_or(128);
    window.saturating_mul(KIB)
}

/// Why every write is synchronous, whatever the program asked for.
pub(super) fn synchronous(subject: &Subject) -> Option<SyncCause> {
    let mounted = subject.mount.seen().is_some_and(|mount| mount.waits_each_time().is_some());
    mounted
        .then_some(SyncCause::Mount)
        .or_else(|| subject.sync_attribute.then_some(SyncCause::Attribute))
}

/// The mount option by which the file system writes data into its journal first, and so everything twice (ext4's
/// `data=journal`).
pub(super) fn journals_data(subject: &Subject) -> Option<&str> {
    subject.mount.seen()?.journals_data()
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::plan::{Action, Caching, Method, MmapOptions};
    use assay_plan::unit::{Bytes, MIB, Nanos, Ops};
    use assay_record::record::{MeasuredSubject, TrapId, Trust};

    /// Direct reads mixed with so many trims, while as much more was written to the device.
    fn reads_with_trims(trims: u64, written: u64) -> DoctoredRecord {
        let mut bench = DoctoredRecord::read_cold();
        bench.direct(true);
        let phase = &mut bench.record.phases[0];
        let mut total = phase.totals[&Action::Read].clone();
        (total.ops, total.bytes) = (Ops(trims), Bytes(trims * 4096));
        phase.totals.insert(Action::Trim, total);
        phase.evidence.stop.devices.iter_mut().for_each(|device| {
            if let assay_record::evidence::Reading::Seen(counters) = &mut device.counters {
                counters.writes += written / 4096;
                counters.write_bytes += written;
            }
        });
        bench
    }

    #[test]
    fn pages_that_a_mapping_reads_before_it_changes_them_are_nobody_else() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.was_read(Bytes::mib(20));
        let measures = |bench: &DoctoredRecord| verdict(&bench.record).measures;
        assert_eq!(measures(&bench), MeasuredSubject::Unsure);
        bench.record.resolved.jobs[0].method = Method::Mmap(MmapOptions::default());
        assert_eq!(measures(&bench), MeasuredSubject::Device);
    }

    #[test]
    fn the_journal_of_a_file_system_that_is_mounted_sync_is_nobody_else() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.record.phases[0].flows[0].calls = Ops(640);
        bench.written(Bytes::mib(44), Bytes::mib(44));
        let blamed = |bench: &DoctoredRecord| {
            verdict(&bench.record).findings.iter().any(|f| f.trap == TrapId::T31)
        };
        assert!(blamed(&bench));
        for options in ["rw,sync,relatime", "rw,relatime,sync"] {
            bench.mounted(options);
            assert!(!blamed(&bench), "{options}");
        }
        bench.mounted("rw,dirsync,relatime");
        assert!(blamed(&bench), "only folders are");
    }

    #[test]
    fn what_a_journal_did_not_write_somebody_else_did() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.record.phases[0].flows[0].calls = Ops(640);
        bench.mounted("rw,sync,relatime");
        bench.written(Bytes::mib(44), Bytes::mib(44));
        let unexplained = |bench: &DoctoredRecord| {
            let judged = verdict(&bench.record);
            judged.findings.into_iter().any(|f| f.trap == TrapId::T31)
        };
        assert!(!unexplained(&bench), "nobody counted");
        bench.committed(640, Bytes::mib(23), Bytes::mib(1));
        assert!(!unexplained(&bench));
        bench.committed(640, Bytes::mib(12), Bytes::mib(1));
        assert!(unexplained(&bench));
        // Metadata of earlier work were on their way.
        bench.earlier(Bytes::ZERO, Bytes::mib(11));
        assert!(!unexplained(&bench));
    }

    #[test]
    fn more_than_was_to_be_expected_is_the_file_systems_where_it_says_so() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.written(Bytes::mib(24), Bytes::mib(24));
        let measures = |bench: &DoctoredRecord| verdict(&bench.record).measures;
        assert_eq!(measures(&bench), MeasuredSubject::Unsure);
        bench.committed(200, Bytes::mib(4), Bytes::ZERO);
        assert_eq!(measures(&bench), MeasuredSubject::Device);
    }

    #[test]
    fn pages_that_writeback_wrote_bound_the_records_of_direct_writes() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.direct(true);
        bench.record.phases[0].flows[0].calls = Ops(640);
        bench.record.phases[0].flows[0].sequential = false;
        bench.system("btrfs");
        bench.written(Bytes::mib(44), Bytes::mib(44));
        let unsure =
            |bench: &DoctoredRecord| verdict(&bench.record).measures == MeasuredSubject::Unsure;
        assert!(!unsure(&bench), "not counted");
        bench.written_back(Bytes::mib(12));
        assert!(!unsure(&bench), "in two copies");
        bench.written_back(Bytes::mib(6));
        assert!(unsure(&bench));
        bench.record.phases[0].flows[0].caching = Caching::Buffered;
        assert!(unsure(&bench), "20 MiB are pages of the file, and 6 of records");
        bench.written_back(Bytes::mib(12 + 20));
        assert!(!unsure(&bench), "in two copies");
        bench.written_back(Bytes::mib(6 + 20));
        bench.system("zfs");
        assert!(!unsure(&bench), "its records are no pages");
    }

    #[test]
    fn the_record_of_the_phases_before_is_nobody_else() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.written(Bytes::mib(24), Bytes::mib(24));
        let blamed = |bench: &DoctoredRecord| {
            verdict(&bench.record).findings.iter().any(|f| f.trap == TrapId::T31)
        };
        assert!(blamed(&bench));
        bench.record.phases[0].evidence.journal = Some(Bytes::mib(4));
        assert!(!blamed(&bench));
    }

    #[test]
    fn what_trims_make_the_file_system_write_is_nobody_else() {
        let found = verdict(&reads_with_trims(40_000, 2 * MIB).record);
        assert_eq!(
            (found.trust, found.measures),
            (Trust::Sound, MeasuredSubject::Device),
            "{found:?}"
        );
        for (trims, written, trust) in
            [(40_000, 20 * MIB, Trust::Wrong), (10, 2 * MIB, Trust::Doubtful)]
        {
            let mut bench = reads_with_trims(trims, written);
            bench.beside(&[("dd", Nanos::ZERO, Bytes(written))]);
            let found = verdict(&bench.record);
            assert_eq!((found.trust, found.measures), (trust, MeasuredSubject::Disturbed));
        }
    }
}
