//! All words of a line of fio, and the job files that they name, become jobs.

use super::answers;
use super::command_line::{self, CommandLine};
use super::complete::{JobList, finish};
use super::job_file::{self, FileSection};
use super::reader::Reader;
use super::section;
use crate::dialect::fio::job::{
    FioCommand, FioComplaint, FioFault, FioJob, FioNote, FioPlace, FioTyped, FioWorld, USAGE,
};
use crate::dialect::fio::options::own::OWN_OPTIONS;
use crate::dialect::fio::outcome::debug;

/// Takes the words apart, and reads the job files that they name.
///
/// # Errors
/// Words that fio would not take, and those that are refused here, with the place and the reason.
pub fn read(words: &[String], world: &FioWorld<'_>) -> Result<FioCommand, FioComplaint> {
    let reader = Reader {
        world,
        own: Default::default(),
        dry: false,
        defaults: FioJob::default(),
        notes: Vec::new(),
        said: Vec::new(),
        told: Vec::new(),
    };
    let mut line = CommandLine::new(reader);
    command_line::words(&mut line, words)?;
    let CommandLine { mut reader, mut jobs, answer, show, quiet, files, .. } = line;
    if let Some(answer) = answer {
        return Ok(command(reader, jobs, Some(answer)));
    }
    let mut shown = String::new();
    for (index, file) in files.iter().enumerate() {
        if index > 0 {
            forget(&mut reader, file);
        }
        let sections = job_file::sections(file, &reader.own.sections, world)
            .map_err(|complaint| complaint.after(&reader.said))?;
        // A file after another begins when that is done.
        let mut barrier = index > 0;
        let mut first = true;
        for section in &sections {
            if show && std::mem::take(&mut first) {
                shown.push_str("fio ");
            }
            one_section(&mut reader, &mut jobs, section, &mut barrier, show, &mut shown).map_err(
                |mut complaint| {
                    complaint.told.insert_str(0, &shown);
                    complaint
                },
            )?;
        }
        if show {
            shown.push('\n');
        }
    }
    if reader.dry {
        return Ok(command(reader, jobs, Some(shown)));
    }
    match jobs.jobs.is_empty() && !quiet {
        true => Err(no_jobs(&reader)),
        false => Ok(command(reader, jobs, None)),
    }
}

/// A section becomes defaults, or a job.
fn one_section(
    reader: &mut Reader<'_>,
    jobs: &mut JobList,
    section: &FileSection,
    barrier: &mut bool,
    show: bool,
    shown: &mut String,
) -> Result<(), FioComplaint> {
    let note = name_note(section);
    reader.notes.extend(note);
    let global = section.global();
    let mut job = match global {
        true => std::mem::take(&mut reader.defaults),
        false => reader.defaults.begin(&section.name, section.place.clone()),
    };
    if !global {
        job.schedule.stonewall |= std::mem::take(barrier);
    }
    if show && !global {
        shown.push_str(&format!("--name={} ", section.name));
    }
    section::take(reader, &mut job, section).map_err(|complaint| complaint.after(&reader.said))?;
    if show {
        shown.push_str(&answers::as_words(&job.options));
    }
    if global {
        reader.defaults = job;
        return Ok(());
    }
    overridden(reader, &job);
    finish(reader, jobs, job)
}

/// What the line set for all jobs is forgotten with the first file.
fn forget(reader: &mut Reader<'_>, file: &str) {
    let lost: Vec<_> = reader.defaults.options.drain(..).collect();
    for typed in lost.iter().filter(|typed| matches!(typed.place, FioPlace::Word(_))) {
        reader.notes.push(FioNote {
            job: String::new(),
            place: typed.place.clone(),
            word: typed.typed.clone(),
            made: format!("nothing in '{}': it is set for the first job file only", file),
            meant: "for all job files".into(),
            instead: "the option in [global] of each file".into(),
        });
    }
    reader.defaults = FioJob::default();
}

/// A job file wins against the line.
fn overridden(reader: &mut Reader<'_>, job: &FioJob) {
    let typed_before = |name: &str| {
        let word = |typed: &&FioTyped| matches!(typed.place, FioPlace::Word(_));
        reader.defaults.options.iter().filter(word).find(|typed| typed.name == name)
    };
    let in_file = job.options.iter().chain(&reader.defaults.options);
    let in_file = in_file.filter(|typed| matches!(typed.place, FioPlace::Line { .. }));
    let mut notes: Vec<FioNote> = Vec::new();
    for winner in in_file {
        let Some(loser) = typed_before(winner.name).filter(|loser| loser.value != winner.value)
        else {
            continue;
        };
        if winner.name == "filename" || notes.iter().any(|note| note.place == loser.place) {
            continue;
        }
        notes.push(FioNote {
            job: job.name.clone(),
            place: loser.place.clone(),
            word: loser.typed.clone(),
            made: format!("nothing: {} at {} comes after it", winner.typed, winner.place),
            meant: format!("{} in place of what the file says", loser.typed),
            instead: format!("{} in the job file", loser.typed.trim_start_matches('-')),
        });
    }
    reader.notes.extend(notes);
}

/// A name that is not what it looks like.
fn name_note(section: &FileSection) -> Option<FioNote> {
    let plain = section.typed.strip_prefix('[').unwrap_or(&section.typed);
    let (made, meant) = match plain.split_once(']') {
        None => (format!("the name '{}'", section.name), plain.to_string()),
        Some((name, rest)) if !rest.is_empty() => {
            (format!("the name '{}'", section.name), name.to_string())
        }
        Some((name, _)) if section.global() && name != "global" => {
            ("defaults of the jobs below, and no job".into(), format!("a job '{name}'"))
        }
        _ => return None,
    };
    Some(FioNote {
        job: String::new(),
        place: section.place.clone(),
        word: section.typed.clone(),
        made,
        instead: match section.global() {
            true => "a name that does not begin with 'global'".into(),
            false => format!("[{meant}]"),
        },
        meant,
    })
}

fn no_jobs(reader: &Reader<'_>) -> FioComplaint {
    let instead = match reader.own.sections.is_empty() {
        true => "a job: --name=test --filename=FILE --size=1g, or a job file",
        false => "a section that is in the job file",
    };
    let mut fault = FioFault::new("there is no job", instead);
    fault.lines = vec!["No job(s) defined".into(), String::new()];
    fault.told = answers::usage(OWN_OPTIONS);
    let complaint = FioComplaint::at(None, fault).after(&reader.said);
    FioComplaint { status: USAGE, ..complaint }
}

fn command(reader: Reader<'_>, jobs: JobList, answer: Option<String>) -> FioCommand {
    let mut own = reader.own;
    own.exitall = jobs.jobs.iter().any(|job| job.schedule.exitall);
    let defaults = std::iter::once(&reader.defaults);
    let parsed = debug::parsed(defaults.chain(&jobs.jobs));
    let mut jobs = jobs.jobs;
    jobs.iter_mut().for_each(|job| job.replay.printed = own.debug.io);
    FioCommand {
        own,
        parsed,
        global_options: reader.defaults.options,
        jobs,
        notes: reader.notes,
        said: reader.said,
        told: reader.told,
        answer,
    }
}
