//! What a phase wants forgotten before it: cached pages, and earlier work that is still on its way.

use assay_engine::sys::cache;
use assay_engine::sys::event_loop::Event;
use assay_plan::error::{Doing, Error, Fault};
use assay_plan::plan::{CacheDrop, Work};
use assay_plan::unit::Nanos;
use assay_record::evidence::{self, DeviceReading, DiskCounters, Mount, PathKind, Reading};
use assay_record::record::{
    DroppedCache, FileExtents, PhaseRecord, QuietDevice, QuietPeriod, ResolvedJob, SampledDevice,
};

use super::coverage::touched_in;
use super::phase_context::PhaseContext;
use super::prepared_job::{JobPart, PreparedJob};
use super::sampler::listen;

/// Whether no device has read anything since a phase began, so that nothing can have been asked for ahead: who
/// needs a block from the device waits for it.
fn read_nothing(phase: &PhaseRecord, now: &[Option<DiskCounters>]) -> bool {
    let then = &phase.evidence.before.devices;
    let same = |(then, now): (&DeviceReading, &Option<DiskCounters>)| {
        let bytes = then.counters.seen().map(|counters| counters.read_bytes);
        bytes.is_some() && bytes == now.as_ref().map(|counters| counters.read_bytes)
    };
    then.len() == now.len() && then.iter().zip(now).all(same)
}

impl PhaseContext<'_> {
    /// What a phase of buffered reads had asked for ahead still comes when it has ended, and would
    /// pass for somebody else's traffic in the next one.
    pub(super) fn wait_for_own_read_ahead(&mut self) {
        const STEP: Nanos = Nanos::millis(50);
        /// A throttle lets requests go in slices of 100 ms: one step without any proves nothing.
        const STILL: u32 = 5;
        /// Read-ahead on the slowest card is over by then.
        const STEPS: usize = 60;
        let Some(earlier) = self.number.checked_sub(1) else { return };
        let before = &self.plan.phases[earlier];
        let reads = before
            .jobs
            .iter()
            .any(|job| matches!(&job.work, Work::Blocks(blocks) if blocks.pattern.mix.fetches()));
        let buffered = |job: &ResolvedJob| job.phase == earlier && job.caching.through_memory();
        let devices = self.counter_reader.names().next().is_some();
        if !devices || !reads || !self.resolved.jobs.iter().any(buffered) {
            return;
        }
        let mut devices = Vec::new();
        self.counter_reader.devices(&mut devices);
        if self.last.is_some_and(|last| last.name == before.name && read_nothing(last, &devices)) {
            return;
        }
        let (mut last, mut still) = (None, 0);
        for _ in 0..STEPS {
            self.counter_reader.devices(&mut devices);
            let now: u64 = devices.iter().flatten().map(|counters| counters.read_bytes).sum();
            still = if last.replace(now) == Some(now) { still + 1 } else { 0 };
            if self.signal.is_some() || still == STILL {
                return;
            }
            if let Event::Signal(came) = self.event_loop.wait(STEP) {
                *self.signal = Some(came);
            }
        }
    }

    /// What earlier phases have overwritten keeps its room on some file systems until they commit. A phase that
    /// overwrites more has that done first: only a commit gives the room back, no fsync does.
    pub(super) fn give_back(&self, ready: &[PreparedJob]) {
        for job in ready.iter().filter(|job| job.writes() && self.keeps_overwritten(job)) {
            for &number in &job.open_targets {
                let open_target = &self.open_targets[number];
                let Some(file) = open_target.fd().filter(|_| open_target.written.reach() > 0)
                else {
                    continue;
                };
                // Without it there is less room, and a write says so.
                let _ = rustix::fs::syncfs(file);
                return;
            }
        }
    }

    /// Whether what a job overwrites keeps its room until its file system commits.
    pub(super) fn keeps_overwritten(&self, job: &PreparedJob) -> bool {
        let subjects = job.parts.iter().filter_map(|part| self.resolved.subjects.get(part.subject));
        let mut mounts = subjects.filter_map(|subject| subject.mount.seen());
        mounts.any(Mount::keeps_overwritten)
    }

    /// Watches the devices while nothing is done. What file systems still write of this run's own
    /// work passes (btrfs writes its trees down every 30 s), and who else is there goes on: where
    /// something was written, it listens again.
    pub(super) fn listen(&mut self) -> QuietPeriod {
        const TIMES: usize = 3;
        /// Again no longer than this: a phase may want half a minute of rest before it, and what is
        /// written late is over soon.
        const AGAIN: Nanos = Nanos::secs(1);
        let worked = self.number > 0
            || self.open_targets.iter().any(|open_target| open_target.written.reach() > 0);
        let mut quiet = listen(self.counter_reader, self.event_loop, self.phase.quiet, self.signal);
        for _ in 1..TIMES {
            let written =
                |device: &QuietDevice| device.counters.seen().map(|seen| seen.write_bytes);
            let still = quiet.devices.iter().filter_map(written).all(|bytes| bytes == 0);
            if still || !worked || self.signal.is_some() {
                break;
            }
            let again = self.phase.quiet.min(AGAIN);
            quiet = listen(self.counter_reader, self.event_loop, again, self.signal);
        }
        quiet
    }

    /// Drops from memory what the phase wants dropped, and looks what is left.
    pub(super) fn forget(&mut self, ready: &[PreparedJob]) -> Result<Vec<DroppedCache>, Error> {
        if self.phase.cold == CacheDrop::Machine {
            forget_machine()?;
        }
        if self.phase.cold == CacheDrop::Keep {
            return Ok(Vec::new());
        }
        Ok(ready
            .iter()
            .filter(|job| !job.open_targets.is_empty())
            .flat_map(|job| job.parts.iter().map(move |part| (job, part)))
            .map(|(job, part)| DroppedCache {
                path: part.label.clone(),
                range: job.bytes_of(part),
                left: Reading::added_up(
                    job.fds_of(part, self.open_targets).map(evidence::drop_cache),
                ),
            })
            .collect())
    }

    /// What lies on the bare devices that will be read, as far as this run has not written it.
    pub(super) fn sampled(&self, ready: &[PreparedJob]) -> Vec<SampledDevice> {
        let device = |part: &JobPart| {
            let subject = self.resolved.subjects.get(part.subject);
            subject.is_some_and(|subject| subject.kind == PathKind::Device)
        };
        let unknown = |(job, part): (&PreparedJob, &JobPart)| {
            let file = *part.files.first()?;
            let range = touched_in(job, file);
            let open_target = &self.open_targets[job.open_targets[file]];
            let all = open_target.written.gaps(range.clone()).is_empty();
            let samples = evidence::samples(open_target.fd().filter(|_| !all)?, range);
            Some(SampledDevice { path: part.label.clone(), samples })
        };
        let reading = ready.iter().filter(|job| job.reads());
        let parts = reading.flat_map(|job| job.parts.iter().map(move |part| (job, part)));
        parts.filter(|(_, part)| device(part)).filter_map(unknown).collect()
    }

    /// How the files that will be read lie on their devices.
    pub(super) fn laid(&self, ready: &[PreparedJob]) -> Vec<FileExtents> {
        ready.iter().filter(|job| job.reads()).flat_map(|job| self.lay_of(job)).collect()
    }

    /// How the files that will be written lie there now.
    pub(super) fn onto(&self, ready: &[PreparedJob]) -> Vec<FileExtents> {
        ready.iter().filter(|job| job.writes()).flat_map(|job| self.lay_of(job)).collect()
    }

    /// How the files of a job lie. A device has no extents.
    fn lay_of(&self, job: &PreparedJob) -> Vec<FileExtents> {
        let laid = |part: &JobPart| {
            let subject = self.resolved.subjects.get(part.subject)?;
            if part.files.is_empty() || subject.kind == PathKind::Device {
                return None;
            }
            let files = part.files.iter().filter_map(|&file| {
                Some((self.open_targets[job.open_targets[file]].fd()?, job.size_of(file)))
            });
            let each = files.map(|(fd, size)| evidence::extents(fd, 0..size.0));
            Some(FileExtents { path: part.label.clone(), extents: Reading::added_up(each) })
        };
        job.parts.iter().filter_map(laid).collect()
    }
}

/// Drops every clean page of the machine.
pub(super) fn forget_machine() -> Result<(), Error> {
    rustix::fs::sync();
    cache::drop_everything().map_err(|error| {
        Fault::new(Doing::Drop, "the page cache of the machine", &error)
            .hinting("only root may: run as root, or use ASSAY_COLD=target")
            .into()
    })
}
