//! Writes that are drawn and never made: their places are read, to verify what another run has written there.

use serde::{Deserialize, Serialize};

use crate::unit::{Bytes, Ops};

/// How many writes were passed over, and what they would have moved. Nothing of it reached a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PhantomWrites {
    /// How many.
    pub ops: Ops,
    /// Bytes that they would have moved.
    pub bytes: Bytes,
}

impl PhantomWrites {
    /// One more.
    #[inline]
    pub fn add(&mut self, len: u32) {
        self.merge(Self { ops: Ops(1), bytes: Bytes(len.into()) });
    }

    /// Those of another worker.
    #[inline]
    pub fn merge(&mut self, other: Self) {
        self.ops.0 += other.ops.0;
        self.bytes.0 += other.bytes.0;
    }
}
