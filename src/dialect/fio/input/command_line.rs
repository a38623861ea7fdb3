//! The words of a command line, by the rules of GNU's `getopt_long_only`.

use std::path::Path;

use super::answers;
use super::complete::{JobList, finish};
use super::reader::{self, OptionText, Reader};
use crate::dialect::fio::job::engine;
use crate::dialect::fio::job::{
    FioComplaint, FioFault, FioIdleProfile, FioJob, FioNote, FioPlace, MINOR,
};
use crate::dialect::fio::logs::stored::inflated_log;
use crate::dialect::fio::options;
use crate::dialect::fio::options::option::FioOption;
use crate::dialect::fio::options::own::{FioArgument, FioInstead, FioOwnOption, OWN_OPTIONS};
use crate::dialect::near;
use assay_plan::error::{Doing, Fault};

/// What the words came to so far.
pub struct CommandLine<'w> {
    /// What is known while words are read.
    pub reader: Reader<'w>,
    /// The jobs of the line.
    pub jobs: JobList,
    /// A text in place of all.
    pub answer: Option<String>,
    /// Whether job files are printed as lines.
    pub show: bool,
    /// Whether it is no mistake that there is no job.
    pub quiet: bool,
    pub files: Vec<String>,
    /// The job that is being read; none before the first option of a job.
    current: Option<CurrentJob>,
}

/// The job that options belong to.
struct CurrentJob {
    job: FioJob,
    /// Whether it is what jobs begin with.
    global: bool,
}

/// What a long name stands for.
#[derive(Clone, Copy)]
enum LongOption {
    Own(&'static FioOwnOption),
    Job(&'static FioOption),
    Engine(&'static FioOption),
}

/// An option with what follows it.
struct TypedWord<'t> {
    option: LongOption,
    /// Its name, as it is in the list.
    name: &'static str,
    value: Option<&'t str>,
    /// As it was typed, its value included.
    typed: String,
    place: FioPlace,
}

impl<'w> CommandLine<'w> {
    pub(in crate::dialect::fio) fn new(reader: Reader<'w>) -> Self {
        Self {
            reader,
            jobs: JobList::default(),
            answer: None,
            show: false,
            quiet: false,
            files: Vec::new(),
            current: None,
        }
    }

    /// All names that may be typed now, with what they stand for.
    fn names(&self) -> Vec<(&'static str, LongOption)> {
        let own = OWN_OPTIONS.iter().map(|own| (own.name, LongOption::Own(own)));
        let jobs = options::of_jobs()
            .flat_map(|option| option.names().map(move |name| (name, LongOption::Job(option))));
        let engine = self
            .current
            .as_ref()
            .map_or(self.reader.defaults.queue.engine, |current| current.job.queue.engine);
        let known = self.current.is_some();
        let of_engine = options::of_engine(engine)
            .filter(move |_| known)
            .map(|option| (option.name, LongOption::Engine(option)));
        own.chain(jobs).chain(of_engine).collect()
    }
}

impl LongOption {
    fn argument(self) -> FioArgument {
        match self {
            Self::Own(own) => own.argument,
            Self::Job(option) | Self::Engine(option) if option.kind.needs_value() => {
                FioArgument::Needed("VALUE")
            }
            _ => FioArgument::Optional("VALUE"),
        }
    }
}

pub fn words(line: &mut CommandLine<'_>, words: &[String]) -> Result<(), FioComplaint> {
    let mut at = 0;
    while at < words.len() && line.answer.is_none() {
        let word = words[at].as_str();
        at += 1;
        if word == "--" {
            line.files.extend_from_slice(&words[at..]);
            break;
        }
        if word == "-" || !word.starts_with('-') {
            line.files.push(word.into());
            continue;
        }
        let place = FioPlace::Word(at);
        let complain = |line: &CommandLine<'_>, fault: FioFault| {
            Err(FioComplaint::at(Some(&place), fault).after(&line.reader.said))
        };
        match long(line, word, words.get(at).map(String::as_str), &place) {
            Ok(Some((typed, taken))) => {
                at += usize::from(taken);
                take(line, typed)?;
            }
            Ok(None) => match letters(line, word, words.get(at).map(String::as_str)) {
                Ok(taken) => at += usize::from(taken),
                Err(fault) => return complain(line, fault),
            },
            Err(fault) => return complain(line, fault),
        }
    }
    if line.answer.is_none() {
        close(line)?;
    }
    Ok(())
}

/// The option that a word is, and whether the next word belongs to it; none if it may be letters.
fn long<'t>(
    line: &CommandLine<'_>,
    word: &'t str,
    next: Option<&'t str>,
    place: &FioPlace,
) -> Result<Option<(TypedWord<'t>, bool)>, FioFault> {
    let single = !word.starts_with("--");
    let inside = word.trim_start_matches('-');
    let inside = if single { &word[1..] } else { word.strip_prefix("--").unwrap_or(inside) };
    let lettered = single && inside.chars().next().is_some_and(|c| letter(c).is_some());
    if lettered && inside.chars().count() == 1 {
        return Ok(None);
    }
    let (name, glued) = inside.split_once('=').map_or((inside, None), |(n, v)| (n, Some(v)));
    let dashes = if single { "-" } else { "--" };
    let names = line.names();
    let exact = names.iter().find(|(known, _)| *known == name);
    let near: Vec<_> = names.iter().filter(|(known, _)| known.starts_with(name)).collect();
    let (known, option) = match (exact, near.as_slice()) {
        (Some(found), _) => *found,
        (None, [found]) => **found,
        (None, []) if lettered => return Ok(None),
        (None, []) => return Err(unrecognized(line, word, name)),
        (None, several) => {
            return Err(ambiguous(word, dashes, several.iter().map(|(name, _)| *name)));
        }
    };
    let typed = |value: Option<&str>| match (value, glued) {
        (Some(value), None) => format!("{word} {value}"),
        _ => word.to_string(),
    };
    let (value, taken) = match (option.argument(), glued, next) {
        (FioArgument::None, Some(_), _) => {
            let mut fault = FioFault::line(
                format!("fio: option '{dashes}{known}' doesn't allow an argument"),
                format!("--{known}"),
            );
            fault.lines.extend(unrecognized_lines(line, word));
            return Err(fault);
        }
        (FioArgument::Needed(_), None, None) => {
            let mut fault = FioFault::line(
                format!("fio: option '{dashes}{known}' requires an argument"),
                format!("--{known}=VALUE"),
            );
            fault.lines.extend(unrecognized_lines(line, word));
            return Err(fault);
        }
        (FioArgument::Needed(_), None, Some(next)) => (Some(next), true),
        (_, glued, _) => (glued, false),
    };
    let word = TypedWord { option, name: known, value, typed: typed(value), place: place.clone() };
    Ok(Some((word, taken)))
}

fn letter(letter: char) -> Option<&'static FioOwnOption> {
    OWN_OPTIONS.iter().find(|own| own.letter == letter)
}

/// A word of letters: `-h`, `-o FILE`, `-oFILE`. Whether the next word belongs to it.
fn letters(line: &mut CommandLine<'_>, word: &str, next: Option<&str>) -> Result<bool, FioFault> {
    for (at, c) in word.char_indices().skip(1) {
        let own = letter(c).ok_or_else(|| unrecognized(line, word, &word[1..]))?;
        let glued = &word[at + c.len_utf8()..];
        let (value, taken) = match (own.argument, glued, next) {
            (FioArgument::None, _, _) => {
                own_option(line, own, None)?;
                continue;
            }
            (FioArgument::Needed(_), "", None) => {
                let mut fault = FioFault::line(
                    format!("fio: option requires an argument -- '{c}'"),
                    format!("--{}=VALUE", own.name),
                );
                fault.lines.extend(unrecognized_lines(line, word));
                return Err(fault);
            }
            (FioArgument::Needed(_), "", Some(next)) => (Some(next), true),
            (_, "", _) => (None, false),
            (_, glued, _) => (Some(glued), false),
        };
        own_option(line, own, value)?;
        return Ok(taken);
    }
    Ok(false)
}

/// What fio says of a word that it does not know.
fn unrecognized_lines(line: &CommandLine<'_>, word: &str) -> Vec<String> {
    let mut lines = vec![format!("fio: unrecognized option '{word}'")];
    let bare = word.trim_start_matches('-');
    let near = near::nearest(bare, line.names().into_iter().map(|(name, _)| name));
    lines.extend(near.map(|name| format!("Did you mean {name}?")));
    lines
}

fn unrecognized(line: &CommandLine<'_>, word: &str, name: &str) -> FioFault {
    let mut lines = vec![format!("fio: unrecognized option '{word}'")];
    lines.extend(unrecognized_lines(line, word));
    let instead = reader::other_engines(name).or_else(|| {
        near::nearest(name, line.names().into_iter().map(|(name, _)| name))
            .map(|near| format!("--{near}"))
    });
    FioFault {
        lines,
        told: String::new(),
        why: format!("there is no option '{name}'"),
        instead: instead.unwrap_or_else(|| "--cmdhelp lists all options".into()),
    }
}

fn ambiguous(word: &str, dashes: &str, names: impl Iterator<Item = &'static str>) -> FioFault {
    let names: Vec<_> = names.collect();
    let listed: String = names.iter().map(|name| format!(" '{dashes}{name}'")).collect();
    FioFault {
        lines: vec![
            format!("fio: option '{word}' is ambiguous; possibilities:{listed}"),
            format!("fio: unrecognized option '{word}'"),
        ],
        told: String::new(),
        why: format!("'{word}' may be one of {} options", names.len()),
        instead: names.iter().map(|name| format!("--{name}")).collect::<Vec<_>>().join(", "),
    }
}

fn take(line: &mut CommandLine<'_>, word: TypedWord<'_>) -> Result<(), FioComplaint> {
    let place = word.place.clone();
    let taken = match word.option {
        LongOption::Own(own) => own_option(line, own, word.value),
        LongOption::Job(option) if option.name == "name" => return named(line, &word, option),
        LongOption::Job(option) => {
            let current = line.current.take();
            // Before the first name, options are for all jobs.
            let current = current.unwrap_or_else(|| CurrentJob {
                job: std::mem::take(&mut line.reader.defaults),
                global: true,
            });
            line.current = Some(current);
            job_option(line, &word, option)
        }
        LongOption::Engine(option) => job_option(line, &word, option),
    };
    taken.map_err(|fault| FioComplaint::at(Some(&place), fault).after(&line.reader.said))
}

/// An option of the program itself.
fn own_option(
    line: &mut CommandLine<'_>,
    own: &'static FioOwnOption,
    value: Option<&str>,
) -> Result<(), FioFault> {
    let given = value.unwrap_or_default();
    (own.effect)(&mut line.reader.own, given)?;
    if let Some(made) = own.without_effect() {
        line.reader.notes.push(FioNote {
            job: String::new(),
            place: FioPlace::Word(1),
            word: format!("--{}", own.name),
            made: made.into(),
            meant: String::new(),
            instead: String::new(),
        });
    }
    match own.instead {
        FioInstead::Run if line.reader.own.idle_profile == Some(FioIdleProfile::Calibrate) => {
            line.answer = Some(String::new());
        }
        FioInstead::Run => {}
        FioInstead::Help => line.answer = Some(answers::usage(OWN_OPTIONS)),
        FioInstead::Version => line.answer = Some(answers::version()),
        FioInstead::CommandHelp => line.answer = Some(answers::command_help(value)),
        FioInstead::EngineHelp => line.answer = Some(answers::engine_help(value)),
        FioInstead::ShowCommand => (line.show, line.reader.dry) = (true, true),
        FioInstead::InflatedLog => line.answer = Some(inflated(line, value.unwrap_or_default())?),
        FioInstead::ParseOnly => line.reader.dry = true,
    }
    Ok(())
}

/// The lines of a log that was stored compressed.
fn inflated(line: &CommandLine<'_>, file: &str) -> Result<String, FioFault> {
    let world = line.reader.world;
    let meant = (world.environment)("ASSAY_DIALECT");
    let minor = meant.as_deref().and_then(|meant| meant.strip_prefix("fio-3.")?.parse().ok());
    let read =
        (world.files)(Path::new(file)).map_err(|error| Fault::new(Doing::Read, "", &error).text);
    read.and_then(|bytes| inflated_log(&bytes, minor.unwrap_or(MINOR))).map_err(|why| {
        FioFault::new(
            format!("--inflate-log={file}: {why}"),
            "name a file that log_store_compressed=1 made",
        )
    })
}

/// An option of the job that is being read.
fn job_option(
    line: &mut CommandLine<'_>,
    word: &TypedWord<'_>,
    option: &'static FioOption,
) -> Result<(), FioFault> {
    let Some(current) = &mut line.current else { return Ok(()) };
    if word.value.is_some_and(str::is_empty) && option.kind.needs_value() {
        return Err(FioFault::line(
            format!("fio: option {} requires an argument", word.name),
            format!("--{}=VALUE", word.name),
        ));
    }
    let text = OptionText { value: word.value, typed: &word.typed, place: &word.place };
    line.reader.take(&mut current.job, option, &text, current.global).map_err(|mut fault| {
        let value = word.value.unwrap_or_default();
        fault.lines.push(format!("fio: failed parsing {}={value}", word.name));
        fault
    })?;
    if option.name == "ioengine"
        && let Some(name) = &current.job.queue.unknown_engine
    {
        return Err(engine::unknown(name));
    }
    if let Some(value) = word.value.filter(|value| value.starts_with("--")) {
        line.reader.notes.push(FioNote {
            job: current.job.name.clone(),
            place: word.place.clone(),
            word: word.typed.clone(),
            made: format!("'{value}' is the value of --{}", word.name),
            meant: format!("two options, --{} without a value", word.name),
            instead: format!("--{}=VALUE {value}", word.name),
        });
    }
    Ok(())
}

/// `--name=NEW` ends the job before and begins another.
fn named(
    line: &mut CommandLine<'_>,
    word: &TypedWord<'_>,
    option: &'static FioOption,
) -> Result<(), FioComplaint> {
    close(line)?;
    let name = word.value.unwrap_or_default();
    let global = name.starts_with("global");
    let sections = &line.reader.own.sections;
    if !sections.is_empty() && !global && !sections.iter().any(|section| section == name) {
        return Ok(());
    }
    let job = match global {
        true => std::mem::take(&mut line.reader.defaults),
        false => line.reader.defaults.begin("", word.place.clone()),
    };
    line.current = Some(CurrentJob { job, global });
    job_option(line, word, option)
        .map_err(|fault| FioComplaint::at(Some(&word.place), fault).after(&line.reader.said))
}

/// Ends the job that is being read.
fn close(line: &mut CommandLine<'_>) -> Result<(), FioComplaint> {
    let Some(CurrentJob { job, global }) = line.current.take() else { return Ok(()) };
    match global {
        true => {
            line.reader.defaults = job;
            Ok(())
        }
        false => finish(&mut line.reader, &mut line.jobs, job),
    }
}
