//! What a run came to, in fio's terms: the reports of its jobs, its disks, and what assay found.

use std::collections::HashSet;

use super::measure::{blank, typed};
use crate::dialect::fio::job::{
    FioCommand, FioFormat, FioIdleProfile, FioJob, FioNote, FioOptions, VERSION,
};
use crate::dialect::fio::plan::READ_BACK;
use crate::dialect::fio::print::{
    FioDiskReport, FioDiskUse, FioFormats, FioIdleness, FioJobReport, FioReport, FioTerse,
    group_report,
};
use assay_plan::stats::mean;
use assay_plan::unit::Nanos;
use assay_record::evidence::{DeviceReading, DiskCounters, ProcessorIdle, SECTOR};
use assay_record::record::{PhaseRecord, Record, Resolved, StreamedPhase};
use assay_record::words::Voice;

/// The formats of the report.
pub fn formats(own: &FioOptions) -> FioFormats {
    let has = |format| own.formats.contains(&format);
    FioFormats {
        normal: has(FioFormat::Normal),
        terse: has(FioFormat::Terse),
        json: has(FioFormat::Json),
        json_plus: has(FioFormat::JsonPlus),
        version: FioTerse::of(own.terse_version.into()).unwrap_or_default(),
    }
}

/// The report of a run that is over. `each` has the clones in their order, with their jobs, `None` where one never
/// began; `unit_us` is what a unit of work took on each CPU; the time is that of the report.
pub fn run_report(
    command: &FioCommand,
    each: Vec<(&FioJob, Option<FioJobReport>)>,
    (record, machine): (&Record, &FioMachineUse),
    unit_us: &[f64],
    (now_ms, now): (u64, String),
) -> FioReport {
    FioReport {
        disks: match command.jobs.iter().any(has_disks) {
            true => machine.disks.iter().filter_map(DiskSum::report).collect(),
            false => Vec::new(),
        },
        idleness: command.own.idle_profile.map(|how| machine.idleness(how, unit_us)),
        assay: is_document(&command.own).then(|| found(record, &command.notes)),
        ..report_of(command, each, machine.elapsed, (now_ms, now))
    }
}

/// Whether any format is one of documents.
fn is_document(own: &FioOptions) -> bool {
    own.formats.iter().any(|format| matches!(format, FioFormat::Json | FioFormat::JsonPlus))
}

/// Whether the disks below its files are looked at.
fn has_disks(job: &FioJob) -> bool {
    job.statistics.disk_util && !job.queue.engine.without_disk()
}

/// The report of a run that goes on: what is only known at its end is not in it.
pub fn status_report(
    command: &FioCommand,
    each: Vec<(&FioJob, Option<FioJobReport>)>,
    elapsed: Nanos,
    now: (u64, String),
) -> FioReport {
    let open = "the run goes on: CPU time, depths, disks and a verdict are told at its end, latencies within a quarter until then";
    let began = |(_, report): &(&FioJob, Option<FioJobReport>)| report.is_some();
    FioReport {
        assay: Some(serde_json::json!({ "so_far": open })),
        ..report_of(command, each.into_iter().filter(began).collect(), elapsed, now)
    }
}

fn report_of(
    command: &FioCommand,
    each: Vec<(&FioJob, Option<FioJobReport>)>,
    elapsed: Nanos,
    (now_ms, now): (u64, String),
) -> FioReport {
    let elapsed_s = elapsed.0.div_ceil(1_000_000_000);
    let told = each.into_iter().map(|(job, report)| {
        let begun = now_ms.saturating_sub(elapsed.0 / 1_000_000);
        let start_ms = if report.is_some() { begun } else { 0 };
        let report = report.unwrap_or_else(|| FioJobReport { eta_s: Some(0), ..blank(job, 0) });
        (job, FioJobReport { elapsed_s, start_ms, ..report })
    });
    FioReport {
        version: VERSION.into(),
        timestamp_ms: now_ms,
        time: now,
        global_options: typed(&command.global_options),
        groups: command.jobs.iter().map(|job| job.group + 1).max().unwrap_or(1),
        jobs: grouped(told.collect()),
        ..FioReport::default()
    }
}

/// What assay found, for the document: a verdict for each phase, and surprises in what was typed.
fn found(record: &Record, notes: &[FioNote]) -> serde_json::Value {
    let phase = |phase: StreamedPhase<'_>| {
        let jobs: Vec<&str> = phase.jobs.iter().map(|job| job.name.as_str()).collect();
        serde_json::json!({ "phase": phase.name, "jobs": jobs, "verdict": phase.verdict })
    };
    let mut found = serde_json::json!({
        "version": record.version,
        "verdict": record.verdict,
        "phases": record.phases.stream().map(phase).collect::<Vec<_>>(),
    });
    if !notes.is_empty() {
        found["notes"] = lines_of_notes(notes, Voice::default()).into();
    }
    found
}

/// Clones and jobs of a group are one report where the group is reported as one.
fn grouped(each: Vec<(&FioJob, FioJobReport)>) -> Vec<FioJobReport> {
    let mut reports: Vec<(bool, Vec<FioJobReport>)> = Vec::new();
    for (job, report) in each {
        let together = job.schedule.group_reporting;
        match reports.last_mut() {
            Some((true, group)) if together && group[0].group == report.group => group.push(report),
            _ => reports.push((together, vec![report])),
        }
    }
    let one = |(together, mut group): (bool, Vec<FioJobReport>)| match together && group.len() > 1 {
        true => group_report(&group),
        false => group.pop().map(FioJobReport::alone),
    };
    reports.into_iter().filter_map(one).collect()
}

/// What disks and CPUs did in all phases, and how long those took.
#[derive(Default)]
pub struct FioMachineUse {
    elapsed: Nanos,
    disks: Vec<DiskSum>,
    cpus: Vec<ProcessorIdle>,
}

/// What a disk below the paths did, in phases of which it is known.
struct DiskSum {
    name: String,
    own: FioDiskUse,
    busy_ms: u64,
    time: Nanos,
}

impl FioMachineUse {
    /// Adds a phase that has ended.
    pub(in crate::dialect::fio) fn add(&mut self, resolved: &Resolved, phase: &PhaseRecord) {
        self.elapsed += phase.span.time();
        let (before, stop) = (&phase.evidence.before, &phase.evidence.stop);
        for layer in resolved.subjects.iter().filter_map(|subject| subject.stack.first()) {
            if self.disks.iter().all(|disk| disk.name != layer.name) {
                let (own, busy_ms, time) = (FioDiskUse::default(), 0, Nanos::ZERO);
                self.disks.push(DiskSum { name: layer.name.clone(), own, busy_ms, time });
            }
        }
        let time = phase.span.ended().since(phase.span.started);
        let (before_them, after) = (&before.devices, &stop.devices);
        self.disks.iter_mut().for_each(|disk| disk.add((before_them, after), time));
        for now in &stop.idle {
            let Some(then) = before.idle.iter().find(|then| then.cpu == now.cpu) else { continue };
            let grown = now.since(then);
            match self.cpus.iter_mut().find(|known| known.cpu == now.cpu) {
                Some(known) => {
                    (known.idle, known.all) = (known.idle + grown.idle, known.all + grown.all)
                }
                None => self.cpus.push(grown),
            }
        }
    }

    /// How idle the CPUs were while jobs ran, by the kernel's account.
    fn idleness(&self, how: FioIdleProfile, unit_us: &[f64]) -> FioIdleness {
        let each: Vec<f64> = self.cpus.iter().map(ProcessorIdle::percent).collect();
        let unit = unit_of_work(unit_us);
        FioIdleness {
            system: mean(&each).unwrap_or_default(),
            cpus: if how == FioIdleProfile::PerCpu { each } else { Vec::new() },
            ..unit
        }
    }
}

impl DiskSum {
    fn add(&mut self, (before, stop): (&[DeviceReading], &[DeviceReading]), time: Nanos) {
        let counters = |all: &[DeviceReading]| {
            all.iter().find(|device| device.name == self.name)?.counters.seen().copied()
        };
        let Some((before, stop)) = counters(before).zip(counters(stop)) else { return };
        let grown: DiskCounters = stop.since(&before);
        let own = &mut self.own;
        own.ios = [own.ios[0] + grown.reads, own.ios[1] + grown.writes];
        own.sectors = [
            own.sectors[0] + grown.read_bytes / SECTOR,
            own.sectors[1] + grown.write_bytes / SECTOR,
        ];
        own.ticks = [own.ticks[0] + grown.read_ms, own.ticks[1] + grown.write_ms];
        own.in_queue += grown.weighted_ms;
        self.busy_ms += grown.busy_ms;
        self.time += time;
    }

    /// As it is reported; not at all where no phase knows of it.
    fn report(&self) -> Option<FioDiskReport> {
        if self.time == Nanos::ZERO {
            return None;
        }
        let util = (self.busy_ms as f64 * 1e6 / self.time.0 as f64 * 100.0).min(100.0);
        let own = FioDiskUse { util, ..self.own.clone() };
        Some(FioDiskReport { name: self.name.clone(), own, members: None })
    }
}

/// What a unit of work took: the mean over all CPUs, and the standard deviation.
pub fn unit_of_work(unit_us: &[f64]) -> FioIdleness {
    let unit_mean = mean(unit_us).unwrap_or_default();
    let squares: f64 = unit_us.iter().map(|us| (us - unit_mean).powi(2)).sum();
    let others = unit_us.len().saturating_sub(1);
    let unit_deviation = if others > 0 { (squares / others as f64).sqrt() } else { 0.0 };
    FioIdleness { unit_mean, unit_deviation, ..FioIdleness::default() }
}

/// A phase with its figures, as a line about it begins.
pub fn figure(phase: &PhaseRecord) -> String {
    let mut jobs: Vec<&str> = Vec::new();
    for job in &phase.jobs {
        let name = job.name.rsplit_once('.').map_or(job.name.as_str(), |(name, _)| name);
        if !jobs.contains(&name) {
            jobs.push(name);
        }
    }
    let back = if phase.name.ends_with(READ_BACK) { READ_BACK } else { "" };
    jobs.join(", ") + back
}

/// A line for each surprise in what was typed: one for all jobs that have the same line.
pub fn note_lines(notes: &[FioNote]) -> Vec<String> {
    lines_of_notes(notes, Voice::BESIDE)
}

/// The same in that voice.
fn lines_of_notes(notes: &[FioNote], voice: Voice) -> Vec<String> {
    let mut told = HashSet::new();
    notes
        .iter()
        .map(|note| note_line(note, voice))
        .filter(|line| told.insert(line.clone()))
        .collect()
}

/// A line for a surprise.
pub fn note_line(note: &FioNote, voice: Voice) -> String {
    let meant = match note.meant.as_str() {
        "" => String::new(),
        meant => format!(", not {meant}"),
    };
    let instead = match note.instead.as_str() {
        "" => String::new(),
        instead => format!("; write {instead}"),
    };
    let [word, made] = [&note.word, &note.made].map(|typed| voice.text(typed));
    format!("{}: '{word}' means {made}{meant}{instead}", note.place)
}
