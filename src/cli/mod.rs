//! assay's own words: what the program was called with, and who does it.

pub mod atto;
pub mod card;
mod compare;
mod conduct;
mod cure;
pub mod demo;
mod dialect;
mod documents;
pub mod explain;
pub mod io;
mod judge;
mod manual;
pub mod modes;
mod on;
mod output;
mod own_option;
#[cfg(test)]
mod pasted;
mod place;
mod plot;
mod probe;
pub mod profile;
pub mod quick;
pub mod ramp;
mod run;
mod schema;
mod shell;
pub mod sustain;
pub mod sweep;
pub mod target_args;
#[cfg(test)]
mod told;
mod verb;
mod version;
mod watch;
mod words;

pub use crate::process::{Environment, standard_streams};
pub use output::OutputArgs;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::Write;
use std::slice;

use clap::{CommandFactory as _, Parser as _};
use conduct::PlanVerb as _;
use dialect::ForeignCommand;
use verb::{Cli, ToolVerb, Verb};

use crate::dialect::session::InvokedAs;
use crate::process::stdout::{PipeWriter, printed};
use crate::process::{FAULT, REFUSAL, SOUND, typing};
use crate::report::{self, TerminalStyle};
use assay_judge::catalogue;
use assay_plan::error::{Error, Refusal};
use assay_plan::name::NameText as _;
use assay_plan::unit::Bytes;
use assay_record::record::TrapId;
use assay_record::record::document_file;

/// Whether the words are a tool's that copies in the thread it was started with.
pub fn lends_first_thread(words: &[OsString]) -> bool {
    let (_, words) = without_plain(words);
    dialect::meant(&words).is_some_and(|meant| meant.dialect.lends_first_thread())
}

/// The whole program: words in, output and an exit status out.
pub fn main(
    words: &[OsString],
    environment: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> u8 {
    let mut out = PipeWriter::new(out, environment.out.is_some());
    let mut err = PipeWriter::new(err, environment.err.is_some());
    let outcome = call(words, environment, &mut out, &mut err)
        .and_then(|code| printed(out.flush()).map(|()| code));
    let code = match outcome {
        Ok(code) => code,
        Err(error) => {
            // Nobody is left to be told when this fails too.
            let _ = match &error {
                Error::Refusal(refusal) => writeln!(err, "assay: {}", typing::one_line(refusal)),
                Error::Fault(fault) => writeln!(err, "assay: {fault}"),
            };
            if let Error::Refusal(refusal) = &error
                && dialect::meant(words).is_none()
                && let Some(line) = cure::line(words, refusal)
            {
                let _ = writeln!(err, "  {line}");
            }
            match error {
                Error::Refusal(_) => REFUSAL,
                Error::Fault(_) => FAULT,
            }
        }
    };
    conduct::tell_left(code, &mut err)
}

fn call(
    words: &[OsString],
    environment: &Environment,
    out: &mut PipeWriter<'_>,
    err: &mut dyn Write,
) -> Result<u8, Error> {
    if let Some(largest) = &environment.largest_document {
        document_file::allow(largest_document(&largest.to_text())?);
    }
    let verb = dialect::as_verb(words);
    let words = verb.as_deref().unwrap_or(words);
    // Before the verb it is for dialects, too, whose words are not ours.
    let (plain, words) = without_plain(words);
    let (words, environment) = (&*words, &environment.plain_if(plain));
    if let Some(meant) = dialect::meant(words) {
        return dialect::call(&meant, environment, out, err);
    }
    dialect::spoken(words)?;
    let (verb, plain) = match Cli::try_parse_from(words) {
        Ok(cli) => (cli.verb, cli.plain),
        Err(error) if !error.use_stderr() => {
            printed(write!(out, "{}", error.render()))?;
            return Ok(SOUND);
        }
        Err(error) => return Err(words::refusal(&error, words, &Cli::command()).into()),
    };
    let typed = words::typed(words);
    let environment = &environment.plain_if(plain);
    match verb {
        Verb::Measure(verb) => verb.words().run(typed, environment, out, err),
        Verb::Run(words) => words.run(typed, environment, out, err),
        Verb::Atto(words) => words.run(typed, environment, out, err),
        Verb::Probe(words) => probe::probe(&words, environment, out).map(|()| SOUND),
        Verb::Explain(words) => explain::explain(&words, environment, out).map(|()| SOUND),
        Verb::Watch(watch) => watch::watch(&watch, &typed, environment, out),
        Verb::Judge(words) => judge::judge(&words, environment, out, err),
        Verb::Compare(words) => compare::compare(&words, environment, out),
        Verb::Schema { of } => {
            printed(of.text().and_then(|text| out.write_all(text.as_bytes()))).map(|()| SOUND)
        }
        Verb::Traps { number } => {
            let told = traps(number.as_deref(), environment.out_style())?;
            printed(out.write_all(told.as_bytes())).map(|()| SOUND)
        }
        Verb::Tool(ToolVerb { tool, words }) => {
            let (dialect, called) = (tool.dialect, InvokedAs::Assay);
            dialect::call(&ForeignCommand { dialect, words: &words, called }, environment, out, err)
        }
        Verb::On(words) => on::on(&words, environment, out, err),
        Verb::OnBoard(words) => on::board(&words).map(|()| SOUND),
        Verb::Man => printed(manual::write(Cli::command(), out)).map(|()| SOUND),
        Verb::Completions { shell } => {
            // The generator panics when it cannot write; memory can always be written.
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "assay", &mut text);
            printed(out.write_all(&text)).map(|()| SOUND)
        }
    }
}

/// What a document may come to, as it is told in the environment.
fn largest_document(told: &str) -> Result<Bytes, Refusal> {
    told.parse().ok().filter(|largest: &Bytes| largest.0 > 0).ok_or_else(|| Refusal {
        place: document_file::VARIABLE.into(),
        why: format!("'{told}' is no size"),
        instead: "give the size that a record or another document may have at most: 256M, 1G"
            .into(),
    })
}

/// The words without a `--plain` before the verb, and whether there was one.
fn without_plain(words: &[OsString]) -> (bool, Cow<'_, [OsString]>) {
    match words {
        [program, plain, rest @ ..] if plain == "--plain" => {
            (true, [slice::from_ref(program), rest].concat().into())
        }
        _ => (false, words.into()),
    }
}

/// The catalogue of traps, or what it says of one.
fn traps(number: Option<&str>, style: TerminalStyle) -> Result<String, Refusal> {
    let Some(number) = number else { return Ok(report::catalogue::page(style)) };
    let digits = number.strip_prefix(['T', 't']).unwrap_or(number);
    let zero = if digits.len() == 1 { "0" } else { "" };
    let Some(id) = TrapId::of_name(&format!("T{zero}{digits}")) else {
        let last = TrapId::ALL.len() - 1;
        return Err(Refusal::new(
            format!("there is no trap '{number}'"),
            format!("write a number from T00 to T{last}"),
        ));
    };
    let entries = catalogue::entries(id);
    let told = entries.iter().map(|entry| report::catalogue::entry(entry, style));
    Ok(told.collect::<Vec<_>>().join("\n"))
}
