//! A drive that takes sectors of 512 bytes and keeps sectors of 4096, and partitions anywhere on it.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};

use super::Skip;
use super::card::{attach, need_loop, solid_image};
use super::den::{Folder, folder, undo};
use super::skip::{broken, need_root, need_tool, run};

/// What drives of kind 512e are, made of two loop devices: one with sectors of 4096 bytes, and upon it
/// one with sectors of 512. It is gone, with its partitions, when it is dropped.
pub struct Emulated {
    device: PathBuf,
    partitions: Vec<u32>,
    folder: Folder,
}

impl Emulated {
    /// One of so many bytes.
    pub fn new(size: u64) -> Result<Emulated, Skip> {
        need_root()?;
        need_loop()?;
        let losetup = need_tool("losetup", "mount")?;
        let folder = folder("emulated");
        let lower = attach(&losetup, &solid_image(&folder, size)?, 4096, true)?;
        // By a name in our own folder, so that a sweep finds what rests on it.
        let node = folder.path().join("large-sectors");
        let make = || {
            let number = fs::read_to_string(sys(&lower).join("dev"))?;
            let (major, minor) = number.trim().split_once(':').unwrap_or_default();
            let number = makedev(major.parse().unwrap_or(0), minor.parse().unwrap_or(0));
            let mode = Mode::from_raw_mode(0o600);
            Ok::<_, std::io::Error>(mknodat(CWD, &node, FileType::BlockDevice, mode, number)?)
        };
        make().unwrap_or_else(|error| broken("make a device node", error));
        let name = node.display().to_string();
        // With a scan for partitions, a detached device forgets those that it had.
        let words = ["--find", "--show", "--partscan", "--sector-size", "512", &name];
        let device = run(&losetup, &words).map_err(|error| {
            Skip::Machine(format!("no loop device can be attached to another: {error}"))
        })?;
        Ok(Emulated { device: device.into(), partitions: Vec::new(), folder })
    }

    /// The whole drive.
    pub fn device(&self) -> &Path {
        &self.device
    }

    /// Makes known a partition of so many sectors from this one on, which no table on the drive names.
    pub fn partition(&mut self, start: u64, sectors: u64) -> Result<PathBuf, Skip> {
        let addpart = need_tool("addpart", "util-linux")?;
        let number = self.partitions.len() as u32 + 1;
        let device = self.device.display().to_string();
        let words = [&device, &number.to_string(), &start.to_string(), &sectors.to_string()];
        run(&addpart, &words).map_err(|error| {
            Skip::Machine(format!("loop devices have no partitions here: {error}"))
        })?;
        self.partitions.push(number);
        Ok(PathBuf::from(format!("{device}p{number}")))
    }
}

impl Drop for Emulated {
    fn drop(&mut self) {
        if let Ok(delpart) = need_tool("delpart", "util-linux") {
            for number in &self.partitions {
                let _ = run(&delpart, &[self.device.display().to_string(), number.to_string()]);
            }
        }
        undo(self.folder.path());
    }
}

/// The folder of a block device in /sys.
fn sys(device: &Path) -> PathBuf {
    Path::new("/sys/block").join(device.file_name().unwrap_or_default())
}
