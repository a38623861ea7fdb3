//! Users and groups by their names, and becoming one of them.
//!
//! # Safety
//! Names are handed over as C strings that live until the call returns; the answers are plain structs
//! and a buffer that the C library fills and this module owns. Only numbers are taken out of them.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::ptr;

/// Room for one entry of the user or group database; what is larger is asked for again.
const ROOM: usize = 4096;
/// An entry that needs more is not looked at.
const MOST: usize = 1 << 24;

/// A user: its number, and that of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct User {
    /// Its number.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
}

/// Asks with more and more room until the answer fits; `None` where nobody is called so.
fn asked<T>(
    ask: impl Fn(*mut T, *mut libc::c_char, usize, *mut *mut T) -> libc::c_int,
) -> io::Result<Option<T>> {
    let mut room = vec![0; ROOM];
    loop {
        let mut entry = MaybeUninit::<T>::uninit();
        let mut found = ptr::null_mut();
        match ask(entry.as_mut_ptr(), room.as_mut_ptr(), room.len(), &mut found) {
            0 if found.is_null() => return Ok(None),
            // SAFETY: a pointer that is not null says that the entry was filled.
            0 => return Ok(Some(unsafe { entry.assume_init() })),
            libc::ERANGE if room.len() < MOST => room.resize(2 * room.len(), 0),
            // POSIX lets a library answer so where nobody is called so.
            libc::ENOENT | libc::ESRCH => return Ok(None),
            errno => return Err(io::Error::from_raw_os_error(errno)),
        }
    }
}

/// The user of that name.
///
/// # Errors
/// What reading the user database met; EINVAL for a name with a byte 0.
pub fn user(name: &str) -> io::Result<Option<User>> {
    let name = CString::new(name)?;
    let found = asked::<libc::passwd>(|entry, room, len, found| {
        // SAFETY: all pointers are valid for the call, the room for `len` bytes.
        unsafe { libc::getpwnam_r(name.as_ptr(), entry, room, len, found) }
    })?;
    Ok(found.map(|entry| User { uid: entry.pw_uid, gid: entry.pw_gid }))
}

/// The user of that number.
///
/// # Errors
/// What reading the user database met.
pub fn numbered(uid: u32) -> io::Result<Option<User>> {
    let found = asked::<libc::passwd>(|entry, room, len, found| {
        // SAFETY: all pointers are valid for the call, the room for `len` bytes.
        unsafe { libc::getpwuid_r(uid, entry, room, len, found) }
    })?;
    Ok(found.map(|entry| User { uid: entry.pw_uid, gid: entry.pw_gid }))
}

/// The number of the group of that name.
///
/// # Errors
/// What reading the group database met; EINVAL for a name with a byte 0.
pub fn group(name: &str) -> io::Result<Option<u32>> {
    let name = CString::new(name)?;
    let found = asked::<libc::group>(|entry, room, len, found| {
        // SAFETY: all pointers are valid for the call, the room for `len` bytes.
        unsafe { libc::getgrnam_r(name.as_ptr(), entry, room, len, found) }
    })?;
    Ok(found.map(|entry| entry.gr_gid))
}

/// Whether this process acts as root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The user whom this process acts as.
pub fn present() -> User {
    User { uid: rustix::process::geteuid().as_raw(), gid: rustix::process::getegid().as_raw() }
}

/// Takes a group for good, and where root does that, no other beside it.
///
/// # Errors
/// EPERM.
pub fn take_group(gid: u32) -> io::Result<()> {
    // SAFETY: one number, readable for the length 1.
    if is_root() && unsafe { libc::setgroups(1, &gid) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a number only.
    match unsafe { libc::setgid(gid) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Becomes a user for good.
///
/// # Errors
/// EPERM; EAGAIN at the limit of that user's processes.
pub fn take_user(uid: u32) -> io::Result<()> {
    // SAFETY: a number only.
    match unsafe { libc::setuid(uid) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_number_0_and_nobody_is_called_nonsense() {
        let root = Some(User { uid: 0, gid: 0 });
        assert_eq!(user("root").unwrap(), root);
        assert_eq!(numbered(0).unwrap(), root);
        assert_eq!(group("root").unwrap(), Some(0));
        assert_eq!(user("no such user").unwrap(), None);
        assert_eq!(group("no such group").unwrap(), None);
        assert_eq!(numbered(3_999_999_999).unwrap(), None);
        assert!(user("a\0b").is_err());
    }
}
