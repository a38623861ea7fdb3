//! Where the lab keeps its images and mount points, and how all of it is undone.
//!
//! A den is a folder `assay-lab-<pid>-<n>` on a real disk. Its `owner` file is locked while the
//! process lives, so a den whose lock is free belongs to nobody. Nothing has to be remembered in
//! order to be undone: mounts, loop devices and control groups are found in the kernel by the den's
//! path and name; only a RAM disk, which has neither, leaves a marker file. Dropping a folder and
//! sweeping a dead process' den are therefore the same function, [`undo`].

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Once, Weak};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use super::skip::{broken, need_root, need_tool, run};
use super::{Skip, dirty, group, memory, speed};

/// How long a busy mount or loop device is asked again before force is used.
const PATIENCE: Duration = Duration::from_secs(5);

/// The process' own den; goes with the last folder in it.
pub(super) struct Den {
    dir: PathBuf,
    next: AtomicU32,
    _lock: File,
}

/// A folder in the den, removed with everything mounted, attached or made below it.
pub struct Folder {
    dir: PathBuf,
    den: Arc<Den>,
}

/// A fresh folder in this process' den.
pub fn folder(name: &str) -> Folder {
    let den = den();
    let n = den.next.fetch_add(1, Ordering::Relaxed);
    let dir = den.dir.join(format!("{name}-{n}"));
    fs::create_dir(&dir).unwrap_or_else(|e| broken(&format!("make {}", dir.display()), e));
    Folder { dir, den }
}

/// Copies a program, to be run at once. Another process does it: where this one wrote it, a child that another test
/// starts meanwhile would have it open for writing for a moment, and the kernel runs nothing that is (ETXTBSY).
pub fn copy_program(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let (from, to) = (from.as_ref(), to.as_ref());
    let copied = std::process::Command::new("cp").arg("--").args([from, to]).status();
    assert!(copied.is_ok_and(|status| status.success()), "cp {} {}", from.display(), to.display());
}

impl Folder {
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// A folder below this one, made now.
    pub fn make(&self, name: &str) -> PathBuf {
        let dir = self.dir.join(name);
        fs::create_dir(&dir).unwrap_or_else(|e| broken(&format!("make {}", dir.display()), e));
        dir
    }

    /// Bytes free on the disk it lies on.
    pub fn free(&self) -> u64 {
        rustix::fs::statvfs(&self.dir).map_or(0, |v| v.f_bavail * v.f_frsize)
    }

    /// A refusal when an image of so many bytes would crowd the machine's own disk.
    pub fn need_free(&self, bytes: u64) -> Result<(), Skip> {
        let (free, wanted) = (self.free() >> 20, (bytes >> 20) + 200);
        if free >= wanted {
            return Ok(());
        }
        Err(Skip::Machine(format!(
            "{wanted} MiB needed below {}, {free} MiB free",
            self.dir.display()
        )))
    }

    /// The name that control groups of this process carry, so that a sweep finds them.
    pub(super) fn den_name(&self) -> String {
        den_name(&self.den.dir)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        undo(&self.dir);
    }
}

impl Drop for Den {
    fn drop(&mut self) {
        undo(&self.dir);
    }
}

fn den_name(dir: &Path) -> String {
    dir.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

/// This process' den, made when first asked for, after sweeping what dead processes left.
pub(super) fn den() -> Arc<Den> {
    static DEN: Mutex<Weak<Den>> = Mutex::new(Weak::new());
    static MADE: AtomicU32 = AtomicU32::new(0);
    sweep_once();
    let mut den = DEN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(den) = den.upgrade() {
        return den;
    }
    let n = MADE.fetch_add(1, Ordering::Relaxed);
    let tail = format!("{}-{n}", std::process::id());
    // Locked before it carries a name that a sweep of another process would look at.
    let (raw, dir) =
        (base().join(format!("assay-lab-new-{tail}")), base().join(format!("assay-lab-{tail}")));
    let make = || -> io::Result<File> {
        fs::create_dir(&raw)?;
        let lock = File::create(raw.join("owner"))?;
        flock(&lock, FlockOperation::LockExclusive)?;
        fs::rename(&raw, &dir)?;
        Ok(lock)
    };
    let lock = make().unwrap_or_else(|e| broken(&format!("make {}", dir.display()), e));
    let fresh = Arc::new(Den { dir, next: AtomicU32::new(0), _lock: lock });
    *den = Arc::downgrade(&fresh);
    fresh
}

/// The folder that dens lie in: `ASSAY_LAB_DIR`, or a temporary folder on a real disk.
pub(super) fn base() -> PathBuf {
    if let Some(dir) = std::env::var_os("ASSAY_LAB_DIR") {
        let dir = PathBuf::from(dir);
        fs::create_dir_all(&dir).unwrap_or_else(|e| broken(&format!("make {}", dir.display()), e));
        return dir.canonicalize().unwrap_or(dir);
    }
    let places =
        [std::env::temp_dir(), PathBuf::from("/var/tmp"), super::program().with_file_name("tmp")];
    let real = |dir: &&PathBuf| {
        const TMPFS: u32 = 0x0102_1994;
        const RAMFS: u32 = 0x8584_58f6;
        // The field's width differs between architectures, its values never need more than 32 bits.
        rustix::fs::statfs(dir.as_path())
            .is_ok_and(|v| ![TMPFS, RAMFS].contains(&(v.f_type as u32)))
    };
    let dir = places.iter().find(real).unwrap_or(&places[0]);
    dir.canonicalize().unwrap_or_else(|_| dir.clone())
}

/// [`sweep`], the first time anything of the lab is used in this process.
pub(super) fn sweep_once() {
    static SWEPT: Once = Once::new();
    SWEPT.call_once(|| {
        if need_root().is_ok() {
            sweep();
        }
    });
}

/// Removes what processes that are gone have left; returns the dens it removed.
pub fn sweep() -> Vec<PathBuf> {
    let mut swept = Vec::new();
    for entry in fs::read_dir(base()).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(tail) = name.strip_prefix("assay-lab-") else {
            continue;
        };
        let dir = entry.path();
        if let Some(unborn) = tail.strip_prefix("new-") {
            let pid = unborn.split('-').next().unwrap_or_default();
            if !pid.is_empty() && !Path::new("/proc").join(pid).exists() {
                let _ = fs::remove_dir_all(&dir);
            }
            continue;
        }
        if !tail.split('-').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
        {
            continue;
        }
        let pid = tail.split('-').next().unwrap_or_default();
        if let Some(_lock) = orphaned(&dir, pid) {
            undo(&dir);
            swept.push(dir);
        }
    }
    swept
}

/// The lock of a den whose process is gone; a process that hangs in its own FUSE mount is freed first.
fn orphaned(dir: &Path, pid: &str) -> Option<File> {
    let lock = match File::open(dir.join("owner")) {
        Ok(lock) => lock,
        // A den without its lock file: half removed by somebody; ours if its process is gone.
        Err(_) if !Path::new("/proc").join(pid).exists() => return File::open(dir).ok(),
        Err(_) => return None,
    };
    let free = || flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
    if free() {
        return Some(lock);
    }
    // Killed, but a thread waits for I/O that only its own dead threads could serve.
    let zombie = fs::read_to_string(format!("/proc/{pid}/stat"))
        .ok()
        .and_then(|stat| stat.rsplit(") ").next().map(|rest| rest.starts_with('Z')))
        .unwrap_or(false);
    if !zombie {
        return None;
    }
    for mount in mounts_below(dir).iter().filter(|m| m.kind.starts_with("fuse")) {
        umount(&mount.at, &["-f"]);
    }
    until(PATIENCE, free).then_some(lock)
}

/// One line of mountinfo.
pub(super) struct Mount {
    pub at: PathBuf,
    pub kind: String,
}

/// Mounts at or below a folder, oldest first.
pub(super) fn mounts_below(dir: &Path) -> Vec<Mount> {
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    text.lines()
        .filter_map(|line| {
            let (left, right) = line.split_once(" - ")?;
            let at = PathBuf::from(unescape(left.split(' ').nth(4)?));
            let kind = right.split(' ').next()?.to_owned();
            at.starts_with(dir).then_some(Mount { at, kind })
        })
        .collect()
}

/// mountinfo writes blanks and backslashes as three octal digits.
fn unescape(text: &str) -> String {
    let mut out = Vec::new();
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        let code = text.get(i + 1..i + 4).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match (bytes[i], code) {
            (b'\\', Some(byte)) => {
                out.push(byte);
                i += 4;
            }
            (byte, _) => {
                out.push(byte);
                i += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Loop devices (their names in /sys/block) whose image lies below a folder.
pub(super) fn loops_below(dir: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir("/sys/block").into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("loop") && loop_image(&name).is_some_and(|image| image.starts_with(dir))
        {
            names.push(name);
        }
    }
    names
}

/// The image behind a loop device.
fn loop_image(name: &str) -> Option<PathBuf> {
    let text = fs::read_to_string(format!("/sys/block/{name}/loop/backing_file")).ok()?;
    Some(PathBuf::from(text.trim_end()))
}

/// Takes down everything at and below a folder of the lab, then the folder. Never panics.
///
/// Throttles and limits are lifted first, for an unmount would otherwise wait for slow writeback. Then
/// mounts and loop devices go, newest first, again and again, since each may stand upon the other.
pub(super) fn undo(dir: &Path) {
    if !dir.exists() {
        return;
    }
    for name in loops_below(dir) {
        speed::lift(&name);
        dirty::lift(&Path::new("/sys/block").join(&name).join("bdi"));
    }
    let start = Instant::now();
    loop {
        let mut mounts = mounts_below(dir);
        let loops = loops_below(dir);
        if mounts.is_empty() && loops.is_empty() {
            break;
        }
        let forced = start.elapsed() > PATIENCE;
        let mut moved = false;
        mounts.reverse();
        for mount in &mounts {
            if umount(&mount.at, &[]) {
                moved = true;
            } else if forced {
                complain(&format!("{} was busy and is unmounted lazily", mount.at.display()));
                moved |= umount(&mount.at, &["-l"]);
            }
        }
        for name in &loops {
            // While something is mounted from it, detaching would only mark it.
            let mounted = mounts_of(name);
            if !mounted || forced {
                moved |= detach(name, dir);
            }
        }
        if start.elapsed() > PATIENCE * 2 {
            complain(&format!("{} could not be taken down and stays", dir.display()));
            return;
        }
        if !moved {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    group::remove_all_of(dir);
    memory::remove_ram_disks(dir);
    // Nothing is mounted below it any more, so this removes only what the lab itself wrote.
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            complain(&format!("{} stays: {error}", dir.display()));
        }
        _ => {}
    }
}

fn umount(at: &Path, words: &[&str]) -> bool {
    let Ok(umount) = need_tool("umount", "mount") else {
        return false;
    };
    let mut all: Vec<&std::ffi::OsStr> = words.iter().map(|w| w.as_ref()).collect();
    all.push(at.as_os_str());
    run(&umount, &all).is_ok()
}

/// Whether a file system is mounted from a block device, anywhere.
fn mounts_of(name: &str) -> bool {
    let Ok(number) = fs::read_to_string(format!("/sys/block/{name}/dev")) else {
        return false;
    };
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let source = format!("/dev/{name}");
    text.lines().any(|line| {
        line.split(' ').nth(2) == Some(number.trim())
            || line
                .split_once(" - ")
                .is_some_and(|(_, right)| right.split(' ').nth(1) == Some(&source))
    })
}

/// Detaches a loop device, if it still is the one with our image.
fn detach(name: &str, dir: &Path) -> bool {
    let ours = || loop_image(name).is_some_and(|image| image.starts_with(dir));
    let Ok(losetup) = need_tool("losetup", "mount") else {
        return false;
    };
    ours()
        && run(&losetup, &["-d", &format!("/dev/{name}")]).is_ok()
        && until(Duration::from_secs(1), || !ours())
}

/// Asks until the answer is yes or patience ends; the last answer.
pub(super) fn until(patience: Duration, mut yes: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    loop {
        if yes() {
            return true;
        }
        if start.elapsed() > patience {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A word on stderr where a panic would hide another one.
pub(super) fn complain(what: &str) {
    use std::io::Write;
    let _ = std::io::stderr().write_all(format!("lab: {what}\n").as_bytes());
}
