//! Lines and job files in the spirit of what people run.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use super::*;

/// The folder of the corpus.
fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fio/corpus")
}

/// The lines of one of its lists.
fn lines(name: &str) -> Vec<String> {
    let text = fs::read_to_string(corpus().join(name)).expect(name);
    let lines = text.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(String::from).collect()
}

/// Its job files: names and contents.
fn job_files() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in [corpus(), corpus().join("parts")] {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|ending| ending == "fio" || ending == "inc") {
                let name = path.strip_prefix(corpus()).expect("below").to_str().expect("a name");
                found.push((name.to_string(), fs::read_to_string(&path).expect("text")));
            }
        }
    }
    found.sort();
    found
}

/// Everything in the corpus that is understood.
fn understood() -> Vec<(String, FioCommand)> {
    let files = job_files();
    let known: Vec<(&str, &str)> = files.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
    let jobs = known.iter().filter(|(name, _)| name.ends_with(".fio"));
    let mut all: Vec<(String, FioCommand)> = jobs
        .map(|(name, _)| {
            let command = with(&[name], &known);
            (name.to_string(), command.unwrap_or_else(|complaint| panic!("{name}: {complaint:?}")))
        })
        .collect();
    for text in lines("lines.txt") {
        let command = line(&text).unwrap_or_else(|complaint| panic!("{text}: {complaint:?}"));
        all.push((text, command));
    }
    all
}

#[test]
fn everything_is_understood_and_every_option_is_there_twice() {
    let all = understood();
    assert!(all.len() >= 150, "{} are few", all.len());
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (text, command) in &all {
        assert!(!command.jobs.is_empty() || command.answer.is_some(), "{text}");
        let mut typed: Vec<_> = command.global_options.iter().collect();
        typed.extend(command.jobs.iter().flat_map(|job| &job.options));
        for option in typed {
            *counts.entry(option.name).or_default() += 1;
        }
    }
    let rare: Vec<_> = all_options()
        .filter(|option| !matches!(option.standing, FioStanding::Refused(_)))
        .filter(|option| !matches!(option.kind, FioKind::Gone))
        .map(|option| (option.name, counts.get(option.name).copied().unwrap_or_default()))
        .filter(|(_, count)| *count < 2)
        .collect();
    assert_eq!(rare, []);
}

#[test]
fn the_programs_own_options_are_there_twice() {
    let lines = lines("lines.txt");
    for own in OWN_OPTIONS.iter().filter(|own| !own.example.is_empty()) {
        let typed = |word: &str| {
            word == format!("-{}", own.letter)
                || word.split('=').next() == Some(&format!("--{}", own.name))
        };
        let count = lines.iter().filter(|line| line.split_whitespace().any(typed)).count();
        assert!(count >= 2, "{}: {count}", own.name);
    }
}

#[test]
fn what_is_not_done_is_refused_by_its_name() {
    let refused = lines("refused.txt");
    for entry in &refused {
        let (name, text) = entry.split_once(' ').expect("a name and a line");
        let complaint = line(text).expect_err(text);
        let mut said = format!("{} {}", complaint.refusal, complaint.said);
        said.push_str(&complaint.told);
        let named = said.contains(name) || !complaint.refusal.instead.is_empty();
        assert!(named, "{name}: {complaint:?}");
        assert!(!complaint.refusal.why.contains("no option '"), "{name}: {complaint:?}");
    }
    for option in all_options().filter(|option| matches!(option.standing, FioStanding::Refused(_)))
    {
        let typed = format!("--{}", option.name);
        let there = refused
            .iter()
            .any(|line| line.split_whitespace().any(|word| word.split('=').next() == Some(&typed)));
        let of_refused_engine = !option.engines.is_empty()
            && option.engines.iter().all(|engine| engine.refusal().is_some());
        assert!(there || of_refused_engine, "{} is not refused by any line", option.name);
    }
}

#[test]
fn a_job_file_as_a_line_means_the_same() {
    let files = job_files();
    let known: Vec<(&str, &str)> = files.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
    let mut compared = 0;
    for (name, _) in known.iter().filter(|(name, _)| name.ends_with(".fio")) {
        let shown = with(&["--showcmd", name], &known).expect(name).answer.unwrap_or_default();
        // Names with blanks, and options of engines before their engine, are no words of a line.
        if shown.contains('"')
            || shown.contains("_log ")
            || shown.contains("] ")
            || shown.contains("--name= ")
        {
            continue;
        }
        let Ok(line) = line(shown.trim_start_matches("fio ")) else { continue };
        let file = with(&[name], &known).expect(name);
        // A name among the defaults begins a job on a line.
        if file.jobs.len() != line.jobs.len() {
            continue;
        }
        compared += 1;
        for (mut one, mut other) in file.jobs.into_iter().zip(line.jobs) {
            for job in [&mut one, &mut other] {
                (job.place, job.options, job.inherited) = (None, Vec::new(), Vec::new());
                job.set.remove("name");
            }
            assert_eq!(one, other, "{name}");
        }
    }
    assert!(compared > 25, "{compared}");
}
