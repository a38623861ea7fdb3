//! Reads targets into memory before a phase, where its plan says so.

use assay_engine::sys::event_loop::Event;
use assay_plan::error::{Doing, Error, Fault};
use assay_plan::unit::{MIB, Nanos};

use super::phase_context::PhaseContext;
use super::prepared_job::PreparedJob;

/// Bytes between two looks for a signal.
const STRETCH: u64 = 64 * MIB;

impl PhaseContext<'_> {
    /// Reads the files of jobs that go through the page cache, once and in order.
    pub(super) fn pre_read(&mut self, ready: &[PreparedJob]) -> Result<(), Error> {
        if !self.phase.pre_read {
            return Ok(());
        }
        let mut buffer = vec![0; MIB as usize];
        for job in ready.iter().filter(|job| job.resolved.caching.through_memory()) {
            for file in 0..job.open_targets.len() {
                self.read_through(job, file, &mut buffer)?;
            }
        }
        Ok(())
    }

    /// Reads a file of a job to its end, unless a signal comes.
    fn read_through(
        &mut self,
        job: &PreparedJob,
        file: usize,
        buffer: &mut [u8],
    ) -> Result<(), Error> {
        let (number, size) = (job.open_targets[file], job.size_of(file).0);
        let mut offset = 0;
        while offset < size && self.signal.is_none() {
            let Some(file) = self.open_targets[number].fd() else { break };
            match rustix::io::pread(file, &mut *buffer, offset) {
                Ok(0) => break,
                Ok(read) => offset += read as u64,
                Err(error) => {
                    let fault = Fault::new(Doing::Read, job.label.as_str(), &error.into());
                    return Err(fault.at(offset).into());
                }
            }
            if offset.is_multiple_of(STRETCH)
                && let Event::Signal(came) = self.event_loop.wait(Nanos::ZERO)
            {
                *self.signal = Some(came);
            }
        }
        Ok(())
    }
}
