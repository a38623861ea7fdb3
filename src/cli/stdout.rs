//! What is written for somebody to read: a reader that went away is no failure, and whatever else keeps
//! the program from writing is a fault. Bytes of names that are no text are written as a shell takes them.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::error::{Doing, Error, Fault};
use crate::name;

/// A writer for which a reader that went away is no failure: what nobody reads is not written.
pub struct PipeWriter<'a> {
    inner: &'a mut dyn Write,
    /// The reader went away.
    pub gone: bool,
}

impl<'a> PipeWriter<'a> {
    /// One whose reader is there, as far as anybody knows.
    pub fn new(inner: &'a mut dyn Write) -> Self {
        Self { inner, gone: false }
    }

    /// Writes bytes as they are: output of another program.
    ///
    /// # Errors
    /// When they cannot be written, though somebody reads.
    pub fn write_raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        let outcome = self.inner.write_all(bytes);
        self.forgive(outcome, ())
    }

    /// The outcome, without the failure that is none; `nothing` stands for it.
    fn forgive<T>(&mut self, outcome: io::Result<T>, nothing: T) -> io::Result<T> {
        match outcome {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.gone = true;
                Ok(nothing)
            }
            outcome => outcome,
        }
    }
}

impl Write for PipeWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let outcome = match escaped(bytes) {
            Cow::Borrowed(bytes) => self.inner.write(bytes),
            Cow::Owned(other) => self.inner.write_all(&other).map(|()| bytes.len()),
        };
        self.forgive(outcome, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let outcome = self.inner.flush();
        self.forgive(outcome, ())
    }
}

/// Output with names as people see them; what is no text, and what has no such name, as it is.
pub(super) fn escaped(bytes: &[u8]) -> Cow<'_, [u8]> {
    match std::str::from_utf8(bytes).map(name::shown) {
        Ok(Cow::Owned(text)) => Cow::Owned(text.into_bytes()),
        _ => Cow::Borrowed(bytes),
    }
}

/// A failure to write the output, as a fault.
pub fn printed(outcome: io::Result<()>) -> Result<(), Error> {
    outcome.map_err(|error| Fault::new(Doing::Write, "standard output", &error).into())
}
