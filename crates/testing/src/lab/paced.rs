//! A file whose slowness no file of the kernel shows: our own FUSE server answers when its time has come.
//!
//! One queue, one server: a request starts when the one before has ended, and ends after its bytes
//! have passed at the direction's speed. A thread answers each at its end. Because the end times
//! follow from each other and not from when the thread woke up, the rate over seconds is exact.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant, UNIX_EPOCH};

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, InitFlags, KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr,
    ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request,
    WriteFlags,
};

use super::dedup::Known;
use super::den::{Folder, folder, undo};
use super::fake::Trick;
use super::nature::{Calendar, Nature, Part};
use super::skip::{broken, need_fuse};
use super::{Skip, Speed};

/// The one file's name.
const NAME: &str = "disk.img";
const DISK: INodeNo = INodeNo(2);
const TTL: Duration = Duration::from_secs(1);

/// Where the file's bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backing {
    /// In this process' memory, as far as they were written.
    Memory,
    /// In a sparse file in the lab's folder, for disks that are too large for memory.
    File,
}

/// A mounted FUSE file system with one paced file in it.
pub struct PacedFuse {
    disk: Arc<Disk>,
    at: PathBuf,
    // Unmounted by Drop before the folder goes.
    session: Option<BackgroundSession>,
    folder: Folder,
}

impl PacedFuse {
    /// Mounts it. The speed may be [`Speed::FREE`] and be set later.
    pub fn new(size: u64, speed: Speed, backing: Backing) -> Result<PacedFuse, Skip> {
        need_fuse()?;
        let folder = folder("paced");
        let store = match backing {
            Backing::Memory => Store::memory(size),
            Backing::File => {
                folder.need_free(size)?;
                let path = folder.path().join("backing.img");
                let file = File::options().read(true).write(true).create_new(true).open(path);
                let file = file.and_then(|file| file.set_len(size).map(|()| file));
                Store::File(file.unwrap_or_else(|e| broken("make the backing file", e)))
            }
        };
        let disk = Arc::new(Disk {
            size,
            store,
            pace: Mutex::new(Calendar::new(speed)),
            read: AtomicU64::new(0),
            written: AtomicU64::new(0),
            noted: Mutex::new(None),
            known: Known::default(),
            trick: Trick::default(),
        });
        let (due, queue) = mpsc::channel();
        let clock = Arc::clone(&disk);
        std::thread::Builder::new()
            .name("lab-paced".into())
            .spawn(move || answer(&clock, &queue))
            .unwrap_or_else(|e| broken("start the answering thread", e));
        let at = folder.make("fuse");
        let mut config = Config::default();
        config.mount_options =
            vec![MountOption::FSName("assay-lab".into()), MountOption::Subtype("paced".into())];
        let server = Server { disk: Arc::clone(&disk), due };
        let session = fuser::spawn_mount(server, &at, &config)
            .unwrap_or_else(|e| broken("mount the paced file", e));
        Ok(PacedFuse { disk, at, session: Some(session), folder })
    }

    /// The file.
    pub fn path(&self) -> PathBuf {
        self.at.join(NAME)
    }

    /// Makes it faster or slower for the requests that come from now on.
    pub fn set_speed(&self, speed: Speed) {
        let mut pace = self.calendar();
        (pace.speed, pace.free) = (speed, Instant::now());
    }

    /// Does nothing for this long, when it has done what it was asked until now.
    pub fn pause(&self, time: Duration) {
        let mut pace = self.calendar();
        pace.free = pace.free.max(Instant::now()) + time;
    }

    /// When it is free, and how fast it is.
    pub(super) fn calendar(&self) -> MutexGuard<'_, Calendar> {
        self.disk.calendar()
    }

    /// What it does to addresses and data.
    pub(super) fn trick(&self) -> &Trick {
        &self.disk.trick
    }

    /// From now on a block that it has had before costs it no time.
    pub fn deduplicate(&self) {
        self.disk.known.begin();
    }

    /// Writes down each request from now on.
    pub fn note_requests(&self) {
        *self.disk.noted.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(Vec::new());
    }

    /// The requests since [`PacedFuse::note_requests`], in the order in which the kernel sent
    /// them; no more are written down.
    pub fn noted(&self) -> Vec<Asked> {
        let mut noted = self.disk.noted.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        noted.take().unwrap_or_default()
    }

    /// Bytes that were read and written through the server so far.
    pub fn moved(&self) -> (u64, u64) {
        (self.disk.read.load(Ordering::Relaxed), self.disk.written.load(Ordering::Relaxed))
    }
}

impl Drop for PacedFuse {
    fn drop(&mut self) {
        self.set_speed(Speed::FREE);
        undo(self.folder.path());
        // Already unmounted, so this only ends the server's thread.
        drop(self.session.take());
    }
}

/// A request of the kernel for a part of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    pub write: bool,
    pub offset: u64,
    pub len: u64,
}

/// The state that the server's threads share.
struct Disk {
    size: u64,
    store: Store,
    pace: Mutex<Calendar>,
    read: AtomicU64,
    written: AtomicU64,
    /// What was asked, while that is written down.
    noted: Mutex<Option<Vec<Asked>>>,
    /// What it has had already costs it no time, where it looks.
    known: Known,
    /// What it does to addresses and data.
    trick: Trick,
}

impl Disk {
    fn note(&self, write: bool, offset: u64, len: u64) {
        let mut noted = self.noted.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(noted) = noted.as_mut() {
            noted.push(Asked { write, offset, len });
        }
    }

    fn calendar(&self) -> MutexGuard<'_, Calendar> {
        self.pace.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// The bytes, those never written being zero.
pub(super) enum Store {
    Memory(Vec<Mutex<Option<Box<[u8]>>>>),
    File(File),
}

impl Store {
    const CHUNK: usize = 256 << 10;

    fn memory(size: u64) -> Store {
        Store::Memory((0..size.div_ceil(Self::CHUNK as u64)).map(|_| Mutex::new(None)).collect())
    }

    /// Calls for each part of a range that lies in one chunk: chunk, offset in it, range of the buffer.
    fn parts(offset: u64, len: usize, mut part: impl FnMut(usize, usize, std::ops::Range<usize>)) {
        let mut done = 0;
        while done < len {
            let at = offset as usize + done;
            let inside = at % Self::CHUNK;
            let n = (Self::CHUNK - inside).min(len - done);
            part(at / Self::CHUNK, inside, done..done + n);
            done += n;
        }
    }

    pub(super) fn read(&self, offset: u64, out: &mut [u8]) -> std::io::Result<()> {
        match self {
            Store::File(file) => file.read_exact_at(out, offset),
            Store::Memory(chunks) => {
                Self::parts(offset, out.len(), |chunk, inside, range| {
                    let chunk =
                        chunks[chunk].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                    let out = &mut out[range];
                    match chunk.as_deref() {
                        Some(bytes) => out.copy_from_slice(&bytes[inside..inside + out.len()]),
                        None => out.fill(0),
                    }
                });
                Ok(())
            }
        }
    }

    pub(super) fn write(&self, offset: u64, data: &[u8]) -> std::io::Result<()> {
        match self {
            Store::File(file) => file.write_all_at(data, offset),
            Store::Memory(chunks) => {
                Self::parts(offset, data.len(), |chunk, inside, range| {
                    let mut chunk =
                        chunks[chunk].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                    let bytes =
                        chunk.get_or_insert_with(|| vec![0; Self::CHUNK].into_boxed_slice());
                    bytes[inside..inside + range.len()].copy_from_slice(&data[range]);
                });
                Ok(())
            }
        }
    }
}

/// An answer and the moment it is due.
struct Answer {
    due: Instant,
    what: What,
}

enum What {
    Read { offset: u64, len: usize, reply: ReplyData },
    Written { len: u32, reply: ReplyWrite },
    Flushed { reply: ReplyEmpty },
}

/// The answering thread: ends when the server is gone and everything is answered.
fn answer(disk: &Disk, queue: &Receiver<Answer>) {
    serve_first();
    let mut buffer = Vec::new();
    while let Ok(Answer { due, what }) = queue.recv() {
        if let Some(wait) = due.checked_duration_since(Instant::now()) {
            std::thread::sleep(wait);
        }
        match what {
            What::Written { len, reply } => {
                disk.written.fetch_add(u64::from(len), Ordering::Relaxed);
                reply.written(len);
            }
            What::Flushed { reply } => reply.ok(),
            What::Read { offset, len, reply } => {
                buffer.resize(len, 0);
                match disk.trick.read(&disk.store, offset, &mut buffer) {
                    Ok(()) => {
                        disk.read.fetch_add(len as u64, Ordering::Relaxed);
                        reply.data(&buffer);
                    }
                    Err(_) => reply.error(Errno::EIO),
                }
            }
        }
    }
}

/// Makes this thread a good server of a disk. When it wants memory the kernel will not make it write
/// out dirty pages, which may be those of the very disk it serves; and it goes before other threads,
/// so that a busy machine does not make the disk slower than it is.
fn serve_first() {
    std::thread_local! {
        static DONE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    }
    if !DONE.replace(true) {
        // Without CAP_SYS_RESOURCE it is refused. Then this process must not itself be in a v1 memory
        // group that is full of the disk's dirty pages; what it starts may be.
        let _ = rustix::process::configure_io_flusher_behavior(true);
        // Of this thread only: Linux keeps a nice value per thread.
        let _ = rustix::process::setpriority_process(None, -20);
    }
}

/// The FUSE side: accepts requests and gives each its time.
struct Server {
    disk: Arc<Disk>,
    due: Sender<Answer>,
}

impl Server {
    fn attributes(&self, ino: INodeNo) -> Option<FileAttr> {
        let (kind, size, perm, nlink) = match ino {
            INodeNo::ROOT => (FileType::Directory, 0, 0o755, 2),
            DISK => (FileType::RegularFile, self.disk.size, 0o600, 1),
            _ => return None,
        };
        Some(FileAttr {
            ino,
            size,
            blocks: size.div_ceil(512),
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm,
            nlink,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }
}

impl Filesystem for Server {
    fn init(&mut self, _req: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        // Small enough that the rate is smooth; deep enough that the queue never runs dry.
        let _ = config.set_max_write(128 << 10);
        let _ = config.set_max_background(64);
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        Ok(())
    }

    fn lookup(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.attributes(DISK) {
            Some(attributes) if parent == INodeNo::ROOT && name == NAME => {
                reply.entry(&TTL, &attributes, Generation(0));
            }
            _ => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _req: &Request, ino: INodeNo, _fh: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(ino) {
            Some(attributes) => reply.attr(&TTL, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn setattr(
        &self,
        _req: &Request,
        ino: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<fuser::TimeOrNow>,
        _mtime: Option<fuser::TimeOrNow>,
        _ctime: Option<std::time::SystemTime>,
        _fh: Option<FileHandle>,
        _crtime: Option<std::time::SystemTime>,
        _chgtime: Option<std::time::SystemTime>,
        _bkuptime: Option<std::time::SystemTime>,
        _flags: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        match self.attributes(ino) {
            Some(attributes) if size.is_none_or(|size| size == self.disk.size) => {
                reply.attr(&TTL, &attributes)
            }
            Some(_) => reply.error(Errno::EPERM),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn open(&self, _req: &Request, ino: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        if ino == DISK {
            let flags = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
            reply.opened(FileHandle(0), flags);
        } else {
            reply.error(Errno::EISDIR);
        }
    }

    fn read(
        &self,
        _req: &Request,
        _ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        serve_first();
        self.disk.note(false, offset, u64::from(size));
        let len = u64::from(size).min(self.disk.size.saturating_sub(offset));
        let due = self.disk.calendar().due(&Part { offset, data: None, bytes: len });
        // The answering thread is there as long as this sender is.
        let _ =
            self.due.send(Answer { due, what: What::Read { offset, len: len as usize, reply } });
    }

    fn write(
        &self,
        _req: &Request,
        _ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        serve_first();
        let len = data.len() as u64;
        self.disk.note(true, offset, len);
        if offset + len > self.disk.size {
            return reply.error(Errno::ENOSPC);
        }
        let bytes = self.disk.known.fresh(data);
        let due = self.disk.calendar().due(&Part { offset, data: Some(data), bytes });
        if self.disk.trick.write(&self.disk.store, offset, data).is_err() {
            return reply.error(Errno::EIO);
        }
        let _ = self.due.send(Answer { due, what: What::Written { len: len as u32, reply } });
    }

    fn flush(
        &self,
        _req: &Request,
        _ino: INodeNo,
        _fh: FileHandle,
        _owner: LockOwner,
        reply: ReplyEmpty,
    ) {
        reply.ok();
    }

    fn fsync(
        &self,
        _req: &Request,
        _ino: INodeNo,
        _fh: FileHandle,
        _datasync: bool,
        reply: ReplyEmpty,
    ) {
        let calendar = self.disk.calendar();
        // Only of a cache anything is left to be flushed.
        let due = match calendar.nature {
            Nature::Cache(_) => calendar.free,
            _ => Instant::now(),
        };
        drop(calendar);
        let _ = self.due.send(Answer { due, what: What::Flushed { reply } });
    }

    fn statfs(&self, _req: &Request, _ino: INodeNo, reply: ReplyStatfs) {
        reply.statfs(self.disk.size / 4096, 0, 0, 2, 0, 4096, 255, 4096);
    }

    fn readdir(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        if ino != INodeNo::ROOT {
            return reply.error(Errno::ENOTDIR);
        }
        let entries = [
            (INodeNo::ROOT, FileType::Directory, "."),
            (INodeNo::ROOT, FileType::Directory, ".."),
            (DISK, FileType::RegularFile, NAME),
        ];
        for (i, (ino, kind, name)) in entries.into_iter().enumerate().skip(offset as usize) {
            if reply.add(ino, i as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }
}
