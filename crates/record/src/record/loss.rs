//! What would be lost where something is written over.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use assay_plan::name::NameText as _;

/// What would be lost on a block device, or of a file, that a plan writes over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExpectedLoss {
    /// The device or file.
    #[serde(with = "assay_plan::name::one")]
    #[cfg_attr(feature = "schema", schemars(with = "assay_plan::name::PathText"))]
    pub path: PathBuf,
    /// Who uses it: `sdb1 is mounted on /mnt`. Or why that, or what it holds, cannot be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<String>,
    /// What it holds: `an XFS file system ('xfs' to wipefs)`, `12 MiB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<String>,
    /// Whether the run is refused for that: its user has not named it as one that may be lost.
    pub refused: bool,
    /// Whether it is in use, so that no word of assay allows it.
    pub in_use: bool,
}

impl ExpectedLoss {
    /// What stands against writing to it: `/dev/sdb: sdb1 is mounted on /mnt`, `/dev/sdb holds a GPT partition table`.
    pub fn why(&self) -> String {
        let path = self.path.to_text();
        match (&self.used, &self.holds) {
            (Some(used), _) => format!("{path}: {used}"),
            (None, Some(holds)) => format!("{path} holds {holds}"),
            (None, None) => format!("{path} is not known to be empty"),
        }
    }

    /// The same with what it holds beside who uses it, and what becomes of that.
    pub fn told(&self) -> String {
        let holds = self.used.as_ref().and(self.holds.as_ref());
        let holds = holds.map(|holds| format!(", and it holds {holds}")).unwrap_or_default();
        let end = if self.refused { "; the run will be refused" } else { "" };
        format!("{}{holds}: that would be lost{end}", self.why())
    }
}
