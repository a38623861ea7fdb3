//! Names of files as text that loses nothing. The kernel takes any bytes but zero for a name, while words,
//! sentences and JSON are text: here, and nowhere else, the one is made of the other.
//!
//! A byte that is no part of UTF-8 is the character U+10FE00 plus the byte, of the private use that no font and no
//! file system gives a meaning to; so are the bytes of characters that a terminal acts upon or that nobody sees
//! ([`is_hidden`]): whoever names a file moves no cursor, ends no line and hides no word. Should a name hold one of
//! these 256 characters itself, each of its four bytes is written so: text and name lead to each other, always. For
//! people such bytes are shown as a shell reads them back: `$'\377'`. JSON has the characters as they are, by their
//! numbers.
//!
//! Text from elsewhere enters the program in these ways only: by [`NameText`] (names and words), by [`of_bytes`]
//! (texts of many lines), by [`tamed`] (strings of documents, in whichever reader of JSON), and leaves it by
//! [`shown`] or, in JSON, by [`JsonNames`].

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// What is added to a byte that is not UTF-8, or is one of a character that is not shown.
const BASE: u32 = 0x0010_FE00;

/// The byte that a character stands for, when it is one of those.
pub fn stands_for(char: char) -> Option<u8> {
    u8::try_from(u32::from(char).checked_sub(BASE)?).ok()
}

/// Whether a terminal, or a reader's eye, is led astray by a character: controls (C0, DEL, C1), what sets the
/// direction of writing, separators of lines, and what is invisible (Unicode's Cf, fillers, tags, no characters).
pub fn is_hidden(char: char) -> bool {
    if char.is_ascii() {
        return char.is_ascii_control();
    }
    matches!(
        u32::from(char),
        0x80..=0x9F
            | 0xAD
            | 0x34F
            | 0x600..=0x605
            | 0x61C
            | 0x6DD
            | 0x70F
            | 0x890..=0x891
            | 0x8E2
            | 0x115F..=0x1160
            | 0x17B4..=0x17B5
            | 0x180B..=0x180F
            | 0x200B..=0x200F
            | 0x2028..=0x202E
            | 0x2060..=0x206F
            | 0x3164
            | 0xFDD0..=0xFDEF
            | 0xFEFF
            | 0xFFA0
            | 0xFFF0..=0xFFFB
            | 0xFFFE..=0xFFFF
            | 0x110BD
            | 0x110CD
            | 0x13430..=0x1343F
            | 0x1BCA0..=0x1BCA3
            | 0x1D173..=0x1D17A
            | 0xE0000..=0xE0FFF
    ) || u32::from(char) & 0xFFFE == 0xFFFE
}

/// Adds what stands for bytes.
fn keep(text: &mut String, bytes: &[u8]) {
    text.extend(bytes.iter().filter_map(|byte| char::from_u32(BASE + u32::from(*byte))));
}

/// Adds a character: as it is, or what stands for its bytes.
fn keep_char(text: &mut String, char: char, kept: fn(char) -> bool) {
    if stands_for(char).is_some() || is_hidden(char) && !kept(char) {
        keep(text, char.encode_utf8(&mut [0; 4]).as_bytes());
    } else {
        text.push(char);
    }
}

/// Bytes as text, in which no character is hidden but those that are `kept`.
fn text_of(bytes: &[u8], kept: fn(char) -> bool) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        chunk.valid().chars().for_each(|char| keep_char(&mut text, char, kept));
        keep(&mut text, chunk.invalid());
    }
    text
}

/// Bytes as a text of many lines: ends of lines and tabs are what they are.
pub fn of_bytes(bytes: &[u8]) -> String {
    text_of(bytes, |char| matches!(char, '\n' | '\t'))
}

/// Bytes as a word, in one line whatever they are.
pub fn word(bytes: &[u8]) -> String {
    text_of(bytes, |_| false)
}

/// A string of a document as a word. What stands for bytes in it already stays so.
pub fn tamed(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return text.into();
    }
    let mut tamed = String::with_capacity(text.len());
    for char in text.chars() {
        match is_hidden(char) {
            true => keep(&mut tamed, char.encode_utf8(&mut [0; 4]).as_bytes()),
            false => tamed.push(char),
        }
    }
    tamed.into()
}

/// A text without the zero bytes at its ends: strings of the device tree have one.
pub fn without_zeros(text: &str) -> &str {
    text.trim_matches(|char| char::from_u32(BASE) == Some(char))
}

/// The bytes that a text stands for.
pub fn bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for char in text.chars() {
        match stands_for(char) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

/// The path that a text stands for.
pub fn path(text: &str) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes(text)))
}

/// A path as text.
pub trait NameText {
    /// The text that stands for it.
    fn to_text(&self) -> String;
}

impl NameText for Path {
    fn to_text(&self) -> String {
        self.as_os_str().to_text()
    }
}

impl NameText for OsStr {
    fn to_text(&self) -> String {
        word(self.as_bytes())
    }
}

/// Text for people, with such bytes as a shell reads them back; ends of lines and tabs are layout by now.
pub fn shown(text: &str) -> Cow<'_, str> {
    let told =
        |char: char| stands_for(char).is_some() || is_hidden(char) && !matches!(char, '\n' | '\t');
    if !text.chars().any(told) {
        return text.into();
    }
    let (mut shown, mut open) = (String::new(), false);
    for char in text.chars() {
        match (told(char), open) {
            (true, false) => shown.push_str("$'"),
            (false, true) => shown.push('\''),
            _ => {}
        }
        open = told(char);
        match (open, stands_for(char)) {
            (false, _) => shown.push(char),
            (true, Some(byte)) => octal(&mut shown, byte),
            (true, None) => {
                char.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| octal(&mut shown, byte));
            }
        }
    }
    if open {
        shown.push('\'');
    }
    shown.into()
}

/// A byte as a shell reads it back.
fn octal(text: &mut String, byte: u8) {
    let _ = write!(text, "\\{byte:03o}");
}

/// A document of JSON with such characters written by their numbers: the same document, which [`shown`] leaves
/// as it is. Bytes of a character that is not shown are that character again.
pub fn in_json(document: &str) -> Cow<'_, str> {
    let told = |char: char| {
        stands_for(char).is_some() || is_hidden(char) && !matches!(char, '\n' | '\r' | '\t')
    };
    if !document.chars().any(told) {
        return document.into();
    }
    let mut text = String::with_capacity(document.len());
    let mut rest = document;
    while let Some(char) = rest.chars().next() {
        if stands_for(char).is_none() {
            match told(char) {
                true => numbered(&mut text, char),
                false => text.push(char),
            }
            rest = &rest[char.len_utf8()..];
            continue;
        }
        let end = rest.find(|char| stands_for(char).is_none()).unwrap_or(rest.len());
        let (run, behind) = rest.split_at(end);
        let held = bytes(run);
        for chunk in held.utf8_chunks() {
            for char in chunk.valid().chars() {
                if is_hidden(char) {
                    numbered(&mut text, char);
                    continue;
                }
                let mut own = String::new();
                keep(&mut own, char.encode_utf8(&mut [0; 4]).as_bytes());
                own.chars().for_each(|char| numbered(&mut text, char));
            }
            let mut own = String::new();
            keep(&mut own, chunk.invalid());
            own.chars().for_each(|char| numbered(&mut text, char));
        }
        rest = behind;
    }
    text.into()
}

/// A character in JSON by its number.
fn numbered(text: &mut String, char: char) {
    for unit in char.encode_utf16(&mut [0; 2]) {
        let _ = write!(text, "\\u{unit:04x}");
    }
}

/// Writes JSON as [`in_json`] has it. Characters come whole.
pub struct JsonNames<'a>(pub &'a mut dyn io::Write);

impl io::Write for JsonNames<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match std::str::from_utf8(bytes).map(in_json) {
            Ok(Cow::Owned(text)) => self.0.write_all(text.as_bytes()).map(|()| bytes.len()),
            _ => self.0.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A word as a shell reads it back unchanged, in one line: a POSIX shell, or where characters have to be told by
/// their numbers any that knows `$'\377'`.
pub fn quoted(word: &str) -> String {
    if word.chars().any(|char| is_hidden(char) || stands_for(char).is_some()) {
        let mut quoted = String::from("$'");
        for byte in bytes(word) {
            match byte {
                b'\'' | b'\\' => quoted.extend(['\\', char::from(byte)]),
                b' '..=b'~' => quoted.push(char::from(byte)),
                _ => octal(&mut quoted, byte),
            }
        }
        return quoted + "'";
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+,./:@%^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The name of a file or a folder. A byte of it that is not UTF-8 is written as the character U+10FE00 plus that
/// byte (0xFF is U+10FEFF), so that any name can be read back.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PathText(#[expect(dead_code, reason = "describes a text of JSON")] String);

/// A path in JSON.
pub mod one {
    use super::{NameText as _, Path, PathBuf};
    use serde::{Deserialize as _, Deserializer, Serializer};

    /// Writes it as text.
    ///
    /// # Errors
    /// When the text cannot be written.
    pub fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&path.to_text())
    }

    /// Reads it back.
    ///
    /// # Errors
    /// When there is no text.
    pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<PathBuf, D::Error> {
        Ok(super::path(&String::deserialize(from)?))
    }
}

/// A path in JSON that may be absent.
pub mod maybe {
    use super::{NameText as _, PathBuf};
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    /// Writes it as text.
    ///
    /// # Errors
    /// When the text cannot be written.
    pub fn serialize<S: Serializer>(path: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
        path.as_ref().map(|path| path.to_text()).serialize(to)
    }

    /// Reads it back.
    ///
    /// # Errors
    /// When there is something else than text.
    pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Option<PathBuf>, D::Error> {
        Ok(Option::<String>::deserialize(from)?.map(|text| super::path(&text)))
    }
}

/// Several paths in JSON.
pub mod several {
    use super::{NameText as _, PathBuf};
    use serde::{Deserialize as _, Deserializer, Serializer};

    /// Writes them as texts.
    ///
    /// # Errors
    /// When a text cannot be written.
    pub fn serialize<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(paths.iter().map(|path| path.to_text()))
    }

    /// Reads them back.
    ///
    /// # Errors
    /// When there is no list of texts.
    pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Vec<PathBuf>, D::Error> {
        let texts = Vec::<String>::deserialize(from)?;
        Ok(texts.iter().map(|text| super::path(text)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of all sorts from a number: bytes at random, mixed with whole characters, among them ours.
    fn some_name(seed: u64) -> Vec<u8> {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let mut name = Vec::new();
        for _ in 0..next() % 12 {
            match next() % 4 {
                0 => name.push(next() as u8 | 1),
                1 => name.extend(
                    "/a '\\é€\u{10FE80}\u{10FEFF}\u{1F4BE}".bytes().take(next() as usize % 24),
                ),
                2 => name.extend_from_slice("\u{10FE99}".as_bytes()),
                _ => name.extend([0x80 | next() as u8, b'x']),
            }
        }
        name
    }

    #[test]
    fn any_name_is_read_back_from_its_text_and_from_json() {
        #[derive(PartialEq, Debug, serde::Serialize, serde::Deserialize)]
        struct Named {
            #[serde(with = "super::one")]
            one: PathBuf,
            #[serde(with = "super::maybe")]
            maybe: Option<PathBuf>,
            #[serde(with = "super::several")]
            several: Vec<PathBuf>,
        }
        let mut beyond_utf8 = 0;
        for seed in 0..20_000 {
            let name = some_name(seed);
            let text = of_bytes(&name);
            assert_eq!(bytes(&text), name, "{seed}: {text:?}");
            beyond_utf8 += u32::from(std::str::from_utf8(&name).is_err());
            let one = path(&text);
            assert_eq!(one.to_text(), word(&name));
            let named =
                Named { maybe: Some(one.clone()), several: vec![one.clone(), one.clone()], one };
            let json = serde_json::to_string(&named).expect("json");
            assert_eq!(serde_json::from_str::<Named>(&json).expect("names"), named, "{json}");
            let bare = in_json(&json);
            assert_eq!(shown(&bare), bare);
            assert_eq!(serde_json::from_str::<Named>(&bare).expect("names"), named, "{bare}");
        }
        assert!(beyond_utf8 > 5_000, "{beyond_utf8}");
    }

    #[test]
    fn a_shell_reads_any_name_back() {
        for seed in 0..40 {
            let name: Vec<u8> = some_name(seed).into_iter().filter(|byte| *byte != 0).collect();
            let line = format!("printf %s {}", quoted(&of_bytes(&name)));
            let said = std::process::Command::new("bash")
                .args(["-c", &line])
                .env("LC_ALL", "C")
                .output()
                .expect("bash");
            assert_eq!(said.stdout, name, "{line}");
        }
    }

    #[test]
    fn people_see_what_a_shell_takes() {
        assert_eq!(shown("/mnt/é"), "/mnt/é");
        assert_eq!(shown(&of_bytes(b"/mnt/\xff\xfey z")), r"/mnt/$'\377\376'y z");
        assert_eq!(shown(&of_bytes(b"\xff")), r"$'\377'");
        assert_eq!(quoted(&of_bytes(b"if=it's\xff")), r"$'if=it\'s\377'");
    }
}
