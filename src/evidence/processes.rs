//! Who does I/O on this machine: `/proc/PID/io` of every process that shows it to this user.
//!
//! The kernel counts for a process what it asked of all block devices together; which device, it
//! does not say. Writes are counted when pages are made dirty, not when they reach a device.

use super::scene::why;
use super::{Reading, Scene, own};
use crate::unit::Bytes;

/// A process and what it has done since it began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// The name it goes by (`/proc/PID/comm`), with nothing in it that a terminal would obey.
    pub name: String,
    /// Its I/O; `None` where this user may not see it.
    pub io: Option<ProcessIo>,
}

/// I/O of a process with all of its threads, those that have ended included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessIo {
    /// Bytes that it made devices read.
    pub read: Bytes,
    /// Bytes of pages that it made dirty, or handed over directly.
    pub write: Bytes,
}

impl Scene {
    /// Every process but this one. Unseen when not one of them shows its I/O.
    pub(super) fn processes(&self) -> Reading<Vec<Process>> {
        let mut reason = "/proc: shows no processes".to_string();
        let mut all = Vec::new();
        for pid in self.names("/proc").iter().filter_map(|name| name.parse().ok()) {
            if self.real() && pid == std::process::id() {
                continue;
            }
            let io = self.process_io(pid);
            if let Err(why) = &io {
                reason.clone_from(why);
            }
            // A process may end while we look.
            if let Some(name) = self.line(format!("/proc/{pid}/comm")) {
                all.push(Process { pid, name: printable(&name), io: io.ok() });
            }
        }
        match all.iter().any(|process| process.io.is_some()) {
            true => Reading::Seen(all),
            false => Reading::Unseen(reason),
        }
    }

    /// What one process has done since it began.
    pub(super) fn process_io(&self, pid: u32) -> Result<ProcessIo, String> {
        let path = format!("/proc/{pid}/io");
        let bytes = std::fs::read(self.at(&path)).map_err(|error| why("/proc/PID/io", &error))?;
        let text = std::str::from_utf8(&bytes).map_err(|_| format!("{path}: not a text"))?;
        let io = own::parse(text)?;
        Ok(ProcessIo { read: io.read_bytes, write: io.write_bytes })
    }
}

/// The name without what would move a terminal's cursor: a process may call itself anything.
pub(super) fn printable(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const IO: &str = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n";

    fn scene(files: &[(&str, &str)]) -> (tempfile::TempDir, Scene) {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let scene = Scene::under(folder.path());
        (folder, scene)
    }

    #[test]
    fn a_process_without_io_is_there_and_not_idle() {
        let (_folder, scene) = scene(&[
            ("proc/7/comm", "dd\n"),
            ("proc/7/io", IO),
            ("proc/8/comm", "\u{1b}[2J\n"),
            ("proc/uptime", "1 1\n"),
        ]);
        let io = ProcessIo { read: Bytes(4096), write: Bytes(8192) };
        assert_eq!(
            scene.processes(),
            Reading::Seen(vec![
                Process { pid: 7, name: "dd".into(), io: Some(io) },
                Process { pid: 8, name: "?[2J".into(), io: None },
            ])
        );
    }

    #[test]
    fn where_no_process_tells_the_reason_does() {
        let (_folder, scene) = scene(&[("proc/8/comm", "x\n")]);
        let why = "/proc/PID/io: No such file or directory (ENOENT)";
        assert_eq!(scene.processes(), Reading::Unseen(why.into()));
    }

    #[test]
    fn a_child_is_seen_and_we_are_not() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let all = Scene::default().processes();
        child.kill().unwrap();
        child.wait().unwrap();
        let Reading::Seen(all) = all else { panic!("{all:?}") };
        let found = all.iter().find(|process| process.pid == child.id());
        assert!(found.is_some_and(|found| found.io.is_some()), "{found:?}");
        assert!(all.iter().all(|process| process.pid != std::process::id()));
    }
}
