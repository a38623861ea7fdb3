//! `splice` between a file and a pipe, and `vmsplice` between the pipe and memory: one I/O at a time.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::pipe::{PipeFlags, SpliceFlags, pipe_with, splice};

use crate::sys::pipe_buffer::{lend_to_pipe, take_from_pipe};

use super::sync_backend::{SyncCalls, flush_files};
use super::{FlushKind, IoRequest, WorkerFiles};

/// What a pipe holds, unless it is told otherwise.
const ROOM: usize = 64 << 10;

/// One I/O at a time through a pipe.
pub(crate) struct SplicedCalls {
    files: WorkerFiles,
    end: OwnedFd,
    mouth: OwnedFd,
}

impl SplicedCalls {
    /// With a pipe of its own.
    pub(crate) fn new(files: WorkerFiles) -> io::Result<Self> {
        let (end, mouth) = pipe_with(PipeFlags::CLOEXEC)?;
        Ok(Self { files, end, mouth })
    }

    fn read(&self, buffer: &mut [u8], io: IoRequest) -> io::Result<usize> {
        let (file, mut offset, mut moved) = (&self.files[io.file as usize], io.offset, 0);
        while moved < buffer.len() {
            let want = (buffer.len() - moved).min(ROOM);
            let (mouth, flags) = (self.mouth.as_fd(), SpliceFlags::empty());
            let mut held = splice(file, Some(&mut offset), mouth, None, want, flags)?;
            if held == 0 {
                break;
            }
            while held > 0 {
                let taken = take_from_pipe(self.end.as_fd(), &mut buffer[moved..moved + held])?;
                moved += taken;
                held -= taken;
            }
        }
        Ok(moved)
    }

    fn write(&self, buffer: &[u8], io: IoRequest) -> io::Result<usize> {
        let (file, mut offset, mut moved) = (&self.files[io.file as usize], io.offset, 0);
        while moved < buffer.len() {
            let most = buffer.len().min(moved + ROOM);
            let mut held = lend_to_pipe(self.mouth.as_fd(), &buffer[moved..most])?;
            while held > 0 {
                let (end, flags) = (self.end.as_fd(), SpliceFlags::empty());
                let taken = splice(end, None, file, Some(&mut offset), held, flags)?;
                moved += taken;
                held -= taken;
            }
        }
        Ok(moved)
    }
}

impl SyncCalls for SplicedCalls {
    fn transfer(&mut self, buffer: &mut [u8], io: IoRequest) -> io::Result<usize> {
        let done = match io.sends() {
            true => self.write(buffer, io),
            false => self.read(buffer, io),
        };
        if done.is_err() {
            // What is left in the pipe is of no other I/O.
            (self.end, self.mouth) = pipe_with(PipeFlags::CLOEXEC)?;
        }
        done
    }

    fn flush(&mut self, how: FlushKind) -> io::Result<()> {
        flush_files(&self.files, how)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt as _;
    use std::sync::Arc;

    use super::*;
    use crate::engine::IoOp;

    #[test]
    fn what_went_through_the_pipe_is_there_and_comes_back() {
        let file = tempfile::tempfile().unwrap();
        let mut calls =
            SplicedCalls::new(Arc::new(vec![file.try_clone().unwrap().into()])).unwrap();
        // More than the pipe holds, and no whole number of pages.
        let mut data: Vec<u8> = (0..200_001_u32).map(|byte| (byte % 251) as u8).collect();
        let len = data.len() as u32;
        let io = |op| IoRequest { op, file: 0, offset: 4097, len };
        assert_eq!(calls.transfer(&mut data, io(IoOp::Write)).unwrap(), data.len());
        let mut there = vec![0; data.len()];
        file.read_exact_at(&mut there, 4097).unwrap();
        assert!(there == data);
        let mut back = vec![0; data.len() + 99];
        assert_eq!(calls.transfer(&mut back, io(IoOp::Read)).unwrap(), data.len());
        assert!(back[..data.len()] == data);
        calls.flush(FlushKind::Fdatasync).unwrap();
    }
}
