//! No I/O at all: each keeps the CPU busy for a time.

use std::io;

use crate::sys::clock;
use crate::unit::Nanos;

use super::sync_backend::SyncCalls;
use super::{FlushKind, IoRequest};

/// Computes in place of each I/O.
pub(crate) struct ComputedCalls {
    /// For so long.
    pub(crate) time: Nanos,
}

impl SyncCalls for ComputedCalls {
    fn transfer(&mut self, _buffer: &mut [u8], io: IoRequest) -> io::Result<usize> {
        let until = clock::now() + self.time;
        while clock::now() < until {
            std::hint::spin_loop();
        }
        Ok(io.len as usize)
    }

    fn flush(&mut self, _how: FlushKind) -> io::Result<()> {
        Ok(())
    }
}
