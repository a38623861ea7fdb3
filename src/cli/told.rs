//! The words of a verb as a test types them.

use clap::{Args, Command};

/// What stands behind the verb, taken apart as clap does it.
pub(super) fn words<W: Args>(line: &str) -> W {
    let command = W::augment_args(Command::new("assay"));
    let typed = std::iter::once("assay").chain(line.split_whitespace());
    let matches = command.try_get_matches_from(typed);
    let matches = matches.unwrap_or_else(|error| panic!("{line}: {error}"));
    W::from_arg_matches(&matches).unwrap_or_else(|error| panic!("{line}: {error}"))
}
