//! What keeps this process from a system call that the kernel may well know.

use super::SysRoot;

/// A call that may be refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckedCall {
    /// One of io_uring's, for which there is a switch of its own (`kernel.io_uring_disabled`, 6.6).
    IoUring,
    /// Any other.
    Other,
}

impl SysRoot {
    /// Why a call was answered with `errno` (EPERM or ENOSYS), where the kernel shows it: by its
    /// switch, or by a seccomp filter, of which can be seen that there is one but not what it says.
    pub fn forbids(&self, call: CheckedCall, errno: i32) -> Option<String> {
        if call == CheckedCall::IoUring && errno == libc::EPERM {
            let switch = self.number("/proc/sys/kernel/io_uring_disabled");
            if let Some(switch) = switch.filter(|&switch| switch > 0) {
                return Some(format!("kernel.io_uring_disabled is {switch}"));
            }
        }
        let status = self.text("/proc/self/status").ok()?;
        let filtered = status
            .lines()
            .any(|line| line.strip_prefix("Seccomp:").is_some_and(|mode| mode.trim() == "2"));
        match errno {
            libc::EPERM if filtered => Some("a seccomp filter forbids it".into()),
            libc::ENOSYS if filtered => {
                Some("the kernel lacks it, or a seccomp filter hides it".into())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeSysRoot;
    use super::*;

    #[test]
    fn the_switch_comes_before_the_filter_and_each_explains_its_own_errors() {
        let tree = FakeSysRoot::new();
        let sys_root = tree.sys_root();
        assert_eq!(sys_root.forbids(CheckedCall::IoUring, libc::EPERM), None);
        tree.file("proc/self/status", "Name:\tassay\nSeccomp:\t0\nSeccomp_filters:\t0\n");
        tree.file("proc/sys/kernel/io_uring_disabled", "0\n");
        assert_eq!(sys_root.forbids(CheckedCall::IoUring, libc::EPERM), None);
        tree.file("proc/self/status", "Name:\tassay\nSeccomp:\t2\nSeccomp_filters:\t1\n");
        let said = |call, errno| sys_root.forbids(call, errno).unwrap();
        assert_eq!(said(CheckedCall::IoUring, libc::EPERM), "a seccomp filter forbids it");
        tree.file("proc/sys/kernel/io_uring_disabled", "2\n");
        assert_eq!(said(CheckedCall::IoUring, libc::EPERM), "kernel.io_uring_disabled is 2");
        assert_eq!(said(CheckedCall::Other, libc::EPERM), "a seccomp filter forbids it");
        let hidden = "the kernel lacks it, or a seccomp filter hides it";
        assert_eq!(said(CheckedCall::IoUring, libc::ENOSYS), hidden);
        assert_eq!(sys_root.forbids(CheckedCall::Other, libc::ENOMEM), None);
    }
}
