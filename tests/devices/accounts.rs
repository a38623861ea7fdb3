//! What a file system writes for itself, by its own accounts: it explains what reached the device beyond the bytes
//! of the program, and nothing of what others moved.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use assay_plan::unit::Bytes;
use assay_record::evidence::Direction;
use assay_record::record::{ByteBalance, MeasuredSubject, Trust};

use crate::kernel::{Heard, hear, told};
use crate::lab::{self, Card, Fs, MI, Shape, Speed};

/// What a file system may write beside its journal: its superblock, and what was there before.
const BESIDE: Bytes = Bytes::kib(256);

/// A dd of this line to a file.
fn dd_to(file: &Path, line: &str) -> Heard {
    let mut of = std::ffi::OsString::from("of=");
    of.push(file);
    hear(lab::assay(line.split(' ')).word(of))
}

fn written(heard: &Heard) -> &ByteBalance {
    let ledger = heard.phase().ledger.as_ref().unwrap_or_else(|| panic!("no ledger\n{heard}"));
    let balance = ledger.bytes.iter().find(|balance| balance.direction == Direction::Write);
    balance.unwrap_or_else(|| panic!("no bytes\n{heard}"))
}

#[test]
fn what_a_journal_says_is_what_reached_the_device() {
    let _beside = lab::beside();
    let roomy =
        |fs, mount| Shape { size: 512 * MI, fs, mount, speed: Speed::FREE, ..Shape::fast() };
    for (fs, mount, line) in [
        (Fs::Ext4, "sync", "dd if=/dev/zero bs=16k count=400"),
        (Fs::Ext4, "data=journal", "dd if=/dev/zero bs=1M count=24 conv=fsync"),
        (Fs::Ext4, "", "dd if=/dev/zero bs=4k count=1000 oflag=dsync"),
        (Fs::Xfs, "", "dd if=/dev/zero bs=4k count=1000 oflag=dsync"),
    ] {
        let card = lab::need!(Card::new(roomy(fs, mount)));
        let heard = dd_to(&card.path("x"), line);
        let balance = written(&heard);
        told(line, format_args!("{fs:?} {mount}: {balance:?}"));
        let said = balance.accounted.unwrap_or_else(|| panic!("no accounts\n{heard}"));
        let added = balance.at_device.less(balance.ours);
        assert!(balance.ours == balance.moved && balance.unexplained == Bytes::ZERO, "{heard}");
        assert!(said.least > Bytes::ZERO && said.least <= added, "{heard}");
        assert!(added <= said.most + BESIDE, "{heard}");
        // A mean without its fraction leaves less than a block of each commit open, at both looks; and the thread of a
        // journal need not have written what it made dirty.
        let evidence = &heard.phase().evidence;
        let [before, stop] = [&evidence.before, &evidence.stop].map(|look| {
            let writes = look.filesystems.iter().find_map(|one| one.writes.seen());
            *writes.unwrap_or_else(|| panic!("no accounts\n{heard}"))
        });
        let dirty = stop.metadata.unwrap_or_default().less(before.metadata.unwrap_or_default());
        let open = said.most.less(said.least);
        let most = Bytes((before.commits + stop.commits) * 4096) + dirty;
        assert!(open <= most, "{open} of {most}\n{heard}");
    }
}

/// btrfs tells no bytes, but its records are pages that the kernel counts: those that are not of the file.
#[test]
fn pages_that_are_not_of_the_file_are_the_records_of_btrfs() {
    let _beside = lab::beside();
    let card = lab::need!(Card::new(Shape { speed: Speed::FREE, ..Shape::btrfs() }));
    let heard = dd_to(&card.path("x"), "dd if=/dev/zero bs=4k count=1000 oflag=dsync");
    let balance = written(&heard);
    let evidence = &heard.phase().evidence;
    let [before, stop] = [&evidence.before, &evidence.stop]
        .map(|look| look.memory.seen().unwrap_or_else(|| panic!("no memory\n{heard}")));
    let pages = stop.written_since(before, heard.record.machine().page).expect("counted");
    let (added, records) = (balance.at_device.less(balance.ours), pages.less(balance.moved));
    told("btrfs", format_args!("{pages} written back: {balance:?}"));
    assert!(balance.ours == balance.moved && balance.unexplained == Bytes::ZERO, "{heard}");
    // In two copies, and each write has its superblock.
    let most = records + records + Bytes(1000 * 4096) + BESIDE;
    assert!(added > Bytes::mib(1) && added <= most, "{heard}");
}

/// One writes a file that is there already, beside a run whose every write the journal must record: as many bytes as the
/// journal's. The journal says what it wrote as a mean of whole blocks, so that each commit before makes it less sure: the
/// neighbour comes first.
#[test]
fn a_neighbour_is_not_taken_for_the_journal() {
    let _beside = lab::beside();
    let card =
        lab::need!(Card::new(Shape { speed: Speed::bytes(64 * MI, 16 * MI), ..Shape::paced() }));
    let other = card.path("y");
    card.freely(|| fs::write(&other, vec![7; 16 << 20]));
    let line = "dd if=/dev/zero bs=16k count=600 oflag=dsync";
    let script =
        "while :; do dd if=/dev/zero of=\"$0\" bs=16k count=20 oflag=direct conv=notrunc; done";
    let mut neighbour = Command::new("sh");
    let neighbour = neighbour.args(["-c", script]).arg(&other).stderr(Stdio::null()).spawn();
    let mut neighbour = neighbour.expect("sh");
    let heard = dd_to(&card.path("x"), line);
    let _ = neighbour.kill();
    let _ = neighbour.wait();
    let its_dd = format!("of={}", other.display());
    while Command::new("pkill").args(["-f", &its_dd]).status().is_ok_and(|it| it.success()) {
        std::thread::sleep(Duration::from_millis(20));
    }
    told("beside a neighbour", &heard);
    assert!(heard.found("T31") && heard.verdict().trust >= Trust::Doubtful, "{heard}");
    assert_eq!(heard.verdict().measures, MeasuredSubject::Disturbed, "{heard}");
    let alone = dd_to(&card.path("z"), line);
    assert!(!alone.found("T31"), "{alone}");
}

#[test]
fn inode_tables_of_a_new_file_system_are_no_part_of_the_figure() {
    let _beside = lab::beside();
    let card = lab::need!(Card::new(Shape {
        size: 4096 * MI,
        speed: Speed::bytes(64 * MI, 16 * MI),
        mkfs: &["-E", "nodiscard,lazy_itable_init=1,lazy_journal_init=1"],
        mount: "init_itable=1",
        ..Shape::paced()
    }));
    // It begins within 5 s.
    let began = Instant::now();
    let stat = format!("/sys/block/{}/stat", card.leaf_name());
    let sectors = || -> u64 {
        let text = fs::read_to_string(&stat).expect("its counters");
        text.split_whitespace().nth(6).and_then(|word| word.parse().ok()).expect("a number")
    };
    let first = sectors();
    while sectors() < first + 4096 {
        assert!(began.elapsed() < Duration::from_secs(20), "nothing is made");
        std::thread::sleep(Duration::from_millis(20));
    }
    let heard = dd_to(&card.path("x"), "dd if=/dev/zero bs=16k count=600 oflag=direct");
    told("inode tables", &heard);
    let verdict = heard.verdict();
    assert!(verdict.trust >= Trust::Unproven, "{heard}");
    let others = &heard.phase().evidence.neighbours;
    assert!(verdict.summary().contains("(ext4lazyinit)"), "{others:?}\n{heard}");
    assert!(heard.ran.stderr.contains("remount,noinit_itable"), "{heard}");
}
