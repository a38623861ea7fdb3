//! The machine's own disk, beside fio: 4 KiB random reads of a file, direct, at depths from 4 to 128.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde_json::json;

use super::{assay, fio, plan, row, there, thousands, turns};

/// Bytes of the file: more than caches of a host or a drive hold for long.
const SIZE: u64 = 2 << 30;

/// The rows of the disk below that folder.
pub fn rows(folder: &Path) {
    if !there("fio") {
        return;
    }
    match Written::new(folder) {
        Ok(file) => reads(file.0.path()),
        Err(why) => println!("reads of the machine's own disk: left out: {why}"),
    }
}

/// A file that is full of data that do not compress, and goes away by itself.
struct Written(tempfile::NamedTempFile);

impl Written {
    fn new(folder: &Path) -> Result<Self, String> {
        let said = |error: std::io::Error| format!("{}: {error}", folder.display());
        let room = rustix::fs::statvfs(folder).map_err(|errno| said(errno.into()))?;
        if room.f_bavail * room.f_frsize < 2 * SIZE {
            return Err(format!("{} has no room for 2 GiB and as much again", folder.display()));
        }
        let kind = rustix::fs::statfs(folder).map_err(|errno| said(errno.into()))?.f_type;
        if kind == 0x0102_1994 {
            return Err(format!("{} is memory (tmpfs), no disk", folder.display()));
        }
        let file = tempfile::NamedTempFile::new_in(folder).map_err(said)?;
        let mut direct = std::fs::OpenOptions::new();
        direct.read(true).custom_flags(libc::O_DIRECT);
        direct.open(file.path()).map_err(|error| {
            format!("the file system of {} has no direct I/O: {error}", folder.display())
        })?;
        let (mut out, mut state) = (file.as_file(), 0x9E37_79B9_7F4A_7C15_u64);
        let mut block = vec![0; 1 << 20];
        for _ in 0..SIZE >> 20 {
            for word in block.chunks_exact_mut(8) {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                word.copy_from_slice(&state.to_ne_bytes());
            }
            out.write_all(&block).map_err(said)?;
        }
        file.as_file().sync_all().map_err(said)?;
        Ok(Self(file))
    }
}

fn reads(path: &Path) {
    let target = json!({ "file": {
        "path": path, "size": "whole", "layout": "existing", "lifetime": "keep",
    } });
    let file = format!("--filename={}", path.display());
    for (name, method) in [("io_uring", json!({ "io_uring": {} })), ("libaio", json!("libaio"))] {
        for depth in [4, 16, 32, 128] {
            let plan = plan(target.clone(), method.clone(), "direct", depth, 2.0);
            let (engine, depth_word) = (format!("--ioengine={name}"), format!("--iodepth={depth}"));
            let words = [&file, "--direct=1", "--runtime=2", "--readonly", &engine, &depth_word];
            let (ours, theirs) = turns(|| assay(&plan), || fio(&words));
            let title = format!("own disk: 4 KiB random reads, {name} q{depth}");
            row(&title, thousands(ours), thousands(theirs), ours / theirs, ">= 1.00");
        }
    }
}
