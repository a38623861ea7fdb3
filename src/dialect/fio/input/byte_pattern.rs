//! Patterns of bytes: `0xdeadbeef`, `-100`, `"text"`, `%o`, one behind the other.

use crate::dialect::fio::job::{FioBytePattern, FioFault};
use assay_plan::name;

/// A pattern, bytes, at most.
const LONGEST: usize = 512 * 1024;

/// The files whose contents are part of a pattern, in their order: `'FILE'`.
pub fn quoted(text: &str) -> Vec<&str> {
    let (mut files, mut rest) = (Vec::new(), text);
    while let Some(at) = rest.find(['"', '\'']) {
        let mark = &rest[at..=at];
        let Some((inside, behind)) = rest[at + 1..].split_once(mark) else { break };
        if mark == "'" {
            files.push(inside);
        }
        rest = behind;
    }
    files
}

/// Reads a pattern. `%o` is the offset of a block, where an option has it; `files` are the contents of the
/// files that are quoted in it.
pub fn read(
    name: &str,
    text: &str,
    offsets: bool,
    files: &[Vec<u8>],
) -> Result<FioBytePattern, FioFault> {
    let mut files = files.iter();
    let bad = |part: &str| {
        let part: String = part.chars().take(20).collect();
        FioFault::new(
            format!("'{part}' is no pattern of '{name}'"),
            "0x and hexadecimal digits, a decimal number, \"text\" or 'FILE'",
        )
    };
    let mut pattern = FioBytePattern::default();
    let mut rest = text;
    while !rest.is_empty() {
        let before = rest;
        match rest.as_bytes()[0] {
            b'"' => {
                let (inside, behind) = rest[1..].split_once('"').ok_or_else(|| bad(before))?;
                pattern.bytes.extend_from_slice(&name::bytes(inside));
                rest = behind;
            }
            b'\'' => {
                let (_, behind) = rest[1..].split_once('\'').ok_or_else(|| bad(before))?;
                let content = files.next().filter(|content| !content.is_empty());
                let content = content.ok_or_else(|| bad(before))?;
                pattern.bytes.extend_from_slice(&content[..content.len().min(LONGEST)]);
                rest = behind;
            }
            b'%' if offsets && rest.starts_with("%o") => {
                pattern.offsets.push(pattern.bytes.len());
                pattern.bytes.extend_from_slice(&[0; 8]);
                rest = &rest[2..];
            }
            _ => {
                let (bytes, behind) = number(rest).ok_or_else(|| bad(before))?;
                pattern.bytes.extend_from_slice(&bytes);
                rest = behind;
            }
        }
        if rest.len() == before.len() || pattern.bytes.len() > LONGEST {
            return Err(bad(before));
        }
    }
    match pattern.bytes.is_empty() {
        true => Err(bad(text)),
        false => Ok(pattern),
    }
}

/// A number at the start of a text: hexadecimal of any length, the first digits first; or decimal, its low
/// byte first and without its high bytes that are zero.
fn number(text: &str) -> Option<(Vec<u8>, &str)> {
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let mut end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
        // The zero of another `0x` that follows belongs to that.
        if end > 1 && digits[end - 1..].to_ascii_lowercase().starts_with("0x") {
            end -= 1;
        }
        let (digits, rest) = digits.split_at(end);
        let pairs = digits.as_bytes().chunks(2);
        let odd = digits.len() % 2 == 1;
        let whole = match odd {
            // An odd number of digits: the first stands alone, as fio has it.
            true => odd_bytes(digits)?,
            false => pairs
                .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
                .collect::<Option<Vec<u8>>>()?,
        };
        return Some((whole, rest)).filter(|(bytes, _)| !bytes.is_empty());
    }
    let end = text
        .char_indices()
        .find(|(at, c)| !(c.is_ascii_digit() || *at == 0 && matches!(c, '-' | '+')))
        .map_or(text.len(), |(at, _)| at);
    // `100xab` is 10 and then `0xab`.
    let end = match text[..end].ends_with('0') && text[end..].to_ascii_lowercase().starts_with('x')
    {
        true => end - 1,
        false => end,
    };
    let value: i32 = text[..end].parse().ok()?;
    let mut bytes = value.cast_unsigned().to_le_bytes().to_vec();
    while bytes.len() > 1 && bytes.last() == Some(&0) {
        bytes.pop();
    }
    Some((bytes, &text[end..]))
}

/// Bytes of an odd number of digits: the first digit is a byte by itself.
fn odd_bytes(digits: &str) -> Option<Vec<u8>> {
    let mut bytes = vec![u8::from_str_radix(digits.get(..1)?, 16).ok()?];
    for pair in digits.as_bytes()[1..].chunks(2) {
        bytes.push(u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_read_as_fio_reads_them() {
        let table: &[(&str, &[u8])] = &[
            ("\"abcd\"", b"abcd"),
            ("-1024", &[0x00, 0xfc, 0xff, 0xff]),
            ("66", &[0x42]),
            ("0", &[0]),
            ("0xFF0X1", &[0xff, 0x01]),
            ("0xdeadbeef", &[0xde, 0xad, 0xbe, 0xef]),
            ("\"123\"0xFFeeCC", &[0x31, 0x32, 0x33, 0xff, 0xee, 0xcc]),
            ("-100xab\"1\"", &[0xf6, 0xff, 0xff, 0xff, 0xab, 0x31]),
        ];
        for (text, expected) in table {
            let read = read("buffer_pattern", text, false, &[]).map(|pattern| pattern.bytes);
            assert_eq!(read.as_deref(), Ok(*expected), "{text}");
        }
        let offsets = read("verify_pattern", "%o0xde%o", true, &[]).expect("offsets");
        assert_eq!((offsets.bytes.len(), offsets.offsets), (17, vec![0, 9]));
        let odd = read("buffer_pattern", "0xabc", false, &[]).map(|pattern| pattern.bytes);
        assert_eq!(odd.as_deref(), Ok(&[0x0a, 0xbc][..]));
        assert_eq!(quoted("\"it's\"'a/b'0xff'c'"), ["a/b", "c"]);
        let file = read("buffer_pattern", "0xff'a/b'", false, &[b"xyz".to_vec()]);
        assert_eq!(file.map(|pattern| pattern.bytes), Ok(b"\xffxyz".to_vec()));
        for text in ["", "banana", "\"open", "%o", "0x", "99999999999", "'file'"] {
            assert!(read("buffer_pattern", text, false, &[]).is_err(), "{text}");
        }
    }
}
