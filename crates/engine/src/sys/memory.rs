//! Memory that cannot be paged out, and the nodes that a thread's memory comes from.
//!
//! # Safety
//! [`LockedMemory`] owns an anonymous mapping from its making to its drop, and nothing else ever points into it.
//! [`prefer_nodes`] hands the kernel a list of bits that lives until the call returns.
#![allow(unsafe_code)]

use std::io;
use std::ptr::NonNull;

/// Memory that is there, and that no other may have.
#[derive(Debug)]
pub struct LockedMemory {
    start: NonNull<libc::c_void>,
    len: usize,
}

// SAFETY: a mapping belongs to the process, and this is its only owner.
unsafe impl Send for LockedMemory {}

impl LockedMemory {
    /// So many bytes of it.
    ///
    /// # Errors
    /// ENOMEM and EPERM, where there is not so much, or the limit of locked memory is lower; EAGAIN.
    pub fn new(len: usize) -> io::Result<Self> {
        // SAFETY: a new mapping of no file, at an address that the kernel chooses.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        let Some(start) = NonNull::new(start).filter(|start| start.as_ptr() != libc::MAP_FAILED)
        else {
            return Err(io::Error::last_os_error());
        };
        let memory = Self { start, len };
        // SAFETY: the mapping is ours, and so long.
        match unsafe { libc::mlock(memory.start.as_ptr(), memory.len) } {
            0 => Ok(memory),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for LockedMemory {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nobody points into it.
        unsafe { libc::munmap(self.start.as_ptr(), self.len) };
    }
}

/// Bytes of a huge page, where nothing asks for another size; `None` where the kernel has none.
pub fn huge_page() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Hugepagesize:"))?;
    let kib: usize = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib << 10).filter(|bytes| *bytes > 0)
}

/// How the nodes of a list are used (`linux/mempolicy.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum NodeMode {
    /// This one first.
    Preferred = 1,
    /// No others.
    Bind = 2,
    /// Page by page in turn.
    Interleave = 3,
    /// That of the CPU at hand; there is no list.
    Local = 4,
}

/// The most nodes that a list is made for: as many as kernels know.
const NODES: usize = 1024;

/// Says where the memory of the calling thread comes from, from now on (set_mempolicy(2)).
///
/// # Errors
/// EINVAL, where a node is not there; ENOSYS, where the kernel was built without nodes; EPERM, where a filter
/// stands in the way.
pub fn prefer_nodes(mode: NodeMode, nodes: &[u32]) -> io::Result<()> {
    const BITS: usize = libc::c_ulong::BITS as usize;
    let mut mask = [0 as libc::c_ulong; NODES / BITS];
    for &node in nodes {
        let word = mask
            .get_mut(node as usize / BITS)
            .ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
        *word |= 1 << (node as usize % BITS);
    }
    let (list, count) = match nodes {
        [] => (std::ptr::null(), 0),
        _ => (mask.as_ptr(), NODES + 1),
    };
    // SAFETY: see the head of the file.
    match unsafe { libc::syscall(libc::SYS_set_mempolicy, mode as libc::c_int, list, count) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_locked_as_long_as_it_is_held() {
        let locked = || {
            let status = std::fs::read_to_string("/proc/self/status").expect("a status");
            let line = status.lines().find(|line| line.starts_with("VmLck:")).expect("VmLck");
            line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("KiB")
        };
        let before = locked();
        // A user may lock little; no machine lets him lock nothing.
        let held = LockedMemory::new(64 << 10).expect("64 KiB");
        assert!(locked() >= before + 64, "{} after {before}", locked());
        drop(held);
        assert!(LockedMemory::new(usize::MAX / 2).is_err());
    }

    #[test]
    fn a_node_that_is_not_there_is_refused() {
        let one = |mode, nodes: &'static [u32]| {
            std::thread::spawn(move || prefer_nodes(mode, nodes)).join().expect("no panic")
        };
        if let Err(error) = one(NodeMode::Local, &[]) {
            assert!(matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)), "{error}");
            return;
        }
        assert!(one(NodeMode::Preferred, &[0]).is_ok());
        assert!(one(NodeMode::Bind, &[0]).is_ok());
        assert!(one(NodeMode::Bind, &[1023]).is_err());
        assert!(one(NodeMode::Bind, &[5000]).is_err());
    }
}
