//! Runs whose figure is memory's, over file systems, devices and tools: what assay says of the device instead.

use serde_json::Value;

use super::lab::{Card, Fs, MI, Shape, Skip, Slowness, Speed};
use super::scene::{Beside, READ, WRITE, assay, operand, room_for};

/// A tool and its words.
pub struct Deferred {
    pub name: &'static str,
    run: fn(&Card) -> Beside,
}

/// A card whose flush ends while it is watched; nothing shows why it is slow.
const EXT4: Shape = Shape {
    name: "ext4",
    size: room_for(Fs::Ext4),
    speed: Speed::bytes(READ, WRITE),
    ..Shape::paced()
};
/// The same with XFS.
const XFS: Shape = Shape { name: "XFS", size: room_for(Fs::Xfs), fs: Fs::Xfs, ..EXT4 };
/// The same with btrfs.
const BTRFS: Shape = Shape { name: "btrfs", size: room_for(Fs::Btrfs), fs: Fs::Btrfs, ..EXT4 };

const FASTER: Speed = Speed::bytes(64 * MI, 16 * MI);

/// With what each writes in a second where that is not 8 MiB; folders are called so, too.
pub const CARDS: &[Shape] = &[
    EXT4,
    Shape { name: "ext4 of 16 MiB", speed: FASTER, ..EXT4 },
    Shape { name: "ext4 noatime", mount: "noatime", ..EXT4 },
    Shape { name: "ext4 data=writeback", mount: "data=writeback", ..EXT4 },
    Shape { name: "ext4 of 4 MiB", speed: Speed::bytes(16 * MI, 4 * MI), ..EXT4 },
    Shape { name: "limited ext4", slowness: Slowness::Kernel, ..EXT4 },
    Shape { name: "limited XFS", slowness: Slowness::Kernel, ..XFS },
    XFS,
    Shape { name: "XFS of 16 MiB", speed: FASTER, ..XFS },
    BTRFS,
    Shape { name: "btrfs of 16 MiB", speed: FASTER, ..BTRFS },
];

pub const RUNS: &[Deferred] = &[
    Deferred { name: "dd", run: |card| dd(card, "bs=1M count=24") },
    Deferred { name: "dd 64k", run: |card| dd(card, "bs=64k count=320") },
    Deferred { name: "fio", run: |card| fio(card, "--rw=write --bs=64k --size=24m") },
    Deferred { name: "fio, random", run: |card| fio(card, "--rw=randwrite --bs=64k --size=16m") },
    Deferred { name: "iozone", run: iozone },
    Deferred { name: "io --buffered", run: io },
];

impl Deferred {
    /// Does it on a card; the record.
    pub fn record(&self, shape: &Shape) -> Result<Value, Skip> {
        let card = Card::new(shape.clone())?;
        Ok((self.run)(&card).within(card.rooms()).first().run())
    }
}

fn dd(card: &Card, words: &str) -> Beside {
    assay(["dd", "if=/dev/zero"]).split(words).word(operand("of", card.path("x")))
}

fn fio(card: &Card, words: &str) -> Beside {
    assay(["fio", "--name=x"]).split(words).word(operand("--directory", card.mount()))
}

fn iozone(card: &Card) -> Beside {
    assay(["iozone", "-s", "16m", "-r", "256k", "-i0", "-i1", "-f"]).word(card.path("x"))
}

fn io(card: &Card) -> Beside {
    let run = assay(["io", "--rw", "write", "--bs", "256k", "--size", "24M", "--time", "1"]);
    run.word("--buffered").word(card.mount())
}
