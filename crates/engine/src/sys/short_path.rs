//! A short path that is written in place, over and over.
//!
//! # Safety
//! What a [`CStr`] asks for follows from the types: the bytes before the last cannot be 0, the last one
//! is, and nobody else can write it.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::num::NonZero;
use std::slice;

/// `MOST` bytes none of which is 0, and a byte 0 behind them. A path begins anywhere among them and goes
/// to their end, so that nobody has to look for it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ShortPath<const MOST: usize> {
    bytes: [NonZero<u8>; MOST],
    end: u8,
}

impl<const MOST: usize> ShortPath<MOST> {
    /// With these bytes.
    pub const fn new(bytes: [NonZero<u8>; MOST]) -> Self {
        Self { bytes, end: 0 }
    }

    /// The bytes, to be written.
    #[inline]
    pub fn bytes(&mut self) -> &mut [NonZero<u8>; MOST] {
        &mut self.bytes
    }

    /// The path from this byte on; from behind them all it is empty.
    #[inline]
    pub fn from(&self, start: usize) -> &CStr {
        let start = start.min(MOST);
        let first = (&raw const *self).cast::<u8>();
        // SAFETY: all fields are bytes, so that they lie side by side (`repr(C)`): `MOST + 1` of them, and
        // none but the last is 0.
        unsafe {
            let bytes = slice::from_raw_parts(first.add(start), MOST + 1 - start);
            CStr::from_bytes_with_nul_unchecked(bytes)
        }
    }
}

/// A text without a byte 0, such as `*b"letters"`.
///
/// # Panics
/// With one; in a constant the compiler says so.
pub const fn nonzero<const N: usize>(text: [u8; N]) -> [NonZero<u8>; N] {
    let mut bytes = [NonZero::<u8>::MIN; N];
    let mut at = 0;
    while at < N {
        bytes[at] = NonZero::new(text[at]).expect("no byte 0");
        at += 1;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_goes_from_any_byte_to_the_end() {
        let mut path = ShortPath::new(nonzero(*b"folder/file"));
        path.bytes()[7..].copy_from_slice(&nonzero(*b"name"));
        assert_eq!(path.from(0), c"folder/name");
        assert_eq!(path.from(7), c"name");
        assert_eq!((path.from(11), path.from(12)), (c"", c""));
    }
}
