//! What the driver asks of a dialect: how its words are read, how the plan is run, and what is said
//! while it runs and when it is over.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::environment::Environment;
use super::verdict_place::VerdictPlace;
use assay_plan::error::{Error, Refusal};
use assay_plan::plan::Plan;
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
    /// Variables and terminals.
    pub environment: &'a Environment,
    /// Only the plan is wanted: nothing is done yet.
    pub planned_only: bool,
    /// Reads a file that the words name.
    pub files: &'a dyn Fn(&Path) -> io::Result<Vec<u8>>,
    /// Whether a folder is there.
    pub is_folder: &'a dyn Fn(&Path) -> bool,
    /// Looks at the machine.
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
    /// On standard output.
    pub out: String,
    /// On standard error.
    pub err: String,
    /// The words made no sense.
    pub refused: bool,
    /// The status of the tool itself where the words made no sense; 1 where it does not say another.
    pub status: Option<u8>,
    /// What went wrong after that was said.
    pub error: Option<Error>,
}

/// A tool whose words are understood.
pub trait Dialect: Sync {
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

    /// The line as it should have been typed, after what was found of its plan.
    fn mended(&self, _words: &[String], _plan: &Plan, _found: &[Finding]) -> Option<BetterCommand> {
        None
    }
}

/// A line that was understood.
pub trait ToolRun {
    /// What it does.
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

    /// Which signals mean what.
    fn signals(&self) -> SignalUse;

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
    /// They do nothing.
    pub ignored: &'static [i32],
}

/// Where a session writes.
pub struct ToolStreams<'a> {
    /// Standard output.
    pub out: &'a mut dyn Write,
    /// Standard error.
    pub err: &'a mut dyn Write,
    /// What they can show.
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
