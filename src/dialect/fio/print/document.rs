//! A report as a JSON document: `--output-format=json`, and `json+` with the bins of each histogram.

use super::bins::bin_value;
use super::job::{
    FIO_DIRECTIONS, FioDirectionReport, FioJobReport, FioLatency, FioSteadyReport, FioTypedOption,
    FioUnified,
};
use super::json::FioJson;
use super::merge::mixed;
use super::report::{FioDiskReport, FioDiskUse, FioIdleness, FioReport};
use super::shares::{FioLatencyShares, FioShares, LATENCY_LABELS, LEAST_DEPTH};
use super::summary::{FioGroup, groups};
use assay_plan::plan::SteadyFigure;

type Pairs = Vec<(String, FioJson)>;

/// The document of a run, with a line end; `bins` is json+.
pub fn document(report: &FioReport, bins: bool) -> String {
    let mut all: Pairs = Vec::new();
    add(&mut all, "fio version", report.version.as_str());
    add(&mut all, "timestamp", report.timestamp_ms / 1000);
    add(&mut all, "timestamp_ms", report.timestamp_ms);
    add(&mut all, "time", report.time.as_str());
    add_options(&mut all, "global options", &report.global_options);
    let groups = groups(&report.jobs, report.groups);
    let jobs = report.jobs.iter().map(|job| {
        let group = groups.get(job.group as usize).cloned().unwrap_or_default();
        JobDocument { job, group, bins }.value()
    });
    add(&mut all, "jobs", FioJson::List(jobs.collect()));
    if !report.disks.is_empty() {
        let disks = report.disks.iter().map(disk_value);
        add(&mut all, "disk_util", FioJson::List(disks.collect()));
    }
    if let Some(idleness) = &report.idleness {
        add(&mut all, "cpu_idleness", idle_value(idleness));
    }
    if let Some(said) = &report.assay {
        add(&mut all, "assay", FioJson::from(said));
    }
    FioJson::Object(all).write() + "\n"
}

fn add(pairs: &mut Pairs, key: &str, value: impl Into<FioJson>) {
    pairs.push((key.into(), value.into()));
}

fn add_options(pairs: &mut Pairs, key: &str, options: &[FioTypedOption]) {
    if !options.is_empty() {
        let typed = options.iter().map(|(name, value)| (name.clone(), value.as_str().into()));
        add(pairs, key, FioJson::Object(typed.collect()));
    }
}

/// A job on its way into the document.
struct JobDocument<'a> {
    job: &'a FioJobReport,
    group: FioGroup,
    bins: bool,
}

impl JobDocument<'_> {
    fn value(&self) -> FioJson {
        let job = self.job;
        let mut all = Vec::new();
        add(&mut all, "jobname", job.name.as_str());
        add(&mut all, "groupid", u64::from(job.group));
        add(&mut all, "job_start", job.start_ms);
        add(&mut all, "error", FioJson::Whole(job.error.into()));
        // What fio calls unknown is the largest int of C.
        add(&mut all, "eta", job.eta_s.unwrap_or(i32::MAX as u64));
        add(&mut all, "elapsed", job.elapsed_s);
        add_options(&mut all, "job options", &job.options);
        self.add_directions(&mut all);
        self.add_costs(&mut all);
        self.add_shares(&mut all);
        self.add_options(&mut all);
        FioJson::Object(all)
    }

    fn add_directions(&self, all: &mut Pairs) {
        let job = self.job;
        if job.unified == FioUnified::Mixed {
            add(all, "mixed", self.direction(&job.directions[0], 0));
            return;
        }
        for (index, direction) in job.directions.iter().enumerate() {
            add(all, FIO_DIRECTIONS[index], self.direction(direction, index));
        }
        let shown = job.percentiles.lat || job.percentiles.clat;
        let mut sync = Vec::new();
        add(&mut sync, "total_ios", job.syncs);
        add(&mut sync, "lat_ns", self.latency(&job.sync_latency, shown));
        add(all, "sync", FioJson::Object(sync));
        if job.unified == FioUnified::Both {
            add(all, "mixed", self.direction(&mixed(&job.directions), 0));
        }
    }

    fn direction(&self, direction: &FioDirectionReport, index: usize) -> FioJson {
        let mut all = Vec::new();
        let bw = direction.bytes_per_second();
        let iops = match direction.runtime_ms {
            0 => 0.0,
            ms => 1000.0 * direction.ios as f64 / ms as f64,
        };
        add(&mut all, "io_bytes", direction.bytes);
        add(&mut all, "io_kbytes", direction.bytes >> 10);
        add(&mut all, "bw_bytes", bw);
        add(&mut all, "bw", bw / 1024);
        add(&mut all, "iops", iops);
        add(&mut all, "runtime", direction.runtime_ms);
        add(&mut all, "total_ios", direction.ios);
        add(&mut all, "short_ios", direction.short);
        add(&mut all, "drop_ios", direction.dropped);
        let wanted = &self.job.percentiles;
        add(&mut all, "slat_ns", self.latency(&direction.slat, wanted.slat));
        add(&mut all, "clat_ns", self.latency(&direction.clat, wanted.clat));
        add(&mut all, "lat_ns", self.latency(&direction.lat, wanted.lat));
        self.add_priorities(&mut all, direction);
        self.add_samples(&mut all, direction, index);
        if let Some(hits) = direction.cache_hit_percent() {
            add(&mut all, "cachehit", hits);
        }
        FioJson::Object(all)
    }

    fn add_priorities(&self, all: &mut Pairs, direction: &FioDirectionReport) {
        let shown = direction.shown_priorities();
        if shown.is_empty() {
            return;
        }
        let wanted = &self.job.percentiles;
        let kind = if wanted.lat { "lat_ns" } else { "clat_ns" };
        let values = shown.into_iter().map(|one| {
            FioJson::object([
                ("prioclass", u64::from(one.class).into()),
                ("prio", u64::from(one.level).into()),
                ("priohint", u64::from(one.hint).into()),
                (kind, self.latency(&one.latency, wanted.clat || wanted.lat)),
            ])
        });
        let values = values.collect();
        add(all, "prios", FioJson::List(values));
    }

    fn add_samples(&self, all: &mut Pairs, direction: &FioDirectionReport, index: usize) {
        let (bw, iops) = (&direction.bw, &direction.iops);
        let share = if bw.count > 0 { self.group.bandwidth_share(bw, index) } else { 0.0 };
        add(all, "bw_min", bw.min);
        add(all, "bw_max", bw.max);
        add(all, "bw_agg", share);
        add(all, "bw_mean", bw.mean);
        add(all, "bw_dev", bw.deviation());
        add(all, "bw_samples", bw.count);
        add(all, "iops_min", iops.min);
        add(all, "iops_max", iops.max);
        add(all, "iops_mean", iops.mean);
        add(all, "iops_stddev", iops.deviation());
        add(all, "iops_samples", iops.count);
    }

    fn latency(&self, latency: &FioLatency, percentiles: bool) -> FioJson {
        let moments = &latency.moments;
        let mut all = Vec::new();
        add(&mut all, "min", moments.min);
        add(&mut all, "max", moments.max);
        add(&mut all, "mean", moments.mean);
        add(&mut all, "stddev", moments.deviation());
        add(&mut all, "N", moments.count);
        if percentiles && moments.count > 0 {
            let list = &self.job.percentiles.list;
            let values = latency.bins.percentiles(list, moments.count);
            let named = list.iter().map(|percent| format!("{percent:.6}"));
            let pairs = named.zip(values.into_iter().map(FioJson::from)).collect();
            add(&mut all, "percentile", FioJson::Object(pairs));
            if self.bins {
                let held = latency.bins.held();
                let pairs = held.map(|(bin, count)| (bin_value(bin).to_string(), count.into()));
                add(&mut all, "bins", FioJson::Object(pairs.collect()));
            }
        }
        FioJson::Object(all)
    }

    fn add_costs(&self, all: &mut Pairs) {
        let job = self.job;
        let (user, system) = job.cpu();
        add(all, "job_runtime", job.runtime_ms);
        add(all, "usr_cpu", user);
        add(all, "sys_cpu", system);
        add(all, "ctx", job.context_switches);
        add(all, "majf", job.major_faults);
        add(all, "minf", job.minor_faults);
    }

    fn add_shares(&self, all: &mut Pairs) {
        let batches = ["0", "4", "8", "16", "32", "64", ">=64"];
        let depths = ["1", "2", "4", "8", "16", "32", ">=64"];
        add(all, "iodepth_level", shares_value(depths, &self.job.depths));
        add(all, "iodepth_submit", shares_value(batches, &self.job.submits));
        add(all, "iodepth_complete", shares_value(batches, &self.job.completes));
        add_latencies(all, &self.job.latencies);
    }

    fn add_options(&self, all: &mut Pairs) {
        let job = self.job;
        if let Some(errors) = job.errors {
            add(all, "total_err", errors.total);
            add(all, "first_error", FioJson::Whole(errors.first.into()));
        }
        let target = &job.latency_target;
        if target.depth > 0 {
            add(all, "latency_depth", u64::from(target.depth));
            add(all, "latency_target", target.target_ns);
            add(all, "latency_target_ns", target.target_ns);
            add(all, "latency_percentile", target.percentile);
            add(all, "latency_window", target.window_us);
            add(all, "latency_window_us", target.window_us);
        }
        if !job.description.is_empty() {
            add(all, "desc", job.description.as_str());
        }
        if let Some(state) = &job.steady_state {
            add(all, "steadystate", steady_value(state));
        }
        if let Some(resets) = job.zone_resets {
            add(all, "zone_resets", resets);
        }
    }
}

fn shares_value(labels: [&'static str; 7], shares: &FioShares<7>) -> FioJson {
    let percents = shares.percent(LEAST_DEPTH);
    FioJson::object(labels.into_iter().zip(percents.map(FioJson::from)))
}

fn add_latencies(all: &mut Pairs, shares: &FioLatencyShares) {
    let (ns, us, ms) = shares.percent();
    for (key, classes) in [("latency_ns", &ns[..]), ("latency_us", &us), ("latency_ms", &ms)] {
        let percents = classes.iter().map(|&percent| FioJson::from(percent));
        add(all, key, FioJson::object(LATENCY_LABELS.into_iter().zip(percents)));
    }
}

fn steady_value(state: &FioSteadyReport) -> FioJson {
    let percent = if state.percent { "%" } else { "" };
    // fio has these two in single precision here.
    let (limit, criterion) = (state.limit as f32, state.criterion as f32);
    let list = |values: &[u64]| FioJson::List(values.iter().map(|&value| value.into()).collect());
    let mut data = vec![
        ("bw_mean", FioSteadyReport::mean(&state.bw).into()),
        ("iops_mean", FioSteadyReport::mean(&state.iops).into()),
    ];
    if state.watched.watched().0 == SteadyFigure::Latency {
        data.push(("lat_mean", FioSteadyReport::mean(&state.latencies).into()));
        data.push(("lat_ns", list(&state.latencies)));
    }
    data.push(("iops", list(&state.iops)));
    data.push(("bw", list(&state.bw)));
    FioJson::object([
        ("ss", FioJson::Text(format!("{}:{limit:.6}{percent}", state.watched.word()))),
        ("duration", state.duration_s.into()),
        ("attained", u64::from(state.attained).into()),
        ("criterion", FioJson::Text(format!("{criterion:.6}{percent}"))),
        ("max_deviation", state.max_deviation.into()),
        ("slope", state.slope.into()),
        ("data", FioJson::object(data)),
    ])
}

fn disk_value(disk: &FioDiskReport) -> FioJson {
    let mut all = vec![("name".to_string(), disk.name.as_str().into())];
    add_disk(&mut all, "", "write_merges", &disk.own);
    if let Some(members) = &disk.members {
        // fio has this key without its last letter.
        add_disk(&mut all, "aggr_", "write_merge", members);
    }
    FioJson::Object(all)
}

fn add_disk(all: &mut Pairs, before: &str, write_merges: &str, found: &FioDiskUse) {
    let pairs = [
        ("read_ios", found.ios[0]),
        ("write_ios", found.ios[1]),
        ("read_sectors", found.sectors[0]),
        ("write_sectors", found.sectors[1]),
        ("read_merges", found.merges[0]),
        (write_merges, found.merges[1]),
        ("read_ticks", found.ticks[0]),
        ("write_ticks", found.ticks[1]),
        ("in_queue", found.in_queue),
    ];
    for (key, value) in pairs {
        add(all, &format!("{before}{key}"), value);
    }
    add(all, &format!("{before}util"), found.util);
}

fn idle_value(idleness: &FioIdleness) -> FioJson {
    let mut all = Vec::new();
    add(&mut all, "system", idleness.system);
    for (cpu, idle) in idleness.cpus.iter().enumerate() {
        add(&mut all, &format!("cpu-{cpu}"), *idle);
    }
    add(&mut all, "unit_mean", idleness.unit_mean);
    add(&mut all, "unit_stddev", idleness.unit_deviation);
    FioJson::Object(all)
}
