//! Where a plan comes from, and what the tool whose words made it needs others to know of it.

use serde::{Deserialize, Serialize};

use super::usual::is_usual;
use crate::name::quoted;

/// Where a plan comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PlanOrigin {
    /// The verb or dialect: `quick`, `dd`, `fio`, `plan.json`.
    pub dialect: String,
    /// The words as typed.
    #[serde(default)]
    pub words: Vec<String>,
    /// What stood in place of standard input and output, as a shell reads it: ` </path >/path`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub redirected: String,
    /// One of these was something that a line cannot name (a pipe, a terminal, a file that was already in use): the
    /// words alone would not do the same again.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub piped: bool,
    /// What the same again would damage, such as the file system of a mounted device: then no line does it again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub damages: Vec<String>,
    /// Files that were read for it (job files).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// What that verb or tool needs others to know of it.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub tool: ToolProfile,
    /// How the board is reached on which it was typed from a desk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<PlanBoard>,
}

/// How a board is reached from the desk at which a line was typed, in the words of a shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PlanBoard {
    /// What stands before words of assay or of a tool: `assay on pi@board`.
    pub verb: String,
    /// What stands before a line for the board's own shell, which is then one word: `ssh pi@board`.
    pub shell: String,
}

impl PlanBoard {
    /// What does there what the line does.
    fn reached(&self, line: &str) -> Option<String> {
        // Variables before the program are handed on.
        let sets =
            |word: &&str| word.split_once('=').is_some_and(|(name, _)| name.starts_with("ASSAY_"));
        let before: Vec<&str> = line.split(' ').take_while(sets).collect();
        let words = line.splitn(before.len() + 1, ' ').last().unwrap_or(line);
        match words.strip_prefix("assay ") {
            Some(words) => {
                let before: String = before.iter().flat_map(|word| [word, " "]).collect();
                Some(format!("{before}{} {words}", self.verb))
            }
            // A program that starts ours: there it is none that could be started.
            None if words.split(' ').any(|word| word == "assay") => None,
            None => Some(format!("{} {}", self.shell, quoted(line))),
        }
    }
}

impl PlanOrigin {
    /// Of words that were typed to a verb or dialect.
    pub fn of(dialect: &str, words: Vec<String>) -> Self {
        let tool = ToolProfile::default();
        Self {
            dialect: dialect.into(),
            words,
            redirected: String::new(),
            piped: false,
            damages: Vec::new(),
            sources: Vec::new(),
            tool,
            board: None,
        }
    }

    /// A line to type where this plan was typed: at the desk, where it was done on a board from there. `None` when
    /// it cannot be typed from there.
    pub fn from_desk(&self, line: String) -> Option<String> {
        let Some(board) = &self.board else { return Some(line) };
        let parts = match line.split_once(" && ") {
            Some((first, rest)) if !first.contains('\'') => vec![first, rest],
            _ => vec![line.as_str()],
        };
        let parts = parts.into_iter().map(|part| board.reached(part));
        Some(parts.collect::<Option<Vec<_>>>()?.join(" && "))
    }

    /// The verb to type after `assay`; `None` where the plan stood in a file.
    pub fn verb(&self) -> Option<&str> {
        let verb = self.dialect.as_str();
        (!verb.is_empty() && !verb.contains(['.', '/', ' '])).then_some(verb)
    }

    /// The words to type after the verb, also where the verb is among those that were typed.
    pub fn arguments(&self) -> &[String] {
        let typed = match self.words.as_slice() {
            [program, rest @ ..] if program == "assay" => rest,
            all => all,
        };
        match typed {
            [verb, rest @ ..] if *verb == self.dialect => rest,
            _ => &self.words,
        }
    }

    /// The same of a tool about which there is more to know.
    pub fn with(self, tool: ToolProfile) -> Self {
        Self { tool, ..self }
    }
}

/// What a verb or tool needs others to know of it, so that nobody has to ask which one it is: what it
/// takes for granted, and how remedies are spelled in its words. Of most tools that is nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ToolProfile {
    /// It goes on until the data end: that they end before its count is no fault.
    #[serde(skip_serializing_if = "is_usual")]
    pub until_end: bool,
    /// It writes until nothing more fits, and says so then: files that will not fit are no reason not to begin.
    #[serde(skip_serializing_if = "is_usual")]
    pub until_full: bool,
    /// A file that nothing was ever written to is read, too: memory answers for its holes.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub reads_holes: bool,
    /// It makes the folders of its files where they are missing, and they stay.
    #[serde(skip_serializing_if = "is_usual")]
    pub makes_folders: bool,
    /// Its words are operands, `name=value`, in any order: of each name one counts, but lists (`conv=a,b`) add up.
    #[serde(skip_serializing_if = "is_usual")]
    pub operands: bool,
    /// Its options of one letter, where several may stand in one word (`-fs64`): as getopt has them, `:` behind one whose
    /// value is glued to it or the next word, `::` behind one to which a number may be glued.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub letters: String,
    /// What stands before its program where another version of it is meant: `ASSAY_DIALECT=busybox `.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub spoken: String,
    /// How its user allows that what a device holds is lost; `{device}` stands for it. Absent: by its name, a third
    /// time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lose: Option<String>,
    /// The same of a device that is in use. Absent: nothing allows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lose_in_use: Option<String>,
    /// What makes its line flush inside the timing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush: Option<AddedWords>,
    /// What makes it drop its target from memory first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cold: Option<AddedWords>,
    /// What makes it read past the page cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direct: Option<AddedWords>,
    /// What makes it write past the page cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direct_write: Option<AddedWords>,
    /// What makes it keep the blocks that its file has, so that it overwrites them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overwrite: Option<AddedWords>,
    /// Its words for blocks that direct I/O can do here; `{align}` stands for their unit, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aligned: Option<String>,
    /// What to do where its blocks are more than its file holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fitting: Option<String>,
    /// Its option that names the method. Where the kernel gives no queue for it the job ends with that error, and no
    /// other method stands in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Its option for the size of the file; absent: `--size`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    /// What to type after a run that leaves nothing to mend; `{path}` stands for what was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub then: Option<String>,
    /// The command with a larger budget, for a run that was not steady at the end of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longer: Option<String>,
    /// What makes it do more where that was over too soon to be measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<MoreWork>,
    /// What to type when somebody ended it before its time; `{path}` stands for what was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sooner: Option<String>,
    /// Names of programs that keep step with this run: they wait at the same semaphores.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub partners: Vec<String>,
    /// What one of its ways to flush means to another version of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush_elsewhere: Option<OtherMeaning>,
}

/// Words that are added to a line to have it done otherwise, with the blanks around them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct AddedWords {
    /// Before the program.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub before: String,
    /// At the end.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub after: String,
}

impl AddedWords {
    /// Before the program.
    pub fn before(words: &str) -> Self {
        Self { before: words.into(), after: String::new() }
    }

    /// At the end.
    pub fn after(words: &str) -> Self {
        Self { before: String::new(), after: words.into() }
    }
}

/// The words for more of the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MoreWork {
    /// The phase that does more by them; absent: each that has no words of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// How much it was to do.
    pub done: u64,
    /// The most that it can be told to do.
    pub most: u64,
    /// At the end of the line; `{n}` stands for a number, `{size}` for a size in bytes: `4G`.
    pub words: String,
}

/// An option of which another version of the tool makes something else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OtherMeaning {
    pub option: String,
    pub value: String,
    /// What it means here and there, in a sentence.
    pub means: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_to_type_reach_the_board() {
        let board = PlanBoard {
            verb: "assay on -p 22 pi@board".into(),
            shell: "ssh -p 22 pi@board".into(),
        };
        let mut origin = PlanOrigin::of("quick", vec![]);
        let line = |origin: &PlanOrigin, line: &str| origin.from_desk(line.to_string());
        assert_eq!(line(&origin, "assay quick .").as_deref(), Some("assay quick ."));
        origin.board = Some(board);
        for (there, here) in [
            ("assay quick '/a && b'", Some("assay on -p 22 pi@board quick '/a && b'")),
            (
                "ASSAY_COLD=target assay dd if=x of=/dev/null",
                Some("ASSAY_COLD=target assay on -p 22 pi@board dd if=x of=/dev/null"),
            ),
            ("findmnt -T '/my card'", Some(r"ssh -p 22 pi@board 'findmnt -T '\''/my card'\'''")),
            (
                "sync && assay quick /mnt",
                Some("ssh -p 22 pi@board sync && assay on -p 22 pi@board quick /mnt"),
            ),
            ("numactl --cpunodebind=0 assay quick /mnt", None),
        ] {
            assert_eq!(line(&origin, there).as_deref(), here, "{there}");
        }
    }
}
