//! Work on many files: each is one operation, timed by itself.
//!
//! The loop keeps the conventions of the one over blocks: the clock is read once per operation,
//! its end being the start of the next; what does not belong to the operation (making data,
//! looking at them, listing, a flush) is timed apart and taken out. Names are written into a fixed
//! buffer, digits over digits; the order is a permutation. So an operation costs the same whether
//! there are a thousand files or a hundred million, and nothing is allocated for it.
//!
//! A file is `f<worker>.<number>` in `d<folder>/` below the worker's root; one that was renamed
//! begins with `r`, and renaming it again gives it back its `f`.

use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rustix::fs::{AtFlags, FallocateFlags, Mode, OFlags, RawDir};
use rustix::io::Errno;

use crate::error::Fault;
use crate::plan::{Action, Durability, Rate, TreeOrder, TreeSize, Verify};
use crate::stats::{Gauge, Tally};
use crate::sys::buffer::Buffer;
use crate::sys::{clock, close};
use crate::unit::{Instant, Nanos};

use super::balance::Share;
use super::drive::{Haul, Quota};
use super::fill::{Filler, Found, Generation, Known, SECTOR};
use super::pace::Pace;
use super::random::{Shuffle, mix};
use super::tallies::Tallies;
use super::{Io, Op};

/// What links point to, in each root.
pub const ANCHOR: &CStr = c"anchor";
/// Data are moved in pieces of this size at the most.
const PIECE: usize = 1 << 20;
/// Room for the names that one call lists.
const LISTING: usize = 32 << 10;
/// Bits of a place that are the offset in a file of a tree.
const OFFSET_BITS: u32 = 32;

/// One worker on a tree, ready to go.
#[derive(Debug)]
pub struct TreeWorker<'a> {
    /// The folder that holds its files or subfolders.
    pub root: OwnedFd,
    /// What that is called in faults.
    pub path: String,
    /// What it does.
    pub action: Action,
    /// To what.
    pub size: TreeSize,
    /// How many it has.
    pub files: u64,
    /// Subfolders over which they are spread; 0: none.
    pub folders: u32,
    /// Its number among all workers, part of the names of its files.
    pub number: u32,
    /// Whether the folders hold files of others.
    pub shared: bool,
    /// In which order.
    pub order: TreeOrder,
    /// The files have the other of their two names.
    pub renamed: bool,
    /// What it writes.
    pub filler: Filler,
    /// How closely it looks at what it reads.
    pub verify: Verify,
    /// What a finished change promises.
    pub durability: Durability,
    /// Folders are flushed too.
    pub sync_folder: bool,
    /// How often it goes through all; `None`: without end.
    pub passes: Option<u64>,
    /// The rate of the whole job.
    pub rate: Rate,
    /// (number of this worker, number of workers).
    pub place: (u32, u32),
    /// Other jobs that it keeps step with.
    pub balance: Option<Share<'a>>,
    /// Until when.
    pub quota: Quota,
    /// Everything random follows from it.
    pub seed: u64,
    /// Live counters.
    pub gauge: &'a Gauge,
    /// Raised by others when it must stop now.
    pub halt: &'a AtomicBool,
}

/// The path of a file below the root: `d000012/f0003.0000000456`, with a byte 0 behind it.
#[derive(Clone, Copy, Debug)]
struct Name {
    bytes: [u8; Self::FULL + 1],
    /// Where it begins: a tree without folders passes over the first part.
    start: usize,
}

impl Name {
    /// `d000012/`.
    const FOLDER: usize = 8;
    const FULL: usize = Self::FOLDER + 16;

    fn new(worker: u32, foldered: bool, renamed: bool) -> Self {
        let mut bytes = *b"d000000/f0000.0000000000\0";
        digits(&mut bytes[Self::FOLDER + 1..Self::FOLDER + 5], u64::from(worker));
        bytes[Self::FOLDER] = letter(renamed);
        Self { bytes, start: if foldered { 0 } else { Self::FOLDER } }
    }

    #[inline]
    fn point(&mut self, folder: u64, file: u64) {
        if self.start == 0 {
            digits(&mut self.bytes[1..Self::FOLDER - 1], folder);
        }
        digits(&mut self.bytes[Self::FOLDER + 6..Self::FULL], file);
    }

    fn rename(&mut self, renamed: bool) {
        self.bytes[Self::FOLDER] = letter(renamed);
    }

    #[inline]
    fn path(&self) -> &CStr {
        CStr::from_bytes_with_nul(&self.bytes[self.start..]).unwrap_or(c".")
    }

    /// The file alone, without its folder.
    #[inline]
    fn file(&self) -> &CStr {
        CStr::from_bytes_with_nul(&self.bytes[Self::FOLDER..]).unwrap_or(c".")
    }

    /// What all files of this worker begin with.
    fn prefix(&self) -> [u8; 6] {
        let mut prefix = [0; 6];
        prefix.copy_from_slice(&self.bytes[Self::FOLDER..Self::FOLDER + 6]);
        prefix
    }
}

fn letter(renamed: bool) -> u8 {
    if renamed { b'r' } else { b'f' }
}

/// Writes a number over all of `into`, with leading zeros.
#[inline]
fn digits(into: &mut [u8], mut number: u64) {
    for digit in into.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// The name of a subfolder.
pub fn folder_name(folder: u32) -> String {
    format!("d{folder:06}")
}

/// The size of a file, by its number among those of all workers.
pub fn size_of(size: TreeSize, seed: u64, number: u64) -> u64 {
    match size {
        TreeSize::Files { least, most } => {
            let span = u128::from(most.0 - least.0) + 1;
            least.0 + ((u128::from(mix(seed ^ mix(number + 1))) * span) >> 64) as u64
        }
        _ => 0,
    }
}

/// What the data of a file are made from, at an offset in it.
pub fn tree_place(number: u64, offset: u64) -> u64 {
    number << OFFSET_BITS | offset
}

/// What one operation did.
#[derive(Clone, Copy, Debug, Default)]
struct Done {
    bytes: u64,
    asked: u64,
    /// Time within it that is not its own, ns.
    aside_ns: u64,
    /// Of that, the flush.
    flush_ns: Option<u64>,
    mismatches: u64,
    /// It was broken off: somebody wanted the worker to stop.
    broken: bool,
}

/// What stopped an operation: the call, and its answer.
type Stuck = (&'static str, Errno);

/// Time, limits and counts of a worker.
struct Beat<'w, 'a> {
    worker: &'w TreeWorker<'a>,
    pace: Pace,
    haul: Haul,
    tally: Tally,
    listings: Tally,
    now: Instant,
    deadline: Option<Instant>,
    bytes_left: u64,
    ops_left: u64,
    /// Something said that it is over before the last pass was.
    cut: bool,
}

impl Beat<'_, '_> {
    /// Waits for its turn: when the operation began, or was due. `None`: it is over.
    #[inline]
    fn next(&mut self) -> Option<Instant> {
        loop {
            let late = self.deadline.is_some_and(|deadline| self.now >= deadline);
            if late || self.worker.halt.load(Relaxed) || self.bytes_left == 0 || self.ops_left == 0
            {
                self.cut = true;
                return None;
            }
            let due = match &self.worker.balance {
                None => self.pace.due(),
                Some(share) => self.pace.due().max(share.hold(self.now)),
            };
            let Some(due) = due else { return Some(self.now) };
            if due <= self.now {
                return Some(if self.pace.counts_from_due() { due } else { self.now });
            }
            let until = due.min(self.deadline.unwrap_or(due)).min(self.now + Nanos::millis(100));
            clock::sleep_until(until);
            self.now = clock::now();
            self.haul.stopped = self.now;
        }
    }

    /// The operation that began at `since` has ended.
    #[inline]
    fn done(&mut self, since: Instant, done: Done) {
        let io = Io { op: Op::Read, file: 0, offset: 0, len: done.bytes as u32 };
        let began = self.now;
        self.now = clock::now();
        let lat_ns = self.now.since(since).0.saturating_sub(done.aside_ns);
        self.pace.started(io, began);
        if let Some(share) = &self.worker.balance {
            share.step();
        }
        self.bytes_left = self.bytes_left.saturating_sub(done.bytes);
        self.ops_left -= 1;
        if self.worker.action.changes() {
            self.worker.gauge.write(done.bytes, lat_ns);
        } else {
            self.worker.gauge.read(done.bytes, lat_ns);
        }
        if self.now >= self.haul.counted {
            self.tally.add(done.bytes, done.asked, lat_ns);
            if let Some(flush_ns) = done.flush_ns {
                self.haul.tallies.of(Action::Flush).add(0, 0, flush_ns);
            }
        }
        self.tally.mismatches += done.mismatches;
        self.haul.stopped = self.now;
    }

    /// Takes in what became of the operation that began at `since`; whether to go on.
    #[inline]
    fn ended(&mut self, since: Instant, answer: Result<Done, Stuck>, name: &CStr) -> bool {
        match answer {
            Ok(done) if done.broken => {
                self.worker.gauge.unfinished(self.worker.action.changes(), done.bytes);
                self.cut = true;
            }
            Ok(done) => self.done(since, done),
            Err(stuck) => self.fail(stuck, name),
        }
        !self.cut
    }

    /// Time went by for something else.
    fn skip(&mut self) -> u64 {
        let began = self.now;
        self.now = clock::now();
        self.now.since(began).0
    }

    fn fail(&mut self, (doing, errno): Stuck, name: &CStr) {
        let path = format!("{}/{}", self.worker.path, name.to_string_lossy());
        self.tally.errors += 1;
        self.haul.fault.get_or_insert_with(|| Fault::new(doing, path, &errno.into()));
        self.cut = true;
    }
}

impl TreeWorker<'_> {
    /// Makes its buffers, calls `ready` (a barrier), and does its work.
    ///
    /// # Errors
    /// When there is no memory for the buffers. `ready` has been called all the same.
    pub fn go(self, ready: impl FnOnce()) -> Result<Haul, Fault> {
        let most = match self.size {
            TreeSize::Files { most, .. } => most.0,
            _ => 0,
        };
        let buffer = Buffer::new((most as usize).clamp(1, PIECE));
        let mut listing = vec![MaybeUninit::uninit(); LISTING];
        let mut hands = Hands {
            buffer: match buffer {
                Ok(buffer) => buffer,
                Err(error) => {
                    ready();
                    return Err(Fault::new("prepare", self.path, &error));
                }
            },
            folder: None,
            name: Name::new(self.number, self.folders > 0, self.renamed),
        };
        if !self.filler.changes() {
            self.filler.fill(&mut hands.buffer, 0, Generation::default());
        }
        ready();
        let now = clock::now();
        let quota = self.quota;
        let (place, workers) = self.place;
        let haul = Haul {
            tallies: Tallies::new([Action::Flush], false),
            started: now,
            counted: now + quota.ramp,
            stopped: now,
            ..Haul::default()
        };
        let mut beat = Beat {
            pace: Pace::new(self.rate, workers, place, now, self.seed),
            deadline: quota.time.map(|time| haul.counted + time),
            haul,
            tally: Tally::default(),
            listings: Tally::default(),
            now,
            bytes_left: quota.bytes.unwrap_or(u64::MAX),
            ops_left: quota.ops.unwrap_or(u64::MAX),
            cut: false,
            worker: &self,
        };
        let (mut pass, mut renamed) = (0, self.renamed);
        while !beat.cut && self.passes.is_none_or(|passes| pass < passes) {
            hands.name.rename(renamed);
            match (self.action, self.order) {
                (Action::List, _) => self.list(&mut beat, &mut hands, &mut listing, pass),
                (_, TreeOrder::AsListed) => {
                    self.as_listed(&mut beat, &mut hands, &mut listing, renamed)
                }
                _ => self.by_number(&mut beat, &mut hands, renamed, pass),
            }
            renamed ^= self.action == Action::Rename;
            pass += 1;
        }
        let Beat { mut haul, tally, listings, cut, .. } = beat;
        haul.counted = haul.counted.min(haul.stopped);
        haul.whole = !cut;
        haul.renamed = renamed;
        haul.tallies.put(self.action, tally);
        if listings.ops > 0 {
            haul.tallies.put(Action::List, listings);
        }
        Ok(haul)
    }

    /// The folder of a file: files in a row lie in one.
    #[inline]
    fn folder_of(&self, file: u64) -> u64 {
        match self.folders {
            0 => 0,
            folders => file / self.files.div_ceil(u64::from(folders)),
        }
    }

    /// Subfolders that hold anything; without any, the root.
    fn used_folders(&self) -> u64 {
        self.folder_of(self.files - 1) + 1
    }

    /// One pass in the order of names, or shuffled.
    fn by_number(&self, beat: &mut Beat, hands: &mut Hands, renamed: bool, pass: u64) {
        let shuffle = (self.order == TreeOrder::Shuffled).then(|| {
            Shuffle::new(self.files, self.seed ^ mix(pass + (u64::from(self.number) << 32)))
        });
        for step in 0..self.files {
            let Some(since) = beat.next() else { return };
            let file = shuffle.as_ref().map_or(step, |shuffle| shuffle.at(step));
            let folder = self.folder_of(file);
            hands.name.point(folder, file);
            let at = At { folder: None, name: hands.name, number: file, folder_number: folder };
            let answer = self.act(hands, &at, renamed);
            if !beat.ended(since, answer, hands.name.path()) {
                return;
            }
        }
    }

    /// One pass as the file system lists them.
    fn as_listed(
        &self,
        beat: &mut Beat,
        hands: &mut Hands,
        listing: &mut [MaybeUninit<u8>],
        renamed: bool,
    ) {
        let prefix = hands.name.prefix();
        let mut visited = 0;
        for folder in 0..self.used_folders() {
            let fd = match self.open_folder(folder) {
                Ok(fd) => fd,
                Err(stuck) => return beat.fail(stuck, c"."),
            };
            let mut entries = RawDir::new(&fd, listing);
            loop {
                let fresh = entries.is_buffer_empty();
                let entry = entries.next();
                if fresh {
                    let lat_ns = beat.skip();
                    if beat.now >= beat.haul.counted {
                        beat.listings.add(0, 0, lat_ns);
                    }
                }
                let entry = match entry {
                    None => break,
                    Some(Ok(entry)) => entry,
                    Some(Err(errno)) => return beat.fail(("list", errno), c"."),
                };
                // Others' files, the anchor, and names that this very pass has given.
                let Some(number) = number_in(entry.file_name().to_bytes(), prefix) else {
                    continue;
                };
                let Some(since) = beat.next() else { return };
                hands.name.point(folder, number);
                let at = At {
                    folder: Some(fd.as_fd()),
                    name: hands.name,
                    number,
                    folder_number: folder,
                };
                let answer = self.act(hands, &at, renamed);
                if !beat.ended(since, answer, hands.name.path()) {
                    return;
                }
                visited += 1;
            }
        }
        if visited != self.files {
            beat.cut = true;
            beat.haul.fault.get_or_insert_with(|| Fault {
                doing: "list".into(),
                path: self.path.clone(),
                offset: None,
                errno: 0,
                name: String::new(),
                text: format!("{visited} of {} files were listed", self.files),
                hint: "something else changes this folder, or its file system lists wrongly".into(),
            });
        }
    }

    /// One pass over the folders: all names of each.
    fn list(&self, beat: &mut Beat, hands: &mut Hands, listing: &mut [MaybeUninit<u8>], pass: u64) {
        let folders = self.used_folders();
        let shuffle = (self.order == TreeOrder::Shuffled)
            .then(|| Shuffle::new(folders, self.seed ^ mix(pass)));
        for step in 0..folders {
            let Some(since) = beat.next() else { return };
            let folder = shuffle.as_ref().map_or(step, |shuffle| shuffle.at(step));
            let mut all = || -> Result<(), Stuck> {
                let fd = self.open_folder(folder)?;
                let mut entries = RawDir::new(&fd, listing);
                while let Some(entry) = entries.next() {
                    entry.map_err(|errno| ("list", errno))?;
                }
                Ok(())
            };
            match all() {
                Ok(()) => beat.done(since, Done::default()),
                Err(stuck) => {
                    hands.name.point(folder, 0);
                    return beat.fail(stuck, hands.name.path());
                }
            }
        }
    }

    fn open_folder(&self, folder: u64) -> Result<OwnedFd, Stuck> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = if self.folders == 0 {
            rustix::fs::openat(&self.root, c".", flags, Mode::empty())
        } else {
            let mut name = *b"d000000\0";
            digits(&mut name[1..7], folder);
            let name = CStr::from_bytes_with_nul(&name).unwrap_or(c".");
            rustix::fs::openat(&self.root, name, flags, Mode::empty())
        };
        opened.map_err(|errno| ("open", errno))
    }

    /// Does the one thing to the one file.
    #[inline]
    fn act(&self, hands: &mut Hands, at: &At, renamed: bool) -> Result<Done, Stuck> {
        let (dir, name) = match at.folder {
            Some(folder) => (folder, at.name.file()),
            None => (self.root.as_fd(), at.name.path()),
        };
        let mut done = Done::default();
        match self.action {
            Action::Create => self.create(hands, at, dir, name, &mut done)?,
            Action::Open => {
                let file = self.open(dir, name, OFlags::RDONLY)?;
                shut(file)?;
            }
            Action::Stat => {
                rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
                    .map_err(|errno| ("stat", errno))?;
            }
            Action::Rename => {
                let mut other = at.name;
                other.rename(!renamed);
                let other = if at.folder.is_some() { other.file() } else { other.path() };
                rustix::fs::renameat(dir, name, dir, other).map_err(|errno| ("rename", errno))?;
                self.sync_folder(hands, at, &mut done)?;
            }
            Action::Remove => {
                let flags = match self.size {
                    TreeSize::Folders => AtFlags::REMOVEDIR,
                    _ => AtFlags::empty(),
                };
                rustix::fs::unlinkat(dir, name, flags).map_err(|errno| ("remove", errno))?;
                self.sync_folder(hands, at, &mut done)?;
            }
            Action::Read => self.read(hands, at, dir, name, &mut done)?,
            Action::Allocate => {
                let file = self.open(dir, name, OFlags::WRONLY)?;
                let size = self.size_of(at.number);
                if size > 0 {
                    rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, size)
                        .map_err(|errno| ("allocate", errno))?;
                }
                self.sync_file(file.as_fd(), &mut done)?;
                shut(file)?;
            }
            Action::Truncate => {
                let file = self.open(dir, name, OFlags::WRONLY)?;
                rustix::fs::ftruncate(&file, 0).map_err(|errno| ("truncate", errno))?;
                self.sync_file(file.as_fd(), &mut done)?;
                shut(file)?;
            }
            Action::List
            | Action::Write
            | Action::Rewrite
            | Action::Trim
            | Action::Flush
            | Action::SyncFileRange
            | Action::Drop
            | Action::Close => {
                unreachable!("the plan's check refuses '{}' here", self.action.name())
            }
        }
        Ok(done)
    }

    #[inline]
    fn create(
        &self,
        hands: &mut Hands,
        at: &At,
        dir: BorrowedFd,
        name: &CStr,
        done: &mut Done,
    ) -> Result<(), Stuck> {
        let fault = |errno| ("create", errno);
        match self.size {
            TreeSize::Files { .. } => {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
                let file = self.open(dir, name, flags)?;
                self.write(hands, file.as_fd(), at.number, done)?;
                if done.broken {
                    return shut(file);
                }
                self.sync_file(file.as_fd(), done)?;
                shut(file)?;
            }
            TreeSize::SymbolicLinks => {
                let target = if self.folders > 0 { c"../anchor" } else { ANCHOR };
                rustix::fs::symlinkat(target, dir, name).map_err(fault)?;
            }
            TreeSize::HardLinks => {
                rustix::fs::linkat(&self.root, ANCHOR, dir, name, AtFlags::empty())
                    .map_err(fault)?;
            }
            TreeSize::Folders => {
                rustix::fs::mkdirat(dir, name, Mode::from_raw_mode(0o700)).map_err(fault)?;
            }
        }
        self.sync_folder(hands, at, done)
    }

    #[inline]
    fn open(&self, dir: BorrowedFd, name: &CStr, flags: OFlags) -> Result<OwnedFd, Stuck> {
        let sync = match self.durability {
            Durability::OpenSync => OFlags::SYNC,
            Durability::OpenDsync => OFlags::DSYNC,
            _ => OFlags::empty(),
        };
        let mode = Mode::from_raw_mode(0o600);
        rustix::fs::openat(dir, name, flags | sync | OFlags::CLOEXEC, mode).map_err(|errno| {
            (if flags.contains(OFlags::CREATE) { "create" } else { "open" }, errno)
        })
    }

    fn size_of(&self, number: u64) -> u64 {
        size_of(self.size, self.seed, self.global(number))
    }

    /// The number of a file among those of all workers.
    fn global(&self, number: u64) -> u64 {
        u64::from(self.number) * self.files + number
    }

    #[inline]
    fn write(
        &self,
        hands: &mut Hands,
        file: BorrowedFd,
        number: u64,
        done: &mut Done,
    ) -> Result<(), Stuck> {
        let size = self.size_of(number);
        let refill = self.filler.changes();
        done.asked = size;
        while done.bytes < size {
            if self.halt.load(Relaxed) {
                done.broken = true;
                break;
            }
            let piece = (size - done.bytes).min(hands.buffer.len() as u64) as usize;
            let piece = &mut hands.buffer[..piece];
            if refill {
                let began = clock::now();
                let place = tree_place(self.global(number), done.bytes);
                self.filler.fill(piece, place, Generation::default());
                done.aside_ns += clock::now().since(began).0;
            }
            let mut written = 0;
            while written < piece.len() {
                match rustix::io::write(file, &piece[written..]) {
                    Ok(0) => return Err(("write", Errno::NOSPC)),
                    Ok(bytes) => written += bytes,
                    Err(Errno::INTR) => {}
                    Err(errno) => return Err(("write", errno)),
                }
            }
            done.bytes += written as u64;
        }
        Ok(())
    }

    #[inline]
    fn read(
        &self,
        hands: &mut Hands,
        at: &At,
        dir: BorrowedFd,
        name: &CStr,
        done: &mut Done,
    ) -> Result<(), Stuck> {
        let file = self.open(dir, name, OFlags::RDONLY)?;
        done.asked = self.size_of(at.number);
        while done.bytes < done.asked {
            if self.halt.load(Relaxed) {
                done.broken = true;
                break;
            }
            let most = (done.asked - done.bytes).min(hands.buffer.len() as u64) as usize;
            let piece = &mut hands.buffer[..most];
            let bytes = read_whole(file.as_fd(), piece).map_err(|errno| ("read", errno))?;
            if self.verify != Verify::None {
                let began = clock::now();
                let place = tree_place(self.global(at.number), done.bytes);
                if !self.is_right(&piece[..bytes], place) {
                    done.mismatches += 1;
                }
                done.aside_ns += clock::now().since(began).0;
            }
            done.bytes += bytes as u64;
            if bytes < most {
                break;
            }
        }
        shut(file)
    }

    /// Whether a piece of a file is what was written there, looked at as closely as it was asked.
    fn is_right(&self, piece: &[u8], place: u64) -> bool {
        match self.verify {
            Verify::Tags => {
                let mut sectors = piece.chunks(SECTOR).zip((place..).step_by(SECTOR));
                sectors.all(|(sector, at)| self.filler.check_tag(sector, at) == Found::Right)
            }
            _ => self.filler.check(piece, place, Known::Layers(&[])).is_ok(),
        }
    }

    /// Flushes a file, where the plan wants that of each.
    #[inline]
    fn sync_file(&self, file: BorrowedFd, done: &mut Done) -> Result<(), Stuck> {
        let began = match self.durability {
            Durability::FsyncEvery(_) | Durability::FdatasyncEvery(_) => clock::now(),
            _ => return Ok(()),
        };
        match self.durability {
            Durability::FsyncEvery(_) => {
                rustix::fs::fsync(file).map_err(|errno| ("fsync", errno))?
            }
            _ => rustix::fs::fdatasync(file).map_err(|errno| ("fdatasync", errno))?,
        }
        done.flushed(began);
        Ok(())
    }

    /// Flushes the folder of a file, where the plan wants that.
    #[inline]
    fn sync_folder(&self, hands: &mut Hands, at: &At, done: &mut Done) -> Result<(), Stuck> {
        if !self.sync_folder {
            return Ok(());
        }
        let began = clock::now();
        let fault = |errno| ("fsync", errno);
        match at.folder {
            Some(folder) => rustix::fs::fsync(folder).map_err(fault)?,
            None if self.folders == 0 => rustix::fs::fsync(&self.root).map_err(fault)?,
            None => {
                // The last one is kept open: by name they come in a row.
                let known = hands.folder.take().filter(|(number, _)| *number == at.folder_number);
                let (number, fd) = match known {
                    Some(known) => known,
                    None => (at.folder_number, self.open_folder(at.folder_number)?),
                };
                let answer = rustix::fs::fsync(&fd).map_err(fault);
                hands.folder = Some((number, fd));
                answer?;
            }
        }
        done.flushed(began);
        Ok(())
    }
}

impl Done {
    fn flushed(&mut self, began: Instant) {
        let took = clock::now().since(began).0;
        self.aside_ns += took;
        self.flush_ns = Some(self.flush_ns.unwrap_or(0) + took);
    }
}

/// What a worker works with.
struct Hands {
    buffer: Buffer,
    /// The folder that was flushed last.
    folder: Option<(u64, OwnedFd)>,
    name: Name,
}

/// One file.
struct At<'f> {
    /// Its folder, when that is open: the file is reached through it.
    folder: Option<BorrowedFd<'f>>,
    name: Name,
    number: u64,
    folder_number: u64,
}

/// Reads until the buffer is full or the file ends: the bytes read.
#[inline]
fn read_whole(file: BorrowedFd, buffer: &mut [u8]) -> Result<usize, Errno> {
    let mut filled = 0;
    while filled < buffer.len() {
        match rustix::io::read(file, &mut buffer[filled..]) {
            Ok(0) => break,
            Ok(bytes) => filled += bytes,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(filled)
}

/// Closes a file, and hears what the file system has to say about it.
#[inline]
fn shut(file: OwnedFd) -> Result<(), Stuck> {
    close::close(file)
        .map_err(|error: io::Error| ("close", Errno::from_io_error(&error).unwrap_or(Errno::IO)))
}

/// The number in the name of a file that begins so.
#[inline]
fn number_in(name: &[u8], prefix: [u8; 6]) -> Option<u64> {
    let rest = name.strip_prefix(&prefix)?;
    let digit = |number: u64, byte: &u8| {
        byte.is_ascii_digit().then(|| number * 10 + u64::from(byte - b'0'))
    };
    if rest.len() == 10 { rest.iter().try_fold(0, digit) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Bytes;

    #[test]
    fn names_say_folder_worker_and_number() {
        let mut name = Name::new(12, true, false);
        name.point(345, 6_789_012_345);
        assert_eq!(name.path(), c"d000345/f0012.6789012345");
        assert_eq!(name.file(), c"f0012.6789012345");
        name.rename(true);
        assert_eq!(name.path(), c"d000345/r0012.6789012345");
        let mut name = Name::new(0, false, true);
        name.point(7, 8);
        assert_eq!(name.path(), c"r0000.0000000008");
        assert_eq!(number_in(b"r0000.0000000008", name.prefix()), Some(8));
        for other in [&b"f0000.0000000008"[..], b"r0001.0000000008", b"r0000.000000000x", b"anchor"]
        {
            assert_eq!(number_in(other, name.prefix()), None);
        }
        assert_eq!(folder_name(345), "d000345");
    }

    #[test]
    fn sizes_lie_between_their_bounds_and_reach_them() {
        let size = TreeSize::Files { least: Bytes(3), most: Bytes(6) };
        let mut seen: Vec<u64> = (0..100).map(|number| size_of(size, 7, number)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [3, 4, 5, 6]);
        let same = TreeSize::Files { least: Bytes(9), most: Bytes(9) };
        assert!((0..100).all(|number| size_of(same, 7, number) == 9));
    }
}
