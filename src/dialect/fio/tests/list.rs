//! The list of options: each is what it says it is.

use std::collections::BTreeSet;

use super::*;
use crate::dialect::fio::input::value::FioValue;

fn example(text: &str) -> Result<FioCommand, FioComplaint> {
    line(text)
}

#[test]
fn defaults_of_the_list_are_those_of_a_job() {
    for option in all_options().filter(|option| !option.default.is_empty()) {
        let value = FioValue::read(option.name, &option.kind, Some(option.default), 1024)
            .unwrap_or_else(|fault| panic!("{}: {fault:?}", option.name));
        let mut job = FioJob::default();
        (option.effect)(&mut job, &value)
            .unwrap_or_else(|fault| panic!("{}: {fault:?}", option.name));
        // These say themselves by being typed.
        if matches!(option.name, "filename_format" | "percentile_list" | "name") {
            job.statistics.percentile_precision = 2;
        }
        assert_eq!(job, FioJob::default(), "{}", option.name);
    }
}

#[test]
fn every_option_has_a_name_of_its_own_and_an_example_that_has_it() {
    let mut seen = BTreeSet::new();
    for option in all_options() {
        for name in option.names() {
            assert!(seen.insert(name), "{name} is there twice");
        }
        assert!(!option.help.is_empty(), "{}", option.name);
        if option.example.is_empty() {
            assert!(
                !matches!(option.standing, FioStanding::Done),
                "{} is done and has no example",
                option.name
            );
            continue;
        }
        let command = example(option.example)
            .unwrap_or_else(|complaint| panic!("{}: {complaint:?}", option.name));
        let typed = command.jobs.iter().any(|job| job.is_set(option.name));
        assert!(typed, "{}: {}", option.name, option.example);
    }
    for own in OWN_OPTIONS {
        assert!(seen.insert(own.name) || own.name == "profile", "{} is there twice", own.name);
        if !own.example.is_empty() {
            example(own.example).unwrap_or_else(|complaint| panic!("{}: {complaint:?}", own.name));
        }
    }
    let letters: BTreeSet<_> = OWN_OPTIONS.iter().map(|own| own.letter).collect();
    assert_eq!(letters.len(), OWN_OPTIONS.len());
}

#[test]
fn an_option_that_is_done_does_something() {
    // A job of another value than the default differs from a job without the option.
    for option in all_options().filter(|option| option.standing == FioStanding::Done) {
        let other: Vec<String> = match option.kind {
            FioKind::Bool => ["0", "1"].map(String::from).into(),
            FioKind::Flag => vec!["1".into()],
            FioKind::Number { least, most, .. } => {
                [least.max(1), 2.min(most), 97.min(most), 4096.min(most)]
                    .map(|n| n.to_string())
                    .into()
            }
            FioKind::Amount => vec!["4096".into()],
            FioKind::Word(words) | FioKind::Words(words) => words
                .iter()
                .map(|word| format!("{}:2", word.name))
                .chain(words.iter().map(|word| word.name.into()))
                .collect(),
            FioKind::Floats { .. } => vec!["42".into()],
            FioKind::Ranges => vec!["1k-2k".into()],
            _ => {
                ["4k/50:8k/50", "0xff", "1", "bind:0", "EIO", "read", "x"].map(String::from).into()
            }
        };
        let changed = other.iter().any(|text| {
            let Ok(value) = FioValue::read(option.name, &option.kind, Some(text), 1024) else {
                return false;
            };
            let mut job = FioJob::default();
            (option.effect)(&mut job, &value).is_ok() && job != FioJob::default()
        });
        assert!(changed, "{} changes nothing", option.name);
    }
}

#[test]
fn words_of_enumerations_go_there_and_back() {
    for option in all_options() {
        for word in option.kind.words() {
            let read = FioValue::read(option.name, &option.kind, Some(word.name), 1024);
            assert_eq!(read.map(|value| value.words), Ok(vec![word.name]), "{}", option.name);
        }
    }
    for word in FioEngine::WORDS {
        assert_eq!(FioEngine::of(word.name).map(FioEngine::word), Some(word.name));
    }
}
