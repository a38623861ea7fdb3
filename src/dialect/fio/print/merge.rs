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

    /// Adds latencies of I/Os of one priority.
    pub fn merge_priority(&mut self, other: &FioPriorityLatency) {
        let key = |one: &FioPriorityLatency| (one.class, one.level, one.hint);
        match self.priorities.iter_mut().find(|one| key(one) == key(other)) {
            Some(same) => same.latency.merge(&other.latency),
            None => self.priorities.push(other.clone()),
        }
    }
}

pub fn mixed(directions: &[FioDirectionReport; 3]) -> FioDirectionReport {
    let mut all = FioDirectionReport::default();
    directions.iter().for_each(|direction| all.merge(direction));
    all
}

impl FioJobReport {
    /// A job that ran with its directions apart, as fio reports it: with [`FioUnified::Mixed`] its directions become one.
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

/// The jobs and clones of a group as one report; `None` of none. Each has its directions apart, as it ran.
pub fn group_report(jobs: &[FioJobReport]) -> Option<FioJobReport> {
    let (first, rest) = jobs.split_first()?;
    let mut all = first.clone().alone();
    rest.iter().for_each(|job| all.merge(job));
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::super::job::{FioPassedErrors, FioStyle};
    use super::super::moments::FioMoments;
    use super::*;

    fn clone(pid: u32, ms: u64, error: i32) -> FioJobReport {
        let bw = FioMoments::with_deviation(90, 110, 100.0, 5.0, 4);
        let mut clat = FioLatency::default();
        [ms * 1000, ms * 3000].into_iter().for_each(|ns| {
            clat.moments.add(ns);
            clat.bins.add(ns, 1);
        });
        let read = FioDirectionReport {
            ios: 2,
            bytes: 8192,
            runtime_ms: ms,
            clat,
            bw,
            ..Default::default()
        };
        FioJobReport {
            name: format!("job{pid}"),
            clones: 1,
            pid,
            error,
            error_text: format!("error {error}"),
            options: vec![("pid".into(), pid.to_string())],
            runtime_ms: ms,
            directions: [read.clone(), read, Default::default()],
            errors: Some(FioPassedErrors { total: 3, first: error }),
            ..FioJobReport::default()
        }
    }

    #[test]
    fn clones_become_one_job() {
        let clones = [clone(7, 10, 0), clone(8, 30, 28), clone(9, 20, 5)];
        let group = group_report(&clones).expect("a report");
        assert_eq!((group.name.as_str(), group.pid, group.clones), ("job7", 7, 3));
        assert_eq!((group.error, group.error_text.as_str()), (28, "error 28"));
        assert_eq!(group.errors, Some(FioPassedErrors { total: 9, first: 5 }));
        assert_eq!(group.options[0].1, "9");
        assert_eq!(group.runtime_ms, 60);
        let read = &group.directions[0];
        assert_eq!((read.ios, read.bytes, read.runtime_ms), (6, 24_576, 30));
        assert_eq!((read.bw.min, read.bw.max, read.bw.mean, read.bw.count), (270, 330, 300.0, 12));
        let clat = &read.clat.moments;
        assert_eq!((clat.min, clat.max, clat.mean, clat.count), (10_000, 90_000, 40_000.0, 6));
        assert_eq!(read.clat.bins.held().map(|(_, count)| count).sum::<u64>(), 6);
        assert_eq!(group_report(&[]), None);
    }

    #[test]
    fn directions_become_one_before_clones_do() {
        let mixed = |pid| FioJobReport { unified: FioUnified::Mixed, ..clone(pid, 10, 0) };
        let group = group_report(&[mixed(1), mixed(2)]).expect("a report");
        let [all, write, _] = &group.directions;
        assert_eq!((all.ios, all.bytes, all.runtime_ms, all.bw.mean), (8, 32_768, 10, 400.0));
        assert_eq!(*write, FioDirectionReport::default());
    }

    #[test]
    fn style_is_that_of_the_first() {
        let bits =
            FioJobReport { style: FioStyle { bits: true, ..Default::default() }, ..clone(1, 1, 0) };
        assert!(group_report(&[bits, clone(2, 1, 0)]).expect("a report").style.bits);
    }

    #[test]
    fn priorities_meet_by_their_numbers() {
        let of = |class, count| {
            let moments = FioMoments { count, ..FioMoments::default() };
            let latency = FioLatency { moments, ..FioLatency::default() };
            FioPriorityLatency { class, latency, ..FioPriorityLatency::default() }
        };
        let mut all = FioDirectionReport { priorities: vec![of(1, 2)], ..Default::default() };
        assert!(all.shown_priorities().is_empty());
        all.merge(&FioDirectionReport {
            priorities: vec![of(2, 3), of(1, 4)],
            ..Default::default()
        });
        let counts =
            all.shown_priorities().iter().map(|one| one.latency.moments.count).collect::<Vec<_>>();
        assert_eq!(counts, [6, 3]);
    }
}
