//! One call for each byte, at the place where the file stands.
//!
//! What this measures is the cost of a system call (Bonnie++'s per-character columns since 1.96): the
//! kernel gathers the bytes in its page cache, and the device sees whole pages. A block is timed as
//! one step, so that no clock is read between its bytes.

use std::io;

use super::sync::SyncStream;
use super::sync_backend::SyncCalls;
use super::{FlushKind, IoRequest, WorkerFiles};

/// One byte at a time from where the file stands.
pub(crate) struct Bytewise(SyncStream);

impl Bytewise {
    pub(crate) fn new(files: &WorkerFiles) -> io::Result<Self> {
        SyncStream::new(files).map(Self)
    }
}

impl SyncCalls for Bytewise {
    #[inline]
    fn transfer(&mut self, buffer: &mut [u8], io: IoRequest) -> io::Result<usize> {
        self.0.at_its_place(io, |file| match io.sends() {
            true => each(buffer, |byte| Ok(rustix::io::write(file, byte)?)),
            false => each(buffer, |byte| Ok(rustix::io::read(file, byte)?)),
        })
    }

    fn flush(&mut self, how: FlushKind) -> io::Result<()> {
        self.0.flush(how)
    }
}

/// Calls for every byte, up to the end of the file or the first call that fails; how many were moved.
/// As of any short transfer the kernel's reason is heard by the next one.
#[inline]
fn each(
    buffer: &mut [u8],
    mut call: impl FnMut(&mut [u8]) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut moved = 0;
    for byte in buffer.chunks_exact_mut(1) {
        match call(byte) {
            Ok(0) => break,
            Ok(_) => moved += 1,
            Err(error) if moved == 0 => return Err(error),
            Err(_) => break,
        }
    }
    Ok(moved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_go_one_by_one_until_one_does_not() {
        let mut buffer = *b"abcdef";
        let mut seen = Vec::new();
        let mut call = |byte: &mut [u8]| {
            seen.push(byte.to_vec());
            if seen.len() < 3 { Ok(1) } else { Err(io::ErrorKind::StorageFull.into()) }
        };
        assert_eq!(each(&mut buffer, &mut call).unwrap(), 2);
        assert!(each(&mut buffer, &mut call).is_err());
        assert_eq!(each(&mut buffer, |_| Ok(0)).unwrap(), 0);
        assert_eq!(each(&mut buffer, |_| Ok(1)).unwrap(), 6);
        assert_eq!(seen, [b"a", b"b", b"c", b"a"]);
    }
}
