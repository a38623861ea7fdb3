//! Sentences of what is a value: one message for each variant, in a catalogue of the language.
//!
//! The catalogues are Project Fluent's, `words/en.ftl`. A message is called as the enum and its variant
//! (`CacheClaim::NotFromDevice` is `cache-not-from-device`), and its arguments are the variant's fields. Only printers,
//! and what writes the public documents, speak.

mod arguments;
mod voice;

use std::cell::RefCell;

use fluent_bundle::{FluentArgs, FluentBundle, FluentResource, FluentValue};
use serde::Serialize;

use crate::claim::Claim;
use assay_plan::unit::three_digits;

pub use voice::Voice;

/// The messages of English.
const EN: &str = include_str!("../../words/en.ftl");

impl Voice {
    /// The sentence of a claim, a quantity, or the words of anything else that has a message.
    pub fn say<T: Serialize + ?Sized>(self, value: &T) -> String {
        arguments::spoken(value, self)
    }

    /// Sentences, one after another.
    pub fn sentences(self, claims: &[Claim]) -> String {
        claims.iter().map(|claim| self.say(claim)).collect::<Vec<_>>().join(" ")
    }
}

/// The same where documents and plain terminals have it.
pub fn say<T: Serialize + ?Sized>(value: &T) -> String {
    Voice::default().say(value)
}

/// Sentences, one after another.
pub fn sentences(claims: &[Claim]) -> String {
    Voice::default().sentences(claims)
}

/// A sentence begins with a capital letter: `SENTENCE($text)` in a message.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// A catalogue of which only the messages that are said are read: a run that says three sentences does not wait for
/// six hundred.
struct Catalogue {
    text: &'static str,
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
            // Three that count.
            [FluentValue::Number(number)] => three_digits(number.value).into(),
            _ => FluentValue::Error,
        });
        // A sentence within another has no full stop.
        let _ = read.add_function("CLAUSE", |arguments, _| match arguments.first() {
            Some(FluentValue::String(text)) => text.trim_end_matches('.').to_string().into(),
            _ => FluentValue::Error,
        });
        let _ = read.add_function("SENTENCE", |arguments, _| match arguments.first() {
            Some(FluentValue::String(text)) => sentence(text).into(),
            _ => FluentValue::Error,
        });
        Self { text, read }
    }

    /// A message with these arguments; `None` where there is none of that name.
    fn message(&mut self, name: &str, arguments: &FluentArgs<'_>) -> Option<String> {
        if !self.read.has_message(name) {
            let resource = FluentResource::try_new(written(self.text, name)?.to_string()).ok()?;
            // The name is free: it was not read before.
            let _ = self.read.add_resource(resource);
        }
        let pattern = self.read.get_message(name)?.value()?;
        let said = self.read.format_pattern(pattern, Some(arguments), &mut Vec::new());
        // Where the catalogue breaks a line is of no meaning.
        Some(said.replace('\n', " "))
    }

    fn has(&self, name: &str) -> bool {
        self.read.has_message(name) || written(self.text, name).is_some()
    }
}

/// A message as it stands in the catalogue: up to the next line that does not go on, which is indented or a brace.
fn written<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let start = text.find(&format!("\n{name} ="))? + 1;
    let message = &text[start..];
    let mut ends = message.match_indices('\n').map(|(at, _)| at + 1);
    let end = ends.find(|&at| !message[at..].starts_with([' ', '}']));
    Some(&message[..end.unwrap_or(message.len())])
}

#[cfg(all(test, feature = "schema"))]
mod tests;
