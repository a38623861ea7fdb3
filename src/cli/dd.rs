//! `assay dd`: the copy as dd makes it, with dd's words on standard error, and before its last
//! lines what may be believed of them.

use std::ffi::OsStr;
use std::io::Write;

use super::conduct::{FAULT, REFUSAL, SOUND, show};
use super::dialect::Called;
use super::environment::Environment;
use crate::dialect::dd::{self, Complaint, Flavor, Options, Status};
use crate::error::{Error, Fault, Refusal};
use crate::plan::{Cold, Copy, Phase, Plan};
use crate::record::{PhaseRecord, Record, Trust};
use crate::report::verdict_lines;
use crate::run::{self, Live, Observer};
use crate::stats::copy::{CopyCounts, CopyEvent};
use crate::sys::{clock, signal};
use crate::unit::{Instant, Nanos};

/// What was left in memory is watched for so long at the most.
const SETTLE: Nanos = Nanos::secs(20);

/// Does what dd would do with these words.
///
/// # Errors
/// When a variable of ours makes no sense, or the record can not be kept.
pub fn call(
    mut words: Vec<String>,
    called: Called,
    environment: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<u8, Error> {
    let planned_only = words.iter().any(|word| word == "--plan");
    words.retain(|word| word != "--plan");
    let flavor = flavor(called, environment)?;
    let (mut plan, options) = match dd::parse(&words, flavor) {
        Ok(understood) => understood,
        Err(complaint) => {
            let _ = out.write_all(complaint.stdout.as_bytes());
            let _ = err.write_all(complaint.stderr.as_bytes());
            return Ok(match (complaint.code, called) {
                (0, _) => SOUND,
                (_, Called::Assay) => REFUSAL,
                (_, Called::Tool | Called::Busybox) => FAULT,
            });
        }
    };
    let _ = err.write_all(options.warnings.as_bytes());
    for phase in &mut plan.phases {
        phase.cold = cold(environment)?;
        phase.settle = settle(&options, environment)?;
    }
    if planned_only {
        return show(&plan, out, err);
    }
    copy(&plan, &options, environment, err)
}

/// The plan of a line that is not to be run, and whose dd it is.
///
/// # Errors
/// When that dd would refuse the words, or only answer them; when a variable of ours makes no sense.
pub(super) fn planned(
    words: &[String],
    called: Called,
    environment: &Environment,
) -> Result<(Plan, Flavor), Refusal> {
    let flavor = flavor(called, environment)?;
    let words: Vec<String> = words.iter().filter(|word| *word != "--plan").cloned().collect();
    let (mut plan, _) = dd::parse(&words, flavor).map_err(|complaint| refused(&complaint))?;
    for phase in &mut plan.phases {
        phase.cold = cold(environment)?;
    }
    Ok((plan, flavor))
}

/// What a dd says instead of copying, as a refusal.
fn refused(complaint: &Complaint) -> Refusal {
    let said = complaint.stderr.lines().find_map(|line| line.strip_prefix("dd: "));
    let why = match (complaint.code, said) {
        (0, _) => "it is asked for help or its version, and copies nothing",
        (_, Some(said)) => said,
        (_, None) => "BusyBox's dd does not take these words",
    };
    Refusal {
        place: "dd".into(),
        why: why.into(),
        instead: "'assay dd --help' lists the operands".into(),
    }
}

/// Whose dd is meant.
fn flavor(called: Called, environment: &Environment) -> Result<Flavor, Refusal> {
    match environment.dialect.as_deref().map(OsStr::as_encoded_bytes) {
        None if called == Called::Busybox => Ok(Flavor::Busybox),
        None | Some(b"gnu") => Ok(Flavor::Gnu),
        Some(b"busybox") => Ok(Flavor::Busybox),
        Some(other) => Err(unknown("ASSAY_DIALECT", other, "gnu or busybox")),
    }
}

/// What is dropped from memory before the copy.
fn cold(environment: &Environment) -> Result<Cold, Refusal> {
    match environment.cold.as_deref().map(OsStr::as_encoded_bytes) {
        None | Some(b"no") => Ok(Cold::Keep),
        Some(b"target") => Ok(Cold::Target),
        Some(b"machine") => Ok(Cold::Machine),
        Some(other) => Err(unknown("ASSAY_COLD", other, "target, machine or no")),
    }
}

/// How long the flush is watched after the copy.
fn settle(options: &Options, environment: &Environment) -> Result<Nanos, Refusal> {
    match environment.settle.as_deref().map(OsStr::as_encoded_bytes) {
        Some(b"no") => Ok(Nanos::ZERO),
        None | Some(b"yes") if options.status == Status::None => Ok(Nanos::ZERO),
        None | Some(b"yes") => Ok(SETTLE),
        Some(other) => Err(unknown("ASSAY_SETTLE", other, "yes or no")),
    }
}

fn unknown(name: &str, value: &[u8], known: &str) -> Refusal {
    Refusal {
        place: name.into(),
        why: format!("'{}' means nothing", String::from_utf8_lossy(value)),
        instead: format!("say {known}"),
    }
}

/// Copies, judges, and says what dd would say.
fn copy(
    plan: &Plan,
    options: &Options,
    environment: &Environment,
    err: &mut dyn Write,
) -> Result<u8, Error> {
    let Some(copy) = dd::copy_of(plan) else { unreachable!("dd's words make a copy") };
    // A reader of standard output that goes away ends dd without a word.
    let _ = signal::restore(libc::SIGPIPE);
    let signals = match options.flavor {
        Flavor::Gnu => vec![libc::SIGINT, libc::SIGUSR1],
        Flavor::Busybox => vec![libc::SIGUSR1],
    };
    let mut talk = Talk {
        options,
        copy,
        err,
        terminal: environment.err.is_some(),
        started: clock::now(),
        next_progress: Nanos::secs(1),
        standing: 0,
        faults: Vec::new(),
        told_of_settling: false,
        shown: None,
    };
    let record = environment.record.clone();
    let kept = record.as_ref().map(|path| path.display().to_string());
    let record = match run::run(plan, &run::Options { record, signals }, &mut talk) {
        Ok(record) => record,
        // Of what no dd does: dropping caches, keeping a record.
        Err(Error::Fault(fault)) if fault.doing == "drop" || kept.as_ref() == Some(&fault.path) => {
            return Err(fault.into());
        }
        // What dd itself would have met when it opened its files; what had been said then has
        // been heard.
        Err(Error::Fault(fault)) => {
            if fault.errno == libc::EINTR {
                // While it waited for the other side of a FIFO.
                signal::die_of(libc::SIGINT);
            }
            if talk.faults.is_empty() {
                talk.say(&dd::fault(options, copy, &fault));
            }
            return Ok(FAULT);
        }
        Err(refusal) => return Err(refusal),
    };
    let Some(phase) = record.phases.first() else { return Ok(FAULT) };
    talk.say(&verdict(&record, options, environment));
    if dd::reports_after(options, &talk.faults) {
        let counts = phase.copy.unwrap_or_default();
        talk.say(&dd::report(options, &counts, phase.span.time()));
    }
    if !talk.faults.is_empty() {
        return Ok(FAULT);
    }
    if let Some(signal) = cut_short(&record, phase) {
        let _ = talk.err.flush();
        signal::die_of(signal);
    }
    Ok(0)
}

/// The verdict's lines. With `status=none` only a number that is wrong may be spoken of.
fn verdict(record: &Record, options: &Options, environment: &Environment) -> String {
    let wrong = record.verdict.as_ref().is_some_and(|verdict| verdict.trust == Trust::Wrong);
    if options.status == Status::None && !wrong {
        return String::new();
    }
    verdict_lines(record, environment.err_style()).iter().map(|line| format!("{line}\n")).collect()
}

/// The signal that ended the copy. One that only ended the watching of its flush did not.
fn cut_short(record: &Record, phase: &PhaseRecord) -> Option<i32> {
    match record.ending {
        crate::record::Ending::Interrupted(signal) if phase.evidence.settle.is_none() => {
            Some(signal)
        }
        _ => None,
    }
}

/// Says on standard error what dd would say, when it would say it.
struct Talk<'a> {
    options: &'a Options,
    copy: &'a Copy,
    err: &'a mut dyn Write,
    terminal: bool,
    started: Instant,
    next_progress: Nanos,
    /// Length of the progress line that stands there without an end.
    standing: usize,
    /// What it said that had failed.
    faults: Vec<Fault>,
    told_of_settling: bool,
    /// Bytes that the last progress line spoke of.
    shown: Option<u64>,
}

impl Talk<'_> {
    /// Whole lines; a progress line that stands there is ended first.
    fn say(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.end_line();
        let _ = self.err.write_all(text.as_bytes());
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.standing) > 0 {
            let _ = self.err.write_all(b"\n");
        }
    }

    fn progress(&mut self, counts: &CopyCounts, time: Nanos) {
        let (line, length) = dd::progress(counts, time, self.standing);
        self.standing = length;
        self.shown = Some(counts.bytes_written);
        let _ = self.err.write_all(line.as_bytes());
        let _ = self.err.flush();
    }

    fn time(&self) -> Nanos {
        clock::now().since(self.started)
    }
}

impl Observer for Talk<'_> {
    fn began(&mut self, _phase: &Phase, _number: usize, _of: usize) {
        self.started = clock::now();
    }

    fn tick(&mut self, live: &Live) {
        let Some(counts) = live.copy else { return };
        if live.settling {
            if self.terminal && !self.told_of_settling && self.options.status != Status::None {
                self.told_of_settling = true;
                self.say(
                    "assay: copied; watching what is still in memory go to the disk (ASSAY_SETTLE=no skips this)\n",
                );
            }
        } else if self.options.status == Status::Progress && live.elapsed >= self.next_progress {
            self.next_progress += Nanos::secs(1);
            self.progress(&counts, live.elapsed);
        }
    }

    fn asked(&mut self, signal: i32, live: &Live) -> bool {
        if signal != libc::SIGUSR1 {
            return false;
        }
        let counts = live.copy.unwrap_or_default();
        self.say(&dd::report(self.options, &counts, live.elapsed));
        let _ = self.err.flush();
        true
    }

    fn said(&mut self, event: &CopyEvent) {
        let text = dd::event(self.options, self.copy, event);
        self.say(&text);
        match event {
            CopyEvent::ReadError { counts, .. } if self.options.flavor == Flavor::Gnu => {
                let time = self.time();
                self.say(&dd::report(self.options, counts, time));
            }
            CopyEvent::Failed(fault) => {
                self.faults.push(fault.clone());
            }
            CopyEvent::Flushing { counts }
                if self.shown.is_some_and(|shown| shown < counts.bytes_written) =>
            {
                self.shown = Some(counts.bytes_written);
                let line = dd::before_flush(counts, self.time());
                let _ = self.err.write_all(line.as_bytes());
            }
            _ => {}
        }
    }
}
