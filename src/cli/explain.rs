//! `assay explain`: what a line, a plan or a record measures, what not, and what to type instead.
//!
//! Nothing is run and nothing is written: words become a plan, the places it names are surveyed,
//! and `verdict::predict` says the rest. It stands above the verbs, whose lines it understands.

mod around;
mod line;
mod surveyor;

pub use line::ExplainArgs;
pub use surveyor::PathSurveyor;

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::Path;

use around::{BareLine, runs_something};
use clap::{CommandFactory as _, Parser as _};

use super::dialect::{self, ForeignCommand, with_context};
use super::documents::{judged_of, plan_of};
use super::quick;
use super::verb::Cli;
use super::words::{self, EXPLAINED};
use crate::dialect::session::PrintedResult;
use crate::dialect::{DIALECTS, TO_COME};
use crate::process::Environment;
use crate::process::stdout::printed;
use crate::report;
use assay_judge::predict;
use assay_judge::words::names;
use assay_plan::error::{Error, Refusal};
use assay_plan::name::{NameText as _, quoted, tamed};
use assay_plan::plan::Plan;
use assay_record::evidence::{Survey, SysRoot};
use assay_record::record::{
    BetterCommand, EXPLANATION_SCHEMA, ExpectedLoss, Explanation, PhaseExplanation, Record,
    VerdictBasis, document_file, unread,
};
use assay_run as run;

/// Looks, judges and prints.
///
/// # Errors
/// A refusal when the words are no line that is understood, or the file is neither plan nor record.
pub fn explain(
    words: &ExplainArgs,
    environment: &Environment,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let sys_root = SysRoot::default();
    let surveyor =
        PathSurveyor { survey: &|path| sys_root.survey(path), machine: sys_root.machine() };
    let explanation = match words.file() {
        Some(path) => {
            let text = text(path)?;
            let line = DIALECTS.iter().find_map(|tool| {
                let words = tool.dialect.words_of_file(&text, &path.to_text())?;
                Some([vec![tool.names[0].into()], words].concat())
            });
            match line {
                Some(line) => of_line(line, environment, &surveyor)?,
                None => of_file(&text, path, &surveyor)?,
            }
        }
        None => match words.line.as_slice() {
            [only] => of_text(&only.to_text(), environment, &surveyor)?,
            words => {
                let words = words.iter().map(|word| word.to_text()).collect();
                of_line(words, environment, &surveyor)?
            }
        },
    };
    printed(match words.json {
        true => report::explain::json(&explanation, out),
        false => report::explain::text(&explanation, environment.out_style(), out),
    })
}

// ------------------------------------------------------------------ files

/// What stands in a file.
fn text(path: &Path) -> Result<String, Error> {
    let shown = path.to_text();
    let instead = "give a file that --plan or --record wrote, or a line in quotes";
    let bytes = document_file::bytes_of(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::from(Refusal::new(
            format!("there is no plan or record at '{shown}'"),
            "write one with --plan or --record, or give a line such as 'dd if=... of=...'",
        )),
        _ => unread(error, &shown, "a plan or a record", instead),
    })?;
    String::from_utf8(bytes).map_err(|_| neither(&shown).into())
}

/// A plan or a record, whichever the text holds.
fn of_file(text: &str, path: &Path, surveyor: &PathSurveyor<'_>) -> Result<Explanation, Error> {
    let shown = path.to_text();
    let document: serde_json::Value =
        serde_json::from_str(text).map_err(|error| cut_off(&shown, text, &error))?;
    if document.get("schema").is_some() {
        return Ok(of_record(judged_of(text, &shown)?, shown));
    }
    let mut plan = plan_of(text, &shown)?;
    plan.check()?;
    // What the plan itself allows counts for nothing.
    let losses = run::allow(&mut plan, &[])?;
    let again = BetterCommand {
        line: format!("assay run {}", quoted(&shown)),
        why: "runs this plan, with a verdict beside each figure".into(),
    };
    let again = if losses.is_empty() { vec![again] } else { Vec::new() };
    Ok(Explanation { losses, ..of_plan(&plan, shown, again, surveyor) })
}

/// Why the text is no document: a file that was cut off was one once.
fn cut_off(shown: &str, text: &str, error: &serde_json::Error) -> Refusal {
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
    let phases = predict::told(&record);
    explanation(line, VerdictBasis::Judged, phases, Vec::new(), Vec::new())
}

// ------------------------------------------------------------------ lines

/// What a line is about, given as words.
///
/// # Errors
/// A refusal when its words are not understood.
pub fn of_line(
    words: Vec<String>,
    environment: &Environment,
    surveyor: &PathSurveyor<'_>,
) -> Result<Explanation, Error> {
    let line = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    of_bare(around::of_words(&words, environment)?, line, surveyor)
}

/// What a line is about, given as it was pasted.
///
/// # Errors
/// As [`of_line`].
pub fn of_text(
    text: &str,
    environment: &Environment,
    surveyor: &PathSurveyor<'_>,
) -> Result<Explanation, Error> {
    if let Some(told) = DIALECTS.iter().find_map(|tool| tool.dialect.printed(text)) {
        return Ok(of_printed(told, text));
    }
    let shown: Vec<_> = text.lines().map(|line| tamed(line.trim_end())).collect();
    let bare = around::of_text(text, environment)?;
    of_bare(bare, shown.join("\n").trim().into(), surveyor)
}

/// What a line of results is about.
fn of_printed(told: PrintedResult, line: &str) -> Explanation {
    let line = tamed(line.trim()).into();
    let better = vec![told.again];
    let explained = explanation(line, VerdictBasis::Judged, Vec::new(), better, Vec::new());
    Explanation { around: told.about, words: told.figures, ..explained }
}

fn of_bare(
    bare: BareLine,
    line: String,
    surveyor: &PathSurveyor<'_>,
) -> Result<Explanation, Error> {
    let BareLine { words, environment, around, root, elsewhere, folder, .. } = bare;
    let there = elsewhere.as_ref().map(|place| surveyor::surveyed(place, surveyor));
    let in_folder = |path: &Path| folder.as_ref().map_or(path.into(), |folder| folder.join(path));
    let survey = |path: &Path| match &elsewhere {
        Some(place) => surveyor::survey(place, path, surveyor),
        None => Survey { path: path.to_text(), ..(surveyor.survey)(&in_folder(path)) },
    };
    let machine = there.unwrap_or_else(|| surveyor.machine.clone());
    let surveyor = &PathSurveyor { survey: &survey, machine };
    let mut told = of_words(&words, line, &environment, surveyor)?;
    let typed_at = match (&folder, root) {
        (Some(folder), _) => format!("cd {} && ", quoted(&folder.to_text())),
        _ => String::new(),
    };
    let root = if root && !told.better.iter().any(|better| better.line.starts_with("sudo ")) {
        "sudo "
    } else {
        ""
    };
    for better in &mut told.better {
        better.line.insert_str(0, &format!("{typed_at}{root}"));
    }
    if elsewhere.is_some() {
        // What is suggested of this machine's places is not about that line.
        told.better.retain(|better| !better.line.contains("assay quick "));
        told.losses.clear();
    }
    told.around.splice(0..0, around);
    Ok(told)
}

/// What bare words are about.
fn of_words(
    words: &[String],
    line: String,
    environment: &Environment,
    surveyor: &PathSurveyor<'_>,
) -> Result<Explanation, Error> {
    let Some(first) = words.first() else {
        return Err(Refusal::new("there is nothing to explain", EXPLAINED).into());
    };
    let typed: Vec<OsString> = words.iter().map(OsString::from).collect();
    let as_verb = dialect::as_verb(&typed);
    let verb = as_verb.is_none() && runs_something(first);
    let ours = first == "assay" || as_verb.is_some() || verb;
    let typed = match as_verb {
        Some(verb) => verb,
        None if verb => [OsString::from("assay")].into_iter().chain(typed).collect(),
        None if ours => typed,
        None => called(typed),
    };
    match dialect::meant(&typed) {
        Some(meant) => {
            let own = &words[words.len() - meant.words.len()..];
            of_tool(&meant, own, ours, line, environment, surveyor)
        }
        None if ours => of_verb(&typed, line, surveyor),
        None => Err(not_spoken(first).into()),
    }
}

/// A tool's words as if that tool were our verb.
fn called(mut typed: Vec<OsString>) -> Vec<OsString> {
    typed.insert(0, "assay".into());
    // A tool may be called by its path; a link to this program is called by it alone.
    if let Some(name) = Path::new(&typed[1]).file_name() {
        typed[1] = name.into();
    }
    if typed[1] == "busybox" {
        typed.remove(0);
    }
    typed
}

fn not_spoken(word: &str) -> Refusal {
    let name = Path::new(word).file_name().map_or(word.into(), |name| name.to_string_lossy());
    if TO_COME.contains(&&*name) {
        let spoken: Vec<String> = DIALECTS.iter().map(|tool| tool.title.into()).collect();
        return Refusal::new(
            format!("the words of {name} are not understood yet"),
            format!("those of {} are: {EXPLAINED}", names(&spoken)),
        );
    }
    if Path::new(word).is_dir() {
        return Refusal::new(
            format!("'{word}' is a folder, not a line"),
            format!("{EXPLAINED}; 'assay probe {word}' tells what lies under it"),
        );
    }
    Refusal::new(
        format!("'{word}' is neither a tool whose words are understood nor a file"),
        EXPLAINED,
    )
}

/// Another tool's line; `words` are those after its name. `ours`: it is typed to assay.
fn of_tool(
    meant: &ForeignCommand<'_>,
    words: &[String],
    ours: bool,
    line: String,
    environment: &Environment,
    surveyor: &PathSurveyor<'_>,
) -> Result<Explanation, Error> {
    let dialect = meant.dialect;
    let (plan, again) = with_context(meant.called, environment, true, |context| {
        dialect.planned(words, ours, context)
    })?;
    let mut told = of_plan(&plan, line, vec![again], surveyor);
    told.words =
        with_context(meant.called, environment, true, |context| dialect.meanings(words, context));
    let corrected = with_context(meant.called, environment, true, |context| {
        dialect.corrections(words, context)
    });
    if told.losses.iter().any(does_harm) {
        return Ok(told);
    }
    told.better.splice(0..0, corrected);
    let found = told.phases.first().map(|phase| phase.verdict.findings.as_slice());
    if let Some(mended) = found.and_then(|found| dialect.mended(words, &plan, found)) {
        told.better.insert(0, mended);
    }
    Ok(told)
}

/// A line of our own.
fn of_verb(
    typed: &[OsString],
    line: String,
    surveyor: &PathSurveyor<'_>,
) -> Result<Explanation, Error> {
    let cli = Cli::try_parse_from(typed)
        .map_err(|error| words::refusal(&error, typed, &Cli::command()))?;
    let Some(verb) = cli.verb.plan_verb() else {
        let verb = typed.get(1).map(|verb| verb.to_string_lossy()).unwrap_or_default();
        return Err(Refusal::new(format!("'assay {verb}' runs no plan"), EXPLAINED).into());
    };
    let plan = verb.planned(words::typed(typed))?;
    plan.check()?;
    Ok(of_plan(&plan, line, Vec::new(), surveyor))
}

// ------------------------------------------------------------------ what is seen and said

/// Surveys the places of a plan, and tells what would happen.
pub fn of_plan(
    plan: &Plan,
    line: String,
    mut better: Vec<BetterCommand>,
    surveyor: &PathSurveyor<'_>,
) -> Explanation {
    let surveys: Vec<Survey> =
        predict::places(plan).iter().map(|path| (surveyor.survey)(path)).collect();
    let phases = predict::foreseen(plan, &surveys, &surveyor.machine);
    let losses = run::losses(plan);
    if losses.iter().any(does_harm) {
        better.clear();
    }
    if plan.origin.dialect != quick::VERB
        && let Some(path) = predict::to_measure(plan, &surveys)
    {
        better.push(BetterCommand {
            line: format!("assay quick {}", quoted(&path)),
            why: "that disk in half a minute: in order and at random, one at a time and many, each figure with a verdict".into(),
        });
    }
    let around = predict::absent(plan, &surveys);
    let told = explanation(line, VerdictBasis::Foreseen, phases, better, surveys);
    Explanation { losses, around, ..told }
}

/// Whether the line itself damages what is in use, and nobody keeps it from that: then it is not typed again.
fn does_harm(loss: &ExpectedLoss) -> bool {
    loss.in_use && !loss.refused
}

fn explanation(
    line: String,
    basis: VerdictBasis,
    phases: Vec<PhaseExplanation>,
    better: Vec<BetterCommand>,
    places: Vec<Survey>,
) -> Explanation {
    Explanation {
        schema: EXPLANATION_SCHEMA.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        line,
        around: Vec::new(),
        words: Vec::new(),
        losses: Vec::new(),
        basis,
        phases,
        better,
        places,
    }
}
