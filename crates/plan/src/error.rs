//! The two ways in which things go wrong: the words are wrong, or the world said no.
//!
//! Where assay itself would be wrong it asserts, and panics with a source line.

mod level;
mod piece;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use level::MissedLevel;
pub use piece::{HeaderField, PieceMismatch, PiecePart};

/// The words cannot become a plan, or the plan not a run; nothing was touched. Exit status 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Where the words stand: an operand, `plan.json`, or `job.fio:12:7`. May be empty.
    pub place: String,
    /// What is wrong, with the offending word in it.
    pub why: String,
    /// What to write instead. May be empty.
    pub instead: String,
}

impl Refusal {
    /// A refusal that needs no place: the word is part of `why`.
    pub fn new(why: impl Into<String>, instead: impl Into<String>) -> Self {
        Self { place: String::new(), why: why.into(), instead: instead.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.why)?;
        if !self.instead.is_empty() {
            write!(f, "; {}", self.instead)?;
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}

/// What was being done when the world said no. It is written down as the word for it.
macro_rules! doings {
    ($($name:ident = $word:literal,)*) => {
        /// What was being done when the world said no.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum Doing {
            $(#[doc = concat!("`", $word, "`")] #[serde(rename = $word)] $name,)*
            /// Something that an earlier or later version calls by another word.
            #[serde(other, rename = "work on")]
            Other,
        }

        impl Doing {
            /// All that this version knows.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The word for it, as a verb.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                    Self::Other => "work on",
                }
            }
        }
    };
}

doings! {
    Open = "open",
    Read = "read",
    Write = "write",
    Trim = "trim",
    Create = "create",
    Remove = "remove",
    Rename = "rename",
    List = "list",
    Allocate = "allocate",
    Truncate = "truncate",
    Stat = "stat",
    Fsync = "fsync",
    Fdatasync = "fdatasync",
    Syncfs = "syncfs",
    SyncFileRange = "sync_file_range",
    Flush = "flush",
    Close = "close",
    Verify = "verify",
    Drop = "drop",
    DropFromCache = "drop from the cache",
    Wait = "wait for",
    Prepare = "prepare",
    MakeQueue = "make a queue for",
    Reach = "reach",
    SetFlags = "set flags",
    Skip = "skip in",
    Seek = "seek in",
    WriteTo = "write to",
    TurnOffDirect = "turn off O_DIRECT",
    CloseInput = "close input",
    CloseOutput = "close output",
    FindMemory = "find memory for",
    Swab = "swap the bytes of",
    Find = "find",
    Look = "look at",
    Make = "make",
    Join = "join",
    Size = "size",
    Statvfs = "statvfs",
    Statfs = "statfs",
    Start = "start",
    Raise = "raise",
    Begin = "begin",
    Finish = "finish",
    Watch = "watch",
    Use = "use",
    Map = "map",
    Poll = "poll",
    Lock = "lock",
    Unmount = "unmount",
    Mount = "mount",
    Keep = "keep the rate of",
}

impl Doing {
    /// The call by which it is done.
    pub const fn call(self) -> &'static str {
        match self {
            Self::Open | Self::Create => "open()",
            Self::Read => "read()",
            Self::Write | Self::WriteTo => "write()",
            Self::Trim | Self::Allocate => "fallocate()",
            Self::Remove => "unlink()",
            Self::Rename => "rename()",
            Self::Truncate | Self::Reach => "ftruncate()",
            Self::Stat => "stat()",
            Self::Fsync => "fsync()",
            Self::Fdatasync => "fdatasync()",
            Self::Syncfs => "syncfs()",
            Self::SyncFileRange => "sync_file_range()",
            Self::Close | Self::CloseInput | Self::CloseOutput => "close()",
            Self::DropFromCache => "posix_fadvise()",
            Self::SetFlags | Self::TurnOffDirect => "fcntl()",
            Self::Skip | Self::Seek => "lseek()",
            Self::FindMemory | Self::Map => "mmap()",
            Self::Statvfs => "statvfs()",
            Self::Statfs => "statfs()",
            _ => "the kernel's answer",
        }
    }
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The world said no: an operation on a path failed. The record so far is kept. Exit status 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fault {
    /// What was being done, as a verb: `write`, `open`, `fsync`.
    pub doing: Doing,
    /// To what: a path, or what stands for one (`standard output`).
    pub path: String,
    /// Where in it, in bytes, for reads and writes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub offset: Option<u64>,
    /// How many bytes the call was for, where it moved them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bytes: Option<u64>,
    /// The kernel's answer as a number (`errno`); zero when it was not the kernel (a short file).
    pub errno: i32,
    /// The kernel's answer by name and in words: `ENOSPC`, `No space left on device`.
    pub name: String,
    /// The words of the answer.
    pub text: String,
    /// What to do about it. May be empty.
    #[serde(default)]
    pub hint: String,
    /// What stands there, of data that carry their own checksums.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub piece: Option<Box<PieceMismatch>>,
    /// What it was to keep to, and did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<Box<MissedLevel>>,
}

impl Fault {
    /// A fault from a system call's error.
    pub fn new(doing: Doing, path: impl Into<String>, error: &std::io::Error) -> Self {
        let errno = error.raw_os_error().unwrap_or(0);
        let (name, text) = if errno == 0 {
            (String::new(), error.to_string())
        } else {
            (errno_name(errno).to_string(), errno_text(errno))
        };
        Self { errno, name, ..Self::told(doing, path, text) }.hinting(hint(doing, errno))
    }

    /// A fault that the kernel has not answered with, in words.
    pub fn told(doing: Doing, path: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            doing,
            path: path.into(),
            offset: None,
            bytes: None,
            errno: 0,
            name: String::new(),
            text: text.into(),
            hint: String::new(),
            piece: None,
            missed: None,
        }
    }

    /// The fault of what was to be kept to, with the error that stands for it.
    pub fn missed(doing: Doing, path: impl Into<String>, errno: i32, missed: MissedLevel) -> Self {
        let fault = Self::new(doing, path, &std::io::Error::from_raw_os_error(errno)).hinting("");
        Self { text: missed.to_string(), missed: Some(missed.into()), ..fault }
    }

    /// The fault of a piece that does not hold what it says itself.
    pub fn piece(path: impl Into<String>, piece: Box<PieceMismatch>) -> Self {
        let error = std::io::Error::from_raw_os_error(libc::EILSEQ);
        let text = piece.to_string();
        let hint = match piece.part {
            PiecePart::Header(HeaderField::Seed) => {
                "another job or clone has written there: give each a part of its own (fio: offset_increment) or its own file"
            }
            PiecePart::Header(_) => {
                "no block of this size was written there with such headers, or the device does not keep what it is given"
            }
            _ => {
                "the device does not keep what it is given, or something else has written there since"
            }
        };
        let fault = Self::new(Doing::Verify, path, &error).at(piece.offset).hinting(hint);
        Self { text, piece: Some(piece), ..fault }
    }

    /// The same fault with the place in the file.
    pub fn at(mut self, offset: u64) -> Self {
        self.offset = Some(offset);
        self
    }

    /// The same fault of a call for so many bytes.
    pub fn of(mut self, bytes: u64) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// A thread could not be started.
    pub fn no_thread(error: &std::io::Error) -> Self {
        Self::new(Doing::Start, "a thread", error)
    }

    /// The same fault with advice that fits the case better than the table's.
    pub fn hinting(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}

impl fmt::Display for Fault {
    /// `cannot write /mnt/x at 1048576: No space left on device (ENOSPC)`, the hint on a line of
    /// its own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {} {}", self.doing, self.path)?;
        if let Some(offset) = self.offset {
            write!(f, " at {offset}")?;
        }
        write!(f, ": {}", self.text)?;
        if !self.name.is_empty() {
            write!(f, " ({})", self.name)?;
        }
        if !self.hint.is_empty() {
            write!(f, "\n  {}", self.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for Fault {}

/// Either of the two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The words are wrong.
    Refusal(Refusal),
    /// The world said no.
    Fault(Fault),
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refusal(refusal)
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refusal(refusal) => refusal.fmt(f),
            Self::Fault(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

/// The kernel's words for an error number, as every C program prints them.
pub fn errno_text(errno: i32) -> String {
    // std appends " (os error N)"; the name is printed instead.
    let text = std::io::Error::from_raw_os_error(errno).to_string();
    match text.rfind(" (os error") {
        Some(end) => text[..end].to_string(),
        None => text,
    }
}

/// The symbolic name of an error number that storage meets; `errno` when it is none of those.
pub fn errno_name(errno: i32) -> &'static str {
    match errno {
        libc::EPERM => "EPERM",
        libc::ENOENT => "ENOENT",
        libc::EINTR => "EINTR",
        libc::EIO => "EIO",
        libc::ENXIO => "ENXIO",
        libc::EBADF => "EBADF",
        libc::EAGAIN => "EAGAIN",
        libc::ENOMEM => "ENOMEM",
        libc::EACCES => "EACCES",
        libc::EFAULT => "EFAULT",
        libc::ENOTBLK => "ENOTBLK",
        libc::EBUSY => "EBUSY",
        libc::EEXIST => "EEXIST",
        libc::EXDEV => "EXDEV",
        libc::ENODEV => "ENODEV",
        libc::ENOTDIR => "ENOTDIR",
        libc::EISDIR => "EISDIR",
        libc::EINVAL => "EINVAL",
        libc::ENFILE => "ENFILE",
        libc::EMFILE => "EMFILE",
        libc::ENOTTY => "ENOTTY",
        libc::ETXTBSY => "ETXTBSY",
        libc::EFBIG => "EFBIG",
        libc::ENOSPC => "ENOSPC",
        libc::ESPIPE => "ESPIPE",
        libc::EROFS => "EROFS",
        libc::EMLINK => "EMLINK",
        libc::EPIPE => "EPIPE",
        libc::ENOTEMPTY => "ENOTEMPTY",
        libc::ENAMETOOLONG => "ENAMETOOLONG",
        libc::ENOSYS => "ENOSYS",
        libc::ELOOP => "ELOOP",
        libc::EREMOTEIO => "EREMOTEIO",
        libc::EDQUOT => "EDQUOT",
        libc::EOPNOTSUPP => "EOPNOTSUPP",
        libc::ENODATA => "ENODATA",
        libc::ETIMEDOUT => "ETIMEDOUT",
        libc::ESTALE => "ESTALE",
        libc::EUCLEAN => "EUCLEAN",
        libc::ECANCELED => "ECANCELED",
        libc::EOVERFLOW => "EOVERFLOW",
        libc::EILSEQ => "EILSEQ",
        libc::EMEDIUMTYPE => "EMEDIUMTYPE",
        libc::ENOMEDIUM => "ENOMEDIUM",
        libc::ENOTCONN => "ENOTCONN",
        _ => "errno",
    }
}

/// What to do about an error, by what was being done. Empty where nothing helps.
fn hint(doing: Doing, errno: i32) -> &'static str {
    match (doing, errno) {
        (_, libc::ENOSPC) => {
            "the device or its quota is full: free space there ('df -h' shows it), or write less"
        }
        (_, libc::EDQUOT) => "the quota of this user is used up: 'quota' shows it",
        (_, libc::EFBIG) => {
            "no file may be that large: lift the limit ('ulimit -f' shows it; some file systems have their own), or give a smaller size"
        }
        (_, libc::EROFS) => {
            "the file system is mounted read-only: 'mount -o remount,rw' it, or name a file to read"
        }
        (
            Doing::Read | Doing::Write | Doing::Fsync | Doing::Fdatasync | Doing::Flush,
            libc::EIO,
        ) => {
            "the device failed: 'dmesg | tail' shows what the kernel saw; nothing measured after this can be trusted"
        }
        (Doing::Close | Doing::CloseOutput, libc::EIO) => {
            "what was written may be lost: 'dmesg | tail' shows what the kernel saw"
        }
        (Doing::Open, libc::EINVAL) => {
            "this file system does not take O_DIRECT: use buffered I/O with a flush"
        }
        (Doing::Read | Doing::Write, libc::EINVAL) => {
            "direct I/O needs block size and offset to be multiples of the logical block size"
        }
        (Doing::Start, libc::EAGAIN) => {
            "no more threads may be started here: see 'ulimit -u' and pids.max of the control group, or give fewer workers"
        }
        (Doing::MakeQueue, libc::EACCES | libc::EPERM | libc::ENOSYS) => "",
        (_, libc::EACCES | libc::EPERM) => "this user may not: try another path, or run as root",
        (Doing::Read | Doing::Write, libc::EFAULT) => {
            "the file is shorter than what is mapped of it: something cut it during the run"
        }
        (Doing::Create | Doing::Open, libc::ENOENT) => {
            "the path does not exist: check it for typing mistakes"
        }
        (_, libc::EBUSY) => "something holds it: 'lsblk' and 'fuser -vm' show what",
        (_, libc::ENXIO | libc::ENODEV | libc::ENOMEDIUM) => "the device is gone or has no medium",
        (_, libc::ESTALE | libc::ENOTCONN) => {
            "the file system behind the path went away during the run"
        }
        (_, libc::EMFILE | libc::ENFILE) => "too many open files: raise 'ulimit -n'",
        (Doing::Create, libc::EMLINK) => {
            "the file system has no more links for one file (ext4: 65000): give fewer files for each worker"
        }
        (_, libc::ENOMEM) => "not enough memory, or of locked memory ('ulimit -l')",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_says_operation_path_place_and_name() {
        let error = std::io::Error::from_raw_os_error(libc::ENOSPC);
        let fault = Fault::new(Doing::Write, "/mnt/x", &error).at(4096);
        assert!(fault.to_string().starts_with(
            "cannot write /mnt/x at 4096: No space left on device (ENOSPC)\n  the device"
        ));
    }

    #[test]
    fn what_was_done_is_written_as_its_word_and_unknown_words_are_read() {
        for doing in Doing::ALL {
            let word = serde_json::to_value(doing).expect("a word");
            assert_eq!(word, doing.name());
            assert_eq!(serde_json::from_value::<Doing>(word).expect("read back"), *doing);
        }
        let unknown = serde_json::from_str::<Doing>("\"levitate\"").expect("read");
        assert_eq!(unknown, Doing::Other);
    }

    #[test]
    fn a_refusal_says_what_to_write_instead() {
        let refusal = Refusal::new("size 0 is no size", "give at least 4k");
        assert_eq!(refusal.to_string(), "size 0 is no size; give at least 4k");
    }
}
