//! What a phase wants forgotten before it: cached pages, and earlier work that is still on its way.

use std::ops::Range;
use std::os::fd::BorrowedFd;

use crate::error::{Error, Fault};
use crate::evidence::{self, Extents, PathKind, Reading};
use crate::plan::{Cold, Work};
use crate::record::{Dropped, Laid, Quiet, QuietDevice, ResolvedJob, Sampled};
use crate::sys::cache;
use crate::sys::inbox::Letter;
use crate::unit::{Bytes, Nanos};

use super::account::touched;
use super::phase::Stage;
use super::ready::Ready;
use super::watch::listen;

impl Stage<'_> {
    /// What a phase of buffered reads had asked for ahead still comes when it has ended, and would
    /// pass for somebody else's traffic in the next one.
    pub(super) fn wait_for_own_read_ahead(&mut self) {
        const STEP: Nanos = Nanos::millis(50);
        /// A throttle lets requests go in slices of 100 ms: one step without any proves nothing.
        const STILL: u32 = 5;
        /// Read-ahead on the slowest card is over by then.
        const STEPS: usize = 60;
        let Some(before) = self.number.checked_sub(1).map(|number| &self.plan.phases[number])
        else {
            return;
        };
        let reads = before
            .jobs
            .iter()
            .any(|job| matches!(&job.work, Work::Blocks(blocks) if blocks.pattern.mix.fetches()));
        let buffered = |job: &ResolvedJob| job.phase == before.name && job.caching.through_memory();
        if !reads || !self.resolved.jobs.iter().any(buffered) {
            return;
        }
        let mut devices = Vec::new();
        let (mut last, mut still) = (None, 0);
        for _ in 0..STEPS {
            self.eyes.devices(&mut devices);
            let now: u64 = devices.iter().flatten().map(|counters| counters.read_bytes).sum();
            still = if last.replace(now) == Some(now) { still + 1 } else { 0 };
            if self.signal.is_some() || still == STILL {
                return;
            }
            if let Letter::Signal(came) = self.inbox.wait(STEP) {
                *self.signal = Some(came);
            }
        }
    }

    /// Watches the devices while nothing is done. What file systems still write of this run's own
    /// work passes (btrfs writes its trees down every 30 s), and who else is there goes on: where
    /// something was written, it listens again.
    pub(super) fn listen(&mut self) -> Quiet {
        const TIMES: usize = 3;
        let worked = self.number > 0 || self.sites.iter().any(|site| site.written.reach() > 0);
        let mut quiet = listen(self.eyes, self.inbox, self.phase.quiet, self.signal);
        for _ in 1..TIMES {
            let written =
                |device: &QuietDevice| device.counters.seen().map(|seen| seen.write_bytes);
            let still = quiet.devices.iter().filter_map(written).all(|bytes| bytes == 0);
            if still || !worked || self.signal.is_some() {
                break;
            }
            quiet = listen(self.eyes, self.inbox, self.phase.quiet, self.signal);
        }
        quiet
    }

    /// Drops from memory what the phase wants dropped, and looks what is left.
    pub(super) fn forget(&mut self, ready: &[Ready]) -> Result<Vec<Dropped>, Error> {
        if self.phase.cold == Cold::Machine {
            forget_machine()?;
        }
        if self.phase.cold == Cold::Keep {
            return Ok(Vec::new());
        }
        Ok(ready
            .iter()
            .filter(|job| !job.sites.is_empty())
            .map(|job| Dropped {
                path: job.label.clone(),
                range: Bytes(job.size.0 * job.sites.len() as u64),
                left: Reading::added_up(job.fds(self.sites).map(evidence::drop_cache)),
            })
            .collect())
    }

    /// What lies on the bare devices that will be read, as far as this run has not written it.
    pub(super) fn sampled(&self, ready: &[Ready]) -> Vec<Sampled> {
        let device = |job: &&Ready| {
            let subject = job.subject.and_then(|number| self.resolved.subjects.get(number));
            job.reads() && subject.is_some_and(|subject| subject.kind == PathKind::Device)
        };
        let unknown = |job: &Ready| {
            let range = touched(job);
            let site = &self.sites[*job.sites.first()?];
            let all = site.written.gaps(range.clone()).is_empty();
            let samples = evidence::samples(site.fd().filter(|_| !all)?, range);
            Some(Sampled { path: job.label.clone(), samples })
        };
        ready.iter().filter(device).filter_map(unknown).collect()
    }

    /// How the files that will be read lie on their devices.
    pub(super) fn laid(&self, ready: &[Ready]) -> Vec<Laid> {
        ready.iter().filter_map(|job| self.lay_of(job, job.reads(), evidence::extents)).collect()
    }

    /// How the files that will be written lie there now. What waits in memory stays there: a flush
    /// would change what is measured.
    pub(super) fn onto(&self, ready: &[Ready]) -> Vec<Laid> {
        ready
            .iter()
            .filter_map(|job| self.lay_of(job, job.writes(), evidence::extents_now))
            .collect()
    }

    /// How the files of a job lie, if that `matters`. A device has no extents.
    fn lay_of(
        &self,
        job: &Ready,
        matters: bool,
        look: fn(BorrowedFd, Range<u64>) -> Reading<Extents>,
    ) -> Option<Laid> {
        let subject = self.resolved.subjects.get(job.subject?)?;
        if !matters || job.sites.is_empty() || subject.kind == PathKind::Device {
            return None;
        }
        let each = job.fds(self.sites).map(|fd| look(fd, 0..job.size.0));
        Some(Laid { path: job.label.clone(), extents: Reading::added_up(each) })
    }
}

/// Drops every clean page of the machine.
pub(super) fn forget_machine() -> Result<(), Error> {
    rustix::fs::sync();
    cache::drop_everything().map_err(|error| {
        Fault::new("drop", "the page cache of the machine", &error)
            .hinting("only root may: run as root, or use ASSAY_COLD=target")
            .into()
    })
}
