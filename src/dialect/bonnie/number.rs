//! Numbers as Bonnie++ writes them. What `atoi` would read as 0 is none here.

/// Suffixes and what they multiply by.
pub(super) type UnitSuffixes = &'static [(char, u64)];

/// `-s`: MiB.
pub(super) const OF_MIB: UnitSuffixes = &[('g', 1 << 10), ('t', 1 << 20)];
/// `-s` of 1.03.
pub(super) const OF_MIB_OLD: UnitSuffixes = &[('g', 1 << 10)];
pub(super) const OF_BYTES: UnitSuffixes = &[('k', 1 << 10), ('m', 1 << 20), ('g', 1 << 30)];
pub(super) const THOUSANDS: UnitSuffixes = &[('k', 1 << 10)];
/// Files of `-n`, in units of 1024.
pub(super) const OF_FILES: UnitSuffixes = &[('m', 1 << 10)];
/// None.
pub(super) const PLAIN: UnitSuffixes = &[];

/// A whole number, not below zero, with at most one of these suffixes; `None` of any other text.
pub(super) fn number(text: &str, units: UnitSuffixes) -> Option<u64> {
    let last = text.chars().next_back()?.to_ascii_lowercase();
    let unit = units.iter().find(|(letter, _)| *letter == last);
    let (digits, factor) = match unit {
        Some((_, factor)) => (&text[..text.len() - 1], *factor),
        None => (text, 1),
    };
    // `parse` takes a sign.
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// Bytes as tables and lines have them: `64k`, `1m`, `512`.
pub(super) fn bytes(bytes: u64, megabytes: bool) -> String {
    match bytes {
        _ if megabytes && bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => {
            format!("{}m", bytes >> 20)
        }
        _ if bytes >= 1 << 10 && bytes.is_multiple_of(1 << 10) => format!("{}k", bytes >> 10),
        _ => bytes.to_string(),
    }
}

/// MiB as tables and lines have them: `8G`, `300M`.
pub(super) fn size(mib: u64) -> String {
    match mib.is_multiple_of(1024) {
        true => format!("{}G", mib / 1024),
        false => format!("{mib}M"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_multiply_and_nothing_else_is_a_number() {
        assert_eq!(number("300", OF_MIB), Some(300));
        assert_eq!(number("2G", OF_MIB), Some(2048));
        assert_eq!(number("1t", OF_MIB), Some(1 << 20));
        assert_eq!(number("64k", OF_BYTES), Some(65536));
        for text in ["", "k", "x", "-1", "+1", "1 ", "1kk", "1t", "99999999999999999999", "1.5"] {
            assert_eq!(number(text, OF_BYTES), None, "{text}");
        }
        assert_eq!(number("18446744073709551615k", OF_BYTES), None);
    }

    #[test]
    fn sizes_are_said_in_the_largest_whole_unit() {
        assert_eq!([size(300), size(1024), size(8192)], ["300M", "1G", "8G"]);
        assert_eq!(
            [bytes(512, true), bytes(65536, true), bytes(1 << 20, true)],
            ["512", "64k", "1m"]
        );
        assert_eq!(bytes(1 << 20, false), "1024k");
    }
}
