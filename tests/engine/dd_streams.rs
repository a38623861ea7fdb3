//! dd started as shells and services start it: with streams that are closed, full, or read by nobody, and
//! with signals that are ignored. The same lines to GNU dd and to ours.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::dd_twin::{GNU, gnu_is_here, masked};

/// All that can be seen of a line.
#[derive(Debug, PartialEq)]
struct Seen {
    code: Option<i32>,
    signal: Option<i32>,
    stderr: String,
    stdout: Vec<u8>,
    out: Option<Vec<u8>>,
}

/// A folder in which `dd` is this program.
fn bin(desk: &Path, name: &str, program: &Path) -> std::path::PathBuf {
    let folder = desk.join(name);
    fs::create_dir_all(&folder).expect("a folder");
    let link = folder.join("dd");
    if !link.exists() {
        symlink(program, &link).expect("a link");
    }
    folder
}

/// Types a line of bash in a folder with a file `in` of 5000 bytes, and one `out`.
fn typed(desk: &Path, bin: &Path, line: &str) -> Seen {
    let place = desk.join("place");
    let _ = fs::remove_dir_all(&place);
    fs::create_dir(&place).expect("a folder");
    fs::write(place.join("in"), b"0123456789".repeat(500)).expect("written");
    fs::write(place.join("out"), b"before").expect("written");
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let out = Command::new("bash")
        .args(["-c", line])
        .current_dir(&place)
        .env("PATH", path)
        .env("LC_ALL", "C")
        .env("ASSAY_SETTLE", "no")
        .stdin(fs::File::open(place.join("in")).expect("input"))
        .output()
        .expect("bash");
    Seen {
        code: out.status.code(),
        signal: out.status.signal(),
        stderr: masked(&out.stderr),
        stdout: out.stdout,
        out: fs::read(place.join("out")).ok(),
    }
}

/// The lines on which the two differ.
fn differences<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let desk = tempfile::tempdir().expect("a desk");
    let gnu = bin(desk.path(), "gnu", Path::new(GNU));
    let our = bin(desk.path(), "our", Path::new(env!("CARGO_BIN_EXE_assay")));
    let differ = |line: &str| {
        let (gnu, our) = (typed(desk.path(), &gnu, line), typed(desk.path(), &our, line));
        (gnu != our).then(|| format!("{line}\nGNU  {gnu:?}\nours {our:?}\n"))
    };
    lines.into_iter().filter_map(differ).collect()
}

const LINES: &[&str] = &[
    "dd bs=1k",
    "dd of=out",
    "dd if=in",
    "dd if=in of=out",
    "dd if=in of=out status=none",
    "dd if=in of=out status=noxfer conv=fsync",
    "dd count=0",
    "dd count=0 of=out",
    "dd if=in conv=fsync",
    "dd if=in conv=fdatasync",
    "dd skip=1 of=out",
    "dd if=in seek=1",
    "dd iflag=nonblock of=out",
    "dd oflag=append if=in",
    "dd oflag=append if=in of=out",
    "dd if=in conv=notrunc status=none",
    "dd if=nothing of=out",
    "dd if=in of=nothing/there",
    "dd bs=abc",
];

#[test]
fn closed_streams_in_every_combination() {
    if !gnu_is_here() {
        return;
    }
    let closed = |set: usize| {
        let close = [" <&-", " >&-", " 2>&-"];
        (0..3).filter(move |bit| set & (1 << bit) != 0).map(move |bit| close[bit])
    };
    let all = |line: &&str| {
        (0..8).map(|set| format!("{line}{}", closed(set).collect::<String>())).collect::<Vec<_>>()
    };
    let lines: Vec<String> = LINES.iter().flat_map(all).collect();
    let found = differences(lines.iter().map(String::as_str));
    assert!(found.is_empty(), "{} of {} differ\n{}", found.len(), lines.len(), found.join("\n"));
}

#[test]
fn full_streams_and_streams_on_dev_null() {
    if !gnu_is_here() {
        return;
    }
    let ways =
        ["2>/dev/full", ">/dev/full", "<>/dev/null", "<>/dev/null 1<>/dev/null 2<>/dev/null"];
    let all = |line: &&str| ways.iter().map(|way| format!("{line} {way}")).collect::<Vec<_>>();
    let lines: Vec<String> = LINES.iter().flat_map(all).collect();
    let found = differences(lines.iter().map(String::as_str));
    assert!(found.is_empty(), "{} of {} differ\n{}", found.len(), lines.len(), found.join("\n"));
}

#[test]
fn help_that_cannot_be_printed_is_an_error() {
    if !gnu_is_here() {
        return;
    }
    let desk = tempfile::tempdir().expect("a desk");
    let gnu = bin(desk.path(), "gnu", Path::new(GNU));
    let our = bin(desk.path(), "our", Path::new(env!("CARGO_BIN_EXE_assay")));
    for line in ["dd --help >&-", "dd --version >&-", "dd --help >/dev/full", "dd --help 2>&-"] {
        let [gnu, our] = [&gnu, &our].map(|bin| {
            let seen = typed(desk.path(), bin, line);
            (seen.code, seen.stderr)
        });
        assert_eq!(gnu, our, "{line}");
    }
}

#[test]
fn a_pipe_that_nobody_reads_does_as_whoever_started_dd_wants() {
    if !gnu_is_here() {
        return;
    }
    let lines = [
        "dd if=/dev/zero bs=1k count=100000 status=none | head -c 10 >/dev/null; exit ${PIPESTATUS[0]}",
        "trap '' PIPE; dd if=/dev/zero bs=1k count=100000 status=none | head -c 10 >/dev/null; exit ${PIPESTATUS[0]}",
        "trap '' PIPE; dd if=/dev/zero bs=1k status=none conv=fsync | head -c 10 >/dev/null; exit ${PIPESTATUS[0]}",
    ];
    let found = differences(lines);
    assert!(found.is_empty(), "{}", found.join("\n"));
    // How much the pipe had taken before is a matter of luck; that the records follow is none.
    let desk = tempfile::tempdir().expect("a desk");
    let our = bin(desk.path(), "our", Path::new(env!("CARGO_BIN_EXE_assay")));
    let line = "trap '' PIPE; dd if=/dev/zero bs=1k | head -c 10 >/dev/null; exit ${PIPESTATUS[0]}";
    let seen = typed(desk.path(), &our, line);
    assert_eq!(seen.code, Some(1), "{seen:?}");
    let said: Vec<&str> = seen.stderr.lines().collect();
    assert_eq!(said[0], "dd: error writing 'standard output': Broken pipe", "{seen:?}");
    assert!(said[1].ends_with(" records in") && said[2].ends_with(" records out"), "{seen:?}");
    // Once is enough: our own lines have nothing to add.
    let raw = Command::new("bash")
        .args(["-c", line])
        .env("PATH", format!("{}:/usr/bin:/bin", our.display()))
        .output()
        .expect("bash");
    let raw = String::from_utf8_lossy(&raw.stderr).into_owned();
    assert!(raw.matches("ipe").count() == 1 && !raw.contains("assay"), "{raw}");
}

/// A dd that waits for input that does not come.
fn waiting(program: &Path, before: &str) -> Child {
    let line = format!("{before} exec -a dd \"$0\" of=/dev/null");
    let mut child = Command::new("bash")
        .args(["-c", &line])
        .arg(program)
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("bash");
    child.stdin.as_mut().expect("a pipe").write_all(&[7; 1000]).expect("written");
    std::thread::sleep(Duration::from_millis(300));
    child
}

/// What it said until it ended, how it ended, and how long after `since`.
fn ended(mut child: Child, since: Instant) -> (String, std::process::ExitStatus, Duration) {
    let mut said = Vec::new();
    // Its input stays open until it has ended.
    let input = child.stdin.take();
    child.stderr.take().expect("a pipe").read_to_end(&mut said).expect("read");
    let status = child.wait().expect("ended");
    drop(input);
    (masked(&said), status, since.elapsed())
}

fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).expect("alive");
}

#[test]
fn an_interrupt_ends_a_read_that_waits_at_once() {
    if !gnu_is_here() {
        return;
    }
    let our = Path::new(env!("CARGO_BIN_EXE_assay"));
    let by = |program: &Path| {
        let child = waiting(program, "");
        let since = Instant::now();
        interrupt(&child);
        ended(child, since)
    };
    let gnu = by(Path::new(GNU));
    // A busy machine may be late now and then.
    let mut tries: Vec<_> = (0..5).map(|_| by(our)).collect();
    for (said, status, _) in &tries {
        assert_eq!((said, status.signal()), (&gnu.0, Some(libc::SIGINT)), "{said}");
    }
    tries.sort_by_key(|(.., time)| *time);
    let median = tries[tries.len() / 2].2;
    println!("GNU {:?}, ours {median:?}", gnu.2);
    assert!(median <= Duration::from_millis(20), "{median:?}");
}

#[test]
fn an_interrupt_that_is_ignored_ends_nothing() {
    if !gnu_is_here() {
        return;
    }
    for program in [GNU, env!("CARGO_BIN_EXE_assay")] {
        let mut child = waiting(Path::new(program), "trap '' INT;");
        interrupt(&child);
        std::thread::sleep(Duration::from_millis(100));
        assert!(child.try_wait().expect("a child").is_none(), "{program} has ended");
        drop(child.stdin.take());
        let (said, status, _) = ended(child, Instant::now());
        assert_eq!(status.code(), Some(0), "{program}: {said}");
    }
}

#[test]
fn names_of_any_bytes_are_taken_as_gnu_takes_them() {
    if !gnu_is_here() {
        return;
    }
    let lines = [
        r"dd if=$'\xff' of=out",
        r"dd if=in of=$'no\xff/there'",
        r"dd if=in of=$'it\'s \xfe\xff' && cat <$'it\'s \xfe\xff'",
        r"dd if=in of=out bs=$'\xff'",
        r"dd if=in of=out $'\xff=1'",
        r"mkdir $'d\x80' && cd $'d\x80' && dd if=../in of=$'\xc3\xbc\xc3' && cat <$'\xc3\xbc\xc3'",
        r"dd <in >$'\xff' && dd if=$'\xff' skip=9",
        // One of the characters that stand for such bytes, as a name of its own.
        r"dd if=in of=$'\xf4\x8f\xbb\xbf' && ls && dd if=$'\xf4\x8f\xbb\xbf' count=1",
        r"dd if=$'\xf4\x8f\xbb\xbf'",
    ];
    let found = differences(lines);
    assert!(found.is_empty(), "{} of {} differ\n{}", found.len(), lines.len(), found.join("\n"));
}

#[test]
fn names_of_any_bytes_are_in_the_record_the_pages_and_the_lines_to_type() {
    let desk = tempfile::tempdir().expect("a desk");
    let our = bin(desk.path(), "our", Path::new(env!("CARGO_BIN_EXE_assay")));
    let line = r"A=$(readlink -f $(command -v dd)); mkdir $'c\xff' && cd $'c\xff' || exit 9
        cp ../in $'i\xfe'; ASSAY_RECORD=$'r\xfd' dd if=$'i\xfe' of=$'o\xfc' bs=1k 2>&1 || exit 8
        cmp $'i\xfe' $'o\xfc' || exit 7
        $A judge $'r\xfd' --json >j || test $? = 3 || exit 6
        $A judge $'r\xfd' >p || test $? = 3 || exit 5
        $A judge j >q || test $? = 3 || exit 4
        cmp p q && $A probe $'i\xfe' && $A explain dd if=$'i\xfe' of=$'o\xfc'; $A probe --json . >k; cat p j k";
    let seen = typed(desk.path(), &our, line);
    assert_eq!((seen.code, seen.stderr.as_str()), (Some(0), ""), "{seen:?}");
    let page = String::from_utf8(seen.stdout).expect("text alone");
    assert!(!page.contains('\u{FFFD}'), "{page}");
    assert!(page.contains(r"i$'\376'"), "the page names it as a shell takes it: {page}");
    assert!(page.contains(r"$'if=i\376'"), "and the line can be typed: {page}");
    assert!(page.contains(r#""path": "i\udbff\udefe""#), "the document has each byte: {page}");
}
