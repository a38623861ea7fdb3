//! What the newest GNU dd does and 9.1 did not, and what a copy does in the thread that was started.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

use crate::dd_cures::on_a_disk;
use crate::lab::{self, Skip};

/// Types a line of bash in a folder where `dd`, `fio`, `iozone`, `bonnie++` and `assay` are this program: its status, and
/// what it says on standard error.
fn typed(folder: &Path, line: &str) -> (Option<i32>, String) {
    for name in ["assay", "dd", "fio", "iozone", "bonnie++", "busybox"] {
        let link = folder.join("bin").join(name);
        fs::create_dir_all(folder.join("bin")).expect("a folder");
        if !link.exists() {
            symlink(env!("CARGO_BIN_EXE_assay"), link).expect("a link");
        }
    }
    let Output { status, stderr, .. } = Command::new("bash")
        .args(["-c", line])
        .current_dir(folder)
        .env("PATH", format!("{}/bin:/usr/sbin:/usr/bin:/bin", folder.display()))
        .env("ASSAY_SETTLE", "no")
        .output()
        .expect("bash");
    (status.code(), String::from_utf8_lossy(&stderr).into_owned())
}

#[test]
fn numbers_are_products_of_many() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for (words, bytes) in [
        ("bs=2x3x4 count=2", 48),
        ("bs=1 count=1x2x4", 8),
        ("bs=5 count=1Bx2x4", 8),
        ("bs=5 count=2Bx4B", 8),
        ("bs=1 count=2x0x3", 0),
    ] {
        let (code, said) = typed(at, &format!("dd if=/dev/zero of=x {words}"));
        assert_eq!(code, Some(0), "{words}: {said}");
        assert_eq!(fs::metadata(at.join("x")).expect("there").len(), bytes, "{words}");
    }
    // As many as fit into a line, on a small stack.
    let many = "1x".repeat(10_000);
    let (code, said) =
        typed(at, &format!("ulimit -s 256; dd if=/dev/zero of=x bs=1 count={many}3"));
    assert!(code == Some(0) && said.starts_with("3+0 records in\n"), "{said}");
    for (number, why) in [
        ("B1", ""),
        ("1Bx", ""),
        ("KBB", ""),
        ("1xx1", ""),
        ("4Gx4Gx4G", ": Value too large for defined data type"),
        ("1Q", ": Value too large for defined data type"),
        ("99999999999999999999z", ": Value too large for defined data type"),
    ] {
        let (code, said) = typed(at, &format!("dd if=/dev/null count={number}"));
        assert_eq!((code, said), (Some(1), format!("dd: invalid number: '{number}'{why}\n")));
    }
}

#[test]
fn a_block_that_was_written_in_part_is_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = "ulimit -S -f 1024; trap '' XFSZ; dd if=/dev/zero of=x bs=768K count=2";
    let (code, said) = typed(folder.path(), line);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("2+0 records in\n1+1 records out\n1048576 bytes "), "{said}");
}

#[test]
fn progress_is_told_between_blocks() {
    let folder = tempfile::tempdir().expect("a folder");
    // A machine that is slow to start it misses the first second.
    let told = [1.5, 4.0, 9.0].into_iter().any(|wait| {
        let line = format!("(sleep {wait}; echo 1) | dd bs=1 of=/dev/null status=progress");
        let (code, said) = typed(folder.path(), &line);
        assert_eq!(code, Some(0), "{said}");
        assert!(!said.contains("\r0 bytes"), "{said}");
        said.starts_with("\r1 byte copied, ")
    });
    assert!(told, "no progress");
}

#[test]
fn a_small_stack_is_enough_and_signals_are_heard() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for line in [
        "dd if=/dev/zero of=x bs=64k count=2",
        "busybox dd if=/dev/zero of=x bs=64k count=2",
        "assay dd if=/dev/zero of=x bs=64k count=200",
        "fio --name=a --rw=write --bs=64k --size=1m --unlink=1",
        "iozone -i 0 -s 256k -r 64k",
        "bonnie++ -u $(id -un) -d . -s 16 -r 8 -n 0 -q -f",
        "assay traps",
    ] {
        let (code, said) = typed(at, &format!("ulimit -s 64; {line} > /dev/null"));
        assert_eq!(code, Some(0), "{line}: {said}");
    }
    // Reports when asked, and dies as whoever started it sees.
    let until = "until grep -q records said; do kill -s USR1 $! || break; sleep .05; done";
    for (limit, signal, status) in [("64", "TERM", 143), ("64", "INT", 130), ("8192", "TERM", 143)]
    {
        let line = format!(
            "set -m; ulimit -s {limit}; dd if=/dev/zero of=/dev/null 2>said & sleep .2; {until}; kill -s {signal} $!; wait $!"
        );
        let (code, said) = typed(at, &line);
        let told = fs::read_to_string(at.join("said")).expect("said");
        assert_eq!(code, Some(status), "{limit} {signal}: {said}{told}");
        assert!(told.contains(" records in\n"), "{told}");
    }
    // Also while it waits for a pipe that nobody writes to.
    let line = "mkfifo p; sleep 100 > p & set -m; dd if=p of=/dev/null & sleep .5; kill $!; wait $!; echo $? >&2; kill %1";
    let (_, said) = typed(at, line);
    assert!(said.contains("143\n"), "{said}");
}

#[test]
fn who_looks_at_the_process_sees_the_copy() {
    lab::need!(lab::need_tool("strace", "strace"));
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    fs::write(at.join("in"), vec![7; 1_234_567]).expect("written");
    let traced = |words: &str| {
        let line = format!("strace -o trace -e trace=fadvise64,fadvise64_64,write dd {words}");
        let (code, said) = typed(at, &line);
        assert_eq!(code, Some(0), "{said}");
        fs::read_to_string(at.join("trace")).expect("a trace")
    };
    let trace = traced("if=in of=out bs=1M oflag=nocache,sync");
    let advised: Vec<&str> = trace.lines().filter(|line| line.starts_with("fadvise")).collect();
    assert_eq!(advised.len(), 3, "{trace}");
    assert!(advised[2].contains(" 1179648, 0, POSIX_FADV_DONTNEED"), "{trace}");
    assert_eq!(trace.lines().filter(|line| line.contains(r#""\7\7"#)).count(), 2, "{trace}");
    if !on_a_disk(&at.join("in")) {
        return lab::skipped("a direct copy", &Skip::Machine("no disk below".into()));
    }
    // By whole pages, and up to the end.
    let trace = traced("if=in of=out bs=1M oflag=direct seek=512B");
    let advised: Vec<&str> = trace.lines().filter(|line| line.starts_with("fadvise")).collect();
    assert!(
        advised.iter().all(|line| {
            let place = line.split(", ").nth(1).and_then(|place| place.parse::<u64>().ok());
            place.is_some_and(|place| place.is_multiple_of(4096))
        }),
        "{trace}"
    );
    assert!(
        advised.last().is_some_and(|line| line.contains(", 0, POSIX_FADV_DONTNEED")),
        "{trace}"
    );
}

#[test]
fn an_output_that_cannot_be_cut_is_left_alone() {
    lab::need!(lab::need_tool("strace", "strace"));
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let strace = "strace -o trace -e quiet=path-resolution -P out";
    for (faults, said) in [
        (
            "-e fault=ftruncate:error=EPERM",
            "dd: failed to truncate to 512 bytes in output file 'out'",
        ),
        ("-e fault=ftruncate:error=EPERM -e fault=fstat:error=EPERM", "dd: cannot fstat 'out'"),
    ] {
        fs::write(at.join("out"), vec![b'y'; 2048]).expect("written");
        let line = format!("{strace} {faults} dd if=/dev/zero of=out count=1 seek=1 status=none");
        let told = typed(at, &line);
        assert_eq!(told, (Some(1), format!("{said}: Operation not permitted\n")));
        assert_eq!(fs::read(at.join("out")).expect("there"), vec![b'y'; 2048]);
    }
}

#[test]
fn each_file_is_looked_at_once_after_the_copy() {
    lab::need!(lab::need_tool("strace", "strace"));
    let memory = lab::need!(lab::Memory::tmpfs());
    let at = memory.mount();
    fs::write(at.join("in"), vec![7; 8 << 20]).expect("written");
    let (code, said) =
        typed(at, "unset ASSAY_SETTLE; strace -f -o trace assay dd if=in of=out bs=1M");
    assert_eq!(code, Some(0), "{said}");
    let trace = fs::read_to_string(at.join("trace")).expect("a trace");
    let last = trace.lines().collect::<Vec<_>>();
    let copied =
        last.iter().rposition(|line| line.contains("1048576) = 1048576")).expect("a block");
    let looks = last[copied..].iter().filter(|line| {
        ["cachestat(", "syscall_0x1c3(", "mincore("].iter().any(|call| line.contains(call))
    });
    assert_eq!(looks.count(), 2, "{trace}");
    // Where nobody hears of it nobody looks.
    typed(at, "unset ASSAY_SETTLE; strace -f -o trace dd if=in of=out bs=1M");
    let trace = fs::read_to_string(at.join("trace")).expect("a trace");
    assert!(!trace.contains("cachestat(") && !trace.contains("syscall_0x1c3("), "{trace}");
}

#[test]
fn a_last_block_through_memory_is_said_and_its_flush_seen() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    fs::write(at.join("in"), vec![7; 10_000]).expect("written");
    if !on_a_disk(&at.join("in")) {
        return lab::skipped("a direct copy", &Skip::Machine("no disk below".into()));
    }
    let line = "ASSAY_RECORD=record.json assay dd if=in of=out bs=4k oflag=direct";
    let (code, said) = typed(at, line);
    assert_eq!(code, Some(0), "{said}");
    let note = "assay: note: The last 1.77 KiB went through the page cache";
    assert!(said.lines().any(|line| line.starts_with(note)), "{said}");
    let (_, said) = typed(at, "assay explain record.json >&2");
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("One fsync at the end is inside the timing."), "{said}");
    assert!(!words.contains("not flushed"), "{said}");
    // A whole one does not.
    let (_, said) = typed(at, "assay dd if=in of=out bs=4k count=2 oflag=direct");
    assert!(!said.contains("page cache: a block"), "{said}");
}

#[test]
fn blocks_that_direct_io_refuses_are_named_with_a_line_that_works() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    fs::write(at.join("in"), vec![7; 1 << 20]).expect("written");
    if !on_a_disk(&at.join("in")) {
        return lab::skipped("a direct copy", &Skip::Machine("no disk below".into()));
    }
    for line in [
        "assay dd if=/dev/zero of=out bs=1000 count=10 oflag=direct",
        "assay dd if=in of=/dev/null bs=1000 count=10 iflag=direct",
        "assay dd if=/dev/zero of=out bs=1000 count=10 seek=1 oflag=direct",
    ] {
        let (code, said) = typed(at, line);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains(" bytes here, and 1000 is none."), "{said}");
        let next = said.lines().find_map(|line| line.strip_prefix("assay: next: "));
        let next = next.unwrap_or_else(|| panic!("nothing to type: {said}"));
        let (code, again) = typed(at, &format!("{next} > /dev/null"));
        assert!([Some(0), Some(3)].contains(&code), "{next}: {again}");
    }
}

#[test]
fn what_was_meant_is_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    for (line, meant) in [
        ("assay dd if=/dev/zero of=x bs=1m", "bs=1M"),
        ("assay dd if=/dev/zero of=x bs=4kib count=1g", ""),
        ("assay dd if=/dev/zero of=x bs=4kib", "bs=4KiB"),
        ("assay dd if=/dev/zero of=x bs=10mb", "bs=10MB"),
        ("assay dd if=/dev/zero of=x bs=2x1m", "bs=2x1M"),
        ("assay dd if=/dev/zero off=x", "of=x"),
        ("assay dd if=/dev/zero of=x conv=notrunc,fsycn", "conv=notrunc,fsync"),
        ("assay dd if=/dev/zero of=x oflag=drect", "oflag=direct"),
        ("assay dd if=/dev/zero of=x status=progres", "status=progress"),
        ("assay dd if=/dev/zero of=x frobnicate=1", ""),
        ("ASSAY_DIALECT=busybox assay dd if=/dev/zero of=x bs=4KiB", "bs=4K"),
        ("ASSAY_DIALECT=busybox assay dd if=/dev/zero of=x bs=1m", "bs=1M"),
    ] {
        let (code, said) = typed(folder.path(), line);
        assert_eq!(code, Some(2), "{line}: {said}");
        let asked = said.lines().find_map(|line| line.strip_prefix("assay: did you mean "));
        let wanted = Some(format!("{meant}?")).filter(|_| !meant.is_empty());
        assert_eq!(asked.map(String::from), wanted, "{line}: {said}");
    }
    // GNU's does not ask.
    let said = typed(folder.path(), "dd if=/dev/zero of=x bs=1m");
    assert_eq!(said, (Some(1), "dd: invalid number: '1m'\n".into()));
}

#[test]
fn busybox_is_answered_in_its_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    if !on_a_disk(at) {
        return lab::skipped("a copy to a disk", &Skip::Machine("no disk below".into()));
    }
    let line = "ASSAY_VERDICT=- busybox dd if=/dev/zero of=x bs=64k count=800";
    let (code, said) = typed(at, line);
    assert_eq!(code, Some(0), "{said}");
    let next = said.lines().find_map(|line| line.strip_prefix("assay: next: "));
    let next = next.unwrap_or_else(|| panic!("nothing to type: {said}"));
    if next.contains("assay dd") {
        assert!(
            next.starts_with("ASSAY_DIALECT=busybox assay dd if=/dev/zero of=x bs=64k"),
            "{next}"
        );
        let (code, again) = typed(at, next);
        assert!(code == Some(0) && again.contains(" seconds, "), "{next}: {again}");
    }
    let (_, said) =
        typed(at, "assay explain busybox dd if=/dev/zero of=x bs=1000 oflag=direct >&2");
    assert!(
        said.contains("busybox dd if=/dev/zero") && said.contains("ASSAY_DIALECT=busybox assay dd"),
        "{said}"
    );
}
