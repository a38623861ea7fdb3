//! Logs.

use super::kind::FioKind;
use super::option::{FioOption, FioStanding};
use crate::dialect::fio::job::FioLogWindow;

pub(super) const OPTIONS: &[FioOption] = &[
    FioOption::new(
        "per_job_logs",
        FioKind::Bool,
        "put the number of the clone into names of logs",
        |job, value| value.bool(&mut job.logs.per_job),
        "--name=a --size=1m --write_bw_log=a --per_job_logs=0",
    )
    .default("1"),
    FioOption::new(
        "write_bw_log",
        FioKind::Free,
        "write a log of bandwidth",
        |job, value| value.some_text(&mut job.logs.bw),
        "--name=a --size=1m --write_bw_log=a",
    ),
    FioOption::new(
        "write_lat_log",
        FioKind::Free,
        "write logs of latencies",
        |job, value| value.some_text(&mut job.logs.lat),
        "--name=a --size=1m --write_lat_log=a",
    ),
    FioOption::new(
        "write_iops_log",
        FioKind::Free,
        "write a log of IOPS",
        |job, value| value.some_text(&mut job.logs.iops),
        "--name=a --size=1m --write_iops_log=a",
    ),
    FioOption::new(
        "write_hist_log",
        FioKind::Free,
        "write a log of histograms",
        |job, value| value.some_text(&mut job.logs.hist),
        "--name=a --size=1m --write_hist_log=a --log_hist_msec=1000",
    ),
    FioOption::new(
        "log_entries",
        FioKind::between(1024, 1 << 20),
        "lines that memory is taken for at a time",
        |job, value| value.u32(&mut job.logs.entries),
        "--name=a --size=1m --write_bw_log=a --log_entries=4096",
    )
    .default("1024")
    .noted("memory is taken as it is needed"),
    FioOption::new(
        "log_avg_msec",
        FioKind::INT,
        "the time over which a line is the mean, in milliseconds",
        |job, value| value.milliseconds(&mut job.logs.avg),
        "--name=a --size=1m --write_bw_log=a --log_avg_msec=1000",
    )
    .default("0"),
    FioOption::new(
        "log_hist_msec",
        FioKind::INT,
        "the time between two histograms, in milliseconds",
        |job, value| value.milliseconds(&mut job.logs.hist_interval),
        "--name=a --size=1m --write_hist_log=a --log_hist_msec=1000",
    )
    .default("0"),
    FioOption::new(
        "log_hist_coarseness",
        FioKind::between(0, 6),
        "how coarse a histogram is",
        |job, value| value.u32(&mut job.logs.hist_coarseness),
        "--name=a --size=1m --write_hist_log=a --log_hist_msec=1000 --log_hist_coarseness=2",
    )
    .default("0"),
    FioOption::new(
        "log_window_value",
        FioKind::Word(FioLogWindow::WORDS),
        "what stands in a line",
        |job, value| value.choice(&mut job.logs.window, FioLogWindow::of),
        "--name=a --size=1m --write_lat_log=a --log_avg_msec=1000 --log_window_value=max",
    )
    .alias("log_max_value")
    .default("avg"),
    FioOption::new(
        "log_offset",
        FioKind::Bool,
        "log the offset",
        |job, value| value.bool(&mut job.logs.offset),
        "--name=a --size=1m --write_lat_log=a --log_offset=1",
    )
    .default("0"),
    FioOption::new(
        "log_prio",
        FioKind::Bool,
        "log the priority",
        |job, value| value.bool(&mut job.logs.prio),
        "--name=a --size=1m --write_lat_log=a --log_prio=1",
    )
    .default("0"),
    FioOption::new(
        "log_issue_time",
        FioKind::Bool,
        "log the time of issue",
        |job, value| value.bool(&mut job.logs.issue_time),
        "--name=a --size=1m --write_lat_log=a --log_offset=1 --log_issue_time=1",
    )
    .default("0"),
    FioOption::new(
        "log_compression",
        FioKind::between(1024, 512 << 20),
        "compress logs in pieces of this size",
        |job, value| value.u32(&mut job.logs.compression),
        "--name=a --size=1m --write_lat_log=a --log_compression=64k",
    )
    .noted("logs are in memory as they are"),
    FioOption::idle(
        "log_compression_cpus",
        FioKind::Free,
        "the CPUs that compress",
        FioStanding::Noted("nothing is compressed"),
        "--name=a --size=1m --write_lat_log=a --log_compression=64k --log_compression_cpus=0",
    )
    .below("log_compression"),
    FioOption::new(
        "log_store_compressed",
        FioKind::Bool,
        "write logs compressed",
        |job, value| value.bool(&mut job.logs.store_compressed),
        "--name=a --size=1m --write_lat_log=a --log_store_compressed=0",
    ),
    FioOption::new(
        "log_alternate_epoch",
        FioKind::Bool,
        "log the time of a clock, and not since the start",
        |job, value| value.bool(&mut job.logs.alternate_epoch),
        "--name=a --size=1m --write_lat_log=a --log_alternate_epoch=1",
    )
    .alias("log_unix_epoch"),
    FioOption::new(
        "log_alternate_epoch_clock_id",
        FioKind::INT,
        "that clock",
        |job, value| value.u32(&mut job.logs.alternate_epoch_clock_id),
        "--name=a --size=1m --write_lat_log=a --log_alternate_epoch=1 --log_alternate_epoch_clock_id=0",
    ),
];
