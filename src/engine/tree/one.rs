//! The operations, each on one file.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering::Relaxed;

use rustix::fs::{AtFlags, FallocateFlags, Mode, OFlags};
use rustix::io::Errno;

use super::beat::{Done, Stuck, stuck};
use super::{ANCHOR, At, Hands, TreeWorker, size_of, tree_place};
use crate::engine::fill::{Found, Generation, Known, SECTOR};
use crate::plan::{Action, Durability, TreeSize, Verify};
use crate::sys::{clock, close};

impl TreeWorker<'_> {
    /// Does the one thing to the one file.
    ///
    /// Part of its loops, as each return from a function in which the kernel was called is predicted
    /// wrongly on processors that must forget their returns there (Retbleed, SRSO): 10 ns.
    #[inline(always)]
    pub(super) fn act(&self, hands: &mut Hands, at: &At, renamed: bool) -> Result<Done, Stuck> {
        let At { dir, path, .. } = *at;
        let mut done = Done::default();
        match self.action {
            Action::Create => self.create(hands, at, &mut done)?,
            Action::Open => {
                let file = self.open(at, OFlags::RDONLY)?;
                shut(file)?;
            }
            Action::Stat => stat(at)?,
            Action::Rename => {
                let mut other = hands.name;
                other.rename(!renamed);
                other.point(at.folder_number, at.number);
                let other = if at.folder.is_some() { other.file() } else { other.path() };
                rustix::fs::renameat(dir, path, dir, other).map_err(stuck("rename"))?;
                self.sync_folder(hands, at, &mut done)?;
            }
            Action::Remove => {
                let flags = match self.size {
                    TreeSize::Folders => AtFlags::REMOVEDIR,
                    _ => AtFlags::empty(),
                };
                rustix::fs::unlinkat(dir, path, flags).map_err(stuck("remove"))?;
                self.sync_folder(hands, at, &mut done)?;
            }
            Action::Read => self.read(hands, at, &mut done)?,
            Action::Allocate => {
                let file = self.open(at, OFlags::WRONLY)?;
                let size = self.size_of(at.number);
                if size > 0 {
                    rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, size)
                        .map_err(stuck("allocate"))?;
                }
                self.sync_file(file.as_fd(), &mut done)?;
                shut(file)?;
            }
            Action::Truncate => {
                let file = self.open(at, OFlags::WRONLY)?;
                rustix::fs::ftruncate(&file, 0).map_err(stuck("truncate"))?;
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

    #[inline(always)]
    fn create(&self, hands: &mut Hands, at: &At, done: &mut Done) -> Result<(), Stuck> {
        let At { dir, path, .. } = *at;
        match self.size {
            TreeSize::Files { .. } => {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
                let file = self.open(at, flags)?;
                done.asked = self.size_of(at.number);
                if done.asked > 0 {
                    self.write(hands, file.as_fd(), at.number, done)?;
                    if done.broken {
                        return shut(file);
                    }
                }
                self.sync_file(file.as_fd(), done)?;
                shut(file)?;
            }
            TreeSize::SymbolicLinks => {
                let target = if self.folders > 0 { c"../anchor" } else { ANCHOR };
                rustix::fs::symlinkat(target, dir, path).map_err(stuck("create"))?;
            }
            TreeSize::HardLinks => {
                rustix::fs::linkat(&self.root, ANCHOR, dir, path, AtFlags::empty())
                    .map_err(stuck("create"))?;
            }
            TreeSize::Folders => {
                rustix::fs::mkdirat(dir, path, Mode::from_raw_mode(0o700))
                    .map_err(stuck("create"))?;
            }
        }
        self.sync_folder(hands, at, done)
    }

    #[inline]
    fn open(&self, at: &At, flags: OFlags) -> Result<OwnedFd, Stuck> {
        let sync = match self.durability {
            Durability::OpenSync => OFlags::SYNC,
            Durability::OpenDsync => OFlags::DSYNC,
            _ => OFlags::empty(),
        };
        let mode = Mode::from_raw_mode(0o600);
        let doing = if flags.contains(OFlags::CREATE) { "create" } else { "open" };
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
        hands: &mut Hands,
        file: BorrowedFd,
        number: u64,
        done: &mut Done,
    ) -> Result<(), Stuck> {
        let refill = self.filler.changes();
        while done.bytes < done.asked {
            if self.halt.load(Relaxed) {
                done.broken = true;
                break;
            }
            let piece = (done.asked - done.bytes).min(hands.buffer.len() as u64) as usize;
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

    #[inline(always)]
    fn read(&self, hands: &mut Hands, at: &At, done: &mut Done) -> Result<(), Stuck> {
        if self.stat_first {
            stat(at)?;
        }
        let file = self.open(at, OFlags::RDONLY)?;
        done.asked = self.size_of(at.number);
        while done.bytes < done.asked {
            if self.halt.load(Relaxed) {
                done.broken = true;
                break;
            }
            let most = (done.asked - done.bytes).min(hands.buffer.len() as u64) as usize;
            let piece = &mut hands.buffer[..most];
            let bytes = read_whole(file.as_fd(), piece).map_err(stuck("read"))?;
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
    #[inline(always)]
    fn sync_file(&self, file: BorrowedFd, done: &mut Done) -> Result<(), Stuck> {
        let began = match self.durability {
            Durability::FsyncEvery(_) | Durability::FdatasyncEvery(_) => clock::now(),
            _ => return Ok(()),
        };
        match self.durability {
            Durability::FsyncEvery(_) => rustix::fs::fsync(file).map_err(stuck("fsync"))?,
            _ => rustix::fs::fdatasync(file).map_err(stuck("fdatasync"))?,
        }
        done.flushed(began);
        Ok(())
    }

    /// Flushes the folder of a file, where the plan wants that.
    #[inline]
    fn sync_folder(&self, hands: &mut Hands, at: &At, done: &mut Done) -> Result<(), Stuck> {
        if self.sync_folder { self.flush_folder(hands, at, done) } else { Ok(()) }
    }

    fn flush_folder(&self, hands: &mut Hands, at: &At, done: &mut Done) -> Result<(), Stuck> {
        let began = clock::now();
        let fault = stuck("fsync");
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

/// Looks at the attributes of a file, or of the link itself.
#[inline]
fn stat(at: &At) -> Result<(), Stuck> {
    rustix::fs::statat(at.dir, at.path, AtFlags::SYMLINK_NOFOLLOW)
        .map(|_| ())
        .map_err(stuck("stat"))
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
    close::close(file).map_err(stuck("close"))
}
