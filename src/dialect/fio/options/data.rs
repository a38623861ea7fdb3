//! What is written, and the memory that it is in.

use super::kind::FioKind;
use super::option::{FioOption, FioStanding};
use crate::dialect::fio::input::byte_pattern;
use crate::dialect::fio::input::value::{Applied, FioValue};
use crate::dialect::fio::job::{FioDedupeMode, FioFault, FioJob, FioMem};

pub(super) const OPTIONS: &[FioOption] = &[
    FioOption::new(
        "zero_buffers",
        FioKind::Flag,
        "write zeros",
        |job, value| value.bool(&mut job.data.zero_buffers),
        "--name=a --rw=write --size=1m --zero_buffers",
    ),
    FioOption::new(
        "refill_buffers",
        FioKind::Flag,
        "make new data for each write",
        |job, value| value.bool(&mut job.data.refill_buffers),
        "--name=a --rw=write --size=1m --refill_buffers",
    ),
    FioOption::new(
        "scramble_buffers",
        FioKind::Bool,
        "change a few words of each 512 bytes with each write",
        |job, value| value.bool(&mut job.data.scramble_buffers),
        "--name=a --rw=write --size=1m --scramble_buffers=0",
    )
    .default("1"),
    FioOption::new(
        "buffer_pattern",
        FioKind::Free,
        "write this: 0x and digits, a number, \"text\", 'file'",
        buffer_pattern,
        "--name=a --rw=write --size=1m --buffer_pattern=0xdeadbeef",
    ),
    FioOption::new(
        "buffer_compress_percentage",
        FioKind::PERCENT,
        "how much of what is written can be compressed away",
        |job, value| value.u32(&mut job.data.compress_percentage),
        "--name=a --rw=write --size=1m --buffer_compress_percentage=50",
    ),
    FioOption::new(
        "buffer_compress_chunk",
        FioKind::INT,
        "in pieces of this size",
        |job, value| value.u32(&mut job.data.compress_chunk),
        "--name=a --rw=write --size=1m --buffer_compress_percentage=50 --buffer_compress_chunk=4k",
    )
    .default("512")
    .below("buffer_compress_percentage"),
    FioOption::new(
        "dedupe_percentage",
        FioKind::PERCENT,
        "how many buffers are duplicates",
        |job, value| {
            // With it fio makes new data for each write.
            job.data.refill_buffers = true;
            value.u32(&mut job.data.dedupe_percentage)
        },
        "--name=a --rw=write --size=1m --dedupe_percentage=30",
    ),
    FioOption::new(
        "dedupe_global",
        FioKind::Bool,
        "let all jobs have one set of duplicates",
        |job, value| value.bool(&mut job.data.dedupe_global),
        "--name=a --rw=write --size=1m --dedupe_percentage=30 --dedupe_mode=working_set --dedupe_global=1",
    )
    .default("0"),
    FioOption::new(
        "dedupe_mode",
        FioKind::Word(FioDedupeMode::WORDS),
        "how duplicates are made",
        |job, value| value.choice(&mut job.data.dedupe_mode, FioDedupeMode::of),
        "--name=a --rw=write --size=1m --dedupe_percentage=30 --dedupe_mode=repeat",
    )
    .default("repeat")
    .below("dedupe_percentage"),
    FioOption::new(
        "dedupe_working_set_percentage",
        FioKind::PERCENT,
        "the size of the set, in percent of the file",
        |job, value| value.u32(&mut job.data.dedupe_working_set_percentage),
        "--name=a --rw=write --size=1m --dedupe_percentage=30 --dedupe_mode=working_set --dedupe_working_set_percentage=10",
    )
    .default("5")
    .below("dedupe_percentage"),
    FioOption::new(
        "mem",
        FioKind::Word(FioMem::WORDS),
        "what buffers are made of; a mapping may be of a file: mmap:FILE",
        mem,
        "--name=a --size=1m --mem=mmap",
    )
    .alias("iomem")
    .default("malloc"),
    FioOption::new(
        "iomem_align",
        FioKind::INT,
        "what buffers are aligned to",
        |job, value| value.u32(&mut job.data.iomem_align),
        "--name=a --size=1m --iomem_align=4k",
    )
    .alias("mem_align")
    .default("0")
    .below("iomem"),
    FioOption::new(
        "hugepage-size",
        FioKind::INT,
        "the size of a huge page",
        |job, value| value.u32(&mut job.data.hugepage_size),
        "--name=a --size=1m --hugepage-size=2m",
    )
    .default("4194304"),
    FioOption::new(
        "lockmem",
        FioKind::SIZE,
        "lock so much memory, so that the page cache has less",
        |job, value| value.u64(&mut job.data.lockmem),
        "--name=a --size=1m --lockmem=1m",
    )
    .default("0"),
    FioOption::idle(
        "gpu_dev_id",
        FioKind::INT,
        "the GPU for mem=cudamalloc",
        FioStanding::Noted("no memory of a GPU is used"),
        "--name=a --size=1m --gpu_dev_id=0",
    )
    .default("0"),
];

/// A pattern turns off what would change it, and is put there again where reads would.
fn buffer_pattern(job: &mut FioJob, value: &FioValue<'_>) -> Applied {
    let pattern = byte_pattern::read("buffer_pattern", value.text(), false, &value.files)?;
    job.data.pattern = pattern;
    job.data.refill_buffers = job.data.compress_percentage > 0 || job.pattern.rw.reads();
    job.data.scramble_buffers = false;
    job.data.zero_buffers = false;
    Ok(())
}

fn mem(job: &mut FioJob, value: &FioValue<'_>) -> Applied {
    value.choice(&mut job.data.mem, FioMem::of)?;
    let mapping = matches!(job.data.mem, FioMem::Mmap | FioMem::Mmapshared | FioMem::Mmaphuge);
    job.data.mem_file = value.postfix().filter(|_| mapping).map(String::from);
    match job.data.mem {
        FioMem::Cudamalloc if !value.dry => {
            Err(FioFault::new("buffers in the memory of a GPU are not done here", "mem=malloc"))
        }
        _ => Ok(()),
    }
}
