//! The operations, each on one file.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering::Relaxed;

use rustix::fs::{AtFlags, FallocateFlags, Mode, OFlags, StatxFlags};
use rustix::io::Errno;

use super::meter::{OpDone, OpFailed, stuck};
use super::worker::{ANCHOR, TreeFile, TreeTools, TreeWorker, size_of, tree_place};
use crate::engine::fill::{BlockCheck, KnownGenerations, SECTOR, WriteGeneration};
use crate::sys::{clock, close};
use assay_plan::error::Doing;
use assay_plan::plan::{Durability, TreeSize, Verify};

/// What is done to each file.
///
/// Types rather than values, as each has loops of its own which it is a part of. Processors that must
/// forget in the kernel where code went (Retbleed, SRSO) pay some 10 ns for each return, and for each jump
/// taken after a call.
pub(super) trait FileOp {
    /// Does it to one file.
    fn act(worker: &TreeWorker, tools: &mut TreeTools, at: &TreeFile) -> Result<OpDone, OpFailed>;
}

/// Makes a file, with its data.
pub(super) struct CreateFile;

impl FileOp for CreateFile {
    #[inline(always)]
    fn act(worker: &TreeWorker, tools: &mut TreeTools, at: &TreeFile) -> Result<OpDone, OpFailed> {
        let mut done = OpDone { asked: worker.size_of(at.number), ..OpDone::default() };
        let file = worker.open(at, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?;
        if done.asked > 0 {
            worker.write(tools, file.as_fd(), at.number, &mut done)?;
            if done.broken {
                return shut(file).map(|()| done);
            }
        }
        worker.sync_file(file.as_fd(), &mut done)?;
        shut(file)?;
        worker.sync_folder(tools, at, &mut done)?;
        Ok(done)
    }
}

/// Opens a file, which is made where it is not there; its close is not in the time.
pub(super) struct OpenNewFile;

impl FileOp for OpenNewFile {
    #[inline(always)]
    fn act(worker: &TreeWorker, _: &mut TreeTools, at: &TreeFile) -> Result<OpDone, OpFailed> {
        let mut done = OpDone::default();
        let file = worker.open(at, OFlags::RDWR | OFlags::CREATE)?;
        let began = clock::now();
        shut(file)?;
        done.aside_ns += clock::now().since(began).0;
        Ok(done)
    }
}

/// Makes a symbolic link.
pub(super) struct SymbolicLink;

impl FileOp for SymbolicLink {
    #[inline(always)]
    fn act(worker: &TreeWorker, tools: &mut TreeTools, at: &TreeFile) -> Result<OpDone, OpFailed> {
        let mut done = OpDone::default();
        let target = if worker.folders > 0 { c"../anchor" } else { ANCHOR };
        rustix::fs::symlinkat(target, at.dir, at.path).map_err(stuck(Doing::Create))?;
        worker.sync_folder(tools, at, &mut done)?;
        Ok(done)
    }
}

/// Makes a hard link.
pub(super) struct HardLink;

impl FileOp for HardLink {
    #[inline(always)]
    fn act(worker: &TreeWorker, tools: &mut TreeTools, at: &TreeFile) -> Result<OpDone, OpFailed> {
        let mut done = OpDone::default();
        rustix::fs::linkat(&worker.root, ANCHOR, at.dir, at.path, AtFlags::empty())
            .map_err(stuck(Doing::Create))?;
        worker.sync_folder(tools, at, &mut done)?;
        Ok(done)
    }
}

/// Makes a folder.
pub(super) struct CreateFolder;

impl FileOp for CreateFolder {
    #[inline(always)]
    fn act(worker: &TreeWorker, tools: &mut TreeTools, at: &TreeFile) -> Result<OpDone, OpFailed> {
        let mut done = OpDone::default();
        rustix::fs::mkdirat(at.dir, at.path, Mode::from_raw_mode(0o700))
            .map_err(stuck(Doing::Create))?;
        worker.sync_folder(tools, at, &mut done)?;
        Ok(done)
    }
}

/// Opens a file and closes it.
pub(super) struct OpenFile;

impl FileOp for OpenFile {
    #[inline(always)]
    fn act(worker: &TreeWorker, _: &mut TreeTools, at: &TreeFile) -> Result<OpDone, OpFailed> {
        let file = worker.open(at, OFlags::RDONLY)?;
        shut(file)?;
        Ok(OpDone::default())
    }
}

/// Looks at its attributes.
pub(super) struct StatFile;

impl FileOp for StatFile {
    #[inline(always)]
    fn act(_: &TreeWorker, _: &mut TreeTools, at: &TreeFile) -> Result<OpDone, OpFailed> {
        look(at)?;
        Ok(OpDone::default())
    }
}

/// The same of what a link points to.
pub(super) struct StatTarget;

impl FileOp for StatTarget {
    #[inline(always)]
    fn act(_: &TreeWorker, _: &mut TreeTools, at: &TreeFile) -> Result<OpDone, OpFailed> {
        rustix::fs::statat(at.dir, at.path, AtFlags::empty()).map_err(stuck(Doing::Stat))?;
        Ok(OpDone::default())
    }
}

/// All that `statx` tells of it.
pub(super) struct StatAll;

impl FileOp for StatAll {
    #[inline(always)]
    fn act(_: &TreeWorker, _: &mut TreeTools, at: &TreeFile) -> Result<OpDone, OpFailed> {
        rustix::fs::statx(at.dir, at.path, AtFlags::empty(), StatxFlags::ALL)
            .map_err(stuck(Doing::Stat))?;
        Ok(OpDone::default())
    }
}

/// Gives it the other of its two names.
pub(super) struct RenameFile;

impl FileOp for RenameFile {
    #[inline(always)]
    fn act(worker: &TreeWorker, tools: &mut TreeTools, at: &TreeFile) -> Result<OpDone, OpFailed> {
        let mut done = OpDone::default();
        let mut other = tools.name;
        other.flip();
        other.point(at.folder_number, at.number);
        let other = if at.folder.is_some() { other.file() } else { other.path() };
        rustix::fs::renameat(at.dir, at.path, at.dir, other).map_err(stuck(Doing::Rename))?;
        worker.sync_folder(tools, at, &mut done)?;
        Ok(done)
    }
}

pub(super) struct RemoveFile;

impl FileOp for RemoveFile {
    #[inline(always)]
    fn act(worker: &TreeWorker, tools: &mut TreeTools, at: &TreeFile) -> Result<OpDone, OpFailed> {
        let mut done = OpDone::default();
        let flags = match worker.size {
            TreeSize::Folders => AtFlags::REMOVEDIR,
            _ => AtFlags::empty(),
        };
        rustix::fs::unlinkat(at.dir, at.path, flags).map_err(stuck(Doing::Remove))?;
        worker.sync_folder(tools, at, &mut done)?;
        Ok(done)
    }
}

/// Reserves the room of a file that is there.
pub(super) struct AllocateFile;

impl FileOp for AllocateFile {
    #[inline(always)]
    fn act(worker: &TreeWorker, _: &mut TreeTools, at: &TreeFile) -> Result<OpDone, OpFailed> {
        let mut done = OpDone::default();
        let file = worker.open(at, OFlags::WRONLY)?;
        let size = worker.size_of(at.number);
        if size > 0 {
            rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, size)
                .map_err(stuck(Doing::Allocate))?;
        }
        worker.sync_file(file.as_fd(), &mut done)?;
        shut(file)?;
        Ok(done)
    }
}

/// Cuts a file to nothing.
pub(super) struct TruncateFile;

impl FileOp for TruncateFile {
    #[inline(always)]
    fn act(worker: &TreeWorker, _: &mut TreeTools, at: &TreeFile) -> Result<OpDone, OpFailed> {
        let mut done = OpDone::default();
        let file = worker.open(at, OFlags::WRONLY)?;
        rustix::fs::ftruncate(&file, 0).map_err(stuck(Doing::Truncate))?;
        worker.sync_file(file.as_fd(), &mut done)?;
        shut(file)?;
        Ok(done)
    }
}

pub(super) struct ReadFile;

impl FileOp for ReadFile {
    #[inline(always)]
    fn act(worker: &TreeWorker, tools: &mut TreeTools, at: &TreeFile) -> Result<OpDone, OpFailed> {
        let mut done = OpDone::default();
        if worker.stat_first {
            look(at)?;
        }
        let file = worker.open(at, OFlags::RDONLY)?;
        done.asked = worker.size_of(at.number);
        while done.bytes < done.asked {
            if worker.halt.load(Relaxed) {
                done.broken = true;
                break;
            }
            let most = (done.asked - done.bytes).min(tools.buffer.len() as u64) as usize;
            let piece = &mut tools.buffer[..most];
            let bytes = read_whole(file.as_fd(), piece).map_err(stuck(Doing::Read))?;
            if worker.verify != Verify::None {
                let began = clock::now();
                let place = tree_place(worker.global(at.number), done.bytes);
                if !worker.is_right(&piece[..bytes], place) {
                    done.mismatches += 1;
                }
                done.aside_ns += clock::now().since(began).0;
            }
            done.bytes += bytes as u64;
            if bytes < most {
                break;
            }
        }
        shut(file)?;
        Ok(done)
    }
}

impl TreeWorker<'_> {
    #[inline]
    fn open(&self, at: &TreeFile, flags: OFlags) -> Result<OwnedFd, OpFailed> {
        let sync = match self.durability {
            Durability::OpenSync => OFlags::SYNC,
            Durability::OpenDsync => OFlags::DSYNC,
            _ => OFlags::empty(),
        };
        let mode = Mode::from_raw_mode(0o600);
        let doing = if flags.contains(OFlags::CREATE) { Doing::Create } else { Doing::Open };
        rustix::fs::openat(at.dir, at.path, flags | sync | OFlags::CLOEXEC, mode)
            .map_err(stuck(doing))
    }

    fn size_of(&self, number: u64) -> u64 {
        size_of(self.size, self.seed, self.global(number))
    }

    /// The number of a file among those of all workers.
    fn global(&self, number: u64) -> u64 {
        u64::from(self.number) * self.files + number
    }

    /// Writes all that was asked for.
    fn write(
        &self,
        tools: &mut TreeTools,
        file: BorrowedFd,
        number: u64,
        done: &mut OpDone,
    ) -> Result<(), OpFailed> {
        let refill = self.filler.changes();
        while done.bytes < done.asked {
            if self.halt.load(Relaxed) {
                done.broken = true;
                break;
            }
            let piece = (done.asked - done.bytes).min(tools.buffer.len() as u64) as usize;
            let piece = &mut tools.buffer[..piece];
            if refill {
                let began = clock::now();
                let place = tree_place(self.global(number), done.bytes);
                self.filler.fill(piece, place, WriteGeneration::default());
                done.aside_ns += clock::now().since(began).0;
            }
            let mut written = 0;
            while written < piece.len() {
                match rustix::io::write(file, &piece[written..]) {
                    Ok(0) => return Err((Doing::Write, Errno::NOSPC)),
                    Ok(bytes) => written += bytes,
                    Err(Errno::INTR) => {}
                    Err(errno) => return Err((Doing::Write, errno)),
                }
            }
            done.bytes += written as u64;
        }
        Ok(())
    }

    /// Whether a piece of a file is what was written there, looked at as closely as it was asked.
    fn is_right(&self, piece: &[u8], place: u64) -> bool {
        match self.verify {
            Verify::Tags => {
                let mut sectors = piece.chunks(SECTOR).zip((place..).step_by(SECTOR));
                sectors.all(|(sector, at)| self.filler.check_tag(sector, at) == BlockCheck::Right)
            }
            _ => self.filler.check(piece, place, KnownGenerations::Layers(&[])).is_ok(),
        }
    }

    /// Flushes a file, where the plan wants that of each.
    #[inline(always)]
    fn sync_file(&self, file: BorrowedFd, done: &mut OpDone) -> Result<(), OpFailed> {
        match self.durability {
            Durability::FsyncEvery(_) | Durability::FdatasyncEvery(_) => self.flush(file, done),
            _ => Ok(()),
        }
    }

    /// Apart from the loop, as a flush takes so long that a jump more is nothing.
    #[cold]
    fn flush(&self, file: BorrowedFd, done: &mut OpDone) -> Result<(), OpFailed> {
        let began = clock::now();
        match self.durability {
            Durability::FsyncEvery(_) => rustix::fs::fsync(file).map_err(stuck(Doing::Fsync))?,
            _ => rustix::fs::fdatasync(file).map_err(stuck(Doing::Fdatasync))?,
        }
        done.flushed(began);
        Ok(())
    }

    /// Flushes the folder of a file, where the plan wants that.
    #[inline(always)]
    fn sync_folder(
        &self,
        tools: &mut TreeTools,
        at: &TreeFile,
        done: &mut OpDone,
    ) -> Result<(), OpFailed> {
        if self.sync_folder { self.flush_folder(tools, at, done) } else { Ok(()) }
    }

    #[cold]
    fn flush_folder(
        &self,
        tools: &mut TreeTools,
        at: &TreeFile,
        done: &mut OpDone,
    ) -> Result<(), OpFailed> {
        let began = clock::now();
        let fault = stuck(Doing::Fsync);
        match at.folder {
            Some(folder) => rustix::fs::fsync(folder).map_err(fault)?,
            None if self.folders == 0 => rustix::fs::fsync(&self.root).map_err(fault)?,
            None => {
                // The last one is kept open: by name they come in a row.
                let known = tools.folder.take().filter(|(number, _)| *number == at.folder_number);
                let (number, fd) = match known {
                    Some(known) => known,
                    None => (at.folder_number, self.open_folder(at.folder_number)?),
                };
                let answer = rustix::fs::fsync(&fd).map_err(fault);
                tools.folder = Some((number, fd));
                answer?;
            }
        }
        done.flushed(began);
        Ok(())
    }
}

/// Looks at the attributes of a file, or of the link itself.
#[inline(always)]
fn look(at: &TreeFile) -> Result<(), OpFailed> {
    rustix::fs::statat(at.dir, at.path, AtFlags::SYMLINK_NOFOLLOW)
        .map(|_| ())
        .map_err(stuck(Doing::Stat))
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
fn shut(file: OwnedFd) -> Result<(), OpFailed> {
    close::close(file).map_err(stuck(Doing::Close))
}
