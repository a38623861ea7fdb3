//! The machine's own copying is measured after a phase that it may have limited.

use crate::evidence::{CopySpeed, LeafKind, Reading, Subject, copying};
use crate::record::{Flow, Span};
use crate::unit::Bytes;

/// Machines of today copy faster than this, in bytes per second: below it the copying is no question,
/// and the ten milliseconds that it takes are spared.
const WORTH: f64 = 100e6;

/// Less than this is over before it tells how fast anything is.
const LEAST: Bytes = Bytes::mib(1);

/// How fast the machine copies, if a buffered flow to or from a device was fast enough to ask. After
/// the last edge: it disturbs nothing there.
pub(super) fn around(
    subjects: &[Subject],
    flows: &[Flow],
    span: &Span,
) -> Option<Reading<CopySpeed>> {
    let time = span.ended().since(span.started);
    let asks = |flow: &&Flow| {
        let on = subjects.get(flow.subject).map(|subject| &subject.bottom);
        let fast = flow.bytes.over(time).is_some_and(|rate| rate.0 >= WORTH);
        let enough = flow.bytes >= LEAST;
        enough && fast && flow.caching.through_memory() && on == Some(&LeafKind::Devices)
    };
    flows.iter().find(asks).map(|flow| copying(flow.block))
}
