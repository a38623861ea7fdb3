//! Nothing on a device is lost that its user has not named for that: what it holds, who uses it, and plans of strangers.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::lab;

const SIZE: u64 = 32 << 20;

/// What comes of a line of assay: its status, and all that it says.
fn assay(line: &str) -> (i32, String) {
    typed(line, &[])
}

fn typed(line: &str, environment: &[(&str, &str)]) -> (i32, String) {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(line.split(' '))
        .envs(environment.iter().copied())
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&stderr) + String::from_utf8_lossy(&stdout);
    (status.code().expect("no signal"), said.into_owned())
}

/// What a tool prints; it has to succeed.
fn tool(words: &[&str]) -> String {
    let output = Command::new(words[0]).args(&words[1..]).output().expect("a tool");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().into()
}

/// A loop device over an image, which both go with the lab's folder.
struct Disk {
    folder: lab::Folder,
    image: PathBuf,
    device: String,
}

impl Disk {
    fn new() -> Self {
        let folder = lab::folder("named");
        let image = folder.path().join("image");
        File::create(&image).expect("an image").set_len(SIZE).expect("its size");
        let device = looped(&image, 0);
        Self { folder, image, device }
    }

    /// Zeros all over it.
    fn blank(&self) {
        tool(&["blkdiscard", "-z", &self.device]);
    }

    fn put(&self, at: u64, bytes: &[u8]) {
        let device = OpenOptions::new().write(true).open(&self.device).expect("the device");
        device.write_all_at(bytes, at).expect("written");
        device.sync_all().expect("synced");
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; SIZE as usize];
        File::open(&self.device).expect("the device").read_exact_at(&mut bytes, 0).expect("read");
        bytes
    }

    /// A line of which `DEV` is the device; it is refused, in one line that says `why`, and changes nothing.
    fn refused(&self, line: &str, why: &str) {
        let before = self.bytes();
        let (status, said) = assay(&line.replace("DEV", &self.device));
        assert_eq!(status, 2, "{line}: {said}");
        let why = why.replace("DEV", &self.device);
        assert!(said.contains(&why) && said.lines().count() == 1, "{line}: {said}");
        assert!(self.bytes() == before, "{line}: it was written to");
    }
}

/// A loop device over a file, from an offset on.
fn looped(file: &Path, offset: u64) -> String {
    let file = file.to_str().expect("a name");
    tool(&["losetup", "--find", "--show", "--offset", &offset.to_string(), file])
}

const IO: &str = "io DEV DEV --rw write --bs 64k --size 1m --seed 1";

#[test]
fn a_device_that_holds_anything_wants_a_third_name() {
    lab::need!(lab::need_root());
    let disk = Disk::new();
    // Empty; and what it has written itself is nobody's loss.
    for turn in 0..2 {
        let (status, said) = assay(&IO.replace("DEV", &disk.device));
        assert!([0, 3].contains(&status), "{turn}: {said}");
    }
    let text = "to be kept\n".repeat(9);
    for (at, bytes, why) in [
        (0, &b"XFSB"[..], "DEV holds an XFS file system ('xfs' to wipefs)"),
        (257, b"ustar", "DEV holds a tar archive"),
        (SIZE / 2, text.as_bytes(), "DEV holds data that no table names, from byte 16777216 on"),
        (
            SIZE - 512,
            b"$XIDE$",
            "DEV holds a member of an LSI MegaRAID ('lsi_mega_raid_member' to wipefs)",
        ),
    ] {
        disk.blank();
        disk.put(at, bytes);
        for line in [
            IO,
            "quick DEV DEV",
            "sweep DEV DEV --action write",
            "ramp DEV DEV --action write",
            "sustain DEV DEV",
            "modes DEV DEV",
            "card DEV DEV",
            "atto DEV DEV -l 8M",
            "fio --name=w --filename=DEV --rw=write --bs=4k --size=64k",
            "fio --name=t --filename=DEV --rw=trim --bs=4k --size=64k",
        ] {
            disk.refused(line, &format!("will not write: {why}"));
        }
    }
    let hint = "name it a third time: DEV DEV DEV";
    disk.refused(IO, hint);
    disk.refused("io DEV --rw write", "name the device a second time to allow it");
    disk.refused("io DEV DEV DEV DEV --rw write", "no more were expected");
    disk.refused("io DEV DEV /dev/null --rw write", "'/dev/null' is not 'DEV'");
    let (status, said) = assay(&IO.replace("DEV DEV", "DEV DEV DEV").replace("DEV", &disk.device));
    assert!([0, 3].contains(&status), "{said}");
    // fio's words for the same.
    disk.put(0, text.as_bytes());
    let line = "fio --name=w --filename=DEV --rw=write --bs=4k --size=64k --output=/dev/null";
    let line = line.replace("DEV", &disk.device);
    let (status, said) = assay(&line);
    assert!(status == 2 && said.contains(&format!("ASSAY_OVERWRITE={}", disk.device)), "{said}");
    let (status, said) = typed(&line, &[("ASSAY_OVERWRITE", &disk.device)]);
    assert_eq!(status, 0, "{said}");
    // What fio's words have written is a benchmark's, too.
    disk.blank();
    assert_eq!(assay(&line).0, 0);
    assert_eq!(assay(&line).0, 0);
}

#[test]
fn what_is_left_of_an_ext_file_system_is_not_empty() {
    lab::need!(lab::need_root());
    let disk = Disk::new();
    tool(&["mkfs.ext4", "-q", "-b", "1024", &disk.device]);
    disk.put(0, &vec![0; 8 << 20]);
    disk.refused(
        IO,
        "DEV holds what is left of an ext file system: a backup of its superblock at byte 8389632",
    );
}

#[test]
fn a_device_that_is_used_in_ways_that_the_kernel_does_not_hold_is_kept() {
    lab::need!(lab::need_root());
    let disk = Disk::new();
    let point = disk.folder.make("mnt");
    let mnt = point.to_str().expect("a name");
    // A loop device on it, from 1 MiB on, with a file system that is mounted. No line of assay allows that.
    let on_it = looped(Path::new(&disk.device), 1 << 20);
    let name = on_it.trim_start_matches("/dev/");
    disk.refused(IO, &format!("will not write: DEV: {name} lies on it from 1 MiB on"));
    tool(&["mkfs.ext4", "-q", &on_it]);
    tool(&["mount", "-r", &on_it, mnt]);
    let mounted = format!("{name}, which is mounted on {mnt}, lies on it from 1 MiB on");
    disk.refused(IO, &format!("will not write: DEV: {mounted}; let go of it first"));
    disk.refused(&IO.replace("DEV DEV", "DEV DEV DEV"), &mounted);
    tool(&["umount", mnt]);
    tool(&["losetup", "-d", &on_it]);
    // Another one over the same file.
    let beside = looped(&disk.image, 1 << 20);
    tool(&["mount", "-r", &beside, mnt]);
    let beside_name = beside.trim_start_matches("/dev/");
    let mounted = format!("{beside_name}, which is mounted on {mnt}, lies on it from 1 MiB on");
    disk.refused(IO, &mounted);
    // And the file itself, by fio's words.
    let image = disk.image.to_str().expect("a name");
    disk.refused(
        &format!("fio --name=w --filename={image} --rw=write --bs=4k --size=64k"),
        &format!("will not write: {image}: {beside_name}, which is mounted on {mnt}, lies on it"),
    );
    tool(&["umount", mnt]);
    tool(&["losetup", "-d", &beside]);
    disk.blank();
    // A process that has it open for writing, as a virtual machine has.
    let mut writer = Command::new("sh")
        .args(["-c", "exec 3<>\"$0\"; echo open; read x", &disk.device])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut told = [0; 5];
    std::io::Read::read_exact(writer.stdout.as_mut().expect("a pipe"), &mut told).expect("open");
    let device = disk.device.trim_start_matches("/dev/");
    let why = format!("sh (process {}) has {device} open for writing", writer.id());
    disk.refused(IO, &why);
    drop(writer.stdin.take());
    writer.wait().expect("ended");
    // Mounted where this process does not see it.
    tool(&["mkfs.ext4", "-q", &disk.device]);
    let script = "mount -r \"$0\" \"$1\" && echo mounted && read x";
    let mut elsewhere = Command::new("unshare")
        .args(["-m", "sh", "-c", script, &disk.device, mnt])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("unshare");
    let mut told = [0; 8];
    std::io::Read::read_exact(elsewhere.stdout.as_mut().expect("a pipe"), &mut told)
        .expect("mounted");
    disk.refused(IO, &format!("{device} is mounted on {mnt} in the namespace of process"));
    drop(elsewhere.stdin.take());
    elsewhere.wait().expect("ended");
}

#[test]
fn a_plan_cannot_allow_itself_anything() {
    lab::need!(lab::need_root());
    let disk = Disk::new();
    let (device, folder) = (&disk.device, disk.folder.path());
    let plan = folder.join("p.json");
    let shown = plan.to_str().expect("a name").to_string();
    let output = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(format!("{IO} --plan").replace("DEV", device).split(' '))
        .output()
        .expect("a plan");
    assert_eq!(output.status.code(), Some(0));
    // The most that a stranger can write into it.
    let text = String::from_utf8(output.stdout).expect("text");
    let device_line = format!("\"device\": \"{device}\"");
    assert!(text.contains(&device_line), "{text}");
    let text = text.replace(&device_line, &format!("{device_line}, \"over\": \"in_use\""));
    std::fs::write(&plan, text).expect("a plan");
    let run = format!("run {shown}");
    disk.refused(
        &run,
        &format!(
            "only the plan names it; to lose that, name it behind the plan: assay run {shown} DEV"
        ),
    );
    let (status, said) = assay(&format!("{run} {device}"));
    assert!([0, 3].contains(&status), "{said}");

    let mnt = disk.folder.make("mnt");
    let mnt = mnt.to_str().expect("a name");
    tool(&["mkfs.ext4", "-q", device]);
    disk.refused(&run, "DEV holds an ext4 file system ('ext4' to wipefs)");
    disk.refused(
        &format!("{run} DEV"),
        &format!("name it behind the plan: assay run {shown} DEV DEV"),
    );
    disk.refused(&format!("{run} /dev/null"), "the plan writes over nothing at '/dev/null'");
    // A file system that is mounted for writing writes to its device whenever it likes.
    tool(&["mount", "-r", device, mnt]);
    let name = device.trim_start_matches("/dev/");
    let mounted = format!("will not write: DEV: {name} is mounted on {mnt}; let go of it first");
    for line in [&run, &format!("{run} DEV DEV"), &format!("{run} --plan")] {
        disk.refused(line, &mounted);
    }
    // Explained, that comes first.
    let (status, said) = assay(&format!("explain {shown}"));
    let first = said.lines().nth(1).unwrap_or_default();
    assert!(
        status == 0 && first.contains(&format!("{device}: {name} is mounted on {mnt}")),
        "{said}"
    );
    assert!(said.contains("will be refused") && !said.contains("assay run"), "{said}");
    let (status, said) = assay(&format!("{IO} --plan").replace("DEV", device));
    let first = said.lines().next().unwrap_or_default();
    assert!(
        status == 2 && first.ends_with("that would be lost; the run will be refused"),
        "{said}"
    );
    assert!(
        first.starts_with(&format!("assay: {device}: {name} is mounted on {mnt}, and it holds")),
        "{said}"
    );
    tool(&["umount", mnt]);
    disk.blank();

    // A copy of a plan to a device, a file that is there already, and its log.
    let thesis = folder.join("thesis");
    std::fs::write(&thesis, "years").expect("a file");
    let log = folder.join("log.csv");
    std::fs::write(&log, "mine").expect("a file");
    for (from, to) in [
        (device.as_str(), folder.join("new").to_str().expect("a name")),
        ("x", device),
        ("x", thesis.to_str().expect("a name")),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_assay"))
            .args(["dd", "if=/dev/zero", &format!("of={to}"), "count=1", "--plan"])
            .output()
            .expect("a plan");
        assert_eq!(output.status.code(), Some(0), "{from}");
        std::fs::write(&plan, output.stdout).expect("a plan");
        let there = Path::new(to).exists();
        let (status, said) = assay(&run);
        assert_eq!(status == 2, there, "{to}: {said}");
        assert!(
            !there || said.contains(&format!("name it behind the plan: assay run {shown} {to}")),
            "{said}"
        );
    }
    assert_eq!(std::fs::read_to_string(&thesis).expect("text"), "years");
    let output = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args([
            "io",
            folder.to_str().expect("a name"),
            "--size",
            "1m",
            "--plan",
            "--log",
            log.to_str().expect("a name"),
        ])
        .output()
        .expect("a plan");
    if output.status.success() {
        std::fs::write(&plan, output.stdout).expect("a plan");
        let (status, said) = assay(&run);
        assert_eq!((status, said.contains("log.csv holds 4 bytes")), (2, true), "{said}");
        assert_eq!(std::fs::read_to_string(&log).expect("text"), "mine");
    }
}

#[test]
fn no_output_goes_to_a_device() {
    lab::need!(lab::need_root());
    let disk = Disk::new();
    let file = disk.folder.path().join("f");
    let file = file.to_str().expect("a name");
    // Blank or not: a device is no place for words.
    for content in [&b""[..], b"precious"] {
        disk.blank();
        disk.put(0, content);
        let fio = format!("fio --name=a --rw=write --bs=4k --size=64k --filename={file}");
        for line in [
            "io /dev/shm --size 1M --time 100ms --record DEV".to_string(),
            "io /dev/shm --size 1M --time 100ms --report DEV".to_string(),
            format!("{fio} --write_iolog=DEV"),
            format!("{fio} --output=DEV"),
            format!("{fio} --write_bw_log=DEV"),
            format!("{fio} --bandwidth-log=DEV"),
            format!("iozone -i 0 -s 64k -r 4k -f {file} -b DEV"),
        ] {
            let before = disk.bytes();
            let (status, said) = assay(&line.replace("DEV", &disk.device));
            assert_eq!(status, 2, "{line}: {said}");
            assert!(said.contains(&disk.device) && said.lines().count() <= 2, "{line}: {said}");
            assert!(disk.bytes() == before, "{line}: it was written to");
        }
        let before = disk.bytes();
        for line in ["dd if=/dev/zero of=/dev/null count=1", &fio] {
            let (status, said) = typed(line, &[("ASSAY_RECORD", &disk.device)]);
            assert!([1, 2].contains(&status) && said.contains(&disk.device), "{line}: {said}");
            assert!(disk.bytes() == before, "{line}: it was written to");
        }
    }
}

#[test]
fn dd_says_first_what_it_damages_and_offers_it_never_again() {
    lab::need!(lab::need_root());
    let disk = Disk::new();
    let (device, mnt) = (&disk.device, disk.folder.make("mnt"));
    let mnt = mnt.to_str().expect("a name");
    tool(&["mkfs.ext4", "-q", device]);
    tool(&["mount", device, mnt]);
    let name = device.trim_start_matches("/dev/");
    let words = format!("dd if=/dev/zero of={device} bs=1M count=4 seek=20 conv=notrunc");
    let (status, said) = assay(&words);
    let first = said.lines().next().unwrap_or_default();
    assert_eq!(
        first,
        format!("assay: {device}: {name} is mounted on {mnt}: this copy damages its file system"),
        "{said}"
    );
    assert_eq!(status, 0, "{said}");
    assert!(said.contains("4194304 bytes"), "{said}");
    assert!(!said.contains(&format!("of={device}")), "{said}");
    let (status, said) = assay(&format!("explain {words}"));
    let told = said.lines().nth(1).unwrap_or_default();
    assert!(status == 0 && told.contains(&format!("{name} is mounted on {mnt}")), "{said}");
    assert!(said.lines().skip(1).all(|line| !line.contains("dd if=")), "{said}");
    let (_, said) = assay(&format!("{words} --plan"));
    assert!(said.starts_with(&format!("assay: {device}: {name} is mounted on {mnt}")), "{said}");
}
