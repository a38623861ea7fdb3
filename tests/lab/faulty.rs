//! A FUSE file system in memory that fails on demand, to see what assay makes of it.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{
    BackgroundSession, BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem,
    FopenFlags, Generation, INodeNo, KernelConfig, LockOwner, MountOption, OpenFlags, RenameFlags,
    ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen,
    ReplyStatfs, ReplyWrite, Request, SessionACL, TimeOrNow, WriteFlags,
};

use super::Skip;
use super::den::{Folder, folder, undo};
use super::skip::{broken, need_fuse};

/// Attributes are never kept by the kernel: faults may change at any time.
const TTL: Duration = Duration::ZERO;
/// What an unlimited one says of its size.
const ROOMY: u64 = 1 << 30;

/// What goes wrong. `Faults::default()` is a file system without faults.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    /// EIO on every Nth read request.
    pub eio_every_read: Option<u64>,
    /// EIO on every Nth write request.
    pub eio_every_write: Option<u64>,
    /// EIO on reads that reach past this offset.
    pub eio_read_past: Option<u64>,
    /// EIO on writes that reach past this offset.
    pub eio_write_past: Option<u64>,
    /// Writes that reach past this offset are answered as done, and lost.
    pub lose_write_past: Option<u64>,
    /// Of writes that reach past this offset only the first half is kept.
    pub tear_write_past: Option<u64>,
    /// ENOSPC once all files together hold so many bytes.
    pub enospc_past: Option<u64>,
    /// EIO on fsync and fdatasync.
    pub eio_fsync: bool,
    /// EIO on closing.
    pub eio_close: bool,
    /// A read gives at most so many bytes.
    pub short_read: Option<usize>,
    /// A write takes at most so many bytes.
    pub short_write: Option<usize>,
    /// Every Nth read, write or fsync waits so long.
    pub stall: Option<(u64, Duration)>,
    /// EROFS on everything that changes something.
    pub read_only: bool,
    /// Files go through the page cache. Without it each system call is one request to the server,
    /// which short reads and writes need to be seen as such.
    pub cached: bool,
}

/// Such a file system, mounted.
pub struct FaultyFuse {
    shared: Arc<Shared>,
    at: PathBuf,
    session: Option<BackgroundSession>,
    folder: Folder,
}

impl FaultyFuse {
    /// Mounts an empty one.
    pub fn new(faults: Faults) -> Result<FaultyFuse, Skip> {
        need_fuse()?;
        let folder = folder("faulty");
        let at = folder.make("mnt");
        let shared = Arc::new(Shared(Mutex::new(Inside::new(faults))));
        let mut config = Config::default();
        config.mount_options =
            vec![MountOption::FSName("assay-lab".into()), MountOption::Subtype("faulty".into())];
        config.acl = SessionACL::All;
        // So that one stalled request does not stall the others.
        config.n_threads = Some(4);
        let session = fuser::spawn_mount(Server(Arc::clone(&shared)), &at, &config)
            .unwrap_or_else(|e| broken("mount the faulty file system", e));
        Ok(FaultyFuse { shared, at, session: Some(session), folder })
    }

    /// Where it is mounted.
    pub fn mount(&self) -> &Path {
        &self.at
    }

    /// A path on it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.at.join(name)
    }

    /// Other faults from now on; the counts begin anew.
    pub fn set(&self, faults: Faults) {
        let mut inside = self.shared.lock();
        inside.faults = faults;
        inside.counts = Counts::default();
    }

    /// Puts a file there without any fault.
    pub fn put(&self, name: &str, bytes: &[u8]) {
        let mut inside = self.shared.lock();
        let ino = inside.make(INodeNo::ROOT.0, OsStr::new(name), Body::File(bytes.to_vec()), 0o644);
        assert!(ino.is_ok(), "{name} is there already");
    }

    /// What really was written to a file, without any fault.
    pub fn content(&self, name: &str) -> Option<Vec<u8>> {
        let inside = self.shared.lock();
        let ino = inside.child(INodeNo::ROOT.0, OsStr::new(name))?;
        match &inside.nodes.get(&ino)?.body {
            Body::File(bytes) => Some(bytes.clone()),
            Body::Folder(_) => None,
        }
    }

    /// Requests since it was mounted or [`FaultyFuse::set`].
    pub fn counts(&self) -> Counts {
        self.shared.lock().counts
    }
}

impl Drop for FaultyFuse {
    fn drop(&mut self) {
        self.shared.lock().faults = Faults::default();
        undo(self.folder.path());
        drop(self.session.take());
    }
}

/// Requests that came, and how many of them were made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub reads: u64,
    pub writes: u64,
    pub fsyncs: u64,
    pub failed: u64,
}

struct Shared(Mutex<Inside>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

enum Body {
    File(Vec<u8>),
    Folder(BTreeMap<OsString, u64>),
}

struct Node {
    body: Body,
    perm: u16,
    changed: SystemTime,
    /// Names it has; a file without any stays as long as it is open.
    links: u32,
    open: u32,
}

struct Inside {
    faults: Faults,
    counts: Counts,
    nodes: HashMap<u64, Node>,
    next: u64,
    used: u64,
}

/// Which count a request goes to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Fsync,
}

impl Inside {
    fn new(faults: Faults) -> Inside {
        let root = Node {
            body: Body::Folder(BTreeMap::new()),
            perm: 0o777,
            changed: UNIX_EPOCH,
            links: 2,
            open: 0,
        };
        Inside {
            faults,
            counts: Counts::default(),
            nodes: HashMap::from([(INodeNo::ROOT.0, root)]),
            next: 2,
            used: 0,
        }
    }

    /// Counts a request; how long it has to wait, and whether its number is one that fails.
    fn count(&mut self, kind: Kind) -> (Duration, bool) {
        let (number, every) = match kind {
            Kind::Read => (&mut self.counts.reads, self.faults.eio_every_read),
            Kind::Write => (&mut self.counts.writes, self.faults.eio_every_write),
            Kind::Fsync => (&mut self.counts.fsyncs, self.faults.eio_fsync.then_some(1)),
        };
        *number += 1;
        let fails = every.is_some_and(|n| n > 0 && number.is_multiple_of(n));
        let all = self.counts.reads + self.counts.writes + self.counts.fsyncs;
        let wait = match self.faults.stall {
            Some((n, wait)) if n > 0 && all.is_multiple_of(n) => wait,
            _ => Duration::ZERO,
        };
        (wait, fails)
    }

    fn child(&self, parent: u64, name: &OsStr) -> Option<u64> {
        match &self.nodes.get(&parent)?.body {
            Body::Folder(names) => names.get(name).copied(),
            Body::File(_) => None,
        }
    }

    fn make(&mut self, parent: u64, name: &OsStr, body: Body, perm: u16) -> Result<u64, Errno> {
        let ino = self.next;
        let Some(Node { body: Body::Folder(names), .. }) = self.nodes.get_mut(&parent) else {
            return Err(Errno::ENOTDIR);
        };
        if names.contains_key(name) {
            return Err(Errno::EEXIST);
        }
        names.insert(name.to_owned(), ino);
        if let Body::File(bytes) = &body {
            self.used += bytes.len() as u64;
        }
        self.next += 1;
        self.nodes.insert(ino, Node { body, perm, changed: SystemTime::now(), links: 1, open: 0 });
        Ok(ino)
    }

    fn remove(&mut self, parent: u64, name: &OsStr, folder: bool) -> Result<(), Errno> {
        if self.faults.read_only {
            return Err(Errno::EROFS);
        }
        let ino = self.child(parent, name).ok_or(Errno::ENOENT)?;
        match self.nodes.get(&ino).map(|node| &node.body) {
            Some(Body::Folder(_)) if !folder => return Err(Errno::EISDIR),
            Some(Body::File(_)) if folder => return Err(Errno::ENOTDIR),
            Some(Body::Folder(names)) if !names.is_empty() => return Err(Errno::ENOTEMPTY),
            _ => {}
        }
        if let Some(Node { body: Body::Folder(names), .. }) = self.nodes.get_mut(&parent) {
            names.remove(name);
        }
        if let Some(node) = self.nodes.get_mut(&ino) {
            node.links = 0;
        }
        self.forget_unused(ino);
        Ok(())
    }

    fn forget_unused(&mut self, ino: u64) {
        let unused = self.nodes.get(&ino).is_some_and(|node| node.links == 0 && node.open == 0);
        if unused && let Some(Node { body: Body::File(bytes), .. }) = self.nodes.remove(&ino) {
            self.used -= bytes.len() as u64;
        }
    }

    /// Gives a file another length, within the space there is.
    fn resize(&mut self, ino: u64, size: u64) -> Result<(), Errno> {
        let limit = self.faults.enospc_past;
        let used = self.used;
        let Some(Node { body: Body::File(bytes), changed, .. }) = self.nodes.get_mut(&ino) else {
            return Err(Errno::EISDIR);
        };
        let after = used - bytes.len() as u64 + size;
        if limit.is_some_and(|limit| size > bytes.len() as u64 && after > limit) {
            self.counts.failed += 1;
            return Err(Errno::ENOSPC);
        }
        bytes.resize(size as usize, 0);
        *changed = SystemTime::now();
        self.used = after;
        Ok(())
    }

    fn read(&mut self, ino: u64, offset: u64, size: usize, fails: bool) -> Result<Vec<u8>, Errno> {
        let past = self.faults.eio_read_past;
        let short = self.faults.short_read;
        let Some(Node { body: Body::File(bytes), .. }) = self.nodes.get(&ino) else {
            return Err(Errno::EISDIR);
        };
        let start = (offset as usize).min(bytes.len());
        let end = (start + size).min(bytes.len());
        if fails || past.is_some_and(|past| end as u64 > past) {
            self.counts.failed += 1;
            return Err(Errno::EIO);
        }
        Ok(bytes[start..end.min(start + short.unwrap_or(usize::MAX).min(size))].to_vec())
    }

    fn write(&mut self, ino: u64, offset: u64, data: &[u8], fails: bool) -> Result<u32, Errno> {
        let faults = &self.faults;
        if faults.read_only {
            return Err(Errno::EROFS);
        }
        let mut len = data.len().min(faults.short_write.unwrap_or(usize::MAX)) as u64;
        if fails || faults.eio_write_past.is_some_and(|past| offset + data.len() as u64 > past) {
            self.counts.failed += 1;
            return Err(Errno::EIO);
        }
        let limit = faults.enospc_past;
        let used = self.used;
        let Some(Node { body: Body::File(bytes), changed, .. }) = self.nodes.get_mut(&ino) else {
            return Err(Errno::EISDIR);
        };
        let old = bytes.len() as u64;
        if let Some(limit) = limit {
            // As a disk does it: what still fits is written, the next write finds nothing free.
            let reach = old + limit.saturating_sub(used);
            len = len.min(reach.saturating_sub(offset));
            if len == 0 && !data.is_empty() {
                self.counts.failed += 1;
                return Err(Errno::ENOSPC);
            }
        }
        let end = offset + len;
        let past = |limit: Option<u64>| limit.is_some_and(|past| end > past);
        if past(faults.lose_write_past) {
            return Ok(len as u32);
        }
        let kept = if past(faults.tear_write_past) { len / 2 } else { len };
        if end > old {
            bytes.resize(end as usize, 0);
            self.used += end - old;
        }
        bytes[offset as usize..(offset + kept) as usize].copy_from_slice(&data[..kept as usize]);
        *changed = SystemTime::now();
        Ok(len as u32)
    }

    fn attributes(&self, ino: u64) -> Option<FileAttr> {
        let node = self.nodes.get(&ino)?;
        let (kind, size) = match &node.body {
            Body::File(bytes) => (FileType::RegularFile, bytes.len() as u64),
            Body::Folder(_) => (FileType::Directory, 4096),
        };
        Some(FileAttr {
            ino: INodeNo(ino),
            size,
            blocks: size.div_ceil(512),
            atime: node.changed,
            mtime: node.changed,
            ctime: node.changed,
            crtime: node.changed,
            kind,
            perm: node.perm,
            nlink: node.links,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    fn open_flags(&self) -> FopenFlags {
        if self.faults.cached { FopenFlags::empty() } else { FopenFlags::FOPEN_DIRECT_IO }
    }
}

struct Server(Arc<Shared>);

impl Server {
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.0.lock()
    }

    /// Counts, and waits without holding anybody else up.
    fn counted(&self, kind: Kind) -> bool {
        let (wait, fails) = self.lock().count(kind);
        std::thread::sleep(wait);
        fails
    }
}

impl Filesystem for Server {
    fn init(&mut self, _req: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        let _ = config.set_max_write(1 << 20);
        Ok(())
    }

    fn lookup(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let inside = self.lock();
        match inside.child(parent.0, name).and_then(|ino| inside.attributes(ino)) {
            Some(attributes) => reply.entry(&TTL, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _req: &Request, ino: INodeNo, _fh: Option<FileHandle>, reply: ReplyAttr) {
        match self.lock().attributes(ino.0) {
            Some(attributes) => reply.attr(&TTL, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn setattr(
        &self,
        _req: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _fh: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mut inside = self.lock();
        if inside.faults.read_only {
            return reply.error(Errno::EROFS);
        }
        if let Some(Err(errno)) = size.map(|size| inside.resize(ino.0, size)) {
            return reply.error(errno);
        }
        if let (Some(mode), Some(node)) = (mode, inside.nodes.get_mut(&ino.0)) {
            node.perm = (mode & 0o7777) as u16;
        }
        match inside.attributes(ino.0) {
            Some(attributes) => reply.attr(&TTL, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn mkdir(
        &self,
        _req: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        reply: ReplyEntry,
    ) {
        let mut inside = self.lock();
        if inside.faults.read_only {
            return reply.error(Errno::EROFS);
        }
        let made =
            inside.make(parent.0, name, Body::Folder(BTreeMap::new()), (mode & 0o777) as u16);
        match made.map(|ino| inside.attributes(ino)) {
            Ok(Some(attributes)) => reply.entry(&TTL, &attributes, Generation(0)),
            Ok(None) => reply.error(Errno::ENOENT),
            Err(errno) => reply.error(errno),
        }
    }

    fn create(
        &self,
        _req: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        _flags: i32,
        reply: ReplyCreate,
    ) {
        let mut inside = self.lock();
        if inside.faults.read_only {
            return reply.error(Errno::EROFS);
        }
        let made = inside.make(parent.0, name, Body::File(Vec::new()), (mode & 0o777) as u16);
        match made {
            Ok(ino) => {
                if let Some(node) = inside.nodes.get_mut(&ino) {
                    node.open += 1;
                }
                match inside.attributes(ino) {
                    Some(attributes) => {
                        reply.created(
                            &TTL,
                            &attributes,
                            Generation(0),
                            FileHandle(0),
                            inside.open_flags(),
                        );
                    }
                    None => reply.error(Errno::ENOENT),
                }
            }
            Err(errno) => reply.error(errno),
        }
    }

    fn unlink(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        match self.lock().remove(parent.0, name, false) {
            Ok(()) => reply.ok(),
            Err(errno) => reply.error(errno),
        }
    }

    fn rmdir(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        match self.lock().remove(parent.0, name, true) {
            Ok(()) => reply.ok(),
            Err(errno) => reply.error(errno),
        }
    }

    fn rename(
        &self,
        _req: &Request,
        parent: INodeNo,
        name: &OsStr,
        newparent: INodeNo,
        newname: &OsStr,
        _flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let mut inside = self.lock();
        if inside.faults.read_only {
            return reply.error(Errno::EROFS);
        }
        let Some(ino) = inside.child(parent.0, name) else {
            return reply.error(Errno::ENOENT);
        };
        if let Some(old) = inside.child(newparent.0, newname) {
            let folder = matches!(inside.nodes.get(&old), Some(Node { body: Body::Folder(_), .. }));
            if old == ino {
                return reply.ok();
            }
            if let Err(errno) = inside.remove(newparent.0, newname, folder) {
                return reply.error(errno);
            }
        }
        for (place, key, put) in [(parent, name, false), (newparent, newname, true)] {
            if let Some(Node { body: Body::Folder(names), .. }) = inside.nodes.get_mut(&place.0) {
                if put {
                    names.insert(key.to_owned(), ino)
                } else {
                    names.remove(key)
                };
            }
        }
        reply.ok();
    }

    fn open(&self, _req: &Request, ino: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let mut inside = self.lock();
        if inside.faults.read_only && flags.acc_mode() != fuser::OpenAccMode::O_RDONLY {
            return reply.error(Errno::EROFS);
        }
        match inside.nodes.get_mut(&ino.0) {
            Some(node) => {
                node.open += 1;
                reply.opened(FileHandle(0), inside.open_flags());
            }
            None => reply.error(Errno::ENOENT),
        }
    }

    fn release(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        let mut inside = self.lock();
        if let Some(node) = inside.nodes.get_mut(&ino.0) {
            node.open = node.open.saturating_sub(1);
        }
        inside.forget_unused(ino.0);
        reply.ok();
    }

    fn read(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let fails = self.counted(Kind::Read);
        match self.lock().read(ino.0, offset, size as usize, fails) {
            Ok(bytes) => reply.data(&bytes),
            Err(errno) => reply.error(errno),
        }
    }

    fn write(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let fails = self.counted(Kind::Write);
        match self.lock().write(ino.0, offset, data, fails) {
            Ok(len) => reply.written(len),
            Err(errno) => reply.error(errno),
        }
    }

    fn flush(
        &self,
        _req: &Request,
        _ino: INodeNo,
        _fh: FileHandle,
        _owner: LockOwner,
        reply: ReplyEmpty,
    ) {
        if self.lock().faults.eio_close { reply.error(Errno::EIO) } else { reply.ok() }
    }

    fn fsync(
        &self,
        _req: &Request,
        _ino: INodeNo,
        _fh: FileHandle,
        _datasync: bool,
        reply: ReplyEmpty,
    ) {
        if self.counted(Kind::Fsync) {
            self.lock().counts.failed += 1;
            reply.error(Errno::EIO);
        } else {
            reply.ok();
        }
    }

    fn fsyncdir(
        &self,
        _req: &Request,
        _ino: INodeNo,
        _fh: FileHandle,
        _datasync: bool,
        reply: ReplyEmpty,
    ) {
        reply.ok();
    }

    fn fallocate(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let mut inside = self.lock();
        let size = inside.attributes(ino.0).map_or(0, |attributes| attributes.size);
        let done = match (mode, inside.faults.read_only) {
            (_, true) => Err(Errno::EROFS),
            (0, false) if offset + length > size => inside.resize(ino.0, offset + length),
            (0, false) => Ok(()),
            _ => Err(Errno::EOPNOTSUPP),
        };
        match done {
            Ok(()) => reply.ok(),
            Err(errno) => reply.error(errno),
        }
    }

    fn statfs(&self, _req: &Request, _ino: INodeNo, reply: ReplyStatfs) {
        let inside = self.lock();
        let all = inside.faults.enospc_past.unwrap_or(ROOMY);
        let free = all.saturating_sub(inside.used) / 4096;
        reply.statfs(all / 4096, free, free, 1 << 20, 1 << 19, 4096, 255, 4096);
    }

    fn readdir(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let inside = self.lock();
        let Some(Node { body: Body::Folder(names), .. }) = inside.nodes.get(&ino.0) else {
            return reply.error(Errno::ENOTDIR);
        };
        let dots = [(OsStr::new("."), ino.0), (OsStr::new(".."), INodeNo::ROOT.0)];
        let all =
            dots.into_iter().chain(names.iter().map(|(name, child)| (name.as_os_str(), *child)));
        for (i, (name, child)) in all.enumerate().skip(offset as usize) {
            let kind = match inside.nodes.get(&child) {
                Some(Node { body: Body::File(_), .. }) => FileType::RegularFile,
                _ => FileType::Directory,
            };
            if reply.add(INodeNo(child), i as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }
}
