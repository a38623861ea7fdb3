//! The words as they were typed: those after the verb, and what is wrong with them, in one line, with what
//! to write instead.

use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use crate::error::Refusal;
use crate::name::NameText as _;

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
    let word = named(ContextKind::InvalidArg).map(bare);
    let value = named(ContextKind::InvalidValue);
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
                    .unwrap_or_else(|| "type for example 'assay quick .'".into()),
            )
        }
        (ErrorKind::UnknownArgument, Some(word), _) if negative(&word) => {
            Refusal::new(below_zero(&word, typed), format!("give a value above 0; {help}"))
        }
        (ErrorKind::UnknownArgument, Some(word), _) => Refusal::new(
            format!(
                "unknown {} '{word}'",
                if word.starts_with('-') { "option" } else { "argument" }
            ),
            meant(ContextKind::SuggestedArg).unwrap_or(help),
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
            let why = std::error::Error::source(error).map(|source| {
                // The standard library's own sentence does not name the word.
                match source.downcast_ref::<std::num::ParseIntError>() {
                    Some(_) => format!("'{value}' is no whole number that fits"),
                    None => source.to_string(),
                }
            });
            let why = why.unwrap_or_else(|| format!("invalid value '{value}'"));
            Refusal { place: word, why: within(&why, &value), instead: String::new() }
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

/// The program and the verb that was typed, whose help knows the words: `assay ramp`.
fn called(typed: &[OsString], command: &Command) -> String {
    let verb = typed.get(1).and_then(|word| word.to_str());
    match verb.filter(|verb| command.find_subcommand(verb).is_some()) {
        Some(verb) => format!("assay {verb}"),
        None => "assay".into(),
    }
}

/// What is wrong with a number below zero: which word, and of which option it is the value.
fn below_zero(word: &str, typed: &[OsString]) -> String {
    let typed: Vec<_> = typed.iter().map(|word| word.to_text()).collect();
    let at = typed.iter().position(|typed| typed.starts_with(word));
    let option = at.and_then(|at| typed.get(at.checked_sub(1)?)).filter(|it| it.starts_with("--"));
    match (at.map(|at| &typed[at]), option) {
        (Some(value), Some(option)) => {
            format!("invalid value '{value}' for {option}: it cannot be negative")
        }
        (value, _) => format!("'{}' is negative", value.map_or(word, |value| value)),
    }
}

/// The parser's sentence about a number out of its range, as a person says it: `257 is not in 1..=256`.
fn within(why: &str, value: &str) -> String {
    let range = why.split_once(" is not in ").and_then(|(_, range)| range.split_once("..="));
    match range {
        Some((least, most)) => format!("invalid value '{value}'; give {least} to {most}"),
        None => why.into(),
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
