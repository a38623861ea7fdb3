//! `assay probe`: what lies under a path, and what would bite there, before anything is run.

use std::io::Write;
use std::path::PathBuf;

use super::{Environment, printed};
use crate::error::{Error, Refusal};
use crate::evidence::Scene;
use crate::record::{PROBE_SCHEMA, Probe};
use crate::report;
use crate::verdict::foresee;

/// The words of the verb.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example: assay probe /mnt/sd")]
pub struct Words {
    /// A folder, a file, a block device, or something that is not there yet
    ///
    /// It is looked at as far as this user may, and neither read nor written. Something that is not
    /// there yet is judged by the nearest folder above it.
    pub path: PathBuf,
    /// Print what was seen and found as JSON ('assay schema probe' describes it)
    #[arg(long)]
    pub json: bool,
}

/// Looks, judges and prints.
///
/// # Errors
/// A refusal when a file stands where a folder would have to be; a fault when the output can not be written. What can not be
/// seen is no error: it is printed.
pub fn probe(words: &Words, environment: &Environment, out: &mut dyn Write) -> Result<(), Error> {
    // An empty path is refused by the parser.
    let nowhere = std::fs::metadata(&words.path)
        .is_err_and(|error| error.kind() == std::io::ErrorKind::NotADirectory);
    if nowhere {
        return Err(Refusal::new(
            format!("'{}' can not be there: what is above it is no folder", words.path.display()),
            "name a folder, a file, a block device, or something that is not there yet",
        )
        .into());
    }
    let scene = Scene::default();
    let survey = scene.survey(&words.path);
    let machine = scene.machine();
    let findings = foresee::foresee(&survey, &machine);
    let next = foresee::next(&survey);
    let version = env!("CARGO_PKG_VERSION").to_string();
    let probe = Probe { schema: PROBE_SCHEMA.into(), version, survey, machine, findings, next };
    printed(match words.json {
        true => report::probe::json(&probe, out),
        false => report::probe::text(&probe, environment.out_style(), out),
    })
}
