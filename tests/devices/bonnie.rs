//! `assay bonnie` beside the real Bonnie++ 2.00: the same words, labels, fields and exit status; its
//! companions read our lines; and on a card of known speed its figures are the card's.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use assay_plan::plan::Action;
use assay_record::record::{MeasuredSubject, Trust};

use crate::kernel::{self, hear, told};
use crate::lab::{self, Card, MI, Memory, Ran, folder};

const REAL: (&str, &str) = ("bonnie++", "bonnie++");

/// Runs the real one in a folder: exit status, standard output and error.
fn real(bonnie: &Path, words: &str, place: &Path) -> (i32, String, String) {
    let out = Command::new(bonnie)
        .arg0("bonnie++")
        .args(words.split_whitespace())
        .current_dir(place)
        .stdin(Stdio::null())
        .output()
        .expect("bonnie++ runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (out.status.code().expect("an exit status"), text(out.stdout), text(out.stderr))
}

/// Runs ours in a folder, by its verb.
fn ours(words: &str, place: &Path) -> Ran {
    lab::assay(["bonnie"]).words(&words.split_whitespace().collect::<Vec<_>>()).cwd(place).run()
}

/// Without the lines that are ours alone.
fn without_verdicts(text: &str) -> String {
    text.lines()
        .filter(|line| !line.starts_with("assay: "))
        .map(|line| format!("{line}\n"))
        .collect()
}

/// Columns of a row before its figures.
const LABEL: usize = 19;

/// A page with every figure, cross and latency blotted out: what two runs have in common. The sums of
/// widths stay, unless a figure is wider than its column.
fn shape(page: &str) -> String {
    let line = |line: &str| {
        if line.contains(',') {
            return fields(line);
        }
        let figures = line.get(LABEL..).unwrap_or_default();
        let labels = ["--", "/sec", "K/sec"].iter().any(|label| figures.contains(label));
        if labels || figures.is_empty() {
            return line.to_string();
        }
        let head = line.split("  ").next().filter(|word| *word == "Latency");
        let head = head.unwrap_or(&line[..LABEL]);
        format!("{head}|{}", figures.split_whitespace().count())
    };
    page.lines().map(|text| line(text) + "\n").collect()
}

/// A line of CSV: what was asked as it is, what was measured as `#`.
fn fields(line: &str) -> String {
    let blot = |(number, field): (usize, &str)| match number {
        // Seed and figures.
        4 | 9..=20 | 26.. if !field.is_empty() => "#".to_string(),
        _ => field.to_string(),
    };
    line.split(',').enumerate().map(blot).collect::<Vec<_>>().join(",")
}

#[test]
fn the_same_words_have_the_same_tables_lines_and_progress() {
    let bonnie = lab::need!(lab::need_tool(REAL.0, REAL.1));
    lab::need!(lab::need_root());
    let memory = lab::need!(Memory::tmpfs());
    let place = memory.mount();
    kernel::at_once(
        [
            "-u root -r 0 -s 4 -f1 -n 1 -m box",
            "-u root -r 0 -s 0 -n 1:2000:100:4 -b -m averyveryverylongname",
            "-u root -r 0 -s 0 -n 1:-1",
            "-u root -r 0 -s 0 -n 1:-2",
            "-u root:root -r 0 -s 8:8192:100 -f -n 0 -q",
            "-u root -r 0 -s 4 -f -n 0 -x 1",
        ],
        |words: &str| {
            let (code, out, err) = real(&bonnie, words, place);
            assert_eq!(code, 0, "{words}: {err}");
            let ran = ours(words, place);
            assert_eq!(ran.code(), 0, "{ran}");
            // The tool writes the number of folders where its header has the chunk of the files.
            let theirs = shape(&out).replace(",1,2000,100,,4,", ",1,2000,100,4,,");
            assert_eq!(shape(&ran.stdout), theirs, "{words}\n{out}\n{ran}");
            let said = without_verdicts(&ran.stderr);
            assert_eq!(shape(&said), shape(&err), "{words}\n{err}\n{ran}");
        },
    );
    assert_eq!(kernel::names(place), [], "nothing stays");
}

#[test]
fn refused_words_end_as_the_tool_does_and_say_why() {
    let bonnie = lab::need!(lab::need_tool(REAL.0, REAL.1));
    lab::need!(lab::need_root());
    let desk = folder("bonnie-words");
    let link = desk.path().join("bonnie++");
    symlink(env!("CARGO_BIN_EXE_assay"), &link).expect("linked");
    for (words, why) in [
        ("-Q", "unknown option '-Q'"),
        ("-s", "-s has no value"),
        ("-n 0", "it runs as root, and no user is named"),
        ("-u root more", "'more' belongs to no option"),
        ("-u root -s 0 -n 0", "-s 0 and -n 0 leave nothing to do"),
        ("-u root -s 64:1000 -r 0", "a chunk of '1000' is no power of two from 256 to 1048576"),
        ("-u root -s 0 -n 1:10:20", "the largest file has 10 bytes, the smallest 20"),
        ("-u root -c 0", "-c: invalid value '0'"),
        ("-u root -u root", "-u was given twice"),
        ("-u root -p 2 -y s", "-p makes semaphores and ends, -y joins them"),
        ("-u no-such-user -s 0", "there is no user 'no-such-user'"),
        ("-u root -g no-such-group", "there is no group 'no-such-group'"),
        ("-u root -d no-such-folder", "-d 'no-such-folder' is no folder"),
        ("-u root -Z no-such-file -s 0", "-Z no-such-file: No such file or directory"),
        ("-u root -s 64 -r 64 -n 0", "-s 64 is less than twice the memory (64 MiB)"),
    ] {
        let (code, out, err) = real(&bonnie, words, desk.path());
        assert_eq!((code, out.as_str()), (1, ""), "{words}");
        let (linked, out, said) = real(&link, words, desk.path());
        assert_eq!((linked, out.as_str()), (1, ""), "{words}: {said}");
        // Every line of the tool's, in its order, and then ours. Which user it is it says before it
        // looks at the rest; we say that when nothing else stands in the way.
        let mut left = said.lines();
        let theirs = err.lines().filter(|line| !line.starts_with("Using uid:"));
        for line in theirs {
            assert!(left.any(|ours| ours == line), "{words}: '{line}' is missing in\n{said}");
        }
        let last = said.lines().next_back().unwrap_or_default();
        assert!(last.starts_with("assay: bonnie++: ") && last.contains(why), "{words}: {last}");
        assert!(last.contains("; "), "{words}: no cure in '{last}'");
        let verb = ours(words, desk.path());
        assert_eq!((verb.code(), verb.stderr), (2, said), "{words}");
    }
    assert_eq!(kernel::names(desk.path()).len(), 1, "only the link");
}

#[test]
fn its_companions_read_our_lines() {
    let tools = ["bon_csv2html", "bon_csv2txt"].map(|tool| lab::need_tool(tool, REAL.1));
    let [Ok(html), Ok(text)] = tools else {
        return lab::skipped(
            "its_companions_read_our_lines",
            &tools.into_iter().find_map(Result::err).expect("one"),
        );
    };
    let memory = lab::need!(Memory::tmpfs());
    let words = "-u root -r 0 -s 4 -f1 -n 1:100:10:2 -m box -x 2";
    let words = if lab::need_root().is_ok() { words } else { &words["-u root ".len()..] };
    let ran = ours(words, memory.mount());
    assert_eq!((ran.code(), ran.stdout.lines().count()), (0, 3), "{ran}");
    let (_, lines) = ran.stdout.split_once('\n').expect("a header");
    let read = |tool: &PathBuf| {
        let line = memory.path("lines.csv");
        fs::write(&line, lines).expect("written");
        let out = Command::new(tool)
            .stdin(fs::File::open(&line).expect("open"))
            .output()
            .expect("it runs");
        assert!(out.status.success() && out.stderr.is_empty(), "{tool:?}: {out:?}");
        String::from_utf8_lossy(&out.stdout).into_owned()
    };
    let page = read(&html);
    assert_eq!(
        page.matches("<td rowspan=\"2\" bgcolor=\"#FFFFFF\" class=\"rowheader\">").count(),
        2,
        "{page}"
    );
    let page = read(&text);
    let rows = page.lines().filter(|line| line.starts_with("box "));
    // The tests of the big file twice, and those of many files.
    assert_eq!(rows.count(), 4, "{page}");
}

#[test]
fn processes_begin_each_test_together() {
    let bonnie = lab::need!(lab::need_tool(REAL.0, REAL.1));
    lab::need!(lab::need_root());
    let unshare = lab::need!(lab::need_tool("unshare", "util-linux"));
    let memory = lab::need!(Memory::tmpfs());
    // Semaphores of its own: nobody else's tests are to be met there.
    let script = r#"
        a=$1; real=$2
        $a bonnie -u root -s 0 -n 1 -y s 2>&1 | tail -2
        $a bonnie -u root -p 3
        for me in 1 2; do
            timeout 60 $a bonnie -u root -s 0 -n 1 -y s -m box$me >out.$me 2>err.$me & eval pid$me=$!
        done
        sleep 0.5; cat err.1 err.2
        echo "now the third"
        timeout 60 $real -u root -s 0 -n 1 -y s -m real >out.3 2>err.3; echo $?
        wait $pid1; echo $?; wait $pid2; echo $?
        $a bonnie -u root -s 0 -n 1 -y s >late 2>&1; echo $?
        $a bonnie -u root -p -1
        tail -qn1 out.1 out.2 out.3 | cut -d, -f1-3
    "#;
    let out = Command::new(unshare)
        .args(["--ipc", "sh", "-c", script, "sh", env!("CARGO_BIN_EXE_assay")])
        .arg(bonnie)
        .current_dir(memory.mount())
        .output()
        .expect("unshare runs");
    let said = String::from_utf8_lossy(&out.stdout);
    let expected = "\
assay: cannot join the semaphores of bonnie++: No such file or directory (ENOENT)
  make them first: 'assay bonnie -p N' for N processes
Creating semaphore for 3 procs.
Using uid:0, gid:0.
Using uid:0, gid:0.
now the third
0
0
0
1
Semaphore removed.
1.98,2.00a,box1
1.98,2.00a,box2
1.98,2.00a,real
";
    assert_eq!(said, expected, "{}", String::from_utf8_lossy(&out.stderr));
    let late = fs::read_to_string(memory.path("late")).expect("said");
    assert!(late.contains("or this is their second run"), "{late}");
}

#[test]
fn who_waits_for_long_says_for_how_many() {
    lab::need!(lab::need_root());
    let unshare = lab::need!(lab::need_tool("unshare", "util-linux"));
    let memory = lab::need!(Memory::tmpfs());
    let script = r#"
        $1 bonnie -u root -p 2
        timeout -s INT 6 $1 bonnie -q -u root -s 0 -n 1 -y s 2>&1; echo $?
        $1 bonnie -u root -p -1
    "#;
    let out = Command::new(unshare)
        .args(["--ipc", "sh", "-c", script, "sh", env!("CARGO_BIN_EXE_assay")])
        .current_dir(memory.mount())
        .output()
        .expect("unshare runs");
    let said = String::from_utf8_lossy(&out.stdout);
    let expected = "\
Creating semaphore for 2 procs.
assay: seq_create waits for 1 more process (-y). One that has ended never comes: end this one with Ctrl-C.
124
Semaphore removed.
";
    assert_eq!(said, expected, "{}", String::from_utf8_lossy(&out.stderr));
}

#[test]
fn a_line_begins_each_test_and_a_signal_ends_them() {
    let memory = lab::need!(Memory::tmpfs());
    lab::need!(lab::need_root());
    let prompted = lab::assay(["bonnie", "-u", "root", "-s", "0", "-n", "1", "-y", "p"])
        .stdin("\n\ngo\n\n\n\n")
        .cwd(memory.mount())
        .run();
    let prompts = (6..12).map(|test| format!("\n{test}:\n")).collect::<String>();
    assert!(prompted.stdout.starts_with(&(prompts + "Version 2.00a ")), "{prompted}");

    // It waits for a line that never comes.
    let mut child = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["bonnie", "-u", "root", "-s", "0", "-n", "1", "-y", "p"])
        .current_dir(memory.mount())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    let mut prompt = [0; 4];
    let mut out = child.stdout.take().expect("piped");
    std::io::Read::read_exact(&mut out, &mut prompt).expect("a prompt");
    assert_eq!(&prompt, b"\n6:\n");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("sent");
    assert_eq!(child.wait().expect("it ends").code(), Some(5));
    assert_eq!(kernel::names(memory.mount()), [], "nothing stays");
}

#[test]
fn a_file_that_may_not_grow_ends_them_as_it_does_there() {
    lab::need!(lab::need_root());
    let bonnie = lab::need!(lab::need_tool(REAL.0, REAL.1));
    let memory = lab::need!(Memory::tmpfs());
    let limited = |program: &Path, words: &str| {
        let script = format!("ulimit -f 1024; exec \"$0\" {words} -u root -r 4 -s 8 -n 0");
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(script).arg(program).current_dir(memory.mount());
        let out = shell.output().expect("a shell");
        assert_eq!(out.stdout, b"");
        assert_eq!(kernel::names(memory.mount()), [], "nothing stays");
        (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    let (code, theirs) = limited(&bonnie, "-f");
    assert_eq!(code, Some(1), "{theirs}");
    let (code, ours) = limited(Path::new(env!("CARGO_BIN_EXE_assay")), "bonnie -f");
    assert_eq!(code, Some(1), "{ours}");
    assert!(ours.contains("File too large (EFBIG)"), "{ours}");
}

#[test]
fn another_user_works_with_its_own_rights() {
    lab::need!(lab::need_root());
    let memory = lab::need!(Memory::tmpfs());
    let mine = memory.path("mine");
    fs::create_dir(&mine).expect("made");
    std::os::unix::fs::chown(&mine, Some(12_345), Some(54_321)).expect("given away");
    let ran = ours("-u 12345:54321 -s 0 -n 1 -d mine", memory.mount());
    assert_eq!(ran.code(), 0, "{ran}");
    assert!(ran.stderr.starts_with("Using uid:12345, gid:54321.\nCreate files"), "{ran}");
    let ran = ours("-u 23456:54321 -s 0 -n 1 -d mine", memory.mount());
    assert_eq!(ran.code(), 2, "{ran}");
    assert!(ran.stderr.contains("\nassay: phase 'seq_create', job 'seq_create': "), "{ran}");
}

/// What the card does, bytes per second.
const WRITES: f64 = 4.0 * MI as f64;
const READS: f64 = 16.0 * MI as f64;

#[test]
fn figures_are_those_of_the_card() {
    let _beside = lab::beside();
    lab::need!(lab::need_root());
    let card = lab::need!(Card::sdcard());
    for left in (0..3).rev() {
        let words =
            ["bonnie", "-u", "root", "-r", "0", "-s", "16:8192:1000", "-f", "-n", "0", "-d"];
        let heard = hear(lab::assay(words).word(card.mount()).within(card.rooms()));
        assert_eq!(heard.ran.code(), 0, "{heard}");
        let phase = |name: &str| heard.named(name);
        let trusts = ["put_block", "rewrite", "get_block", "seeks"]
            .map(|name| phase(name).verdict.as_ref().expect("judged"))
            .map(|verdict| (verdict.trust, verdict.measures));
        let write = kernel::rate(phase("put_block"), Action::Write).expect("a rate");
        let read = kernel::rate(phase("get_block"), Action::Read).expect("a rate");
        told("bonnie", format_args!("write {write:.0}, read {read:.0}, {trusts:?}"));
        let near = |rate: f64, right: f64, off: f64| (rate / right - 1.0).abs() < off;
        // A throttle lets a tenth of a second's worth pass at once, and reads are over in one.
        let right = near(write, WRITES, 0.10) && near(read, READS, 0.15);
        let sound = trusts.iter().all(|(trust, measures)| {
            *trust == Trust::Sound
                && matches!(measures, MeasuredSubject::Device | MeasuredSubject::Limited)
        });
        if right && sound {
            let line = heard.ran.stdout.lines().next_back().expect("a line");
            let fields: Vec<&str> = line.split(',').collect();
            let number = |field: usize| fields[field].parse::<f64>().expect("a number");
            assert!(near(number(11) * 1024.0, write, 0.01), "{line}");
            // Not crossed out.
            assert!(near(number(17) * 1024.0, read, 0.01), "{line}");
            let cpu = phase("rewrite").cpu.expect("counted").as_secs();
            let share = 100.0 * cpu / phase("rewrite").span.time().as_secs();
            assert_eq!(fields[14], (share as u64).to_string(), "{line}");
            return agrees_with_the_real_one(&fields, &card);
        }
        assert!(left > 0, "{heard}");
        told("again", &heard);
    }
}

/// The block figures of the real one, where its reads come from the card as ours do, are those of our
/// line.
fn agrees_with_the_real_one(ours: &[&str], card: &Card) {
    let bonnie = match lab::need_tool(REAL.0, REAL.1) {
        Ok(bonnie) => bonnie,
        Err(skip) => return lab::skipped("figures_are_those_of_the_card, the twin", &skip),
    };
    for left in (0..3).rev() {
        let line = real_and_cold(&bonnie, card);
        let theirs: Vec<&str> = line.split(',').collect();
        assert_eq!(theirs.len(), ours.len(), "{line}");
        // Block write, rewrite, block read, each with how far they may be apart. A rewrite may, or may
        // not, read while the kernel writes back what it has written before, which makes a quarter.
        let ratios = [(11, 0.15), (13, 0.35), (17, 0.2)].map(|(field, off)| {
            // Crosses are no number.
            let rate = |fields: &[&str]| fields[field].parse::<f64>().unwrap_or(f64::NAN);
            (rate(ours) / rate(&theirs), off)
        });
        told("twin", format_args!("ours over theirs: {ratios:.3?}"));
        if ratios.iter().all(|(ratio, off)| (ratio - 1.0).abs() < *off) {
            return;
        }
        assert!(left > 0, "{ratios:?}, ours {ours:?}, theirs {theirs:?}");
    }
}

/// The line of the real one with nothing in memory at the beginning of any test: it asks for a line
/// before each (`-y p`), and gets it when the pages of its file have been dropped.
fn real_and_cold(bonnie: &Path, card: &Card) -> String {
    let mut child = card
        .command(bonnie.to_str().expect("a path"))
        .args("-u root -r 0 -s 16:8192:100 -f -n 0 -q -y p -d".split_whitespace())
        .arg(card.mount())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("bonnie++ runs");
    let mut typed = child.stdin.take().expect("piped");
    let said = BufReader::new(child.stdout.take().expect("piped"));
    let mut last = String::new();
    for line in said.lines().map(|line| line.expect("text")) {
        if line.ends_with(':') {
            let files = kernel::names(card.mount()).into_iter().filter(|(path, _)| path.is_file());
            files.for_each(|(file, _)| lab::cold(&file).expect("dropped"));
            typed.write_all(b"\n").expect("typed");
        }
        last = line;
    }
    assert!(child.wait().expect("it ends").success(), "{last}");
    last
}

#[test]
fn each_of_several_runs_has_a_record_of_its_own() {
    lab::need!(lab::need_root());
    let memory = lab::need!(Memory::tmpfs());
    let kept = folder("bonnie-records");
    let typed = |record: &Path| {
        let words: Vec<&str> = "bonnie -u root -r 0 -s 4 -f -n 0 -x 2".split(' ').collect();
        lab::assay(words).cwd(memory.mount()).env("ASSAY_RECORD", record).run()
    };
    let ran = typed(&kept.path().join("one.json"));
    assert_eq!(ran.code(), 2, "{ran}");
    assert!(ran.stderr.contains("ASSAY_RECORD: -x 2 makes 2 records, and "), "{ran}");
    assert_eq!(kernel::names(kept.path()), [], "nothing is kept");
    assert_eq!(typed(kept.path()).code(), 0);
    let records = kernel::names(kept.path());
    let named = |(path, _): &(PathBuf, u64)| path.display().to_string().contains("bonnie-20");
    assert!(records.len() == 2 && records.iter().all(named), "{records:?}");
    let ran = lab::assay(["compare"]).word(kept.path()).word(kept.path()).run();
    assert!(ran.stdout.contains("  2 runs, "), "{ran}");
}
