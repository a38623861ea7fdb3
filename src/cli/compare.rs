//! `assay compare`: two records side by side, and what forbids to compare their figures.

use std::io::Write;
use std::path::PathBuf;

use super::{Environment, conduct, printed, read_record};
use crate::error::Error;
use crate::{report, verdict};

/// The words of the verb.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Exit status: 0 nothing forbids to compare them; 3 they are unlike.\n\n\
Example: assay compare before.json after.json")]
pub struct Words {
    /// A record that --record or ASSAY_RECORD wrote
    #[arg(value_name = "FIRST")]
    pub first: PathBuf,
    /// Another one
    #[arg(value_name = "SECOND")]
    pub second: PathBuf,
}

/// Prints both, and says whether they are alike by its exit status.
///
/// # Errors
/// A refusal when a file is no record; a fault when the output can not be written.
pub fn compare(words: &Words, environment: &Environment, out: &mut dyn Write) -> Result<u8, Error> {
    let (first, second) = (read_record(&words.first)?, read_record(&words.second)?);
    let found = verdict::unlike(&first, &second);
    printed(report::compare::text(&first, &second, &found, environment.out_style(), out))?;
    Ok(if report::compare::comparable(&found) { conduct::SOUND } else { conduct::NOT_SOUND })
}
