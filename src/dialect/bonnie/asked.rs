//! What the words ask for, and what they come to on a machine.

use std::path::PathBuf;

use assay_plan::error::Refusal;

/// Which version's words, tables and lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BonnieVersion {
    /// 1.03: bytes by the C library, pieces of 1 GiB, seeks by processes; 27 fields.
    F1_03,
    /// 1.96: 48 fields.
    F1_96,
    /// 1.97: 48 fields.
    F1_97,
    /// That of 1.98 and 2.00: 50 fields.
    #[default]
    F1_98,
}

impl BonnieVersion {
    /// All of them, the oldest first.
    pub const ALL: [Self; 4] = [Self::F1_03, Self::F1_96, Self::F1_97, Self::F1_98];

    /// Its number: in CSV the first field, but of 1.03, which does not say it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F1_03 => "1.03",
            Self::F1_96 => "1.96",
            Self::F1_97 => "1.97",
            Self::F1_98 => "1.98",
        }
    }

    /// The version that is imitated.
    pub const fn version(self) -> &'static str {
        match self {
            Self::F1_03 => "1.03e",
            Self::F1_96 => "1.96",
            Self::F1_97 => "1.97",
            Self::F1_98 => "2.00a",
        }
    }

    /// Whether it is the old one.
    pub const fn is_old(self) -> bool {
        matches!(self, Self::F1_03)
    }
}

/// The twelve tests in their order: the phases are called so, as the columns of the CSV.
pub const TESTS: [&str; 12] = [
    "putc",
    "put_block",
    "rewrite",
    "getc",
    "get_block",
    "seeks",
    "seq_create",
    "seq_stat",
    "seq_del",
    "ran_create",
    "ran_stat",
    "ran_del",
];

/// The number of a test by the name of its phase.
pub fn test_of(phase: &str) -> Option<usize> {
    TESTS.iter().position(|test| *test == phase)
}

/// What the machine adds to the words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostFacts {
    /// Its name (`uname -n`).
    pub name: String,
    pub ram: u64,
    /// The number of this process, part of the names of files.
    pub pid: u32,
    /// The seed, where no word gives one.
    pub seed: u32,
}

/// How the per-character tests are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerChar {
    /// Over this many MiB; `None`: over all.
    Over(Option<u64>),
    Skipped,
}

/// What the files of the file tests are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileTestKind {
    /// Regular files, with sizes in between, bytes.
    Files { max: u64, min: u64 },
    /// Hard links to one file (`-1`).
    Links,
    /// Symbolic links to one file (`-2`).
    Symlinks,
}

/// The files of the file tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileTestArgs {
    /// How many, in units of 1024; 0: no file tests.
    pub count: u64,
    pub kind: FileTestKind,
    /// Folders over which they are spread.
    pub dirs: u32,
    /// Bytes of one write or read in them.
    pub chunk: u64,
}

/// How it keeps step with others before each test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepMode {
    /// By the semaphores that `-p` has made.
    Semaphores,
    /// It says the number of the test and waits for a line.
    Prompt,
}

/// What is done with the semaphores instead of any test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SemaphoreCommand {
    /// They are made for so many processes.
    Make(u32),
    Remove,
}

/// What the words ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BonnieOptions {
    /// `--format`.
    pub form: BonnieVersion,
    /// `--as-original`: nothing is dropped from memory, data are zeros, and 1.03 flushes nothing.
    pub as_original: bool,
    /// `-d`.
    pub dir: PathBuf,
    /// `-s`, MiB; 0: no tests of it.
    pub size: Option<u64>,
    pub chunk: u64,
    pub seeks: u64,
    pub seekers: u32,
    /// `-n`.
    pub files: FileTestArgs,
    /// `-m`.
    pub name: Option<String>,
    /// `-r`, MiB; 0: sizes are not checked.
    pub ram: Option<u64>,
    /// `-x`: so many lines of CSV.
    pub times: Option<u32>,
    /// `-u`, its first part.
    pub user: Option<String>,
    /// `-g`, or the second part of `-u`.
    pub group: Option<String>,
    /// `-q`.
    pub quiet: bool,
    /// `-f`.
    pub per_char: PerChar,
    /// `-b`.
    pub sync: bool,
    /// `-D`.
    pub direct: bool,
    /// `-p`.
    pub semaphores: Option<SemaphoreCommand>,
    /// `-y`.
    pub step: Option<StepMode>,
    /// `-c`.
    pub concurrency: u32,
    /// `-z`.
    pub seed: Option<u32>,
    /// `-Z`, below the folder that was named before it.
    pub random: Option<PathBuf>,
    pub words: Vec<String>,
}

/// What the words come to on a machine: what the tables and lines say of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BonnieRun {
    pub asked: BonnieOptions,
    pub name: String,
    /// MiB; 0: no tests of it.
    pub size: u64,
    /// The seed as it is printed: a number, or the name of the file it was made from.
    pub seed: String,
}

/// Instead of a plan: what to print on standard error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BonnieComplaint {
    /// The tool's own line, where it has one.
    pub said: String,
    /// It says how it is used.
    pub usage: Option<BonnieVersion>,
    /// What is wrong and what to write instead, which the tool does not say.
    pub refusal: Refusal,
}

impl BonnieComplaint {
    /// One that the tool answers with its usage alone.
    pub(super) fn new(
        form: BonnieVersion,
        why: impl Into<String>,
        instead: impl Into<String>,
    ) -> Self {
        let refusal = Refusal::new(why, instead);
        Self { said: String::new(), usage: Some(form), refusal }
    }

    /// The same with a line of the tool's before it.
    pub(super) fn saying(self, line: impl Into<String>) -> Self {
        Self { said: format!("{}\n", line.into()), ..self }
    }
}
