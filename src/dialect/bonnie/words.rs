//! The words after `bonnie++`, by the rules of getopt.

use std::path::PathBuf;

use super::super::option::{OptionValue, ToolOption};
use super::number::{
    OF_BYTES, OF_FILES, OF_MIB, OF_MIB_OLD, PLAIN, THOUSANDS, UnitSuffixes, number,
};
use super::options;
use super::{
    BonnieComplaint, BonnieOptions, BonnieVersion, FileTestArgs, FileTestKind, PerChar,
    SemaphoreCommand, StepMode,
};
use assay_plan::name;
use assay_record::record::WordMeaning;

/// The usual chunk, bytes.
pub(super) const CHUNK: u64 = 8192;
/// The usual number of seeks.
pub(super) const SEEKS: u64 = 8192;
/// Who does them: threads, in 1.03 processes.
pub(super) const SEEKERS: u32 = 5;
const SEEKERS_OLD: u32 = 3;
/// MiB of the per-character tests since 1.96.
pub(super) const SMALL: u64 = 3;

/// Takes the words apart.
///
/// # Errors
/// Words that no version of this form takes.
pub fn read(words: &[String]) -> Result<BonnieOptions, BonnieComplaint> {
    let form = form_of(words)?;
    let mut asked = BonnieOptions {
        form,
        as_original: false,
        dir: PathBuf::new(),
        size: None,
        chunk: CHUNK,
        seeks: SEEKS,
        seekers: if form.is_old() { SEEKERS_OLD } else { SEEKERS },
        files: FileTestArgs {
            count: 16,
            kind: FileTestKind::Files { max: 0, min: 0 },
            dirs: 1,
            chunk: CHUNK,
        },
        name: None,
        ram: None,
        times: None,
        user: None,
        group: None,
        quiet: false,
        per_char: PerChar::Over((!form.is_old()).then_some(SMALL)),
        sync: false,
        direct: false,
        semaphores: None,
        step: None,
        concurrency: 1,
        seed: None,
        random: None,
        words: words.to_vec(),
    };
    for taken in taken(words, form)? {
        (taken.option.effect)(&mut asked, &taken.value)?;
    }
    if asked.dir.as_os_str().is_empty() {
        asked.dir = PathBuf::from(".");
    }
    asked.agree()?;
    Ok(asked)
}

/// The version that `--format` names.
fn form_of(words: &[String]) -> Result<BonnieVersion, BonnieComplaint> {
    let words: Vec<&str> = words.iter().map(String::as_str).take_while(|w| *w != "--").collect();
    let after = words.iter().position(|word| *word == "--format");
    let named = match after {
        Some(at) => Some(words.get(at + 1).copied().unwrap_or_default()),
        None => words.iter().find_map(|word| word.strip_prefix("--format=")),
    };
    let Some(named) = named else { return Ok(BonnieVersion::default()) };
    BonnieVersion::ALL.into_iter().find(|form| form.name() == named).ok_or_else(|| {
        BonnieComplaint::new(
            BonnieVersion::default(),
            format!("--format '{named}' is none that is known"),
            "write 1.03, 1.96, 1.97 or 1.98",
        )
    })
}

fn unknown(form: BonnieVersion, word: &str, letter: char) -> BonnieComplaint {
    let known = "'assay bonnie --help' lists the options; of our own are --format, --as-original and --plan";
    BonnieComplaint::new(form, format!("unknown option '{word}'"), known)
        .saying(format!("bonnie++: invalid option -- '{letter}'"))
}

/// An option among the words.
pub(super) struct TakenOption {
    pub(super) option: &'static ToolOption<BonnieOptions, BonnieComplaint>,
    /// As it was typed, in one word.
    pub(super) typed: String,
    /// What followed it; empty: nothing.
    pub(super) value: String,
}

/// The options among the words, in their order.
///
/// # Errors
/// Words that belong to no option.
pub(super) fn taken(
    words: &[String],
    form: BonnieVersion,
) -> Result<Vec<TakenOption>, BonnieComplaint> {
    let mut rest = words.iter().map(String::as_str);
    let (mut taken, mut left) = (Vec::new(), Vec::new());
    while let Some(word) = rest.next() {
        match word {
            "--" => left.extend(rest.by_ref()),
            _ if word.starts_with("--") => taken.push(long(word, &mut rest, form)?),
            _ if word.len() > 1 && word.starts_with('-') => {
                letters(word, &mut rest, form, &mut taken)?;
            }
            _ => left.push(word),
        }
    }
    match left.first() {
        Some(word) => Err(BonnieComplaint::new(
            form,
            format!("'{word}' belongs to no option"),
            "the folder is given by -d, the size by -s; a value of -f is glued to it: -f10",
        )),
        None => Ok(taken),
    }
}

/// An option with a whole name: `--format 1.97`, `--format=1.97`. The tool has none; these are ours.
fn long<'w>(
    word: &'w str,
    rest: &mut impl Iterator<Item = &'w str>,
    form: BonnieVersion,
) -> Result<TakenOption, BonnieComplaint> {
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    };
    let option = options::find(form, name).ok_or_else(|| unknown(form, word, '-'))?;
    let value = match option.value {
        OptionValue::None if value.is_some() => return Err(unknown(form, word, '-')),
        OptionValue::None => "",
        _ => value.or_else(|| rest.next()).unwrap_or_default(),
    };
    Ok(TakenOption {
        option,
        typed: format!("{name} {value}").trim_end().into(),
        value: value.into(),
    })
}

/// A word of options: `-fbq`, `-s100`, `-s` and its value in the next word.
fn letters<'w>(
    word: &'w str,
    rest: &mut impl Iterator<Item = &'w str>,
    form: BonnieVersion,
    taken: &mut Vec<TakenOption>,
) -> Result<(), BonnieComplaint> {
    let mut letters = word[1..].chars();
    while let Some(letter) = letters.next() {
        let name = format!("-{letter}");
        let option = options::find(form, &name).ok_or_else(|| unknown(form, word, letter))?;
        let glued = letters.as_str();
        // What the tool would take for a number and read as 0 are options, too.
        let has_value = match option.value {
            OptionValue::None | OptionValue::Words(_) => false,
            OptionValue::Glued(_) => glued.starts_with(|c: char| c.is_ascii_digit()),
            OptionValue::Needed(_) => true,
        };
        if !has_value {
            taken.push(TakenOption { option, typed: name, value: String::new() });
            continue;
        }
        let value = match glued {
            "" => rest.next().ok_or_else(|| {
                BonnieComplaint::new(form, format!("{name} has no value"), "write one behind it")
                    .saying(format!("bonnie++: option requires an argument -- '{letter}'"))
            })?,
            glued => glued,
        };
        let typed = match option.value {
            OptionValue::Glued(_) => format!("{name}{value}"),
            _ => format!("{name} {value}"),
        };
        taken.push(TakenOption { option, typed, value: value.into() });
        return Ok(());
    }
    Ok(())
}

/// What each option among the words is for; nothing of words that are not understood.
pub fn meanings(words: &[String]) -> Vec<WordMeaning> {
    let taken = form_of(words).and_then(|form| taken(words, form)).unwrap_or_default();
    taken.into_iter().map(|taken| taken.option.meaning(taken.typed, &taken.value)).collect()
}

impl BonnieOptions {
    /// A number without a unit.
    pub(super) fn number_of(
        &self,
        name: &str,
        value: &str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<u64, BonnieComplaint> {
        self.of(name, value, PLAIN, range)
    }

    /// `-d`, below the folder that was named before it.
    pub(super) fn folder(&mut self, value: &str) -> Result<(), BonnieComplaint> {
        if value.is_empty() {
            let why = "-d names no folder; is a variable of the shell not set?";
            return Err(BonnieComplaint::new(self.form, why, "name one: -d /mnt/sd, or -d .")
                .saying("Can't change to directory \"\"."));
        }
        self.dir = self.dir.join(name::path(value));
        Ok(())
    }

    /// A number within a range, as the value of an option.
    fn of(
        &self,
        name: &str,
        value: &str,
        units: UnitSuffixes,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<u64, BonnieComplaint> {
        number(value, units).filter(|found| range.contains(found)).ok_or_else(|| {
            let (least, most) = (range.start(), *range.end());
            let wanted = match most > u64::from(u32::MAX) {
                true => format!("of at least {least}"),
                false => format!("from {least} to {most}"),
            };
            BonnieComplaint::new(
                self.form,
                format!("{name}: invalid value '{value}'"),
                format!("give a whole number {wanted}"),
            )
        })
    }

    /// `SIZE[:CHUNK[:SEEKS[:SEEKERS]]]`.
    pub(super) fn size(&mut self, value: &str) -> Result<(), BonnieComplaint> {
        let parts: Vec<&str> = value.split(':').collect();
        let most = match self.form {
            BonnieVersion::F1_98 => 4,
            _ => 2,
        };
        self.few(parts.len(), most, "-s", value)?;
        let units = if self.form.is_old() { OF_MIB_OLD } else { OF_MIB };
        self.size = Some(self.of("-s", parts[0], units, 0..=u64::MAX >> 21)?);
        if let Some(chunk) = given(&parts, 1) {
            self.chunk = self.chunk("-s", chunk, 256)?;
        }
        if let Some(seeks) = given(&parts, 2) {
            self.seeks = self.of("-s", seeks, THOUSANDS, 1..=u64::from(u32::MAX))?;
        }
        if let Some(seekers) = given(&parts, 3) {
            self.seekers = self.of("-s", seekers, PLAIN, 1..=1024)? as u32;
        }
        Ok(())
    }

    /// `NUM[:MAX[:MIN[:DIRS[:CHUNK]]]]`.
    pub(super) fn files(&mut self, value: &str) -> Result<(), BonnieComplaint> {
        let parts: Vec<&str> = value.split(':').collect();
        let old = self.form.is_old();
        self.few(parts.len(), if old { 4 } else { 5 }, "-n", value)?;
        let (units, sizes) = if old { (PLAIN, PLAIN) } else { (OF_FILES, OF_BYTES) };
        self.files.count = self.of("-n", parts[0], units, 0..=1 << 21)?;
        let largest = 1 << 30;
        let max = match given(&parts, 1) {
            Some("-1") => return self.links(FileTestKind::Links, &parts),
            Some("-2") => return self.links(FileTestKind::Symlinks, &parts),
            Some(max) => self.of("-n", max, sizes, 0..=largest)?,
            None => 0,
        };
        let min = given(&parts, 2).map_or(Ok(0), |min| self.of("-n", min, sizes, 0..=largest))?;
        if min > max {
            return Err(BonnieComplaint::new(
                self.form,
                format!("-n '{value}': the largest file has {max} bytes, the smallest {min}"),
                "write the largest first: -n NUM:MAX:MIN",
            ));
        }
        self.files.kind = FileTestKind::Files { max, min };
        self.folders(&parts)
    }

    /// Links have no sizes, and may have folders.
    fn links(&mut self, kind: FileTestKind, parts: &[&str]) -> Result<(), BonnieComplaint> {
        self.files.kind = kind;
        self.folders(parts)
    }

    fn folders(&mut self, parts: &[&str]) -> Result<(), BonnieComplaint> {
        if let Some(dirs) = given(parts, 3) {
            self.files.dirs = self.of("-n", dirs, PLAIN, 1..=99_999)? as u32;
        }
        if let Some(chunk) = given(parts, 4) {
            self.files.chunk = self.chunk("-n", chunk, 512)?;
        }
        Ok(())
    }

    /// Refuses more parts than a form knows.
    fn few(
        &self,
        parts: usize,
        most: usize,
        name: &str,
        value: &str,
    ) -> Result<(), BonnieComplaint> {
        if parts <= most {
            return Ok(());
        }
        Err(BonnieComplaint::new(
            self.form,
            format!("{name} '{value}' has {parts} parts"),
            format!("version {} knows {most}", self.form.version()),
        ))
    }

    /// A chunk, bytes: a power of two up to 1 MiB.
    fn chunk(&self, name: &str, value: &str, least: u64) -> Result<u64, BonnieComplaint> {
        let most = 1 << 20;
        let fits = |chunk: &u64| chunk.is_power_of_two() && (least..=most).contains(chunk);
        number(value, OF_BYTES).filter(fits).ok_or_else(|| {
            BonnieComplaint::new(
                self.form,
                format!("{name}: a chunk of '{value}' is no power of two from {least} to {most}"),
                "write for example 8k",
            )
        })
    }

    pub(super) fn user(&mut self, value: &str) -> Result<(), BonnieComplaint> {
        if self.user.is_some() {
            return Err(BonnieComplaint::new(self.form, "-u was given twice", "name one user"));
        }
        let (user, group) = match value.split_once(':') {
            Some((user, group)) => (user, Some(group)),
            None => (value, None),
        };
        self.user = Some(user.into());
        group.map_or(Ok(()), |group| self.group(group))
    }

    pub(super) fn group(&mut self, value: &str) -> Result<(), BonnieComplaint> {
        if self.group.is_some() {
            return Err(BonnieComplaint::new(
                self.form,
                "the group was given twice",
                "name it by -u USER:GROUP or by -g, once",
            ));
        }
        self.group = Some(value.into());
        Ok(())
    }

    /// `-p`.
    pub(super) fn semaphores(&mut self, value: &str) -> Result<(), BonnieComplaint> {
        self.semaphores = Some(match value {
            "-1" => SemaphoreCommand::Remove,
            _ => SemaphoreCommand::Make(self.number_of("-p", value, 1..=32_767)? as u32),
        });
        Ok(())
    }

    /// `-y`.
    pub(super) fn step(&mut self, value: &str) -> Result<(), BonnieComplaint> {
        self.step = Some(match value {
            "s" => StepMode::Semaphores,
            "p" => StepMode::Prompt,
            _ => {
                return Err(BonnieComplaint::new(
                    self.form,
                    format!("-y: invalid value '{value}'"),
                    "give -y s to join the semaphores of -p, or -y p to wait for a line before each test",
                ));
            }
        });
        Ok(())
    }

    /// Refuses words that contradict each other whatever the machine.
    fn agree(&self) -> Result<(), BonnieComplaint> {
        let refused = |why: &str, instead: &str| Err(BonnieComplaint::new(self.form, why, instead));
        if self.semaphores.is_some() && self.step.is_some() {
            return refused(
                "-p makes semaphores and ends, -y joins them",
                "run it once with -p, and then others with -y",
            );
        }
        if self.name.as_ref().is_some_and(|name| name.contains([',', '\n'])) {
            return refused(
                "-m: a comma or an end of line would end the field of CSV",
                "write the label without",
            );
        }
        if self.seed.is_some() && self.random.is_some() {
            return refused("-z and -Z both say what is random", "leave one of them out");
        }
        Ok(())
    }
}

/// A part of a value, if it is there and not empty.
fn given<'v>(parts: &[&'v str], number: usize) -> Option<&'v str> {
    parts.get(number).copied().filter(|part| !part.is_empty())
}
