//! Names of files as text that loses nothing. The kernel takes any bytes but zero for a name, while words,
//! sentences and JSON are text: here, and nowhere else, the one is made of the other.
//!
//! A byte that is no part of UTF-8 (always 0x80 to 0xFF) is the character U+10FE00 plus the byte, of the
//! private use that no font and no file system gives a meaning to. Should a name hold one of these 128
//! characters itself, each of its four bytes is written so: text and name lead to each other, always. For people
//! such bytes are shown as a shell reads them back: `$'\377'`.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// What is added to a byte that is not UTF-8.
const BASE: u32 = 0x0010_FE00;

/// The byte that a character stands for, when it is one of those.
pub fn stands_for(char: char) -> Option<u8> {
    let byte = u32::from(char).checked_sub(BASE)?;
    u8::try_from(byte).ok().filter(|byte| *byte >= 0x80)
}

/// Bytes as text.
pub fn of_bytes(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let keep = |text: &mut String, bytes: &[u8]| {
        text.extend(bytes.iter().filter_map(|byte| char::from_u32(BASE + u32::from(*byte))));
    };
    for chunk in bytes.utf8_chunks() {
        for char in chunk.valid().chars() {
            match stands_for(char) {
                None => text.push(char),
                Some(_) => keep(&mut text, char.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        keep(&mut text, chunk.invalid());
    }
    text
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
        of_bytes(self.as_bytes())
    }
}

/// Text for people, with such bytes as a shell reads them back; all other text is as it is.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|char| stands_for(char).is_some()) {
        return text.into();
    }
    let (mut shown, mut open) = (String::new(), false);
    for char in text.chars() {
        let byte = stands_for(char);
        match (byte, open) {
            (Some(_), false) => shown.push_str("$'"),
            (None, true) => shown.push('\''),
            _ => {}
        }
        open = byte.is_some();
        let _ = match byte {
            Some(byte) => write!(shown, "\\{byte:03o}"),
            None => write!(shown, "{char}"),
        };
    }
    if open {
        shown.push('\'');
    }
    shown.into()
}

/// A document of JSON with such characters written by their numbers: the same document, which [`shown`] leaves
/// as it is.
pub fn in_json(document: &str) -> Cow<'_, str> {
    if !document.chars().any(|char| stands_for(char).is_some()) {
        return document.into();
    }
    let mut text = String::with_capacity(document.len());
    for char in document.chars() {
        match stands_for(char) {
            Some(_) => {
                let units: [u16; 2] = [0xDBFF, 0xDC00 | (u32::from(char) & 0x3FF) as u16];
                for unit in units {
                    let _ = write!(text, "\\u{unit:04x}");
                }
            }
            None => text.push(char),
        }
    }
    text.into()
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
    if word.chars().any(|char| char.is_control() || stands_for(char).is_some()) {
        let mut quoted = String::from("$'");
        for byte in bytes(word) {
            match byte {
                b'\'' | b'\\' => quoted.extend(['\\', char::from(byte)]),
                b' '..=b'~' => quoted.push(char::from(byte)),
                _ => {
                    let _ = write!(quoted, "\\{byte:03o}");
                }
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
            assert_eq!(one.to_text(), text);
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
