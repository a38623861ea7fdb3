//! System V semaphores: the set by which processes that know nothing of each other keep step.
//!
//! # Safety
//! The calls take numbers, and `semop` one plain struct on the stack that the kernel reads before it
//! returns.
#![allow(unsafe_code)]

use std::io;

#[derive(Clone, Copy, Debug)]
pub struct SemaphoreSet {
    id: libc::c_int,
}

/// Whoever runs a test may join.
const EVERYBODY: libc::c_int = 0o666;

fn answered(answer: libc::c_int) -> io::Result<libc::c_int> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

impl SemaphoreSet {
    /// The set of that key with so many members, made if it is not there; each member is set to
    /// `value`.
    ///
    /// # Errors
    /// EACCES, ENOSPC; EINVAL when it is there with fewer members; ERANGE for a value above 32767.
    pub fn make(key: i32, members: u16, value: i32) -> io::Result<Self> {
        // SAFETY: numbers only.
        let id = unsafe { libc::semget(key, members.into(), libc::IPC_CREAT | EVERYBODY) };
        let set = Self { id: answered(id)? };
        for member in 0..members {
            // SAFETY: SETVAL takes an int as its last argument.
            answered(unsafe { libc::semctl(set.id, member.into(), libc::SETVAL, value) })?;
        }
        Ok(set)
    }

    /// The set of that key, which somebody has made.
    ///
    /// # Errors
    /// ENOENT when nobody has; EACCES; EINVAL when it has fewer members.
    pub fn open(key: i32, members: u16) -> io::Result<Self> {
        // SAFETY: numbers only.
        let id = unsafe { libc::semget(key, members.into(), EVERYBODY) };
        Ok(Self { id: answered(id)? })
    }

    /// Takes it away; who waits for it waits no more.
    ///
    /// # Errors
    /// EPERM when somebody else has made it; EIDRM.
    pub fn remove(self) -> io::Result<()> {
        // SAFETY: IPC_RMID takes no further argument.
        answered(unsafe { libc::semctl(self.id, 0, libc::IPC_RMID) }).map(|_| ())
    }

    /// Takes one off a member.
    ///
    /// # Errors
    /// EAGAIN when it is zero already; EIDRM, EINVAL when the set is gone.
    pub fn lower(self, member: u16) -> io::Result<()> {
        let mut step = libc::sembuf {
            sem_num: member,
            sem_op: -1,
            sem_flg: libc::IPC_NOWAIT as libc::c_short,
        };
        // SAFETY: `step` is a valid sembuf that lives until the call returns.
        answered(unsafe { libc::semop(self.id, &mut step, 1) }).map(|_| ())
    }

    /// What is left of a member.
    ///
    /// # Errors
    /// EIDRM, EINVAL when the set is gone.
    pub fn left(self, member: u16) -> io::Result<i32> {
        // SAFETY: GETVAL takes no further argument.
        let value = unsafe { libc::semctl(self.id, member.into(), libc::GETVAL) };
        answered(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_falls_to_zero_and_no_further() {
        // A key of its own for each process that tests.
        let key = 0x5a00_0000 | std::process::id() as i32;
        let set = match SemaphoreSet::make(key, 2, 2) {
            Ok(set) => set,
            Err(error) => {
                let _ = std::io::Write::write_all(
                    &mut std::io::stderr(),
                    format!("SKIP: no semaphores here: {error}\n").as_bytes(),
                );
                return;
            }
        };
        let joined = SemaphoreSet::open(key, 2).unwrap();
        joined.lower(1).unwrap();
        assert_eq!(set.left(1).unwrap(), 1);
        set.lower(1).unwrap();
        assert_eq!((joined.left(1).unwrap(), joined.left(0).unwrap()), (0, 2));
        assert_eq!(set.lower(1).unwrap_err().raw_os_error(), Some(libc::EAGAIN));
        set.remove().unwrap();
        assert_eq!(SemaphoreSet::open(key, 2).unwrap_err().raw_os_error(), Some(libc::ENOENT));
        assert!(joined.left(0).is_err());
    }
}
