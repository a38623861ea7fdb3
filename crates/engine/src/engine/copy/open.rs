//! Opening the two ends of a copy, the way dd does it: input first, then output.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, SeekFrom};

use crate::sys::start;
use assay_plan::error::{Doing, Fault};
use assay_plan::name::NameText as _;
use assay_plan::plan;

/// What standard input is called where a path is wanted.
const STANDARD_INPUT: &str = "standard input";
/// What standard output is called where a path is wanted.
const STANDARD_OUTPUT: &str = "standard output";

/// Both ends of a copy, open.
#[derive(Debug)]
pub struct OpenEnds {
    pub(super) input: OwnedFd,
    pub(super) output: OwnedFd,
    pub(super) input_name: String,
    pub(super) output_name: String,
    /// Where the input stands, or why that cannot be said.
    pub(super) input_place: Result<u64, i32>,
    /// Which of them, input and output, were closed when the program was started.
    pub(super) closed: [bool; 2],
}

impl OpenEnds {
    /// The input, to look at.
    pub fn input(&self) -> BorrowedFd<'_> {
        self.input.as_fd()
    }

    /// The output, to look at.
    pub fn output(&self) -> BorrowedFd<'_> {
        self.output.as_fd()
    }
}

/// Opens the input, then the output, and cuts the output to where the copy will begin.
///
/// # Errors
/// A fault `doing`: `open`, `set flags` (of a standard stream), or `reach` (the output would have
/// to be longer than files can be).
pub fn open(copy: &plan::CopyWork) -> Result<OpenEnds, Fault> {
    let (input, input_name) = open_input(&copy.from)?;
    let input_place = match rustix::fs::seek(&input, SeekFrom::Current(0)) {
        Ok(place) => Ok(place),
        Err(errno) => Err(errno.raw_os_error()),
    };
    let (output, output_name) = open_output(copy)?;
    let closed = [
        copy.from.path.is_none() && start::was_closed(0),
        copy.to.path.is_none() && start::was_closed(1),
    ];
    Ok(OpenEnds { input, output, input_name, output_name, input_place, closed })
}

fn name(path: Option<&Path>, standard: &str) -> String {
    path.map_or_else(|| standard.to_string(), |path| path.to_text())
}

fn open_input(from: &plan::CopyInput) -> Result<(OwnedFd, String), Fault> {
    let name = name(from.path.as_deref(), STANDARD_INPUT);
    let flags = open_flags(from.flags);
    let fd = match &from.path {
        None => standard((0, io::stdin().as_fd()), flags, &name)?,
        Some(path) => reopen(path, OFlags::RDONLY | flags, &name)?,
    };
    Ok((fd, name))
}

fn open_output(copy: &plan::CopyWork) -> Result<(OwnedFd, String), Fault> {
    let to = &copy.to;
    let name = name(to.path.as_deref(), STANDARD_OUTPUT);
    let mut flags = open_flags(to.flags);
    let Some(path) = &to.path else {
        return Ok((standard((1, io::stdout().as_fd()), flags, &name)?, name));
    };
    // Bytes beyond whole blocks do not count here, as in GNU dd: a seek of less than a block
    // empties the file.
    let keeps_head = copy.seek.blocks != 0 || (to.flags.seek_bytes && copy.seek.bytes.0 != 0);
    flags.set(OFlags::CREATE, !to.no_create);
    flags.set(OFlags::EXCL, to.exclusive);
    flags.set(OFlags::TRUNC, !keeps_head && !to.no_truncate);
    let length = copy
        .seek
        .blocks
        .checked_mul(copy.output_block.0)
        .and_then(|bytes| bytes.checked_add(copy.seek.bytes.0))
        .filter(|&bytes| i64::try_from(bytes).is_ok());
    let length = match length {
        Some(length) => length,
        None if to.no_truncate => 0,
        None => {
            let error = io::Error::from_raw_os_error(libc::EOVERFLOW);
            return Err(Fault::new(Doing::Reach, name, &error));
        }
    };
    // Readable too where the place may have to be reached by reading.
    let fd = if keeps_head {
        reopen(path, OFlags::RDWR | flags, &name)
            .or_else(|_| reopen(path, OFlags::WRONLY | flags, &name))?
    } else {
        reopen(path, OFlags::WRONLY | flags, &name)?
    };
    if keeps_head
        && !to.no_truncate
        && let Err(errno) = rustix::fs::ftruncate(&fd, length)
    {
        // What the file then holds before that place is unknown: GNU dd before 9.10 went on.
        let stat = rustix::fs::fstat(&fd)
            .map_err(|errno| Fault::new(Doing::Stat, name.as_str(), &errno.into()))?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        // Only where cutting has a meaning is it a failure that it did not happen.
        if matches!(kind, FileType::RegularFile | FileType::Directory) {
            return Err(Fault::new(Doing::Truncate, name, &errno.into()).at(length));
        }
    }
    Ok((fd, name))
}

fn reopen(path: &Path, flags: OFlags, name: &str) -> Result<OwnedFd, Fault> {
    loop {
        match rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::from_raw_mode(0o666)) {
            Ok(fd) => return Ok(fd),
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(Fault::new(Doing::Open, name, &errno.into())),
        }
    }
}

/// A standard stream under a number of our own, with `flags` set on it.
fn standard(
    (stream, fd): (u8, BorrowedFd<'_>),
    flags: OFlags,
    name: &str,
) -> Result<OwnedFd, Fault> {
    let fault = |error: io::Error| Fault::new(Doing::SetFlags, name, &error);
    let asked = flags.difference(OFlags::NOCTTY | OFlags::NOFOLLOW);
    if start::was_closed(stream) {
        // What the runtime has opened in its place is nobody's input or output.
        return match asked.is_empty() {
            true => start::stand_in().map_err(fault),
            false => Err(fault(io::Error::from_raw_os_error(libc::EBADF))),
        };
    }
    let fd = fd.try_clone_to_owned().map_err(fault)?;
    if asked.is_empty() {
        return Ok(fd);
    }
    let old = rustix::fs::fcntl_getfl(&fd).map_err(|errno| fault(errno.into()))?;
    let new = old | asked;
    if new == old {
        return Ok(fd);
    }
    if asked.contains(OFlags::DIRECTORY) {
        let file = File::from(fd);
        if !file.metadata().map_err(fault)?.is_dir() {
            return Err(fault(io::Error::from_raw_os_error(libc::ENOTDIR)));
        }
        let fd = OwnedFd::from(file);
        set_flags(&fd, new.difference(OFlags::DIRECTORY)).map_err(fault)?;
        return Ok(fd);
    }
    set_flags(&fd, new).map_err(fault)?;
    Ok(fd)
}

fn set_flags(fd: &OwnedFd, flags: OFlags) -> io::Result<()> {
    Ok(rustix::fs::fcntl_setfl(fd, flags)?)
}

fn open_flags(flags: plan::EndFlags) -> OFlags {
    let mut open = OFlags::empty();
    open.set(OFlags::APPEND, flags.append);
    open.set(OFlags::DIRECT, flags.direct);
    open.set(OFlags::DIRECTORY, flags.directory);
    open.set(OFlags::DSYNC, flags.dsync);
    open.set(OFlags::NONBLOCK, flags.nonblock);
    open.set(OFlags::NOATIME, flags.noatime);
    open.set(OFlags::NOCTTY, flags.noctty);
    open.set(OFlags::NOFOLLOW, flags.nofollow);
    if flags.sync {
        open |= OFlags::SYNC;
    }
    open
}
