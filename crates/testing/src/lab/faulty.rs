//! A FUSE file system in memory that fails on demand, to see what assay makes of it.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

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
    /// What happens to which requests.
    pub rules: Vec<FaultRule>,
    /// ENOSPC once all files together hold so many bytes.
    pub full_at: Option<u64>,
    /// EROFS on everything that changes something.
    pub read_only: bool,
    /// Files go through the page cache. Without it each system call is one request to the server,
    /// which short reads and writes need to be seen as such.
    pub cached: bool,
}

impl Faults {
    /// The same with one more rule.
    pub fn and(mut self, rule: FaultRule) -> Faults {
        self.rules.push(rule);
        self
    }
}

impl From<FaultRule> for Faults {
    fn from(rule: FaultRule) -> Faults {
        Faults { rules: vec![rule], ..Faults::default() }
    }
}

/// A kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Lookup,
    Open,
    Create,
    Read,
    Write,
    /// fsync(2) alone.
    Fsync,
    /// fdatasync(2) alone.
    Fdatasync,
    /// Either of the two.
    Sync,
    /// Reads, writes and either sync.
    Io,
    /// close(2), which hears the answer.
    Close,
    /// The last close of a description; nobody hears its answer.
    Release,
    Unlink,
    Rmdir,
    Mkdir,
    Rename,
    Truncate,
    Allocate,
    Statfs,
}

impl Op {
    fn is(self, of: Op) -> bool {
        let sync = matches!(of, Op::Fsync | Op::Fdatasync);
        match self {
            Op::Sync => sync,
            Op::Io => sync || matches!(of, Op::Read | Op::Write),
            other => other == of,
        }
    }
}

/// Which of the requests of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    Nth(u64),
    Every(u64),
    From(u64),
    Past(u64),
}

/// What happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Fails(i32),
    AtMost(usize),
    ShortBy(usize),
    Hangs(Duration),
    Flips(usize),
    Stale,
    Lost,
    Torn,
    Lies,
}

/// One line of a script: what happens to which requests.
#[derive(Debug, Clone)]
pub struct FaultRule {
    op: Op,
    which: Which,
    effect: Option<Effect>,
    /// Requests that it has counted.
    seen: u64,
}

/// A rule about all requests of a kind, to which nothing happens yet.
pub fn on(op: Op) -> FaultRule {
    FaultRule { op, which: Which::From(1), effect: None, seen: 0 }
}

impl FaultRule {
    /// Only the n-th.
    pub fn nth(self, n: u64) -> Self {
        Self { which: Which::Nth(n), ..self }
    }

    /// Every n-th.
    pub fn every(self, n: u64) -> Self {
        Self { which: Which::Every(n), ..self }
    }

    /// From the n-th on.
    pub fn from(self, n: u64) -> Self {
        Self { which: Which::From(n), ..self }
    }

    /// Those that reach past this offset.
    pub fn past(self, offset: u64) -> Self {
        Self { which: Which::Past(offset), ..self }
    }

    fn does(self, effect: Effect) -> Self {
        Self { effect: Some(effect), ..self }
    }

    /// It answers with this errno, and does nothing.
    pub fn fails(self, errno: i32) -> Self {
        self.does(Effect::Fails(errno))
    }

    /// A transfer moves at most so many bytes.
    pub fn at_most(self, bytes: usize) -> Self {
        self.does(Effect::AtMost(bytes))
    }

    /// A transfer moves so many bytes less than it was to.
    pub fn short_by(self, bytes: usize) -> Self {
        self.does(Effect::ShortBy(bytes))
    }

    /// It waits so long, or until [`FaultyFuse::release`].
    pub fn hangs(self, time: Duration) -> Self {
        self.does(Effect::Hangs(time))
    }

    /// Of what a read gives, this bit is turned.
    pub fn flips(self, bit: usize) -> Self {
        self.does(Effect::Flips(bit))
    }

    /// A read gives what stood there before the last write.
    pub fn stale(self) -> Self {
        self.does(Effect::Stale)
    }

    /// A write is answered as done, and lost.
    pub fn lost(self) -> Self {
        self.does(Effect::Lost)
    }

    /// Of a write only the first half is kept.
    pub fn torn(self) -> Self {
        self.does(Effect::Torn)
    }

    /// A sync is answered as done; what it was to keep is lost with [`FaultyFuse::crash`].
    pub fn lies(self) -> Self {
        self.does(Effect::Lies)
    }

    /// Counts a request that reaches so far: what happens to it.
    fn meets(&mut self, op: Op, end: u64) -> Option<Effect> {
        if !self.op.is(op) {
            return None;
        }
        self.seen += 1;
        let met = match self.which {
            Which::Nth(n) => self.seen == n,
            Which::Every(n) => n > 0 && self.seen.is_multiple_of(n),
            Which::From(n) => self.seen >= n,
            Which::Past(offset) => end > offset,
        };
        self.effect.filter(|_| met)
    }
}

/// What the rules make of one request.
#[derive(Debug, Clone, Default)]
struct Met {
    errno: Option<i32>,
    at_most: Option<usize>,
    short_by: usize,
    hang: Duration,
    flips: Option<usize>,
    stale: bool,
    lost: bool,
    torn: bool,
    lies: bool,
}

impl Met {
    /// How much of a transfer of `len` bytes is made.
    fn part(&self, len: usize) -> usize {
        len.min(self.at_most.unwrap_or(usize::MAX)).saturating_sub(self.short_by)
    }
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
    pub fn new(faults: impl Into<Faults>) -> Result<FaultyFuse, Skip> {
        need_fuse()?;
        let folder = folder("faulty");
        let at = folder.make("mnt");
        let shared = Arc::new(Shared {
            inside: Mutex::new(Inside::new(faults.into())),
            go_on: Condvar::new(),
        });
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

    pub fn mount(&self) -> &Path {
        &self.at
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.at.join(name)
    }

    /// Other faults from now on; the counts begin anew.
    pub fn set(&self, faults: impl Into<Faults>) {
        let mut inside = self.shared.lock();
        inside.faults = faults.into();
        inside.counts = Counts::default();
    }

    /// Ends every hang that is under way.
    pub fn release(&self) {
        self.shared.lock().released += 1;
        self.shared.go_on.notify_all();
    }

    /// The power fails: of every file only what a sync has kept is there.
    pub fn crash(&self) {
        let mut inside = self.shared.lock();
        let mut used = 0;
        for node in inside.nodes.values_mut() {
            let Node { body: Body::File(bytes), kept, .. } = node else { continue };
            bytes.clone_from(kept);
            used += bytes.len() as u64;
        }
        inside.used = used;
    }

    /// Waits until the kernel has closed what was removed while it was open, which it tells later, so that its space is free.
    pub fn closed(&self) {
        let until = Instant::now() + Duration::from_secs(10);
        while self.shared.lock().nodes.values().any(|node| node.links == 0) {
            assert!(Instant::now() < until, "a file that was removed stays open");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Takes a file away without any fault.
    pub fn take(&self, name: &str) {
        let mut inside = self.shared.lock();
        let faults = std::mem::take(&mut inside.faults);
        let _ = inside.remove(INodeNo::ROOT.0, OsStr::new(name), false);
        inside.faults = faults;
    }

    /// The names in its root, without any fault.
    pub fn names(&self) -> Vec<String> {
        match &self.shared.lock().nodes[&INodeNo::ROOT.0].body {
            Body::Folder(names) => names.keys().map(|n| n.to_string_lossy().into()).collect(),
            Body::File(_) => unreachable!("the root is a folder"),
        }
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
        self.release();
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
    pub closes: u64,
    pub failed: u64,
    /// To which something happened, be it only that they took long.
    pub met: u64,
}

struct Shared {
    inside: Mutex<Inside>,
    /// Rung when hangs are to end.
    go_on: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

enum Body {
    File(Vec<u8>),
    Folder(BTreeMap<OsString, u64>),
}

struct Node {
    body: Body,
    /// What stood in a file before its last writes.
    before: Vec<u8>,
    /// What of it a sync has kept.
    kept: Vec<u8>,
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
    /// How often hangs were ended.
    released: u64,
}

impl Inside {
    fn new(faults: Faults) -> Inside {
        let root = Node {
            body: Body::Folder(BTreeMap::new()),
            before: Vec::new(),
            kept: Vec::new(),
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
            released: 0,
        }
    }

    /// Counts a request that reaches so far: what happens to it.
    fn meet(&mut self, op: Op, end: u64) -> Met {
        match op {
            Op::Read => self.counts.reads += 1,
            Op::Write => self.counts.writes += 1,
            Op::Fsync | Op::Fdatasync => self.counts.fsyncs += 1,
            Op::Close => self.counts.closes += 1,
            _ => {}
        }
        let mut met = Met::default();
        let mut happened = false;
        for rule in &mut self.faults.rules {
            let effect = rule.meets(op, end);
            happened |= effect.is_some();
            match effect {
                None => {}
                Some(Effect::Fails(errno)) => met.errno = met.errno.or(Some(errno)),
                Some(Effect::AtMost(bytes)) => met.at_most = Some(bytes),
                Some(Effect::ShortBy(bytes)) => met.short_by = bytes,
                Some(Effect::Hangs(time)) => met.hang = met.hang.max(time),
                Some(Effect::Flips(bit)) => met.flips = Some(bit),
                Some(Effect::Stale) => met.stale = true,
                Some(Effect::Lost) => met.lost = true,
                Some(Effect::Torn) => met.torn = true,
                Some(Effect::Lies) => met.lies = true,
            }
        }
        self.counts.failed += u64::from(met.errno.is_some());
        self.counts.met += u64::from(happened);
        met
    }

    /// Whether nothing may be changed, which is counted.
    fn sealed(&mut self) -> bool {
        self.counts.met += u64::from(self.faults.read_only);
        self.faults.read_only
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
        let mut kept = Vec::new();
        if let Body::File(bytes) = &body {
            self.used += bytes.len() as u64;
            kept.clone_from(bytes);
        }
        self.next += 1;
        let (before, changed) = (kept.clone(), SystemTime::now());
        self.nodes.insert(ino, Node { body, before, kept, perm, changed, links: 1, open: 0 });
        Ok(ino)
    }

    fn remove(&mut self, parent: u64, name: &OsStr, folder: bool) -> Result<(), Errno> {
        if self.sealed() {
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
        let limit = self.faults.full_at;
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

    fn read(&self, ino: u64, offset: u64, size: usize, met: &Met) -> Result<Vec<u8>, Errno> {
        let Some(Node { body: Body::File(bytes), before, .. }) = self.nodes.get(&ino) else {
            return Err(Errno::EISDIR);
        };
        let start = (offset as usize).min(bytes.len());
        let end = (start + met.part(size)).min(bytes.len());
        let mut given = bytes[start..end].to_vec();
        if met.stale {
            for (at, byte) in given.iter_mut().enumerate() {
                *byte = before.get(start + at).copied().unwrap_or(0);
            }
        }
        if let Some(bit) = met.flips
            && let Some(byte) = given.get_mut(bit / 8)
        {
            *byte ^= 1 << (bit % 8);
        }
        Ok(given)
    }

    fn write(&mut self, ino: u64, offset: u64, data: &[u8], met: &Met) -> Result<u32, Errno> {
        if self.sealed() {
            return Err(Errno::EROFS);
        }
        let mut len = met.part(data.len()) as u64;
        let limit = self.faults.full_at;
        let used = self.used;
        let Some(Node { body: Body::File(bytes), before, changed, .. }) = self.nodes.get_mut(&ino)
        else {
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
        if met.lost {
            return Ok(len as u32);
        }
        let end = offset + len;
        let kept = if met.torn { len / 2 } else { len };
        if end > old {
            bytes.resize(end as usize, 0);
            self.used += end - old;
        }
        before.resize(bytes.len(), 0);
        let range = offset as usize..(offset + kept) as usize;
        before[range.clone()].copy_from_slice(&bytes[range.clone()]);
        bytes[range].copy_from_slice(&data[..kept as usize]);
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

    /// Counts a request that reaches so far, and hangs without holding anybody else up; what else happens to it.
    fn met(&self, op: Op, end: u64) -> Result<Met, Errno> {
        let mut inside = self.lock();
        let met = inside.meet(op, end);
        if met.hang > Duration::ZERO {
            let released = inside.released;
            let go_on = &self.0.go_on;
            let waits = |inside: &mut Inside| inside.released == released;
            drop(go_on.wait_timeout_while(inside, met.hang, waits));
        }
        match met.errno {
            Some(errno) => Err(Errno::from_i32(errno)),
            None => Ok(met),
        }
    }
}

impl Filesystem for Server {
    fn init(&mut self, _req: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        let _ = config.set_max_write(1 << 20);
        Ok(())
    }

    fn lookup(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if let Err(errno) = self.met(Op::Lookup, 0) {
            return reply.error(errno);
        }
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
        if let Some(Err(errno)) = size.map(|size| self.met(Op::Truncate, size)) {
            return reply.error(errno);
        }
        let mut inside = self.lock();
        if inside.sealed() {
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
        if let Err(errno) = self.met(Op::Mkdir, 0) {
            return reply.error(errno);
        }
        let mut inside = self.lock();
        if inside.sealed() {
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
        if let Err(errno) = self.met(Op::Create, 0) {
            return reply.error(errno);
        }
        let mut inside = self.lock();
        if inside.sealed() {
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
        if let Err(errno) = self.met(Op::Unlink, 0) {
            return reply.error(errno);
        }
        match self.lock().remove(parent.0, name, false) {
            Ok(()) => reply.ok(),
            Err(errno) => reply.error(errno),
        }
    }

    fn rmdir(&self, _req: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        if let Err(errno) = self.met(Op::Rmdir, 0) {
            return reply.error(errno);
        }
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
        if let Err(errno) = self.met(Op::Rename, 0) {
            return reply.error(errno);
        }
        let mut inside = self.lock();
        if inside.sealed() {
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
        if let Err(errno) = self.met(Op::Open, 0) {
            return reply.error(errno);
        }
        let mut inside = self.lock();
        if inside.sealed() && flags.acc_mode() != fuser::OpenAccMode::O_RDONLY {
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
        let there = self.lock().attributes(ino.0).map_or(0, |attributes| attributes.size);
        let end = (offset + u64::from(size)).min(there);
        let read = self
            .met(Op::Read, end)
            .and_then(|met| self.lock().read(ino.0, offset, size as usize, &met));
        match read {
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
        let written = self
            .met(Op::Write, offset + data.len() as u64)
            .and_then(|met| self.lock().write(ino.0, offset, data, &met));
        match written {
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
        match self.met(Op::Close, 0) {
            Ok(_) => reply.ok(),
            Err(errno) => reply.error(errno),
        }
    }

    fn fsync(
        &self,
        _req: &Request,
        ino: INodeNo,
        _fh: FileHandle,
        datasync: bool,
        reply: ReplyEmpty,
    ) {
        match self.met(if datasync { Op::Fdatasync } else { Op::Fsync }, 0) {
            Ok(met) => {
                if let Some(Node { body: Body::File(bytes), kept, .. }) =
                    self.lock().nodes.get_mut(&ino.0).filter(|_| !met.lies)
                {
                    kept.clone_from(bytes);
                }
                reply.ok();
            }
            Err(errno) => reply.error(errno),
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
        if let Err(errno) = self.met(Op::Allocate, offset + length) {
            return reply.error(errno);
        }
        let mut inside = self.lock();
        let size = inside.attributes(ino.0).map_or(0, |attributes| attributes.size);
        let done = match (mode, inside.sealed()) {
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
        if let Err(errno) = self.met(Op::Statfs, 0) {
            return reply.error(errno);
        }
        let inside = self.lock();
        let all = inside.faults.full_at.unwrap_or(ROOMY);
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
        // In the order of their numbers, which are the places too: what goes meanwhile moves no other.
        let mut all: Vec<_> =
            names.iter().map(|(name, child)| (name.as_os_str(), *child)).collect();
        all.sort_by_key(|(_, child)| *child);
        let dots = dots.into_iter().zip(1_u64..);
        let all = dots.chain(all.into_iter().map(|one| (one, one.1 + 2)));
        for ((name, child), place) in all.filter(|(_, place)| *place > offset) {
            let kind = match inside.nodes.get(&child) {
                Some(Node { body: Body::File(_), .. }) => FileType::RegularFile,
                _ => FileType::Directory,
            };
            if reply.add(INodeNo(child), place, kind, name) {
                break;
            }
        }
        reply.ok();
    }
}
