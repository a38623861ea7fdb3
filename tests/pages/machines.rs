//! Machines that are not here: a doctored `/proc` and `/sys` each.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::path::Path;

use assay_plan::unit::{Bytes, GIB};
use assay_record::evidence::{FilesystemSpace, Inodes, PathPermissions, Reading, Survey, SysRoot};

/// A machine made of files.
pub struct Tree(pub tempfile::TempDir);

impl Tree {
    pub fn new(mounts: &str) -> Self {
        let tree = Self(tempfile::tempdir().expect("a folder"));
        for folder in ["sys/dev/block", "sys/class/block", "sys/block", "sys/fs/btrfs", "mnt/sd"] {
            std::fs::create_dir_all(tree.0.path().join(folder)).expect("made");
        }
        tree.files(
            "proc",
            &[
                ("self/mountinfo", mounts),
                ("swaps", "Filename Type Size Used Priority\n"),
                ("sys/vm/dirty_ratio", "20"),
                ("sys/vm/dirty_expire_centisecs", "3000"),
            ],
        );
        let page = rustix::param::page_size() as u64;
        let pages = |bytes: u64| bytes / page;
        tree.file(
            "proc/vmstat",
            &format!(
                "nr_dirty_threshold {}\nnr_dirty_background_threshold {}\n",
                pages(GIB),
                pages(GIB / 2)
            ),
        );
        tree.file("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance");
        tree
    }

    pub fn file(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, format!("{text}\n")).expect("written");
    }

    pub fn files(&self, folder: &str, files: &[(&str, &str)]) {
        for (name, text) in files {
            self.file(&format!("{folder}/{name}"), text);
        }
    }

    pub fn link(&self, from: &str, to: &str) {
        let path = self.0.path().join(from);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        let ups = "../".repeat(from.matches('/').count());
        std::os::unix::fs::symlink(format!("{ups}{to}"), path).expect("linked");
    }

    /// A disk of so many GiB in a folder of `sys/devices`, as most are.
    pub fn disk(&self, folder: &str, number: &str, gib: u64) {
        let folder = format!("sys/devices/{folder}");
        let name = folder.rsplit('/').next().expect("a name");
        self.files(&folder, &[("dev", number), ("size", &(gib * GIB / 512).to_string())]);
        self.files(
            &format!("{folder}/queue"),
            &[
                ("scheduler", "none [mq-deadline] kyber"),
                ("nr_requests", "64"),
                ("max_sectors_kb", "1280"),
                ("max_segments", "168"),
                ("read_ahead_kb", "128"),
                ("logical_block_size", "512"),
                ("physical_block_size", "512"),
                ("optimal_io_size", "0"),
                ("write_cache", "write back"),
                ("fua", "0"),
                ("rotational", "0"),
                ("iostats", "1"),
                ("zoned", "none"),
                ("wbt_lat_usec", "2000"),
                ("discard_max_bytes", "0"),
            ],
        );
        self.link(&format!("sys/block/{name}"), &folder);
        self.known(&folder, number);
    }

    pub fn partition(&self, folder: &str, number: &str, start: u64) {
        let folder = format!("sys/devices/{folder}");
        self.files(
            &folder,
            &[
                ("dev", number),
                ("size", "1"),
                ("partition", "1"),
                ("start", &(start / 512).to_string()),
                ("alignment_offset", "0"),
            ],
        );
        self.known(&folder, number);
    }

    pub fn known(&self, folder: &str, number: &str) {
        let name = folder.rsplit('/').next().expect("a name");
        self.link(&format!("sys/dev/block/{number}"), folder);
        self.link(&format!("sys/class/block/{name}"), folder);
    }

    pub fn slave(&self, folder: &str, slave: &str) {
        let name = slave.rsplit('/').next().expect("a name");
        self.link(&format!("sys/devices/{folder}/slaves/{name}"), &format!("sys/devices/{slave}"));
    }

    pub fn survey(&self, path: &str) -> Survey {
        let mut survey = SysRoot::under(self.0.path()).survey(Path::new(path));
        // What system calls say is of the machine that runs the test.
        let space =
            FilesystemSpace { total: Bytes(28 * GIB), free: Bytes(20 * GIB), block: Bytes(4096) };
        survey.space = survey.space.map(|_| space);
        survey.inodes = survey.inodes.map(|_| Inodes { total: 1_835_008, free: 1_800_000 });
        survey.may = Reading::Seen(PathPermissions { read: true, write: true });
        survey
    }
}
