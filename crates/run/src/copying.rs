//! The machine's own copying is measured after a phase that it may have limited.

use assay_plan::unit::Bytes;
use assay_record::evidence::{COPIED, CopySpeed, LeafKind, Reading, copying};
use assay_record::record::{Flow, Resolved, Span};

/// Machines of today copy faster than this, in bytes per second: below it the copying is no question,
/// and the ten milliseconds that it takes are spared.
const WORTH: f64 = 100e6;

/// Less than this is over before it tells how fast anything is.
const LEAST: Bytes = Bytes::mib(1);

/// Of the memory that a control group allows the file that is copied takes no more than this part.
const PART: u64 = 8;

/// How fast the machine copies, if a buffered flow to or from a device was fast enough to ask. After
/// the last edge: it disturbs nothing there. Not where the control group has little memory: the kernel would
/// end a run that asks for more.
pub(super) fn around(
    resolved: &Resolved,
    flows: &[Flow],
    span: &Span,
) -> Option<Reading<CopySpeed>> {
    let time = span.ended().since(span.started);
    let asks = |flow: &&Flow| {
        let on = resolved.subjects.get(flow.subject).map(|subject| &subject.bottom);
        let fast = flow.bytes.over(time).is_some_and(|rate| rate.0 >= WORTH);
        let enough = flow.bytes >= LEAST;
        enough && fast && flow.caching.through_memory() && on == Some(&LeafKind::Devices)
    };
    let flow = flows.iter().find(asks)?;
    let allowed = resolved.limits.seen().and_then(|limits| limits.memory);
    let Some(allowed) = allowed.filter(|allowed| allowed.0 / PART < COPIED.0) else {
        return Some(copying(flow.block));
    };
    Some(Reading::Unseen(format!(
        "the control group allows {allowed} of memory, and to measure it takes {COPIED}"
    )))
}
