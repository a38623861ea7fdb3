//! Copies to and from memory that nothing was in before: what the kernel takes for a page of it.

use std::io;

use crate::sys::map::FileMap;
use assay_plan::unit::Bytes;

use super::sync_backend::SyncCalls;
use super::{FlushKind, IoRequest};

/// Memory in place of a file.
pub(crate) struct FreshMemory {
    map: FileMap,
    bytes: u64,
}

impl FreshMemory {
    /// So much of it.
    ///
    /// # Errors
    /// ENOMEM.
    pub(crate) fn new(bytes: Bytes) -> io::Result<Self> {
        Ok(Self { map: FileMap::fresh(bytes.in_memory())?, bytes: bytes.0 })
    }
}

impl SyncCalls for FreshMemory {
    fn transfer(&mut self, buffer: &mut [u8], io: IoRequest) -> io::Result<usize> {
        let len = io.len as usize;
        if io.offset.saturating_add(u64::from(io.len)) > self.bytes {
            return Err(rustix::io::Errno::INVAL.into());
        }
        let (at, data) = (io.offset as usize, &mut buffer[..len]);
        let copied = if io.sends() { self.map.write(at, data) } else { self.map.read(at, data) };
        copied.map_err(|_| rustix::io::Errno::NOMEM)?;
        Ok(len)
    }

    fn flush(&mut self, _how: FlushKind) -> io::Result<()> {
        Ok(())
    }
}
