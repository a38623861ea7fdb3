//! What is said of words that make no sense: by the tool, and by us.

use super::BonnieVersion;
use assay_plan::error::Refusal;

/// Instead of a plan: what to print on standard error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BonnieComplaint {
    /// The tool's own line, where it has one.
    pub said: String,
    /// It says how it is used.
    pub usage: Option<BonnieVersion>,
    /// What is wrong and what to write instead, which the tool does not say.
    pub refusal: Refusal,
}

impl BonnieComplaint {
    /// One that the tool answers with its usage alone.
    pub(super) fn new(
        form: BonnieVersion,
        why: impl Into<String>,
        instead: impl Into<String>,
    ) -> Self {
        let refusal = Refusal::new(why, instead);
        Self { said: String::new(), usage: Some(form), refusal }
    }

    /// The same with a line of the tool's before it.
    pub(super) fn saying(self, line: impl Into<String>) -> Self {
        Self { said: format!("{}\n", line.into()), ..self }
    }
}
