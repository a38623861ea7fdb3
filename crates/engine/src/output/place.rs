//! Where a path of an output leads, and whether anything may be written there.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd as _;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Access, FileType, Mode, OFlags, Stat, access, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

use super::replaced::{FileAt, is_file};
use crate::sys::close::close_file;
use crate::sys::{files, user};
use assay_plan::error::{Doing, Error, Fault, Refusal};
use assay_plan::name::NameText as _;

/// Links after which the kernel gives up, too (path_resolution(7)).
const LINKS: usize = 40;

/// How long the reader of a pipe is waited for.
const READER: Duration = Duration::from_secs(2);

/// A path that an output was asked for at, and where it leads. Looking at it touches nothing.
#[derive(Debug)]
pub struct OutputPlace {
    /// As the user wrote it.
    asked: PathBuf,
    /// Without links, but for those of `/proc` that are none in a file system.
    at: PathBuf,
    kind: OutputKind,
    /// What is written to as it is, opened before anything runs.
    stream: Option<File>,
}

/// What stands at such a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    Folder,
    /// Nothing yet, in a folder in which this user may make files.
    New,
    /// A regular file of so many bytes.
    File(u64),
    /// A terminal, a pipe or `/dev/null`, or what this process has open by that number: written to as it is.
    Stream(Option<i32>),
}

/// How a file is opened that is not replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputMode {
    /// What it holds is gone.
    Anew,
    /// It goes on behind what it holds.
    Append,
}

impl OutputPlace {
    /// Where a path leads.
    ///
    /// # Errors
    /// A refusal where no output may go: a block device; below `/dev`, `/proc` and `/sys` anything but a terminal, a
    /// pipe and `/dev/null`; a link of somebody else in a folder of everybody; links in a loop or to nothing; a folder
    /// that is not there or not to be written in. A fault where the kernel does not let it be looked at.
    pub fn of(asked: &Path) -> Result<Self, Error> {
        let walked = walk(asked)?;
        let kind = walked.kind(asked)?;
        Ok(Self { asked: asked.to_path_buf(), at: walked.at, kind, stream: None })
    }

    /// As the user wrote it.
    pub fn asked(&self) -> &Path {
        &self.asked
    }

    /// What stands there.
    pub const fn kind(&self) -> OutputKind {
        self.kind
    }

    /// Where it leads.
    pub fn path(&self) -> &Path {
        &self.at
    }

    /// With what is written to as it is opened now, so that nobody finds out at the end that it cannot be.
    ///
    /// # Errors
    /// A refusal where nobody reads a pipe; a fault where it cannot be opened.
    pub fn held(mut self) -> Result<Self, Error> {
        if let OutputKind::Stream(own) = self.kind {
            self.stream = Some(self.opened_stream(own)?);
        }
        Ok(self)
    }

    /// Whether it is written to as it is, and holds nothing that could be replaced.
    pub const fn is_stream(&self) -> bool {
        matches!(self.kind, OutputKind::Stream(_))
    }

    fn opened_stream(&self, own: Option<i32>) -> Result<File, Error> {
        let fault = |error: io::Error| Fault::new(Doing::Open, self.asked.to_text(), &error);
        if let Some(own) = own {
            // A description of its own would begin at the start of the file, over what others write there.
            return Ok(files::shared(own).map_err(fault)?.into());
        }
        let flags = OFlags::WRONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let open = || rustix::fs::open(&self.at, flags, Mode::empty());
        const STEP: Duration = Duration::from_millis(20);
        let mut opened = open();
        for _ in 0..READER.as_millis() / STEP.as_millis() {
            if !matches!(opened, Err(Errno::NXIO)) {
                break;
            }
            std::thread::sleep(STEP);
            opened = open();
        }
        let file = opened.map_err(|errno| match errno {
            Errno::NXIO => Error::from(Refusal::new(
                format!("nobody reads {}", self.asked.to_text()),
                "start who reads that pipe first, or name a file",
            )),
            other => fault(other.into()).into(),
        })?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| fault(errno.into()))?;
        if !is_stream(&stat) {
            return Err(fault(io::ErrorKind::ResourceBusy.into()).into());
        }
        // From now on it is waited for, as for any reader.
        fcntl_setfl(&file, OFlags::WRONLY).map_err(|errno| fault(errno.into()))?;
        Ok(file.into())
    }

    /// The same, where another file may take the place of what stands there.
    ///
    /// # Errors
    /// A refusal where this user may make no files beside it.
    pub fn replaceable(self) -> Result<Self, Error> {
        if matches!(self.kind, OutputKind::File(_)) {
            may_write_in(self.at.parent().map_or(Path::new("/"), folder_of), &self.asked)?;
        }
        Ok(self)
    }

    /// Puts there what is written piece by piece: in the place of what the path leads to now, whole or not at all, or
    /// to a stream.
    ///
    /// # Errors
    /// When it cannot be written; what was there stands then.
    pub fn replace(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Fault> {
        let fault = |error: io::Error| Fault::new(Doing::Write, self.asked.to_text(), &error);
        if let Some(stream) = &self.stream {
            let mut out = io::BufWriter::with_capacity(1 << 16, stream);
            return write(&mut out).and_then(|()| out.flush()).map_err(fault);
        }
        let now = Self::of(&self.asked)
            .and_then(Self::held)
            .map_err(|error| as_fault(&self.asked, error))?;
        match now.kind {
            OutputKind::Stream(_) => now.replace(write),
            OutputKind::Folder => Err(fault(Errno::ISDIR.into())),
            OutputKind::New | OutputKind::File(_) => FileAt::of(&now.at)
                .and_then(|file| {
                    let replaced = file.stat().ok().filter(is_file);
                    file.replace(replaced.as_ref(), write)
                })
                .map_err(fault),
        }
    }

    /// Opens what the path leads to, to be written in place; makes it where nothing is.
    ///
    /// # Errors
    /// A refusal as [`OutputPlace::held`] has it, or what opening answered.
    pub fn open(&self, mode: OutputMode) -> Result<File, Error> {
        let fault = |error: io::Error| Fault::new(Doing::Open, self.asked.to_text(), &error);
        if let OutputKind::Stream(own) = self.kind {
            return match &self.stream {
                Some(stream) => Ok(stream.try_clone().map_err(fault)?),
                None => self.opened_stream(own),
            };
        }
        let place = FileAt::of(&self.at).map_err(fault)?;
        let flags = match mode {
            OutputMode::Anew => OFlags::empty(),
            OutputMode::Append => OFlags::APPEND,
        };
        let opened = match self.kind {
            OutputKind::New => place.make(),
            _ => place.open(OFlags::WRONLY | flags),
        };
        let file = opened.map_err(fault)?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| fault(errno.into()))?;
        if !is_file(&stat) {
            let why = "something else stands there by now";
            return Err(Fault::told(Doing::Open, self.asked.to_text(), why).into());
        }
        // As for any other file: it is waited for.
        fcntl_setfl(&file, flags).map_err(|errno| fault(errno.into()))?;
        if mode == OutputMode::Anew {
            rustix::fs::ftruncate(&file, 0).map_err(|errno| fault(errno.into()))?;
        }
        Ok(file)
    }
}

/// Opens what a path leads to, as [`OutputPlace::open`] does; a refusal is a fault, for it runs.
///
/// # Errors
/// As [`OutputPlace::of`] and [`OutputPlace::open`].
pub fn open(path: &Path, mode: OutputMode) -> Result<File, Fault> {
    OutputPlace::of(path).and_then(|place| place.open(mode)).map_err(|error| as_fault(path, error))
}

/// Writes to what a path leads to, opened as [`open`] does it, and hears what closing answers.
///
/// # Errors
/// The first thing that could not be done.
pub fn write(path: &Path, mode: OutputMode, bytes: &[u8]) -> Result<(), Fault> {
    write_to(open(path, mode)?, path, bytes)
}

/// Writes to what was opened at a path, and hears what closing answers.
///
/// # Errors
/// The first thing that could not be done.
pub fn write_to(mut file: File, path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    let fault = |doing, error: &io::Error| Fault::new(doing, path.to_text(), error);
    file.write_all(bytes).map_err(|error| fault(Doing::Write, &error))?;
    close_file(file).map_err(|error| fault(Doing::Close, &error))
}

/// Puts a text in the place of what a path leads to, as [`OutputPlace::replace`] does.
///
/// # Errors
/// As that.
pub fn replace(path: &Path, text: &[u8]) -> Result<(), Fault> {
    let place = OutputPlace::of(path).map_err(|error| as_fault(path, error))?;
    place.replace(|out| out.write_all(text))
}

/// What is refused when it runs already is a fault.
pub fn as_fault(path: &Path, error: Error) -> Fault {
    match error {
        Error::Fault(fault) => fault,
        Error::Refusal(refusal) => {
            Fault::told(Doing::Write, path.to_text(), refusal.why).hinting(refusal.instead)
        }
    }
}

/// A path whose links are followed.
struct WalkedPath {
    at: PathBuf,
    /// What stands there; of a link of `/proc` what that leads to.
    found: Option<Stat>,
    /// The last link on the way, and whether it was the end of a path.
    link: Option<(PathBuf, bool)>,
    /// Owners of links on the way that are neither this user's nor root's, where this user is root.
    strangers: Vec<(PathBuf, u32)>,
}

/// Follows links as the kernel would, but for those that it should not follow for this user.
fn walk(asked: &Path) -> Result<WalkedPath, Error> {
    let fault = |path: &Path, errno: Errno| Fault::new(Doing::Stat, path.to_text(), &errno.into());
    if asked.as_os_str().is_empty() {
        return Err(Refusal::new("'' is no name of a file", "name a file").into());
    }
    let mut walked =
        WalkedPath { at: PathBuf::new(), found: None, link: None, strangers: Vec::new() };
    let mut left: VecDeque<OsString> = parts(asked).collect();
    let mut links = 0;
    while let Some(part) = left.pop_front() {
        if part == "/" {
            walked.at = PathBuf::from("/");
            continue;
        }
        let next = walked.at.join(&part);
        if part == ".." {
            walked.at = next;
            continue;
        }
        let found = match rustix::fs::lstat(&next) {
            Ok(found) => found,
            Err(Errno::NOENT) if left.is_empty() => {
                walked.at = next;
                return Ok(walked);
            }
            Err(Errno::NOENT) => return Err(walked.no_folder(asked).into()),
            Err(Errno::NOTDIR) => {
                let why = format!("{} is no folder", walked.at.to_text());
                return Err(Refusal::new(why, "name a file in a folder").into());
            }
            Err(errno) => return Err(fault(&next, errno).into()),
        };
        if FileType::from_raw_mode(found.st_mode) != FileType::Symlink {
            walked.at = next;
            continue;
        }
        let folder = folder_of(&walked.at);
        if is_magic(folder, &part) {
            walked.at = next;
            continue;
        }
        links += 1;
        if links > LINKS {
            let why = format!("the links at {} lead to each other", asked.to_text());
            return Err(Refusal::new(why, "name a file").into());
        }
        let stat = rustix::fs::stat(folder).map_err(|errno| fault(folder, errno))?;
        let own = user::present().uid;
        if of_somebody_else(&found, &stat) {
            return Err(Refusal::new(
                format!(
                    "{} is a link of somebody else in a folder that everybody may write to",
                    next.to_text()
                ),
                "name a file of your own",
            )
            .into());
        }
        // In a namespace of users the machine's own links belong to whoever has the root of all files.
        let machines = || rustix::fs::stat("/").is_ok_and(|root| root.st_uid == found.st_uid);
        if user::is_root() && found.st_uid != own && !machines() {
            walked.strangers.push((next.clone(), found.st_uid));
        }
        let target =
            rustix::fs::readlink(&next, Vec::new()).map_err(|errno| fault(&next, errno))?;
        use std::os::unix::ffi::OsStrExt as _;
        walked.link = Some((next, left.is_empty()));
        for part in parts(Path::new(OsStr::from_bytes(target.as_bytes()))).rev() {
            left.push_front(part);
        }
    }
    let path = folder_of(&walked.at);
    walked.found = Some(rustix::fs::stat(path).map_err(|errno| fault(path, errno))?);
    if walked.at.as_os_str().is_empty() {
        walked.at = PathBuf::from(".");
    }
    Ok(walked)
}

/// What a path is made of; its root is one of these parts.
fn parts(path: &Path) -> impl DoubleEndedIterator<Item = OsString> {
    path.components()
        .filter(|part| !matches!(part, Component::CurDir))
        .map(|part| part.as_os_str().to_os_string())
}

/// A folder whose path may be empty: the present one.
fn folder_of(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

/// The bits of a folder in which everybody may make files, and nobody remove those of others.
const SHARED: u32 = 0o1002;

/// Whether something in a folder of everybody belongs neither to this user nor to whoever owns the folder
/// (`fs.protected_symlinks`, `protected_regular` and `protected_fifos` of proc(5), whatever they are set to).
fn of_somebody_else(found: &Stat, folder: &Stat) -> bool {
    folder.st_mode & SHARED == SHARED
        && found.st_uid != user::present().uid
        && found.st_uid != folder.st_uid
}

/// Whether a link in a folder is one that the kernel follows by other means than its text (`/proc/PID/fd/1`).
fn is_magic(folder: &Path, name: &OsStr) -> bool {
    const PROC: u64 = 0x9fa0;
    // Those in its first folder have a text.
    let in_text = ["self", "thread-self", "mounts", "net"].iter().any(|own| name == *own);
    magic_of(folder) == Some(PROC) && !in_text
}

/// The number of the kind of file system (statfs(2)), 32 bits on every architecture.
fn magic_of(folder: &Path) -> Option<u64> {
    Some(rustix::fs::statfs(folder).ok()?.f_type as u64 & 0xffff_ffff)
}

/// File systems of the kernel whose files are none (`linux/magic.h`): proc, sysfs, devpts, cgroup, cgroup2, debugfs,
/// tracefs, securityfs, configfs, bpf, efivarfs, pstore, selinuxfs, smackfs, binfmt_misc, mqueue, nsfs, hugetlbfs, fusectl,
/// resctrl, xenfs, binderfs.
const KERNELS: [u64; 22] = [
    0x9fa0,
    0x6265_6572,
    0x1cd1,
    0x27_e0eb,
    0x6367_7270,
    0x6462_6720,
    0x7472_6163,
    0x7363_6673,
    0x6265_6570,
    0xcafe_4a11,
    0xde5e_81e4,
    0x6165_676c,
    0xf97c_ff8c,
    0x4341_5d53,
    0x4249_4e4d,
    0x1980_0202,
    0x6e73_6673,
    0x9584_58f6,
    0x6573_5543,
    0x0765_5821,
    0xabba_1974,
    0x6c6f_6f70,
];

/// Whether a folder is the kernel's: below `/dev`, `/proc` or `/sys`, by whatever name; not the files in memory of
/// `/dev/shm`.
fn is_kernels(folder: &Path, stat: &Stat) -> bool {
    if magic_of(folder).is_some_and(|magic| KERNELS.contains(&magic)) {
        return true;
    }
    let whole = absolute(folder);
    if whole.starts_with("/dev/shm") {
        return false;
    }
    let device = |path: &str| rustix::fs::stat(path).map(|stat| stat.st_dev).ok();
    let of_dev = device("/dev").filter(|dev| Some(*dev) != device("/"));
    ["/dev", "/proc", "/sys"].iter().any(|above| whole.starts_with(above))
        || of_dev == Some(stat.st_dev)
}

/// The whole path of one that has no links.
fn absolute(path: &Path) -> PathBuf {
    let mut whole = match rustix::process::getcwd(Vec::new()) {
        Ok(present) if path.is_relative() => {
            use std::os::unix::ffi::OsStrExt as _;
            PathBuf::from(OsStr::from_bytes(present.as_bytes()))
        }
        _ => PathBuf::new(),
    };
    for part in path.components() {
        match part {
            Component::ParentDir => _ = whole.pop(),
            Component::CurDir => {}
            part => whole.push(part),
        }
    }
    whole
}

/// Whether it is a pipe, a terminal, or a device that keeps nothing.
fn is_stream(stat: &Stat) -> bool {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Fifo => true,
        FileType::CharacterDevice => takes_all(stat.st_rdev) || is_terminal(stat.st_rdev),
        _ => false,
    }
}

/// `/dev/null`, and `/dev/full`, which always has no room (`devices.txt` of the kernel).
fn takes_all(device: u64) -> bool {
    rustix::fs::major(device) == 1 && matches!(rustix::fs::minor(device), 3 | 7)
}

/// Whether a character device is a terminal, without opening it: others begin to do something when they are opened. 4 and 5 are
/// consoles and serial lines, but for 5:2, which makes new ones; 136 to 143 are those of programs.
pub fn is_terminal(device: u64) -> bool {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    if (major, minor) == (5, 2) {
        return false;
    }
    let subsystem = format!("/sys/dev/char/{major}:{minor}/subsystem");
    matches!(major, 4 | 5 | 136..=143)
        || rustix::fs::readlink(subsystem, Vec::new())
            .is_ok_and(|link| link.to_bytes().ends_with(b"/tty"))
}

impl WalkedPath {
    /// The refusal of a folder that is not there.
    fn no_folder(&self, asked: &Path) -> Refusal {
        match &self.link {
            Some((link, true)) => Refusal::new(
                format!("{} is a link into a folder that is not there", link.to_text()),
                "make that folder first, or name another file",
            ),
            _ => Refusal::new(
                format!("the folder of {} does not exist", asked.to_text()),
                "make it first, or name another file",
            ),
        }
    }

    /// What it is called in a sentence that goes on with "is ...".
    fn shown(&self, asked: &Path) -> String {
        match self.at == asked {
            true => asked.to_text(),
            _ if self.link.is_none() => asked.to_text(),
            _ => format!("{} leads to {}, which", asked.to_text(), self.at.to_text()),
        }
    }

    /// What stands there, where something may be written.
    fn kind(&self, asked: &Path) -> Result<OutputKind, Error> {
        use std::os::unix::ffi::OsStrExt as _;
        let folder = match self.at.parent() {
            Some(folder) => folder_of(folder),
            None => Path::new("/"),
        };
        let refused = |what: &str, instead: &str| {
            Err(Refusal::new(format!("{} is {what}", self.shown(asked)), instead).into())
        };
        let above = rustix::fs::stat(folder)
            .map_err(|errno| Fault::new(Doing::Stat, folder.to_text(), &errno.into()))?;
        let Some(found) = &self.found else {
            if let Some((link, true)) = &self.link {
                return Err(Refusal::new(
                    format!(
                        "{} is a link to {}, which is not there",
                        link.to_text(),
                        self.at.to_text()
                    ),
                    "make that file first, or name it",
                )
                .into());
            }
            if asked.as_os_str().as_bytes().ends_with(b"/") {
                return Err(Refusal::new(
                    format!("there is no folder {}", asked.to_text()),
                    "make it first, or name a file",
                )
                .into());
            }
            if is_kernels(folder, &above) {
                return Err(no_files(asked));
            }
            self.keeps_to_strangers(&above)?;
            may_write_in(folder, asked)?;
            return Ok(OutputKind::New);
        };
        if FileType::from_raw_mode(found.st_mode) == FileType::BlockDevice {
            return refused("a block device, and no output is written to one", "name a file");
        }
        self.keeps_to_strangers(found)?;
        if FileType::from_raw_mode(found.st_mode) == FileType::Directory {
            return Ok(OutputKind::Folder);
        }
        if let Some(own) = own_descriptor(&self.at) {
            return match writable_descriptor(own) {
                true => Ok(OutputKind::Stream(Some(own))),
                false => refused("open for reading only", "name a file"),
            };
        }
        let magic = magic_of(folder) == Some(0x9fa0);
        if of_somebody_else(found, &above) && !magic {
            return refused(
                "somebody else's, in a folder that everybody may write to",
                "name a file of your own",
            );
        }
        if is_stream(found) {
            return Ok(OutputKind::Stream(None));
        }
        match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile if is_kernels(folder, &above) => Err(no_files(asked)),
            FileType::RegularFile => Ok(OutputKind::File(found.st_size as u64)),
            FileType::CharacterDevice => refused(
                "a device, and no output is written to one but a terminal and /dev/null",
                "name a file",
            ),
            _ => refused("no regular file", "name a file or a folder"),
        }
    }

    /// Root is led by others' links to what is theirs, and nowhere else.
    fn keeps_to_strangers(&self, found: &Stat) -> Result<(), Error> {
        let beyond = self.strangers.iter().find(|(_, owner)| found.st_uid != *owner);
        let Some((link, _)) = beyond else { return Ok(()) };
        Err(Refusal::new(
            format!(
                "{} is a link of another user, and leads to what is not that user's",
                link.to_text()
            ),
            format!("name {} itself, if that is meant", self.at.to_text()),
        )
        .into())
    }
}

/// The refusal of a file of the kernel, or of one where it keeps no files.
fn no_files(asked: &Path) -> Error {
    Refusal::new(
        format!(
            "{} lies where the kernel keeps no files: output goes there only to a terminal, a pipe or /dev/null",
            asked.to_text()
        ),
        "name a file elsewhere",
    )
    .into()
}

/// Whether this user may make files in a folder, and give them other names.
fn may_write_in(folder: &Path, asked: &Path) -> Result<(), Error> {
    access(folder, Access::WRITE_OK | Access::EXEC_OK).map_err(|errno| {
        let fault = Fault::new(Doing::Create, "", &errno.into());
        let why = format!("cannot write {}: {} ({})", asked.to_text(), fault.text, fault.name);
        Refusal::new(why, "name a file in a folder that this user may write to").into()
    })
}

/// The number by which this process has something open, where a resolved path names it: `/proc/PID/fd/N`, or the
/// same of one of its threads.
fn own_descriptor(at: &Path) -> Option<i32> {
    let folder = at.parent()?;
    let number = at.file_name()?.to_str()?.parse().ok()?;
    let process =
        folder.parent().filter(|_| folder.file_name().is_some_and(|name| name == "fd"))?;
    let process = match process.parent()? {
        task if task.file_name().is_some_and(|name| name == "task") => task.parent()?,
        _ => process,
    };
    if magic_of(folder) != Some(0x9fa0) {
        return None;
    }
    let own = rustix::fs::readlink(process.parent()?.join("self"), Vec::new()).ok()?;
    use std::os::unix::ffi::OsStrExt as _;
    (own.to_bytes() == process.file_name()?.as_bytes()).then_some(number)
}

/// Whether this process was given a descriptor of that number that can be written to: what it has opened itself is
/// closed where it starts another program, and is nobody's output.
fn writable_descriptor(number: i32) -> bool {
    let Ok(copy) = files::shared(number) else { return false };
    let writes =
        fcntl_getfl(copy.as_fd()).is_ok_and(|flags| flags & OFlags::ACCMODE != OFlags::RDONLY);
    writes && !files::closes_at_exec(number)
}
