//! Runs that are what they seem: none may be called wrong.

use std::path::Path;
use std::process::Command;

use super::lab::{
    self, Card, DirtyLimit, Fs, Group, Limits, MI, Noise, Overlay, Shape, Skip, Speed,
};
use super::scene::{
    About, Beside, Meanwhile, Progress, READ, Scene, Tried, Truth, Upon, WRITE, assay, file,
    limited, operand, paced, paced_at, paced_of,
};

pub const SCENES: &[Scene] = &[
    Scene {
        name: "ext4, dd, direct writes",
        made: "an honest device",
        play: || honest(paced()?, &WRITES),
    },
    Scene {
        name: "ext4, dd, conv=fdatasync",
        made: "an honest device",
        play: || honest(paced()?, &FLUSHED),
    },
    Scene {
        name: "ext4, dd, direct reads",
        made: "an honest device",
        play: || reads(paced()?, &["bs=1M", "iflag=direct"]),
    },
    Scene {
        name: "ext4, dd, reads through the cache",
        made: "a file that is not cached",
        play: || reads(paced()?, &["bs=1M"]),
    },
    Scene {
        name: "limited card, dd, conv=fdatasync",
        made: "a limit of the root group",
        play: || honest(limited(READ, WRITE)?, &FLUSHED),
    },
    Scene {
        name: "XFS, dd, conv=fdatasync",
        made: "an honest device",
        play: || honest(paced_of(Fs::Xfs, "")?, &FLUSHED),
    },
    Scene {
        name: "btrfs, dd, conv=fdatasync",
        made: "an honest device",
        play: || honest(paced_of(Fs::Btrfs, "")?, &FLUSHED),
    },
    Scene {
        name: "btrfs, dd, reads through the cache",
        made: "an honest device",
        play: || reads(paced_of(Fs::Btrfs, "")?, &["bs=1M"]),
    },
    Scene {
        name: "ext4 -o sync, dd, 16 KiB",
        made: "mounted with sync",
        play: || honest(paced_of(Fs::Ext4, "sync")?, &["if=/dev/zero", "bs=16k", "count=600"]),
    },
    Scene {
        name: "ext4 data=journal, dd, fdatasync",
        made: "all data are written twice",
        play: || honest(paced_of(Fs::Ext4, "data=journal")?, &FLUSHED),
    },
    Scene {
        name: "ext4 noatime, reads",
        made: "mounted with noatime",
        play: || reads(paced_of(Fs::Ext4, "noatime")?, &["bs=256k"]),
    },
    Scene { name: "overlay, dd, conv=fdatasync", made: "an overlay upon a card", play: overlay },
    Scene {
        name: "loop upon loop, reads",
        made: "a loop device with direct I/O upon a card",
        play: loop_on_loop,
    },
    Scene { name: "raw device, io, 4 in flight", made: "no file system", play: raw },
    Scene {
        name: "raw limited device, quick",
        made: "no file system, named twice",
        play: raw_quick,
    },
    Scene { name: "limited card, quick", made: "a limit of the root group", play: quick },
    Scene { name: "fast device, sweep", made: "nothing", play: sweep },
    Scene { name: "limited card, modes", made: "a limit of the root group", play: modes },
    Scene { name: "card, bonnie", made: "four times the memory of its group", play: bonnie },
    Scene { name: "card, fio, random reads", made: "4 in flight", play: fio },
    Scene { name: "card, io, reads and writes mixed", made: "half of each", play: mixed },
    Scene {
        name: "busy neighbour on another disk",
        made: "a writer on a second card",
        play: another_disk,
    },
    Scene {
        name: "nice 19 beside busy programs",
        made: "a slow device needs little CPU",
        play: nice,
    },
    Scene {
        name: "ionice -c3",
        made: "idle class, on a device without a scheduler that knows it",
        play: idle_class,
    },
    Scene { name: "reflinked file on XFS", made: "blocks that two files share", play: reflinked },
    Scene {
        name: "file removed below a reader",
        made: "unlinked, and read to its end",
        play: removed,
    },
    Scene { name: "hard link", made: "another name of a file", play: linked },
    Scene {
        name: "within 64 MiB of memory",
        made: "a group of memory around a buffered dd",
        play: little_memory,
    },
    Scene { name: "small dirty limit", made: "1 MiB of dirty pages at most", play: dirty_limit },
];

const WRITES: [&str; 4] = ["if=/dev/zero", "bs=1M", "count=32", "oflag=direct"];
const FLUSHED: [&str; 4] = ["if=/dev/zero", "bs=1M", "count=32", "conv=fdatasync"];

/// Not used of honest runs: only the trust counts.
fn fine(run: Beside) -> Result<Tried, Skip> {
    Truth::of(About::Device, &[]).with(run.run())
}

/// A dd with these words that writes a file.
fn honest(card: Card, words: &[&str]) -> Result<Tried, Skip> {
    let run = assay(["dd"]).words(words).word(operand("of", card.path("x")));
    fine(run.within(card.rooms()))
}

/// A dd with these words that reads a file.
fn reads(card: Card, words: &[&str]) -> Result<Tried, Skip> {
    let path = file(&card, "x", 96 * MI);
    lab::cold(&path).expect("a file that is not cached");
    fine(assay(["dd", "of=/dev/null"]).words(words).word(operand("if", path)))
}

fn overlay() -> Result<Tried, Skip> {
    let card = paced()?;
    let over = Overlay::on_card(&card)?;
    fine(assay(["dd"]).words(&FLUSHED).word(operand("of", over.path("x"))))
}

fn loop_on_loop() -> Result<Tried, Skip> {
    let card = paced()?;
    let upper = Upon::card(&card, 96 * MI, true)?;
    fine(assay(["io", "--rw", "read", "--bs", "256k", "--time", "4"]).word(&upper.device))
}

fn raw() -> Result<Tried, Skip> {
    let speed = Speed::bytes(READ, WRITE);
    let card = Card::new(Shape { size: 128 * MI, fs: Fs::Raw, speed, ..Shape::paced() })?;
    lab::write_direct(card.device(), 4 * MI, MI).expect("data");
    let run = assay(["io", "--rw", "write", "--bs", "64k", "--depth", "4", "--time", "4"]);
    // It holds data: only who names it three times loses them.
    fine((0..3).fold(run, |run, _| run.word(card.device())))
}

fn raw_quick() -> Result<Tried, Skip> {
    let speed = Speed::bytes(READ, WRITE);
    let card = Card::new(Shape { size: 128 * MI, speed, ..Shape::rawsd() })?;
    let run = assay(["quick", "--quick"]).word(card.device()).word(card.device());
    fine(run.within(card.rooms()))
}

fn quick() -> Result<Tried, Skip> {
    let card = limited(READ, WRITE)?;
    fine(assay(["quick", "--quick"]).word(card.mount()).within(card.rooms()))
}

fn sweep() -> Result<Tried, Skip> {
    let card = Card::fast()?;
    let run = assay(["sweep", "--over", "bs=4k,64k,1M", "--time", "8", "--size", "64M"]);
    fine(run.word(card.mount()).first())
}

fn modes() -> Result<Tried, Skip> {
    let card = limited(READ, WRITE)?;
    fine(assay(["modes", "--quick"]).word(card.mount()).within(card.rooms()))
}

fn bonnie() -> Result<Tried, Skip> {
    let card = paced_at(Speed::bytes(64 * MI, 64 * MI))?;
    // Less memory than the file, as Bonnie++ wants it.
    let group = Group::new(&Limits { memory: Some(24 * MI), ..Limits::default() })?;
    let run = assay(["bonnie", "-u", "root", "-s", "96", "-r", "24", "-n", "0", "-f", "-d"]);
    fine(run.word(card.mount()).within(group.rooms()))
}

fn fio() -> Result<Tried, Skip> {
    let card = paced()?;
    let path = file(&card, "x", 64 * MI);
    let run = assay(["fio", "--name=x", "--rw=randread", "--bs=64k", "--direct=1", "--iodepth=4"])
        .words(&["--ioengine=libaio", "--runtime=4", "--time_based"]);
    fine(run.word(operand("--filename", path)))
}

fn mixed() -> Result<Tried, Skip> {
    let card = paced()?;
    let run = assay(["io", "--rw", "randrw", "--bs", "64k", "--time", "4", "--size", "16M"]);
    fine(run.word(card.mount()))
}

fn another_disk() -> Result<Tried, Skip> {
    let card = paced()?;
    let other = paced()?;
    let _busy = Noise::writer(other.mount());
    honest(card, &WRITES)
}

fn nice() -> Result<Tried, Skip> {
    let card = paced()?;
    let script = "while :; do :; done";
    let _busy = [Meanwhile::shell(script), Meanwhile::shell(script)];
    let run = assay(["dd"]).words(&WRITES).word(operand("of", card.path("x")));
    fine(run.through(&["nice", "-n", "19"]))
}

fn idle_class() -> Result<Tried, Skip> {
    let card = paced()?;
    let run = assay(["dd"]).words(&WRITES).word(operand("of", card.path("x")));
    fine(run.through(&["ionice", "-c3"]))
}

fn reflinked() -> Result<Tried, Skip> {
    let card = paced_of(Fs::Xfs, "")?;
    let path = file(&card, "x", 64 * MI);
    let copy = card.path("copy");
    card.freely(|| {
        let made = Command::new("cp").arg("--reflink=always").arg(&path).arg(&copy).status()?;
        assert!(made.success(), "cp --reflink");
        Ok(())
    });
    fine(assay(["dd", "of=/dev/null", "bs=1M", "iflag=direct"]).word(operand("if", copy)))
}

fn removed() -> Result<Tried, Skip> {
    let card = paced()?;
    let path = file(&card, "x", 96 * MI);
    let progress = Progress::of(&card);
    let run = assay(["dd", "of=/dev/null", "bs=1M", "iflag=direct"]).word(operand("if", &path));
    let record = run.beside(|_| {
        progress.reach(32 * MI);
        std::fs::remove_file(&path).expect("it goes");
    });
    Truth::of(About::Device, &[]).with(record)
}

fn linked() -> Result<Tried, Skip> {
    let card = paced()?;
    let path = file(&card, "x", 64 * MI);
    let other: &Path = &card.path("other");
    std::fs::hard_link(path, other).expect("a link");
    fine(assay(["dd", "of=/dev/null", "bs=1M", "iflag=direct"]).word(operand("if", other)))
}

fn little_memory() -> Result<Tried, Skip> {
    let card = paced()?;
    let group = Group::new(&Limits { memory: Some(64 * MI), ..Limits::default() })?;
    let run = assay(["dd"]).words(&FLUSHED).word(operand("of", card.path("x")));
    fine(run.within(group.rooms()))
}

fn dirty_limit() -> Result<Tried, Skip> {
    let card = paced()?;
    let _limit = DirtyLimit::set(card.number(), MI)?;
    honest(card, &FLUSHED)
}
