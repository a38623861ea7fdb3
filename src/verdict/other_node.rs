//! T61: the I/O was done by CPUs that are far from the device.

use super::measure::Stage;
use super::words::{names, on_node};
use super::{Judge, Rule, finding, no_storage};
use crate::evidence::{Layer, Node};
use crate::record::{Exhibit, Finding, Next, Record, Weight};

/// Every CPU on which a worker was seen is on another node than the device.
pub const RULE: Rule = Rule {
    id: "T61",
    title: "The other socket",
    happens: "On a machine with several sockets each I/O of a worker that runs far from the device crosses between them.",
    seen_by: "numa_node of the device or of the bus it hangs on; the CPUs on which the threads of the workers began and ended; the CPUs of each node.",
    said_when: "All of those CPUs are on other nodes than the device: a note. Two records whose workers ran on different nodes are unlike.",
    try_it: "`numactl --cpunodebind=1 assay quick .` with the drive at node 0.",
    answer: "Plans can name CPUs (`cpus`); the record says where the workers ran.",
    judge: Judge::Phase(judge),
};

fn judge(stage: &Stage<'_>, _: &[Finding]) -> Option<Finding> {
    let (nodes, ran) = (&stage.record.machine.nodes, stage.phase.evidence.ran.as_ref()?);
    if no_storage(stage) || ran.cpus.is_empty() {
        return None;
    }
    let layers = stage.cases.iter().flat_map(|case| &case.subject.stack);
    let (layer, near) = layers.filter_map(|layer| Some((layer, home(layer, nodes)?))).next()?;
    if ran.cpus.iter().any(|&cpu| near.has(cpu)) {
        return None;
    }
    let seen: Vec<String> = ran.cpus.iter().map(u32::to_string).collect();
    Some(finding(
        RULE.id,
        Weight::Note,
        None,
        format!(
            "The workers ran far from {}: it is near to the CPUs {}, and they were on {}.",
            layer.name,
            near.cpus,
            names(&seen)
        ),
        vec![
            exhibit(layer, near),
            Exhibit::new("the workers were seen on CPU", names(&seen), "sched_getcpu()"),
        ],
        Some(on_node(&stage.record.plan.origin, near.number)),
    ))
}

/// The node that a device is near to, of those that the machine has.
pub(super) fn home<'n>(layer: &Layer, nodes: &'n [Node]) -> Option<&'n Node> {
    nodes.iter().find(|node| Some(node.number) == layer.hardware.node)
}

/// Where a device is near to.
pub(super) fn exhibit(layer: &Layer, near: &Node) -> Exhibit {
    Exhibit::new(
        format!("node of {}", layer.name),
        format!("{}, with the CPUs {}", near.number, near.cpus),
        "numa_node, /sys/devices/system/node",
    )
}

/// The numbers of the nodes on which the workers of a run were seen, in order.
pub(super) fn nodes_of(record: &Record) -> Vec<u32> {
    let ran = record.phases.iter().filter_map(|phase| phase.evidence.ran.as_ref());
    let cpus: Vec<u32> = ran.flat_map(|ran| ran.cpus.iter().copied()).collect();
    let seen = |node: &&Node| cpus.iter().any(|&cpu| node.has(cpu));
    record.machine.nodes.iter().filter(seen).map(|node| node.number).collect()
}

/// What to do about CPUs that this process may not use.
pub(super) fn let_in() -> Next {
    Next::Do("let it run on the CPUs near to the device: taskset, cpuset.cpus".into())
}

#[cfg(test)]
mod tests {
    use super::super::bench::{Bench, verdict};
    use super::*;

    #[test]
    fn workers_on_the_other_node_are_named() {
        let mut bench = Bench::write_flushed();
        bench.nodes(1);
        bench.ran(&[0, 2], None);
        let found = verdict(&bench.record);
        let far = found.findings.iter().find(|f| f.trap.0 == "T61").expect("said");
        assert_eq!(
            far.claim,
            "The workers ran far from loop3: it is near to the CPUs 4-7, and they were on 0 and 2."
        );
        assert_eq!(
            far.next.as_ref().map(Next::words),
            Some(
                "numactl --cpunodebind=1 assay dd if=/dev/zero of=/mnt/x bs=1M count=20 conv=fsync"
            )
        );
        assert_eq!(nodes_of(&bench.record), [0]);
    }

    #[test]
    fn who_was_seen_near_to_it_once_is_not_far() {
        let mut bench = Bench::write_flushed();
        bench.nodes(0);
        bench.ran(&[2, 5], None);
        assert!(verdict(&bench.record).findings.iter().all(|f| f.trap.0 != "T61"));
        assert_eq!(nodes_of(&bench.record), [0, 1]);
    }
}
