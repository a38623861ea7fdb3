//! What the jobs of a phase have written, for those of the next one that read it back.

use assay_engine::engine::{WorkerTotals, WriteGeneration};

use super::prepared_job::PreparedJob;

/// What the only worker of a job has sent.
pub(super) struct JobWrites {
    /// The name of the job.
    pub name: String,
    /// Before its first write.
    pub generation: WriteGeneration,
    /// I/Os that it sent.
    pub sent: u64,
    /// Writes among them that a flush between them followed.
    pub flushed: u64,
    /// The file and offset of each write that failed, in order.
    pub failed: Vec<(u32, u64)>,
}

/// What each job of one worker has written, in the phase of this number.
pub(super) fn writes_of_jobs(
    ready: &[PreparedJob],
    totals_of_workers: &mut [Vec<WorkerTotals>],
    phase: usize,
) -> Vec<JobWrites> {
    let (mut all, mut first) = (Vec::new(), 0);
    for (job, totals) in ready.iter().zip(totals_of_workers) {
        let generation = WriteGeneration::timed(phase, first);
        first += job.threads as usize;
        let [totals] = totals.as_mut_slice() else { continue };
        let counts = totals.depths.reached().into_iter().flat_map(|depth| depth.counts);
        let mut failed = std::mem::take(&mut totals.failed);
        failed.sort_unstable();
        all.push(JobWrites {
            name: job.job.name.clone(),
            generation,
            flushed: totals.flushed_writes,
            sent: counts.map(|(_, sent)| sent).sum(),
            failed,
        });
    }
    all
}
