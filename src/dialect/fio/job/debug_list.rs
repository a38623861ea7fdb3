//! The list of `--debug`: what fio would print of its insides, and what of that is printed here.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FioDebug {
    pub parse: bool,
    pub random: bool,
    pub io: bool,
}

/// What may stand in the list.
const KINDS: &[&str] = &[
    "process",
    "file",
    "io",
    "mem",
    "blktrace",
    "verify",
    "random",
    "parse",
    "diskutil",
    "job",
    "mutex",
    "profile",
    "time",
    "net",
    "rate",
    "compress",
    "steadystate",
    "helperthread",
    "zbd",
];

impl FioDebug {
    /// Reads a list; the lines that say what is set. An error is the word that is none.
    pub(in crate::dialect::fio) fn read(&mut self, list: &str) -> Result<Vec<String>, String> {
        let mut said = Vec::new();
        for word in list.split(',') {
            let kinds: Vec<&str> = match word {
                "all" => KINDS.to_vec(),
                _ => KINDS.iter().copied().filter(|kind| *kind == word).collect(),
            };
            if kinds.is_empty() {
                return Err(word.into());
            }
            for kind in kinds {
                said.push(format!("fio: set debug option {kind}"));
                self.parse |= kind == "parse";
                self.random |= kind == "random";
                self.io |= kind == "io";
            }
        }
        Ok(said)
    }
}
