//! Below a loop device: its file and the mount that holds it, or the device that it rests on.

use super::super::mount::{self, MountEntry};
use super::super::{DeviceNumber, LayerKind, LeafKind};
use super::StackWalk;
use assay_engine::sys::block;

/// What is said to hold the file of a loop device where that is a block device itself.
const DEVICE: &str = "block device";

impl LayerKind {
    /// A loop device over a file: what becomes of a write, the file system of that file decides.
    pub fn over_file(&self) -> bool {
        matches!(self, Self::Loop { on, .. } if on != DEVICE)
    }
}

impl StackWalk<'_> {
    /// What lies below the loop device at `index`: another device, or the place of its file.
    pub(super) fn loop_file(
        &mut self,
        index: usize,
        name: &str,
        file: &str,
        level: u32,
    ) -> LeafKind {
        if self.device_name(file).is_some() {
            if let LayerKind::Loop { on, .. } = &mut self.layers[index].kind {
                *on = DEVICE.into();
            }
            return self.source(file, level + 1);
        }
        let (entry, path) = match self.backing(name, file) {
            Ok(found) => found,
            Err(why) => {
                self.layers[index].leaf = true;
                return LeafKind::Unknown(why);
            }
        };
        if let LayerKind::Loop { on, .. } = &mut self.layers[index].kind {
            *on = entry.mount.kind.clone();
        }
        let inner = self.mounted(&entry, &path, level + 1);
        if self.layers.len() > index + 1 || inner == LeafKind::Devices {
            return inner;
        }
        self.layers[index].leaf = true;
        match inner {
            LeafKind::Memory(what) => LeafKind::Memory(format!("loop on {what}")),
            // The file system is known, what it lies on is not: the loop is as deep as one can see.
            _ => LeafKind::Devices,
        }
    }

    /// The mount and the path of the file behind a loop device.
    fn backing(&self, name: &str, file: &str) -> Result<(MountEntry, String), String> {
        let plain = file.strip_suffix(" (deleted)");
        // The device and inode are the truth; the path may mean another file in this namespace.
        let truth = if self.sys_root.real() { loop_status(name) } else { None };
        if plain.is_none() {
            let same = match truth {
                Some((device, inode)) => block::stat(self.sys_root.at(file).as_path())
                    .is_ok_and(|stat| (stat.device, stat.inode) == (device, inode)),
                None => true,
            };
            if same && let Ok(entry) = self.mount_of(file) {
                return Ok((entry, file.to_string()));
            }
        }
        let mounts = self.mounts.as_ref().map_err(Clone::clone)?;
        let path = plain.unwrap_or(file).to_string();
        let found = match (truth, plain) {
            (Some(((major, minor), _)), _) => {
                let device = DeviceNumber { major, minor };
                mounts.iter().find(|entry| entry.mount.device == device)
            }
            (None, Some(path)) => mount::find(mounts, None, None, path),
            (None, None) => None,
        };
        match found {
            Some(entry) => Ok((entry.clone(), path)),
            None => Err(format!("{name}: its file {file} is not to be seen from here")),
        }
    }
}

/// Device and inode of the file behind a loop device, where we may ask.
fn loop_status(name: &str) -> Option<((u32, u32), u64)> {
    use std::os::fd::AsFd;
    let device = std::fs::File::open(format!("/dev/{name}")).ok()?;
    block::loop_backing(device.as_fd()).ok().map(|backing| (backing.device, backing.inode))
}
