//! `assay sweep`, `assay atto` and the profiles of `assay quick`: whole tables on modelled devices,
//! and on cards the speed that they have, from the size on where that can be had.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use assay_plan::plan::Action;
use assay_record::evidence::Snapshot;
use assay_record::record::{
    Ending, MeasuredSubject, ProfileResult, Record, StudyResult, SweepResult, SweepSide, Trust,
};
use assay_record::words::say;
use serde_json::{Value, json};

use crate::kernel::{Heard, grew, hear, hear_own, modelled, names, rate, run, told};
use crate::lab::{self, Card, Fake, Image, MI, Ran, Shape, Speed};

/// What the page says between its heading and its verdict.
fn said(page: &str) -> String {
    let lines = page.lines().skip_while(|line| !line.is_empty()).skip(1);
    let lines = lines.skip_while(|line| !line.is_empty()).skip(1);
    let lines: Vec<&str> = lines.take_while(|line| !line.starts_with("  verdict")).collect();
    lines.join("\n")
}

/// What a sweep came to.
fn swept(heard: &Heard) -> &SweepResult {
    let Some(StudyResult::Sweep(swept)) = &heard.record.outcome else {
        panic!("no sweep\n{heard}")
    };
    swept
}

/// What a profile came to.
fn profiled(heard: &Heard) -> &ProfileResult {
    let Some(StudyResult::Profile(found)) = &heard.record.outcome else { panic!("none\n{heard}") };
    found
}

/// What is below a folder, but for the file system's own.
fn below(folder: &Path) -> Vec<String> {
    let all = names(folder).into_iter().map(|(path, _)| path.display().to_string());
    all.filter(|name| !name.ends_with("lost+found")).collect()
}

/// A device of one channel: 100 us for each request, and 100 MB/s.
fn plain() -> Value {
    json!({ "latency": 100_000, "channels": 1, "bandwidth": 100_000_000 })
}

#[test]
fn rows_have_two_bars_and_say_from_where_on_they_are_good() {
    let words = ["sweep", "--over", "bs=4k..1M", "--depth", "1"];
    let heard = run(&modelled(&words, &plain()));
    assert_eq!(said(&heard.ran.stdout), ROWS, "\n{}", heard.ran.stdout);
    heard.expect(Trust::Sound, MeasuredSubject::Tool);
    let [write, read] = swept(&heard).plateaus.as_slice() else { panic!("two sides\n{heard}") };
    assert_eq!((write.side, write.from.as_str()), (SweepSide::Write, "write-128k"));
    assert_eq!((read.side, read.best.as_str()), (SweepSide::Read, "read-1m"));
}

/// The page of a record that was kept.
fn judged(heard: &Heard, locale: &str) -> Ran {
    let desk = tempfile::tempdir().expect("a folder");
    let file = desk.path().join("record.json");
    fs::write(&file, serde_json::to_string(&heard.record).expect("json")).expect("written");
    lab::assay(["judge"]).word(&file).env("LC_ALL", locale).env("COLUMNS", "90").run()
}

const ROWS: &str = "      \
      block      write         read       cell
      4 KiB  29.1 MB/s    29.1 MB/s       2/18
      8 KiB  45.0 MB/s    45.0 MB/s       4/18
     16 KiB  62.1 MB/s    62.1 MB/s       6/18
     32 KiB  76.6 MB/s    76.6 MB/s       8/18
     64 KiB  86.8 MB/s    86.8 MB/s      10/18
    128 KiB  92.9 MB/s    92.9 MB/s      12/18
    256 KiB  96.3 MB/s    96.3 MB/s      14/18
    512 KiB  98.1 MB/s    98.1 MB/s      16/18
      1 MiB  99.1 MB/s    99.1 MB/s      18/18

      block  0                                      99.1 MB/s
      4 KiB  ██████████████
      8 KiB  ██████████████████████
     16 KiB  ██████████████████████████████
     32 KiB  █████████████████████████████████████
     64 KiB  ██████████████████████████████████████████
    128 KiB  █████████████████████████████████████████████
    256 KiB  ███████████████████████████████████████████████
    512 KiB  ████████████████████████████████████████████████
      1 MiB  ████████████████████████████████████████████████
             █ both, ▀ writes alone, ▄ reads alone

  write    99.1 MB/s at 1 MiB, 90 % of it from 128 KiB
  read     99.1 MB/s at 1 MiB, 90 % of it from 128 KiB
  use      blocks of 128 KiB or more";

/// The rows of the table are printed one by one, each when its last cell is over.
#[test]
fn a_row_stands_on_the_page_when_it_ends() {
    let desk = tempfile::tempdir().expect("a folder");
    let file = desk.path().join("plan.json");
    // No model with a clock of its own: each cell takes half a second.
    let mut plan = modelled(&["sweep", "--over", "bs=4k,64k", "--time", "10"], &plain());
    plan["aim"]["sweep"].as_object_mut().expect("a sweep").remove("pace");
    for phase in plan["phases"].as_array_mut().expect("phases") {
        phase["jobs"][0]["work"]["blocks"]["method"] = json!("null");
        phase["jobs"][0]["stop"] = json!({ "first_of": [{ "time": 500_000_000 }] });
    }
    fs::write(&file, plan.to_string()).expect("written");
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["run"])
        .arg(&file)
        .env("LC_ALL", "C.UTF-8")
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let out = std::io::BufReader::new(child.stdout.take().expect("a pipe"));
    let mut rows = Vec::new();
    let mut over = None;
    for line in std::io::BufRead::lines(out) {
        let line = line.expect("a line");
        assert!(!line.contains('\u{1b}') && !line.contains('\r'), "{line}");
        if line.ends_with("/4") {
            rows.push((Instant::now(), line));
        } else if line.contains("both, ") {
            over = Some(Instant::now());
        }
    }
    assert!(child.wait().expect("a status").code().is_some());
    let over = over.expect("bars at the end");
    let [(first, one), (second, other)] = rows.as_slice() else { panic!("{rows:?}") };
    assert!(one.trim_start().starts_with("4 KiB") && one.ends_with("2/4"), "{one}");
    assert!(other.trim_start().starts_with("64 KiB") && other.ends_with("4/4"), "{other}");
    // The bars come with the end of the last row.
    let (apart, after) = (second.duration_since(*first), over.duration_since(*second));
    assert!(apart > after && apart > Duration::from_millis(200), "{apart:?} {after:?}");
}

/// On a modelled device: the words of the run, and the files with the endings of all formats.
#[test]
fn a_sweep_leaves_the_reports_that_were_asked_for() {
    let desk = tempfile::tempdir().expect("a folder");
    let plan = desk.path().join("plan");
    let words = ["sweep", "--over", "bs=4k..1M", "--depth", "1"];
    fs::write(&plan, modelled(&words, &plain()).to_string()).expect("written");
    let endings = ["txt", "json", "html", "svg", "csv"];
    let files = endings.map(|ending| desk.path().join("sweep").with_extension(ending));
    let typed = || {
        let typed = lab::run_plan(&plan).env("LC_ALL", "C.UTF-8").env("COLUMNS", "90");
        files.iter().fold(typed, |typed, file| typed.word("--report").word(file))
    };
    // Somebody's table stays; a report of an earlier run is replaced.
    fs::write(&files[4], "an old table").expect("written");
    let ran = typed().run();
    assert_eq!(ran.code(), 2, "{ran}");
    assert_eq!(fs::read_to_string(&files[4]).expect("a table"), "an old table");
    assert!(files[..4].iter().all(|file| !file.exists()), "{ran}");
    fs::remove_file(&files[4]).expect("removed");
    assert_eq!(typed().run().code(), 0);
    let ran = typed().run();
    assert_eq!(ran.code(), 0, "{ran}");
    let [text, record, html, svg, csv] =
        files.map(|file| fs::read_to_string(file).expect("a report"));
    assert_eq!(text, ran.stdout);
    let record: Record = serde_json::from_str(&record).expect("a record");
    assert_eq!(record.ending, Ending::Complete);
    let whole = (html.starts_with("<!DOCTYPE html>"), html.ends_with("</html>\n"));
    assert_eq!(
        (whole, svg.starts_with("<svg "), svg.ends_with("</svg>\n")),
        ((true, true), true, true)
    );
    let told = "<title>read at 128 KiB: 92.9 MB/s, sound · tool</title>";
    assert!(html.contains(told) && svg.contains(told), "{svg}");
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines.len() == 19 && lines[1].starts_with("write,4096,1,1,0,29"), "{csv}");
    // Nothing else is left, of temporary files neither.
    assert_eq!(names(desk.path()).len(), 6);
}

#[test]
fn two_things_make_a_grid() {
    let words = ["sweep", "--over", "bs=4k,64k", "--over", "depth=1..8", "--action", "read"];
    let model = json!({ "latency": 100_000, "channels": 4 });
    let heard = run(&modelled(&words, &model));
    assert_eq!(said(&heard.ran.stdout), GRID, "\n{}", heard.ran.stdout);
}

const GRID: &str = "                                    \
                                    MB/s, depth across
             block       1        2        4        8      cell
  read       4 KiB    41.0     81.9      164      164       4/8
  read      64 KiB     655     1311     2621     2621       8/8

  read     depth across
      block    1    2    4    8
      4 KiB
     64 KiB   ░░   ▒▒   ██   ██

            of the best: ░ above 20 %, ▒ above 40 %, ▓ above 60 %, █ above 80 %

  read     2621 MB/s at 64 KiB and 8 in flight, 90 % of it at 64 KiB and 4 in flight";

#[test]
fn a_share_of_reads_is_varied() {
    let words = ["sweep", "--over", "read=0..100", "--block", "4k", "--order", "random"];
    let heard = run(&modelled(&words, &plain()));
    let cells = &swept(&heard).cells;
    let mixes: Vec<(SweepSide, u32)> = cells.iter().map(|c| (c.side, c.reads_percent)).collect();
    assert_eq!(mixes, [0, 25, 50, 75, 100].map(|reads| (SweepSide::Mixed, reads)));
    for (phase, reads) in heard.record.phases.iter().zip([0.0, 0.25, 0.5, 0.75, 1.0]) {
        let ops = |action| phase.totals.get(&action).map_or(0.0, |total| total.ops.0 as f64);
        let share = ops(Action::Read) / (ops(Action::Read) + ops(Action::Write));
        assert!((share - reads).abs() < 0.02, "{}: {share}\n{heard}", phase.name);
    }
}

#[test]
fn the_record_of_a_sweep_is_judged_again() {
    let heard = run(&modelled(&["sweep", "--over", "depth=1..4"], &plain()));
    assert_eq!(judged(&heard, "C.UTF-8").stdout, heard.ran.stdout);
    let ascii = judged(&heard, "C");
    assert!(ascii.stdout.is_ascii(), "{ascii}");
    for row in ["          1  86.8 MB/s    86.8 MB/s        2/6", "          1  ############"] {
        assert!(ascii.stdout.lines().any(|line| line.starts_with(row)), "{ascii}");
    }
}

/// What was not done might be better.
#[test]
fn a_sweep_that_was_interrupted_gives_no_advice() {
    let mut heard = run(&modelled(&["sweep", "--over", "bs=4k,64k"], &plain()));
    assert!(heard.ran.stdout.contains("\n  use      blocks of 64 KiB or more\n"), "{heard}");
    heard.record.phases.as_mut_vec().pop();
    heard.record.ending = Ending::Interrupted(2);
    let page = judged(&heard, "C.UTF-8").stdout;
    assert!(page.contains("\n  write    86.8 MB/s at 64 KiB\n"), "{page}");
    assert!(page.contains("\n  ended    by SIGINT (Ctrl-C) in phase 3 of 4;"), "{page}");
    assert!(!page.contains("\n  use "), "{page}");
}

#[test]
fn a_profile_has_best_mean_and_spread() {
    let words = ["quick", "--profile", "cdm", "--time", "24"];
    let model = json!({ "latency": 100_000, "channels": 4, "bandwidth": 50_000_000 });
    let heard = run(&modelled(&words, &model));
    assert_eq!(said(&heard.ran.stdout), PROFILE, "\n{}", heard.ran.stdout);
    let done: Vec<&str> = heard.record.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(done.len(), 8 * 4);
    let first = ["seq1m-q8t1-read-0", "seq1m-q8t1-read-1", "seq1m-q8t1-read-2"];
    assert_eq!(done[..3], first);
    assert_eq!(done[31], "rnd4k-q1t1-write-3");
    // As it is installed, each run takes five seconds.
    let usual = modelled(&words[..3], &model);
    let stops: Vec<&Value> = usual["phases"].as_array().expect("phases").iter().collect();
    let five = json!([{ "time": 5_000_000_000_u64 }]);
    assert!(stops.iter().all(|phase| phase["jobs"][0]["stop"]["first_of"] == five), "{usual}");
}

const PROFILE: &str = "  \
  [Read]  MB/s         best     mean   spread     IOPS    latency  runs
  SEQ1M Q8T1            199      199       0%      190    41.4 ms     3
  SEQ1M Q1T1           49.8     49.8       0%     47.5    21.1 ms     3
  RND4K Q32T1          90.1     90.1       0%    22.0k    1.45 ms     3
  RND4K Q1T1           22.5     22.5       0%     5497     182 µs     3

  [Write] MB/s         best     mean   spread     IOPS    latency  runs
  SEQ1M Q8T1            199      199       0%      190    41.4 ms     3
  SEQ1M Q1T1           49.8     49.8       0%     47.5    21.1 ms     3
  RND4K Q32T1          90.1     90.1       0%    22.0k    1.45 ms     3
  RND4K Q1T1           22.5     22.5       0%     5497     182 µs     3

  spread   the best run less the worst, as a share of the mean
  units    MB/s are 10^6 bytes per second, as CrystalDiskMark's. KDiskMark divides KiB by
           1000: what it calls MB/s is 2.4 % less";

#[test]
fn gnomes_figures_are_drawn_by_their_places() {
    let words = ["quick", "--profile", "gnome"];
    let heard = run(&modelled(&words, &plain()));
    assert_eq!(said(&heard.ran.stdout), GNOME, "\n{}", heard.ran.stdout);
    let kept: Vec<usize> = heard.record.phases.iter().map(|phase| phase.each.len()).collect();
    assert_eq!(kept, [100, 100, 1000]);
}

const GNOME: &str = "  \
  [Read]  MB/s         best     mean   spread     IOPS    latency  runs
  Read rate            99.9     99.9        -     9.53     105 ms     1
  Access time          29.1     29.1        -     7094     141 µs     1  ?

  [Write] MB/s         best     mean   spread     IOPS    latency  runs
  Write rate           99.9     99.9        -     9.53     105 ms     1
  ? doubtful or unproven  - no value

  read   99.9 MB/s │████████████████████████████████████████████████████████████
                   │████████████████████████████████████████████████████████████
                   │████████████████████████████████████████████████████████████
                   │████████████████████████████████████████████████████████████
                   │
  write  99.9 MB/s │████████████████████████████████████████████████████████████
                   │████████████████████████████████████████████████████████████
                   │████████████████████████████████████████████████████████████
                   │████████████████████████████████████████████████████████████
                   │
  access    141 µs │••••●•●●•••••••••••●•●●●•●●●•●•●••●●•●•••••·••●••••●••••●•••
                   │
                   │
                   │
                   └──────────────────────────────────────────────────────────── 1 GiB

  units    MB/s are 10^6 bytes per second";

#[test]
fn words_that_make_no_sense_touch_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    for (words, says) in [
        (
            "sweep --over bs=4x",
            "assay: --over: '4x' is no bs; write 1 B to 1 GiB\n  assay sweep --over bs=4k..1M DIR",
        ),
        (
            "sweep --over size=4k",
            "assay: --over: 'size' cannot be varied; give bs, depth, workers or read\n  assay sweep --over bs=4k..1M DIR",
        ),
        (
            "sweep --over bs=4k --over bs=8k",
            "assay: --over: bs is varied twice; give all its values in one list",
        ),
        (
            "sweep --over bs=4k --block 4k",
            "assay: --block: it is varied, and given beside that; leave --block out, or vary something else",
        ),
        (
            "sweep --time 5",
            "assay: --time: too short for 36 cells; give 33 or more, or fewer values\n  assay sweep --time 33 DIR",
        ),
        (
            "sweep --report /nowhere/x.csv",
            "assay: /nowhere/x.csv cannot be made; name a file in a folder that this user may write to",
        ),
        (
            "atto --report x.pdf",
            "assay: the ending of x.pdf is that of no report; let its name end with .txt, .json, .html, .svg, .csv or .md",
        ),
        (
            "atto --report x.svg --continuous 1",
            "assay: '--report' and '--continuous' contradict each other; leave one of them out",
        ),
        ("atto -f 256", "assay: sizes: no row of 256 B; give 512 B to 64 MiB"),
        (
            "atto -l 1k",
            "assay: -l: a total length of 1 KiB; give 64 KiB to 32 GiB\n  assay atto -l 1M DIR",
        ),
        ("atto -q 300", "assay: -q: invalid value '300'; give 1 to 256\n  assay atto -q 128 DIR"),
        (
            "atto --pattern xyz",
            "assay: --pattern: 'xyz' is no pattern; write zero, ones, random, or pairs of digits such as a5 or deadbeef\n  assay atto --pattern zero DIR",
        ),
        (
            "atto --mode neither -q 4",
            "assay: -q: a queue of 4 in a mode that sends one at a time; leave -q out, or use --mode overlapped",
        ),
        (
            "quick --profile gnome --size 4M",
            "assay: --size: 4 MiB is less than one sample of 10 MiB; give 10 MiB or more; the usual 100 samples want 1000M\n  assay quick --profile gnome --size 1000M DIR",
        ),
        (
            "quick --profile cdm --time 5",
            "assay: --time: too short for 32 runs; give 23 or more, or fewer --loops\n  assay quick --profile cdm --time 23 DIR",
        ),
        (
            "quick --profile cdm --loops 10",
            "assay: --loops: invalid value '10'; give 1 to 9\n  assay quick --profile cdm --loops 9 DIR",
        ),
        (
            "quick --profile cdm --quick",
            "assay: '--profile' and '--quick' contradict each other; leave one of them out",
        ),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let ran = lab::assay(&words).word(folder.path()).run();
        let said = ran.stderr.replace(&folder.path().display().to_string(), "DIR");
        assert_eq!((ran.code(), said.trim_end()), (2, says), "{words:?}");
        assert_eq!(names(folder.path()), vec![], "{words:?}");
    }
}

#[test]
fn a_link_named_atto_is_atto() {
    let desk = tempfile::tempdir().expect("a folder");
    let link = desk.path().join("atto");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_assay"), &link).expect("a link");
    let line = |program: &Path, words: &[&str]| {
        let mut command = std::process::Command::new(program);
        let ran = command.args(words).args(["--plan", "--seed", "1", "-l", "1M"]).arg(desk.path());
        ran.output().expect("it runs")
    };
    let (linked, verb) =
        (line(&link, &[]), line(Path::new(env!("CARGO_BIN_EXE_assay")), &["atto"]));
    assert!(linked.status.success(), "{linked:?}");
    assert_eq!((linked.stdout, linked.stderr), (verb.stdout, verb.stderr));
}

/// Cards idle most of the time: together they take no longer than one.
#[test]
fn cards_show_their_speed() {
    let _beside = lab::beside();
    std::thread::scope(|all| {
        all.spawn(the_rates_are_the_pace_of_the_card);
        all.spawn(a_disk_has_a_plateau);
        all.spawn(atto_shows_the_same);
        all.spawn(a_profile_is_done_in_its_order);
    });
}

/// 4 MiB/s written and 16 MiB/s read, in memory: a busy disk of the host does not slow it down.
fn card() -> Shape {
    Shape { image: Image::Thin(256 * MI), ..Shape::sdcard() }
}

/// The cells that are further from the card's pace than three in a hundred.
fn off(heard: &Heard) -> Vec<String> {
    let far = |cell: &&assay_record::record::SweepCell| {
        let pace = if cell.side == SweepSide::Write { 4 * MI } else { 16 * MI };
        cell.bandwidth.is_none_or(|rate| (rate.0 / pace as f64 - 1.0).abs() > 0.03)
    };
    swept(heard).cells.iter().filter(far).map(|cell| cell.phase.clone()).collect()
}

/// Whether somebody had to wait for a CPU for a fifth of the time of a phase: then what serves a card
/// may have waited, which shows in no counter of it.
fn crowded(heard: &Heard) -> bool {
    heard.record.phases.iter().any(|phase| {
        let (before, stop) = (&phase.evidence.before, &phase.evidence.stop);
        let waited = |snapshot: &Snapshot| snapshot.pressure.seen().and_then(|it| it.cpu);
        let time = stop.at.since(before.at).0;
        let waited = waited(before).zip(waited(stop)).map(|(first, last)| last.less(first).0);
        waited.is_some_and(|waited| waited * 5 > time)
    })
}

/// What is said of a try that others have spoiled.
fn again(left: u32) -> &'static str {
    if left > 0 { "again" } else { "SKIP: others had the processors three times" }
}

fn the_rates_are_the_pace_of_the_card() {
    let card = lab::need!(Card::new(card()));
    let desk = tempfile::tempdir().expect("a folder");
    let csv = desk.path().join("table.csv");
    for left in (0..3).rev() {
        // So much in flight that the card has work while the program waits for a CPU.
        let words = ["sweep", "--over", "bs=64k,256k", "--depth", "32", "--time", "25", "--report"];
        let typed = lab::assay(words);
        let heard = hear_own(typed.word(&csv).word(card.mount()).within(card.rooms()));
        assert_eq!(below(card.mount()), Vec::<String>::new(), "{heard}");
        if !off(&heard).is_empty() && (left > 0 || crowded(&heard)) {
            told(again(left), &heard);
            continue;
        }
        assert_eq!(off(&heard), Vec::<String>::new(), "{heard}");
        // Right as they are: they are the pace of memory under a throttle, and no disk's.
        heard.expect(Trust::Wrong, MeasuredSubject::NotADisk);
        let table = fs::read_to_string(&csv).expect("a table");
        let lines: Vec<&str> = table.lines().collect();
        let first = lines[1].starts_with("write,65536,32,1,0,") && lines[1].contains(",wrong,");
        assert!(lines.len() == 5 && first, "{table}");
        break;
    }
}

fn a_disk_has_a_plateau() {
    let card = lab::need!(Card::new(Shape::paced()));
    for left in (0..3).rev() {
        let typed = lab::assay(["sweep", "--over", "bs=512k,1M", "--time", "15"]);
        let heard = hear_own(typed.word(card.mount()).within(card.rooms()));
        assert_eq!(below(card.mount()), Vec::<String>::new(), "{heard}");
        let sides: Vec<SweepSide> = swept(&heard).plateaus.iter().map(|found| found.side).collect();
        let spoiled = heard.disturbed() || crowded(&heard);
        if sides.len() < 2 && (left > 0 || spoiled) {
            told(again(left), &heard);
            continue;
        }
        assert_eq!(sides, [SweepSide::Write, SweepSide::Read], "{heard}");
        assert!(heard.ran.stdout.contains("\n  use      blocks of "), "{heard}");
        break;
    }
}

fn atto_shows_the_same() {
    let card = lab::need!(Card::new(card()));
    let words = ["atto", "--sizes", "64k,1M", "-l", "4M", "--row-limit", "60"];
    let heard = hear(lab::assay(words).word(card.mount()).within(card.rooms()));
    assert_eq!(heard.record.ending, Ending::Complete, "{heard}");
    assert_eq!(below(card.mount()), Vec::<String>::new(), "{heard}");
    assert_eq!(table_of(&heard.ran), ["I/O size", "64 KiB", "1 MiB"], "{heard}");
    assert!(heard.ran.stderr.contains("assay: note: compressible data, as ATTO's"), "{heard}");
    for cell in &swept(&heard).cells {
        assert!(cell.bandwidth.is_some() && !cell.cut, "{heard}");
        let moved: u64 = heard.named(&cell.phase).flows.iter().map(|flow| flow.bytes.0).sum();
        // Its length, as often as it takes to be judged.
        assert!(moved >= 4 * MI && moved.is_multiple_of(4 * MI), "{moved}\n{heard}");
    }
    // In no time at all: the row is marked.
    let words = ["atto", "--sizes", "4k", "-l", "32M", "--row-limit", "1"];
    let heard = hear(lab::assay(words).word(card.mount()).within(card.rooms()));
    let cut: Vec<bool> = swept(&heard).cells.iter().map(|cell| cell.cut).collect();
    assert_eq!(cut, [true, true], "{heard}");
    let said = "  *        this row's time was over before its length was done";
    assert!(heard.ran.stdout.contains(said), "{heard}");
}

/// The rows up to a block that does not hold what was written there, and no more.
#[test]
fn atto_ends_at_the_first_wrong_block() {
    let _alone = lab::alone();
    let card = lab::need!(Card::new(Shape { speed: Speed::FREE, size: 96 * MI, ..Shape::paced() }));
    card.fake(Fake::Flips(MI));
    for (more, ended) in [("--verify", "read-8k"), ("--mode=compare", "write-8k")] {
        let words = ["atto", more, "--sizes", "8k,64k", "-l", "2M"];
        let heard = hear(lab::assay(words).word(card.mount()).within(card.rooms()));
        let last = heard.record.phases.last().map(|phase| phase.name.as_str());
        assert_eq!((heard.ran.code(), last), (1, Some(ended)), "{heard}");
        let Ending::Failed(fault) = &heard.record.ending else { panic!("{heard}") };
        assert_eq!((fault.doing.name(), fault.offset.map(|at| at % 512)), ("verify", Some(100)));
        let fault = format!("  {ended}: cannot verify {} at ", card.mount().display());
        assert!(heard.ran.stdout.contains(&fault), "{heard}");
        // The row that it ended is refuted and not marked as cut, and the next was not begun.
        let row = |size: &str| {
            let line = heard.ran.stdout.lines().find(|line| line.trim_start().starts_with(size));
            line.unwrap_or_else(|| panic!("no row of {size}\n{heard}")).trim_end().to_string()
        };
        assert!(row("8 KiB").contains(" ✗ ") && !heard.ran.stdout.contains("  *  "), "{heard}");
        assert_eq!(row("64 KiB"), "     64 KiB          -          -          -", "{heard}");
        heard.expect(Trust::Wrong, MeasuredSubject::Invalid);
        assert_eq!(below(card.mount()), Vec::<String>::new(), "{heard}");
    }
}

#[test]
fn what_is_compared_is_no_write() {
    let _alone = lab::alone();
    let card = lab::need!(Card::new(Shape { speed: Speed::FREE, size: 96 * MI, ..Shape::paced() }));
    let words = ["atto", "--mode", "compare", "--sizes", "64k", "-l", "2M"];
    let heard = hear(lab::assay(words).word(card.mount()).within(card.rooms()));
    let phase = heard.named("write-64k");
    let moved = |action| phase.totals.get(&action).map(|total| total.bytes.0);
    let [written, read] = [Action::Write, Action::Read].map(moved);
    assert!(written.is_some_and(|bytes| bytes.is_multiple_of(2 * MI) && bytes > 0), "{heard}");
    assert_eq!(written, read, "{heard}");
    let cell = &swept(&heard).cells[0];
    assert_eq!(cell.bandwidth.map(|rate| rate.0), rate(phase, Action::Write), "{heard}");
    assert!(!cell.cut, "{heard}");
}

#[test]
fn atto_says_what_was_chosen() {
    let _alone = lab::alone();
    let tmpfs = lab::need!(lab::Memory::tmpfs());
    let words =
        ["atto", "--sizes", "4k", "-l", "64k", "--unit", "iops", "--description", "my card"];
    let heard =
        hear(lab::assay(words).words(&["--no-direct", "--bypass-write-cache"]).word(tmpfs.mount()));
    let page: Vec<&str> = heard.ran.stdout.split_whitespace().collect();
    let page = page.join(" ");
    for said in [
        "64 KiB from the beginning of the file, 4 in flight; repeated from a cold cache until 500 ms have passed, cut at 20.0 s (*); each write is durable when it is answered;",
        "cached direct I/O is off: the page cache takes part in these figures about my card I/O size write read 0",
        "✗ wrong",
    ] {
        assert!(page.contains(said), "{said}\n{heard}");
    }
    let row = heard.ran.stdout.lines().find(|line| line.starts_with("      4 KiB"));
    assert!(row.is_some_and(|row| row.matches(" IO/s").count() == 2), "{heard}");
    let small = lab::need!(lab::Memory::tmpfs_of(16 * MI));
    let ran = lab::assay(["atto", "-l", "64M"]).word(small.mount()).run().expect(2);
    let said = ran.stderr.replace(&small.mount().display().to_string(), "DIR");
    assert_eq!(
        said,
        "assay: 64 MiB do not fit: 16 MiB are free on DIR; give -l 16M or less, or free some space\n  assay atto -l 16M DIR\n"
    );
}

/// Where there is no direct I/O either, a length that is done in no time is done again, and each time it is the
/// device's.
#[test]
fn what_atto_does_again_is_not_in_memory() {
    let _alone = lab::alone();
    let card = lab::need!(Card::new(Shape { speed: Speed::FREE, ..Shape::btrfs() }));
    let words = ["atto", "--no-direct", "--sizes", "64k", "-l", "4M"];
    let heard = hear(lab::assay(words).word(card.mount()));
    let page: Vec<&str> = heard.ran.stdout.split_whitespace().collect();
    assert!(
        page.join(" ").contains("repeated from a cold cache until 500 ms have passed,"),
        "{heard}"
    );
    for (name, written) in [("write-64k", true), ("read-64k", false)] {
        let phase = heard.named(name);
        let moved: u64 = phase.flows.iter().map(|flow| flow.bytes.0).sum();
        assert!(moved > 4 * MI, "{heard}");
        let reached =
            grew(
                phase,
                &card,
                |device| {
                    if written { device.write_bytes } else { device.read_bytes }
                },
            );
        assert!(reached >= moved, "{reached} of {moved} bytes reached the device\n{heard}");
    }
    assert!(!heard.found("T60") && !heard.found("T25") && !heard.found("T56"), "{heard}");
    let legend = ["? doubtful or unproven", "✗ wrong"];
    let marked = ["? ", "✗ "].map(|mark| heard.ran.stdout.contains(&format!("/s {mark}")));
    for (legend, marked) in legend.iter().zip(marked) {
        assert!(!marked || heard.ran.stdout.contains(legend), "{heard}");
    }
}

/// It goes on until its time is over, or somebody ends it.
#[test]
fn atto_repeats_itself() {
    let _alone = lab::alone();
    let tmpfs = lab::need!(lab::Memory::tmpfs());
    let desk = tempfile::tempdir().expect("a folder");
    let out = desk.path().join("out");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(["atto", "--sizes", "4k", "-l", "64k", "--continuous", "9"]).arg(tmpfs.mount());
    command.stdout(fs::File::create(&out).expect("a file")).stderr(Stdio::null());
    let mut going = command.spawn().expect("it runs");
    let tables = || fs::read_to_string(&out).expect("its output").matches(" both, ").count();
    let began = Instant::now();
    while tables() < 2 && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = rustix::process::Pid::from_child(&going);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("sent");
    let ended = going.wait().expect("gone");
    assert!(tables() >= 2, "it was done once");
    // Between two of them it dies of the signal.
    assert!(ended.code() == Some(130) || ended.signal() == Some(2), "{ended}");
    assert_eq!(names(tmpfs.mount()), vec![]);
}

/// The first column of the table of atto.
fn table_of(ran: &Ran) -> Vec<String> {
    let lines = ran.stdout.lines().skip_while(|line| !line.contains("I/O size  "));
    let rows = lines.take_while(|line| !line.contains("both"));
    rows.map(|line| line.chars().take(11).collect::<String>().trim().to_string()).collect()
}

fn a_profile_is_done_in_its_order() {
    let card = lab::need!(Card::new(card()));
    let words = ["quick", "--profile", "cdm-nvme", "--loops", "1", "--time", "12", "--size", "4M"];
    let heard = hear_own(lab::assay(words).word(card.mount()).within(card.rooms()));
    assert_eq!(heard.record.ending, Ending::Complete, "{heard}");
    let cells = &profiled(&heard).cells;
    let titles: Vec<(&str, Action)> = cells.iter().map(|c| (c.title.as_str(), c.action)).collect();
    let titled = ["SEQ1M Q8T1", "SEQ128K Q32T1", "RND4K Q32T16", "RND4K Q1T1"];
    let both = [Action::Read, Action::Write].into_iter();
    let all: Vec<(&str, Action)> =
        both.flat_map(|action| titled.map(|title| (title, action))).collect();
    assert_eq!(titles, all);
    assert!(cells.iter().all(|cell| cell.runs == 1 && cell.best.is_some()), "{heard}");
    assert_eq!(below(card.mount()), Vec::<String>::new(), "{heard}");
}

/// Each of AS SSD's threads has a file; whatever ends the run, none of them stays.
#[test]
fn as_ssd_has_a_file_for_each_thread() {
    let _alone = lab::alone();
    let words = ["quick", "--profile", "as-ssd", "--size", "16M", "--time", "6"];
    let on_a_card = || {
        let card = lab::need!(Card::new(Shape { speed: Speed::FREE, ..card() }));
        let heard = hear_own(lab::assay(words).word(card.mount()).within(card.rooms()));
        assert_eq!(heard.record.ending, Ending::Complete, "{heard}");
        let phases = heard.record.phases.iter();
        let theirs = phases.filter(|phase| phase.name.starts_with("4k-64thrd"));
        let threads = theirs.flat_map(|phase| heard.record.jobs_of(phase));
        let made: Vec<_> = threads.map(|job| (job.workers, job.files, job.size.0)).collect();
        assert_eq!(made, [(64, 64, 16 * MI); 2], "{heard}");
        assert!(profiled(&heard).cells.iter().all(|cell| cell.best.is_some()), "{heard}");
        let where_else = "Here those reads are all over the test file";
        assert!(heard.ran.stdout.contains(where_else), "{heard}");
        assert_eq!(below(card.mount()), Vec::<String>::new(), "{heard}");
    };
    // Where no file can do without a name, it loses it at once.
    let on_fuse = || {
        let faulty = lab::need!(lab::FaultyFuse::new(lab::Faults::default()));
        let heard = hear_own(lab::assay(words).word(faulty.mount()));
        assert_eq!(heard.record.ending, Ending::Complete, "{heard}");
        assert!(profiled(&heard).cells[4].best.is_some(), "{heard}");
        assert_eq!(below(faulty.mount()), Vec::<String>::new(), "{heard}");
    };
    std::thread::scope(|both| {
        both.spawn(on_a_card);
        both.spawn(on_fuse);
    });
}

#[test]
fn rows_below_a_logical_block_are_left_out() {
    let _alone = lab::alone();
    let card = lab::need!(Card::new(Shape::sector4k()));
    let words = ["sweep", "--over", "bs=512,2k,4k", "--over", "depth=1,4", "--time", "15"];
    let heard = hear_own(lab::assay(words).word(card.mount()).within(card.rooms()));
    assert_eq!(heard.record.ending, Ending::Complete, "{heard}");
    let reason = format!("smaller than a logical block of {} (4096 bytes)", card.leaf_name());
    for cell in &swept(&heard).cells {
        let small = cell.block.0 < 4096;
        assert_eq!(
            cell.left_out.as_ref().map(|why| say(&why.0)),
            small.then(|| reason.clone()),
            "{heard}"
        );
        assert_eq!(cell.bandwidth.is_none(), small, "{heard}");
    }
    let page = &heard.ran.stdout;
    let reason =
        "  n/a      8 cells, the first at 512 B and 1 in flight: smaller than a logical block";
    assert!(page.contains(reason), "{heard}");
    assert!(page.contains("\n  write      512 B     n/a      n/a      4/12\n"), "{heard}");
    assert_eq!(below(card.mount()), Vec::<String>::new(), "{heard}");
    nothing_is_written_for_no_cell(&card);
}

fn nothing_is_written_for_no_cell(card: &Card) {
    for (words, such) in [
        ("sweep --over bs=512,3k", "--over bs=4096..1M"),
        ("sweep --over depth=1,2 --block 512", "--block 4096"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let heard = hear_own(lab::assay(&words).word(card.mount()).within(card.rooms()));
        heard.expect(Trust::Unproven, MeasuredSubject::Invalid);
        assert_eq!((heard.ran.code(), heard.record.phases.len()), (3, 0), "{heard}");
        let leaf = card.leaf_name();
        let page = heard.ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        let said = format!(
            "verdict unproven · invalid Nothing could be measured: 512 B is smaller than a \
             logical block of {leaf} (4096 bytes); use blocks that are multiples of 4096 bytes. \
             next assay sweep "
        );
        assert!(page.contains(&said) && !page.contains(" 0 B/s"), "{heard}");
        assert!(page.contains(&format!("{such} ")), "{heard}");
    }
}

#[test]
fn memory_is_no_plateau() {
    let _alone = lab::alone();
    let tmpfs = lab::need!(lab::Memory::tmpfs());
    let words = ["sweep", "--over", "bs=4k,64k", "--time", "5"];
    let heard = hear_own(lab::assay(words).word(tmpfs.mount()));
    heard.expect(Trust::Wrong, MeasuredSubject::NotADisk);
    assert_eq!(heard.ran.code(), 3, "{heard}");
    assert!(swept(&heard).cells.iter().all(|cell| cell.trust == Some(Trust::Wrong)), "{heard}");
    assert_eq!(swept(&heard).plateaus, vec![], "{heard}");
    let said = "\n  write    no valid result for the device\n  read     no valid result";
    assert!(heard.ran.stdout.contains(said), "{heard}");
    assert!(!heard.ran.stdout.contains("\n  use "), "{heard}");
}

#[test]
fn rates_of_a_profile_are_true_megabytes() {
    let words = ["quick", "--profile", "as-ssd", "--size", "1M", "--time", "6"];
    let heard = run(&modelled(&words, &plain()));
    let cell = &profiled(&heard).cells[2];
    assert_eq!((cell.title.as_str(), cell.runs), ("4K", 1));
    let phase = heard.named("4k-read");
    assert_eq!(cell.best.map(|best| best.0), rate(phase, Action::Read));
    // 4096 bytes in 140.96 us.
    let said = cell.best.expect("a rate").mb();
    assert!((said - 29.06).abs() < 0.01, "{said}");
}
