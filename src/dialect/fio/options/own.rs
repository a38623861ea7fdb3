//! The options of the program itself, in one list: how each is typed, what it is for, what it does.

use crate::dialect::fio::input::number;
use crate::dialect::fio::input::value::duration;
use crate::dialect::fio::job::{FioEta, FioFault, FioFormat, FioIdleProfile, FioOptions};

/// Whether something follows an option of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioArgument {
    None,
    /// Something, by the name that help gives it.
    Needed(&'static str),
    /// Something behind a `=`, or nothing.
    Optional(&'static str),
}

/// What the program does in place of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioInstead {
    Run,
    /// It explains itself.
    Help,
    Version,
    /// It lists options of jobs.
    CommandHelp,
    EngineHelp,
    /// It reads all words, and prints job files as lines.
    ShowCommand,
    ParseOnly,
    /// It prints a compressed log.
    InflatedLog,
}

/// An option of the program itself.
pub struct FioOwnOption {
    pub name: &'static str,
    pub letter: char,
    pub argument: FioArgument,
    /// What it is for, in a line.
    pub help: &'static str,
    pub(in crate::dialect::fio) effect: fn(&mut FioOptions, &str) -> Result<(), FioFault>,
    /// What happens in place of a run.
    pub(in crate::dialect::fio) instead: FioInstead,
    /// A line that has it; empty where it is refused.
    pub example: &'static str,
}

impl FioOwnOption {
    const fn new(
        name: &'static str,
        letter: char,
        argument: FioArgument,
        help: &'static str,
        effect: fn(&mut FioOptions, &str) -> Result<(), FioFault>,
        example: &'static str,
    ) -> Self {
        Self { name, letter, argument, help, effect, instead: FioInstead::Run, example }
    }

    /// An option that answers with a text, or reads words and does no more.
    const fn answers(
        name: &'static str,
        letter: char,
        argument: FioArgument,
        help: &'static str,
        instead: FioInstead,
        example: &'static str,
    ) -> Self {
        Self { instead, ..Self::new(name, letter, argument, help, |_, _| Ok(()), example) }
    }

    /// As it is shown in help.
    pub(in crate::dialect::fio) fn shown(&self) -> String {
        match self.argument {
            FioArgument::None => format!("--{}", self.name),
            FioArgument::Needed(value) => format!("--{}={value}", self.name),
            FioArgument::Optional(value) => format!("--{}[={value}]", self.name),
        }
    }

    /// A line of what it is for, where it does nothing: it is taken, and said so.
    pub(in crate::dialect::fio) fn without_effect(&self) -> Option<&'static str> {
        match self.name {
            "max-jobs" | "alloc-size" => Some("nothing: memory is taken as it is needed"),
            "daemonize" => Some("nothing: there is no server"),
            _ => None,
        }
    }
}

use FioArgument::{Needed, None as Nothing, Optional};

/// What is not done here, and what helps.
fn refuse(what: &str, instead: &str) -> Result<(), FioFault> {
    Err(FioFault::new(format!("{what} is not done here"), instead))
}

/// What does on several machines what fio's servers do.
const MPI: &str = "start the same line on all machines: mpirun -np 2 -host HOST1,HOST2 fio JOBFILE";

/// The options of the program itself.
pub const OWN_OPTIONS: &[FioOwnOption] = &[
    FioOwnOption::new(
        "output",
        'o',
        Needed("FILE"),
        "write the report to a file",
        |own, text| {
            own.output = Some(text.into());
            Ok(())
        },
        "--output=/tmp/report --name=a --size=1m",
    ),
    FioOwnOption::new(
        "output-format",
        'F',
        Needed("LIST"),
        "normal, terse, json, json+; several by commas",
        formats,
        "--output-format=normal,json --name=a --size=1m",
    ),
    FioOwnOption::new(
        "minimal",
        'm',
        Nothing,
        "print the terse format",
        |own, _| {
            own.formats = vec![FioFormat::Terse];
            Ok(())
        },
        "--minimal --name=a --size=1m",
    ),
    FioOwnOption::new(
        "append-terse",
        'f',
        Optional("X"),
        "print the terse format, too",
        |own, _| {
            add_format(own, FioFormat::Terse);
            Ok(())
        },
        "--append-terse --name=a --size=1m",
    ),
    FioOwnOption::new(
        "terse-version",
        'V',
        Needed("N"),
        "the version of the terse format: 2 to 5",
        |own, text| {
            match text.trim().parse() {
                Ok(version @ 2..=5) => own.terse_version = version,
                _ => {
                    return Err(FioFault::line(
                        "fio: bad terse version format",
                        "--terse-version=3",
                    ));
                }
            }
            Ok(())
        },
        "--minimal --terse-version=5 --name=a --size=1m",
    ),
    FioOwnOption::new(
        "bandwidth-log",
        'b',
        Optional("PREFIX"),
        "log the bandwidth of all jobs together",
        |own, text| {
            own.bandwidth_log = Some(if text.is_empty() { "agg" } else { text }.into());
            Ok(())
        },
        "--bandwidth-log --name=a --size=1m",
    ),
    FioOwnOption::new(
        "readonly",
        'r',
        Nothing,
        "refuse what writes or trims",
        |own, _| {
            own.readonly = true;
            Ok(())
        },
        "--readonly --name=a --size=1m",
    ),
    FioOwnOption::new(
        "section",
        'x',
        Needed("NAME"),
        "do this section only; may be given several times",
        |own, text| {
            if text == "global" {
                return Err(FioFault::line(
                    "fio: can't use global as only section",
                    "the name of a job",
                ));
            }
            own.sections.push(text.into());
            Ok(())
        },
        "--section=a --name=a --size=1m",
    ),
    FioOwnOption::new(
        "eta",
        'e',
        Needed("WHEN"),
        "print progress: auto, always, never",
        |own, text| {
            own.eta = match text {
                "always" => FioEta::Always,
                "never" => FioEta::Never,
                // fio takes any other word for the usual.
                _ => own.eta,
            };
            Ok(())
        },
        "--eta=never --name=a --size=1m",
    ),
    FioOwnOption::new(
        "eta-interval",
        'O',
        Needed("TIME"),
        "print progress so often",
        |own, text| {
            let time = time(text, "fio: failed parsing eta interval")?;
            if time < 250_000 {
                return Err(FioFault::line(
                    "fio: eta interval time too short (250msec min)",
                    "--eta-interval=250ms",
                ));
            }
            own.eta_interval = duration(time);
            Ok(())
        },
        "--eta-interval=500ms --name=a --size=1m",
    ),
    FioOwnOption::new(
        "eta-newline",
        'E',
        Needed("TIME"),
        "begin a line of progress so often",
        |own, text| {
            let time = time(text, "fio: failed parsing eta time")?;
            if time < 1000 {
                return Err(FioFault::line("fio: eta new line time too short", "--eta-newline=1"));
            }
            own.eta_newline = duration(time);
            Ok(())
        },
        "--eta-newline=1 --name=a --size=1m",
    ),
    FioOwnOption::new(
        "status-interval",
        'L',
        Needed("TIME"),
        "print the whole report so often",
        |own, text| {
            let time = time(text, "fio: failed parsing time")?;
            if time < 1000 {
                return Err(FioFault::line(
                    "fio: status interval too small",
                    "--status-interval=1",
                ));
            }
            own.status_interval = duration(time);
            Ok(())
        },
        "--status-interval=10 --name=a --size=1m",
    ),
    FioOwnOption::new(
        "idle-prof",
        'I',
        Needed("HOW"),
        "report idle CPUs: system, percpu; or how fast they are: calibrate",
        |own, text| {
            own.idle_profile = Some(match text {
                "system" => FioIdleProfile::System,
                "percpu" => FioIdleProfile::PerCpu,
                "calibrate" => FioIdleProfile::Calibrate,
                _ => {
                    return Err(FioFault::line(
                        format!("fio: incorrect idle-prof option: {text}"),
                        "--idle-prof=system or --idle-prof=percpu",
                    ));
                }
            });
            Ok(())
        },
        "--idle-prof=system --name=a --size=1m",
    ),
    FioOwnOption::new(
        "warnings-fatal",
        'w',
        Nothing,
        "take warnings for errors",
        |own, _| {
            own.warnings_fatal = true;
            Ok(())
        },
        "--warnings-fatal --name=a --size=1m",
    ),
    FioOwnOption::new(
        "aux-path",
        'K',
        Needed("FOLDER"),
        "write files of state here",
        |own, text| {
            own.aux_path = Some(text.into());
            Ok(())
        },
        "--aux-path=/tmp --name=a --size=1m",
    ),
    FioOwnOption::new(
        "trigger-file",
        'W',
        Needed("FILE"),
        "end when this file appears",
        |own, text| {
            own.trigger.file = Some(text.into());
            Ok(())
        },
        "--trigger-file=/tmp/stop --name=a --size=1m",
    ),
    FioOwnOption::new(
        "trigger-timeout",
        'B',
        Needed("TIME"),
        "end after this time",
        |own, text| {
            own.trigger.timeout = duration(time(text, "fio: failed parsing time")?);
            Ok(())
        },
        "--trigger-timeout=60 --name=a --size=1m",
    ),
    FioOwnOption::new(
        "trigger",
        'H',
        Needed("COMMAND"),
        "run this command then",
        |own, text| {
            own.trigger.command = Some(text.into());
            Ok(())
        },
        "--trigger-timeout=60 --trigger=true --name=a --size=1m",
    ),
    FioOwnOption::new(
        "max-jobs",
        'j',
        Needed("N"),
        "jobs there may be",
        |_, _| Ok(()),
        "--max-jobs=64 --name=a --size=1m",
    ),
    FioOwnOption::new(
        "alloc-size",
        'a',
        Needed("KIB"),
        "memory for what jobs share",
        |_, _| Ok(()),
        "--alloc-size=32768 --name=a --size=1m",
    ),
    FioOwnOption::new(
        "debug",
        'd',
        Needed("LIST"),
        "print what is done",
        |own, list| {
            let said = own.debug.read(list).map_err(|word| {
                FioFault::line(
                    format!("fio: debug mask {word} not found"),
                    "--debug=parse,random,io",
                )
            })?;
            own.prints_seeds |= own.debug.random;
            own.debug_said.extend(said);
            Ok(())
        },
        "--debug=io --name=a --size=1m",
    ),
    FioOwnOption::answers(
        "parse-only",
        'P',
        Nothing,
        "read all words, and do no more",
        FioInstead::ParseOnly,
        "--parse-only --name=a --size=1m",
    ),
    FioOwnOption::answers(
        "showcmd",
        's',
        Nothing,
        "print a job file as a line",
        FioInstead::ShowCommand,
        "--showcmd --name=a --size=1m",
    ),
    FioOwnOption::answers("help", 'h', Nothing, "print this", FioInstead::Help, "--help"),
    FioOwnOption::answers(
        "version",
        'v',
        Nothing,
        "print the version",
        FioInstead::Version,
        "--version",
    ),
    FioOwnOption::answers(
        "cmdhelp",
        'c',
        Optional("OPTION"),
        "explain options of jobs",
        FioInstead::CommandHelp,
        "--cmdhelp=bs",
    ),
    FioOwnOption::answers(
        "enghelp",
        'i',
        Optional("ENGINE[,OPTION]"),
        "explain engines and their options",
        FioInstead::EngineHelp,
        "--enghelp=io_uring",
    ),
    FioOwnOption::new(
        "latency-log",
        'l',
        Needed("FILE"),
        "nothing any more",
        |_, _| {
            Err(FioFault::line(
                "fio: --latency-log is deprecated. Use per-job latency log options.",
                "--write_lat_log=PREFIX",
            ))
        },
        "",
    ),
    FioOwnOption::new(
        "server",
        'S',
        Optional("ADDRESS"),
        "wait for jobs from the network",
        |_, _| refuse("a server", MPI),
        "",
    ),
    FioOwnOption::new(
        "client",
        'C',
        Needed("HOST"),
        "send jobs to another machine",
        |_, _| refuse("a client", MPI),
        "",
    ),
    FioOwnOption::new(
        "remote-config",
        'R',
        Needed("FILE"),
        "let a server read its own file",
        |_, _| refuse("a client", MPI),
        "",
    ),
    FioOwnOption::new(
        "daemonize",
        'D',
        Needed("FILE"),
        "put the server into the background",
        |_, _| Ok(()),
        "--daemonize=/tmp/pid --name=a --size=1m",
    ),
    FioOwnOption::new(
        "trigger-remote",
        'J',
        Needed("COMMAND"),
        "run a command on servers",
        |_, _| refuse("a trigger on other machines", "--trigger=COMMAND"),
        "",
    ),
    FioOwnOption::new(
        "profile",
        'p',
        Needed("NAME"),
        "run a benchmark that fio has inside",
        |_, name| refuse(&format!("the profile '{name}'"), "options of a job in its place"),
        "",
    ),
    FioOwnOption::new(
        "merge-blktrace-only",
        'A',
        Nothing,
        "merge traces, and do no more",
        |_, _| refuse("merging of traces", "fio itself merges them"),
        "",
    ),
    FioOwnOption::answers(
        "inflate-log",
        'X',
        Needed("FILE"),
        "print a compressed log",
        FioInstead::InflatedLog,
        "",
    ),
    FioOwnOption::new(
        "cpuclock-test",
        'T',
        Nothing,
        "test the clock of the CPUs",
        |_, _| refuse("a test of the clock", "leave it out"),
        "",
    ),
    FioOwnOption::new(
        "crctest",
        'G',
        Optional("KIND"),
        "measure checksums",
        |_, _| refuse("a benchmark of checksums", "leave it out"),
        "",
    ),
    FioOwnOption::new(
        "memcpytest",
        'M',
        Optional("KIND"),
        "measure memcpy()",
        |_, _| refuse("a benchmark of memory", "leave it out"),
        "",
    ),
];

/// A time of the program's own options, in microseconds; a number alone is seconds.
fn time(text: &str, line: &str) -> Result<i64, FioFault> {
    let read = number::time(text, true);
    read.map_err(|_| {
        FioFault::line(format!("{line} {text}"), "a number of seconds, or one with ms")
    })
}

/// `normal,json`: each list begins anew.
fn formats(own: &mut FioOptions, text: &str) -> Result<(), FioFault> {
    own.formats.clear();
    for word in text.split(',') {
        match word {
            "minimal" | "terse" | "csv" => add_format(own, FioFormat::Terse),
            "json" => add_format(own, FioFormat::Json),
            "json+" => add_format(own, FioFormat::JsonPlus),
            "normal" => add_format(own, FioFormat::Normal),
            _ => {
                let mut fault = FioFault::line(
                    format!("fio: invalid output format {word}"),
                    "some of normal, terse, json, json+, separated by commas",
                );
                fault.lines.push("fio: failed parsing output-format".into());
                return Err(fault);
            }
        }
    }
    Ok(())
}

/// Formats are a set: JSON with bins takes the place of JSON.
fn add_format(own: &mut FioOptions, format: FioFormat) {
    let order = |format: &FioFormat| match format {
        FioFormat::Terse => 0,
        FioFormat::Json => 1,
        FioFormat::JsonPlus => 2,
        FioFormat::Normal => 3,
    };
    own.formats.push(format);
    own.formats.sort_by_key(order);
    own.formats.dedup();
    if own.formats.contains(&FioFormat::JsonPlus) {
        own.formats.retain(|format| *format != FioFormat::Json);
    }
}
