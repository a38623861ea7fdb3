//! Lines of a kind of latency: extremes and mean, and a table of percentiles.

use std::fmt::Write;

use super::job::{FioLatency, FioPercentiles};
use super::moments::FioMoments;
use super::number::{FioQuantity, scaled};

/// The unit that latencies are shown in, by smallest, largest and spread in ns: its length in ns, its name.
pub fn time_unit(min: u64, max: u64, deviation: f64) -> (u64, &'static str) {
    if min > 2_000_000 && max > 99_999_999 && deviation > 1e6 {
        (1_000_000, "msec")
    } else if min > 2_000 && max > 99_999 && deviation > 1e3 {
        (1_000, "usec")
    } else {
        (1, "nsec")
    }
}

/// `    clat (usec): min=26, max=1615, avg=157.51, stdev=261.03`; empty of no samples.
pub fn latency_line(name: &str, moments: &FioMoments) -> String {
    if moments.count == 0 {
        return String::new();
    }
    let deviation = moments.deviation();
    let (divisor, unit) = time_unit(moments.min, moments.max, deviation);
    // fio's compiler multiplies, which decides ties in the last digit.
    let inverse = 1.0 / divisor as f64;
    let whole = |value: u64| scaled(value / divisor, 6, 0, false, FioQuantity::Count);
    format!(
        "    {name} ({unit}): min={}, max={}, avg={:5.2}, stdev={:5.2}\n",
        whole(moments.min),
        whole(moments.max),
        moments.mean * inverse,
        deviation * inverse
    )
}

/// The table of percentiles; empty of an empty list.
pub fn percentile_lines(name: &str, latency: &FioLatency, wanted: &FioPercentiles) -> String {
    let values = latency.bins.percentiles(&wanted.list, latency.moments.count);
    let (Some(&min), Some(&max)) = (values.iter().min(), values.iter().max()) else {
        return String::new();
    };
    // The spread of what is listed does not matter here.
    let (divisor, unit) = time_unit(min, max, f64::INFINITY);
    let digits = (max / divisor).checked_ilog10().map_or(0, |log| log as usize + 1);
    let value_width = digits.max(5);
    let precision = wanted.precision;
    let per_line = (73 / (precision + 10 + value_width)).max(1);
    let cells: Vec<String> = wanted
        .list
        .iter()
        .zip(values)
        .map(|(percent, value)| {
            let value = rounded_up(value, divisor);
            format!(" {percent:w$.precision$}th=[{value:value_width$}]", w = precision + 3)
        })
        .collect();
    let mut out = format!("    {name} percentiles ({unit}):\n");
    let last = cells.len().div_ceil(per_line);
    for (index, line) in cells.chunks(per_line).enumerate() {
        let end = if index + 1 == last { "" } else { "," };
        let _ = writeln!(out, "     |{}{end}", line.join(","));
    }
    out
}

/// Divides by 1000 as often as it takes, upwards each time.
fn rounded_up(mut value: u64, mut divisor: u64) -> u64 {
    while divisor > 1 {
        value = value.div_ceil(1000);
        divisor /= 1000;
    }
    value
}
