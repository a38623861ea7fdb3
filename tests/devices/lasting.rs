//! What lasts, where bytes tell it and time does not; what is not this run's; and what stands first where several things
//! speak against a figure.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use assay_plan::plan::Action;
use assay_plan::unit::{Bytes, Nanos};
use assay_record::record::{MeasuredSubject, Trust};

use crate::kernel::{hear, hear_own, told};
use crate::lab::{self, Card, MI, Nature, Overlay, Shape, Speed};

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

/// A row of quick goes on until what it shows is what lasts, and says that it did.
#[test]
fn a_row_goes_on_until_its_rate_is_steady() {
    let _alone = lab::alone();
    let fast = Speed::bytes(200 * MI, 16 * MI);
    let card = lab::need!(Card::new(Shape { speed: fast, ..Shape::paced() }));
    let _bursts = card.bursts(32 * MI, 4 * MI, Duration::from_secs(1000));
    let heard = hear_own(lab::assay(["quick"]).word(card.mount()).within(card.rooms()));
    told("quick", &heard);
    let row = heard.named("seq-write");
    assert!(row.span.time() > Nanos::millis(5_200), "{heard}");
    let verdict = row.verdict.as_ref().expect("judged");
    assert_eq!((verdict.trust, verdict.measures), (Trust::Doubtful, MeasuredSubject::Unsteady));
    let lasts = verdict.corrected.as_ref().unwrap_or_else(|| panic!("not corrected\n{heard}"));
    assert!((0.97..1.03).contains(&(lasts.value / (4.0 * MI as f64))), "{heard}");
    assert!(heard.ran.stdout.contains("↳ Ran for "), "{heard}");
    // What the device holds is steady at once.
    assert!(heard.named("rand-write-q32").span.time() < Nanos::millis(5_400), "{heard}");
}

/// Whatever a run had open is closed when it has ended.
#[test]
fn a_file_system_can_be_unmounted_right_after_a_run() {
    let _beside = lab::beside();
    let card = lab::need!(Card::new(Shape::paced()));
    for words in ["--rw randread", "--rw write --depth 8", "--rw randread --buffered"] {
        let typed = lab::assay(["io"]).word(card.mount()).word("--size").word("4M");
        let typed = words.split(' ').fold(typed, |typed, word| typed.word(word));
        let heard = hear_own(typed.word("--time").word("200ms"));
        told(words, heard.ran.code());
        for (tool, from) in [("umount", None), ("mount", Some(card.device()))] {
            let status = Command::new(tool).args(from).arg(card.mount()).status();
            assert!(status.expect("it runs").success(), "{words}: {tool}\n{heard}");
        }
    }
}

/// Behind the page cache as past it: a device that stands still for nine tenths of a second, again and again.
#[test]
fn a_device_that_comes_and_goes_is_seen_behind_the_page_cache() {
    let _alone = lab::alone();
    // Not so much that memory has no room for it: then the program goes on by drops while the device is away.
    for line in [
        "dd if=/dev/zero of={} bs=1M count=80 oflag=direct",
        "dd if=/dev/zero of={} bs=1M count=80 conv=fsync",
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

/// A drive takes 16 MiB into its cache at once. What the ramp left there is no part of the flush that is timed.
#[test]
fn the_flush_of_a_ramp_is_not_in_the_timing() {
    let _beside = lab::beside();
    let card =
        lab::need!(Card::new(Shape { speed: Speed::bytes(32 * MI, 8 * MI), ..Shape::paced() }));
    card.be(Nature::Cache(16 * MI));
    let heard = hear_own(typed("io --rw randwrite --bs 4k --size 64M --time 4 {}", card.mount()));
    told("a cache of 16 MiB", &heard);
    // The cache at the end of the ramp and at that of the run is the same: empty.
    let of_truth = heard.rate(Action::Write) / (8.0 * MI as f64);
    assert!((0.97..1.05).contains(&of_truth), "{of_truth}\n{heard}");
}

/// A device for which zeros are nothing, and how fast random data are on it.
#[test]
fn zeros_are_told_where_nothing_but_the_device_set_the_rate() {
    let _alone = lab::alone();
    let card =
        lab::need!(Card::new(Shape { speed: Speed::bytes(32 * MI, 8 * MI), ..Shape::paced() }));
    card.be(Nature::FreeZeros);
    let said = "All-zero data may be faster than real data";
    for (line, zeros) in [
        ("dd if=/dev/zero of={} bs=1M count=96 conv=fsync", true),
        (
            "fio --name=z --filename={} --rw=write --bs=1M --size=64M --direct=1 --zero_buffers --time_based --runtime=2",
            true,
        ),
        ("dd if=/dev/urandom of={} bs=1M count=16 oflag=direct", false),
    ] {
        let heard = hear(typed(line, &card.path("x")));
        told(line, &heard);
        assert_eq!(heard.verdict().summary().contains(said), zeros, "{heard}");
    }
    // A limit says why they were as fast as they were.
    let limited = lab::need!(Card::sdcard());
    let line = "dd if=/dev/zero of={} bs=1M count=10 conv=fsync";
    let heard = hear(typed(line, &limited.path("x")));
    assert!(!heard.verdict().summary().contains(said), "{heard}");
}

/// Slow large blocks, and a device that is away as long as seven of them take.
#[test]
fn a_device_that_comes_and_goes_is_seen_with_slow_large_blocks() {
    let _alone = lab::alone();
    let card =
        lab::need!(Card::new(Shape { speed: Speed::bytes(32 * MI, 8 * MI), ..Shape::paced() }));
    card.be(Nature::Comes(Duration::from_millis(900), Duration::from_millis(900)));
    let line = "dd if=/dev/urandom of={} bs=1M count=40 oflag=direct";
    let heard = hear(typed(line, &card.path("x")));
    told("comes and goes", &heard);
    heard.expect(Trust::Doubtful, MeasuredSubject::Unsteady);
    assert!(heard.found("T58"), "{heard}");
}

/// The outer zone is fast, the inner slow: neither is the average.
#[test]
fn zones_are_two_rates() {
    let _alone = lab::alone();
    let card = lab::need!(Card::new(Shape {
        size: 64 * MI,
        fs: lab::Fs::Raw,
        speed: Speed::bytes(16 * MI, 16 * MI),
        ..Shape::paced()
    }));
    card.set_speed(Speed::FREE);
    std::fs::write(card.device(), vec![7; 64 * MI as usize]).expect("written");
    card.set_speed(Speed::bytes(16 * MI, 16 * MI));
    card.be(Nature::Zones(vec![(0, 100), (32 * MI, 40)]));
    let line = "dd if={} of=/dev/null bs=1M count=64 iflag=direct";
    let heard = hear(typed(line, card.device()));
    told("zones", &heard);
    heard.expect(Trust::Doubtful, MeasuredSubject::Unsteady);
}

/// Data that go into the journal first, writes that are synchronous unasked: how much more, and why, is said.
#[test]
fn what_the_file_system_writes_besides_is_said_with_its_cause() {
    let _beside = lab::beside();
    let card = lab::need!(Card::journal());
    let line = "dd if=/dev/urandom of={} bs=1M count=12 conv=fsync";
    let heard = hear(typed(line, &card.path("x")));
    told("data=journal", &heard);
    heard.expect(Trust::Sound, MeasuredSubject::Limited);
    let said = heard.verdict().summary();
    assert!(said.contains(" times as much as the program: the file system writes all data into its journal first (data=journal). Limited"), "{heard}");
    let card = lab::need!(Card::new(Shape { mount: "sync", ..Shape::sdcard() }));
    let line = "dd if=/dev/urandom of={} bs=64k count=100";
    let heard = hear(typed(line, &card.path("x")));
    told("sync", &heard);
    assert!(heard.verdict().summary().contains(", as the file system is mounted sync;"), "{heard}");
}

/// A frozen file system, a stopped worker: what stood still is named, and what to do is to run it again.
#[test]
fn what_stopped_a_run_is_named() {
    let _beside = lab::beside();
    let card = lab::need!(Card::sdcard());
    let freeze = lab::need!(lab::need_tool("fsfreeze", "util-linux"));
    let line = "dd if=/dev/urandom of={} bs=64k count=160 oflag=direct";
    let heard = std::thread::scope(|scope| {
        scope.spawn(|| {
            let frozen = |how: &str| Command::new(&freeze).arg(how).arg(card.mount()).status();
            std::thread::sleep(Duration::from_millis(1000));
            frozen("--freeze").expect("frozen");
            std::thread::sleep(Duration::from_millis(1500));
            frozen("--unfreeze").expect("thawed");
        });
        hear(typed(line, &card.path("x")))
    });
    told("a frozen file system", &heard);
    heard.expect(Trust::Doubtful, MeasuredSubject::Disturbed);
    let said = heard.verdict().summary();
    assert!(said.ends_with(": its file system was frozen (fsfreeze)."), "{heard}");
    assert!(heard.ran.stderr.contains("next: assay dd if=/dev/urandom"), "{heard}");
}

/// A file of an overlay's lower folder is copied before its first write.
#[test]
fn a_copy_up_is_named() {
    let _beside = lab::beside();
    let card = lab::need!(Card::sdcard());
    let over = lab::need!(Overlay::on_card(&card));
    let lower = card.path("lower/x");
    card.freely(|| std::fs::write(&lower, vec![7; 8 * MI as usize]));
    let line = "dd if=/dev/urandom of={} bs=64k count=40 conv=notrunc,fsync";
    let heard = hear(typed(line, &over.path("x")));
    told("a copy-up", &heard);
    assert!(heard.ran.stderr.contains(" copied all of it to the upper folder first"), "{heard}");
}
