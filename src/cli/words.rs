//! What is wrong with the words, in one line, and what to write instead.

use std::ffi::OsString;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

use super::Cli;
use crate::error::Refusal;

/// The parser's complaint about what was typed, said shortly.
pub fn refusal(error: &Error, typed: &[OsString]) -> Refusal {
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
    let help = format!("'{} --help' shows what can be written", called(typed));
    match (error.kind(), word, value) {
        (ErrorKind::InvalidSubcommand, _, _) => {
            let word = named(ContextKind::InvalidSubcommand).unwrap_or_default();
            Refusal::new(
                format!("unknown verb '{word}'"),
                meant(ContextKind::SuggestedSubcommand)
                    .unwrap_or_else(|| "write for example 'assay quick .'".into()),
            )
        }
        (ErrorKind::UnknownArgument, Some(word), _) if negative(&word) => Refusal::new(
            format!("'{word}' is less than zero"),
            format!("sizes, times and numbers are more; {help}"),
        ),
        (ErrorKind::UnknownArgument, Some(word), _) => Refusal::new(
            format!("unknown word '{word}'"),
            meant(ContextKind::SuggestedArg).unwrap_or(help),
        ),
        (ErrorKind::MissingRequiredArgument, Some(word), _) => {
            let instead = match word.as_str() {
                "PATH" => "name a folder on the device, a file, or a block device".to_string(),
                "LINE" => super::explain::KNOWN.to_string(),
                _ => help,
            };
            Refusal::new(format!("{word} is missing"), instead)
        }
        (ErrorKind::ArgumentConflict, Some(word), _) => {
            let other = named(ContextKind::PriorArg).map(bare).unwrap_or_default();
            if other == word {
                return Refusal::new(format!("'{word}' is there twice"), "leave one out");
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
                    format!("write one of {}", values.join(", "))
                }
                _ => help,
            };
            Refusal::new(format!("'{value}' is not good for {word}"), known)
        }
        (ErrorKind::ValueValidation, Some(word), Some(value)) => {
            let why = std::error::Error::source(error).map(|source| {
                // The standard library's own sentence does not name the word.
                match source.downcast_ref::<std::num::ParseIntError>() {
                    Some(_) => format!("'{value}' is no whole number that fits"),
                    None => source.to_string(),
                }
            });
            Refusal {
                place: word,
                why: why.unwrap_or_else(|| format!("'{value}' is not good")),
                instead: String::new(),
            }
        }
        (
            ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
            _,
            _,
        ) => Refusal::new(
            "say what to do",
            "for example 'assay quick .' to measure the device under this folder; 'assay --help' shows all",
        ),
        _ => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            Refusal::new(first.trim_start_matches("error: "), help)
        }
    }
}

/// The program and the verb that was typed, whose help knows the words: `assay ramp`.
fn called(typed: &[OsString]) -> String {
    let verb = typed.get(1).and_then(|word| word.to_str());
    match verb.filter(|verb| Cli::command().find_subcommand(verb).is_some()) {
        Some(verb) => format!("assay {verb}"),
        None => "assay".into(),
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
