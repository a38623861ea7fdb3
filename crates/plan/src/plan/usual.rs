//! Values that a document leaves out because they are the usual ones, and how values are read.

use serde::{Deserialize, Deserializer};

use super::shared::Shared;

/// What was read, with no room for more: of a plan there may be thousands of phases.
pub(super) fn exact<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    document: D,
) -> Result<Shared<Vec<T>>, D::Error> {
    let mut all = Vec::deserialize(document)?;
    all.shrink_to_fit();
    Ok(all.into())
}

/// What there is one of where nothing else is said.
pub(super) fn one() -> u32 {
    1
}

/// Whether it is one.
pub(super) fn is_one(number: &u32) -> bool {
    *number == 1
}

/// Whether it is what it would be where nothing is said.
pub(super) fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
