//! A line that works, for one that was refused: the same words, with what was wrong in them replaced by what is
//! taken there. Each is tried before it is shown, and nothing is touched by that.

use std::ffi::OsString;
use std::path::Path;

use clap::{Command, CommandFactory as _, Parser as _};

use super::output::ReportFiles;
use super::own_option::{OwnOption, names, verb_with_flag};
use super::verb::{Cli, Verb};
use super::words;
use assay_plan::error::Refusal;
use assay_plan::name::{NameText as _, quoted};
use assay_record::evidence::folder_of;
use assay_run as run;

/// The line to type instead of the one that was refused; `None` where nothing of what is tried is taken.
pub fn line(typed: &[OsString], refusal: &Refusal) -> Option<String> {
    let command = Cli::command();
    let mut tried = renamed(typed, refusal);
    tried.extend(as_flag(typed, &command, refusal));
    tried.extend(placed(typed, refusal));
    tried.extend(valued(typed, &command, refusal));
    let taken = tried.into_iter().find(|words| words != typed && works(words))?;
    let [_, rest @ ..] = taken.as_slice() else { return None };
    let rest: Vec<String> = rest.iter().map(|word| quoted(&word.to_text())).collect();
    Some(format!("assay {}", rest.join(" ")))
}

/// Whether the words make a plan that can be run on this machine.
fn works(words: &[OsString]) -> bool {
    let Ok(cli) = Cli::try_parse_from(words) else { return false };
    let Some(verb) = cli.verb.plan_verb() else {
        return !matches!(cli.verb, Verb::Watch(watch) if !watch.path.exists());
    };
    verb.planned(words::typed(words)).is_ok_and(|plan| {
        let fits = plan.check().is_ok() && run::preview(&plan).is_ok();
        let output = verb.output();
        fits && ReportFiles::at(&output.report, output.record.as_deref(), &plan).is_ok()
    })
}

/// With the word that was meant, where the refusal asks whether it was.
fn renamed(typed: &[OsString], refusal: &Refusal) -> Vec<Vec<OsString>> {
    let meant = refusal.instead.strip_prefix("did you mean '").and_then(|it| it.strip_suffix("'?"));
    let Some((meant, wrong)) = meant.zip(refusal.why.split('\'').nth(1)) else { return Vec::new() };
    let words = typed.iter().map(|word| match word.to_text() {
        word if word == wrong => meant.into(),
        word => match word.strip_prefix(wrong) {
            Some(value) if value.starts_with('=') => format!("{meant}{value}").into(),
            _ => word.into(),
        },
    });
    vec![words.collect()]
}

/// With the verb to which the first word belongs as a flag.
fn as_flag(typed: &[OsString], command: &Command, refusal: &Refusal) -> Vec<Vec<OsString>> {
    let [program, word, rest @ ..] = typed else { return Vec::new() };
    let known = verb_with_flag(command, &word.to_text());
    let Some(verb) = known.filter(|_| refusal.why.starts_with("unknown command")) else {
        return Vec::new();
    };
    let flag = OsString::from(format!("--{}", word.to_text()));
    let here = rest.is_empty().then(|| ".".into());
    let words = [program.clone(), verb.into()].into_iter().chain(rest.iter().cloned());
    vec![words.chain(here).chain([flag]).collect()]
}

/// With this folder where the path is missing, and with its folder for a file that cannot be used.
fn placed(typed: &[OsString], refusal: &Refusal) -> Vec<Vec<OsString>> {
    if refusal.why == "PATH is missing" {
        return vec![typed.iter().cloned().chain([".".into()]).collect()];
    }
    let understood = Cli::try_parse_from(typed).ok().filter(|_| refusal.place.is_empty());
    if understood.and_then(|cli| cli.verb.plan_verb().map(|_| ())).is_none() {
        return Vec::new();
    }
    let place = (2..typed.len()).find(|at| {
        let shown = typed[*at].to_text();
        let named = || refusal.why.split(' ').any(|part| part.trim_matches('\'') == shown);
        let own = !typed[at - 1].to_text().starts_with('-');
        own && Path::new(&typed[*at]).is_file() && named()
    });
    let Some(at) = place else { return Vec::new() };
    let mut words = typed.to_vec();
    words[at] = folder_of(Path::new(&typed[at])).as_os_str().to_owned();
    vec![words]
}

/// With other values of the option that the refusal speaks of: those near to what was typed and those that
/// it names, then the usual one, then what people give there.
fn valued(typed: &[OsString], command: &Command, refusal: &Refusal) -> Vec<Vec<OsString>> {
    let said = format!("{} {} {}", refusal.place, refusal.why, refusal.instead);
    let mut named = parts(&said).filter(|part| part.starts_with('-'));
    let Some(option) = named.find_map(|name| OwnOption::find(typed, command, name)) else {
        return Vec::new();
    };
    let verb = typed.get(1).and_then(|verb| command.find_subcommand(verb));
    let argument = verb.into_iter().flat_map(Command::get_arguments);
    let argument = argument.into_iter().find(|argument| names(argument).contains(&option.name));
    let usual = argument.map(|argument| argument.get_default_values().to_vec()).unwrap_or_default();
    let usual = usual.iter().map(|value| value.to_text());
    // What is to be given stands last.
    let given = said.rsplit_once("give ").or_else(|| said.rsplit_once("write "));
    let given = given.map_or("", |(_, given)| given);
    let (range, examples) = given.split_once("such as ").unwrap_or((given, ""));
    let own = |text: &'_ str| parts(text).map(String::from).collect::<Vec<_>>();
    let mut values = Vec::new();
    if [" or more", " or less", ".."].iter().any(|named| range.contains(named)) {
        values.extend(own(range));
    }
    if examples.is_empty() {
        values.extend(ends(&option.value, range));
    }
    values.extend(near(&option.value));
    values.extend(usual.chain(own(examples)));
    values.extend(["5ms", "30s", "1G", "70", "10", "bs=4k..1M"].map(String::from));
    values.extend(own(range));
    let ranges = ranged(&option, verb).into_iter();
    ranges.chain(values.iter().map(|value| option.with(value))).collect()
}

/// The words of a sentence, without its marks.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', ',', ';', ':', '\'', '(', ')', '?']).filter(|part| !part.is_empty())
}

/// The end of a range `1 to 256` that is nearer to a number beyond it, and where that is too much for this
/// machine less and less of it.
fn ends(value: &str, range: &str) -> Vec<String> {
    let within = || {
        let number: i128 = value.parse().ok()?;
        let (least, most) = range.trim().split_once(" to ")?;
        let (least, most): (i128, i128) = (least.parse().ok()?, most.parse().ok()?);
        Some((least, number.clamp(least, most)))
    };
    let Some((least, end)) = within() else { return Vec::new() };
    let halves = std::iter::successors(Some(end), |end| Some(end / 2));
    let halves = halves.take_while(|end| *end > 0 && *end >= least);
    std::iter::once(end).chain(halves).map(|end| end.to_string()).collect()
}

/// What may have been meant: the number without its sign, with another unit or none, the first of a range.
fn near(value: &str) -> Vec<String> {
    let value = value.trim_start_matches('-');
    let first = value.split_once("..").map(|(first, _)| first.to_string());
    let digits = value.len() - value.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let digits = &value[..digits];
    if !(1..=6).contains(&digits.len()) {
        return first.into_iter().collect();
    }
    let units = ["ms", "s", "k", "M", ""].map(|unit| format!("{digits}{unit}"));
    first.into_iter().chain([value.to_string()]).chain(units).collect()
}

/// A range where one value is wanted, as a verb that varies it takes it.
fn ranged(option: &OwnOption, verb: Option<&Command>) -> Vec<Vec<OsString>> {
    let varies = verb.is_some_and(|verb| verb.get_arguments().any(|it| it.get_id() == "over"));
    let what = match option.name.as_str() {
        "--block" | "--bs" => "bs",
        "--depth" | "--iodepth" | "-q" => "depth",
        "--workers" | "--numjobs" => "workers",
        _ => return Vec::new(),
    };
    match option.value.split_once("..").filter(|_| varies) {
        Some((from, to)) => [(from, to), (to, from)]
            .map(|(from, to)| option.replaced_by(["--over", &format!("{what}={from}..{to}")]))
            .to_vec(),
        None => Vec::new(),
    }
}
