//! The files and devices of a run: found, made, opened, and taken away again.
//!
//! Every target that the plan names is one [`OpenTarget`], however many phases use it. A scratch file
//! has no name wherever the file system allows that, so that nothing is left even by `kill -9`;
//! elsewhere its name tells whose it is, it stays locked while its run lives, and the next run in
//! that folder removes what a dead one left.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{FallocateFlags, Mode, OFlags};

use assay_engine::engine::DataLayer;
use assay_engine::output::{create_new, remove_file};
use assay_engine::sys::block::{self, readable_bytes, size_of_open};
use assay_engine::sys::close::{CloseFaults, HeardFile};
use assay_plan::error::{Doing, Fault};
use assay_plan::name::{NameText as _, path};
use assay_plan::plan::{Caching, Durability, Fill, LayoutMode, Lifetime, Pattern, Target};
use assay_plan::unit::Bytes;
use assay_record::evidence::folder_of;
use assay_record::record::TruncatedFile;

use super::leftovers::{self, NamedScratch};
use super::ranges::ByteRanges;

/// One file or device that the run works on.
#[derive(Debug)]
pub(super) struct OpenTarget {
    /// Its path; of a scratch file without a name, the folder it lies in.
    pub path: PathBuf,
    /// What it is called in faults and in the record.
    pub label: String,
    /// Which subject of the record it lies on.
    pub subject: usize,
    kind: TargetKind,
    /// A device that is written to though something holds it.
    pub in_use: bool,
    file: Option<HeardFile>,
    /// What closing it, or any other description of it, answered.
    closes: CloseFaults,
    /// To be removed at the end.
    remove: Option<PathBuf>,
    /// A scratch file that has a name, which goes at the end.
    scratch: Option<NamedScratch>,
    /// The parts that hold data of this run for certain.
    pub written: ByteRanges,
    /// Bytes that phases of this run have written from its beginning without a gap, though they may
    /// have become holes since: as large as a size says that goes by what was written.
    pub reach: u64,
    /// How the data were made that have gone into it.
    pub makes: Vec<DataRecipe>,
    /// Bytes that were there when it was opened: nobody says what they are, and they stay.
    pub found: u64,
    /// What is known of its content: of several that hold a place, the first counts.
    pub layers: Vec<DataLayer>,
}

/// How data are made: a reader can tell right from wrong ones only when it would make them alike.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DataRecipe {
    pub fill: Fill,
    /// The size of blocks that are no whole sectors: where their tags stand depends on it.
    pub odd_block: Option<Bytes>,
}

impl DataRecipe {
    /// That of the data which a job writes, or expects to read.
    pub fn of(pattern: &Pattern) -> Self {
        let odd = pattern.fill.tagged() && !pattern.block.grain().0.is_multiple_of(512);
        Self { fill: pattern.fill.clone(), odd_block: odd.then(|| pattern.block.largest()) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TargetKind {
    File,
    /// One of several that have a path in the plan only.
    Unnamed,
    Scratch {
        keep: bool,
    },
    Device,
}

impl OpenTarget {
    /// The site of a target, not yet opened. `None`: the target is nowhere, or of a kind that is
    /// refused before.
    pub fn of(target: &Target, subject: usize) -> Option<Self> {
        let (path, kind) = match target {
            Target::File { path, .. } => (path, TargetKind::File),
            Target::Scratch { dir, lifetime, .. } => {
                (dir, TargetKind::Scratch { keep: *lifetime == Lifetime::Keep })
            }
            Target::Device { path, .. } => (path, TargetKind::Device),
            Target::Files { .. } | Target::Nowhere { .. } => return None,
        };
        Some(Self {
            path: path.clone(),
            label: path.to_text(),
            subject,
            kind,
            in_use: false,
            file: None,
            closes: CloseFaults::default(),
            remove: None,
            scratch: None,
            written: ByteRanges::default(),
            reach: 0,
            makes: Vec::new(),
            found: 0,
            layers: Vec::new(),
        })
    }

    /// One of several files of a target, not yet opened.
    pub fn of_several(path: PathBuf, subject: usize, target: &Target) -> Self {
        Self {
            label: path.to_text(),
            kind: match target {
                _ if target.is_unnamed() => TargetKind::Unnamed,
                _ if target.is_device(&path) => TargetKind::Device,
                _ => TargetKind::File,
            },
            path,
            subject,
            in_use: false,
            file: None,
            closes: CloseFaults::default(),
            remove: None,
            scratch: None,
            written: ByteRanges::default(),
            reach: 0,
            makes: Vec::new(),
            found: 0,
            layers: Vec::new(),
        }
    }

    /// Whether it stands for this target.
    pub fn is(&self, target: &Target) -> bool {
        match target {
            Target::File { path, .. } => self.kind == TargetKind::File && self.path == *path,
            Target::Scratch { dir, .. } => {
                matches!(self.kind, TargetKind::Scratch { .. }) && self.path == *dir
            }
            Target::Device { path, .. } => self.kind == TargetKind::Device && self.path == *path,
            Target::Files { .. } | Target::Nowhere { .. } => false,
        }
    }

    /// Whether it is the device at this path.
    pub fn is_device_at(&self, path: &Path) -> bool {
        self.is_device() && self.path == path
    }

    /// Whether it is a device.
    pub fn is_device(&self) -> bool {
        self.kind == TargetKind::Device
    }

    /// What stands as long as nobody takes its place away: of a file without a name its folder.
    pub fn standing(&self) -> &Path {
        match self.kind {
            TargetKind::Unnamed => folder_of(&self.path),
            _ => &self.path,
        }
    }

    /// The open file.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.file.as_ref().map(AsFd::as_fd)
    }

    /// Opens it, making it where the plan wants that. Does nothing the second time.
    pub fn open(&mut self, run: &str, writes: bool, lifetime: Lifetime) -> Result<(), Fault> {
        if self.file.is_some() {
            return Ok(());
        }
        let fault = |doing: Doing, error: &io::Error| Fault::new(doing, self.label.clone(), error);
        let access = if writes { OFlags::RDWR } else { OFlags::RDONLY };
        match self.kind {
            TargetKind::Device => {
                // The kernel refuses a device that something holds.
                let file = match writes && !self.in_use {
                    true => block::open_alone(&self.path, true),
                    false => rustix::fs::open(&self.path, access | OFlags::CLOEXEC, Mode::empty())
                        .map_err(io::Error::from),
                };
                self.file = Some(self.heard(file.map_err(|error| fault(Doing::Open, &error))?));
            }
            TargetKind::File => {
                let opened = |create| {
                    let flags = access | create | OFlags::CLOEXEC;
                    rustix::fs::open(&self.path, flags, Mode::from_raw_mode(0o644))
                };
                // What somebody makes meanwhile is not ours.
                let (made, ours) = match writes.then(|| opened(OFlags::CREATE | OFlags::EXCL)) {
                    Some(Err(rustix::io::Errno::EXIST)) => (opened(OFlags::CREATE), false),
                    Some(made) => (made, true),
                    None => (opened(OFlags::empty()), false),
                };
                let file = made.map_err(|error| fault(Doing::Open, &error.into()))?;
                if lifetime == Lifetime::Remove || (lifetime == Lifetime::AsFound && ours) {
                    self.remove = Some(self.path.clone());
                }
                self.file = Some(self.heard(file));
            }
            TargetKind::Unnamed => {
                let (file, named) = unnamed_file(folder_of(&self.path), run)?;
                (self.file, self.scratch) = (Some(self.heard(file)), named);
            }
            TargetKind::Scratch { keep } => {
                leftovers::sweep(&self.path);
                match never_named(&self.path) {
                    Ok(file) if !keep && opens_again(&file) => self.file = Some(self.heard(file)),
                    _ if keep => {
                        let path = self.path.join(format!("assay-{run}.dat"));
                        let file = create_new(&path, 0o666)
                            .map_err(|error| Fault::new(Doing::Create, path.to_text(), &error))?;
                        self.label = path.to_text();
                        self.file = Some(self.heard(file.into()));
                    }
                    _ => {
                        let (file, scratch) = NamedScratch::make(&self.path, run, None)?;
                        self.label = scratch.path.to_text();
                        (self.file, self.scratch) = (Some(self.heard(file)), Some(scratch));
                    }
                }
            }
        }
        self.found =
            self.size().map_err(|error| Fault::new(Doing::Stat, self.label.clone(), &error))?;
        Ok(())
    }

    /// A description of it, whose close is heard.
    fn heard(&self, file: OwnedFd) -> HeardFile {
        HeardFile::new(file, &self.label, &self.closes)
    }

    /// What closing descriptions of it answered since the last time.
    pub fn closed(&self) -> Vec<Fault> {
        self.closes.take()
    }

    /// Closes it until it is opened again, if it can be found again.
    pub fn close(&mut self) {
        if matches!(self.kind, TargetKind::File | TargetKind::Device) {
            self.file = None;
        }
    }

    /// These parts of it hold data of this run now; of none: nobody knows which do.
    pub fn note(&mut self, written: &[Range<u64>], make: &DataRecipe) {
        written.iter().for_each(|part| self.written.add(part.clone()));
        self.reach = self.reach.max(self.written.reach());
        self.note_make(make);
    }

    /// Data made like this have gone into it, nobody knows where.
    fn note_make(&mut self, make: &DataRecipe) {
        if !self.makes.contains(make) {
            self.makes.push(make.clone());
        }
    }

    /// Nothing of this run is known to stand in it any more.
    pub fn forget(&mut self) {
        self.written.clear();
        self.layers.clear();
    }

    /// What a read of this range would find that nobody has written: holes, or nothing at all.
    pub fn unwritten(&self, range: Range<u64>) -> Vec<Range<u64>> {
        let start = range.start.max(self.found);
        self.written.gaps(start..range.end.max(start))
    }

    /// Its present size, bytes.
    pub fn size(&self) -> io::Result<u64> {
        let file = self.fd().ok_or(io::ErrorKind::NotFound)?;
        readable_bytes(file)
    }

    /// Whether somebody has made it shorter than this run has written it.
    pub fn cut(&self) -> Option<TruncatedFile> {
        let (written, left) = (self.written.reach(), self.size().ok()?);
        (left < written).then(|| TruncatedFile {
            path: self.label.clone(),
            written: Bytes(written),
            left: Bytes(left),
        })
    }

    /// Makes it what the phase wants to find, outside every timing. Writing it out in full is the
    /// caller's business: only the engine can.
    pub fn lay(&mut self, layout: LayoutMode, size: u64) -> Result<(), Fault> {
        let fault = |doing: Doing, error: io::Error| Fault::new(doing, self.label.clone(), &error);
        let Some(file) = self.fd() else { return Ok(()) };
        match layout {
            LayoutMode::AsFound
            | LayoutMode::Grown
            | LayoutMode::Existing
            | LayoutMode::Written => {}
            LayoutMode::Truncated => self.empty()?,
            LayoutMode::Anew => self.renew()?,
            LayoutMode::Sparse => {
                let reach = self.reach;
                self.empty()?;
                self.grow(size)?;
                self.reach = reach;
            }
            LayoutMode::Preallocated => {
                let answer = rustix::fs::fallocate(file, FallocateFlags::empty(), 0, size);
                match answer {
                    // Where there is no such call, the first write makes the blocks.
                    Ok(()) | Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {}
                    Err(error) => return Err(fault(Doing::Allocate, error.into())),
                }
            }
        }
        Ok(())
    }

    /// Removes it, and makes another one of its name, which is empty. What has no name is emptied.
    fn renew(&mut self) -> Result<(), Fault> {
        if self.kind != TargetKind::File {
            return self.empty();
        }
        let fault = |doing: Doing, error: rustix::io::Errno| {
            Fault::new(doing, self.label.clone(), &error.into())
        };
        match rustix::fs::unlink(&self.path) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => {}
            Err(error) => return Err(fault(Doing::Remove, error)),
        }
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
        let file = rustix::fs::open(&self.path, flags, Mode::from_raw_mode(0o644))
            .map_err(|error| fault(Doing::Create, error))?;
        self.file = Some(self.heard(file));
        self.forget();
        (self.found, self.reach) = (0, 0);
        Ok(())
    }

    /// Takes everything out of it.
    fn empty(&mut self) -> Result<(), Fault> {
        let Some(file) = self.fd() else { return Ok(()) };
        rustix::fs::ftruncate(file, 0)
            .map_err(|error| Fault::new(Doing::Truncate, self.label.clone(), &error.into()))?;
        self.forget();
        (self.found, self.reach) = (0, 0);
        Ok(())
    }

    /// Makes it so long, by a hole. A device stays as it is.
    pub fn grow(&self, size: u64) -> Result<(), Fault> {
        match self.fd() {
            Some(file) if self.kind != TargetKind::Device => rustix::fs::ftruncate(file, size)
                .map_err(|error| Fault::new(Doing::Truncate, self.label.clone(), &error.into())),
            _ => Ok(()),
        }
    }

    /// A description of its own for one job, with the flags that job wants.
    pub fn again(
        &self,
        writes: bool,
        caching: Caching,
        durability: Durability,
    ) -> Result<HeardFile, Fault> {
        let Some(file) = &self.file else {
            return Err(Fault::new(
                Doing::Open,
                self.label.clone(),
                &io::ErrorKind::NotFound.into(),
            ));
        };
        let mut flags = if writes { OFlags::RDWR } else { OFlags::RDONLY } | OFlags::CLOEXEC;
        if caching == Caching::Direct {
            flags |= OFlags::DIRECT;
        }
        match durability {
            Durability::OpenSync => flags |= OFlags::SYNC,
            Durability::OpenDsync => flags |= OFlags::DSYNC,
            _ => {}
        }
        // A file without a name is reached through its descriptor.
        let descriptor = format!("/proc/self/fd/{}", file.as_raw_fd());
        let named = match self.kind {
            TargetKind::Scratch { keep: true } => Some(path(&self.label)),
            TargetKind::Scratch { keep: false } | TargetKind::Unnamed => {
                self.scratch.as_ref().map(|scratch| scratch.path.clone())
            }
            _ => Some(self.path.clone()),
        };
        let file = rustix::fs::open(&descriptor, flags, Mode::empty())
            .or_else(|error| match (error, named) {
                (rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR, Some(path)) => {
                    rustix::fs::open(&path, flags, Mode::empty())
                }
                (error, _) => Err(error),
            })
            .map_err(|error| Fault::new(Doing::Open, self.label.clone(), &error.into()))?;
        // Reads leave no time of access behind, which would cost each of them a look at the clock
        // and the device a write. Only the owner may say so.
        let _ = rustix::fs::fcntl_setfl(&file, flags | OFlags::NOATIME);
        Ok(self.heard(file))
    }
}

impl OpenTarget {
    /// Removes it where that is wanted, and closes it; what was answered to that. Nothing is left to do after.
    pub fn finish(&mut self) -> Vec<Fault> {
        let mut faults = Vec::new();
        faults.extend(self.remove.take().and_then(|path| remove_file(&path, false).err()));
        faults.extend(self.scratch.take().and_then(|scratch| scratch.remove().err()));
        if let Some(file) = self.file.take() {
            let size = size_of_open(file.as_fd()).unwrap_or(0);
            drop(file);
            match self.kind {
                TargetKind::Scratch { keep: false } => release(&self.path, size),
                TargetKind::Unnamed => release(folder_of(&self.path), size),
                TargetKind::Scratch { keep: true } | TargetKind::File | TargetKind::Device => {}
            }
        }
        faults.extend(self.closed());
        faults
    }
}

impl Drop for OpenTarget {
    /// Of a run that could not begin: what it met is told already.
    fn drop(&mut self) {
        self.finish();
    }
}

/// A file that never has a name (`O_TMPFILE`): ext4, XFS, btrfs, F2FS and tmpfs have such, FAT has not.
fn never_named(folder: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    rustix::fs::open(folder, flags, Mode::from_raw_mode(0o600))
}

/// A file without a name: one that never has any, or else one that loses it at once. Where such a file
/// cannot be opened again, which each job does, it keeps its name until the end, and its path is told
/// beside it; locked, so that the next run in that folder takes it away.
fn unnamed_file(folder: &Path, run: &str) -> Result<(OwnedFd, Option<NamedScratch>), Fault> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    if let Ok(file) = never_named(folder)
        && opens_again(&file)
    {
        return Ok((file, None));
    }
    let named = || {
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        NamedScratch::make(folder, run, Some(next))
    };
    let (file, scratch) = named()?;
    // Where it does not go, nothing else would.
    scratch.remove()?;
    if opens_again(&file) {
        return Ok((file, None));
    }
    let (file, scratch) = named()?;
    Ok((file, Some(scratch)))
}

/// Whether a file without a name can be opened again: not without `/proc`.
fn opens_again(file: &OwnedFd) -> bool {
    let again = format!("/proc/self/fd/{}", file.as_raw_fd());
    rustix::fs::open(again, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).is_ok()
}

/// Makes the file system give back now what a removed file held, where that is most of what it
/// has: many do so some time after their next commit, and the next run would find no space.
fn release(folder: &Path, size: u64) {
    let low = || rustix::fs::statvfs(folder).is_ok_and(|v| v.f_bavail * v.f_frsize < size);
    let Ok(open) = File::open(folder) else { return };
    for _ in 0..20 {
        if !low() || rustix::fs::syncfs(&open).is_err() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// Bytes that a file of this size may grow to in a folder with this much free space: a tenth is
/// left alone, and at least 16 MiB.
pub(super) fn spare(free: Bytes) -> Bytes {
    free.less(Bytes((free.0 / 10).max(16 << 20)))
}
