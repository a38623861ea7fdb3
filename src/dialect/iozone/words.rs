//! The words after `iozone`, by the rules of its getopt: letters may be glued, what belongs to a letter may
//! be glued or follow, and what belongs to an option with a plus follows.

use std::io;
use std::path::Path;

use super::super::option::{OptionValue, ToolOption};
use super::asked::{IozoneComplaint, IozoneOptions};
use super::options::OPTIONS;
use assay_plan::name::NameText as _;
use assay_plan::unit::{GIB, KIB, MIB};
use assay_record::record::WordMeaning;

/// The status of the original where `-F` comes before `-t`.
const NAMES_FIRST: u8 = 12;
/// ... where `-F` has too few names.
const FEW_NAMES: u8 = 13;
/// ... where two modes exclude each other.
const MODES: u8 = 17;
/// ... where POSIX AIO is asked of a mapping.
const AIO_OF_MAPPING: u8 = 18;
/// ... where data cannot be both.
const DATA: u8 = 20;
/// ... where streams would be unmounted.
const REMOUNT: u8 = 16;
/// ... where sizes contradict each other.
const SIZES: u8 = 23;
/// ... where an option with a plus lacks what belongs to it.
const OPERAND: u8 = 200;

/// The largest record, bytes: the buffer of the original.
const LARGEST_RECORD: u64 = 16 * MIB;
/// Its smallest, bytes.
const SMALLEST_RECORD: u64 = 128;

/// An option among the words.
pub(super) struct TypedOption {
    option: &'static ToolOption<IozoneOptions, IozoneComplaint>,
    typed: String,
    value: String,
}

/// Takes the words apart; `files` reads the files that they name.
///
/// # Errors
/// Words that the original would not take, and those that are refused here, with the reason.
pub fn read(
    words: &[String],
    files: &dyn Fn(&Path) -> io::Result<Vec<u8>>,
) -> Result<IozoneOptions, IozoneComplaint> {
    let mut asked = IozoneOptions { words: words.to_vec(), ..IozoneOptions::default() };
    for taken in taken(words)? {
        (taken.option.effect)(&mut asked, &taken.value)?;
    }
    asked.load_lists(files)?;
    asked.agree()?;
    Ok(asked)
}

/// What each option among the words is for; nothing of words that are not understood.
pub fn meanings(words: &[String]) -> Vec<WordMeaning> {
    let taken = taken(words).unwrap_or_default();
    let taken = taken.into_iter().map(|taken| taken.option.meaning(taken.typed, &taken.value));
    let passed_over = passed_over(words).into_iter().map(|word| WordMeaning {
        word: word.into(),
        means: "belongs to no option: iozone passes over it".into(),
    });
    taken.chain(passed_over).collect()
}

/// The options among the words, in their order.
fn taken(words: &[String]) -> Result<Vec<TypedOption>, IozoneComplaint> {
    let mut rest = words.iter().map(String::as_str).peekable();
    let mut taken: Vec<TypedOption> = Vec::new();
    while let Some(word) = rest.next() {
        if word == "--" {
            break;
        }
        if word.starts_with("--") || word.starts_with("-+") {
            let option = find(word).ok_or_else(|| match word.strip_prefix("-+") {
                Some(plus) => {
                    unknown(word).saying(format!("\nUnsupported Plus option -> {plus} <-"), 0)
                }
                None => unknown(word),
            })?;
            let value = match option.value {
                OptionValue::None => String::new(),
                _ => rest.next().map(String::from).ok_or_else(|| no_value(word))?,
            };
            let typed = format!("{word} {value}").trim_end().to_string();
            taken.push(TypedOption { option, typed, value });
        } else if word.len() > 1 && word.starts_with('-') {
            letters(word, &mut rest, &mut taken)?;
        }
    }
    Ok(taken)
}

/// The words that belong to no option: its getopt passes over them, and nothing is made of them.
pub fn passed_over(words: &[String]) -> Vec<&str> {
    let mut left = Vec::new();
    let mut rest = words.iter().map(String::as_str).peekable();
    while let Some(word) = rest.next() {
        match word {
            "--" => left.extend(rest.by_ref()),
            _ if word.starts_with("--") || word.starts_with("-+") => {
                let takes = find(word).is_some_and(|option| option.value != OptionValue::None);
                rest.next_if(|_| takes);
            }
            _ if word.len() > 1 && word.starts_with('-') => {
                let _ = letters(word, &mut rest, &mut Vec::new());
            }
            _ => left.push(word),
        }
    }
    left
}

/// A word of options: `-RaI`, `-s64m`, `-s` and its value in the next word.
fn letters<'w>(
    word: &'w str,
    rest: &mut std::iter::Peekable<impl Iterator<Item = &'w str>>,
    taken: &mut Vec<TypedOption>,
) -> Result<(), IozoneComplaint> {
    let mut letters = word[1..].chars();
    while let Some(letter) = letters.next() {
        let name = format!("-{letter}");
        let option = find(&name).ok_or_else(|| {
            unknown(&name).saying(format!("Unsupported option -> {letter} <-"), 0)
        })?;
        if option.value == OptionValue::None {
            taken.push(TypedOption { option, typed: name, value: String::new() });
            continue;
        }
        let value = match letters.as_str() {
            "" => rest.next().ok_or_else(|| no_value(&name))?,
            glued => glued,
        };
        let mut values = vec![value];
        if option.is("-F") {
            // Names of files follow it up to the next option.
            while let Some(next) = rest.next_if(|next| !next.starts_with('-')) {
                values.push(next);
            }
        }
        for value in values {
            taken.push(TypedOption {
                option,
                typed: format!("{name} {value}"),
                value: value.into(),
            });
        }
        return Ok(());
    }
    Ok(())
}

fn find(name: &str) -> Option<&'static ToolOption<IozoneOptions, IozoneComplaint>> {
    OPTIONS.iter().find(|option| option.is(name))
}

fn unknown(name: &str) -> IozoneComplaint {
    IozoneComplaint::new(format!("unknown option '{name}'"), "'assay iozone -h' lists the options")
}

fn no_value(name: &str) -> IozoneComplaint {
    let complaint = IozoneComplaint::new(format!("{name} has no value"), "write one behind it");
    match name.strip_prefix("-+") {
        Some(plus) => complaint.saying(format!("-+{plus} takes an operand !!"), OPERAND),
        None => complaint,
    }
}

impl IozoneOptions {
    /// A number within a range.
    pub(super) fn number(
        name: &str,
        value: &str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<u64, IozoneComplaint> {
        let found = value.trim().parse().ok().filter(|found| range.contains(found));
        found.ok_or_else(|| {
            IozoneComplaint::new(
                format!("invalid value '{value}' for {name}"),
                format!("give a whole number from {} to {}", range.start(), range.end()),
            )
        })
    }

    /// A size in KiB, or with a unit; bytes.
    pub(super) fn bytes(name: &str, value: &str) -> Result<u64, IozoneComplaint> {
        let unit = match value.chars().last().map(|last| last.to_ascii_lowercase()) {
            Some('k') => Some(KIB),
            Some('m') => Some(MIB),
            Some('g') => Some(GIB),
            _ => None,
        };
        let digits = if unit.is_some() { &value[..value.len() - 1] } else { value };
        let number: Option<u64> = digits.parse().ok();
        let bytes = number.and_then(|number| number.checked_mul(unit.unwrap_or(KIB)));
        bytes.filter(|bytes| (1..=i64::MAX as u64).contains(bytes)).ok_or_else(|| {
            IozoneComplaint::new(
                format!("invalid value '{value}' for {name}"),
                format!("give KiB, or a size with k, m or g: {name} 64m"),
            )
        })
    }

    /// A record: KiB, or with a unit; bytes.
    pub(super) fn record(name: &str, value: &str) -> Result<u64, IozoneComplaint> {
        let bytes = Self::bytes(name, value)?;
        if bytes > LARGEST_RECORD {
            let refused = IozoneComplaint::new(
                format!("{name} {value}: a record has 16 MiB at the most"),
                format!("give {name} 16m or less"),
            );
            let line = format!(
                "Error: maximum record size {} kB is greater than maximum buffer size {} kB",
                bytes / KIB,
                LARGEST_RECORD / KIB
            );
            return Err(refused.saying(line, SIZES));
        }
        if bytes < SMALLEST_RECORD {
            return Err(IozoneComplaint::new(
                format!("{name} {value}: a record has 128 bytes at the least"),
                format!("give {name} 1k or more"),
            ));
        }
        Ok(bytes)
    }

    /// `-+b`: bytes, and milliseconds of a pause.
    pub(super) fn bursts(&mut self, value: &str) -> Result<(), IozoneComplaint> {
        let parts = value.split_once(',').ok_or_else(|| {
            IozoneComplaint::new(
                format!("invalid value '{value}' for -+b"),
                "give the size of a burst and milliseconds: -+b 64k,5",
            )
        })?;
        let bytes = Self::bytes("-+b", parts.0)?;
        self.bursts = Some((bytes, Self::number("-+b", parts.1, 1..=3_600_000)?));
        Ok(())
    }

    /// A file of `-F`.
    pub(super) fn stream_file(&mut self, value: &str) -> Result<(), IozoneComplaint> {
        if self.streams.is_empty() && self.stream_range == (None, None) {
            return Err(IozoneComplaint::new(
                "-F comes before -t, which says how many names it has",
                "write -t 2 -F FILE1 FILE2",
            )
            .saying("If you use the -F option you must use -t first.", NAMES_FIRST));
        }
        self.files.push(assay_plan::name::path(value));
        Ok(())
    }

    /// Refuses words that contradict each other, as the original does or better.
    fn agree(&mut self) -> Result<(), IozoneComplaint> {
        match self.stream_range {
            (None, None) => {}
            (least, most) => {
                let least = least.or(most).unwrap_or(1);
                let most = most.unwrap_or(least);
                if least > most {
                    return Err(IozoneComplaint::new(
                        format!("-l {least} is more than -u {most}"),
                        "give the smaller number to -l",
                    ));
                }
                self.streams.extend(least..=most);
            }
        }
        let throughput = self.is_throughput();
        if throughput && (self.auto || self.four_columns) {
            let option = if self.auto { "-a" } else { "-A" };
            return Err(IozoneComplaint::new(
                format!("-t and {option}: streams have one size of file and of record"),
                format!("leave out {option}, or -t"),
            )
            .saying("Can not mix throughput mode and auto-mode flags.", MODES));
        }
        if throughput && self.file.is_some() {
            return Err(IozoneComplaint::new(
                "-t and -f: each stream has a file of its own",
                "name them by -F, or leave -f out",
            )
            .saying("You must use -F when using multiple threads or processes.", MODES));
        }
        if throughput && self.unit == super::asked::IozoneUnit::Microseconds {
            return Err(IozoneComplaint::new(
                "-t and -N: throughput mode has no times of single records",
                "use -O, or leave -N out",
            )
            .saying("Microsecond mode not supported in throughput mode.", MODES));
        }
        if self.mmap && self.async_depth.is_some() {
            return Err(IozoneComplaint::new(
                "-B with -H or -k: a mapping has no calls that could wait",
                "leave one of them out",
            )
            .saying("Can not mix mmap with async I/O.", AIO_OF_MAPPING));
        }
        self.agree_with_mapping()?;
        self.agree_on_data()?;
        self.agree_around_calls()?;
        let most = self.streams.iter().max().copied().unwrap_or_default() as usize;
        if !self.files.is_empty() && self.files.len() != most {
            return Err(IozoneComplaint::new(
                format!(
                    "-F has {} names for {most} stream{}",
                    self.files.len(),
                    if most == 1 { "" } else { "s" }
                ),
                "give each stream one name",
            )
            .saying("not enough filenames for that many streams", FEW_NAMES));
        }
        self.agree_on_sizes()?;
        if self.done().is_empty() {
            return Err(IozoneComplaint::new(
                "these tests leave nothing to do: -i 8 is for streams (-t), -i 9 and -i 10 for -E or -t, -i 6 and -i 7 cannot be had with -B, -H or -k",
                "choose another test with -i, such as -i 0",
            ));
        }
        Ok(())
    }

    fn agree_with_mapping(&self) -> Result<(), IozoneComplaint> {
        let needs = [(self.msync.is_some(), "-D or -G"), (self.advice.is_some(), "-+A")];
        if let Some((_, option)) = needs.iter().find(|(given, _)| *given && !self.mmap) {
            return Err(IozoneComplaint::new(
                format!("{option} without -B: there is no mapping"),
                "add -B, or leave it out",
            ));
        }
        if self.mmap && self.direct {
            return Err(IozoneComplaint::new(
                "-B and -I: a mapping is in the page cache",
                "leave one of them out",
            ));
        }
        Ok(())
    }

    /// Options about what is written.
    fn agree_on_data(&self) -> Result<(), IozoneComplaint> {
        let parts = [
            (self.alike_everywhere.is_some(), "-+y"),
            (self.alike_own.is_some(), "-+C"),
            (self.granule.is_some(), "-+Q"),
            (self.data_seed.is_some(), "-+S"),
            (self.data_skew.is_some(), "-+W"),
        ];
        if self.alike.is_none()
            && let Some((_, option)) = parts.into_iter().find(|(given, _)| *given)
        {
            return Err(IozoneComplaint::new(
                format!("{option} without -+w: nothing is to be alike"),
                format!("add -+w 100, of which {option} is a part, or leave {option} out"),
            ));
        }
        if self.alike.is_some() && self.diagnostic {
            return Err(IozoneComplaint::new(
                "-+d and -+w: sectors have data of their own, or data that are alike",
                "leave one of them out",
            )
            .saying("\n\tCan not do both -+d and -+w", DATA));
        }
        let made = self.alike.is_some() || self.zeros.is_some();
        let looked_at = self.pattern.is_some() || self.diagnostic;
        if made && looked_at || self.pattern.is_some() && self.diagnostic {
            return Err(IozoneComplaint::new(
                "two of -V, -+d, -+Z and -+w or -+a: each says what is written",
                "leave all but one out",
            ));
        }
        if self.buffers && (made || looked_at) {
            return Err(IozoneComplaint::new(
                "-m with -V, -+d, -+Z, -+w or -+a: data are made in one buffer here",
                "leave -m out",
            ));
        }
        Ok(())
    }

    /// Options about what is done around each call, and between tests.
    fn agree_around_calls(&self) -> Result<(), IozoneComplaint> {
        if self.remount.is_some() && self.is_throughput() {
            return Err(IozoneComplaint::new(
                "-U and -t: a file system that streams use is not unmounted",
                "leave -U out; --honest drops the files' pages before they are read",
            )
            .saying("Can not run throughput tests with unmount & remounts.", REMOUNT));
        }
        if let (Some(mount), Some(file)) = (&self.remount, &self.file)
            && file.is_absolute()
            && !file.starts_with(mount)
        {
            return Err(IozoneComplaint::new(
                format!("-U {}: the file of -f lies elsewhere", mount.to_text()),
                format!("name a file there: -f {}/iozone.tmp", mount.to_text()),
            ));
        }
        let around = [
            (self.purge, "-p"),
            (self.jitter, "-K"),
            (self.buffers, "-m"),
            (self.lock_records, "-+l or -+L"),
            (self.bursts.is_some(), "-+b"),
        ];
        if self.async_depth.is_some()
            && let Some((_, option)) = around.into_iter().find(|(given, _)| *given)
        {
            return Err(IozoneComplaint::new(
                format!("{option} with -H or -k: others are in flight between two records"),
                "leave one of them out",
            ));
        }
        if self.lock_file && (self.lock_records || self.shared) {
            return Err(IozoneComplaint::new(
                "-W with -+l, -+L or -+V: whoever has the whole file needs no lock of a record, and shares it with nobody",
                "leave one of them out",
            ));
        }
        if self.purge && self.line > self.cache * KIB {
            return Err(IozoneComplaint::new(
                format!(
                    "-p with -L {} and -S {}: a line larger than the cache",
                    self.line, self.cache
                ),
                "give -L in bytes, and -S in KiB",
            ));
        }
        if self.counts_compute && self.compute.is_none() && !self.is_listed() {
            return Err(IozoneComplaint::new(
                "-+J without -J: there is no time to be counted",
                "add -J with milliseconds, or leave it out",
            ));
        }
        Ok(())
    }

    fn agree_on_sizes(&self) -> Result<(), IozoneComplaint> {
        let ranges = [
            ("-n", "-g", self.file_range.0, self.file_range.1),
            ("-y", "-q", self.record_range.0, self.record_range.1),
        ];
        if let Some((least, most, from, to)) = ranges.into_iter().find(|(.., from, to)| from > to) {
            return Err(IozoneComplaint::new(
                format!("{least} {} kB is more than {most} {} kB", from / KIB, to / KIB),
                format!("give {most} the larger size"),
            ));
        }
        let cells = self.cells();
        let least = cells.iter().find(|cell| cell.record > cell.file);
        if cells.is_empty() || least.is_some() {
            let record = least.map_or(self.record_range.0, |cell| cell.record);
            let file = least.map_or(self.file_range.1, |cell| cell.file);
            return Err(IozoneComplaint::new(
                format!(
                    "a record of {} kB does not fit into a file of {} kB",
                    record / KIB,
                    file / KIB
                ),
                "give a smaller -r, or a larger -s",
            )
            .saying(
                format!(
                    "Error: record length {} kB is greater than filesize {} kB",
                    record / KIB,
                    file / KIB
                ),
                SIZES,
            ));
        }
        if self.is_throughput() && cells.len() > 1 {
            return Err(IozoneComplaint::new(
                "-t with several sizes: streams have one size of file and of record",
                "give -s and -r once",
            ));
        }
        Ok(())
    }
}
