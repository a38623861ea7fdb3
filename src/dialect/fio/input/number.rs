//! Numbers with suffixes, exactly as fio reads them, and what people mean by them.

use super::expression;

const SECOND: i64 = 1_000_000;

/// A number that fio read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FioNumber {
    /// The number; of a percentage the number before the sign.
    pub value: i64,
    /// Whether a percent sign followed.
    pub percent: bool,
}

/// Why a text is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioNumberFault {
    /// It begins with no number.
    None,
    /// It is beyond 2^63.
    TooLarge,
}

/// A size or count: `0x`, digits, a suffix. `kib` is 1000 where `kb_base` is 1024: fio has it that way round.
pub fn size(text: &str, kb_base: u32) -> Result<FioNumber, FioNumberFault> {
    if let Some(value) = expression::of(text, expression::Implied::Bytes) {
        return Ok(FioNumber { value, percent: false });
    }
    let number = digits(text)?;
    match multiplier(text, kb_base) {
        None => Ok(FioNumber { value: number, percent: true }),
        Some(times) => number
            .checked_mul(times)
            .map(|value| FioNumber { value, percent: false })
            .ok_or(FioNumberFault::TooLarge),
    }
}

/// A time in microseconds; a number alone is seconds or microseconds.
pub fn time(text: &str, seconds: bool) -> Result<i64, FioNumberFault> {
    let implied = match seconds {
        true => expression::Implied::Seconds,
        false => expression::Implied::Microseconds,
    };
    if let Some(value) = expression::of(text, implied) {
        // Of an expression in seconds fio keeps whole ones only.
        return Ok(if seconds { value / SECOND * SECOND } else { value });
    }
    let number = digits(text)?;
    number.checked_mul(time_multiplier(text, seconds)).ok_or(FioNumberFault::TooLarge)
}

/// What `strtoll` makes of a text; hexadecimal wherever `0x` is in it.
fn digits(text: &str) -> Result<i64, FioNumberFault> {
    let hexadecimal = text.contains("0x") || text.contains("0X");
    let rest = text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
    let (negative, rest) = match rest.as_bytes().first() {
        Some(b'-') => (true, &rest[1..]),
        Some(b'+') => (false, &rest[1..]),
        _ => (false, rest),
    };
    let bare = if hexadecimal {
        rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X"))
    } else {
        None
    };
    let (radix, rest, prefixed) =
        (if hexadecimal { 16 } else { 10 }, bare.unwrap_or(rest), bare.is_some());
    let end = rest.find(|c: char| !c.is_digit(radix)).unwrap_or(rest.len());
    if end == 0 {
        // `0x` alone is a zero with something behind it.
        return if prefixed { Ok(0) } else { Err(FioNumberFault::None) };
    }
    let value = i64::from_str_radix(&rest[..end], radix).map_err(|_| FioNumberFault::TooLarge)?;
    Ok(if negative { -value } else { value })
}

/// Where fio looks for a suffix: behind digits and signs from the very start of the text.
fn suffix(text: &str, signs_anywhere: bool) -> &str {
    let mut digit_seen = false;
    let end = text.find(|c: char| {
        let sign = (c == '+' || c == '-') && (signs_anywhere || !digit_seen);
        digit_seen |= c.is_ascii_digit();
        !c.is_ascii_digit() && !sign
    });
    &text[end.unwrap_or(text.len())..]
}

/// What a suffix of a size multiplies by; none is that it is a percent sign.
fn multiplier(text: &str, kb_base: u32) -> Option<i64> {
    // A text of one character has its suffix at its start, by the same rule.
    let suffix = suffix(text, false);
    let word: String = suffix
        .chars()
        .take_while(|c| !matches!(c, ':' | '-' | ',' | '/'))
        .map(|c| c.to_ascii_lowercase())
        .collect();
    if word.starts_with('%') {
        return None;
    }
    let power = match word.as_bytes().first() {
        Some(b'k') => 1,
        Some(b'm') => 2,
        Some(b'g') => 3,
        Some(b't') => 4,
        Some(b'p') => 5,
        _ => return Some(1),
    };
    let inverted = word.get(1..3) == Some("ib");
    let base: i64 = match (kb_base, inverted) {
        (1000, false) | (1024, true) => 1000,
        _ => 1024,
    };
    Some(base.pow(power))
}

/// What a suffix of a time multiplies by.
fn time_multiplier(text: &str, seconds: bool) -> i64 {
    let suffix = suffix(text, true);
    if !suffix.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return if seconds { SECOND } else { 1 };
    }
    let word = suffix.to_ascii_lowercase();
    match word.as_str() {
        _ if word.starts_with("us") => 1,
        _ if word.starts_with("ms") => 1000,
        "s" => SECOND,
        "m" => 60 * SECOND,
        "h" => 3600 * SECOND,
        "d" => 86_400 * SECOND,
        // Any other letters are taken, and mean nothing.
        _ => 1,
    }
}

/// What people mean by a size; none where nobody could say.
pub(super) fn meant_size(text: &str, kb_base: u32) -> Option<i64> {
    let (number, unit) = meant(text)?;
    let (power, rest) = match unit.chars().next() {
        Some('k') => (1, &unit[1..]),
        Some('m') => (2, &unit[1..]),
        Some('g') => (3, &unit[1..]),
        Some('t') => (4, &unit[1..]),
        Some('p') => (5, &unit[1..]),
        _ => (0, unit.as_str()),
    };
    let base: i64 = match rest {
        "i" | "ib" => 1024,
        "" | "b" if power > 0 && kb_base == 1000 => 1000,
        "" | "b" | "byte" | "bytes" => 1024,
        _ => return None,
    };
    whole(number * base.pow(power) as f64)
}

/// What people mean by a time, in microseconds.
pub(super) fn meant_time(text: &str, seconds: bool) -> Option<i64> {
    let (number, unit) = meant(text)?;
    let times = match unit.as_str() {
        "" => return whole(number * if seconds { SECOND as f64 } else { 1.0 }),
        "us" | "usec" | "usecs" | "microseconds" => 1,
        "ms" | "msec" | "msecs" | "milliseconds" => 1000,
        "s" | "sec" | "secs" | "second" | "seconds" => SECOND,
        "m" | "min" | "mins" | "minute" | "minutes" => 60 * SECOND,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600 * SECOND,
        "d" | "day" | "days" => 86_400 * SECOND,
        _ => return None,
    };
    whole(number * times as f64)
}

/// A number, whole or not, and the letters behind it.
fn meant(text: &str) -> Option<(f64, String)> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    Some((number, text[end..].trim().to_ascii_lowercase()))
}

/// Whether there is anything behind the point of a number.
pub(super) fn has_fraction(text: &str) -> bool {
    meant(text).is_some_and(|(number, _)| number.fract() != 0.0)
}

/// A number without a fraction, where it is in range.
fn whole(number: f64) -> Option<i64> {
    (0.0..9e18).contains(&number).then_some(number.round() as i64)
}

/// A size as fio writes it: the largest suffix that divides it.
pub(super) fn written_size(bytes: i64, kb_base: u32) -> String {
    let base = i64::from(kb_base.max(2));
    let (mut number, mut power) = (bytes, 0);
    while number != 0 && number % base == 0 && power < 5 {
        (number, power) = (number / base, power + 1);
    }
    format!("{number}{}", ["", "k", "m", "g", "t", "p"][power])
}

/// A time as fio writes it.
pub(super) fn written_time(microseconds: i64) -> String {
    for (size, unit) in [
        (86_400 * SECOND, "d"),
        (3600 * SECOND, "h"),
        (60 * SECOND, "m"),
        (SECOND, "s"),
        (1000, "ms"),
    ] {
        if microseconds != 0 && microseconds % size == 0 {
            return format!("{}{unit}", microseconds / size);
        }
    }
    format!("{microseconds}us")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(text: &str) -> i64 {
        size(text, 1024).expect(text).value
    }

    #[test]
    fn sizes_are_read_as_fio_reads_them() {
        let table: &[(&str, i64)] = &[
            ("4096", 4096),
            ("8k", 8192),
            ("8K", 8192),
            ("8kb", 8192),
            ("8ki", 8192),
            ("8kib", 8000),
            ("8KiB", 8000),
            ("1m", 1 << 20),
            ("1MiB", 1_000_000),
            ("2g", 2 << 30),
            ("1t", 1 << 40),
            ("1p", 1 << 50),
            ("0x10", 16),
            ("0x10k", 16),
            ("8k+4k", 8192),
            (" 8k", 8),
            ("1.5g", 1),
            ("8x", 8),
            ("-4k", -4096),
            ("8k/50", 8192),
            ("8k:16k", 8192),
            ("(2*8k)", 16384),
            ("0", 0),
        ];
        for (text, expected) in table {
            assert_eq!(bytes(text), *expected, "{text}");
        }
        assert_eq!(size("8kib", 1000).map(|number| number.value), Ok(8192));
        assert_eq!(size("8kb", 1000).map(|number| number.value), Ok(8000));
        assert_eq!(size("50%", 1024), Ok(FioNumber { value: 50, percent: true }));
        for text in ["", "banana", "k", "-", "k8"] {
            assert_eq!(size(text, 1024), Err(FioNumberFault::None), "{text}");
        }
        assert_eq!(size("9999999999999999999", 1024), Err(FioNumberFault::TooLarge));
        assert_eq!(size("99999999p", 1024), Err(FioNumberFault::TooLarge));
    }

    #[test]
    fn times_are_read_as_fio_reads_them() {
        let table: &[(&str, bool, i64)] = &[
            ("30", true, 30 * SECOND),
            ("30", false, 30),
            ("30s", true, 30 * SECOND),
            ("30s", false, 30 * SECOND),
            ("2m", true, 120 * SECOND),
            ("1h", true, 3600 * SECOND),
            ("1d", true, 86_400 * SECOND),
            ("500ms", true, 500_000),
            ("500msec", true, 500_000),
            ("500us", true, 500),
            ("1sec", true, 1),
            ("10min", true, 10),
            ("0.5", true, 0),
            ("1.5s", true, SECOND),
            (" 10m", true, 10 * SECOND),
            ("(2*30)", true, 60 * SECOND),
            ("(1500ms)", true, SECOND),
        ];
        for (text, seconds, expected) in table {
            assert_eq!(time(text, *seconds), Ok(*expected), "{text}");
        }
        assert_eq!(time("banana", true), Err(FioNumberFault::None));
    }

    #[test]
    fn what_people_mean_is_known_where_it_can_be() {
        assert_eq!(meant_size(" 8k", 1024), Some(8192));
        assert_eq!(meant_size("8KiB", 1024), Some(8192));
        assert_eq!(meant_size("8KiB", 1000), Some(8192));
        assert_eq!(meant_size("8kB", 1000), Some(8000));
        assert_eq!(meant_size("1.5g", 1024), Some(1_610_612_736));
        assert_eq!(meant_size("8x", 1024), None);
        assert_eq!(meant_time("1sec", true), Some(SECOND));
        assert_eq!(meant_time("10 min", true), Some(600 * SECOND));
        assert_eq!(meant_time("0.5", true), Some(500_000));
        assert_eq!(written_size(8192, 1024), "8k");
        assert_eq!(written_size(1_610_612_736, 1024), "1536m");
        assert_eq!(written_size(0, 1024), "0");
        assert_eq!(written_time(600 * SECOND), "10m");
        assert_eq!(written_time(500_000), "500ms");
    }

    proptest! {
        #[test]
        fn a_number_and_a_suffix_are_their_product(number in 0_i64..1_000_000, unit in 0_usize..6, upper: bool) {
            let suffix = ["", "k", "m", "g", "t", "p"][unit];
            let suffix = if upper { suffix.to_uppercase() } else { suffix.to_string() };
            let expected = i128::from(number) << (10 * unit);
            let read = size(&format!("{number}{suffix}"), 1024);
            match i64::try_from(expected) {
                Ok(expected) => prop_assert_eq!(read, Ok(FioNumber { value: expected, percent: false })),
                Err(_) => prop_assert_eq!(read, Err(FioNumberFault::TooLarge)),
            }
        }

        #[test]
        fn what_is_written_is_read_back(bytes in 0_i64..i64::MAX) {
            prop_assert_eq!(size(&written_size(bytes, 1024), 1024).map(|n| n.value), Ok(bytes));
        }

        #[test]
        fn no_text_is_too_much(text in ".{0,40}", base in prop::sample::select(vec![1000_u32, 1024])) {
            let _ = (size(&text, base), time(&text, true), time(&text, false));
            let _ = (meant_size(&text, base), meant_time(&text, true));
        }
    }
}
