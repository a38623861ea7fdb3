//! T12: reads here and there that fetch more than was asked for.

use super::measure::FlowView;
use super::{Rule, RuleJudge, advice, note, read_beyond};
use assay_plan::unit::Times;
use assay_record::claim::MemoryClaim;
use assay_record::record::{Finding, TrapId};

/// Reads out of order, for which the kernel fetched more than a tenth beyond what was asked.
pub const RULE: Rule = Rule {
    id: TrapId::T12,
    title: "Small reads fetch more",
    happens: "Each small or strided buffered read fetches a whole read-ahead window, block or compression unit.",
    seen_by: "Bytes read from the device, and bytes the kernel read for this process, against the bytes requested.",
    said_when: "Both are more than {MORE} above what random reads requested: a note with the factor.",
    try_it: "A plan that reads 4 KiB at random through a mapping (`advice` `normal`).",
    answer: "`quick` uses direct I/O where it is real.",
    judge: RuleJudge::Flow(judge),
};

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    let excess = read_beyond::excess(flow_view).filter(|_| !flow_view.flow.sequential)?;
    Some(note(
        RULE.id,
        MemoryClaim::ReadAmplified { device: excess.level.name(), times: Times(excess.times) },
        excess.exhibits(),
        advice::direct(flow_view),
    ))
}
