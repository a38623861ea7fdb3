//! Lists of I/Os: one that is done, one that is written.

use super::kind::FioKind;
use super::option::{FioOption, FioStanding};
use crate::dialect::fio::input::value::{Applied, FioValue};
use crate::dialect::fio::job::{FioFault, FioJob};

const NO_MERGE: FioStanding =
    FioStanding::Refused("merge the traces with fio, and replay the result");

pub(super) const OPTIONS: &[FioOption] = &[
    FioOption::new(
        "write_iolog",
        FioKind::Text,
        "list what is done in a file",
        |job, value| value.some_text(&mut job.replay.write),
        "--name=a --size=1m --write_iolog=/tmp/a.log",
    ),
    FioOption::new(
        "read_iolog",
        FioKind::Text,
        "do what is listed in a file",
        |job, value| value.some_text(&mut job.replay.read),
        "--name=a --size=1m --read_iolog=/tmp/a.log",
    ),
    FioOption::new(
        "read_iolog_chunked",
        FioKind::Bool,
        "read the list piece by piece",
        |job, value| value.bool(&mut job.replay.chunked),
        "--name=a --read_iolog=/tmp/a.log --read_iolog_chunked=1",
    )
    .noted("the list is read whole before it begins: 24 bytes of memory for each I/O")
    .default("0")
    .below("read_iolog"),
    FioOption::new(
        "replay_no_stall",
        FioKind::Bool,
        "do it as fast as it goes",
        |job, value| value.bool(&mut job.replay.no_stall),
        "--name=a --read_iolog=/tmp/a.log --replay_no_stall=1",
    )
    .default("0")
    .below("read_iolog"),
    FioOption::new(
        "replay_redirect",
        FioKind::Text,
        "do all of it on this device",
        |job, value| value.some_text(&mut job.replay.redirect),
        "--name=a --read_iolog=/tmp/a.log --replay_redirect=/dev/sdx",
    )
    .below("read_iolog"),
    FioOption::new(
        "replay_scale",
        FioKind::INT,
        "divide offsets by this",
        |job, value| value.u32(&mut job.replay.scale),
        "--name=a --read_iolog=/tmp/a.log --replay_scale=2",
    )
    .default("1")
    .below("read_iolog"),
    FioOption::new(
        "replay_align",
        FioKind::INT,
        "round offsets down to this power of two",
        replay_align,
        "--name=a --read_iolog=/tmp/a.log --replay_align=4k",
    )
    .below("read_iolog"),
    FioOption::new(
        "replay_time_scale",
        FioKind::from(1),
        "do it in this percentage of its time",
        |job, value| value.u32(&mut job.replay.time_scale),
        "--name=a --read_iolog=/tmp/a.log --replay_time_scale=50",
    )
    .default("100")
    .below("read_iolog"),
    FioOption::new(
        "replay_skip",
        FioKind::Free,
        "leave out some kinds: read, write, trim, sync",
        replay_skip,
        "--name=a --read_iolog=/tmp/a.log --replay_skip=trim,sync",
    )
    .below("read_iolog"),
    FioOption::idle(
        "merge_blktrace_file",
        FioKind::Text,
        "merge several traces into this file",
        NO_MERGE,
        "",
    ),
    FioOption::idle(
        "merge_blktrace_scalars",
        FioKind::Floats { least: 0.0, most: f64::MAX, length: 20 },
        "how fast each of them is done",
        NO_MERGE,
        "",
    ),
    FioOption::idle(
        "merge_blktrace_iters",
        FioKind::Floats { least: 0.0, most: f64::MAX, length: 20 },
        "how often each of them is done",
        NO_MERGE,
        "",
    ),
];

fn replay_align(job: &mut FioJob, value: &FioValue<'_>) -> Applied {
    let mut align = 0;
    value.u32(&mut align)?;
    if !align.is_power_of_two() {
        return Err(FioFault::line("replay_align: must be a power-of-2", "replay_align=4k"));
    }
    job.replay.align = align;
    Ok(())
}

fn replay_skip(job: &mut FioJob, value: &FioValue<'_>) -> Applied {
    for kind in value.text().trim().split(',') {
        let skip = &mut job.replay.skip;
        let place = match kind {
            "read" => &mut skip.read,
            "write" => &mut skip.write,
            "trim" => &mut skip.trim,
            "sync" => &mut job.replay.skip_sync,
            _ => {
                return Err(FioFault::line(
                    format!("Unknown skip type: {kind}"),
                    "some of read, write, trim, sync",
                ));
            }
        };
        *place = true;
    }
    Ok(())
}
