//! How the bytes of a file lie on the device: FIEMAP.

use std::ops::Range;
use std::os::fd::BorrowedFd;

use super::scene::why;
use super::{Extents, Reading};
use crate::sys::block::{self, Extent};
use crate::unit::Bytes;

/// What lies behind `range` (in bytes) of an open file. The file is written out first, so that
/// delayed blocks have their place.
pub fn extents(fd: BorrowedFd, range: Range<u64>) -> Reading<Extents> {
    walked(fd, range, true)
}

/// The same as it is now: what still waits in memory for its place counts as delayed.
pub fn extents_now(fd: BorrowedFd, range: Range<u64>) -> Reading<Extents> {
    walked(fd, range, false)
}

fn walked(fd: BorrowedFd, range: Range<u64>, sync: bool) -> Reading<Extents> {
    let length = range.end.saturating_sub(range.start);
    let mut sum = Extents { range: Bytes(length), ..Extents::default() };
    let walked = block::extents(fd, range.start, length, sync, |extent| {
        add(&mut sum, extent, &range);
        true
    });
    match walked {
        Ok(()) => {
            let covered = sum.written + sum.unwritten + sum.delayed;
            sum.hole = sum.range.less(covered);
            Reading::Seen(sum)
        }
        Err(error) => Reading::Unseen(why("FIEMAP", &error)),
    }
}

/// Adds the part of an extent that lies in the range.
fn add(sum: &mut Extents, extent: Extent, range: &Range<u64>) {
    let end = extent.logical.saturating_add(extent.length).min(range.end);
    let part = Bytes(end.saturating_sub(extent.logical.max(range.start)));
    if part == Bytes::ZERO {
        return;
    }
    sum.count += 1;
    if extent.flags & Extent::DELAYED != 0 {
        sum.delayed += part;
    } else if extent.flags & Extent::UNWRITTEN != 0 {
        sum.unwritten += part;
    } else {
        sum.written += part;
        if extent.flags & Extent::ENCODED != 0 {
            sum.encoded += part;
        }
        if extent.flags & Extent::SHARED != 0 {
            sum.shared += part;
        }
    }
}

/// A place in an open file with a written block of its own behind it: FIEMAP's word, and where
/// that is not given, the first data of a file that has blocks at all.
pub(super) fn written_place(fd: BorrowedFd) -> Option<u64> {
    let stat = block::stat_open(fd).ok()?;
    let mut place = None;
    let walked = block::extents(fd, 0, stat.size, true, |extent| {
        let no = Extent::DELAYED | Extent::UNWRITTEN | Extent::INLINE | Extent::UNKNOWN;
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, SeekFrom, Write};
    use std::os::fd::AsFd;

    #[test]
    fn extents_are_cut_to_the_range_and_sorted_by_kind() {
        let mut sum = Extents::default();
        let range = 4096..40960;
        add(&mut sum, Extent::test(0, 8192, 0), &range);
        add(&mut sum, Extent::test(8192, 4096, Extent::UNWRITTEN), &range);
        add(&mut sum, Extent::test(16384, 4096, Extent::DELAYED | Extent::UNKNOWN), &range);
        add(
            &mut sum,
            Extent::test(36864, 65536, Extent::ENCODED | Extent::SHARED | Extent::LAST),
            &range,
        );
        add(&mut sum, Extent::test(1 << 20, 4096, 0), &range);
        assert_eq!(sum.count, 4);
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
    fn a_hole_is_no_written_place() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        assert_eq!(written_place(file.as_fd()), None);
    }
}
