//! Direct I/O as the kernel describes it (statx, 6.1) and as a probe shows it.
//!
//! The probe reads one byte at an odd offset, from a place that was written: a device refuses
//! that with EINVAL, a cache answers it. Holes prove nothing, since zeros come without the device.
//! Nor does an answer from a file system that serves only odd requests from its cache, or that
//! sends any of them to another machine.

use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Advice, Mode, OFlags, open};
use rustix::io::Errno;

use super::sys_root::why;
use super::{DirectAlign, DirectIo, Reading, extents};
use assay_engine::output::{remove_file, scratch_named};
use assay_engine::sys::buffer::Buffer;
use assay_engine::sys::{block, cache};
use assay_plan::name::NameText as _;

/// Direct I/O on an existing file or block device. Nothing is written.
pub(super) fn of_file(path: &Path) -> Reading<DirectIo> {
    let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match open(path, flags, Mode::empty()) {
        Ok(file) => {
            let is_device = block::stat_open(file.as_fd())
                .is_ok_and(|stat| stat.mode & libc::S_IFMT == libc::S_IFBLK);
            let place = if is_device { Some(0) } else { extents::written_place(file.as_fd()) };
            // Of what waits in memory the read would have to be written first.
            let place = place.filter(|&place| extents::is_clean(file.as_fd(), place));
            let align = align(file.as_fd());
            let misaligned_refused = place.and_then(|place| refused(file.as_fd(), place));
            let told = align.is_some() || misaligned_refused.is_some();
            let past_cache = place.filter(|_| !told).and_then(|at| past_cache(file.as_fd(), at));
            Reading::Seen(DirectIo { accepted: true, align, misaligned_refused, past_cache })
        }
        Err(Errno::INVAL) => Reading::Seen(DirectIo {
            accepted: false,
            align: block::stat(path).ok().and_then(|stat| stat.direct).map(to_align),
            misaligned_refused: None,
            past_cache: None,
        }),
        Err(error) => Reading::Unseen(why(&path.to_text(), &error.into())),
    }
}

/// Direct I/O on new files of a folder, by a file that has no name or keeps it for an instant.
/// Where statx tells, nothing is written into it.
pub(super) fn of_folder(folder: &Path) -> Reading<DirectIo> {
    match probe(folder) {
        Ok(direct) => Reading::Seen(direct),
        Err(error) => Reading::Unseen(why(&folder.to_text(), &error.into())),
    }
}

fn probe(folder: &Path) -> Result<DirectIo, Errno> {
    let no = DirectIo { accepted: false, align: None, misaligned_refused: None, past_cache: None };
    let Some(file) = (match nameless(folder) {
        Ok(file) => Some(file),
        // Either O_TMPFILE or O_DIRECT is not known here: a name tells which.
        Err(_) => named(folder)?,
    }) else {
        return Ok(no);
    };
    let align = align(file.as_fd());
    let place = if align.is_none() { written(&file) } else { None };
    let misaligned_refused = place.and_then(|place| refused(file.as_fd(), place));
    let past_cache = match misaligned_refused {
        None => place.and_then(|place| past_cache(file.as_fd(), place)),
        Some(_) => None,
    };
    Ok(DirectIo { accepted: true, align, misaligned_refused, past_cache })
}

fn nameless(folder: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::DIRECT | OFlags::CLOEXEC;
    open(folder, flags, Mode::RUSR | Mode::WUSR)
}

/// A new file with a name of its own, opened for direct I/O a second time and unlinked at once;
/// `None` when direct I/O is refused. Not created with O_DIRECT: some file systems would make the
/// file first and refuse the flag afterwards.
fn named(folder: &Path) -> Result<Option<OwnedFd>, Errno> {
    let (plain, path) =
        scratch_named(folder).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    let flags = OFlags::RDWR | OFlags::DIRECT | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let direct = open(&path, flags, Mode::empty());
    // What stays is told at the end of the run.
    let _ = remove_file(&path, false);
    drop(plain);
    match direct {
        Ok(file) => Ok(Some(file)),
        Err(Errno::INVAL) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes 4 KiB through the cache, and says where they lie. The direct read after it brings these to
/// their blocks, and nothing else: a flush would take others' data along.
fn written(file: &OwnedFd) -> Option<u64> {
    let flags = rustix::fs::fcntl_getfl(file).ok()?;
    rustix::fs::fcntl_setfl(file, flags - OFlags::DIRECT).ok()?;
    let block = [0x5a_u8; 4096];
    if rustix::io::pwrite(file, &block, 0).ok()? != block.len() {
        return None;
    }
    rustix::fs::fcntl_setfl(file, flags).ok()?;
    let mut buffer = Buffer::new(block.len()).ok()?;
    rustix::io::pread(file, &mut buffer[..], 0).ok().map(|_| 0)
}

/// Whether an aligned direct read of what is not in memory leaves it out of memory.
fn past_cache(file: BorrowedFd, place: u64) -> Option<bool> {
    const BLOCK: u64 = 4096;
    let place = place / BLOCK * BLOCK;
    let cached = || cache::cachestat(file, place, BLOCK).ok().map(|stat| stat.cached);
    rustix::fs::fadvise(file, place, NonZeroU64::new(BLOCK), Advice::DontNeed).ok()?;
    // Without read-ahead: where the answer is no, the file is not to be warmed by it.
    rustix::fs::fadvise(file, 0, None, Advice::Random).ok()?;
    if cached()? > 0 {
        return None;
    }
    let mut buffer = Buffer::new(BLOCK as usize).ok()?;
    rustix::io::pread(file, &mut buffer[..], place).ok()?;
    Some(cached()? == 0)
}

/// Whether a direct read of one byte just after `place` is refused as a device would.
///
/// Where the answer would prove nothing it is not asked for: a read that goes through the cache
/// would warm the file that is about to be measured.
fn refused(file: BorrowedFd, place: u64) -> Option<bool> {
    if takes_odd_requests(file) {
        return None;
    }
    let _ = rustix::fs::fadvise(file, 0, None, Advice::Random);
    let mut byte = [0_u8; 1];
    match rustix::io::pread(file, &mut byte, place + 1) {
        Ok(1) => Some(false),
        Err(Errno::INVAL) => Some(true),
        _ => None,
    }
}

/// File systems on which a misaligned direct read is answered although an aligned one goes to the
/// device, or straight to the server; and overlay, which may have one of them below.
fn takes_odd_requests(file: BorrowedFd) -> bool {
    const BTRFS: u64 = 0x9123_683e;
    const F2FS: u64 = 0xf2f5_2010;
    const BCACHEFS: u64 = 0xca45_1a4e;
    const NFS: u64 = 0x6969;
    const OVERLAY: u64 = 0x794c_7630;
    rustix::fs::fstatfs(file).is_ok_and(|stat| {
        // 32 bits on every architecture, signed on some.
        matches!(stat.f_type as u64 & 0xffff_ffff, BTRFS | F2FS | BCACHEFS | NFS | OVERLAY)
    })
}

fn align(file: BorrowedFd) -> Option<DirectAlign> {
    block::stat_open(file).ok()?.direct.map(to_align)
}

fn to_align((memory, offset): (u32, u32)) -> DirectAlign {
    DirectAlign { memory, offset }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use std::io::Write;

    #[test]
    fn a_folder_is_left_as_it_was() {
        for folder in [std::env::temp_dir(), PathBuf::from("/dev/shm")] {
            let Ok(inside) = tempfile::tempdir_in(&folder) else { continue };
            println!("{}: {:?}", folder.to_text(), of_folder(inside.path()));
            println!("  by name: {:?}", named(inside.path()).map(|file| file.is_some()));
            assert_eq!(std::fs::read_dir(inside.path()).unwrap().count(), 0);
        }
        assert!(of_folder(Path::new("/proc")).seen().is_none());
    }

    #[test]
    fn the_probe_agrees_with_statx() {
        let folder = tempfile::tempdir().unwrap();
        let file = nameless(folder.path()).ok().or_else(|| named(folder.path()).ok().flatten());
        let Some(file) = file else { return println!("skipped: no direct I/O here") };
        let shown = written(&file).and_then(|place| refused(file.as_fd(), place));
        let told = align(file.as_fd());
        println!("statx {told:?}, misaligned read refused {shown:?}");
        if let (Some(told), Some(shown)) = (told, shown) {
            assert_eq!(told.offset > 0, shown);
        }
    }

    #[test]
    fn a_file_without_data_is_not_probed() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1 << 20).unwrap();
        if let Reading::Seen(direct) = of_file(file.path()) {
            assert_eq!(direct.misaligned_refused, None);
        }
        file.write_all(&[1; 8192]).unwrap();
        println!("{:?}", of_file(file.path()));
    }
}
