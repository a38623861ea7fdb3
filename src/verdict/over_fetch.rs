//! T12: reads here and there that fetch more than was asked for.

use super::measure::Case;
use super::{Judge, Rule, finding, read_beyond};
use crate::record::{Finding, Next, Weight};

/// Reads out of order, for which the kernel fetched more than a tenth beyond what was asked.
pub const RULE: Rule = Rule {
    id: "T12",
    title: "Small reads that fetch more",
    happens: "Small or strided buffered reads fetch a whole window, block or unit of compression each.",
    seen_by: "Bytes read from the device, and bytes that the kernel read for this process, against what was asked.",
    said_when: "Both are more than {MORE} above what was asked here and there: a note with the multiple.",
    try_it: "A plan that reads 4 KiB at random through a mapping (`advice` `normal`).",
    answer: "`quick` reads past the page cache where that is real.",
    judge: Judge::Flow(judge),
};

fn judge(case: &Case<'_>) -> Option<Finding> {
    let excess = read_beyond::excess(case).filter(|_| !case.flow.sequential)?;
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!(
            "The reads fetched more than they asked for: {} read {:.2} times as much.",
            excess.level.name(),
            excess.times
        ),
        excess.exhibits(),
        Some(Next::Do(
            "read past the cache, or tell the kernel that reads are random (in a plan: advice random)".into(),
        )),
    ))
}
