//! Called by a tool's name with standard error in a file or a pipe: what the tool says there, and not a byte more; and
//! where the verdict goes then.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::lab::{self, Skip};

/// A folder in which this program has the names of all tools.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("bin")).expect("a folder");
        for name in ["assay", "dd", "fio", "iozone", "bonnie++", "busybox", "atto"] {
            symlink(env!("CARGO_BIN_EXE_assay"), folder.path().join("bin").join(name))
                .expect("a link");
        }
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Types a line of bash there.
    fn typed(&self, line: &str) -> (Option<i32>, String, String) {
        let Output { status, stdout, stderr } = Command::new("bash")
            .args(["-c", line])
            .current_dir(self.0.path())
            .env("PATH", format!("{}:/usr/sbin:/usr/bin:/bin", self.path("bin").display()))
            .env("LC_ALL", "C")
            .output()
            .expect("bash");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (status.code(), text(stdout), text(stderr))
    }

    /// The lines of a file there.
    fn lines(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.path(name)).unwrap_or_default();
        text.lines().map(String::from).collect()
    }
}

const COPY: &str = "dd if=/dev/zero of=x bs=64k count=64";

/// What dd says of a copy, without its time.
fn of_dd(said: &str) -> bool {
    let lines: Vec<&str> = said.lines().collect();
    lines.len() == 3
        && lines[..2] == ["64+0 records in", "64+0 records out"]
        && lines[2].starts_with("4194304 bytes (4.2 MB, 4.0 MiB) copied, ")
}

#[test]
fn by_the_tool_s_name_standard_error_is_the_tool_s() {
    let desk = Desk::new();
    let (code, out, said) = desk.typed(COPY);
    assert!(code == Some(0) && out.is_empty() && of_dd(&said), "{said}");
    // As scripts take the fields.
    let (_, words, _) = desk.typed(&format!("{COPY} 2>&1 | awk '{{print $(NF-1)}}'"));
    let words: Vec<&str> = words.lines().collect();
    assert_eq!(words[..2], ["records", "records"]);
    assert!(words.len() == 3 && words[2].parse::<f64>().is_ok(), "{words:?}");
    let (_, time, _) = desk.typed(&format!("{COPY} 2>&1 | grep -v records | cut -d' ' -f8"));
    assert!(time.trim().parse::<f64>().is_ok(), "{time}");
    for line in [
        "busybox dd if=/dev/zero of=x bs=64k count=64",
        "fio --name=a --rw=write --bs=8KiB --size=1m --unlink=1",
        "fio --name=a --rw=write --bs=64k --size=1m --unlink=1 --output-format=json",
        "iozone -+n -i 0 -i 1 -s 256k -r 64k -t 2 -p",
        "bonnie++ -u $(id -un) -d . -s 16 -r 8 -n 0 -q",
    ] {
        let (code, out, said) = desk.typed(line);
        assert_eq!(code, Some(0), "{line}: {said}");
        assert!(!said.contains("assay"), "{line}: {said}");
        assert!(!out.lines().any(|line| line.starts_with("assay")), "{line}: {out}");
        let (_, _, said) = desk.typed(&format!("ASSAY_VERDICT=- {line}"));
        assert!(said.lines().any(|line| line.starts_with("assay: ")), "{line}: {said}");
    }
    // What failed is told, and so is all of it where assay was called.
    let (code, _, said) = desk.typed("dd if=/dev/zero of=/dev/full count=1");
    assert!(code == Some(1) && said.contains("assay: wrong (invalid)"), "{said}");
    let (_, _, said) = desk.typed(&format!("assay {COPY}"));
    assert!(said.starts_with("assay: "), "{said}");
}

#[test]
fn a_silent_verdict_is_in_the_document_and_in_the_record() {
    let desk = Desk::new();
    let fio = "fio --name=a --rw=write --bs=64k --size=1m --unlink=1 --output-format=normal,json";
    let (_, out, said) = desk.typed(fio);
    assert!(said.is_empty() && out.contains("\"assay\" :"), "{said}{out}");
    let (_, _, said) = desk.typed(&format!("ASSAY_RECORD=record.json {COPY}"));
    assert!(of_dd(&said), "{said}");
    let (_, judged, _) = desk.typed("assay judge record.json");
    assert!(judged.contains("64 KiB") || judged.contains("4 MiB"), "{judged}");
}

#[test]
fn each_result_is_a_line_behind_what_the_file_holds() {
    let desk = Desk::new();
    fs::write(desk.path("kept"), "before\n").expect("written");
    symlink("kept", desk.path("verdicts")).expect("a link");
    let (_, _, said) = desk.typed(&format!("ASSAY_VERDICT=verdicts {COPY}"));
    assert!(of_dd(&said), "{said}");
    let (_, _, said) = desk.typed(&format!("ASSAY_VERDICT=verdicts assay {COPY}"));
    assert!(of_dd(&said), "{said}");
    assert!(desk.path("verdicts").is_symlink(), "the link is gone");
    let lines = desk.lines("kept");
    assert_eq!((lines.len(), lines[0].as_str()), (3, "before"), "{lines:#?}");
    for line in &lines[1..] {
        assert!(line.starts_with(&format!("assay: {COPY}: ")), "{line}");
        assert!(!line.contains("B/s"), "{line}");
    }
    for (line, results) in [
        ("fio --bs=64k --size=1m --unlink=1 --name=a --rw=write --name=b --stonewall --rw=read", 2),
        ("assay iozone -i 0 -s 256k -r 64k", 2),
        ("bonnie++ -u $(id -un) -d . -s 16 -r 8 -n 0 -q -f", 4),
        ("assay atto . --sizes 4k,64k -l 1M", 4),
        ("atto . --sizes 64k -l 1M", 2),
        ("assay dd if=/dev/zero of=x bs=64k count=64 status=none", 1),
    ] {
        let (code, _, said) = desk.typed(&format!("rm -f of; ASSAY_VERDICT=of {line}"));
        assert!(code.is_some_and(|code| [0, 3].contains(&code)), "{line}: {said}");
        assert!(!said.contains("assay: "), "{line}: {said}");
        let lines = desk.lines("of");
        let whole = lines.iter().all(|line| line.starts_with("assay: "));
        assert!(whole && lines.len() == results, "{line}: {lines:#?}");
        let (_, _, said) = desk.typed(&format!("ASSAY_VERDICT=off {line}"));
        assert!(!said.contains("assay: "), "{line}: {said}");
    }
}

#[test]
fn no_verdict_goes_where_no_output_may() {
    let desk = Desk::new();
    let device = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let device = device.map(|entry| Path::new("/dev").join(entry.file_name()));
    let device = device.into_iter().find(|device| device.exists());
    fs::create_dir(desk.path("folder")).expect("a folder");
    let mut refused = vec![
        ("folder".to_string(), "folder is a folder"),
        ("x".into(), "x has another part in this run"),
        ("nowhere/file".into(), "nowhere"),
    ];
    match device {
        Some(device) => refused.push((device.display().to_string(), "block device")),
        None => lab::skipped("a block device", &Skip::Machine("none is here".into())),
    }
    for (place, why) in refused {
        for program in ["dd", "assay dd"] {
            let line = COPY.replace("dd", program);
            let (code, _, said) = desk.typed(&format!("ASSAY_VERDICT={place} {line}"));
            assert_eq!(code, Some(2), "{place}: {said}");
            assert!(said.starts_with("assay: ") && said.contains(why), "{place}: {said}");
            assert!(said.lines().count() == 1 && !desk.path("x").exists(), "{place}: {said}");
        }
    }
}

/// The lines that Phoronix' profile of iozone types, with smaller files, and the column that it looks for: in the line
/// below the one that has the word `reclen`, in all that was said.
#[test]
fn phoronix_finds_its_columns_of_iozone() {
    let desk = Desk::new();
    for (test, column, columns) in [("-i0 \\#WRITE", 2, 4), ("-i0 -i1 \\#READ", 4, 6)] {
        for record in ["4k", "64k", "1m", "2m"] {
            let line = format!("iozone -e -o -r {record} -s 2M {test} >log 2>&1");
            assert_eq!(desk.typed(&line), (Some(0), String::new(), String::new()), "{line}");
            let said = desk.lines("log");
            let heads = said.iter().filter(|line| line.contains("reclen")).count();
            let head = said.iter().position(|line| line.contains("reclen")).unwrap_or_default();
            let cells: Vec<&str> = said[head + 1].split_whitespace().collect();
            assert_eq!((heads, cells.len()), (1, columns), "{line}: {said:?}");
            assert!(cells[column].parse::<u64>().is_ok_and(|rate| rate > 0), "{line}: {said:?}");
        }
    }
}
