//! What only the balance of a run's bytes and time shows: causes that no reading of a device names.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_record::record::{FindingWeight, MeasuredSubject, TimeHolder, Trust};
use serde_json::json;

use crate::Rows;
use crate::kernel::{Heard, put};
use crate::lab::{self, Card, KI, MI, Speed};
use crate::row::Row;
use crate::shelf::{
    SLOW_READS, SLOW_WRITES, Shelf, blocks, dd, dd_typed, finding, heard, kib, pattern, run,
};

crate::cases! {
    beside: [
        t69_a_run_that_is_stopped,
        t70_a_limit_that_is_raised_meanwhile,
        t72_another_reader_of_the_same_file,
        t70_a_limit_that_is_there_only_meanwhile,
        t73_stops_that_nobody_is_told_of,
    ],
    alone: [t71_a_slow_program_at_the_other_end],
}

/// The term that the balance of the run's time has most of.
fn most(heard: &Heard) -> Option<TimeHolder> {
    let ledger = heard.record.phases[0].ledger.as_ref()?;
    Some(ledger.time.as_ref()?.terms.first()?.held_by)
}

fn t69_a_run_that_is_stopped(shelf: &Shelf) -> Rows {
    let card = shelf.slow()?;
    let words = "if=/dev/zero of={x} bs=256k count=32 oflag=direct";
    let (after, long) = (Duration::from_millis(1200), Duration::from_millis(2500));
    let stopped = heard(crate::kernel::hear(dd_typed(card, words).stopped(after, long)));
    assert_eq!(finding(&stopped, "T69").measures, Some(MeasuredSubject::Disturbed), "{stopped}");
    assert_eq!(stopped.verdict().trust, Trust::Doubtful, "{stopped}");
    assert_eq!(most(&stopped), Some(TimeHolder::Stopped), "{stopped}");
    let free = dd(card, words);
    assert_eq!(most(&free), Some(TimeHolder::Limit), "{free}");
    Ok(vec![
        Row::silent("T69", "dd that runs all the time", &free),
        Row::named("T69", "dd, stopped for 2.5 s", &stopped),
    ])
}

/// A direct write of so many bytes, while the card's speed changes after some time.
fn while_it_changes(
    shelf: &Shelf,
    bytes: u64,
    after: Duration,
    to: u64,
) -> Result<Heard, lab::Skip> {
    let card = shelf.slow()?;
    let words = json!({ "caching": "direct", "pattern": pattern("write", "forward", kib(128)) });
    let plan = blocks(card, bytes, "truncated", words);
    let knob = card.knob();
    let changed = std::thread::spawn(move || {
        std::thread::sleep(after);
        knob.set(Speed::bytes(to, to));
    });
    let found = run(card, &plan);
    changed.join().expect("the speed is changed");
    card.set_speed(Speed::bytes(SLOW_READS as u64, SLOW_WRITES as u64));
    Ok(found)
}

fn t70_a_limit_that_is_raised_meanwhile(shelf: &Shelf) -> Rows {
    let raised = while_it_changes(shelf, 32 * MI, Duration::from_secs(3), 16 * MI)?;
    assert_eq!(finding(&raised, "T70").measures, Some(MeasuredSubject::Unsteady), "{raised}");
    assert_eq!(raised.verdict().trust, Trust::Doubtful, "{raised}");
    let levels = &raised.record.phases[0].ledger.as_ref().expect("balanced").levels;
    let [first, last] = levels.as_slice() else { panic!("two levels\n{raised}") };
    for (level, truth) in [(first, SLOW_WRITES), (last, 16.0 * MI as f64)] {
        assert!((0.85..1.15).contains(&(level.rate.0 / truth)), "{level:?} of {truth}\n{raised}");
    }
    Ok(vec![Row::named("T70", "a direct write, 4 MiB/s and then 16", &raised)])
}

/// The columns of a disk's `stat` with what was read and written, in sectors.
const READ: usize = 2;
const WRITTEN: usize = 6;

/// How many bytes the leaf of a card has read or written since it was made.
fn sectors(card: &Card, column: usize) -> impl Fn() -> u64 + Send + 'static {
    let stat = format!("/sys/block/{}/stat", card.leaf_name());
    move || {
        let line = std::fs::read_to_string(&stat).expect("counted");
        let sectors = line.split_whitespace().nth(column).and_then(|word| word.parse::<u64>().ok());
        sectors.expect("a number") * 512
    }
}

/// The limit that holds is there neither when the run begins nor when it ends.
fn t70_a_limit_that_is_there_only_meanwhile(shelf: &Shelf) -> Rows {
    let card = shelf.slow()?;
    let written = sectors(card, WRITTEN);
    let before = written();
    let knob = card.knob();
    let words = json!({ "caching": "direct", "pattern": pattern("write", "forward", kib(128)) });
    let plan = blocks(card, 24 * MI, "truncated", words);
    // The plan listens to the quiet device for 0.4 s before it begins.
    let changed = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(250));
        knob.set(Speed::bytes(8 * MI, 8 * MI));
        while written() - before < 23 * MI {
            std::thread::sleep(Duration::from_millis(5));
        }
        knob.set(Speed::bytes(SLOW_READS as u64, SLOW_WRITES as u64));
    });
    let gone = run(card, &plan);
    changed.join().expect("the speed is changed");
    assert_eq!(finding(&gone, "T70").measures, Some(MeasuredSubject::Unsteady), "{gone}");
    assert_eq!(most(&gone), Some(TimeHolder::Limit), "{gone}");
    Ok(vec![Row::named("T70", "the limit that holds is there neither before nor after", &gone)])
}

/// A group that is frozen again and again: too short for a gap between samples, and no signal tells of it.
fn t73_stops_that_nobody_is_told_of(shelf: &Shelf) -> Rows {
    let card = shelf.paced()?;
    put(card, "x", 96 * MI);
    lab::cold(&card.path("x")).expect("a file that is not cached");
    let folder = format!("/sys/fs/cgroup/freezer/assay-lab-frozen-{}", std::process::id());
    std::fs::create_dir(&folder)
        .map_err(|error| lab::Skip::Machine(format!("{folder}: {error}")))?;
    let room = lab::Room(folder.clone().into());
    let ended = AtomicBool::new(false);
    let tell = |state: &str| {
        std::fs::write(format!("{folder}/freezer.state"), state).expect("a state of a group");
        std::thread::sleep(Duration::from_millis(50));
    };
    let frozen = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                tell("FROZEN");
                tell("THAWED");
            }
        });
        let words = "if={x} of=/dev/null bs=256k iflag=direct";
        let frozen = crate::kernel::hear(dd_typed(card, words).within(&[room]));
        ended.store(true, Ordering::Relaxed);
        frozen
    });
    let _ = std::fs::remove_dir(&folder);
    let frozen = heard(frozen);
    assert_eq!(finding(&frozen, "T73").weight, FindingWeight::Unproven, "{frozen}");
    assert_eq!(frozen.verdict().trust, Trust::Unproven, "{frozen}");
    Ok(vec![Row::named("T73", "dd in a group that is frozen half of the time", &frozen)])
}

fn t71_a_slow_program_at_the_other_end(shelf: &Shelf) -> Rows {
    let card = shelf.fast()?;
    let desk = tempfile::tempdir().expect("a folder");
    let pipe = desk.path().join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .expect("a FIFO");
    let from = pipe.clone();
    let slow = std::thread::spawn(move || {
        let mut pipe = std::fs::OpenOptions::new().write(true).open(from).expect("opened");
        for _ in 0..100 {
            std::thread::sleep(Duration::from_millis(20));
            pipe.write_all(&[7; 64 * KI as usize]).expect("written");
        }
    });
    let words = format!("if={} of={{x}} bs=64k iflag=fullblock conv=fsync", pipe.display());
    let waited = dd(card, &words);
    slow.join().expect("all was written");
    assert_eq!(finding(&waited, "T71").measures, Some(MeasuredSubject::Tool), "{waited}");
    assert_eq!(most(&waited), Some(TimeHolder::OtherEnd), "{waited}");
    Ok(vec![Row::named("T71", "dd from a pipe that another program fills slowly", &waited)])
}

fn t72_another_reader_of_the_same_file(shelf: &Shelf) -> Rows {
    let card = shelf.paced()?;
    put(card, "x", 64 * MI);
    lab::cold(&card.path("x")).expect("dropped");
    let path = card.path("x");
    // Its second half at once, while dd is still at the first.
    let read = sectors(card, READ);
    let before = read();
    let other = std::thread::spawn(move || {
        while read() - before < 4 * MI {
            std::thread::sleep(Duration::from_millis(1));
        }
        let file = std::fs::File::open(path).expect("opened");
        // The kernel takes no more than a read-ahead at once.
        let part = std::num::NonZeroU64::new(MI / 2);
        for at in (32 * MI..64 * MI).step_by(MI as usize / 2) {
            let advised = rustix::fs::fadvise(&file, at, part, rustix::fs::Advice::WillNeed);
            advised.expect("asked for");
        }
    });
    let both = dd(card, "if={x} of=/dev/null bs=64k");
    other.join().expect("read");
    assert_ne!(both.verdict().trust, Trust::Sound, "{both}");
    Ok(vec![Row::named("T72", "another program has the second half read meanwhile", &both)])
}
