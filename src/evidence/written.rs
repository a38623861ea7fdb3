//! What a device is known to have been written to in its life.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Scene, diskstats};
use crate::unit::{Bytes, KIB};

/// Bytes that a device has certainly taken. Each number is a part of the truth: counters begin at
/// boot, those of a file system when it was made, and trims undo what was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Written {
    /// Since the machine was started (`/sys/block/D/stat`).
    pub since_boot: Option<Bytes>,
    /// By its file systems since they were made (`lifetime_write_kbytes` of ext4 and f2fs), together.
    pub by_systems: Option<Bytes>,
}

impl Written {
    /// As much at the least.
    pub fn least(&self) -> Bytes {
        self.since_boot.max(self.by_systems).unwrap_or_default()
    }
}

/// Of the disk with this sysfs folder.
pub(super) fn read(scene: &Scene, disk: &str) -> Written {
    let stat = scene.text(format!("{disk}/stat")).ok();
    let counters = stat.and_then(|text| diskstats::parse(&text).ok());
    Written {
        since_boot: counters.map(|counters| Bytes(counters.write_bytes)),
        by_systems: by_systems(scene, disk),
    }
}

/// What the file systems say that are mounted from the disk itself or a partition of it.
fn by_systems(scene: &Scene, disk: &str) -> Option<Bytes> {
    let partitions = scene.names(disk).into_iter();
    let partitions = partitions.filter(|name| scene.has(format!("{disk}/{name}/partition")));
    let own = super::stack::last(disk).to_string();
    let kib = std::iter::once(own).chain(partitions).filter_map(|name| {
        ["ext4", "f2fs"]
            .iter()
            .find_map(|kind| scene.number(format!("/sys/fs/{kind}/{name}/lifetime_write_kbytes")))
    });
    kib.reduce(u64::saturating_add).map(|kib| Bytes(kib.saturating_mul(KIB)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_and_file_systems_of_all_partitions_are_read() {
        let tree = tempfile::tempdir().unwrap();
        let scene = Scene::under(tree.path());
        let file = |name: &str, text: &str| {
            let path = tree.path().join("sys").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        file("devices/sda/stat", "1 0 2 3 4 0 4096 5 0 6 7");
        file("devices/sda/sda1/partition", "1\n");
        file("devices/sda/sda2/partition", "2\n");
        file("devices/sda/queue/nr_requests", "64\n");
        assert_eq!(read(&scene, "/sys/devices/sda").by_systems, None);
        file("fs/ext4/sda1/lifetime_write_kbytes", "1024\n");
        file("fs/f2fs/sda2/lifetime_write_kbytes", "3072\n");
        let seen = read(&scene, "/sys/devices/sda");
        assert_eq!(seen.since_boot, Some(Bytes::mib(2)));
        assert_eq!(seen.by_systems, Some(Bytes::mib(4)));
        assert_eq!(seen.least(), Bytes::mib(4));
        assert_eq!(read(&scene, "/sys/devices/sdb").least(), Bytes::ZERO);
    }
}
