//! `assay modes` on devices of known speed: what is durable is at the device's pace whatever the
//! program saw, what is not is named, and nothing stays behind.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assay_plan::plan::Action;
use assay_plan::unit::Bytes;
use assay_record::evidence::Reading;
use assay_record::record::{Ending, MeasuredSubject, Record, Trust};

use crate::kernel::{Heard, at_once, cards, grew, hear_own, names, rate, told};
use crate::lab::{self, Card, MI, Shape};

const WRITES: f64 = 4.0 * MI as f64;
const READS: f64 = 16.0 * MI as f64;

/// The verb with these words, on a page that has all signs.
fn modes(words: &[&str]) -> lab::Typed {
    lab::assay(["modes"]).words(words).env("LC_ALL", "C.UTF-8").env("COLUMNS", "90")
}

/// What is below a folder, but for the file system's own.
fn below(folder: &Path) -> Vec<String> {
    names(folder)
        .into_iter()
        .filter_map(|(path, _)| Some(path.strip_prefix(folder).ok()?.display().to_string()))
        .filter(|name| !name.starts_with("lost+found"))
        .collect()
}

/// The rows of the page that begin with one of these names: the name, then the cells.
fn rows(page: &str, table: &str, modes: &[&str]) -> Vec<Vec<String>> {
    let lines = page.lines().skip_while(|line| !line.starts_with(&format!("  {table}  ")));
    let table: Vec<&str> = lines.skip(1).take_while(|line| !line.is_empty()).collect();
    let row = |mode: &&str| {
        let named = |line: &&&str| {
            let rest = line.trim_start().split_once(' ').map_or("", |(_, rest)| rest);
            rest.starts_with(&format!("{mode} "))
        };
        let line = table.iter().find(named);
        let line = line.unwrap_or_else(|| panic!("no row '{mode}'\n{page}"));
        let (mark, cells) = line.split_once(*mode).expect("its name");
        let cells = cells.split_whitespace().map(String::from);
        [mark.trim().to_string(), mode.to_string()].into_iter().chain(cells).collect()
    };
    modes.iter().map(row).collect()
}

/// The page with every figure masked, so that what is left must always be the same.
fn masked(page: &str) -> Vec<String> {
    let words = |line: &str| {
        let mask = |word: &str| match word.starts_with(|c: char| c.is_ascii_digit()) {
            true => "N".to_string(),
            false => word.to_string(),
        };
        line.split_whitespace().map(mask).collect::<Vec<_>>().join(" ")
    };
    page.lines().map(words).collect()
}

const SAFE: [&str; 6] =
    ["fsync at end", "fdatasync at end", "O_DSYNC", "O_SYNC", "O_DIRECT", "O_DIRECT+O_DSYNC"];

/// The worst deviation from the card's pace of what is durable, and of what was read.
fn off(heard: &Heard) -> (f64, f64) {
    let cell = |row: &[String], at: usize| row[at].parse::<f64>().expect("a figure") * 1e6;
    let page = &heard.ran.stdout;
    let worst = |rows: Vec<Vec<String>>, at: usize, pace: f64| {
        rows.iter().map(|row| (cell(row, at) / pace - 1.0).abs()).fold(0.0, f64::max)
    };
    let durable = worst(rows(page, "write 1 MiB", &SAFE), 3, WRITES);
    (durable, worst(rows(page, "read 1 MiB", &["buffered", "O_DIRECT"]), 2, READS))
}

#[test]
fn cards_are_measured_at_their_pace() {
    let _beside = lab::beside();
    std::thread::scope(|all| {
        all.spawn(without_any_option_it_takes_two_minutes);
        at_once(cards(), what_is_durable_is_at_the_pace_of_the_card);
    });
}

fn what_is_durable_is_at_the_pace_of_the_card((shape, pace): (Shape, MeasuredSubject)) {
    let card = lab::need!(Card::new(shape));
    for left in (0..3).rev() {
        let typed = modes(&["--block", "1M", "--time", "80"]);
        let typed = typed.word(card.mount()).within(card.rooms());
        let heard = hear_own(typed.patience(Duration::from_secs(200)));
        let (durable, read) = off(&heard);
        assert_eq!(below(card.mount()), Vec::<String>::new(), "{heard}");
        if left > 0 && (durable > 0.03 || read > 0.03 || heard.disturbed()) {
            told("again", &heard);
            continue;
        }
        told("off the true speed", format_args!("{durable:.4} {read:.4}\n{}", heard.ran.stdout));
        assert!(durable <= 0.03 && read <= 0.03, "{heard}");
        let none = &rows(&heard.ran.stdout, "write 1 MiB", &["no flush"])[0];
        let seen = none[2].parse::<f64>().expect("a figure") * 1e6;
        // The kernel may have begun to write it out, and to hold the writer back.
        assert!(none[0] != "✓" && seen > 1.2 * WRITES, "{none:?}\n{heard}");
        for name in ["write-1m-fsync", "write-1m-direct-dsync", "read-1m-direct"] {
            let verdict = heard.named(name).verdict.as_ref().expect("judged");
            assert_eq!((verdict.trust, verdict.measures), (Trust::Sound, pace), "{heard}");
        }
        // A write that was not to be flushed is no reason to doubt the table.
        assert_eq!(heard.ran.code(), 0, "{heard}");
        assert!(heard.ran.wall < Duration::from_secs(120), "{heard}");
        break;
    }
}

fn without_any_option_it_takes_two_minutes() {
    let card = lab::need!(Card::sdcard());
    let typed = modes(&[]).word(card.mount()).within(card.rooms());
    let heard = hear_own(typed.patience(Duration::from_secs(300)));
    told("all of it", &heard.ran.stdout);
    assert!(heard.ran.wall < Duration::from_secs(120), "{heard}");
    assert_eq!(heard.record.phases.len(), 23, "{heard}");
    let shape = masked(&heard.ran.stdout);
    for wanted in [
        "MB/s requests in memory, MiB",
        "write N KiB app durable count size depth flushes CPU before after lost",
        "write N MiB app durable count size depth flushes CPU before after lost",
        "read N KiB app durable count size depth flushes CPU before after lost",
        "read N MiB app durable count size depth flushes CPU before after lost",
        "✗ no flush N N N N MiB N N N N N N",
        "read there are three ways to read: flushes and O_SYNC have no effect on reads",
        "why write N KiB:",
    ] {
        let there =
            shape.iter().any(|line| line == wanted || line.replace(" KiB N", " MiB N") == wanted);
        assert!(there, "no '{wanted}'\n{heard}");
    }
    // Before anything was written it was said how much.
    assert!(
        shape.iter().any(|line| line.starts_with("writes N runs of up to N MiB each")),
        "{heard}"
    );
    assert_eq!(heard.ran.stderr, "", "{heard}");
}

#[test]
fn each_way_leaves_in_memory_what_it_must() {
    let _beside = lab::beside();
    // Slow enough that nothing goes to it before it must.
    let card = lab::need!(Card::sdcard());
    let typed = modes(&["--quick", "--size", "8M", "--block", "64K"]);
    let heard = hear_own(typed.word(card.mount()).within(card.rooms()));
    told("page", &heard.ran.stdout);
    let edges = |name: &str| {
        let evidence = &heard.named(name).evidence;
        [&evidence.before, &evidence.stop].map(|edge| match &edge.cache[0].pages {
            Reading::Seen(pages) => (pages.resident, pages.dirty.unwrap_or_default()),
            Reading::Unseen(why) => panic!("{why}"),
        })
    };
    for phase in &heard.record.phases {
        // Each begins with nothing in memory.
        assert_eq!(edges(&phase.name)[0], (Bytes::ZERO, Bytes::ZERO), "{}\n{heard}", phase.name);
    }
    let [_, (_, dirty)] = edges("write-64k-none");
    assert!(dirty > Bytes::mib(4), "{dirty} dirty\n{heard}");
    for safe in ["fsync", "fdatasync", "dsync", "sync", "direct", "direct-dsync", "mmap-msync"] {
        let [_, (resident, dirty)] = edges(&format!("write-64k-{safe}"));
        assert_eq!(dirty, Bytes::ZERO, "{safe}\n{heard}");
        assert_eq!(resident == Bytes::ZERO, safe.starts_with("direct"), "{safe}\n{heard}");
    }
    // What the drive's cache may hold of direct writes is flushed under the watch, and so is what
    // was left in memory; nothing else is.
    for phase in &heard.record.phases {
        let watched = phase.evidence.settle.as_ref().is_some_and(|settle| settle.complete);
        let unsafe_ = ["write-64k-none", "write-64k-direct"].contains(&phase.name.as_str());
        assert_eq!(watched, unsafe_, "{}\n{heard}", phase.name);
    }
    // One flush for each write, and one for all.
    let flushes =
        |name: &str| grew(heard.named(name), &card, |device| device.flushes.expect("counted"));
    let calls = heard.named("write-64k-dsync").flows[0].calls.0;
    assert!(flushes("write-64k-dsync") >= calls / 2, "{heard}");
    assert!((1..8).contains(&flushes("write-64k-fsync")), "{heard}");
    assert_eq!(below(card.mount()), Vec::<String>::new());
}

#[test]
fn memory_is_never_durable() {
    let _beside = lab::beside();
    let tmpfs = lab::need!(lab::Memory::tmpfs());
    let heard = hear_own(modes(&["--quick", "--size", "16M"]).word(tmpfs.mount()));
    assert_eq!(heard.ran.code(), 3, "{heard}");
    let loop_config = ["no flush", "fsync at end", "O_DSYNC", "O_SYNC", "mmap + msync"];
    for row in rows(&heard.ran.stdout, "write 1 MiB", &loop_config) {
        assert_eq!((row[0].as_str(), row[3].as_str()), ("✗", "-"), "{row:?}\n{heard}");
        assert_eq!(row[4..8], ["-"; 4], "no device, no requests {row:?}");
    }
    let absent = "absent O_DIRECT and O_DIRECT+O_DSYNC: not available here, so not in the table";
    assert!(masked(&heard.ran.stdout).iter().any(|line| line == absent), "{heard}");
    heard.expect(Trust::Wrong, MeasuredSubject::NotADisk);
    assert_eq!(below(tmpfs.mount()), Vec::<String>::new());
}

#[test]
fn somebody_without_rights_gets_the_same_table() {
    let _beside = lab::beside();
    lab::need!(lab::need_root());
    let folder = lab::folder("nobody");
    let mine = folder.path().join("mine");
    fs::create_dir(&mine).expect("a folder");
    std::os::unix::fs::chown(&mine, Some(65_534), Some(65_534)).expect("given away");
    // Here, for the folders above may not be everybody's to look into.
    lab::copy_program(env!("CARGO_BIN_EXE_assay"), mine.join("assay"));
    let mut command = Command::new("./assay");
    command.args(["modes", "--quick", "--size", "8M", "--block", "1M", "--json", "."]);
    let ran = command.current_dir(&mine).uid(65_534).gid(65_534).output().expect("it runs");
    let err = String::from_utf8_lossy(&ran.stderr);
    assert!(matches!(ran.status.code(), Some(0 | 3)), "{:?} {err}", ran.status);
    let record: Record = serde_json::from_slice(&ran.stdout).expect("a record");
    assert_eq!((record.phases.len(), &record.ending), (12, &Ending::Complete), "{err}");
    assert!(!record.machine().root);
    for phase in &record.phases {
        assert!(phase.faults.is_empty(), "{:?}", phase.faults);
        let moved: u64 = phase.totals.values().map(|total| total.bytes.0).sum();
        assert!(moved > 0, "{}: nothing was moved", phase.name);
    }
    assert_eq!(below(&mine), ["assay"]);
}

/// modes, started and not yet waited for.
struct Going(Child);

impl Drop for Going {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn ctrl_c_keeps_what_was_measured() {
    let _beside = lab::beside();
    let card = lab::need!(Card::sdcard());
    let desk = tempfile::tempdir().expect("a folder");
    let at = desk.path().join("record.json");
    let out = fs::File::create(desk.path().join("out")).expect("a file");
    let mut command = card.command(env!("CARGO_BIN_EXE_assay"));
    command.args(["modes", "--block", "1M"]).arg(card.mount()).arg("--record").arg(&at);
    command
        .env("LC_ALL", "C.UTF-8")
        .env("COLUMNS", "90")
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(Stdio::null());
    let mut going = Going(command.spawn().expect("it runs"));
    let began = Instant::now();
    let phases = || assay_record::record::load(&at).map_or(0, |record| record.phases.len());
    while phases() < 2 {
        assert!(began.elapsed() < Duration::from_secs(60), "no two phases");
        std::thread::sleep(Duration::from_millis(50));
    }
    let pid = rustix::process::Pid::from_child(&going.0);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("sent");
    let asked = Instant::now();
    let status = going.0.wait().expect("it ends");
    assert_eq!(status.code(), Some(130));
    assert!(asked.elapsed() < Duration::from_secs(8), "{:?}", asked.elapsed());
    let record = assay_record::record::load(&at).expect("a record");
    assert_eq!(record.ending, Ending::Interrupted(2));
    assert!(rate(&record.phases[1], Action::Write).is_some());
    let page = fs::read_to_string(desk.path().join("out")).expect("text");
    assert_eq!(rows(&page, "write 1 MiB", &["no flush"])[0][0], "✗", "{page}");
    assert!(page.contains("by SIGINT (Ctrl-C) in phase"), "{page}");
    assert_eq!(below(card.mount()), Vec::<String>::new());
}
