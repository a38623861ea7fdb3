//! The way from a path down to the leaf, as a tree.

use crate::report::TerminalStyle;
use crate::report::heading::{capacity, mapper, mount_options};
use crate::report::paint::{Ink, columns, wrap};
use assay_plan::unit::{Bytes, KIB};
use assay_record::evidence::{
    LayerKind, Mount, PathKind, Survey, SurveyPlace, SurveyStep, SurveyedDevice,
};

/// Columns at which the facts begin at the latest.
const FACTS: usize = 40;
/// Columns that they have at the least.
const LEAST_FACTS: usize = 20;

/// The path, and below it all that it lies on, each with what is known of it.
pub(super) fn lines(survey: &Survey, style: TerminalStyle) -> Vec<String> {
    let mut rows = vec![(survey.path.clone(), root(survey))];
    for (at, step) in survey.steps.iter().enumerate() {
        let (name, facts) = match &step.place {
            SurveyPlace::Mount(mount) => {
                (format!("{} at {}", mount.kind, mount.point), mounted(mount))
            }
            SurveyPlace::Device(device) => (device_name(device), device_facts(device)),
        };
        rows.push((format!("{}{name}", branch(&survey.steps, at, style)), facts));
    }
    let most = FACTS.min(style.width.saturating_sub(4 + LEAST_FACTS));
    let widest = rows.iter().map(|(name, _)| columns(name)).filter(|width| *width <= most).max();
    let column = widest.unwrap_or(0) + 2;
    let dot = style.glyph(" · ", ", ");
    let mut lines = Vec::new();
    for (index, (name, facts)) in rows.into_iter().enumerate() {
        let ink = if index == 0 { Ink::Strong } else { Ink::Faint };
        lines.extend(row(&name, &facts.join(dot), column, ink, style));
    }
    lines
}

/// One row of the tree; facts that do not fit beside it stand beneath each other.
fn row(name: &str, facts: &str, column: usize, ink: Ink, style: TerminalStyle) -> Vec<String> {
    let room = style.width.saturating_sub(2 + column).max(LEAST_FACTS);
    let mut texts = wrap(facts, room).into_iter();
    // A long name keeps its line for itself.
    let beside = if columns(name) + 2 <= column { texts.next() } else { None };
    let name = match ink {
        Ink::Strong => style.paint(ink, &format!("{name:column$}")),
        _ => format!("{name:column$}"),
    };
    let mut lines = vec![format!("  {name}{}", beside.unwrap_or_default())];
    lines.extend(texts.map(|text| format!("  {:column$}{text}", "")));
    lines
}

/// The lines that lead from a step's parent to it.
fn branch(steps: &[SurveyStep], at: usize, style: TerminalStyle) -> String {
    let depth = steps[at].depth;
    let more = |depth: u32| {
        let below = steps[at + 1..].iter().map(|step| step.depth);
        below.take_while(|next| *next >= depth).any(|next| next == depth)
    };
    let mut text = String::new();
    for above in 0..depth {
        text.push_str(if more(above) { style.glyph("│  ", "|  ") } else { "   " });
    }
    text.push_str(if more(depth) {
        style.glyph("├─ ", "|- ")
    } else {
        style.glyph("└─ ", "`- ")
    });
    text
}

/// What the path is, and what this user may do there.
fn root(survey: &Survey) -> Vec<String> {
    let mut facts = vec![match (survey.kind, &survey.hidden) {
        (PathKind::File, _) => match &survey.file {
            Some(file) => format!("file of {}", file.size),
            None => "file".into(),
        },
        (PathKind::Folder, _) => "folder".into(),
        (PathKind::Device, _) => "block device".into(),
        (PathKind::Character, _) => "character device".into(),
        (PathKind::Stream, _) => "pipe, socket or terminal".into(),
        (PathKind::Missing, Some(_)) => {
            format!("not accessible to this user, judged by {}", survey.judged_by)
        }
        (PathKind::Missing, None) => format!("does not exist yet, judged by {}", survey.judged_by),
    }];
    if let Some(may) = survey.may.seen().filter(|_| survey.hidden.is_none()) {
        let may = match (may.read, may.write) {
            (true, true) => "read and write",
            (true, false) => "only read",
            (false, true) => "only write",
            (false, false) => "neither read nor write",
        };
        let what = if survey.kind == PathKind::Missing { "there" } else { "it" };
        facts.push(format!("this user may {may} {what}"));
    }
    facts
}

/// What is said of a mount: its source where that is no device, and the options that matter.
fn mounted(mount: &Mount) -> Vec<String> {
    let mut facts = Vec::new();
    if !mount.source.starts_with("/dev/") && mount.device.major == 0 && mount.source != mount.kind {
        facts.push(format!("source {}", mount.source));
    }
    facts.extend(mount_options(mount));
    let atime = ["noatime", "relatime", "nodiratime"];
    let eased = mount.options.split(',').find(|option| atime.contains(option));
    facts.extend(eased.map(String::from));
    facts
}

fn device_name(device: &SurveyedDevice) -> String {
    match &device.layer.partition {
        Some(partition) => format!("{partition} on {}", device.layer.name),
        None => device.layer.name.clone(),
    }
}

fn device_facts(device: &SurveyedDevice) -> Vec<String> {
    let layer = &device.layer;
    let mut facts = Vec::new();
    facts.extend(Some(layer.hardware.model.trim().to_string()).filter(|model| !model.is_empty()));
    match &layer.kind {
        LayerKind::Disk => {
            facts.extend(Some(layer.hardware.bus.clone()).filter(|bus| !bus.is_empty()));
        }
        LayerKind::Loop { file, direct, .. } => {
            let way = if *direct { "past" } else { "through" };
            facts.push(format!("loop device over {file}, {way} its page cache"));
        }
        LayerKind::Mapper { uuid } => facts.push(mapper(uuid).into()),
        LayerKind::Raid { level } => facts.push(level.clone()),
        LayerKind::Cache => facts.push("bcache".into()),
        LayerKind::Memory => facts.push("memory".into()),
        LayerKind::Network => facts.push("on another machine".into()),
    }
    facts.extend(layer.size.seen().map(|size| capacity(*size)));
    let queue = layer.queue.seen();
    if queue.is_some_and(|queue| queue.rotational == Some(true)) && spins(device) {
        facts.push("spinning".into());
    }
    if let Some(start) = device.partition.as_ref().and_then(|partition| partition.start) {
        facts.push(format!("begins at {}", exact(start)));
    }
    if let Some(offset) = device.loop_offset.filter(|offset| *offset > Bytes::ZERO) {
        facts.push(format!("begins {} into it", exact(offset)));
    }
    if device.read_only {
        facts.push("read-only".into());
    }
    facts
}

/// Virtual disks and loop devices often claim to spin.
fn spins(device: &SurveyedDevice) -> bool {
    matches!(device.layer.hardware.bus.as_str(), "sata" | "usb" | "scsi")
}

/// A place on a disk: one that is no whole number of KiB to the byte.
fn exact(place: Bytes) -> String {
    match place.0 % KIB {
        0 => place.to_string(),
        _ => format!("{} bytes", place.0),
    }
}
