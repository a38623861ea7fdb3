//! What `assay explain` foretells of a line on a device that is really there, against what the judges
//! say when the line has run; and the mended line, which must come out sound.

use std::fs;

use assay_record::record::{Explanation, Trust};

use crate::kernel::{self, hear, told};
use crate::lab::{self, Card, MI};

/// What is done to the file before.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    /// It is not there.
    Nothing,
    /// 24 MiB of noise, on the device and not in memory.
    Cold,
    /// The same, and in memory.
    Warm,
}

/// A line; `{x}` is a file on the card.
type Row = (&'static str, Before);

fn words(card: &Card, line: &str) -> Vec<String> {
    let x = card.path("x").display().to_string();
    line.split_whitespace().map(|word| word.replace("{x}", &x)).collect()
}

fn prepare(card: &Card, before: Before) {
    let path = card.path("x");
    let _ = fs::remove_file(&path);
    card.freely(|| Ok(()));
    if before != Before::Nothing {
        kernel::put(card, "x", 24 * MI);
    }
    if before == Before::Warm {
        card.freely(|| fs::read(&path).map(drop));
    }
}

fn explained(card: &Card, words: &[String]) -> Explanation {
    let ran = lab::assay(["explain", "--json", "dd"]).words(words).within(card.rooms()).run();
    let ran = ran.expect(0);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}\n{ran}"))
}

/// Trust and subject foretold are those that are found; once more when somebody else was at work,
/// or when the machine took pages from the cache by itself.
fn comes_true(card: &Card, (line, before): Row) -> Explanation {
    let words = words(card, line);
    for left in (0..3).rev() {
        prepare(card, before);
        let foretold = explained(card, &words);
        let heard = hear(lab::assay(["dd"]).words(&words).within(card.rooms()));
        let (is, was) = (&foretold.phases[0].verdict, heard.verdict());
        let same = (is.trust, is.measures) == (was.trust, was.measures);
        told(line, format_args!("foretold {:?} {:?}", is.trust, is.measures));
        if same || left == 0 {
            assert!(same, "foretold {is:#?}\n{heard}");
            return foretold;
        }
        told("again", &heard);
    }
    unreachable!("the last try returns or fails")
}

#[test]
fn what_is_foretold_comes_true() {
    let card = lab::need!(Card::sdcard());
    let rows: &[Row] = &[
        ("if=/dev/zero of={x} bs=16M count=1", Before::Nothing),
        ("if=/dev/zero of={x} bs=1M count=12 conv=fsync", Before::Nothing),
        ("if=/dev/zero of={x} bs=1M count=12 oflag=direct", Before::Nothing),
        ("if={x} of=/dev/null bs=20k", Before::Warm),
        ("if={x} of=/dev/null bs=20k", Before::Cold),
        ("if=/dev/zero of=/dev/null bs=1M count=2000", Before::Nothing),
    ];
    for row in rows {
        let foretold = comes_true(&card, *row);
        let mended = foretold.better.first().filter(|better| better.line.starts_with("dd "));
        let wrong = foretold.phases[0].verdict.trust == Trust::Wrong;
        let Some(mended) = mended.filter(|_| wrong) else { continue };
        prepare(&card, row.1);
        let words: Vec<String> = mended.line.split(' ').skip(1).map(String::from).collect();
        let heard = hear(lab::assay(["dd"]).words(&words).within(card.rooms()));
        assert_eq!(heard.verdict().trust, Trust::Sound, "{}\n{heard}", mended.line);
    }
}

#[test]
fn zeros_on_a_file_system_that_compresses() {
    let card = lab::need!(Card::compress());
    let foretold =
        comes_true(&card, ("if=/dev/zero of={x} bs=1M count=64 conv=fsync", Before::Nothing));
    assert!(foretold.better[0].line.starts_with("dd if=/dev/urandom "), "{:?}", foretold.better);
}
