//! `assay run`: a plan from a file.

use std::io::Write;
use std::path::PathBuf;

use super::conduct::{PlanVerb, conduct};
use super::documents::read_plan;
use super::environment::Environment;
use super::output::OutputArgs;
use crate::error::Error;
use crate::plan::Plan;

/// The words of the verb.
#[derive(Clone, Debug, clap::Args)]
pub struct RunArgs {
    /// A plan as JSON, as --plan prints it
    #[arg(value_name = "PLAN")]
    pub file: PathBuf,
    /// What it shares with other verbs.
    #[command(flatten)]
    pub common: OutputArgs,
}

impl PlanVerb for RunArgs {
    /// The plan says itself of which words it was made.
    fn planned(&self, _typed: Vec<String>) -> Result<Plan, Error> {
        read_plan(&self.file)
    }

    fn output(&self) -> &OutputArgs {
        &self.common
    }

    /// Who wrote the file knows the places in it.
    fn run(
        &self,
        typed: Vec<String>,
        environment: &Environment,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> Result<u8, Error> {
        conduct(&self.planned(typed)?, &self.common, environment, out, err)
    }
}
