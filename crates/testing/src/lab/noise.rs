//! Somebody else who uses the disk.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use super::MI;
use super::gauge::{Aligned, open_direct};
use super::skip::broken;

/// A thread that writes or reads past the page cache, as long as it lives.
///
/// It runs in this process: on cgroup v2 it is not held back by a card's throttle, on v1 and on a
/// paced card it stands in the same queue as everybody.
pub struct Noise {
    file: PathBuf,
    stop: Arc<AtomicBool>,
    moved: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Noise {
    /// Keeps overwriting a file of 1 MiB in a folder.
    pub fn writer(folder: &Path) -> Noise {
        Noise::start(folder, true)
    }

    /// Keeps reading a file of 8 MiB in a folder; the file is written first, at the disk's speed.
    pub fn reader(folder: &Path) -> Noise {
        Noise::start(folder, false)
    }

    fn start(folder: &Path, write: bool) -> Noise {
        let path = folder.join("noise.bin");
        let size = if write { MI } else { 8 * MI };
        let open = open_direct(&path, true).unwrap_or_else(|e| broken("open the noise file", e));
        let mut buffer = Aligned::noise(256 << 10, 7);
        if !write {
            for offset in (0..size).step_by(256 << 10) {
                open.write_all_at(buffer.bytes(), offset)
                    .unwrap_or_else(|e| broken("write the noise file", e));
            }
        }
        let (stop, moved) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (seen, count) = (Arc::clone(&stop), Arc::clone(&moved));
        let thread = std::thread::spawn(move || {
            let mut offset = 0;
            while !seen.load(Ordering::Relaxed) {
                let done = match write {
                    true => open.write_all_at(buffer.bytes(), offset),
                    false => open.read_exact_at(buffer.bytes_mut(), offset),
                };
                if done.is_err() {
                    return;
                }
                count.fetch_add(256 << 10, Ordering::Relaxed);
                offset = (offset + (256 << 10)) % size;
            }
        });
        Noise { file: path, stop, moved, thread: Some(thread) }
    }

    /// Bytes moved so far.
    pub fn moved(&self) -> u64 {
        self.moved.load(Ordering::Relaxed)
    }
}

impl Drop for Noise {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let _ = fs::remove_file(&self.file);
    }
}
