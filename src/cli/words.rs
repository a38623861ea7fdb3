//! The words as they were typed: those after the verb, and what is wrong with them, in one line, with what
//! to write instead. The line that works is `cure`'s.

use std::ffi::OsString;
use std::num::ParseIntError;

use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use super::own_option::{OwnOption, verb_with_flag};
use assay_plan::error::Refusal;
use assay_plan::name::{NameText as _, path};

/// What `explain` can be given.
pub const EXPLAINED: &str =
    "give a line such as 'dd if=/dev/zero of=x bs=1M count=100', a plan or a record";

/// The words after the verb, for the record.
pub fn typed(words: &[OsString]) -> Vec<String> {
    words.iter().skip(2).map(|word| word.to_text()).collect()
}

/// The parser's complaint about what was typed, said shortly; the parser is that of `command`.
pub fn refusal(error: &Error, typed: &[OsString], command: &Command) -> Refusal {
    let named = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join(" ")),
        _ => None,
    };
    let value = named(ContextKind::InvalidValue);
    let word = named(ContextKind::InvalidArg).map(bare);
    let option = word.as_deref().and_then(|name| OwnOption::find(typed, command, name));
    // By the name that was typed, where it has several.
    let named_as = option.as_ref().filter(|_| value.is_some());
    let word = named_as.map(|option| option.name.clone()).or(word);
    let meant = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(format!("did you mean '{text}'?")),
        Some(ContextValue::Strings(texts)) => {
            texts.first().map(|text| format!("did you mean '{text}'?"))
        }
        _ => None,
    };
    let help = format!("see '{} --help'", called(typed, command));
    match (error.kind(), word, value) {
        (ErrorKind::InvalidSubcommand, _, _) => {
            let word = named(ContextKind::InvalidSubcommand).unwrap_or_default();
            Refusal::new(
                format!("unknown command '{word}'"),
                meant(ContextKind::SuggestedSubcommand)
                    .filter(|meant| meant.split('\'').nth(1).is_some_and(|it| is_near(&word, it)))
                    .or_else(|| {
                        let verb = verb_with_flag(command, &word)?;
                        Some(format!("did you mean 'assay {verb} PATH --{word}'?"))
                    })
                    .or_else(|| {
                        let (_, ours) =
                            VERBS_ELSEWHERE.iter().find(|(theirs, _)| *theirs == word)?;
                        Some(format!("did you mean 'assay {ours}'?"))
                    })
                    .unwrap_or_else(|| "'assay --help' lists all commands".into()),
            )
        }
        (ErrorKind::UnknownArgument, Some(word), _) if negative(&word) => {
            below_zero(&word, typed, command, &help)
        }
        (ErrorKind::UnknownArgument, Some(word), _) => Refusal::new(
            format!(
                "unknown {} '{word}'",
                if word.starts_with('-') { "option" } else { "argument" }
            ),
            known_elsewhere(&word, typed, command)
                .or_else(|| meant(ContextKind::SuggestedArg))
                .unwrap_or(help),
        ),
        (ErrorKind::MissingRequiredArgument, Some(word), _) => {
            let instead = match word.as_str() {
                "PATH" => "name a folder on the device, a file, or a block device".to_string(),
                "LINE" => EXPLAINED.to_string(),
                _ => help,
            };
            Refusal::new(format!("{word} is missing"), instead)
        }
        (ErrorKind::ArgumentConflict, Some(word), _) => {
            let other = named(ContextKind::PriorArg).map(bare).unwrap_or_default();
            if other == word {
                return Refusal::new(format!("{word} was given twice"), "leave one out");
            }
            Refusal::new(
                format!("'{word}' and '{other}' contradict each other"),
                "leave one of them out",
            )
        }
        (ErrorKind::InvalidValue, Some(word), Some(value)) if value.is_empty() => {
            Refusal::new(format!("'{word}' needs a value"), help)
        }
        (ErrorKind::InvalidValue, Some(word), Some(value)) => {
            let known = match error.get(ContextKind::ValidValue) {
                Some(ContextValue::Strings(values)) => {
                    format!("give one of {}", values.join(", "))
                }
                _ => help,
            };
            Refusal::new(format!("invalid value '{value}' for {word}"), known)
        }
        (ErrorKind::ValueValidation, Some(word), Some(value)) => {
            let source = std::error::Error::source(error);
            let number = source.is_some_and(|source| source.is::<ParseIntError>());
            let why = source.map(ToString::to_string).unwrap_or_default();
            // The standard library's own sentence names neither the word nor what may stand there; the parser
            // names the range when it is given more than that.
            let range = range(&why).or_else(|| {
                let option = option.filter(|_| number)?;
                [&i64::MAX.to_string(), "0"].into_iter().find_map(|beyond| {
                    let refused =
                        command.clone().try_get_matches_from(option.with(beyond)).err()?;
                    range(&std::error::Error::source(&refused)?.to_string())
                })
            });
            let (why, instead) = match (range, number) {
                (Some(range), false) => {
                    (format!("invalid value '{value}'"), format!("give {range}"))
                }
                (range, true) => {
                    let range = range.unwrap_or_else(|| format!("0 to {}", u64::MAX));
                    (format!("'{value}' is not a whole number"), format!("give {range}"))
                }
                (None, false) => (why, String::new()),
            };
            Refusal { place: word, why, instead }
        }
        (
            ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
            _,
            _,
        ) => Refusal::new(
            "no command given",
            "type for example 'assay quick .' to measure the device below this folder; 'assay --help' lists all commands",
        ),
        _ => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            Refusal::new(first.trim_start_matches("error: "), help)
        }
    }
}

/// How other tools spell what an option of ours is for, and what that is called here: the first that the verb has.
const ELSEWHERE: [(&[&str], &[&str]); 7] = [
    (&["-b", "--bs", "--blocksize", "--block-size"], &["block"]),
    (
        &["-q", "-o", "--qd", "--iodepth", "--queue-depth", "--depth"],
        &["depth", "max-depth", "queue-depth"],
    ),
    (&["-t", "-j", "--threads", "--numjobs", "--jobs", "--workers"], &["workers", "max-workers"]),
    (&["-d", "--runtime", "--duration", "--time"], &["time", "step"]),
    (&["-s", "--filesize", "--file-size"], &["size"]),
    (&["--rw", "--readwrite"], &["rw", "action"]),
    (
        &[
            "-o",
            "--output",
            "--out",
            "--html",
            "--csv",
            "--markdown",
            "--xlsx",
            "--svg",
            "--export",
        ],
        &["report"],
    ),
];

/// Commands that users of other tools look for, and what does that here.
const VERBS_ELSEWHERE: [(&str, &str); 6] = [
    ("report", "judge RECORD --report FILE.html"),
    ("plot", "judge RECORD --report FILE.html"),
    ("html", "judge RECORD --report FILE.html"),
    ("show", "judge RECORD"),
    ("diff", "compare RECORD RECORD"),
    ("bench", "quick PATH"),
];

/// The option of the verb that another tool spells like this.
fn known_elsewhere(word: &str, typed: &[OsString], command: &Command) -> Option<String> {
    let verb = command.find_subcommand(typed.get(1)?.to_str()?)?;
    let has = |name: &&&str| verb.get_arguments().any(|arg| arg.get_long() == Some(**name));
    let spelled = ELSEWHERE.iter().filter(|(theirs, _)| theirs.contains(&word));
    let name = spelled.flat_map(|(_, ours)| ours.iter()).find(has)?;
    Some(match *name {
        "report" => {
            "did you mean '--report FILE'? The end of its name says the format (.html, .csv ...)"
                .into()
        }
        name => format!("did you mean '--{name}'?"),
    })
}

/// The program and the verb that was typed, whose help knows the words: `assay ramp`.
fn called(typed: &[OsString], command: &Command) -> String {
    let verb = typed.get(1).and_then(|word| word.to_str());
    match verb.filter(|verb| command.find_subcommand(verb).is_some()) {
        Some(verb) => format!("assay {verb}"),
        None => "assay".into(),
    }
}

/// What is wrong with a number below zero: which word, of which option it is the value, and what that takes.
fn below_zero(word: &str, typed: &[OsString], command: &Command, help: &str) -> Refusal {
    let words: Vec<_> = typed.iter().map(|word| word.to_text()).collect();
    let at = words.iter().position(|typed| typed.starts_with(word));
    let option =
        at.and_then(|at| at.checked_sub(1)).filter(|before| words[*before].starts_with('-'));
    let value = at.map_or(word, |at| &words[at]);
    let why = format!("'{value}' is negative");
    let Some((before, option)) = option.map(|before| (before, &words[before])) else {
        return Refusal::new(why, help);
    };
    // As one word the parser takes it for a value, and says what may stand there.
    let mut joined = typed.to_vec();
    let sign = if option.starts_with("--") { "=" } else { "" };
    joined.splice(before..before + 2, [path(&format!("{option}{sign}{value}")).into_os_string()]);
    let refused = command.clone().try_get_matches_from(&joined).err();
    let told = refused.map(|error| refusal(&error, &joined, command).to_string());
    let instead = told.as_deref().and_then(|told| told.rsplit_once("; "));
    let instead = instead.map_or("give a value above 0", |(_, instead)| instead).to_string();
    Refusal { place: option.clone(), why, instead }
}

/// Whether a word is another one, mistyped: a letter in five is wrong, missing, too many, or in its neighbour's
/// place. The parser itself takes 'cat' for 'card'.
fn is_near(word: &str, other: &str) -> bool {
    let (word, other): (Vec<char>, Vec<char>) = (word.chars().collect(), other.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=other.len()).collect()];
    for at in 1..=word.len() {
        let mut row = vec![at];
        for to in 1..=other.len() {
            let same = usize::from(word[at - 1] != other[to - 1]);
            let mut least =
                (rows[at - 1][to] + 1).min(row[to - 1] + 1).min(rows[at - 1][to - 1] + same);
            if at > 1 && to > 1 && word[at - 1] == other[to - 2] && word[at - 2] == other[to - 1] {
                least = least.min(rows[at - 2][to - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[word.len()][other.len()] <= 1 + word.len() / 6
}

/// The range in the parser's sentence about a number outside of it: `257 is not in 1..=256`.
fn range(why: &str) -> Option<String> {
    let (least, most) = why.split_once(" is not in ")?.1.split_once("..")?;
    match most.strip_prefix('=') {
        Some("18446744073709551615") | None => Some(format!("{least} or more")),
        Some(most) => Some(format!("{least} to {most}")),
    }
}

/// Whether the word is a number below zero, of which the parser tells the first digit: `-1` of `-1M`.
fn negative(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// The name alone: `--time <T>` is `--time`, `<PATH>` is `PATH`.
fn bare(word: String) -> String {
    match word.split_once(' ') {
        Some((name, _)) if name.starts_with('-') => name.into(),
        _ => word.replace(['<', '>', '[', ']'], "").trim_end_matches("...").into(),
    }
}
