//! Devices that are not the same all the time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::lab::{MI, Skip, Speed};
use super::scene::{
    About, Progress, READ, Scene, Tried, Truth, WRITE, assay, file, operand, paced, paced_at, sleep,
};

pub const SCENES: &[Scene] = &[
    Scene {
        name: "device that stalls for seconds",
        made: "one block of 256 KiB takes a second, every 1.5 s",
        play: stalls,
    },
    Scene {
        name: "device that becomes slower and slower",
        made: "32 MiB/s that become 4 within 4 s",
        play: drifting,
    },
    Scene { name: "device with a burst cache", made: "8 MiB/s, and 2 after 12 MiB", play: bursts },
    Scene {
        name: "device twice as fast later",
        made: "4 MiB/s that become 8 in the middle",
        play: faster,
    },
    Scene {
        name: "device slower while it is flushed",
        made: "8 MiB/s that become 2 while fdatasync waits",
        play: slower_flush,
    },
];

fn stalls() -> Result<Tried, Skip> {
    let card = paced_at(Speed::bytes(READ, WRITE))?;
    let ended = AtomicBool::new(false);
    let run = assay(["dd", "if=/dev/zero", "bs=256k", "count=160", "oflag=direct"])
        .word(operand("of", card.path("x")));
    let record = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                sleep(1.5);
                // A block then takes a second; it is that of a moment.
                card.set_speed(Speed::bytes(READ, MI / 4));
                sleep(0.05);
                card.set_speed(Speed::bytes(READ, WRITE));
            }
        });
        let record = run.run();
        ended.store(true, Ordering::Relaxed);
        record
    });
    Truth::of(About::Neither, &["device"]).rate(WRITE).with(record)
}

fn drifting() -> Result<Tried, Skip> {
    let card = paced()?;
    let path = file(&card, "x", 96 * MI);
    let knob = card.knob();
    let ended = AtomicBool::new(false);
    let progress = Progress::of(&card);
    let run = assay(["dd", "of=/dev/null", "bs=256k", "iflag=direct"]).word(operand("if", path));
    let record = std::thread::scope(|scope| {
        scope.spawn(|| {
            progress.reach(MI);
            for step in 0..40 {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                let rate = READ - (READ - 4 * MI) * step / 40;
                knob.set(Speed::bytes(rate, WRITE));
                sleep(0.1);
            }
        });
        let record = run.run();
        ended.store(true, Ordering::Relaxed);
        record
    });
    Truth::of(About::Neither, &["device"]).with(record)
}

fn bursts() -> Result<Tried, Skip> {
    let card = paced()?;
    let _bursts = card.bursts(12 * MI, 2 * MI, Duration::from_secs(30));
    let run = assay(["dd", "if=/dev/zero", "bs=256k", "count=72", "oflag=direct"])
        .word(operand("of", card.path("x")));
    Truth::of(About::Neither, &["device"]).with(run.run())
}

fn faster() -> Result<Tried, Skip> {
    let card = paced_at(Speed::bytes(READ, 4 * MI))?;
    let progress = Progress::of(&card);
    let run = assay(["dd", "if=/dev/zero", "bs=256k", "count=96", "oflag=direct"])
        .word(operand("of", card.path("x")));
    let record = run.beside(|_| {
        progress.reach(8 * MI);
        card.set_speed(Speed::bytes(READ, WRITE));
    });
    Truth::of(About::Neither, &["device"]).with(record)
}

fn slower_flush() -> Result<Tried, Skip> {
    let card = paced()?;
    let progress = Progress::of(&card);
    let run = assay(["dd", "if=/dev/zero", "bs=1M", "count=32", "conv=fdatasync"])
        .word(operand("of", card.path("x")));
    let record = run.beside(|_| {
        progress.reach(12 * MI);
        card.set_speed(Speed::bytes(READ, 2 * MI));
    });
    Truth::of(About::Neither, &["device"]).with(record)
}
