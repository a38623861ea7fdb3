//! Lists.

use serde::{Deserialize, Serialize};

/// A list whose items are lists themselves, or have commas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Series<T>(pub Vec<T>);
