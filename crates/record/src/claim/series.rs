//! Lists.

use serde::{Deserialize, Serialize};

/// A list whose items are lists themselves, or have commas.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Series<T>(pub Vec<T>);

/// Values side by side.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Values<T>(pub Vec<T>);
