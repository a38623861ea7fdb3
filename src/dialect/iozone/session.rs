//! `assay iozone`: IOzone's table, throughput lines, report and worksheet; on standard error what may be
//! believed of them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use crate::dialect::iozone::{
    self, CpuUse, GridCell, GridReport, IozoneComplaint, IozoneOptions, IozoneTest, IozoneUnit,
    StreamResults, TestPlace,
};
use crate::dialect::session::{
    Dialect, InvokedAs, KnownTool, LineContext, ReadLine, SessionEnd, ToolRun, ToolSaid,
    ToolSession, ToolStreams, cold, typed_line, without_plan,
};
use crate::process::SOUND;
use crate::process::stdout::{escaped, printed};
use crate::process::typing;
use assay_engine::output::{self, OutputMode};
use assay_plan::error::{Doing, Error, Fault, Refusal};
use assay_plan::name::{NameText as _, quoted, shown, tamed};
use assay_plan::plan::{Action, CacheDrop, Phase, Plan, ToolProfile, Work};
use assay_record::record::{
    BetterCommand, Ending, GridFigure, PhaseRecord, Record, Resolved, WordMeaning,
};
use assay_run::{self as run, Observer};

/// The exit status of the original after a signal.
const INTERRUPTED: u8 = 0;

/// IOzone, as 3.508 is built for Linux.
pub const TOOL: KnownTool = KnownTool {
    title: iozone::NAME,
    names: &[iozone::NAME],
    about: "Run the tests of IOzone, with its options, table, throughput lines and reports; verdicts go to standard error",
    more: "'assay iozone -h' lists the options, and says of those that are refused why; --honest drops the file from \
           memory before it is read, --plan only prints the plan. The exit status is IOzone's own; only words that make \
           no sense end with 2.",
    value_name: "OPTION",
    whose: "IOzone's own words",
    profile: ToolProfile::default,
    dialect: &Iozone,
};

#[derive(Debug)]
struct Iozone;

impl Dialect for Iozone {
    fn read(&self, words: &[String], context: &LineContext<'_>) -> Result<ReadLine, Error> {
        let alone = |option: &str| words.iter().any(|word| word == option);
        if alone("-h") || alone("--help") {
            return Ok(ReadLine::Said(ToolSaid::answer(iozone::help())));
        }
        if alone("-v") {
            return Ok(ReadLine::Said(ToolSaid::answer(iozone::version())));
        }
        let cold = cold(context.environment)?;
        let asked = iozone::read(words, context.files).map(|asked| dropping(asked, cold));
        let asked = asked.and_then(|asked| Ok((asked.command()?, asked)));
        match asked {
            Ok((command, asked)) => {
                let machine =
                    if asked.machine { (context.machine)().kernel } else { String::new() };
                let places: BTreeMap<String, TestPlace> =
                    command.places.into_iter().map(|place| (place.phase(), place)).collect();
                let plan = command.plan;
                let said = match context.called {
                    InvokedAs::Assay => ignored(words),
                    _ => String::new(),
                };
                Ok(ReadLine::Run(Box::new(IozoneLine { plan, asked, places, machine, said })))
            }
            Err(complaint) => Ok(ReadLine::Said(said(&complaint))),
        }
    }

    fn planned(
        &self,
        words: &[String],
        _ours: bool,
        context: &LineContext<'_>,
    ) -> Result<(Plan, BetterCommand), Refusal> {
        let named = |complaint: IozoneComplaint| Refusal {
            place: iozone::NAME.into(),
            ..complaint.refusal
        };
        let typed = without_plan(words);
        let cold = cold(context.environment)?;
        let command = iozone::read(&typed, context.files)
            .and_then(|asked| dropping(asked, cold).command())
            .map_err(named)?;
        let again = BetterCommand {
            line: typed_line(&format!("{} --honest", iozone::NAME), words),
            why: "the same tests, the file dropped from memory before it is read, each with a verdict"
                .into(),
        };
        Ok((command.plan, again))
    }

    fn meanings(&self, words: &[String], _context: &LineContext<'_>) -> Vec<WordMeaning> {
        iozone::meanings(words)
    }
}

/// What is said of words that the original passes over.
fn ignored(words: &[String]) -> String {
    let line = |word: &str| match typing::foreign(word) {
        Some(found) => format!(
            "assay: '{}' is ignored, as iozone does: it holds {}; write {}\n",
            tamed(word),
            found.what,
            quoted(&found.meant)
        ),
        None => format!(
            "assay: '{}' belongs to no option and is ignored, as iozone does\n",
            tamed(word)
        ),
    };
    iozone::passed_over(words).into_iter().map(line).collect()
}

/// What is asked for, with what `ASSAY_COLD` says, where no word says more.
fn dropping(asked: IozoneOptions, cold: CacheDrop) -> IozoneOptions {
    let cold = if asked.cold == CacheDrop::Keep { cold } else { asked.cold };
    IozoneOptions { cold, ..asked }
}

/// The workbook of a run, with what the record says of each cell.
fn workbook(
    line: &str,
    unit: IozoneUnit,
    verdicts: &[String],
    reports: &[GridReport],
    record: &Record,
) -> io::Result<Vec<u8>> {
    let unit = match unit {
        IozoneUnit::Kilobytes => "kB/s",
        IozoneUnit::Operations => "operations/s",
        IozoneUnit::Microseconds => "us per operation",
    };
    let cells = record.outcome.iter().flat_map(|it| it.grid_cells());
    let place = |cell: &GridFigure| GridCell { file: cell.file.0, record: cell.record.0 };
    let known: BTreeMap<(&str, GridCell), &GridFigure> =
        cells.map(|cell| ((cell.test.as_str(), place(cell)), cell)).collect();
    iozone::workbook(line, unit, verdicts, reports, |report, cell| {
        known.get(&(report.test.name(), cell)).map(|cell| (cell.region, cell.trust))
    })
}

/// What is said of words that make no sense.
fn said(complaint: &IozoneComplaint) -> ToolSaid {
    let err = format!("{}assay: iozone: {}\n", complaint.said, complaint.refusal);
    ToolSaid::refused(err, Some(complaint.status))
}

/// A line that was understood.
struct IozoneLine {
    plan: Plan,
    asked: IozoneOptions,
    places: BTreeMap<String, TestPlace>,
    machine: String,
    /// What is said of its words.
    said: String,
}

impl ToolRun for IozoneLine {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn warnings(&self) -> &str {
        &self.said
    }

    fn reports(&self) -> &[PathBuf] {
        &self.asked.reports
    }

    fn outputs(&self) -> Vec<PathBuf> {
        let histograms = self.plan.phases.iter().filter(|phase| {
            self.asked.histograms
                && self.places.get(&phase.name).is_some_and(|place| place.streams > 0)
        });
        let children = histograms.map(|phase| phase.jobs.iter().count()).max().unwrap_or(0);
        self.asked.worksheet.iter().cloned().chain((0..children).map(histogram_file)).collect()
    }

    fn session<'a>(
        &'a self,
        _time: u32,
        streams: ToolStreams<'a>,
    ) -> Result<Box<dyn ToolSession + 'a>, Error> {
        Ok(Box::new(Screen {
            line: self,
            streams,
            values: BTreeMap::new(),
            cpu: BTreeMap::new(),
            results: BTreeMap::new(),
            titled: BTreeSet::new(),
            cell: None,
            column: 0,
            unprinted: None,
            unwritten: None,
        }))
    }
}

/// The file of the histogram of a stream, in the present folder.
fn histogram_file(child: usize) -> PathBuf {
    PathBuf::from(format!("Iozone_histogram_child_{child}.txt"))
}

/// What stands on the screen so far.
struct Screen<'a> {
    line: &'a IozoneLine,
    streams: ToolStreams<'a>,
    values: BTreeMap<(GridCell, IozoneTest), u64>,
    /// CPU time of the same, percent.
    cpu: BTreeMap<(GridCell, IozoneTest), f64>,
    results: BTreeMap<(u32, IozoneTest), StreamResults>,
    /// The cell whose row stands there without an end, or the number of streams.
    cell: Option<(GridCell, u32)>,
    /// Columns of that row that are done.
    column: usize,
    /// Files of offsets and latencies that have their title.
    titled: BTreeSet<PathBuf>,
    /// Why something could not be printed.
    unprinted: Option<io::Error>,
    /// Why something could not be written to a file.
    unwritten: Option<Fault>,
}

impl Screen<'_> {
    fn print(&mut self, text: &str) {
        let written = self.streams.out.write_all(text.as_bytes());
        if let Err(error) = written.and_then(|()| self.streams.out.flush()) {
            self.unprinted.get_or_insert(error);
        }
    }

    /// The row as far as its figures are known.
    fn fill_row(&mut self, cell: GridCell) {
        let Self { values, column, .. } = self;
        let text =
            iozone::columns(&self.line.asked, column, |test| values.get(&(cell, test)).copied());
        self.print(&text);
    }

    fn end_row(&mut self) {
        match self.cell.take() {
            Some((_, 0)) => self.print("\n"),
            Some(_) => self.print(iozone::streams_end()),
            None => {}
        }
    }

    /// Writes behind what a file holds.
    fn append(&mut self, path: &Path, text: &str) {
        if let Err(fault) = output::write(path, OutputMode::Append, &escaped(text.as_bytes())) {
            self.unwritten.get_or_insert(fault);
        }
    }

    /// Titles of the files of offsets and latencies: once in a run, or for each test of streams.
    fn title_latency_files(&mut self, phase: &Phase, place: TestPlace) {
        let logs = phase.jobs.iter().filter_map(|job| job.detail.log.clone());
        for log in logs.collect::<Vec<_>>() {
            if place.streams > 0 || self.titled.insert(log.clone()) {
                self.append(&log, iozone::latency_title(place.test, place.streams));
            }
        }
    }

    /// What stands behind the lines of a test, and the histograms of its streams.
    fn end_files(&mut self, phase: &PhaseRecord, place: TestPlace) {
        let plan = self.line.plan.phases.get(phase.number);
        if place.streams == 0 {
            let log = plan.and_then(|planned| planned.jobs[0].detail.log.clone());
            if let (Some(log), Some(cpu)) = (log, phase.jobs.first().and_then(|job| job.cpu)) {
                let real = phase.span.time().as_secs();
                let line = iozone::latency_end(cpu.system.as_secs(), cpu.user.as_secs(), real);
                self.append(&log, &line);
            }
            return;
        }
        if !self.line.asked.histograms {
            return;
        }
        for (child, job) in phase.jobs.iter().enumerate() {
            let writes = job.totals.keys().any(|action| *action == Action::Write);
            let op = iozone::histogram_name(place.test, writes);
            let text = iozone::histogram(child, op, &iozone::bands(job));
            self.append(&histogram_file(child), &text);
        }
    }

    /// What may be believed of the figures.
    fn judge(&mut self, verdicts: &[String]) {
        let asked = &self.line.asked;
        let notes = iozone::notes(asked).into_iter().map(String::from);
        let of_streams = asked.streams.iter();
        let of_streams =
            of_streams.filter_map(|streams| iozone::disagreement(asked, *streams, &self.results));
        for line in verdicts.iter().cloned().chain(notes).chain(of_streams) {
            let _ = writeln!(self.streams.err, "assay: {line}");
        }
    }

    /// What comes after the last figure.
    fn end(&mut self, record: &Record, verdicts: &[String]) -> Result<(), Error> {
        let asked = &self.line.asked;
        let words: String = asked.words.iter().map(|word| format!(" {word}")).collect();
        let line = shown(&format!("iozone{words}")).into_owned();
        let mut text = String::new();
        let end = if asked.silent { "" } else { iozone::closing() };
        let mut reports = Vec::new();
        let sheet = if asked.is_throughput() {
            let tables = iozone::streams_tables(asked, asked.cells()[0].record, |streams, test| {
                self.results.get(&(streams, test)).cloned()
            });
            if asked.report {
                text += &iozone::streams_report(&tables);
            }
            text += end;
            iozone::streams_worksheet(&line, &tables)
        } else {
            let value = |cell, test| self.values.get(&(cell, test)).map(|value| *value as f64);
            reports = iozone::reports(asked, value);
            let cpu = match asked.cpu {
                true => iozone::reports(asked, |cell, test| self.cpu.get(&(cell, test)).copied()),
                false => Vec::new(),
            };
            text += end;
            if asked.report {
                text += &(iozone::report_text(&reports) + &iozone::cpu_report(&cpu));
            }
            iozone::worksheet(&line, &reports, &cpu)
        };
        self.print(&text);
        if let Some(path) = &asked.worksheet {
            let sheet = match path.extension().is_some_and(|ending| ending == "xlsx") {
                true => workbook(&line, asked.unit, verdicts, &reports, record),
                false => Ok(sheet),
            };
            let fault = |error: io::Error| Fault::new(Doing::Write, path.to_text(), &error);
            output::write(path, OutputMode::Anew, &sheet.map_err(fault)?)?;
        }
        Ok(())
    }
}

impl ToolSession for Screen<'_> {
    fn finish(&mut self, outcome: Result<Record, Error>) -> Result<SessionEnd, Error> {
        let record = match outcome {
            Ok(record) => record,
            Err(error) => {
                self.end_row();
                return Err(error);
            }
        };
        self.end_row();
        let place = |phase: &PhaseRecord| self.line.places.get(&phase.name).copied();
        let verdicts = iozone::verdicts(&record.phases, place);
        if record.ending == Ending::Complete {
            self.end(&record, &verdicts)?;
        }
        let failed = matches!(record.ending, Ending::Failed(_))
            || self.unprinted.is_some()
            || self.unwritten.is_some();
        if self.streams.verdict.tells(failed) {
            self.judge(&verdicts);
        }
        match (&record.ending, self.unprinted.take()) {
            (Ending::Failed(fault), _) => Err(fault.clone().into()),
            (_, None) if self.unwritten.is_some() => self
                .unwritten
                .take()
                .map_or(Ok(SessionEnd::Status(SOUND)), |fault| Err(fault.into())),
            (_, Some(error)) => printed(Err(error)).map(|()| SessionEnd::Status(SOUND)),
            // As the original, which answers these two.
            (Ending::Interrupted(signal), _) if ![libc::SIGINT, libc::SIGHUP].contains(signal) => {
                Ok(SessionEnd::Killed(*signal, INTERRUPTED))
            }
            _ => Ok(SessionEnd::Status(SOUND)),
        }
    }
}

impl Observer for Screen<'_> {
    fn resolved(&mut self, _resolved: &Resolved) {
        let began = run::calendar_as_in_c();
        let text = iozone::opening(&self.line.asked, &began, &self.line.machine);
        self.print(&text);
    }

    fn began(&mut self, phase: &Phase, _number: usize, _of: usize) {
        let Some(place) = self.line.places.get(&phase.name).copied() else { return };
        self.title_latency_files(phase, place);
        let now = Some((place.cell, place.streams));
        if self.cell == now {
            return;
        }
        self.end_row();
        (self.cell, self.column) = (now, 0);
        if place.streams > 0 {
            let file = match phase.jobs.first().map(|job| &job.work) {
                Some(Work::Blocks(blocks)) => blocks.target.exact_size(),
                _ => None,
            };
            let file = file.map_or(place.cell.file, |size| size.0);
            let text = iozone::streams_opening(&self.line.asked, place.cell, file);
            self.print(&text);
            return;
        }
        self.print(&iozone::row(&self.line.asked, place.cell));
        self.fill_row(place.cell);
    }

    fn ended(&mut self, _record: &Record, phase: &PhaseRecord) {
        let Some(place) = self.line.places.get(&phase.name).copied() else { return };
        if !phase.faults.is_empty() {
            return;
        }
        self.end_files(phase, place);
        if place.streams > 0 {
            if let Some(results) = StreamResults::of(phase, &self.line.asked, place) {
                let text = iozone::streams_result(&self.line.asked, place.test, &results);
                self.print(&text);
                self.results.insert((place.streams, place.test), results);
            }
            return;
        }
        self.cpu.insert((place.cell, place.test), CpuUse::of(phase).percent());
        if let Some(value) = iozone::cell_value(&self.line.asked, phase, place) {
            self.values.insert((place.cell, place.test), value);
        }
        self.fill_row(place.cell);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::session::InvokedAs;
    use crate::process::Environment;
    use assay_testing::doctored::DoctoredRecord;

    /// What is dropped before each phase of a line, with `ASSAY_COLD` set to that.
    fn drops(cold: Option<&str>, line: &str) -> Result<Vec<CacheDrop>, String> {
        let words: Vec<String> = line.split(' ').map(String::from).collect();
        let environment =
            Environment { cold: cold.map(std::ffi::OsString::from), ..Environment::default() };
        let context = LineContext {
            called: InvokedAs::Tool,
            environment: &environment,
            planned_only: true,
            files: &|_| Err(io::ErrorKind::NotFound.into()),
            is_folder: &|_| false,
            machine: &|| DoctoredRecord::write_flushed().record.machine().clone(),
        };
        let phases = |plan: &Plan| plan.phases.iter().map(|phase| phase.cold).collect();
        let (plan, _) = Iozone.planned(&words, false, &context).map_err(|why| why.to_string())?;
        match Iozone.read(&words, &context) {
            Ok(ReadLine::Run(run)) => assert_eq!(run.plan(), &plan, "{line}"),
            _ => panic!("{line}: no tests"),
        }
        Ok(phases(&plan))
    }

    #[test]
    fn the_variable_drops_what_the_word_drops() {
        use CacheDrop::{Keep, Machine, Target};
        let line = "-i 0 -i 1 -+n -s 64k";
        assert_eq!(drops(None, line), Ok(vec![Keep, Keep]));
        assert_eq!(drops(Some("no"), line), Ok(vec![Keep, Keep]));
        assert_eq!(drops(Some("target"), line), Ok(vec![Keep, Target]));
        assert_eq!(drops(Some("machine"), line), Ok(vec![Keep, Machine]));
        assert_eq!(drops(None, &format!("--honest {line}")), Ok(vec![Keep, Target]));
        assert_eq!(drops(Some("machine"), &format!("--honest {line}")), Ok(vec![Keep, Target]));
        let refused = drops(Some("much"), line).expect_err("means nothing");
        assert!(refused.contains("ASSAY_COLD") && refused.contains("'much'"), "{refused}");
    }
}
