//! Single I/Os, where a plan has them kept: where each went, and how long it took.

use serde::{Deserialize, Serialize};

use crate::unit::{Bytes, Nanos};

/// One I/O that was answered without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SingleIo {
    /// Where it went, in its file or device.
    pub offset: Bytes,
    /// When it was sent, ns after `span.started`.
    pub at_ns: Nanos,
    /// How long it took.
    pub lat_ns: Nanos,
}
