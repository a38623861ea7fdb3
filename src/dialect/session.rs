//! What the driver asks of a dialect: how its words are read, how the plan is run, and what is said
//! while it runs and when it is over.

use std::ffi::OsStr;
use std::fmt::Debug;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::verdict_place::VerdictPlace;
use crate::process::Environment;
use crate::process::typing::time;
use assay_plan::error::{Error, Refusal};
use assay_plan::name::quoted;
use assay_plan::plan::{CacheDrop, Plan, ToolProfile};
use assay_plan::unit::Nanos;
use assay_record::evidence::Machine;
use assay_record::record::{BetterCommand, Finding, Record, WordMeaning};
use assay_run::Observer;

/// By which name the program was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvokedAs {
    /// Its own, with the tool as a verb: words that make no sense end with our own status.
    Assay,
    /// The tool's, through a link: it stands in for the tool, in all respects.
    Tool,
    /// `busybox`, through a link: the same, and BusyBox's ways are meant.
    Busybox,
}

impl InvokedAs {
    /// Whether it stands in for the tool.
    pub fn is_tool(self) -> bool {
        self != Self::Assay
    }
}

/// What a line is read with. What it has to look at is looked at by functions, so that a line can be
/// read without a disk.
pub struct LineContext<'a> {
    /// By which name the program was called.
    pub called: InvokedAs,
    pub environment: &'a Environment,
    /// Only the plan is wanted: nothing is done yet.
    pub planned_only: bool,
    /// Reads a file that the words name.
    pub files: &'a dyn Fn(&Path) -> io::Result<Vec<u8>>,
    /// Whether a folder is there.
    pub is_folder: &'a dyn Fn(&Path) -> bool,
    pub machine: &'a dyn Fn() -> Machine,
}

/// What becomes of a line.
pub enum ReadLine {
    /// There is something to run.
    Run(Box<dyn ToolRun>),
    /// The tool only says something.
    Said(ToolSaid),
}

/// What a tool says instead of doing anything: whole lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolSaid {
    pub out: String,
    pub err: String,
    /// The words made no sense.
    pub refused: bool,
    /// The status of the tool itself where the words made no sense; 1 where it does not say another.
    pub status: Option<u8>,
    /// What went wrong after that was said.
    pub error: Option<Error>,
}

impl ToolSaid {
    /// An answer on standard output.
    pub fn answer(out: String) -> Self {
        Self { out, ..Self::default() }
    }

    /// What is said on standard error of words that make no sense, and the status of the tool itself.
    pub fn refused(err: String, status: Option<u8>) -> Self {
        Self { err, refused: true, status, ..Self::default() }
    }
}

/// A tool, by its names: what the list of dialects, the verbs, their help and completions are made of.
#[derive(Debug)]
pub struct KnownTool {
    /// What it is called in a sentence.
    pub title: &'static str,
    /// As verbs, and as names of links to the program; the first is the verb that help shows, and stands in the
    /// origin of its plans.
    pub names: &'static [&'static str],
    /// What its verb does, in a line of help.
    pub about: &'static str,
    /// What else its help says.
    pub more: &'static str,
    /// What help calls each of its words.
    pub value_name: &'static str,
    /// Whose words these are, as help says it.
    pub whose: &'static str,
    /// What others have to know of it.
    pub profile: fn() -> ToolProfile,
    pub dialect: &'static dyn Dialect,
}

/// A tool whose words are understood.
pub trait Dialect: Debug + Sync {
    /// Whether whoever calls it by its name gets one status for all that goes wrong.
    fn has_one_status(&self) -> bool {
        false
    }

    /// Whether it copies in the thread that the program was started with.
    fn lends_first_thread(&self) -> bool {
        false
    }

    /// Reads the words after its name.
    ///
    /// # Errors
    /// When words or variables of ours make no sense. What the tool itself would refuse is [`ToolSaid`].
    fn read(&self, words: &[String], context: &LineContext<'_>) -> Result<ReadLine, Error>;

    /// The plan of a line that is not to be run, and lines that tell more; `ours`: it is typed to
    /// assay.
    ///
    /// # Errors
    /// When the tool would refuse the words, or only answer them.
    fn planned(
        &self,
        words: &[String],
        ours: bool,
        context: &LineContext<'_>,
    ) -> Result<(Plan, BetterCommand), Refusal>;

    /// What its words mean, of those that are understood.
    fn meanings(&self, _words: &[String], _context: &LineContext<'_>) -> Vec<WordMeaning> {
        Vec::new()
    }

    /// Lines to type in place of what its words do not mean: each says why.
    fn corrections(&self, _words: &[String], _context: &LineContext<'_>) -> Vec<BetterCommand> {
        Vec::new()
    }

    /// What the tool says, in whole lines, when its answer cannot be written to standard output; `None`: it
    /// has no words of its own for that.
    fn unprinted(&self, _error: &io::Error) -> Option<String> {
        None
    }

    /// The words after its name that do what a file of its own form says, where the text is that of one.
    fn words_of_file(&self, _text: &str, _path: &str) -> Option<Vec<String>> {
        None
    }

    /// What a text tells that the tool has printed; `None`: it is none.
    fn printed(&self, _text: &str) -> Option<PrintedResult> {
        None
    }

    /// The line as it should have been typed, after what was found of its plan.
    fn mended(&self, _words: &[String], _plan: &Plan, _found: &[Finding]) -> Option<BetterCommand> {
        None
    }
}

/// What a line of results tells that a tool has printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintedResult {
    pub about: Vec<WordMeaning>,
    pub figures: Vec<WordMeaning>,
    pub again: BetterCommand,
}

/// A line that was understood.
pub trait ToolRun {
    fn plan(&self) -> &Plan;

    /// Whole lines for standard error, before anything is done.
    fn warnings(&self) -> &str {
        ""
    }

    /// How often it is done.
    fn times(&self) -> u32 {
        1
    }

    /// Files that its words want a report in, each in the format that its name ends with.
    fn reports(&self) -> &[PathBuf] {
        &[]
    }

    /// Files that its words have it write itself, when it runs or at its end.
    fn outputs(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Whether anything is measured, and said of it. Where that is not, and no record is kept, nobody looks.
    fn measures(&self) -> bool {
        true
    }

    /// Whether it fails when not all could be said on standard error.
    fn checks_stderr(&self) -> bool {
        false
    }

    /// Which signals mean what. Usually a file that may not grow is an error.
    fn signals(&self) -> SignalUse {
        SignalUse { inherits_pipe: false, ignored: &[libc::SIGXFSZ] }
    }

    /// What is said of one of these times, the first of which is 0.
    ///
    /// # Errors
    /// When it cannot begin.
    fn session<'a>(
        &'a self,
        time: u32,
        streams: ToolStreams<'a>,
    ) -> Result<Box<dyn ToolSession + 'a>, Error>;
}

/// Which signals mean what while a tool's line is done. Those that terminate end the run in order, or the session
/// answers them, where they are not ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignalUse {
    /// A pipe that nobody reads any more does what whoever started the program wants: by default it
    /// kills without a word. Otherwise it is an error.
    pub inherits_pipe: bool,
    pub ignored: &'static [i32],
}

pub struct ToolStreams<'a> {
    pub out: &'a mut dyn Write,
    pub err: &'a mut dyn Write,
    pub environment: &'a Environment,
    /// Where the verdict is said.
    pub verdict: &'a VerdictPlace,
}

/// Says what the tool would say while it runs, and what it came to.
pub trait ToolSession: Observer {
    /// Says the rest when the run is over, or what kept it from it.
    ///
    /// # Errors
    /// What no such tool does: keeping a record, judging; or the output cannot be written.
    fn finish(&mut self, outcome: Result<Record, Error>) -> Result<SessionEnd, Error>;
}

/// How the program ends after a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEnd {
    /// With a status; if it is 0, after the other times.
    Status(u8),
    /// Of a signal; with a status if that does not kill.
    Killed(i32, u8),
}

/// The word that only asks for the plan.
pub const PLAN: &str = "--plan";

/// Words without the one that only asks for the plan.
pub fn without_plan(words: &[String]) -> Vec<String> {
    words.iter().filter(|word| *word != PLAN).cloned().collect()
}

/// A line as it is typed to assay.
pub fn typed_line(name: &str, words: &[String]) -> String {
    let words: String = words.iter().map(|word| format!(" {}", quoted(word))).collect();
    format!("assay {name}{words}")
}

/// What was left in memory is watched for so long at the most: where somebody sees why it takes longer, or
/// wants it so.
pub const SETTLE: Nanos = Nanos::secs(20);
/// And where nobody can be told why dd does not end.
pub const SETTLE_UNSEEN: Nanos = Nanos::secs(2);

/// What is dropped from memory before the copy, or before anything else is read.
pub fn cold(environment: &Environment) -> Result<CacheDrop, Refusal> {
    match environment.cold.as_deref().map(OsStr::as_encoded_bytes) {
        None | Some(b"no") => Ok(CacheDrop::Keep),
        Some(b"target") => Ok(CacheDrop::Target),
        Some(b"machine") => Ok(CacheDrop::Machine),
        Some(other) => Err(unknown_value("ASSAY_COLD", other, "target, machine or no")),
    }
}

/// How long the flush is watched after the copy.
pub fn settle(silent: bool, environment: &Environment) -> Result<Nanos, Refusal> {
    match environment.settle.as_deref().map(OsStr::as_encoded_bytes) {
        Some(b"no") => Ok(Nanos::ZERO),
        None | Some(b"yes") if silent => Ok(Nanos::ZERO),
        None if environment.err.is_none() => Ok(SETTLE_UNSEEN),
        None | Some(b"yes") => Ok(SETTLE),
        Some(other) => std::str::from_utf8(other)
            .ok()
            .and_then(|text| time(text).ok())
            .ok_or_else(|| unknown_value("ASSAY_SETTLE", other, "yes, no, or a time such as 60s")),
    }
}

/// A variable of ours has a value that means nothing.
pub fn unknown_value(name: &str, value: &[u8], known: &str) -> Refusal {
    Refusal {
        place: name.into(),
        why: format!("invalid value '{}'", String::from_utf8_lossy(value)),
        instead: format!("give {known}"),
    }
}

/// Whether words that do not mean what they seem to are refused.
pub fn strict(environment: &Environment) -> Result<bool, Refusal> {
    match environment.strict.as_deref().map(OsStr::as_encoded_bytes) {
        None | Some(b"0") => Ok(false),
        Some(b"1") => Ok(true),
        Some(other) => Err(unknown_value("ASSAY_STRICT", other, "1, or leave it out")),
    }
}
