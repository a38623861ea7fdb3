//! What a profile came to: for each figure the best of its runs, their mean and their spread.

use serde::{Deserialize, Serialize};

use super::{ToldClaim, Trust};
use assay_plan::plan::{Action, ProfileTool};
use assay_plan::unit::{Bandwidth, Iops, Nanos};

/// What a profile came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProfileResult {
    /// Whose it is.
    pub of: ProfileTool,
    pub cells: Vec<ProfileFigure>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProfileFigure {
    /// As that program calls it.
    pub title: String,
    /// Read or write.
    pub action: Action,
    /// Runs that counted.
    pub runs: u32,
    /// Bytes per second of the best run; what CrystalDiskMark shows. Absent when none was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<Bandwidth>,
    /// The mean of all runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<Bandwidth>,
    /// The worst run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<Bandwidth>,
    /// I/Os per second of the best run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<Iops>,
    /// The lowest of the mean latencies, of whichever run.
    #[serde(default, rename = "lat_ns", skip_serializing_if = "Option::is_none")]
    pub lat: Option<Nanos>,
    /// Whether all runs may be believed: that of the worst.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// Why it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<ToldClaim>,
}

impl ProfileFigure {
    /// How far the runs lie apart, as a share of their mean; `None` of one run.
    pub fn spread(&self) -> Option<f64> {
        let (best, mean, least) = (self.best?.0, self.mean?.0, self.least?.0);
        (self.runs > 1 && mean > 0.0).then(|| (best - least) / mean)
    }
}
