//! `assay fio`: jobs as fio does them, and its report; on standard error what may be believed of it.

mod progress;
mod status;

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use progress::ProgressLine;
use status::RunningReports;

use crate::dialect::fio::{
    self, FioClone, FioCommand, FioComplaint, FioCorrection, FioFailure, FioFormat, FioIdleProfile,
    FioLogContent, FioLogFile, FioLogStart, FioPathKind, FioPlan, FioRunSoFar, FioSurroundings,
    FioThere, FioWorld, print,
};
use crate::dialect::session::{
    Dialect, InvokedAs, KnownTool, LineContext, ReadLine, SessionEnd, ToolRun, ToolSaid,
    ToolSession, ToolStreams, cold, settle, strict, typed_line, unknown_value, without_plan,
};
use crate::dialect::verdict_place::is_silent;
use crate::process::stdout::{escaped, printed};
use crate::process::{REFUSAL, SOUND};
use crate::report;
use assay_engine::output::{self, OutputMode};
use assay_engine::sys::block::is_endless;
use assay_engine::sys::clock;
use assay_engine::sys::close::close_file;
use assay_plan::error::{Error, Refusal};
use assay_plan::name::{self, NameText as _};
use assay_plan::plan::{CacheDrop, Phase, Plan, ToolProfile};
use assay_plan::unit::{MIB, Nanos};
use assay_record::evidence::SysRoot;
use assay_record::record::{
    BetterCommand, Ending, PhaseRecord, PhaseSoFar, Record, Resolved, WordMeaning, document_file,
};
use assay_run::{self as run, LiveStatus, Observer};

/// The minor version of fio 3 that this is, where no other is meant.
const MINOR: u32 = fio::MINOR;

/// The exit status of the original after a signal.
const INTERRUPTED: u8 = 128;

/// fio, as 3.42 is built for Linux.
pub const TOOL: KnownTool = KnownTool {
    title: fio::NAME,
    names: &[fio::NAME],
    about: "Run jobs as fio does, from its command lines and job files, with its report; verdicts go to standard error",
    more: "'assay fio --cmdhelp' lists the options, and says of those that are refused why; --plan only prints the plan. \
           Standard output, logs and exit status are fio's own; only words that make no sense end with 2.",
    value_name: "OPTION",
    whose: "fio's own words",
    profile: ToolProfile::default,
    dialect: &Fio,
};

#[derive(Debug)]
struct Fio;

impl Dialect for Fio {
    fn has_one_status(&self) -> bool {
        true
    }

    fn read(&self, words: &[String], context: &LineContext<'_>) -> Result<ReadLine, Error> {
        let command = match understood(words, context) {
            Ok(command) => command,
            Err(complaint) => return Ok(ReadLine::Said(refused(&complaint))),
        };
        if let Some(answer) = command.answer.clone() {
            let err = lines(&command.said);
            let answer = match command.own.idle_profile {
                Some(FioIdleProfile::Calibrate) => {
                    print::calibration_lines(&fio::unit_of_work(&run::unit_work()))
                }
                // The version that is meant is the one that answers.
                _ => match minor_meant(context)? {
                    Some(minor) => answer.replacen(fio::VERSION, &format!("fio-3.{minor}"), 1),
                    None => answer,
                },
            };
            let out =
                fio::debug_of_words(&command, std::process::id()) + &lines(&command.told) + &answer;
            return Ok(ReadLine::Said(ToolSaid { out, err, ..ToolSaid::default() }));
        }
        if strict(context.environment)?
            && let Some(said) = not_meant(words, &command, context)
        {
            return Ok(ReadLine::Said(said));
        }
        let mut planned = plan(&command, words.to_vec(), context)?;
        let cold = cold(context.environment)?;
        if cold != CacheDrop::Keep {
            planned.plan.phases.iter_mut().for_each(|phase| phase.cold = cold);
        }
        let settle = settle(false, context.environment)?;
        for phase in &mut planned.plan.phases {
            let watched = !planned.unsettled.contains(&phase.name);
            phase.settle = if watched { settle } else { Nanos::ZERO };
        }
        let said = lines(&command.said);
        Ok(ReadLine::Run(Box::new(FioLine {
            plan: planned.plan,
            clones: planned.clones,
            laid_out: planned.laid_out,
            command,
            said,
            called: context.called,
            minor: minor_meant(context)?.unwrap_or(MINOR),
        })))
    }

    fn planned(
        &self,
        words: &[String],
        _ours: bool,
        context: &LineContext<'_>,
    ) -> Result<(Plan, BetterCommand), Refusal> {
        let typed = without_plan(words);
        let command = understood(&typed, context).map_err(|complaint| complaint.refusal)?;
        if command.answer.is_some() {
            return Err(Refusal {
                place: fio::NAME.into(),
                why: "it is asked for an answer, and runs nothing".into(),
                instead: "give it jobs".into(),
            });
        }
        let plan = plan(&command, typed, context)?.plan;
        let again = BetterCommand {
            line: typed_line(fio::NAME, words),
            why: "the same jobs, each with a verdict beside fio's report".into(),
        };
        Ok((plan, again))
    }

    fn words_of_file(&self, text: &str, path: &str) -> Option<Vec<String>> {
        is_job_file(text).then(|| vec![path.into()])
    }

    fn meanings(&self, words: &[String], context: &LineContext<'_>) -> Vec<WordMeaning> {
        understood(words, context).map(|command| fio::meanings(&command)).unwrap_or_default()
    }

    fn corrections(&self, words: &[String], context: &LineContext<'_>) -> Vec<BetterCommand> {
        let Ok(command) = understood(words, context) else { return Vec::new() };
        in_world(context, |world| fio::corrections(words, &command, world))
            .iter()
            .flat_map(better)
            .collect()
    }
}

/// Whether a file holds jobs: the first line that is no comment is the name of a section.
fn is_job_file(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(['#', ';']));
    // A list of JSON begins alike, and holds no plan.
    let json = || serde_json::from_str::<serde_json::Value>(text).is_ok();
    first.is_some_and(|first| first.starts_with('[') && first.ends_with(']') && !json())
}

/// What is said in place of a run of words that do not mean what they seem to.
fn not_meant(
    words: &[String],
    command: &FioCommand,
    context: &LineContext<'_>,
) -> Option<ToolSaid> {
    fio::surprising(command).next()?;
    let corrections = in_world(context, |world| fio::corrections(words, command, world));
    Some(not_done(command, &corrections))
}

/// The line to type; lines of a job file one by one.
fn better(correction: &FioCorrection) -> Vec<BetterCommand> {
    let why = correction.mends.join("; ");
    let Some(place) = &correction.place else {
        let why = format!("the same jobs as they are meant: {why}");
        return vec![BetterCommand { line: typed_line(fio::NAME, &correction.words), why }];
    };
    let where_to = if correction.below { "below" } else { "in place of" };
    let one = |word: &String| BetterCommand {
        line: word.clone(),
        why: format!("{where_to} what stands at {place}: {why}"),
    };
    correction.words.iter().map(one).collect()
}

/// What is said in place of a run: each surprise, and what to type.
fn not_done(command: &FioCommand, corrections: &[FioCorrection]) -> ToolSaid {
    let notes: Vec<_> = fio::surprising(command).cloned().collect();
    let mut lines = fio::note_lines(&notes);
    lines.dedup();
    for correction in corrections {
        let Some(place) = &correction.place else {
            lines.push(format!("type: {}", typed_line(fio::NAME, &correction.words)));
            continue;
        };
        let where_to = if correction.below { "below" } else { "at" };
        let written = correction.words.join("' and '");
        lines.push(format!("write {where_to} {place}: '{written}'"));
    }
    lines.push("ASSAY_STRICT=1 refuses words of which fio makes something else than is meant; without it they are done as fio does them, and told".into());
    let err = lines.iter().map(|line| format!("assay: {line}\n")).collect();
    ToolSaid::refused(err, Some(REFUSAL))
}

/// The plan of the words, with data for the fio that is meant.
fn plan(
    command: &FioCommand,
    words: Vec<String>,
    context: &LineContext<'_>,
) -> Result<FioPlan, Refusal> {
    let named = context.environment.overwrite.as_deref();
    let read = |path: &Path| match path.to_str() {
        Some("-") => document_file::all_of_input(),
        _ => (context.files)(path),
    };
    let there = |path: &Path| there(path, named);
    let aux_path = command.own.aux_path.as_deref();
    let found = FioSurroundings { there: &there, files: &read, aux_path };
    let planned = command.plan(words, &found, clock::now().0)?;
    match minor_meant(context)? {
        Some(minor) => planned.as_version(minor),
        None => Ok(planned),
    }
}

/// The minor version of fio 3 that is meant.
fn minor_meant(context: &LineContext<'_>) -> Result<Option<u32>, Refusal> {
    let Some(meant) = &context.environment.dialect else { return Ok(None) };
    let version = meant.to_str().and_then(|meant| meant.strip_prefix("fio-3."));
    let minor = version.and_then(|version| version.split('-').next()?.parse().ok());
    minor.map(Some).ok_or_else(|| {
        let known = "what 'fio --version' says, such as fio-3.33";
        unknown_value("ASSAY_DIALECT", meant.as_encoded_bytes(), known)
    })
}

fn lines(said: &[String]) -> String {
    said.iter().map(|line| format!("{line}\n")).collect()
}

fn refused(complaint: &FioComplaint) -> ToolSaid {
    let err = format!("{}assay: {}\n", complaint.said, complaint.refusal);
    ToolSaid { out: complaint.told.clone(), ..ToolSaid::refused(err, Some(complaint.status)) }
}

/// Reads the words and the job files that they name.
fn understood(words: &[String], context: &LineContext<'_>) -> Result<FioCommand, FioComplaint> {
    in_world(context, |world| fio::read(words, world))
}

/// Does something in the surroundings that words refer to.
fn in_world<T>(context: &LineContext<'_>, act: impl FnOnce(&FioWorld<'_>) -> T) -> T {
    let machine = (context.machine)();
    act(&FioWorld {
        files: context.files,
        stdin: &document_file::all_of_input,
        files_below: &files_below,
        environment: &|name| context.environment.variable(name),
        kind: &kind,
        page_size: machine.page.0,
        cpus: machine.cpus,
        memory_mb: machine.memory.seen().map_or(0, |memory| memory.0 / MIB),
    })
}

/// The regular files below a folder, as its entries come.
fn files_below(folder: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        match kind(&path) {
            FioPathKind::Folder => found.extend(files_below(&path)?),
            FioPathKind::File => found.push(path.to_str().map(String::from).ok_or_else(|| {
                io::Error::other(format!("the name {} is no UTF-8", path.to_text()))
            })?),
            FioPathKind::Missing | FioPathKind::Other => {}
        }
    }
    Ok(found)
}

/// What stands at a path, links not followed.
fn kind(path: &Path) -> FioPathKind {
    match std::fs::symlink_metadata(path).map(|found| found.file_type()) {
        Err(_) => FioPathKind::Missing,
        Ok(kind) if kind.is_file() => FioPathKind::File,
        Ok(kind) if kind.is_dir() => FioPathKind::Folder,
        Ok(_) => FioPathKind::Other,
    }
}

/// Whether a list of devices whose content may be lost has this one: between colons, as `filename=` has them.
fn is_named(device: &Path, named: &Path) -> bool {
    let listed = || named.to_str().map(fio::split_names).unwrap_or_default();
    named == device || listed().iter().any(|other| Path::new(other) == device)
}

/// What stands at a path; `named` are the devices whose content may be lost.
fn there(path: &Path, named: Option<&Path>) -> FioThere {
    let Ok(found) = std::fs::metadata(path) else { return FioThere::Nothing };
    let kind = found.file_type();
    if kind.is_block_device() {
        let subject = SysRoot::default().subject(path);
        let layer = subject.stack.first();
        let known =
            layer.filter(|layer| layer.partition.is_none()).and_then(|layer| layer.size.seen());
        let seen = || File::open(path).and_then(|mut device| device.seek(SeekFrom::End(0)));
        return FioThere::Device {
            bytes: known.map_or_else(|| seen().unwrap_or(0), |size| size.0),
            named: named.is_some_and(|named| is_named(path, named)),
        };
    }
    match (kind.is_file(), kind.is_dir()) {
        _ if is_endless(&found) => FioThere::Endless,
        (true, _) => FioThere::File(found.len()),
        (_, true) => FioThere::Folder,
        _ => FioThere::Other,
    }
}

/// When the logs of a clone begin: behind its ramp, which none of them has.
fn log_start(job: &fio::FioJob, clone: &FioClone, record: &Record) -> FioLogStart {
    let mut look = record.phases.look();
    let Some(phase) = clone.phases(&mut look).next() else { return FioLogStart::default() };
    let result = phase.jobs.iter().find(|result| result.name == clone.name);
    let span = result.and_then(|result| result.span);
    let began = span.map_or(phase.span.counted, |span| span.counted);
    let epoch_ms = match (job.logs.alternate_epoch, job.logs.alternate_epoch_clock_id) {
        (false, _) => 0,
        (_, 0) => run::now_in_ms().saturating_sub(clock::now().since(began).0 / 1_000_000),
        _ => began.0 / 1_000_000,
    };
    FioLogStart { epoch_ms, ramp: began.since(phase.span.started) }
}

/// A line that was understood.
struct FioLine {
    command: FioCommand,
    plan: Plan,
    clones: Vec<FioClone>,
    /// What is said of files that are made.
    laid_out: String,
    /// What is said before anything is done.
    said: String,
    /// The minor version of fio 3 whose files are written.
    minor: u32,
    called: InvokedAs,
}

impl FioLine {
    /// Whether the document says what may be believed, and nothing else does: programs that read it take any word
    /// on standard error for a failure.
    fn judges_in_document(&self) -> bool {
        let document = self.has(FioFormat::Json) || self.has(FioFormat::JsonPlus);
        document && !self.has(FioFormat::Normal)
    }

    fn has(&self, format: FioFormat) -> bool {
        self.command.own.formats.contains(&format)
    }

    /// The lines that stand before the report for people.
    fn opening(&self) -> String {
        let jobs = &self.command.jobs;
        let banners: Vec<_> = jobs.iter().map(fio::banner).collect();
        let count = |thread: bool| {
            let of = self.command.jobs.iter().filter(|job| job.schedule.thread == thread);
            of.map(|job| job.schedule.numjobs).sum()
        };
        let computing: String = jobs.iter().map(fio::computing).collect();
        print::opening(&banners, fio::VERSION, count(true), count(false))
            + &self.laid_out
            + &computing
    }
}

impl ToolRun for FioLine {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn warnings(&self) -> &str {
        &self.said
    }

    fn outputs(&self) -> Vec<PathBuf> {
        fio::outputs(&self.command, &self.clones)
    }

    fn session<'a>(
        &'a self,
        _time: u32,
        streams: ToolStreams<'a>,
    ) -> Result<Box<dyn ToolSession + 'a>, Error> {
        let output = self.command.own.output.as_ref();
        let file = output.map(|path| output::open(&name::path(path), OutputMode::Anew));
        let terminal = streams.environment.out.is_some();
        let mut screen = FioScreen {
            line: self,
            streams,
            file: file.transpose()?,
            progress: ProgressLine::wanted(&self.command, terminal),
            running: RunningReports::of(&self.command),
            so_far: FioRunSoFar::default(),
            phases: clones_of_phases(&self.clones),
            phase: (0, 0),
            unit_us: match self.command.own.idle_profile {
                Some(_) => run::unit_work(),
                None => Vec::new(),
            },
            signal: None,
            unprinted: None,
            gathered: HashMap::new(),
        };
        screen.print(&fio::debug_of_words(&self.command, std::process::id()));
        if self.command.own.prints_seeds {
            screen.print(&print::seed_lines(self.clones.iter(), std::process::id()));
        }
        Ok(Box::new(screen))
    }
}

/// The clones of each phase: the first, and how many. What is read back are jobs that began before.
fn clones_of_phases(clones: &[FioClone]) -> HashMap<&str, (usize, usize)> {
    let mut phases: HashMap<&str, (usize, usize)> = HashMap::new();
    for (place, clone) in clones.iter().enumerate() {
        phases.entry(&clone.phase).or_insert((place, 0)).1 += 1;
    }
    for clone in clones {
        let own = phases.get(&*clone.phase).copied().unwrap_or_default();
        phases.extend(clone.later.iter().map(|later| (&**later, own)));
    }
    phases
}

/// What is said while it runs, and at the end.
struct FioScreen<'a> {
    line: &'a FioLine,
    streams: ToolStreams<'a>,
    /// The file of `--output`.
    file: Option<File>,
    progress: Option<ProgressLine>,
    running: RunningReports,
    /// What the phases came to that have ended.
    so_far: FioRunSoFar,
    /// The clones of each phase, by its name: the first, and how many.
    phases: HashMap<&'a str, (usize, usize)>,
    /// Those of the phase that runs.
    phase: (usize, usize),
    /// What a unit of work took on each CPU, where that is asked for.
    unit_us: Vec<f64>,
    signal: Option<i32>,
    /// Why something could not be printed.
    unprinted: Option<io::Error>,
    /// Lines of I/Os for logs, by what the plan calls them.
    gathered: HashMap<PathBuf, Vec<u8>>,
}

impl FioScreen<'_> {
    /// Prints where the report goes.
    fn print(&mut self, text: &str) {
        let written = match &mut self.file {
            Some(file) => file.write_all(&escaped(text.as_bytes())),
            None => {
                let out = &mut self.streams.out;
                out.write_all(text.as_bytes()).and_then(|()| out.flush())
            }
        };
        self.keep(written);
    }

    /// Keeps the first reason why something could not be printed.
    fn keep(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            self.unprinted.get_or_insert(error);
        }
    }

    /// Writes a file, or says why it could not be written: the run has been what it was.
    fn put(&mut self, name: &str, mode: OutputMode, bytes: &[u8]) {
        if let Err(fault) = output::write(&name::path(name), mode, bytes) {
            let _ = writeln!(self.streams.err, "assay: {fault}");
        }
    }

    /// What was gathered under a name.
    fn lines_of(&mut self, gathered: &Path) -> Option<String> {
        String::from_utf8(self.gathered.remove(gathered)?).ok()
    }

    /// Prints what only people read.
    fn tell(&mut self, text: &str) {
        if self.line.has(FioFormat::Normal) {
            self.print(text);
        }
    }

    /// The report of what was done.
    fn report(&mut self, record: &Record) -> print::FioReport {
        let (clones, jobs) = (&self.line.clones, &self.line.command.jobs);
        let each = clones.iter().enumerate();
        let each = each.map(|(at, clone)| (&jobs[clone.job], self.so_far.take_report(at)));
        let each = each.collect();
        let now = (run::now_in_ms(), run::calendar_as_in_c());
        let found = (record, &self.so_far.machine);
        fio::run_report(&self.line.command, each, found, &self.unit_us, now)
    }

    /// Makes fio's logs of what was gathered for them.
    fn log(&mut self, record: &Record) {
        for clone in &self.line.clones {
            let job = &self.line.command.jobs[clone.job];
            if !job.is_logged() {
                continue;
            }
            let gathered = fio::gathered(job, clone.thread);
            let Some(lines) = self.lines_of(&gathered) else { continue };
            let start = log_start(job, clone, record);
            for FioLogFile { name, content } in fio::log_files(job, clone.thread, &lines, start) {
                let (name, bytes) = match &content {
                    FioLogContent::Samples(format, samples) if job.logs.store_compressed => {
                        (format!("{name}.fz"), fio::stored_log(*format, samples, self.line.minor))
                    }
                    _ => (name, content.text().into_bytes()),
                };
                let appends = !job.logs.per_job;
                let mode = if appends { OutputMode::Append } else { OutputMode::Anew };
                self.put(&name, mode, &bytes);
            }
            let read_back = self.lines_of(&fio::gathered_back(&gathered)).unwrap_or_default();
            self.print(&fio::completions(job, clone, &lines, &read_back, std::process::id()));
            if let Some((name, text)) = fio::written_list(job, clone.number, &lines, &read_back) {
                self.put(&name, OutputMode::Append, text.as_bytes());
            }
        }
    }

    /// Writes the logs of all jobs together.
    fn log_whole(&mut self, record: &Record) {
        let Some(prefix) = &self.line.command.own.bandwidth_log else { return };
        for (name, text) in fio::whole_bandwidth(prefix, record) {
            self.put(&name, OutputMode::Anew, text.as_bytes());
        }
    }

    /// Says what was written for who verifies it another day.
    fn save_states(&mut self, record: &Record) {
        let (command, clones) = (&self.line.command, &self.line.clones);
        for (name, bytes) in fio::verify_states(command, clones, record) {
            if let Err(fault) = output::write(&name::path(&name), OutputMode::Anew, &bytes) {
                let _ = writeln!(self.streams.err, "fio: failed to write state file: {fault}");
            }
        }
    }

    /// What may be believed of each phase.
    fn judge(&mut self, record: &Record) {
        let named = |phase: &PhaseRecord| Some(fio::figure(phase));
        for line in report::remarks(record, named, self.streams.environment.err_lines_style()) {
            let _ = writeln!(self.streams.err, "{line}");
        }
        let mut notes = self.line.command.notes.clone();
        notes.extend(self.so_far.notes(&record.ending).cloned());
        for line in fio::note_lines(&notes) {
            let _ = writeln!(self.streams.err, "assay: {line}");
        }
    }
}

impl ToolSession for FioScreen<'_> {
    fn finish(&mut self, outcome: Result<Record, Error>) -> Result<SessionEnd, Error> {
        let record = outcome?;
        let _ = self.streams.err.write_all(self.so_far.wrong_blocks.as_bytes());
        let failures: Vec<FioFailure> = self.so_far.failures().cloned().collect();
        for failure in &failures {
            let _ = self.streams.err.write_all(failure.of_io.as_bytes());
            self.tell(&failure.of_clone);
        }
        let whole = self.report(&record);
        let text = print::report(&whole, &fio::formats(&self.line.command.own));
        if let Some(signal) = self.signal {
            let _ = writeln!(self.streams.err, "\nfio: terminating on signal {signal}");
        }
        self.log(&record);
        self.print(&text);
        self.log_whole(&record);
        self.save_states(&record);
        let failed = !failures.is_empty()
            || self.unprinted.is_some()
            || !matches!(record.ending, Ending::Complete | Ending::Unfinished);
        let in_document = self.line.judges_in_document()
            && is_silent(self.streams.environment, self.line.called.is_tool());
        if self.streams.verdict.tells(failed) && !in_document {
            self.judge(&record);
        }
        if let Some(file) = self.file.take() {
            self.keep(close_file(file));
        }
        if let Some(error) = self.unprinted.take() {
            return printed(Err(error)).map(|()| SessionEnd::Status(SOUND));
        }
        let failed = failures.len();
        Ok(SessionEnd::Status(match &record.ending {
            Ending::Interrupted(_) => INTERRUPTED,
            Ending::Failed(fault) => {
                let _ = writeln!(self.streams.err, "assay: {fault}");
                failed.clamp(1, 255) as u8
            }
            Ending::Complete | Ending::Unfinished => failed.min(255) as u8,
        }))
    }
}

impl Observer for FioScreen<'_> {
    fn resolved(&mut self, _resolved: &Resolved) {
        let told = lines(&self.line.command.told);
        self.print(&told);
        let opening = self.line.opening();
        self.tell(&opening);
    }

    fn began(&mut self, phase: &Phase, _number: usize, _of: usize) {
        self.phase = self.phases.get(&*phase.name).copied().unwrap_or_default();
        self.running.began(phase);
        if let Some(progress) = &mut self.progress {
            progress.began(phase, self.phase.0);
        }
    }

    fn tick(&mut self, live: &LiveStatus) {
        let (done, jobs) = self.phase;
        let line = self.progress.as_mut().and_then(|progress| progress.tick(live, jobs, done));
        if let Some(line) = line {
            let _ = self.streams.out.write_all(line.as_bytes());
            let _ = self.streams.out.flush();
        }
    }

    fn so_far(&mut self, live: &LiveStatus, so_far: &dyn Fn() -> PhaseSoFar) {
        let (command, clones) = (&self.line.command, &self.line.clones);
        if let Some(text) = self.running.report(command, clones, live, so_far) {
            self.print(&text);
        }
    }

    fn asked(&mut self, signal: i32, _live: &LiveStatus) -> bool {
        if signal == libc::SIGUSR1 {
            self.running.wanted = true;
            return true;
        }
        self.signal = Some(signal);
        false
    }

    fn takes_logs(&self) -> bool {
        true
    }

    fn logged(&mut self, path: &Path, lines: Vec<u8>) {
        self.gathered.insert(path.to_path_buf(), lines);
    }

    fn ended(&mut self, record: &Record, phase: &PhaseRecord) {
        let line = self.line;
        let asked = (&line.command, &*line.clones);
        let done = (&record.resolved, phase);
        self.so_far.add(asked, self.phase, done, std::process::id());
        self.running.ended(&self.line.command, &self.line.clones, phase);
    }
}
