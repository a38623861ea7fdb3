//! The same words to BusyBox's dd and to ours, on the same files: the same bytes, words and exit codes.
//!
//! Skips, with a word on standard error, where no BusyBox 1.35 is found.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use crate::dd_twin::{Dice, content, masked};

/// The BusyBox that is imitated.
const BUSYBOX: &str = "/usr/bin/busybox";

fn busybox_is_here() -> bool {
    let here =
        Command::new(BUSYBOX).output().is_ok_and(|out| out.stdout.starts_with(b"BusyBox v1.35."));
    if !here {
        eprintln!("SKIP: {BUSYBOX} is not BusyBox 1.35 (apt-get install busybox)");
    }
    here
}

#[derive(Clone, Debug)]
struct Case {
    words: Vec<String>,
    /// Standard input is a pipe that brings so many bytes at a time; `None`: the file `in`.
    trickle: Option<usize>,
    /// Standard output is the file `out`, where its content ends or begins; `None`: a pipe.
    onto: Option<bool>,
    /// What `out` holds before; `None`: it is not there.
    old: Option<usize>,
}

/// All that can be seen of a run.
#[derive(Debug, PartialEq)]
struct Seen {
    code: Option<i32>,
    stderr: String,
    stdout: Vec<u8>,
    output: Option<Vec<u8>>,
}

/// Hands bytes on in pieces, each when the one before has been taken.
fn trickle(child: &mut Child, mut pipe: ChildStdin, input: &[u8], piece: usize) {
    let until = Instant::now() + Duration::from_secs(10);
    for part in input.chunks(piece) {
        if pipe.write_all(part).is_err() {
            return;
        }
        while rustix::io::ioctl_fionread(&pipe).is_ok_and(|bytes| bytes > 0) {
            if child.try_wait().expect("a child").is_some() {
                return;
            }
            assert!(Instant::now() < until, "it does not read");
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

fn run(program: &str, case: &Case, folder: &Path, input: &[u8]) -> Seen {
    let output = folder.join("out");
    let _ = fs::remove_file(&output);
    if let Some(old) = case.old {
        fs::write(&output, vec![b'o'; old]).expect("old output");
    }
    let mut command = Command::new(program);
    command.arg0("busybox").arg("dd").args(&case.words).current_dir(folder);
    command.env("LC_ALL", "C").env("ASSAY_SETTLE", "no");
    command.stdin(match case.trickle {
        None => Stdio::from(File::open(folder.join("in")).expect("input")),
        Some(_) => Stdio::piped(),
    });
    command.stdout(match case.onto {
        None => Stdio::piped(),
        Some(end) => {
            let mut options = File::options();
            options.create(true).append(end).write(true).truncate(false);
            Stdio::from(options.open(&output).expect("output"))
        }
    });
    let mut child = command.stderr(Stdio::piped()).spawn().expect("the program starts");
    if let (Some(pipe), Some(piece)) = (child.stdin.take(), case.trickle) {
        trickle(&mut child, pipe, input, piece);
    }
    let out = child.wait_with_output().expect("the program ends");
    assert!(out.status.code() != Some(0) || !out.stderr.starts_with(b"assay: "), "{case:?}");
    // Debian builds it without its third line.
    let said = masked(&out.stderr);
    let said: String =
        said.split_inclusive('\n').filter(|line| !line.contains(" copied, ")).collect();
    // Its usage is long, and ours is our own.
    let stderr = if said.contains("Usage: dd ") { "usage".into() } else { said };
    Seen { code: out.status.code(), stderr, stdout: out.stdout, output: fs::read(&output).ok() }
}

/// The description of a difference, if there is one.
fn differ(case: &Case, folder: &Path, input: &[u8]) -> Option<String> {
    fs::write(folder.join("in"), input).expect("input");
    let theirs = run(BUSYBOX, case, folder, input);
    let ours = run(env!("CARGO_BIN_EXE_assay"), case, folder, input);
    let bytes = |seen: &Seen| (seen.stdout.len(), seen.output.as_ref().map(Vec::len));
    (theirs != ours).then(|| {
        format!(
            "busybox dd {}\n{case:?}, {} bytes\ntheirs {:?} {:?} {}ours {:?} {:?} {}{}",
            case.words.join(" "),
            input.len(),
            theirs.code,
            bytes(&theirs),
            theirs.stderr,
            ours.code,
            bytes(&ours),
            ours.stderr,
            if bytes(&theirs) == bytes(&ours) { "" } else { "(lengths)\n" },
        )
    })
}

fn random(dice: &mut Dice) -> (Case, Vec<u8>) {
    let mut words = Vec::new();
    let trickle = dice.once_in(3).then(|| 1 + dice.roll(700) as usize);
    if trickle.is_none() && !dice.once_in(3) {
        let from = dice.pick(&["in", "in", "in", "in", "in", "in", "no such", "."]);
        words.push(format!("if={from}"));
    }
    if !dice.once_in(3) {
        words.push(format!("of={}", if dice.once_in(20) { "no/such" } else { "out" }));
    }
    let sizes =
        ["1", "3", "4", "7", "10", "64", "100", "511", "512", "1000", "4k", "5w", "1b", "2kB"];
    for (name, often) in [("bs", 2), ("ibs", 4), ("obs", 4)] {
        if dice.once_in(often) {
            words.push(format!("{name}={}", dice.pick(&sizes)));
        }
    }
    for (name, often) in [("count", 2), ("skip", 3), ("seek", 3)] {
        if dice.once_in(often) {
            let lengths =
                ["0", "1", "2", "3", "5", "13", "40", "7c", "700", "2k", "1kB", "x", "1KiB"];
            words.push(format!("{name}={}", dice.pick(&lengths)));
        }
    }
    let list = |dice: &mut Dice, words: &[&'static str], most: u64| {
        let some = 1 + dice.roll(most);
        (0..some).map(|_| dice.pick(words)).collect::<Vec<_>>().join(",")
    };
    if dice.once_in(2) {
        let conv = ["notrunc", "sync", "swab", "fsync", "sync", "swab", "notrunc", "lcase"];
        words.push(format!("conv={}", list(dice, &conv, 3)));
    }
    if dice.once_in(2) {
        let flags = ["skip_bytes", "count_bytes", "fullblock", "count_bytes", "direct"];
        words.push(format!("iflag={}", list(dice, &flags, 2)));
    }
    if dice.once_in(3) {
        let flags = ["seek_bytes", "append", "append", "direct"];
        words.push(format!("oflag={}", list(dice, &flags, 2)));
    }
    if dice.once_in(5) {
        words.push(format!("status={}", dice.pick(&["none", "noxfer", "progress"])));
    }
    for at in (1..words.len()).rev() {
        words.swap(at, dice.roll(at as u64 + 1) as usize);
    }
    let old = (!dice.once_in(3)).then(|| dice.roll(3000) as usize);
    let onto = [None, Some(false), Some(true)][dice.roll(3) as usize];
    let len = [0, 1, 9, 100, 511, 1024, 4095][dice.roll(7) as usize];
    (Case { words, trickle, onto, old }, content(dice, len))
}

#[test]
fn random_words_do_the_same() {
    if !busybox_is_here() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut dice = Dice(1_350);
    let cases = std::env::var("BUSYBOX_TWIN_CASES").ok().and_then(|text| text.parse().ok());
    let cases: usize = cases.unwrap_or(300);
    let found: Vec<String> = (0..cases)
        .filter_map(|_| {
            let (case, input) = random(&mut dice);
            differ(&case, folder.path(), &input)
        })
        .collect();
    assert!(found.is_empty(), "{} of {cases} differ\n{}", found.len(), found.join("\n"));
}

#[test]
fn chosen_words_do_the_same() {
    if !busybox_is_here() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let lines = [
        ("of=out bs=8 iflag=count_bytes count=10", Some(4)),
        ("of=out bs=8 count=2", Some(4)),
        ("of=out bs=8 conv=swab", Some(5)),
        ("of=out conv=swab", None),
        ("of=out conv=swab bs=3", None),
        ("of=out conv=swab ibs=3 obs=4", None),
        ("of=out conv=swab,sync bs=4", None),
        ("oflag=append bs=4 count=1", None),
        ("if=. of=out conv=noerror count=3 bs=4", None),
        ("if=. of=out conv=noerror,sync count=3 bs=4", None),
        ("if=in of=/dev/full", None),
        ("if=in of=/dev/null conv=fsync", None),
        ("if=in of=out bs=1T", None),
        ("if=in of=/dev/full conv=fsync", None),
        ("if=. of=/dev/null conv=fsync", None),
        ("if=in of=/dev/null bs=9999999999999", None),
    ];
    let mut found = Vec::new();
    for (line, trickle) in lines {
        let words = line.split(' ').map(String::from).collect();
        let case = Case { words, trickle, onto: Some(false), old: Some(20) };
        found.extend(differ(&case, folder.path(), b"abcdefghi"));
    }
    assert!(found.is_empty(), "{} differ\n{}", found.len(), found.join("\n"));
}
