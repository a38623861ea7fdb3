//! Words as people type them: times, and signs that a page or a phone made of those that were typed, dashes and
//! quotes that no shell and no tool takes.

use assay_plan::error::Refusal;
use assay_plan::name::{quoted, tamed};
use assay_plan::unit::Nanos;

/// A word with signs of that kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignSign {
    /// The first of them, by its name.
    pub what: String,
    /// The word as it was meant.
    pub meant: String,
}

const DASHES: &[(char, &str)] = &[
    ('\u{2010}', "a hyphen"),
    ('\u{2011}', "a hyphen"),
    ('\u{2012}', "a figure dash"),
    ('\u{2013}', "an en dash"),
    ('\u{2014}', "an em dash"),
    ('\u{2212}', "a minus sign"),
];

/// What is meant by a word that begins with another dash, or has curly quotes around something.
pub fn foreign(word: &str) -> Option<ForeignSign> {
    let dash = |sign: char| DASHES.iter().find(|(dash, _)| *dash == sign);
    let is_quote = |sign: char| "\u{201c}\u{201d}\u{201e}\u{2018}\u{2019}\u{201a}".contains(sign);
    let first = word.chars().next()?;
    let quote = word.chars().find(|sign| is_quote(*sign));
    let leading: String = word.chars().take_while(|sign| dash(*sign).is_some()).collect();
    let (sign, name) = match (dash(first), quote) {
        (Some((sign, name)), _) if word.len() > first.len_utf8() => (*sign, *name),
        (_, Some(sign)) => (sign, "a curly quote"),
        _ => return None,
    };
    // A long dash is often made of two.
    let long =
        word[leading.len()..].chars().take_while(|sign| sign.is_ascii_alphabetic()).count() > 1;
    let dashes = match (leading.is_empty(), long && word.contains('=')) {
        (true, _) => "",
        (_, true) => "--",
        _ => "-",
    };
    let dashes = if leading.chars().count() > 1 { "--" } else { dashes };
    let rest = word[leading.len()..].chars().filter(|sign| !is_quote(*sign));
    let meant = format!("{dashes}{}", rest.collect::<String>());
    Some(ForeignSign { what: format!("{name} (U+{:04X})", u32::from(sign)), meant })
}

/// The first word of a refused line that has such signs, in a line of ours.
pub fn told(words: &[String]) -> String {
    refused(words).map_or_else(String::new, |refusal| format!("assay: {}\n", one_line(&refusal)))
}

/// The same as a refusal.
pub fn refused(words: &[String]) -> Option<Refusal> {
    let (word, found) = words.iter().find_map(|word| Some((word, foreign(word)?)))?;
    Some(Refusal::new(
        format!("'{word}' holds {}, which no tool knows", found.what),
        format!("write {}", quoted(&found.meant)),
    ))
}

/// A refusal as it is said: in one line, whatever words of others are in it.
pub fn one_line(refusal: &Refusal) -> String {
    tamed(&refusal.to_string()).into()
}

/// A time as people type it: `30`, `30s`, `5m`, `1h`.
pub fn time(text: &str) -> Result<Nanos, String> {
    within(text, seconds(text), Nanos::secs(1), "1s to 168h, such as 30, 90s, 5m or 1h")
}

/// The same of a load, which may be short: `500ms`, too. Less is over before anything of it is counted.
pub fn short_time(text: &str) -> Result<Nanos, String> {
    let time = match text.strip_suffix("ms") {
        Some(digits) => digits.parse().ok().map(|number: u64| (number, 1_000_000)),
        None => seconds(text),
    };
    within(text, time, Nanos::millis(100), "100ms to 168h, such as 500ms, 30, 90s, 5m or 1h")
}

/// A number, and the nanoseconds of its unit.
fn seconds(text: &str) -> Option<(u64, u64)> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match &text[digits.len()..] {
        "" | "s" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        _ => return None,
    };
    Some((digits.parse().ok()?, scale * 1_000_000_000))
}

/// A time from `least` to a week.
fn within(
    text: &str,
    time: Option<(u64, u64)>,
    least: Nanos,
    range: &str,
) -> Result<Nanos, String> {
    let (number, scale) = time.ok_or_else(|| format!("'{text}' is not a time; give {range}"))?;
    match number.saturating_mul(scale) {
        nanos if nanos < least.0 => Err(format!("'{text}' is too short; give {range}")),
        nanos if nanos > WEEK.0 => Err(format!("'{text}' is too long; give {range}")),
        nanos => Ok(Nanos(nanos)),
    }
}

const WEEK: Nanos = Nanos::secs(604_800);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_pages_are_those_that_were_typed() {
        let told = |word: &str| foreign(word).map(|found| (found.what, found.meant));
        let known = |what: &str, meant: &str| Some((what.to_string(), meant.to_string()));
        assert_eq!(told("–m"), known("an en dash (U+2013)", "-m"));
        assert_eq!(told("—name=a"), known("an em dash (U+2014)", "--name=a"));
        assert_eq!(told("––name"), known("an en dash (U+2013)", "--name"));
        assert_eq!(told("−s64m"), known("a minus sign (U+2212)", "-s64m"));
        assert_eq!(told("of=“x”"), known("a curly quote (U+201C)", "of=x"));
        assert_eq!(told("-m"), None);
        assert_eq!(told("–"), None);
        assert_eq!(told("a–b"), None);
    }

    #[test]
    fn times_are_read_as_people_type_them() {
        for (text, seconds) in [("30", 30), ("90s", 90), ("5m", 300), ("1h", 3600)] {
            assert_eq!(time(text), Ok(Nanos::secs(seconds)));
        }
        for text in ["", "0", "s", "-1", "5x", "1.5", "99999999h", "99999999999999999999h"] {
            assert!(time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_load_may_take_less_than_a_second() {
        for (text, millis) in [("100ms", 100), ("500ms", 500), ("2", 2000), ("1m", 60_000)] {
            assert_eq!(short_time(text), Ok(Nanos::millis(millis)));
        }
        for bad in ["99ms", "0ms", "ms", "-5ms", "1.5ms", "0", "999999999999ms"] {
            assert!(short_time(bad).is_err(), "{bad}");
        }
    }
}
