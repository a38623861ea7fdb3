//! What is reported, and how.

use super::kind::FioKind;
use super::option::{FioOption, FioStanding};
use crate::dialect::fio::job::{FioClock, FioUnified, FioWord};

const KB_BASES: &[FioWord] = &[
    FioWord {
        name: "1024",
        help: "kib is 1000 and kb is 1024 in what is typed, KiB comes first in what is printed",
    },
    FioWord {
        name: "1000",
        help: "kib is 1024 and kb is 1000 in what is typed, kB comes first in what is printed",
    },
];

const UNIT_BASES: &[FioWord] = &[
    FioWord { name: "0", help: "as the engine does" },
    FioWord { name: "8", help: "bytes" },
    FioWord { name: "1", help: "bits" },
];

pub(super) const OPTIONS: &[FioOption] = &[
    FioOption::new(
        "clat_percentiles",
        FioKind::Bool,
        "report percentiles of completion latency",
        |job, value| value.bool(&mut job.statistics.clat_percentiles),
        "--name=a --size=1m --clat_percentiles=0",
    )
    .default("1"),
    FioOption::new(
        "lat_percentiles",
        FioKind::Bool,
        "report percentiles of the whole latency",
        |job, value| value.bool(&mut job.statistics.lat_percentiles),
        "--name=a --size=1m --lat_percentiles=1",
    )
    .default("0"),
    FioOption::new(
        "slat_percentiles",
        FioKind::Bool,
        "report percentiles of submission latency",
        |job, value| value.bool(&mut job.statistics.slat_percentiles),
        "--name=a --size=1m --ioengine=io_uring --slat_percentiles=1",
    )
    .default("0"),
    FioOption::new(
        "percentile_list",
        FioKind::Floats { least: 0.0, most: 100.0, length: 20 },
        "which percentiles, separated by colons",
        |job, value| {
            job.statistics.percentile_precision = value.decimals;
            job.statistics.percentile_list = value.floats.clone();
            Ok(())
        },
        "--name=a --size=1m --percentile_list=50:99:99.9",
    )
    .default("1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99"),
    FioOption::new(
        "significant_figures",
        FioKind::between(1, 10),
        "digits of numbers in the report for people",
        |job, value| value.u32(&mut job.statistics.significant_figures),
        "--name=a --size=1m --significant_figures=6",
    )
    .default("4"),
    FioOption::new(
        "disk_util",
        FioKind::Bool,
        "report the load of disks",
        |job, value| value.bool(&mut job.statistics.disk_util),
        "--name=a --size=1m --disk_util=0",
    )
    .default("1"),
    FioOption::new(
        "stats",
        FioKind::Bool,
        "report the job at all",
        |job, value| value.bool(&mut job.statistics.stats),
        "--name=a --size=1m --stats=1",
    )
    .default("1"),
    FioOption::new(
        "gtod_reduce",
        FioKind::Bool,
        "read the clock less often, and know no latency",
        |job, value| {
            let mut reduced = false;
            value.bool(&mut reduced)?;
            if reduced {
                let statistics = &mut job.statistics;
                statistics.gtod_reduce = true;
                statistics.disable_lat = true;
                statistics.disable_clat = true;
                statistics.disable_slat = true;
                statistics.disable_bw = true;
                statistics.clat_percentiles = false;
                statistics.lat_percentiles = false;
                statistics.slat_percentiles = false;
            }
            Ok(())
        },
        "--name=a --size=1m --gtod_reduce=1",
    )
    .default("0"),
    FioOption::new(
        "disable_lat",
        FioKind::Bool,
        "leave the whole latency out",
        |job, value| value.bool(&mut job.statistics.disable_lat),
        "--name=a --size=1m --disable_lat=1",
    )
    .default("0")
    .below("gtod_reduce"),
    FioOption::new(
        "disable_clat",
        FioKind::Bool,
        "leave completion latency out",
        |job, value| value.bool(&mut job.statistics.disable_clat),
        "--name=a --size=1m --disable_clat=1",
    )
    .default("0")
    .below("gtod_reduce"),
    FioOption::new(
        "disable_slat",
        FioKind::Bool,
        "leave submission latency out",
        |job, value| value.bool(&mut job.statistics.disable_slat),
        "--name=a --size=1m --disable_slat=1",
    )
    .default("0")
    .below("gtod_reduce"),
    FioOption::new(
        "disable_bw_measurement",
        FioKind::Bool,
        "leave samples of bandwidth out",
        |job, value| value.bool(&mut job.statistics.disable_bw),
        "--name=a --size=1m --disable_bw_measurement=1",
    )
    .alias("disable_bw")
    .default("0")
    .below("gtod_reduce"),
    FioOption::new(
        "gtod_cpu",
        FioKind::INT,
        "let a thread on this CPU read the clock for all",
        |job, value| value.some_u32(&mut job.statistics.gtod_cpu),
        "--name=a --size=1m --gtod_cpu=1",
    )
    .noted("each thread reads the clock itself"),
    FioOption::new(
        "clocksource",
        FioKind::Word(FioClock::WORDS),
        "the clock",
        |job, value| {
            job.statistics.clocksource = value.words.last().and_then(|word| FioClock::of(word));
            Ok(())
        },
        "--name=a --size=1m --clocksource=clock_gettime",
    )
    .noted("clock_gettime() is read, which has the counter of the processor behind it"),
    FioOption::new(
        "job_start_clock_id",
        FioKind::INT,
        "the clock of job_start in JSON",
        |job, value| value.u32(&mut job.statistics.job_start_clock_id),
        "--name=a --size=1m --job_start_clock_id=0",
    ),
    FioOption::new(
        "bwavgtime",
        FioKind::INT,
        "the time over which a sample of bandwidth is taken, in milliseconds",
        |job, value| value.milliseconds(&mut job.statistics.bwavgtime),
        "--name=a --size=1m --bwavgtime=1000",
    )
    .default("500")
    .below("write_bw_log"),
    FioOption::new(
        "iopsavgtime",
        FioKind::INT,
        "the time over which a sample of IOPS is taken, in milliseconds",
        |job, value| value.milliseconds(&mut job.statistics.iopsavgtime),
        "--name=a --size=1m --iopsavgtime=1000",
    )
    .default("500")
    .below("write_iops_log"),
    FioOption::new(
        "unified_rw_reporting",
        FioKind::Word(FioUnified::WORDS),
        "report directions together",
        |job, value| value.choice(&mut job.statistics.unified, FioUnified::of),
        "--name=a --rw=randrw --size=1m --unified_rw_reporting=mixed",
    )
    .default("none"),
    FioOption::new(
        "kb_base",
        FioKind::Word(KB_BASES),
        "whether kilo is 1024 or 1000",
        |job, value| {
            job.statistics.kb_base = if value.text().starts_with("1000") { 1000 } else { 1024 };
            Ok(())
        },
        "--name=a --size=1m --kb_base=1000",
    )
    .default("1024")
    .priority(1),
    FioOption::new(
        "unit_base",
        FioKind::Word(UNIT_BASES),
        "report bytes or bits per second",
        |job, value| {
            let word = value.words.last().and_then(|word| word.parse().ok());
            job.statistics.unit_base = word.unwrap_or_default();
            Ok(())
        },
        "--name=a --size=1m --unit_base=1",
    )
    .priority(1),
    FioOption::idle(
        "block_error_percentiles",
        FioKind::Bool,
        "report which blocks had errors, after how many trims",
        FioStanding::Refused("leave it out: what becomes of each block is not counted here"),
        "--name=a --size=1m --block_error_percentiles=0",
    )
    .default("0"),
    FioOption::idle(
        "profile",
        FioKind::Text,
        "a benchmark that fio has inside",
        FioStanding::Refused("options of a job in its place"),
        "",
    ),
];
