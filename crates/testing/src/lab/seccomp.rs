//! A kernel that lacks calls: a seccomp filter answers them with an error, as container runtimes
//! and old kernels do. It holds for one child, from before its `exec` on, and cannot be lifted.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use super::Skip;

/// Calls that are answered with an error.
#[derive(Debug, Clone)]
pub struct Seccomp {
    program: Vec<libc::sock_filter>,
}

/// How the kernel names this architecture to a filter (`linux/audit.h`).
const ARCHITECTURE: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xc000_003e)
} else if cfg!(target_arch = "aarch64") {
    Some(0xc000_00b7)
} else {
    None
};

/// Offsets in `struct seccomp_data`.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;

const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

const fn step(code: u16, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code, jt, jf, k }
}

impl Seccomp {
    /// Each of these calls (`libc::SYS_...`) is answered with this error number; all others are let
    /// through.
    pub fn answering(calls: &[libc::c_long], errno: i32) -> Result<Seccomp, Skip> {
        let Some(architecture) = ARCHITECTURE else {
            return Err(Skip::Machine("the lab has no seccomp filter for this processor".into()));
        };
        let mut program = vec![
            step(LOAD, ARCHITECTURE_AT, 0, 0),
            step(IF_EQUAL, architecture, 1, 0),
            step(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0),
            step(LOAD, NUMBER_AT, 0, 0),
        ];
        for &call in calls {
            program.push(step(IF_EQUAL, call as u32, 0, 1));
            program.push(step(RETURN, libc::SECCOMP_RET_ERRNO | errno as u32, 0, 0));
        }
        program.push(step(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0));
        Ok(Seccomp { program })
    }

    /// Puts the command under the filter.
    pub fn over(&self, command: &mut Command) {
        let program = self.program.clone();
        // SAFETY: between fork and exec only `prctl` is called, which is a bare system call; the
        // program was copied beforehand and is only pointed at.
        unsafe { command.pre_exec(move || install(&program)) };
    }
}

/// Puts this thread under a filter, for good.
fn install(program: &[libc::sock_filter]) -> io::Result<()> {
    let filter =
        libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    let (yes, none): (libc::c_ulong, libc::c_ulong) = (1, 0);
    // SAFETY: takes no pointers.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, yes, none, none, none) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let mode = libc::SECCOMP_MODE_FILTER as libc::c_ulong;
    // SAFETY: the filter and its program live until the call returns; the kernel copies them.
    if unsafe { libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const filter) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
