//! Sentences of what is a value: one message for each variant, in a catalogue of the language.
//!
//! The catalogues are Project Fluent's, `words/en.ftl`. A message is called as the enum and its variant
//! (`CacheClaim::NotFromDevice` is `cache-not-from-device`), and its arguments are the variant's fields. Only printers,
//! and what writes the public documents, speak.

mod arguments;

use std::cell::RefCell;
use std::collections::HashMap;

use fluent_bundle::{FluentArgs, FluentBundle, FluentResource, FluentValue};
use serde::Serialize;

use crate::claim::Claim;

/// The messages of English.
const EN: &str = include_str!("../../words/en.ftl");

/// The sentence of a claim, or the words of anything else that has a message.
pub fn say<T: Serialize + ?Sized>(value: &T) -> String {
    arguments::spoken(value)
}

/// Sentences, one after another.
pub fn sentences(claims: &[Claim]) -> String {
    claims.iter().map(say).collect::<Vec<_>>().join(" ")
}

/// `SENTENCE($text)` in a message: a sentence begins with a capital letter.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// A catalogue of which only the messages that are said are read: a run that says three sentences does not wait for
/// six hundred.
struct Catalogue {
    /// Messages that were not said yet, by their names.
    unread: HashMap<&'static str, &'static str>,
    read: FluentBundle<FluentResource>,
}

thread_local! {
    static ENGLISH: RefCell<Catalogue> = RefCell::new(Catalogue::of("en", EN));
}

impl Catalogue {
    fn of(language: &str, text: &'static str) -> Self {
        let mut read = FluentBundle::new(vec![language.parse().unwrap_or_default()]);
        // Marks of direction round each argument would be bytes in the logs of others.
        read.set_use_isolating(false);
        // The names are free: the bundle is new.
        let _ = read.add_function("DIGITS", |arguments, _| match arguments {
            // Of a number, so many behind the point.
            [FluentValue::Number(number), FluentValue::Number(digits)] => {
                format!("{:.*}", digits.value as usize, number.value).into()
            }
            _ => FluentValue::Error,
        });
        let _ = read.add_function("SENTENCE", |arguments, _| match arguments.first() {
            Some(FluentValue::String(text)) => sentence(text).into(),
            _ => FluentValue::Error,
        });
        Self { unread: messages(text).collect(), read }
    }

    /// A message with these arguments; `None` where there is none of that name.
    fn message(&mut self, name: &str, arguments: &FluentArgs<'_>) -> Option<String> {
        if let Some(text) = self.unread.remove(name)
            && let Ok(resource) = FluentResource::try_new(text.to_string())
        {
            // The name is free: it was not read before.
            let _ = self.read.add_resource(resource);
        }
        let pattern = self.read.get_message(name)?.value()?;
        let said = self.read.format_pattern(pattern, Some(arguments), &mut Vec::new());
        // Where the catalogue breaks a line is of no meaning.
        Some(said.replace('\n', " "))
    }

    fn has(&self, name: &str) -> bool {
        self.unread.contains_key(name) || self.read.has_message(name)
    }
}

/// The messages of a catalogue: a line that begins with a letter begins one.
fn messages(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let begins = |line: &str| line.starts_with(|c: char| c.is_ascii_lowercase());
    let mut starts: Vec<usize> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if begins(line) {
            starts.push(at);
        }
        at += line.len();
    }
    let ends: Vec<usize> = starts.iter().copied().skip(1).chain([text.len()]).collect();
    starts.into_iter().zip(ends).filter_map(move |(start, end)| {
        let message = &text[start..end];
        message.split_once('=').map(|(name, _)| (name.trim(), message))
    })
}

#[cfg(all(test, feature = "schema"))]
mod tests;
