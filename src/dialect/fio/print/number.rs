//! Numbers as fio shows them: a few digits, a prefix of thousands, a unit.

/// What a number counts, which decides the unit behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioQuantity {
    /// A bare number: `18.9k`.
    Count,
    /// Bytes: `64.0KiB`.
    Bytes,
    /// Bytes per second: `73.7MiB/s`.
    ByteRate,
    /// Bytes per second, shown as bits per second: `590Mibit/s`.
    BitRate,
}

impl FioQuantity {
    fn unit(self) -> &'static str {
        match self {
            Self::Count => "",
            Self::Bytes => "B",
            Self::ByteRate => "B/s",
            Self::BitRate => "bit/s",
        }
    }
}

const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL: [&str; 7] = ["", "k", "M", "G", "T", "P", "E"];

/// A number in at most `digits` characters (1..=10, its point counts as one), then prefix and unit.
///
/// `thousands` is how many prefixes the number has already been divided by: 1 of a number in KiB. `binary`
/// prefixes go by 1024, the others by 1000. Where no decimals fit, the last digit is rounded half up.
pub fn scaled(
    number: u64,
    digits: usize,
    thousands: usize,
    binary: bool,
    quantity: FioQuantity,
) -> String {
    let (prefixes, thousand) = if binary { (BINARY, 1024) } else { (DECIMAL, 1000) };
    let mut whole = if quantity == FioQuantity::BitRate { number.wrapping_mul(8) } else { number };
    let (mut prefix, mut rest) = (thousands, None);
    while prefix < prefixes.len() && width(whole) > digits {
        rest = Some(whole % thousand);
        whole /= thousand;
        prefix += 1;
    }
    let prefix = prefixes.get(prefix).unwrap_or(&"");
    let room = digits.saturating_sub(width(whole));
    let fraction = match rest {
        Some(rest) if room > 1 => {
            let fraction = format!("{:.*}", room - 1, rest as f64 / thousand as f64);
            whole += u64::from(fraction.starts_with('1'));
            fraction[1..].to_string()
        }
        Some(rest) => {
            whole += u64::from(rest >= thousand / 2);
            String::new()
        }
        None => String::new(),
    };
    format!("{whole}{fraction}{prefix}{}", quantity.unit())
}

fn width(number: u64) -> usize {
    number.checked_ilog10().map_or(1, |log| log as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_as_fio_shows_them() {
        let bytes = |number, binary| scaled(number, 4, 0, binary, FioQuantity::Bytes);
        assert_eq!(bytes(4096, true), "4096B");
        assert_eq!(bytes(16384, true), "16.0KiB");
        assert_eq!(bytes(65536, true), "64.0KiB");
        assert_eq!(bytes(1 << 20, true), "1024KiB");
        assert_eq!(bytes(540_672, true), "528KiB");
        assert_eq!(bytes(540_672, false), "541kB");
        assert_eq!(scaled(18_857, 4, 0, false, FioQuantity::Count), "18.9k");
        assert_eq!(scaled(9_655_600, 6, 0, false, FioQuantity::Count), "9655.6k");
        assert_eq!(scaled(19_960, 4, 0, false, FioQuantity::Count), "20.0k");
        assert_eq!(scaled(2_931_712, 4, 1, true, FioQuantity::ByteRate), "2863MiB/s");
        assert_eq!(scaled(1_000, 4, 1, true, FioQuantity::BitRate), "8000Kibit/s");
        assert_eq!(scaled(12_345, 1, 0, false, FioQuantity::Count), "0M");
        assert_eq!(scaled(0, 4, 0, true, FioQuantity::ByteRate), "0B/s");
    }

    proptest! {
        #[test]
        fn a_shown_number_is_the_number_to_its_last_digit(number: u64, binary: bool, digits in 4_usize..=10) {
            let shown = scaled(number, digits, 0, binary, FioQuantity::Count);
            let end = shown.find(|c: char| c.is_alphabetic()).unwrap_or(shown.len());
            let prefixes = if binary { BINARY } else { DECIMAL };
            let power = prefixes.iter().position(|prefix| *prefix == &shown[end..]).expect("a prefix");
            let unit = if binary { 1024_f64 } else { 1000.0 }.powi(power as i32);
            let read: f64 = shown[..end].parse().expect("a number");
            let decimals = shown[..end].split_once('.').map_or(0, |(_, tail)| tail.len());
            let step = 0.1_f64.powi(decimals as i32);
            let error = (read - number as f64 / unit).abs();
            // What is below the last division is cut off before the rounding.
            let cut = if power > 1 { 0.001 } else { 0.0 };
            prop_assert!(error <= step * 0.501 + cut + number as f64 / unit * 1e-12, "{number} {shown}");
            prop_assert!(end <= digits + 1, "{shown}");
        }
    }
}
