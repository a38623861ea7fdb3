//! Clones that are reported together, and directions that are reported as one.

use super::job::{FioDirectionReport, FioJobReport, FioLatency, FioPriorityLatency, FioUnified};

impl FioLatency {
    /// Adds latencies of the same kind.
    pub fn merge(&mut self, other: &Self) {
        self.moments.pool(&other.moments);
        self.bins.merge(&other.bins);
    }
}

impl FioDirectionReport {
    /// Adds what moved at the same time: counts are summed, latencies pooled, rates added up; the longest
    /// runtime stays.
    pub fn merge(&mut self, other: &Self) {
        self.ios += other.ios;
        self.short += other.short;
        self.dropped += other.dropped;
        self.bytes += other.bytes;
        self.runtime_ms = self.runtime_ms.max(other.runtime_ms);
        self.slat.merge(&other.slat);
        self.clat.merge(&other.clat);
        self.lat.merge(&other.lat);
        self.bw.stack(&other.bw);
        self.iops.stack(&other.iops);
        self.cache_hits += other.cache_hits;
        self.cache_misses += other.cache_misses;
        for priority in &other.priorities {
            self.merge_priority(priority);
        }
    }

    fn merge_priority(&mut self, other: &FioPriorityLatency) {
        let key = |one: &FioPriorityLatency| (one.class, one.level, one.hint);
        match self.priorities.iter_mut().find(|one| key(one) == key(other)) {
            Some(same) => same.latency.merge(&other.latency),
            None => self.priorities.push(other.clone()),
        }
    }
}

/// All directions as one.
pub fn mixed(directions: &[FioDirectionReport; 3]) -> FioDirectionReport {
    let mut all = FioDirectionReport::default();
    directions.iter().for_each(|direction| all.merge(direction));
    all
}

impl FioJobReport {
    /// A job by itself, as fio reports it: with [`FioUnified::Mixed`] its directions become one.
    #[must_use]
    pub fn alone(mut self) -> Self {
        if self.unified == FioUnified::Mixed {
            self.directions = [mixed(&self.directions), Default::default(), Default::default()];
        }
        self
    }

    /// Adds the next job or clone of the group. Name, start, process and style are those of the first; options,
    /// percentiles, latency target and steady state those of the last; the error is the first that any had.
    pub fn merge(&mut self, other: &Self) {
        let mut other = other.clone();
        if self.unified == FioUnified::Mixed {
            other.directions = [mixed(&other.directions), Default::default(), Default::default()];
        }
        for (mine, theirs) in self.directions.iter_mut().zip(&other.directions) {
            mine.merge(theirs);
        }
        self.clones += other.clones;
        self.syncs += other.syncs;
        self.sync_latency.merge(&other.sync_latency);
        self.merge_costs(&other);
        self.depths.merge(&other.depths);
        self.submits.merge(&other.submits);
        self.completes.merge(&other.completes);
        self.latencies.merge(&other.latencies);
        self.merge_errors(&other);
        if let Some(resets) = other.zone_resets {
            self.zone_resets = Some(self.zone_resets.unwrap_or(0) + resets);
        }
        self.options = other.options;
        self.percentiles = other.percentiles;
        self.latency_target = other.latency_target;
        self.steady_state = other.steady_state;
    }

    fn merge_costs(&mut self, other: &Self) {
        self.runtime_ms += other.runtime_ms;
        self.user_ms += other.user_ms;
        self.system_ms += other.system_ms;
        self.context_switches += other.context_switches;
        self.major_faults += other.major_faults;
        self.minor_faults += other.minor_faults;
    }

    fn merge_errors(&mut self, other: &Self) {
        if self.error == 0 {
            self.error = other.error;
            self.error_text.clone_from(&other.error_text);
        }
        let before = self.errors.map_or(0, |errors| errors.total);
        self.errors = other.errors;
        if let Some(errors) = &mut self.errors {
            errors.total += before;
        }
    }
}

/// The jobs and clones of a group as one report; `None` of none.
pub fn group_report(jobs: &[FioJobReport]) -> Option<FioJobReport> {
    let (first, rest) = jobs.split_first()?;
    let mut all = first.clone().alone();
    rest.iter().for_each(|job| all.merge(job));
    Some(all)
}
