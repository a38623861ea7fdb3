//! What the files of a tree are called, written byte over byte into a buffer of their own.

use std::ffi::CStr;
use std::num::NonZero;

use crate::engine::random::mix;
use crate::sys::short_path::{ShortPath, nonzero};
use assay_plan::plan::Naming;

/// The path of a file below the root: `d000012/f0003.0000000456`, where names vary `d000012/f0000001c8ab`,
/// or `d000012/abf0000001c8` with letters first. It stands at the end of its bytes: the shorter it is,
/// the later it begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileName {
    path: ShortPath<{ Self::MOST }>,
    /// Files lie in subfolders.
    foldered: bool,
    /// The byte that tells whether it is renamed, and where that stands.
    mark: (NonZero<u8>, usize),
    /// Where the file begins, without its folder.
    file: usize,
    naming: Naming,
}

impl FileName {
    /// `d000000/`.
    const FOLDER: usize = 8;
    /// `f0000.`, before the number of a file where names are numbers.
    const WORKER: usize = 6;
    const DIGITS: usize = 10;
    /// Hexadecimal digits of the number, where names vary: `f` before them.
    const HEX: usize = 9;
    /// Letters beside them, at the most.
    const EXTRA: usize = 12;
    const MOST: usize = Self::FOLDER + 1 + Self::HEX + Self::EXTRA;

    pub(super) fn new(naming: Naming, worker: u32, foldered: bool, renamed: bool) -> Self {
        let mut bytes = nonzero([b'.'; Self::MOST]);
        let file = match naming {
            Naming::Numbers => Self::MOST - Self::DIGITS - Self::WORKER,
            Naming::Varied | Naming::LettersFirst => Self::MOST - Self::HEX - 1,
        };
        if naming == Naming::Numbers {
            digits::<10>(&mut bytes[file + 1..][..4], u64::from(worker));
        }
        let mark = (letter(renamed), file);
        let mut name = Self { path: ShortPath::new(bytes), foldered, mark, file, naming };
        name.rename(renamed);
        name.point(0, 0);
        name
    }

    #[inline(always)]
    pub(super) fn point(&mut self, folder: u64, file: u64) {
        const ALL: usize = FileName::MOST;
        let bytes = self.path.bytes();
        match self.naming {
            Naming::Numbers => digits::<10>(&mut bytes[ALL - Self::DIGITS..], file),
            Naming::Varied | Naming::LettersFirst => {
                let (extra, count) = letters(file);
                let number = match self.naming {
                    Naming::LettersFirst => ALL - Self::HEX,
                    _ => ALL - count - Self::HEX,
                };
                let letters = match self.naming {
                    Naming::LettersFirst => number - 1 - Self::EXTRA,
                    _ => ALL - Self::EXTRA,
                };
                // All letters, as copying a fixed number of bytes is one step. What is too much is
                // overwritten, or stands before the beginning.
                bytes[letters..][..Self::EXTRA].copy_from_slice(&extra);
                digits::<16>(&mut bytes[number..][..Self::HEX], file);
                self.mark.1 = number - 1;
                bytes[self.mark.1] = self.mark.0;
                self.file = ALL - count - Self::HEX - 1;
            }
        }
        if self.foldered {
            let at = self.file - Self::FOLDER;
            bytes[at..][..Self::FOLDER].copy_from_slice(&folder_path(folder));
        }
    }

    fn rename(&mut self, renamed: bool) {
        self.mark.0 = letter(renamed);
        self.path.bytes()[self.mark.1] = self.mark.0;
    }

    /// The other of its two names.
    pub(super) fn flip(&mut self) {
        self.rename(!self.renamed());
    }

    pub(super) fn renamed(&self) -> bool {
        self.mark.0 == letter(true)
    }

    #[inline]
    pub(super) fn path(&self) -> &CStr {
        self.path.from(if self.foldered { self.file - Self::FOLDER } else { self.file })
    }

    /// The file alone, without its folder.
    #[inline]
    pub(super) fn file(&self) -> &CStr {
        self.path.from(self.file)
    }

    /// The number of a file of this worker, by its name. `None`: another's file, or one that has the
    /// other of its two names.
    #[inline(always)]
    pub(super) fn number_in(&self, name: &[u8]) -> Option<u64> {
        let (mark, number) = match self.naming {
            Naming::Numbers => {
                let own = &self.file().to_bytes()[..Self::WORKER];
                let number = name.strip_prefix(own)?;
                return if number.len() == Self::DIGITS { parsed::<10>(number) } else { None };
            }
            Naming::Varied => name.get(..1 + Self::HEX)?,
            Naming::LettersFirst => name.get(name.len().checked_sub(1 + Self::HEX)?..)?,
        }
        .split_first()?;
        if *mark == self.mark.0.get() { parsed::<16>(number) } else { None }
    }
}

/// Writes a number over all of `into`, with leading zeros; a base up to 16.
#[inline]
fn digits<const BASE: u64>(into: &mut [NonZero<u8>], mut number: u64) {
    const DIGITS: [NonZero<u8>; 16] = nonzero(*b"0123456789abcdef");
    for digit in into.iter_mut().rev() {
        *digit = DIGITS[(number % BASE) as usize];
        number /= BASE;
    }
}

/// The number that is written so.
#[inline(always)]
fn parsed<const BASE: u32>(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0, |number, &byte| {
        Some(number * u64::from(BASE) + u64::from(char::from(byte).to_digit(BASE)?))
    })
}

/// Letters and digits that follow from a number, and how many of them its name has: any number of
/// them, with equal chance.
#[inline]
fn letters(number: u64) -> ([NonZero<u8>; FileName::EXTRA], usize) {
    const LETTERS: [NonZero<u8>; 32] = nonzero(*b"abcdefghijklmnopqrstuvwxyz012345");
    let chance = mix(number);
    // Five bits each, from below; how many follows from those above.
    let mut bits = chance;
    let letters = std::array::from_fn(|_| {
        let letter = LETTERS[(bits & 31) as usize];
        bits >>= 5;
        letter
    });
    (letters, ((u128::from(chance) * (FileName::EXTRA as u128 + 1)) >> 64) as usize)
}

const fn letter(renamed: bool) -> NonZero<u8> {
    const LETTERS: [NonZero<u8>; 2] = nonzero(*b"fr");
    LETTERS[renamed as usize]
}

/// A subfolder, with the `/` behind it.
#[inline]
fn folder_path(folder: u64) -> [NonZero<u8>; FileName::FOLDER] {
    let mut name = const { nonzero(*b"d000000/") };
    digits::<10>(&mut name[1..FileName::FOLDER - 1], folder);
    name
}

/// What opens a subfolder.
pub(super) fn folder(folder: u64) -> ShortPath<{ FileName::FOLDER }> {
    ShortPath::new(folder_path(folder))
}

/// The name of a subfolder.
pub fn folder_name(folder: u32) -> String {
    format!("d{folder:06}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_folder_worker_and_number() {
        let mut name = FileName::new(Naming::Numbers, 12, true, false);
        name.point(345, 6_789_012_345);
        assert_eq!(name.path(), c"d000345/f0012.6789012345");
        assert_eq!(name.file(), c"f0012.6789012345");
        name.rename(true);
        assert_eq!(name.path(), c"d000345/r0012.6789012345");
        let mut name = FileName::new(Naming::Numbers, 0, false, true);
        name.point(7, 8);
        assert_eq!(name.path(), c"r0000.0000000008");
        assert_eq!(name.number_in(b"r0000.0000000008"), Some(8));
        let others = [
            &b"f0000.0000000008"[..],
            b"r0001.0000000008",
            b"r0000.000000000x",
            b"r0000.00000000081",
            b"r0000.",
            b"anchor",
        ];
        for other in others {
            assert_eq!(name.number_in(other), None);
        }
        assert_eq!(folder_name(345), "d000345");
    }

    #[test]
    fn varied_names_are_as_long_as_those_of_bonnie() {
        for naming in [Naming::Varied, Naming::LettersFirst] {
            let mut name = FileName::new(naming, 0, true, false);
            let mut lengths = [0_u32; 13];
            for number in 0..13_000 {
                name.point(9, number);
                let mut other = name;
                other.rename(true);
                let (file, other) = (name.file().to_bytes(), other.file().to_bytes());
                let extra = file.len() - 10;
                let (letters, rest) = match naming {
                    Naming::LettersFirst => file.split_at(extra),
                    _ => (&file[10..], &file[..10]),
                };
                assert_eq!(rest, format!("f{number:09x}").as_bytes(), "{name:?}");
                assert!(letters.iter().all(u8::is_ascii_alphanumeric), "{name:?}");
                assert_eq!(name.path().to_bytes(), [b"d000009/", file].concat());
                assert_eq!(name.number_in(file), Some(number));
                assert_eq!((other.len(), name.number_in(other)), (file.len(), None), "{name:?}");
                lengths[extra] += 1;
            }
            // Each is expected a thousand times; five standard deviations are 152.
            assert!(lengths.iter().all(|seen| (848..=1152).contains(seen)), "{lengths:?}");
            name.point(0, (1 << 31) - 1);
            assert_eq!(name.number_in(name.file().to_bytes()), Some((1 << 31) - 1));
            for other in [&b"r000000001"[..], b"f00000001", b"f00000000g", b"anchor"] {
                assert_eq!(name.number_in(other), None);
            }
        }
    }
}
