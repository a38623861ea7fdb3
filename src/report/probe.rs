//! What a probe saw: the way from the path to the leaf as a tree, the settings that can change a
//! figure, what could not be seen, and what would bite.

mod tree;

use std::io::{self, Write};

use super::fact;
use super::fact::labelled;
use super::heading::throttles;
use super::paint::Ink;
use super::{TerminalStyle, traps};
use assay_plan::name::quoted;
use assay_plan::unit::{Bandwidth, Bytes};
use assay_record::evidence::{
    CardInfo, FileLayout, LayerKind, LeafKind, Link, PathKind, Survey, SurveyedDevice,
};
use assay_record::record::{Finding, JsonLayout, NextStep, ProbeResult, write_json};

pub fn json(probe: &ProbeResult, out: &mut dyn Write) -> io::Result<()> {
    write_json(probe, JsonLayout::Indented, out)?;
    out.write_all(b"\n")
}

/// The probe as a page.
pub fn text(probe: &ProbeResult, style: TerminalStyle, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = tree::lines(&probe.survey, style);
    lines.push(String::new());
    lines.extend(settings(probe, style));
    lines.extend(unseen(&probe.survey, style));
    lines.push(String::new());
    lines.extend(bites(&probe.findings, style));
    lines.push(String::new());
    lines.extend(next(&probe.next, style));
    for line in lines {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

// ------------------------------------------------------------------ the settings

/// All settings that can change a figure, a line or two each.
fn settings(probe: &ProbeResult, style: TerminalStyle) -> Vec<String> {
    let survey = &probe.survey;
    let mut lines = Vec::new();
    let mut add = |label: &str, texts: Vec<String>| {
        for (index, text) in texts.iter().enumerate() {
            lines.extend(labelled(if index == 0 { label } else { "" }, text, style));
        }
    };
    add("space", space(survey).into_iter().collect());
    add("file", survey.file.iter().map(file).collect());
    add("direct", direct(survey).into_iter().collect());
    // What is mapped onto other devices hands its requests on: the queue below it is what counts.
    let hands_on = |device: &&SurveyedDevice| {
        !matches!(device.layer.kind, LayerKind::Mapper { .. } | LayerKind::Raid { .. })
    };
    let each = |words: fn(&SurveyedDevice) -> Option<String>| -> Vec<String> {
        let devices = survey.devices().filter(hands_on);
        devices
            .filter_map(|device| Some(format!("{}: {}", device.layer.name, words(device)?)))
            .collect()
    };
    add("queue", each(queue));
    add("sectors", each(sectors));
    add("cache", each(cache));
    add("link", each(links));
    let mut cards = each(|device| device.card.as_ref().map(card));
    let claims =
        |device: &SurveyedDevice| device.card.as_ref().is_some_and(|card| card.claims.is_some());
    if survey.kind == PathKind::Folder && survey.devices().any(claims) {
        cards.push(format!("to grade it here: assay card {}", quoted(&survey.path)));
    }
    add("card", cards);
    add("dirty", dirty(survey).into_iter().collect());
    if let Some(limits) = survey.limits.seen() {
        lines.extend(fact::lines(&throttles(limits), style));
        let memory = limits.memory.map(|memory| format!("memory limit {memory}"));
        let cpus = limits.cpus.map(|cpus| format!("CPU limit {cpus:.2}"));
        let both: Vec<String> = memory.into_iter().chain(cpus).collect();
        if !both.is_empty() {
            let label = if limits.io.is_empty() { "limited" } else { "" };
            lines.extend(labelled(label, &format!("this process: {}", both.join(", ")), style));
        }
    }
    lines.extend(labelled("machine", &machine(probe), style));
    lines
}

fn space(survey: &Survey) -> Option<String> {
    let space = survey.space.seen().filter(|space| space.total > Bytes::ZERO)?;
    let mut text = format!("{} free of {}", space.free, space.total);
    if let Some(inodes) = survey.inodes.seen().filter(|inodes| inodes.total > 0) {
        text.push_str(&format!(", {} inodes free of {}", inodes.free, inodes.total));
    }
    text.push_str(&format!(", blocks of {}", space.block));
    Some(text)
}

/// How a file lies: `20 MiB in 3 extents, 4 MiB never written, 8 MiB in memory`.
fn file(file: &FileLayout) -> String {
    let mut parts = Vec::new();
    if let Some(extents) = file.extents.seen() {
        let s = if extents.count == 1 { "" } else { "s" };
        parts.push(format!("{} extent{s}", extents.count));
        for (bytes, what) in [
            (extents.empty(), "never written"),
            (extents.delayed, "not yet on disk"),
            (extents.encoded, "compressed or encoded"),
            (extents.shared, "shared with other files"),
        ] {
            if bytes > Bytes::ZERO {
                parts.push(format!("{} {what}", bytes.min(file.size)));
            }
        }
    }
    if let Some(pages) = file.cached.seen() {
        parts.push(match pages.resident {
            Bytes::ZERO => "not in the page cache".into(),
            resident => format!("{} in the page cache", resident.min(file.size)),
        });
    }
    parts.join(", ")
}

fn direct(survey: &Survey) -> Option<String> {
    let align = survey.direct.seen()?;
    Some(match align.offset {
        0 => "not supported by the file system".into(),
        offset => format!(
            "in multiples of {}, from memory aligned to {}",
            Bytes(offset.into()),
            Bytes(align.memory.into())
        ),
    })
}

fn queue(device: &SurveyedDevice) -> Option<String> {
    let queue = device.layer.queue.seen()?;
    let mut parts = Vec::new();
    parts.extend(queue.scheduler.as_ref().map(|name| format!("scheduler {name}")));
    parts.extend(queue.nr_requests.map(|n| format!("{n} requests")));
    parts.extend(queue.max_sectors_kb.map(|kib| format!("each at most {}", Bytes::kib(kib))));
    parts.extend(queue.read_ahead_kb.map(|kib| format!("read-ahead {}", Bytes::kib(kib))));
    let throttled = queue.wbt_lat_usec.filter(|target| *target > 0);
    parts.extend(throttled.map(|us| format!("writeback throttled at {} ms", us / 1000)));
    parts.extend(device.layer.is_uncounted().then(|| "I/O statistics off".to_string()));
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn sectors(device: &SurveyedDevice) -> Option<String> {
    let (layer, queue) = (&device.layer, device.layer.queue.seen()?);
    let mut parts = Vec::new();
    parts.extend(layer.logical_sector().map(|size| format!("{size} logical")));
    parts.extend(layer.physical_sector().map(|size| format!("{size} physical")));
    let optimal = queue.optimal_io_size.filter(|size| *size > 0);
    parts.extend(optimal.map(|size| format!("{} optimal", Bytes(size))));
    parts.extend(layer.zones().map(|zones| format!("zones {zones}")));
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn cache(device: &SurveyedDevice) -> Option<String> {
    let queue = device.layer.queue.seen()?;
    let cache = queue.write_cache.as_ref()?;
    let forced = match queue.fua {
        Some(true) => ", FUA supported",
        Some(false) if device.layer.writes_back() => ", volatile until flushed",
        _ => "",
    };
    let discards = if device.layer.can_trim() { ", discard supported" } else { "" };
    Some(format!("{cache}{forced}{discards}"))
}

fn links(device: &SurveyedDevice) -> Option<String> {
    let links: Vec<String> = device.links.iter().filter_map(link).collect();
    (!links.is_empty()).then(|| links.join(", behind "))
}

fn link(link: &Link) -> Option<String> {
    let mode = link.mode.seen()?;
    let driver = link.driver.as_ref().map(|name| format!(" by {name}")).unwrap_or_default();
    let most = link.ceiling.map(|rate| format!(", at most {}", Bandwidth(rate as f64)));
    Some(format!("{mode}{driver}{}", most.unwrap_or_default()))
}

fn card(card: &CardInfo) -> String {
    let mut parts = vec![card.kind.clone()];
    let claims = card.claims.map(|claims| claims.words()).filter(|words| !words.is_empty());
    parts.extend(claims.map(|words| format!("claims {words}")));
    parts.extend(card.specification.as_ref().map(|version| format!("specification {version}")));
    parts.extend(card.capacity.map(|bytes| format!("{bytes} by its register")));
    parts.extend(card.made.as_ref().map(|month| format!("made {month}")));
    parts.extend(card.erase.map(|erase| format!("erases {erase} at a time")));
    parts.extend(card.life.map(|life| match life {
        1..=10 => format!("{} to {} % of life used", (life - 1) * 10, life * 10),
        _ => "life used up".into(),
    }));
    parts.extend(card.queue.map(|on| if on { "command queue" } else { "no command queue" }.into()));
    parts.join(", ")
}

fn dirty(survey: &Survey) -> Option<String> {
    let through_memory = !matches!(survey.bottom, LeafKind::Memory(_) | LeafKind::Nothing(_));
    let writeback = survey.writeback.seen().filter(|_| through_memory)?;
    let age = writeback.expire.map(|age| format!(" or after {} s", age.as_secs()));
    let set = match writeback.setting.as_str() {
        "" => String::new(),
        setting => format!(" ({setting})"),
    };
    Some(format!(
        "writeback starts at {}{}, writers are throttled at {}{set}",
        writeback.background,
        age.unwrap_or_default(),
        writeback.limit
    ))
}

fn machine(probe: &ProbeResult) -> String {
    let machine = &probe.machine;
    let s = if machine.cpus == 1 { "" } else { "s" };
    let mut parts = vec![
        format!("Linux {}", machine.kernel),
        machine.architecture.clone(),
        format!("{} CPU{s}", machine.cpus),
    ];
    parts.extend(machine.memory.seen().map(|bytes| format!("{bytes} memory")));
    parts.extend(machine.virtual_machine.filter(|yes| *yes).map(|_| "virtual machine".into()));
    parts.extend(machine.clock.source.seen().map(|source| format!("clock {source}")));
    let governors = probe.survey.governors.seen().map(|all| all.join(" and "));
    parts.extend(governors.map(|all| format!("governor {all}")));
    parts.join(", ")
}

// ------------------------------------------------------------------ the unseen

/// What could not be seen, with the reason.
fn unseen(survey: &Survey, style: TerminalStyle) -> Vec<String> {
    let mut reasons: Vec<&str> = Vec::new();
    reasons.extend(survey.hidden.as_deref());
    let stored = !matches!(survey.kind, PathKind::Device | PathKind::Character | PathKind::Stream);
    if stored {
        reasons.extend(survey.space.why());
    }
    let on_disk = matches!(survey.bottom, LeafKind::Devices | LeafKind::Unknown(_));
    if on_disk {
        reasons.extend(survey.direct.why());
    }
    if let Some(file) = &survey.file {
        reasons.extend([file.extents.why(), file.cached.why()].into_iter().flatten());
    }
    for device in survey.devices() {
        reasons.extend(device.layer.size.why());
        reasons.extend(device.layer.queue.why());
        reasons.extend(device.links.iter().filter_map(|link| link.mode.why()));
    }
    reasons.extend(survey.limits.why());
    reasons.extend(survey.writeback.why());
    reasons.extend(survey.swap.why());
    reasons.extend(survey.governors.why());
    reasons.extend(survey.warmth.why());
    let mut lines = Vec::new();
    for (index, reason) in reasons.iter().enumerate() {
        if !reasons[..index].contains(reason) {
            let label = if lines.is_empty() { "unseen" } else { "" };
            lines.extend(labelled(label, reason, style));
        }
    }
    lines
}

// ------------------------------------------------------------------ the traps

/// What would bite, the worst first, each with what helps.
fn bites(findings: &[Finding], style: TerminalStyle) -> Vec<String> {
    if findings.is_empty() {
        return vec!["  Nothing seen here would skew results.".into()];
    }
    let mut lines = vec![style.paint(Ink::Strong, "  Things that can skew results here:")];
    for finding in findings {
        lines.extend(traps::claim(finding, style));
        lines.extend(traps::helps(finding, style));
    }
    lines
}

/// The one thing to do now.
fn next(next: &NextStep, style: TerminalStyle) -> Vec<String> {
    let label = style.paint(Ink::Faint, &format!("{:9}", "next"));
    vec![format!("  {label}{}", style.paint(Ink::Strong, &next.command))]
}
