//! An output of fio, taken apart: its JSON read back into a report.

use super::super::*;
use crate::dialect::fio::{FioSteadyState, FioUnified};

/// One report of fio's in three formats.
pub struct Captured {
    pub report: FioReport,
    pub version: FioTerse,
    pub terse: String,
    pub json: String,
    pub normal: String,
}

/// The reports of an output; with `--status-interval` there are several.
pub fn captured(text: &str) -> Vec<Captured> {
    let mut rest = text;
    let mut all = Vec::new();
    while let Some(open) = rest.find("\n{\n") {
        let before = &rest[..=open];
        let close = rest[open..].find("\n}\n").expect("an end") + open + 3;
        let after = &rest[close..];
        // The next report begins with its terse line.
        let mark = after.match_indices(";fio-").map(|(at, _)| at - 1);
        let end = mark.into_iter().next().unwrap_or(after.len());
        let (json, normal) = (&rest[open + 1..close], &after[..end]);
        let document: FioJson = serde_json::from_str(json).expect("JSON");
        let jobs = document.at("jobs").list().len();
        // A job without I/O divides nothing by nothing; we print 0.
        let terse = terse_of(before, jobs).replace(";-nan%", ";0.00%");
        let version = terse[..1].parse().ok().and_then(FioTerse::of).expect("a version");
        let report = read(&document, normal);
        all.push(Captured { report, version, terse, json: json.into(), normal: normal.into() });
        rest = &rest[close..];
    }
    all
}

/// The last lines that begin a terse line, and descriptions below them.
fn terse_of(before: &str, jobs: usize) -> &str {
    let starts: Vec<usize> = before
        .match_indices(|c: char| c.is_ascii_digit())
        .map(|(at, _)| at)
        .filter(|&at| {
            (at == 0 || before.as_bytes()[at - 1] == b'\n') && before[at + 1..].starts_with(';')
        })
        .collect();
    &before[starts[starts.len() - jobs]..]
}

fn read(document: &FioJson, normal: &str) -> FioReport {
    let global = options(document.get("global options"));
    let mut heads = normal.lines().filter(|line| line.contains(": (groupid="));
    let jobs = document.at("jobs").list().iter().map(|job| {
        let mut job = read_job(job, &global);
        if job.directions.iter().any(|direction| direction.ios > 0) {
            read_head(&mut job, heads.next().expect("a head"));
        }
        job
    });
    FioReport {
        jobs: jobs.collect(),
        version: document.at("fio version").text().into(),
        timestamp_ms: document.at("timestamp_ms").whole(),
        time: document.at("time").text().into(),
        groups: normal.matches("Run status group").count() as u32,
        disks: document
            .get("disk_util")
            .map_or(Vec::new(), |all| all.list().iter().map(disk).collect()),
        idleness: document.get("cpu_idleness").map(idleness),
        global_options: global,
        assay: None,
    }
}

fn options(object: Option<&FioJson>) -> Vec<FioTypedOption> {
    let pairs = object.map_or(&[][..], FioJson::pairs);
    pairs.iter().map(|(name, value)| (name.clone(), value.text().into())).collect()
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let start = text.find(before).expect("its begin") + before.len();
    let end = text[start..].find(after).expect("its end");
    &text[start..start + end]
}

fn read_head(job: &mut FioJobReport, head: &str) {
    job.clones = between(head, "jobs=", ")").parse().expect("clones");
    job.pid = between(head, ": pid=", ":").parse().expect("a process");
    if job.error != 0 {
        job.error_text = between(head, &format!("err={:2} (", job.error), "): pid=").into();
    }
}

fn read_job(json: &FioJson, global: &[FioTypedOption]) -> FioJobReport {
    let own = options(json.get("job options"));
    let option = |name: &str| {
        let all = own.iter().chain(global);
        all.into_iter().find(|(key, _)| key == name).map(|(_, value)| &**value)
    };
    let number = |name: &str| option(name).and_then(|value| value.parse::<u64>().ok());
    let unified = match (json.get("mixed"), json.get("read")) {
        (Some(_), None) => FioUnified::Mixed,
        (Some(_), Some(_)) => FioUnified::Both,
        _ => FioUnified::None,
    };
    let directions = match unified {
        FioUnified::Mixed => [direction(json.at("mixed")), Default::default(), Default::default()],
        _ => FIO_DIRECTIONS.map(|name| direction(json.at(name))),
    };
    let ios = directions.iter().map(|direction| direction.ios).sum();
    let runtime_ms = json.at("job_runtime").whole();
    let cpu_ms = |key: &str| (json.at(key).decimal() * runtime_ms as f64 / 100.0).round() as u64;
    FioJobReport {
        name: json.at("jobname").text().into(),
        group: json.at("groupid").whole() as u32,
        clones: 1,
        start_ms: json.at("job_start").whole(),
        error: json.at("error").whole() as i32,
        description: json.get("desc").map_or("", FioJson::text).into(),
        eta_s: Some(json.at("eta").whole()).filter(|&eta| eta != i32::MAX as u64),
        elapsed_s: json.at("elapsed").whole(),
        style: FioStyle {
            kb_base: number("kb_base").unwrap_or(1024) as u32,
            bits: number("unit_base") == Some(1),
            figures: number("significant_figures").unwrap_or(4) as usize,
        },
        percentiles: percentiles(json, option),
        unified,
        syncs: json.get("sync").map_or(0, |sync| sync.at("total_ios").whole()),
        sync_latency: json.get("sync").map(|sync| latency(sync.at("lat_ns"))).unwrap_or_default(),
        runtime_ms,
        user_ms: cpu_ms("usr_cpu"),
        system_ms: cpu_ms("sys_cpu"),
        context_switches: json.at("ctx").whole(),
        major_faults: json.at("majf").whole(),
        minor_faults: json.at("minf").whole(),
        depths: FioShares { counts: counts(json.at("iodepth_level"), ios), of: ios },
        submits: FioShares { counts: counts(json.at("iodepth_submit"), PARTS), of: PARTS },
        completes: FioShares { counts: counts(json.at("iodepth_complete"), PARTS), of: PARTS },
        latencies: FioLatencyShares {
            ns: counts(json.at("latency_ns"), ios),
            us: counts(json.at("latency_us"), ios),
            ms: counts(json.at("latency_ms"), ios),
            of: ios,
        },
        errors: json.get("total_err").map(|total| FioPassedErrors {
            total: total.whole(),
            first: json.at("first_error").whole() as i32,
        }),
        latency_target: json.get("latency_depth").map_or(
            FioLatencyTarget { depth: 0, ..FioLatencyTarget::default() },
            |depth| FioLatencyTarget {
                depth: depth.whole() as u32,
                target_ns: json.at("latency_target").whole(),
                window_us: json.at("latency_window").whole(),
                percentile: json.at("latency_percentile").decimal(),
            },
        ),
        steady_state: json.get("steadystate").map(steady_state),
        options: own,
        directions,
        ..FioJobReport::default()
    }
}

/// How many submissions there were is not told: shares of six decimals are parts of this.
const PARTS: u64 = 100_000_000;

/// Counts that give the percentages; what was raised to the least share shown is one.
fn counts<const N: usize>(shares: &FioJson, of: u64) -> [u64; N] {
    let counts = shares.pairs().iter().map(|(_, share)| {
        let share = share.decimal();
        let count = (share * of as f64 / 100.0).round();
        let exact = (count / of as f64 * 100.0 - share).abs() < 6e-7;
        if share == 0.0 {
            0
        } else if exact {
            count as u64
        } else {
            1
        }
    });
    counts.collect::<Vec<_>>().try_into().expect("as many classes")
}

/// The list is that of any latency that has one; names of six decimals are the numbers that were typed.
fn percentiles<'a>(json: &'a FioJson, option: impl Fn(&str) -> Option<&'a str>) -> FioPercentiles {
    let lists = |direction: &'a str| {
        let kinds = ["slat_ns", "clat_ns", "lat_ns"];
        let all = json.get(direction);
        all.into_iter().flat_map(move |all| kinds.into_iter().filter_map(|kind| all.get(kind)))
    };
    let latencies = ["read", "write", "trim", "mixed", "sync"].into_iter().flat_map(lists);
    let list = latencies.into_iter().find_map(|latency| latency.get("percentile"));
    let typed: Vec<&str> =
        option("percentile_list").map_or(Vec::new(), |list| list.split(':').collect());
    let exact = |(name, _): &(String, FioJson)| {
        let value: f64 = name.parse().expect("a percentile");
        let found = typed.iter().filter_map(|one| one.parse().ok());
        found.into_iter().find(|one: &f64| (one - value).abs() < 1e-6).unwrap_or(value)
    };
    let decimals = |one: &str| one.split_once('.').map_or(0, |(_, tail)| tail.len());
    let usual = FioPercentiles::default();
    let on = |name: &str| option(name).map(|value| value == "1");
    let kept = |off: &str| ![off, "gtod_reduce"].iter().any(|name| on(name) == Some(true));
    FioPercentiles {
        slat: on("slat_percentiles").unwrap_or(false),
        clat: on("clat_percentiles").unwrap_or(true) && kept("disable_clat"),
        lat: on("lat_percentiles").unwrap_or(false) && kept("disable_lat"),
        list: list.map_or(usual.list, |list| list.pairs().iter().map(exact).collect()),
        precision: typed.iter().map(|one| decimals(one)).max().unwrap_or(usual.precision),
    }
}

fn direction(json: &FioJson) -> FioDirectionReport {
    FioDirectionReport {
        ios: json.at("total_ios").whole(),
        short: json.at("short_ios").whole(),
        dropped: json.at("drop_ios").whole(),
        bytes: json.at("io_bytes").whole(),
        runtime_ms: json.at("runtime").whole(),
        slat: latency(json.at("slat_ns")),
        clat: latency(json.at("clat_ns")),
        lat: latency(json.at("lat_ns")),
        bw: samples(json, "bw", "bw_dev"),
        iops: samples(json, "iops", "iops_stddev"),
        priorities: json
            .get("prios")
            .map_or(Vec::new(), |all| all.list().iter().map(priority).collect()),
        ..FioDirectionReport::default()
    }
}

fn samples(json: &FioJson, of: &str, deviation: &str) -> FioMoments {
    let at = |key: &str| json.at(&format!("{of}_{key}"));
    let (mean, deviation) = (at("mean").decimal(), json.at(deviation).decimal());
    FioMoments::with_deviation(
        at("min").whole(),
        at("max").whole(),
        mean,
        deviation,
        at("samples").whole(),
    )
}

fn latency(json: &FioJson) -> FioLatency {
    let (mean, deviation) = (json.at("mean").decimal(), json.at("stddev").decimal());
    let (min, max) = (json.at("min").whole(), json.at("max").whole());
    let moments = FioMoments::with_deviation(min, max, mean, deviation, json.at("N").whole());
    let mut bins = FioBins::default();
    for (value, count) in json.get("bins").map_or(&[][..], FioJson::pairs) {
        bins.add(value.parse().expect("ns"), count.whole());
    }
    FioLatency { moments, bins }
}

fn priority(json: &FioJson) -> FioPriorityLatency {
    FioPriorityLatency {
        class: json.at("prioclass").whole() as u8,
        level: json.at("prio").whole() as u8,
        hint: json.at("priohint").whole() as u16,
        latency: latency(json.get("clat_ns").unwrap_or_else(|| json.at("lat_ns"))),
    }
}

fn steady_state(json: &FioJson) -> FioSteadyReport {
    let (measure, limit) = json.at("ss").text().split_once(':').expect("a limit");
    let number = |text: &str| text.trim_end_matches('%').parse().expect("a number");
    let data = json.at("data");
    let values = |key: &str| {
        let list = data.get(key).map_or(&[][..], FioJson::list);
        list.iter().map(FioJson::whole).collect()
    };
    FioSteadyReport {
        watched: FioSteadyState::of(measure).expect("what is watched"),
        percent: limit.ends_with('%'),
        limit: number(limit),
        duration_s: json.at("duration").whole(),
        attained: json.at("attained").whole() == 1,
        criterion: number(json.at("criterion").text()),
        max_deviation: json.at("max_deviation").decimal(),
        slope: json.at("slope").decimal(),
        iops: values("iops"),
        bw: values("bw"),
        latencies: values("lat_ns"),
    }
}

fn disk(json: &FioJson) -> FioDiskReport {
    let found = |before: &str, write_merges: &str| {
        let at = |key: &str| json.at(&format!("{before}{key}"));
        let pair = |one: &str, other: &str| [at(one).whole(), at(other).whole()];
        FioDiskUse {
            ios: pair("read_ios", "write_ios"),
            sectors: pair("read_sectors", "write_sectors"),
            merges: pair("read_merges", write_merges),
            ticks: pair("read_ticks", "write_ticks"),
            in_queue: at("in_queue").whole(),
            util: at("util").decimal(),
        }
    };
    FioDiskReport {
        name: json.at("name").text().into(),
        own: found("", "write_merges"),
        members: json.get("aggr_util").map(|_| found("aggr_", "write_merge")),
    }
}

fn idleness(json: &FioJson) -> FioIdleness {
    let cpus = json.pairs().iter().filter(|(key, _)| key.starts_with("cpu-"));
    FioIdleness {
        system: json.at("system").decimal(),
        cpus: cpus.map(|(_, idle)| idle.decimal()).collect(),
        unit_mean: json.at("unit_mean").decimal(),
        unit_deviation: json.at("unit_stddev").decimal(),
    }
}
