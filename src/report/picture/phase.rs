//! A phase as pictures: its rate over its time, and how long its I/Os took.

use super::{Picture, latency, timeline};
use assay_record::record::PhaseRecord;

/// The pictures of a phase; none where too little was done.
pub fn pictures(phase: &PhaseRecord) -> Vec<Picture> {
    timeline::picture(phase).into_iter().chain(latency::picture(phase)).collect()
}
