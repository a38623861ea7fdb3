//! No I/O at all: each keeps the CPU busy for a time.

use std::cmp::Reverse;
use std::io;

use crate::sys::clock;
use assay_plan::unit::Nanos;

use super::random::RandomStream;
use super::sync_backend::SyncCalls;
use super::{FlushKind, IoRequest};

/// Computes in place of each I/O.
pub(crate) struct ComputedCalls {
    /// For so long.
    pub(crate) time: Nanos,
}

/// Numbers that are sorted.
const NUMBERS: usize = 256 << 10;

/// Sorts numbers in place of each I/O: rising, falling, by their bytes, and falling again.
pub(crate) struct SortingCalls {
    numbers: Vec<[u8; 4]>,
}

impl SortingCalls {
    pub(crate) fn new() -> Self {
        let mut random = RandomStream::new(1);
        let numbers = (0..NUMBERS).map(|_| (random.next_u64() as u32).to_ne_bytes());
        Self { numbers: numbers.collect() }
    }
}

impl SyncCalls for SortingCalls {
    fn transfer(&mut self, _buffer: &mut [u8], io: IoRequest) -> io::Result<usize> {
        let number = |bytes: &[u8; 4]| i32::from_ne_bytes(*bytes);
        self.numbers.sort_unstable_by_key(number);
        self.numbers.sort_unstable_by_key(|bytes| Reverse(number(bytes)));
        self.numbers.as_flattened_mut().sort_unstable();
        self.numbers.sort_unstable_by_key(|bytes| Reverse(number(bytes)));
        Ok(io.len as usize)
    }

    fn flush(&mut self, _how: FlushKind) -> io::Result<()> {
        Ok(())
    }
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
