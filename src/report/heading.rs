//! What the device is, in a few lines: the path, all that lies between it and the device, the
//! device itself, its limits, and how it was measured.

use std::io::{self, Write};

use super::TerminalStyle;
use super::fact::{self, PageFact, fact};
use super::figure::digits;
use super::paint::Ink;
use assay_plan::plan::{BlockWork, Caching, Durability, Plan, Work};
use assay_plan::unit::{Bandwidth, Bytes};
use assay_record::evidence::{
    BlockLayer, Direction, LayerKind, LeafKind, LimitValue, Limits, Mount, Subject,
};
use assay_record::record::Resolved;

/// Devices that are described; of larger arrays the rest is counted.
const MOST_DEVICES: usize = 3;

/// Lines of a page, and an empty one behind them.
///
/// # Errors
/// When they cannot be written.
pub fn put(lines: &[String], out: &mut dyn Write) -> io::Result<()> {
    for line in lines {
        writeln!(out, "{line}")?;
    }
    writeln!(out)
}

/// The whole heading, each line without its end.
pub fn lines(plan: &Plan, resolved: &Resolved, style: TerminalStyle) -> Vec<String> {
    let title = title(&plan.origin.dialect, &plan.origin.words);
    let mut lines = vec![style.paint(Ink::Strong, &title), String::new()];
    lines.extend(fact::lines(&facts(plan, resolved, style), style));
    lines
}

/// What stands below the title.
pub(super) fn facts(plan: &Plan, resolved: &Resolved, style: TerminalStyle) -> Vec<PageFact> {
    let mut facts = Vec::new();
    for subject in &resolved.subjects {
        let path_heading = PathHeading::of(subject);
        facts.push(fact("where", place(&path_heading, style)));
        facts.extend(devices(&path_heading.stack, style));
        facts.extend(
            subject.mount.seen().and_then(mount_options).map(|options| fact("mount", options)),
        );
    }
    facts.extend(resolved.limits.seen().into_iter().flat_map(throttles));
    facts.extend(how(plan, resolved).map(|how| fact("how", how)));
    facts.extend(resolved.notes.iter().map(|note| fact("note", style.voice().text(note))));
    facts
}

pub(super) fn title(verb: &str, words: &[String]) -> String {
    let mut title = format!("assay {verb}");
    for word in words {
        title.push(' ');
        if word.is_empty() || word.contains(|c: char| c.is_whitespace() || c == '\'') {
            title.push_str(&format!("'{}'", word.replace('\'', r"'\''")));
        } else {
            title.push_str(word);
        }
    }
    title
}

/// A path with what lies below it, whoever looked.
pub(super) struct PathHeading<'a> {
    /// The path as it was typed.
    pub path: &'a str,
    pub mount: Option<&'a Mount>,
    /// The devices below, the uppermost first.
    pub stack: Vec<&'a BlockLayer>,
    pub bottom: &'a LeafKind,
}

impl<'a> PathHeading<'a> {
    fn of(subject: &'a Subject) -> Self {
        Self {
            path: &subject.path,
            mount: subject.mount.seen(),
            stack: subject.stack.iter().collect(),
            bottom: &subject.bottom,
        }
    }
}

/// `/mnt/sd: ext4 on loop3 → file on ext4 on vda1 (virtio)`.
pub(super) fn place(path_heading: &PathHeading<'_>, style: TerminalStyle) -> String {
    let mut text = format!("{}: ", path_heading.path);
    if let Some(mount) = path_heading.mount {
        text.push_str(&mount.kind);
        if !path_heading.stack.is_empty() {
            text.push_str(" on ");
        }
    }
    text.push_str(&stack(&path_heading.stack, style));
    let (name, what) = match path_heading.bottom {
        LeafKind::Devices => {
            if let Some(mount) = path_heading.mount.filter(|mount| mount.point != path_heading.path)
            {
                text.push_str(&format!(", mounted at {}", mount.point));
            }
            return text;
        }
        LeafKind::Memory(name) => (name.as_str(), "memory, not a disk"),
        LeafKind::Remote(name) => (name.as_str(), "no disk visible from here"),
        LeafKind::Nothing(name) => (name.as_str(), "not storage"),
        LeafKind::Unknown(why) => (why.as_str(), "device unknown"),
    };
    // A special file is its own end.
    if name == path_heading.path {
        text = name.into();
    } else if !text.ends_with(name) {
        text.push_str(if text.ends_with(": ") { "" } else { ", " });
        text.push_str(name);
    }
    text.push_str(style.glyph(" — ", " - "));
    text.push_str(what);
    text
}

/// The devices from the file system down: `dm-0 (LUKS) → sda2 (sata)`.
fn stack(stack: &[&BlockLayer], style: TerminalStyle) -> String {
    let arrow = style.glyph(" → ", " -> ");
    let mut text = String::new();
    let mut level = None;
    for layer in stack {
        match level {
            None => {}
            Some(same) if same == layer.level => text.push_str(" + "),
            // A loop device rests on a file, and that on what the next layer is.
            Some(_) if text.ends_with(" on ") => {}
            Some(_) => text.push_str(arrow),
        }
        level = Some(layer.level);
        text.push_str(layer.partition.as_deref().unwrap_or(&layer.name));
        match &layer.kind {
            LayerKind::Disk if layer.leaf && !layer.hardware.bus.is_empty() => {
                text.push_str(&format!(" ({})", layer.hardware.bus));
            }
            LayerKind::Loop { on, .. } if layer.kind.over_file() => {
                let on = if on.is_empty() { "a file system" } else { on };
                text.push_str(&format!("{arrow}file on {on}"));
                if stack.iter().any(|below| below.level > layer.level) {
                    text.push_str(" on ");
                }
            }
            LayerKind::Disk | LayerKind::Loop { .. } => {}
            LayerKind::Mapper { uuid } => text.push_str(&format!(" ({})", mapper(uuid))),
            LayerKind::Raid { level } => text.push_str(&format!(" ({level})")),
            LayerKind::Cache => text.push_str(" (bcache)"),
            LayerKind::Memory => text.push_str(" (memory)"),
            LayerKind::Network => text.push_str(" (network)"),
        }
    }
    text
}

/// What a device-mapper uuid says about the device: LVM, LUKS, or its first word.
pub(super) fn mapper(uuid: &str) -> &str {
    let prefix = uuid.split('-').next().unwrap_or_default();
    match prefix {
        "CRYPT" => "encrypted",
        "mpath" => "multipath",
        "" => "mapped",
        other => other,
    }
}

/// Each device below the path that has something to say, the lowest last.
pub(super) fn devices(stack: &[&BlockLayer], style: TerminalStyle) -> Vec<PageFact> {
    let dot = style.glyph(" · ", ", ");
    let shown = stack.iter().take(MOST_DEVICES).map(|layer| device(layer).join(dot));
    let more = stack.len().saturating_sub(MOST_DEVICES);
    let rest = (more > 0).then(|| format!("and {more} more below"));
    fact::listed("device", shown.chain(rest))
}

/// What is known of one device.
fn device(layer: &BlockLayer) -> Vec<String> {
    let mut facts = vec![layer.name.clone()];
    let hardware = &layer.hardware;
    if !hardware.model.trim().is_empty() {
        facts.push(hardware.model.trim().to_string());
    }
    if !hardware.bus.is_empty() && hardware.bus != "loop" {
        facts.push(hardware.bus.clone());
    }
    if let LayerKind::Loop { direct: false, .. } = layer.kind {
        facts.push("through the page cache of its file".into());
    }
    if let Some(bytes) = layer.size.seen() {
        facts.push(capacity(*bytes));
    }
    // What is mapped onto other devices hands its requests on: the queue below it is what counts.
    let hands_on = matches!(layer.kind, LayerKind::Mapper { .. } | LayerKind::Raid { .. });
    if let Some(queue) = layer.queue.seen().filter(|_| !hands_on) {
        if queue.rotational == Some(true) && matches!(hardware.bus.as_str(), "sata" | "usb") {
            facts.push("spinning".into());
        }
        if let Some(scheduler) = &queue.scheduler {
            facts.push(format!("scheduler {scheduler}"));
        }
        match queue.write_cache.as_deref() {
            Some("write back") => facts.push("write-back cache".into()),
            Some("write through") => facts.push("write-through".into()),
            _ => {}
        }
    }
    facts
}

/// A device's size as its box has it, unless it is a round number of GiB.
pub(super) fn capacity(bytes: Bytes) -> String {
    const GB: f64 = 1e9;
    let gb = bytes.0 as f64 / GB;
    match gb {
        _ if gb < 1.0 || bytes.0.is_multiple_of(1 << 30) => bytes.to_string(),
        _ if gb < 999.5 => format!("{} GB", digits(gb)),
        _ => format!("{} TB", digits(gb / 1e3)),
    }
}

/// Mount options that change what a figure means. The usual ones say nothing.
pub(super) fn mount_options(mount: &Mount) -> Option<String> {
    const MATTER: [&str; 13] = [
        "ro",
        "sync",
        "dirsync",
        "discard",
        "nobarrier",
        "barrier=0",
        "strictatime",
        "nodatacow",
        "datacow",
        "dax",
        "direct_io",
        "lazytime",
        "volatile",
    ];
    const MATTER_WITH_VALUE: [&str; 10] = [
        "data=journal",
        "data=writeback",
        "compress",
        "commit=",
        "discard=",
        "dax=",
        "cache=",
        "fsync_mode=",
        "wsize=",
        "rsize=",
    ];
    let mut options: Vec<&str> = mount
        .options
        .split(',')
        .filter(|option| {
            MATTER.contains(option)
                || MATTER_WITH_VALUE.iter().any(|start| option.starts_with(start))
        })
        .collect();
    options.dedup();
    (!options.is_empty()).then(|| options.join(", "))
}

/// Limits of control groups on these devices: one for each device and group.
pub(super) fn throttles(limits: &Limits) -> Vec<PageFact> {
    let mut groups: Vec<(&str, &str, Vec<String>)> = Vec::new();
    for throttle in &limits.io {
        let folder = throttle.file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let way = match throttle.direction {
            Direction::Read => "reads",
            Direction::Write => "writes",
        };
        let limit = match throttle.limit {
            LimitValue::BytesPerSecond(rate) => format!("{way} at most {}", Bandwidth(rate as f64)),
            LimitValue::OpsPerSecond(rate) => format!("{way} at most {rate} IOPS"),
        };
        match groups.iter_mut().find(|(name, at, _)| *name == throttle.name && *at == folder) {
            Some((_, _, limits)) => limits.push(limit),
            None => groups.push((&throttle.name, folder, vec![limit])),
        }
    }
    let text = |(name, folder, limits): (&str, &str, Vec<String>)| {
        format!("{name}: {} (cgroup {folder})", limits.join(", "))
    };
    fact::listed("limited", groups.into_iter().map(text))
}

/// By which calls, whether past the page cache, and what a finished write promised.
fn how(plan: &Plan, resolved: &Resolved) -> Option<String> {
    let jobs = &resolved.jobs;
    let mut methods: Vec<&str> = jobs.iter().map(|job| job.method.name()).collect();
    methods.sort_unstable();
    methods.dedup();
    if methods.is_empty() {
        return None;
    }
    let mut text = methods.join(" and ");
    if jobs.iter().all(|job| job.method.without_io()) {
        text.push_str(", no I/O is done");
        return Some(text);
    }
    if jobs.iter().all(|job| job.caching == Caching::Direct) {
        text.push_str(", direct I/O");
        text.push_str(match direct(resolved) {
            Some(true) => "",
            Some(false) => " (but served from a cache)",
            None => " (not confirmed by the file system)",
        });
    } else if jobs.iter().all(|job| job.caching.through_memory()) {
        text.push_str(", through the page cache");
        if jobs.iter().all(|job| job.caching == Caching::DropBehind) {
            text.push_str(", dropped from it as it runs");
        }
        if direct(resolved) == Some(false) {
            text.push_str(": direct I/O is not real here");
        }
    } else {
        text.push_str(", partly through the page cache");
    }
    if let Some(promise) = promise(plan) {
        text.push_str(", ");
        text.push_str(promise);
    }
    Some(text)
}

/// Whether direct I/O is real on every path.
fn direct(resolved: &Resolved) -> Option<bool> {
    let mut real = Some(true);
    for subject in &resolved.subjects {
        match subject.direct.seen().and_then(|direct| direct.real()) {
            Some(true) => {}
            Some(false) => return Some(false),
            None => real = None,
        }
    }
    real
}

/// What the writes of the plan promise, when all promise the same.
fn promise(plan: &Plan) -> Option<&'static str> {
    // What makes the file for the others is not what the plan is about.
    let phases = plan.phases.iter().filter(|phase| plan.counts(&phase.name));
    let mut promises = phases.flat_map(|phase| &phase.jobs).filter_map(|job| match &job.work {
        Work::Blocks(BlockWork { durability, pattern, sync_file_range, .. })
            if pattern.mix.writes() =>
        {
            Some((*durability, sync_file_range.is_some()))
        }
        Work::Copy(copy) => Some((copy.durability(), false)),
        Work::Tree(tree) => Some((tree.durability, false)),
        Work::Blocks(_) => None,
    });
    let first = promises.next()?;
    if !promises.all(|other| other == first) {
        return None;
    }
    let (durability, written_out) = first;
    Some(match durability {
        Durability::None if written_out => "written back as it runs, not durable",
        Durability::None => "writes not flushed",
        Durability::OpenSync | Durability::OpenDsync => "every write durable",
        Durability::FsyncEvery(_) | Durability::FdatasyncEvery(_) => "flushed as it runs",
        Durability::FsyncBetween(_) | Durability::FdatasyncBetween(_) => {
            "flushed as it runs, not at the end"
        }
        Durability::FsyncAtEnd | Durability::FdatasyncAtEnd => "writes flushed inside the timing",
    })
}

#[cfg(test)]
mod tests {
    use super::super::fact::labelled;
    use super::*;

    #[test]
    fn labels_stand_apart_and_long_texts_are_wrapped() {
        let style = TerminalStyle { width: 40, ..TerminalStyle::default() };
        let lines = labelled("note", "one two three four five six seven eight nine ten", style);
        assert!(lines[0].starts_with("  note     one two"));
        assert!(lines[1].starts_with("           "));
        assert!(lines.iter().all(|line| line.len() <= 40));
    }

    #[test]
    fn mapped_devices_are_called_by_what_they_are() {
        assert_eq!(mapper("CRYPT-LUKS2-1234"), "encrypted");
        assert_eq!(mapper("LVM-abcd"), "LVM");
        assert_eq!(mapper(""), "mapped");
    }
}
