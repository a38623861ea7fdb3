//! Where other tools' words are handed over, untouched, to whoever speaks them.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

use super::environment::Environment;
use crate::error::{Error, Refusal};

/// A tool whose words are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// GNU's or BusyBox's.
    Dd,
    /// Bonnie++, all versions.
    Bonnie,
}

/// The tools whose words are understood: as verbs, and as names of links to the program.
const TOOLS: &[(&str, Tool)] =
    &[("dd", Tool::Dd), ("bonnie", Tool::Bonnie), ("bonnie++", Tool::Bonnie)];

/// Another tool's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meant<'a> {
    /// Which tool.
    pub tool: Tool,
    /// What follows its name.
    pub words: &'a [OsString],
    /// By which name the program was called.
    pub called: Called,
}

/// By which name the program was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Called {
    /// Its own, with the tool as a verb: words that make no sense end with our own status.
    Assay,
    /// The tool's, through a link: it stands in for the tool, in all respects.
    Tool,
    /// `busybox`, through a link: the same, and BusyBox's ways are meant.
    Busybox,
}

/// Dialects whose words are ours, as verbs: a link of that name means the verb.
const VERBS: &[&str] = &["atto"];

/// The words as our own, where the program was called by the name of such a dialect.
pub fn as_verb(words: &[OsString]) -> Option<Vec<OsString>> {
    let (called, rest) = words.split_first()?;
    let name = Path::new(called).file_name()?;
    let verb = VERBS.iter().find(|verb| name == **verb)?;
    Some(["assay", verb].map(OsString::from).into_iter().chain(rest.iter().cloned()).collect())
}

/// The tool that is meant by the name under which the program was called, or by its first word;
/// and the words that are that tool's.
pub fn meant(words: &[OsString]) -> Option<Meant<'_>> {
    let known = |word: &OsString| {
        let name = Path::new(word).file_name()?;
        TOOLS.iter().find(|(known, _)| name == *known).map(|(_, tool)| *tool)
    };
    let (called, rest) = words.split_first()?;
    if let Some(tool) = known(called) {
        return Some(Meant { tool, words: rest, called: Called::Tool });
    }
    let busybox = Path::new(called).file_name().is_some_and(|name| name == "busybox");
    let called = if busybox { Called::Busybox } else { Called::Assay };
    let (verb, rest) = rest.split_first()?;
    let (_, tool) = TOOLS.iter().find(|(known, _)| verb == *known)?;
    Some(Meant { tool: *tool, words: rest, called })
}

/// Does as that tool would, and says on `err` whether its figure may be believed.
///
/// # Errors
/// When our own words (variables, `--plan`) make no sense, or the record can not be kept. What the
/// tool itself would refuse is printed in its words, with its exit status.
pub fn call(
    meant: &Meant,
    environment: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<u8, Error> {
    let words: Vec<String> = meant
        .words
        .iter()
        .map(|word| match word.to_str() {
            Some(word) => Ok(word.to_string()),
            None => Err(Refusal::new(
                format!("'{}' is not UTF-8", word.to_string_lossy()),
                "give the file another name, or a link with one",
            )),
        })
        .collect::<Result<_, _>>()?;
    match meant.tool {
        Tool::Dd => super::dd::call(words, meant.called, environment, out, err),
        Tool::Bonnie => super::bonnie::call(words, meant.called, environment, out, err),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_meant_by_a_link_or_a_verb() {
        let words = |typed: &str| typed.split(' ').map(OsString::from).collect::<Vec<_>>();
        for (typed, rest, called) in [
            ("/usr/bin/dd if=a of=b", 2, Called::Tool),
            ("assay dd --plan", 1, Called::Assay),
            ("dd dd", 1, Called::Tool),
            ("/bin/busybox dd if=a", 1, Called::Busybox),
        ] {
            let typed = words(typed);
            let meant = meant(&typed).expect("dd");
            assert_eq!((meant.tool, meant.words.len(), meant.called), (Tool::Dd, rest, called));
        }
        for typed in ["/usr/sbin/bonnie++ -q", "assay bonnie -q", "bonnie -q", "assay bonnie++ -q"]
        {
            let typed = words(typed);
            let meant = meant(&typed).expect("bonnie");
            assert_eq!((meant.tool, meant.words.len()), (Tool::Bonnie, 1));
        }
        for typed in ["assay quick dd", "assay", "add dd2"] {
            assert_eq!(meant(&words(typed)), None, "{typed}");
        }
    }
}
