//! When a test cannot run here: why, and the one way to say so.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Why a test cannot run on this machine.
#[derive(Debug, Clone)]
pub enum Skip {
    /// A program is missing which a Debian package would bring; in CI this is a failure.
    MissingTool { tool: &'static str, package: &'static str },
    /// Something no package can mend: no root, no loop device, a kernel without the feature.
    Machine(String),
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Skip::MissingTool { tool, package } => {
                write!(f, "{tool} is missing (apt-get install {package})")
            }
            Skip::Machine(reason) => f.write_str(reason),
        }
    }
}

impl Skip {
    /// Whether it must not pass for a skip, given the variable CI: what `apt-get` could have mended.
    pub fn is_failure(&self, ci: Option<&str>) -> bool {
        matches!(self, Skip::MissingTool { .. }) && matches!(ci, Some("true" | "1"))
    }
}

/// Says on stderr that a test was skipped; panics when that must not happen (see [`Skip::MissingTool`]).
///
/// Written past the test harness' capture, so that a skipped test never looks like a passed one.
pub fn skipped(test: &str, skip: &Skip) {
    if skip.is_failure(std::env::var("CI").ok().as_deref()) {
        panic!("{test} may not be skipped in CI: {skip}");
    }
    use std::io::Write;
    // In one piece, for other tests write too; a closed stderr is no reason to fail a test.
    let _ = std::io::stderr().write_all(format!("SKIP {test}: {skip}\n").as_bytes());
}

/// Unwraps a `Result<T, Skip>`, or prints why and returns from the test.
#[macro_export]
macro_rules! need {
    ($wanted:expr) => {
        match $wanted {
            Ok(given) => given,
            Err(skip) => {
                fn here() {}
                let place = ::std::any::type_name_of_val(&here);
                $crate::lab::skipped(place.strip_suffix("::here").unwrap_or(place), &skip);
                return;
            }
        }
    };
}

/// Root, and with the right to mount (a container's root often has not).
pub fn need_root() -> Result<(), Skip> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let capabilities = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())
        .unwrap_or(0);
    const SYS_ADMIN: u64 = 1 << 21;
    if !rustix::process::geteuid().is_root() {
        Err(Skip::Machine("needs root, to mount and to attach loop devices".into()))
    } else if capabilities & SYS_ADMIN == 0 {
        Err(Skip::Machine("needs CAP_SYS_ADMIN, to mount and to attach loop devices".into()))
    } else {
        Ok(())
    }
}

/// A program, also from the sbin folders that not every root has in its PATH.
pub fn need_tool(tool: &'static str, package: &'static str) -> Result<PathBuf, Skip> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let sbin = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"].map(PathBuf::from);
    std::env::split_paths(&path)
        .chain(sbin)
        .map(|folder| folder.join(tool))
        .find(|file| file.is_file())
        .ok_or(Skip::MissingTool { tool, package })
}

/// The right and the device node for a FUSE mount of our own.
pub fn need_fuse() -> Result<(), Skip> {
    need_root()?;
    need_file_system("fuse")?;
    match std::fs::OpenOptions::new().read(true).write(true).open("/dev/fuse") {
        Ok(_) => Ok(()),
        Err(error) => Err(Skip::Machine(format!("/dev/fuse cannot be opened: {error}"))),
    }
}

/// A file system type in the running kernel, loading its module when there is one.
pub(super) fn need_file_system(name: &str) -> Result<(), Skip> {
    let known = || {
        std::fs::read_to_string("/proc/filesystems")
            .unwrap_or_default()
            .lines()
            .any(|line| line.split_whitespace().next_back() == Some(name))
    };
    if !known() {
        modprobe(&[name]);
    }
    if known() { Ok(()) } else { Err(Skip::Machine(format!("this kernel has no {name}"))) }
}

/// Tries to load a module; whether that helped is for the caller to see.
pub(super) fn modprobe(words: &[&str]) {
    if let Ok(modprobe) = need_tool("modprobe", "kmod") {
        let _ = Command::new(modprobe).args(words).output();
    }
}

/// Runs a program to its end; its standard output, or what it said on stderr.
pub(super) fn run<S: AsRef<std::ffi::OsStr>>(
    program: &Path,
    words: &[S],
) -> Result<String, String> {
    let output = Command::new(program)
        .args(words)
        .env("LC_ALL", "C")
        .output()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(format!(
            "{} ({}): {}",
            program.display(),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        ))
    }
}

/// The lab itself failed, which is neither a skip nor a finding about assay.
pub(super) fn broken(doing: &str, why: impl fmt::Display) -> ! {
    panic!("the lab could not {doing}: {why}")
}
