//! Surprises of options that are fine alone and mean little together.

use crate::dialect::fio::job::names;
use crate::dialect::fio::job::{
    FioAmount, FioBlockShare, FioDirection, FioEngine, FioJob, FioNote, FioSteadyState,
    FioVerifyKind,
};

/// The surprises of a complete job. Words are those that were typed for it, or for its defaults.
pub fn notes(job: &FioJob) -> Vec<FioNote> {
    let mut notes = Vec::new();
    let mut note = |name: &str, made: String, meant: &str, instead: &str| {
        notes.push(FioNote::about(job, name, made, meant, instead));
    };
    let queue = &job.queue;
    if queue.iodepth > 1 && queue.engine.synchronous() && job.is_set("iodepth") {
        note(
            "iodepth",
            format!("one I/O in flight: ioengine={} waits for each", queue.engine.word()),
            &format!("{} I/Os in flight", queue.iodepth),
            &format!("ioengine=io_uring iodepth={}", queue.iodepth),
        );
    }
    if queue.engine == FioEngine::Libaio && queue.iodepth > 1 && !job.sync.direct {
        note(
            "iodepth",
            "hardly more than one I/O in flight: libaio waits for buffered I/O".into(),
            &format!("{} I/Os in flight", queue.iodepth),
            "direct=1",
        );
    }
    blocks(job, &mut note);
    files(job, &mut note);
    times(job, &mut note);
    verification(job, &mut note);
    notes
}

/// Where it and a job beside it, of those before it, write the same blocks of a file, and one of them verifies its own.
pub(super) fn written_over(job: &FioJob, before: &[FioJob]) -> Option<FioNote> {
    let verifies = |job: &FioJob| job.verify.kind != FioVerifyKind::None;
    let range = |job: &FioJob| match (job.target.offset, job.target.size) {
        (FioAmount::Bytes(offset), Some(FioAmount::Bytes(size))) => {
            (offset, offset.saturating_add(size))
        }
        _ => (0, u64::MAX),
    };
    let meets = |other: &&FioJob| {
        let shared = job.target.filenames.iter().any(|name| other.target.filenames.contains(name));
        let ((start, end), (from, to)) = (range(job), range(other));
        let writes = |job: &FioJob| job.pattern.rw.writes() && !job.verify.verify_only;
        let written = shared && writes(job) && writes(other) && start < to && from < end;
        written && (verifies(job) || verifies(other))
    };
    if job.schedule.stonewall || job.schedule.wait_for.is_some() {
        return None;
    }
    // Who waits for those before begins with those after.
    let start = before.iter().rposition(|job| job.schedule.stonewall).unwrap_or(0);
    let other = before[start..].iter().find(meets)?;
    Some(FioNote::about(
        job,
        "filename",
        format!("blocks that job '{}' writes at the same time", other.name),
        "verification of what each has written",
        "offset= and size= of a part for each, or a file for each, or stonewall",
    ))
}

fn blocks(job: &FioJob, note: &mut impl FnMut(&str, String, &str, &str)) {
    for name in ["bsrange", "bssplit"] {
        // A block size of [global] is one of the jobs that have nothing else.
        let Some((bs, other)) = job.typed("bs").zip(job.typed(name)) else { continue };
        let all = |direction: &FioDirection| {
            name == "bsrange" || !job.pattern.bssplit.of(*direction).is_empty()
        };
        if bs.global == other.global && job.directions().iter().all(all) {
            let made = format!("nothing: '{name}' decides about the block size");
            note("bs", made, &bs.typed, &format!("it without '{name}'"));
        }
    }
    for direction in job.directions() {
        if let Some(made) = shares_made(job.pattern.bssplit.of(direction)) {
            note("bssplit", made, "these shares", "shares that add up to 100");
            break;
        }
    }
    if job.sync.atomic && !job.sync.direct {
        note(
            "atomic",
            "buffered atomic writes".into(),
            "atomic writes around the cache",
            "direct=1",
        );
    }
}

/// What fio makes of shares that do not add up to 100: they are taken one after the other, and the last has the rest.
fn shares_made(blocks: &[FioBlockShare]) -> Option<String> {
    let sum: u32 = blocks.iter().map(|block| block.percent).sum();
    // Those that were left out were filled up, in whole percent.
    if blocks.is_empty() || (101 - blocks.len().min(100) as u32..=100).contains(&sum) {
        return None;
    }
    let mut rest = 100;
    let each = blocks.iter().enumerate().map(|(at, block)| {
        let last = at + 1 == blocks.len();
        let share = if last { rest } else { block.percent.min(rest) };
        rest -= share;
        format!("{} bytes in {share} %", block.bytes)
    });
    Some(format!("{}: the shares add up to {sum} %", each.collect::<Vec<_>>().join(", ")))
}

fn files(job: &FioJob, note: &mut impl FnMut(&str, String, &str, &str)) {
    let target = &job.target;
    let own = job.options.iter().filter(|typed| typed.name == "filename");
    let named: Vec<_> =
        own.map(|own| names::split(own.value.as_deref().unwrap_or_default())).collect();
    if named.last().is_some_and(|named| named.len() < target.filenames.len()) {
        note(
            "filename",
            format!("all of {}", target.filenames.join(", ")),
            "this file alone",
            "filename in the jobs only, not in [global]",
        );
    }
    let count = job.typed("nrfiles").and_then(|typed| typed.value.as_deref()?.parse().ok());
    if count.is_some_and(|count: usize| count != target.filenames.len())
        && !target.filenames.is_empty()
    {
        note(
            "nrfiles",
            format!("{} of the files that 'filename' names", target.nrfiles),
            "as many files",
            "directory in place of filename",
        );
    }
    let shared = !target.filenames.is_empty() && job.schedule.numjobs > 1;
    let apart = target.offset_increment != FioAmount::Bytes(0);
    if shared && !job.pattern.rw.random() && !apart && job.replay.read.is_none() {
        note(
            "numjobs",
            format!("{} clones that do the same blocks of the same file", job.schedule.numjobs),
            "a part of the file for each clone",
            "offset_increment=SIZE of a part",
        );
    }
}

fn times(job: &FioJob, note: &mut impl FnMut(&str, String, &str, &str)) {
    for direction in job.directions() {
        let (rate, block) = (*job.pace.rate.of(direction), *job.pattern.min_bs.of(direction));
        if rate > 0 && rate.saturating_mul(60) < block {
            note(
                "rate",
                format!("{rate} bytes a second, less than a block of {block} bytes in a minute"),
                &format!("{rate} MiB a second"),
                &format!("rate={rate}m"),
            );
            break;
        }
    }
    if job.is_set("time_based") && job.schedule.runtime.is_zero() {
        note("time_based", "nothing: there is no runtime".into(), "a time to run", "runtime=60s");
    }
    let limit = &job.schedule.steadystate;
    let of_latency = matches!(limit.criterion, FioSteadyState::Lat | FioSteadyState::LatSlope);
    if of_latency && !limit.percent && job.steady_rounds() > 0 {
        let (word, us) = (limit.criterion.word(), limit.limit);
        note(
            "steadystate",
            format!("a limit of {us} ns: fio takes its microseconds for nanoseconds"),
            &format!("{us} us"),
            &format!("steadystate={word}:{}us", us * 1000.0),
        );
    }
    let never = job.verify.kind != FioVerifyKind::None
        && job.schedule.time_based
        && job.pattern.rw.writes()
        && job.verify.do_verify
        && job.verify.backlog == 0
        && !job.reads_back_each_pass();
    if never {
        note(
            "verify",
            "no verification: writes take all of the runtime".into(),
            "verification of what is written",
            "size in place of time_based, or verify_backlog, or an engine with a queue",
        );
    }
}

fn verification(job: &FioJob, note: &mut impl FnMut(&str, String, &str, &str)) {
    let verify = &job.verify;
    let verified = verify.kind != FioVerifyKind::None && job.pattern.rw.writes();
    if verify.trim_percentage > 0 && (verify.trim_backlog == 0 || !verified) {
        note(
            "trim_percentage",
            "nothing: only blocks that are written to be verified are trimmed, and 'trim_backlog' says when"
                .into(),
            &format!("{} % of the blocks trimmed", verify.trim_percentage),
            "",
        );
    }
    if verify.kind == FioVerifyKind::None {
        return;
    }
    let shared = !job.target.filenames.is_empty() && job.schedule.numjobs > 1;
    let apart = job.target.offset_increment != FioAmount::Bytes(0);
    if shared && !apart && verified && job.pattern.rw.random() {
        note(
            "verify",
            format!("{} clones that write over what the others verify", job.schedule.numjobs),
            "verification of what each has written",
            "offset_increment=SIZE of a part, or a file for each",
        );
    }
    if verify.async_threads > 0 {
        note(
            "verify_async",
            "nothing: each job verifies what it reads itself".into(),
            &format!("{} threads that verify", verify.async_threads),
            "a job for each part of the file",
        );
    }
    if verify.dump {
        note(
            "verify_dump",
            "a message with the offset of a wrong block".into(),
            "files with what was read and what was expected",
            "dd to keep the block that the message names",
        );
    }
}
