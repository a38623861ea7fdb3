//! Storage that is no disk: file systems in memory, an overlay upon one, and block devices of RAM.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::card::{Card, mount};
use super::den::{Folder, folder, until};
use super::skip::{broken, modprobe, need_file_system, need_root, need_tool, run};
use super::{MI, Skip};

/// Something mounted, gone when dropped.
pub struct Mounted {
    at: PathBuf,
    // Dropped after nothing: the folder takes its mounts down itself.
    _folder: Folder,
}

impl Mounted {
    pub fn mount(&self) -> &Path {
        &self.at
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.at.join(name)
    }
}

/// File systems in memory.
pub struct Memory;

impl Memory {
    /// A tmpfs of 256 MiB.
    pub fn tmpfs() -> Result<Mounted, Skip> {
        Memory::tmpfs_of(256 * MI)
    }

    /// A tmpfs that is full soon.
    pub fn tmpfs_of(bytes: u64) -> Result<Mounted, Skip> {
        Memory::mount("tmpfs", &format!("size={bytes}"))
    }

    /// A ramfs, which has no limit and no size.
    pub fn ramfs() -> Result<Mounted, Skip> {
        Memory::mount("ramfs", "")
    }

    fn mount(kind: &str, options: &str) -> Result<Mounted, Skip> {
        need_root()?;
        need_file_system(kind)?;
        let folder = folder(kind);
        let at = folder.make("mnt");
        mount(kind, "assay-lab", &at, options);
        Ok(Mounted { at, _folder: folder })
    }
}

/// overlayfs: what is written goes to an upper folder elsewhere.
pub struct Overlay;

impl Overlay {
    /// Its upper folder is on a tmpfs.
    pub fn on_tmpfs() -> Result<Mounted, Skip> {
        need_root()?;
        need_file_system("overlay")?;
        let folder = folder("overlay");
        let pool = folder.make("pool");
        mount("tmpfs", "assay-lab", &pool, &format!("size={}", 256 * MI));
        let at = folder.make("mnt");
        Overlay::mount(&pool, &at);
        Ok(Mounted { at, _folder: folder })
    }

    /// Its upper folder is on a card, which the answer must not outlive.
    pub fn on_card(card: &Card) -> Result<OverCard<'_>, Skip> {
        need_file_system("overlay")?;
        let folder = folder("overlay");
        let at = folder.make("mnt");
        card.freely(|| {
            Overlay::mount(card.mount(), &at);
            Ok(())
        });
        Ok(OverCard { mounted: Mounted { at, _folder: folder }, _card: card })
    }

    fn mount(pool: &Path, at: &Path) {
        for name in ["lower", "upper", "work"] {
            fs::create_dir(pool.join(name))
                .unwrap_or_else(|e| broken("make the overlay's folders", e));
        }
        let pool = pool.display();
        let options = format!("lowerdir={pool}/lower,upperdir={pool}/upper,workdir={pool}/work");
        mount("overlay", "assay-lab", at, &options);
    }
}

/// An overlay upon a card.
pub struct OverCard<'a> {
    mounted: Mounted,
    _card: &'a Card,
}

impl std::ops::Deref for OverCard<'_> {
    type Target = Mounted;

    fn deref(&self) -> &Mounted {
        &self.mounted
    }
}

/// A block device that is RAM: zram, or brd where there is no zram.
pub struct RamDisk {
    device: PathBuf,
    mount: Option<PathBuf>,
    /// Which of the two it is.
    pub kind: &'static str,
    // brd's device, open exclusively, so that nobody else takes it.
    _held: Option<File>,
    _folder: Folder,
}

impl RamDisk {
    /// Without a file system.
    pub fn raw(size: u64) -> Result<RamDisk, Skip> {
        need_root()?;
        let folder = folder("ramdisk");
        let (device, kind, held) = match zram(&folder, size) {
            Ok(device) => (device, "zram", None),
            Err(no_zram) => match brd(&folder, size) {
                Ok((device, held)) => (device, "brd", Some(held)),
                Err(no_brd) => return Err(Skip::Machine(format!("{no_zram}; {no_brd}"))),
            },
        };
        Ok(RamDisk { device, mount: None, kind, _held: held, _folder: folder })
    }

    pub fn ext4(size: u64) -> Result<RamDisk, Skip> {
        Self::made("mkfs.ext4", "nodiscard,lazy_itable_init=0,lazy_journal_init=0", size)
    }

    /// With ext2 on it, which has no journal.
    pub fn ext2(size: u64) -> Result<RamDisk, Skip> {
        Self::made("mkfs.ext2", "nodiscard,lazy_itable_init=0", size)
    }

    fn made(tool: &'static str, extended: &str, size: u64) -> Result<RamDisk, Skip> {
        let mkfs = need_tool(tool, "e2fsprogs")?;
        let mut disk = RamDisk::raw(size)?;
        disk._held = None;
        let device = disk.device.to_string_lossy().into_owned();
        run(&mkfs, &["-q", "-F", "-E", extended, &device])
            .unwrap_or_else(|e| broken("make a file system in RAM", e));
        let at = disk._folder.make("mnt");
        mount(tool.trim_start_matches("mkfs."), &device, &at, "");
        disk.mount = Some(at);
        Ok(disk)
    }

    /// The block device.
    pub fn device(&self) -> &Path {
        &self.device
    }

    /// Where it is mounted; a raw one is not.
    pub fn mount(&self) -> &Path {
        match &self.mount {
            Some(mount) => mount,
            None => panic!("a raw RAM disk has no file system"),
        }
    }
}

const ZRAM: &str = "/sys/class/zram-control";

/// The marker is what a later sweep knows a killed test's RAM disk by.
fn zram(folder: &Folder, size: u64) -> Result<PathBuf, String> {
    if !Path::new(ZRAM).exists() {
        modprobe(&["zram", "num_devices=0"]);
    }
    let n = fs::read_to_string(format!("{ZRAM}/hot_add")).map_err(|e| format!("no zram: {e}"))?;
    let n = n.trim();
    fs::write(folder.path().join(format!("zram-{n}")), "")
        .unwrap_or_else(|e| broken("write a marker", e));
    fs::write(format!("/sys/block/zram{n}/disksize"), size.to_string())
        .map_err(|e| format!("zram{n} refuses {size} bytes: {e}"))?;
    let device = PathBuf::from(format!("/dev/zram{n}"));
    if until(std::time::Duration::from_secs(2), || device.exists()) {
        Ok(device)
    } else {
        Err(format!("{} did not appear", device.display()))
    }
}

/// Only if the lab itself loads the module: a RAM disk that is there already belongs to somebody.
fn brd(folder: &Folder, size: u64) -> Result<(PathBuf, File), String> {
    if Path::new("/sys/block/ram0").exists() {
        return Err("brd's disks are somebody's already".into());
    }
    modprobe(&["brd", "rd_nr=1", &format!("rd_size={}", size >> 10)]);
    let device = PathBuf::from("/dev/ram0");
    if !until(std::time::Duration::from_secs(1), || device.exists()) {
        return Err("no brd".into());
    }
    fs::write(folder.path().join("brd"), "").unwrap_or_else(|e| broken("write a marker", e));
    let exclusive = rustix::fs::OFlags::EXCL.bits() as i32;
    let held = OpenOptions::new().read(true).write(true).custom_flags(exclusive).open(&device);
    held.map(|held| (device, held)).map_err(|e| format!("/dev/ram0: {e}"))
}

/// Removes the RAM disks that markers in a folder (or in folders of a den) tell of.
pub(super) fn remove_ram_disks(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) && name.starts_with("ramdisk") {
            remove_ram_disks(&path);
        } else if let Some(n) = name.strip_prefix("zram-") {
            let remove = || {
                let _ = fs::write(format!("/sys/block/zram{n}/reset"), "1");
                fs::write(format!("{ZRAM}/hot_remove"), n).is_ok()
                    || !Path::new(&format!("/sys/block/zram{n}")).exists()
            };
            if !until(std::time::Duration::from_secs(2), remove) {
                super::den::complain(&format!("zram{n} stays"));
            }
        } else if name == "brd" {
            modprobe(&["-r", "brd"]);
        }
    }
}
