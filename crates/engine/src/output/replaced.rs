//! New files, by names that nobody has, and files that take the place of others.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File};
use std::io::{self, BufWriter, Write};
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, Mode, OFlags, RawMode, ResolveFlags, Stat, openat, openat2, renameat, unlinkat,
};
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

use super::removed::remember;
use super::run_name::RUN_SIGNS;
use crate::sys::close::close;
use assay_plan::error::{Doing, Fault};
use assay_plan::name::NameText as _;

/// The mode that a new file has before the process's mask.
const NEW: Mode = Mode::from_bits_retain(0o666);

/// Bytes of a name's random part: nobody guesses 128 bits.
const RANDOM: usize = 16;

/// A random part of a name, 26 signs.
///
/// # Errors
/// Where there is no entropy, and no other source of what nobody guesses.
pub fn random_name() -> io::Result<String> {
    let mut bytes = [0; RANDOM];
    if getrandom(&mut bytes, GetRandomFlags::NONBLOCK) != Ok(RANDOM) {
        use std::io::Read as _;
        // A machine that has just been started, or forbids the call.
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    }
    let number = u128::from_be_bytes(bytes);
    let sign = |at: u32| char::from(RUN_SIGNS[(number >> (5 * at)) as usize & 31]);
    Ok((0..26).map(sign).collect())
}

/// A new file at a path at which nothing stands, to be read and written. Its folders may be links, what stands at
/// the path is none.
///
/// # Errors
/// EEXIST, where something stands there, a link that leads nowhere too; and others of open(2).
pub fn create_new(path: &Path, mode: RawMode) -> io::Result<File> {
    let file = rustix::fs::open(path, OFlags::RDWR | MADE, Mode::from_raw_mode(mode))?;
    Ok(file.into())
}

/// What every new file is opened with.
const MADE: OFlags =
    OFlags::CREATE.union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A new folder, open.
///
/// # Errors
/// EEXIST, where something stands there, and others of mkdir(2) and open(2).
pub fn create_new_folder(path: &Path, mode: RawMode) -> io::Result<File> {
    rustix::fs::mkdir(path, Mode::from_raw_mode(mode))?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// Makes a folder and those above it that are missing, for this user alone.
///
/// # Errors
/// Those of mkdir(2).
pub fn make_folders(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// A new file in a folder with a name of its own for the time that a look takes: the file, and its path.
///
/// # Errors
/// Those of open(2).
pub fn scratch_named(folder: &Path) -> io::Result<(OwnedFd, PathBuf)> {
    let path = folder.join(format!(".assay-probe-{}", random_name()?));
    Ok((create_new(&path, 0o600)?.into(), path))
}

/// An open folder and the name of a file in it.
pub(super) struct FileAt {
    pub folder: OwnedFd,
    pub name: OsString,
}

impl FileAt {
    /// Of a path that is resolved: the folder in it is opened as it is, and no link at its end is followed.
    pub fn of(path: &Path) -> io::Result<Self> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_os_string();
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // A link that has been put on the way since is not followed, but by kernels before 5.6.
        let (cwd, links) = (rustix::fs::CWD, ResolveFlags::NO_SYMLINKS);
        let opened = match openat2(cwd, folder, flags, Mode::empty(), links) {
            Err(Errno::NOSYS | Errno::PERM) => rustix::fs::open(folder, flags, Mode::empty()),
            opened => opened,
        };
        Ok(Self { folder: opened?, name })
    }

    /// What stands there; a link itself.
    pub fn stat(&self) -> rustix::io::Result<Stat> {
        rustix::fs::statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Opens what stands there, no link; without waiting for anybody.
    pub fn open(&self, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(openat(&self.folder, &self.name, flags, Mode::empty())?.into())
    }

    /// Makes it.
    pub fn make(&self) -> io::Result<File> {
        Ok(openat(&self.folder, &self.name, OFlags::WRONLY | MADE, NEW)?.into())
    }

    /// Puts a file that is written piece by piece in the place of what stands there, whole or not at all. It has
    /// the mode and, where this user may give it away, the owner of what it replaces.
    pub fn replace(
        &self,
        replaced: Option<&Stat>,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let fresh = self.fresh_name(&random_name()?);
        // Nobody else reads what is to take the place of something that only some may read.
        let mode = if replaced.is_some() { Mode::RUSR | Mode::WUSR } else { NEW };
        let file = File::from(openat(&self.folder, &fresh, OFlags::WRONLY | MADE, mode)?);
        let written = filled(file, replaced, write).and_then(|()| {
            // Nobody has put a device or a folder there since.
            match self.stat() {
                Ok(found) if !is_file(&found) => return Err(io::ErrorKind::ResourceBusy.into()),
                _ => {}
            }
            Ok(renameat(&self.folder, &fresh, &self.folder, &self.name)?)
        });
        written.inspect_err(|_| {
            if let Err(errno) = unlinkat(&self.folder, &fresh, AtFlags::empty()) {
                // The folder is known by what is open of it.
                let folder =
                    std::fs::read_link(format!("/proc/self/fd/{}", self.folder.as_raw_fd()));
                let path = folder.unwrap_or_default().join(&fresh).to_text();
                remember(Fault::new(Doing::Remove, path, &errno.into()), false);
            }
        })
    }

    /// What a file is called that is to take its place.
    fn fresh_name(&self, random: &str) -> OsString {
        // A name may have 255 bytes.
        const KEPT: usize = 200;
        use std::os::unix::ffi::OsStrExt as _;
        let own = self.name.as_bytes();
        let mut name = OsString::from(".");
        name.push(OsStr::from_bytes(&own[..own.len().min(KEPT)]));
        name.push(format!(".{random}.new"));
        name
    }
}

/// Writes a file, and closes it.
fn filled(
    file: File,
    replaced: Option<&Stat>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 18, file);
    write(&mut out)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    if let Some(replaced) = replaced {
        keep_owner(&file, replaced);
    }
    Ok(close(file.into())?)
}

/// Gives a file the owner and the mode of the one that it replaces. Where this user may not give it away it has
/// that mode all the same, for its own owner.
fn keep_owner(file: &File, replaced: &Stat) {
    let own = rustix::fs::fstat(file).ok();
    let is_other = |own: &Stat| (own.st_uid, own.st_gid) != (replaced.st_uid, replaced.st_gid);
    if own.is_some_and(|own| is_other(&own)) {
        let uid = rustix::fs::Uid::from_raw(replaced.st_uid);
        let gid = rustix::fs::Gid::from_raw(replaced.st_gid);
        let _ = rustix::fs::fchown(file, Some(uid), Some(gid))
            .or_else(|_| rustix::fs::fchown(file, None, Some(gid)));
    }
    let _ = rustix::fs::fchmod(file.as_fd(), Mode::from_raw_mode(replaced.st_mode & 0o777));
}

/// Whether a regular file stands there.
pub(super) fn is_file(stat: &Stat) -> bool {
    rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::RegularFile
}
