//! Which study a plan has, of the list of all.

use serde::{Deserialize, Serialize};

use super::phase::Phase;
use super::{LessonPlan, ProfilePlan, RampPlan, SingleLoad, SweepPlan};

with_studies!(enumerated!(
    /// What a run wants to find out beyond the figures of its phases.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case", deny_unknown_fields)]
    pub enum StudyPlan
));

impl StudyPlan {
    /// The same of a plan in which each of these phases is written out as often as it is done: those that it names
    /// have numbers there.
    pub fn unrolled(mut self, phases: &[Phase]) -> Self {
        with_studies!(aim_unrolled!(&mut self, phases));
        self
    }
}
