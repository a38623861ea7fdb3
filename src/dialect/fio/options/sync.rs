//! The cache, and what makes data durable.

use super::kind::FioKind;
use super::option::FioOption;
use crate::dialect::fio::input::value::{Applied, FioValue, leading_count};
use crate::dialect::fio::job::{FioJob, FioSyncMode, FioSyncRange, FioWriteHint};

pub(super) const OPTIONS: &[FioOption] = &[
    FioOption::new(
        "direct",
        FioKind::Bool,
        "go around the page cache (O_DIRECT)",
        |job, value| value.bool(&mut job.sync.direct),
        "--name=a --size=1m --direct=1",
    )
    .default("0"),
    FioOption::new(
        "atomic",
        FioKind::Bool,
        "write each block whole or not at all (RWF_ATOMIC)",
        |job, value| value.bool(&mut job.sync.atomic),
        "--name=a --size=1m --rw=write --ioengine=io_uring --direct=1 --atomic=1",
    )
    .default("0"),
    FioOption::new(
        "buffered",
        FioKind::Bool,
        "go through the page cache, the opposite of direct",
        |job, value| {
            let mut buffered = !job.sync.direct;
            value.bool(&mut buffered)?;
            job.sync.direct = !buffered;
            Ok(())
        },
        "--name=a --size=1m --buffered=0",
    )
    .default("1"),
    FioOption::new(
        "sync",
        FioKind::Word(FioSyncMode::WORDS),
        "let each write wait for the medium",
        |job, value| value.choice(&mut job.sync.sync, FioSyncMode::of),
        "--name=a --rw=write --size=1m --sync=dsync",
    )
    .default("none"),
    FioOption::new(
        "fsync",
        FioKind::INT,
        "flush after so many writes",
        |job, value| value.u32(&mut job.sync.fsync),
        "--name=a --rw=write --size=1m --fsync=1",
    )
    .default("0"),
    FioOption::new(
        "fdatasync",
        FioKind::INT,
        "flush data after so many writes",
        |job, value| value.u32(&mut job.sync.fdatasync),
        "--name=a --rw=write --size=1m --fdatasync=1",
    )
    .default("0"),
    FioOption::new(
        "write_barrier",
        FioKind::INT,
        "make every Nth write a barrier",
        |job, value| value.u32(&mut job.sync.write_barrier),
        "--name=a --rw=write --size=1m --write_barrier=8",
    )
    .default("0")
    .noted("no kernel of today has barriers"),
    FioOption::new(
        "sync_file_range",
        FioKind::Words(FioSyncRange::WORDS),
        "call sync_file_range() after so many writes; WHAT[,WHAT]:N",
        sync_file_range,
        "--name=a --rw=write --size=1m --sync_file_range=write:8",
    ),
    FioOption::new(
        "end_fsync",
        FioKind::Bool,
        "flush files at the end, in the measured time",
        |job, value| value.bool(&mut job.sync.end_fsync),
        "--name=a --rw=write --size=1m --end_fsync=1",
    )
    .default("0"),
    FioOption::new(
        "fsync_on_close",
        FioKind::Bool,
        "flush files when they are closed",
        |job, value| value.bool(&mut job.sync.fsync_on_close),
        "--name=a --rw=write --size=1m --fsync_on_close=1",
    )
    .default("0"),
    FioOption::new(
        "end_syncfs",
        FioKind::Bool,
        "flush the file system at the end",
        |job, value| value.bool(&mut job.sync.end_syncfs),
        "--name=a --rw=write --size=1m --end_syncfs=1",
    )
    .default("0"),
    FioOption::new(
        "write_hint",
        FioKind::Word(FioWriteHint::WORDS),
        "how long what is written is said to live",
        |job, value| value.choice(&mut job.sync.write_hint, FioWriteHint::of),
        "--name=a --rw=write --size=1m --write_hint=short",
    ),
];

/// Each use adds to what was typed before; the number is that of the last.
fn sync_file_range(job: &mut FioJob, value: &FioValue<'_>) -> Applied {
    for word in value.words.iter().filter_map(|word| FioSyncRange::of(word)) {
        if !job.sync.sync_file_range.contains(&word) {
            job.sync.sync_file_range.push(word);
        }
    }
    let last = value.text().rsplit(',').next().unwrap_or_default();
    let digits = last.split_once(':').map(|(_, number)| number.trim());
    job.sync.sync_file_range_every = digits.map_or(1, leading_count);
    Ok(())
}
