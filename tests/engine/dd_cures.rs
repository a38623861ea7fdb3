//! What is said of a copy that went wrong, or was no measurement, can be typed as it stands.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::lab;

/// What a line of sh says on standard error, typed in a folder where `assay` is this program; and its
/// exit status.
fn typed(folder: &Path, line: &str) -> (String, Option<i32>) {
    for name in ["assay", "busybox"] {
        if !folder.join(name).exists() {
            symlink(env!("CARGO_BIN_EXE_assay"), folder.join(name)).expect("a link");
        }
    }
    let out = Command::new("sh")
        .args(["-c", line])
        .current_dir(folder)
        .env("PATH", format!("{}:/usr/bin:/bin", folder.display()))
        .env("ASSAY_SETTLE", "no")
        .env("ASSAY_VERDICT", "-")
        .output()
        .expect("sh");
    (String::from_utf8_lossy(&out.stderr).into_owned(), out.status.code())
}

/// What is to be typed next.
fn next(said: &str) -> &str {
    let line = said.lines().find_map(|line| line.strip_prefix("assay: next: "));
    line.unwrap_or_else(|| panic!("nothing to type: {said}"))
}

#[test]
fn a_full_output_is_told_in_the_words_of_dd() {
    let folder = tempfile::tempdir().expect("a folder");
    let (said, code) = typed(folder.path(), "assay dd if=/dev/zero of=/dev/full bs=1M count=3");
    assert_eq!(code, Some(1), "{said}");
    assert!(!said.contains("--size") && said.contains(" with of=."), "{said}");
    assert_eq!(next(&said), "df -hT");
    assert!(said.contains("answer when asked to write /dev/full: No space left"), "{said}");
    assert!(said.contains("(write())"), "{said}");
}

#[test]
fn what_a_shell_was_told_is_part_of_the_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("it's a file");
    fs::write(&file, vec![7; 32 << 20]).expect("written");
    if !on_a_disk(&file) {
        return lab::skipped("a line with '<'", &lab::Skip::Machine("no disk below".into()));
    }
    let line = "assay dd <\"it's a file\" of=/dev/null skip=5 bs=1M";
    // The second time it is in memory, and that is said.
    typed(folder.path(), line);
    let (said, _) = typed(folder.path(), line);
    let next = next(&said);
    assert!(next.contains("skip=5") && next.contains(" <'/"), "{said}");
    let (again, code) = typed(folder.path(), next);
    assert_eq!(code, Some(0), "{next}\n{again}");
    assert!(again.contains("27+0 records in\n27+0 records out\n"), "{next}\n{again}");
    // The same for standard output.
    let (said, _) = typed(folder.path(), "assay dd if=\"it's a file\" bs=1M >out");
    let line = said.lines().find(|line| line.contains("assay dd ")).unwrap_or_default();
    assert!(line.ends_with(&format!(" >{}", folder.path().join("out").display())), "{said}");
}

/// What the record says a shell was told, or nothing where no line is to be offered.
fn spelled(folder: &Path, line: &str) -> Option<String> {
    let record = folder.join("record.json");
    let _ = fs::remove_file(&record);
    let (said, _) = typed(folder, &format!("export ASSAY_RECORD={}; {line}", record.display()));
    let text = fs::read_to_string(&record).unwrap_or_else(|error| panic!("{error}\n{said}"));
    let record: serde_json::Value = serde_json::from_str(&text).expect("a record");
    let origin = &record["plan"]["origin"];
    let offered = said.lines().any(|line| line.starts_with("assay: next: assay dd"));
    match origin["piped"].as_bool() {
        Some(true) => {
            assert!(!offered, "{line}\n{said}");
            None
        }
        _ => Some(origin["redirected"].as_str().unwrap_or_default().to_owned()),
    }
}

#[test]
fn no_line_is_offered_that_would_cut_a_file_or_wait_for_somebody() {
    use std::os::unix::ffi::OsStrExt;
    let desk = tempfile::tempdir().expect("a folder");
    let place = desk.path().canonicalize().expect("a path");
    fs::write(place.join("in"), vec![7; 8192]).expect("written");
    fs::write(place.join("log"), "a line\n").expect("written");
    let at = |name: &str| place.join(name).display().to_string();
    let dd = "assay dd bs=4k count=1";
    for (line, wanted) in [
        // What it holds stays.
        (format!("{dd} <in >>log"), Some(format!(" <{} >>{}", at("in"), at("log")))),
        (format!("{dd} <in 1<>log"), Some(format!(" <{} 1<>{}", at("in"), at("log")))),
        (format!("{dd} <in >out"), Some(format!(" <{} >{}", at("in"), at("out")))),
        (format!("{dd} </dev/zero >/dev/null"), Some(" </dev/zero >/dev/null".into())),
        (format!("{dd} if=in of=out"), Some(String::new())),
        // It goes on from the middle of a file.
        (format!("(echo begins; {dd} <in) >out"), None),
        (format!("(head -c 1 >&2; {dd} >out) <in"), None),
        // Somebody else is at the other end.
        (format!("cat in | {dd} of=out"), None),
        (format!("{dd} if=in | cat >out"), None),
        // It has no name any more.
        (format!("(rm out; {dd} <in) >out"), None),
    ] {
        assert_eq!(spelled(&place, &line), wanted, "{line}");
    }
    let odd = place.join(std::ffi::OsStr::from_bytes(b"o\xffd"));
    fs::write(&odd, "").expect("written");
    let found =
        spelled(&place, &format!("for name in o*d; do {dd} <in >\"$name\"; done")).expect("a name");
    assert!(found.ends_with("/o\\377d'") && found.contains(" >$'/"), "{found}");
}

#[test]
fn a_copy_of_a_few_blocks_is_not_looked_at() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("in"), vec![7; 4096]).expect("written");
    let (said, code) = typed(folder.path(), "assay dd if=in of=out bs=4k");
    let expected = "\
assay: unproven (unsure): Only 4 KiB was moved, which is too little to measure.
assay: because counters of the kernel: not looked at (the run)
assay: next: assay io in --rw read --bs 4k
1+0 records in
1+0 records out
4096 bytes (4.1 kB, 4.0 KiB) copied, ";
    assert!(said.starts_with(expected) && code == Some(0), "{said}");
    let looked = |line: &str| !typed(folder.path(), line).0.contains("not looked at");
    for line in ["if=/dev/zero of=out bs=16k count=4", "if=in of=out", "bs=64k count=1 <in >out"] {
        assert!(!looked(&format!("assay dd {line}")), "{line}");
    }
    // More of it, how much is not known, a device has to answer, or somebody wants to know.
    for line in [
        "assay dd if=/dev/zero of=out bs=16k count=5",
        "assay dd bs=64k <in >out",
        "assay dd if=/proc/cpuinfo of=out",
        "assay dd if=in of=out conv=fsync",
        "assay dd if=in of=out oflag=dsync",
        "ASSAY_RECORD=r.json assay dd if=in of=out",
        "ASSAY_COLD=target assay dd if=in of=out",
        "ASSAY_SETTLE=yes assay dd if=in of=out",
    ] {
        assert!(looked(line), "{line}");
    }
}

/// Whether a file lies on block devices, whose counters can be read.
pub fn on_a_disk(file: &Path) -> bool {
    let probe = lab::assay(["probe", "--json"]).word(file).run();
    let probe: serde_json::Value = serde_json::from_str(&probe.stdout).expect("a probe");
    probe["survey"]["bottom"] == "devices"
}

#[test]
fn memory_that_is_not_there_is_told_in_whole_sentences() {
    let folder = tempfile::tempdir().expect("a folder");
    let (said, code) = typed(folder.path(), "assay dd if=/dev/zero of=/dev/null bs=1T count=1");
    assert_eq!(code, Some(1), "{said}");
    assert!(!said.contains("for of") && !said.contains("find memory for()"), "{said}");
    assert!(said.contains("bs=1M"), "{said}");
}

#[test]
fn another_applet_of_busybox_is_not_taken_for_a_verb() {
    let folder = tempfile::tempdir().expect("a folder");
    let (said, code) = typed(folder.path(), "./busybox cat");
    assert_eq!(code, Some(2), "{said}");
    assert_eq!(
        said,
        "assay: busybox cat: of busybox this program does only dd; write 'busybox dd if=... of=...', or call the real one by its path\n"
    );
}
