//! What the options of a line mean, one by one.

use super::corrected::surprising;
use crate::dialect::fio::job::{FioCommand, FioTyped};
use crate::dialect::fio::options;
use crate::dialect::option::valued;
use assay_record::record::WordMeaning;

/// What the words of jobs mean, each once: those of the defaults first.
pub fn meanings(command: &FioCommand) -> Vec<WordMeaning> {
    let own = command.jobs.iter().flat_map(|job| &job.options);
    let mut all: Vec<WordMeaning> = Vec::new();
    for FioTyped { name, typed, .. } in command.global_options.iter().chain(own) {
        let Some(option) = options::all().find(|option| option.is(name)) else { continue };
        let value = typed.split_once('=').map_or("", |(_, value)| value.trim());
        let means = valued(option.help, "so many", value);
        let meaning = WordMeaning { word: typed.clone(), means };
        if !all.iter().any(|other| other.word == meaning.word) {
            all.push(meaning);
        }
    }
    for note in surprising(command) {
        let mut means = format!("it means {}, not {}", note.made, note.meant);
        if !note.instead.is_empty() {
            means += &format!(": write {}", note.instead);
        }
        match all.iter_mut().find(|meaning| meaning.word == note.word) {
            Some(known) if known.means.contains(&means) => {}
            Some(known) => known.means += &format!("; {means}"),
            None => all.push(WordMeaning { word: note.word.clone(), means }),
        }
    }
    all
}
