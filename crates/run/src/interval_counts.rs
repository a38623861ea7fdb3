//! Whose samples are kept by themselves, beside those of the whole phase: each job's where there are several jobs
//! or workers, and each worker's where the plan asks for them.

use assay_record::record::{IntervalCount, IntervalCounts, JobResult};

use super::prepared_job::PreparedJob;
use super::sampler::PhaseSampler;
use super::shared_state::{SharedState, threads_of};

/// Whose they are: for each series that a watch keeps apart a job, and a worker where it is only of that one.
pub(super) struct KeptIntervals(Vec<(usize, Option<u32>)>);

impl KeptIntervals {
    /// Has the samples kept by this watch.
    pub fn of<'w>(
        ready: &[PreparedJob],
        common: &'w SharedState,
        watch: &mut PhaseSampler<'w>,
    ) -> Self {
        let mut whose = Vec::new();
        for (number, (job, threads)) in ready.iter().zip(threads_of(ready)).enumerate() {
            let all_live_counters = &common.all_live_counters[threads];
            if job.job.detail.workers {
                let each = all_live_counters.chunks(job.threads_of_a_worker() as usize);
                for (worker, all_live_counters) in (0..).zip(each) {
                    watch.apart(all_live_counters);
                    whose.push((number, Some(worker)));
                }
            } else if ready.len() > 1 || job.resolved.workers > 1 {
                watch.apart(all_live_counters);
                whose.push((number, None));
            }
        }
        Self(whose)
    }

    /// Gives them to whose they are. A job has what its workers have, and not a second look at the same
    /// counters: these go on meanwhile.
    pub fn give(self, jobs: &mut [JobResult], all: Vec<IntervalCounts>) {
        for ((job, worker), strands) in self.0.into_iter().zip(all) {
            let job = &mut jobs[job];
            add(&mut job.series, &strands);
            let own = job.workers.iter_mut().find(|own| Some(own.number) == worker);
            if let Some(own) = own {
                own.series = strands;
            }
        }
    }
}

/// Adds those of one more worker.
fn add(sum: &mut IntervalCounts, one: &IntervalCounts) {
    for (action, points) in one {
        let sums = sum.entry(*action).or_default();
        sums.resize(sums.len().max(points.len()), IntervalCount::default());
        for (IntervalCount(ops, bytes), more) in sums.iter_mut().zip(points) {
            *ops += more.0;
            *bytes += more.1;
        }
    }
}
