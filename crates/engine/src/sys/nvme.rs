//! The health log of an NVMe drive, asked for with a command that changes nothing.
//!
//! # Safety
//!
//! The ioctl gets a command of exactly the layout that its number names, which points to a page as long as
//! it says. The kernel has written the page before the call returns, and keeps no pointer. Where a
//! descriptor is of no NVMe drive it answers ENOTTY or EINVAL and writes nothing.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Bytes of the page.
pub const PAGE: usize = 512;

/// `struct nvme_passthru_cmd` of linux/nvme_ioctl.h.
#[repr(C)]
#[derive(Default)]
struct NvmeCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    words_2_and_3: [u32; 2],
    metadata: u64,
    data: u64,
    metadata_len: u32,
    data_len: u32,
    words_10_to_15: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

const _: () = assert!(size_of::<NvmeCommand>() == 72);

/// Reads the SMART / Health Information page (log 02h) of a whole drive, through its controller or any of
/// its disks.
///
/// # Errors
/// EACCES without CAP_SYS_ADMIN; ENOTTY or EINVAL from what is no NVMe drive; EIO when the drive refuses.
pub fn health(drive: BorrowedFd) -> io::Result<[u8; PAGE]> {
    const GET_LOG_PAGE: u8 = 0x02;
    const HEALTH: u32 = 0x02;
    const ALL_NAMESPACES: u32 = u32::MAX;
    // In 32-bit words, less one.
    const WORDS: u32 = PAGE as u32 / 4 - 1;
    let mut page = [0_u8; PAGE];
    let mut command = NvmeCommand {
        opcode: GET_LOG_PAGE,
        namespace: ALL_NAMESPACES,
        data: page.as_mut_ptr() as u64,
        data_len: PAGE as u32,
        words_10_to_15: [HEALTH | WORDS << 16, 0, 0, 0, 0, 0],
        timeout_ms: 1000,
        ..NvmeCommand::default()
    };
    let number = rustix::ioctl::opcode::read_write::<NvmeCommand>(b'N', 0x41);
    // SAFETY: `command` has the layout that the number names, and `page` the length that stands in it; both
    // live until the call returns.
    let answer = unsafe { libc::ioctl(drive.as_raw_fd(), number as _, &mut command) };
    match answer {
        0 => Ok(page),
        // A status of the drive itself.
        1.. => Err(io::Error::from_raw_os_error(libc::EIO)),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn what_is_no_such_drive_says_so() {
        let file = tempfile::tempfile().unwrap();
        let error = health(file.as_fd()).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOTTY));
    }
}
