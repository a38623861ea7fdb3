//! When a job begins and ends, and how many there are of it.

use super::kind::FioKind;
use super::option::FioOption;
use crate::dialect::fio::input::number;
use crate::dialect::fio::input::value::{Applied, FioValue, duration, leading_float};
use crate::dialect::fio::job::{FioExitWhat, FioFault, FioJob, FioSteadyLimit, FioSteadyState};

pub(super) const OPTIONS: &[FioOption] = &[
    FioOption::new(
        "numjobs",
        FioKind::from(1),
        "how many clones of the job there are",
        |job, value| value.u32(&mut job.schedule.numjobs),
        "--name=a --size=1m --numjobs=4",
    )
    .default("1"),
    FioOption::new(
        "loops",
        FioKind::INT,
        "how often the job is done",
        |job, value| value.u32(&mut job.schedule.loops),
        "--name=a --size=1m --loops=2",
    )
    .default("1"),
    FioOption::new(
        "startdelay",
        FioKind::TIME,
        "how long it waits before it begins, or the shortest and longest wait",
        |job, value| {
            if let Some((low, high)) = value.first_and_last() {
                job.schedule.startdelay = (duration(low), duration(high));
            }
            Ok(())
        },
        "--name=a --size=1m --startdelay=1s",
    )
    .default("0"),
    FioOption::new(
        "runtime",
        FioKind::TIME,
        "the longest that it may run",
        |job, value| value.time(&mut job.schedule.runtime),
        "--name=a --size=1m --runtime=60s --time_based",
    )
    .alias("timeout")
    .default("0"),
    FioOption::new(
        "time_based",
        FioKind::Flag,
        "go on until the runtime is over",
        |job, value| value.bool(&mut job.schedule.time_based),
        "--name=a --size=1m --runtime=60 --time_based",
    ),
    FioOption::new(
        "ramp_time",
        FioKind::TIME,
        "how long it runs before it is measured",
        |job, value| value.time(&mut job.schedule.ramp_time),
        "--name=a --size=1m --runtime=60 --time_based --ramp_time=5",
    ),
    FioOption::new(
        "ramp_size",
        FioKind::between(1, i64::MAX),
        "how much it does before it is measured",
        |job, value| value.u64(&mut job.schedule.ramp_size),
        "--name=a --size=1m --runtime=60 --time_based --ramp_size=64k",
    ),
    FioOption::new(
        "thread",
        FioKind::Flag,
        "run clones as threads, and not as processes",
        |job, value| value.bool(&mut job.schedule.thread),
        "--name=a --size=1m --thread",
    ),
    FioOption::new(
        "group_reporting",
        FioKind::Flag,
        "report the clones of a group as one",
        |job, value| value.bool(&mut job.schedule.group_reporting),
        "--name=a --size=1m --numjobs=4 --group_reporting",
    ),
    FioOption::new(
        "new_group",
        FioKind::Flag,
        "begin a group of reports",
        |job, value| value.bool(&mut job.schedule.new_group),
        "--name=a --size=1m --name=b --size=1m --new_group",
    ),
    FioOption::new(
        "stonewall",
        FioKind::Flag,
        "wait for all jobs before, and begin a group",
        |job, value| value.bool(&mut job.schedule.stonewall),
        "--name=a --size=1m --name=b --size=1m --stonewall",
    )
    .alias("wait_for_previous"),
    FioOption::new(
        "wait_for",
        FioKind::Text,
        "wait for all clones of another job",
        |job, value| value.some_text(&mut job.schedule.wait_for),
        "--name=a --size=1m --name=b --size=1m --wait_for=a",
    ),
    FioOption::new(
        "exitall",
        FioKind::Flag,
        "end other jobs with it",
        |job, _| {
            // fio looks at no value: `exitall=0` is `exitall`.
            job.schedule.exitall = true;
            Ok(())
        },
        "--name=a --size=1m --name=b --size=2m --exitall",
    ),
    FioOption::new(
        "exit_what",
        FioKind::Word(FioExitWhat::WORDS),
        "which jobs end with it",
        |job, value| value.choice(&mut job.schedule.exit_what, FioExitWhat::of),
        "--name=a --size=1m --name=b --size=2m --exitall --exit_what=all",
    )
    .default("group"),
    FioOption::new(
        "exitall_on_error",
        FioKind::Flag,
        "end all jobs when it fails",
        |job, value| value.bool(&mut job.schedule.exitall_on_error),
        "--name=a --size=1m --exitall_on_error",
    ),
    FioOption::new(
        "steadystate",
        FioKind::Word(FioSteadyState::WORDS),
        "when it is steady: WHAT:LIMIT or WHAT:LIMIT%",
        steadystate,
        "--name=a --size=1m --runtime=60 --time_based --steadystate=iops:5% --ss_dur=10",
    )
    .alias("ss")
    .default("iops_slope:0.01%"),
    FioOption::new(
        "steadystate_duration",
        FioKind::TIME,
        "how long it has to be steady to end; 0 is not looked at",
        |job, value| value.time(&mut job.schedule.steadystate_duration),
        "--name=a --size=1m --runtime=60 --time_based --ss=bw:5% --steadystate_duration=10",
    )
    .alias("ss_dur")
    .default("0")
    .below("steadystate"),
    FioOption::new(
        "steadystate_ramp_time",
        FioKind::TIME,
        "how long it runs before that is looked at",
        |job, value| value.time(&mut job.schedule.steadystate_ramp_time),
        "--name=a --size=1m --runtime=60 --time_based --ss=bw:5% --ss_dur=10 --ss_ramp=5",
    )
    .alias("ss_ramp")
    .default("0")
    .below("steadystate"),
    FioOption::new(
        "steadystate_check_interval",
        FioKind::TIME,
        "how often it is looked at, the same for all jobs",
        |job, value| value.time(&mut job.schedule.steadystate_check_interval),
        "--name=a --size=1m --runtime=60 --time_based --ss=bw:5% --ss_dur=10 --ss_interval=2",
    )
    .alias("ss_interval")
    .default("1")
    .below("steadystate"),
];

/// `iops:5%`, `bw:10m`, `lat_slope:100us`.
fn steadystate(job: &mut FioJob, value: &FioValue<'_>) -> Applied {
    let mut criterion = job.schedule.steadystate.criterion;
    value.choice(&mut criterion, FioSteadyState::of)?;
    let Some(limit) = value.postfix() else {
        return Err(FioFault::line(
            "fio: steadystate threshold must be specified in addition to criterion",
            format!("steadystate={}:5%", criterion.word()),
        ));
    };
    let percent = limit.contains('%');
    let bad = |line: &str| FioFault::line(line, format!("steadystate={}:5%", criterion.word()));
    let number = match criterion {
        _ if percent => leading_float(limit)
            .ok_or_else(|| bad("fio: could not parse steadystate threshold percentage"))?,
        FioSteadyState::Iops | FioSteadyState::IopsSlope => leading_float(limit)
            .ok_or_else(|| bad("fio: steadystate IOPS threshold postfix parsing failed"))?,
        FioSteadyState::Lat | FioSteadyState::LatSlope => number::time(limit, false)
            .map_err(|_| bad("fio: steadystate latency threshold parsing failed"))?
            as f64,
        FioSteadyState::Bw | FioSteadyState::BwSlope => {
            number::size(limit, 1024)
                .map_err(|_| bad("fio: steadystate BW threshold postfix parsing failed"))?
                .value as f64
        }
    };
    job.schedule.steadystate = FioSteadyLimit { criterion, limit: number, percent };
    Ok(())
}
