//! A section of a job file becomes a job: its options in the order in which fio takes them.

use super::job_file::{FileSection, SectionLine};
use super::keywords;
use super::reader::{self, OptionText, Reader};
use crate::dialect::fio::job::engine;
use crate::dialect::fio::job::{FioComplaint, FioFault, FioJob, FioNote, FioPlace};
use crate::dialect::fio::options::option::FioOption;

/// A line that names no option of all jobs: it may be one of the engine.
struct Leftover<'s> {
    line: &'s SectionLine,
    text: String,
}

/// What went wrong in a section.
#[derive(Default)]
struct Faults {
    lines: Vec<String>,
    told: String,
    first: Option<(FioPlace, FioFault)>,
}

impl Faults {
    fn add(&mut self, place: FioPlace, fault: FioFault, closing: Option<String>) {
        self.lines.extend(fault.lines.iter().cloned());
        self.lines.extend(closing);
        self.told.push_str(&fault.told);
        self.first.get_or_insert((place, fault));
    }
}

/// Lets all options of a section act on its job.
pub fn take(
    reader: &mut Reader<'_>,
    job: &mut FioJob,
    section: &FileSection,
) -> Result<(), FioComplaint> {
    let global = section.global();
    let mut faults = Faults::default();
    let mut left = Vec::new();
    let mut sorted: Vec<&SectionLine> = section.lines.iter().collect();
    sorted.sort_by_key(|line| std::cmp::Reverse(priority(&line.text)));
    for line in sorted {
        note_cut(reader, job, line, global);
        let expanded = keywords::expand(&line.text, reader.world);
        if expanded.beyond {
            reader.notes.push(FioNote {
                job: if global { String::new() } else { job.name.clone() },
                place: line.place.clone(),
                word: line.text.clone(),
                made: "an error: 'bc' cannot compute it".into(),
                meant: expanded.text.clone(),
                instead: expanded.text.clone(),
            });
        }
        match reader::of_jobs(name_of(&expanded.text)) {
            Some(option) => one(reader, job, option, line, &expanded.text, global, &mut faults),
            None => left.push(Leftover { line, text: expanded.text }),
        }
    }
    of_engine(reader, job, &left, global, &mut faults);
    let Some((place, fault)) = faults.first else { return Ok(()) };
    faults.lines.push(format!("fio: job {} dropped", section.name));
    let fault = FioFault { lines: faults.lines, told: faults.told, ..fault };
    Err(FioComplaint::at(Some(&place), fault))
}

/// The name that a line begins with.
fn name_of(text: &str) -> &str {
    text.split_once('=').map_or(text, |(name, _)| name).trim_end()
}

fn priority(text: &str) -> i8 {
    reader::of_jobs(name_of(text)).map_or(0, |option| option.priority)
}

/// Lets the option of a line act.
fn one(
    reader: &mut Reader<'_>,
    job: &mut FioJob,
    option: &'static FioOption,
    line: &SectionLine,
    text: &str,
    global: bool,
    faults: &mut Faults,
) {
    let value = text.split_once('=').map(|(_, value)| value);
    let typed = OptionText { value, typed: &line.text, place: &line.place };
    if let Err(fault) = reader.take(job, option, &typed, global) {
        // The place of a wrong value is behind the sign.
        let before = line.text.split_once('=').map_or(0, |(name, _)| name.chars().count() + 1);
        let place = line.place.right(before);
        faults.add(place, fault, Some(format!("fio: failed parsing {}", line.text)));
    }
}

/// What no job has is an option of the engine, or a mistake.
fn of_engine(
    reader: &mut Reader<'_>,
    job: &mut FioJob,
    left: &[Leftover<'_>],
    global: bool,
    faults: &mut Faults,
) {
    if left.is_empty() {
        return;
    }
    if let Some(name) = job.queue.unknown_engine.clone() {
        let typed = job.typed("ioengine").map(|typed| typed.place.clone());
        let place = typed.unwrap_or_else(|| left[0].line.place.clone());
        faults.add(place, engine::unknown(&name), None);
    }
    for Leftover { line, text } in left {
        match reader::of_engine(job, name_of(text)) {
            Some(option) => one(reader, job, option, line, text, global, faults),
            None => {
                let mut fault = reader::unknown(job, &line.text, name_of(text));
                // An option of an engine that is not done here is no mistake of its own.
                if let Some((why, instead)) = job.queue.engine.refusal() {
                    fault.why = engine::refused(job.queue.engine, why);
                    fault.instead = instead.into();
                }
                faults.add(line.place.clone(), fault, None);
            }
        }
    }
}

/// A comment that begins in the middle of a word was probably none.
fn note_cut(reader: &mut Reader<'_>, job: &FioJob, line: &SectionLine, global: bool) {
    let Some(cut) = &line.cut else { return };
    reader.notes.push(FioNote {
        job: if global { String::new() } else { job.name.clone() },
        place: line.place.clone(),
        word: format!("{}{cut}", line.text),
        made: format!("'{}': what follows is a comment", line.text),
        meant: "the whole".into(),
        instead: String::new(),
    });
}
