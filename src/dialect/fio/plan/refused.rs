//! How a word that is not done is refused.

use crate::dialect::fio::job::asked::FioJob;
use crate::dialect::fio::job::complaint::FioPlace;
use assay_plan::error::Refusal;

/// Why a word is not done: its place, what it is, what to write instead.
pub(super) fn refused(job: &FioJob, word: &str, why: &str, instead: &str) -> Refusal {
    let typed = job.typed(word);
    let place = match typed.map(|typed| &typed.place) {
        Some(place @ FioPlace::Line { .. }) => place.to_string(),
        _ => format!("job '{}'", job.name),
    };
    let shown = typed.map_or_else(|| word.to_string(), |typed| typed.typed.clone());
    Refusal { place, why: format!("'{shown}': {why}"), instead: instead.into() }
}
