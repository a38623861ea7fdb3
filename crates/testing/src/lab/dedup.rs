//! Storage that keeps the same data once: which blocks of what is written it has not had before.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Mutex;

/// The blocks that it has had, by a hash of what is in them; `None`: it does not look.
#[derive(Default)]
pub struct Known(Mutex<Option<HashSet<u64>>>);

impl Known {
    /// Looks at every block from now on.
    pub fn begin(&self) {
        *self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(HashSet::new());
    }

    /// Bytes of these data that are new to it.
    pub fn fresh(&self, data: &[u8]) -> u64 {
        const BLOCK: usize = 4096;
        let mut known = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let Some(known) = known.as_mut() else { return data.len() as u64 };
        let new = |block: &&[u8]| {
            let mut hash = DefaultHasher::new();
            block.hash(&mut hash);
            known.insert(hash.finish())
        };
        data.chunks(BLOCK).filter(new).map(|block| block.len() as u64).sum()
    }
}
