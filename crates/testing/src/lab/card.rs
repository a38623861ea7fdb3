//! A block device of known speed, with or without a file system on it.
//!
//! Everything that only prepares the device is done before it is slowed down, and it is set free
//! again before it is unmounted, so that a slow card costs a test only the I/O the test asks for.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::fs::{FallocateFlags, fallocate};

use super::den::{Folder, folder, undo};
use super::gauge::{Aligned, Leaf};
use super::group::{self, Group, Joined, Room};
use super::paced::{Backing, PacedFuse};
use super::skip::{broken, modprobe, need_file_system, need_root, need_tool, run};
use super::speed::{self, Brake};
use super::{MI, Skip, Speed};

/// The file system on a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fs {
    Ext4,
    Xfs,
    Btrfs,
    /// None: the device itself is the target.
    Raw,
}

/// What makes a card slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slowness {
    /// The kernel's block I/O throttle, which a reader of /sys/fs/cgroup can see. It lets about the
    /// first tenth of a second's worth pass at once, so a fast card wants more than a second of I/O.
    Kernel,
    /// A FUSE server below the loop device, which answers no sooner: no file shows it.
    UserSpace,
}

/// What lies behind the loop device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Image {
    /// A file with all of its space, past the page cache where its file system allows.
    Solid,
    /// The same, but the host's page cache holds it too.
    Cached,
    /// A sparse file with only so many bytes of memory behind it. With more than the size it is a
    /// card in memory, which a busy disk of the host cannot slow down.
    Thin(u64),
}

/// What a card is to be. Write `Shape { size: 64 * MI, ..Shape::sdcard() }`.
#[derive(Debug, Clone)]
pub struct Shape {
    pub name: &'static str,
    pub size: u64,
    pub speed: Speed,
    pub slowness: Slowness,
    pub fs: Fs,
    /// Further words for mkfs.
    pub mkfs: &'static [&'static str],
    /// Mount options, "" for none.
    pub mount: &'static str,
    /// Logical sector size: 512 or 4096.
    pub sector: u32,
    pub image: Image,
}

impl Shape {
    /// ext4 and no limit; the others are this with a difference.
    pub const fn fast() -> Shape {
        Shape {
            name: "fast",
            size: 256 * MI,
            speed: Speed::FREE,
            slowness: Slowness::Kernel,
            fs: Fs::Ext4,
            mkfs: &[],
            mount: "",
            sector: 512,
            image: Image::Solid,
        }
    }

    /// 4 MiB/s written, 16 MiB/s read.
    pub const fn sdcard() -> Shape {
        Shape {
            name: "sdcard",
            size: 128 * MI,
            speed: Speed::bytes(16 * MI, 4 * MI),
            ..Shape::fast()
        }
    }

    /// As [`Shape::sdcard`], and nothing on the machine shows why it is slow.
    pub const fn paced() -> Shape {
        Shape { name: "paced", slowness: Slowness::UserSpace, ..Shape::sdcard() }
    }

    /// As [`Shape::sdcard`] without a file system.
    pub const fn rawsd() -> Shape {
        Shape { name: "rawsd", size: 64 * MI, fs: Fs::Raw, ..Shape::sdcard() }
    }

    /// 42 MiB/s written, 200 MiB/s read.
    pub const fn emmc() -> Shape {
        Shape { name: "emmc", speed: Speed::bytes(200 * MI, 42 * MI), ..Shape::fast() }
    }

    /// 30 MiB/s written, 35 MiB/s read.
    pub const fn usb2() -> Shape {
        Shape { name: "usb2", speed: Speed::bytes(35 * MI, 30 * MI), ..Shape::fast() }
    }

    /// 60 MiB/s and 150 requests/s, whichever binds.
    pub const fn hdd() -> Shape {
        Shape { name: "hdd", speed: Speed::both(60 * MI, 150), ..Shape::fast() }
    }

    /// 500 requests/s of any size.
    pub const fn perreq() -> Shape {
        Shape { name: "perreq", speed: Speed::both(0, 500), ..Shape::fast() }
    }

    /// 512 MiB promised, 64 MiB there: the flush fails.
    pub const fn thin() -> Shape {
        Shape { name: "thin", size: 512 * MI, image: Image::Thin(64 * MI), ..Shape::fast() }
    }

    /// An SD card whose ext4 writes all data twice.
    pub const fn journal() -> Shape {
        Shape { name: "journal", mount: "data=journal", ..Shape::sdcard() }
    }

    /// ext4 that asks for no flush.
    pub const fn nobarrier() -> Shape {
        Shape { name: "nobarrier", mount: "nobarrier", ..Shape::fast() }
    }

    /// An SD card of 4096-byte sectors.
    pub const fn sector4k() -> Shape {
        Shape { name: "sector4k", sector: 4096, ..Shape::sdcard() }
    }

    /// A device whose image the host caches as well.
    pub const fn dcache() -> Shape {
        Shape { name: "dcache", image: Image::Cached, ..Shape::fast() }
    }

    /// btrfs at an SD card's speed.
    pub const fn btrfs() -> Shape {
        Shape { name: "btrfs", size: 256 * MI, fs: Fs::Btrfs, ..Shape::sdcard() }
    }

    /// btrfs that compresses everything, at an SD card's speed.
    pub const fn compress() -> Shape {
        Shape { name: "compress", mount: "compress-force=zstd:1", ..Shape::btrfs() }
    }

    /// xfs at an SD card's speed (its mkfs wants 300 MiB at least).
    pub const fn xfs() -> Shape {
        Shape { name: "xfs", size: 512 * MI, fs: Fs::Xfs, ..Shape::sdcard() }
    }
}

/// A card as long as it lives.
pub struct Card {
    shape: Shape,
    device: PathBuf,
    number: String,
    mount: Option<PathBuf>,
    direct: bool,
    knob: Knob,
    rooms: Vec<Room>,
    // Taken down by Drop in this order; the paced file must outlast the loop device upon it.
    folder: Folder,
    /// Holds it: the group goes with the last who has it.
    _group: Option<Arc<Group>>,
    pub(super) paced: Option<Arc<PacedFuse>>,
}

impl Card {
    /// Makes a card of any shape.
    pub fn new(shape: Shape) -> Result<Card, Skip> {
        need_root()?;
        let losetup = need_tool("losetup", "mount")?;
        let mkfs = match shape.fs {
            Fs::Ext4 => Some(need_tool("mkfs.ext4", "e2fsprogs")?),
            Fs::Xfs => Some(need_tool("mkfs.xfs", "xfsprogs")?),
            Fs::Btrfs => Some(need_tool("mkfs.btrfs", "btrfs-progs")?),
            Fs::Raw => None,
        };
        if let Some(kind) = shape.fs.kind() {
            need_file_system(kind)?;
        }
        need_loop()?;
        let slow = shape.speed != Speed::FREE;
        let by_kernel = slow && shape.slowness == Slowness::Kernel;
        let brake = if by_kernel { Some(speed::brake()?) } else { None };

        let folder = folder(shape.name);
        let paced = match shape.slowness {
            Slowness::UserSpace => {
                Some(Arc::new(PacedFuse::new(shape.size, Speed::FREE, Backing::Memory)?))
            }
            Slowness::Kernel => None,
        };
        let image = match (&paced, shape.image) {
            (Some(paced), _) => paced.path(),
            (None, Image::Thin(behind)) => thin_image(&folder, shape.size, behind),
            (None, _) => solid_image(&folder, shape.size)?,
        };
        let direct = paced.is_some() || shape.image == Image::Solid;
        let device = attach(&losetup, &image, shape.sector, direct)?;
        let name = leaf_name(&device);
        let number = fs::read_to_string(format!("/sys/block/{name}/dev"))
            .unwrap_or_else(|e| broken("read the loop device's number", e))
            .trim()
            .to_owned();
        let direct = fs::read_to_string(format!("/sys/block/{name}/loop/dio"))
            .is_ok_and(|t| t.trim() == "1");

        let (group, rooms, how) = match (&paced, brake) {
            (Some(paced), _) => (None, Vec::new(), How::Paced(Arc::clone(paced))),
            (None, Some(Brake::V1(root))) => (None, speed::rooms_v1(root.clone()), How::V1(root)),
            (None, Some(Brake::V2)) => {
                let group = Arc::new(Group::for_card()?);
                let rooms = group.rooms().to_vec();
                (Some(Arc::clone(&group)), rooms, How::V2(group))
            }
            (None, None) => (None, Vec::new(), How::Not),
        };
        let knob = Knob { number: number.clone(), how, now: Arc::new(Mutex::new(Speed::FREE)) };
        let mut card = Card {
            shape,
            device,
            number,
            mount: None,
            direct,
            knob,
            rooms,
            folder,
            _group: group,
            paced,
        };
        if let Some(mkfs) = mkfs {
            card.mount_fresh(&mkfs);
        }
        if slow {
            card.set_speed(card.shape.speed);
        }
        Ok(card)
    }

    /// [`Shape::fast`].
    pub fn fast() -> Result<Card, Skip> {
        Card::new(Shape::fast())
    }

    /// [`Shape::sdcard`].
    pub fn sdcard() -> Result<Card, Skip> {
        Card::new(Shape::sdcard())
    }

    /// [`Shape::paced`].
    pub fn paced() -> Result<Card, Skip> {
        Card::new(Shape::paced())
    }

    /// [`Shape::rawsd`].
    pub fn rawsd() -> Result<Card, Skip> {
        Card::new(Shape::rawsd())
    }

    /// [`Shape::emmc`].
    pub fn emmc() -> Result<Card, Skip> {
        Card::new(Shape::emmc())
    }

    /// [`Shape::usb2`].
    pub fn usb2() -> Result<Card, Skip> {
        Card::new(Shape::usb2())
    }

    /// [`Shape::hdd`].
    pub fn hdd() -> Result<Card, Skip> {
        Card::new(Shape::hdd())
    }

    /// [`Shape::perreq`].
    pub fn perreq() -> Result<Card, Skip> {
        Card::new(Shape::perreq())
    }

    /// [`Shape::thin`].
    pub fn thin() -> Result<Card, Skip> {
        Card::new(Shape::thin())
    }

    /// [`Shape::journal`].
    pub fn journal() -> Result<Card, Skip> {
        Card::new(Shape::journal())
    }

    /// [`Shape::nobarrier`].
    pub fn nobarrier() -> Result<Card, Skip> {
        Card::new(Shape::nobarrier())
    }

    /// [`Shape::sector4k`].
    pub fn sector4k() -> Result<Card, Skip> {
        Card::new(Shape::sector4k())
    }

    /// [`Shape::dcache`].
    pub fn dcache() -> Result<Card, Skip> {
        Card::new(Shape::dcache())
    }

    /// [`Shape::btrfs`].
    pub fn btrfs() -> Result<Card, Skip> {
        Card::new(Shape::btrfs())
    }

    /// [`Shape::compress`].
    pub fn compress() -> Result<Card, Skip> {
        Card::new(Shape::compress())
    }

    /// [`Shape::xfs`].
    pub fn xfs() -> Result<Card, Skip> {
        Card::new(Shape::xfs())
    }

    /// What it was made as.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The block device, `/dev/loopN`.
    pub fn device(&self) -> &Path {
        &self.device
    }

    /// The device's name in /sys/block.
    pub fn leaf_name(&self) -> String {
        leaf_name(&self.device)
    }

    /// The device's number, "7:3".
    pub fn number(&self) -> &str {
        &self.number
    }

    /// Whether the loop device goes past the host's page cache to its image.
    pub fn direct(&self) -> bool {
        self.direct
    }

    /// Where its file system is mounted; a raw card has none.
    pub fn mount(&self) -> &Path {
        match &self.mount {
            Some(mount) => mount,
            None => panic!("a {} card has no file system", self.shape.name),
        }
    }

    /// A path on its file system.
    pub fn path(&self, name: &str) -> PathBuf {
        self.mount().join(name)
    }

    /// What the device has counted.
    pub fn leaf(&self) -> Leaf {
        Leaf::of(&self.leaf_name()).unwrap_or_else(|e| broken("read the device's counters", e))
    }

    /// The speed it has now.
    pub fn speed(&self) -> Speed {
        self.knob.speed()
    }

    /// Makes it faster or slower, from now on.
    pub fn set_speed(&self, speed: Speed) {
        self.knob.set(speed);
    }

    /// Something to turn the speed with from another thread.
    pub fn knob(&self) -> Knob {
        self.knob.clone()
    }

    /// Where a program must run for the speed to hold for it: nowhere in particular, but on cgroup v2.
    pub fn rooms(&self) -> &[Room] {
        &self.rooms
    }

    /// Device and speed, for a group that has further limits (see [`super::Limits`]).
    pub fn io_limit(&self) -> (String, Speed) {
        (self.number.clone(), self.speed())
    }

    /// A command for which the speed holds.
    pub fn command(&self, program: &str) -> Command {
        group::command_in(&self.rooms, program)
    }

    /// Makes the speed hold for this very process, until the answer is dropped.
    pub fn join(&self) -> Joined {
        Joined::new(&self.rooms)
    }

    /// Stops for `stall` every so often.
    pub fn stalls(&self, every: Duration, stall: Duration) -> Stalls {
        Stalls::start(self.knob(), every, stall)
    }

    /// Writes at `slow` bytes/s once `budget` bytes were written at its speed; idling for `recover`
    /// gives the budget back. The device's counters are looked at every 10 ms, so the budget is met
    /// only as exactly as that.
    pub fn bursts(&self, budget: u64, slow: u64, recover: Duration) -> Bursts {
        Bursts::start(self.knob(), self.leaf_name(), budget, slow, recover)
    }

    /// Four files of one length, of which some were never written. Done at full speed.
    pub fn holes(&self, bytes: u64) -> Holes {
        let holes = Holes {
            written: self.path("written.bin"),
            hole: self.path("hole.bin"),
            unwritten: self.path("unwritten.bin"),
            eighth: self.path("eighth.bin"),
        };
        self.freely(|| {
            write_noise(&holes.written, bytes)?;
            File::create(&holes.hole)?.set_len(bytes)?;
            fallocate(File::create(&holes.unwritten)?, FallocateFlags::empty(), 0, bytes)?;
            write_noise(&holes.eighth, bytes / 8)?;
            File::options().write(true).open(&holes.eighth)?.set_len(bytes)
        });
        holes
    }

    /// Fills the file system until only so many bytes are free.
    pub fn fill_all_but(&self, left: u64) {
        self.freely(|| {
            let v = rustix::fs::statvfs(self.mount())?;
            let bytes = (v.f_bavail * v.f_frsize).saturating_sub(left);
            Ok(fallocate(
                File::create(self.path("ballast.bin"))?,
                FallocateFlags::empty(),
                0,
                bytes,
            )?)
        });
    }

    /// Leaves the free space only in crumbs of 64 KiB.
    pub fn crumble(&self) {
        self.freely(|| {
            let crumb = |i: usize| self.path(&format!("crumb.{i}"));
            let mut made = 0;
            while made < 20_000 {
                let file = File::create(crumb(made))?;
                made += 1;
                if fallocate(&file, FallocateFlags::empty(), 0, 64 << 10).is_err() {
                    break;
                }
            }
            (0..made).step_by(2).try_for_each(|i| fs::remove_file(crumb(i)))
        });
    }

    /// From now on blocks that it has had before cost it no time; only of a card that a server slows.
    pub fn deduplicate(&self) {
        let Some(paced) = &self.paced else { panic!("nobody serves this card") };
        paced.deduplicate();
    }

    /// Flushes its file system and what lies below it, and not all that others leave unflushed on slow cards.
    pub fn flush(&self) {
        for place in [self.mount(), self.folder.path()] {
            File::open(place)
                .and_then(|folder| Ok(rustix::fs::syncfs(folder)?))
                .unwrap_or_else(|e| broken("flush the card", e));
        }
    }

    /// Prepares something on the card at full speed, and flushes it.
    pub fn freely(&self, work: impl FnOnce() -> io::Result<()>) {
        let speed = self.speed();
        self.set_speed(Speed::FREE);
        work()
            .and_then(|()| Ok(rustix::fs::syncfs(File::open(self.mount())?)?))
            .unwrap_or_else(|e| broken("prepare the card", e));
        self.set_speed(speed);
    }

    fn mount_fresh(&mut self, mkfs: &Path) {
        let quiet: &[&str] = match self.shape.fs {
            Fs::Ext4 => {
                &["-q", "-F", "-m", "0", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0"]
            }
            Fs::Xfs => &["-q", "-f", "-K"],
            Fs::Btrfs => &["-q", "-f", "-K"],
            Fs::Raw => return,
        };
        let device = self.device.to_string_lossy().into_owned();
        let words: Vec<&str> =
            quiet.iter().chain(self.shape.mkfs).copied().chain([device.as_str()]).collect();
        run(mkfs, &words).unwrap_or_else(|e| broken("make the file system", e));
        let at = self.folder.make("mnt");
        mount(self.shape.fs.kind().unwrap_or_default(), &device, &at, self.shape.mount);
        self.mount = Some(at);
        self.flush();
    }
}

impl Drop for Card {
    fn drop(&mut self) {
        self.knob.free();
        undo(self.folder.path());
    }
}

impl Fs {
    /// The kernel's name for it.
    pub fn kind(self) -> Option<&'static str> {
        match self {
            Fs::Ext4 => Some("ext4"),
            Fs::Xfs => Some("xfs"),
            Fs::Btrfs => Some("btrfs"),
            Fs::Raw => None,
        }
    }
}

/// The files of [`CardInfo::holes`].
#[derive(Debug, Clone)]
pub struct Holes {
    /// Written from end to end.
    pub written: PathBuf,
    /// Only a length: nothing was ever allocated.
    pub hole: PathBuf,
    /// Allocated and never written.
    pub unwritten: PathBuf,
    /// The first eighth written, the rest a hole.
    pub eighth: PathBuf,
}

/// How a card's speed is set.
#[derive(Clone)]
enum How {
    V1(PathBuf),
    V2(Arc<Group>),
    Paced(Arc<PacedFuse>),
    Not,
}

/// Turns a card's speed, from any thread.
#[derive(Clone)]
pub struct Knob {
    number: String,
    how: How,
    now: Arc<Mutex<Speed>>,
}

impl Knob {
    /// What it stands at.
    pub fn speed(&self) -> Speed {
        *self.now.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Turns it.
    pub fn set(&self, speed: Speed) {
        let mut now = self.now.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.apply(speed).unwrap_or_else(|e| broken(&format!("give {} {speed:?}", self.number), e));
        *now = speed;
    }

    /// Lifts every limit; says nothing when that fails.
    fn free(&self) {
        let mut now = self.now.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if self.apply(Speed::FREE).is_ok() {
            *now = Speed::FREE;
        }
    }

    fn apply(&self, speed: Speed) -> io::Result<()> {
        match &self.how {
            How::V1(root) => speed::set_v1(root, &self.number, speed),
            How::V2(group) => {
                group.rooms().iter().filter(|room| room.0.join("io.max").exists()).try_for_each(
                    |room| fs::write(room.0.join("io.max"), speed.io_max(&self.number)),
                )
            }
            How::Paced(paced) => {
                paced.set_speed(speed);
                Ok(())
            }
            How::Not if speed == Speed::FREE => Ok(()),
            How::Not => match speed::brake() {
                Ok(Brake::V1(root)) => speed::set_v1(&root, &self.number, speed),
                Ok(Brake::V2) => {
                    Err(io::Error::other("a card made without a limit has no v2 group"))
                }
                Err(skip) => Err(io::Error::other(skip.to_string())),
            },
        }
    }
}

/// A thread that turns a knob until it is dropped.
struct Turner {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Turner {
    fn start(work: impl FnOnce(&AtomicBool) + Send + 'static) -> Turner {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        Turner { stop, thread: Some(std::thread::spawn(move || work(&seen))) }
    }

    /// Sleeps; true when it shall end.
    fn sleep(stop: &AtomicBool, how_long: Duration) -> bool {
        let end = Instant::now() + how_long;
        while !stop.load(Ordering::Relaxed) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            std::thread::sleep(left.min(Duration::from_millis(10)));
        }
        true
    }
}

impl Drop for Turner {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Stops a card every so often, as long as it lives.
pub struct Stalls {
    _turner: Turner,
}

impl Stalls {
    fn start(knob: Knob, every: Duration, stall: Duration) -> Stalls {
        let _turner = Turner::start(move |stop| {
            let usual = knob.speed();
            while !Turner::sleep(stop, every) {
                if let How::Paced(paced) = &knob.how {
                    paced.pause(stall);
                    if Turner::sleep(stop, stall) {
                        break;
                    }
                    continue;
                }
                knob.set(Speed::bytes(4096, 4096));
                let ended = Turner::sleep(stop, stall);
                knob.set(usual);
                if ended {
                    break;
                }
            }
        });
        Stalls { _turner }
    }
}

/// A fast write buffer before a slow card, as long as it lives.
pub struct Bursts {
    _turner: Turner,
}

impl Bursts {
    fn start(knob: Knob, leaf: String, budget: u64, slow: u64, recover: Duration) -> Bursts {
        let _turner = Turner::start(move |stop| {
            let usual = knob.speed();
            let written = || Leaf::of(&leaf).map_or(0, |seen| seen.write_bytes);
            let (mut used, mut last, mut busy) = (0, written(), Instant::now());
            while !Turner::sleep(stop, Duration::from_millis(10)) {
                let now = written();
                if now > last {
                    used += now - last;
                    last = now;
                    busy = Instant::now();
                } else if busy.elapsed() >= recover {
                    used = 0;
                }
                let due = if used >= budget { Speed { write_bps: slow, ..usual } } else { usual };
                if knob.speed() != due {
                    knob.set(due);
                }
            }
            knob.set(usual);
        });
        Bursts { _turner }
    }
}

/// Loop devices, loading their module when there is one.
pub(super) fn need_loop() -> Result<(), Skip> {
    let control = Path::new("/dev/loop-control");
    if !control.exists() {
        modprobe(&["loop"]);
    }
    if control.exists() {
        Ok(())
    } else {
        Err(Skip::Machine("no loop devices (/dev/loop-control)".into()))
    }
}

pub(super) fn solid_image(folder: &Folder, size: u64) -> Result<PathBuf, Skip> {
    folder.need_free(size)?;
    let image = folder.path().join("disk.img");
    let make = || -> io::Result<()> {
        let file = File::create(&image)?;
        match fallocate(&file, FallocateFlags::empty(), 0, size) {
            Err(rustix::io::Errno::OPNOTSUPP) => file.set_len(size),
            other => Ok(other?),
        }
    };
    make().unwrap_or_else(|e| broken("make the image", e));
    Ok(image)
}

fn thin_image(folder: &Folder, size: u64, behind: u64) -> PathBuf {
    let pool = folder.make("pool");
    mount("tmpfs", "assay-lab", &pool, &format!("size={behind}"));
    let image = pool.join("disk.img");
    File::create(&image)
        .and_then(|file| file.set_len(size))
        .unwrap_or_else(|e| broken("make the image", e));
    image
}

/// Attaches an image; another process may take the same free device, then losetup tries the next.
pub(super) fn attach(
    losetup: &Path,
    image: &Path,
    sector: u32,
    direct: bool,
) -> Result<PathBuf, Skip> {
    let sector = sector.to_string();
    let image = image.to_string_lossy().into_owned();
    let plain = ["--find", "--show", "--sector-size", &sector, &image];
    let device = run(losetup, &plain)
        .map_err(|e| Skip::Machine(format!("no loop device can be attached: {e}")))?;
    // Some file systems refuse direct I/O on the image; the card's speed is true without it.
    let _ = run(losetup, &[if direct { "--direct-io=on" } else { "--direct-io=off" }, &device]);
    Ok(PathBuf::from(device))
}

fn leaf_name(device: &Path) -> String {
    device.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Mounts with the mount program, which knows the options' words.
pub(super) fn mount(kind: &str, source: &str, at: &Path, options: &str) {
    let tool = need_tool("mount", "mount").unwrap_or_else(|e| broken("mount", e));
    let at = at.to_string_lossy();
    let mut words = vec!["-t", kind, source, &at];
    if !options.is_empty() {
        words.extend(["-o", options]);
    }
    run(&tool, &words).unwrap_or_else(|e| broken(&format!("mount {kind}"), e));
}

fn write_noise(path: &Path, bytes: u64) -> io::Result<()> {
    use std::io::Write;
    let mut file = File::create(path)?;
    let mut left = bytes;
    while left > 0 {
        let part = left.min(MI);
        // Another seed each time, so that no two blocks are alike.
        file.write_all(
            Aligned::noise(part as usize, left.wrapping_mul(0x9e37_79b9_7f4a_7c15)).bytes(),
        )?;
        left -= part;
    }
    Ok(())
}
