//! What is verified, and which errors are borne.

use super::kind::FioKind;
use super::option::{FioOption, FioStanding};
use crate::dialect::fio::input::byte_pattern;
use crate::dialect::fio::input::cpus;
use crate::dialect::fio::input::value::{Applied, FioValue};
use crate::dialect::fio::job::{FioContinue, FioFault, FioJob, FioVerifyKind, FioVerifyPolicy};
use crate::dialect::fio::outcome::errno;

pub(super) const OPTIONS: &[FioOption] = &[
    FioOption::new(
        "verify",
        FioKind::Word(FioVerifyKind::WORDS),
        "write data that can be verified",
        |job, value| value.choice(&mut job.verify.kind, FioVerifyKind::of),
        "--name=a --rw=write --size=1m --verify=crc32c",
    )
    .default("0"),
    FioOption::new(
        "do_verify",
        FioKind::Bool,
        "read back and verify after the writes",
        |job, value| value.bool(&mut job.verify.do_verify),
        "--name=a --rw=write --size=1m --verify=crc32c --do_verify=0",
    )
    .default("1")
    .below("verify"),
    FioOption::new(
        "verify_only",
        FioKind::Flag,
        "write nothing, verify what was written before",
        |job, value| value.bool(&mut job.verify.verify_only),
        "--name=a --rw=write --size=1m --verify=crc32c --verify_only",
    ),
    FioOption::new(
        "verify_policy",
        FioKind::Words(FioVerifyPolicy::WORDS),
        "which writes are verified after a crash",
        |job, value| value.choice(&mut job.verify.policy, FioVerifyPolicy::of),
        "--name=a --rw=write --size=1m --verify=crc32c --verify_policy=completed",
    )
    .default("completed")
    .below("verify"),
    FioOption::idle(
        "verifysort",
        FioKind::Deprecated,
        "nothing any more",
        FioStanding::Noted("fio has no such option any more"),
        "--name=a --rw=write --size=1m --verify=crc32c --verifysort=1",
    ),
    FioOption::idle(
        "verifysort_nr",
        FioKind::Deprecated,
        "nothing any more",
        FioStanding::Noted("fio has no such option any more"),
        "--name=a --rw=write --size=1m --verify=crc32c --verifysort_nr=64",
    ),
    FioOption::new(
        "verify_interval",
        FioKind::from(96),
        "bytes between two headers",
        |job, value| value.u32(&mut job.verify.interval),
        "--name=a --rw=write --bs=8k --size=1m --verify=crc32c --verify_interval=4k",
    )
    .below("verify"),
    FioOption::new(
        "verify_offset",
        FioKind::from(48),
        "where in them the header stands",
        |job, value| value.u32(&mut job.verify.offset),
        "--name=a --rw=write --size=1m --verify=crc32c --verify_offset=512",
    )
    .below("verify"),
    FioOption::new(
        "verify_pattern",
        FioKind::Free,
        "what is behind the headers; %o is the offset of the block",
        verify_pattern,
        "--name=a --rw=write --size=1m --verify=pattern --verify_pattern=0xff%o",
    )
    .below("verify"),
    FioOption::new(
        "verify_pattern_interval",
        FioKind::INT,
        "bytes after which the pattern begins anew",
        |job, value| value.u32(&mut job.verify.pattern_interval),
        "--name=a --rw=write --size=1m --verify=pattern --verify_pattern=%o --verify_pattern_interval=512",
    )
    .default("0")
    .below("verify"),
    FioOption::new(
        "verify_fatal",
        FioKind::Bool,
        "end with the first wrong block",
        |job, value| value.bool(&mut job.verify.fatal),
        "--name=a --rw=write --size=1m --verify=crc32c --verify_fatal=1",
    )
    .default("0")
    .below("verify"),
    FioOption::new(
        "verify_dump",
        FioKind::Bool,
        "write a wrong block to a file",
        |job, value| value.bool(&mut job.verify.dump),
        "--name=a --rw=write --size=1m --verify=crc32c --verify_dump=1",
    )
    .default("0")
    .below("verify"),
    FioOption::new(
        "verify_async",
        FioKind::INT,
        "threads that verify",
        |job, value| value.u32(&mut job.verify.async_threads),
        "--name=a --rw=write --size=1m --verify=crc32c --verify_async=2",
    )
    .default("0")
    .below("verify"),
    FioOption::new(
        "verify_async_cpus",
        FioKind::Free,
        "their CPUs",
        |job, value| {
            job.verify.async_cpus = cpus::read("verify_async_cpus", value.text())?;
            Ok(())
        },
        "--name=a --rw=write --size=1m --verify=crc32c --verify_async=2 --verify_async_cpus=0-1",
    )
    .below("verify_async"),
    FioOption::new(
        "verify_backlog",
        FioKind::SIZE,
        "verify after so many blocks",
        |job, value| value.u64(&mut job.verify.backlog),
        "--name=a --rw=write --size=1m --verify=crc32c --verify_backlog=64",
    )
    .below("verify"),
    FioOption::new(
        "verify_backlog_batch",
        FioKind::INT,
        "so many blocks at a time",
        |job, value| value.u32(&mut job.verify.backlog_batch),
        "--name=a --rw=write --size=1m --verify=crc32c --verify_backlog=64 --verify_backlog_batch=8",
    )
    .below("verify"),
    FioOption::idle(
        "experimental_verify",
        FioKind::Bool,
        "verify without a list of what was written",
        FioStanding::Noted("what was written is found by its offset anyway"),
        "--name=a --rw=write --size=1m --verify=crc32c --experimental_verify=1",
    )
    .below("verify"),
    FioOption::new(
        "verify_state_load",
        FioKind::Bool,
        "read the state of a run that ended early",
        |job, value| value.bool(&mut job.verify.state_load),
        "--name=a --rw=read --size=1m --verify=crc32c --verify_state_load=0",
    )
    .below("verify"),
    FioOption::new(
        "verify_state_save",
        FioKind::Bool,
        "write that state",
        |job, value| value.bool(&mut job.verify.state_save),
        "--name=a --rw=write --size=1m --verify=crc32c --verify_state_save=0",
    )
    .default("1")
    .below("verify"),
    FioOption::new(
        "verify_write_sequence",
        FioKind::Bool,
        "compare the number of the write",
        |job, value| value.bool(&mut job.verify.write_sequence),
        "--name=a --rw=write --size=1m --verify=crc32c --verify_write_sequence=0",
    )
    .default("1")
    .below("verify"),
    FioOption::new(
        "verify_header_seed",
        FioKind::Bool,
        "compare the seed of the header",
        |job, value| value.bool(&mut job.verify.header_seed),
        "--name=a --rw=write --size=1m --verify=crc32c --verify_header_seed=0",
    )
    .default("1")
    .below("verify"),
    FioOption::new(
        "trim_percentage",
        FioKind::PERCENT,
        "how many verified blocks are trimmed",
        |job, value| value.u32(&mut job.verify.trim_percentage),
        "--name=a --rw=write --size=1m --verify=crc32c --trim_percentage=10",
    )
    .default("0")
    .below("verify"),
    FioOption::new(
        "trim_verify_zero",
        FioKind::Bool,
        "verify that trimmed blocks are zeros",
        |job, value| value.bool(&mut job.verify.trim_verify_zero),
        "--name=a --rw=write --size=1m --verify=crc32c --trim_percentage=10 --trim_verify_zero=0",
    )
    .default("1")
    .below("trim_percentage"),
    FioOption::new(
        "trim_backlog",
        FioKind::SIZE,
        "trim after so many blocks",
        |job, value| value.u64(&mut job.verify.trim_backlog),
        "--name=a --rw=write --size=1m --verify=crc32c --trim_percentage=10 --trim_backlog=64",
    )
    .below("trim_percentage"),
    FioOption::new(
        "trim_backlog_batch",
        FioKind::INT,
        "so many blocks at a time",
        |job, value| value.u32(&mut job.verify.trim_backlog_batch),
        "--name=a --rw=write --size=1m --verify=crc32c --trim_percentage=10 --trim_backlog=64 --trim_backlog_batch=8",
    )
    .below("trim_percentage"),
    FioOption::new(
        "continue_on_error",
        FioKind::Word(FioContinue::WORDS),
        "which errors do not end the job",
        continue_on_error,
        "--name=a --size=1m --continue_on_error=io",
    )
    .default("none"),
    FioOption::new(
        "ignore_error",
        FioKind::Free,
        "errors that are none: of reads,of writes,of verification",
        ignore_error,
        "--name=a --rw=write --size=1m --ignore_error=EIO,ENOSPC:EIO",
    )
    .below("rw"),
    FioOption::new(
        "error_dump",
        FioKind::Bool,
        "print each error that is none",
        |job, value| value.bool(&mut job.verify.error_dump),
        "--name=a --size=1m --ignore_error=EIO --error_dump=1",
    )
    .default("0"),
];

/// A pattern alone is `verify=pattern`.
fn verify_pattern(job: &mut FioJob, value: &FioValue<'_>) -> Applied {
    job.verify.pattern = byte_pattern::read("verify_pattern", value.text(), true, &value.files)?;
    if !job.is_set("verify") {
        job.verify.kind = FioVerifyKind::Pattern;
    }
    Ok(())
}

fn continue_on_error(job: &mut FioJob, value: &FioValue<'_>) -> Applied {
    let mut chosen = FioContinue::None;
    value.choice(&mut chosen, FioContinue::of)?;
    let borne = &mut job.verify.borne;
    borne.read = matches!(chosen, FioContinue::Read | FioContinue::Io | FioContinue::All);
    borne.write = matches!(chosen, FioContinue::Write | FioContinue::Io | FioContinue::All);
    borne.verify = matches!(chosen, FioContinue::Verify | FioContinue::All);
    Ok(())
}

/// `EIO:12,ENOSPC,EILSEQ`: an error that is listed does not end the job either.
fn ignore_error(job: &mut FioJob, value: &FioValue<'_>) -> Applied {
    let text = value.text.ok_or_else(|| FioFault::new("'ignore_error' has no value", "EIO"))?;
    let lists: Vec<&str> = text.trim().split(',').collect();
    if lists.len() > 3 {
        return Err(FioFault::line(
            "Illegal error type",
            "three lists at most: reads,writes,verify",
        ));
    }
    for (kind, list) in lists.into_iter().enumerate() {
        let mut errors = Vec::new();
        for name in list.split(':').take_while(|name| !name.is_empty()) {
            errors.push(errno::read(name).ok_or_else(|| {
                FioFault::line(
                    format!("Unknown error {name}, please use number value"),
                    "a name such as EIO, or its number",
                )
            })?);
        }
        if errors.is_empty() {
            continue;
        }
        let borne = &mut job.verify.borne;
        *[&mut borne.read, &mut borne.write, &mut borne.verify][kind] = true;
        job.verify.ignore_error[kind] = errors;
    }
    Ok(())
}
