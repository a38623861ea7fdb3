//! A surprise in a word of a job.

use super::asked::{FioJob, FioNote};
use super::complaint::FioPlace;

impl FioNote {
    /// About a word of this job, or of its defaults, as it was typed: what fio makes of it, what was probably
    /// meant, and what says that.
    pub(in crate::dialect::fio) fn about(
        job: &FioJob,
        name: &str,
        made: String,
        meant: &str,
        instead: &str,
    ) -> Self {
        let typed = job.typed(name);
        let place = typed.map(|typed| typed.place.clone()).or_else(|| job.place.clone());
        Self {
            job: job.name.clone(),
            place: place.unwrap_or(FioPlace::Word(1)),
            word: typed.map_or_else(|| name.to_string(), |typed| typed.typed.clone()),
            made,
            meant: meant.into(),
            instead: instead.into(),
        }
    }
}
