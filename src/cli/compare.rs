//! `assay compare`: two records, or two folders of them, and what forbids to compare their figures.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::documents::read_record;
use crate::process::Environment;
use crate::process::stdout::printed;
use crate::process::{NOT_SOUND, SOUND};
use crate::report;
use assay_plan::error::{Doing, Error, Fault, Refusal};
use assay_plan::name::NameText as _;
use assay_record::record::{JsonLayout, Record, write_json};
use {assay_judge as verdict, assay_run as run};

/// The words of the verb.
#[derive(Clone, Debug, clap::Args)]
#[command(
    after_help = "Of two runs the figures are shown side by side. A difference can be told from chance where each\n\
side is a folder of five records or more of the same work: then the change is shown, with its\n\
interval. What else has changed (kernel, mount options, limits, device) stands above the\n\
figures; unlike work is not compared.\n\n\
Runs that are not sound are left out where they are the fewer of their side; else the figure is\n\
shown, and not compared.\n\n\
Exit status: 0 the runs are comparable; 3 they are not, or none of their figures is\n\
sound.\n\n\
Example: for i in 1 2 3 4 5; do assay quick --record before/$i.json /mnt; done\n         \
assay compare before after"
)]
pub struct CompareArgs {
    /// A record that --record or ASSAY_RECORD wrote, or a folder of them (*.json)
    #[arg(value_name = "FIRST")]
    pub first: PathBuf,
    /// Another one
    #[arg(value_name = "SECOND")]
    pub second: PathBuf,
    /// Print it as JSON ('assay schema comparison' describes it)
    #[arg(long)]
    pub json: bool,
}

/// Prints both, and says whether they are alike by its exit status.
///
/// # Errors
/// A refusal when a file is no record, or a folder has none; a fault when the output cannot be written.
pub fn compare(
    words: &CompareArgs,
    environment: &Environment,
    out: &mut dyn Write,
) -> Result<u8, Error> {
    let (first, second) = (side(&words.first)?, side(&words.second)?);
    let (first, second): (Vec<_>, Vec<_>) = (first.iter().collect(), second.iter().collect());
    let found = verdict::unlike(&first, &second);
    let sides = report::compare::ComparedSides::of(&first, &second, found);
    let comparable = sides.comparable();
    let outcome = if words.json {
        write_json(&sides.document(), JsonLayout::Indented, out).and_then(|()| writeln!(out))
    } else {
        sides.text(environment.out_style(), out)
    };
    printed(outcome)?;
    Ok(if comparable { SOUND } else { NOT_SOUND })
}

/// The records of a side, in the order in which they were made.
fn side(path: &Path) -> Result<Vec<Record>, Error> {
    if !path.is_dir() {
        return Ok(vec![read_record(path)?]);
    }
    let read = |error| Fault::new(Doing::Read, path.to_text(), &error);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(read)? {
        files.push(entry.map_err(read)?.path());
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    if files.is_empty() {
        return Err(Refusal::new(
            format!("there is no record in '{}'", path.to_text()),
            "give a folder of files *.json that --record or ASSAY_RECORD wrote",
        )
        .into());
    }
    let mut records = files.iter().map(|file| read_record(file)).collect::<Result<Vec<_>, _>>()?;
    records.sort_by_key(run::began);
    Ok(records)
}
