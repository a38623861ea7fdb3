//! What a job does, in words; what its figure is about, and what it is not about.

use super::ends::{Data, Ends, device};
use crate::evidence::{Bottom, Direction, PathKind};
use crate::plan::{Action, Blocks, Caching, CopyCalls, Durability, Order, Target, Tree};
use crate::record::Measures;
use crate::unit::Bytes;
use crate::verdict::words::{names, sentence};

// ------------------------------------------------------------------ a copy

/// What a copy does: where bytes come from, where they go, what is flushed, when the clock stops.
pub(super) fn copy(ends: &Ends<'_>) -> Vec<String> {
    let mut said = vec![source(ends), target(ends)];
    if ends.copy.calls != CopyCalls::ReadWrite {
        said.push(format!("It moves them by {}.", ends.copy.calls.name()));
    }
    if ends.subject().1 == Direction::Write {
        said.push(flush(ends));
    }
    said
}

fn source(ends: &Ends<'_>) -> String {
    let copy = ends.copy;
    let name = copy.from.path.as_ref().map(|path| path.display().to_string());
    let name = name.unwrap_or_else(|| "standard input".into());
    let held = match ends.data() {
        Data::Zeros => "zeros ",
        Data::Random => "random data ",
        Data::Own => "",
    };
    let what = match ends.bytes() {
        Some(bytes) if held.is_empty() => format!("{bytes} from {name}"),
        Some(bytes) => format!("{bytes} of {held}from {name}"),
        None if held.is_empty() => format!("{name} to its end"),
        None => format!("{held}from {name}, without end,"),
    };
    let blocks = match ends.bytes().map(|bytes| bytes.0.div_ceil(copy.input_block.0.max(1))) {
        Some(1) => format!("in one block of {}", copy.input_block),
        Some(count) => format!("in {count} blocks of {}", copy.input_block),
        None => format!("in blocks of {}", copy.input_block),
    };
    let past = if copy.from.flags.direct { ", past the page cache" } else { "" };
    format!("Reads {what} {blocks}{past}.")
}

fn target(ends: &Ends<'_>) -> String {
    let copy = ends.copy;
    let size = match copy.output_block == copy.input_block {
        true => String::new(),
        false => format!(" in blocks of {}", copy.output_block),
    };
    let how = match (copy.to.flags.direct, ends.to.map(|to| &to.bottom)) {
        (_, Some(Bottom::Nothing(_))) => "",
        (true, _) => ", past the page cache",
        (false, _) => ", through the page cache",
    };
    let Some(path) = copy.to.path.as_ref().map(|path| path.display()) else {
        return format!("Writes them{size} to standard output.");
    };
    match ends.to.map(|to| (to.kind, &to.bottom)) {
        Some((_, Bottom::Nothing(_))) => {
            format!("Writes them{size} to {path}, which keeps nothing.")
        }
        Some((PathKind::Device, _)) => format!(
            "Overwrites the device {path}{size}{how}: what it holds there, file systems and all, is lost."
        ),
        Some((PathKind::Missing, _)) => format!("Writes them{size} to the new file {path}{how}."),
        Some((PathKind::File, _)) if !copy.to.no_truncate && !copy.to.exclusive => {
            format!("Empties the file {path}, and writes them{size} there{how}.")
        }
        _ => format!("Writes them{size} to {path}{how}."),
    }
}

/// What is flushed, and so when the clock stops.
fn flush(ends: &Ends<'_>) -> String {
    let both = ends.copy.flush.fsync && ends.copy.flush.fdatasync;
    match ends.copy.durability() {
        Durability::OpenSync | Durability::OpenDsync => {
            "Each write returns when its data are durable.".into()
        }
        Durability::FsyncEvery(_) => "An fsync follows each block, inside the time.".into(),
        _ if both => "An fdatasync and an fsync at the end are inside the time.".into(),
        Durability::FsyncAtEnd => "One fsync at the end is inside the time.".into(),
        Durability::FdatasyncAtEnd => "One fdatasync at the end is inside the time.".into(),
        _ if ends.copy.to.flags.direct => {
            "Nothing empties the drive's own cache before the clock stops.".into()
        }
        _ if ends.to.is_some_and(|to| to.kind == PathKind::Device) => {
            "Nothing is flushed: the close of the device may write out what memory holds.".into()
        }
        _ => "Nothing is flushed: the clock stops when the last write has returned.".into(),
    }
}

/// What the figure of a copy is about, and what it is not about.
pub(super) fn about_copy(ends: &Ends<'_>, measures: Measures) -> (String, String) {
    let (subject, direction) = ends.subject();
    let disk = subject.map_or_else(|| "the disk".to_string(), device);
    match subject.map(|subject| &subject.bottom) {
        Some(Bottom::Memory(what)) => return (format!("memory: {what}"), "a disk".into()),
        Some(Bottom::Remote(what)) => {
            return (format!("the way through {what}"), "the disk behind it".into());
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
                "reading and writing in turn, at the pace of the slower of the two ends ({disk} is written)"
            ),
            "either end alone",
        );
    }
    match direction {
        Direction::Read if ends.copy.from.flags.direct => pair(
            format!("{disk}, with one read of {block} under way at a time"),
            "its maximum, which takes more I/Os in flight; random reads",
        ),
        Direction::Read => pair(
            format!("{disk} as read-ahead reads it: in order, in large requests"),
            "random reads; the same bytes a second time",
        ),
        Direction::Write if ends.waits_each_time() && ends.writes() != Some(1) => pair(
            format!("the time in which {disk} makes {block} durable, again and again"),
            "the rate of writing large files",
        ),
        Direction::Write if ends.writes_direct() && !ends.durable() => pair(
            format!("{disk} and its own cache, with one write of {block} under way at a time"),
            "its maximum; what would survive a loss of power",
        ),
        Direction::Write if ends.writes_direct() => pair(
            format!("{disk}, with one write of {block} under way at a time, flushed at the end"),
            "its maximum, which takes more I/Os in flight; random writes",
        ),
        Direction::Write if ends.durable() => pair(
            format!("how soon a large file is safe on {disk}: through memory, flush included"),
            "random or small durable writes; reads",
        ),
        Direction::Write => pair(
            format!("{disk}, as far as the close writes out what memory held"),
            "what would survive a loss of power",
        ),
    }
}

/// What a figure is about that is not about the disk.
fn instead_of_disk(
    measures: Measures,
    disk: &str,
    bytes: Option<Bytes>,
) -> Option<(String, String)> {
    let amount = bytes.map_or_else(|| "what is written".to_string(), |bytes| bytes.to_string());
    let (is, not) = match measures {
        Measures::Deferred => (
            format!("how fast memory takes {amount}"),
            format!("{disk}: most or all of it gets there after the clock has stopped"),
        ),
        Measures::Mixed => (format!("memory and {disk} together"), format!("{disk} alone")),
        Measures::Memory => ("how fast memory gives what it holds".into(), disk.into()),
        Measures::Layer => (
            format!("what lies between the program and {disk}"),
            format!("{disk}: far fewer bytes reach it than the figure counts"),
        ),
        Measures::NotADisk => ("memory, or the way to another machine".into(), "a disk".into()),
        Measures::Tool => ("the program, its system calls and memory".into(), "any disk".into()),
        Measures::Invalid => ("nothing: there will be no figure".into(), disk.into()),
        Measures::Unsure => {
            ("something that can not be named beforehand".into(), format!("surely {disk}"))
        }
        Measures::Device | Measures::Limited | Measures::Unsteady | Measures::Disturbed => {
            return None;
        }
    };
    Some((is, not))
}

// ------------------------------------------------------------------ blocks and trees

/// What a job of blocks does.
pub(super) fn blocks(blocks: &Blocks, workers: u32) -> Vec<String> {
    let pattern = &blocks.pattern;
    let does: Vec<String> = pattern.mix.0.iter().map(|share| verb(share.action)).collect();
    let order = match pattern.order {
        Order::Backward => "backward",
        _ if pattern.order.sequential() => "in order",
        _ => "at random",
    };
    let past = match blocks.caching {
        Caching::Direct => "past the page cache",
        Caching::DirectIfReal => "past the page cache where that is possible",
        Caching::Buffered | Caching::DropBehind => "through the page cache",
    };
    let mut said = vec![format!(
        "{} {order} {}, in blocks of {}, {}, {past}.",
        sentence(&names(&does)),
        place(&blocks.target),
        pattern.largest(),
        at_once(blocks, workers)
    )];
    if pattern.mix.writes() {
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
        Target::File { path, .. } => format!("in the file {}", path.display()),
        Target::Scratch { dir, .. } => format!("in a file of its own in {}", dir.display()),
        Target::Files { stem, count, .. } => format!("in {count} files named {stem}"),
        Target::Device { path, .. } => format!("on the device {}", path.display()),
        Target::Nowhere { .. } => "nowhere".into(),
    }
}

/// I/Os in flight: `one at a time`, `32 at once`.
fn at_once(blocks: &Blocks, workers: u32) -> String {
    match in_flight(blocks, workers) {
        1 => "one at a time".into(),
        flight => format!("{flight} at once"),
    }
}

fn in_flight(blocks: &Blocks, workers: u32) -> u32 {
    let depth = if blocks.method.one_at_a_time() { 1 } else { blocks.iodepth.max(1) };
    depth.saturating_mul(workers)
}

/// What a write has promised.
fn promise(durability: Durability) -> String {
    match durability {
        Durability::None => "Nothing is flushed inside the time.".into(),
        Durability::OpenSync | Durability::OpenDsync => {
            "Each write returns when its data are durable.".into()
        }
        Durability::FsyncEvery(ops) | Durability::FdatasyncEvery(ops) => {
            let every =
                if ops.0 == 1 { "each write".into() } else { format!("every {} writes", ops.0) };
            format!("A flush follows after {every}, inside the time.")
        }
        Durability::FsyncAtEnd | Durability::FdatasyncAtEnd => {
            "One flush at the end is inside the time.".into()
        }
    }
}

/// What a job on files does.
pub(super) fn tree(tree: &Tree, workers: u32) -> Vec<String> {
    let files = tree.files.saturating_mul(workers.into());
    let mut said = vec![format!(
        "{} {files} files below {}.",
        sentence(&verb(tree.action)),
        tree.dir.display()
    )];
    if tree.action.changes() {
        said.push(promise(tree.durability));
    }
    said
}

/// What the figure of a job of blocks is about.
pub(super) fn about_blocks(
    blocks: &Blocks,
    workers: u32,
    disk: &str,
    measures: Measures,
) -> (String, String) {
    if let Some(both) = instead_of_disk(measures, disk, None) {
        return both;
    }
    let way = match blocks.pattern.mix.0.as_slice() {
        [only] => verb(only.action),
        _ => "I/Os".into(),
    };
    let sequential = blocks.pattern.order.sequential();
    let order = if sequential { "in order" } else { "at random" };
    let not = match (in_flight(blocks, workers), sequential) {
        (0..=1, _) => "its maximum, which takes more I/Os in flight",
        (_, true) => "random access",
        (_, false) => "the time of one I/O alone; large files",
    };
    let block = blocks.pattern.largest();
    let is = format!("{disk}, with {way} of {block} {order}, {}", at_once(blocks, workers));
    (is, not.into())
}

/// What the figure of a job on files is about.
pub(super) fn about_tree(tree: &Tree, disk: &str, measures: Measures) -> (String, String) {
    instead_of_disk(measures, disk, None).unwrap_or_else(|| {
        let is = format!("how often the file system on {disk} {} a file", verb(tree.action));
        (is, "how fast the data of large files move".into())
    })
}
