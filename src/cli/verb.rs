//! The verbs, one line each, as the parser knows them. Help, man page and completions come from here.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches, Parser, Subcommand};

use super::conduct::PlanVerb;
use super::schema::SchemaDocument;
use super::{
    atto, card, compare, demo, explain, io, judge, manual, modes, on, probe, quick, ramp, run,
    sustain, sweep, version, watch,
};
use crate::dialect::session::KnownTool;
use crate::dialect::{DIALECTS, named};

/// A storage benchmark that can be believed: the number, and whether it is true
#[derive(Debug, Parser)]
#[command(name = "assay", version, long_version = version::long(), max_term_width = 90, arg_required_else_help = false)]
#[command(after_help = EPILOGUE, after_long_help = manual::epilogue())]
pub struct Cli {
    /// For serial consoles: 80 columns, ASCII only, no colours, nothing redrawn (the default where TERM=dumb)
    #[arg(long, global = true, display_order = 900)]
    pub plain: bool,
    /// What is to be done.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What is to be done.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// One that measures what lies under a path.
    #[command(flatten)]
    Measure(MeasureVerb),
    /// Show what lies under a path and the settings that can skew results; runs and writes nothing
    Probe(probe::ProbeArgs),
    /// Explain what a command line, a plan or a record measures, and what to type instead
    Explain(explain::ExplainArgs),
    /// Watch the counters of the devices under a path until Ctrl-C
    Watch(watch::WatchArgs),
    /// Run a plan from a file
    Run(run::RunArgs),
    /// Judge a record again by the rules of this version
    Judge(judge::JudgeArgs),
    /// Compare two records, or two folders of them: how the figures differ, and what makes the
    /// comparison invalid
    Compare(compare::CompareArgs),
    /// Print the JSON Schema of a document
    Schema {
        /// The document
        #[arg(value_enum, default_value = "record", value_name = "DOCUMENT")]
        of: SchemaDocument,
    },
    /// Print the traps that assay knows, or one of them: how it is detected, how to reproduce it
    Traps {
        /// A trap's number, as verdicts show it: T02
        #[arg(value_name = "NUMBER")]
        number: Option<String>,
    },
    /// Another tool's.
    #[command(flatten)]
    Tool(ToolVerb),
    /// Sweep as ATTO Disk Benchmark does; the verdict goes to standard error
    ///
    /// Also by a link named atto. ASSAY_VERDICT=FILE puts the verdict into a file, a line for each row behind what it
    /// holds; off says it nowhere.
    Atto(atto::AttoArgs),
    /// Run any of these on a board or an Android device, by ssh or adb, and bring the record home
    On(on::OnArgs),
    /// What 'on' starts there
    #[command(hide = true)]
    OnBoard(on::BoardArgs),
    /// Print the man page
    Man,
    /// Print completions for a shell
    Completions {
        /// Which shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
}

/// The words of a tool behind its verb. There is a verb for each tool of the list.
#[derive(Debug)]
pub struct ToolVerb {
    /// Whose words.
    pub tool: &'static KnownTool,
    /// Its own words.
    pub words: Vec<OsString>,
}

impl Subcommand for ToolVerb {
    fn augment_subcommands(command: Command) -> Command {
        command.subcommands(DIALECTS.iter().map(|tool| {
            let words = Arg::new(WORDS)
                .value_name(tool.value_name)
                .help(tool.whose)
                .value_parser(clap::value_parser!(OsString))
                .action(ArgAction::Append)
                .num_args(1..)
                .trailing_var_arg(true)
                .allow_hyphen_values(true);
            Command::new(tool.names[0])
                .about(tool.about)
                .long_about(format!("{}\n\n{}", tool.about, tool.more))
                .disable_help_flag(true)
                .arg(words)
        }))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        named(name).is_some()
    }
}

impl FromArgMatches for ToolVerb {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let found = matches.subcommand().and_then(|(name, words)| Some((named(name)?, words)));
        let (tool, words) = found.ok_or_else(|| clap::Error::new(ErrorKind::MissingSubcommand))?;
        let words = words.get_many(WORDS).into_iter().flatten().cloned().collect();
        Ok(Self { tool, words })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// How the parser calls a tool's words.
const WORDS: &str = "words";

/// The verbs that measure what lies under a path.
#[derive(Debug, Subcommand)]
pub enum MeasureVerb {
    /// Measure a device in half a minute: six figures, and whether to believe them
    Quick(quick::QuickArgs),
    /// Run one load: any mix, block size, depth and rate, with the latency of each direction
    Io(io::IoArgs),
    /// Measure throughput by I/Os in flight: the knee, and what limits it
    Ramp(ramp::RampArgs),
    /// Measure throughput by block size (or depth, workers, reads) and find where it reaches 90 % of its peak
    Sweep(sweep::SweepArgs),
    /// Measure sustained write speed after the burst cache is full
    Sustain(sustain::SustainArgs),
    /// Measure which SD speed classes a card meets (C4, U3, V30, A1); with --capacity find fakes
    Card(card::CardArgs),
    /// Compare ways to write and read (fsync, O_SYNC, O_DIRECT, mmap): what is fast, what is safe, and why
    Modes(modes::ModesArgs),
    /// Show a trap on this machine in half a minute: the usual command, the right one, and why
    Demo(demo::DemoArgs),
}

impl MeasureVerb {
    /// Its words, which become a plan.
    pub fn words(&self) -> &dyn PlanVerb {
        match self {
            Self::Quick(words) => words,
            Self::Io(words) => words,
            Self::Ramp(words) => words,
            Self::Sweep(words) => words,
            Self::Sustain(words) => words,
            Self::Card(words) => words,
            Self::Modes(words) => words,
            Self::Demo(words) => words,
        }
    }
}

impl Verb {
    /// Its words, where they become a plan.
    pub fn plan_verb(&self) -> Option<&dyn PlanVerb> {
        match self {
            Self::Measure(verb) => Some(verb.words()),
            Self::Run(words) => Some(words),
            Self::Atto(words) => Some(words),
            _ => None,
        }
    }
}

/// What follows the short help.
const EPILOGUE: &str = "\
Exit status: 0 the number is sound; 1 something failed; 2 the words are wrong and nothing was \
touched; 3 it ran, and the number is not sound; 130 Ctrl-C. 'assay --help' says more.

Start with: assay quick .";

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::super::Environment;
    use super::*;
    use assay_record::evidence::SysRoot;

    #[test]
    fn the_definitions_make_sense() {
        Cli::command().debug_assert();
    }

    /// Words that a verb takes: of each place that has to be filled, or is the first, what may stand there.
    fn line(verb: &clap::Command) -> Vec<OsString> {
        let places = verb.get_positionals().take(1);
        let filled = places.map(|place| {
            let known = place.get_possible_values();
            known.first().map_or(".".into(), |value| value.get_name().into())
        });
        ["assay", verb.get_name()].map(OsString::from).into_iter().chain(filled).collect()
    }

    #[test]
    fn a_verb_that_shows_its_plan_can_be_explained() {
        let command = Cli::command();
        for verb in command.get_subcommands() {
            let shows = verb.get_arguments().any(|argument| argument.get_id() == "plan");
            let Ok(cli) = Cli::try_parse_from(line(verb)) else {
                assert!(!shows, "{}", verb.get_name());
                continue;
            };
            assert_eq!(cli.verb.plan_verb().is_some(), shows, "{}", verb.get_name());
        }
    }

    #[test]
    fn each_verb_that_runs_something_is_explained_without_the_name_of_the_program() {
        let sys_root = SysRoot::default();
        let machine = sys_root.machine();
        let surveyor = explain::PathSurveyor { survey: &|path| sys_root.survey(path), machine };
        let environment = Environment::default();
        let command = Cli::command();
        let mut explained = 0;
        for verb in command.get_subcommands() {
            if !verb.get_arguments().any(|argument| argument.get_id() == "plan") {
                continue;
            }
            let words: Vec<String> =
                line(verb).iter().map(|word| word.to_string_lossy().into_owned()).collect();
            let told = |words: &[String]| {
                let told = explain::of_line(words.to_vec(), &environment, &surveyor);
                told.map(|told| (told.phases, told.better)).map_err(|error| error.to_string())
            };
            let (bare, whole) = (told(&words[1..]), told(&words));
            // A plan stands in a file: what is wrong with this one is said of both.
            assert_eq!(bare.is_ok(), verb.get_name() != "run", "{bare:?}");
            assert_eq!(bare.err(), whole.err(), "{}", verb.get_name());
            explained += 1;
        }
        assert!(explained > 8, "{explained}");
    }
}
