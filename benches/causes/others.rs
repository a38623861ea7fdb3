//! Others who use the device, or the file, while assay runs.

use std::process::Command;

use super::lab::{self, Card, Fs, Group, Hungry, KI, Limits, MI, Noise, Shape, Skip, Speed, Swap};
use super::scene::{
    About, Meanwhile, Progress, READ, Scene, Tried, Truth, Upon, WRITE, assay, file, operand,
    paced, paced_at, sleep,
};

pub const SCENES: &[Scene] = &[
    Scene {
        name: "three writers beside dd",
        made: "three write 256 KiB blocks on the same device",
        play: writers_dd,
    },
    Scene {
        name: "three writers beside quick",
        made: "the same beside quick --quick: 4 KiB, one in flight",
        play: writers_quick,
    },
    Scene {
        name: "three writers beside sweep",
        made: "the same beside a sweep of two block sizes",
        play: writers_sweep,
    },
    Scene {
        name: "writers in another pid name space",
        made: "the same, and assay in a pid name space of its own",
        play: unseen_writers,
    },
    Scene {
        name: "writers for a part of the run",
        made: "the same for the first 1.5 of 4 s",
        play: for_a_part,
    },
    Scene {
        name: "writers one device below",
        made: "the same on the device below a loop device",
        play: writers_below,
    },
    Scene {
        name: "somebody's sync beside dd",
        made: "32 MiB of others' dirty pages are flushed",
        play: others_sync,
    },
    Scene {
        name: "small reads take the requests",
        made: "3 x 4 KiB reads on a device of 100 requests/s: 16 % of bytes, 75 % of time",
        play: small_reads,
    },
    Scene {
        name: "small synced writes of others",
        made: "4 KiB writes with O_DSYNC on a device of 100 requests/s",
        play: small_writes,
    },
    Scene {
        name: "scrub beside dd",
        made: "btrfs scrub reads all data of the file system",
        play: scrub,
    },
    Scene {
        name: "another assay, 16 in flight",
        made: "assay io with 16 in flight on another file",
        play: another_assay,
    },
    Scene {
        name: "swapped to the same device",
        made: "a program that swaps to it",
        play: swapping,
    },
    Scene {
        name: "as much as the journal",
        made: "two overwrite a file, 16 KiB each, beside writes of 16 KiB with O_DSYNC",
        play: beside_a_journal,
    },
    Scene {
        name: "inode tables of a new ext4",
        made: "ext4lazyinit at work (-o init_itable=1)",
        play: inode_tables,
    },
    Scene {
        name: "same file read ahead of us",
        made: "cat has read half of the file when dd begins",
        play: read_ahead,
    },
    Scene {
        name: "same file read in parallel",
        made: "three read other parts of our file through the cache",
        play: in_parallel,
    },
];

/// Three who write until they are dropped.
fn three(card: &Card) -> Vec<Noise> {
    let writer = |n: u32| {
        let folder = card.path(&format!("other{n}"));
        std::fs::create_dir(&folder).expect("a folder on the card");
        Noise::writer(&folder)
    };
    (0..3).map(writer).collect()
}

const DD: [&str; 5] = ["dd", "if=/dev/zero", "bs=256k", "count=32", "oflag=direct"];

fn writers_dd() -> Result<Tried, Skip> {
    let card = paced()?;
    let _others = three(&card);
    let record = assay(DD).word(operand("of", card.path("x"))).run();
    Truth::of(About::Neither, &["others_at_device"]).rate(WRITE).with(record)
}

fn writers_quick() -> Result<Tried, Skip> {
    let card = paced()?;
    let others = three(&card);
    let record = assay(["quick", "--quick", "--size", "8M"]).word(card.mount()).run();
    drop(others);
    // One block of 4 KiB of ours for three of 256.
    Truth::of(About::Neither, &["others_at_device"]).phase("rand-write-q1").with(record)
}

fn writers_sweep() -> Result<Tried, Skip> {
    let card = paced()?;
    let _others = three(&card);
    let run = assay(["sweep", "--over", "bs=64k,256k", "--action", "write", "--time", "8"])
        .words(&["--size", "4M", "--depth", "1"])
        .word(card.mount());
    Truth::of(About::Neither, &["others_at_device"]).rate(WRITE).with(run.run())
}

fn unseen_writers() -> Result<Tried, Skip> {
    let card = paced()?;
    let _others = three(&card);
    let run = assay(DD).word(operand("of", card.path("x")));
    let record = run.through(&["unshare", "--pid", "--fork", "--mount-proc"]).run();
    Truth::of(About::Neither, &["others_at_device"]).rate(WRITE).with(record)
}

fn for_a_part() -> Result<Tried, Skip> {
    let card = paced()?;
    let others = three(&card);
    let run = assay(["dd", "if=/dev/zero", "bs=256k", "count=96", "oflag=direct"])
        .word(operand("of", card.path("x")));
    let record = run.beside(|_| {
        sleep(1.5);
        drop(others);
    });
    Truth::of(About::Neither, &["device"]).rate(WRITE).with(record)
}

fn writers_below() -> Result<Tried, Skip> {
    let card = paced()?;
    let upper = Upon::card(&card, 64 * MI, true)?;
    let _others = three(&card);
    let run = assay(["io", "--rw", "write", "--bs", "256k", "--time", "4"]);
    let record = (0..3).fold(run, |run, _| run.word(&upper.device)).run();
    Truth::of(About::Neither, &["others_at_device"]).rate(WRITE).with(record)
}

fn others_sync() -> Result<Tried, Skip> {
    let card = paced()?;
    std::fs::write(card.path("dirty"), vec![7_u8; (32 * MI) as usize]).expect("dirty pages");
    let mount = card.mount().display().to_string();
    let _sync = Meanwhile::start(&["sync", "-f", &mount]);
    sleep(0.2);
    let record = assay(DD).word(operand("of", card.path("x"))).run();
    Truth::of(About::Neither, &["others_at_device"]).rate(WRITE).with(record)
}

fn small_reads() -> Result<Tried, Skip> {
    let card = paced_at(Speed::both(64 * MI, 100))?;
    let ours = file(&card, "x", 32 * MI);
    let theirs = file(&card, "y", 8 * MI);
    let script = format!(
        "while :; do dd if={} of=/dev/null bs=4k iflag=direct status=none; done",
        theirs.display()
    );
    let _others: Vec<Meanwhile> = (0..3).map(|_| Meanwhile::shell(&script)).collect();
    let run = assay(["io", "--rw", "read", "--bs", "64k", "--time", "5"]).word(ours);
    Truth::of(About::Neither, &["others_at_device"]).rate(100 * 64 * KI).with(run.run())
}

fn small_writes() -> Result<Tried, Skip> {
    let card = paced_at(Speed::both(64 * MI, 100))?;
    let ours = file(&card, "x", 32 * MI);
    let _others: Vec<Meanwhile> = (0..4)
        .map(|n| {
            let theirs = file(&card, &format!("y{n}"), MI);
            Meanwhile::shell(&format!(
                "while :; do dd if=/dev/zero of={} bs=4k count=256 oflag=direct,dsync \
                 conv=notrunc status=none; done",
                theirs.display()
            ))
        })
        .collect();
    let run = assay(["io", "--rw", "read", "--bs", "64k", "--time", "5"]).word(ours);
    Truth::of(About::Neither, &["others_at_device"]).rate(100 * 64 * KI).with(run.run())
}

fn beside_a_journal() -> Result<Tried, Skip> {
    let card = paced()?;
    let writer = |n: u32| {
        let theirs = file(&card, &format!("y{n}"), 16 * MI);
        Meanwhile::shell(&format!(
            "while :; do dd if=/dev/zero of={} bs=16k oflag=direct count=1024 conv=notrunc \
             status=none; done",
            theirs.display()
        ))
    };
    let _others: Vec<Meanwhile> = (0..2).map(writer).collect();
    let run = assay(["dd", "if=/dev/zero", "bs=16k", "count=400", "oflag=dsync"]);
    let record = run.word(operand("of", card.path("x"))).run();
    Truth::of(About::Neither, &["others_at_device"]).rate(WRITE).with(record)
}

fn inode_tables() -> Result<Tried, Skip> {
    let card = Card::new(Shape {
        size: 4096 * MI,
        speed: Speed::bytes(READ, WRITE),
        mkfs: &["-E", "nodiscard,lazy_itable_init=1,lazy_journal_init=1"],
        mount: "init_itable=1",
        ..Shape::paced()
    })?;
    // It begins within 5 s, and takes half of the time.
    sleep(5.5);
    let run = assay(["dd", "if=/dev/zero", "bs=16k", "count=800", "oflag=direct"]);
    let record = run.word(operand("of", card.path("x"))).run();
    Truth::of(About::Neither, &["device", "others_at_device"]).rate(WRITE).with(record)
}

fn scrub() -> Result<Tried, Skip> {
    let btrfs = lab::need_tool("btrfs", "btrfs-progs")?;
    let speed = Speed::bytes(READ, WRITE);
    let card = Card::new(Shape { size: 320 * MI, fs: Fs::Btrfs, speed, ..Shape::paced() })?;
    let ours = file(&card, "x", 32 * MI);
    file(&card, "y", 128 * MI);
    let start = Command::new(btrfs)
        .args(["scrub", "start"])
        .arg(card.mount())
        .stdout(std::process::Stdio::null())
        .status();
    assert!(start.is_ok_and(|status| status.success()), "scrub");
    sleep(0.3);
    let run = assay(["dd", "of=/dev/null", "bs=256k", "iflag=direct"]).word(operand("if", ours));
    let record = run.run();
    let _ = Command::new("btrfs").args(["scrub", "cancel"]).arg(card.mount()).output();
    Truth::of(About::Neither, &["others_at_device", "device"]).rate(READ).with(record)
}

fn another_assay() -> Result<Tried, Skip> {
    let card = paced()?;
    let (ours, theirs) = (file(&card, "x", 32 * MI), file(&card, "y", 64 * MI));
    let theirs = theirs.display().to_string();
    let program = env!("CARGO_BIN_EXE_assay");
    let words = ["--rw", "read", "--bs", "256k", "--depth", "16", "--time", "12"];
    let _other = Meanwhile::start(&[&[program, "io", &theirs][..], &words[..]].concat());
    sleep(1.5);
    let run = assay(["io", "--rw", "read", "--bs", "256k", "--time", "4"]).word(ours);
    Truth::of(About::Neither, &["others_at_device"]).rate(READ).with(run.run())
}

fn swapping() -> Result<Tried, Skip> {
    let speed = Speed::bytes(READ, READ);
    let card = Card::new(Shape { size: 192 * MI, fs: Fs::Raw, speed, ..Shape::paced() })?;
    let (mkswap, swapon) =
        (lab::need_tool("mkswap", "util-linux")?, lab::need_tool("swapon", "mount")?);
    let _swap = Swap::on(&mkswap, &swapon, card.device())?;
    let group = Group::new(&Limits { memory: Some(16 * MI), ..Limits::default() })?;
    let _hungry = Hungry::start(group.rooms(), 24 * MI);
    let run = assay(["io", "--rw", "read", "--bs", "256k", "--time", "4"]).word(card.device());
    Truth::of(About::Neither, &["others_at_device", "device"]).rate(READ).with(run.run())
}

fn read_ahead() -> Result<Tried, Skip> {
    let card = paced()?;
    let path = file(&card, "x", 96 * MI);
    let name = path.display().to_string();
    let progress = Progress::of(&card);
    let _cat = Meanwhile::start(&["cat", &name]);
    progress.reach(48 * MI);
    let run = assay(["dd", "of=/dev/null", "bs=1M"]).word(operand("if", &path));
    Truth::of(About::Neither, &["device", "others_at_device"]).rate(READ).with(run.run())
}

fn in_parallel() -> Result<Tried, Skip> {
    let card = paced_at(Speed::bytes(8 * MI, WRITE))?;
    let path = file(&card, "x", 32 * MI);
    let others: Vec<Meanwhile> = (1..4)
        .map(|n| {
            let words = format!("bs=1M skip={} count=8 status=none", n * 8);
            Meanwhile::shell(&format!("dd if={} of=/dev/null {words}", path.display()))
        })
        .collect();
    let run = assay(["dd", "of=/dev/null", "bs=64k"]).word(operand("if", &path));
    let record = run.run();
    drop(others);
    // All bytes came from the device once, whoever asked for them: it is the device's rate.
    Truth::of(About::Device, &["device", "others_at_device"]).rate(8 * MI).with(record)
}
