//! What scenes are made with: assay with somebody who does something meanwhile.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::lab::{
    self, Card, Faults, FaultyFuse, Folder, Fs, Leaf, MI, Op, Room, Shape, Skip, Speed, on,
};

/// One row of the bench.
pub struct Scene {
    /// What it is called.
    pub name: &'static str,
    /// How it is made.
    pub made: &'static str,
    /// Makes it, with assay beside it.
    pub play: fn() -> Result<Tried, Skip>,
}

/// What came of it.
pub struct Tried {
    /// The whole record; null where there is none.
    pub record: Value,
    /// What is true of it.
    pub truth: Truth,
}

/// What is known from the way in which it was made.
#[derive(Clone)]
pub struct Truth {
    /// What took the largest part of the time, as the record names terms. Several where two are of one
    /// size; none where nothing is known.
    pub largest: &'static [&'static str],
    /// What the number is.
    pub about: About,
    /// What the device does alone, or the limit allows, bytes per second.
    pub rate: Option<f64>,
    /// The phase that it is about; otherwise the whole run.
    pub phase: Option<&'static str>,
}

/// What a number is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// The device's.
    Device,
    /// That of a limit which can be named.
    Limit,
    /// Neither: *sound* would be false.
    Neither,
}

impl Truth {
    pub const fn of(about: About, largest: &'static [&'static str]) -> Self {
        Self { largest, about, rate: None, phase: None }
    }

    pub const fn rate(mut self, rate: u64) -> Self {
        self.rate = Some(rate as f64);
        self
    }

    pub const fn phase(mut self, phase: &'static str) -> Self {
        self.phase = Some(phase);
        self
    }

    pub fn with(self, record: Value) -> Result<Tried, Skip> {
        Ok(Tried { record, truth: self })
    }
}

/// What the cards of the bench write per second.
pub const WRITE: u64 = 8 * MI;

/// What they read.
pub const READ: u64 = 32 * MI;

/// A card that is slow for a reason that no file shows: the device itself.
pub fn paced() -> Result<Card, Skip> {
    paced_at(Speed::bytes(READ, WRITE))
}

/// The same of another speed.
pub fn paced_at(speed: Speed) -> Result<Card, Skip> {
    Card::new(Shape { size: 192 * MI, speed, ..Shape::paced() })
}

/// The same with another file system.
pub fn paced_of(fs: Fs, mount: &'static str) -> Result<Card, Skip> {
    let speed = Speed::bytes(READ, WRITE);
    Card::new(Shape { size: room_for(fs), fs, mount, speed, ..Shape::paced() })
}

/// What a card has to have for a file system, and for what the scenes write.
pub const fn room_for(fs: Fs) -> u64 {
    match fs {
        Fs::Ext4 | Fs::Raw => 192 * MI,
        Fs::Xfs | Fs::Btrfs => 512 * MI,
    }
}

/// A card that a limit of the root group holds.
pub fn limited(read: u64, write: u64) -> Result<Card, Skip> {
    Card::new(Shape { size: 192 * MI, speed: Speed::bytes(read, write), ..Shape::sdcard() })
}

/// A file on a card with data, none of it in memory; made at full speed.
pub fn file(card: &Card, name: &str, bytes: u64) -> PathBuf {
    let path = card.path(name);
    card.freely(|| lab::write_direct(&path, bytes, MI).map(drop));
    path
}

/// A word of dd: `of=` and a path.
pub fn operand(name: &str, path: impl AsRef<Path>) -> String {
    format!("{name}={}", path.as_ref().display())
}

/// assay with words, about to be run.
pub struct Beside {
    words: Vec<OsString>,
    through: Vec<OsString>,
    rooms: Vec<Room>,
    stdin: Stdio,
    stdout: Stdio,
}

/// The assay that was just built.
pub fn assay<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> Beside {
    Beside {
        words: words.into_iter().map(|word| word.as_ref().to_owned()).collect(),
        through: Vec::new(),
        rooms: Vec::new(),
        stdin: Stdio::null(),
        stdout: Stdio::null(),
    }
}

impl Beside {
    pub fn word(mut self, word: impl AsRef<OsStr>) -> Self {
        self.words.push(word.as_ref().to_owned());
        self
    }

    pub fn words(mut self, words: &[&str]) -> Self {
        self.words.extend(words.iter().map(OsString::from));
        self
    }

    /// Words with a space between them.
    pub fn split(mut self, words: &str) -> Self {
        self.words.extend(words.split(' ').map(OsString::from));
        self
    }

    /// By a program that starts it.
    pub fn through(mut self, words: &[&str]) -> Self {
        self.through.extend(words.iter().map(OsString::from));
        self
    }

    /// Before all others on a busy machine, so that only what the scene does keeps it from a CPU.
    pub fn first(self) -> Self {
        self.through(&["nice", "-n", "-15"])
    }

    pub fn within(mut self, rooms: &[Room]) -> Self {
        self.rooms.extend_from_slice(rooms);
        self
    }

    pub fn stdin(mut self, from: OwnedFd) -> Self {
        self.stdin = from.into();
        self
    }

    pub fn stdout(mut self, to: OwnedFd) -> Self {
        self.stdout = to.into();
        self
    }

    /// Runs it to its end.
    pub fn run(self) -> Value {
        self.beside(|_| ())
    }

    /// Runs it, and does something to it or beside it.
    pub fn beside(self, meanwhile: impl FnOnce(Pid)) -> Value {
        let memory = tempfile::Builder::new().tempdir_in("/dev/shm").expect("a folder in memory");
        let place = memory.path().join("record");
        let dialect = ["dd", "fio", "bonnie", "iozone"].iter().any(|tool| self.words[0] == *tool);
        let mut all = self.through;
        all.push(env!("CARGO_BIN_EXE_assay").into());
        all.extend(self.words);
        let mut command = lab::command_in(&self.rooms, &all[0]);
        command.args(&all[1..]);
        if dialect {
            command.env("ASSAY_RECORD", &place);
        } else {
            command.arg("--record").arg(&place);
        }
        command.stdin(self.stdin).stdout(self.stdout).stderr(Stdio::piped());
        let mut child = command.spawn().expect("assay starts");
        // The command would keep the ends of pipes open.
        drop(command);
        let mut said = child.stderr.take().expect("its standard error");
        let said = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = said.read_to_string(&mut text);
            text
        });
        meanwhile(Pid::from_child(&child));
        end(&mut child, Duration::from_secs(150));
        let said = said.join().unwrap_or_default();
        if let Some(folder) = std::env::var_os("KEEP") {
            let name = format!("{:03}.json", KEPT.fetch_add(1, Ordering::Relaxed));
            let _ = fs::copy(&place, Path::new(&folder).join(name));
        }
        let record = fs::read(&place).ok().and_then(|text| serde_json::from_slice(&text).ok());
        record.unwrap_or_else(|| {
            println!("    no record of {all:?}: {said}");
            Value::Null
        })
    }
}

/// Records that were kept.
static KEPT: AtomicUsize = AtomicUsize::new(0);

/// Waits for a program, and kills it when it takes too long.
fn end(child: &mut Child, patience: Duration) {
    let began = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if began.elapsed() > patience {
            println!("    killed after {patience:?}");
            let _ = child.kill();
            let _ = child.wait();
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// How far a card has come since.
pub struct Progress<'a> {
    card: &'a Card,
    from: Leaf,
}

impl<'a> Progress<'a> {
    pub fn of(card: &'a Card) -> Self {
        Self { card, from: card.leaf() }
    }

    /// Waits until so many bytes were read or written, 20 seconds at most.
    pub fn reach(&self, bytes: u64) {
        let began = Instant::now();
        loop {
            let now = self.card.leaf() - self.from;
            if now.read_bytes.max(now.write_bytes) >= bytes
                || began.elapsed() > Duration::from_secs(20)
            {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

pub fn sleep(seconds: f64) {
    std::thread::sleep(Duration::from_secs_f64(seconds));
}

/// Stops a program for so long.
pub fn hold(pid: Pid, seconds: f64) {
    let _ = kill_process(pid, Signal::STOP);
    sleep(seconds);
    let _ = kill_process(pid, Signal::CONT);
}

/// A program that runs until this is dropped.
pub struct Meanwhile(Child);

impl Meanwhile {
    pub fn start(words: &[&str]) -> Self {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // A group of its own, so that its children end with it.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        Self(command.spawn().expect("a program starts"))
    }

    /// Shell words.
    pub fn shell(script: &str) -> Self {
        Self::start(&["sh", "-c", script])
    }

    /// Keeps one CPU busy, before all others.
    pub fn hog(cpu: u32) -> Self {
        let cpu = cpu.to_string();
        let words = ["nice", "-n", "-15", "taskset", "-c", &cpu, "sh", "-c", "while :; do :; done"];
        Self::start(&words)
    }
}

impl Drop for Meanwhile {
    fn drop(&mut self) {
        let _ = rustix::process::kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        let _ = self.0.wait();
    }
}

/// The first word that makes this program a server for a scene.
pub const SERVE: &str = "serve-a-file-system";

/// A FUSE file system in a process of its own, so that it can be stopped: each request waits 5 ms.
pub struct Server {
    child: Child,
    /// Its one file.
    pub file: PathBuf,
}

/// What it holds.
const SERVED: usize = 16 << 20;

impl Server {
    pub fn start() -> Result<Self, Skip> {
        lab::need_fuse()?;
        let program = std::env::current_exe().expect("this program");
        let mut command = Command::new(program);
        command.arg(SERVE).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a server starts");
        let mut line = String::new();
        let said = child.stdout.take().expect("what it says");
        BufReader::new(said).read_line(&mut line).expect("where it is");
        Ok(Self { child, file: line.trim().into() })
    }

    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It ends with its input.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Is such a server, until its input ends.
pub fn serve() {
    let time = Duration::from_millis(5);
    match FaultyFuse::new(Faults::from(on(Op::Read).hangs(time)).and(on(Op::Write).hangs(time))) {
        Ok(fuse) => {
            fuse.put("x", &vec![7; SERVED]);
            println!("{}", fuse.path("x").display());
            let _ = std::io::stdout().flush();
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
        }
        Err(skip) => eprintln!("{skip}"),
    }
}

/// A loop device whose image is a file on a card.
pub struct Upon {
    /// The device.
    pub device: String,
    /// Where it is mounted.
    mounted: Option<Mounted>,
}

/// A mounted file system, and its folder.
struct Mounted {
    at: PathBuf,
    _folder: Folder,
}

impl Upon {
    pub fn card(card: &Card, bytes: u64, direct: bool) -> Result<Self, Skip> {
        let image = file(card, "upper.img", bytes);
        let tool = lab::need_tool("losetup", "mount")?;
        let direct = if direct { "--direct-io=on" } else { "--direct-io=off" };
        let out = Command::new(tool).args(["-f", "--show", direct]).arg(&image).output();
        let out = out.expect("losetup runs");
        let device = String::from_utf8_lossy(&out.stdout).trim().to_owned();
        assert!(!device.is_empty(), "losetup: {}", String::from_utf8_lossy(&out.stderr));
        Ok(Self { device, mounted: None })
    }

    /// The same with ext4 on it, past the page cache of the card.
    pub fn ext4(card: &Card, bytes: u64) -> Result<Self, Skip> {
        let mut this = Self::card(card, bytes, true)?;
        let folder = lab::folder("upper");
        let at = folder.make("mnt");
        let done = |command: &mut Command| command.status().is_ok_and(|status| status.success());
        card.freely(|| {
            let whole = ["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"];
            assert!(done(Command::new("mkfs.ext4").args(whole).arg(&this.device)), "mkfs.ext4");
            assert!(done(Command::new("mount").arg(&this.device).arg(&at)), "mount");
            Ok(())
        });
        this.mounted = Some(Mounted { at, _folder: folder });
        Ok(this)
    }

    /// Where it is mounted.
    pub fn mount(&self) -> &Path {
        &self.mounted.as_ref().expect("a file system").at
    }
}

impl Drop for Upon {
    fn drop(&mut self) {
        // Unmounted with its folder.
        self.mounted = None;
        let _ = Command::new("losetup").args(["-d", &self.device]).status();
    }
}

/// A control group that can be frozen; gone when dropped.
pub struct Freezer {
    room: Room,
    state: PathBuf,
    words: [&'static str; 2],
}

impl Freezer {
    /// Of version 1.
    pub fn v1() -> Result<Self, Skip> {
        Self::at("/sys/fs/cgroup/freezer", "freezer.state", ["FROZEN", "THAWED"])
    }

    /// Of version 2.
    pub fn v2() -> Result<Self, Skip> {
        let root = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"];
        let is_v2 = |root: &&str| Path::new(root).join("cgroup.controllers").exists();
        let root = root.into_iter().find(is_v2).unwrap_or("/sys/fs/cgroup/unified");
        Self::at(root, "cgroup.freeze", ["1", "0"])
    }

    fn at(root: &str, state: &str, words: [&'static str; 2]) -> Result<Self, Skip> {
        let folder = Path::new(root).join(format!("assay-lab-bench-{}", std::process::id()));
        fs::create_dir(&folder)
            .map_err(|error| Skip::Machine(format!("{}: {error}", folder.display())))?;
        let state = folder.join(state);
        let freezer = Self { room: Room(folder), state, words };
        if freezer.state.exists() {
            Ok(freezer)
        } else {
            Err(Skip::Machine(format!("no {}", freezer.state.display())))
        }
    }

    pub fn rooms(&self) -> &[Room] {
        std::slice::from_ref(&self.room)
    }

    /// Freezes all that is in it for so long.
    pub fn freeze(&self, seconds: f64) {
        let put = |word| fs::write(&self.state, word).expect("a state of a group");
        put(self.words[0]);
        sleep(seconds);
        put(self.words[1]);
    }
}

impl Drop for Freezer {
    fn drop(&mut self) {
        for _ in 0..50 {
            if fs::remove_dir(&self.room.0).is_ok() {
                return;
            }
            sleep(0.02);
        }
    }
}
