//! `assay watch` beside work that is really done: on a card of known speed, as another user, and
//! with what ends it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use assay_record::evidence::SysRoot;
use assay_record::record::{DeviceFigures, IntervalStats};

use crate::lab::{self, Card, Fs, Image, MI, Noise, Shape};

/// A card in memory: its loop device is the lowest, so nothing else of this machine is counted.
fn card_in_memory() -> Shape {
    Shape { image: Image::Thin(256 * MI), ..Shape::sdcard() }
}

/// assay, watching.
struct Watch {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Watch {
    fn new(words: &[&str], path: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_assay"))
            .arg("watch")
            .args(words)
            .arg(path)
            .env("LC_ALL", "C.UTF-8")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        Self { child, lines }
    }

    fn line(&mut self) -> Option<String> {
        self.lines.next().map(|line| line.expect("text"))
    }

    fn glance(&mut self) -> IntervalStats {
        serde_json::from_str(&self.line().expect("a line")).expect("a glance")
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).expect("signalled");
    }

    /// Exit code, the lines that were left, and standard error.
    fn end(mut self) -> (Option<i32>, Vec<String>, String) {
        let rest = std::iter::from_fn(|| self.line()).collect();
        let output = self.child.wait_with_output().expect("it ends");
        (output.status.code(), rest, String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn figures(glance: &IntervalStats) -> DeviceFigures {
    *glance.devices[0].figures.seen().expect("figures")
}

#[test]
fn the_rate_of_a_throttled_writer_is_that_of_the_throttle() {
    let _beside = lab::beside();
    let card = lab::need!(Card::new(card_in_memory()));
    let limit = card.speed().write_bps as f64;
    // What the device takes at once, bytes.
    let queue = format!("/sys/block/{}/queue/max_sectors_kb", card.leaf_name());
    let largest = std::fs::read_to_string(queue).expect("a queue").trim().parse::<u64>();
    let largest = largest.expect("a number") << 10;
    let _room = card.join();
    // A machine whose CPUs are all taken may keep the writer from its rate.
    for left in (0..3).rev() {
        let glances = beside_a_writer(&card);
        let time: f64 = glances.iter().map(|glance| glance.interval_ns.as_secs()).sum();
        let rate = glances.iter().map(written).sum::<f64>() / time;
        println!("{:.4} of the throttle", rate / limit);
        if left > 0 && rate / limit < 0.95 {
            continue;
        }
        assert!((0.95..1.05).contains(&(rate / limit)), "{rate} of {limit}: {glances:#?}");
        for glance in &glances {
            let device = &glance.devices[0];
            assert_eq!((&*device.name, device.leaf), (&*card.leaf_name(), true));
            let figures = figures(glance);
            // Throttles may split the writer's 256 KiB, and the queue may merge what lies side by side.
            let request = figures.request.expect("writes").0;
            assert!((4096..=largest).contains(&request), "{request} of {largest}");
            assert!(figures.write.await_ns.is_some(), "{figures:?}");
        }
        return;
    }
}

/// Three intervals of two seconds beside a writer, after a first in which the throttle may give
/// something for nothing.
fn beside_a_writer(card: &Card) -> Vec<IntervalStats> {
    let noise = Noise::writer(card.mount());
    let mut watch = Watch::new(&["--json", "--interval", "2s", "--count", "4"], card.mount());
    let glances = (0..4).map(|_| watch.glance()).skip(1).collect();
    drop(noise);
    let (code, rest, err) = watch.end();
    assert_eq!((code, rest, &*err), (Some(0), vec![], ""));
    glances
}

/// Bytes that the device wrote in the interval.
fn written(glance: &IntervalStats) -> f64 {
    figures(glance).write.bandwidth.0 * glance.interval_ns.as_secs()
}

#[test]
fn a_copy_is_seen_with_its_flush() {
    let _beside = lab::beside();
    let shape = Shape { speed: lab::Speed::FREE, ..card_in_memory() };
    let card = lab::need!(Card::new(shape));
    let mut watch = Watch::new(&["--json", "--interval", "1s"], card.mount());
    watch.glance();
    let ran = Command::new("dd")
        .args(["if=/dev/zero", "bs=1M", "count=32", "conv=fsync", "status=none"])
        .arg(format!("of={}", card.path("x").display()))
        .status();
    assert!(ran.expect("dd").success());
    // Its last interval may lie before the next line, or after it.
    let seen = [watch.glance(), watch.glance()];
    watch.signal(rustix::process::Signal::INT);
    assert_eq!(watch.end().0, Some(0));
    let moved: f64 = seen.iter().map(written).sum();
    assert!((32.0..40.0).contains(&(moved / MI as f64)), "{seen:#?}");
    let flushes: f64 = seen
        .iter()
        .filter_map(|glance| Some(figures(glance).flush?.iops.0 * glance.interval_ns.as_secs()))
        .sum();
    match seen[0].devices[0].figures.seen().is_some_and(|figures| figures.flush.is_some()) {
        true => assert!(flushes >= 1.0, "{seen:#?}"),
        false => lab::skipped("flushes", &lab::Skip::Machine("not counted by this kernel".into())),
    }
}

#[test]
fn a_writer_that_goes_on_is_named() {
    let _alone = lab::alone();
    let card = lab::need!(Card::new(card_in_memory()));
    let _room = card.join();
    let noise = Noise::writer(card.mount());
    let mut watch = Watch::new(&["--json", "--count", "3"], card.mount());
    let glances: Vec<IntervalStats> = (0..3).map(|_| watch.glance()).collect();
    drop(noise);
    let us = std::process::id();
    let named = |glance: &IntervalStats| {
        let busy = &glance.processes.seen().expect("processes").busy;
        busy.iter().any(|process| process.pid == us && process.write.0 > 1e6)
    };
    assert!(glances.iter().any(named), "{us}: {glances:#?}");
}

/// Columns of a table with figures made `#`.
fn masked(line: &str) -> String {
    let words = line.split_whitespace().map(|word| {
        let figure = word == "-" || word.trim_end_matches(['k', 'M']).parse::<f64>().is_ok();
        let time = word.len() == 8 && word.matches(':').count() == 2;
        if time {
            "TIME"
        } else if figure {
            "#"
        } else {
            word
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_whole_output_up_to_ctrl_c() {
    let card = lab::need!(Card::new(card_in_memory()));
    let mut watch = Watch::new(&["--interval", "500ms"], card.device());
    let mut all = Vec::new();
    // The heading comes at once; then lines until somebody has seen enough.
    while !all
        .last()
        .is_some_and(|line: &String| line.contains(&format!("  {}  ", card.leaf_name())))
    {
        all.push(watch.line().expect("a line"));
    }
    watch.signal(rustix::process::Signal::INT);
    let (code, rest, err) = watch.end();
    assert_eq!((code, &*err), (Some(0), ""), "{rest:#?}");
    all.extend(rest);
    let text = all.join("\n");
    for part in [
        &format!("assay watch --interval 500ms {}\n\n", card.device().display()),
        &format!(
            "  where    {}: {} → file on tmpfs, loop on tmpfs — memory, not a disk\n",
            card.device().display(),
            card.leaf_name()
        ),
        "  limited  ",
        "  machine  min ",
    ] {
        // On version 2 of control groups the limit is not ours, who are in no group of the card.
        let limited = part.trim() == "limited" && !card.rooms().is_empty();
        assert!(limited || text.contains(part), "no '{part}' in:\n{text}");
    }
    let after: Vec<String> = all
        .iter()
        .skip_while(|line| !line.contains("interval"))
        .skip(1)
        .map(|l| masked(l))
        .collect();
    let over = |line: &&String| line.starts_with("# interval");
    let after: Vec<&String> = after.iter().skip_while(|line| !over(line)).collect();
    let name = card.leaf_name();
    let summary = [
        "MB/s IOPS size await ms per s".to_string(),
        "device read write read write KiB depth read write flush trim busy%".into(),
        format!("{name} min # # # # # # # # # # #"),
        "mean # # # # # # # # # # #".into(),
        "max # # # # # # # # # # #".into(),
        // Nothing was read, which has no mean size.
        "# no value".into(),
        "memory MiB pressure % CPU %".into(),
        "dirty wback cached io cpu mem user sys iowait steal".into(),
        "machine min # # # # # # # # # #".into(),
        "mean # # # # # # # # # #".into(),
        "max # # # # # # # # # #".into(),
    ];
    assert_eq!(after[1..].iter().map(|line| line.as_str()).collect::<Vec<_>>(), summary, "{text}");
}

/// What a line for the shell writes to a terminal of its own.
fn on_terminal(script: &Path, line: &str) -> String {
    let output = Command::new(script)
        .args(["-q", "-e", "-c", line, "/dev/null"])
        .env("TERM", "xterm")
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    text
}

#[test]
fn a_page_is_drawn_in_place_on_a_terminal() {
    let card = lab::need!(Card::new(card_in_memory()));
    let script = lab::need!(lab::need_tool("script", "bsdutils"));
    let typed = |columns: u32| {
        let line = format!(
            "stty rows 40 cols {columns}; {} watch --interval 200ms --count 3 {}",
            env!("CARGO_BIN_EXE_assay"),
            card.device().display()
        );
        on_terminal(&script, &line)
    };
    let page = typed(80);
    let redrawn: Vec<usize> = page
        .split("\r\u{1b}[")
        .skip(1)
        .filter_map(|part| part.split_once("A\u{1b}[J")?.0.parse().ok())
        .collect();
    // Two pages over the one before: table, history and machine are twelve lines at least.
    assert_eq!(redrawn.len(), 2, "{page:?}");
    assert!(redrawn.iter().all(|lines| (12..18).contains(lines)), "{page:?}");
    assert!(page.contains("3 intervals, "), "{page}");
    // A terminal on which it does not fit gets a line for each interval.
    assert!(typed(60).contains("A\u{1b}[J"));
    let lines = typed(50);
    assert!(!lines.contains("A\u{1b}[J") && lines.contains("steal"), "{lines}");
}

/// The terminal is made wider after two seconds; the page is drawn anew on it, from the top.
#[test]
fn a_terminal_of_another_size_gets_the_page_anew() {
    let card = lab::need!(Card::new(card_in_memory()));
    let script = lab::need!(lab::need_tool("script", "bsdutils"));
    let line = format!(
        "stty rows 40 cols 80; (sleep 2; stty -F /dev/tty cols 120) & exec {} watch --interval 1s --count 4 {}",
        env!("CARGO_BIN_EXE_assay"),
        card.device().display()
    );
    let text = on_terminal(&script, &line);
    let pages: Vec<&str> = text.split("\u{1b}[H\u{1b}[2J").collect();
    assert_eq!(pages.len(), 2, "{text:?}");
    // With what stood above it, and the last figures; the ones after it take their place.
    assert!(pages[1].starts_with("\u{1b}[1massay watch"), "{text:?}");
    assert!(pages[1].contains("mwhere ") && pages[1].contains("4 intervals, "), "{text:?}");
    assert!(pages[1].contains("\r\u{1b}["), "{text:?}");
}

/// A loop device is detached while the disk below it is watched as well: it is said, once, and the disk is
/// watched on.
#[test]
fn one_device_of_two_that_goes_does_not_end_it() {
    let losetup = lab::need!(lab::need_tool("losetup", "mount"));
    let card = lab::need!(Card::new(Shape { fs: Fs::Raw, size: 16 * MI, ..Shape::fast() }));
    let below =
        SysRoot::default().survey(card.device()).leaves().next().map(|l| l.layer.name.clone());
    let (name, below) = (card.leaf_name(), below.expect("a device"));
    if below == name {
        let why = lab::Skip::Machine("no disk is to be seen below a file here".into());
        return lab::skipped("one_device_of_two_that_goes_does_not_end_it", &why);
    }
    let mut watch = Watch::new(&["--interval", "200ms", "--stack"], card.device());
    let mut next = |wanted: &str| {
        std::iter::from_fn(|| watch.line()).find(|line| line.contains(wanted)).expect(wanted)
    };
    next(&format!("  {name}  "));
    let detached = Command::new(losetup).arg("-d").arg(card.device()).status().expect("losetup");
    assert!(detached.success());
    let said = next(" went away: ");
    let why = format!("  {name} went away: /sys/block/{name}/size: 0, there is no medium");
    assert!(said.ends_with(&why), "{said}");
    for _ in 0..2 {
        next(&format!("  {below}  "));
    }
    watch.signal(rustix::process::Signal::INT);
    let (code, after, err) = watch.end();
    assert_eq!((code, &*err), (Some(0), ""));
    assert!(!after.iter().any(|line| line.contains(" went away: ")), "{after:?}");
}

#[test]
fn a_reader_that_has_enough_ends_it() {
    let mut watch = Watch::new(&["--interval", "100ms", "--json"], Path::new("/"));
    if SysRoot::default().survey(Path::new("/")).leaves().next().is_none() {
        let why = lab::Skip::Machine("no block device is below /".into());
        return lab::skipped("a_reader_that_has_enough_ends_it", &why);
    }
    watch.glance();
    let Watch { child, lines } = watch;
    drop(lines);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
}

#[test]
fn another_signal_ends_it_with_its_number() {
    let card = lab::need!(Card::new(card_in_memory()));
    let mut watch = Watch::new(&["--interval", "1h"], card.mount());
    assert!(watch.line().is_some_and(|line| line.starts_with("assay watch")));
    watch.signal(rustix::process::Signal::TERM);
    let (code, _, err) = watch.end();
    assert_eq!((code, &*err), (Some(143), ""));
}

#[test]
fn a_device_that_is_detached_ends_it() {
    let losetup = lab::need!(lab::need_tool("losetup", "mount"));
    let card = lab::need!(Card::new(Shape { fs: Fs::Raw, ..card_in_memory() }));
    let mut watch = Watch::new(&["--interval", "200ms", "--json"], card.device());
    watch.glance();
    let detached = Command::new(losetup).arg("-d").arg(card.device()).status().expect("losetup");
    assert!(detached.success());
    let (code, _, err) = watch.end();
    let name = card.leaf_name();
    assert_eq!(
        (code, &*err),
        (
            Some(1),
            &*format!(
                "assay: cannot watch {name}: /sys/block/{name}/size: 0, there is no medium\n  it was there a moment ago: unplugged, detached, or without its medium\n"
            )
        )
    );
}

#[test]
fn another_user_sees_the_device_and_is_told_what_not() {
    let card = lab::need!(Card::new(card_in_memory()));
    let place = lab::folder("program");
    let typed = lab::assay(["watch", "--interval", "200ms", "--count", "1"]).word(card.device());
    let typed = lab::need!(typed.env("LC_ALL", "C.UTF-8").by_nobody(&place));
    let ran = typed.run().expect(0);
    assert_eq!(ran.stderr, "", "{ran}");
    let out = ran.stdout;
    let row = out.lines().find(|line| line.contains(&format!("  {}  ", card.leaf_name())));
    let figures: Vec<&str> = row.expect("a row").split_whitespace().skip(2).collect();
    assert!(figures.len() >= 21 && figures[0].parse::<f64>().is_ok(), "{out}");
    assert!(out.contains("/proc/PID/io"), "{out}");
    // Nothing of the card was touched.
    assert!(!out.contains("cannot"), "{out}");
}

#[test]
fn nothing_is_written() {
    let _alone = lab::alone();
    let card = lab::need!(Card::new(card_in_memory()));
    // What the file system does by itself after it was mounted.
    card.flush();
    std::thread::sleep(Duration::from_secs(1));
    card.flush();
    let before = card.leaf();
    let words = ["watch", "--interval", "500ms", "--count", "2"];
    lab::assay(words).word(card.mount()).run().expect(0);
    let moved = card.leaf() - before;
    assert_eq!((moved.writes, moved.flushes), (0, 0), "{moved:?}");
    assert_eq!(fs::read_dir(card.mount()).expect("listed").count(), 1, "lost+found alone");
}

#[test]
fn words_that_make_no_sense() {
    for (words, said) in [
        (
            vec!["watch"],
            "assay: PATH is missing; name a folder on the device, a file, or a block device\n",
        ),
        (
            vec!["watch", "nowhere"],
            "assay: there is nothing at 'nowhere'; name a folder, a file or a block device that lies on a disk\n",
        ),
        (
            vec!["watch", "/dev/null"],
            "assay: '/dev/null' lies on nothing that stores: there is no block device to watch; name a folder, a file or a block device that lies on a disk\n",
        ),
        (
            vec!["watch", "/proc"],
            "assay: '/proc' lies on proc, which stores nothing: there is no block device to watch; ",
        ),
        (
            vec!["watch", "--interval", "5x", "."],
            "assay: --interval: '5x' is not an interval; give 100ms to 1h, such as 500ms, 1s or 1m\n",
        ),
        (
            vec!["watch", "--interval", "5ms", "."],
            "assay: --interval: '5ms' is too short; give 100ms to 1h, such as 500ms, 1s or 1m\n",
        ),
        (
            vec!["watch", "--interval", "2h", "."],
            "assay: --interval: '2h' is too long; give 100ms to 1h, such as 500ms, 1s or 1m\n",
        ),
        (vec!["watch", "--count", "0", "."], "assay: --count: "),
        (
            vec!["watch", "--count", "1", "--time", "5", "."],
            "assay: '--count' and '--time' contradict each other; leave one of them out\n",
        ),
    ] {
        let ran = lab::assay(words).run().expect(2);
        assert_eq!(ran.stdout, "", "{ran}");
        assert!(ran.stderr.starts_with(said), "{ran}");
        // A line that works may follow; tests/pages/cli.rs looks at those.
        let other = ran.stderr.lines().skip(1).filter(|line| !line.starts_with("  assay watch "));
        assert_eq!(other.count(), 0, "{ran}");
    }
}
