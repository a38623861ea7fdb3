//! `assay dd` on devices of known speed: what is typed, and what must be said of it. What it makes of
//! the traps is in `catalogue`.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use assay_plan::plan::Action;
use assay_record::record::{MeasuredSubject, Trust};

use crate::kernel::{self, harmless, hear, told};
use crate::lab::{self, Card, MI, Shape, Speed};

/// What the card does, bytes per second.
const WRITES: f64 = 4.0 * MI as f64;
const READS: f64 = 16.0 * MI as f64;

/// What is done to the file before.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    /// It is not there.
    Nothing,
    /// So many bytes of noise (a throttle lets a tenth of a second's worth pass at once), on the device, and not in memory.
    Cold(u64),
    /// It stays as the row before left it.
    AsLeft,
}

/// Which figure, and what it must be.
#[derive(Clone, Copy)]
enum Figure {
    /// dd's own figure, within three percent.
    Is(Action, f64),
    /// dd's own figure is far above; the corrected one is right within three percent.
    Corrected(f64),
    /// dd's own figure is above this.
    Above(Action, f64),
    /// dd's own figure lies between these.
    Between(Action, f64, f64),
}
use Figure::{Above, Between, Corrected, Is};

struct Row {
    /// `{x}` is a file on the card.
    words: &'static str,
    env: &'static [(&'static str, &'static str)],
    before: Before,
    trust: Trust,
    measures: MeasuredSubject,
    traps: &'static [&'static str],
    figure: Figure,
}

const PLAIN: Row = Row {
    words: "",
    env: &[],
    before: Before::Nothing,
    trust: Trust::Sound,
    measures: MeasuredSubject::Device,
    traps: &[],
    figure: Is(Action::Write, WRITES),
};

/// A row, typed; once more when the machine was too busy for the card's pace.
fn check(card: &Card, row: &Row) {
    for left in (0..3).rev() {
        let x = card.path("x");
        match row.before {
            Before::Nothing => {
                let _ = fs::remove_file(&x);
                card.freely(|| Ok(()));
            }
            Before::Cold(bytes) => {
                kernel::put(card, "x", bytes);
            }
            Before::AsLeft => {}
        }
        let mut typed = lab::assay(["dd"]).within(card.rooms());
        for word in row.words.split_whitespace() {
            typed = typed.word(word.replace("{x}", &x.display().to_string()));
        }
        for (name, value) in row.env {
            typed = typed.env(name, value);
        }
        let heard = hear(typed);
        let figure = match row.figure {
            Is(action, _) | Above(action, _) | Between(action, ..) => heard.rate(action),
            Corrected(_) => heard.verdict().corrected.map_or(0.0, |figure| figure.value),
        };
        told(
            row.words,
            format_args!(
                "{figure:.0} {}, {}",
                heard.verdict().trust.name(),
                heard.verdict().measures.name()
            ),
        );
        assert_eq!(heard.ran.code(), 0, "{heard}");
        harmless(&heard.ran);
        let off = match row.figure {
            Is(_, right) => !(0.97..1.03).contains(&(figure / right)),
            // Memory takes no more at its own pace while much of it waits to be written elsewhere.
            Corrected(right) => figure < 0.97 * right || heard.rate(Action::Write) <= 10.0 * right,
            Above(_, least) => figure <= least,
            Between(_, low, _) => figure < low,
        };
        // Some machines take pages from the cache at any time (DAMON's reclaim does). This try has
        // read them again.
        let forgotten = matches!(row.before, Before::AsLeft)
            && row.measures == MeasuredSubject::Memory
            && heard.verdict().measures == MeasuredSubject::Mixed;
        if left > 0 && (off || forgotten || heard.disturbed()) {
            told("again", &heard);
            continue;
        }
        heard.expect(row.trust, row.measures);
        for trap in row.traps {
            assert!(heard.found(trap), "{trap} is not named\n{heard}");
        }
        match row.figure {
            Is(_, right) => assert!((0.97..1.03).contains(&(figure / right)), "{figure}\n{heard}"),
            Corrected(right) => {
                assert!((0.97..1.03).contains(&(figure / right)), "{figure}\n{heard}");
                assert!(heard.rate(Action::Write) > 10.0 * right, "{heard}");
            }
            Above(_, least) => assert!(figure > least, "{figure}\n{heard}"),
            Between(_, low, high) => assert!((low..high).contains(&figure), "{figure}\n{heard}"),
        }
        return;
    }
}

/// The articles' examples that are no traps, and near ones, scaled down. A0's per-block flushes belong to an old BusyBox:
/// today's dd flushes once whatever the block.
const ARTICLES: &[Row] = &[
    Row { words: "if=/dev/zero of={x} bs=40k count=205 conv=fsync", ..PLAIN },
    Row { words: "if=/dev/zero of={x} bs=20k count=410 conv=fsync", ..PLAIN },
    Row { words: "if=/dev/zero of={x} bs=10k count=820 conv=fsync", ..PLAIN },
    Row {
        words: "if=/dev/zero of={x} bs=40k count=205 conv=fsync",
        env: &[("ASSAY_DIALECT", "busybox")],
        ..PLAIN
    },
    Row {
        words: "if=/dev/zero of={x} bs=20k count=410 conv=fsync",
        env: &[("ASSAY_DIALECT", "busybox")],
        ..PLAIN
    },
    Row {
        words: "if=/dev/zero of={x} bs=10k count=820 conv=fsync",
        env: &[("ASSAY_DIALECT", "busybox")],
        ..PLAIN
    },
    Row { words: "if=/dev/zero of={x} bs=64K count=128 oflag=direct", ..PLAIN },
    Row { words: "if=/dev/zero of={x} bs=64K count=128 oflag=direct conv=fsync", ..PLAIN },
    Row { words: "if=/dev/zero of={x} bs=64K count=128 conv=fdatasync", ..PLAIN },
    Row {
        words: "if=/dev/zero of={x} bs=64K count=128",
        trust: Trust::Wrong,
        measures: MeasuredSubject::Deferred,
        traps: &["T02"],
        figure: Corrected(WRITES),
        ..PLAIN
    },
    Row {
        words: "if=/dev/zero of={x} bs=64K count=128 oflag=sync",
        traps: &["T14"],
        figure: Between(Action::Write, 0.4 * WRITES, 1.03 * WRITES),
        ..PLAIN
    },
    Row {
        words: "if={x} of=/dev/null bs=1M iflag=direct",
        before: Before::AsLeft,
        figure: Is(Action::Read, READS),
        ..PLAIN
    },
    Row {
        words: "if={x} of=/dev/null bs=20k iflag=sync",
        before: Before::Cold(16 * MI),
        figure: Is(Action::Read, READS),
        ..PLAIN
    },
    Row {
        words: "if={x} of=/dev/null bs=20k",
        env: &[("ASSAY_COLD", "machine")],
        before: Before::AsLeft,
        figure: Is(Action::Read, READS),
        ..PLAIN
    },
    // O_SYNC on a reader goes past no cache.
    Row {
        words: "if={x} of=/dev/null bs=20k iflag=sync",
        before: Before::AsLeft,
        trust: Trust::Wrong,
        measures: MeasuredSubject::Memory,
        traps: &["T01"],
        figure: Above(Action::Read, 10.0 * READS),
        ..PLAIN
    },
];

#[test]
fn the_articles_examples() {
    let _beside = lab::beside();
    let card = lab::need!(Card::paced());
    for row in ARTICLES {
        check(&card, row);
    }
}

#[test]
fn a_hundred_megabytes_at_once() {
    let _beside = lab::beside();
    let card = lab::need!(Card::new(Shape {
        size: 256 * MI,
        speed: Speed::bytes(64 * MI, 16 * MI),
        ..Shape::paced()
    }));
    check(
        &card,
        &Row {
            words: "if=/dev/zero of={x} bs=100M count=1 conv=fsync",
            // Making a hundred megabytes of zeros in memory first is part of dd's time.
            figure: Between(Action::Write, 0.9 * 4.0 * WRITES, 1.03 * 4.0 * WRITES),
            ..PLAIN
        },
    );
}

fn of(path: &Path) -> String {
    format!("of={}", path.display())
}

#[test]
fn who_does_not_want_to_wait_does_not_wait() {
    let _beside = lab::beside();
    let card = lab::need!(Card::paced());
    let write = |env: &str, word: &str| {
        let _ = fs::remove_file(card.path("x"));
        card.freely(|| Ok(()));
        let typed = lab::assay(["dd", "if=/dev/zero", "bs=1M", "count=12"])
            .word(of(&card.path("x")))
            .word(word);
        hear(if env.is_empty() { typed } else { typed.env("ASSAY_SETTLE", env) })
    };
    let at_once = write("no", "status=noxfer");
    assert!(at_once.ran.wall < Duration::from_secs(1), "{at_once}");
    assert_eq!(at_once.verdict().trust, Trust::Wrong, "{at_once}");
    assert!(at_once.verdict().corrected.is_none(), "{at_once}");
    let watched = write("", "status=noxfer");
    assert!(watched.ran.wall > Duration::from_millis(2500), "{watched}");
    let lines: Vec<&str> = watched.ran.stderr.lines().collect();
    assert_eq!(lines[lines.len() - 2..], ["12+0 records in", "12+0 records out"], "{watched}");

    // Where no number is printed there is nothing to speak of, however wrong it would be. The record has it.
    let _ = fs::remove_file(card.path("x"));
    card.freely(|| Ok(()));
    let silent = hear(
        lab::assay(["dd", "if=/dev/zero", "bs=1M", "count=12", "status=none"])
            .word(of(&card.path("x")))
            .env("ASSAY_SETTLE", "no"),
    );
    assert!(silent.ran.wall < Duration::from_secs(1), "{silent}");
    assert_eq!((silent.ran.stderr.as_str(), silent.ran.stdout.as_str()), ("", ""), "{silent}");
    assert_eq!(silent.verdict().trust, Trust::Wrong, "{silent}");
    card.freely(|| Ok(()));
    let _ = fs::remove_file(card.path("x"));
    let sound = hear(
        lab::assay(["dd", "if=/dev/zero", "bs=1M", "count=12", "status=none", "conv=fsync"])
            .word(of(&card.path("x"))),
    );
    sound.expect(Trust::Sound, MeasuredSubject::Device);
    assert_eq!((sound.ran.stderr.as_str(), sound.ran.stdout.as_str()), ("", ""), "{sound}");
}

/// A copy of 24 MiB to a card of 4 MiB/s by dd without a terminal: how long it took to end after its own
/// time, or, `told` that by a signal while the flush is watched, after that.
fn unseen(card: &Card, told: bool) -> (Duration, String) {
    let x = card.path("x");
    let _ = fs::remove_file(&x);
    card.freely(|| Ok(()));
    let began = Instant::now();
    let mut child = lab::command_in(card.rooms(), env!("CARGO_BIN_EXE_assay"))
        .args(["dd", "if=/dev/zero", "bs=1M", "count=24"])
        .arg(of(&x))
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut since = began;
    if told {
        while fs::metadata(&x).map_or(0, |file| file.len()) < 24 * MI {
            assert!(began.elapsed() < Duration::from_secs(60), "it does not copy");
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(300));
        since = Instant::now();
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("sent");
    }
    let status = child.wait().expect("it ends");
    let time = since.elapsed();
    let mut said = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("read");
    // The copy was over: what was ended is the watching.
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(said.contains("24+0 records in\n24+0 records out\n"), "{said}");
    let seconds = said.split_once("copied, ").and_then(|(_, rest)| rest.split_once(" s, "));
    let own: f64 = seconds.and_then(|(seconds, _)| seconds.parse().ok()).expect("a time");
    (if told { time } else { time.saturating_sub(Duration::from_secs_f64(own)) }, said)
}

/// What is said of the device itself holds the truth between its ends; or nothing is said. Returns whether it was.
fn holds_the_truth(said: &str) -> bool {
    let Some((_, range)) = said.split_once("the device itself: ") else { return false };
    let (_, range) = range.split_once(" per second (").expect("a range");
    let (low, rest) = range.split_once(" to ").expect("two ends");
    let high = rest.split(')').next().unwrap_or_default();
    let rate = |text: &str| text.parse::<f64>().expect("a rate") * 1e6;
    told("the device itself", format_args!("{low} to {high} MB/s"));
    assert!(said.contains("MB per second ("), "{said}");
    // They are printed with three digits: 4.194 is not beyond 4.19. The limit is a ceiling: on a busy machine up to a
    // hundredth less passes it.
    let (digit, less) = (0.005e6, 0.01 * WRITES);
    assert!((rate(low) - digit..=rate(high) + digit + less).contains(&WRITES), "{said}");
    true
}

/// However long a flush is watched that does not end: whatever is made of what arrived until then is true.
#[test]
fn the_pace_of_a_flush_that_is_not_over_holds_the_truth_or_is_not_told() {
    let _beside = lab::beside();
    let card = lab::need!(Card::sdcard());
    let mut said = Vec::new();
    for (settle, count) in [("1s", "count=32"), ("3s", "count=40"), ("12s", "count=72")] {
        let x = card.path("x");
        let _ = fs::remove_file(&x);
        card.freely(|| Ok(()));
        let heard = hear(
            lab::assay(["dd", "if=/dev/zero", "bs=1M", count])
                .word(of(&x))
                .env("ASSAY_SETTLE", settle),
        );
        said.push(holds_the_truth(&heard.ran.stderr));
    }
    card.freely(|| Ok(()));
    assert_eq!(said.last(), Some(&true), "12 s are enough to tell");
}

#[test]
fn without_a_terminal_the_watch_is_short_and_a_signal_ends_it_at_once() {
    let _beside = lab::beside();
    let card = lab::need!(Card::paced());
    let (time, said) = unseen(&card, false);
    told("watched", format_args!("{time:?}"));
    assert!((1900..3000).contains(&time.as_millis()), "{time:?}\n{said}");
    holds_the_truth(&said);
    let tries = (0..3).map(|_| unseen(&card, true));
    let (fastest, said) = tries.min_by_key(|(time, _)| *time).expect("one");
    told("ended by a signal", format_args!("{fastest:?}"));
    assert!(fastest < Duration::from_millis(100), "{fastest:?}\n{said}");
}
