//! The C library's streams: a buffer in user space, and one call of the library for each byte or
//! record.
//!
//! Tools that measure this (Bonnie++'s per-character columns before 1.96, IOzone's `fwrite` and
//! `fread`) measure the C library: a loop around `putc` is bound by the processor, at a few
//! nanoseconds for a byte. A buffer of our own would measure our own code, and be faster than
//! any library. So these backends call the library's functions, on a `FILE` with the buffer that
//! the plan states, and the run notes which library that was; it differs (musl hands a large
//! record to the kernel together with its buffer, glibc fills the buffer first).
//!
//! The calls are those without a lock, such as `putc_unlocked`. In a program with one thread, as those
//! tools are, the plain calls take none either (glibc asks `SINGLE_THREAD_P`, musl a flag of the stream);
//! in this one, which has several, they would, and cost twice as much. They are called, not
//! inlined as C macros may be: in those tools too, `putc` and `getc` are functions of the library.
//!
//! The buffer holds writes back: an error may be heard by a later one, and what is left at the end
//! is written inside the timing, as by `fclose`.

use std::io;
use std::os::fd::AsFd;

use rustix::fs::OFlags;

use crate::sys::stdio::Stream;

use super::sync::own_descriptions;
use super::sync_backend::{SyncCalls, flush_files};
use super::{FlushKind, IoOp, IoRequest, WorkerFiles};

/// One byte or record at a time through the library's buffer.
pub(crate) struct BufferedStdio {
    files: WorkerFiles,
    open: Vec<OpenStream>,
    bytewise: bool,
}

/// A stream, and where it stands.
struct OpenStream {
    stream: Stream,
    /// Not known after an error.
    place: Option<u64>,
    /// C asks for a seek between a write and a read.
    last: Option<IoOp>,
}

impl BufferedStdio {
    pub(crate) fn new(files: WorkerFiles, buffer: u32, bytewise: bool) -> io::Result<Self> {
        let open = own_descriptions(&files)?
            .into_iter()
            .map(|file| {
                let access = rustix::fs::fcntl_getfl(file.as_fd())? & OFlags::ACCMODE;
                let stream = Stream::new(file, buffer as usize, access == OFlags::RDWR)?;
                Ok(OpenStream { stream, place: Some(0), last: None })
            })
            .collect::<io::Result<_>>()?;
        Ok(Self { files, open, bytewise })
    }
}

impl SyncCalls for BufferedStdio {
    /// Part of the loop, as [`IoBackend::push`](super::IoBackend::push) of these calls is, and why.
    #[inline(always)]
    fn transfer(&mut self, buffer: &mut [u8], io: IoRequest) -> io::Result<usize> {
        let open = &mut self.open[io.file as usize];
        let turned = open.last.is_some_and(|last| last != io.op);
        if open.place.take() != Some(io.offset) || turned {
            open.stream.seek(io.offset)?;
        }
        let moved = match (io.sends(), self.bytewise) {
            (false, false) => open.stream.read(buffer)?,
            (false, true) => open.stream.get(buffer)?,
            (true, false) => {
                open.stream.write(buffer)?;
                buffer.len()
            }
            (true, true) => {
                open.stream.put(buffer)?;
                buffer.len()
            }
        };
        open.last = Some(io.op);
        open.place = Some(io.offset + moved as u64);
        Ok(moved)
    }

    fn flush(&mut self, how: FlushKind) -> io::Result<()> {
        self.hand_over()?;
        flush_files(&self.files, how)
    }

    fn holds_back(&self) -> bool {
        true
    }

    fn hand_over(&mut self) -> io::Result<()> {
        self.open.iter_mut().try_for_each(|open| open.stream.flush())
    }
}
