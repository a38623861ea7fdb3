//! The report for people: a block for each job or group of clones.

use std::fmt::Write;

use super::job::{FioJobReport, FioLatencyTarget, FioSteadyReport, FioUnified, errno_text};
use super::latency_text::{latency_line, percentile_lines};
use super::merge::mixed;
use super::normal_direction::DirectionText;
use super::number::{FioQuantity, scaled};
use super::shares::{FioLatencyShares, FioShares, LATENCY_LABELS, LEAST_DEPTH};
use super::summary::FioGroup;
use assay_plan::plan::{SteadyFigure, SteadyMeasure};

/// The block of a job. Empty where it did nothing.
///
/// `group` is the summary of its group, `time` the moment of the report for people.
pub fn job_lines(job: &FioJobReport, group: &FioGroup, time: &str) -> String {
    let mut out = String::new();
    if job.directions.iter().all(|direction| direction.bytes == 0 && direction.ios == 0) {
        return out;
    }
    out += &head(job, time);
    for (index, direction) in job.directions.iter().enumerate() {
        if direction.bytes > 0 {
            let (name, rate) = (job.direction_name(index), job.style.rate());
            out += &DirectionText { job, direction, index, name, rate, group }.lines();
        }
    }
    if job.unified == FioUnified::Both {
        let direction = &mixed(&job.directions);
        // fio forgets the unit of this one rate.
        let rate = FioQuantity::Count;
        out += &DirectionText { job, direction, index: 0, name: "mixed", rate, group }.lines();
    }
    out += &latency_shares(&job.latencies);
    out += &sync_lines(job);
    let (user, system) = job.cpu();
    let _ = writeln!(
        out,
        "  cpu          : usr={user:.2}%, sys={system:.2}%, ctx={}, majf={}, minf={}",
        job.context_switches, job.major_faults, job.minor_faults
    );
    out += &shares_line("  IO depths    : ", ["1", "2", "4", "8", "16", "32", ">=64"], &job.depths);
    let batches = ["0", "4", "8", "16", "32", "64", ">=64"];
    out += &shares_line("     submit    : ", batches, &job.submits);
    out += &shares_line("     complete  : ", batches, &job.completes);
    out += &issued(job);
    if let Some(errors) = job.errors {
        let (total, first) = (errors.total, errors.first);
        let text = errno_text(first);
        let _ = writeln!(out, "     errors    : total={total}, first_error={first}/<{text}>");
    }
    out += &target_line(&job.latency_target);
    if let Some(state) = &job.steady_state {
        out += &steady_line(job, state);
    }
    out
}

fn head(job: &FioJobReport, time: &str) -> String {
    let (name, group, clones, pid) = (&job.name, job.group, job.clones, job.pid);
    let error = match job.error {
        0 => " 0".to_string(),
        error => format!("{error:2} ({})", job.error_text),
    };
    let mut out =
        format!("{name}: (groupid={group}, jobs={clones}): err={error}: pid={pid}: {time}\n");
    if !job.description.is_empty() {
        let _ = writeln!(out, "  Description  : [{}]", job.description);
    }
    out
}

fn latency_shares(shares: &FioLatencyShares) -> String {
    let (ns, us, ms) = shares.percent();
    let mut out = String::new();
    for (unit, classes) in [("nsec", &ns[..]), ("usec", &us), ("msec", &ms)] {
        let held = classes.iter().zip(LATENCY_LABELS).filter(|(percent, _)| **percent > 0.0);
        let held: Vec<_> = held.map(|(percent, label)| format!("{label}={percent:.2}%")).collect();
        for line in held.chunks(5) {
            let _ = writeln!(out, "  lat ({unit})   : {}", line.join(", "));
        }
    }
    out
}

fn sync_lines(job: &FioJobReport) -> String {
    let syncs = &job.sync_latency;
    if syncs.moments.count == 0 {
        return String::new();
    }
    let mut out = "  fsync/fdatasync/sync_file_range/syncfs:\n".to_string();
    out += &latency_line("sync", &syncs.moments);
    out += &percentile_lines("sync", syncs, &job.percentiles);
    out
}

fn shares_line(title: &str, labels: [&str; 7], shares: &FioShares<7>) -> String {
    let percents = shares.percent(LEAST_DEPTH);
    let parts: Vec<String> = labels
        .iter()
        .zip(percents)
        .map(|(label, percent)| format!("{label}={percent:3.1}%"))
        .collect();
    format!("{title}{}\n", parts.join(", "))
}

fn issued(job: &FioJobReport) -> String {
    let [read, write, trim] = &job.directions;
    format!(
        "     issued rwts: total={},{},{},{} short={},{},{},0 dropped={},{},{},0\n",
        read.ios,
        write.ios,
        trim.ios,
        job.syncs,
        read.short,
        write.short,
        trim.short,
        read.dropped,
        write.dropped,
        trim.dropped
    )
}

fn target_line(target: &FioLatencyTarget) -> String {
    if target.depth == 0 {
        return String::new();
    }
    let (aim, window) = (short_time(target.target_ns), short_time(target.window_us * 1000));
    let (percentile, depth) = (target.percentile, target.depth);
    format!(
        "     latency   : target={aim}, window={window}, percentile={percentile:.2}%, depth={depth}\n"
    )
}

/// A time in the largest unit that it has two of.
fn short_time(ns: u64) -> String {
    let (parts, unit) = match ns {
        2_000_000_000.. => (1e9, "s"),
        2_000_000.. => (1e6, "ms"),
        2_000.. => (1e3, "us"),
        _ => (1.0, "ns"),
    };
    format!("{:.2}{unit}", ns as f64 / parts)
}

fn steady_line(job: &FioJobReport, state: &FioSteadyReport) -> String {
    let style = &job.style;
    let kb_base = u64::from(style.kb_base.max(1));
    let binary = style.kb_base.is_power_of_two();
    let bw = FioSteadyReport::mean(&state.bw) / kb_base;
    let rate = |binary| scaled(bw, style.figures, 1, binary, style.rate());
    let count = |number| scaled(number, style.figures, 0, false, FioQuantity::Count);
    let (figure, by) = state.watched.watched();
    let latency = match figure {
        // fio's rule for larger units asks for a spread, which a mean alone does not have.
        SteadyFigure::Latency => {
            format!(", lat={}nsec", count(FioSteadyReport::mean(&state.latencies)))
        }
        _ => String::new(),
    };
    let name = match figure {
        SteadyFigure::Iops => "iops",
        SteadyFigure::Bandwidth => "bw",
        SteadyFigure::Latency => "lat",
    };
    let measure = match by {
        SteadyMeasure::Slope => "slope",
        SteadyMeasure::Deviation => "mean dev",
    };
    format!(
        "  steadystate  : attained={}, bw={} ({}), iops={}{latency}, {name} {measure}={:.3}{}\n",
        if state.attained { "yes" } else { "no" },
        rate(binary),
        rate(!binary),
        count(FioSteadyReport::mean(&state.iops)),
        state.criterion,
        if state.percent { "%" } else { "" }
    )
}
