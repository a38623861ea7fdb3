//! `assay dd` on devices of known speed: what is typed, and what must be said of it.

mod kernel;
mod lab;

use std::fs;
use std::path::Path;
use std::time::Duration;

use assay::plan::Action;
use assay::record::{Measures, Trust};

use kernel::{Heard, cards, harmless, hear, told};
use lab::{Card, Fs, MI, Shape, Speed};

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

/// What the number must be found to be about.
#[derive(Clone, Copy)]
enum About {
    /// The card at its pace: limited where the limit can be seen, else the device.
    Pace,
    This(Measures),
}
use About::{Pace, This};

struct Row {
    /// `{x}` is a file on the card.
    words: &'static str,
    env: &'static [(&'static str, &'static str)],
    before: Before,
    trust: Trust,
    about: About,
    traps: &'static [&'static str],
    figure: Figure,
}

const PLAIN: Row = Row {
    words: "",
    env: &[],
    before: Before::Nothing,
    trust: Trust::Sound,
    about: Pace,
    traps: &[],
    figure: Is(Action::Write, WRITES),
};

/// The table.
const TABLE: &[Row] = &[
    Row {
        words: "if=/dev/zero of={x} bs=20M count=1",
        trust: Trust::Wrong,
        about: This(Measures::Deferred),
        traps: &["T02"],
        figure: Corrected(WRITES),
        ..PLAIN
    },
    Row { words: "if=/dev/zero of={x} bs=20M count=1 conv=fsync", ..PLAIN },
    Row { words: "if=/dev/zero of={x} bs=1M count=20 oflag=direct", ..PLAIN },
    Row {
        words: "if={x} of=/dev/null bs=20k",
        before: Before::Cold(64 * MI),
        figure: Is(Action::Read, READS),
        ..PLAIN
    },
    Row {
        words: "if={x} of=/dev/null bs=20k",
        before: Before::AsLeft,
        trust: Trust::Wrong,
        about: This(Measures::Memory),
        traps: &["T01"],
        figure: Above(Action::Read, 10.0 * READS),
        ..PLAIN
    },
    Row {
        words: "if={x} of=/dev/null bs=20k",
        env: &[("ASSAY_COLD", "target")],
        before: Before::AsLeft,
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
    Row {
        words: "if=/dev/zero of={x} oflag=sync bs=10k count=400",
        traps: &["T14"],
        figure: Between(Action::Write, 0.2 * WRITES, 0.75 * WRITES),
        ..PLAIN
    },
];

/// A row, typed; once more when the machine was too busy for the card's pace.
fn check(card: &Card, pace: Measures, row: &Row) {
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
            _ => false,
        };
        let about = match row.about {
            Pace => pace,
            This(measures) => measures,
        };
        // Some machines take pages from the cache at any time (DAMON's reclaim does). This try has
        // read them again.
        let forgotten = matches!(row.before, Before::AsLeft)
            && about == Measures::Memory
            && heard.verdict().measures == Measures::Mixed;
        if left > 0 && (off || forgotten || heard.disturbed()) {
            told("again", &heard);
            continue;
        }
        heard.expect(row.trust, about);
        for trap in row.traps {
            assert!(heard.found(trap), "{trap} is not named\n{heard}");
        }
        if about == Measures::Limited {
            names_the_throttle(&heard);
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

/// T32, with the file of the throttle and its value.
fn names_the_throttle(heard: &Heard) {
    let limited = heard.verdict().findings.iter().find(|finding| finding.trap.0 == "T32");
    let limited = limited.unwrap_or_else(|| panic!("no T32\n{heard}"));
    let shown = limited.because.iter().any(|exhibit| {
        exhibit.source.starts_with("/sys/fs/cgroup")
            && (exhibit.source.contains("bps_device") || exhibit.source.contains("io.max"))
    });
    assert!(shown, "the throttle's file is not named\n{heard}");
}

#[test]
fn the_table_holds_on_both_cards() {
    let _alone = lab::alone();
    for (shape, pace) in cards() {
        let card = lab::need!(Card::new(shape));
        for row in TABLE {
            check(&card, pace, row);
        }
    }
}

/// The articles' other examples, scaled down. A0's per-block flushes belong to an old BusyBox:
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
        about: This(Measures::Deferred),
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
    // O_SYNC on a reader goes past no cache.
    Row {
        words: "if={x} of=/dev/null bs=20k iflag=sync",
        before: Before::AsLeft,
        trust: Trust::Wrong,
        about: This(Measures::Memory),
        traps: &["T01"],
        figure: Above(Action::Read, 10.0 * READS),
        ..PLAIN
    },
];

#[test]
fn the_articles_examples() {
    let _alone = lab::alone();
    let card = lab::need!(Card::paced());
    for row in ARTICLES {
        check(&card, Measures::Device, row);
    }
}

#[test]
fn a_hundred_megabytes_at_once_and_more_than_memory() {
    let _alone = lab::alone();
    let card = lab::need!(Card::new(Shape {
        size: 256 * MI,
        speed: Speed::bytes(64 * MI, 16 * MI),
        ..Shape::paced()
    }));
    check(
        &card,
        Measures::Device,
        &Row {
            words: "if=/dev/zero of={x} bs=100M count=1 conv=fsync",
            // Making a hundred megabytes of zeros in memory first is part of dd's time.
            figure: Between(Action::Write, 0.9 * 4.0 * WRITES, 1.03 * 4.0 * WRITES),
            ..PLAIN
        },
    );
    // 64 MiB with 32 MiB of memory: most is on the device in the end, and not all.
    let small = lab::need!(lab::limit_mem(32 * MI));
    let heard = hear(
        lab::assay(["dd", "if=/dev/zero", "bs=1M", "count=64"])
            .word(of(&card.path("x")))
            .within(small.rooms()),
    );
    told("in a small memory", &heard);
    heard.expect(Trust::Wrong, Measures::Deferred);
    assert!(heard.found("T05") || heard.found("T02"), "{heard}");
    let corrected = heard.verdict().corrected.expect("corrected").value;
    assert!((0.9..1.03).contains(&(corrected / (4.0 * WRITES))), "{heard}");
}

fn of(path: &Path) -> String {
    format!("of={}", path.display())
}

fn from(path: &Path) -> String {
    format!("if={}", path.display())
}

#[test]
fn a_copy_on_one_disk_is_judged_at_both_ends() {
    let _alone = lab::alone();
    let card = lab::need!(Card::paced());
    kernel::put(&card, "source", 8 * MI);
    let device = card.device().to_owned();
    for (source, flags) in [
        (card.path("source"), ["conv=fsync"].as_slice()),
        (device.clone(), &["count=8", "conv=fsync"]),
        (device.clone(), &["count=8", "oflag=direct", "iflag=direct"]),
    ] {
        lab::cold(&source).unwrap();
        let _ = fs::remove_file(card.path("copy"));
        card.freely(|| Ok(()));
        let heard = hear(
            lab::assay(["dd", "bs=1M"])
                .word(from(&source))
                .word(of(&card.path("copy")))
                .words(flags),
        );
        told("copy", &heard);
        harmless(&heard.ran);
        let flows = &heard.phase().flows;
        let leaf = card.leaf_name();
        for flow in flows {
            let subject = &heard.record.resolved.subjects[flow.subject];
            let leaves: Vec<_> = subject.stack.iter().filter(|l| l.leaf).collect();
            assert!(leaves.iter().any(|layer| layer.name == leaf), "{heard}");
        }
        assert_eq!(flows.len(), 2);
        assert_eq!(heard.ran.code(), 0);
        assert!(heard.found("T31"), "{heard}");
        assert_ne!(heard.verdict().trust, Trust::Wrong, "{heard}");
        let said = heard.ran.stderr.contains("same") || heard.ran.stderr.contains("one disk");
        assert!(said, "the same disk is not spoken of\n{heard}");
    }
}

#[test]
fn memory_and_nothing_are_no_disks() {
    let _alone = lab::alone();
    let tmpfs = lab::need!(lab::Memory::tmpfs());
    let overlay = lab::need!(lab::Overlay::on_tmpfs());
    for path in [tmpfs.path("x"), overlay.path("x")] {
        for words in [["bs=1M", "count=64"], ["bs=64M", "count=1"]] {
            let heard = hear(lab::assay(["dd", "if=/dev/zero"]).words(&words).word(of(&path)));
            harmless(&heard.ran);
            heard.expect(Trust::Wrong, Measures::NotADisk);
            assert!(heard.found("T29") && heard.ran.code() == 0, "{heard}");
        }
        let heard = hear(lab::assay(["dd", "of=/dev/null", "bs=1M"]).word(from(&path)));
        heard.expect(Trust::Wrong, Measures::NotADisk);
    }
    let heard = hear(lab::assay(["dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=1000"]));
    harmless(&heard.ran);
    heard.expect(Trust::Wrong, Measures::Tool);
    // Nothing left memory, and nothing says otherwise: the last line is dd's.
    let last = heard.ran.stderr.lines().next_back().unwrap_or_default();
    assert!(last.starts_with("1048576000 bytes (1.0 GB, 1000 MiB) copied, "), "{heard}");
}

#[test]
fn holes_have_no_blocks_behind_them() {
    let _alone = lab::alone();
    for fs in [Fs::Ext4, Fs::Xfs, Fs::Btrfs] {
        let size = 320 * MI;
        let card = lab::need!(Card::new(Shape { fs, size, ..Shape::paced() }));
        let holes = card.holes(16 * MI);
        for (file, flag) in [
            (&holes.hole, "iflag=direct"),
            (&holes.unwritten, "iflag=direct"),
            (&holes.hole, "iflag=fullblock"),
            (&holes.unwritten, "iflag=fullblock"),
        ] {
            lab::cold(file).unwrap();
            let heard =
                hear(lab::assay(["dd", "of=/dev/null", "bs=1M"]).word(from(file)).word(flag));
            harmless(&heard.ran);
            told(flag, format_args!("{fs:?} {}", heard.verdict().summary));
            heard.expect(Trust::Wrong, Measures::Layer);
            assert!(heard.found("T23"), "{heard}");
        }
        lab::cold(&holes.eighth).unwrap();
        let heard = hear(
            lab::assay(["dd", "of=/dev/null", "bs=1M", "iflag=direct"]).word(from(&holes.eighth)),
        );
        told("an eighth", format_args!("{fs:?} {}", heard.verdict().summary));
        assert_eq!(heard.verdict().trust, Trust::Wrong, "{heard}");
        assert!(heard.found("T23"), "{heard}");
        lab::cold(&holes.written).unwrap();
        let heard = hear(
            lab::assay(["dd", "of=/dev/null", "bs=1M", "iflag=direct"]).word(from(&holes.written)),
        );
        heard.expect(Trust::Sound, Measures::Device);
    }
}

#[test]
fn who_does_not_want_to_wait_does_not_wait() {
    let _alone = lab::alone();
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

    // Silence is for what is sound; a wrong number may be spoken of.
    let silent = write("", "status=none");
    assert!(silent.ran.wall < Duration::from_secs(1), "{silent}");
    assert!(silent.ran.stderr.lines().all(|line| line.starts_with("assay: ")), "{silent}");
    assert!(!silent.ran.stderr.is_empty(), "{silent}");
    card.freely(|| Ok(()));
    let _ = fs::remove_file(card.path("x"));
    let sound = hear(
        lab::assay(["dd", "if=/dev/zero", "bs=1M", "count=12", "status=none", "conv=fsync"])
            .word(of(&card.path("x"))),
    );
    sound.expect(Trust::Sound, Measures::Device);
    assert_eq!((sound.ran.stderr.as_str(), sound.ran.stdout.as_str()), ("", ""), "{sound}");
}
