//! `assay dd` on devices of known speed: what is typed, and what must be said of it.

mod kernel;
mod lab;

use std::fs;

use assay::plan::Action;
use assay::record::{Measures, Trust};

use kernel::{Heard, cards, harmless, hear, told};
use lab::{Card, MI};

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
        let slow = match row.figure {
            Is(_, right) | Corrected(right) => figure < 0.97 * right,
            _ => false,
        };
        if left > 0 && (slow || heard.disturbed()) {
            told("again", &heard);
            continue;
        }
        let about = match row.about {
            Pace => pace,
            This(measures) => measures,
        };
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
