//! T11: read-ahead fetched more than was asked for.
//!
//! Its own difference: what the kernel read for this process is an account beside the two that the ledger
//! compares, of the calls and of the device.

use super::measure::{DeviceLevel, FlowView};
use super::threshold::{MORE, OWN_BYTES};
use super::{Rule, RuleJudge, note};
use assay_plan::unit::{Bytes, Times};
use assay_record::claim::{ExhibitOf, ExhibitValue, MemoryClaim};
use assay_record::evidence::Direction;
use assay_record::record::{Exhibit, Finding, TrapId};

/// Reads in order, for which the kernel fetched more than a tenth beyond what was asked.
pub const RULE: Rule = Rule {
    id: TrapId::T11,
    title: "Read-ahead past the end",
    happens: "Read-ahead is still running when the tool stops: the device reads more than was requested.",
    seen_by: "Bytes read from the device, and bytes the kernel read for this process, against the bytes requested.",
    said_when: "Both are more than {MORE} above what sequential reads requested: a note; rates count the requested bytes.",
    try_it: "`assay dd if=x of=/dev/null bs=4k count=1000` of a large file with a large read-ahead.",
    answer: "Counts what the calls returned, never what the device read.",
    judge: RuleJudge::Flow(judge),
};

/// What the device read for a flow beyond what was asked.
pub(super) struct ExcessReads<'c, 'a> {
    pub level: &'c DeviceLevel<'a>,
    /// What it read, as a multiple of what was asked.
    pub times: f64,
    /// What the kernel read for this process.
    pub own: Bytes,
}

/// More than a tenth beyond what was asked, and the kernel says that it was read for us.
pub(super) fn excess<'c, 'a>(flow_view: &'c FlowView<'a>) -> Option<ExcessReads<'c, 'a>> {
    if !flow_view.reads() || !flow_view.on_devices() || flow_view.direct() || flow_view.of_trees() {
        return None;
    }
    let level = flow_view.top()?;
    let asked = level.asked.read;
    let evidence = &flow_view.phase.evidence;
    let own = evidence.stop.own_since(&evidence.before)?.read_bytes.0;
    let times = level.reach(Direction::Read)?;
    let more = |bytes: u64| bytes as f64 > asked as f64 * (1.0 + MORE) && bytes - asked > OWN_BYTES;
    (more(own) && more(level.moved(Direction::Read))).then_some(ExcessReads {
        level,
        times,
        own: Bytes(own),
    })
}

impl ExcessReads<'_, '_> {
    /// The two readings that show it.
    pub fn exhibits(&self) -> Vec<Exhibit> {
        let asked = Bytes(self.level.asked.read);
        vec![
            self.level.exhibit(Direction::Read),
            Exhibit::new(
                ExhibitOf::ReadByKernel,
                ExhibitValue::ReadRequested { read: self.own, requested: asked },
                "/proc/self/io read_bytes",
            ),
        ]
    }
}

fn judge(flow_view: &FlowView<'_>) -> Option<Finding> {
    let excess = excess(flow_view).filter(|_| flow_view.flow.sequential)?;
    Some(note(
        RULE.id,
        MemoryClaim::ReadPastEnd { device: excess.level.name(), times: Times(excess.times) },
        excess.exhibits(),
        None,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use assay_plan::unit::Bytes;
    use assay_record::record::{TrapId, Trust};

    fn traps(bench: &DoctoredRecord) -> Vec<TrapId> {
        let found = verdict(&bench.record);
        assert_eq!(found.trust, Trust::Sound, "{found:?}");
        found.findings.into_iter().map(|f| f.trap).collect()
    }

    #[test]
    fn what_the_kernel_read_for_us_is_ours() {
        let mut bench = DoctoredRecord::read_cold();
        bench.was_read(Bytes::kib(23_000));
        bench.own_read(Bytes::mib(24));
        assert_eq!(traps(&bench), [TrapId::T11]);
        bench.record.phases[0].flows[0].sequential = false;
        assert!(traps(&bench).contains(&TrapId::T12));
        bench.own_read(Bytes::mib(20));
        assert!(!traps(&bench).contains(&TrapId::T12));
    }
}
