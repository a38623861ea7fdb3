//! The same words to GNU dd and to ours, on the same files: the same bytes, words and exit codes.
//!
//! Skips, with a word on standard error, where no GNU dd 9.1 is found.

use std::fs::File;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// The GNU dd that is imitated.
pub const GNU: &str = "/usr/bin/dd";

/// Our program, and the words that make it a dd.
/// A small generator of numbers, the same in every run.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    pub fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.roll(choices.len() as u64) as usize]
    }

    pub fn once_in(&mut self, times: u64) -> bool {
        self.roll(times) == 0
    }
}

/// Where the input comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    File,
    Stdin,
    Pipe,
}

/// Where the output goes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sink {
    File,
    Stdout,
    Pipe,
}

#[derive(Clone, Debug)]
struct Case {
    words: Vec<String>,
    source: Source,
    sink: Sink,
    /// What the output file holds before; `None`: it is not there.
    old: Option<usize>,
}

/// All that can be seen of a run.
#[derive(Debug, PartialEq)]
struct Seen {
    code: Option<i32>,
    stderr: String,
    output: Option<Vec<u8>>,
}

pub fn gnu_is_here() -> bool {
    let here = Command::new(GNU)
        .arg("--version")
        .output()
        .is_ok_and(|out| out.stdout.starts_with(b"dd (coreutils) 9.1\n"));
    if !here {
        eprintln!("skipped: {GNU} is not GNU dd 9.1");
    }
    here
}

/// Without the verdict's lines, and the third line with its time and rate blotted out.
pub fn masked(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    text.lines()
        .filter(|line| !line.starts_with("assay: "))
        .map(|line| match line.split_once(" copied, ") {
            Some((size, _)) => format!("{size} copied, T, R\n"),
            None => format!("{line}\n"),
        })
        .collect()
}

/// Bytes with lines, blanks and holes among them.
pub fn content(picker: &mut Dice, len: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(len);
    while bytes.len() < len {
        match picker.roll(8) {
            0 => bytes.extend(std::iter::repeat_n(0, picker.roll(2000) as usize)),
            1 => bytes.extend(std::iter::repeat_n(b' ', picker.roll(20) as usize)),
            2 | 3 => bytes.push(b'\n'),
            4 => bytes.extend((0..picker.roll(300)).map(|_| picker.0 as u8)),
            5 => bytes.extend((0..picker.roll(100)).map(|at| (at * 37) as u8)),
            _ => bytes.extend(b"Some text, Mixed Case".iter().take(picker.roll(21) as usize)),
        }
    }
    bytes.truncate(len);
    bytes
}

fn run(program: &Path, case: &Case, folder: &Path, input: &[u8]) -> Seen {
    let output = folder.join("out");
    let _ = std::fs::remove_file(&output);
    if let Some(old) = case.old {
        std::fs::write(&output, vec![b'o'; old]).expect("old output");
    }
    let mut command = Command::new(program);
    // GNU dd signs what it says with the name it was called by, and ours is it by that name.
    command.arg0("dd").args(&case.words).current_dir(folder).env("LC_ALL", "C");
    command.env("ASSAY_SETTLE", "no");
    command.stderr(Stdio::piped());
    command.stdin(match case.source {
        Source::File => Stdio::null(),
        Source::Stdin => Stdio::from(File::open(folder.join("in")).expect("input")),
        Source::Pipe => Stdio::piped(),
    });
    command.stdout(match case.sink {
        Sink::File => Stdio::null(),
        Sink::Stdout => {
            let file = File::options()
                .create(true)
                .append(false)
                .truncate(false)
                .write(true)
                .open(&output);
            Stdio::from(file.expect("output"))
        }
        Sink::Pipe => Stdio::piped(),
    });
    let mut child = command.spawn().expect("the program starts");
    if let Some(mut pipe) = child.stdin.take() {
        // All in one piece, so that both see the same reads; it fits into a pipe.
        let _ = pipe.write_all(input);
    }
    let out = child.wait_with_output().expect("the program ends");
    assert!(out.status.code() != Some(0) || !out.stderr.starts_with(b"assay: "), "{case:?}");
    let written = match case.sink {
        Sink::Pipe => Some(out.stdout),
        _ => std::fs::read(&output).ok(),
    };
    Seen { code: out.status.code(), stderr: masked(&out.stderr), output: written }
}

/// Runs a case under both and compares; the description of a difference, if there is one.
fn differ(case: &Case, folder: &Path, input: &[u8]) -> Option<String> {
    std::fs::write(folder.join("in"), input).expect("input");
    let gnu = run(Path::new(GNU), case, folder, input);
    let our = run(Path::new(env!("CARGO_BIN_EXE_assay")), case, folder, input);
    if gnu == our {
        return None;
    }
    let place = match (&gnu.output, &our.output) {
        (Some(gnu), Some(our)) if gnu != our => format!(
            "output: {} and {} bytes, first difference at {:?}",
            gnu.len(),
            our.len(),
            gnu.iter().zip(our).position(|(gnu, our)| gnu != our)
        ),
        (gnu, our) => format!("output there: {} and {}", gnu.is_some(), our.is_some()),
    };
    Some(format!(
        "dd {}\n{case:?}\nGNU  {:?} {}ours {:?} {}{place}\n",
        case.words.join(" "),
        gnu.code,
        gnu.stderr,
        our.code,
        our.stderr
    ))
}

fn random(picker: &mut Dice) -> (Case, Vec<u8>) {
    let mut words = Vec::new();
    let source = [Source::File, Source::Stdin, Source::Pipe][picker.roll(3) as usize];
    let sink = [Sink::File, Sink::File, Sink::Stdout, Sink::Pipe][picker.roll(4) as usize];
    let sizes = [
        "1", "3", "7", "10", "64", "100", "511", "512", "1000", "4k", "5000", "64kB", "2x3", "10w",
        "1b",
    ];
    if source == Source::File {
        words.push(format!("if={}", if picker.once_in(40) { "no such" } else { "in" }));
    }
    if sink == Sink::File {
        words.push(format!("of={}", if picker.once_in(40) { "." } else { "out" }));
    }
    for (name, often) in [("bs", 3), ("ibs", 4), ("obs", 4)] {
        if picker.once_in(often) {
            words.push(format!("{name}={}", picker.pick(&sizes)));
        }
    }
    if picker.once_in(2) {
        words.push(format!("cbs={}", picker.pick(&["1", "5", "16", "80", "700"])));
    }
    for (name, often) in [("count", 3), ("skip", 3), ("seek", 3), ("iseek", 12), ("oseek", 12)] {
        if picker.once_in(often) {
            let lengths =
                ["0", "1", "2", "5", "13", "40", "0B", "7B", "700B", "2kB", "3KiB", "1000x3", "9B"];
            words.push(format!("{name}={}", picker.pick(&lengths)));
        }
    }
    let list = |picker: &mut Dice, words: &[&'static str], most: u64| {
        let some = 1 + picker.roll(most);
        (0..some).map(|_| picker.pick(words)).collect::<Vec<_>>().join(",")
    };
    if picker.once_in(2) {
        let conv = [
            "ascii",
            "ebcdic",
            "ibm",
            "block",
            "unblock",
            "lcase",
            "ucase",
            "sparse",
            "swab",
            "sync",
            "notrunc",
            "noerror",
            "fdatasync",
            "fsync",
            "sparse",
            "swab",
            "sync",
            "excl",
            "nocreat",
            "block",
            "unblock",
        ];
        words.push(format!("conv={}", list(picker, &conv, 3)));
    }
    if picker.once_in(3) {
        let flags = [
            "append",
            "dsync",
            "sync",
            "noatime",
            "nocache",
            "noctty",
            "nofollow",
            "count_bytes",
            "skip_bytes",
            "fullblock",
            "directory",
            "bogus",
            "fullblock",
            "fullblock",
        ];
        words.push(format!("iflag={}", list(picker, &flags, 2)));
    }
    if picker.once_in(3) {
        let flags = [
            "append",
            "dsync",
            "sync",
            "nonblock",
            "nocache",
            "noctty",
            "nofollow",
            "seek_bytes",
            "seek_bytes",
            "fullblock",
        ];
        words.push(format!("oflag={}", list(picker, &flags, 2)));
    }
    if picker.once_in(4) {
        words.push(format!(
            "status={}",
            picker.pick(&["none", "noxfer", "progress", "none,noxfer"])
        ));
    }
    for at in (1..words.len()).rev() {
        words.swap(at, picker.roll(at as u64 + 1) as usize);
    }
    let old = (!picker.once_in(3)).then(|| picker.roll(9000) as usize);
    let len = [0, 1, 100, 511, 512, 4096, 10_000, 30_000][picker.roll(8) as usize];
    (Case { words, source, sink, old }, content(picker, len))
}

#[test]
fn random_words_do_the_same() {
    if !gnu_is_here() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut picker = Dice(20_220_415);
    let cases = std::env::var("DD_TWIN_CASES").ok().and_then(|text| text.parse().ok());
    let cases: usize = cases.unwrap_or(600);
    let differences: Vec<String> = (0..cases)
        .filter_map(|_| {
            let (case, input) = random(&mut picker);
            differ(&case, folder.path(), &input)
        })
        .collect();
    assert!(
        differences.is_empty(),
        "{} of {cases} differ\n{}",
        differences.len(),
        differences.iter().take(12).map(String::as_str).collect::<Vec<_>>().join("\n")
    );
}

#[test]
fn chosen_words_do_the_same() {
    if !gnu_is_here() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let all: Vec<u8> = (0..=255).collect();
    let lines = [
        "if=in of=out conv=ascii",
        "if=in of=out conv=ebcdic",
        "if=in of=out conv=ibm",
        "if=in of=out conv=ascii,ucase",
        "if=in of=out conv=ibm,lcase",
        "if=in of=out conv=ebcdic,swab bs=3",
        "if=in of=/dev/full",
        "if=in of=/dev/full bs=1k",
        "if=in of=/dev/full conv=fsync",
        "if=in of=/dev/full conv=fdatasync bs=10",
        "if=in of=/dev/full obs=100k seek=1",
        "if=in of=/dev/null conv=fsync",
        "if=in of=/dev/null conv=fsync,fdatasync",
        "if=. of=out",
        "if=. of=out status=none",
        "if=. of=out conv=noerror,sync count=2",
        "if=. of=out conv=noerror,sync count=2 status=none",
        "if=. of=out skip=1 conv=noerror,sync count=1",
        "if=in of=out bs=4k oflag=direct",
        "if=in of=out bs=100 oflag=direct",
        "if=in of=out bs=4k iflag=direct",
        "if=in of=out bs=4k iflag=direct,fullblock oflag=direct",
        "if=in of=out bs=100 iflag=direct",
        "if=in of=out bs=107374182400",
        "if=in of=out obs=1073741824000",
        "bs=9223372036854775806",
        "if=in of=out skip=9223372036854775807",
        "if=in of=out seek=9223372036854775807",
        "if=in of=out seek=9223372036854775807 conv=notrunc",
        "if=in of=out seek=9223372036854775807B conv=notrunc",
        "if=in of=out skip=300B",
        "if=in of=out skip=1 status=none",
        "if=in of=out seek=5B",
        "if=in of=out seek=5B conv=notrunc",
        "if=in of=out count=0 iflag=nocache oflag=nocache",
        "count=0 iflag=nocache oflag=nocache",
        "if=in of=out oflag=append",
        "if=in of=out oflag=append conv=notrunc",
        "if=in of=out oflag=append seek=1 bs=100",
        "if=/dev/zero of=out bs=1M count=3 conv=sparse",
        "if=/dev/zero of=out bs=1M count=3 skip=5",
        "if=in of=out conv=excl",
        "if=in of=new/out",
        "if=in of=out conv=nocreat",
        "if= of=out",
        "if=in of=",
        "if=it's",
        "if=a:b",
        "if=a?b",
        "if=~a",
        "if={",
        "if={}",
        "if=a'$b",
        "if=in of=out iflag=directory",
        "iflag=directory of=out",
        "of=out iflag=directory if=.",
        "oflag=directory",
        "if=/proc/self/exe iflag=nofollow of=out",
        "if=in of=out cbs=5 conv=block",
        "if=in of=out cbs=5 conv=unblock",
        "if=in of=out cbs=1000000 conv=block",
        "if=in of=out cbs=10 conv=block,sync ibs=100 count=3",
        "if=in of=out ibs=7 obs=5 conv=swab",
        "if=in of=out bs=1 conv=swab",
        "if=in of=out bs=3 conv=swab,sync",
        // Words alone.
        "bs=abc",
        "count=1kBx2",
        "count=k",
        "bs=b",
        "count=B",
        "count=10BB",
        "count=10bB",
        "count=10Bx2",
        "count=10KiBB",
        "count=+5",
        "count=-0",
        "count=",
        "bs=0",
        "bs=9223372036854775807",
        "count=9223372036854775808",
        "count=99999999999999999999",
        "count=99999999999999999999x0",
        "count=0x5",
        "count=0x",
        "count=1x",
        "count=1kD",
        "count=1kiB",
        "count=1kDB",
        "ibs=8E",
        "ibs=1Y",
        "cbs=0",
        "conv=",
        "conv=,",
        "conv=block,foo",
        "conv=fo'o",
        "iflag=binary",
        "oflag=fullblock",
        "oflag=fullblock,xx",
        "status=foo",
        "status=",
        "status=none,foo",
        "foo",
        "foo=bar",
        "foo=0x1",
        "--foo",
        "--help=3",
        "-x",
        "-",
        "--",
        "-- count=0",
        "count=0 -- --help",
        "count=0 --",
        "conv=ascii,ebcdic",
        "conv=block,unblock",
        "conv=block,unblock cbs=5",
        "conv=ascii,block cbs=5",
        "iflag=direct,nocache",
        "conv=lcase,ucase",
        "conv=excl,nocreat",
        "count=0x5 bs=x",
        "count=0x5 conv=excl,nocreat",
        "oflag=append bs=x",
        "oflag=append conv=excl,nocreat",
        "=3",
        "i=3",
        "count=3=4",
        "count=x",
        "count=2x-3",
        "count=00x2",
        "count=+k",
        "count=1KB",
        "count=1m",
        "count=1G count=2",
        "count=1EB count=0",
        "bs=1c",
        "bs=cB",
        "count=5 count=0x1 skip=0x",
    ];
    let mut differences = Vec::new();
    for line in lines {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        let to_file = line.contains("of=");
        for (input, source) in [(&all, Source::Pipe), (&all.repeat(40), Source::Stdin)] {
            for old in [None, Some(5000)] {
                let sink = if to_file { Sink::File } else { Sink::Pipe };
                let case = Case { words: words.clone(), source, sink, old };
                differences.extend(differ(&case, folder.path(), input));
            }
        }
    }
    assert!(differences.is_empty(), "{} differ\n{}", differences.len(), differences.join("\n"));
}
