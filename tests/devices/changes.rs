//! What changes while a run goes on stands beside its rate: a limit, free space, the requests of others.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assay_record::claim::ConditionOf;
use assay_record::record::{ConditionChange, MeasuredSubject, Trust};
use assay_record::words::say;

use crate::kernel::{Heard, hear_own, told};
use crate::lab::{self, Card, MI, Room};

fn file(card: &Card, name: &str, size: u64) -> PathBuf {
    let path = card.path(name);
    card.freely(|| std::fs::write(&path, vec![7; size as usize]));
    path
}

/// Reads of 64 KiB for five seconds, and something that happens after two.
fn read_while(card: &Card, rooms: &[Room], happens: impl FnOnce() + Send) -> Heard {
    let path = file(card, "x", 32 * MI);
    let words = ["io", "--rw", "read", "--bs", "64k", "--time", "5"];
    let typed = lab::assay(words).word(path).within(rooms);
    let stat = format!("/sys/block/{}/stat", card.leaf_name());
    let sectors = move || -> u64 {
        let text = std::fs::read_to_string(&stat).expect("its counters");
        text.split_whitespace().nth(2).and_then(|word| word.parse().ok()).expect("a number")
    };
    let first = sectors();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let began = Instant::now();
            while sectors() < first + 2048 && began.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_millis(5));
            }
            std::thread::sleep(Duration::from_secs(2));
            happens();
        });
        hear_own(typed)
    })
}

fn changes(heard: &Heard) -> &[ConditionChange] {
    let ledger = heard.phase().ledger.as_ref().unwrap_or_else(|| panic!("no ledger\n{heard}"));
    &ledger.changes
}

fn change_of(heard: &Heard, what: ConditionOf) -> &ConditionChange {
    let change = changes(heard).iter().find(|change| change.step().what == what);
    change.unwrap_or_else(|| panic!("{heard}\n{:?}", changes(heard)))
}

#[test]
fn a_limit_that_was_lowered_is_named_with_the_rate() {
    let _beside = lab::beside();
    let card = lab::need!(Card::sdcard());
    let heard =
        read_while(&card, card.rooms(), || card.set_speed(lab::Speed::bytes(4 * MI, 4 * MI)));
    told("a lowered limit", &heard);
    let name = card.leaf_name();
    let step = change_of(&heard, ConditionOf::ReadLimit(name.clone())).step();
    assert_eq!([say(&step.before), say(&step.now)], ["16.8 MB/s", "4.19 MB/s"]);
    let verdict = heard.verdict();
    let said = format!(
        ", and with it the limit on reads of {name} (from 16.8 MB/s to 4.19 MB/s): the average"
    );
    assert!(verdict.summary().contains(&said) && verdict.corrected.is_none(), "{heard}");
    assert_eq!((verdict.trust, verdict.measures), (Trust::Doubtful, MeasuredSubject::Unsteady));
    assert!(heard.ran.stdout.contains(": limit on reads of"), "{heard}");
}

#[test]
fn a_neighbours_depth_and_the_room_it_makes_stand_beside_the_rate() {
    let _beside = lab::beside();
    let card = lab::need!(Card::paced());
    let other = file(&card, "other", 64 * MI);
    let heard = read_while(&card, card.rooms(), || {
        let mut neighbour = Command::new(env!("CARGO_BIN_EXE_assay"));
        neighbour.args(["io", "--rw", "randread", "--bs", "64k", "--iodepth", "8", "--time", "2"]);
        let ended = neighbour.arg(&other).stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(ended.is_ok(), "{ended:?}");
        std::fs::remove_file(&other).expect("removed");
    });
    told("a neighbour", &heard);
    let name = card.leaf_name();
    let depth = change_of(&heard, ConditionOf::RequestsOfOthers(name));
    let count = |text: &str| text.parse::<f64>().expect("a number");
    assert!(count(&depth.before) < 1.0 && count(&depth.now) >= 2.0, "{depth:?}\n{heard}");
    change_of(&heard, ConditionOf::FreeSpace(card.mount().display().to_string()));
}

/// A group of version 2 whose time in the freezer the kernel counts.
struct FrozenGroup(Room);

impl FrozenGroup {
    fn new() -> Result<Self, lab::Skip> {
        let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
        let root = mounts.lines().find_map(|line| {
            let mut words = line.split(' ').skip(1);
            words.next().filter(|_| words.next() == Some("cgroup2"))
        });
        let missing = |what: String| lab::Skip::Machine(what);
        let root = root.ok_or_else(|| missing("no cgroup v2 is mounted".into()))?;
        let folder = Path::new(root).join(format!("assay-lab-{}-frozen", std::process::id()));
        std::fs::create_dir(&folder).map_err(|error| missing(format!("a group: {error}")))?;
        let group = Self(Room(folder));
        let counted = std::fs::read_to_string(group.0.0.join("cgroup.stat.local"));
        match counted {
            Ok(text) if text.contains("frozen_usec") => Ok(group),
            _ => Err(missing("cgroup.stat.local: no frozen_usec before 6.18".into())),
        }
    }

    fn freeze(&self, time: Duration) {
        let state = self.0.0.join("cgroup.freeze");
        std::fs::write(&state, "1").expect("frozen");
        std::thread::sleep(time);
        std::fs::write(&state, "0").expect("thawed");
    }
}

impl Drop for FrozenGroup {
    fn drop(&mut self) {
        let gone = || std::fs::remove_dir(&self.0.0).is_ok();
        for _ in 0..50 {
            if gone() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_frozen_group_is_the_cause_of_a_stop() {
    let _beside = lab::beside();
    let card = lab::need!(Card::paced());
    let group = lab::need!(FrozenGroup::new());
    let rooms = std::slice::from_ref(&group.0);
    let heard = read_while(&card, rooms, || group.freeze(Duration::from_secs(2)));
    told("frozen", &heard);
    let verdict = heard.verdict();
    assert!(verdict.summary().ends_with(": its cgroup was frozen."), "{heard}");
    assert_eq!((verdict.trust, verdict.measures), (Trust::Doubtful, MeasuredSubject::Disturbed));
}
