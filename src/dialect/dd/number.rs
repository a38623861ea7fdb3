//! Numbers as the two dds read them.

/// Why a text is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberError {
    /// Not the form of one.
    Form,
    Large,
}

/// The largest number of GNU dd.
pub(super) const MAX: u64 = i64::MAX as u64;

/// A number of GNU dd: a product of numbers with their suffixes; also whether one of them is `0x` by mistake.
pub(super) fn gnu(text: &str) -> Result<(u64, bool), NumberError> {
    let (mut product, mut too_large, mut mistaken) = (1_u64, false, false);
    let mut rest = text;
    loop {
        let (number, large, after) = factor(rest)?;
        let next = after.strip_prefix('x');
        let large = large || number > MAX;
        if next.is_none() && !after.is_empty() && !large {
            return Err(NumberError::Form);
        }
        match product.checked_mul(number) {
            // Nothing times whatever is nothing.
            _ if number == 0 || product == 0 => product = 0,
            Some(more) if !large && !too_large && more <= MAX => product = more,
            _ => too_large = true,
        }
        let Some(next) = next else { break };
        mistaken |= rest.starts_with("0x");
        rest = next;
    }
    match product {
        0 => Ok((0, mistaken)),
        _ if too_large => Err(NumberError::Large),
        _ => Ok((product, false)),
    }
}

/// A number with its suffix at the head of a text: its value, whether that is too large, and what
/// follows it.
fn factor(text: &str) -> Result<(u64, bool, &str), NumberError> {
    let text = text.trim_start_matches(|char: char| char.is_ascii_whitespace() || char == '\x0b');
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = unsigned.split_at(digits);
    let (mut value, mut large) = match (number, number.parse::<u64>()) {
        // A multiplier alone counts once, but not behind a sign.
        ("", _) if unsigned.len() == text.len() && multiplier(rest).is_some() => (1, false),
        ("", _) => return Err(NumberError::Form),
        (_, Ok(value)) => (value, false),
        (_, Err(_)) => (u64::MAX, true),
    };
    let mut rest = rest;
    let mut ends_in_bytes = false;
    if let Some((factor, len)) = multiplier(rest) {
        let product = u128::from(value).saturating_mul(factor);
        match u64::try_from(product) {
            Ok(product) => value = product,
            Err(_) => (value, large) = (u64::MAX, true),
        }
        ends_in_bytes = rest.as_bytes()[len - 1] == b'B';
        rest = &rest[len..];
    }
    // A B that says bytes, once.
    if !ends_in_bytes && let Some(after) = rest.strip_prefix('B') {
        rest = after;
    }
    Ok((value, large, rest))
}

/// The multiplier at the head of a text, and its length.
fn multiplier(text: &str) -> Option<(u128, usize)> {
    let power = match text.bytes().next()? {
        b'c' => return Some((1, 1)),
        b'w' => return Some((2, 1)),
        b'b' => return Some((512, 1)),
        b'k' | b'K' => 1,
        b'M' => 2,
        b'G' => 3,
        b'T' => 4,
        b'P' => 5,
        b'E' => 6,
        b'Z' => 7,
        b'Y' => 8,
        b'R' => 9,
        b'Q' => 10,
        _ => return None,
    };
    let (base, len) = match &text.as_bytes()[1..] {
        [b'i', b'B', ..] => (1024u128, 3),
        [b'B' | b'D', ..] => (1000, 2),
        _ => (1024, 1),
    };
    Some((base.pow(power), len))
}

/// A number of BusyBox dd.
pub(super) fn busybox(text: &str) -> Result<u64, NumberError> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, suffix) = text.split_at(digits);
    if number.is_empty() {
        return Err(NumberError::Form);
    }
    let factor = match suffix {
        "" | "c" => 1,
        "w" => 2,
        "b" => 512,
        "kB" | "kD" | "KB" | "KD" => 1_000,
        "k" | "K" => 1 << 10,
        "MB" | "MD" => 1_000_000,
        "M" => 1 << 20,
        "GB" | "GD" => 1_000_000_000,
        "G" => 1 << 30,
        _ => return Err(NumberError::Form),
    };
    let number: u64 = number.parse().map_err(|_| NumberError::Form)?;
    number.checked_mul(factor).ok_or(NumberError::Large)
}
