//! The words of `assay explain`: the name of a file, or a line.

use std::ffi::OsString;
use std::path::Path;

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
    /// 'assay run', also without 'assay' before it. What stands round it is set aside, and said: a prompt, sudo, time, ssh HOST, a loop, a pipe,
    /// other commands such as 'sync'. Nothing is run, and nothing is written.
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
}
