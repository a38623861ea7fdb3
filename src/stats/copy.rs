//! placeholder replaced by the dd branch
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
/// What dd counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CopyCounts {
    /// Full blocks read.
    pub reads_full: u64,
    /// Short blocks read.
    pub reads_partial: u64,
    /// Full blocks written.
    pub writes_full: u64,
    /// Short blocks written.
    pub writes_partial: u64,
    /// Records cut by `cbs`.
    pub truncated: u64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
}
