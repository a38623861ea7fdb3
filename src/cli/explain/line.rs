//! The words of `assay explain`: the name of a file, or a line that is taken apart as a shell does it.

use std::ffi::OsString;
use std::path::Path;

use super::super::environment::Environment;
use super::super::shell;
use crate::error::Refusal;
use crate::name::NameText as _;

/// The words of the verb.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example: assay explain 'dd if=/dev/zero of=/mnt/sd/x bs=20M count=1'")]
pub struct ExplainArgs {
    /// Print it as JSON ('assay schema explanation' describes it)
    #[arg(long)]
    pub json: bool,
    /// A line in quotes or word by word, or the file of a plan, of a record or of fio's jobs
    ///
    /// The line is one command of dd, bonnie++, iozone or fio, or of any verb of assay that runs something: 'assay dd', 'assay quick',
    /// 'assay run', also without 'assay' before it; 'sudo', 'time' and the variables of a dialect may stand before it. Nothing is run, and nothing is written.
    #[arg(required = true, trailing_var_arg = true, value_name = "LINE")]
    pub line: Vec<OsString>,
}

impl ExplainArgs {
    /// The one word, when it is the name of a file rather than a line.
    pub fn file(&self) -> Option<&Path> {
        let [only] = self.line.as_slice() else { return None };
        let path = Path::new(only);
        let named = path.extension().is_some_and(|extension| extension == "json");
        let line = only.to_string_lossy().contains(char::is_whitespace);
        // What a shell hands over for `<(command)`.
        let handed = ["/dev/fd", "/proc/self/fd"].iter().any(|folder| path.starts_with(folder));
        (path.is_file() || handed || named && !line).then_some(path)
    }

    /// The words of a line that was given in quotes, or word by word.
    pub fn words(&self) -> Result<Vec<String>, Refusal> {
        let words: Vec<String> = self.line.iter().map(|word| word.to_text()).collect();
        match words.as_slice() {
            [only] => shell::words(only),
            _ => Ok(words),
        }
    }
}

/// Takes off what stands before the command and does not change what it does; variables of ours go
/// where those of the program stand.
pub fn bare(mut words: Vec<String>, environment: &Environment) -> (Vec<String>, Environment) {
    let mut surroundings = environment.clone();
    while let Some(first) = words.first() {
        match first.split_once('=') {
            None if matches!(first.as_str(), "sudo" | "time") => {}
            Some(("ASSAY_COLD", value)) => surroundings.cold = Some(value.into()),
            Some(("ASSAY_DIALECT", value)) => surroundings.dialect = Some(value.into()),
            Some(("ASSAY_OVERWRITE", value)) => surroundings.overwrite = Some(value.into()),
            Some((
                "ASSAY_SETTLE" | "ASSAY_RECORD" | "ASSAY_PLOT" | "ASSAY_STRICT" | "ASSAY_VERDICT"
                | "LC_ALL" | "LANG",
                _,
            )) => {}
            _ => break,
        }
        words.remove(0);
    }
    (words, surroundings)
}
