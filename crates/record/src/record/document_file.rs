//! How a document that somebody gives is read, of whatever kind: a record, a plan, a file of jobs, a log. All of them
//! by one reader, which reads regular files and the pipes that this program was started with, and no more of them than
//! is told: no device is opened, nobody waits for a pipe into which nobody writes, and memory does not fill up.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read, Seek as _, SeekFrom};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{Mode, OFlags};

use assay_engine::output::is_terminal;
use assay_plan::unit::Bytes;

/// What a document may come to where nothing else is told.
pub const USUAL: Bytes = Bytes(64 << 20);

/// The variable that tells it.
pub const VARIABLE: &str = "ASSAY_LARGEST_DOCUMENT";

static LARGEST: AtomicU64 = AtomicU64::new(USUAL.0);

/// From now on documents may be so large.
pub fn allow(largest: Bytes) {
    LARGEST.store(largest.0, Ordering::Relaxed);
}

/// What a document may come to.
pub fn largest() -> Bytes {
    Bytes(LARGEST.load(Ordering::Relaxed))
}

/// The bytes of a document.
///
/// # Errors
/// When it cannot be read; of the kind `IsADirectory` of a folder, `InvalidInput` of what is no regular file, and
/// `FileTooLarge` of what is larger than [`largest`], with what can be done.
pub fn bytes_of(path: &Path) -> io::Result<Vec<u8>> {
    let (file, opened) = opened(path)?;
    if opened.len() > largest().0 {
        return Err(too_large());
    }
    if !opened.is_file() {
        // Who writes into a pipe may need a while.
        rustix::fs::fcntl_setfl(&file, OFlags::empty())?;
    }
    all_of(file, opened.len())
}

/// Opens a document, and says what it is.
fn opened(path: &Path) -> io::Result<(File, Metadata)> {
    // Looked at first: to open a device, or a pipe into which nobody writes, does something or nothing for ever.
    readable(&std::fs::metadata(path)?)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let opened = file.metadata()?;
    readable(&opened)?;
    Ok((file, opened))
}

/// The beginning and the end of a regular file, 8 KiB of each, as text.
///
/// # Errors
/// As [`bytes_of`].
pub fn ends_of(path: &Path) -> io::Result<(String, String)> {
    const END: u64 = 8192;
    let (mut file, opened) = opened(path)?;
    let mut from = |at| {
        file.seek(SeekFrom::Start(at))?;
        let mut bytes = Vec::new();
        Read::by_ref(&mut file).take(END).read_to_end(&mut bytes)?;
        Ok::<_, io::Error>(String::from_utf8_lossy(&bytes).into_owned())
    };
    Ok((from(0)?, from(opened.len().saturating_sub(END))?))
}

/// What comes from an open file or a pipe, to its end.
///
/// # Errors
/// As [`bytes_of`].
pub fn all_of(from: impl Read, expected: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or_default());
    from.take(largest().0.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > largest().0 {
        return Err(too_large());
    }
    Ok(bytes)
}

/// What comes from standard input, to its end.
///
/// # Errors
/// As [`bytes_of`].
pub fn all_of_input() -> io::Result<Vec<u8>> {
    all_of(io::stdin().lock(), 0)
}

/// Why it is not read.
pub(super) fn too_large() -> io::Error {
    let why = format!(
        "larger than {}, which is enough for a document; {VARIABLE}=1G in the environment allows more",
        largest()
    );
    io::Error::new(ErrorKind::FileTooLarge, why)
}

/// Refuses what is neither a regular file nor a pipe or terminal that this program has been started with.
fn readable(found: &Metadata) -> io::Result<()> {
    let kind = found.file_type();
    if kind.is_dir() {
        return Err(rustix::io::Errno::ISDIR.into());
    }
    let handed_down = kind.is_fifo() || kind.is_char_device() && is_terminal(found.rdev());
    if kind.is_file() || handed_down && is_ours(found) {
        return Ok(());
    }
    Err(io::Error::new(ErrorKind::InvalidInput, "no regular file"))
}

/// Whether it is what one of our own descriptors leads to: `/dev/stdin`, `/dev/fd/63`.
fn is_ours(found: &Metadata) -> bool {
    let same = |of: &Metadata| (of.dev(), of.ino()) == (found.dev(), found.ino());
    let descriptors = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let mut leads = descriptors.filter_map(|entry| std::fs::metadata(entry.path()).ok());
    leads.any(|of| same(&of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_an_end_is_read() {
        let desk = tempfile::tempdir().expect("a desk");
        let at = |name: &str| desk.path().join(name);
        std::fs::write(at("file"), "words").expect("written");
        std::os::unix::fs::symlink(at("file"), at("link")).expect("linked");
        std::os::unix::fs::symlink("/dev/zero", at("zero")).expect("linked");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            at("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .expect("a pipe");
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).expect("a socket");
        for name in ["file", "link"] {
            assert_eq!(bytes_of(&at(name)).expect(name), b"words");
        }
        for name in ["zero", "pipe", "socket"] {
            let refused = bytes_of(&at(name)).expect_err(name);
            assert_eq!(refused.kind(), ErrorKind::InvalidInput, "{name}: {refused}");
        }
        for (path, kind) in [
            (desk.path(), ErrorKind::IsADirectory),
            (&at("nothing"), ErrorKind::NotFound),
            (Path::new("/dev/null"), ErrorKind::InvalidInput),
        ] {
            assert_eq!(bytes_of(path).expect_err("none").kind(), kind, "{path:?}");
        }
        // Of a hole of a terabyte nothing is read.
        File::create(at("huge")).and_then(|file| file.set_len(1 << 40)).expect("a hole");
        assert_eq!(bytes_of(&at("huge")).expect_err("too large").kind(), ErrorKind::FileTooLarge);
        assert_eq!(
            all_of(io::repeat(0), 0).expect_err("no end").to_string(),
            "larger than 64 MiB, which is enough for a document; ASSAY_LARGEST_DOCUMENT=1G in the environment \
             allows more"
        );
    }

    #[test]
    fn a_pipe_of_ours_is_read() {
        let (read, write) = rustix::pipe::pipe().expect("a pipe");
        rustix::io::write(&write, b"words").expect("written");
        drop(write);
        use std::os::fd::AsRawFd as _;
        let path = format!("/dev/fd/{}", read.as_raw_fd());
        assert_eq!(bytes_of(Path::new(&path)).expect("read"), b"words");
    }
}
