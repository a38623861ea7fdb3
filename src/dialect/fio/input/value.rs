//! The value of an option, read by the rules of its kind before the option itself looks at it.

use std::time::Duration;

use super::number::{self, FioNumber, FioNumberFault};
use crate::dialect::fio::job::{FioAmount, FioFault, FioWord, PerDirection};
use crate::dialect::fio::options::kind::{FioKind, FioUnit};
use crate::dialect::near;

/// What an option did with its value.
pub type Applied = Result<(), FioFault>;

/// The value of an option.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioValue<'v> {
    /// As it was typed; none is that nothing was.
    pub(in crate::dialect::fio) text: Option<&'v str>,
    /// Whether nothing will be run.
    pub(in crate::dialect::fio) dry: bool,
    pub(in crate::dialect::fio) kb_base: u32,
    /// Numbers for reads, writes and trims; none is that it stays as it was.
    pub(in crate::dialect::fio) slots: [Option<i64>; 3],
    /// The number of the last part, which is what some options take.
    pub(in crate::dialect::fio) last: Option<FioNumber>,
    /// Zones, in place of a number.
    pub(in crate::dialect::fio) zones: Option<u32>,
    /// Ranges for reads, writes and trims.
    pub(in crate::dialect::fio) ranges: [Option<(u64, u64)>; 3],
    /// Numbers with fractions.
    pub(in crate::dialect::fio) floats: Vec<f64>,
    /// The most digits behind the point of one of them.
    pub(in crate::dialect::fio) decimals: u32,
    /// The contents of files that are quoted in it.
    pub(in crate::dialect::fio) files: Vec<Vec<u8>>,
    /// The words that were found.
    pub(in crate::dialect::fio) words: Vec<&'static str>,
    /// Parts that make no sense, which fio leaves out where another part does.
    pub(in crate::dialect::fio) ignored: Vec<String>,
    /// The lines that it prints about them.
    pub(in crate::dialect::fio) said: Vec<String>,
}

impl<'v> FioValue<'v> {
    /// Reads a value. `name` is the option's usual name.
    pub(in crate::dialect::fio) fn read(
        name: &str,
        kind: &FioKind,
        text: Option<&'v str>,
        kb_base: u32,
    ) -> Result<Self, FioFault> {
        let mut value = Self { text, kb_base, ..Self::default() };
        let Some(typed) = text else {
            return value.without_text(name, kind);
        };
        match kind {
            FioKind::Word(words) => value.one_word(name, words, kind, typed)?,
            FioKind::Words(words) => value.many_words(name, words, kind, typed)?,
            FioKind::Text if typed.is_empty() => {
                return Err(FioFault::new(format!("'{name}=' has no value"), ""));
            }
            FioKind::Text | FioKind::Free | FioKind::Deprecated => {}
            FioKind::Number { unit, least, most } => {
                value.numbers(name, typed, |part| {
                    let number = read_number(name, part, *unit, kb_base)?;
                    in_range(name, number.value, *least, *most)?;
                    Ok(number)
                })?;
            }
            FioKind::Amount => value.amounts(name, typed)?,
            FioKind::Bool => value.numbers(name, typed, |part| truth(name, part, true))?,
            FioKind::Flag => value.numbers(name, typed, |part| truth(name, part, false))?,
            FioKind::Floats { least, most, length } => {
                value.fractions(name, typed, *least, *most, *length)?;
            }
            FioKind::Ranges => value.pairs(name, typed)?,
            FioKind::Gone => {
                return Err(FioFault {
                    told: format!("Option {name} is deprecated\n"),
                    ..FioFault::new(
                        format!("'{name}' is no option any more"),
                        "leave it out: fio takes it no more",
                    )
                });
            }
        }
        Ok(value)
    }

    /// An option without a value.
    fn without_text(mut self, name: &str, kind: &FioKind) -> Result<Self, FioFault> {
        match kind {
            FioKind::Flag => self.slots[0] = Some(1),
            FioKind::Free | FioKind::Deprecated => {}
            FioKind::Word(_) => {
                return Err(FioFault {
                    told: kind.valid_values(),
                    ..FioFault::new(
                        format!("'{name}' has no value"),
                        instead_of_nothing(name, kind),
                    )
                });
            }
            _ => {
                return Err(FioFault::line(
                    format!("Option {name} requires an argument"),
                    instead_of_nothing(name, kind),
                ));
            }
        }
        Ok(self)
    }

    fn one_word(
        &mut self,
        name: &str,
        words: &'static [FioWord],
        kind: &FioKind,
        typed: &str,
    ) -> Result<(), FioFault> {
        let word = find_word(name, words, kind, typed)?;
        self.words.push(word);
        Ok(())
    }

    fn many_words(
        &mut self,
        name: &str,
        words: &'static [FioWord],
        kind: &FioKind,
        typed: &str,
    ) -> Result<(), FioFault> {
        let mut fault = None;
        for part in typed.split(',') {
            match find_word(name, words, kind, part) {
                Ok(word) => self.words.push(word),
                Err(_) if part.is_empty() && !self.words.is_empty() => {}
                Err(found) => {
                    self.ignored.push(part.into());
                    fault.get_or_insert(found);
                }
            }
        }
        fault.filter(|_| self.words.is_empty()).map_or(Ok(()), Err)
    }

    /// Numbers for directions: the last that is given stands for those behind it.
    fn numbers(
        &mut self,
        name: &str,
        typed: &str,
        read: impl Fn(&str) -> Result<FioNumber, FioFault>,
    ) -> Result<(), FioFault> {
        let parts = parts(typed);
        let count = parts.len();
        let mut fault = None;
        for (index, part) in parts.into_iter().enumerate() {
            match read(part) {
                Ok(number) => {
                    let stored = Some(number.value);
                    if index < 3 {
                        self.slots[index] = stored;
                    }
                    if index + 1 == count {
                        self.slots.iter_mut().skip(index + 1).for_each(|slot| *slot = stored);
                    }
                    self.last = Some(number);
                }
                Err(found) => self.bad_part(part, found, &mut fault),
            }
        }
        match (self.last, fault) {
            (None, Some(fault)) => Err(fault),
            (None, None) => Err(FioFault::new(format!("'{name}=' has no value"), "")),
            _ => Ok(()),
        }
    }

    /// An empty part is that a direction stays as it was; another is an error if nothing else is right.
    fn bad_part(&mut self, part: &str, found: FioFault, fault: &mut Option<FioFault>) {
        if !part.is_empty() {
            self.ignored.push(part.into());
            self.said.extend(found.lines.iter().cloned());
        }
        if fault.as_ref().is_none_or(|fault| fault.lines.is_empty()) {
            *fault = Some(found);
        }
    }

    fn amounts(&mut self, name: &str, typed: &str) -> Result<(), FioFault> {
        if let Some(zones) = typed.strip_suffix('z') {
            self.zones = Some(zones.parse().map_err(|_| {
                FioFault::line(format!("{name}: unexpected zone value '{typed}'"), "")
            })?);
            return Ok(());
        }
        let kb_base = self.kb_base;
        self.numbers(name, typed, |part| {
            let number =
                number::size(part, kb_base).map_err(|fault| no_number(name, part, fault))?;
            if number.percent && !(0..=100).contains(&number.value) {
                return Err(FioFault::new(
                    format!("'{name}={part}' is more than 100 %"),
                    format!("{name}=100%"),
                ));
            }
            if !number.percent && number.value < 0 {
                return Err(negative(name, part));
            }
            Ok(number)
        })
    }

    fn fractions(
        &mut self,
        name: &str,
        typed: &str,
        least: f64,
        most: f64,
        length: usize,
    ) -> Result<(), FioFault> {
        let mut fault = None;
        let mut rest = typed;
        for part in typed.split(':') {
            let whole = rest;
            rest = rest.get(part.len() + 1..).unwrap_or_default();
            let read = || {
                if self.floats.len() >= length {
                    return Err(FioFault::line(
                        format!("the list exceeding max length {length}"),
                        format!("no more than {length} values"),
                    ));
                }
                let number = leading_float(part).ok_or_else(|| {
                    FioFault::line(format!("not a floating point value: {whole}"), "")
                })?;
                let bound = match number {
                    _ if number > most => Some(("max", most)),
                    _ if number < least => Some(("min", least)),
                    _ => None,
                };
                bound.map_or(Ok(number), |(which, bound)| {
                    Err(FioFault::line(
                        format!("value out of range: {number:.6} (range {which}: {bound:.6})"),
                        format!("{name} from {least} to {most}"),
                    ))
                })
            };
            match read() {
                Ok(number) => {
                    self.floats.push(number);
                    self.decimals = self.decimals.max(decimals(part));
                }
                Err(found) => self.bad_part(part, found, &mut fault),
            }
        }
        fault.filter(|_| self.floats.is_empty()).map_or(Ok(()), Err)
    }

    fn pairs(&mut self, name: &str, typed: &str) -> Result<(), FioFault> {
        let parts: Vec<&str> = typed.split(',').collect();
        let count = parts.len();
        let mut fault = None;
        for (index, part) in parts.into_iter().enumerate() {
            match self.pair(name, part) {
                Ok(range) => {
                    if index < 3 {
                        self.ranges[index] = Some(range);
                    }
                    if index + 1 == count {
                        self.ranges.iter_mut().skip(index + 1).for_each(|slot| *slot = Some(range));
                    }
                }
                Err(found) => self.bad_part(part, found, &mut fault),
            }
        }
        fault.filter(|_| self.ranges.iter().all(Option::is_none)).map_or(Ok(()), Err)
    }

    /// A range: `4k-16k` or `4k:16k`, the smaller first whatever was typed.
    fn pair(&self, name: &str, part: &str) -> Result<(u64, u64), FioFault> {
        let (low, high) =
            part.split_once('-').or_else(|| part.split_once(':')).ok_or_else(|| {
                FioFault::new(
                    format!("'{name}={part}' is no range"),
                    format!("{name}={part}-{part}"),
                )
            })?;
        let bytes = |text: &str| {
            let read =
                number::size(text, self.kb_base).map_err(|fault| no_number(name, text, fault))?;
            match u64::try_from(read.value) {
                Ok(bytes) if bytes > 0 && !read.percent => Ok(bytes),
                _ => {
                    Err(FioFault::new(format!("'{text}' of '{name}={part}' is no block size"), ""))
                }
            }
        };
        let (low, high) = (bytes(low)?, bytes(high)?);
        Ok((low.min(high), low.max(high)))
    }
}

/// Values as options take them.
impl FioValue<'_> {
    /// The text, empty where nothing was typed.
    pub(in crate::dialect::fio) fn text(&self) -> &str {
        self.text.unwrap_or_default()
    }

    /// What is behind the first colon.
    pub(in crate::dialect::fio) fn postfix(&self) -> Option<&str> {
        self.text().split_once(':').map(|(_, postfix)| postfix.trim())
    }

    pub(in crate::dialect::fio) fn u32(&self, to: &mut u32) -> Applied {
        if let Some(number) = self.slots[0] {
            *to = u32::try_from(number).unwrap_or(u32::MAX);
        }
        Ok(())
    }

    pub(in crate::dialect::fio) fn u64(&self, to: &mut u64) -> Applied {
        if let Some(number) = self.slots[0] {
            *to = u64::try_from(number).unwrap_or_default();
        }
        Ok(())
    }

    pub(in crate::dialect::fio) fn some_u32(&self, to: &mut Option<u32>) -> Applied {
        *to = self.slots[0].and_then(|number| u32::try_from(number).ok());
        Ok(())
    }

    pub(in crate::dialect::fio) fn bool(&self, to: &mut bool) -> Applied {
        if let Some(number) = self.slots[0] {
            *to = number != 0;
        }
        Ok(())
    }

    pub(in crate::dialect::fio) fn time(&self, to: &mut Duration) -> Applied {
        if let Some(microseconds) = self.slots[0] {
            *to = duration(microseconds);
        }
        Ok(())
    }

    pub(in crate::dialect::fio) fn milliseconds(&self, to: &mut Duration) -> Applied {
        if let Some(milliseconds) = self.slots[0] {
            *to = Duration::from_millis(u64::try_from(milliseconds).unwrap_or_default());
        }
        Ok(())
    }

    pub(in crate::dialect::fio) fn three_u32(&self, to: &mut PerDirection<u32>) -> Applied {
        self.three(to, |number| u32::try_from(number).unwrap_or(u32::MAX))
    }

    pub(in crate::dialect::fio) fn three_u64(&self, to: &mut PerDirection<u64>) -> Applied {
        self.three(to, |number| u64::try_from(number).unwrap_or_default())
    }

    pub(in crate::dialect::fio) fn three_times(&self, to: &mut PerDirection<Duration>) -> Applied {
        self.three(to, duration)
    }

    fn three<T>(&self, to: &mut PerDirection<T>, make: impl Fn(i64) -> T) -> Applied {
        let places = [&mut to.read, &mut to.write, &mut to.trim];
        for (place, slot) in places.into_iter().zip(self.slots) {
            if let Some(number) = slot {
                *place = make(number);
            }
        }
        Ok(())
    }

    pub(in crate::dialect::fio) fn choice<T>(
        &self,
        to: &mut T,
        of: fn(&str) -> Option<T>,
    ) -> Applied {
        if let Some(chosen) = self.words.last().and_then(|word| of(word)) {
            *to = chosen;
        }
        Ok(())
    }

    pub(in crate::dialect::fio) fn some_text(&self, to: &mut Option<String>) -> Applied {
        *to = Some(self.text().into());
        Ok(())
    }

    /// The last part, as an amount of a file.
    pub(in crate::dialect::fio) fn amount(&self) -> FioAmount {
        match (self.zones, self.last) {
            (Some(zones), _) => FioAmount::Zones(zones),
            (None, Some(FioNumber { value, percent: true })) => {
                FioAmount::Percent(u8::try_from(value).unwrap_or(100))
            }
            (None, last) => {
                let value = last.map_or(0, |number| number.value);
                FioAmount::Bytes(u64::try_from(value).unwrap_or_default())
            }
        }
    }

    /// Two numbers: of the first part and of the last.
    pub(in crate::dialect::fio) fn first_and_last(&self) -> Option<(i64, i64)> {
        Some((self.slots[0]?, self.last?.value))
    }
}

pub fn duration(microseconds: i64) -> Duration {
    Duration::from_micros(u64::try_from(microseconds).unwrap_or_default())
}

/// The parts of a value: separated by the first kind of separator that is there, each time anew. fio
/// takes what is behind a minus sign, too, as another part.
pub fn parts(text: &str) -> Vec<&str> {
    if text.starts_with('(') {
        return vec![text];
    }
    let (mut parts, mut rest) = (Vec::new(), text);
    loop {
        let minus = || rest.get(1..).and_then(|tail| tail.find('-')).map(|at| at + 1);
        // A minus sign at the start is that of a negative number.
        let minus = || if rest.starts_with('-') { minus() } else { rest.find('-') };
        match rest.find(',').or_else(|| rest.find(':')).or_else(minus) {
            Some(at) => {
                parts.push(&rest[..at]);
                rest = &rest[at + 1..];
            }
            None => {
                parts.push(rest);
                return parts;
            }
        }
    }
}

/// The word of the list that a text begins with, up to a comma or colon.
fn find_word(
    name: &str,
    words: &'static [FioWord],
    kind: &FioKind,
    typed: &str,
) -> Result<&'static str, FioFault> {
    let head = typed.split([',', ':']).next().unwrap_or_default();
    if let Some(word) = words.iter().find(|word| word.name == head) {
        return Ok(word.name);
    }
    let nearest = near::nearest(head.trim(), words.iter().map(|word| word.name));
    Err(FioFault {
        told: kind.valid_values(),
        ..FioFault::new(
            format!("'{head}' is no value of '{name}'"),
            match nearest {
                Some(word) => format!("{name}={word}"),
                None => {
                    let all: Vec<_> = words.iter().map(|word| word.name).collect();
                    format!("{name} is one of {}", all.join(", "))
                }
            },
        )
    })
}

fn read_number(name: &str, part: &str, unit: FioUnit, kb_base: u32) -> Result<FioNumber, FioFault> {
    if part.ends_with('z') {
        return Err(FioFault::line(format!("{name}: 'z' suffix isn't applicable"), ""));
    }
    let number = match unit {
        FioUnit::Bytes => number::size(part, kb_base),
        FioUnit::Seconds | FioUnit::Microseconds => {
            let seconds = unit == FioUnit::Seconds;
            number::time(part, seconds).map(|value| FioNumber { value, percent: false })
        }
    };
    let number = number.map_err(|fault| no_number(name, part, fault))?;
    match number.percent {
        true => Err(FioFault::new(format!("'{name}' takes no percentage"), "a number")),
        false => Ok(number),
    }
}

fn in_range(name: &str, value: i64, least: i64, most: i64) -> Result<(), FioFault> {
    if value < 0 && least == 0 {
        return Err(negative(name, &value.to_string()));
    }
    if value > most {
        return Err(FioFault::line(
            format!("{name}: max value out of range: {value} ({most} max)"),
            format!("{name}={most}, or less"),
        ));
    }
    if value < least {
        return Err(FioFault::line(
            format!("{name}: min value out of range: {value} ({least} min)"),
            format!("{name}={least}, or more"),
        ));
    }
    Ok(())
}

fn negative(name: &str, part: &str) -> FioFault {
    FioFault::new(format!("'{name}={part}' is below zero"), "a number from 0 on")
}

fn no_number(name: &str, part: &str, fault: FioNumberFault) -> FioFault {
    match fault {
        FioNumberFault::None => FioFault::new(
            format!("'{part}' is no number"),
            format!("{name}=, digits and perhaps one of k, m, g, t"),
        ),
        FioNumberFault::TooLarge => {
            FioFault::new(format!("'{name}={part}' is too large"), "less than 2^63")
        }
    }
}

/// What `0`, `1` and other numbers mean to a switch.
fn truth(name: &str, part: &str, strict: bool) -> Result<FioNumber, FioFault> {
    let digits = part.trim_start();
    let end = digits
        .char_indices()
        .find(|(at, c)| !(c.is_ascii_digit() || *at == 0 && (*c == '-' || *c == '+')))
        .map_or(digits.len(), |(at, _)| at);
    let value: i64 = digits[..end].parse().map_err(|_| {
        let value = match digits.to_ascii_lowercase().as_str() {
            "no" | "false" | "off" => 0,
            _ => 1,
        };
        FioFault::new(format!("'{part}' is neither 0 nor 1"), format!("{name}={value}"))
    })?;
    if strict && value > 1 {
        return Err(FioFault {
            instead: format!("{name}=1"),
            why: format!("'{name}={part}' is neither 0 nor 1"),
            ..FioFault::line(format!("max value out of range: {value} (1 max)"), "")
        });
    }
    Ok(FioNumber { value, percent: false })
}

fn instead_of_nothing(name: &str, kind: &FioKind) -> String {
    match (kind, kind.words().first()) {
        (_, Some(word)) => format!("{name}={}", word.name),
        (FioKind::Bool, _) => format!("{name}=1"),
        _ => format!("{name}=VALUE"),
    }
}

/// The number that a text begins with, as `scanf` reads it.
pub fn leading_float(text: &str) -> Option<f64> {
    let text = text.trim_start();
    let mut end = 0;
    for (at, c) in text.char_indices() {
        if !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E')) {
            break;
        }
        if text[..=at].parse::<f64>().is_ok() {
            end = at + 1;
        }
    }
    text[..end].parse().ok().filter(|number: &f64| number.is_finite())
}

/// Digits behind the first point.
fn decimals(text: &str) -> u32 {
    let behind = text.split_once('.').map_or("", |(_, behind)| behind);
    behind.chars().take_while(char::is_ascii_digit).count() as u32
}

/// The count that a text begins with, as `atoi` reads it; nothing is 0.
pub fn leading_count(text: &str) -> u32 {
    let digits: String = text.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(if digits.is_empty() { 0 } else { u32::MAX })
}
