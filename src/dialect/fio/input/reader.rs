//! Gives options to a job: finds them, reads their values, lets them act, and writes down what was typed.

use std::path::Path;

use super::answers;
use super::byte_pattern;
use super::surprises::{self, FioSurprise};
use super::value::FioValue;
use crate::dialect::fio::job::names;
use crate::dialect::fio::job::{
    FioFault, FioJob, FioNote, FioOptions, FioPathKind, FioPlace, FioTyped, FioWorld,
};
use crate::dialect::fio::options;
use crate::dialect::fio::options::kind::FioKind;
use crate::dialect::fio::options::option::{FioOption, FioStanding};
use crate::dialect::near;

/// An option as it stands, before it is taken.
#[derive(Clone, Debug)]
pub struct OptionText<'t> {
    /// The value; none is that nothing was typed.
    pub value: Option<&'t str>,
    /// The whole word as it was typed.
    pub typed: &'t str,
    pub place: &'t FioPlace,
}

/// What is known while words are read.
pub struct Reader<'w> {
    pub world: &'w FioWorld<'w>,
    /// The options of the program itself.
    pub own: FioOptions,
    /// Whether nothing will be run: `--showcmd`, `--parse-only`.
    pub dry: bool,
    pub defaults: FioJob,
    pub notes: Vec<FioNote>,
    /// Lines that fio prints to standard error.
    pub said: Vec<String>,
    /// Lines that fio prints to standard output.
    pub told: Vec<String>,
}

impl Reader<'_> {
    /// Lets an option act on a job, and writes it down.
    pub(in crate::dialect::fio) fn take(
        &mut self,
        job: &mut FioJob,
        option: &'static FioOption,
        text: &OptionText<'_>,
        global: bool,
    ) -> Result<(), FioFault> {
        // Options of engines do not see the base of the job.
        let kb_base = if option.engines.is_empty() { job.statistics.kb_base } else { 1024 };
        let mut value = FioValue::read(option.name, &option.kind, text.value, kb_base)?;
        value.dry = self.dry;
        if option.name.ends_with("_pattern") {
            value.files = self.quoted(value.text())?;
        }
        self.said.append(&mut value.said.clone());
        if matches!(option.kind, FioKind::Deprecated) {
            self.told.push(format!("Option {} is deprecated", option.name));
        }
        if !self.dry {
            self.refuse(option, &value)?;
            if option.name == "directory" {
                self.folders(value.text())?;
            }
        }
        (option.effect)(job, &value)?;
        if option.name == "rw" && self.own.readonly {
            refuse_writes(job, option)?;
        }
        job.set.insert(option.name);
        let apart = match option.name {
            "filename" | "directory" => self.taken_apart(option.name, value.text()),
            _ => None,
        };
        for surprise in surprises::of(option, &value).into_iter().chain(apart) {
            self.notes.push(FioNote {
                job: if global { String::new() } else { job.name.clone() },
                place: text.place.clone(),
                word: text.typed.into(),
                made: surprise.made,
                meant: surprise.meant,
                instead: surprise.instead,
            });
        }
        job.options.push(FioTyped {
            name: option.name,
            value: text.value.map(String::from),
            typed: text.typed.into(),
            place: text.place.clone(),
            global,
        });
        Ok(())
    }

    /// A name with a colon is several, also where it is probably one: something of that name is there and nothing of the
    /// first, or what follows the colon is no path where the first is one.
    fn taken_apart(&self, option: &str, text: &str) -> Option<FioSurprise> {
        let names = names::split(text);
        let whole = names.join(":");
        let absolute = |name: &String| name.starts_with('/');
        let (first, others) = names.split_first()?;
        let mixed = absolute(first) && others.iter().any(|other| !absolute(other));
        let there = |name: &str| (self.world.kind)(Path::new(name)) != FioPathKind::Missing;
        (!others.is_empty() && (mixed || there(&whole) && !there(first))).then(|| {
            let made = format!("{} names, a colon between them: {}", names.len(), names.join(", "));
            let escaped = names.iter().map(|name| name.replace(':', "\\:")).collect::<Vec<_>>();
            FioSurprise::new(made, whole, format!("{option}={}", escaped.join("\\:")))
        })
    }

    /// Folders that files are put into have to be there.
    fn folders(&self, list: &str) -> Result<(), FioFault> {
        for folder in names::split(list) {
            let kind = (self.world.kind)(Path::new(&folder));
            if kind != FioPathKind::Folder {
                let instead = match kind {
                    FioPathKind::Missing => format!("mkdir -p '{folder}'"),
                    _ => format!("filename={folder}"),
                };
                let line = format!("fio: {folder} is not a directory");
                return Err(FioFault::line(line, instead));
            }
        }
        Ok(())
    }

    /// The contents of files that are quoted in a pattern.
    fn quoted(&self, pattern: &str) -> Result<Vec<Vec<u8>>, FioFault> {
        let read = |name: &str| {
            (self.world.files)(Path::new(name)).map_err(|error| {
                FioFault::new(format!("cannot read '{name}' for the pattern: {error}"), "")
            })
        };
        byte_pattern::quoted(pattern).into_iter().map(read).collect()
    }

    /// An option that would change the numbers and is not done here, unless it says what is so anyway.
    fn refuse(&self, option: &FioOption, value: &FioValue<'_>) -> Result<(), FioFault> {
        let FioStanding::Refused(instead) = option.standing else { return Ok(()) };
        let usual = FioValue::read(
            option.name,
            &option.kind,
            Some(option.default).filter(|default| !default.is_empty()),
            1024,
        );
        let same = usual.is_ok_and(|usual| {
            usual.text.is_some_and(|_| {
                usual.slots == value.slots
                    && usual.floats == value.floats
                    && usual.words == value.words
                    && (!usual.words.is_empty()
                        || usual.slots[0].is_some()
                        || !usual.floats.is_empty()
                        || usual.text == value.text)
            })
        });
        // A switch that is off is off, whether it has a default or not.
        let off = option.default.is_empty() && value.slots[0] == Some(0);
        match same || off {
            true => Ok(()),
            false => Err(FioFault::new(
                format!("'{}' is not done here: {}", option.name, option.help),
                instead,
            )),
        }
    }
}

/// The option of that name that every job has.
pub fn of_jobs(name: &str) -> Option<&'static FioOption> {
    options::of_jobs().find(|option| option.is(name))
}

/// The option of that name that the engine of a job adds.
pub fn of_engine(job: &FioJob, name: &str) -> Option<&'static FioOption> {
    options::of_engine(job.queue.engine).find(|option| option.is(name))
}

/// An option of a section that there is none of: what fio says and what was probably meant.
pub fn unknown(job: &FioJob, line: &str, name: &str) -> FioFault {
    let mut lines = vec![format!("Bad option <{line}>")];
    let said = near::nearest(name, options::of_jobs().map(|option| option.name));
    lines.extend(said.map(|name| format!("Did you mean {name}?")));
    let all = options::of_jobs().chain(options::of_engine(job.queue.engine));
    let instead = other_engines(name).or_else(|| {
        near::nearest(name, all.flat_map(FioOption::names)).map(|near| format!("'{near}'"))
    });
    FioFault {
        lines,
        told: String::new(),
        why: format!("there is no option '{name}'"),
        instead: instead.unwrap_or_else(|| "assay fio --cmdhelp lists all options".into()),
    }
}

/// An option of other engines than the job's.
pub(super) fn other_engines(name: &str) -> Option<String> {
    let option = options::all().find(|option| option.is(name) && !option.engines.is_empty())?;
    let engines: Vec<_> = option.engines.iter().map(|engine| engine.word()).collect();
    Some(format!(
        "'{name}' is an option of ioengine={}, which has to come first",
        engines.join(" or ")
    ))
}

/// What fio says where `--readonly` meets a job that writes.
fn refuse_writes(job: &FioJob, option: &FioOption) -> Result<(), FioFault> {
    if !job.pattern.rw.writes() && !job.pattern.rw.trims() {
        return Ok(());
    }
    let name = if job.name.is_empty() { "(null)" } else { job.name.as_str() };
    let mut fault = FioFault::line(
        format!("fio: job <{name}> has write or trim bit set, but fio is in read-only mode"),
        "rw=read or rw=randread, or leave --readonly out",
    );
    fault.lines.push("Correct format for offending option".into());
    fault.lines.push(format!("{:>20}: {}", option.name, option.help));
    fault.lines.extend(answers::details(option).lines().map(String::from));
    fault.told = option.kind.valid_values();
    Err(fault)
}
