//! What the words of a line mean, one by one.

use super::asked::{FioCommand, FioTyped};
use super::options;
use crate::record::WordMeaning;

/// What the words of jobs mean, each once: those of the defaults first.
pub fn meanings(command: &FioCommand) -> Vec<WordMeaning> {
    let own = command.jobs.iter().flat_map(|job| &job.options);
    let mut all: Vec<WordMeaning> = Vec::new();
    for FioTyped { name, typed, .. } in command.global_options.iter().chain(own) {
        let Some(option) = options::all().find(|option| option.is(name)) else { continue };
        let meaning = WordMeaning { word: typed.clone(), means: option.help.into() };
        if !all.iter().any(|other| other.word == meaning.word) {
            all.push(meaning);
        }
    }
    all
}
