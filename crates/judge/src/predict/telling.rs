//! What a job does, in words; what its figure is about, and what it is not about.

use super::ends::{CopyEnds, SourceData, device};
use crate::words::names;
use assay_plan::name::NameText as _;
use assay_plan::plan::{
    Action, BlockWork, Caching, CopyCalls, Durability, Method, OffsetOrdering, Replay, Target,
    TreeWork,
};
use assay_plan::unit::Bytes;
use assay_record::evidence::{Direction, LeafKind, PathKind};
use assay_record::record::MeasuredSubject;
use assay_record::words::sentence;

// ------------------------------------------------------------------ a copy

/// What a copy does: where bytes come from, where they go, what is flushed, when the clock stops.
pub(super) fn copy(ends: &CopyEnds<'_>) -> Vec<String> {
    let mut said = vec![source(ends), target(ends)];
    if ends.copy.calls != CopyCalls::ReadWrite {
        said.push(format!("It copies with {}.", ends.copy.calls.name()));
    }
    if ends.subject().1 == Direction::Write {
        said.push(flush(ends));
    }
    said
}

fn source(ends: &CopyEnds<'_>) -> String {
    let copy = ends.copy;
    let name = copy.from.path.as_ref().map(|path| path.to_text());
    let name = name.unwrap_or_else(|| "standard input".into());
    let held = match ends.data() {
        SourceData::Zeros => "zeros ",
        SourceData::Random => "random data ",
        SourceData::Own => "",
    };
    let what = match ends.bytes() {
        Some(bytes) if held.is_empty() => format!("{bytes} from {name}"),
        Some(bytes) => format!("{bytes} of {held}from {name}"),
        None if held.is_empty() => format!("{name} to its end"),
        None => format!("{held}from {name}, endlessly,"),
    };
    let blocks = match ends.bytes().map(|bytes| bytes.0.div_ceil(copy.input_block.0.max(1))) {
        Some(1) => format!("in one block of {}", copy.input_block),
        Some(count) => format!("in {count} blocks of {}", copy.input_block),
        None => format!("in blocks of {}", copy.input_block),
    };
    let past = if copy.from.flags.direct { " with direct I/O" } else { "" };
    format!("Reads {what} {blocks}{past}.")
}

fn target(ends: &CopyEnds<'_>) -> String {
    let copy = ends.copy;
    let size = match copy.output_block == copy.input_block {
        true => String::new(),
        false => format!(" in blocks of {}", copy.output_block),
    };
    let how = match (copy.to.flags.direct, ends.to.map(|to| &to.bottom)) {
        (_, Some(LeafKind::Nothing(_))) => "",
        (true, _) => " with direct I/O",
        (false, _) => " through the page cache",
    };
    let Some(path) = copy.to.path.as_ref().map(|path| path.to_text()) else {
        return format!("Writes them{size} to standard output.");
    };
    match ends.to.map(|to| (to.kind, &to.bottom)) {
        Some((_, LeafKind::Nothing(_))) => {
            format!("Writes them{size} to {path}, which discards them.")
        }
        Some((PathKind::Device, _)) => format!(
            "Overwrites the device {path}{size}{how}: all data on it, including file systems, is lost."
        ),
        Some((PathKind::Missing, _)) => format!("Writes them{size} to the new file {path}{how}."),
        Some((PathKind::File, _)) if !copy.to.no_truncate && !copy.to.exclusive => {
            format!("Truncates the file {path} and writes them{size} there{how}.")
        }
        _ => format!("Writes them{size} to {path}{how}."),
    }
}

/// What is flushed, and so when the clock stops.
fn flush(ends: &CopyEnds<'_>) -> String {
    let both = ends.copy.flush.fsync && ends.copy.flush.fdatasync;
    match ends.copy.durability() {
        Durability::OpenSync | Durability::OpenDsync => {
            "Each write returns when its data is durable.".into()
        }
        Durability::FsyncEvery(_) => "An fsync after each block is inside the timing.".into(),
        _ if both => "An fdatasync and an fsync at the end are inside the timing.".into(),
        Durability::FsyncAtEnd => "One fsync at the end is inside the timing.".into(),
        Durability::FdatasyncAtEnd => "One fdatasync at the end is inside the timing.".into(),
        _ if ends.copy.to.flags.direct => {
            "The drive's write cache is not flushed before the clock stops.".into()
        }
        _ if ends.to.is_some_and(|to| to.kind == PathKind::Device) => {
            "No flush: closing the device may write out dirty pages.".into()
        }
        _ => "No flush: the clock stops when the last write returns.".into(),
    }
}

/// What the figure of a copy is about, and what it is not about.
pub(super) fn about_copy(ends: &CopyEnds<'_>, measures: MeasuredSubject) -> (String, String) {
    let (subject, direction) = ends.subject();
    let disk = subject.map_or_else(|| "the disk".to_string(), device);
    match subject.map(|subject| &subject.bottom) {
        Some(LeafKind::Memory(what)) => return (format!("memory: {what}"), "a disk".into()),
        Some(LeafKind::Remote(what)) => {
            return (format!("the path through {what}"), "the disk behind it".into());
        }
        _ => {}
    }
    if let Some(both) = instead_of_disk(measures, &disk, ends.bytes()) {
        return both;
    }
    let block = ends.copy.output_block;
    let pair = |is: String, not: &str| (is, not.to_string());
    if ends.read().is_some() && ends.written().is_some() {
        return pair(
            format!(
                "reading and writing in turn, at the speed of the slower end (writing to {disk})"
            ),
            "either end alone",
        );
    }
    match direction {
        Direction::Read if ends.copy.from.flags.direct => pair(
            format!("{disk}, one read of {block} in flight"),
            "peak speed, which needs a deeper queue; random reads",
        ),
        Direction::Read => pair(
            format!("sequential reads of {disk} in large requests, with read-ahead"),
            "random reads; reading the same data again",
        ),
        Direction::Write if ends.waits_each_time() && ends.writes() != Some(1) => pair(
            format!("the latency of a durable {block} write to {disk}"),
            "the throughput of large files",
        ),
        Direction::Write if ends.writes_direct() && !ends.durable() => pair(
            format!("{disk} with its write cache, one write of {block} in flight"),
            "peak speed; data that survives a power loss",
        ),
        Direction::Write if ends.writes_direct() => pair(
            format!("{disk}, one write of {block} in flight, flushed at the end"),
            "peak speed, which needs a deeper queue; random writes",
        ),
        Direction::Write if ends.durable() => pair(
            format!("how fast a large file gets to {disk} through the page cache, flush included"),
            "random or small durable writes; reads",
        ),
        Direction::Write => pair(
            format!("{disk}, as far as the close writes out dirty pages"),
            "data that survives a power loss",
        ),
    }
}

/// What a figure is about that is not about the disk.
fn instead_of_disk(
    measures: MeasuredSubject,
    disk: &str,
    bytes: Option<Bytes>,
) -> Option<(String, String)> {
    let amount = bytes.map_or_else(|| "what is written".to_string(), |bytes| bytes.to_string());
    let (is, not) = match measures {
        MeasuredSubject::Deferred => (
            format!("how fast memory takes {amount}"),
            format!("{disk}, which gets most or all of it after the clock has stopped"),
        ),
        MeasuredSubject::Mixed => (format!("memory and {disk} together"), format!("{disk} alone")),
        MeasuredSubject::Memory => ("the speed of the page cache".into(), disk.into()),
        MeasuredSubject::Layer => (
            format!("the layers between the program and {disk}"),
            format!("{disk}, which moves far fewer bytes than the result counts"),
        ),
        MeasuredSubject::NotADisk => {
            ("memory, or the path to another machine".into(), "a disk".into())
        }
        MeasuredSubject::Tool => {
            ("the program, its system calls and memory".into(), "any disk".into())
        }
        MeasuredSubject::Invalid => ("nothing: there will be no result".into(), disk.into()),
        MeasuredSubject::Unsure => ("unknown before the run".into(), format!("necessarily {disk}")),
        MeasuredSubject::Device
        | MeasuredSubject::Limited
        | MeasuredSubject::Unsteady
        | MeasuredSubject::Disturbed => {
            return None;
        }
    };
    Some((is, not))
}

// ------------------------------------------------------------------ blocks and trees

/// What a job of blocks does.
pub(super) fn blocks(blocks: &BlockWork, workers: u32) -> Vec<String> {
    let pattern = &blocks.pattern;
    let does: Vec<String> = pattern.mix.0.iter().map(|share| verb(share.action)).collect();
    let order = match pattern.order {
        _ if pattern.replay.is_some() => "one by one from a list",
        OffsetOrdering::Backward => "backward",
        _ if pattern.order.sequential() => "sequentially",
        _ => "at random",
    };
    if let Some(call) = blocks.method.call_without_data() {
        let moved = match blocks.method {
            Method::MoveExtents => "The kernel moves their data.",
            _ => "No data move.",
        };
        return vec![format!(
            "Calls {call} in place of I/O {order} {}, for blocks of {}. {moved}",
            place(&blocks.target),
            pattern.largest()
        )];
    }
    let past = match blocks.caching {
        Caching::Direct => "with direct I/O",
        Caching::DirectIfReal => "with direct I/O where possible",
        Caching::Buffered | Caching::DropBehind => "through the page cache",
    };
    let mut said = vec![format!(
        "{} {order} {}, in blocks of {}{}, {}, {past}.",
        sentence(&names(&does)),
        place(&blocks.target),
        if pattern.replay.is_some() { "up to " } else { "" },
        pattern.largest(),
        at_once(blocks, workers)
    )];
    if pattern.replay.as_ref().is_some_and(Replay::flushes) {
        said.push("The flushes of the list are inside the timing.".into());
    } else if pattern.mix.writes() {
        said.push(promise(blocks.promises()));
    }
    said
}

/// What an action does: `reads`, `trims`.
fn verb(action: Action) -> String {
    format!("{}s", action.name())
}

/// Where a job of blocks takes place.
fn place(target: &Target) -> String {
    match target {
        Target::File { path, .. } => format!("in the file {}", path.to_text()),
        Target::Scratch { dir, .. } => format!("in its own file in {}", dir.to_text()),
        Target::Files { named, count, .. } if !named.is_empty() => format!("in {count} files"),
        Target::Files { stem, count, .. } => format!("in {count} files named {stem}"),
        Target::Device { path, .. } => format!("on the device {}", path.to_text()),
        Target::Nowhere { .. } => "nowhere".into(),
    }
}

/// I/Os in flight: `one at a time`, `32 at once`.
fn at_once(blocks: &BlockWork, workers: u32) -> String {
    match in_flight(blocks, workers) {
        1 => "one in flight".into(),
        flight => format!("{flight} in flight"),
    }
}

fn in_flight(blocks: &BlockWork, workers: u32) -> u32 {
    let depth = if blocks.method.one_at_a_time() { 1 } else { blocks.iodepth.max(1) };
    depth.saturating_mul(workers)
}

/// What a write has promised.
fn promise(durability: Durability) -> String {
    match durability {
        Durability::None => "No flush inside the timing.".into(),
        Durability::OpenSync | Durability::OpenDsync => {
            "Each write returns when its data is durable.".into()
        }
        Durability::FsyncEvery(ops) | Durability::FdatasyncEvery(ops) => {
            let every =
                if ops.0 == 1 { "each write".into() } else { format!("every {} writes", ops.0) };
            format!("A flush after {every} is inside the timing.")
        }
        Durability::FsyncBetween(ops) | Durability::FdatasyncBetween(ops) => {
            let between =
                if ops.0 == 1 { "writes".into() } else { format!("each {} writes", ops.0) };
            format!("Flushes between {between} are inside the timing, and none after the last.")
        }
        Durability::FsyncAtEnd | Durability::FdatasyncAtEnd => {
            "One flush at the end is inside the timing.".into()
        }
    }
}

/// What a job on files does.
pub(super) fn tree(tree: &TreeWork, workers: u32) -> Vec<String> {
    let files = tree.files.saturating_mul(workers.into());
    let mut said = vec![format!(
        "{} {files} files below {}.",
        sentence(&verb(tree.action)),
        tree.dir.to_text()
    )];
    if tree.action.changes() {
        said.push(promise(tree.durability));
    }
    said
}

/// What the figure of a job of blocks is about.
pub(super) fn about_blocks(
    blocks: &BlockWork,
    workers: u32,
    disk: &str,
    measures: MeasuredSubject,
) -> (String, String) {
    if let Some(call) = blocks.method.call_without_data() {
        let is = format!("what the file system takes for {call}");
        return (is, format!("{disk}: no counter tells which of it the device does"));
    }
    if let Some(both) = instead_of_disk(measures, disk, None) {
        return both;
    }
    let way = match blocks.pattern.mix.0.as_slice() {
        [only] => verb(only.action),
        _ => "I/Os".into(),
    };
    let sequential = blocks.pattern.order.sequential();
    let order = match blocks.pattern.replay {
        Some(_) => "listed",
        None if sequential => "sequential",
        None => "random",
    };
    let not = match (in_flight(blocks, workers), sequential) {
        (0..=1, _) => "peak speed, which needs a deeper queue",
        (_, true) => "random access",
        (_, false) => "the latency of a single I/O; large files",
    };
    let block = blocks.pattern.largest();
    let is = format!("{disk}, {order} {way} of {block}, {}", at_once(blocks, workers));
    (is, not.into())
}

/// What the figure of a job on files is about.
pub(super) fn about_tree(
    tree: &TreeWork,
    disk: &str,
    measures: MeasuredSubject,
) -> (String, String) {
    instead_of_disk(measures, disk, None).unwrap_or_else(|| {
        let is =
            format!("how many files per second the file system on {disk} {}", verb(tree.action));
        (is, "the throughput of large files".into())
    })
}
