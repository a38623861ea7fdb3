//! Where other tools' words are handed over, untouched, to whoever speaks them.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

use super::environment::Environment;
use crate::error::{Error, Refusal};

/// The tools whose words are understood: as verbs, and as names of links to the program.
pub const NAMES: &[&str] = &["dd"];

/// The tool that is meant by the name under which the program was called, or by its first word;
/// and the words that are that tool's.
pub fn meant(words: &[OsString]) -> Option<(&'static str, &[OsString])> {
    let known = |word: &OsString| {
        let name = Path::new(word).file_name()?;
        NAMES.iter().copied().find(|known| name == *known)
    };
    let (called, rest) = words.split_first()?;
    if let Some(name) = known(called) {
        return Some((name, rest));
    }
    let (verb, rest) = rest.split_first()?;
    let name = NAMES.iter().copied().find(|known| verb == *known)?;
    Some((name, rest))
}

/// Does as that tool would, and says on `err` whether its figure may be believed.
///
/// # Errors
/// When the words are not the tool's, or the world said no.
pub fn call(
    name: &str,
    _words: &[OsString],
    _environment: &Environment,
    _out: &mut dyn Write,
    _err: &mut dyn Write,
) -> Result<u8, Error> {
    Err(Refusal::new(format!("'{name}' is not spoken by this build"), "").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_meant_by_a_link_or_a_verb() {
        let words = |typed: &str| typed.split(' ').map(OsString::from).collect::<Vec<_>>();
        for (typed, rest) in [("/usr/bin/dd if=a of=b", 2), ("assay dd --plan", 1), ("dd dd", 1)] {
            let typed = words(typed);
            let (name, words) = meant(&typed).expect("dd");
            assert_eq!((name, words.len()), ("dd", rest));
        }
        for typed in ["assay quick dd", "assay", "add dd2"] {
            assert_eq!(meant(&words(typed)), None, "{typed}");
        }
    }
}
