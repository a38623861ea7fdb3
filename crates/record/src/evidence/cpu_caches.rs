//! The caches of the CPUs: what fits into one may never have left it, whatever a program calls a file.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::sys_root::SysRoot;
use assay_plan::unit::{Bytes, KIB};

/// A level of the caches that hold data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuCache {
    /// 1 is the one next to the CPU.
    pub level: u32,
    /// Of one cache of this level, the largest where CPUs differ.
    pub size: Bytes,
}

impl SysRoot {
    /// The caches by their level (`/sys/devices/system/cpu/cpu*/cache/index*`), those of instructions left
    /// out, of the first CPU; where CPUs differ (by their `cpu_capacity`, and in PCs with cores of two kinds) also of
    /// the last: the small ones are at one end and the large ones at the other. Empty where the kernel does not tell, as
    /// on many boards and in some virtual machines.
    pub(super) fn cpu_caches(&self) -> Vec<CpuCache> {
        const FOLDER: &str = "/sys/devices/system/cpu";
        let mut caches: Vec<CpuCache> = Vec::new();
        let number = |name: &String| name.strip_prefix("cpu")?.parse::<u32>().ok();
        let cpus: BTreeSet<u32> = self.names(FOLDER).iter().filter_map(number).collect();
        let (first, last) = (cpus.first(), cpus.last());
        let capacity = |cpu: &u32| self.number(format!("{FOLDER}/cpu{cpu}/cpu_capacity"));
        let differ = first.and_then(capacity) != last.and_then(capacity)
            || self.has("/sys/devices/cpu_atom");
        let ends = [first, last.filter(|_| differ)];
        for cpu in ends.into_iter().flatten() {
            let folder = format!("{FOLDER}/cpu{cpu}/cache");
            for index in self.names(&folder).into_iter().filter(|name| name.starts_with("index")) {
                let line = |what: &str| self.line(format!("{folder}/{index}/{what}"));
                let found = line("level").and_then(|level| level.parse().ok());
                let size = line("size").and_then(|size| in_bytes(&size));
                let (Some(level), Some(size)) = (found, size) else { continue };
                if line("type").is_some_and(|kind| kind == "Instruction") {
                    continue;
                }
                match caches.iter_mut().find(|known| known.level == level) {
                    Some(known) => known.size = known.size.max(size),
                    None => caches.push(CpuCache { level, size }),
                }
            }
        }
        caches.sort_by_key(|cache| cache.level);
        caches
    }
}

/// A size as the kernel writes it here: `32K`, `32768K`, `8M`.
fn in_bytes(text: &str) -> Option<Bytes> {
    let (number, unit) = match text.strip_suffix('K') {
        Some(number) => (number, KIB),
        None => text.strip_suffix('M').map_or((text, 1), |number| (number, KIB * KIB)),
    };
    number.parse::<u64>().ok()?.checked_mul(unit).map(Bytes)
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeSysRoot;
    use super::*;

    #[test]
    fn the_largest_of_each_level_that_holds_data_counts() {
        let scene = FakeSysRoot::new();
        let cache = |cpu: u32, index: u32, level: &str, kind: &str, size: &str| {
            let folder = format!("sys/devices/system/cpu/cpu{cpu}/cache/index{index}");
            scene.file(&format!("{folder}/level"), level);
            scene.file(&format!("{folder}/type"), kind);
            scene.file(&format!("{folder}/size"), size);
        };
        cache(0, 0, "1\n", "Data\n", "32K\n");
        cache(0, 1, "1\n", "Instruction\n", "64K\n");
        cache(0, 2, "2\n", "Unified\n", "512K\n");
        cache(2, 2, "2\n", "Unified\n", "1M\n");
        cache(10, 2, "2\n", "Unified\n", "2M\n");
        cache(10, 3, "3\n", "Unified\n", "broken\n");
        let known = |level, size| CpuCache { level, size: Bytes(size) };
        assert_eq!(scene.sys_root().cpu_caches(), [known(1, 32 << 10), known(2, 512 << 10)]);
        scene.file("sys/devices/system/cpu/cpu0/cpu_capacity", "446\n");
        scene.file("sys/devices/system/cpu/cpu10/cpu_capacity", "1024\n");
        assert_eq!(scene.sys_root().cpu_caches(), [known(1, 32 << 10), known(2, 2 << 20)]);
        assert_eq!(SysRoot::nowhere().cpu_caches(), []);
    }
}
