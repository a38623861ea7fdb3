//! The engine, its queue, and the options that single engines have.

use super::kind::{FioKind, FioUnit};
use super::option::{FioOption, FioStanding};
use crate::dialect::fio::input::shares;
use crate::dialect::fio::input::value::{Applied, FioValue};
use crate::dialect::fio::job::{FioCpuMode, FioEngine, FioJob, FioStatType, FioSubmitMode};

const RING: &[FioEngine] = &[FioEngine::IoUring, FioEngine::IoUringCmd];
const PRIORITIES: &[FioEngine] = &[FioEngine::IoUring, FioEngine::IoUringCmd, FioEngine::Libaio];
const PVSYNC2: &[FioEngine] = &[FioEngine::Pvsync2];
const LIBAIO: &[FioEngine] = &[FioEngine::Libaio];
const DEFRAG: &[FioEngine] = &[FioEngine::E4defrag];
const CPUIO: &[FioEngine] = &[FioEngine::Cpuio];

pub(super) const OPTIONS: &[FioOption] = &[
    FioOption::new(
        "ioengine",
        FioKind::Text,
        "the I/O engine",
        engine,
        "--name=a --size=1m --ioengine=io_uring",
    )
    .default("psync"),
    FioOption::new(
        "iodepth",
        FioKind::from(1),
        "I/Os that are kept in flight",
        |job, value| value.u32(&mut job.queue.iodepth),
        "--name=a --size=1m --ioengine=io_uring --iodepth=32",
    )
    .default("1"),
    FioOption::new(
        "iodepth_batch",
        FioKind::INT,
        "I/Os that are submitted at a time; 0 is all",
        |job, value| value.u32(&mut job.queue.batch),
        "--name=a --size=1m --ioengine=io_uring --iodepth=32 --iodepth_batch=8",
    )
    .alias("iodepth_batch_submit")
    .default("1")
    .below("iodepth"),
    FioOption::new(
        "iodepth_batch_complete_min",
        FioKind::INT,
        "I/Os that are waited for at a time; 0 polls",
        |job, value| value.u32(&mut job.queue.batch_complete_min),
        "--name=a --size=1m --ioengine=io_uring --iodepth=32 --iodepth_batch_complete_min=4",
    )
    .alias("iodepth_batch_complete")
    .default("1")
    .below("iodepth"),
    FioOption::new(
        "iodepth_batch_complete_max",
        FioKind::INT,
        "I/Os that are taken at a time at most",
        |job, value| value.u32(&mut job.queue.batch_complete_max),
        "--name=a --size=1m --ioengine=io_uring --iodepth=32 --iodepth_batch_complete_max=16",
    )
    .below("iodepth"),
    FioOption::new(
        "iodepth_low",
        FioKind::INT,
        "the depth to which the queue drains before it is filled again",
        |job, value| value.u32(&mut job.queue.low),
        "--name=a --size=1m --ioengine=io_uring --iodepth=32 --iodepth_low=8",
    )
    .below("iodepth"),
    FioOption::new(
        "serialize_overlap",
        FioKind::Bool,
        "let an I/O wait for those in flight whose blocks it shares",
        |job, value| value.bool(&mut job.queue.serialize_overlap),
        "--name=a --rw=randwrite --size=1m --ioengine=io_uring --iodepth=8 --serialize_overlap=1",
    )
    .default("0")
    .below("iodepth"),
    FioOption::new(
        "io_submit_mode",
        FioKind::Word(FioSubmitMode::WORDS),
        "who submits I/Os; offload with a rate: I/Os are due at times of their own, and latency counts from then on",
        |job, value| value.choice(&mut job.queue.submit_mode, FioSubmitMode::of),
        "--name=a --size=1m --ioengine=io_uring --rate_iops=100 --io_submit_mode=offload",
    )
    .default("inline"),
];

/// Options that single engines have.
pub(super) const OF_ENGINES: &[FioOption] = &[
    FioOption::new(
        "hipri",
        FioKind::Flag,
        "poll for completions",
        |job, value| value.bool(&mut job.queue.engine_options.hipri),
        "--name=a --size=1m --ioengine=io_uring --direct=1 --hipri",
    )
    .of(&[FioEngine::IoUring, FioEngine::IoUringCmd, FioEngine::Pvsync2, FioEngine::Sg]),
    FioOption::new(
        "hipri_percentage",
        FioKind::PERCENT,
        "how many I/Os are polled for",
        |job, value| value.u32(&mut job.queue.engine_options.hipri_percentage),
        "--name=a --size=1m --ioengine=pvsync2 --direct=1 --hipri --hipri_percentage=50",
    )
    .default("100")
    .of(PVSYNC2),
    FioOption::new(
        "fixedbufs",
        FioKind::Flag,
        "register buffers with the ring",
        |job, value| value.bool(&mut job.queue.engine_options.fixedbufs),
        "--name=a --size=1m --ioengine=io_uring --fixedbufs",
    )
    .of(RING),
    FioOption::new(
        "registerfiles",
        FioKind::Flag,
        "register files with the ring",
        |job, value| value.bool(&mut job.queue.engine_options.registerfiles),
        "--name=a --size=1m --ioengine=io_uring --registerfiles",
    )
    .of(RING),
    FioOption::new(
        "sqthread_poll",
        FioKind::Flag,
        "let a thread of the kernel submit",
        |job, value| value.bool(&mut job.queue.engine_options.sqthread_poll),
        "--name=a --size=1m --ioengine=io_uring --sqthread_poll=1",
    )
    .of(RING),
    FioOption::new(
        "sqthread_poll_cpu",
        FioKind::INT,
        "the CPU of that thread",
        |job, value| value.some_u32(&mut job.queue.engine_options.sqthread_poll_cpu),
        "--name=a --size=1m --ioengine=io_uring --sqthread_poll --sqthread_poll_cpu=0",
    )
    .of(RING),
    FioOption::new(
        "nonvectored",
        FioKind::Number { unit: FioUnit::Bytes, least: -1, most: u32::MAX as i64 },
        "give each I/O one buffer and no vector",
        |job, value| {
            let vector = value.slots[0].filter(|number| *number >= 0);
            job.queue.engine_options.nonvectored = vector.map(|number| number != 0);
            Ok(())
        },
        "--name=a --size=1m --ioengine=io_uring --nonvectored=1",
    )
    .default("-1")
    .of(RING),
    FioOption::new(
        "uncached",
        FioKind::INT,
        "leave nothing in the cache",
        |job, value| value.bool(&mut job.queue.engine_options.uncached),
        "--name=a --size=1m --ioengine=pvsync2 --uncached=1",
    )
    .of(&[FioEngine::IoUring, FioEngine::IoUringCmd, FioEngine::Pvsync2]),
    FioOption::new(
        "nowait",
        FioKind::Bool,
        "let an I/O fail that would block",
        |job, value| value.bool(&mut job.queue.engine_options.nowait),
        "--name=a --size=1m --ioengine=pvsync2 --nowait=0",
    )
    .of(&[FioEngine::IoUring, FioEngine::IoUringCmd, FioEngine::Pvsync2, FioEngine::Libaio]),
    FioOption::new(
        "force_async",
        FioKind::INT,
        "hand every Nth I/O to a worker of the kernel",
        |job, value| value.u32(&mut job.queue.engine_options.force_async),
        "--name=a --size=1m --ioengine=io_uring --force_async=1",
    )
    .of(RING),
    FioOption::new(
        "userspace_reap",
        FioKind::Flag,
        "read completions in user space",
        |job, value| value.bool(&mut job.queue.engine_options.userspace_reap),
        "--name=a --size=1m --ioengine=libaio --userspace_reap",
    )
    .of(LIBAIO),
    FioOption::new(
        "libaio_vectored",
        FioKind::Bool,
        "give each I/O a vector",
        |job, value| value.bool(&mut job.queue.engine_options.vectored),
        "--name=a --size=1m --ioengine=libaio --libaio_vectored=1",
    )
    .of(LIBAIO),
    FioOption::new(
        "cmdprio_percentage",
        FioKind::PERCENT,
        "how many I/Os have a priority of their own",
        |job, value| value.three_u32(&mut job.queue.engine_options.cmdprio_percentage),
        "--name=a --size=1m --ioengine=io_uring --direct=1 --cmdprio_percentage=10",
    )
    .of(PRIORITIES),
    FioOption::new(
        "cmdprio_class",
        FioKind::between(1, 3),
        "the class of that priority",
        |job, value| value.three_u32(&mut job.queue.engine_options.cmdprio_class),
        "--name=a --size=1m --ioengine=io_uring --cmdprio_percentage=10 --cmdprio_class=1",
    )
    .of(PRIORITIES),
    FioOption::new(
        "cmdprio_hint",
        FioKind::between(0, 1023),
        "the hint of that priority",
        |job, value| value.three_u32(&mut job.queue.engine_options.cmdprio_hint),
        "--name=a --size=1m --ioengine=io_uring --cmdprio_percentage=10 --cmdprio_hint=1",
    )
    .of(PRIORITIES),
    FioOption::new(
        "cmdprio",
        FioKind::between(0, 7),
        "the level of that priority",
        |job, value| value.three_u32(&mut job.queue.engine_options.cmdprio),
        "--name=a --size=1m --ioengine=io_uring --cmdprio_percentage=10 --cmdprio=2",
    )
    .of(PRIORITIES),
    FioOption::new(
        "cmdprio_bssplit",
        FioKind::Text,
        "priorities by block size: SIZE/PERCENT[/CLASS/LEVEL]",
        |job, value| {
            let shares = shares::priorities(value.text(), value.kb_base)?;
            job.queue.engine_options.cmdprio_bssplit = shares;
            Ok(())
        },
        "--name=a --size=1m --ioengine=io_uring --direct=1 --cmdprio_bssplit=4k/10/1/0",
    )
    .of(PRIORITIES),
    FioOption::new(
        "thp",
        FioKind::INT,
        "ask for huge pages in the mapping",
        |job, value| value.bool(&mut job.queue.engine_options.thp),
        "--name=a --size=4m --ioengine=mmap --thp=1",
    )
    .of(&[FioEngine::Mmap]),
    FioOption::new(
        "cpuload",
        FioKind::INT,
        "how much of a CPU is used, in percent",
        |job, value| value.some_u32(&mut job.queue.engine_options.cpuload),
        "--name=a --ioengine=cpuio --cpuload=50 --runtime=1",
    )
    .of(CPUIO),
    FioOption::new(
        "cpumode",
        FioKind::Word(FioCpuMode::WORDS),
        "what it computes",
        |job, value| value.choice(&mut job.queue.engine_options.cpumode, FioCpuMode::of),
        "--name=a --ioengine=cpuio --cpuload=50 --cpumode=qsort --runtime=1",
    )
    .default("noop")
    .of(CPUIO),
    FioOption::new(
        "cpuchunks",
        FioKind::SHORT_MICROSECONDS,
        "how long it computes at a time, in microseconds",
        |job, value| value.time(&mut job.queue.engine_options.cpuchunks),
        "--name=a --ioengine=cpuio --cpuload=50 --cpuchunks=1000 --runtime=1",
    )
    .default("50000")
    .below("cpuload")
    .of(CPUIO),
    FioOption::new(
        "exit_on_io_done",
        FioKind::Bool,
        "end when all other jobs have",
        |job, value| value.bool(&mut job.queue.engine_options.exit_on_io_done),
        "--name=a --ioengine=cpuio --cpuload=50 --exit_on_io_done=1 --runtime=1",
    )
    .default("0")
    .of(CPUIO),
    FioOption::new(
        "stat_type",
        FioKind::Word(FioStatType::WORDS),
        "which call looks at a file",
        |job, value| value.choice(&mut job.queue.engine_options.stat_type, FioStatType::of),
        "--name=a --ioengine=filestat --nrfiles=8 --filesize=4k --stat_type=statx",
    )
    .default("stat")
    .of(&[FioEngine::Filestat, FioEngine::Dirstat]),
    FioOption::new(
        "donorname",
        FioKind::Text,
        "the file that gives its blocks to those of the job",
        |job, value| value.some_text(&mut job.queue.engine_options.donorname),
        "--name=a --rw=write --size=1m --ioengine=e4defrag --donorname=spare",
    )
    .of(DEFRAG),
    FioOption::new(
        "inplace",
        FioKind::between(0, 1),
        "allocate and free the blocks of that file for each I/O",
        |job, value| value.bool(&mut job.queue.engine_options.inplace),
        "--name=a --rw=write --size=1m --ioengine=e4defrag --donorname=spare --inplace=1",
    )
    .default("0")
    .of(DEFRAG),
    FioOption::idle(
        "readfua",
        FioKind::Bool,
        "set the FUA flag of read commands",
        FioStanding::Refused("leave it out: the block layer has no such reads"),
        "--name=a --size=1m --ioengine=io_uring --readfua=0",
    )
    .default("0")
    .of(&[FioEngine::IoUring, FioEngine::IoUringCmd, FioEngine::Sg]),
    FioOption::idle(
        "writefua",
        FioKind::Bool,
        "set the FUA flag of write commands",
        FioStanding::Refused("sync=dsync"),
        "--name=a --size=1m --ioengine=io_uring --writefua=0",
    )
    .default("0")
    .of(&[FioEngine::IoUring, FioEngine::IoUringCmd, FioEngine::Sg]),
];

/// `ioengine=io_uring`; what is behind a colon is for an external engine. Whether there is such an engine
/// is asked when the job is complete.
fn engine(job: &mut FioJob, value: &FioValue<'_>) -> Applied {
    let typed = value.text();
    let name = typed.split([':', ',']).next().unwrap_or_default();
    // Whatever begins with them, as there.
    let old = ["linuxaio", "aio"].iter().any(|old| name.starts_with(old));
    let name = if old { FioEngine::Libaio.word() } else { name };
    match FioEngine::of(name) {
        Some(engine) => {
            job.queue.engine = engine;
            job.queue.unknown_engine = None;
        }
        None => job.queue.unknown_engine = Some(typed.into()),
    }
    Ok(())
}
