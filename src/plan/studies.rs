//! Which study a plan has, of the list of all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LessonPlan, ProfilePlan, RampPlan, SingleLoad, SweepPlan};

with_studies!(enumerated!(
    /// What a run wants to find out beyond the figures of its phases.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case", deny_unknown_fields)]
    pub enum StudyPlan
));
