//! assay's own words. Help, man page and completions come from the definitions here.

pub mod atto;
mod bonnie;
pub mod card;
mod compare;
mod conduct;
mod dd;
pub mod demo;
mod dialect;
mod environment;
pub mod explain;
mod files;
mod manual;
pub mod modes;
mod place;
mod probe;
pub mod profile;
pub mod quick;
pub mod ramp;
mod shell;
pub mod sustain;
pub mod sweep;
#[cfg(test)]
mod told;
mod watch;
mod words;

pub use environment::Environment;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{CommandFactory as _, Parser, Subcommand};

use crate::error::{Error, Fault, Refusal};
use crate::plan::Plan;
use crate::record::{self, Comparison, Explanation, Glance, Probe, Record};
use crate::verdict::catalogue;
use crate::{report, verdict};

/// A storage benchmark that can be believed: the number, and whether it is true
#[derive(Debug, Parser)]
#[command(name = "assay", version, max_term_width = 90, arg_required_else_help = false)]
#[command(after_help = EPILOGUE, after_long_help = manual::epilogue())]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// How fast is this device? Six figures in half a minute, and whether they are true
    Quick(quick::Words),
    /// How does the rate grow with the I/Os in flight, where does it stop, and what stops it?
    Ramp(ramp::Words),
    /// How does the rate depend on the size of an I/O (or depth, workers, reads), from where is it good?
    Sweep(sweep::Words),
    /// What does the device keep up when it is written to for long?
    Sustain(sustain::Words),
    /// Which speed classes does an SD card clear here (C4, U3, V30, A1), and what does it claim?
    Card(card::Words),
    /// The same write and read flushed, synchronous, direct, mapped: which is fast, safe, and why
    Modes(modes::Words),
    /// A trap shown on this machine in half a minute, safely: the usual line, the right one, and why
    Demo(demo::Words),
    /// What lies under a path, and what would bite there? Nothing is run, and nothing is written
    Probe(probe::Words),
    /// What does a line, a plan or a record measure, what not, and what should be typed instead?
    Explain(explain::Words),
    /// What does the device under a path do now? Its own counters, as beside a run, until Ctrl-C
    Watch(watch::Words),
    /// Run a plan from a file
    Run {
        /// A plan as JSON, as --plan prints it
        #[arg(value_name = "PLAN")]
        file: PathBuf,
        #[command(flatten)]
        common: Common,
    },
    /// Judge an old record again, by the rules of this version
    Judge {
        /// A record that --record or ASSAY_RECORD wrote
        #[arg(value_name = "RECORD")]
        file: PathBuf,
        /// Print the record with its new verdicts as JSON
        #[arg(long, conflicts_with = "format")]
        json: bool,
        /// Print it in this form
        #[arg(long, value_parser = formats(), default_value = "text")]
        format: String,
    },
    /// Hold two records or folders of them against each other: by how much the figures differ, and
    /// what forbids to compare them
    Compare(compare::Words),
    /// Print the JSON Schema of records, plans, probes, explanations or what is watched
    Schema {
        /// Which document
        #[arg(value_enum, default_value = "record", value_name = "DOCUMENT")]
        of: Document,
    },
    /// Print the traps that assay knows, or one of them: how it is noticed, how to try it
    Traps {
        /// Its number, as verdicts carry it: T02
        #[arg(value_name = "NUMBER")]
        number: Option<String>,
    },
    /// Copy as dd does, with all of its operands; the verdict goes to standard error
    ///
    /// 'assay dd --help' lists the operands; --plan among them only prints the plan. What is said,
    /// and the exit status, are dd's own, also when the number is wrong; only words that make no sense end with 2.
    #[command(disable_help_flag = true)]
    Dd {
        /// dd's own words
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPERAND")]
        words: Vec<OsString>,
    },
    /// The twelve tests of Bonnie++, with its options, tables and CSV; a verdict on each to standard error
    ///
    /// 'assay bonnie --help' lists the options; --format chooses the version whose tables and CSV are
    /// printed, --as-original leaves in memory what the tool would, --plan only prints the plan. The exit status is
    /// Bonnie++'s own; only words that make no sense end with 2.
    #[command(disable_help_flag = true)]
    Bonnie {
        /// Bonnie++'s own words
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTION")]
        words: Vec<OsString>,
    },
    /// Sweep as ATTO Disk Benchmark does, with its choices; the verdict goes to standard error
    ///
    /// Also by a link named atto.
    Atto(atto::Words),
    /// Print the man page
    Man,
    /// Print completions for a shell
    Completions {
        /// Which shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
}

/// What follows the short help.
const EPILOGUE: &str = "\
Exit status: 0 the number is sound; 1 something failed; 2 the words are wrong and nothing was \
touched; 3 it ran, and the number is not sound; 130 Ctrl-C. 'assay --help' says more.

Start with: assay quick .";

/// What the verbs that run something share.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Common {
    /// Only print the plan (JSON), and what it would write and about how long it takes
    #[arg(long, conflicts_with = "record")]
    pub plan: bool,
    /// Keep the whole record in this file, while it grows; in a folder in a file of its own
    #[arg(long, value_name = "PLACE")]
    pub record: Option<PathBuf>,
    /// Write a report into this file: .html, .svg, .csv, .json or .txt, by its ending; may be repeated
    ///
    /// When the run is over, also when it was interrupted. A page or picture with charts, a table,
    /// the record, or what is printed. A file that has this name is replaced.
    #[arg(long, value_name = "FILE", conflicts_with = "plan")]
    pub report: Vec<PathBuf>,
    /// Print the whole record as JSON instead of a page
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Document {
    Record,
    Plan,
    Probe,
    Explanation,
    Comparison,
    Watch,
}

/// The whole program: words in, output and an exit status out.
pub fn main(
    words: &[OsString],
    environment: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> u8 {
    let mut out = Patient { inner: out, gone: false };
    let mut err = Patient { inner: err, gone: false };
    let outcome = call(words, environment, &mut out, &mut err)
        .and_then(|code| printed(out.flush()).map(|()| code));
    match outcome {
        Ok(code) => code,
        Err(error) => {
            // Nobody is left to be told when this fails too.
            let _ = writeln!(err, "assay: {error}");
            match error {
                Error::Refusal(_) => conduct::REFUSAL,
                Error::Fault(_) => conduct::FAULT,
            }
        }
    }
}

fn call(
    words: &[OsString],
    environment: &Environment,
    out: &mut Patient<'_>,
    err: &mut dyn Write,
) -> Result<u8, Error> {
    let verb = dialect::as_verb(words);
    let words = verb.as_deref().unwrap_or(words);
    if let Some(meant) = dialect::meant(words) {
        return dialect::call(&meant, environment, out, err);
    }
    let verb = match Cli::try_parse_from(words) {
        Ok(cli) => cli.verb,
        Err(error) if !error.use_stderr() => {
            printed(write!(out, "{}", error.render()))?;
            return Ok(conduct::SOUND);
        }
        Err(error) => return Err(words::refusal(&error, words).into()),
    };
    match verb {
        Verb::Quick(quick) => {
            let plan = quick::planned(&quick, typed(words))?;
            conduct_path(&plan, &quick.common, environment, out, err)
        }
        Verb::Ramp(ramp) => {
            let plan = ramp::planned(&ramp, typed(words))?;
            conduct_path(&plan, &ramp.common, environment, out, err)
        }
        Verb::Sweep(sweep) => {
            let plan = sweep::planned(&sweep, typed(words))?;
            conduct_path(&plan, &sweep.common, environment, out, err)
        }
        Verb::Sustain(sustain) => {
            let plan = sustain::planned(&sustain, typed(words))?;
            conduct_path(&plan, &sustain.common, environment, out, err)
        }
        Verb::Card(card) => {
            let plan = card::planned(&card, typed(words))?;
            conduct_path(&plan, &card.common, environment, out, err)
        }
        Verb::Modes(modes) => {
            let plan = modes::planned(&modes, typed(words))?;
            conduct_path(&plan, &modes.common, environment, out, err)
        }
        Verb::Demo(demo) => {
            let Some(topic) = demo::wanted(&demo)? else {
                printed(report::lesson::list(environment.out_style(), out))?;
                return Ok(conduct::SOUND);
            };
            let plan = demo::planned(topic, demo.path.as_deref(), typed(words))?;
            conduct_path(&plan, &demo.common, environment, out, err)
        }
        Verb::Probe(words) => {
            probe::probe(&words, environment, out)?;
            Ok(conduct::SOUND)
        }
        Verb::Explain(words) => {
            explain::explain(&words, environment, out)?;
            Ok(conduct::SOUND)
        }
        Verb::Watch(watch) => watch::watch(&watch, &typed(words), environment, out),
        Verb::Run { file, common } => {
            conduct::conduct(&read_plan(&file)?, &common, environment, out, err)
        }
        Verb::Judge { file, json, format } => {
            let record = judged(read_record(&file)?);
            let name = if json { "json" } else { &format };
            if let Some(format) = report::format(name) {
                printed((format.write)(&record, environment.out_style(), out))?;
            }
            Ok(conduct::judged(&record))
        }
        Verb::Compare(words) => compare::compare(&words, environment, out),
        Verb::Schema { of } => {
            let schema = match of {
                Document::Record => schemars::schema_for!(Record),
                Document::Plan => schemars::schema_for!(Plan),
                Document::Probe => schemars::schema_for!(Probe),
                Document::Explanation => schemars::schema_for!(Explanation),
                Document::Comparison => schemars::schema_for!(Comparison),
                Document::Watch => schemars::schema_for!(Glance),
            };
            printed(
                serde_json::to_writer_pretty(&mut *out, &schema)
                    .map_err(io::Error::from)
                    .and_then(|()| writeln!(out)),
            )?;
            Ok(conduct::SOUND)
        }
        Verb::Traps { number } => {
            printed(out.write_all(traps(number.as_deref())?.as_bytes()))?;
            Ok(conduct::SOUND)
        }
        Verb::Dd { words } => {
            dialect::call(&spoken(dialect::Tool::Dd, &words), environment, out, err)
        }
        Verb::Bonnie { words } => {
            dialect::call(&spoken(dialect::Tool::Bonnie, &words), environment, out, err)
        }
        Verb::Atto(atto) => atto::atto(&atto, typed(words), environment, out, err),
        Verb::Man => {
            printed(manual::write(Cli::command(), out))?;
            Ok(conduct::SOUND)
        }
        Verb::Completions { shell } => {
            // The generator panics when it can not write; memory can always be written.
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "assay", &mut text);
            printed(out.write_all(&text))?;
            Ok(conduct::SOUND)
        }
    }
}

/// Conducts the plan of a verb that takes a path. Who typed one has no phases in mind: the place of
/// a refusal would only be in the way.
fn conduct_path(
    plan: &Plan,
    common: &Common,
    environment: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<u8, Error> {
    conduct::conduct(plan, common, environment, out, err).map_err(without_place)
}

fn without_place(error: Error) -> Error {
    match error {
        Error::Refusal(refusal) => Refusal { place: String::new(), ..refusal }.into(),
        fault => fault,
    }
}

/// The words of a dialect that is a verb.
fn spoken(tool: dialect::Tool, words: &[OsString]) -> dialect::Meant<'_> {
    dialect::Meant { tool, words, called: dialect::Called::Assay }
}

/// The words after the verb, for the record.
fn typed(words: &[OsString]) -> Vec<String> {
    words.iter().skip(2).map(|word| word.to_string_lossy().into_owned()).collect()
}

/// A plan from a file.
fn read_plan(path: &Path) -> Result<Plan, Error> {
    let shown = path.display().to_string();
    if !path.exists() {
        return Err(Refusal::new(
            format!("there is no plan at '{shown}'"),
            "write one with 'assay quick PATH --plan'",
        )
        .into());
    }
    let text = record::text_of(path, "a plan", "'assay schema plan' describes it")?;
    if record::is_record(&text) {
        return Err(Refusal::new(
            format!("'{shown}' is a record, not a plan"),
            format!("judge it with 'assay judge {shown}'; 'assay quick PATH --plan' writes a plan"),
        )
        .into());
    }
    serde_json::from_str(&text).map_err(|error| {
        // serde says where once more at the end of its sentence.
        let why = error.to_string();
        let why = why.split(" at line ").next().unwrap_or_default();
        Refusal {
            place: format!("{shown}:{}:{}", error.line(), error.column()),
            why: format!("not a plan: {why}"),
            instead: "'assay schema plan' describes it".into(),
        }
        .into()
    })
}

/// A record from a file.
fn read_record(path: &Path) -> Result<Record, Error> {
    if path.exists() {
        return record::load(path);
    }
    Err(Refusal::new(
        format!("there is no record at '{}'", path.display()),
        "give a file that --record or ASSAY_RECORD wrote",
    )
    .into())
}

/// The catalogue of traps, or what it says of one.
fn traps(number: Option<&str>) -> Result<String, Refusal> {
    let Some(number) = number else { return Ok(catalogue::page()) };
    let digits = number.strip_prefix(['T', 't']).unwrap_or(number);
    let zero = if digits.len() == 1 { "0" } else { "" };
    match catalogue::entries(&format!("T{zero}{digits}")).as_slice() {
        [] => Err(Refusal::new(
            format!("there is no trap '{number}'"),
            format!("write a number from T00 to T{}", catalogue::LAST),
        )),
        entries => Ok(entries.join("\n")),
    }
}

/// The formats by their names.
fn formats() -> PossibleValuesParser {
    let named = |format: &report::Format| PossibleValue::new(format.name).help(format.about);
    PossibleValuesParser::new(report::FORMATS.iter().map(named))
}

/// The record with the verdicts that today's rules give.
fn judged(mut record: Record) -> Record {
    verdict::judge(&mut record);
    record
}

/// A failure to write the output, as a fault.
fn printed(outcome: io::Result<()>) -> Result<(), Error> {
    outcome.map_err(|error| Fault::new("write", "standard output", &error).into())
}

/// A writer for which a reader that went away is no failure: what nobody reads is not written.
struct Patient<'a> {
    inner: &'a mut dyn Write,
    /// The reader went away.
    gone: bool,
}

impl Patient<'_> {
    /// The outcome, without the failure that is none; `nothing` stands for it.
    fn forgive<T>(&mut self, outcome: io::Result<T>, nothing: T) -> io::Result<T> {
        match outcome {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.gone = true;
                Ok(nothing)
            }
            outcome => outcome,
        }
    }
}

impl Write for Patient<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let outcome = self.inner.write(bytes);
        self.forgive(outcome, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let outcome = self.inner.flush();
        self.forgive(outcome, ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_make_sense() {
        Cli::command().debug_assert();
    }
}
