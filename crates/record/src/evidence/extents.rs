//! How the bytes of a file lie on the device: FIEMAP.

use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::path::Path;

use super::sys_root::why;
use super::{Extents, Reading, pagecache};
use assay_engine::sys::block::{self, FiemapExtent};
use assay_engine::sys::cache;
use assay_plan::unit::Bytes;

/// What lies behind `range` (in bytes) of an open file, as it is: nothing is written out for it. What
/// still waits in memory for its place counts as delayed. Unseen where unwritten blocks may have
/// their data in memory: only a flush would tell them from those that never had any.
pub fn extents(fd: BorrowedFd, range: Range<u64>) -> Reading<Extents> {
    let look = || match walked(fd, &range) {
        Ok(sum) => Reading::Seen(sum),
        Err(error) => Reading::Unseen(why("FIEMAP", &error)),
    };
    let first = look();
    match first.seen() {
        Some(sum) if sum.unwritten > Bytes::ZERO => match unwritten_out(fd, &range) {
            // What was under way when it was first looked at has come to its place.
            Reading::Seen(Bytes::ZERO) => look(),
            Reading::Seen(waiting) => Reading::Unseen(format!(
                "FIEMAP: {} were never written on the device, but {waiting} wait in memory, and only a flush would show where they belong",
                sum.unwritten
            )),
            Reading::Unseen(why) => Reading::Unseen(format!(
                "FIEMAP: {} were never written on the device, or wait in memory: {why}",
                sum.unwritten
            )),
        },
        _ => first,
    }
}

fn walked(fd: BorrowedFd, range: &Range<u64>) -> std::io::Result<Extents> {
    let length = range.end.saturating_sub(range.start);
    let mut sum = Extents { range: Bytes(length), ..Extents::default() };
    block::extents(fd, range.start, length, |extent| {
        add(&mut sum, extent, range);
        true
    })?;
    let covered = sum.written + sum.unwritten + sum.delayed;
    sum.hole = sum.range.less(covered);
    Ok(sum)
}

/// Bytes of a part of a file that memory has and the device has not yet.
fn unwritten_out(fd: BorrowedFd, range: &Range<u64>) -> Reading<Bytes> {
    let page = rustix::param::page_size() as u64;
    match cache::cachestat(fd, range.start, range.end.saturating_sub(range.start)) {
        Ok(stat) => Reading::Seen(Bytes(stat.dirty.saturating_add(stat.writeback) * page)),
        // What is not in memory at all does not wait there.
        Err(error) => match pagecache::pages(fd) {
            Reading::Seen(pages) if pages.resident == Bytes::ZERO => Reading::Seen(Bytes::ZERO),
            _ => Reading::Unseen(why("cachestat", &error)),
        },
    }
}

/// Whether a page of an open file is as it is on the device, so that no read has to write it first.
pub(super) fn is_clean(fd: BorrowedFd, at: u64) -> bool {
    let page = rustix::param::page_size() as u64;
    let start = at / page * page;
    unwritten_out(fd, &(start..start + page)).seen() == Some(&Bytes::ZERO)
}

/// Adds the part of an extent that lies in the range.
fn add(sum: &mut Extents, extent: FiemapExtent, range: &Range<u64>) {
    let end = extent.logical.saturating_add(extent.length).min(range.end);
    let part = Bytes(end.saturating_sub(extent.logical.max(range.start)));
    if part == Bytes::ZERO {
        return;
    }
    if extent.flags & FiemapExtent::DELAYED != 0 {
        // In how many places it will lie is not decided.
        sum.delayed += part;
        return;
    }
    sum.count += 1;
    if extent.flags & FiemapExtent::UNWRITTEN != 0 {
        sum.unwritten += part;
    } else {
        sum.written += part;
        if extent.flags & FiemapExtent::ENCODED != 0 {
            sum.encoded += part;
        }
        if extent.flags & FiemapExtent::SHARED != 0 {
            sum.shared += part;
        }
    }
}

/// A place in an open file with a written block of its own behind it: FIEMAP's word, and where
/// that is not given, the first data of a file that has blocks at all.
pub(super) fn written_place(fd: BorrowedFd) -> Option<u64> {
    let stat = block::stat_open(fd).ok()?;
    let mut place = None;
    let walked = block::extents(fd, 0, stat.size, |extent| {
        let no = FiemapExtent::DELAYED
            | FiemapExtent::UNWRITTEN
            | FiemapExtent::INLINE
            | FiemapExtent::UNKNOWN;
        if extent.flags & no == 0
            && extent.length > 1
            && extent.logical.saturating_add(1) < stat.size
        {
            place = Some(extent.logical);
        }
        place.is_none()
    });
    match walked {
        Ok(()) => place,
        Err(_) if stat.blocks > 0 && stat.size > 1 => {
            rustix::fs::seek(fd, rustix::fs::SeekFrom::Data(0)).ok().filter(|at| at + 1 < stat.size)
        }
        Err(_) => None,
    }
}

/// Whether a file has no data at all, neither on its device nor on the way there. What cannot be found
/// out is none to refuse.
pub fn all_holes(path: &Path) -> bool {
    let Ok(file) = std::fs::File::open(path) else { return false };
    let data = rustix::fs::seek(&file, rustix::fs::SeekFrom::Data(0));
    file.metadata().is_ok_and(|file| file.is_file() && file.len() > 0)
        && data == Err(rustix::io::Errno::NXIO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, SeekFrom, Write};
    use std::os::fd::AsFd;

    fn extent(logical: u64, length: u64, flags: u32) -> FiemapExtent {
        let mut extent = FiemapExtent::default();
        (extent.logical, extent.length, extent.flags) = (logical, length, flags);
        extent
    }

    #[test]
    fn extents_are_cut_to_the_range_and_sorted_by_kind() {
        let mut sum = Extents::default();
        let range = 4096..40960;
        add(&mut sum, extent(0, 8192, 0), &range);
        add(&mut sum, extent(8192, 4096, FiemapExtent::UNWRITTEN), &range);
        add(&mut sum, extent(16384, 4096, FiemapExtent::DELAYED | FiemapExtent::UNKNOWN), &range);
        add(
            &mut sum,
            extent(36864, 65536, FiemapExtent::ENCODED | FiemapExtent::SHARED | FiemapExtent::LAST),
            &range,
        );
        add(&mut sum, extent(1 << 20, 4096, 0), &range);
        assert_eq!(sum.count, 3);
        assert_eq!((sum.written, sum.encoded), (Bytes(8192), Bytes(4096)));
        assert_eq!(sum.shared, Bytes(4096));
        assert_eq!((sum.unwritten, sum.delayed), (Bytes(4096), Bytes(4096)));
    }

    #[test]
    fn a_real_file_with_a_hole() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[1; 65536]).unwrap();
        file.seek(SeekFrom::Start(1 << 20)).unwrap();
        file.write_all(&[1; 65536]).unwrap();
        rustix::fs::fdatasync(&file).unwrap();
        match extents(file.as_fd(), 0..(1 << 20) + 65536) {
            Reading::Seen(seen) => {
                println!("{seen:?}");
                assert_eq!(seen.written, Bytes(131072));
                assert_eq!(seen.hole, Bytes((1 << 20) - 65536));
                assert!(seen.count >= 2);
                assert_eq!(written_place(file.as_fd()), Some(0));
            }
            Reading::Unseen(why) => println!("skipped: {why}"),
        }
    }

    #[test]
    fn what_waits_in_memory_is_neither_a_hole_nor_written() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&[1; 1 << 20]).unwrap();
        match extents(file.as_fd(), 0..1 << 20) {
            Reading::Seen(seen) => {
                println!("{seen:?}");
                // Elsewhere blocks may have their place as soon as they are written to.
                assert_eq!((seen.hole, seen.unwritten), (Bytes::ZERO, Bytes::ZERO));
                assert_eq!(seen.written + seen.delayed, Bytes::mib(1));
            }
            Reading::Unseen(why) => println!("skipped: {why}"),
        }
    }

    #[test]
    fn blocks_that_are_reserved_and_wait_for_their_data_are_not_called_empty() {
        let mut file = tempfile::tempfile().unwrap();
        let reserve = rustix::fs::FallocateFlags::empty();
        if rustix::fs::fallocate(&file, reserve, 0, 1 << 20).is_err() {
            return println!("skipped: no fallocate here");
        }
        let empty = extents(file.as_fd(), 0..1 << 20);
        file.write_all(&[1; 1 << 20]).unwrap();
        let Reading::Seen(empty) = empty else { return println!("skipped: {:?}", empty.why()) };
        assert_eq!(empty.unwritten, Bytes::mib(1));
        match extents(file.as_fd(), 0..1 << 20) {
            // Written by now, by whoever writes out what is old.
            Reading::Seen(seen) => assert_eq!(seen.unwritten, Bytes::ZERO, "{seen:?}"),
            Reading::Unseen(why) => assert!(why.contains("1 MiB wait in memory"), "{why}"),
        }
        rustix::fs::fdatasync(&file).unwrap();
        let flushed = extents(file.as_fd(), 0..1 << 20);
        assert_eq!(flushed.seen().map(|seen| seen.written), Some(Bytes::mib(1)), "{flushed:?}");
    }

    #[test]
    fn a_hole_is_no_written_place() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        assert_eq!(written_place(file.as_fd()), None);
    }
}
