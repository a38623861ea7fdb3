//! The C library's own streams: `putc`, `getc`, `fread`, `fwrite` and `setvbuf`.
//!
//! # Safety
//! A [`Stream`] owns its `FILE` and the buffer that `setvbuf` gave to it; `fclose` comes first, and
//! then the buffer goes. `&mut self` keeps other threads away, which is what the unlocked calls
//! ask for.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::ptr::NonNull;

use super::buffer::Buffer;
use super::close::{CloseListener, HeardFile};

unsafe extern "C" {
    fn putc_unlocked(byte: libc::c_int, stream: *mut libc::FILE) -> libc::c_int;
    fn getc_unlocked(stream: *mut libc::FILE) -> libc::c_int;
    fn fread_unlocked(
        to: *mut libc::c_void,
        size: libc::size_t,
        count: libc::size_t,
        stream: *mut libc::FILE,
    ) -> libc::size_t;
    fn fwrite_unlocked(
        from: *const libc::c_void,
        size: libc::size_t,
        count: libc::size_t,
        stream: *mut libc::FILE,
    ) -> libc::size_t;
    fn clearerr(stream: *mut libc::FILE);
}

/// The name of the C library that this program was built with: the calls are its own.
pub const LIBRARY: &str = if cfg!(target_env = "musl") {
    "musl"
} else if cfg!(target_env = "gnu") {
    "glibc"
} else {
    "the C library"
};

/// The least size of a page of memory, bytes.
const PAGE: usize = 4096;

/// musl keeps so many bytes of a buffer for `ungetc` (its `UNGET`).
const KEPT: usize = if cfg!(target_env = "musl") { 8 } else { 0 };

/// A stream on a file, with a buffer of a stated size.
#[derive(Debug)]
pub struct Stream {
    stream: NonNull<libc::FILE>,
    /// Hears what closing it answers.
    listener: CloseListener,
    // Known to the stream until it is closed.
    _buffer: Buffer,
}

// SAFETY: streams are not tied to a thread, and nobody else knows this one.
unsafe impl Send for Stream {}

impl Stream {
    /// A stream on a description of its own (its place is moved), for reading, or for both.
    ///
    /// # Errors
    /// EINVAL when the file is not open for that; ENOMEM.
    pub fn new(file: HeardFile, buffer: usize, writes: bool) -> io::Result<Self> {
        let mode = if writes { c"r+" } else { c"r" };
        // SAFETY: the mode is a C string; the descriptor is open, and given up below.
        let stream = unsafe { libc::fdopen(file.as_raw_fd(), mode.as_ptr()) };
        let stream = NonNull::new(stream).ok_or_else(io::Error::last_os_error)?;
        // From here on the stream closes it.
        let Some((fd, listener)) = file.into_parts() else { unreachable!("it is open") };
        let _ = fd.into_raw_fd();
        let mut memory = Buffer::reused((buffer + KEPT).max(1))?;
        // Its pages are there before the first record is timed.
        memory.iter_mut().step_by(PAGE).for_each(|byte| *byte = 0);
        // SAFETY: nothing was read or written yet; the buffer is given back after `fclose`.
        let answer = unsafe {
            libc::setvbuf(stream.as_ptr(), memory.as_mut_ptr().cast(), libc::_IOFBF, memory.len())
        };
        let this = Self { stream, listener, _buffer: memory };
        if answer == 0 { Ok(this) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    /// `putc` of every byte, up to the first that fails.
    ///
    /// # Errors
    /// What writing the buffer out met, of these or of earlier bytes.
    pub fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        let stream = self.stream.as_ptr();
        for &byte in bytes {
            // SAFETY: the stream is open and only ours.
            if unsafe { putc_unlocked(libc::c_int::from(byte), stream) } < 0 {
                return Err(self.error());
            }
        }
        Ok(())
    }

    /// `getc` for every byte, up to the end of the file; how many there were.
    ///
    /// # Errors
    /// What reading into the buffer met.
    pub fn get(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let stream = self.stream.as_ptr();
        for (count, byte) in bytes.iter_mut().enumerate() {
            // SAFETY: the stream is open and only ours.
            let answer = unsafe { getc_unlocked(stream) };
            if answer < 0 {
                return self.ended(count);
            }
            *byte = answer as u8;
        }
        Ok(bytes.len())
    }

    /// `fwrite` of one record.
    ///
    /// # Errors
    /// What writing the buffer out met, of this or of earlier records.
    #[inline(always)]
    pub fn write(&mut self, record: &[u8]) -> io::Result<()> {
        // SAFETY: the stream is open and only ours; the record is readable for its length.
        let written = unsafe {
            fwrite_unlocked(record.as_ptr().cast(), 1, record.len(), self.stream.as_ptr())
        };
        if written == record.len() { Ok(()) } else { Err(self.error()) }
    }

    /// `fread` of one record, less at the end of the file; how many bytes there were.
    ///
    /// # Errors
    /// What reading met.
    #[inline(always)]
    pub fn read(&mut self, record: &mut [u8]) -> io::Result<usize> {
        // SAFETY: the stream is open and only ours; the record is writable for its length.
        let count = unsafe {
            fread_unlocked(record.as_mut_ptr().cast(), 1, record.len(), self.stream.as_ptr())
        };
        if count == record.len() { Ok(count) } else { self.ended(count) }
    }

    /// `fseeko` to a place from the beginning; writes out what the buffer holds.
    ///
    /// # Errors
    /// What writing the buffer out met; EINVAL, ESPIPE.
    pub fn seek(&mut self, place: u64) -> io::Result<()> {
        // `off_t` of glibc has 32 bits on 32-bit machines.
        let place = libc::off64_t::try_from(place).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: the stream is open and only ours.
        let answer = unsafe { libc::fseeko64(self.stream.as_ptr(), place, libc::SEEK_SET) };
        if answer == 0 { Ok(()) } else { Err(self.error()) }
    }

    /// `fflush`: hands what the buffer holds to the kernel.
    ///
    /// # Errors
    /// What writing it met.
    pub fn flush(&mut self) -> io::Result<()> {
        // SAFETY: the stream is open and only ours.
        let answer = unsafe { libc::fflush(self.stream.as_ptr()) };
        if answer == 0 { Ok(()) } else { Err(self.error()) }
    }

    /// The end of the file after `count` bytes, or an error.
    fn ended(&mut self, count: usize) -> io::Result<usize> {
        let error = io::Error::last_os_error();
        // SAFETY: the stream is open and only ours.
        let failed = unsafe { libc::ferror(self.stream.as_ptr()) } != 0;
        // SAFETY: as above.
        unsafe { clearerr(self.stream.as_ptr()) };
        if failed { Err(error) } else { Ok(count) }
    }

    /// The error that was just met; the stream may be used again.
    fn error(&mut self) -> io::Error {
        let error = io::Error::last_os_error();
        // SAFETY: the stream is open and only ours.
        unsafe { clearerr(self.stream.as_ptr()) };
        error
    }
}

impl Drop for Stream {
    /// What is still in the buffer is written; who wants to know where an error belongs flushes before.
    fn drop(&mut self) {
        // SAFETY: opened in `new`, closed only here; the buffer is dropped after.
        let answer = match unsafe { libc::fclose(self.stream.as_ptr()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        };
        self.listener.hear(answer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(path: &std::path::Path) -> HeardFile {
        let file = std::fs::File::options().read(true).write(true).open(path).unwrap();
        std::os::fd::OwnedFd::from(file).into()
    }

    #[test]
    fn bytes_and_records_go_through_a_buffer_of_that_size() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut stream = Stream::new(open(file.path()), 1000, true).unwrap();
        stream.put(&[1; 1000]).unwrap();
        // Held back: not one byte more than fits.
        assert_eq!(file.as_file().metadata().unwrap().len(), 0);
        stream.put(&[2]).unwrap();
        assert_eq!(file.as_file().metadata().unwrap().len(), 1000);
        stream.write(&[2; 499]).unwrap();
        stream.flush().unwrap();
        assert_eq!(std::fs::read(file.path()).unwrap(), [[1; 500], [1; 500], [2; 500]].concat());
        stream.seek(750).unwrap();
        let mut back = [0; 1000];
        assert_eq!(stream.get(&mut back[..500]).unwrap(), 500);
        assert_eq!(stream.read(&mut back[500..]).unwrap(), 250);
        assert_eq!(back[..750], *[[1; 250].as_slice(), &[2; 500]].concat());
        assert_eq!(stream.get(&mut back).unwrap(), 0);
    }

    #[test]
    fn a_full_device_is_heard_of() {
        let full = std::fs::File::options().write(true).read(true).open("/dev/full").unwrap();
        let mut stream = Stream::new(std::os::fd::OwnedFd::from(full).into(), 4096, true).unwrap();
        stream.put(&[1; 4096]).unwrap();
        let error = stream.flush().unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOSPC));
    }
}
