//! Rates, think times, limits of latency.

use super::kind::FioKind;
use super::option::{FioOption, FioStanding};
use crate::dialect::fio::input::value::duration;
use crate::dialect::fio::job::{FioRateProcess, FioThinktimeBlocks};

pub(super) const OPTIONS: &[FioOption] = &[
    FioOption::new(
        "thinktime",
        FioKind::SHORT_MICROSECONDS,
        "rest between I/Os, in microseconds",
        |job, value| value.time(&mut job.pace.thinktime),
        "--name=a --size=1m --thinktime=100",
    )
    .default("0"),
    FioOption::new(
        "thinktime_spin",
        FioKind::SHORT_MICROSECONDS,
        "compute for so much of the rest, in microseconds",
        |job, value| value.time(&mut job.pace.thinktime_spin),
        "--name=a --size=1m --thinktime=100 --thinktime_spin=50",
    )
    .default("0")
    .below("thinktime"),
    FioOption::new(
        "thinkcycles",
        FioKind::INT,
        "compute for so many cycles between I/Os",
        |job, value| value.u32(&mut job.pace.thinkcycles),
        "--name=a --size=1m --thinkcycles=1000",
    )
    .default("0")
    .below("thinktime"),
    FioOption::new(
        "thinktime_blocks",
        FioKind::INT,
        "rest after so many I/Os",
        |job, value| value.u32(&mut job.pace.thinktime_blocks),
        "--name=a --size=1m --thinktime=100 --thinktime_blocks=16",
    )
    .default("1")
    .below("thinktime"),
    FioOption::new(
        "thinktime_blocks_type",
        FioKind::Word(FioThinktimeBlocks::WORDS),
        "which I/Os count for that",
        |job, value| value.choice(&mut job.pace.thinktime_blocks_type, FioThinktimeBlocks::of),
        "--name=a --size=1m --thinktime=100 --thinktime_blocks_type=issue",
    )
    .default("complete")
    .below("thinktime"),
    FioOption::new(
        "thinktime_iotime",
        FioKind::Number { unit: super::kind::FioUnit::Seconds, least: 0, most: u32::MAX as i64 },
        "rest after so long, in seconds",
        |job, value| value.time(&mut job.pace.thinktime_iotime),
        "--name=a --size=1m --thinktime=1s --thinktime_iotime=2s",
    )
    .default("0")
    .below("thinktime"),
    FioOption::new(
        "rate",
        FioKind::SIZE,
        "bytes per second of each clone, or for reads, writes and trims",
        |job, value| value.three_u64(&mut job.pace.rate),
        "--name=a --rw=randrw --size=1m --rate=10m,5m",
    ),
    FioOption::new(
        "rate_min",
        FioKind::SIZE,
        "fail below so many bytes per second",
        |job, value| value.three_u64(&mut job.pace.rate_min),
        "--name=a --size=1m --rate=10m --rate_min=1m",
    )
    .alias("ratemin")
    .below("rate"),
    FioOption::new(
        "rate_iops",
        FioKind::INT,
        "I/Os per second of each clone, or for reads, writes and trims",
        |job, value| value.three_u32(&mut job.pace.rate_iops),
        "--name=a --rw=randread --size=1m --rate_iops=1000",
    ),
    FioOption::new(
        "rate_iops_min",
        FioKind::INT,
        "fail below so many I/Os per second",
        |job, value| value.three_u32(&mut job.pace.rate_iops_min),
        "--name=a --rw=randread --size=1m --rate_iops=1000 --rate_iops_min=100",
    )
    .below("rate_iops"),
    FioOption::new(
        "rate_process",
        FioKind::Word(FioRateProcess::WORDS),
        "how I/Os are spread",
        |job, value| value.choice(&mut job.pace.rate_process, FioRateProcess::of),
        "--name=a --size=1m --rate_iops=1000 --rate_process=poisson",
    )
    .default("linear")
    .below("rate"),
    FioOption::new(
        "rate_cycle",
        FioKind::INT,
        "the time over which the least rate is taken, in milliseconds",
        |job, value| value.milliseconds(&mut job.pace.rate_cycle),
        "--name=a --size=1m --rate=10m --rate_min=1m --rate_cycle=500",
    )
    .alias("ratecycle")
    .default("1000")
    .below("rate"),
    FioOption::new(
        "rate_ignore_thinktime",
        FioKind::Bool,
        "go on at the rate after a rest, and do not catch up",
        |job, value| value.bool(&mut job.pace.rate_ignore_thinktime),
        "--name=a --size=1m --rate=10m --thinktime=100 --rate_ignore_thinktime=1",
    )
    .below("rate"),
    FioOption::new(
        "max_latency",
        FioKind::MICROSECONDS,
        "fail above this latency, in microseconds",
        |job, value| value.three_times(&mut job.pace.max_latency),
        "--name=a --size=1m --max_latency=500ms",
    ),
    FioOption::new(
        "latency_target",
        FioKind::MICROSECONDS,
        "fit the depth to this latency, in microseconds",
        |job, value| value.time(&mut job.pace.latency_target),
        "--name=a --rw=randread --size=1m --ioengine=io_uring --iodepth=64 --latency_target=500us",
    ),
    FioOption::new(
        "latency_window",
        FioKind::MICROSECONDS,
        "how long it has to be kept, in microseconds",
        |job, value| value.time(&mut job.pace.latency_window),
        "--name=a --size=1m --latency_target=500us --latency_window=1s",
    ),
    FioOption::new(
        "latency_percentile",
        FioKind::Floats { least: 0.0, most: 100.0, length: 1 },
        "how many I/Os have to be below it",
        |job, value| {
            job.pace.latency_percentile =
                value.floats.first().copied().unwrap_or(job.pace.latency_percentile);
            Ok(())
        },
        "--name=a --size=1m --latency_target=500us --latency_window=1s --latency_percentile=99.9",
    )
    .default("100"),
    FioOption::new(
        "latency_run",
        FioKind::Bool,
        "fit the depth for ever",
        |job, value| value.bool(&mut job.pace.latency_run),
        "--name=a --size=1m --latency_target=500us --latency_window=1s --latency_run=1",
    )
    .default("0"),
    FioOption::new(
        "flow_id",
        FioKind::INT,
        "the flow that it has a share in",
        |job, value| value.u32(&mut job.pace.flow_id),
        "--name=a --size=1m --flow=1 --flow_id=3",
    )
    .default("0"),
    FioOption::new(
        "flow",
        FioKind::between(0, 1000),
        "its share of the flow",
        |job, value| value.u32(&mut job.pace.flow),
        "--name=a --size=1m --flow=8 --name=b --size=1m --flow=1",
    )
    .default("0")
    .below("flow_id"),
    FioOption::new(
        "flow_sleep",
        FioKind::INT,
        "how long it sleeps when it has had its share, in microseconds",
        |job, value| {
            let microseconds = value.slots[0].map(duration);
            job.pace.flow_sleep = microseconds.unwrap_or(job.pace.flow_sleep);
            Ok(())
        },
        "--name=a --size=1m --flow=8 --flow_sleep=100 --name=b --size=1m --flow=1",
    )
    .default("0")
    .below("flow_id"),
    FioOption::idle(
        "flow_watermark",
        FioKind::Deprecated,
        "nothing any more",
        FioStanding::Noted("fio has no such option any more"),
        "--name=a --size=1m --flow_watermark=1024",
    ),
];
