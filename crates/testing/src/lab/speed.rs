//! What a device may do per second, and the kernel's brake that enforces it.

use std::fs;
use std::io;
use std::path::PathBuf;

use super::Skip;
use super::group::{self, Room};

/// Limits per direction; 0 is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Speed {
    pub read_bps: u64,
    pub write_bps: u64,
    pub read_iops: u64,
    pub write_iops: u64,
}

impl Speed {
    /// No limit at all.
    pub const FREE: Speed = Speed { read_bps: 0, write_bps: 0, read_iops: 0, write_iops: 0 };

    /// Limits of bytes per second only.
    pub const fn bytes(read_bps: u64, write_bps: u64) -> Speed {
        Speed { read_bps, write_bps, read_iops: 0, write_iops: 0 }
    }

    /// Limits of bytes and of requests per second, the same in both directions.
    pub const fn both(bps: u64, iops: u64) -> Speed {
        Speed { read_bps: bps, write_bps: bps, read_iops: iops, write_iops: iops }
    }

    /// The line that cgroup v2 wants in `io.max`.
    pub(super) fn io_max(&self, number: &str) -> String {
        let word = |limit: u64| {
            if limit == 0 { "max".to_owned() } else { limit.to_string() }
        };
        format!(
            "{number} rbps={} wbps={} riops={} wiops={}",
            word(self.read_bps),
            word(self.write_bps),
            word(self.read_iops),
            word(self.write_iops)
        )
    }
}

/// How this kernel slows a device down.
pub(super) enum Brake {
    /// cgroup v1: a rule in the root group holds for everybody in the root group.
    V1(PathBuf),
    /// cgroup v2: only for what runs in a group made for it.
    V2,
}

/// The brake of this machine.
pub(super) fn brake() -> Result<Brake, Skip> {
    let rule = "blkio.throttle.write_bps_device";
    if let Some(root) = group::v1("blkio").filter(|root| root.join(rule).exists()) {
        return Ok(Brake::V1(root));
    }
    if group::v2("io").is_some() {
        return Ok(Brake::V2);
    }
    Err(Skip::Machine(
        "no v1 blkio throttle and no v2 io controller: no device of known speed".into(),
    ))
}

/// Writes the rules of cgroup v1 into one group's folder.
pub(super) fn set_v1(folder: &std::path::Path, number: &str, speed: Speed) -> io::Result<()> {
    for (name, limit) in [
        ("read_bps", speed.read_bps),
        ("write_bps", speed.write_bps),
        ("read_iops", speed.read_iops),
        ("write_iops", speed.write_iops),
    ] {
        fs::write(
            folder.join(format!("blkio.throttle.{name}_device")),
            format!("{number} {limit}"),
        )?;
    }
    Ok(())
}

/// Lifts every limit on a block device, wherever the lab may have set one.
pub(super) fn lift(name: &str) {
    let Ok(number) = fs::read_to_string(format!("/sys/block/{name}/dev")) else {
        return;
    };
    if let Some(root) = group::v1("blkio") {
        let _ = set_v1(&root, number.trim(), Speed::FREE);
    }
    for folder in group::lab_groups_v2() {
        let _ = fs::write(folder.join("io.max"), Speed::FREE.io_max(number.trim()));
    }
}

/// Where a process must be for the v1 root's rules to hold for it: nowhere else, mostly.
pub(super) fn rooms_v1(root: PathBuf) -> Vec<Room> {
    if group::own_path("blkio").is_some_and(|path| path == "/") {
        Vec::new()
    } else {
        vec![Room(root)]
    }
}
