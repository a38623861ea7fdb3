//! Sizes, rates and seconds as GNU dd rounds them.

use assay_plan::unit::{Bytes, Nanos};

/// Letters of the powers; the first power of 1000 is a small k.
const POWERS: [&str; 9] = ["", "K", "M", "G", "T", "P", "E", "Z", "Y"];

fn unit(power: usize, base: u64) -> String {
    match (power, base) {
        (0, _) => "B".into(),
        (1, 1000) => "kB".into(),
        (_, 1000) => format!("{}B", POWERS[power]),
        _ => format!("{}iB", POWERS[power]),
    }
}

/// `numerator / denominator` to the nearest whole number, ties to even.
fn nearest(numerator: u128, denominator: u128) -> u128 {
    let (whole, rest) = (numerator / denominator, numerator % denominator);
    match (rest * 2).cmp(&denominator) {
        std::cmp::Ordering::Less => whole,
        std::cmp::Ordering::Greater => whole + 1,
        std::cmp::Ordering::Equal => whole + whole % 2,
    }
}

/// A size in powers of `base` (1000 or 1024): one decimal below ten, none above.
pub fn human(size: Bytes, base: u64) -> String {
    exact(u128::from(size.0), 1, base)
}

/// The fraction `numerator / denominator` as a size is written.
fn exact(numerator: u128, denominator: u128, base: u64) -> String {
    let wide = u128::from(base);
    let mut power = 0;
    let mut scale = denominator;
    while numerator / scale >= wide && power + 1 < POWERS.len() {
        scale *= wide;
        power += 1;
    }
    // Below ten, tenths; but only behind a multiple.
    if power > 0 && numerator / scale < 10 {
        let tenths = nearest(numerator * 10, scale);
        if tenths < 100 {
            return format!("{}.{} {}", tenths / 10, tenths % 10, unit(power, base));
        }
        return format!("10 {}", unit(power, base));
    }
    let whole = nearest(numerator, scale);
    if whole == wide && power + 1 < POWERS.len() {
        return format!("1.0 {}", unit(power + 1, base));
    }
    format!("{whole} {}", unit(power, base))
}

/// `size` over `time` in powers of 1000 per second.
///
/// Where one second divides the time or the time divides it, a rate is written as a size is;
/// otherwise at least in kB, with one decimal below a hundred.
pub fn rate(size: Bytes, time: Nanos) -> String {
    const SECOND: u64 = 1_000_000_000;
    if time.0 == 0 {
        return "Infinity B/s".into();
    }
    let numerator = u128::from(size.0) * u128::from(SECOND);
    let denominator = u128::from(time.0);
    if SECOND.is_multiple_of(time.0) || time.0.is_multiple_of(SECOND) {
        return format!("{}/s", exact(numerator, denominator, 1000));
    }
    let mut power = 1;
    let mut scale = denominator * 1000;
    while numerator / scale >= 1000 && power + 1 < POWERS.len() {
        scale *= 1000;
        power += 1;
    }
    let tenths = nearest(numerator * 10, scale);
    if tenths < 1000 {
        format!("{}.{} {}/s", tenths / 10, tenths % 10, unit(power, 1000))
    } else {
        format!("{} {}/s", nearest(numerator, scale), unit(power, 1000))
    }
}

/// A number as C's `%g` writes it: six digits, no zeros behind them, an exponent where the number
/// is very small or large.
pub fn general(number: f64) -> String {
    if number == 0.0 {
        return "0".into();
    }
    let scientific = format!("{number:.5e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let strip = |text: &str| -> String {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').into()
        } else {
            text.into()
        }
    };
    if (-4..6).contains(&exponent) {
        let decimals = usize::try_from(5 - exponent).unwrap_or(0);
        return strip(&format!("{number:.decimals$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", strip(digits), exponent.abs())
}

/// A number in powers of 1024 with one decimal and no blank, as BusyBox writes it.
pub(super) fn busybox(number: u64) -> String {
    let (mut number, mut tenths, mut power) = (number, 0, 0);
    while number >= 1024 && power + 1 < POWERS.len() {
        tenths = ((number % 1024) * 10 + 512) / 1024;
        number /= 1024;
        power += 1;
    }
    if power == 0 {
        return number.to_string();
    }
    if tenths >= 10 {
        (number, tenths) = (number + 1, 0);
    }
    format!("{number}.{tenths}{}", POWERS[power])
}
