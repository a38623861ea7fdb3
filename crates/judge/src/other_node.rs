//! T61: the I/O was done by CPUs that are far from the device.

use super::measure::PhaseView;
use super::words::on_node;
use super::{Rule, RuleJudge, no_storage, note};
use assay_record::claim::{ExhibitOf, ExhibitValue, PlaceClaim};
use assay_record::evidence::NumaNode;
use assay_record::record::{Exhibit, Finding, Record, TrapId};

/// Every CPU on which a worker was seen is on another node than the device.
pub const RULE: Rule = Rule {
    id: TrapId::T61,
    title: "Wrong NUMA node",
    happens: "On a machine with several sockets, I/O from a CPU on another node than the device crosses the interconnect.",
    seen_by: "numa_node of the device or its bus; the CPUs on which the worker threads started and ended; the CPUs of each node.",
    said_when: "All of those CPUs are on other nodes than the device: a note. Where the workers of two records ran on different nodes, `assay compare` says so above the figures.",
    try_it: "`numactl --cpunodebind=1 assay quick .` with the drive on node 0.",
    answer: "Plans can pin CPUs (`cpus`); the record says where the workers ran.",
    judge: RuleJudge::Phase(judge),
};

fn judge(phase_view: &PhaseView<'_>, _: &[Finding]) -> Option<Finding> {
    let ran = phase_view.phase.evidence.ran.as_ref()?;
    if no_storage(phase_view) || ran.cpus.is_empty() {
        return None;
    }
    let (layer, near, shown) =
        phase_view.cases.iter().find_map(|flow_view| flow_view.facts().near().next())?;
    if ran.cpus.iter().any(|&cpu| near.has(cpu)) {
        return None;
    }
    let seen: Vec<String> = ran.cpus.iter().map(u32::to_string).collect();
    Some(note(
        RULE.id,
        PlaceClaim::OtherNode {
            device: layer.name.clone(),
            near: near.cpus.clone(),
            ran: seen.clone(),
        },
        vec![
            shown,
            Exhibit::new(ExhibitOf::CpusRunOn, ExhibitValue::Names(seen), "sched_getcpu()"),
        ],
        on_node(&phase_view.record.plan.origin, near.number),
    ))
}

/// The numbers of the nodes on which the workers of a run were seen, in order.
pub(super) fn nodes_of(record: &Record) -> Vec<u32> {
    let ran = record.phases.iter().filter_map(|phase| phase.evidence.ran.as_ref());
    let cpus: Vec<u32> = ran.flat_map(|ran| ran.cpus.iter().copied()).collect();
    let seen = |node: &&NumaNode| cpus.iter().any(|&cpu| node.has(cpu));
    record.machine().nodes.iter().filter(seen).map(|node| node.number).collect()
}

#[cfg(test)]
mod tests {
    use super::super::bench::{DoctoredRecord, verdict};
    use super::*;

    #[test]
    fn workers_on_the_other_node_are_named() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.nodes(1);
        bench.ran(&[0, 2], None);
        let found = verdict(&bench.record);
        let far = found.findings.iter().find(|f| f.trap == TrapId::T61).expect("said");
        assert_eq!(
            far.text(),
            "The workers ran on the wrong NUMA node: loop3 is local to CPUs 4-7, they ran on 0 and 2."
        );
        assert_eq!(
            far.next.as_ref().map(|next| next.words()),
            Some(
                "numactl --cpunodebind=1 assay dd if=/dev/zero of=/mnt/x bs=1M count=20 conv=fsync"
            )
        );
        assert_eq!(nodes_of(&bench.record), [0]);
    }

    #[test]
    fn who_was_seen_near_to_it_once_is_not_far() {
        let mut bench = DoctoredRecord::write_flushed();
        bench.nodes(0);
        bench.ran(&[2, 5], None);
        assert!(verdict(&bench.record).findings.iter().all(|f| f.trap != TrapId::T61));
        assert_eq!(nodes_of(&bench.record), [0, 1]);
    }
}
