//! What work costs beyond CPU time: how many I/Os a call takes, context switches, page faults.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Sizes of calls: 0, 1, 2, up to 4, up to 8 ... up to 4096.
const CELLS: usize = 14;

/// Running counts of calls by how many I/Os each took.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallSizes([u64; CELLS]);

impl CallSizes {
    /// A call took so many.
    #[inline]
    pub fn add(&mut self, ios: u32) {
        let cell = if ios == 0 { 0 } else { (u32::BITS - (ios - 1).leading_zeros()) as usize + 1 };
        self.0[cell.min(CELLS - 1)] += 1;
    }

    /// Adds another worker's.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }

    /// The sizes that came, as the largest of each class, with how many calls had it.
    fn told(&self) -> Vec<(u32, u64)> {
        let most = |cell: u32| cell.checked_sub(1).map_or(0, |power| 1 << power);
        (0..).zip(self.0).filter(|(_, n)| *n > 0).map(|(cell, n)| (most(cell), n)).collect()
    }
}

/// What threads asked of the kernel beside their calls (getrusage(2)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadEvents {
    /// Times that they left a CPU: because they waited, or because others had their turn.
    pub switches: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Page faults that did not.
    pub minor_faults: u64,
}

impl ThreadEvents {
    /// What has happened since then.
    #[must_use]
    pub fn since(self, then: Self) -> Self {
        Self {
            switches: self.switches.saturating_sub(then.switches),
            major_faults: self.major_faults.saturating_sub(then.major_faults),
            minor_faults: self.minor_faults.saturating_sub(then.minor_faults),
        }
    }
}

impl AddAssign for ThreadEvents {
    fn add_assign(&mut self, other: Self) {
        self.switches += other.switches;
        self.major_faults += other.major_faults;
        self.minor_faults += other.minor_faults;
    }
}

/// What the work of a job cost beyond CPU time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkCosts {
    /// Context switches of its workers, absent where the kernel does not tell, as the two below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_switches: Option<u64>,
    /// Their page faults that needed I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub major_faults: Option<u64>,
    /// Their page faults that did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minor_faults: Option<u64>,
    /// Calls that handed I/Os over, by how many each took: up to this many (1, 2, 4, 8...), and more than half of
    /// it. Absent of methods whose calls take one I/O.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub submitted: Vec<(u32, u64)>,
    /// The same of how many answers were found together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answered: Vec<(u32, u64)>,
}

impl WorkCosts {
    /// Of what was counted.
    pub fn of(events: Option<ThreadEvents>, submitted: &CallSizes, answered: &CallSizes) -> Self {
        Self {
            context_switches: events.map(|events| events.switches),
            major_faults: events.map(|events| events.major_faults),
            minor_faults: events.map(|events| events.minor_faults),
            submitted: submitted.told(),
            answered: answered.told(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_powers_of_two() {
        let mut sizes = CallSizes::default();
        [0, 1, 2, 3, 4, 5, 8, 9, 64, 65, 100_000].into_iter().for_each(|ios| sizes.add(ios));
        let told = [(0, 1), (1, 1), (2, 1), (4, 2), (8, 2), (16, 1), (64, 1), (128, 1), (4096, 1)];
        assert_eq!(sizes.told(), told);
    }
}
