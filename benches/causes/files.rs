//! What is asked of a file, and what becomes of it meanwhile: holes, caches, layers that need no device.

use std::fs::File;

use rustix::fs::{Advice, FallocateFlags, fadvise, fallocate};

use super::lab::{self, Card, Fs, MI, Shape, Skip, Speed};
use super::scene::{
    About, Progress, READ, Scene, Tried, Truth, Upon, WRITE, assay, file, operand, paced, paced_at,
    sleep,
};

pub const SCENES: &[Scene] = &[
    Scene {
        name: "file truncated below a reader",
        made: "96 MiB become 48 while 32 are read",
        play: truncated,
    },
    Scene {
        name: "file truncated while it is flushed",
        made: "48 MiB written, and 8 left of it while fsync waits",
        play: flushed_away,
    },
    Scene {
        name: "holes punched in mid-run",
        made: "64 of 96 MiB are punched out while 16 are read",
        play: punched,
    },
    Scene { name: "seven eighths never written", made: "8 of 64 MiB hold data", play: eighth },
    Scene {
        name: "three quarters in memory",
        made: "48 of 64 MiB are cached, and read through the cache",
        play: cached,
    },
    Scene {
        name: "cache dropped in mid-run",
        made: "4 KiB reads of a cached file, which is dropped after 2 s",
        play: dropped,
    },
    Scene { name: "written and not flushed", made: "dd of 16 MB without a flush", play: unflushed },
    Scene {
        name: "zeros through a compressor",
        made: "btrfs with compress-force=zstd",
        play: compressed_writes,
    },
    Scene {
        name: "compressed file read",
        made: "zeros on btrfs with compress-force=zstd",
        play: compressed_reads,
    },
    Scene {
        name: "loop device in the page cache",
        made: "a loop device without direct I/O upon a slow one",
        play: cached_loop,
    },
    Scene {
        name: "file copied within a device",
        made: "dd from one file of a device to another",
        play: copied,
    },
];

fn truncated() -> Result<Tried, Skip> {
    let card = paced()?;
    let path = file(&card, "x", 96 * MI);
    let progress = Progress::of(&card);
    let run = assay(["dd", "of=/dev/null", "bs=1M", "iflag=direct"]).word(operand("if", &path));
    let record = run.beside(|_| {
        progress.reach(32 * MI);
        let file = File::options().write(true).open(&path).expect("the file");
        file.set_len(48 * MI).expect("a shorter file");
    });
    // What was read came from the device, at its rate; but not all that was asked.
    Truth::of(About::Neither, &["device"]).rate(READ).with(record)
}

fn flushed_away() -> Result<Tried, Skip> {
    let card = paced()?;
    let path = card.path("x");
    let progress = Progress::of(&card);
    let run =
        assay(["dd", "if=/dev/zero", "bs=1M", "count=48", "conv=fsync"]).word(operand("of", &path));
    let record = run.beside(|_| {
        progress.reach(12 * MI);
        let file = File::options().write(true).open(&path).expect("the file");
        file.set_len(8 * MI).expect("a shorter file");
    });
    Truth::of(About::Neither, &["device"]).rate(WRITE).with(record)
}

fn punched() -> Result<Tried, Skip> {
    let card = paced()?;
    let path = file(&card, "x", 96 * MI);
    let progress = Progress::of(&card);
    let run = assay(["dd", "of=/dev/null", "bs=256k", "iflag=direct"]).word(operand("if", &path));
    let record = run.beside(|_| {
        progress.reach(16 * MI);
        let file = File::options().write(true).open(&path).expect("the file");
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        fallocate(&file, flags, 32 * MI, 64 * MI).expect("a hole");
    });
    Truth::of(About::Neither, &["device"]).rate(READ).with(record)
}

fn eighth() -> Result<Tried, Skip> {
    let card = paced_at(Speed::bytes(4 * MI, WRITE))?;
    let holes = card.holes(64 * MI);
    let run = assay(["dd", "of=/dev/null", "bs=256k", "iflag=direct"]);
    let record = run.word(operand("if", holes.eighth)).run();
    Truth::of(About::Neither, &["device"]).rate(4 * MI).with(record)
}

fn cached() -> Result<Tried, Skip> {
    let card = paced_at(Speed::bytes(8 * MI, WRITE))?;
    let path = file(&card, "x", 64 * MI);
    card.freely(|| lab::read(&path, 48 * MI, MI).map(drop));
    let run = assay(["dd", "of=/dev/null", "bs=1M"]).word(operand("if", path));
    Truth::of(About::Neither, &["device"]).rate(8 * MI).with(run.run())
}

fn dropped() -> Result<Tried, Skip> {
    let card = paced_at(Speed::bytes(4 * MI, WRITE))?;
    let path = file(&card, "x", 32 * MI);
    card.freely(|| lab::read(&path, 32 * MI, MI).map(drop));
    let run = assay(["fio", "--name=x", "--rw=randread", "--bs=4k", "--invalidate=0"])
        .words(&["--direct=0", "--runtime=6", "--time_based"])
        .word(operand("--filename", &path));
    let record = run.beside(|_| {
        sleep(2.0);
        let file = File::open(&path).expect("the file");
        fadvise(&file, 0, None, Advice::DontNeed).expect("advice");
    });
    Truth::of(About::Neither, &["device"]).rate(4 * MI).with(record)
}

fn unflushed() -> Result<Tried, Skip> {
    let card = paced()?;
    let run =
        assay(["dd", "if=/dev/zero", "bs=64", "count=250000"]).word(operand("of", card.path("x")));
    Truth::of(About::Neither, &["cpu"]).rate(WRITE).with(run.first().run())
}

/// btrfs that compresses, on a device of 1 MiB/s.
fn compressing() -> Result<Card, Skip> {
    Card::new(Shape {
        size: 256 * MI,
        fs: Fs::Btrfs,
        mount: "compress-force=zstd:1",
        speed: Speed::bytes(MI, MI),
        ..Shape::paced()
    })
}

fn compressed_writes() -> Result<Tried, Skip> {
    let card = compressing()?;
    let run = assay(["dd", "if=/dev/zero", "bs=1M", "count=96", "conv=fdatasync"])
        .word(operand("of", card.path("x")));
    Truth::of(About::Neither, &["device"]).rate(MI).with(run.first().run())
}

fn compressed_reads() -> Result<Tried, Skip> {
    let card = compressing()?;
    let path = card.path("x");
    card.freely(|| std::fs::write(&path, vec![0; (96 * MI) as usize]));
    lab::cold(&path).expect("a file that is not cached");
    let run = assay(["dd", "of=/dev/null", "bs=1M"]).word(operand("if", path));
    Truth::of(About::Neither, &["device"]).rate(MI).with(run.first().run())
}

fn cached_loop() -> Result<Tried, Skip> {
    let card = paced()?;
    let upper = Upon::card(&card, 96 * MI, false)?;
    let run = assay(["dd", "if=/dev/zero", "bs=8k", "count=12000", "oflag=direct", "conv=notrunc"])
        .word(operand("of", &upper.device));
    // The upper device answers from memory; the lower one has hardly begun.
    let largest = &["device", "wake_up", "cpu"];
    Truth::of(About::Neither, largest).rate(WRITE).with(run.run())
}

fn copied() -> Result<Tried, Skip> {
    let card = paced()?;
    let path = file(&card, "x", 24 * MI);
    let run = assay(["dd", "bs=256k", "iflag=direct", "oflag=direct"])
        .word(operand("if", path))
        .word(operand("of", card.path("y")));
    // It reads and writes in turn: the device's, for this work.
    Truth::of(About::Device, &["device"]).with(run.run())
}
