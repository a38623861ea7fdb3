//! An option of our own among the words that were typed: where it stands, by which of its names, and the same words
//! with another value of it.

use std::ffi::OsString;

use clap::{Arg, Command};

use assay_plan::name::{NameText as _, path};

/// An option among the words, with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnOption {
    /// Its name as it was typed: one of several that it may have.
    pub name: String,
    /// Its value; empty where none was typed.
    pub value: String,
    words: Vec<String>,
    /// Of the word that holds the name, and of the one that holds the value.
    at: (usize, usize),
    /// What stands before the value in its word: `--time=`, `-q`.
    before: String,
}

impl OwnOption {
    /// The option of the typed verb that has this name, `--block` or `-q`, where it was typed by that name or
    /// by another one of its.
    pub fn find(typed: &[OsString], command: &Command, name: &str) -> Option<Self> {
        let words: Vec<String> = typed.iter().map(|word| word.to_text()).collect();
        let verb = command.find_subcommand(words.get(1)?)?;
        let names =
            verb.get_arguments().map(names).find(|names| names.iter().any(|n| n == name))?;
        words.iter().enumerate().skip(2).find_map(|(at, word)| {
            let name = names.iter().find(|name| match word.strip_prefix(name.as_str()) {
                Some("") => true,
                Some(rest) => !name.starts_with("--") || rest.starts_with('='),
                None => false,
            })?;
            let joined = (word != name).then(|| {
                let end = name.len() + usize::from(word[name.len()..].starts_with('='));
                (at, word[..end].to_string(), word[end..].to_string())
            });
            let next = words.get(at + 1).cloned().unwrap_or_default();
            let (place, before, value) = joined.unwrap_or((at + 1, String::new(), next));
            let words = words.clone();
            Some(Self { name: name.clone(), value, words, at: (at, place), before })
        })
    }

    /// The words with another value of it.
    pub fn with(&self, value: &str) -> Vec<OsString> {
        let mut words = self.words.clone();
        let word = format!("{}{value}", self.before);
        match words.get_mut(self.at.1) {
            Some(there) => *there = word,
            None => words.push(word),
        }
        spelled(&words)
    }

    /// The words with these two in its place.
    pub fn replaced_by(&self, others: [&str; 2]) -> Vec<OsString> {
        let mut words = self.words.clone();
        let end = (self.at.1 + 1).min(words.len());
        words.splice(self.at.0..end, others.map(String::from));
        spelled(&words)
    }
}

/// The names of an option, with their dashes; none of what has no name, or no value.
pub fn names(argument: &Arg) -> Vec<String> {
    if !argument.get_action().takes_values() {
        return Vec::new();
    }
    let long =
        argument.get_long().into_iter().chain(argument.get_all_aliases().unwrap_or_default());
    let short = argument.get_short().into_iter();
    let short = short.chain(argument.get_all_short_aliases().unwrap_or_default());
    long.map(|name| format!("--{name}")).chain(short.map(|name| format!("-{name}"))).collect()
}

fn spelled(words: &[String]) -> Vec<OsString> {
    words.iter().map(|word| path(word).into_os_string()).collect()
}

/// The verb to which a word that is none belongs as a flag: `capacity` to `card`.
pub fn verb_with_flag<'a>(command: &'a Command, word: &str) -> Option<&'a str> {
    let has = |verb: &&Command| {
        let mut arguments = verb.get_arguments();
        arguments.any(|it| it.get_long() == Some(word) && !it.get_action().takes_values())
    };
    let mut verbs = command.get_subcommands().filter(has).map(Command::get_name);
    verbs.next().filter(|_| verbs.next().is_none())
}
