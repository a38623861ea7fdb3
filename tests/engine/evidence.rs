//! The evidence room against real devices of this machine: loop devices over files, with file
//! systems on them. Needs root and the usual tools; says why it skips where they are missing.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use assay_plan::unit::Bytes;
use assay_record::evidence::{
    self, CounterReader, DeviceContent, LayerKind, LeafKind, Reading, Subject, SysRoot,
};

/// Runs a command; its trimmed output, or the first line of what it said when it failed. A tool
/// that looks at all loop devices may hang in the file system of somebody else: not for ever.
fn run(words: &[&str]) -> Result<String, String> {
    let output = Command::new("timeout")
        .args(["-s", "KILL", "60"])
        .args(words)
        .output()
        .map_err(|error| format!("{}: {error}", words[0]))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_string());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}: {}", words.join(" "), said.lines().next().unwrap_or("no answer")))
}

/// A loop device over a file of 128 MiB.
struct Loop {
    device: String,
    _file: tempfile::NamedTempFile,
}

impl Loop {
    fn over(folder: &Path) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("not root".into());
        }
        let file = tempfile::NamedTempFile::new_in(folder).map_err(|e| e.to_string())?;
        file.as_file().set_len(128 << 20).map_err(|e| e.to_string())?;
        let name = file.path().display().to_string();
        let device = run(&["losetup", "--partscan", "--find", "--show", &name])?;
        Ok(Self { device, _file: file })
    }

    fn name(&self) -> &str {
        self.device.trim_start_matches("/dev/")
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        undone(&["losetup", "--detach", &self.device]);
    }
}

/// Undoes what was done. Another test's look at all mounts may hold it for a moment.
fn undone(words: &[&str]) {
    for turn in 0.. {
        match run(words) {
            Ok(_) => return,
            Err(_) if turn < 100 => std::thread::sleep(Duration::from_millis(50)),
            Err(why) if std::thread::panicking() => return println!("left behind: {why}"),
            Err(why) => panic!("left behind: {why}"),
        }
    }
}

/// A mount that goes away by itself.
struct Mounted(tempfile::TempDir);

impl Mounted {
    fn new(words: &[&str]) -> Result<Self, String> {
        let point = tempfile::tempdir().map_err(|e| e.to_string())?;
        let name = point.path().display().to_string();
        let mut all = vec!["mount"];
        all.extend(words);
        all.push(&name);
        run(&all)?;
        Ok(Self(point))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        undone(&["umount", &self.0.path().display().to_string()]);
    }
}

fn words(subject: &Subject) -> String {
    let one = |l: &evidence::BlockLayer| {
        format!("{}@{}{}", l.name, l.level, if l.leaf { "*" } else { "" })
    };
    subject.stack.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// Runs a test that may find that it cannot. One at a time: a command that another test starts
/// holds our descriptors for an instant, and an exclusive one makes a device look busy.
fn attempt(test: impl FnOnce() -> Result<(), String>) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Err(why) = test() {
        println!("skipped: {why}");
    }
}

/// What stands against writing to a device: who uses it, or what it holds.
fn stands_against(device: &str) -> Option<String> {
    let (sys_root, path) = (SysRoot::default(), Path::new(device));
    if let Some(user) = sys_root.user_of(path) {
        return Some(user.to_string());
    }
    match sys_root.content(path, |_| false).expect("read") {
        DeviceContent::Empty => None,
        DeviceContent::Holds(what) => Some(what),
    }
}

/// Zeros all over a device.
fn blank(device: &str) -> Result<(), String> {
    run(&["blkdiscard", "-z", device]).map(drop)
}

#[test]
fn a_loop_over_this_disk() {
    attempt(|| {
        let folder = std::env::temp_dir();
        let sys_root = SysRoot::default();
        let below = sys_root.subject(&folder);
        let [disk] = below.stack.as_slice() else { return Err("no single disk below".into()) };
        let device = Loop::over(&folder)?;
        assert_eq!(stands_against(&device.device), None);

        let bare = sys_root.subject(Path::new(&device.device));
        println!("{bare:#?}");
        let expected = format!("{}@0 {}@1*", device.name(), disk.name);
        assert_eq!(words(&bare), expected);
        assert_eq!(bare.stack[0].size, Reading::Seen(Bytes::mib(128)));
        let LayerKind::Loop { on, .. } = &bare.stack[0].kind else { panic!() };
        assert_eq!(Some(on.as_str()), below.mount.seen().map(|m| m.kind.as_str()));

        run(&["mkfs.ext4", "-q", &device.device])?;
        let why = stands_against(&device.device).expect("something");
        assert!(why.contains("ext4 file system"), "{why}");
        let mount = Mounted::new(&[&device.device])?;
        let why = stands_against(&device.device).expect("something");
        assert!(why.contains("is mounted on"), "{why}");

        let file = mount.path().join("file");
        std::fs::write(&file, vec![1; 4 << 20]).map_err(|e| e.to_string())?;
        let subject = sys_root.subject(&file);
        assert_eq!(words(&subject), expected);
        assert_eq!(subject.bottom, LeafKind::Devices);
        assert_eq!(subject.mount.seen().map(|m| m.kind.as_str()), Some("ext4"));
        assert_eq!(subject.direct.seen().and_then(|d| d.real()), Some(true));

        // What is written arrives on both levels, and can be dropped and read again.
        let counter_reader = CounterReader::new(&sys_root, std::slice::from_ref(&subject));
        assert_eq!(counter_reader.names().collect::<Vec<_>>(), [device.name(), &disk.name]);
        // Changed in place: a file cut to nothing first would be written out when it is closed.
        let opened = File::options().read(true).write(true).open(&file);
        let opened = opened.map_err(|e| e.to_string())?;
        opened.write_all_at(&vec![2; 4 << 20], 0).map_err(|e| e.to_string())?;
        let files = [("file".to_string(), opened.as_fd())];
        let before = counter_reader.snapshot(&files);
        let left = evidence::drop_cache(opened.as_fd());
        assert_eq!(left.seen().map(|pages| pages.resident), Some(Bytes::ZERO));
        let after = counter_reader.snapshot(&files);
        assert_eq!(before.cache[0].pages.seen().map(|p| p.resident), Some(Bytes::mib(4)));
        let counters = |s: &evidence::Snapshot| *s.devices[0].counters.seen().unwrap();
        let change = counters(&after).since(&counters(&before));
        assert!(change.write_bytes >= 4 << 20, "{change:?}");
        assert_eq!(after.devices.len(), 2);
        let lies = evidence::extents(opened.as_fd(), 0..4 << 20);
        assert_eq!(lies.seen().map(|e| (e.written, e.hole)), Some((Bytes::mib(4), Bytes::ZERO)));
        Ok(())
    });
}

#[test]
fn a_loop_over_memory() {
    attempt(|| {
        let sys_root = SysRoot::default();
        let folder = PathBuf::from("/dev/shm");
        if sys_root.subject(&folder).bottom != LeafKind::Memory("tmpfs".into()) {
            return Err("/dev/shm is no tmpfs".into());
        }
        let device = Loop::over(&folder)?;
        let subject = sys_root.subject(Path::new(&device.device));
        assert_eq!(words(&subject), format!("{}@0*", device.name()));
        assert_eq!(subject.bottom, LeafKind::Memory("loop on tmpfs".into()));
        Ok(())
    });
}

#[test]
fn a_deleted_file_behind_a_loop_is_still_found() {
    attempt(|| {
        let sys_root = SysRoot::default();
        let folder = std::env::temp_dir();
        let disks = sys_root.subject(&folder).stack.len();
        let device = Loop::over(&folder)?;
        std::fs::remove_file(device._file.path()).map_err(|e| e.to_string())?;
        let subject = sys_root.subject(Path::new(&device.device));
        assert_eq!(subject.stack.len(), 1 + disks);
        assert_eq!(subject.bottom, LeafKind::Devices);
        Ok(())
    });
}

#[test]
fn btrfs_on_two_loops() {
    attempt(|| {
        let sys_root = SysRoot::default();
        let folder = std::env::temp_dir();
        let (one, two) = (Loop::over(&folder)?, Loop::over(&folder)?);
        run(&["mkfs.btrfs", "-q", "-f", "-d", "raid1", "-m", "raid1", &one.device, &two.device])?;
        let why = stands_against(&two.device).expect("something");
        assert!(why.contains("btrfs"), "{why}");
        let mount = Mounted::new(&["-t", "btrfs", &one.device])?;
        for device in [&one, &two] {
            let why = stands_against(&device.device).expect("something");
            assert!(why.contains("mounted"), "{why}");
        }
        run(&[
            "btrfs",
            "-q",
            "subvolume",
            "create",
            &mount.path().join("s").display().to_string(),
        ])?;
        let file = mount.path().join("s/file");
        std::fs::write(&file, vec![1; 1 << 20]).map_err(|e| e.to_string())?;
        let subject = sys_root.subject(&file);
        println!("{} {:?} {:?}", words(&subject), subject.bottom, subject.direct);
        let mut names: Vec<&str> =
            subject.stack.iter().filter(|l| l.level == 0).map(|l| l.name.as_str()).collect();
        names.sort();
        let mut expected = [one.name(), two.name()];
        expected.sort();
        assert_eq!(names, expected);
        assert_eq!(subject.bottom, LeafKind::Devices);
        // A misaligned direct read is answered here, which must not pass for "no direct I/O".
        // What does tell is an aligned one: since 6.18 it goes through the cache as well.
        let direct = subject.direct.seen().ok_or("direct I/O was not looked at")?;
        assert_ne!(direct.misaligned_refused, Some(false));
        assert_eq!(direct.real(), direct.past_cache.or(direct.align.map(|_| true)));
        assert!(subject.stack.iter().any(|l| l.level == 1 && l.leaf));
        Ok(())
    });
}

#[test]
fn an_overlay_over_memory_and_over_a_disk() {
    attempt(|| {
        let sys_root = SysRoot::default();
        let lower = tempfile::tempdir().map_err(|e| e.to_string())?;
        std::fs::write(lower.path().join("old"), "x").map_err(|e| e.to_string())?;
        for (folder, in_memory) in
            [(PathBuf::from("/dev/shm"), true), (std::env::temp_dir(), false)]
        {
            let upper = tempfile::tempdir_in(&folder).map_err(|e| e.to_string())?;
            for name in ["up", "work"] {
                std::fs::create_dir(upper.path().join(name)).map_err(|e| e.to_string())?;
            }
            let options = format!(
                "lowerdir={},upperdir={}/up,workdir={1}/work",
                lower.path().display(),
                upper.path().display()
            );
            let mount = Mounted::new(&["-t", "overlay", "overlay", "-o", &options])?;
            std::fs::write(mount.path().join("new"), "x").map_err(|e| e.to_string())?;
            let new = sys_root.subject(&mount.path().join("new"));
            let old = sys_root.subject(&mount.path().join("old"));
            println!("new {:?} {:?}, old {:?}", words(&new), new.bottom, words(&old));
            assert_eq!(words(&old), words(&sys_root.subject(lower.path())));
            if in_memory {
                assert_eq!(new.bottom, LeafKind::Memory("overlay on tmpfs".into()));
                assert!(new.stack.is_empty());
            } else {
                assert_eq!(words(&new), words(&sys_root.subject(&folder)));
            }
        }
        Ok(())
    });
}

#[test]
fn tables_swap_and_partitions_keep_a_device_claimed() {
    attempt(|| {
        let sys_root = SysRoot::default();
        let device = Loop::over(Path::new("/dev/shm"))?;
        let path = Path::new(&device.device);
        let says = || stands_against(&device.device).unwrap_or_else(|| "free".into());
        assert_eq!(says(), "free");
        run(&["mkswap", &device.device])?;
        assert!(says().contains("swap space"), "{}", says());
        // What is left of it has no name, and is somebody's all the same.
        run(&["wipefs", "-q", "-a", &device.device])?;
        assert!(says().contains("data that no table names, from byte 1024 on"), "{}", says());
        blank(&device.device)?;
        assert_eq!(says(), "free");
        for (tool, expected) in [("mkfs.vfat", "FAT file system"), ("mkfs.xfs", "XFS file system")]
        {
            match run(&[tool, &device.device]) {
                Ok(_) => assert!(says().contains(expected), "{}", says()),
                Err(why) => println!("skipped: {why}"),
            }
            blank(&device.device)?;
        }
        let held = File::options().read(true).custom_flags(libc::O_EXCL).open(path);
        assert!(says().contains("EBUSY"), "{}", says());
        drop(held);
        let disk = File::options().write(true).open(path).map_err(|e| e.to_string())?;
        let mut table = vec![0; 512];
        table[446 + 4] = 0x83;
        table[446 + 8..446 + 16].copy_from_slice(&[0, 8, 0, 0, 0, 8, 0, 0]);
        table[510..].copy_from_slice(&[0x55, 0xaa]);
        disk.write_all_at(&table, 0).map_err(|e| e.to_string())?;
        drop(disk);
        // Closing a writer makes the kernel read the table where it scans at all.
        let answer = says();
        assert!(answer.contains("MBR") || answer.contains("partition"), "{answer}");
        run(&["blockdev", "--rereadpt", &device.device])?;
        let part = format!("{}p1", device.device);
        if !Path::new(&part).exists() {
            return Err("this kernel reads no MBR".into());
        }
        assert_eq!(sys_root.partitions(path), [part.trim_start_matches("/dev/")]);
        let subject = sys_root.subject(Path::new(&part));
        assert_eq!(subject.stack[0].partition.as_deref(), Some(part.trim_start_matches("/dev/")));
        assert_eq!(subject.stack[0].name, device.name());
        assert_eq!(subject.bottom, LeafKind::Memory("loop on tmpfs".into()));
        assert_eq!(stands_against(&part), None);
        Ok(())
    });
}

#[test]
fn the_system_disk_is_never_unclaimed() {
    let sys_root = SysRoot::default();
    for layer in sys_root.subject(Path::new("/")).stack {
        let path = PathBuf::from(format!("/dev/{}", layer.name));
        let why = stands_against(&path.to_string_lossy()).expect("the root file system lies on it");
        println!("{why}");
    }
}

#[test]
fn a_character_device_and_a_pipe_store_nothing() {
    let subject = SysRoot::default().subject(Path::new("/dev/null"));
    assert_eq!(subject.bottom, LeafKind::Nothing("/dev/null".into()));
}

#[test]
fn a_snapshot_survives_its_own_json() {
    let sys_root = SysRoot::default();
    let subject = sys_root.subject(&std::env::temp_dir());
    let snapshot = CounterReader::new(&sys_root, std::slice::from_ref(&subject)).snapshot(&[]);
    let text = serde_json::to_string(&(&subject, &snapshot, sys_root.machine())).unwrap();
    let back: (Subject, evidence::Snapshot, evidence::Machine) =
        serde_json::from_str(&text).unwrap();
    assert_eq!((back.0, back.1), (subject, snapshot));
}
