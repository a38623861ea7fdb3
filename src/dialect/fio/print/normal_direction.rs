//! A direction in the report for people: its rate, latencies, percentiles and samples.

use std::fmt::Write;

use super::job::{FioDirectionReport, FioJobReport, FioLatency, FioPriorityLatency, FioStyle};
use super::latency_text::{latency_line, percentile_lines};
use super::number::{FioQuantity, scaled};
use super::summary::FioGroup;

impl FioStyle {
    /// What bandwidth is counted in.
    pub fn rate(&self) -> FioQuantity {
        if self.bits { FioQuantity::BitRate } else { FioQuantity::ByteRate }
    }

    /// A number, and the same in the other kind of prefixes.
    pub fn twice(&self, number: u64, quantity: FioQuantity) -> [String; 2] {
        let binary = self.kb_base.is_power_of_two();
        [binary, !binary].map(|binary| scaled(number, self.figures, 0, binary, quantity))
    }
}

/// A direction on its way into the report.
pub struct DirectionText<'a> {
    pub job: &'a FioJobReport,
    pub direction: &'a FioDirectionReport,
    /// Its place among the directions of the group.
    pub index: usize,
    pub name: &'a str,
    /// What its rate is counted in.
    pub rate: FioQuantity,
    pub group: &'a FioGroup,
}

impl DirectionText<'_> {
    /// The lines; empty where it took no time.
    pub fn lines(&self) -> String {
        let (job, direction) = (self.job, self.direction);
        if direction.runtime_ms == 0 {
            return String::new();
        }
        let mut out = self.rate_line();
        for (kind, latency) in
            [("slat", &direction.slat), ("clat", &direction.clat), (" lat", &direction.lat)]
        {
            out += &latency_line(kind, &latency.moments);
        }
        let kind = if job.percentiles.lat { "lat" } else { "clat" };
        let priorities = direction.shown_priorities();
        for priority in &priorities {
            out += &latency_line(&priority_name(kind, priority), &priority.latency.moments);
        }
        out += &tables(job, direction);
        if job.percentiles.clat || job.percentiles.lat {
            let all = if job.percentiles.lat { &direction.lat } else { &direction.clat };
            for priority in &priorities {
                out += &priority_table(job, kind, priority, all);
            }
        }
        out += &bandwidth_line(direction, self.index, self.group);
        out + &iops_line(direction)
    }

    fn rate_line(&self) -> String {
        let (direction, style) = (self.direction, &self.job.style);
        let iops = scaled(direction.ios_per_second(), style.figures, 0, false, FioQuantity::Count);
        let [bw, other_bw] = style.twice(direction.bytes_per_second(), self.rate);
        let [bytes, _] = style.twice(direction.bytes, FioQuantity::Bytes);
        let (name, ms, tail) = (self.name, direction.runtime_ms, self.rate_tail());
        format!("  {name}: IOPS={iops}, BW={bw} ({other_bw})({bytes}/{ms}msec){tail}\n")
    }

    fn rate_tail(&self) -> String {
        let direction = self.direction;
        let told = self.index == 0 && direction.cache_hits > 0 && direction.cache_misses > 0;
        match (self.job.zone_resets, direction.cache_hit_percent()) {
            (Some(resets), _) => format!("; {resets} zone resets"),
            (None, Some(hits)) if told => format!("; Cachehit={hits:.2}%"),
            _ => String::new(),
        }
    }
}

fn tables(job: &FioJobReport, direction: &FioDirectionReport) -> String {
    let wanted = &job.percentiles;
    let kinds = [
        (wanted.slat, "slat", &direction.slat),
        (wanted.clat, "clat", &direction.clat),
        (wanted.lat, "lat", &direction.lat),
    ];
    let shown = kinds.into_iter().filter(|(on, _, latency)| *on && latency.moments.count > 0);
    shown.map(|(_, name, latency)| percentile_lines(name, latency, wanted)).collect()
}

fn priority_name(kind: &str, priority: &FioPriorityLatency) -> String {
    format!("{kind} prio {}/{}/{}", priority.class, priority.level, priority.hint)
}

fn priority_table(
    job: &FioJobReport,
    kind: &str,
    priority: &FioPriorityLatency,
    all: &FioLatency,
) -> String {
    let latency = &priority.latency;
    let share = 100.0 * latency.moments.count as f64 / all.moments.count.max(1) as f64;
    let name = format!("{} ({share:.2}% of IOs)", priority_name(kind, priority));
    percentile_lines(&name, latency, &job.percentiles)
}

fn bandwidth_line(direction: &FioDirectionReport, index: usize, group: &FioGroup) -> String {
    let bw = &direction.bw;
    if bw.count == 0 {
        return String::new();
    }
    let kb_base = group.style.kb_base;
    let base = f64::from(kb_base.max(1));
    let (mut unit, mut divisor) = (if kb_base.is_power_of_two() { "KiB" } else { "kB" }, 1.0);
    if bw.mean > base * base {
        (unit, divisor) = ("MiB", base);
    }
    let whole = |value: u64| (value as f64 / divisor) as u64;
    format!(
        "   bw ({unit:>5}/s): min={:5}, max={:5}, per={:.2}%, avg={:5.2}, stdev={:5.2}, samples={}\n",
        whole(bw.min),
        whole(bw.max),
        group.bandwidth_share(bw, index),
        bw.mean / divisor,
        bw.deviation() / divisor,
        bw.count
    )
}

fn iops_line(direction: &FioDirectionReport) -> String {
    let iops = &direction.iops;
    let mut out = String::new();
    if iops.count > 0 {
        let _ = writeln!(
            out,
            "   iops        : min={:5}, max={:5}, avg={:5.2}, stdev={:5.2}, samples={}",
            iops.min,
            iops.max,
            iops.mean,
            iops.deviation(),
            iops.count
        );
    }
    out
}
