//! What of a line is done on the board, and what here: its words go there, the record and the reports stay here,
//! and files that the words name here go along.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{CommandFactory as _, Parser as _};

use super::super::dialect;
use super::super::verb::{Cli, Verb};
use super::super::words;
use super::args::OnArgs;
use super::frame::{BoardCommand, BoardFrame, BoardWord};
use super::link::Board;
use crate::process::Environment;
use assay_plan::error::{Error, Refusal};
use assay_plan::name::{NameText as _, path, quoted};
use assay_plan::plan::PlanBoard;
use assay_record::record::{document_file, unread};

#[derive(Clone, Debug, Default)]
pub struct BoardWork {
    /// What runs there.
    pub command: BoardCommand,
    /// Files that go there, in frames.
    pub files: Vec<BoardFrame>,
    /// Where the record goes here.
    pub record: Option<PathBuf>,
    /// Reports that are written here.
    pub reports: Vec<PathBuf>,
    /// The file in which the verdict goes here.
    pub verdict: Option<PathBuf>,
    /// Whether standard input is sent there: tools may read it, our own verbs do not.
    pub input: bool,
}

/// Variables that mean there what they mean here.
const HANDED_ON: [&str; 8] = [
    "ASSAY_COLD",
    "ASSAY_DIALECT",
    "ASSAY_OVERWRITE",
    "ASSAY_SETTLE",
    "ASSAY_STRICT",
    "COLUMNS",
    "NO_COLOR",
    "TERM",
];

impl BoardWork {
    /// The work that the words behind a board say.
    ///
    /// # Errors
    /// When they are none of ours and of no tool, or a file that they name here cannot be read.
    pub fn of(args: &OnArgs, environment: &Environment) -> Result<Self, Error> {
        let mut typed = vec![OsString::from("assay")];
        typed.extend(args.words.iter().cloned());
        let mut work = Self { record: args.record.clone(), ..Self::default() };
        let handed_on =
            HANDED_ON.iter().filter_map(|name| Some((*name, environment.variable(name)?)));
        work.command.variables = handed_on.map(|(name, value)| (name.into(), value)).collect();
        let mut set = |name: &str, value: String| work.command.variables.push((name.into(), value));
        set("LC_ALL", if environment.utf8 { "C.UTF-8" } else { "C" }.into());
        set("ASSAY_TERMINAL", environment.terminal_text());
        let PlanBoard { verb, shell } = reached(args)?;
        set("ASSAY_BOARD_VERB", verb);
        set("ASSAY_BOARD_SHELL", shell);
        if let Some(meant) = dialect::meant(&typed) {
            let place = environment.record.clone();
            work.record = work.record.or(place);
            work.plots(environment);
            work.judges(environment);
            work.input = true;
            let files = meant.words.iter().map(|word| is_job_file(Path::new(word)));
            let files: Vec<bool> = [false, false].into_iter().chain(files).collect();
            work.takes(&typed, |at| files[at])?;
            work.keeps("ASSAY_RECORD");
            return Ok(work);
        }
        let cli = Cli::try_parse_from(&typed);
        let cli = match cli {
            Ok(cli) => cli,
            // Its help is the same here.
            Err(error) if !error.use_stderr() => {
                work.takes(&typed, |_| false)?;
                return Ok(work);
            }
            Err(error) => return Err(words::refusal(&error, &typed, &Cli::command()).into()),
        };
        if matches!(cli.verb, Verb::On(_) | Verb::OnBoard(_)) {
            let why = "a board cannot be reached through another one by 'on'";
            return Err(Refusal::new(why, "name the host between with -J, as ssh does").into());
        }
        let plan = match &cli.verb {
            Verb::Run(run) => Some(run.file.clone()),
            _ => None,
        };
        if let Some(verb) = cli.verb.plan_verb() {
            let output = verb.output();
            work.record = work.record.or_else(|| output.record.clone());
            work.reports.clone_from(&output.report);
            if output.plan && work.record.is_some() {
                let why = "'--record' and '--plan' contradict each other";
                return Err(Refusal::new(why, "leave one of them out").into());
            }
            typed = without(&typed, &["--record", "--report"]);
        } else if work.record.is_some() {
            let why = format!("'{}' makes no record", args.words[0].to_text());
            return Err(Refusal::new(why, "leave --record out").into());
        }
        let is_plan = |at: usize| at > 1 && plan.as_ref().is_some_and(|plan| typed[at] == *plan);
        let there = plan.as_ref().is_some_and(|plan| plan.is_file());
        if matches!(cli.verb, Verb::Atto(_)) {
            work.judges(environment);
        }
        work.takes(&typed, |at| there && is_plan(at))?;
        work.keeps("ASSAY_BOARD_RECORD");
        Ok(work)
    }

    /// Takes over the words behind the program; those that `is_file` names are files here.
    fn takes(&mut self, typed: &[OsString], is_file: impl Fn(usize) -> bool) -> Result<(), Error> {
        for (at, word) in typed.iter().enumerate().skip(1) {
            if !is_file(at) {
                self.command.words.push(BoardWord::Text(word.to_text()));
                continue;
            }
            let file = Path::new(word);
            let bytes = document_file::bytes_of(file).map_err(|error| {
                unread(error, &file.to_text(), "a file for the board", "name another")
            })?;
            // Several may have the same name.
            let own = file.file_name().unwrap_or_default().to_text();
            let name = format!("{at}-{own}");
            let part = |bytes| BoardFrame::File { name: name.clone(), bytes };
            self.files.extend(BoardFrame::parts(&bytes, part));
            self.command.words.push(BoardWord::File(name.clone()));
        }
        Ok(())
    }

    /// A picture in characters is drawn there, one in a file here.
    fn plots(&mut self, environment: &Environment) {
        match &environment.plot {
            Some(plot) if plot.as_os_str() == "-" => {
                self.command.variables.push(("ASSAY_PLOT".into(), "-".into()));
            }
            plot => self.reports.extend(plot.clone()),
        }
    }

    /// A verdict on standard error is said there, one in a file here.
    fn judges(&mut self, environment: &Environment) {
        let Some(place) = &environment.verdict else { return };
        let here = !["-", "off"].iter().any(|word| place.as_os_str() == *word);
        self.verdict = here.then(|| place.clone());
        let there = if here { "off".into() } else { place.to_text() };
        self.command.variables.push(("ASSAY_VERDICT".into(), there));
    }

    /// The record is wanted where it is kept, or something is made of it.
    fn keeps(&mut self, variable: &str) {
        let wanted = self.record.is_some() || !self.reports.is_empty() || self.verdict.is_some();
        self.command.record = wanted.then(|| variable.into());
    }
}

/// How to reach the board again, by a line.
fn reached(args: &OnArgs) -> Result<PlanBoard, Refusal> {
    let words =
        |words: Vec<String>| words.iter().map(|word| format!(" {}", quoted(word))).collect();
    let (mut verb, mut own) = (String::from("assay on"), Vec::new());
    if let Some(binaries) = &args.binaries {
        own.extend(["--binaries".to_string(), binaries.to_text()]);
    }
    if let Some(folder) = &args.folder {
        own.extend(["--folder".to_string(), folder.clone()]);
    }
    let line: String = words(own);
    verb.push_str(&line);
    let board = Board::of(args)?;
    let shell: String = words(board.shell());
    if let Board::Ssh { options, .. } = &board {
        let options: String = words(options.clone());
        verb.push_str(&options);
    }
    verb.push(' ');
    verb.push_str(&quoted(&args.board));
    Ok(PlanBoard { verb, shell: shell.trim_start().into() })
}

/// Whether a word of a tool is a file here with jobs in it: it begins with a section.
fn is_job_file(word: &Path) -> bool {
    let named = !word.to_text().starts_with('-');
    let text = if named { document_file::bytes_of(word) } else { Ok(Vec::new()) };
    let text = text.unwrap_or_default();
    let text = String::from_utf8_lossy(&text[..text.len().min(1 << 16)]);
    let mut lines = text.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(['#', ';']));
    first.is_some_and(|line| line.starts_with('[') && line.ends_with(']'))
}

/// The words without these options and their values.
fn without(typed: &[OsString], options: &[&str]) -> Vec<OsString> {
    let mut left = Vec::new();
    let mut rest = typed.iter();
    while let Some(word) = rest.next() {
        let text = word.to_text();
        if options.contains(&&*text) {
            rest.next();
        } else if !options
            .iter()
            .any(|it| text.strip_prefix(it).is_some_and(|rest| rest.starts_with('=')))
        {
            left.push(path(&text).into_os_string());
        }
        if text == "--" {
            left.extend(rest.by_ref().cloned());
        }
    }
    left
}
