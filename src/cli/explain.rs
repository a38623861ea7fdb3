//! `assay explain`: what a line, a plan or a record measures, what not, and what to type instead.
//!
//! Nothing is run and nothing is written: words become a plan, the places it names are surveyed,
//! and `verdict::foresee` says the rest.

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::Path;

use clap::Parser as _;

use super::dialect::{self, Meant, Tool};
use super::{Cli, Environment, Verb, judged, printed, read_plan, read_record, shell};
use crate::dialect::dd::{self, Flavor};
use crate::error::{Error, Fault, Refusal};
use crate::evidence::{Machine, Scene, Survey};
use crate::plan::Plan;
use crate::record::{Basis, Better, EXPLANATION_SCHEMA, Explained, Explanation, Record};
use crate::report;
use crate::verdict::{foresee, words::quoted};

/// The words of the verb.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example: assay explain 'dd if=/dev/zero of=/mnt/sd/x bs=20M count=1'")]
pub struct Words {
    /// Print it as JSON ('assay schema explanation' describes it)
    #[arg(long)]
    pub json: bool,
    /// A line in quotes or word by word, or the file of a plan or of a record
    ///
    /// The line is one command of dd or bonnie++, or of 'assay dd', 'assay bonnie', 'assay quick' or
    /// 'assay run'; 'sudo', 'time' and the variables of a dialect may stand before it. Nothing is run, and nothing is written.
    #[arg(required = true, trailing_var_arg = true, value_name = "LINE")]
    pub line: Vec<OsString>,
}

/// How places are looked at, and the machine that they are on.
pub struct Sight<'a> {
    /// Looks at one path.
    pub survey: &'a dyn Fn(&Path) -> Survey,
    /// The machine.
    pub machine: Machine,
}

/// Looks, judges and prints.
///
/// # Errors
/// A refusal when the words are no line that is understood, or the file is neither plan nor record.
pub fn explain(words: &Words, environment: &Environment, out: &mut dyn Write) -> Result<(), Error> {
    let scene = Scene::default();
    let sight = Sight { survey: &|path| scene.survey(path), machine: scene.machine() };
    let explanation = match file_among(&words.line) {
        Some(path) => of_file(path, &sight)?,
        None => of_line(split(&words.line)?, environment, &sight)?,
    };
    printed(match words.json {
        true => report::explain::json(&explanation, out),
        false => report::explain::text(&explanation, environment.out_style(), out),
    })
}

// ------------------------------------------------------------------ files

/// The one word, when it is the name of a file rather than a line.
fn file_among(line: &[OsString]) -> Option<&Path> {
    let [only] = line else { return None };
    let path = Path::new(only);
    let named = path.extension().is_some_and(|extension| extension == "json");
    let line = only.to_string_lossy().contains(char::is_whitespace);
    (path.is_file() || named && !line).then_some(path)
}

/// A plan or a record, whichever the file holds.
fn of_file(path: &Path, sight: &Sight<'_>) -> Result<Explanation, Error> {
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::from(Refusal::new(
            format!("there is no plan or record at '{shown}'"),
            "write one with --plan or --record, or give a line such as 'dd if=... of=...'",
        )),
        ErrorKind::InvalidData => neither(&shown).into(),
        _ => Fault::new("read", shown.clone(), &error).into(),
    })?;
    let document: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| unread(&shown, &text, &error))?;
    if document.get("schema").is_some() {
        return Ok(of_record(judged(read_record(path)?), shown));
    }
    let plan = read_plan(path)?;
    plan.check()?;
    let again = Better {
        line: format!("assay run {}", quoted(&shown)),
        why: "runs this plan, with a verdict beside each figure".into(),
    };
    Ok(of_plan(&plan, shown, vec![again], sight))
}

/// Why the text is no document: a file that was cut off was one once.
fn unread(shown: &str, text: &str, error: &serde_json::Error) -> Refusal {
    if !error.is_eof() || text.trim().is_empty() {
        return neither(shown);
    }
    Refusal {
        place: format!("{shown}:{}:{}", error.line(), error.column()),
        why: "the file ends in the middle of a plan or a record".into(),
        instead: "copy it once more, whole".into(),
    }
}

fn neither(shown: &str) -> Refusal {
    Refusal::new(
        format!("'{shown}' holds neither a plan nor a record"),
        "give a file that --plan or --record wrote, or a line in quotes",
    )
}

fn of_record(record: Record, line: String) -> Explanation {
    let phases = foresee::told(&record);
    explanation(line, Basis::Judged, phases, Vec::new(), Vec::new())
}

// ------------------------------------------------------------------ lines

/// The words of a line that was given in quotes, or word by word.
fn split(line: &[OsString]) -> Result<Vec<String>, Refusal> {
    let text = |word: &OsString| match word.to_str() {
        Some(word) => Ok(word.to_string()),
        None => Err(Refusal::new(
            format!("'{}' is not UTF-8", word.to_string_lossy()),
            "give the file another name, or a link with one",
        )),
    };
    let words = line.iter().map(text).collect::<Result<Vec<String>, Refusal>>()?;
    match words.as_slice() {
        [only] => shell::words(only),
        _ => Ok(words),
    }
}

/// Takes off what stands before the command and does not change what it does; variables of ours go
/// where those of the program stand.
fn bare(mut words: Vec<String>, environment: &Environment) -> (Vec<String>, Environment) {
    let mut surroundings = environment.clone();
    while let Some(first) = words.first() {
        match first.split_once('=') {
            None if matches!(first.as_str(), "sudo" | "time") => {}
            Some(("ASSAY_COLD", value)) => surroundings.cold = Some(value.into()),
            Some(("ASSAY_DIALECT", value)) => surroundings.dialect = Some(value.into()),
            Some(("ASSAY_SETTLE" | "ASSAY_RECORD" | "LC_ALL" | "LANG", _)) => {}
            _ => break,
        }
        words.remove(0);
    }
    (words, surroundings)
}

/// What a line is about, given as words.
///
/// # Errors
/// A refusal when its words are not understood.
pub fn of_line(
    words: Vec<String>,
    environment: &Environment,
    sight: &Sight<'_>,
) -> Result<Explanation, Error> {
    let line = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let (words, environment) = bare(words, environment);
    let Some(first) = words.first() else {
        return Err(Refusal::new("there is nothing to explain", KNOWN).into());
    };
    let ours = first == "assay";
    let root = line.starts_with("sudo ");
    let mut typed: Vec<OsString> = words.iter().map(OsString::from).collect();
    if !ours {
        typed.insert(0, "assay".into());
        // A tool may be called by its path; a link to this program is called by it alone.
        if let Some(name) = Path::new(first).file_name() {
            typed[1] = name.into();
        }
        if typed[1] == "busybox" {
            typed.remove(0);
        }
    }
    let mut told = match dialect::meant(&typed) {
        Some(meant) => {
            let own = &words[words.len() - meant.words.len()..];
            of_tool(&meant, own, ours, line, &environment, sight)?
        }
        None if ours => of_verb(&typed, line, sight)?,
        None => return Err(not_spoken(first).into()),
    };
    for better in told.better.iter_mut().filter(|_| root) {
        better.line.insert_str(0, "sudo ");
    }
    Ok(told)
}

/// What can be given.
pub(super) const KNOWN: &str =
    "give a line such as 'dd if=/dev/zero of=x bs=1M count=100', a plan or a record";

/// Tools whose words may become dialects.
const TOOLS_TO_COME: &[&str] = &["fio", "iozone", "atto", "ioping", "hdparm"];

fn not_spoken(word: &str) -> Refusal {
    let name = Path::new(word).file_name().map_or(word.into(), |name| name.to_string_lossy());
    if TOOLS_TO_COME.contains(&&*name) {
        return Refusal::new(
            format!("the words of {name} are not understood yet"),
            format!("those of dd and bonnie++ are: {KNOWN}"),
        );
    }
    if Path::new(word).is_dir() {
        return Refusal::new(
            format!("'{word}' is a folder, not a line"),
            format!("{KNOWN}; 'assay probe {word}' tells what lies under it"),
        );
    }
    Refusal::new(format!("'{word}' is neither a tool whose words are understood nor a file"), KNOWN)
}

/// Another tool's line; `words` are those after its name. `ours`: it is typed to assay.
fn of_tool(
    meant: &Meant<'_>,
    words: &[String],
    ours: bool,
    line: String,
    environment: &Environment,
    sight: &Sight<'_>,
) -> Result<Explanation, Error> {
    match meant.tool {
        Tool::Dd => {
            let (plan, flavor) = super::dd::planned(words, meant.called, environment)?;
            let mut told = of_plan(&plan, line, vec![with_verdict(words, flavor)], sight);
            let found = told.phases.first().map(|phase| phase.verdict.findings.as_slice());
            let mended = dd::copy_of(&plan)
                .zip(found)
                .and_then(|(copy, found)| dd::mended(words, copy, found));
            if let Some(mended) = mended {
                told.better.insert(0, mended);
            }
            Ok(told)
        }
        Tool::Bonnie => {
            // What the tool makes of them, unless they are ours.
            let plan = super::bonnie::planned(words, ours)?;
            let words: String = words.iter().map(|word| format!(" {}", quoted(word))).collect();
            let again = Better {
                line: format!("assay bonnie{words}"),
                why: "the same tests, cold and flushed, each with a verdict".into(),
            };
            Ok(of_plan(&plan, line, vec![again], sight))
        }
    }
}

/// The same line with a verdict.
fn with_verdict(words: &[String], flavor: Flavor) -> Better {
    let whose = match flavor {
        Flavor::Gnu => "",
        Flavor::Busybox => "ASSAY_DIALECT=busybox ",
    };
    let words: String = words.iter().map(|word| format!(" {}", quoted(word))).collect();
    Better {
        line: format!("{whose}assay dd{words}"),
        why: "the same copy as it stands, with a verdict beside dd's own figure".into(),
    }
}

/// A line of our own.
fn of_verb(typed: &[OsString], line: String, sight: &Sight<'_>) -> Result<Explanation, Error> {
    let verb =
        Cli::try_parse_from(typed).map_err(|error| super::words::refusal(&error, typed))?.verb;
    match verb {
        Verb::Quick(words) => {
            let plan = super::quick::planned(&words, super::typed(typed))?;
            plan.check()?;
            Ok(of_plan(&plan, line, Vec::new(), sight))
        }
        Verb::Card(words) => {
            let plan = super::card::planned(&words, super::typed(typed))?;
            plan.check()?;
            Ok(of_plan(&plan, line, Vec::new(), sight))
        }
        Verb::Run { file, .. } => {
            let plan = read_plan(&file)?;
            plan.check()?;
            Ok(of_plan(&plan, line, Vec::new(), sight))
        }
        _ => Err(Refusal::new(
            "of assay's own lines those of quick, card and run are explained",
            "of the others give the plan that --plan writes",
        )
        .into()),
    }
}

// ------------------------------------------------------------------ what is seen and said

/// Surveys the places of a plan, and tells what would happen.
pub fn of_plan(
    plan: &Plan,
    line: String,
    mut better: Vec<Better>,
    sight: &Sight<'_>,
) -> Explanation {
    let surveys: Vec<Survey> =
        foresee::places(plan).iter().map(|path| (sight.survey)(path)).collect();
    let phases = foresee::foreseen(plan, &surveys, &sight.machine);
    if plan.origin.dialect != "quick"
        && let Some(path) = foresee::to_measure(plan, &surveys)
    {
        better.push(Better {
            line: format!("assay quick {}", quoted(&path)),
            why: "that disk in half a minute: in order and at random, one at a time and many, each figure with a verdict".into(),
        });
    }
    explanation(line, Basis::Foreseen, phases, better, surveys)
}

fn explanation(
    line: String,
    basis: Basis,
    phases: Vec<Explained>,
    better: Vec<Better>,
    places: Vec<Survey>,
) -> Explanation {
    Explanation {
        schema: EXPLANATION_SCHEMA.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        line,
        basis,
        phases,
        better,
        places,
    }
}
