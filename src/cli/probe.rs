//! `assay probe`: what lies under a path, and what would bite there, before anything is run.

use std::io::Write;
use std::path::PathBuf;

use crate::process::Environment;
use crate::process::stdout::printed;
use crate::report;
use assay_judge::predict;
use assay_plan::error::{Error, Refusal};
use assay_plan::name::NameText as _;
use assay_record::evidence::SysRoot;
use assay_record::record::{PROBE_SCHEMA, ProbeResult};

/// The words of the verb.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Example: assay probe /mnt/sd")]
pub struct ProbeArgs {
    /// A folder, a file, a block device, or something that is not there yet
    ///
    /// assay looks at it as far as this user may, and neither reads nor writes it. Something that is not
    /// there yet is judged by the nearest folder above it.
    pub path: PathBuf,
    /// Print what was seen and found as JSON ('assay schema probe' describes it)
    #[arg(long)]
    pub json: bool,
}

/// Looks, judges and prints.
///
/// # Errors
/// A refusal when a file stands where a folder would have to be; a fault when the output cannot be written. What cannot be
/// seen is no error: it is printed.
pub fn probe(
    words: &ProbeArgs,
    environment: &Environment,
    out: &mut dyn Write,
) -> Result<(), Error> {
    // An empty path is refused by the parser.
    let nowhere = std::fs::metadata(&words.path)
        .is_err_and(|error| error.kind() == std::io::ErrorKind::NotADirectory);
    if nowhere {
        return Err(Refusal::new(
            format!("'{}' cannot be there: what is above it is no folder", words.path.to_text()),
            "name a folder, a file, a block device, or something that is not there yet",
        )
        .into());
    }
    let sys_root = SysRoot::default();
    let survey = sys_root.survey(&words.path);
    let machine = sys_root.machine();
    let findings = predict::foresee(&survey, &machine);
    let next = predict::next(&survey);
    let version = env!("CARGO_PKG_VERSION").to_string();
    let probe =
        ProbeResult { schema: PROBE_SCHEMA.into(), version, survey, machine, findings, next };
    printed(match words.json {
        true => report::probe::json(&probe, out),
        false => report::probe::text(&probe, environment.out_style(), out),
    })
}
