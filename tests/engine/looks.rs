//! Who only looks writes nothing: no evidence may send out what waits in memory, before a copy or at any
//! other time that the words did not ask for.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use assay_record::evidence::Reading;
use assay_record::record::TimeHolder;
use serde_json::json;

use crate::kernel;
use crate::lab;

/// What makes a file system write.
const CALLS: &str = "trace=fsync,fdatasync,sync,syncfs,sync_file_range,msync,ioctl,read,write";

/// A file of 4 MiB that nothing has written out, and another with reserved blocks that were written to.
fn dirty(folder: &Path) {
    fs::write(folder.join("f"), vec![7; 4 << 20]).expect("written");
    let reserved = fs::File::create(folder.join("g")).expect("made");
    let plainly = rustix::fs::FallocateFlags::empty();
    let _ = rustix::fs::fallocate(&reserved, plainly, 0, 4 << 20);
    rustix::fs::fsync(&reserved).expect("flushed");
    rustix::io::pwrite(&reserved, &vec![8; 4 << 20], 0).expect("written");
}

/// The calls of these words that make a file system write, in their order, as `fsync`; and a look
/// that does as `FLAG_SYNC`.
fn flushes(folder: &Path, words: &str) -> Vec<String> {
    let trace = folder.join("trace");
    let out = Command::new("strace")
        .args(["-f", "-qq", "-e", CALLS, "-o"])
        .arg(&trace)
        .arg(env!("CARGO_BIN_EXE_assay"))
        .args(words.split(' '))
        .current_dir(folder)
        .env("ASSAY_SETTLE", "no")
        .output()
        .expect("strace");
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{words}\n{said}");
    let text = fs::read_to_string(&trace).expect("a trace");
    fs::remove_file(&trace).expect("removed");
    assert!(text.contains("read("), "nothing was traced: {text}");
    let call = |line: &str| {
        let (_, call) = line.split_once(' ')?;
        let name = call.trim_start().split_once('(')?.0;
        match name {
            // The second half of one that another thread's came between.
            half if half.starts_with('<') => None,
            // One that strace does not know yet (cachestat) is none of these.
            "read" | "write" => None,
            unnamed if unnamed.starts_with("syscall_") => None,
            "ioctl" if !call.contains("FIEMAP_FLAG_SYNC") => None,
            "ioctl" => Some("FLAG_SYNC".into()),
            other => Some(String::from(other)),
        }
    };
    text.lines().filter_map(call).collect()
}

#[test]
fn whoever_looks_sends_nothing_out() {
    lab::need!(lab::need_tool("strace", "strace"));
    let folder = tempfile::tempdir().expect("a folder");
    for (words, asked) in [
        ("dd if=f of=/dev/null bs=1M count=1 status=none", vec![]),
        ("dd if=f of=/dev/null bs=1M", vec![]),
        ("dd if=g of=/dev/null bs=1M", vec![]),
        ("dd if=f of=g bs=1M count=1 conv=notrunc", vec![]),
        ("dd if=/dev/zero of=new bs=1M count=1", vec![]),
        ("dd if=f of=g bs=1M conv=notrunc,fdatasync", vec!["fdatasync"]),
        ("dd if=f of=g bs=1M conv=fsync", vec!["fsync"]),
        ("dd --plan if=f of=g", vec![]),
        ("explain dd if=f of=g", vec![]),
        ("probe f", vec![]),
        ("probe .", vec![]),
    ] {
        dirty(folder.path());
        assert_eq!(flushes(folder.path(), words), asked, "assay {words}");
    }
}

#[test]
fn a_read_of_what_waits_in_memory_is_no_read_of_holes() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["f", "g"] {
        dirty(folder.path());
        let file = folder.path().join(name);
        let plan = json!({
            "title": "a read", "origin": { "dialect": "plan" }, "seed": 7,
            "phases": [{ "name": "read", "jobs": [{ "name": "read", "work": { "copy": {
                "from": { "path": &file }, "to": { "path": "/dev/null" },
                "input_block": 65536, "output_block": 65536, "block_for_block": true,
            }}}]}],
        });
        let desk = folder.path().join("plan.json");
        fs::write(&desk, plan.to_string()).expect("written");
        let heard = kernel::hear_own(lab::run_plan(&desk));
        assert!(!heard.found("T23") && !heard.found("T25"), "{heard}");
        let [laid] = heard.phase().evidence.extents.as_slice() else { panic!("{heard}") };
        if let Reading::Seen(seen) = &laid.extents {
            assert_eq!((seen.hole.0, seen.unwritten.0), (0, 0), "{name}\n{heard}");
        }
        // It still waits there.
        let before = &heard.phase().evidence.before.cache;
        let pages = before.iter().find(|one| one.path == file.display().to_string());
        let Some(Reading::Seen(pages)) = pages.map(|one| &one.pages) else {
            eprintln!("SKIP the pages of {name}: not seen");
            continue;
        };
        if let Some(dirty) = pages.dirty {
            assert!(dirty.0 + pages.writeback.map_or(0, |bytes| bytes.0) > 0, "{name}\n{heard}");
        }
    }
}

#[test]
fn what_a_run_of_half_a_second_waits_for_is_seen() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("record.json");
    let mut child = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["dd", "of=/dev/null", "bs=4k"])
        .env("ASSAY_RECORD", &record)
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    let mut pipe = child.stdin.take().expect("a pipe");
    for _ in 0..10 {
        pipe.write_all(&[7; 4096]).expect("written");
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(pipe);
    child.wait().expect("a child");
    let record = assay_record::record::load(&record).expect("a record");
    let states = record.phases[0].evidence.states.as_ref().expect("it was looked at");
    assert!(states.looks >= 10, "{states:?}");
    let time = record.phases[0].ledger.as_ref().and_then(|ledger| ledger.time.as_ref());
    let time = time.expect("a balance");
    assert!(time.looks == states.looks && time.unexplained < 0.05, "{time:?}");
    assert_eq!(time.terms[0].held_by, TimeHolder::OtherEnd, "{time:?}");
}

#[test]
fn a_small_copy_is_not_looked_at_for_longer_than_it_takes() {
    lab::need!(lab::need_tool("strace", "strace"));
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("f"), vec![7; 4096]).expect("written");
    let trace = folder.path().join("trace");
    let out = Command::new("strace")
        .args(["-f", "-qq", "-o"])
        .arg(&trace)
        .arg(env!("CARGO_BIN_EXE_assay"))
        .args(["dd", "if=f", "of=g"])
        .current_dir(folder.path())
        .output()
        .expect("strace");
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() && said.contains("4096 bytes"), "{said}");
    let text = fs::read_to_string(&trace).expect("a trace");
    let calls = |what: &str| text.lines().filter(|line| line.contains(what)).count();
    // Both ends lie on one disk, if on any.
    assert!(calls("/queue/rotational\"") <= 1, "{text}");
    // Nor is a copy of the machine's own made to compare it with, nor a flush of it watched.
    assert_eq!((calls("memfd_create("), calls("sync_file_range("), calls("fdatasync(")), (0, 0, 0));
}

/// Where nothing is said and no record kept, nobody looks at the machine: few calls besides the copy.
#[test]
fn a_copy_of_which_nothing_is_said_looks_at_nothing() {
    lab::need!(lab::need_tool("strace", "strace"));
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("f"), vec![7; 4096]).expect("written");
    for out in ["g", "/dev/null"] {
        let trace = folder.path().join("trace");
        let ran = Command::new("strace")
            .args(["-f", "-qq", "-o"])
            .arg(&trace)
            .arg(env!("CARGO_BIN_EXE_assay"))
            .args(["dd", "if=f", &format!("of={out}"), "bs=4k", "count=1", "status=none"])
            .current_dir(folder.path())
            .output()
            .expect("strace");
        assert!(ran.status.success() && ran.stderr.is_empty(), "{ran:?}");
        let text = fs::read_to_string(&trace).expect("a trace");
        let seen = |line: &&str| {
            let opened = line.contains("open(") || line.contains("openat(");
            let kernel = ["\"/sys/", "\"/proc/pressure", "\"/proc/stat", "\"/proc/meminfo"];
            opened && kernel.iter().any(|place| line.contains(place))
        };
        let seen: Vec<&str> = text.lines().filter(seen).collect();
        assert!(seen.is_empty(), "{seen:#?}");
        println!("{} calls to copy 4 KiB to {out}", text.lines().count());
    }
    assert_eq!(fs::read(folder.path().join("g")).expect("copied"), vec![7; 4096]);
}
