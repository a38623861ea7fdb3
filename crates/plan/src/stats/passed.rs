//! Errors that were passed over.

use serde::{Deserialize, Serialize};

/// Errors of single I/Os that did not end their job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PassedErrors {
    /// How many.
    pub count: u64,
    /// The number (`errno`) of the first; 0 of none.
    pub first: i32,
}

impl PassedErrors {
    /// One more.
    #[cold]
    pub fn add(&mut self, errno: i32) {
        self.merge(&Self { count: 1, first: errno });
    }

    /// Others, that came later or at the same time.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        if self.first == 0 {
            self.first = other.first;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_stays_the_first() {
        let mut passed = PassedErrors::default();
        passed.merge(&PassedErrors::default());
        passed.add(28);
        passed.merge(&PassedErrors { count: 2, first: 5 });
        assert_eq!(passed, PassedErrors { count: 3, first: 28 });
    }
}
