//! The nodes of a machine with several sockets: which CPUs, and which devices, are near each other.

use rustix::thread::sched_getaffinity;
use serde::{Deserialize, Serialize};

use super::SysRoot;

/// Some CPUs with the memory and the devices that are near to them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NumaNode {
    pub number: u32,
    /// Its CPUs as the kernel lists them: `0-15,32-47`.
    pub cpus: String,
    /// How many of them this process may use.
    pub usable: u32,
}

impl NumaNode {
    /// Whether a CPU is one of its own.
    pub fn has(&self, cpu: u32) -> bool {
        spans(&self.cpus).any(|(first, last)| (first..=last).contains(&cpu))
    }
}

/// The ranges of a list of CPUs, ends included; what is no range is passed over.
fn spans(list: &str) -> impl Iterator<Item = (u32, u32)> {
    list.split(',').filter_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
    })
}

impl SysRoot {
    /// The nodes that have CPUs (`/sys/devices/system/node/node*/cpulist`). Empty where there is
    /// only one: everything is near then.
    pub(super) fn nodes(&self) -> Vec<NumaNode> {
        const FOLDER: &str = "/sys/devices/system/node";
        // Of a doctored machine the CPUs are not those of this process.
        let may = sched_getaffinity(None).ok().filter(|_| self.real());
        let may_use = |cpu: u32| may.as_ref().is_none_or(|set| set.is_set(cpu as usize));
        let node = |name: String| {
            let number = name.strip_prefix("node")?.parse().ok()?;
            let cpus = self.line(format!("{FOLDER}/{name}/cpulist"))?;
            let usable =
                spans(&cpus).flat_map(|(first, last)| first..=last).filter(|&c| may_use(c));
            let usable = usable.count() as u32;
            Some(NumaNode { number, cpus, usable })
        };
        let nodes: Vec<NumaNode> = self.names(FOLDER).into_iter().filter_map(node).collect();
        if nodes.len() > 1 { nodes } else { Vec::new() }
    }

    /// The node that a device is near to: that of the nearest bus above it that says one
    /// (`numa_node`, -1 where it belongs to none).
    pub(super) fn node_of(&self, disk: &str) -> Option<u32> {
        let above = std::path::Path::new(disk).ancestors();
        let said = above.filter_map(|folder| self.line(folder.join("numa_node")));
        said.filter_map(|line| line.parse().ok()).next()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeSysRoot;
    use super::*;

    #[test]
    fn nodes_have_their_cpus_and_devices_their_node() {
        let tree = FakeSysRoot::of(&[
            ("sys/devices/system/node/node0/cpulist", "0-3,8"),
            ("sys/devices/system/node/node1/cpulist", "4-7"),
            ("sys/devices/system/node/node2/cpulist", ""),
            ("sys/devices/pci0000:80/0000:80:01.0/numa_node", "1"),
            ("sys/devices/pci0000:80/0000:80:01.0/nvme/nvme0/numa_node", "-1"),
        ]);
        let sys_root = tree.sys_root();
        let nodes = sys_root.nodes();
        let seen: Vec<_> = nodes.iter().map(|node| (node.number, node.usable)).collect();
        assert_eq!(seen, [(0, 5), (1, 4)]);
        assert!(nodes[0].has(8) && !nodes[0].has(4) && nodes[1].has(4));
        let disk = "/sys/devices/pci0000:80/0000:80:01.0/nvme/nvme0/nvme0n1";
        assert_eq!(sys_root.node_of(disk), Some(1));
        assert_eq!(sys_root.node_of("/sys/devices/virtual/block/loop0"), None);
    }

    #[test]
    fn one_node_is_none() {
        let tree = FakeSysRoot::of(&[("sys/devices/system/node/node0/cpulist", "0-3")]);
        assert!(tree.sys_root().nodes().is_empty());
        println!("{:?}", SysRoot::default().nodes());
    }
}
