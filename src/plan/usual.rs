//! Values that a document leaves out because they are the usual ones.

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
