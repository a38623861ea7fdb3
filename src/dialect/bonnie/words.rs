//! The words after `bonnie++`, by the rules of getopt.

use std::path::PathBuf;

use super::number::{
    OF_BYTES, OF_FILES, OF_MIB, OF_MIB_OLD, PLAIN, THOUSANDS, UnitSuffixes, number,
};
use super::{
    BonnieComplaint, BonnieOptions, BonnieVersion, FileTestArgs, FileTestKind, PerChar,
    SemaphoreCommand, StepMode,
};

/// The usual chunk, bytes.
pub(super) const CHUNK: u64 = 8192;
/// The usual number of seeks.
pub(super) const SEEKS: u64 = 8192;
/// Who does them: threads, in 1.03 processes.
pub(super) const SEEKERS: u32 = 5;
const SEEKERS_OLD: u32 = 3;
/// MiB of the per-character tests since 1.96.
pub(super) const SMALL: u64 = 3;

/// Whether an option has a value.
#[derive(Clone, Copy, PartialEq)]
enum OptionArity {
    Nothing,
    Value,
    /// One that is glued to its letter.
    Glued,
}

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
    let mut rest = words.iter().map(String::as_str);
    let mut left = Vec::new();
    while let Some(word) = rest.next() {
        match word {
            "--" => left.extend(rest.by_ref()),
            "--as-original" => asked.as_original = true,
            "--format" => {
                let _ = rest.next();
            }
            _ if word.starts_with("--format=") => {}
            _ if word.starts_with("--") => return Err(unknown(form, word, '-')),
            _ if word.len() > 1 && word.starts_with('-') => {
                asked.letters(word, &mut rest)?;
            }
            _ => left.push(word),
        }
    }
    if let Some(word) = left.first() {
        return Err(BonnieComplaint::new(
            form,
            format!("'{word}' belongs to no option"),
            "the folder is given by -d, the size by -s; a value of -f is glued to it: -f10",
        ));
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

/// Whether a letter is an option of a form.
fn takes(form: BonnieVersion, letter: char) -> Option<OptionArity> {
    let old = form.is_old();
    Some(match letter {
        'd' | 's' | 'n' | 'm' | 'r' | 'x' | 'u' | 'g' | 'p' => OptionArity::Value,
        'q' | 'b' | 'D' => OptionArity::Nothing,
        'f' if old => OptionArity::Nothing,
        'f' => OptionArity::Glued,
        'y' if old => OptionArity::Nothing,
        'y' | 'c' | 'z' | 'Z' if !old => OptionArity::Value,
        _ => return None,
    })
}

impl BonnieOptions {
    /// A word of options: `-fbq`, `-s100`, `-s` and its value in the next word.
    fn letters<'w>(
        &mut self,
        word: &'w str,
        rest: &mut impl Iterator<Item = &'w str>,
    ) -> Result<(), BonnieComplaint> {
        let form = self.form;
        let mut letters = word[1..].chars();
        while let Some(letter) = letters.next() {
            let takes = takes(form, letter).ok_or_else(|| unknown(form, word, letter))?;
            let glued = letters.as_str();
            let value = match takes {
                OptionArity::Nothing => {
                    self.take(letter, "")?;
                    continue;
                }
                // What the tool would take for a number and read as 0 are options, too.
                OptionArity::Glued if !glued.starts_with(|c: char| c.is_ascii_digit()) => {
                    self.take(letter, "")?;
                    continue;
                }
                OptionArity::Glued => glued,
                OptionArity::Value if !glued.is_empty() => glued,
                OptionArity::Value => rest.next().ok_or_else(|| {
                    BonnieComplaint::new(
                        form,
                        format!("-{letter} has no value"),
                        "write one behind it",
                    )
                    .saying(format!("bonnie++: option requires an argument -- '{letter}'"))
                })?,
            };
            return self.take(letter, value);
        }
        Ok(())
    }

    /// One option with its value.
    fn take(&mut self, letter: char, value: &str) -> Result<(), BonnieComplaint> {
        match letter {
            'q' => self.quiet = true,
            'b' => self.sync = true,
            'D' => self.direct = true,
            'm' => self.name = Some(value.into()),
            'd' => self.dir = self.dir.join(value),
            'Z' => self.random = Some(self.dir.join(value)),
            's' => self.size(value)?,
            'n' => self.files(value)?,
            'r' => self.ram = Some(self.of(letter, value, PLAIN, 0..=u64::MAX >> 21)?),
            'x' => self.times = Some(self.of(letter, value, PLAIN, 1..=1_000_000)? as u32),
            'c' => self.concurrency = self.of(letter, value, PLAIN, 1..=200)? as u32,
            'z' => self.seed = Some(self.of(letter, value, PLAIN, 0..=u64::from(u32::MAX))? as u32),
            'u' => self.user(value)?,
            'g' => self.group(value)?,
            'f' if value.is_empty() => self.per_char = PerChar::Skipped,
            'f' => {
                self.per_char = match self.of(letter, value, PLAIN, 0..=u64::MAX >> 21)? {
                    0 => PerChar::Skipped,
                    size => PerChar::Over(Some(size)),
                }
            }
            'p' if value == "-1" => self.semaphores = Some(SemaphoreCommand::Remove),
            'p' => {
                let most = 32_767;
                self.semaphores =
                    Some(SemaphoreCommand::Make(self.of(letter, value, PLAIN, 1..=most)? as u32));
            }
            'y' if self.form.is_old() => self.step = Some(StepMode::Semaphores),
            'y' => self.step = Some(self.step(value)?),
            _ => unreachable!("only options that take something are taken"),
        }
        Ok(())
    }

    /// A number within a range, as the value of an option.
    fn of(
        &self,
        letter: char,
        value: &str,
        units: UnitSuffixes,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<u64, BonnieComplaint> {
        number(value, units).filter(|found| range.contains(found)).ok_or_else(|| {
            let most = match *range.end() {
                most if most > u64::from(u32::MAX) => "on".to_string(),
                most => format!("to {most}"),
            };
            BonnieComplaint::new(
                self.form,
                format!("-{letter} '{value}' is no number that makes sense here"),
                format!("write a whole number from {} {most}", range.start()),
            )
        })
    }

    /// `SIZE[:CHUNK[:SEEKS[:SEEKERS]]]`.
    fn size(&mut self, value: &str) -> Result<(), BonnieComplaint> {
        let parts: Vec<&str> = value.split(':').collect();
        let most = match self.form {
            BonnieVersion::F1_98 => 4,
            _ => 2,
        };
        self.few(parts.len(), most, 's', value)?;
        let units = if self.form.is_old() { OF_MIB_OLD } else { OF_MIB };
        self.size = Some(self.of('s', parts[0], units, 0..=u64::MAX >> 21)?);
        if let Some(chunk) = given(&parts, 1) {
            self.chunk = self.chunk('s', chunk, 256)?;
        }
        if let Some(seeks) = given(&parts, 2) {
            self.seeks = self.of('s', seeks, THOUSANDS, 1..=u64::from(u32::MAX))?;
        }
        if let Some(seekers) = given(&parts, 3) {
            self.seekers = self.of('s', seekers, PLAIN, 1..=1024)? as u32;
        }
        Ok(())
    }

    /// `NUM[:MAX[:MIN[:DIRS[:CHUNK]]]]`.
    fn files(&mut self, value: &str) -> Result<(), BonnieComplaint> {
        let parts: Vec<&str> = value.split(':').collect();
        let old = self.form.is_old();
        self.few(parts.len(), if old { 4 } else { 5 }, 'n', value)?;
        let (units, sizes) = if old { (PLAIN, PLAIN) } else { (OF_FILES, OF_BYTES) };
        self.files.count = self.of('n', parts[0], units, 0..=1 << 21)?;
        let largest = 1 << 30;
        let max = match given(&parts, 1) {
            Some("-1") => return self.links(FileTestKind::Links, &parts),
            Some("-2") => return self.links(FileTestKind::Symlinks, &parts),
            Some(max) => self.of('n', max, sizes, 0..=largest)?,
            None => 0,
        };
        let min = given(&parts, 2).map_or(Ok(0), |min| self.of('n', min, sizes, 0..=largest))?;
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
            self.files.dirs = self.of('n', dirs, PLAIN, 1..=99_999)? as u32;
        }
        if let Some(chunk) = given(parts, 4) {
            self.files.chunk = self.chunk('n', chunk, 512)?;
        }
        Ok(())
    }

    /// Refuses more parts than a form knows.
    fn few(
        &self,
        parts: usize,
        most: usize,
        letter: char,
        value: &str,
    ) -> Result<(), BonnieComplaint> {
        if parts <= most {
            return Ok(());
        }
        Err(BonnieComplaint::new(
            self.form,
            format!("-{letter} '{value}' has {parts} parts"),
            format!("version {} knows {most}", self.form.version()),
        ))
    }

    /// A chunk, bytes: a power of two up to 1 MiB.
    fn chunk(&self, letter: char, value: &str, least: u64) -> Result<u64, BonnieComplaint> {
        let most = 1 << 20;
        let fits = |chunk: &u64| chunk.is_power_of_two() && (least..=most).contains(chunk);
        number(value, OF_BYTES).filter(fits).ok_or_else(|| {
            BonnieComplaint::new(
                self.form,
                format!(
                    "-{letter}: a chunk of '{value}' is no power of two from {least} to {most}"
                ),
                "write for example 8k",
            )
        })
    }

    fn user(&mut self, value: &str) -> Result<(), BonnieComplaint> {
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

    fn group(&mut self, value: &str) -> Result<(), BonnieComplaint> {
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

    fn step(&self, value: &str) -> Result<StepMode, BonnieComplaint> {
        match value {
            "s" => Ok(StepMode::Semaphores),
            "p" => Ok(StepMode::Prompt),
            _ => Err(BonnieComplaint::new(
                self.form,
                format!("-y '{value}' means nothing"),
                "write -y s to join the semaphores of -p, or -y p to wait for a line before each test",
            )),
        }
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
