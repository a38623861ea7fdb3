//! The page cache of one file: `cachestat` (6.5), else `mincore`.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use super::sys_root::why;
use super::{CachePages, Reading};
use assay_engine::sys::{block, cache};
use assay_plan::unit::Bytes;

/// The pages of an open file that are in memory. `mincore` stands in where the kernel has no
/// `cachestat` (or a filter hides it), and only for files that are ours or writable: of others it
/// says that everything is resident.
pub fn pages(fd: BorrowedFd) -> Reading<CachePages> {
    let page = rustix::param::page_size() as u64;
    let error = match cache::cachestat(fd, 0, 0) {
        Ok(stat) => {
            let bytes = |pages: u64| Bytes(pages.saturating_mul(page));
            return Reading::Seen(CachePages {
                resident: bytes(stat.cached),
                dirty: Some(bytes(stat.dirty)),
                writeback: Some(bytes(stat.writeback)),
                evicted: Some(bytes(stat.evicted)),
            });
        }
        Err(error) => error,
    };
    let reason = why("cachestat", &error);
    if !matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) {
        return Reading::Unseen(reason);
    }
    match resident(fd) {
        Ok(pages) => Reading::Seen(CachePages {
            resident: Bytes(pages.saturating_mul(page)),
            dirty: None,
            writeback: None,
            evicted: None,
        }),
        Err(also) => Reading::Unseen(format!("{reason}; {also}")),
    }
}

/// Resident pages by `mincore`, if its answer may be believed.
fn resident(fd: BorrowedFd) -> Result<u64, String> {
    let stat = block::stat_open(fd).map_err(|error| why("statx", &error))?;
    let user = rustix::process::geteuid();
    let writable = rustix::fs::fcntl_getfl(fd)
        .is_ok_and(|flags| flags.intersects(rustix::fs::OFlags::RDWR | rustix::fs::OFlags::WRONLY));
    if !(user.is_root() || user.as_raw() == stat.uid || writable) {
        return Err("mincore: tells the truth only about own or writable files".into());
    }
    let length = match stat.mode & libc::S_IFMT {
        libc::S_IFREG => stat.size,
        libc::S_IFBLK => block::size(fd).map_err(|error| why("BLKGETSIZE64", &error))?,
        _ => return Err("mincore: neither a file nor a block device".into()),
    };
    cache::resident(fd, length).map_err(|error| why("mincore", &error))
}

/// Milliseconds that are waited before each further try to drop what stayed: the first comes at once, for pages
/// in a processor's batch are let go by the try before it; then for those that somebody holds for a
/// moment, as the kernel's reclaim does with what it looks at.
const AGAIN_MS: [u64; 5] = [0, 10, 20, 40, 80];

/// Writes a file out and drops its pages; says what is left in memory after some tries. Where nothing
/// goes (tmpfs, locked pages), two are enough.
pub fn drop_cache(fd: BorrowedFd) -> Reading<CachePages> {
    let resident = |pages: &Reading<CachePages>| pages.seen().map(|pages| pages.resident);
    let before = resident(&pages(fd));
    let mut left = dropped(fd);
    for pause in AGAIN_MS {
        let stayed = resident(&left);
        if stayed.is_none_or(|stayed| stayed == Bytes::ZERO) || (pause > 0 && stayed >= before) {
            break;
        }
        std::thread::sleep(Duration::from_millis(pause));
        left = dropped(fd);
    }
    left
}

/// The same, tried once.
fn dropped(fd: BorrowedFd) -> Reading<CachePages> {
    match rustix::fs::fsync(fd) {
        // A file system that cannot be asked to flush has nothing of ours to lose.
        Ok(()) | Err(rustix::io::Errno::INVAL | rustix::io::Errno::ROFS) => {}
        Err(error) => return Reading::Unseen(why("fsync", &error.into())),
    }
    match cache::drop_pages(fd, 0, 0) {
        Ok(()) => pages(fd),
        Err(error) => Reading::Unseen(why("fadvise", &error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsFd;

    #[test]
    fn written_pages_are_seen_and_can_be_dropped() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![7; 1 << 20]).unwrap();
        let Reading::Seen(before) = pages(file.as_fd()) else { panic!() };
        assert_eq!(before.resident, Bytes::mib(1));
        assert_eq!(resident(file.as_fd()).unwrap() * rustix::param::page_size() as u64, 1 << 20);
        let Reading::Seen(after) = drop_cache(file.as_fd()) else { panic!() };
        println!("{before:?} -> {after:?}");
        let kind = rustix::fs::fstatfs(&file).unwrap().f_type;
        if kind == 0xef53 {
            assert_eq!(after.resident, Bytes::ZERO);
        } else {
            println!("skipped: no ext4 below the temporary folder");
        }
    }

    #[test]
    fn a_pipe_has_no_pages() {
        let (read, _write) = std::io::pipe().unwrap();
        println!("{:?}", pages(read.as_fd()));
        assert!(resident(read.as_fd()).is_err());
    }
}
