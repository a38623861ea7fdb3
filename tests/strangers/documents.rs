//! Files that are no documents, for every verb that reads one: an answer in a line, and status 2.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::lab::{self, Ran};

/// A folder with files of all sorts.
fn desk() -> tempfile::TempDir {
    let desk = tempfile::tempdir().expect("a desk");
    let at = |name: &str| desk.path().join(name);
    let write = |name: &str, bytes: &[u8]| std::fs::write(at(name), bytes).expect("written");
    write("empty", b"");
    write("bare.json", br#"{"schema":"assay.record/1","phases":[{}]}"#);
    write("bare2.json", br#"{"schema":"assay.record/2","phases":[{}]}"#);
    write("deep.json", &[b'['; 1_000_000]);
    write(
        "deep-record.json",
        &[&br#"{"schema":"assay.record/2","plan":"#[..], &[b'['; 100_000]].concat(),
    );
    write("bytes", &(0..=255).cycle().take(100_000).collect::<Vec<u8>>());
    write("escapes.json", b"{\"schema\": \"assay.record/\\u001b[2J\\n\"}");
    write("key.json", b"{\"\\u001b[2J\\n\": 1, \"phases\": [{\"\\u001b[2J\\nx\": 1}]}");
    std::os::unix::fs::symlink("/dev/zero", at("zero.json")).expect("linked");
    std::fs::File::create(at("huge.json")).and_then(|it| it.set_len(1 << 40)).expect("a hole");
    let mkfifo = std::process::Command::new("mkfifo").arg(at("pipe.json")).status();
    assert!(mkfifo.expect("it runs").success());
    desk
}

fn typed(words: &[&str], desk: &Path) -> Ran {
    let since = Instant::now();
    let ran = lab::assay(words.iter().copied()).cwd(desk).run();
    assert!(since.elapsed() < Duration::from_secs(60), "{words:?}");
    ran
}

#[test]
fn whatever_stands_there_is_answered_in_a_line() {
    let desk = desk();
    for file in [
        "empty",
        "bare.json",
        "bare2.json",
        "deep.json",
        "deep-record.json",
        "bytes",
        "escapes.json",
        "key.json",
        "zero.json",
        "huge.json",
        "pipe.json",
        ".",
    ] {
        for words in [
            &["judge", file][..],
            &["judge", "--json", file],
            &["compare", file, file],
            &["explain", file],
            &["run", file],
            &["run", "--plan", file],
        ] {
            let ran = typed(words, desk.path());
            let one_line = ran.stderr.starts_with("assay: ") && ran.stderr.lines().count() == 1;
            // A folder of records that has none, of those with that ending one is a record.
            assert!(ran.code() == 2 && one_line && ran.stdout.is_empty(), "{words:?}: {ran}");
            assert!(!ran.stderr.contains('\u{1b}'), "{words:?}: {ran}");
        }
    }
}

#[test]
fn job_files_and_lists_are_regular_files() {
    let desk = desk();
    for words in [
        &["fio", "zero.json"][..],
        &["fio", "pipe.json"],
        &["fio", "huge.json"],
        &["fio", "--name=a", "--rw=read", "--size=4k", "--read_iolog=pipe.json", "--plan"],
        &["fio", "--name=a", "--rw=read", "--size=4k", "--read_iolog=huge.json", "--plan"],
        &["iozone", "-X", "pipe.json", "-f", "x", "--plan"],
        &["iozone", "-X", "zero.json", "-f", "x", "--plan"],
    ] {
        let ran = typed(words, desk.path());
        assert!(ran.code() == 2, "{words:?}: {ran}");
        let why = ["no regular file", "larger than 64 MiB"];
        assert!(why.iter().any(|why| ran.stderr.contains(why)), "{words:?}: {ran}");
    }
}

#[test]
fn pipes_that_are_handed_over_are_read() {
    let record = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records/t02-no-flush.json");
    let bytes = std::fs::read(&record).expect("a record");
    let desk = desk();
    let usual = typed(&["judge", record.to_str().expect("text")], desk.path());
    for word in ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"] {
        let ran = lab::assay(["judge", word]).stdin(&bytes).run();
        assert_eq!((ran.code(), &ran.stdout), (usual.code(), &usual.stdout), "{word}: {ran}");
    }
    let line = format!("'{}' explain <(cat '{}')", env!("CARGO_BIN_EXE_assay"), record.display());
    let ran = std::process::Command::new("bash").args(["-c", &line]).output().expect("bash");
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    // What has no end is cut.
    let line = format!("'{}' judge - </dev/zero", env!("CARGO_BIN_EXE_assay"));
    let ran = std::process::Command::new("bash").args(["-c", &line]).output().expect("bash");
    assert_eq!(ran.status.code(), Some(2));
    let said = "assay: 'standard input' is larger than 64 MiB, which is enough for a document; \
                ASSAY_LARGEST_DOCUMENT=1G in the environment allows more\n";
    assert_eq!(String::from_utf8_lossy(&ran.stderr), said);
}

#[test]
fn more_is_read_where_more_is_told() {
    let record = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records/t02-no-flush.json");
    let mut bytes = std::fs::read(record).expect("a record");
    bytes.extend(vec![b' '; 65 << 20]);
    let desk = tempfile::tempdir().expect("a desk");
    std::fs::write(desk.path().join("long.json"), &bytes).expect("written");
    let refused = typed(&["judge", "long.json"], desk.path());
    assert_eq!(refused.code(), 2, "{refused}");
    let told = |size: &str| {
        lab::assay(["judge", "long.json"])
            .cwd(desk.path())
            .env("ASSAY_LARGEST_DOCUMENT", size)
            .run()
    };
    assert_eq!(told("100M").code(), 3);
    let wrong = told("much");
    let said = "assay: ASSAY_LARGEST_DOCUMENT: 'much' is no size; give the size that a record or another document \
                may have at most: 256M, 1G\n";
    assert_eq!((wrong.code(), &*wrong.stderr), (2, said));
}
