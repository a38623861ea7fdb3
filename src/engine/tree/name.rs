//! What the files of a tree are called, written digit over digit into a buffer of their own.

use std::ffi::CStr;

/// The path of a file below the root: `d000012/f0003.0000000456`, with a byte 0 behind it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    bytes: [u8; Self::FULL + 1],
    /// Where it begins: a tree without folders passes over the first part.
    start: usize,
}

impl Name {
    /// `d000012/`.
    const FOLDER: usize = 8;
    const FULL: usize = Self::FOLDER + 16;

    pub(super) fn new(worker: u32, foldered: bool, renamed: bool) -> Self {
        let mut bytes = *b"d000000/f0000.0000000000\0";
        digits(&mut bytes[Self::FOLDER + 1..Self::FOLDER + 5], u64::from(worker));
        bytes[Self::FOLDER] = letter(renamed);
        Self { bytes, start: if foldered { 0 } else { Self::FOLDER } }
    }

    #[inline]
    pub(super) fn point(&mut self, folder: u64, file: u64) {
        if self.start == 0 {
            digits(&mut self.bytes[1..Self::FOLDER - 1], folder);
        }
        digits(&mut self.bytes[Self::FOLDER + 6..Self::FULL], file);
    }

    pub(super) fn rename(&mut self, renamed: bool) {
        self.bytes[Self::FOLDER] = letter(renamed);
    }

    #[inline]
    pub(super) fn path(&self) -> &CStr {
        CStr::from_bytes_with_nul(&self.bytes[self.start..]).unwrap_or(c".")
    }

    /// The file alone, without its folder.
    #[inline]
    pub(super) fn file(&self) -> &CStr {
        CStr::from_bytes_with_nul(&self.bytes[Self::FOLDER..]).unwrap_or(c".")
    }

    /// What all files of this worker begin with.
    pub(super) fn prefix(&self) -> [u8; 6] {
        let mut prefix = [0; 6];
        prefix.copy_from_slice(&self.bytes[Self::FOLDER..Self::FOLDER + 6]);
        prefix
    }
}

fn letter(renamed: bool) -> u8 {
    if renamed { b'r' } else { b'f' }
}

/// Writes a number over all of `into`, with leading zeros.
#[inline]
pub(super) fn digits(into: &mut [u8], mut number: u64) {
    for digit in into.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// The name of a subfolder.
pub fn folder_name(folder: u32) -> String {
    format!("d{folder:06}")
}

/// The number in the name of a file that begins so.
#[inline]
pub(super) fn number_in(name: &[u8], prefix: [u8; 6]) -> Option<u64> {
    let rest = name.strip_prefix(&prefix)?;
    let digit = |number: u64, byte: &u8| {
        byte.is_ascii_digit().then(|| number * 10 + u64::from(byte - b'0'))
    };
    if rest.len() == 10 { rest.iter().try_fold(0, digit) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_folder_worker_and_number() {
        let mut name = Name::new(12, true, false);
        name.point(345, 6_789_012_345);
        assert_eq!(name.path(), c"d000345/f0012.6789012345");
        assert_eq!(name.file(), c"f0012.6789012345");
        name.rename(true);
        assert_eq!(name.path(), c"d000345/r0012.6789012345");
        let mut name = Name::new(0, false, true);
        name.point(7, 8);
        assert_eq!(name.path(), c"r0000.0000000008");
        assert_eq!(number_in(b"r0000.0000000008", name.prefix()), Some(8));
        for other in [&b"f0000.0000000008"[..], b"r0001.0000000008", b"r0000.000000000x", b"anchor"]
        {
            assert_eq!(number_in(other, name.prefix()), None);
        }
        assert_eq!(folder_name(345), "d000345");
    }
}
