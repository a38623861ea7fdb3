//! `assay run`: a plan from a file.

use std::io::Write;
use std::path::PathBuf;

use super::conduct::{PlanVerb, conduct};
use super::documents::read_plan;
use super::output::OutputArgs;
use crate::process::Environment;
use assay_plan::error::{Error, Refusal};
use assay_plan::name::{NameText as _, quoted};
use assay_plan::plan::Plan;
use assay_record::record::ExpectedLoss;
use assay_run as run;

/// The words of the verb.
#[derive(Clone, Debug, clap::Args)]
pub struct RunArgs {
    /// A plan as JSON, as --plan prints it
    #[arg(value_name = "PLAN")]
    pub file: PathBuf,
    /// Each file or block device that the plan may write over, by its name; a device that is not empty, twice
    ///
    /// What the plan itself allows counts for nothing: it may be a stranger's.
    #[arg(value_name = "OVERWRITTEN")]
    pub overwritten: Vec<PathBuf>,
    /// What it shares with other verbs.
    #[command(flatten)]
    pub common: OutputArgs,
}

impl RunArgs {
    /// The plan, allowed to write over what is named here, and what it would write over beside that.
    fn allowed(&self) -> Result<(Plan, Vec<ExpectedLoss>), Error> {
        let mut plan = read_plan(&self.file)?;
        let losses = run::allow(&mut plan, &self.overwritten)?;
        Ok((plan, losses))
    }

    /// Why the plan is not run.
    fn refusal(&self, loss: &ExpectedLoss) -> Refusal {
        let path = quoted(&loss.path.to_text());
        let times = self.overwritten.iter().filter(|named| **named == loss.path).count();
        let instead = match loss.in_use {
            true => "let go of it first, or have the plan name another".into(),
            false => {
                let named = format!(" {path}").repeat(times + 1);
                let file = quoted(&self.file.to_text());
                format!("to lose that, name it behind the plan: assay run {file}{named}")
            }
        };
        Refusal::new(format!("will not write: {}", loss.why()), instead)
    }
}

impl PlanVerb for RunArgs {
    /// The plan says itself of which words it was made.
    fn planned(&self, _typed: Vec<String>) -> Result<Plan, Error> {
        Ok(self.allowed()?.0)
    }

    fn output(&self) -> &OutputArgs {
        &self.common
    }

    /// Who wrote the file knows the places in it.
    fn run(
        &self,
        _typed: Vec<String>,
        environment: &Environment,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> Result<u8, Error> {
        let (plan, losses) = self.allowed()?;
        if let Some(loss) = losses.iter().find(|loss| loss.refused) {
            return Err(self.refusal(loss).into());
        }
        conduct(&plan, &self.common, environment, out, err)
    }
}
