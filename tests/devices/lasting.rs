//! What lasts, where bytes tell it and time does not; what is not this run's; and what stands first where several things
//! speak against a figure.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use assay_plan::plan::Action;
use assay_plan::unit::Bytes;
use assay_record::record::{MeasuredSubject, Trust};

use crate::kernel::{hear, hear_own, told};
use crate::lab::{self, Card, MI, Shape, Speed};

/// A line of which one word is a path.
fn typed(line: &str, path: &Path) -> lab::Typed {
    let put = |word: &str| {
        let mut put = OsString::from(word.trim_end_matches("{}"));
        if word.ends_with("{}") {
            put.push(path);
        }
        put
    };
    line.split(' ').map(put).fold(lab::assay([""; 0]), |typed, word| typed.word(word))
}

fn file(card: &Card, name: &str, size: u64) -> std::path::PathBuf {
    let path = card.path(name);
    card.freely(|| std::fs::write(&path, vec![7; size as usize]));
    path
}

/// A card without any limit that can be seen takes 32 MiB in a fifth of a second, and the rest at 4 MiB/s.
#[test]
fn a_burst_that_is_half_of_the_bytes_is_no_part_of_the_figure() {
    let _alone = lab::alone();
    for line in [
        "dd if=/dev/zero of={} bs=1M count=64 oflag=direct",
        "dd if=/dev/zero of={} bs=1M count=64 conv=fsync",
    ] {
        let fast = Speed::bytes(200 * MI, 160 * MI);
        let card = lab::need!(Card::new(Shape { speed: fast, ..Shape::paced() }));
        let _bursts = card.bursts(32 * MI, 4 * MI, Duration::from_secs(1000));
        let heard = hear(typed(line, &card.path("x")));
        told(line, &heard);
        heard.expect(Trust::Doubtful, MeasuredSubject::Unsteady);
        assert!(heard.found("T43") && heard.verdict().summary().contains(" fell from "), "{heard}");
        let lasts = heard.verdict().corrected.unwrap_or_else(|| panic!("not corrected\n{heard}"));
        let of_truth = lasts.value / (4.0 * MI as f64);
        // Writeback makes I/Os of 8 MiB, of which one more or less is in the second part.
        assert!((0.8..1.35).contains(&of_truth), "{of_truth}\n{heard}");
    }
}

/// Behind the page cache as past it: a device that stands still for nine tenths of a second, again and again.
#[test]
fn a_device_that_comes_and_goes_is_seen_behind_the_page_cache() {
    let _alone = lab::alone();
    for line in [
        "dd if=/dev/zero of={} bs=1M count=96 oflag=direct",
        "dd if=/dev/zero of={} bs=1M count=96 conv=fsync",
    ] {
        let card = lab::need!(Card::new(Shape {
            speed: Speed::bytes(32 * MI, 32 * MI),
            ..Shape::paced()
        }));
        let _stalls = card.stalls(Duration::from_millis(900), Duration::from_millis(900));
        let heard = hear(typed(line, &card.path("x")));
        told(line, &heard);
        assert!(heard.verdict().trust >= Trust::Doubtful, "{heard}");
        assert_eq!(heard.verdict().measures, MeasuredSubject::Unsteady, "{heard}");
    }
}

/// A limit lets a moment's worth pass at once: a run of half a second is above it, and what lasts is the limit.
#[test]
fn a_figure_above_its_limit_is_corrected_to_it() {
    let _beside = lab::beside();
    let card =
        lab::need!(Card::new(Shape { speed: Speed::bytes(16 * MI, 16 * MI), ..Shape::sdcard() }));
    let heard = hear(typed("dd if=/dev/zero of={} bs=64k count=100 oflag=direct", &card.path("x")));
    told("half a second", &heard);
    let above = heard.rate(Action::Write) / (16.0 * MI as f64);
    match heard.verdict().corrected {
        Some(lasts) => {
            assert!(
                heard.verdict().trust > Trust::Sound && lasts.value == 16.0 * MI as f64,
                "{heard}"
            );
        }
        None => assert!(above < 1.04, "{above}\n{heard}"),
    }
}

/// What dd left in memory goes to the card before a verb of ours measures it, which says so.
#[test]
fn what_was_left_in_memory_is_written_before_a_verb_of_ours_begins() {
    let _beside = lab::beside();
    let card = lab::need!(Card::sdcard());
    std::fs::write(card.path("left"), vec![7; 6 * MI as usize]).expect("written");
    let heard = hear_own(typed("io --rw write --bs 256k --time 3 {}", card.mount()));
    told("left in memory", &heard);
    let note = heard.record.resolved.notes.iter().find(|note| note.contains("left in memory"));
    assert!(note.is_some_and(|note| note.contains("were written first, in ")), "{heard}");
    assert!(heard.ran.stdout.contains("left in memory were written"), "{heard}");
    assert!(!heard.found("T31"), "{heard}");
    let of_truth = heard.rate(Action::Write) / (4.0 * MI as f64);
    assert!((0.9..1.1).contains(&of_truth), "{of_truth}\n{heard}");
}

/// A reader that was there in the middle of a run only is named, and nobody is told to look at one that has gone.
#[test]
fn a_neighbour_of_the_middle_third_is_named() {
    let _beside = lab::beside();
    let card = lab::need!(Card::sdcard());
    let (mine, other) = (file(&card, "x", 32 * MI), file(&card, "y", 32 * MI));
    let heard = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(2500));
            let mut dd = Command::new("timeout");
            dd.args(["2", "dd", "of=/dev/null", "bs=1M", "iflag=direct"]);
            dd.arg(format!("if={}", other.display())).stderr(Stdio::null());
            let _ = dd.status();
        });
        hear_own(typed("io --rw read --bs 64k --time 7 {}", &mine))
    });
    told("a neighbour in the middle", &heard);
    let others = heard.phase().evidence.neighbours.as_ref().and_then(|others| others.seen());
    let dd = others.and_then(|others| others.processes.iter().find(|one| one.name == "dd"));
    let dd = dd.unwrap_or_else(|| panic!("no dd\n{heard}"));
    assert!(dd.ended && dd.read >= Some(Bytes::mib(4)), "{dd:?}\n{heard}");
    assert!(heard.found("T31") && heard.verdict().trust >= Trust::Doubtful, "{heard}");
    assert_eq!(heard.verdict().measures, MeasuredSubject::Disturbed, "{heard}");
    assert!(!heard.ran.stdout.contains("ps -o pid"), "{heard}");
}

/// Nothing lies behind the blocks of a card, and its limit sets the rate all the same.
#[test]
fn what_answers_below_a_limit_has_not_set_the_rate() {
    // What other tests do to the disk of the host stands beside a card that reads nothing from it.
    let _alone = lab::alone();
    let card = lab::need!(Card::rawsd());
    for line in [
        "dd if={} of=/dev/null bs=1M count=60 iflag=direct",
        "dd if={} of=/dev/null bs=1M count=60",
    ] {
        let heard = hear(typed(line, card.device()).env("ASSAY_COLD", "target"));
        told(line, &heard);
        let verdict = heard.verdict();
        assert!(verdict.trust <= Trust::Doubtful, "{heard}");
        assert_eq!(verdict.measures, MeasuredSubject::Limited, "{heard}");
    }
}

/// btrfs takes direct writes through the page cache where it keeps checksums, and writes them back at once.
#[test]
fn direct_writes_to_btrfs_are_not_called_deferred() {
    let _beside = lab::beside();
    let card = lab::need!(Card::btrfs());
    let heard = hear(typed("dd if=/dev/zero of={} bs=1M count=20 oflag=direct", &card.path("x")));
    told("btrfs", &heard);
    heard.expect(Trust::Sound, MeasuredSubject::Limited);
}

/// Somebody cuts a file while it is read: that comes first, and not the limit that held the part that was there.
#[test]
fn a_file_that_was_cut_under_a_reader_is_said_first() {
    let _beside = lab::beside();
    let card = lab::need!(Card::sdcard());
    let path = file(&card, "x", 40 * MI);
    let heard = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(1200));
            let cut = std::fs::File::options().write(true).open(&path);
            cut.and_then(|file| file.set_len(4 * MI)).expect("cut");
        });
        hear(typed("dd if={} of=/dev/null bs=64k iflag=direct", &path))
    });
    told("a cut file", &heard);
    heard.expect(Trust::Doubtful, MeasuredSubject::Disturbed);
    assert!(heard.verdict().summary().contains(" was truncated from 40 MiB to "), "{heard}");
    assert!(!heard.ran.stderr.contains("blkio.throttle"), "{heard}");
}
