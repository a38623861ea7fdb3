//! A gate where workers gather until all who could be started are there.

use std::sync::{Condvar, Mutex, PoisonError};

/// A barrier whose number is known only once every thread has been started.
#[derive(Debug, Default)]
pub(super) struct Gate {
    /// How many have come, and whether they may go on.
    state: Mutex<(usize, bool)>,
    changed: Condvar,
}

impl Gate {
    /// Waits until it is opened.
    pub fn pass(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 += 1;
        self.changed.notify_all();
        while !state.1 {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until so many have come, and opens it.
    pub fn open_for(&self, number: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.0 < number {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.1 = true;
        self.changed.notify_all();
    }
}
